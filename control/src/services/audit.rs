//! What callers did: the last of it in memory, all of it in a file that is rotated.
//!
//! Never waits for the disk: entries go to the file by a thread of their own, and what it can't keep up with is counted.

use std::{
    collections::VecDeque,
    fs::OpenOptions,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{
        atomic::{AtomicU64, Ordering},
        mpsc::{SyncSender, sync_channel},
    },
    thread,
};

use parking_lot::Mutex;
use rustix::fs::{FlockOperation, flock};
use schemars::JsonSchema;
use serde::Serialize;

use crate::caller::LONGEST_NAME;

/// The file, in Unterm's home directory.
pub const FILE: &str = "audit.jsonl";
/// Entries kept in memory.
const KEPT: usize = 10_000;
/// A file longer than this, in bytes, is put aside.
const LONGEST: u64 = 5 << 20;
/// Files put aside: `audit.jsonl.1` is the newest.
const FILES: u32 = 3;
/// Entries that may wait for the disk.
const WAITING: usize = 4096;
/// Characters of a detail, and of a reason.
const DETAIL: usize = 500;
/// Characters of what names a session, or a recording of one.
const SESSION: usize = 100;

/// One call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Entry {
    /// RFC 3339, UTC.
    pub timestamp: String,
    /// The method.
    pub method: String,
    /// The session it was about, empty for none.
    pub session_id: String,
    /// What was asked for.
    pub detail: String,
    /// False: it was refused.
    pub allowed: bool,
    /// `ok`: it was made, or what takes its time began; `refused`; or `error`: it came to nothing, for what it was given or for
    /// another reason. What began and then came to nothing has an entry for each.
    pub outcome: &'static str,
    /// Why it was refused or came to nothing, as its caller was told; absent where it did not, or the detail says it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub error: String,
    /// The client's name for itself, where it gave one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
}

/// What came of a call; with the reason, where it is not in the detail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was made.
    Done,
    /// Its caller was kept from it.
    Refused(String),
    /// It came to nothing.
    Failed(String),
}

/// The log.
pub struct Audit {
    entries: Mutex<VecDeque<Entry>>,
    writer: SyncSender<Vec<u8>>,
    lost: AtomicU64,
}

impl Audit {
    /// A log whose file lies in this directory.
    pub fn new(home: &Path) -> Self {
        let (writer, lines) = sync_channel::<Vec<u8>>(WAITING);
        let path = home.join(FILE);
        let write = move || {
            while let Ok(mut batch) = lines.recv() {
                batch.extend(lines.try_iter().take(WAITING).flatten());
                if let Err(error) = append(&path, &batch) {
                    tracing::warn!(%error, path = %path.display(), "the audit log is not written");
                }
            }
        };
        if let Err(error) = thread::Builder::new().name("unterm-audit".to_owned()).spawn(write) {
            tracing::warn!(%error, "the audit log is kept in memory only");
        }
        Self { entries: Mutex::default(), writer, lost: AtomicU64::new(0) }
    }

    /// Adds a call of just now.
    pub fn add(
        &self,
        method: &str,
        session_id: String,
        detail: &str,
        outcome: Outcome,
        client: Option<String>,
    ) {
        let (outcome, error) = match outcome {
            Outcome::Done => ("ok", String::new()),
            Outcome::Refused(why) => ("refused", why),
            Outcome::Failed(why) => ("error", why),
        };
        // Callers give all of these, at any length.
        let short = |text: &str, most| text.chars().take(most).collect();
        let entry = Entry {
            timestamp: super::now(),
            method: method.to_owned(),
            session_id: short(&session_id, SESSION),
            detail: short(detail, DETAIL),
            allowed: outcome != "refused",
            outcome,
            error: short(&error, DETAIL),
            client: client.map(|name| short(&name, LONGEST_NAME)),
        };
        if let Ok(mut line) = serde_json::to_vec(&entry) {
            line.push(b'\n');
            let lost = self.lost.swap(0, Ordering::Relaxed);
            if lost > 0 {
                line.extend_from_slice(format!("{{\"lost\":{lost}}}\n").as_bytes());
            }
            if self.writer.try_send(line).is_err() {
                self.lost.fetch_add(lost + 1, Ordering::Relaxed);
            }
        }
        let mut entries = self.entries.lock();
        if entries.len() == KEPT {
            entries.pop_front();
        }
        entries.push_back(entry);
    }

    /// The last entries, newest first: of one session, or of all.
    pub fn last(&self, limit: usize, session_id: Option<&str>) -> Vec<Entry> {
        let entries = self.entries.lock();
        let is_wanted = |entry: &&Entry| session_id.is_none_or(|id| entry.session_id == id);
        entries.iter().rev().filter(is_wanted).take(limit).cloned().collect()
    }
}

/// Appends whole lines. Other instances write to the same file.
fn append(path: &Path, lines: &[u8]) -> io::Result<()> {
    let open = || {
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path)
    };
    let mut file = open()?;
    flock(&file, FlockOperation::LockExclusive)?;
    let length = file.metadata()?.len();
    if length > 0 && length + lines.len() as u64 > LONGEST {
        // Whoever else had it open found it full as well, and may have put it aside already.
        let is_there = std::os::unix::fs::MetadataExt::ino(&file.metadata()?)
            == std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(path)?);
        if is_there {
            for number in (1..FILES).rev() {
                let _ = std::fs::rename(aside(path, number), aside(path, number + 1));
            }
            std::fs::rename(path, aside(path, 1))?;
        }
        file = open()?;
    }
    file.write_all(lines)
}

fn aside(path: &Path, number: u32) -> PathBuf {
    path.with_extension(format!("jsonl.{number}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_file_is_put_aside_and_only_so_many_are_kept() {
        use std::os::unix::fs::PermissionsExt;

        let home = tempfile::tempdir().unwrap();
        let path = home.path().join(FILE);
        for n in 0..6 {
            append(&path, &vec![b'0' + n; LONGEST as usize - 10]).unwrap();
        }
        let first = |path: &Path| std::fs::read(path).unwrap()[0];
        assert_eq!(first(&path), b'5');
        assert_eq!([1, 2, 3].map(|n| first(&aside(&path, n))), [b'4', b'3', b'2']);
        assert!(!aside(&path, 4).exists());
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn the_newest_come_first_and_one_session_is_asked_for_alone() {
        let home = tempfile::tempdir().unwrap();
        let audit = Audit::new(home.path());
        for n in 0..10 {
            let outcome = match n {
                8 => Outcome::Failed("x".repeat(DETAIL + 1)),
                9 => Outcome::Refused(String::new()),
                _ => Outcome::Done,
            };
            audit.add("exec.run", (n % 2).to_string(), &format!("echo {n}"), outcome, None);
        }
        let details = |limit, id| {
            audit.last(limit, id).into_iter().map(|entry| entry.detail).collect::<Vec<_>>()
        };
        assert_eq!(details(2, None), ["echo 9", "echo 8"]);
        assert_eq!(details(2, Some("0")), ["echo 8", "echo 6"]);
        let told = audit.last(3, None).into_iter();
        let told: Vec<_> =
            told.map(|entry| (entry.outcome, entry.allowed, entry.error.len())).collect();
        assert_eq!(told, [("refused", false, 0), ("error", true, DETAIL), ("ok", true, 0)]);
        let long = "9".repeat(1 << 20);
        audit.add(
            "exec.run",
            long.clone(),
            &long,
            Outcome::Failed(long.clone()),
            Some(long.clone()),
        );
        let kept = audit.last(1, None).remove(0);
        assert_eq!((kept.session_id.len(), kept.detail.len()), (SESSION, DETAIL));
        assert_eq!((kept.error.len(), kept.client.unwrap().len()), (DETAIL, LONGEST_NAME));
    }
}
