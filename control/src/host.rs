//! What only the app can do.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::oneshot;
use unterm_mux::{Pane, PaneId};

use crate::services::changes::Changes;

/// The app, with or without a window.
pub trait Host: Send + Sync {
    /// Whether there is a window.
    fn has_window(&self) -> bool;
    /// The title override of this instance changed; show it.
    fn instance_title_changed(&self, title: Option<&str>);
    /// Who drives a pane, or whether agents are paused, has changed: [`crate::Server::driver`] and
    /// [`crate::Server::is_paused`] tell.
    fn agents_changed(&self) {}
    /// A recording has begun or ended: [`crate::Server::recordings`] tells.
    fn recordings_changed(&self) {}
    /// A folder that the desktop's browser can read where it can't read Unterm's home directory. May start programs.
    fn browser_folder(&self) -> Option<PathBuf> {
        None
    }
    /// A browser was to open the settings page, and no page came within the time that the link was good for.
    fn settings_page_unopened(&self) {}
    /// Hands a request to the app, which answers over the request's own channel. A channel that is dropped says that it
    /// needs a window, and there is none.
    fn ask(&self, request: HostRequest);
    /// The person's preferences, where there are any.
    fn preferences(&self) -> Option<Arc<dyn Preferences>> {
        None
    }
    /// Where the app tells that preferences have changed; `None`: it never does.
    fn changes(&self) -> Option<Arc<Changes>> {
        None
    }
    /// Pictures and the clipboard, where there can be any.
    fn captures(&self) -> Option<Arc<dyn Captures>> {
        None
    }
}

/// Pictures, and the system's clipboard. All calls may take their time; errors are for people.
pub trait Captures: Send + Sync {
    /// Panes as the window would show them, side by side in one PNG.
    ///
    /// # Errors
    /// When they are too large for a picture.
    fn panes(&self, panes: &[Arc<Pane>]) -> Result<Vec<u8>, String>;
    /// Writes what the display shows into a file that is not there yet, as PNG. False: the person cancelled.
    ///
    /// # Errors
    /// When there is no display, or not what is meant on it.
    fn display(&self, what: &OnDisplay, file: &Path) -> Result<bool, String>;
    /// What is on the clipboard.
    ///
    /// # Errors
    /// When there is none, when it is empty, or holds neither text nor a picture.
    fn clipboard(&self) -> Result<Clip, String>;
    /// The time as names of files have it, sortable: `20261122_041500_123`.
    fn stamp(&self) -> String;
}

/// What a picture of the display is to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OnDisplay {
    /// All of it.
    Screen,
    /// A window, by a part of its title or by the process that it belongs to.
    Window {
        /// Part of the title.
        title: Option<String>,
        /// The process.
        pid: Option<u32>,
    },
    /// What a person drags out within this time.
    Region(Duration),
}

/// What is on the clipboard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Clip {
    /// Text.
    Text(String),
    /// A picture, 8 bits a channel.
    Image {
        /// Width in pixels.
        width: usize,
        /// Height in pixels.
        height: usize,
        /// As PNG.
        png: Vec<u8>,
    },
}

/// The person's preferences. Both calls may read and write files.
pub trait Preferences: Send + Sync {
    /// Every key with its value, by sections.
    ///
    /// # Errors
    /// What is wrong with them, for people.
    fn get(&self) -> Result<Value, String>;
    /// Changes a key, `section.key`.
    ///
    /// # Errors
    /// Why it can't be, for people; it is then as it was.
    fn set(&self, key: &str, value: &Value) -> Result<(), String>;
    /// Changes several keys in one go, or none of them. A key is the names of its section and itself; without a value it
    /// is taken out, so that its default holds. `theme.light` and `theme.dark` are the themes of the appearances; where there
    /// is one theme for both, the appearance that isn't named keeps that.
    ///
    /// # Errors
    /// Why it can't be, for people; all is then as it was.
    fn change(&self, _changes: &[(Vec<String>, Option<Value>)]) -> Result<(), String> {
        Err("These preferences can't be changed".to_owned())
    }
    /// What there is to prefer.
    fn describe(&self) -> Described {
        Described::default()
    }
    /// The themes there are, those that can't be read left out.
    fn themes(&self) -> Vec<ThemeInfo> {
        Vec::new()
    }
    /// What keys can do, and which are bound.
    fn keys(&self) -> Vec<ActionKeys> {
        Vec::new()
    }
}

/// What there is to prefer.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Described {
    /// Every key with its default, by sections.
    pub defaults: Value,
    /// The JSON schema of all of them: types, ranges, choices and what each means.
    pub schema: Value,
    /// The keys that the file sets, as `section.key`.
    pub set: Vec<String>,
}

/// A theme.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ThemeInfo {
    /// Its name in the preferences.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// Whether its background is lighter than its text.
    pub light: bool,
    /// `#rrggbb`, as all below.
    pub foreground: String,
    /// Behind text.
    pub background: String,
    /// The cursor.
    pub cursor: String,
    /// Behind what is selected.
    pub selection: String,
    /// The sixteen colours.
    pub colors: Vec<String>,
}

/// An action and its keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ActionKeys {
    /// Its name in the preferences.
    pub action: String,
    /// Its name for people.
    pub title: String,
    /// What it does, in a sentence.
    pub doc: String,
    /// What its argument says; empty: it takes none.
    pub argument: String,
    /// The keys in force.
    pub keys: Vec<Binding>,
    /// Those without the person's own.
    pub default_keys: Vec<Binding>,
}

/// A key that is bound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Binding {
    /// As the preferences write it: `ctrl+shift+t`.
    pub keys: String,
    /// What the action is given; empty: nothing.
    pub argument: String,
}

/// What the app can be asked. Without a window it knows its table of actions, and can do none of them.
#[derive(Debug)]
pub enum HostRequest {
    /// Every action of the app's table.
    Actions(oneshot::Sender<Vec<ActionInfo>>),
    /// To come to the front.
    Raise(oneshot::Sender<()>),
    /// To do an action, as its key would.
    Act {
        /// Its name.
        name: String,
        /// Its argument, as the configuration writes it.
        argument: Option<String>,
        /// What its caller may not do by it.
        bounds: Bounds,
        /// An error: why it can't be done, for people.
        answer: oneshot::Sender<Result<Acted, String>>,
    },
}

/// What binds the caller of an action, which a person's key is free of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// There are rules on what may be entered: what nobody can see before is not to be typed.
    pub rules: bool,
    /// Panes that somebody else has leased.
    pub leased: Vec<PaneId>,
}

/// What came of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Acted {
    /// It is done; false: there was nothing to do.
    Done(bool),
    /// It would type this. That is for its caller to do, with the rights that the caller has: nothing has been typed.
    Types(Vec<Typing>),
    /// Its caller is bound not to do it, for this reason.
    Refused(String),
}

/// Input of a pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Typing {
    /// The pane.
    pub pane: PaneId,
    /// What is typed there.
    pub bytes: Vec<u8>,
}

/// An action a person can do in the window.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct ActionInfo {
    /// Its name.
    pub name: Cow<'static, str>,
    /// Its name for people.
    pub title: Cow<'static, str>,
    /// What it does, in a sentence.
    pub doc: Cow<'static, str>,
    /// What its argument says; empty: it takes none.
    pub argument: Cow<'static, str>,
    /// The key it is bound to, empty for none.
    pub key: String,
}

/// The host without a window.
pub struct Headless;

impl Host for Headless {
    fn has_window(&self) -> bool {
        false
    }

    fn instance_title_changed(&self, _title: Option<&str>) {}

    fn ask(&self, _request: HostRequest) {}
}
