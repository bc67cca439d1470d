//! Opens the desktop's folder dialog, and uses the chosen folder.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use unterm_mux::{OnExit, Pane, PaneId, Spawn};

use crate::window::{
    app::App,
    system::{
        errand::Done,
        folder::{Purpose, change},
    },
};

/// A dialog that closes sooner was never shown: `rfd` returns `None` for an error as well as for a cancelled dialog.
const GLANCE: Duration = Duration::from_millis(300);

impl App {
    /// Opens the desktop's folder dialog, in the background.
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
                Some(folder) => Done::Folder(purpose, folder),
                None if asked.elapsed() < GLANCE => Done::NoDialog(purpose),
                None => Done::Nothing,
            }
        });
    }

    /// Asks for a typed path, because this desktop has no folder dialog.
    pub(crate) fn type_folder(&mut self, purpose: Purpose) {
        self.complain(
            "folder",
            "There is no folder dialog here: no desktop portal answers, and zenity is not installed.\n\
             Type the path instead."
                .to_owned(),
        );
        let tab = self.mux.layout().active_tab().map(|tab| tab.id);
        if let Some(tab) = tab {
            self.pick_argument(purpose.names().1, "Directory", "", tab);
        }
    }

    /// Opens a tab in the chosen directory, or changes a shell to it.
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

    /// Resolves a typed path: `~` is the home directory; a relative path starts at the focused pane's directory.
    fn absolute(&self, path: &Path) -> PathBuf {
        let home = std::env::home_dir();
        if let (Ok(rest), Some(home)) = (path.strip_prefix("~"), home) {
            return home.join(rest);
        }
        let cwd = self.focused_pane().and_then(|pane| pane.cwd_path()).unwrap_or_default();
        cwd.join(path)
    }

    /// Types `cd` into a pane's shell, unless another program runs in the foreground.
    fn change_directory(&mut self, id: PaneId, folder: &Path) {
        let Some(pane) = self.mux.pane(id) else { return };
        match change(&pane, folder) {
            Ok(line) => self.type_bytes(&pane, line.as_bytes()),
            Err(why) => self.complain("folder", why),
        }
    }

    /// The input that changes a pane's shell to a typed path, or a message that explains why it can't.
    pub(crate) fn typed_change(&self, pane: &Pane, folder: &Path) -> Result<String, String> {
        let folder = self.absolute(folder);
        match folder.is_dir() {
            true => change(pane, &folder),
            false => Err(format!("{} is not a directory.", folder.display())),
        }
    }
}
