//! Whether a process is still running, and the event of its end. A pid alone does not identify a process, because pids
//! are reused.

use std::io;

use rustix::process::{Pid, test_kill_process};

/// When a process started, in the system's ticks since boot. `None` if the system does not report it.
pub fn process_start(pid: u32) -> Option<u64> {
    #[cfg(target_os = "linux")]
    {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The process's name is in parentheses, and may contain any characters. The fields after it are numbers
        // (proc_pid_stat(5), field 22).
        stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(19)?.parse().ok()
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = pid;
        None
    }
}

/// Whether a process with this pid is running. If both start times are known, they must be equal.
pub fn is_live(pid: u32, start: Option<u64>) -> bool {
    let Some(process) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return false };
    match test_kill_process(process) {
        Ok(()) | Err(rustix::io::Errno::PERM) => match (start, process_start(pid)) {
            (Some(recorded), Some(running)) => recorded == running && !is_zombie(pid),
            _ => !is_zombie(pid),
        },
        Err(_) => false,
    }
}

/// Whether the process has ended but is still listed, because its parent has not waited for it.
fn is_zombie(pid: u32) -> bool {
    #[cfg(target_os = "linux")]
    {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
        stat.is_ok_and(|stat| {
            let state =
                stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
            matches!(state, Some('Z' | 'X'))
        })
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = pid;
        false
    }
}

/// Waits for the end of a process, at most for `limit`. Returns at once if the system can't report it.
pub(super) fn wait_for_end(pid: u32, limit: std::time::Duration) {
    #[cfg(target_os = "linux")]
    {
        use rustix::{
            event::{PollFd, PollFlags, Timespec, poll},
            process::{PidfdFlags, pidfd_open},
        };

        let process = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let process = process.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        if let (Some(process), Ok(limit)) = (process, Timespec::try_from(limit)) {
            let _ = poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&limit));
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (pid, limit);
}

/// Waits for the end of a process.
pub struct ProcessEnd {
    #[cfg(target_os = "linux")]
    pidfd: tokio::io::unix::AsyncFd<std::os::fd::OwnedFd>,
}

impl ProcessEnd {
    /// The process with this pid. Fails with `Unsupported` if the system can't report the end of another process. Needs
    /// a tokio runtime.
    #[cfg(target_os = "linux")]
    pub fn of(pid: u32) -> io::Result<Self> {
        use rustix::process::{PidfdFlags, pidfd_open};
        use tokio::io::{Interest, unix::AsyncFd};

        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        let pidfd = match pidfd_open(pid, PidfdFlags::NONBLOCK) {
            Err(rustix::io::Errno::NOSYS) => Err(io::ErrorKind::Unsupported.into()),
            pidfd => pidfd.map_err(io::Error::from),
        }?;
        // SAFETY: the `AsyncFd` owns the descriptor, and closes it after deregistering it.
        let pidfd = unsafe { AsyncFd::register_with_interest(pidfd, Interest::READABLE) }?;
        Ok(Self { pidfd })
    }

    /// Always fails with `Unsupported` on this system.
    #[cfg(not(target_os = "linux"))]
    pub fn of(pid: u32) -> io::Result<Self> {
        let _ = pid;
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Waits until the process has ended.
    #[cfg(target_os = "linux")]
    pub async fn wait(self) {
        let _ = self.pidfd.readable().await;
    }

    /// Never called, because no value of this type can exist on this system.
    #[cfg(not(target_os = "linux"))]
    pub async fn wait(self) {}
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_process_is_live_only_with_its_own_start_time() {
        let own = std::process::id();
        assert!(is_live(own, process_start(own)));
        assert!(is_live(own, None));
        assert!(!is_live(own, Some(1)), "another process had this pid");
        for nobody in [0, u32::MAX] {
            assert!(!is_live(nobody, None));
        }
        // `cat` ends when its input is closed.
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let pid = child.id();
        assert!(is_live(pid, process_start(pid)));
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(!is_live(pid, None));
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn the_end_of_a_process_is_an_event() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let ended = ProcessEnd::of(child.id()).unwrap();
        drop(child.stdin.take());
        ended.wait().await;
        child.wait().unwrap();
    }
}
