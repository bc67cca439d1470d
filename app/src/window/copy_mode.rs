//! Copy mode: a separate cursor that moves over screen and history with vi's keys, selects and copies.
//!
//! Owns that cursor and its selection; the view does not scroll while the program prints. Motions are in
//! `copy_mode/motion.rs`, keys and their names in `copy_command.rs`. The program receives none of these keys.

mod motion;

use unterm_mux::{
    Pane, PaneId,
    input::{self, Key, Modifiers},
};
use unterm_renderer::{Label, LabelAlign, PixelRect, Renderer, Scene};
use unterm_term::{CursorShape, LineId, Point, Snapshot, Term, TextRange};

use super::{
    App,
    chrome::{Colors, framed},
    clipboard::Buffer,
    geometry::Geometry,
    keys::Pressed,
    selection::Selection,
};
use crate::copy_command::{CopyCommand, CopyKind, Find, Motion};
use motion::Text;

/// The maximum count.
const COUNT_CAP: u32 = 99_999;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CopyMode {
    /// The cursor: the first cell of a character.
    pub(super) cursor: Point,
    /// The other end of the selection; `None` without a selection.
    pub(super) anchor: Option<Point>,
    kind: CopyKind,
    /// The column that up and down return to.
    wanted: u16,
    /// The count typed so far, 0 for none.
    count: u32,
    /// Whether the last search went towards newer lines.
    forward: bool,
    /// The last command moved to a numbered line, so that the second `g` of vi's `gg` does nothing.
    numbered: bool,
    /// A pending find and its count: the next typed character is its target.
    finding: Option<(Find, u32)>,
    /// The last find and its character.
    found: Option<(Find, char)>,
}

impl CopyMode {
    pub(super) fn new(cursor: Point) -> Self {
        let wanted = cursor.col;
        Self {
            cursor,
            anchor: None,
            kind: CopyKind::Characters,
            wanted,
            count: 0,
            forward: true,
            numbered: false,
            finding: None,
            found: None,
        }
    }

    /// Copy mode with this selection, its cursor at the selection's end or start.
    fn with(range: TextRange, at_end: bool) -> Self {
        let kind = if range.block { CopyKind::Block } else { CopyKind::Characters };
        let (cursor, anchor) =
            if at_end { (range.end, range.start) } else { (range.start, range.end) };
        Self { kind, anchor: Some(anchor), ..Self::new(cursor) }
    }

    fn put(&mut self, cursor: Point) {
        self.cursor = cursor;
        self.wanted = cursor.col;
    }

    /// The selected range.
    fn range(&self, term: &Term) -> Option<TextRange> {
        let anchor = self.anchor?;
        let (start, end) = (anchor.min(self.cursor), anchor.max(self.cursor));
        Some(match self.kind {
            CopyKind::Characters => TextRange { start, end, block: false },
            CopyKind::Lines => TextRange {
                start: term.line_at(start.line).start,
                end: term.line_at(end.line).end,
                block: false,
            },
            CopyKind::Block => {
                let (left, right) =
                    (anchor.col.min(self.cursor.col), anchor.col.max(self.cursor.col));
                TextRange {
                    start: Point { col: left, ..start },
                    end: Point { col: right, ..end },
                    block: true,
                }
            }
        })
    }

    /// The selected range, as a [`Selection`].
    pub(super) fn selection(&self, term: &Term) -> Option<Selection> {
        Some(Selection::of(self.range(term)?, term.seq()))
    }

    /// Moves the cursor into the visible rows, and shows it in place of the program's.
    pub(super) fn show(&mut self, snapshot: &mut Snapshot) {
        let (Some(first), Some(last)) = (snapshot.rows.first(), snapshot.rows.last()) else {
            return;
        };
        let line = self.cursor.line.clamp(first.line, last.line);
        self.cursor.line = line;
        self.cursor.col = self.cursor.col.min(snapshot.size.cols - 1);
        let row = snapshot.rows.partition_point(|row| row.line < line);
        let cursor = &mut snapshot.cursor;
        (cursor.row, cursor.col) = (row as u16, self.cursor.col);
        (cursor.visible, cursor.blinking, cursor.shape) = (true, false, CursorShape::Block);
    }

    /// The text of the mark in the pane's corner.
    pub(super) fn title(&self) -> &'static str {
        match (self.anchor, self.kind) {
            (None, _) => "copy mode",
            (Some(_), CopyKind::Characters) => "copy mode · select",
            (Some(_), CopyKind::Lines) => "copy mode · lines",
            (Some(_), CopyKind::Block) => "copy mode · block",
        }
    }

    /// Draws the mark into the pane at `area`, without covering `seen`.
    pub(super) fn draw(
        &self,
        geometry: &Geometry,
        (area, seen): (PixelRect, &[PixelRect]),
        colors: &Colors,
        renderer: &mut Renderer,
        scene: &mut Scene<'_>,
    ) {
        let mut text = self.title().to_owned();
        if self.count > 0 {
            text = format!("{} · {text}", self.count);
        }
        let (padding, size) = (geometry.px(8.0), geometry.ui_font());
        let width = renderer.label_width(&text, size, false).ceil() as u32 + 2 * padding;
        // Cut the text at the pane's edge.
        let width = width.min(area.width.saturating_sub(padding)).max(1);
        let rect = geometry.corner(area, (width, geometry.ui_line() + geometry.px(6.0)), seen);
        framed(rect, geometry.px(4.0) as f32, colors, scene);
        let color = if self.anchor.is_some() { colors.accent_text } else { colors.muted };
        scene.labels.push(Label {
            rect,
            text,
            color,
            size,
            align: LabelAlign::Center,
            ..Label::default()
        });
    }
}

impl App {
    /// Toggles copy mode in the focused pane. It starts at the match of an open search, else with the current
    /// selection, else at the program's cursor.
    pub(super) fn toggle_copy_mode(&mut self) {
        let Some(pane) = self.focused_pane() else { return };
        let found = self.search.as_ref().filter(|search| search.pane == pane.id());
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
        if found.is_some() {
            self.accept_search();
        }
        self.pacing.ask();
    }

    /// Leaves copy mode and shows the live screen.
    pub(super) fn leave_copy_mode(&mut self, pane: &Pane) {
        if self.end_copy_mode(pane.id())
            && let Some(view) = self.views.get_mut(&pane.id())
        {
            view.scroll_to_live();
            view.selection = None;
        }
    }

    /// Leaves copy mode without scrolling. Returns false if it was off.
    pub(super) fn end_copy_mode(&mut self, pane: PaneId) -> bool {
        let Some(view) = self.views.get_mut(&pane) else { return false };
        if view.copy.take().is_none() {
            return false;
        }
        view.copy_anew();
        if self.search.as_ref().is_some_and(|search| search.is_of_copy_mode()) {
            self.close_search();
        }
        self.pacing.ask();
        true
    }

    /// Whether the focused pane is in copy mode.
    pub(super) fn is_copying(&self) -> bool {
        let focused = self.mux.layout().active_tab().map(|tab| tab.focused);
        focused.and_then(|id| self.views.get(&id)).is_some_and(|view| view.copy.is_some())
    }

    /// Handles a key in copy mode. Returns false if copy mode does not use the key.
    pub(super) fn copy_mode_key(&mut self, pressed: Pressed, modifiers: Modifiers) -> bool {
        let Some(pane) = self.focused_pane() else { return false };
        let Some(view) = self.views.get_mut(&pane.id()) else { return false };
        let Some(copy) = &mut view.copy else { return false };
        let typed = pressed.key.off_keypad();
        if let Some((find, count)) = copy.finding.take() {
            if let (Key::Char(wanted), true) = (typed, (modifiers - Modifiers::SHIFT).is_empty()) {
                copy.found = Some((find, wanted));
                self.find_character(&pane, (find, wanted), count, false);
            }
            self.pacing.ask();
            return true;
        }
        if let (Key::Char(c), true) = (typed, modifiers.is_empty())
            && let Some(digit) = c.to_digit(10).filter(|digit| *digit > 0 || copy.count > 0)
        {
            copy.count = (copy.count * 10 + digit).min(COUNT_CAP);
            self.pacing.ask();
            return true;
        }
        let latin = input::latin(pressed.unshifted, pressed.base).map(Key::Char);
        let Some(command) = self.copy_keys.get(modifiers, [typed].into_iter().chain(latin)) else {
            return false;
        };
        let count = std::mem::take(&mut copy.count);
        let goes_to_oldest = command == CopyCommand::Move(Motion::Oldest);
        let was_numbered = std::mem::replace(&mut copy.numbered, goes_to_oldest && count > 0);
        self.pacing.ask();
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
                let search = self.search.as_mut().filter(|search| search.pane == pane.id());
                if let Some(search) = search {
                    if let Some(to) = search.walk(at, forward, count.max(1)) {
                        self.put_copy_cursor(pane, to);
                    }
                } else if self.last_search.is_some() {
                    self.search_from_copy_mode(pane.id(), at, forward);
                    self.search_last(true);
                }
            }
            CopyCommand::Leave => self.leave_copy_mode(pane),
        }
    }

    /// Moves to the `count`th `wanted` character in the line, if it exists; `again` repeats a find.
    fn find_character(
        &mut self,
        pane: &Pane,
        (find, wanted): (Find, char),
        count: u32,
        again: bool,
    ) {
        let copy = self.views.get(&pane.id()).and_then(|view| view.copy.as_ref());
        let Some(at) = copy.map(|copy| copy.cursor) else { return };
        let mut text = Text::new(pane.term().lines());
        if let Some(to) = text.find(find, wanted, at, count.max(1), again) {
            self.put_copy_cursor(pane, to);
        }
    }

    /// Moves copy mode's cursor, and scrolls it into view.
    pub(super) fn put_copy_cursor(&mut self, pane: &Pane, to: Point) {
        if let Some(view) = self.views.get_mut(&pane.id())
            && let Some(copy) = &mut view.copy
        {
            copy.put(to);
            view.follow(to.line);
            self.pacing.ask();
        }
    }

    /// Copies the selection, or else the line, to clipboard and primary selection, and leaves copy mode.
    fn yank(&mut self, pane: &Pane) {
        let Some(copy) = self.views.get(&pane.id()).and_then(|view| view.copy.as_ref()) else {
            return;
        };
        let text = {
            let term = pane.term();
            let range = copy.range(&term).unwrap_or_else(|| term.line_at(copy.cursor.line));
            term.text(range)
        };
        if !text.is_empty() {
            self.clipboard.store(Buffer::Primary, text.clone());
            self.clipboard.store(Buffer::Clipboard, text);
        }
        self.leave_copy_mode(pane);
    }
}

/// The target of a motion.
fn target(
    copy: &CopyMode,
    pane: &Pane,
    motion: Motion,
    count: u32,
    rows: (LineId, LineId),
) -> Point {
    let term = pane.term();
    let prompt = |next: &dyn Fn(LineId) -> Option<LineId>| {
        let mut line = copy.cursor.line;
        for _ in 0..count.max(1) {
            match next(line) {
                Some(found) => line = found,
                None => break,
            }
        }
        Point { line, col: if line == copy.cursor.line { copy.cursor.col } else { 0 } }
    };
    match motion {
        Motion::PromptBack => prompt(&|line| term.mark_before(line)),
        Motion::PromptForward => prompt(&|line| term.mark_after(line)),
        // The count is a line number, counted from the oldest line.
        Motion::Oldest | Motion::Newest if count > 0 => {
            let line = LineId(term.oldest().0 + u64::from(count) - 1);
            let lines = term.lines();
            drop(term);
            Text::new(lines).settle(line, 0)
        }
        motion => {
            let lines = term.lines();
            drop(term);
            Text::new(lines)
                .go(motion, copy.cursor, count.max(1), rows, copy.wanted)
                .unwrap_or(copy.cursor)
        }
    }
}
