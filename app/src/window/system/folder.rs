//! The purpose of a chosen folder, and how the `cd` command of each shell quotes a path.

pub(crate) mod choose;

use std::path::Path;

use unterm_mux::{Pane, PaneId, quote};

/// The purpose for which the user chooses a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Open a new tab in the directory.
    Tab,
    /// Change the working directory of a pane's shell.
    Change(PaneId),
}

impl Purpose {
    /// The title of the folder dialog, and the action that asks for a typed path instead.
    pub(crate) fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Tab => ("Open a folder in a new tab", "new_tab_in"),
            Self::Change(_) => ("Change the working directory", "change_directory_to"),
        }
    }
}

/// The keyboard input that changes the directory of a pane's shell. If the directory can't be changed, returns a
/// message with the reason.
fn change(pane: &Pane, folder: &Path) -> Result<String, String> {
    if let Some(busy) = pane.foreground().filter(|foreground| !foreground.is_root) {
        let name = busy.name.rsplit('/').next().unwrap_or_default();
        return Err(format!(
            "{name} runs in the pane; its directory can be changed when that has ended."
        ));
    }
    let shell = pane.process().program().rsplit('/').next().unwrap_or_default();
    let line = folder.to_str().and_then(|folder| cd(shell, folder));
    let line = line.ok_or_else(|| format!("{} can't be typed.", folder.display()))?;
    // Ctrl+U first clears text that the user may have typed at the prompt.
    Ok(format!("\x15{line}\r"))
}

/// The command that changes a shell's directory. Returns `None` if the path contains a control character, which the
/// shell would interpret as a key press.
fn cd(shell: &str, folder: &str) -> Option<String> {
    if folder.chars().any(char::is_control) {
        return None;
    }
    Some(match shell.trim_start_matches('-') {
        "pwsh" | "powershell" => {
            format!("Set-Location -LiteralPath {}", quote::powershell(folder))
        }
        "nu" => format!("cd \"{}\"", folder.replace('\\', "\\\\").replace('"', "\\\"")),
        "fish" => format!("cd -- {}", quote::fish(folder)),
        _ => format!("cd -- {}", quote::posix(folder)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_quoted_for_its_shell() {
        let path = r"/a b/it's $HOME\x";
        assert_eq!(cd("bash", path).unwrap(), r"cd -- '/a b/it'\''s $HOME\x'");
        assert_eq!(cd("-zsh", path).unwrap(), r"cd -- '/a b/it'\''s $HOME\x'");
        assert_eq!(cd("fish", path).unwrap(), r"cd -- '/a b/it\'s $HOME\\x'");
        assert_eq!(cd("nu", r#"/a"b\c"#).unwrap(), r#"cd "/a\"b\\c""#);
        assert_eq!(cd("pwsh", path).unwrap(), r"Set-Location -LiteralPath '/a b/it''s $HOME\x'");
        assert_eq!(cd("bash", "/a\rrm -rf x"), None);
    }
}
