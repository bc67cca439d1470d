//! Links under the pointer: underlines them, shows their target at the bottom of the window and opens them on a click
//! or a Ctrl+click (`links.open_by`). Hyperlinks (OSC 8) always react, URLs in plain text if a plain click opens links
//! or while Ctrl is held, and file names only while Ctrl is held.
//!
//! Owns which link is under the pointer. `links.rs` decides which links may be opened.

use unterm_mux::PaneId;
use unterm_renderer::{Label, PixelRect, Renderer, Scene};
use unterm_term::{MouseTracking, TextRange};

use super::{
    App,
    chrome::{Colors, framed, quad},
    errand::Done,
    geometry::{Geometry, contains},
    targets,
    view::View,
};
use crate::{config::OpenBy, links};

/// The link under the pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hovered {
    pub(super) pane: PaneId,
    uri: String,
    /// The cells of a link in plain text; the renderer underlines hyperlinks (OSC 8).
    range: Option<TextRange>,
    /// Whether the link names a file, which opens in the user's editor.
    is_file: bool,
}

impl Hovered {
    pub(super) fn uri(&self) -> &str {
        &self.uri
    }

    pub(super) fn is_file(&self) -> bool {
        self.is_file
    }

    /// Draws the underline and the target.
    pub(super) fn draw(
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

impl App {
    /// Finds the link at pixel `x`, `y` of a pane's grid; returns true if a click opens it.
    pub(super) fn hover(&mut self, pane: PaneId, x: f64, y: f64) -> bool {
        let ctrl = self.modifiers.control_key();
        let link = self.link_under(pane, x, y, ctrl);
        let is_link = link.is_some();
        if self.hovered != link {
            if let Some(old) = self.hovered.as_ref().and_then(|old| self.views.get_mut(&old.pane)) {
                old.hovered_link = None;
            }
            let cell = self.cell();
            if let Some(view) = self.views.get_mut(&pane).filter(|_| is_link) {
                view.hovered_link = view.link_at(x, y, cell);
            }
            self.hovered = link;
            self.pacing.ask();
        }
        is_link && (ctrl || self.opens_by_click())
    }

    fn opens_by_click(&self) -> bool {
        self.config.links.open_by == OpenBy::Click
    }

    /// Clears the hovered link.
    pub(super) fn end_hover(&mut self) {
        if let Some(old) = self.hovered.take() {
            if let Some(view) = self.views.get_mut(&old.pane) {
                view.hovered_link = None;
            }
            self.pacing.ask();
        }
    }

    /// The link at a pixel: a hyperlink (OSC 8), else a URL in the text that a click opens, or with `ctrl` a file name.
    pub(super) fn link_under(&self, pane: PaneId, x: f64, y: f64, ctrl: bool) -> Option<Hovered> {
        let cell = self.cell();
        let view = self.views.get(&pane)?;
        let inside =
            x >= 0.0 && x < f64::from(u32::from(view.snapshot.size.cols) * cell.0) && y >= 0.0;
        // If a program tracks the mouse, it receives the click, unless Shift is held.
        let is_ours =
            view.snapshot.mouse_tracking == MouseTracking::Off || self.modifiers.shift_key();
        if !inside || !is_ours {
            return None;
        }
        if let Some(link) = view.link_at(x, y, cell) {
            return Some(Hovered { pane, uri: link.uri, range: None, is_file: false });
        }
        if !ctrl && !self.opens_by_click() {
            return None;
        }
        let target = targets::clicked(&view.snapshot.rows, view.spot(x, y, cell)?.cell, ctrl)?;
        let is_file = target.kind == targets::Kind::Path;
        Some(Hovered { pane, uri: target.text, range: Some(target.range), is_file })
    }

    /// Opens the link at a pixel, as a Ctrl+click does; returns false if there is none.
    pub(super) fn open_link(&mut self, pane: PaneId, x: f64, y: f64) -> bool {
        let Some(link) = self.link_under(pane, x, y, true) else { return false };
        self.open_hovered(&link);
        true
    }

    /// The link at a pixel, if a plain click opens it. In a URL on the shell's command line, a click moves the cursor.
    pub(super) fn clicked_link(&self, pane: PaneId, x: f64, y: f64) -> Option<Hovered> {
        let link = self.link_under(pane, x, y, false).filter(|_| self.opens_by_click())?;
        let pane = self.mux.pane(pane)?;
        let is_typed = link.range.is_some() && self.keys_to_click(&pane, x, y).is_some();
        (!is_typed).then_some(link)
    }

    /// Opens a link, or edits the file that it names.
    pub(super) fn open_hovered(&mut self, link: &Hovered) {
        match link.is_file {
            true => self.edit_file(link.pane, &link.uri),
            false => self.open_target(&link.uri),
        }
    }

    /// Opens a link with the desktop's default program, or shows why it may not be opened.
    pub(super) fn open_target(&mut self, uri: &str) {
        let (uri, schemes) = (uri.to_owned(), self.config.links.schemes.clone());
        self.errand("link", move || match links::open(&uri, &schemes) {
            Ok(()) => Done::Nothing,
            Err(why) => Done::Failed("link", shown_lines(&why)),
        });
    }
}

/// A message that is safe to show although it contains a target.
fn shown_lines(text: &str) -> String {
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
