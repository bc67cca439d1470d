//! Requests of the control server to the window: queued for the main thread and answered there.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use unterm_control::{
    Acted, Bounds, Captures, Changes, DetachedProgram, Host, HostRequest, Layouts, OtherWindows,
    Preferences, Typing,
};
use unterm_mux::{PaneId, Tab};

use crate::window::{
    app::App, effect::Effect, inbox::Inbox, system::folder::choose::typed_change,
    workspace::blocks::actions::rerun_input,
};
use crate::{
    action::Action,
    args::Args,
    captures::AppCaptures,
    config::{Settings, keys, wire::FilePreferences},
    layout_file::LayoutFolder,
    links,
    other_windows::AppWindows,
    sessions::{self, Sessions},
};

/// The control server's connection to the window.
pub(crate) struct WindowHost {
    /// Where requests to the main thread are queued.
    pub(crate) inbox: Arc<Inbox>,
    /// Where the server is notified of changed preferences.
    pub(crate) changes: Arc<Changes>,
    /// The preferences in force.
    pub(crate) settings: Arc<Settings>,
    /// Whether the window shows the theme for a light desktop.
    pub(crate) is_light: Arc<AtomicBool>,
    /// The programs that outlive this window.
    pub(crate) sessions: Arc<Sessions>,
    /// The command line of this window.
    pub(crate) args: Args,
}

impl Host for WindowHost {
    fn has_window(&self) -> bool {
        true
    }

    fn instance_title_changed(&self, title: Option<&str>) {
        let title = title.map(str::to_owned);
        self.inbox.post(|news| news.control.instance_title = Some(title));
    }

    fn agents_changed(&self) {
        self.sessions.update_pause();
        self.inbox.post(|news| news.control.agents = true);
    }

    fn program_states_changed(&self) {
        self.inbox.post(|news| news.control.program_states = true);
    }

    fn recordings_changed(&self) {
        self.inbox.post(|news| news.control.recordings = true);
    }

    fn browser_folder(&self) -> Option<PathBuf> {
        links::browser_folder()
    }

    fn settings_page_unopened(&self) {
        self.inbox.post(|news| news.control.settings_unopened = true);
    }

    fn ask(&self, request: HostRequest) {
        self.inbox.post(|news| news.control.asked.push(request));
    }

    fn preferences(&self) -> Option<Arc<dyn Preferences>> {
        Some(Arc::new(FilePreferences { home: unterm_control::home() }))
    }

    fn theme(&self) -> Option<String> {
        let is_light = self.is_light.load(Ordering::Relaxed);
        Some(self.settings.get().theme.pick(Some(is_light)).to_owned())
    }

    fn window_size(&self) -> Option<(u16, u16)> {
        let config = self.settings.get();
        Some((config.window.columns, config.window.rows))
    }

    fn changes(&self) -> Option<Arc<Changes>> {
        Some(Arc::clone(&self.changes))
    }

    fn captures(&self) -> Option<Arc<dyn Captures>> {
        Some(Arc::new(AppCaptures { home: unterm_control::home() }))
    }

    fn other_windows(&self) -> Arc<dyn OtherWindows> {
        Arc::new(AppWindows { args: self.args.clone(), sessions: Arc::clone(&self.sessions) })
    }

    fn detached_programs(&self) -> Vec<DetachedProgram> {
        sessions::detached(&unterm_control::home())
    }

    fn layouts(&self) -> Option<Arc<dyn Layouts>> {
        Some(Arc::new(LayoutFolder { home: unterm_control::home() }))
    }
}

impl App {
    /// Answers a request. If the caller has disconnected, the answer is dropped.
    pub(crate) fn asked_by_host(&mut self, request: HostRequest) {
        match request {
            HostRequest::Actions(answer) => drop(answer.send(self.prefs.keymap.table())),
            HostRequest::Raise(answer) => {
                if self.surface.screen.is_some() {
                    self.effect(Effect::Raise);
                    self.effect(Effect::Answer(Box::new(move |_| {
                        let _ = answer.send(());
                    })));
                }
            }
            HostRequest::Act { name, argument, bounds, answer } => {
                let acted = self.act_by_name(&name, argument.as_deref(), &bounds);
                self.effect(Effect::Answer(Box::new(move |failure| {
                    let _ = answer.send(failure.map_or(acted, Err));
                })));
            }
        }
    }

    fn act_by_name(
        &mut self,
        name: &str,
        argument: Option<&str>,
        bounds: &Bounds,
    ) -> Result<Acted, String> {
        let action = keys::find(name)?.action(argument)?;
        // A key that the user is about to type into a program could answer a question of a panel that a caller opened. The
        // next pane that needs the user can be one of another instance, or a question without a pane, which opens a panel.
        if matches!(action, Action::AnswerAgent | Action::Inbox | Action::NextAttention) {
            return Err("Only the user can do this, with a key or the mouse".to_owned());
        }
        if let Some(why) = self.refusal(&action, bounds) {
            return Ok(Acted::Refused(why));
        }
        if let Some(typed) = self.typed_by(&action) {
            return typed.map(Acted::Types);
        }
        // The caller does not see the window, so it receives the error that the action shows.
        self.overlays.toasts.take_complaint();
        let done = self.act(action);
        self.overlays.toasts.take_complaint().map_or(Ok(Acted::Done(done)), Err)
    }

    /// The reason to refuse an action that a user may perform, but this caller may not: input rules exist and can't
    /// check a paste, or another client has leased a pane.
    fn refusal(&self, action: &Action, bounds: &Bounds) -> Option<String> {
        let layout = self.mux.layout();
        let tab = layout.active_tab()?;
        let touched: Vec<PaneId> = match action {
            Action::Paste | Action::PastePrimary if bounds.rules => {
                let why = "there are rules on what may be entered; session.paste keeps to them";
                return Some(why.to_owned());
            }
            Action::Paste | Action::PastePrimary => {
                let listeners = self
                    .workspace
                    .broadcast
                    .listeners(tab.focused, &self.mux)
                    .into_iter()
                    .map(|pane| pane.id());
                listeners.chain([tab.focused]).collect()
            }
            Action::ClosePane | Action::PaneToNewWindow | Action::PaneToWindow(_) => {
                vec![tab.focused]
            }
            Action::CloseTab | Action::TabToNewWindow | Action::TabToWindow(_) => tab.panes(),
            Action::CloseWindow | Action::Detach | Action::Restart => {
                layout.tabs.iter().flat_map(Tab::panes).collect()
            }
            _ => return None,
        };
        let leased = touched.iter().find(|pane| bounds.leased.contains(*pane))?;
        Some(format!("session {} is leased by somebody else", leased.0))
    }

    /// The input that an action would type; `None` if the action types nothing.
    fn typed_by(&self, action: &Action) -> Option<Result<Vec<Typing>, String>> {
        let no_pane = || Err("there is no session to type into".to_owned());
        let Some(pane) = self.focused_pane() else {
            let types = matches!(
                action,
                Action::SendText(_) | Action::RerunCommand | Action::ChangeDirectoryTo(_)
            );
            return types.then(no_pane);
        };
        let typing = |bytes| vec![Typing { pane: pane.id(), bytes }];
        match action {
            Action::SendText(text) => {
                let panes = self
                    .workspace
                    .broadcast
                    .listeners(pane.id(), &self.mux)
                    .into_iter()
                    .chain([pane.clone()]);
                let bytes = text.as_bytes().to_vec();
                let typed = panes.map(|pane| Typing { pane: pane.id(), bytes: bytes.clone() });
                Some(Ok(typed.collect()))
            }
            Action::RerunCommand => {
                let none = "no command can be run again here now";
                Some(
                    rerun_input(&pane, &self.workspace.views)
                        .map(typing)
                        .ok_or_else(|| none.to_owned()),
                )
            }
            Action::ChangeDirectoryTo(path) => {
                let line = typed_change(&pane, path.as_ref());
                Some(line.map(|line| typing(line.into_bytes())))
            }
            _ => None,
        }
    }
}
