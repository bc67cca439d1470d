//! Frames: how messages follow each other on a stream.
//!
//! A frame is a header of 8 bytes and a body: the length of the body (4 bytes, little-endian), the kind of the message
//! (2 bytes), and the number of descriptors that come with the frame's first byte (2 bytes). Every version of the
//! protocol uses these frames.

use crate::fields::Broken;

/// The length of a frame's header, in bytes.
pub const HEADER: usize = 8;

/// The maximum length of a frame's body, in bytes. Linux limits the arguments and the environment of a program to 6 MiB,
/// and to 2 MiB with the usual limit of the stack.
pub const MAX_BODY: usize = 4 << 20;

/// A message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) kind: u16,
    /// The number of descriptors that the sender attached.
    pub(crate) descriptors: u16,
    pub(crate) body: Vec<u8>,
}

impl Frame {
    /// The bytes of the frame.
    ///
    /// # Errors
    /// If the body is longer than [`MAX_BODY`].
    pub(crate) fn encode(&self) -> Result<Vec<u8>, Broken> {
        check_length(self.body.len())?;
        let mut bytes = Vec::with_capacity(HEADER + self.body.len());
        bytes.extend_from_slice(&(self.body.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&self.kind.to_le_bytes());
        bytes.extend_from_slice(&self.descriptors.to_le_bytes());
        bytes.extend_from_slice(&self.body);
        Ok(bytes)
    }
}

fn check_length(length: usize) -> Result<(), Broken> {
    match length > MAX_BODY {
        true => Err(Broken(format!("a message of {length} bytes is longer than {MAX_BODY}"))),
        false => Ok(()),
    }
}

/// Received bytes that are not yet a whole frame. At most one frame, and the bytes of one further read.
#[derive(Debug, Default)]
pub(crate) struct Inbox(Vec<u8>);

impl Inbox {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Removes the first frame. `None` if it has not arrived completely.
    ///
    /// # Errors
    /// If its header announces a body that is too long. The stream is then useless.
    pub(crate) fn next(&mut self) -> Result<Option<Frame>, Broken> {
        let Some((header, rest)) = self.0.split_first_chunk::<HEADER>() else { return Ok(None) };
        let [a, b, c, d, kind @ .., e, f] = *header;
        let length = u32::from_le_bytes([a, b, c, d]) as usize;
        check_length(length)?;
        let Some(body) = rest.get(..length) else { return Ok(None) };
        let frame = Frame {
            kind: u16::from_le_bytes(kind),
            descriptors: u16::from_le_bytes([e, f]),
            body: body.to_vec(),
        };
        self.0.drain(..HEADER + length);
        if self.0.is_empty() {
            // A connection that is silent for hours needs no buffer.
            self.0 = Vec::new();
        }
        Ok(Some(frame))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_however_they_arrive() {
        let frames = [
            Frame { kind: 1, descriptors: 0, body: b"first".to_vec() },
            Frame { kind: 0x8002, descriptors: 3, body: Vec::new() },
        ];
        let bytes: Vec<u8> = frames.iter().flat_map(|frame| frame.encode().unwrap()).collect();
        for piece in 1..=bytes.len() {
            let (mut inbox, mut read) = (Inbox::default(), Vec::new());
            for piece in bytes.chunks(piece) {
                inbox.push(piece);
                while let Some(frame) = inbox.next().unwrap() {
                    read.push(frame);
                }
            }
            assert_eq!(read, frames, "{piece}");
            assert_eq!(inbox.len(), 0);
        }
    }

    #[test]
    fn a_body_that_is_too_long_is_refused_by_its_header() {
        let mut inbox = Inbox::default();
        inbox.push(&(MAX_BODY as u32 + 1).to_le_bytes());
        assert_eq!(inbox.next(), Ok(None));
        inbox.push(&[1, 0, 0, 0]);
        let error = inbox.next().unwrap_err().to_string();
        assert_eq!(error, "a message of 4194305 bytes is longer than 4194304");
        let body = vec![0; MAX_BODY + 1];
        assert!(Frame { kind: 1, descriptors: 0, body }.encode().is_err());
    }
}
