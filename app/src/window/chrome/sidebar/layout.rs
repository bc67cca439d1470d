//! The layout of the sidebar: its rows and buttons, and the hit test.
//!
//! Neighboring tabs of the same project form a group with a heading, if the tabs are of different projects. Only whole
//! rows are shown. If not all tabs fit, a [`Strip`] selects the first visible tab.

use unterm_mux::TabId;
use unterm_renderer::PixelRect;

use crate::window::{
    chrome::{
        tab_bar::{Strip, TabBarPart},
        tab_label::TabLabel,
    },
    ui::geometry::{Geometry, contains},
};

/// In logical pixels: the space above and below the lines of a row, of a folded row and of a heading.
const ROW_SPACE: f32 = 12.0;
const FOLDED_SPACE: f32 = 22.0;
const HEADING_SPACE: f32 = 10.0;

/// What a row of the sidebar shows: the heading of a group, or a tab. Contains the index of the tab, or of the first tab
/// of the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Row {
    Heading(usize),
    Tab(usize),
}

/// Whether the tabs are of different projects, so that groups have headings.
pub(crate) fn has_groups(tabs: &[TabLabel]) -> bool {
    tabs.windows(2).any(|pair| pair[0].details.project != pair[1].details.project)
}

/// The rows of these tabs. Without groups, and in the folded sidebar, there are no headings.
pub(crate) fn rows(tabs: &[TabLabel], is_folded: bool) -> Vec<Row> {
    let has_headings = !is_folded && has_groups(tabs);
    let mut rows = Vec::with_capacity(tabs.len());
    let mut group = None;
    for (index, tab) in tabs.iter().enumerate() {
        let project = Some(tab.details.project.as_str());
        if has_headings && group != project {
            rows.push(Row::Heading(index));
        }
        group = project;
        rows.push(Row::Tab(index));
    }
    rows
}

/// The layout of the sidebar in a window.
pub(crate) struct SidebarLayout<'a> {
    pub(crate) geometry: Geometry,
    pub(crate) tabs: &'a [TabLabel],
    pub(crate) active: Option<TabId>,
    pub(crate) is_folded: bool,
    /// The visible rows.
    pub(crate) rows: Vec<(Row, PixelRect)>,
    pub(crate) buttons: Vec<(TabBarPart, PixelRect)>,
    /// The area of the rows.
    pub(crate) list: PixelRect,
    /// The index of the first visible tab.
    pub(crate) first: usize,
}

impl<'a> SidebarLayout<'a> {
    pub(crate) fn new(
        geometry: Geometry,
        tabs: &'a [TabLabel],
        active: Option<TabId>,
        strip: Strip,
    ) -> Self {
        let bar = geometry.sidebar();
        let is_folded = geometry.is_sidebar_folded();
        let buttons = buttons(&geometry, is_folded);
        let foot = buttons.iter().map(|(_, rect)| rect.y).min().unwrap_or(bar.height as i32);
        let list =
            PixelRect { width: bar.width.saturating_sub(1), height: foot.max(0) as u32, ..bar };
        let mut layout =
            Self { geometry, tabs, active, is_folded, rows: Vec::new(), buttons, list, first: 0 };
        layout.first = strip.first.min(layout.last_first());
        layout.rows = layout.rows_from(layout.first);
        layout
    }

    fn height(&self, row: Row) -> u32 {
        let (line, px) = (self.geometry.ui_line(), |space| self.geometry.px(space));
        match row {
            Row::Heading(_) => line + px(HEADING_SPACE),
            Row::Tab(_) if self.is_folded => line + px(FOLDED_SPACE),
            Row::Tab(_) => 2 * line + px(ROW_SPACE),
        }
    }

    /// The rows that fit if the tab at this index is the first. At least one tab is shown, even if it does not fit.
    fn rows_from(&self, first: usize) -> Vec<(Row, PixelRect)> {
        let rows = rows(self.tabs, self.is_folded);
        let is_before = |row: &Row| match row {
            Row::Heading(index) | Row::Tab(index) => *index < first,
        };
        let (mut y, mut has_tab, mut placed) = (0, false, Vec::new());
        for row in rows.into_iter().skip_while(is_before) {
            let height = self.height(row);
            if has_tab && y + height > self.list.height {
                break;
            }
            let rect = PixelRect { y: self.list.y + y as i32, height, ..self.list };
            placed.push((row, rect));
            has_tab |= matches!(row, Row::Tab(_));
            y += height;
        }
        // A heading without a tab below it is left out.
        placed.truncate(
            placed.len() - usize::from(matches!(placed.last(), Some((Row::Heading(_), _)))),
        );
        placed
    }

    /// The index of the first tab if the sidebar is scrolled to the end.
    fn last_first(&self) -> usize {
        let mut room = self.list.height;
        let all = rows(self.tabs, self.is_folded);
        let mut first = self.tabs.len().saturating_sub(1);
        for row in all.into_iter().rev() {
            let height = self.height(row);
            if height > room {
                break;
            }
            room -= height;
            if let Row::Tab(index) = row {
                first = index;
            }
        }
        // The heading above the first tab needs room, too.
        let last = self.tabs.len().saturating_sub(1);
        let is_last_shown =
            |first: &usize| self.rows_from(*first).iter().any(|(row, _)| *row == Row::Tab(last));
        (first..=last).find(is_last_shown).unwrap_or(last)
    }

    /// The visible tabs, and their rectangles.
    fn tabs_in_sight(&self) -> impl DoubleEndedIterator<Item = (usize, PixelRect)> {
        self.rows.iter().filter_map(|(row, rect)| match row {
            Row::Tab(index) => Some((*index, *rect)),
            Row::Heading(_) => None,
        })
    }

    /// The part of the sidebar at a point.
    pub(crate) fn at(&self, x: f64, y: f64) -> TabBarPart {
        if let Some((part, _)) = self.buttons.iter().find(|(_, rect)| contains(*rect, x, y)) {
            return *part;
        }
        let tab = self.tabs_in_sight().find(|(_, rect)| contains(*rect, x, y));
        tab.map_or(TabBarPart::Empty, |(index, rect)| {
            let id = self.tabs[index].id;
            let close = self.close_button(rect).is_some_and(|close| contains(close, x, y));
            if close { TabBarPart::Close(id) } else { TabBarPart::Tab(id) }
        })
    }

    /// The close button of a row. The folded sidebar has no room for it.
    pub(crate) fn close_button(&self, row: PixelRect) -> Option<PixelRect> {
        let side = self.geometry.ui_line();
        let gap = self.geometry.px(6.0);
        let x = row.x + row.width.saturating_sub(side + gap) as i32;
        let y = row.y + gap as i32;
        (!self.is_folded).then_some(PixelRect { x, y, width: side, height: side })
    }

    pub(crate) fn button(&self, part: TabBarPart) -> Option<PixelRect> {
        self.buttons.iter().find(|(one, _)| *one == part).map(|(_, rect)| *rect)
    }

    /// The rectangle of a tab; `None` if the tab is scrolled out of view.
    pub(crate) fn place_of(&self, tab: TabId) -> Option<PixelRect> {
        self.tabs_in_sight().find(|(index, _)| self.tabs[*index].id == tab).map(|(_, rect)| rect)
    }

    /// The index of the tab at `y`, for a drag that moves a tab. Above the visible tabs, the index before the first
    /// visible tab. Below them, the index after the last visible tab.
    pub(crate) fn index_at(&self, y: f64) -> usize {
        let last = self.tabs.len().saturating_sub(1);
        if y < f64::from(self.list.y) {
            return self.first.saturating_sub(1);
        }
        let is_above = |rect: &PixelRect| y < f64::from(rect.y) + f64::from(rect.height);
        let at = self.tabs_in_sight().find(|(_, rect)| is_above(rect));
        at.map_or_else(|| self.first + self.shown(), |(index, _)| index).min(last)
    }

    /// The top edge of the first visible tab, and the bottom edge of the last visible tab, in pixels.
    pub(crate) fn span(&self) -> (i32, i32) {
        let mut tabs = self.tabs_in_sight();
        let first = tabs.next();
        let last = tabs.next_back().or(first);
        let foot = last.map_or(0, |(_, rect)| rect.y + rect.height as i32);
        (first.map_or(0, |(_, rect)| rect.y), foot)
    }

    /// The number of visible tabs.
    pub(crate) fn shown(&self) -> usize {
        self.tabs_in_sight().count()
    }

    /// Returns the strip after scrolling by `by` tabs.
    pub(crate) fn scrolled(&self, strip: Strip, by: isize) -> Strip {
        Strip { first: self.first.saturating_add_signed(by).min(self.last_first()), ..strip }
    }

    /// Returns the strip, scrolled to the active tab if another tab became active, the active tab moved, or the height
    /// changed. The number of visible tabs does not count, because headings change it while the user scrolls.
    pub(crate) fn following(&self, strip: Strip) -> Strip {
        let index = self.tabs.iter().position(|tab| Some(tab.id) == self.active);
        let room = self.list.height as usize;
        let now = index.map(|index| (self.tabs[index].id, index, room));
        let first = match index {
            Some(index) if now != strip.followed => self.first_to_show(index),
            _ => self.first,
        };
        Strip { first, followed: now }
    }

    /// The first visible tab after the least scrolling that shows the tab at an index.
    pub(crate) fn first_to_show(&self, index: usize) -> usize {
        if index < self.first {
            return index;
        }
        let shows =
            |first: &usize| self.rows_from(*first).iter().any(|(row, _)| *row == Row::Tab(index));
        (self.first..=index).find(shows).unwrap_or(index)
    }
}

/// The buttons below the rows: in one line, or in the folded sidebar one below the other.
fn buttons(geometry: &Geometry, is_folded: bool) -> Vec<(TabBarPart, PixelRect)> {
    let bar = geometry.sidebar();
    let side = geometry.bar_height();
    let width = bar.width.saturating_sub(1);
    let y = |lines: u32| bar.height as i32 - (lines * side) as i32;
    if is_folded {
        let parts = [TabBarPart::Fold, TabBarPart::Menu, TabBarPart::New];
        let rect = |(at, part)| (part, PixelRect { y: y(at + 1), height: side, width, ..bar });
        return (0u32..).zip(parts).map(rect).collect();
    }
    let at = |x: u32| PixelRect { x: x as i32, y: y(1), width: side, height: side };
    vec![
        (TabBarPart::Fold, at(0)),
        (TabBarPart::New, at(width.saturating_sub(2 * side))),
        (TabBarPart::Menu, at(width.saturating_sub(side))),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::ui::geometry::TabsAt;

    fn geometry(height: u32, is_folded: bool) -> Geometry {
        let tabs_at = TabsAt::Left { columns: 30, is_folded };
        Geometry { width: 900, height, tabs_at, ..Geometry::TEST }
    }

    fn tabs(projects: &[&str]) -> Vec<TabLabel> {
        let tab = |(number, project): (u64, &&str)| {
            let mut tab = TabLabel::new(TabId(number), format!("tab {number}"));
            (*project).clone_into(&mut tab.details.project);
            tab
        };
        (0..).zip(projects).map(tab).collect()
    }

    fn laid(geometry: Geometry, tabs: &[TabLabel], active: u64, first: usize) -> SidebarLayout<'_> {
        let strip = Strip { first, ..Strip::default() };
        SidebarLayout::new(geometry, tabs, Some(TabId(active)), strip)
    }

    #[test]
    fn neighbors_of_a_project_form_a_group() {
        let of = |projects: &[&str]| rows(&tabs(projects), false);
        use Row::{Heading, Tab};
        assert_eq!(of(&["a", "a"]), [Tab(0), Tab(1)], "one project needs no heading");
        assert_eq!(of(&["", ""]), [Tab(0), Tab(1)]);
        assert_eq!(
            of(&["a", "a", "b", "a"]),
            [Heading(0), Tab(0), Tab(1), Heading(2), Tab(2), Heading(3), Tab(3)]
        );
        assert_eq!(of(&["", "b"]), [Heading(0), Tab(0), Heading(1), Tab(1)]);
        assert_eq!(rows(&tabs(&["a", "b"]), true), [Tab(0), Tab(1)]);
        assert_eq!(of(&[]), []);
    }

    #[test]
    fn a_click_finds_what_it_hits() {
        let tabs = tabs(&["a", "b"]);
        for is_folded in [false, true] {
            let layout = laid(geometry(600, is_folded), &tabs, 0, 0);
            let middle = |rect: PixelRect| {
                (
                    f64::from(rect.x) + f64::from(rect.width) / 2.0,
                    f64::from(rect.y) + f64::from(rect.height) / 2.0,
                )
            };
            let at = |(x, y)| layout.at(x, y);
            for tab in [TabId(0), TabId(1)] {
                let row = layout.place_of(tab).expect("a row");
                assert_eq!(at(middle(row)), TabBarPart::Tab(tab));
                if let Some(close) = layout.close_button(row) {
                    assert!(row.contains(&close));
                    assert_eq!(at(middle(close)), TabBarPart::Close(tab));
                }
            }
            for part in [TabBarPart::New, TabBarPart::Menu, TabBarPart::Fold] {
                assert_eq!(at(middle(layout.button(part).expect("a button"))), part);
            }
            assert_eq!(at((5.0, f64::from(layout.list.height) - 5.0)), TabBarPart::Empty);
        }
        let layout = laid(geometry(600, false), &tabs, 0, 0);
        assert_eq!(layout.at(5.0, 5.0), TabBarPart::Empty, "a heading");
    }

    #[test]
    fn the_active_tab_is_in_sight_however_many_there_are() {
        let projects: Vec<_> = (0..60).map(|number| ["a", "b", "c"][number / 4 % 3]).collect();
        let tabs = tabs(&projects);
        for is_folded in [false, true] {
            for height in [0, 50, 130, 300, 601, 2000] {
                let geometry = geometry(height, is_folded);
                let mut strip = Strip::default();
                for active in [0, 1, 30, 58, 59, 3] {
                    let id = Some(TabId(active));
                    strip = SidebarLayout::new(geometry, &tabs, id, strip).following(strip);
                    let layout = SidebarLayout::new(geometry, &tabs, id, strip);
                    let place = layout.place_of(TabId(active));
                    assert!(place.is_some(), "tab {active} is hidden at height {height}");
                    let foot = |rect: &PixelRect| rect.y + rect.height as i32;
                    let lowest = layout.rows.iter().map(|(_, rect)| foot(rect)).max();
                    let fits = lowest <= Some(layout.list.height as i32);
                    assert!(fits || layout.shown() == 1);
                    // After that, the user may scroll the active tab out of view.
                    let away = layout.scrolled(strip, if active < 30 { 60 } else { -60 });
                    assert_eq!(
                        SidebarLayout::new(geometry, &tabs, id, away).following(away).first,
                        away.first
                    );
                }
            }
        }
    }

    #[test]
    fn scrolled_to_the_end_no_room_is_left_for_another_tab() {
        let tabs = tabs(&["a"; 40]);
        let layout = laid(geometry(600, false), &tabs, 0, 999);
        assert_eq!(layout.first + layout.shown(), 40);
        assert_eq!(layout.scrolled(Strip::default(), -1).first, layout.first - 1);
        let one_more = laid(geometry(600, false), &tabs, 0, layout.first - 1);
        assert!(one_more.first + one_more.shown() < 40);
        assert_eq!(laid(geometry(2000, false), &tabs[..3], 0, 2).first, 0, "all fit");
    }

    #[test]
    fn a_dragged_tab_passes_headings_and_ends() {
        let tabs = tabs(&["a", "a", "b", "b"]);
        let layout = laid(geometry(600, false), &tabs, 0, 0);
        let top = |tab| f64::from(layout.place_of(TabId(tab)).expect("a row").y);
        let at = |y| layout.index_at(y);
        assert_eq!([at(-1.0), at(1.0), at(top(1) + 1.0)], [0, 0, 1]);
        assert_eq!(at(top(2) - 1.0), 2, "the heading belongs to the tab below it");
        assert_eq!([at(top(3) + 1.0), at(599.0)], [3, 3]);
        assert_eq!(layout.span().0, layout.place_of(TabId(0)).expect("a row").y);
        let none = laid(geometry(600, false), &[], 0, 0);
        assert_eq!((none.index_at(5.0), none.span(), none.shown()), (0, (0, 0), 0));
        assert_eq!(none.following(Strip::default()), Strip::default());
    }
}
