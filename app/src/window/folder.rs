//! Lets the user choose a folder in the desktop's dialog, to open a tab there or to `cd` to it.
//!
//! Owns the dialog, and how each shell's `cd` command quotes a path.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use unterm_mux::{OnExit, Pane, PaneId, Spawn, quote};

use super::{App, errand::Done};

/// A dialog that closes sooner was never shown: `rfd` returns `None` for an error as well as for a cancelled dialog.
const GLANCE: Duration = Duration::from_millis(300);

/// What to do with the chosen directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Open a new tab there.
    Tab,
    /// Change the working directory of a pane's shell.
    Change(PaneId),
}

impl Purpose {
    /// The dialog's title, and the action that asks for a typed path instead.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Tab => ("Open a folder in a new tab", "new_tab_in"),
            Self::Change(_) => ("Change the working directory", "change_directory_to"),
        }
    }
}

impl App {
    /// Opens the desktop's folder dialog, in the background.
    pub(super) fn choose_folder(&mut self, purpose: Purpose) {
        let start = self.focused_pane().and_then(|pane| pane.cwd_path());
        let (title, _) = purpose.names();
        self.errand("folder", move || {
            let mut dialog = rfd::FileDialog::new().set_title(title);
            if let Some(start) = start {
                dialog = dialog.set_directory(start);
            }
            let asked = Instant::now();
            match dialog.pick_folder() {
                Some(folder) => Done::Folder(purpose, folder),
                None if asked.elapsed() < GLANCE => Done::NoDialog(purpose),
                None => Done::Nothing,
            }
        });
    }

    /// Asks for a typed path, because this desktop has no folder dialog.
    pub(super) fn type_folder(&mut self, purpose: Purpose) {
        self.complain(
            "folder",
            "There is no folder dialog here: no desktop portal answers, and zenity is not installed.\n\
             Type the path instead."
                .to_owned(),
        );
        let tab = self.mux.layout().active_tab().map(|tab| tab.id);
        if let Some(tab) = tab {
            self.pick_argument(purpose.names().1, "Directory", "", tab);
        }
    }

    /// Opens a tab in the chosen directory, or changes a shell to it.
    pub(super) fn use_folder(&mut self, purpose: Purpose, folder: &Path) {
        let folder = self.absolute(folder);
        if !folder.is_dir() {
            let text = format!("{} is not a directory.", folder.display());
            return self.complain("folder", text);
        }
        match purpose {
            Purpose::Tab => {
                let spawn = Spawn { cwd: Some(folder), ..Spawn::default() };
                self.report(self.mux.open_tab(spawn, None, OnExit::Close));
            }
            Purpose::Change(pane) => self.change_directory(pane, &folder),
        }
    }

    /// Resolves a typed path: `~` is the home directory; a relative path starts at the focused pane's directory.
    fn absolute(&self, path: &Path) -> PathBuf {
        let home = std::env::home_dir();
        if let (Ok(rest), Some(home)) = (path.strip_prefix("~"), home) {
            return home.join(rest);
        }
        let cwd = self.focused_pane().and_then(|pane| pane.cwd_path()).unwrap_or_default();
        cwd.join(path)
    }

    /// Types `cd` into a pane's shell, unless another program runs in the foreground.
    fn change_directory(&mut self, id: PaneId, folder: &Path) {
        let Some(pane) = self.mux.pane(id) else { return };
        match change(&pane, folder) {
            Ok(line) => self.type_bytes(&pane, line.as_bytes()),
            Err(why) => self.complain("folder", why),
        }
    }

    /// The input that changes a pane's shell to a typed path, or a message that explains why it can't.
    pub(super) fn typed_change(&self, pane: &Pane, folder: &Path) -> Result<String, String> {
        let folder = self.absolute(folder);
        match folder.is_dir() {
            true => change(pane, &folder),
            false => Err(format!("{} is not a directory.", folder.display())),
        }
    }
}

/// The input that changes a pane's shell to a directory, or a message that explains why it can't.
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
    // Ctrl+U clears the line first.
    Ok(format!("\x15{line}\r"))
}

/// The command that changes a shell to a directory; `None` if the path contains a control character, which the shell
/// would read as a key press.
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
