//! Directories a person chooses, in the desktop's own dialog, and what is done with them: a tab there, or `cd`.
//!
//! Owns the asking and how a path is typed to each shell.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use unterm_mux::{OnExit, Pane, PaneId, Spawn, quote};

use super::{App, errand::Done};

/// A dialog that has closed sooner than a person can act was never there: the library does not tell the two apart.
const GLANCE: Duration = Duration::from_millis(300);

/// What a chosen directory is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A new tab.
    Tab,
    /// The shell of a pane changes to it.
    Change(PaneId),
}

impl Purpose {
    /// The dialog's title, and the action that takes a typed path instead.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Tab => ("Open a folder in a new tab", "new_tab_in"),
            Self::Change(_) => ("Change the working directory", "change_directory_to"),
        }
    }
}

impl App {
    /// Asks for a directory in the desktop's dialog.
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

    /// There is no dialog on this desktop: the path is typed.
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

    /// Does with a directory what it was chosen for.
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

    /// A path as a person types it: `~` is their home, and it may be relative to the focused pane's directory.
    fn absolute(&self, path: &Path) -> PathBuf {
        let home = std::env::home_dir();
        if let (Ok(rest), Some(home)) = (path.strip_prefix("~"), home) {
            return home.join(rest);
        }
        let cwd = self.focused_pane().and_then(|pane| pane.cwd_path()).unwrap_or_default();
        cwd.join(path)
    }

    /// Types `cd` to a pane's shell, if that waits for a command.
    fn change_directory(&mut self, id: PaneId, folder: &Path) {
        let Some(pane) = self.mux.pane(id) else { return };
        match change(&pane, folder) {
            Ok(line) => self.type_bytes(&pane, line.as_bytes()),
            Err(why) => self.complain("folder", why),
        }
    }

    /// What is typed to change a pane's shell to a path, as a person types that; or why it can't be, for people.
    pub(super) fn typed_change(&self, pane: &Pane, folder: &Path) -> Result<String, String> {
        let folder = self.absolute(folder);
        match folder.is_dir() {
            true => change(pane, &folder),
            false => Err(format!("{} is not a directory.", folder.display())),
        }
    }
}

/// What is typed to change a pane's shell to a directory; or why it can't be, for people.
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
    // Ctrl+U takes away what may stand on the line already.
    Ok(format!("\x15{line}\r"))
}

/// The command that makes a shell change to a directory; `None` for one with a control character in its name, which
/// would press keys.
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
