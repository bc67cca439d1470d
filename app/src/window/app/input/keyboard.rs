//! Runs the action that a key is bound to, or sends the key to the program as bytes.

use std::sync::Arc;

use unterm_mux::{
    Pane,
    input::{self, Key, KeyAction, Modifiers},
};

use crate::window::{
    app::App,
    input::{
        keys::{self, KeyInput, Pressed},
        send::send,
    },
    overlays::overlay::Press,
    redraw::Redraw,
};

impl App {
    /// Handles a key press, repeat or release. Returns the frame that is due: none if only a program received the key.
    pub(crate) fn key(&mut self, input: &KeyInput) -> Redraw {
        let KeyInput { pressed, physical, action, ref text } = *input;
        let text = text.as_deref();
        let reported = keys::modifiers(self.input.modifiers);
        let modifiers = self.input.held.modifiers(input, reported);
        let mut redraw = Redraw::if_changed(self.input.sequence.has_begun());
        if action != KeyAction::Release {
            if let Some(debug) = &mut self.overlays.debug {
                debug.press_key(self.now);
            }
            redraw = redraw.max(self.deferred_click(true));
            let is_over = pressed.key == Key::Escape && self.cancel_drag()
                || self.overlay_key(&Press {
                    pressed,
                    modifiers: reported,
                    is_repeat: action == KeyAction::Repeat,
                    text,
                });
            if is_over {
                self.input.sequence.end();
            }
            if is_over || self.bound_key(input, reported, modifiers) {
                self.input.taken.take(physical);
                return Redraw::Whole;
            }
        }
        if self.input.taken.has(physical, action) {
            return redraw;
        }
        let pane = match action {
            KeyAction::Release => self.input.sent.release(physical),
            _ => self.focused_pane().map(|pane| pane.id()),
        };
        let Some(pane) = pane.and_then(|pane| self.mux.pane(pane)) else { return redraw };
        if action != KeyAction::Release {
            self.input.sent.press(physical, pane.id());
        }
        redraw.max(self.key_to_program(&pane, pressed, action, modifiers, text))
    }

    /// Sends a key to a pane's program, and to the programs of all panes that receive the pane's input. Returns the
    /// frame that is due.
    pub(crate) fn key_to_program(
        &mut self,
        pane: &Arc<Pane>,
        pressed: Pressed,
        action: KeyAction,
        modifiers: Modifiers,
        text: Option<&str>,
    ) -> Redraw {
        let Pressed { key, unshifted, base } = pressed;
        let event = input::KeyEvent { key, action, unshifted, base, modifiers, text };
        let mut redraw = Redraw::No;
        for listener in self.workspace.broadcast.listeners(pane.id(), &self.mux) {
            redraw = redraw.max(self.key_to(&listener, &event));
        }
        redraw.max(self.key_to(pane, &event))
    }

    /// Sends a key to a pane's program, in the encoding that the program requested.
    fn key_to(&mut self, pane: &Pane, event: &input::KeyEvent<'_>) -> Redraw {
        let (modes, keyboard) = {
            let term = pane.term();
            (term.modes(), term.keyboard())
        };
        let bytes = input::encode_key(event, modes, &keyboard);
        if bytes.is_empty() {
            return Redraw::No;
        }
        if event.action == KeyAction::Release || matches!(event.key, Key::Modifier(..)) {
            // The release of a key or the press of a modifier must not scroll the view to the live screen.
            self.queue_bytes(pane, &bytes);
            Redraw::No
        } else {
            self.type_bytes(pane, &bytes)
        }
    }

    /// Types a character that the user picked from a list, in the way that an input method does.
    pub(crate) fn type_character(&mut self, text: &str) {
        let Some(pane) = self.focused_pane() else { return };
        let keyboard = pane.term().keyboard();
        self.type_bytes(&pane, &input::encode_text(text, &keyboard));
    }

    /// Sends bytes that the user typed. Returns the frame that is due.
    pub(crate) fn type_bytes(&mut self, pane: &Pane, bytes: &[u8]) -> Redraw {
        pane.touch();
        self.queue_bytes(pane, bytes);
        // A key of the user ends the control of a client over the pane. The next frame no longer shows the client's mark.
        let view = self.workspace.views.get(&pane.id());
        let was_driven = view.is_some_and(|view| view.signals.driver.is_some());
        self.surface.blink_since = self.now;
        self.hide_pointer();
        self.before_input(pane.id()).max(Redraw::if_changed(was_driven))
    }

    /// Sends bytes to a pane's program. If a paste is pending, the bytes are held back until the paste has been sent.
    fn queue_bytes(&mut self, pane: &Pane, bytes: &[u8]) {
        match self.workspace.views.get_mut(&pane.id()) {
            Some(view) if view.pastes.due > 0 => view.pastes.typed_behind.extend_from_slice(bytes),
            _ => send(pane, bytes),
        }
    }
}
