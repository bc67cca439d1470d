//! Bytes as messages, within bounds, and messages as bytes.

mod content_length;
mod lines;

pub use content_length::ContentLength;
pub use lines::Lines;

/// How messages are told apart in a stream of bytes: what has been read and not yet handled, of one connection.
pub trait Framing: Default + Send + Sync + 'static {
    /// The next message of at most `longest` bytes.
    fn next(&mut self, longest: usize) -> Next<'_>;

    /// Where to append what is read next.
    fn space(&mut self) -> &mut Vec<u8>;

    /// What has been read behind the messages that were handled.
    fn into_rest(self) -> Vec<u8>;

    /// Appends a message and its frame to `out`, and leaves `message` empty.
    fn frame(message: &mut Vec<u8>, out: &mut Vec<u8>);
}

/// The next thing there is.
#[derive(Debug, PartialEq, Eq)]
pub enum Next<'a> {
    /// A message without its frame.
    Message(&'a [u8]),
    /// No whole message: read into [`Framing::space`].
    More,
    /// The connection began like HTTP.
    Http,
    /// The message is longer than it may be.
    TooLong,
    /// The frame can't be read, nor anything behind it; why.
    Broken(&'static str),
}

/// Room that is kept for a connection that says nothing.
const IDLE: usize = 4 << 10;
/// Room that is kept for one that has sent a long message.
const KEPT: usize = 256 << 10;

/// Makes room behind what is unhandled, which begins at `start`.
fn make_room(buffer: &mut Vec<u8>, start: &mut usize) {
    if *start > 0 {
        buffer.drain(..*start);
        *start = 0;
        if buffer.len() < KEPT {
            buffer.shrink_to(KEPT);
        }
    }
    if buffer.capacity() - buffer.len() < IDLE {
        // Doubles, so that a long message is copied a few times only.
        buffer.reserve(IDLE);
    }
}

#[cfg(test)]
mod tests {
    use super::{Framing, Next};

    /// The messages in chunks of input, at most 64 bytes long. A refusal ends them, in angle brackets.
    pub(super) fn messages_of(mut framing: impl Framing, chunks: &[&[u8]]) -> Vec<String> {
        let mut seen = Vec::new();
        for chunk in chunks {
            framing.space().extend_from_slice(chunk);
            loop {
                match framing.next(64) {
                    Next::Message(message) => {
                        seen.push(String::from_utf8(message.to_vec()).unwrap());
                    }
                    Next::More => break,
                    end => {
                        seen.push(format!("<{end:?}>"));
                        return seen;
                    }
                }
            }
        }
        seen
    }
}
