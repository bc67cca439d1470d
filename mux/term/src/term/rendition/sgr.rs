//! SGR: sets the pen's style (ECMA-48 8.3.117; xterm ctlseqs; kitty's underline styles, 221 and 222; ISO 8613-6 colors).

use std::fmt::Write;

use crate::grid::style::{Attrs, Style, Underline};
use crate::params::Params;
use crate::term::Term;
use crate::{Color, Rgb};

impl Term {
    /// SGR.
    pub(crate) fn select_rendition(&mut self, params: &Params) {
        let style = self.pen.style_mut();
        let values = params.values();
        let mut i = 0;
        while i < values.len() {
            let start = i;
            i += 1;
            if params.has_parts() {
                while i < values.len() && params.is_part(i) {
                    i += 1;
                }
            }
            let parts = &values[start + 1..i];
            match values[start] {
                0 => *style = Style::default(),
                1 => style.attrs |= Attrs::BOLD,
                2 => style.attrs |= Attrs::DIM,
                3 => style.attrs |= Attrs::ITALIC,
                4 => match parts.first() {
                    None | Some(1) => style.underline = Underline::Single,
                    Some(0) => style.underline = Underline::None,
                    Some(2) => style.underline = Underline::Double,
                    Some(3) => style.underline = Underline::Curly,
                    Some(4) => style.underline = Underline::Dotted,
                    Some(5) => style.underline = Underline::Dashed,
                    Some(_) => {}
                },
                5 | 6 => style.attrs |= Attrs::BLINK,
                7 => style.attrs |= Attrs::REVERSE,
                8 => style.attrs |= Attrs::HIDDEN,
                9 => style.attrs |= Attrs::STRIKE,
                21 => style.underline = Underline::Double,
                22 => style.attrs &= !(Attrs::BOLD | Attrs::DIM),
                23 => style.attrs &= !Attrs::ITALIC,
                24 => style.underline = Underline::None,
                25 => style.attrs &= !Attrs::BLINK,
                27 => style.attrs &= !Attrs::REVERSE,
                28 => style.attrs &= !Attrs::HIDDEN,
                29 => style.attrs &= !Attrs::STRIKE,
                n @ 30..=37 => style.foreground = Color::Indexed(n as u8 - 30),
                39 => style.foreground = Color::Default,
                n @ 40..=47 => style.background = Color::Indexed(n as u8 - 40),
                49 => style.background = Color::Default,
                53 => style.attrs |= Attrs::OVERLINE,
                55 => style.attrs &= !Attrs::OVERLINE,
                59 => style.underline_color = Color::Default,
                n @ 90..=97 => style.foreground = Color::Indexed(n as u8 - 90 + 8),
                n @ 100..=107 => style.background = Color::Indexed(n as u8 - 100 + 8),
                221 => style.attrs &= !Attrs::BOLD, // kitty: bold and dim off apart
                222 => style.attrs &= !Attrs::DIM,
                n @ (38 | 48 | 58) => {
                    let color = if parts.is_empty() {
                        let (color, used) = color_of_params(&values[i..]);
                        i += used;
                        color
                    } else {
                        color_of_parts(parts)
                    };
                    if let Some(color) = color {
                        match n {
                            38 => style.foreground = color,
                            48 => style.background = color,
                            _ => style.underline_color = color,
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// The parameters of the SGR that sets the pen's style, for DECRQSS.
    pub(crate) fn rendition(&self) -> String {
        rendition_of(self.pen.style())
    }
}

impl Style {
    /// The parameters of the SGR that resets the style and sets this style's attributes and underline, without its
    /// colors (ECMA-48 8.3.117; underline styles as in kitty's "Styled and colored underlines"): `0;1;4:3`.
    pub fn attribute_parameters(&self) -> String {
        let mut sgr = String::from("0");
        const ATTRS: [(Attrs, u8); 8] = [
            (Attrs::BOLD, 1),
            (Attrs::DIM, 2),
            (Attrs::ITALIC, 3),
            (Attrs::BLINK, 5),
            (Attrs::REVERSE, 7),
            (Attrs::HIDDEN, 8),
            (Attrs::STRIKE, 9),
            (Attrs::OVERLINE, 53),
        ];
        for (attr, code) in ATTRS {
            if self.attrs.contains(attr) {
                let _ = write!(sgr, ";{code}");
            }
        }
        match self.underline {
            Underline::None => {}
            Underline::Single => sgr.push_str(";4"),
            other => {
                let _ = write!(sgr, ";4:{}", other as u8);
            }
        }
        sgr
    }
}

/// The parameters of the SGR that sets a style.
pub(crate) fn rendition_of(style: &Style) -> String {
    let mut sgr = style.attribute_parameters();
    color(&mut sgr, style.foreground, 30);
    color(&mut sgr, style.background, 40);
    color(&mut sgr, style.underline_color, 50);
    sgr
}

fn color(sgr: &mut String, color: Color, base: u16) {
    let _ = match color {
        Color::Default => Ok(()),
        Color::Indexed(i @ 0..=7) if base < 50 => write!(sgr, ";{}", base + i as u16),
        Color::Indexed(i @ 8..=15) if base < 50 => write!(sgr, ";{}", base + 52 + i as u16),
        Color::Indexed(i) => write!(sgr, ";{}:5:{i}", base + 8),
        Color::Rgb(Rgb { r, g, b }) => write!(sgr, ";{}:2::{r}:{g}:{b}", base + 8),
    };
}

/// Parses `5;n` and `2;r;g;b` after a 38, 48 or 58. Returns the color, and how many numbers it took.
fn color_of_params(values: &[u16]) -> (Option<Color>, usize) {
    match values {
        [5, n, ..] => (indexed(*n), 2),
        [2, r, g, b, ..] => (rgb(*r, *g, *b), 4),
        // Truncated: none of the remaining numbers can mean anything else.
        [2 | 5, ..] => (None, values.len()),
        // Skip an unknown kind of color, so that it is not taken for an attribute.
        [_, ..] => (None, 1),
        [] => (None, 0),
    }
}

/// `:5:n`, `:2:r:g:b` and `:2:space:r:g:b` (ISO 8613-6; the color space is ignored).
fn color_of_parts(parts: &[u16]) -> Option<Color> {
    match parts {
        [5, n, ..] => indexed(*n),
        [2, _, r, g, b, ..] | [2, r, g, b] => rgb(*r, *g, *b),
        _ => None,
    }
}

fn indexed(n: u16) -> Option<Color> {
    u8::try_from(n).ok().map(Color::Indexed)
}

fn rgb(r: u16, g: u16, b: u16) -> Option<Color> {
    let [r, g, b] = [r, g, b].map(u8::try_from);
    Some(Color::Rgb(Rgb { r: r.ok()?, g: g.ok()?, b: b.ok()? }))
}
