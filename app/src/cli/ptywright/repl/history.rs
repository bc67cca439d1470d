//! The history of lines, stored in a file that only its owner can read.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use rustix::fs::OFlags;
use unterm_mux::private;

/// The maximum number of lines in the history.
pub const MOST: usize = 1000;
/// The maximum size of the file to read, in bytes.
const LONGEST: u64 = 4 << 20;
/// The maximum length of a line in the history, in bytes.
const LONGEST_LINE: usize = 2048;

/// The file that stores the history.
pub struct History {
    path: PathBuf,
}

impl History {
    /// Opens the history in a home directory, and returns its lines. If the file is too long, removes its oldest
    /// lines.
    pub fn load(home: &Path) -> (Self, Vec<String>) {
        let path = home.join("ptywright_history");
        let bytes = private::read(&path, LONGEST).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let all: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        let last = &all[all.len().saturating_sub(MOST)..];
        if all.len() > 2 * MOST {
            let kept: String = last.iter().map(|line| format!("{line}\n")).collect();
            // If writing fails, the file just stays long.
            let _ = private::write(&path, kept.as_bytes());
        }
        let lines = last.iter().map(|line| (*line).to_owned()).collect();
        (Self { path }, lines)
    }

    /// Adds a line to the history.
    ///
    /// # Errors
    /// Fails if the file can't be written.
    pub fn add(&self, line: &str) -> io::Result<()> {
        // Pasted line ends are stored as blanks. A line end means the same as a blank, and is not allowed inside a
        // text.
        let line = line.replace(['\n', '\r'], " ");
        if line.len() > LONGEST_LINE {
            return Ok(());
        }
        if let Some(folder) = self.path.parent() {
            private::create_folder(folder)?;
        }
        let mut file = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32)
            .open(&self.path)?;
        if !fs::metadata(&self.path)?.is_file() {
            return Err(io::Error::other("it is no regular file"));
        }
        file.write_all(format!("{line}\n").as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn lines_come_back_and_only_the_owner_reads_them() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().join("new");
        let (history, lines) = History::load(&home);
        assert!(lines.is_empty());
        history.add("session.list").unwrap();
        history.add("a\nb").unwrap();
        history.add(&"x".repeat(LONGEST_LINE + 1)).unwrap();
        assert_eq!(History::load(&home).1, ["session.list", "a b"]);
        let mode = fs::metadata(&history.path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_long_history_loses_its_oldest_lines() {
        let home = tempfile::tempdir().unwrap();
        let (history, _) = History::load(home.path());
        for number in 0..=2 * MOST {
            history.add(&number.to_string()).unwrap();
        }
        let (history, lines) = History::load(home.path());
        assert_eq!((lines.len(), lines.last().unwrap().as_str()), (MOST, "2000"));
        assert_eq!(fs::read_to_string(&history.path).unwrap().lines().count(), MOST);
        let mode = fs::metadata(&history.path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn no_link_is_followed() {
        let home = tempfile::tempdir().unwrap();
        let (history, _) = History::load(home.path());
        symlink(home.path().join("other"), &history.path).unwrap();
        assert!(history.add("x").is_err());
    }
}
