//! The line that is being typed into a pane, as far as the input alone shows it. Rules about what may be entered use
//! this line.
//!
//! Follows text, and keys that have the same effect in all line editors. Never follows the state of the program
//! (cursor, history, completions): a key whose effect depends on that state marks the line as edited.

/// The maximum length of the line in bytes. Of a longer line, only the beginning is stored, and the line counts as
/// edited.
const LONGEST: usize = 1 << 20;

/// Whether keys have changed a line in unknown ways.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Edited {
    /// The line is exactly as typed.
    #[default]
    No,
    /// Keys in earlier input have changed the line.
    Before,
    /// Keys in the last input have changed the line.
    Now,
}

/// A line of input, as far as the input alone shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// The typed text.
    pub text: String,
    /// Whether keys may have made the actual line differ from `text`.
    pub edited: Edited,
    /// The part of `text` that the last input added.
    pub added: String,
    /// The printable text of earlier input that was not certainly deleted by a key. NUL separates its parts where keys
    /// edited the line. If the line on the screen lacks some of this text, the screen does not show the actual line.
    pub earlier: String,
    /// Whether keys other than text were typed since the last Enter. `text` is then right only if these keys have their
    /// usual effect.
    pub keys: Edited,
}

/// The effect of an input on a pane's line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Composed {
    /// The lines entered, in order.
    pub entered: Vec<Line>,
    /// The line that is not entered yet.
    pub unfinished: Line,
    /// Whether part of the input is in a bracketed paste. If the program supports bracketed paste, line ends in it
    /// enter nothing.
    pub pastes: bool,
    /// Whether the program received all earlier input long enough ago for the screen to show it.
    pub is_shown: bool,
    /// The number of inputs before this one ([`crate::Pane::inputs`]).
    pub inputs: u64,
}

/// The input since the last Enter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypedLine {
    text: Vec<u8>,
    /// The incomplete escape sequence, without its ESC.
    escape: Option<Vec<u8>>,
    /// Whether the input is inside a bracketed paste, where line ends enter nothing.
    pasting: bool,
    /// Whether part of the last input was in a bracketed paste.
    pasted: bool,
    /// Whether the next byte is literal, because ^V precedes it.
    quoting: bool,
    /// Whether ^X precedes the next byte.
    prefixed: bool,
    /// Whether Escape or Alt was pressed since the last Enter, so that a line editor with vi's keys may interpret
    /// letters as commands.
    commands: bool,
    /// Whether [`Self::enter_other`] returned the line for a key of the last input.
    doubted: bool,
    /// Whether the last input certainly entered a line.
    has_entered: bool,
    /// Whether ^C began the line.
    interrupted: bool,
    edited: Edited,
    /// The index in `text` where the part of the last input begins.
    fresh: usize,
    /// The text described at [`Line::earlier`], followed by the part of the last input, which begins at `kept_fresh`.
    kept: Vec<u8>,
    kept_fresh: usize,
    /// The value described at [`Line::keys`].
    keys: Edited,
    /// Whether a key was typed that changes nothing in a line editor, and that a terminal without one adds to the line.
    has_control_text: bool,
}

impl TypedLine {
    /// The text of the line so far.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.text).into_owned()
    }

    /// Whether the line is certainly empty: it contains no text, and no key has edited it.
    pub fn is_untouched(&self) -> bool {
        let Self { pasted, interrupted, keys, doubted, has_entered, has_control_text, .. } = *self;
        let others = Self { pasted, interrupted, keys, ..Self::default() };
        *self == Self { doubted, has_entered, has_control_text, ..others }
    }

    /// Whether the line contains a control character if the terminal itself collects the line.
    pub fn has_control_text(&self) -> bool {
        self.has_control_text
    }

    /// Whether the line is empty and ^C began it.
    pub fn is_interrupted(&self) -> bool {
        self.interrupted && self.text.is_empty() && !self.is_edited()
    }

    /// Whether keys have changed the line in unknown ways, or an escape sequence, a paste or a literal key is
    /// incomplete.
    pub fn is_edited(&self) -> bool {
        self.edited != Edited::No || self.escape.is_some() || self.pasting || self.quoting
    }

    /// Whether the last input certainly entered a line. If false, a key that only some line editors bind may have
    /// entered a line.
    pub fn has_entered(&self) -> bool {
        self.has_entered
    }

    /// The effect of the last input. `entered` contains the lines that it entered.
    pub fn composed(&self, entered: Vec<Line>, is_shown: bool, inputs: u64) -> Composed {
        Composed { entered, unfinished: self.line(), pastes: self.pasted, is_shown, inputs }
    }

    /// Processes input. Returns the lines that it enters, in order.
    pub fn advance(&mut self, bytes: &[u8]) -> Vec<Line> {
        (self.fresh, self.kept_fresh) = (self.text.len(), self.kept.len());
        (self.pasted, self.doubted, self.has_entered) = (self.pasting, false, false);
        if self.edited == Edited::Now {
            self.edited = Edited::Before;
        }
        if self.keys == Edited::Now {
            self.keys = Edited::Before;
        }
        let mut entered = Vec::new();
        for &byte in bytes {
            if let Some(mut escape) = self.escape.take() {
                // Enter is never part of an escape sequence. It ends an incomplete sequence, for example after the
                // Escape key. So does ^C, because the terminal device itself acts on it.
                if matches!(byte, b'\r' | b'\n') || byte == 0x03 && !self.pasting {
                    self.edit();
                } else {
                    escape.push(byte);
                    entered.extend(self.follow_escape(escape));
                    continue;
                }
            }
            if std::mem::take(&mut self.quoting) {
                if matches!(byte, b'\r' | b'\n') {
                    // Some programs use ^V differently and treat this byte as Enter.
                    entered.push(self.enter());
                    self.edit();
                } else {
                    self.push(byte);
                }
                continue;
            }
            let is_prefixed = std::mem::take(&mut self.prefixed);
            if !self.pasting && self.runs_other(byte, is_prefixed) {
                entered.extend(self.enter_other());
            }
            match byte {
                0x1b => self.escape = Some(Vec::new()),
                b'\r' if self.pasting => self.push(b'\n'),
                b'\n' | b'\t' if self.pasting => self.push(byte),
                // In readline, ^O enters the line, and then inserts the next line of the history.
                b'\r' | b'\n' | 0x0f if !self.pasting => {
                    entered.push(self.enter());
                    if byte == 0x0f {
                        self.edit();
                    }
                }
                0x20..=0x7e | 0x80.. => self.push(byte),
                // In a paste, some programs treat control bytes as text, other programs treat them as keys.
                _ if self.pasting => self.edit(),
                // Backspace deletes a whole character.
                0x08 | 0x7f => {
                    self.edit_again();
                    while self.text.pop().is_some_and(|byte| byte & 0xc0 == 0x80) {}
                    self.forget_deleted();
                }
                // ^C begins a new line.
                0x03 => self.interrupt(),
                // ^U deletes the text before the cursor.
                0x15 => {
                    self.edit_again();
                    self.text.clear();
                    self.has_control_text = false;
                    self.forget_deleted();
                }
                // ^W deletes a word. Programs disagree about what a word is.
                0x17 => {
                    let is_blank = |byte: &u8| *byte == b' ';
                    let end =
                        self.text.iter().rposition(|byte| !is_blank(byte)).map_or(0, |i| i + 1);
                    let start = self.text[..end].iter().rposition(is_blank).map_or(0, |i| i + 1);
                    self.text.truncate(start);
                    self.forget_deleted();
                    self.edit();
                }
                // These keys change nothing at the end of a line: ^D, ^G, ^L, ^Z, ^\.
                0x04 | 0x07 | 0x0c | 0x1a | 0x1c => {
                    self.has_control_text |= matches!(byte, 0x07 | 0x0c);
                    self.edit_again();
                }
                // Tab inserts a tab, or completes the word before the cursor.
                b'\t' => {
                    self.push(byte);
                    self.edit();
                }
                0x18 => {
                    self.prefixed = true;
                    self.edit();
                }
                // ^V, ^Q.
                0x16 | 0x11 => {
                    self.quoting = true;
                    self.edit();
                }
                _ => self.edit(),
            }
            self.fresh = self.fresh.min(self.text.len());
        }
        entered
    }

    /// Records that a key has changed the line in an unknown way.
    fn edit(&mut self) {
        (self.edited, self.keys) = (Edited::Now, Edited::Now);
        // The next text may be inserted elsewhere in the line.
        if self.kept.last().is_some_and(|&last| last != 0) {
            self.kept.push(0);
        }
    }

    /// Records a key whose effect is known only at the end of a line. If the line was edited, the cursor's position is
    /// unknown.
    fn edit_again(&mut self) {
        self.keys = Edited::Now;
        if self.edited != Edited::No {
            self.edit();
        }
    }

    /// Forgets text that a key deleted, if the key was at the end of an unedited line.
    fn forget_deleted(&mut self) {
        if self.edited == Edited::No {
            self.kept = self.text.iter().copied().filter(|&byte| is_printable(byte)).collect();
            self.kept_fresh = self.kept_fresh.min(self.kept.len());
        }
    }

    fn line(&self) -> Line {
        Line {
            text: self.text(),
            // An ESC without a sequence is the Escape key.
            edited: if self.escape.is_some() { Edited::Now } else { self.edited },
            added: String::from_utf8_lossy(&self.text[self.fresh..]).into_owned(),
            earlier: String::from_utf8_lossy(&self.kept[..self.kept_fresh]).into_owned(),
            keys: if self.escape.is_some() { Edited::Now } else { self.keys },
        }
    }

    /// Whether a line editor may run a line other than the shown line at this key. readline runs what an editor makes
    /// of the line (^X ^E, and `v` of vi's keys) or a recorded macro (^X e). zsh removes the line's `#` and enters it
    /// (`#` of vi's keys).
    fn runs_other(&self, byte: u8, is_prefixed: bool) -> bool {
        (is_prefixed && matches!(byte, 0x05 | b'e'))
            || (self.commands && matches!(byte, b'v' | b'#'))
    }

    /// Returns the line as an entered line whose text is unknown, for a key that may run it, once for each input. The
    /// line stays unfinished, because programs other than these line editors treat the key as text.
    fn enter_other(&mut self) -> Option<Line> {
        self.edit();
        (!std::mem::replace(&mut self.doubted, true)).then(|| self.line())
    }

    fn enter(&mut self) -> Line {
        let line = self.line();
        (self.fresh, self.edited, self.interrupted) = (0, Edited::No, false);
        (self.prefixed, self.commands, self.has_entered) = (false, false, true);
        (self.kept_fresh, self.keys, self.has_control_text) = (0, Edited::No, false);
        self.text.clear();
        self.kept.clear();
        line
    }

    fn interrupt(&mut self) {
        // A shell may ignore ^C and keep the line's text.
        let keys = if self.is_untouched() { self.keys } else { Edited::Now };
        let has_entered = self.has_entered;
        self.enter();
        (self.interrupted, self.keys, self.has_entered) = (true, keys, has_entered);
    }

    fn push(&mut self, byte: u8) {
        if self.text.len() < LONGEST && self.kept.len() < LONGEST {
            self.text.push(byte);
            if is_printable(byte) {
                self.kept.push(byte);
            }
        } else {
            self.edit();
        }
    }

    /// Processes an escape sequence (CSI, SS3, or Alt with a key), which adds no text. Returns the line that it enters.
    fn follow_escape(&mut self, escape: Vec<u8>) -> Option<Line> {
        // zsh's accept-and-hold and readline's insert-comment enter the line, and then leave text in it.
        let holds = matches!(escape.as_slice(), b"a" | b"A" | b"#");
        // readline's edit-and-execute-command and zsh's execute-last-named-cmd.
        let runs_other = matches!(escape.as_slice(), b"v" | b"z") && !self.pasting;
        self.commands |= !matches!(escape.as_slice(), [b'[' | b'O', ..]);
        if runs_other {
            return self.enter_other();
        }
        let entered = self.enters(escape).then(|| self.enter());
        if holds {
            self.edit();
        }
        entered
    }

    /// Handles the marks of a paste, reports of focus and mouse, and other escape sequences. Returns true if the
    /// sequence enters the line: Enter from the kitty protocol or the keypad, or Alt with a key that enters the line in
    /// some line editor. Unknown text may then remain in the line.
    fn enters(&mut self, escape: Vec<u8>) -> bool {
        const LONGEST_ESCAPE: usize = 64;
        let is_whole = match escape.as_slice() {
            [b'['] | [b'O'] => false,
            [b'[', .., last] => (0x40..=0x7e).contains(last),
            _ => true,
        };
        match escape.as_slice() {
            b"[200~" => (self.pasting, self.pasted) = (true, true),
            b"[201~" => self.pasting = false,
            b"[I" | b"[O" => {}
            [b'[', b'<', .., b'M' | b'm'] => {}
            [b'O', b'M'] => return true,
            [b'[', key @ .., b'u'] if is_whole => {
                let code = key.split(|byte| matches!(byte, b';' | b':')).next();
                if key == b"99;5" {
                    self.interrupt();
                    return false;
                }
                if matches!(code, Some(b"13" | b"57414")) {
                    self.pasting = false;
                    return true;
                }
                self.edit();
            }
            [b'a' | b'A' | b'#'] if !self.pasting => return true,
            _ if is_whole || escape.len() > LONGEST_ESCAPE => self.edit(),
            _ => self.escape = Some(escape),
        }
        false
    }
}

fn is_printable(byte: u8) -> bool {
    !byte.is_ascii_control()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines that these inputs enter, and the unfinished rest.
    fn typed(pieces: &[&str]) -> (Vec<String>, String) {
        let mut line = TypedLine::default();
        let entered = pieces.iter().flat_map(|piece| line.advance(piece.as_bytes()));
        let entered = entered.map(|line| line.text).collect();
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

    #[test]
    fn a_line_is_edited_by_what_only_the_program_follows() {
        /// The state of the line that the last input enters, and the text that this input added.
        fn last(pieces: &[&str]) -> (Edited, String) {
            let mut line = TypedLine::default();
            let entered: Vec<_> =
                pieces.iter().map(|piece| line.advance(piece.as_bytes())).collect();
            let last = entered.into_iter().flatten().next_back().expect("nothing is entered");
            (last.edited, last.added)
        }
        for key in ["\x01", "\x10", "\x12", "\x19", "\t", "\x1b[A", "\x1bOD", "\x1bb", "\x17"] {
            assert_eq!(last(&["ab", key, "c\r"]), (Edited::Before, "c".to_owned()), "{key:?}");
            assert_eq!(last(&["ab", &format!("{key}c\r")]).0, Edited::Now, "{key:?}");
            assert_eq!(last(&["ab", key, "\x7f\r"]).0, Edited::Now, "behind {key:?}");
            assert_eq!(last(&["ab", key, "\x03c\r"]), (Edited::No, "c".to_owned()), "{key:?}");
        }
        for escape in ["\x1b", "\x1b[", "\x1b[1;"] {
            let mut line = TypedLine::default();
            line.advance(escape.as_bytes());
            assert!(line.is_edited() && !line.is_interrupted(), "{escape:?}");
            line.advance(b"\x03");
            assert!(line.is_interrupted(), "{escape:?}");
            assert_eq!(last(&["ab", escape, "\x03c\r"]), (Edited::No, "c".to_owned()));
        }
        for (keys, has_text) in
            [("\x0c", true), ("\x07\x15", false), ("\x0c\x03", false), ("\x0c\r", false)]
        {
            let mut line = TypedLine::default();
            line.advance(keys.as_bytes());
            assert_eq!(line.has_control_text(), has_text, "{keys:?}");
        }
        for text in
            ["\x7f", "\x15", "\x0c", "\x04", "\x1b[I", "\x1b[<0;1;1M", "\x1b[200~x\x1b[201~"]
        {
            assert_eq!(last(&["ab", text, "c\r"]).0, Edited::No, "{text:?}");
        }
        // An unfinished escape sequence, a quoted key, and keys that enter a line and leave other text in it.
        assert_eq!(last(&["ab\x1b", "\r"]).0, Edited::Now);
        assert_eq!(last(&["ab\x1b[", "\r"]).0, Edited::Now);
        assert_eq!(last(&["ab\x16\x03", "c\r"]), (Edited::Before, "c".to_owned()));
        assert_eq!(last(&["ab\x16", "\r"]).0, Edited::Before);
        assert_eq!(last(&["ab\x16\r", "c\r"]), (Edited::Before, "c".to_owned()));
        for key in ["\x0f", "\x1ba"] {
            assert_eq!(last(&["ab", key]), (Edited::No, String::new()), "{key:?}");
            assert_eq!(last(&["ab", key, "\r"]).0, Edited::Before, "{key:?}");
        }
        // Keys that run a line other than the shown line.
        for keys in ["\x18\x05", "\x18e", "\x1bv", "\x1bz", "\x1blv", "\x1bl#"] {
            let split: Vec<_> = keys.chars().map(String::from).collect();
            let split: Vec<_> =
                ["ab"].into_iter().chain(split.iter().map(String::as_str)).collect();
            for pieces in [&["ab", keys][..], &split] {
                assert_eq!(last(pieces).0, Edited::Now, "{pieces:?}");
                assert_eq!(last(&[pieces, &["\r"]].concat()).0, Edited::Before, "{pieces:?}");
            }
            assert_eq!(typed(&["ab", keys, "\r"]).0.len(), 2, "{keys:?}");
        }
        assert_eq!(typed(&["\x1bl", "mv x\r"]).0, ["m", "mv x"], "in other programs, it is text");
        for (text, has_entered) in [("\x1bv", false), ("ab\x03", false), ("\x1bv\r\x03", true)] {
            let mut line = TypedLine::default();
            line.advance(text.as_bytes());
            assert_eq!(line.has_entered(), has_entered, "{text:?}");
            line.advance(b"x");
            assert!(!line.has_entered());
        }
        let many = "\x1bl".to_owned() + &"v\x1bv".repeat(1000);
        assert_eq!(typed(&[&many]).0.len(), 1, "once for each input");
        for text in ["v#e\r", "\x18x e\r", "\x1b[Av\r", "\x1b[200~\x1bv\x18e\x1b[201~\r"] {
            let mut line = TypedLine::default();
            assert_eq!(line.advance(text.as_bytes()).len(), 1, "{text:?}");
        }
        assert_eq!(last(&["x".repeat(LONGEST + 1).as_str(), "\r"]).0, Edited::Before);
    }

    #[test]
    fn keys_of_unusual_effect_make_the_line_uncertain() {
        fn keys(pieces: &[&str]) -> Edited {
            let mut line = TypedLine::default();
            pieces.iter().for_each(|piece| drop(line.advance(piece.as_bytes())));
            line.composed(Vec::new(), true, 0).unfinished.keys
        }
        for key in
            ["\x7f", "\x15", "\x17", "\x03", "\x0c", "\x04", "\x1b[D", "\t", "\x1bx", "\x16x"]
        {
            assert_eq!(keys(&["ab", key, "c"]), Edited::Before, "{key:?}");
            assert_eq!(keys(&[&format!("ab{key}c")]), Edited::Now, "{key:?}");
            assert_eq!(keys(&["ab", key, "\r", "c"]), Edited::No, "{key:?}: the next line");
        }
        assert_eq!(keys(&["ab\x03", "\x03", "c"]), Edited::Before, "the second changes nothing");
        assert_eq!(keys(&["\x03", "c"]), Edited::No, "the line was empty");
        assert_eq!(keys(&["ab\x1b[I\x1b[<0;1;1M\x1b[200~x\x1b[201~"]), Edited::No, "no keys");
    }

    #[test]
    fn earlier_text_lacks_only_what_keys_certainly_deleted() {
        fn earlier(pieces: &[&str]) -> String {
            let mut line = TypedLine::default();
            pieces.iter().for_each(|piece| drop(line.advance(piece.as_bytes())));
            line.advance(b"added");
            line.line().earlier
        }
        assert_eq!(earlier(&["git pussh", "\x7f\x7f\x7fsh", "\x01", "sudo "]), "git push\0sudo ");
        assert_eq!(earlier(&["one", "\x15two", "\x1b[D", "\x7f\x15", "x"]), "two\0x");
        assert_eq!(earlier(&["one two", "\x17"]), "one \0");
        assert_eq!(earlier(&["one", "\x03two", "\t"]), "two\0");
        assert_eq!(earlier(&["hid", "\x01\x0b\x05", "seen"]), "hid\0seen", "deleted, perhaps");
        assert_eq!(earlier(&["one\x01", "two\r", "three"]), "three");
    }
}
