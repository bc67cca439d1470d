//! What is left of the last window: the tabs that this window opens at its start, or on request.

use unterm_control::workspace::LAST;

use crate::layout_file::LayoutFile;
use crate::window::{
    prefs::Prefs,
    workspace::{Workspace, first_layout::first_layout},
};

impl Workspace {
    /// The number of tabs that the window opens at its start.
    pub(crate) fn first_tabs(&self, prefs: &Prefs) -> usize {
        match first_layout(&prefs.args, &prefs.settings, self.last.as_ref()) {
            Some(Ok(layout)) => layout.tab_count().max(1),
            _ => 1,
        }
    }

    /// The tabs of earlier windows that must survive an unclean end of this window.
    pub(crate) fn unopened(&self) -> LayoutFile {
        let unopened = self.reopens.as_ref().filter(|unopened| unopened.ended_unclean);
        unopened.map(|unopened| unopened.layout.clone()).unwrap_or_default()
    }

    /// Keeps the layout of the last window, so that the user can reopen it. Returns a message if that window ended
    /// without closing.
    pub(crate) fn offer_last(&mut self, prefs: &Prefs) -> Option<String> {
        let last = self.last.as_ref().filter(|_| !prefs.args.quake)?;
        let args = &prefs.args;
        let named = args.layout.as_deref().unwrap_or(&prefs.config.startup.layout);
        let is_open = named == LAST && args.execute.is_empty() && args.cwd.is_none();
        let live = unterm_control::client::live(prefs.settings.home());
        let running: Vec<u32> = live.iter().map(|instance| instance.pid).collect();
        let unopened = last.unopened(is_open, &running)?;
        let message = unopened.ended_unclean.then(|| {
            let tabs = match unopened.layout.tab_count() {
                1 => "tab".to_owned(),
                tabs => format!("{tabs} tabs"),
            };
            let press = prefs.press("reopen_last_window", "reopens them");
            let (windows, whose) = match unopened.are_several {
                true => ("The last windows", "their"),
                false => ("The last window", "its"),
            };
            format!(
                "{windows} ended without closing.\nThe action “Reopen last window” brings back {whose} {tabs}.{press}"
            )
        });
        self.reopens = Some(unopened);
        message
    }
}
