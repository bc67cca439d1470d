//! The tabs in the tab bar or in the sidebar: their labels, the mouse on them, and which of them are visible.

use std::time::Instant;

use unterm_mux::{Layout, Mux, TabId};
use winit::{
    event::{MouseButton, MouseScrollDelta},
    window::CursorIcon,
};

use crate::action::Action;
use crate::window::{
    chrome::{
        sidebar::layout::SidebarLayout,
        tab_bar::{Look, Strip, TabBar, TabBarPart},
        tab_label::TabLabel,
        tabs_layout::TabsLayout,
    },
    cx::Cx,
    input::pointer::{DOUBLE_CLICK, wheel::whole_notches},
    overlays::{Overlays, choice::Choice, panel::item::Item},
    ui::geometry::Geometry,
    wish::Wish,
    workspace::closing::Closing,
};

/// The distance that a pressed tab must move before a drag starts, in logical pixels.
const TRAVEL: f32 = 5.0;

/// The tabs of the window.
#[derive(Debug, Default)]
pub(crate) struct Tabs {
    /// The texts and marks of the tabs in the last drawn tab bar.
    labels: Vec<TabLabel>,
    strip: Strip,
    drag: Option<Drag>,
    /// The last press of the left button, to detect double clicks.
    click: Option<(Instant, TabBarPart)>,
    /// The fraction of a notch that the wheel has turned since its last whole notch.
    wheel: f64,
}

/// A tab under the held left button.
#[derive(Clone, Copy, Debug)]
struct Drag {
    tab: TabId,
    /// The distance from the tab's start to the pressed point, in pixels along the tabs.
    grip: f64,
    /// The pressed point along the tabs.
    start: f64,
    /// The tab's index before the drag.
    from: usize,
    /// Whether the pointer has moved far enough to start a drag.
    is_moving: bool,
    /// Whether the pointer is far outside the bar, so that the tab leaves the window when the button is released.
    leaves: bool,
}

impl Tabs {
    /// The texts and marks of the tabs in the last drawn tab bar.
    pub(crate) fn labels(&self) -> &[TabLabel] {
        &self.labels
    }

    /// Sets the texts and marks of the tabs.
    pub(crate) fn set_labels(&mut self, labels: Vec<TabLabel>) {
        self.labels = labels;
    }

    /// The title of a tab. `None` if the tab has not been drawn yet.
    pub(crate) fn title(&self, tab: TabId) -> Option<&str> {
        let label = self.labels.iter().find(|label| label.id == tab)?;
        Some(&label.title)
    }

    /// The tabs as items of a list.
    pub(crate) fn items(&self, mux: &Mux) -> Vec<Item<Choice>> {
        let layout = mux.layout();
        let tabs = layout.tabs.iter().enumerate();
        tabs.map(|(index, tab)| {
            let title = self.title(tab.id).unwrap_or_default();
            Item::new(title, Choice::Tab(tab.id)).noted(format!("tab {}", index + 1))
        })
        .collect()
    }

    /// The bar with these tabs.
    pub(crate) fn bar(&self, geometry: Geometry, layout: &Layout, max_title: u16) -> TabBar<'_> {
        let active = layout.active_tab().map(|tab| tab.id);
        TabBar::new(geometry, &self.labels, active, self.strip, max_title)
    }

    /// The sidebar with these tabs.
    pub(crate) fn side(&self, geometry: Geometry, layout: &Layout) -> SidebarLayout<'_> {
        let active = layout.active_tab().map(|tab| tab.id);
        SidebarLayout::new(geometry, &self.labels, active, self.strip)
    }

    /// The bar or the sidebar as last drawn.
    pub(crate) fn drawn_layout(&self, cx: &Cx<'_>) -> Option<TabsLayout<'_>> {
        let (geometry, layout) = (cx.geometry?, cx.mux.layout());
        Some(match geometry.sidebar().width > 0 {
            true => TabsLayout::Side(self.side(geometry, &layout)),
            false => {
                let max_title = cx.prefs.config.tab_bar.max_title;
                TabsLayout::Bar(self.bar(geometry, &layout, max_title))
            }
        })
    }

    /// Scrolls to the active tab, if another tab became active or the active tab moved. Then scrolls to the tab that the
    /// keyboard marks in the sidebar.
    pub(crate) fn follow_active(&mut self, selected: Option<TabId>, cx: &Cx<'_>) {
        if let Some(strip) = self.drawn_layout(cx).map(|layout| layout.following(self.strip)) {
            self.strip = strip;
        }
        let index = self.labels.iter().position(|label| Some(label.id) == selected);
        let first = match (index, self.drawn_layout(cx)) {
            (Some(index), Some(TabsLayout::Side(side))) => side.first_to_show(index),
            _ => return,
        };
        self.strip.first = first;
    }

    /// The state of mouse and animations for drawing the tabs. `turn` is the rotation of progress rings.
    pub(crate) fn look(&self, turn: f32, cx: &Cx<'_>) -> Look {
        let pointer = cx.pointer.position;
        let drag = self.drag.filter(|drag| drag.is_moving);
        let dragged = drag.zip(pointer).zip(self.drawn_layout(cx));
        let dragged = dragged.and_then(|((drag, point), layout)| {
            let (start, end) = layout.span();
            let length = layout.extent(drag.tab)?.1 as i32;
            let at = (layout.along(point) - drag.grip) as i32;
            Some((drag.tab, at.min(end - length).max(start)))
        });
        Look { pointer, dragged, turn, numbers: cx.prefs.config.tab_bar.numbers }
    }

    /// Whether a tab is dragged.
    pub(crate) fn is_dragging(&self) -> bool {
        self.drag.is_some_and(|drag| drag.is_moving)
    }

    /// The part of the bar or the sidebar under the pointer. `None` if the pointer is elsewhere.
    pub(crate) fn part(&self, cx: &Cx<'_>) -> Option<TabBarPart> {
        let (x, y) = cx.pointer.position?;
        if !cx.geometry?.has_tabs_at(x, y) {
            return None;
        }
        self.drawn_layout(cx).map(|layout| layout.at(x, y))
    }

    /// Handles a press of a button on a part of the bar.
    pub(crate) fn press(&mut self, part: TabBarPart, button: MouseButton, cx: &mut Cx<'_>) {
        let double = button == MouseButton::Left && self.is_double_click(part, cx.now);
        if let Some(tab) = part.closed_by(button) {
            return cx.wish(Wish::Close(Closing::Tab(tab)));
        }
        match (part, button) {
            (TabBarPart::Tab(tab), MouseButton::Left) if double => {
                self.drag = None;
                cx.wish(Wish::Act(Some(tab), Action::RenameTab));
            }
            (TabBarPart::Tab(tab), MouseButton::Left) => {
                self.grab(tab, cx);
                cx.report(cx.mux.activate_tab(tab));
            }
            (TabBarPart::Tab(tab) | TabBarPart::Close(tab), MouseButton::Right) => {
                cx.wish(Wish::OpenTabMenu(tab, cx.pointer.position));
            }
            (TabBarPart::Menu, MouseButton::Left | MouseButton::Right) => {
                cx.wish(Wish::OpenMainMenu);
            }
            (TabBarPart::Fold, MouseButton::Left) => {
                cx.wish(Wish::Act(None, Action::FoldSidebar));
            }
            (TabBarPart::New, MouseButton::Left | MouseButton::Middle) => cx.wish(Wish::OpenTab),
            (TabBarPart::New, MouseButton::Right) => {
                cx.wish(Wish::Act(None, Action::ChooseShell));
            }
            (TabBarPart::Empty, MouseButton::Right) => cx.wish(Wish::Act(None, Action::Launcher)),
            (TabBarPart::Empty, MouseButton::Left) if double => cx.wish(Wish::OpenTab),
            (TabBarPart::Before, MouseButton::Left) => self.scroll_pages(-1, cx),
            (TabBarPart::After, MouseButton::Left) => self.scroll_pages(1, cx),
            _ => {}
        }
    }

    /// Records a press on the bar; returns whether the press completes a double click.
    fn is_double_click(&mut self, part: TabBarPart, now: Instant) -> bool {
        let before = self.click.replace((now, part));
        let double = before.is_some_and(|(time, same)| same == part && now - time < DOUBLE_CLICK);
        if double {
            self.click = None;
        }
        double
    }

    /// Scrolls the bar by pages. A page is one tab less than the number of visible tabs.
    fn scroll_pages(&mut self, pages: isize, cx: &Cx<'_>) {
        let strip = self.drawn_layout(cx).map(|layout| {
            let page = layout.shown().saturating_sub(1).max(1) as isize;
            layout.scrolled(self.strip, pages * page)
        });
        self.strip = strip.unwrap_or_default();
    }

    /// Handles the wheel over the tabs. In the bar, a vertical turn switches tabs; a horizontal turn, or a turn with Shift,
    /// scrolls the bar. In the sidebar, every turn scrolls.
    pub(crate) fn turn_wheel(&mut self, delta: MouseScrollDelta, cx: &mut Cx<'_>) {
        let (x, y) = match delta {
            MouseScrollDelta::LineDelta(x, y) => (f64::from(x), f64::from(y)),
            MouseScrollDelta::PixelDelta(at) => {
                let (_, height) = cx.cell();
                (at.x / f64::from(height), at.y / f64::from(height))
            }
        };
        // Touch pads rarely report a scroll that is exactly horizontal or vertical, so the larger part counts.
        let is_sideways = x.abs() > y.abs();
        let is_side = cx.geometry.is_some_and(|geometry| geometry.sidebar().width > 0);
        let scrolls = is_sideways || is_side || cx.modifiers.shift_key();
        let turned = if is_sideways { x } else { y };
        let steps = -whole_notches(&mut self.wheel, turned) as isize;
        if steps == 0 {
            return;
        }
        if !scrolls {
            return switch_tab(steps.signum(), cx);
        }
        let strip = self.drawn_layout(cx).map(|layout| layout.scrolled(self.strip, steps));
        self.strip = strip.unwrap_or_default();
    }

    fn grab(&mut self, tab: TabId, cx: &Cx<'_>) {
        let Some(point) = cx.pointer.position else { return };
        let layout = cx.mux.layout();
        let Some(from) = layout.tabs.iter().position(|one| one.id == tab) else { return };
        let Some(drawn) = self.drawn_layout(cx) else { return };
        let start = drawn.along(point);
        let grip = drawn.extent(tab).map_or(0.0, |(edge, _)| start - edge);
        self.drag = Some(Drag { tab, grip, start, from, is_moving: false, leaves: false });
    }

    /// Drags the held tab to the pointer. Returns false if no tab is held.
    pub(crate) fn drag(&mut self, x: f64, y: f64, cx: &mut Cx<'_>) -> bool {
        let (Some(mut drag), Some(geometry)) = (self.drag, cx.geometry) else { return false };
        let Some(layout) = self.drawn_layout(cx) else { return false };
        // The tab leaves the window only if the pointer is clearly outside the tabs.
        let bar = layout.rect();
        let (width, height) = (f64::from(bar.width), f64::from(bar.height));
        let (x_in, y_in) = (x - f64::from(bar.x), y - f64::from(bar.y));
        let distance = (-x_in).max(x_in - width).max(-y_in).max(y_in - height);
        drag.leaves = distance > f64::from(layout.leaving_distance());
        let along = layout.along((x, y));
        drag.is_moving |=
            (along - drag.start).abs() > f64::from(TRAVEL * geometry.scale) || drag.leaves;
        let index = layout
            .extent(drag.tab)
            .map(|(_, length)| layout.index_at(along - drag.grip + length / 2.0));
        self.drag = Some(drag);
        if drag.leaves {
            self.click = None;
            cx.set_icon(CursorIcon::Move);
            cx.report(cx.mux.move_tab(drag.tab, drag.from));
        } else if drag.is_moving {
            cx.set_icon(CursorIcon::Default);
            // The press that started this drag does not count toward a double click.
            self.click = None;
            if let Some(index) = index {
                cx.report(cx.mux.move_tab(drag.tab, index));
            }
        }
        true
    }

    /// Lets go of the held tab. Returns the tab if it leaves the window.
    pub(crate) fn let_go(&mut self) -> Option<TabId> {
        self.drag.take().filter(|drag| drag.leaves).map(|drag| drag.tab)
    }

    /// Ends the drag of a tab, and moves the tab back to its old place. Returns false if no tab was moving.
    pub(crate) fn cancel_drag(&mut self, cx: &mut Cx<'_>) -> bool {
        let Some(drag) = self.drag.take() else { return false };
        if drag.is_moving {
            cx.report(cx.mux.move_tab(drag.tab, drag.from));
        }
        drag.is_moving
    }

    /// Asks for a new title of a tab. The input initially contains the current title.
    pub(crate) fn ask_title(&self, tab: TabId, overlays: &mut Overlays, cx: &mut Cx<'_>) {
        let hint = "Title of the tab; leave it empty for the program's own title";
        let title = self.title(tab).unwrap_or_default();
        overlays.pick_argument("set_tab_title", hint, title, tab, cx);
    }
}

/// Activates the tab that is `by` places further. Wraps around at the ends.
pub(crate) fn switch_tab(by: isize, cx: &mut Cx<'_>) {
    let layout = cx.mux.layout();
    let count = layout.tabs.len() as isize;
    if count > 0 {
        let index = (layout.active as isize + by).rem_euclid(count) as usize;
        cx.report(cx.mux.activate_tab(layout.tabs[index].id));
    }
}
