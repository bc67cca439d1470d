//! The layout of the tabs, in the tab bar or in the sidebar.

use unterm_mux::TabId;
use unterm_renderer::PixelRect;

use crate::window::chrome::{
    sidebar::layout::SidebarLayout,
    tab_bar::{Strip, TabBar, TabBarPart},
};

/// The layout of the tabs. Distances along the tabs are measured from left to right in the bar, and from top to bottom in
/// the sidebar.
pub(crate) enum TabsLayout<'a> {
    Bar(TabBar<'a>),
    Side(SidebarLayout<'a>),
}

impl TabsLayout<'_> {
    /// The rectangle of the bar or the sidebar.
    pub(crate) fn rect(&self) -> PixelRect {
        match self {
            Self::Bar(bar) => bar.rect(),
            Self::Side(side) => side.geometry.sidebar(),
        }
    }

    /// The part at a point.
    pub(crate) fn at(&self, x: f64, y: f64) -> TabBarPart {
        match self {
            Self::Bar(bar) => bar.at(x, y),
            Self::Side(side) => side.at(x, y),
        }
    }

    /// The coordinate of a point along the tabs.
    pub(crate) fn along(&self, (x, y): (f64, f64)) -> f64 {
        match self {
            Self::Bar(_) => x,
            Self::Side(_) => y,
        }
    }

    /// The start and the length of a tab, along the tabs. `None` if the tab is scrolled out of view.
    pub(crate) fn extent(&self, tab: TabId) -> Option<(f64, f64)> {
        let rect = self.place_of(tab)?;
        let (start, length) = match self {
            Self::Bar(_) => (rect.x, rect.width),
            Self::Side(_) => (rect.y, rect.height),
        };
        Some((f64::from(start), f64::from(length)))
    }

    /// The distance from the bar or the sidebar at which a dragged tab leaves the window.
    pub(crate) fn leaving_distance(&self) -> u32 {
        match self {
            Self::Bar(bar) => bar.rect().height,
            Self::Side(side) => side.geometry.bar_height(),
        }
    }

    /// The rectangle of a tab. `None` if the tab is scrolled out of view.
    pub(crate) fn place_of(&self, tab: TabId) -> Option<PixelRect> {
        match self {
            Self::Bar(bar) => bar.place_of(tab),
            Self::Side(side) => side.place_of(tab),
        }
    }

    /// The index of the tab at a coordinate along the tabs, for a drag that moves a tab.
    pub(crate) fn index_at(&self, along: f64) -> usize {
        match self {
            Self::Bar(bar) => bar.index_at(along),
            Self::Side(side) => side.index_at(along),
        }
    }

    /// The start of the first visible tab, and the end of the last visible tab.
    pub(crate) fn span(&self) -> (i32, i32) {
        match self {
            Self::Bar(bar) => bar.span(),
            Self::Side(side) => side.span(),
        }
    }

    /// The number of visible tabs.
    pub(crate) fn shown(&self) -> usize {
        match self {
            Self::Bar(bar) => bar.shown(),
            Self::Side(side) => side.shown(),
        }
    }

    /// Returns the strip after scrolling by `by` tabs.
    pub(crate) fn scrolled(&self, strip: Strip, by: isize) -> Strip {
        match self {
            Self::Bar(bar) => bar.scrolled(strip, by),
            Self::Side(side) => side.scrolled(strip, by),
        }
    }

    /// Returns the strip, scrolled to the active tab if that tab has changed.
    pub(crate) fn following(&self, strip: Strip) -> Strip {
        match self {
            Self::Bar(bar) => bar.following(strip),
            Self::Side(side) => side.following(strip),
        }
    }

    /// The rectangle of the button that opens the main menu. `None` if neither the bar nor the sidebar is shown.
    pub(crate) fn menu_button(&self) -> Option<PixelRect> {
        match self {
            Self::Bar(bar) => (bar.rect().height > 0).then(|| bar.menu_button()),
            Self::Side(side) => side.button(TabBarPart::Menu),
        }
    }
}
