//! The layout and the drawing of the inbox panel.

use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use unterm_control::methods::inbox::Entry;
use unterm_renderer::{Label, LabelAlign, PixelRect, Quad};
use unterm_term::Rgb;

use crate::window::{
    overlays::{
        canvas::Canvas,
        inbox_panel::{InboxPanel, button::Button, cells::Run},
        panel::{inset, shadow},
        text_target::TextTarget,
    },
    ui::{
        colors::{Colors, framed, label, quad, readable, selected_row},
        geometry::{Geometry, contains},
    },
};

/// The measures of the panel, in logical pixels.
const WIDTH: f32 = 760.0;
const PADDING: f32 = 12.0;
const RADIUS: f32 = 8.0;
/// The maximum number of visible entries, and of visible rows of the question.
const ENTRIES: usize = 6;
const ROWS: usize = 14;
/// The share of a row's width that the title of an entry uses.
const TITLE_SHARE: f32 = 0.34;

/// The position of each part of the panel.
pub(crate) struct InboxLayout {
    rect: PixelRect,
    head: PixelRect,
    /// The visible entries, with their indices.
    entries: Vec<(usize, PixelRect)>,
    screen: PixelRect,
    /// The visible rows of the question.
    rows: Vec<Vec<Run>>,
    message: PixelRect,
    buttons: Vec<(Button, PixelRect)>,
}

impl InboxLayout {
    pub(crate) fn contains(&self, x: f64, y: f64) -> bool {
        contains(self.rect, x, y)
    }

    /// The index of the entry at a point.
    pub(crate) fn row_at(&self, x: f64, y: f64) -> Option<usize> {
        self.entries.iter().find(|(_, rect)| contains(*rect, x, y)).map(|(row, _)| *row)
    }

    /// The rectangles of all parts.
    #[cfg(test)]
    pub(crate) fn parts(&self) -> Vec<PixelRect> {
        let entries = self.entries.iter().map(|(_, rect)| *rect);
        let buttons = self.buttons.iter().map(|(_, rect)| *rect);
        entries.chain(buttons).chain([self.rect, self.head, self.screen, self.message]).collect()
    }

    #[cfg(test)]
    pub(crate) fn shows(&self, row: usize) -> bool {
        self.entries.iter().any(|(at, _)| *at == row)
    }

    pub(crate) fn button_at(&self, x: f64, y: f64) -> Option<Button> {
        self.buttons.iter().find(|(_, rect)| contains(*rect, x, y)).map(|(button, _)| *button)
    }
}

impl InboxPanel {
    /// Lays out the panel. In a low window, fewer rows of the question and fewer entries are visible.
    pub(crate) fn layout(&self, geometry: &Geometry) -> InboxLayout {
        let padding = geometry.px(PADDING);
        let (line, row) = (geometry.ui_line(), geometry.ui_line() + geometry.px(8.0));
        let width = geometry.px(WIDTH).min(geometry.width.saturating_sub(2 * padding)).max(1);
        let inside = width.saturating_sub(2 * padding);
        let mut buttons = self.flow(geometry, inside);
        let button_height = row + geometry.px(4.0);
        // In a low window, the last buttons are left out. Their keys work.
        let most = geometry.height.saturating_sub(3 * row + 5 * padding) / button_height;
        buttons.retain(|(_, _, line)| *line < most);
        let lines = buttons.last().map_or(0, |(_, _, line)| line + 1);
        let fixed = row + row + lines * button_height + 3 * padding;
        let mut room = geometry.height.saturating_sub(fixed + 2 * padding);
        let columns = (inside.saturating_sub(2 * padding) as f32 / geometry.ui_column) as usize;
        let all = self.shown.as_ref().map_or_else(Vec::new, |shown| shown.cells.wrapped(columns));
        let wanted = self.entries.len().clamp(1, ENTRIES);
        // At least three rows of the question are visible before a second entry is.
        let least = all.len().min(3) as u32 * line + padding;
        let visible = ((room.saturating_sub(least) / row) as usize).clamp(1, wanted);
        room = room.saturating_sub(visible as u32 * row);
        let shown = all.len().min(ROWS).min((room.saturating_sub(padding) / line) as usize);
        let screen = if shown > 0 { shown as u32 * line + geometry.px(8.0) } else { 0 };
        let end = self.scroll.end(shown, all.len());
        let height = fixed + visible as u32 * row + screen;
        let lowest = geometry.height.saturating_sub(height + padding);
        let rect = PixelRect {
            x: (geometry.width.saturating_sub(width) / 2) as i32,
            y: (geometry.height / 5).min(lowest) as i32,
            width,
            height,
        };
        let part = |top: u32, height: u32| PixelRect { y: rect.y + top as i32, height, ..rect };
        let first = (self.row + 1).saturating_sub(visible);
        let count = visible.min(self.entries.len());
        let top = row + padding / 2;
        let entries = (0..count)
            .map(|at| {
                (first.min(self.entries.len() - count) + at, part(top + at as u32 * row, row))
            })
            .collect();
        let screen_top = top + visible as u32 * row + padding / 2;
        let message_top = screen_top + screen;
        let buttons = buttons.into_iter().map(|(button, (x, width), line)| {
            let y = message_top + row + padding / 2 + line * button_height;
            (button, PixelRect { x: rect.x + (padding + x) as i32, width, ..part(y, row) })
        });
        InboxLayout {
            rect,
            head: part(geometry.px(4.0), row),
            entries,
            screen: inset(part(screen_top, screen), padding),
            rows: all[end - shown..end].to_vec(),
            message: part(message_top, row),
            buttons: buttons.collect(),
        }
    }

    /// The buttons, each with its left edge, its width and its line. A button that does not fit starts a new line.
    fn flow(&self, geometry: &Geometry, room: u32) -> Vec<(Button, (u32, u32), u32)> {
        let (gap, mut x, mut line) = (geometry.px(8.0), 0, 0);
        let mut placed = Vec::new();
        for button in self.buttons() {
            let text = geometry.ui_width(&self.button_text(button));
            let width = (text + 2 * geometry.px(10.0)).min(room);
            if x > 0 && x + width > room {
                (x, line) = (0, line + 1);
            }
            placed.push((button, (x, width), line));
            x += width + gap;
        }
        placed
    }

    /// The text on a button: its key, and its title.
    fn button_text(&self, button: Button) -> String {
        format!("{}  {}", button.key(), button.title(self.shown.as_ref()))
    }

    pub(crate) fn draw_panel(&self, canvas: &mut Canvas<'_, '_>) {
        let (geometry, colors) = (canvas.geometry, canvas.colors);
        let layout = self.layout(geometry);
        let padding = geometry.px(PADDING);
        shadow(layout.rect, geometry, canvas.scene);
        framed(layout.rect, geometry.px(RADIUS) as f32, colors, canvas.scene);
        let said = |rect, text: &str, color, align| {
            label(geometry, inset(rect, padding), text, color, align)
        };
        let title = match self.entries.len() {
            0 => "Nothing needs you".to_owned(),
            1 => "1 needs you".to_owned(),
            count => format!("{count} need you"),
        };
        let title = said(layout.head, &title, colors.text, LabelAlign::Left);
        canvas.scene.labels.push(Label { bold: true, ..title });
        let hint = said(layout.head, "↑ ↓  choose    Esc  close", colors.muted, LabelAlign::Right);
        canvas.scene.labels.push(hint);
        let now = OffsetDateTime::now_utc();
        for (at, rect) in &layout.entries {
            self.draw_entry(*at, *rect, now, canvas);
        }
        self.draw_screen(&layout, canvas);
        match (&self.typed, &self.message) {
            (Some(typed), _) => {
                let preedit = canvas.preedit_of(TextTarget::Panel);
                let area = inset(layout.message, padding);
                let hint = "Type an answer; Enter sends it, Esc leaves it";
                let look = (geometry, colors);
                let caret = typed.draw((hint, preedit), look, area, canvas.renderer, canvas.scene);
                canvas.scene.quads.push(quad(caret, colors.accent));
                canvas.caret = Some(caret);
            }
            (None, Some(message)) => {
                let color = if message.is_error { colors.danger_text } else { colors.muted };
                let text = said(layout.message, &message.text, color, LabelAlign::Left);
                canvas.scene.labels.push(text);
            }
            (None, None) => {}
        }
        for (button, rect) in &layout.buttons {
            let is_pointed = canvas.pointer.is_some_and(|(x, y)| contains(*rect, x, y));
            let color = if is_pointed { colors.divider } else { colors.hairline };
            let radius = geometry.px(4.0) as f32;
            canvas.scene.quads.push(Quad { rect: *rect, color, alpha: 1.0, radius });
            let inside = inset(*rect, geometry.px(10.0));
            let text = self.button_text(*button);
            let key = 0..button.key().len();
            let shown =
                label(geometry, inside, &text, readable(colors.text, color), LabelAlign::Left);
            let accent = readable(colors.accent, color);
            canvas.scene.labels.push(Label { accents: vec![key], accent, ..shown });
        }
    }

    fn draw_entry(
        &self,
        at: usize,
        rect: PixelRect,
        now: OffsetDateTime,
        canvas: &mut Canvas<'_, '_>,
    ) {
        let (geometry, colors) = (canvas.geometry, canvas.colors);
        let Some(listed) = self.entries.get(at) else { return };
        let row = inset(rect, geometry.px(4.0));
        let (mut text, mut muted) = (colors.text, colors.muted);
        if self.marked.is_some() && at == self.row {
            let selected = selected_row(row, geometry, colors, canvas.scene);
            (text, muted) = (selected.text, selected.muted);
        }
        let inside = inset(rect, geometry.px(PADDING));
        let split = (inside.width as f32 * TITLE_SHARE) as u32;
        let title = PixelRect { width: split.saturating_sub(geometry.px(8.0)), ..inside };
        let age = age(&listed.entry, now);
        let taken = geometry.ui_width(&age) + geometry.px(12.0);
        let question = PixelRect {
            x: inside.x + split as i32,
            width: inside.width.saturating_sub(split + taken),
            ..inside
        };
        for (rect, said, color, align) in [
            (title, self.name_of(listed), text, LabelAlign::Left),
            (question, listed.entry.question.clone(), muted, LabelAlign::Left),
            (inside, age, muted, LabelAlign::Right),
        ] {
            canvas.scene.labels.push(label(geometry, rect, &said, color, align));
        }
    }

    /// Draws the visible rows of the question.
    fn draw_screen(&self, layout: &InboxLayout, canvas: &mut Canvas<'_, '_>) {
        let (geometry, colors) = (canvas.geometry, canvas.colors);
        if layout.rows.is_empty() {
            return;
        }
        let radius = geometry.px(4.0) as f32;
        let rect = layout.screen;
        canvas.scene.quads.push(Quad { rect, color: colors.surface, alpha: 1.0, radius });
        let (line, x) = (geometry.ui_line(), rect.x + geometry.px(PADDING) as i32);
        for (at, runs) in layout.rows.iter().enumerate() {
            let y = rect.y + (geometry.px(4.0) + at as u32 * line) as i32;
            for run in runs {
                let left = x + (run.column as f32 * geometry.ui_column).round() as i32;
                let width = geometry.ui_width(&run.text);
                let place = PixelRect { x: left, y, width, height: line };
                draw_run(run, place, geometry, colors, canvas);
            }
        }
    }
}

fn draw_run(
    run: &Run,
    place: PixelRect,
    geometry: &Geometry,
    colors: &Colors,
    canvas: &mut Canvas<'_, '_>,
) {
    let ground: Rgb = run.ground.unwrap_or(colors.surface);
    if run.ground.is_some() {
        canvas.scene.quads.push(quad(place, ground));
    }
    let color = readable(run.color.unwrap_or(colors.text), ground);
    // The renderer measures more exactly than columns do, and must not cut the text.
    let rect = PixelRect { width: place.width + geometry.px(8.0), ..place };
    let text = label(geometry, rect, &run.text, color, LabelAlign::Left);
    canvas.scene.labels.push(Label { bold: run.is_bold, ..text });
}

/// The time since an entry began, such as `5 min`. Empty if the time is unknown.
fn age(entry: &Entry, now: OffsetDateTime) -> String {
    let since = entry.since.as_deref().and_then(|text| OffsetDateTime::parse(text, &Rfc3339).ok());
    let Some(since) = since else { return String::new() };
    match (now - since).whole_seconds() {
        ..60 => "now".to_owned(),
        seconds @ 60..3600 => format!("{} min", seconds / 60),
        seconds @ 3600..86_400 => format!("{} h", seconds / 3600),
        seconds => format!("{} d", seconds / 86_400),
    }
}
