//! Creates logs, and renders pages from them.

use std::{fs::File, io, path::Path};

use unterm_mux::random;
use unterm_term::Size;

use super::{
    files,
    index::{index, replace_row, rows},
    log::{Event, EventKind},
    markdown::{self, timestamp},
    record::{MessageResult, Record, now},
    settings::Settings,
};
use crate::{registry, services::shell::kind::Shell};

/// A record whose page could not be written, with the reason.
pub(super) type Unwritten = Box<(Record, String)>;

/// Renders the page of an ended recording and writes its row in the index.
///
/// # Errors
/// The page can't be written. Contains the record and the reason.
pub(super) fn finish(
    home: &Path,
    record: Record,
    settings: &Settings,
) -> Result<Record, Unwritten> {
    match files::read_log(home, &record) {
        Ok(events) => render(home, record, &events, settings),
        Err(error) => {
            let error = format!("{}: {error}", record.log_path.display());
            Err(Box::new((record, error)))
        }
    }
}

/// Renders a page like `finish`, from a log that was already read.
pub(super) fn render(
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

/// Creates a new recording's log and its row in the index. `change` may change other rows at the same time.
pub(super) fn open(
    home: &Path,
    mut record: Record,
    change: impl FnOnce(&mut Vec<Record>),
) -> MessageResult<(Record, File)> {
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

/// Creates the log in which a recording continues. The new record has the old project and shell, even if the pane's
/// have changed.
pub(super) fn next_part(home: &Path, old: &Record, size: Size) -> MessageResult<(Record, File)> {
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
    // The old record's row is written as well, so that its exit reason is stored even if its page is never written.
    open(home, record, |rows| replace_row(rows, old))
}

/// Removes a recording that never started.
pub(super) fn forget(home: &Path, record: &Record) {
    files::remove_log(home, record);
    let gone = |rows: &mut Vec<Record>| {
        rows.retain(|row| row.unterm_session_id != record.unterm_session_id);
    };
    if let Err(error) = index(home, gone) {
        tracing::debug!(error, "a row of the index is left over");
    }
}

/// Reads the page of a recording. Never reads a file outside the folders of recordings, even if a project contains
/// links.
///
/// # Errors
/// The page can't be read.
pub fn read_page(home: &Path, record: &Record) -> io::Result<String> {
    files::read_page(home, record)
}

/// Closes and renders the recordings of processes that were killed.
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
                let out = events.iter().filter(|event| event.kind == EventKind::Out);
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
