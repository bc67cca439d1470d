//! Copy mode as an overlay over its pane: its keys change the pane's view.

use unterm_mux::{
    Pane, PaneId,
    input::{self, Key, Modifiers},
};
use unterm_term::{LineId, Point};

use crate::copy_command::{CopyCommand, Find, Motion};
use crate::window::{
    cx::Cx,
    input::{buffer::Buffer, keys::Pressed},
    overlays::{
        canvas::Canvas,
        overlay::{Handled, Overlay, Press},
        search::SearchBar,
        searching::Searching,
        text_target::TextTarget,
    },
    wish::Wish,
    workspace::{
        copy_mode::{CopyMode, motion::Text, target},
        view::{View, Views},
    },
};

/// The maximum count that the user can type.
const COUNT_CAP: u32 = 99_999;

impl Overlay for View {
    fn has_input(&self, _: Option<PaneId>) -> bool {
        self.is_copying()
    }

    fn lies_over_text(&self) -> bool {
        self.is_copying()
    }

    fn is_raised(&self) -> bool {
        false
    }

    fn text_target(&self) -> Option<TextTarget> {
        Some(TextTarget::Nobody)
    }

    /// A key that is not bound in copy mode runs its action. The program receives no key.
    fn key(&mut self, press: &Press<'_>, cx: &mut Cx<'_>) -> Handled {
        if matches!(press.pressed.key, Key::Modifier(..)) {
            return Handled::No;
        }
        let pane = cx.focused().and_then(|pane| cx.mux.pane(pane));
        let is_ours =
            pane.is_some_and(|pane| self.copy_key(&pane, press.pressed, press.modifiers, cx));
        if !is_ours && let Some(action) = cx.prefs.bound(press.pressed, press.modifiers) {
            cx.wish(Wish::ActByKey(action, press.modifiers));
        }
        Handled::Yes
    }

    /// Nothing: `surface/pane_marks.rs` draws the mark of each pane in copy mode, also of panes without the focus.
    fn draw(&self, _: &mut Canvas<'_, '_>) {}
}

/// Turns copy mode in the focused pane on or off. Copy mode starts at the current match if a search is open, otherwise
/// with the current selection, otherwise at the program's cursor.
pub(crate) fn toggle(search: &mut Searching, cx: &mut Cx<'_>) {
    let Some(pane) = cx.focused_pane() else { return };
    let found = search.of(pane.id()).and_then(SearchBar::range);
    let Some(view) = cx.fresh_view(&pane) else { return };
    if view.copy.is_some() && found.is_none() {
        if view.leave() {
            search.close_of_copy_mode();
        }
        return;
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
    if let Some(bar) = search.bar_mut().filter(|_| found.is_some()) {
        bar.accept();
    }
}

/// Leaves a pane's copy mode without scrolling. Returns false if copy mode was off.
pub(crate) fn end(pane: PaneId, views: &mut Views, search: &mut Searching) -> bool {
    let is_ended = views.get_mut(&pane).is_some_and(View::end_copy_mode);
    if is_ended {
        search.close_of_copy_mode();
    }
    is_ended
}

/// The command that a key is bound to in copy mode.
fn command(pressed: Pressed, modifiers: Modifiers, cx: &Cx<'_>) -> Option<CopyCommand> {
    let typed = pressed.key.off_keypad();
    let latin = input::latin(pressed.unshifted, pressed.base).map(Key::Char);
    cx.prefs.copy_keys.get(modifiers, [typed].into_iter().chain(latin))
}

impl View {
    /// Handles a key after copy mode has ended because the program switched screens. Keys of copy mode's commands are
    /// ignored, and the key that leaves copy mode ends this state. Returns false if the key is not bound in copy mode.
    fn lost_copy_key(&mut self, pressed: Pressed, modifiers: Modifiers, cx: &mut Cx<'_>) -> bool {
        let command = command(pressed, modifiers, cx);
        if command == Some(CopyCommand::Leave) {
            self.end_copy_mode();
            cx.wish(Wish::EndCopySearch);
        }
        command.is_some()
    }

    /// Leaves copy mode and shows the live screen. Returns false if copy mode was off.
    fn leave(&mut self) -> bool {
        let is_left = self.end_copy_mode();
        if is_left {
            self.scroll_to_live();
            self.selection = None;
        }
        is_left
    }

    /// Leaves copy mode, shows the live screen, and closes the search of copy mode.
    fn leave_by_key(&mut self, cx: &mut Cx<'_>) {
        if self.leave() {
            cx.wish(Wish::EndCopySearch);
        }
    }

    /// Handles a key in copy mode. Returns false if the key is not bound in copy mode.
    fn copy_key(
        &mut self,
        pane: &Pane,
        pressed: Pressed,
        modifiers: Modifiers,
        cx: &mut Cx<'_>,
    ) -> bool {
        if self.signals.has_lost_copy_mode {
            return self.lost_copy_key(pressed, modifiers, cx);
        }
        let Some(copy) = &mut self.copy else { return false };
        let typed = pressed.key.off_keypad();
        if let Some((find, count)) = copy.finding.take() {
            if let (Key::Char(wanted), true) = (typed, (modifiers - Modifiers::SHIFT).is_empty()) {
                copy.found = Some((find, wanted));
                self.find_character(pane, (find, wanted), count, false);
            }
            return true;
        }
        if let (Key::Char(c), true) = (typed, modifiers.is_empty())
            && let Some(digit) = c.to_digit(10).filter(|digit| *digit > 0 || copy.count > 0)
        {
            copy.count = (copy.count * 10 + digit).min(COUNT_CAP);
            return true;
        }
        let Some(command) = command(pressed, modifiers, cx) else { return false };
        let count = std::mem::take(&mut copy.count);
        let goes_to_oldest = command == CopyCommand::Move(Motion::Oldest);
        let was_numbered = std::mem::replace(&mut copy.numbered, goes_to_oldest && count > 0);
        // In vi, the user types `5gg` to go to line 5. Here the first `g` has already moved to line 5, so the second
        // `g` must not move to the oldest line.
        if !(was_numbered && goes_to_oldest && count == 0) {
            self.copy_command(pane, command, count, cx);
        }
        true
    }

    fn copy_command(&mut self, pane: &Pane, command: CopyCommand, count: u32, cx: &mut Cx<'_>) {
        // The last frame may show an older state, if output is fast.
        self.refresh(pane, cx.clock);
        let rows = self.rows_in_sight();
        let Some(copy) = &mut self.copy else { return };
        match command {
            CopyCommand::Move(motion) => {
                let to = target(copy, pane, motion, count, rows);
                let keeps = matches!(motion, Motion::Up | Motion::Down);
                copy.cursor = to;
                if !keeps {
                    copy.wanted = if motion == Motion::LineEnd { u16::MAX } else { to.col };
                }
                self.follow(to.line);
            }
            CopyCommand::Find(find) => copy.finding = Some((find, count)),
            CopyCommand::FindAgain(same) => {
                if let Some((find, wanted)) = copy.found {
                    let find = Find { forward: find.forward == same, ..find };
                    self.find_character(pane, (find, wanted), count, true);
                }
            }
            CopyCommand::HalfPages(halves) => {
                let height = i64::from(self.snapshot.size.rows);
                let by = height * i64::from(halves) * i64::from(count.max(1)) / 2;
                let line = LineId(copy.cursor.line.0.saturating_add_signed(by));
                let mut text = Text::new(pane.term().lines());
                copy.cursor = text.settle(line, copy.wanted);
                let line = copy.cursor.line;
                self.scroll(by);
                self.follow(line);
            }
            CopyCommand::Rows(by) => {
                self.scroll(i64::from(by) * i64::from(count.max(1)));
                let (first, last) = self.rows_in_sight();
                if let Some(copy) = &mut self.copy {
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
                    self.follow(anchor.line);
                }
            }
            CopyCommand::Yank => self.yank(pane, cx),
            CopyCommand::Search(forward) => {
                copy.forward = forward;
                let origin = copy.cursor;
                cx.wish(Wish::SearchFrom { pane: pane.id(), origin, forward });
            }
            CopyCommand::NextMatch(same) => {
                let (at, forward) = (copy.cursor, copy.forward == same);
                cx.wish(Wish::NextMatch { pane: pane.id(), at, forward, count: count.max(1) });
            }
            CopyCommand::Leave => self.leave_by_key(cx),
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
        let Some(at) = self.copy.as_ref().map(|copy| copy.cursor) else { return };
        let mut text = Text::new(pane.term().lines());
        if let Some(to) = text.find(find, wanted, at, count.max(1), again) {
            self.put_copy_cursor(to);
        }
    }

    /// Copies the selection, or the line if nothing is selected, to the clipboard and the primary selection. Then
    /// leaves copy mode.
    fn yank(&mut self, pane: &Pane, cx: &mut Cx<'_>) {
        let Some(copy) = &self.copy else { return };
        let text = {
            let term = pane.term();
            let range = copy.range(&term).unwrap_or_else(|| term.line_at(copy.cursor.line));
            term.text(range)
        };
        if !text.is_empty() {
            cx.store(Buffer::Primary, text.clone());
            cx.store(Buffer::Clipboard, text);
        }
        self.leave_by_key(cx);
    }
}
