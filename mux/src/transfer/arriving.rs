//! Files that a program puts on this machine.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, Write},
    path::Path,
};

use flate2::write::ZlibDecoder;
use unterm_term::{TransferAction, TransferCommand, TransferKind, TransferReply};

use super::{
    folder::{Folder, Metadata, Parts},
    recipient::{Recipient, status_of},
};

/// The maximum number of files of a session.
const FILES_CAP: usize = 10_000;
/// The maximum number of bytes of all files of a session.
const BYTES_CAP: u64 = 64 << 30;

/// A file whose writes are counted and limited.
#[derive(Debug)]
struct Limited {
    file: File,
    written: u64,
    most: u64,
}

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.written + bytes.len() as u64 > self.most {
            return Err(io::Error::other("the file is larger than announced or allowed"));
        }
        let count = self.file.write(bytes)?;
        self.written += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// How the data of a file arrives.
#[derive(Debug)]
enum Data {
    Plain(Limited),
    Compressed(ZlibDecoder<Limited>),
}

impl Data {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(file) => file.write_all(bytes),
            Self::Compressed(decoder) => decoder.write_all(bytes),
        }
    }

    fn written(&self) -> u64 {
        match self {
            Self::Plain(file) => file.written,
            Self::Compressed(decoder) => decoder.get_ref().written,
        }
    }

    fn finish(self) -> io::Result<Limited> {
        match self {
            Self::Plain(file) => Ok(file),
            Self::Compressed(decoder) => decoder.finish(),
        }
    }
}

/// A file that is arriving.
#[derive(Debug)]
struct Unfinished {
    parts: Parts,
    data: Data,
    metadata: Metadata,
}

/// The files of a session. Dropping it removes those that have not arrived completely.
#[derive(Debug)]
pub(crate) struct Arriving {
    folder: Folder,
    unfinished: HashMap<String, Unfinished>,
    /// Folders get their times after the files in them.
    folders: Vec<(Parts, Metadata)>,
    /// The files so far, and their bytes.
    count: usize,
    bytes: u64,
}

impl Drop for Arriving {
    fn drop(&mut self) {
        for file in self.unfinished.values() {
            if let Err(error) = self.folder.remove(&file.parts) {
                tracing::debug!(%error, "an incomplete file stays");
            }
        }
    }
}

impl Arriving {
    pub(crate) fn new(folder: &Path) -> io::Result<Self> {
        Ok(Self {
            folder: Folder::open(folder)?,
            unfinished: HashMap::new(),
            folders: Vec::new(),
            count: 0,
            bytes: 0,
        })
    }

    /// Handles a command about a file. Returns the reply.
    pub(crate) fn handle(&mut self, to: &Recipient, command: &TransferCommand) -> Option<String> {
        let handled = match command.action {
            TransferAction::File => self.begin(to, command),
            TransferAction::Data | TransferAction::EndData => {
                let is_last = command.action == TransferAction::EndData;
                // Data of a file that failed, or that was never announced, is ignored.
                if !self.unfinished.contains_key(&command.file_id) {
                    return None;
                }
                self.data(to, command, is_last)
            }
            _ => return None,
        };
        handled.unwrap_or_else(|error| {
            if let Some(file) = self.unfinished.remove(&command.file_id)
                && let Err(error) = self.folder.remove(&file.parts)
            {
                tracing::debug!(%error, "an incomplete file stays");
            }
            to.fail(&command.file_id, &status_of(&error))
        })
    }

    fn begin(&mut self, to: &Recipient, command: &TransferCommand) -> io::Result<Option<String>> {
        let invalid = |why| io::Error::new(io::ErrorKind::InvalidInput, why);
        let name = command.name.as_deref().ok_or_else(|| invalid("the path is not valid"))?;
        let parts = self.folder.parts(name)?;
        if self.unfinished.contains_key(&command.file_id) {
            return Err(invalid("another file has this identifier"));
        }
        self.count += 1;
        if self.count > FILES_CAP {
            return Err(invalid("a session may send at most 10,000 files"));
        }
        let metadata = Metadata { permissions: command.permissions, mtime: command.mtime };
        let path = self.folder.absolute(&parts);
        let status = match command.kind {
            TransferKind::Directory => {
                self.folder.create_folder(&parts)?;
                self.folders.push((parts, metadata));
                "OK"
            }
            TransferKind::Regular => {
                let file = self.folder.create(&parts)?;
                let room = BYTES_CAP.saturating_sub(self.bytes);
                let most = if command.size > 0 { command.size.min(room) } else { room };
                let limited = Limited { file, written: 0, most };
                let data = match command.is_compressed {
                    true => Data::Compressed(ZlibDecoder::new(limited)),
                    false => Data::Plain(limited),
                };
                self.unfinished
                    .insert(command.file_id.clone(), Unfinished { parts, data, metadata });
                "STARTED"
            }
            // A link could lead out of the folder, also later.
            TransferKind::Symlink | TransferKind::Link => {
                return Err(invalid("links are not accepted"));
            }
        };
        let reply =
            TransferReply { file_id: &command.file_id, status, name: &path, ..Default::default() };
        Ok(to.acknowledge(reply))
    }

    fn data(
        &mut self,
        to: &Recipient,
        command: &TransferCommand,
        is_last: bool,
    ) -> io::Result<Option<String>> {
        let file_id = command.file_id.as_str();
        let data = command.data.as_deref();
        let data = data
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the data is not valid"))?;
        let Some(file) = self.unfinished.get_mut(file_id) else { return Ok(None) };
        file.data.write(data)?;
        let size = Some(file.data.written());
        if !is_last {
            let status = TransferReply { file_id, status: "PROGRESS", size, ..Default::default() };
            return Ok(to.acknowledge(status));
        }
        let Some(Unfinished { parts, data, metadata }) = self.unfinished.remove(file_id) else {
            return Ok(None);
        };
        let finished = data.finish().and_then(|file| {
            metadata.apply(&file.file)?;
            Ok(file.written)
        });
        let size = match finished {
            Ok(size) => size,
            Err(error) => {
                self.folder.remove(&parts)?;
                return Err(error);
            }
        };
        self.bytes += size;
        let path = self.folder.absolute(&parts);
        Ok(to.acknowledge(TransferReply {
            file_id,
            status: "OK",
            name: &path,
            size: Some(size),
            ..Default::default()
        }))
    }

    /// Ends the session. Returns the reply if something failed.
    pub(crate) fn finish(mut self, to: &Recipient) -> Option<String> {
        let mut reply = None;
        // The innermost folders first: setting one changes the time of none above it.
        for (parts, metadata) in self.folders.drain(..).rev() {
            if let Err(error) = self.folder.dress_folder(&parts, metadata) {
                reply = to.fail("", &status_of(&error));
            }
        }
        reply
    }
}
