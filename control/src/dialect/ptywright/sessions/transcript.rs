//! The kept output of a session: a text of limited length, and marks that clients set in it.

use std::collections::BTreeMap;

/// The maximum number of marks of a session.
pub const MOST_MARKS: usize = 64;

/// The last characters of a session's output. Bytes that are not UTF-8 become U+FFFD.
pub struct Transcript {
    text: String,
    /// The offset in `text` where the kept text begins. The text before it is removed now and then.
    start: usize,
    /// The number of kept characters.
    count: usize,
    most: usize,
    /// The number of characters so far.
    end: u64,
    /// The first bytes of a character whose other bytes have not arrived yet.
    partial: Vec<u8>,
    marks: BTreeMap<String, u64>,
}

/// The newest part of the output.
#[derive(Debug, PartialEq, Eq)]
pub struct Delta {
    /// The new characters, preceded by the requested number of earlier characters.
    pub text: String,
    /// The offset in `text` where the new characters begin, in bytes.
    pub start: usize,
    /// The number of output characters up to the end of this part.
    pub end: u64,
    /// Whether some of the requested characters are no longer kept.
    pub is_cut: bool,
}

impl Transcript {
    /// Creates an empty transcript that keeps `most` characters.
    pub fn new(most: usize) -> Self {
        Self {
            text: String::new(),
            start: 0,
            count: 0,
            most,
            end: 0,
            partial: Vec::new(),
            marks: BTreeMap::new(),
        }
    }

    /// The kept text.
    pub fn text(&self) -> &str {
        &self.text[self.start..]
    }

    /// The number of output characters so far.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Appends output.
    pub fn push(&mut self, bytes: &[u8]) {
        let joined;
        let mut rest = if self.partial.is_empty() {
            bytes
        } else {
            joined = [&std::mem::take(&mut self.partial), bytes].concat();
            &joined
        };
        while !rest.is_empty() {
            match str::from_utf8(rest) {
                Ok(text) => {
                    self.append(text);
                    break;
                }
                Err(error) => {
                    let (valid, after) = rest.split_at(error.valid_up_to());
                    self.append(str::from_utf8(valid).unwrap_or_default());
                    let Some(invalid) = error.error_len() else {
                        self.partial = after.to_vec();
                        break;
                    };
                    self.append("\u{fffd}");
                    rest = &after[invalid..];
                }
            }
        }
        self.trim();
    }

    /// Handles the end of the output.
    pub fn finish(&mut self) {
        if !std::mem::take(&mut self.partial).is_empty() {
            self.append("\u{fffd}");
            self.trim();
        }
    }

    fn append(&mut self, text: &str) {
        let count = text.chars().count();
        self.text.push_str(text);
        self.count += count;
        self.end += count as u64;
    }

    fn trim(&mut self) {
        let excess = self.count.saturating_sub(self.most);
        if excess > 0 {
            self.start +=
                self.text().char_indices().nth(excess).map_or(self.text().len(), |(at, _)| at);
            self.count -= excess;
        }
        // The text before `start` is removed only now and then, because moving the kept text after each few characters
        // would take too long.
        if self.start > self.text.len() / 2 {
            self.text.drain(..self.start);
            self.start = 0;
        }
    }

    /// The output after the first `from` characters, preceded by up to `before` characters.
    pub fn after(&self, from: u64, before: u64) -> Delta {
        let wanted = self.end.saturating_sub(from);
        let is_cut = wanted > self.count as u64;
        let text = self.text();
        // Returns the offset in `text` of the last `count` characters.
        let last = |count: u64| {
            let count = usize::try_from(count).unwrap_or(usize::MAX).min(self.count);
            match count {
                0 => text.len(),
                count => text.char_indices().rev().nth(count - 1).map_or(0, |(at, _)| at),
            }
        };
        let (first, newest) = (last(wanted.saturating_add(before)), last(wanted));
        Delta { text: text[first..].to_owned(), start: newest - first, end: self.end, is_cut }
    }

    /// The marks. The value of a label is the number of output characters before the mark.
    pub fn marks(&self) -> &BTreeMap<String, u64> {
        &self.marks
    }

    /// Sets a mark. Returns false if there are already too many marks.
    pub fn mark(&mut self, label: String, at: u64) -> bool {
        if self.marks.len() >= MOST_MARKS && !self.marks.contains_key(&label) {
            return false;
        }
        self.marks.insert(label, at);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_characters_are_kept() {
        let mut transcript = Transcript::new(4);
        for piece in ["ab", "cdé", "f"] {
            transcript.push(piece.as_bytes());
        }
        assert_eq!((transcript.text(), transcript.end()), ("cdéf", 6));
        transcript.push("x".repeat(1000).as_bytes());
        assert_eq!(transcript.text(), "xxxx");
        assert!(transcript.text.len() < 100, "the memory of dropped text is released");
    }

    #[test]
    fn characters_may_come_in_pieces_and_other_bytes_are_replaced() {
        let bytes = "aé漢z".as_bytes();
        for cut in 0..=bytes.len() {
            let mut transcript = Transcript::new(100);
            transcript.push(&bytes[..cut]);
            transcript.push(&bytes[cut..]);
            assert_eq!(transcript.text(), "aé漢z", "cut at {cut}");
        }
        let mut transcript = Transcript::new(100);
        transcript.push(b"a\xffb\xe6\xbc");
        assert_eq!(transcript.text(), "a\u{fffd}b");
        transcript.finish();
        assert_eq!(transcript.text(), "a\u{fffd}b\u{fffd}");
    }

    #[test]
    fn a_transcript_returns_the_output_after_a_position() {
        let mut transcript = Transcript::new(5);
        transcript.push("añb".as_bytes());
        let delta =
            |text: &str, end, is_cut| Delta { text: text.to_owned(), start: 0, end, is_cut };
        assert_eq!(transcript.after(0, 0), delta("añb", 3, false));
        assert_eq!(transcript.after(1, 0), delta("ñb", 3, false));
        assert_eq!(transcript.after(3, 0), delta("", 3, false));
        assert_eq!(transcript.after(9, 0), delta("", 3, false));
        transcript.push(b"cdef");
        assert_eq!(transcript.after(1, 0), delta("bcdef", 7, true));
        assert_eq!(transcript.after(2, 0), delta("bcdef", 7, false));
        let with_before = Delta { text: "cdef".to_owned(), start: 2, end: 7, is_cut: false };
        assert_eq!(transcript.after(5, 2), with_before);
        assert_eq!(transcript.after(2, 9), delta("bcdef", 7, false));
    }

    #[test]
    fn marks_are_bounded() {
        let mut transcript = Transcript::new(5);
        for mark in 0..MOST_MARKS {
            assert!(transcript.mark(mark.to_string(), 0));
        }
        assert!(!transcript.mark("more".to_owned(), 0));
        assert!(transcript.mark("0".to_owned(), 1), "a mark may be moved");
    }
}
