//! Starts programs as children of a keeper, so that they survive the end of this process, and takes over programs that
//! another process left behind.
//!
//! If there is no keeper, programs start as children of this process, and end with it.

use std::{
    ffi::OsString,
    fmt, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use rustix::process::{Resource, getrlimit};
use unterm_keeper::{
    Error, Held, Identity, Journal, Origin, PaneState, Placement, Program, Start, Successor,
};
use unterm_term::Size;

use super::{
    keeper::{Keeper, KeeperPane, NotStarted},
    launch::Launch,
    limits,
    pty::{PtyProcess, Wakes, winsize},
    spawner::Spawner,
    system,
};
use crate::{
    PaneId, Process, ProgramPlacement, Spawn, SpawnError, SpawnOrigin, process::JournalContents,
};

/// The permission mask of a process that does not report its own: only the user may write.
const USUAL_UMASK: u32 = 0o022;

/// Starts local programs whose parent is a keeper (`unterm-keeper`), each on its own pty. As long as this process lives,
/// it reads and writes the pty like [`crate::PtySpawner`]'s programs. If it is killed, the programs continue, and
/// another process can take them over.
pub struct KeptSpawner(Arc<Keeper>);

/// A program that continues without an owner.
#[derive(Clone, Debug)]
pub struct LeftProgram {
    /// The keeper's number for the program.
    number: u64,
    /// The path of the program.
    pub program: String,
    /// The directory in which the program was started.
    pub cwd: PathBuf,
    /// The name of the instance that left the program behind. Other processes may have had this name, too.
    pub last_owner: String,
    /// The process id of that instance. It may belong to another process now. `None` if the keeper does not report it.
    pub left_by: Option<u32>,
    /// The process id of the program that the keeper has started to take over this program. `None` if the keeper has
    /// started no program, or does not report it.
    pub left_to: Option<u32>,
    /// When that instance left it, in milliseconds since 1970.
    pub since: u64,
    /// The data that the spawner has stored.
    pub origin: SpawnOrigin,
    /// The secret in the prompt marks of the program's shells.
    pub(crate) nonce: Option<Arc<str>>,
    /// The size of its terminal.
    pub size: Size,
    /// The position of the program's pane in the last owner's layout.
    pub placement: ProgramPlacement,
    /// Whether the program has ended. Its status can still be read.
    pub has_ended: bool,
}

impl LeftProgram {
    /// The keeper's number for the program.
    pub fn number(&self) -> u64 {
        self.number
    }
}

/// A program that takes the place of this process, and takes over the programs that it leaves behind. It starts with the
/// environment of this process, in its directory, without a terminal. If the directory is gone, it starts in `/`.
#[derive(Clone)]
pub struct SuccessorProgram {
    /// The path of the program.
    pub file: PathBuf,
    /// The program's arguments.
    pub args: Vec<OsString>,
    /// The input that the program reads from its standard input. At most 16 KiB. Only this process, the keeper and the
    /// program have access to it.
    pub input: String,
    /// The keeper's numbers of programs without an owner that this process is about to take over. If it ends before, the
    /// successor takes them over.
    pub takes: Vec<u64>,
}

/// Shows no contents of the input, which may be secret.
impl fmt::Debug for SuccessorProgram {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SuccessorProgram")
            .field("file", &self.file)
            .field("args", &self.args)
            .finish_non_exhaustive()
    }
}

impl SuccessorProgram {
    fn into_successor(self) -> Successor {
        let limit = limits::started_with().unwrap_or_else(|| getrlimit(Resource::Nofile));
        let program = Program {
            arg0: self.file.clone().into(),
            file: self.file,
            args: self.args,
            env: std::env::vars_os().collect(),
            cwd: std::env::current_dir().unwrap_or_else(|_| "/".into()),
            // Pass these values explicitly, because the keeper's values may differ from this process's.
            umask: Some(system::umask().unwrap_or(USUAL_UMASK)),
            open_files: Some((limit.current, limit.maximum)),
        };
        Successor { program, input: self.input, takes: self.takes }
    }
}

impl KeptSpawner {
    /// Creates a spawner. It starts the keeper with its first program. `program` is the path of `unterm-keeper`.
    /// `socket` is the path of the keeper's socket, in a private folder of the user.
    pub fn new(program: PathBuf, socket: PathBuf) -> Self {
        Self(Arc::new(Keeper::new(program, socket)))
    }

    /// Sets the name of this instance, by which other instances identify the owner of a program. Call it before the
    /// first program starts.
    pub fn set_owner(&self, name: &str) {
        self.0.set_owner(name);
    }

    /// Sets the program that the keeper starts if this process ends and leaves running programs behind. It replaces the
    /// last one, unless [`Self::withdraw_successor`] was called. May wait for a few seconds, if the keeper does not answer.
    pub fn set_successor(&self, successor: SuccessorProgram) {
        self.0.set_successor(successor.into_successor());
    }

    /// No program takes the place of this process, which is about to end on purpose. [`Self::set_successor`] has no effect
    /// afterward.
    pub fn withdraw_successor(&self) {
        self.0.withdraw_successor();
    }

    /// Returns the reason why a program was started without the keeper. Returns a reason once.
    pub fn take_fault(&self) -> Option<String> {
        self.0.take_fault()
    }

    /// The programs that continue without an owner, oldest first. Starts the keeper if there is none.
    ///
    /// # Errors
    /// If the keeper cannot be reached.
    pub fn left_programs(&self) -> io::Result<Vec<LeftProgram>> {
        let left = self.0.left().map_err(to_io)?;
        Ok(left.into_iter().map(left_program).collect())
    }

    /// Takes over a program that continues without an owner. It belongs to this process now. Also returns the contents
    /// of its journal, if there is a usable journal.
    ///
    /// # Errors
    /// If another process has taken it over, or the keeper cannot be reached.
    pub(crate) fn take(
        &self,
        left: &LeftProgram,
    ) -> io::Result<(Arc<dyn Process>, Option<JournalContents>)> {
        let wakes = Wakes::new()?;
        let mut held = self.0.take(left.number).map_err(to_io)?;
        let (journal, recovered) = self.open_journal(&mut held).unzip();
        let process = PtyProcess::kept(left.program.clone(), None, wakes, held, journal);
        Ok((Arc::new(process), recovered.map(JournalContents::from)))
    }

    /// Opens the journal that comes with a pane. `None` if there is none, or if it cannot be used.
    fn open_journal(
        &self,
        (held, _): &mut (Held, KeeperPane),
    ) -> Option<(Journal, unterm_keeper::Recovered)> {
        let opened = match held.journal.take() {
            Some(journal) => Journal::open(journal).map_err(|error| error.to_string()),
            None => Err("the keeper has none for this program".to_owned()),
        };
        opened.inspect_err(|error| self.0.note_journal_fault(error)).ok()
    }
}

fn to_io(error: Error) -> io::Error {
    io::Error::other(error)
}

impl Spawner for KeptSpawner {
    fn will_leave(&self) {
        self.withdraw_successor();
    }

    fn spawn(&self, spawn: &Spawn, size: Size) -> Result<Arc<dyn Process>, SpawnError> {
        let launch = Launch::new(spawn)?;
        // Create everything that can fail before starting the program.
        let wakes = Wakes::new().map_err(|error| launch.failed(error))?;
        let process = match self.0.start(&start(&launch, spawn, size)) {
            Ok(mut held) => {
                let journal = self.open_journal(&mut held).map(|(journal, _)| journal);
                PtyProcess::kept(launch.image, launch.nonce, wakes, held, journal)
            }
            Err(NotStarted::Program(why)) => return Err(launch.failed(io::Error::other(why))),
            Err(NotStarted::NoKeeper) => PtyProcess::start(launch, size)?,
        };
        Ok(Arc::new(process))
    }
}

fn start(launch: &Launch, spawn: &Spawn, size: Size) -> Start {
    let limit = limits::started_with().unwrap_or_else(|| getrlimit(Resource::Nofile));
    let mut program = launch.program.clone();
    // Pass these values explicitly, because the keeper's values may differ from this process's.
    program.umask = Some(system::umask().unwrap_or(USUAL_UMASK));
    program.open_files = Some((limit.current, limit.maximum));
    let origin = spawn.origin.as_deref().cloned().unwrap_or_default();
    let command = origin.command.iter();
    let command = command.flat_map(|(program, args)| std::iter::once(program).chain(args));
    let size = winsize(size);
    Start {
        program,
        variables: launch.variables.clone(),
        size: [size.ws_col, size.ws_row, size.ws_xpixel, size.ws_ypixel],
        origin: Origin {
            pane: origin.pane.map(|pane| pane.0),
            command: command.map(Into::into).collect(),
            nonce: spawn.integration.as_ref().map_or("", |it| &*it.nonce).to_owned(),
        },
        placement: Placement::default(),
        has_journal: true,
    }
}

fn left_program(identity: Identity) -> LeftProgram {
    let Identity {
        number,
        last_owner,
        last_owner_pid,
        successor_pid,
        since,
        argv,
        cwd,
        state,
        size: [cols, rows, ..],
        origin,
        placement,
        ..
    } = identity;
    let file = argv.first().map(Path::new).unwrap_or(Path::new(""));
    let text = |part: &std::ffi::OsString| part.to_string_lossy().into_owned();
    let command = origin.command.split_first();
    LeftProgram {
        number,
        program: super::launch::image(file),
        cwd,
        last_owner,
        left_by: last_owner_pid.map(i32::unsigned_abs),
        left_to: successor_pid.map(i32::unsigned_abs),
        since,
        origin: SpawnOrigin {
            pane: origin.pane.map(PaneId),
            command: command
                .map(|(program, args)| (text(program), args.iter().map(text).collect())),
        },
        nonce: Some(origin.nonce).filter(|nonce| !nonce.is_empty()).map(Into::into),
        size: Size::cells(cols, rows),
        placement: ProgramPlacement {
            title: placement.title,
            tab: placement.tab,
            split: placement.split,
        },
        has_ended: matches!(state, PaneState::Ended(_)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_left_program_names_its_last_owner_and_successor() {
        let mut identity = Identity {
            number: 7,
            pid: 1234,
            tty: PathBuf::new(),
            owner: None,
            last_owner: "alpha".into(),
            last_owner_pid: Some(55),
            successor_pid: None,
            since: 2,
            state: PaneState::Running,
            started: 1,
            size: [80, 24, 0, 0],
            argv: vec!["/bin/sh".into(), "sh".into()],
            cwd: "/".into(),
            variables: Vec::new(),
            origin: Origin::default(),
            placement: Placement::default(),
        };
        let left = left_program(identity.clone());
        assert_eq!((left.left_by, left.left_to), (Some(55), None));
        (identity.last_owner_pid, identity.successor_pid) = (None, Some(66));
        let left = left_program(identity);
        assert_eq!((left.left_by, left.left_to), (None, Some(66)));
    }

    #[test]
    fn the_debug_form_of_a_successor_hides_its_input() {
        let successor = SuccessorProgram {
            file: "/bin/unterm".into(),
            args: Vec::new(),
            input: "secret".into(),
            takes: Vec::new(),
        };
        let shown = format!("{successor:?} {:?}", successor.clone().into_successor());
        assert!(!shown.contains("secret") && shown.contains("/bin/unterm"), "{shown}");
    }
}
