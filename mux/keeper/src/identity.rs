//! The identity of a pane: everything that an instance needs to show a program that another instance started.

use std::{ffi::OsString, path::PathBuf};

use crate::{
    exit::Ending,
    fields::{Broken, Field, FieldWriter, fields, variable},
};

/// The maximum length of each text that an instance stores about a pane, in bytes: titles, names and layouts.
pub const MAX_TEXT: usize = 16 * 1024;

/// The data about a pane that does not change while the program runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The number of the pane in the instance that started the program. The program's environment contains it.
    pub pane: Option<u64>,
    /// The program as it was requested, and its arguments. Empty: the user's shell.
    pub command: Vec<OsString>,
    /// The secret in the prompt marks of the pane's shells. Empty without shell integration.
    pub nonce: String,
}

/// The data about a pane that the owner changes while the program runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// The title of the pane.
    pub title: String,
    /// The number of the pane's tab. `None` if the pane has no tab.
    pub tab: Option<u64>,
    /// The pane's position in its tab. The keeper does not interpret it.
    pub split: String,
}

/// Whether a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaneState {
    /// The program runs, or is stopped.
    Running,
    /// The program has ended.
    Ended(Ending),
}

/// A pane of the keeper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The keeper's number for the pane. No other pane of the same keeper ever has it.
    pub number: u64,
    /// The process id of the program. After the program has ended, it may belong to another process.
    pub pid: i32,
    /// The terminal device, such as `/dev/pts/3`. Empty if unknown.
    pub tty: PathBuf,
    /// The name of the instance that owns the pane. `None`: no instance owns it.
    pub owner: Option<String>,
    /// The last owner, if the pane has no owner.
    pub last_owner: String,
    /// The process id of the last owner. It may belong to another process now. `None`: the keeper does not know it, or is
    /// too old to report it.
    pub last_owner_pid: Option<i32>,
    /// The process id of the program that the keeper has started to take this pane, until an instance takes it. `None`:
    /// the keeper has started no program, or is too old to report it.
    pub successor_pid: Option<i32>,
    /// The time of the last change of the owner, in milliseconds since 1970.
    pub since: u64,
    /// Whether the program runs.
    pub state: PaneState,
    /// The time of the program's start, in milliseconds since 1970.
    pub started: u64,
    /// The terminal's size now: columns, rows, and the width and height in pixels.
    pub size: [u16; 4],
    /// The path of the executable and the arguments, beginning with the program's name.
    pub argv: Vec<OsString>,
    /// The directory in which the program was started.
    pub cwd: PathBuf,
    /// The variables that were added to the inherited environment.
    pub variables: Vec<(OsString, OsString)>,
    /// The data that the first owner stored.
    pub origin: Origin,
    /// The data that the owner stored last.
    pub placement: Placement,
}

mod tag {
    pub(super) const NUMBER: u16 = 1;
    pub(super) const PID: u16 = 2;
    pub(super) const TTY: u16 = 3;
    pub(super) const OWNER: u16 = 4;
    pub(super) const LAST_OWNER: u16 = 5;
    pub(super) const SINCE: u16 = 6;
    pub(super) const ENDING: u16 = 7;
    pub(super) const STARTED: u16 = 8;
    pub(super) const SIZE: u16 = 9;
    pub(super) const ARGUMENT: u16 = 10;
    pub(super) const CWD: u16 = 11;
    pub(super) const VARIABLE: u16 = 12;
    pub(super) const LAST_OWNER_PID: u16 = 13;
    pub(super) const SUCCESSOR_PID: u16 = 14;
    pub(super) const PANE: u16 = 64;
    pub(super) const COMMAND: u16 = 65;
    pub(super) const NONCE: u16 = 66;
    pub(super) const TITLE: u16 = 72;
    pub(super) const TAB: u16 = 73;
    pub(super) const SPLIT: u16 = 74;
}

impl Origin {
    pub(crate) fn write(&self, body: &mut FieldWriter) {
        if let Some(pane) = self.pane {
            body.number(tag::PANE, pane);
        }
        self.command.iter().for_each(|part| {
            body.text(tag::COMMAND, part);
        });
        body.text(tag::NONCE, &self.nonce);
    }

    /// Reads one field, if it belongs to this type.
    pub(crate) fn read(&mut self, field: Field<'_>) -> Result<(), Broken> {
        match field.tag {
            tag::PANE => self.pane = Some(field.number()?),
            tag::COMMAND => self.command.push(field.os_string()?),
            tag::NONCE => self.nonce = field.text(MAX_TEXT)?,
            _ => {}
        }
        Ok(())
    }
}

impl Placement {
    pub(crate) fn write(&self, body: &mut FieldWriter) {
        body.text(tag::TITLE, &self.title).text(tag::SPLIT, &self.split);
        if let Some(tab) = self.tab {
            body.number(tag::TAB, tab);
        }
    }

    /// Reads one field, if it belongs to this type.
    pub(crate) fn read(&mut self, field: Field<'_>) -> Result<(), Broken> {
        match field.tag {
            tag::TITLE => self.title = field.text(MAX_TEXT)?,
            tag::TAB => self.tab = Some(field.number()?),
            tag::SPLIT => self.split = field.text(MAX_TEXT)?,
            _ => {}
        }
        Ok(())
    }
}

impl Identity {
    pub(crate) fn to_body(&self) -> Vec<u8> {
        let mut body = FieldWriter::default();
        body.number(tag::NUMBER, self.number)
            .number(tag::PID, self.pid.unsigned_abs().into())
            .text(tag::TTY, &self.tty)
            .text(tag::LAST_OWNER, &self.last_owner)
            .number(tag::SINCE, self.since)
            .number(tag::STARTED, self.started)
            .numbers(tag::SIZE, &self.size.map(u64::from))
            .text(tag::CWD, &self.cwd);
        if let Some(owner) = &self.owner {
            body.text(tag::OWNER, owner);
        }
        for (tag, pid) in
            [(tag::LAST_OWNER_PID, self.last_owner_pid), (tag::SUCCESSOR_PID, self.successor_pid)]
        {
            if let Some(pid) = pid {
                body.number(tag, pid.unsigned_abs().into());
            }
        }
        if let PaneState::Ended(ending) = self.state {
            body.bytes(tag::ENDING, &ending.to_bytes());
        }
        for argument in &self.argv {
            body.text(tag::ARGUMENT, argument);
        }
        for (name, value) in &self.variables {
            body.text(tag::VARIABLE, variable(name, value));
        }
        self.origin.write(&mut body);
        self.placement.write(&mut body);
        body.finish()
    }

    pub(crate) fn from_body(body: &[u8]) -> Result<Self, Broken> {
        let mut identity = Self {
            number: 0,
            pid: 0,
            tty: PathBuf::new(),
            owner: None,
            last_owner: String::new(),
            last_owner_pid: None,
            successor_pid: None,
            since: 0,
            state: PaneState::Running,
            started: 0,
            size: [0; 4],
            argv: Vec::new(),
            cwd: PathBuf::new(),
            variables: Vec::new(),
            origin: Origin::default(),
            placement: Placement::default(),
        };
        for field in fields(body) {
            let field = field?;
            match field.tag {
                tag::NUMBER => identity.number = field.number()?,
                tag::PID => identity.pid = field.small()?,
                tag::TTY => identity.tty = field.os_string()?.into(),
                tag::OWNER => identity.owner = Some(field.text(MAX_TEXT)?),
                tag::LAST_OWNER => identity.last_owner = field.text(MAX_TEXT)?,
                tag::LAST_OWNER_PID => identity.last_owner_pid = Some(field.small()?),
                tag::SUCCESSOR_PID => identity.successor_pid = Some(field.small()?),
                tag::SINCE => identity.since = field.number()?,
                tag::STARTED => identity.started = field.number()?,
                tag::ENDING => {
                    let ending = Ending::from_bytes(field.bytes());
                    let ending = ending.ok_or_else(|| Broken("an unknown kind of end".into()))?;
                    identity.state = PaneState::Ended(ending);
                }
                tag::SIZE => identity.size = size(field)?,
                tag::ARGUMENT => identity.argv.push(field.os_string()?),
                tag::CWD => identity.cwd = field.os_string()?.into(),
                tag::VARIABLE => identity.variables.push(field.variable()?),
                _ => {
                    identity.origin.read(field)?;
                    identity.placement.read(field)?;
                }
            }
        }
        Ok(identity)
    }
}

/// Reads a size: columns, rows, and the width and height in pixels.
pub(crate) fn size(field: Field<'_>) -> Result<[u16; 4], Broken> {
    let broken = || Broken(format!("field {} is no size", field.tag));
    let numbers: [u64; 4] = field.numbers()?.try_into().map_err(|_| broken())?;
    let mut size = [0; 4];
    for (side, number) in size.iter_mut().zip(numbers) {
        *side = u16::try_from(number).map_err(|_| broken())?;
    }
    Ok(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_read_as_it_was_written() {
        let identity = Identity {
            number: 7,
            pid: 1234,
            tty: "/dev/pts/3".into(),
            owner: Some("build".into()),
            last_owner: "build".into(),
            last_owner_pid: Some(55),
            successor_pid: Some(66),
            since: 2,
            state: PaneState::Ended(Ending { how: Err(9), at: 5 }),
            started: 1,
            size: [80, 24, 640, 480],
            argv: vec!["/bin/sh".into(), "-sh".into(), String::new().into()],
            cwd: "/tmp".into(),
            variables: vec![("A".into(), "b=c".into()), ("EMPTY".into(), "".into())],
            origin: Origin {
                pane: Some(3),
                command: vec!["sh".into(), "-c".into()],
                nonce: "secret".into(),
            },
            placement: Placement { title: "Bau".into(), tab: Some(2), split: "left".into() },
        };
        assert_eq!(Identity::from_body(&identity.to_body()), Ok(identity.clone()));
        // A newer peer may add fields.
        let mut body = identity.to_body();
        body.extend_from_slice(&FieldWriter::default().text(999, "new").finish());
        assert_eq!(Identity::from_body(&body), Ok(identity));
    }

    #[test]
    fn an_older_keeper_reports_no_process_ids_of_owners() {
        let body =
            FieldWriter::default().number(tag::NUMBER, 7).text(tag::LAST_OWNER, "a").finish();
        let identity = Identity::from_body(&body).unwrap();
        assert_eq!((identity.last_owner_pid, identity.successor_pid), (None, None));
    }

    #[test]
    fn a_title_that_is_too_long_is_refused() {
        let body = FieldWriter::default().text(tag::TITLE, "x".repeat(MAX_TEXT + 1)).finish();
        assert!(Identity::from_body(&body).is_err());
    }
}
