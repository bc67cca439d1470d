//! Hostile output: work must stay linear, and memory bounded. The tests count steps instead of measuring time.

use super::Fixture;
use crate::{Event, Options, Parser, Size, Term, work};

const MIB: usize = 1 << 20;

/// Hostile streams of about `len` bytes each.
fn streams(len: usize) -> Vec<Vec<u8>> {
    let after = |start: &str, more: &str| {
        [start.as_bytes(), &more.as_bytes().repeat(len / more.len())].concat()
    };
    vec![
        vec![0xff; len],
        vec![0xe6; len],
        after("", "\x1b]"),
        after("", "\x1bP"),
        after("", "\x1bPq\x1bPq"),
        after("\x1b]", "x"),
        after("\x1b]0;", "x"),
        after("\x1b_G", "x"),
        after("\x1bPq", "?"),
        after("", &format!("\x1b[{}m", "1;".repeat(10_000))),
        after("", &format!("\x1b[{}m", "4:".repeat(10_000))),
        after("\x1b[", "9"),
        after("", "\x1b[2147483648b\x1b[2147483648I\x1b[2147483648@\x1b[2147483648L"),
        after("日", "\x1b[2147483648b\x1b[2147483648Z"),
        after("e\u{301}", "\x1b[2147483648b"),
        after("a", "\u{200d}"),
        after("a", "\u{301}"),
        after("", "\u{200d}👩"),
        after("👩", "\u{200d}👩"),
        after("", "🇩"),
        after("क", "\u{94d}क"),
        after("", "\u{600}"),
        after("", "\u{1100}"),
        after("", "❤\u{fe0f}\u{fe0e}"),
        after("", "\x1b7\x1b[22t\x1b[?1049h\x1b[?1s"),
        after("", "\x1b[?1049h\x1b[?1049l"),
        after("\x1b 7", "\u{9b}m"),
        after("\x1b 7", "\u{9d}\u{9c}"),
        after("\x1b 7", "\u{9d}é"),
        after("\x1b 7", "\u{85}"),
        after("\x1b.A", "é"),
        after("\x1b[?2l", "\x1bY  "),
        after("", "\x1b[2;2$u\x1b[1$w\x1b[2$w\x1b[&u"),
        after("", "\x1b]66;s=7:w=7;x\x07"),
        after("", &format!("\x1b]66;s=7;{}\x07", "x".repeat(4096))),
        after("\x1b]66;s=5;xxxxxxxxxxxxxxxx\x07", "\x1b[2Hx"),
        after("\x1b]66;s=5;xxxxxxxxxxxxxxxx\x07\x1b[2H", "x"),
        after("", "\x1b]66;s=7;x\x07\x1b[2D\x1b[P\x1b[2@"),
    ]
}

/// The number of steps for a stream that is fed in pieces of `size` bytes, and the terminal after it.
fn work_of(bytes: &[u8], size: usize) -> (u64, Fixture) {
    let mut fixture = Fixture::new(80, 24);
    work::take();
    for piece in bytes.chunks(size) {
        fixture.parser.advance(&mut fixture.term, piece);
    }
    (work::take(), fixture)
}

#[test]
fn four_times_the_bytes_are_four_times_the_work() {
    for (small, large) in streams(MIB / 16).iter().zip(streams(MIB / 4)) {
        for size in [usize::MAX, 4096] {
            let (some, _) = work_of(small, size);
            let (all, _) = work_of(&large, size);
            assert!(all <= 5 * some + 10_000, "{some} then {all}: {:?} by {size}", &large[..8]);
        }
    }
}

#[test]
fn a_mebibyte_of_anything_ends() {
    for bytes in streams(MIB) {
        // Each stream is fed whole, in pages as from a pty, and in small pieces, and no byte may be examined again and
        // again. A sequence may process the whole screen once (REP, IL, ED). A character may process a whole cluster or
        // a block of 7 by 7 cells, but never more.
        let cells = 80 * 24;
        let sequences = bytes.iter().filter(|b| **b == 0x1b).count();
        let bound = (bytes.len() * 160 + sequences * 2 * cells + 100 * cells) as u64;
        let mut fixture = Fixture::new(80, 24);
        for size in [bytes.len(), 4096, 61] {
            let work;
            (work, fixture) = work_of(&bytes, size);
            assert!(work <= bound, "{work} > {bound}: {:?} by {size}", &bytes[..8]);
            fixture.term.debug_check();
        }
        fixture.feed("\x1b\\\x18\r\nok");
        let text = fixture.everything();
        assert!(text.ends_with("/ok"), "{:?}", &bytes[..8]);
    }
}

#[test]
fn a_cluster_is_capped() {
    let mut fixture = Fixture::new(10, 4);
    fixture.feed("a".to_owned() + &"\u{301}".repeat(10_000));
    assert!(fixture.screen().len() <= 128);
    // Prepended marks join the following text. Too many of them must not swallow that text.
    let marks = "\u{600}".repeat(64);
    let mut fixture = Fixture::new(10, 4);
    fixture.feed(&marks).feed("xy");
    assert_eq!(fixture.screen(), marks + "xy");
}

#[test]
fn strings_beyond_the_cap_are_dropped_whole() {
    let mut fixture = Fixture::new(10, 4);
    fixture.feed("\x1b]2;before\x07");
    fixture.feed("\x1b]2;".to_owned() + &"x".repeat(2 * MIB) + "\x07");
    assert_eq!(fixture.term.title(), "before");
    // A text that fits into a string but exceeds its own limit is dropped too.
    let long = "é".repeat(2049);
    fixture.feed(format!("\x1b]2;{long}\x07\x1b]2;{}\x07", "x".repeat(4097)));
    assert_eq!(fixture.term.title(), "before");
    fixture.feed(format!("\x1b]2;{}\x07", &long[..4096]));
    assert_eq!(fixture.term.title().len(), 4096);
    let encoded = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, &long);
    fixture.feed("\x1b]1337;RemoteHost=me@there\x07").term.take_events();
    for dropped in [
        format!("]1337;RemoteHost={long}"),
        format!("]1337;SetUserVar=a={encoded}"),
        format!("]1337;SetUserVar={long}=eA=="),
        format!("]9;{long}"),
        format!("]777;notify;title;{long}"),
        format!("]777;notify;{long};body"),
        format!("]99;;{long}"),
        format!("]99;e=1;{encoded}"),
    ] {
        fixture.feed(format!("\x1b{dropped}\x07"));
    }
    assert_eq!(fixture.term.take_events(), []);
    assert_eq!(fixture.term.remote_host(), Some("me@there"));
    assert_eq!(fixture.term.user_vars().count(), 0);
    fixture.feed(format!("\x1b]133;A\x07\x1b]133;B\x07\x1b]633;E;{long}\x07\x1b]133;C\x07"));
    assert_eq!(fixture.term.commands().next_back().and_then(|command| command.line.clone()), None);
}

#[test]
fn lists_and_stacks_beyond_the_cap_are_dropped_whole() {
    // A list that is too long has no effect and no reply.
    let before = Fixture::new(10, 4).term.palette().clone();
    let mut fixture = Fixture::new(10, 4);
    fixture.feed("\x1b]21;1=red".to_owned() + &";2=?".repeat(600) + "\x07");
    fixture.feed("\x1bP+q544e".to_owned() + &";544e".repeat(600) + "\x1b\\");
    fixture.feed("\x1b]22;?text".to_owned() + &",text".repeat(600) + "\x07");
    assert_eq!(fixture.replies(), "");
    assert_eq!(*fixture.term.palette(), before);
    // A shorter list takes effect completely.
    fixture.feed("\x1bP+q544e".to_owned() + &";544e".repeat(39) + "\x1b\\");
    assert_eq!(fixture.replies().matches("\x1bP1+r").count(), 40);
    // If the protocol requires it, the oldest entry is dropped to make room. Other saved entries stay.
    fixture.feed("\x1b[>1u".to_owned() + &"\x1b[>3u".repeat(100) + "\x1b[<31u\x1b[?u");
    assert_eq!(fixture.replies(), "\x1b[?3u");
    fixture.feed("\x1b[1m\x1b[#{\x1b[m".to_owned() + &"\x1b[#{".repeat(50) + &"\x1b[#}".repeat(51));
    fixture.feed("\x1bP$qm\x1b\\");
    assert_eq!(fixture.replies(), "\x1bP1$r0;1m\x1b\\");
}

#[test]
fn replies_and_events_are_bounded() {
    let mut fixture = Fixture::new(10, 4);
    fixture.feed("\x1b[c\x1b[6n".repeat(100_000));
    assert!(fixture.term.take_replies().len() <= 64 << 10);
    for i in 0..10_000 {
        fixture.feed(format!("\x1b]133;D;{i}\x07"));
    }
    let events = fixture.term.take_events();
    assert_eq!(events.len(), 4096);
    let first = Event::CommandEnd { command: 0, exit_code: Some(0), is_authentic: false };
    assert_eq!(events[0], first);
}

#[test]
fn nothing_of_the_programs_comes_back() {
    // Send every kind of query, with a marker wherever a program can put text.
    let mut fixture = Fixture::new(10, 4);
    fixture.feed("MARK\x1b]2;MARK\x07\x1b]7;file:///MARK\x07\x1b]8;id=MARK;MARK\x07");
    fixture.feed("\x1b[21t\x1b[20t\x1bP$qMARK\x1b\\\x1bP+qMARK;4d41524b\x1b\\\x1b]52;c;?\x07");
    fixture.feed("\x1b]4;MARK;?\x07\x1b]10;?\x07\x1b[5n\x1b[c\x1b[>c\x1b[=c\x1b[>q\x05");
    fixture.feed("\x1b]52;c;TUFSSw==\x07\x1b]52;c;?\x07");
    let replies = fixture.replies();
    assert!(!replies.contains("MARK") && !replies.to_lowercase().contains("4d41524b"), "{replies}");
}

#[test]
fn names_come_back_from_their_alphabets_only() {
    let long = "x".repeat(1000);
    let hostile: [&[u8]; 18] = [
        b"",
        b" ",
        b"a b",
        b"a\nb",
        b"a\r\nrm -rf\r",
        b"a\x1bb",
        b"a\x00b\x08\x7f",
        b"a\x9bb\xff",
        b"\xc2\x9b31m",
        "é日\u{202e}\u{200b}".as_bytes(),
        b"$(reboot)",
        b"`reboot`|&<>!#*?~\\",
        b"'\"/",
        b"UPPER",
        b"a-b+c.d",
        b"=a",
        b"a:p=b",
        long.as_bytes(),
    ];
    let mut fixture = Fixture::new(10, 4);
    let mut ask = |before: &str, name: &[u8], after: &str| {
        fixture.feed([&b"\x1b]"[..], before.as_bytes(), name, after.as_bytes(), b"\x07"].concat());
        for event in fixture.term.take_events() {
            let Event::Notification(notification) = event else { continue };
            let handle = notification.handle;
            fixture.term.activate_notification(handle, Some(1));
            fixture.feed("\x1b]99;i=q:p=alive;\x07");
            fixture.term.close_notification(handle);
        }
        fixture.replies()
    };
    // The query before and after a name, and the characters that a reply may contain besides letters, digits and `_`.
    let questions = [
        ("21;", "=?", "=?;"),
        ("21;foreground=?;", "=?;cursor=?", "=?;:/"),
        ("99;i=", ":p=?;", "-+.=?;:,"),
        ("99;i=", ":p=alive;", "-+.=;:,"),
        ("99;i=", ":a=report:c=1;title", "-+.=;:,"),
        ("99;i=", ":p=close;", "-+.=;:,"),
    ];
    for (before, after, others) in questions {
        // A valid name is echoed, except when closing a notification that is not shown.
        let comes_back = ask(before, b"mark_1", after).contains("mark_1");
        assert_eq!(comes_back, !after.contains("close"), "{before}{after}");
        for name in hostile {
            let replies = ask(before, name, after).replace("\x1b\\", "\x07");
            for reply in replies.split_terminator('\x07') {
                let text = reply.strip_prefix("\x1b]").expect("an OSC");
                let is_fit = |c: char| match c {
                    'a'..='z' | '0'..='9' | '_' => true,
                    'A'..='Z' => before.starts_with("99"),
                    c => others.contains(c),
                };
                assert!(text.chars().all(is_fit), "{before}{after}: {reply:?}");
                assert!(text.len() < 256, "{before}{after}: {reply:?}");
            }
        }
    }
}

#[test]
fn tables_do_not_grow_with_the_stream() {
    let options = Options { scrollback: 200, ..Options::default() };
    let mut term = Term::new(Size::cells(80, 24), options);
    let mut parser = Parser::new();
    for i in 0..200_000u32 {
        let [_, r, g, b] = i.to_be_bytes();
        parser.advance(
            &mut term,
            format!(
                "\x1b[38;2;{r};{g};{b}m\x1b]8;;http://{i}\x07x{}\u{301}",
                char::from_u32(0x4e00 + i % 20_000).unwrap_or('x')
            )
            .as_bytes(),
        );
    }
    term.debug_check();
    let entries = term.grid.table_entries();
    assert!(entries < 40_000, "{entries}");
}

#[test]
fn a_screen_of_nothing_but_colours_keeps_them_all() {
    // Use more styles than one table has ids.
    let mut fixture = Fixture::new(400, 200);
    let mut bytes = String::new();
    for row in 0..200u32 {
        bytes.push_str(&format!("\x1b[{};1H", row + 1));
        for col in 0..400u32 {
            bytes.push_str(&format!("\x1b[38;2;{};{};{}mx", row, col >> 8, col & 255));
        }
    }
    fixture.feed(bytes);
    let snapshot = fixture.snapshot();
    for (row, shown) in snapshot.rows.iter().enumerate() {
        assert_eq!(shown.styles.len(), 400, "row {row}");
        let color = crate::Color::Rgb(crate::Rgb { r: row as u8, g: 1, b: 255 - 112 });
        assert_eq!(shown.styles[399].style.foreground, color);
    }
}

/// Links of `len` bytes. Each link is on a character of its own.
fn linked(numbers: std::ops::Range<usize>, len: usize) -> String {
    let rest = "x".repeat(len);
    numbers.map(|i| format!("\x1b]8;;http://{i}/{rest}\x1b\\{}", i % 10)).collect()
}

#[test]
fn links_of_a_screen_are_bounded() {
    const CAP: usize = 32 * MIB;
    for (screen, frozen) in [("", false), ("", true), ("\x1b[?1049h", false)] {
        let mut fixture = Fixture::new(80, 24);
        fixture.feed(screen);
        for i in 0..36 {
            fixture
                .parser
                .advance(&mut fixture.term, linked(i * 500..(i + 1) * 500, 2000).as_bytes());
            // For a while, links of rows that just left the screen count twice.
            assert!(fixture.term.grid.link_bytes() <= 2 * CAP);
            if frozen {
                fixture.freeze();
            }
        }
        fixture.term.debug_check();
        // Text beyond the limit has no link, but is not lost.
        let text = fixture.everything().replace('/', "");
        assert!(text.ends_with("0123456789") && text.len() >= 24 * 80 - 80);
        if screen.is_empty() {
            assert!(fixture.term.grid.link_bytes() > CAP - 3000, "as many as fit");
            let (row, snapshot) = (fixture.cursor().0 as usize, fixture.snapshot());
            assert!(snapshot.rows[row].styles.iter().all(|run| run.link.is_none()));
        }
        // When the text with the links is gone, links work again.
        fixture.feed("\x1b]8;;\x07\x1b[m\x1b[H\x1b[2J\x1b[3J");
        for i in 0..3000 {
            fixture.parser.advance(&mut fixture.term, linked(i..i + 1, 10).as_bytes());
        }
        let snapshot = fixture.snapshot();
        assert!(snapshot.rows.iter().any(|row| row.styles.iter().any(|run| run.link.is_some())));
    }
}

/// A program that draws the same rows again and again with different links never loses its links.
#[test]
fn links_of_replaced_text_do_not_count() {
    let mut fixture = Fixture::new(80, 24);
    for i in 0..30 {
        fixture.feed("\x1b[H");
        fixture.parser.advance(&mut fixture.term, linked(i * 900..(i + 1) * 900, 2000).as_bytes());
        let rows = fixture.snapshot().rows;
        let links: usize =
            rows.iter().map(|r| r.styles.iter().filter(|run| run.link.is_some()).count()).sum();
        assert_eq!(links, 900, "round {i}");
    }
}
