//! Quotes text for shells, and parses escaped text.

/// The length in bytes after which a typed command continues in a new line, if the terminal collects whole lines
/// (`ICANON`). The kernel drops everything beyond 4,095 bytes of a line.
const COOKED_LINE: usize = 1000;

/// Builds quoted text, split into several lines if they must be short.
pub(super) struct Quoted {
    text: String,
    /// Opens a quote. `'` closes it.
    open: &'static str,
    /// Where the current line begins, if lines must be short.
    line: Option<usize>,
}

impl Quoted {
    pub(super) fn new(open: &'static str, cooked: bool) -> Self {
        Self { text: open.to_owned(), open, line: cooked.then_some(0) }
    }

    /// Adds the text for one character.
    pub(super) fn push(&mut self, part: &str) {
        if self.line.is_some_and(|start| self.text.len() - start > COOKED_LINE) {
            // A backslash outside of quotes continues the line in every shell that quotes like this.
            self.text.push_str("'\\\r");
            self.line = Some(self.text.len());
            self.text.push_str(self.open);
        }
        self.text.push_str(part);
    }

    pub(super) fn push_char(&mut self, char: char) {
        self.push(char.encode_utf8(&mut [0; 4]));
    }

    pub(super) fn end(mut self) -> String {
        self.text.push('\'');
        self.text
    }
}

/// Whether text can be typed at a prompt in single quotes: it has no control bytes, to which an editor would react.
pub(super) fn is_plain(text: &str) -> bool {
    !text.bytes().any(|byte| byte.is_ascii_control())
}

/// Quotes text for bash and zsh: `'…'`, or `$'…'` if it has control bytes. `is_ascii`: quotes all other characters than
/// ASCII by their bytes.
pub(super) fn quote_ansi_c(text: &str, cooked: bool, is_ascii: bool) -> String {
    let is_ascii = is_ascii && !text.is_ascii();
    if is_plain(text) && !is_ascii {
        return quote_plain(text, cooked);
    }
    let mut quoted = Quoted::new("$'", cooked);
    for char in text.chars() {
        match char {
            '\n' => quoted.push("\\n"),
            '\t' => quoted.push("\\t"),
            '\\' => quoted.push("\\\\"),
            '\'' => quoted.push("\\'"),
            // Some versions expand history inside `$'…'`.
            '!' => quoted.push("\\041"),
            char if char.is_ascii_control() => quoted.push(&format!("\\{:03o}", char as u32)),
            char if is_ascii && !char.is_ascii() => {
                let mut bytes = [0; 4];
                let bytes = char.encode_utf8(&mut bytes).bytes();
                quoted.push(&bytes.map(|byte| format!("\\{byte:03o}")).collect::<String>());
            }
            char => quoted.push_char(char),
        }
    }
    quoted.end()
}

pub(super) fn quote_plain(text: &str, cooked: bool) -> String {
    let mut quoted = Quoted::new("'", cooked);
    for char in text.chars() {
        match char {
            '\'' => quoted.push(r"'\''"),
            char => quoted.push_char(char),
        }
    }
    quoted.end()
}

/// Quotes text for fish, which needs control bytes outside of quotes.
pub(super) fn quote_fish(text: &str, cooked: bool) -> String {
    let mut quoted = Quoted::new("'", cooked);
    for char in text.chars() {
        match char {
            '\\' => quoted.push(r"\\"),
            '\'' => quoted.push(r"\'"),
            '\n' => quoted.push(r"'\n'"),
            char if char.is_ascii_control() => quoted.push(&format!(r"'\x{:02x}'", char as u32)),
            char => quoted.push_char(char),
        }
    }
    quoted.end()
}

/// Quotes text for any POSIX shell: `'…'`, or the output of `printf` if it has control bytes.
pub(super) fn quote_posix(text: &str, cooked: bool) -> String {
    if is_plain(text) {
        return quote_plain(text, cooked);
    }
    let mut quoted = Quoted::new("'", cooked);
    for char in printf_text(text).chars() {
        match char {
            '\'' => quoted.push(r"'\''"),
            char => quoted.push_char(char),
        }
    }
    format!("\"$(printf %b {})\"", quoted.end())
}

/// Text as `printf %b` expects it, without control bytes.
pub fn printf_text(text: &str) -> String {
    let mut escaped = String::new();
    for char in text.chars() {
        match char {
            '\\' => escaped.push_str(r"\\"),
            '\n' => escaped.push_str(r"\n"),
            char if char.is_ascii_control() => escaped.push_str(&format!(r"\0{:03o}", char as u32)),
            char => escaped.push(char),
        }
    }
    escaped
}

/// Parses the inside of `$'…'`, or the argument of `printf %b`: `\n`, `\t`, an escaped character, or a byte in octal
/// digits.
pub(super) fn escaped(text: &str, digits: usize) -> Option<String> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('\\') {
        out.extend_from_slice(before.as_bytes());
        let (byte, length) = match *behind.as_bytes().first()? {
            b'n' => (b'\n', 1),
            b't' => (b'\t', 1),
            byte @ (b'\\' | b'\'') => (byte, 1),
            _ => (u8::from_str_radix(behind.get(..digits)?, 8).ok()?, digits),
        };
        out.push(byte);
        rest = &behind[length..];
    }
    out.extend_from_slice(rest.as_bytes());
    String::from_utf8(out).ok()
}
