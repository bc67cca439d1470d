//! Printing: wrapping, wide and combining characters, clusters, character sets.

use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use super::{Fixture, check, check_cursor};
use crate::{Content, Width};

#[test]
fn a_mark_behind_a_motion_goes_to_the_cell_under_the_cursor() {
    check("abc\x1b[1;2H\u{301}", "ab\u{301}c");
    check("abc\x1b[1;2H\u{301}z", "azc");
    check("ab\x1b[31m\u{301}\x1b[m\u{302}c", "ab\u{301}\u{302}c");
    check("日\x1b[1;2H\u{301}", "日\u{301}");
    // While a wrap is pending, a mark joins the character in the last column.
    check("0123456789\u{301}x", "0123456789\u{301}/x");
    // Only marks join the character before the cursor. Format controls are not marks.
    check("ab\x1b[1;1H\u{200e}", "ab");
    check_cursor("🇩\x1b[2Hx\x1b[1;3H🇪", "🇩🇪/x", (0, 4));
}

#[test]
fn text_wraps_at_the_edge_when_more_comes() {
    check_cursor("0123456789", "0123456789", (0, 9));
    check_cursor("0123456789a", "0123456789/a", (1, 1));
    check_cursor("0123456789\r\nx", "0123456789/x", (1, 1));
}

#[test]
fn without_auto_wrap_the_last_column_is_overwritten() {
    check_cursor("\x1b[?7l0123456789abc", "012345678c", (0, 9));
    // While lines do not wrap, a wide character that does not fit is not printed (xterm).
    check_cursor("\x1b[?7l012345678日", "012345678", (0, 9));
}

#[test]
fn wide_characters_take_two_columns_and_never_part() {
    check_cursor("日本", "日本", (0, 4));
    check_cursor("012345678日", "012345678/日", (1, 2));
    // If a wide character does not fit, the last column keeps its content.
    check_cursor("0123456789\x1b[1;10H日", "0123456789/日", (1, 2));
    check("0123456789\x1b[1;1H日本語漢字", "日本語漢字");
    // Overwriting one half of a wide character erases the other half.
    check("日本\x1b[1;2Hx", " x本");
    check("日本\x1b[1;1Hx", "x 本");
    check("日本\x1b[1;2H語", " 語");
    check("日本\x1b[1;2Hé", " é本");
}

#[test]
fn a_wide_character_that_wraps_leaves_a_mark_not_a_space() {
    let mut fixture = Fixture::new(10, 4);
    fixture.feed("012345678日");
    assert_eq!(fixture.snapshot().rows[0].cells[9].width(), Width::Head);
    let line = fixture.term.line_at(fixture.term.live_top());
    assert_eq!(fixture.term.text(line), "012345678日");
}

#[test]
fn clusters_take_the_columns_that_programs_count() {
    // Tai Tham: a syllable's last consonant below its vowel sign. Malayalam: a chillu and a consonant below.
    for cluster in [
        "\u{1a20}\u{1a6e}\u{1a60}\u{1a2f}",
        "\u{1a63}\u{1a60}\u{1a32}\u{1a71}",
        "\u{d7b}\u{d4d}\u{d31}\u{d46}",
    ] {
        check_cursor(format!("{cluster}x"), &format!("{cluster}x"), (0, 3));
    }
    // Grantha's virama takes no column.
    check_cursor("\u{11315}\u{1134d}x", "\u{11315}\u{1134d}x", (0, 2));
}

#[test]
fn marks_combine_with_the_character_before() {
    check_cursor("e\u{301}x", "e\u{301}x", (0, 2));
    check_cursor("0123456789\u{301}", "0123456789\u{301}", (0, 9));
    // A mark with nothing before it to combine with is dropped.
    check_cursor("\u{301}x", "x", (0, 1));
    check_cursor("日\u{301}x", "日\u{301}x", (0, 3));
}

#[test]
fn clusters_take_one_cell_or_two() {
    check_cursor("👩\u{200d}👩\u{200d}👧x", "👩\u{200d}👩\u{200d}👧x", (0, 3));
    check_cursor("🇩🇪🇫🇷x", "🇩🇪🇫🇷x", (0, 5));
    check_cursor("👍🏽x", "👍🏽x", (0, 3));
    // VS16 makes a character wide, VS15 makes it narrow.
    check_cursor("❤x", "❤x", (0, 2));
    check_cursor("❤\u{fe0f}x", "❤\u{fe0f}x", (0, 3));
    check_cursor("⌚\u{fe0e}x", "⌚\u{fe0e}x", (0, 2));
    check_cursor("\x1b[41m⌚\u{fe0e}", "⌚\u{fe0e}", (0, 1));
    check_cursor("a\u{fe0f}x", "a\u{fe0f}x", (0, 2));
    check_cursor("👩\u{200d}❤\u{fe0e}x", "👩\u{200d}❤\u{fe0e}x", (0, 3));
    check_cursor("1\u{fe0f}\u{20e3}x", "1\u{fe0f}\u{20e3}x", (0, 3));
    // Half a flag is as wide as a whole flag. A modifier alone is as wide as a pictograph with a modifier.
    check_cursor("🇩x", "🇩x", (0, 3));
    check_cursor("🏽x", "🏽x", (0, 3));
    check_cursor(" 🏽x", " 🏽x", (0, 4));
    check_cursor("a 🏽x", "a 🏽x", (0, 5));
    // A soft hyphen takes a column and joins nothing (GB4).
    check_cursor("\u{ad}🏽", "\u{ad}🏽", (0, 3));
    // Conjuncts and spacing marks take as many columns as their parts, at most two.
    check_cursor("क\u{94d}षx", "क\u{94d}षx", (0, 3));
    check_cursor("क\u{94d}ष\u{94d}षx", "क\u{94d}ष\u{94d}षx", (0, 3));
    check_cursor("का\u{903}x", "का\u{903}x", (0, 3));
    check_cursor("ꦏ\u{a9c0}x", "ꦏ\u{a9c0}x", (0, 2));
    check_cursor("ক\u{9be}x", "ক\u{9be}x", (0, 3));
    check_cursor("ក\u{17d2}ខx", "ក\u{17d2}ខx", (0, 3));
    check_cursor("각x", "각x", (0, 3));
    check_cursor("\u{1100}\u{1161}\u{11a8}x", "\u{1100}\u{1161}\u{11a8}x", (0, 3));
}

#[test]
fn a_cluster_that_widens_in_the_last_column_moves_on() {
    check_cursor("012345678❤\u{fe0f}x", "012345678/❤\u{fe0f}x", (1, 3));
}

#[test]
fn without_mode_2027_only_marks_combine() {
    check_cursor("\x1b[?2027l🇩🇪x", "🇩🇪x", (0, 3));
    check_cursor("\x1b[?2027le\u{301}x", "e\u{301}x", (0, 2));
}

#[test]
fn ambiguous_width_is_an_option_that_can_change() {
    let options = crate::Options { ambiguous_wide: true, ..Default::default() };
    let mut term = crate::Term::new(crate::Size::cells(10, 4), options);
    let mut parser = crate::Parser::new();
    parser.advance(&mut term, "é─日a".as_bytes());
    assert_eq!(term.cursor().col, 7);
    parser.advance(&mut term, "\r\né\u{301}".as_bytes());
    assert_eq!(term.cursor().col, 2);
    term.set_ambiguous_wide(false);
    parser.advance(&mut term, "é─".as_bytes());
    assert_eq!(term.cursor().col, 4);
    assert_eq!(term.text(term.line_at(term.live_top())), "é─日a");
}

#[test]
fn line_drawing_and_shifts() {
    check("\x1b(0lqk\x1b(Blqk", "┌─┐lqk");
    check("\x1b)0a\x0eq\x0fq", "a─q");
    check("\x1b*0\x1bNqq", "─q");
    check("\x1b(A#", "£");
}

#[test]
fn insert_mode_shifts_the_row() {
    check("abc\x1b[4h\x1b[1;2HXY", "aXYbc");
    check("0123456789\x1b[4h\x1b[1;1H日", "日01234567");
}

#[test]
fn rep_repeats() {
    check("a\x1b[3b", "aaaa");
    check("日\x1b[2b", "日日日");
    // REP repeats only a character that was printed directly before it, as in xterm.
    check("a\n\x1b[3b<", "a/ <");
    check("ab\x1b[D\x1b[3bc", "ac");
    check("a\x1b]2;t\x07\x1b[3b", "a");
    check("abcdefghij\r\na\r\n\x1b[2bb", "abcdefghij/a/b");
    check("日\x1b[b", "日日");
    // REP repeats as often as requested, limited to the number that makes a visible difference.
    check_cursor("a\x1b[999b", &"aaaaaaaaaa/".repeat(4)[..43], (3, 9));
    check_cursor("a\x1b[65535b", "aaaaaaaaaa/aaaaaaaaaa/aaaaaaaaaa/aaaaaa", (3, 6));
    check_cursor("日\x1b[103b", "日日日日日/日日日日日/日日日日日/日日日日", (3, 8));
    check("\x1b[3b", "");
}

#[test]
fn rep_repeats_all_that_joined_a_character() {
    check("xe\u{301}\x1b[2b", "xe\u{301}e\u{301}e\u{301}");
    check_cursor("👩\u{200d}👧\x1b[bx", "👩\u{200d}👧👩\u{200d}👧x", (0, 5));
    check_cursor("🇩🇪\x1b[bx", "🇩🇪🇩🇪x", (0, 5));
    check("1\u{fe0f}\u{20e3}\x1b[b", "1\u{fe0f}\u{20e3}1\u{fe0f}\u{20e3}");
    // Without mode 2027, marks still join.
    check("\x1b[?2027le\u{301}\x1b[b", "e\u{301}e\u{301}");
    // Repeats stay whole at the end of a row, have the pen's attributes, and shift the rest of the row in insert mode.
    check_cursor("0123456👍🏽\x1b[b", "0123456👍🏽/👍🏽", (1, 2));
    check_cursor("\x1b[?7l0123456👍🏽\x1b[b", "0123456👍🏽", (0, 9));
    check("abc\x1b[4h\x1b[1;2He\u{301}\x1b[b", "ae\u{301}e\u{301}bc");
    let mut fixture = Fixture::new(10, 4);
    fixture.feed("\x1b[31me\u{301}\x1b[b");
    let runs = &fixture.snapshot().rows[0].styles;
    assert_eq!((runs[0].start, runs[0].end), (0, 2));
    // If a character follows a cluster, only that character is repeated.
    check("e\u{301}x\x1b[b", "e\u{301}xx");
    check("e\u{301}日\x1b[b", "e\u{301}日日");
    // A cluster is repeated only directly after it was printed, and not more often than is visible.
    check("e\u{301}\r\x1b[b", "e\u{301}");
    check(
        "e\u{301}\x1b[65535b",
        &[
            "e\u{301}".repeat(10),
            "e\u{301}".repeat(10),
            "e\u{301}".repeat(10),
            "e\u{301}".repeat(6),
        ]
        .join("/"),
    );
}

/// The texts of a row's cells.
fn cells(row: &crate::SnapshotRow) -> Vec<String> {
    let mut texts = Vec::new();
    for (col, cell) in row.cells.iter().enumerate() {
        match (cell.width(), cell.content()) {
            (Width::Tail, _) | (_, Content::Empty) => {}
            (_, Content::Char(c)) => texts.push(c.to_string()),
            (_, Content::Cluster(_)) => {
                texts.push(row.cluster(col as u16).unwrap_or_default().to_owned());
            }
        }
    }
    texts
}

proptest! {
    #![proptest_config(super::cases(500))]

    /// Cells contain the grapheme clusters of the text (UAX #29), unless a vowel sign precedes a virama.
    #[test]
    fn cells_are_grapheme_clusters(
        pieces in prop::collection::vec(
            prop_oneof![
                8 => "[ab日é❤👩👍🏽🇩🇪🇫\u{200d}\u{fe0f}\u{301}\u{1100}가각क\u{94d}ष\u{93e}\u{600}ก\u{e33}א\u{5b0}©]",
                1 => Just("\u{1100}\u{1161}\u{11a8}".to_owned()),
                1 => Just("가\u{11a8}".to_owned()),
            ],
            0..24,
        )
    ) {
        let text = "a".to_owned() + &pieces.concat();
        let marks = ['\u{94d}', '\u{301}', '\u{5b0}', '\u{e33}', '\u{200d}', '\u{fe0f}', '\u{93e}'];
        let is_ours = |behind: &str| {
            let marks: String = behind.chars().take_while(|c| marks.contains(c)).collect();
            marks.contains('\u{94d}')
        };
        prop_assume!(!text.split(['\u{93e}', '\u{e33}']).skip(1).any(is_ours));
        let mut fixture = Fixture::new(120, 2);
        fixture.feed(&text);
        let expected: Vec<&str> = text.graphemes(true).collect();
        prop_assert_eq!(cells(&fixture.snapshot().rows[0]), expected);
    }
}

/// Characters of every class. Characters that form clusters are more frequent.
fn any_char() -> impl Strategy<Value = char> {
    prop_oneof![
        4 => prop::char::range('a', 'z'),
        4 => prop::sample::select(
            "\u{301}\u{200d}\u{fe0e}\u{fe0f}👩❤⌚🏽🇩🇪日가\u{1100}\u{1161}\u{11a8}क\u{94d}\u{93e}\u{600}\u{200b}\u{20e3}1"
                .chars()
                .collect::<Vec<_>>(),
        ),
        1 => prop::char::range('\u{a0}', '\u{ffff}'),
        1 => prop::char::range('\u{10000}', '\u{10ffff}'),
    ]
}

proptest! {
    #![proptest_config(super::cases(500))]

    /// Printed text is read back exactly, for any screen width, split and mode.
    #[test]
    fn text_comes_back_as_it_was_printed(
        chars in prop::collection::vec(any_char(), 0..60),
        cols in 2..20u16,
        piece in 1..40usize,
        graphemes: bool,
    ) {
        let text = "x".to_owned() + &String::from_iter(chars);
        let mut fixture = Fixture::new(cols, 4);
        fixture.feed(if graphemes { "\x1b[?2027h" } else { "\x1b[?2027l" });
        for piece in text.as_bytes().chunks(piece) {
            fixture.feed(piece);
        }
        let line = fixture.term.line_at(fixture.term.oldest());
        prop_assert_eq!(fixture.term.text(line), text);
    }
}

#[test]
fn invalid_utf8_shows_as_replacement() {
    check(b"a\xffb", "a\u{fffd}b");
    check(b"a\xe6\x97b", "a\u{fffd}b");
    check(b"\xe6\x97\x1b[mb", "\u{fffd}b");
    let mut fixture = Fixture::new(10, 4);
    for byte in "a日é".bytes() {
        fixture.feed([byte]);
    }
    assert_eq!(fixture.screen(), "a日é");
}

#[test]
fn joined_text_stays_inside_its_line() {
    // A double-width row has half the columns, and margins leave fewer.
    check("\x1b[?69h\x1b[3;5s\x1b[1;3Habกำ", "  ab/  ก\u{e33}");
    let mut fixture = Fixture::new(4, 2);
    fixture.feed("\x1b#6xक\u{94d}षx");
    assert_eq!(fixture.screen().chars().filter(|c| *c == 'x').count(), 2);
    // Print after a double-width row has scrolled: the cursor's row, of normal size, is twice as wide.
    let mut fixture = Fixture::new(10, 2);
    fixture.feed("\x1b#6abcde\x1b[S");
    fixture.feed("x");
    // If a column is inserted in the middle of a wide character, both halves become blanks.
    let mut fixture = Fixture::new(6, 2);
    fixture.feed("日本\r\n\x1b[2;2H\x1b['}");
    assert_eq!(fixture.screen(), "   本");
}

#[test]
fn a_cluster_that_becomes_narrow_splits_the_cell_below_it() {
    for behind in ["", "x", "日", "\u{fe0f}"] {
        let mut fixture = Fixture::new(6, 2);
        fixture.feed(format!("a日本b\x1b[1;1H☔\u{fe0e}{behind}\x1b[m"));
        fixture.term.debug_check();
    }
    let mut fixture = Fixture::new(6, 2);
    fixture.feed("a日本b\x1b[1;1H☔\u{fe0e}\x1b[m");
    assert_eq!(fixture.screen(), "☔\u{fe0e}  本b");
}

#[test]
fn text_is_the_same_in_one_piece_and_in_bytes() {
    // A text that is long enough for several UTF-8 windows, with every kind of character at the edge of a window.
    let text = "日é👍ก็ห\u{0600}a🇩🇪한글→x\u{301}\r\n".repeat(40);
    for shift in 0..8 {
        for bad in [&b""[..], b"\xff", b"\xe6\x97"] {
            let mut bytes = "x".repeat(shift).into_bytes();
            bytes.extend(&text.as_bytes()[..700]);
            bytes.extend(bad);
            bytes.extend(text.as_bytes());
            let (mut whole, mut single) = (Fixture::new(23, 8), Fixture::new(23, 8));
            whole.feed(&bytes);
            for byte in bytes {
                single.feed([byte]);
            }
            assert_eq!(whole.everything(), single.everything());
        }
    }
}
