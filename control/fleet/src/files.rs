//! Files that only their owner can read: keys and credentials.

use std::{
    fs::{self, DirBuilder, File},
    io,
    os::unix::fs::{DirBuilderExt as _, PermissionsExt as _},
    path::Path,
};

use anyhow::{Context as _, Result};
use rustix::fs::{FlockOperation, flock};
use serde::{Serialize, de::DeserializeOwned};
use unterm_control::private;

/// The maximum size of a file that is read, in bytes.
const LONGEST: u64 = 16 << 20;

/// Creates a folder that only its owner can open.
///
/// # Errors
/// The system's error, with the path.
pub fn create_folder(folder: &Path) -> Result<()> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.and_then(|()| fs::set_permissions(folder, fs::Permissions::from_mode(0o700)))
        .with_context(|| folder.display().to_string())
}

/// Writes a file that only its owner can read, in one step: a reader finds either the old text or the new text.
///
/// # Errors
/// The system's error, with the path.
pub fn write(path: &Path, text: &str) -> Result<()> {
    private::write(path, text.as_bytes()).with_context(|| path.display().to_string())
}

/// Writes a value as JSON.
///
/// # Errors
/// The system's error, with the path.
pub fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    write(path, &(serde_json::to_string_pretty(value)? + "\n"))
}

/// Reads a value from a JSON file. Returns `None` if the file does not exist.
///
/// # Errors
/// The file can't be read, or contains something else.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    let bytes = match private::read_of_anyone(path, LONGEST) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        bytes => bytes.with_context(|| path.display().to_string())?,
    };
    serde_json::from_slice(&bytes).map(Some).with_context(|| path.display().to_string())
}

/// Waits for a lock, which lasts until the returned file is closed. A child process that is just starting may hold a
/// copy of the file, and so the lock, for a moment longer.
///
/// # Errors
/// The system's error, with the path.
pub fn wait_for_lock(path: &Path) -> Result<File> {
    lock_by(path, FlockOperation::LockExclusive)
}

/// Acquires a lock without waiting, so that two processes don't use one folder. It lasts until the returned file is
/// closed.
///
/// # Errors
/// Another process holds the lock, or the file can't be opened.
pub fn lock(path: &Path) -> Result<File> {
    lock_by(path, FlockOperation::NonBlockingLockExclusive)
}

fn lock_by(path: &Path, operation: FlockOperation) -> Result<File> {
    let file = private::open_or_create(path).with_context(|| path.display().to_string())?;
    flock(&file, operation)
        .with_context(|| format!("{}: another process uses this folder", path.display()))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_users_cannot_read_the_files() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("a/b");
        create_folder(&folder).unwrap();
        let file = folder.join("key.json");
        assert_eq!(read_json::<String>(&file).unwrap(), None);
        for text in ["one", "two"] {
            write_json(&file, &text).unwrap();
            assert_eq!(read_json::<String>(&file).unwrap().as_deref(), Some(text));
        }
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&file)), (0o700, 0o600));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing else is left");
        let held = lock(&folder.join("lock")).unwrap();
        assert!(lock(&folder.join("lock")).is_err());
        drop(held);
        wait_for_lock(&folder.join("lock")).unwrap();
    }

    #[test]
    fn a_pipe_instead_of_a_lock_file_is_an_error() {
        let home = tempfile::tempdir().unwrap();
        let pipe = home.path().join("lock");
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, kind, mode, 0).unwrap();
        // Opening the pipe in the usual way would wait for a reader.
        for lock in [lock, wait_for_lock] {
            assert!(format!("{:#}", lock(&pipe).unwrap_err()).ends_with("it is no regular file"));
        }
    }
}
