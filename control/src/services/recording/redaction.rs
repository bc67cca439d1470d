//! The redaction of recordings, for what else is kept of calls.

use std::{
    path::{Path, PathBuf},
    time::SystemTime,
};

use parking_lot::Mutex;

use super::{
    record::Outcome,
    settings::{self, Settings},
};

/// A file's inode and time of change; `None`: there is no file.
type FileState = Option<(u64, SystemTime)>;

/// The redaction that `recording.json` sets, read again whenever the file has changed.
pub struct SharedRedaction {
    home: PathBuf,
    /// The rules, or why there are none, and the state of the file they were read from.
    read: Mutex<Option<(FileState, Outcome<crate::services::redact::Redaction>)>>,
}

impl SharedRedaction {
    /// By the file of a home.
    pub fn new(home: &Path) -> Self {
        Self { home: home.to_owned(), read: Mutex::default() }
    }

    /// The text without secrets. Whole lines, so that none is cut in two. If the rules can't be read, the text is replaced by
    /// the reason.
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
