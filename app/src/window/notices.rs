//! Notifications for a user who is not looking: from programs (OSC 9, 99, 777) and for long commands that end; and the
//! bell.
//!
//! Owns when a notification is shown, and what a click does. The desktop shows it (`desktop.rs`); without a
//! notification service, the window shows it as a message.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use unterm_mux::PaneId;
use unterm_renderer::{PixelRect, Quad, Scene};
use unterm_term::{Notification, Occasion, Urgency};
use winit::window::UserAttentionType;

use super::{App, chrome::Colors, errand::Done, view::Views};
use crate::{
    bell,
    desktop::{Desktop, Key, Note, Outcome},
};

/// How many notifications a pane may show at once; after that, one per [`REFILL`].
const BUDGET: u32 = 5;
const REFILL: Duration = Duration::from_secs(2);
/// Maximum number of queued notices; further ones are dropped.
const QUEUE: usize = 64;
/// Maximum characters of a command line.
const LINE: usize = 120;
/// Duration of the visual bell.
const FLASH: Duration = Duration::from_millis(120);
/// The sender's name for commands, and for programs that give no name.
const APP: &str = "Unterm";
/// Bells closer together than this sound once.
const BELL_PAUSE: Duration = Duration::from_millis(200);

/// A notice about a pane, in the order of arrival.
#[derive(Debug)]
pub(super) enum Told {
    Show(PaneId, Box<Notification>),
    TakenBack(PaneId, u64),
    Ended(PaneId, Ended),
    Desktop(Outcome),
}

/// A command that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ended {
    pub(super) command: u64,
    pub(super) exit_code: Option<i32>,
    pub(super) took: Duration,
}

/// Queues a notice. If the queue is full, a program's notification replaces the pane's newest one.
pub(super) fn queue(told: &mut Vec<Told>, new: Told) {
    // The desktop's replies are bounded by the number of our requests.
    if told.len() < QUEUE || matches!(new, Told::Desktop(_)) {
        told.push(new);
    } else if let Told::Show(pane, _) = new {
        let is_last = |old: &&mut Told| matches!(old, Told::Show(of, _) if *of == pane);
        if let Some(last) = told.iter_mut().rfind(is_last) {
            *last = new;
        }
    }
}

/// The window's state for notifications.
#[derive(Default)]
pub(super) struct Notices {
    desktop: Option<Desktop>,
    /// How many notifications each pane may still show, and since when its budget refills.
    budgets: HashMap<PaneId, (u32, Instant)>,
    /// The newest notification of a pane over its budget: shown when the budget allows it, in place of all before.
    waiting: HashMap<PaneId, Notification>,
    /// The desktop was asked to draw attention to the window.
    wants_attention: bool,
    /// When the bell last sounded.
    rung: Option<Instant>,
}

impl Notices {
    /// Whether a pane may show a notification now; if so, takes it from the budget.
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

    /// When a pane may show its next notification.
    fn next(&self, pane: PaneId) -> Option<Instant> {
        self.budgets.get(&pane).map(|(_, since)| *since + REFILL)
    }

    /// Forgets a removed pane.
    pub(super) fn forget(&mut self, pane: PaneId) {
        self.budgets.remove(&pane);
        self.waiting.remove(&pane);
    }
}

impl App {
    /// Handles a notice.
    pub(super) fn told(&mut self, told: Told) {
        match told {
            Told::Show(pane, notification) => self.program_notifies(pane, *notification),
            Told::TakenBack(pane, handle) => {
                let waits = &mut self.notices.waiting;
                if waits.get(&pane).is_some_and(|waiting| waiting.handle == handle) {
                    waits.remove(&pane);
                }
                if let Some(desktop) = &self.notices.desktop {
                    desktop.close(Key::Program(pane, handle));
                }
            }
            Told::Ended(pane, ended) => self.command_ended(pane, ended),
            Told::Desktop(outcome) => self.desktop_answered(outcome),
        }
    }

    /// Whether the user looks at the pane (its tab is active, and the window is visible and focused), and whether the
    /// pane has the focus too.
    fn attention(&self, pane: PaneId) -> (bool, bool) {
        let layout = self.mux.layout();
        let tab = layout.active_tab().filter(|tab| tab.root.contains(pane));
        let is_shown = self.focused && self.screen.as_ref().is_some_and(|screen| !screen.occluded);
        let tab = tab.filter(|_| is_shown);
        (tab.is_some(), tab.is_some_and(|tab| tab.focused == pane))
    }

    fn program_notifies(&mut self, pane: PaneId, notification: Notification) {
        let (looked_at, has_keyboard) = self.attention(pane);
        let wanted = match notification.occasion {
            _ if !self.config.notifications.programs => false,
            Occasion::Always => true,
            Occasion::Unfocused => !has_keyboard,
            Occasion::Invisible => !looked_at,
        };
        if !wanted {
            return self.not_shown(pane, notification.handle);
        }
        let now = Instant::now();
        if self.notices.may_show(pane, now) {
            return self.show_notification(pane, notification);
        }
        let handle = notification.handle;
        let before = self.notices.waiting.insert(pane, notification);
        if let Some(before) = before.filter(|before| before.handle != handle) {
            self.not_shown(pane, before.handle);
        }
        self.notices.next(pane).into_iter().for_each(|time| self.wake_at(time));
    }

    /// Shows the waiting notifications that the budgets allow; returns when to call it again.
    pub(super) fn show_waiting(&mut self, now: Instant) -> Option<Instant> {
        let panes: Vec<_> = self.notices.waiting.keys().copied().collect();
        for pane in panes {
            if self.notices.next(pane).is_none_or(|time| time <= now)
                && self.notices.may_show(pane, now)
                && let Some(notification) = self.notices.waiting.remove(&pane)
            {
                self.show_notification(pane, notification);
            }
        }
        self.notices.waiting.keys().filter_map(|pane| self.notices.next(*pane)).min()
    }

    /// Reports a notification as closed, so that the program does not wait for its end.
    fn not_shown(&self, pane: PaneId, handle: u64) {
        if let Some(pane) = self.mux.pane(pane) {
            pane.notification_closed(handle);
        }
    }

    fn show_notification(&mut self, pane: PaneId, notification: Notification) {
        let (icon, picture) = icon_of(notification.icons, notification.icon_data);
        self.show_note(Note {
            key: Key::Program(pane, notification.handle),
            app: notification.app.unwrap_or_else(|| APP.to_owned()),
            title: notification.title,
            body: notification.body,
            icon,
            picture,
            urgency: notification.urgency,
            expires: notification.expires,
            sound: notification.sound,
            buttons: notification.buttons,
            focus: notification.focus,
        });
    }

    fn command_ended(&mut self, pane: PaneId, ended: Ended) {
        let least = Duration::from_secs(self.config.notifications.long_commands.into());
        if least.is_zero() || ended.took < least || self.attention(pane).0 {
            return;
        }
        let line = self.mux.pane(pane).and_then(|pane| {
            let term = pane.term();
            term.command(ended.command).and_then(|command| command.shown().map(str::to_owned))
        });
        let took = lasted(ended.took);
        let body = match ended.exit_code {
            Some(0) | None => format!("Finished after {took}."),
            Some(code) => format!("Failed with exit code {code} after {took}."),
        };
        self.show_note(Note {
            key: Key::Command(pane),
            app: APP.to_owned(),
            title: line.map_or_else(|| "A command".to_owned(), |line| short(&line)),
            body,
            icon: String::new(),
            picture: None,
            urgency: Urgency::Normal,
            expires: None,
            sound: None,
            buttons: Vec::new(),
            focus: true,
        });
    }

    fn show_note(&mut self, note: Note) {
        if !self.config.notifications.desktop {
            return self.note_in_window(&note);
        }
        if self.notices.desktop.is_none() {
            let inbox = std::sync::Arc::clone(&self.inbox);
            let tell = move |outcome| {
                inbox.post(|news| queue(&mut news.told, Told::Desktop(outcome)));
            };
            match Desktop::start(tell) {
                Ok(desktop) => self.notices.desktop = Some(desktop),
                Err(error) => {
                    tracing::warn!("no notifications of the desktop: {error}");
                    return self.note_in_window(&note);
                }
            }
        }
        if let Some(desktop) = &self.notices.desktop
            && !desktop.show(note)
        {
            tracing::warn!("the desktop's notifications don't answer: one was dropped");
        }
    }

    /// Shows a message in the window. It reports no click and no end, so the notification counts as closed.
    fn note_in_window(&mut self, note: &Note) {
        let text = match note.body.as_str() {
            "" => note.title.clone(),
            body => format!("{}\n{body}", note.title),
        };
        self.show_in_window(note.key, text);
        if let Key::Program(pane, handle) = note.key {
            self.not_shown(pane, handle);
        }
    }

    fn desktop_answered(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Unavailable(note) => self.note_in_window(&note),
            Outcome::Clicked { key, button, focus } => {
                if focus && button.is_none() {
                    self.bring_to_front(key.pane());
                }
                if let (Key::Program(_, handle), Some(pane)) = (key, self.mux.pane(key.pane())) {
                    pane.notification_clicked(handle, button);
                }
            }
            Outcome::Closed(Key::Program(pane, handle)) => self.not_shown(pane, handle),
            Outcome::Closed(Key::Command(_)) => {}
        }
    }

    /// Focuses a pane and requests the keyboard focus.
    pub(super) fn bring_to_front(&mut self, pane: PaneId) {
        if self.mux.layout().tab_of(pane).is_some() {
            self.report(self.mux.focus(pane));
        }
        self.raise();
    }

    /// Shows the window, even if hidden or minimised, and requests the keyboard focus; returns false without a window.
    pub(super) fn raise(&self) -> bool {
        let Some(screen) = &self.screen else { return false };
        screen.window.set_visible(true);
        screen.window.set_minimized(false);
        screen.window.focus_window();
        true
    }

    /// Requests attention for a bell, if the window is not focused.
    pub(super) fn ask_attention(&mut self) {
        if self.config.bell.attention
            && !self.focused
            && let Some(screen) = &self.screen
        {
            screen.window.request_user_attention(Some(UserAttentionType::Informational));
            self.notices.wants_attention = true;
        }
    }

    /// Withdraws the request for attention once the window is focused. Not every window manager does so itself.
    pub(super) fn end_attention(&mut self) {
        if self.focused
            && std::mem::take(&mut self.notices.wants_attention)
            && let Some(screen) = &self.screen
        {
            screen.window.request_user_attention(None);
        }
    }

    /// Rings the audible bell.
    pub(super) fn sound_bell(&mut self) {
        let config = &self.config.bell;
        let (audible, command) = (config.audible, config.command.clone());
        let now = Instant::now();
        let is_soon = self.notices.rung.is_some_and(|rung| now < rung + BELL_PAUSE);
        if is_soon || !audible && command.is_empty() {
            return;
        }
        self.notices.rung = Some(now);
        self.errand("bell", move || match bell::ring(audible, &command) {
            Ok(()) => Done::Nothing,
            Err(error) => Done::Failed("bell", format!("Can't ring the bell.\n{error:#}")),
        });
    }
}

impl App {
    /// Ends the flashes that have lasted long enough; returns when the next one ends.
    pub(super) fn end_flashes(&mut self, now: Instant) -> Option<Instant> {
        let mut next = None;
        for view in self.views.values_mut() {
            match view.flash.map(|rang| rang + FLASH) {
                Some(end) if now < end => next = next.into_iter().chain([end]).min(),
                Some(_) => view.flash = None,
                None => {}
            }
        }
        next
    }
}

pub(super) fn is_flashing(views: &Views, pane: &PaneId) -> bool {
    views.get(pane).is_some_and(|view| view.flash.is_some())
}

pub(super) fn draw_flash(rect: PixelRect, colors: &Colors, scene: &mut Scene<'_>) {
    scene.quads.push(Quad { rect, color: colors.text, alpha: 0.15, radius: 0.0 });
}

/// A command line on one line, cut to [`LINE`] characters.
fn short(line: &str) -> String {
    let mut words = line.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = words.char_indices().nth(LINE) {
        words.truncate(end);
        words.push('…');
    }
    words
}

/// A duration as shown to the user.
fn lasted(took: Duration) -> String {
    let seconds = took.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

/// The icon's name and picture. A name of the protocol replaces the picture, as the protocol's page requires: every
/// theme has that icon, while a theme may lack other names.
fn icon_of(names: Vec<String>, picture: Option<Arc<[u8]>>) -> (String, Option<Arc<[u8]>>) {
    match names.iter().find_map(|name| theme_icon(name)) {
        Some(icon) => (icon.to_owned(), None),
        None => (names.into_iter().next().unwrap_or_default(), picture),
    }
}

/// The freedesktop.org icon name for an icon of kitty's "Desktop notifications" protocol.
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
    fn of_more_than_there_is_room_for_the_newest_is_kept() {
        let mut told = Vec::new();
        let show = |pane, handle| {
            Told::Show(PaneId(pane), Box::new(Notification { handle, ..Notification::default() }))
        };
        (0..1000).for_each(|handle| queue(&mut told, show(1, handle)));
        queue(&mut told, show(2, 0));
        assert_eq!(told.len(), QUEUE);
        assert!(matches!(told.last(), Some(Told::Show(_, newest)) if newest.handle == 999));
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
