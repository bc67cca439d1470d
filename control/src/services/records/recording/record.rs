//! The metadata of a recording.

use std::{
    path::PathBuf,
    time::{SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};

/// The metadata of a recording: a row of the index.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Record {
    /// The recording's id, a UUID.
    pub unterm_session_id: String,
    /// The number of the session.
    pub tab_id: u64,
    /// The path of the project.
    pub project_path: Option<String>,
    /// The project's name in paths of files.
    pub project_slug: Option<String>,
    /// When the recording started (RFC 3339, UTC).
    pub started_at: String,
    /// When the recording ended (RFC 3339, UTC). Absent while it is running.
    pub ended_at: Option<String>,
    /// The number of commands in the recording.
    pub block_count: u64,
    /// The number of bytes that the program wrote.
    pub bytes_raw: u64,
    /// The path of the log.
    pub log_path: PathBuf,
    /// The path of the page.
    pub md_path: PathBuf,
    /// `stopped`, `exited`, `rotated`, `closed`, `crashed`, or `export` for an export.
    pub exit_reason: Option<String>,
    /// The trace ids that callers attached.
    pub trace_ids: Vec<String>,
    /// The id of the recording that this recording continues.
    pub parent_session_id: Option<String>,
    /// The kind of shell.
    pub shell: String,
    /// The name of the machine.
    pub hostname: String,
    /// The columns of the grid. They are needed to render output that moves the cursor.
    pub cols: u16,
    /// The rows of the grid.
    pub rows: u16,
    /// The id of the recording process.
    pub pid: u32,
    /// The start time of that process, which distinguishes it from a later process with the same id.
    pub process_start: Option<u64>,
    /// The number of bytes of output and input that are missing from the log.
    #[serde(skip_serializing_if = "is_none")]
    pub bytes_lost: u64,
    /// The reason why bytes were last lost, or why the page could not be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

/// A result whose error is a message for users.
pub(super) type MessageResult<T> = Result<T, String>;

pub(super) fn now() -> u64 {
    micros(SystemTime::now())
}

pub(super) fn micros(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_micros() as u64)
}
