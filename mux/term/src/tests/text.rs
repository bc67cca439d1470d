//! Reads text from the grid.

use super::Fixture;
use crate::{LineId, Point, TextRange};

fn point(line: u64, col: u16) -> Point {
    Point { line: LineId(line), col }
}

#[track_caller]
fn check_word(bytes: &str, at: (u64, u16), expected: &str) {
    let mut fixture = Fixture::new(10, 4);
    fixture.feed(bytes);
    let range = fixture.term.word_at(point(at.0, at.1), crate::WORD_SEPARATORS);
    assert_eq!(fixture.term.text(range), expected);
}

#[test]
fn words() {
    check_word("ab cd ef", (0, 3), "cd");
    check_word("ab cd ef", (0, 4), "cd");
    check_word("(foo)", (0, 2), "foo");
    check_word("x 日本語 y", (0, 5), "日本語");
    check_word("x 日本語 y", (0, 3), "日本語");
    // A word across a wrap, found from either side of it.
    check_word("a bcdefghijklm n", (0, 5), "bcdefghijklm");
    check_word("a bcdefghijklm n", (1, 2), "bcdefghijklm");
    // On a separator, the word is only the separator.
    check_word("ab cd", (0, 2), "");
    check_word("a,b", (0, 1), ",");
    // A colon does not separate words, and does not end a word.
    check_word("a.c:12: x", (0, 0), "a.c:12");
    check_word("::a::b::", (0, 2), "a::b");
    check_word("ab: c", (0, 2), "ab:");
    // The user chooses the separators.
    let mut fixture = Fixture::new(10, 4);
    fixture.feed("(a-b c)");
    let word = |separators| fixture.term.text(fixture.term.word_at(point(0, 1), separators));
    assert_eq!([word("-("), word(""), word("(")], ["a", "(a-b", "a-b"]);
}

/// Text is read in pieces. Nothing is lost or doubled at the end of a piece, whatever the row contains.
#[test]
fn long_rows_of_every_kind() {
    for lead in 60..70 {
        for odd in ["日", "é", "e\u{310}", "👩\u{200d}💻", ""] {
            let line = format!("{}{odd}{}", "x".repeat(lead), "y z".repeat(40));
            let mut fixture = Fixture::new(300, 2);
            fixture.feed(&line);
            let mut text = String::new();
            fixture.term.row_text(LineId(0), &mut text);
            assert_eq!(text, line);
        }
    }
}

#[test]
fn lines_and_ranges() {
    let mut fixture = Fixture::new(10, 4);
    fixture.feed("0123456789abc  \r\n\r\nxyz");
    let line = fixture.term.line_at(LineId(1));
    assert_eq!((line.start, line.end), (point(0, 0), point(1, 9)));
    assert_eq!(fixture.term.text(line), "0123456789abc");
    let range = |start, end, block| TextRange { start, end, block };
    let term = &fixture.term;
    assert_eq!(term.text(range(point(0, 8), point(3, 1), false)), "89abc\n\nxy");
    assert_eq!(term.text(range(point(0, 1), point(3, 2), true)), "12\nbc\n\nyz");
    assert_eq!(term.text(range(point(0, 0), point(99, 99), false)), "0123456789abc\n\nxyz");
    let mut text = String::new();
    assert!(!term.row_text(LineId(4), &mut text));
    assert!(term.is_wrapped(LineId(0)) && !term.is_wrapped(LineId(1)));
}

#[test]
fn find_sees_across_wraps_and_in_history() {
    let mut fixture = Fixture::new(10, 4);
    fixture.feed("first 日本 needle\r\n");
    fixture.feed("x\r\n".repeat(300));
    fixture.feed("a needle e\u{301}");
    let found = |pattern: &str, max: usize| -> Vec<(Point, Point)> {
        let matches = fixture.term.find(pattern, max);
        for found in &matches {
            assert_eq!(fixture.term.text(found.range), pattern);
        }
        matches.iter().map(|m| (m.range.start, m.range.end)).collect()
    };
    assert_eq!(found("needle", 9), [(point(1, 1), point(1, 6)), (point(302, 2), point(302, 7))]);
    assert_eq!(found("本 n", 9), [(point(0, 8), point(1, 1))]);
    assert_eq!(found("日本", 9), [(point(0, 6), point(0, 9))]);
    assert_eq!(found("e\u{301}", 9).len(), 1);
    assert_eq!(found("x", 7).len(), 7);
    assert_eq!(found("", 9), []);
    assert_eq!(found("nowhere", 9), []);
}

#[test]
fn history_reads_as_it_was_printed() {
    let mut fixture = Fixture::new(20, 4);
    let line = |i: usize| format!("\x1b[3{}m{i} naïve 日本 e\u{301}\x1b[m x", i % 8);
    let all: String = (0..300).map(|i| line(i) + "\r\n").collect();
    fixture.feed(&all);
    let mut text = String::new();
    fixture.term.row_text(LineId(7), &mut text);
    assert_eq!(text, "7 naïve 日本 e\u{301} x");
    assert_eq!(fixture.term.revision(LineId(7)), Some(2));
    assert_eq!(fixture.term.history_rows(), 297);
}

#[test]
fn a_last_row_that_goes_on_nowhere_is_searched_too() {
    let mut fixture = Fixture::new(10, 4);
    fixture.feed("\x1b[1;2r\x1b[4;1Hneedle0123456");
    assert_eq!(fixture.screen(), "///456dle0123");
    assert_eq!(fixture.term.find("dle", 9).len(), 1);
}
