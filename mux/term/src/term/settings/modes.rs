//! Modes that code outside the engine reads (key and mouse encoders, painters, methods), and the engine's own.

bitflags::bitflags! {
    /// Modes that are on or off. Names and numbers: xterm ctlseqs, DECSET and SM.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Modes: u32 {
        /// DECCKM, ?1: cursor keys send SS3.
        const APP_CURSOR = 1 << 0;
        /// DECNKM, ?66 and DECKPAM: the keypad sends SS3.
        const APP_KEYPAD = 1 << 1;
        /// IRM, 4: printing shifts the rest of the line right.
        const INSERT = 1 << 2;
        /// LNM, 20: line feed also returns the carriage; Enter sends CR LF.
        const NEW_LINE = 1 << 3;
        /// DECSCNM, ?5: the whole screen swaps foreground and background.
        const REVERSE_SCREEN = 1 << 4;
        /// DECOM, ?6.
        const ORIGIN = 1 << 5;
        /// DECAWM, ?7.
        const AUTO_WRAP = 1 << 6;
        /// DECTCEM, ?25.
        const SHOW_CURSOR = 1 << 7;
        /// ?1004: the terminal reports focus.
        const FOCUS_EVENTS = 1 << 8;
        /// ?1007: the wheel sends cursor keys on the alternate screen.
        const ALTERNATE_SCROLL = 1 << 9;
        /// ?2004: pastes are bracketed.
        const BRACKETED_PASTE = 1 << 10;
        /// ?2026: output is synchronized; viewers keep their last frame.
        const SYNCHRONIZED = 1 << 11;
        /// The alternate screen is shown (?47, ?1047, ?1049).
        const ALT_SCREEN = 1 << 12;
        /// DECBKM, ?67: Backspace sends BS rather than DEL.
        const BACKSPACE_SENDS_BS = 1 << 13;
        /// ?1036 / ?1039: Alt sends ESC before a key. On by default.
        const ALT_SENDS_ESC = 1 << 14;
        /// ?2027: grapheme clusters.
        const GRAPHEMES = 1 << 15;
        /// DECANM, ?2, reset: sequences and keys are those of a VT52.
        const VT52 = 1 << 16;
        /// BDSM, 8, reset: the program arranges right-to-left text by itself (ECMA-48).
        const EXPLICIT_BIDI = 1 << 17;
        /// ?5522: a paste reports the types on the clipboard (kitty's "Copying all data types to the clipboard").
        const PASTE_EVENTS = 1 << 26;
        /// ?2033: report changes of visibility (rockorager's "Terminal Visibility Reports").
        const VISIBILITY = 1 << 27;
        /// ?2031: report changes between dark and light colors (contour's "Color palette update notifications").
        const COLOR_SCHEME = 1 << 28;
        /// ?2048: report changes of size (rockorager's "In-Band Window Resize Notifications").
        const IN_BAND_RESIZE = 1 << 29;
        /// ?1037: the Delete key sends DEL.
        const DELETE_SENDS_DEL = 1 << 30;
    }
}

bitflags::bitflags! {
    /// Modes that only the engine reads. Names and numbers: DEC STD 070, xterm ctlseqs, DECSET and SM.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(crate) struct DecModes: u32 {
        /// DECLRMM, ?69: `CSI s` sets margins.
        const LEFT_RIGHT = 1 << 0;
        /// ?45: BS and CUB move back over rows that wrapped (see `Term::wrap_back`).
        const REVERSE_WRAP = 1 << 1;
        /// ?1045: BS and CUB move back over any rows.
        const REVERSE_WRAP_ANY = 1 << 2;
        /// ?40: DECCOLM works.
        const ALLOW_COLUMNS = 1 << 3;
        /// DECCOLM, ?3: the last request was for 132 columns.
        const COLUMNS_132 = 1 << 4;
        /// DECNCSM, ?95: DECCOLM does not clear the screen.
        const KEEP_ON_COLUMNS = 1 << 5;
        /// ?41: a tab at the end of a full line wraps first (xterm's fix for more(1)).
        const TAB_WRAPS = 1 << 6;
        /// DECNRCM, ?42: national replacement sets are available.
        const NATIONAL = 1 << 7;
        /// DECSCLM, ?4. There is no slow scroll here; kept for DECRQM, like the next three.
        const SMOOTH_SCROLL = 1 << 8;
        /// DECPFF, ?18: for a printer, which is not supported.
        const PRINT_FORM_FEED = 1 << 9;
        /// DECPEX, ?19: for a printer.
        const PRINT_EXTENT = 1 << 10;
        /// ?44: a bell near the right margin.
        const MARGIN_BELL = 1 << 11;
        /// KAM, 2.
        const KEYBOARD_LOCKED = 1 << 12;
        /// ?35 as in rxvt and xterm (DECHEBM in a VT520): keys change the font size. Here the user chooses those keys;
        /// kept for DECRQM. On by default.
        const FONT_KEYS = 1 << 14;
        /// ?1046 reset: programs cannot show the alternate screen (xterm's titeInhibit).
        const NO_ALTERNATE = 1 << 15;
        /// SRM, 12: no local echo. On by default.
        const SEND_RECEIVE = 1 << 13;
    }
}

/// Which mouse events a program requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MouseTracking {
    /// None: the mouse selects.
    #[default]
    Off,
    /// ?9 (X10): presses only, without modifiers.
    Press,
    /// ?1000: presses and releases.
    Click,
    /// ?1002: also motion while a button is down.
    Drag,
    /// ?1003: also motion without a button.
    Motion,
}

/// The format of mouse events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MouseEncoding {
    /// `CSI M` and three bytes; positions up to 223.
    #[default]
    Legacy,
    /// ?1005: the same in UTF-8.
    Utf8,
    /// ?1006 (SGR).
    Sgr,
    /// ?1015 (urxvt).
    Urxvt,
    /// ?1016: SGR with pixels.
    SgrPixels,
}
