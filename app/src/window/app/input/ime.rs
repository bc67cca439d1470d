//! Input methods: shows composed text at the cursor, and passes committed text to the panel, the search or the pane.

use unterm_mux::{Layout, PaneId, Rect, input};
use unterm_renderer::{PixelRect, Preedit};
use winit::event::Ime;

use crate::window::{
    app::App, effect::Effect, overlays::text_target::TextTarget, redraw::Redraw,
    workspace::cursor::cursor_place,
};

impl App {
    /// Handles an event of the input method. Returns the frame that is due.
    pub(crate) fn ime(&mut self, event: Ime) -> Redraw {
        match event {
            // Enabling the input method resets the cursor area (protocol text-input-v3), so send the area again.
            Ime::Enabled => {
                if let Some(screen) = &self.surface.screen {
                    screen.repeat_to_ime();
                }
                Redraw::No
            }
            Ime::Disabled => self.input.set_preedit(None),
            Ime::Preedit(text, cursor) => {
                self.input.set_preedit((!text.is_empty()).then_some(Preedit { text, cursor }))
            }
            Ime::Commit(text) => {
                let redraw = self.input.set_preedit(None);
                match self.text_target() {
                    TextTarget::Nobody => redraw,
                    TextTarget::Panel | TextTarget::Search => {
                        self.overlay_text(&text);
                        Redraw::Whole
                    }
                    TextTarget::Pane => redraw.max(self.commit(&text)),
                }
            }
        }
    }

    /// Types committed text into the focused pane, and into the panes that receive its input. Returns the frame that is
    /// due.
    fn commit(&mut self, text: &str) -> Redraw {
        let Some(pane) = self.focused_pane() else { return Redraw::No };
        let mut redraw = Redraw::No;
        for pane in
            self.workspace.broadcast.listeners(pane.id(), &self.mux).into_iter().chain([pane])
        {
            let keyboard = pane.term().keyboard();
            redraw = redraw.max(self.type_bytes(&pane, &input::encode_text(text, &keyboard)));
        }
        redraw
    }

    /// Disables the input method while only keys are useful, because it would compose text from the keys that the user
    /// presses.
    fn allow_ime(&mut self) {
        let is_allowed = self.text_target() != TextTarget::Nobody;
        if let Some(screen) = &mut self.surface.screen
            && screen.allow_ime(is_allowed)
        {
            self.effect(Effect::AllowIme(is_allowed));
        }
    }

    /// Enables or disables the input method, and reports the position of the text cursor, at which the input method
    /// shows its candidates. The position is `caret` in a bar or an overlay, or else the cursor of the focused pane.
    pub(crate) fn place_ime(
        &mut self,
        layout: &Layout,
        placed: &[(PaneId, Rect)],
        caret: Option<PixelRect>,
    ) {
        self.allow_ime();
        let (Some(geometry), views) = (&self.surface.geometry, &self.workspace.views) else {
            return;
        };
        let at_cursor = || cursor_place(layout, placed, views, geometry);
        let Some(place) = caret.or_else(at_cursor) else { return };
        if let Some(screen) = &mut self.surface.screen {
            screen.place_ime(place);
        }
    }
}
