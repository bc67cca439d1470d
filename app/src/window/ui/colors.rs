//! The colors of the window's own parts, derived from the theme; and simple shapes.

use std::sync::Arc;

use unterm_renderer::{Label, LabelAlign, PixelRect, Quad, Scene};
use unterm_term::{Palette, Rgb};

use crate::window::ui::geometry::Geometry;

/// The minimum contrast with the panes: of the dividers, and of the mark of the focused pane. WCAG 2.2 requires 3 for
/// the mark of a state.
const DIVIDER_CONTRAST: f32 = 1.6;
const FOCUS_CONTRAST: f32 = 3.0;
/// The minimum contrast of a selected row with its list: of the row's background, and of the bar at the row's left. A
/// background with a contrast of 3 would leave no color in which the row's shortcut and accents look different from
/// its title, so the bar marks the row.
const ROW_CONTRAST: f32 = 1.6;
const BAR_CONTRAST: f32 = 3.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Colors {
    pub(crate) surface: Rgb,
    pub(crate) raised: Rgb,
    pub(crate) hairline: Rgb,
    /// The color of the lines between panes.
    pub(crate) divider: Rgb,
    /// The color that marks the pane with the keyboard focus.
    pub(crate) focus: Rgb,
    pub(crate) text: Rgb,
    pub(crate) muted: Rgb,
    /// The text of items that can't be chosen now.
    pub(crate) disabled: Rgb,
    pub(crate) accent: Rgb,
    pub(crate) bell: Rgb,
    /// The color of text on a `bell` background.
    pub(crate) on_bell: Rgb,
    pub(crate) success: Rgb,
    pub(crate) danger: Rgb,
    /// The color of text that warns of danger: `danger` with enough contrast for text.
    pub(crate) danger_text: Rgb,
    /// The color of accented text: `accent` with enough contrast for text.
    pub(crate) accent_text: Rgb,
}

impl Colors {
    pub(crate) fn new(palette: &Palette) -> Self {
        let (surface, text) = (palette.background, palette.foreground);
        let raised = mix(surface, text, 0.05);
        // Marked or pressed items are filled with `hairline`. Of all backgrounds, `hairline` has the least contrast
        // with text, so text colors are computed against it.
        let hairline = mix(surface, text, 0.11);
        Self {
            surface,
            raised,
            hairline,
            divider: stepped(hairline, text, &[surface], DIVIDER_CONTRAST),
            focus: stepped(palette.colors[4], pole(surface), &[surface], FOCUS_CONTRAST),
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

    /// The colors of a list's selected row.
    pub(crate) fn selected(&self) -> SelectedRow {
        let fill = stepped(self.hairline, self.text, &[self.raised], ROW_CONTRAST);
        SelectedRow {
            fill,
            bar: stepped(self.accent, pole(fill), &[self.raised, fill], BAR_CONTRAST),
            text: readable(self.text, fill),
            muted: readable(self.muted, fill),
            accent: readable(self.accent, fill),
        }
    }

    /// The background of the marked button of a question.
    pub(crate) fn marked_button(&self) -> Rgb {
        let grounds = [self.raised, self.hairline];
        stepped(self.accent, pole(self.hairline), &grounds, FOCUS_CONTRAST)
    }
}

/// The colors of a list's selected row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SelectedRow {
    fill: Rgb,
    /// The color of the bar at the row's left.
    bar: Rgb,
    /// The colors of text on `fill`.
    pub(crate) text: Rgb,
    pub(crate) muted: Rgb,
    pub(crate) accent: Rgb,
}

impl SelectedRow {
    /// The row's background.
    pub(crate) fn fill(&self) -> Rgb {
        self.fill
    }
}

/// A cache of the last computed colors. Most frames use the palette of the previous frame.
#[derive(Default)]
pub(crate) struct KnownColors(Option<(Arc<Palette>, Colors)>);

impl KnownColors {
    pub(crate) fn of(&mut self, palette: &Arc<Palette>) -> Colors {
        match &self.0 {
            Some((known, colors)) if Arc::ptr_eq(known, palette) => *colors,
            _ => self.0.insert((Arc::clone(palette), Colors::new(palette))).1,
        }
    }
}

/// Mixes two colors. `share` is the share of `b`, from 0 to 1.
pub(crate) fn mix(a: Rgb, b: Rgb, share: f32) -> Rgb {
    let channel =
        |a: u8, b: u8| (f32::from(a) + (f32::from(b) - f32::from(a)) * share).round() as u8;
    Rgb { r: channel(a.r, b.r), g: channel(a.g, b.g), b: channel(a.b, b.b) }
}

/// The relative luminance of a color (WCAG 2.2).
fn luminance(color: Rgb) -> f32 {
    let linear = |channel: u8| {
        let c = f32::from(channel) / 255.0;
        if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(color.r) + 0.7152 * linear(color.g) + 0.0722 * linear(color.b)
}

/// The contrast ratio of two colors, from 1 to 21 (WCAG 2.2).
fn contrast(a: Rgb, b: Rgb) -> f32 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// Moves `text` toward black or white, in steps, until its contrast with `background` is at least 4.5.
pub(crate) fn readable(text: Rgb, background: Rgb) -> Rgb {
    stepped(text, pole(background), &[background], 4.5)
}

/// Returns black or white, whichever contrasts more with `background`.
fn pole(background: Rgb) -> Rgb {
    let (white, black) = (Rgb::hex(0xffffff), Rgb::hex(0));
    if contrast(white, background) > contrast(black, background) { white } else { black }
}

/// Moves a color toward `goal`, in steps, until its contrast with each of `backgrounds` is at least `wanted`.
fn stepped(color: Rgb, goal: Rgb, backgrounds: &[Rgb], wanted: f32) -> Rgb {
    (0..=20)
        .map(|step| mix(color, goal, step as f32 / 20.0))
        .find(|color| backgrounds.iter().all(|ground| contrast(*color, *ground) >= wanted))
        .unwrap_or(goal)
}

/// Draws a raised surface with a hairline around it.
pub(crate) fn framed(rect: PixelRect, radius: f32, colors: &Colors, scene: &mut Scene<'_>) {
    for (rect, color) in [(grown(rect, 1), colors.hairline), (rect, colors.raised)] {
        scene.quads.push(Quad { rect, color, alpha: 1.0, radius });
    }
}

/// Draws the background of a list's selected row, and a bar at the row's left. Returns the colors for the row's text.
pub(crate) fn selected_row(
    rect: PixelRect,
    geometry: &Geometry,
    colors: &Colors,
    scene: &mut Scene<'_>,
) -> SelectedRow {
    let (row, radius) = (colors.selected(), geometry.px(4.0) as f32);
    scene.quads.push(Quad { rect, color: row.fill, alpha: 1.0, radius });
    let bar = PixelRect { width: geometry.px(3.0), ..rect };
    scene.quads.push(Quad { rect: bar, color: row.bar, alpha: 1.0, radius: 1.0 });
    row
}

/// Returns a rectangle that is `by` pixels larger on each side.
pub(crate) fn grown(rect: PixelRect, by: u32) -> PixelRect {
    PixelRect {
        x: rect.x - by as i32,
        y: rect.y - by as i32,
        width: rect.width + 2 * by,
        height: rect.height + 2 * by,
    }
}

pub(crate) fn quad(rect: PixelRect, color: Rgb) -> Quad {
    Quad { rect, color, alpha: 1.0, radius: 0.0 }
}

/// A label in the font size of the window's own parts.
pub(crate) fn label(
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

    /// All built-in themes, with their names.
    fn themes() -> Vec<(String, Palette)> {
        let nowhere = std::path::Path::new("/nonexistent");
        let names = crate::config::theme::names(nowhere);
        assert!(names.len() >= 32, "{names:?}");
        let palette = |name: &str| crate::config::theme::find(name, nowhere).unwrap().palette;
        names.into_iter().map(|name| (name.clone(), palette(&name))).collect()
    }

    #[test]
    fn chrome_text_is_readable_in_every_theme() {
        for (name, palette) in themes() {
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

    #[test]
    fn the_selected_row_of_a_list_is_seen_in_every_theme() {
        for (name, palette) in themes() {
            let colors = Colors::new(&palette);
            let row = colors.selected();
            let mut checks = vec![
                ("the fill on the list", row.fill, colors.raised, ROW_CONTRAST),
                ("the bar on the list", row.bar, colors.raised, BAR_CONTRAST),
                ("the bar on the fill", row.bar, row.fill, BAR_CONTRAST),
            ];
            for (text, color) in [("text", row.text), ("muted", row.muted), ("accent", row.accent)]
            {
                checks.push((text, color, row.fill, 4.5));
            }
            for (what, color, ground, wanted) in checks {
                let contrast = contrast(color, ground);
                assert!(contrast >= wanted, "{name}: {what} has {contrast:.2}");
            }
        }
    }

    #[test]
    fn the_marked_button_is_seen_in_every_theme() {
        for (name, palette) in themes() {
            let colors = Colors::new(&palette);
            let fill = colors.marked_button();
            for ground in [colors.raised, colors.hairline] {
                let contrast = contrast(fill, ground);
                assert!(contrast >= FOCUS_CONTRAST, "{name}: {contrast:.2}");
            }
            assert!(contrast(readable(colors.surface, fill), fill) >= 4.5, "{name}");
        }
    }

    #[test]
    fn dividers_and_the_focus_are_seen_in_every_theme() {
        for (name, palette) in themes() {
            let colors = Colors::new(&palette);
            for (mark, color, wanted) in [
                ("divider", colors.divider, DIVIDER_CONTRAST),
                ("focus", colors.focus, FOCUS_CONTRAST),
            ] {
                let contrast = contrast(color, colors.surface);
                assert!(contrast >= wanted, "{name}: {mark} has {contrast:.2}");
            }
        }
    }

    #[test]
    fn a_selection_is_seen_and_read_in_every_theme() {
        for (name, palette) in themes() {
            // If a theme has no selection color, selected text swaps text color and background.
            let selection = palette.selection.unwrap_or(palette.foreground);
            let text = palette.selection_text.unwrap_or(match palette.selection {
                Some(_) => palette.foreground,
                None => palette.background,
            });
            let seen = contrast(selection, palette.background);
            assert!(seen >= 1.5, "{name}: a selection has {seen:.2} with the background");
            let read = contrast(text, selection);
            assert!(read >= 4.5, "{name}: selected text has {read:.2}");
        }
    }

    /// The default text is readable in each theme. The setting `text.palette_contrast` ensures this for all other
    /// color pairs, such as those of mc's panels and htop's bars.
    #[test]
    fn text_is_readable_in_every_theme() {
        let floor = crate::config::Config::default().text.palette_contrast;
        assert!(floor >= 3.0);
        for (name, palette) in themes() {
            let contrast = contrast(palette.foreground, palette.background);
            assert!(contrast >= 4.0, "{name}: text has {contrast:.2}");
        }
    }
}
