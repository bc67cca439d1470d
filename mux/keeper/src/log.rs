//! The keeper's log: a private file of bounded size.
//!
//! The keeper has no terminal, and a full disk must not end it, so a line that cannot be written is lost.

use std::{
    fs::{File, OpenOptions},
    io::Write as _,
    os::unix::fs::OpenOptionsExt as _,
    path::PathBuf,
};

use crate::exit::now;

/// The size in bytes at which the log moves to `NAME.old`, which it replaces.
const MAX_LOG: u64 = 64 * 1024;

/// The maximum length of a line, in bytes.
const MAX_LINE: usize = 1024;

/// The log of one keeper.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    file: Option<File>,
}

impl Log {
    /// Opens the log, or continues it.
    pub(crate) fn open(path: PathBuf) -> Self {
        let file = open(&path);
        Self { path, file }
    }

    /// Writes a line. `text` must contain texts of peers only in quoted form.
    pub(crate) fn line(&mut self, text: &str) {
        let is_full = |file: &File| file.metadata().is_ok_and(|file| file.len() >= MAX_LOG);
        if self.file.as_ref().is_some_and(is_full) {
            let _ = std::fs::rename(&self.path, self.path.with_extension("log.old"));
            self.file = open(&self.path);
        }
        let Some(file) = &mut self.file else { return };
        let end = text.char_indices().map(|(at, _)| at).find(|at| *at >= MAX_LINE);
        let text = &text[..end.unwrap_or(text.len())];
        let _ = file.write_all(format!("{} {text}\n", date(now() / 1000)).as_bytes());
    }
}

fn open(path: &PathBuf) -> Option<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600).custom_flags(libc::O_NOFOLLOW);
    options.open(path).ok().filter(|file| file.metadata().is_ok_and(|file| file.is_file()))
}

/// A time in seconds since 1970, as a date in UTC (RFC 3339).
fn date(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Count days from March 1 of the year 0, so that the leap day is the last day of a year.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    let year = era * 400 + year + next;
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(0), "1970-01-01T00:00:00Z");
        assert_eq!(date(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(date(1_798_761_599), "2026-12-31T23:59:59Z");
    }

    #[test]
    fn the_log_is_private_and_bounded() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keeper.log");
        let mut log = Log::open(path.clone());
        for number in 0..300 {
            log.line(&format!("{number} {}", "x".repeat(2 * MAX_LINE)));
        }
        log.line("last");
        let sizes = ["keeper.log", "keeper.log.old"].map(|name| {
            let file = folder.path().join(name).metadata().unwrap();
            assert_eq!(file.permissions().mode() & 0o777, 0o600);
            file.len()
        });
        assert!(sizes.iter().all(|size| *size <= MAX_LOG + 2 * MAX_LINE as u64), "{sizes:?}");
        assert!(std::fs::read_to_string(&path).unwrap().ends_with(" last\n"));
        // A link in place of the log is not followed.
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(Log::open(link).file.is_none());
    }
}
