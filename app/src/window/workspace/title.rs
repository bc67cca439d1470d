//! Titles of windows and tabs.

use std::path::{Path, PathBuf};

use unterm_mux::Pane;
use unterm_term::Command;

/// `<tab or program> — <project> — <instance>`, without empty and repeated parts.
pub(crate) fn window_title(tab: &str, project: &str, instance: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in [tab, project, instance] {
        if !part.is_empty() && !parts.contains(&part) {
            parts.push(part);
        }
    }
    if parts.is_empty() { "Unterm".to_owned() } else { parts.join(" — ") }
}

/// A pane's title for its tab: the title it set or, for a shell at its prompt, its directory (`~`, else the directory's
/// name), so that tabs of shells differ.
pub(crate) fn of_pane(pane: &Pane, cwd: Option<&Path>) -> String {
    if let Some(title) = pane.own_title() {
        return title;
    }
    let waits = pane.term().commands().next_back().is_some_and(Command::is_prompting);
    match cwd {
        Some(cwd) if waits => place(cwd, std::env::home_dir().as_deref()),
        _ => pane.title(),
    }
}

pub(crate) fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or_default()
}

fn place(cwd: &Path, home: Option<&Path>) -> String {
    match cwd.file_name() {
        _ if Some(cwd) == home => "~".to_owned(),
        Some(name) => name.to_string_lossy().into_owned(),
        None => cwd.to_string_lossy().into_owned(),
    }
}

/// The project of a directory: its nearest ancestor, itself included, that contains `.git`.
pub(crate) fn project(directory: &Path) -> Option<PathBuf> {
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
    fn a_window_is_called_by_what_tells_it_from_others() {
        assert_eq!(window_title("vim", "unterm", ""), "vim — unterm");
        assert_eq!(window_title("vim", "unterm", "bravo"), "vim — unterm — bravo");
        assert_eq!(window_title("unterm", "unterm", ""), "unterm", "a shell at its prompt there");
        assert_eq!(window_title("vim", "", "alpha"), "vim — alpha");
        assert_eq!(window_title("", "", ""), "Unterm");
    }
}
