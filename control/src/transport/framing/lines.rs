//! Framing with one message per line.

use super::{FrameRead, Framing, make_room};

/// The bytes of a connection that were read and not handled yet.
#[derive(Default)]
pub struct Lines {
    buffer: Vec<u8>,
    /// The position of the first unhandled line.
    start: usize,
    /// No line end is between `start` and this position.
    scanned: usize,
    /// Whether the first line was checked. It is then not an HTTP request.
    checked: bool,
}

impl Framing for Lines {
    fn next(&mut self, longest: usize) -> FrameRead<'_> {
        let end = find_newline(&self.buffer[self.scanned..]).map(|i| self.scanned + i);
        if !self.checked {
            let first = &self.buffer[self.start..end.unwrap_or(self.buffer.len())];
            match begins_like_http(first, end.is_some()) {
                Some(true) => return FrameRead::Http,
                // A blank line can be part of either protocol, so the next line is checked as well.
                Some(false) => self.checked = !first.trim_ascii().is_empty(),
                None => {}
            }
        }
        let length = end.unwrap_or(self.buffer.len()) - self.start;
        if length > longest {
            return FrameRead::TooLong;
        }
        let Some(end) = end else {
            self.scanned = self.buffer.len();
            return FrameRead::More;
        };
        let line = self.start..end;
        self.start = end + 1;
        self.scanned = self.start;
        FrameRead::Message(&self.buffer[line])
    }

    fn buffered(&self) -> usize {
        self.buffer.len()
    }

    fn space(&mut self) -> &mut Vec<u8> {
        self.scanned -= self.start;
        make_room(&mut self.buffer, &mut self.start);
        &mut self.buffer
    }

    fn into_rest(mut self) -> Vec<u8> {
        self.buffer.drain(..self.start);
        self.buffer
    }

    fn frame(message: &mut Vec<u8>, out: &mut Vec<u8>) {
        message.push(b'\n');
        if out.is_empty() {
            std::mem::swap(message, out);
        } else {
            out.append(message);
        }
    }
}

fn find_newline(bytes: &[u8]) -> Option<usize> {
    memchr::memchr(b'\n', bytes)
}

/// Whether the first line of a connection is an HTTP request line. `None` if more bytes are needed. A web page can make
/// a browser send any text after the request line, so no text after it may be processed.
fn begins_like_http(line: &[u8], is_whole: bool) -> Option<bool> {
    const METHODS: [&[u8]; 10] = [
        b"GET ",
        b"HEAD ",
        b"POST ",
        b"PUT ",
        b"DELETE ",
        b"CONNECT ",
        b"OPTIONS ",
        b"TRACE ",
        b"PATCH ",
        b"PRI ",
    ];
    let line = line.trim_ascii_start();
    if METHODS.iter().any(|method| line.starts_with(method)) {
        return Some(true);
    }
    if line.first().is_some_and(|&byte| byte == b'{') {
        return Some(false);
    }
    if is_whole {
        return Some(memchr::memmem::find(line, b" HTTP/").is_some());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{
        super::{KEPT, tests::messages_of},
        *,
    };

    fn lines(chunks: &[&str]) -> Vec<String> {
        let chunks: Vec<_> = chunks.iter().map(|chunk| chunk.as_bytes()).collect();
        messages_of(Lines::default(), &chunks)
    }

    #[test]
    fn lines_are_framed_at_every_split() {
        let text = "{\"a\":1}\n\n  \r\n{\"b\":2}\r\n{\"half";
        let whole = lines(&[text]);
        assert_eq!(whole, ["{\"a\":1}", "", "  \r", "{\"b\":2}\r"]);
        for cut in 0..text.len() {
            assert_eq!(lines(&[&text[..cut], &text[cut..]]), whole);
        }
        let bytes: Vec<_> = text.split_inclusive(|_| true).collect();
        assert_eq!(lines(&bytes), whole);
    }

    #[test]
    fn a_line_longer_than_the_limit_is_refused() {
        let longest = "{".repeat(64);
        assert_eq!(lines(&[&format!("{longest}\n{{\n")]), [longest.as_str(), "{"]);
        assert_eq!(lines(&[&format!("{{\n{longest}x")]), ["{", "<TooLong>"]);
        assert_eq!(lines(&[&format!("{longest}x\n")]), ["<TooLong>"]);
    }

    #[test]
    fn http_is_detected_only_in_the_first_line() {
        assert_eq!(lines(&["GE", "T ", "/ HTTP/1.1\r\n"]), ["<Http>"]);
        assert_eq!(
            lines(&["\r\n POST /"]),
            ["", "<Http>"].map(|s| if s.is_empty() { "\r" } else { s })
        );
        assert_eq!(lines(&["{}\nGET / HTTP/1.1\n"]), ["{}", "GET / HTTP/1.1"]);
        assert_eq!(lines(&["brew /pot HTTP/1.1\n"]), ["<Http>"]);
        assert_eq!(lines(&["GETTING\n"]), ["GETTING"]);
        assert_eq!(lines(&["garbage\nPOST / HTTP/1.1\n"]), ["garbage", "POST / HTTP/1.1"]);
    }

    #[test]
    fn a_long_line_leaves_no_large_buffer() {
        let mut lines = Lines::default();
        lines.space().extend_from_slice(&vec![b'x'; 8 << 20]);
        lines.space().push(b'\n');
        assert!(matches!(lines.next(16 << 20), FrameRead::Message(_)));
        assert_eq!(lines.next(16 << 20), FrameRead::More);
        assert!(lines.space().capacity() <= KEPT);
    }
}
