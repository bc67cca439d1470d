//! The limit of open files. This process raises its own limit to the system's maximum. Its children get the limit with
//! which it was started, because some programs rely on a small limit: programs that use select(2), or that close every
//! possible descriptor.

use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The limit with which this process was started. Set when the process first raises its limit.
static STARTED_WITH: OnceLock<Rlimit> = OnceLock::new();

/// The highest limit to request. If the system has no maximum, this value limits the size of tables that grow with the
/// limit.
const ENOUGH: u64 = 1 << 20;

/// Raises this process's limit of open files (`RLIMIT_NOFILE`) to the maximum, because one process serves many
/// connections and panes. Programs started by [`crate::PtyProcess::spawn`] get the limit with which this process was
/// started.
///
/// # Errors
/// If the system refuses. The limit then stays unchanged.
pub fn raise_descriptor_limit() -> std::io::Result<()> {
    let now = getrlimit(Resource::Nofile);
    let first = *STARTED_WITH.get_or_init(|| now);
    let target = first.maximum.map_or(ENOUGH, |most| most.min(ENOUGH));
    if now.current.is_none_or(|current| current >= target) {
        return Ok(());
    }
    setrlimit(Resource::Nofile, Rlimit { current: Some(target), maximum: first.maximum })?;
    Ok(())
}

/// Sets the limit of open files with which this process was started, for a program that replaces this one.
pub fn restore_descriptor_limit() {
    if let Some(limit) = started_with()
        && let Err(error) = setrlimit(Resource::Nofile, limit)
    {
        tracing::debug!(%error, "the limit of open files stays raised");
    }
}

/// The limit with which this process was started, if it has raised its limit since.
pub(super) fn started_with() -> Option<Rlimit> {
    STARTED_WITH.get().copied()
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use unterm_term::Size;

    use super::*;
    use crate::{Process, PtyProcess, ReadOutcome, Spawn};

    /// The limit that a program started on a pty reports.
    fn limit() -> String {
        let args = ["-c", "ulimit -Sn"].map(str::to_owned).to_vec();
        let spawn = Spawn { program: Some("sh".to_owned()), args, ..Spawn::default() };
        let process = PtyProcess::spawn(&spawn, Size::cells(80, 24)).unwrap();
        let (mut buffer, mut output) = ([0; 64], Vec::new());
        while let ReadOutcome::Bytes(count) = process.read(&mut buffer, None::<Instant>).unwrap() {
            output.extend_from_slice(&buffer[..count]);
        }
        String::from_utf8(output).unwrap().trim().to_owned()
    }

    #[test]
    fn programs_get_the_limit_that_the_process_was_started_with() {
        let before = limit();
        raise_descriptor_limit().unwrap();
        raise_descriptor_limit().unwrap();
        let raised = getrlimit(Resource::Nofile);
        assert!(raised.current >= raised.maximum.map(|most| most.min(ENOUGH)));
        assert_eq!(limit(), before);
        assert_eq!(getrlimit(Resource::Nofile).current, raised.current);
    }
}
