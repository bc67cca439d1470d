//! Sixel. Expectations attributed to xterm come from its patch 379, run with `-ti vt340`.

use super::{check_images, describe, fixture, pixels, shown};
use crate::tests::{Fixture, check_reply};
use crate::{LineId, Point, Size, Snapshot, TextRange};

/// An image of `width` × `height` red pixels. The height must be a multiple of 6.
fn red(width: usize, height: usize) -> String {
    let bands = vec![format!("!{width}~"); height / 6].join("-");
    format!("\x1bPq#1;2;100;0;0#1{bands}\x1b\\")
}

#[test]
fn data_makes_pixels() {
    let mut fixture = fixture();
    // Covers: bits from the top, repetition, the return to the left edge, and the next band.
    fixture.feed("\x1bP0;1q#1;2;100;0;0#2;1;0;50;100#1@!2A$#2!2A-#2@\x1b\\");
    assert_eq!(
        pixels(&fixture, 0),
        "ff0000ff 00000000 00000000/0000ffff 0000ffff ff0000ff/\
         00000000 00000000 00000000/00000000 00000000 00000000/\
         00000000 00000000 00000000/00000000 00000000 00000000/\
         0000ffff 00000000 00000000"
    );
    // Raster attributes set the size of the background, which is filled with the color of register 0.
    fixture.feed("\x1bc\x1bPq\"1;1;2;2#0;2;0;100;0#1;2;100;0;0#1@\x1b\\");
    assert_eq!(pixels(&fixture, 0), "ff0000ff 00ff00ff/00ff00ff 00ff00ff");
    fixture.feed("\x1bc\x1bP0;1q\"1;1;2;2#1;2;100;0;0#1@\x1b\\");
    assert_eq!(pixels(&fixture, 0), "ff0000ff 00000000/00000000 00000000");
    // DEC's hues: 0 blue, 120 red, 240 green.
    fixture.feed(
        "\x1bc\x1bPq#1;1;120;50;100#1@#1;1;240;50;100#1@#1;1;60;50;100#1@#1;1;0;75;0#1@\x1b\\",
    );
    assert_eq!(pixels(&fixture, 0), "ff0000ff 00ff00ff ff00ffff bfbfbfff");
}

#[test]
fn the_cursor_ends_in_the_images_last_row() {
    // Pairs of a height in pixels and the rows by which the cursor moves, with cells 16 pixels high, as in xterm.
    for (height, rows) in [(6, 0), (12, 0), (18, 1), (30, 1), (36, 2)] {
        let mut fixture = fixture();
        fixture.feed("  ").feed(red(20, height));
        assert_eq!(fixture.cursor(), (rows, 2), "height {height}");
    }
    let mut fixture = fixture();
    fixture.feed("\x1b[?8452h  ").feed(red(20, 18));
    assert_eq!(fixture.cursor(), (1, 5));
    // If the image ends beyond the margin, the cursor moves to the start of the next line.
    fixture.feed("\x1bc\x1b[?8452h\x1b[20G").feed(red(8, 6));
    assert_eq!(fixture.cursor(), (1, 0));
    fixture.feed("\x1bc\x1b[?8452;69h\x1b[3;9s\x1b[1;7H").feed(red(24, 6));
    assert_eq!(fixture.cursor(), (1, 2));
    // At the bottom of the screen, an image scrolls the screen.
    fixture.feed("\x1bc\x1b[4;3H").feed(red(8, 48));
    assert_eq!(shown(&fixture), "1×3 at 2,1 z -1");
    assert_eq!(fixture.cursor(), (3, 2));
    // DECSDM: the image starts in the corner of the screen and is cut off, and the cursor does not move.
    fixture.feed("\x1bc\x1b[?80h\x1b[3;3H").feed(red(8, 96));
    assert_eq!(shown(&fixture), "1×4 at 0,0 z -1");
    assert_eq!(fixture.cursor(), (2, 2));
}

#[test]
fn an_image_is_cells() {
    let tall = red(24, 48);
    check_images(&tall, "3×3 at 0,0 z -1");
    // Text, ECH and EL erase the pieces of the image in the cells that they change, as in xterm.
    check_images(
        tall.clone() + "\x1b[2;2Hx",
        "3×1 at 0,0 of 24×16 at 0,0 z -1\n1×1 at 0,1 of 8×16 at 0,16 z -1\n\
         1×1 at 2,1 of 8×16 at 16,16 z -1\n3×1 at 0,2 of 24×16 at 0,32 z -1",
    );
    check_images(
        tall.clone() + "\x1b[2;2H\x1b[K\x1b[3;1H\x1b[3X",
        "3×1 at 0,0 of 24×16 at 0,0 z -1\n1×1 at 0,1 of 8×16 at 0,16 z -1",
    );
    check_images(tall.clone() + "\x1b[2J", "");
    // Pieces of an image move with scrolled regions, inserted characters and inserted lines.
    check_images(
        tall.clone() + "\x1b[2;1H\x1b[2@",
        "3×1 at 0,0 of 24×16 at 0,0 z -1\n3×1 at 2,1 of 24×16 at 0,16 z -1\n3×1 at 0,2 of 24×16 at 0,32 z -1",
    );
    check_images(tall.clone() + "\x1b[1;3r\x1b[T", "3×2 at 0,1 of 24×32 at 0,0 z -1");
    // An image is cut off at the right edge.
    check_images("\x1b[1;9H".to_owned() + &tall, "2×3 at 8,0 z -1");
    // An image stays complete in history.
    let mut fixture = fixture();
    fixture.feed(tall + &"\r\n".repeat(6));
    assert_eq!(shown(&fixture), "");
    let mut snapshot = crate::Snapshot::default();
    fixture.term.snapshot(&mut snapshot, Some(crate::LineId(1)));
    assert_eq!(super::describe(&snapshot), "3×2 at 0,0 of 24×32 at 0,16 z -1");
}

#[test]
fn where_nothing_is_drawn_text_stays() {
    let mut fixture = fixture();
    fixture.feed("abc\r\x1bP0;1q#1!8?!8~\x1b\\");
    assert_eq!(fixture.screen(), "a c");
    assert_eq!(shown(&fixture), "1×0.375 at 1,0 of 8×6 at 8,0 z -1");
}

#[test]
fn images_that_are_covered_are_dropped() {
    // Each image has 15 KB and covers the one before.
    let image = format!("\x1b[H{}", red(80, 48));
    let mut fixture = fixture();
    for _ in 0..3000 {
        fixture.parser.advance(&mut fixture.term, image.as_bytes());
    }
    let layer = &fixture.term.graphics.shown;
    assert!(layer.store.bytes() < 24 << 20, "{}", layer.store.bytes());
    assert!(!shown(&fixture).is_empty());
}

#[test]
fn graphics_attributes() {
    // The replies equal those of xterm.
    check_reply("\x1b[?1;1;0S", "\x1b[?1;0;1024S");
    check_reply("\x1b[?1;3;100S\x1b[?1;1S", "\x1b[?1;0;100S\x1b[?1;0;100S");
    check_reply("\x1b[?1;3;100S\x1b[?1;2;0S", "\x1b[?1;0;100S\x1b[?1;0;1024S");
    check_reply("\x1b[?1;3;2000S\x1b[?1;3;1S", "\x1b[?1;3S\x1b[?1;3S");
    check_reply("\x1b[?2;1;0S", "\x1b[?2;0;80;64S");
    check_reply("\x1b[?2;4;0S", "\x1b[?2;0;10000;10000S");
    check_reply("\x1b[?2;2;0S\x1b[?2;3;9;9S", "\x1b[?2;3S\x1b[?2;3S");
    check_reply("\x1b[?3;1;0S\x1b[?1;9;0S", "\x1b[?3;1S\x1b[?1;2S");
    check_reply(
        "\x1b[?80;1$p\x1b[?80$p\x1b[?1070$p\x1b[?8452$p",
        "\x1b[?80;2$y\x1b[?80;2$y\x1b[?1070;1$y\x1b[?8452;2$y",
    );
}

#[test]
fn registers_are_private_unless_they_are_shared() {
    let mut fixture = fixture();
    fixture.feed("\x1bPq#20;2;100;0;0#20@\x1b\\\x1b[2J\x1b[H\x1bPq#20@\x1b\\");
    assert_eq!(pixels(&fixture, 0), "000000ff");
    fixture.feed("\x1b[?1070l\x1bPq#20;2;100;0;0#20@\x1b\\\x1b[2J\x1b[H\x1bPq#20@\x1b\\");
    assert_eq!(pixels(&fixture, 0), "ff0000ff");
}

#[test]
fn a_resize_cuts_images_and_gives_back_what_it_cut() {
    let size = |cols, rows| Size { cell_width: 8, cell_height: 16, ..Size::cells(cols, rows) };
    let seen = |fixture: &Fixture| {
        let mut snapshot = Snapshot::default();
        fixture.term.snapshot(&mut snapshot, Some(fixture.term.oldest()));
        describe(&snapshot)
    };
    // Text that wraps, an image of 6×3 cells after two blanks, and text after the image's last row (?8452). Tested on
    // the screen, in history, and in compressed history.
    for lines in [1, 30, 300] {
        let mut fixture = Fixture::new(10, 8);
        fixture.feed("0123456789abc\r\n  \x1b[?8452h").feed(red(48, 48)).feed("x\r\ny");
        fixture.feed("\r\n".repeat(lines)).freeze();
        let before = fixture.everything();
        assert_eq!(seen(&fixture), "6×3 at 2,2 z -1");
        fixture.term.resize(size(5, 8));
        assert_eq!(seen(&fixture), "3×3 at 2,3 of 24×48 at 0,0 z -1", "{lines}");
        assert!(fixture.everything().starts_with("01234/56789/abc/"), "{}", fixture.everything());
        fixture.term.resize(size(20, 8));
        assert_eq!(seen(&fixture), "6×3 at 2,1 z -1", "{lines}");
        fixture.term.resize(size(10, 8));
        assert_eq!(seen(&fixture), "6×3 at 2,2 z -1", "{lines}");
        assert_eq!(fixture.everything(), before);
    }
    // Text wraps into a row that contains an image. After a resize, that row begins a new row again, and the cursor
    // stays after its text.
    let mut fixture = Fixture::new(10, 8);
    fixture.feed("0123456789").feed("ab\r").feed(red(16, 12)).feed("\x1b[2;5Hz");
    fixture.term.resize(size(7, 8));
    assert_eq!(seen(&fixture), "2×0.75 at 0,2 z -1");
    assert_eq!(fixture.screen(), "0123456/789/    z");
    assert_eq!(fixture.cursor(), (2, 5));
    let text = |fixture: &Fixture| {
        let (first, last) = (fixture.term.oldest(), LineId(fixture.term.live_top().0 + 7));
        let range = TextRange {
            start: Point { line: first, col: 0 },
            end: Point { line: last, col: fixture.term.size().cols - 1 },
            block: false,
        };
        fixture.term.text(range).trim_end().to_owned()
    };
    assert_eq!(text(&fixture), "0123456789    z");
    fixture.term.resize(size(30, 8));
    assert_eq!(fixture.screen(), "0123456789/    z");
    assert_eq!(text(&fixture), "0123456789    z");
    assert_eq!(fixture.term.find("9    z", 1).len(), 1);
    assert_eq!(seen(&fixture), "2×0.75 at 0,1 z -1");
}
