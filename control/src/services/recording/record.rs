//! What is known of a recording.

use std::{
    path::PathBuf,
    time::{SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};

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

/// What goes wrong, for people.
pub(super) type Outcome<T> = Result<T, String>;

pub(super) fn now() -> u64 {
    micros(SystemTime::now())
}

pub(super) fn micros(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_micros() as u64)
}
