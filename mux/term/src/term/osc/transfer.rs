//! OSC 5113: programs transfer files over the terminal (kitty's "File transfer over the TTY").
//!
//! Owns the form of commands and replies, for the terminal here and for the program in [`program`]. Knows no sessions and touches no files: the terminal's owner gets each command
//! as an event, in order, and answers it ([`TransferReply`]).

mod program;

use std::fmt::Write;

use base64::Engine as _;

use super::text::BASE64;
use crate::Event;
use crate::term::Term;

pub use program::{TransferAnswer, TransferAnswerAction};

/// Maximum bytes of the identifier of a session and of a file.
const ID_CAP: usize = 128;
/// Maximum bytes of a path, and of a part of it (the protocol's "File metadata").
const PATH_CAP: usize = 4096;
const PART_CAP: usize = 255;
/// Maximum bytes of data in one command. The protocol has chunks of 4,096 bytes.
const DATA_CAP: usize = 16 << 10;

/// What a program asks for with a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferAction {
    /// Begins a session that sends files to this machine.
    Send,
    /// Begins a session that fetches files from this machine.
    Receive,
    /// Names a file.
    File,
    /// Contains a part of a file's data.
    Data,
    /// Contains the last part.
    EndData,
    /// Ends a session and drops what it did not complete.
    Cancel,
    /// Ends a session.
    Finish,
}

/// The kind of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TransferKind {
    /// A regular file.
    #[default]
    Regular,
    /// A folder.
    Directory,
    /// A symbolic link.
    Symlink,
    /// Another name of a file.
    Link,
}

/// A command of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransferCommand {
    /// The number of commands before this one, so that no two commands are equal.
    pub number: u64,
    /// What to do.
    pub action: TransferAction,
    /// The session's identifier: 1 to 128 of `A`–`Z`, `a`–`z`, `0`–`9`, `_`, `:`, `.`, `/`, `@` and `-`.
    pub id: String,
    /// The file's identifier, of the same characters; empty if there is none.
    pub file_id: String,
    /// The path, at most 4 KiB; `None` if it is not valid.
    pub name: Option<String>,
    /// Data, at most 16 KiB; `None` if it is not valid.
    pub data: Option<Vec<u8>>,
    /// The kind of the file.
    pub kind: TransferKind,
    /// Size in bytes, or the number of files to fetch; 0 if the command names none.
    pub size: u64,
    /// The permissions of a file (`0o777` and below); `None` if the command names none.
    pub permissions: Option<u32>,
    /// The time of the last change in nanoseconds since 1970; `None` if the command names none.
    pub mtime: Option<i64>,
    /// Whether the data is compressed (RFC 1950).
    pub is_compressed: bool,
    /// Whether the program offers to send only changes (the rsync algorithm).
    pub is_delta: bool,
    /// 0: all replies, 1: only errors and data, 2: only data.
    pub quiet: u8,
}

impl TransferCommand {
    fn parse(text: &[u8], number: u64) -> Option<Self> {
        let mut action = None;
        let mut command = Self { number, ..Self::new(TransferAction::Cancel, "") };
        for pair in std::str::from_utf8(text).ok()?.split(';') {
            let Some((key, value)) = pair.split_once('=') else { continue };
            match key {
                "ac" => action = Some(self::action(value)?),
                "id" => command.id = identifier(value)?,
                "fid" => command.file_id = identifier(value)?,
                "n" => command.name = path(value),
                "d" => command.data = data(value),
                "ft" => command.kind = kind_of(value)?,
                "sz" => command.size = value.parse().unwrap_or(0),
                "prm" => command.permissions = Some(value.parse::<u32>().ok()? & 0o777),
                "mod" => command.mtime = Some(value.parse().ok()?),
                "zip" => command.is_compressed = value == "zlib",
                "tt" => command.is_delta = value == "rsync",
                "q" => command.quiet = value.parse::<u8>().unwrap_or(0).min(2),
                _ => {}
            }
        }
        command.action = action?;
        (!command.id.is_empty()).then_some(command)
    }
}

fn action(name: &str) -> Option<TransferAction> {
    Some(match name {
        "send" => TransferAction::Send,
        "receive" => TransferAction::Receive,
        "file" => TransferAction::File,
        "data" => TransferAction::Data,
        "end_data" => TransferAction::EndData,
        "cancel" => TransferAction::Cancel,
        // The specification writes both.
        "finish" | "finished" => TransferAction::Finish,
        _ => return None,
    })
}

fn kind_of(name: &str) -> Option<TransferKind> {
    Some(match name {
        "regular" => TransferKind::Regular,
        "directory" => TransferKind::Directory,
        "symlink" => TransferKind::Symlink,
        "link" => TransferKind::Link,
        _ => return None,
    })
}

/// The name of a kind; empty for regular files, which is the default.
fn kind_name(kind: TransferKind) -> &'static str {
    match kind {
        TransferKind::Regular => "",
        TransferKind::Directory => "directory",
        TransferKind::Symlink => "symlink",
        TransferKind::Link => "link",
    }
}

/// An identifier, which replies repeat. `None` if it has other characters or is too long.
fn identifier(value: &str) -> Option<String> {
    let is_fit = |b: u8| b.is_ascii_alphanumeric() || b"_:./@-".contains(&b);
    (value.len() <= ID_CAP && value.bytes().all(is_fit)).then(|| value.to_owned())
}

fn path(value: &str) -> Option<String> {
    if value.len() > PATH_CAP / 3 * 4 + 4 {
        return None;
    }
    let path = String::from_utf8(BASE64.decode(value).ok()?).ok()?;
    let is_fit = path.len() <= PATH_CAP
        && !path.contains('\0')
        && path.split('/').all(|part| part.len() <= PART_CAP);
    is_fit.then_some(path)
}

fn data(value: &str) -> Option<Vec<u8>> {
    let data = BASE64.decode(value).ok()?;
    (data.len() <= DATA_CAP).then_some(data)
}

/// A reply of the terminal's owner.
#[derive(Clone, Copy, Debug, Default)]
pub struct TransferReply<'a> {
    /// `status`, `file`, `data` or `end_data`.
    pub action: &'a str,
    /// The session's identifier, as the program wrote it.
    pub id: &'a str,
    /// The file's identifier; empty if the reply concerns the session.
    pub file_id: &'a str,
    /// The status, such as `OK` or `EPERM:why`, or the identifier of a listed file.
    pub status: &'a str,
    /// A path.
    pub name: &'a str,
    /// Size in bytes.
    pub size: Option<u64>,
    /// Permissions.
    pub permissions: Option<u32>,
    /// The time of the last change in nanoseconds since 1970.
    pub mtime: Option<i64>,
    /// The kind of a listed file.
    pub kind: TransferKind,
    /// The identifier of the folder that contains a listed file.
    pub parent: &'a str,
    /// Data, at most 4,096 bytes.
    pub data: &'a [u8],
}

impl TransferReply<'_> {
    /// The bytes to send to the program.
    pub fn encode(&self) -> String {
        let mut out = format!("\x1b]5113;ac={};id={}", self.action, self.id);
        let mut text = |key: &str, value: &str| {
            if !value.is_empty() {
                let _ = write!(out, ";{key}={value}");
            }
        };
        let base64 = |bytes: &[u8]| BASE64.encode(bytes);
        text("fid", self.file_id);
        text("st", &base64(self.status.as_bytes()));
        text("n", &base64(self.name.as_bytes()));
        text("sz", &self.size.map(|size| size.to_string()).unwrap_or_default());
        text("prm", &self.permissions.map(|bits| bits.to_string()).unwrap_or_default());
        text("mod", &self.mtime.map(|time| time.to_string()).unwrap_or_default());
        text("pr", self.parent);
        text("ft", kind_name(self.kind));
        text("d", &base64(self.data));
        out.push_str("\x1b\\");
        out
    }
}

impl Term {
    /// Handles a command. An invalid one is dropped: without an identifier, no reply reaches the program.
    pub(super) fn transfer_files(&mut self, rest: &[u8]) {
        let number = self.osc.transfer_commands;
        match TransferCommand::parse(rest, number) {
            Some(command) => {
                self.osc.transfer_commands += 1;
                self.event(Event::Transfer(Box::new(command)));
            }
            None => tracing::debug!(length = rest.len(), "invalid command of OSC 5113"),
        }
    }
}
