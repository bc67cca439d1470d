//! Limits on pictures that calls request: the number of pictures that are taken at the same time, and the number of
//! files that are kept.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The end of the names of files that calls create. The user's own pictures are in the same folder, and are never
/// deleted.
const MADE_BY_CALL: &str = "_call.png";
/// The maximum number of files in a folder, and their maximum total size in bytes. The oldest files are deleted first.
const LIMITS: Limits = Limits { files: 100, bytes: 256 << 20 };
/// The maximum number of pictures of sessions that are rendered at the same time.
const MOST_PAINTED: usize = 2;

/// A permit to take a picture. Dropping it returns the permit.
pub type Turn = OwnedSemaphorePermit;

/// The permits. They are few, because each holder blocks one of the few threads for files and programs.
pub struct Pictures {
    painting: Arc<Semaphore>,
    display: Arc<Semaphore>,
    selection: Arc<Semaphore>,
    clipboard: Arc<Semaphore>,
}

impl Default for Pictures {
    fn default() -> Self {
        let turns = |count| Arc::new(Semaphore::new(count));
        Self {
            painting: turns(MOST_PAINTED),
            display: turns(1),
            selection: turns(1),
            clipboard: turns(1),
        }
    }
}

impl Pictures {
    /// Waits for a permit to render sessions.
    pub async fn painting(&self) -> Option<Turn> {
        self.painting.clone().acquire_owned().await.ok()
    }

    /// Waits for a permit to take a picture of the display.
    pub async fn display(&self) -> Option<Turn> {
        self.display.clone().acquire_owned().await.ok()
    }

    /// Waits for a permit to read the clipboard.
    pub async fn clipboard(&self) -> Option<Turn> {
        self.clipboard.clone().acquire_owned().await.ok()
    }

    /// A permit to let the user select a region. `None` while another selection is under way.
    pub fn selection(&self) -> Option<Turn> {
        self.selection.clone().try_acquire_owned().ok()
    }
}

/// The name of a file that a call creates.
pub fn file_name(kind: &str, stamp: &str) -> String {
    format!("{kind}_{stamp}{MADE_BY_CALL}")
}

#[derive(Clone, Copy)]
struct Limits {
    files: usize,
    bytes: u64,
}

/// If a folder contains too many files that calls created, deletes the oldest files. Never deletes `newest`.
pub fn prune_made_by_calls(folder: &Path, newest: &Path) {
    prune_logged(folder, newest, |name| name.ends_with(MADE_BY_CALL));
}

/// Deletes the oldest pictures like `prune_made_by_calls`, in a folder where calls created all of them.
pub fn prune_all(folder: &Path, newest: &Path) {
    prune_logged(folder, newest, |name| name.ends_with(".png"));
}

fn prune_logged(folder: &Path, newest: &Path, is_prunable: impl Fn(&str) -> bool) {
    if let Err(error) = prune(folder, newest, is_prunable, LIMITS) {
        tracing::warn!(folder = %folder.display(), %error, "old pictures can't be deleted");
    }
}

fn prune(
    folder: &Path,
    newest: &Path,
    is_prunable: impl Fn(&str) -> bool,
    limits: Limits,
) -> io::Result<()> {
    let mut files: Vec<(SystemTime, PathBuf, u64)> = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // This is the metadata of the entry itself and not of a link's target, because Unterm's pictures are never
        // links.
        let Ok(metadata) = entry.metadata() else { continue };
        if metadata.is_file() && entry.file_name().to_str().is_some_and(&is_prunable) {
            files.push((metadata.modified()?, entry.path(), metadata.len()));
        }
    }
    files.sort();
    let (mut count, mut bytes) = (files.len(), files.iter().map(|(.., size)| size).sum::<u64>());
    for (_, path, size) in files.iter().filter(|(_, path, _)| path != newest) {
        if count <= limits.files && bytes <= limits.bytes {
            break;
        }
        match fs::remove_file(path) {
            // Another call has already deleted the file.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            removed => removed?,
        }
        (count, bytes) = (count - 1, bytes - size);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Writes a file whose modification time is `seconds` after a fixed start.
    fn file(folder: &Path, name: &str, length: usize, seconds: u64) -> PathBuf {
        let path = folder.join(name);
        fs::write(&path, vec![0; length]).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000 + seconds);
        fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        path
    }

    fn names(folder: &Path) -> Vec<String> {
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string();
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|entry| name(entry).unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn the_oldest_pictures_of_calls_are_deleted_first() {
        let folder = tempfile::tempdir().unwrap();
        let made = |name: &str| name.ends_with(MADE_BY_CALL);
        file(folder.path(), "screen_0.png", 500, 0);
        let outside = file(folder.path(), "elsewhere", 5000, 0);
        std::os::unix::fs::symlink(&outside, folder.path().join("screen_1_call.png")).unwrap();
        for at in 2..=5 {
            file(folder.path(), &file_name("window", &at.to_string()), 10, at);
        }
        let newest = file(folder.path(), &file_name("screen", "0"), 10, 1);
        let limits = Limits { files: 3, bytes: 1000 };
        prune(folder.path(), &newest, made, limits).unwrap();
        let kept = [
            "elsewhere",
            "screen_0.png",
            "screen_0_call.png",
            "screen_1_call.png",
            "window_4_call.png",
            "window_5_call.png",
        ];
        assert_eq!(names(folder.path()), kept, "a call's newest stays, though its time is older");
        prune(folder.path(), &newest, made, Limits { files: 3, bytes: 20 }).unwrap();
        assert!(!names(folder.path()).contains(&"window_4_call.png".to_owned()));
        // The newest file is kept even if it alone exceeds the limits, because its caller has received its path.
        prune(folder.path(), &newest, made, Limits { files: 0, bytes: 0 }).unwrap();
        assert_eq!(names(folder.path()), &kept[..4]);
    }
}
