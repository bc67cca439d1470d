//! The audit log of callers' calls. Memory contains the last entries. A file contains all entries and is rotated.
//! Secrets are redacted by the rules that recordings use.
//!
//! Callers never wait for the file, because a separate thread writes it. If the file can't be written, or the thread is
//! too slow, entries are dropped and counted. The count is written as soon as the file can be written again.

use std::{
    borrow::Cow,
    collections::VecDeque,
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
};

use parking_lot::Mutex;
use rustix::fs::{FlockOperation, flock};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_mux::private;

use super::recording::SharedRedaction;
use crate::caller::LONGEST_NAME;

/// The file's name in Unterm's home directory.
pub const FILE: &str = "audit.jsonl";
/// The maximum number of entries in memory.
const KEPT: usize = 10_000;
/// The size in bytes above which the file is rotated.
const LONGEST: u64 = 5 << 20;
/// The number of rotated files. `audit.jsonl.1` is the newest.
const FILES: u32 = 3;
/// The maximum number of entries that wait to be written.
const WAITING: usize = 4096;
/// The maximum number of characters of a detail or of a reason.
const DETAIL: usize = 500;
/// The maximum number of characters of a detail or a reason that are redacted. The text is redacted before it is cut to
/// [`DETAIL`] characters, so that no secret is cut in half.
const REDACTED: usize = 4 * DETAIL;
/// The maximum number of characters of the id of a session or a recording.
const SESSION: usize = 100;

/// One call.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct Entry {
    /// RFC 3339, UTC.
    pub timestamp: String,
    /// The method.
    pub method: String,
    /// The session that the call was about. `null` if the call was about no session.
    pub session_id: Option<String>,
    /// The requested action.
    pub detail: String,
    /// Whether the call was allowed.
    pub allowed: bool,
    /// `ok`: the call was carried out, or has begun if it takes longer; `refused`; or `error`: the call failed. A call that began
    /// and then failed has two entries.
    pub outcome: Cow<'static, str>,
    /// The reason for a refusal or failure, as sent to the caller. Absent otherwise, or if the detail contains it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub error: String,
    /// The client's name, if it sent one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
}

/// The outcome of a call. Contains the reason of a refusal or failure, unless the call's detail already contains it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallOutcome {
    /// The call was executed.
    Done,
    /// The call was refused.
    Refused(String),
    /// The call failed.
    Failed(String),
}

/// The audit log.
pub struct Audit {
    entries: Mutex<VecDeque<Entry>>,
    writer: SyncSender<Vec<u8>>,
    /// The number of entries that are missing from the file.
    lost: Arc<AtomicU64>,
    redaction: SharedRedaction,
}

impl Audit {
    /// A log whose file is in `home`.
    pub fn new(home: &Path) -> Self {
        let (writer, lines) = sync_channel(WAITING);
        let (path, lost) = (home.join(FILE), Arc::new(AtomicU64::new(0)));
        let missing = lost.clone();
        let write = move || write_all(&path, &lines, &missing);
        if let Err(error) = thread::Builder::new().name("unterm-audit".to_owned()).spawn(write) {
            tracing::warn!(%error, "the audit log is kept in memory only");
        }
        Self { entries: Mutex::default(), writer, lost, redaction: SharedRedaction::new(home) }
    }

    /// Adds an entry for a call at the current time.
    pub fn add(
        &self,
        method: &str,
        session_id: String,
        detail: &str,
        outcome: CallOutcome,
        client: Option<String>,
    ) {
        let (outcome, error) = match outcome {
            CallOutcome::Done => ("ok", String::new()),
            CallOutcome::Refused(why) => ("refused", why),
            CallOutcome::Failed(why) => ("error", why),
        };
        // These texts come from callers, and can have any length.
        let short = |text: &str, most| text.chars().take(most).collect::<String>();
        let redacted = |text: &str| short(&self.redaction.apply(&short(text, REDACTED)), DETAIL);
        let entry = Entry {
            timestamp: crate::services::now(),
            method: method.to_owned(),
            session_id: Some(short(&session_id, SESSION)).filter(|id| !id.is_empty()),
            detail: redacted(detail),
            allowed: outcome != "refused",
            outcome: outcome.into(),
            error: redacted(&error),
            client: client.map(|name| short(&name, LONGEST_NAME)),
        };
        if let Ok(mut line) = serde_json::to_vec(&entry) {
            line.push(b'\n');
            if self.writer.try_send(line).is_err() {
                self.lost.fetch_add(1, Ordering::Relaxed);
            }
        }
        let mut entries = self.entries.lock();
        if entries.len() == KEPT {
            entries.pop_front();
        }
        entries.push_back(entry);
    }

    /// The last entries of one session, newest first. If `session_id` is `None`: the last entries of all sessions.
    pub fn last(&self, limit: usize, session_id: Option<&str>) -> Vec<Entry> {
        let entries = self.entries.lock();
        let is_wanted =
            |entry: &&Entry| session_id.is_none_or(|id| entry.session_id.as_deref() == Some(id));
        entries.iter().rev().filter(is_wanted).take(limit).cloned().collect()
    }
}

/// Writes entries as they arrive, until the channel is closed.
fn write_all(path: &Path, lines: &Receiver<Vec<u8>>, lost: &AtomicU64) {
    let mut is_failing = false;
    while let Ok(first) = lines.recv() {
        let missing = lost.swap(0, Ordering::Relaxed);
        let mut batch = Vec::new();
        if missing > 0 {
            batch.extend_from_slice(format!("{{\"lost\":{missing}}}\n").as_bytes());
        }
        let mut count = 0;
        for line in std::iter::once(first).chain(lines.try_iter()).take(WAITING) {
            batch.extend_from_slice(&line);
            count += 1;
        }
        let written = append(path, &batch);
        if let Err(error) = &written {
            lost.fetch_add(missing + count, Ordering::Relaxed);
            if !is_failing {
                tracing::warn!(%error, path = %path.display(), "the audit log is not written");
            }
        }
        is_failing = written.is_err();
    }
}

/// Appends either all lines or none. Other instances write to the file, too.
fn append(path: &Path, lines: &[u8]) -> io::Result<()> {
    let mut file = open(path)?;
    let length = file.metadata()?.len();
    if length > 0 && length + lines.len() as u64 > LONGEST {
        // Another instance may have rotated the file before this process got the lock.
        let is_there = std::os::unix::fs::MetadataExt::ino(&file.metadata()?)
            == std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(path)?);
        if is_there {
            for number in (1..FILES).rev() {
                let _ = std::fs::rename(aside(path, number), aside(path, number + 1));
            }
            std::fs::rename(path, aside(path, 1))?;
        }
        // Release the lock first: if `path` still leads to the same file, locking it again would block forever.
        drop(file);
        file = open(path)?;
    }
    let length = file.metadata()?.len();
    let written = file.write_all(lines);
    if written.is_err() {
        // An incomplete line would corrupt the next line.
        file.set_len(length)?;
    }
    written
}

/// Opens the file and locks it.
fn open(path: &Path) -> io::Result<File> {
    let file = private::append(path)?;
    flock(&file, FlockOperation::LockExclusive)?;
    Ok(file)
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
                8 => CallOutcome::Failed("no ".repeat(DETAIL)),
                9 => CallOutcome::Refused(String::new()),
                _ => CallOutcome::Done,
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
        let expected = [("refused", false, 0), ("error", true, DETAIL), ("ok", true, 0)];
        assert_eq!(told, expected.map(|(word, allowed, length)| (word.into(), allowed, length)));
        let long = "nine ".repeat(1 << 18);
        audit.add(
            "exec.run",
            long.clone(),
            &long,
            CallOutcome::Failed(long.clone()),
            Some(long.clone()),
        );
        let kept = audit.last(1, None).remove(0);
        assert_eq!((kept.session_id.unwrap().len(), kept.detail.len()), (SESSION, DETAIL));
        assert_eq!((kept.error.len(), kept.client.unwrap().len()), (DETAIL, LONGEST_NAME));
    }

    #[test]
    fn secrets_are_in_neither_log_also_where_the_text_is_cut() {
        let home = tempfile::tempdir().unwrap();
        let rules = |pattern: &str| {
            let rules = serde_json::json!({"redaction": {"custom_patterns": [pattern]}});
            std::fs::write(home.path().join("recording.json"), rules.to_string()).unwrap();
        };
        rules("hunter2");
        let audit = Audit::new(home.path());
        let add = |detail: &str| {
            let failed = CallOutcome::Failed(format!("no such command: {detail}"));
            audit.add("exec.run", "7".to_owned(), detail, failed, None);
            let entry = audit.last(1, None).remove(0);
            (entry.detail, entry.error)
        };
        let (detail, error) = add("export API_KEY=abc; say hunter2");
        assert_eq!(detail, "export API_KEY: <redacted> say <redacted>");
        assert_eq!(error, "no such command: export API_KEY: <redacted> say <redacted>");
        // The token extends beyond the part of the detail that is kept.
        let token = format!("ghp_{}", "a1".repeat(18));
        let (detail, _) = add(&format!("{}{token}", "x ".repeat(DETAIL / 2 - 10)));
        assert!(detail.ends_with("x <token:ghp_a1a1...re"), "{detail}");
        rules("a secret");
        assert_eq!(add("hunter2 is a secret").0, "hunter2 is <redacted>");
        let path = home.path().join(FILE);
        let text = loop {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            if text.lines().count() == 3 {
                break text;
            }
            thread::yield_now();
        };
        for secret in ["abc", "say hunter2", "a1a1a1a1a", "a secret"] {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
    }

    #[test]
    fn without_rules_no_text_is_kept_and_none_is_made_up() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("recording.json"), "{half").unwrap();
        let audit = Audit::new(home.path());
        audit.add("exec.run", "7".to_owned(), "password=x", CallOutcome::Done, None);
        let entry = audit.last(1, None).remove(0);
        assert!(entry.detail.contains("recording.json"), "{}", entry.detail);
        assert_eq!((&*entry.outcome, entry.error.as_str()), ("ok", ""));
    }

    #[test]
    fn entries_that_the_file_misses_are_counted_in_it() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join(FILE);
        // A folder with the name of the file makes writes fail until it is removed.
        std::fs::create_dir(&path).unwrap();
        let (writer, lines) = sync_channel(WAITING);
        let lost = Arc::new(AtomicU64::new(0));
        let counted = lost.clone();
        let own = path.clone();
        let write = thread::spawn(move || write_all(&own, &lines, &counted));
        for _ in 0..3 {
            writer.send(b"{}\n".to_vec()).unwrap();
        }
        while lost.load(Ordering::Relaxed) < 3 {
            thread::yield_now();
        }
        std::fs::remove_dir(&path).unwrap();
        writer.send(b"{\"last\":1}\n".to_vec()).unwrap();
        drop(writer);
        write.join().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\"lost\":3}\n{\"last\":1}\n");
    }
}
