//! Selections made with the mouse.

use unterm_term::{LineId, Point, Term, TextRange};

/// The unit by which a selection grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Cells, after one click.
    Cell,
    /// Words, after two clicks.
    Word,
    /// Lines, after three clicks.
    Line,
    /// A rectangle, with Alt held.
    Block,
}

/// A boundary between two cells of a line. Boundary 0 is the left edge of the first column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Edge {
    pub(crate) line: LineId,
    pub(crate) boundary: u16,
}

/// A position in a grid: the cell under the pointer, and the nearest edge of that cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) cell: Point,
    pub(crate) edge: Edge,
}

/// A selection in one pane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Selection {
    unit: Unit,
    anchor: Spot,
    /// The selected cells. `None` until the pointer has moved over at least half a cell.
    pub(crate) range: Option<TextRange>,
    /// The terminal's `seq` when the selection was made. If a selected row changes later, the selection is cleared.
    pub(crate) seq: u64,
}

impl Selection {
    /// Starts a selection at a press. `separators` are the characters that separate words.
    pub(crate) fn begin(unit: Unit, at: Spot, term: &Term, separators: &str) -> Self {
        let mut selection = Self { unit, anchor: at, range: None, seq: term.seq() };
        selection.extend(at, term, separators);
        selection
    }

    /// Creates a selection of these cells. `seq` is the terminal's `seq` when they were selected.
    pub(crate) fn of(range: TextRange, seq: u64) -> Self {
        let Point { line, col } = range.start;
        let anchor = Spot { cell: range.start, edge: Edge { line, boundary: col } };
        let unit = if range.block { Unit::Block } else { Unit::Cell };
        Self { unit, anchor, range: Some(range), seq }
    }

    /// Moves the free end of the selection to the pointer.
    pub(crate) fn extend(&mut self, to: Spot, term: &Term, separators: &str) {
        let cols = term.size().cols;
        let word = |at: Spot| term.word_at(at.cell, separators);
        self.seq = term.seq();
        self.range = match self.unit {
            Unit::Cell => stretch(self.anchor.edge, to.edge, cols),
            Unit::Block => block(self.anchor.edge, to.edge),
            Unit::Word => Some(union(word(self.anchor), word(to))),
            Unit::Line => {
                Some(union(term.line_at(self.anchor.cell.line), term.line_at(to.cell.line)))
            }
        };
    }

    /// Moves a selection to the new position of its text, after a reflow. From then on, the selection is extended from
    /// its start.
    pub(crate) fn moved_to(self, start: Point, end: Point, seq: u64) -> Self {
        let anchor = Spot { cell: start, edge: Edge { line: start.line, boundary: start.col } };
        let range = Some(TextRange { start, end, block: false });
        Self { anchor, range, seq, ..self }
    }

    /// Whether the selection includes cells of a line.
    pub(crate) fn covers(&self, line: LineId) -> bool {
        self.range.is_some_and(|range| (range.start.line..=range.end.line).contains(&line))
    }
}

fn union(a: TextRange, b: TextRange) -> TextRange {
    TextRange { start: a.start.min(b.start), end: a.end.max(b.end), block: false }
}

/// The cells between two edges, in the order in which text is read.
fn stretch(a: Edge, b: Edge, cols: u16) -> Option<TextRange> {
    let (first, last) = if a <= b { (a, b) } else { (b, a) };
    let start = if first.boundary >= cols {
        Point { line: LineId(first.line.0 + 1), col: 0 }
    } else {
        Point { line: first.line, col: first.boundary }
    };
    let end = match last.boundary {
        0 => Point { line: LineId(last.line.0.checked_sub(1)?), col: cols.saturating_sub(1) },
        boundary => Point { line: last.line, col: boundary.min(cols) - 1 },
    };
    (start <= end).then_some(TextRange { start, end, block: false })
}

/// The rectangle of cells between two edges.
fn block(a: Edge, b: Edge) -> Option<TextRange> {
    let (left, right) = (a.boundary.min(b.boundary), a.boundary.max(b.boundary));
    (left < right).then(|| TextRange {
        start: Point { line: a.line.min(b.line), col: left },
        end: Point { line: a.line.max(b.line), col: right - 1 },
        block: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(line: u64, boundary: u16) -> Edge {
        Edge { line: LineId(line), boundary }
    }

    fn range(start: (u64, u16), end: (u64, u16), block: bool) -> TextRange {
        let point = |(line, col)| Point { line: LineId(line), col };
        TextRange { start: point(start), end: point(end), block }
    }

    #[test]
    fn a_drag_selects_the_cells_it_passed_in_either_direction() {
        let expected = Some(range((4, 2), (4, 6), false));
        assert_eq!(stretch(edge(4, 2), edge(4, 7), 80), expected);
        assert_eq!(stretch(edge(4, 7), edge(4, 2), 80), expected);
    }

    #[test]
    fn a_click_selects_nothing() {
        assert_eq!(stretch(edge(4, 2), edge(4, 2), 80), None);
        assert_eq!(block(edge(4, 2), edge(7, 2)), None);
    }

    #[test]
    fn edges_at_the_ends_of_lines_take_no_cell_beyond_them() {
        assert_eq!(stretch(edge(4, 80), edge(5, 3), 80), Some(range((5, 0), (5, 2), false)));
        assert_eq!(stretch(edge(4, 5), edge(5, 0), 80), Some(range((4, 5), (4, 79), false)));
        assert_eq!(stretch(edge(4, 80), edge(5, 0), 80), None, "only a line end lies between");
    }

    #[test]
    fn a_block_is_the_rectangle_between_its_corners() {
        assert_eq!(block(edge(9, 8), edge(3, 2)), Some(range((3, 2), (9, 7), true)));
    }
}
