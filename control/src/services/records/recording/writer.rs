//! A running recording: the thread that writes its log, and continues in a new log when the current log is full.
//!
//! The pane waits for the log, so that a burst of output loses nothing. If the disk does not accept bytes, the record
//! counts them as lost.

use std::{
    fs::File,
    io::{self, Seek, SeekFrom, Write as _},
    path::PathBuf,
    sync::{Arc, mpsc},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use unterm_mux::{Pane, Tap, TapDirection, TapItem};

use super::{
    log::{Event, EventKind, Splitter},
    markdown::timestamp,
    pages::{finish, next_part},
    record::{MessageResult, Record, micros, now},
    settings::Settings,
};

/// The maximum number of bytes that are written at once.
const BATCH: usize = 1 << 20;
/// The maximum number of output bytes in one line.
const LONGEST_LINE: usize = 64 << 10;
/// The maximum number of bytes that are kept of the running command's first events.
const LONGEST_HEAD: usize = 64 << 10;
/// The maximum size of a log in bytes, including everything.
const LONGEST_LOG: u64 = 32 << 20;

/// The limits at which a log is closed and a new log is started.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The maximum number of output bytes in a log.
    pub(super) bytes: u64,
    /// The maximum number of commands in a log.
    pub(super) blocks: u64,
    /// The length of a minute, which is shorter in tests.
    pub(super) minute: Duration,
}

/// The documented limits. `recording.json` sets the number of minutes.
pub(super) const LIMITS: Limits =
    Limits { bytes: 5 << 20, blocks: 1000, minute: Duration::from_secs(60) };

/// Everything that a recording's thread needs.
pub(super) struct Recording {
    pub(super) home: PathBuf,
    pub(super) pane: Arc<Pane>,
    pub(super) record: Arc<Mutex<Record>>,
    pub(super) log: Log,
    pub(super) settings: Settings,
    pub(super) limits: Limits,
    pub(super) idle: Duration,
    /// Receives records whose page could not be written.
    pub(super) failed: Arc<OnFailed>,
}

/// Receives a record whose page could not be written, and the reason.
pub(super) type OnFailed = dyn Fn(Record, &str) + Send + Sync;

/// Events that have not been written yet.
#[derive(Default)]
struct Batch {
    lines: Vec<u8>,
    /// Output that is not in `lines` yet. It is collected so that many small chunks become one line.
    output: Option<Event>,
    /// The number of output bytes, and of input bytes.
    bytes: (u64, u64),
    /// The number of commands that started.
    blocks: u64,
}

impl Batch {
    fn push(&mut self, event: Event) {
        match event.kind {
            EventKind::Out => self.bytes.0 += event.bytes.len() as u64,
            EventKind::In => self.bytes.1 += event.bytes.len() as u64,
            EventKind::Output => self.blocks += 1,
            EventKind::Prompt | EventKind::Input | EventKind::Exit => {}
        }
        if event.kind != EventKind::Out {
            self.flush();
            event.write(&mut self.lines);
            return;
        }
        match &mut self.output {
            Some(output) if output.bytes.len() < LONGEST_LINE => {
                output.bytes.extend_from_slice(&event.bytes);
            }
            _ => {
                self.flush();
                self.output = Some(event);
            }
        }
    }

    fn flush(&mut self) {
        if let Some(output) = self.output.take() {
            output.write(&mut self.lines);
        }
    }

    fn len(&self) -> usize {
        self.lines.len() + self.output.as_ref().map_or(0, |output| output.bytes.len())
    }
}

/// The log's file.
pub(super) struct Log {
    file: File,
    /// The number of bytes of complete lines in the file.
    length: u64,
    /// The number of lost bytes that the log does not mention yet.
    unsaid: u64,
}

impl Log {
    pub(super) fn new(file: File) -> Self {
        Self { file, length: 0, unsaid: 0 }
    }

    /// Appends lines. If writing fails, removes the incomplete lines, so that the next line starts cleanly.
    fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        let written = self.file.write_all(lines);
        match written {
            Ok(()) => self.length += lines.len() as u64,
            Err(_) => {
                // An error here is ignored, because readers skip incomplete lines.
                let _ = self.file.set_len(self.length);
                let _ = self.file.seek(SeekFrom::Start(self.length));
            }
        }
        written
    }
}

/// The event that stands in a log for missing bytes.
fn gap(bytes: u64, why: &str) -> Event {
    let bytes = format!("\r\n[{bytes} bytes were not recorded: {why}]\r\n").into_bytes();
    Event { micros: now(), kind: EventKind::Out, bytes }
}

/// The thread that renders pages of full logs while the recording continues.
struct Pages {
    records: mpsc::Sender<Record>,
    thread: JoinHandle<()>,
}

/// The state of a recording's thread.
struct Writer {
    of: Recording,
    splitter: Splitter,
    /// The first events of the running command. The next log repeats them.
    head: Vec<Event>,
    is_running: bool,
    last: Instant,
    pages: Option<Pages>,
}

impl Recording {
    /// Records until the tap ends, renders the page of the last log and returns its record. `reason`: returns why the
    /// recording has ended.
    pub(super) fn run(
        self,
        mut tap: Tap,
        reason: impl FnOnce() -> &'static str,
    ) -> MessageResult<Record> {
        let mut writer = Writer {
            of: self,
            splitter: Splitter::default(),
            head: Vec::new(),
            is_running: false,
            last: Instant::now(),
            pages: None,
        };
        while let Some(item) = tap.blocking_next() {
            if item == TapItem::End {
                break;
            }
            if writer.last.elapsed() > writer.of.idle {
                writer.rotate();
            }
            let mut batch = Batch::default();
            let (mut item, mut is_over) = (Some(item), false);
            while let Some(next) = item {
                if next == TapItem::End {
                    is_over = true;
                    break;
                }
                writer.note(next, &mut batch);
                item = if batch.len() < BATCH { tap.try_next() } else { None };
            }
            writer.last = Instant::now();
            writer.write(batch);
            if is_over {
                break;
            }
            if writer.is_full() {
                writer.rotate();
            }
        }
        writer.close(reason())
    }
}

impl Writer {
    fn is_full(&self) -> bool {
        let record = self.of.record.lock();
        record.bytes_raw > self.of.limits.bytes
            || record.block_count >= self.of.limits.blocks
            || self.of.log.length > LONGEST_LOG
    }

    /// Adds an item of the tap to a batch.
    fn note(&mut self, item: TapItem, batch: &mut Batch) {
        match item {
            TapItem::Bytes { direction: TapDirection::Output, bytes, time, .. } => {
                for event in self.splitter.split(micros(time), &bytes) {
                    self.follow(&event);
                    batch.push(event);
                }
            }
            TapItem::Bytes { bytes, time, is_hidden, .. } => {
                // Never write a password to a file.
                let bytes = if is_hidden { Vec::new() } else { bytes.to_vec() };
                let event = Event { micros: micros(time), kind: EventKind::In, bytes };
                self.follow(&event);
                batch.push(event);
            }
            TapItem::Gap { bytes } => {
                let why = "the disk was too slow";
                let mut record = self.of.record.lock();
                record.bytes_lost += bytes;
                record.error = Some(why.to_owned());
                drop(record);
                batch.push(gap(bytes, why));
            }
            TapItem::End => {}
        }
    }

    /// Keeps track of the running command and the events at its start.
    fn follow(&mut self, event: &Event) {
        match event.kind {
            EventKind::Exit => {
                self.is_running = false;
                self.head.clear();
                return;
            }
            // Output and input of the running command are not part of its first events.
            EventKind::Out | EventKind::In if self.is_running => return,
            EventKind::Prompt => {
                self.is_running = false;
                // Input that was typed before the prompt appeared belongs to the next command.
                self.head.retain(|event| event.kind == EventKind::In);
            }
            EventKind::Output => self.is_running = true,
            _ => {}
        }
        let length: usize = self.head.iter().map(|event| event.bytes.len() + 32).sum();
        // If these events are too long, the next page shows the command's output, but not its name.
        if length + event.bytes.len() < LONGEST_HEAD || event.kind == EventKind::Output {
            self.head.push(event.clone());
        }
    }

    fn write(&mut self, mut batch: Batch) {
        batch.flush();
        // There may be nothing to write yet, because all bytes so far may be the beginning of a mark.
        if batch.lines.is_empty() {
            return;
        }
        let mut lines = Vec::new();
        let unsaid = self.of.log.unsaid;
        if unsaid > 0 {
            let record = self.of.record.lock();
            gap(unsaid, record.error.as_deref().unwrap_or_default()).write(&mut lines);
        }
        lines.append(&mut batch.lines);
        let written = self.of.log.append(&lines);
        let mut record = self.of.record.lock();
        match written {
            Ok(()) => {
                self.of.log.unsaid = 0;
                record.bytes_raw += batch.bytes.0;
                record.block_count += batch.blocks;
            }
            Err(error) => {
                tracing::warn!(%error, path = %record.log_path.display(), "a recording is not complete");
                let lost = batch.bytes.0 + batch.bytes.1;
                self.of.log.unsaid += lost;
                record.bytes_lost += lost;
                record.error = Some(error.to_string());
            }
        }
    }

    /// Continues in a new log. If the new log can't be created, continues in the current log, and tries again after the
    /// next output.
    fn rotate(&mut self) {
        self.write_lost();
        let mut old = self.of.record.lock().clone();
        old.exit_reason = Some("rotated".to_owned());
        let size = self.of.pane.term().size();
        let (next, file) = match next_part(&self.of.home, &old, size) {
            Ok(next) => next,
            Err(error) => {
                tracing::warn!(%error, "a recording goes on in a log that is full");
                self.of.record.lock().error = Some(error.to_string());
                return;
            }
        };
        // Callers may have attached trace ids meanwhile.
        {
            let mut record = self.of.record.lock();
            old.trace_ids.clone_from(&record.trace_ids);
            *record = Record { trace_ids: old.trace_ids.clone(), ..next };
        }
        self.of.log = Log::new(file);
        self.render(old);
        if self.is_running {
            // The program's output must be in only one of a recording's logs. So the echo of the line is repeated only
            // if the shell did not report the line.
            let is_line =
                |event: &Event| event.kind == EventKind::Input && event.bytes.starts_with(b"E;");
            let is_said = self.head.iter().any(is_line);
            let mut batch = Batch::default();
            let head = self.head.iter().filter(|event| !is_said || event.kind != EventKind::Out);
            head.for_each(|event| batch.push(event.clone()));
            // The repeated events were already counted in the old log.
            (batch.bytes, batch.blocks) = ((0, 0), 0);
            self.write(batch);
        }
    }

    /// Lets a separate thread write the page of a full log.
    fn render(&mut self, mut record: Record) {
        record.ended_at = Some(timestamp(now()));
        let unsent = match &self.pages {
            Some(pages) => pages.records.send(record).err().map(|unsent| unsent.0),
            None => {
                let (records, full) = mpsc::channel();
                let (home, settings, failed) =
                    (self.of.home.clone(), self.of.settings.clone(), self.of.failed.clone());
                let render = move || {
                    for record in full {
                        if let Err(unwritten) = finish(&home, record, &settings) {
                            let (record, error) = *unwritten;
                            failed(record, &error);
                        }
                    }
                };
                let thread = thread::Builder::new().name("recording pages".to_owned());
                match thread.spawn(render) {
                    Ok(thread) => {
                        let unsent = records.send(record).err().map(|unsent| unsent.0);
                        self.pages = Some(Pages { records, thread });
                        unsent
                    }
                    Err(_) => Some(record),
                }
            }
        };
        if let Some(record) = unsent {
            (self.of.failed)(record, "there is no thread for it");
        }
    }

    /// Appends an event for the lost bytes that the log does not mention yet.
    fn write_lost(&mut self) {
        let unsaid = self.of.log.unsaid;
        if unsaid > 0 {
            let mut line = Vec::new();
            let why = self.of.record.lock().error.clone().unwrap_or_default();
            gap(unsaid, &why).write(&mut line);
            if self.of.log.append(&line).is_ok() {
                self.of.log.unsaid = 0;
            }
        }
    }

    /// Ends the record, renders its page and writes its row.
    fn close(mut self, reason: &'static str) -> MessageResult<Record> {
        let mut batch = Batch::default();
        if let Some(event) = self.splitter.finish(now()) {
            batch.push(event);
        }
        self.write(batch);
        self.write_lost();
        let record = {
            let mut record = self.of.record.lock();
            record.ended_at = Some(timestamp(now()));
            record.exit_reason = Some(reason.to_owned());
            record.clone()
        };
        // The earlier pages are written first, so that the index lists them in order.
        if let Some(Pages { records, thread }) = self.pages.take() {
            drop(records);
            let _ = thread.join();
        }
        finish(&self.of.home, record, &self.of.settings).map_err(|unwritten| {
            let (record, error) = *unwritten;
            let log = record.log_path.display().to_string();
            (self.of.failed)(record, &error);
            format!("The recording's page can't be written: {error}. Its log is {log}")
        })
    }
}
