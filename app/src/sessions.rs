//! Programs that outlive their window: the keeper of this instance, and the programs that ended instances left behind
//! with it.
//!
//! The option `sessions.keep` decides whether there is a keeper. Only Linux has one.

use std::{collections::BTreeMap, path::Path, sync::Arc};
#[cfg(target_os = "linux")]
use std::{
    ffi::OsString,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use unterm_control::{DetachedProgram, Inheritance, Legacy, client, did_you_mean};
#[cfg(target_os = "linux")]
use unterm_mux::{KeptSpawner, LeftProgram, SuccessorProgram};
use unterm_mux::{Mux, OnExit, PaneId, PtySpawner, Spawner};

use crate::args::Args;

/// The name of the keeper's socket in Unterm's home directory.
#[cfg(target_os = "linux")]
const SOCKET: &str = "keeper.sock";

/// The program of the keeper, beside this program.
#[cfg(target_os = "linux")]
const PROGRAM: &str = "unterm-keeper";

/// The longest time to wait until another process has left a program.
#[cfg(target_os = "linux")]
const LEAVING: Duration = Duration::from_secs(5);

/// The longest time to wait until a new window shows programs.
#[cfg(target_os = "linux")]
const OPENING: Duration = Duration::from_secs(20);

/// The time between two requests to the keeper.
#[cfg(target_os = "linux")]
const PAUSE: Duration = Duration::from_millis(5);

/// The message if there is no keeper.
const NO_KEEPER: &str = "programs can't move to or from this window: see the setting sessions.keep";

/// How this instance starts programs.
#[derive(Default)]
pub(crate) struct Sessions {
    #[cfg(target_os = "linux")]
    keeper: Option<Arc<KeptSpawner>>,
    /// The process that takes the place of this process after a crash.
    #[cfg(target_os = "linux")]
    successor: Arc<OnceLock<Crash>>,
}

/// The process that the keeper starts if this process ends unexpectedly.
#[cfg(target_os = "linux")]
struct Crash {
    keeper: Arc<KeptSpawner>,
    args: Vec<OsString>,
    legacy: Legacy,
    /// Whether the keeper has been notified that agents are paused.
    is_paused: AtomicBool,
}

#[cfg(target_os = "linux")]
impl Crash {
    /// Sends the keeper the state that the next process inherits.
    fn update(&self) {
        let Some(inheritance) = self.legacy.inheritance() else { return };
        self.is_paused.store(inheritance.is_paused, Ordering::Relaxed);
        set_successor(&self.keeper, self.args.clone(), inheritance, Vec::new());
    }
}

/// Tells the keeper what the next process inherits if this one crashes. `takes`: the keeper's numbers of programs that this
/// process is about to show.
#[cfg(target_os = "linux")]
fn set_successor(
    keeper: &KeptSpawner,
    args: Vec<OsString>,
    inheritance: Inheritance,
    takes: Vec<u64>,
) {
    match crate::own_program::path() {
        Ok(file) => {
            let input = inheritance.after_crash().to_text();
            keeper.set_successor(SuccessorProgram { file, args, input, takes });
        }
        Err(error) => tracing::warn!(%error, "after a crash, nothing takes over the programs"),
    }
}

/// Makes the keeper start the successor of an instance again if this process, which takes the place of that instance, ends
/// before it shows the programs. Call it as soon as the instance has left them.
#[cfg(target_os = "linux")]
pub(crate) fn guard_takeover(home: &Path, args: &Args, inherited: &Inheritance) {
    let Sessions { keeper: Some(keeper), .. } = Sessions::new(home, true) else { return };
    keeper.set_owner(&inherited.record.start());
    let takes = inherited.sessions.iter().map(|(number, _)| *number).collect();
    set_successor(&keeper, args.after_crash(), inherited.clone(), takes);
    // The successor reaches the keeper with the first request.
    if let Err(error) = keeper.left_programs() {
        tracing::warn!(%error, "after a crash, nothing takes over the programs");
    }
}

/// Does nothing: there is no keeper.
#[cfg(not(target_os = "linux"))]
pub(crate) fn guard_takeover(_: &Path, _: &Args, _: &Inheritance) {}

/// The name of the instance that owned a program. Owners are known to the keeper by [`unterm_control::Server::instance_start`], because
/// a name is given again to other instances.
#[cfg(target_os = "linux")]
fn name_of(owner: &str) -> &str {
    owner.split_once(' ').map_or(owner, |(name, _)| name)
}

/// Ends the process at once if its main thread panics, after the message was printed. If the stack were unwound instead, the
/// panes would be closed in order, and their programs would end.
#[cfg(target_os = "linux")]
fn abort_on_panic() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        print(panic);
        if thread::current().name() == Some("main") {
            std::process::abort();
        }
    }));
}

/// The programs that continue without an instance, oldest first. `home` is Unterm's home directory. Starts no keeper.
#[cfg(target_os = "linux")]
pub(crate) fn detached(home: &Path) -> Vec<DetachedProgram> {
    let socket = home.join(SOCKET);
    if !socket.exists() {
        return Vec::new();
    }
    let program = crate::own_program::beside(PROGRAM).unwrap_or_else(|_| PROGRAM.into());
    let left = KeptSpawner::new(program, socket).left_programs().unwrap_or_else(|error| {
        tracing::warn!(%error, "cannot list the programs that continue without an instance");
        Vec::new()
    });
    let program = |left: LeftProgram| DetachedProgram {
        instance: name_of(&left.last_owner).to_owned(),
        since: DetachedProgram::date(left.since),
        program: left.program,
        title: left.placement.title,
        cwd: left.cwd.to_string_lossy().into_owned(),
        has_ended: left.has_ended,
    };
    left.into_iter().map(program).collect()
}

/// Returns an empty list: there is no keeper.
#[cfg(not(target_os = "linux"))]
pub(crate) fn detached(_: &Path) -> Vec<DetachedProgram> {
    Vec::new()
}

/// Checks that `unterm --attach` has something to show: programs that continue without an instance, or an instance that
/// waits for a window. `instance` is the name of the waiting instance, or of the instance that left the programs
/// behind. If it is empty, all of them count. If the keeper can't be asked, the check passes: attaching then reports
/// the error.
///
/// # Errors
/// If no such program continues. The message names the instances whose programs continue.
pub(crate) fn check_attach(home: &Path, instance: &str) -> Result<(), String> {
    let detached = detached(home);
    let waiting = client::live(home).into_iter().filter(|record| record.waits_for_window);
    let waiting: Vec<String> = waiting.map(|record| record.id).collect();
    let owners = detached.iter().map(|program| program.instance.as_str());
    let owners = owners.chain(waiting.iter().map(String::as_str));
    match owners.clone().any(|owner| instance.is_empty() || owner == instance) {
        true => Ok(()),
        false => Err(nothing_to_attach(instance, owners)),
    }
}

/// The message if no program of `instance` continues. `owners`: for each program that continues, the instance that left
/// it behind.
fn nothing_to_attach<'a>(instance: &str, owners: impl Iterator<Item = &'a str>) -> String {
    let mut counts = BTreeMap::<&str, usize>::new();
    owners.for_each(|owner| *counts.entry(owner).or_default() += 1);
    if counts.is_empty() {
        return "no program continues without a window; see the option sessions.keep".to_owned();
    }
    let hint = did_you_mean(instance, counts.keys().copied());
    let existing: Vec<_> = counts
        .iter()
        .map(|(owner, count)| match count {
            1 => format!("{owner} (1 program)"),
            count => format!("{owner} ({count} programs)"),
        })
        .collect();
    let existing = existing.join(", ");
    format!(
        "no program of the instance {instance:?} continues{hint}\nprograms continue of: {existing}"
    )
}

/// The result of showing the programs that continue without a window.
#[derive(Debug, Default)]
pub(crate) struct Attached {
    /// The number of panes.
    pub(crate) panes: usize,
    /// The errors, as text for the user.
    pub(crate) faults: Vec<String>,
}

impl Sessions {
    /// Uses the keeper of `home`, if `keeps` is set. Starts no process.
    #[cfg(target_os = "linux")]
    pub(crate) fn new(home: &Path, keeps: bool) -> Self {
        let keeper = keeps.then(|| {
            // If the path is unknown, the first program reports that the keeper cannot be started.
            let program = crate::own_program::beside(PROGRAM).unwrap_or_else(|_| PROGRAM.into());
            Arc::new(KeptSpawner::new(program, home.join(SOCKET)))
        });
        Self { keeper, ..Self::default() }
    }

    /// Uses no keeper.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn new(_: &Path, _: bool) -> Self {
        Self {}
    }

    /// The spawner of the mux.
    pub(crate) fn spawner(&self) -> Arc<dyn Spawner> {
        #[cfg(target_os = "linux")]
        if let Some(keeper) = &self.keeper {
            return Arc::clone(keeper) as Arc<dyn Spawner>;
        }
        Arc::new(PtySpawner)
    }
}

#[cfg(target_os = "linux")]
impl Sessions {
    /// Sets the name of this instance, by which the next instance finds its programs.
    pub(crate) fn set_owner(&self, instance: &str) {
        if let Some(keeper) = &self.keeper {
            keeper.set_owner(instance);
        }
    }

    /// From now on, stores the position of each pane in the layout with the keeper.
    pub(crate) fn store_placements(&self, mux: &Mux) {
        if self.keeper.is_none() {
            return;
        }
        let successor = Arc::clone(&self.successor);
        let update = move |_: &Mux| successor.get().into_iter().for_each(Crash::update);
        if let Err(error) = mux.store_placements(update) {
            tracing::warn!("tabs and splits are not kept: {error}");
        }
    }

    /// Makes the keeper start a process that takes the place of this one if it ends unexpectedly and leaves running
    /// programs behind. The keeper receives it with the first program or, if this process takes the place of another
    /// process, at once. Call it once.
    pub(crate) fn prepare_crash(&self, args: &Args, legacy: Legacy, succeeds: bool) {
        let Some(keeper) = self.keeper.clone() else { return };
        let args = args.after_crash();
        let crash = Crash { keeper, args, legacy, is_paused: AtomicBool::default() };
        crash.update();
        if succeeds && let Err(error) = crash.keeper.left_programs() {
            tracing::warn!(%error, "after a crash, nothing takes over the programs");
        }
        if self.successor.set(crash).is_ok() {
            abort_on_panic();
        }
    }

    /// Undoes [`Self::prepare_crash`], because the user ends this instance and its programs.
    pub(crate) fn end_deliberately(&self) {
        if let Some(crash) = self.successor.get() {
            crash.keeper.withdraw_successor();
        }
    }

    /// The state that a process would inherit if it took the place of this process now. `None` if programs can't
    /// outlive this process, or it has no server.
    pub(crate) fn inheritance(&self) -> Option<Inheritance> {
        self.successor.get()?.legacy.inheritance()
    }

    /// Updates the inherited state with the keeper after agents were paused or resumed. Waits for the keeper: a pause
    /// must outlive a crash from the moment at which it is acknowledged.
    pub(crate) fn update_pause(&self) {
        if let Some(crash) = self.successor.get()
            && crash
                .legacy
                .is_paused()
                .is_some_and(|now| now != crash.is_paused.load(Ordering::Relaxed))
        {
            crash.update();
        }
    }

    /// Shows the programs of the instance whose place this process takes, under their numbers. `on_exit`: what happens when
    /// one of them ends.
    pub(crate) fn inherit(&self, mux: &Mux, inherited: &Inheritance, on_exit: OnExit) -> Attached {
        let start = inherited.record.start();
        let attached = self.attach_left(mux, &inherited.record.id, on_exit, |left| {
            left.retain(|program| program.last_owner == start);
            // A program that was moved here from another instance was started there, under another number.
            for program in left.iter_mut() {
                let known =
                    inherited.sessions.iter().find(|(number, _)| *number == program.number());
                program.origin.pane =
                    known.map_or(program.origin.pane, |(_, id)| Some(PaneId(*id)));
            }
            mux.reserve_panes(left);
            mux.begin_panes_at(inherited.next_session);
        });
        // Last the active tab's pane, so that its tab is active.
        for pane in inherited.focused.iter().rev() {
            // A program may have ended in the meantime.
            let _ = mux.focus(PaneId(*pane));
        }
        attached
    }

    /// Returns the reason why programs do not outlive this instance although they should. Returns it once.
    pub(crate) fn take_fault(&self) -> Option<String> {
        self.keeper.as_ref()?.take_fault()
    }

    /// Opens a tab for each program that continues without a window. If `instance` is not empty, only for programs of
    /// that instance.
    pub(crate) fn attach(&self, mux: &Mux, instance: &str) -> Attached {
        self.attach_left(mux, instance, OnExit::Close, |left| {
            left.retain(|program| instance.is_empty() || name_of(&program.last_owner) == instance);
        })
    }

    /// Opens a tab for each program that `choose` leaves in the list. `instance`: the name for messages.
    fn attach_left(
        &self,
        mux: &Mux,
        instance: &str,
        on_exit: OnExit,
        choose: impl FnOnce(&mut Vec<LeftProgram>),
    ) -> Attached {
        let mut attached = Attached::default();
        let Some(keeper) = &self.keeper else { return attached };
        let mut left = match keeper.left_programs() {
            Ok(left) => left,
            Err(error) => {
                attached.faults.push(error.to_string());
                return attached;
            }
        };
        let owners: Vec<_> = left.iter().map(|left| name_of(&left.last_owner).to_owned()).collect();
        choose(&mut left);
        for result in mux.attach_all(keeper, &left, on_exit) {
            match result {
                Ok(_) => attached.panes += 1,
                Err(error) => attached.faults.push(error.to_string()),
            }
        }
        if attached.panes == 0 && attached.faults.is_empty() {
            attached.faults.push(nothing_to_attach(instance, owners.iter().map(String::as_str)));
        }
        attached
    }

    /// Opens tabs for programs that another process leaves, by the numbers of their keeper: for all of them or none. Waits
    /// until that process has left them. Returns the panes in the same order.
    pub(crate) fn attach_numbers(&self, mux: &Mux, numbers: &[u64]) -> Result<Vec<PaneId>, String> {
        let keeper = self.keeper.as_ref().ok_or(NO_KEEPER)?;
        let until = Instant::now() + LEAVING;
        let left = loop {
            let left = keeper.left_programs().map_err(|error| error.to_string())?;
            let find = |number: &u64| left.iter().find(|left| left.number() == *number).cloned();
            let found: Option<Vec<LeftProgram>> = numbers.iter().map(find).collect();
            match found {
                Some(found) => break found,
                None if Instant::now() > until => {
                    return Err(
                        "another instance still shows a program, or it has ended".to_owned()
                    );
                }
                None => thread::sleep(PAUSE),
            }
        };
        let (mut panes, mut faults) = (Vec::new(), Vec::new());
        for result in mux.attach_all(keeper, &left, OnExit::Close) {
            match result {
                Ok(pane) => panes.push(pane.id()),
                Err(error) => faults.push(error.to_string()),
            }
        }
        if let Some(crash) = self.successor.get() {
            // The keeper stores the numbers that the programs had when they were started, but not their numbers in this
            // instance. A caller may rely on them from now on.
            crash.update();
        }
        if faults.is_empty() {
            let layout = mux.layout();
            if let Some(tab) = panes.first().and_then(|pane| layout.tab_of(*pane)) {
                mux.activate_tab(layout.tabs[tab].id).map_err(|error| error.to_string())?;
            }
            return Ok(panes);
        }
        for pane in panes {
            // A program that has ended meanwhile stays here, with its status.
            if let Err(error) = mux.leave_panes(&[pane]) {
                tracing::warn!(%error, "a program stays here");
            }
        }
        Err(faults.join("\n"))
    }

    /// Waits until another process shows programs, by the numbers of their keeper. Returns false if no process does in
    /// time, or as soon as `has_failed` returns true.
    pub(crate) fn wait_until_shown(
        &self,
        numbers: &[u64],
        mut has_failed: impl FnMut() -> bool,
    ) -> bool {
        let Some(keeper) = &self.keeper else { return false };
        let until = Instant::now() + OPENING;
        while Instant::now() < until && !has_failed() {
            let is_left = |left: &LeftProgram| numbers.contains(&left.number());
            if keeper.left_programs().is_ok_and(|left| !left.iter().any(is_left)) {
                return true;
            }
            thread::sleep(PAUSE);
        }
        false
    }

    /// A message about running programs without a window. `None` if there are none.
    pub(crate) fn left_message(&self) -> Option<String> {
        let left = self.keeper.as_ref()?.left_programs().ok()?;
        match left.iter().filter(|program| !program.has_ended).count() {
            0 => None,
            1 => Some("A program continues without a window.\n`unterm --attach` shows it.".into()),
            count => Some(format!(
                "{count} programs continue without a window.\n`unterm --attach` shows them."
            )),
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl Sessions {
    /// Does nothing: there is no keeper.
    pub(crate) fn set_owner(&self, _: &str) {}

    /// Does nothing: there is no keeper.
    pub(crate) fn store_placements(&self, _: &Mux) {}

    /// Does nothing: there is no keeper.
    pub(crate) fn prepare_crash(&self, _: &Args, _: Legacy, _: bool) {}

    /// Does nothing: there is no keeper.
    pub(crate) fn end_deliberately(&self) {}

    /// `None`: there is no keeper.
    pub(crate) fn inheritance(&self) -> Option<Inheritance> {
        None
    }

    /// Does nothing: there is no keeper.
    pub(crate) fn update_pause(&self) {}

    /// Reports that there is no keeper.
    pub(crate) fn inherit(&self, mux: &Mux, _: &Inheritance, _: OnExit) -> Attached {
        self.attach(mux, "")
    }

    /// `None`: there is no keeper.
    pub(crate) fn take_fault(&self) -> Option<String> {
        None
    }

    /// Reports that there is no keeper.
    pub(crate) fn attach(&self, _: &Mux, _: &str) -> Attached {
        Attached { panes: 0, faults: vec!["Programs outlive their window only on Linux.".into()] }
    }

    /// Reports that there is no keeper.
    pub(crate) fn attach_numbers(&self, _: &Mux, _: &[u64]) -> Result<Vec<PaneId>, String> {
        Err(NO_KEEPER.to_owned())
    }

    /// Returns false: there is no keeper.
    pub(crate) fn wait_until_shown(&self, _: &[u64], _: impl FnMut() -> bool) -> bool {
        false
    }

    /// `None`: there is no keeper.
    pub(crate) fn left_message(&self) -> Option<String> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_to_attach_names_what_exists() {
        let message =
            |instance, owners: &[&str]| nothing_to_attach(instance, owners.iter().copied());
        let none = "no program continues without a window; see the option sessions.keep";
        assert_eq!(message("", &[]), none);
        assert_eq!(message("nope", &[]), none);
        assert_eq!(
            message("nope", &["bravo", "alfa", "bravo"]),
            "no program of the instance \"nope\" continues\n\
             programs continue of: alfa (1 program), bravo (2 programs)"
        );
        let near = message("brovo", &["bravo"]);
        assert!(near.contains("did you mean \"bravo\"?"), "{near}");
    }
}
