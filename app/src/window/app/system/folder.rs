//! Opens the desktop's folder dialog, and uses the chosen folder.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use unterm_mux::{OnExit, Pane, PaneId, Spawn};

use crate::window::{
    app::App,
    system::{
        errand::ErrandResult,
        folder::{Purpose, change},
    },
};

/// If a dialog closes within this time, it was never shown. `rfd` returns `None` both for an error and for a canceled
/// dialog.
const GLANCE: Duration = Duration::from_millis(300);

impl App {
    /// Opens the desktop's folder dialog on another thread.
    pub(crate) fn choose_folder(&mut self, purpose: Purpose) {
        let start = self.focused_pane().and_then(|pane| pane.cwd_path());
        let (title, _) = purpose.names();
        self.errand("folder", move || {
            let mut dialog = rfd::FileDialog::new().set_title(title);
            if let Some(start) = start {
                dialog = dialog.set_directory(start);
            }
            let asked = Instant::now();
            match dialog.pick_folder() {
                Some(folder) => ErrandResult::Folder(purpose, folder),
                None if asked.elapsed() < GLANCE => ErrandResult::NoDialog(purpose),
                None => ErrandResult::Nothing,
            }
        });
    }

    /// Asks the user to type a path, because this desktop has no folder dialog.
    pub(crate) fn type_folder(&mut self, purpose: Purpose) {
        self.complain(
            "folder",
            "There is no folder dialog here: no desktop portal answers, and zenity is not installed.\n\
             Type the path instead."
                .to_owned(),
        );
        let tab = self.mux.layout().active_tab().map(|tab| tab.id);
        if let Some(tab) = tab {
            self.with_parts(|parts, cx| {
                let action = purpose.names().1;
                parts.overlays.pick_argument(action, "Directory", "", tab, cx);
            });
        }
    }

    /// Opens a tab in the chosen directory, or changes the directory of a shell.
    pub(crate) fn use_folder(&mut self, purpose: Purpose, folder: &Path) {
        let folder = self.absolute(folder);
        if !folder.is_dir() {
            let text = format!("{} is not a directory.", folder.display());
            return self.complain("folder", text);
        }
        match purpose {
            Purpose::Tab => {
                let spawn = Spawn { cwd: Some(folder), ..Spawn::default() };
                self.report(self.mux.open_tab(spawn, None, OnExit::Close));
            }
            Purpose::Change(pane) => self.change_directory(pane, &folder),
        }
    }

    /// Resolves a typed path. `~` stands for the home directory. A relative path starts in the focused pane's
    /// directory.
    fn absolute(&self, path: &Path) -> PathBuf {
        let home = std::env::home_dir();
        if let (Ok(rest), Some(home)) = (path.strip_prefix("~"), home) {
            return home.join(rest);
        }
        let cwd = self.focused_pane().and_then(|pane| pane.cwd_path()).unwrap_or_default();
        cwd.join(path)
    }

    /// Types a `cd` command into a pane's shell, unless another program runs in the foreground.
    fn change_directory(&mut self, id: PaneId, folder: &Path) {
        let Some(pane) = self.mux.pane(id) else { return };
        match change(&pane, folder) {
            Ok(line) => drop(self.type_bytes(&pane, line.as_bytes())),
            Err(why) => self.complain("folder", why),
        }
    }

    /// The input that changes the directory of a pane's shell to a typed path. If that is not possible, returns a
    /// message with the reason.
    pub(crate) fn typed_change(&self, pane: &Pane, folder: &Path) -> Result<String, String> {
        let folder = self.absolute(folder);
        match folder.is_dir() {
            true => change(pane, &folder),
            false => Err(format!("{} is not a directory.", folder.display())),
        }
    }
}
