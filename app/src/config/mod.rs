//! Preferences, in a single file: `config.toml` in Unterm's home directory. Users edit the file by hand, and other
//! parts of Unterm may also change it.
//!
//! [`Config`] and the types of its sections define all keys. The file is checked against the JSON schema of these
//! types ([`mod@parse`]), and the reference page is generated from their doc comments and defaults
//! ([`mod@reference`]). Owns the meaning of the file, and the themes. Never applies preferences: window and mux apply
//! them each time [`Settings`] reports a new `Config`.

pub mod edit;
mod font;
mod hints;
pub mod keys;
mod mouse;
mod notices;
mod pane;
pub mod parse;
mod profile;
pub mod reference;
mod settings;
pub mod settings_list;
mod text;
pub mod theme;
mod window;
pub mod wire;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_control::Approval;

pub use font::{Font, Ligatures, NO_EMOJI_FONT};
pub(crate) use font::{missing_fonts, missing_messages};
pub use hints::{HintAction, HintPattern, Hints, Links, OpenBy, compile_pattern};
pub use mouse::{ConfirmPaste, CopyOnSelect, Mouse, Paste, RightButton};
pub use notices::{Bell, Notifications};
pub use pane::{Commands, Compat, Scrollback, Sessions, Shell};
pub use profile::{Profile, ProfileFont};
pub use settings::{Change, Complaint, FILE, Settings, load};
pub use text::{AmbiguousWidth, Blending, Cursor, CursorShape, Text};
pub use window::{
    BarPosition, ConfirmClose, FollowSystem, OnClose, ReducedMotion, Scrollbar, ShowScrollbar,
    ShowTabBar, Startup, StatusBar, StatusItem, TITLE_FIELDS, TabBar, Window, WindowStart,
};

/// All preferences. Every key is optional.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Config {
    /// Name of the theme, or a pair of themes that follows the system's appearance: `{ light = "solarized-light", dark = "catppuccin-mocha" }`.
    pub theme: ThemeChoice,
    /// Language of the settings page: `auto` to follow the environment, or one of `en-US`, `zh-CN`, `zh-TW`, `ja-JP`, `ko-KR`, `de-DE`, `fr-FR`, `it-IT` and `hi-IN`.
    pub language: Language,
    /// Font of the cells.
    pub font: Font,
    /// Layout and colors of text.
    pub text: Text,
    /// Windows.
    pub window: Window,
    /// Cursor, until a program sets another.
    pub cursor: Cursor,
    /// Lines above the screen.
    pub scrollback: Scrollback,
    /// Program in new panes.
    pub shell: Shell,
    /// Programs that outlive their window.
    pub sessions: Sessions,
    /// Environment variables for programs in new panes, in addition to the inherited ones. An empty value sets an empty variable.
    pub env: BTreeMap<String, String>,
    /// Profiles: programs, directories, variables and looks under a name, as `[profile.work]`. `new_tab:work` opens a tab with the profile `work`, and `unterm --profile work` opens a window with it. A profile has the keys `shell`, `args`, `cwd`, `env`, `theme`, and `family` and `size` in `font`. All other settings stay as they are.
    pub profile: BTreeMap<String, Profile>,
    /// Keys and their actions: `"ctrl+shift+t" = "new_tab"`, or with an argument `"ctrl+1" = "activate_tab:1"`. `"none"` unbinds a key, so that programs receive it. A list runs several actions. `>` separates keys that are pressed one after the other, as in `"ctrl+a>c"`; with `leader = "ctrl+a"`, this can be written `"leader>c"`. `preset = "classic"` restores older default keys: Ctrl+Shift+N lists shells, Alt and an arrow key moves the focus, Alt+Enter is full screen. `preset = "none"` unbinds all default keys.
    pub keys: BTreeMap<String, Bound>,
    /// Mouse buttons and their actions: `"ctrl+middle" = "paste"`, `"back" = "previous_tab"`, `"ctrl+wheel_up" = "larger_font"`. The inputs are `left`, `middle`, `right`, `back`, `forward`, `wheel_up` and `wheel_down`, with modifiers as for keys. `"none"` lets a button do nothing, and a list runs several actions. A program that uses the mouse gets the input first, unless Shift is held.
    pub mouse_bindings: BTreeMap<String, Bound>,
    /// Entries of your own in the command palette: a title and an action, such as `"Deploy" = "send_text:make deploy\\r"`. A list runs several actions.
    pub palette: BTreeMap<String, Bound>,
    /// Keys of copy mode and their commands: `"t" = "left"`. `"none"` unbinds a key.
    pub copy_mode_keys: BTreeMap<String, String>,
    /// Commands that shell integration reports.
    pub commands: Commands,
    /// Labels on visible text, to copy or open it.
    pub hints: Hints,
    /// Additional patterns to label, each a table: `ticket = { regex = "ABC-[0-9]+", action = "copy" }`. The action is `copy`, `paste`, `open` or `editor`.
    pub hint_patterns: BTreeMap<String, HintPattern>,
    /// Links.
    pub links: Links,
    /// Mouse.
    pub mouse: Mouse,
    /// Pasting.
    pub paste: Paste,
    /// Contents of a new window.
    pub startup: Startup,
    /// Bell.
    pub bell: Bell,
    /// Notifications.
    pub notifications: Notifications,
    /// Scrollbar at each pane's right edge.
    pub scrollbar: Scrollbar,
    /// Tab bar.
    pub tab_bar: TabBar,
    /// Status bar at the bottom of the window.
    pub status_bar: StatusBar,
    /// Agents: programs that drive panes from outside.
    pub agents: Agents,
    /// The terminal's name for programs.
    pub compat: Compat,
}

impl Config {
    /// The reason why the configured shell can't be started on this machine. `None` if it can be started, or if the
    /// login shell is configured. This is not checked when the file is read, because programs may be installed or
    /// removed later.
    pub fn shell_error(&self) -> Option<String> {
        let program = &self.shell.program;
        let error =
            (!program.is_empty()).then(|| unterm_mux::program_error(program, &self.env))??;
        Some(format!(
            "cannot start shell.program {program:?}: {error}. Use the name of a program in PATH, or an absolute path."
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
    /// What happens when an unknown agent tries to change something: Unterm asks you (`ask`), allows it (`allow`) or
    /// refuses it (`deny`). A headless instance allows it unless `--approval` sets another rule. Agents with their own
    /// token are known.
    pub approval: Approval,
}

impl Default for Agents {
    fn default() -> Self {
        Self { approval: Approval::Ask }
    }
}

/// The actions that a key is bound to, as written in the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Bound {
    /// An action, such as `activate_tab:1`.
    One(String),
    /// Several actions, in order.
    Several(Vec<String>),
}

impl Bound {
    /// The bound actions, in their order.
    pub fn actions(&self) -> &[String] {
        match self {
            Self::One(action) => std::slice::from_ref(action),
            Self::Several(actions) => actions,
        }
    }
}

impl From<&str> for Bound {
    fn from(action: &str) -> Self {
        Self::One(action.to_owned())
    }
}

/// One theme, or a theme for each appearance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ThemeChoice {
    /// One theme for light and dark appearance.
    One(String),
    /// A theme that depends on the system's appearance.
    Pair(ThemePair),
}

/// A theme for each appearance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThemePair {
    /// Theme for the light appearance.
    pub light: String,
    /// Theme for the dark appearance, and for systems that report none.
    pub dark: String,
}

impl Default for ThemeChoice {
    fn default() -> Self {
        Self::One("catppuccin-mocha".to_owned())
    }
}

impl ThemeChoice {
    /// The same choice, with each theme's name in the form that [`theme::name_of`] returns.
    fn named(&self, home: &std::path::Path) -> Self {
        match self {
            Self::One(name) => Self::One(theme::name_of(name, home)),
            Self::Pair(ThemePair { light, dark }) => Self::Pair(ThemePair {
                light: theme::name_of(light, home),
                dark: theme::name_of(dark, home),
            }),
        }
    }

    /// The theme for an appearance. `light` is `None` if the system reports no appearance.
    pub fn pick(&self, light: Option<bool>) -> &str {
        match self {
            Self::One(name) => name,
            Self::Pair(pair) if light == Some(true) => &pair.light,
            Self::Pair(pair) => &pair.dark,
        }
    }
}
