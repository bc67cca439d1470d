//! The reasons for leaving out a setting that several terminals share; and the features that Unterm lacks.
//!
//! Only a [`Lack`] may claim that Unterm lacks a feature. If the reference of options and actions mentions the feature
//! of a `Lack`, a test fails. This ensures that a feature that is added later is also converted.

/// A feature of other terminals that Unterm lacks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lack {
    /// The reason, as text for the user.
    pub why: &'static str,
    /// Words in lower case that the reference of options and actions would contain if Unterm had the feature.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "only a test compares them with the reference")
    )]
    pub words: &'static [&'static str],
}

impl From<Lack> for String {
    fn from(lack: Lack) -> Self {
        lack.why.to_owned()
    }
}

/// Declares features that Unterm lacks, and lists them for the test.
macro_rules! lacks {
    ($($(#[$doc:meta])* $name:ident = $why:literal, $words:expr;)*) => {
        $($(#[$doc])* pub(super) const $name: Lack = Lack { why: $why, words: &$words };)*
        /// All features that are declared here.
        #[cfg(test)]
        pub(super) const LACKS: &[Lack] = &[$($name),*];
    };
}

lacks! {
    /// A setting that is listed in `unsupported.rs`.
    NO_SETTING = "Unterm has no such setting", [];
    /// An action that is listed in `unsupported.rs`.
    NO_ACTION = "Unterm has no such action", [];
    /// A command of copy mode that is listed in `unsupported.rs`.
    NO_COMMAND = "Unterm's copy mode has no such command", [];
    /// A binding that applies only under some conditions.
    NO_MODES = "Unterm's keys have no conditions and modes", ["key table", "while a program matches"];
    /// A program that is started without a terminal.
    NO_BACKGROUND = "Unterm has no action that starts a program outside a tab", ["run_program", "in the background"];
    /// A program that is started in a split.
    NO_SPLIT_PROGRAM = "Unterm's splits start the shell; only a tab starts a profile's program", ["split_right takes", "split_down takes"];
    /// A program that is started in a window.
    NO_WINDOW_PROGRAM = "Unterm's windows start the shell; only a tab starts a profile's program", ["new_window takes"];
    /// Different padding on different sides.
    ONE_PADDING = "Unterm has one padding for all sides; it uses the first", ["padding_left", "padding_top", "padding_x"];
    /// Separate vertical padding.
    HORIZONTAL_PADDING = "Unterm has one padding for all sides; it uses the horizontal one", ["padding_left", "padding_top", "padding_x"];
    /// A tab bar at the left or the right side.
    TAB_BAR = "tabs are at the top, at the bottom or at the left", ["`right`: at the right", "tabs at the right"];
    /// Bindings of double or triple clicks.
    NO_MULTIPLE_CLICKS = "Unterm binds single clicks", ["double_click", "double_left"];
    /// A binding that takes precedence over a program that tracks the mouse.
    NO_GRABBED = "a program that uses the mouse gets every input first, unless Shift is held", ["before the program"];
    /// Another way to select text with the mouse.
    NO_SELECTING = "Unterm's selections with the mouse are fixed", ["select_word", "extend_selection"];
    /// Keys that work in the whole desktop.
    NO_GLOBAL_KEYS = "Unterm's keys apply to the focused window", ["global key", "of the desktop's keys"];
    /// Keys that run an action and also reach the program.
    NO_UNCONSUMED = "Unterm's keys don't reach the program as well", ["unconsumed"];
    /// Additional clipboards of the terminal itself.
    NO_PRIVATE_CLIPBOARDS = "Unterm has no private clipboards", ["private clipboard", "named clipboard"];
    /// A text that is typed only in one mode of the keyboard.
    NO_KEYBOARD_MODES = "Unterm types a text in every mode of the keyboard", ["application mode", "normal mode"];
    /// Switching tabs in the order of their last use.
    NO_RECENT_TABS = "Unterm does not go to tabs by when they were used", ["used before", "recent tab"];
    /// Environment variables that are removed.
    NO_REMOVED_VARIABLES = "Unterm can't remove a variable", ["removes the variable", "unset"];
    /// Variables that are used inside of values.
    NO_VARIABLES = "Unterm does not replace variables in a value", ["variables in a value are replaced"];
    /// Hiding the pointer after some time.
    NO_HIDING_TIME = "Unterm hides the pointer while you type, not after a time", ["hide_after"];
    /// Settings for single parts of shell integration.
    WHOLE_INTEGRATION = "Unterm's shell integration is on or off as a whole", ["integration_features"];
    /// Layouts that arrange panes by a rule.
    NO_TILING = "Unterm arranges panes in splits", ["next_arrangement", "tiling"];
    /// Names of font styles.
    FIXED_STYLES = "Unterm chooses the weight and the slant itself", ["weight of the font", "bold_style"];
    /// Synthesizing only some font styles.
    ALL_STYLES = "Unterm synthesizes all styles or none", ["synthetic_bold", "synthesize bold only"];
    /// Separate scroll factors for kinds of wheels.
    ONE_FACTOR = "Unterm has one factor for wheel and touchpad", ["touchpad_multiplier"];
    /// Colors above the sixteenth.
    SIXTEEN_COLORS = "a theme of Unterm has sixteen colors", ["256 colors of a theme"];
    /// Keys that are identified by their position.
    NO_SCAN_CODES = "it has no key by name; Unterm binds no scan codes", ["scan code"];
    /// Padding that is given in cells.
    PADDING_IN_PIXELS = "Unterm's padding is in pixels", ["padding of the panes in cells"];
    /// A window size that is given in pixels.
    SIZE_IN_CELLS = "it is in pixels; Unterm's size is in columns and rows", ["width of a new window, in pixels"];
    /// An action that sets the font size to a value.
    NO_FONT_SIZE = "Unterm changes the size by steps of a point", ["set_font_size"];
    /// A wheel that scrolls in the opposite direction.
    NO_REVERSED_WHEEL = "the wheel scrolls at least one line, in its own direction", ["reverse"];
    /// A hint that starts a program.
    NO_HINT_PROGRAM = "a pattern copies, pastes, or opens with the desktop's program or the editor", ["the action is `run`"];
    /// A rule for links whose target differs from the text.
    NO_LINK_FORMAT = "a pattern opens its text as it is, not a link that is built from the text", ["format of a link", "link_format"];
    /// A rule for fonts that depends on other attributes than bold and italic.
    NO_FONT_RULES = "Unterm selects families for bold and italic text only", ["families for dim", "families for underlined"];
    /// Notifications that depend on the focus.
    NO_NOTIFICATION_FOCUS = "Unterm shows the notifications of programs always or never", ["notifications of panes without the focus"];
    /// A part of a step, or many steps at once.
    WHOLE_STEPS = "the import repeats an action for whole steps only, ten at most", ["half a page", "scroll_half", "fraction of a page"];
    /// A text that is passed to a program.
    NO_PIPED_TEXT = "scrollback.pager shows only the history and a command's output", ["shows the selection", "text to a program"];
    /// A drop-down window whose size is given in pixels.
    NO_DROP_DOWN_PIXELS = "Unterm's drop-down has a share of the screen's height", ["quake_pixels"];
}

/// The reason for a setting or an action that reloads the file.
pub(super) const RELOADS: &str = "Unterm applies changes as soon as the file is saved";
/// The reason for a setting that lets programs outlive their window.
pub(super) const KEPT: &str = "Unterm's programs outlive their window anyway; see sessions.keep";
/// The reason for an action that shows programs that outlived their window.
pub(super) const ATTACH: &str = "start Unterm with --attach";
/// The reason for a value of `TERM`.
pub(super) const TERM: &str = "Unterm's own names are xterm-256color and unterm; see shell.term";
/// The reason for a setting about controlling the terminal from programs.
pub(super) const CONTROL: &str = "Unterm's control port is always on, for your user only";
/// The reason for a setting with the panes to open at the start.
pub(super) const LAYOUT: &str = "arrange the tabs once, run save_layout, and set startup.layout";
/// The reason for a sound file of the bell.
pub(super) const BELL_COMMAND: &str = "set bell.command to a program that plays it";
/// The reason for a setting that chooses how frames are drawn.
pub(super) const PAINTER: &str = "start Unterm with --painter";
/// The reason for a setting with the directory of the first pane.
pub(super) const DIRECTORY: &str = "start Unterm with --cwd";
/// The reason for the class of the window.
pub(super) const CLASS: &str = "start Unterm with --class";
/// The reason for a setting that keeps a pane open after its program has ended.
pub(super) const HOLD: &str = "start Unterm with --hold";
/// The reason for a setting that lets programs read the title.
pub(super) const TITLE_REPORTS: &str = "start Unterm with --allow=title-reports";
/// The reason for a key that shows the drop-down window from everywhere.
pub(super) const DROP_DOWN_KEY: &str =
    "bind `unterm --quake` to the key in the settings of the desktop";
/// The reason for a value that only Lua can compute.
pub(super) const COMPUTED: &str = "Lua computes it; the import reads only literals";
/// The reason for a pattern with an action that can't be converted.
pub(super) const PATTERNS: &str = "write the pattern in [hint_patterns], and bind quick_select";
/// The reason for letters of labels that are no lower-case letters.
pub(super) const LETTERS: &str = "only its lower-case letters are converted, each once";
/// The reason for a setting that opens links with the mouse.
pub(super) const LINKS: &str = "Unterm opens links by itself; see links.open_by";

/// The reason for a value whose meaning is unknown.
pub(super) fn unknown(value: &str) -> String {
    format!("the import does not know the value {value:?}")
}

/// The reason for a name that is neither converted nor listed in `unsupported.rs`.
pub(super) fn unknown_name(terminal: &str) -> String {
    format!("the import does not know this name; is it one of {terminal}'s?")
}
