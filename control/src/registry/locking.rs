//! Locks a folder of files that several processes change.

use std::{
    fs::{File, OpenOptions},
    io::{self, ErrorKind},
    os::unix::fs::OpenOptionsExt,
    path::Path,
    sync::mpsc,
    thread,
    time::Duration,
};

use rustix::{
    fs::{FlockOperation, OFlags, flock},
    io::Errno,
};

/// Opening a FIFO with this flag does not wait for its other end.
pub(super) const NONBLOCK: i32 = OFlags::NONBLOCK.bits().cast_signed();

/// The file that is locked while files of its folder change.
pub(super) const LOCK: &str = ".lock";
/// The file that is locked while a process takes the place of an instance.
const SUCCESSION_LOCK: &str = ".succession.lock";
/// The maximum time to wait until another program releases the lock.
const PATIENCE: Duration = Duration::from_secs(10);

/// Locks a folder while its files are changed. All instances share the lock on Unterm's home. The lock is held until
/// the returned file is closed.
///
/// # Errors
/// The folder does not exist or is not writable, or another program holds the lock for more than ten seconds.
pub fn lock(folder: &Path) -> io::Result<File> {
    lock_within(folder, PATIENCE)
}

/// Locks the taking over of instances with this home. A process that takes the place of an instance holds this lock until
/// the registry names it, so that no two processes take the same place. An instance that ends does not need it.
///
/// # Errors
/// As for [`lock`].
pub fn lock_succession(home: &Path) -> io::Result<File> {
    lock_file(&home.join(SUCCESSION_LOCK), PATIENCE)
}

pub(super) fn lock_within(folder: &Path, patience: Duration) -> io::Result<File> {
    lock_file(&folder.join(LOCK), patience)
}

fn lock_file(path: &Path, patience: Duration) -> io::Result<File> {
    let mut options = OpenOptions::new();
    // NONBLOCK: opening a FIFO would otherwise wait for a reader.
    options.write(true).create(true).truncate(false).mode(0o600).custom_flags(NONBLOCK);
    let file = options.open(path)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => return Ok(file),
        Err(Errno::WOULDBLOCK | Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    // A blocking `flock` can't be interrupted by a timeout, so a separate thread waits. If it gets the lock too late,
    // sending the file fails and drops the file, which releases the lock.
    let (locked, result) = mpsc::channel();
    let wait = move || {
        let held = loop {
            match flock(&file, FlockOperation::LockExclusive) {
                Err(Errno::INTR) => {}
                held => break held,
            }
        };
        let _ = locked.send(held.map(|()| file));
    };
    thread::Builder::new().name("unterm-lock".to_owned()).spawn(wait)?;
    match result.recv_timeout(patience) {
        Ok(held) => Ok(held?),
        Err(_) => Err(io::Error::new(
            ErrorKind::TimedOut,
            format!("another program has kept it locked for {} seconds", patience.as_secs()),
        )),
    }
}
