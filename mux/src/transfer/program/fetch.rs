//! Fetches files of the terminal's machine.

use std::{
    collections::{HashMap, VecDeque},
    path::Path,
};

use unterm_term::{
    TransferAction, TransferAnswer, TransferAnswerAction, TransferCommand, TransferKind,
};

use super::{Channel, DEPTH_CAP, FILES_CAP, TransferError, Transferred, printable, reason};
use crate::transfer::{Arriving, Recipient};

/// The maximum number of files that are requested at once, so that the next file follows without a pause.
const REQUESTED_CAP: usize = 8;

/// Fetches files and folders of the terminal's machine into the folder `to`, which is created if it is missing. Paths
/// may begin with `~/`.
///
/// # Errors
/// If the session ends early. Files that failed alone are in the result. An incomplete file is removed.
pub fn fetch(
    channel: &mut Channel,
    paths: &[String],
    to: &Path,
) -> Result<Transferred, TransferError> {
    let arriving = Arriving::new(to).map_err(|error| TransferError::File(to.into(), error))?;
    let size = paths.len() as u64;
    channel.send(&TransferCommand { size, ..channel.command(TransferAction::Receive) })?;
    for (number, path) in paths.iter().enumerate() {
        let command = TransferCommand {
            file_id: number.to_string(),
            name: Some(path.clone()),
            ..channel.command(TransferAction::File)
        };
        channel.send(&command)?;
    }
    channel.permission()?;
    let to = Recipient { id: "here".into(), quiet: 1 };
    let (listed, folders) = (VecDeque::new(), HashMap::new());
    let done = Transferred::default();
    let (requested, asked) = (HashMap::new(), paths);
    let mut fetching = Fetching { asked, to, arriving, listed, folders, requested, done };
    let ended = fetching.list(channel).and_then(|()| fetching.files(channel));
    if let Err(error) = ended {
        channel.cancel();
        return Err(error);
    }
    channel.send(&channel.command(TransferAction::Finish))?;
    Ok(fetching.finish())
}

/// A file that the terminal has listed.
struct Listed {
    file_id: String,
    /// The path on the terminal's machine, by which the file is requested.
    name: String,
    /// The path beneath the folder.
    path: String,
    answer: TransferAnswer,
}

struct Fetching<'a> {
    /// The paths that the user asked for.
    asked: &'a [String],
    to: Recipient,
    arriving: Arriving,
    listed: VecDeque<Listed>,
    /// Paths beneath the folder, of folders by their identifiers.
    folders: HashMap<String, String>,
    /// Files whose data arrives: the path beneath the folder, and the bytes so far.
    requested: HashMap<String, (String, u64)>,
    done: Transferred,
}

impl Fetching<'_> {
    /// Reads the list of all files.
    fn list(&mut self, channel: &mut Channel) -> Result<(), TransferError> {
        let mut count = 0;
        loop {
            let answer = channel.answer()?;
            match answer.action {
                TransferAnswerAction::File => {
                    count += 1;
                    if count > FILES_CAP {
                        return Err(TransferError::Flood("a list of more than 10,000 files"));
                    }
                    self.listed(answer);
                }
                TransferAnswerAction::Status if answer.file_id.is_empty() => {
                    return match answer.status.as_str() {
                        "OK" => Ok(()),
                        status => Err(TransferError::Refused(reason(status))),
                    };
                }
                TransferAnswerAction::Status => {
                    let path = answer.file_id.parse().ok().and_then(|at: usize| self.asked.get(at));
                    let path = path.map_or("a listed file", String::as_str);
                    self.done.fail(path, reason(&answer.status));
                }
                TransferAnswerAction::Data | TransferAnswerAction::EndData => {}
            }
        }
    }

    fn listed(&mut self, answer: TransferAnswer) {
        let Some(name) = answer.name.clone() else {
            self.done.fail("a listed file", "the terminal sends an invalid path");
            return;
        };
        let Some(path) = self.place(&answer, &name) else {
            self.done.fail(printable(&name), "its path is not valid");
            return;
        };
        let file_id = answer.status.clone();
        match answer.kind {
            TransferKind::Regular => {
                self.listed.push_back(Listed { file_id, name, path, answer });
            }
            TransferKind::Directory => {
                let command = metadata(TransferKind::Directory, &file_id, &path, &answer);
                if self.here(&path, &command) {
                    self.folders.insert(file_id, path);
                }
            }
            TransferKind::Symlink | TransferKind::Link => {
                self.done.fail(printable(&name), "links are not copied");
            }
        }
    }

    /// The path of a listed file beneath the folder. `None` if it could lead out of the folder, if its own folder is
    /// missing, or if the user did not ask for it: a terminal must not choose names such as `.bashrc`.
    fn place(&self, answer: &TransferAnswer, name: &str) -> Option<String> {
        let last = name.trim_end_matches('/').rsplit('/').next()?;
        // `~` would be the home folder.
        if matches!(last, "" | "." | ".." | "~") || last.contains('\0') {
            return None;
        }
        if answer.parent.is_empty() {
            let asked = self.asked.get(answer.file_id.parse::<usize>().ok()?)?;
            let own = asked.trim_end_matches('/').rsplit('/').next()?;
            // The terminal knows the names of these folders.
            let is_unnamed = matches!(own, "" | "." | ".." | "~");
            return (is_unnamed || own == last).then(|| last.to_owned());
        }
        let folder = self.folders.get(&answer.parent)?;
        (folder.split('/').count() < DEPTH_CAP).then(|| format!("{folder}/{last}"))
    }

    /// Passes a command to the local files. Returns false if it failed.
    fn here(&mut self, path: &str, command: &TransferCommand) -> bool {
        let reply = self.arriving.handle(&self.to, command);
        let status = reply.as_deref().and_then(status_in);
        if let Some(status) = &status {
            self.done.fail(printable(path), reason(status));
        }
        status.is_none()
    }

    /// Requests all files, and writes their data.
    fn files(&mut self, channel: &mut Channel) -> Result<(), TransferError> {
        loop {
            while self.requested.len() < REQUESTED_CAP {
                let Some(Listed { file_id, name, path, answer }) = self.listed.pop_front() else {
                    break;
                };
                let announced = metadata(TransferKind::Regular, &file_id, &path, &answer);
                if self.here(&path, &announced) {
                    let action = channel.command(TransferAction::File);
                    let command =
                        TransferCommand { file_id: file_id.clone(), name: Some(name), ..action };
                    channel.send(&command)?;
                    self.requested.insert(file_id, (path, 0));
                }
            }
            if self.requested.is_empty() {
                return Ok(());
            }
            let answer = channel.answer()?;
            let Some((path, so_far)) = self.requested.get_mut(&answer.file_id) else {
                match answer.action {
                    TransferAnswerAction::Status if answer.file_id.is_empty() => {
                        return Err(TransferError::Refused(reason(&answer.status)));
                    }
                    // This is more data of a file that failed on this machine.
                    _ => continue,
                }
            };
            let path = path.clone();
            let action = match answer.action {
                TransferAnswerAction::Data => TransferAction::Data,
                TransferAnswerAction::EndData => TransferAction::EndData,
                TransferAnswerAction::Status => {
                    self.done.fail(printable(&path), reason(&answer.status));
                    // Drops the part that has arrived: an invalid command about a file ends it.
                    let file_id = answer.file_id.clone();
                    let again =
                        TransferCommand { file_id, data: None, ..command(TransferAction::Data) };
                    self.arriving.handle(&self.to, &again);
                    self.requested.remove(&answer.file_id);
                    continue;
                }
                TransferAnswerAction::File => continue,
            };
            *so_far += answer.data.len() as u64;
            let so_far = *so_far;
            let file_id = answer.file_id.clone();
            let is_kept = self.here(
                &path,
                &TransferCommand { file_id, data: Some(answer.data), ..command(action) },
            );
            channel.show_progress(&path, so_far)?;
            if action == TransferAction::EndData && is_kept {
                self.done.files += 1;
                self.done.bytes += so_far;
            }
            if action == TransferAction::EndData || !is_kept {
                self.requested.remove(&answer.file_id);
            }
        }
    }

    fn finish(mut self) -> Transferred {
        let reply = self.arriving.finish(&self.to);
        if let Some(status) = reply.as_deref().and_then(status_in) {
            self.done.fail("a folder", reason(&status));
        }
        self.done
    }
}

/// A command for the files here.
fn command(action: TransferAction) -> TransferCommand {
    TransferCommand::new(action, "here")
}

/// The command that announces a listed file to the local files.
fn metadata(
    kind: TransferKind,
    file_id: &str,
    path: &str,
    answer: &TransferAnswer,
) -> TransferCommand {
    TransferCommand {
        file_id: file_id.to_owned(),
        name: Some(path.to_owned()),
        kind,
        size: answer.size.unwrap_or(0),
        permissions: answer.permissions,
        mtime: answer.mtime,
        ..command(TransferAction::File)
    }
}

/// The status in a reply of the files here.
fn status_in(reply: &str) -> Option<String> {
    let osc = reply.strip_prefix("\x1b]")?.strip_suffix("\x1b\\")?;
    TransferAnswer::parse(osc.as_bytes()).map(|answer| answer.status)
}
