//! Recordings of sessions: a log that is written as events happen, and a markdown page that is rendered at the end.
//! Owns the list of recorded sessions and the index of recordings, and recovers the recordings of killed processes.

mod export;
mod files;
mod index;
pub mod log;
pub mod markdown;
mod pages;
mod project;
mod record;
mod redaction;
pub mod search;
pub mod settings;
mod writer;

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, Weak},
    thread,
    time::Duration,
};

use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};
use unterm_mux::{Hides, Mux, MuxEvent, Observer, Pane, PaneId, Tap, TapEnd};

pub use self::{
    export::export,
    index::rows,
    pages::{read_page, recover},
    project::project_of,
    record::Record,
    redaction::SharedRedaction,
};
use self::{
    index::{index, replace_row},
    pages::{finish, forget, open},
    project::describe,
    record::MessageResult,
    settings::Settings,
    writer::{LIMITS, Limits, Log, Recording},
};

/// The time between attempts to write pages that could not be written.
const AGAIN: Duration = Duration::from_secs(30);
/// The maximum number of trace ids of a recording. It is limited because the index stores them all.
const MOST_TRACES: usize = 256;
/// The maximum number of new panes that wait until the settings have been read.
const NEW_PANES: usize = 256;

/// The recordings of one process.
pub struct Recorder {
    home: PathBuf,
    limits: Limits,
    live: Arc<Mutex<HashMap<PaneId, Arc<Live>>>>,
    unfinished: Arc<Unfinished>,
}

/// A recording that is running.
struct Live {
    record: Arc<Mutex<Record>>,
    end: TapEnd,
    stops: Mutex<Stops>,
}

/// Requests to end a recording.
#[derive(Default)]
struct Stops {
    asked: Vec<Stop>,
    /// Whether the recording has ended, so that further requests get no answer.
    is_over: bool,
}

/// A request to end a recording, with the channel for the answer.
struct Stop {
    reason: &'static str,
    ended: oneshot::Sender<MessageResult<Record>>,
}

/// Recordings that have ended, but whose page or index row could not be written, for example because the disk is full.
/// Each is stored with the reason.
#[derive(Default)]
struct Unfinished {
    records: Mutex<Vec<(Record, String)>>,
}

impl Unfinished {
    /// Adds a record, and tries to write its page in the background until that succeeds.
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

    /// Writes the pages that can be written now.
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

    /// The index rows of these recordings. Each contains the reason why its page is missing.
    fn rows(&self) -> Vec<Record> {
        let row = |(record, error): &(Record, String)| Record {
            error: Some(format!("the page is not written yet: {error}")),
            ..record.clone()
        };
        self.records.lock().iter().map(row).collect()
    }
}

/// Taps each new pane before the first byte of its program is read. The tap stays until the settings decide whether the
/// pane is recorded.
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
    /// Creates a recorder whose index is in `home`.
    pub fn new(home: &Path) -> Self {
        Self {
            home: home.to_owned(),
            limits: LIMITS,
            live: Arc::default(),
            unfinished: Arc::default(),
        }
    }

    /// If `recording.json` enables it, records every session that is opened from now on, from its first byte. Ends when
    /// the mux ends. For `hides`, see [`Recorder::start`].
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
                // A session without a tab is recorded only if its owner requests it.
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

    /// Whether a pane is being recorded.
    pub fn has(&self, pane: PaneId) -> bool {
        self.live.lock().contains_key(&pane)
    }

    /// The record of a pane's running recording.
    pub fn status(&self, pane: PaneId) -> Option<Record> {
        self.live.lock().get(&pane).map(|live| live.record.lock().clone())
    }

    /// Every known recording, including those whose page could not be written yet.
    ///
    /// # Errors
    /// The index's path and why it can't be read.
    pub fn rows(&self) -> MessageResult<Vec<Record>> {
        let mut rows = rows(&self.home)?;
        for row in self.unfinished.rows() {
            replace_row(&mut rows, &row);
        }
        Ok(rows)
    }

    /// The page of a recording.
    ///
    /// # Errors
    /// There is no such recording, or its page can't be read.
    pub fn page(&self, id: &str) -> MessageResult<String> {
        let row = self.rows()?.into_iter().find(|row| row.unterm_session_id == id);
        let row = row.ok_or_else(|| format!("Recording '{id}' not found"))?;
        read_page(&self.home, &row)
            .map_err(|error| format!("Recording '{id}' can't be read: {error}"))
    }

    /// Starts to record a pane. `hides`: returns whether input must be hidden. It is called each time when input is
    /// written.
    pub async fn start(
        &self,
        pane: Arc<Pane>,
        hides: impl Fn(&Pane) -> bool + Send + Sync + 'static,
    ) -> MessageResult<Record> {
        let settings = self.settings().await?;
        let tap = pane.tap_recording(Arc::new(hides));
        self.start_with(settings, pane, tap).await
    }

    /// Reads `recording.json` on a blocking thread.
    async fn settings(&self) -> MessageResult<Settings> {
        let home = self.home.clone();
        let read = tokio::task::spawn_blocking(move || Settings::read(&home));
        read.await.map_err(|error| error.to_string())?
    }

    async fn start_with(
        &self,
        settings: Settings,
        pane: Arc<Pane>,
        tap: Tap,
    ) -> MessageResult<Record> {
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
    pub async fn stop(&self, pane: PaneId, reason: &'static str) -> MessageResult<Record> {
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

    /// Ends all recordings, because the process is about to exit.
    pub async fn stop_all(&self) {
        let panes: Vec<PaneId> = self.live.lock().keys().copied().collect();
        for pane in panes {
            if let Err(error) = self.stop(pane, "closed").await {
                tracing::debug!(error, "a recording ended by itself");
            }
        }
    }

    /// Attaches a trace id to a pane's recording, and returns all trace ids of the recording.
    pub async fn attach(&self, pane: PaneId, trace: String) -> MessageResult<Vec<String>> {
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

#[cfg(test)]
mod tests;
