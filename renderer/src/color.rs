//! Resolves a style and a palette to the colors of a cell.

use unterm_term::{Attrs, Color, Modes, Palette, Rgb, Style};

use crate::blend::{Blending, luminance, mix};

/// How text is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextOptions {
    /// How colors are blended.
    pub blending: Blending,
    /// Minimum contrast between text and its background, 1 to 21 (WCAG 2). Text with less is stepped toward black or
    /// white. 1 leaves all colors unchanged.
    pub minimum_contrast: f32,
    /// Minimum contrast when text and background both come from the theme. Programs combine theme colors without
    /// knowing whether the pair is readable.
    pub palette_contrast: f32,
    /// Whether right-to-left text is shown in its direction, unless the program arranges it by itself (ECMA-48 BDSM).
    pub bidi: bool,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self {
            blending: Blending::default(),
            minimum_contrast: 1.0,
            palette_contrast: 1.0,
            bidi: true,
        }
    }
}

impl TextOptions {
    /// Whether right-to-left text is shown from right to left, if the program has set these modes.
    pub fn reorders(&self, modes: Modes) -> bool {
        self.bidi && !modes.contains(Modes::EXPLICIT_BIDI)
    }
}

/// The colors of one pane: its palette, and the changes that apply to the whole pane.
#[derive(Clone, Copy)]
pub(crate) struct PaneColors<'a> {
    pub(crate) palette: &'a Palette,
    /// DECSCNM: default foreground and background are swapped.
    pub(crate) reversed: bool,
    /// How far every color is mixed toward the background, 0 to 255.
    pub(crate) dim: u8,
    /// See [`TextOptions::minimum_contrast`].
    pub(crate) contrast: f32,
    /// See [`TextOptions::palette_contrast`].
    pub(crate) palette_contrast: f32,
}

/// Colors of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CellColors {
    pub(crate) foreground: Rgb,
    pub(crate) background: Rgb,
    pub(crate) underline: Rgb,
}

/// Strength of SGR 2: how far text is mixed toward its background, 0 to 255.
pub(crate) const FAINT: u8 = 110;

/// How far the background of a search match is mixed toward yellow, 0 to 255.
const HIGHLIGHT: u8 = 90;

impl<'a> PaneColors<'a> {
    pub(crate) fn new(palette: &'a Palette, modes: Modes, dim: f32, text: &TextOptions) -> Self {
        Self {
            palette,
            reversed: modes.contains(Modes::REVERSE_SCREEN),
            dim: (dim.clamp(0.0, 1.0) * 255.0).round() as u8,
            contrast: text.minimum_contrast,
            palette_contrast: text.palette_contrast,
        }
    }

    /// The pane's background.
    pub(crate) fn background(&self) -> Rgb {
        if self.reversed { self.palette.foreground } else { self.palette.background }
    }

    /// The pane's default text color, before dimming.
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

    /// The colors of a cell in `style`, before dimming.
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

    /// The colors of the cell when it is selected.
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
            // The selection replaces the cell's background, so reversed text would lose its contrast.
            None => {
                let attrs = style.attrs - Attrs::REVERSE;
                CellColors { background, ..self.cell(&Style { attrs, ..*style }) }
            }
        }
    }

    /// The colors of the cell inside a search match. `current` marks the selected match.
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

    /// The minimum contrast of text in `style` with its background.
    pub(crate) fn least_contrast(&self, style: &Style) -> f32 {
        match is_of_theme(style.foreground) && is_of_theme(style.background) {
            true => self.contrast.max(self.palette_contrast),
            false => self.contrast,
        }
    }

    /// The minimum contrast of selected text and of search matches. Their background is a theme color, so the palette
    /// contrast applies whatever color the text has.
    pub(crate) fn least_contrast_marked(&self) -> f32 {
        self.contrast.max(self.palette_contrast)
    }

    /// Dims a color as far as the pane is dimmed.
    pub(crate) fn dimmed(&self, color: Rgb) -> Rgb {
        mix(color, self.background(), self.dim)
    }
}

/// Whether a color comes from the theme: its default text, its background, or its 16 palette colors.
fn is_of_theme(color: Color) -> bool {
    matches!(color, Color::Default | Color::Indexed(0..16))
}

/// Contrast ratio of two colors (WCAG 2), 1 to 21.
fn contrast(a: Rgb, b: Rgb) -> f32 {
    let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
    if a > b { a / b } else { b / a }
}

/// Steps `text` toward black or white just far enough to reach the wanted contrast with its background.
pub(crate) fn readable(text: Rgb, background: Rgb, wanted: f32) -> Rgb {
    if wanted <= 1.0 || contrast(text, background) >= wanted {
        return text;
    }
    // Step away from the background, unless only the other direction reaches the wanted contrast.
    let (black, white) = (Rgb::hex(0), Rgb::hex(0xff_ffff));
    let lighter = luminance(text) > luminance(background);
    let (near, far) = if lighter { (white, black) } else { (black, white) };
    let reaches = |end: Rgb| contrast(end, background) >= wanted;
    let end = match (reaches(near), reaches(far)) {
        (true, _) => near,
        (false, true) => far,
        (false, false) if contrast(white, background) > contrast(black, background) => white,
        (false, false) => black,
    };
    let (mut low, mut high) = (0u8, 255u8);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        let stepped = mix(text, end, middle);
        // Toward the far end, contrast falls before it rises.
        let passed = (luminance(stepped) > luminance(background)) == (end == white);
        if passed && contrast(stepped, background) >= wanted {
            high = middle;
        } else {
            low = middle;
        }
    }
    mix(text, end, high)
}

#[cfg(test)]
mod tests {
    use super::{PaneColors, TextOptions, contrast, readable};
    use unterm_term::{Color, Modes, Palette, Rgb, Style};

    #[test]
    fn palette_contrast_applies_to_theme_colors_only() {
        let palette = Palette::default();
        let text = TextOptions { palette_contrast: 3.0, ..TextOptions::default() };
        let colors = PaneColors::new(&palette, Modes::empty(), 0.0, &text);
        let least = |foreground, background| {
            colors.least_contrast(&Style { foreground, background, ..Style::default() })
        };
        // The colors of Midnight Commander's panels.
        assert_eq!(least(Color::Indexed(7), Color::Indexed(4)), 3.0);
        assert_eq!(least(Color::Default, Color::Indexed(15)), 3.0);
        assert_eq!(least(Color::Rgb(Rgb::hex(0x333333)), Color::Default), 1.0);
        assert_eq!(least(Color::Indexed(7), Color::Indexed(20)), 1.0);
        assert_eq!(colors.least_contrast_marked(), 3.0);
    }

    /// Text reaches the wanted contrast if any color can. It keeps its color if it already has enough, and its hue as
    /// far as possible.
    #[test]
    fn text_is_stepped_until_it_is_readable() {
        assert!((contrast(Rgb::hex(0), Rgb::hex(0xffffff)) - 21.0).abs() < 0.01);
        let colors = [0x000000, 0xffffff, 0x1e1e2e, 0x777777, 0x0000ff, 0xff0000, 0xfdf6e3];
        for text in colors.map(Rgb::hex) {
            for background in colors.map(Rgb::hex) {
                for wanted in [1.1, 3.0, 4.5, 7.0, 21.0] {
                    let stepped = readable(text, background, wanted);
                    let most = contrast(Rgb::hex(0), background)
                        .max(contrast(Rgb::hex(0xffffff), background));
                    let got = contrast(stepped, background);
                    assert!(
                        got >= wanted.min(most) - 0.01,
                        "{text:?} {background:?} {wanted} {got}"
                    );
                    if contrast(text, background) >= wanted {
                        assert_eq!(stepped, text);
                    }
                }
            }
        }
        let blue = readable(Rgb::hex(0x0000ff), Rgb::hex(0), 4.5);
        assert!(blue.b == 255 && blue.r > 0 && blue.r == blue.g && blue.r < 200, "{blue:?}");
    }
}
