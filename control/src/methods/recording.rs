//! `session.recording_*` and `session.export_markdown`: recordings of sessions, and pages without a recording.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Caller, Context, Group, Method, Result, Subjects,
    params::{Arg, SessionOnly, session_params},
    session::blocking,
};
use crate::{
    error::Error,
    services::records::recording::{self, Record},
};

/// The maximum number of characters of a trace id. The rest is cut off.
const LONGEST_TRACE: usize = 256;

fn failed(error: impl std::fmt::Display) -> Error {
    Error::Failed(error.to_string())
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// `session.recording_start`.
pub struct Start;

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct StartReply {
    /// The recording's id.
    pub session_id: String,
    pub log_path: String,
    pub md_path_when_done: String,
}

impl Method for Start {
    const NAME: &'static str = "session.recording_start";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::RECORDING;
    const CHANGES: Subjects = Subjects::RECORDING;
    const DOC: &'static str = "Starts recording a session.";
    type Params<'a> = SessionOnly<'a>;
    type Reply = StartReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: SessionOnly<'a>,
    ) -> Result<StartReply> {
        let pane = context.pane(params.session())?;
        let record =
            context.records.recorder.start(pane, super::hides_input).await.map_err(failed)?;
        Ok(StartReply {
            session_id: record.unterm_session_id,
            log_path: text(&record.log_path),
            md_path_when_done: text(&record.md_path),
        })
    }
}

/// `session.recording_stop`.
pub struct Stop;

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct StopReply {
    /// The recording's id.
    pub session_id: String,
    pub ended_at: String,
    pub block_count: u64,
    pub exit_reason: String,
    pub md_path: String,
}

impl Method for Stop {
    const NAME: &'static str = "session.recording_stop";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::RECORDING;
    const CHANGES: Subjects = Subjects::RECORDING;
    const DOC: &'static str = "Stops recording a session and renders the recording.";
    type Params<'a> = SessionOnly<'a>;
    type Reply = StopReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: SessionOnly<'a>,
    ) -> Result<StopReply> {
        let pane = context.pane(params.session())?.id();
        let record = context.records.recorder.stop(pane, "stopped").await.map_err(failed)?;
        Ok(StopReply {
            session_id: record.unterm_session_id,
            ended_at: record.ended_at.unwrap_or_default(),
            block_count: record.block_count,
            exit_reason: record.exit_reason.unwrap_or_default(),
            md_path: text(&record.md_path),
        })
    }
}

/// `session.recording_status`.
pub struct Status;

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct StatusReply {
    pub recording: bool,
    /// Always equal to `recording`.
    pub enabled: bool,
    /// The recording's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    /// How many commands have begun.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_count: Option<u64>,
    /// Bytes that the program wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// How many bytes were lost, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_lost: Option<u64>,
    /// Why bytes were last lost, or why no further file can be created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Method for Status {
    const NAME: &'static str = "session.recording_status";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Whether a session is being recorded.";
    type Params<'a> = SessionOnly<'a>;
    type Reply = StatusReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: SessionOnly<'a>,
    ) -> Result<StatusReply> {
        let record = context.records.recorder.status(context.pane(params.session())?.id());
        Ok(StatusReply {
            recording: record.is_some(),
            enabled: record.is_some(),
            block_count: record.as_ref().map(|record| record.block_count),
            bytes: record.as_ref().map(|record| record.bytes_raw),
            bytes_lost: record.as_ref().map(|record| record.bytes_lost).filter(|&lost| lost > 0),
            error: record.as_ref().and_then(|record| record.error.clone()),
            started_at: record.as_ref().map(|record| record.started_at.clone()),
            session_id: record.map(|record| record.unterm_session_id),
        })
    }
}

/// `session.recording_list`.
pub struct List;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct ListParams<'a> {
    /// Only recordings of this project, by its path or name.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub project: Arg<'a, String>,
}

/// A finished recording.
#[derive(Deserialize, Serialize, JsonSchema)]
pub struct Listed {
    pub unterm_session_id: String,
    pub tab_id: u64,
    pub project_path: Option<String>,
    pub project_slug: Option<String>,
    pub started_at: String,
    pub ended_at: Option<String>,
    pub block_count: u64,
    pub bytes_raw: u64,
    pub log_path: String,
    pub md_path: String,
    /// How many bytes were lost, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_lost: Option<u64>,
    /// Why bytes were last lost, or why the page is not written yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Method for List {
    const NAME: &'static str = "session.recording_list";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::FILES;
    const DOC: &'static str = "Lists the finished recordings, oldest first.";
    type Params<'a> = ListParams<'a>;
    type Reply = Vec<Listed>;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: ListParams<'a>,
    ) -> Result<Vec<Listed>> {
        let project = params.project.text("project")?;
        let recorder = context.records.recorder.clone();
        let rows = blocking(move || recorder.rows()).await?.map_err(failed)?;
        let is_wanted = |row: &Record| {
            // Projects are compared as paths, so that a trailing `/` does not matter.
            let is_it = |name: &Option<String>| {
                name.as_ref().map(Path::new) == project.as_deref().map(Path::new)
            };
            row.ended_at.is_some()
                && (project.is_none() || is_it(&row.project_path) || is_it(&row.project_slug))
        };
        let listed = rows.into_iter().filter(is_wanted).map(|row| Listed {
            log_path: text(&row.log_path),
            md_path: text(&row.md_path),
            unterm_session_id: row.unterm_session_id,
            tab_id: row.tab_id,
            project_path: row.project_path,
            project_slug: row.project_slug,
            started_at: row.started_at,
            ended_at: row.ended_at,
            block_count: row.block_count,
            bytes_raw: row.bytes_raw,
            bytes_lost: Some(row.bytes_lost).filter(|&lost| lost > 0),
            error: row.error,
        });
        Ok(listed.collect())
    }
}

/// `session.recording_read`.
pub struct Read;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
#[serde(bound(deserialize = "'de: 'a"))]
pub struct ReadParams<'a> {
    /// The recording's id.
    #[serde(borrow)]
    pub session_id: Arg<'a, String>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct ReadReply {
    pub markdown: String,
}

impl Method for Read {
    const NAME: &'static str = "session.recording_read";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::FILES;
    const DOC: &'static str = "Reads a recording's page.";
    type Params<'a> = ReadParams<'a>;
    type Reply = ReadReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: ReadParams<'a>,
    ) -> Result<ReadReply> {
        let id = params.session_id.required("session_id")?.into_owned();
        let recorder = context.records.recorder.clone();
        let page = blocking(move || recorder.page(&id)).await?;
        Ok(ReadReply { markdown: page.map_err(failed)? })
    }
}

/// `session.recording_attach_trace`.
pub struct AttachTrace;

session_params! {
    /// A session, and a trace id.
    AttachParams {
        /// The trace id.
        trace_id: String,
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct AttachReply {
    /// All trace ids of the recording.
    pub trace_ids: Vec<String>,
}

impl Method for AttachTrace {
    const NAME: &'static str = "session.recording_attach_trace";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::RECORDING;
    const CHANGES: Subjects = Subjects::RECORDING;
    const DOC: &'static str = "Adds a caller's trace id to a session's recording.";
    type Params<'a> = AttachParams<'a>;
    type Reply = AttachReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: AttachParams<'a>,
    ) -> Result<AttachReply> {
        let pane = context.pane(params.target())?.id();
        let trace: String =
            params.trace_id.required("trace_id")?.chars().take(LONGEST_TRACE).collect();
        let trace_ids = context.records.recorder.attach(pane, trace).await.map_err(failed)?;
        Ok(AttachReply { trace_ids })
    }
}

/// `session.export_markdown`.
pub struct Export;

session_params! {
    /// A session, and the file to write.
    ExportParams {
        /// The file's absolute path. Default: a new file in the project's folder or in Unterm's.
        #[serde(default)]
        path: String,
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct ExportReply {
    /// A new id, which no recording has.
    pub session_id: String,
    pub path: String,
    pub bytes: usize,
    pub block_count: usize,
}

impl Method for Export {
    const NAME: &'static str = "session.export_markdown";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::RECORDING;
    const CHANGES: Subjects = Subjects::RECORDING.union(Subjects::DISK);
    const DOC: &'static str = "Renders a session's screen and history in the form of a recording.";
    type Params<'a> = ExportParams<'a>;
    type Reply = ExportReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: ExportParams<'a>,
    ) -> Result<ExportReply> {
        let pane = context.pane(params.target())?;
        let path = params.path.text("path")?.map(|path| PathBuf::from(&*path));
        if let Some(path) = path.as_ref().filter(|path| !path.is_absolute()) {
            return Err(Error::Invalid {
                name: "path",
                expected: "an absolute path".to_owned(),
                got: format!("{path:?}"),
            });
        }
        let home = context.registration.home().to_owned();
        let failed = |error| failed(format!("Cannot write the session's page: {error}"));
        let export = move || recording::export(&home, &pane, path);
        let (session_id, path, bytes, block_count) = blocking(export).await?.map_err(failed)?;
        Ok(ExportReply { session_id, path: text(&path), bytes, block_count })
    }
}
