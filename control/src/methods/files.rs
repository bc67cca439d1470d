//! `file.*`: files below a session's working directory.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Caller, Context, Group, Method, Result, Subjects, params::session_params, session::blocking,
};
use crate::{
    error::Error,
    services::records::files::{MOST_READ, MOST_WRITTEN, PaneFile, directory},
    untrusted::shortened,
};

/// `file.read`.
pub struct Read;

session_params! {
    /// A session, a file, and the part to read.
    ReadParams {
        /// The file's path, relative to the session's working directory, or absolute and inside it.
        path: String,
        /// The first byte to read, from 0.
        #[serde(default)]
        offset: u64,
        /// The maximum number of bytes to read. Default: 65,536; at most 1,048,576.
        #[serde(default)]
        max_bytes: u64,
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct ReadReply {
    /// The bytes, in base64.
    pub base64: String,
    /// Size of the whole file in bytes.
    pub size: u64,
}

/// Checks the rules on input lines against a line such as `file.write notes.txt`, so that rules can block access to
/// files.
fn admit(context: &Context, pane: &unterm_mux::Pane, method: &str, path: &str) -> Result<()> {
    let line = format!("{method} {path}");
    context.lines.policy.check_typed(Some(pane.id()), &[&line], &line).map_err(Error::Policy)
}

impl Method for Read {
    const NAME: &'static str = "file.read";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::FOLDER;
    const DOC: &'static str = "Reads a part of a file inside a session's working directory.";
    const DESCRIBED_BY: &'static [&'static str] = &["path"];
    type Params<'a> = ReadParams<'a>;
    type Reply = ReadReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: ReadParams<'a>,
    ) -> Result<ReadReply> {
        let pane = context.pane(params.target())?;
        let path = params.path.required("path")?.into_owned();
        let offset = params.offset.number("offset", 0..=u64::MAX)?.unwrap_or(0);
        let most = params.max_bytes.number("max_bytes", 1..=MOST_READ)?.unwrap_or(65_536);
        admit(context, &pane, Self::NAME, &path)?;
        let read = move || PaneFile::find(directory(&pane)?, &path, false)?.read(offset, most);
        let part = blocking(read).await?.map_err(Error::Failed)?;
        Ok(ReadReply { base64: STANDARD.encode(part.bytes), size: part.size })
    }
}

/// `file.write`.
pub struct Write;

session_params! {
    /// A session, a file, and its new contents.
    WriteParams {
        /// The file's path, relative to the session's working directory, or absolute and inside it. Missing
        /// folders are created.
        path: String,
        /// The text to write.
        #[serde(default)]
        text: String,
        /// The bytes to write instead, in base64; at most 8 MiB.
        #[serde(default)]
        base64: String,
        /// Append to the file instead of replacing its contents.
        #[serde(default)]
        append: bool,
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct WriteReply {
    /// How many bytes were written.
    pub written: usize,
    /// Whether the file was created.
    pub created: bool,
    /// The directory that the path is relative to.
    pub directory: String,
}

impl Method for Write {
    const NAME: &'static str = "file.write";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::FOLDER;
    const DOC: &'static str = "Writes a file inside a session's working directory.";
    const DESCRIBED_BY: &'static [&'static str] = &["path"];
    type Params<'a> = WriteParams<'a>;
    type Reply = WriteReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: WriteParams<'a>,
    ) -> Result<WriteReply> {
        let pane = context.pane_for(caller, params.target())?;
        let path = params.path.required("path")?.into_owned();
        let bytes = match (params.text.text("text")?, params.base64.text("base64")?) {
            (Some(text), None) => text.into_owned().into_bytes(),
            (None, Some(base64)) => {
                STANDARD.decode(base64.as_bytes()).map_err(|error| Error::Invalid {
                    name: "base64",
                    expected: format!("base64 with its padding ({error})"),
                    got: shortened(&format!("{base64:?}"), 80),
                })?
            }
            (None, None) => return Err(Error::Missing("text")),
            (Some(_), Some(_)) => {
                return Err(Error::Failed("Give 'text' or 'base64', not both".to_owned()));
            }
        };
        if bytes.len() > MOST_WRITTEN {
            return Err(Error::Invalid {
                name: "text",
                expected: format!("at most {MOST_WRITTEN} bytes"),
                got: bytes.len().to_string(),
            });
        }
        let appends = params.append.is_set("append")?;
        admit(context, &pane, Self::NAME, &path)?;
        let written = bytes.len();
        let write = move || {
            let place = PaneFile::find(directory(&pane)?, &path, true)?;
            let created = place.write(&bytes, appends)?;
            Ok((created, place.directory().display().to_string()))
        };
        let (created, directory) = blocking(write).await?.map_err(Error::Failed)?;
        Ok(WriteReply { written, created, directory })
    }
}
