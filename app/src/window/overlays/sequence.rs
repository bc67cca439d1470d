//! The overlay with the keys of an unfinished sequence, while the next key is awaited.

use unterm_renderer::{LabelAlign, PixelRect};

use crate::window::{
    input::sequence::Sequence,
    overlays::{canvas::Canvas, overlay::Overlay},
    ui::colors::{framed, label},
};

impl Overlay for Sequence {
    fn draw(&self, canvas: &mut Canvas<'_, '_>) {
        let (geometry, text) = (canvas.geometry, self.shown());
        let (padding, content) = (geometry.px(8.0), geometry.content());
        let wanted = canvas.renderer.label_width(&text, geometry.ui_font(), false).ceil() as u32;
        let width = (wanted + 2 * padding).min(content.width).max(1);
        let height = geometry.ui_line() + geometry.px(6.0);
        let rect = PixelRect {
            x: (content.x + content.width - width) as i32,
            y: (content.y + content.height) as i32 - height as i32,
            width,
            height,
        };
        framed(rect, 0.0, canvas.colors, canvas.scene);
        let inside = PixelRect {
            x: rect.x + padding as i32,
            width: width.saturating_sub(2 * padding),
            ..rect
        };
        let color = canvas.colors.text;
        canvas.scene.labels.push(label(geometry, inside, &text, color, LabelAlign::Left));
    }
}
