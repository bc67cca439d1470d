//! The tab bar: its layout, hit test and drawing.
//!
//! Owns no state except which tabs are visible ([`Strip`]). `tabs.rs` handles the mouse.

use std::collections::{BTreeSet, HashMap};

use unicode_width::UnicodeWidthStr;
use unterm_mux::TabId;
use unterm_renderer::{Label, LabelAlign, PixelRect, Scene};
use unterm_term::Rgb;
use winit::event::MouseButton;

use crate::window::{
    chrome::tab_label::{TabLabel, cut_title, cut_titles},
    ui::{
        colors::{Colors, label, mix, quad, readable},
        geometry::{Geometry, contains},
    },
    workspace::work::Fare,
};

/// The minimum space for a tab's title, in characters.
const FEWEST: u16 = 8;
/// The maximum length in characters that a title can widen its tab to.
const LONGEST: usize = 200;
/// In logical pixels: the space on both sides of a tab's title together, and the part of this space before the title.
const AROUND: f32 = 44.0;
const PADDING: f32 = 12.0;
/// The share of the color in the background of a tab that a program has colored.
pub(crate) const TINT: f32 = 0.22;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TabBarPart {
    Tab(TabId),
    Close(TabId),
    New,
    /// The button that scrolls to tabs further left.
    Before,
    /// The button that scrolls to tabs further right.
    After,
    /// The window's menu button, at the right.
    Menu,
    /// The button that folds or unfolds the sidebar.
    Fold,
    Empty,
}

impl TabBarPart {
    /// The tab that a press of `button` on this part closes, if any.
    pub(crate) fn closed_by(self, button: MouseButton) -> Option<TabId> {
        match (self, button) {
            (Self::Tab(tab) | Self::Close(tab), MouseButton::Middle)
            | (Self::Close(tab), MouseButton::Left) => Some(tab),
            _ => None,
        }
    }
}

/// Which tabs are visible if not all fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Strip {
    /// The index of the first visible tab.
    pub(crate) first: usize,
    /// The tab last scrolled into view, its index, and the room for tabs at that time: the number of tabs in the bar, or the
    /// height of the sidebar in pixels.
    pub(crate) followed: Option<(TabId, usize, usize)>,
}

/// The layout of the tab bar in a window.
pub(crate) struct TabBar<'a> {
    geometry: Geometry,
    tabs: &'a [TabLabel],
    active: Option<TabId>,
    slots: Vec<Slot>,
    new: PixelRect,
    menu: PixelRect,
    /// The two scroll buttons; `None` if all tabs fit.
    ends: Option<(PixelRect, PixelRect)>,
    first: usize,
}

struct Slot {
    index: usize,
    rect: PixelRect,
    close: PixelRect,
}

/// The state of the mouse and of animations that affects drawing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Look {
    /// The mouse position.
    pub(crate) pointer: Option<(f64, f64)>,
    /// The dragged tab, and the x of its left edge. In the sidebar, the y of its top edge.
    pub(crate) dragged: Option<(TabId, i32)>,
    /// The rotation of progress rings, 0 to 1.
    pub(crate) turn: f32,
    /// Whether each tab shows its number.
    pub(crate) numbers: bool,
}

impl<'a> TabBar<'a> {
    /// Lays out the bar. The tabs share the width equally. Each tab fits at least 8 characters of its title, and at
    /// most `title_columns` characters or the longest title. If not all tabs fit, `strip` selects the visible tabs.
    pub(crate) fn new(
        geometry: Geometry,
        tabs: &'a [TabLabel],
        active: Option<TabId>,
        strip: Strip,
        title_columns: u16,
    ) -> Self {
        let bar = geometry.tab_bar();
        let button = bar.height;
        let width_of = |characters: u16| {
            let title = f32::from(characters) * geometry.ui_column;
            (title.ceil() as u32 + geometry.px(AROUND)).max(1)
        };
        let narrowest = width_of(FEWEST);
        let mut space = bar.width.saturating_sub(2 * button);
        let mut left = 0;
        let fits = tabs.len() as u64 * u64::from(narrowest) <= u64::from(space);
        let end = button * 3 / 4;
        if !fits {
            space = space.saturating_sub(2 * end);
            left = end;
        }
        let shown = tabs.len().min((space / narrowest).max(1) as usize);
        let first = strip.first.min(tabs.len() - shown);
        let longest = tabs.iter().map(|tab| tab.title.width().min(LONGEST) as u16).max();
        let usual = title_columns.max(FEWEST).max(longest.unwrap_or_default());
        let width = (space / shown.max(1) as u32).min(width_of(usual));
        let slots: Vec<_> = (0..shown)
            .map(|i| {
                let x = (left + i as u32 * width) as i32;
                Slot::new(first + i, PixelRect { x, width, ..bar })
            })
            .collect();
        let right = left + width * shown as u32;
        let at = |x: u32, width: u32| PixelRect { x: x as i32, width, ..bar };
        let (ends, right) = match fits {
            true => (None, right),
            false => (Some((at(0, end), at(right, end))), right + end),
        };
        let menu = at(bar.width.saturating_sub(button), button);
        Self { geometry, tabs, active, slots, new: at(right, button), menu, ends, first }
    }

    /// The part of the bar at a point.
    pub(crate) fn at(&self, x: f64, y: f64) -> TabBarPart {
        for (rect, part) in [(self.new, TabBarPart::New), (self.menu, TabBarPart::Menu)] {
            if contains(rect, x, y) {
                return part;
            }
        }
        if let Some((before, after)) = self.ends {
            for (rect, part) in [(before, TabBarPart::Before), (after, TabBarPart::After)] {
                if contains(rect, x, y) {
                    return part;
                }
            }
        }
        self.slots.iter().find(|slot| contains(slot.rect, x, y)).map_or(TabBarPart::Empty, |slot| {
            let id = self.tabs[slot.index].id;
            if contains(slot.close, x, y) { TabBarPart::Close(id) } else { TabBarPart::Tab(id) }
        })
    }

    /// The rectangle of the bar.
    pub(crate) fn rect(&self) -> PixelRect {
        self.geometry.tab_bar()
    }

    pub(crate) fn menu_button(&self) -> PixelRect {
        self.menu
    }

    /// The rectangle of a tab; `None` if the tab is scrolled out of view.
    pub(crate) fn place_of(&self, tab: TabId) -> Option<PixelRect> {
        self.slots.iter().find(|slot| self.tabs[slot.index].id == tab).map(|slot| slot.rect)
    }

    /// The index of the tab at `x`, for a drag that moves a tab. Left of the visible tabs, the index before the first
    /// visible tab. Right of them, the index after the last visible tab.
    pub(crate) fn index_at(&self, x: f64) -> usize {
        let Some(slot) = self.slots.first() else { return 0 };
        let place = ((x - f64::from(slot.rect.x)) / f64::from(slot.rect.width)).floor();
        let place = place.clamp(-1.0, self.slots.len() as f64) as isize;
        self.first.saturating_add_signed(place).min(self.tabs.len().saturating_sub(1))
    }

    /// The left edge of the first visible tab, and the right edge of the last visible tab, in pixels.
    pub(crate) fn span(&self) -> (i32, i32) {
        let right = |slot: &Slot| slot.rect.x + slot.rect.width as i32;
        (self.slots.first().map_or(0, |slot| slot.rect.x), self.slots.last().map_or(0, right))
    }

    /// Returns the strip after scrolling by `by` tabs.
    pub(crate) fn scrolled(&self, strip: Strip, by: isize) -> Strip {
        let last = self.tabs.len() - self.slots.len();
        Strip { first: self.first.saturating_add_signed(by).min(last), ..strip }
    }

    /// The number of visible tabs.
    pub(crate) fn shown(&self) -> usize {
        self.slots.len()
    }

    /// Returns the strip, scrolled to the active tab if another tab became active, the active tab moved, or the number
    /// of visible tabs changed.
    pub(crate) fn following(&self, strip: Strip) -> Strip {
        let index = self.tabs.iter().position(|tab| Some(tab.id) == self.active);
        let now = index.map(|index| (self.tabs[index].id, index, self.slots.len()));
        let first = match index {
            Some(index) if now != strip.followed && !self.slots.is_empty() => {
                self.first.clamp((index + 1).saturating_sub(self.slots.len()), index)
            }
            _ => self.first,
        };
        Strip { first, followed: now }
    }

    pub(crate) fn draw(&self, scene: &mut Scene<'_>, colors: &Colors, look: Look) {
        let bar = self.geometry.tab_bar();
        if bar.height == 0 {
            return;
        }
        scene.quads.push(quad(bar, colors.raised));
        // The hairline between the bar and the panes.
        let y = if bar.y == 0 { bar.height as i32 - 1 } else { bar.y };
        scene.quads.push(quad(PixelRect { y, height: 1, ..bar }, colors.hairline));
        let hovered = look.pointer.filter(|_| look.dragged.is_none()).map(|(x, y)| self.at(x, y));
        let dragged = |slot: &Slot| {
            look.dragged.filter(|(tab, _)| *tab == self.tabs[slot.index].id).map(|(_, x)| x)
        };
        let numbered = self.numbered(look.numbers);
        for slot in self.slots.iter().filter(|slot| dragged(slot).is_none()) {
            self.draw_tab(slot, scene, colors, hovered, look, &numbered);
        }
        let buttons = [(Some(self.new), "+", TabBarPart::New)].into_iter().chain([
            (Some(self.menu), "▼", TabBarPart::Menu),
            (self.ends.map(|ends| ends.0), "‹", TabBarPart::Before),
            (self.ends.map(|ends| ends.1), "›", TabBarPart::After),
        ]);
        for (rect, text, part) in buttons {
            let Some(rect) = rect else { continue };
            let is_over = match part {
                TabBarPart::Before => self.first == 0,
                TabBarPart::After => self.first + self.slots.len() == self.tabs.len(),
                _ => false,
            };
            let color = match hovered == Some(part) {
                _ if is_over => colors.disabled,
                true => colors.text,
                false => colors.muted,
            };
            scene.labels.push(self.label(rect, text, color, LabelAlign::Center));
        }
        if let Some((slot, x)) = self.slots.iter().find_map(|slot| Some((slot, dragged(slot)?))) {
            // Draw the dragged tab above all other tabs.
            scene.raise();
            let slot = Slot::new(slot.index, PixelRect { x, ..slot.rect });
            let left = PixelRect { x: x - 1, width: 1, ..slot.rect };
            scene.quads.push(quad(left, colors.hairline));
            self.draw_tab(&slot, scene, colors, None, look, &numbered);
        }
    }

    /// Whether each tab shows its number. A tab shows its number if `all` is set, or if the title of another tab would
    /// look equal in the tab's room. Marks leave less room for the title.
    fn numbered(&self, all: bool) -> Vec<bool> {
        let width = self.slots.first().map_or(0, |slot| slot.rect.width);
        let width = width.saturating_sub(self.geometry.px(AROUND));
        let room = |tab: &TabLabel| width.saturating_sub(tab.marks.width(&self.geometry));
        let rooms: Vec<usize> = self.tabs.iter().map(|tab| self.columns(room(tab))).collect();
        let mut numbered = vec![all; self.tabs.len()];
        for columns in rooms.iter().copied().collect::<BTreeSet<_>>() {
            let shown = cut_titles(self.tabs, columns);
            let mut counts = HashMap::new();
            shown.iter().for_each(|title| *counts.entry(title).or_insert(0) += 1);
            let of_room = (0..rooms.len()).filter(|index| rooms[*index] == columns);
            of_room.for_each(|index| numbered[index] |= counts[&shown[index]] > 1);
        }
        numbered
    }

    /// The text of a tab that provides `width` pixels for text.
    fn text_of(&self, index: usize, is_numbered: bool, width: u32) -> String {
        let number = if is_numbered { format!("{}  ", index + 1) } else { String::new() };
        let room = self.columns(width).saturating_sub(number.width());
        number + &cut_title(self.tabs, index, room)
    }

    /// The number of columns of text that fit in a width.
    fn columns(&self, width: u32) -> usize {
        (width as f32 / self.geometry.ui_column) as usize
    }

    fn draw_tab(
        &self,
        slot: &Slot,
        scene: &mut Scene<'_>,
        colors: &Colors,
        hovered: Option<TabBarPart>,
        look: Look,
        numbered: &[bool],
    ) {
        let tab = &self.tabs[slot.index];
        let is_active = Some(tab.id) == self.active;
        let bare = if is_active { colors.surface } else { colors.raised };
        let ground = tab.color.map_or(bare, |color| mix(bare, color, TINT));
        let inside = match is_active {
            true => slot.rect,
            // Leaves the hairline between the bar and the panes visible.
            false => {
                let below = i32::from(slot.rect.y != 0);
                PixelRect { y: slot.rect.y + below, height: slot.rect.height - 1, ..slot.rect }
            }
        };
        scene.quads.push(quad(inside, ground));
        if let Some(color) = tab.color {
            let height = self.geometry.px(2.0);
            let foot = slot.rect.y + (slot.rect.height - height) as i32;
            let y = if slot.rect.y == 0 { 0 } else { foot };
            scene.quads.push(quad(PixelRect { y, height, ..slot.rect }, color));
        }
        let edge = PixelRect { x: slot.rect.x + slot.rect.width as i32 - 1, width: 1, ..slot.rect };
        scene.quads.push(quad(edge, colors.hairline));
        let close = TabBarPart::Close(tab.id);
        let is_hovered = hovered == Some(TabBarPart::Tab(tab.id)) || hovered == Some(close);
        let padding = self.geometry.px(PADDING);
        let end = match is_hovered {
            true => slot.close.x,
            false => slot.rect.x + slot.rect.width as i32 - padding as i32,
        };
        let x = slot.rect.x + padding as i32;
        let mut text = PixelRect { x, width: (end - x).max(0) as u32, ..slot.rect };
        let taken = tab.marks.draw(text, &self.geometry, colors, (look.turn, &Fare::color), scene);
        text.x += taken as i32;
        text.width = text.width.saturating_sub(taken);
        let color = readable(if is_active { colors.text } else { colors.muted }, ground);
        let title = self.text_of(slot.index, numbered[slot.index], text.width);
        scene.labels.push(self.label(text, &title, color, LabelAlign::Left));
        if is_hovered {
            let color = if hovered == Some(close) { colors.text } else { colors.muted };
            let color = readable(color, ground);
            scene.labels.push(self.label(slot.close, "×", color, LabelAlign::Center));
        }
    }

    fn label(&self, rect: PixelRect, text: &str, color: Rgb, align: LabelAlign) -> Label {
        label(&self.geometry, rect, text, color, align)
    }
}

impl Slot {
    fn new(index: usize, rect: PixelRect) -> Self {
        let inset = rect.height / 4;
        let side = rect.height / 2;
        let close = PixelRect {
            x: rect.x + rect.width.saturating_sub(inset) as i32 - side as i32,
            y: rect.y + inset as i32,
            width: side,
            height: side,
        };
        Self { index, rect, close }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::{chrome::tab_marks::Marks, ui::geometry::TabsAt};

    fn geometry(width: u32) -> Geometry {
        Geometry { width, height: 600, ..Geometry::TEST }
    }

    fn tabs(count: u64) -> Vec<TabLabel> {
        (0..count).map(|i| TabLabel::new(TabId(i), format!("tab {i}"))).collect()
    }

    fn bar(geometry: Geometry, tabs: &[TabLabel], active: u64, first: usize) -> TabBar<'_> {
        let strip = Strip { first, ..Strip::default() };
        TabBar::new(geometry, tabs, Some(TabId(active)), strip, 24)
    }

    #[test]
    fn a_click_finds_the_tab_it_hits() {
        let tabs = tabs(3);
        for tabs_at in [TabsAt::Top, TabsAt::Foot] {
            let geometry = Geometry { tabs_at, ..geometry(1000) };
            let y = f64::from(geometry.tab_bar().y) + 5.0;
            let bar = bar(geometry, &tabs, 0, 0);
            assert_eq!(bar.at(10.0, y), TabBarPart::Tab(TabId(0)));
            assert_eq!(bar.at(230.0, y), TabBarPart::Tab(TabId(1)));
            let close = bar.slots[1].close;
            let y = f64::from(close.y) + 1.0;
            assert_eq!(bar.at(f64::from(close.x) + 1.0, y), TabBarPart::Close(TabId(1)));
            assert_eq!(bar.at(f64::from(bar.span().1) + 5.0, y), TabBarPart::New);
            assert_eq!(bar.at(950.0, y), TabBarPart::Empty);
            assert_eq!(bar.at(990.0, y), TabBarPart::Menu);
        }
    }

    #[test]
    fn the_active_tab_is_in_sight_however_many_there_are() {
        let tabs = tabs(100);
        let mut strip = Strip::default();
        for active in [0, 1, 50, 98, 99, 3] {
            let laid = TabBar::new(geometry(600), &tabs, Some(TabId(active)), strip, 24);
            strip = laid.following(strip);
            let bar = TabBar::new(geometry(600), &tabs, Some(TabId(active)), strip, 24);
            assert!(bar.place_of(TabId(active)).is_some(), "tab {active} is hidden");
            assert!(bar.new.x as u32 + bar.new.width <= 600);
            assert!(bar.slots.iter().all(|slot| slot.rect.width >= 58 + 44));
            // After `following` has scrolled to the active tab, the user may scroll the active tab out of view.
            let away = bar.scrolled(strip, if active < 50 { 60 } else { -60 });
            let bar = TabBar::new(geometry(600), &tabs, Some(TabId(active)), away, 24);
            assert_eq!(bar.following(away), away);
            assert!(bar.place_of(TabId(active)).is_none());
        }
    }

    #[test]
    fn thirty_tabs_have_distinct_titles() {
        let families: [fn(usize) -> String; 6] = [
            |n| format!("service-api-{n:02}"),
            |n| format!("service-{n:02} of the same long name"),
            |n| format!("ssh build@{n}.machines.example"),
            |n| format!("{}{n}", "漢字".repeat(20)),
            |_| "bash".to_owned(),
            |n| {
                format!(
                    "/srv/{}-service-{n:02}/src",
                    if n % 2 == 0 { "backend" } else { "frontend" }
                )
            },
        ];
        for (family, title) in families.iter().enumerate() {
            let mut tabs = tabs(30);
            for (number, tab) in tabs.iter_mut().enumerate() {
                tab.title = title(number);
            }
            let bar = bar(geometry(1280), &tabs, 0, 0);
            let width = bar.slots[0].rect.width - bar.geometry.px(AROUND);
            let numbered = bar.numbered(false);
            let shown: std::collections::HashSet<_> =
                (0..30).map(|index| bar.text_of(index, numbered[index], width)).collect();
            assert_eq!(shown.len(), 30, "{shown:?}");
            // Tabs whose visible titles differ need no numbers.
            assert_eq!(numbered[0], family == 4, "{family}: {shown:?}");
        }
    }

    #[test]
    fn marks_do_not_make_tabs_look_alike() {
        let mut tabs = tabs(30);
        for (number, tab) in tabs.iter_mut().enumerate() {
            tab.title = format!("service-api-{number:02}");
            let is_marked = number % 2 == 0;
            tab.marks =
                Marks { unseen: is_marked, zoomed: is_marked, driven: true, ..Marks::default() };
        }
        let bar = bar(geometry(1280), &tabs, 0, 0);
        let numbered = bar.numbered(false);
        let text = |index: usize| {
            let room = bar.slots[0].rect.width - 2 * bar.geometry.px(PADDING);
            let room = room - tabs[index].marks.width(&bar.geometry);
            bar.text_of(index, numbered[index], room)
        };
        let shown: std::collections::HashSet<_> = (0..30).map(text).collect();
        assert_eq!(shown.len(), 30, "{shown:?}");
        assert_eq!(numbered[..2], [true, false], "three marks leave no room for the end");
    }

    #[test]
    fn tabs_use_the_free_room_for_a_long_title() {
        let mut tabs = tabs(2);
        let usual = bar(geometry(1000), &tabs, 0, 0).slots[0].rect.width;
        tabs[1].title = "a".repeat(40);
        let wide = bar(geometry(1000), &tabs, 0, 0).slots[0].rect.width;
        assert_eq!((usual, wide), (217, 332));
        tabs[1].title = "a".repeat(4000);
        let bar = bar(geometry(1000), &tabs, 0, 0);
        assert!(bar.span().1 <= 1000 - 2 * 28, "{:?}", bar.span());
    }

    #[test]
    fn the_ends_scroll_and_a_dragged_tab_passes_them() {
        let tabs = tabs(30);
        let bar = bar(geometry(600), &tabs, 0, 10);
        assert_eq!(bar.at(2.0, 5.0), TabBarPart::Before);
        assert_eq!(bar.at(f64::from(bar.span().1) + 2.0, 5.0), TabBarPart::After);
        assert_eq!(bar.scrolled(Strip::default(), -99).first, 0);
        assert_eq!(bar.scrolled(Strip::default(), 99).first, 30 - bar.shown());
        let (left, right) = bar.span();
        assert_eq!(bar.index_at(f64::from(left) + 5.0), 10);
        assert_eq!(bar.index_at(f64::from(left) - 5.0), 9);
        assert_eq!(bar.index_at(f64::from(right) + 5.0), 10 + bar.shown());
    }

    #[test]
    fn a_bar_without_tabs_or_space_is_laid_out_too() {
        let none = TabBar::new(geometry(0), &[], None, Strip::default(), 24);
        assert_eq!(none.following(Strip::default()), Strip::default());
        assert_eq!(none.index_at(5.0), 0);
        bar(geometry(5), &tabs(2), 1, 7);
    }
}
