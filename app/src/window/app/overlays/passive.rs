//! Overlays that receive no input: marks of commands, the target of a link, the tooltip of the status bar, and the
//! keys of an unfinished sequence.

use unterm_renderer::{LabelAlign, PixelRect};

use crate::window::{
    app::{App, overlays::layer::Layer},
    overlays::canvas::Canvas,
    surface::plan::Drawn,
    ui::{
        colors::{framed, label},
        geometry::pixels,
    },
};

/// The overlay of commands' marks and buttons, and of the sticky header.
pub(crate) struct BlocksLayer;

impl Layer for BlocksLayer {
    fn is_open(&self, _: &App) -> bool {
        true
    }

    /// Marks don't prevent a frame of text: such a frame checks that the visible commands are unchanged.
    fn lies_over_text(&self, _: &App) -> bool {
        false
    }

    fn is_raised(&self) -> bool {
        false
    }

    fn draw(&self, drawn: &Drawn<'_>, canvas: &mut Canvas<'_, '_>) {
        for (id, area) in canvas.placed {
            let Some(view) = canvas.views.get(id) else { continue };
            let hovered = drawn.overlays.block_hover.filter(|(pane, _)| pane == id);
            let hovered = hovered.map(|(_, block)| block);
            let matches = match &drawn.plan.matches {
                (Some(pane), matches) if pane == id => &matches[..],
                _ => &[],
            };
            // A target under the header may have a hint label, which the header would cover.
            let is_hinting = drawn.overlays.hints.as_ref().is_some_and(|hints| hints.pane == *id);
            let header =
                (drawn.prefs.config.commands.sticky_header && !is_hinting).then_some(matches);
            let shows = (drawn.prefs.config.commands.marks, header);
            let (area, look) = (pixels(*area), (canvas.geometry, canvas.colors));
            view.draw_blocks(area, hovered, canvas.pointer, shows, look, canvas.scene);
        }
    }
}

/// The overlay with the target of the link under the pointer.
pub(crate) struct LinkLayer;

impl Layer for LinkLayer {
    fn is_open(&self, app: &App) -> bool {
        app.overlays.hovered.is_some()
    }

    fn is_raised(&self) -> bool {
        false
    }

    fn draw(&self, drawn: &Drawn<'_>, canvas: &mut Canvas<'_, '_>) {
        let Some(hovered) = &drawn.overlays.hovered else { return };
        // After the pointer last moved, the pane may have been closed, or its tab may have become inactive.
        let Some(area) = canvas.area(hovered.pane) else { return };
        let (geometry, colors) = (canvas.geometry, canvas.colors);
        let view = canvas.views.get(&hovered.pane).map(|view| (view, geometry.origin(area)));
        hovered.draw(view, geometry, colors, canvas.pointer, canvas.renderer, canvas.scene);
    }
}

/// The overlay with the tooltip of the status bar's item under the pointer.
pub(crate) struct TooltipLayer;

impl Layer for TooltipLayer {
    fn is_open(&self, _: &App) -> bool {
        true
    }

    /// The tooltip appears and disappears only with whole frames.
    fn lies_over_text(&self, _: &App) -> bool {
        false
    }

    fn draw(&self, drawn: &Drawn<'_>, canvas: &mut Canvas<'_, '_>) {
        drawn.chrome.status_bar.draw_tooltip(canvas.colors, canvas.renderer, canvas.scene);
    }
}

/// The overlay with the keys of an unfinished sequence, while the next key is awaited.
pub(crate) struct SequenceLayer;

impl Layer for SequenceLayer {
    fn is_open(&self, app: &App) -> bool {
        app.input.sequence.has_begun()
    }

    fn draw(&self, drawn: &Drawn<'_>, canvas: &mut Canvas<'_, '_>) {
        if !drawn.input.sequence.has_begun() {
            return;
        }
        let (geometry, text) = (canvas.geometry, drawn.input.sequence.shown());
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
