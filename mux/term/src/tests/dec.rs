//! Margins, rectangles, levels, character sets and window operations (DEC STD 070; xterm).

use proptest::prelude::*;

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
    // A wide character that does not fit before the right margin moves to the next row, even if REP repeats it.
    check_cursor("\x1b[?69h\x1b[3;6s\x1b[1;6H日x", "/  日x", (1, 5));
    check_cursor("\x1b[?69h\x1b[3;5s\x1b[1;3H日本語", "  日/  本/  語", (2, 4));
    check_cursor("\x1b[?69h\x1b[3;5s\x1b[1;3H日\x1b[3b", "  日/  日/  日/  日", (3, 4));
    check_cursor("\x1b[?69h\x1b[3;6s\x1b[1;3Hab\x1b[6b", "  abbb/  bbbb", (1, 5));
    // When cells move, a wide character that a margin splits becomes blanks on both sides of the margin.
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
    let reply = |bytes: &str| {
        let mut fixture = Fixture::new(10, 4);
        fixture.feed(format!("\x1b[?69h\x1b[3;6s{bytes}\x1bP$qs\x1b\\"));
        fixture.replies()
    };
    // Margins need at least two columns, with the left before the right one. Otherwise nothing changes.
    for (bytes, margins) in [
        ("", "3;6"),
        ("\x1b[5;5s", "3;6"),
        ("\x1b[6;2s", "3;6"),
        ("\x1b[3s", "3;10"),
        ("\x1b[s", "1;10"),
        ("\x1b[?69l\x1b[?69h", "1;10"),
        ("\x1b#8", "1;10"),
    ] {
        assert_eq!(reply(bytes), format!("\x1bP1$r{margins}s\x1b\\"), "{bytes:?}");
    }
    // ECH and EL ignore margins. HT stops at the right margin, and CR at the left margin if the cursor is between them.
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
    check_cursor("\x1b[?1045h\x1b[2;1H\x08x", "         x", (0, 9));
    // ?45 stays in the line of text.
    check_cursor("\x1b[?45h\x1b[2;1H\x08x", "/x", (1, 1));
    check_cursor("\x1b[?45h0123456789ab\x08\x08\x08x", "012345678x/ab", (0, 9));
    check_cursor("\x1b[?45h0123456789ab\r\nc\x1b[99D\x08x", "0123456789/ab/x", (2, 1));
    check_cursor("\x1b[?45hab\r\n0123456789cd\x1b[99Dx", "ab/x123456789/cd", (1, 1));
    check_cursor("\x1b[?45h0123456789ab\x1b[2;3r\x1b[2;1H\x08x", "012345678x/ab", (0, 9));
    // Over a row that wrapped but lost its end since.
    check_cursor("\x1b[?45h0123456789ab\x1b[1;9H\x1b[K\x1b[2;1H\x08x", "01234567/xb", (1, 1));
    check_cursor("\x1b[?45h0123456789\x08x", "012345678x", (0, 9));
    // Both modes together are ?1045.
    check_cursor("\x1b[?45;1045h\x1b[2;1H\x08x", "         x", (0, 9));
    check_cursor("\x1b[?1045h\x1b[2;3r\x1b[2;1H\x08", "", (2, 9));
    check_cursor("\x1b[?45;7l\x1b[2;1H\x08", "", (1, 0));
}

#[test]
fn a_pending_wrap_survives_what_leaves_it_in_xterm() {
    let margins = "\x1b[?69h\x1b[3;8s";
    // CBT, with and without margins: the next character wraps.
    check_cursor("0123456789\x1b[Zx", "0123456789/x", (1, 1));
    check_cursor(format!("{margins}\x1b[1;3Habcdef\x1b[Zx"), "  abcdef/  x", (1, 3));
    // DCH outside the margins does nothing at all, ICH ends the wrap.
    check_cursor(format!("{margins}\x1b[1;9Hab\x1b[Px"), "        ab/  x", (1, 3));
    check_cursor(format!("{margins}\x1b[1;9Hab\x1b[@x"), "        ax", (0, 9));
    check_cursor(format!("{margins}\x1b[1;3Habcdef\x1b[Px"), "  abcdex", (0, 7));
    // DECRC restores it, even where no line ends any more.
    check_cursor(format!("{margins}\x1b[1;3Habcdef\x1b7\x1b[?69l\x1b8x"), "  abcdef/x", (1, 1));
}

#[test]
fn a_saved_cursor_returns_above_the_origin() {
    let region = "\x1b[3;4r\x1b[?6h\x1b[2;2H\x1b7";
    check_reply(format!("{region}\x1b[1$w"), "\x1bP1$u4;2;1;@;@;A;0;2;@;BBBB\x1b\\");
    // The region moved below the saved place, or above it.
    let below = "\x1b[1;2r\x1b[?6h\x1b[2;2H\x1b7\x1b[3;4r\x1b8";
    check_cursor(format!("{below}x"), "/ x", (1, 2));
    check_cursor(format!("{region}\x1b[1;2r\x1b8x"), "/ x", (1, 2));
    let left = "\x1b[?69h\x1b[1;3s\x1b[?6h\x1b[1;2H\x1b7\x1b[5;8s\x1b8";
    check_cursor(format!("{left}x"), " x", (0, 2));
    let right = "\x1b[?69h\x1b[5;8s\x1b[?6h\x1b[1;3H\x1b7\x1b[1;3s\x1b8";
    check_cursor(format!("{right}x"), "  x", (0, 2));
}

#[test]
fn rectangles() {
    let rows = "abcd\r\nefgh\r\nijkl\r\nmnop";
    check(format!("{rows}\x1b[1;1;2;2;1;3;3$v"), "abcd/efgh/ijab/mnef");
    // The source overlaps the target.
    check(format!("{rows}\x1b[1;1;3;3;1;2;2$v"), "abcd/eabc/iefg/mijk");
    check(format!("{rows}\x1b[42;2;2;3;3$x"), "abcd/e**h/i**l/mnop");
    // If DECOM is set, coordinates start at the region's corner and end at its edges.
    let origin = "\x1b[?69h\x1b[2;3s\x1b[2;3r\x1b[?6h";
    check(format!("{rows}{origin}\x1b[42;1;1;9;9$x"), "abcd/e**h/i**l/mnop");
    check(format!("{rows}{origin}\x1b[1;2$z"), "abcd/ef h/ij l/mnop");
    check(format!("{rows}\x1b[2;2;3;3$z"), "abcd/e  h/i  l/mnop");
    // A rectangle that begins outside the screen has no effect, and neither has filling with no character.
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
    // A stream continues at the end of a row, also where nothing was written.
    let mut fixture = Fixture::new(10, 4);
    fixture.feed("a\x1b[1;4;2;6;7$r");
    let snapshot = fixture.snapshot();
    let reversed = |row: usize| -> Vec<_> {
        let runs = snapshot.rows[row].styles.iter();
        let on = runs.filter(|run| run.style.attrs.contains(crate::Attrs::REVERSE));
        on.map(|run| (run.start, run.end)).collect()
    };
    assert_eq!((reversed(0), reversed(1), reversed(2)), (vec![(3, 10)], vec![(0, 6)], vec![]));
    // A stream of text between margins, with DECOM set.
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
    // DEC's convention (XTCHECKSUM 0): the sum is negated and omits blanks that were never written (xterm).
    fixture.feed("a b c\x1b[0#y\x1b[1;1;1;1;1;10*y");
    assert_eq!(fixture.replies(), "\x1bP1!~FE9A\x1b\\");
    // The sum is not negated, and the rectangle ends at a printed space, which counts.
    fixture.feed("\x1b[1#y\x1b[2;1;1;1;1;4*y");
    assert_eq!(fixture.replies(), "\x1bP2!~0103\x1b\\");
}

#[test]
fn what_spa_protects_every_erase_spares() {
    check("a\x1bVb\x1bWc\x1b[2K", " b");
    check("a\x1b[1\"qb\x1b[0\"qc\x1b[2K", "");
    // Protected characters also survive selective erases.
    check("\x1bVab\x1bWcd\x1b[?2K", "ab");
    check("\x1b[1\"q日\x1b[0\"q本\x1b[1;2H\x1b[?K", "日");
}

#[test]
fn levels() {
    // DECBI and DECFI exist only from level 4 (VT420) on.
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
    // DECFRA fills with a code of the sets. The whole set can be used in GR, including the characters that it shares
    // with ASCII (ECMA-35; xterm).
    for (designation, codes, shown) in [
        ("\x1b*%5", &[0xd7, 0xe4, 0xa0][..], "Œä\u{a0}"),
        ("\x1b)0\x1b~", &[0xc1, 0xf1], "A─"),
        ("\x1b[?42h\x1b)K\x1b~", &[0xc1, 0xdb, 0xe1, 0xff], "AÄaÿ"),
        ("\x1b[?42h\x1b-A\x1b~", &[0xa3, 0xc1, 0xff], "£Aÿ"),
        ("", &[0xe4], "ä"),
    ] {
        let mut bytes = designation.to_owned();
        for (col, code) in codes.iter().enumerate() {
            bytes.push_str(&format!("\x1b[{code};1;{col};1;{col}$x", col = col + 1));
        }
        check(bytes, shown);
    }
    // Supplemental sets of ISO and DEC. In a set of 96 characters, DEL is a character.
    check("\x1b-F\x0e$%*\x0f", "€₯ͺ");
    check("\x1b-F\x0eab~\x0f\x1b-H\x0e`\x1b-L\x0eP\x7f", "αβώאаџ");
    check("\x1b(%0]p\x1b(\"?ab\x1b(\"4`\x1b(&4a", "ŸğαβאА");
    check("\x1b[?42h\x1b(\">a\x1b(%=`\x1b(&5a\x1b(%3@\x1b(%2@\x1b(=_", "ΑאАŽİè");
}

/// Sequences that designate, invoke and save character sets, as a binary file may contain them.
fn designations() -> impl Strategy<Value = Vec<String>> {
    let one = prop_oneof![
        4 => "\x1b[-()*+./][ !\"#$%&]{0,2}[0-~]",
        3 => "[\x0e\x0f]|\x1b[NOno|}~78]",
        1 => "\x1b\\[\\?42[hl]|\x1b%[@G]",
        1 => "\x1bP[01]!u[%&\"]?[0-~]\x1b\\\\",
        1 => "\x1bP1\\$t1;1;1;@;@;[@BDJ];[0-3];[0-3];[@-O];[0-~]{4}\x1b\\\\",
    ];
    proptest::collection::vec(one, 1..8)
}

proptest! {
    #![proptest_config(super::cases(512))]

    /// The invariant of character sets: they never reach bytes from 0x80 on.
    #[test]
    fn no_designation_reaches_utf8(designations in designations(), cut in 0..9usize) {
        let text = "é─日\u{a0}ÿ".as_bytes();
        let mut fixture = Fixture::new(10, 4);
        fixture.feed(designations.concat()).feed("\x1b[H");
        fixture.feed(&text[..cut]).feed(&text[cut..]);
        prop_assert_eq!(fixture.screen(), "é─日\u{a0}ÿ");
    }
}

#[test]
fn a_stray_binary_leaves_utf8_intact() {
    // Each alone once broke all later UTF-8.
    for stray in ["\x1b*0", "\x1b.A", "\x1b)0\x1b~", "\x1b+0\x1b|", "\x1b[?42h", "\x1b%@"] {
        check(format!("{stray}ä─日"), "ä─日");
    }
    // Invalid bytes are still replacement characters, and a single shift ends at the next character.
    check(b"\x1b*0q\xe4q", "q\u{fffd}q");
    check("\x1b*0\x1bNäq", "äq");
    check("\x1b*0\x1bnqä\x0fq", "─äq");
}

#[test]
fn sets_belong_to_levels() {
    check("\x1b(\"?a\x1b[64;1\"p\x1b(\"?a", "αa");
    check("\x1b[63;1\"p\x1b(I1\x1b[65;1\"p\x1b(I1", "ｱ1");
}

#[test]
fn the_preferred_set_is_assigned_and_reported() {
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
    // In VT52 mode, nothing wraps, and there are no attributes or regions. Leaving VT52 mode restores all of them.
    check_cursor(
        "\x1b[?69h\x1b[2;5s\x1b[?2l0123456789ab\x1b<\x1b[Hcdefgh",
        "cdefg5678b/ h",
        (1, 2),
    );
    // A position beyond the screen is ignored. VT100 sequences have no effect.
    check_cursor("ab\x1b[?2l\x1bY!\x7fc\x1b[2Jd\x1b(0e\x1bPf", "ab/  c2Jdef", (1, 8));
    check_reply("\x1b[?2l\x1b<\x1bP$q\"p\x1b\\", "");
    check_reply("\x1b[?2$p\x1b[?2l\x1b<\x1b[?2$p\x1b[1$w", "\x1b[?2;1$y");
}

#[test]
fn the_color_table_is_reported_and_restored() {
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
fn the_presentation_state_is_reported_and_restored() {
    check_reply("\x1b[2;3H\x1b[1$w", "\x1bP1$u2;3;1;@;@;@;0;2;@;BBBB\x1b\\");
    let state = "\x1b[1;4;5;7m\x1b[1\"q\x1b)%5\x1b.A\x1b+<\x0e\x1b|\x1b[?6h\x1b[2;10Hx\x1bO";
    let reply = "2;10;1;O;A;M;1;3;D;B%5A<";
    check_reply(format!("{state}\x1b[1$w"), &format!("\x1bP1$u{reply}\x1b\\"));
    check_reply(format!("\x1bP1$t{reply}\x1b\\\x1b[1$w"), &format!("\x1bP1$u{reply}\x1b\\"));
    // Restoring stops at the first invalid field.
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
    // ED 0 from the first cell on erases every row whole. EL changes no size.
    let size_after = |erase: &str| {
        let mut fixture = Fixture::new(10, 4);
        fixture.feed(format!("\x1b#6\x1b[H{erase}"));
        fixture.snapshot().rows[0].size
    };
    assert_eq!(size_after("\x1b[J"), LineSize::Single);
    assert_eq!(size_after("\x1b[2K"), LineSize::DoubleWidth);
    assert_eq!(size_after("\x1b[C\x1b[J"), LineSize::DoubleWidth);
}

#[test]
fn a_row_keeps_its_size_after_el_but_not_after_ed() {
    let mut fixture = Fixture::new(10, 3);
    fixture.feed("\x1b#3top\x1b[2K\x1b[G\x1b[K\x1b[10X\r\n\x1b#4low\x1b[2K");
    let sizes =
        |fixture: &Fixture| fixture.snapshot().rows.iter().map(|row| row.size).collect::<Vec<_>>();
    use LineSize::{DoubleBottom, DoubleTop, Single};
    assert_eq!(sizes(&fixture), [DoubleTop, DoubleBottom, Single]);
    fixture.feed("\x1b[1;2H\x1b[J");
    assert_eq!(sizes(&fixture), [DoubleTop, Single, Single]);
    fixture.feed("\x1b[H\x1b[J");
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
    // Rows keep their size in history. They return when the screen gets taller.
    fixture.feed("\r\n\n\n\n");
    assert_eq!(sizes(&fixture), [Single; 4]);
    fixture.term.resize(Size::cells(15, 9));
    assert_eq!(sizes(&fixture)[..5], [Single, Single, DoubleTop, DoubleBottom, DoubleWidth]);
    // Text that wraps into a double-width row does not form one line with it.
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
fn title_reports_need_permission() {
    let reply = |bytes: &str| {
        let mut fixture = allowed(10, 4);
        fixture.feed(bytes);
        fixture.replies()
    };
    // If a push did not include a title, the title comes from the entry below (xterm 410).
    assert_eq!(
        reply(concat!(
            "\x1b]0;both\x1b\\\x1b[22t\x1b]1;icon\x1b\\\x1b]2;title\x1b\\\x1b[22;1t",
            "\x1b]1;other\x07\x1b[23;1t\x1b[20t\x1b[21t\x1b[23t\x1b[20t\x1b[21t"
        )),
        "\x1b]Licon\x1b\\\x1b]ltitle\x1b\\\x1b]Lboth\x1b\\\x1b]lboth\x1b\\"
    );
    // A title that was stored at a numbered position is not on the stack.
    assert_eq!(
        reply("\x1b]2;a\x07\x1b[22;2;3t\x1b]2;b\x07\x1b[23;2;3t\x1b[21t\x1b[#S"),
        "\x1b]la\x1b\\\x1b[0;10#S"
    );
    // A title can be set and reported in hexadecimal. Invalid hexadecimal sets nothing (XTSMTITLE).
    assert_eq!(
        reply(concat!(
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
    // The requests of programs without permission have no effect.
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
fn a_change_of_columns_that_keeps_the_screen_rewraps_no_row() {
    let rows = |columns: usize| ["E".repeat(columns).as_str(); 3].join("/");
    let mut fixture = allowed(132, 3);
    fixture.feed("\x1b[?40;95h\x1b#8\x1b[3;100H\x1b[?3l");
    assert_eq!((fixture.screen(), fixture.term.history_rows()), (rows(80), 0));
    // DECSCPP: the cursor stays on the screen, and adding columns does not join rows that were full.
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
