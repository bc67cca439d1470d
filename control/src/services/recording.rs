//! Recordings of sessions: a log written as things happen, and a page of markdown when it is over. Knows where they lie,
//! and closes those of processes that were killed.

pub mod log;
pub mod markdown;
pub mod redact;
pub mod settings;

use std::{
    collections::HashMap,
    fs::{self, File},
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
    sync::{Arc, Weak},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};
use unterm_mux::{Mux, Pane, PaneId, Tap, TapDirection, TapItem, local_path, private, random};
use unterm_term::Size;

use self::{
    log::{Event, Kind, Splitter},
    markdown::{Block, timestamp},
    settings::Settings,
};
use super::{
    events::Subscription,
    shell::{Activity, Runs, Shell, as_given},
};
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
}

/// The recordings of one process.
pub struct Recorder {
    home: PathBuf,
    limits: Limits,
    live: Arc<Mutex<HashMap<PaneId, Live>>>,
}

/// A recording that goes on.
struct Live {
    record: Arc<Mutex<Record>>,
    stop: mpsc::Sender<Stop>,
}

/// Asks a recording to end, and who wants to hear of it.
struct Stop {
    reason: &'static str,
    ended: oneshot::Sender<Result<Record, String>>,
}

/// What goes wrong, for people.
type Outcome<T> = Result<T, String>;

fn now() -> u64 {
    micros(SystemTime::now())
}

fn micros(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_micros() as u64)
}

impl Recorder {
    /// Keeps its index in `home`.
    pub fn new(home: &Path) -> Self {
        Self { home: home.to_owned(), limits: LIMITS, live: Arc::default() }
    }

    /// Records every session that is opened while `recording.json` says so; for as long as the mux is there. `hides` as
    /// in [`Recorder::start`].
    pub async fn follow(
        self: Arc<Self>,
        mux: Weak<Mux>,
        mut opened: Subscription,
        hides: fn(&Pane) -> bool,
    ) {
        loop {
            let event = opened.next().await;
            let id = event["session_id"].as_str().and_then(|id| id.parse().ok()).map(PaneId);
            let Some(mux) = mux.upgrade() else { return };
            let Some(pane) = id.and_then(|id| mux.pane(id)) else { continue };
            // A session without a tab is its owner's business.
            if mux.layout().tab_of(pane.id()).is_none() {
                continue;
            }
            let Ok(settings) = self.settings().await else { continue };
            if !settings.recording.enabled {
                continue;
            }
            if let Err(error) = self.start_with(&settings, pane, hides).await {
                tracing::warn!(error, "a session is not recorded");
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

    /// Begins to record a pane. `hides`: whether what is typed there now is not to be seen; asked as it is written.
    pub async fn start(
        &self,
        pane: Arc<Pane>,
        hides: impl Fn(&Pane) -> bool + Send + Sync + 'static,
    ) -> Outcome<Record> {
        let settings = self.settings().await?;
        self.start_with(&settings, pane, hides).await
    }

    /// `recording.json`, read outside of the workers.
    async fn settings(&self) -> Outcome<Settings> {
        let home = self.home.clone();
        let read = tokio::task::spawn_blocking(move || Settings::read(&home));
        read.await.map_err(|error| error.to_string())
    }

    async fn start_with(
        &self,
        settings: &Settings,
        pane: Arc<Pane>,
        hides: impl Fn(&Pane) -> bool + Send + Sync + 'static,
    ) -> Outcome<Record> {
        let id = pane.id();
        let minutes = u32::try_from(settings.idle_rotate_minutes.max(1)).unwrap_or(u32::MAX);
        let idle = self.limits.minute.saturating_mul(minutes);
        let tap = pane.tap_hiding(Arc::new(hides));
        let (stop, stops) = mpsc::channel(1);
        let new = {
            let (home, pane) = (self.home.clone(), pane.clone());
            let open = move || open(&home, &pane, None, Vec::new());
            tokio::task::spawn_blocking(open).await.map_err(|error| error.to_string())?
        };
        let (record, file) = new.map_err(|error| format!("Recording can't be started: {error}"))?;
        let shared = Arc::new(Mutex::new(record.clone()));
        {
            let mut live = self.live.lock();
            if live.contains_key(&id) {
                drop(file);
                let (home, record) = (self.home.clone(), record);
                tokio::task::spawn_blocking(move || forget(&home, &record));
                return Err(format!("Session {} is already being recorded", id.0));
            }
            live.insert(id, Live { record: shared.clone(), stop });
        }
        let recording = Recording {
            home: self.home.clone(),
            pane,
            record: shared,
            file: Some(file),
            splitter: Splitter::default(),
            limits: self.limits,
            idle,
            last: Instant::now(),
        };
        let live = self.live.clone();
        tokio::spawn(async move {
            recording.run(tap, stops, move || drop(live.lock().remove(&id))).await;
        });
        Ok(record)
    }

    /// Ends a pane's recording.
    pub async fn stop(&self, pane: PaneId, reason: &'static str) -> Outcome<Record> {
        let none = || format!("Session {} is not being recorded", pane.0);
        let stop = self.live.lock().get(&pane).map(|live| live.stop.clone()).ok_or_else(none)?;
        let (ended, end) = oneshot::channel();
        stop.send(Stop { reason, ended }).await.map_err(|_| none())?;
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
                record.trace_ids.push(trace);
            }
            record.clone()
        };
        let (home, row) = (self.home.clone(), record.clone());
        let write = move || index(&home, |rows| replace_row(rows, &row));
        let written =
            tokio::task::spawn_blocking(write).await.map_err(|error| error.to_string())?;
        written.map_err(|error| error.to_string())?;
        Ok(record.trace_ids)
    }
}

/// One that goes on.
struct Recording {
    home: PathBuf,
    pane: Arc<Pane>,
    record: Arc<Mutex<Record>>,
    /// The log; with a blocking thread while it is written.
    file: Option<File>,
    splitter: Splitter,
    limits: Limits,
    idle: Duration,
    last: Instant,
}

impl Recording {
    async fn run(mut self, mut tap: Tap, mut stops: mpsc::Receiver<Stop>, over: impl FnOnce()) {
        let mut stop = None;
        let mut reason = "exited";
        'record: loop {
            let item = tokio::select! {
                item = tap.next() => item.unwrap_or(TapItem::End),
                asked = stops.recv() => {
                    reason = asked.as_ref().map_or("closed", |stop| stop.reason);
                    stop = asked;
                    // What has come before counts.
                    let mut lines = Vec::new();
                    while let Some(item) = tap.try_next() {
                        self.note(item, &mut lines);
                    }
                    self.write(lines).await;
                    break;
                }
            };
            let mut lines = Vec::new();
            if self.last.elapsed() > self.idle {
                self.rotate().await;
            }
            let mut item = Some(item);
            while let Some(next) = item {
                if next == TapItem::End {
                    self.write(lines).await;
                    break 'record;
                }
                self.note(next, &mut lines);
                item = if lines.len() < 1 << 20 { tap.try_next() } else { None };
            }
            self.last = Instant::now();
            self.write(lines).await;
            let is_full = {
                let record = self.record.lock();
                record.bytes_raw > self.limits.bytes || record.block_count >= self.limits.blocks
            };
            if is_full {
                self.rotate().await;
            }
        }
        let ended = self.close(reason).await;
        over();
        if let Some(stop) = stop {
            let _ = stop.ended.send(ended);
        }
    }

    /// Turns an item into lines of the log.
    fn note(&mut self, item: TapItem, lines: &mut Vec<u8>) {
        match item {
            TapItem::Bytes { direction: TapDirection::Output, bytes, time, .. } => {
                let mut record = self.record.lock();
                record.bytes_raw += bytes.len() as u64;
                for event in self.splitter.split(micros(time), &bytes) {
                    record.block_count += u64::from(event.kind == Kind::Output);
                    event.write(lines);
                }
            }
            TapItem::Bytes { bytes, time, is_hidden, .. } => {
                // A password is in no file.
                let bytes = if is_hidden { Vec::new() } else { bytes.to_vec() };
                Event { micros: micros(time), kind: Kind::In, bytes }.write(lines);
            }
            TapItem::Gap { bytes } => {
                let bytes = format!("\r\n[{bytes} bytes were not recorded]\r\n").into_bytes();
                Event { micros: now(), kind: Kind::Out, bytes }.write(lines);
            }
            TapItem::End => {}
        }
    }

    async fn write(&mut self, lines: Vec<u8>) {
        // What was read may be the beginning of a mark, all of it.
        if lines.is_empty() {
            return;
        }
        let Some(mut file) = self.file.take() else { return };
        let written = tokio::task::spawn_blocking(move || {
            let result = file.write_all(&lines);
            (file, result)
        });
        match written.await {
            Ok((file, result)) => {
                if let Err(error) = result {
                    tracing::warn!(%error, "a recording is not complete");
                }
                self.file = Some(file);
            }
            Err(error) => tracing::warn!(%error, "a recording is not complete"),
        }
    }

    /// Closes the log, and goes on in another one.
    async fn rotate(&mut self) {
        let old = match self.close("rotated").await {
            Ok(old) => old,
            Err(error) => {
                tracing::warn!(error, "a recording was not rendered");
                self.record.lock().clone()
            }
        };
        let (home, pane) = (self.home.clone(), self.pane.clone());
        let new = move || open(&home, &pane, Some(old.unterm_session_id), old.trace_ids);
        match tokio::task::spawn_blocking(new).await {
            Ok(Ok((record, file))) => {
                *self.record.lock() = record;
                self.file = Some(file);
            }
            Ok(Err(error)) => tracing::warn!(%error, "a recording does not go on"),
            Err(error) => tracing::warn!(%error, "a recording does not go on"),
        }
    }

    /// Ends the record, renders it, and writes it into the index.
    async fn close(&mut self, reason: &'static str) -> Outcome<Record> {
        self.file = None;
        let record = {
            let mut record = self.record.lock();
            record.ended_at = Some(timestamp(now()));
            record.exit_reason = Some(reason.to_owned());
            record.clone()
        };
        let home = self.home.clone();
        tokio::task::spawn_blocking(move || finish(&home, record))
            .await
            .map_err(|error| error.to_string())?
            .map_err(|error| format!("The recording can't be rendered: {error}"))
    }
}

/// Renders an ended recording's page and writes its row.
fn finish(home: &Path, record: Record) -> io::Result<Record> {
    let events = log::read(&record.log_path)?;
    render(home, record, &events)
}

/// The same with the log as it was read.
fn render(home: &Path, mut record: Record, events: &[Event]) -> io::Result<Record> {
    let size = Size::cells(record.cols.max(1), record.rows.max(1));
    let content = markdown::blocks(events, size, Shell::of_process(&record.shell));
    record.block_count = content.as_ref().map_or(0, |blocks| blocks.len() as u64);
    let page = markdown::page(&record, &content, &mut Settings::read(home).redaction());
    private::write(&record.md_path, page.as_bytes())?;
    index(home, |rows| replace_row(rows, &record))?;
    Ok(record)
}

/// Makes a new recording's log, and its row in the index.
fn open(
    home: &Path,
    pane: &Pane,
    parent: Option<String>,
    trace_ids: Vec<String>,
) -> io::Result<(Record, File)> {
    let mut record = describe(pane)?;
    record.parent_session_id = parent;
    record.trace_ids = trace_ids;
    let (log_path, file) = create(home, &record, "log")?;
    record.md_path = log_path.with_extension("md");
    record.log_path = log_path;
    index(home, |rows| replace_row(rows, &record))?;
    Ok((record, file))
}

/// Takes a recording that never began out again.
fn forget(home: &Path, record: &Record) {
    let _ = fs::remove_file(&record.log_path);
    let gone = |rows: &mut Vec<Record>| {
        rows.retain(|row| row.unterm_session_id != record.unterm_session_id);
    };
    if let Err(error) = index(home, gone) {
        tracing::debug!(%error, "a row of the index is left over");
    }
}

/// A pane, as a record that begins now.
fn describe(pane: &Pane) -> io::Result<Record> {
    let size = pane.term().size();
    let project = project(local_path(&pane.cwd_uri()).as_deref());
    let pid = std::process::id();
    Ok(Record {
        unterm_session_id: random::uuid()?,
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

/// A new file for a recording: in its project, else in Unterm's home.
fn create(home: &Path, record: &Record, extension: &str) -> io::Result<(PathBuf, File)> {
    let date = record.started_at.get(..10).unwrap_or("undated");
    let time = record.started_at.get(11..19).unwrap_or_default().replace(':', "");
    let slug = record.project_slug.as_deref().unwrap_or("_orphan");
    let own = home.join("sessions").join(slug).join(date);
    let there = record.project_path.as_ref();
    let there = there.map(|path| Path::new(path).join(".unterm/sessions").join(date));
    let mut last = io::Error::from(ErrorKind::NotFound);
    for folder in there.into_iter().chain([own]) {
        if let Err(error) = private::create_folder(&folder) {
            last = error;
            continue;
        }
        // Another one may have begun in the same second.
        for number in 1..1000 {
            let again = if number == 1 { String::new() } else { format!("-{number}") };
            let name = format!("tab-{}-{time}{again}.{extension}", record.tab_id);
            match private::create_file(&folder.join(&name)) {
                Ok(file) => return Ok((folder.join(name), file)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => {
                    last = error;
                    break;
                }
            }
        }
    }
    Err(last)
}

fn replace_row(rows: &mut Vec<Record>, row: &Record) {
    match rows.iter_mut().find(|known| known.unterm_session_id == row.unterm_session_id) {
        Some(known) => *known = row.clone(),
        None => rows.push(row.clone()),
    }
}

/// Changes the index, which all instances share, under a lock.
fn index(home: &Path, change: impl FnOnce(&mut Vec<Record>)) -> io::Result<()> {
    let folder = home.join("sessions");
    private::create_folder(&folder)?;
    let _lock = registry::lock(&folder)?;
    let mut rows = rows(home)?;
    let before = rows.clone();
    change(&mut rows);
    if rows == before {
        return Ok(());
    }
    let text = serde_json::to_vec_pretty(&rows)?;
    private::write(&folder.join("index.json"), &text)
}

/// Every recording that is known.
pub fn rows(home: &Path) -> io::Result<Vec<Record>> {
    match fs::read(home.join("sessions/index.json")) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        text => Ok(serde_json::from_slice(&text?)?),
    }
}

/// Closes and renders what processes that were killed have left.
pub fn recover(home: &Path) {
    let is_left =
        |row: &Record| row.ended_at.is_none() && !registry::is_live(row.pid, row.process_start);
    let left = match rows(home) {
        Ok(rows) => rows.into_iter().filter(is_left),
        Err(error) => {
            tracing::warn!(%error, "the index of recordings can't be read");
            return;
        }
    };
    for mut record in left {
        let id = record.unterm_session_id.clone();
        let closed = log::read(&record.log_path).and_then(|events| {
            let out = events.iter().filter(|event| event.kind == Kind::Out);
            record.bytes_raw = out.map(|event| event.bytes.len() as u64).sum();
            let last = events.last().map(|event| timestamp(event.micros));
            record.ended_at = Some(last.unwrap_or_else(|| record.started_at.clone()));
            record.exit_reason = Some("crashed".to_owned());
            render(home, record, &events)
        });
        if let Err(error) = closed {
            tracing::warn!(%error, id, "a recording of a process that was killed is lost");
        }
    }
}

/// Renders what a pane shows and keeps, without a recording. Gives the page's id, path, length and count of blocks.
pub fn export(
    home: &Path,
    pane: &Pane,
    path: Option<PathBuf>,
) -> io::Result<(String, PathBuf, usize, usize)> {
    let mut record = describe(pane)?;
    record.ended_at = Some(record.started_at.clone());
    record.exit_reason = Some("export".to_owned());
    let content = contents(pane);
    record.bytes_raw = match &content {
        Ok(blocks) => blocks.iter().map(|block| block.output.len() as u64).sum(),
        Err(text) => text.len() as u64,
    };
    let page = markdown::page(&record, &content, &mut Settings::read(home).redaction());
    let path = match path {
        Some(path) => path,
        None => create(home, &record, "md")?.0,
    };
    private::write(&path, page.as_bytes())?;
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
