//! Draws the search bar.

use unterm_renderer::{Label, LabelAlign, PixelRect, Preedit, Renderer, Scene};

use crate::window::{
    overlays::search::{Button, Places, SearchBar},
    ui::{
        colors::{Colors, framed, label, quad},
        geometry::Geometry,
    },
};

/// The width of the search bar, in logical pixels.
const WIDTH: f32 = 420.0;

impl SearchBar {
    /// Draws the bar at the top right of the pane at `area`, with the input method's preedit text. If the bar would
    /// cover any rectangle in `seen`, it is drawn at the bottom right. Returns the rectangle of the cursor.
    pub(crate) fn draw_bar(
        &self,
        preedit: Option<&Preedit>,
        (geometry, colors): (&Geometry, &Colors),
        (area, seen): (PixelRect, &[PixelRect]),
        pointer: Option<(f64, f64)>,
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
        let label = |rect, text: &str, color| label(geometry, rect, text, color, LabelAlign::Left);
        // If the pane is too narrow, the buttons are left out first.
        let side = geometry.ui_line() + geometry.px(2.0);
        let shows_buttons = inside.width > note + 5 * side;
        let buttons = if shows_buttons { 3 * side } else { 0 };
        let room = inside.width.saturating_sub(note + buttons);
        let at = |x: u32, width: u32| PixelRect { x: inside.x + x as i32, width, ..inside };
        let first = inside.width.saturating_sub(buttons);
        let button = |index: u32| at(first + index * side, if shows_buttons { side } else { 0 });
        let places = Places {
            bar: rect,
            kind: at(room, note),
            previous: button(0),
            next: button(1),
            close: button(2),
        };
        self.places.set(places);
        let pointed = pointer.and_then(|(x, y)| places.button(x, y));
        let color = |of| if pointed == Some(of) { colors.text } else { colors.muted };
        let kind = PixelRect { width: note.saturating_sub(padding / 2), ..places.kind };
        let note = label(kind, &count, color(Button::Kind));
        scene.labels.push(Label { align: LabelAlign::Right, ..note });
        if shows_buttons {
            for (rect, sign, of) in [
                (places.previous, "↑", Button::Previous),
                (places.next, "↓", Button::Next),
                (places.close, "×", Button::Close),
            ] {
                let sign = label(rect, sign, color(of));
                scene.labels.push(Label { align: LabelAlign::Center, ..sign });
            }
        }
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
