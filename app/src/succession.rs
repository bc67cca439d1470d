//! Takes the place of an instance that has ended, or that continues without a window after a crash: its name, its ports,
//! its token and its programs. [`Restart`] is the case in which the instance makes way itself, for the program that is
//! installed now.
//!
//! The sources are standard input, if the keeper of the programs has started this process, and the registry of this user's
//! instances. Never takes the place of an instance that still runs: it asks the instance to leave, and waits for its end.

use std::{
    ffi::OsString,
    fs::File,
    io::{self, Read as _, Write as _},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{self, Command, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Error, Result, bail};
use unterm_control::{
    Inheritance, Record,
    client::{self, Client, Endpoint},
    methods::{
        hand_over::{self, HandOverReply},
        params::NoParams,
        server,
    },
};

use crate::{
    args::Args,
    own_program,
    sessions::{self, Sessions},
};

/// The longest time to wait for an answer of an instance that waits for a window. A window that starts shows nothing in this
/// time.
const PATIENCE: Duration = Duration::from_secs(2);

/// The longest time to wait until an instance that answers has left its programs, and until it has ended.
const LEAVING: Duration = Duration::from_secs(20);

/// The longest time that the installed program may take to start.
const STARTING: Duration = Duration::from_secs(5);

/// The maximum length of an error message of the installed program, in bytes.
const LONGEST_REASON: u64 = 4096;

/// The instance whose place this process takes.
#[derive(Default)]
pub(crate) struct Succession {
    /// The state that the instance left. `None` if there is no such instance.
    pub(crate) predecessor: Option<Inheritance>,
    /// Why this process does not take the place of an instance that waits for a window, as text for the user.
    pub(crate) faults: Vec<String>,
    /// Keeps other processes from taking the same place. Must be held until the registry names this process.
    pub(crate) lock: Option<File>,
}

impl Succession {
    /// Finds the instance, and makes it leave its place.
    ///
    /// # Errors
    /// If standard input contains no valid inheritance.
    pub(crate) fn find(args: &Args, home: &Path) -> Result<Self> {
        if args.succeed.is_some() {
            let inheritance = Inheritance::read(io::stdin().lock())?;
            // A process that was about to take the place may have ended before the instance. A restart keeps the process.
            if inheritance.record.pid != process::id() {
                wait_for_ports(&inheritance.record);
            }
            let predecessor = Some(inheritance);
            return Ok(Self { predecessor, lock: lock(home), ..Self::default() });
        }
        let is_waiting = || client::live(home).into_iter().filter(|record| is_wanted(args, record));
        if is_waiting().next().is_none() {
            return Ok(Self::default());
        }
        // Another process may have taken the place of an instance while this one waited for the lock.
        let mut found = Self { lock: lock(home), ..Self::default() };
        for record in is_waiting() {
            let id = record.id.clone();
            match take_over(record) {
                // Stop here: a process has only one name, so the other instances continue to wait.
                Ok(inheritance) => {
                    sessions::guard_takeover(home, args, &inheritance);
                    wait_for_ports(&inheritance.record);
                    found.predecessor = Some(inheritance);
                    break;
                }
                Err(error) => {
                    found.faults.push(format!("Can't show the programs of {id}.\n{error:#}"));
                }
            }
        }
        Ok(found)
    }
}

/// Locks succession. If that fails, continues without the lock: at worst, two windows then share the programs of one
/// instance.
fn lock(home: &Path) -> Option<File> {
    let lock = unterm_control::lock_succession(home);
    lock.inspect_err(|error| tracing::warn!(%error, "others may take over programs, too")).ok()
}

/// Whether this process shows the programs of an instance that runs. If the command line decides the window's contents,
/// it does so only with `--attach`.
fn is_wanted(args: &Args, record: &Record) -> bool {
    match args.attach.as_deref() {
        Some("") => record.waits_for_window,
        Some(name) => record.waits_for_window && record.id == name,
        None => {
            let is_plain = args.execute.is_empty()
                && args.layout.is_none()
                && args.cwd.is_none()
                && args.take.is_empty();
            record.waits_for_window && is_plain && !args.headless && !args.quake
        }
    }
}

/// Waits until an instance that has left its programs has ended. Then its ports are free.
fn wait_for_ports(record: &Record) {
    // After its end, another process may have its process id.
    if record.is_live() && !record.wait_for_end(LEAVING) {
        tracing::warn!(id = record.id, "it has left its programs, but not its ports");
    }
}

/// Makes an instance leave its programs. It ends afterward.
fn take_over(record: Record) -> Result<Inheritance> {
    let endpoint = Endpoint::from(record.clone());
    // First make a call without effect, to check that the instance responds: if its process is stopped, it must not
    // leave its programs later, when no process takes them.
    within(PATIENCE, {
        let endpoint = endpoint.clone();
        move || Client::connect_to(&endpoint)?.call::<server::Health>(NoParams {})
    })?;
    let left = within(LEAVING, move || {
        Client::connect_to(&endpoint)?.call::<hand_over::HandOver>(NoParams {})
    })?;
    let HandOverReply { next_session, focused, sessions, agents_paused, approval } = left;
    let (is_paused, approval) = (agents_paused, Some(approval));
    Ok(Inheritance { record, next_session, focused, sessions, is_paused, approval })
}

/// Makes a call on another thread, and waits for its result for a limited time.
pub(crate) fn within<T: Send + 'static>(
    limit: Duration,
    call: impl FnOnce() -> Result<T, unterm_control::Error> + Send + 'static,
) -> Result<T> {
    let (sender, receiver) = mpsc::channel();
    thread::Builder::new().name("succession".to_owned()).spawn(move || sender.send(call()))?;
    match receiver.recv_timeout(limit) {
        Ok(result) => Ok(result?),
        Err(_) => bail!("it does not answer within {} seconds", limit.as_secs()),
    }
}

/// The program that replaces this one, in the same process, once the instance has left its programs and ended. So a
/// program that started Unterm and waits for its end is not affected.
#[derive(Debug)]
pub(crate) struct Restart {
    file: PathBuf,
    args: Vec<OsString>,
    inheritance: Inheritance,
}

impl Restart {
    /// Prepares a restart, and changes nothing. Starts the installed program once, to see whether it runs here and can take
    /// the place of an instance.
    ///
    /// # Errors
    /// If it cannot.
    pub(crate) fn prepare(args: &Args, sessions: &Sessions) -> Result<Self> {
        let inheritance = sessions
            .inheritance()
            .context("programs of this instance cannot continue without it")?;
        let file = own_program::path().context("the path of the installed program is unknown")?;
        let args = args.after_restart();
        try_out(&file, &args)
            .with_context(|| format!("{} cannot replace this program", file.display()))?;
        Ok(Self { file, args, inheritance })
    }

    /// Updates the state that the instance leaves. Its server must still run.
    pub(crate) fn refreshed(self, sessions: &Sessions) -> Self {
        // The programs were left already, so keep the lists of sessions from the preparation.
        let Inheritance { focused, sessions: numbers, .. } = self.inheritance.clone();
        let now = sessions.inheritance().unwrap_or_else(|| self.inheritance.clone());
        Self { inheritance: Inheritance { focused, sessions: numbers, ..now }, ..self }
    }

    /// Replaces the program. The programs of the instance must have been left, and its server must have ended. Returns only
    /// if that fails.
    pub(crate) fn run(self) -> Error {
        let Self { file, args, inheritance } = self;
        // A pipe holds 64 KiB, so writing to it waits for no reader.
        let written = io::pipe().and_then(|(reader, mut writer)| {
            writer.write_all(inheritance.to_text().as_bytes()).map(|()| reader)
        });
        let input = match written {
            Ok(input) => input,
            Err(error) => return Error::new(error).context("cannot restart"),
        };
        unterm_mux::restore_descriptor_limit();
        let error = Command::new(&file).args(args).stdin(input).exec();
        Error::new(error).context(format!(
            "cannot start {}; `unterm --attach` shows the programs",
            file.display()
        ))
    }
}

/// Starts a program with these arguments, which must print its version and end.
///
/// # Errors
/// If it reports an error, or does not end in time.
fn try_out(file: &Path, args: &[OsString]) -> Result<()> {
    let mut command = Command::new(file);
    command.args(args).arg("--version").stdin(Stdio::null()).stdout(Stdio::null());
    let mut child = command.stderr(Stdio::piped()).spawn()?;
    let until = Instant::now() + STARTING;
    let status = loop {
        match child.try_wait()? {
            Some(status) => break status,
            None if Instant::now() > until => {
                let _ = child.kill();
                let _ = child.wait();
                bail!("it does not start within {} seconds", STARTING.as_secs());
            }
            None => thread::sleep(Duration::from_millis(2)),
        }
    };
    if status.success() {
        return Ok(());
    }
    let mut why = String::new();
    if let Some(stderr) = child.stderr.take() {
        let _ = stderr.take(LONGEST_REASON).read_to_string(&mut why);
    }
    bail!("{}", why.lines().next().unwrap_or("it reports an error"))
}
