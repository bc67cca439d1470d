//! Shows hint labels, and does what a chosen target is for.

use unterm_mux::{
    PaneId,
    input::{Key, Modifiers},
};
use winit::event::KeyEvent;

use crate::config::HintAction;
use crate::window::{
    app::App,
    input::{clipboard::Buffer, keys::Pressed},
    overlays::{
        hints::{Hints, own_action},
        targets::{self, Target},
    },
};

impl App {
    /// Labels the targets in sight of the focused pane; they are copied if `copies`, else opened.
    pub(crate) fn show_hints(&mut self, copies: bool) {
        let Some(pane) = self.focused_pane() else { return };
        self.fresh_view(&pane);
        let Some(view) = self.workspace.views.get(&pane.id()) else { return };
        let targets = targets::find(&view.snapshot.rows, &self.prefs.config.hint_patterns);
        if targets.is_empty() {
            self.notify("hints", "No link, path, hash or number is in sight.".into());
            return;
        }
        self.overlays.hints =
            Some(Hints::new(pane.id(), targets, &self.prefs.config.hints.alphabet, copies));
        self.surface.pacing.ask();
    }

    /// Whether the focused pane shows labels, so that keys choose one.
    pub(crate) fn is_hinting(&self) -> bool {
        let focused = self.mux.layout().active_tab().map(|tab| tab.focused);
        self.overlays.hints.as_ref().is_some_and(|hints| Some(hints.pane) == focused)
    }

    /// Handles a key while labels are shown; the program never receives it.
    pub(crate) fn hint_key(&mut self, pressed: Pressed, modifiers: Modifiers, event: &KeyEvent) {
        let Some(hints) = &mut self.overlays.hints else { return };
        self.surface.pacing.ask();
        let special = modifiers.intersects(Modifiers::CTRL | Modifiers::ALT | Modifiers::SUPER);
        let typed = event.text.as_ref().and_then(|text| text.chars().next());
        match (pressed.key, typed) {
            (Key::Modifier(..), _) => {}
            (Key::Backspace, _) if !hints.typed.is_empty() => drop(hints.typed.pop()),
            (Key::Char(_), Some(c)) if !special && !c.is_control() => {
                let pane = hints.pane;
                let copies = hints.copies;
                if let Some(target) = hints.push(c) {
                    self.overlays.hints = None;
                    let action = match c.is_uppercase() {
                        true => HintAction::Paste,
                        false if copies => HintAction::Copy,
                        false => own_action(target.kind),
                    };
                    self.use_target(pane, &target, action);
                }
            }
            _ => self.overlays.hints = None,
        }
    }

    fn use_target(&mut self, pane: PaneId, target: &Target, action: HintAction) {
        match action {
            HintAction::Copy => {
                self.input.clipboard.store(Buffer::Primary, target.text.clone());
                self.input.clipboard.store(Buffer::Clipboard, target.text.clone());
            }
            HintAction::Paste => self.paste_text(pane, &target.text),
            HintAction::Open => self.open_target(&target.text),
            HintAction::Editor => self.edit_file(pane, &target.text),
        }
    }
}
