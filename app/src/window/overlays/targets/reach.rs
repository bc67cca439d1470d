//! The rows in which targets are searched: the visible rows, and further rows of lines that start or end out of view.
//!
//! Only whole targets count: text at the end of the rows that were read is no target if its line continues there.

use std::borrow::Cow;

use unterm_term::{LineId, Point, Snapshot, SnapshotRow, Term, TextRange};

/// The maximum number of cells to read out of view, on each side. The limit matters because each movement of the
/// pointer over a long line reads its cells.
const CELLS: usize = 65_536;

/// The visible rows, and the rest of the lines that they belong to.
pub(crate) struct Reach<'a> {
    pub(crate) rows: Cow<'a, [SnapshotRow]>,
    /// The first and the last visible line.
    sight: Option<(LineId, LineId)>,
    /// Whether the first row continues a row that was not read.
    starts_cut: bool,
    /// Whether the last row continues in a row that was not read.
    ends_cut: bool,
}

impl<'a> Reach<'a> {
    /// Rows without a terminal, for tests. The first and the last row count as complete lines.
    #[cfg(test)]
    pub(crate) fn only(rows: &'a [SnapshotRow]) -> Self {
        let sight = rows.first().zip(rows.last()).map(|(first, last)| (first.line, last.line));
        Self { rows: Cow::Borrowed(rows), sight, starts_cut: false, ends_cut: false }
    }

    /// Reads the rest of the first and the last visible line, as far as the terminal still holds it.
    pub(crate) fn of(seen: &'a [SnapshotRow], term: &Term) -> Self {
        let (Some(first), Some(last)) = (seen.first(), seen.last()) else {
            return Self {
                rows: Cow::Borrowed(seen),
                sight: None,
                starts_cut: false,
                ends_cut: false,
            };
        };
        let most = (CELLS / first.cells.len().max(1)) as u64;
        // These rows come from a screen of another width, and are about to be replaced.
        let is_old = first.cells.len() != usize::from(term.size().cols);
        let head = match is_old {
            true => first.line,
            false => {
                term.line_at(first.line).start.line.max(LineId(first.line.0.saturating_sub(most)))
            }
        };
        let tail = match last.wrapped && !is_old {
            true => term.line_at(last.line).end.line.min(LineId(last.line.0 + most)),
            false => last.line,
        };
        let before = head.0.checked_sub(1).map(LineId);
        let starts_cut = before.is_some_and(|line| line >= term.oldest() && term.is_wrapped(line));
        let mut rows = Cow::Borrowed(seen);
        if head < first.line {
            rows.to_mut().splice(..0, read(term, head, LineId(first.line.0 - 1)));
        }
        if tail > last.line {
            rows.to_mut().extend(read(term, LineId(last.line.0 + 1), tail));
        }
        let end = LineId(tail.0 + 1);
        let is_kept = end.0 < term.live_top().0 + u64::from(term.size().rows);
        let ends_cut = is_kept && rows.last().is_some_and(|row| row.wrapped);
        Self { rows, sight: Some((first.line, last.line)), starts_cut, ends_cut }
    }

    /// Whether all of a range was read, and a part of the range is visible.
    pub(crate) fn holds(&self, range: &TextRange) -> bool {
        let (Some(first), Some(last)) = (self.rows.first(), self.rows.last()) else { return false };
        let begin = Point { line: first.line, col: 0 };
        let end = Point { line: last.line, col: last.cells.len().saturating_sub(1) as u16 };
        let is_cut = self.starts_cut && range.start <= begin || self.ends_cut && range.end >= end;
        self.sees(range) && !is_cut
    }

    /// Whether a part of a range is visible.
    pub(crate) fn sees(&self, range: &TextRange) -> bool {
        self.sight.is_some_and(|(first, last)| range.start.line <= last && first <= range.end.line)
    }
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
