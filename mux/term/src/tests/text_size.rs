//! Text of other sizes (OSC 66): where its blocks of cells are placed, and how editing the screen affects them.

use proptest::prelude::*;

use super::{Fixture, cases, check_cursor, check_reply};
use crate::{Align, LineId, Options, Parser, Point, Size, Term, TextRange, TextSize};

/// The screen, cell by cell: `_` is a cell of a block other than its first cell, `.` a cell that was never written.
fn cells(fixture: &Fixture) -> String {
    let snapshot = fixture.snapshot();
    let row = |row: &crate::SnapshotRow| -> String {
        let shown = row.cells.iter().enumerate().map(|(col, cell)| match cell.content() {
            _ if cell.multicell_offset() != (0, 0) => "_".to_owned(),
            _ if cell.width() == crate::Width::Tail => "~".to_owned(),
            crate::Content::Empty => ".".to_owned(),
            crate::Content::Char(c) => c.to_string(),
            crate::Content::Cluster(_) => row.cluster(col as u16).unwrap_or("?").to_owned(),
        });
        shown.collect()
    };
    snapshot.rows.iter().map(row).collect::<Vec<_>>().join("/")
}

/// Checks the cells of a 6×4 screen after `bytes`.
#[track_caller]
fn check(bytes: impl AsRef<[u8]>, expected: &str) {
    let mut fixture = Fixture::new(6, 4);
    fixture.feed(bytes);
    assert_eq!(cells(&fixture), expected);
}

/// Like [`check`], but also checks the cursor's row and column.
#[track_caller]
fn check_at(bytes: impl AsRef<[u8]>, expected: &str, cursor: (u16, u16)) {
    let mut fixture = Fixture::new(6, 4);
    fixture.feed(bytes);
    assert_eq!((&*cells(&fixture), fixture.cursor()), (expected, cursor));
}

const EMPTY: &str = "....../....../....../......";

#[test]
fn a_scale_and_a_width_make_a_block() {
    check_at("\x1b]66;s=2;ab\x07", "a_b_../____../....../......", (0, 4));
    check_at("\x1b]66;w=3;ab\x1b\\c", "ab__c../....../....../......", (0, 4));
    check_at("\x1b]66;s=2:w=2;a\x07", "a___../____../....../......", (0, 4));
    check_at("\x1b]66;s=3;日\x07", "日_____/______/______/......", (0, 5));
    check_at("\x1b]66;n=1:d=2:w=1;ab\x07c", "abc..../....../....../......", (0, 2));
    check_at("\x1b]66;;plain\x07", "plain./....../....../......", (0, 5));
    let mut fixture = Fixture::new(6, 4);
    fixture.feed("\x1b]66;s=2:w=1:n=2:d=3:v=1:h=2;x\x07");
    let part = fixture.snapshot().rows[1].multicells[0].clone();
    assert_eq!((part.col, part.row, &*part.text), (0, 1, "x"));
    let size = part.size;
    assert_eq!((size.scale(), size.width(), size.fraction()), (2, 1, Some((2, 3))));
    assert_eq!((size.vertical(), size.horizontal()), (Align::End, Align::Center));
}

#[test]
fn the_terminal_splits_a_text_without_a_width_into_clusters() {
    check("\x1b]66;s=2;e\u{301}x\x07", "e\u{301}_x_../____../....../......");
    check("\x1b]66;n=1:d=2;🇩🇪x\x07", "🇩🇪_x.../....../....../......");
    check("\x1b]66;;🇩🇪x\x07", "🇩🇪~x.../....../....../......");
    // A combining mark with nothing before it is dropped, as in kitty.
    check("a\x1b]66;s=2;\u{301}\x07b", "ab..../....../....../......");
}

#[test]
fn metadata_is_read_as_kitty_reads_it() {
    // Values that are too large are clamped to the maximum.
    let mut fixture = Fixture::new(60, 9);
    fixture.feed("\x1b]66;s=9:w=99:n=16:d=4000000000:v=3:h=9;a\x07");
    let size = fixture.snapshot().rows[0].multicells[0].size;
    assert_eq!((size.scale(), size.width(), size.raw_fraction()), (7, 7, (15, 15)));
    assert_eq!((size.vertical(), size.horizontal()), (Align::Start, Align::Start));
    check("\x1b]66;s=0;a\x07", "a...../....../....../......");
    for malformed in ["s", "s=", "s=x", "s=2;", "x=2", "s=2:", ":", "s=-1", "s=2,w=1", "ss=2"] {
        let end = if malformed.ends_with(';') { "" } else { ";a" };
        check(format!("\x1b]66;{malformed}{end}\x07"), EMPTY);
    }
    check("\x1b]66\x07\x1b]66;\x07\x1b]66;s=2\x07", EMPTY);
    // Controls in the text are dropped.
    check("\x1b]66;w=2;a\tb\u{85}\u{7f}c\x07", "abc_..../....../....../......");
    check("\x1b]66;w=1;\u{85}\x07", EMPTY);
    // A semicolon is part of the text.
    check("\x1b]66;w=3;a;b\x07", "a;b__.../....../....../......");
}

#[test]
fn a_text_beyond_the_cap_is_dropped_whole() {
    let mut fixture = Fixture::new(10, 4);
    fixture.feed(format!("\x1b]66;;{}\x07", "x".repeat(4097)));
    assert_eq!(fixture.everything(), "");
    fixture.feed(format!("\x1b]66;;{}\x07", "x".repeat(4096)));
    assert_eq!(fixture.everything().matches('x').count(), 4096);
    // The text of one cell is limited to the maximum length of a cluster.
    let mut fixture = Fixture::new(10, 4);
    fixture.feed(format!("\x1b]66;w=1;{}\x07", "é".repeat(1000)));
    assert_eq!(fixture.screen(), "é".repeat(64));
}

#[test]
fn support_is_detected_by_cursor_positions() {
    check_reply(
        "abc\r\x1b[6n\x1b]66;w=2; \x07\x1b[6n\x1b]66;s=2; \x07\x1b[6n",
        "\x1b[1;1R\x1b[1;3R\x1b[1;5R",
    );
}

#[test]
fn a_block_that_does_not_fit_wraps_or_moves_back() {
    check_at("xxxxx\x1b]66;s=2;a\x07", "xxxxx./a_..../__..../......", (1, 2));
    check_at("\x1b[?7lxxxxx\x1b]66;s=2;a\x07", "xxxxa_/....__/....../......", (0, 5));
    // In the last column, a wrap is pending.
    check_at("xxxx\x1b]66;s=2;a\x07b", "xxxxa_/b...__/....../......", (1, 1));
    // A character larger than the screen is dropped.
    check("a\x1b]66;s=5;b\x07c", "ac..../....../....../......");
    check("a\x1b]66;w=7;b\x07c", "ac..../....../....../......");
    check("\x1b[1;2r\x1b]66;s=3;b\x07c", "c...../....../....../......");
}

#[test]
fn a_block_without_room_below_scrolls_the_region() {
    check_at("1\r\n2\r\n3\r\n4\x1b]66;s=2;a\x07", "2...../3...../4a_.../.__...", (2, 3));
    check_at(
        "1\r\n2\r\n3\r\n4\x1b[1;3r\x1b[3;2H\x1b]66;s=3;a\x07",
        "3a__../.___../.___../4.....",
        (0, 4),
    );
    // Below the scroll region, nothing can scroll to make room.
    check("\x1b[1;3r\x1b[4;1H\x1b]66;s=2;a\x07b", "....../....../....../b.....");
}

#[test]
fn text_over_a_block_erases_all_of_it() {
    check_at("\x1b]66;s=2;12\x07\rx", "x.2_../..__../....../......", (0, 1));
    // If text overwrites a block's first cell, the rest of the block becomes blanks. If it overwrites another cell, the
    // rest becomes spaces.
    check("\x1b]66;s=2;12\x07\x1b[1;2Hx", " x2_../  __../....../......");
    check("\x1b]66;w=3;a\x07\x1b[1;3H日", "  日~../....../....../......");
    check("\x1b]66;s=2;a\x07\x1b[1;2H日", " 日~.../  ..../....../......");
    // One block overwrites another block.
    check("\x1b]66;s=4:w=1;a\x07\x1b[1;2H\x1b]66;s=2;b\x07", " b_ ../ __ ../    ../    ..");
    check("\x1b[2;2H\x1b]66;s=2;a\x07\x1b[1;1H\x1b]66;s=2;b\x07", "b_..../__..../....../......");
}

#[test]
fn text_goes_around_the_lower_rows_of_a_block() {
    check_at("\x1b]66;s=2;a\x07\x1b[2;1Hxy", "a_..../__xy../....../......", (1, 4));
    check_at("\x1b[1;3H\x1b]66;s=2;a\x07\x1b[2;1Hxyz1234", "..a_../xy__z1/234.../......", (2, 3));
    // Both columns of a wide character must be adjacent. Only one column is free before the block, so the character
    // goes after it.
    check("\x1b[1;2H\x1b]66;s=2;a\x07\x1b[2;1H日", ".a_.../.__日~./....../......");
    check("\x1b[1;5H\x1b]66;s=2;a\x07\x1b[2;5Hx", "....a_/....__/x...../......");
    check("\x1b[?7l\x1b[1;5H\x1b]66;s=2;a\x07\x1b[2;5Hx", "....a_/....__/x...../......");
    check("\x1b]66;s=3;ab\x07\x1b[2;2H\x1b]66;s=1:w=2;c\x07", "a__b__/______/______/c_....");
}

#[test]
fn marks_join_a_block_at_its_first_row() {
    check("\x1b]66;s=2;a\x07\u{301}b", "a\u{301}_b.../__..../....../......");
    check("\x1b]66;s=2;a\x07\x1b[1;2H\u{301}", "a\u{301}_..../__..../....../......");
    check_at("\x1b]66;s=2;a\x07\x1b[2;2H\u{301}", "a_..../__..../....../......", (1, 1));
    // A character with a width of its own does not join the block, and a variation selector does not widen the block.
    check("\x1b]66;w=2;🇩\x07🇪", "🇩_🇪~../....../....../......");
    check("\x1b]66;n=1:d=2;❤\x07\u{fe0f}x", "❤\u{fe0f}x..../....../....../......");
    // All rows of the block count as changed.
    let mut fixture = Fixture::new(6, 4);
    fixture.feed("\x1b]66;s=2;a\x07");
    let before = fixture.term.revision(LineId(1));
    fixture.feed("\u{301}");
    assert!(fixture.term.revision(LineId(1)) > before);
}

#[test]
fn inserting_and_deleting_characters_moves_blocks_of_one_row() {
    let wide = "\x1b]66;w=2;a\x07";
    let tall = "x\x1b]66;s=2;b\x07c";
    check(format!("{wide}\x1b[1;1H\x1b[@"), ".a_.../....../....../......");
    check(format!("{wide}\x1b[1;2H\x1b[@"), EMPTY);
    check(format!("\x1b[1;5H{wide}\x1b[1;1H\x1b[@"), EMPTY);
    check(format!("{tall}\x1b[1;1H\x1b[@"), ".x..c./....../....../......");
    check(format!("{tall}\x1b[1;4H\x1b[@"), "xb_.c./.__.../....../......");
    check(format!("{wide}\x1b[1;1H\x1b[P"), EMPTY);
    check(format!("{wide}\x1b[1;2H\x1b[P"), EMPTY);
    check(format!("xy{wide}\x1b[1;1H\x1b[2P"), "a_..../....../....../......");
    check(format!("x{wide}c\x1b[1;2H\x1b[P"), "x.c.../....../....../......");
    check(format!("{tall}\x1b[1;1H\x1b[P"), "..c.../....../....../......");
    check(format!("{tall}\x1b[1;4H\x1b[P"), "xb_.../.__.../....../......");
    // Insert mode makes room in each row of the block.
    check("xyz\r\n123\x1b[4h\x1b[1;2H\x1b]66;s=2;a\x07", "xa_yz./1__23./....../......");
}

#[test]
fn erasing_a_cell_erases_its_block() {
    let tall = "x\x1b]66;s=2;b\x07c";
    let gone = "x..c../....../....../......";
    check(format!("{tall}\x1b[1;1H\x1b[X"), ".b_c../.__.../....../......");
    check(format!("{tall}\x1b[1;3H\x1b[X"), gone);
    check(format!("{tall}\x1b[2;2H\x1b[X"), gone);
    check(format!("{tall}\x1b[1;3H\x1b[K"), "x...../....../....../......");
    check(format!("{tall}\x1b[2;2H\x1b[1K"), gone);
    check(format!("{tall}\x1b[2;1H\x1b[2K"), gone);
    check(format!("{tall}\x1b[2;1H\x1b[J"), gone);
    check(format!("{tall}\x1b[2;1H\x1b[1J"), "....../....../....../......");
    check(format!("{tall}\x1b[2J"), EMPTY);
    // Rectangle operations erase the block too: DECERA, DECSERA, DECFRA. A copied part of a block (DECCRA) is blank.
    check(format!("{tall}\x1b[2;2;2;2$z"), gone);
    check(format!("{tall}\x1b[2;2;2;2${{"), gone);
    check(format!("{tall}\x1b[45;2;3;2;3$x"), "x..c../..-.../....../......");
    check(format!("{tall}\x1b[1;1;2;4;1;3;1$v"), "xb_c../.__.../x..c../......");
    // Changing the size of a row's characters erases the block too.
    check(format!("{tall}\x1b[2;1H\x1b#6"), gone);
    check(format!("{tall}\x1b#8"), "EEEEEE/EEEEEE/EEEEEE/EEEEEE");
}

#[test]
fn inserting_and_deleting_lines_erases_what_they_split() {
    let two = "\x1b]66;s=2;a\x07\x1b[3;1H\x1b]66;s=2;b\x07";
    check(format!("{two}\x1b[2;1H\x1b[L"), EMPTY);
    check(format!("{two}\x1b[1;1H\x1b[2L"), "....../....../a_..../__....");
    check(format!("{two}\x1b[1;1H\x1b[L"), "....../a_..../__..../......");
    check(format!("{two}\x1b[2;1H\x1b[M"), "....../b_..../__..../......");
    check(format!("{two}\x1b[1;1H\x1b[2M"), "b_..../__..../....../......");
    check(format!("{two}\x1b[1;1H\x1b[3M"), EMPTY);
}

#[test]
fn a_region_that_scrolls_keeps_whole_blocks_only() {
    let two = "\x1b]66;s=2;a\x07\x1b[3;1H\x1b]66;s=2;b\x07";
    // A block leaves the screen at the top, row by row.
    check(format!("{two}\x1b[S"), "__..../b_..../__..../......");
    check(format!("{two}\x1b[3S"), "__..../....../....../......");
    check(format!("{two}\x1b[T"), "....../a_..../__..../......");
    check(format!("{two}\x1b[S\x1b[T"), "....../....../b_..../__....");
    // Without history, nothing remains of a block that leaves the screen.
    check(format!("\x1b[?1049h{two}\x1b[S"), "....../b_..../__..../......");
    check(format!("\x1b[?1049h{two}\x1b[4;1H\n"), "....../b_..../__..../......");
    check(format!("{two}\x1b[2;3r\x1b[S"), EMPTY);
    check(format!("{two}\x1b[1;3r\x1b[S"), "__..../....../....../......");
    check(format!("{two}\x1b[3;4r\x1b[S"), "a_..../__..../....../......");
    check("\x1b[2;1H\x1b]66;s=2;a\x07\x1b[1;3r\x1b[S", "a_..../__..../....../......");
    // Between margins too, a block that scrolls stays whole or is erased.
    let margins = "\x1b[?69h\x1b[2;5s";
    check(format!("\x1b[2;2H\x1b]66;s=2;a\x07{margins}\x1b[S"), ".a_.../.__.../....../......");
    check(format!("\x1b[2;2H\x1b]66;s=2;a\x07{margins}\x1b[T"), "....../....../.a_.../.__...");
    check(format!("\x1b[2;2H\x1b]66;s=2;a\x07{margins}\x1b[3T"), EMPTY);
    check(format!("\x1b[2;1H\x1b]66;s=2;a\x07{margins}\x1b[S"), EMPTY);
    // If SL moves columns sideways between margins, a block stays whole or is erased.
    check(format!("\x1b[1;2H\x1b]66;w=2;a\x07{margins}\x1b[1;2H\x1b[ @"), EMPTY);
    check(
        format!("\x1b[1;3H\x1b]66;w=2;a\x07{margins}\x1b[1;2H\x1b[ @"),
        ".a_.../....../....../......",
    );
    check(format!("\x1b[1;3H\x1b]66;s=2;a\x07{margins}\x1b[1;2H\x1b[ @"), EMPTY);
    // A block wraps if it does not fit between the margins.
    check(format!("{margins}\x1b[1;5H\x1b]66;s=2;a\x07"), "....../.a_.../.__.../......");
    check(format!("{margins}\x1b]66;w=5;a\x07b"), "b...../....../....../......");
}

#[test]
fn without_its_upper_rows_in_history_the_rest_of_a_block_goes() {
    check("\x1b]66;s=2;a\x07\x1b[S", "__..../....../....../......");
    check("\x1b]66;s=2;a\x07\x1b[S\x1b[3J", EMPTY);
    let mut fixture = Fixture::new(6, 4);
    fixture.feed("\x1b]66;s=3;a\x07\x1b[2S");
    let part = fixture.snapshot().rows[0].multicells[0].clone();
    assert_eq!((part.row, &*part.text), (2, "a"), "its text stands in the history");
}

#[test]
fn sgr_and_links_are_the_blocks() {
    let mut fixture = Fixture::new(6, 4);
    fixture.feed("\x1b[31m\x1b]8;;http://x\x07\x1b]66;s=2;a\x07\x1b]8;;\x07\x1b[mb");
    let snapshot = fixture.snapshot();
    for row in &snapshot.rows[..2] {
        let run = &row.styles[0];
        assert_eq!((run.end, run.style.foreground), (2, crate::Color::Indexed(1)));
        assert_eq!(run.link.as_ref().map(|link| &*link.uri), Some("http://x"));
    }
    assert!(snapshot.rows[0].styles[1].style.size.is_none(), "the pen has no size");
    // The rest of the character becomes ordinary cells.
    fixture.feed("\x1b[1;1Hx");
    assert!(fixture.snapshot().rows[1].styles.iter().all(|run| run.style.size.is_none()));
}

#[test]
fn a_character_is_read_once() {
    let mut fixture = Fixture::new(12, 4);
    fixture.feed("\x1b]66;s=2;Big\x07 x\x1b[2;1Hsmall");
    assert_eq!(fixture.screen(), "Big x/small");
    let text = |start: (u64, u16), end: (u64, u16)| {
        let point = |(line, col): (u64, u16)| Point { line: LineId(line), col };
        let range = TextRange { start: point(start), end: point(end), block: false };
        fixture.term.text(range)
    };
    assert_eq!(text((0, 0), (0, 11)), "Big x");
    // A selection that contains any cell of a character copies the whole character.
    assert_eq!(text((0, 1), (0, 2)), "Bi");
    assert_eq!(text((1, 3), (1, 3)), "i");
    assert_eq!(text((1, 2), (1, 7)), "igsm");
    assert_eq!(text((0, 2), (1, 7)), "ig x\nsm");
    let word = |line: u64, col: u16| {
        let point = Point { line: LineId(line), col };
        let range = fixture.term.word_at(point, crate::WORD_SEPARATORS);
        fixture.term.text(range)
    };
    assert_eq!((&*word(0, 3), &*word(1, 3), &*word(1, 8)), ("Big", "Big", "small"));
    let found = fixture.term.find("ig", 9);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].range.start.col, found[0].range.end.col), (2, 5));
}

#[test]
fn a_resize_lays_lines_out_around_their_blocks() {
    let resized = |bytes: &str, cols: u16| {
        let mut fixture = Fixture::new(6, 6);
        fixture.feed(bytes);
        fixture.term.resize(Size::cells(cols, 6));
        fixture.term.debug_check();
        cells(&fixture).trim_end_matches(['.', '/']).to_owned()
    };
    assert_eq!(resized("\x1b]66;s=3;a\x07bbb", 5), "a__bb/___b./___");
    assert_eq!(resized("X\x1b]66;s=3;a\x0712345", 5), "Xa__1/2___3/4___5");
    assert_eq!(resized("aaaaa\x1b]66;s=2;X\x07bcd", 7), "aaaaaX_/bcd..__");
    assert_eq!(resized("aaaaa\x1b]66;s=2;X\x07bcd1234!", 8), "aaaaaX_b/cd123__4/!");
    assert_eq!(resized("aaaaa\x1b]66;s=2;X\x07bcd1234!", 4), "aaaa/aX_b/c__d/1234/!");
    // Lines beside the lower rows of a block stay separate lines.
    assert_eq!(resized("\x1b]66;s=2;ab\x07\r\nx\r\ny", 5), "a_b_./____x/y");
    assert_eq!(resized("\x1b]66;s=2;ab\x07\r\nx\r\ny", 3), "a_./__./b_./__x/y");
    // A block that is wider than the screen is lost.
    assert_eq!(resized("1\x1b]66;w=5;a\x072", 4), "12");
    // A resize to another width and back restores the screen.
    let mut fixture = Fixture::new(6, 12);
    fixture.feed("X\x1b]66;s=3;a\x0712345\r\n\r\nend");
    let before = cells(&fixture);
    for cols in [5, 9, 4, 20, 6] {
        fixture.term.resize(Size::cells(cols, 12));
        fixture.term.debug_check();
    }
    assert_eq!(cells(&fixture), before);
}

#[test]
fn blocks_come_back_from_history() {
    let mut fixture = Fixture::new(8, 3);
    for i in 0..40 {
        fixture.feed(format!("\x1b]66;s=2:n=1:d=2:v=2;{}\x07 {i}\r\n\r\n", i % 10));
    }
    let before = fixture.term.dump();
    let text = fixture.everything();
    while fixture.freeze() > 0 {}
    assert_eq!(fixture.term.dump(), before, "compressed and thawed");
    for cols in [5, 30, 8] {
        fixture.term.resize(Size::cells(cols, 3));
        fixture.term.debug_check();
    }
    assert_eq!(fixture.everything(), text);
    fixture.term.resize(Size::cells(8, 30));
    fixture.term.debug_check();
    assert!(cells(&fixture).contains("/9_ 39.../__....../"), "{}", cells(&fixture));
}

#[test]
fn the_alternate_screen_is_cut() {
    let mut fixture = Fixture::new(6, 4);
    fixture.feed("\x1b[?1049h\x1b]66;s=2;abc\x07\x1b[3;1H\x1b]66;s=2;d\x07\x1b[1;1H");
    fixture.term.resize(Size::cells(5, 3));
    fixture.term.debug_check();
    assert_eq!(cells(&fixture), "a_b_./____./.....");
}

/// The dump of a terminal that was rebuilt from bytes, and the dump of the original terminal.
fn again(fixture: &Fixture) -> (String, String) {
    let mut copy = Term::new(fixture.term.size(), Options::default());
    Parser::new().advance(&mut copy, &fixture.term.to_vt());
    copy.debug_check();
    (copy.dump(), fixture.term.dump())
}

#[test]
fn a_terminal_and_its_bytes_show_the_same_blocks() {
    for bytes in [
        "\x1b]66;s=2;ab\x07x\r\n\r\ny",
        "\x1b[31;44m\x1b]66;s=2:w=3:n=1:d=3:v=2:h=1;e\u{301}tc\x07\x1b[mz",
        "\x1b]66;n=1:d=2:w=1;ab\x07\x1b]66;n=1:d=2:w=1:v=1;c\x07",
        "\x1b]66;s=3;a\x07\x1b[2;1Hxyz\x1b[3;6H!",
        "1\r\n\x1b]66;s=2;ab\x07\x1b[2S",
        "\x1b]66;s=3;a\x07\x1b[2Sx",
        "xxxxxxxxx\x1b]66;s=2;a\x07bcdefghijkl",
        "\x1b[?1049h\x1b]66;s=2;ab\x07",
        "\x1b[1\"q\x1b]66;s=2;ab\x07\x1b[0\"q\x1b]8;;http://x\x07\x1b]66;w=2;l\x07",
    ] {
        let mut fixture = Fixture::new(10, 4);
        // A carriage return ensures that REP has no character to repeat.
        fixture.feed(bytes).feed("\r");
        let (copy, own) = again(&fixture);
        assert_eq!(copy, own, "{bytes:?}");
    }
}

#[test]
fn plain_text_after_a_block_is_as_it_was() {
    check_cursor("\x1b]66;s=2;a\x07\x1b[2J\x1b[HHello\r\nworld", "Hello/world", (1, 5));
    assert_eq!(size_of::<crate::Cell>(), 8);
    assert_eq!(size_of::<TextSize>(), 4);
}

/// Pieces of streams that create, overwrite, cut and move blocks.
pub(super) fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => ("[1-7]", "[0-7]", "[a-c日e\u{301}🇩❤\u{fe0f}]{1,4}")
            .prop_map(|(s, w, text)| format!("\x1b]66;s={s}:w={w};{text}\x07")),
        2 => ("[0-3]", "[0-4]", "[0-2]", "[a-c]{1,3}")
            .prop_map(|(n, d, v, text)| format!("\x1b]66;w=1:n={n}:d={d}:v={v};{text}\x07")),
        4 => ("[1-9]", "[1-9]").prop_map(|(r, c)| format!("\x1b[{r};{c}H")),
        3 => "[x-z日\u{301}\u{fe0f}]{1,9}",
        2 => "[\n\r\t\x08]{1,3}",
        6 => ("[0-3]?", "[@ABCDJKLMPSTXbl]").prop_map(|(n, f)| format!("\x1b[{n}{f}")),
        1 => ("[0-3]", "['][~}]").prop_map(|(n, f)| format!("\x1b[{n}{f}")),
        1 => ("[0-3]", " [@A]").prop_map(|(n, f)| format!("\x1b[{n}{f}")),
        1 => ("[1-4](;[1-6]){3}", "[$][z{]").prop_map(|(n, f)| format!("\x1b[{n}{f}")),
        1 => "[1-4](;[1-6]){3};1;[1-4];[1-6]".prop_map(|n| format!("\x1b[{n}$v")),
        1 => "[1-3];[4-6]".prop_map(|n| format!("\x1b[{n}r")),
        1 => "[1-3];[4-9]".prop_map(|n| format!("\x1b[?69h\x1b[{n}s")),
        1 => prop::sample::select(vec![
            "\x1bM", "\x1bD", "\x1b[?69l", "\x1b[r", "\x1b[4h", "\x1b[4l", "\x1b[?7l", "\x1b[?7h",
            "\x1b#6", "\x1b#5", "\x1b#8", "\x1b[?1049h", "\x1b[?1049l", "\x1b[3J", "\x1bV", "\x1bW",
            "\x1b[44m", "\x1b[m", "\x1b[1\"q", "\x1b[0\"q", "\x1b6", "\x1b9", "\x1bc", "\x1b[1;7$r",
        ])
        .prop_map(str::to_owned),
    ]
}

proptest! {
    #![proptest_config(cases(512))]

    /// After each piece, the terminal checks itself: no incomplete block may remain.
    #[test]
    fn no_part_of_a_block_is_ever_left(
        pieces in prop::collection::vec(piece(), 1..40),
        sizes in prop::collection::vec((1..14u16, 1..9u16), 0..4),
    ) {
        let mut fixture = Fixture::new(9, 6);
        let share = pieces.len() / (sizes.len() + 1) + 1;
        let mut sizes = sizes.into_iter();
        for some in pieces.chunks(share) {
            for piece in some {
                fixture.feed(piece);
            }
            let snapshot = fixture.snapshot();
            for part in snapshot.rows.iter().flat_map(|row| &row.multicells) {
                prop_assert!(!part.text.is_empty() && part.row < part.size.rows());
            }
            if let Some((cols, rows)) = sizes.next() {
                fixture.term.resize(Size::cells(cols, rows));
                fixture.term.debug_check();
            }
        }
        let (mut copy, mut parser) = (Term::new(fixture.term.size(), Options::default()), Parser::new());
        parser.advance(&mut copy, &fixture.term.to_vt());
        copy.debug_check();
    }
}
