//! Draws the search's bar.

use unterm_renderer::{Label, LabelAlign, PixelRect, Preedit, Renderer, Scene};

use crate::window::{
    overlays::search::SearchBar,
    ui::{
        colors::{Colors, framed, label, quad},
        geometry::Geometry,
    },
};

/// Width of the bar in logical pixels.
const WIDTH: f32 = 340.0;

impl SearchBar {
    /// Draws the bar at the top right of the pane at `area`, or at its bottom right if it would cover any of `seen`.
    /// Includes the input method's preedit text. Returns the rectangle of the cursor.
    pub(crate) fn draw(
        &self,
        preedit: Option<&Preedit>,
        (geometry, colors): (&Geometry, &Colors),
        (area, seen): (PixelRect, &[PixelRect]),
        renderer: &mut Renderer,
        scene: &mut Scene<'_>,
    ) -> PixelRect {
        let padding = geometry.px(8.0);
        let line = geometry.ui_line() + geometry.px(10.0);
        let width = geometry.px(WIDTH).min(area.width.saturating_sub(2 * padding)).max(1);
        let height = if self.problem.is_some() { 2 * line } else { line };
        let rect = geometry.corner(area, (width, height), seen);
        let radius = geometry.px(6.0) as f32;
        framed(rect, radius, colors, scene);
        let size = geometry.ui_font();
        let inside = PixelRect {
            x: rect.x + padding as i32,
            width: width.saturating_sub(2 * padding),
            height: line,
            ..rect
        };
        let count = self.count();
        let note = renderer.label_width(&count, size, false).ceil() as u32 + padding;
        let room = inside.width.saturating_sub(note);
        let label = |rect, text: &str, color| label(geometry, rect, text, color, LabelAlign::Left);
        let left = inside.x + room as i32;
        self.places.set((rect, PixelRect { x: left, width: note, ..inside }));
        let note = label(inside, &count, colors.muted);
        scene.labels.push(Label { align: LabelAlign::Right, ..note });
        let typed = PixelRect { width: room, ..inside };
        let caret = self.line.draw(("Search", preedit), (geometry, colors), typed, renderer, scene);
        if !self.is_accepted {
            scene.quads.push(quad(caret, colors.accent));
        }
        if let Some(problem) = &self.problem {
            let below = PixelRect { y: inside.y + line as i32, ..inside };
            scene.labels.push(label(below, problem, colors.danger_text));
        }
        caret
    }
}
