//! The sidebar: a column at the left with a row for each tab, in place of the tab bar.
//!
//! Owns the mark of the keyboard, the drag of the edge, and the tooltip. `tabs.rs` owns the tabs and handles the mouse on
//! their rows. A hidden sidebar draws nothing, and nothing is read for it.

pub(crate) mod draw;
pub(crate) mod keys;
pub(crate) mod layout;

use std::time::{Duration, Instant};

use unterm_mux::TabId;
use unterm_renderer::{LabelAlign, PixelRect, Renderer, Scene};

use crate::config::TabBar;
use crate::window::{
    chrome::{tab_bar::TabBarPart, tabs::Tabs, tabs_layout::TabsLayout},
    cx::Cx,
    input::pointer::DOUBLE_CLICK,
    ui::{
        colors::{Colors, framed, label},
        geometry::{Geometry, SidebarSize, TabsAt},
    },
    wish::Wish,
};

/// The distance at which the pointer can grab the edge, on each side, in logical pixels.
const REACH: f32 = 3.0;
/// The widths to which the edge can be dragged, in characters, and the width below which a drag folds the sidebar.
const WIDTHS: std::ops::RangeInclusive<u16> = 12..=100;
const FOLDS_BELOW: u16 = 6;
/// The time until the tooltip of a row appears.
const TOOLTIP: Duration = Duration::from_millis(500);

/// The state of the sidebar.
#[derive(Debug, Default)]
pub(crate) struct Sidebar {
    /// The tab that the keyboard marks. `None` if the panes have the keyboard.
    selected: Option<TabId>,
    drag: Option<EdgeDrag>,
    /// The last press on the edge, to detect double clicks.
    click: Option<Instant>,
    /// The tab under the pointer, and since when.
    pointed: Option<(TabId, Instant)>,
    tooltip: Option<Tooltip>,
}

/// A drag of the sidebar's edge.
#[derive(Clone, Copy, Debug)]
struct EdgeDrag {
    /// The distance from the pressed point to the edge, in pixels.
    grip: f64,
    /// The width and the folding before the drag.
    before: SidebarSize,
}

/// The tooltip of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Tooltip {
    row: PixelRect,
    lines: Vec<String>,
}

impl Sidebar {
    /// The tab that the keyboard marks. `None` if the panes have the keyboard.
    pub(crate) fn selected(&self) -> Option<TabId> {
        self.selected
    }

    /// Gives the keyboard to the sidebar, or returns it to the panes. Returns false if the sidebar is hidden.
    pub(crate) fn toggle_focus(&mut self, cx: &Cx<'_>) -> bool {
        let is_shown = cx.geometry.is_some_and(|geometry| geometry.sidebar().width > 0);
        let active = cx.mux.layout().active_tab().map(|tab| tab.id);
        self.selected = match self.selected {
            None if is_shown => active,
            _ => None,
        };
        is_shown
    }

    /// Whether the edge of the sidebar is at a point.
    pub(crate) fn has_edge_at(x: f64, y: f64, cx: &Cx<'_>) -> bool {
        let Some(geometry) = cx.geometry else { return false };
        let bar = geometry.sidebar();
        let distance = (x - f64::from(bar.width) + 0.5).abs();
        bar.width > 0 && y < f64::from(bar.height) && distance <= f64::from(geometry.px(REACH))
    }

    /// Handles a left press at a point: grabs the edge, if it is there. A double click restores the default width.
    /// Returns false if the edge is not there.
    pub(crate) fn grab(&mut self, x: f64, y: f64, cx: &mut Cx<'_>) -> bool {
        let Some(geometry) = cx.geometry.filter(|_| Self::has_edge_at(x, y, cx)) else {
            return false;
        };
        let TabsAt::Left { columns, is_folded } = geometry.tabs_at else { return false };
        let before = self.click.replace(cx.now);
        if before.is_some_and(|time| cx.now - time < DOUBLE_CLICK) {
            self.click = None;
            let columns = TabBar::default().sidebar_width;
            cx.wish(Wish::SizeSidebar(SidebarSize { columns, is_folded: false }));
            cx.wish(Wish::KeepSidebarSize);
            return true;
        }
        let before = SidebarSize { columns, is_folded };
        self.drag = Some(EdgeDrag { grip: f64::from(geometry.sidebar().width) - x, before });
        true
    }

    /// Moves the dragged edge to the pointer. Returns false if the edge is not dragged.
    pub(crate) fn drag(&mut self, x: f64, cx: &mut Cx<'_>) -> bool {
        let (Some(drag), Some(geometry)) = (self.drag, cx.geometry) else { return false };
        self.click = None;
        cx.set_icon(winit::window::CursorIcon::ColResize);
        let columns = geometry.sidebar_columns((x + drag.grip).max(0.0) as u32);
        let size = match columns < FOLDS_BELOW {
            true => SidebarSize { is_folded: true, ..drag.before },
            false => SidebarSize {
                columns: columns.clamp(*WIDTHS.start(), *WIDTHS.end()),
                is_folded: false,
            },
        };
        cx.wish(Wish::SizeSidebar(size));
        true
    }

    /// Lets go of the edge, and keeps its place. Returns false if the edge was not dragged.
    pub(crate) fn let_go(&mut self, cx: &mut Cx<'_>) -> bool {
        let was_dragged = self.drag.take().is_some();
        if was_dragged {
            cx.wish(Wish::KeepSidebarSize);
        }
        was_dragged
    }

    /// Ends the drag of the edge, and restores its place. Returns false if the edge was not dragged.
    pub(crate) fn cancel_drag(&mut self, cx: &mut Cx<'_>) -> bool {
        let Some(drag) = self.drag.take() else { return false };
        cx.wish(Wish::SizeSidebar(drag.before));
        true
    }

    /// Updates the tooltip for the row under the pointer, or for the row that the keyboard marks. Returns the time at
    /// which the tooltip appears, and the tab that has come under the pointer.
    pub(crate) fn point(&mut self, tabs: &Tabs, cx: &Cx<'_>) -> (Option<Instant>, Option<TabId>) {
        let layout = match tabs.drawn_layout(cx) {
            Some(TabsLayout::Side(layout)) => layout,
            _ => {
                *self = Self::default();
                return (None, None);
            }
        };
        let under = match tabs.part(cx) {
            Some(TabBarPart::Tab(tab) | TabBarPart::Close(tab)) if !tabs.is_dragging() => Some(tab),
            _ => None,
        };
        let is_new = self.pointed.map(|(tab, _)| tab) != under;
        if is_new {
            self.pointed = under.map(|tab| (tab, cx.now));
        }
        let due = self.pointed.map(|(_, since)| since + TOOLTIP);
        let rested = self.pointed.filter(|(_, since)| *since + TOOLTIP <= cx.now);
        let shown = self.selected.or(rested.map(|(tab, _)| tab));
        self.tooltip = shown.and_then(|tab| {
            let row = layout.place_of(tab)?;
            let label = tabs.labels().iter().find(|label| label.id == tab)?;
            Some(Tooltip { row, lines: label.tooltip() })
        });
        (due.filter(|due| *due > cx.now), under.filter(|_| is_new))
    }

    /// Draws the tooltip, at the right of its row.
    fn draw_tooltip(
        &self,
        (geometry, colors): (&Geometry, &Colors),
        renderer: &mut Renderer,
        scene: &mut Scene<'_>,
    ) {
        let Some(Tooltip { row, lines }) = &self.tooltip else { return };
        let (padding, gap) = (geometry.px(8.0), geometry.px(4.0));
        let (size, line) = (geometry.ui_font(), geometry.ui_line());
        let widths = lines.iter().map(|text| renderer.label_width(text, size, false));
        let widest = widths.fold(0.0, f32::max).ceil() as u32 + 1;
        let x = geometry.sidebar().width + gap;
        let width = (widest + 2 * padding).min(geometry.width.saturating_sub(x + gap));
        let height = lines.len() as u32 * line + 2 * gap;
        let lowest = geometry.height.saturating_sub(height + gap) as i32;
        let rect = PixelRect { x: x as i32, y: row.y.min(lowest).max(0), width, height };
        framed(rect, gap as f32, colors, scene);
        for (index, text) in (0..).zip(lines) {
            let inside = PixelRect {
                x: rect.x + padding as i32,
                y: rect.y + (gap + index * line) as i32,
                width: width.saturating_sub(2 * padding),
                height: line,
            };
            let color = if index == 0 { colors.text } else { colors.muted };
            scene.labels.push(label(geometry, inside, text, color, LabelAlign::Left));
        }
    }
}
