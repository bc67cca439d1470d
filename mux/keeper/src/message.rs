//! The messages between the keeper and its clients, and the versions of the protocol.

use std::{ffi::OsString, path::PathBuf};

use crate::{
    fields::{Broken, Field, FieldWriter, fields, variable},
    frame::Frame,
    identity::{Identity, MAX_TEXT, Origin, Placement, size},
    program::Program,
    successor::{MAX_INPUT, Successor},
};

/// The oldest version of the protocol that this program speaks.
pub const OLDEST: u16 = 1;
/// The newest version of the protocol that this program speaks.
pub const NEWEST: u16 = 1;

/// The first message of both sides: the sender, and its versions of the protocol. Its form is the same in all versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The oldest version that the sender speaks.
    pub oldest: u16,
    /// The newest version that the sender speaks.
    pub newest: u16,
    /// The name of the instance, or of the keeper. At most [`MAX_TEXT`] bytes.
    pub name: String,
    /// The process id of the sender, for messages to users. Nothing else depends on it.
    pub pid: u32,
}

impl Hello {
    /// The message of this process.
    pub(crate) fn own(name: &str) -> Self {
        let pid = std::process::id();
        Self { oldest: OLDEST, newest: NEWEST, name: name.to_owned(), pid }
    }

    /// The newest version that this program and the peer speak. `None` if there is none.
    pub(crate) fn common_version(&self) -> Option<u16> {
        let newest = self.newest.min(NEWEST);
        (newest >= self.oldest.max(OLDEST)).then_some(newest)
    }

    fn to_body(&self) -> Vec<u8> {
        FieldWriter::default()
            .number(tag::OLDEST, self.oldest.into())
            .number(tag::NEWEST, self.newest.into())
            .text(tag::NAME, &self.name)
            .number(tag::PROCESS, self.pid.into())
            .finish()
    }

    fn from_body(body: &[u8]) -> Result<Self, Broken> {
        let mut hello = Self { oldest: 0, newest: 0, name: String::new(), pid: 0 };
        for field in fields(body) {
            let field = field?;
            match field.tag {
                tag::OLDEST => hello.oldest = field.small()?,
                tag::NEWEST => hello.newest = field.small()?,
                tag::NAME => hello.name = field.text(MAX_TEXT)?,
                tag::PROCESS => hello.pid = field.small()?,
                _ => {}
            }
        }
        Ok(hello)
    }
}

/// A pane, and the secret that only its owner knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PaneKey {
    /// The keeper's number for the pane.
    pub number: u64,
    pub(crate) secret: u64,
}

/// A program to start, and the data to store about its pane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// The program, with the inherited part of its environment.
    pub program: Program,
    /// The variables to add to the environment.
    pub variables: Vec<(OsString, OsString)>,
    /// The size of the terminal: columns, rows, and the width and height in pixels.
    pub size: [u16; 4],
    /// The data that does not change.
    pub origin: Origin,
    /// The data that may change.
    pub placement: Placement,
    /// Whether the owner writes a journal.
    pub has_journal: bool,
}

/// A message of a client.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Hello(Hello),
    Start(Box<Start>),
    /// The client has received the descriptors of a pane. No reply.
    Confirm(PaneKey),
    List,
    Identify(u64),
    /// Stores a pane's placement. No reply.
    Describe(PaneKey, Placement),
    Take {
        pane: u64,
        /// Whether the client writes the pane's journal. If not, the keeper discards the journal.
        has_journal: bool,
    },
    /// Hangs up a pane's terminal. No reply.
    Close(PaneKey),
    /// Sets the program that takes the place of the client's process. `None`: no program.
    Succeed(Option<Box<Successor>>),
}

/// A message of the keeper.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Hello(Hello),
    /// A pane that now belongs to the client, with its descriptors: the master, the process, the exit pipe, and the
    /// journal, if there is one.
    Held {
        pane: PaneKey,
        pid: i32,
        tty: PathBuf,
    },
    Panes(Vec<u64>),
    Identity(Box<Identity>),
    /// The request was carried out.
    Done,
    Refused(Refusal, String),
}

/// Why the keeper refuses a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Refusal {
    /// The keeper and the client have no version of the protocol in common.
    Version = 1,
    /// The message is not valid. The keeper closes the connection.
    Malformed = 2,
    /// The keeper does not know the request.
    UnknownRequest = 3,
    /// There is no such pane.
    NoPane = 4,
    /// Another instance owns the pane.
    InUse = 5,
    /// The program could not be started.
    CannotStart = 6,
    /// The keeper has as many panes as it can have.
    Full = 7,
    /// A reason that this version of the protocol does not define.
    Other = 0xffff,
}

impl Refusal {
    fn from_code(code: u64) -> Self {
        let known = [
            Self::Version,
            Self::Malformed,
            Self::UnknownRequest,
            Self::NoPane,
            Self::InUse,
            Self::CannotStart,
            Self::Full,
        ];
        known.into_iter().find(|refusal| *refusal as u64 == code).unwrap_or(Self::Other)
    }
}

/// The kinds of messages.
pub(crate) mod kind {
    pub(crate) const HELLO: u16 = 1;
    pub(crate) const START: u16 = 2;
    pub(crate) const CONFIRM: u16 = 3;
    pub(crate) const LIST: u16 = 4;
    pub(crate) const IDENTIFY: u16 = 5;
    pub(crate) const DESCRIBE: u16 = 6;
    pub(crate) const TAKE: u16 = 7;
    pub(crate) const CLOSE: u16 = 8;
    pub(crate) const SUCCEED: u16 = 9;
    pub(crate) const REPLY_HELLO: u16 = 0x8001;
    pub(crate) const REPLY_HELD: u16 = 0x8002;
    pub(crate) const REPLY_PANES: u16 = 0x8003;
    pub(crate) const REPLY_IDENTITY: u16 = 0x8004;
    pub(crate) const REPLY_DONE: u16 = 0x8005;
    pub(crate) const REPLY_REFUSED: u16 = 0x80ff;
}

mod tag {
    pub(super) const OLDEST: u16 = 1;
    pub(super) const NEWEST: u16 = 2;
    pub(super) const NAME: u16 = 3;
    pub(super) const PROCESS: u16 = 4;

    pub(super) const NUMBER: u16 = 1;
    pub(super) const SECRET: u16 = 2;
    pub(super) const PID: u16 = 3;
    pub(super) const TTY: u16 = 4;
    pub(super) const PANES: u16 = 5;
    pub(super) const HAS_JOURNAL: u16 = 6;

    pub(super) const CODE: u16 = 1;
    pub(super) const TEXT: u16 = 2;

    pub(super) const FILE: u16 = 1;
    pub(super) const ARGUMENT0: u16 = 2;
    pub(super) const ARGUMENT: u16 = 3;
    pub(super) const INHERITED: u16 = 4;
    pub(super) const ADDED: u16 = 5;
    pub(super) const CWD: u16 = 6;
    pub(super) const SIZE: u16 = 7;
    pub(super) const UMASK: u16 = 8;
    pub(super) const OPEN_FILES: u16 = 9;
    pub(super) const OPEN_FILES_MOST: u16 = 10;
    pub(super) const JOURNAL: u16 = 11;
    pub(super) const INPUT: u16 = 12;
    // In older clients, 13 meant that a client ends on purpose.
    pub(super) const TAKES: u16 = 14;
}

/// The number on the wire that stands for no limit.
const NO_LIMIT: u64 = u64::MAX;

impl Start {
    fn to_body(&self) -> Vec<u8> {
        let mut body = FieldWriter::default();
        write_program(&mut body, &self.program);
        body.numbers(tag::SIZE, &self.size.map(u64::from));
        for (name, value) in &self.variables {
            body.text(tag::ADDED, variable(name, value));
        }
        if self.has_journal {
            body.number(tag::JOURNAL, 1);
        }
        self.origin.write(&mut body);
        self.placement.write(&mut body);
        body.finish()
    }

    fn from_body(body: &[u8]) -> Result<Self, Broken> {
        let mut start = Self { program: read_program(body)?, ..Self::default() };
        let mut has_size = false;
        for field in fields(body) {
            let field = field?;
            match field.tag {
                tag::ADDED => start.variables.push(field.variable()?),
                tag::SIZE => (start.size, has_size) = (size(field)?, true),
                tag::JOURNAL => start.has_journal = field.number()? != 0,
                _ => {
                    start.origin.read(field)?;
                    start.placement.read(field)?;
                }
            }
        }
        match has_size {
            true => Ok(start),
            false => Err(Broken("the size of the terminal is missing".into())),
        }
    }
}

impl Successor {
    /// The contents of a message.
    pub(crate) fn to_body(&self) -> Vec<u8> {
        let mut body = FieldWriter::default();
        write_program(&mut body, &self.program);
        body.text(tag::INPUT, &self.input);
        if !self.takes.is_empty() {
            body.numbers(tag::TAKES, &self.takes);
        }
        body.finish()
    }

    pub(crate) fn from_body(body: &[u8]) -> Result<Self, Broken> {
        let mut successor = Self { program: read_program(body)?, ..Self::default() };
        for field in fields(body) {
            let field = field?;
            match field.tag {
                tag::INPUT => successor.input = field.text(MAX_INPUT)?,
                tag::TAKES => successor.takes = field.numbers()?,
                _ => {}
            }
        }
        successor.check(body.len())?;
        Ok(successor)
    }
}

fn write_program(body: &mut FieldWriter, program: &Program) {
    let Program { file, arg0, args, env, cwd, umask, open_files } = program;
    body.text(tag::FILE, file).text(tag::ARGUMENT0, arg0).text(tag::CWD, cwd);
    for argument in args {
        body.text(tag::ARGUMENT, argument);
    }
    for (name, value) in env {
        body.text(tag::INHERITED, variable(name, value));
    }
    if let Some(umask) = umask {
        body.number(tag::UMASK, (*umask).into());
    }
    if let Some((soft, hard)) = open_files {
        body.number(tag::OPEN_FILES, soft.unwrap_or(NO_LIMIT));
        body.number(tag::OPEN_FILES_MOST, hard.unwrap_or(NO_LIMIT));
    }
}

/// Reads the fields that [`write_program`] writes, and skips other fields.
fn read_program(body: &[u8]) -> Result<Program, Broken> {
    let mut program = Program::default();
    let (mut soft, mut hard) = (None, None);
    for field in fields(body) {
        let field = field?;
        match field.tag {
            tag::FILE => program.file = field.os_string()?.into(),
            tag::ARGUMENT0 => program.arg0 = field.os_string()?,
            tag::ARGUMENT => program.args.push(field.os_string()?),
            tag::INHERITED => program.env.push(field.variable()?),
            tag::CWD => program.cwd = field.os_string()?.into(),
            tag::UMASK => program.umask = Some(field.small::<u32>()? & 0o777),
            tag::OPEN_FILES => soft = Some(field.number()?),
            tag::OPEN_FILES_MOST => hard = Some(field.number()?),
            _ => {}
        }
    }
    let limit = |limit: u64| (limit != NO_LIMIT).then_some(limit);
    program.open_files = soft.zip(hard).map(|(soft, hard)| (limit(soft), limit(hard)));
    for (path, what) in [(&program.file, "file"), (&program.cwd, "directory")] {
        if !path.is_absolute() {
            return Err(Broken(format!("the {what} {path:?} is no absolute path")));
        }
    }
    Ok(program)
}

impl Request {
    /// The request as a frame.
    pub(crate) fn to_frame(&self) -> Frame {
        let number = |number: &u64| FieldWriter::default().number(tag::NUMBER, *number).finish();
        let (kind, body) = match self {
            Self::Hello(hello) => (kind::HELLO, hello.to_body()),
            Self::Start(start) => (kind::START, start.to_body()),
            Self::Confirm(key) => (kind::CONFIRM, key_body(key).finish()),
            Self::List => (kind::LIST, Vec::new()),
            Self::Identify(pane) => (kind::IDENTIFY, number(pane)),
            Self::Describe(key, placement) => {
                let mut body = key_body(key);
                placement.write(&mut body);
                (kind::DESCRIBE, body.finish())
            }
            Self::Take { pane, has_journal } => {
                let mut body = FieldWriter::default();
                body.number(tag::NUMBER, *pane);
                if *has_journal {
                    body.number(tag::HAS_JOURNAL, 1);
                }
                (kind::TAKE, body.finish())
            }
            Self::Close(key) => (kind::CLOSE, key_body(key).finish()),
            Self::Succeed(None) => (kind::SUCCEED, Vec::new()),
            Self::Succeed(Some(successor)) => (kind::SUCCEED, successor.to_body()),
        };
        Frame { kind, descriptors: 0, body }
    }

    /// Reads a request. `None` if its kind is unknown.
    ///
    /// # Errors
    /// If the body is not valid.
    pub(crate) fn from_frame(frame: &Frame) -> Result<Option<Self>, Broken> {
        let body = &frame.body;
        let key = || read_key(body);
        Ok(Some(match frame.kind {
            kind::HELLO => Self::Hello(Hello::from_body(body)?),
            kind::START => Self::Start(Box::new(Start::from_body(body)?)),
            kind::CONFIRM => Self::Confirm(key()?),
            kind::LIST => Self::List,
            kind::IDENTIFY => Self::Identify(key()?.number),
            kind::DESCRIBE => {
                let mut placement = Placement::default();
                for field in fields(body) {
                    placement.read(field?)?;
                }
                Self::Describe(key()?, placement)
            }
            kind::TAKE => {
                let mut has_journal = false;
                for field in fields(body) {
                    let field = field?;
                    if field.tag == tag::HAS_JOURNAL {
                        has_journal = field.number()? != 0;
                    }
                }
                Self::Take { pane: key()?.number, has_journal }
            }
            kind::CLOSE => Self::Close(key()?),
            kind::SUCCEED if body.is_empty() => Self::Succeed(None),
            kind::SUCCEED => Self::Succeed(Some(Box::new(Successor::from_body(body)?))),
            _ => return Ok(None),
        }))
    }
}

fn key_body(key: &PaneKey) -> FieldWriter {
    let mut body = FieldWriter::default();
    body.number(tag::NUMBER, key.number).number(tag::SECRET, key.secret);
    body
}

fn read_key(body: &[u8]) -> Result<PaneKey, Broken> {
    let mut key = PaneKey { number: 0, secret: 0 };
    for field in fields(body) {
        read_key_field(&mut key, field?)?;
    }
    Ok(key)
}

fn read_key_field(key: &mut PaneKey, field: Field<'_>) -> Result<(), Broken> {
    match field.tag {
        tag::NUMBER => key.number = field.number()?,
        tag::SECRET => key.secret = field.number()?,
        _ => {}
    }
    Ok(())
}

impl Reply {
    /// The reply as a frame that comes with this number of descriptors.
    pub(crate) fn to_frame(&self, descriptors: u16) -> Frame {
        let (kind, body) = match self {
            Self::Hello(hello) => (kind::REPLY_HELLO, hello.to_body()),
            Self::Held { pane, pid, tty } => {
                let mut body = key_body(pane);
                body.number(tag::PID, pid.unsigned_abs().into()).text(tag::TTY, tty);
                (kind::REPLY_HELD, body.finish())
            }
            Self::Panes(panes) => {
                (kind::REPLY_PANES, FieldWriter::default().numbers(tag::PANES, panes).finish())
            }
            Self::Identity(identity) => (kind::REPLY_IDENTITY, identity.to_body()),
            Self::Done => (kind::REPLY_DONE, Vec::new()),
            Self::Refused(refusal, text) => {
                let mut body = FieldWriter::default();
                body.number(tag::CODE, *refusal as u64).text(tag::TEXT, text);
                (kind::REPLY_REFUSED, body.finish())
            }
        };
        Frame { kind, descriptors, body }
    }

    pub(crate) fn from_frame(frame: &Frame) -> Result<Self, Broken> {
        let body = &frame.body;
        Ok(match frame.kind {
            kind::REPLY_HELLO => Self::Hello(Hello::from_body(body)?),
            kind::REPLY_HELD => {
                let (mut pane, mut pid, mut tty) =
                    (PaneKey { number: 0, secret: 0 }, 0, PathBuf::new());
                for field in fields(body) {
                    let field = field?;
                    match field.tag {
                        tag::PID => pid = field.small()?,
                        tag::TTY => tty = field.os_string()?.into(),
                        _ => read_key_field(&mut pane, field)?,
                    }
                }
                Self::Held { pane, pid, tty }
            }
            kind::REPLY_PANES => {
                let mut panes = Vec::new();
                for field in fields(body) {
                    let field = field?;
                    if field.tag == tag::PANES {
                        panes = field.numbers()?;
                    }
                }
                Self::Panes(panes)
            }
            kind::REPLY_IDENTITY => Self::Identity(Box::new(Identity::from_body(body)?)),
            kind::REPLY_DONE => Self::Done,
            kind::REPLY_REFUSED => {
                let (mut code, mut text) = (0, String::new());
                for field in fields(body) {
                    let field = field?;
                    match field.tag {
                        tag::CODE => code = field.number()?,
                        tag::TEXT => text = field.text(MAX_TEXT)?,
                        _ => {}
                    }
                }
                Self::Refused(Refusal::from_code(code), text)
            }
            kind => return Err(Broken(format!("a reply of the unknown kind {kind:#x}"))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start() -> Start {
        Start {
            program: Program {
                file: "/bin/sh".into(),
                arg0: "-sh".into(),
                args: vec!["-c".into(), String::new().into()],
                env: vec![("PATH".into(), "/bin".into())],
                cwd: "/".into(),
                umask: Some(0o22),
                open_files: Some((Some(1024), None)),
            },
            variables: vec![("UNTERM_PANE".into(), "3".into())],
            size: [80, 24, 0, 0],
            origin: Origin { pane: Some(3), command: vec!["sh".into()], nonce: "n".into() },
            placement: Placement { title: "t".into(), tab: None, split: "s".into() },
            has_journal: true,
        }
    }

    #[test]
    fn requests_are_read_as_they_were_written() {
        let key = PaneKey { number: 5, secret: 6 };
        let program = start().program;
        let successor = Successor { program, input: "{}".into(), takes: vec![5, 7] };
        for request in [
            Request::Hello(Hello::own("build")),
            Request::Start(Box::new(start())),
            Request::Confirm(key),
            Request::List,
            Request::Identify(5),
            Request::Describe(key, start().placement),
            Request::Take { pane: 5, has_journal: true },
            Request::Take { pane: 5, has_journal: false },
            Request::Close(key),
            Request::Succeed(None),
            Request::Succeed(Some(Box::new(successor))),
        ] {
            assert_eq!(Request::from_frame(&request.to_frame()), Ok(Some(request)));
        }
        let unknown = Frame { kind: 999, descriptors: 0, body: Vec::new() };
        assert_eq!(Request::from_frame(&unknown), Ok(None));
    }

    #[test]
    fn replies_are_read_as_they_were_written() {
        let pane = PaneKey { number: 5, secret: 6 };
        for reply in [
            Reply::Hello(Hello::own("keeper")),
            Reply::Held { pane, pid: 77, tty: "/dev/pts/1".into() },
            Reply::Panes(vec![1, 2]),
            Reply::Done,
            Reply::Refused(Refusal::InUse, "why".into()),
        ] {
            assert_eq!(Reply::from_frame(&reply.to_frame(0)), Ok(reply));
        }
        let unknown = Reply::Refused(Refusal::Other, String::new());
        assert_eq!(Reply::from_frame(&unknown.to_frame(0)), Ok(unknown));
        assert!(Reply::from_frame(&Frame { kind: 999, descriptors: 0, body: vec![] }).is_err());
    }

    #[test]
    fn a_start_without_absolute_paths_or_size_is_refused() {
        let relative =
            Start { program: Program { file: "sh".into(), ..start().program }, ..start() };
        let error = Start::from_body(&relative.to_body()).unwrap_err();
        assert_eq!(error.to_string(), "the file \"sh\" is no absolute path");
        let body = FieldWriter::default().text(tag::FILE, "/bin/sh").text(tag::CWD, "/").finish();
        let error = Start::from_body(&body).unwrap_err();
        assert_eq!(error.to_string(), "the size of the terminal is missing");
    }

    #[test]
    fn peers_speak_the_newest_version_that_both_know() {
        let peer = |oldest, newest| Hello { oldest, newest, name: String::new(), pid: 1 };
        assert_eq!(peer(OLDEST, NEWEST).common_version(), Some(NEWEST));
        assert_eq!(peer(OLDEST, NEWEST + 5).common_version(), Some(NEWEST));
        assert_eq!(peer(NEWEST + 1, NEWEST + 5).common_version(), None);
        assert_eq!(peer(0, OLDEST - 1).common_version(), None);
        assert_eq!(peer(5, 1).common_version(), None);
    }
}
