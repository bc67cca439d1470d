//! Applies the redaction rules of recordings to other texts that are stored, such as entries of the audit log.

use std::{
    path::{Path, PathBuf},
    time::SystemTime,
};

use parking_lot::Mutex;

use super::{
    record::MessageResult,
    settings::{self, Settings},
};

/// A file's inode and time of change. `None` if there is no file.
type FileState = Option<(u64, SystemTime)>;

/// The redaction that `recording.json` configures. The file is read again after each change.
pub struct SharedRedaction {
    home: PathBuf,
    /// The rules, or the reason why they can't be read, with the state of the file when it was read.
    read: Mutex<Option<(FileState, MessageResult<crate::services::records::redact::Redaction>)>>,
}

impl SharedRedaction {
    /// The redaction that the file in this home configures.
    pub fn new(home: &Path) -> Self {
        Self { home: home.to_owned(), read: Mutex::default() }
    }

    /// Returns the text without secrets. Pass whole lines, because a secret that is cut in half may not be found. If
    /// the rules can't be read, returns the reason instead of the text.
    pub fn apply(&self, text: &str) -> String {
        if text.is_empty() {
            return String::new();
        }
        let state = std::fs::metadata(self.home.join(settings::FILE)).ok().and_then(|metadata| {
            Some((std::os::unix::fs::MetadataExt::ino(&metadata), metadata.modified().ok()?))
        });
        let mut read = self.read.lock();
        if read.as_ref().is_some_and(|(known, _)| *known != state) {
            *read = None;
        }
        let (_, rules) = read.get_or_insert_with(|| {
            (state, Settings::read(&self.home).and_then(|settings| settings.redaction()))
        });
        match rules {
            Ok(rules) => rules.apply(text),
            Err(error) => format!("(not shown: {error})"),
        }
    }
}
