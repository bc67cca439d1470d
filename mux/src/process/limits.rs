//! How many files this process may have open: as many as the system lets it, while its children get what it was started
//! with. Programs that use select(2), or close every descriptor there could be, rely on the usual limit.

use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What the process was started with, once it has raised its own.
static STARTED_WITH: OnceLock<Rlimit> = OnceLock::new();

/// The most that is asked for: where the system knows no bound, tables that grow with it should have one.
const ENOUGH: u64 = 1 << 20;

/// Raises the limit of open files (`RLIMIT_NOFILE`) of this process to the highest it may have; programs started by
/// [`crate::PtyProcess::spawn`] get the one it was started with. For a process that serves many connections and panes.
///
/// # Errors
/// When the system refuses; the limit is then as it was.
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

/// The limit that this process was started with, where it has raised its own.
pub(super) fn started_with() -> Option<Rlimit> {
    STARTED_WITH.get().copied()
}

/// Gives a child its limit, between fork and exec.
pub(super) fn set(limit: Option<Rlimit>) {
    if let Some(limit) = limit {
        let _ = setrlimit(Resource::Nofile, limit);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use unterm_term::Size;

    use super::*;
    use crate::{Process, PtyProcess, ReadOutcome, Spawn};

    /// What a program on a pty is told of its limit.
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
