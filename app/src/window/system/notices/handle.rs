//! Shows notifications, requests the user's attention, and rings the bell.

use std::time::{Duration, Instant};

use unterm_mux::{Mux, PaneId};
use unterm_term::{Notification, Occasion, Urgency};

use crate::window::{
    cx::Cx,
    effect::Effect,
    errand::ErrandResult,
    system::notices::{EndedCommand, NoticeEvent, Notices, icon_of, lasted, queue, short},
    wish::Wish,
};
use crate::{
    bell,
    desktop::{Desktop, Key, Note, NotificationEvent},
};

/// The sender's name in notifications about commands, and in notifications of programs that give no name.
const APP: &str = "Unterm";
/// If several bells ring within this time, only the first one sounds.
const BELL_PAUSE: Duration = Duration::from_millis(200);

impl Notices {
    /// Handles an event about notifications. `is_shown` is set if the window is not hidden. Returns the time at which to
    /// call [`Notices::show_waiting`].
    pub(crate) fn handle(
        &mut self,
        event: NoticeEvent,
        is_shown: bool,
        cx: &mut Cx<'_>,
    ) -> Option<Instant> {
        match event {
            NoticeEvent::Show(pane, notification) => {
                return self.program_notifies(pane, *notification, is_shown, cx);
            }
            NoticeEvent::TakenBack(pane, handle) => {
                if self.waiting.get(&pane).is_some_and(|waiting| waiting.handle == handle) {
                    self.waiting.remove(&pane);
                }
                cx.effects.push(Effect::Withdraw(Key::Program(pane, handle)));
            }
            NoticeEvent::Ended(pane, ended) => command_ended(pane, ended, is_shown, cx),
            NoticeEvent::Desktop(outcome) => desktop_answered(outcome, cx),
        }
        None
    }

    fn program_notifies(
        &mut self,
        pane: PaneId,
        notification: Notification,
        is_shown: bool,
        cx: &mut Cx<'_>,
    ) -> Option<Instant> {
        let (looked_at, has_keyboard) = attention(pane, is_shown, cx);
        let wanted = match notification.occasion {
            _ if !cx.prefs.config.notifications.programs => false,
            Occasion::Always => true,
            Occasion::Unfocused => !has_keyboard,
            Occasion::Invisible => !looked_at,
        };
        if !wanted {
            not_shown(pane, notification.handle, cx.mux);
            return None;
        }
        if self.may_show(pane, cx.now) {
            show_notification(pane, notification, cx);
            return None;
        }
        let handle = notification.handle;
        let before = self.waiting.insert(pane, notification);
        if let Some(before) = before.filter(|before| before.handle != handle) {
            not_shown(pane, before.handle, cx.mux);
        }
        self.next(pane)
    }

    /// Shows the waiting notifications for which the panes have budget. Returns the time at which to call this
    /// function again.
    pub(crate) fn show_waiting(&mut self, cx: &mut Cx<'_>) -> Option<Instant> {
        let panes: Vec<_> = self.waiting.keys().copied().collect();
        for pane in panes {
            if self.next(pane).is_none_or(|time| time <= cx.now)
                && self.may_show(pane, cx.now)
                && let Some(notification) = self.waiting.remove(&pane)
            {
                show_notification(pane, notification, cx);
            }
        }
        self.waiting.keys().filter_map(|pane| self.next(*pane)).min()
    }

    /// Shows a notification on the desktop. If that is not possible or not wanted, shows it in the window.
    pub(crate) fn show(&mut self, note: Note, cx: &mut Cx<'_>) {
        if !cx.prefs.config.notifications.desktop {
            return show_in_window(&note, cx);
        }
        if self.desktop.is_none() {
            let inbox = std::sync::Arc::clone(cx.inbox);
            let report = move |outcome| {
                inbox.post(|news| queue(&mut news.system.notices, NoticeEvent::Desktop(outcome)));
            };
            match Desktop::start(report) {
                Ok(desktop) => self.desktop = Some(desktop),
                Err(error) => {
                    tracing::warn!("no notifications of the desktop: {error}");
                    return show_in_window(&note, cx);
                }
            }
        }
        if let Some(desktop) = &self.desktop
            && !desktop.show(note)
        {
            tracing::warn!("the desktop's notifications don't answer: one was dropped");
        }
    }

    /// Withdraws a notification from the desktop.
    pub(crate) fn withdraw(&self, key: Key) {
        if let Some(desktop) = &self.desktop {
            desktop.close(key);
        }
    }

    /// Requests the user's attention, if the window is not focused.
    pub(crate) fn ask_attention(&mut self, cx: &mut Cx<'_>) {
        if cx.prefs.config.bell.attention && !cx.has_focus {
            self.wants_attention = true;
            cx.effects.push(Effect::Attention(true));
        }
    }

    /// Withdraws the request for attention when the window is focused, because not every window manager does that.
    pub(crate) fn end_attention(&mut self, cx: &mut Cx<'_>) {
        if cx.has_focus && std::mem::take(&mut self.wants_attention) {
            cx.effects.push(Effect::Attention(false));
        }
    }

    /// Rings the audible bell.
    pub(crate) fn sound_bell(&mut self, cx: &mut Cx<'_>) {
        let config = &cx.prefs.config.bell;
        let (audible, command) = (config.audible, config.command.clone());
        let now = cx.now;
        let is_soon = self.rung.is_some_and(|rung| now < rung + BELL_PAUSE);
        if is_soon || !audible && command.is_empty() {
            return;
        }
        self.rung = Some(now);
        cx.errand("bell", move || match bell::ring(audible, &command) {
            Ok(()) => ErrandResult::Nothing,
            Err(error) => ErrandResult::Failed("bell", format!("Can't ring the bell.\n{error:#}")),
        });
    }
}

/// Whether the user can see the pane, and whether the pane has the focus. A pane is visible if its tab is active, and
/// the window is shown and focused.
fn attention(pane: PaneId, is_shown: bool, cx: &Cx<'_>) -> (bool, bool) {
    let layout = cx.mux.layout();
    let tab = layout.active_tab().filter(|tab| tab.root.contains(pane));
    let tab = tab.filter(|_| cx.has_focus && is_shown);
    (tab.is_some(), tab.is_some_and(|tab| tab.focused == pane))
}

/// Reports to the program that its notification was closed, so that the program does not wait for the end of the
/// notification.
fn not_shown(pane: PaneId, handle: u64, mux: &Mux) {
    if let Some(pane) = mux.pane(pane) {
        pane.notification_closed(handle);
    }
}

fn show_notification(pane: PaneId, notification: Notification, cx: &mut Cx<'_>) {
    let (icon, picture) = icon_of(notification.icons, notification.icon_data);
    let note = Note {
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
    };
    cx.wish(Wish::Announce(Box::new(note)));
}

fn command_ended(pane: PaneId, ended: EndedCommand, is_shown: bool, cx: &mut Cx<'_>) {
    let least = Duration::from_secs(cx.prefs.config.notifications.long_commands.into());
    if least.is_zero() || ended.took < least || attention(pane, is_shown, cx).0 {
        return;
    }
    let line = cx.mux.pane(pane).and_then(|pane| {
        let term = pane.term();
        term.command(ended.command).and_then(|command| command.shown().map(str::to_owned))
    });
    let took = lasted(ended.took);
    let body = match ended.exit_code {
        None => format!("Finished after {took}."),
        Some(0) => format!("Finished with exit code 0 after {took}."),
        Some(code) => format!("Failed with exit code {code} after {took}."),
    };
    let note = Note {
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
    };
    cx.wish(Wish::Announce(Box::new(note)));
}

/// Shows a notification as a message in the window. The message can't report clicks or its end to the program, so the
/// notification counts as closed.
fn show_in_window(note: &Note, cx: &mut Cx<'_>) {
    let text = match note.body.as_str() {
        "" => note.title.clone(),
        body => format!("{}\n{body}", note.title),
    };
    cx.wish(Wish::ShowNotification(note.key, text));
    if let Key::Program(pane, handle) = note.key {
        not_shown(pane, handle, cx.mux);
    }
}

fn desktop_answered(outcome: NotificationEvent, cx: &mut Cx<'_>) {
    match outcome {
        NotificationEvent::Unavailable(note) => show_in_window(&note, cx),
        NotificationEvent::Clicked { key, button, focus } => {
            if focus && button.is_none() {
                cx.wish(Wish::ShowPane(key.pane()));
            }
            if let (Key::Program(_, handle), Some(pane)) = (key, cx.mux.pane(key.pane())) {
                pane.notification_clicked(handle, button);
            }
        }
        NotificationEvent::Closed(Key::Program(pane, handle)) => not_shown(pane, handle, cx.mux),
        NotificationEvent::Closed(Key::Command(_)) => {}
    }
}
