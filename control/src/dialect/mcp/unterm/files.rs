//! Reads and writes files below a pane's working directory, so that long text need not pass through its shell.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shown::safe;
use crate::{
    dialect::mcp::tool::tool,
    methods::files::{Read, ReadParams, Write, WriteParams},
};

/// The number of bytes of a file in one reply: the default and the maximum.
const USUAL: u64 = 20_000;
const MOST: u64 = 200_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadArguments {
    /// Relative, or absolute below the working directory.
    path: String,
    /// The pane; optional if there is only one.
    pane: Option<u64>,
    /// First byte to read, from 0.
    offset: Option<u64>,
    /// Default 20,000, at most 200,000.
    max_bytes: Option<u64>,
    /// Do not escape invisible characters.
    raw: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
pub struct ReadReply {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Base64, if the bytes are not UTF-8 text.
    #[serde(skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
    /// Size of the whole file in bytes.
    size: u64,
    /// The offset for the next call, if bytes are left.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<u64>,
}

tool! {
    FileRead "file_read" "Read a file" Adds
    "Read a file below a pane's working directory. Symbolic links are not followed."
    example r#"{"path": "src/main.rs"}"#
    untrusted ["text", "base64"]
    (ask, arguments: ReadArguments) -> ReadReply {
        let ReadArguments { path, pane, offset, max_bytes, raw } = arguments;
        let pane = ask.pane(pane).await?;
        let (offset, most) = (offset.unwrap_or(0), max_bytes.unwrap_or(USUAL).clamp(1, MOST));
        let params = ReadParams {
            path: path.into(),
            offset: offset.into(),
            max_bytes: most.into(),
            ..ReadParams::of(pane)
        };
        let read = ask.call::<Read>(params).await?;
        let bytes = STANDARD.decode(&read.base64).map_err(|error| format!("Internal error: {error}"))?;
        let (text, taken) = match text_of(&bytes) {
            Some(text) => (Some(safe(text.to_owned(), raw == Some(true))), text.len()),
            None => (None, bytes.len()),
        };
        let end = offset + taken as u64;
        Ok(ReadReply {
            base64: text.is_none().then_some(read.base64),
            text,
            size: read.size,
            next_offset: (end < read.size && taken > 0).then_some(end),
        }
        .into())
    }
}

/// The bytes as text, without an incomplete character at the end. `None` if they are not UTF-8.
fn text_of(bytes: &[u8]) -> Option<&str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) if error.error_len().is_none() && error.valid_up_to() > 0 => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).ok()
        }
        Err(_) => None,
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteArguments {
    /// Relative, or absolute below the pane's directory. Creates folders.
    path: String,
    /// The pane; optional if there is only one.
    pane: Option<u64>,
    text: Option<String>,
    /// Base64, instead of text.
    base64: Option<String>,
    /// Append to the file instead of replacing it.
    append: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
pub struct WriteReply {
    written: u64,
    /// The file is new.
    created: bool,
    /// The directory that the path is relative to.
    directory: String,
}

tool! {
    FileWrite "file_write" "Write a file" Acts
    "Write a file below a pane's working directory. An existing file keeps its permissions."
    example r##"{"path": "NOTES", "text": "# Notes\n"}"##
    untrusted ["directory"]
    (ask, arguments: WriteArguments) -> WriteReply {
        let WriteArguments { path, pane, text, base64, append } = arguments;
        let pane = ask.pane(pane).await?;
        if text.is_some() == base64.is_some() {
            return Err("Give what to write in `text` or in `base64`, and not in both".to_owned());
        }
        let params = WriteParams {
            path: path.into(),
            text: text.into(),
            base64: base64.into(),
            append: (append == Some(true)).into(),
            ..WriteParams::of(pane)
        };
        let written = ask.call::<Write>(params).await?;
        Ok(WriteReply {
            written: written.written as u64,
            created: written.created,
            directory: written.directory,
        }
        .into())
    }
}
