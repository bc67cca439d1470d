//! The surroundings of a pane: the branch of its project, and the ports on which its programs listen.
//!
//! Owns how they are read, and when. Reading takes some milliseconds, so it runs on its own thread, and only while the
//! sidebar is shown. It follows events, such as the end of a command, and never a timer alone: nothing reports that a
//! program began to listen, so the ports may be outdated until the next event.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Read as _,
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use unterm_control::escaped;
use unterm_mux::{PaneId, listening_ports, private};

/// The maximum number of ports of a pane that are shown. A program can listen on thousands.
const MOST_PORTS: usize = 8;

/// The time from an event to the reading, in which a command that began may start to listen.
const SETTLE: Duration = Duration::from_millis(300);
/// The minimum time between two readings. A reading looks at every process of the system.
const INTERVAL: Duration = Duration::from_secs(2);
/// The maximum length of a branch's name, in characters.
const BRANCH: usize = 60;
/// The maximum number of bytes that are read of a file of git.
const LONGEST: u64 = 4096;
/// The maximum time for which the reading of a branch delays the others.
const PATIENCE: Duration = Duration::from_secs(1);
/// The maximum number of readings that have not returned. No branch is read meanwhile.
const MOST_STUCK: usize = 4;
/// The number of characters of a commit's hash that stand for a branch.
const HASH: usize = 8;

/// The surroundings of a pane, as last read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Surroundings {
    /// The directory of the project whose branch was read.
    pub(crate) root: Option<PathBuf>,
    /// The name of the branch, or the start of a commit's hash. Empty if unknown.
    pub(crate) branch: String,
    /// The ports, in ascending order, at most [`MOST_PORTS`] of them.
    pub(crate) ports: Vec<u16>,
}

/// A pane whose surroundings must be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Survey {
    pub(crate) pane: PaneId,
    /// The directory of the project.
    pub(crate) root: Option<PathBuf>,
    /// The device of the pane's terminal.
    pub(crate) terminal: Option<PathBuf>,
}

/// When to read the surroundings of which panes.
#[derive(Debug, Default)]
pub(crate) struct Surveys {
    /// The panes to read, each with the number of readings that are left.
    wanted: BTreeMap<PaneId, u8>,
    /// The time of the next reading.
    due: Option<Instant>,
    /// The time of the last reading.
    last: Option<Instant>,
    /// Whether a thread is reading.
    is_reading: bool,
    branches: BranchReader,
}

/// Reads the branches of projects.
///
/// Reading a file on a mount that no longer answers may never return. So each branch is read on a thread of its own.
#[derive(Clone, Debug, Default)]
pub(crate) struct BranchReader {
    /// The projects whose reading has not returned.
    reading: Arc<Mutex<BTreeSet<PathBuf>>>,
}

impl Surveys {
    /// Requests a reading of panes.
    pub(crate) fn want(&mut self, panes: impl IntoIterator<Item = PaneId>, now: Instant) {
        self.want_times(panes, 1, now);
    }

    /// Requests two readings of panes in which a command began or ended. A server may need a moment until it listens.
    pub(crate) fn want_twice(&mut self, panes: impl IntoIterator<Item = PaneId>, now: Instant) {
        self.want_times(panes, 2, now);
    }

    fn want_times(&mut self, panes: impl IntoIterator<Item = PaneId>, times: u8, now: Instant) {
        for pane in panes {
            let left = self.wanted.entry(pane).or_default();
            *left = times.max(*left);
        }
        self.schedule(now);
    }

    fn schedule(&mut self, now: Instant) {
        if self.wanted.is_empty() || self.due.is_some() {
            return;
        }
        let earliest = self.last.map(|last| last + INTERVAL);
        self.due = Some(earliest.map_or(now + SETTLE, |time| time.max(now + SETTLE)));
    }

    /// The time at which a reading must begin. `None` if none is wanted, or if one is running.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.due.filter(|_| !self.is_reading)
    }

    /// Whether a thread is reading.
    pub(crate) fn is_reading(&self) -> bool {
        self.is_reading
    }

    /// Begins a reading if it is due. Returns the panes to read.
    pub(crate) fn begin(&mut self, now: Instant) -> Vec<PaneId> {
        if self.due().is_none_or(|due| now < due) {
            return Vec::new();
        }
        let panes = self.wanted.keys().copied().collect();
        self.wanted.values_mut().for_each(|left| *left -= 1);
        self.wanted.retain(|_, left| *left > 0);
        (self.due, self.last, self.is_reading) = (None, Some(now), true);
        self.schedule(now);
        panes
    }

    /// What reads the branches.
    pub(crate) fn branches(&self) -> BranchReader {
        self.branches.clone()
    }

    /// Records that the reading has ended.
    pub(crate) fn end(&mut self) {
        self.is_reading = false;
    }

    /// Forgets all requests, because the sidebar is hidden.
    pub(crate) fn clear(&mut self) {
        self.wanted.clear();
        self.due = None;
    }
}

impl BranchReader {
    /// Reads the surroundings of panes. Reads files, so it must not run on the main thread.
    pub(crate) fn read(&self, surveys: Vec<Survey>) -> Vec<(PaneId, Surroundings)> {
        let terminals: Vec<_> = surveys.iter().map(|survey| survey.terminal.clone()).collect();
        let ports = listening_ports(&terminals);
        let read = |(Survey { pane, root, .. }, ports): (Survey, BTreeSet<u16>)| {
            let branch = root.clone().and_then(|root| self.branch(root, PATIENCE, branch));
            let ports = ports.into_iter().take(MOST_PORTS).collect();
            (pane, Surroundings { root, branch: branch.unwrap_or_default(), ports })
        };
        surveys.into_iter().zip(ports).map(read).collect()
    }

    /// The branch of a project, as `read` reads it. `None` also if `read` takes longer than `patience`, if an earlier reading
    /// of the project has not returned, or if there are [`MOST_STUCK`] such readings.
    fn branch(
        &self,
        root: PathBuf,
        patience: Duration,
        read: impl FnOnce(&Path) -> Option<String> + Send + 'static,
    ) -> Option<String> {
        {
            let mut reading = self.reading.lock();
            if reading.len() >= MOST_STUCK || !reading.insert(root.clone()) {
                return None;
            }
        }
        let (sender, receiver) = mpsc::channel();
        let (reading, own) = (Arc::clone(&self.reading), root.clone());
        let work = move || {
            let branch = read(&own);
            reading.lock().remove(&own);
            // Nobody receives a branch that comes too late.
            let _ = sender.send(branch);
        };
        if thread::Builder::new().name("branch".to_owned()).spawn(work).is_err() {
            self.reading.lock().remove(&root);
            return None;
        }
        receiver.recv_timeout(patience).ok().flatten()
    }
}

/// The branch that is checked out in a project, safe to show. In a worktree, `.git` is a file that contains the path of
/// git's directory.
fn branch(root: &Path) -> Option<String> {
    let git = root.join(".git");
    let folder = match git.is_dir() {
        true => git,
        false => root.join(short_file(&git)?.trim().strip_prefix("gitdir:")?.trim()),
    };
    let head = short_file(&folder.join("HEAD"))?;
    let head = head.lines().next()?.trim();
    let name = match head.strip_prefix("ref:") {
        Some(name) => name.trim().trim_start_matches("refs/heads/"),
        None => head.get(..HASH)?,
    };
    Some(escaped(name).chars().take(BRANCH).collect())
}

/// The start of a regular file's text. Anyone may have created the file.
fn short_file(path: &Path) -> Option<String> {
    let mut text = String::new();
    private::open_of_anyone(path).ok()?.take(LONGEST).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_gathered_and_a_flood_keeps_the_interval() {
        let start = Instant::now();
        let mut surveys = Surveys::default();
        assert_eq!((surveys.due(), surveys.begin(start)), (None, Vec::new()));
        let mut readings = 0;
        for millisecond in 0..10_000 {
            let now = start + Duration::from_millis(millisecond);
            surveys.want_twice([PaneId(1)], now);
            surveys.want([PaneId(2)], now);
            let panes = surveys.begin(now);
            if !panes.is_empty() {
                assert_eq!(panes, [PaneId(1), PaneId(2)]);
                assert_eq!(surveys.due(), None, "only one thread reads");
                surveys.end();
                readings += 1;
            }
        }
        assert_eq!(readings, 5);
    }

    #[test]
    fn a_command_is_read_twice_and_then_nothing_is_due() {
        let start = Instant::now();
        let mut surveys = Surveys::default();
        surveys.want_twice([PaneId(1)], start);
        surveys.want([PaneId(2)], start);
        let at = |surveys: &mut Surveys| {
            let due = surveys.due()?;
            let panes = surveys.begin(due);
            surveys.end();
            Some((due - start, panes))
        };
        assert_eq!(at(&mut surveys), Some((SETTLE, vec![PaneId(1), PaneId(2)])));
        assert_eq!(at(&mut surveys), Some((SETTLE + INTERVAL, vec![PaneId(1)])));
        assert_eq!(at(&mut surveys), None);
    }

    #[test]
    fn a_branch_is_read_in_repositories_and_worktrees() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        let write = |path: &str, text: &str| {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        };
        let of = |folder: &str| branch(&root.join(folder));
        write("plain/.git/HEAD", "ref: refs/heads/topic/one\n");
        write("loose/.git/HEAD", "0123456789abcdef\n");
        write("tree/.git", "gitdir: ../plain/.git/worktrees/tree\n");
        write("plain/.git/worktrees/tree/HEAD", "ref: refs/heads/two\n");
        write("hostile/.git/HEAD", "ref: refs/heads/a\u{202e}b\x1b[m\nref: refs/heads/c\n");
        write("long/.git/HEAD", &format!("ref: refs/heads/{}\n", "x".repeat(100_000)));
        write("empty/.git/HEAD", "");
        write("short/.git/HEAD", "01\n");
        assert_eq!(of("plain").as_deref(), Some("topic/one"));
        assert_eq!(of("loose").as_deref(), Some("01234567"));
        assert_eq!(of("tree").as_deref(), Some("two"));
        assert_eq!(of("hostile").as_deref(), Some("a\\u{202e}b\\u{1b}[m"));
        assert_eq!(of("long").map(|name| name.len()), Some(BRANCH));
        assert_eq!([of("empty"), of("short"), of("none")], [None, None, None]);
    }

    #[test]
    fn a_reading_that_never_returns_stops_no_other() {
        let reader = BranchReader::default();
        let long = Duration::from_secs(60);
        let read = |root: &str| reader.branch(root.into(), long, |_| Some("main".to_owned()));
        let mut blocked = Vec::new();
        for stuck in 0..MOST_STUCK {
            assert_eq!(read("other").as_deref(), Some("main"));
            let (release, wait) = mpsc::channel();
            let root = PathBuf::from(format!("stuck {stuck}"));
            let branch = reader.branch(root.clone(), Duration::ZERO, move |_| wait.recv().ok());
            assert_eq!(branch, None);
            assert_eq!(read(&format!("stuck {stuck}")), None, "it has one reading at most");
            blocked.push((root, release));
        }
        assert_eq!(read("other"), None, "the number of threads is bounded");
        let (root, release) = blocked.pop().expect("a blocked reading");
        release.send(String::new()).expect("a reading");
        while reader.reading.lock().contains(&root) {
            thread::yield_now();
        }
        assert_eq!(read("other").as_deref(), Some("main"));
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_in_place_of_a_file_does_not_block() {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join(".git")).expect("a folder");
        let head = folder.path().join(".git/HEAD");
        mknodat(CWD, &head, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
        assert_eq!(branch(folder.path()), None);
    }
}
