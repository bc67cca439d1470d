//! Opens files in the user's editor. A file that is named in a pane opens beside that pane; the configuration opens in
//! its own tab.
//!
//! Owns the place where the editor opens. `editor.rs` of this crate builds the editor's command line.

use std::path::PathBuf;

use unterm_mux::{Axis, MuxError, OnExit, PaneId, Spawn};

use crate::window::{app::App, errand::ErrandResult};
use crate::{
    config::{FILE, edit, load},
    editor,
};

impl App {
    /// Opens a file in the user's editor: in a split if the pane is large enough, and otherwise in a tab. `place` is
    /// `name`, `name:line` or `name:line:column`. If the file does not exist, an error is shown.
    pub(crate) fn edit_file(&mut self, pane: PaneId, place: &str) {
        let cwd = self.mux.pane(pane).and_then(|pane| pane.cwd_path());
        let (file, place) = (editor::file(place, cwd.as_deref()), place.to_owned());
        self.errand("editor", move || match file.try_exists() {
            Ok(true) => ErrandResult::File(pane, cwd, place),
            Ok(false) => {
                ErrandResult::Failed("editor", format!("No such file: {}", file.display()))
            }
            Err(error) => ErrandResult::Failed(
                "editor",
                format!("{} can't be opened.\n{error}", file.display()),
            ),
        });
    }

    /// Opens a file that is known to exist.
    pub(crate) fn edit_found(&mut self, pane: PaneId, cwd: Option<PathBuf>, place: &str) {
        let spawn = self.spawn_editor(place, cwd);
        let started = match self.mux.has_room(pane, Axis::Horizontal) {
            true => self.mux.split(pane, Axis::Horizontal, spawn, OnExit::Close),
            false => self.mux.open_tab(spawn, None, OnExit::Close),
        };
        self.report_editor(started);
    }

    /// Opens the configuration file in the user's editor. If the file has errors, the editor starts at the first
    /// error.
    pub(crate) fn open_config(&mut self) {
        let home = self.prefs.settings.home();
        if let Err(error) = edit::create(home) {
            self.complain("config", format!("Can't create the configuration.\n{error:#}"));
            return;
        }
        // The message of the first error starts with its position, such as `config.toml:3:1: `.
        let place = load(&home.join(FILE), home)
            .err()
            .and_then(|complaints| Some(complaints.first()?.split_once(": ")?.0.to_owned()));
        let place = home.join(place.as_deref().unwrap_or(FILE));
        let spawn = self.spawn_editor(&place.to_string_lossy(), self.spawn_beside().cwd);
        let started = self.mux.open_tab(spawn, None, OnExit::Close);
        self.report_editor(started);
    }

    /// The start of the editor for a file position. The editor runs in `cwd`, so a relative name refers to that
    /// directory.
    fn spawn_editor(&self, place: &str, cwd: Option<PathBuf>) -> Spawn {
        let command = editor::command(&self.prefs.config.hints.editor, place, cwd.as_deref());
        let mut words = command.into_iter();
        Spawn { program: words.next(), args: words.collect(), cwd, ..Spawn::default() }
    }

    /// Shows a message if the editor failed to start.
    fn report_editor<T>(&mut self, started: Result<T, MuxError>) {
        if let Err(error) = started {
            self.complain("editor", format!("Can't start the editor.\n{error}"));
        }
    }
}
