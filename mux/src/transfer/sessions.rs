//! The sessions of a pane: whether the user was asked about a session, whether it was accepted, and what it may do.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, mpsc::TrySendError},
};

use unterm_term::{TransferAction, TransferCommand, TransferReply};

use super::{
    folder::parts_in,
    recipient::Recipient,
    serving::{Fetch, Serving, Wanted},
};

/// The maximum number of sessions of a pane.
const SESSIONS_CAP: usize = 4;

/// The kind of transfer that a program requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferDirection {
    /// To put files on this machine.
    ToHere,
    /// To read files of this machine.
    FromHere,
}

/// A program's request to transfer files. [`crate::Pane::answer_transfer`] answers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransferRequest {
    /// The request's handle. No other request of this pane has the same handle.
    pub handle: u64,
    /// The direction.
    pub direction: TransferDirection,
    /// The paths that the program wants to read, at most [`Self::PATHS_CAP`], as the program wrote them; empty if it
    /// puts files here, whose names follow later.
    pub paths: Vec<String>,
}

impl TransferRequest {
    /// The maximum number of paths that a session may ask for: as many as a question can show.
    pub const PATHS_CAP: usize = 6;

    /// The paths, relative to `folder`, that the program can read if the user agrees to `folder`. The empty path is the
    /// whole folder. Leaves out paths that will be refused.
    pub fn paths_in(&self, folder: &Path) -> Vec<String> {
        let parts = self.paths.iter().filter_map(|path| parts_in(folder, path).ok());
        parts.map(|parts| parts.join("/")).collect()
    }
}

/// The state of a session.
#[derive(Debug)]
enum Stage {
    /// The program names the paths that it wants to read.
    Naming { count: u64, wanted: Vec<Wanted> },
    /// The user is being asked.
    Asked { handle: u64, direction: TransferDirection, wanted: Vec<Wanted> },
    /// The user has accepted that files arrive in this folder.
    Accepted(PathBuf),
    /// The session's thread reads files for the program.
    Serving(Serving),
}

/// A session.
#[derive(Debug)]
struct Session {
    id: Arc<str>,
    quiet: u8,
    stage: Stage,
}

/// The task of the pane after a command, to perform with no lock held.
#[derive(Debug)]
pub(crate) enum Step {
    Nothing,
    Reply(Option<String>),
    /// Ask the user.
    Ask(TransferRequest),
    /// Pass the command to the files that arrive in this folder.
    Arrive(Recipient, PathBuf),
    /// Drop the files of the session that have not arrived completely.
    Drop(Option<String>),
}

/// The consequence of the user's answer.
#[derive(Debug)]
pub(crate) enum Answered {
    Reply(Option<String>),
    /// Start a thread that reads these files. [`Transfers::begin_serving`] stores the handle.
    Serve(Recipient, Vec<Wanted>),
}

/// The sessions of a pane.
#[derive(Debug, Default)]
pub(crate) struct Transfers {
    sessions: Vec<Session>,
    last_handle: u64,
}

impl Transfers {
    /// Handles a command. `has_user`: whether a user can be asked.
    pub(crate) fn handle(&mut self, command: &TransferCommand, has_user: bool) -> Step {
        let at = self.sessions.iter().position(|session| *session.id == *command.id);
        match (command.action, at) {
            (TransferAction::Send | TransferAction::Receive, None) => self.begin(command, has_user),
            (TransferAction::Send | TransferAction::Receive, Some(at)) => {
                self.fail(at, "EINVAL:The session has already begun")
            }
            // The session ended, or never began.
            (_, None) => Step::Nothing,
            (TransferAction::Cancel, Some(at)) => {
                let status = TransferReply { status: "CANCELED", ..TransferReply::default() };
                Step::Drop(self.remove(at).acknowledge(status))
            }
            (TransferAction::Finish, Some(at)) => match &self.sessions[at].stage {
                Stage::Accepted(folder) => {
                    let folder = folder.clone();
                    Step::Arrive(self.remove(at), folder)
                }
                _ => {
                    self.remove(at);
                    Step::Drop(None)
                }
            },
            (_, Some(at)) => self.go_on(at, command),
        }
    }

    fn begin(&mut self, command: &TransferCommand, has_user: bool) -> Step {
        let id: Arc<str> = command.id.as_str().into();
        let recipient = Recipient { id: Arc::clone(&id), quiet: command.quiet };
        if !has_user {
            return Step::Reply(recipient.fail("", "EPERM:No window can ask the user"));
        }
        if self.sessions.len() >= SESSIONS_CAP {
            return Step::Reply(recipient.fail("", "EBUSY:Too many transfers in this pane"));
        }
        let is_send = command.action == TransferAction::Send;
        if !is_send && !(1..=TransferRequest::PATHS_CAP as u64).contains(&command.size) {
            let most = TransferRequest::PATHS_CAP;
            let status = format!("EINVAL:The number of paths must be between 1 and {most}");
            return Step::Reply(recipient.fail("", &status));
        }
        let stage = Stage::Naming { count: command.size, wanted: Vec::new() };
        self.sessions.push(Session { id, quiet: command.quiet, stage });
        let at = self.sessions.len() - 1;
        match is_send {
            true => self.ask(at, TransferDirection::ToHere, Vec::new()),
            false => Step::Nothing,
        }
    }

    fn ask(&mut self, at: usize, direction: TransferDirection, wanted: Vec<Wanted>) -> Step {
        self.last_handle += 1;
        let handle = self.last_handle;
        let paths = wanted.iter().map(|wanted| wanted.path.clone()).collect();
        self.sessions[at].stage = Stage::Asked { handle, direction, wanted };
        Step::Ask(TransferRequest { handle, direction, paths })
    }

    /// Handles a command about a file.
    fn go_on(&mut self, at: usize, command: &TransferCommand) -> Step {
        let recipient = self.recipient(at);
        match &mut self.sessions[at].stage {
            Stage::Naming { count, wanted } if command.action == TransferAction::File => {
                let Some(path) = command.name.clone() else {
                    return self.fail(at, "EINVAL:A path is not valid");
                };
                wanted.push(Wanted { file_id: command.file_id.clone(), path });
                if (wanted.len() as u64) < *count {
                    return Step::Nothing;
                }
                let wanted = std::mem::take(wanted);
                self.ask(at, TransferDirection::FromHere, wanted)
            }
            // The program must wait for the answer.
            Stage::Naming { .. } | Stage::Asked { .. } => {
                self.fail(at, "EINVAL:A command came before the answer")
            }
            Stage::Accepted(folder) => Step::Arrive(recipient, folder.clone()),
            Stage::Serving(serving) => {
                if command.action != TransferAction::File {
                    return Step::Nothing;
                }
                let file_id = &command.file_id;
                if command.is_delta {
                    let status = "EINVAL:Only whole files are sent, no changes (rsync)";
                    return Step::Reply(recipient.fail(file_id, status));
                }
                let fetch = Fetch {
                    file_id: file_id.clone(),
                    path: command.name.clone().unwrap_or_default(),
                    is_compressed: command.is_compressed,
                };
                match serving.send(fetch) {
                    Ok(()) => Step::Nothing,
                    Err(TrySendError::Full(_)) => {
                        let status = "EBUSY:Too many files are asked for at once";
                        Step::Reply(recipient.fail(file_id, status))
                    }
                    // The files could not be listed, or the program no longer reads.
                    Err(TrySendError::Disconnected(_)) => {
                        self.remove(at);
                        Step::Nothing
                    }
                }
            }
        }
    }

    /// Ends a session with an error.
    fn fail(&mut self, at: usize, status: &str) -> Step {
        Step::Drop(self.remove(at).fail("", status))
    }

    fn recipient(&self, at: usize) -> Recipient {
        let session = &self.sessions[at];
        Recipient { id: Arc::clone(&session.id), quiet: session.quiet }
    }

    fn remove(&mut self, at: usize) -> Recipient {
        let recipient = self.recipient(at);
        self.sessions.remove(at);
        recipient
    }

    /// Handles the user's answer: the folder beneath which the session may read and write, or `None` to refuse. `None` if
    /// the request no longer exists.
    pub(crate) fn answer(&mut self, handle: u64, folder: Option<PathBuf>) -> Option<Answered> {
        let is_it = |session: &Session| matches!(session.stage, Stage::Asked { handle: own, .. } if own == handle);
        let at = self.sessions.iter().position(is_it)?;
        let Some(folder) = folder else {
            let status = "EPERM:User refused the transfer";
            return Some(Answered::Reply(self.remove(at).fail("", status)));
        };
        let recipient = self.recipient(at);
        let Stage::Asked { direction, wanted, .. } = &mut self.sessions[at].stage else {
            return None;
        };
        match direction {
            TransferDirection::ToHere => {
                self.sessions[at].stage = Stage::Accepted(folder);
                let status = TransferReply { status: "OK", ..TransferReply::default() };
                Some(Answered::Reply(recipient.acknowledge(status)))
            }
            TransferDirection::FromHere => Some(Answered::Serve(recipient, std::mem::take(wanted))),
        }
    }

    /// Stores the handle of the thread that serves a session. If the session has ended meanwhile, drops it, which ends
    /// the thread.
    pub(crate) fn begin_serving(&mut self, recipient: &Recipient, serving: Serving) {
        if let Some(session) = self.sessions.iter_mut().find(|session| session.id == recipient.id) {
            session.stage = Stage::Serving(serving);
        }
    }

    /// Ends all sessions.
    pub(crate) fn clear(&mut self) {
        self.sessions.clear();
    }
}
