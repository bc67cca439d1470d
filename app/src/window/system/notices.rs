//! Notifications for a user who is not looking at the pane: notifications of programs (OSC 9, 99, 777), ends of long
//! commands, and the bell.
//!
//! Decides when a pane may show a notification (`handle.rs`). The desktop shows the notification (`desktop.rs`). If the desktop has
//! no notification service, the window shows a message instead.

pub(crate) mod handle;

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use unterm_mux::PaneId;
use unterm_renderer::{PixelRect, Quad, Scene};
use unterm_term::Notification;

use crate::desktop::{Desktop, NotificationEvent};
use crate::window::{ui::colors::Colors, workspace::view::Views};

/// The number of notifications that a pane may show at once. After that, the pane may show one more per [`REFILL`].
const BUDGET: u32 = 5;
const REFILL: Duration = Duration::from_secs(2);
/// The maximum number of queued events. Only the desktop's replies may exceed this limit.
const QUEUE: usize = 64;
/// The maximum number of characters of a command line in a notification.
const LINE: usize = 120;

/// A queued event about notifications. The window handles events in the order of their arrival.
#[derive(Debug)]
pub(crate) enum NoticeEvent {
    Show(PaneId, Box<Notification>),
    TakenBack(PaneId, u64),
    Ended(PaneId, EndedCommand),
    Desktop(NotificationEvent),
}

/// A command that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EndedCommand {
    pub(crate) command: u64,
    pub(crate) exit_code: Option<i32>,
    pub(crate) took: Duration,
}

/// Queues an event. If the queue is full, a new notification of a program replaces the newest queued notification of
/// its pane.
pub(crate) fn queue(events: &mut Vec<NoticeEvent>, new: NoticeEvent) {
    // The desktop's replies need no limit here: each replies to one of our requests.
    if events.len() < QUEUE || matches!(new, NoticeEvent::Desktop(_)) {
        events.push(new);
    } else if let NoticeEvent::Show(pane, _) = new {
        let is_last =
            |old: &&mut NoticeEvent| matches!(old, NoticeEvent::Show(of, _) if *of == pane);
        if let Some(last) = events.iter_mut().rfind(is_last) {
            *last = new;
        }
    }
}

/// The window's state for notifications.
#[derive(Default)]
pub(crate) struct Notices {
    desktop: Option<Desktop>,
    /// The number of notifications that each pane may still show, and the time when this number was last increased.
    budgets: HashMap<PaneId, (u32, Instant)>,
    /// The newest notification of each pane that has used up its budget. It replaces earlier notifications, and is
    /// shown as soon as the budget allows.
    waiting: HashMap<PaneId, Notification>,
    /// Whether the desktop was requested to draw attention to the window.
    wants_attention: bool,
    /// The time when the bell last sounded.
    rung: Option<Instant>,
}

impl Notices {
    /// Whether a pane may show a notification now. If so, this call counts one notification against the pane's budget.
    fn may_show(&mut self, pane: PaneId, now: Instant) -> bool {
        let (left, since) = self.budgets.entry(pane).or_insert((BUDGET, now));
        let gained =
            (now.saturating_duration_since(*since).as_millis() / REFILL.as_millis()) as u32;
        if gained > 0 {
            *left = left.saturating_add(gained).min(BUDGET);
            *since = now;
        }
        let may = *left > 0;
        *left = left.saturating_sub(1);
        may
    }

    /// The time from which a pane may show its next notification.
    fn next(&self, pane: PaneId) -> Option<Instant> {
        self.budgets.get(&pane).map(|(_, since)| *since + REFILL)
    }

    /// Discards the state of a removed pane.
    pub(crate) fn forget(&mut self, pane: PaneId) {
        self.budgets.remove(&pane);
        self.waiting.remove(&pane);
    }
}

pub(crate) fn is_flashing(views: &Views, pane: &PaneId) -> bool {
    views.get(pane).is_some_and(|view| view.signals.flash.is_some())
}

pub(crate) fn draw_flash(rect: PixelRect, colors: &Colors, scene: &mut Scene<'_>) {
    scene.quads.push(Quad { rect, color: colors.text, alpha: 0.15, radius: 0.0 });
}

/// Joins a command line to a single line, and cuts it to [`LINE`] characters.
pub(crate) fn short(line: &str) -> String {
    let mut words = line.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = words.char_indices().nth(LINE) {
        words.truncate(end);
        words.push('…');
    }
    words
}

/// Adds a line to a text, if there is one.
pub(crate) fn with_line(text: String, line: Option<String>) -> String {
    match line {
        Some(line) if text.is_empty() => line,
        Some(line) => format!("{text}\n{line}"),
        None => text,
    }
}

/// Formats a duration for the user.
fn lasted(took: Duration) -> String {
    let seconds = took.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

/// The name and picture of a notification's icon. If one of `names` is a standard icon of the protocol, it replaces
/// the picture, as the protocol requires. Every icon theme contains the standard icons, but may lack others.
fn icon_of(names: Vec<String>, picture: Option<Arc<[u8]>>) -> (String, Option<Arc<[u8]>>) {
    match names.iter().find_map(|name| theme_icon(name)) {
        Some(icon) => (icon.to_owned(), None),
        None => (names.into_iter().next().unwrap_or_default(), picture),
    }
}

/// The freedesktop.org icon name for a standard icon of kitty's "Desktop notifications" protocol.
fn theme_icon(name: &str) -> Option<&'static str> {
    Some(match name {
        "error" => "dialog-error",
        "warn" | "warning" => "dialog-warning",
        "info" => "dialog-information",
        "question" => "dialog-question",
        "help" => "help-browser",
        "file-manager" => "system-file-manager",
        "system-monitor" => "utilities-system-monitor",
        "text-editor" => "accessories-text-editor",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_every_theme_has_goes_before_a_picture() {
        let picture = Some(Arc::<[u8]>::from(*b"file"));
        let icon = |names: &[&str]| {
            icon_of(names.iter().map(|name| (*name).to_owned()).collect(), picture.clone())
        };
        assert_eq!(icon(&[]), (String::new(), picture.clone()));
        assert_eq!(icon(&["firefox"]), ("firefox".to_owned(), picture.clone()));
        assert_eq!(icon(&["firefox", "warn"]), ("dialog-warning".to_owned(), None));
    }

    #[test]
    fn a_flood_of_notices_is_held_back_and_comes_again_in_time() {
        let mut notices = Notices::default();
        let start = Instant::now();
        let shown = (0..100).filter(|_| notices.may_show(PaneId(1), start)).count();
        assert_eq!(shown, BUDGET as usize);
        assert!(notices.may_show(PaneId(2), start), "another pane has its own");
        assert!(notices.may_show(PaneId(1), start + REFILL));
        assert!(!notices.may_show(PaneId(1), start + REFILL));
        let later = start + REFILL * 100;
        assert_eq!(
            (0..100).filter(|_| notices.may_show(PaneId(1), later)).count(),
            BUDGET as usize
        );
    }

    #[test]
    fn a_full_queue_keeps_the_newest_notification() {
        let mut events = Vec::new();
        let show = |pane, handle| {
            NoticeEvent::Show(
                PaneId(pane),
                Box::new(Notification { handle, ..Notification::default() }),
            )
        };
        (0..1000).for_each(|handle| queue(&mut events, show(1, handle)));
        queue(&mut events, show(2, 0));
        assert_eq!(events.len(), QUEUE);
        assert!(
            matches!(events.last(), Some(NoticeEvent::Show(_, newest)) if newest.handle == 999)
        );
    }

    #[test]
    fn times_and_lines_are_short() {
        assert_eq!(lasted(Duration::from_millis(12_900)), "12 s");
        assert_eq!(lasted(Duration::from_secs(83)), "1 min 23 s");
        assert_eq!(lasted(Duration::from_secs(3 * 3600 + 125)), "3 h 2 min");
        assert_eq!(short("make  -j\n  all"), "make -j all");
        assert_eq!(short(&"é".repeat(500)).chars().count(), LINE + 1);
    }
}
