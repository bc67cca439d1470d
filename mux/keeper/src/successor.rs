//! The programs that take the place of instances whose processes end.
//!
//! An instance names its successor. If its process ends and leaves running programs behind, the keeper starts the
//! successor, which takes them over. Owns what the successor reads, which may contain secrets of the instance: no request
//! returns it. Never decides which program it is.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    time::{Duration, Instant},
};

use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::program::Program;

/// The maximum number of successors. Each belongs to another process.
const MAX_SUCCESSORS: usize = 64;

/// The shortest life of a successor that gets a successor itself. If a terminal cannot be shown, for example because of an
/// error in Unterm, each successor would end at once.
const SHORTEST_LIFE: Duration = Duration::from_secs(10);

/// A program that takes the place of an instance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Successor {
    /// The program. It starts without a terminal, in a session of its own.
    pub program: Program,
    /// What it reads from its standard input. At most [`crate::MAX_TEXT`] bytes.
    pub input: String,
    /// Whether the instance ends on purpose. If it crashes, its successor does not start if the instance itself was
    /// started as a successor a few seconds before.
    pub is_planned: bool,
}

/// An instance with a successor.
struct Heir {
    /// The name of the instance.
    name: String,
    pid: Pid,
    /// Becomes readable when the instance's process ends.
    process: OwnedFd,
    successor: Successor,
}

/// The successors of all instances.
#[derive(Default)]
pub(crate) struct Successors {
    heirs: Vec<Heir>,
    /// The names of the instances whose successors were started a short time ago.
    started: Vec<(String, Instant)>,
}

/// What the keeper does when an instance's process has ended.
pub(crate) enum Succession {
    Start(String, Successor),
    /// The instance with this name ended too early.
    TooEarly(String),
}

impl Successors {
    /// Sets the successor of the process `pid`, whose instance has this name. `None`: no program takes its place.
    ///
    /// # Errors
    /// If the process cannot be watched, or there are too many.
    pub(crate) fn set(
        &mut self,
        name: &str,
        pid: Pid,
        successor: Option<Successor>,
    ) -> io::Result<()> {
        let known = self.heirs.iter().position(|heir| heir.pid == pid);
        let Some(successor) = successor else {
            known.map(|at| self.heirs.remove(at));
            return Ok(());
        };
        match known {
            Some(at) => {
                self.heirs[at].successor = successor;
                name.clone_into(&mut self.heirs[at].name);
            }
            None if self.heirs.len() >= MAX_SUCCESSORS => {
                let text = format!("{MAX_SUCCESSORS} instances have a successor already");
                return Err(io::Error::other(text));
            }
            None => {
                let process = pidfd_open(pid, PidfdFlags::empty())?;
                self.heirs.push(Heir { name: name.to_owned(), pid, process, successor });
            }
        }
        Ok(())
    }

    /// The processes to watch.
    pub(crate) fn processes(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.heirs.iter().map(|heir| heir.process.as_fd())
    }

    /// The processes with the indices `ended` in [`Self::processes`] have ended. Returns what their successors do.
    pub(crate) fn ended(&mut self, ended: &[usize]) -> Vec<Succession> {
        self.started.retain(|(_, at)| at.elapsed() < SHORTEST_LIFE);
        let mut index = 0;
        let is_ended = |_: &mut Heir| {
            index += 1;
            ended.contains(&(index - 1))
        };
        let ended: Vec<Heir> = self.heirs.extract_if(.., is_ended).collect();
        let decide = |Heir { name, successor, .. }: Heir| {
            let is_early = self.started.iter().any(|(started, _)| *started == name);
            match is_early && !successor.is_planned {
                true => Succession::TooEarly(name),
                false => Succession::Start(name, successor),
            }
        };
        ended.into_iter().map(decide).collect()
    }

    /// Remembers that the successor of an instance was started.
    pub(crate) fn note_started(&mut self, name: String) {
        self.started.push((name, Instant::now()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> Pid {
        rustix::process::getpid()
    }

    #[test]
    fn a_process_has_one_successor_and_can_withdraw_it() {
        let mut successors = Successors::default();
        let first = Successor { input: "first".into(), ..Successor::default() };
        let second = Successor { input: "second".into(), ..Successor::default() };
        successors.set("alpha", own(), Some(first)).unwrap();
        successors.set("alpha", own(), Some(second.clone())).unwrap();
        assert_eq!(successors.processes().count(), 1);
        assert!(successors.ended(&[]).is_empty());
        let ended = successors.ended(&[0]);
        let [Succession::Start(name, successor)] = &ended[..] else { panic!("no start") };
        assert_eq!((name.as_str(), successor), ("alpha", &second));
        assert!(successors.ended(&[0]).is_empty(), "it starts once");
        successors.set("alpha", own(), Some(second)).unwrap();
        successors.set("alpha", own(), None).unwrap();
        assert_eq!(successors.processes().count(), 0);
    }

    #[test]
    fn a_successor_that_crashes_at_once_has_no_successor() {
        let mut successors = Successors::default();
        successors.note_started("alpha".into());
        for (is_planned, starts) in [(false, false), (true, true)] {
            let successor = Successor { is_planned, ..Successor::default() };
            successors.set("alpha", own(), Some(successor)).unwrap();
            let ended = successors.ended(&[0]);
            assert_eq!(matches!(ended[..], [Succession::Start(..)]), starts);
        }
    }
}
