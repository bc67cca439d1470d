//! Compares the scanner with plain vte: for any bytes and any splits, both must produce the same terminal.
//!
//! The inputs exclude cases in which the scanner differs on purpose:
//! - APC, and strings beyond the cap
//! - CAN and SUB inside strings: vte ends an OSC as if it were complete, xterm drops it
//! - 0x9C inside strings
//! - more than 15 `;` in an OSC
//! - bytes 0x80–0x9F and other invalid UTF-8 that controls cut: vte executes them as C1, xterm and Unterm show U+FFFD
//! - the effects of DECAC1: vte supports no C1 controls in UTF-8 that begin a sequence
//! - VT52 mode
//! - more than 32 numbers for extra cursors, of which vte passes 32
//! - a 0 in SD and XTWINOPS, which vte does not distinguish from a missing number

use proptest::prelude::*;

use super::Fixture;
use crate::parse::parser::csi_from_vte;
use crate::term::Term;

/// Receives vte's calls without the scanner in between.
struct Plain<'a> {
    term: &'a mut Term,
    dcs: &'a mut Vec<u8>,
}

impl vte::Perform for Plain<'_> {
    fn print(&mut self, c: char) {
        match c {
            '\x7f' => self.term.delete(),
            c => drop(self.term.print_run(c.encode_utf8(&mut [0; 4]))),
        }
    }

    fn execute(&mut self, byte: u8) {
        self.term.execute(byte);
    }

    fn csi_dispatch(
        &mut self,
        params: &vte::Params,
        intermediates: &[u8],
        ignore: bool,
        action: char,
    ) {
        if let Some(csi) = csi_from_vte(params, intermediates, ignore, action) {
            self.term.csi(&csi);
        }
    }

    fn esc_dispatch(&mut self, intermediates: &[u8], ignore: bool, byte: u8) {
        if !ignore {
            self.term.esc(intermediates, byte);
        }
    }

    fn osc_dispatch(&mut self, params: &[&[u8]], bell_terminated: bool) {
        self.term.osc(&params.join(&b';'), bell_terminated);
    }

    fn hook(&mut self, params: &vte::Params, intermediates: &[u8], ignore: bool, action: char) {
        self.dcs.clear();
        if !ignore {
            let params: Vec<String> = params
                .iter()
                .map(|p| p.iter().map(u16::to_string).collect::<Vec<_>>().join(":"))
                .collect();
            self.dcs.extend_from_slice(params.join(";").as_bytes());
            self.dcs.extend_from_slice(intermediates);
            self.dcs.push(action as u8);
        }
    }

    fn put(&mut self, byte: u8) {
        self.dcs.push(byte);
    }

    fn unhook(&mut self) {
        self.term.dcs(self.dcs);
        if let Some(mut decoding) = self.term.take_decoding() {
            decoding.keep_string(self.dcs);
            decoding.run();
            self.term.apply_decoded(decoding);
        }
        self.dcs.clear();
    }
}

/// The dump and the replies after `bytes`, parsed by vte alone.
fn plain(bytes: &[u8]) -> (String, String) {
    let mut fixture = Fixture::new(20, 6);
    let mut dcs = Vec::new();
    let mut parser: vte::Parser = vte::Parser::new();
    fixture.term.begin_batch();
    parser.advance(&mut Plain { term: &mut fixture.term, dcs: &mut dcs }, bytes);
    fixture.term.end_batch();
    (fixture.term.dump(), fixture.replies())
}

/// The dump and the replies after `pieces`, parsed by the scanner.
fn scanned<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (String, String) {
    let mut fixture = Fixture::new(20, 6);
    for piece in pieces {
        fixture.feed(piece);
    }
    (fixture.term.dump(), fixture.replies())
}

fn compare(bytes: &[u8]) {
    let expected = plain(bytes);
    assert_eq!(scanned([bytes]), expected, "whole: {:?}", String::from_utf8_lossy(bytes));
    for at in 1..bytes.len() {
        let (a, b) = bytes.split_at(at);
        assert_eq!(scanned([a, b]), expected, "at {at}: {:?}", String::from_utf8_lossy(bytes));
    }
    assert_eq!(scanned(bytes.chunks(1)), expected, "bytes: {:?}", String::from_utf8_lossy(bytes));
}

#[test]
fn both_painters_draw_a_sixel_that_another_sequence_ends() {
    for bytes in [&b"\x1bPq~\x1b\\"[..], b"a\x1bP0;1q<\\]\x1b#Ob", b"\x1bPq~\x1b[mx"] {
        compare(bytes);
    }
}

/// Whether vte would end a string at a byte 0x9c inside a character. vte treats the byte as an 8-bit ST, which is wrong
/// in UTF-8.
fn cuts_a_character(bytes: &[u8]) -> bool {
    let begins =
        |pair: &[u8]| pair[0] == 0x1b && matches!(pair[1], b'P' | b'X' | b'^' | b'_' | b']');
    let string = bytes.windows(2).position(begins);
    string.is_some_and(|at| bytes[at..].contains(&0x9c))
}

/// Whether the input contains a sequence that distinguishes a missing number from 0 (XTWINOPS, SD of xterm). vte does
/// not report the difference.
fn distinguishes_none_from_zero(bytes: &[u8]) -> bool {
    let mut sequences = bytes.split(|&byte| byte == 0x1b).skip(1);
    sequences.any(|sequence| {
        let last = sequence.iter().skip(1).position(|byte| (0x40..=0x7e).contains(byte));
        sequence.first() == Some(&b'[')
            && last.is_some_and(|last| matches!(sequence[last + 1], b'T' | b't'))
            && sequence.contains(&b'0')
    })
}

/// Whether the input contains a sequence for extra cursors with more numbers than vte passes.
fn has_many_cursors(bytes: &[u8]) -> bool {
    let mut sequences = bytes.split(|&byte| byte == 0x1b).skip(1);
    sequences.any(|sequence| {
        let numbers = sequence.split(|byte| matches!(byte, b';' | b':')).count();
        sequence.starts_with(b"[>") && numbers > 32
    })
}

/// Whether the input contains bytes from 0x80 on that are not just UTF-8 text, or any bytes in VT52 mode.
fn is_beyond_vte(bytes: &[u8]) -> bool {
    let mut fixture = Fixture::new(20, 6);
    bytes.iter().any(|&byte| {
        // vte skips bytes from 0x80 on inside a sequence. The scanner ends the sequence.
        let is_more = fixture.term.accepts_c1() || fixture.parser.is_in_sequence();
        fixture.feed([byte]);
        is_more && byte >= 0x80 || fixture.term.is_vt52()
    })
}

/// Pieces of streams: text, and complete, unusual and truncated sequences.
pub(super) fn piece() -> impl Strategy<Value = Vec<u8>> {
    let numbers = prop_oneof![
        "[0-9]{0,3}",
        "[0-9]{0,3}(;[0-9]{0,4}){0,5}",
        "[0-9:;]{0,12}",
        Just("1;".repeat(40)),
        Just("99999999999999".to_owned()),
    ];
    prop_oneof![
        4 => "[ -~]{0,30}".prop_map(String::into_bytes),
        3 => "[a-z日本語éü\u{301}\u{200d}👩👧🇩🇪❤\u{fe0f}가\u{1100}\u{1161}\u{600}क\u{94d}\u{93e}\u{85}\u{200b}]{0,12}"
            .prop_map(String::into_bytes),
        3 => "[\n\r\t\x08\x0b\x0e\x0f\x00\x7f]{1,3}".prop_map(String::into_bytes),
        6 => (numbers, "[<=>?]?", "[ !\"$]?", "[@-~]")
            .prop_map(|(n, p, i, f)| format!("\x1b[{p}{n}{i}{f}").into_bytes()),
        2 => "\x1b\\[[0-9]{0,2}[\n\r\x1b\x18]?[0-9;?<]{0,3}[A-Z]".prop_map(String::into_bytes),
        2 => "\x1b[ #()*+]{0,3}[0-9A-OQ-WYZ`-~]".prop_map(String::into_bytes),
        1 => Just(b"\x1b".to_vec()),
        1 => "\x1b\\][0-9]{0,3};[ -~]{0,20}(\x07|\x1b\\\\)".prop_map(String::into_bytes),
        1 => "\x1b\\](0|2|7|8|133);[A-D;é]{0,5}[\r\n]?[a-z]?(\x07|\x1b\\\\|\x1b\\[m)"
            .prop_map(String::into_bytes),
        1 => "\x1b\\]66;(s=[1-3]|w=[0-3]|s=2:w=2|n=1:d=2:w=1);[a-c日]{1,3}(\x07|\x1b\\\\)"
            .prop_map(String::into_bytes),
        1 => "\x1bP[0-9;]{0,3}[$+]q[ -~]{0,8}\x1b\\\\".prop_map(String::into_bytes),
        1 => "\x1b\\[([0-9]?\\+T|22J|\\?[sr]|22[12]m|\\?(45|1045|1048|2033)[hlsr]|\\?998n|Z|[su])"
            .prop_map(String::into_bytes),
        1 => "\x1b\\]3008;(start|end)=[ab](;(type=shell|user=u|exit=crash)){0,2}(\x07|\x1b\\\\)"
            .prop_map(String::into_bytes),
        1 => "\x1b[X^][ -~]{0,8}\x1b\\\\".prop_map(String::into_bytes),
        1 => "\x1b\\[>([0-3]|29|30|40|100|101)?(;[0-6](:[0-9]{0,2}){0,5}){0,4} q".prop_map(String::into_bytes),
        2 => Just(b"\x1b[?1049h".to_vec()),
        1 => Just(b"\x1b[?1049l".to_vec()),
        2 => Just(b"\x1b[38;2;1;2;3;48:5:7m".to_vec()),
    ]
}

/// Replaces each C1 control in UTF-8 with its 7-bit form from ECMA-48 5.3.
fn in_seven_bits(text: &str) -> String {
    let mut seven = String::new();
    for c in text.chars() {
        match c {
            '\u{80}'..='\u{9f}' => seven.extend(['\x1b', (c as u8 - 0x40) as char]),
            _ => seven.push(c),
        }
    }
    seven
}

/// Pieces with C1 controls: complete sequences, strings, and controls that truncate them.
fn c1_piece() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[ -~é日]{0,9}",
        2 => "[\u{80}-\u{9f}]{1,2}",
        2 => "\u{9b}[0-9;]{0,4}[\u{85}@-Z]",
        2 => "\u{9d}2;[a-zé]{0,5}[\u{9c}\u{84}\x07]",
        1 => "\u{90}\\$qm\u{9c}",
        1 => "\x1b[#(]?[\u{85}\u{9b}3]",
        1 => "[\u{98}\u{9e}][a-z]{0,5}\n?\u{9c}",
    ]
}

proptest! {
    #![proptest_config(super::cases(192))]

    #[test]
    fn a_c1_control_is_what_it_is_in_seven_bits(pieces in prop::collection::vec(c1_piece(), 1..8)) {
        let text = pieces.concat();
        let stream = |text: &str| format!("\x1b 7{text}\x18").into_bytes();
        let (eight, expected) = (stream(&text), scanned([&stream(&in_seven_bits(&text))[..]]));
        for at in 0..eight.len() {
            let (a, b) = eight.split_at(at);
            prop_assert_eq!(scanned([a, b]), expected.clone(), "at {} of {:?}", at, text);
        }
        prop_assert_eq!(scanned(eight.chunks(1)), expected, "bytes of {:?}", text);
    }

    #[test]
    fn scanner_is_vte_at_every_split(pieces in prop::collection::vec(piece(), 1..8)) {
        let bytes = pieces.concat();
        prop_assume!(!cuts_a_character(&bytes) && !is_beyond_vte(&bytes));
        prop_assume!(!distinguishes_none_from_zero(&bytes) && !has_many_cursors(&bytes));
        compare(&bytes);
    }
}
