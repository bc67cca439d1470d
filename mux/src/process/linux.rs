//! The Linux implementation: descriptors for the end of a process and for wake-ups, `/proc`, and returning memory.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::{Path, PathBuf},
    time::Duration,
};

use rustix::{
    event::{EventfdFlags, eventfd},
    io::DupFlags,
    process::{Pid, PidfdFlags, pidfd_open},
};

use super::{job::Job, shells::is_shell};

/// Makes `place` refer to the open file `by`, and closes its previous file.
pub(super) fn replace(place: &mut OwnedFd, by: impl AsFd) {
    let _ = rustix::io::dup3(by, place, DupFlags::CLOEXEC);
}

/// A descriptor that becomes readable when a process has ended, and stays readable.
pub(super) struct ExitWatch(OwnedFd);

impl ExitWatch {
    /// Watches a child that no thread has waited for yet.
    pub(super) fn new(pid: Pid) -> io::Result<Self> {
        Ok(Self(pidfd_open(pid, PidfdFlags::empty())?))
    }
}

impl AsFd for ExitWatch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// A flag that wakes a thread waiting in poll(2): readable while it is set.
pub(super) struct Wake(OwnedFd);

impl Wake {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?))
    }

    pub(super) fn set(&self) {
        // A write fails only if the counter is full, which would take 2^64 calls.
        let _ = rustix::io::write(&self.0, &1u64.to_ne_bytes());
    }

    pub(super) fn clear(&self) {
        let _ = rustix::io::read(&self.0, &mut [0; 8]);
    }
}

impl AsFd for Wake {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// The path of a process's executable, with the file name by which it was called (`vim`, not its target `vim.basic`).
/// The process's name if the path cannot be read. `None` if there is no such process.
pub(super) fn name(pid: i32) -> Option<String> {
    // Read the first argument first, because that waits until a running exec is complete.
    let first_argument = first_argument(pid);
    let called = read_small(format!("/proc/{pid}/comm").as_ref());
    let called =
        called.map(|name| String::from_utf8_lossy(&name).trim_end_matches('\n').to_owned());
    let Ok(path) = std::fs::read_link(format!("/proc/{pid}/exe")) else { return called.ok() };
    let text = path.to_string_lossy();
    // The kernel marks an executable that was replaced while it runs, for example by a package upgrade.
    let path = std::path::Path::new(text.strip_suffix(" (deleted)").unwrap_or(&text));
    // A process can choose its name. It was called by that name only if its first argument contains the same name.
    let path = match called {
        Ok(called) if !called.is_empty() && first_argument.as_ref() == Some(&called) => {
            path.with_file_name(called)
        }
        _ => path.to_owned(),
    };
    Some(path.to_string_lossy().into_owned())
}

/// How often to try to read the arguments of a process that has none yet. A process that has ended never has any.
const EXEC_LOOKS: usize = 50;

/// The name in a process's first argument, without the mark of a login shell. During an exec, the kernel sets the
/// arguments last. Until then, other data may still be the previous program's, so wait until arguments appear.
fn first_argument(pid: i32) -> Option<String> {
    let mut first = arguments(pid)?.into_iter().next();
    for _ in 0..EXEC_LOOKS {
        if first.is_some() {
            break;
        }
        std::thread::yield_now();
        first = arguments(pid)?.into_iter().next();
    }
    let first = first.unwrap_or_default();
    let name = first.rsplit('/').next().unwrap_or_default();
    Some(name.strip_prefix('-').unwrap_or(name).to_owned())
}

/// Whether a process still executes this process's program, which is the case between fork and exec.
pub(super) fn is_own_image(pid: i32) -> bool {
    let own = std::fs::read_link("/proc/self/exe");
    own.is_ok() && own.ok() == std::fs::read_link(format!("/proc/{pid}/exe")).ok()
}

/// The working directory of a process. `None` if it cannot be read, or if the directory was removed: the kernel's link
/// then contains a path that does not exist.
pub(super) fn cwd(pid: i32) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/{pid}/cwd")).ok().filter(|path| path.is_dir())
}

/// A variable of the environment with which a process was started.
pub(super) fn variable(pid: i32, name: &str) -> Option<String> {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
    let mut all = environment.split(|byte| *byte == 0);
    let value = all.find_map(|it| it.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
    Some(String::from_utf8_lossy(value).into_owned())
}

/// The lowest process id in a process group. Used if the group's leader has ended.
pub(super) fn group_member(group: i32) -> Option<i32> {
    processes().filter(|process| process.group == group).map(|process| process.pid).min()
}

/// The process groups that started a process group, the nearest first.
pub(super) fn groups_above(group: i32) -> Option<Vec<i32>> {
    let leader = stat(group).or_else(|| stat(group_member(group)?))?;
    let line = std::iter::successors(Some(leader), |process| stat(process.parent));
    Some(line.take(ANCESTORS).map(|process| process.group).filter(|own| *own != group).collect())
}

/// Whether a process has this controlling terminal, given by its device number, or was started by the process `program`,
/// directly or through other processes.
pub(super) fn belongs_to(pid: i32, terminal: Option<u64>, program: i32) -> bool {
    let line = std::iter::successors(stat(pid), |process| stat(process.parent));
    line.take(ANCESTORS).any(|process| {
        // The terminal of an ancestor counts, too: a process can leave its terminal.
        process.pid == program || terminal.is_some_and(|it| u64::from(process.terminal) == it)
    })
}

/// The names of the processes in a process group and of all their descendants, including those on other terminals:
/// `sudo` and `script` start their programs on another terminal.
pub(super) fn names_below(group: i32) -> Vec<String> {
    let mut rest: Vec<Stat> = processes().collect();
    let mut found: Vec<Stat> = rest.extract_if(.., |process| process.group == group).collect();
    let mut next = 0;
    while let Some(parent) = found.get(next).map(|process| process.pid) {
        found.extend(rest.extract_if(.., |process| process.parent == parent));
        next += 1;
    }
    found.into_iter().map(|process| process.name).collect()
}

/// The maximum number of ancestors to follow. If a process id is reused meanwhile, the parents could form a cycle.
const ANCESTORS: usize = 64;

/// The process groups of a terminal except those in `except`, the oldest first. The terminal is given by its device
/// number.
pub(super) fn jobs(terminal: u64, except: &[i32]) -> Option<Vec<Job>> {
    let is_of = |process: &Stat| {
        u64::from(process.terminal) == terminal && !except.contains(&process.group)
    };
    let mut members: Vec<Stat> = processes().filter(is_of).collect();
    members.sort_by_key(|process| (process.start, process.pid));
    let mut groups: Vec<i32> = Vec::new();
    for group in members.iter().map(|process| process.group) {
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    let up = uptime();
    let job = |group: i32| {
        let own: Vec<&Stat> = members.iter().filter(|process| process.group == group).collect();
        let first = own.first()?;
        // A shell that runs a list of commands is a copy of its parent shell; the commands are more informative.
        let is_copy = own.len() > 1 && is_shell(&first.name);
        let named = own.iter().skip(usize::from(is_copy));
        let commands: Vec<String> = named.map(|process| command_line(process)).collect();
        Some(Job {
            group,
            command: commands.join(" | "),
            is_stopped: own.iter().all(|process| process.state == b'T'),
            age: up.saturating_sub(first.start),
        })
    };
    Some(groups.into_iter().filter_map(job).collect())
}

/// The time since a process was started.
pub(super) fn age(pid: i32) -> Option<Duration> {
    Some(uptime().saturating_sub(stat(pid)?.start))
}

/// The time since the system was started.
fn uptime() -> Duration {
    let seconds = std::fs::read_to_string("/proc/uptime").ok();
    let seconds = seconds.and_then(|text| text.split(' ').next()?.parse().ok());
    Duration::from_secs_f64(seconds.unwrap_or_default())
}

/// The arguments with which a process was started.
pub(super) fn arguments(pid: i32) -> Option<Vec<String>> {
    let arguments = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let arguments = arguments.split_inclusive(|byte| *byte == 0);
    Some(
        arguments
            .map(|argument| {
                String::from_utf8_lossy(argument.strip_suffix(&[0]).unwrap_or(argument))
                    .into_owned()
            })
            .collect(),
    )
}

/// The arguments with which a process was started, in one line. The process's name if it no longer has arguments.
fn command_line(process: &Stat) -> String {
    let mut line = arguments(process.pid).unwrap_or_default();
    line.retain(|argument| !argument.is_empty());
    if line.is_empty() { process.name.clone() } else { line.join(" ") }
}

/// The status of a process, from the kernel.
pub(super) struct Stat {
    pub(super) pid: i32,
    /// The state as a letter of proc_pid_stat(5): `T` if the process is stopped, `S` if its main thread waits.
    pub(super) state: u8,
    /// The time from the start of the system to the start of the process.
    start: Duration,
    /// At most 15 bytes of the process's name.
    pub(super) name: String,
    parent: i32,
    pub(super) group: i32,
    /// The device number of the process's controlling terminal. 0 if it has no terminal.
    pub(super) terminal: u32,
    /// The foreground process group of the controlling terminal. Negative if there is none.
    pub(super) front: i32,
}

/// All processes whose status can be read.
pub(super) fn processes() -> impl Iterator<Item = Stat> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten();
    entries.filter_map(|entry| stat(entry.ok()?.file_name().to_str()?.parse().ok()?))
}

/// The status of a process.
pub(super) fn stat(pid: i32) -> Option<Stat> {
    stat_in(format!("/proc/{pid}").as_ref())
}

/// The content of a file of `/proc`, at most 4 KiB. Lists of many panes read some for each pane, so this needs only three system
/// calls.
pub(super) fn read_small(path: &Path) -> io::Result<Vec<u8>> {
    use rustix::fs::{Mode, OFlags};
    let file = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    let mut bytes = vec![0; 4096];
    let length = rustix::io::retry_on_intr(|| rustix::io::read(&file, &mut bytes))?;
    bytes.truncate(length);
    Ok(bytes)
}

/// The status of a process (`/proc/PID`) or of a thread (`/proc/PID/task/TID`): fields 1 to 5, 7, 8 and 22 of `stat`.
/// The name may contain any character, so the fields after it are counted from its closing bracket.
pub(super) fn stat_in(folder: &Path) -> Option<Stat> {
    let pid = folder.file_name()?.to_str()?.parse().ok()?;
    let stat = read_small(&folder.join("stat")).ok()?;
    let start = stat.iter().position(|byte| *byte == b'(')? + 1;
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let name = String::from_utf8_lossy(stat.get(start..end)?).into_owned();
    let mut fields = std::str::from_utf8(&stat[end + 1..]).ok()?.split_ascii_whitespace();
    let state = *fields.next()?.as_bytes().first()?;
    let mut number = || fields.next()?.parse::<i32>().ok();
    let (parent, group, _session) = (number()?, number()?, number()?);
    let (terminal, front) = (number()?.cast_unsigned(), number()?);
    // Skip fields 9 to 21.
    let ticks: u64 = fields.nth(13)?.parse().ok()?;
    // The number of ticks in a second. Every Linux since 2.6 uses this number.
    const TICKS: u64 = 100;
    let start = Duration::from_millis(ticks * (1000 / TICKS));
    Some(Stat { pid, state, start, name, parent, group, terminal, front })
}

/// A number that changes when a process executes another program. `None` if the process has ended or belongs to another
/// user.
pub(super) fn execution(pid: i32) -> Option<u64> {
    image(pid).map(|image| image.stamp)
}

/// Values that differ between two programs that a process executes one after the other.
#[derive(PartialEq, Eq)]
pub(super) struct Image {
    /// The addresses of code and stack (fields 26 and 28 of `/proc/PID/stat`). The system chooses random ones for each
    /// program, and reports none during an exec.
    stamp: u64,
    /// The process's name, which the program can change.
    name: String,
}

/// The program that a process executes. `None` if the process has ended, is in an exec, or belongs to another user.
pub(super) fn image(pid: i32) -> Option<Image> {
    let stat = read_small(format!("/proc/{pid}/stat").as_ref()).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    let (start, end) = (stat.find('(')? + 1, stat.rfind(')')?);
    let name = stat.get(start..end)?.to_owned();
    let mut fields = stat[end + 1..].split_ascii_whitespace();
    let code: u64 = fields.nth(23)?.parse().ok()?;
    let stack: u64 = fields.nth(1)?.parse().ok()?;
    (stack != 0).then(|| Image { stamp: code.rotate_left(32) ^ stack, name })
}

/// The umask of this process. umask(2) could only report it by changing it, which other threads would notice. `None` if
/// the kernel is older than 4.7.
pub(super) fn umask() -> Option<u32> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let mask = status.lines().find_map(|line| line.strip_prefix("Umask:"))?;
    u32::from_str_radix(mask.trim(), 8).ok()
}

/// Returns freed memory to the system. Otherwise, the C library would keep memory that exited threads freed, such as
/// most of a pane's long history, for later threads.
pub(super) fn release_memory() {
    #[cfg(target_env = "gnu")]
    {
        unsafe extern "C" {
            fn malloc_trim(pad: usize) -> std::ffi::c_int;
        }
        // SAFETY: malloc_trim(3) may be called from any thread at any time, and touches only free memory.
        unsafe { malloc_trim(0) };
    }
}

/// Limits the freed memory that the C library keeps. Otherwise, it raises its limits whenever a large block is freed, and
/// keeps up to 64 MiB for each group of threads (arena), which not even [`release_memory`] returns.
pub(super) fn limit_kept_memory() {
    #[cfg(target_env = "gnu")]
    {
        use std::ffi::c_int;
        unsafe extern "C" {
            fn mallopt(parameter: c_int, value: c_int) -> c_int;
        }
        const M_TRIM_THRESHOLD: c_int = -1;
        const M_MMAP_THRESHOLD: c_int = -3;
        // Smaller blocks, such as most frames of a window, are allocated faster if their memory is kept.
        const MOST_KEPT: c_int = 4 << 20;
        for parameter in [M_TRIM_THRESHOLD, M_MMAP_THRESHOLD] {
            // SAFETY: mallopt(3) only sets a number, under the allocator's lock.
            unsafe { mallopt(parameter, MOST_KEPT) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_env = "gnu")]
    #[test]
    fn large_blocks_are_returned_to_the_system() {
        use std::{ffi::c_int, hint::black_box};
        #[repr(C)]
        struct MallInfo {
            before: [c_int; 3],
            /// The number of blocks that the system provides separately, and takes back when they are freed.
            separate_blocks: c_int,
            after: [c_int; 6],
        }
        unsafe extern "C" {
            fn mallinfo() -> MallInfo;
        }
        // SAFETY: mallinfo(3) only reads the allocator's counters, under its locks.
        let separate_blocks = || unsafe { mallinfo() }.separate_blocks;
        limit_kept_memory();
        // By default, the C library would keep blocks of this size from now on.
        drop(black_box(vec![1_u8; 30 << 20]));
        let before = separate_blocks();
        let blocks: Vec<_> =
            (0..64).map(|_| black_box(Vec::<u8>::with_capacity(5 << 20))).collect();
        // Other tests allocate few such blocks meanwhile.
        assert!(separate_blocks() >= before + 48);
        drop(blocks);
    }

    #[test]
    fn proc_describes_our_own_process() {
        let pid = std::process::id() as i32;
        let exe = std::env::current_exe().unwrap();
        assert_eq!(name(pid), Some(exe.to_string_lossy().into_owned()));
        assert_eq!(cwd(pid), std::env::current_dir().ok());
        assert!(is_own_image(pid));
        // SAFETY: getpgrp(2) only returns a number. In a container, it can be 0, which `rustix` does not allow.
        let group = unsafe { libc::getpgrp() };
        assert_eq!(stat(pid).map(|own| own.group), Some(group));
        assert!(names_below(group).contains(&stat(pid).unwrap().name));
        assert!(groups_above(group).is_some_and(|above| !above.contains(&group)));
        assert_eq!(name(-1), None);
        assert_eq!(cwd(-1), None);
    }
}
