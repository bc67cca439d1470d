//! OSC 4, 5, 10–19, their resets 104, 105, 110–119, and kitty's 21: set, query and reset colors.
//!
//! Replies consist of numbers. The only program-written text in them is the names that [`crate::term::reply::report`] lists.

use std::fmt::Write;
use std::sync::Arc;

use super::terminator;
use crate::color::Slot;
use crate::color::spec::{parse, parse_control};
use crate::term::Term;
use crate::{Event, Palette, Rgb};

/// Number of special colors (bold, underline, blink, reverse, italic); OSC 4 counts them from 256 (xterm ctlseqs).
const SPECIALS: u16 = 5;
/// Maximum keys of one OSC 21.
const KEYS_CAP: usize = 512;

/// The slots of OSC 10 to 19, in order (xterm ctlseqs, "VT100 text foreground color" and so on).
const DYNAMIC: [Slot; 10] = [
    Slot::Foreground,
    Slot::Background,
    Slot::Cursor,
    Slot::Pointer(0),
    Slot::Pointer(1),
    Slot::Tektronix(0),
    Slot::Tektronix(1),
    Slot::Selection,
    Slot::Tektronix(2),
    Slot::SelectionText,
];

/// Keys of OSC 21 other than numbers (kitty, "Color control").
const KITTY_KEYS: [(&str, Slot); 7] = [
    ("foreground", Slot::Foreground),
    ("background", Slot::Background),
    ("selection_background", Slot::Selection),
    ("selection_foreground", Slot::SelectionText),
    ("cursor", Slot::Cursor),
    ("cursor_text", Slot::CursorText),
    ("visual_bell", Slot::VisualBell),
];

impl Term {
    /// OSC 4: `index ; color` pairs; `?` queries. OSC 5 does the same for special colors, which OSC 4 counts from 256.
    pub(super) fn set_colors(&mut self, command: u16, rest: &[u8], bell: bool) {
        let mut parts = rest.split(|&b| b == b';');
        while let (Some(index), Some(spec)) = (parts.next(), parts.next()) {
            let Some(index) = number(index) else { continue };
            let Some(slot) = slot(command, index) else { continue };
            if spec == b"?" {
                let color = self.palette.shown(slot);
                self.report_color(&format!("{command};{index}"), color, bell);
            } else if let Some(color) = parse(spec) {
                self.set_color(slot, Some(color));
            }
        }
    }

    /// OSC 10 to 19: each further color applies to the next number.
    pub(super) fn set_dynamic_colors(&mut self, first: u16, rest: &[u8], bell: bool) {
        for (number, spec) in (first..=19).zip(rest.split(|&b| b == b';')) {
            let slot = DYNAMIC[number as usize - 10];
            if spec == b"?" {
                let color = self.palette.shown(slot);
                self.report_color(&number.to_string(), color, bell);
            } else if let Some(color) = parse(spec) {
                self.set_color(slot, Some(color));
            }
        }
    }

    /// OSC 104 (and 105 for special colors): resets the listed colors, or all.
    pub(super) fn reset_colors(&mut self, command: u16, rest: &[u8]) {
        if rest.is_empty() {
            let all = if command == 4 { 256 } else { SPECIALS };
            (0..all)
                .filter_map(|index| slot(command, index))
                .for_each(|slot| self.reset_color(slot));
            return;
        }
        let indexes = rest.split(|&b| b == b';').filter_map(number);
        for slot in indexes.filter_map(|index| slot(command, index)) {
            self.reset_color(slot);
        }
    }

    /// OSC 110 to 119.
    pub(super) fn reset_dynamic_color(&mut self, number: u16) {
        self.reset_color(DYNAMIC[number as usize - 110]);
    }

    /// OSC 21: `key=color` sets, `key=` makes the color dynamic, `key` resets, `key=?` queries; one reply answers all
    /// keys.
    pub(super) fn control_colors(&mut self, rest: &[u8], bell: bool) {
        if memchr::memchr_iter(b';', rest).count() >= KEYS_CAP {
            return self.caps.dropped("OSC 21", KEYS_CAP);
        }
        let mut answers = String::new();
        for item in rest.split(|&b| b == b';') {
            let Ok(item) = std::str::from_utf8(item) else { continue };
            let (key, value) = match item.split_once('=') {
                Some((key, value)) => (key.trim(), Some(value.trim())),
                None => (item.trim(), None),
            };
            let known = kitty_slot(key);
            match (known, value) {
                (Some(slot), Some("?")) => {
                    let color = self
                        .palette
                        .get(slot)
                        .map(|Rgb { r, g, b }| format!("rgb:{r:02x}/{g:02x}/{b:02x}"));
                    answers.push_str(&format!(";{key}={}", color.unwrap_or_default()));
                }
                // The protocol requires echoing an unknown key. Do so only for words, which are harmless.
                (None, Some("?")) if is_word(key) => answers.push_str(&format!(";{key}=?")),
                (Some(slot), Some("")) => self.set_color(slot, None),
                (Some(slot), Some(spec)) => {
                    if let Some(color) = parse_control(spec.as_bytes()) {
                        self.set_color(slot, Some(color));
                    }
                }
                (Some(slot), None) => self.reset_color(slot),
                (None, _) => tracing::debug!("unknown key in OSC 21"),
            }
        }
        if !answers.is_empty() {
            self.reply(format!("\x1b]21{answers}{}", terminator(bell)).as_bytes());
        }
    }

    pub(crate) fn set_color(&mut self, slot: Slot, color: Option<Rgb>) {
        if self.palette.get(slot) == color {
            return;
        }
        Arc::make_mut(&mut self.palette).set(slot, color);
        self.event(Event::Palette);
    }

    fn reset_color(&mut self, slot: Slot) {
        self.set_color(slot, self.base_palette.get(slot));
    }

    /// Replaces the theme's colors and keeps the colors that the program set.
    pub(crate) fn rebase_palette(&mut self, base: Arc<Palette>) {
        self.palette = rebased(&self.palette, &self.base_palette, &base);
        self.base_palette = base;
    }

    /// Restores the colors that the program had set when the colors were `palette` and the theme's `base`.
    pub(crate) fn restore_palette(&mut self, palette: &Arc<Palette>, base: &Arc<Palette>) {
        let palette = rebased(palette, base, &self.base_palette);
        if self.palette != palette {
            self.palette = palette;
            self.event(Event::Palette);
        }
    }

    /// Writes the sequences that set the colors that differ from the theme's. For [`Term::to_vt`].
    pub(crate) fn write_palette(&self, out: &mut String) {
        self.write_colors(&self.palette, out);
    }

    /// Writes the sequences that reset all colors to the theme's.
    pub(super) fn write_no_colors(&self, out: &mut String) {
        out.push_str("\x1b]104\x1b\\\x1b]105\x1b\\");
        for (name, _) in KITTY_KEYS {
            let _ = write!(out, "\x1b]21;{name}\x1b\\");
        }
        for number in 110..110 + DYNAMIC.len() {
            let _ = write!(out, "\x1b]{number}\x1b\\");
        }
    }

    /// Writes the sequences that set the colors of `palette` that differ from the theme's.
    pub(super) fn write_colors(&self, palette: &Palette, out: &mut String) {
        for slot in Slot::all() {
            let color = palette.get(slot);
            if color == self.base_palette.get(slot) {
                continue;
            }
            let spec = color.map(|Rgb { r, g, b }| format!("#{r:02x}{g:02x}{b:02x}"));
            let spec = spec.unwrap_or_default();
            let name = KITTY_KEYS.iter().find(|(_, own)| *own == slot);
            let number = DYNAMIC.iter().position(|own| *own == slot);
            let _ = match (slot, name, number) {
                (Slot::Indexed(index), ..) => write!(out, "\x1b]4;{index};{spec}\x1b\\"),
                (Slot::Special(index), ..) => write!(out, "\x1b]5;{index};{spec}\x1b\\"),
                (_, Some((name, _)), _) => write!(out, "\x1b]21;{name}={spec}\x1b\\"),
                (_, _, Some(number)) => write!(out, "\x1b]{};{spec}\x1b\\", number + 10),
                _ => Ok(()),
            };
        }
    }

    fn report_color(&mut self, command: &str, color: Rgb, bell: bool) {
        let Rgb { r, g, b } = color;
        let end = terminator(bell);
        let reply = format!("\x1b]{command};rgb:{r:02x}{r:02x}/{g:02x}{g:02x}/{b:02x}{b:02x}{end}");
        self.reply(reply.as_bytes());
    }
}

/// The colors of the theme `to`, with the changes that make `palette` differ from the theme `from`.
fn rebased(palette: &Arc<Palette>, from: &Arc<Palette>, to: &Arc<Palette>) -> Arc<Palette> {
    if from == to {
        return palette.clone();
    }
    let mut rebased = (**to).clone();
    for slot in Slot::all() {
        let now = palette.get(slot);
        if now != from.get(slot) {
            rebased.set(slot, now);
        }
    }
    if rebased == **to { to.clone() } else { Arc::new(rebased) }
}

fn number(digits: &[u8]) -> Option<u16> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// The slot of a number in OSC 4 or OSC 5.
fn slot(command: u16, index: u16) -> Option<Slot> {
    match (command, index) {
        (4, 0..=255) => Some(Slot::Indexed(index as u8)),
        (4, 256..) => slot(5, index - 256),
        (_, 0..SPECIALS) => Some(Slot::Special(index as u8)),
        _ => None,
    }
}

fn kitty_slot(key: &str) -> Option<Slot> {
    if let Some((_, slot)) = KITTY_KEYS.iter().find(|(own, _)| *own == key) {
        return Some(*slot);
    }
    // Accept only plain digits, so that the echo is a number too.
    let index = key.parse().ok().map(Slot::Indexed)?;
    key.bytes().all(|b| b.is_ascii_digit()).then_some(index)
}

/// Whether this could be a key of another terminal.
fn is_word(key: &str) -> bool {
    (1..=32).contains(&key.len())
        && key.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}
