//! The registry of running instances under `~/.unterm`, and this instance's place in it.
//!
//! | file | holds |
//! |---|---|
//! | `instances/<id>.json` | a [`Record`]: one running instance, named `alpha`, `bravo`, … |
//! | `active.json` | the record of the active instance; its `id` is the pointer |
//! | `server.json` | the same, for clients that know of one instance only |
//! | `auth_token` | its token, as plain text |
//! | `held/<port>` | nothing; who has it locked keeps an instance ([`held`]) |
//!
//! The active instance changes only when it ends: on a clean exit it hands over to the oldest one that lives, and when it
//! dies without a word the others notice ([`follow_active`]). Directories are 0700, files 0600, written to a
//! temporary file and renamed. Changes are made under a lock on `.lock`, which the system releases when its
//! holder dies, so that any number of instances may start and stop at once.

pub mod held;
mod liveness;
mod names;

use std::{
    fs::{self, File, OpenOptions, Permissions},
    io::{self, ErrorKind, Write},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use unterm_mux::private;

pub use liveness::{Ended, is_live, process_start};

/// One instance, as its file says it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// A NATO name, such as `alpha`, or `alpha2` when all 26 are taken.
    pub id: String,
    /// The port of the TCP wire.
    pub mcp_port: u16,
    /// The port of the settings page; 0: none is served.
    pub http_port: u16,
    /// The instance's token.
    pub auth_token: String,
    /// Its process.
    pub pid: u32,
    /// When it registered (RFC 3339, UTC).
    pub started_at: String,
    /// Its title: `Unterm — <id> — <project>`.
    pub title: String,
    /// Its working directory.
    pub cwd: String,
    /// Its version.
    pub version: String,
    /// `linux`, `macos`, `windows`.
    pub platform: String,
    /// When the process began, in the system's ticks since boot: tells a process from a later one of the same pid. Absent
    /// where the system does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process_start: Option<u64>,
}

impl Record {
    /// Whether the instance's process still runs.
    pub fn is_live(&self) -> bool {
        liveness::is_live(self.pid, self.process_start)
    }
}

/// The directory of instances and settings: `$UNTERM_HOME`, else `~/.unterm`.
pub fn home() -> PathBuf {
    match std::env::var_os("UNTERM_HOME") {
        Some(home) if !home.is_empty() => home.into(),
        _ => std::env::home_dir().unwrap_or_else(|| "/".into()).join(".unterm"),
    }
}

/// A record of the file, `None` when there is none or it is not one.
pub(crate) fn read(path: &Path) -> Option<Record> {
    // A record is a few hundred bytes; whatever lies there instead is not read whole.
    let file = File::open(path).ok()?;
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

/// The files that stand for instances, with the ids they stand for.
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

/// This instance's entry; dropping it, or [`Registration::remove`], takes the entry away and hands over.
pub struct Registration {
    home: PathBuf,
    /// Replaced whole when the title changes.
    record: parking_lot::Mutex<Arc<Record>>,
    removed: parking_lot::Mutex<bool>,
}

/// Why an instance could not register: the file or directory, and the error.
pub(crate) type RegisterError = (PathBuf, io::Error);

impl Registration {
    /// Removes entries of dead processes, claims the first free name and writes the entry, and the pointers too when the
    /// active instance is dead.
    #[cfg(test)]
    pub fn new(home: &Path, mcp_port: u16, auth_token: String) -> Result<Self, RegisterError> {
        Self::with_page(home, mcp_port, 0, auth_token)
    }

    /// The same for one that serves a settings page on `http_port`; 0: it serves none.
    pub fn with_page(
        home: &Path,
        mcp_port: u16,
        http_port: u16,
        auth_token: String,
    ) -> Result<Self, RegisterError> {
        let at = |path: &Path| {
            let path = path.to_owned();
            move |error| (path, error)
        };
        let instances = home.join("instances");
        private_directory(home).map_err(at(home))?;
        private_directory(&instances).map_err(at(&instances))?;
        let _lock = lock(home).map_err(at(home))?;
        remove_stale(home).map_err(at(&instances))?;
        let id = claim(&instances).map_err(at(&instances))?;

        let cwd = std::env::current_dir().unwrap_or_default();
        let record = Record {
            title: title(&id, &cwd),
            id,
            mcp_port,
            http_port,
            auth_token,
            pid: std::process::id(),
            started_at: OffsetDateTime::now_utc()
                .format(&Rfc3339)
                .unwrap_or_else(|_| "1970-01-01T00:00:00Z".to_owned()),
            cwd: cwd.to_string_lossy().into_owned(),
            version: crate::VERSION.to_owned(),
            platform: std::env::consts::OS.to_owned(),
            process_start: process_start(std::process::id()),
        };
        let registration = Self {
            home: home.to_owned(),
            record: parking_lot::Mutex::new(Arc::new(record)),
            removed: parking_lot::Mutex::new(false),
        };
        let path = registration.path();
        let record = registration.record();
        write_record(&path, &record).map_err(at(&path))?;
        if !active(home).is_some_and(|active| active.is_live()) {
            point_to(home, &record).map_err(at(home))?;
        }
        Ok(registration)
    }

    /// The directory of the registry.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// What the entry says.
    pub fn record(&self) -> Arc<Record> {
        self.record.lock().clone()
    }

    /// Keeps the instance for a client, if it is one that ends with its clients.
    pub fn hold(&self) -> Option<held::Hold> {
        held::hold(&self.home, self.record().mcp_port).ok().flatten()
    }

    /// Its name and when it was started: no other start is called so.
    pub fn start(&self) -> String {
        let record = self.record();
        format!("{} {}", record.id, record.started_at)
    }

    fn path(&self) -> PathBuf {
        self.home.join("instances").join(format!("{}.json", self.record().id))
    }

    /// Gives the instance another title, or the usual one back.
    pub fn set_title(&self, new: Option<&str>) -> io::Result<()> {
        let _lock = lock(&self.home)?;
        if *self.removed.lock() {
            return Ok(());
        }
        let old = self.record();
        let title = match new {
            Some(new) => new.to_owned(),
            None => title(&old.id, Path::new(&old.cwd)),
        };
        let record = Arc::new(Record { title, ..Record::clone(&old) });
        write_record(&self.path(), &record)?;
        *self.record.lock() = record.clone();
        if active(&self.home).is_some_and(|active| active == *old) {
            point_to(&self.home, &record)?;
        }
        Ok(())
    }

    /// Takes the entry away; the pointers go to the oldest other instance, or away too. Does nothing the second time.
    pub fn remove(&self) {
        if std::mem::replace(&mut *self.removed.lock(), true) {
            return;
        }
        if let Err(error) = self.try_remove() {
            tracing::warn!(%error, id = self.record().id, "cannot take this instance out of the registry");
        }
    }

    fn try_remove(&self) -> io::Result<()> {
        let _lock = lock(&self.home)?;
        let path = self.path();
        let own = self.record();
        if read(&path).is_some_and(|record| record == *own) {
            fs::remove_file(&path)?;
        }
        if active(&self.home).is_none_or(|active| active == *own) {
            match live(&self.home)?.first() {
                Some(heir) => point_to(&self.home, heir)?,
                None => {
                    for pointer in ["active.json", "server.json", "auth_token"] {
                        match fs::remove_file(self.home.join(pointer)) {
                            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                            _ => {}
                        }
                    }
                }
            }
        }
        // Last: who finds no file takes this for an instance that stays, and must not find it then.
        held::forget(&self.home, own.mcp_port);
        Ok(())
    }

    /// Makes this instance the active one if the active one is dead. Returns the active one if that is another.
    fn take_over(&self) -> io::Result<Option<Record>> {
        let _lock = lock(&self.home)?;
        if *self.removed.lock() {
            return Ok(None);
        }
        let own = self.record();
        match active(&self.home) {
            Some(active) if active == *own => Ok(None),
            Some(active) if active.is_live() => Ok(Some(active)),
            _ => {
                tracing::info!(id = own.id, "the active instance died; this one takes its place");
                point_to(&self.home, &own)?;
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

/// Waits for the active instance's end, for as long as that is another one, and takes its place if nobody else did.
/// Returns once this instance is the active one.
pub(crate) async fn follow_active(registration: Arc<Registration>) {
    loop {
        let taken = {
            // It waits for a lock on a file.
            let registration = registration.clone();
            tokio::task::spawn_blocking(move || registration.take_over()).await
        };
        match taken.unwrap_or(Ok(None)) {
            Ok(None) => return,
            Ok(Some(active)) => {
                tracing::debug!(active = active.id, "following the active instance");
                match Ended::of(active.pid) {
                    Ok(ended) => ended.wait().await,
                    // Where processes can't be waited for, the next start or clean exit puts the pointers right.
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

/// Makes `record` the active instance.
fn point_to(home: &Path, record: &Record) -> io::Result<()> {
    private::replace(&home.join("auth_token"), |file| {
        file.write_all(record.auth_token.as_bytes())
    })?;
    write_record(&home.join("server.json"), record)?;
    write_record(&home.join("active.json"), record)
}

/// Removes the entries of dead processes. An entry that can't be read is one that is being claimed by a program
/// which does not take our lock, until it is ten seconds old.
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
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
    Ok(())
}

/// Creates the first free name's file, empty.
fn claim(instances: &Path) -> io::Result<String> {
    for id in names::all() {
        match private::create_file(&instances.join(format!("{id}.json"))) {
            Ok(_) => return Ok(id),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("every name is taken"))
}

/// The title of an instance without an override; parts are left out when there is nothing to say.
fn title(id: &str, cwd: &Path) -> String {
    let is_home = std::env::home_dir().is_some_and(|home| home == cwd);
    match cwd.file_name().filter(|_| !is_home) {
        Some(project) => format!("Unterm — {id} — {}", project.to_string_lossy()),
        None => format!("Unterm — {id}"),
    }
}

/// Creates a directory for its owner only, or makes an existing one so.
fn private_directory(path: &Path) -> io::Result<()> {
    private::create_folder(path)?;
    let mode = fs::metadata(path)?.permissions().mode();
    if mode & 0o077 != 0 {
        fs::set_permissions(path, Permissions::from_mode(mode & 0o700))?;
    }
    Ok(())
}

/// Waits for the lock of a folder, which whoever changes its files holds; in Unterm's home, of whichever instance. It is
/// held as long as the file that is given.
///
/// # Errors
/// When the folder is not there, or can't be written.
pub fn lock(folder: &Path) -> io::Result<File> {
    let path = folder.join(".lock");
    let file =
        OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)?;
    loop {
        match flock(&file, FlockOperation::LockExclusive) {
            Err(rustix::io::Errno::INTR) => {}
            result => return result.map(|()| file).map_err(io::Error::from),
        }
    }
}

fn write_record(path: &Path, record: &Record) -> io::Result<()> {
    let mut json = serde_json::to_vec_pretty(record)?;
    json.push(b'\n');
    private::replace(path, |file| file.write_all(&json))
}

#[cfg(test)]
mod tests;
