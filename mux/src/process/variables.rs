//! Variables that a pane's shells set before their next command. The shell integration reads them from files that only
//! their owner can access, so nothing is typed into the shell.
//!
//! Owns the files of one pane, one file per shell language, and removes them with the pane. If the process is killed,
//! the next start removes its files. Each change has a number. A shell applies only changes with a higher number than
//! its last one (`UNTERM_VARIABLES_SEEN`), so later changes by the user stay. Never inspects the shells.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use crate::{lock::Mutex, private, quote};

/// The name of the folder, inside the scripts' folder.
const FOLDER: &str = "variables";
/// A function that writes changes as a script.
type Write = fn(&[Change]) -> String;
/// The shell languages, each with the extension of its file and the function that writes it.
const LANGUAGES: [(&str, Write); 2] = [("sh", posix), ("fish", fish)];

/// The variables of one pane.
#[derive(Debug)]
pub(crate) struct Variables {
    /// The path of the files without extension, as in `UNTERM_VARIABLES`.
    base: PathBuf,
    changes: Mutex<Vec<Change>>,
}

/// The last change of a variable.
#[derive(Clone, Debug)]
struct Change {
    number: u64,
    name: String,
    /// The new value. `None`: the variable is unset.
    value: Option<String>,
}

impl Variables {
    /// The variables for one more pane. `folder` is the scripts' folder. Creates no file.
    pub(crate) fn new(folder: &Path) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}-{count}", std::process::id());
        Self { base: folder.join(FOLDER).join(name), changes: Mutex::default() }
    }

    /// Path of the files without extension.
    pub(crate) fn base(&self) -> &Path {
        &self.base
    }

    /// Sets a variable, or unsets it.
    pub(crate) fn set(&self, name: &str, value: Option<&str>) -> io::Result<()> {
        // Hold the lock while the files are written, so that concurrent changes keep their order.
        let mut kept = self.changes.lock();
        let number = kept.last().map_or(1, |last| last.number + 1);
        let mut changes = kept.clone();
        changes.retain(|change| change.name != name);
        changes.push(Change { number, name: name.to_owned(), value: value.map(str::to_owned) });
        private::create_folder(self.base.parent().unwrap_or(Path::new("/")))?;
        for (ending, text) in LANGUAGES {
            let text = text(&changes);
            private::replace(&self.base.with_extension(ending), |file| {
                file.write_all(text.as_bytes())
            })?;
        }
        *kept = changes;
        Ok(())
    }

    /// The last change of a variable. `Some(None)` if it was unset, and `None` if it was never changed.
    pub(crate) fn get(&self, name: &str) -> Option<Option<String>> {
        let changes = self.changes.lock();
        changes.iter().find(|change| change.name == name).map(|change| change.value.clone())
    }

    /// The variables that are set.
    pub(crate) fn all(&self) -> Vec<(String, String)> {
        let changes = self.changes.lock();
        let set = changes.iter().filter_map(|c| Some((c.name.clone(), c.value.clone()?)));
        set.collect()
    }
}

impl Drop for Variables {
    fn drop(&mut self) {
        if !self.changes.get_mut().is_empty() {
            for (ending, _) in LANGUAGES {
                let _ = fs::remove_file(self.base.with_extension(ending));
            }
        }
    }
}

/// Removes the files of processes that have ended. `folder` is the scripts' folder.
pub(super) fn clean(folder: &Path) {
    clean_folder(&folder.join(FOLDER));
}

/// Removes files whose names begin with the id of an ended process and a dash.
pub(super) fn clean_folder(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|name| name.split('-').next()?.parse::<i32>().ok());
        let is_gone = owner.and_then(rustix::process::Pid::from_raw).is_some_and(|owner| {
            rustix::process::test_kill_process(owner) == Err(rustix::io::Errno::SRCH)
        });
        if is_gone {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether every shell accepts this name for a variable (POSIX, "Name").
pub(crate) fn is_name(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.bytes().all(is_part) && name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit())
}

/// Writes changes as a script for bash and zsh.
fn posix(changes: &[Change]) -> String {
    script(
        changes,
        |change| {
            let Change { number, name, value } = change;
            let what = match value {
                Some(value) => format!("builtin export {name}={}", quote::posix(value)),
                None => format!("builtin unset -v {name}"),
            };
            format!("if ((${{UNTERM_VARIABLES_SEEN:-0}} < {number})); then {what}; fi")
        },
        |last| format!("builtin export UNTERM_VARIABLES_SEEN={last}"),
    )
}

fn fish(changes: &[Change]) -> String {
    let start = "set -q UNTERM_VARIABLES_SEEN; or set -gx UNTERM_VARIABLES_SEEN 0\n";
    start.to_owned()
        + &script(
            changes,
            |change| {
                let Change { number, name, value } = change;
                let what = match value {
                    Some(value) => format!("set -gx {name} {}", quote::fish(value)),
                    None => format!("set -e {name}"),
                };
                format!("test \"$UNTERM_VARIABLES_SEEN\" -lt {number}; and {what}")
            },
            |last| format!("set -gx UNTERM_VARIABLES_SEEN {last}"),
        )
}

fn script(
    changes: &[Change],
    line: impl Fn(&Change) -> String,
    seen: impl Fn(u64) -> String,
) -> String {
    let last = changes.last().map_or(0, |change| change.number);
    let lines = changes.iter().map(line).chain([seen(last)]);
    lines.map(|line| line + "\n").collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn files_are_their_owners_and_go_with_the_pane() {
        let folder = tempfile::tempdir().unwrap();
        let variables = Variables::new(folder.path());
        let file = variables.base().with_extension("sh");
        assert!(!file.exists());
        variables.set("A", Some("it's")).unwrap();
        variables.set("B", None).unwrap();
        variables.set("A", Some("2")).unwrap();
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(
            fs::read_to_string(&file).unwrap(),
            "if ((${UNTERM_VARIABLES_SEEN:-0} < 2)); then builtin unset -v B; fi\n\
             if ((${UNTERM_VARIABLES_SEEN:-0} < 3)); then builtin export A='2'; fi\n\
             builtin export UNTERM_VARIABLES_SEEN=3\n"
        );
        assert_eq!(variables.get("A"), Some(Some("2".to_owned())));
        assert_eq!(variables.get("B"), Some(None));
        assert_eq!(variables.get("C"), None);
        assert_eq!(variables.all(), [("A".to_owned(), "2".to_owned())]);
        drop(variables);
        assert!(!file.exists());
    }

    #[test]
    fn files_of_killed_processes_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let ours = Variables::new(folder.path());
        ours.set("A", Some("1")).unwrap();
        // A number larger than any process id (on Linux at most 2^22).
        let left = folder.path().join(FOLDER).join("99999999-0.sh");
        fs::write(&left, "").unwrap();
        clean(folder.path());
        assert!(!left.exists());
        assert!(ours.base().with_extension("sh").exists());
    }

    #[test]
    fn names_are_those_of_posix() {
        for name in ["A", "_a1", "PATH"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "1A", "A-B", "A B", "é", "A;"] {
            assert!(!is_name(name), "{name:?}");
        }
    }
}
