//! Folded output: lines of finished commands that a view does not show. Folding never changes the terminal.
//!
//! Owns the set of folded commands and the ranges of hidden lines, and builds snapshots without these lines. Folds
//! refer to the ids of commands, so that a fold still hides the right lines after lines are rewrapped. On the
//! alternate screen, folds have no effect.

use std::{collections::BTreeSet, ops::Range};

use unterm_term::{LineId, ScreenKind, Snapshot, SnapshotImage, SnapshotRow, Term};

/// The maximum number of folded commands in a view.
const CAP: usize = 1000;

/// A range of hidden lines, including the first and the last line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hidden {
    id: u64,
    pub(crate) first: LineId,
    last: LineId,
}

impl Hidden {
    /// The number of hidden lines.
    pub(crate) fn count(&self) -> u64 {
        self.last.0 - self.first.0 + 1
    }

    fn holds(&self, line: LineId) -> bool {
        (self.first..=self.last).contains(&line)
    }
}

/// The folds of a view.
#[derive(Debug, Default)]
pub(crate) struct Folds {
    ids: BTreeSet<u64>,
    hidden: Vec<Hidden>,
    part: Snapshot,
}

impl Folds {
    pub(crate) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The hidden ranges, in the order of their lines.
    pub(crate) fn hidden(&self) -> &[Hidden] {
        &self.hidden
    }

    pub(crate) fn has(&self, id: u64) -> bool {
        self.ids.contains(&id)
    }

    /// Folds or unfolds the output of a command. Returns false if the command has no output that can be folded.
    pub(crate) fn toggle(&mut self, term: &Term, id: u64) -> bool {
        if self.unfold(id) {
            return true;
        }
        let can = self.ids.len() < CAP && hidden(term, id).is_some();
        can && self.ids.insert(id)
    }

    /// Folds the output of every finished command. Returns false if no output was left to fold.
    pub(crate) fn fold_all(&mut self, term: &Term) -> bool {
        let before = self.ids.len();
        let ids = term.commands().rev().map(|command| command.id);
        let ids = ids.filter(|id| hidden(term, *id).is_some()).take(CAP);
        self.ids.extend(ids);
        self.ids.len() > before
    }

    /// Unfolds all output. Returns false if no output was folded.
    pub(crate) fn clear(&mut self) -> bool {
        let had_any = !self.ids.is_empty();
        self.ids.clear();
        self.hidden.clear();
        had_any
    }

    /// Unfolds the command whose fold hides a line. Returns false if the line is not hidden.
    pub(crate) fn reveal(&mut self, line: LineId) -> bool {
        let hidden = self.hidden.iter().find(|hidden| hidden.holds(line)).map(|hidden| hidden.id);
        hidden.is_some_and(|id| self.unfold(id))
    }

    fn unfold(&mut self, id: u64) -> bool {
        self.hidden.retain(|hidden| hidden.id != id);
        self.ids.remove(&id)
    }

    /// The nearest line above or below that is not hidden. A line that is not hidden is returned as it is.
    pub(crate) fn outside(&self, line: LineId, above: bool) -> LineId {
        match self.hidden.iter().find(|hidden| hidden.holds(line)) {
            Some(hidden) if above => LineId(hidden.first.0.saturating_sub(1)),
            Some(hidden) => LineId(hidden.last.0 + 1),
            None => line,
        }
    }

    /// Updates `snapshot` as [`Term::snapshot_more`] does, but without the folded lines. Returns true if the snapshot
    /// shows the end of the live screen.
    pub(crate) fn snapshot(
        &mut self,
        term: &Term,
        snapshot: &mut Snapshot,
        top: Option<LineId>,
        more: usize,
    ) -> bool {
        self.ids.retain(|id| term.command(*id).is_some());
        self.hidden = self.ids.iter().filter_map(|id| hidden(term, *id)).collect();
        if term.screen() != ScreenKind::Main {
            term.snapshot(snapshot, top);
            return top.is_none();
        }
        let size = term.size();
        let end = term.live_top().0 + u64::from(size.rows);
        let live = self.before(end, u64::from(size.rows), term.oldest().0);
        let top = top.map(|top| self.outside(top, false).0).filter(|top| *top < live);
        let want = usize::from(size.rows) + if top.is_some() { more } else { 0 };
        let mut rows: Vec<SnapshotRow> = Vec::with_capacity(want);
        let mut images = Vec::new();
        let mut at = top.unwrap_or(live);
        while rows.len() < want && at < end {
            at = self.outside(LineId(at), false).0;
            let stop = self.hidden.iter().map(|one| one.first.0).find(|first| *first > at);
            let stop = stop.unwrap_or(end);
            term.snapshot(&mut self.part, Some(LineId(at)));
            let before = rows.len();
            let wanted = |row: &&SnapshotRow| (at..stop).contains(&row.line.0);
            rows.extend(self.part.rows.iter().filter(wanted).take(want - before).cloned());
            match rows.len() - before {
                0 => break,
                taken => {
                    self.add_images(at..at + taken as u64, before, &mut images);
                    at += taken as u64;
                }
            }
        }
        for line in end.. {
            if rows.len() >= want {
                break;
            }
            let blank =
                self.part.rows.last().map_or_else(SnapshotRow::default, |row| SnapshotRow {
                    cells: vec![unterm_term::Cell::default(); row.cells.len()],
                    ..SnapshotRow::default()
                });
            rows.push(SnapshotRow { line: LineId(line), ..blank });
        }
        let cursor = term.cursor();
        let line = LineId(term.live_top().0 + u64::from(cursor.row));
        let row = rows.iter().position(|row| row.line == line);
        images.sort_by_key(|image| image.z);
        *snapshot = Snapshot { rows, images, cursor, ..self.part.clone() };
        snapshot.cursor.row = row.unwrap_or(0) as u16;
        snapshot.cursor.visible &= row.is_some();
        top.is_none()
    }

    /// Adds the images that `self.part` shows in these lines. The images are moved to row `row`, where these lines are
    /// placed. If an image starts above a hidden range, it is cut off at that range. If an image starts inside a
    /// hidden range, it is left out.
    fn add_images(&self, lines: Range<u64>, row: usize, images: &mut Vec<SnapshotImage>) {
        let Some(first) = self.part.rows.first().map(|row| row.line.0) else { return };
        for image in &self.part.images {
            let begins = first.saturating_add_signed(image.area.top.floor() as i64);
            let is_cut = |hidden: &Hidden| begins <= hidden.last.0 && hidden.first.0 < lines.start;
            if self.hidden.iter().any(is_cut) {
                continue;
            }
            let moved = row as f32 - (lines.start - first) as f32;
            let (above, below) = (row as f32, row as f32 + (lines.end - lines.start) as f32);
            let top = image.area.top + moved;
            let shown = (top.max(above), (top + image.area.height).min(below));
            if shown.0 >= shown.1 {
                continue;
            }
            let mut image = image.clone();
            let pixels_a_row = image.source.height / image.area.height;
            image.source.y += (shown.0 - top) * pixels_a_row;
            image.source.height = (shown.1 - shown.0) * pixels_a_row;
            (image.area.top, image.area.height) = (shown.0, shown.1 - shown.0);
            images.push(image);
        }
    }

    /// The line at which a view must start to show `count` lines before line `end`. Hidden lines do not count. Never
    /// above line `oldest`.
    fn before(&self, end: u64, count: u64, oldest: u64) -> u64 {
        let (mut at, mut need) = (end, count);
        for hidden in self.hidden.iter().rev().filter(|hidden| hidden.first.0 < end) {
            let shown = at.saturating_sub(hidden.last.0 + 1);
            if shown >= need {
                break;
            }
            need -= shown;
            at = hidden.first.0;
        }
        at.saturating_sub(need).max(oldest)
    }
}

/// Whether a command has output that can be folded.
pub(crate) fn can_fold(term: &Term, id: u64) -> bool {
    hidden(term, id).is_some()
}

/// The lines that a fold of a finished command hides. `None` if the command has no output to fold.
fn hidden(term: &Term, id: u64) -> Option<Hidden> {
    let command = term.command(id).filter(|command| !command.is_running())?;
    let range = term.output_range(id)?;
    // If the prompt is gone, keep the first output line visible, because the note about the fold appears in that line.
    let shown = term.prompt_line(command).unwrap_or(range.start.line);
    let first =
        LineId(range.start.line.0 + u64::from(range.start.col > 0)).max(LineId(shown.0 + 1));
    let next = term.prompt_after(shown).map_or(u64::MAX, |next| next.0.saturating_sub(1));
    let last = LineId(range.end.line.0.min(next));
    (first <= last).then_some(Hidden { id, first, last })
}

#[cfg(test)]
mod tests {
    use super::*;
    use unterm_term::{Options, Parser, Size};

    fn text(snapshot: &Snapshot) -> Vec<String> {
        let char = |cell: &unterm_term::Cell| match cell.content() {
            unterm_term::Content::Char(c) => c,
            _ => ' ',
        };
        let row = |row: &SnapshotRow| {
            row.cells.iter().map(char).collect::<String>().trim_end().to_owned()
        };
        snapshot.rows.iter().map(row).collect()
    }

    /// The output of a command with its prompt, including the marks of shell integration (OSC 133).
    fn run(line: &str, output: &str) -> String {
        format!("\x1b]133;A\x07$ \x1b]133;B\x07{line}\r\n\x1b]133;C\x07{output}\x1b]133;D;0\x07")
    }

    #[test]
    fn folded_lines_are_left_out_and_older_ones_fill_the_screen() {
        let mut term = Term::new(Size::cells(10, 5), Options::default());
        let bytes = run("one", "1\r\n2\r\n3\r\n")
            + &run("two", "x\r\ny\r\n")
            + "\x1b]133;A\x07$ \x1b]133;B\x07";
        Parser::new().advance(&mut term, bytes.as_bytes());
        let mut folds = Folds::default();
        let mut snapshot = Snapshot::default();
        assert!(folds.toggle(&term, 2));
        assert!(!folds.toggle(&term, 3), "nothing has run there");
        assert!(folds.snapshot(&term, &mut snapshot, None, 0));
        assert_eq!(text(&snapshot), ["1", "2", "3", "$ two", "$"]);
        assert_eq!(snapshot.cursor.row, 4);
        folds.fold_all(&term);
        assert!(folds.snapshot(&term, &mut snapshot, Some(LineId(0)), 0));
        assert_eq!(text(&snapshot), ["$ one", "$ two", "$", "", ""]);
        assert_eq!((snapshot.cursor.row, snapshot.cursor.visible), (2, true));
        assert_eq!(folds.outside(LineId(2), true), LineId(0));
        assert_eq!(folds.outside(LineId(2), false), LineId(4));
        assert!(folds.reveal(LineId(2)) && !folds.has(1) && folds.has(2));
        assert!(folds.toggle(&term, 2), "the last one is unfolded");
        assert!(folds.hidden().is_empty(), "nothing is left out any more");
    }

    #[test]
    fn a_command_without_its_prompt_keeps_its_first_line() {
        let mut term = Term::new(Size::cells(10, 6), Options::default());
        let bytes = run("one", "old\r\n\x1b[H\x1b[2J\x1b[3J1\r\n2\r\n3\r\n")
            + "\x1b]133;A\x07$ \x1b]133;B\x07";
        Parser::new().advance(&mut term, bytes.as_bytes());
        let (mut folds, mut snapshot) = (Folds::default(), Snapshot::default());
        assert!(folds.toggle(&term, 1));
        assert!(folds.snapshot(&term, &mut snapshot, None, 0));
        assert_eq!(text(&snapshot), ["1", "$", "", "", "", ""]);
        assert_eq!(folds.hidden()[0].count(), 2);
    }

    #[test]
    fn images_go_with_their_lines() {
        let mut term = Term::new(Size::cells(10, 12), Options::default());
        // An image of one pixel, scaled to two columns and `rows` rows. With C=1, the cursor stays in place.
        let image = |rows| format!("\x1b_Ga=T,q=2,f=24,s=1,v=1,c=2,r={rows},C=1;////\x1b\\");
        let bytes = run("one", &(image(4) + "1\r\n2\r\n"))
            + &run("two", &(image(2) + "x\r\ny\r\n"))
            + "\x1b]133;A\x07$ \x1b]133;B\x07";
        Parser::new().advance(&mut term, bytes.as_bytes());
        let shown = |folds: &mut Folds, term: &Term| {
            let mut snapshot = Snapshot::default();
            folds.snapshot(term, &mut snapshot, None, 0);
            let place =
                |image: &SnapshotImage| (image.area.top, image.area.height, image.source.height);
            (text(&snapshot), snapshot.images.iter().map(place).collect::<Vec<_>>())
        };
        let mut folds = Folds::default();
        assert!(folds.toggle(&term, 2));
        let (lines, images) = shown(&mut folds, &term);
        // The first image also covers the line of the second command. It is cut off at the fold.
        assert_eq!(lines[..5], ["$ one", "1", "2", "$ two", "$"]);
        assert_eq!(images, [(1.0, 3.0, 0.75)]);
        assert!(folds.toggle(&term, 2) && folds.toggle(&term, 1));
        let (lines, images) = shown(&mut folds, &term);
        assert_eq!(lines[..5], ["$ one", "$ two", "x", "y", "$"]);
        assert_eq!(images, [(2.0, 2.0, 1.0)], "moved up with its lines");
    }
}
