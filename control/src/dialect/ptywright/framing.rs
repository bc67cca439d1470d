//! Reads and writes messages on a stream of bytes, in either framing.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use crate::transport::{
    contract::Refusal,
    framing::{FrameRead, Framing},
    limits::LONGEST_MESSAGE,
};

/// The messages that a client sends.
pub struct Messages<F, R> {
    framing: F,
    reader: R,
}

/// The result of reading from a client.
#[derive(Debug, PartialEq, Eq)]
pub enum Received {
    /// A message, without its frame.
    Message(Vec<u8>),
    /// The client sends no more messages.
    End,
    /// The stream can't be read any further. Contains the reason, as a message for the client.
    Broken(String),
}

impl<F: Framing, R: AsyncRead + Unpin> Messages<F, R> {
    /// Creates a reader of the messages in a stream.
    pub fn new(reader: R) -> Self {
        Self { framing: F::default(), reader }
    }

    /// The next message. Cancel-safe.
    ///
    /// # Errors
    /// The stream can't be read.
    pub async fn next(&mut self) -> io::Result<Received> {
        loop {
            match self.framing.next(LONGEST_MESSAGE) {
                FrameRead::Message(message) => return Ok(Received::Message(message.to_vec())),
                FrameRead::More => {}
                FrameRead::Http => {
                    return Ok(Received::Broken("this is JSON-RPC, not HTTP".to_owned()));
                }
                FrameRead::TooLong => {
                    return Ok(Received::Broken(Refusal::TooLong(LONGEST_MESSAGE).to_string()));
                }
                FrameRead::Broken(why) => return Ok(Received::Broken(why.to_owned())),
            }
            if self.reader.read_buf(self.framing.space()).await? == 0 {
                return Ok(Received::End);
            }
        }
    }
}

/// Writes a message in its frame.
///
/// # Errors
/// The stream can't be written.
pub async fn send<F: Framing>(
    writer: &mut (impl AsyncWrite + Unpin),
    mut message: Vec<u8>,
) -> io::Result<()> {
    let mut framed = Vec::new();
    F::frame(&mut message, &mut framed);
    writer.write_all(&framed).await?;
    writer.flush().await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::framing::{ContentLength, Lines};

    async fn received<F: Framing>(bytes: &[u8]) -> Vec<Received> {
        let mut messages = Messages::<F, _>::new(bytes);
        let mut all = Vec::new();
        loop {
            let received = messages.next().await.unwrap();
            let is_last = !matches!(received, Received::Message(_));
            all.push(received);
            if is_last {
                return all;
            }
        }
    }

    #[tokio::test]
    async fn both_framings_carry_the_same_messages() {
        let message = |text: &str| Received::Message(text.as_bytes().to_vec());
        let lines = received::<Lines>(b"{\"a\":1}\n\n{\"b\":2}\n").await;
        assert_eq!(lines, [message("{\"a\":1}"), message(""), message("{\"b\":2}"), Received::End]);
        let mut framed = Vec::new();
        send::<ContentLength>(&mut framed, b"{\"a\":1}".to_vec()).await.unwrap();
        assert_eq!(framed, b"Content-Length: 7\r\n\r\n{\"a\":1}");
        assert_eq!(received::<ContentLength>(&framed).await, [message("{\"a\":1}"), Received::End]);
    }

    #[tokio::test]
    async fn invalid_and_too_long_frames_are_reported() {
        let broken = received::<ContentLength>(b"Content-Length: x\r\n\r\n").await;
        assert_eq!(broken, [Received::Broken("the Content-Length is no number".to_owned())]);
        let long = format!("Content-Length: {}\r\n\r\n", LONGEST_MESSAGE + 1);
        let long = received::<ContentLength>(long.as_bytes()).await;
        assert!(matches!(&long[..], [Received::Broken(why)] if why.contains("longer than")));
        let http = received::<Lines>(b"GET / HTTP/1.1\r\n").await;
        assert_eq!(http, [Received::Broken("this is JSON-RPC, not HTTP".to_owned())]);
    }
}
