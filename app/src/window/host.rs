//! What the control server asks of the window: handed to the main thread, answered there.

use std::sync::Arc;

use unterm_control::{ActionInfo, Captures, Changes, Host, HostRequest, Preferences};
use unterm_mux::input::Modifiers;

use super::{App, inbox::Inbox};
use crate::{
    action::ACTIONS,
    captures::AppCaptures,
    config::{keys, wire::FilePreferences},
};

/// The control server's way to the window.
pub(super) struct WindowHost {
    /// What the main thread is told.
    pub(super) inbox: Arc<Inbox>,
    /// Where it is told that preferences have changed.
    pub(super) changes: Arc<Changes>,
}

impl Host for WindowHost {
    fn has_window(&self) -> bool {
        true
    }

    fn instance_title_changed(&self, title: Option<&str>) {
        let title = title.map(str::to_owned);
        self.inbox.post(|news| news.instance_title = Some(title));
    }

    fn agents_changed(&self) {
        self.inbox.post(|news| news.agents = true);
    }

    fn ask(&self, request: HostRequest) {
        self.inbox.post(|news| news.asked.push(request));
    }

    fn preferences(&self) -> Option<Arc<dyn Preferences>> {
        Some(Arc::new(FilePreferences { home: unterm_control::home() }))
    }

    fn changes(&self) -> Option<Arc<Changes>> {
        Some(Arc::clone(&self.changes))
    }

    fn captures(&self) -> Option<Arc<dyn Captures>> {
        Some(Arc::new(AppCaptures { home: unterm_control::home() }))
    }
}

impl App {
    /// Answers a request. A caller that has gone hears nothing of it.
    pub(super) fn asked(&mut self, request: HostRequest) {
        match request {
            HostRequest::Actions(answer) => drop(answer.send(self.actions())),
            HostRequest::Raise(answer) => {
                if let Some(screen) = &self.screen {
                    screen.window.set_minimized(false);
                    screen.window.focus_window();
                    let _ = answer.send(());
                }
            }
            HostRequest::Act { name, argument, answer } => {
                let done = self.act_by_name(&name, argument.as_deref());
                let _ = answer.send(done);
            }
        }
    }

    /// The table of actions with the keys in force.
    fn actions(&self) -> Vec<ActionInfo> {
        let info = |entry: &'static crate::action::Entry| ActionInfo {
            name: entry.name,
            title: entry.title,
            doc: entry.doc,
            argument: entry.argument(),
            key: self.keymap.keys_of(entry),
        };
        ACTIONS.iter().map(info).collect()
    }

    fn act_by_name(&mut self, name: &str, argument: Option<&str>) -> Result<bool, String> {
        let action = keys::find(name)?.action(argument)?;
        self.pacing.ask();
        // As a key that belongs to nobody else: Shift marks that for Copy.
        self.complaint_of(|app| app.act(action, Modifiers::SHIFT))
    }
}
