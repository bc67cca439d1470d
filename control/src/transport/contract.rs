//! The interface between a dialect and a connection.
//!
//! A dialect is a protocol: it interprets messages and writes replies. The connection reads, frames and sends messages, and
//! enforces limits. A dialect calls methods only through its [`Peer`](super::peer::Peer).

use std::{fmt, future::Future, pin::Pin, time::Duration};

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};

use super::peer::Peer;
use crate::{caller::Caller, transport::framing::Framing};

/// A protocol. It defines names, message formats, login, error codes, and how many requests of a connection run
/// concurrently.
pub trait Dialect: Send + Sync + 'static {
    /// The way in which messages are framed.
    type Framing: Framing;

    /// The number of requests of one connection that run concurrently. If it is 1, they are answered in their order.
    /// Otherwise, each is answered when it ends, and all are dropped when the client's input ends. Before login,
    /// requests always run one at a time.
    const AT_ONCE: usize = 1;

    /// Handles a message, and writes the reply to `reply`. At first, `reply` is empty. If it stays empty, nothing is
    /// sent. A concurrent request is dropped when its connection ends.
    fn answer<'a>(
        &'a self,
        peer: &'a Peer,
        message: &'a [u8],
        reply: &'a mut Vec<u8>,
    ) -> impl Future<Output = MessageEffect> + Send + 'a;

    /// Whether a message is handled even if the limit of concurrent requests is reached, such as a cancellation.
    /// Handling such a message must not wait.
    fn is_urgent(&self, message: &[u8]) -> bool {
        let _ = message;
        false
    }

    /// Writes an event for a client that subscribed to it.
    fn write_event(&self, event: &Value, message: &mut Vec<u8>);

    /// Writes the reason why the server closes a connection.
    fn write_refusal(&self, refusal: &Refusal, message: &mut Vec<u8>);
}

/// The effect of a message on its connection.
pub enum MessageEffect {
    /// No effect on the connection.
    Answered,
    /// The client has logged in. Its leases and subscriptions under another token end.
    LoggedIn(Caller),
    /// The client has logged in, and after the reply, the connection switches to another protocol.
    HandedOver(Caller, Handover),
}

/// Serves the rest of a connection, with its input and output.
pub type Handover =
    Box<dyn FnOnce(Input, Output) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send>;
/// The bytes from a client.
pub type Input = Box<dyn AsyncRead + Send + Unpin>;
/// The bytes to a client.
pub type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// Why the server closes or refuses a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A message is longer than this maximum, in bytes.
    TooLong(usize),
    /// A message's frame is invalid. Contains the reason.
    Broken(&'static str),
    /// The client's token exceeds its share of the memory for long messages, or of connections. Contains the message
    /// for the client.
    OverBudget(String),
    /// The client did not log in within this time.
    LoginTime(Duration),
    /// Too many connections have not logged in, and this connection is the oldest of them.
    LoginCount,
    /// Another user connected to the socket.
    OtherUser,
    /// The process has no file descriptor left.
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
