//! The program's side of OSC 5113: encodes commands, and parses the terminal's replies.

use std::fmt::Write;

use base64::Engine as _;

use super::{
    DATA_CAP, TransferAction, TransferCommand, TransferKind, identifier, kind_name, kind_of, path,
};
use crate::term::osc::text::BASE64;

/// Maximum bytes of a status.
const STATUS_CAP: usize = 1024;

impl TransferCommand {
    /// A command without a file, metadata and data. `id` is the session's identifier.
    pub fn new(action: TransferAction, id: &str) -> Self {
        Self {
            number: 0,
            action,
            id: id.to_owned(),
            file_id: String::new(),
            name: Some(String::new()),
            data: Some(Vec::new()),
            kind: TransferKind::Regular,
            size: 0,
            permissions: None,
            mtime: None,
            is_compressed: false,
            is_delta: false,
            quiet: 0,
        }
    }

    /// The bytes that a program writes to its terminal.
    pub fn encode(&self) -> String {
        let action = match self.action {
            TransferAction::Send => "send",
            TransferAction::Receive => "receive",
            TransferAction::File => "file",
            TransferAction::Data => "data",
            TransferAction::EndData => "end_data",
            TransferAction::Cancel => "cancel",
            TransferAction::Finish => "finish",
        };
        let mut out = format!("\x1b]5113;ac={action};id={}", self.id);
        let mut text = |key: &str, value: &str| {
            if !value.is_empty() {
                let _ = write!(out, ";{key}={value}");
            }
        };
        let number = |value: u64| if value == 0 { String::new() } else { value.to_string() };
        text("fid", &self.file_id);
        text("n", &BASE64.encode(self.name.as_deref().unwrap_or_default()));
        text("sz", &number(self.size));
        text("prm", &self.permissions.map(|bits| bits.to_string()).unwrap_or_default());
        text("mod", &self.mtime.map(|time| time.to_string()).unwrap_or_default());
        text("ft", kind_name(self.kind));
        text("zip", if self.is_compressed { "zlib" } else { "" });
        text("tt", if self.is_delta { "rsync" } else { "" });
        text("q", &number(self.quiet.into()));
        text("d", &BASE64.encode(self.data.as_deref().unwrap_or_default()));
        out.push_str("\x1b\\");
        out
    }
}

/// What a reply is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferAnswerAction {
    /// Reports success, progress or an error.
    Status,
    /// Lists a file.
    File,
    /// Contains a part of a file's data.
    Data,
    /// Contains the last part.
    EndData,
}

/// A reply of a terminal, as the program reads it. Replies can come from any terminal, so all sizes are bounded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransferAnswer {
    /// What the reply is.
    pub action: TransferAnswerAction,
    /// The session's identifier.
    pub id: String,
    /// The identifier of the file that the reply concerns; empty if it concerns the session.
    pub file_id: String,
    /// The status, such as `OK` or `EPERM:why`, at most 1 KiB; or the identifier of a listed file.
    pub status: String,
    /// A path, at most 4 KiB; `None` if it is not valid.
    pub name: Option<String>,
    /// Size in bytes.
    pub size: Option<u64>,
    /// Permissions (`0o777` and below).
    pub permissions: Option<u32>,
    /// The time of the last change in nanoseconds since 1970.
    pub mtime: Option<i64>,
    /// The kind of a listed file.
    pub kind: TransferKind,
    /// The identifier of the folder that contains a listed file; empty if the program asked for the file itself.
    pub parent: String,
    /// Data, at most 16 KiB.
    pub data: Vec<u8>,
}

impl TransferAnswer {
    /// Parses the text of an OSC without its introducer and end, such as `5113;ac=status;id=s;st=T0s=`. `None` if it is no
    /// valid reply.
    pub fn parse(osc: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(osc).ok()?.strip_prefix("5113;")?;
        let mut action = None;
        let mut answer = Self {
            action: TransferAnswerAction::Status,
            id: String::new(),
            file_id: String::new(),
            status: String::new(),
            name: Some(String::new()),
            size: None,
            permissions: None,
            mtime: None,
            kind: TransferKind::Regular,
            parent: String::new(),
            data: Vec::new(),
        };
        for pair in text.split(';') {
            let Some((key, value)) = pair.split_once('=') else { continue };
            match key {
                "ac" => {
                    action = Some(match value {
                        "status" => TransferAnswerAction::Status,
                        "file" => TransferAnswerAction::File,
                        "data" => TransferAnswerAction::Data,
                        "end_data" => TransferAnswerAction::EndData,
                        _ => return None,
                    });
                }
                "id" => answer.id = identifier(value)?,
                "fid" => answer.file_id = identifier(value)?,
                "st" => {
                    let status = BASE64.decode(value).ok().filter(|it| it.len() <= STATUS_CAP)?;
                    answer.status = String::from_utf8(status).ok()?;
                }
                "n" => answer.name = path(value),
                "sz" => answer.size = value.parse().ok(),
                "prm" => answer.permissions = value.parse::<u32>().ok().map(|bits| bits & 0o777),
                "mod" => answer.mtime = value.parse().ok(),
                "ft" => answer.kind = kind_of(value)?,
                "pr" => answer.parent = identifier(value)?,
                "d" => {
                    answer.data = BASE64.decode(value).ok().filter(|it| it.len() <= DATA_CAP)?;
                }
                _ => {}
            }
        }
        answer.action = action?;
        Some(answer)
    }
}
