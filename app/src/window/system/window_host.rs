//! The control server's connection to the window. Requests are queued for the main thread.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use unterm_control::{
    Captures, Changes, DetachedProgram, Host, HostRequest, Layouts, OtherWindows, Preferences,
};

use crate::window::inbox::Inbox;
use crate::{
    args::Args,
    captures::AppCaptures,
    config::{Settings, wire::FilePreferences},
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
