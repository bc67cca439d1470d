//! The terminal: screens, history, modes, and what others may read of them.

use std::sync::Arc;

use crate::{
    Cursor, Event, LineId, Modes, MouseEncoding, MouseTracking, Palette, Point, Size, Snapshot,
};

/// What a terminal is made with.
#[derive(Clone, Debug)]
pub struct Options {
    /// Lines of history the main screen keeps.
    pub scrollback: usize,
    /// The theme's colours; OSC 4/10/11/12 change a copy, OSC 104/110–112 return to this.
    pub palette: Arc<Palette>,
}

impl Default for Options {
    fn default() -> Self {
        Self { scrollback: 10_000, palette: Arc::new(Palette::default()) }
    }
}

/// One of the two screens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ScreenKind {
    /// With history.
    #[default]
    Main,
    /// Without (?1049).
    Alternate,
}

/// A range of text between two cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextRange {
    /// First cell.
    pub start: Point,
    /// Last cell, inclusive; not before `start` in reading order.
    pub end: Point,
    /// A rectangle between the two corners rather than a stretch of text.
    pub block: bool,
}

/// A place where a search matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// First and last cell.
    pub range: TextRange,
}

/// The state of one terminal.
pub struct Term {}

impl Term {
    /// An empty terminal.
    pub fn new(size: Size, options: Options) -> Self {
        let _ = (size, options);
        todo!()
    }

    /// Number of the last change; advanced by every batch of output, resize and reset.
    pub fn seq(&self) -> u64 {
        todo!()
    }

    /// Size of the grid.
    pub fn size(&self) -> Size {
        todo!()
    }

    /// Changes the grid's size; the main screen and its history reflow, the alternate screen is cut or padded.
    pub fn resize(&mut self, size: Size) {
        let _ = size;
        todo!()
    }

    /// Changes the theme's colours under what the program set.
    pub fn set_base_palette(&mut self, palette: Arc<Palette>) {
        let _ = palette;
        todo!()
    }

    /// Takes the bytes to send to the program (replies to DA, DSR, …), in order. Bounded to 64 KiB; more is dropped whole.
    pub fn take_replies(&mut self) -> Vec<u8> {
        todo!()
    }

    /// Takes the events since the last call, in order. At most 4,096 are kept; the same ones in a row count once.
    pub fn take_events(&mut self) -> Vec<Event> {
        todo!()
    }

    /// Which screen is shown.
    pub fn screen(&self) -> ScreenKind {
        todo!()
    }

    /// Modes in force.
    pub fn modes(&self) -> Modes {
        todo!()
    }

    /// Mouse events asked for.
    pub fn mouse_tracking(&self) -> MouseTracking {
        todo!()
    }

    /// Their encoding.
    pub fn mouse_encoding(&self) -> MouseEncoding {
        todo!()
    }

    /// Ends synchronized output (mode 2026), which its owner does 150 ms after it began.
    pub fn end_synchronized(&mut self) {
        todo!()
    }

    /// The cursor on the live screen.
    pub fn cursor(&self) -> Cursor {
        todo!()
    }

    /// The title (OSC 0, 2), empty when none was set.
    pub fn title(&self) -> &str {
        todo!()
    }

    /// The working directory as the program reported it (OSC 7: a `file://` URI), if it did.
    pub fn cwd(&self) -> Option<&str> {
        todo!()
    }

    /// Colours in force.
    pub fn palette(&self) -> &Arc<Palette> {
        todo!()
    }

    /// Rows of history above the live screen (0 on the alternate screen).
    pub fn history_rows(&self) -> usize {
        todo!()
    }

    /// Id of the oldest kept row of the shown screen.
    pub fn oldest(&self) -> LineId {
        todo!()
    }

    /// Id of the first row of the live screen; `oldest() + history_rows()`.
    pub fn live_top(&self) -> LineId {
        todo!()
    }

    /// `seq` of the row's last change, `None` for a row that is not kept.
    pub fn revision(&self, line: LineId) -> Option<u64> {
        let _ = line;
        todo!()
    }

    /// Appends the row's text, without trailing blanks, to `text`; false for a row that is not kept.
    pub fn row_text(&self, line: LineId, text: &mut String) -> bool {
        let _ = (line, text);
        todo!()
    }

    /// Whether the row's text goes on in the next row without a line break.
    pub fn is_wrapped(&self, line: LineId) -> bool {
        let _ = line;
        todo!()
    }

    /// The text of a range as a person would copy it: wrapped rows joined, trailing blanks of each line dropped, lines
    /// parted by `\n`.
    pub fn text(&self, range: TextRange) -> String {
        let _ = range;
        todo!()
    }

    /// The word at `point` (a stretch of non-separators, across wrapped rows), for a double click.
    pub fn word_at(&self, point: Point) -> TextRange {
        let _ = point;
        todo!()
    }

    /// The whole logical line at `line`, for a triple click.
    pub fn line_at(&self, line: LineId) -> TextRange {
        let _ = line;
        todo!()
    }

    /// Brings `snapshot` up to date, its viewport starting at `top` (`None`: the live screen; a line that is no longer
    /// kept: the oldest). Copies only rows it does not have.
    pub fn snapshot(&self, snapshot: &mut Snapshot, top: Option<LineId>) {
        let _ = (snapshot, top);
        todo!()
    }

    /// The whole state as text, for tests: size, cursor, modes, every kept row with its styles and marks. Two terminals
    /// with equal dumps look and behave alike.
    pub fn dump(&self) -> String {
        todo!()
    }
}
