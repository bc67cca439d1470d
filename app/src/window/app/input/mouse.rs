//! Mouse events. A program that requested them receives them, unless Shift is held. Otherwise they act on the tab bar,
//! the focus and the selection.

use unterm_mux::{
    Pane, PaneId,
    input::{Modifiers, MouseKind},
};
use winit::{event::MouseButton, window::CursorIcon};

use crate::window::{
    app::App,
    chrome::{scrollbars, sidebar::Sidebar, status_bar, tab_bar::TabBarPart},
    effect::Effect,
    input::{
        buffer::Buffer,
        keys,
        pointer::{DOUBLE_CLICK, Target, bound_input, mux_button},
    },
    overlays::{
        copy_mode,
        hovering::{clicked_link, link_under},
    },
    redraw::Redraw,
    surface::{moving, x_server},
    system::open_link::open_link,
    ui::geometry::contains,
    workspace::{
        blocks::mouse,
        copy::{copy_on_select, copy_selection, selected_text},
        dividers, hit_test, mouse_report,
        panes::focus_follows,
        selecting,
    },
};
use crate::{
    action::{Action, MouseChord, MouseInput},
    config::RightButton,
};

impl App {
    /// Handles a move of the pointer to a pixel of the window. Returns the frame that is due: none if the pointer moved
    /// over nothing that reacts to it.
    pub(crate) fn pointer_moved(&mut self, x: f64, y: f64) -> Redraw {
        let Some(geometry) = self.surface.geometry else { return Redraw::No };
        let before = self.input.pointer.position.replace((x, y));
        // The pointer may be over another part of a bar now.
        let is_in = |(x, y)| geometry.has_tabs_at(x, y) || contains(geometry.status_bar(), x, y);
        let is_in_bar = before.is_some_and(is_in) || is_in((x, y));
        self.input.pointer.focus_press.is_at(x, y);
        let on_blocks =
            self.with_parts(|parts, cx| mouse::hover(&mut parts.overlays.block_hover, x, y, cx));
        let (over_bar, on_bar) = self.with_parts(|_, cx| scrollbars::pass(before, cx));
        self.show_pointer(true);
        // The debug overlay shows the cell under the pointer.
        let is_shown = is_in_bar || self.overlays.debug.is_some();
        let redraw = on_blocks.max(on_bar).max(Redraw::if_changed(is_shown));
        let (is_handled, on_overlay) = self.overlay_point(x, y);
        if is_handled {
            return redraw.max(on_overlay);
        }
        redraw.max(on_overlay).max(self.point_at_panes(x, y, over_bar))
    }

    /// Handles a move of the pointer that no overlay handled. `over_bar` is set if the pointer is on a scrollbar. Returns
    /// the frame that is due.
    fn point_at_panes(&mut self, x: f64, y: f64, over_bar: bool) -> Redraw {
        if self.with_parts(|parts, cx| parts.chrome.tabs.drag(x, y, cx))
            || self.with_parts(|parts, cx| parts.chrome.sidebar.drag(x, cx))
            || self.with_parts(|parts, cx| parts.dividers.drag(x, y, cx))
            || self.with_parts(|parts, cx| parts.chrome.scrollbars.drag(y, cx))
        {
            return Redraw::Whole;
        }
        if let Some(pane) = self.input.pointer.selecting {
            self.with_parts(|_, cx| selecting::extend(pane, cx));
            return Redraw::Whole;
        }
        let held = self.input.pointer.captured.last().copied();
        let target = match held {
            Some((pane, _)) => self.target_in(pane),
            None => self.target(),
        };
        let is_free = held.is_none() && !self.has_overlay();
        if is_free && let Some(icon) = self.with_parts(|_, cx| dividers::icon_at(x, y, cx)) {
            self.set_icon(icon);
            return self.end_hover();
        }
        if is_free && self.with_parts(|_, cx| Sidebar::has_edge_at(x, y, cx)) {
            self.set_icon(CursorIcon::ColResize);
            return self.end_hover();
        }
        if is_free && over_bar {
            self.set_icon(CursorIcon::Default);
            return self.end_hover();
        }
        self.set_icon(mouse_report::icon_over(target.as_ref(), &self.mux));
        let Some(target) = target else { return self.end_hover() };
        if is_free {
            self.with_parts(|_, cx| focus_follows(target.id, cx));
        }
        let button = held.map(|(_, button)| button);
        let (opens, redraw) = self.hover(&target);
        if opens {
            self.set_icon(CursorIcon::Pointer);
        }
        self.with_parts(|_, cx| mouse_report::report(&target, MouseKind::Motion(button), cx));
        redraw
    }

    pub(crate) fn pointer_left(&mut self) {
        self.input.pointer.position = None;
        self.end_hover();
    }

    pub(crate) fn mouse_button(&mut self, button: MouseButton, pressed: bool) {
        if !pressed {
            return self.released(button);
        }
        let arrives = self.input.pointer.focus_press.arrives_by_press(self.input.focused, self.now);
        if button == MouseButton::Left {
            self.input.pointer.arrives = arrives;
        }
        if self.overlay_press() {
            return;
        }
        if let (Some((x, y)), MouseButton::Left) = (self.input.pointer.position, button)
            && self.with_parts(|parts, cx| parts.chrome.sidebar.grab(x, y, cx))
        {
            return;
        }
        if let Some(part) = self.tab_bar_part() {
            if !arrives || part.closed_by(button).is_none() {
                self.with_parts(|parts, cx| parts.chrome.tabs.press(part, button, cx));
            }
            return;
        }
        if let Some(item) = self.with_parts(|parts, cx| parts.chrome.status_bar.under_pointer(cx)) {
            return self.with_parts(|_, cx| status_bar::press(item, button, cx));
        }
        if let (Some((x, y)), MouseButton::Left) = (self.input.pointer.position, button)
            && (self.with_parts(|parts, cx| parts.dividers.grab(x, y, cx))
                || self.with_parts(|parts, cx| parts.chrome.scrollbars.grab(x, y, cx))
                || !arrives && self.press_block(x, y))
        {
            return;
        }
        let Some(target) = self.target() else { return };
        if self.workspace.views.get(&target.id).is_some_and(|view| view.signals.has_lost_copy_mode)
        {
            copy_mode::end(target.id, &mut self.workspace.views, &mut self.overlays.search);
        }
        if self.mux.layout().active_tab().is_some_and(|tab| tab.focused != target.id) {
            self.report(self.mux.focus(target.id));
        }
        if let Some(sent) = mux_button(button)
            && self.with_parts(|_, cx| mouse_report::report(&target, MouseKind::Press(sent), cx))
        {
            self.input.pointer.capture(target.id, sent);
            return;
        }
        let modifiers = keys::modifiers(self.input.modifiers);
        if bound_input(button).is_some_and(|input| self.bound_mouse(input, target.id)) {
            return;
        }
        match button {
            MouseButton::Left
                if !arrives
                    && modifiers.contains(Modifiers::CTRL)
                    && self.open_link(target.id, target.x, target.y) => {}
            MouseButton::Left => {
                let modifiers = mouse_report::without_override(target.id, modifiers, &self.mux);
                self.with_parts(|_, cx| selecting::begin(&target, modifiers, cx));
            }
            MouseButton::Middle => self.paste(Buffer::Primary, target.id),
            MouseButton::Right => self.right_button(&target),
            _ => {}
        }
    }

    /// The actions that a mouse input over a pane is bound to.
    pub(crate) fn mouse_actions(&self, input: MouseInput, pane: PaneId) -> Option<&[Action]> {
        let held = keys::modifiers(self.input.modifiers);
        let modifiers = mouse_report::without_override(pane, held, &self.mux);
        self.prefs.mouse_map.get(MouseChord { modifiers, input })
    }

    /// Runs the actions that a mouse input is bound to. Returns false if no action is bound.
    pub(crate) fn bound_mouse(&mut self, input: MouseInput, pane: PaneId) -> bool {
        let found = self.mouse_actions(input, pane);
        let Some(actions) = found.map(<[Action]>::to_vec) else { return false };
        for action in actions {
            self.act_by_choice(None, action);
        }
        true
    }

    fn released(&mut self, button: MouseButton) {
        self.overlay_release();
        if button == MouseButton::Left {
            if let Some(tab) = self.chrome.tabs.let_go() {
                return self.with_parts(|parts, cx| {
                    let is_on_x = parts
                        .surface
                        .screen
                        .as_ref()
                        .is_some_and(|screen| x_server::id(&screen.window).is_some());
                    moving::tear_off(tab, is_on_x, cx);
                });
            }
            if self.with_parts(|parts, cx| parts.chrome.sidebar.let_go(cx))
                || self.workspace.dividers.let_go()
                || self.chrome.scrollbars.let_go()
            {
                return;
            }
        }
        if let Some(sent) = mux_button(button)
            && let Some(pane) = self.input.pointer.let_go(sent)
        {
            if let Some(target) = self.target_in(pane) {
                self.with_parts(|_, cx| {
                    mouse_report::report(&target, MouseKind::Release(sent), cx)
                });
            }
        } else if button == MouseButton::Left
            && let Some(pane) = self.input.pointer.selecting.take()
            && let Some(pane) = self.mux.pane(pane)
        {
            let trims = self.prefs.config.mouse.trim_copied;
            if let Some(text) = selected_text(&self.workspace.views, &pane, trims) {
                self.with_parts(|_, cx| copy_on_select(text, cx));
            } else if let Some(target) = self.target_in(pane.id()) {
                let held = keys::modifiers(self.input.modifiers);
                let modifiers = mouse_report::without_override(target.id, held, &self.mux);
                if modifiers.is_empty() && !self.input.pointer.arrives {
                    let (id, x, y) = (target.id, target.x, target.y);
                    let link = self.with_parts(|_, cx| clicked_link(id, x, y, cx));
                    // A double click selects a word. Its first click must not already open a link or move the cursor,
                    // so the click waits.
                    self.input.pointer.deferred = Some((self.now + DOUBLE_CLICK, target, link));
                    self.deferred_click(false);
                }
            }
        }
    }

    /// Runs a click that selected no text: at once if `now` is set, and otherwise only after the time for a double
    /// click is over. Returns the frame that is due.
    pub(crate) fn deferred_click(&mut self, now: bool) -> Redraw {
        let Some((due, ..)) = self.input.pointer.deferred else { return Redraw::No };
        if !now && self.now < due {
            self.surface.wake_at(due);
            return Redraw::No;
        }
        let Some((_, target, link)) = self.input.pointer.deferred.take() else {
            return Redraw::No;
        };
        if let Some(link) = link {
            self.with_parts(|_, cx| open_link(&link, cx));
            return Redraw::Whole;
        }
        let pane = self.mux.pane(target.id);
        pane.map_or(Redraw::No, |pane| self.click_at_prompt(&pane, target.x, target.y))
    }

    fn right_button(&mut self, target: &Target) {
        let wanted = self.prefs.config.mouse.right_button;
        match wanted {
            RightButton::Menu => self.open_context_menu(target),
            RightButton::CopyOrPaste if self.with_parts(|_, cx| copy_selection(cx)) => {}
            RightButton::CopyOrPaste | RightButton::Paste => {
                self.paste(Buffer::Clipboard, target.id)
            }
            RightButton::Extend => {
                self.with_parts(|_, cx| selecting::begin(target, Modifiers::SHIFT, cx));
                self.input.pointer.selecting = None;
                let trims = self.prefs.config.mouse.trim_copied;
                let pane = self.mux.pane(target.id);
                let text = pane.and_then(|pane| selected_text(&self.workspace.views, &pane, trims));
                if let Some(text) = text {
                    self.with_parts(|_, cx| copy_on_select(text, cx));
                }
            }
            RightButton::None => {}
        }
    }

    /// Handles a left press on the mark, the buttons or the header of a command. Returns false if none of them was hit.
    fn press_block(&mut self, x: f64, y: f64) -> bool {
        self.with_parts(|parts, cx| {
            let matches = parts.overlays.search.highlights(cx.views);
            mouse::press(parts.overlays.block_hover, &matches, x, y, cx)
        })
    }

    /// The pane under the pointer, and the pointer's position in it.
    pub(crate) fn target(&mut self) -> Option<Target> {
        self.with_parts(|_, cx| hit_test::target(cx))
    }

    /// The pointer's position relative to a visible pane. The position may be outside the pane.
    fn target_in(&mut self, pane: PaneId) -> Option<Target> {
        self.with_parts(|_, cx| hit_test::target_in(pane, cx))
    }

    /// Updates the link under the pointer. Returns whether a click opens it, and the frame that is due.
    fn hover(&mut self, target: &Target) -> (bool, Redraw) {
        let Target { id, x, y } = *target;
        self.with_parts(|parts, cx| parts.overlays.hover(id, x, y, cx))
    }

    /// Clears the link under the pointer. Returns the frame that is due.
    fn end_hover(&mut self) -> Redraw {
        self.with_parts(|parts, cx| parts.overlays.end_hover(cx))
    }

    /// Opens the link at a pixel, as a Ctrl+click does. Returns false if there is no link.
    fn open_link(&mut self, pane: PaneId, x: f64, y: f64) -> bool {
        self.with_parts(|_, cx| {
            let link = link_under(pane, x, y, true, cx);
            link.iter().for_each(|link| open_link(link, cx));
            link.is_some()
        })
    }

    /// Handles a click that selected no text. At a prompt, the click moves the shell's cursor. Returns the frame that is
    /// due.
    fn click_at_prompt(&mut self, pane: &Pane, x: f64, y: f64) -> Redraw {
        let bytes = self.with_parts(|_, cx| mouse::keys_to_click(pane, x, y, cx));
        bytes.map_or(Redraw::No, |bytes| self.type_bytes(pane, &bytes))
    }

    /// Hides the pointer until it moves, if `mouse.hide_while_typing` is on.
    pub(crate) fn hide_pointer(&mut self) {
        if self.prefs.config.mouse.hide_while_typing && !self.input.pointer.hidden {
            self.show_pointer(false);
        }
    }

    fn show_pointer(&mut self, shown: bool) {
        if std::mem::replace(&mut self.input.pointer.hidden, !shown) == shown {
            self.effect(Effect::ShowPointer(shown));
        }
    }

    /// The part of the tab bar or the sidebar under the pointer. `None` if the pointer is elsewhere.
    pub(crate) fn tab_bar_part(&mut self) -> Option<TabBarPart> {
        self.with_parts(|parts, cx| parts.chrome.tabs.part(cx))
    }

    /// Cancels a drag, and restores the state from before the drag. Returns false if there was no drag.
    pub(crate) fn cancel_drag(&mut self) -> bool {
        self.with_parts(|parts, cx| parts.chrome.tabs.cancel_drag(cx))
            || self.with_parts(|parts, cx| parts.chrome.sidebar.cancel_drag(cx))
            || self.with_parts(|parts, cx| parts.dividers.cancel_drag(cx))
    }

    /// Applies a pointer shape that a program set while the pointer was at rest.
    pub(crate) fn pointer_shape_changed(&mut self) {
        if self.input.pointer.position.is_some() {
            let target = self.target();
            self.set_icon(mouse_report::icon_over(target.as_ref(), &self.mux));
        }
    }

    pub(crate) fn set_icon(&mut self, icon: CursorIcon) {
        if std::mem::replace(&mut self.input.pointer.icon, icon) != icon {
            self.effect(Effect::PointerShape(icon));
        }
    }

    /// Finds the link under the pointer again, after Ctrl or the text changed while the pointer was at rest. Returns the
    /// frame that is due.
    pub(crate) fn hover_again(&mut self) -> Redraw {
        let target = self.target();
        let (opens, redraw) = match &target {
            Some(target) => self.hover(target),
            None => (false, Redraw::No),
        };
        if opens {
            self.set_icon(CursorIcon::Pointer);
            return redraw;
        }
        let ended = self.end_hover();
        self.set_icon(mouse_report::icon_over(target.as_ref(), &self.mux));
        redraw.max(ended)
    }
}
