//! The keeper's side of a connection: bytes of a client that are not yet a message, and replies that the client has not
//! read yet.

use std::{
    collections::VecDeque,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    rc::Rc,
};

use rustix::io::Errno;

use crate::{
    fields::Broken,
    frame::{Frame, Inbox},
    message::Reply,
    process::{Process, ProcessId},
    socket,
};

/// The number of bytes that are read from a connection before other connections get their turn.
const TURN: usize = 64 * 1024;

/// Bytes to send, and the descriptors to send with the first of them.
struct Outgoing {
    bytes: Vec<u8>,
    sent: usize,
    descriptors: Vec<OwnedFd>,
}

/// A connection with a client.
pub(crate) struct Connection {
    /// A number that no other connection of this keeper has.
    pub(crate) number: u64,
    /// The name of the client. `None` until it has sent its greeting.
    pub(crate) name: Option<String>,
    /// The process that has connected. `None` if the system does not report it.
    pub(crate) process: Option<Rc<Process>>,
    socket: OwnedFd,
    inbox: Inbox,
    outbox: VecDeque<Outgoing>,
}

/// Why a connection ends.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The client closed it.
    Closed,
    /// The client violated the protocol.
    Refused(String),
}

impl Connection {
    pub(crate) fn new(number: u64, socket: OwnedFd, process: Option<Rc<Process>>) -> Self {
        let (inbox, outbox) = (Inbox::default(), VecDeque::new());
        Self { number, name: None, process, socket, inbox, outbox }
    }

    /// Whether this process has connected.
    pub(crate) fn is_of(&self, process: ProcessId) -> bool {
        self.process.as_ref().is_some_and(|it| it.id == process)
    }

    /// The number of received bytes that wait for the rest of their message.
    pub(crate) fn unfinished(&self) -> usize {
        self.inbox.len()
    }

    /// Whether replies wait for the client to read them. While they wait, no further request is served.
    pub(crate) fn has_unsent(&self) -> bool {
        !self.outbox.is_empty()
    }

    /// Receives what is available, up to a bound.
    pub(crate) fn receive(&mut self) -> Result<(), End> {
        let mut buffer = [0; TURN];
        // The receiver passes no space for descriptors, so the system closes them.
        match socket::receive(&self.socket, &mut buffer, None) {
            Ok(received) if received.has_dropped => {
                Err(End::Refused("it sent descriptors, which no request has".into()))
            }
            Ok(received) if received.bytes == 0 => match self.inbox.len() {
                0 => Err(End::Closed),
                rest => Err(End::Refused(format!("it ended inside a message, after {rest} bytes"))),
            },
            Ok(received) => {
                self.inbox.push(&buffer[..received.bytes]);
                Ok(())
            }
            Err(Errno::AGAIN) => Ok(()),
            Err(_) => Err(End::Closed),
        }
    }

    /// The next whole message.
    pub(crate) fn next(&mut self) -> Result<Option<Frame>, Broken> {
        self.inbox.next()
    }

    /// Sends a reply, or as much of it as fits in the client's buffer.
    pub(crate) fn reply(&mut self, reply: &Reply, descriptors: Vec<OwnedFd>) -> Result<(), End> {
        let frame = reply.to_frame(descriptors.len() as u16);
        let bytes = frame.encode().map_err(|error| End::Refused(error.to_string()))?;
        self.outbox.push_back(Outgoing { bytes, sent: 0, descriptors });
        self.flush()
    }

    /// Sends the waiting replies, as far as they fit in the client's buffer.
    pub(crate) fn flush(&mut self) -> Result<(), End> {
        while let Some(next) = self.outbox.front_mut() {
            let descriptors: Vec<_> = next.descriptors.iter().map(AsFd::as_fd).collect();
            match socket::send(&self.socket, &next.bytes[next.sent..], &descriptors) {
                Ok(count) => {
                    next.sent += count;
                    // The descriptors were sent with the first byte.
                    next.descriptors.clear();
                }
                Err(Errno::AGAIN) => return Ok(()),
                Err(_) => return Err(End::Closed),
            }
            if next.sent == next.bytes.len() {
                self.outbox.pop_front();
            }
        }
        Ok(())
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
