//! Selects text: with the mouse, or everything in a pane.

use unterm_mux::{PaneId, input::Modifiers};
use unterm_term::{LineId, Point, TextRange};

use crate::window::{
    cx::Cx,
    input::pointer::{DOUBLE_CLICK, Target},
    wish::Wish,
    workspace::{
        hit_test::target_in,
        selection::{Selection, Unit},
    },
};

/// Begins a selection at a point of a pane. With Shift held, extends the selection to that point.
pub(crate) fn begin(target: &Target, modifiers: Modifiers, cx: &mut Cx<'_>) {
    let cell = cx.cell();
    let Some(pane) = cx.mux.pane(target.id) else { return };
    let Some(view) = cx.views.get_mut(&target.id) else { return };
    // The mouse replaces the selection of copy mode. The scroll position does not change.
    let has_copy_mode = view.end_copy_mode();
    let separators = &cx.prefs.config.mouse.word_separators;
    let spot = view.spot(target.x, target.y, cell);
    if let Some(spot) = spot {
        if modifiers.contains(Modifiers::SHIFT)
            && let Some(selection) = &mut view.selection
        {
            selection.extend(spot, &pane.term(), separators);
        } else {
            let now = cx.now;
            let clicks = match cx.pointer.click {
                Some((time, id, point, count))
                    if id == target.id && point == spot.cell && now - time < DOUBLE_CLICK =>
                {
                    count % 3 + 1
                }
                _ => 1,
            };
            cx.pointer.deferred = None;
            cx.pointer.click = Some((now, target.id, spot.cell, clicks));
            let unit = match clicks {
                2 => Unit::Word,
                3 => Unit::Line,
                _ if modifiers.contains(Modifiers::ALT) => Unit::Block,
                _ => Unit::Cell,
            };
            view.selection = Some(Selection::begin(unit, spot, &pane.term(), separators));
        }
        cx.pointer.selecting = Some(target.id);
        for (id, view) in cx.views.iter_mut() {
            if *id != target.id {
                view.selection = None;
            }
        }
    }
    if has_copy_mode {
        cx.wish(Wish::EndCopySearch);
    }
}

/// Extends the selection of a pane to the pointer.
pub(crate) fn extend(pane: PaneId, cx: &mut Cx<'_>) {
    let cell = cx.cell();
    let Some(target) = target_in(pane, cx) else { return };
    let Some(pane) = cx.mux.pane(pane) else { return };
    let Some(view) = cx.views.get_mut(&target.id) else { return };
    let Some(spot) = view.spot(target.x, target.y, cell) else { return };
    if let Some(selection) = &mut view.selection {
        selection.extend(spot, &pane.term(), &cx.prefs.config.mouse.word_separators);
    }
}

/// Scrolls while the user drags a selection beyond the upper or lower edge of its pane.
pub(crate) fn scroll_at_edge(cx: &mut Cx<'_>) {
    let Some(pane) = cx.pointer.selecting else { return };
    let Some(target) = target_in(pane, cx) else { return };
    let (_, height) = cx.cell();
    let Some(view) = cx.views.get_mut(&pane) else { return };
    let bottom = f64::from(u32::from(view.snapshot.size.rows) * height);
    let beyond = if target.y < 0.0 { target.y } else { (target.y - bottom).max(0.0) };
    if beyond != 0.0 {
        let lines = (beyond / f64::from(height)).clamp(-10.0, 10.0);
        view.scroll(if lines < 0.0 { lines.floor() as i64 } else { lines.ceil() as i64 });
        if let Some(pane) = cx.mux.pane(pane) {
            cx.fresh_view(&pane);
        }
        extend(pane, cx);
    }
}

/// Selects the focused pane's history and screen, from the oldest line to the last line with text.
pub(crate) fn select_all(cx: &mut Cx<'_>) {
    let Some(pane) = cx.focused_pane() else { return };
    let Some(view) = cx.views.get_mut(&pane.id()) else { return };
    let term = pane.term();
    let size = term.size();
    let (oldest, end) = (term.oldest(), term.live_top().0 + u64::from(size.rows));
    let mut text = String::new();
    let has_text = |line: &u64| {
        text.clear();
        term.row_text(LineId(*line), &mut text) && !text.trim_end().is_empty()
    };
    let last = (oldest.0..end).rev().find(has_text);
    let range = last.map(|line| TextRange {
        start: Point { line: oldest, col: 0 },
        end: Point { line: LineId(line), col: size.cols.saturating_sub(1) },
        block: false,
    });
    view.selection = range.map(|range| Selection::of(range, term.seq()));
}
