//! A JSON file in Unterm's home. All instances share it, and only its owner can read it.
//!
//! The file is read again after each change. It is changed under a lock that all instances use.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use parking_lot::Mutex;
use serde::{Serialize, de::DeserializeOwned};
use unterm_mux::private;

use crate::{plain_words, registry};

/// The maximum size of a file that is read, in bytes.
const LONGEST: u64 = 4 << 20;

/// The file, parsed as a `T`.
pub struct SharedFile<T> {
    home: PathBuf,
    name: &'static str,
    read: Mutex<(Option<Stamp>, Arc<T>)>,
}

/// Identifies a version of the file: the modification time, the length and the inode.
type Stamp = (SystemTime, u64, u64);

impl<T: Clone + Default + Serialize + DeserializeOwned> SharedFile<T> {
    /// The file with this name in a home.
    pub fn new(home: &Path, name: &'static str) -> Self {
        Self { home: home.to_owned(), name, read: Mutex::default() }
    }

    fn path(&self) -> PathBuf {
        self.home.join(self.name)
    }

    /// Reads and parses the file. A missing file is the default value.
    ///
    /// # Errors
    /// The file can't be read or parsed. A message for users.
    fn read(&self) -> Result<T, String> {
        let path = self.path();
        let failed = |why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
        let text = match private::read(&path, LONGEST) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(T::default()),
            Err(error) => return Err(failed(&error)),
        };
        serde_json::from_slice(&text).map_err(|error| failed(&plain_words::of_json(&error)))
    }

    /// The current value. If the file could not be read, each call tries again.
    ///
    /// # Errors
    /// The file can't be read. A message for users, with the file's path.
    pub fn get(&self) -> Result<Arc<T>, String> {
        let stamp = fs::metadata(self.path()).ok().and_then(|metadata| {
            let inode = std::os::unix::fs::MetadataExt::ino(&metadata);
            Some((metadata.modified().ok()?, metadata.len(), inode))
        });
        let mut read = self.read.lock();
        if stamp.is_none() || read.0 != stamp {
            // If reading fails, the old value must not count as current.
            read.0 = None;
            *read = (stamp, Arc::new(self.read()?));
        }
        Ok(read.1.clone())
    }

    /// Changes the value and writes the file. If `change` fails, or returns `false` for "unchanged", the file is not
    /// written.
    ///
    /// # Errors
    /// `change` fails, or the file can't be read or written. A message for users. A file that can't be read is never
    /// overwritten.
    pub fn change<R>(
        &self,
        change: impl FnOnce(&mut T) -> Result<(R, bool), String>,
    ) -> Result<R, String> {
        let failed = |error: io::Error| format!("{}: {error}", self.path().display());
        let _lock = registry::lock(&self.home).map_err(failed)?;
        let mut settings = self.read()?;
        let (result, is_changed) = change(&mut settings)?;
        if !is_changed {
            return Ok(result);
        }
        let text = serde_json::to_vec_pretty(&settings).map_err(|error| error.to_string())?;
        if text.len() as u64 > LONGEST {
            return Err(format!("{} would be too long", self.path().display()));
        }
        private::write(&self.path(), &text).map_err(failed)?;
        // The cached value is dropped, because two changes within one tick of the file system's clock would have equal
        // stamps.
        *self.read.lock() = (None, Arc::default());
        Ok(result)
    }
}
