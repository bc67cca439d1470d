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

/// Starts a child with the limit that this process was started with. To be called for one child at a time.
pub(super) fn for_child<T>(start: impl FnOnce() -> T) -> T {
    let Some(first) = STARTED_WITH.get() else { return start() };
    let now = getrlimit(Resource::Nofile);
    // Between the two calls nothing that is open is closed; what is opened meanwhile may find no room.
    let lowered = setrlimit(Resource::Nofile, *first);
    let started = start();
    if lowered.is_ok()
        && let Err(error) = setrlimit(Resource::Nofile, now)
    {
        tracing::warn!(%error, "the limit of open files stays low");
    }
    started
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn children_get_the_limit_that_the_process_was_started_with() {
        let limit = || {
            let output = Command::new("sh").args(["-c", "ulimit -Sn"]).output().unwrap();
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        };
        let before = limit();
        raise_descriptor_limit().unwrap();
        raise_descriptor_limit().unwrap();
        let raised = getrlimit(Resource::Nofile);
        assert!(raised.current >= raised.maximum.map(|most| most.min(ENOUGH)));
        assert_eq!(for_child(limit), before);
        assert_eq!(getrlimit(Resource::Nofile).current, raised.current);
    }
}
