//! Reverts what a command began and did not end: the alternate screen, mouse tracking, keyboard modes, the cursor's
//! shape.
//!
//! Records the state when a command starts. When the shell is back, it reverts what differs from that state. Both
//! happen only at marks with the terminal's own nonce ([`crate::commands`]), so output cannot cause them. A setting
//! that has its initial value after the command is not changed: what the command turned off stays off. What the shell
//! set before the command stays set.
//!
//! - Settings that affect which bytes the shell receives, or that hide its prompt, are reverted after every command.
//! - Settings that users also change on purpose (`tput rmam`, `setterm -inversescreen`, a scroll region, a color) are
//!   reverted only after a command that could not revert them itself: a signal ended it, or it left the alternate
//!   screen visible.

use crate::charset::Charsets;
use crate::keyboard::Keyboard;
use crate::margins::Margins;
use crate::modes::DecModes;
use crate::osc::Pointers;
use crate::style::Style;
use crate::term::{ScreenKind, Term};
use crate::{CursorShape, Event, Modes, MouseEncoding, MouseTracking};

/// Modes that are reverted after every command.
const ALWAYS: Modes = Modes::APP_CURSOR
    .union(Modes::APP_KEYPAD)
    .union(Modes::INSERT)
    .union(Modes::NEW_LINE)
    .union(Modes::SHOW_CURSOR)
    .union(Modes::FOCUS_EVENTS)
    .union(Modes::BRACKETED_PASTE)
    .union(Modes::SYNCHRONIZED)
    .union(Modes::COLOR_SCHEME)
    .union(Modes::VISIBILITY)
    .union(Modes::IN_BAND_RESIZE);

/// The engine's own modes that are reverted after every command: KAM and local echo.
const DEC_ALWAYS: DecModes = DecModes::KEYBOARD_LOCKED.union(DecModes::SEND_RECEIVE);

/// Modes that are reverted only after a command that could not revert them itself.
const AFTER_FAILURE: Modes = Modes::REVERSE_SCREEN
    .union(Modes::AUTO_WRAP)
    .union(Modes::ALTERNATE_SCROLL)
    .union(Modes::ORIGIN);

/// Exit codes above this number name the signal that ended the command (POSIX shells).
const SIGNAL_CODES: i32 = 128;

/// The state when a command started.
#[derive(Clone, Debug)]
pub(crate) struct Before {
    /// The command's id.
    pub command: u64,
    screen: ScreenKind,
    modes: Modes,
    dec: DecModes,
    mouse_tracking: MouseTracking,
    mouse_encoding: MouseEncoding,
    keyboard: Keyboard,
    shape: CursorShape,
    blinking: bool,
    pointers: Pointers,
    style: Style,
    charsets: Charsets,
    margins: Margins,
}

/// The value of a setting after a command. If the command has left it at another value than the initial one, the value
/// before the command is restored.
fn ended<T: PartialEq>(now: T, before: T, initial: T) -> T {
    if now == initial { now } else { before }
}

impl Term {
    /// Records the state of the terminal at the start of a command of the pane's own shell.
    pub(crate) fn remember_modes(&mut self, command: u64) {
        let before = Before {
            command,
            screen: self.screen,
            modes: self.modes,
            dec: self.dec,
            mouse_tracking: self.mouse_tracking,
            mouse_encoding: self.mouse_encoding,
            keyboard: self.keyboard.clone(),
            shape: self.shape,
            blinking: self.blinking,
            pointers: self.osc.pointers.clone(),
            style: *self.pen.style(),
            charsets: self.charsets,
            margins: self.all_margins(),
        };
        self.commands.remember(before);
    }

    /// Reverts what a command began, because the mark of the pane's own shell shows that the shell is back. `end` is
    /// set if the mark reports the end of the command, and contains the exit code in the mark.
    pub(crate) fn end_what_is_left(&mut self, end: Option<Option<i32>>) {
        let Some(before) = self.commands.before(end.is_some()) else { return };
        let exit_code = end.flatten();
        self.forget_unfinished();
        let is_left_on_alternate =
            self.screen == ScreenKind::Alternate && before.screen == ScreenKind::Main;
        let has_failed = is_left_on_alternate || exit_code.is_some_and(|code| code > SIGNAL_CODES);
        if is_left_on_alternate {
            self.leave_alternate_screen();
        }
        let among = if has_failed { ALWAYS | AFTER_FAILURE } else { ALWAYS };
        let begun = (self.modes ^ Self::first_modes()) & among;
        self.modes = self.modes & !begun | before.modes & begun;
        let begun = (self.dec ^ Self::first_dec_modes()) & DEC_ALWAYS;
        self.dec = self.dec & !begun | before.dec & begun;
        let no_tracking = MouseTracking::Off;
        self.mouse_tracking = ended(self.mouse_tracking, before.mouse_tracking, no_tracking);
        let legacy = MouseEncoding::Legacy;
        self.mouse_encoding = ended(self.mouse_encoding, before.mouse_encoding, legacy);
        self.keyboard.end(&before.keyboard);
        let initial = (CursorShape::Default, false);
        let then = (before.shape, before.blinking);
        (self.shape, self.blinking) = ended((self.shape, self.blinking), then, initial);
        let pointer = self.pointer_shape();
        self.osc.pointers =
            ended(std::mem::take(&mut self.osc.pointers), before.pointers, Pointers::default());
        if pointer != self.pointer_shape() {
            self.event(Event::PointerShape);
        }
        if has_failed {
            *self.pen.style_mut() = before.style;
            self.pen.set_link(None);
            self.charsets = before.charsets;
            self.restore_margins(before.margins);
        }
        self.follow_editor();
    }
}
