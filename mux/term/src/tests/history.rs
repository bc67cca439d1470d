//! History: its limits, its compressed pages, and points that follow their text.

use proptest::prelude::*;

use super::Fixture;
use crate::{LineId, Options, Parser, Point, Size, Term};

/// Lines that contain everything that a page can store.
fn lines(count: usize) -> String {
    let line = |i: usize| {
        let link = format!("\x1b]8;id={};https://example.org/{i}\x1b\\", i % 3);
        format!(
            "\x1b[3{}m{i}\x1b[4:3;58:5:{}m naïve\x1b[m 日本 e\u{301} 👩\u{200d}💻{link}link\x1b]8;;\x1b\\ \x1b[48;2;1;{};3mx\x1b[m\r\n",
            i % 8,
            i % 200,
            i % 256,
        )
    };
    (0..count).map(line).collect()
}

#[test]
fn compressed_rows_are_the_rows_that_were_printed() {
    let mut fixture = Fixture::new(70, 4);
    for _ in 0..5 {
        fixture.feed("\x1b]133;A\x07$ \x1b]133;B\x07run\r\n\x1b]133;C\x07").feed(lines(500));
    }
    let (dump, size) = (fixture.term.dump(), fixture.term.history_size());
    assert!(fixture.freeze() > 1);
    assert_eq!(fixture.term.dump(), dump);
    assert!(fixture.term.history_size() < size / 2, "{} of {size}", fixture.term.history_size());
    assert_eq!(fixture.freeze(), 0, "nothing is compressed twice");
}

#[test]
fn a_result_that_comes_too_late_is_dropped() {
    let mut fixture = Fixture::new(70, 4);
    fixture.feed(lines(3000));
    let mut late = fixture.term.compression().unwrap();
    late.run();
    fixture.feed("\x1b[3J").feed(lines(3000).replace("link", "LINK"));
    let dump = fixture.term.dump();
    fixture.term.compressed(late);
    fixture.term.debug_check();
    assert_eq!(fixture.term.dump(), dump);
    // A compression that was never run changes nothing.
    let idle = fixture.term.compression().unwrap();
    fixture.term.compressed(idle);
    assert_eq!(fixture.term.dump(), dump);
}

#[test]
fn limits_reserve_nothing_and_hold() {
    for scrollback in [999_999_999, usize::MAX] {
        let options = Options { scrollback, ..Options::default() };
        let mut term = Term::new(Size::cells(80, 4), options);
        Parser::new().advance(&mut term, lines(1000).as_bytes());
        assert_eq!(term.history_rows(), 997);
        assert!(term.history_size() < 1 << 20);
        term.resize(Size::cells(20, 4));
        assert!(term.history_rows() > 997);
    }
    let options = Options { scrollback: 2000, ..Options::default() };
    let mut fixture =
        Fixture { term: Term::new(Size::cells(80, 4), options), ..Fixture::new(1, 1) };
    for _ in 0..10 {
        fixture.feed(lines(1000)).freeze();
        assert!(fixture.term.history_rows() <= 2000);
        assert!(fixture.term.history_size() < 400 << 10, "{}", fixture.term.history_size());
    }
    fixture.feed("\x1b[3J");
    assert_eq!((fixture.term.history_rows(), fixture.term.history_size()), (0, 0));
}

proptest! {
    #![proptest_config(super::cases(200))]

    /// Text that scrolls looks the same whether it arrives as many rows at once or as a few bytes at a time.
    #[test]
    fn rows_that_come_together_are_the_rows_that_come_one_by_one(
        setup in prop::sample::select(vec![
            "",
            "\x1b[31;4m",
            "\x1b[44m",
            "\x1b]8;;https://example.org\x07\x1b[1\"q",
            "\x1b]133;A\x07$ \x1b]133;B\x07",
            "\x1b[?7l",
            "\x1b[?1049h",
            "\x1b[2;3r",
            "\x1b[99H\x1b#6",
            "\x1b[4h",
        ]),
        lengths in prop::collection::vec(prop_oneof![0..4usize, 8..12usize, 0..400usize], 60..200),
        size in prop_oneof![Just((10, 4)), Just((1, 1)), Just((30, 1)), Just((2000, 3))],
        scrollback in prop_oneof![Just(0usize), Just(7), Just(10_000)],
        piece in 1..9usize,
    ) {
        let mut text = setup.to_owned();
        for (i, len) in lengths.into_iter().enumerate() {
            text.extend((0..len).map(|at| (b'!' + ((at + i) % 90) as u8) as char));
            // Occasionally, add a row that is not plain text.
            text.push_str(if i % 70 == 69 { "日\x1b[7m\r\n" } else { "\r\n" });
        }
        let fixture = || {
            let options = Options { scrollback, ..Options::default() };
            Fixture { term: Term::new(Size::cells(size.0, size.1), options), ..Fixture::new(1, 1) }
        };
        let (mut whole, mut pieces) = (fixture(), fixture());
        whole.feed(&text);
        for piece in text.as_bytes().chunks(piece) {
            pieces.parser.advance(&mut pieces.term, piece);
        }
        prop_assert_eq!(whole.term.dump(), pieces.term.dump());
        // Rows that left the history do not return, wherever the page that contained them ended.
        for fixture in [&mut whole, &mut pieces] {
            fixture.term.resize(Size::cells(size.0, size.1 + 40));
            fixture.term.debug_check();
        }
        prop_assert_eq!(whole.term.dump(), pieces.term.dump());
    }
}

/// An endless line is processed piece by piece, and still reflows as one line.
#[test]
fn a_line_longer_than_is_held_at_once_reflows_whole() {
    let mut fixture = Fixture::new(100, 4);
    let text: String = (0..40_000).map(|i| format!("{i:05}日")).collect();
    fixture.feed(&text);
    let joined = |fixture: &Fixture| fixture.everything().replace('/', "");
    for cols in [33, 4096, 7, 100] {
        fixture.freeze();
        fixture.term.resize(Size::cells(cols, 4));
        fixture.term.debug_check();
        let kept = joined(&fixture);
        assert!(text.ends_with(&kept) && !kept.is_empty(), "{cols}");
        let first = fixture.term.oldest().0;
        let end = first + fixture.term.history_rows() as u64;
        assert!((first..end).all(|line| fixture.term.is_wrapped(LineId(line))), "{cols}");
    }
}

/// The text of the cell at a point.
fn at(term: &Term, point: Point) -> String {
    term.text(crate::TextRange { start: point, end: point, block: false })
}

#[test]
fn points_follow_their_text() {
    let mut fixture = Fixture::new(20, 4);
    fixture.feed("first\r\n").feed("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ\r\n".repeat(20)).freeze();
    let point = |line, col| Some(Point { line: LineId(line), col });
    let mut points = [point(0, 2), point(2, 15), point(39, 5), point(40, 0), point(99, 0), None];
    fixture.term.resize_following(Size::cells(7, 4), &mut points);
    let text = points.map(|point| point.map(|point| at(&fixture.term, point)));
    assert_eq!(
        text.each_ref().map(|t| t.as_deref()),
        [Some("r"), Some("Z"), Some("5"), Some("K"), None, None]
    );
    // Points on the alternate screen stay in their cells, because that screen does not reflow.
    fixture.feed("\x1b[?1049h\x1b[2;3HX");
    let mut points = [point(fixture.term.live_top().0 + 1, 2)];
    fixture.term.resize_following(Size::cells(5, 3), &mut points);
    assert_eq!(at(&fixture.term, points[0].unwrap()), "X");
}

proptest! {
    #![proptest_config(super::cases(100))]

    /// Compressed pages are read and reflowed like packed pages, whatever they contain.
    #[test]
    fn compressed_history_is_history(
        pieces in prop::collection::vec(super::oracle::piece(), 1..40),
        sizes in prop::collection::vec((1u16..60, 1u16..9), 0..4),
    ) {
        let (mut packed, mut cold) = (Fixture::new(20, 6), Fixture::new(20, 6));
        for _ in 0..8 {
            for piece in &pieces {
                packed.feed(piece).feed("\r\n\n");
                cold.feed(piece).feed("\r\n\n");
            }
            cold.freeze();
        }
        prop_assert_eq!(packed.term.dump(), cold.term.dump());
        for (cols, rows) in sizes {
            packed.term.resize(Size::cells(cols, rows));
            cold.term.resize(Size::cells(cols, rows));
            cold.freeze();
            prop_assert_eq!(packed.term.dump(), cold.term.dump());
        }
    }

    /// A point stays at its character through any resizes, as long as the character is stored.
    #[test]
    fn points_stay_on_their_characters(
        lines in prop::collection::vec("[a-z日本]{0,50}", 1..80),
        at_lines in prop::collection::vec((0u64..80, 0u16..20), 1..8),
        sizes in prop::collection::vec((2u16..60, 1u16..9), 1..5),
    ) {
        let mut fixture = Fixture::new(20, 6);
        fixture.feed(lines.join("\r\n"));
        fixture.freeze();
        let mut points: Vec<_> =
            at_lines.iter().map(|(line, col)| Some(Point { line: LineId(*line), col: *col })).collect();
        let texts: Vec<_> = points.iter().map(|p| at(&fixture.term, p.unwrap())).collect();
        for (cols, rows) in sizes {
            fixture.term.resize_following(Size::cells(cols, rows), &mut points);
            for (point, text) in points.iter().zip(&texts) {
                if text.trim().is_empty() {
                    continue;
                }
                prop_assert_eq!(&point.map(|point| at(&fixture.term, point)), &Some(text.clone()));
            }
        }
    }
}
