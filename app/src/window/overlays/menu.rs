//! A popup menu: a list from which the user chooses with the mouse or the keyboard.
//!
//! Owns the rows, the marked item and the choice. The code that opens a menu decides which items it contains.

use unterm_mux::{
    PaneId, TabId,
    input::{Key, Modifiers},
};
use unterm_renderer::{LabelAlign, PixelRect, Renderer, Scene};
use winit::window::CursorIcon;

use crate::window::{
    cx::Cx,
    hovered_link::HoveredLink,
    input::buffer::Buffer,
    overlays::{
        canvas::Canvas,
        overlay::{Handled, Overlay, Press},
        panel::shadow,
        text_target::TextTarget,
    },
    redraw::Redraw,
    ui::{
        colors::{Colors, framed, label, quad, selected_row},
        geometry::{Geometry, contains},
    },
    wish::Wish,
    workspace::blocks::action::BlockAction,
};
use crate::{action::Action, config::keys::Keymap};

#[cfg(test)]
mod tests;

/// In logical pixels: the space around the rows, beside their text, and between title and keys; and the height of a
/// separator.
const EDGE: f32 = 4.0;
const PADDING: f32 = 10.0;
const GAP: f32 = 28.0;
const LINE: f32 = 9.0;
const NARROWEST: f32 = 160.0;
const RADIUS: f32 = 8.0;
/// The minimum distance, in pixels, that the pointer must move after the press that opened the menu. Only then does
/// releasing the button choose an item.
const TRAVEL: f64 = 6.0;

/// One row of a menu.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Row {
    Item(Item),
    /// A separator.
    Line,
}

/// The effect of an item.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Choice {
    Act(Action),
    /// Opens a link.
    Open(HoveredLink),
    /// Copies text to the clipboard.
    Copy(String),
    /// Runs an action on a command of a pane, given by the command's id.
    Command(PaneId, u64, BlockAction),
}

/// An item that can be chosen.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Item {
    title: String,
    /// The keys that are bound to the action, as shown to the user.
    keys: String,
    choice: Choice,
    enabled: bool,
    checked: bool,
}

impl Item {
    /// Creates the item of an action, with the title and the keys from the table of actions.
    pub(crate) fn new(action: Action, keymap: &Keymap) -> Self {
        let entry = action.entry();
        Self {
            title: entry.title.to_owned(),
            keys: keymap.keys_of(entry),
            choice: Choice::Act(action),
            enabled: true,
            checked: false,
        }
    }

    /// Creates an item that is not an action.
    pub(crate) fn of(title: impl Into<String>, choice: Choice) -> Self {
        Self { title: title.into(), keys: String::new(), choice, enabled: true, checked: false }
    }

    /// Replaces the title.
    pub(crate) fn titled(self, title: impl Into<String>) -> Self {
        Self { title: title.into(), ..self }
    }

    /// Enables or disables the item. A disabled item is gray and can't be chosen.
    pub(crate) fn enabled(self, enabled: bool) -> Self {
        Self { enabled, ..self }
    }

    /// Checks or unchecks the item. A checked item shows a check mark before its title.
    pub(crate) fn checked(self, checked: bool) -> Self {
        Self { checked, ..self }
    }
}

impl From<Item> for Row {
    fn from(item: Item) -> Self {
        Self::Item(item)
    }
}

/// An open menu.
#[derive(Clone, Debug)]
pub(crate) struct Menu {
    rows: Vec<Row>,
    marked: Option<usize>,
    /// The first visible row, if not all rows fit in the window.
    first: usize,
    /// The rectangle that the menu belongs to. The menu opens below it, or above it if there is no space below.
    anchor: PixelRect,
    /// The width of the menu, in physical pixels.
    width: u32,
    /// The tab that the actions apply to; `None` for the active tab.
    target: Option<TabId>,
    /// The pointer's position when the menu opened. `None` as soon as releasing a button can choose an item.
    opened: Option<(f64, f64)>,
}

/// Whether an item can be chosen, is checked, and is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ItemState {
    pub(crate) enabled: bool,
    pub(crate) checked: bool,
    pub(crate) marked: bool,
}

/// The result of a key press or a click.
#[derive(Clone, Debug, PartialEq)]
enum MenuOutcome {
    Stay,
    Closed,
    Chosen(Choice),
}

impl Menu {
    /// Creates a menu next to the rectangle `anchor`, which may be a point of size 0. Its actions apply to the tab
    /// `target`, or to the active tab if that is `None`. `pointer` is the position of the mouse.
    pub(crate) fn new(
        rows: Vec<Row>,
        anchor: PixelRect,
        target: Option<TabId>,
        pointer: Option<(f64, f64)>,
        geometry: &Geometry,
        renderer: &mut Renderer,
    ) -> Self {
        let mut menu =
            Self { rows, marked: None, first: 0, anchor, width: 0, target, opened: pointer };
        menu.measure(geometry, renderer);
        menu
    }

    fn item(&self, row: usize) -> Option<&Item> {
        match self.rows.get(row) {
            Some(Row::Item(item)) if item.enabled => Some(item),
            _ => None,
        }
    }

    /// The items with the numbers of their rows: title, keys and state. For screen readers.
    pub(crate) fn spoken(&self) -> impl Iterator<Item = (usize, &str, &str, ItemState)> {
        self.rows.iter().enumerate().filter_map(|(row, content)| {
            let Row::Item(item) = content else { return None };
            let (enabled, checked) = (item.enabled, item.checked);
            let state = ItemState { enabled, checked, marked: self.marked == Some(row) };
            Some((row, item.title.as_str(), item.keys.as_str(), state))
        })
    }

    /// Marks the next item in a direction. After the last item follows the first item.
    fn step(&mut self, by: isize) {
        let count = self.rows.len() as isize;
        let from = match self.marked {
            Some(row) => row as isize,
            None if by > 0 => -1,
            None => count,
        };
        let rows = (1..=count).map(|steps| (from + by * steps).rem_euclid(count.max(1)) as usize);
        self.marked = rows.into_iter().find(|row| self.item(*row).is_some()).or(self.marked);
    }

    /// Marks the next item whose title starts with a letter.
    fn jump(&mut self, letter: char) {
        let begins = |item: &Item| {
            let first = item.title.chars().next().into_iter().flat_map(char::to_lowercase).next();
            first.is_some_and(|first| letter.to_lowercase().next() == Some(first))
        };
        let count = self.rows.len();
        let from = self.marked.map_or(0, |row| row + 1);
        let mut rows = (0..count).map(|steps| (from + steps) % count.max(1));
        self.marked = rows.find(|row| self.item(*row).is_some_and(begins)).or(self.marked);
    }

    fn choose(&self) -> MenuOutcome {
        let item = self.marked.and_then(|row| self.item(row));
        item.map_or(MenuOutcome::Stay, |item| MenuOutcome::Chosen(item.choice.clone()))
    }

    fn press_key(&mut self, key: Key, modifiers: Modifiers) -> MenuOutcome {
        let ctrl = modifiers.contains(Modifiers::CTRL);
        match (key.off_keypad(), ctrl) {
            (Key::Escape | Key::Left, _) | (Key::Char('c' | 'g'), true) => {
                return MenuOutcome::Closed;
            }
            (Key::Enter | Key::Char(' '), false) => return self.choose(),
            (Key::Up, _) | (Key::Char('p' | 'k'), true) => self.step(-1),
            (Key::Down, _) | (Key::Char('n' | 'j'), true) => self.step(1),
            (Key::Tab, _) => self.step(if modifiers.contains(Modifiers::SHIFT) { -1 } else { 1 }),
            (Key::Home | Key::PageUp, _) => {
                self.marked = None;
                self.step(1);
            }
            (Key::End | Key::PageDown, _) => {
                self.marked = None;
                self.step(-1);
            }
            (Key::Char(letter), false) => self.jump(letter),
            _ => {}
        }
        MenuOutcome::Stay
    }

    fn height_of(row: &Row, geometry: &Geometry) -> u32 {
        match row {
            Row::Item(_) => geometry.ui_line() + geometry.px(8.0),
            Row::Line => geometry.px(LINE),
        }
    }

    /// The rectangle of the menu, and the visible rows with their rectangles.
    fn place(&self, geometry: &Geometry) -> (PixelRect, Vec<(usize, PixelRect)>) {
        let edge = geometry.px(EDGE);
        let heights: Vec<u32> = self.rows.iter().map(|r| Self::height_of(r, geometry)).collect();
        let height = (heights.iter().sum::<u32>() + 2 * edge).min(geometry.height);
        let width = self.width.min(geometry.width);
        let (below, window) = (self.anchor.y + self.anchor.height as i32, geometry.height as i32);
        let y = if below + height as i32 <= window {
            below
        } else if self.anchor.y >= height as i32 {
            self.anchor.y - height as i32
        } else {
            window - height as i32
        };
        let x = self.anchor.x.min(geometry.width.saturating_sub(width) as i32).max(0);
        let rect = PixelRect { x, y, width, height };
        let bottom = y + (height.saturating_sub(edge)) as i32;
        // Scroll until the marked row is visible.
        let marked = self.marked.unwrap_or(0);
        let room = height.saturating_sub(2 * edge);
        let mut first = self.first.min(marked);
        while first < marked && heights[first..=marked].iter().sum::<u32>() > room {
            first += 1;
        }
        let mut top = y + edge as i32;
        let mut rows = Vec::new();
        for (row, height) in heights.iter().enumerate().skip(first) {
            if top + *height as i32 > bottom {
                break;
            }
            rows.push((row, PixelRect { x, y: top, width, height: *height }));
            top += *height as i32;
        }
        (rect, rows)
    }

    /// Marks the item under the pointer. Returns false if the pointer is outside the menu.
    fn mark_at(&mut self, geometry: &Geometry, x: f64, y: f64) -> bool {
        let (rect, rows) = self.place(geometry);
        let row = rows.iter().find(|(_, rect)| contains(*rect, x, y)).map(|(row, _)| *row);
        if let Some((first, _)) = rows.first() {
            self.first = *first;
        }
        self.marked = row.filter(|row| self.item(*row).is_some());
        if let Some((from_x, from_y)) = self.opened
            && (x - from_x).abs().max((y - from_y).abs()) > TRAVEL
        {
            self.opened = None;
        }
        contains(rect, x, y)
    }

    fn draw_rows(&self, geometry: &Geometry, colors: &Colors, scene: &mut Scene<'_>) {
        let (rect, rows) = self.place(geometry);
        shadow(rect, geometry, scene);
        framed(rect, geometry.px(RADIUS) as f32, colors, scene);
        let (edge, padding) = (geometry.px(EDGE), geometry.px(PADDING));
        let tick = self.tick_width(geometry);
        for (row, place) in rows {
            let inside = PixelRect {
                x: place.x + padding as i32,
                width: place.width.saturating_sub(2 * padding),
                ..place
            };
            let item = match &self.rows[row] {
                Row::Item(item) => item,
                Row::Line => {
                    let y = place.y + (place.height / 2) as i32;
                    let line = PixelRect { y, height: 1, ..inside };
                    scene.quads.push(quad(line, colors.hairline));
                    continue;
                }
            };
            let (mut text, mut muted) = match item.enabled {
                true => (colors.text, colors.muted),
                false => (colors.disabled, colors.disabled),
            };
            // A disabled item is never marked.
            if self.marked == Some(row) {
                let rect = PixelRect {
                    x: place.x + edge as i32,
                    width: place.width.saturating_sub(2 * edge),
                    ..place
                };
                let row = selected_row(rect, geometry, colors, scene);
                (text, muted) = (row.text, row.muted);
            }
            let label = |rect, text: &str, color, align| label(geometry, rect, text, color, align);
            if item.checked {
                scene.labels.push(label(inside, "✓", text, LabelAlign::Left));
            }
            let title = PixelRect {
                x: inside.x + tick as i32,
                width: inside.width.saturating_sub(tick),
                ..inside
            };
            scene.labels.push(label(title, &item.title, text, LabelAlign::Left));
            scene.labels.push(label(inside, &item.keys, muted, LabelAlign::Right));
        }
    }

    fn tick_width(&self, geometry: &Geometry) -> u32 {
        let ticks = self.rows.iter().any(|row| matches!(row, Row::Item(item) if item.checked));
        if ticks { geometry.px(18.0) } else { 0 }
    }

    /// Sets the width of the menu to the width of its widest row.
    fn measure(&mut self, geometry: &Geometry, renderer: &mut Renderer) {
        let size = geometry.ui_font();
        let widest = self.rows.iter().map(|row| match row {
            Row::Line => 0.0,
            Row::Item(item) if item.keys.is_empty() => {
                renderer.label_width(&item.title, size, false)
            }
            Row::Item(item) => {
                renderer.label_width(&item.title, size, false)
                    + renderer.label_width(&item.keys, size, false)
                    + geometry.px(GAP) as f32
            }
        });
        let widest = widest.fold(0.0, f32::max).ceil() as u32;
        let around = 2 * geometry.px(PADDING) + self.tick_width(geometry);
        self.width = (widest + around).max(geometry.px(NARROWEST));
    }
}

impl Menu {
    /// Closes the menu if an item is chosen, and requests what the item does.
    fn finish(&self, outcome: MenuOutcome, cx: &mut Cx<'_>) {
        let choice = match outcome {
            MenuOutcome::Stay => return,
            MenuOutcome::Closed => return cx.close(),
            MenuOutcome::Chosen(choice) => choice,
        };
        cx.close();
        match choice {
            Choice::Act(action) => cx.wish(Wish::Act(self.target, action)),
            Choice::Open(link) => cx.wish(Wish::OpenLink(link)),
            Choice::Copy(text) => cx.store(Buffer::Clipboard, text),
            Choice::Command(pane, command, action) => cx.wish(Wish::Command(pane, command, action)),
        }
    }
}

impl Overlay for Menu {
    fn has_mouse(&self) -> bool {
        true
    }

    fn text_target(&self) -> Option<TextTarget> {
        Some(TextTarget::Nobody)
    }

    /// No key reaches anything below the menu.
    fn key(&mut self, press: &Press<'_>, cx: &mut Cx<'_>) -> Handled {
        let outcome = self.press_key(press.command_key(), press.modifiers);
        self.finish(outcome, cx);
        Handled::Yes
    }

    /// A press outside the menu only closes it. A press on the tabs is passed on, because it may open another menu.
    fn press(&mut self, cx: &mut Cx<'_>) -> Handled {
        let Some((x, y)) = cx.pointer.position else { return Handled::Yes };
        let Some(geometry) = cx.geometry else { return Handled::No };
        let inside = self.mark_at(&geometry, x, y);
        self.opened = None;
        if inside {
            return Handled::Yes;
        }
        cx.close();
        if geometry.has_tabs_at(x, y) { Handled::No } else { Handled::Yes }
    }

    /// Chooses the item under the pointer.
    fn release(&mut self, cx: &mut Cx<'_>) {
        let (Some((x, y)), Some(geometry)) = (cx.pointer.position, cx.geometry) else { return };
        if self.opened.is_none() && self.mark_at(&geometry, x, y) {
            let outcome = self.choose();
            self.finish(outcome, cx);
        }
    }

    fn point(&mut self, x: f64, y: f64, cx: &mut Cx<'_>) -> (Handled, Redraw) {
        cx.set_icon(CursorIcon::Default);
        let Some(geometry) = cx.geometry else { return (Handled::Yes, Redraw::No) };
        let before = self.marked;
        if !self.mark_at(&geometry, x, y) {
            // If the pointer is outside the menu, the item that was marked by a key stays marked.
            self.marked = before;
        }
        (Handled::Yes, Redraw::if_changed(self.marked != before))
    }

    fn wheel(&mut self, up: bool, _: &mut Cx<'_>) {
        self.step(if up { -1 } else { 1 });
    }

    fn draw(&self, canvas: &mut Canvas<'_, '_>) {
        self.draw_rows(canvas.geometry, canvas.colors, canvas.scene);
    }
}
