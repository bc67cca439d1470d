//! Opens files in the user's editor. A file that is named in a pane opens beside that pane; the configuration opens in
//! its own tab.
//!
//! Owns the place where the editor opens. `editor.rs` of this crate builds the editor's command line.

use std::path::PathBuf;

use unterm_mux::{Axis, MuxError, OnExit, PaneId, Spawn};

use crate::window::{cx::Cx, errand::ErrandResult, workspace::panes::spawn_beside};
use crate::{
    config::{FILE, edit, load},
    editor,
};

/// Opens a file in the user's editor: in a split if the pane is large enough, and otherwise in a tab. `place` is
/// `name`, `name:line` or `name:line:column`. If the file does not exist, an error is shown.
pub(crate) fn edit_file(pane: PaneId, place: &str, cx: &mut Cx<'_>) {
    let cwd = cx.mux.pane(pane).and_then(|pane| pane.cwd_path());
    let (file, place) = (editor::file(place, cwd.as_deref()), place.to_owned());
    cx.errand("editor", move || match file.try_exists() {
        Ok(true) => ErrandResult::File(pane, cwd, place),
        Ok(false) => ErrandResult::Failed("editor", format!("No such file: {}", file.display())),
        Err(error) => {
            ErrandResult::Failed("editor", format!("{} can't be opened.\n{error}", file.display()))
        }
    });
}

/// Opens a file that is known to exist.
pub(crate) fn edit_found(pane: PaneId, cwd: Option<PathBuf>, place: &str, cx: &mut Cx<'_>) {
    let spawn = spawn_editor(place, cwd, cx);
    let started = match cx.mux.has_room(pane, Axis::Horizontal) {
        true => cx.mux.split(pane, Axis::Horizontal, spawn, OnExit::Close),
        false => cx.mux.open_tab(spawn, None, OnExit::Close),
    };
    report_editor(started, cx);
}

/// Opens the configuration file in the user's editor. If the file has errors, the editor starts at the first
/// error.
pub(crate) fn open_config(cx: &mut Cx<'_>) {
    let home = cx.prefs.settings.home();
    if let Err(error) = edit::create(home) {
        cx.complain("config", format!("Can't create the configuration.\n{error:#}"));
        return;
    }
    // The message of the first error starts with its position, such as `config.toml:3:1: `.
    let place = load(&home.join(FILE), home)
        .err()
        .and_then(|complaints| Some(complaints.first()?.split_once(": ")?.0.to_owned()));
    let place = home.join(place.as_deref().unwrap_or(FILE));
    let spawn = spawn_editor(&place.to_string_lossy(), spawn_beside(cx.mux).cwd, cx);
    let started = cx.mux.open_tab(spawn, None, OnExit::Close);
    report_editor(started, cx);
}

/// The start of the editor for a file position. The editor runs in `cwd`, so a relative name refers to that
/// directory.
fn spawn_editor(place: &str, cwd: Option<PathBuf>, cx: &Cx<'_>) -> Spawn {
    let command = editor::command(&cx.prefs.config.hints.editor, place, cwd.as_deref());
    let mut words = command.into_iter();
    Spawn { program: words.next(), args: words.collect(), cwd, ..Spawn::default() }
}

/// Shows a message if the editor failed to start.
fn report_editor<T>(started: Result<T, MuxError>, cx: &mut Cx<'_>) {
    if let Err(error) = started {
        cx.complain("editor", format!("Can't start the editor.\n{error}"));
    }
}
