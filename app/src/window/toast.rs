//! Toasts: short messages at the bottom right of the window, at most three. Errors stay until dismissed.

use std::time::{Duration, Instant};

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};
use unterm_renderer::{Label, LabelAlign, PixelRect, Quad, Scene};

use super::{
    App, asks,
    chrome::{Colors, framed},
    geometry::{Geometry, contains},
};
use crate::desktop::Key;

/// The most toasts to show. If there are more, the oldest one that expires is removed first.
const CAP: usize = 3;
/// How long a toast stays that is not an error.
const TIME: Duration = Duration::from_secs(4);
/// The most lines of a toast; a longer text ends in an ellipsis.
const LINES: usize = 8;
/// The width, margins and padding, in logical pixels.
const WIDTH: f32 = 420.0;
const MARGIN: f32 = 16.0;
const PADDING: f32 = 12.0;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Toast {
    /// The subject: a new toast replaces the toast with the same subject.
    about: &'static str,
    /// The notification that the toast shows; part of the subject.
    notification: Option<Key>,
    text: String,
    /// When the toast expires; `None` if it stays until dismissed.
    until: Option<Instant>,
    is_error: bool,
}

#[derive(Default)]
pub(super) struct Toasts {
    /// Oldest first.
    shown: Vec<Toast>,
    /// The last error, for callers that request its text.
    complaint: Option<String>,
}

impl Toasts {
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

    pub(super) fn is_empty(&self) -> bool {
        self.shown.is_empty()
    }

    /// The text of each toast, and whether it is an error.
    pub(super) fn spoken(&self) -> impl Iterator<Item = (&str, bool)> {
        self.shown.iter().map(|toast| (toast.text.as_str(), toast.is_error))
    }

    /// Removes expired toasts; returns when the next one expires.
    pub(super) fn expire(&mut self, now: Instant) -> Option<Instant> {
        self.shown.retain(|toast| toast.until.is_none_or(|until| now < until));
        self.shown.iter().filter_map(|toast| toast.until).min()
    }

    /// Each toast with its rectangle and lines, newest at the bottom.
    fn placed(&self, geometry: &Geometry) -> Vec<(&Toast, PixelRect, Vec<String>)> {
        let (margin, padding) = (geometry.px(MARGIN), geometry.px(PADDING));
        let width = geometry.px(WIDTH).min(geometry.width.saturating_sub(2 * margin)).max(1);
        let columns = geometry.ui_columns(width.saturating_sub(2 * padding));
        let panes = geometry.content();
        let mut bottom = (panes.y + panes.height).saturating_sub(margin);
        let mut placed = Vec::new();
        for toast in self.shown.iter().rev() {
            let lines = wrap(&toast.text, columns);
            let height = lines.len() as u32 * geometry.ui_line() + 2 * padding;
            let y = bottom.saturating_sub(height);
            let x = geometry.width.saturating_sub(width + margin);
            placed.push((toast, PixelRect { x: x as i32, y: y as i32, width, height }, lines));
            bottom = y.saturating_sub(geometry.px(8.0));
        }
        placed
    }

    pub(super) fn draw(&self, geometry: &Geometry, colors: &Colors, scene: &mut Scene<'_>) {
        let radius = geometry.px(8.0) as f32;
        for (toast, rect, lines) in self.placed(geometry) {
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

/// The first `most` lines and, if there are more, a line with their number.
pub(super) fn first_of(lines: &[String], most: usize) -> Vec<String> {
    let mut first: Vec<String> = lines.iter().take(most).cloned().collect();
    if lines.len() > most {
        first.push(format!("and {} more", lines.len() - most));
    }
    first
}

/// Wraps text to `columns`, between words if possible.
pub(super) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split_whitespace().flat_map(|word| pieces(word, columns)) {
            if !line.is_empty() && line.width() + 1 + word.width() > columns {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    if lines.len() > LINES {
        lines.truncate(LINES);
        lines[LINES - 1].push('…');
    }
    lines
}

/// Splits a word into pieces of at most `columns`, so that a narrow toast still shows all of it.
fn pieces(word: &str, columns: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut start, mut width) = (0, 0);
    for (at, c) in word.char_indices() {
        let more = c.width().unwrap_or(0);
        if width + more > columns && at > start {
            pieces.push(&word[start..at]);
            (start, width) = (at, 0);
        }
        width += more;
    }
    pieces.push(&word[start..]);
    pieces
}

impl App {
    /// Shows a message that expires.
    pub(super) fn notify(&mut self, about: &'static str, text: String) {
        let until = Some(Instant::now() + TIME);
        self.toasts.add(Toast { about, notification: None, text, until, is_error: false });
        self.pacing.ask();
    }

    /// Shows a notification as a message that expires; only a newer version of the same notification replaces it.
    pub(super) fn show_in_window(&mut self, notification: Key, text: String) {
        let (until, notification) = (Some(Instant::now() + TIME), Some(notification));
        let about = "notification";
        self.toasts.add(Toast { about, notification, text, until, is_error: false });
        self.pacing.ask();
    }

    /// Shows a message that is not an error and stays until [`App::settle`] removes it.
    pub(super) fn keep_saying(&mut self, about: &'static str, text: String) {
        self.toasts.add(Toast { about, notification: None, text, until: None, is_error: false });
        self.pacing.ask();
    }

    /// Shows an error, which stays until it is dismissed or [`App::settle`] removes it.
    pub(super) fn complain(&mut self, about: &'static str, text: String) {
        self.toasts.complaint = Some(text.clone());
        self.toasts.add(Toast { about, notification: None, text, until: None, is_error: true });
        self.pacing.ask();
    }

    /// Shows, in a message that expires, why an action is not possible now; also reports it to the caller.
    pub(super) fn refuse(&mut self, about: &'static str, why: String) {
        self.toasts.complaint = Some(why.clone());
        self.notify(about, why);
    }

    /// Removes the messages about a problem that no longer exists; false if there were none.
    pub(super) fn settle(&mut self, about: &'static str) -> bool {
        let before = self.toasts.shown.len();
        self.toasts.shown.retain(|toast| toast.about != about);
        self.pacing.ask();
        self.toasts.shown.len() < before
    }

    pub(super) fn dismiss_toasts(&mut self) {
        self.toasts.shown.clear();
        self.pacing.ask();
    }

    /// Runs `does`, and returns the error that it showed, for callers that don't see the window.
    pub(super) fn complaint_of<T>(
        &mut self,
        does: impl FnOnce(&mut Self) -> T,
    ) -> Result<T, String> {
        self.toasts.complaint = None;
        let done = does(self);
        self.toasts.complaint.take().map_or(Ok(done), Err)
    }

    /// Dismisses the toast under the pointer, or opens the question it shows; false if there is no toast.
    pub(super) fn dismiss_toast(&mut self, x: f64, y: f64) -> bool {
        let Some(geometry) = self.screen.as_ref().map(|screen| screen.geometry) else {
            return false;
        };
        let hit = self
            .toasts
            .placed(&geometry)
            .into_iter()
            .find(|(_, rect, _)| contains(*rect, x, y))
            .map(|(toast, ..)| (toast.about, toast.notification));
        match hit {
            Some((asks::ABOUT, _)) => self.answer_agent(),
            Some(hit) => {
                self.toasts.shown.retain(|toast| (toast.about, toast.notification) != hit);
                self.pacing.ask();
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use unterm_mux::PaneId;

    use super::*;

    fn toast(about: &'static str, until: Option<Instant>) -> Toast {
        let (text, is_error) = (about.to_owned(), until.is_none());
        Toast { about, notification: None, text, until, is_error }
    }

    #[test]
    fn notifications_stand_side_by_side_and_one_takes_the_place_of_its_older_version() {
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
    fn of_many_lines_the_first_are_given_and_the_rest_counted() {
        let lines = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(first_of(&lines, 1), ["a", "and 2 more"]);
        assert_eq!(first_of(&lines, 3), ["a", "b", "c"]);
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
    fn an_error_stays_and_others_go() {
        let now = Instant::now();
        let mut toasts = Toasts::default();
        toasts.add(toast("error", None));
        toasts.add(toast("news", Some(now + TIME)));
        assert_eq!(toasts.expire(now), Some(now + TIME));
        assert_eq!(toasts.expire(now + TIME), None);
        assert_eq!(toasts.shown, [toast("error", None)]);
    }

    #[test]
    fn long_text_breaks_between_words_and_ends_in_an_ellipsis() {
        assert_eq!(wrap("one two three\nfour", 8), ["one two", "three", "four"]);
        assert_eq!(wrap("a 日本語日本語;rm", 6), ["a", "日本語", "日本語", ";rm"]);
        let lines = wrap(&"word ".repeat(100), 10);
        assert_eq!(lines.len(), LINES);
        assert!(lines[LINES - 1].ends_with('…'));
    }
}
