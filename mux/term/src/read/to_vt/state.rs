//! All state except rows: texts, commands, saved cursors, margins, modes.

use std::fmt::Write;

use crate::grid::row::{INPUT, OUTPUT, PROMPT};
use crate::grid::{Grid, Scratch};
use crate::term::painter::{Look, Painter, Reset};
use crate::term::rendition::charset::Charsets;
use crate::term::screen::edit::Protection;
use crate::term::settings::conformance::Conformance;
use crate::term::settings::modes::DecModes;
use crate::term::settings::vt52::AnsiState;
use crate::term::{Position, SavedCursor, ScreenKind, Term};
use crate::{CursorShape, Modes};

/// From this level on, DECRSPS can place the cursor anywhere, with or without a pending wrap.
const REPORTS_LEVEL: u8 = 3;

impl Term {
    /// Writes titles, working directory and colors, on which no cell depends.
    pub(super) fn write_texts(&self, painter: &mut Painter) {
        let painting = std::cell::RefCell::new(&mut *painter);
        self.write_titles(
            |text| painting.borrow_mut().osc(format_args!("{text}")),
            |text| painting.borrow_mut().raw(text),
        );
        if let Some(cwd) = &self.cwd {
            painter.osc(format_args!("7;{cwd}"));
        }
        let mut text = String::new();
        self.write_color_stack(&mut text);
        self.write_palette(&mut text);
        self.write_glyphs(&mut text);
        painter.raw(&text);
    }

    /// Writes the marks of a line of the main screen, with the commands they belong to.
    pub(super) fn write_marks(&self, painter: &mut Painter, row: usize, line: u64, flags: u16) {
        let mut left = flags;
        for command in self.commands.around(line) {
            let on = |point: &Option<crate::Point>| point.filter(|at| at.line.0 == line);
            if let Some(at) = on(&command.end)
                && on(&command.prompt).is_none_or(|prompt| prompt <= at)
                && on(&command.output).is_none()
            {
                write_end(painter, row, at.col, command.exit_code);
            }
            if on(&command.prompt).is_some() && left & PROMPT != 0 {
                left &= !PROMPT;
                match &command.options.aid {
                    Some(aid) => painter.mark(row, 0, format_args!("A;aid={aid}")),
                    None => painter.mark(row, 0, format_args!("A")),
                }
            }
            if let Some(at) = on(&command.input).filter(|_| left & INPUT != 0) {
                left &= !INPUT;
                painter.mark(row, at.col as usize, format_args!("B"));
            }
            let is_marked = left & OUTPUT != 0 || command.prompt.is_none() && flags & OUTPUT != 0;
            if let Some(at) = on(&command.output).filter(|_| is_marked) {
                left &= !OUTPUT;
                if command.prompt.is_none() {
                    let aid = command.options.aid.as_ref();
                    let aid = aid.map_or(String::new(), |aid| format!(";aid={aid}"));
                    painter.mark(row, 0, format_args!("A;erased=1{aid}"));
                }
                let mut options = String::new();
                if command.is_erased {
                    options.push_str(";erased=1");
                }
                if let Some(line) = command.line.as_ref().filter(|_| command.line_reported) {
                    options.push_str(";cmdline_url=");
                    for byte in line.bytes() {
                        let _ = write!(options, "%{byte:02x}");
                    }
                }
                painter.mark(row, at.col as usize, format_args!("C{options}"));
                if let Some(end) = on(&command.end) {
                    write_end(painter, row, end.col, command.exit_code);
                }
            }
        }
        painter.marks(row, left);
    }

    /// Writes the state that follows both screens: saved cursors, keyboard, tab stops, modes, cursor, pen.
    pub(super) fn write_state(&self, painter: &mut Painter) {
        let hidden = match self.screen {
            ScreenKind::Main => ScreenKind::Alternate,
            ScreenKind::Alternate => ScreenKind::Main,
        };
        let show = |painter: &mut Painter, screen: ScreenKind| {
            painter.raw(if screen == ScreenKind::Main { "\x1b[?47l" } else { "\x1b[?47h" });
        };
        let ansi = self.ansi_state();
        let is_running = self.commands.last().is_some_and(|command| command.is_running());
        painter.reset = if is_running { Reset::Never } else { Reset::End };
        self.write_saved_modes(painter, self.screen);
        // Setting DECLRMM makes all rows of the visible screen single width, so set it where no row is double.
        let has_double = (0..self.grid.rows()).any(|row| self.grid.meta(row).is_double());
        if !has_double {
            write_margins(painter, &ansi);
        }
        show(painter, hidden);
        if has_double {
            write_margins(painter, &ansi);
        }
        self.write_saved_modes(painter, hidden);
        self.write_keyboard_stack(painter, hidden);
        self.write_pointers(painter, hidden);
        self.write_saved_cursor(painter, &self.hidden, &self.hidden_saved);
        self.write_position(painter, &self.hidden, self.hidden_cursor, None);
        painter.plain();
        show(painter, self.screen);
        self.write_keyboard_stack(painter, self.screen);
        self.write_pointers(painter, self.screen);
        self.write_sixel_settings(painter);
        self.write_rendition_stack(painter);
        painter.plain();
        self.write_saved_cursor(painter, &self.grid, &self.saved);
        painter.raw("\x1b[3g");
        for col in self.tabs.columns() {
            painter.go(0, col);
            painter.raw("\x1bH");
        }
        painter.plain();
        let mut text = String::new();
        self.write_keyboard_resources(&mut text);
        if (self.top, self.bottom) != (0, self.grid.rows()) {
            let _ = write!(text, "\x1b[{};{}r", self.top + 1, self.bottom);
        }
        self.write_levels(&mut text);
        self.write_modes(&mut text, &ansi, |flag| !Modes::GRAPHEMES.contains(flag));
        let is_blinking = self.blinking;
        let style = match self.shape {
            CursorShape::Default => 0,
            _ => self.cursor_style(),
        };
        let _ = write!(text, "\x1b[{style} q\x1b[?12{}", if is_blinking { 'h' } else { 'l' });
        let origin = ansi.modes.contains(Modes::ORIGIN);
        text.push_str(if origin { "\x1b[?6h" } else { "\x1b[?6l" });
        painter.raw(&text);
        self.write_position(
            painter,
            &self.grid,
            self.cursor,
            origin.then_some((self.top, ansi.left)),
        );
        painter.look(&Look {
            style: ansi.style,
            link: self.pen.link().cloned(),
            role: self.pen.role(),
            protected: ansi.protected,
        });
        // Write this after the marks of prompts and commands, which end some of it.
        self.write_osc_state(painter);
        let mut text = String::new();
        self.write_extra_cursors(&mut text);
        write_charsets(&mut text, &ansi.charsets);
        self.write_modes(&mut text, &ansi, |flag| Modes::GRAPHEMES.contains(flag));
        Self::write_ansi_modes(&mut text, &ansi);
        self.write_protection(&mut text);
        if let Some(single) = ansi.charsets.single {
            text.push_str(if single == 2 { "\x1bN" } else { "\x1bO" });
        }
        if self.is_lowered_last() {
            text.push_str("\x1b[?2l\x1b<");
        }
        if self.is_vt52() {
            text.push_str(if self.charsets.gl == 1 { "\x1b[?2l\x1bF" } else { "\x1b[?2l" });
        }
        painter.raw(&text);
    }

    /// Whether level 1 must be set last, by entering and leaving VT52 mode. DECSCL would reset state that only higher
    /// levels can set and that VT52 mode kept. Entering VT52 mode ends a pending wrap.
    pub(super) fn is_lowered_last(&self) -> bool {
        self.conformance.level == 1 && !self.cursor.wrap_pending
    }

    /// Writes the settings of DECSACE, XTCHECKSUM, XTSMTITLE and S8C1T.
    fn write_levels(&self, text: &mut String) {
        let Conformance { eight_bit, extent, checksum, accepts_c1, .. } = self.conformance;
        let _ = write!(text, "\x1b[{extent}*x\x1b[{checksum}#y");
        for mode in (0..4).filter(|mode| self.title_modes() >> mode & 1 != 0) {
            let _ = write!(text, "\x1b[>{mode}t");
        }
        text.push_str(if eight_bit { "\x1b G" } else { "\x1b F" });
        text.push_str(if accepts_c1 { "\x1b 7" } else { "" });
    }

    /// Writes what protected cells are protected against. Painting them has already set DECSCA.
    fn write_protection(&self, text: &mut String) {
        let protects = self.pen.is_protected();
        match self.protection {
            Protection::Iso if protects => text.push_str("\x1bV"),
            Protection::Iso => text.push_str("\x1bV\x1bW"),
            Protection::Off | Protection::Dec => {}
        }
    }

    fn write_saved_cursor(&self, painter: &mut Painter, grid: &Grid, saved: &SavedCursor) {
        if !saved.is_set {
            return;
        }
        painter.raw(if saved.origin { "\x1b[?6h" } else { "\x1b[?6l" });
        self.write_position(painter, grid, saved.position, saved.origin.then_some((0, 0)));
        painter.look(&Look {
            style: *saved.pen.style(),
            protected: saved.pen.is_protected(),
            ..Look::default()
        });
        let mut text = String::new();
        write_charsets(&mut text, &saved.charsets);
        text.push_str("\x1b7");
        write_charsets(&mut text, &Charsets::default());
        text.push_str("\x1b[?6l");
        painter.raw(&text);
        painter.plain();
    }

    /// Moves the cursor to a position of a screen. `origin`: DECOM is set, with this row and column as the origin.
    fn write_position(
        &self,
        painter: &mut Painter,
        grid: &Grid,
        at: Position,
        origin: Option<(usize, usize)>,
    ) {
        let has_reports = self.conformance.level >= REPORTS_LEVEL || self.is_lowered_last();
        if has_reports && (at.wrap_pending || origin.is_some()) {
            // DECRSPS also sets some of the pen's attributes and the character sets.
            painter.plain();
            let flags = 0x40 | (at.wrap_pending as u8) << 3 | origin.is_some() as u8;
            let (row, col, gr) = (at.row + 1, at.col + 1, Charsets::default().gr);
            let flags = flags as char;
            painter.raw(&format!("\x1bP1$t{row};{col};1;@;@;{flags};0;{gr};@;BBBB\x1b\\"));
            return;
        }
        let (top, left) = origin.unwrap_or_default();
        let row = at.row.saturating_sub(top);
        if !at.wrap_pending {
            painter.go(row, at.col.saturating_sub(left));
            return;
        }
        let mut scratch = Scratch::default();
        if let Some(view) = grid.read(grid.live_top() + at.row as u64, &mut scratch) {
            painter.behind(row, &view);
        }
    }
}

/// DECLRMM and the margins.
fn write_margins(painter: &mut Painter, ansi: &AnsiState) {
    if ansi.dec.contains(DecModes::LEFT_RIGHT) {
        painter.raw(&format!("\x1b[?69h\x1b[{};{}s", ansi.left + 1, ansi.right));
    }
}

/// OSC 133 D.
fn write_end(painter: &mut Painter, row: usize, col: u16, exit_code: Option<i32>) {
    match exit_code {
        Some(code) => painter.mark(row, col as usize, format_args!("D;{code}")),
        None => painter.mark(row, col as usize, format_args!("D")),
    }
}

fn write_charsets(text: &mut String, charsets: &Charsets) {
    let preferred = charsets.preferred;
    let _ = write!(text, "\x1bP{}!u{}\x1b\\", preferred.is_96() as u8, preferred.name());
    for (set, places) in charsets.sets.iter().zip([['(', '('], [')', '-'], ['*', '.'], ['+', '/']])
    {
        let place = places[set.is_96() as usize];
        let name = set.name();
        let _ = match set.is_national() {
            true => write!(text, "\x1b[?42h\x1b{place}{name}\x1b[?42l"),
            false => write!(text, "\x1b{place}{name}"),
        };
    }
    text.push_str(["\x0f", "\x0e", "\x1bn", "\x1bo"][charsets.gl as usize & 3]);
    text.push_str(["", "\x1b~", "\x1b}", "\x1b|"][charsets.gr as usize & 3]);
}
