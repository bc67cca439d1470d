//! Puts files of this machine on the terminal's machine.

use std::{
    collections::HashMap,
    fs::{self, File, Metadata},
    io::{self, Read},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use unterm_term::{TransferAction, TransferAnswer, TransferCommand, TransferKind};

use super::{CHUNK, Channel, DEPTH_CAP, FILES_CAP, TransferError, Transferred, printable, reason};

/// Bytes that may be on their way: enough for a fast transfer over a slow connection, while the terminal's replies
/// still fit in a pty's buffer.
pub(super) const WINDOW: u64 = 96 << 10;
/// The maximum number of files without a final reply. Below the 16 that Unterm keeps open.
const UNANSWERED_CAP: usize = 8;

/// Puts files and folders into the folder `to` of the terminal's machine, such as `~/` or `~/reports`.
///
/// # Errors
/// If the session ends early. Files that failed alone are in the result.
pub fn put(
    channel: &mut Channel,
    paths: &[PathBuf],
    to: &str,
) -> Result<Transferred, TransferError> {
    let mut putting = Putting { unanswered: HashMap::new(), done: Transferred::default() };
    let entries = putting.entries(paths, to)?;
    channel.send(&channel.command(TransferAction::Send))?;
    channel.permission()?;
    let all = entries.iter().enumerate();
    let sent = all.map(|(number, entry)| putting.entry(channel, number, entry));
    let ended = sent.collect::<Result<(), _>>().and_then(|()| {
        while !putting.unanswered.is_empty() {
            let answer = channel.answer()?;
            putting.answered(&answer)?;
        }
        channel.send(&channel.command(TransferAction::Finish))
    });
    if let Err(error) = ended {
        channel.cancel();
        return Err(error);
    }
    Ok(putting.done)
}

/// A file or folder to put.
struct Entry {
    path: PathBuf,
    /// The path on the terminal's machine.
    name: String,
    metadata: Metadata,
}

/// A file or folder whose final reply has not arrived.
struct Unanswered {
    path: String,
    /// Bytes that were sent, and that the terminal has confirmed.
    sent: u64,
    confirmed: u64,
    is_folder: bool,
}

struct Putting {
    /// By the file's identifier.
    unanswered: HashMap<String, Unanswered>,
    done: Transferred,
}

impl Putting {
    /// Lists files and folders. A folder comes before its files.
    fn entries(&mut self, paths: &[PathBuf], to: &str) -> Result<Vec<Entry>, TransferError> {
        let to = to.trim_end_matches('/');
        let mut entries = Vec::new();
        for path in paths {
            // The user may name a link; links in folders are left out.
            let found = fs::metadata(path).and_then(|found| Ok((found, path.canonicalize()?)));
            let (metadata, whole) =
                found.map_err(|error| TransferError::File(path.clone(), error))?;
            let own = if path.file_name().is_some() { path } else { &whole };
            let Some(name) = own.file_name().and_then(|name| name.to_str()) else {
                self.done.fail(path.to_string_lossy(), "its name is not UTF-8, or it has none");
                continue;
            };
            let name = format!("{to}/{name}");
            self.walk(Entry { path: path.clone(), name, metadata }, 0, &mut entries)?;
        }
        Ok(entries)
    }

    fn walk(
        &mut self,
        entry: Entry,
        depth: usize,
        entries: &mut Vec<Entry>,
    ) -> Result<(), TransferError> {
        let invalid = |why| io::Error::new(io::ErrorKind::InvalidInput, why);
        if entries.len() >= FILES_CAP {
            let why = invalid("a transfer copies at most 10,000 files");
            return Err(TransferError::File(entry.path, why));
        }
        if depth > DEPTH_CAP {
            let why = invalid("a transfer copies folders at most 30 levels deep");
            return Err(TransferError::File(entry.path, why));
        }
        let kind = entry.metadata.file_type();
        if !kind.is_file() && !kind.is_dir() {
            let why = if kind.is_symlink() {
                "links are not copied"
            } else {
                "it is neither a file nor a folder"
            };
            self.done.fail(entry.path.to_string_lossy(), why);
            return Ok(());
        }
        let (folder, base) = (entry.path.clone(), entry.name.clone());
        entries.push(entry);
        if !kind.is_dir() {
            return Ok(());
        }
        let fail = |error| TransferError::File(folder.clone(), error);
        let mut inside = fs::read_dir(&folder)
            .and_then(|inside| inside.collect::<io::Result<Vec<_>>>())
            .map_err(fail)?;
        inside.sort_unstable_by_key(fs::DirEntry::file_name);
        for found in inside {
            let path = found.path();
            let Some(name) = found.file_name().to_str().map(|name| format!("{base}/{name}")) else {
                self.done.fail(path.to_string_lossy(), "its name is not UTF-8");
                continue;
            };
            match found.metadata() {
                Ok(metadata) => self.walk(Entry { path, name, metadata }, depth + 1, entries)?,
                Err(error) => self.done.fail(path.to_string_lossy(), error),
            }
        }
        Ok(())
    }

    /// Sends a file or folder.
    fn entry(
        &mut self,
        channel: &mut Channel,
        number: usize,
        entry: &Entry,
    ) -> Result<(), TransferError> {
        let path = entry.path.to_string_lossy().into_owned();
        let is_folder = entry.metadata.is_dir();
        let opened = if is_folder { Ok(None) } else { open(&entry.path).map(Some) };
        let file = match opened {
            Ok(file) => file,
            Err(error) => {
                self.done.fail(path, error);
                return Ok(());
            }
        };
        let file_id = (number + 1).to_string();
        let metadata = &entry.metadata;
        let mtime = metadata.mtime().checked_mul(1_000_000_000);
        let command = TransferCommand {
            file_id: file_id.clone(),
            name: Some(entry.name.clone()),
            kind: if is_folder { TransferKind::Directory } else { TransferKind::Regular },
            size: if is_folder { 0 } else { metadata.size() },
            permissions: Some(metadata.mode() & 0o777),
            mtime: mtime.and_then(|time| time.checked_add(metadata.mtime_nsec())),
            ..channel.command(TransferAction::File)
        };
        channel.send(&command)?;
        let unanswered = Unanswered { path: path.clone(), sent: 0, confirmed: 0, is_folder };
        self.unanswered.insert(file_id.clone(), unanswered);
        self.catch_up(channel)?;
        let Some(file) = file else { return Ok(()) };
        let mut file = file.take(metadata.size());
        loop {
            let mut data = Vec::with_capacity(CHUNK);
            let read = file.by_ref().take(CHUNK as u64).read_to_end(&mut data);
            // The protocol can't give up a single file.
            let count = read.map_err(|error| TransferError::File(entry.path.clone(), error))?;
            let Some(unanswered) = self.unanswered.get_mut(&file_id) else {
                // The terminal has refused the file.
                return Ok(());
            };
            unanswered.sent += count as u64;
            let so_far = unanswered.sent;
            let action = if count == 0 { TransferAction::EndData } else { TransferAction::Data };
            let file_id = file_id.clone();
            channel.send(&TransferCommand {
                file_id,
                data: Some(data),
                ..channel.command(action)
            })?;
            channel.show_progress(&path, so_far)?;
            self.catch_up(channel)?;
            if count == 0 {
                return Ok(());
            }
        }
    }

    /// Handles the replies that have arrived, and waits for more if too much is on its way.
    fn catch_up(&mut self, channel: &mut Channel) -> Result<(), TransferError> {
        while let Some(answer) = channel.arrived()? {
            self.answered(&answer)?;
        }
        while self.unanswered.len() > UNANSWERED_CAP || self.on_its_way() > WINDOW {
            let answer = channel.answer()?;
            self.answered(&answer)?;
        }
        Ok(())
    }

    fn on_its_way(&self) -> u64 {
        self.unanswered.values().map(|file| file.sent.saturating_sub(file.confirmed)).sum()
    }

    fn answered(&mut self, answer: &TransferAnswer) -> Result<(), TransferError> {
        let Some(file) = self.unanswered.get_mut(&answer.file_id) else {
            // A file that has failed gets more replies. Without a file, the reply is about the session.
            return match answer.file_id.is_empty() {
                true => Err(TransferError::Refused(reason(&answer.status))),
                false => Ok(()),
            };
        };
        match answer.status.as_str() {
            "STARTED" => {}
            "PROGRESS" => file.confirmed = file.sent.min(answer.size.unwrap_or(0)),
            "OK" => {
                if !file.is_folder {
                    self.done.files += 1;
                    self.done.bytes += file.sent;
                }
                self.unanswered.remove(&answer.file_id);
            }
            status => {
                self.done.fail(printable(&file.path), reason(status));
                self.unanswered.remove(&answer.file_id);
            }
        }
        Ok(())
    }
}

/// Opens a regular file. Refuses another kind of file that has taken its name meanwhile.
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    // Opening a FIFO must not block.
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    let file = File::options().read(true).custom_flags(flags.bits() as i32).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no longer a file")),
    }
}
