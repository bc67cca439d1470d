//! Preferences: one file, `config.toml` in Unterm's home directory, which people edit by hand and tools may write.
//!
//! [`Config`] is the one definition of every key: its doc comments, ranges and defaults are what the file is checked
//! against ([`mod@parse`]) and what the reference page is made of ([`mod@reference`]). Owns the file's meaning and the themes;
//! applies nothing by itself: window and mux do, each time [`Settings`] gives them a new `Config`.

pub mod edit;
mod font;
pub mod keys;
pub mod parse;
pub mod reference;
mod settings;
pub mod theme;
pub mod wire;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_control::Approval;
use unterm_renderer::TextOptions;

pub use font::{Font, Ligatures};
pub use settings::{Change, Complaint, FILE, Settings, load};

/// Everything that can be preferred. Each key may be left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Config {
    /// The theme's name, or a pair that follows the system's light or dark appearance: `{ light = "daylight", dark = "standard" }`.
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

/// See [`Config::compat`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Compat {
    /// What programs find as `TERM_PROGRAM`, in panes opened from now on; some do more, or less, for a name that they know.
    pub term_program: String,
}

impl Default for Compat {
    fn default() -> Self {
        Self { term_program: "unterm".to_owned() }
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
        Self::One("standard".to_owned())
    }
}

impl ThemeChoice {
    /// The theme for an appearance; `None`: the system tells none.
    pub fn pick(&self, light: Option<bool>) -> &str {
        match self {
            Self::One(name) => name,
            Self::Pair(pair) if light == Some(true) => &pair.light,
            Self::Pair(pair) => &pair.dark,
        }
    }
}

/// See [`Config::text`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Text {
    /// Columns that characters of ambiguous width (such as "±" and "①") take in panes opened from now on. What programs assume follows the locale: wide only in some East Asian ones.
    pub ambiguous_width: AmbiguousWidth,
    /// How colours are blended at the edges of characters.
    pub blending: Blending,
    /// Least contrast of text with its background, from 1 (none is asked for) to 21 (black on white); 4.5 is the least that is recommended for reading. Text with less is stepped towards black or white.
    #[schemars(range(min = 1.0, max = 21.0))]
    pub minimum_contrast: f32,
}

impl Default for Text {
    fn default() -> Self {
        Self {
            ambiguous_width: AmbiguousWidth::default(),
            blending: Blending::default(),
            minimum_contrast: 1.0,
        }
    }
}

impl Text {
    /// The same for the renderer.
    pub fn options(&self) -> TextOptions {
        TextOptions {
            blending: match self.blending {
                Blending::Native => unterm_renderer::Blending::Native,
                Blending::Linear => unterm_renderer::Blending::Linear,
            },
            minimum_contrast: self.minimum_contrast,
        }
    }
}

/// See [`Text::blending`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Blending {
    /// As they are coded, as most programs do.
    #[default]
    Native,
    /// As light, without dark fringes between colours; text is as bold.
    Linear,
}

/// See [`Text::ambiguous_width`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AmbiguousWidth {
    /// One.
    #[default]
    Narrow,
    /// Two.
    Wide,
}

/// See [`Config::window`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Window {
    /// Columns of a new window.
    #[schemars(range(min = 10, max = 1000))]
    pub columns: u16,
    /// Rows of a new window.
    #[schemars(range(min = 3, max = 1000))]
    pub rows: u16,
    /// Space around each pane's cells, in logical pixels.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub padding: f32,
    /// How far panes without the keyboard are mixed towards their background, from 0 (not at all) to 0.9.
    #[schemars(range(min = 0.0, max = 0.9))]
    pub dim_unfocused: f32,
    /// Whether nothing moves by itself: cursors and text don't blink, rings don't turn, images stay at one picture. `"auto"`: as the desktop says, by its portal or XSETTINGS.
    pub reduced_motion: ReducedMotion,
    /// Tell screen readers what is shown, in windows opened from now on. Costs nothing while none listens.
    pub accessibility: bool,
    /// What a new window starts as.
    pub start: WindowStart,
    /// Start as large as the last window was, and where it was, as far as the desktop lets: `columns` and `rows` then count for the first one only.
    pub restore: bool,
    /// Opacity of the panes' backgrounds, where the desktop shows what is behind. A window that started opaque stays so. On Wayland only the painter of the GPU does that.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub opacity: f32,
    /// Blur what is behind a translucent window, where the desktop can (KDE and picom on X11, KDE on Wayland, macOS).
    pub blur: bool,
    /// Height of a window started with `--quake`, as a share of the screen's.
    #[schemars(range(min = 0.1, max = 1.0))]
    pub quake_height: f32,
}

impl Default for Window {
    fn default() -> Self {
        Self {
            columns: 120,
            rows: 30,
            padding: 8.0,
            dim_unfocused: 0.1,
            reduced_motion: ReducedMotion::System(FollowSystem::Auto),
            accessibility: true,
            start: WindowStart::default(),
            restore: true,
            opacity: 1.0,
            blur: false,
            quake_height: 0.45,
        }
    }
}

/// See [`Window::start`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WindowStart {
    /// A window of `columns` and `rows`.
    #[default]
    Normal,
    /// As large as the desktop allows.
    Maximized,
    /// The whole screen.
    Fullscreen,
}

/// See [`Window::reduced_motion`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ReducedMotion {
    /// As it is said.
    Fixed(bool),
    /// As the desktop says.
    System(FollowSystem),
}

/// What follows the desktop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FollowSystem {
    /// It does.
    Auto,
}

/// See [`Config::cursor`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Cursor {
    /// Its shape.
    pub shape: CursorShape,
    /// Whether it blinks.
    pub blink: bool,
}

/// See [`Cursor::shape`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CursorShape {
    /// The whole cell.
    #[default]
    Block,
    /// A line at the cell's left.
    Bar,
    /// A line at the cell's foot.
    Underline,
}

/// See [`Config::scrollback`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Scrollback {
    /// Lines kept above the screen, in panes opened from now on.
    #[schemars(range(min = 0, max = 999_999_999))]
    pub lines: u32,
}

impl Default for Scrollback {
    fn default() -> Self {
        Self { lines: 10_000 }
    }
}

/// See [`Config::shell`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Shell {
    /// The program, by name or path; empty: your login shell (`$SHELL`).
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Let bash, zsh, fish, Nushell and PowerShell mark their prompts and commands (OSC 133), in panes opened from now on. No file of yours is changed.
    pub integration: bool,
}

impl Default for Shell {
    fn default() -> Self {
        Self { program: String::new(), args: Vec::new(), integration: true }
    }
}

/// See [`Config::commands`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Commands {
    /// Mark each prompt at its left: whether its command ended well, and, under the pointer, what can be done with it.
    pub marks: bool,
    /// Keep a command's line in sight while one scrolls back through its output.
    pub sticky_header: bool,
    /// A click at a prompt moves the shell's cursor there.
    pub click_to_move: bool,
}

impl Default for Commands {
    fn default() -> Self {
        Self { marks: true, sticky_header: true, click_to_move: true }
    }
}

/// See [`Config::hints`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Hints {
    /// The letters of labels, the best to reach first; lower case, each once, at least two.
    pub alphabet: String,
    /// The editor for files, with its arguments; `{file}`, `{line}` and `{column}` stand for the place. Empty: `$VISUAL`, `$EDITOR` or vi.
    pub editor: String,
}

impl Default for Hints {
    fn default() -> Self {
        Self { alphabet: "asdfqwerzxcvjklmiuopghtybn".to_owned(), editor: String::new() }
    }
}

/// See [`Config::hint_patterns`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HintPattern {
    /// A regular expression, in the syntax of Rust's `regex` crate.
    pub regex: String,
    /// What is done with what is chosen where it is not copied anyway.
    pub action: HintAction,
}

/// See [`HintPattern::action`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HintAction {
    /// Copied.
    Copy,
    /// Pasted into the pane.
    Paste,
    /// Opened as a link.
    Open,
    /// Opened as a file in the editor.
    Editor,
}

/// See [`Config::links`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Links {
    /// Schemes that are opened, by the desktop's program for each. A program chooses the target of a link. A `file` is opened where it is of this machine and no program.
    pub schemes: Vec<String>,
}

impl Default for Links {
    fn default() -> Self {
        Self { schemes: ["http", "https", "mailto", "file"].map(str::to_owned).to_vec() }
    }
}

/// See [`Config::mouse`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Mouse {
    /// Lines that one notch of the wheel scrolls.
    #[schemars(range(min = 1, max = 50))]
    pub scroll_lines: u16,
    /// What the wheel and a touch pad scroll is multiplied by.
    #[schemars(range(min = 0.01, max = 100.0))]
    pub scroll_multiplier: f32,
    /// Where a finished selection goes by itself.
    pub copy_on_select: CopyOnSelect,
    /// Leave blanks at the ends of lines out of what is copied.
    pub trim_copied: bool,
    /// What the right button does.
    pub right_button: RightButton,
    /// Hide the pointer while typing.
    pub hide_while_typing: bool,
    /// The pane under the pointer gets the keyboard, without a click.
    pub focus_follows_mouse: bool,
}

impl Default for Mouse {
    fn default() -> Self {
        Self {
            scroll_lines: 3,
            scroll_multiplier: 1.0,
            copy_on_select: CopyOnSelect::default(),
            trim_copied: true,
            right_button: RightButton::default(),
            hide_while_typing: true,
            focus_follows_mouse: false,
        }
    }
}

/// See [`Mouse::copy_on_select`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CopyOnSelect {
    /// Nowhere.
    Off,
    /// To the primary selection, which the middle button pastes.
    #[default]
    Primary,
    /// To the clipboard and the primary selection.
    Clipboard,
}

/// See [`Mouse::right_button`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RightButton {
    /// Copies the selection; without one it pastes.
    #[default]
    CopyOrPaste,
    /// Pastes.
    Paste,
    /// Extends the selection to the pointer.
    Extend,
    /// Nothing.
    None,
}

/// See [`Config::paste`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Paste {
    /// When a question comes before a paste. Control characters are left out of every paste.
    pub confirm: ConfirmPaste,
}

/// See [`Paste::confirm`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConfirmPaste {
    /// Never.
    Never,
    /// Where it could do harm: a line end or a control character for a program that did not ask for bracketed pastes, or text that tries to end the bracket.
    #[default]
    Unsafe,
    /// For every text with a line end or a control character.
    Always,
}

/// See [`Config::startup`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Startup {
    /// Empty: one shell. `last`: the tabs, splits and directories that the last window had when it closed. Else a layout's name in `~/.unterm/layouts` (`save_layout` writes one), or the path of its file.
    pub layout: String,
}

/// See [`Config::bell`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Bell {
    /// Mark the tab.
    pub mark: bool,
    /// Ask the desktop to draw attention to the window when it has no focus.
    pub attention: bool,
    /// Flash the pane.
    pub visual: bool,
    /// Ring the system's bell.
    pub audible: bool,
    /// A program and its arguments to ring with instead, such as `["paplay", "bell.oga"]`; at most five times a second.
    pub command: Vec<String>,
}

impl Default for Bell {
    fn default() -> Self {
        Self { mark: true, attention: true, visual: false, audible: false, command: Vec::new() }
    }
}

/// See [`Config::notifications`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Notifications {
    /// Show what programs ask for (OSC 9, 99 and 777).
    pub programs: bool,
    /// Tell of the end of a command that took this many seconds or more, in a pane nobody looks at; 0: never. The shell has to say when commands begin and end (OSC 133).
    #[schemars(range(min = 0, max = 86_400))]
    pub long_commands: u32,
    /// Show them on the desktop; otherwise, and where it has no service for it, as messages in the window.
    pub desktop: bool,
}

impl Default for Notifications {
    fn default() -> Self {
        Self { programs: true, long_commands: 10, desktop: true }
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

/// See [`Config::scrollbar`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Scrollbar {
    /// When it is shown.
    pub show: ShowScrollbar,
    /// Mark prompts on it, by how their commands ended.
    pub marks: bool,
}

impl Default for Scrollbar {
    fn default() -> Self {
        Self { show: ShowScrollbar::default(), marks: true }
    }
}

/// See [`Scrollbar::show`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ShowScrollbar {
    /// While older lines are in sight, and under the pointer.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// See [`Config::tab_bar`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TabBar {
    /// When it is shown.
    pub show: ShowTabBar,
    /// Where it is.
    pub position: BarPosition,
    /// Characters of a title that a tab is at most as wide as.
    #[schemars(range(min = 8, max = 200))]
    pub max_title: u16,
}

impl Default for TabBar {
    fn default() -> Self {
        Self { show: ShowTabBar::default(), position: BarPosition::default(), max_title: 24 }
    }
}

/// See [`TabBar::position`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BarPosition {
    /// At the window's top.
    #[default]
    Top,
    /// At its foot, above the status bar.
    Bottom,
}

/// See [`TabBar::show`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ShowTabBar {
    /// Always.
    #[default]
    Always,
    /// With two tabs or more.
    Several,
    /// Never.
    Never,
}

/// See [`Config::status_bar`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct StatusBar {
    /// Whether it is shown.
    pub show: bool,
}

impl Default for StatusBar {
    fn default() -> Self {
        Self { show: true }
    }
}
