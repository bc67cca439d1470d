//! Mouse input on the tab bar; the menu and the title of a tab.

use unterm_mux::{OnExit, Spawn, Tab, TabId};
use unterm_renderer::PixelRect;
use winit::{
    event::{MouseButton, MouseScrollDelta},
    window::CursorIcon,
};

use crate::action::Action;
use crate::window::{
    app::App,
    chrome::{
        tab_bar::{Look, TabBar, TabBarPart},
        tabs::Drag,
    },
    input::pointer::wheel::whole_notches,
    overlays::menu::Row,
    workspace::closing::Closing,
};

/// The distance that a pressed tab must move before a drag starts, in logical pixels.
const TRAVEL: f32 = 5.0;

impl App {
    /// The tab bar as last drawn.
    pub(crate) fn tab_bar(&self) -> Option<TabBar<'_>> {
        let geometry = self.surface.geometry?;
        let active = self.mux.layout().active_tab().map(|tab| tab.id);
        let max_title = self.prefs.config.tab_bar.max_title;
        Some(TabBar::new(
            geometry,
            &self.chrome.tabs,
            active,
            self.chrome.tab_hand.strip,
            max_title,
        ))
    }

    /// Scrolls the bar to the active tab, if another tab became active or the active tab moved.
    pub(crate) fn follow_active_tab(&mut self) {
        if let Some(strip) = self.tab_bar().map(|bar| bar.following(self.chrome.tab_hand.strip)) {
            self.chrome.tab_hand.strip = strip;
        }
    }

    /// The state of mouse and animations for drawing the bar. `turn` is the rotation of progress rings.
    pub(crate) fn tab_bar_look(&self, turn: f32) -> Look {
        let pointer = self.input.pointer.position;
        let drag = self.chrome.tab_hand.drag.filter(|drag| drag.is_moving);
        let dragged = drag.zip(pointer).zip(self.tab_bar()).and_then(|((drag, (x, _)), bar)| {
            let (left, right) = bar.span();
            let width = bar.place_of(drag.tab)?.width as i32;
            Some((drag.tab, ((x - drag.grip) as i32).min(right - width).max(left)))
        });
        Look { pointer, dragged, turn, numbers: self.prefs.config.tab_bar.numbers }
    }

    pub(crate) fn tab_bar_pressed(&mut self, part: TabBarPart, button: MouseButton) {
        let double = button == MouseButton::Left && self.chrome.is_double_click(part, self.now);
        if let Some(tab) = part.closed_by(button) {
            self.close(Closing::Tab(tab));
            return;
        }
        match (part, button) {
            (TabBarPart::Tab(tab), MouseButton::Left) if double => {
                self.chrome.tab_hand.drag = None;
                self.act_in(Some(tab), Action::RenameTab);
            }
            (TabBarPart::Tab(tab), MouseButton::Left) => {
                self.grab_tab(tab);
                self.report(self.mux.activate_tab(tab));
            }
            (TabBarPart::Tab(tab) | TabBarPart::Close(tab), MouseButton::Right) => {
                self.open_tab_menu(tab, self.input.pointer.position);
            }
            (TabBarPart::Menu, MouseButton::Left | MouseButton::Right) => self.open_main_menu(),
            (TabBarPart::New, MouseButton::Left | MouseButton::Middle) => self.open_tab(None),
            (TabBarPart::New, MouseButton::Right) => self.pick_shell(),
            (TabBarPart::Empty, MouseButton::Right) => self.pick_anything(),
            (TabBarPart::Empty, MouseButton::Left) if double => self.open_tab(None),
            (TabBarPart::Before, MouseButton::Left) => self.scroll_tabs(-1),
            (TabBarPart::After, MouseButton::Left) => self.scroll_tabs(1),
            _ => {}
        }
    }

    /// Scrolls the bar by pages. A page is one tab less than the number of visible tabs.
    fn scroll_tabs(&mut self, pages: isize) {
        let strip = self.tab_bar().map(|bar| {
            let page = bar.shown().saturating_sub(1).max(1) as isize;
            bar.scrolled(self.chrome.tab_hand.strip, pages * page)
        });
        self.chrome.tab_hand.strip = strip.unwrap_or_default();
    }

    /// Handles the wheel over the tab bar. A vertical turn switches tabs. A horizontal turn, or a turn with Shift,
    /// scrolls the bar.
    pub(crate) fn tab_bar_wheel(&mut self, delta: MouseScrollDelta) {
        let (x, y) = match delta {
            MouseScrollDelta::LineDelta(x, y) => (f64::from(x), f64::from(y)),
            MouseScrollDelta::PixelDelta(at) => {
                let (_, height) = self.surface.cell();
                (at.x / f64::from(height), at.y / f64::from(height))
            }
        };
        // Touch pads rarely report a scroll that is exactly horizontal or vertical, so the larger part counts.
        let is_sideways = x.abs() > y.abs();
        let scrolls = is_sideways || self.input.modifiers.shift_key();
        let turned = if is_sideways { x } else { y };
        let steps = -whole_notches(&mut self.chrome.tab_hand.wheel, turned) as isize;
        if steps == 0 {
            return;
        }
        if !scrolls {
            return self.switch_tab(steps.signum());
        }
        let strip = self.tab_bar().map(|bar| bar.scrolled(self.chrome.tab_hand.strip, steps));
        self.chrome.tab_hand.strip = strip.unwrap_or_default();
    }

    fn grab_tab(&mut self, tab: TabId) {
        let Some((x, _)) = self.input.pointer.position else { return };
        let layout = self.mux.layout();
        let Some(from) = layout.tabs.iter().position(|one| one.id == tab) else { return };
        let place = self.tab_bar().and_then(|bar| bar.place_of(tab));
        let grip = place.map_or(0.0, |place| x - f64::from(place.x));
        self.chrome.tab_hand.drag =
            Some(Drag { tab, grip, start: x, from, is_moving: false, leaves: false });
    }

    /// Drags the held tab to the pointer. Returns false if no tab is held.
    pub(crate) fn drag_tab(&mut self, x: f64, y: f64) -> bool {
        let Some(mut drag) = self.chrome.tab_hand.drag else { return false };
        let Some(geometry) = self.surface.geometry else { return false };
        let (bar, scale) = (geometry.tab_bar(), geometry.scale);
        // The tab leaves the window only if the pointer is clearly outside the bar: by more than the bar's height.
        let (width, height) = (f64::from(bar.width), f64::from(bar.height));
        let (x_in, y_in) = (x - f64::from(bar.x), y - f64::from(bar.y));
        let distance = (-x_in).max(x_in - width).max(-y_in).max(y_in - height);
        drag.leaves = distance > height;
        drag.is_moving |= (x - drag.start).abs() > f64::from(TRAVEL * scale) || drag.leaves;
        self.chrome.tab_hand.drag = Some(drag);
        if drag.leaves {
            self.chrome.tab_hand.click = None;
            self.set_icon(CursorIcon::Move);
            self.report(self.mux.move_tab(drag.tab, drag.from));
        } else if drag.is_moving {
            self.set_icon(CursorIcon::Default);
            // The press that started this drag does not count toward a double click.
            self.chrome.tab_hand.click = None;
            let index = self.tab_bar().and_then(|bar| {
                let width = f64::from(bar.place_of(drag.tab)?.width);
                Some(bar.index_at(x - drag.grip + width / 2.0))
            });
            if let Some(index) = index {
                self.report(self.mux.move_tab(drag.tab, index));
            }
        }
        true
    }

    /// Ends the drag of a tab, and moves the tab back to its old place. Returns false if no tab was moving.
    pub(crate) fn cancel_tab_drag(&mut self) -> bool {
        let Some(drag) = self.chrome.tab_hand.drag.take() else { return false };
        if drag.is_moving {
            self.report(self.mux.move_tab(drag.tab, drag.from));
        }
        drag.is_moving
    }

    /// Opens the menu of a tab, at a point of the tab bar or below the tab.
    pub(crate) fn open_tab_menu(&mut self, tab: TabId, at: Option<(f64, f64)>) {
        let layout = self.mux.layout();
        let Some(index) = layout.tabs.iter().position(|one| one.id == tab) else { return };
        let Some(geometry) = self.surface.geometry else {
            return;
        };
        let bar = geometry.tab_bar();
        let x = match at {
            Some((x, _)) => x as i32,
            None => self.tab_bar().and_then(|bar| bar.place_of(tab)).map_or(0, |place| place.x),
        };
        let anchor = PixelRect { x, width: 0, ..bar };
        let last = layout.tabs.len() - 1;
        let rows: Vec<Row> = vec![
            self.menu_item(Action::NewTab(None)).into(),
            self.menu_item(Action::DuplicateTab).into(),
            Row::Line,
            self.menu_item(Action::SplitRight).into(),
            self.menu_item(Action::SplitDown).into(),
            self.menu_item(Action::BroadcastTab)
                .titled("Broadcast input in this tab")
                .enabled(layout.tabs[index].panes().len() > 1)
                .checked(self.workspace.panes.broadcast.covers(tab))
                .into(),
            Row::Line,
            self.menu_item(Action::MoveTabLeft).enabled(index > 0).into(),
            self.menu_item(Action::MoveTabRight).enabled(index < last).into(),
            self.menu_item(Action::RenameTab).titled("Rename tab…").into(),
            self.menu_item(Action::TabToNewWindow).enabled(last > 0).into(),
            self.menu_item(Action::TabToWindow(None)).titled("Move tab to another window…").into(),
            Row::Line,
            self.menu_item(Action::CloseTab).into(),
            self.menu_item(Action::CloseOtherTabs).enabled(last > 0).into(),
            self.menu_item(Action::UndoClose).enabled(self.can_undo_close()).into(),
        ];
        self.open_menu(anchor, rows, Some(tab));
    }

    /// Opens a new tab that runs the command of a tab's focused pane, in that pane's current directory.
    pub(crate) fn duplicate_tab(&mut self, tab: &Tab) {
        let Some(pane) = self.mux.pane(tab.focused) else { return };
        let (program, args) = match pane.command() {
            Some((program, args)) => (Some(program.to_owned()), args.to_vec()),
            None => (None, Vec::new()),
        };
        let spawn = Spawn { program, args, ..self.spawn_beside() };
        self.report(self.mux.open_tab(spawn, None, OnExit::Close));
    }

    /// Asks for a new title of a tab. The input initially contains the current title.
    pub(crate) fn ask_tab_title(&mut self, tab: &Tab) {
        let label = self.chrome.tabs.iter().find(|label| label.id == tab.id);
        let title = label.map_or_else(String::new, |label| label.title.clone());
        let hint = "Title of the tab; leave it empty for the program's own title";
        self.pick_argument("set_tab_title", hint, &title, tab.id);
    }
}
