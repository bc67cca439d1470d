//! OSC 4, 10, 11, 12 and their resets 104, 110, 111, 112.

use std::sync::Arc;

use super::terminator;
use crate::term::Term;
use crate::{Event, Palette, Rgb};

impl Term {
    /// OSC 4: `index ; colour` pairs; `?` asks.
    pub(super) fn set_colors(&mut self, rest: &[u8], bell: bool) {
        let mut parts = rest.split(|&b| b == b';');
        while let (Some(index), Some(spec)) = (parts.next(), parts.next()) {
            let Some(index) = number(index) else { continue };
            if spec == b"?" {
                let color = self.palette.colors[index as usize];
                self.report_color(&format!("4;{index}"), color, bell);
            } else if let Some(color) = parse(spec) {
                self.change_palette(|palette| palette.colors[index as usize] = color);
            }
        }
    }

    /// OSC 10, 11, 12: each further colour is for the next number.
    pub(super) fn set_dynamic_colors(&mut self, first: u16, rest: &[u8], bell: bool) {
        for (number, spec) in (first..=12).zip(rest.split(|&b| b == b';')) {
            if spec == b"?" {
                let palette = &self.palette;
                let color = match number {
                    10 => palette.foreground,
                    11 => palette.background,
                    _ => palette.cursor.unwrap_or(palette.foreground),
                };
                self.report_color(&number.to_string(), color, bell);
            } else if let Some(color) = parse(spec) {
                self.change_palette(|palette| match number {
                    10 => palette.foreground = color,
                    11 => palette.background = color,
                    _ => palette.cursor = Some(color),
                });
            }
        }
    }

    /// OSC 104: the given colours, or all.
    pub(super) fn reset_colors(&mut self, rest: &[u8]) {
        let base = self.base_palette.clone();
        if rest.is_empty() {
            self.change_palette(|palette| palette.colors = base.colors);
            return;
        }
        for index in rest.split(|&b| b == b';').filter_map(number) {
            let color = base.colors[index as usize];
            self.change_palette(|palette| palette.colors[index as usize] = color);
        }
    }

    /// OSC 110, 111, 112.
    pub(super) fn reset_dynamic_color(&mut self, number: u16) {
        let base = self.base_palette.clone();
        self.change_palette(|palette| match number {
            110 => palette.foreground = base.foreground,
            111 => palette.background = base.background,
            _ => palette.cursor = base.cursor,
        });
    }

    fn change_palette(&mut self, change: impl FnOnce(&mut Palette)) {
        let mut palette = (*self.palette).clone();
        change(&mut palette);
        if palette != *self.palette {
            self.palette = Arc::new(palette);
            self.event(Event::Palette);
        }
    }

    /// Puts other colours under those that the program has set.
    pub(crate) fn rebase_palette(&mut self, base: Arc<Palette>) {
        let (old, now) = (&*self.base_palette, &*self.palette);
        let mut palette = (*base).clone();
        for (i, color) in palette.colors.iter_mut().enumerate() {
            if now.colors[i] != old.colors[i] {
                *color = now.colors[i];
            }
        }
        if now.foreground != old.foreground {
            palette.foreground = now.foreground;
        }
        if now.background != old.background {
            palette.background = now.background;
        }
        if now.cursor != old.cursor {
            palette.cursor = now.cursor;
        }
        self.palette = if palette == *base { base.clone() } else { Arc::new(palette) };
        self.base_palette = base;
    }

    fn report_color(&mut self, command: &str, color: Rgb, bell: bool) {
        let Rgb { r, g, b } = color;
        let end = terminator(bell);
        let reply = format!("\x1b]{command};rgb:{r:02x}{r:02x}/{g:02x}{g:02x}/{b:02x}{b:02x}{end}");
        self.reply(reply.as_bytes());
    }
}

fn number(digits: &[u8]) -> Option<u8> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// A colour as XParseColor reads it: `#rgb` with 1–4 digits a channel, `rgb:r/g/b`.
fn parse(spec: &[u8]) -> Option<Rgb> {
    let spec = std::str::from_utf8(spec).ok()?;
    if let Some(digits) = spec.strip_prefix('#') {
        if !digits.is_ascii() || digits.len() % 3 != 0 || !(3..=12).contains(&digits.len()) {
            return None;
        }
        let each = digits.len() / 3;
        // `#rgb` gives the most significant bits, unlike `rgb:`.
        let channel = |i: usize| {
            let value = u32::from_str_radix(&digits[i * each..(i + 1) * each], 16).ok()?;
            Some((value << (16 - 4 * each) >> 8) as u8)
        };
        let (r, g, b) = (channel(0)?, channel(1)?, channel(2)?);
        return Some(if each == 1 {
            Rgb { r: r | r >> 4, g: g | g >> 4, b: b | b >> 4 }
        } else {
            Rgb { r, g, b }
        });
    }
    let mut channels = spec.strip_prefix("rgb:")?.split('/').map(|digits| {
        if !(1..=4).contains(&digits.len()) {
            return None;
        }
        let value = u32::from_str_radix(digits, 16).ok()?;
        let max = (1u32 << (4 * digits.len())) - 1;
        Some(((value * 255 + max / 2) / max) as u8)
    });
    let color = Rgb { r: channels.next()??, g: channels.next()??, b: channels.next()?? };
    channels.next().is_none().then_some(color)
}
