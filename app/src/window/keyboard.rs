//! Keys: to an action where one is bound, else as bytes to the program. Input methods.

use std::time::Instant;

use unterm_mux::{
    OnExit, Pane, Spawn,
    input::{self, Key, KeyAction, Modifiers},
};
use unterm_renderer::Preedit;
use winit::{
    event::{ElementState, Ime, KeyEvent},
    window::Fullscreen,
};

use super::{
    App,
    actions::{Action, Chord},
    clipboard::Buffer,
    keys::{self, Pressed},
    send,
};
use crate::args::FONT_SIZES;

/// How far one press moves a divider, as a share of the split.
const RESIZE_STEP: f32 = 0.04;

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
        if action == KeyAction::Release {
            if self.taken.remove(&event.physical_key) {
                // Its press was a shortcut of ours.
                return;
            }
        } else if let Some(bound) = self.bound(pressed, told)
            && self.act(bound, told)
        {
            self.taken.insert(event.physical_key);
            return;
        }
        let Some(pane) = self.focused_pane() else { return };
        let (modes, keyboard) = {
            let term = pane.term();
            (term.modes(), term.keyboard())
        };
        let event = input::KeyEvent {
            key: pressed.key,
            action,
            unshifted: pressed.unshifted,
            base: pressed.base,
            modifiers,
            text: event.text.as_deref(),
        };
        let bytes = input::encode_key(&event, modes, &keyboard);
        if bytes.is_empty() {
            return;
        }
        if action == KeyAction::Release || matches!(pressed.key, Key::Modifier(..)) {
            // A key let go, or held for what comes, is no reason to leave what one looks at.
            self.queue_bytes(&pane, &bytes);
        } else {
            self.type_bytes(&pane, &bytes);
        }
    }

    /// The action bound to a key: by what it types, or by what it would type without Shift.
    fn bound(&self, pressed: Pressed, modifiers: Modifiers) -> Option<Action> {
        let by_key = match pressed.key.off_keypad() {
            Key::Char(c) => Key::Char(c.to_ascii_lowercase()),
            key => key,
        };
        let latin = input::latin(pressed.unshifted, pressed.base);
        let unshifted = latin.map(|c| Key::Char(c.to_ascii_lowercase()));
        [Some(by_key), unshifted]
            .into_iter()
            .flatten()
            .find_map(|key| self.keymap.get(Chord { modifiers, key }))
    }

    /// Sends bytes that the person typed.
    fn type_bytes(&mut self, pane: &Pane, bytes: &[u8]) {
        self.queue_bytes(pane, bytes);
        self.blink_since = Instant::now();
        self.before_input(pane.id());
    }

    /// Sends bytes behind what waits for a paste.
    fn queue_bytes(&mut self, pane: &Pane, bytes: &[u8]) {
        match self.views.get_mut(&pane.id()) {
            Some(view) if view.pastes_due > 0 => view.typed_ahead.extend_from_slice(bytes),
            _ => send(pane, bytes),
        }
    }

    /// What an input method did.
    pub(super) fn ime(&mut self, event: Ime) {
        let Some(pane) = self.focused_pane() else { return };
        match event {
            Ime::Commit(text) => {
                self.set_preedit(&pane, None);
                let keyboard = pane.term().keyboard();
                self.type_bytes(&pane, &input::encode_text(&text, &keyboard));
            }
            Ime::Preedit(text, cursor) => {
                let preedit = (!text.is_empty()).then_some(Preedit { text, cursor });
                self.set_preedit(&pane, preedit);
            }
            Ime::Enabled => {}
            Ime::Disabled => self.set_preedit(&pane, None),
        }
    }

    fn set_preedit(&mut self, pane: &Pane, preedit: Option<Preedit>) {
        let view = self.views.entry(pane.id()).or_default();
        if view.preedit != preedit {
            view.preedit = preedit;
            self.pacing.ask();
        }
    }

    /// Does an action; false when there was nothing to do and the key belongs to the program.
    fn act(&mut self, action: Action, modifiers: Modifiers) -> bool {
        let layout = self.mux.layout();
        let Some(tab) = layout.active_tab() else { return false };
        let focused = tab.focused;
        match action {
            Action::NewTab => self.open_tab(),
            Action::CloseTab => self.report(self.mux.close_tab(tab.id)),
            Action::ClosePane => self.report(self.mux.close_pane(focused)),
            Action::Split(axis) => {
                let spawn = self.spawn_beside();
                self.report(self.mux.split(focused, axis, spawn, OnExit::Close));
            }
            Action::Focus(direction) => return self.mux.focus_direction(direction),
            Action::Resize(direction) => {
                return self.mux.resize_split(focused, direction, RESIZE_STEP);
            }
            Action::Zoom => self.mux.toggle_zoom(),
            Action::NextTab => self.switch_tab(1),
            Action::PreviousTab => self.switch_tab(-1),
            Action::MoveTab(by) => {
                let last = layout.tabs.len().saturating_sub(1);
                let index = layout.active.saturating_add_signed(by).min(last);
                self.report(self.mux.move_tab(tab.id, index));
            }
            Action::Copy => {
                // Ctrl+C without a selection is the program's; Ctrl+Shift+C never is.
                return self.copy_selection() || modifiers.contains(Modifiers::SHIFT);
            }
            Action::Paste => self.paste(Buffer::Clipboard, focused),
            Action::PastePrimary => self.paste(Buffer::Primary, focused),
            Action::FontSize(points) => self.set_font_size(self.fonts.size + points),
            Action::ResetFontSize => self.set_font_size(self.default_font_size),
            Action::Fullscreen => self.toggle_fullscreen(),
            Action::ScrollPages(_) | Action::ScrollToTop | Action::ScrollToBottom => {
                return self.scroll_view(action);
            }
        }
        true
    }

    /// Opens a tab in the focused pane's directory.
    pub(super) fn open_tab(&mut self) {
        let spawn = self.spawn_beside();
        self.report(self.mux.open_tab(spawn, None, OnExit::Close));
    }

    /// A shell in the focused pane's directory, as long as that is one.
    fn spawn_beside(&self) -> Spawn {
        let cwd = self.focused_pane().and_then(|pane| pane.cwd_path()).filter(|cwd| cwd.is_dir());
        Spawn { cwd, ..Spawn::default() }
    }

    /// Activates the tab `by` places further, round the end.
    pub(super) fn switch_tab(&mut self, by: isize) {
        let layout = self.mux.layout();
        let count = layout.tabs.len() as isize;
        if count > 0 {
            let index = (layout.active as isize + by).rem_euclid(count) as usize;
            self.report(self.mux.activate_tab(layout.tabs[index].id));
        }
    }

    /// Copies the focused pane's selection to the clipboard and ends it; false when there is none.
    pub(super) fn copy_selection(&mut self) -> bool {
        let Some(pane) = self.focused_pane() else { return false };
        let Some(text) = self.selected_text(&pane) else { return false };
        self.clipboard.store(Buffer::Clipboard, text);
        if let Some(view) = self.views.get_mut(&pane.id()) {
            view.selection = None;
        }
        self.pacing.ask();
        true
    }

    /// The text a person selected in a pane.
    pub(super) fn selected_text(&self, pane: &Pane) -> Option<String> {
        let range = self.views.get(&pane.id())?.selection?.range?;
        Some(pane.term().text(range)).filter(|text| !text.is_empty())
    }

    fn set_font_size(&mut self, size: f32) {
        let size = size.clamp(*FONT_SIZES.start(), *FONT_SIZES.end());
        if size != self.fonts.size {
            self.fonts.size = size;
            self.apply_fonts();
        }
    }

    fn toggle_fullscreen(&self) {
        let Some(screen) = &self.screen else { return };
        let fullscreen = match screen.window.fullscreen() {
            Some(_) => None,
            None => Some(Fullscreen::Borderless(None)),
        };
        screen.window.set_fullscreen(fullscreen);
    }

    /// Scrolls the focused pane; false on the alternate screen, which has no history.
    fn scroll_view(&mut self, action: Action) -> bool {
        let Some(pane) = self.focused_pane() else { return false };
        let Some(view) = self.views.get_mut(&pane.id()) else { return false };
        if view.is_alternate() {
            return false;
        }
        let page = i64::from(view.snapshot.size.rows).max(2) - 1;
        match action {
            Action::ScrollPages(pages) => view.scroll(i64::from(pages) * page),
            Action::ScrollToTop => view.scroll_to_oldest(),
            _ => drop(view.scroll_to_live()),
        }
        self.pacing.ask();
        true
    }
}
