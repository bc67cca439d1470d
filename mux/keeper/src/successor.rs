//! The programs that take the place of instances whose processes end.
//!
//! An instance names its successor. If its process ends and leaves running programs behind, the keeper starts the
//! successor, which takes them over. Owns the input of the successor, which may contain secrets of the instance: no
//! request returns it, and no message shows it. Never decides which program is the successor.

use std::{
    fmt, io,
    os::fd::{AsFd as _, BorrowedFd},
    rc::Rc,
    time::{Duration, Instant},
};

use crate::{
    fields::Broken,
    process::{Process, ProcessId},
    program::Program,
};

/// The maximum number of successors. Each belongs to another process.
pub const MAX_SUCCESSORS: usize = 64;

/// The maximum length of a successor's input, in bytes.
pub const MAX_INPUT: usize = 16 << 10;

/// The maximum length of a successor as a message, in bytes: its input, its arguments and its environment.
pub(crate) const MAX_SUCCESSOR: usize = 256 << 10;

/// The maximum length of all successors as messages, in bytes. A usual environment has less than 10 KiB.
const MAX_TOGETHER: usize = 1 << 20;

/// The maximum number of successors in [`CRASH_TIME`] that start one after the other because the last one has crashed. If
/// an error in Unterm ends each of them at once, the programs must wait.
const MAX_CRASHES: usize = 3;

/// See [`MAX_CRASHES`].
const CRASH_TIME: Duration = Duration::from_secs(60);

/// A program that takes the place of an instance.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Successor {
    /// The program. It starts without a terminal, in a session of its own. It has at most 256 KiB of arguments and
    /// environment.
    pub program: Program,
    /// The input that the program reads from its standard input. At most [`MAX_INPUT`] bytes.
    pub input: String,
    /// Numbers of panes without an owner that the instance itself is about to take. If it ends before, its successor takes
    /// them.
    pub takes: Vec<u64>,
}

impl Successor {
    /// Checks the length of the input, and of the successor as a message.
    ///
    /// # Errors
    /// If one of them is too long.
    pub(crate) fn check(&self, body: usize) -> Result<(), Broken> {
        for (what, length, longest) in [
            ("what a successor reads", self.input.len(), MAX_INPUT),
            ("a successor", body, MAX_SUCCESSOR),
        ] {
            if length > longest {
                return Err(Broken(format!("{what} has {length} bytes, more than {longest}")));
            }
        }
        Ok(())
    }
}

/// Shows no contents of the input and of the environment, which may be secrets.
impl fmt::Debug for Successor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Successor")
            .field("file", &self.program.file)
            .field("args", &self.program.args)
            .finish_non_exhaustive()
    }
}

/// A process with a successor.
pub(crate) struct Heir {
    /// The name of the instance.
    pub(crate) name: String,
    process: Rc<Process>,
    /// The successor as a message. In this form, its length is the memory that it needs.
    successor: Box<[u8]>,
    /// When the keeper has started this process, and those whose place it has taken after their crashes. Empty if the
    /// keeper has not started it.
    starts: Vec<Instant>,
    /// Whether the process has ended.
    has_ended: bool,
}

impl Heir {
    pub(crate) fn process(&self) -> ProcessId {
        self.process.id
    }

    /// The successor of the process.
    ///
    /// # Errors
    /// If the stored message is damaged. Only valid messages are stored.
    pub(crate) fn successor(&self) -> Result<Successor, Broken> {
        Successor::from_body(&self.successor)
    }

    /// Whether the successor must not start, because too many have crashed one after the other. If it may, counts its
    /// start at the time `now`.
    pub(crate) fn is_crash_loop(&mut self, now: Instant) -> bool {
        self.starts.retain(|at| now.duration_since(*at) < CRASH_TIME);
        let is_loop = self.starts.len() >= MAX_CRASHES;
        if !is_loop {
            self.starts.push(now);
        }
        is_loop
    }
}

/// The successors of all processes.
#[derive(Default)]
pub(crate) struct Successors {
    heirs: Vec<Heir>,
}

impl Successors {
    /// Sets the successor of a process, whose instance has this name. `None`: no program takes its place.
    ///
    /// # Errors
    /// If there are too many, or they are too long together.
    pub(crate) fn set(
        &mut self,
        name: &str,
        process: &Rc<Process>,
        successor: Option<Successor>,
    ) -> io::Result<()> {
        let known = self.heirs.iter().position(|heir| heir.process.id == process.id);
        let Some(successor) = successor else {
            known.map(|at| self.heirs.remove(at));
            return Ok(());
        };
        let successor = Successor { takes: Vec::new(), ..successor };
        let successor = successor.to_body().into_boxed_slice();
        let others = self.heirs.iter().filter(|heir| heir.process.id != process.id);
        let others: usize = others.map(|heir| heir.successor.len()).sum();
        let length = others + successor.len();
        if length > MAX_TOGETHER {
            let text = format!(
                "all successors together would have {length} bytes, more than {MAX_TOGETHER}"
            );
            return Err(io::Error::other(text));
        }
        match known {
            Some(at) => {
                self.heirs[at].successor = successor;
                name.clone_into(&mut self.heirs[at].name);
            }
            None if self.heirs.len() >= MAX_SUCCESSORS => {
                let text = format!("{MAX_SUCCESSORS} instances have a successor already");
                return Err(io::Error::other(text));
            }
            None => self.heirs.push(Heir {
                name: name.to_owned(),
                process: Rc::clone(process),
                successor,
                starts: Vec::new(),
                has_ended: false,
            }),
        }
        Ok(())
    }

    /// Whether a process has a successor, and its end was not handled yet.
    pub(crate) fn contain(&self, process: ProcessId) -> bool {
        self.heirs.iter().any(|heir| heir.process.id == process)
    }

    /// The processes to watch: those that are not known to have ended.
    pub(crate) fn processes(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.heirs.iter().filter(|heir| !heir.has_ended).map(|heir| heir.process.as_fd())
    }

    /// Whether processes have ended that [`Self::take_ended`] has not returned yet.
    pub(crate) fn are_due(&self) -> bool {
        self.heirs.iter().any(|heir| heir.has_ended)
    }

    /// Removes the processes that have ended and have neither a pane nor a request left. Asks the system for each
    /// process, because the list may have changed since the last wait.
    pub(crate) fn take_ended(&mut self, is_over: impl Fn(ProcessId) -> bool) -> Vec<Heir> {
        let is_due = |heir: &mut Heir| {
            heir.has_ended |= heir.process.has_ended();
            heir.has_ended && is_over(heir.process.id)
        };
        self.heirs.extract_if(.., is_due).collect()
    }

    /// The successor of `heir` runs as this process. Until this process sets its own successor, `heir` is also its
    /// successor. So nothing is lost if it is killed before it has reached the keeper.
    pub(crate) fn replace(&mut self, heir: Heir, process: Rc<Process>) {
        self.heirs.push(Heir { process, has_ended: false, ..heir });
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    use super::*;
    use crate::process::Processes;

    /// A process that runs until it is dropped or ended.
    struct Running(Child, Rc<Process>);

    impl Running {
        fn new(processes: &mut Processes) -> Self {
            let child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
            let child = child.unwrap();
            let pid = Pid::from_raw(child.id() as i32).unwrap();
            let pidfd = pidfd_open(pid, PidfdFlags::empty()).unwrap();
            Self(child, processes.of_pidfd(pid, pidfd))
        }

        fn end(&mut self) {
            self.0.kill().unwrap();
            self.0.wait().unwrap();
        }
    }

    impl Drop for Running {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    fn reads(input: &str) -> Option<Successor> {
        let program = Program { file: "/bin/cat".into(), cwd: "/".into(), ..Program::default() };
        Some(Successor { program, input: input.into(), takes: Vec::new() })
    }

    fn inputs(heirs: &[Heir]) -> Vec<String> {
        heirs.iter().map(|heir| heir.successor().unwrap().input).collect()
    }

    #[test]
    fn a_process_has_one_successor_and_can_withdraw_it() {
        let mut processes = Processes::default();
        let mut alpha = Running::new(&mut processes);
        let mut successors = Successors::default();
        successors.set("alpha", &alpha.1, reads("first")).unwrap();
        successors.set("beta", &alpha.1, reads("second")).unwrap();
        assert_eq!(successors.processes().count(), 1);
        assert!(successors.take_ended(|_| true).is_empty());
        alpha.end();
        let ended = successors.take_ended(|_| true);
        assert_eq!(inputs(&ended), ["second"]);
        assert_eq!(ended[0].name, "beta");
        assert!(successors.take_ended(|_| true).is_empty(), "it starts once");
        successors.set("alpha", &alpha.1, reads("third")).unwrap();
        successors.set("alpha", &alpha.1, None).unwrap();
        successors.set("alpha", &alpha.1, None).unwrap();
        assert!(successors.take_ended(|_| true).is_empty());
    }

    #[test]
    fn a_withdrawal_does_not_hide_the_end_of_another_process() {
        let mut processes = Processes::default();
        let first = Running::new(&mut processes);
        let mut second = Running::new(&mut processes);
        let third = Running::new(&mut processes);
        let mut successors = Successors::default();
        for (name, process) in [("first", &first), ("second", &second), ("third", &third)] {
            successors.set(name, &process.1, reads(name)).unwrap();
        }
        // The second process ends, and the first one withdraws its successor before the keeper handles the end.
        second.end();
        successors.set("first", &first.1, None).unwrap();
        assert_eq!(inputs(&successors.take_ended(|_| true)), ["second"]);
        assert_eq!(successors.processes().count(), 1);
    }

    #[test]
    fn a_process_can_withdraw_until_nothing_of_it_is_left() {
        let mut processes = Processes::default();
        let mut alpha = Running::new(&mut processes);
        let mut successors = Successors::default();
        successors.set("alpha", &alpha.1, reads("a")).unwrap();
        alpha.end();
        assert!(!successors.are_due());
        assert!(successors.take_ended(|process| process != alpha.1.id).is_empty());
        assert!(successors.are_due());
        assert_eq!(successors.processes().count(), 0, "its end is known");
        // A request that was sent before the end.
        successors.set("alpha", &alpha.1, None).unwrap();
        assert!(!successors.are_due());
        assert!(successors.take_ended(|_| true).is_empty());
    }

    #[test]
    fn processes_with_one_name_have_a_successor_each() {
        let mut processes = Processes::default();
        let (mut one, mut two) = (Running::new(&mut processes), Running::new(&mut processes));
        let mut successors = Successors::default();
        successors.set("alpha", &one.1, reads("one")).unwrap();
        successors.set("alpha", &two.1, reads("two")).unwrap();
        two.end();
        assert_eq!(inputs(&successors.take_ended(|_| true)), ["two"]);
        one.end();
        let ended = successors.take_ended(|_| true);
        assert_eq!(inputs(&ended), ["one"]);
        assert_eq!(ended[0].process(), one.1.id);
    }

    #[test]
    fn a_successor_that_says_nothing_has_the_same_successor() {
        let mut processes = Processes::default();
        let (mut one, mut two) = (Running::new(&mut processes), Running::new(&mut processes));
        let mut successors = Successors::default();
        successors.set("alpha", &one.1, reads("one")).unwrap();
        one.end();
        let heir = successors.take_ended(|_| true).remove(0);
        successors.replace(heir, Rc::clone(&two.1));
        two.end();
        let ended = successors.take_ended(|_| true);
        assert_eq!(inputs(&ended), ["one"]);
    }

    #[test]
    fn several_crashes_in_a_short_time_are_a_loop() {
        let mut processes = Processes::default();
        let alpha = Running::new(&mut processes);
        let mut crashed = Heir {
            name: "alpha".into(),
            process: Rc::clone(&alpha.1),
            successor: Box::default(),
            starts: Vec::new(),
            has_ended: false,
        };
        let start = Instant::now();
        for second in 0..3 {
            assert!(!crashed.is_crash_loop(start + Duration::from_secs(second)), "{second}");
        }
        assert!(crashed.is_crash_loop(start + Duration::from_secs(59)));
        assert!(!crashed.is_crash_loop(start + Duration::from_secs(60)), "the first is too old");
        assert!(crashed.is_crash_loop(start + Duration::from_secs(60)));
    }

    #[test]
    fn the_count_of_crashes_does_not_depend_on_requests() {
        let mut processes = Processes::default();
        let (mut one, mut two) = (Running::new(&mut processes), Running::new(&mut processes));
        let mut successors = Successors::default();
        successors.set("alpha", &one.1, reads("one")).unwrap();
        one.end();
        let mut heir = successors.take_ended(|_| true).remove(0);
        assert!(!heir.is_crash_loop(Instant::now()));
        successors.replace(heir, Rc::clone(&two.1));
        successors.set("alpha", &two.1, reads("two")).unwrap();
        two.end();
        let ended = successors.take_ended(|_| true);
        assert_eq!(inputs(&ended), ["two"]);
        assert_eq!(ended[0].starts.len(), 1);
        // A process that the keeper has not started has no history, even with the name of one that crashed.
        let mut window = Running::new(&mut processes);
        successors.set("alpha", &window.1, reads("window")).unwrap();
        window.end();
        assert!(successors.take_ended(|_| true)[0].starts.is_empty());
    }

    #[test]
    fn there_are_at_most_64_successors() {
        let mut processes = Processes::default();
        let mut running = Vec::new();
        let mut successors = Successors::default();
        for number in 0..MAX_SUCCESSORS {
            let process = Running::new(&mut processes);
            successors.set(&number.to_string(), &process.1, reads("")).unwrap();
            running.push(process);
        }
        let late = Running::new(&mut processes);
        let error = successors.set("late", &late.1, reads("")).unwrap_err().to_string();
        assert_eq!(error, "64 instances have a successor already");
        successors.set("0", &running[0].1, reads("replaced")).unwrap();
        successors.set("0", &running[0].1, None).unwrap();
        successors.set("late", &late.1, reads("")).unwrap();
    }

    #[test]
    fn all_successors_together_have_a_maximum_length() {
        let mut processes = Processes::default();
        let running: Vec<Running> = (0..5).map(|_| Running::new(&mut processes)).collect();
        let mut successors = Successors::default();
        let long = |length: usize| {
            let mut successor = reads("input").unwrap();
            successor.program.args.push("x".repeat(length).into());
            Some(successor)
        };
        for process in &running[..4] {
            successors.set("name", &process.1, long(MAX_SUCCESSOR - 100)).unwrap();
        }
        let error = successors.set("late", &running[4].1, long(1000)).unwrap_err().to_string();
        assert!(error.starts_with("all successors together would have 104"), "{error}");
        // A refused successor changes nothing. The successor of a process replaces its last one.
        assert_eq!(successors.processes().count(), 4);
        successors.set("name", &running[0].1, long(MAX_SUCCESSOR - 200)).unwrap();
        successors.set("name", &running[0].1, long(1000)).unwrap();
        successors.set("late", &running[4].1, long(1000)).unwrap();
    }

    #[test]
    fn no_secret_is_shown() {
        let mut successor = reads("secret").unwrap();
        successor.program.file = "/bin/unterm".into();
        successor.program.env.push(("TOKEN".into(), "secret".into()));
        let shown = format!("{successor:?}");
        assert!(!shown.contains("secret") && shown.contains("/bin/unterm"), "{shown}");
    }
}
