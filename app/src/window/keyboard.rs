//! Keys: to an action where one is bound, else as bytes to the program.

use std::time::Instant;

use unterm_mux::{
    Pane,
    input::{self, Key, KeyAction, Modifiers},
};
use winit::event::{ElementState, KeyEvent};

use super::{
    App,
    keys::{self, Pressed},
    overlay::Press,
    send,
};
use crate::action::{Action, Chord};

impl App {
    /// A key went down or up.
    pub(super) fn key(&mut self, event: &KeyEvent) {
        let Some(pressed) = keys::pressed(event) else { return };
        let told = keys::modifiers(self.modifiers);
        let modifiers = self.held.modifiers(pressed, event, told);
        let action = match (event.state, event.repeat) {
            (ElementState::Released, _) => KeyAction::Release,
            (ElementState::Pressed, true) => KeyAction::Repeat,
            (ElementState::Pressed, false) => KeyAction::Press,
        };
        if action != KeyAction::Release {
            self.debug_key();
            self.deferred_click(true);
        }
        if action != KeyAction::Release
            && (pressed.key == Key::Escape && self.cancel_drag()
                || self.overlay_key(&Press { pressed, modifiers: told, event })
                || self.bound(pressed, told).is_some_and(|bound| self.act_by_key(bound, told)))
        {
            return self.taken.take(event.physical_key);
        }
        if self.taken.has(event.physical_key, action) {
            return;
        }
        let Some(pane) = self.focused_pane() else { return };
        let event = input::KeyEvent {
            key: pressed.key,
            action,
            unshifted: pressed.unshifted,
            base: pressed.base,
            modifiers,
            text: event.text.as_deref(),
        };
        for listener in self.listeners(pane.id()) {
            self.key_to(&listener, &event);
        }
        self.key_to(&pane, &event);
    }

    /// Gives a pane's program a key, as that program wants keys.
    fn key_to(&mut self, pane: &Pane, event: &input::KeyEvent<'_>) {
        let (modes, keyboard) = {
            let term = pane.term();
            (term.modes(), term.keyboard())
        };
        let bytes = input::encode_key(event, modes, &keyboard);
        if bytes.is_empty() {
            return;
        }
        if event.action == KeyAction::Release || matches!(event.key, Key::Modifier(..)) {
            // A key let go, or held for what comes, is no reason to leave what one looks at.
            self.queue_bytes(pane, &bytes);
        } else {
            self.type_bytes(pane, &bytes);
        }
    }

    /// The action bound to a key: by what it types, or by what it would type without Shift.
    pub(super) fn bound(&self, pressed: Pressed, modifiers: Modifiers) -> Option<Action> {
        let by_key = match pressed.key.off_keypad() {
            Key::Char(c) => Key::Char(c.to_ascii_lowercase()),
            key => key,
        };
        let latin = input::latin(pressed.unshifted, pressed.base);
        let unshifted = latin.map(|c| Key::Char(c.to_ascii_lowercase()));
        [Some(by_key), unshifted.filter(|key| *key != by_key)]
            .into_iter()
            .flatten()
            .find_map(|key| self.keymap.get(Chord { modifiers, key }).cloned())
    }

    /// Whether a key is the open search's: all but those of other actions, so that one can scroll, split and go on.
    pub(super) fn takes_for_search(&self, pressed: Pressed, modifiers: Modifiers) -> bool {
        match self.bound(pressed, modifiers) {
            Some(Action::Paste | Action::PastePrimary) | None => true,
            // Ctrl+C closes the search, unless something is selected.
            Some(Action::Copy) => !modifiers.contains(Modifiers::SHIFT),
            Some(_) => false,
        }
    }

    /// Types a character that was picked, as an input method would.
    pub(super) fn type_character(&mut self, text: &str) {
        let Some(pane) = self.focused_pane() else { return };
        let keyboard = pane.term().keyboard();
        self.type_bytes(&pane, &input::encode_text(text, &keyboard));
    }

    /// Sends bytes that the person typed.
    pub(super) fn type_bytes(&mut self, pane: &Pane, bytes: &[u8]) {
        pane.touch();
        self.queue_bytes(pane, bytes);
        if self.views.get(&pane.id()).is_some_and(|view| view.driver.is_some()) {
            // Whoever drove it does no more.
            self.pacing.ask();
        }
        self.blink_since = Instant::now();
        self.hide_pointer();
        self.before_input(pane.id());
    }

    /// Sends bytes behind what waits for a paste.
    fn queue_bytes(&mut self, pane: &Pane, bytes: &[u8]) {
        match self.views.get_mut(&pane.id()) {
            Some(view) if view.pastes_due > 0 => view.typed_ahead.extend_from_slice(bytes),
            _ => send(pane, bytes),
        }
    }
}
