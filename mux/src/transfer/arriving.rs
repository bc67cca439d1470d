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
    folder::{Folder, Metadata, PathParts},
    recipient::{Recipient, status_of},
};

/// The maximum number of files of a session.
const FILES_CAP: usize = 10_000;
/// The maximum number of files of a session that have data and are not complete.
const OPEN_CAP: usize = 16;
/// The maximum number of bytes that a session writes, also to files that do not become complete.
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
    fn new(file: File, is_compressed: bool) -> Self {
        let limited = Limited { file, written: 0, most: 0 };
        match is_compressed {
            true => Self::Compressed(ZlibDecoder::new(limited)),
            false => Self::Plain(limited),
        }
    }

    /// Limits the bytes that are written to the file from now on to `most`.
    fn limit(&mut self, most: u64) {
        match self {
            Self::Plain(file) => file.most = most,
            Self::Compressed(decoder) => decoder.get_mut().most = most,
        }
    }

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

/// A file that has no data yet. It is not created before its data arrives, so that it costs neither a descriptor nor a
/// decoder.
#[derive(Debug)]
struct Announced {
    parts: PathParts,
    metadata: Metadata,
    /// 0 if the program did not announce the size.
    size: u64,
    is_compressed: bool,
}

/// A file that the session created, and that is not complete.
#[derive(Debug)]
struct Open {
    announced: Announced,
    data: Data,
}

/// The files of a session. Dropping it removes those that have not arrived completely.
#[derive(Debug)]
pub(crate) struct Arriving {
    folder: Folder,
    /// Files by identifier. No identifier is in both maps, and at most [`OPEN_CAP`] are open.
    announced: HashMap<String, Announced>,
    open: HashMap<String, Open>,
    /// The folders that the session created. Folders get their times after the files in them.
    folders: Vec<(PathParts, Metadata)>,
    /// The files so far, and how many bytes the session may still write.
    count: usize,
    room: u64,
}

impl Drop for Arriving {
    fn drop(&mut self) {
        for file in self.open.values() {
            self.remove(&file.announced.parts);
        }
    }
}

impl Arriving {
    pub(crate) fn new(folder: &Path) -> io::Result<Self> {
        Ok(Self {
            folder: Folder::open(folder)?,
            announced: HashMap::new(),
            open: HashMap::new(),
            folders: Vec::new(),
            count: 0,
            room: BYTES_CAP,
        })
    }

    /// Limits the bytes that the session may still write.
    #[cfg(test)]
    pub(super) fn limit(&mut self, room: u64) {
        self.room = room;
    }

    /// Removes an incomplete file.
    fn remove(&self, parts: &[String]) {
        if let Err(error) = self.folder.remove(parts) {
            tracing::debug!(%error, "an incomplete file stays");
        }
    }

    fn has(&self, file_id: &str) -> bool {
        self.announced.contains_key(file_id) || self.open.contains_key(file_id)
    }

    /// Handles a command about a file. Returns the reply.
    pub(crate) fn handle(&mut self, to: &Recipient, command: &TransferCommand) -> Option<String> {
        let handled = match command.action {
            TransferAction::File => self.begin(to, command),
            TransferAction::Data | TransferAction::EndData => {
                let is_last = command.action == TransferAction::EndData;
                // Data of a file that failed, or that was never announced, is ignored.
                if !self.has(&command.file_id) {
                    return None;
                }
                self.data(to, command, is_last)
            }
            _ => return None,
        };
        handled.unwrap_or_else(|error| {
            // A file that is only announced was not created by the session, so nothing is removed.
            self.announced.remove(&command.file_id);
            if let Some(file) = self.open.remove(&command.file_id) {
                self.remove(&file.announced.parts);
            }
            to.fail(&command.file_id, &status_of(&error))
        })
    }

    fn begin(&mut self, to: &Recipient, command: &TransferCommand) -> io::Result<Option<String>> {
        let invalid = |why| io::Error::new(io::ErrorKind::InvalidInput, why);
        let name = command.name.as_deref().ok_or_else(|| invalid("the path is not valid"))?;
        let parts = self.folder.parts(name)?;
        if self.has(&command.file_id) {
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
                // A folder that existed keeps its permissions and its time.
                if self.folder.create_folder(&parts)? {
                    self.folders.push((parts, metadata));
                }
                "OK"
            }
            TransferKind::Regular => {
                self.folder.expect_free(&parts)?;
                let (size, is_compressed) = (command.size, command.is_compressed);
                let announced = Announced { parts, metadata, size, is_compressed };
                self.announced.insert(command.file_id.clone(), announced);
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

    /// Creates a file for its first data.
    fn create(&self, announced: Announced) -> io::Result<Open> {
        if self.open.len() >= OPEN_CAP {
            let why = "at most 16 files may be incomplete at once";
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, why));
        }
        let file = self.folder.create(&announced.parts)?;
        let data = Data::new(file, announced.is_compressed);
        Ok(Open { announced, data })
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
        if let Some(announced) = self.announced.remove(file_id) {
            let open = self.create(announced)?;
            self.open.insert(file_id.to_owned(), open);
        }
        let Some(file) = self.open.get_mut(file_id) else { return Ok(None) };
        let before = file.data.written();
        let most = before.saturating_add(self.room);
        file.data.limit(match file.announced.size {
            0 => most,
            size => size.min(most),
        });
        let written = file.data.write(data);
        let so_far = file.data.written();
        self.room = self.room.saturating_sub(so_far - before);
        written?;
        let size = Some(so_far);
        if !is_last {
            let status = TransferReply { file_id, status: "PROGRESS", size, ..Default::default() };
            return Ok(to.acknowledge(status));
        }
        let Some(Open { announced: Announced { parts, metadata, .. }, data }) =
            self.open.remove(file_id)
        else {
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
        // The end of compressed data can contain more bytes.
        self.room = self.room.saturating_sub(size - so_far);
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
        // Start with the innermost folders, because setting the time of a folder does not change the folders above it.
        for (parts, metadata) in self.folders.drain(..).rev() {
            if let Err(error) = self.folder.dress_folder(&parts, metadata) {
                reply = to.fail("", &status_of(&error));
            }
        }
        reply
    }
}
