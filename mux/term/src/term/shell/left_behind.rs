//! Reverts what a command began and did not end: the alternate screen, mouse tracking, keyboard modes, the cursor's
//! shape.
//!
//! Records the state when a command starts. When the shell is back, it reverts what differs from that state. Both
//! happen only at marks with the terminal's own nonce ([`crate::term::shell::commands`]), so output cannot cause them. What the shell
//! set before the command stays set.
//!
//! - If the command could not revert its settings itself, every setting becomes what it was before the command. That is
//!   so if a signal ended the command, or if it left the alternate screen visible.
//! - Any other command may have changed settings on purpose (`tput rmam`, `setterm -inversescreen`, a scroll region, a
//!   color). Only settings that affect which bytes the shell receives, or that hide its prompt, are then reverted. A
//!   setting that has its initial value after the command is not changed: what the command turned off stays off.
//!
//! Text is not a setting: titles, progress, the working directory and statuses stay. A VT52 has no OSC, but in VT52
//! mode the parser still recognizes the shell's own marks ([`Term::awaits_shell`]).

use std::sync::Arc;

use crate::grid::style::Style;
use crate::term::graphics::SixelSettings;
use crate::term::osc::title::TitleStack;
use crate::term::osc::{ColorStack, Pointers};
use crate::term::rendition::charset::Charsets;
use crate::term::rendition::sgr_stack::SgrStack;
use crate::term::screen::edit::Protection;
use crate::term::screen::margins::Margins;
use crate::term::screen::tabs::Tabs;
use crate::term::settings::conformance::Conformance;
use crate::term::settings::extra_cursors::ExtraCursors;
use crate::term::settings::keyboard::Keyboard;
use crate::term::settings::modes::DecModes;
use crate::term::{Allow, SavedCursor, ScreenKind, Term};
use crate::{CursorShape, Event, Modes, MouseEncoding, MouseTracking, Palette};

/// Modes that are reverted after every command.
const ALWAYS: Modes = Modes::APP_CURSOR
    .union(Modes::APP_KEYPAD)
    .union(Modes::INSERT)
    .union(Modes::NEW_LINE)
    .union(Modes::SHOW_CURSOR)
    .union(Modes::FOCUS_EVENTS)
    .union(Modes::BRACKETED_PASTE)
    .union(Modes::PASTE_EVENTS)
    .union(Modes::SYNCHRONIZED)
    .union(Modes::COLOR_SCHEME)
    .union(Modes::VISIBILITY)
    .union(Modes::IN_BAND_RESIZE);

/// The engine's own modes that are reverted after every command: KAM and local echo.
const DEC_ALWAYS: DecModes = DecModes::KEYBOARD_LOCKED.union(DecModes::SEND_RECEIVE);

/// Whether an exit code names the signal that ended the command: above 128 in POSIX shells, negative in Nushell.
fn names_signal(code: i32) -> bool {
    !(0..=128).contains(&code)
}

/// The state when a command started.
#[derive(Clone, Debug)]
pub(crate) struct Before {
    /// The command's id. 0 if the list of commands does not contain it.
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
    /// The settings that are reverted only after a command that could not revert them itself.
    rest: Box<RestSettings>,
}

/// See [`Before`].
#[derive(Clone, Debug)]
struct RestSettings {
    style: Style,
    protected: bool,
    protection: Protection,
    charsets: Charsets,
    margins: Margins,
    tabs: Tabs,
    conformance: Conformance,
    sgr_stack: SgrStack,
    titles: TitleStack,
    title_modes: u8,
    sixel: SixelSettings,
    /// The colors, and the theme's colors at that time.
    palette: Arc<Palette>,
    base_palette: Arc<Palette>,
    color_stack: ColorStack,
    saved_modes: Vec<(u16, bool)>,
    extra_cursors: ExtraCursors,
    /// DECSC of the main and of the alternate screen, and the screen's size.
    saved: [SavedCursor; 2],
    size: (usize, usize),
}

/// The value of a setting after a command that has ended by itself. If the command has left the setting at another value
/// than the initial one, the value before the command is restored.
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
            rest: Box::new(RestSettings {
                style: *self.pen.style(),
                protected: self.pen.is_protected(),
                protection: self.protection,
                charsets: self.charsets,
                margins: self.all_margins(),
                tabs: self.tabs.clone(),
                conformance: self.conformance,
                sgr_stack: self.sgr_stack.clone(),
                titles: self.titles.clone(),
                title_modes: self.title_modes(),
                sixel: self.graphics.sixel.clone(),
                palette: self.palette.clone(),
                base_palette: self.base_palette.clone(),
                color_stack: self.osc.colors.clone(),
                saved_modes: self.saved_modes.clone(),
                extra_cursors: self.extra_cursors.clone(),
                saved: match self.screen {
                    ScreenKind::Main => [self.saved.clone(), self.hidden_saved.clone()],
                    ScreenKind::Alternate => [self.hidden_saved.clone(), self.saved.clone()],
                },
                size: (self.grid.rows(), self.grid.cols()),
            }),
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
        let has_failed = is_left_on_alternate || exit_code.is_some_and(names_signal);
        if is_left_on_alternate {
            self.leave_alternate_screen();
        }
        if self.is_vt52() && !before.modes.contains(Modes::VT52) {
            self.leave_vt52();
            self.conformance = before.rest.conformance;
        }
        let pointer = self.pointer_shape();
        match has_failed {
            true => self.revert_all(before),
            false => self.revert_begun(before),
        }
        // A link that a program left open would make a link of the prompt.
        self.pen.set_link(None);
        if pointer != self.pointer_shape() {
            self.event(Event::PointerShape);
        }
        self.follow_editor();
    }

    /// Reverts what a command that ended by itself began, if it disturbs the shell.
    fn revert_begun(&mut self, before: Before) {
        let begun = (self.modes ^ Self::first_modes()) & ALWAYS;
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
        let pointers = std::mem::take(&mut self.osc.pointers);
        self.osc.pointers = ended(pointers, before.pointers, Pointers::default());
    }

    /// Reverts every setting that a command changed.
    fn revert_all(&mut self, before: Before) {
        let rest = *before.rest;
        let has_columns = DecModes::COLUMNS_132 & (self.dec ^ before.dec);
        if !has_columns.is_empty() && self.allow.contains(Allow::WINDOW_OPS) {
            self.request_size(None, Some(rest.size.1 as u16));
        }
        self.modes = (self.modes & Modes::ALT_SCREEN) | (before.modes - Modes::ALT_SCREEN);
        self.dec = before.dec;
        self.mouse_tracking = before.mouse_tracking;
        self.mouse_encoding = before.mouse_encoding;
        self.keyboard = before.keyboard;
        (self.shape, self.blinking) = (before.shape, before.blinking);
        self.osc.pointers = before.pointers;
        *self.pen.style_mut() = rest.style;
        self.pen.set_protected(rest.protected);
        self.protection = rest.protection;
        self.charsets = rest.charsets;
        self.restore_margins(rest.margins);
        self.tabs = rest.tabs;
        self.tabs.resize(self.grid.cols());
        self.conformance = rest.conformance;
        self.sgr_stack = rest.sgr_stack;
        self.titles = rest.titles;
        self.restore_title_modes(rest.title_modes);
        self.graphics.sixel = rest.sixel;
        self.restore_palette(&rest.palette, &rest.base_palette);
        self.osc.colors = rest.color_stack;
        self.saved_modes = rest.saved_modes;
        self.extra_cursors = rest.extra_cursors;
        self.extra_cursors.resize(self.grid.rows(), self.grid.cols());
        let is_resized = rest.size != (self.grid.rows(), self.grid.cols());
        let [main, alternate] = rest.saved;
        let (shown, hidden) = match self.screen {
            ScreenKind::Main => (main, alternate),
            ScreenKind::Alternate => (alternate, main),
        };
        for (own, mut before) in [(&mut self.saved, shown), (&mut self.hidden_saved, hidden)] {
            if is_resized {
                before.position = own.position;
            }
            before.pen.forget_ids();
            *own = before;
        }
    }
}
