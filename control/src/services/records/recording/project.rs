//! The project of a pane, and the record of a new recording.

use std::path::{Path, PathBuf};

use unterm_mux::{Pane, random};

use super::{
    markdown::timestamp,
    record::{MessageResult, Record, now},
};
use crate::{
    registry,
    services::shell::kind::{Activity, Shell},
};

/// Creates the record of a recording that starts now. The project is determined from the process's working directory
/// and not from a reported directory (OSC 7), because programs can report any directory.
pub(super) fn describe(pane: &Pane) -> MessageResult<Record> {
    let size = pane.term().size();
    let project = project(pane.process().cwd().as_deref());
    let pid = std::process::id();
    Ok(Record {
        unterm_session_id: random::uuid().map_err(|error| error.to_string())?,
        tab_id: pane.id().0,
        project_slug: project.as_deref().map(slug),
        project_path: project.map(|path| path.to_string_lossy().into_owned()),
        started_at: timestamp(now()),
        shell: Shell::kind(Shell::of_process(&Activity::of(pane).process)).to_owned(),
        hostname: rustix::system::uname().nodename().to_string_lossy().into_owned(),
        cols: size.cols,
        rows: size.rows,
        pid,
        process_start: registry::process_start(pid),
        ..Record::default()
    })
}

/// The project of a folder: the root of its repository, or else the folder itself. `None` for the home directory and
/// the root directory.
pub(super) fn project(cwd: Option<&Path>) -> Option<PathBuf> {
    let cwd = cwd.filter(|cwd| cwd.is_dir())?;
    let is_home = |path: &Path| std::env::home_dir().is_some_and(|home| home == path);
    if let Some(root) = cwd.ancestors().find(|path| path.join(".git").exists()) {
        return Some(root.to_owned());
    }
    (!is_home(cwd) && cwd.parent().is_some()).then(|| cwd.to_owned())
}

/// The project of a folder, and the project's name in paths of files.
pub fn project_of(cwd: &Path) -> Option<(PathBuf, String)> {
    let project = project(Some(cwd))?;
    let slug = slug(&project);
    Some((project, slug))
}

/// A project's name as a folder name.
pub(super) fn slug(project: &Path) -> String {
    let name = project.file_name().unwrap_or_default().to_string_lossy();
    let plain = |char: char| if char.is_alphanumeric() { char.to_ascii_lowercase() } else { '-' };
    let slug: String = name.chars().map(plain).take(64).collect();
    let slug = slug.trim_matches('-');
    if slug.is_empty() { "project".to_owned() } else { slug.to_owned() }
}
