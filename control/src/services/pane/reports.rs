//! Reports of programs about themselves: progress (OSC 9;4) and status (OSC 7501).
//!
//! Programs choose the text of a report, so it is as untrusted as their output.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_term::{BlockedOn, ProgramState, ProgramStatus, Progress, Term};

/// The progress of a program's task (OSC 9;4).
#[derive(Deserialize, Serialize, JsonSchema)]
pub struct ProgressReport {
    /// `running`, `indeterminate`, `paused` or `error`.
    state: Cow<'static, str>,
    /// The completed part in percent, if the program reported it.
    #[serde(skip_serializing_if = "Option::is_none")]
    percent: Option<u8>,
}

impl ProgressReport {
    /// The progress in a terminal. `None` if no program reports any.
    pub fn of(term: &Term) -> Option<Self> {
        let (state, percent) = match term.progress() {
            Progress::None => return None,
            Progress::Percent(percent) => ("running", Some(percent)),
            Progress::Indeterminate => ("indeterminate", None),
            Progress::Paused(percent) => ("paused", percent),
            Progress::Error(percent) => ("error", percent),
        };
        Some(Self { state: state.into(), percent })
    }
}

/// A status that a program reported (OSC 7501, Program Status Protocol).
#[derive(Deserialize, Serialize, JsonSchema)]
pub struct ProgramReport {
    /// The part of the program that the status is about, as a path of words. Empty: the whole program.
    id: String,
    /// `idle`, `working`, `blocked`, `done` or `error`.
    state: Cow<'static, str>,
    /// The reason for `blocked`, if the program reported it: `permission`, `question` or `auth`.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<Cow<'static, str>>,
    /// The completed part in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    progress: Option<u8>,
    /// The name of the program, as it reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    app: Option<String>,
    /// The subject of the status.
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// A message for the user, in one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

impl ProgramReport {
    /// All reports of a terminal, the newest last.
    pub fn all(term: &Term) -> Vec<Self> {
        term.program_statuses().iter().map(|report| Self::of(term, report)).collect()
    }

    /// The newest report of a terminal, if there is one.
    pub fn newest(term: &Term) -> Vec<Self> {
        term.program_statuses().last().map(|report| Self::of(term, report)).into_iter().collect()
    }

    fn of(term: &Term, report: &ProgramStatus) -> Self {
        let (state, kind) = match report.state {
            ProgramState::Idle => ("idle", None),
            ProgramState::Working => ("working", None),
            ProgramState::Blocked(on) => ("blocked", on.map(blocked_on)),
            ProgramState::Done => ("done", None),
            ProgramState::Error => ("error", None),
        };
        Self {
            id: report.id.clone(),
            state: state.into(),
            kind: kind.map(Into::into),
            progress: report.progress,
            app: term.status_app(&report.id).map(str::to_owned),
            title: report.title.clone(),
            message: report.message.clone(),
        }
    }
}

fn blocked_on(what: BlockedOn) -> &'static str {
    match what {
        BlockedOn::Permission => "permission",
        BlockedOn::Question => "question",
        BlockedOn::Auth => "auth",
    }
}
