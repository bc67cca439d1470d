//! A local program on a pty.
//!
//! The program is a child of this process, or of a keeper. The two cases differ only in how the end of the program is
//! detected ([`Child`]). The master is non-blocking. Only poll(2) waits: for the master, the program's end or a
//! wake-up.

mod reading;

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
    path::PathBuf,
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    process::{Pid, Signal as Sig},
    termios::{LocalModes, Winsize},
};
use unterm_keeper::Pty;
#[cfg(target_os = "linux")]
use unterm_keeper::{Held, Journal};
use unterm_term::Size;

#[cfg(target_os = "linux")]
use super::keeper::KeeperPane;
use super::{
    child::{Child, Watch},
    integration::NonceFile,
    launch::Launch,
    shells::is_shell,
    system,
};
use crate::{
    Ancestor, Execution, ExitStatus, Foreground, Job, KILL_GRACE, Process, ReadOutcome, Signal,
    Spawn, SpawnError, is_carrier, lock::Mutex,
};
#[cfg(target_os = "linux")]
use crate::{OutputJournal, ProgramPlacement};

/// A local program on a pty.
pub struct PtyProcess {
    /// The pty's master, which is non-blocking.
    master: OwnedFd,
    tty: Option<PathBuf>,
    pid: Pid,
    /// Path of the program.
    image: String,
    /// Wakes the reader after one of the fields below has changed. The reader clears it.
    wake: system::Wake,
    /// Set while nothing may be written: permanently after closing, or while detached. Wakes the writer.
    closed: system::Wake,
    is_closed: AtomicBool,
    is_stopped: AtomicBool,
    is_detached: AtomicBool,
    /// Whether the program continues without an owner when this value is dropped.
    is_left: AtomicBool,
    /// Whether the reader waits for output and has returned all output so far. Cleared before the reader reads output.
    is_reader_idle: AtomicBool,
    /// Signals are sent under this lock, and only until the program's end is known: until then, its process id cannot be
    /// reused.
    state: Mutex<State>,
    /// The number of reads since the child was last checked.
    reads: AtomicU32,
    /// The number of bytes read since the child's end was detected.
    tail: AtomicU32,
    /// The name of the program that was last found in the foreground.
    known_name: Mutex<Option<KnownName>>,
    _nonce: Option<NonceFile>,
    /// The pane of the keeper, if the program is a child of a keeper.
    #[cfg(target_os = "linux")]
    keeper: Option<KeeperPane>,
    /// The journal that this process shares with the keeper.
    #[cfg(target_os = "linux")]
    journal: Option<Journal>,
}

/// The name of a program, which is valid as long as the process executes the same program: finding a name takes ten
/// system calls, and comparing the program three.
struct KnownName {
    pid: i32,
    image: system::Image,
    name: String,
}

struct State {
    child: Child,
    killing: Killing,
}

/// The result of checking the child.
struct Look {
    status: Option<ExitStatus>,
    /// The time at which SIGKILL is due.
    kill_at: Option<Instant>,
    /// Becomes readable when the child must be checked again. `None` after the end.
    watch: Option<Watch>,
}

#[derive(Clone, Copy)]
enum Killing {
    No,
    /// SIGHUP was sent. SIGKILL must be sent at this time.
    Until(Instant),
    Done,
}

impl PtyProcess {
    /// Starts a program on a pty of `size`, as a child of this process.
    ///
    /// `spawn.env` may override TERM (`xterm-256color`) and COLORTERM (`truecolor`).
    pub fn spawn(spawn: &Spawn, size: Size) -> Result<Self, SpawnError> {
        Self::start(Launch::new(spawn)?, size)
    }

    /// Starts a program on a pty of `size`, as a child of this process.
    pub(super) fn start(launch: Launch, size: Size) -> Result<Self, SpawnError> {
        let failed = |error: io::Error| launch.failed(error);
        let no_pty = |error: io::Error| failed(io::Error::other(format!("no pty: {error}")));
        let Pty { master, terminal, name } = Pty::open(winsize(size)).map_err(no_pty)?;
        // Create everything that can fail before starting the program.
        let wakes = Wakes::new().map_err(failed)?;
        let tty = name.and_then(|name| name.into_string().ok()).map(PathBuf::from);
        let pid = launch.whole_program().start(terminal).map_err(failed)?;
        let child = Child::own(pid).map_err(failed)?;
        let program = RunningProgram { image: launch.image, nonce: launch.nonce, tty, pid, child };
        Ok(Self::new(program, master, wakes))
    }

    /// The process of a program that a keeper has started, and that belongs to this process now. `nonce` is the file
    /// that the program's shell reads. `journal` is the journal of the pane.
    #[cfg(target_os = "linux")]
    pub(super) fn kept(
        image: String,
        nonce: Option<NonceFile>,
        wakes: Wakes,
        (held, pane): (Held, KeeperPane),
        journal: Option<Journal>,
    ) -> Self {
        let Held { master, process, exit, pid, tty, .. } = held;
        let tty = Some(tty).filter(|tty| !tty.as_os_str().is_empty());
        let child = Child::kept(pid, exit, process);
        let program = RunningProgram { image, nonce, tty, pid, child };
        let mut process = Self::new(program, master, wakes);
        process.keeper = Some(pane);
        process.journal = journal;
        process
    }

    fn new(program: RunningProgram, master: OwnedFd, Wakes { wake, closed }: Wakes) -> Self {
        let RunningProgram { image, nonce, tty, pid, child } = program;
        Self {
            master,
            tty,
            pid,
            image,
            wake,
            closed,
            is_closed: AtomicBool::new(false),
            is_stopped: AtomicBool::new(false),
            is_detached: AtomicBool::new(false),
            is_left: AtomicBool::new(false),
            is_reader_idle: AtomicBool::new(false),
            state: Mutex::new(State { child, killing: Killing::No }),
            reads: AtomicU32::new(0),
            tail: AtomicU32::new(0),
            known_name: Mutex::new(None),
            _nonce: nonce,
            #[cfg(target_os = "linux")]
            keeper: None,
            #[cfg(target_os = "linux")]
            journal: None,
        }
    }

    /// Checks the child without blocking, and sends SIGKILL if it is due.
    fn look(&self) -> Look {
        let mut state = self.state.lock();
        let status = state.child.status();
        let mut kill_at = None;
        if status.is_none()
            && let Killing::Until(deadline) = state.killing
        {
            if Instant::now() < deadline {
                kill_at = Some(deadline);
            } else {
                state.killing = Killing::Done;
                if !self.signal_groups(Sig::KILL) {
                    // The program runs as another user (sudo as the pane's program), so no signal is allowed. Only
                    // closing the master can hang it up.
                    self.is_stopped.store(true, Ordering::Release);
                }
            }
        }
        Look { status, kill_at, watch: state.child.watch() }
    }

    /// Signals the program's own process group and the foreground group. Returns false if that is forbidden. Call it
    /// only while the child has no status.
    fn signal_groups(&self, signal: Sig) -> bool {
        let sent = rustix::process::kill_process_group(self.pid, signal)
            .or_else(|_| rustix::process::kill_process(self.pid, signal));
        if let Some(group) = self.foreground_group().filter(|group| *group != self.pid) {
            let _ = rustix::process::kill_process_group(group, signal);
        }
        sent != Err(Errno::PERM)
    }

    /// The foreground process group. Never a number that stands for every process or for this process's own group.
    fn foreground_group(&self) -> Option<Pid> {
        let group = rustix::termios::tcgetpgrp(&self.master).ok()?;
        // SAFETY: getpgrp(2) only returns a number. `rustix` does not allow 0, but in a container, this process can be in
        // a group that has no number there.
        let own = unsafe { libc::getpgrp() };
        (group != Pid::INIT && group.as_raw_nonzero().get() != own).then_some(group)
    }

    /// The process groups that started a process group, the nearest first, up to the pane's own program. The groups
    /// above that program do not belong to the pane.
    fn own_groups_above(&self, group: i32) -> Option<Vec<i32>> {
        let root = self.pid.as_raw_nonzero().get();
        let mut above = system::groups_above(group)?;
        above.truncate(above.iter().position(|&group| group == root).map_or(0, |at| at + 1));
        Some(above)
    }

    fn close_writing(&self) {
        self.is_closed.store(true, Ordering::Release);
        self.closed.set();
    }
}

/// A program after its start.
struct RunningProgram {
    image: String,
    nonce: Option<NonceFile>,
    tty: Option<PathBuf>,
    pid: Pid,
    child: Child,
}

/// The descriptors that wake a reader and a writer.
pub(super) struct Wakes {
    wake: system::Wake,
    closed: system::Wake,
}

impl Wakes {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { wake: system::Wake::new()?, closed: system::Wake::new()? })
    }
}

/// The size that the kernel reports to programs. Its pixel values match the terminal's own replies.
pub(super) fn winsize(size: Size) -> Winsize {
    let (width, height) = size.pixels();
    let pixels = |side: u32| u16::try_from(side).unwrap_or(u16::MAX);
    Winsize {
        ws_row: size.rows,
        ws_col: size.cols,
        ws_xpixel: pixels(width),
        ws_ypixel: pixels(height),
    }
}

impl Process for PtyProcess {
    fn read(&self, buffer: &mut [u8], deadline: Option<Instant>) -> io::Result<ReadOutcome> {
        self.read_output(buffer, deadline)
    }

    fn stop_reading(&self) {
        self.is_stopped.store(true, Ordering::Release);
        self.wake.set();
        self.close_writing();
    }

    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            if self.is_closed.load(Ordering::Acquire) {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            if self.is_detached.load(Ordering::Acquire) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            match rustix::io::write(&self.master, bytes) {
                Ok(count) => return Ok(count),
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => {}
                Err(error) => return Err(error.into()),
            }
            let mut fds = [
                PollFd::new(&self.master, PollFlags::OUT),
                PollFd::new(&self.closed, PollFlags::IN),
            ];
            match poll(&mut fds, None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn try_write(&self, bytes: &[u8]) -> usize {
        if self.is_closed.load(Ordering::Acquire) || self.is_detached.load(Ordering::Acquire) {
            return 0;
        }
        rustix::io::write(&self.master, bytes).unwrap_or(0)
    }

    fn detach(&self) {
        self.is_detached.store(true, Ordering::Release);
        self.wake.set();
        self.closed.set();
    }

    fn attach(&self) {
        self.is_detached.store(false, Ordering::Release);
        self.closed.clear();
        // Another thread may have closed the process just before `clear`.
        if self.is_closed.load(Ordering::Acquire) {
            self.closed.set();
        }
    }

    #[cfg(target_os = "linux")]
    fn set_placement(&self, placement: ProgramPlacement) {
        if let Some(keeper) = &self.keeper {
            keeper.describe(placement);
        }
    }

    fn is_kept(&self) -> bool {
        self.state.lock().child.is_kept()
    }

    #[cfg(target_os = "linux")]
    fn keeper_number(&self) -> Option<u64> {
        self.keeper.as_ref().filter(|_| self.is_kept()).map(KeeperPane::number)
    }

    #[cfg(target_os = "linux")]
    fn keep_end(&self) {
        self.state.lock().child.keep_end();
    }

    fn has_kept_end(&self) -> bool {
        self.state.lock().child.has_kept_end()
    }

    fn leave(&self) {
        self.is_left.store(self.state.lock().child.is_kept(), Ordering::Release);
    }

    #[cfg(target_os = "linux")]
    fn journal(&self) -> Option<&dyn OutputJournal> {
        self.journal.as_ref().map(|journal| journal as &dyn OutputJournal)
    }

    fn is_local(&self) -> bool {
        true
    }

    fn resize(&self, size: Size) -> io::Result<()> {
        Ok(rustix::termios::tcsetwinsize(&self.master, winsize(size))?)
    }

    fn reported_size(&self) -> Option<(u16, u16)> {
        let size = rustix::termios::tcgetwinsize(&self.master).ok()?;
        Some((size.ws_col, size.ws_row))
    }

    fn signal(&self, signal: Signal) -> io::Result<()> {
        let signal = match signal {
            Signal::Hangup => Sig::HUP,
            Signal::Interrupt => Sig::INT,
            Signal::Quit => Sig::QUIT,
            Signal::Terminate => Sig::TERM,
            Signal::Kill => Sig::KILL,
            Signal::Stop => Sig::TSTP,
            Signal::Continue => Sig::CONT,
            Signal::User1 => Sig::USR1,
            Signal::User2 => Sig::USR2,
            Signal::WindowChanged => Sig::WINCH,
        };
        let group = self.foreground_group().ok_or(io::ErrorKind::NotFound)?;
        Ok(rustix::process::kill_process_group(group, signal)?)
    }

    fn kill(&self) {
        let is_first = {
            let mut state = self.state.lock();
            let is_first = state.child.status().is_none() && matches!(state.killing, Killing::No);
            if is_first {
                let may_signal = self.signal_groups(Sig::HUP);
                let grace = if may_signal { KILL_GRACE } else { Duration::ZERO };
                state.killing = Killing::Until(Instant::now() + grace);
                // A stopped program receives SIGHUP only after it continues.
                self.signal_groups(Sig::CONT);
            }
            is_first
        };
        if is_first {
            // After a crash, the next process must not show a program that was about to end.
            #[cfg(target_os = "linux")]
            self.keeper.iter().for_each(KeeperPane::close);
        }
        self.wake.set();
        self.close_writing();
    }

    fn foreground(&self) -> Option<Foreground> {
        let group = self.foreground_group()?.as_raw_nonzero().get();
        let root = self.pid.as_raw_nonzero().get();
        let image = system::image(group);
        let known = self.known_name.lock().as_ref().and_then(|known| {
            let is_it = known.pid == group && image.as_ref() == Some(&known.image);
            is_it.then(|| known.name.clone())
        });
        if let Some(name) = known {
            return Some(Foreground { pid: group, name, is_root: group == root });
        }
        // Right after the start, the child still executes this process's program.
        if group == root && system::is_own_image(group) {
            return Some(Foreground { pid: group, name: self.image.clone(), is_root: true });
        }
        let (pid, name) = match system::name(group) {
            Some(name) => {
                // Only if no other program was executed meanwhile.
                if let Some(image) =
                    image.filter(|image| system::image(group).as_ref() == Some(image))
                {
                    let known = KnownName { pid: group, image, name: name.clone() };
                    *self.known_name.lock() = Some(known);
                }
                (group, name)
            }
            None => {
                let pid = system::group_member(group)?;
                (pid, system::name(pid)?)
            }
        };
        Some(Foreground { pid, name, is_root: pid == root })
    }

    fn carrier(&self) -> Option<String> {
        // A pane that was started with a carrier counts as carried, even after the carrier has ended.
        if is_carrier(&self.image) {
            return Some(self.image.clone());
        }
        system::names_below(self.group_in_front()?).into_iter().find(|name| is_carrier(name))
    }

    fn group_in_front(&self) -> Option<i32> {
        Some(self.foreground_group()?.as_raw_nonzero().get())
    }

    fn has_group(&self, group: i32) -> bool {
        // A group that this process may not signal exists too.
        Pid::from_raw(group).is_some_and(|group| {
            rustix::process::test_kill_process_group(group) != Err(Errno::SRCH)
        })
    }

    fn groups_above(&self, group: i32) -> Option<Vec<i32>> {
        system::groups_above(group)
    }

    fn ancestors(&self) -> Vec<Ancestor> {
        let groups = self.group_in_front().and_then(|front| self.own_groups_above(front));
        let ancestor = |group: i32| {
            let arguments = system::arguments(group).unwrap_or_default();
            Some(Ancestor { pid: group, name: system::name(group)?, arguments })
        };
        groups.unwrap_or_default().into_iter().filter_map(ancestor).collect()
    }

    fn cwd(&self) -> Option<PathBuf> {
        let group = self.foreground_group().map(|group| group.as_raw_nonzero().get());
        group
            .and_then(|group| {
                system::cwd(group).or_else(|| system::cwd(system::group_member(group)?))
            })
            .or_else(|| system::cwd(self.pid.as_raw_nonzero().get()))
    }

    fn program_cwd(&self) -> Option<PathBuf> {
        let Foreground { pid, name, .. } = self.foreground()?;
        if is_carrier(&name) { None } else { system::cwd(pid) }
    }

    fn shell_cwd(&self) -> Option<PathBuf> {
        let root = self.pid.as_raw_nonzero().get();
        let in_front = || {
            let Foreground { pid, name, .. } = self.foreground()?;
            if is_shell(&name) {
                return system::cwd(pid).map(Some);
            }
            if is_carrier(&name) {
                return Some(None);
            }
            let is_shell = |group: &i32| system::name(*group).is_some_and(|it| is_shell(&it));
            Some(self.own_groups_above(pid)?.into_iter().find(is_shell).and_then(system::cwd))
        };
        in_front().unwrap_or_else(|| {
            // After a program ends, its group stays in the foreground until the shell puts its own group there.
            system::name(root).filter(|name| is_shell(name)).and_then(|_| system::cwd(root))
        })
    }

    fn jobs(&self) -> Option<Vec<Job>> {
        let tty = std::fs::metadata(self.tty()?).ok()?;
        let front = self.group_in_front()?;
        // Exclude the shells that wait for the foreground program, and the pane's own program.
        let mut except = system::groups_above(front).unwrap_or_default();
        except.extend([front, self.pid.as_raw_nonzero().get()]);
        system::jobs(std::os::unix::fs::MetadataExt::rdev(&tty), &except)
    }

    fn has_process(&self, pid: i32) -> bool {
        let tty = self.tty().and_then(|tty| std::fs::metadata(tty).ok());
        let tty = tty.map(|tty| std::os::unix::fs::MetadataExt::rdev(&tty));
        system::belongs_to(pid, tty, self.pid.as_raw_nonzero().get())
    }

    fn foreground_arguments(&self) -> Option<Vec<String>> {
        system::arguments(self.foreground()?.pid)
    }

    fn front_age(&self) -> Option<Duration> {
        system::age(self.foreground()?.pid)
    }

    fn variable(&self, name: &str) -> Option<String> {
        let group = self.foreground_group()?.as_raw_nonzero().get();
        // Right after the start, the child still executes this process's program.
        if system::is_own_image(group) {
            return None;
        }
        system::variable(group, name)
    }

    fn echo(&self) -> Option<bool> {
        let termios = rustix::termios::tcgetattr(&self.master).ok()?;
        Some(termios.local_modes.contains(LocalModes::ECHO))
    }

    fn reads_secret(&self) -> bool {
        rustix::termios::tcgetattr(&self.master).is_ok_and(|termios| {
            let modes = termios.local_modes;
            modes.contains(LocalModes::ICANON) && !modes.contains(LocalModes::ECHO)
        })
    }

    fn collects_lines(&self) -> Option<bool> {
        let termios = rustix::termios::tcgetattr(&self.master).ok()?;
        Some(termios.local_modes.contains(LocalModes::ICANON))
    }

    fn awaits_input(&self) -> Option<bool> {
        #[cfg(target_os = "linux")]
        return Some(super::waiting::awaits_input(self.group_in_front()?));
        #[cfg(not(target_os = "linux"))]
        None
    }

    fn is_in_transit(&self) -> bool {
        #[cfg(target_os = "linux")]
        let is_on_its_way = super::transit::is_in_transit(self.master.as_fd());
        #[cfg(not(target_os = "linux"))]
        let is_on_its_way = false;
        // Check the reader second, because it clears its flag before it reads output from the pty.
        is_on_its_way || !self.is_reader_idle.load(Ordering::Acquire)
    }

    fn reads_input(&self) -> bool {
        #[cfg(target_os = "linux")]
        return self.group_in_front().is_some_and(super::waiting::reads_input);
        #[cfg(not(target_os = "linux"))]
        false
    }

    #[cfg(target_os = "linux")]
    fn reader_behind_leader(&self) -> Option<String> {
        super::waiting::reader_behind_leader(self.group_in_front()?)
    }

    #[cfg(target_os = "linux")]
    fn is_blocked(&self) -> bool {
        self.group_in_front().is_some_and(super::waiting::is_blocked)
    }

    #[cfg(target_os = "linux")]
    fn execution(&self, pid: i32) -> Option<Execution> {
        Some(Execution { pid, stamp: system::execution(pid)? })
    }

    fn tty(&self) -> Option<PathBuf> {
        self.tty.clone()
    }

    fn program(&self) -> &str {
        &self.image
    }

    fn pid(&self) -> Option<i32> {
        Some(self.pid.as_raw_nonzero().get())
    }

    fn exit_status(&self) -> Option<ExitStatus> {
        self.state.lock().child.status()
    }
}

impl Drop for PtyProcess {
    /// Kills the program and waits for its end, because its reader is gone. A program that was left continues.
    fn drop(&mut self) {
        if *self.is_left.get_mut() {
            return;
        }
        let child = &mut self.state.get_mut().child;
        let is_running = child.status().is_none();
        if is_running {
            let _ = rustix::process::kill_process_group(self.pid, Sig::KILL);
            let _ = rustix::process::kill_process(self.pid, Sig::KILL);
            // Close the master. This also hangs up a program that this process may not signal.
            system::replace(&mut self.master, &self.wake);
        }
        // The keeper itself forgets a program whose status was read from the exit pipe.
        #[cfg(target_os = "linux")]
        if let Some(keeper) = self.keeper.as_ref().filter(|_| is_running || child.has_kept_end()) {
            keeper.close();
        }
        if let Some(watch) = child.watch().filter(|_| is_running) {
            // Only a process that is stuck in the kernel survives SIGKILL. After this process ends, init waits for it.
            let limit = Timespec::try_from(Duration::from_secs(1)).ok();
            let _ = poll(&mut [PollFd::new(&watch, PollFlags::IN)], limit.as_ref());
            child.status();
        }
    }
}

#[cfg(test)]
mod tests;
