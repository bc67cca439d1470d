//! Opens menus, passes keys and the mouse to the open menu, and carries out the choice.

use unterm_mux::{
    TabId,
    input::{Key, Modifiers},
};
use unterm_renderer::PixelRect;
use winit::window::CursorIcon;

use crate::action::Action;
use crate::window::{
    app::{
        App,
        overlays::layer::{Layer, Press},
    },
    input::{buffer::Buffer, keys::Pressed},
    overlays::{
        canvas::Canvas,
        menu::{Choice, Item, Menu, MenuOutcome, Row},
        taker::Taker,
    },
    surface::plan::Drawn,
};

/// The overlay of the open menu.
pub(crate) struct MenuLayer;

impl Layer for MenuLayer {
    fn is_open(&self, app: &App) -> bool {
        app.overlays.menu.is_some()
    }

    fn has_mouse(&self) -> bool {
        true
    }

    fn taker(&self) -> Option<Taker> {
        Some(Taker::Nobody)
    }

    fn key(&self, app: &mut App, press: &Press<'_>) -> bool {
        app.menu_key(press.pressed, press.modifiers);
        true
    }

    fn press(&self, app: &mut App) -> bool {
        app.menu_pressed()
    }

    fn point(&self, app: &mut App, x: f64, y: f64) -> bool {
        app.set_icon(CursorIcon::Default);
        app.menu_pointed(x, y);
        true
    }

    fn wheel(&self, app: &mut App, up: bool) {
        app.menu_wheel(up);
    }

    fn draw(&self, drawn: &Drawn<'_>, canvas: &mut Canvas<'_, '_>) {
        if let Some(menu) = &drawn.overlays.menu {
            menu.draw(canvas.geometry, canvas.colors, canvas.scene);
        }
    }
}

impl App {
    /// Opens a menu next to the rectangle `anchor`, which may be a point of size 0. Its actions apply to the tab
    /// `target`, or to the active tab if that is `None`.
    pub(crate) fn open_menu(&mut self, anchor: PixelRect, rows: Vec<Row>, target: Option<TabId>) {
        let Some(geometry) = self.surface.geometry else { return };
        let opened = self.input.pointer.position;
        let mut menu = Menu { rows, marked: None, first: 0, anchor, width: 0, target, opened };
        menu.measure(&geometry, &mut self.surface.renderer);
        self.overlays.menu = Some(menu);
        self.surface.pacing.ask();
    }

    pub(crate) fn menu_item(&self, action: Action) -> Item {
        Item::new(action, &self.prefs.keymap)
    }

    pub(crate) fn close_menu(&mut self) {
        if self.overlays.menu.take().is_some() {
            self.surface.pacing.ask();
        }
    }

    /// Handles a key while a menu is open. No key reaches anything below the menu.
    pub(crate) fn menu_key(&mut self, pressed: Pressed, modifiers: Modifiers) {
        let Some(menu) = &mut self.overlays.menu else { return };
        let key = match pressed.unshifted {
            Some(c) if modifiers.contains(Modifiers::CTRL) => Key::Char(c),
            _ => pressed.key,
        };
        let outcome = menu.key(key, modifiers);
        self.chose(outcome);
    }

    /// Handles a move of the pointer while a menu is open.
    pub(crate) fn menu_pointed(&mut self, x: f64, y: f64) {
        let Some(geometry) = self.surface.geometry else {
            return;
        };
        let Some(menu) = &mut self.overlays.menu else { return };
        let before = menu.marked;
        let inside = menu.point(&geometry, x, y);
        if !inside {
            // If the pointer is outside the menu, the item that was marked by a key stays marked.
            menu.marked = before;
        } else if menu.marked != before {
            self.surface.pacing.ask();
        }
    }

    /// Handles a button press while a menu is open. Returns false if the press must also reach what lies below.
    pub(crate) fn menu_pressed(&mut self) -> bool {
        let Some((x, y)) = self.input.pointer.position else { return true };
        let Some(geometry) = self.surface.geometry else {
            return false;
        };
        let Some(menu) = &mut self.overlays.menu else { return false };
        let inside = menu.point(&geometry, x, y);
        menu.opened = None;
        if !inside {
            self.close_menu();
        }
        // A press outside the menu only closes it. A press on the tab bar is passed on, because it may open another
        // menu.
        inside || self.tab_bar_part().is_none()
    }

    /// Handles the release of a button while a menu is open. If the pointer is over an item, chooses that item.
    pub(crate) fn menu_released(&mut self) {
        let Some((x, y)) = self.input.pointer.position else { return };
        let Some(geometry) = self.surface.geometry else {
            return;
        };
        let Some(menu) = &mut self.overlays.menu else { return };
        if menu.opened.is_none() && menu.point(&geometry, x, y) {
            let outcome = menu.choose();
            self.chose(outcome);
        }
    }

    /// Handles the wheel while a menu is open.
    pub(crate) fn menu_wheel(&mut self, up: bool) {
        if let Some(menu) = &mut self.overlays.menu {
            menu.step(if up { -1 } else { 1 });
            self.surface.pacing.ask();
        }
    }

    fn chose(&mut self, outcome: MenuOutcome) {
        self.surface.pacing.ask();
        match outcome {
            MenuOutcome::Stay => {}
            MenuOutcome::Closed => self.close_menu(),
            MenuOutcome::Chosen(choice) => {
                let target = self.overlays.menu.take().and_then(|menu| menu.target);
                match choice {
                    Choice::Act(action) => self.act_by_choice(target, action),
                    Choice::Open(link) => self.open_hovered(&link),
                    Choice::Copy(text) => self.store(Buffer::Clipboard, text),
                    Choice::Command(pane, command, part) => {
                        if let Some(pane) = self.mux.pane(pane) {
                            self.do_with(&pane, command, part);
                        }
                    }
                }
            }
        }
    }
}
