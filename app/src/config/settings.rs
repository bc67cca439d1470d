//! The preferences in force. They are read at startup, and again when the configuration file changes.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Weak},
};

use notify::{
    Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher,
    event::{AccessKind, AccessMode, ModifyKind},
};
use parking_lot::Mutex;
use unterm_mux::private;

use super::{
    Config,
    parse::{self, text},
    theme,
};

/// The name of the configuration file in Unterm's home directory.
pub const FILE: &str = "config.toml";
/// The maximum size of the configuration file, in bytes.
pub(super) const LONGEST: u64 = 4 << 20;

/// A problem in the configuration file and its position, as a line for the user.
pub type Complaint = String;

/// Reads the preferences from a file. If the file is missing, returns the defaults.
///
/// # Errors
/// Returns a line for each problem: the file, line and column, what is wrong, and what would be right.
pub fn load(file: &Path, home: &Path) -> Result<Config, Vec<Complaint>> {
    let (config, complaints) = read(file, home);
    if complaints.is_empty() { Ok(config) } else { Err(complaints) }
}

/// Reads the preferences like [`load`], but uses the default for each setting that is not valid. Also returns the
/// problems.
fn read(file: &Path, home: &Path) -> (Config, Vec<Complaint>) {
    let bytes = match private::read_of_anyone(file, LONGEST) {
        Ok(bytes) => bytes,
        Err(error) => {
            let is_missing = error.kind() == std::io::ErrorKind::NotFound;
            let complaint = (!is_missing).then(|| format!("{}: {error}", file.display()));
            return (Config::default(), complaint.into_iter().collect());
        }
    };
    let name = file.file_name().map_or(FILE.into(), |name| name.to_string_lossy());
    let (config, problems) = match text(&bytes) {
        Ok(text) => parse::read(text, home),
        Err(problems) => (Config::default(), problems),
    };
    (config, problems.iter().map(|problem| format!("{name}:{problem}")).collect())
}

/// The preferences of this process, and the watcher of their file.
pub struct Settings {
    home: PathBuf,
    /// The profile that is applied to the preferences of the file.
    profile: Option<String>,
    /// Settings from the command line, which override settings of the file.
    options: Vec<String>,
    now: Mutex<Arc<Config>>,
    /// The watcher of the file, until it is dropped. Its callbacks must never lock this mutex, because that would
    /// deadlock.
    watcher: Mutex<Option<RecommendedWatcher>>,
    /// The target of the file, if the file was a symbolic link when last checked.
    target: Mutex<Option<PathBuf>>,
}

/// The preferences after a change of the file, or the problems in the file.
pub type Change = Result<Arc<Config>, Vec<Complaint>>;

impl Settings {
    /// Reads the configuration file in `home`. Settings that are not valid get their defaults. Also returns the
    /// problems.
    pub fn read(home: PathBuf) -> (Self, Vec<Complaint>) {
        Self::read_with(home, None, &[])
    }

    /// Reads the file like [`Settings::read`], and applies a profile of the file and settings from the command line.
    pub fn read_with(
        home: PathBuf,
        profile: Option<&str>,
        options: &[String],
    ) -> (Self, Vec<Complaint>) {
        let (mut config, mut complaints) = read(&home.join(FILE), &home);
        if let Some(name) = profile {
            match config.clone().with_profile(name) {
                Ok(changed) => config = changed,
                Err(why) => complaints.push(why),
            }
        }
        match with_options(config.clone(), options, &home) {
            Ok(changed) => config = changed,
            Err(why) => complaints.push(why),
        }
        let (now, profile) = (Mutex::new(Arc::new(config)), profile.map(str::to_owned));
        let (watcher, target, options) = (Mutex::default(), Mutex::default(), options.to_vec());
        (Self { home, profile, options, now, watcher, target }, complaints)
    }

    /// The preferences in force.
    pub fn get(&self) -> Arc<Config> {
        Arc::clone(&self.now.lock())
    }

    /// Unterm's home directory.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Starts to watch the file and the themes. Calls `report` on another thread whenever settings, themes or problems
    /// change. If the file has problems, the previous preferences stay in force. Calls `beside` for each other file
    /// that is written in the same directory, or in its folder of instances.
    pub fn watch(
        mut self,
        report: impl Fn(Change) + Send + 'static,
        beside: impl Fn(&Path) + Send + 'static,
    ) -> Arc<Self> {
        let (home, file) = (self.home.clone(), self.home.join(FILE));
        let themes = theme::folder(&home);
        let instances = unterm_control::client::instances_folder(&home);
        let settings = Arc::new_cyclic(|this: &Weak<Self>| {
            let this = this.clone();
            let reader = Arc::new(Mutex::new(Reader { last: None, report }));
            let folder = themes.clone();
            let look = move |event: notify::Result<Event>| {
                let Some((event, settings)) = event.ok().zip(this.upgrade()) else { return };
                if !is_written(&event) {
                    return;
                }
                let target = settings.target.lock().clone();
                let is_file = |path: &Path| path == file || Some(path) == target.as_deref();
                let is_theme = event.paths.iter().any(|path| path.starts_with(&folder));
                let is_other = |path: &&PathBuf| {
                    !is_file(path) && !path.starts_with(&folder) && path.starts_with(&settings.home)
                };
                event.paths.iter().filter(is_other).for_each(|path| beside(path));
                if !(is_theme || event.paths.iter().any(|path| is_file(path))) {
                    return;
                }
                if target_of(&settings.home) == target {
                    return reader.lock().read(&settings, is_theme);
                }
                let reader = Arc::clone(&reader);
                let follow = move || {
                    settings.follow_link();
                    reader.lock().read(&settings, is_theme);
                };
                // The watcher waits until this callback ends, so its paths must be changed on another thread.
                if let Err(error) =
                    std::thread::Builder::new().name("settings link".to_owned()).spawn(follow)
                {
                    tracing::warn!("where {FILE} is a link to is not watched: {error}");
                }
            };
            let watcher = start(&home, &[&themes, &instances], look).map_err(|error| {
                tracing::warn!("changes in {} are not noticed: {error}", home.display());
            });
            *self.watcher.get_mut() = watcher.ok();
            self
        });
        settings.follow_link();
        settings
    }

    /// If the file is a symbolic link, for example to a dotfiles folder, watches the directory of its target. Stops
    /// watching the directory of the previous target.
    fn follow_link(&self) {
        let elsewhere = |target: &Option<PathBuf>| {
            let folder = target.as_ref()?.parent()?;
            (folder != self.home).then(|| folder.to_owned())
        };
        let mut watcher = self.watcher.lock();
        let Some(watcher) = watcher.as_mut() else { return };
        // Read the target while holding the lock, so that concurrent calls run one after the other.
        let target = target_of(&self.home);
        let now = elsewhere(&target);
        let before = elsewhere(&std::mem::replace(&mut *self.target.lock(), target));
        if now == before {
            return;
        }
        if let Some(before) = before {
            // This fails if the directory was removed. Ignore the error.
            let _ = watcher.unwatch(&before);
        }
        if let Some(now) = now
            && let Err(error) = watcher.watch(&now, RecursiveMode::NonRecursive)
        {
            tracing::warn!("changes in {} are not noticed: {error}", now.display());
        }
    }
}

/// Reads the file each time it may have changed.
struct Reader<T> {
    last: Option<Result<Config, Vec<Complaint>>>,
    report: T,
}

impl<T: Fn(Change)> Reader<T> {
    /// Reads the file. Calls `report` if settings or problems changed, or if `is_theme` is true because a theme may
    /// have changed.
    fn read(&mut self, settings: &Settings, is_theme: bool) {
        let read =
            load(&settings.home.join(FILE), &settings.home).and_then(|config| {
                match &settings.profile {
                    Some(name) => config.with_profile(name).map_err(|why| vec![why]),
                    None => Ok(config),
                }
            });
        let read = read.and_then(|config| {
            with_options(config, &settings.options, &settings.home).map_err(|why| vec![why])
        });
        if !is_theme && self.last.as_ref() == Some(&read) {
            return;
        }
        self.last = Some(read.clone());
        (self.report)(read.map(|config| {
            let config = Arc::new(config);
            *settings.now.lock() = Arc::clone(&config);
            config
        }));
    }
}

/// Applies settings from the command line to the preferences.
fn with_options(config: Config, options: &[String], home: &Path) -> Result<Config, Complaint> {
    options.iter().try_fold(config, |config, option| {
        config.with_option(option, home).map_err(|why| format!("-o {option}: {why}"))
    })
}

/// The target of the file in the form in which the watcher reports paths. `None` if the file is not a symbolic link.
fn target_of(home: &Path) -> Option<PathBuf> {
    let file = home.join(FILE);
    let target = file.is_symlink().then(|| file.canonicalize().ok())??;
    let is_beside = home.canonicalize().is_ok_and(|home| target.parent() == Some(&*home));
    if is_beside { Some(home.join(target.file_name()?)) } else { Some(target) }
}

/// Whether an event means that a file now has its complete new contents. Events for reading, or for a write that is
/// not finished, return false.
fn is_written(event: &Event) -> bool {
    match event.kind {
        EventKind::Access(access) => access == AccessKind::Close(AccessMode::Write),
        EventKind::Modify(ModifyKind::Name(_)) | EventKind::Remove(_) => true,
        // A symbolic link is complete as soon as it is created.
        EventKind::Create(_) if event.paths.iter().any(|path| path.is_symlink()) => true,
        // Only Linux reports when a file is closed after writing. On other systems, every event counts.
        _ => !cfg!(target_os = "linux"),
    }
}

/// Starts to watch a directory and folders in it. Watches folders instead of files, because editors replace files.
/// Creates missing directories.
fn start(
    home: &Path,
    folders: &[&Path],
    look: impl FnMut(notify::Result<Event>) + Send + 'static,
) -> notify::Result<RecommendedWatcher> {
    folders.iter().try_for_each(|folder| unterm_mux::private::create_folder(folder))?;
    let mut watcher = notify::recommended_watcher(look)?;
    watcher.watch(home, RecursiveMode::NonRecursive)?;
    for folder in folders {
        watcher.watch(folder, RecursiveMode::NonRecursive)?;
    }
    Ok(watcher)
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, time::Duration};

    use super::*;

    const SOON: Duration = Duration::from_secs(20);

    #[test]
    fn an_invalid_file_keeps_the_last_valid_settings() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join(FILE);
        std::fs::write(&file, "[font]\nsize = 10").unwrap();
        let (settings, complaints) = Settings::read(home.path().to_owned());
        assert_eq!((settings.get().font.size, complaints.len()), (10.0, 0));
        let (send, changes) = mpsc::channel();
        let settings = settings.watch(move |change| drop(send.send(change)), |_| {});

        // Replace the file, as editors do when they save.
        let other = home.path().join("new");
        std::fs::write(&other, "[font]\nsize = 14").unwrap();
        std::fs::rename(&other, &file).unwrap();
        assert_eq!(changes.recv_timeout(SOON).unwrap().unwrap().font.size, 14.0);

        std::fs::write(&other, "[font]\nsice = 14").unwrap();
        std::fs::rename(&other, &file).unwrap();
        let complaints = changes.recv_timeout(SOON).unwrap().unwrap_err();
        assert_eq!(
            complaints,
            [r#"config.toml:2:1: unknown key "sice" in [font]; did you mean "size"?"#]
        );
        assert_eq!(settings.get().font.size, 14.0, "the last good one stays");

        std::fs::write(&other, "[font]\nsize = 14").unwrap();
        std::fs::rename(&other, &file).unwrap();
        assert!(changes.recv_timeout(SOON).unwrap().is_ok(), "a mended file is told as well");
    }

    #[test]
    fn command_line_options_override_the_file_after_each_change() {
        let home = tempfile::tempdir().unwrap();
        save(home.path(), FILE, "[font]\nsize = 10\n[cursor]\nblink = false\n");
        let options = ["font.size=20".to_owned()];
        let (settings, complaints) = Settings::read_with(home.path().to_owned(), None, &options);
        assert_eq!((settings.get().font.size, complaints.len()), (20.0, 0));
        let (send, changes) = mpsc::channel();
        let _settings = settings.watch(move |change| drop(send.send(change)), |_| {});
        save(home.path(), FILE, "[font]\nsize = 11\n[cursor]\nblink = true\n");
        let changed = changes.recv_timeout(SOON).unwrap().unwrap();
        assert_eq!((changed.font.size, changed.cursor.blink), (20.0, true));
    }

    /// Writes a file by replacing it, as editors do.
    fn save(folder: &Path, name: &str, text: &str) {
        std::fs::write(folder.join("new"), text).unwrap();
        std::fs::rename(folder.join("new"), folder.join(name)).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_is_a_link_is_followed_to_where_it_leads() {
        use std::os::unix::fs::symlink;

        let [home, first, second] = std::array::from_fn(|_| tempfile::tempdir().unwrap());
        save(first.path(), "unterm.toml", "[font]\nsize = 10");
        save(second.path(), "unterm.toml", "[font]\nsize = 11");
        let (settings, _) = Settings::read(home.path().to_owned());
        let (send, changes) = mpsc::channel();
        let beside = send.clone();
        let settings = settings
            .watch(move |change| drop(send.send(Some(change))), move |_| drop(beside.send(None)));
        let changed_size = || match changes.recv_timeout(SOON).unwrap() {
            Some(change) => change.unwrap().font.size,
            None => panic!("no file of the home directory was written"),
        };

        symlink(first.path().join("unterm.toml"), home.path().join(FILE)).unwrap();
        assert_eq!(changed_size(), 10.0, "a link that is new");
        save(first.path(), "unterm.toml", "[font]\nsize = 13");
        assert_eq!(changed_size(), 13.0, "the file that it leads to");

        std::fs::remove_file(home.path().join(FILE)).unwrap();
        assert_eq!(changed_size(), Config::default().font.size, "no link any more");
        symlink(second.path().join("unterm.toml"), home.path().join(FILE)).unwrap();
        assert_eq!(changed_size(), 11.0, "one to another place");
        save(first.path(), "unterm.toml", "[font]\nsize = 15");
        save(second.path(), "unterm.toml", "[font]\nsize = 14");
        assert_eq!(changed_size(), 14.0, "that place alone is watched");
        assert_eq!(settings.get().font.size, 14.0);
    }

    #[test]
    fn a_start_takes_what_is_right_of_a_file_that_has_an_error() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join(FILE), "[font]\nsize = 10\nsice = 14\n").unwrap();
        let (settings, complaints) = Settings::read(home.path().to_owned());
        assert_eq!(settings.get().font.size, 10.0);
        assert_eq!(
            complaints,
            [r#"config.toml:3:1: unknown key "sice" in [font]; did you mean "size"?"#]
        );
    }

    #[test]
    fn a_file_that_is_not_text_is_reported_with_its_position() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join(FILE);
        std::fs::write(&file, b"[font]\nfamily = [\"\xc3\xa9\xe9\"]").unwrap();
        let complaints = load(&file, home.path()).unwrap_err();
        assert!(complaints[0].starts_with("config.toml:2:13: "), "{complaints:?}");
        assert!(complaints[0].contains("save it as UTF-8"), "{complaints:?}");
    }
}
