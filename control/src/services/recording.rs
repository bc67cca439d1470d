//! Recordings of sessions: a log written as things happen, and a page of markdown when it is over. Knows which sessions are
//! recorded and what the index of recordings says, and closes the recordings of processes that were killed.

mod files;
pub mod log;
pub mod markdown;
pub mod settings;
mod writer;

use std::{
    collections::HashMap,
    fs::File,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    sync::{Arc, Weak},
    thread,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};
use unterm_mux::{Hides, Mux, MuxEvent, Observer, Pane, PaneId, Tap, TapEnd, private, random};
use unterm_term::Size;

use self::{
    log::{Event, Kind},
    markdown::{Block, timestamp},
    settings::Settings,
    writer::{Log, Recording},
};
use super::shell::{Activity, Runs, Shell, as_given};
use crate::registry;

/// When a log is closed and another one begun.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// It holds more bytes of output.
    bytes: u64,
    /// It holds so many commands.
    blocks: u64,
    /// What a minute is.
    minute: Duration,
}

/// As documented; `recording.json` says how many minutes.
const LIMITS: Limits = Limits { bytes: 5 << 20, blocks: 1000, minute: Duration::from_secs(60) };

/// What is known of a recording: a row of the index.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Record {
    /// Its own id, a UUID.
    pub unterm_session_id: String,
    /// The session's number.
    pub tab_id: u64,
    /// The project it was made in.
    pub project_path: Option<String>,
    /// The project's name for files.
    pub project_slug: Option<String>,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// Absent while it goes on.
    pub ended_at: Option<String>,
    /// Commands.
    pub block_count: u64,
    /// Bytes that the program wrote.
    pub bytes_raw: u64,
    /// Its log.
    pub log_path: PathBuf,
    /// Its page.
    pub md_path: PathBuf,
    /// `stopped`, `exited`, `rotated`, `closed` or `crashed`.
    pub exit_reason: Option<String>,
    /// What callers attached.
    pub trace_ids: Vec<String>,
    /// The recording that this one goes on from.
    pub parent_session_id: Option<String>,
    /// The shell.
    pub shell: String,
    /// The machine.
    pub hostname: String,
    /// The grid, for output that moves the cursor.
    pub cols: u16,
    /// Its rows.
    pub rows: u16,
    /// The process that records.
    pub pid: u32,
    /// Tells it from a later one of the same number.
    pub process_start: Option<u64>,
    /// Bytes of output and input that the log lacks.
    #[serde(skip_serializing_if = "is_none")]
    pub bytes_lost: u64,
    /// Why bytes were lost last, or why the page is not written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

/// How often pages that could not be written are tried again.
const AGAIN: Duration = Duration::from_secs(30);
/// The longest index that is read, in bytes.
const LONGEST_INDEX: u64 = 256 << 20;
/// Trace ids of a recording: the index has them all.
const MOST_TRACES: usize = 256;
/// New panes that may wait for a look at the settings.
const NEW_PANES: usize = 256;

/// The recordings of one process.
pub struct Recorder {
    home: PathBuf,
    limits: Limits,
    live: Arc<Mutex<HashMap<PaneId, Arc<Live>>>>,
    unfinished: Arc<Unfinished>,
}

/// A recording that goes on.
struct Live {
    record: Arc<Mutex<Record>>,
    end: TapEnd,
    stops: Mutex<Stops>,
}

/// Who asked a recording to end.
#[derive(Default)]
struct Stops {
    asked: Vec<Stop>,
    /// Nobody is answered any more.
    is_over: bool,
}

/// Asks a recording to end, and who wants to hear of it.
struct Stop {
    reason: &'static str,
    ended: oneshot::Sender<Outcome<Record>>,
}

/// Recordings that have ended, but whose page or row could not be written, as on a full disk; and why not.
#[derive(Default)]
struct Unfinished {
    records: Mutex<Vec<(Record, String)>>,
}

impl Unfinished {
    /// Keeps a record, and tries again until its page is written.
    fn add(self: &Arc<Self>, home: &Path, record: Record, error: &str) {
        let mut records = self.records.lock();
        records.push((record, error.to_owned()));
        if records.len() > 1 {
            return;
        }
        drop(records);
        let (home, unfinished) = (home.to_owned(), self.clone());
        let again = move || {
            while !unfinished.records.lock().is_empty() {
                thread::sleep(AGAIN);
                unfinished.try_again(&home);
            }
        };
        if let Err(error) = thread::Builder::new().name("recording pages".to_owned()).spawn(again) {
            tracing::warn!(%error, "pages of recordings are written by the next start");
        }
    }

    /// Writes what can be written now.
    fn try_again(&self, home: &Path) {
        let Ok(settings) = Settings::read(home) else { return };
        let records = self.records.lock().clone();
        for (record, _) in records {
            let id = record.unterm_session_id.clone();
            let is_other = |(record, _): &(Record, String)| record.unterm_session_id != id;
            if finish(home, record, &settings).is_ok() {
                self.records.lock().retain(is_other);
            }
        }
    }

    /// Their rows, each with the reason why its page is not written.
    fn rows(&self) -> Vec<Record> {
        let row = |(record, error): &(Record, String)| Record {
            error: Some(format!("the page is not written yet: {error}")),
            ..record.clone()
        };
        self.records.lock().iter().map(row).collect()
    }
}

/// What goes wrong, for people.
type Outcome<T> = Result<T, String>;

fn now() -> u64 {
    micros(SystemTime::now())
}

fn micros(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_micros() as u64)
}

/// Taps every new pane before its program's first byte is read, until it is clear whether the pane is recorded.
struct NewPanes {
    mux: Weak<Mux>,
    hides: Hides,
    opened: mpsc::Sender<(Arc<Pane>, Tap)>,
}

impl Observer for NewPanes {
    fn output(&self, _: PaneId) {}

    fn event(&self, event: MuxEvent) {
        let MuxEvent::PaneOpened(id) = event else { return };
        if let Some(pane) = self.mux.upgrade().and_then(|mux| mux.pane(id)) {
            let tap = pane.tap_recording(self.hides.clone());
            if self.opened.try_send((pane, tap)).is_err() {
                tracing::warn!(pane = id.0, "too many sessions at once: this one is not recorded");
            }
        }
    }
}

impl Recorder {
    /// Keeps its index in `home`.
    pub fn new(home: &Path) -> Self {
        Self {
            home: home.to_owned(),
            limits: LIMITS,
            live: Arc::default(),
            unfinished: Arc::default(),
        }
    }

    /// Records every session that is opened from now on while `recording.json` says so, from its first byte; for as long as
    /// the mux is there. `hides` as in [`Recorder::start`].
    pub fn follow(
        self: Arc<Self>,
        mux: &Arc<Mux>,
        hides: fn(&Pane) -> bool,
    ) -> impl Future<Output = ()> + Send + 'static {
        let (opened, mut panes) = mpsc::channel(NEW_PANES);
        let weak = Arc::downgrade(mux);
        mux.observe(Arc::new(NewPanes { mux: weak.clone(), hides: Arc::new(hides), opened }));
        async move {
            while let Some((pane, tap)) = panes.recv().await {
                let Some(mux) = weak.upgrade() else { return };
                // A session without a tab is its owner's business.
                if mux.layout().tab_of(pane.id()).is_none() {
                    continue;
                }
                drop(mux);
                let started = match self.settings().await {
                    Ok(settings) if !settings.recording.enabled => continue,
                    Ok(settings) => self.start_with(settings, pane, tap).await.map(drop),
                    Err(error) => Err(error),
                };
                if let Err(error) = started {
                    tracing::warn!(error, "a session is not recorded");
                }
            }
        }
    }

    /// Whether a pane is recorded.
    pub fn has(&self, pane: PaneId) -> bool {
        self.live.lock().contains_key(&pane)
    }

    /// What is recorded of a pane now.
    pub fn status(&self, pane: PaneId) -> Option<Record> {
        self.live.lock().get(&pane).map(|live| live.record.lock().clone())
    }

    /// Every recording that is known, with those whose page could not be written yet.
    ///
    /// # Errors
    /// The index's path and why it can't be read.
    pub fn rows(&self) -> Outcome<Vec<Record>> {
        let mut rows = rows(&self.home)?;
        for row in self.unfinished.rows() {
            replace_row(&mut rows, &row);
        }
        Ok(rows)
    }

    /// A recording's page.
    ///
    /// # Errors
    /// When there is no such recording, or its page can't be read.
    pub fn page(&self, id: &str) -> Outcome<String> {
        let row = self.rows()?.into_iter().find(|row| row.unterm_session_id == id);
        let row = row.ok_or_else(|| format!("Recording '{id}' not found"))?;
        read_page(&self.home, &row)
            .map_err(|error| format!("Recording '{id}' can't be read: {error}"))
    }

    /// Begins to record a pane. `hides`: whether what is typed there now is not to be seen; asked as it is written.
    pub async fn start(
        &self,
        pane: Arc<Pane>,
        hides: impl Fn(&Pane) -> bool + Send + Sync + 'static,
    ) -> Outcome<Record> {
        let settings = self.settings().await?;
        let tap = pane.tap_recording(Arc::new(hides));
        self.start_with(settings, pane, tap).await
    }

    /// `recording.json`, read outside of the workers.
    async fn settings(&self) -> Outcome<Settings> {
        let home = self.home.clone();
        let read = tokio::task::spawn_blocking(move || Settings::read(&home));
        read.await.map_err(|error| error.to_string())?
    }

    async fn start_with(&self, settings: Settings, pane: Arc<Pane>, tap: Tap) -> Outcome<Record> {
        let id = pane.id();
        let minutes = u32::try_from(settings.idle_rotate_minutes.max(1)).unwrap_or(u32::MAX);
        let idle = self.limits.minute.saturating_mul(minutes);
        let new = {
            let (home, pane) = (self.home.clone(), pane.clone());
            let open = move || open(&home, describe(&pane)?, |_| ());
            tokio::task::spawn_blocking(open).await.map_err(|error| error.to_string())?
        };
        let (record, file) = new.map_err(|error| format!("Recording can't be started: {error}"))?;
        let live = Arc::new(Live {
            record: Arc::new(Mutex::new(record.clone())),
            end: tap.ender(),
            stops: Mutex::default(),
        });
        let is_first = {
            let mut all = self.live.lock();
            let is_first = !all.contains_key(&id);
            if is_first {
                all.insert(id, live.clone());
            }
            is_first
        };
        if !is_first {
            let (home, record) = (self.home.clone(), record);
            tokio::task::spawn_blocking(move || forget(&home, &record));
            return Err(format!("Session {} is already being recorded", id.0));
        }
        let (unfinished, home) = (self.unfinished.clone(), self.home.clone());
        let failed = move |record: Record, error: &str| {
            tracing::warn!(error, id = record.unterm_session_id, "a page is not written yet");
            unfinished.add(&home, record, error);
        };
        let recording = Recording {
            home: self.home.clone(),
            pane,
            record: live.record.clone(),
            log: Log::new(file),
            settings,
            limits: self.limits,
            idle,
            failed: Arc::new(failed),
        };
        let all = self.live.clone();
        let run = move || {
            let reason = || live.stops.lock().asked.first().map_or("exited", |stop| stop.reason);
            let ended = recording.run(tap, reason);
            all.lock().remove(&id);
            let mut stops = live.stops.lock();
            stops.is_over = true;
            for stop in stops.asked.drain(..) {
                let _ = stop.ended.send(ended.clone());
            }
        };
        let name = format!("recording {}", id.0);
        if let Err(error) = thread::Builder::new().name(name).spawn(run) {
            self.live.lock().remove(&id);
            let (home, record) = (self.home.clone(), record);
            tokio::task::spawn_blocking(move || forget(&home, &record));
            return Err(format!("Recording can't be started: {error}"));
        }
        Ok(record)
    }

    /// Ends a pane's recording.
    pub async fn stop(&self, pane: PaneId, reason: &'static str) -> Outcome<Record> {
        let none = || format!("Session {} is not being recorded", pane.0);
        let live = self.live.lock().get(&pane).cloned().ok_or_else(none)?;
        let (ended, end) = oneshot::channel();
        {
            let mut stops = live.stops.lock();
            if stops.is_over {
                return Err(none());
            }
            stops.asked.push(Stop { reason, ended });
        }
        live.end.end();
        end.await.map_err(|_| none())?
    }

    /// Ends all of them, since the process ends.
    pub async fn stop_all(&self) {
        let panes: Vec<PaneId> = self.live.lock().keys().copied().collect();
        for pane in panes {
            if let Err(error) = self.stop(pane, "closed").await {
                tracing::debug!(error, "a recording ended by itself");
            }
        }
    }

    /// Attaches a trace id to a pane's recording, and gives all that it has.
    pub async fn attach(&self, pane: PaneId, trace: String) -> Outcome<Vec<String>> {
        let record = self.live.lock().get(&pane).map(|live| live.record.clone());
        let record = record.ok_or_else(|| format!("Session {} is not being recorded", pane.0))?;
        let record = {
            let mut record = record.lock();
            if !record.trace_ids.contains(&trace) {
                if record.trace_ids.len() >= MOST_TRACES {
                    return Err(format!("The recording has {MOST_TRACES} trace ids already"));
                }
                record.trace_ids.push(trace);
            }
            record.clone()
        };
        let (home, row) = (self.home.clone(), record.clone());
        let write = move || index(&home, |rows| replace_row(rows, &row));
        tokio::task::spawn_blocking(write).await.map_err(|error| error.to_string())??;
        Ok(record.trace_ids)
    }
}

/// A record whose page is not written, and why.
type Unwritten = Box<(Record, String)>;

/// Renders an ended recording's page and writes its row.
///
/// # Errors
/// The record, and why it can't be done.
fn finish(home: &Path, record: Record, settings: &Settings) -> Result<Record, Unwritten> {
    match files::read_log(home, &record) {
        Ok(events) => render(home, record, &events, settings),
        Err(error) => {
            let error = format!("{}: {error}", record.log_path.display());
            Err(Box::new((record, error)))
        }
    }
}

/// The same with the log as it was read.
fn render(
    home: &Path,
    mut record: Record,
    events: &[Event],
    settings: &Settings,
) -> Result<Record, Unwritten> {
    let size = Size::cells(record.cols.max(1), record.rows.max(1));
    let content = markdown::blocks(events, size, Shell::of_process(&record.shell));
    record.block_count = content.as_ref().map_or(0, |blocks| blocks.len() as u64);
    let mut write = || {
        let page = markdown::page(&record, &content, &mut settings.redaction()?);
        let written = files::write_page(home, &mut record, page.as_bytes());
        written.map_err(|error| format!("{}: {error}", record.md_path.display()))?;
        index(home, |rows| replace_row(rows, &record))
    };
    match write() {
        Ok(()) => Ok(record),
        Err(error) => Err(Box::new((record, error))),
    }
}

/// Makes a new recording's log, and its row in the index, which `change` may change as well.
fn open(
    home: &Path,
    mut record: Record,
    change: impl FnOnce(&mut Vec<Record>),
) -> Outcome<(Record, File)> {
    let created = files::create_log(home, &mut record);
    let file = created.map_err(|error| format!("{}: {error}", home.join("sessions").display()))?;
    let add = |rows: &mut Vec<Record>| {
        change(rows);
        replace_row(rows, &record);
    };
    match index(home, add) {
        Ok(()) => Ok((record, file)),
        Err(error) => {
            files::remove_log(home, &record);
            Err(error)
        }
    }
}

/// Makes the log in which a recording goes on: of the same project and shell, whatever runs and is told meanwhile.
fn next_part(home: &Path, old: &Record, size: Size) -> Outcome<(Record, File)> {
    let record = Record {
        unterm_session_id: random::uuid().map_err(|error| error.to_string())?,
        started_at: timestamp(now()),
        parent_session_id: Some(old.unterm_session_id.clone()),
        cols: size.cols,
        rows: size.rows,
        ended_at: None,
        exit_reason: None,
        block_count: 0,
        bytes_raw: 0,
        bytes_lost: 0,
        error: None,
        ..old.clone()
    };
    // Why the old one ended is known, should its page never be written.
    open(home, record, |rows| replace_row(rows, old))
}

/// Takes a recording that never began out again.
fn forget(home: &Path, record: &Record) {
    files::remove_log(home, record);
    let gone = |rows: &mut Vec<Record>| {
        rows.retain(|row| row.unterm_session_id != record.unterm_session_id);
    };
    if let Err(error) = index(home, gone) {
        tracing::debug!(error, "a row of the index is left over");
    }
}

/// A pane, as a record that begins now. Its project is where its process is: what the program says of that (OSC 7) may be
/// anything.
fn describe(pane: &Pane) -> Outcome<Record> {
    let size = pane.term().size();
    let project = project(pane.process().cwd().as_deref());
    let pid = std::process::id();
    Ok(Record {
        unterm_session_id: random::uuid().map_err(|error| error.to_string())?,
        tab_id: pane.id().0,
        project_slug: project.as_deref().map(slug),
        project_path: project.map(|path| path.to_string_lossy().into_owned()),
        started_at: timestamp(now()),
        shell: Shell::kind(Shell::of_process(&Activity::of(pane).process)).to_owned(),
        hostname: rustix::system::uname().nodename().to_string_lossy().into_owned(),
        cols: size.cols,
        rows: size.rows,
        pid,
        process_start: registry::process_start(pid),
        ..Record::default()
    })
}

/// The project that a folder belongs to: where its repository begins, else the folder itself, unless that is the person's
/// home or the root.
fn project(cwd: Option<&Path>) -> Option<PathBuf> {
    let cwd = cwd.filter(|cwd| cwd.is_dir())?;
    let is_home = |path: &Path| std::env::home_dir().is_some_and(|home| home == path);
    if let Some(root) = cwd.ancestors().find(|path| path.join(".git").exists()) {
        return Some(root.to_owned());
    }
    (!is_home(cwd) && cwd.parent().is_some()).then(|| cwd.to_owned())
}

/// The project that a folder belongs to, with its name for files.
pub fn project_of(cwd: &Path) -> Option<(PathBuf, String)> {
    let project = project(Some(cwd))?;
    let slug = slug(&project);
    Some((project, slug))
}

/// A project's name as that of a folder.
fn slug(project: &Path) -> String {
    let name = project.file_name().unwrap_or_default().to_string_lossy();
    let plain = |char: char| if char.is_alphanumeric() { char.to_ascii_lowercase() } else { '-' };
    let slug: String = name.chars().map(plain).take(64).collect();
    let slug = slug.trim_matches('-');
    if slug.is_empty() { "project".to_owned() } else { slug.to_owned() }
}

fn replace_row(rows: &mut Vec<Record>, row: &Record) {
    match rows.iter_mut().find(|known| known.unterm_session_id == row.unterm_session_id) {
        Some(known) => *known = row.clone(),
        None => rows.push(row.clone()),
    }
}

/// Changes the index, which all instances share, under a lock.
fn index(home: &Path, change: impl FnOnce(&mut Vec<Record>)) -> Outcome<()> {
    let folder = home.join("sessions");
    let path = folder.join("index.json");
    let named = |error: io::Error| format!("{}: {error}", path.display());
    private::create_folder(&folder).map_err(named)?;
    let _lock = registry::lock(&folder).map_err(named)?;
    let mut rows = rows(home)?;
    let before = rows.clone();
    change(&mut rows);
    if rows == before {
        return Ok(());
    }
    let text = serde_json::to_vec_pretty(&rows).map_err(|error| error.to_string())?;
    private::write(&path, &text).map_err(named)
}

/// Every recording in the index.
///
/// # Errors
/// The index's path and why it can't be read.
pub fn rows(home: &Path) -> Outcome<Vec<Record>> {
    let path = home.join("sessions/index.json");
    match private::read(&path, LONGEST_INDEX) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(format!("{}: {error}", path.display())),
        Ok(text) => {
            serde_json::from_slice(&text).map_err(|error| format!("{}: {error}", path.display()))
        }
    }
}

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

/// Reads the page of a recording. Nothing outside the folders of recordings is read, whatever a project's links lead to.
///
/// # Errors
/// When it can't be read.
pub fn read_page(home: &Path, record: &Record) -> io::Result<String> {
    files::read_page(home, record)
}

/// Closes and renders what processes that were killed have left.
pub fn recover(home: &Path) {
    let is_left =
        |row: &Record| row.ended_at.is_none() && !registry::is_live(row.pid, row.process_start);
    let left = rows(home).map(|rows| rows.into_iter().filter(is_left).collect::<Vec<_>>());
    let (left, settings) = match left.and_then(|left| Ok((left, Settings::read(home)?))) {
        Ok(found) => found,
        Err(error) => {
            tracing::warn!(error, "recordings of processes that were killed stay as they are");
            return;
        }
    };
    for mut record in left {
        let id = record.unterm_session_id.clone();
        let closed = match files::read_log(home, &record) {
            Ok(events) => {
                let out = events.iter().filter(|event| event.kind == Kind::Out);
                record.bytes_raw = out.map(|event| event.bytes.len() as u64).sum();
                let last = events.last().map(|event| timestamp(event.micros));
                record.ended_at = Some(last.unwrap_or_else(|| record.started_at.clone()));
                record.exit_reason.get_or_insert_with(|| "crashed".to_owned());
                render(home, record, &events, &settings).map_err(|unwritten| unwritten.1)
            }
            Err(error) => Err(format!("{}: {error}", record.log_path.display())),
        };
        if let Err(error) = closed {
            tracing::warn!(error, id, "a recording of a process that was killed is not rendered");
        }
    }
}

/// Renders what a pane shows and keeps, without a recording. Gives the page's id, path, length and count of blocks.
pub fn export(
    home: &Path,
    pane: &Pane,
    path: Option<PathBuf>,
) -> Outcome<(String, PathBuf, usize, usize)> {
    let settings = Settings::read(home)?;
    let mut record = describe(pane)?;
    record.ended_at = Some(record.started_at.clone());
    record.exit_reason = Some("export".to_owned());
    let content = contents(pane);
    record.bytes_raw = match &content {
        Ok(blocks) => blocks.iter().map(|block| block.output.len() as u64).sum(),
        Err(text) => text.len() as u64,
    };
    let page = markdown::page(&record, &content, &mut settings.redaction()?);
    let path = match path {
        Some(path) => {
            let written = private::write(&path, page.as_bytes());
            written.map_err(|error| format!("{}: {error}", path.display()))?;
            path
        }
        None => files::write_export(home, &record, page.as_bytes())
            .map_err(|error| error.to_string())?,
    };
    let blocks = content.map_or(0, |blocks| blocks.len());
    Ok((record.unterm_session_id, path, page.len(), blocks))
}

/// The commands that a pane keeps with their output, or all of its text where there are none.
fn contents(pane: &Pane) -> Result<Vec<Block>, String> {
    let ids: Vec<u64> = {
        let term = pane.term();
        let ran = term.commands().filter(|command| command.output_seq != 0);
        ran.map(|command| command.id).collect()
    };
    let block = |id: u64| {
        // A lock for each, so that the program's output goes on in between.
        let (command, output, exit_code) = {
            let term = pane.term();
            let command = term.command(id)?;
            let output = term.output_range(id).map(|range| term.text(range)).unwrap_or_default();
            let line = command.shown().unwrap_or_default().trim().to_owned();
            (line, output, command.exit_code)
        };
        Some(Block {
            command: as_given(&command, &[], Runs::Shown).into_owned(),
            output: as_given(&output, &[], Runs::Shown).into_owned(),
            exit_code,
            start: None,
            end: None,
        })
    };
    if !ids.is_empty() {
        return Ok(ids.into_iter().filter_map(block).collect());
    }
    let mut lines = pane.term().lines();
    let mut text = String::new();
    for line in lines.oldest().0..lines.end().0 {
        let line = unterm_term::LineId(line);
        lines.row_text(line, &mut text);
        if !lines.is_wrapped(line) {
            text.push('\n');
        }
    }
    Err(as_given(text.trim_end(), &[], Runs::Shown).into_owned())
}

#[cfg(test)]
mod tests;
