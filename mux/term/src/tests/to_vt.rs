//! Tests that a terminal rebuilt from the bytes of [`crate::Term::to_vt`] equals the original.

use proptest::prelude::*;

use super::Fixture;
use crate::{Size, Term};

/// A new terminal, fed with the bytes that `to_vt` returns for `fixture`.
fn rebuilt(fixture: &Fixture) -> Fixture {
    let size = fixture.term.size();
    let mut copy = Fixture::new(size.cols, size.rows);
    copy.term.resize(size);
    copy.feed(fixture.term.to_vt());
    // Afterward, REP has no character to repeat. The compared terminal must not have one either.
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
    // Half of an overwritten wide character keeps its attributes.
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
    // A wrapped row was moved to the bottom of the screen.
    check(format!("{}\x1b[H\x1b[4L", "0123456789".repeat(5)));
    check(format!("{}\x1b[T", "0123456789".repeat(11)));
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
fn a_viewer_gets_the_screen_and_some_history_without_images() {
    let mut fixture = Fixture::new(20, 6);
    fixture.feed((0..50).map(|i| format!("line {i}\r\n")).collect::<String>());
    fixture.feed("\x1b_Ga=T,f=24,s=1,v=1;AAAA\x1b\\");
    let mut copy = Fixture::new(20, 6);
    copy.feed(fixture.term.to_vt_text(3));
    let text = |fixture: &Fixture| fixture.everything();
    assert_eq!(text(&copy), text(&fixture)[text(&fixture).len() - text(&copy).len()..]);
    assert_eq!(copy.term.history_rows(), 3);
    assert!(!copy.term.to_vt().windows(2).any(|bytes| bytes == b"_G"), "no images");
    assert!(fixture.term.to_vt().windows(2).any(|bytes| bytes == b"_G"));
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
    check("\x1b[?69;2004h\x1b[?69;2004s\x1b[?69l\x1b[?40h\x1b[?3s");
}

#[test]
fn a_vt52_and_what_comes_after() {
    let set = "\x1b[1;31m\x1b[?69h\x1b[3;9s\x1b[2;5r\x1b[?6h\x1b[4h\x1b[2;2H\x1b(0";
    for vt52 in [
        "\x1b[?2l",
        "\x1b[?2l\x1bYPP",
        "\x1b[?2l\x1bF\x1b=abc",
        "\x1b[?2l\x1b<",
        "\x1b[?2l\x1b<\x1b[?2lx",
    ] {
        check(format!("{set}{vt52}"));
        let mut fixture = Fixture::new(20, 6);
        fixture.feed(set).feed(vt52);
        let mut copy = rebuilt(&fixture);
        let after = "\x1b<text\r\n\x1b[2;2Hover";
        assert_eq!(copy.feed(after).term.dump(), fixture.feed("\x18").feed(after).term.dump());
    }
}

#[test]
fn pending_wraps() {
    // A pending wrap at a right margin, in a double-width row, over a cell erased since, after a prompt, and in a saved
    // cursor.
    check("\x1b[?69h\x1b[3;9s\x1b[1;3Habcdefg");
    check("\x1b[?69h\x1b[3;9s\x1b[1;3Habcdefg\x1b7\x1b[H");
    check("\x1b#6abcdefghij");
    check("0123456789abcdefghij\x1b[1X");
    check("\x1b]133;A\x07\x1b]133;B\x07ls\r\n\x1b]133;C\x07\x1b]133;P\x070123456789abcdefghij");
    check("0123456789abcdefghij\x1b7\x1b[3;3H");
    check("0123456789abcdefghijk\x1b[A\x1b[20Gx");
}

#[test]
fn double_rows_in_history() {
    check(format!("one\x1b#6\r\ntwo\x1b#3\r\ntwo\x1b#4{}", "\r\nmore".repeat(9)));
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

#[test]
fn commands_whose_output_was_erased() {
    let begun = "\x1b]133;A;aid=7\x07$ \x1b]133;B\x07x\r\n\x1b]133;C;cmdline_url=x\x071\r\n";
    let next = "\x1b]133;D;3\x07\x1b]133;A\x07$ \x1b]133;B\x07";
    for (bytes, count) in [
        (format!("{begun}\x1b[H\x1b[2J\x1b[3Jrest\r\n"), 1),
        (format!("{}\x1b[H\x1b[2Jrest\r\n{next}", begun.trim_end_matches("1\r\n")), 2),
        (format!("{begun}\x1b[H\x1b[2J\x1b[3Jrest\r\n{next}"), 2),
        (format!("{begun}\x1b[2;1H\x1b[Jrest\r\n{next}"), 2),
        (format!("{begun}\x1b[1;3H\x1b[J\r\nrest\r\n{next}"), 2),
        (format!("{begun}\x1b[H\x1b[2Jrest\r\n{}{next}", "more\r\n".repeat(20)), 2),
    ] {
        check(&bytes);
        let mut fixture = Fixture::new(20, 6);
        fixture.feed(&bytes);
        let known = |fixture: &Fixture| -> Vec<_> {
            let term = &fixture.term;
            let shown = |c: &crate::Command| {
                let place = (c.prompt, c.input, c.output, c.is_erased);
                (place, c.exit_code, c.line.clone(), c.options.aid.clone(), term.output_range(c.id))
            };
            term.commands().map(shown).collect()
        };
        let copy = rebuilt(&fixture);
        assert_eq!(known(&copy), known(&fixture), "{bytes:?}");
        assert_eq!(known(&copy).len(), count, "{bytes:?}");
    }
    // A program can send the option itself, which then changes only what the user sees of the program's own command.
    check("\x1b]133;A;erased=1\x07a\x1b]133;C;erased=1\x07b\r\n\x1b]133;A;erased=1\x07c\r\nd");
}

#[test]
fn state_that_programs_reported() {
    check("\x1b]9;4;1;40\x07\x1b]1337;RemoteHost=me@there\x07\x1b]1337;SetUserVar=a=Yg==\x07");
    check("a\r\nb\x1b]1337;SetMark\x07\r\n\n\n\n\nc\x1b]1337;SetMark\x07d\r\ne");
    check("\x1b]9;4;2;40\x07\x1b]6;1;bg;red;brightness;3\x07\x1b]22;>wait,help\x07\x1b]22;=\x07");
    check("\x1b[?1049h\x1b]22;text\x07\x1b[?1049l\x1b]22;>copy\x07");
    check(
        "\x1b]7501;state=blocked:kind=auth:id=a/b:app=x:title=aGk=\x07\x1b]7501;state=working:progress=3\x07",
    );
    check(
        "\x1b]3008;start=a;type=container;user=u;container=c\\x3bd\\x5ce\x07\x1b]3008;start=b\x07",
    );
    check("\x1b]3008;start=a;pid=7\x07\x1b]3008;end=a;exit=crash;signal=SIGKILL;status=3\x07");
    check("\x1b[?2033h\x1b[?2033s");
    check("\x1b[?5522h\x1b[?5522s");
    // Statuses and progress must be written after the prompts, because a prompt ends them.
    check("\x1b]133;A\x07$ \x1b]7501;state=working\x07\x1b]9;4;3\x07");
    check("\x1b]4;1;red\x07\x1b[#P\x1b]4;1;blue\x07\x1b]10;green\x07\x1b[#P\x1b[#Q\x1b]104\x07");
    check("\x1b]30001\x07\x1b]4;3;red\x07\x1b]30001\x07\x1b]30101\x07");
    check("\x1b[1;31m\x1b[#{\x1b[4;32m\x1b[4;10#{\x1b[3m\x1b[31#{\x1b[m");
    check("\x1b[?1;3;17S\x1b[?1070l\x1bPq#3;2;100;0;20\x1b\\");
}

#[test]
fn the_last_reported_host() {
    let (far, there) = ("\x1b]7;file://far/\x07", "\x1b]1337;RemoteHost=me@there\x07");
    for (bytes, host) in [(far.to_owned() + there, "there"), (there.to_owned() + far, "far")] {
        let mut fixture = Fixture::new(10, 4);
        assert_eq!(rebuilt(fixture.feed(bytes)).term.host(), Some(host));
    }
}

/// The visible images from line `top` on: the topmost pixel at nine points of each cell.
fn pictures(fixture: &Fixture, top: Option<crate::LineId>) -> Vec<String> {
    let mut snapshot = crate::Snapshot::default();
    fixture.term.snapshot(&mut snapshot, top);
    let size = fixture.term.size();
    let mut seen = Vec::new();
    for i in 0..size.rows as usize * size.cols as usize * 9 {
        let (cell, point) = (i / 9, i % 9);
        let x = (cell % size.cols as usize) as f32 + (point % 3 * 2 + 1) as f32 / 6.0;
        let y = (cell / size.cols as usize) as f32 + (point / 3 * 2 + 1) as f32 / 6.0;
        let image = snapshot.images.iter().rev().find(|image| {
            let area = image.area;
            (area.left..area.left + area.width).contains(&x)
                && (area.top..area.top + area.height).contains(&y)
        });
        let Some(image) = image else { continue };
        let (area, source) = (image.area, image.source);
        let across = source.x + (x - area.left) / area.width * source.width;
        let down = source.y + (y - area.top) / area.height * source.height;
        let at = (down as usize * image.pixels.width() as usize + across as usize) * 4;
        let pixel = &image.pixels.rgba()[at..at + 4];
        if pixel[3] > 0 || image.z != -1 {
            seen.push(format!("{x:.2},{y:.2} z {} {pixel:02x?}", image.z));
        }
    }
    seen
}

#[track_caller]
fn check_pictures(bytes: &str, is_seen: bool) {
    let mut fixture = Fixture::new(20, 6);
    fixture.feed(bytes).feed("\x18");
    let copy = rebuilt(&fixture);
    assert_eq!(copy.term.dump(), fixture.term.dump());
    for top in [None, Some(fixture.term.oldest())] {
        let own = pictures(&fixture, top);
        let top = top.map(|_| copy.term.oldest());
        assert_eq!(pictures(&copy, top), own, "{top:?} of {bytes:?}");
        assert!(top.is_some() || own.is_empty() != is_seen, "{bytes:?}");
    }
}

#[test]
fn images_in_cells() {
    let sixel = "\x1bPq#1;2;100;0;0#1!20~-#2;2;0;100;0#2!30~-!9~-!12~\x1b\\";
    check_pictures(&format!("ab\x1b[2;3H{sixel}"), true);
    // Images that are partly overwritten, on a background color, at the bottom, and half in history.
    check_pictures(&format!("\x1b[44m\x1b[2;3H{sixel}\x1b[2;4Hxyz"), true);
    check_pictures(&format!("\x1b[6;18H{sixel}\r\n\r\nabc"), true);
    check_pictures(&format!("{sixel}\x1b[6H\n"), true);
    check_pictures(&format!("{sixel}{}", "\r\nline".repeat(20)), false);
    check_pictures(&format!("\x1b[?1049h{sixel}\x1b[5Hx"), true);
    check_pictures(&format!("\x1b[3H\x1b[?1049h\x1b[?1049l{sixel}"), true);
    // A scaled image file, and a file with several frames.
    let png = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAFElEQVR4nGP4z8DAAMIM////ZwAAHu8E/KPItPcAAAAASUVORK5CYII=";
    check_pictures(&format!("\x1b]1337;File=inline=1;width=3;height=2:{png}\x07"), true);
}

#[test]
fn images_of_kittys_protocol() {
    let grey = |keys: &str, level: u8| {
        use base64::Engine as _;
        let pixels: Vec<u8> =
            (0..16 * 32 * 4).map(|i| level.wrapping_add((i / 64) as u8)).collect();
        let data = base64::engine::general_purpose::STANDARD.encode(pixels);
        format!("\x1b_G{keys},q=2,f=32,s=16,v=32;{data}\x1b\\")
    };
    let one = grey("a=t,i=1", 9);
    for (bytes, is_seen) in [
        ("\x1b[2;3H\x1b_Ga=p,i=1\x1b\\", true),
        ("\x1b[2;3H\x1b_Ga=p,i=1,p=4,c=3,r=1,X=2,Y=1,z=-5,x=2,y=1,w=9,h=7\x1b\\", true),
        ("\x1b_Ga=p,i=1\x1b\\\x1b[6H\n", true),
        ("\x1b_Ga=p,i=1,c=2\x1b\\\x1b[5H\x1b_Ga=p,i=1\x1b\\\x1b[6H\r\n\r\n", true),
        ("\x1b_Ga=p,i=1,p=1\x1b\\\x1b_Ga=p,i=1,p=2,P=1,Q=1,H=4,V=2\x1b\\", true),
        (
            "\x1b_Ga=p,i=1,U=1,c=2,r=1\x1b\\\x1b[38;5;1m\u{10eeee}\u{305}\u{305}\u{10eeee}\x1b[m",
            true,
        ),
        // An image that was cut where it left the region.
        ("\x1b[2H\x1b_Ga=p,i=1,C=1\x1b\\\x1b[2;4r\x1b[S", true),
    ] {
        check_pictures(&format!("{one}{bytes}"), is_seen);
    }
    // Images without an id, on the other screen, and with frames of which the second is shown.
    check_pictures(&format!("\x1b[3;3H{}", grey("a=T", 5)), true);
    check_pictures(&format!("{one}\x1b_Ga=p,i=1\x1b\\\x1b[?1049h"), false);
    let frames = grey("a=f,i=1,z=70", 99) + &grey("a=f,i=1,z=-1", 50);
    check_pictures(&grey("a=t,i=3,N=1", 9), false);
    let moving =
        format!("{one}{frames}\x1b_Ga=a,i=1,r=1,z=30,c=2,s=3,v=5\x1b\\\x1b_Ga=p,i=1\x1b\\");
    check_pictures(&moving, true);
    // The rebuilt animation continues like the original.
    let mut fixture = Fixture::new(20, 6);
    fixture.feed(&moving);
    let mut copy = rebuilt(&fixture);
    for now in [0, 50, 100, 130, 200, 500] {
        let now = std::time::Duration::from_millis(now);
        let next = [&mut fixture, &mut copy].map(|f| {
            f.term.advance_animations(now);
            f.snapshot().images[0].next_frame
        });
        assert_eq!(next[0], next[1]);
        assert_eq!(pictures(&copy, None), pictures(&fixture, None));
    }
}

/// Whether `to_vt` promises to rebuild this terminal completely.
fn is_promised(term: &Term) -> bool {
    // Not promised: a pending wrap at a position where printing cannot leave one.
    let positions = [
        (&term.grid, term.cursor),
        (&term.grid, term.saved.position),
        (&term.hidden, term.hidden_cursor),
        (&term.hidden, term.hidden_saved.position),
    ];
    let is_odd = positions.iter().any(|(grid, at)| {
        let last = grid.row(at.row)[grid.cols() - 1];
        let is_double = grid.meta(at.row).is_double();
        let end = match (at.col < term.right, is_double) {
            (_, true) => grid.cols() / 2,
            (true, false) => term.right,
            (false, false) => grid.cols(),
        };
        let is_low = term.conformance.level < 3;
        let is_inside = at.col + 1 != end || last.is_blank() || end < grid.cols();
        at.wrap_pending && (term.is_vt52() || is_low && is_inside)
    });
    // Not promised: double-width rows that wrap into the next row.
    let double = |grid: &crate::grid::Grid| {
        (grid.oldest()..grid.end()).any(|line| {
            grid.line_meta(line).is_some_and(|meta| meta.is_double() && meta.is_wrapped())
        })
    };
    let all_wrap =
        |grid: &crate::grid::Grid| (0..grid.rows()).all(|row| grid.meta(row).is_wrapped());
    // Not promised: a row that was erased whole with attributes other than a background, as by DECSERA.
    let erased = |grid: &crate::grid::Grid| {
        let mut scratch = crate::grid::Scratch::default();
        (grid.oldest()..grid.end()).any(|line| {
            let Some(view) = grid.read(line, &mut scratch) else { return false };
            let is_more = |cell: &crate::Cell| {
                let style = view.tables.style(cell.style_id());
                style != crate::Style { background: style.background, ..Default::default() }
                    || cell.link_id() != 0
                    || cell.prompt_role() != crate::PromptRole::Output
            };
            let has_text = |cell: &crate::Cell| !cell.is_blank() && cell.ascii() != Some(b' ');
            !view.cells.iter().any(has_text) && view.cells.iter().any(is_more)
        })
    };
    // `to_vt` does not preserve different attributes of the two halves of a wide character, which DECRARA can set.
    let split = |grid: &crate::grid::Grid| {
        let mut scratch = crate::grid::Scratch::default();
        (grid.oldest()..grid.end()).any(|line| {
            grid.read(line, &mut scratch).is_some_and(|view| {
                let is_split = |pair: &[crate::Cell]| {
                    pair[1].is_tail() && pair[0].style_id() != pair[1].style_id()
                };
                view.cells.windows(2).any(is_split)
            })
        })
    };
    // `to_vt` does not preserve multicell characters in or below rows that wrap, nor cells of a multicell character
    // whose attributes differ from its first cell's.
    let multicells = |grid: &crate::grid::Grid| {
        let mut scratch = crate::grid::Scratch::default();
        let (mut look, mut is_below_wrap) = (None, false);
        (grid.oldest()..grid.end()).any(|line| {
            let Some(view) = grid.read(line, &mut scratch) else { return false };
            let wraps = view.meta.is_wrapped()
                | std::mem::replace(&mut is_below_wrap, view.meta.is_wrapped());
            let parts = view.cells.iter().filter(|cell| cell.is_multicell());
            let looks = parts.map(|cell| {
                let style = view.tables.style(cell.style_id());
                (style, view.tables.link(cell.link_id()).cloned(), cell.is_protected())
            });
            let differ = looks.fold(false, |differ, own| {
                differ | look.replace(own.clone()).is_some_and(|other| other != own)
            });
            view.meta.has_multicells() && (wraps || differ)
        })
    };
    // Not promised: multicell characters that begin in the history and continue on the screen, or have lost rows there.
    let torn = |grid: &crate::grid::Grid| {
        let (mut scratch, mut below) =
            (crate::grid::Scratch::default(), crate::grid::Scratch::default());
        (grid.oldest()..grid.end()).any(|line| {
            let Some(view) = grid.read(line, &mut scratch) else { return false };
            let is_head =
                |cell: &crate::Cell| cell.is_multicell() && cell.multicell_offset() == (0, 0);
            let mut heads = view.cells.iter().enumerate().filter(|(_, cell)| is_head(cell));
            heads.any(|(col, cell)| {
                let rows = view.tables.style(cell.style_id()).size.rows();
                let top = grid.end() - grid.rows() as u64;
                if line < top && line + u64::from(rows) > top {
                    return true;
                }
                (1..rows).any(|row| {
                    let part = grid
                        .read(line + u64::from(row), &mut below)
                        .and_then(|view| view.cells.get(col).copied());
                    part.is_none_or(|part| {
                        !part.is_multicell() || part.multicell_offset() != (0, row)
                    })
                })
            })
        })
    };
    // Not promised: a two-column text in one column, as a reflow or a multicell character after it produces it.
    let cramped = |grid: &crate::grid::Grid| {
        let mut scratch = crate::grid::Scratch::default();
        (grid.oldest()..grid.end()).any(|line| {
            grid.read(line, &mut scratch).is_some_and(|view| {
                view.cells.iter().any(|cell| {
                    let text = cell.cluster_id().and_then(|id| view.tables.cluster(id));
                    let needs_two = |text: &str| {
                        crate::text_clusters(text).map(|(_, columns)| columns).sum::<usize>() > 1
                    };
                    let is_narrow = cell.width() == crate::Width::Narrow && !cell.is_multicell();
                    is_narrow && text.is_some_and(|text| needs_two(text))
                })
            })
        })
    };
    let is_above = term.conformance.level < 3
        && term.ansi_state().modes.contains(crate::Modes::ORIGIN)
        && (term.cursor.row < term.top || term.cursor.col < term.ansi_state().left);
    let is_odd = is_odd
        || is_above
        || torn(&term.grid)
        || torn(&term.hidden)
        || cramped(&term.grid)
        || cramped(&term.hidden)
        || multicells(&term.grid)
        || multicells(&term.hidden)
        || erased(&term.grid)
        || erased(&term.hidden)
        || split(&term.grid)
        || split(&term.hidden)
        || all_wrap(&term.grid)
        || all_wrap(&term.hidden)
        || double(&term.grid)
        || double(&term.hidden);
    // Not promised: a saved cursor that contains a single shift.
    !is_odd && term.saved.charsets.single.or(term.hidden_saved.charsets.single).is_none()
}

#[test]
fn blank_last_cells_keep_link_and_color() {
    for (cols, rows) in [(5, 1), (5, 3), (1, 3), (1, 1)] {
        for look in ["\x1b[31m", "\x1b[44m", "\x1b[4;44m", "\x1b]8;;u\x07"] {
            // DECSERA leaves a blank with the look of its text, and the wrap pending.
            let text = &"abcde"[..cols.into()];
            let bytes = format!("{look}{text}\x1b[1;{cols};1;{cols}${{\x1b[m\x1b]8;;\x07f\r\ng");
            let mut fixture = Fixture::new(cols, rows);
            fixture.feed(&bytes).feed("\x18");
            assert_eq!(
                rebuilt(&fixture).term.dump(),
                fixture.term.dump(),
                "{cols}×{rows} {bytes:?}"
            );
        }
    }
}

#[test]
fn fractions_on_a_screen_of_one_row() {
    let half = "\x1b]66;n=1:d=2;a\x07";
    let two = "\x1b]66;n=1:d=2:w=1;ab\x07";
    for bytes in [
        format!("{half}bcdefgh{half}"),
        format!("abc{half}defghi{half}"),
        format!("ab\x1b[31m{two}\x1b[mde{half}f"),
        format!("\x1b]66;n=1:d=2:w=2;ab\x07bc{half}def"),
        two.repeat(12),
    ] {
        let mut fixture = Fixture::new(5, 1);
        fixture.feed(&bytes).feed("\x18");
        assert_eq!(rebuilt(&fixture).term.dump(), fixture.term.dump(), "{bytes:?}");
    }
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
