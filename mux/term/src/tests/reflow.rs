//! Changes of size.

use proptest::prelude::*;

use super::Fixture;
use crate::{Options, Parser, Size, Term};

fn resized(cols: u16, rows: u16, bytes: &str, to: (u16, u16)) -> Fixture {
    let mut fixture = Fixture::new(cols, rows);
    fixture.feed(bytes);
    fixture.term.resize(Size::cells(to.0, to.1));
    fixture
}

#[track_caller]
fn check(from: (u16, u16), bytes: &str, to: (u16, u16), expected: &str, cursor: (u16, u16)) {
    let fixture = resized(from.0, from.1, bytes, to);
    assert_eq!(fixture.everything(), expected);
    assert_eq!(fixture.cursor(), cursor);
}

#[test]
fn a_cursor_that_was_not_saved_is_restored_at_home() {
    let lines: String = (0..30).map(|line| format!("{line}\r\n")).collect();
    for to in [(10, 20), (10, 3), (4, 10), (20, 20)] {
        let mut fixture = resized(10, 10, &lines, to);
        fixture.feed("\x1b8");
        assert_eq!(fixture.cursor(), (0, 0), "{to:?}");
        // A saved cursor follows its text.
        let mut fixture = resized(10, 10, &format!("{lines}\x1b7"), to);
        let before = fixture.cursor();
        fixture.feed("\x1b[H\x1b8");
        assert_eq!(fixture.cursor(), before, "{to:?}");
    }
}

#[test]
fn a_narrower_screen_wraps_and_a_wider_one_joins() {
    check((10, 4), "abcdefgh\r\nx", (4, 4), "abcd/efgh/x", (2, 1));
    check((4, 4), "abcdefgh\r\nx", (10, 4), "abcdefgh/x", (1, 1));
    check((4, 4), "abcdefgh", (10, 4), "abcdefgh", (0, 8));
    // The cursor follows its text.
    check((10, 4), "abcdefgh\x1b[1;6H", (4, 4), "abcd/efgh", (1, 1));
    // A hard line break remains.
    check((4, 4), "abcd\r\nefgh", (10, 4), "abcd/efgh", (1, 4));
}

#[test]
fn a_cursor_on_an_empty_row_stays_in_it() {
    check((10, 4), "abc\r\n\x1b[2;9H", (4, 4), "abc", (1, 3));
    // No wrap is pending there, and nothing scrolls on the last row.
    check((10, 4), "abc\x1b[4;9H", (4, 4), "abc", (3, 3));
    let mut fixture = resized(10, 4, "abc\x1b[4;9H\x1b7", (4, 4));
    assert_eq!(fixture.feed("x").screen(), "abc///   x");
    assert_eq!(fixture.feed("\x1b[4;1H\x1b8y").screen(), "abc///   y");
    // A background is not text.
    check((10, 4), "abc\x1b[4H\x1b[41m\x1b[K\x1b[4;9H", (4, 4), "abc", (3, 3));
    // Beyond text, a cursor keeps its distance.
    check((10, 4), "abc\x1b[1;8H", (4, 4), "abc", (1, 3));
}

#[test]
fn a_prompt_that_the_shell_draws_anew_stays_in_its_rows() {
    let prompt = |options: &str, text: &str| {
        format!("out of a command\r\n\x1b]133;A{options}\x07one\r\n$ \x1b]133;B\x07{text}")
    };
    let typed = "echo a line of three rows";
    // The prompt's rows are cut, not wrapped, because the shell moves up by as many rows as it drew and clears from
    // there.
    check(
        (10, 9),
        &prompt("", typed),
        (6, 9),
        "out of/ a com/mand/one/$ echo/ine of/ee row",
        (6, 5),
    );
    check((10, 9), &prompt("", "x"), (4, 9), "out/of a/ com/mand/one/$ x", (5, 3));
    check(
        (10, 9),
        &prompt("", typed),
        (20, 9),
        "out of a command/one/$ echo a l/ine of thr/ee rows",
        (4, 7),
    );
    let mut fixture = Fixture::new(10, 12);
    fixture.feed(prompt("", typed));
    for cols in [8, 6, 12, 30] {
        fixture.term.resize(Size::cells(cols, 12));
        // readline and zsh assume that the rows they drew at the old width are still there.
        let rows = logical(&fixture);
        assert!(rows.contains("$ echo"), "seen until it is drawn: {rows}");
        let before = fixture.cursor().0;
        let first = fixture.everything().split('/').position(|row| row.starts_with("one")).unwrap();
        fixture.feed(format!("\r\x1b[{}A\x1b[J", before as usize - first));
        fixture.feed(format!("\x1b]133;A\x07one\r\n$ \x1b]133;B\x07{typed}"));
        assert_eq!(logical(&fixture).matches("$ echo").count(), 1, "{cols} columns");
        assert_eq!(fixture.term.commands().count(), 1, "it is the same prompt");
    }
    // Bash redraws only the last line, and some shells redraw nothing. A running command is not a prompt.
    check(
        (10, 9),
        &prompt(";redraw=last", typed),
        (2, 12),
        "ou/t/of/ a/ c/om/ma/nd/on/e/$/in/ee",
        (11, 1),
    );
    check(
        (10, 9),
        &prompt(";redraw=0", "echo 34567"),
        (5, 9),
        "out o/f a c/omman/d/one/$ ech/o 345/67",
        (7, 2),
    );
    let running = prompt("", "echo 34567") + "\r\n\x1b]133;C\x07";
    check((10, 9), &running, (5, 9), "out o/f a c/omman/d/one/$ ech/o 345/67", (8, 0));
    // The shell redraws a continuation line separately.
    let continued = prompt("", "echo 'abcde") + "\r\n\x1b]133;A;k=s\x07> \x1b]133;B\x07fghijk";
    check((10, 9), &continued, (5, 9), "out o/f a c/omman/d/one/$ ech/o 'ab/cde/> fgh", (8, 4));
}

#[test]
fn wide_characters_do_not_part() {
    check((6, 4), "日本語", (5, 4), "日本/語", (1, 2));
    check((5, 4), "日本語", (6, 4), "日本語", (0, 5));
    let mut fixture = resized(6, 4, "日本語", (5, 4));
    fixture.term.resize(Size::cells(6, 4));
    assert_eq!(fixture.everything(), "日本語");
    check((6, 4), "e\u{301}👩\u{200d}👧x", (3, 4), "e\u{301}👩\u{200d}👧/x", (1, 1));
}

#[test]
fn one_column_keeps_wide_characters_for_wider_screens() {
    let text = "a日b👩\u{200d}👧ß本";
    for rows in [2, 9] {
        let mut fixture = resized(10, 4, text, (1, rows));
        assert_eq!(logical(&fixture), text);
        for cols in [2, 10, 1, 40] {
            fixture.term.resize(Size::cells(cols, rows));
            assert_eq!(logical(&fixture), text, "{cols}");
        }
        fixture.feed("x");
        assert_eq!(fixture.everything(), format!("{text}x"));
    }
    // Characters that were printed without room have room now, and the cursor stays after them.
    let mut fixture = resized(1, 4, "日本", (6, 4));
    fixture.feed("x");
    assert_eq!(fixture.everything(), "日本x");
}

#[test]
fn a_resize_ends_origin_mode_as_it_ends_the_region() {
    let mut fixture = resized(10, 6, "\x1b[2;4r\x1b[?6h", (12, 7));
    fixture.feed("\x1b[1;1Hx");
    assert_eq!(fixture.screen(), "x");
}

#[test]
fn a_lower_screen_pushes_to_history_and_a_higher_one_pulls() {
    check((10, 4), "a\r\nb\r\nc\r\nd", (10, 2), "a/b/c/d", (1, 1));
    let mut fixture = resized(10, 4, "a\r\nb\r\nc\r\nd", (10, 2));
    assert_eq!(fixture.screen(), "c/d");
    fixture.term.resize(Size::cells(10, 4));
    assert_eq!(fixture.screen(), "a/b/c/d");
    assert_eq!(fixture.cursor(), (3, 1));
    // Blank rows below the cursor are removed first.
    let fixture = resized(10, 4, "a\r\nb", (10, 2));
    assert_eq!(fixture.screen(), "a/b");
    assert_eq!(fixture.term.history_rows(), 0);
}

#[test]
fn lines_that_reach_from_history_into_the_screen_stay_whole() {
    let text = "0123456789".repeat(6);
    let mut fixture = resized(10, 3, &text, (15, 3));
    let lines = fixture.everything();
    assert_eq!(lines, ["012345678901234", "567890123456789"].repeat(2).join("/"));
    fixture.term.resize(Size::cells(100, 3));
    assert_eq!(fixture.everything(), text);
}

#[test]
fn the_alternate_screen_is_cut() {
    let mut fixture = Fixture::new(10, 4);
    fixture.feed("main line\r\n\x1b[?1049h\x1b[Habcdefgh\x1b[4;1Hd");
    fixture.term.resize(Size::cells(4, 2));
    assert_eq!(fixture.screen(), "/d");
    fixture.feed("\x1b[?1049l");
    assert_eq!(fixture.everything(), "main/ lin/e");
    assert_eq!(fixture.cursor(), (1, 0));
}

#[test]
fn the_main_screen_keeps_its_text_while_the_other_is_shown() {
    // Mode 47 does not save a cursor, so no saved cursor can follow the text.
    for mode in [47, 1047, 1049] {
        let mut fixture = Fixture::new(10, 4);
        fixture.feed(format!("a\r\nb\r\nc\r\nd\x1b[?{mode}h\x1b[H"));
        fixture.term.resize(Size::cells(10, 2));
        fixture.feed(format!("\x1b[?{mode}l"));
        assert_eq!(fixture.everything(), "a/b/c/d", "{mode}");
    }
}

#[test]
fn marks_and_wraps_stay_with_their_text() {
    let mut fixture = Fixture::new(10, 4);
    fixture.feed("output\r\n\x1b]133;A;redraw=0\x07$ \x1b]133;B\x07echo hello");
    let marks = |fixture: &Fixture| fixture.term.dump().matches("marks 0b110").count();
    assert_eq!(marks(&fixture), 1);
    fixture.term.resize(Size::cells(5, 4));
    assert_eq!(marks(&fixture), 1);
    fixture.term.resize(Size::cells(30, 4));
    assert_eq!(marks(&fixture), 1);
    assert_eq!(fixture.everything(), "output/$ echo hello");
}

/// A cursor after a full row stays after that row, so that the next text overwrites nothing.
#[test]
fn what_comes_after_a_resize_follows_the_text() {
    for text in ["0123456789", "中中中中中", "01234567890123456789", "0123456"] {
        for restore in ["", "\x1b8"] {
            for (from, to) in [(20, 10), (10, 20), (10, 5), (30, 10), (7, 10), (12, 6), (14, 7)] {
                let mut fixture = resized(from, 6, &format!("{text}\x1b7"), (to, 6));
                fixture.feed(format!("{restore}X"));
                assert_eq!(logical(&fixture).trim_end(), format!("{text}X"), "{from} to {to}");
                let mut fixture = resized(from, 6, text, (to, 6));
                fixture.term.resize(Size::cells(from, 6));
                fixture.term.resize(Size::cells(to, 6));
                fixture.feed("X");
                assert_eq!(logical(&fixture).trim_end(), format!("{text}X"), "{from}, {to}, twice");
            }
        }
    }
}

#[test]
fn extremes_of_size() {
    let mut fixture = resized(10, 4, "日本語 text", (1, 1));
    fixture.term.debug_check();
    fixture.feed("日a\u{301}\x1b[9;9Hx");
    fixture.term.resize(Size::cells(u16::MAX, u16::MAX));
    assert_eq!(fixture.term.size().cols, 4096);
    fixture.term.debug_check();
    fixture.term.resize(Size { cols: 0, rows: 0, ..Size::cells(1, 1) });
    assert_eq!(fixture.term.size().cols, 1);
    fixture.term.debug_check();
}

#[test]
fn colours_fill_the_new_width() {
    let fixture = resized(10, 4, "\x1b[44mab\x1b[K\x1b[m\r\n", (20, 4));
    let row = &fixture.snapshot().rows[0];
    assert_eq!(row.styles.len(), 1, "{:?}", row.styles);
}

#[test]
fn history_is_cut_to_its_limit() {
    let options = Options { scrollback: 100, ..Options::default() };
    let mut term = Term::new(Size::cells(10, 4), options);
    let mut parser = Parser::new();
    for i in 0..1000 {
        parser.advance(&mut term, format!("{i}\r\n").as_bytes());
    }
    assert_eq!(term.history_rows(), 100);
    // Lines of three digits need two rows now. The first half of one of them is above the screen.
    term.resize(Size::cells(2, 4));
    assert_eq!(term.history_rows(), 201);
    term.debug_check();
}

/// `count` lines with different lengths of about `len`. Each begins with its number.
fn numbered(count: usize, len: usize) -> Vec<String> {
    (0..count).map(|i| format!("{i:<w$}|", w = len - 1 - i % 7)).collect()
}

#[test]
fn a_narrow_moment_loses_no_lines_of_history() {
    let (rows, limit) = (10, 500);
    for (count, len, narrow) in
        [(480, 66, 40), (480, 66, 10), (480, 66, 2), (480, 200, 7), (508, 30, 29)]
    {
        for output in [numbered(count, len).join("\r\n"), numbered(count, len).join("\x1b[m\r\n")] {
            let options = Options { scrollback: limit, ..Options::default() };
            let mut fixture = Fixture::new(80, rows);
            fixture.term = Term::new(Size::cells(80, rows), options);
            fixture.feed(&output);
            let text = logical(&fixture);
            for frozen in [false, true] {
                fixture.term.resize(Size::cells(narrow, rows));
                fixture.term.debug_check();
                if frozen {
                    fixture.freeze();
                }
                fixture.term.resize(Size::cells(80, rows));
                fixture.term.debug_check();
                assert!(logical(&fixture) == text, "{len} columns, {narrow} for a moment");
            }
        }
    }
}

/// The limit of history counts lines that were written to a narrow screen too. The oldest lines are dropped first.
#[test]
fn the_limit_of_history_counts_lines() {
    let limit = 200;
    for cols in [80, 40, 12, 5] {
        let options = Options { scrollback: limit, ..Options::default() };
        let mut fixture = Fixture::new(cols, 6);
        fixture.term = Term::new(Size::cells(cols, 6), options);
        let lines = numbered(1000, 66);
        for line in &lines {
            fixture.feed(format!("{line}\r\n"));
        }
        let text = logical(&fixture);
        let kept = text.lines().count();
        // The cursor's row is on the screen, together with the last lines.
        let on_screen = 5 / 66usize.div_ceil(cols as usize);
        assert!(
            (limit + on_screen..=limit + on_screen + 1).contains(&kept),
            "{cols}: {kept} lines"
        );
        assert!(text.ends_with(&lines[lines.len() - limit..].join("\n")), "{cols}");
    }
}

#[test]
fn an_endless_line_takes_bounded_memory() {
    for cols in [80, 1, 300] {
        let options = Options { scrollback: 100, ..Options::default() };
        let mut term = Term::new(Size::cells(cols, 6), options);
        let mut parser = Parser::new();
        for _ in 0..100 {
            parser.advance(&mut term, "x日".repeat(5_000).as_bytes());
        }
        term.debug_check();
        let rows = term.history_rows();
        assert!((100..=100 * 2048 / 24).contains(&rows), "{cols}: {rows}");
        let bytes = term.history_size();
        assert!(bytes <= 100 * 2048 * 8, "{cols}: {bytes}");
    }
}

/// All stored text, with lines joined as a user would copy them.
pub(super) fn logical(fixture: &Fixture) -> String {
    let term = &fixture.term;
    let end = term.live_top().0 + term.size().rows as u64 - 1;
    let point = |line, col| crate::Point { line: crate::LineId(line), col };
    let range = crate::TextRange {
        start: point(term.oldest().0, 0),
        end: point(end, term.size().cols - 1),
        block: false,
    };
    term.text(range).trim_end_matches('\n').to_owned()
}

proptest! {
    #![proptest_config(super::cases(300))]

    /// Text survives any sequence of resizes. The cursor is at the end of the text: if the screen has no room for text
    /// below the cursor, that text is lost, as in xterm.
    #[test]
    fn there_and_back(
        lines in prop::collection::vec("[a-z]{0,3}[a-zäß日本👍 ]{0,40}[a-z]", 1..60),
        sizes in prop::collection::vec((1u16..50, 1u16..12), 1..6),
    ) {
        let mut fixture = Fixture::new(20, 6);
        fixture.feed(lines.join("\r\n"));
        let text = logical(&fixture);
        for (cols, rows) in sizes {
            fixture.term.resize(Size::cells(cols, rows));
            fixture.term.debug_check();
            prop_assert_eq!(&logical(&fixture), &text, "{} {}", cols, rows);
        }
        fixture.term.resize(Size::cells(20, 6));
        prop_assert_eq!(&logical(&fixture), &text);
        fixture.feed("X");
        prop_assert_eq!(logical(&fixture), text + "X");
    }

    /// A resize between any two pieces of output never makes the grid inconsistent.
    #[test]
    fn nothing_breaks(
        steps in prop::collection::vec(
            (super::oracle::piece(), prop::option::of((1u16..40, 1u16..12))), 1..30),
    ) {
        let mut fixture = Fixture::new(20, 6);
        for (bytes, size) in steps {
            fixture.feed(bytes);
            if let Some((cols, rows)) = size {
                fixture.term.resize(Size::cells(cols, rows));
                fixture.term.debug_check();
            }
        }
    }
}
