//! The effects of sequences on the screen, and their replies.

use super::{Fixture, check, check_cursor, check_reply};
use crate::{ClipboardTarget, Color, Event, LineId, Modes, Rgb, Snapshot, TitleSet, Underline};

#[test]
fn motions() {
    check_cursor("\x1b[2;3Hx", "/  x", (1, 3));
    check_cursor("\x1b[99;99Hx", "///         x", (3, 9));
    check_cursor("\x1b[3;3H\x1b[A\x1b[2D\x1b[BX\x1b[CY", "//X Y", (2, 3));
    check_cursor("abc\x1b[5GX\x1b[2dY", "abc X/     Y", (1, 6));
    check_cursor("a\tb", "a       b", (0, 9));
    check_cursor("abc\x08\x08X", "aXc", (0, 2));
    check_cursor("0123456789\x08X", "01234567X9", (0, 9));
    // HPR, VPR, HPA, VPA.
    check_cursor("\x1b[3aX\x1b[1eY\x1b[2`Z\x1b[4dW", "   X/ Z  Y//  W", (3, 3));
}

#[test]
fn a_character_beyond_ascii_ends_a_sequence_that_was_cut_short() {
    for cut in ["\x1b[3", "\x1b[?1;", "\x1b[1 ", "\x1b", "\x1b#", "\x1b("] {
        for character in ["é", "日", "👩"] {
            let text = format!("{cut}{character}本C");
            check(&text, "本C");
            let mut fixture = Fixture::new(10, 4);
            for byte in text.bytes() {
                fixture.feed([byte]);
            }
            assert_eq!(fixture.screen(), "本C", "{cut:?}");
        }
    }
    check(b"\x1b[3\xffC", "C");
    check(b"\x1b[3\xe6\x97C", "C");
    // Characters up to U+00BF are skipped inside a sequence: as 8-bit codes they would not be final bytes.
    check("\x1b[3¿Cx", "   x");
}

#[test]
fn erasing() {
    check("abcdef\x1b[1;3H\x1b[K", "ab");
    check("abcdef\x1b[1;3H\x1b[1K", "   def");
    check("abcdef\x1b[2K", "");
    check("a\r\nb\r\nc\x1b[2;1H\x1b[J", "a");
    check("a\r\nb\r\nc\x1b[2;1H\x1b[1J", "//c");
    check("abcdef\x1b[1;2H\x1b[2X", "a  def");
    check("日本語\x1b[1;2H\x1b[K", "");
}

#[test]
fn selective_erase_keeps_what_is_protected() {
    check("ab\x1b[1\"qcd\x1b[0\"qef\x1b[?2K", "  cd");
    check("ab\x1b[1\"qcd\x1b[0\"qef\r\nx\x1b[?2J", "  cd");
    check("ab\x1b[1\"qcd\x1b[0\"qef\x1b[2K", "");
}

#[test]
fn inserting_and_deleting() {
    check("abcdef\x1b[1;2H\x1b[2@", "a  bcdef");
    check("abcdef\x1b[1;2H\x1b[2P", "adef");
    check("日本語x\x1b[1;2H\x1b[P", " 本語x");
    check("a\r\nb\r\nc\x1b[2;1H\x1b[L", "a//b/c");
    check("a\r\nb\r\nc\r\nd\x1b[2;1H\x1b[2M", "a/d");
    check("a\r\nb\r\nc\r\nd\x1b[2;3r\x1b[2;1H\x1b[9L", "a///d");
}

#[test]
fn scrolling_and_regions() {
    check("a\r\nb\r\nc\r\nd\r\ne", "b/c/d/e");
    check("a\r\nb\r\nc\r\nd\x1b[2;3r\x1b[3;1H\nX", "a/c/X/d");
    check("a\r\nb\r\nc\r\nd\x1b[2;3r\x1b[2;1H\x1bMX", "a/X/b/d");
    check("a\r\nb\r\nc\r\nd\x1b[2S", "c/d");
    check("a\r\nb\r\nc\r\nd\x1b[T", "/a/b/c");
    // A region at the top of the screen: rows that leave it are added to history, and rows below it do not move.
    let mut fixture = Fixture::new(10, 4);
    fixture.feed("a\r\nb\r\nc\r\nd\x1b[1;3r\x1b[3;1H\nX");
    assert_eq!(fixture.screen(), "b/c/X/d");
    assert_eq!(fixture.everything(), "a/b/c/X/d");
}

#[test]
fn origin_mode_counts_from_the_region() {
    check_cursor("\x1b[2;3r\x1b[?6hx\x1b[9;1Hy", "/x/y", (2, 1));
    check_reply("\x1b[2;3r\x1b[?6h\x1b[2;2H\x1b[6n", "\x1b[2;2R");
}

#[test]
fn tabs() {
    check_cursor("\x1b[3g\x1b[1;4H\x1bH\r\tx", "   x", (0, 4));
    check_cursor("\x1b[1;10H\x1b[Zx", "        x", (0, 9));
    check_cursor("\x1b[2Ix", "         x", (0, 9));
}

#[test]
fn tab_stops_are_put_back_to_every_eighth_column() {
    let stops = |bytes: &str| {
        let mut fixture = Fixture::new(40, 2);
        fixture.feed(bytes).feed("\x1b[2$w");
        fixture.replies()
    };
    let first = stops("");
    assert_eq!(first, "\x1bP2$u9/17/25/33\x1b\\");
    // Clear all tab stops (TBC 3), set one (HTS), then restore the default stops (DECST8C). The cursor does not move.
    for reset in ["\x1b[?5W", "\x1b[?W", "\x1b[?0W"] {
        assert_eq!(stops(&format!("\x1b[3g\x1b[4G\x1bH{reset}")), first, "{reset:?}");
        check_cursor(format!("\x1b[3g\x1b[2;4H{reset}\tx"), "/        x", (1, 9));
    }
    // Other numbers have no effect, and at level 4 the sequence does not exist.
    for other in ["\x1b[?1W", "\x1b[5W", "\x1b[64;1\"p\x1b[?5W"] {
        assert_eq!(stops(&format!("\x1b[3g{other}")), "\x1bP2$u\x1b\\", "{other:?}");
    }
}

#[test]
fn alternate_screen() {
    check_cursor("main\x1b[?1049hother\x1b[?1049l!", "main!", (0, 5));
    check("main\x1b[?1049h\x1b[Hother", "other");
    check("\x1b[?47hother\x1b[?47l\x1b[?47h", "other");
    check("\x1b[?1047hother\x1b[?1047l\x1b[?1047h", "");
    check("a\x1b[?1046l\x1b[?1049hb\x1b[?1046h\x1b[?1049hc\x1b[?1046ld", "ab d");
}

#[test]
fn alignment_and_reset() {
    check_cursor("\x1b#8", "EEEEEEEEEE/EEEEEEEEEE/EEEEEEEEEE/EEEEEEEEEE", (0, 0));
    check_cursor("a\x1b[2;3r\x1b[?1049hx\x1bcb", "b", (0, 1));
    let mut fixture = Fixture::new(10, 4);
    fixture.feed("\x1b[31m\x1b[?2004h\x1b]2;t\x07a\r\n\n\n\n\n\x1bc");
    let fresh = Fixture::new(10, 4);
    assert_eq!(fixture.term.dump(), fresh.term.dump());
}

#[test]
fn saving_the_cursor() {
    check_cursor("ab\x1b7\x1b[3;3H\x1b8c", "abc", (0, 3));
    check_cursor("ab\x1b[s\x1b[3;3H\x1b[uc", "abc", (0, 3));
    // DECRC restores a pending wrap (DEC STD 070; xterm since patch 328).
    check_cursor("0123456789\x1b7\x1b[3;3H\x1b8c", "0123456789/c", (1, 1));
    check_cursor("0123456789\x1b[s\x1b[3;3H\x1b[uc", "0123456789/c", (1, 1));
    check_cursor("\x1b[?1049sabc\x1b[?1049rd", "abcd", (0, 4));
    // Each screen has its own saved cursor. ?1049 saves it even on the alternate screen.
    check_cursor("\x1b[?1047h\x1b[2;3H\x1b[?1049h\x1b[4;4H\x1b[?1048lx", "/  x", (1, 3));
    check_cursor("0123456789\x1b[?1048h\x1b[3;3H\x1b[?1048lc", "0123456789/c", (1, 1));
    // DECRC clears a pending wrap if none was pending when the cursor was saved.
    check_cursor("\x1b[1;10H\x1b7\r0123456789\x1b8c", "012345678c", (0, 9));
}

#[test]
fn styles() {
    let style = |sgr: &str| {
        let mut fixture = Fixture::new(10, 4);
        fixture.feed(format!("{sgr}x"));
        fixture.snapshot().rows[0].styles[0].style
    };
    assert_eq!(style("\x1b[31m").foreground, Color::Indexed(1));
    assert_eq!(style("\x1b[97;102m").foreground, Color::Indexed(15));
    assert_eq!(style("\x1b[97;102m").background, Color::Indexed(10));
    let red = Color::Rgb(Rgb { r: 1, g: 2, b: 3 });
    assert_eq!(style("\x1b[38;2;1;2;3m").foreground, red);
    assert_eq!(style("\x1b[38:2::1:2:3m").foreground, red);
    assert_eq!(style("\x1b[38:2:1:2:3m").foreground, red);
    assert_eq!(style("\x1b[58:2::1:2:3m").underline_color, red);
    assert_eq!(style("\x1b[48;5;200;1m").background, Color::Indexed(200));
    assert_eq!(style("\x1b[4:3m").underline, Underline::Curly);
    assert_eq!(style("\x1b[4m\x1b[4:0m").underline, Underline::None);
    assert_eq!(style("\x1b[21m").underline, Underline::Double);
    assert_eq!(style("\x1b[1;31m\x1b[m"), Default::default());
}

#[test]
fn erased_cells_have_the_pens_background() {
    let mut fixture = Fixture::new(10, 4);
    fixture.feed("\x1b[41m\x1b[2J\x1b[m");
    let snapshot = fixture.snapshot();
    assert_eq!(snapshot.rows[3].styles.len(), 1);
    assert_eq!(snapshot.rows[3].styles[0].style.background, Color::Indexed(1));
    assert_eq!(fixture.screen(), "");
}

#[test]
fn replies() {
    check_reply("\x1b[c", "\x1b[?65;1;2;4;6;9;15;16;17;18;21;22;28;29;52c");
    check_reply("\x1b[5n\x1b[2;3H\x1b[6n", "\x1b[0n\x1b[2;3R");
    check_reply(
        "\x1b[?2026$p\x1b[?25$p\x1b[?9999$p\x1b[4$p",
        "\x1b[?2026;2$y\x1b[?25;1$y\x1b[?9999;0$y\x1b[4;2$y",
    );
    check_reply("\x1b[1;31;4:3m\x1bP$qm\x1b\\", "\x1bP1$r0;1;4:3;31m\x1b\\");
    check_reply("\x1b[2;3r\x1bP$qr\x1b\\", "\x1bP1$r2;3r\x1b\\");
    check_reply("\x1b[3 q\x1bP$q q\x1b\\", "\x1bP1$r3 q\x1b\\");
    // XTQMODKEYS and XTQFMTKEYS as settings.
    check_reply("\x1bP$q>4m\x1b\\", "\x1bP1$r>4;0m\x1b\\");
    check_reply("\x1b[>4;2m\x1bP$q>4m\x1b\\", "\x1bP1$r>4;2m\x1b\\");
    check_reply("\x1b[>2n\x1bP$q>2m\x1b\\", "\x1bP1$r>2m\x1b\\");
    check_reply("\x1b[>4;1f\x1bP$q>4f\x1b\\", "\x1bP1$r>4;1f\x1b\\");
    for unknown in [">5m", ">m", ">4;4m", ">99999m", ">+4m", ">4u"] {
        check_reply(format!("\x1bP$q{unknown}\x1b\\"), "\x1bP0$r\x1b\\");
    }
    check_reply("\x1bP$qz\x1b\\", "\x1bP0$r\x1b\\");
    check_reply("\x1bP+q544e\x1b\\", "\x1bP1+r544e=787465726d2d323536636f6c6f72\x1b\\");
    check_reply("\x1bP+q6576696C\x1b\\", "\x1bP0+r\x1b\\");
    check_reply("\x1b[18t\x1b[14t\x1b[16t", "\x1b[8;4;10t\x1b[4;64;80t\x1b[6;16;8t");
    check_reply("\x1b[>q", concat!("\x1bP>|Unterm ", env!("CARGO_PKG_VERSION"), "\x1b\\"));
    // A report of the title would be typed into a shell, so it is disabled by default.
    check_reply("\x1b]2;rm -rf\x07\x1b[21t", "");
    check_reply("\x1b]4;1;#ff8000\x07\x1b]4;1;?\x07", "\x1b]4;1;rgb:ffff/8080/0000\x07");
    check_reply("\x1b]11;rgb:1/2/3\x1b\\\x1b]11;?\x1b\\", "\x1b]11;rgb:1111/2222/3333\x1b\\");
}

#[test]
fn modes_and_events() {
    let mut fixture = Fixture::new(10, 4);
    fixture.feed("\x1b[?1;2004;1004h\x1b=\x07\x07\x1b]2;ti\x1btle\x07");
    assert!(fixture.term.modes().contains(
        Modes::APP_CURSOR | Modes::BRACKETED_PASTE | Modes::FOCUS_EVENTS | Modes::APP_KEYPAD
    ));
    fixture.feed("\x1b]0;a\tb\x07\x1b]7;file:///tmp\x07\x1b]52;c;aGk=\x07\x1b]133;D;3\x07");
    assert_eq!(
        fixture.term.take_events(),
        [
            Event::Bell,
            Event::Title,
            Event::Bell,
            Event::Title,
            Event::Cwd,
            Event::Clipboard { target: ClipboardTarget::Clipboard, text: "hi".into() },
            Event::CommandEnd { command: 0, exit_code: Some(3), is_authentic: false },
        ]
    );
    assert_eq!(fixture.term.title(), "ab");
    assert_eq!(fixture.term.cwd(), Some("file:///tmp"));
}

#[test]
fn titles_are_reported_with_whether_a_command_ran() {
    let mut fixture = Fixture::new(20, 4);
    let set = |title: &str, at_prompt| TitleSet { title: title.to_owned(), at_prompt };
    fixture.feed("\x1b]2;a\x07\x1b]2;a\x07");
    assert_eq!(fixture.term.titles_set(), 2, "also what says the same");
    assert_eq!(fixture.term.take_titles_set(), [set("a", false)], "there are no marks");
    fixture.feed(
        "\x1b]133;A\x07\x1b]2;b\x07$ \x1b]133;B\x07ls\r\n\x1b]133;C\x07\x1b]2;c\x07\x1b]2;d\x07",
    );
    assert_eq!(fixture.term.take_titles_set(), [set("b", true), set("d", false)]);
    fixture.feed("\x1b]133;D\x07\x1b]2;e\x07\x1bc");
    assert_eq!(fixture.term.titles_set(), 7);
    assert_eq!(fixture.term.take_titles_set().last().map(|set| &*set.title), Some(""));
    assert!(fixture.term.take_titles_set().is_empty());
}

#[test]
fn the_title_stack() {
    let mut fixture = Fixture::new(10, 4);
    fixture.feed("\x1b]2;a\x07\x1b[22;0t\x1b]2;b\x07\x1b[23;0t");
    assert_eq!(fixture.term.title(), "a");
    // Set the title in the form of shelltool and dtterm.
    fixture.feed("\x1b]lc\x1b\\");
    assert_eq!(fixture.term.title(), "c");
}

#[test]
fn the_title_stack_reports_its_depth() {
    check_reply(
        "\x1b[#S\x1b[22t\x1b[22;1t\x1b[#S\x1b[23t\x1b[#S",
        "\x1b[0;10#S\x1b[2;10#S\x1b[1;10#S",
    );
    check_reply("\x1b[22t".repeat(99) + "\x1b[#S", "\x1b[10;10#S");
    check_reply("\x1b[23t".repeat(99) + "\x1b[#S\x1b[22t\x1bc\x1b[#S", "\x1b[0;10#S\x1b[0;10#S");
}

#[test]
fn modes_are_put_aside_and_taken_back() {
    check_reply("\x1b[?7;25s\x1b[?7;25l\x1b[?7;25r\x1b[?7$p\x1b[?25$p", "\x1b[?7;1$y\x1b[?25;1$y");
    check_reply(
        "\x1b[?1000;1006h\x1b[?1000;1006s\x1b[?1000;1006l\x1b[?1000;1006r\x1b[?1000$p\x1b[?1006$p",
        "\x1b[?1000;1$y\x1b[?1006;1$y",
    );
    // Restoring a mode that was never saved does not change it.
    check_reply("\x1b[?7l\x1b[?7r\x1b[?7$p", "\x1b[?7;2$y");
    check_cursor("a\x1b[?47s\x1b[?47hb\x1b[?47rc", "a c", (0, 3));
}

#[test]
fn a_soft_reset_takes_back_what_decstr_names() {
    let changed = concat!(
        "\x1b[4h\x1b[2;3r\x1b[?6h\x1b[?7l\x1b[?25l\x1b[?1h\x1b[1;31m\x1b[1\"q\x1b)0\x0e",
        "\x1b[!p"
    );
    check_reply(
        format!("{changed}\x1b[4$p\x1b[?6$p\x1b[?7$p\x1b[?25$p\x1b[?1$p"),
        "\x1b[4;2$y\x1b[?6;2$y\x1b[?7;1$y\x1b[?25;1$y\x1b[?1;2$y",
    );
    check_reply(
        format!("{changed}\x1bP$qr\x1b\\\x1bP$qm\x1b\\\x1bP$q\"q\x1b\\"),
        "\x1bP1$r1;4r\x1b\\\x1bP1$r0m\x1b\\\x1bP1$r0\"q\x1b\\",
    );
    // The cursor does not move, and characters are ASCII again.
    check_cursor(format!("{changed}q"), "/q", (1, 1));
    // The screen, its contents and xterm's own modes stay. Margins are reset.
    let xterms = "\x1b[?1049;2004h\x1b[?69h\x1b[2;5sabc\x1b[!p";
    check_cursor(xterms, "abc", (0, 3));
    check_reply(
        format!("{xterms}\x1b[?2004$p\x1b[?1049$p\x1b[?69$p\x1bP$qs\x1b\\"),
        "\x1b[?2004;1$y\x1b[?1049;1$y\x1b[?69;2$y\x1bP1$r1;10s\x1b\\",
    );
}

#[test]
fn reports_of_a_vt500() {
    check_reply("\x1b[>c\x1b[=c\x1b[1c\x1b[>1c", "\x1b[>64;383;0c\x1bP!|00000000\x1b\\");
    // DECXCPR; printer, user-defined keys, keyboard, locator, macros, memory, data, sessions.
    check_reply(
        concat!(
            "\x1b[2;3H\x1b[?6n\x1b[?15n\x1b[?25n\x1b[?26n\x1b[?53n\x1b[?55n\x1b[?56n",
            "\x1b[?62n\x1b[?63;7n\x1b[?75n\x1b[?85n\x1b[?99n"
        ),
        concat!(
            "\x1b[?2;3;1R\x1b[?13n\x1b[?20n\x1b[?27;1;0;0n\x1b[?53n\x1b[?53n\x1b[?57;0n",
            "\x1b[0000*{\x1bP7!~0000\x1b\\\x1b[?70n\x1b[?83n"
        ),
    );
    for (setting, reply) in [
        ("s", "1;10s"),
        ("t", "24t"),
        ("$|", "10$|"),
        ("*|", "4*|"),
        ("\"q", "0\"q"),
        ("*x", "0*x"),
        ("\"p", "65;1\"p"),
        (">t", ">0;0;0;0t"),
    ] {
        check_reply(format!("\x1bP$q{setting}\x1b\\"), &format!("\x1bP1$r{reply}\x1b\\"));
    }
}

#[test]
fn replies_of_every_form_have_eight_bit_controls_by_request() {
    check_reply(
        "\x1b G\x1b]4;1;#123456\x07\x1b]4;1;?\x1b\\\x1bP$qm\x1b\\\x1b[6n\x1b[?6$p",
        "\u{9d}4;1;rgb:1212/3434/5656\u{9c}\u{90}1$r0m\u{9c}\u{9b}1;1R\u{9b}?6;2$y",
    );
}

#[test]
fn links_cover_what_is_printed_in_them() {
    let mut fixture = Fixture::new(10, 4);
    fixture.feed("\x1b]8;id=1;http://a\x1b\\ab\x1b]8;;\x1b\\c");
    let runs = &fixture.snapshot().rows[0].styles;
    assert_eq!((runs[0].start, runs[0].end), (0, 2));
    assert_eq!(runs[0].link.as_ref().unwrap().uri, "http://a");
    assert_eq!(runs[1].link, None);
}

#[test]
fn a_backward_tab_takes_a_pending_wrap_along() {
    // As in xterm, a character printed next still moves to the next line.
    check("abcdefghij\x1b[Z!", "abcdefghij/!");
    check_cursor("abcdefghij\x1b[Z", "abcdefghij", (0, 8));
    // After a resize or another motion, it does not.
    check("abcdefghij\x1b[Z\x1b[D!", "abcdefg!ij");
}

#[test]
fn c1_controls_in_utf_8_are_acted_on_by_request() {
    check("a\u{9b}31mb\u{85}c\u{8d}d\u{9d}2;e", "a31mbcd2;e");
    check("\x1b 7a\u{85}b\u{9b}2Gc\u{9d}2;title\u{9c}d", "a/bcd");
    check("\x1b 7\x1b 6a\u{85}b", "ab");
    // A C1 control truncates a sequence.
    check("\x1b 7a\u{9b}2\u{85}b\x1b\u{84}c", "a/b/ c");
    // Bytes that are not UTF-8 are not C1 controls.
    check(b"a\x9b2Gb\x85c", "a\u{fffd}2Gb\u{fffd}c");
    check_reply("\x1b 7\u{90}$qm\u{9c}", "\x1bP1$r0m\x1b\\");
}

#[test]
fn a_character_is_repeated_only_right_after_it() {
    check("x\x1b[2b", "xxx");
    check("x\x1b[2b\x1b[2b", "xxx");
    check("x\x1b[m\x1b[2b", "x");
    check("x\x1b]2;\x07\x1b[2b\r\n\x1b[2b", "x");
}

#[test]
fn of_too_many_parameters_the_first_ones_count() {
    // At most 32 parameters take effect.
    let sgr = format!("\x1b[{}1;3;4:3m", "0;".repeat(31));
    for size in [1, 7, 40, sgr.len()] {
        let mut fixture = Fixture::new(10, 4);
        for piece in sgr.as_bytes().chunks(size) {
            fixture.feed(piece);
        }
        assert_eq!(fixture.term.rendition(), "0;1");
    }
    // A color whose parameters are cut off sets nothing.
    let mut fixture = Fixture::new(10, 4);
    fixture.feed(format!("\x1b[{}38;2;1;2;3m", "1;".repeat(28)));
    assert_eq!(fixture.term.rendition(), "0;1");
    check_cursor(format!("\x1b[2;3{}H", ";9".repeat(100)), "", (1, 2));
    check_cursor(format!("\x1b[2;3{}H", ":9".repeat(100)), "", (0, 0));
    // A sequence with too many intermediates is dropped, whatever its parameters are.
    check_reply(format!("\x1b[?6{}$$$p\x1b[?6$$$p", ";7".repeat(40)), "");
}

#[test]
fn what_xterm_does_not_know_does_nothing() {
    // VPB of ECMA-48 is ignored. HPB is supported: see `csi.rs`.
    check("a\r\nb\x1b[kc", "a/bc");
    check_cursor("abcde\x1b[jX\x1b[3jY", "abYdX", (0, 3));
}

#[test]
fn numbers_and_states_that_xterm_does_not_look_at() {
    // Numbers in SCOSC and SCORC are ignored.
    check_cursor("ab\x1b[5;9sc\x1b[1;1uX", "abX", (0, 3));
    // An unknown kind of color (9 and 6 here) is ignored. The number after it is an ordinary attribute.
    let mut fixture = Fixture::new(10, 4);
    fixture.feed("\x1b[38;9;1ma\x1b[48;6;3m");
    assert_eq!(fixture.term.rendition(), "0;1;3");
    // A wrap that is pending on the main screen does not affect the alternate screen.
    check_cursor("\x1b[1;10Hx\x1b[?1049hy", "         y", (0, 9));
}

#[test]
fn the_screen_moves_to_history_before_it_is_cleared() {
    let mut fixture = Fixture::new(10, 4);
    fixture.feed("a\r\nb\r\n\r\nc\x1b[2;2H\x1b[22J");
    assert_eq!((fixture.screen(), fixture.everything()), (String::new(), "a/b//c".into()));
    assert_eq!(fixture.cursor(), (1, 1));
    // Empty rows at the end do not move.
    let mut fixture = Fixture::new(10, 4);
    fixture.feed("a\x1b[22J\x1b[22Jb");
    assert_eq!(fixture.everything(), "a/ b");
    // Images move along, also without text.
    let mut fixture = Fixture::new(10, 4);
    fixture.feed("\x1b[2H\x1b_Ga=T,f=24,s=1,v=1,r=2;AAAA\x1b\\\x1b[22J");
    assert_eq!((fixture.term.history_rows(), fixture.snapshot().images.len()), (3, 0));
    let mut top = Snapshot::default();
    fixture.term.snapshot(&mut top, Some(fixture.term.oldest()));
    assert_eq!(top.images.iter().map(|image| image.area.top).collect::<Vec<_>>(), [1.0]);
    // Without a history to move to, it only clears.
    for bytes in ["\x1b[?1049ha\x1b[22J", "\x1b[1;3ra\x1b[22J", "\x1b[?69h\x1b[1;5sa\x1b[22J"] {
        let mut fixture = Fixture::new(10, 4);
        fixture.feed(bytes);
        assert_eq!(fixture.everything(), "", "{bytes:?}");
    }
}

#[test]
fn rows_return_from_history() {
    let lines: String = (0..9).map(|i| format!("{i}\r\n")).collect();
    let unscrolled = |bytes: &str| {
        let mut fixture = Fixture::new(10, 4);
        fixture.feed(format!("{lines}{bytes}"));
        (fixture.screen(), fixture.term.history_rows(), fixture.cursor())
    };
    assert_eq!(unscrolled("\x1b[2+T"), ("4/5/6/7".into(), 4, (3, 0)));
    assert_eq!(unscrolled("\x1b[+Tx"), ("5/6/7/x".into(), 5, (3, 1)));
    // At most one screen.
    assert_eq!(unscrolled("\x1b[99+T"), ("2/3/4/5".into(), 2, (3, 0)));
    // Empty rows beyond the history, in a region, and on the alternate screen.
    assert_eq!(unscrolled("\x1b[4+T\x1b[3+T"), ("/0/1/2".into(), 0, (3, 0)));
    assert_eq!(unscrolled("\x1b[1;3r\x1b[2+T"), ("//6".into(), 6, (0, 0)));
    assert_eq!(unscrolled("\x1b[?1049h\x1b[Ha\x1b[+T"), ("/a".into(), 0, (0, 1)));
    // Lines keep their numbers and what wraps stays one line.
    let mut fixture = Fixture::new(4, 3);
    fixture.feed("abcdefgh\r\n1\r\n2\r\n3");
    let first = fixture.term.oldest();
    fixture.feed("\x1b[+T");
    assert_eq!(
        (fixture.screen(), fixture.term.live_top()),
        ("efgh/1/2".into(), LineId(first.0 + 1))
    );
    fixture.feed("\x1b[+T");
    assert_eq!((fixture.screen(), fixture.term.live_top()), ("abcd/efgh/1".into(), first));
    assert!(fixture.term.is_wrapped(first));
    fixture.feed("\x1b[3;1H\r\nx\r\ny");
    assert_eq!(fixture.everything(), "abcd/efgh/1/x/y");
}

#[test]
fn rows_lost_to_unscrolling_take_along_what_was_on_them() {
    let mut fixture = Fixture::new(10, 3);
    fixture.feed("a\r\nb\r\n\x1b]133;A\x07$ \x1b]133;B\x07x\r\n\x1b]133;C\x07out\r\n");
    fixture.feed("\x1b]133;D\x07\x1b]133;A\x07$ \x1b[3;1H\x1b_Ga=T,f=24,s=1,v=1;AAAA\x1b\\");
    assert_eq!((fixture.term.commands().count(), fixture.snapshot().images.len()), (2, 1));
    fixture.feed("\x1b[+T");
    assert_eq!(fixture.screen(), "b/$ x/out");
    assert_eq!((fixture.term.commands().count(), fixture.snapshot().images.len()), (1, 0));
    fixture.feed("\x1b[3;1H\r\nnew");
    assert_eq!((fixture.term.commands().count(), fixture.snapshot().images.len()), (1, 0));
}

#[test]
fn bold_and_dim_end_apart() {
    check_reply("\x1b[1;2;221m\x1bP$qm\x1b\\", "\x1bP1$r0;2m\x1b\\");
    check_reply("\x1b[1;2;222m\x1bP$qm\x1b\\", "\x1bP1$r0;1m\x1b\\");
}

#[test]
fn all_modes_are_saved_at_once() {
    let state = |fixture: &Fixture| {
        let term = &fixture.term;
        (term.modes(), term.dec, term.mouse_tracking(), term.mouse_encoding(), term.blinking)
    };
    let mut fixture = Fixture::new(10, 4);
    fixture.feed("\x1b[?1;12;45;1000;1006;2004;2033h\x1b[?25l\x1b[2;2H");
    let before = state(&fixture);
    fixture.feed("\x1b[?s").replies();
    fixture.feed("\x1b[?1;12;45;2004;2033l\x1b[?25;1002;1016;1004;2031;2048h").replies();
    assert_ne!(state(&fixture), before);
    fixture.feed("\x1b[?r");
    assert_eq!(state(&fixture), before);
    assert_eq!(fixture.cursor(), (1, 1));
    // Only the mode that is set again reports.
    assert_eq!(fixture.replies(), "\x1b[?999;1n");
    // Modes with side effects are left alone, even if they were saved by number.
    fixture.feed("\x1b[?6;1049s\x1b[?6;1049h\x1b[2;2H\x1b[?r");
    assert!(fixture.term.modes().contains(Modes::ORIGIN | Modes::ALT_SCREEN));
    assert_eq!(fixture.cursor(), (1, 1));
}

#[test]
fn visibility_is_reported() {
    check_reply("\x1b[?2033$p\x1b[?998n", "\x1b[?2033;2$y\x1b[?999;1n");
    let mut fixture = Fixture::new(10, 4);
    fixture.term.set_visible(false);
    assert_eq!(fixture.replies(), "", "nobody asked");
    // Enabling reports at once, even if it was enabled before.
    fixture.feed("\x1b[?998n\x1b[?2033h\x1b[?2033h\x1b[?2033$p");
    assert_eq!(fixture.replies(), "\x1b[?999;2n\x1b[?999;2n\x1b[?999;2n\x1b[?2033;1$y");
    // Changes only.
    for visible in [false, true, true, false, true] {
        fixture.term.set_visible(visible);
    }
    assert_eq!(fixture.replies(), "\x1b[?999;1n\x1b[?999;2n\x1b[?999;1n");
    // The state is the owner's, the mode is the program's.
    fixture.term.set_visible(false);
    fixture.feed("\x1b[?1049h\x1b[!p\x1b[?2033$p").replies();
    fixture.feed("\x1bc\x1b[?2033$p\x1b[?998n");
    assert_eq!(fixture.replies(), "\x1b[?2033;2$y\x1b[?999;2n");
}
