//! Shows hint labels, and opens or copies the chosen target.

use unterm_mux::{
    PaneId,
    input::{Key, Modifiers},
};

use crate::config::HintAction;
use crate::window::{
    app::{App, overlays::layer::Layer},
    input::buffer::Buffer,
    overlays::{
        canvas::Canvas,
        hints::{Hints, own_action},
        overlay::Press,
        taker::Taker,
        targets::{self, Target, reach::Reach},
    },
    surface::plan::Drawn,
};

/// The overlay of hint labels.
pub(crate) struct HintsLayer;

impl Layer for HintsLayer {
    fn is_open(&self, app: &App) -> bool {
        app.is_hinting()
    }

    /// Labels stay visible even if their pane has no focus.
    fn lies_over_text(&self, app: &App) -> bool {
        app.overlays.hints.is_some()
    }

    fn is_raised(&self) -> bool {
        false
    }

    fn taker(&self) -> Option<Taker> {
        Some(Taker::Nobody)
    }

    fn key(&self, app: &mut App, press: &Press<'_>) -> bool {
        let is_modifier = matches!(press.pressed.key, Key::Modifier(..));
        if !is_modifier {
            app.hint_key(press);
        }
        !is_modifier
    }

    fn draw(&self, drawn: &Drawn<'_>, canvas: &mut Canvas<'_, '_>) {
        if let Some(hints) = &drawn.overlays.hints
            && let Some(area) = canvas.area(hints.pane)
            && let Some(view) = canvas.views.get(&hints.pane)
        {
            let (geometry, colors) = (canvas.geometry, canvas.colors);
            hints.draw(view, geometry.origin(area), geometry, colors, canvas.scene);
        }
    }
}

impl App {
    /// Shows labels over the visible targets of the focused pane. A chosen target is copied if `copies` is set, and
    /// otherwise opened.
    pub(crate) fn show_hints(&mut self, copies: bool) {
        let Some(pane) = self.focused_pane() else { return };
        self.fresh_view(&pane);
        let Some(view) = self.workspace.views.get(&pane.id()) else { return };
        let reach = Reach::of(&view.snapshot.rows, &pane.term());
        let targets = targets::find(&reach, &self.prefs.config.hint_patterns);
        if targets.is_empty() {
            self.notify("hints", "No link, path, hash or number is in sight.".into());
            return;
        }
        self.overlays.hints =
            Some(Hints::new(pane.id(), targets, &self.prefs.config.hints.alphabet, copies));
        self.surface.pacing.ask();
    }

    /// Whether the focused pane shows labels. If so, keys choose a label.
    pub(crate) fn is_hinting(&self) -> bool {
        let focused = self.mux.layout().active_tab().map(|tab| tab.focused);
        self.overlays.hints.as_ref().is_some_and(|hints| Some(hints.pane) == focused)
    }

    /// Handles a key while labels are shown. The program never receives this key.
    pub(crate) fn hint_key(&mut self, press: &Press<'_>) {
        let Press { pressed, modifiers, text } = *press;
        let Some(hints) = &mut self.overlays.hints else { return };
        self.surface.pacing.ask();
        let special = modifiers.intersects(Modifiers::CTRL | Modifiers::ALT | Modifiers::SUPER);
        let typed = text.and_then(|text| text.chars().next());
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
                self.store(Buffer::Primary, target.text.clone());
                self.store(Buffer::Clipboard, target.text.clone());
            }
            HintAction::Paste => self.paste_text(pane, &target.text),
            HintAction::Open => self.open_target(&target.text),
            HintAction::Editor => self.edit_file(pane, &target.text),
        }
    }
}
