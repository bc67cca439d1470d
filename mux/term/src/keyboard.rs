//! Keyboard modes that programs set: the kitty keyboard protocol's stacks of flags, and xterm's modifyOtherKeys family.
//!
//! Owns only the state. Code outside the engine encodes keys as bytes, using a [`KeyboardMode`]. Sources: kitty's
//! "Comprehensive keyboard handling in terminals"; xterm ctlseqs, XTMODKEYS, XTQMODKEYS, XTFMTKEYS, XTQFMTKEYS.

use std::fmt::Write;

use crate::ScreenKind;
use crate::modes::DecModes;
use crate::params::Params;
use crate::term::Term;
use crate::to_vt::Painter;

/// Maximum entries of one screen's stack, including the current flags. If it is full, the oldest entry is dropped.
const STACK_CAP: usize = 32;

bitflags::bitflags! {
    /// Progressive enhancements of the kitty keyboard protocol, with the protocol's numbers.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct KittyFlags: u8 {
        /// Disambiguate escape codes.
        const DISAMBIGUATE = 1;
        /// Report event types: repeats and releases.
        const EVENT_TYPES = 2;
        /// Report alternate keys: the shifted key and the key of the base layout.
        const ALTERNATE_KEYS = 4;
        /// Report all keys as escape codes.
        const ALL_KEYS = 8;
        /// Report associated text.
        const TEXT = 16;
    }
}

/// The keyboard settings that a key encoder needs in addition to the modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyboardMode {
    /// The kitty keyboard protocol's current flags on the visible screen; empty if it is off.
    pub kitty: KittyFlags,
    /// modifyCursorKeys: −1 no modifiers, 0 and 1 without the first parameter, 2 (the default) with it, 3 with `>`.
    pub modify_cursor: i8,
    /// modifyFunctionKeys: same values, except that at −1 Shift and Ctrl produce higher function keys.
    pub modify_function: i8,
    /// modifyOtherKeys: 0 (the default) off, 1 keys without a sequence of their own, 2 all with modifiers, 3 all.
    pub modify_other: i8,
    /// formatOtherKeys: send `CSI code ; modifiers u`, not `CSI 27 ; modifiers ; code ~`.
    pub format_other: bool,
    /// KAM, SM 2: keys are ignored (DEC STD 070; xterm). Pastes and the mouse still work.
    pub locked: bool,
}

impl Default for KeyboardMode {
    fn default() -> Self {
        Keyboard::default().mode(ScreenKind::Main)
    }
}

/// The resources of XTMODKEYS: xterm's number and the initial value.
const RESOURCES: [(u16, i8); 7] = [(0, 0), (1, 2), (2, 2), (3, 0), (4, 0), (6, 0), (7, 0)];

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Keyboard {
    /// For the main and the alternate screen; the last entry of each is current.
    stacks: [Vec<u8>; 2],
    /// Values in the order of [`RESOURCES`].
    modify: [i8; RESOURCES.len()],
    format: [i8; RESOURCES.len()],
}

impl Default for Keyboard {
    fn default() -> Self {
        Self {
            stacks: Default::default(),
            modify: RESOURCES.map(|(_, first)| first),
            format: [0; RESOURCES.len()],
        }
    }
}

impl Keyboard {
    fn mode(&self, screen: ScreenKind) -> KeyboardMode {
        let flags = self.stacks[screen as usize].last().copied().unwrap_or(0);
        KeyboardMode {
            kitty: KittyFlags::from_bits_truncate(flags),
            modify_cursor: self.modify[1],
            modify_function: self.modify[2],
            modify_other: self.modify[4],
            format_other: self.format[4] > 0,
            locked: false,
        }
    }
}

impl Keyboard {
    /// Ends what a command began, given the settings before it. Settings that have their initial values stay.
    pub(crate) fn end(&mut self, before: &Self) {
        for (stack, before) in self.stacks.iter_mut().zip(&before.stacks) {
            match stack.last() {
                None => {}
                Some(0) => stack.truncate(before.len().max(1)),
                Some(_) => stack.clone_from(before),
            }
        }
        let initial = Self::default();
        for at in 0..RESOURCES.len() {
            if self.modify[at] != initial.modify[at] {
                self.modify[at] = before.modify[at];
            }
            if self.format[at] != initial.format[at] {
                self.format[at] = before.format[at];
            }
        }
    }
}

fn resource(number: u16) -> Option<usize> {
    RESOURCES.iter().position(|(own, _)| *own == number)
}

/// The second parameter, `None` if it is absent.
fn value(params: &Params) -> Option<i8> {
    params.values().get(1).map(|&value| value.min(i8::MAX as u16) as i8)
}

impl Term {
    /// The program's keyboard settings.
    pub fn keyboard(&self) -> KeyboardMode {
        let locked = self.dec.contains(DecModes::KEYBOARD_LOCKED);
        KeyboardMode { locked, ..self.keyboard.mode(self.screen) }
    }

    /// Whether input to the program is also displayed as if the program had written it: SRM, RM 12 (DEC STD 070;
    /// xterm).
    pub fn echoes_locally(&self) -> bool {
        !self.dec.contains(DecModes::SEND_RECEIVE)
    }

    fn key_stack(&mut self) -> &mut Vec<u8> {
        &mut self.keyboard.stacks[self.screen as usize]
    }

    /// `CSI > flags u`: pushes new flags.
    pub(crate) fn push_key_flags(&mut self, flags: u16) {
        let stack = &mut self.keyboard.stacks[self.screen as usize];
        if stack.is_empty() {
            // The flags that a pop restores.
            stack.push(0);
        }
        if stack.len() == STACK_CAP {
            self.caps.oldest_dropped("flags of the keyboard", STACK_CAP);
            stack.remove(0);
        }
        stack.push(KittyFlags::from_bits_truncate(flags as u8).bits());
    }

    /// `CSI < count u`: popping the last entry resets all flags.
    pub(crate) fn pop_key_flags(&mut self, count: usize) {
        let stack = self.key_stack();
        stack.truncate(stack.len().saturating_sub(count));
    }

    /// `CSI = flags ; mode u`: mode 1 sets all flags, 2 adds these, 3 removes these.
    pub(crate) fn set_key_flags(&mut self, flags: u16, mode: usize) {
        let flags = KittyFlags::from_bits_truncate(flags as u8);
        let now = self.keyboard().kitty;
        let flags = match mode {
            1 => flags,
            2 => now | flags,
            3 => now - flags,
            _ => return,
        };
        let stack = self.key_stack();
        stack.pop();
        stack.push(flags.bits());
    }

    /// `CSI ? u`.
    pub(crate) fn report_key_flags(&mut self) {
        let flags = self.keyboard().kitty.bits();
        self.reply(format!("\x1b[?{flags}u").as_bytes());
    }

    /// XTMODKEYS: `CSI > resource ; value m`. Without a value, resets the resource; without both, resets all of them.
    pub(crate) fn set_key_modifiers(&mut self, params: &Params) {
        self.set_key_resource(params, true);
    }

    /// XTFMTKEYS: `CSI > resource ; value f`, with the same defaults.
    pub(crate) fn set_key_format(&mut self, params: &Params) {
        self.set_key_resource(params, false);
    }

    fn set_key_resource(&mut self, params: &Params, modify: bool) {
        let first = Keyboard::default();
        let (own, first) = if modify {
            (&mut self.keyboard.modify, first.modify)
        } else {
            (&mut self.keyboard.format, first.format)
        };
        if params.values() == [0] {
            // A missing parameter and a single 0 look the same; xterm's resource 0 is for its older keyboards.
            *own = first;
        } else if let Some(at) = resource(params.get(0)) {
            own[at] = value(params).unwrap_or(first[at]);
        } else {
            tracing::debug!(?params, "unknown keyboard resource");
        }
    }

    /// `CSI > resource n`: sets xterm's value −1. Without a parameter, the resource is modifyFunctionKeys.
    pub(crate) fn disable_key_modifiers(&mut self, number: u16, given: bool) {
        if let Some(at) = resource(if given { number } else { 2 }) {
            self.keyboard.modify[at] = -1;
        }
    }

    /// XTQMODKEYS: replies in the form of XTMODKEYS.
    pub(crate) fn report_key_modifiers(&mut self, number: u16) {
        self.report_key_resource(number, true);
    }

    /// XTQFMTKEYS: replies in the form of XTFMTKEYS.
    pub(crate) fn report_key_format(&mut self, number: u16) {
        self.report_key_resource(number, false);
    }

    fn report_key_resource(&mut self, number: u16, modify: bool) {
        let Some(at) = resource(number) else { return };
        let (value, last) = match modify {
            true => (self.keyboard.modify[at], 'm'),
            false => (self.keyboard.format[at], 'f'),
        };
        // The format has no numbers below 0; xterm omits the value.
        let reply = match value {
            0.. => format!("\x1b[>{number};{value}{last}"),
            _ => format!("\x1b[>{number}{last}"),
        };
        self.reply(reply.as_bytes());
    }

    /// Writes the sequences that rebuild a screen's stack of flags from empty. For [`Term::to_vt`].
    pub(crate) fn write_keyboard_stack(&self, painter: &mut Painter, screen: ScreenKind) {
        for (at, flags) in self.keyboard.stacks[screen as usize].iter().enumerate() {
            match at {
                0 => painter.raw(&format!("\x1b[={flags};1u")),
                _ => painter.raw(&format!("\x1b[>{flags}u")),
            }
        }
    }

    /// Writes the sequences that set xterm's key resources that differ from their initial values.
    pub(crate) fn write_keyboard_resources(&self, out: &mut String) {
        let first = Keyboard::default();
        for (at, (number, _)) in RESOURCES.iter().enumerate() {
            let (modify, format) = (self.keyboard.modify[at], self.keyboard.format[at]);
            let _ = match modify {
                _ if modify == first.modify[at] => Ok(()),
                0.. => write!(out, "\x1b[>{number};{modify}m"),
                // A single 0 would mean resource 2.
                _ if *number == 0 => write!(out, "\x1b[>;n"),
                _ => write!(out, "\x1b[>{number}n"),
            };
            if format != first.format[at] {
                let _ = write!(out, "\x1b[>{number};{format}f");
            }
        }
    }

    /// RIS and DECSTR both reset the keyboard, as in kitty and xterm.
    pub(crate) fn reset_keyboard(&mut self) {
        self.keyboard = Keyboard::default();
    }
}

/// The number in `CSI n ~` for a function key from F5 on: the numbers of a VT220 with its gaps, continued upward.
pub fn function_key_number(key: u32) -> u32 {
    key + match key {
        ..=5 => 10,
        6..=10 => 11,
        11..=14 => 12,
        15..=16 => 13,
        17..=20 => 14,
        _ => 21,
    }
}
