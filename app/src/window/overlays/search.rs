//! Search in the screen and history of a pane: a bar at the pane's top right, and highlighted matches. A separate
//! thread searches the text without locking the terminal.
//!
//! Owns the query and the matches. The engine runs the search.

pub(crate) mod draw;
pub(crate) mod input;
pub(crate) mod search_result;

use std::{
    cell::Cell,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use unterm_mux::{Pane, PaneId};
use unterm_renderer::{Highlight, PixelRect};
use unterm_term::{Case, LineId, Pattern, PatternKind, Point, SearchOrder, SnapshotRow, TextRange};

use crate::window::{
    inbox::Inbox,
    overlays::search::search_result::SearchResult,
    ui::{geometry::contains, line::Line},
};

/// The maximum number of matches to keep. If there are more, the bar shows a "+".
const CAP: usize = 100_000;

/// The interpretation of the input. Ctrl+R switches to the next kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SearchKind {
    /// Literal text. Case matters only if the text contains an upper-case letter.
    #[default]
    Smart,
    /// Literal text. Case always matters.
    Exact,
    /// A regular expression.
    Regex,
}

impl SearchKind {
    pub(crate) fn next(self) -> Self {
        match self {
            Self::Smart => Self::Exact,
            Self::Exact => Self::Regex,
            Self::Regex => Self::Smart,
        }
    }

    /// The name of this kind in the bar.
    fn title(self) -> &'static str {
        match self {
            Self::Smart => "smart case",
            Self::Exact => "exact case",
            Self::Regex => "regex",
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Query {
    text: String,
    kind: SearchKind,
    whole_words: bool,
}

/// The position at which copy mode started a search, and the direction of the search.
#[derive(Clone, Copy)]
pub(crate) struct FromCopyMode {
    pub(crate) origin: Point,
    /// Whether the search runs toward newer lines.
    pub(crate) forward: bool,
}

/// A button of the bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Button {
    /// Switches to the next kind of search.
    Kind,
    /// Moves to the previous match.
    Previous,
    /// Moves to the next match.
    Next,
    Close,
}

/// The rectangles of the bar and of its buttons.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Places {
    bar: PixelRect,
    kind: PixelRect,
    previous: PixelRect,
    next: PixelRect,
    close: PixelRect,
}

impl Places {
    /// The button at a point.
    pub(crate) fn button(&self, x: f64, y: f64) -> Option<Button> {
        [
            (self.kind, Button::Kind),
            (self.previous, Button::Previous),
            (self.next, Button::Next),
            (self.close, Button::Close),
        ]
        .into_iter()
        .find_map(|(rect, button)| contains(rect, x, y).then_some(button))
    }
}

/// How the pattern is compared with the text.
#[derive(Clone, Copy, Debug, Default)]
struct Matching {
    kind: SearchKind,
    /// Whether only whole words match.
    whole_words: bool,
}

/// An open search bar with its results.
pub(crate) struct SearchBar {
    pub(crate) pane: PaneId,
    line: Line,
    matching: Matching,
    /// The visible lines when the search was opened: the first line (`None` for the live screen), and the last line.
    origin: (Option<LineId>, LineId),
    /// Set if copy mode opened the search. Then the cursor of copy mode moves to the current match.
    from: Option<FromCopyMode>,
    /// Whether the user accepted the pattern. From then on, keys go to copy mode again.
    is_accepted: bool,
    /// Whether the user accepted the pattern before the search ended. If so, the result still moves the cursor.
    is_awaited: bool,
    /// The error in the input, if it is not a valid pattern.
    problem: Option<String>,
    found: SearchResult,
    /// The index of the current match.
    current: Option<usize>,
    /// The query of the search before this one.
    last: Option<Query>,
    /// The number of the latest search. Threads of older searches stop when this number changes.
    generation: Arc<AtomicU64>,
    /// The time at which to search again because of new output.
    again: Option<Instant>,
    /// Whether the latest search has ended.
    pub(crate) is_answered: bool,
    /// The rectangles where the bar and its buttons were last drawn.
    places: Cell<Places>,
}

impl SearchBar {
    fn new(pane: PaneId) -> Self {
        Self {
            pane,
            line: Line::default(),
            matching: Matching::default(),
            origin: (None, LineId(u64::MAX)),
            from: None,
            is_accepted: false,
            is_awaited: false,
            problem: None,
            found: SearchResult::default(),
            current: None,
            last: None,
            generation: Arc::default(),
            again: None,
            is_answered: true,
            places: Cell::default(),
        }
    }

    /// Creates a search that copy mode requests. `last` is the query of the search before.
    pub(crate) fn of_copy_mode(pane: PaneId, last: Option<Query>, from: FromCopyMode) -> Self {
        Self { last, from: Some(from), ..Self::new(pane) }
    }

    /// Creates a search that the user opens. `origin` is the first visible line (`None` for the live screen), and the
    /// last visible line. `last` is the query of the search before.
    pub(crate) fn of_user(
        pane: PaneId,
        last: Option<Query>,
        origin: (Option<LineId>, LineId),
    ) -> Self {
        Self { last, origin, ..Self::new(pane) }
    }

    /// Creates a search for a text. `last` is the query of the search before.
    pub(crate) fn for_text(pane: PaneId, last: Option<Query>, text: &str) -> Self {
        let mut search = Self { last, ..Self::new(pane) };
        search.line.insert(text);
        search
    }

    /// Ends the search. Returns its query, or the query before it if the input is empty.
    pub(crate) fn end(self) -> Option<Query> {
        self.generation.fetch_add(1, Ordering::AcqRel);
        self.query().or(self.last)
    }

    /// Receives the keys again, after the user accepted the pattern or copy mode opened the search.
    pub(crate) fn resume(&mut self) {
        (self.is_accepted, self.from) = (false, None);
    }

    /// Accepts the pattern: copy mode receives the keys again, and the matches stay highlighted.
    pub(crate) fn accept(&mut self) {
        self.is_accepted = true;
    }

    /// The rectangle where the bar was last drawn.
    pub(crate) fn bar(&self) -> PixelRect {
        self.places.get().bar
    }

    /// The query for the input; `None` if the input is empty.
    fn query(&self) -> Option<Query> {
        let text = Some(self.line.text().to_owned()).filter(|text| !text.is_empty())?;
        Some(Query { text, kind: self.matching.kind, whole_words: self.matching.whole_words })
    }

    /// Replaces the input and its options by an earlier query.
    fn recall(&mut self, query: &Query) {
        self.line.select_all();
        self.line.insert(&query.text);
        (self.matching.kind, self.matching.whole_words) = (query.kind, query.whole_words);
    }

    /// Starts a search for the input. The previous matches are kept until the new search ends.
    fn start(&mut self, pane: &Pane, inbox: &Arc<Inbox>) {
        self.again = None;
        self.problem = None;
        let generation = self.generation.fetch_add(1, Ordering::AcqRel) + 1;
        if self.line.text().is_empty() {
            self.found = SearchResult { generation, ..SearchResult::default() };
            self.current = None;
            self.is_answered = true;
            return;
        }
        let (kind, case) = match self.matching.kind {
            SearchKind::Smart => (PatternKind::Literal, Case::Smart),
            SearchKind::Exact => (PatternKind::Literal, Case::Sensitive),
            SearchKind::Regex => (PatternKind::Regex, Case::Smart),
        };
        let make = if self.matching.whole_words { Pattern::whole_words } else { Pattern::new };
        let pattern = match make(self.line.text(), kind, case) {
            Ok(pattern) => pattern,
            Err(error) => {
                // The parser's error has several lines. The last line describes the problem.
                let text = error.to_string();
                return self.give_up(text.lines().last().unwrap_or_default().to_owned());
            }
        };
        self.is_answered = false;
        let lines = pane.term().lines();
        let (newest, inbox) = (Arc::clone(&self.generation), Arc::clone(inbox));
        let search = move || {
            let mut matches = Vec::new();
            let mut more = false;
            for found in lines.search(&pattern, SearchOrder::NewestFirst) {
                if newest.load(Ordering::Acquire) != generation {
                    return;
                }
                if matches.len() == CAP {
                    more = true;
                    break;
                }
                matches.push(found);
            }
            matches.reverse();
            inbox.post(|news| {
                // Do not replace the result of a newer search.
                if newest.load(Ordering::Acquire) == generation {
                    news.found = Some(SearchResult { generation, matches, more });
                }
            });
        };
        if let Err(error) = std::thread::Builder::new().name("search".to_owned()).spawn(search) {
            self.give_up(format!("no thread to search with: {error}"));
        }
    }

    /// Ends the search with an error message. Results that arrive later are ignored, and no match is current.
    fn give_up(&mut self, problem: String) {
        let generation = self.generation.load(Ordering::Acquire);
        self.problem = Some(problem);
        self.found = SearchResult { generation, ..SearchResult::default() };
        self.current = None;
        self.is_answered = true;
    }

    /// Stores the matches that a thread found, and returns whether to scroll. If the current match still exists, it
    /// remains current. Otherwise, the newest match that starts at or above line `bottom` becomes current.
    fn take(&mut self, found: SearchResult, bottom: LineId) -> bool {
        if found.generation != self.generation.load(Ordering::Acquire) {
            return false;
        }
        let before = self.current.and_then(|at| self.found.matches.get(at)).map(|m| m.range);
        self.is_answered = true;
        self.found = found;
        let matches = &self.found.matches;
        let same = before.and_then(|range| matches.iter().position(|m| m.range == range));
        let above = matches.partition_point(|m| m.range.start.line <= bottom);
        self.current =
            same.or_else(|| if matches.is_empty() { None } else { Some(above.saturating_sub(1)) });
        if let Some(from) = self.from.filter(|_| self.moves_cursor()) {
            self.seek(from.origin, from.forward);
            return true;
        }
        same.is_none()
    }

    /// Moves forward or backward from `at` by `count` matches. Returns the start of the match that is now current.
    pub(crate) fn walk(&mut self, at: Point, forward: bool, count: u32) -> Option<Point> {
        let mut at = at;
        for _ in 0..count {
            self.seek(at, forward);
            at = self.range()?.start;
        }
        Some(at)
    }

    /// Moves to the nearest match after `at`, or before `at` if `forward` is false. Wraps around at the ends.
    fn seek(&mut self, at: Point, forward: bool) {
        let matches = &self.found.matches;
        let Some(last) = matches.len().checked_sub(1) else { return };
        self.current = Some(match forward {
            true => match matches.partition_point(|m| m.range.start <= at) {
                next if next > last => 0,
                next => next,
            },
            false => {
                let before = matches.partition_point(|m| m.range.start < at);
                before.checked_sub(1).unwrap_or(last)
            }
        });
    }

    /// Whether the cursor of copy mode moves to the current match.
    fn moves_cursor(&self) -> bool {
        self.from.is_some() && (!self.is_accepted || self.is_awaited)
    }

    /// Whether the search belongs to copy mode: copy mode opened it, or the user accepted its pattern.
    pub(crate) fn is_of_copy_mode(&self) -> bool {
        self.from.is_some() || self.is_accepted
    }

    /// Moves by `by` matches, to an older or a newer match. Wraps around at the ends.
    fn step(&mut self, by: isize) {
        let count = self.found.matches.len() as isize;
        if count > 0 {
            let current = self.current.map_or(0, |at| at as isize + by);
            self.current = Some(current.rem_euclid(count) as usize);
        }
    }

    /// The text range of the current match.
    pub(crate) fn range(&self) -> Option<TextRange> {
        Some(self.found.matches.get(self.current?)?.range)
    }

    /// The matches in the visible rows, as highlights.
    pub(crate) fn in_sight(&self, rows: &[SnapshotRow]) -> Vec<Highlight> {
        match (rows.first(), rows.last()) {
            (Some(first), Some(last)) => self.highlights(first.line, last.line),
            _ => Vec::new(),
        }
    }

    /// The matches in the lines `first` to `last`, as highlights.
    fn highlights(&self, first: LineId, last: LineId) -> Vec<Highlight> {
        let matches = &self.found.matches;
        // A match may start above `first`, so the search for the first match compares the ends.
        let start = matches.partition_point(|m| m.range.end.line < first);
        matches[start..]
            .iter()
            .enumerate()
            .take_while(|(_, m)| m.range.start.line <= last)
            .map(|(at, m)| Highlight { range: m.range, current: self.current == Some(start + at) })
            .collect()
    }

    /// The first line of each match, the oldest match first.
    pub(crate) fn lines(&self) -> impl Iterator<Item = LineId> {
        self.found.matches.iter().map(|found| found.range.start.line)
    }

    /// The input, the message of the bar, and whether the search has ended. For screen readers.
    pub(crate) fn spoken(&self) -> (&str, String, bool) {
        let count = self.problem.clone().unwrap_or_else(|| self.count());
        (self.line.text(), count, self.is_answered)
    }

    /// The number of matches and the kind of search, as shown at the right of the bar.
    fn count(&self) -> String {
        let count = self.found.matches.len();
        let more = if self.found.more { "+" } else { "" };
        let words = if self.matching.whole_words { ", words" } else { "" };
        let kind = format!("{}{words}", self.matching.kind.title());
        match self.current {
            _ if self.line.text().is_empty() => kind,
            Some(at) => format!("{} of {count}{more} · {kind}", at + 1),
            None if !self.is_answered => "searching".to_owned(),
            None => format!("nothing · {kind}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use unterm_term::{Options, Parser, Size, Term};

    use super::*;

    /// A search bar after a search for `pattern`, in a terminal of 10 columns and 5 rows.
    fn found(text: &str, pattern: &str) -> SearchBar {
        let mut term = Term::new(Size::cells(10, 5), Options::default());
        Parser::new().advance(&mut term, text.as_bytes());
        let mut bar = SearchBar::new(PaneId(0));
        let pattern = Pattern::new(pattern, PatternKind::Literal, Case::Smart).unwrap();
        let matches: Vec<_> = term.lines().search(&pattern, SearchOrder::OldestFirst).collect();
        bar.line.insert("x");
        assert!(bar.take(SearchResult { generation: 0, matches, more: false }, LineId(u64::MAX)));
        bar
    }

    #[test]
    fn the_newest_match_is_looked_at_first_and_steps_go_round() {
        let mut bar = found("a1\r\na2\r\nb\r\na3", "a");
        assert_eq!(bar.count(), "3 of 3 · smart case");
        bar.step(-1);
        assert_eq!(bar.count(), "2 of 3 · smart case");
        bar.step(-2);
        assert_eq!(bar.count(), "3 of 3 · smart case");
        bar.step(1);
        assert_eq!(bar.count(), "1 of 3 · smart case");
    }

    #[test]
    fn copy_mode_goes_to_the_nearest_match_in_its_direction() {
        let mut bar = found("a1\r\na2 a\r\nb\r\na3", "a");
        let mut seek = |line, col, forward| {
            bar.seek(Point { line: LineId(line), col }, forward);
            bar.range().map(|range| (range.start.line.0, range.start.col))
        };
        assert_eq!(seek(1, 0, true), Some((1, 3)));
        assert_eq!(seek(1, 0, false), Some((0, 0)));
        assert_eq!(seek(3, 0, true), Some((0, 0)), "round the end");
        assert_eq!(seek(0, 0, false), Some((3, 0)), "round the start");
    }

    #[test]
    fn copy_mode_walks_over_as_many_matches_as_its_count_says() {
        let mut bar = found("a1\r\na2 a\r\nb\r\na3", "a");
        let start = Point { line: LineId(0), col: 0 };
        let mut walk =
            |forward, count| bar.walk(start, forward, count).map(|to| (to.line.0, to.col));
        assert_eq!(walk(true, 2), Some((1, 3)));
        assert_eq!(walk(true, 4), Some((0, 0)), "round the end");
        assert_eq!(walk(false, 2), Some((1, 3)));
        assert_eq!(found("b", "a").walk(start, true, 3), None);
    }

    #[test]
    fn the_last_search_is_recalled_with_its_options() {
        let mut bar = SearchBar::new(PaneId(0));
        assert!(bar.query().is_none());
        bar.line.insert("a.c");
        (bar.matching.kind, bar.matching.whole_words) = (SearchKind::Regex, true);
        let query = bar.query().unwrap();
        let mut next = SearchBar::new(PaneId(1));
        next.line.insert("x");
        next.recall(&query);
        assert_eq!(next.line.text(), "a.c");
        assert_eq!((next.matching.kind, next.matching.whole_words), (SearchKind::Regex, true));
    }

    #[test]
    fn only_matches_in_sight_are_marked() {
        let bar = found("a\r\nb\r\na\r\nb\r\na", "a");
        let all = bar.highlights(LineId(0), LineId(u64::MAX));
        assert_eq!(all.iter().map(|one| one.current).collect::<Vec<_>>(), [false, false, true]);
        let line = all[1].range.start.line;
        let some = bar.highlights(line, LineId(line.0 + 1));
        assert_eq!(some.len(), 1);
        assert_eq!(some[0].range.start, Point { line, col: 0 });
    }

    #[test]
    fn a_pane_of_one_row_shows_its_match() {
        let bar = found("a\r\nb\r\na", "a");
        let row = |line| SnapshotRow { line: LineId(line), ..SnapshotRow::default() };
        assert_eq!(bar.in_sight(&[row(2)]).len(), 1);
        assert_eq!(bar.in_sight(&[row(1)]).len(), 0);
        assert_eq!(bar.in_sight(&[row(0), row(1), row(2)]).len(), 2);
        assert_eq!(bar.in_sight(&[]).len(), 0);
    }

    #[test]
    fn an_invalid_pattern_ends_the_running_search() {
        let mut bar = found("a", "a");
        // The pattern becomes invalid while a search runs.
        bar.generation.fetch_add(2, Ordering::AcqRel);
        bar.is_answered = false;
        bar.give_up("unclosed group".to_owned());
        assert_eq!(bar.count(), "nothing · smart case");
        assert!(bar.is_answered && bar.range().is_none());
        assert!(!bar.take(SearchResult { generation: 1, ..SearchResult::default() }, LineId(0)));
    }

    #[test]
    fn no_result_is_shown_before_the_search_has_ended() {
        let mut bar = found("a", "a");
        // The user types another letter, which starts a new search.
        (bar.current, bar.is_answered) = (None, false);
        assert_eq!(bar.spoken(), ("x", "searching".to_owned(), false));
        assert!(bar.take(SearchResult::default(), LineId(0)));
        assert_eq!(bar.spoken(), ("x", "nothing · smart case".to_owned(), true));
        bar.give_up("unclosed group".to_owned());
        assert_eq!(bar.spoken(), ("x", "unclosed group".to_owned(), true));
    }

    #[test]
    fn an_answer_to_an_older_question_is_not_taken() {
        let mut bar = found("a", "a");
        bar.generation.store(7, Ordering::Release);
        assert!(!bar.take(SearchResult { generation: 6, ..SearchResult::default() }, LineId(0)));
        assert_eq!(bar.found.matches.len(), 1);
    }
}
