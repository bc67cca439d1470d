//! Files of this machine that a program fetches: their list, and their data.

use std::{
    collections::HashMap,
    io::{self, Read},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    },
};

use flate2::{Compression, read::ZlibEncoder};
use rustix::fs::FileType;
use unterm_term::{TransferKind, TransferReply};

use super::{
    folder::{Folder, PathParts},
    recipient::{Recipient, status_of},
};

/// Bytes of data in one command (the protocol's "Overall design").
const CHUNK: usize = 4096;
/// The maximum number of files that wait to be read.
const FETCHES_CAP: usize = 20_000;
/// The maximum number of files in the list of a session, and the maximum depth of folders.
const LIST_CAP: usize = 20_000;
const DEPTH_CAP: usize = 64;

/// A path that a program wants to read, with the identifier that it gave the path.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) file_id: String,
    pub(crate) path: String,
}

/// A file whose data a program asks for.
#[derive(Debug)]
pub(crate) struct Fetch {
    pub(crate) file_id: String,
    pub(crate) path: String,
    pub(crate) is_compressed: bool,
}

/// A handle to the thread that serves a session. Dropping it ends the thread.
#[derive(Debug)]
pub(crate) struct Serving {
    fetches: SyncSender<Fetch>,
    has_ended: Arc<AtomicBool>,
}

impl Serving {
    /// A handle, and the parameters for [`serve`].
    pub(crate) fn new() -> (Self, Receiver<Fetch>, Arc<AtomicBool>) {
        let (fetches, received) = sync_channel(FETCHES_CAP);
        let has_ended = Arc::<AtomicBool>::default();
        (Self { fetches, has_ended: Arc::clone(&has_ended) }, received, has_ended)
    }

    pub(super) fn send(&self, fetch: Fetch) -> Result<(), TrySendError<Fetch>> {
        self.fetches.try_send(fetch)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.has_ended.store(true, Ordering::Release);
    }
}

/// Serving stopped, because the program ended or accepts no more input.
struct Gone;

/// The files that a program may fetch, by the paths in the list it got.
type Listed = HashMap<String, PathParts>;

/// Lists the files that a program wants, and sends the data of each that it asks for. `send` passes a command to the
/// program when there is room, and returns false if the session is over.
pub(crate) fn serve(
    to: &Recipient,
    folder: &Path,
    wanted: &[Wanted],
    fetches: &Receiver<Fetch>,
    send: impl Fn(&str) -> bool,
) {
    let send = |reply: Option<String>| match reply.is_none_or(|reply| send(&reply)) {
        true => Ok(()),
        false => Err(Gone),
    };
    let ok = |name: &str| {
        to.acknowledge(TransferReply { status: "OK", name, ..TransferReply::default() })
    };
    let run = || -> Result<(), Gone> {
        let folder = match Folder::open(folder) {
            Ok(folder) => folder,
            Err(error) => return send(to.fail("", &status_of(&error))),
        };
        send(ok(""))?;
        let listed = list(to, &folder, wanted, &send)?;
        let home = std::env::home_dir().unwrap_or_default();
        send(ok(&home.to_string_lossy()))?;
        while let Ok(fetch) = fetches.recv() {
            fetch_one(to, &folder, &listed, &fetch, &send)?;
        }
        Ok(())
    };
    // The program has ended, so an error is ignored.
    let _ = run();
}

type Sender<'a> = &'a dyn Fn(Option<String>) -> Result<(), Gone>;

/// Sends the list of all files at and beneath the wanted paths.
fn list(
    to: &Recipient,
    folder: &Folder,
    wanted: &[Wanted],
    send: Sender<'_>,
) -> Result<Listed, Gone> {
    let mut listed = Listed::new();
    let mut number = 0usize;
    for Wanted { file_id, path } in wanted {
        let mut waiting = match folder.parts(path) {
            Ok(parts) => vec![(parts, String::new())],
            Err(error) => {
                send(to.fail(file_id, &status_of(&error)))?;
                continue;
            }
        };
        while let Some((parts, parent)) = waiting.pop() {
            if number >= LIST_CAP || parts.len() > DEPTH_CAP {
                send(to.fail(file_id, "EINVAL:At most 20,000 files in 64 levels are listed"))?;
                break;
            }
            let stat = match folder.stat(&parts) {
                Ok(stat) => stat,
                Err(error) => {
                    send(to.fail(file_id, &status_of(&error)))?;
                    continue;
                }
            };
            let kind = match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => TransferKind::Regular,
                FileType::Directory => TransferKind::Directory,
                FileType::Symlink => TransferKind::Symlink,
                // Pipes, sockets and devices have no data to send.
                _ => continue,
            };
            number += 1;
            let own = number.to_string();
            let path = folder.absolute(&parts);
            let mtime = stat.st_mtime.checked_mul(1_000_000_000);
            let mtime =
                mtime.and_then(|time| time.checked_add(i64::try_from(stat.st_mtime_nsec).ok()?));
            send(Some(to.send(TransferReply {
                action: "file",
                file_id,
                status: &own,
                name: &path,
                size: Some(stat.st_size.unsigned_abs()),
                permissions: Some(stat.st_mode & 0o777),
                mtime,
                kind,
                parent: &parent,
                ..TransferReply::default()
            })))?;
            if kind == TransferKind::Directory {
                match folder.names(&parts, LIST_CAP) {
                    // In reverse order, because the last entry is removed first.
                    Ok(names) => waiting.extend(names.into_iter().rev().map(|name| {
                        let mut inside = parts.clone();
                        inside.push(name);
                        (inside, own.clone())
                    })),
                    Err(error) => send(to.fail(file_id, &status_of(&error)))?,
                }
            } else {
                listed.insert(path, parts);
            }
        }
    }
    Ok(listed)
}

/// Sends the data of a file, or why it can't be read.
fn fetch_one(
    to: &Recipient,
    folder: &Folder,
    listed: &Listed,
    fetch: &Fetch,
    send: Sender<'_>,
) -> Result<(), Gone> {
    let fail = |error: &io::Error| to.fail(&fetch.file_id, &status_of(error));
    let Some(parts) = listed.get(&fetch.path) else {
        return send(to.fail(&fetch.file_id, "EPERM:The path was not listed"));
    };
    let opened = folder.stat(parts).and_then(|stat| {
        let reader: Box<dyn Read> = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Symlink => Box::new(io::Cursor::new(folder.link(parts)?)),
            _ => Box::new(folder.read(parts)?),
        };
        let reader: Box<dyn Read> = match fetch.is_compressed {
            true => Box::new(ZlibEncoder::new(reader, Compression::default())),
            false => reader,
        };
        Ok(reader)
    });
    let mut reader = match opened {
        Ok(reader) => reader,
        Err(error) => return send(fail(&error)),
    };
    let mut chunk = Vec::with_capacity(CHUNK);
    loop {
        let mut next = Vec::with_capacity(CHUNK);
        if let Err(error) = reader.by_ref().take(CHUNK as u64).read_to_end(&mut next) {
            return send(fail(&error));
        }
        // The last chunk is known only when nothing follows it.
        let is_last = next.is_empty();
        if is_last || !chunk.is_empty() {
            send(Some(to.send(TransferReply {
                action: if is_last { "end_data" } else { "data" },
                file_id: &fetch.file_id,
                data: &chunk,
                ..TransferReply::default()
            })))?;
        }
        if is_last {
            return Ok(());
        }
        chunk = next;
    }
}
