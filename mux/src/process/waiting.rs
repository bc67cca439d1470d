//! Whether a process waits for a terminal's input, by the system call that each of its threads is in (Linux, proc(5)).
//!
//! Only reads `/proc` and stops no process. For another user's process, the system reports only whether it sleeps.

use std::{
    fs::File,
    io,
    os::unix::fs::{FileExt, MetadataExt},
};

use rustix::fs::makedev;

use super::linux::{Stat, processes, stat};

/// The most descriptors of a `poll` or `select` that are checked.
const MOST_DESCRIPTORS: u64 = 1024;
/// `POLLIN` of poll(2), and `EPOLLIN` of epoll(7).
const READABLE: u32 = 1;

/// Whether a process of this group, the foreground group of its terminal, waits for that terminal's input.
pub(super) fn awaits_input(group: i32) -> bool {
    // Usually the group's leader reads; to find other members requires a scan of all processes.
    stat(group).is_some_and(|leader| awaits(&leader))
        || processes().any(|process| process.group == group && awaits(&process))
}

fn awaits(process: &Stat) -> bool {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{}/task", process.pid)) else {
        return false;
    };
    for thread in threads.flatten() {
        match std::fs::read_to_string(thread.path().join("syscall")) {
            Ok(line) if Call::of(&line).is_some_and(|call| call.awaits(process)) => return true,
            Ok(_) => {}
            Err(error) if is_hidden(&error) => return process.state == b'S',
            // The thread has ended.
            Err(_) => {}
        }
    }
    false
}

/// Whether the system hides a process's calls: another user's process, or a kernel without this file.
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

    /// Whether the call returns when a process's terminal has input.
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

/// Whether a descriptor of a process is its terminal, opened by its device or as `/dev/tty`.
fn is_terminal(process: &Stat, descriptor: u64) -> bool {
    let file = std::fs::metadata(format!("/proc/{}/fd/{descriptor}", process.pid));
    file.is_ok_and(|file| {
        file.rdev() == u64::from(process.terminal) || file.rdev() == makedev(5, 0)
    })
}

/// poll(2): an array of descriptors (4 bytes each), requested events (2) and returned events (2).
fn polls(process: &Stat, array: u64, count: u64) -> bool {
    let bytes = memory(process, array, count.min(MOST_DESCRIPTORS) * 8).unwrap_or_default();
    bytes.chunks_exact(8).any(|entry| {
        let descriptor = i32::from_ne_bytes([entry[0], entry[1], entry[2], entry[3]]);
        let events = u16::from_ne_bytes([entry[4], entry[5]]);
        u32::from(events) & READABLE != 0
            && u64::try_from(descriptor).is_ok_and(|descriptor| is_terminal(process, descriptor))
    })
}

/// select(2): one bit for each descriptor below `count`.
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

/// epoll(7): the registered descriptors, as `/proc/PID/fdinfo/FD` lists them.
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

/// Memory of a process; `None` if the address is not mapped or may not be read.
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
