//! Draws the marks of panes, below all overlays: the mark of copy mode, the marks and buttons of commands, and the
//! sticky header.

use crate::window::{
    overlays::canvas::Canvas, surface::plan::Drawn, ui::geometry::pixels,
    workspace::copy_mode::Mark,
};

/// Draws copy mode's mark in the corner of each pane that is in copy mode.
pub(crate) fn draw_copy_modes(drawn: &Drawn<'_>, canvas: &mut Canvas<'_, '_>) {
    for (id, area) in canvas.placed {
        let is_searched = drawn.overlays.search.of(*id).is_some();
        let view = canvas.views.get(id);
        let mark = view.and_then(|view| match &view.copy {
            Some(copy) => Some(copy.mark()),
            None => view.signals.has_lost_copy_mode.then(Mark::lost),
        });
        if let Some(mark) = mark.filter(|_| !is_searched) {
            let seen = canvas.seen(*id, *area, None);
            let place = (pixels(*area), &seen[..]);
            let (geometry, colors) = (canvas.geometry, canvas.colors);
            mark.draw(geometry, place, colors, canvas.renderer, canvas.scene);
        }
    }
}

/// Draws the commands' marks and buttons, and the sticky header.
pub(crate) fn draw_commands(drawn: &Drawn<'_>, canvas: &mut Canvas<'_, '_>) {
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
        let header = (drawn.prefs.config.commands.sticky_header && !is_hinting).then_some(matches);
        let shows = (drawn.prefs.config.commands.marks, header);
        let (area, look) = (pixels(*area), (canvas.geometry, canvas.colors));
        view.draw_blocks(area, hovered, canvas.pointer, shows, look, canvas.scene);
    }
}
