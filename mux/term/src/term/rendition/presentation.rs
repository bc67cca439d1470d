//! The presentation state: reports cursor and tab stops in a form that can restore them (DECRQPSR, DECRSPS).
//!
//! Owns the reports and the restoring of DECCIR and DECTABSR. Sources: DEC STD 070 "Presentation state", DEC VT420 and
//! VT510 manuals, and xterm, which supports these sequences from level 3 on and stops restoring at the first invalid
//! field.

use crate::grid::style::{Attrs, Underline};
use crate::term::Term;

/// The bit that is set in every field of flags, so that the field is a printable character.
const FLAGS: u8 = 0x40;
/// The flags of text attributes.
const RENDITION: [(u8, Attrs); 4] =
    [(1, Attrs::BOLD), (4, Attrs::BLINK), (8, Attrs::REVERSE), (16, Attrs::HIDDEN)];
const UNDERLINED: u8 = 2;
/// The flags of the cursor.
const ORIGIN: u8 = 1;
const SINGLE_SHIFTS: [(u8, u8); 2] = [(2, 2), (4, 3)];
const WRAP_PENDING: u8 = 8;

impl Term {
    /// DECRQPSR. `what` is 1 for the cursor (DECCIR) or 2 for tab stops (DECTABSR).
    pub(crate) fn report_presentation(&mut self, what: u16) {
        let state = match what {
            1 => self.cursor_information(),
            2 => {
                let stops: Vec<_> = self.tabs.columns().map(|col| (col + 1).to_string()).collect();
                stops.join("/")
            }
            _ => return,
        };
        self.reply_text(format!("\x1bP{what}$u{state}\x1b\\"));
    }

    /// DECRSPS. `what` is the number that DECRQPSR was sent with, and `state` the reported text.
    pub(crate) fn restore_presentation(&mut self, what: &[u8], state: &[u8]) {
        if self.conformance.level < 3 {
            return;
        }
        let is_known = match what {
            b"1" => self.restore_cursor_information(state).is_some(),
            b"2" => {
                self.tabs.clear();
                state.split(|&byte| byte == b'/').all(|stop| {
                    let col = number(stop).filter(|&col| col <= self.grid.cols());
                    col.map(|col| self.tabs.set(col - 1, true)).is_some()
                })
            }
            _ => false,
        };
        if !is_known {
            tracing::debug!(?what, "presentation state not understood to its end");
        }
    }

    /// DECCIR: row, column and page; attributes, protection and flags; GL and GR; which character sets have 96
    /// characters, and the names of the sets.
    fn cursor_information(&self) -> String {
        let style = self.pen.style();
        let on = |attrs, flag| if style.attrs.contains(attrs) { flag } else { 0 };
        // DECCIR does not report invisible text (VT420).
        let rendition =
            RENDITION[..3].iter().fold(FLAGS, |all, &(flag, attrs)| all | on(attrs, flag))
                | if style.underline == Underline::None { 0 } else { UNDERLINED };
        let protection = FLAGS | self.pen.is_protected() as u8;
        let single = SINGLE_SHIFTS.iter().find(|(_, set)| self.charsets.single == Some(*set));
        let flags = FLAGS
            | if self.cursor.wrap_pending { WRAP_PENDING } else { 0 }
            | single.map_or(0, |(flag, _)| *flag)
            | if self.modes.contains(crate::Modes::ORIGIN) { ORIGIN } else { 0 };
        let sets = self.charsets.sets;
        let sizes = (0..4).fold(FLAGS, |all, place| all | (sets[place].is_96() as u8) << place);
        format!(
            "{};{};1;{};{};{};{};{};{};{}",
            self.cursor.row + 1,
            self.cursor.col + 1,
            rendition as char,
            protection as char,
            flags as char,
            self.charsets.gl,
            self.charsets.gr,
            sizes as char,
            sets.map(|set| set.name()).concat(),
        )
    }

    /// Restores a DECCIR field by field. Returns `None` at the first invalid field.
    fn restore_cursor_information(&mut self, state: &[u8]) -> Option<()> {
        // The names of the character sets come last, because they may contain any printable character, even `;`.
        let mut fields = state.splitn(10, |&byte| byte == b';');
        let mut next = || fields.next();
        let row = number(next()?).filter(|&row| row <= self.grid.rows())?;
        self.cursor.row = row - 1;
        self.cursor.wrap_pending = false;
        self.cursor.col = self.cursor.col.min(self.row_cols() - 1);
        let col = number(next()?).filter(|&col| col <= self.grid.cols())?;
        self.cursor.col = (col - 1).min(self.row_cols() - 1);
        number(next()?).filter(|&page| page == 1)?;
        let rendition = flags(next()?, 5)?;
        let style = self.pen.style_mut();
        for (flag, attrs) in RENDITION {
            style.attrs.set(attrs, rendition & flag != 0);
        }
        style.underline =
            if rendition & UNDERLINED == 0 { Underline::None } else { Underline::Single };
        let protected = flags(next()?, 1)? != 0;
        self.pen.set_protected(protected);
        let flags_of_cursor = flags(next()?, 4)?;
        self.cursor.wrap_pending = flags_of_cursor & WRAP_PENDING != 0;
        let single = SINGLE_SHIFTS.iter().find(|(flag, _)| flags_of_cursor & flag != 0);
        self.charsets.single = single.map(|(_, set)| *set);
        self.modes.set(crate::Modes::ORIGIN, flags_of_cursor & ORIGIN != 0);
        self.charsets.gl = place(next()?)?;
        self.charsets.gr = place(next()?)?;
        let sizes = flags(next()?, 4)?;
        let mut names = next()?;
        for place in 0..4 {
            let intermediates = names.iter().take_while(|byte| matches!(byte, 0x20..=0x2f)).count();
            let (name, rest) = names.split_at_checked(intermediates + 1)?;
            names = rest;
            let set =
                self.charset(sizes >> place & 1 != 0, &name[..intermediates], name[intermediates]);
            self.charsets.sets[place] = set.unwrap_or_default();
        }
        Some(())
    }
}

/// A decimal number, at least 1.
fn number(field: &[u8]) -> Option<usize> {
    std::str::from_utf8(field).ok()?.parse().ok().filter(|&number| number > 0)
}

/// The lowest `count` bits of a field of flags. `None` if other bits are set.
fn flags(field: &[u8], count: u8) -> Option<u8> {
    match *field {
        [byte] if byte & !((1 << count) - 1) == FLAGS => Some(byte ^ FLAGS),
        _ => None,
    }
}

/// The number of a character set, G0 to G3.
fn place(field: &[u8]) -> Option<u8> {
    match *field {
        [byte @ b'0'..=b'3'] => Some(byte - b'0'),
        _ => None,
    }
}
