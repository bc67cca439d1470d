//! Shows notifications, and rings the bell.

use std::time::{Duration, Instant};

use unterm_mux::PaneId;
use unterm_term::{Notification, Occasion, Urgency};

use crate::window::{
    app::App,
    effect::Effect,
    system::{
        errand::ErrandResult,
        notices::{EndedCommand, NoticeEvent, icon_of, lasted, queue, short},
    },
};
use crate::{
    bell,
    desktop::{Desktop, Key, Note, NotificationEvent},
};

/// The sender's name in notifications about commands, and in notifications of programs that give no name.
const APP: &str = "Unterm";
/// If several bells ring within this time, only the first one sounds.
const BELL_PAUSE: Duration = Duration::from_millis(200);

impl App {
    /// Handles an event about notifications.
    pub(crate) fn handle_notice(&mut self, event: NoticeEvent) {
        match event {
            NoticeEvent::Show(pane, notification) => self.program_notifies(pane, *notification),
            NoticeEvent::TakenBack(pane, handle) => {
                let waits = &mut self.system.notices.waiting;
                if waits.get(&pane).is_some_and(|waiting| waiting.handle == handle) {
                    waits.remove(&pane);
                }
                self.effect(Effect::Withdraw(Key::Program(pane, handle)));
            }
            NoticeEvent::Ended(pane, ended) => self.command_ended(pane, ended),
            NoticeEvent::Desktop(outcome) => self.desktop_answered(outcome),
        }
    }

    /// Whether the user can see the pane, and whether the pane has the focus. A pane is visible if its tab is active,
    /// and the window is visible and focused.
    fn attention(&self, pane: PaneId) -> (bool, bool) {
        let layout = self.mux.layout();
        let tab = layout.active_tab().filter(|tab| tab.root.contains(pane));
        let is_shown = self.input.focused
            && self.surface.screen.as_ref().is_some_and(|screen| !screen.occluded);
        let tab = tab.filter(|_| is_shown);
        (tab.is_some(), tab.is_some_and(|tab| tab.focused == pane))
    }

    fn program_notifies(&mut self, pane: PaneId, notification: Notification) {
        let (looked_at, has_keyboard) = self.attention(pane);
        let wanted = match notification.occasion {
            _ if !self.prefs.config.notifications.programs => false,
            Occasion::Always => true,
            Occasion::Unfocused => !has_keyboard,
            Occasion::Invisible => !looked_at,
        };
        if !wanted {
            return self.not_shown(pane, notification.handle);
        }
        let now = self.now;
        if self.system.notices.may_show(pane, now) {
            return self.show_notification(pane, notification);
        }
        let handle = notification.handle;
        let before = self.system.notices.waiting.insert(pane, notification);
        if let Some(before) = before.filter(|before| before.handle != handle) {
            self.not_shown(pane, before.handle);
        }
        self.system.notices.next(pane).into_iter().for_each(|time| self.surface.wake_at(time));
    }

    /// Shows the waiting notifications for which the panes have budget. Returns the time at which to call this
    /// function again.
    pub(crate) fn show_waiting(&mut self, now: Instant) -> Option<Instant> {
        let panes: Vec<_> = self.system.notices.waiting.keys().copied().collect();
        for pane in panes {
            if self.system.notices.next(pane).is_none_or(|time| time <= now)
                && self.system.notices.may_show(pane, now)
                && let Some(notification) = self.system.notices.waiting.remove(&pane)
            {
                self.show_notification(pane, notification);
            }
        }
        self.system.notices.waiting.keys().filter_map(|pane| self.system.notices.next(*pane)).min()
    }

    /// Reports to the program that its notification was closed, so that the program does not wait for the end of the
    /// notification.
    fn not_shown(&self, pane: PaneId, handle: u64) {
        if let Some(pane) = self.mux.pane(pane) {
            pane.notification_closed(handle);
        }
    }

    fn show_notification(&mut self, pane: PaneId, notification: Notification) {
        let (icon, picture) = icon_of(notification.icons, notification.icon_data);
        self.effect(Effect::Notify(Note {
            key: Key::Program(pane, notification.handle),
            app: notification.app.unwrap_or_else(|| APP.to_owned()),
            title: notification.title,
            body: with_line(notification.body, self.tab_named(pane)),
            icon,
            picture,
            urgency: notification.urgency,
            expires: notification.expires,
            sound: notification.sound,
            buttons: notification.buttons,
            focus: notification.focus,
        }));
    }

    fn command_ended(&mut self, pane: PaneId, ended: EndedCommand) {
        let least = Duration::from_secs(self.prefs.config.notifications.long_commands.into());
        if least.is_zero() || ended.took < least || self.attention(pane).0 {
            return;
        }
        let line = self.mux.pane(pane).and_then(|pane| {
            let term = pane.term();
            term.command(ended.command).and_then(|command| command.shown().map(str::to_owned))
        });
        let took = lasted(ended.took);
        let body = match ended.exit_code {
            None => format!("Finished after {took}."),
            Some(0) => format!("Finished with exit code 0 after {took}."),
            Some(code) => format!("Failed with exit code {code} after {took}."),
        };
        self.effect(Effect::Notify(Note {
            key: Key::Command(pane),
            app: APP.to_owned(),
            title: line.map_or_else(|| "A command".to_owned(), |line| short(&line)),
            body: with_line(body, self.tab_named(pane)),
            icon: String::new(),
            picture: None,
            urgency: Urgency::Normal,
            expires: None,
            sound: None,
            buttons: Vec::new(),
            focus: true,
        }));
    }

    /// The number and the title of the tab that contains a pane. `None` if there is only one tab.
    pub(crate) fn tab_named(&self, pane: PaneId) -> Option<String> {
        let layout = self.mux.layout();
        let index = layout.tab_of(pane).filter(|_| layout.tabs.len() > 1)?;
        let title = self.chrome.tabs.title(layout.tabs[index].id);
        let title = title.map_or(String::new(), |title| format!(": {}", short(title)));
        Some(format!("Tab {}{title}", index + 1))
    }

    /// Shows a notification on the desktop. If that is not possible or not wanted, shows it in the window.
    pub(crate) fn show_note(&mut self, note: Note) {
        if !self.prefs.config.notifications.desktop {
            return self.note_in_window(&note);
        }
        if self.system.notices.desktop.is_none() {
            let inbox = std::sync::Arc::clone(&self.inbox);
            let report = move |outcome| {
                inbox.post(|news| queue(&mut news.system.notices, NoticeEvent::Desktop(outcome)));
            };
            match Desktop::start(report) {
                Ok(desktop) => self.system.notices.desktop = Some(desktop),
                Err(error) => {
                    tracing::warn!("no notifications of the desktop: {error}");
                    return self.note_in_window(&note);
                }
            }
        }
        if let Some(desktop) = &self.system.notices.desktop
            && !desktop.show(note)
        {
            tracing::warn!("the desktop's notifications don't answer: one was dropped");
        }
    }

    /// Shows a notification as a message in the window. The message can't report clicks or its end to the program, so
    /// the notification counts as closed.
    fn note_in_window(&mut self, note: &Note) {
        let text = match note.body.as_str() {
            "" => note.title.clone(),
            body => format!("{}\n{body}", note.title),
        };
        self.overlays.toasts.show_notification(note.key, text, self.now);
        if let Key::Program(pane, handle) = note.key {
            self.not_shown(pane, handle);
        }
    }

    fn desktop_answered(&mut self, outcome: NotificationEvent) {
        match outcome {
            NotificationEvent::Unavailable(note) => self.note_in_window(&note),
            NotificationEvent::Clicked { key, button, focus } => {
                if focus && button.is_none() {
                    self.bring_to_front(key.pane());
                }
                if let (Key::Program(_, handle), Some(pane)) = (key, self.mux.pane(key.pane())) {
                    pane.notification_clicked(handle, button);
                }
            }
            NotificationEvent::Closed(Key::Program(pane, handle)) => self.not_shown(pane, handle),
            NotificationEvent::Closed(Key::Command(_)) => {}
        }
    }

    /// Focuses a pane, and requests the keyboard focus for the window.
    pub(crate) fn bring_to_front(&mut self, pane: PaneId) {
        if self.mux.layout().tab_of(pane).is_some() {
            self.report(self.mux.focus(pane));
        }
        self.effect(Effect::Raise);
    }

    /// Requests the user's attention after a bell, if the window is not focused.
    pub(crate) fn ask_attention(&mut self) {
        if self.prefs.config.bell.attention && !self.input.focused {
            self.system.notices.wants_attention = true;
            self.effect(Effect::Attention(true));
        }
    }

    /// Withdraws the request for attention when the window is focused, because not every window manager does that.
    pub(crate) fn end_attention(&mut self) {
        if self.input.focused && std::mem::take(&mut self.system.notices.wants_attention) {
            self.effect(Effect::Attention(false));
        }
    }

    /// Rings the audible bell.
    pub(crate) fn sound_bell(&mut self) {
        let config = &self.prefs.config.bell;
        let (audible, command) = (config.audible, config.command.clone());
        let now = self.now;
        let is_soon = self.system.notices.rung.is_some_and(|rung| now < rung + BELL_PAUSE);
        if is_soon || !audible && command.is_empty() {
            return;
        }
        self.system.notices.rung = Some(now);
        self.errand("bell", move || match bell::ring(audible, &command) {
            Ok(()) => ErrandResult::Nothing,
            Err(error) => ErrandResult::Failed("bell", format!("Can't ring the bell.\n{error:#}")),
        });
    }
}

/// Adds a line to a text, if there is one.
pub(crate) fn with_line(text: String, line: Option<String>) -> String {
    match line {
        Some(line) if text.is_empty() => line,
        Some(line) => format!("{text}\n{line}"),
        None => text,
    }
}
