//! `session.activity`: the state of sessions, and their background jobs.

use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_mux::{Pane, PaneState};

use super::{
    Caller, Context, Group, Method, Result, Subjects, params::SessionOnly, session::blocking,
};
use crate::services::shell::{
    awaited::{Awaited, awaited},
    kind::{Activity as Foreground, Runs, as_given},
    secret,
};

/// `session.activity`.
pub struct Activity;

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct ActivityReply {
    /// The sessions, in the order in which they were opened.
    pub sessions: Vec<Doing>,
}

/// The state of a session.
#[derive(Deserialize, Serialize, JsonSchema)]
pub struct Doing {
    pub id: u64,
    pub state: State,
    /// The running command: its command line if the shell marks it, or else the name of the foreground program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// How long the command has been running, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u64>,
    /// Whether the session's program reads its terminal, as in session.get. Absent if false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reads_input: bool,
    /// The background jobs, running or stopped, oldest first.
    pub jobs: Vec<Job>,
}

/// The first of these states that applies.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Ended,
    AwaitingSecret,
    /// The session's program waits for an answer or for keys.
    AwaitingInput,
    Running,
    Prompt,
}

/// A process group in the background.
#[derive(Deserialize, Serialize, JsonSchema)]
pub struct Job {
    /// The id of the job's process group, to which signals can be sent.
    pub group: i32,
    /// The command lines of its processes.
    pub command: String,
    /// Whether the job is stopped, for example by Ctrl+Z.
    pub stopped: bool,
    /// How long the job has existed, in seconds.
    pub seconds: u64,
}

impl Method for Activity {
    const NAME: &'static str = "session.activity";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::REACHED;
    const DOC: &'static str = "Returns the state of a session, or of every session if no session is named: at its prompt, or the command that runs and for \
        how long; and its background jobs.";
    type Params<'a> = SessionOnly<'a>;
    type Reply = ActivityReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: SessionOnly<'a>,
    ) -> Result<ActivityReply> {
        let panes = match params.session().given() {
            Some(_) => vec![context.pane(params.session())?],
            None => context.mux.panes(),
        };
        let panes = panes.into_iter().filter(|pane| caller.reaches(pane.id().0));
        let panes: Vec<_> =
            panes.map(|pane| (context.panes.hub.last_reported(pane.id()).started, pane)).collect();
        // This reads every process of the system, so it runs on a blocking thread.
        let sessions =
            blocking(move || panes.iter().map(|(started, pane)| doing(pane, *started)).collect());
        Ok(ActivityReply { sessions: sessions.await? })
    }
}

fn doing(pane: &Pane, started: Option<Instant>) -> Doing {
    let (state, line, reads_input) = state(pane);
    let is_busy = !matches!(state, State::Ended | State::Prompt);
    let process = pane.process();
    let jobs = process.jobs().unwrap_or_default().into_iter().map(|job| Job {
        group: job.group,
        command: as_given(&job.command, &[], Runs::Shown).into_owned(),
        stopped: job.is_stopped,
        seconds: job.age.as_secs(),
    });
    // If the shell marks the command, its start counts and not the age of the process in front. A loop, for example,
    // runs one process after another.
    let marked = started.filter(|_| line.is_some()).map(|started| started.elapsed());
    let seconds = marked.or_else(|| process.front_age());
    let name = || Foreground::of(pane).process;
    Doing {
        id: pane.id().0,
        state,
        command: is_busy.then(|| line.unwrap_or_else(name)),
        seconds: seconds.filter(|_| is_busy).map(|age| age.as_secs()),
        reads_input,
        jobs: jobs.collect(),
    }
}

/// Returns a pane's state, the running command line if the shell marks it, and whether the pane's program reads its
/// terminal.
fn state(pane: &Pane) -> (State, Option<String>, bool) {
    if pane.state() != PaneState::Running {
        return (State::Ended, None, false);
    }
    let last = {
        let term = pane.term();
        term.commands().next_back().cloned()
    };
    let running = last.as_ref().filter(|last| last.is_running());
    let line = running.and_then(|last| last.shown());
    let line = line.map(|line| as_given(line, &[], Runs::Shown).into_owned());
    let is_at_prompt = match &last {
        Some(last) => !last.is_running(),
        None => Foreground::of(pane).idle,
    };
    let awaited = awaited(pane);
    let state = match is_at_prompt {
        _ if secret::is_asked(pane) => State::AwaitingSecret,
        _ if awaited.is_some_and(Awaited::is_shown) => State::AwaitingInput,
        true => State::Prompt,
        false => State::Running,
    };
    (state, line, awaited.is_some())
}
