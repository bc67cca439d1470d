//! A terminal rebuilt from what [`crate::Term::to_vt`] wrote is the terminal.

use proptest::prelude::*;

use super::Fixture;
use crate::{Size, Term};

/// What a new terminal is after the bytes that `fixture`'s wrote.
fn rebuilt(fixture: &Fixture) -> Fixture {
    let size = fixture.term.size();
    let mut copy = Fixture::new(size.cols, size.rows);
    copy.term.resize(size);
    copy.feed(fixture.term.to_vt());
    // After this no character is right before a REP, nor may one be in what is compared with it.
    copy.feed("\x18");
    copy
}

#[track_caller]
fn check(bytes: impl AsRef<[u8]>) {
    let mut fixture = Fixture::new(20, 6);
    fixture.feed(bytes).feed("\x18");
    let (expected, found) = (fixture.term.dump(), rebuilt(&fixture).term.dump());
    assert!(
        expected == found,
        "expected\n{expected}\nfound\n{found}\nwritten\n{}",
        String::from_utf8_lossy(&fixture.term.to_vt()).replace('\x1b', "\nESC ")
    );
}

#[test]
fn text_and_looks() {
    check("plain\r\n\x1b[1;4:3;31;48;2;1;2;3;58:5:9mstyled\x1b[m\r\n日本 e\u{301}👩\u{200d}💻🇩🇪");
    check("🇩a");
    check("\x1b]8;id=a;https://example.org/x\x1b\\link\x1b]8;;\x1b\\ \x1b[1\"qprotected\x1b[0\"q");
    check("\x1b[44mab\x1b[K\x1b[m\r\n\x1b[41m\x1b[2J");
    // Half of a wide character that was overwritten keeps its look.
    check("\x1b[4m日\x1b[m\x1b[1;2Hx");
    check("\x1b[1;19H\x1b[4m日\x1b[m\x1b[1;19Hx");
    check("abcdefghijklmnopqr\x1b[4m日日\x1b[m\x1b[1;19Hx");
}

#[test]
fn wraps_and_history() {
    check("0123456789".repeat(9));
    check("0123456789012345678日日本".repeat(7));
    check((0..50).map(|i| format!("line {i}\r\n")).collect::<String>());
    check(
        (0..50).map(|i| format!("\x1b[3{}m{i} {}\r\n", i % 8, "x".repeat(i))).collect::<String>(),
    );
    // A wrapped row moved to the screen's foot.
    check(format!("{}\x1b[H\x1b[4L", "0123456789".repeat(5)));
    let mut fixture = Fixture::new(13, 4);
    fixture.feed("a\x1b[8Cb\x1b[11Cc 日本語 日本語 日本語 ".repeat(9));
    for (cols, rows) in [(9, 4), (20, 7), (5, 3)] {
        fixture.term.resize(Size::cells(cols, rows));
        let copy = rebuilt(&fixture);
        assert_eq!(copy.term.dump().lines().nth(9), fixture.term.dump().lines().nth(9));
        assert_eq!(copy.everything(), fixture.everything());
    }
}

#[test]
fn screens_cursors_and_modes() {
    check("main\x1b[?1049halternate\x1b[2;3H");
    check("main\x1b7\x1b[?47halternate\x1b[3;4H\x1b7\x1b[?47l\x1b[2;2H");
    check("\x1b[1;31m\x1b(0\x0e\x1b[4;5H\x1b7\x1b[m\x1b[H");
    check("01234567890123456789");
    check("\x1b[2;4r\x1b[?6h\x1b[2;2H");
    check("\x1b[?1;1003;1006;2004;2026h\x1b[4h\x1b[20h\x1b[?7l\x1b[5 q\x1b[?25l");
    check("\x1b[3g\x1b[5G\x1bH\x1b[9G\x1bH");
    check("\x1b[>1u\x1b[>5u\x1b[?1049h\x1b[>3u\x1b[>4;2m");
    check("\x1b[?2004h\x1b[?2004;1049s\x1b[?2004l");
    check("x\x1b(0\x1bN");
}

#[test]
fn levels_margins_and_sizes() {
    check("\x1b[64;1\"pabc");
    check("ab\x1b[?69h\x1b[3;9s\x1b[2;4r\x1b[?6h\x1b[2;2H");
    check("\x1b[2*x\x1b[?45;95h\x1b[2h\x1b[>1t\x1b G");
    check("wide\x1b#6\r\nhigh\x1b#3\r\nhigh\x1b#4");
    check("\x1b]1;icon\x07\x1b]2;title\x07\x1b[22t\x1b[22;1t\x1b]0;other\x07");
    check("\x1b[?40;3h");
}

#[test]
fn texts_marks_and_colours() {
    check("\x1b]2;one\x07\x1b[22t\x1b]2;two\x07\x1b]7;file:///tmp\x07");
    check("\x1b]4;1;#123456\x07\x1b]10;#111\x07\x1b]12;red\x07\x1b]17;#222\x07");
    check(
        "\x1b]133;A\x07$ \x1b]133;B\x07ls -l\r\n\x1b]133;C\x07a\r\nb\r\n\x1b]133;D;3\x07\x1b]133;A\x07$ ",
    );
    let mut fixture = Fixture::new(30, 6);
    for i in 0..20 {
        fixture.feed(format!(
            "\x1b]133;A;aid=7\x07$ \x1b]133;B\x07ls {i}\r\n\x1b]133;C\x07a\r\n\x1b]133;D;{i}\x07"
        ));
    }
    let known = |fixture: &Fixture| -> Vec<_> {
        let own = |c: &crate::Command| {
            (c.prompt, c.input, c.output, c.exit_code, c.line.clone(), c.options.clone())
        };
        fixture.term.commands().map(own).collect()
    };
    let copy = rebuilt(&fixture);
    assert_eq!(known(&copy), known(&fixture));
    assert_eq!(known(&copy).len(), 20);
}

/// Whether `to_vt` promises to write this terminal whole.
fn is_promised(term: &Term) -> bool {
    // A wrap is pending where it can't be by printing.
    let positions = [
        (&term.grid, term.cursor),
        (&term.grid, term.saved.position),
        (&term.hidden, term.hidden_cursor),
        (&term.hidden, term.hidden_saved.position),
    ];
    let is_odd = positions.iter().any(|(grid, at)| {
        let last = grid.row(at.row)[grid.cols() - 1];
        let inside = at.col + 1 < grid.cols();
        at.wrap_pending && (inside || grid.meta(at.row).is_wrapped() || last.is_blank())
    });
    // Rows of double width in history, or one where a wrap is pending; margins where one is.
    let double = |grid: &crate::grid::Grid| {
        (grid.oldest()..grid.end())
            .any(|line| grid.line_meta(line).is_some_and(|meta| meta.is_double()))
    };
    // A row that wraps and was erased whole in more than a background, as DECSERA does.
    let erased = |grid: &crate::grid::Grid| {
        let mut scratch = crate::grid::Scratch::default();
        (grid.oldest()..grid.end()).any(|line| {
            let Some(view) = grid.read(line, &mut scratch) else { return false };
            let is_more = |cell: &crate::Cell| {
                let style = view.tables.style(cell.style_id());
                style != crate::Style { background: style.background, ..Default::default() }
            };
            view.meta.is_wrapped()
                && view.cells.iter().all(|cell| cell.is_blank())
                && view.cells.iter().any(is_more)
        })
    };
    let is_odd = is_odd
        || erased(&term.grid)
        || erased(&term.hidden)
        || double(&term.grid)
        || double(&term.hidden)
        || !term.scrolls_whole_rows() && term.cursor.wrap_pending
        || term.is_vt52()
        || term.saved_modes.iter().any(|(mode, _)| matches!(mode, 3 | 69));
    // A single shift waits in a saved cursor.
    !is_odd && term.saved.charsets.single.or(term.hidden_saved.charsets.single).is_none()
}

proptest! {
    #![proptest_config(super::cases(256))]

    #[test]
    fn any_terminal_is_rebuilt(
        pieces in prop::collection::vec(super::oracle::piece(), 1..30),
    ) {
        let mut fixture = Fixture::new(20, 6);
        fixture.feed(pieces.concat());
        prop_assume!(is_promised(&fixture.term));
        fixture.feed("\x18");
        let (expected, found) = (fixture.term.dump(), rebuilt(&fixture).term.dump());
        prop_assert!(
            expected == found,
            "of {:?}\nexpected\n{}\nfound\n{}\nwritten\n{}",
            String::from_utf8_lossy(&pieces.concat()), expected, found,
            String::from_utf8_lossy(&fixture.term.to_vt()).replace('\x1b', "\nESC ")
        );
    }
}
