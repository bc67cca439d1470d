//! Tests each section of the [kitty keyboard protocol](https://sw.kovidgoyal.net/kitty/keyboard-protocol/).

use super::*;
use unterm_term::KittyFlags;

const D: u8 = KittyFlags::DISAMBIGUATE.bits();
const EVENTS: u8 = KittyFlags::EVENT_TYPES.bits();
const ALTERNATE: u8 = KittyFlags::ALTERNATE_KEYS.bits();
const ALL: u8 = KittyFlags::ALL_KEYS.bits();
const TEXT: u8 = KittyFlags::TEXT.bits();
const LOCKS: Modifiers = Modifiers::LOCKS;

#[track_caller]
fn check(flags: u8, event: KeyEvent<'_>, expected: &str) {
    let keyboard =
        KeyboardMode { kitty: KittyFlags::from_bits_truncate(flags), ..Default::default() };
    let bytes = encode_key(&event, FRESH | Modes::APP_CURSOR, &keyboard);
    assert_eq!(String::from_utf8(bytes).unwrap(), expected, "{flags:#b} {event:?}");
}

fn key(key: Key, modifiers: Modifiers) -> KeyEvent<'static> {
    KeyEvent::press(key, modifiers)
}

/// A letter as a platform reports it, with its text unless a modifier removes it.
fn letter(c: char, modifiers: Modifiers, text: &str) -> KeyEvent<'_> {
    let unshifted = c.to_lowercase().next();
    let text = Some(text);
    KeyEvent { unshifted, base: unshifted, text, ..KeyEvent::press(Key::Char(c), modifiers) }
}

fn released(event: KeyEvent<'_>) -> KeyEvent<'_> {
    KeyEvent { action: KeyAction::Release, ..event }
}

fn repeated(event: KeyEvent<'_>) -> KeyEvent<'_> {
    KeyEvent { action: KeyAction::Repeat, ..event }
}

#[test]
fn disambiguate() {
    check(D, letter('a', NONE, "a"), "a");
    check(D, letter('A', SHIFT, "A"), "A");
    check(D, letter('A', Modifiers::CAPS_LOCK, "A"), "A");
    check(D, letter('a', CTRL, "a"), "\x1b[97;5u");
    check(D, letter('A', CTRL | SHIFT, "A"), "\x1b[97;6u");
    check(D, letter('a', ALT, "a"), "\x1b[97;3u");
    check(D, letter('A', ALT | SHIFT, "A"), "\x1b[97;4u");
    check(D, letter('a', SUPER, "a"), "\x1b[97;9u");
    check(D, letter('a', Modifiers::HYPER | Modifiers::META, "a"), "\x1b[97;49u");
    check(D, letter(' ', CTRL, " "), "\x1b[32;5u");
    check(D, letter('[', ALT, "["), "\x1b[91;3u");
    check(D, letter('ä', CTRL, "ä"), "\x1b[228;5u");
    check(D, key(Key::Escape, NONE), "\x1b[27u");
    check(D, key(Key::Escape, SHIFT), "\x1b[27;2u");
    check(D, key(Key::Up, NONE), "\x1b[A");
    check(D, key(Key::Up, CTRL), "\x1b[1;5A");
    check(D, key(Key::F(1), NONE), "\x1b[P");
    check(D, key(Key::F(3), NONE), "\x1b[13~");
    check(D, key(Key::F(3), SHIFT), "\x1b[13;2~");
    check(D, key(Key::F(12), LOCKS), "\x1b[24;193~");
    check(D, key(Key::F(13), NONE), "\x1b[57376u");
    check(D, key(Key::F(35), NONE), "\x1b[57398u");
    check(D, key(Key::KeypadPageUp, CTRL), "\x1b[57421;5u");
    check(D, key(Key::KeypadBegin, NONE), "\x1b[E");
    check(D, key(Key::KeypadDigit(7), NONE), "\x1b[57406u");
    check(D, KeyEvent { text: Some("7"), ..key(Key::KeypadDigit(7), Modifiers::NUM_LOCK) }, "7");
    check(D, key(Key::Menu, NONE), "\x1b[57363u");
    check(D, key(Key::MediaPlayPause, NONE), "\x1b[57430u");
}

#[test]
fn reset_can_always_be_typed() {
    for flags in [D, D | EVENTS, D | EVENTS | ALTERNATE, EVENTS] {
        for (k, byte) in [(Key::Enter, "\r"), (Key::Tab, "\t"), (Key::Backspace, "\x7f")] {
            check(flags, key(k, NONE), byte);
            check(flags, key(k, LOCKS), byte);
            check(flags, repeated(key(k, NONE)), byte);
            check(flags, released(key(k, LOCKS)), "");
        }
    }
    check(D, key(Key::Enter, SHIFT), "\x1b[13;2u");
    check(D, key(Key::Tab, SHIFT), "\x1b[9;2u");
    check(D, key(Key::Backspace, CTRL), "\x1b[127;5u");
}

#[test]
fn event_types() {
    check(D, released(letter('a', CTRL, "a")), "");
    check(D, repeated(letter('a', CTRL, "a")), "\x1b[97;5u");
    let flags = D | EVENTS;
    check(flags, letter('a', NONE, "a"), "a");
    check(flags, repeated(letter('a', NONE, "a")), "a");
    check(flags, released(letter('a', NONE, "a")), "\x1b[97;1:3u");
    check(flags, repeated(letter('a', CTRL, "a")), "\x1b[97;5:2u");
    check(flags, released(key(Key::Up, NONE)), "\x1b[1;1:3A");
    check(flags, repeated(key(Key::PageUp, NONE)), "\x1b[5;1:2~");
    check(flags, released(key(Key::Escape, SHIFT)), "\x1b[27;2:3u");
    // Without the flag for disambiguation, presses keep their legacy encoding.
    check(EVENTS, letter('a', CTRL, "a"), "\x01");
    check(EVENTS, released(letter('a', CTRL, "a")), "\x1b[97;5:3u");
    check(EVENTS, key(Key::Up, NONE), "\x1b[A");
}

#[test]
fn alternate_keys() {
    let flags = D | ALTERNATE;
    check(flags, letter('a', CTRL, "a"), "\x1b[97;5u");
    check(flags, letter('A', CTRL | SHIFT, "A"), "\x1b[97:65;6u");
    check(flags, letter('a', NONE, "a"), "a");
    let cyrillic =
        KeyEvent { unshifted: Some('с'), base: Some('c'), ..key(Key::Char('с'), CTRL) };
    check(flags, cyrillic, "\x1b[1089::99;5u");
    let shifted = KeyEvent { key: Key::Char('С'), modifiers: CTRL | SHIFT, ..cyrillic };
    check(flags, shifted, "\x1b[1089:1057:99;6u");
    let german_z = KeyEvent { unshifted: Some('z'), base: Some('y'), ..key(Key::Char('z'), ALT) };
    check(flags, german_z, "\x1b[122::121;3u");
    check(D, german_z, "\x1b[122;3u");
    let plus = KeyEvent { unshifted: Some('='), ..key(Key::Char('+'), CTRL | SHIFT) };
    check(flags, plus, "\x1b[61:43;6u");
    // The flag for alternate keys changes existing escape codes, but does not add escape codes.
    check(ALTERNATE, letter('a', CTRL, "a"), "\x01");
    check(flags, key(Key::Up, SHIFT), "\x1b[1;2A");
}

#[test]
fn all_keys_as_escape_codes() {
    check(ALL, letter('a', NONE, "a"), "\x1b[97u");
    check(ALL, letter('A', SHIFT, "A"), "\x1b[97;2u");
    check(ALL, letter('A', Modifiers::CAPS_LOCK, "A"), "\x1b[97;65u");
    check(ALL, repeated(letter('a', NONE, "a")), "\x1b[97u");
    check(ALL, key(Key::Enter, NONE), "\x1b[13u");
    check(ALL, key(Key::Tab, NONE), "\x1b[9u");
    check(ALL, key(Key::Backspace, NONE), "\x1b[127u");
    check(ALL | EVENTS, released(key(Key::Enter, NONE)), "\x1b[13;1:3u");
    check(ALL, key(Key::KeypadDigit(0), NONE), "\x1b[57399u");
}

#[test]
fn modifier_keys_are_reported_with_all_keys() {
    let left = Key::Modifier(ModifierKey::Shift, Side::Left);
    let right = Key::Modifier(ModifierKey::Control, Side::Right);
    check(D | EVENTS, key(left, SHIFT), "");
    check(ALL, key(left, SHIFT), "\x1b[57441;2u");
    check(ALL, key(right, CTRL), "\x1b[57448;5u");
    check(ALL | EVENTS, released(key(left, NONE)), "\x1b[57441;1:3u");
    check(ALL, key(Key::Modifier(ModifierKey::Meta, Side::Right), NONE), "\x1b[57452u");
    check(ALL, key(Key::Modifier(ModifierKey::Level3, Side::Right), NONE), "\x1b[57453u");
    check(ALL, key(Key::Modifier(ModifierKey::Level5, Side::Left), NONE), "\x1b[57454u");
    check(ALL, key(Key::CapsLock, Modifiers::CAPS_LOCK), "\x1b[57358;65u");
}

#[test]
fn associated_text() {
    let flags = ALL | TEXT;
    check(flags, letter('a', NONE, "a"), "\x1b[97;;97u");
    check(flags, letter('A', SHIFT, "A"), "\x1b[97;2;65u");
    check(flags, letter('x', NONE, "´x"), "\x1b[120;;180:120u");
    check(flags | EVENTS, repeated(letter('a', NONE, "a")), "\x1b[97;1:2;97u");
    check(flags | EVENTS, released(letter('a', NONE, "a")), "\x1b[97;1:3u");
    check(flags, letter('a', CTRL, "a"), "\x1b[97;5u");
    check(flags, KeyEvent { text: Some("\r"), ..key(Key::Enter, NONE) }, "\x1b[13u");
    check(flags, KeyEvent { text: Some("5"), ..key(Key::KeypadDigit(5), NONE) }, "\x1b[57404;;53u");
    // The flag for text has an effect only together with the flag that reports all keys.
    check(D | TEXT, letter('a', NONE, "a"), "a");
}

#[test]
fn text_without_a_key() {
    let keyboard =
        |flags| KeyboardMode { kitty: KittyFlags::from_bits_truncate(flags), ..Default::default() };
    assert_eq!(encode_text("你好", &keyboard(D)), "你好".as_bytes());
    assert_eq!(encode_text("你好", &keyboard(ALL)), "你好".as_bytes());
    assert_eq!(encode_text("你好", &keyboard(ALL | TEXT)), b"\x1b[0;;20320:22909u");
}
