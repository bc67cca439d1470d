//! The registry of running instances under `~/.unterm`, and this instance's entry in it.
//!
//! | file | contents |
//! |---|---|
//! | `instances/<id>.json` | a [`Record`]: one running instance, named `alpha`, `bravo`, … |
//! | `sockets/<id>.sock` | the instance's Unix socket, for its user only |
//! | `active.json` | the record of the active instance; its `id` is the pointer |
//! | `server.json` | the same record, for clients that support only one instance |
//! | `auth_token` | the active instance's token, as plain text |
//! | `held/<port>` | nothing; clients lock this file to keep an instance running ([`held`]) |
//!
//! An instance stays active until it ends. On a clean exit, it makes the oldest live instance the active one. If it
//! crashes, the other instances notice that, and one of them takes its place ([`follow_active`]).
//!
//! Directories have mode 0700 and files 0600. Files are written to a temporary file and renamed. Every change holds a
//! lock on `.lock`, so any number of instances may start and stop at once. The system releases the lock if its holder
//! dies. If an instance's entry can't be written, for example because the disk is full, the instance runs without an
//! entry.

pub mod held;
mod liveness;
mod locking;
mod names;

use std::{
    fs::{self, File, OpenOptions, Permissions},
    io::{self, ErrorKind, Write},
    os::unix::{
        fs::{OpenOptionsExt, PermissionsExt},
        net::UnixListener,
    },
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use serde::{Deserialize, Serialize};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use unterm_mux::private;

use crate::transport::unix::{self, SocketFile};
pub use liveness::{ProcessEnd, is_live, process_start};
use locking::NONBLOCK;
pub use locking::{lock, lock_succession};

/// One instance, as its file stores it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// A NATO name such as `alpha`. If all 26 names are in use, a name with a number, such as `alpha2`.
    pub id: String,
    /// The port of the TCP wire.
    pub mcp_port: u16,
    /// The port of the settings page, or 0 if the instance serves none.
    pub http_port: u16,
    /// The instance's token.
    pub auth_token: String,
    /// The process id.
    pub pid: u32,
    /// When the instance registered (RFC 3339, UTC).
    pub started_at: String,
    /// The title. By default, the title that the instance was started with, or `Unterm — <id> — <project>`.
    pub title: String,
    /// The working directory.
    pub cwd: String,
    /// The version of Unterm.
    pub version: String,
    /// The platform: `linux`, `macos` or `windows`.
    pub platform: String,
    /// When the process started, in the system's ticks since boot. It distinguishes the process from a later one with
    /// the same pid. Absent if the system does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process_start: Option<u64>,
    /// The path of the Unix socket, which serves the same protocols as the port. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket: Option<String>,
    /// Whether the instance runs without a window in place of a window that ended unexpectedly. The next window takes its
    /// place. Absent if it does not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits_for_window: bool,
}

impl Record {
    /// The instance's id and start time. The text is unique among all starts of all instances. A process that takes the
    /// place of another process has that process's text.
    pub fn start(&self) -> String {
        format!("{} {}", self.id, self.started_at)
    }

    /// Whether the instance's process is still running.
    pub fn is_live(&self) -> bool {
        liveness::is_live(self.pid, self.process_start)
    }

    /// Waits until the instance's process has ended. Returns false if it still runs after `limit`.
    pub fn wait_for_end(&self, limit: Duration) -> bool {
        liveness::wait_for_end(self.pid, limit);
        !self.is_live()
    }
}

/// Whether instances can have this name.
pub fn is_name(id: &str) -> bool {
    names::all().any(|name| name == *id)
}

/// The directory of instances and settings: `$UNTERM_HOME` or, if that is not set, `~/.unterm`.
pub fn home() -> PathBuf {
    match std::env::var_os("UNTERM_HOME") {
        Some(home) if !home.is_empty() => home.into(),
        _ => std::env::home_dir().unwrap_or_else(|| "/".into()).join(".unterm"),
    }
}

/// Reads a record from a file. `None` if there is no file, or if the file contains no record.
pub(crate) fn read(path: &Path) -> Option<Record> {
    // The read is limited, because a record has only a few hundred bytes. NONBLOCK: opening a FIFO would otherwise wait
    // for a writer.
    let file = OpenOptions::new().read(true).custom_flags(NONBLOCK).open(path).ok()?;
    serde_json::from_reader(io::BufReader::new(io::Read::take(file, 1 << 20))).ok()
}

/// The live instances, oldest first.
pub fn live(home: &Path) -> io::Result<Vec<Record>> {
    let mut records: Vec<_> = entries(home)?
        .into_iter()
        .filter_map(|(path, id)| read(&path).filter(|record| record.id == id))
        .filter(Record::is_live)
        .collect();
    records.sort_by(|a, b| (&a.started_at, &a.id).cmp(&(&b.started_at, &b.id)));
    Ok(records)
}

/// The files of instances, each with the instance's id.
fn entries(home: &Path) -> io::Result<Vec<(PathBuf, String)>> {
    let directory = match fs::read_dir(home.join("instances")) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        directory => directory?,
    };
    let mut entries = Vec::new();
    for entry in directory {
        let path = entry?.path();
        let id = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".json"));
        if let Some(id) = id.filter(|id| !id.starts_with('.')) {
            let id = id.to_owned();
            entries.push((path, id));
        }
    }
    Ok(entries)
}

/// This instance's entry. Dropping it, or [`Registration::remove`], removes the entry and makes another instance the
/// active one. If the entry could not be written, the instance still has a record in memory, with the id
/// `unregistered`, but none of the files.
pub struct Registration {
    home: PathBuf,
    /// The record. It is replaced as a whole when the title changes.
    record: parking_lot::Mutex<Arc<Record>>,
    /// Whether the entry's file exists.
    is_entered: parking_lot::Mutex<bool>,
    /// The instance's socket. Also its listener, until `take_listener` removes the listener.
    socket: parking_lot::Mutex<(Option<SocketFile>, Option<UnixListener>)>,
    naming: parking_lot::Mutex<Naming>,
    inherited: Option<Inherited>,
}

/// The data that an instance takes over from the instance whose place it takes, if that instance's name is free.
struct Inherited {
    /// The entry of that instance.
    record: Record,
    /// The token to use if another instance has that name by now. Two live instances never have one token.
    other_token: String,
}

/// The parts that the title is made of.
#[derive(Default)]
struct Naming {
    /// The title that a caller set. It replaces the default title.
    own: Option<String>,
    /// The default title that the instance was started with. `None` if the title consists of id and project.
    default: Option<String>,
    /// The project that the window shows. `None` if there is no window; the working directory's project is used then.
    project: Option<Option<String>>,
}

/// A file of the registry could not be written.
#[derive(Debug, thiserror::Error)]
#[error("{}: {error}", .path.display())]
pub struct FileError {
    path: PathBuf,
    error: io::Error,
}

impl FileError {
    fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self { path, error }
    }
}

/// A problem with an instance's registration. The instance works nevertheless. The messages are for users.
#[derive(Debug, thiserror::Error)]
pub enum RegistryFault {
    /// The instance has no entry.
    #[error(
        "This Unterm is not in the registry of instances, so other programs can't find it: {0}. Mend that, and start it anew"
    )]
    NotEntered(FileError),
    /// The instance has an entry and should be the active instance, but the pointers could not be written.
    #[error(
        "This Unterm is in the registry, but programs that read active.json, server.json or auth_token can't find it: {0}. Mend that, and start it anew"
    )]
    NotActive(FileError),
}

/// The id of an instance without an entry. No entry can have it.
const UNREGISTERED: &str = "unregistered";

impl Naming {
    /// The title of the instance `id`, whose working directory is `cwd`.
    fn title(&self, id: &str, cwd: &Path) -> String {
        match (self.own.as_ref().or(self.default.as_ref()), &self.project) {
            (Some(title), _) => title.clone(),
            (None, Some(project)) => default_title(id, project.as_deref()),
            (None, None) => title(id, cwd),
        }
    }
}

impl Registration {
    /// Registers an instance that serves no settings page.
    #[cfg(test)]
    pub fn new(home: &Path, mcp_port: u16, auth_token: String) -> Result<Self, RegistryFault> {
        match Self::with_page(home, mcp_port, 0, auth_token) {
            (registration, None) => Ok(registration),
            (_, Some(fault)) => Err(fault),
        }
    }

    /// Creates an instance's record and enters it in the registry ([`Registration::enter`]). Returns the error if a step
    /// failed. `http_port`: the port of the settings page, or 0.
    #[cfg(test)]
    pub fn with_page(
        home: &Path,
        mcp_port: u16,
        http_port: u16,
        auth_token: String,
    ) -> (Self, Option<RegistryFault>) {
        let registration = Self::unregistered(home, mcp_port, http_port, auth_token);
        let fault = registration.enter().err();
        (registration, fault)
    }

    /// Creates the record of an instance without an entry. It writes no files of the registry.
    pub fn unregistered(home: &Path, mcp_port: u16, http_port: u16, auth_token: String) -> Self {
        let cwd = std::env::current_dir().unwrap_or_default();
        let record = Record {
            title: title(UNREGISTERED, &cwd),
            id: UNREGISTERED.to_owned(),
            mcp_port,
            http_port,
            auth_token,
            pid: std::process::id(),
            started_at: now(),
            cwd: cwd.to_string_lossy().into_owned(),
            version: crate::VERSION.to_owned(),
            platform: std::env::consts::OS.to_owned(),
            process_start: process_start(std::process::id()),
            socket: None,
            waits_for_window: false,
        };
        Self {
            home: home.to_owned(),
            record: parking_lot::Mutex::new(Arc::new(record)),
            is_entered: parking_lot::Mutex::new(false),
            socket: parking_lot::Mutex::default(),
            naming: parking_lot::Mutex::default(),
            inherited: None,
        }
    }

    /// Takes the name and the start time of an instance that has ended. If another instance has taken its name, takes
    /// another name, and `other_token` instead of the token. `waits_for_window`: see [`Record::waits_for_window`].
    pub fn in_place_of(
        mut self,
        inherited: Option<Record>,
        other_token: String,
        waits_for_window: bool,
    ) -> Self {
        self.inherited = inherited.map(|record| Inherited { record, other_token });
        let record = Record { waits_for_window, ..Record::clone(&self.record()) };
        self.record = parking_lot::Mutex::new(Arc::new(record));
        self
    }

    /// Sets the title that the instance has until a caller sets another title. `None`: the title consists of id and
    /// project.
    pub fn with_default_title(self, title: Option<String>) -> Self {
        {
            let mut naming = self.naming.lock();
            naming.default = title;
            let record = self.record();
            let title = naming.title(&record.id, Path::new(&record.cwd));
            *self.record.lock() = Arc::new(Record { title, ..Record::clone(&record) });
        }
        self
    }

    /// Removes entries of dead processes, claims the first free name and writes the entry. If the active instance is
    /// dead, also writes the pointers.
    ///
    /// # Errors
    /// A file of the registry can't be written.
    pub fn enter(&self) -> Result<(), RegistryFault> {
        let home = &self.home;
        let _lock = self.claim().map_err(RegistryFault::NotEntered)?;
        *self.is_entered.lock() = true;
        if active(home).is_some_and(|active| active.is_live()) {
            return Ok(());
        }
        point_to(home, &self.record()).map_err(RegistryFault::NotActive)
    }

    /// Writes the entry. Returns the registry's lock, which is still held.
    fn claim(&self) -> Result<File, FileError> {
        let home = &self.home;
        let instances = home.join("instances");
        private_directory(home).map_err(FileError::at(home))?;
        private_directory(&instances).map_err(FileError::at(&instances))?;
        let lock = lock(home).map_err(FileError::at(&home.join(locking::LOCK)))?;
        remove_stale(home).map_err(FileError::at(&instances))?;
        remove_leftovers(home);
        // The time is read while the lock is held, so that start times and names have the same order.
        let unnamed = self.record();
        let free = || free_id(&instances).map_err(FileError::at(&instances));
        let (id, started_at, auth_token) = match &self.inherited {
            Some(Inherited { record, .. }) if is_free(&instances, &record.id) => {
                (record.id.clone(), record.started_at.clone(), unnamed.auth_token.clone())
            }
            Some(Inherited { other_token, .. }) => (free()?, now(), other_token.clone()),
            None => (free()?, now(), unnamed.auth_token.clone()),
        };
        let title = self.naming.lock().title(&id, Path::new(&unnamed.cwd));
        let socket = self.listen(&id);
        let record =
            Record { id, title, started_at, auth_token, socket, ..Record::clone(&unnamed) };
        let path = entry(home, &record.id);
        if let Err(error) = write_record(&path, &record) {
            self.remove_socket();
            return Err(FileError { path, error });
        }
        *self.record.lock() = Arc::new(record);
        Ok(lock)
    }

    /// Creates the socket for this id, and returns its path. If that fails, clients use the port.
    fn listen(&self, id: &str) -> Option<String> {
        let path = socket_path(&self.home, id);
        let made = match path.to_str() {
            Some(text) => private_directory(&self.home.join("sockets"))
                .and_then(|()| unix::bind(&path))
                .map(|made| (text.to_owned(), made)),
            None => Err(io::Error::other("the path is no UTF-8")),
        };
        match made {
            Ok((text, (listener, file))) => {
                *self.socket.lock() = (Some(file), Some(listener));
                Some(text)
            }
            Err(error) => {
                tracing::warn!(%error, path = %path.display(), "this instance has no socket");
                self.remove_socket();
                None
            }
        }
    }

    /// Removes the socket, and the folder if it is empty. The caller must hold the registry's lock.
    fn remove_socket(&self) {
        *self.socket.lock() = (None, None);
        let _ = fs::remove_dir(self.home.join("sockets"));
    }

    /// Removes and returns the listener of the instance's socket. `None` if there is no socket, or if the listener was
    /// already removed.
    pub fn take_listener(&self) -> Option<UnixListener> {
        self.socket.lock().1.take()
    }

    /// The registry's directory.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// This instance's record.
    pub fn record(&self) -> Arc<Record> {
        self.record.lock().clone()
    }

    fn is_entered(&self) -> bool {
        *self.is_entered.lock()
    }

    /// Keeps this instance running for a client. `None` if this instance does not end with its clients.
    pub fn hold(&self) -> Option<held::Hold> {
        held::hold(&self.home, self.record().mcp_port).ok().flatten()
    }

    /// See [`Record::start`].
    pub fn start(&self) -> String {
        self.record().start()
    }

    /// Sets the instance's title, or restores the default. Without an entry, only the record in memory changes.
    pub fn set_title(&self, new: Option<&str>) -> io::Result<()> {
        self.naming.lock().own = new.map(str::to_owned);
        self.retitle()
    }

    /// Sets the project that the window shows, so that the registry's default title matches the window's title. The
    /// next [`Registration::retitle`] writes it.
    pub fn name_project(&self, project: Option<&str>) {
        self.naming.lock().project = Some(project.map(str::to_owned));
    }

    /// Writes the title, if it has changed.
    pub fn retitle(&self) -> io::Result<()> {
        let _lock = if self.is_entered() { Some(lock(&self.home)?) } else { None };
        let old = self.record();
        let title = self.naming.lock().title(&old.id, Path::new(&old.cwd));
        if title == old.title {
            return Ok(());
        }
        let record = Arc::new(Record { title, ..Record::clone(&old) });
        // `remove` may have been called since the first check.
        let is_entered = self.is_entered();
        if is_entered {
            write_record(&entry(&self.home, &record.id), &record)?;
        }
        *self.record.lock() = record.clone();
        if is_entered && active(&self.home).is_some_and(|active| active == *old) {
            point_to(&self.home, &record).map_err(|error| error.error)?;
        }
        Ok(())
    }

    /// Removes the entry. The pointers then name the oldest other instance. If there is none, they are removed, too.
    /// Later calls do nothing.
    pub fn remove(&self) {
        if !std::mem::take(&mut *self.is_entered.lock()) {
            return;
        }
        if let Err(error) = self.try_remove() {
            tracing::warn!(%error, id = self.record().id, "cannot take this instance out of the registry");
        }
    }

    fn try_remove(&self) -> io::Result<()> {
        let _lock = lock(&self.home)?;
        let own = self.record();
        let path = entry(&self.home, &own.id);
        if read(&path).is_some_and(|record| record == *own) {
            fs::remove_file(&path)?;
        }
        self.remove_socket();
        let pointed = match active(&self.home).is_none_or(|active| active == *own) {
            true => self.hand_over(),
            false => Ok(()),
        };
        // The lock file must be removed last. A client that finds no such file assumes that the instance keeps running,
        // so the entry must already be gone.
        held::forget(&self.home, own.mcp_port);
        pointed
    }

    /// Makes the oldest other instance the active one. If there is none, removes the pointers.
    fn hand_over(&self) -> io::Result<()> {
        if let Some(heir) = live(&self.home)?.first() {
            return point_to(&self.home, heir).map_err(|error| error.error);
        }
        // If one pointer can't be removed, the others are removed nevertheless.
        let removed = POINTERS.map(|pointer| match fs::remove_file(self.home.join(pointer)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        });
        removed.into_iter().collect()
    }

    /// Makes this instance the active one if the active one is dead. Otherwise, returns the active one, unless it is
    /// this instance.
    fn take_over(&self) -> io::Result<Option<Record>> {
        if !self.is_entered() {
            return Ok(None);
        }
        let _lock = lock(&self.home)?;
        // `remove` may have been called since the first check.
        if !self.is_entered() {
            return Ok(None);
        }
        let own = self.record();
        match active(&self.home) {
            Some(active) if active == *own => Ok(None),
            Some(active) if active.is_live() => Ok(Some(active)),
            _ => {
                tracing::info!(id = own.id, "the active instance died; this one takes its place");
                point_to(&self.home, &own).map_err(|error| error.error)?;
                remove_stale(&self.home)?;
                Ok(None)
            }
        }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Waits until the active instance ends, and then takes its place unless another instance was faster. Returns once this
/// instance is the active one.
pub(crate) async fn follow_active(registration: Arc<Registration>) {
    loop {
        let taken = {
            // This runs on a blocking thread, because `take_over` waits for a file lock.
            let registration = registration.clone();
            tokio::task::spawn_blocking(move || registration.take_over()).await
        };
        match taken.unwrap_or(Ok(None)) {
            Ok(None) => return,
            Ok(Some(active)) => {
                tracing::debug!(active = active.id, "following the active instance");
                match ProcessEnd::of(active.pid) {
                    Ok(ended) => ended.wait().await,
                    // If the system can't wait for other processes, the pointers stay wrong until the next start or
                    // clean exit of an instance.
                    Err(error) if error.kind() == ErrorKind::Unsupported => return,
                    Err(error) => {
                        tracing::debug!(%error, "the active instance ended just now");
                        tokio::task::yield_now().await;
                    }
                }
            }
            Err(error) => {
                tracing::warn!(%error, "cannot read the registry");
                return;
            }
        }
    }
}

fn active(home: &Path) -> Option<Record> {
    read(&home.join("active.json"))
}

/// The current time, in the format of records.
fn now() -> String {
    let now = OffsetDateTime::now_utc().format(&Rfc3339);
    now.unwrap_or_else(|_| "1970-01-01T00:00:00Z".to_owned())
}

/// The file of the instance with this id.
fn entry(home: &Path, id: &str) -> PathBuf {
    home.join("instances").join(format!("{id}.json"))
}

/// The socket of the instance with this id.
fn socket_path(home: &Path, id: &str) -> PathBuf {
    home.join("sockets").join(format!("{id}.sock"))
}

/// The files that point to the active instance.
const POINTERS: [&str; 3] = ["auth_token", "server.json", "active.json"];

/// Makes `record` the active instance. Writes every pointer that can be written, and returns the first error.
fn point_to(home: &Path, record: &Record) -> Result<(), FileError> {
    let written = POINTERS.map(|pointer| {
        let path = home.join(pointer);
        let written = match pointer {
            "auth_token" => {
                private::replace(&path, |file| file.write_all(record.auth_token.as_bytes()))
            }
            _ => write_record(&path, record),
        };
        written.map_err(FileError::at(&path))
    });
    written.into_iter().collect()
}

/// Removes the entries of dead processes. An entry that can't be parsed may still be being written by a program that
/// does not use the lock, so it stays until it is ten seconds old. An entry that can't be removed does no harm.
fn remove_stale(home: &Path) -> io::Result<()> {
    const CLAIMING: Duration = Duration::from_secs(10);
    for (path, id) in entries(home)? {
        let stale = match read(&path) {
            Some(record) => !record.is_live(),
            None => {
                fs::metadata(&path).and_then(|metadata| metadata.modified()).is_ok_and(|time| {
                    SystemTime::now().duration_since(time).is_ok_and(|age| age > CLAIMING)
                })
            }
        };
        if stale {
            tracing::debug!(id, "removing the entry of a dead instance");
            match fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    tracing::warn!(%error, id, "the entry of a dead instance can't be removed");
                }
                _ => {}
            }
            unix::remove_stale(&socket_path(home, &id));
        }
    }
    Ok(())
}

/// Removes the temporary files that killed processes left in a folder and its subfolders. Some of these files contain
/// keys.
pub fn remove_leftovers(folder: &Path) {
    if let Err(error) = private::remove_leftovers(folder, |pid| liveness::is_live(pid, None)) {
        tracing::debug!(%error, folder = %folder.display(), "can't look for temporary files");
    }
}

/// The first id without an entry. The caller holds the registry's lock until the entry is written, so no other instance
/// takes the same id, and no reader sees an entry before it is whole.
fn free_id(instances: &Path) -> io::Result<String> {
    let is_free = |id: &String| is_free(instances, id);
    names::all().find(is_free).ok_or_else(|| io::Error::other("every name is taken"))
}

/// Whether no instance has this id. The caller holds the registry's lock, and has removed the entries of dead processes.
fn is_free(instances: &Path, id: &str) -> bool {
    fs::symlink_metadata(instances.join(format!("{id}.json"))).is_err()
}

/// The default title of an instance. It contains no project if the working directory is the home directory.
fn title(id: &str, cwd: &Path) -> String {
    let is_home = std::env::home_dir().is_some_and(|home| home == cwd);
    let project = cwd.file_name().filter(|_| !is_home);
    default_title(id, project.map(std::ffi::OsStr::to_string_lossy).as_deref())
}

fn default_title(id: &str, project: Option<&str>) -> String {
    match project {
        Some(project) => format!("Unterm — {id} — {project}"),
        None => format!("Unterm — {id}"),
    }
}

/// Creates a private directory (mode 0700), or makes an existing one private.
fn private_directory(path: &Path) -> io::Result<()> {
    private::create_folder(path)?;
    let mode = fs::metadata(path)?.permissions().mode();
    if mode & 0o077 != 0 {
        fs::set_permissions(path, Permissions::from_mode(mode & 0o700))?;
    }
    Ok(())
}

fn write_record(path: &Path, record: &Record) -> io::Result<()> {
    let mut json = serde_json::to_vec_pretty(record)?;
    json.push(b'\n');
    private::replace(path, |file| file.write_all(&json))
}

#[cfg(test)]
mod tests;
