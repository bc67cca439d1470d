//! Checks whether a process waits for input of a terminal, by the system call in which each of its threads is (Linux,
//! proc(5)).
//!
//! Only reads `/proc`, and stops no process. For a process of another user, the system reports only whether it sleeps.

use std::{
    fs::File,
    io,
    os::unix::fs::{FileExt, MetadataExt},
    path::Path,
};

use rustix::fs::makedev;

use super::{
    carrier::is_carrier,
    linux::{Stat, processes, read_small, stat, stat_in},
};

/// The maximum number of descriptors of a `poll` or `select` to check.
const MOST_DESCRIPTORS: u64 = 1024;
/// `POLLIN` of poll(2), and `EPOLLIN` of epoll(7).
const READABLE: u32 = 1;
/// The major device number of the terminals of ptys.
const PTY_TERMINALS: u32 = 136;
/// The maximum depth of nested terminals through which input is followed. For example, `sudo` in `script` has depth 2.
const MOST_NESTED: usize = 4;

/// Whether a process waits for its terminal's input, as far as the system reports it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waiting {
    No,
    /// The process sleeps, and the system hides what it waits for.
    Hidden,
    /// A thread reads the terminal, or waits until it is readable.
    Reads,
}

/// Whether a process of this group waits for input of its terminal. The group is the foreground group of that terminal.
/// If the system hides the calls of a process, the process counts as waiting if it sleeps.
pub(super) fn awaits_input(group: i32) -> bool {
    any(group, |process| waiting(process) != Waiting::No)
}

/// The name of a process that reads input of its terminal in place of the leader of its group. The group is the
/// foreground group of that terminal. A line editor starts such a process for a key, such as a search of the history.
pub(super) fn reader_behind_leader(group: i32) -> Option<String> {
    let leads = stat(group).is_some_and(|leader| waiting(&leader) != Waiting::No);
    let reads = |process: &Stat| process.group == group && process.pid != group;
    let mut others = processes().filter(|process| !leads && reads(process));
    others.find(|process| waiting(process) == Waiting::Reads).map(|process| process.name)
}

/// Whether the leader of this group neither runs nor waits for a processor, and is alone in the group. Another process of
/// the group may be about to read the terminal, such as a search of the history that a key has just started.
pub(super) fn is_blocked(group: i32) -> bool {
    let is_other = |process: Stat| process.group == group && process.pid != group;
    stat(group).is_some_and(|leader| leader.state != b'R') && !processes().any(is_other)
}

/// Whether a process of this group certainly reads input of its terminal for itself. The group is the foreground group
/// of that terminal.
///
/// A program that forwards its input always reads, so its reading proves nothing. If it holds the other end of an inner
/// terminal, as `sudo` and `script` do, the foreground program of the inner terminal must read. If it forwards input
/// elsewhere, the result is false.
pub(super) fn reads_input(group: i32) -> bool {
    reads(group, MOST_NESTED)
}

fn reads(group: i32, nested: usize) -> bool {
    any(group, |process| {
        if waiting(process) != Waiting::Reads {
            return false;
        }
        let inner = groups_inside(process);
        match inner.is_empty() {
            true => !is_carrier(&process.name),
            false => nested > 0 && inner.into_iter().any(|group| reads(group, nested - 1)),
        }
    })
}

/// Whether `holds` is true for a process of the group.
fn any(group: i32, holds: impl Fn(&Stat) -> bool) -> bool {
    // Check the group's leader first: usually the leader reads, and finding other members requires a scan of all
    // processes.
    stat(group).is_some_and(|leader| holds(&leader))
        || processes()
            .any(|process| process.group == group && process.pid != group && holds(&process))
}

/// The foreground groups of the inner terminals: those whose other ends this process holds.
fn groups_inside(process: &Stat) -> Vec<i32> {
    let Ok(files) = std::fs::read_dir(format!("/proc/{}/fd", process.pid)) else {
        return Vec::new();
    };
    let terminals: Vec<u32> =
        files.flatten().filter_map(|file| terminal_of(&file.path())).collect();
    if terminals.is_empty() {
        return Vec::new();
    }
    let inner = processes().filter(|inner| terminals.contains(&inner.terminal));
    let mut groups: Vec<i32> = inner.map(|inner| inner.front).filter(|group| *group > 0).collect();
    groups.sort_unstable();
    groups.dedup();
    groups
}

/// The device number of the terminal if the open file (`/proc/PID/fd/FD`) is the terminal's other end. `None` for every
/// other file.
fn terminal_of(file: &Path) -> Option<u32> {
    if !std::fs::read_link(file).ok()?.ends_with("ptmx") {
        return None;
    }
    let about = file.parent()?.with_file_name("fdinfo").join(file.file_name()?);
    let about = std::fs::read_to_string(about).ok()?;
    let index = about.lines().find_map(|line| line.strip_prefix("tty-index:"))?;
    u32::try_from(makedev(PTY_TERMINALS, index.trim().parse().ok()?)).ok()
}

fn waiting(process: &Stat) -> Waiting {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{}/task", process.pid)) else {
        return Waiting::No;
    };
    for thread in threads.flatten() {
        let thread = thread.path();
        match read_small(&thread.join("syscall")) {
            Ok(line) => {
                let line = String::from_utf8_lossy(&line);
                // A stopped thread is still in its system call but does not wait, so check that the thread sleeps.
                let is_asleep = || stat_in(&thread).is_some_and(|thread| thread.state == b'S');
                if Call::of(&line).is_some_and(|call| call.awaits(process)) && is_asleep() {
                    return Waiting::Reads;
                }
            }
            Err(error) if is_hidden(&error) => {
                return if process.state == b'S' { Waiting::Hidden } else { Waiting::No };
            }
            // The thread has ended.
            Err(_) => {}
        }
    }
    Waiting::No
}

/// Whether the error means that the system hides the process's calls: the process belongs to another user, or the
/// kernel lacks this file.
fn is_hidden(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::NotFound)
}

/// The system call that a thread is in.
struct Call {
    number: i64,
    arguments: [u64; 2],
}

impl Call {
    /// Parses `/proc/PID/task/TID/syscall`; `None` if the thread is running.
    fn of(line: &str) -> Option<Self> {
        let mut fields = line.split_ascii_whitespace();
        let number = fields.next()?.parse().ok().filter(|number| *number >= 0)?;
        let mut argument = || u64::from_str_radix(fields.next()?.strip_prefix("0x")?, 16).ok();
        Some(Self { number, arguments: [argument()?, argument()?] })
    }

    /// Whether the call returns when the process's terminal has input.
    fn awaits(&self, process: &Stat) -> bool {
        let [first, second] = self.arguments;
        match self.number {
            libc::SYS_read | libc::SYS_readv => is_terminal(process, first),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_poll => polls(process, first, second),
            libc::SYS_ppoll => polls(process, first, second),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_select => selects(process, first, second),
            libc::SYS_pselect6 => selects(process, first, second),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_epoll_wait => epolls(process, first),
            libc::SYS_epoll_pwait | libc::SYS_epoll_pwait2 => epolls(process, first),
            _ => false,
        }
    }
}

/// Whether a descriptor of a process refers to the process's terminal, opened by its device or as `/dev/tty`.
fn is_terminal(process: &Stat, descriptor: u64) -> bool {
    let file = std::fs::metadata(format!("/proc/{}/fd/{descriptor}", process.pid));
    file.is_ok_and(|file| {
        file.rdev() == u64::from(process.terminal) || file.rdev() == makedev(5, 0)
    })
}

/// poll(2): checks an array of descriptors (4 bytes each), requested events (2) and returned events (2).
fn polls(process: &Stat, array: u64, count: u64) -> bool {
    let bytes = memory(process, array, count.min(MOST_DESCRIPTORS) * 8).unwrap_or_default();
    bytes.chunks_exact(8).any(|entry| {
        let descriptor = i32::from_ne_bytes([entry[0], entry[1], entry[2], entry[3]]);
        let events = u16::from_ne_bytes([entry[4], entry[5]]);
        u32::from(events) & READABLE != 0
            && u64::try_from(descriptor).is_ok_and(|descriptor| is_terminal(process, descriptor))
    })
}

/// select(2): checks one bit for each descriptor below `count`.
fn selects(process: &Stat, count: u64, set: u64) -> bool {
    let count = count.min(MOST_DESCRIPTORS);
    // The kernel uses whole 64-bit words.
    let bytes = memory(process, set, count.div_ceil(64) * 8).unwrap_or_default();
    (0..count).any(|descriptor| {
        let (byte, bit) = (descriptor as usize / 8, descriptor % 8);
        let is_set = bytes.get(byte).is_some_and(|byte| byte & (1 << bit) != 0);
        is_set && is_terminal(process, descriptor)
    })
}

/// epoll(7): checks the registered descriptors, which `/proc/PID/fdinfo/FD` lists.
fn epolls(process: &Stat, descriptor: u64) -> bool {
    let list = std::fs::read_to_string(format!("/proc/{}/fdinfo/{descriptor}", process.pid));
    list.unwrap_or_default().lines().any(|line| {
        let mut fields = line.strip_prefix("tfd:").unwrap_or_default().split_ascii_whitespace();
        let target = fields.next().and_then(|target| target.parse().ok());
        let events = fields.nth(1).and_then(|events| u32::from_str_radix(events, 16).ok());
        events.is_some_and(|events| events & READABLE != 0)
            && target.is_some_and(|target| is_terminal(process, target))
    })
}

/// Reads memory of a process. `None` if the address is not mapped or may not be read.
fn memory(process: &Stat, address: u64, length: u64) -> Option<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(length).ok()?];
    let file = File::open(format!("/proc/{}/mem", process.pid)).ok()?;
    file.read_exact_at(&mut bytes, address).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_proc_is_a_call_with_arguments() {
        let call = Call::of("0 0x3 0x7f6861f8c000 0x20000 0x0 0x0 0x0 0x7ffe 0x7f68\n").unwrap();
        assert_eq!((call.number, call.arguments), (0, [3, 0x7f68_61f8_c000]));
        for line in ["running\n", "-1 0x7ffe 0x7f68\n", ""] {
            assert!(Call::of(line).is_none(), "{line:?}");
        }
    }
}
