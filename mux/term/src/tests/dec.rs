//! Margins, rectangles, levels, character sets and window operations (DEC STD 070; xterm).

use super::{Fixture, check, check_cursor, check_reply};
use crate::{Allow, Event, LineSize, Options, Parser, Size, Term, WindowRequest};

/// A fixture whose programs have every permission.
fn allowed(cols: u16, rows: u16) -> Fixture {
    let options = Options { allow: Allow::all(), ..Options::default() };
    Fixture { term: Term::new(Size::cells(cols, rows), options), parser: Parser::new() }
}

#[test]
fn text_wraps_and_scrolls_between_margins() {
    check_cursor("\x1b[?69h\x1b[3;6sabcdefghij", "abcdef/  ghij", (1, 5));
    check_cursor("\x1b[?69h\x1b[3;6s\x1b[1;3Habcdefghij", "  abcd/  efgh/  ij", (2, 4));
    let rows = "0123456789\r\n0123456789\r\n0123456789\r\n0123456789";
    check(
        format!("{rows}\x1b[?69h\x1b[3;6s\x1b[4;3H\n"),
        "0123456789/0123456789/0123456789/01    6789",
    );
    // Outside the margins, nothing scrolls.
    check(format!("{rows}\x1b[?69h\x1b[3;6s\x1b[4;1H\n"), rows.replace("\r\n", "/").as_str());
    check(format!("{rows}\x1b[?69h\x1b[3;6s\x1b[2;3H\x1b[L"), {
        "0123456789/01    6789/0123456789/0123456789"
    });
    check_cursor("\x1b[?69h\x1b[3;6s\x1b[?6h\x1b[9;9Hx\r", "///     x", (3, 2));
}

#[test]
fn cells_and_columns_move_between_margins() {
    check("0123456789\x1b[?69h\x1b[3;6s\x1b[1;4H\x1b[@", "012 346789");
    check("0123456789\x1b[?69h\x1b[3;6s\x1b[1;4H\x1b[P", "01245 6789");
    check("0123456789\x1b[?69h\x1b[3;6s\x1b[1;9H\x1b[P", "0123456789");
    check("01日本6789\x1b[?69h\x1b[3;6s\x1b[1;3H\x1b[@", "01 日 6789");
    check("abc\r\ndef\x1b[1;2H\x1b['}", "a bc/d ef");
    check("abc\r\ndef\x1b[1;2H\x1b['~", "ac/df");
    check("abc\x1b[1;1H\x1b6", " abc");
    check("0123456789\x1b[1;10H\x1b9", "123456789");
    check("abc\x1b[1;1H\x1b[ @", "bc");
}

#[test]
fn wide_characters_between_margins() {
    // A wide character that does not fit before the margin moves to the next row, also when repeated.
    check_cursor("\x1b[?69h\x1b[3;6s\x1b[1;6H日x", "/  日x", (1, 5));
    check_cursor("\x1b[?69h\x1b[3;5s\x1b[1;3H日本語", "  日/  本/  語", (2, 4));
    check_cursor("\x1b[?69h\x1b[3;5s\x1b[1;3H日\x1b[3b", "  日/  日/  日/  日", (3, 4));
    check_cursor("\x1b[?69h\x1b[3;6s\x1b[1;3Hab\x1b[6b", "  abbb/  bbbb", (1, 5));
    // When cells move, a wide character that a margin splits becomes blanks on both sides.
    let rows = "日本語ab\r\n本日語ab";
    let margins = "\x1b[?69h\x1b[2;5s";
    check(format!("{rows}{margins}\x1b[1;2H\x1b[L"), "      ab/  本  ab/  日");
    check(format!("{rows}{margins}\x1b[S"), "  日  ab/      ab");
    check(format!("日本語ab{margins}\x1b[1;2H\x1b[P"), " 本   ab");
    check(format!("日本語ab{margins}\x1b[1;2H\x1b[@"), "   本 ab");
    check(format!("日本語ab{margins}\x1b[1;2H\x1b6"), "   本 ab");
}

#[test]
fn what_margins_are_set_to() {
    let told = |bytes: &str| {
        let mut fixture = Fixture::new(10, 4);
        fixture.feed(format!("\x1b[?69h\x1b[3;6s{bytes}\x1bP$qs\x1b\\"));
        fixture.replies()
    };
    // At least two columns, the first before the last; otherwise nothing changes.
    for (bytes, margins) in [
        ("", "3;6"),
        ("\x1b[5;5s", "3;6"),
        ("\x1b[6;2s", "3;6"),
        ("\x1b[3s", "3;10"),
        ("\x1b[s", "1;10"),
        ("\x1b[?69l\x1b[?69h", "1;10"),
        ("\x1b#8", "1;10"),
    ] {
        assert_eq!(told(bytes), format!("\x1bP1$r{margins}s\x1b\\"), "{bytes:?}");
    }
    // ECH and EL ignore them. HT stops at the right margin, and CR at the left margin when inside.
    check("abcdefghij\x1b[?69h\x1b[3;6s\x1b[1;4H\x1b[9X", "abc");
    check("abcdefghij\x1b[?69h\x1b[3;6s\x1b[1;4H\x1b[K", "abc");
    check_cursor("\x1b[?69h\x1b[3;6s\x1b[1;3H\tx", "     x", (0, 5));
    check("ab\x1b[?69h\x1b[3;6s\x1b[1;2H\rx\x1b[2;5H\rx", "xb/  x");
    check_reply(
        "\x1b[?69h\x1b[3;6s\x1b[2;3r\x1b[?6h\x1b[9;9H\x1b[6n\x1b[?6n",
        "\x1b[2;4R\x1b[?2;4;1R",
    );
}

#[test]
fn reverse_wraparound() {
    check_cursor("\x1b[?45h\x1b[2;1H\x08x", "         x", (0, 9));
    check_cursor("\x1b[?1045h\x1b[2;1H\x08x", "         x", (0, 9));
    check_cursor("\x1b[?45h0123456789\x08x", "012345678x", (0, 9));
    check_cursor("\x1b[?1045h\x1b[2;3r\x1b[2;1H\x08", "", (2, 9));
    check_cursor("\x1b[?45;7l\x1b[2;1H\x08", "", (1, 0));
}

#[test]
fn rectangles() {
    let rows = "abcd\r\nefgh\r\nijkl\r\nmnop";
    check(format!("{rows}\x1b[1;1;2;2;1;3;3$v"), "abcd/efgh/ijab/mnef");
    // Source and target overlap.
    check(format!("{rows}\x1b[1;1;3;3;1;2;2$v"), "abcd/eabc/iefg/mijk");
    check(format!("{rows}\x1b[42;2;2;3;3$x"), "abcd/e**h/i**l/mnop");
    // If DECOM is set, coordinates start at the region's corner and end at its edges.
    let origin = "\x1b[?69h\x1b[2;3s\x1b[2;3r\x1b[?6h";
    check(format!("{rows}{origin}\x1b[42;1;1;9;9$x"), "abcd/e**h/i**l/mnop");
    check(format!("{rows}{origin}\x1b[1;2$z"), "abcd/ef h/ij l/mnop");
    check(format!("{rows}\x1b[2;2;3;3$z"), "abcd/e  h/i  l/mnop");
    // A rectangle that begins outside the screen does nothing, and neither does filling with no character.
    for nothing in
        ["5;1;;$z", "1;11;;$z", "42;5;1;;$x", "1;1;2;2;1;5;1$v", "1;1;2;2;1;1;11$v", "0$x"]
    {
        check(format!("{rows}\x1b[{nothing}"), "abcd/efgh/ijkl/mnop");
    }
    check("a\x1b[1\"qb\x1b[0\"qc\x1b[1;1;1;3${", " b");
    check("日本\x1b[1;2;1;3$z", "");
    let mut fixture = Fixture::new(10, 4);
    fixture.feed("abcd\r\nefgh\x1b[2*x\x1b[1;2;2;3;1$r");
    let snapshot = fixture.snapshot();
    let bold: Vec<_> = snapshot.rows[1].styles.iter().map(|run| (run.start, run.end)).collect();
    assert_eq!(bold, [(0, 1), (1, 3), (3, 10)]);
    // A stream between margins, with DECOM set.
    let mut fixture = Fixture::new(10, 4);
    fixture.feed("\x1b#8\x1b[?69h\x1b[3;6s\x1b[?6h\x1b[1;2;2;3;1$r");
    let snapshot = fixture.snapshot();
    let bold = |row: usize| -> Vec<_> {
        snapshot.rows[row].styles.iter().map(|run| (run.start, run.end)).collect()
    };
    assert_eq!(bold(0), [(0, 3), (3, 6), (6, 10)]);
    assert_eq!(bold(1), [(0, 2), (2, 5), (5, 10)]);
}

#[test]
fn checksums_are_for_those_who_are_allowed() {
    check_reply("a\x1b[7;1;1;1;1;1*y", "");
    let mut fixture = allowed(10, 4);
    fixture.feed("ab\x1b[7;1;1;1;1;1*y\x1b[8;1;1;1;1;3*y");
    assert_eq!(fixture.replies(), "\x1bP7!~0061\x1b\\\x1bP8!~00E3\x1b\\");
}

#[test]
fn a_space_that_was_printed_counts_in_every_checksum() {
    let mut fixture = allowed(10, 4);
    // DEC's convention (XTCHECKSUM 0): negated, and without blanks that were never written (xterm).
    fixture.feed("a b c\x1b[0#y\x1b[1;1;1;1;1;10*y");
    assert_eq!(fixture.replies(), "\x1bP1!~FE9A\x1b\\");
    // Positive, and up to a space.
    fixture.feed("\x1b[1#y\x1b[2;1;1;1;1;4*y");
    assert_eq!(fixture.replies(), "\x1bP2!~0103\x1b\\");
}

#[test]
fn what_spa_protects_every_erase_spares() {
    check("a\x1bVb\x1bWc\x1b[2K", " b");
    check("a\x1b[1\"qb\x1b[0\"qc\x1b[2K", "");
    // Selective erases too.
    check("\x1bVab\x1bWcd\x1b[?2K", "ab");
    check("\x1b[1\"q日\x1b[0\"q本\x1b[1;2H\x1b[?K", "日");
}

#[test]
fn levels() {
    // DECBI and DECFI belong to the VT420.
    check_cursor("ab\x1b6\x1b6\x1b9", "ab", (0, 1));
    check_cursor("\x1b[63\"pab\x1b6\x1b6\x1b9", "ab", (0, 2));
    check_reply("\x1b[62;1\"p\x1b[4$p", "");
    check_reply("\x1b[63;1\"p\x1b[4$p\x1bP$q\"p\x1b\\", "\x1b[4;2$y\x1bP1$r63;1\"p\x1b\\");
    let mut fixture = Fixture::new(10, 4);
    fixture.feed("\x1b G\x1b[5n\x1b F\x1b[5n");
    assert_eq!(fixture.term.take_replies(), b"\x9b0n\x1b[0n");
}

#[test]
fn character_sets() {
    check("\x1b(0lqk\x1b(Bq", "┌─┐q");
    check("\x1b)>\x0eab\x0fab", "αβab");
    // Replacement sets are available only while DECNRCM is set.
    check("\x1b(K[", "[");
    check("\x1b[?42h\x1b(K[{\x1b(Z[", "Ää¡");
    check("\x1b.A\x1bNdd", "äd");
    // In GR, bytes are characters and not UTF-8.
    check(b"\x1b*%5\xd7\xe4\xc3\xa4\x1b*B\xc3\xa4", "ŒäÃ␦ä");
    check(b"\x1b)0\x1b~\xf1\xe1\x1b}\xc3\xb1", "─▒ñ");
    check(b"\x1b[?42h\xe4\x1b[?42l\xc3\xa4", "ää");
    // The whole set is in GR, including the characters it shares with ASCII (ECMA-35; xterm).
    check(b"\x1b)0\x1b~\xc1\xf1", "A─");
    check(b"\x1b[?42h\x1b)K\x1b~\xc1\xdb\xe1\xff", "AÄaÿ");
    check(b"\x1b[?42h\x1b-A\x1b~\xa3\xc1\xff", "£Aÿ");
    // Supplemental sets of ISO and DEC; DEL is a character in a set of 96.
    check("\x1b-F\x0e$%*\x0f", "€₯ͺ");
    check("\x1b-F\x0eab~\x0f\x1b-H\x0e`\x1b-L\x0eP\x7f", "αβώאаџ");
    check("\x1b(%0]p\x1b(\"?ab\x1b(\"4`\x1b(&4a", "ŸğαβאА");
    check("\x1b[?42h\x1b(\">a\x1b(%=`\x1b(&5a\x1b(%3@\x1b(%2@\x1b(=_", "ΑאАŽİè");
}

#[test]
fn sets_belong_to_levels() {
    check("\x1b(\"?a\x1b[64;1\"p\x1b(\"?a", "αa");
    check("\x1b[63;1\"p\x1b(I1\x1b[65;1\"p\x1b(I1", "ｱ1");
}

#[test]
fn the_preferred_set_is_assigned_and_told() {
    check_reply("\x1b[&u", "\x1bP0!u%5\x1b\\");
    check_reply("\x1bP1!uF\x1b\\\x1b[&u", "\x1bP1!uF\x1b\\");
    check_reply("\x1bP1!uF\x1b\\\x1bP0!uB\x1b\\\x1b[&u", "\x1bP1!uF\x1b\\");
    check("\x1b(<W\x1bP1!uF\x1b\\W\x1b-<\x0eW", "ŒΧΧ");
}

#[test]
fn a_vt52_has_sequences_of_its_own() {
    check_cursor("ab\x1b[?2lcd\x1bFaq\x1bGaq\x1bY\"*X\x1bHh", "hbcd▮⎼aq//        X", (0, 1));
    check_cursor("abc\x1b[?2l\x1bD\x1bA\x1bB\x1bI\x1bC\x1bKd", "abcd", (0, 4));
    check("abc\r\ndef\x1b[?2l\x1bH\x1bC\x1bJ", "a");
    check_reply("\x1b[?2l\x1bZ\x1b[c", "\x1b/Z");
    // Nothing wraps, and there are no attributes or regions; leaving VT52 mode restores all of that.
    check_cursor(
        "\x1b[?69h\x1b[2;5s\x1b[?2l0123456789ab\x1b<\x1b[Hcdefgh",
        "cdefg5678b/ h",
        (1, 2),
    );
    // A position beyond the screen is ignored, and VT100 sequences have no effect.
    check_cursor("ab\x1b[?2l\x1bY!\x7fc\x1b[2Jd\x1b(0e\x1bPf", "ab/  c2Jdef", (1, 8));
    check_reply("\x1b[?2l\x1b<\x1bP$q\"p\x1b\\", "");
    check_reply("\x1b[?2$p\x1b[?2l\x1b<\x1b[?2$p\x1b[1$w", "\x1b[?2;1$y");
}

#[test]
fn the_colour_table_is_told_and_restored() {
    let mut fixture = Fixture::new(10, 4);
    fixture.feed("\x1bP2$p1;2;100;50;0/255;2;0;0;100/7;1;1;1;1\x1b\\\x1b]4;1;?;255;?\x07");
    assert_eq!(
        fixture.replies(),
        "\x1b]4;1;rgb:ffff/7f7f/0000\x07\x1b]4;255;rgb:0000/0000/ffff\x07"
    );
    fixture.feed("\x1b[2;2$u");
    let report = fixture.replies();
    assert!(report.starts_with("\x1bP2$s0;2;"), "{report}");
    assert!(report.contains("/1;2;100;50;0/2;2;"), "{report}");
    assert!(report.ends_with("/255;2;0;0;100\x1b\\"), "{report}");
}

#[test]
fn the_presentation_state_is_told_and_restored() {
    check_reply("\x1b[2;3H\x1b[1$w", "\x1bP1$u2;3;1;@;@;@;0;2;@;BBBB\x1b\\");
    let state = "\x1b[1;4;5;7m\x1b[1\"q\x1b)%5\x1b.A\x1b+<\x0e\x1b|\x1b[?6h\x1b[2;10Hx\x1bO";
    let told = "2;10;1;O;A;M;1;3;D;B%5A<";
    check_reply(format!("{state}\x1b[1$w"), &format!("\x1bP1$u{told}\x1b\\"));
    check_reply(format!("\x1bP1$t{told}\x1b\\\x1b[1$w"), &format!("\x1bP1$u{told}\x1b\\"));
    // Up to the first invalid field.
    check_reply("\x1bP1$t2;99;1;A\x1b\\\x1b[6n", "\x1b[2;1R");
    check_reply("\x1b[3g\x1b[5G\x1bH\x1b[2$w", "\x1bP2$u5\x1b\\");
    check_reply("\x1bP2$t3/7/99\x1b\\\x1b[2$w", "\x1bP2$u3/7\x1b\\");
}

#[test]
fn rows_of_double_width() {
    let mut fixture = Fixture::new(10, 4);
    fixture.feed("\x1b#6abcdefg\r\n\x1b#3h");
    assert_eq!(fixture.screen(), "abcde/fg/h");
    assert_eq!(fixture.snapshot().rows[0].size, LineSize::DoubleWidth);
    assert_eq!(fixture.snapshot().rows[2].size, LineSize::DoubleTop);
    fixture.feed("\x1b[?69h");
    assert_eq!(fixture.snapshot().rows[0].size, LineSize::Single);
}

#[test]
fn a_row_keeps_its_size_when_its_line_is_erased_but_not_the_display() {
    let mut fixture = Fixture::new(10, 3);
    fixture.feed("\x1b#3top\x1b[2K\x1b[G\x1b[K\x1b[10X\r\n\x1b#4low\x1b[2K");
    let sizes =
        |fixture: &Fixture| fixture.snapshot().rows.iter().map(|row| row.size).collect::<Vec<_>>();
    use LineSize::{DoubleBottom, DoubleTop, Single};
    assert_eq!(sizes(&fixture), [DoubleTop, DoubleBottom, Single]);
    fixture.feed("\x1b[H\x1b[J");
    assert_eq!(sizes(&fixture), [DoubleTop, Single, Single]);
    fixture.feed("\x1b[2J");
    assert_eq!(sizes(&fixture), [Single; 3]);
}

#[test]
fn a_rows_size_survives_a_resize_and_history() {
    let mut fixture = Fixture::new(12, 4);
    fixture.feed("0123456789abcdef\r\n\x1b#3top\r\n\x1b#4top\r\n\x1b#6wide");
    for (cols, rows) in [(10, 4), (7, 3), (30, 6), (12, 4)] {
        fixture.term.resize(Size::cells(cols, rows));
        fixture.term.debug_check();
    }
    assert_eq!(fixture.everything(), "0123456789ab/cdef/top/top/wide");
    let sizes =
        |fixture: &Fixture| fixture.snapshot().rows.iter().map(|row| row.size).collect::<Vec<_>>();
    use LineSize::{DoubleBottom, DoubleTop, DoubleWidth, Single};
    assert_eq!(sizes(&fixture), [Single, DoubleTop, DoubleBottom, DoubleWidth]);
    // In history too, which returns when the screen gets taller.
    fixture.feed("\r\n\n\n\n");
    assert_eq!(sizes(&fixture), [Single; 4]);
    fixture.term.resize(Size::cells(15, 9));
    assert_eq!(sizes(&fixture)[..5], [Single, Single, DoubleTop, DoubleBottom, DoubleWidth]);
    // Text that wraps into such a row does not form one line with it.
    let mut fixture = Fixture::new(10, 4);
    fixture.feed("\n\x1b#6wide\x1b[H0123456789ab");
    fixture.term.resize(Size::cells(20, 4));
    assert_eq!(fixture.screen(), "0123456789/abde");
    assert_eq!(sizes(&fixture)[1], DoubleWidth);
}

#[test]
fn windows_are_resized_for_those_who_are_allowed() {
    let mut fixture = Fixture::new(80, 24);
    fixture.feed("\x1b[8;25;100t\x1b[?40;3h\x1b[18t");
    assert_eq!(fixture.replies(), "\x1b[8;24;80t");
    let mut fixture = allowed(80, 24);
    fixture.feed("\x1b[8;;100t\x1b[18t\x1b[14t\x1b[?40;3h\x1b[18t");
    assert_eq!(fixture.replies(), "\x1b[8;24;100t\x1b[4;480;1000t\x1b[8;24;132t");
    let resize = |cols| Event::Window(WindowRequest::Resize(Size::cells(cols, 24)));
    assert_eq!(fixture.term.take_events(), [resize(100), resize(132)]);
}

#[test]
fn titles_are_told_to_those_who_are_allowed() {
    let told = |bytes: &str| {
        let mut fixture = allowed(10, 4);
        fixture.feed(bytes);
        fixture.replies()
    };
    // A title that the push did not include comes from the entry below (xterm 410).
    assert_eq!(
        told(concat!(
            "\x1b]0;both\x1b\\\x1b[22t\x1b]1;icon\x1b\\\x1b]2;title\x1b\\\x1b[22;1t",
            "\x1b]1;other\x07\x1b[23;1t\x1b[20t\x1b[21t\x1b[23t\x1b[20t\x1b[21t"
        )),
        "\x1b]Licon\x1b\\\x1b]ltitle\x1b\\\x1b]Lboth\x1b\\\x1b]lboth\x1b\\"
    );
    // A title stored at a place of its own is not on the stack.
    assert_eq!(
        told("\x1b]2;a\x07\x1b[22;2;3t\x1b]2;b\x07\x1b[23;2;3t\x1b[21t\x1b[#S"),
        "\x1b]la\x1b\\\x1b[0;10#S"
    );
    // Set and reported in hexadecimal; invalid hexadecimal sets nothing (XTSMTITLE).
    assert_eq!(
        told(concat!(
            "\x1b[>0;1t\x1b]2;4869\x1b\\\x1b[21t\x1b[>1T\x1b[21t\x1b]2;xyz\x1b\\\x1b[21t",
            "\x1b[>T\x1b]2;xyz\x1b\\\x1b[21t"
        )),
        "\x1b]l4869\x1b\\\x1b]lHi\x1b\\\x1b]lHi\x1b\\\x1b]lxyz\x1b\\"
    );
}

#[test]
fn a_window_is_where_and_as_it_was_asked_to_be() {
    let asked = "\x1b[2t\x1b[11t\x1b[1t\x1b[11t\x1b[3;5;7t\x1b[13t\x1b[15t\x1b[19t";
    let mut fixture = allowed(10, 4);
    fixture.feed(asked);
    assert_eq!(fixture.replies(), "\x1b[2t\x1b[1t\x1b[3;5;7t\x1b[5;1080;1920t\x1b[9;54;192t");
    // Programs without permission have no effect.
    check_reply(asked, "\x1b[1t\x1b[1t\x1b[3;0;0t\x1b[5;1080;1920t\x1b[9;67;240t");
}

#[test]
fn a_change_of_columns_leaves_one_background() {
    let mut fixture = allowed(80, 3);
    fixture.feed("\x1b[?40h\x1b[44m\x1b[?3h");
    for row in &fixture.snapshot().rows {
        let styles: Vec<_> = row.styles.iter().map(|run| (run.start, run.end)).collect();
        assert_eq!(styles, [(0, 132)]);
    }
}

#[test]
fn a_change_of_columns_that_keeps_the_screen_wraps_no_row_anew() {
    let rows = |columns: usize| ["E".repeat(columns).as_str(); 3].join("/");
    let mut fixture = allowed(132, 3);
    fixture.feed("\x1b[?40;95h\x1b#8\x1b[3;100H\x1b[?3l");
    assert_eq!((fixture.screen(), fixture.term.history_rows()), (rows(80), 0));
    // DECSCPP: the cursor stays on the screen, and more columns do not join rows that were full.
    fixture.feed("\x1b[H").feed("E".repeat(240)).feed("\x1b[3;80H\x1b[132$|\x1b[6n");
    assert_eq!((fixture.screen(), fixture.replies().as_str()), (rows(80), "\x1b[3;80R"));
    fixture.feed("\x1b#8\x1b[3;100H\x1b[80$|\x1b[6n");
    assert_eq!((fixture.screen(), fixture.replies().as_str()), (rows(80), "\x1b[3;80R"));
}

#[test]
fn a_protected_wide_character_at_an_edge_stays_whole() {
    check("\x1b[1\"q日本\x1b[\"q語\x1b[;2${", "日本");
    check("\x1b[1\"qx日\x1b[\"q\x1b[;3${", "x日");
    check("日本語\x1b[;2;;4${", "    語");
}
