//! Reasons to leave a setting out that several terminals share, and the features that Unterm lacks.
//!
//! Only a [`Lack`] may say that Unterm has no such thing. A test fails if the reference of options and actions names what a
//! `Lack` denies, so that a feature added later is converted, too.

/// A feature of other terminals that Unterm lacks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lack {
    /// The reason, for people.
    pub why: &'static str,
    /// Words that the reference of options and actions would contain if Unterm had the feature, in lower case.
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
        /// Every feature declared here.
        #[cfg(test)]
        pub(super) const LACKS: &[Lack] = &[$($name),*];
    };
}

lacks! {
    /// A setting that a list of `lacks.rs` names.
    NO_SETTING = "Unterm has no such setting", [];
    /// An action that a list of `lacks.rs` names.
    NO_ACTION = "Unterm has no such action", [];
    /// A binding that applies only at times.
    NO_MODES = "Unterm's keys have no conditions and modes", ["key table", "while a program matches"];
    /// A program without a terminal.
    NO_BACKGROUND = "Unterm has no action that starts a program outside a tab", ["run_program", "in the background"];
    /// A program in a split.
    NO_SPLIT_PROGRAM = "Unterm's splits start the shell; only a tab starts a profile's program", ["split_right takes", "split_down takes"];
    /// A program in a window.
    NO_WINDOW_PROGRAM = "Unterm's windows start the shell; only a tab starts a profile's program", ["new_window takes"];
    /// Padding that differs between sides.
    ONE_PADDING = "Unterm has one padding for all sides; it uses the first", ["padding_left", "padding_top", "padding_x"];
    /// Vertical padding.
    HORIZONTAL_PADDING = "Unterm has one padding for all sides; it uses the horizontal one", ["padding_left", "padding_top", "padding_x"];
    /// A tab bar at the side.
    TAB_BAR = "the tab bar is at the top or at the bottom", ["`left`: at the left", "vertical tabs"];
    /// More clicks than one.
    NO_MULTIPLE_CLICKS = "Unterm binds single clicks", ["double_click", "double_left"];
    /// A binding for programs that use the mouse.
    NO_GRABBED = "a program that uses the mouse gets every input first, unless Shift is held", ["before the program"];
    /// Another way to select with the mouse.
    NO_SELECTING = "Unterm's selections with the mouse are fixed", ["select_word", "extend_selection"];
    /// Keys for the whole desktop.
    NO_GLOBAL_KEYS = "Unterm's keys apply to the focused window", ["global key", "of the desktop's keys"];
    /// Keys that reach the program, too.
    NO_UNCONSUMED = "Unterm's keys don't reach the program as well", ["unconsumed"];
    /// Clipboards of the terminal.
    NO_PRIVATE_CLIPBOARDS = "Unterm has no private clipboards", ["private clipboard", "named clipboard"];
    /// Text that is typed only in one mode of the keyboard.
    NO_KEYBOARD_MODES = "Unterm types a text in every mode of the keyboard", ["application mode", "normal mode"];
    /// Tabs in the order of their use.
    NO_RECENT_TABS = "Unterm does not go to tabs by when they were used", ["used before", "recent tab"];
    /// Variables that are removed.
    NO_REMOVED_VARIABLES = "Unterm can't remove a variable", ["removes the variable", "unset"];
    /// Variables in values.
    NO_VARIABLES = "Unterm does not replace variables in a value", ["variables in a value are replaced"];
    /// The pointer is hidden after a time.
    NO_HIDING_TIME = "Unterm hides the pointer while you type, not after a time", ["hide_after"];
    /// Parts of shell integration.
    WHOLE_INTEGRATION = "Unterm's shell integration is on or off as a whole", ["integration_features"];
    /// Arrangements of panes that follow a rule.
    NO_TILING = "Unterm arranges panes in splits", ["next_arrangement", "tiling"];
    /// Styles of a font, by name.
    FIXED_STYLES = "Unterm chooses the weight and the slant itself", ["weight of the font", "bold_style"];
    /// One style of a font.
    ALL_STYLES = "Unterm synthesizes all styles or none", ["synthetic_bold", "synthesize bold only"];
    /// Factors for kinds of wheels.
    ONE_FACTOR = "Unterm has one factor for wheel and touchpad", ["touchpad_multiplier"];
    /// Colors above the sixteenth.
    SIXTEEN_COLORS = "a theme of Unterm has sixteen colors", ["256 colors of a theme"];
    /// Keys by their place.
    NO_SCAN_CODES = "it has no key by name; Unterm binds no scan codes", ["scan code"];
    /// Padding in cells.
    PADDING_IN_PIXELS = "Unterm's padding is in pixels", ["padding of the panes in cells"];
    /// Sizes in pixels.
    SIZE_IN_CELLS = "it is in pixels; Unterm's size is in columns and rows", ["width of a new window, in pixels"];
    /// Sizes of the font.
    NO_FONT_SIZE = "Unterm changes the size by steps of a point", ["set_font_size"];
    /// The wheel, reversed.
    NO_REVERSED_WHEEL = "the wheel scrolls at least one line, in its own direction", ["reverse"];
    /// A hint that starts a program.
    NO_HINT_PROGRAM = "a pattern copies, pastes, or opens with the desktop's program or the editor", ["the action is `run`"];
    /// Drop-downs with a size in pixels.
    NO_DROP_DOWN_PIXELS = "Unterm's drop-down has a share of the screen's height", ["quake_pixels"];
}

/// A setting or an action that reloads the file.
pub(super) const RELOADS: &str = "Unterm applies changes as soon as the file is saved";
/// A value of `TERM`.
pub(super) const TERM: &str = "Unterm's own names are xterm-256color and unterm; see shell.term";
/// Where programs reach the terminal.
pub(super) const CONTROL: &str = "Unterm's control port is always on, for your user only";
/// An arrangement that opens at the start.
pub(super) const LAYOUT: &str = "arrange the tabs once, run save_layout, and set startup.layout";
/// A value that only Lua can compute.
pub(super) const COMPUTED: &str = "Lua computes it; the import reads only literals";
/// The mouse opens links.
pub(super) const LINKS: &str = "Unterm opens links by itself; see links.open_by";

/// A value whose meaning the import does not know.
pub(super) fn unknown(value: &str) -> String {
    format!("the import does not know the value {value:?}")
}

/// A name that is neither converted nor listed in `lacks.rs`.
pub(super) fn unknown_name(terminal: &str) -> String {
    format!("the import does not know this name; is it one of {terminal}'s?")
}
