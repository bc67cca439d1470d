//! Opens the desktop's folder dialog, and uses the chosen folder.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use unterm_mux::{OnExit, Pane, PaneId, Spawn};

use crate::window::{
    cx::Cx,
    errand::ErrandResult,
    overlays::Overlays,
    system::folder::{Purpose, change},
    wish::Wish,
};

/// The topic of messages about folders.
const ABOUT: &str = "folder";
/// If a dialog closes within this time, it was never shown. `rfd` returns `None` both for an error and for a canceled
/// dialog.
const GLANCE: Duration = Duration::from_millis(300);

/// Opens the desktop's folder dialog on another thread.
pub(crate) fn choose(purpose: Purpose, cx: &mut Cx<'_>) {
    let start = cx.focused_pane().and_then(|pane| pane.cwd_path());
    let (title, _) = purpose.names();
    cx.errand(ABOUT, move || {
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
pub(crate) fn ask_for_path(purpose: Purpose, overlays: &mut Overlays, cx: &mut Cx<'_>) {
    cx.complain(
        ABOUT,
        "There is no folder dialog here: no desktop portal answers, and zenity is not installed.\n\
         Type the path instead.",
    );
    let tab = cx.mux.layout().active_tab().map(|tab| tab.id);
    if let Some(tab) = tab {
        overlays.pick_argument(purpose.names().1, "Directory", "", tab, cx);
    }
}

/// Opens a tab in the chosen directory, or changes the directory of a shell.
pub(crate) fn use_folder(purpose: Purpose, folder: &Path, cx: &mut Cx<'_>) {
    let folder = absolute(folder, cx.focused_pane().as_deref());
    if !folder.is_dir() {
        return cx.complain(ABOUT, format!("{} is not a directory.", folder.display()));
    }
    match purpose {
        Purpose::Tab => {
            let spawn = Spawn { cwd: Some(folder), ..Spawn::default() };
            cx.report(cx.mux.open_tab(spawn, None, OnExit::Close));
        }
        Purpose::Change(pane) => change_directory(pane, &folder, cx),
    }
}

/// Resolves a typed path. `~` stands for the home directory. A relative path starts in the focused pane's directory.
fn absolute(path: &Path, focused: Option<&Pane>) -> PathBuf {
    let home = std::env::home_dir();
    if let (Ok(rest), Some(home)) = (path.strip_prefix("~"), home) {
        return home.join(rest);
    }
    focused.and_then(Pane::cwd_path).unwrap_or_default().join(path)
}

/// Types a `cd` command into a pane's shell, unless another program runs in the foreground.
fn change_directory(id: PaneId, folder: &Path, cx: &mut Cx<'_>) {
    let Some(pane) = cx.mux.pane(id) else { return };
    match change(&pane, folder) {
        Ok(line) => cx.wish(Wish::Type(id, line.into_bytes())),
        Err(why) => cx.complain(ABOUT, why),
    }
}

/// The input that changes the directory of the focused pane's shell to a typed path. If that is not possible, returns a
/// message with the reason.
pub(crate) fn typed_change(focused: &Pane, folder: &Path) -> Result<String, String> {
    let folder = absolute(folder, Some(focused));
    match folder.is_dir() {
        true => change(focused, &folder),
        false => Err(format!("{} is not a directory.", folder.display())),
    }
}
