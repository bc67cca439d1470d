//! What the window's own parts around the panes look like: their colours, made from the theme, and plain shapes.

use std::sync::Arc;

use unterm_renderer::{Label, LabelAlign, PixelRect, Quad, Scene};
use unterm_term::{Palette, Rgb};

use super::geometry::Geometry;

/// Colours of chrome, derived from a theme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Colors {
    pub(super) surface: Rgb,
    pub(super) raised: Rgb,
    pub(super) hairline: Rgb,
    pub(super) text: Rgb,
    pub(super) muted: Rgb,
    /// What can't be chosen now.
    pub(super) disabled: Rgb,
    pub(super) accent: Rgb,
    pub(super) bell: Rgb,
    /// Text on that.
    pub(super) on_bell: Rgb,
    pub(super) success: Rgb,
    pub(super) danger: Rgb,
    /// The same as text.
    pub(super) danger_text: Rgb,
    /// The accent as text.
    pub(super) accent_text: Rgb,
}

impl Colors {
    pub(super) fn new(palette: &Palette) -> Self {
        let (surface, text) = (palette.background, palette.foreground);
        let raised = mix(surface, text, 0.05);
        // What is marked or pressed is filled with the hairline's colour: the least contrast that text ever has.
        let hairline = mix(surface, text, 0.11);
        Self {
            surface,
            raised,
            hairline,
            text: readable(text, hairline),
            muted: readable(mix(surface, text, 0.6), hairline),
            disabled: mix(surface, text, 0.35),
            accent: palette.colors[4],
            bell: palette.colors[3],
            on_bell: readable(surface, palette.colors[3]),
            success: palette.colors[2],
            danger: palette.colors[1],
            danger_text: readable(palette.colors[1], hairline),
            accent_text: readable(palette.colors[4], hairline),
        }
    }
}

/// The colours made last: most pictures have the palette of the one before.
#[derive(Default)]
pub(super) struct KnownColors(Option<(Arc<Palette>, Colors)>);

impl KnownColors {
    pub(super) fn of(&mut self, palette: &Arc<Palette>) -> Colors {
        match &self.0 {
            Some((known, colors)) if Arc::ptr_eq(known, palette) => *colors,
            _ => self.0.insert((Arc::clone(palette), Colors::new(palette))).1,
        }
    }
}

/// `a` moved towards `b` by a share of the way.
pub(super) fn mix(a: Rgb, b: Rgb, share: f32) -> Rgb {
    let channel =
        |a: u8, b: u8| (f32::from(a) + (f32::from(b) - f32::from(a)) * share).round() as u8;
    Rgb { r: channel(a.r, b.r), g: channel(a.g, b.g), b: channel(a.b, b.b) }
}

/// Relative luminance (WCAG 2.2).
fn luminance(color: Rgb) -> f32 {
    let linear = |channel: u8| {
        let c = f32::from(channel) / 255.0;
        if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(color.r) + 0.7152 * linear(color.g) + 0.0722 * linear(color.b)
}

/// Contrast ratio of two colours, 1 to 21 (WCAG 2.2).
fn contrast(a: Rgb, b: Rgb) -> f32 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// `text` stepped towards black or white until it has a contrast of 4.5 on `background`.
pub(super) fn readable(text: Rgb, background: Rgb) -> Rgb {
    let (white, black) = (Rgb::hex(0xffffff), Rgb::hex(0));
    let goal =
        if contrast(white, background) > contrast(black, background) { white } else { black };
    (0..=10)
        .map(|step| mix(text, goal, step as f32 / 10.0))
        .find(|color| contrast(*color, background) >= 4.5)
        .unwrap_or(goal)
}

/// A raised surface with a hairline around it.
pub(super) fn framed(rect: PixelRect, radius: f32, colors: &Colors, scene: &mut Scene<'_>) {
    for (rect, color) in [(grown(rect, 1), colors.hairline), (rect, colors.raised)] {
        scene.quads.push(Quad { rect, color, alpha: 1.0, radius });
    }
}

/// A rectangle with so many pixels more on each side.
pub(super) fn grown(rect: PixelRect, by: u32) -> PixelRect {
    PixelRect {
        x: rect.x - by as i32,
        y: rect.y - by as i32,
        width: rect.width + 2 * by,
        height: rect.height + 2 * by,
    }
}

/// A plain rectangle.
pub(super) fn quad(rect: PixelRect, color: Rgb) -> Quad {
    Quad { rect, color, alpha: 1.0, radius: 0.0 }
}

/// Text of the chrome, in its size.
pub(super) fn label(
    geometry: &Geometry,
    rect: PixelRect,
    text: &str,
    color: Rgb,
    align: LabelAlign,
) -> Label {
    let size = geometry.ui_font();
    Label { rect, text: text.to_owned(), color, size, align, ..Label::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chrome_text_is_readable_in_every_theme() {
        let nowhere = std::path::Path::new("/nonexistent");
        let names = crate::config::theme::names(nowhere);
        assert!(names.len() >= 32, "{names:?}");
        for name in names {
            let palette = crate::config::theme::find(&name, nowhere).unwrap().palette;
            let colors = Colors::new(&palette);
            let texts = [
                ("text", colors.text),
                ("muted", colors.muted),
                ("danger", colors.danger_text),
                ("accent", colors.accent_text),
            ];
            let grounds = [
                ("surface", colors.surface),
                ("raised", colors.raised),
                ("hairline", colors.hairline),
            ];
            for (text, color) in texts {
                for (ground, background) in grounds {
                    let contrast = contrast(color, background);
                    assert!(contrast >= 4.5, "{name}: {text} on {ground} has {contrast:.2}");
                }
            }
            for fill in [colors.accent, colors.danger, colors.muted] {
                assert!(contrast(readable(colors.surface, fill), fill) >= 4.5, "{name}");
            }
        }
    }
}
