//! The interface to the app, for everything that the control server can't do by itself.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use tokio::sync::oneshot;
use unterm_mux::{Mux, Pane, PaneId};

use crate::{
    registry::Record,
    services::{people::changes::Changes, records::workspace::Workspace},
};

/// The app that embeds the server, with or without a window.
pub trait Host: Send + Sync {
    /// Whether the app has a window.
    fn has_window(&self) -> bool;
    /// Called when the title override of this instance changes. The app shows the new title.
    fn instance_title_changed(&self, title: Option<&str>);
    /// Called when a pane's driver or the open questions change, or when agents are paused or resumed. Read the new
    /// state from [`crate::Server::driver`] and [`crate::Server::is_paused`].
    fn agents_changed(&self) {}
    /// Called when a recording starts or ends. Read the new state from [`crate::Server::recordings`].
    fn recordings_changed(&self) {}
    /// Called when the state of a program that a plugin watches changes. Read the new state from
    /// [`crate::Server::program_states`].
    fn program_states_changed(&self) {}
    /// A folder that the desktop's browser can read. `None` if the browser can read Unterm's home directory. May start
    /// programs.
    fn browser_folder(&self) -> Option<PathBuf> {
        None
    }
    /// Called when a browser was started on a link to the settings page, and the link expired without being used.
    fn settings_page_unopened(&self) {}
    /// Sends a request to the app, which answers over the request's own channel. If the request needs a window and
    /// there is none, the app drops the channel.
    fn ask(&self, request: HostRequest);
    /// The user's preferences, if the app has any.
    fn preferences(&self) -> Option<Arc<dyn Preferences>> {
        None
    }
    /// The name of the theme that panes show. `None` if the app has no themes.
    fn theme(&self) -> Option<String> {
        None
    }
    /// The configured size of a new window, in columns and rows. `None` if the app has no window.
    fn window_size(&self) -> Option<(u16, u16)> {
        None
    }
    /// The channel on which the app reports changes of preferences. `None` if it never reports them.
    fn changes(&self) -> Option<Arc<Changes>> {
        None
    }
    /// Screenshots and the clipboard, if the app has access to them.
    fn captures(&self) -> Option<Arc<dyn Captures>> {
        None
    }
    /// The programs that continue without an instance, oldest first. May block.
    fn detached_programs(&self) -> Vec<DetachedProgram> {
        Vec::new()
    }
    /// Lets the programs of this instance continue without it, so that another process can show them. Returns false if that
    /// has been done before. May block.
    fn hand_over(&self) -> bool {
        false
    }
    /// Ends this instance, after [`Host::hand_over`].
    fn end(&self) {}
    /// Moves programs between this instance and other windows.
    fn other_windows(&self) -> Arc<dyn OtherWindows> {
        Arc::new(NoOtherWindows)
    }
    /// The layout files that the app keeps beside the saved workspaces, if any.
    fn layouts(&self) -> Option<Arc<dyn Layouts>> {
        None
    }
}

/// Programs that move between windows. All functions may block. Errors are reasons, as text.
pub trait OtherWindows: Send + Sync {
    /// Shows programs that another instance has left, by the numbers of their keeper: all of them or none. Returns their
    /// panes, in the same order.
    ///
    /// # Errors
    /// If a program can't be shown.
    fn attach_programs(&self, mux: &Mux, programs: &[u64]) -> Result<Vec<PaneId>, String>;
    /// Makes another instance show programs that this instance has left ([`OtherWindows::attach_programs`]). Returns the
    /// numbers of their sessions there.
    ///
    /// # Errors
    /// If the other instance does not show the programs.
    fn attach_in(&self, instance: &Record, programs: &[u64]) -> Result<Vec<u64>, String>;
    /// Opens a window that shows programs that this instance has left, and waits until it does.
    ///
    /// # Errors
    /// If the window does not show the programs.
    fn open_window_with(&self, programs: &[u64]) -> Result<(), String>;
}

/// For an app that has no programs which continue without it.
struct NoOtherWindows;

impl OtherWindows for NoOtherWindows {
    fn attach_programs(&self, _: &Mux, _: &[u64]) -> Result<Vec<PaneId>, String> {
        Err("this instance can't show programs of another one".to_owned())
    }

    fn attach_in(&self, _: &Record, _: &[u64]) -> Result<Vec<u64>, String> {
        Err("this instance does not reach other instances".to_owned())
    }

    fn open_window_with(&self, _: &[u64]) -> Result<(), String> {
        Err("this instance can't open a window".to_owned())
    }
}

/// A program that continues without an instance. A new instance can show it again.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct DetachedProgram {
    /// The instance that showed it last.
    pub instance: String,
    /// When that instance left it. RFC 3339, UTC.
    pub since: String,
    /// The path of the program.
    pub program: String,
    /// The last title of its pane.
    pub title: String,
    /// The directory in which it was started.
    pub cwd: String,
    /// Whether the program has ended. Absent if it runs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_ended: bool,
}

impl DetachedProgram {
    /// A time in milliseconds since 1970 as text, for [`DetachedProgram::since`].
    pub fn date(milliseconds: u64) -> String {
        let nanoseconds = i128::from(milliseconds) * 1_000_000;
        let time = OffsetDateTime::from_unix_timestamp_nanos(nanoseconds).ok();
        time.and_then(|time| time.format(&Rfc3339).ok()).unwrap_or_default()
    }
}

/// Layouts in files of the app's own format. They share their names with the workspaces. Every call may block.
pub trait Layouts: Send + Sync {
    /// The names of the layout files.
    fn names(&self) -> Vec<String>;

    /// The layout in the file with this name. `None` if there is no such file, or a workspace of this name was saved
    /// later.
    ///
    /// # Errors
    /// The file can't be read, or holds no layout.
    fn read(&self, name: &str) -> Option<Result<Workspace, String>>;
}

/// Screenshots and the system's clipboard. Every call may block. Errors are messages for users.
pub trait Captures: Send + Sync {
    /// Renders panes as the window would show them, side by side in one PNG.
    ///
    /// # Errors
    /// The panes are too large for a picture.
    fn panes(&self, panes: &[Arc<Pane>]) -> Result<Vec<u8>, String>;
    /// Writes a screenshot of the display to a new file, as PNG. Returns false if the user canceled.
    ///
    /// # Errors
    /// There is no display, or it does not show the requested target.
    fn display(&self, what: &OnDisplay, file: &Path) -> Result<bool, String>;
    /// The content of the clipboard.
    ///
    /// # Errors
    /// There is no clipboard, it is empty, or it contains neither text nor a picture.
    fn clipboard(&self) -> Result<Clip, String>;
    /// The current time, for names of files. The names sort by time, such as `20261122_041500_123`.
    fn stamp(&self) -> String;
}

/// The target of a screenshot of the display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OnDisplay {
    /// The whole display.
    Screen,
    /// A window, found by part of its title or by its process.
    Window {
        /// Part of the title.
        title: Option<String>,
        /// The process.
        pid: Option<u32>,
    },
    /// A region that the user selects with the pointer within this time.
    Region(Duration),
}

/// The content of the clipboard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Clip {
    /// Text.
    Text(String),
    /// A picture with 8 bits per channel.
    Image {
        /// Width in pixels.
        width: usize,
        /// Height in pixels.
        height: usize,
        /// The picture as PNG.
        png: Vec<u8>,
    },
}

/// The user's preferences. Every call may read and write files.
pub trait Preferences: Send + Sync {
    /// Every key with its value, grouped by section.
    ///
    /// # Errors
    /// The preferences are invalid or can't be read. A message for users.
    fn get(&self) -> Result<Value, String>;
    /// Changes one key, named `section.key`.
    ///
    /// # Errors
    /// The key can't be changed. A message for users. The preferences are then unchanged.
    fn set(&self, key: &str, value: &Value) -> Result<(), String>;
    /// Changes several keys. If one of them can't be changed, changes none. A key is a path: its sections, then its
    /// name. A key whose value is `None` is removed, so that its default applies. `theme.light` and `theme.dark` set
    /// the themes for light and dark appearance. If both appearances had one theme and only one of them is set, the
    /// other appearance keeps this theme.
    ///
    /// # Errors
    /// The keys can't be changed. A message for users. The preferences are then unchanged.
    fn change(&self, _changes: &[(Vec<String>, Option<Value>)]) -> Result<(), String> {
        Err("These preferences can't be changed".to_owned())
    }
    /// The defaults and the schema of the preferences.
    fn describe(&self) -> Described {
        Described::default()
    }
    /// The available themes, without those that can't be read.
    fn themes(&self) -> Vec<ThemeInfo> {
        Vec::new()
    }
    /// Every action with its key bindings.
    fn keys(&self) -> Vec<ActionKeys> {
        Vec::new()
    }
}

/// The available preferences.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Described {
    /// Every key with its default, by sections.
    pub defaults: Value,
    /// The JSON schema: types, ranges, choices and descriptions.
    pub schema: Value,
    /// The keys that the file sets, as `section.key`.
    pub set: Vec<String>,
}

/// A theme.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ThemeInfo {
    /// The theme's name in the preferences.
    pub name: String,
    /// Other names in the preferences that stand for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<String>,
    /// The theme's display name.
    pub title: String,
    /// Whether its background is lighter than its text.
    pub light: bool,
    /// The color of text, as `#rrggbb`. The other colors have the same format.
    pub foreground: String,
    /// The background.
    pub background: String,
    /// The cursor.
    pub cursor: String,
    /// The background of the selection.
    pub selection: String,
    /// The sixteen colors.
    pub colors: Vec<String>,
}

/// An action and its keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ActionKeys {
    /// The action's name in the preferences.
    pub action: String,
    /// The action's display name.
    pub title: String,
    /// A one-sentence description.
    pub doc: String,
    /// The meaning of the action's argument. Empty if the action accepts none.
    pub argument: String,
    /// The keys in force.
    pub keys: Vec<Binding>,
    /// The default keys.
    pub default_keys: Vec<Binding>,
}

/// A bound key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Binding {
    /// The key, in the syntax of the preferences: `ctrl+shift+t`.
    pub keys: String,
    /// The action's argument. Empty if none.
    pub argument: String,
}

/// A request to the app. Without a window, the app lists its actions but can perform none of them.
#[derive(Debug)]
pub enum HostRequest {
    /// Lists every action in the app's table.
    Actions(oneshot::Sender<Vec<ActionInfo>>),
    /// Raises the window.
    Raise(oneshot::Sender<()>),
    /// Performs an action like the key that is bound to it.
    Act {
        /// The action's name.
        name: String,
        /// The action's argument, in the form of the configuration file.
        argument: Option<String>,
        /// The restrictions on the caller of the action.
        bounds: Bounds,
        /// The result. The error is the reason why the action can't be performed, as a message for users.
        answer: oneshot::Sender<Result<Acted, String>>,
    },
}

/// Restrictions on the caller of an action. They do not apply to the user's own keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// Whether rules on input are in force. If they are, the action must not type text that can't be checked first.
    pub rules: bool,
    /// The panes that another caller has leased.
    pub leased: Vec<PaneId>,
}

/// The result of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Acted {
    /// The action was performed. `false`: there was nothing to do.
    Done(bool),
    /// The action would type this text, but has not typed it. The server sends the text as input, with the rights of
    /// the caller.
    Types(Vec<Typing>),
    /// The caller's `Bounds` forbid the action. Contains the reason.
    Refused(String),
}

/// Input for a pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Typing {
    /// The pane.
    pub pane: PaneId,
    /// The bytes to send.
    pub bytes: Vec<u8>,
}

/// An action of the window.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct ActionInfo {
    /// The action's name.
    pub name: Cow<'static, str>,
    /// The action's display name.
    pub title: Cow<'static, str>,
    /// A one-sentence description.
    pub doc: Cow<'static, str>,
    /// The meaning of the action's argument. Empty if the action accepts none.
    pub argument: Cow<'static, str>,
    /// The key it is bound to, empty for none.
    pub key: String,
}

/// A host without a window.
pub struct Headless;

impl Host for Headless {
    fn has_window(&self) -> bool {
        false
    }

    fn instance_title_changed(&self, _title: Option<&str>) {}

    fn ask(&self, _request: HostRequest) {}
}
