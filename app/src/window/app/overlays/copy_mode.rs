//! The effects of copy mode's keys on a pane's view.

use unterm_mux::{
    Pane, PaneId,
    input::{self, Key, Modifiers},
};
use unterm_term::{LineId, Point};

use crate::copy_command::{CopyCommand, Find, Motion};
use crate::window::{
    app::{App, overlays::layer::Layer},
    input::{buffer::Buffer, keys::Pressed},
    overlays::{canvas::Canvas, overlay::Press, taker::Taker},
    surface::plan::Drawn,
    ui::geometry::pixels,
    workspace::copy_mode::{CopyMode, Mark, motion::Text, target},
};

/// The maximum count that the user can type.
const COUNT_CAP: u32 = 99_999;

/// The overlay with copy mode's mark in the pane's corner.
pub(crate) struct CopyModeLayer;

impl Layer for CopyModeLayer {
    fn is_open(&self, app: &App) -> bool {
        app.is_copying()
    }

    fn is_raised(&self) -> bool {
        false
    }

    fn taker(&self) -> Option<Taker> {
        Some(Taker::Nobody)
    }

    fn key(&self, app: &mut App, press: &Press<'_>) -> bool {
        if matches!(press.pressed.key, Key::Modifier(..)) {
            return false;
        }
        if !app.copy_mode_key(press.pressed, press.modifiers)
            && let Some(bound) = app.prefs.bound(press.pressed, press.modifiers)
        {
            app.act_by_key(bound, press.modifiers);
        }
        true
    }

    fn draw(&self, drawn: &Drawn<'_>, canvas: &mut Canvas<'_, '_>) {
        for (id, area) in canvas.placed {
            let is_searched =
                drawn.overlays.search.as_ref().is_some_and(|search| search.pane == *id);
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
}

impl App {
    /// Turns copy mode in the focused pane on or off. Copy mode starts at the current match if a search is open,
    /// otherwise with the current selection, otherwise at the program's cursor.
    pub(crate) fn toggle_copy_mode(&mut self) {
        let Some(pane) = self.focused_pane() else { return };
        let found = self.overlays.search.as_ref().filter(|search| search.pane == pane.id());
        let found = found.and_then(|search| search.range());
        let Some(view) = self.fresh_view(&pane) else { return };
        if view.copy.is_some() && found.is_none() {
            return self.leave_copy_mode(&pane);
        }
        let snapshot = &view.snapshot;
        let (Some(first), Some(last)) = (snapshot.rows.first(), snapshot.rows.last()) else {
            return;
        };
        let selected = view.selection.and_then(|selection| selection.range);
        let shown = snapshot.rows.get(usize::from(snapshot.cursor.row));
        let here = shown.map_or(Point { line: last.line, col: 0 }, |row| Point {
            line: row.line,
            col: snapshot.cursor.col.min(snapshot.size.cols - 1),
        });
        let top = first.line;
        let mode = match (found, selected) {
            (Some(range), _) => CopyMode::with(range, false),
            (None, Some(range)) => CopyMode::with(range, true),
            (None, None) => CopyMode::new(here),
        };
        view.begin_copy_mode(mode, top);
        if let Some(search) = self.overlays.search.as_mut().filter(|_| found.is_some()) {
            search.is_accepted = true;
        }
        self.surface.pacing.ask();
    }

    /// Leaves copy mode and shows the live screen.
    pub(crate) fn leave_copy_mode(&mut self, pane: &Pane) {
        if self.end_copy_mode(pane.id())
            && let Some(view) = self.workspace.views.get_mut(&pane.id())
        {
            view.scroll_to_live();
            view.selection = None;
        }
    }

    /// Leaves copy mode without scrolling. Returns false if copy mode was off.
    pub(crate) fn end_copy_mode(&mut self, pane: PaneId) -> bool {
        let Some(view) = self.workspace.views.get_mut(&pane) else { return false };
        let was_lost = std::mem::take(&mut view.signals.has_lost_copy_mode);
        if view.copy.take().is_none() && !was_lost {
            return false;
        }
        view.copy_anew();
        if self.overlays.search.as_ref().is_some_and(|search| search.is_of_copy_mode()) {
            self.close_search();
        }
        self.surface.pacing.ask();
        true
    }

    /// Whether copy mode receives the keys of the focused pane.
    pub(crate) fn is_copying(&self) -> bool {
        let focused = self.mux.layout().active_tab().map(|tab| tab.focused);
        let view = focused.and_then(|id| self.workspace.views.get(&id));
        view.is_some_and(|view| view.copy.is_some() || view.signals.has_lost_copy_mode)
    }

    /// Handles a key after copy mode has ended because the program switched screens. Keys of copy mode's commands are
    /// ignored, and the key that leaves copy mode ends this state. Returns false if the key is not bound in copy mode.
    fn lost_copy_mode_key(&mut self, pane: PaneId, pressed: Pressed, modifiers: Modifiers) -> bool {
        let typed = pressed.key.off_keypad();
        let latin = input::latin(pressed.unshifted, pressed.base).map(Key::Char);
        let keys = [typed].into_iter().chain(latin);
        let command = self.prefs.copy_keys.get(modifiers, keys);
        if command == Some(CopyCommand::Leave) {
            self.end_copy_mode(pane);
        }
        command.is_some()
    }

    /// Handles a key in copy mode. Returns false if the key is not bound in copy mode.
    pub(crate) fn copy_mode_key(&mut self, pressed: Pressed, modifiers: Modifiers) -> bool {
        let Some(pane) = self.focused_pane() else { return false };
        let Some(view) = self.workspace.views.get_mut(&pane.id()) else { return false };
        if view.signals.has_lost_copy_mode {
            return self.lost_copy_mode_key(pane.id(), pressed, modifiers);
        }
        let Some(copy) = &mut view.copy else { return false };
        let typed = pressed.key.off_keypad();
        if let Some((find, count)) = copy.finding.take() {
            if let (Key::Char(wanted), true) = (typed, (modifiers - Modifiers::SHIFT).is_empty()) {
                copy.found = Some((find, wanted));
                self.find_character(&pane, (find, wanted), count, false);
            }
            self.surface.pacing.ask();
            return true;
        }
        if let (Key::Char(c), true) = (typed, modifiers.is_empty())
            && let Some(digit) = c.to_digit(10).filter(|digit| *digit > 0 || copy.count > 0)
        {
            copy.count = (copy.count * 10 + digit).min(COUNT_CAP);
            self.surface.pacing.ask();
            return true;
        }
        let latin = input::latin(pressed.unshifted, pressed.base).map(Key::Char);
        let Some(command) = self.prefs.copy_keys.get(modifiers, [typed].into_iter().chain(latin))
        else {
            return false;
        };
        let count = std::mem::take(&mut copy.count);
        let goes_to_oldest = command == CopyCommand::Move(Motion::Oldest);
        let was_numbered = std::mem::replace(&mut copy.numbered, goes_to_oldest && count > 0);
        self.surface.pacing.ask();
        // In vi, the user types `5gg` to go to line 5. Here the first `g` has already moved to line 5, so the second
        // `g` must not move to the oldest line.
        if !(was_numbered && goes_to_oldest && count == 0) {
            self.copy_command(&pane, command, count);
        }
        true
    }

    fn copy_command(&mut self, pane: &Pane, command: CopyCommand, count: u32) {
        let Some(view) = self.fresh_view(pane) else { return };
        let rows = view.rows_in_sight();
        let Some(copy) = &mut view.copy else { return };
        match command {
            CopyCommand::Move(motion) => {
                let to = target(copy, pane, motion, count, rows);
                let keeps = matches!(motion, Motion::Up | Motion::Down);
                copy.cursor = to;
                if !keeps {
                    copy.wanted = if motion == Motion::LineEnd { u16::MAX } else { to.col };
                }
                view.follow(to.line);
            }
            CopyCommand::Find(find) => copy.finding = Some((find, count)),
            CopyCommand::FindAgain(same) => {
                if let Some((find, wanted)) = copy.found {
                    let find = Find { forward: find.forward == same, ..find };
                    self.find_character(pane, (find, wanted), count, true);
                }
            }
            CopyCommand::HalfPages(halves) => {
                let height = i64::from(view.snapshot.size.rows);
                let by = height * i64::from(halves) * i64::from(count.max(1)) / 2;
                let line = LineId(copy.cursor.line.0.saturating_add_signed(by));
                let mut text = Text::new(pane.term().lines());
                copy.cursor = text.settle(line, copy.wanted);
                let line = copy.cursor.line;
                view.scroll(by);
                view.follow(line);
            }
            CopyCommand::Rows(by) => {
                view.scroll(i64::from(by) * i64::from(count.max(1)));
                let (first, last) = view.rows_in_sight();
                if let Some(copy) = &mut view.copy {
                    copy.cursor.line = copy.cursor.line.clamp(first, last);
                }
            }
            CopyCommand::Select(kind) => {
                copy.anchor = match copy.anchor {
                    Some(_) if copy.kind == kind => None,
                    Some(anchor) => Some(anchor),
                    None => Some(copy.cursor),
                };
                copy.kind = kind;
            }
            CopyCommand::SwapEnds => {
                if let Some(anchor) = copy.anchor {
                    copy.anchor = Some(copy.cursor);
                    copy.put(anchor);
                    view.follow(anchor.line);
                }
            }
            CopyCommand::Yank => self.yank(pane),
            CopyCommand::Search(forward) => {
                copy.forward = forward;
                let origin = copy.cursor;
                self.search_from_copy_mode(pane.id(), origin, forward);
            }
            CopyCommand::NextMatch(same) => {
                let (at, forward) = (copy.cursor, copy.forward == same);
                self.next_match(pane, at, forward, count.max(1));
            }
            CopyCommand::Leave => self.leave_copy_mode(pane),
        }
    }

    /// Moves to the `count`th character `wanted` in the line, if the line contains it. `again` is set if a find is
    /// repeated.
    fn find_character(
        &mut self,
        pane: &Pane,
        (find, wanted): (Find, char),
        count: u32,
        again: bool,
    ) {
        let copy = self.workspace.views.get(&pane.id()).and_then(|view| view.copy.as_ref());
        let Some(at) = copy.map(|copy| copy.cursor) else { return };
        let mut text = Text::new(pane.term().lines());
        if let Some(to) = text.find(find, wanted, at, count.max(1), again) {
            self.put_copy_cursor(pane, to);
        }
    }

    /// Moves the cursor of copy mode, and scrolls it into view.
    pub(crate) fn put_copy_cursor(&mut self, pane: &Pane, to: Point) {
        if let Some(view) = self.workspace.views.get_mut(&pane.id())
            && let Some(copy) = &mut view.copy
        {
            copy.put(to);
            view.follow(to.line);
            self.surface.pacing.ask();
        }
    }

    /// Copies the selection, or the line if nothing is selected, to the clipboard and the primary selection. Then
    /// leaves copy mode.
    fn yank(&mut self, pane: &Pane) {
        let Some(copy) = self.workspace.views.get(&pane.id()).and_then(|view| view.copy.as_ref())
        else {
            return;
        };
        let text = {
            let term = pane.term();
            let range = copy.range(&term).unwrap_or_else(|| term.line_at(copy.cursor.line));
            term.text(range)
        };
        if !text.is_empty() {
            self.store(Buffer::Primary, text.clone());
            self.store(Buffer::Clipboard, text);
        }
        self.leave_copy_mode(pane);
    }
}
