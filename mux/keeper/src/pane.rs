//! A pane of the keeper: a program, the duplicate of its pty's master, and its owner.
//!
//! A program has at most one owner. Until the owner has read the program's end or is gone, the program stays a zombie,
//! so that its process id, to which the owner may send signals, is not reused.

use std::{
    ffi::{OsStr, OsString},
    io,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::ffi::OsStrExt as _,
    },
    path::{Path, PathBuf},
    rc::Rc,
};

use rustix::{
    process::{
        Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitOptions, pidfd_open, waitid, waitpid,
    },
    termios::Winsize,
};

use crate::{
    exit::{Ending, ExitReport, now},
    identity::{Identity, Origin, PaneState, Placement},
    journal::{self, Drain},
    message::{PaneKey, Reply, Start},
    process::{Process, ProcessId},
    pty::Pty,
};

/// A program that the keeper has started.
pub(crate) struct Pane {
    pub(crate) key: PaneKey,
    pid: Pid,
    /// Becomes readable when the program ends.
    process: OwnedFd,
    /// The keeper's duplicate. `None` after the pane was closed.
    master: Option<OwnedFd>,
    /// The journal that the owner writes. `None` if the owner writes none, or if the journal was damaged.
    journal: Option<OwnedFd>,
    /// Reads output into the journal while the pane has no owner.
    drain: Option<Drain>,
    /// The error in the journal, until it was logged.
    fault: Option<String>,
    tty: PathBuf,
    ending: Option<Ending>,
    /// Whether the program was waited for, so that its process id may belong to another process.
    is_reaped: bool,
    owner: Option<Owner>,
    last_owner: LastOwner,
    /// The process that takes this pane: the keeper has started it for that, or it has announced that.
    /// `None` after an instance has confirmed the pane.
    successor: Option<ProcessId>,
    since: u64,
    started: u64,
    argv: Vec<OsString>,
    cwd: PathBuf,
    variables: Vec<(OsString, OsString)>,
    origin: Origin,
    placement: Placement,
}

/// An instance that requests a pane.
#[derive(Clone)]
pub(crate) struct Instance {
    pub(crate) name: String,
    /// The instance's process. `None` if the system does not report it.
    pub(crate) process: Option<Rc<Process>>,
}

/// The instance to which a pane belonged last.
struct LastOwner {
    name: String,
    process: Option<ProcessId>,
}

impl From<&Instance> for LastOwner {
    fn from(instance: &Instance) -> Self {
        let process = instance.process.as_ref().map(|process| process.id);
        Self { name: instance.name.clone(), process }
    }
}

/// The instance to which a pane belongs.
struct Owner {
    instance: Instance,
    report: ExitReport,
    /// Whether the owner has confirmed that it has received the descriptors.
    has_confirmed: bool,
    /// Whether no instance has ever confirmed this pane.
    is_first: bool,
    /// Whether the record of the program's end was written.
    is_reported: bool,
}

/// The descriptors of a pane for its owner: the master, the process, the exit pipe, and the journal, if there is one.
pub(crate) type Descriptors = Vec<OwnedFd>;

impl Pane {
    /// Starts a program. The caller must send the descriptors to the instance.
    pub(crate) fn start(
        number: u64,
        start: Start,
        owner: &Instance,
    ) -> io::Result<(Self, Descriptors)> {
        let Start { mut program, variables, size: [cols, rows, width, height], .. } = start;
        let size = Winsize { ws_row: rows, ws_col: cols, ws_xpixel: width, ws_ypixel: height };
        // Create everything that can fail before starting the program.
        let key = PaneKey { number, secret: secret()? };
        let Pty { master, terminal, name } =
            Pty::open(size).map_err(|error| io::Error::other(format!("no pty: {error}")))?;
        let (report, exit) = ExitReport::new()?;
        let duplicate = master.try_clone()?;
        // Without a journal, only the text of the pane is lost with its owner.
        let journal = start.has_journal.then(|| journal::create().ok()).flatten();
        let journal_duplicate = journal.as_ref().map(OwnedFd::try_clone).transpose()?;
        program.env.extend(variables.iter().cloned());
        let pid = program.start(terminal)?;
        let watch = || -> io::Result<(OwnedFd, OwnedFd)> {
            let process = pidfd_open(pid, PidfdFlags::empty())?;
            let duplicate = process.try_clone()?;
            Ok((process, duplicate))
        };
        let (process, process_duplicate) = watch().inspect_err(|_| {
            // If the program can't be watched, end it, because the keeper would not notice the program's end. The child
            // was not waited for, so the process id is still its own.
            let _ = rustix::process::kill_process(pid, Signal::KILL);
            let _ = waitpid(Some(pid), WaitOptions::empty());
        })?;
        let argv = [program.file.into_os_string(), program.arg0];
        let pane = Self {
            key,
            pid,
            process,
            master: Some(master),
            journal,
            drain: None,
            fault: None,
            tty: name.map(|name| OsStr::from_bytes(name.as_bytes()).into()).unwrap_or_default(),
            ending: None,
            is_reaped: false,
            owner: Some(Owner {
                instance: owner.clone(),
                report,
                has_confirmed: false,
                is_first: true,
                is_reported: false,
            }),
            last_owner: owner.into(),
            successor: None,
            since: now(),
            started: now(),
            argv: argv.into_iter().chain(program.args).collect(),
            cwd: program.cwd,
            variables,
            origin: start.origin,
            placement: start.placement,
        };
        let descriptors = [duplicate, process_duplicate, exit].into_iter().chain(journal_duplicate);
        Ok((pane, descriptors.collect()))
    }

    /// Gives the pane to an instance. `None` if another instance owns it. `has_journal`: whether the instance writes the
    /// journal. The caller must send the descriptors.
    pub(crate) fn take(
        &mut self,
        owner: &Instance,
        has_journal: bool,
    ) -> io::Result<Option<Descriptors>> {
        self.check_owner();
        let Some(master) = self.master.as_ref().filter(|_| self.owner.is_none()) else {
            return Ok(None);
        };
        let (report, exit) = ExitReport::new()?;
        let mut descriptors = vec![master.try_clone()?, self.process.try_clone()?, exit];
        if !has_journal {
            // Discard the journal, because it would miss the output that this owner reads.
            self.journal = None;
        }
        descriptors.extend(self.journal.as_ref().map(OwnedFd::try_clone).transpose()?);
        self.drain = None;
        // The previous owner must not change the pane any more.
        self.key.secret = secret()?;
        if let Some(ending) = self.ending {
            report.write(ending)?;
        }
        let instance = owner.clone();
        let is_reported = self.ending.is_some();
        self.owner =
            Some(Owner { instance, report, has_confirmed: false, is_first: false, is_reported });
        self.since = now();
        Ok(Some(descriptors))
    }

    /// The reply that comes with the pane's descriptors.
    pub(crate) fn held(&self) -> Reply {
        let pid = self.pid.as_raw_nonzero().get();
        Reply::Held { pane: self.key, pid, tty: self.tty.clone() }
    }

    /// The owner has received the descriptors.
    pub(crate) fn confirm(&mut self) {
        if let Some(owner) = &mut self.owner {
            owner.has_confirmed = true;
            self.last_owner = LastOwner::from(&owner.instance);
            self.successor = None;
        }
    }

    pub(crate) fn describe(&mut self, placement: Placement) {
        self.placement = placement;
    }

    /// Closes the keeper's master. As soon as the owner has closed its own master, the system hangs up the terminal.
    /// The pane is removed after the program's end.
    pub(crate) fn close(&mut self) {
        self.master = None;
        self.journal = None;
        self.drain = None;
    }

    /// Ends a program that no instance has ever owned.
    fn end(&mut self) {
        if !self.is_reaped {
            // The program was not waited for, so the process id is still its own.
            let _ = rustix::process::kill_process_group(self.pid, Signal::KILL);
            let _ = rustix::process::kill_process(self.pid, Signal::KILL);
        }
        self.close();
    }

    /// The descriptor that becomes readable when the program ends. `None` if it has ended.
    pub(crate) fn process(&self) -> Option<BorrowedFd<'_>> {
        self.ending.is_none().then(|| self.process.as_fd())
    }

    /// The descriptor that has an error as soon as the owner is gone. `None` if there is no owner.
    pub(crate) fn owner_report(&self) -> Option<BorrowedFd<'_>> {
        self.owner.as_ref().map(|owner| owner.report.as_fd())
    }

    /// Checks whether the program has ended, and reports that to the owner.
    pub(crate) fn check_end(&mut self) {
        if self.ending.is_some() {
            return;
        }
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let Ok(Some(status)) = waitid(WaitId::Pid(self.pid), options) else { return };
        let how = match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => Ok(code),
            (_, Some(signal)) => Err(signal),
            _ => return,
        };
        let ending = Ending::now(how);
        self.ending = Some(ending);
        if let Some(owner) = &mut self.owner {
            // This fails if the owner is gone, which `check_owner` notices.
            owner.is_reported = owner.report.write(ending).is_ok();
        }
        self.reap();
    }

    /// Checks whether the owner is gone. Returns the name of an owner that is gone.
    pub(crate) fn check_owner(&mut self) -> Option<String> {
        let mut gone = None;
        if let Some(owner) = self.owner.take_if(|owner| !owner.report.has_owner()) {
            self.since = now();
            if owner.is_first && !owner.has_confirmed {
                self.end();
            } else if owner.is_reported && owner.report.is_read() {
                // The owner has read the end, so there is nothing left to take over.
                self.close();
            }
            self.begin_drain();
            gone = Some(owner.instance.name);
        }
        self.reap();
        gone
    }

    /// Begins to read output into the journal.
    fn begin_drain(&mut self) {
        let (Some(journal), Some(master)) = (&self.journal, &self.master) else { return };
        // A former owner may have made the master blocking, and all duplicates share this mode.
        let drain = rustix::io::ioctl_fionbio(master, true).map_err(Into::into);
        match drain.and_then(|()| Drain::new(journal)) {
            Ok(drain) => self.drain = Some(drain),
            Err(error) => {
                self.fault = Some(format!("the journal cannot be used: {error}"));
                self.journal = None;
            }
        }
    }

    /// The descriptor that becomes readable when output can be read into the journal. `None` if the pane has an owner, no
    /// journal, or no more space in the journal.
    pub(crate) fn undrained(&self) -> Option<BorrowedFd<'_>> {
        let has_room = self.owner.is_none() && self.drain.as_ref().is_some_and(Drain::has_room);
        self.master.as_ref().filter(|_| has_room).map(AsFd::as_fd)
    }

    /// Reads a piece of output into the journal.
    pub(crate) fn drain(&mut self) {
        let (Some(journal), Some(master)) = (&self.journal, &self.master) else { return };
        let Some(drain) = self.drain.as_mut().filter(|_| self.owner.is_none()) else { return };
        if let Err(error) = drain.step(master, journal) {
            self.fault = Some(format!("no output is read into the journal: {error}"));
            self.drain = None;
        }
    }

    /// The error in the journal. Returns each error once.
    pub(crate) fn take_fault(&mut self) -> Option<String> {
        self.fault.take()
    }

    /// Whether the owner has confirmed that it has received the descriptors.
    pub(crate) fn is_confirmed(&self) -> bool {
        self.owner.as_ref().is_some_and(|owner| owner.has_confirmed)
    }

    /// Waits for a program that has ended, unless an owner may still use its process id.
    fn reap(&mut self) {
        if self.owner.is_none() && self.ending.is_some() && !self.is_reaped {
            let _ = waitpid(Some(self.pid), WaitOptions::NOHANG);
            self.is_reaped = true;
        }
    }

    /// Whether the program runs, and an instance owns the pane or can take it.
    pub(crate) fn is_needed(&self) -> bool {
        self.ending.is_none() && (self.master.is_some() || self.owner.is_some())
    }

    /// Whether an instance in this process owns the pane.
    pub(crate) fn is_owned_by(&self, process: ProcessId) -> bool {
        let owner = self.owner.as_ref().and_then(|owner| owner.instance.process.as_ref());
        owner.is_some_and(|owner| owner.id == process)
    }

    /// Whether the program runs without an owner, and the process was the last that owned it, or should have taken it.
    /// The name of the instance does not matter, because other processes may have had it.
    pub(crate) fn was_left_by(&self, process: ProcessId) -> bool {
        let is_left = self.owner.is_none() && self.is_needed();
        is_left && [self.last_owner.process, self.successor].contains(&Some(process))
    }

    /// Whether the pane has no owner, and no process is about to take it.
    pub(crate) fn is_free(&self) -> bool {
        self.owner.is_none() && self.successor.is_none()
    }

    /// The process that takes this pane, because the keeper has started it for that, or because it has announced
    /// that.
    pub(crate) fn successor(&self) -> Option<ProcessId> {
        self.successor
    }

    /// Sets the process that takes this pane.
    pub(crate) fn set_successor(&mut self, process: Option<ProcessId>) {
        self.successor = process;
    }

    /// Whether another instance can still show the pane, although its program has ended and no instance owns it.
    pub(crate) fn is_left(&self) -> bool {
        self.is_reaped && self.master.is_some()
    }

    /// Whether the pane was closed and its program has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.is_reaped && self.master.is_none()
    }

    /// Whether the pane was closed. Nothing can be done with it any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.master.is_none()
    }

    /// The name of the pane's owner.
    pub(crate) fn owner(&self) -> Option<&str> {
        self.owner.as_ref().map(|owner| owner.instance.name.as_str())
    }

    /// The executable, for messages.
    pub(crate) fn program(&self) -> &Path {
        self.argv.first().map(Path::new).unwrap_or(Path::new(""))
    }

    pub(crate) fn identity(&self) -> Identity {
        let pid = |process: ProcessId| process.pid.as_raw_nonzero().get();
        let size = self.master.as_ref().and_then(|it| rustix::termios::tcgetwinsize(it).ok());
        Identity {
            number: self.key.number,
            pid: self.pid.as_raw_nonzero().get(),
            tty: self.tty.clone(),
            owner: self.owner().map(str::to_owned),
            last_owner: self.last_owner.name.clone(),
            last_owner_pid: self.last_owner.process.map(pid),
            successor_pid: self.successor.map(pid),
            since: self.since,
            state: self.ending.map_or(PaneState::Running, PaneState::Ended),
            started: self.started,
            size: size
                .map(|size| [size.ws_col, size.ws_row, size.ws_xpixel, size.ws_ypixel])
                .unwrap_or_default(),
            argv: self.argv.clone(),
            cwd: self.cwd.clone(),
            variables: self.variables.clone(),
            origin: self.origin.clone(),
            placement: self.placement.clone(),
        }
    }
}

/// A number that no other process can guess.
fn secret() -> io::Result<u64> {
    let mut bytes = [0; 8];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    Ok(u64::from_ne_bytes(bytes))
}
