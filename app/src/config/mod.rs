//! Preferences: one file, `config.toml` in Unterm's home directory, which people edit by hand and tools may write.
//!
//! [`Config`], with its sections in the files beside, is the one definition of every key: its doc comments, ranges and
//! defaults are what the file is checked against ([`mod@parse`]) and what the reference page is made of
//! ([`mod@reference`]). Owns the file's meaning and the themes; applies nothing by itself: window and mux do, each time
//! [`Settings`] gives them a new `Config`.

pub mod edit;
mod font;
mod hints;
pub mod keys;
mod mouse;
mod notices;
mod pane;
pub mod parse;
pub mod reference;
mod settings;
mod text;
pub mod theme;
mod window;
pub mod wire;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_control::Approval;

pub use font::{Font, Ligatures};
pub use hints::{HintAction, HintPattern, Hints, Links, OpenBy};
pub use mouse::{ConfirmPaste, CopyOnSelect, Mouse, Paste, RightButton};
pub use notices::{Bell, Notifications};
pub use pane::{Commands, Compat, Scrollback, Shell};
pub use settings::{Change, Complaint, FILE, Settings, load};
pub use text::{AmbiguousWidth, Blending, Cursor, CursorShape, Text};
pub use window::{
    BarPosition, FollowSystem, ReducedMotion, Scrollbar, ShowScrollbar, ShowTabBar, Startup,
    StatusBar, StatusItem, TabBar, Window, WindowStart,
};

/// Everything that can be preferred. Each key may be left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Config {
    /// The theme's name, or a pair that follows the system's light or dark appearance: `{ light = "solarized-light", dark = "catppuccin-mocha" }`.
    pub theme: ThemeChoice,
    /// Language of the settings page: `auto` for that of the environment, or one of `en-US`, `zh-CN`, `zh-TW`, `ja-JP`, `ko-KR`, `de-DE`, `fr-FR`, `it-IT` and `hi-IN`.
    pub language: Language,
    /// Whether closing a pane, a tab or the window asks first.
    pub confirm_close: ConfirmClose,
    /// The cells' font.
    pub font: Font,
    /// How text is laid out in cells.
    pub text: Text,
    /// The window.
    pub window: Window,
    /// The cursor, as long as the program asks for no other.
    pub cursor: Cursor,
    /// What scrolled off the screen.
    pub scrollback: Scrollback,
    /// What runs in a new pane.
    pub shell: Shell,
    /// Variables for programs in new panes, over the inherited environment. An empty value sets the variable to nothing.
    pub env: BTreeMap<String, String>,
    /// Keys and what they do: `"ctrl+shift+t" = "new_tab"`, with an argument `"ctrl+1" = "activate_tab:1"`; `"none"` leaves the key to the program.
    pub keys: BTreeMap<String, String>,
    /// Keys of copy mode and what they do there: `"t" = "left"`; `"none"` takes a key away.
    pub copy_mode_keys: BTreeMap<String, String>,
    /// Commands, as shell integration tells of them.
    pub commands: Commands,
    /// Labels over what is in sight, to copy or open it.
    pub hints: Hints,
    /// Patterns of your own that are labelled too, each a table: `ticket = { regex = "ABC-[0-9]+", action = "copy" }`, the action being `copy`, `paste`, `open` or `editor`.
    pub hint_patterns: BTreeMap<String, HintPattern>,
    /// What is opened by a click.
    pub links: Links,
    /// The mouse.
    pub mouse: Mouse,
    /// Pasting.
    pub paste: Paste,
    /// What opens in a new window.
    pub startup: Startup,
    /// What BEL does.
    pub bell: Bell,
    /// What a person is told who is not looking.
    pub notifications: Notifications,
    /// The bar at each pane's right edge.
    pub scrollbar: Scrollbar,
    /// The row of tabs.
    pub tab_bar: TabBar,
    /// The row at the window's foot.
    pub status_bar: StatusBar,
    /// Programs that drive panes from outside.
    pub agents: Agents,
    /// What programs are told that the terminal is.
    pub compat: Compat,
}

impl Config {
    /// Why the shell of the configuration can't be started on this machine, for people; `None`: it can be, or it is the login
    /// shell. No part of what makes a file valid: programs come and go.
    pub fn shell_error(&self) -> Option<String> {
        let program = &self.shell.program;
        let error =
            (!program.is_empty()).then(|| unterm_mux::program_error(program, &self.env))??;
        Some(format!(
            "shell.program {program:?} can't be started: {error}. It must be the name of a program in PATH, or its whole path."
        ))
    }
}

/// See [`Config::language`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs, reason = "the codes say it")]
pub enum Language {
    #[default]
    #[serde(rename = "auto")]
    Auto,
    #[serde(rename = "en-US")]
    English,
    #[serde(rename = "zh-CN")]
    SimplifiedChinese,
    #[serde(rename = "zh-TW")]
    TraditionalChinese,
    #[serde(rename = "ja-JP")]
    Japanese,
    #[serde(rename = "ko-KR")]
    Korean,
    #[serde(rename = "de-DE")]
    German,
    #[serde(rename = "fr-FR")]
    French,
    #[serde(rename = "it-IT")]
    Italian,
    #[serde(rename = "hi-IN")]
    Hindi,
}

/// See [`Config::agents`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Agents {
    /// What an agent meets that the person was never asked about, when it first would change something: the person is asked (`ask`), it goes on (`allow`), or it is refused (`deny`). For windows; a headless instance allows it, unless `--approval` says otherwise. Agents with a token of their own are known already.
    pub approval: Approval,
}

impl Default for Agents {
    fn default() -> Self {
        Self { approval: Approval::Ask }
    }
}

/// One theme, or one for each appearance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ThemeChoice {
    /// Always this one.
    One(String),
    /// By the system's appearance.
    Pair(ThemePair),
}

/// A theme for each appearance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThemePair {
    /// In a light appearance.
    pub light: String,
    /// In a dark appearance, and where the system tells none.
    pub dark: String,
}

impl Default for ThemeChoice {
    fn default() -> Self {
        Self::One("catppuccin-mocha".to_owned())
    }
}

impl ThemeChoice {
    /// The same with the names that themes have in lists, whatever they are called in the file.
    fn named(&self, home: &std::path::Path) -> Self {
        match self {
            Self::One(name) => Self::One(theme::name_of(name, home)),
            Self::Pair(ThemePair { light, dark }) => Self::Pair(ThemePair {
                light: theme::name_of(light, home),
                dark: theme::name_of(dark, home),
            }),
        }
    }

    /// The theme for an appearance; `None`: the system tells none.
    pub fn pick(&self, light: Option<bool>) -> &str {
        match self {
            Self::One(name) => name,
            Self::Pair(pair) if light == Some(true) => &pair.light,
            Self::Pair(pair) => &pair.dark,
        }
    }
}

/// See [`Config::confirm_close`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConfirmClose {
    /// Where a program runs that is not a shell waiting for a command.
    #[default]
    Running,
    /// Always.
    Always,
    /// Never.
    Never,
}
