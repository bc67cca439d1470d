//! The rows in which targets are searched: the visible rows, and further rows of lines that start or end out of view, or
//! in folded output.
//!
//! Only whole targets count: text at the end of the rows that were read is no target if its line continues there.

use std::borrow::Cow;

use unterm_term::{LineId, Point, Snapshot, SnapshotRow, Term, TextRange};

/// The maximum number of cells to read out of view, on each side. The limit matters because each movement of the
/// pointer over a long line reads its cells.
const CELLS: usize = 65_536;

/// The visible rows, and the rest of the lines that they belong to. Folded output leaves gaps between the rows.
pub(crate) struct Reach<'a> {
    pub(crate) rows: Cow<'a, [SnapshotRow]>,
    /// The visible lines: ranges without a gap, each with its first and its last line.
    sight: Vec<(LineId, LineId)>,
    /// The cells at which a line continues in a row that was not read.
    cuts: Vec<Point>,
}

/// Whether a row directly follows another one in the terminal.
pub(crate) fn follows(above: &SnapshotRow, below: &SnapshotRow) -> bool {
    above.line.0 + 1 == below.line.0
}

impl<'a> Reach<'a> {
    /// Rows without a terminal, for tests. The first and the last row count as complete lines.
    #[cfg(test)]
    pub(crate) fn only(rows: &'a [SnapshotRow]) -> Self {
        Self { rows: Cow::Borrowed(rows), sight: sight(rows), cuts: Vec::new() }
    }

    /// Reads the rest of the lines that are only partly visible, as far as the terminal still holds it.
    pub(crate) fn of(seen: &'a [SnapshotRow], term: &Term) -> Self {
        let sight = sight(seen);
        let (mut rows, mut cuts) = (Cow::Borrowed(seen), Vec::new());
        let (Some(width), Some((_, end))) = (seen.first().map(|row| row.cells.len()), sight.last())
        else {
            return Self { rows, sight, cuts };
        };
        // Rows of another width come from a screen of another width, and are about to be replaced.
        if width == usize::from(term.size().cols) {
            let most = (CELLS / width.max(1)) as u64;
            let spans = spans(&sight, most, term);
            cuts = spans.iter().flat_map(|span| span.cuts(term)).collect();
            if spans
                .iter()
                .zip(&sight)
                .any(|(span, (first, last))| span.head < *first || span.tail > *last)
            {
                rows = Cow::Owned(whole(seen, &spans, term));
            }
        } else if seen.last().is_some_and(|row| row.wrapped) {
            cuts.push(Point { line: *end, col: width.saturating_sub(1) as u16 });
        }
        Self { rows, sight, cuts }
    }

    /// Whether all of a range was read, and a part of the range is visible.
    pub(crate) fn holds(&self, range: &TextRange) -> bool {
        let is_cut = |cut: &Point| range.start <= *cut && *cut <= range.end;
        self.sees(range) && !self.cuts.iter().any(is_cut)
    }

    /// Whether a part of a range is visible.
    pub(crate) fn sees(&self, range: &TextRange) -> bool {
        let is_seen = |(first, last): &(LineId, LineId)| {
            range.start.line <= *last && *first <= range.end.line
        };
        self.sight.iter().any(is_seen)
    }
}

/// The lines of these rows: ranges without a gap, each with its first and its last line.
fn sight(rows: &[SnapshotRow]) -> Vec<(LineId, LineId)> {
    let runs = rows.chunk_by(follows);
    runs.filter_map(|run| Some((run.first()?.line, run.last()?.line))).collect()
}

/// Lines to read: a range of visible lines, with the rest of its first and its last logical line.
#[derive(Clone, Copy)]
struct Span {
    head: LineId,
    tail: LineId,
    /// Whether the span before it, or the one after it, is adjacent.
    joins: (bool, bool),
}

impl Span {
    /// The cells at which a line continues in a row that no span contains.
    fn cuts(&self, term: &Term) -> impl Iterator<Item = Point> {
        let before = self.head.0.checked_sub(1).map(LineId);
        let starts = !self.joins.0
            && before.is_some_and(|line| line >= term.oldest() && term.is_wrapped(line));
        let is_kept = self.tail.0 + 1 < end_of(term);
        let ends = !self.joins.1 && is_kept && term.is_wrapped(self.tail);
        let last = Point { line: self.tail, col: term.size().cols.saturating_sub(1) };
        let first = Point { line: self.head, col: 0 };
        starts.then_some(first).into_iter().chain(ends.then_some(last))
    }
}

/// The number of the line after the live screen.
fn end_of(term: &Term) -> u64 {
    term.live_top().0 + u64::from(term.size().rows)
}

/// The spans of visible lines, each extended by at most `most` lines on each side. Spans don't overlap.
fn spans(sight: &[(LineId, LineId)], most: u64, term: &Term) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::with_capacity(sight.len());
    for (i, (first, last)) in sight.iter().enumerate() {
        let start = term.line_at(*first).start.line.max(LineId(first.0.saturating_sub(most)));
        let before = spans.last().map(|span| LineId(span.tail.0 + 1));
        let head = start.max(before.unwrap_or(start));
        let stop = term.line_at(*last).end.line.min(LineId(last.0 + most));
        let next = sight.get(i + 1).map(|(next, _)| LineId(next.0 - 1));
        let tail = stop.min(next.unwrap_or(stop)).max(*last);
        let joins = (before == Some(head), next == Some(tail));
        if joins.0
            && let Some(above) = spans.last_mut()
        {
            above.joins.1 = true;
        }
        spans.push(Span { head, tail, joins });
    }
    spans
}

/// The rows of these spans. Only rows that are not visible are read.
fn whole(seen: &[SnapshotRow], spans: &[Span], term: &Term) -> Vec<SnapshotRow> {
    let mut rows = Vec::with_capacity(seen.len());
    for (run, span) in seen.chunk_by(follows).zip(spans) {
        let (Some(first), Some(last)) = (run.first(), run.last()) else { continue };
        if span.head < first.line {
            rows.extend(read(term, span.head, LineId(first.line.0 - 1)));
        }
        rows.extend_from_slice(run);
        if span.tail > last.line {
            rows.extend(read(term, LineId(last.line.0 + 1), span.tail));
        }
    }
    rows
}

/// Reads the rows of the lines `first` to `last`.
fn read(term: &Term, first: LineId, last: LineId) -> Vec<SnapshotRow> {
    let mut snapshot = Snapshot::default();
    term.snapshot_more(&mut snapshot, Some(first), (last.0 - first.0) as usize);
    snapshot.rows.retain(|row| (first..=last).contains(&row.line));
    snapshot.rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use unterm_term::{Options, Parser, Size};

    use crate::window::overlays::targets::{self, Target};

    /// A terminal of 20 columns and 4 rows after this output, and the rows of a view that starts at line `top`.
    fn seen(output: &str, top: u64) -> (Term, Vec<SnapshotRow>) {
        let mut term = Term::new(Size::cells(20, 4), Options::default());
        Parser::new().advance(&mut term, output.as_bytes());
        let mut snapshot = Snapshot::default();
        term.snapshot(&mut snapshot, Some(LineId(top)));
        (term, snapshot.rows)
    }

    fn url(length: usize) -> String {
        let digits = (0..length).map(|n| char::from(b'a' + (n % 26) as u8)).collect::<String>();
        format!("https://a.example/{digits}")
    }

    fn clicked((term, rows): &(Term, Vec<SnapshotRow>), line: u64, col: u16) -> Option<String> {
        let at = Point { line: LineId(line), col };
        targets::clicked(rows, term, at, true).map(|target| target.text)
    }

    #[test]
    fn a_url_is_whole_wherever_the_view_cuts_it() {
        // The URL fills ten rows, from line 1 to line 10, in a view of four rows.
        let url = url(182);
        let output = format!("before\r\n{url}\r\nafter\r\n1\r\n2\r\n3\r\n4");
        for top in 0..=11 {
            let view = seen(&output, top);
            for line in top.max(1)..(top + 4).min(11) {
                assert_eq!(clicked(&view, line, 3).as_ref(), Some(&url), "{line} from {top}");
            }
            let found = targets::find(&Reach::of(&view.1, &view.0), &BTreeMap::new());
            let is_seen = |target: &Target| target.text == url;
            assert_eq!(
                found.iter().filter(|it| is_seen(it)).count(),
                usize::from(top < 11),
                "{top}"
            );
        }
    }

    /// The visible rows without those of the lines `folded`.
    fn without(rows: &[SnapshotRow], folded: std::ops::RangeInclusive<u64>) -> Vec<SnapshotRow> {
        rows.iter().filter(|row| !folded.contains(&row.line.0)).cloned().collect()
    }

    #[test]
    fn a_url_is_whole_if_a_part_of_it_is_folded() {
        // The URL fills the lines 1 to 10.
        let (whole, other) = (url(182), "https://b.example/x");
        let output = format!("before\r\n{whole}\r\n{other}\r\n$ ls\r\n");
        let mut term = Term::new(Size::cells(20, 16), Options::default());
        Parser::new().advance(&mut term, output.as_bytes());
        let mut snapshot = Snapshot::default();
        term.snapshot(&mut snapshot, Some(LineId(0)));
        for folded in [2..=10, 2..=11, 5..=7, 1..=9, 3..=12] {
            let rows = without(&snapshot.rows, folded.clone());
            for row in &rows {
                let at = Point { line: row.line, col: 3 };
                let found = targets::clicked(&rows, &term, at, true).map(|target| target.text);
                let expected = match row.line.0 {
                    1..=10 => Some(whole.as_str()),
                    11 => Some(other),
                    _ => None,
                };
                assert_eq!(found.as_deref(), expected, "{} without {folded:?}", row.line.0);
            }
            let found = targets::find(&Reach::of(&rows, &term), &BTreeMap::new());
            let found: Vec<_> = found.iter().map(|target| target.text.as_str()).collect();
            let has_other = !folded.contains(&11);
            let expected = if has_other { vec![whole.as_str(), other] } else { vec![&*whole] };
            assert_eq!(found, expected, "without {folded:?}");
        }
    }

    #[test]
    fn text_before_a_fold_and_text_after_it_are_no_target() {
        // Two URLs fill a line of more cells than are read. The rows between them are folded.
        let long = format!("{0} {0}", url(CELLS * 3 / 2));
        let (term, _) = seen(&format!("{long}\r\n1\r\n2\r\n3"), 0);
        let (mut above, mut below) = (Snapshot::default(), Snapshot::default());
        term.snapshot(&mut above, Some(LineId(0)));
        term.snapshot(&mut below, Some(LineId(3 * CELLS as u64 / 20 - 10)));
        let rows: Vec<_> = above.rows.into_iter().chain(below.rows).collect();
        assert!(targets::find(&Reach::of(&rows, &term), &BTreeMap::new()).is_empty());
    }

    #[test]
    fn a_path_and_a_wide_name_out_of_sight_are_whole() {
        let path = format!("/tmp/{}/漢字漢字漢字漢字.rs:12", "x".repeat(70));
        let view = seen(&format!("{path}\r\n1\r\n2\r\n3"), 4);
        let line = view.1[0].line.0;
        assert_eq!(clicked(&view, line, 0), Some(path));
    }

    #[test]
    fn text_that_goes_on_where_nothing_is_read_is_no_target() {
        let long = url(2 * CELLS + 4000);
        let (term, _) = seen(&format!("{long}\r\n1\r\n2\r\n3"), 0);
        for top in [0, (CELLS / 20 + 100) as u64] {
            let mut snapshot = Snapshot::default();
            term.snapshot(&mut snapshot, Some(LineId(top)));
            let at = Point { line: LineId(top + 1), col: 1 };
            assert_eq!(targets::clicked(&snapshot.rows, &term, at, true), None, "{top}");
            assert!(targets::find(&Reach::of(&snapshot.rows, &term), &BTreeMap::new()).is_empty());
        }
    }
}
