//! The line that is being typed into a pane, as far as input alone tells it: for rules about what may be entered.
//!
//! Follows what editors of lines make of the usual keys. What only the program knows (its history, completions) is not in
//! it.

/// Bytes of a line that are kept; of a longer one the beginning stays.
const LONGEST: usize = 64 << 10;

/// What has been typed since Enter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypedLine {
    text: Vec<u8>,
    /// In an escape sequence, what came of it.
    escape: Option<Vec<u8>>,
    /// In a bracketed paste, where line ends enter nothing.
    pasting: bool,
}

impl TypedLine {
    /// The line so far.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.text).into_owned()
    }

    /// Follows input, and gives the lines that it enters, in order.
    pub fn advance(&mut self, bytes: &[u8]) -> Vec<String> {
        let mut entered = Vec::new();
        for &byte in bytes {
            if let Some(mut escape) = self.escape.take() {
                escape.push(byte);
                if self.follow_escape(escape) {
                    entered.push(std::mem::take(self).text());
                }
                continue;
            }
            match byte {
                // ^O enters the line too, in readline's editor.
                b'\r' | b'\n' | 0x0f if !self.pasting => {
                    entered.push(self.text());
                    self.text.clear();
                }
                b'\r' => self.push(b'\n'),
                0x1b => self.escape = Some(Vec::new()),
                // Backspace takes a whole character.
                0x08 | 0x7f => while self.text.pop().is_some_and(|byte| byte & 0xc0 == 0x80) {},
                // ^C and ^U begin anew.
                0x03 | 0x15 => self.text.clear(),
                // ^W takes a word.
                0x17 => {
                    let is_blank = |byte: &u8| *byte == b' ';
                    let end =
                        self.text.iter().rposition(|byte| !is_blank(byte)).map_or(0, |i| i + 1);
                    let start = self.text[..end].iter().rposition(is_blank).map_or(0, |i| i + 1);
                    self.text.truncate(start);
                }
                b'\t' | b'\n' | 0x20.. => self.push(byte),
                _ => {}
            }
        }
        entered
    }

    fn push(&mut self, byte: u8) {
        if self.text.len() < LONGEST {
            self.text.push(byte);
        }
    }

    /// A CSI, an SS3 or Alt with a key: none of it is text. The brackets of a paste are told apart, and Enter as kitty's
    /// protocol and the keypad send it (true).
    fn follow_escape(&mut self, escape: Vec<u8>) -> bool {
        const LONGEST_ESCAPE: usize = 64;
        let is_whole = match escape.as_slice() {
            [b'['] | [b'O'] => false,
            [b'[', .., last] => (0x40..=0x7e).contains(last),
            _ => true,
        };
        match escape.as_slice() {
            b"[200~" => self.pasting = true,
            b"[201~" => self.pasting = false,
            [b'O', b'M'] => return true,
            [b'[', key @ .., b'u'] if is_whole => {
                let code = key.split(|byte| matches!(byte, b';' | b':')).next();
                return matches!(code, Some(b"13" | b"57414"));
            }
            _ if is_whole || escape.len() > LONGEST_ESCAPE => {}
            _ => self.escape = Some(escape),
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is entered by these pieces, and what is left unfinished.
    fn typed(pieces: &[&str]) -> (Vec<String>, String) {
        let mut line = TypedLine::default();
        let entered = pieces.iter().flat_map(|piece| line.advance(piece.as_bytes())).collect();
        (entered, line.text())
    }

    fn entered(lines: &[&str], rest: &str) -> (Vec<String>, String) {
        (lines.iter().map(|&line| line.to_owned()).collect(), rest.to_owned())
    }

    #[test]
    fn a_line_is_what_its_parts_make_of_it() {
        assert_eq!(typed(&["rm -r", "f /", "\r", "ls"]), entered(&["rm -rf /"], "ls"));
        assert_eq!(typed(&["a\rb\nc"]), entered(&["a", "b"], "c"));
        assert_eq!(typed(&["rmx\x7f -rg\x08f é\x7f/\r"]), entered(&["rm -rf /"], ""));
        assert_eq!(typed(&["nothing\x15some\x03rm two words\x17\x17x"]), entered(&[], "rm x"));
    }

    #[test]
    fn keys_that_are_no_text_leave_none_and_a_paste_enters_nothing() {
        assert_eq!(typed(&["a\x1b[", "Db\x1bOAc\x1bxd\x1b[1;5Ce"]), entered(&[], "abcde"));
        assert_eq!(
            typed(&["a\x1b[13ub\x1b[13;1:1uc\x1bOMd\x1b[97u"]),
            entered(&["a", "b", "c"], "d")
        );
        assert_eq!(typed(&["\x1b[200~a\rb\nc\x1b[201~\r"]), entered(&["a\nb\nc"], ""));
    }
}
