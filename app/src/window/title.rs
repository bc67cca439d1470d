//! The titles of windows and of their tabs.

use std::path::{Path, PathBuf};

use unterm_mux::Pane;
use unterm_term::Command;

/// `Unterm — <title override or instance id> — <project> — <pane title>`, without the parts that are empty.
pub(super) fn window_title(instance: &str, project: &str, pane: &str) -> String {
    let mut title = String::from("Unterm");
    for part in [instance, project, pane] {
        if !part.is_empty() {
            title.push_str(" — ");
            title.push_str(part);
        }
    }
    title
}

/// What a pane's tab is called: its own title; for a shell that waits at its prompt and has set none, where it is, so that
/// shells can be told apart (`~`, else the directory's name).
pub(super) fn of_pane(pane: &Pane, cwd: Option<&Path>) -> String {
    if let Some(title) = pane.own_title() {
        return title;
    }
    let waits = pane.term().commands().next_back().is_some_and(Command::is_prompting);
    match cwd {
        Some(cwd) if waits => place(cwd, std::env::home_dir().as_deref()),
        _ => pane.title(),
    }
}

/// A program's name without its folder.
pub(super) fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or_default()
}

fn place(cwd: &Path, home: Option<&Path>) -> String {
    match cwd.file_name() {
        _ if Some(cwd) == home => "~".to_owned(),
        Some(name) => name.to_string_lossy().into_owned(),
        None => cwd.to_string_lossy().into_owned(),
    }
}

/// The project a directory belongs to: the nearest directory from it upwards that holds a repository.
pub(super) fn project(directory: &Path) -> Option<PathBuf> {
    let root = directory.ancestors().find(|ancestor| ancestor.join(".git").exists())?;
    Some(root.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_called_by_its_last_part() {
        let home = Some(Path::new("/home/me"));
        let called = |cwd: &str| place(Path::new(cwd), home);
        assert_eq!(called("/home/me"), "~");
        assert_eq!(called("/home/me/src"), "src");
        assert_eq!(called("/"), "/");
    }

    #[test]
    fn empty_parts_leave_no_dash() {
        assert_eq!(window_title("alpha", "", "vim"), "Unterm — alpha — vim");
        assert_eq!(window_title("", "", ""), "Unterm");
        assert_eq!(window_title("alpha", "unterm", "zsh"), "Unterm — alpha — unterm — zsh");
    }
}
