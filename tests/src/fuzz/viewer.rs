//! A viewer that watches a terminal while it is fed: it takes snapshots, selects and searches.

use unterm_term::{
    Case, LineId, Match, Pattern, PatternKind, Point, SearchOrder, Snapshot, Term, TextRange,
};

use super::Random;

/// A viewer of a terminal. Updating its snapshots must have the same result as creating new ones.
#[derive(Default)]
pub(super) struct Viewer {
    live: Snapshot,
    back: Snapshot,
}

impl Viewer {
    /// Looks at some positions of the terminal.
    pub(super) fn look(&mut self, term: &Term, random: &mut Random) {
        compare(term, &mut self.live, None);
        let span = term.live_top().0 - term.oldest().0 + 3;
        let back = LineId(term.oldest().0.saturating_sub(1) + random.below(span as usize) as u64);
        compare(term, &mut self.back, Some(back));
        select(term, random);
        search(term, random);
    }
}

fn compare(term: &Term, kept: &mut Snapshot, top: Option<LineId>) {
    let mut new = Snapshot::default();
    term.snapshot(&mut new, top);
    term.snapshot(kept, top);
    assert_eq!(new.rows.len(), term.size().rows as usize);
    for (new, kept) in new.rows.iter().zip(&kept.rows) {
        assert_eq!(new, kept, "a snapshot brought up to date is not a new one");
        let ends: Vec<u16> = new.styles.iter().map(|run| run.end).collect();
        let starts: Vec<u16> = new.styles.iter().map(|run| run.start).collect();
        assert_eq!(starts[0], 0);
        assert_eq!(starts[1..], ends[..ends.len() - 1], "runs of style leave gaps");
        assert_eq!(ends.last(), Some(&term.size().cols));
    }
    assert_eq!(new.extra_cursors, kept.extra_cursors);
    assert_eq!(new.glyphs.revision(), kept.glyphs.revision());
    assert_eq!(
        (new.cursor, new.modes, new.seq, new.oldest, new.live_top),
        (kept.cursor, kept.modes, kept.seq, kept.oldest, kept.live_top)
    );
}

/// A random position, possibly outside the terminal.
pub(super) fn a_point(term: &Term, random: &mut Random) -> Point {
    let lines = term.history_rows() + term.size().rows as usize + 2;
    let line = LineId(term.oldest().0.saturating_sub(1) + random.below(lines) as u64);
    Point { line, col: random.below(term.size().cols as usize + 1) as u16 }
}

/// Selects words, lines and ranges at random positions, including positions outside the terminal.
fn select(term: &Term, random: &mut Random) {
    let (a, b) = (a_point(term, random), a_point(term, random));
    let word = term.word_at(a, unterm_term::WORD_SEPARATORS);
    assert!(word.start <= word.end, "{word:?}");
    let line = term.line_at(a.line);
    assert!(line.start <= line.end, "{line:?}");
    let range = TextRange { start: a.min(b), end: a.max(b), block: random.one_in(2) };
    let lines = (range.end.line.0 - range.start.line.0) as usize + 1;
    assert!(term.text(range).matches('\n').count() < lines);
}

/// Checks that a search finds a word of a row.
fn search(term: &Term, random: &mut Random) {
    let line = LineId(term.live_top().0 + random.below(term.size().rows as usize) as u64);
    let mut row = String::new();
    assert!(term.row_text(line, &mut row));
    // A longer word is not a valid pattern: clusters can make a row longer than its columns.
    let Some(word) = row.split_whitespace().next().filter(|word| word.len() <= 4096) else {
        return;
    };
    // A match also counts if it starts in an earlier row and covers the word, because matches don't overlap.
    let found = term.find(word, 1);
    assert!(!found.is_empty(), "{word:?} of {row:?} is not found");
    let text = term.text(found[0].range).replace('\n', "");
    assert!(text.contains(word), "{word:?} is found at {text:?}");
    if random.one_in(4) {
        both_ways(term, word);
    }
}

/// Checks that a search from the end finds the same matches as a search from the beginning, and that the matches are
/// valid.
fn both_ways(term: &Term, word: &str) {
    let pattern = Pattern::new(word, PatternKind::Literal, Case::Insensitive).expect("a pattern");
    let found = |order| term.lines().search(&pattern, order).take(1000).collect::<Vec<Match>>();
    let (first, mut last) = (found(SearchOrder::OldestFirst), found(SearchOrder::NewestFirst));
    last.reverse();
    if first.len() < 1000 {
        assert_eq!(first, last, "{word:?} is found elsewhere from the other end");
    }
    assert!(
        first.iter().all(|found| term.still_holds(found)),
        "nothing happened, and {word:?} is gone"
    );
}
