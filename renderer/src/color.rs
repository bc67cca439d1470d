//! From a style and a palette to the colours of a cell.

use unterm_term::{Attrs, Color, Modes, Palette, Rgb, Style};

/// The colours of one pane: its palette, and what is done to all of it.
#[derive(Clone, Copy)]
pub(crate) struct PaneColors<'a> {
    pub(crate) palette: &'a Palette,
    /// DECSCNM: default foreground and background have changed places.
    pub(crate) reversed: bool,
    /// How far everything is mixed towards the background, 0 to 255.
    pub(crate) dim: u8,
}

/// Colours of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CellColors {
    pub(crate) foreground: Rgb,
    pub(crate) background: Rgb,
    pub(crate) underline: Rgb,
}

/// Strength of SGR 2: how far text goes towards its background, 0 to 255.
pub(crate) const FAINT: u8 = 110;

/// How far the background of found text goes towards yellow, 0 to 255.
const HIGHLIGHT: u8 = 90;

impl<'a> PaneColors<'a> {
    pub(crate) fn new(palette: &'a Palette, modes: Modes, dim: f32) -> Self {
        let dim = (dim.clamp(0.0, 1.0) * 255.0).round() as u8;
        Self { palette, reversed: modes.contains(Modes::REVERSE_SCREEN), dim }
    }

    /// The pane's background.
    pub(crate) fn background(&self) -> Rgb {
        if self.reversed { self.palette.foreground } else { self.palette.background }
    }

    /// The pane's default text colour, before dimming.
    pub(crate) fn foreground(&self) -> Rgb {
        if self.reversed { self.palette.background } else { self.palette.foreground }
    }

    fn resolve(&self, color: Color, default: Rgb) -> Rgb {
        match color {
            Color::Default => default,
            Color::Indexed(i) => self.palette.colors[usize::from(i)],
            Color::Rgb(rgb) => rgb,
        }
    }

    /// The colours of a cell in `style`, before dimming.
    pub(crate) fn cell(&self, style: &Style) -> CellColors {
        let mut foreground = self.resolve(style.foreground, self.foreground());
        let mut background = self.resolve(style.background, self.background());
        if style.attrs.contains(Attrs::REVERSE) {
            std::mem::swap(&mut foreground, &mut background);
        }
        if style.attrs.contains(Attrs::DIM) {
            foreground = mix(foreground, background, FAINT);
        }
        let underline = self.resolve(style.underline_color, foreground);
        CellColors { foreground, background, underline }
    }

    /// The same cell inside the selection.
    pub(crate) fn selected(&self, style: &Style) -> CellColors {
        let colors = self.cell(style);
        let Some(background) = self.palette.selection else {
            return CellColors {
                foreground: colors.background,
                background: colors.foreground,
                underline: colors.background,
            };
        };
        match self.palette.selection_text {
            Some(text) => CellColors { foreground: text, background, underline: text },
            // The selection's background takes the place of the cell's, so reversed text would lose its contrast.
            None => {
                let attrs = style.attrs - Attrs::REVERSE;
                CellColors { background, ..self.cell(&Style { attrs, ..*style }) }
            }
        }
    }

    /// The same cell in text that a search found; `current`: in the place looked at.
    pub(crate) fn highlighted(&self, style: &Style, current: bool) -> CellColors {
        let yellow = self.palette.colors[3];
        if current {
            let text = self.background();
            return CellColors { foreground: text, background: yellow, underline: text };
        }
        let attrs = style.attrs - Attrs::REVERSE;
        let plain = self.cell(&Style { attrs, ..*style });
        CellColors { background: mix(self.background(), yellow, HIGHLIGHT), ..plain }
    }

    /// Dims a colour as the whole pane is.
    pub(crate) fn dimmed(&self, color: Rgb) -> Rgb {
        mix(color, self.background(), self.dim)
    }
}

/// `a` mixed towards `b` by `amount` of 255.
pub(crate) fn mix(a: Rgb, b: Rgb, amount: u8) -> Rgb {
    let channel = |a: u8, b: u8| blend(a, b, amount);
    Rgb { r: channel(a.r, b.r), g: channel(a.g, b.g), b: channel(a.b, b.b) }
}

/// `below` covered by `above` with `alpha` of 255, rounded.
pub(crate) fn blend(below: u8, above: u8, alpha: u8) -> u8 {
    let alpha = u32::from(alpha);
    ((u32::from(below) * (255 - alpha) + u32::from(above) * alpha + 127) / 255) as u8
}
