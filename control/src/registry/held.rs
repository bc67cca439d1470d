//! If a client started an instance, keeps that instance running as long as it has clients.
//!
//! Clients hold a shared lock on `held/<port>` under `~/.unterm`. The instance takes the exclusive lock before it ends.
//! A client takes its lock before it connects. If the instance is ending, the lock fails and the client looks for
//! another instance. The system releases the lock of a killed client. Instances that run until the user closes them
//! have no such file.

use std::{
    fs::{self, File},
    io::{self, ErrorKind},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use rustix::fs::{FlockOperation, flock};
use unterm_mux::private;

/// The instance's side of the lock.
pub struct Keeper(File);

impl Keeper {
    /// Creates the lock file of the instance that listens on this port. Clients can lock it from now on.
    ///
    /// # Errors
    /// The file can't be created.
    pub fn new(home: &Path, port: u16) -> io::Result<Self> {
        let path = path(home, port);
        private::create_folder(path.parent().unwrap_or(home))?;
        // If a killed instance left its file, the file is reused.
        Ok(Self(private::open_or_create(&path)?))
    }

    /// Whether no client holds the lock. If true, no client can get the lock as long as this value exists.
    pub fn is_last(&self) -> bool {
        !matches!(
            locked(&self.0, FlockOperation::NonBlockingLockExclusive),
            Err(rustix::io::Errno::WOULDBLOCK)
        )
    }

    /// Waits until no client holds the lock. After that, no client can get the lock as long as this value exists.
    ///
    /// # Errors
    /// The system's error.
    pub fn wait(&self) -> io::Result<()> {
        Ok(locked(&self.0, FlockOperation::LockExclusive)?)
    }
}

/// A client's side of the lock. The instance keeps running as long as this value exists.
pub struct Hold {
    _file: File,
}

/// Keeps the instance that listens on this port running. `None` if that instance runs until the user closes it.
///
/// # Errors
/// The instance is ending (`WouldBlock`), or the system's error.
pub fn hold(home: &Path, port: u16) -> io::Result<Option<Hold>> {
    loop {
        let file = match private::open_of_anyone(&path(home, port)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        locked(&file, FlockOperation::NonBlockingLockShared)?;
        // If the file was deleted, its instance has ended, and another instance may have bound the port. So open the
        // file again.
        if file.metadata()?.nlink() > 0 {
            return Ok(Some(Hold { _file: file }));
        }
    }
}

/// Removes the lock file of an instance that is ending.
pub(super) fn forget(home: &Path, port: u16) {
    let _ = fs::remove_file(path(home, port));
}

fn path(home: &Path, port: u16) -> PathBuf {
    home.join("held").join(port.to_string())
}

fn locked(file: &File, how: FlockOperation) -> rustix::io::Result<()> {
    loop {
        match flock(file, how) {
            Err(rustix::io::Errno::INTR) => {}
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instance_waits_until_no_client_holds_it() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        assert!(hold(home, 1).unwrap().is_none(), "it ends when it is told");
        let keeper = Keeper::new(home, 1).unwrap();
        let (first, second) = (hold(home, 1).unwrap(), hold(home, 1).unwrap());
        assert!(first.is_some() && second.is_some());
        assert!(!keeper.is_last());
        drop(first);
        assert!(!keeper.is_last());
        let waits = std::thread::spawn(move || keeper.wait().map(|()| keeper));
        drop(second);
        let keeper = waits.join().unwrap().unwrap();
        // The instance is ending. Clients are refused until its file is removed.
        assert_eq!(hold(home, 1).err().unwrap().kind(), ErrorKind::WouldBlock);
        forget(home, 1);
        assert!(hold(home, 1).unwrap().is_none());
        drop(keeper);
        let next = Keeper::new(home, 1).unwrap();
        assert!(next.is_last(), "nothing holds the next one");
    }
}
