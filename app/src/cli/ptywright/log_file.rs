//! The log of ptywright servers, with one record per line: `ptywright.log` in Unterm's home directory, with mode 0600.
//!
//! All servers of a user write to the same log. Each line starts with the id of the process. Secrets are redacted, and
//! control characters are escaped. A full file is renamed to `ptywright.log.1`. Each of the two files contains at most
//! [`LONGEST`] bytes.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    sync::Mutex,
};

use rustix::fs::{FlockOperation, OFlags, flock};
use unterm_control::{escaped, ptywright::redacted};
use unterm_mux::private;

/// The maximum size of a log file, in bytes.
const LONGEST: u64 = 1 << 20;
/// The maximum length of a record, in characters.
const LONGEST_RECORD: usize = 8 << 10;
/// The default filter for the log. The environment variable `UNTERM_LOG` replaces it.
const FILTER: &str =
    "warn,unterm_control::dialect::ptywright=info,unterm_cli::ptywright=info,rmcp=off";

/// The path of the current log file.
pub fn path(home: &Path) -> PathBuf {
    home.join("ptywright.log")
}

/// The path of the previous log file, with older records.
pub fn path_before(home: &Path) -> PathBuf {
    home.join("ptywright.log.1")
}

/// Starts to log to standard error and to the file. If the file can't be opened, logs only to standard error.
pub fn start(home: &Path) {
    match LogFile::open(home) {
        Ok(file) => crate::logging::start_with(FILTER, file),
        Err(error) => {
            crate::logging::start();
            tracing::warn!(%error, path = %path(home).display(), "cannot open the log file; logging to standard error only");
        }
    }
}

/// The log file, open for writing.
struct LogFile {
    home: PathBuf,
    longest: u64,
    file: Mutex<File>,
}

impl LogFile {
    fn open(home: &Path) -> io::Result<Self> {
        private::create_folder(home)?;
        Ok(Self { home: home.to_owned(), longest: LONGEST, file: open(&path(home))?.into() })
    }

    fn add(&self, record: &[u8]) -> io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let line = line(record);
        if file.metadata()?.len() + line.len() as u64 > self.longest {
            self.rotate(&mut file)?;
        }
        // Write the line in one call, so that lines of several servers do not mix.
        file.write_all(line.as_bytes())
    }

    /// Renames a full file and opens a new file. If another server has already renamed it, only opens the new file.
    fn rotate(&self, file: &mut File) -> io::Result<()> {
        let path = path(&self.home);
        // A server may only rename the file that it has locked. Closing the file releases the lock.
        flock(&*file, FlockOperation::LockExclusive)?;
        let is_current = fs::metadata(&path).is_ok_and(|there| {
            file.metadata().is_ok_and(|own| (own.dev(), own.ino()) == (there.dev(), there.ino()))
        });
        if is_current {
            fs::rename(&path, path_before(&self.home))?;
        }
        *file = open(&path)?;
        Ok(())
    }
}

/// Opens a log file for appending.
fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags(flags.bits() as i32)
        .open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    Ok(file)
}

/// Converts a record to a line of the log.
fn line(record: &[u8]) -> String {
    let record = String::from_utf8_lossy(record);
    let start: String = record.trim_end().chars().take(LONGEST_RECORD).collect();
    let text = escaped(&redacted(&start)).replace('\n', "\\n");
    format!("{} {text}\n", std::process::id())
}

impl io::Write for &LogFile {
    /// Writes a record. Each call must contain a whole record.
    fn write(&mut self, record: &[u8]) -> io::Result<usize> {
        self.add(record)?;
        Ok(record.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl io::Write for LogFile {
    fn write(&mut self, record: &[u8]) -> io::Result<usize> {
        (&*self).write(record)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn the_log_is_private_bounded_and_shared() {
        let home = tempfile::tempdir().unwrap();
        let open = || LogFile { longest: 400, ..LogFile::open(home.path()).unwrap() };
        // Two servers write to the log.
        let (one, other) = (open(), open());
        for number in 0..50 {
            one.add(format!("one {number}\n").as_bytes()).unwrap();
            other.add(format!("other {number}\n").as_bytes()).unwrap();
        }
        let pid = std::process::id();
        let mut lines = 0;
        for path in [path(home.path()), path_before(home.path())] {
            let metadata = fs::metadata(&path).unwrap();
            assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
            assert!(metadata.len() <= 400, "{path:?}");
            let text = fs::read_to_string(&path).unwrap();
            assert!(text.lines().all(|line| line.starts_with(&format!("{pid} o"))), "{text}");
            lines += text.lines().count();
        }
        // If a server had renamed the other server's new file, the older file would not be full.
        assert!(lines > 400 / 20, "{lines}");
        let last = fs::read_to_string(path(home.path())).unwrap();
        assert!(last.ends_with(" other 49\n"), "{last}");
    }

    #[test]
    fn a_record_is_a_line_without_secrets_and_control_characters() {
        let line = line(b"failed: token=abcdefgh1234 \x1b[2J\nnext\n");
        let text = line.split_once(' ').unwrap().1;
        assert_eq!(text, "failed: token=[REDACTED] \\u{1b}[2J\\nnext\n");
    }

    #[test]
    fn no_link_is_followed() {
        let home = tempfile::tempdir().unwrap();
        symlink("/dev/null", path(home.path())).unwrap();
        assert!(LogFile::open(home.path()).is_err());
    }
}
