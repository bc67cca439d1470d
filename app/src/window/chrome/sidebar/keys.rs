//! The keys of the sidebar, while it has the keyboard, and its tooltip. Both belong to the stack of overlays.

use unterm_mux::{
    PaneId,
    input::{Key, Modifiers},
};

use crate::window::{
    chrome::sidebar::Sidebar,
    cx::Cx,
    overlays::{
        canvas::Canvas,
        overlay::{Handled, Overlay, Press},
        text_target::TextTarget,
    },
    wish::Wish,
    workspace::closing::Closing,
};

impl Sidebar {
    /// Marks the tab that is `by` places further. Stops at the ends. With `moves`, the marked tab itself moves there.
    fn step(&mut self, by: isize, moves: bool, cx: &mut Cx<'_>) {
        let layout = cx.mux.layout();
        let at = layout.tabs.iter().position(|tab| Some(tab.id) == self.selected);
        let at = at.unwrap_or(layout.active);
        let to = at.saturating_add_signed(by).min(layout.tabs.len().saturating_sub(1));
        let (Some(tab), Some(other)) = (layout.tabs.get(at), layout.tabs.get(to)) else { return };
        if moves {
            cx.report(cx.mux.move_tab(tab.id, to));
        } else {
            self.selected = Some(other.id);
        }
    }
}

impl Overlay for Sidebar {
    fn has_input(&self, _: Option<PaneId>) -> bool {
        self.selected.is_some()
    }

    /// The tooltip appears and disappears only with whole frames.
    fn lies_over_text(&self) -> bool {
        false
    }

    fn text_target(&self) -> Option<TextTarget> {
        Some(TextTarget::Nobody)
    }

    /// No key reaches the program. Keys that are bound to actions run them.
    fn key(&mut self, press: &Press<'_>, cx: &mut Cx<'_>) -> Handled {
        let moves = press.modifiers == Modifiers::SHIFT;
        let is_plain = press.modifiers.is_empty() || moves;
        match press.pressed.key.off_keypad() {
            Key::Up if is_plain => self.step(-1, moves, cx),
            Key::Down if is_plain => self.step(1, moves, cx),
            Key::Home if is_plain => self.step(isize::MIN, moves, cx),
            Key::End if is_plain => self.step(isize::MAX, moves, cx),
            Key::Escape if is_plain => self.selected = None,
            Key::Enter | Key::KeypadEnter | Key::Char(' ') if is_plain => {
                if let Some(tab) = self.selected.take() {
                    cx.report(cx.mux.activate_tab(tab));
                }
            }
            Key::Delete if is_plain => {
                if let Some(tab) = self.selected {
                    self.step(1, false, cx);
                    cx.wish(Wish::Close(Closing::Tab(tab)));
                }
            }
            _ => {
                if let Some(action) = cx.prefs.bound(press.pressed, press.modifiers) {
                    cx.wish(Wish::ActByKey(action, press.modifiers));
                }
            }
        }
        Handled::Yes
    }

    fn text(&mut self, _: &str, _: &mut Cx<'_>) -> Handled {
        Handled::Yes
    }

    /// A press anywhere returns the keyboard to the panes.
    fn press(&mut self, _: &mut Cx<'_>) -> Handled {
        self.selected = None;
        Handled::No
    }

    fn draw(&self, canvas: &mut Canvas<'_, '_>) {
        self.draw_tooltip((canvas.geometry, canvas.colors), canvas.renderer, canvas.scene);
    }
}
