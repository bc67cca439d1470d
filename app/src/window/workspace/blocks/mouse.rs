//! The mouse on commands: shows and presses the commands' buttons, and handles clicks at the prompt.

use unterm_mux::{Pane, PaneId};
use unterm_renderer::Highlight;

use crate::window::{
    cx::Cx,
    redraw::Redraw,
    ui::geometry::{contains, pixels},
    workspace::{
        blocks::{actions::act_on, layout::BlockLayout},
        selection::Selection,
    },
};

/// The pane and id of the command whose buttons are shown.
pub(crate) type HoveredBlock = Option<(PaneId, u64)>;

/// Shows or hides the buttons of a command, after the pointer moved to a point of the window. Returns the frame that is
/// due.
pub(crate) fn hover(hovered: &mut HoveredBlock, x: f64, y: f64, cx: &Cx<'_>) -> Redraw {
    let before = hovered.take();
    if let Some(geometry) = cx.geometry.filter(|_| cx.prefs.config.commands.marks) {
        for (pane, area) in cx.placed() {
            let Some(view) = cx.views.get(&pane) else { continue };
            let area = pixels(area);
            *hovered = hovered.or_else(|| {
                view.blocks_in_rows().find_map(|(row, block)| {
                    let place = BlockLayout::new(view, (row, block), area, &geometry);
                    let known = before == Some((pane, block.id));
                    let over = contains(place.edge(&geometry), x, y)
                        || known && (contains(place.row, x, y) || contains(place.bar, x, y));
                    over.then_some((pane, block.id))
                })
            });
        }
    }
    Redraw::if_changed(before.is_some() || hovered.is_some())
}

/// Handles a left press at a point of the window. `matches` are the highlighted matches of the searched pane. Returns
/// true if the press hit the mark, the buttons or the header of a command.
pub(crate) fn press(
    hovered: HoveredBlock,
    (searched, matches): &(Option<PaneId>, Vec<Highlight>),
    x: f64,
    y: f64,
    cx: &mut Cx<'_>,
) -> bool {
    let Some(geometry) = cx.geometry else { return false };
    for (id, area) in cx.placed() {
        let area = pixels(area);
        let Some(view) = cx.views.get_mut(&id) else { continue };
        let matches = if *searched == Some(id) { &matches[..] } else { &[] };
        if cx.prefs.config.commands.sticky_header
            && let Some((header, rect)) = view.kept_header(area, &geometry, matches)
            && contains(rect, x, y)
        {
            let line = header.line;
            view.show_at_top(line);
            return true;
        }
        let notes = view.fold_notes(area, &geometry);
        if let Some(note) = notes.iter().find(|note| contains(note.rect, x, y)) {
            let first = note.first;
            view.change_folds(|folds| folds.reveal(first));
            return true;
        }
        let Some((pane, block)) = hovered.filter(|(pane, _)| *pane == id) else { continue };
        let row = view.blocks_in_rows().find(|(_, one)| one.id == block);
        let Some(place) = row.map(|row| BlockLayout::new(view, row, area, &geometry)) else {
            continue;
        };
        if let Some((part, _)) = place.parts.iter().find(|(_, rect)| contains(*rect, x, y)) {
            if let Some(pane) = cx.mux.pane(pane) {
                act_on(&pane, block, *part, cx);
            }
            return true;
        }
        if contains(place.edge(&geometry), x, y) {
            view.blocks.current = Some(block);
            select_output_of(id, block, cx);
            return true;
        }
    }
    false
}

fn select_output_of(pane: PaneId, block: u64, cx: &mut Cx<'_>) {
    let Some(own) = cx.mux.pane(pane) else { return };
    let (range, seq) = {
        let term = own.term();
        (term.output_range(block), term.seq())
    };
    if let (Some(range), Some(view)) = (range, cx.views.get_mut(&pane)) {
        view.selection = Some(Selection::of(range, seq));
    }
}

/// The keys that move the shell's cursor to a point of the pane. `None` if a click there does not move the cursor.
pub(crate) fn keys_to_click(pane: &Pane, x: f64, y: f64, cx: &Cx<'_>) -> Option<Vec<u8>> {
    let view = cx.views.get(&pane.id())?;
    if !cx.prefs.config.commands.click_to_move || x < 0.0 || y < 0.0 || view.is_scrolled() {
        return None;
    }
    let spot = view.spot(x, y, cx.cell())?;
    pane.term().prompt_click(spot.cell)
}
