//! Setting, resetting, saving and asking for modes (SM, RM, DECSET, DECRST, XTSAVE, XTRESTORE), and resets.

use std::fmt::Write;

use crate::graphics::SixelMode;
use crate::params::Params;
use crate::term::{SavedCursor, ScreenKind, Term};
use crate::to_vt::Painter;
use crate::{CursorShape, Event, Modes, MouseEncoding, MouseTracking};

/// Private modes XTSAVE remembers at most.
const SAVED_CAP: usize = 64;

/// Number after the last private mode's, and after the last ANSI mode's.
const LAST_MODE: u16 = 10_000;
const LAST_ANSI_MODE: u16 = 34;

/// What setting a private mode does.
enum Private {
    /// Nothing but the flag.
    Flag(Modes),
    Origin,
    Tracking(MouseTracking),
    Encoding(MouseEncoding),
    Blink,
    /// Whether the alternate screen is cleared on leaving it.
    Screen {
        clear: bool,
    },
    SaveCursor,
    ScreenAndCursor,
    Sixel(SixelMode),
}

/// The private modes there are (xterm ctlseqs, DECSET; 2026 and 2027 by their own pages).
fn private(mode: u16) -> Option<Private> {
    use Private::*;
    Some(match mode {
        1 => Flag(Modes::APP_CURSOR),
        5 => Flag(Modes::REVERSE_SCREEN),
        6 => Origin,
        7 => Flag(Modes::AUTO_WRAP),
        9 => Tracking(MouseTracking::Press),
        12 => Blink,
        25 => Flag(Modes::SHOW_CURSOR),
        47 => Screen { clear: false },
        66 => Flag(Modes::APP_KEYPAD),
        67 => Flag(Modes::BACKSPACE_SENDS_BS),
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
        1047 => Screen { clear: true },
        1048 => SaveCursor,
        1049 => ScreenAndCursor,
        1070 => Sixel(SixelMode::PrivateColors),
        8452 => Sixel(SixelMode::CursorRight),
        2004 => Flag(Modes::BRACKETED_PASTE),
        2026 => Flag(Modes::SYNCHRONIZED),
        2027 => Flag(Modes::GRAPHEMES),
        2031 => Flag(Modes::COLOR_SCHEME),
        2048 => Flag(Modes::IN_BAND_RESIZE),
        _ => return None,
    })
}

impl Term {
    /// SM, RM.
    pub(crate) fn set_modes(&mut self, params: &Params, on: bool) {
        for mode in params.values() {
            match mode {
                4 => self.modes.set(Modes::INSERT, on),
                20 => self.modes.set(Modes::NEW_LINE, on),
                _ => tracing::debug!(mode, on, "unknown mode"),
            }
        }
    }

    /// DECSET, DECRST.
    pub(crate) fn set_private_modes(&mut self, params: &Params, on: bool) {
        for &mode in params.values() {
            self.set_private_mode(mode, on);
        }
    }

    fn set_private_mode(&mut self, mode: u16, on: bool) {
        match private(mode) {
            None => tracing::debug!(mode, on, "unknown private mode"),
            Some(Private::Flag(flag)) => {
                self.modes.set(flag, on);
                if flag == Modes::AUTO_WRAP && !on {
                    self.cursor.wrap_pending = false;
                }
                if flag == Modes::IN_BAND_RESIZE && on {
                    self.tell_size();
                }
            }
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
            Some(Private::Screen { clear }) => {
                if !on && clear && self.screen == ScreenKind::Alternate {
                    self.erase_in_display(2);
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
                (true, ScreenKind::Main) => {
                    self.save_cursor();
                    self.show_screen(true);
                    self.erase_in_display(2);
                }
                (true, ScreenKind::Alternate) => self.erase_in_display(2),
                (false, ScreenKind::Alternate) => {
                    self.show_screen(false);
                    self.restore_cursor();
                }
                (false, ScreenKind::Main) => self.restore_cursor(),
            },
        }
    }

    /// Shows the alternate screen or the main one; the cursor stays where it is.
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
        self.pen.forget_ids();
    }

    /// Whether a private mode is set; `None` for one there is not.
    pub(crate) fn private_mode(&self, mode: u16) -> Option<bool> {
        Some(match private(mode)? {
            Private::Flag(flag) => self.modes.contains(flag),
            Private::Origin => self.modes.contains(Modes::ORIGIN),
            Private::Tracking(tracking) => self.mouse_tracking == tracking,
            Private::Encoding(encoding) => self.mouse_encoding == encoding,
            Private::Blink => self.blinking,
            Private::Sixel(mode) => self.graphics.sixel.mode(mode),
            Private::Screen { .. } | Private::ScreenAndCursor => {
                self.screen == ScreenKind::Alternate
            }
            // xterm, too, says whether a cursor was saved by its alternate screen.
            Private::SaveCursor => self.screen == ScreenKind::Alternate,
        })
    }

    /// Whether an ANSI mode is set; `None` for one there is not.
    pub(crate) fn ansi_mode(&self, mode: u16) -> Option<bool> {
        match mode {
            4 => Some(self.modes.contains(Modes::INSERT)),
            20 => Some(self.modes.contains(Modes::NEW_LINE)),
            _ => None,
        }
    }

    /// The sequences that put all private modes that are no more than flags, and are `wanted`, as they are; also what the
    /// mouse is asked for. For [`Term::to_vt`].
    pub(crate) fn write_modes(&self, out: &mut String, wanted: impl Fn(Modes) -> bool) {
        for mode in 1..LAST_MODE {
            let on = match private(mode) {
                Some(Private::Flag(flag)) if wanted(flag) => self.modes.contains(flag),
                Some(Private::Sixel(mode)) => self.graphics.sixel.mode(mode),
                Some(Private::Tracking(tracking)) if tracking == self.mouse_tracking => true,
                Some(Private::Encoding(encoding)) if encoding == self.mouse_encoding => true,
                _ => continue,
            };
            let _ = write!(out, "\x1b[?{mode}{}", if on { 'h' } else { 'l' });
        }
    }

    /// The same for ANSI modes.
    pub(crate) fn write_ansi_modes(&self, out: &mut String) {
        for mode in 1..LAST_ANSI_MODE {
            if let Some(on) = self.ansi_mode(mode) {
                let _ = write!(out, "\x1b[{mode}{}", if on { 'h' } else { 'l' });
            }
        }
    }

    /// What makes XTSAVE remember what it does, as far as that is to be done while `screen` is shown.
    pub(crate) fn write_saved_modes(&self, painter: &mut Painter, screen: ScreenKind) {
        for &(mode, on) in &self.saved_modes {
            let last = if on { 'h' } else { 'l' };
            match private(mode) {
                Some(Private::Flag(_) | Private::Tracking(_) | Private::Encoding(_))
                | Some(Private::Blink | Private::Origin | Private::Sixel(_))
                    if screen == self.screen =>
                {
                    painter.raw(&format!("\x1b[?{mode}{last}\x1b[?{mode}s"));
                }
                Some(Private::Screen { .. } | Private::ScreenAndCursor | Private::SaveCursor)
                    if on == (screen == ScreenKind::Alternate) =>
                {
                    painter.raw(&format!("\x1b[?{mode}s"));
                }
                _ => {}
            }
        }
        painter.raw("\x1b[?7h\x1b[?6l\x1b[?2027l");
    }

    /// XTSAVE.
    pub(crate) fn save_private_modes(&mut self, params: &Params) {
        for &mode in params.values() {
            let Some(on) = self.private_mode(mode) else { continue };
            self.saved_modes.retain(|(saved, _)| *saved != mode);
            if self.saved_modes.len() < SAVED_CAP {
                self.saved_modes.push((mode, on));
            }
        }
    }

    /// XTRESTORE.
    pub(crate) fn restore_private_modes(&mut self, params: &Params) {
        for &mode in params.values() {
            let saved = self.saved_modes.iter().find(|(saved, _)| *saved == mode).copied();
            if let Some((mode, on)) = saved {
                self.set_private_mode(mode, on);
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

    /// The parameter of the DECSCUSR in force, for DECRQSS.
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

    /// DECSTR (DEC STD 070; xterm keeps auto-wrap on, and so do we).
    pub(crate) fn soft_reset(&mut self) {
        self.modes.remove(Modes::INSERT | Modes::ORIGIN | Modes::APP_CURSOR | Modes::APP_KEYPAD);
        self.modes.insert(Modes::SHOW_CURSOR | Modes::AUTO_WRAP);
        self.top = 0;
        self.bottom = self.grid.rows();
        self.pen = Default::default();
        self.charsets = Default::default();
        self.saved = SavedCursor::default();
        self.cursor.wrap_pending = false;
        self.reset_keyboard();
    }

    /// RIS: everything as at the start, with an empty screen and history.
    pub(crate) fn reset(&mut self) {
        self.show_screen(false);
        self.pen = Default::default();
        self.charsets = Default::default();
        self.saved = SavedCursor::default();
        self.hidden_saved = SavedCursor::default();
        for _ in 0..2 {
            self.erase_in_display(2);
            std::mem::swap(&mut self.grid, &mut self.hidden);
        }
        self.grid.clear_history();
        self.graphics.reset();
        self.hidden_cursor = Default::default();
        self.top = 0;
        self.bottom = self.grid.rows();
        self.cursor = Default::default();
        self.tabs = crate::tabs::Tabs::new(self.grid.cols());
        self.modes = Self::first_modes();
        self.mouse_tracking = MouseTracking::Off;
        self.mouse_encoding = MouseEncoding::Legacy;
        self.reset_keyboard();
        self.reset_osc();
        self.shape = CursorShape::Default;
        self.blinking = false;
        self.last_printed = '\0';
        self.titles.clear();
        self.saved_modes.clear();
        if !self.title.is_empty() {
            self.title.clear();
            self.event(Event::Title);
        }
        if self.palette != self.base_palette {
            self.palette = self.base_palette.clone();
            self.event(Event::Palette);
        }
    }
}
