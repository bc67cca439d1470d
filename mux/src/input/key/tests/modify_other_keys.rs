//! The output of xterm with modifyOtherKeys.

use unterm_term::{KittyFlags, Parser, Size, Term};

use super::*;

fn encode(level: i8, format_other: bool, key: Key, mods: Modifiers) -> String {
    let keyboard = KeyboardMode { modify_other: level, format_other, ..Default::default() };
    let event = match key {
        Key::Char(c) => {
            KeyEvent { unshifted: c.to_lowercase().next(), ..KeyEvent::press(Key::Char(c), mods) }
        }
        key => KeyEvent::press(key, mods),
    };
    String::from_utf8(encode_key(&event, FRESH, &keyboard)).unwrap()
}

#[test]
fn level_1_reports_keys_without_a_legacy_sequence() {
    for (key, mods, expected) in [
        (Key::Char('a'), NONE, "a"),
        (Key::Char('A'), SHIFT, "A"),
        (Key::Char('a'), CTRL, "\x01"),
        (Key::Char('A'), CTRL | SHIFT, "\x01"),
        (Key::Char('@'), CTRL | SHIFT, "\0"),
        (Key::Char('?'), CTRL | SHIFT, "\x1b[27;6;63~"),
        (Key::Char('a'), ALT, "\x1ba"),
        (Key::Char('1'), CTRL, "\x1b[27;5;49~"),
        (Key::Char('2'), CTRL, "\0"),
        (Key::Char(';'), CTRL, "\x1b[27;5;59~"),
        (Key::Char(' '), CTRL, "\0"),
        (Key::Tab, NONE, "\t"),
        (Key::Tab, SHIFT, "\x1b[Z"),
        (Key::Tab, CTRL, "\x1b[27;5;9~"),
        (Key::Enter, SHIFT, "\x1b[27;2;13~"),
        (Key::Enter, CTRL, "\x1b[27;5;13~"),
        (Key::Escape, SHIFT, "\x1b"),
        (Key::Backspace, CTRL, "\x08"),
        (Key::Up, CTRL, "\x1b[1;5A"),
    ] {
        assert_eq!(encode(1, false, key, mods), expected, "{key:?} {mods:?}");
    }
}

#[test]
fn level_2_reports_all_keys_with_modifiers() {
    for (key, mods, expected) in [
        (Key::Char('a'), NONE, "a"),
        (Key::Char('!'), SHIFT, "!"),
        (Key::Char('a'), CTRL, "\x1b[27;5;97~"),
        (Key::Char('a'), ALT, "\x1b[27;3;97~"),
        (Key::Char('A'), CTRL | SHIFT, "\x1b[27;6;65~"),
        (Key::Char(' '), SHIFT, "\x1b[27;2;32~"),
        (Key::Char(' '), CTRL, "\x1b[27;5;32~"),
        (Key::Tab, SHIFT, "\x1b[Z"),
        (Key::Tab, CTRL | SHIFT, "\x1b[27;6;9~"),
        (Key::Char('A'), SHIFT, "\x1b[27;2;65~"),
        (Key::Tab, CTRL, "\x1b[27;5;9~"),
        (Key::Enter, NONE, "\r"),
        (Key::Enter, ALT, "\x1b[27;3;13~"),
        (Key::Escape, NONE, "\x1b"),
        (Key::Escape, CTRL, "\x1b[27;5;27~"),
        (Key::Backspace, CTRL, "\x08"),
        (Key::Backspace, SHIFT, "\x1b[27;2;127~"),
        (Key::Up, CTRL, "\x1b[1;5A"),
    ] {
        assert_eq!(encode(2, false, key, mods), expected, "{key:?} {mods:?}");
    }
}

#[test]
fn level_3_reports_every_other_key() {
    assert_eq!(encode(3, false, Key::Char('a'), NONE), "\x1b[27;1;97~");
    assert_eq!(encode(3, false, Key::Enter, NONE), "\x1b[27;1;13~");
    assert_eq!(encode(3, false, Key::Up, NONE), "\x1b[A");
}

#[test]
fn format_1_puts_the_key_first() {
    assert_eq!(encode(2, true, Key::Char('a'), CTRL), "\x1b[97;5u");
    assert_eq!(encode(1, true, Key::Tab, CTRL), "\x1b[9;5u");
}

#[test]
fn a_locked_keyboard_sends_nothing() {
    let mut term = Term::new(Size::cells(10, 4), Default::default());
    let mut parser = Parser::new();
    for (mode, sends) in [("\x1b[2h", false), ("\x1b[2l", true), ("\x1b[2h\x1b[!p", true)] {
        parser.advance(&mut term, mode.as_bytes());
        let (modes, keyboard) = (term.modes(), term.keyboard());
        for kitty in [KittyFlags::empty(), KittyFlags::all()] {
            let keyboard = KeyboardMode { kitty, ..keyboard };
            let event = KeyEvent::press(Key::Up, NONE);
            assert_eq!(!encode_key(&event, modes, &keyboard).is_empty(), sends, "{mode:?}");
            assert_eq!(!encode_text("a", &keyboard).is_empty(), sends, "{mode:?}");
        }
    }
}
