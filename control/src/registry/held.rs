//! What keeps an instance that was started for a client: its clients hold it, and it ends once nobody does.
//!
//! Clients lock `held/<port>` under `~/.unterm` together (shared), the instance alone before it ends. A client holds before it
//! connects, and an instance that ends lets nobody hold any more: whoever comes then looks for another. The system gives
//! back what a killed client held. Instances that end when they are told have no such file.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, ErrorKind},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use rustix::fs::{FlockOperation, flock};
use unterm_mux::private;

/// The instance's side.
pub struct Keeper(File);

impl Keeper {
    /// Of the instance that listens on this port: clients can hold it from now on.
    ///
    /// # Errors
    /// When the file can't be made.
    pub fn new(home: &Path, port: u16) -> io::Result<Self> {
        let path = path(home, port);
        private::create_folder(path.parent().unwrap_or(home))?;
        let mut options = OpenOptions::new();
        // One that a killed instance left is as good.
        options.write(true).create(true).truncate(false).mode(0o600);
        Ok(Self(options.open(path)?))
    }

    /// Whether nobody holds it; nobody can any more then, for as long as this is kept.
    pub fn is_last(&self) -> bool {
        !matches!(
            locked(&self.0, FlockOperation::NonBlockingLockExclusive),
            Err(rustix::io::Errno::WOULDBLOCK)
        )
    }

    /// Waits until nobody holds it; nobody can any more then, for as long as this is kept.
    ///
    /// # Errors
    /// The system's.
    pub fn wait(&self) -> io::Result<()> {
        Ok(locked(&self.0, FlockOperation::LockExclusive)?)
    }
}

/// A client's side: the instance stays for as long as this is kept.
pub struct Hold {
    _file: File,
}

/// Holds the instance that listens on this port; `None`: it ends when it is told, whoever is connected.
///
/// # Errors
/// It is ending (`WouldBlock`), or the system's.
pub fn hold(home: &Path, port: u16) -> io::Result<Option<Hold>> {
    loop {
        let file = match File::open(path(home, port)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        locked(&file, FlockOperation::NonBlockingLockShared)?;
        // The instance may have ended since, and another may have come to its port.
        if file.metadata()?.nlink() > 0 {
            return Ok(Some(Hold { _file: file }));
        }
    }
}

/// The instance of this port ends: its file goes with its entry.
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
    fn an_instance_waits_for_the_last_that_holds_it() {
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
        // It is ending: whoever comes now hears so, also when its file is gone.
        assert_eq!(hold(home, 1).err().unwrap().kind(), ErrorKind::WouldBlock);
        forget(home, 1);
        assert!(hold(home, 1).unwrap().is_none());
        drop(keeper);
        let next = Keeper::new(home, 1).unwrap();
        assert!(next.is_last(), "nothing holds the next one");
    }
}
