//! Copy mode: a separate cursor that the user moves over screen and history with vi's keys, to select and copy text.
//!
//! Owns the cursor and its selection. The app runs the commands. While copy mode is on, the view does not scroll when
//! the program prints, and the program receives no keys. Motions are in `copy_mode/motion.rs`; keys and command names
//! are in `copy_command.rs`.

pub(crate) mod motion;

use unterm_mux::Pane;
use unterm_renderer::{Label, LabelAlign, PixelRect, Renderer, Scene};
use unterm_term::{CursorShape, LineId, Point, Snapshot, Term, TextRange};

use crate::copy_command::{CopyKind, Find, Motion};
use crate::window::{
    ui::{
        colors::{Colors, framed},
        geometry::Geometry,
    },
    workspace::{copy_mode::motion::Text, selection::Selection},
};

/// The text of the mark in the pane's corner after the program has switched screens.
pub(crate) const LOST: &str = "copy mode ended: the program switched screens · Esc";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CopyMode {
    /// The position of the cursor: always the first cell of a character.
    pub(crate) cursor: Point,
    /// The end of the selection opposite the cursor. `None` if nothing is selected.
    pub(crate) anchor: Option<Point>,
    pub(crate) kind: CopyKind,
    /// The column that the motions up and down try to keep.
    pub(crate) wanted: u16,
    /// The count that the user has typed so far; 0 for no count.
    pub(crate) count: u32,
    /// Whether the last search went toward newer lines.
    pub(crate) forward: bool,
    /// Whether the last command moved to a numbered line. If so, the second `g` of vi's `gg` has no effect.
    pub(crate) numbered: bool,
    /// A find command that waits for its character, and the command's count.
    pub(crate) finding: Option<(Find, u32)>,
    /// The last find command and its character.
    pub(crate) found: Option<(Find, char)>,
}

impl CopyMode {
    pub(crate) fn new(cursor: Point) -> Self {
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

    /// Starts copy mode with a selection. The cursor is at the end of the selection, or at its start.
    pub(crate) fn with(range: TextRange, at_end: bool) -> Self {
        let kind = if range.block { CopyKind::Block } else { CopyKind::Characters };
        let (cursor, anchor) =
            if at_end { (range.end, range.start) } else { (range.start, range.end) };
        Self { kind, anchor: Some(anchor), ..Self::new(cursor) }
    }

    pub(crate) fn put(&mut self, cursor: Point) {
        self.cursor = cursor;
        self.wanted = cursor.col;
    }

    /// The selected text range.
    pub(crate) fn range(&self, term: &Term) -> Option<TextRange> {
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

    /// The selected range, as a [`Selection`] of the view.
    pub(crate) fn selection(&self, term: &Term) -> Option<Selection> {
        Some(Selection::of(self.range(term)?, term.seq()))
    }

    /// Moves the cursor into the visible rows, and shows it instead of the program's cursor.
    pub(crate) fn show(&mut self, snapshot: &mut Snapshot) {
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
        snapshot.extra_cursors.clear();
    }

    /// The name of the mode, for the mark in the pane's corner.
    pub(crate) fn title(&self) -> &'static str {
        match (self.anchor, self.kind) {
            (None, _) => "copy mode",
            (Some(_), CopyKind::Characters) => "copy mode · select",
            (Some(_), CopyKind::Lines) => "copy mode · lines",
            (Some(_), CopyKind::Block) => "copy mode · block",
        }
    }

    /// The mark in the pane's corner: the typed count and the name of the mode.
    pub(crate) fn mark(&self) -> Mark {
        let title = self.title();
        let text = match self.count {
            0 => title.to_owned(),
            count => format!("{count} · {title}"),
        };
        Mark { text, is_selecting: self.anchor.is_some() }
    }
}

/// The mark that copy mode shows in the corner of its pane.
pub(crate) struct Mark {
    text: String,
    is_selecting: bool,
}

impl Mark {
    /// The mark after copy mode ended because the program switched screens.
    pub(crate) fn lost() -> Self {
        Self { text: LOST.to_owned(), is_selecting: false }
    }

    /// Draws the mark into the pane at `area`. The mark does not cover the rectangles in `seen`.
    pub(crate) fn draw(
        self,
        geometry: &Geometry,
        (area, seen): (PixelRect, &[PixelRect]),
        colors: &Colors,
        renderer: &mut Renderer,
        scene: &mut Scene<'_>,
    ) {
        let text = self.text;
        let (padding, size) = (geometry.px(8.0), geometry.ui_font());
        let width = renderer.label_width(&text, size, false).ceil() as u32 + 2 * padding;
        // If the pane is too narrow, the text is cut off at the pane's edge.
        let width = width.min(area.width.saturating_sub(padding)).max(1);
        let rect = geometry.corner(area, (width, geometry.ui_line() + geometry.px(6.0)), seen);
        framed(rect, geometry.px(4.0) as f32, colors, scene);
        let color = if self.is_selecting { colors.accent_text } else { colors.muted };
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

/// The position to which a motion moves the cursor.
pub(crate) fn target(
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
        // With a count, this motion moves to a line number, counted from the oldest line.
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
