//! What a plugin asks the host to do with its program, in the JSON of `session.input`.

use serde::{Deserialize, Serialize};

use crate::{permission::Permission, text::quoted};

/// The text of one action, in bytes.
const TEXT: usize = 256 << 10;

/// The length of a transcript mark's label, in bytes.
const LABEL: usize = 128;

/// One action, as `{"type": …, "value": …}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "value", rename_all = "snake_case")]
pub enum Action {
    /// Type this text.
    Text(String),
    /// Type this text piece by piece.
    StreamText {
        /// The text.
        text: String,
        /// The characters of a piece, 1 to 1024.
        #[serde(default = "chunk_chars")]
        chunk_chars: u16,
        /// The milliseconds between two pieces, at most 100.
        #[serde(default = "delay_ms")]
        delay_ms: u16,
    },
    /// Write this text verbatim, for programs without bracketed paste.
    Paste(String),
    /// Write this text between the markers of bracketed paste.
    BracketedPaste(String),
    /// Press a key.
    Key(String),
    /// Change the terminal's size.
    Resize {
        /// Rows, 1 to 1000.
        rows: u16,
        /// Columns, 1 to 1000.
        cols: u16,
        /// The width in pixels.
        #[serde(default)]
        pixel_width: u16,
        /// The height in pixels.
        #[serde(default)]
        pixel_height: u16,
    },
    /// Press Ctrl+C.
    Interrupt,
    /// Press Ctrl+D.
    Eof,
    /// Kill the program.
    Kill,
    /// Send the program a signal.
    Signal(Signal),
    /// Give the transcript's end a label.
    MarkTranscript {
        /// The label.
        label: String,
    },
}

const fn chunk_chars() -> u16 {
    64
}

const fn delay_ms() -> u16 {
    2
}

/// A signal that a plugin may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Signal {
    /// SIGTERM.
    Term,
    /// SIGHUP.
    Hup,
    /// SIGQUIT.
    Quit,
    /// SIGINT.
    Int,
    /// SIGKILL.
    Kill,
    /// SIGUSR1.
    User1,
    /// SIGUSR2.
    User2,
}

impl Action {
    /// The permission that the action takes.
    pub const fn permission(&self) -> Permission {
        match self {
            Self::Kill | Self::Signal(_) => Permission::SessionKill,
            Self::Resize { .. } => Permission::SessionResize,
            _ => Permission::InputWrite,
        }
    }

    /// The action's name in JSON.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::StreamText { .. } => "stream_text",
            Self::Paste(_) => "paste",
            Self::BracketedPaste(_) => "bracketed_paste",
            Self::Key(_) => "key",
            Self::Resize { .. } => "resize",
            Self::Interrupt => "interrupt",
            Self::Eof => "eof",
            Self::Kill => "kill",
            Self::Signal(_) => "signal",
            Self::MarkTranscript { .. } => "mark_transcript",
        }
    }

    /// Checks what the types leave open.
    pub(crate) fn check(&self) -> Result<(), String> {
        let between = |what: &str, value: u16, range: std::ops::RangeInclusive<u16>| {
            if range.contains(&value) {
                return Ok(());
            }
            Err(format!(
                "`{what}` must be between {} and {}, not {value}",
                range.start(),
                range.end()
            ))
        };
        match self {
            Self::Text(text) | Self::Paste(text) | Self::BracketedPaste(text) => text_fits(text),
            Self::StreamText { text, chunk_chars, delay_ms } => {
                text_fits(text)?;
                between("chunk_chars", *chunk_chars, 1..=1024)?;
                between("delay_ms", *delay_ms, 0..=100)
            }
            Self::Key(key) if !is_key(key) => Err(format!(
                "{} is not a key; keys are {}, f1 to f12 and ctrl_a to ctrl_z",
                quoted(key),
                NAMED_KEYS.join(", ")
            )),
            Self::Resize { rows, cols, .. } => {
                between("rows", *rows, 1..=1000)?;
                between("cols", *cols, 1..=1000)
            }
            Self::MarkTranscript { label } => check_label(label),
            Self::Key(_) | Self::Interrupt | Self::Eof | Self::Kill | Self::Signal(_) => Ok(()),
        }
    }
}

fn text_fits(text: &str) -> Result<(), String> {
    if text.len() <= TEXT {
        return Ok(());
    }
    Err(format!("the text has {} bytes; {TEXT} are allowed", text.len()))
}

/// Checks the label of a transcript mark.
pub(crate) fn check_label(label: &str) -> Result<(), String> {
    if (1..=LABEL).contains(&label.len()) && !label.contains(char::is_control) {
        return Ok(());
    }
    Err(format!("a label must be 1 to {LABEL} printable bytes, not {}", quoted(label)))
}

/// The keys that have a name of their own.
const NAMED_KEYS: [&str; 16] = [
    "enter",
    "escape",
    "tab",
    "shift_tab",
    "backspace",
    "delete",
    "space",
    "up",
    "down",
    "left",
    "right",
    "home",
    "end",
    "page_up",
    "page_down",
    "insert",
];

/// Whether `key` is one of the protocol's keys.
pub(crate) fn is_key(key: &str) -> bool {
    let function = || key.strip_prefix('f')?.parse::<u8>().ok().map(|number| (number, key.len()));
    let control = || {
        key.strip_prefix("ctrl_")
            .is_some_and(|letter| letter.len() == 1 && letter.as_bytes()[0].is_ascii_lowercase())
    };
    NAMED_KEYS.contains(&key)
        || function().is_some_and(|(number, length)| {
            (1..=12).contains(&number) && length == 2 + usize::from(number > 9)
        })
        || control()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_json_is_the_protocols() {
        for value in [
            json!({ "type": "text", "value": "hello" }),
            json!({ "type": "key", "value": "enter" }),
            json!({ "type": "interrupt" }),
            json!({ "type": "signal", "value": "user1" }),
            json!({ "type": "mark_transcript", "value": { "label": "turn" } }),
            json!({ "type": "resize", "value": { "rows": 40, "cols": 120, "pixel_width": 0, "pixel_height": 0 } }),
            json!({ "type": "stream_text", "value": { "text": "x", "chunk_chars": 64, "delay_ms": 2 } }),
        ] {
            let action: Action = serde_json::from_value(value.clone()).expect("an action");
            assert_eq!(action.check(), Ok(()), "{value}");
            assert_eq!(value["type"], action.name());
            assert_eq!(serde_json::to_value(&action).expect("JSON"), value);
        }
        let short = json!({ "type": "stream_text", "value": { "text": "x" } });
        let action: Action = serde_json::from_value(short).expect("an action");
        assert_eq!(action, Action::StreamText { text: "x".into(), chunk_chars: 64, delay_ms: 2 });
    }

    #[test]
    fn keys_are_those_of_the_protocol() {
        for key in ["enter", "shift_tab", "f1", "f12", "ctrl_a", "ctrl_z", "space"] {
            assert!(is_key(key), "{key}");
        }
        for key in ["", "Enter", "f0", "f13", "f01", "f+1", "ctrl_", "ctrl_A", "ctrl_aa", "ctrl_é"]
        {
            assert!(!is_key(key), "{key}");
        }
        let error = Action::Key("entr".into()).check().expect_err("no key");
        assert!(error.contains("`entr` is not a key"), "{error}");
    }
}
