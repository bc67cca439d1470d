//! Tests of kitty's multiple cursors protocol, after the text of its specification.

use super::{Fixture, check_reply};
use crate::{CursorShape, ExtraCursorColor, Rgb, Size};

/// The extra cursors of a 10×6 screen after `bytes`: row and column, from 1, and the shape in the protocol.
fn cursors(bytes: &str) -> Vec<(u64, u16, u8)> {
    shown(Fixture::new(10, 6).feed(bytes))
}

fn shown(fixture: &Fixture) -> Vec<(u64, u16, u8)> {
    let number = |shape: Option<CursorShape>| match shape {
        Some(CursorShape::Block) => 1,
        Some(CursorShape::Bar) => 2,
        Some(CursorShape::Underline) => 3,
        _ => 29,
    };
    let snapshot = fixture.snapshot();
    let place = |cursor: &crate::ExtraCursor| {
        (cursor.line.0 - snapshot.live_top.0 + 1, cursor.col + 1, number(cursor.shape))
    };
    snapshot.extra_cursors.iter().map(place).collect()
}

/// The answer to the query for cursors, after `bytes` on a 10×6 screen.
fn answer(bytes: &str) -> String {
    let mut fixture = Fixture::new(10, 6);
    fixture.feed(bytes).replies();
    fixture.feed("\x1b[>100 q").replies()
}

#[test]
fn shapes_are_set_at_points_rectangles_and_the_main_cursor() {
    // The quick start of the specification.
    assert_eq!(cursors("\x1b[>29;2:4:5 q"), [(4, 5, 29)]);
    let several = "\x1b[>1;2:6:1 q\x1b[>2;2:6:3 q\x1b[>3;2:6:5;2:6:7 q";
    assert_eq!(cursors(several), [(6, 1, 1), (6, 3, 2), (6, 5, 3), (6, 7, 3)]);
    // Several pairs in one group, and a rectangle after a point.
    assert_eq!(cursors("\x1b[>2;2:1:2:3:4 q"), [(1, 2, 2), (3, 4, 2)]);
    assert_eq!(
        cursors("\x1b[>1;2:1:1;4:2:3:3:4 q"),
        [(1, 1, 1), (2, 3, 1), (2, 4, 1), (3, 3, 1), (3, 4, 1)]
    );
    assert_eq!(cursors("\x1b[>1;4:1:1:1:2:3:3:3:3 q"), [(1, 1, 1), (1, 2, 1), (3, 3, 1)]);
    assert_eq!(cursors("\x1b[3;4H\x1b[>3;0 q\x1b[H"), [(3, 4, 3)]);
    assert_eq!(cursors("\x1b[>1;4 q").len(), 60, "the whole screen");
    // The last shape of a cell counts.
    assert_eq!(cursors("\x1b[>1;2:1:1 q\x1b[>2;2:1:1 q"), [(1, 1, 2)]);
    for unknown in ["4", "5", "28", "31", "102", "65535"] {
        assert_eq!(cursors(&format!("\x1b[>{unknown};2:1:1 q")), [], "{unknown}");
    }
    for unknown in ["1", "3", "5"] {
        assert_eq!(cursors(&format!("\x1b[>1;{unknown}:1:1 q")), [], "{unknown}");
    }
}

#[test]
fn cells_outside_the_screen_and_extra_coordinates_are_ignored() {
    assert_eq!(cursors("\x1b[>1;2:7:1;2:1:11;2:0:1;2:1:0;2:65535:65535 q"), []);
    assert_eq!(cursors("\x1b[>1;4:6:9:99:99 q"), [(6, 9, 1), (6, 10, 1)]);
    assert_eq!(cursors("\x1b[>1;4:3:3:2:2 q"), []);
    assert_eq!(cursors("\x1b[>1;2:1:1:2 q"), [(1, 1, 1)]);
    assert_eq!(cursors("\x1b[>1;2:1 q"), []);
    assert_eq!(cursors("\x1b[>1;4:1:1:1:1:5:5:5 q"), [(1, 1, 1)]);
    assert_eq!(cursors("\x1b[>1;4:1:1:1 q").len(), 60, "as if no number was specified");
}

#[test]
fn support_is_reported_in_order_with_other_replies() {
    check_reply(
        "\x1b[> q\x1b[c",
        "\x1b[>1;2;3;29;30;40;100;101 q\x1b[?65;1;2;4;6;9;15;16;17;18;21;22;28;29;52c",
    );
    check_reply("\x1b[>100 q\x1b[> q", "\x1b[>100 q\x1b[>1;2;3;29;30;40;100;101 q");
}

#[test]
fn shape_0_clears_cells() {
    let set = "\x1b[>1;4:1:1:2:3 q";
    assert_eq!(cursors(&format!("{set}\x1b[>0;4 q")), []);
    assert_eq!(cursors(&format!("{set}\x1b[>0;2:1:2;4:2:1:9:9 q")), [(1, 1, 1), (1, 3, 1)]);
    assert_eq!(cursors("\x1b[>0;4 q\x1b[>0;2:1:1 q"), []);
}

#[test]
fn set_cursors_are_reported() {
    assert_eq!(answer(""), "\x1b[>100 q");
    assert_eq!(answer("\x1b[>29;2:4:5 q\x1b[>1;2:2:1 q"), "\x1b[>100;1:2:2:1;29:2:4:5 q");
    assert_eq!(answer("\x1b[>2;4 q"), "\x1b[>100;2:4:1:1:6:10 q");
    assert_eq!(answer("\x1b[>2;4 q\x1b[>0;2:3:3 q"), {
        "\x1b[>100;2:4:1:1:2:10;2:4:3:1:3:2;2:4:3:4:3:10;2:4:4:1:6:10 q"
    });
    // What is reported sets the same cursors again.
    let mut fixture = Fixture::new(10, 6);
    fixture.feed("\x1b[>1;4:1:1:3:3 q\x1b[>2;4:2:2:5:5 q\x1b[>3;2:3:3 q\x1b[>0;2:4:4 q");
    fixture.feed("\x1b[>100 q");
    let reply = fixture.replies();
    let reply = reply.trim_start_matches("\x1b[>100;").trim_end_matches(" q");
    let again: String = reply
        .split(';')
        .filter_map(|block| block.split_once(':'))
        .map(|(shape, place)| format!("\x1b[>{shape};{place} q"))
        .collect();
    assert_eq!(cursors(&again), shown(&fixture));
}

#[test]
fn colors_are_set_and_reported() {
    for (set, reply) in [
        ("", "30:0;40:0"),
        ("\x1b[>30;1 q\x1b[>40;2:1:2:255 q", "30:1;40:2:1:2:255"),
        ("\x1b[>30;5:9 q\x1b[>40;5:255 q\x1b[>30;0 q", "30:0;40:5:255"),
        ("\x1b[>40;2:1:2 q\x1b[>40;5 q\x1b[>40;9:1 q", "30:0;40:0"),
        ("\x1b[>40;1 q\x1b[>0;4 q\x1b[2J\x1b[?1049h", "30:0;40:1"),
        ("\x1b[>40;1 q\x1bc", "30:0;40:0"),
    ] {
        let mut fixture = Fixture::new(10, 4);
        fixture.feed(set).feed("\x1b[>101 q");
        assert_eq!(fixture.replies(), format!("\x1b[>101;{reply} q"), "{set:?}");
    }
    let snapshot = Fixture::new(10, 4).feed("\x1b[>30;2:1:2:3 q\x1b[>40;5:7 q").snapshot();
    let colors = snapshot.extra_cursor_colors;
    assert_eq!(colors.text, ExtraCursorColor::Rgb(Rgb { r: 1, g: 2, b: 3 }));
    assert_eq!(colors.cursor, ExtraCursorColor::Indexed(7));
}

#[test]
fn clears_resets_and_screens_remove_all_cursors() {
    let set = "a\r\nb\x1b[>1;4:1:1:2:3 q";
    for removes in [
        "\x1b[2J",
        "\x1b[3J",
        "\x1b[22J",
        "\x1bc",
        "\x1b[?1049h",
        "\x1b[?1049h\x1b[?1049l",
        "\x1b[?47h",
    ] {
        assert_eq!(cursors(&format!("{set}{removes}")), [], "{removes:?}");
    }
    assert_eq!(cursors(&format!("\x1b[?1049h{set}\x1b[?1049l")), []);
    // Everything else leaves them where they are, also what moves text.
    for keeps in [
        "\x1b[J",
        "\x1b[1J",
        "\x1b[K",
        "\x1b[!p",
        "\x1b[?1049l",
        "\x1b[?25l",
        "\x1b[6H\n\n\n",
        "\x1b[H\x1bM\x1bM",
        "\x1b[3S",
        "\x1b[H\x1b[2L",
        "\x1b[5 q",
    ] {
        assert_eq!(cursors(&format!("{set}{keeps}")), cursors(set), "{keeps:?}");
    }
}

#[test]
fn a_resize_keeps_cursors_inside_the_screen() {
    let mut fixture = Fixture::new(10, 6);
    fixture.feed("\x1b[>1;2:1:1:6:10:3:5 q");
    let size = fixture.term.size();
    fixture.term.resize(Size { cols: 20, rows: 8, ..size });
    assert_eq!(shown(&fixture), [(1, 1, 1), (3, 5, 1), (6, 10, 1)]);
    fixture.term.resize(Size { cols: 5, rows: 3, ..size });
    assert_eq!(shown(&fixture), [(1, 1, 1), (3, 5, 1)]);
    fixture.term.resize(Size { cols: 1, rows: 1, ..size });
    assert_eq!(shown(&fixture), [(1, 1, 1)]);
    fixture.feed("\x1b[>0;4 q");
    fixture.term.resize(size);
    assert_eq!(shown(&fixture), []);
}

/// A sequence may have any number of coordinates, and may arrive in parts.
#[test]
fn long_sequences_count_whole() {
    let cells = (1..=50).flat_map(|row| (1..=60).step_by(3).map(move |col| (row, col, 2)));
    let expected: Vec<(u64, u16, u8)> = cells.collect();
    for before in [":", ";2:"] {
        let first = if before == ":" { ";2" } else { "" };
        let pairs = expected.iter().map(|(row, col, _)| format!("{before}{row}:{col}"));
        let text = format!("\x1b[>2{first}{} qx", pairs.collect::<String>());
        for len in [1, 7, 4096, text.len()] {
            let mut fixture = Fixture::new(60, 50);
            for part in text.as_bytes().chunks(len) {
                fixture.feed(part);
            }
            assert_eq!(shown(&fixture), expected, "in parts of {len} bytes");
            assert_eq!(fixture.screen(), "x");
        }
    }
    // A line feed inside the sequence takes effect, as in any sequence, and a control string does not.
    let long = "2:1:1;".repeat(40);
    assert_eq!(cursors(&format!("\x1b[>1;{long}2:2:2\n q")), [(1, 1, 1), (2, 2, 1)]);
    assert_eq!(cursors(&format!("\x1b[>1;{long}2:2:2! q")), []);
    assert_eq!(cursors(&format!("\x1b[>1;{long}\x18")), []);
}

#[test]
fn the_number_of_cursors_is_bounded() {
    let mut fixture = Fixture::new(400, 100);
    fixture.feed("\x1b[>1;4 q");
    assert_eq!(shown(&fixture).len(), 16_384);
    // A change of shape and an erase need no room.
    fixture.feed("\x1b[>2;2:1:1 q\x1b[>0;2:1:2 q\x1b[>3;2:100:400 q\x1b[>3;2:100:399 q");
    let cursors = shown(&fixture);
    assert_eq!((cursors.len(), cursors[0]), (16_384, (1, 1, 2)));
    assert_eq!(cursors.last(), Some(&(100, 400, 3)));
    // The longest reply is shorter than the queue of replies.
    fixture.feed("\x1bc");
    for row in 1..=100 {
        let cells: String =
            (1 + row % 2..=400).step_by(2).map(|col| format!(":{row}:{col}")).collect();
        fixture.feed(format!("\x1b[>29;2{cells} q"));
    }
    fixture.feed("\x1b[>100 q");
    let reply = fixture.replies();
    assert!(reply.ends_with(" q") && (40_000..64 << 10).contains(&reply.len()), "{}", reply.len());
}

#[test]
fn a_rebuilt_terminal_has_the_same_cursors() {
    for bytes in [
        "\x1b[>1;4:1:1:3:3 q\x1b[>2;4:2:2:5:5 q\x1b[>29;2:3:3 q",
        "text\r\n\x1b[?1049h\x1b[>3;2:6:10 q\x1b[>30;1 q",
        "\x1b[>40;5:3 q",
        "\x1b[>1;4 q\x1b[?2l",
    ] {
        let mut fixture = Fixture::new(10, 6);
        fixture.feed(bytes).feed("\x18");
        let mut copy = Fixture::new(10, 6);
        copy.feed(fixture.term.to_vt()).feed("\x18");
        assert_eq!(shown(&copy), shown(&fixture), "{bytes:?}");
        assert_eq!(copy.term.dump(), fixture.term.dump(), "{bytes:?}");
    }
}

#[test]
fn a_snapshot_is_updated_even_if_no_row_changed() {
    let mut fixture = Fixture::new(10, 6);
    fixture.feed("text");
    let mut snapshot = fixture.snapshot();
    fixture.feed("\x1b[>1;2:1:2:3:4 q");
    fixture.term.snapshot(&mut snapshot, None);
    assert_eq!(snapshot.extra_cursors.len(), 2);
    let line = |row: usize| snapshot.extra_cursors_in(snapshot.rows[row].line).len();
    assert_eq!([0, 1, 2, 3].map(line), [1, 0, 1, 0]);
    fixture.feed("\x1b[>0;4 q");
    fixture.term.snapshot(&mut snapshot, None);
    assert!(snapshot.extra_cursors.is_empty());
    // A view of the history does not show them.
    fixture.feed("\r\n".repeat(20)).feed("\x1b[>1;2:1:2 q");
    fixture.term.snapshot(&mut snapshot, Some(fixture.term.oldest()));
    assert!(snapshot.rows.iter().all(|row| snapshot.extra_cursors_in(row.line).is_empty()));
}
