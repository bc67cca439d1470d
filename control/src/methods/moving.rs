//! `session.move_to_window` and `instance.attach`: sessions move between the windows of this user, with their running programs.
//!
//! The keeper owns each program during the whole move: one instance leaves the program with the keeper, and the other
//! instance adopts it. If the other instance fails, the first instance adopts the program again.

use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_mux::{Mux, MuxError, PaneId};

use super::{
    Caller, Context, Group, Method, Result, Subjects,
    params::{Arg, session_params},
    session::blocking,
};
use crate::{
    error::Error,
    host::Host,
    registry::{self, Record, Registration},
};

/// How long an instance stays after its last session has moved, so that the reply is sent first, also on a busy machine.
/// Nothing waits for the end of the instance meanwhile.
const SENDING: Duration = Duration::from_millis(500);

/// `session.move_to_window`.
pub struct MoveToWindow;

session_params! {
    MoveToWindowParams {
        /// The name of the instance whose window shows the session from now on. Absent: a new window.
        #[serde(default)]
        to: String,
        /// Move all sessions of the tab. Default: only this one.
        #[serde(default)]
        tab: bool,
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct MoveToWindowReply {
    /// The sessions that moved. Their numbers may differ in the other instance.
    pub moved: Vec<u64>,
    /// The instance that shows them. Absent for a new window, which has no name yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub to: Option<String>,
    /// Their numbers in that instance, in the order of `moved`. Absent for a new window.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<u64>,
}

impl Method for MoveToWindow {
    const NAME: &'static str = "session.move_to_window";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::SESSIONS;
    const CHANGES: Subjects = Subjects::SESSIONS.union(Subjects::MACHINE);
    const DOC: &'static str = "Moves a session to another window, with its running program, its history and its images. Needs `sessions.keep` in both \
        windows, and Linux. If the other window can't show the session, it stays, but its number changes.";
    const DESCRIBED_BY: &'static [&'static str] = &["to", "tab"];
    type Params<'a> = MoveToWindowParams<'a>;
    type Reply = MoveToWindowReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: MoveToWindowParams<'a>,
    ) -> Result<MoveToWindowReply> {
        let pane = context.pane_for(caller, params.target())?.id();
        let panes = if params.tab.is_set("tab")? { tab_of(context, pane) } else { vec![pane] };
        for id in &panes {
            let pane = context.mux.pane(*id).ok_or(Error::NoSession(id.0))?;
            context.authority.touch(caller, &pane)?;
        }
        let to = params.to.text("to")?.map(String::from);
        let mover = Mover::of(context);
        blocking(move || mover.run(&panes, to.as_deref())).await?
    }
}

/// Moves sessions to other windows.
#[derive(Clone)]
pub struct Mover {
    mux: Arc<Mux>,
    host: Arc<dyn Host>,
    registration: Arc<Registration>,
    moves: Arc<Mutex<Option<Instant>>>,
}

impl Mover {
    /// Moves sessions of the instance with this state.
    pub(crate) fn of(context: &Context) -> Self {
        let Context { mux, host, registration, moves, .. } = context;
        Self {
            mux: mux.clone(),
            host: host.clone(),
            registration: registration.clone(),
            moves: moves.clone(),
        }
    }

    /// The other live instances of this user, oldest first.
    pub fn others(&self) -> std::io::Result<Vec<Record>> {
        let own = self.registration.record().id.clone();
        let mut others = registry::live(self.registration.home())?;
        others.retain(|record| record.id != own);
        Ok(others)
    }

    /// Moves the sessions of panes to the instance named `to`, or to a new window. Blocks.
    ///
    /// # Errors
    /// If there is no such instance, or a session can't move. The sessions then stay.
    pub fn run(&self, panes: &[PaneId], to: Option<&str>) -> Result<MoveToWindowReply> {
        let to = to.map(|name| self.other(name)).transpose()?;
        let busy = || Error::Failed("another session is moving; try again".to_owned());
        let mut last_move = self.moves.try_lock().ok_or_else(busy)?;
        let programs = self.mux.leave_panes(panes).map_err(|error| match error {
            MuxError::NotKept(_) => {
                Error::Failed(format!("{error}: see the setting sessions.keep"))
            }
            error => error.into(),
        })?;
        let moved = panes.iter().map(|pane| pane.0).collect();
        let windows = self.host.other_windows();
        let shown = match &to {
            Some(record) => windows.attach_in(record, &programs),
            None => windows.open_window_with(&programs).map(|()| Vec::new()),
        };
        *last_move = Some(Instant::now());
        match shown {
            Ok(sessions) => {
                Ok(MoveToWindowReply { moved, to: to.map(|record| record.id), sessions })
            }
            Err(why) => Err(Error::Failed(match windows.attach_programs(&self.mux, &programs) {
                Ok(_) => why,
                Err(other) => format!("{why}\n`unterm --attach` shows the programs ({other})"),
            })),
        }
    }

    /// Waits until no session is moving. An instance that ended earlier would leave sessions without a window. If the
    /// last session has just moved, also waits until its reply has been sent.
    pub fn finish(&self) {
        let last_move = *self.moves.lock();
        if let Some(moved) = last_move {
            thread::sleep(SENDING.saturating_sub(moved.elapsed()));
        }
    }

    fn other(&self, name: &str) -> Result<Record> {
        let others = self.others().map_err(Error::Registry)?;
        let known: Vec<String> = others.iter().map(|record| record.id.clone()).collect();
        let known = match known.is_empty() {
            true => "there is none".to_owned(),
            false => known.join(", "),
        };
        let found = others.into_iter().find(|record| record.id.eq_ignore_ascii_case(name));
        found.ok_or_else(|| Error::Invalid {
            name: "to",
            expected: format!("another instance ({known})"),
            got: serde_json::Value::from(name).to_string(),
        })
    }
}

/// The panes of the tab that contains a pane.
fn tab_of(context: &Context, pane: PaneId) -> Vec<PaneId> {
    let layout = context.mux.layout();
    layout.tab_of(pane).map_or(vec![pane], |tab| layout.tabs[tab].panes())
}

/// `instance.attach`.
pub struct AttachPrograms;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct AttachParams<'a> {
    /// The numbers that the keeper has given to the programs. No instance may show them.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub programs: Arg<'a, Vec<u64>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct AttachReply {
    /// The numbers of their sessions, in the same order.
    pub sessions: Vec<u64>,
}

impl Method for AttachPrograms {
    const NAME: &'static str = "instance.attach";
    const GROUP: Group = Group::Instance;
    const REVEALS: Subjects = Subjects::SESSIONS;
    // Includes `PAUSE`, so that the call works while agents are paused, and the user can move sessions.
    const CHANGES: Subjects = Subjects::OPENED.union(Subjects::MACHINE).union(Subjects::PAUSE);
    const DOC: &'static str = "Shows programs that another instance has just left, in tabs of this instance. Programs that were in one tab share a tab, \
        with the same splits. Shows either all of them or none. For other instances; see session.move_to_window.";
    const DESCRIBED_BY: &'static [&'static str] = &["programs"];
    type Params<'a> = AttachParams<'a>;
    type Reply = AttachReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: AttachParams<'a>,
    ) -> Result<AttachReply> {
        let programs: Option<Vec<u64>> = params.programs.value("programs", "a list of numbers")?;
        let programs = programs.filter(|programs| !programs.is_empty());
        let programs = programs.ok_or(Error::Missing("programs"))?;
        let windows = context.host.other_windows();
        let mux = context.mux.clone();
        let panes = blocking(move || windows.attach_programs(&mux, &programs)).await?;
        let panes = panes.map_err(Error::Failed)?;
        Ok(AttachReply { sessions: panes.into_iter().map(|pane| pane.0).collect() })
    }
}
