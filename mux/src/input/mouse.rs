//! Mouse events in xterm's five encodings (xterm ctlseqs, "Mouse Tracking"), and the wheel as cursor keys.

use unterm_term::{Modes, MouseEncoding, MouseTracking};

use super::Modifiers;

/// A mouse button. Each direction of the wheel counts as a button.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names of the buttons say it")]
pub enum MouseButton {
    Left,
    Middle,
    Right,
    WheelUp,
    WheelDown,
    WheelLeft,
    WheelRight,
    Back,
    Forward,
}

/// The kind of a mouse event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MouseKind {
    /// A button went down, or the wheel turned one step.
    Press(MouseButton),
    /// A button went up.
    Release(MouseButton),
    /// The pointer moved, with this button down or with no button. The caller sends one event per cell, or one per
    /// pixel with [`MouseEncoding::SgrPixels`], and never repeats a position.
    Motion(Option<MouseButton>),
}

/// A mouse event in a pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MouseEvent {
    /// The kind of the event.
    pub kind: MouseKind,
    /// Modifiers that are down.
    pub modifiers: Modifiers,
    /// Column, from 0.
    pub col: u16,
    /// Row of the live screen, from 0.
    pub row: u16,
    /// Pixels from the grid's left edge. While a button is down, the pointer may leave the grid, so the value may be
    /// negative or larger than the grid. [`MouseEncoding::SgrPixels`] reports such values unchanged, like xterm.
    pub x: i32,
    /// Pixels from the grid's top edge.
    pub y: i32,
}

impl MouseButton {
    /// The button's number in the protocol. Uses bits 0, 1, 6 and 7.
    fn code(self) -> u16 {
        match self {
            MouseButton::Left => 0,
            MouseButton::Middle => 1,
            MouseButton::Right => 2,
            MouseButton::WheelUp => 64,
            MouseButton::WheelDown => 65,
            MouseButton::WheelLeft => 66,
            MouseButton::WheelRight => 67,
            MouseButton::Back => 128,
            MouseButton::Forward => 129,
        }
    }

    fn is_wheel(self) -> bool {
        (64..128).contains(&self.code())
    }
}

/// The button number of a motion without a button, and of a release if the encoding does not report which button.
const NO_BUTTON: u16 = 3;
/// Added to the button number if the pointer moved.
const MOTION: u16 = 32;

/// The bytes of a mouse event. `None` if the program did not request such events, or the encoding cannot express the
/// position.
pub fn encode_mouse(
    event: &MouseEvent,
    tracking: MouseTracking,
    encoding: MouseEncoding,
) -> Option<Vec<u8>> {
    let is_sgr = matches!(encoding, MouseEncoding::Sgr | MouseEncoding::SgrPixels);
    let (mut button, is_release) = match event.kind {
        MouseKind::Press(button) => (button.code(), false),
        // The wheel has no release event.
        MouseKind::Release(button) if button.is_wheel() => return None,
        MouseKind::Release(button) => (if is_sgr { button.code() } else { NO_BUTTON }, true),
        MouseKind::Motion(button) => (button.map_or(NO_BUTTON, MouseButton::code) + MOTION, false),
    };
    let is_wanted = match (tracking, event.kind) {
        (MouseTracking::Off, _) => false,
        (MouseTracking::Press, MouseKind::Press(_)) => button < NO_BUTTON,
        (MouseTracking::Press, _) => false,
        (MouseTracking::Click, kind) => !matches!(kind, MouseKind::Motion(_)),
        (MouseTracking::Drag, kind) => kind != MouseKind::Motion(None),
        (MouseTracking::Motion, _) => true,
    };
    if !is_wanted {
        return None;
    }
    if tracking != MouseTracking::Press {
        for (modifier, bit) in [(Modifiers::SHIFT, 4), (Modifiers::ALT, 8), (Modifiers::CTRL, 16)] {
            button |= if event.modifiers.contains(modifier) { bit } else { 0 };
        }
    }
    let (col, row) = (u32::from(event.col) + 1, u32::from(event.row) + 1);
    let last = if is_release { 'm' } else { 'M' };
    match encoding {
        MouseEncoding::Legacy => {
            let byte = |value: u32| u8::try_from(value + 32).ok();
            Some(vec![0x1b, b'[', b'M', byte(button.into())?, byte(col)?, byte(row)?])
        }
        MouseEncoding::Utf8 => {
            // This encoding uses UTF-8 characters of at most two bytes.
            let char = |value: u32| char::from_u32(value + 32).filter(|char| *char < '\u{800}');
            let mut out = String::from("\x1b[M");
            out.extend([char(button.into())?, char(col)?, char(row)?]);
            Some(out.into_bytes())
        }
        MouseEncoding::Sgr => Some(format!("\x1b[<{button};{col};{row}{last}").into_bytes()),
        MouseEncoding::Urxvt => Some(format!("\x1b[{};{col};{row}M", button + 32).into_bytes()),
        MouseEncoding::SgrPixels => {
            let (x, y) = (event.x.saturating_add(1), event.y.saturating_add(1));
            Some(format!("\x1b[<{button};{x};{y}{last}").into_bytes())
        }
    }
}

/// Encodes wheel steps as cursor keys (mode 1007): `lines` is positive for up and negative for down. `None` if the
/// modes do not request this; the wheel then scrolls the history. Call it only if the program does not track the mouse.
pub fn encode_alternate_scroll(lines: i32, modes: Modes) -> Option<Vec<u8>> {
    if !modes.contains(Modes::ALT_SCREEN | Modes::ALTERNATE_SCROLL) {
        return None;
    }
    let key: &[u8] = match (modes.contains(Modes::APP_CURSOR), lines > 0) {
        (true, true) => b"\x1bOA",
        (true, false) => b"\x1bOB",
        (false, true) => b"\x1b[A",
        (false, false) => b"\x1b[B",
    };
    // Limit the count: only a faulty device reports more lines at once.
    Some(key.repeat(lines.unsigned_abs().min(1000) as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: MouseKind, modifiers: Modifiers) -> MouseEvent {
        MouseEvent { kind, modifiers, col: 4, row: 9, x: 44, y: 199 }
    }

    fn check(kind: MouseKind, mods: Modifiers, tracking: MouseTracking, expected: [&str; 5]) {
        use MouseEncoding::*;
        for (encoding, expected) in [Legacy, Utf8, Sgr, Urxvt, SgrPixels].into_iter().zip(expected)
        {
            let bytes = encode_mouse(&event(kind, mods), tracking, encoding).unwrap();
            let shown: String = bytes.iter().map(|byte| *byte as char).collect();
            assert_eq!(shown, expected, "{kind:?} {encoding:?}");
        }
    }

    #[test]
    fn every_button_in_every_encoding() {
        use MouseButton::*;
        use MouseKind::*;
        let none = Modifiers::empty();
        let click = MouseTracking::Click;
        let table = [
            (
                Press(Left),
                ["\x1b[M %*", "\x1b[M %*", "\x1b[<0;5;10M", "\x1b[32;5;10M", "\x1b[<0;45;200M"],
            ),
            (
                Press(Middle),
                ["\x1b[M!%*", "\x1b[M!%*", "\x1b[<1;5;10M", "\x1b[33;5;10M", "\x1b[<1;45;200M"],
            ),
            (
                Press(Right),
                ["\x1b[M\"%*", "\x1b[M\"%*", "\x1b[<2;5;10M", "\x1b[34;5;10M", "\x1b[<2;45;200M"],
            ),
            (
                Release(Left),
                ["\x1b[M#%*", "\x1b[M#%*", "\x1b[<0;5;10m", "\x1b[35;5;10M", "\x1b[<0;45;200m"],
            ),
            (
                Release(Right),
                ["\x1b[M#%*", "\x1b[M#%*", "\x1b[<2;5;10m", "\x1b[35;5;10M", "\x1b[<2;45;200m"],
            ),
            (
                Press(WheelUp),
                ["\x1b[M`%*", "\x1b[M`%*", "\x1b[<64;5;10M", "\x1b[96;5;10M", "\x1b[<64;45;200M"],
            ),
            (
                Press(WheelDown),
                ["\x1b[Ma%*", "\x1b[Ma%*", "\x1b[<65;5;10M", "\x1b[97;5;10M", "\x1b[<65;45;200M"],
            ),
            (
                Press(WheelLeft),
                ["\x1b[Mb%*", "\x1b[Mb%*", "\x1b[<66;5;10M", "\x1b[98;5;10M", "\x1b[<66;45;200M"],
            ),
            (
                Press(WheelRight),
                ["\x1b[Mc%*", "\x1b[Mc%*", "\x1b[<67;5;10M", "\x1b[99;5;10M", "\x1b[<67;45;200M"],
            ),
            (
                Press(Back),
                [
                    "\x1b[M\u{a0}%*",
                    "\x1b[M\u{c2}\u{a0}%*",
                    "\x1b[<128;5;10M",
                    "\x1b[160;5;10M",
                    "\x1b[<128;45;200M",
                ],
            ),
            (
                Press(Forward),
                [
                    "\x1b[M\u{a1}%*",
                    "\x1b[M\u{c2}\u{a1}%*",
                    "\x1b[<129;5;10M",
                    "\x1b[161;5;10M",
                    "\x1b[<129;45;200M",
                ],
            ),
            (
                Release(Back),
                ["\x1b[M#%*", "\x1b[M#%*", "\x1b[<128;5;10m", "\x1b[35;5;10M", "\x1b[<128;45;200m"],
            ),
        ];
        for (kind, expected) in table {
            check(kind, none, click, expected);
        }
        check(
            Motion(Some(Left)),
            none,
            MouseTracking::Drag,
            ["\x1b[M@%*", "\x1b[M@%*", "\x1b[<32;5;10M", "\x1b[64;5;10M", "\x1b[<32;45;200M"],
        );
        check(
            Motion(None),
            none,
            MouseTracking::Motion,
            ["\x1b[MC%*", "\x1b[MC%*", "\x1b[<35;5;10M", "\x1b[67;5;10M", "\x1b[<35;45;200M"],
        );
    }

    #[test]
    fn modifiers_are_bits_of_the_button() {
        for (mods, code) in [
            (Modifiers::SHIFT, 4),
            (Modifiers::ALT, 8),
            (Modifiers::CTRL, 16),
            (Modifiers::SHIFT | Modifiers::ALT | Modifiers::CTRL, 28),
            (Modifiers::SUPER | Modifiers::NUM_LOCK, 0),
        ] {
            let event = event(MouseKind::Press(MouseButton::Left), mods);
            let bytes = encode_mouse(&event, MouseTracking::Click, MouseEncoding::Sgr);
            assert_eq!(bytes, Some(format!("\x1b[<{code};5;10M").into_bytes()));
            // X10 mouse tracking reports no modifiers.
            let bytes = encode_mouse(&event, MouseTracking::Press, MouseEncoding::Sgr);
            assert_eq!(bytes, Some(b"\x1b[<0;5;10M".to_vec()));
        }
    }

    #[test]
    fn only_requested_events_are_reported() {
        use MouseButton::*;
        use MouseKind::*;
        use MouseTracking as T;
        let kinds = [Press(Left), Press(WheelUp), Release(Left), Motion(Some(Left)), Motion(None)];
        for (tracking, told) in [
            (T::Off, [false, false, false, false, false]),
            (T::Press, [true, false, false, false, false]),
            (T::Click, [true, true, true, false, false]),
            (T::Drag, [true, true, true, true, false]),
            (T::Motion, [true, true, true, true, true]),
        ] {
            for (kind, told) in kinds.into_iter().zip(told) {
                let event = event(kind, Modifiers::empty());
                let bytes = encode_mouse(&event, tracking, MouseEncoding::Sgr);
                assert_eq!(bytes.is_some(), told, "{tracking:?} {kind:?}");
            }
        }
        let wheel_back = event(Release(WheelUp), Modifiers::empty());
        assert_eq!(encode_mouse(&wheel_back, T::Motion, MouseEncoding::Sgr), None);
    }

    #[test]
    fn a_position_beyond_the_encodings_limit_is_not_reported() {
        let at = |col, encoding| {
            let event = MouseEvent {
                col,
                ..event(MouseKind::Press(MouseButton::Left), Modifiers::empty())
            };
            encode_mouse(&event, MouseTracking::Click, encoding)
        };
        assert_eq!(at(222, MouseEncoding::Legacy), Some(b"\x1b[M \xff*".to_vec()));
        assert_eq!(at(223, MouseEncoding::Legacy), None);
        assert_eq!(at(94, MouseEncoding::Utf8), Some(b"\x1b[M \x7f*".to_vec()));
        assert_eq!(at(95, MouseEncoding::Utf8), Some(b"\x1b[M \xc2\x80*".to_vec()));
        assert_eq!(at(2014, MouseEncoding::Utf8), Some(b"\x1b[M \xdf\xbf*".to_vec()));
        assert_eq!(at(2015, MouseEncoding::Utf8), None);
        assert_eq!(at(u16::MAX, MouseEncoding::Sgr), Some(b"\x1b[<0;65536;10M".to_vec()));
    }

    #[test]
    fn pixels_outside_the_grid_are_reported_as_they_are() {
        let at = |x, y, encoding| {
            let kind = MouseKind::Motion(Some(MouseButton::Left));
            let event = MouseEvent { x, y, ..event(kind, Modifiers::empty()) };
            encode_mouse(&event, MouseTracking::Drag, encoding).unwrap()
        };
        for (x, y, expected) in [
            (0, 0, "\x1b[<32;1;1M"),
            (-1, -1, "\x1b[<32;0;0M"),
            (-20, 7, "\x1b[<32;-19;8M"),
            (5000, -300, "\x1b[<32;5001;-299M"),
            (i32::MAX, i32::MIN, "\x1b[<32;2147483647;-2147483647M"),
        ] {
            assert_eq!(at(x, y, MouseEncoding::SgrPixels), expected.as_bytes(), "{x} {y}");
            // Positions in cells are limited to the grid.
            assert_eq!(at(x, y, MouseEncoding::Sgr), b"\x1b[<32;5;10M");
        }
    }

    #[test]
    fn the_wheel_is_cursor_keys_on_the_alternate_screen() {
        let asked = Modes::ALT_SCREEN | Modes::ALTERNATE_SCROLL;
        assert_eq!(encode_alternate_scroll(2, asked), Some(b"\x1b[A\x1b[A".to_vec()));
        assert_eq!(encode_alternate_scroll(-1, asked), Some(b"\x1b[B".to_vec()));
        let app = asked | Modes::APP_CURSOR;
        assert_eq!(encode_alternate_scroll(1, app), Some(b"\x1bOA".to_vec()));
        assert_eq!(encode_alternate_scroll(-2, app), Some(b"\x1bOB\x1bOB".to_vec()));
        assert_eq!(encode_alternate_scroll(1, Modes::ALT_SCREEN), None);
        assert_eq!(encode_alternate_scroll(1, Modes::ALTERNATE_SCROLL), None);
        assert_eq!(encode_alternate_scroll(i32::MIN, asked).map(|bytes| bytes.len()), Some(3000));
    }
}
