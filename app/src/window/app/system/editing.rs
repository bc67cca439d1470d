//! Opens files in the user's editor: a file named in a pane beside that pane, the configuration in its own tab.
//!
//! Owns where the editor opens; the crate's `editor.rs` builds its command line.

use std::path::PathBuf;

use unterm_mux::{Axis, MuxError, OnExit, PaneId, Spawn};

use crate::window::{app::App, system::errand::Done};
use crate::{
    config::{FILE, edit, load},
    editor,
};

impl App {
    /// Opens a file in the user's editor, in a split if there is room, else in a tab. `place` is `name`, `name:line` or
    /// `name:line:column`. A missing file is reported as an error.
    pub(crate) fn edit_file(&mut self, pane: PaneId, place: &str) {
        let cwd = self.mux.pane(pane).and_then(|pane| pane.cwd_path());
        let (file, place) = (editor::file(place, cwd.as_deref()), place.to_owned());
        self.errand("editor", move || match file.try_exists() {
            Ok(true) => Done::File(pane, cwd, place),
            Ok(false) => Done::Failed("editor", format!("No such file: {}", file.display())),
            Err(error) => {
                Done::Failed("editor", format!("{} can't be opened.\n{error}", file.display()))
            }
        });
    }

    /// Opens a file that exists.
    pub(crate) fn edit_found(&mut self, pane: PaneId, cwd: Option<PathBuf>, place: &str) {
        let spawn = self.spawn_editor(place, cwd);
        let started = match self.mux.has_room(pane, Axis::Horizontal) {
            true => self.mux.split(pane, Axis::Horizontal, spawn, OnExit::Close),
            false => self.mux.open_tab(spawn, None, OnExit::Close),
        };
        self.tell_editor(started);
    }

    /// Opens the configuration in the user's editor, at its first error, if any.
    pub(crate) fn open_config(&mut self) {
        let home = self.prefs.settings.home();
        if let Err(error) = edit::create(home) {
            self.complain("config", format!("Can't create the configuration.\n{error:#}"));
            return;
        }
        // The first error's position, from its message: `config.toml:3:1: `.
        let place = load(&home.join(FILE), home)
            .err()
            .and_then(|complaints| Some(complaints.first()?.split_once(": ")?.0.to_owned()));
        let place = home.join(place.as_deref().unwrap_or(FILE));
        let spawn = self.spawn_editor(&place.to_string_lossy(), self.spawn_beside().cwd);
        let started = self.mux.open_tab(spawn, None, OnExit::Close);
        self.tell_editor(started);
    }

    /// The editor's command for a place; a relative name is resolved in `cwd`, where the editor runs.
    fn spawn_editor(&self, place: &str, cwd: Option<PathBuf>) -> Spawn {
        let command = editor::command(&self.prefs.config.hints.editor, place, cwd.as_deref());
        let mut words = command.into_iter();
        Spawn { program: words.next(), args: words.collect(), cwd, ..Spawn::default() }
    }

    /// Reports an editor that failed to start.
    fn tell_editor<T>(&mut self, started: Result<T, MuxError>) {
        if let Err(error) = started {
            self.complain("editor", format!("Can't start the editor.\n{error}"));
        }
    }
}
