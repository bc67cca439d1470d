//! Keyboard modes that programs set: the kitty keyboard protocol's stacks of flags, and xterm's modifyOtherKeys family.
//!
//! Owns only the state. Code outside the engine encodes keys as bytes, according to a [`KeyboardMode`]. Sources:
//! kitty's "Comprehensive keyboard handling in terminals"; xterm ctlseqs, XTMODKEYS, XTQMODKEYS, XTFMTKEYS, XTQFMTKEYS.

use std::fmt::Write;

use crate::ScreenKind;
use crate::params::Params;
use crate::term::Term;
use crate::term::painter::Painter;
use crate::term::settings::modes::DecModes;

/// The maximum number of entries in one screen's stack, including the current flags. If the stack is full, the oldest
/// entry is dropped.
const STACK_CAP: usize = 32;

bitflags::bitflags! {
    /// The flags of the kitty keyboard protocol ("progressive enhancement"), with the protocol's numbers.
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
    /// The flags of the kitty keyboard protocol that apply on the visible screen. Empty if the protocol is off.
    pub kitty: KittyFlags,
    /// modifyCursorKeys: −1 sends no modifiers, 0 and 1 omit the first parameter, 2 (the default) sends it, 3 also
    /// sends `>`.
    pub modify_cursor: i8,
    /// modifyFunctionKeys: the values have the same meaning as in modifyCursorKeys, except that at −1 Shift and Ctrl
    /// produce higher function keys.
    pub modify_function: i8,
    /// modifyOtherKeys: 0 (the default) is off, 1 affects keys without a sequence of their own, 2 all keys with
    /// modifiers, 3 all keys.
    pub modify_other: i8,
    /// formatOtherKeys: whether keys are sent as `CSI code ; modifiers u` instead of `CSI 27 ; modifiers ; code ~`.
    pub format_other: bool,
    /// KAM (SM 2): whether keys are ignored (DEC STD 070; xterm). Pastes and the mouse still work.
    pub locked: bool,
}

impl Default for KeyboardMode {
    fn default() -> Self {
        Keyboard::default().mode(ScreenKind::Main)
    }
}

/// The resources of XTMODKEYS. For each: its number in xterm, and its initial value.
const RESOURCES: [(u16, i8); 7] = [(0, 0), (1, 2), (2, 2), (3, 0), (4, 0), (6, 0), (7, 0)];

/// The keyboard settings of a terminal. See the module.
#[derive(Clone, Debug)]
pub(crate) struct Keyboard {
    /// The stacks of flags for the main and the alternate screen. The last entry of each stack applies.
    stacks: [Vec<u8>; 2],
    /// The values of the resources, in the order of [`RESOURCES`].
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
    /// Reverts the settings that a command changed, given the settings `before` it. A setting that has its initial
    /// value now is not changed.
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

/// The second parameter. `None` if it is missing.
fn value(params: &Params) -> Option<i8> {
    params.values().get(1).map(|&value| value.min(i8::MAX as u16) as i8)
}

impl Term {
    /// The program's keyboard settings.
    pub fn keyboard(&self) -> KeyboardMode {
        let locked = self.dec.contains(DecModes::KEYBOARD_LOCKED);
        KeyboardMode { locked, ..self.keyboard.mode(self.screen) }
    }

    /// Whether the terminal itself displays input to the program, as if the program had written it: SRM, RM 12 (DEC STD
    /// 070; xterm).
    pub fn echoes_locally(&self) -> bool {
        !self.dec.contains(DecModes::SEND_RECEIVE)
    }

    fn key_stack(&mut self) -> &mut Vec<u8> {
        &mut self.keyboard.stacks[self.screen as usize]
    }

    /// `CSI > flags u`: pushes new flags onto the stack.
    pub(crate) fn push_key_flags(&mut self, flags: u16) {
        let stack = &mut self.keyboard.stacks[self.screen as usize];
        if stack.is_empty() {
            // Add the flags that a later pop restores: none.
            stack.push(0);
        }
        if stack.len() == STACK_CAP {
            self.caps.oldest_dropped("flags of the keyboard", STACK_CAP);
            stack.remove(0);
        }
        stack.push(KittyFlags::from_bits_truncate(flags as u8).bits());
    }

    /// `CSI < count u`: pops entries. Popping the last entry resets all flags.
    pub(crate) fn pop_key_flags(&mut self, count: usize) {
        let stack = self.key_stack();
        stack.truncate(stack.len().saturating_sub(count));
    }

    /// `CSI = flags ; mode u`: mode 1 replaces all flags, 2 adds these flags, 3 removes these flags.
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

    /// `CSI ? u`: reports the current flags.
    pub(crate) fn report_key_flags(&mut self) {
        let flags = self.keyboard().kitty.bits();
        self.reply(format!("\x1b[?{flags}u").as_bytes());
    }

    /// XTMODKEYS: `CSI > resource ; value m`. Without a value, resets the resource. Without both parameters, resets all
    /// resources.
    pub(crate) fn set_key_modifiers(&mut self, params: &Params) {
        self.set_key_resource(params, true);
    }

    /// XTFMTKEYS: `CSI > resource ; value f`. Missing parameters have the same meaning as in XTMODKEYS.
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
            // A missing parameter and a single 0 look the same, so both reset all. Resource 0 of xterm concerns its
            // older keyboards.
            *own = first;
        } else if let Some(at) = resource(params.get(0)) {
            own[at] = value(params).unwrap_or(first[at]);
        } else {
            tracing::debug!(?params, "unknown keyboard resource");
        }
    }

    /// `CSI > resource n`: sets the resource to xterm's value −1. Without a parameter, the resource is
    /// modifyFunctionKeys.
    pub(crate) fn disable_key_modifiers(&mut self, number: u16, given: bool) {
        if let Some(at) = resource(if given { number } else { 2 }) {
            self.keyboard.modify[at] = -1;
        }
    }

    /// XTQMODKEYS: reports a resource in the form of XTMODKEYS.
    pub(crate) fn report_key_modifiers(&mut self, number: u16) {
        self.report_key_resource(number, true);
    }

    /// XTQFMTKEYS: reports a resource in the form of XTFMTKEYS.
    pub(crate) fn report_key_format(&mut self, number: u16) {
        self.report_key_resource(number, false);
    }

    fn report_key_resource(&mut self, number: u16, modify: bool) {
        if let Some(setting) = self.key_resource(number, modify) {
            self.reply_text(format!("\x1b[{setting}"));
        }
    }

    /// The parameters and the final byte of the XTMODKEYS (`modify`) or XTFMTKEYS that sets a resource to its current
    /// value.
    pub(crate) fn key_resource(&self, number: u16, modify: bool) -> Option<String> {
        let at = resource(number)?;
        let (value, last) = match modify {
            true => (self.keyboard.modify[at], 'm'),
            false => (self.keyboard.format[at], 'f'),
        };
        // The format cannot express numbers below 0, so xterm omits the value.
        Some(match value {
            0.. => format!(">{number};{value}{last}"),
            _ => format!(">{number}{last}"),
        })
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
                // Omit the number: a single 0 would mean resource 2.
                _ if *number == 0 => write!(out, "\x1b[>;n"),
                _ => write!(out, "\x1b[>{number}n"),
            };
            if format != first.format[at] {
                let _ = write!(out, "\x1b[>{number};{format}f");
            }
        }
    }

    /// Resets the keyboard. Both RIS and DECSTR do so, as in kitty and xterm.
    pub(crate) fn reset_keyboard(&mut self) {
        self.keyboard = Keyboard::default();
    }
}

/// The number in `CSI n ~` for a function key from F5 on. The numbers are those of a VT220 with its gaps, continued
/// beyond F20.
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
