//! The window's title.

use std::path::{Path, PathBuf};

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

/// The project a directory belongs to: the nearest directory from it upwards that holds a repository.
pub(super) fn project(directory: &Path) -> Option<PathBuf> {
    let root = directory.ancestors().find(|ancestor| ancestor.join(".git").exists())?;
    Some(root.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_parts_leave_no_dash() {
        assert_eq!(window_title("alpha", "", "vim"), "Unterm — alpha — vim");
        assert_eq!(window_title("", "", ""), "Unterm");
        assert_eq!(window_title("alpha", "unterm", "zsh"), "Unterm — alpha — unterm — zsh");
    }
}
