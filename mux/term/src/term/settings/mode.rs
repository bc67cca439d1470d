//! Setting, resetting, saving and querying modes (SM, RM, DECSET, DECRST, XTSAVE, XTRESTORE), and resets.

use std::fmt::Write;

use crate::params::Params;
use crate::term::graphics::SixelMode;
use crate::term::painter::Painter;
use crate::term::settings::modes::DecModes;
use crate::term::settings::vt52::AnsiState;
use crate::term::shell::stale_prompt::LastLine;
use crate::term::{SavedCursor, ScreenKind, Term};
use crate::{CursorShape, Event, Modes, MouseEncoding, MouseTracking};

/// Maximum private modes that XTSAVE saves.
const SAVED_CAP: usize = 64;

/// One more than the highest private mode, and one more than the highest ANSI mode.
const LAST_MODE: u16 = 10_000;
const LAST_ANSI_MODE: u16 = 34;

/// The effect of setting a private mode.
enum Private {
    /// Only sets the flag.
    Flag(Modes),
    Origin,
    /// DECANM: resetting it enters VT52 mode; only a VT52 sequence sets it again.
    Ansi,
    Tracking(MouseTracking),
    Encoding(MouseEncoding),
    Blink,
    /// `clear`: leaving the alternate screen clears it.
    Screen {
        clear: bool,
    },
    SaveCursor,
    ScreenAndCursor,
    /// Whether programs may use the alternate screen.
    AlternateAllowed,
    Sixel(SixelMode),
    /// Only sets a flag that just the engine reads.
    Dec(DecModes),
    /// DECLRMM.
    Margins,
    /// DECCOLM.
    Columns,
    /// Cannot be changed; DECRQM reports it as permanent.
    Permanent {
        on: bool,
    },
    /// Cannot be changed either: whether characters of ambiguous width are wide, which is the user's choice.
    AmbiguousWide,
}

/// All private modes (xterm ctlseqs, DECSET; 2026 and 2027 by their own specifications).
fn private(mode: u16) -> Option<Private> {
    use Private::*;
    Some(match mode {
        1 => Flag(Modes::APP_CURSOR),
        2 => Ansi,
        3 => Columns,
        4 => Dec(DecModes::SMOOTH_SCROLL),
        5 => Flag(Modes::REVERSE_SCREEN),
        6 => Origin,
        7 => Flag(Modes::AUTO_WRAP),
        8 => Permanent { on: false }, // DECARM: the keyboard repeats by itself
        9 => Tracking(MouseTracking::Press),
        12 => Blink,
        13 => Permanent { on: false }, // blinking is not the user's choice …
        14 => Permanent { on: false }, // … nor combined with it
        18 => Dec(DecModes::PRINT_FORM_FEED),
        19 => Dec(DecModes::PRINT_EXTENT),
        25 => Flag(Modes::SHOW_CURSOR),
        35 => Dec(DecModes::FONT_KEYS),
        40 => Dec(DecModes::ALLOW_COLUMNS),
        41 => Dec(DecModes::TAB_WRAPS),
        42 => Dec(DecModes::NATIONAL),
        44 => Dec(DecModes::MARGIN_BELL),
        45 => Dec(DecModes::REVERSE_WRAP),
        47 => Screen { clear: false },
        66 => Flag(Modes::APP_KEYPAD),
        67 => Flag(Modes::BACKSPACE_SENDS_BS),
        69 => Margins,
        95 => Dec(DecModes::KEEP_ON_COLUMNS),
        80 => Sixel(SixelMode::Display),
        1000 => Tracking(MouseTracking::Click),
        1002 => Tracking(MouseTracking::Drag),
        1003 => Tracking(MouseTracking::Motion),
        1004 => Flag(Modes::FOCUS_EVENTS),
        1005 => Encoding(MouseEncoding::Utf8),
        1006 => Encoding(MouseEncoding::Sgr),
        1007 => Flag(Modes::ALTERNATE_SCROLL),
        1015 => Encoding(MouseEncoding::Urxvt),
        1016 => Encoding(MouseEncoding::SgrPixels),
        1037 => Flag(Modes::DELETE_SENDS_DEL),
        1036 | 1039 => Flag(Modes::ALT_SENDS_ESC),
        1045 => Dec(DecModes::REVERSE_WRAP_ANY),
        1047 => Screen { clear: true },
        1048 => SaveCursor,
        1049 => ScreenAndCursor,
        1070 => Sixel(SixelMode::PrivateColors),
        8452 => Sixel(SixelMode::CursorRight),
        2004 => Flag(Modes::BRACKETED_PASTE),
        // Modes of the VT330 to VT520 without a meaning here (the set that xterm recognizes): 34 DECRLM, 36 DECHEM, 57
        // DECNAKB, 58 DECIPEM, 60 DECHCCM, 61 DECVCCM, 64 DECPCCM, 68 DECKBUM, 73 DECXRLM, 81 DECKPM, 96 DECRLCM, 97
        // DECCRTSM, 98 DECARSM, 99 DECMCM, 100 DECAAM, 101 DECCANSM, 102 DECNULM, 103 DECHDPXM, 104 DECESKM, 106
        // DECOSCNM, 108 DECNUMLK, 109 DECCAPSLK, 110 DECKLHIM, 111 DECFWM, 112 DECRPL, 113 DECHWUM, 114 DECATCUM, 115
        // DECATCBM, 116 DECBBSM, 117 DECECM.
        10 | 34 | 36 | 53 | 55 | 57..=61 | 64 | 68 | 70 | 73 | 81 | 96..=104 | 106 | 108..=117 => {
            Permanent { on: false }
        }
        11 | 16 | 43 => Permanent { on: false }, // DECLTM, DECEKEM, DECGEPM
        // Choices of the user, made in the window or the configuration: scrollbar, Tektronix mode, log, scrolling on
        // output, eighth bit for Meta, selection and clipboard, bell, other keyboards, mouse in readline; highlight
        // tracking.
        30 | 38 | 46 | 1001 | 1010 | 1034 | 1040..=1044 | 1050..=1053 | 1060 | 1061 => {
            Permanent { on: false }
        }
        2001..=2003 | 2005 | 2006 => Permanent { on: false },
        1011 | 1035 => Permanent { on: true }, // keys scroll to the end; Num Lock applies
        1014 => Permanent { on: true },        // lines scrolled past between frames are not drawn
        1020 | 1022 => Permanent { on: true }, // UTF-8; wide emoji
        1021 => AmbiguousWide,
        1023 => Permanent { on: false }, // private-use characters are of ambiguous width
        1046 => AlternateAllowed,
        2026 => Flag(Modes::SYNCHRONIZED),
        2027 => Flag(Modes::GRAPHEMES),
        2031 => Flag(Modes::COLOR_SCHEME),
        2033 => Flag(Modes::VISIBILITY),
        2048 => Flag(Modes::IN_BAND_RESIZE),
        5522 => Flag(Modes::PASTE_EVENTS),
        _ => return None,
    })
}

/// Whether a private mode is a switch that changes neither the cursor, nor cells, nor the screen.
fn is_switch(mode: u16) -> bool {
    use Private::*;
    let private = private(mode);
    matches!(private, Some(Flag(_) | Dec(_) | Tracking(_) | Encoding(_) | Blink | Sixel(_)))
}

/// The state of a mode as DECRPM reports it (DEC STD 070).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModeState {
    Unknown = 0,
    Set = 1,
    Reset = 2,
    PermanentlySet = 3,
    PermanentlyReset = 4,
}

impl ModeState {
    fn of(on: bool) -> Self {
        if on { Self::Set } else { Self::Reset }
    }

    fn permanently(on: bool) -> Self {
        if on { Self::PermanentlySet } else { Self::PermanentlyReset }
    }
}

impl Term {
    /// SM, RM.
    pub(crate) fn set_modes(&mut self, params: &Params, on: bool) {
        for mode in params.values() {
            match mode {
                2 => self.dec.set(DecModes::KEYBOARD_LOCKED, on),
                4 => self.modes.set(Modes::INSERT, on),
                8 => self.modes.set(Modes::EXPLICIT_BIDI, !on),
                12 => self.dec.set(DecModes::SEND_RECEIVE, on),
                20 => self.modes.set(Modes::NEW_LINE, on),
                _ => tracing::debug!(mode, on, "unknown mode"),
            }
        }
    }

    /// DECSET, DECRST.
    pub(crate) fn set_private_modes(&mut self, params: &Params, on: bool) {
        for &mode in params.values() {
            self.set_private_mode(mode, on);
            if self.is_vt52() {
                return;
            }
        }
    }

    /// The lowest conformance level (DECSCL) that has a private mode.
    fn mode_level(mode: u16) -> u8 {
        match mode {
            42 => 2,
            11 | 16 | 60 | 61 | 64 | 68 | 73 => 3,
            69 | 81 => 4,
            34 | 36 | 57 | 95..=117 => 5,
            _ => 1,
        }
    }

    /// The effect of a private mode, if the current level has that mode.
    fn known_private(&self, mode: u16) -> Option<Private> {
        private(mode).filter(|_| Self::mode_level(mode) <= self.conformance.level)
    }

    fn set_private_mode(&mut self, mode: u16, on: bool) {
        match self.known_private(mode) {
            None => tracing::debug!(mode, on, "unknown private mode"),
            Some(Private::Flag(flag)) => {
                self.modes.set(flag, on);
                self.follow_editor();
                if flag == Modes::IN_BAND_RESIZE && on {
                    self.report_size();
                }
                if flag == Modes::VISIBILITY && on {
                    // Even if the mode was on already.
                    self.report_visibility();
                }
            }
            Some(Private::Dec(flag)) => self.dec.set(flag, on),
            Some(Private::Margins) => self.set_margin_mode(on),
            Some(Private::Columns) => self.set_column_mode(on),
            Some(Private::Permanent { .. } | Private::AmbiguousWide) => {}
            Some(Private::Ansi) if on => {}
            Some(Private::Ansi) => self.enter_vt52(),
            Some(Private::Origin) => {
                self.modes.set(Modes::ORIGIN, on);
                self.move_to(1, 1);
            }
            Some(Private::Tracking(tracking)) => {
                self.mouse_tracking = if on { tracking } else { MouseTracking::Off };
            }
            Some(Private::Encoding(encoding)) => {
                if on {
                    self.mouse_encoding = encoding;
                } else if self.mouse_encoding == encoding {
                    self.mouse_encoding = MouseEncoding::Legacy;
                }
            }
            Some(Private::Blink) => self.blinking = on,
            Some(Private::Sixel(mode)) => self.graphics.sixel.set_mode(mode, on),
            Some(Private::AlternateAllowed) => {
                self.dec.set(DecModes::NO_ALTERNATE, !on);
                self.show_screen(on && self.screen == ScreenKind::Alternate);
            }
            Some(Private::Screen { .. } | Private::ScreenAndCursor)
                if self.dec.contains(DecModes::NO_ALTERNATE) => {}
            Some(Private::Screen { clear }) => {
                if !on && clear && self.screen == ScreenKind::Alternate {
                    self.clear_screen();
                }
                self.show_screen(on);
            }
            Some(Private::SaveCursor) => {
                if on {
                    self.save_cursor()
                } else {
                    self.restore_cursor()
                }
            }
            Some(Private::ScreenAndCursor) => match (on, self.screen) {
                (true, _) => {
                    // Even on the alternate screen: each screen has its own saved cursor (xterm).
                    self.save_cursor();
                    self.show_screen(true);
                    self.clear_screen();
                    self.cursor.wrap_pending = false;
                }
                (false, ScreenKind::Alternate) => {
                    self.show_screen(false);
                    self.restore_cursor();
                }
                (false, ScreenKind::Main) => self.restore_cursor(),
            },
        }
    }

    /// Shows the alternate or the main screen. The cursor stays where it is.
    fn show_screen(&mut self, alternate: bool) {
        let screen = if alternate { ScreenKind::Alternate } else { ScreenKind::Main };
        if screen == self.screen {
            return;
        }
        self.screen = screen;
        self.hidden_cursor = self.cursor;
        std::mem::swap(&mut self.grid, &mut self.hidden);
        std::mem::swap(&mut self.saved, &mut self.hidden_saved);
        self.flush_scrolled_images();
        self.graphics.swap();
        self.modes.set(Modes::ALT_SCREEN, alternate);
        self.extra_cursors.clear();
        self.pen.forget_ids();
    }

    /// Shows the main screen, with the cursor where it was when the alternate screen was shown.
    pub(crate) fn leave_alternate_screen(&mut self) {
        let cursor = self.hidden_cursor;
        self.show_screen(false);
        self.cursor = cursor;
    }

    /// Whether a private mode is set; `None` if there is no such mode.
    pub(crate) fn private_mode(&self, mode: u16) -> Option<bool> {
        Some(match self.known_private(mode)? {
            Private::Flag(flag) => self.modes.contains(flag),
            Private::Dec(flag) => self.dec.contains(flag),
            Private::Margins => self.dec.contains(DecModes::LEFT_RIGHT),
            Private::Columns => self.dec.contains(DecModes::COLUMNS_132),
            Private::Permanent { on } => on,
            Private::AmbiguousWide => self.ambiguous_wide,
            Private::Origin => self.modes.contains(Modes::ORIGIN),
            Private::Ansi => !self.is_vt52(),
            Private::Tracking(tracking) => self.mouse_tracking == tracking,
            Private::Encoding(encoding) => self.mouse_encoding == encoding,
            Private::Blink => self.blinking,
            Private::AlternateAllowed => !self.dec.contains(DecModes::NO_ALTERNATE),
            Private::Sixel(mode) => self.graphics.sixel.mode(mode),
            Private::Screen { .. } | Private::ScreenAndCursor => {
                self.screen == ScreenKind::Alternate
            }
            // Whether the visible screen has a saved cursor, however it was saved (xterm 410). ghostty reports the last ?1048
            // instead.
            Private::SaveCursor => self.saved.is_set,
        })
    }

    /// The state of a private mode, for DECRQM.
    pub(crate) fn private_mode_state(&self, mode: u16) -> ModeState {
        match (self.known_private(mode), self.private_mode(mode)) {
            (None, _) | (_, None) => ModeState::Unknown,
            (Some(Private::Permanent { .. } | Private::AmbiguousWide), Some(on)) => {
                ModeState::permanently(on)
            }
            // The mode has no effect, but stays set for a later owner that has a clipboard.
            (Some(Private::Flag(Modes::PASTE_EVENTS)), _) if !self.has_clipboard => {
                ModeState::PermanentlyReset
            }
            (_, Some(on)) => ModeState::of(on),
        }
    }

    /// The state of an ANSI mode, for DECRQM.
    pub(crate) fn ansi_mode_state(&self, mode: u16) -> ModeState {
        Self::ansi_mode(mode, self.modes, self.dec)
    }

    fn ansi_mode(mode: u16, modes: Modes, dec: DecModes) -> ModeState {
        match mode {
            2 => ModeState::of(dec.contains(DecModes::KEYBOARD_LOCKED)),
            3 => ModeState::Reset, // CRM
            4 => ModeState::of(modes.contains(Modes::INSERT)),
            8 => ModeState::of(!modes.contains(Modes::EXPLICIT_BIDI)),
            12 => ModeState::of(dec.contains(DecModes::SEND_RECEIVE)),
            20 => ModeState::of(modes.contains(Modes::NEW_LINE)),
            // GATM, SRTM, VEM, HEM, PUM, FEAM, FETM, MATM, TTM, SATM, TSM, EBM
            1 | 5 | 7 | 10 | 11 | 13..=19 => ModeState::PermanentlyReset,
            _ => ModeState::Unknown,
        }
    }

    /// Writes the sequences that set, as in `ansi`, all private modes that are only flags and are `wanted`, and the
    /// modes of the mouse. For [`Term::to_vt`].
    pub(crate) fn write_modes(
        &self,
        out: &mut String,
        ansi: &AnsiState,
        wanted: impl Fn(Modes) -> bool,
    ) {
        for mode in 1..LAST_MODE {
            let on = match private(mode) {
                Some(Private::Flag(flag)) if wanted(flag) => ansi.modes.contains(flag),
                Some(Private::Dec(flag)) => ansi.dec.contains(flag),
                Some(Private::AlternateAllowed) => !ansi.dec.contains(DecModes::NO_ALTERNATE),
                Some(Private::Sixel(mode)) => self.graphics.sixel.mode(mode),
                Some(Private::Tracking(tracking)) if tracking == self.mouse_tracking => true,
                Some(Private::Encoding(encoding)) if encoding == self.mouse_encoding => true,
                _ => continue,
            };
            let _ = write!(out, "\x1b[?{mode}{}", if on { 'h' } else { 'l' });
        }
    }

    /// Writes the same for ANSI modes.
    pub(crate) fn write_ansi_modes(out: &mut String, ansi: &AnsiState) {
        for mode in 1..LAST_ANSI_MODE {
            let last = match Self::ansi_mode(mode, ansi.modes, ansi.dec) {
                ModeState::Set => 'h',
                ModeState::Reset => 'l',
                _ => continue,
            };
            let _ = write!(out, "\x1b[{mode}{last}");
        }
    }

    /// Writes the saved modes that change rows or the size of the screen. Must run before any rows are written.
    pub(crate) fn write_saved_layout_modes(&self, painter: &mut Painter) {
        for &(mode, on) in &self.saved_modes {
            let last = if on { 'h' } else { 'l' };
            match private(mode) {
                Some(Private::Margins) => {
                    painter.raw(&format!("\x1b[?{mode}{last}\x1b[?{mode}s\x1b[?{mode}l"));
                }
                Some(Private::Columns) => {
                    painter.raw(&format!("\x1b[?40h\x1b[?{mode}{last}\x1b[?{mode}s"));
                    painter.raw(&format!("\x1b[?{mode}l\x1b[?40l"));
                }
                _ => {}
            }
        }
    }

    /// Writes sequences that make XTSAVE save the same modes, for those that must be saved while `screen` is visible.
    pub(crate) fn write_saved_modes(&self, painter: &mut Painter, screen: ScreenKind) {
        for &(mode, on) in &self.saved_modes {
            let last = if on { 'h' } else { 'l' };
            match private(mode) {
                Some(Private::Flag(_) | Private::Tracking(_) | Private::Encoding(_))
                | Some(Private::Blink | Private::Origin | Private::Sixel(_) | Private::Dec(_))
                    if screen == self.screen =>
                {
                    painter.raw(&format!("\x1b[?{mode}{last}\x1b[?{mode}s"));
                }
                Some(Private::Screen { .. } | Private::ScreenAndCursor)
                    if on == (screen == ScreenKind::Alternate) =>
                {
                    painter.raw(&format!("\x1b[?{mode}s"));
                }
                _ => {}
            }
        }
        painter.raw("\x1b[?7h\x1b[?6l\x1b[?42l\x1b[?2027l");
    }

    /// XTSAVE without numbers: saves all modes that are switches without a side effect (kitty, "Simple save/restore of
    /// all terminal modes"). Restoring any other mode would move the cursor, or change cells or the screen.
    pub(crate) fn save_all_modes(&mut self) {
        self.save_modes((1..LAST_MODE).filter(|mode| is_switch(*mode)));
    }

    /// XTRESTORE without numbers: restores all modes that [`Term::save_all_modes`] may have saved.
    pub(crate) fn restore_all_modes(&mut self) {
        let saved = self.saved_modes.clone();
        // First what was off, because to end one kind of mouse events ends all of them.
        for on in [false, true] {
            for &(mode, _) in saved.iter().filter(|(_, saved)| *saved == on) {
                // To set some modes again would send a report.
                if is_switch(mode) && self.private_mode(mode) != Some(on) {
                    self.set_private_mode(mode, on);
                }
            }
        }
    }

    /// XTSAVE.
    pub(crate) fn save_private_modes(&mut self, params: &Params) {
        self.save_modes(params.values().iter().copied());
    }

    fn save_modes(&mut self, modes: impl Iterator<Item = u16>) {
        for mode in modes {
            let Some(on) = self.private_mode(mode) else { continue };
            // Skip modes that cannot change, and DECCOLM while it has no effect.
            match private(mode) {
                Some(Private::Permanent { .. } | Private::AmbiguousWide | Private::Ansi) => {
                    continue;
                }
                // Restoring this mode may change the screen.
                Some(Private::AlternateAllowed) => continue,
                // The mode is an action, and saving it is another (xterm).
                Some(Private::SaveCursor) => {
                    self.save_cursor();
                    continue;
                }
                Some(Private::Columns) if !self.dec.contains(DecModes::ALLOW_COLUMNS) => continue,
                _ => {}
            }
            self.saved_modes.retain(|(saved, _)| *saved != mode);
            if self.saved_modes.len() < SAVED_CAP {
                self.saved_modes.push((mode, on));
            } else {
                self.caps.dropped("mode put aside", SAVED_CAP);
            }
        }
    }

    /// XTRESTORE.
    pub(crate) fn restore_private_modes(&mut self, params: &Params) {
        for &mode in params.values() {
            let saved = self.saved_modes.iter().find(|(saved, _)| *saved == mode).copied();
            match saved {
                None if matches!(self.known_private(mode), Some(Private::SaveCursor)) => {
                    self.restore_cursor();
                }
                // Restore only the screen: the cursor saved by DECSC is not part of the mode (xterm).
                Some((1049, on)) => self.set_private_mode(47, on),
                Some((mode, on)) => self.set_private_mode(mode, on),
                None => {}
            }
        }
    }

    /// DECSCUSR.
    pub(crate) fn set_cursor_style(&mut self, style: u16) {
        let (shape, blinking) = match style {
            0 => (CursorShape::Default, false),
            1 | 2 => (CursorShape::Block, style == 1),
            3 | 4 => (CursorShape::Underline, style == 3),
            5 | 6 => (CursorShape::Bar, style == 5),
            _ => return,
        };
        self.shape = shape;
        self.blinking = blinking;
    }

    /// The parameter of the current DECSCUSR style, for DECRQSS.
    pub(crate) fn cursor_style(&self) -> u8 {
        let steady = !self.blinking as u8;
        match self.shape {
            CursorShape::Default if self.blinking => 1,
            CursorShape::Default => 0,
            CursorShape::Block => 1 + steady,
            CursorShape::Underline => 3 + steady,
            CursorShape::Bar => 5 + steady,
        }
    }

    /// DECSTR (DEC STD 070). Like xterm, keeps auto-wrap on.
    pub(crate) fn soft_reset(&mut self) {
        self.modes.remove(Modes::INSERT | Modes::ORIGIN | Modes::APP_CURSOR | Modes::APP_KEYPAD);
        self.modes.insert(Modes::SHOW_CURSOR | Modes::AUTO_WRAP);
        self.dec.remove(
            DecModes::REVERSE_WRAP | DecModes::REVERSE_WRAP_ANY | DecModes::KEYBOARD_LOCKED,
        );
        self.reset_margins();
        self.pen = Default::default();
        self.follow_editor();
        self.protection = Default::default();
        self.conformance.soften();
        self.charsets = Default::default();
        self.saved = SavedCursor::default();
        self.reset_keyboard();
    }

    /// RIS: the initial state, with an empty screen and no history.
    pub(crate) fn reset(&mut self) {
        if self.dec.contains(DecModes::ALLOW_COLUMNS | DecModes::COLUMNS_132) {
            self.request_size(None, Some(80));
        }
        self.sgr_stack = Default::default();
        self.held = None;
        self.stale_prompt = None;
        self.last_line = LastLine::default();
        self.show_screen(false);
        self.dec = Self::first_dec_modes();
        self.protection = Default::default();
        self.conformance = Default::default();
        self.window.forget();
        self.pen = Default::default();
        self.charsets = Default::default();
        self.saved = SavedCursor::default();
        self.hidden_saved = SavedCursor::default();
        self.clear_everything();
        self.graphics.reset();
        self.forget_glyphs();
        self.hidden_cursor = Default::default();
        self.cursor = Default::default();
        self.reset_margins();
        self.tabs = crate::term::screen::tabs::Tabs::new(self.grid.cols());
        self.modes = Self::first_modes();
        self.ansi = None;
        self.mouse_tracking = MouseTracking::Off;
        self.mouse_encoding = MouseEncoding::Legacy;
        self.reset_keyboard();
        self.reset_osc();
        self.shape = CursorShape::Default;
        self.blinking = false;
        self.extra_cursors = Default::default();
        self.icon_title.clear();
        self.titles = Default::default();
        self.saved_modes.clear();
        if !self.title.is_empty() {
            self.change_title(String::new());
        }
        if self.palette != self.base_palette {
            self.palette = self.base_palette.clone();
            self.event(Event::Palette);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, Parser, Size};

    /// The reply to `question` after `bytes`, from a terminal whose user chose `wide` for ambiguous characters.
    fn answer(wide: bool, bytes: &str, question: &str) -> String {
        let options = Options { ambiguous_wide: wide, ..Options::default() };
        let (mut term, mut parser) = (Term::new(Size::cells(10, 4), options), Parser::new());
        parser.advance(&mut term, bytes.as_bytes());
        term.take_replies();
        parser.advance(&mut term, question.as_bytes());
        String::from_utf8(term.take_replies()).expect("ASCII")
    }

    /// Queries a mode; a private mode has `?` before its number.
    #[track_caller]
    fn check(mode: &str, bytes: &str, state: ModeState) {
        let expected = format!("\x1b[{mode};{}$y", state as u8);
        assert_eq!(answer(false, bytes, &format!("\x1b[{mode}$p")), expected, "after {bytes:?}");
    }

    #[test]
    fn every_private_mode_reports_its_state() {
        const ON_AT_FIRST: [u16; 9] = [7, 25, 35, 1007, 1036, 1039, 1046, 1070, 2027];
        for number in 1..LAST_MODE {
            let Some(kind) = private(number) else { continue };
            let mode = format!("?{number}");
            let (set, reset) = (format!("\x1b[{mode}h"), format!("\x1b[{mode}l"));
            match kind {
                Private::Permanent { on } => {
                    for bytes in ["", set.as_str(), reset.as_str()] {
                        check(&mode, bytes, ModeState::permanently(on));
                    }
                }
                Private::AmbiguousWide => {
                    for bytes in ["", set.as_str(), reset.as_str()] {
                        check(&mode, bytes, ModeState::PermanentlyReset);
                    }
                }
                // VT52 mode has no DECRQM.
                Private::Ansi => {
                    check(&mode, "", ModeState::Set);
                    check(&mode, &set, ModeState::Set);
                    assert_eq!(answer(false, &reset, "\x1b[?2$p"), "");
                }
                Private::SaveCursor => {
                    check(&mode, "", ModeState::Reset);
                    // DECSC saves the same cursor, and DECRC keeps it.
                    for save in ["\x1b7", "\x1b[s", &set] {
                        check(&mode, save, ModeState::Set);
                        check(&mode, &format!("{save}\x1b8{reset}"), ModeState::Set);
                        check(&mode, &format!("{save}\x1b[!p"), ModeState::Reset);
                        check(&mode, &format!("{save}\x1bc"), ModeState::Reset);
                    }
                    // Each screen has its own.
                    check(&mode, "\x1b[?1049h", ModeState::Reset);
                    check(&mode, "\x1b[?1049h\x1b[?1049l", ModeState::Set);
                }
                _ => {
                    check(&mode, "", ModeState::of(ON_AT_FIRST.contains(&number)));
                    // DECCOLM works only while ?40 is set.
                    check(&mode, &format!("\x1b[?40h{set}"), ModeState::Set);
                    check(&mode, &format!("\x1b[?40h{set}{reset}"), ModeState::Reset);
                }
            }
        }
        assert!((LAST_MODE..=u16::MAX).all(|number| private(number).is_none()));
        for (number, state) in [(1014, 3), (1021, 4), (1001, 4), (9999, 0), (0, 0)] {
            let question = format!("\x1b[?{number}$p");
            assert_eq!(answer(false, "", &question), format!("\x1b[?{number};{state}$y"));
        }
        assert_eq!(answer(true, "", "\x1b[?1021$p"), "\x1b[?1021;3$y");
    }

    #[test]
    fn every_ansi_mode_reports_its_state() {
        const ON_AT_FIRST: [u16; 2] = [8, 12];
        for number in 1..LAST_ANSI_MODE {
            let mode = number.to_string();
            let (set, reset) = (format!("\x1b[{mode}h"), format!("\x1b[{mode}l"));
            match number {
                2 | 4 | 8 | 12 | 20 => {
                    check(&mode, "", ModeState::of(ON_AT_FIRST.contains(&number)));
                    check(&mode, &set, ModeState::Set);
                    check(&mode, &format!("{set}{reset}"), ModeState::Reset);
                }
                // CRM: control characters are never shown.
                3 => check(&mode, &set, ModeState::Reset),
                1 | 5 | 7 | 10 | 11 | 13..=19 => check(&mode, &set, ModeState::PermanentlyReset),
                _ => check(&mode, &set, ModeState::Unknown),
            }
        }
    }

    #[test]
    fn modes_belong_to_levels() {
        for (level, number, state) in
            [(3, 64, 4), (4, 69, 2), (3, 69, 0), (3, 11, 4), (3, 34, 0), (5, 34, 4), (3, 1014, 3)]
        {
            let level = format!("\x1b[6{level};1\"p");
            let question = format!("\x1b[?{number}$p");
            assert_eq!(answer(false, &level, &question), format!("\x1b[?{number};{state}$y"));
        }
    }
}
