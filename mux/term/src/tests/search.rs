//! Search: which matches are found, in which order, and whether they are still valid.

use proptest::prelude::*;

use super::Fixture;
use crate::{Case, Match, Pattern, PatternError, PatternKind, SearchOrder, Size};

fn regex(pattern: &str) -> Pattern {
    Pattern::new(pattern, PatternKind::Regex, Case::Sensitive).unwrap()
}

fn literal(text: &str, case: Case) -> Pattern {
    Pattern::new(text, PatternKind::Literal, case).unwrap()
}

fn search(fixture: &Fixture, pattern: &Pattern) -> Vec<Match> {
    let oldest: Vec<_> = fixture.term.lines().search(pattern, SearchOrder::OldestFirst).collect();
    let mut newest: Vec<_> =
        fixture.term.lines().search(pattern, SearchOrder::NewestFirst).collect();
    newest.reverse();
    assert!(oldest == newest, "the same in either order: {} and {}", oldest.len(), newest.len());
    oldest
}

/// Checks which texts `pattern` matches on a 10×4 screen after `bytes`.
#[track_caller]
fn check(bytes: &str, pattern: &Pattern, expected: &[&str]) {
    let mut fixture = Fixture::new(10, 4);
    fixture.feed(bytes);
    let found = search(&fixture, pattern);
    let texts: Vec<_> = found.iter().map(|found| fixture.term.text(found.range)).collect();
    assert_eq!(texts, expected);
}

#[test]
fn regular_expressions() {
    check("error: 12\r\nwarning: 7", &regex(r"\d+"), &["12", "7"]);
    check("a long word wraps here", &regex(r"w\w+s"), &["wraps"]);
    check("ab\r\ncd", &regex("^.+$"), &["ab", "cd"]);
    // Erased cells are not text. Printed blanks are text.
    check("ab\x1b[44m\x1b[K\x1b[m\r\ncd ", &regex(".+$"), &["ab", "cd"]);
    check("日本語 x\r\nae\u{301}b", &regex(r"本. |e\u{301}"), &["本語", "e\u{301}"]);
    // A match never continues in the next line.
    check("a \r\n\r\nb", &regex(r"a\s+b?"), &["a"]);
    check("a\r\nb\r\nc", &regex(r"a[^x]+c|b"), &["b"]);
    check("aaa", &regex("x*"), &[]);
    check("aXa", &regex("[^a]*"), &["X"]);
}

#[test]
fn whole_words() {
    let words = |text| Pattern::whole_words(text, PatternKind::Literal, Case::Smart).unwrap();
    check("cat concat\r\ncats Cat", &words("cat"), &["cat", "Cat"]);
    check("-v --verb\r\nx-v", &words("-v"), &["-v"]);
    check("ab", &words(""), &[]);
    let either = Pattern::whole_words("a|bc", PatternKind::Regex, Case::Sensitive).unwrap();
    check("a ab abc bc", &either, &["a", "bc"]);
}

#[test]
fn cases() {
    let text = "Foo foo FOO";
    check(text, &literal("foo", Case::Sensitive), &["foo"]);
    check(text, &literal("foo", Case::Insensitive), &["Foo", "foo", "FOO"]);
    check(text, &literal("foo", Case::Smart), &["Foo", "foo", "FOO"]);
    check(text, &literal("Foo", Case::Smart), &["Foo"]);
    check("ÄÖ äö", &literal("äö", Case::Insensitive), &["ÄÖ", "äö"]);
    check("W w", &Pattern::new(r"\Ww", PatternKind::Regex, Case::Smart).unwrap(), &[" w"]);
    // In a literal pattern, no character has a special meaning.
    check(r"a.b <x> \d", &literal(".", Case::Sensitive), &["."]);
    check(r"a.b <x> \d", &literal(r"<x> \d", Case::Insensitive), &[r"<x> \d"]);
}

#[test]
fn patterns_are_bounded() {
    let make = |text: &str| Pattern::new(text, PatternKind::Regex, Case::Sensitive).unwrap_err();
    assert_eq!(make(&"x".repeat(5000)), PatternError::TooLong);
    assert!(matches!(make("a("), PatternError::Syntax(_)));
    assert!(matches!(make(&"(".repeat(1000)), PatternError::Syntax(_)));
    assert_eq!(make(r"(\w{1000}){1000}"), PatternError::TooLarge);
    assert_eq!(make(r"\pL{500}"), PatternError::TooLarge);
}

#[test]
fn matches_know_whether_they_still_hold() {
    let mut fixture = Fixture::new(10, 4);
    fixture.feed("one needle\r\ntwo\r\nneedle\r\n");
    let found = search(&fixture, &literal("needle", Case::Sensitive));
    let hold = |fixture: &Fixture| -> Vec<bool> {
        found.iter().map(|found| fixture.term.still_holds(found)).collect()
    };
    assert_eq!(hold(&fixture), [true, true]);
    fixture.feed("more\r\nlines\r\n");
    assert_eq!(hold(&fixture), [true, true], "scrolling changes no line");
    fixture.feed("\x1b[H\x1b[2K");
    assert_eq!(hold(&fixture), [true, false], "a line that was changed");
    fixture.feed("\x1b[?1049h");
    assert_eq!(hold(&fixture), [false, false], "the other screen");
    fixture.feed("\x1b[?1049l");
    assert_eq!(hold(&fixture), [true, false]);
    fixture.term.resize(Size::cells(7, 4));
    assert_eq!(hold(&fixture), [false, false], "new lines after a reflow");
}

#[test]
fn a_copy_of_the_lines_stays_as_it_was() {
    let mut fixture = Fixture::new(20, 4);
    for i in 0..2000 {
        fixture.feed(format!("line {i}\r\n"));
    }
    fixture.freeze();
    let mut lines = fixture.term.lines();
    fixture.feed("\x1b[3J\x1b[2J");
    let mut text = String::new();
    for i in [0, 1999, 3, 1024, 1500] {
        text.clear();
        assert!(lines.row_text(crate::LineId(i), &mut text));
        assert_eq!(text, format!("line {i}"));
    }
    assert!(!lines.row_text(lines.end(), &mut text));
    let mut search = lines.search(&regex("^line 1..$"), SearchOrder::NewestFirst);
    assert_eq!(search.next().map(|found| found.range.start.line.0), Some(199));
    assert_eq!(search.count(), 99);
}

/// A line that wraps across pieces of history is found whole. An endless line is split at some position.
#[test]
fn long_lines() {
    let mut fixture = Fixture::new(10, 4);
    for i in 0..200 {
        fixture.feed(format!("<{i}{}>\r\n", "x".repeat(500)));
        fixture.freeze();
    }
    // The lines need 10,200 rows, but the limit counts lines.
    assert_eq!(search(&fixture, &regex("<[0-9]+x+>")).len(), 200);
    let mut fixture = Fixture::new(10, 4);
    fixture.feed("0123456789".repeat(9990)).freeze();
    assert!(search(&fixture, &regex("9+0")).len() > 9900);
}

proptest! {
    #![proptest_config(super::cases(150))]

    /// A search finds exactly the matches that a plain search in each line's text finds.
    #[test]
    fn every_match_and_nothing_else(
        lines in prop::collection::vec("[ab日é ]{0,30}", 1..120),
        pattern in "[ab日é ]{1,3}",
    ) {
        let mut fixture = Fixture::new(7, 4);
        fixture.feed(lines.join("x\r\n"));
        fixture.freeze();
        let expected: usize = lines.iter().map(|line| line.matches(&pattern).count()).sum();
        let found = search(&fixture, &literal(&pattern, Case::Sensitive));
        prop_assert_eq!(found.len(), expected);
        for found in found {
            let text = fixture.term.text(found.range);
            prop_assert_eq!(text.trim_end(), pattern.trim_end());
        }
    }
}

#[test]
fn a_line_without_its_beginning_is_searched() {
    let options = crate::Options { scrollback: 3, ..Default::default() };
    let mut term = crate::Term::new(crate::Size::cells(1, 1), options);
    crate::Parser::new().advance(&mut term, &b"x".repeat(800));
    let rows = term.history_rows() + 1;
    assert!(rows < 300);
    assert_eq!(term.find("x", 999).len(), rows);
}

#[test]
fn a_column_that_a_wide_character_did_not_fit_in_has_no_text() {
    let mut fixture = Fixture::new(4, 4);
    // After a resize, rows of the alternate screen no longer wrap.
    fixture.feed("\x1b[?1049ha日日");
    fixture.term.resize(crate::Size::cells(4, 3));
    assert_eq!(fixture.screen(), "a日/日");
    assert_eq!(fixture.term.find("日", 9).len(), 2);
}

#[test]
fn a_search_goes_on_as_long_as_it_may() {
    let mut fixture = Fixture::new(20, 4);
    let mut text = 0;
    for i in 0..20_000 {
        let line = format!("line {i}\r\n");
        text += line.len() - 1;
        fixture.feed(line);
    }
    fixture.freeze();
    let lines = fixture.term.lines();
    let kept = lines.clone().search(&regex("line"), SearchOrder::OldestFirst).count();
    for order in [SearchOrder::OldestFirst, SearchOrder::NewestFirst] {
        let (mut bytes, mut asked) = (0, 0);
        let mut search = lines.clone().search(&regex("line"), order);
        let mut count = |most: usize| {
            let found = std::iter::from_fn(|| {
                search.next_while(&mut |piece| {
                    bytes += piece;
                    asked += 1;
                    asked <= most
                })
            });
            found.count()
        };
        assert_eq!(count(usize::MAX), kept);
        // `go_on` is called once per match and once per piece of text.
        assert!(asked > kept && asked < kept + 100, "{asked}");
        assert!(bytes > text / 3 && bytes <= text + 4, "{bytes} of {text}");
        let mut search = lines.clone().search(&regex("line"), order);
        assert!(search.next_while(&mut |_| false).is_none());
    }
}

#[test]
fn lines_are_searched_from_one_on() {
    let mut fixture = Fixture::new(10, 4);
    fixture.feed("needle\r\nabcdefghijklmnopneedle\r\nneedle\r\n");
    let lines = || fixture.term.lines();
    let needle = literal("needle", Case::Sensitive);
    let from = |line| {
        let found = lines().since(crate::LineId(line)).search(&needle, SearchOrder::OldestFirst);
        found.map(|found| found.range.start.line.0).collect::<Vec<_>>()
    };
    assert_eq!(from(0), [0, 2, 4]);
    assert_eq!(from(1), [2, 4]);
    // A row is searched together with the other rows of its line.
    assert_eq!(from(2), [2, 4]);
    assert_eq!(from(3), [2, 4]);
    assert_eq!(from(4), [4]);
    assert_eq!(from(99), []);
    let begins = regex("^abc|^klm");
    let found: Vec<_> =
        lines().since(crate::LineId(2)).search(&begins, SearchOrder::OldestFirst).collect();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].range.start.line.0, 1);
}
