//! Layouts that `workspace save` wrote: the window opens them under their names, too.

use std::path::Path;

use unterm_control::workspace::{Part, Side as SavedSide, Workspace, WorkspaceError};

use super::{LayoutFile, PaneFile, Side, TabFile};

/// The layout of a workspace. `None` if there is none of this name.
///
/// # Errors
/// If the workspace can't be read.
pub(super) fn read(home: &Path, name: &str) -> Option<Result<LayoutFile, WorkspaceError>> {
    match Workspace::read(home, name) {
        Err(WorkspaceError::Missing(_) | WorkspaceError::Name(_)) => None,
        workspace => Some(workspace.map(|workspace| layout(&workspace))),
    }
}

/// The names of all workspaces.
pub(super) fn names(home: &Path) -> Vec<String> {
    Workspace::names(home).unwrap_or_default()
}

fn layout(workspace: &Workspace) -> LayoutFile {
    let tab =
        |title: Option<String>, panes: &Part| TabFile { title, panes: part(workspace, panes) };
    let tabs = match workspace.tabs.as_slice() {
        // Files of other programs list sessions alone.
        [] => workspace
            .sessions
            .iter()
            .map(|session| tab(None, &Part::Session { id: session.id }))
            .collect(),
        tabs => tabs.iter().map(|saved| tab(saved.title.clone(), &saved.panes)).collect(),
    };
    LayoutFile { active: 1, tabs }
}

fn part(workspace: &Workspace, saved: &Part) -> PaneFile {
    match saved {
        Part::Session { id } => {
            let session = workspace.sessions.iter().find(|session| session.id == *id);
            let cwd = session.and_then(|session| unterm_mux::local_path(&session.cwd));
            PaneFile::Pane { cwd, program: None, args: Vec::new(), focused: false }
        }
        Part::Split { split, share, first, second } => PaneFile::Split {
            split: match split {
                SavedSide::Right => Side::Right,
                SavedSide::Down => Side::Down,
            },
            share: *share,
            first: Box::new(part(workspace, first)),
            second: Box::new(part(workspace, second)),
        },
    }
}

#[cfg(test)]
mod tests {
    use unterm_mux::{Axis, Mux, MuxOptions, OnExit, Spawn};

    use super::*;

    #[test]
    fn a_saved_workspace_opens_as_a_layout() {
        let home = tempfile::tempdir().unwrap();
        let mux = Mux::new(MuxOptions::default());
        let spawn = || Spawn { program: Some("cat".into()), ..Spawn::default() };
        let pane = mux.open_tab(spawn(), None, OnExit::Close).unwrap();
        mux.split_again(pane.id(), Axis::Vertical, spawn(), OnExit::Close).unwrap();
        mux.open_tab(spawn(), None, OnExit::Close).unwrap();
        Workspace::of(&mux, "today").write(home.path()).unwrap();
        mux.shutdown();

        assert_eq!(LayoutFile::names(home.path()), ["today"]);
        let layout = LayoutFile::read(home.path(), "today").unwrap();
        assert_eq!(layout.tab_count(), 2);
        assert!(matches!(&layout.tabs[0].panes, PaneFile::Split { split: Side::Down, .. }));
        let error = LayoutFile::read(home.path(), "tody").unwrap_err().to_string();
        assert!(error.ends_with("there is no such layout; did you mean \"today\"?"), "{error}");
    }
}
