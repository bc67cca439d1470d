//! Splits a stream of bytes into messages of limited length, and frames outgoing messages.

mod content_length;
mod lines;

pub use content_length::ContentLength;
pub use lines::Lines;

/// A way to delimit messages in a stream. The value contains the bytes of one connection that were read and not handled
/// yet.
pub trait Framing: Default + Send + Sync + 'static {
    /// The next message. It may have at most `longest` bytes.
    fn next(&mut self, longest: usize) -> FrameRead<'_>;

    /// The number of bytes in the buffer.
    fn buffered(&self) -> usize;

    /// The buffer to which the next bytes must be appended.
    fn space(&mut self) -> &mut Vec<u8>;

    /// The bytes after the last handled message.
    fn into_rest(self) -> Vec<u8>;

    /// Appends a message and its frame to `out`, and leaves `message` empty.
    fn frame(message: &mut Vec<u8>, out: &mut Vec<u8>);
}

/// The next thing in the stream.
#[derive(Debug, PartialEq, Eq)]
pub enum FrameRead<'a> {
    /// A message without its frame.
    Message(&'a [u8]),
    /// There is no complete message yet. Read more bytes into [`Framing::space`].
    More,
    /// The stream began with an HTTP request.
    Http,
    /// The message exceeds the maximum length.
    TooLong,
    /// The frame is invalid, so the rest of the stream is unusable. Contains the reason.
    Broken(&'static str),
}

/// The minimum free capacity of a connection's buffer, in bytes.
const IDLE: usize = 4 << 10;
/// The maximum capacity that a buffer keeps after a long message, in bytes.
const KEPT: usize = 256 << 10;

/// Makes space for more bytes. `start`: the position of the first unhandled byte.
fn make_room(buffer: &mut Vec<u8>, start: &mut usize) {
    if *start > 0 {
        buffer.drain(..*start);
        *start = 0;
        if buffer.len() < KEPT {
            buffer.shrink_to(KEPT);
        }
    }
    if buffer.capacity() - buffer.len() < IDLE {
        // `reserve` doubles the capacity, so a long message is copied only a few times.
        buffer.reserve(IDLE);
    }
}

#[cfg(test)]
mod tests {
    use super::{FrameRead, Framing};

    /// The messages that are found if the input arrives in these chunks. A message may have at most 64 bytes. If the
    /// input is refused, the list ends with the refusal in angle brackets.
    pub(super) fn messages_of(mut framing: impl Framing, chunks: &[&[u8]]) -> Vec<String> {
        let mut seen = Vec::new();
        for chunk in chunks {
            framing.space().extend_from_slice(chunk);
            loop {
                match framing.next(64) {
                    FrameRead::Message(message) => {
                        seen.push(String::from_utf8(message.to_vec()).unwrap());
                    }
                    FrameRead::More => break,
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
