//! Toasts: short messages at the bottom right of the window, at most three. Errors stay until dismissed.

use std::{
    ops::Range,
    time::{Duration, Instant},
};

use unterm_mux::{Layout, PaneId, Rect};
use unterm_renderer::{Label, LabelAlign, PixelRect, Quad, Scene};

use crate::desktop::Key;
use crate::window::{
    cx::Cx,
    overlays::{
        agent_questions,
        canvas::Canvas,
        overlay::{Handled, Overlay},
    },
    ui::{
        colors::{Colors, framed},
        geometry::{Geometry, contains, pixels},
        wrap::wrap,
    },
    wish::Wish,
    workspace::{cursor::cursor_place, view::Views},
};

/// How long a toast stays, unless it is an error.
const TIME: Duration = Duration::from_secs(4);
/// The maximum number of toasts. If there are more, the oldest toast that expires is removed first.
const CAP: usize = 3;
/// The width, margins and padding, in logical pixels.
const WIDTH: f32 = 420.0;
const MARGIN: f32 = 16.0;
const PADDING: f32 = 12.0;
/// The space between toasts, and between a toast and a rectangle that it must not cover, in logical pixels.
const GAP: f32 = 8.0;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Toast {
    /// The subject: a new toast replaces the toast with the same subject.
    about: &'static str,
    /// The notification that the toast shows; part of the subject.
    notification: Option<Key>,
    /// The pane that the toast is about; a click shows it.
    pane: Option<PaneId>,
    text: String,
    /// When the toast expires; `None` if it stays until dismissed.
    until: Option<Instant>,
    is_error: bool,
}

impl Toast {
    /// Creates a toast that is not an error and stays until it is dismissed.
    pub(crate) fn of(about: &'static str, text: String) -> Self {
        Self { about, notification: None, pane: None, text, until: None, is_error: false }
    }
}

#[derive(Default)]
pub(crate) struct Toasts {
    /// The shown toasts, oldest first.
    shown: Vec<Toast>,
    /// The last error, for callers that request its text.
    complaint: Option<String>,
}

impl Toasts {
    /// Shows a message that expires.
    pub(crate) fn notify(&mut self, about: &'static str, text: String, now: Instant) {
        self.add(Toast { until: Some(now + TIME), ..Toast::of(about, text) });
    }

    /// Shows a message about a pane that expires. A click on the message shows the pane.
    pub(crate) fn notify_of(
        &mut self,
        pane: PaneId,
        about: &'static str,
        text: String,
        now: Instant,
    ) {
        let (until, pane) = (Some(now + TIME), Some(pane));
        self.add(Toast { until, pane, ..Toast::of(about, text) });
    }

    /// Shows a notification as a message that expires. Only a newer version of the same notification replaces the
    /// message.
    pub(crate) fn show_notification(&mut self, notification: Key, text: String, now: Instant) {
        let (until, pane) = (Some(now + TIME), Some(notification.pane()));
        let notification = Some(notification);
        self.add(Toast { until, pane, notification, ..Toast::of("notification", text) });
    }

    /// Shows a message that is not an error. The message stays until [`Toasts::settle`] removes it.
    pub(crate) fn keep(&mut self, about: &'static str, text: String) {
        self.add(Toast::of(about, text));
    }

    /// Shows an error, and records it for callers that request its text. The message stays until the user dismisses it
    /// or [`Toasts::settle`] removes it.
    pub(crate) fn complain(&mut self, about: &'static str, text: String) {
        self.complaint = Some(text.clone());
        self.add(Toast { is_error: true, ..Toast::of(about, text) });
    }

    /// Shows why an action is not possible now, in a message that expires. Also records the text for callers that
    /// request it.
    pub(crate) fn refuse(&mut self, about: &'static str, why: String, now: Instant) {
        self.complaint = Some(why.clone());
        self.notify(about, why, now);
    }

    /// Returns the last error, and forgets it.
    pub(crate) fn take_complaint(&mut self) -> Option<String> {
        self.complaint.take()
    }

    fn add(&mut self, toast: Toast) {
        let is_same =
            |other: &Toast| (other.about, other.notification) == (toast.about, toast.notification);
        self.shown.retain(|other| !is_same(other));
        if self.shown.len() == CAP {
            // Toasts that expire are removed before toasts that stay.
            let passing = self.shown.iter().position(|toast| toast.until.is_some());
            self.shown.remove(passing.unwrap_or(0));
        }
        self.shown.push(toast);
    }

    /// Removes the messages about a problem that no longer exists. Returns false if there were none.
    pub(crate) fn settle(&mut self, about: &'static str) -> bool {
        let before = self.shown.len();
        self.shown.retain(|toast| toast.about != about);
        self.shown.len() < before
    }

    pub(crate) fn dismiss_all(&mut self) {
        self.shown.clear();
    }

    fn is_empty(&self) -> bool {
        self.shown.is_empty()
    }

    /// The text of each toast, and whether it is an error.
    pub(crate) fn spoken(&self) -> impl Iterator<Item = (&str, bool)> {
        self.shown.iter().map(|toast| (toast.text.as_str(), toast.is_error))
    }

    /// Removes expired toasts; returns when the next one expires.
    pub(crate) fn expire(&mut self, now: Instant) -> Option<Instant> {
        self.shown.retain(|toast| toast.until.is_none_or(|until| now < until));
        self.shown.iter().filter_map(|toast| toast.until).min()
    }

    /// Each toast that there is room for, with its rectangle and lines, newest at the bottom. A toast covers none of
    /// the rectangles in `kept`: it lies below or above them. If the newest toast fits nowhere, its text is cut.
    pub(crate) fn placed(
        &self,
        geometry: &Geometry,
        kept: &[PixelRect],
    ) -> Vec<(&Toast, PixelRect, Vec<String>)> {
        let (margin, padding) = (geometry.px(MARGIN), geometry.px(PADDING));
        let width = geometry.px(WIDTH).min(geometry.width.saturating_sub(2 * margin)).max(1);
        let columns = geometry.ui_columns(width.saturating_sub(2 * padding));
        let x = geometry.width.saturating_sub(width + margin) as i32;
        let mut free = free_bands(geometry, (x, width), kept);
        let room = |band: &Range<u32>| {
            (band.end.saturating_sub(band.start + 2 * padding) / geometry.ui_line()) as usize
        };
        let mut placed = Vec::new();
        for toast in self.shown.iter().rev() {
            let mut lines = wrap(&toast.text, columns);
            let fitting = free.iter().position(|band| room(band) >= lines.len().max(1));
            let band = match fitting {
                Some(band) => band,
                None if placed.is_empty() => {
                    // The lowest of the largest bands.
                    let best = (0..free.len()).rev().max_by_key(|band| room(&free[*band]));
                    let Some(best) = best.filter(|best| room(&free[*best]) > 0) else { break };
                    lines.truncate(room(&free[best]));
                    lines.last_mut().into_iter().for_each(|last| last.push('…'));
                    best
                }
                None => break,
            };
            // Older toasts never lie below newer toasts.
            free.drain(..band);
            let height = lines.len() as u32 * geometry.ui_line() + 2 * padding;
            let y = free[0].end - height;
            placed.push((toast, PixelRect { x, y: y as i32, width, height }, lines));
            free[0].end = y.saturating_sub(geometry.px(GAP));
        }
        placed
    }

    fn draw_messages(
        &self,
        (geometry, colors): (&Geometry, &Colors),
        kept: &[PixelRect],
        scene: &mut Scene<'_>,
    ) {
        let radius = geometry.px(8.0) as f32;
        for (toast, rect, lines) in self.placed(geometry, kept) {
            framed(rect, radius, colors, scene);
            let padding = geometry.px(PADDING);
            let bar = PixelRect {
                x: rect.x + geometry.px(4.0) as i32,
                y: rect.y + padding as i32,
                width: geometry.px(3.0),
                height: rect.height.saturating_sub(2 * padding),
            };
            let color = if toast.is_error { colors.danger } else { colors.accent };
            scene.quads.push(Quad { rect: bar, color, alpha: 1.0, radius: 1.0 });
            let columns = geometry.ui_columns(rect.width.saturating_sub(2 * padding));
            let head = toast.text.lines().next().map_or(0, |line| wrap(line, columns).len());
            for (index, line) in lines.into_iter().enumerate() {
                let line_height = geometry.ui_line();
                scene.labels.push(Label {
                    rect: PixelRect {
                        x: rect.x + padding as i32,
                        y: rect.y + (padding + index as u32 * line_height) as i32,
                        width: rect.width.saturating_sub(2 * padding),
                        height: line_height,
                    },
                    text: line,
                    color: colors.text,
                    size: geometry.ui_font(),
                    bold: index < head,
                    align: LabelAlign::Left,
                    ..Label::default()
                });
            }
        }
    }
}

/// The rectangles that messages must not cover: the row in which the user types, and the bar of the search. `search` is
/// the searched pane and the bar.
pub(crate) fn rows_in_use(
    layout: &Layout,
    placed: &[(PaneId, Rect)],
    views: &Views,
    search: Option<(PaneId, PixelRect)>,
    geometry: &Geometry,
) -> Vec<PixelRect> {
    let area = |pane| placed.iter().find(|(id, _)| *id == pane).map(|(_, area)| pixels(*area));
    let cursor = cursor_place(layout, placed, views, geometry);
    let pane = layout.active_tab().and_then(|tab| area(tab.focused));
    // A pane that is scrolled back has its cursor below its area.
    let row = cursor.zip(pane).map(|(cursor, pane)| {
        PixelRect { x: pane.x, width: pane.width, ..cursor }.intersection(&pane)
    });
    let bar = search.filter(|(pane, _)| area(*pane).is_some());
    row.into_iter().chain(bar.map(|(_, bar)| bar)).collect()
}

impl Overlay for Toasts {
    fn lies_over_text(&self) -> bool {
        !self.is_empty()
    }

    /// A press on a message dismisses it. Then it shows the pane or opens the question that the message is about.
    fn press(&mut self, cx: &mut Cx<'_>) -> Handled {
        let (Some((x, y)), Some(geometry)) = (cx.pointer.position, cx.geometry) else {
            return Handled::No;
        };
        let layout = cx.mux.layout();
        let kept =
            rows_in_use(&layout, &geometry.placed(&layout), cx.views, cx.search_bar, &geometry);
        let placed = self.placed(&geometry, &kept).into_iter();
        let mut hits = placed.filter(|(_, rect, _)| contains(*rect, x, y));
        let Some((about, notification, pane)) =
            hits.next().map(|(toast, ..)| (toast.about, toast.notification, toast.pane))
        else {
            return Handled::No;
        };
        if about == agent_questions::ABOUT {
            cx.wish(Wish::ShowAnswers);
            return Handled::Yes;
        }
        self.shown.retain(|toast| (toast.about, toast.notification) != (about, notification));
        if let Some(pane) = pane {
            cx.wish(Wish::ShowPane(pane));
        }
        Handled::Yes
    }

    fn draw(&self, canvas: &mut Canvas<'_, '_>) {
        let geometry = canvas.geometry;
        let search = canvas.search.map(|search| (search.pane, search.bar()));
        let kept = rows_in_use(canvas.layout, canvas.placed, canvas.views, search, geometry);
        self.draw_messages((geometry, canvas.colors), &kept, canvas.scene);
    }
}

/// The parts of the panes' height in which toasts may lie, from the lowest to the topmost. Toasts reach from `x` over
/// `width`. A part ends before a rectangle of `kept` in these columns, with a gap for the toast's frame.
fn free_bands(geometry: &Geometry, (x, width): (i32, u32), kept: &[PixelRect]) -> Vec<Range<u32>> {
    let (panes, gap) = (geometry.content(), geometry.px(GAP));
    let column = PixelRect { x, y: panes.y as i32, width, height: panes.height };
    let mut kept: Vec<PixelRect> = kept.iter().map(|rect| rect.intersection(&column)).collect();
    kept.retain(|rect| rect.height > 0);
    kept.sort_by_key(|rect| std::cmp::Reverse(rect.y + rect.height as i32));
    let mut bottom = (panes.y + panes.height).saturating_sub(geometry.px(MARGIN));
    let mut free = Vec::new();
    for rect in kept {
        let (top, foot) = (rect.y as u32, rect.y as u32 + rect.height + gap);
        free.push(foot..bottom);
        bottom = bottom.min(top.saturating_sub(gap));
    }
    free.push(panes.y..bottom);
    free
}

#[cfg(test)]
mod tests {
    use super::*;

    fn toast(about: &'static str, until: Option<Instant>) -> Toast {
        let (text, is_error) = (about.to_owned(), until.is_none());
        Toast { about, notification: None, pane: None, text, until, is_error }
    }

    #[test]
    fn a_new_version_replaces_a_notification_and_others_stay() {
        let mut toasts = Toasts::default();
        for (handle, text) in [(1, "a"), (2, "b"), (1, "c")] {
            let notification = Some(Key::Program(PaneId(0), handle));
            let text = text.to_owned();
            toasts.add(Toast { notification, text, ..toast("notification", None) });
        }
        let left: Vec<_> = toasts.shown.iter().map(|toast| toast.text.as_str()).collect();
        assert_eq!(left, ["b", "c"]);
    }

    #[test]
    fn the_oldest_makes_room_and_one_about_the_same_takes_its_place() {
        let mut toasts = Toasts::default();
        for about in ["a", "b", "c", "b", "d"] {
            toasts.add(toast(about, None));
        }
        let left: Vec<_> = toasts.shown.iter().map(|toast| toast.about).collect();
        assert_eq!(left, ["c", "b", "d"]);
    }

    #[test]
    fn news_take_the_place_of_news_and_not_of_errors() {
        let soon = Some(Instant::now() + TIME);
        let mut toasts = Toasts::default();
        for (about, until) in [("error", None), ("a", soon), ("b", soon), ("c", soon)] {
            toasts.add(toast(about, until));
        }
        let left: Vec<_> = toasts.shown.iter().map(|toast| toast.about).collect();
        assert_eq!(left, ["error", "b", "c"]);
    }

    #[test]
    fn no_message_covers_another_or_the_tab_bar() {
        let mut toasts = Toasts::default();
        for about in ["first", "second", "third"] {
            let text = format!("{about}\n{}", "many words ".repeat(40));
            toasts.add(Toast { text, ..toast(about, None) });
        }
        for height in [0, 60, 90, 150, 300, 600, 1200] {
            let geometry = Geometry { width: 500, height, ..Geometry::TEST };
            let placed = toasts.placed(&geometry, &[]);
            let bar = geometry.tab_bar();
            let rects: Vec<_> = placed.iter().map(|(_, rect, _)| rect).chain([&bar]).collect();
            for (index, rect) in rects.iter().enumerate() {
                assert!(
                    rects[..index].iter().all(|it| it.intersection(rect).is_empty()),
                    "{height}"
                );
            }
            if height >= 150 {
                assert_eq!(placed[0].0.about, "third", "the newest one is there");
            }
            match height {
                1200 => assert_eq!(placed.len(), 3),
                0..=300 => assert!(placed.len() < 3, "{height}"),
                _ => {}
            }
        }
    }

    /// The row of the cursor may be anywhere in the window, and so may the bar of the search.
    #[test]
    fn no_message_covers_the_row_of_the_cursor() {
        let mut toasts = Toasts::default();
        for about in ["first", "second", "third"] {
            let text = format!("{about}\n{}", "many words ".repeat(20));
            toasts.add(Toast { text, ..toast(about, None) });
        }
        let whole = PixelRect { x: 0, width: 2000, ..PixelRect::default() };
        let bar = PixelRect { x: 72, y: 250, width: 420, height: 26 };
        for height in [60, 90, 150, 300, 600, 1200] {
            let geometry = Geometry { width: 500, height, ..Geometry::TEST };
            let row = geometry.cell.height;
            for y in (0..height).step_by(row as usize) {
                let kept = [PixelRect { y: y as i32, height: row, ..whole }, bar];
                let placed = toasts.placed(&geometry, &kept);
                let tab_bar = geometry.tab_bar();
                let rects: Vec<_> = placed.iter().map(|(_, rect, _)| *rect).collect();
                for (index, rect) in rects.iter().enumerate() {
                    let others = rects[..index].iter().chain(&kept).chain([&tab_bar]);
                    for other in others {
                        let shared = other.intersection(rect);
                        assert!(shared.is_empty(), "{height}, {y}: {rect:?} covers {other:?}");
                    }
                    assert!(rect.y as u32 + rect.height <= height, "{height}, {y}: {rect:?}");
                }
                if height >= 300 {
                    assert_eq!(placed[0].0.about, "third", "{height}, {y}");
                }
                if height == 1200 {
                    assert_eq!(placed.len(), 3, "{y}");
                }
            }
        }
        // A row of a pane that lies beside the messages moves none of them.
        let geometry = Geometry { width: 1000, height: 600, ..Geometry::TEST };
        let beside = PixelRect { x: 0, y: 500, width: 500, height: 19 };
        assert_eq!(toasts.placed(&geometry, &[beside]), toasts.placed(&geometry, &[]));
    }

    #[test]
    fn an_error_stays_and_others_go() {
        let now = Instant::now();
        let mut toasts = Toasts::default();
        toasts.add(toast("error", None));
        toasts.add(toast("news", Some(now + TIME)));
        assert_eq!(toasts.expire(now), Some(now + TIME));
        assert_eq!(toasts.expire(now + TIME), None);
        assert_eq!(toasts.shown, [toast("error", None)]);
    }
}
