//! The preferences in force: read at the start, read again when the file changes.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Weak},
};

use notify::{
    Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher,
    event::{AccessKind, AccessMode, ModifyKind},
};
use parking_lot::Mutex;

use super::{Config, parse::parse, theme};

/// The file's name in Unterm's home directory.
pub const FILE: &str = "config.toml";

/// What a file that can't be used is answered with: a line for people, with its place.
pub type Complaint = String;

/// The preferences that a file says; without one, the defaults.
///
/// # Errors
/// A line for each problem: file, line, column, what is wrong and what would be right.
pub fn load(file: &Path, home: &Path) -> Result<Config, Vec<Complaint>> {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Config::default()),
        Err(error) => return Err(vec![format!("{}: {error}", file.display())]),
    };
    let name = file.file_name().map_or(FILE.into(), |name| name.to_string_lossy());
    parse(&text, home)
        .map_err(|problems| problems.iter().map(|problem| format!("{name}:{problem}")).collect())
}

/// The preferences of this process.
pub struct Settings {
    home: PathBuf,
    now: Mutex<Arc<Config>>,
    /// Ends with it.
    _watcher: Option<RecommendedWatcher>,
}

/// What became of a file that changed.
pub type Change = Result<Arc<Config>, Vec<Complaint>>;

impl Settings {
    /// Reads the file in `home`. A file that can't be used is complained of, and the defaults are in force.
    pub fn read(home: PathBuf) -> (Self, Vec<Complaint>) {
        let (config, complaints) = match load(&home.join(FILE), &home) {
            Ok(config) => (config, Vec::new()),
            Err(complaints) => (Config::default(), complaints),
        };
        (Self { home, now: Mutex::new(Arc::new(config)), _watcher: None }, complaints)
    }

    /// The preferences in force.
    pub fn get(&self) -> Arc<Config> {
        Arc::clone(&self.now.lock())
    }

    /// Unterm's home directory.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Watches the file, and the themes beside it, from now on: `tell` hears, on a thread of its own, of every change
    /// that says something new. A file that can't be used leaves the last good preferences in force. `beside` hears of
    /// other files in the same directory that were written.
    pub fn watch(
        mut self,
        tell: impl Fn(Change) + Send + 'static,
        beside: impl Fn(&Path) + Send + 'static,
    ) -> Arc<Self> {
        let (home, file) = (self.home.clone(), self.home.join(FILE));
        let themes = theme::folder(&home);
        Arc::new_cyclic(|this: &Weak<Self>| {
            let this = this.clone();
            let mut last = None;
            let folder = themes.clone();
            let look = move |event: notify::Result<Event>| {
                let Ok(event) = event else { return };
                let is_theme = event.paths.iter().any(|path| path.starts_with(&folder));
                if !is_written(event.kind) {
                    return;
                }
                let is_other = |path: &&PathBuf| **path != file && !path.starts_with(&folder);
                event.paths.iter().filter(is_other).for_each(|path| beside(path));
                if !(is_theme || event.paths.contains(&file)) {
                    return;
                }
                let Some(settings) = this.upgrade() else { return };
                let read = load(&file, &settings.home);
                if !is_theme && last.as_ref() == Some(&read) {
                    return;
                }
                last = Some(read.clone());
                tell(read.map(|config| {
                    let config = Arc::new(config);
                    *settings.now.lock() = Arc::clone(&config);
                    config
                }));
            };
            self._watcher = start(&home, &themes, look)
                .map_err(|error| {
                    tracing::warn!("changes in {} are not noticed: {error}", home.display());
                })
                .ok();
            self
        })
    }
}

/// Whether an event means that a file has its new contents: not that it was read, or is being written.
fn is_written(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(access) => access == AccessKind::Close(AccessMode::Write),
        EventKind::Modify(ModifyKind::Name(_)) | EventKind::Remove(_) => true,
        // Where a close is not told, these are all there is.
        _ => !cfg!(target_os = "linux"),
    }
}

/// Watches the two directories, since editors replace files; makes them where they are missing.
fn start(
    home: &Path,
    themes: &Path,
    look: impl FnMut(notify::Result<Event>) + Send + 'static,
) -> notify::Result<RecommendedWatcher> {
    unterm_mux::private::create_folder(themes)?;
    let mut watcher = notify::recommended_watcher(look)?;
    watcher.watch(home, RecursiveMode::NonRecursive)?;
    watcher.watch(themes, RecursiveMode::NonRecursive)?;
    Ok(watcher)
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, time::Duration};

    use super::*;

    const SOON: Duration = Duration::from_secs(20);

    #[test]
    fn a_change_is_told_and_a_broken_file_leaves_the_last_good_one() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join(FILE);
        std::fs::write(&file, "[font]\nsize = 10").unwrap();
        let (settings, complaints) = Settings::read(home.path().to_owned());
        assert_eq!((settings.get().font.size, complaints.len()), (10.0, 0));
        let (send, changes) = mpsc::channel();
        let settings = settings.watch(move |change| drop(send.send(change)), |_| {});

        // As editors do: a new file takes the place of the old one.
        let other = home.path().join("new");
        std::fs::write(&other, "[font]\nsize = 14").unwrap();
        std::fs::rename(&other, &file).unwrap();
        assert_eq!(changes.recv_timeout(SOON).unwrap().unwrap().font.size, 14.0);

        std::fs::write(&other, "[font]\nsice = 14").unwrap();
        std::fs::rename(&other, &file).unwrap();
        let complaints = changes.recv_timeout(SOON).unwrap().unwrap_err();
        assert_eq!(
            complaints,
            [r#"config.toml:2:1: there is no key "sice" in [font]; did you mean "size"?"#]
        );
        assert_eq!(settings.get().font.size, 14.0, "the last good one stays");

        std::fs::write(&other, "[font]\nsize = 14").unwrap();
        std::fs::rename(&other, &file).unwrap();
        assert!(changes.recv_timeout(SOON).unwrap().is_ok(), "a mended file is told as well");
    }
}
