//! What a dialect is: a protocol that clients speak on a connection.
//!
//! Owns what a dialect and a connection need of each other. The dialect says what messages mean, and writes the replies. The
//! connection reads, frames and sends them, and keeps the bounds. A dialect calls methods through its
//! [`Peer`](super::peer::Peer) only.

use std::{fmt, future::Future, pin::Pin, time::Duration};

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};

use super::peer::Peer;
use crate::{caller::Caller, transport::framing::Framing};

/// A protocol: its names, its shapes, its login, its error codes, and how many requests of a connection run at once.
pub trait Dialect: Send + Sync + 'static {
    /// How messages are told apart.
    type Framing: Framing;

    /// How many requests of one connection are served at once. 1: one after the other, and answered in their order. More:
    /// answered in the order in which they end, and given up when the client's input ends. Until it has logged in, a client
    /// is served one request at a time in any case.
    const AT_ONCE: usize = 1;

    /// Answers one message: writes the reply to `reply`, which is empty. If it stays empty, nothing is sent. A request that runs
    /// beside others is dropped when its connection ends.
    fn answer<'a>(
        &'a self,
        peer: &'a Peer,
        message: &'a [u8],
        reply: &'a mut Vec<u8>,
    ) -> impl Future<Output = Outcome> + Send + 'a;

    /// Whether a message is answered although every place is taken, as a cancellation must be. Its answer must not wait for
    /// anything.
    fn is_urgent(&self, message: &[u8]) -> bool {
        let _ = message;
        false
    }

    /// Writes an event, for a client that subscribed to it.
    fn write_event(&self, event: &Value, message: &mut Vec<u8>);

    /// Writes why a connection is ended.
    fn write_refusal(&self, refusal: &Refusal, message: &mut Vec<u8>);
}

/// What follows from a message beside its reply.
pub enum Outcome {
    /// Nothing.
    Answered,
    /// The client has logged in. What it held and subscribed to under another token ends.
    LoggedIn(Caller),
    /// The same; after the reply, the connection speaks another protocol.
    HandedOver(Caller, Handover),
}

/// Serves a connection from then on: its input, its output.
pub type Handover =
    Box<dyn FnOnce(Input, Output) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send>;
/// What a client sends.
pub type Input = Box<dyn AsyncRead + Send + Unpin>;
/// What a client is sent.
pub type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// Why a connection is ended, or not served at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A message is longer than this many bytes.
    TooLong(usize),
    /// A message's frame can't be read; why.
    Broken(&'static str),
    /// The long messages of the client's token take too much memory; the message for the client.
    OverBudget(String),
    /// The client did not log in within this time.
    LoginTime(Duration),
    /// More connections than may have not logged in, of which this is the oldest.
    LoginCount,
    /// Only the user who runs this instance may connect by its socket.
    OtherUser,
    /// The process has no descriptor left.
    Full,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong(longest) => write!(f, "the message is longer than {longest} bytes"),
            Self::Broken(why) => f.write_str(why),
            Self::OverBudget(why) => f.write_str(why),
            Self::LoginTime(time) => write!(f, "Log in within {} s", time.as_secs_f32()),
            Self::LoginCount => {
                f.write_str("Too many connections have not logged in, and this is the oldest")
            }
            Self::OtherUser => {
                f.write_str("Only the user who runs this Unterm may connect to its socket")
            }
            Self::Full => f.write_str(
                "This Unterm has too many files and connections open to take another. Close some, or start it with a \
                 higher limit (ulimit -n)",
            ),
        }
    }
}
