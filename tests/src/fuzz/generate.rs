//! Generates new inputs: pieces of streams. Most are well formed, but some contain unusual numbers or are cut.

use std::fmt::Write as _;

use super::{Random, dictionary};

/// A piece of any kind.
pub(super) fn anything(random: &mut Random, out: &mut Vec<u8>) {
    match random.below(32) {
        0..=6 => text(random, out),
        7..=9 => push(out, random.pick(dictionary::CONTROLS)),
        10..=19 => sequence(random, out),
        20 => cut(random, out, sequence),
        21 | 22 => modes(random, out),
        23..=25 => push(out, random.pick(dictionary::PIECES)),
        26 | 27 => push(out, &format!("\x1b{}", random.pick(dictionary::ESCAPES))),
        28 => osc(random, out),
        29 => device(random, out),
        30 => match random.below(5) {
            0 => graphics(random, out),
            1 => sixel(random, out),
            2 => cursors(random, out),
            3 => glyph(random, out),
            _ => styles(random, out),
        },
        _ => raw(random, out),
    }
}

/// Extra cursors (kitty's multiple cursors protocol): shapes at coordinates, colors and queries.
fn cursors(random: &mut Random, out: &mut Vec<u8>) {
    let what = random.pick(&["", "0", "1", "2", "3", "29", "30", "40", "100", "101", "7"]);
    push(out, &format!("\x1b[>{what}"));
    for _ in 0..random.below_one_of(&[2, 4, 40]) {
        push(out, random.pick(&[";0", ";1", ";2", ";2", ";4", ";4", ";5", ";"]));
        for _ in 0..random.below_one_of(&[3, 6, 90]) {
            push(out, &format!(":{}", number(random)));
        }
    }
    push(out, " q");
}

/// Requests of the Glyph Protocol, and characters that it can give a glyph.
fn glyph(random: &mut Random, out: &mut Vec<u8>) {
    push(out, "\x1b_25a1;");
    push(out, random.pick(&["r", "r", "r", "r", "c", "q", "s", "x", ""]));
    push(out, random.pick(&[";cp=e000", ";cp=e000", ";cp=E001", ";cp=f0000", ";cp=10fffd", ""]));
    for _ in 0..random.below_one_of(&[1, 3, 8]) {
        push(out, ";");
        push(out, random.pick(dictionary::GLYPH));
    }
    if random.one_in(2) {
        let format = random.pick(dictionary::GLYPH_PAYLOADS);
        push(out, format);
        if random.one_in(4) {
            push(out, payload(random));
        }
    }
    push(out, terminator(random));
    push(out, random.pick(&["", "\u{e000}", "a\u{e001} b", "\u{f0000}\u{10fffd}"]));
}

/// OSC strings between some text.
pub(super) fn osc(random: &mut Random, out: &mut Vec<u8>) {
    match random.below(12) {
        0 => text(random, out),
        1 => sequence(random, out),
        2 => cut(random, out, one_osc),
        3 => anything_but_osc(random, out),
        _ => one_osc(random, out),
    }
}

/// Images of kitty and iTerm2, with sequences that move and remove them.
pub(super) fn graphics(random: &mut Random, out: &mut Vec<u8>) {
    match random.below(16) {
        0 => text(random, out),
        1 => push(out, random.pick(dictionary::CONTROLS)),
        2 => sequence(random, out),
        3 => push(out, random.pick(dictionary::PIECES)),
        4 => cut(random, out, kitty),
        5..=7 => iterm(random, out),
        8 => placeholder(random, out),
        _ => kitty(random, out),
    }
}

/// Sixel images, with sequences that move and remove them.
pub(super) fn sixel(random: &mut Random, out: &mut Vec<u8>) {
    match random.below(12) {
        0 => text(random, out),
        1 => push(out, random.pick(dictionary::CONTROLS)),
        2 => push(
            out,
            random.pick(&["\x1b[?80h", "\x1b[?80l", "\x1b[?8452h", "\x1b[?1070l", "\x1b[?1;1;0S"]),
        ),
        3 => sequence(random, out),
        4 => push(out, random.pick(dictionary::PIECES)),
        5 => cut(random, out, one_sixel),
        _ => one_sixel(random, out),
    }
}

/// Text in long and short lines and in colors, which a resize rewraps.
pub(super) fn reflow(random: &mut Random, out: &mut Vec<u8>) {
    match random.below(24) {
        0..=9 => text(random, out),
        10..=14 => push(out, "\r\n"),
        15 | 16 => styles(random, out),
        17 => push(out, &"x".repeat(random.below(60))),
        18 => push(out, &"漢字".repeat(random.below(30))),
        19 => push(
            out,
            random.pick(&[
                "\x1b]133;A\x07",
                "\x1b]133;C\x07",
                "\x1b]8;;http://a\x07",
                "\x1b]8;;\x07",
            ]),
        ),
        20 => push(
            out,
            random
                .pick(&["\x1b7", "\x1b8", "\x1b[A", "\x1b[C", "\x1b[3C", "\x1b[5G", "\t", "\x08"]),
        ),
        21 => push(
            out,
            random.pick(&["\x1b[K", "\x1b[1K", "\x1b[J", "\x1b[P", "\x1b[@", "\x1b[4b", "\x1b[X"]),
        ),
        22 => push(out, random.pick(dictionary::PIECES)),
        _ => anything(random, out),
    }
}

fn push(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}

fn anything_but_osc(random: &mut Random, out: &mut Vec<u8>) {
    match random.below(3) {
        0 => push(out, random.pick(dictionary::PIECES)),
        1 => push(out, random.pick(dictionary::CONTROLS)),
        _ => device(random, out),
    }
}

fn text(random: &mut Random, out: &mut Vec<u8>) {
    match random.below(4) {
        0 => {
            let len = random.below_one_of(&[8, 40, 300]);
            out.extend((0..len).map(|_| b' ' + random.below(95) as u8));
        }
        1 => push(out, &random.pick(dictionary::TEXTS).repeat(random.below_one_of(&[3, 12, 90]))),
        _ => (0..random.below(9)).for_each(|_| push(out, random.pick(dictionary::TEXTS))),
    }
}

/// Bytes that are not text, or text in another encoding.
fn raw(random: &mut Random, out: &mut Vec<u8>) {
    match random.below(3) {
        0 => (0..random.below(12)).for_each(|_| out.push(random.next() as u8)),
        1 => out.push(0x80 + random.below(0x20) as u8),
        _ => {
            let text = random.pick(dictionary::TEXTS).as_bytes();
            out.extend_from_slice(&text[..random.below(text.len() + 1)]);
        }
    }
}

/// The output of `make`, cut at a random position, and sometimes followed by a control character or a terminator.
fn cut(random: &mut Random, out: &mut Vec<u8>, make: fn(&mut Random, &mut Vec<u8>)) {
    let start = out.len();
    make(random, out);
    out.truncate(start + random.below(out.len() - start + 1));
    push(out, random.pick(&["", "\x1b", "\x18", "\x1a", "\n", "\x1b\\"]));
}

/// Usually a small number, otherwise an edge case.
fn number(random: &mut Random) -> u64 {
    if random.one_in(3) { random.pick(dictionary::NUMBERS) } else { random.below(14) as u64 }
}

fn numbers(random: &mut Random) -> String {
    let mut text = String::new();
    let count = match random.below(40) {
        0 => 40,
        1 => 17,
        n => [0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 4, 5, 6, 8][n % 16],
    };
    for i in 0..count {
        if i > 0 {
            text.push(if random.one_in(12) { ':' } else { ';' });
        }
        if !random.one_in(6) {
            let _ = write!(text, "{}", number(random));
        }
    }
    text
}

fn sequence(random: &mut Random, out: &mut Vec<u8>) {
    let (prefix, last) = random.pick(dictionary::SEQUENCES);
    let introducer: &[u8] = if random.one_in(60) { b"\x9b" } else { b"\x1b[" };
    out.extend_from_slice(introducer);
    push(out, prefix);
    push(out, &numbers(random));
    if random.one_in(40) {
        // A control character inside a sequence is executed at once.
        push(out, random.pick(dictionary::CONTROLS));
    }
    if random.one_in(80) {
        out.extend([b' ' + random.below(16) as u8, b'@' + random.below(63) as u8]);
    } else {
        push(out, last);
    }
}

fn modes(random: &mut Random, out: &mut Vec<u8>) {
    let mode = random.pick(dictionary::PRIVATE_MODES);
    let last = random.pick(&["h", "h", "h", "l", "l", "s", "r", "$p"]);
    push(out, &format!("\x1b[?{mode}{last}"));
}

fn styles(random: &mut Random, out: &mut Vec<u8>) {
    let n = |random: &mut Random| random.below(260);
    let style = match random.below(8) {
        0 => format!("38;5;{}", n(random)),
        1 => format!("48:2::{}:{}:{}", n(random), n(random), n(random)),
        2 => format!("38;2;{};{};{}", n(random), n(random), n(random)),
        3 => format!("4:{};58:5:{}", random.below(7), n(random)),
        4 => format!("58;2;{};0", n(random)),
        5 => String::new(),
        _ => random.below(110).to_string(),
    };
    push(out, &format!("\x1b[{style}m"));
}

/// Usually the right terminator, otherwise a wrong one.
fn terminator(random: &mut Random) -> &'static str {
    random.pick(&["\x07", "\x1b\\", "\x1b\\", "\x1b\\", "\u{9c}\x1b\\", "\x1b[m", "\x18"])
}

fn one_osc(random: &mut Random, out: &mut Vec<u8>) {
    if random.one_in(10) {
        return iterm(random, out);
    }
    if random.one_in(10) {
        return clipboard(random, out);
    }
    push(out, "\x1b]");
    push(out, random.pick(dictionary::OSC));
    for _ in 0..random.below(3) {
        let more = random.pick(&[
            ";", ":", "=", ",", "?", "MARK", "TUFSSw==", "é", "\u{9c}", "%zz", "%00", "\r\n",
            "../", "\u{202e}", "\\x07",
        ]);
        push(out, more);
    }
    if random.one_in(12) {
        push(out, random.pick(dictionary::OSC));
    }
    if random.one_in(100) {
        push(out, &"MARK".repeat(random.below(3000)));
    }
    push(out, terminator(random));
}

fn device(random: &mut Random, out: &mut Vec<u8>) {
    push(out, "\x1bP");
    push(out, random.pick(dictionary::DCS));
    if random.one_in(4) {
        push(out, random.pick(dictionary::DCS));
    }
    push(out, terminator(random));
}

/// A command of kitty's graphics protocol, sometimes split into several parts.
fn kitty(random: &mut Random, out: &mut Vec<u8>) {
    let mut keys: Vec<&str> =
        (0..random.below(10)).map(|_| random.pick(dictionary::KITTY)).collect();
    // Generate some complete commands, so that images exist for later commands.
    match random.below(4) {
        0 => keys.extend(["a=T", "f=32", "s=2", "v=2", "i=1"]),
        1 => keys.extend(["a=T", "f=24", "s=1", "v=1"]),
        _ => {}
    }
    let parts = if random.one_in(5) { 1 + random.below(4) } else { 1 };
    for part in 0..parts {
        push(out, "\x1b_G");
        if part == 0 {
            push(out, &keys.join(","));
        }
        if parts > 1 {
            push(out, if part + 1 < parts { ",m=1" } else { ",m=0" });
        }
        if !random.one_in(6) {
            push(out, ";");
            push(out, payload(random));
        }
        push(out, terminator(random));
    }
}

fn payload(random: &mut Random) -> &'static str {
    random.pick(dictionary::PAYLOADS)
}

/// Placeholder cells, which show parts of a placement.
fn placeholder(random: &mut Random, out: &mut Vec<u8>) {
    push(out, &format!("\x1b[38;5;{}m", random.below(4)));
    for _ in 0..random.below(6) {
        push(out, "\u{10eeee}");
        for _ in 0..random.below(4) {
            push(
                out,
                random.pick(&["\u{305}", "\u{30d}", "\u{30e}", "\u{310}", "\u{1d244}", "\u{301}"]),
            );
        }
    }
    push(out, "\x1b[39m");
}

fn iterm(random: &mut Random, out: &mut Vec<u8>) {
    let arguments: Vec<&str> =
        (0..random.below(6)).map(|_| random.pick(dictionary::ITERM)).collect();
    let arguments = arguments.join(";");
    if !random.one_in(3) {
        push(out, &format!("\x1b]1337;File={arguments}:{}", payload(random)));
        return push(out, terminator(random));
    }
    push(out, &format!("\x1b]1337;MultipartFile={arguments}{}", terminator(random)));
    for _ in 0..random.below(4) {
        push(out, &format!("\x1b]1337;FilePart={}{}", payload(random), terminator(random)));
    }
    push(out, &format!("\x1b]1337;FileEnd{}", terminator(random)));
}

/// Packets of kitty's clipboard protocol (OSC 5522). Some form a whole write.
fn clipboard(random: &mut Random, out: &mut Vec<u8>) {
    let mut packet = |random: &mut Random, keys: &[&str], payload: &str| {
        push(out, "\x1b]5522;");
        push(out, &keys.join(":"));
        if !payload.is_empty() {
            push(out, random.pick(&[";", ";", ";", ";;", ":"]));
            push(out, payload);
        }
        push(out, terminator(random));
    };
    let is_whole = random.one_in(2);
    if is_whole {
        let key = random.pick(dictionary::CLIPBOARD);
        packet(random, &["type=write", key], "");
    }
    for _ in 0..random.below(5) {
        let mut keys: Vec<&str> =
            (0..random.below(4)).map(|_| random.pick(dictionary::CLIPBOARD)).collect();
        keys.extend(is_whole.then_some("type=wdata"));
        let is_data = random.one_in(2);
        let payload =
            random.pick(if is_data { dictionary::PAYLOADS } else { dictionary::CLIPBOARD_TYPES });
        packet(random, &keys, payload);
    }
    if is_whole {
        packet(random, &["type=wdata"], "");
    }
}

fn one_sixel(random: &mut Random, out: &mut Vec<u8>) {
    push(out, "\x1bP");
    push(out, &numbers(random));
    push(out, "q");
    for _ in 0..random.below_one_of(&[4, 20, 80]) {
        push(out, random.pick(dictionary::SIXEL));
    }
    push(out, terminator(random));
}
