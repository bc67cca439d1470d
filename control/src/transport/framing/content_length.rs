//! Messages with headers, as in the [Language Server Protocol]: `Content-Length: N`, a blank line, N bytes.
//!
//! [Language Server Protocol]: https://microsoft.github.io/language-server-protocol/specifications/base/0.9/specification/

use std::io::Write as _;

use super::{FrameRead, Framing, make_room};

/// The bytes of a connection that were read and not handled yet.
#[derive(Default)]
pub struct ContentLength {
    buffer: Vec<u8>,
    /// The position of the first unhandled byte.
    start: usize,
    /// The length of the body that begins at `start`. `None` if headers begin there.
    body: Option<usize>,
}

/// The maximum number of bytes of a message's headers.
const LONGEST_HEADERS: usize = 4 << 10;

impl Framing for ContentLength {
    fn next(&mut self, longest: usize) -> FrameRead<'_> {
        let length = match self.body {
            Some(length) => length,
            None => {
                let rest = &self.buffer[self.start..];
                let Some(end) = memchr::memmem::find(rest, b"\r\n\r\n") else {
                    return match rest.len() > LONGEST_HEADERS {
                        true => FrameRead::Broken("the headers of a message are too long"),
                        false => FrameRead::More,
                    };
                };
                let length = match content_length(&rest[..end]) {
                    Ok(length) => length,
                    Err(why) => return FrameRead::Broken(why),
                };
                self.start += end + 4;
                self.body = Some(length);
                length
            }
        };
        if length > longest {
            return FrameRead::TooLong;
        }
        let body = self.start..self.start + length;
        if self.buffer.len() < body.end {
            return FrameRead::More;
        }
        self.start = body.end;
        self.body = None;
        FrameRead::Message(&self.buffer[body])
    }

    fn buffered(&self) -> usize {
        self.buffer.len()
    }

    fn space(&mut self) -> &mut Vec<u8> {
        make_room(&mut self.buffer, &mut self.start);
        &mut self.buffer
    }

    fn into_rest(mut self) -> Vec<u8> {
        self.buffer.drain(..self.start);
        self.buffer
    }

    fn frame(message: &mut Vec<u8>, out: &mut Vec<u8>) {
        // Writing to memory can't fail.
        let _ = write!(out, "Content-Length: {}\r\n\r\n", message.len());
        out.append(message);
    }
}

/// The length in a message's headers. `Content-Type` and all other headers are ignored.
fn content_length(headers: &[u8]) -> Result<usize, &'static str> {
    let headers = str::from_utf8(headers).map_err(|_| "the headers are no text")?;
    let mut length = None;
    for header in headers.split("\r\n") {
        let (name, value) = header.split_once(':').ok_or("a header has no colon")?;
        if name.trim().eq_ignore_ascii_case("content-length") {
            let value = value.trim().parse().map_err(|_| "the Content-Length is no number")?;
            if length.replace(value).is_some() {
                return Err("there are two Content-Lengths");
            }
        }
    }
    length.ok_or("there is no Content-Length")
}

#[cfg(test)]
mod tests {
    use super::{super::tests::messages_of, *};

    fn messages(chunks: &[&[u8]]) -> Vec<String> {
        messages_of(ContentLength::default(), chunks)
    }

    #[test]
    fn messages_are_framed_at_every_split() {
        let mut text = Vec::new();
        for message in ["{\"a\":1}", "", "two\r\n\r\nlines"] {
            ContentLength::frame(&mut message.as_bytes().to_vec(), &mut text);
        }
        text.extend_from_slice(b"content-type: x; charset=utf-8\r\nCONTENT-LENGTH:2\r\n\r\nokCont");
        let whole = messages(&[&text]);
        assert_eq!(whole, ["{\"a\":1}", "", "two\r\n\r\nlines", "ok"]);
        for cut in 0..text.len() {
            assert_eq!(messages(&[&text[..cut], &text[cut..]]), whole, "cut at {cut}");
        }
        let bytes: Vec<_> = text.chunks(1).collect();
        assert_eq!(messages(&bytes), whole);
    }

    #[test]
    fn a_too_long_body_is_refused_by_its_header() {
        let at_most = [b"Content-Length: 64\r\n\r\n".as_slice(), &[b'x'; 64]].concat();
        assert_eq!(messages(&[&at_most]), ["x".repeat(64)]);
        for headers in
            ["Content-Length: 65\r\n\r\n", "Content-Length: 18446744073709551615\r\n\r\n"]
        {
            assert_eq!(messages(&[headers.as_bytes()]), ["<TooLong>"]);
        }
    }

    #[test]
    fn an_invalid_frame_is_reported() {
        let broken = |text: &str| messages(&[text.as_bytes()]).concat();
        assert!(broken("{\"id\":1}\r\n\r\n").contains("no Content-Length"));
        assert!(broken("Content-Type: x\r\n\r\n").contains("no Content-Length"));
        assert!(broken("Content-Length: -1\r\n\r\n").contains("no number"));
        assert!(broken("Content-Length: 1\r\nContent-Length: 2\r\n\r\n").contains("two"));
        assert!(broken("hello\r\n\r\n").contains("no colon"));
        assert!(broken(&"x".repeat(LONGEST_HEADERS + 1)).contains("too long"));
    }

    #[test]
    fn bytes_after_the_last_message_are_kept() {
        let mut framing = ContentLength::default();
        framing.space().extend_from_slice(b"Content-Length: 1\r\n\r\nxrest");
        assert_eq!(framing.next(64), FrameRead::Message(b"x"));
        assert_eq!(framing.into_rest(), b"rest");
    }
}
