//! Runs the actions that a key is bound to, alone or as the end of a key sequence.

use unterm_mux::input::{Key, KeyAction, Modifiers};

use crate::{
    action::Action,
    config::keys::KeyMatch,
    window::{
        app::App,
        input::{keys::KeyInput, sequence::HeldBack},
    },
};

impl App {
    /// Runs the actions that a key is bound to, or starts or continues a sequence. `reported` are the modifiers for
    /// the key map, `modifiers` those for the program. Returns false if the program should receive the key.
    ///
    /// If a sequence has started and the key does not continue it, the program receives the keys of the sequence.
    /// Escape discards these keys instead.
    pub(crate) fn bound_key(
        &mut self,
        input: &KeyInput,
        reported: Modifiers,
        modifiers: Modifiers,
    ) -> bool {
        let pressed = input.pressed;
        if matches!(pressed.key, Key::Modifier(..)) {
            return false;
        }
        let has_begun = self.input.sequence.has_begun();
        if has_begun && input.action == KeyAction::Repeat {
            // A key that repeats because it is held down neither continues nor ends a sequence.
            return true;
        }
        let found = self.prefs.found(self.input.sequence.chords(), pressed, reported);
        match found {
            Some((chord, KeyMatch::Prefix)) => {
                let text = input.text.as_deref().map(str::to_owned);
                self.input.sequence.push(chord, HeldBack { pressed, modifiers, text });
                true
            }
            Some((_, KeyMatch::Actions(actions))) => {
                let actions = actions.to_vec();
                self.input.sequence.end();
                self.act_all(actions, reported, has_begun)
            }
            None if !has_begun => false,
            None => {
                let keys = self.input.sequence.end();
                if pressed.key == Key::Escape && reported.is_empty() {
                    return true;
                }
                if let Some(pane) = self.focused_pane() {
                    for HeldBack { pressed, modifiers, text } in keys {
                        let text = text.as_deref();
                        self.key_to_program(&pane, pressed, KeyAction::Press, modifiers, text);
                    }
                }
                self.bound_key(input, reported, modifiers)
            }
        }
    }

    /// Runs the actions that keys are bound to. Returns false, so that the program receives the key, only for a single
    /// key with a single action that had no effect.
    fn act_all(&mut self, mut actions: Vec<Action>, modifiers: Modifiers, behind: bool) -> bool {
        if actions.len() == 1 && !behind {
            return actions.pop().is_some_and(|action| self.act_by_key(action, modifiers));
        }
        for action in actions {
            self.act_by_choice(None, action);
        }
        true
    }
}
