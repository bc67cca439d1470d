//! The modes that others than the engine act on: encoders of keys and mouse, painters, methods.

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
        /// DECSCNM, ?5: foreground and background of the whole screen change places.
        const REVERSE_SCREEN = 1 << 4;
        /// DECOM, ?6.
        const ORIGIN = 1 << 5;
        /// DECAWM, ?7.
        const AUTO_WRAP = 1 << 6;
        /// DECTCEM, ?25.
        const SHOW_CURSOR = 1 << 7;
        /// ?1004: report focus.
        const FOCUS_EVENTS = 1 << 8;
        /// ?1007: the wheel sends cursor keys on the alternate screen.
        const ALTERNATE_SCROLL = 1 << 9;
        /// ?2004: pastes are bracketed.
        const BRACKETED_PASTE = 1 << 10;
        /// ?2026: output is synchronized; viewers keep the picture they have.
        const SYNCHRONIZED = 1 << 11;
        /// The alternate screen is shown (?47, ?1047, ?1049).
        const ALT_SCREEN = 1 << 12;
        /// DECBKM, ?67: Backspace sends BS rather than DEL.
        const BACKSPACE_SENDS_BS = 1 << 13;
        /// ?1036 / ?1039: Alt sends ESC before a key. On at the start.
        const ALT_SENDS_ESC = 1 << 14;
        /// ?2027: grapheme clusters.
        const GRAPHEMES = 1 << 15;
        /// DECANM, ?2, reset: sequences and keys are those of a VT52.
        const VT52 = 1 << 16;
        /// ?2031: a change between dark and light colours is told (contour's "Color palette update notifications").
        const COLOR_SCHEME = 1 << 28;
        /// ?2048: a change of size is told (rockorager's "In-Band Window Resize Notifications").
        const IN_BAND_RESIZE = 1 << 29;
        /// ?1037: the Delete key sends DEL.
        const DELETE_SENDS_DEL = 1 << 30;
    }
}

bitflags::bitflags! {
    /// Modes only the engine looks at. Names and numbers: DEC STD 070, xterm ctlseqs, DECSET and SM.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(crate) struct DecModes: u32 {
        /// DECLRMM, ?69: `CSI s` sets margins.
        const LEFT_RIGHT = 1 << 0;
        /// ?45: BS and CUB go back over rows that wrapped.
        const REVERSE_WRAP = 1 << 1;
        /// ?1045: BS and CUB go back over any rows.
        const REVERSE_WRAP_ANY = 1 << 2;
        /// ?40: DECCOLM works.
        const ALLOW_COLUMNS = 1 << 3;
        /// DECCOLM, ?3: 132 columns were asked for last.
        const COLUMNS_132 = 1 << 4;
        /// DECNCSM, ?95: DECCOLM does not clear the screen.
        const KEEP_ON_COLUMNS = 1 << 5;
        /// ?41: a tab at the end of a full line wraps first (xterm's fix for more(1)).
        const TAB_WRAPS = 1 << 6;
        /// DECNRCM, ?42: national replacement sets are available.
        const NATIONAL = 1 << 7;
        /// DECSCLM, ?4. We have no slow scroll; kept for DECRQM, as the next five are.
        const SMOOTH_SCROLL = 1 << 8;
        /// DECPFF, ?18: for a printer, and we have none.
        const PRINT_FORM_FEED = 1 << 9;
        /// DECPEX, ?19: for a printer.
        const PRINT_EXTENT = 1 << 10;
        /// ?44: a bell near the right margin.
        const MARGIN_BELL = 1 << 11;
        /// KAM, 2.
        const KEYBOARD_LOCKED = 1 << 12;
        /// ?35 as rxvt and xterm have it (DECHEBM in a VT520): keys change the size of the font. Which keys do is the
        /// user's choice here; kept for DECRQM. On at the start.
        const FONT_KEYS = 1 << 14;
        /// ?1046 reset: the alternate screen can't be shown (xterm's titeInhibit).
        const NO_ALTERNATE = 1 << 15;
        /// SRM, 12: no local echo. On at the start.
        const SEND_RECEIVE = 1 << 13;
    }
}

/// Which mouse events a program asked for.
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

/// How mouse events are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MouseEncoding {
    /// `CSI M` and three bytes, positions to 223.
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
