//! Takes the place of an instance that has ended, or that continues without a window after a crash: its name, its ports,
//! its token and its programs. [`Restart`] is the case in which the instance makes way itself, for the program that is
//! installed now.
//!
//! The sources are standard input, if the keeper of the programs has started this process, and the registry of this user's
//! instances. Never takes the place of an instance that still runs: it asks the instance to detach, and waits for its end.

use std::{
    ffi::OsString,
    io::{self, Write},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context, Error, Result, bail};
use unterm_control::{
    Inheritance, Record,
    client::{self, Client, Endpoint},
    methods::{action, instance, params::NoParams},
};

use crate::{args::Args, own_program, sessions::Sessions};

/// The longest time to wait for the end of an instance that was asked to detach.
const PATIENCE: Duration = Duration::from_secs(5);

/// The instance whose place this process takes. `None` if there is none.
///
/// # Errors
/// If standard input contains no valid inheritance.
pub(crate) fn predecessor(args: &Args, home: &Path) -> Result<Option<Inheritance>> {
    if args.succeed.is_some() {
        return Ok(Some(Inheritance::read(io::stdin().lock())?));
    }
    let mut inherited = None;
    for record in client::live(home).into_iter().filter(|record| is_wanted(args, record)) {
        let id = record.id.clone();
        match take_over(record) {
            // The programs of the others are shown, too, but a process has only one name.
            Ok(inheritance) => drop(inherited.get_or_insert(inheritance)),
            Err(error) => tracing::warn!("cannot take the place of {id}: {error:#}"),
        }
    }
    Ok(inherited)
}

/// Whether this process shows the programs of an instance that runs. A window whose contents the command line decides does
/// so only with `--attach`.
fn is_wanted(args: &Args, record: &Record) -> bool {
    match args.attach.as_deref() {
        Some("") => record.waits_for_window,
        Some(name) => record.waits_for_window && record.id == name,
        None => {
            let is_plain = args.execute.is_empty() && args.layout.is_none() && args.cwd.is_none();
            record.waits_for_window && is_plain && !args.headless && !args.quake
        }
    }
}

/// Makes an instance leave its programs and end.
fn take_over(record: Record) -> Result<Inheritance> {
    let client = Client::connect_to(&Endpoint::from(record.clone()))?;
    let info = client.call::<instance::Info>(NoParams {})?;
    let detach = action::RunParams { name: "detach".into(), ..action::RunParams::default() };
    // The instance may end before its reply arrives.
    let refusal = match client.call::<action::Run>(detach) {
        Ok(reply) if !reply.done => bail!("none of its programs can continue"),
        Ok(_) => None,
        Err(error) => Some(error),
    };
    match (record.wait_for_end(PATIENCE), refusal) {
        (true, _) => {}
        (false, Some(refusal)) => return Err(refusal.into()),
        (false, None) => bail!("it has not ended within {} seconds", PATIENCE.as_secs()),
    }
    let instance::InfoReply { next_session, agents_paused: is_paused, .. } = info;
    Ok(Inheritance { record, next_session, is_paused })
}

/// The program that replaces this one, in the same process, once the instance has left its programs and ended. So whoever
/// started Unterm and waits for its end notices nothing.
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
        let tried = Command::new(&file).args(&args).arg("--version").stdin(Stdio::null()).output();
        let tried = tried.with_context(|| format!("{} does not start", file.display()))?;
        if !tried.status.success() {
            let why = String::from_utf8_lossy(&tried.stderr);
            let why = why.lines().next().unwrap_or("it reports an error").to_owned();
            bail!("{} cannot replace this program: {why}", file.display());
        }
        Ok(Self { file, args, inheritance })
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
