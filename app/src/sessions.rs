//! Programs that outlive their window: the keeper of this instance, and the programs that ended instances left behind
//! with it.
//!
//! The option `sessions.keep` decides whether there is a keeper. Only Linux has one.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use unterm_control::{DetachedProgram, did_you_mean};
#[cfg(target_os = "linux")]
use unterm_mux::{KeptSpawner, LeftProgram};
use unterm_mux::{Mux, PtySpawner, Spawner};

use crate::config::Config;

/// The name of the keeper's socket in Unterm's home directory.
#[cfg(target_os = "linux")]
const SOCKET: &str = "keeper.sock";

/// The program of the keeper, beside this program.
#[cfg(target_os = "linux")]
const PROGRAM: &str = "unterm-keeper";

/// How this instance starts programs.
#[derive(Default)]
pub(crate) struct Sessions {
    #[cfg(target_os = "linux")]
    keeper: Option<Arc<KeptSpawner>>,
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
        instance: left.last_owner,
        since: DetachedProgram::date(left.since),
        program: left.program,
        title: left.placement.title,
        cwd: left.cwd.to_string_lossy().into_owned(),
        has_ended: left.has_ended,
    };
    left.into_iter().map(program).collect()
}

/// None: there is no keeper.
#[cfg(not(target_os = "linux"))]
pub(crate) fn detached(_: &Path) -> Vec<DetachedProgram> {
    Vec::new()
}

/// Checks that `unterm --attach` has something to show. `instance` is the name of the instance that left the programs
/// behind, or empty for all programs. If the keeper can't be asked, the check passes: attaching then reports the error.
///
/// # Errors
/// If no such program continues. The message names the instances whose programs continue.
pub(crate) fn check_attach(home: &Path, instance: &str) -> Result<(), String> {
    let detached = detached(home);
    let owners = detached.iter().map(|program| program.instance.as_str());
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
    /// What went wrong, in words.
    pub(crate) faults: Vec<String>,
}

impl Sessions {
    /// Uses the keeper of `home`, if the option `sessions.keep` or `attaches` is set. Starts no process.
    #[cfg(target_os = "linux")]
    pub(crate) fn new(config: &Config, home: &Path, attaches: bool) -> Self {
        let keeper = (config.sessions.keep || attaches).then(|| {
            // If the path is unknown, the first program reports that the keeper cannot be started.
            let program = crate::own_program::beside(PROGRAM).unwrap_or_else(|_| PROGRAM.into());
            Arc::new(KeptSpawner::new(program, home.join(SOCKET)))
        });
        Self { keeper }
    }

    /// Uses no keeper.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn new(_: &Config, _: &Path, _: bool) -> Self {
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
    /// Sets the name of this instance, by which the next one finds its programs.
    pub(crate) fn set_owner(&self, instance: &str) {
        if let Some(keeper) = &self.keeper {
            keeper.set_owner(instance);
        }
    }

    /// Stores with the keeper where each pane of the mux is, from now on.
    pub(crate) fn store_placements(&self, mux: &Mux) {
        if self.keeper.is_some()
            && let Err(error) = mux.store_placements()
        {
            tracing::warn!("tabs and splits are not kept: {error}");
        }
    }

    /// Returns the reason why programs do not outlive this instance although they should. Returns it once.
    pub(crate) fn take_fault(&self) -> Option<String> {
        self.keeper.as_ref()?.take_fault()
    }

    /// Opens a tab for each program that continues without a window. If `instance` is not empty, only for programs of
    /// that instance.
    pub(crate) fn attach(&self, mux: &Mux, instance: &str) -> Attached {
        let mut attached = Attached::default();
        let Some(keeper) = &self.keeper else { return attached };
        let mut left = match keeper.left_programs() {
            Ok(left) => left,
            Err(error) => {
                attached.faults.push(error.to_string());
                return attached;
            }
        };
        let owners: Vec<_> = left.iter().map(|program| program.last_owner.clone()).collect();
        left.retain(|program| instance.is_empty() || program.last_owner == instance);
        for result in mux.attach_all(keeper, &left) {
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

    /// `None`: there is no keeper.
    pub(crate) fn take_fault(&self) -> Option<String> {
        None
    }

    /// Reports that there is no keeper.
    pub(crate) fn attach(&self, _: &Mux, _: &str) -> Attached {
        Attached { panes: 0, faults: vec!["Programs outlive their window only on Linux.".into()] }
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
