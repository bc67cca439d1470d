//! The link under the pointer: its underline, and its target at the bottom of the window. A click or a Ctrl+click opens
//! it (`links.open_by`). Hyperlinks (OSC 8) always react, URLs in plain text if a plain click opens links or while Ctrl
//! is held, and file names only while Ctrl is held.
//!
//! Owns which link is under the pointer. `links.rs` decides which links may be opened.

use unterm_mux::PaneId;
use unterm_renderer::{Label, PixelRect, Renderer, Scene};
use unterm_term::TextRange;

use crate::window::{
    ui::{
        colors::{Colors, framed, quad},
        geometry::{Geometry, contains},
    },
    workspace::view::View,
};

/// The link under the pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hovered {
    pub(crate) pane: PaneId,
    pub(crate) uri: String,
    /// The cells of a link in plain text; the renderer underlines hyperlinks (OSC 8).
    pub(crate) range: Option<TextRange>,
    /// Whether the link names a file, which opens in the user's editor.
    pub(crate) is_file: bool,
}

impl Hovered {
    pub(crate) fn uri(&self) -> &str {
        &self.uri
    }

    pub(crate) fn is_file(&self) -> bool {
        self.is_file
    }

    /// Draws the underline and the target.
    pub(crate) fn draw(
        &self,
        view: Option<(&View, (i32, i32))>,
        geometry: &Geometry,
        colors: &Colors,
        pointer: Option<(f64, f64)>,
        renderer: &mut Renderer,
        scene: &mut Scene<'_>,
    ) {
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
        // Keep clear of the pointer.
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

/// A target that is safe to show: control, invisible and direction-changing characters are replaced.
fn shown(uri: &str) -> String {
    let hides = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    uri.chars().map(|c| if hides(c) { '\u{fffd}' } else { c }).collect()
}

/// A message that is safe to show although it contains a target.
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
