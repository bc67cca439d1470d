//! Tests every row of the tables in xterm ctlseqs. The submodules test the kitty protocol and modifyOtherKeys.

use super::*;

mod kitty;
mod modify_other_keys;

const NONE: Modifiers = Modifiers::empty();
const SHIFT: Modifiers = Modifiers::SHIFT;
const ALT: Modifiers = Modifiers::ALT;
const CTRL: Modifiers = Modifiers::CTRL;
const SUPER: Modifiers = Modifiers::SUPER;

/// The modes of a new terminal that affect keys.
const FRESH: Modes = Modes::ALT_SENDS_ESC;

fn encode(key: Key, modifiers: Modifiers, modes: Modes) -> String {
    encode_with(key, None, None, modifiers, modes)
}

fn encode_with(
    key: Key,
    unshifted: Option<char>,
    text: Option<&str>,
    modifiers: Modifiers,
    modes: Modes,
) -> String {
    let event = KeyEvent { unshifted, text, ..KeyEvent::press(key, modifiers) };
    String::from_utf8(encode_key(&event, modes, &KeyboardMode::default())).unwrap()
}

/// The sixteen combinations of Shift, Alt, Ctrl and Super, each with its parameter in xterm. The parameter is 1 without
/// modifiers.
fn combinations() -> impl Iterator<Item = (u8, Modifiers)> {
    (0..16).map(|bits| (bits + 1, Modifiers::from_bits_truncate(bits)))
}

#[test]
fn cursor_keys_with_every_modifier() {
    for (key, last) in [
        (Key::Up, 'A'),
        (Key::Down, 'B'),
        (Key::Right, 'C'),
        (Key::Left, 'D'),
        (Key::KeypadBegin, 'E'),
        (Key::End, 'F'),
        (Key::Home, 'H'),
    ] {
        assert_eq!(encode(key, NONE, FRESH), format!("\x1b[{last}"));
        assert_eq!(encode(key, NONE, FRESH | Modes::APP_CURSOR), format!("\x1bO{last}"));
        for (code, mods) in combinations().skip(1) {
            for modes in [FRESH, FRESH | Modes::APP_CURSOR] {
                assert_eq!(encode(key, mods, modes), format!("\x1b[1;{code}{last}"), "{key:?}");
            }
        }
    }
}

#[test]
fn vt52_sequences_have_no_introducer() {
    let modes = FRESH | Modes::VT52;
    assert_eq!(encode(Key::Up, NONE, modes), "\x1bA");
    assert_eq!(encode(Key::Left, NONE, modes | Modes::APP_CURSOR), "\x1bD");
    assert_eq!(encode(Key::F(2), NONE, modes), "\x1bQ");
    assert_eq!(encode(Key::KeypadDigit(5), NONE, modes | Modes::APP_KEYPAD), "\x1b?u");
    assert_eq!(encode(Key::KeypadEnter, NONE, modes | Modes::APP_KEYPAD), "\x1b?M");
    assert_eq!(encode(Key::F(5), NONE, modes), "\x1b[15~");
}

#[test]
fn editing_and_function_keys_with_every_modifier() {
    let numbers = [
        (Key::Insert, 2),
        (Key::Delete, 3),
        (Key::PageUp, 5),
        (Key::PageDown, 6),
        (Key::Menu, 29),
        (Key::F(5), 15),
        (Key::F(6), 17),
        (Key::F(7), 18),
        (Key::F(8), 19),
        (Key::F(9), 20),
        (Key::F(10), 21),
        (Key::F(11), 23),
        (Key::F(12), 24),
        (Key::F(13), 25),
        (Key::F(14), 26),
        (Key::F(15), 28),
        (Key::F(16), 29),
        (Key::F(17), 31),
        (Key::F(18), 32),
        (Key::F(19), 33),
        (Key::F(20), 34),
        (Key::F(21), 42),
        (Key::F(35), 56),
    ];
    for (key, number) in numbers {
        assert_eq!(encode(key, NONE, FRESH), format!("\x1b[{number}~"), "{key:?}");
        for (code, mods) in combinations().skip(1) {
            assert_eq!(encode(key, mods, FRESH), format!("\x1b[{number};{code}~"), "{key:?}");
        }
    }
    for (number, last) in [(1, 'P'), (2, 'Q'), (3, 'R'), (4, 'S')] {
        assert_eq!(encode(Key::F(number), NONE, FRESH), format!("\x1bO{last}"));
        for (code, mods) in combinations().skip(1) {
            assert_eq!(encode(Key::F(number), mods, FRESH), format!("\x1b[1;{code}{last}"));
        }
    }
    for number in [0, 36, 255] {
        assert_eq!(encode(Key::F(number), NONE, FRESH), "");
    }
}

#[test]
fn keys_that_are_control_characters() {
    for (key, mods, expected) in [
        (Key::Enter, NONE, "\r"),
        (Key::Enter, SHIFT, "\r"),
        (Key::Enter, CTRL, "\r"),
        (Key::Enter, ALT, "\x1b\r"),
        (Key::Tab, NONE, "\t"),
        (Key::Tab, CTRL, "\t"),
        (Key::Tab, ALT, "\x1b\t"),
        (Key::Tab, SHIFT, "\x1b[Z"),
        (Key::Tab, SHIFT | ALT, "\x1b\x1b[Z"),
        (Key::Escape, NONE, "\x1b"),
        (Key::Escape, ALT, "\x1b\x1b"),
        (Key::Backspace, NONE, "\x7f"),
        (Key::Backspace, SHIFT, "\x7f"),
        (Key::Backspace, CTRL, "\x08"),
        (Key::Backspace, ALT, "\x1b\x7f"),
        (Key::Backspace, CTRL | ALT, "\x1b\x08"),
    ] {
        assert_eq!(encode(key, mods, FRESH), expected, "{key:?} {mods:?}");
    }
}

#[test]
fn modes_change_enter_backspace_and_alt() {
    let line = FRESH | Modes::NEW_LINE;
    assert_eq!(encode(Key::Enter, NONE, line), "\r\n");
    assert_eq!(encode(Key::Enter, ALT, line), "\x1b\r\n");
    assert_eq!(encode(Key::KeypadEnter, NONE, line), "\r\n");
    let backspace = FRESH | Modes::BACKSPACE_SENDS_BS;
    assert_eq!(encode(Key::Backspace, NONE, backspace), "\x08");
    assert_eq!(encode(Key::Backspace, CTRL, backspace), "\x7f");
    let no_escape = Modes::empty();
    assert_eq!(encode(Key::Char('x'), ALT, no_escape), "x");
    assert_eq!(encode(Key::Backspace, ALT, no_escape), "\x7f");
}

#[test]
fn characters_are_their_text() {
    for (key, text, mods, expected) in [
        ('a', Some("a"), NONE, "a"),
        ('A', Some("A"), SHIFT, "A"),
        ('ä', Some("ä"), NONE, "ä"),
        ('界', Some("界"), NONE, "界"),
        (' ', Some(" "), NONE, " "),
        (' ', Some(" "), SHIFT, " "),
        // AltGr has produced this character, so it does not count as a modifier.
        ('@', Some("@"), NONE, "@"),
        // A dead key before a letter with which it cannot combine: the key event types both characters.
        ('´', Some("´x"), NONE, "´x"),
        // Callers of the control protocols send no text.
        ('ß', None, NONE, "ß"),
        ('ß', Some(""), NONE, "ß"),
        ('a', Some("a"), ALT, "\x1ba"),
        ('A', Some("A"), ALT | SHIFT, "\x1bA"),
        ('ö', Some("ö"), ALT, "\x1bö"),
        (' ', Some(" "), ALT, "\x1b "),
        ('a', Some("a"), SUPER, ""),
        ('c', None, SUPER | CTRL, ""),
    ] {
        let bytes = encode_with(Key::Char(key), None, text, mods, FRESH);
        assert_eq!(bytes, expected, "{key:?} {mods:?}");
    }
}

#[test]
fn ctrl_produces_every_c0_character() {
    let table = [
        ("@ 2`", 0x00),
        ("[3{", 0x1b),
        ("\\4|", 0x1c),
        ("]5}", 0x1d),
        ("^6~", 0x1e),
        ("_7/", 0x1f),
        ("8?", 0x7f),
    ];
    for (keys, byte) in table {
        for key in keys.chars() {
            assert_eq!(encode(Key::Char(key), CTRL, FRESH).as_bytes(), [byte], "{key:?}");
            assert_eq!(encode(Key::Char(key), CTRL | ALT, FRESH).as_bytes(), [0x1b, byte]);
        }
    }
    for (key, byte) in ('a'..='z').zip(1..) {
        for (key, mods) in [(key, CTRL), (key.to_ascii_uppercase(), CTRL | SHIFT)] {
            assert_eq!(encode(Key::Char(key), mods, FRESH).as_bytes(), [byte], "{key:?}");
            assert_eq!(encode(Key::Char(key), mods | ALT, FRESH).as_bytes(), [0x1b, byte]);
        }
    }
    // Ctrl with a character that it does not change types the character.
    for key in "019!\"#$%&'()*+,-.:;<=>".chars() {
        assert_eq!(encode(Key::Char(key), CTRL, FRESH), key.to_string());
    }
}

#[test]
fn ctrl_on_other_layouts() {
    for (key, unshifted, mods, expected) in [
        // On a Cyrillic layout, Ctrl uses the letter at the same position on the base layout.
        ('с', Some('c'), CTRL, "\x03"),
        ('С', Some('c'), CTRL | SHIFT, "\x03"),
        ('с', Some('c'), CTRL | ALT, "\x1b\x03"),
        // An ASCII character is used as it is, whatever the key types without Shift and AltGr.
        ('[', Some('8'), CTRL, "\x1b"),
        ('@', Some('q'), CTRL, "\0"),
        ('2', Some('é'), CTRL | SHIFT, "\0"),
        ('#', Some('3'), CTRL | SHIFT, "#"),
        // Neither the layout nor the base layout has an ASCII character for this key.
        ('é', Some('é'), CTRL, "é"),
        ('é', None, CTRL, "é"),
    ] {
        let bytes = encode_with(Key::Char(key), unshifted, None, mods, FRESH);
        assert_eq!(bytes, expected, "{key:?} {unshifted:?} {mods:?}");
    }
}

#[test]
fn the_keypad_in_both_modes() {
    let app = FRESH | Modes::APP_KEYPAD;
    let mut table: Vec<(Key, char, char)> = (0..10)
        .map(|digit| (Key::KeypadDigit(digit), (b'0' + digit) as char, (b'p' + digit) as char))
        .collect();
    table.extend([
        (Key::KeypadMultiply, '*', 'j'),
        (Key::KeypadAdd, '+', 'k'),
        (Key::KeypadSubtract, '-', 'm'),
        (Key::KeypadDecimal, '.', 'n'),
        (Key::KeypadDivide, '/', 'o'),
        (Key::KeypadEqual, '=', 'X'),
        (Key::KeypadEnter, '\r', 'M'),
    ]);
    for (key, printed, last) in table {
        assert_eq!(encode(key, NONE, FRESH), printed.to_string(), "{key:?}");
        assert_eq!(encode(key, NONE, app), format!("\x1bO{last}"), "{key:?}");
        assert_eq!(encode(key, CTRL, app), format!("\x1bO5{last}"), "{key:?}");
        assert_eq!(encode(key, Modifiers::NUM_LOCK, app), printed.to_string(), "{key:?}");
        assert_eq!(encode(key, ALT, FRESH), format!("\x1b{printed}"), "{key:?}");
    }
}

#[test]
fn num_lock_only_makes_the_keypad_type_digits() {
    let app = FRESH | Modes::APP_KEYPAD;
    // If a keypad digit types its digit, Num Lock was on, even if the platform does not report Num Lock.
    assert_eq!(encode_with(Key::KeypadDigit(5), None, Some("5"), NONE, app), "5");
    assert_eq!(encode_with(Key::KeypadDecimal, None, Some(","), NONE, app), ",");
    assert_eq!(encode_with(Key::KeypadDecimal, None, Some(","), NONE, FRESH), ",");
    // The operator keys of the keypad always type themselves, with or without Num Lock.
    assert_eq!(encode_with(Key::KeypadAdd, None, Some("+"), NONE, app), "\x1bOk");
    assert_eq!(encode(Key::Up, Modifiers::NUM_LOCK, FRESH), "\x1b[A");
    assert_eq!(encode(Key::F(5), Modifiers::NUM_LOCK, FRESH), "\x1b[15~");
    assert_eq!(encode(Key::KeypadDigit(200), NONE, FRESH), "9");
}

#[test]
fn xterm_resources_change_the_form_of_function_keys() {
    let encode = |key, mods, modify_cursor, modify_function, modes| {
        let keyboard = KeyboardMode { modify_cursor, modify_function, ..Default::default() };
        String::from_utf8(encode_key(&KeyEvent::press(key, mods), modes, &keyboard)).unwrap()
    };
    let app = FRESH | Modes::APP_CURSOR;
    for (modify, expected) in
        [(-1, "\x1bOA"), (0, "\x1bO5A"), (1, "\x1b[5A"), (2, "\x1b[1;5A"), (3, "\x1b[>1;5A")]
    {
        assert_eq!(encode(Key::Up, CTRL, modify, 2, app), expected, "modifyCursorKeys {modify}");
        assert_eq!(encode(Key::Up, NONE, modify, 2, app), "\x1bOA");
    }
    for (key, mods, expected) in [
        (Key::F(1), SHIFT, "\x1b[23~"),
        (Key::F(1), CTRL, "\x1b[42~"),
        (Key::F(2), SHIFT | CTRL, "\x1b[53~"),
        (Key::F(5), NONE, "\x1b[15~"),
        (Key::F(250), SHIFT | CTRL, ""),
    ] {
        assert_eq!(encode(key, mods, 2, -1, FRESH), expected, "{key:?} {mods:?}");
    }
}
