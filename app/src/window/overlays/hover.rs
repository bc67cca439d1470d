//! The link under the pointer: its underline, and its target at the bottom of the window. A click or a Ctrl+click
//! opens the link, as `links.open_by` sets. Hyperlinks (OSC 8) always react. URLs in plain text react if a plain click
//! opens links, or while Ctrl is held. File names react only while Ctrl is held.
//!
//! Owns how the link is drawn. `links.rs` decides which links may be opened.

use unterm_renderer::{Label, PixelRect};

use crate::window::{
    hovered_link::HoveredLink,
    overlays::{canvas::Canvas, overlay::Overlay},
    ui::{
        colors::{framed, quad},
        geometry::contains,
    },
};

impl Overlay for HoveredLink {
    fn is_raised(&self) -> bool {
        false
    }

    /// Draws the underline of the link, and the target at the bottom of the window.
    fn draw(&self, canvas: &mut Canvas<'_, '_>) {
        // After the pointer last moved, the pane may have been closed, or its tab may have become inactive.
        let Some(area) = canvas.area(self.pane) else { return };
        let (geometry, colors, pointer) = (canvas.geometry, canvas.colors, canvas.pointer);
        let view = canvas.views.get(&self.pane).map(|view| (view, geometry.origin(area)));
        let Canvas { renderer, scene, .. } = canvas;
        if let (Some((view, origin)), Some(range)) = (view, &self.range) {
            let (below, height) = (geometry.cell.underline as i32, geometry.cell.thickness.max(1));
            for cells in view.cells_of(range, origin, geometry) {
                let line = PixelRect { y: cells.y + below, height, ..cells };
                scene.quads.push(quad(line, colors.text));
            }
        }
        let text = shown(&self.uri);
        let (padding, size) = (geometry.px(8.0), geometry.ui_font());
        let content = geometry.content();
        let most = content.width * 2 / 3;
        let wanted = renderer.label_width(&text, size, false).ceil() as u32 + 2 * padding;
        let (width, height) = (wanted.min(most).max(1), geometry.ui_line() + geometry.px(6.0));
        let foot = (content.y + content.height) as i32 - height as i32;
        let mut rect = PixelRect { x: content.x as i32, y: foot, width, height };
        // If the pointer is over the text of the target, show that text at the right side of the window instead.
        if pointer.is_some_and(|(x, y)| contains(rect, x, y)) {
            rect.x = (content.x + content.width - width) as i32;
        }
        framed(rect, 0.0, colors, scene);
        scene.labels.push(Label {
            rect: PixelRect {
                x: rect.x + padding as i32,
                width: width.saturating_sub(2 * padding),
                ..rect
            },
            text,
            color: colors.text,
            size,
            ..Label::default()
        });
    }
}

/// Makes a target safe to show: replaces control characters, invisible characters, and characters that change the
/// direction of text.
fn shown(uri: &str) -> String {
    let hides = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    uri.chars().map(|c| if hides(c) { '\u{fffd}' } else { c }).collect()
}

/// Makes a message of several lines safe to show, if it contains a target.
pub(crate) fn shown_lines(text: &str) -> String {
    text.lines().map(shown).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_can_not_hide_what_it_is() {
        assert_eq!(shown("https://a\u{202e}b\u{200b}c\x1b"), "https://a\u{fffd}b\u{fffd}c\u{fffd}");
    }
}
