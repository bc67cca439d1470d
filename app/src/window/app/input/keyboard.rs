//! Runs the action that a key is bound to, or sends the key to the program as bytes.

use std::sync::Arc;

use unterm_mux::{
    Pane,
    input::{self, Key, KeyAction, Modifiers},
};

use crate::window::{
    app::{App, send},
    input::keys::{self, KeyInput, Pressed},
    overlays::overlay::Press,
};

impl App {
    /// Handles a key press, repeat or release.
    pub(crate) fn key(&mut self, input: &KeyInput) {
        let KeyInput { pressed, physical, action, ref text } = *input;
        let text = text.as_deref();
        let reported = keys::modifiers(self.input.modifiers);
        let modifiers = self.input.held.modifiers(input, reported);
        if action != KeyAction::Release {
            self.debug_key();
            self.deferred_click(true);
        }
        if action != KeyAction::Release {
            let is_over = pressed.key == Key::Escape && self.cancel_drag()
                || self.overlay_key(&Press { pressed, modifiers: reported, text });
            if is_over {
                self.end_sequence();
            }
            if is_over || self.bound_key(input, reported, modifiers) {
                return self.input.taken.take(physical);
            }
        }
        if self.input.taken.has(physical, action) {
            return;
        }
        let pane = match action {
            KeyAction::Release => self.input.sent.release(physical),
            _ => self.focused_pane().map(|pane| pane.id()),
        };
        let Some(pane) = pane.and_then(|pane| self.mux.pane(pane)) else { return };
        if action != KeyAction::Release {
            self.input.sent.press(physical, pane.id());
        }
        self.key_to_program(&pane, pressed, action, modifiers, text);
    }

    /// Sends a key to a pane's program, and to the programs of all panes that receive the pane's input.
    pub(crate) fn key_to_program(
        &mut self,
        pane: &Arc<Pane>,
        pressed: Pressed,
        action: KeyAction,
        modifiers: Modifiers,
        text: Option<&str>,
    ) {
        let Pressed { key, unshifted, base } = pressed;
        let event = input::KeyEvent { key, action, unshifted, base, modifiers, text };
        for listener in self.listeners(pane.id()) {
            self.key_to(&listener, &event);
        }
        self.key_to(pane, &event);
    }

    /// Sends a key to a pane's program, in the encoding that the program requested.
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
            // The release of a key or the press of a modifier must not scroll the view to the live screen.
            self.queue_bytes(pane, &bytes);
        } else {
            self.type_bytes(pane, &bytes);
        }
    }

    /// Types a character that the user picked from a list, in the way that an input method does.
    pub(crate) fn type_character(&mut self, text: &str) {
        let Some(pane) = self.focused_pane() else { return };
        let keyboard = pane.term().keyboard();
        self.type_bytes(&pane, &input::encode_text(text, &keyboard));
    }

    /// Sends bytes that the user typed.
    pub(crate) fn type_bytes(&mut self, pane: &Pane, bytes: &[u8]) {
        pane.touch();
        self.queue_bytes(pane, bytes);
        if self.workspace.views.get(&pane.id()).is_some_and(|view| view.signals.driver.is_some()) {
            // A key of the user ends the control of a client over the pane. Request a frame that no longer shows the
            // client's mark.
            self.surface.pacing.ask();
        }
        self.surface.blink_since = self.now;
        self.hide_pointer();
        self.before_input(pane.id());
    }

    /// Sends bytes to a pane's program. If a paste is pending, the bytes are held back until the paste has been sent.
    fn queue_bytes(&mut self, pane: &Pane, bytes: &[u8]) {
        match self.workspace.views.get_mut(&pane.id()) {
            Some(view) if view.pastes.due > 0 => view.pastes.typed_behind.extend_from_slice(bytes),
            _ => send(pane, bytes),
        }
    }
}
