//! File transfers of a pane's program (OSC 5113).

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, atomic::Ordering},
    thread,
};

use unterm_term::{Event, TransferAction, TransferCommand};

use super::Pane;
use crate::{
    MuxEvent, lock,
    transfer::{Answered, Arriving, Recipient, Serving, Step, Wanted, serve, status_of},
};

/// The bytes that may wait for the program before more data of a file is queued.
const WAITING: usize = 64 << 10;

/// The files that are arriving, by session. The pane's reader owns them.
pub(super) type ArrivingFiles = HashMap<Arc<str>, Arriving>;

impl Pane {
    /// Carries out the transfer commands among events, and removes them. Runs on the reader's thread, so a program can't
    /// send files faster than they are written.
    pub(super) fn transfer(&self, files: &mut ArrivingFiles, events: &mut Vec<Event>) {
        let is_one = |event: &mut Event| matches!(event, Event::Transfer(_));
        let commands: Vec<_> = events.extract_if(.., is_one).collect();
        for command in commands {
            if let Event::Transfer(command) = command {
                self.transfer_command(files, &command);
            }
        }
    }

    fn transfer_command(&self, files: &mut ArrivingFiles, command: &TransferCommand) {
        let has_user = self.owner.upgrade().is_some_and(|owner| owner.has_user());
        let step = self.transfers.lock().handle(command, has_user);
        lock::assert_none();
        match step {
            Step::Nothing => {}
            Step::Reply(reply) => self.transfer_reply(reply),
            Step::Ask(request) => {
                self.observers.event(MuxEvent::Transfer { pane: self.id, request });
            }
            Step::Arrive(to, folder) => {
                let reply = match files.remove(&to.id).map_or_else(|| Arriving::new(&folder), Ok) {
                    Ok(arriving) if command.action == TransferAction::Finish => {
                        arriving.finish(&to)
                    }
                    Ok(mut arriving) => {
                        let reply = arriving.handle(&to, command);
                        files.insert(Arc::clone(&to.id), arriving);
                        reply
                    }
                    Err(error) => to.fail(&command.file_id, &status_of(&error)),
                };
                self.transfer_reply(reply);
            }
            Step::Drop(reply) => {
                files.remove(command.id.as_str());
                // Wake the threads that wait for room, so that they notice that their session has ended.
                self.queue.wake_senders();
                self.transfer_reply(reply);
            }
        }
    }

    fn transfer_reply(&self, reply: Option<String>) {
        if let Some(reply) = reply {
            self.reply(reply.as_bytes());
        }
    }

    /// Answers a request to transfer files ([`MuxEvent::Transfer`]): `folder` is the folder that the session can't leave,
    /// and `None` refuses it. Has no effect if the request no longer exists.
    pub fn answer_transfer(&self, handle: u64, folder: Option<PathBuf>) {
        let answered = self.transfers.lock().answer(handle, folder.clone());
        match (answered, folder) {
            (Some(Answered::Reply(reply)), _) => self.transfer_reply(reply),
            (Some(Answered::Serve(to, wanted)), Some(folder)) => self.serve(to, wanted, folder),
            _ => {}
        }
    }

    /// Starts the thread that reads files for a session.
    fn serve(&self, to: Recipient, wanted: Vec<Wanted>, folder: PathBuf) {
        let (serving, fetches, has_ended) = Serving::new();
        self.transfers.lock().begin_serving(&to, serving);
        let pane = self.this.clone();
        let run = move || {
            serve(&to, &folder, &wanted, &fetches, |command| {
                let has_ended = || has_ended.load(Ordering::Acquire);
                let pane = pane.upgrade();
                pane.is_some_and(|pane| {
                    pane.queue.push_in_turn(command.as_bytes(), WAITING, has_ended).is_ok()
                })
            });
        };
        let name = format!("pane {} transfer", self.id.0);
        if let Err(error) = thread::Builder::new().name(name).spawn(run) {
            tracing::warn!(pane = self.id.0, %error, "no thread for a file transfer");
        }
    }

    /// Ends all transfers, because their program has ended.
    pub(super) fn end_transfers(&self) {
        self.transfers.lock().clear();
        self.queue.wake_senders();
    }
}
