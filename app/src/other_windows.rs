//! Other windows that show programs that this instance has left: a new window, or the window of another instance.

use std::{
    io,
    process::{Child, Command, Stdio},
    sync::Arc,
    thread,
    time::Duration,
};

use unterm_control::{
    OtherWindows, Record,
    client::{Client, Endpoint},
    methods::moving::{AttachParams, AttachPrograms},
};
use unterm_mux::{Mux, PaneId};

use crate::{args::Args, own_program, sessions::Sessions, succession::within};

/// The longest time to wait until another instance shows programs.
const ANSWERING: Duration = Duration::from_secs(15);

/// The other windows of this user.
pub(crate) struct AppWindows {
    /// The command line of this instance, for a new window.
    pub(crate) args: Args,
    /// The programs that outlive this instance.
    pub(crate) sessions: Arc<Sessions>,
}

impl OtherWindows for AppWindows {
    fn attach_programs(&self, mux: &Mux, programs: &[u64]) -> Result<Vec<PaneId>, String> {
        self.sessions.attach_numbers(mux, programs)
    }

    fn attach_in(&self, instance: &Record, programs: &[u64]) -> Result<Vec<u64>, String> {
        let (endpoint, programs) = (Endpoint::from(instance.clone()), programs.to_vec());
        let attached = within(ANSWERING, move || {
            let params = AttachParams { programs: programs.into() };
            Client::connect_to(&endpoint)?.call::<AttachPrograms>(params)
        });
        Ok(attached.map_err(|error| format!("{error:#}"))?.sessions)
    }

    fn open_window_with(&self, programs: &[u64]) -> Result<(), String> {
        let mut child =
            start(programs, &self.args).map_err(|error| format!("can't start Unterm: {error}"))?;
        let has_ended = || !matches!(child.try_wait(), Ok(None));
        if self.sessions.wait_until_shown(programs, has_ended) {
            // Wait for the child on a thread. Otherwise, it would become a zombie when it exits.
            let wait = move || child.wait();
            if let Err(error) = thread::Builder::new().name("new window".to_owned()).spawn(wait) {
                tracing::warn!(%error, "nothing waits for the end of the new window");
            }
            return Ok(());
        }
        // End the process, so that it does not take the programs later.
        let _ = child.kill();
        let _ = child.wait();
        Err("the new window did not open".to_owned())
    }
}

/// Starts a process that outlives this one.
fn start(programs: &[u64], args: &Args) -> io::Result<Child> {
    let mut command = Command::new(own_program::path()?);
    command.args(args.another_with(programs));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn()
}
