//! The panel over the panes: an input line, and a list of items that the input filters. The command palette and all
//! pickers are such panels, with different items. A panel may show a scrollable text above its list.
//!
//! Owns the input, the list and the marked item. The app carries out the choice.

pub(crate) mod item;
pub(crate) mod rank;

use unterm_mux::input::{Key, Modifiers};
use unterm_renderer::{Label, LabelAlign, PixelRect, Preedit, Quad, Renderer, Scene};

use crate::window::{
    overlays::panel::{item::Item, rank::Query},
    ui::{
        colors::{Colors, framed, grown, label, quad, readable, selected_row},
        geometry::{Geometry, contains},
        line::Line,
        scroll_text::ScrollText,
    },
};

#[cfg(test)]
mod tests;

/// The width of a panel without a text, in logical pixels.
const WIDTH: f32 = 560.0;
/// The width of a panel that shows a text, in logical pixels.
const TEXT_WIDTH: f32 = 760.0;
/// The maximum number of visible lines of a text. If the window is low, the list shrinks so that at least the minimum
/// number of lines is visible.
const TEXT_ROWS: usize = 24;
const FEWEST_TEXT_ROWS: usize = 3;
/// The number of lines that the text scrolls for each notch of the wheel.
const NOTCH: isize = 3;
const PADDING: f32 = 12.0;
const RADIUS: f32 = 8.0;
/// The maximum number of visible items.
const ROWS: usize = 12;

/// An item that matches the input.
#[derive(Clone, Debug, PartialEq, Eq)]
struct MatchedItem {
    item: usize,
    /// The byte ranges of the item's title that match the input.
    accents: Vec<std::ops::Range<usize>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PanelOutcome {
    /// Nothing changed.
    Stay,
    /// The cursor moved or the text scrolled. The list is unchanged.
    Edited,
    /// The list changed, or another item is marked.
    Moved,
    /// The user chose the marked item. If the panel has no items, the user chose the input.
    Chosen,
    Closed,
}

#[derive(Clone, Debug)]
pub(crate) struct Panel<C> {
    /// A short text about what to type.
    hint: String,
    query: Line,
    /// The error in the input, if the input is not valid.
    message: Option<String>,
    /// A text that the user should read before choosing.
    text: Option<ScrollText>,
    items: Vec<Item<C>>,
    shown: Vec<MatchedItem>,
    /// The index of an item that is always listed first, for any input.
    offered: Option<usize>,
    marked: usize,
    /// The first visible row.
    first: usize,
    /// The row under the mouse, counted from the first visible row.
    pointed: Option<usize>,
}

impl<C> Panel<C> {
    pub(crate) fn new(hint: impl Into<String>, items: Vec<Item<C>>, marked: usize) -> Self {
        let mut panel = Self {
            hint: hint.into(),
            query: Line::default(),
            message: None,
            text: None,
            items,
            shown: Vec::new(),
            offered: None,
            marked: 0,
            first: 0,
            pointed: None,
        };
        panel.narrow();
        panel.mark(marked);
        panel
    }

    pub(crate) fn with_text(mut self, text: String) -> Self {
        self.text = Some(ScrollText::new(text));
        self
    }

    pub(crate) fn text(&self) -> Option<&str> {
        self.text.as_ref().map(ScrollText::text)
    }

    pub(crate) fn query(&self) -> &str {
        self.query.text()
    }

    pub(crate) fn choice(&self) -> Option<&C> {
        Some(&self.items[self.shown.get(self.marked)?.item].choice)
    }

    /// Whether the panel has no items. Then the input itself is the answer.
    pub(crate) fn is_without_items(&self) -> bool {
        self.items.is_empty()
    }

    pub(crate) fn hint(&self) -> &str {
        &self.hint
    }

    /// The visible items with the numbers of their rows, and whether each item is marked. For screen readers.
    pub(crate) fn spoken(&self) -> impl Iterator<Item = (usize, &Item<C>, bool)> {
        let rows = self.shown.iter().enumerate().skip(self.first).take(ROWS);
        rows.map(|(row, shown)| (row, &self.items[shown.item], row == self.marked))
    }

    /// Shows a message that explains why the input is not valid.
    pub(crate) fn complain(&mut self, message: String) {
        self.message = Some(message);
    }

    /// Inserts the first line of a text at the cursor, after removing control characters.
    pub(crate) fn insert(&mut self, text: &str) -> PanelOutcome {
        self.query.insert(text);
        self.narrow();
        PanelOutcome::Moved
    }

    /// Inserts a text and selects it, so that typing replaces it.
    pub(crate) fn prefill(&mut self, text: &str) {
        self.insert(text);
        self.query.select_all();
    }

    /// Lists an item before all others. Replaces the item of the previous call; `None` only removes that item.
    pub(crate) fn offer(&mut self, item: Option<Item<C>>) {
        if let Some(at) = self.offered.take() {
            self.items.remove(at);
            self.narrow();
        }
        if let Some(item) = item {
            let at = self.items.len();
            self.items.push(item);
            self.offered = Some(at);
            self.shown.insert(0, MatchedItem { item: at, accents: Vec::new() });
        }
    }

    /// Handles a key press. `text` is the text that the key types.
    pub(crate) fn key(
        &mut self,
        key: Key,
        modifiers: Modifiers,
        text: Option<&str>,
    ) -> PanelOutcome {
        let ctrl = modifiers.contains(Modifiers::CTRL);
        if self.scroll(key) {
            return PanelOutcome::Edited;
        }
        match (key, ctrl) {
            (Key::Escape, _) | (Key::Char('c' | 'g'), true) => PanelOutcome::Closed,
            (Key::Enter | Key::KeypadEnter, _) => PanelOutcome::Chosen,
            (Key::Up, _) | (Key::Char('p' | 'k'), true) => self.step(-1),
            (Key::Down, _) | (Key::Char('n' | 'j'), true) => self.step(1),
            (Key::Tab, _) => self.step(if modifiers.contains(Modifiers::SHIFT) { -1 } else { 1 }),
            (Key::PageUp, _) => self.page(-1),
            (Key::PageDown, _) => self.page(1),
            (Key::Home, _) if !self.items.is_empty() => self.mark(0),
            (Key::End, _) if !self.items.is_empty() => self.mark(usize::MAX),
            _ => match self.query.edit(key, modifiers, text) {
                Some(true) => {
                    self.narrow();
                    PanelOutcome::Moved
                }
                Some(false) => PanelOutcome::Edited,
                None => PanelOutcome::Stay,
            },
        }
    }

    /// Scrolls the text if `key` is a key that scrolls. A list below a text is short, so it does not need these keys.
    fn scroll(&mut self, key: Key) -> bool {
        let Some(text) = &mut self.text else { return false };
        match key {
            Key::PageUp => text.page(-1),
            Key::PageDown => text.page(1),
            // In a panel without items, Home and End move the cursor in the input.
            Key::Home if !self.items.is_empty() => text.scroll(isize::MIN),
            Key::End if !self.items.is_empty() => text.scroll(isize::MAX),
            _ => return false,
        }
        true
    }

    /// Handles one notch of the wheel: scrolls the text if the panel shows one, and otherwise marks the next item.
    pub(crate) fn wheel(&mut self, up: bool) -> PanelOutcome {
        match &mut self.text {
            Some(text) => {
                text.scroll(if up { -NOTCH } else { NOTCH });
                PanelOutcome::Edited
            }
            None => self.step(if up { -1 } else { 1 }),
        }
    }

    /// Moves the mark by `by` items. Wraps around at the ends.
    fn step(&mut self, by: isize) -> PanelOutcome {
        let count = self.shown.len() as isize;
        if count == 0 {
            return PanelOutcome::Stay;
        }
        self.mark((self.marked as isize + by).rem_euclid(count) as usize)
    }

    fn page(&mut self, by: isize) -> PanelOutcome {
        self.mark(self.marked.saturating_add_signed(by * ROWS as isize))
    }

    fn mark(&mut self, row: usize) -> PanelOutcome {
        self.marked = row.min(self.shown.len().saturating_sub(1));
        self.first = self.first.clamp((self.marked + 1).saturating_sub(ROWS), self.marked);
        PanelOutcome::Moved
    }

    /// Lists the items that match the input, the best match first.
    fn narrow(&mut self) {
        self.message = None;
        let query = Query::new(self.query.text());
        let ranked = self.items.iter().enumerate().filter_map(|(item, content)| {
            let (rank, accents) = query.rank(content)?;
            Some((rank, MatchedItem { item, accents }))
        });
        let mut ranked: Vec<_> = ranked.collect();
        // Weak matches only help if there is no strong match. Otherwise they are noise: "exit" is near "edit".
        if ranked.iter().any(|(rank, _)| rank.is_strong()) {
            ranked.retain(|(rank, _)| rank.is_strong());
        }
        // The sort is stable, so items of equal rank stay in their order.
        ranked.sort_by_key(|(rank, _)| *rank);
        self.shown = ranked.into_iter().map(|(_, shown)| shown).collect();
        self.marked = 0;
        self.first = 0;
    }

    fn place(&self, geometry: &Geometry) -> PanelLayout {
        let padding = geometry.px(PADDING);
        let (line, row) = (geometry.ui_line(), geometry.ui_line() + geometry.px(8.0));
        let width = self.width(geometry);
        let input = row + geometry.px(8.0);
        let has_message = self.message.is_some() || self.items.is_empty() || self.text.is_some();
        let message = if has_message { row } else { 0 };
        let foot = if self.items.iter().any(|item| !item.about.is_empty()) { row } else { 0 };
        let room = geometry.height.saturating_sub(input + message + foot + 4 * padding);
        let text_room = |below: usize| room.saturating_sub(below as u32 * row + padding) / line;
        let text_rows = self.text.as_ref().map_or(0, |text| {
            let items = self.shown.len().clamp(1, ROWS);
            let most = (text_room(items) as usize).max(FEWEST_TEXT_ROWS).min(text_room(0) as usize);
            text.count().min(TEXT_ROWS).min(most)
        });
        let text = if text_rows > 0 { text_rows as u32 * line + padding } else { 0 };
        let fitting = room.saturating_sub(text) / row;
        let rows = self.shown.len().min(ROWS).min(fitting as usize);
        let list = if self.items.is_empty() { 0 } else { rows.max(1) as u32 * row };
        let height = input + message + text + list + foot + padding;
        let lowest = geometry.height.saturating_sub(height + padding);
        let y = (geometry.height / 3).saturating_sub(input).min(lowest) as i32;
        let x = (geometry.width.saturating_sub(width) / 2) as i32;
        let rect = PixelRect { x, y, width, height };
        let line = |top: u32, height: u32| PixelRect { y: y + top as i32, height, ..rect };
        let top = input + message + text;
        PanelLayout {
            rect,
            input: line(0, input),
            message: line(input, message),
            text: line(input + message, text),
            text_rows,
            rows: (0..rows as u32).map(|i| line(top + i * row, row)).collect(),
            foot: line(top + list + padding / 2, foot),
            padding,
        }
    }

    fn width(&self, geometry: &Geometry) -> u32 {
        let wanted = if self.text.is_some() { TEXT_WIDTH } else { WIDTH };
        let most = geometry.width.saturating_sub(2 * geometry.px(PADDING));
        geometry.px(wanted).min(most).max(1)
    }

    /// Wraps the text to the panel's width. Must be called before each key press and each drawing.
    pub(crate) fn wrap(&mut self, geometry: &Geometry, renderer: &mut Renderer) {
        let (padding, width) = (geometry.px(PADDING), self.width(geometry));
        let Some(text) = &self.text else { return };
        let inside = width.saturating_sub(4 * padding);
        text.wrap((inside, geometry.ui_columns(inside)), |line| {
            renderer.label_width(line, geometry.ui_font(), false)
        });
        let rows = self.place(geometry).text_rows;
        if let Some(text) = &mut self.text {
            text.set_rows(rows);
        }
    }

    /// Handles a click. Returns `None` if the point is outside the panel.
    pub(crate) fn click(&mut self, geometry: &Geometry, x: f64, y: f64) -> Option<PanelOutcome> {
        let place = self.place(geometry);
        let first = self.first_in(place.rows.len());
        if !contains(place.rect, x, y) {
            return None;
        }
        match place.rows.iter().position(|row| contains(*row, x, y)) {
            Some(row) => {
                self.mark(first + row);
                Some(PanelOutcome::Chosen)
            }
            None => Some(PanelOutcome::Stay),
        }
    }

    /// Handles a move of the mouse to a point. Returns whether the row under the mouse changed.
    pub(crate) fn point(&mut self, geometry: &Geometry, x: f64, y: f64) -> bool {
        let rows = self.place(geometry).rows;
        let pointed = rows.iter().position(|row| contains(*row, x, y));
        std::mem::replace(&mut self.pointed, pointed) != pointed
    }

    /// The first visible row, if only `rows` rows fit in the window instead of [`ROWS`].
    fn first_in(&self, rows: usize) -> usize {
        self.first.clamp((self.marked + 1).saturating_sub(rows.max(1)), self.marked)
    }

    /// The hint in the empty input line, and the hint below the input line. A panel without items shows its hint below
    /// the input, where it stays visible while the user types.
    fn hints(&self) -> (&str, &str) {
        if self.items.is_empty() { ("", &self.hint) } else { (&self.hint, "") }
    }

    /// Draws the panel, including the input method's preedit text. Returns the rectangle of the cursor.
    pub(crate) fn draw(
        &self,
        preedit: Option<&Preedit>,
        (geometry, colors): (&Geometry, &Colors),
        renderer: &mut Renderer,
        scene: &mut Scene<'_>,
    ) -> PixelRect {
        let place = self.place(geometry);
        let size = geometry.ui_font();
        shadow(place.rect, geometry, scene);
        let radius = geometry.px(RADIUS) as f32;
        framed(place.rect, radius, colors, scene);
        let label = |rect, text: &str, color| {
            label(geometry, inset(rect, place.padding), text, color, LabelAlign::Left)
        };
        let input = inset(place.input, place.padding);
        let (hint, below) = self.hints();
        let caret = self.query.draw((hint, preedit), (geometry, colors), input, renderer, scene);
        scene.quads.push(quad(caret, colors.accent));
        let line = PixelRect {
            y: place.input.y + place.input.height as i32 - 1,
            height: 1,
            ..place.input
        };
        scene.quads.push(quad(line, colors.hairline));
        let (message_text, color) = match &self.message {
            Some(message) => (message.as_str(), colors.danger_text),
            None => (below, colors.muted),
        };
        if !message_text.is_empty() {
            scene.labels.push(label(place.message, message_text, color));
        }
        if let Some(text) = self.text.as_ref().filter(|_| place.text_rows > 0) {
            self.draw_text(text, &place, (geometry, colors), scene);
        }
        if self.shown.is_empty() && !self.items.is_empty() {
            let row = PixelRect {
                y: place.text.y + place.text.height as i32,
                height: geometry.ui_line() + geometry.px(8.0),
                ..place.rect
            };
            scene.labels.push(label(row, "Nothing matches", colors.muted));
        }
        let first = self.first_in(place.rows.len());
        for (index, rect) in place.rows.iter().enumerate() {
            let Some(shown) = self.shown.get(first + index) else { break };
            let item = &self.items[shown.item];
            let inside = inset(*rect, geometry.px(4.0));
            let (mut text, mut muted, mut accent) = (colors.text, colors.muted, colors.accent_text);
            if first + index == self.marked {
                let row = selected_row(inside, geometry, colors, scene);
                (text, muted, accent) = (row.text, row.muted, row.accent);
            } else if self.pointed == Some(index) {
                let (color, radius) = (colors.hairline, geometry.px(4.0) as f32);
                scene.quads.push(Quad { rect: inside, color, alpha: 0.4, radius });
            }
            let note = if item.note.is_empty() {
                0
            } else {
                renderer.label_width(&item.note, size, false).ceil() as u32 + place.padding
            };
            let mut title = label(*rect, &item.title, text);
            title.rect.width = title.rect.width.saturating_sub(note);
            title.accents.clone_from(&shown.accents);
            title.accent = accent;
            scene.labels.push(title);
            let note = label(*rect, &item.note, muted);
            scene.labels.push(Label { align: LabelAlign::Right, ..note });
        }
        if place.foot.height > 0 {
            scene.quads.push(quad(PixelRect { height: 1, ..place.foot }, colors.hairline));
            let marked = self.shown.get(self.marked);
            let about = marked.map_or("", |shown| &self.items[shown.item].about);
            scene.labels.push(label(place.foot, about, colors.muted));
        }
        caret
    }
}

impl<C> Panel<C> {
    /// Draws the visible lines of the text, and above them their numbers, such as "Lines 1–24 of 80".
    fn draw_text(
        &self,
        text: &ScrollText,
        place: &PanelLayout,
        (geometry, colors): (&Geometry, &Colors),
        scene: &mut Scene<'_>,
    ) {
        if let Some((first, last, count)) = text.place(place.text_rows) {
            let message_text = format!("Lines {first}–{last} of {count} · PgUp and PgDn scroll");
            let rect = inset(place.message, place.padding);
            scene.labels.push(label(
                geometry,
                rect,
                &message_text,
                colors.accent_text,
                LabelAlign::Right,
            ));
        }
        let line = geometry.ui_line();
        let height = place.text_rows as u32 * line + geometry.px(8.0);
        let rect = inset(PixelRect { height, ..place.text }, place.padding);
        let radius = geometry.px(4.0) as f32;
        scene.quads.push(Quad { rect, color: colors.surface, alpha: 1.0, radius });
        let color = readable(colors.text, colors.surface);
        for (row, shown) in text.in_sight(place.text_rows).iter().enumerate() {
            let y = rect.y + (geometry.px(4.0) + row as u32 * line) as i32;
            let rect = inset(PixelRect { y, height: line, ..rect }, place.padding);
            scene.labels.push(label(geometry, rect, shown, color, LabelAlign::Left));
        }
    }
}

struct PanelLayout {
    rect: PixelRect,
    input: PixelRect,
    message: PixelRect,
    text: PixelRect,
    /// The number of visible lines of the text.
    text_rows: usize,
    rows: Vec<PixelRect>,
    /// The rectangle for the description of the marked item.
    foot: PixelRect,
    padding: u32,
}

/// Returns the rectangle, made narrower by `by` pixels on the left and on the right.
pub(crate) fn inset(rect: PixelRect, by: u32) -> PixelRect {
    PixelRect { x: rect.x + by as i32, width: rect.width.saturating_sub(2 * by), ..rect }
}

/// Draws a soft shadow: many faint rectangles, each slightly larger than the previous one.
pub(crate) fn shadow(rect: PixelRect, geometry: &Geometry, scene: &mut Scene<'_>) {
    // Each rectangle is fainter than the next smaller one, so that no edge is visible.
    const STEPS: u32 = 16;
    for step in 1..=STEPS {
        let by = geometry.px(step as f32);
        let mut rect = grown(rect, by);
        rect.y += geometry.px(4.0) as i32;
        let radius = (geometry.px(RADIUS) + by) as f32;
        let alpha = 0.035 * (1.0 - step as f32 / (STEPS + 1) as f32);
        scene.quads.push(Quad { rect, alpha, radius, color: unterm_term::Rgb::hex(0) });
    }
}
