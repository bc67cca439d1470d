//! `ptywright logs`: prints the last records of the servers' log, and follows new records.

use std::{
    collections::VecDeque,
    fs::{self, File},
    io::{self, IsTerminal as _, Read as _, Seek as _, SeekFrom, Write},
    os::unix::fs::MetadataExt as _,
    path::Path,
    sync::mpsc,
    thread,
};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use notify::{RecursiveMode, Watcher as _};
use unterm_control::{escaped, private};

use super::log_file;
use crate::cli::unread::until_unread;

/// The maximum size of an unfinished line, in bytes. Lines that servers write are shorter.
const LONGEST: usize = 1 << 20;

/// The options of `logs`.
#[derive(Args)]
pub struct Logs {
    /// Number of records to print first.
    #[arg(long, value_name = "N", default_value_t = 20)]
    lines: usize,
    /// Print only records that contain this text.
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Print the existing records and exit, instead of following the log until Ctrl+C.
    #[arg(long)]
    no_follow: bool,
}

/// Prints the log.
///
/// # Errors
/// Fails if there is no log, or if the log can't be read.
pub fn run(options: &Logs, home: &Path) -> Result<()> {
    let path = log_file::path(home);
    // Watch the log before reading it, so that no record is missed.
    let news = if options.no_follow { None } else { Some(News::of(home)) };
    let Some(mut tail) = Tail::open(&path)? else {
        bail!("there is no log at {}; `ptywright serve` writes it", path.display());
    };
    let is_shown = |line: &String| options.filter.as_deref().is_none_or(|text| line.contains(text));
    let mut last = VecDeque::new();
    let mut keep = |line: String| {
        if options.lines > 0 && is_shown(&line) {
            if last.len() == options.lines {
                last.pop_front();
            }
            last.push_back(line);
        }
    };
    if let Some(mut before) = Tail::open(&log_file::path_before(home))? {
        before.read()?.into_iter().for_each(&mut keep);
    }
    tail.read()?.into_iter().for_each(&mut keep);
    let mut out = io::stdout().lock();
    if !print(&mut out, last)? {
        return Ok(());
    }
    let Some(news) = news else { return Ok(()) };
    let news = news?;
    while news.wait() {
        // A server may have renamed the full file. Print the end of the old file, and then the start of the new file.
        let mut lines = tail.read()?;
        if !tail.is(&path)
            && let Some(next) = Tail::open(&path)?
        {
            tail = next;
            lines.extend(tail.read()?);
        }
        if !print(&mut out, lines.into_iter().filter(is_shown))? {
            break;
        }
    }
    Ok(())
}

/// Prints lines. Returns false if standard output is closed.
fn print(out: &mut impl Write, lines: impl IntoIterator<Item = String>) -> io::Result<bool> {
    let text: String = lines.into_iter().map(|line| escaped(&line) + "\n").collect();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        written => written.map(|()| true),
    }
}

/// A log file from which new lines are read repeatedly.
struct Tail {
    file: File,
    /// The start of a line whose end has not been written yet.
    rest: Vec<u8>,
}

impl Tail {
    /// Opens the log. Returns `None` if the file does not exist.
    fn open(path: &Path) -> Result<Option<Self>> {
        match private::open_of_anyone(path) {
            Ok(file) => Ok(Some(Self { file, rest: Vec::new() })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    /// The lines that were added to the file since the last call.
    fn read(&mut self) -> io::Result<Vec<String>> {
        // Another process may have truncated the file.
        if self.file.metadata()?.len() < self.file.stream_position()? {
            self.file.seek(SeekFrom::Start(0))?;
            self.rest.clear();
        }
        self.file.read_to_end(&mut self.rest)?;
        let end = match self.rest.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => end + 1,
            None if self.rest.len() > LONGEST => self.rest.len(),
            None => 0,
        };
        let whole: Vec<u8> = self.rest.drain(..end).collect();
        Ok(String::from_utf8_lossy(&whole).lines().map(str::to_owned).collect())
    }

    /// Whether the path still refers to this file. Also true if the file was renamed and no new file exists yet.
    fn is(&self, path: &Path) -> bool {
        let Ok(there) = fs::metadata(path) else { return true };
        self.file.metadata().is_ok_and(|own| (own.dev(), own.ino()) == (there.dev(), there.ino()))
    }
}

/// Reports changes in the folder of the log, until standard output is closed.
struct News {
    changes: mpsc::Receiver<Change>,
    _watcher: notify::RecommendedWatcher,
}

enum Change {
    File,
    Unread,
}

impl News {
    fn of(folder: &Path) -> Result<Self> {
        let (sender, changes) = mpsc::channel();
        let unread = sender.clone();
        let mut watcher = notify::recommended_watcher(move |_| {
            let _ = sender.send(Change::File);
        })
        .context("cannot watch the log")?;
        watcher
            .watch(folder, RecursiveMode::NonRecursive)
            .with_context(|| format!("cannot watch {}", folder.display()))?;
        if !io::stdout().is_terminal() {
            thread::Builder::new().name("unterm-unread".to_owned()).spawn(move || {
                if until_unread().is_ok() {
                    let _ = unread.send(Change::Unread);
                }
            })?;
        }
        Ok(Self { changes, _watcher: watcher })
    }

    /// Waits for a change of a file. Returns false if standard output is closed.
    fn wait(&self) -> bool {
        let Ok(Change::File) = self.changes.recv() else { return false };
        // A single read is enough for all changes that are queued.
        !self.changes.try_iter().any(|change| matches!(change, Change::Unread))
    }
}

#[cfg(test)]
mod tests {
    use std::{fs::OpenOptions, io::Write as _};

    use super::*;

    #[test]
    fn only_whole_lines_are_read_and_an_emptied_file_from_its_start() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        fs::write(&path, "one\ntw").unwrap();
        let mut tail = Tail::open(&path).unwrap().unwrap();
        assert_eq!(tail.read().unwrap(), ["one"]);
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"o\n").unwrap();
        assert_eq!(tail.read().unwrap(), ["two"]);
        assert!(tail.read().unwrap().is_empty());
        fs::write(&path, "x\n").unwrap();
        assert_eq!(tail.read().unwrap(), ["x"]);
        fs::rename(&path, folder.path().join("log.1")).unwrap();
        assert!(tail.is(&path), "there is no other file yet");
        fs::write(&path, "y\n").unwrap();
        assert!(!tail.is(&path));
        assert!(Tail::open(&folder.path().join("none")).unwrap().is_none());
    }
}
