//! A JSON file in Unterm's home that all instances share and only its owner reads.
//!
//! Owns how it is read, again whenever it has changed, and how it is changed: under the lock that all instances take.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use parking_lot::Mutex;
use serde::{Serialize, de::DeserializeOwned};
use unterm_mux::private;

use crate::registry;

/// The longest file, in bytes: what lies there instead is not read.
const LONGEST: u64 = 4 << 20;

/// The file, as a `T`.
pub struct SharedFile<T> {
    home: PathBuf,
    name: &'static str,
    read: Mutex<(Option<Stamp>, Arc<T>)>,
}

/// Which state of the file was read: time of change, length, inode.
type Stamp = (SystemTime, u64, u64);

impl<T: Clone + Default + Serialize + DeserializeOwned> SharedFile<T> {
    /// The one of this name in a home.
    pub fn new(home: &Path, name: &'static str) -> Self {
        Self { home: home.to_owned(), name, read: Mutex::default() }
    }

    fn path(&self) -> PathBuf {
        self.home.join(self.name)
    }

    /// What it says now; one that is not there says nothing.
    ///
    /// # Errors
    /// Why it can't be read; for people.
    fn read(&self) -> Result<T, String> {
        let path = self.path();
        let failed = |why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
        let text = match private::read(&path, LONGEST) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(T::default()),
            Err(error) => return Err(failed(&error)),
        };
        serde_json::from_slice(&text).map_err(|error| failed(&error))
    }

    /// What it says now. A file that can't be read is tried again each time.
    ///
    /// # Errors
    /// Its path and why it can't be read; for people.
    pub fn get(&self) -> Result<Arc<T>, String> {
        let stamp = fs::metadata(self.path()).ok().and_then(|metadata| {
            let inode = std::os::unix::fs::MetadataExt::ino(&metadata);
            Some((metadata.modified().ok()?, metadata.len(), inode))
        });
        let mut read = self.read.lock();
        if stamp.is_none() || read.0 != stamp {
            // Until it is read, it must not count as read.
            read.0 = None;
            *read = (stamp, Arc::new(self.read()?));
        }
        Ok(read.1.clone())
    }

    /// Changes it, unless `change` fails or says (`false`) that it changed nothing.
    ///
    /// # Errors
    /// That of `change`, or why the file can't be read or written; for people. What can't be read is not written over.
    pub fn change<R>(
        &self,
        change: impl FnOnce(&mut T) -> Result<(R, bool), String>,
    ) -> Result<R, String> {
        let failed = |error: io::Error| format!("{}: {error}", self.path().display());
        let _lock = registry::lock(&self.home).map_err(failed)?;
        let mut said = self.read()?;
        let (result, is_changed) = change(&mut said)?;
        if !is_changed {
            return Ok(result);
        }
        let text = serde_json::to_vec_pretty(&said).map_err(|error| error.to_string())?;
        if text.len() as u64 > LONGEST {
            return Err(format!("{} would be too long", self.path().display()));
        }
        private::replace(&self.path(), |file| io::Write::write_all(file, &text)).map_err(failed)?;
        // Two changes within a tick of the file's clock look the same.
        *self.read.lock() = (None, Arc::default());
        Ok(result)
    }
}
