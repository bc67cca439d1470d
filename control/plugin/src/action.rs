//! The actions that a plugin requests from the host, in the JSON format of `session.input`.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    permission::Permission,
    text::{is_name, quoted},
};

/// The maximum length of the text of one action, in bytes.
const TEXT: usize = 256 << 10;

/// The maximum length of a transcript mark's label, in characters.
const LABEL: usize = 64;

/// The permitted numbers of characters of a piece of streamed text.
const CHUNK_CHARS: RangeInclusive<u64> = 1..=1024;
/// The permitted delays between two pieces, in milliseconds.
const DELAY_MS: RangeInclusive<u64> = 0..=100;

/// The permitted times of one wait between actions, in milliseconds.
const WAIT_MS: RangeInclusive<u64> = 1..=10_000;
/// The permitted numbers of key presses of one wait between actions.
const PRESSES: RangeInclusive<u64> = 1..=50;

/// One action, as `{"type": …, "value": …}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "value", rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// Type this text.
    Text(String),
    /// Type this text piece by piece.
    StreamText(StreamText),
    /// Write this text verbatim, for programs without bracketed paste.
    Paste(String),
    /// Write this text between the control sequences of bracketed paste.
    BracketedPaste(String),
    /// Press a key.
    Key(String),
    /// Change the terminal's size.
    Resize(Resize),
    /// Press Ctrl+C.
    Interrupt,
    /// Press Ctrl+D.
    Eof,
    /// Kill the program.
    Kill,
    /// Send a signal to the programs in the foreground.
    Signal(Signal),
    /// Add a mark with a label at the end of the transcript.
    MarkTranscript(Mark),
    /// Wait until the screen meets a condition, before the next action. Only a plugin's intents contain this action, so
    /// it is not accepted in `session.input`.
    #[serde(skip_deserializing)]
    WaitFor(WaitFor),
}

/// A wait between two actions of an intent. If the predicate does not become true within the time, the host presses the
/// key, if there is one, and waits again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WaitFor {
    /// The name of a predicate that the plugin exports.
    pub predicate: String,
    /// The `params` that are passed to the predicate.
    #[serde(default)]
    pub params: Value,
    /// The maximum time of one wait, in milliseconds.
    pub timeout_ms: u64,
    /// The key to press after a wait in which the predicate did not become true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The maximum number of times to press the key.
    #[serde(default = "one")]
    pub presses: u64,
    /// The error of the intent if the predicate does not become true. `None`: the intent continues with the next
    /// action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// A text to type piece by piece.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamText {
    /// The text to type.
    pub text: String,
    /// The number of characters of a piece, from 1 to 1024.
    #[serde(default = "chunk_chars")]
    pub chunk_chars: u64,
    /// The delay between two pieces in milliseconds, from 0 to 100.
    #[serde(default = "delay_ms")]
    pub delay_ms: u64,
}

/// The size of a terminal in cells and in pixels. 0 pixels means that the size in pixels is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resize {
    /// The number of rows.
    pub rows: u16,
    /// The number of columns.
    pub cols: u16,
    /// The width in pixels.
    #[serde(default)]
    pub pixel_width: u16,
    /// The height in pixels.
    #[serde(default)]
    pub pixel_height: u16,
}

/// A label for a place in the transcript.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    /// The text of the label.
    pub label: String,
}

const fn one() -> u64 {
    1
}

const fn chunk_chars() -> u64 {
    64
}

const fn delay_ms() -> u64 {
    2
}

/// A signal to a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names are those of the signals")]
pub enum Signal {
    Term,
    Hup,
    Quit,
    Int,
    Kill,
    User1,
    User2,
}

impl Signal {
    /// The POSIX name of the signal, without `SIG`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Term => "TERM",
            Self::Hup => "HUP",
            Self::Quit => "QUIT",
            Self::Int => "INT",
            Self::Kill => "KILL",
            Self::User1 => "USR1",
            Self::User2 => "USR2",
        }
    }
}

impl Action {
    /// Parses an action of an intent.
    pub(crate) fn of_intent(mut action: Value) -> serde_json::Result<Self> {
        if action["type"] == "wait_for" {
            return serde_json::from_value(action["value"].take()).map(Self::WaitFor);
        }
        serde_json::from_value(action)
    }

    /// The permissions that the action requires.
    pub const fn permissions(&self) -> &'static [Permission] {
        match self {
            Self::Kill | Self::Signal(_) => &[Permission::SessionKill],
            Self::Resize(_) => &[Permission::SessionResize],
            Self::WaitFor(WaitFor { key: None, .. }) => &[Permission::MatcherWait],
            Self::WaitFor(_) => &[Permission::MatcherWait, Permission::InputWrite],
            _ => &[Permission::InputWrite],
        }
    }

    /// The name of the action in JSON.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::StreamText(_) => "stream_text",
            Self::Paste(_) => "paste",
            Self::BracketedPaste(_) => "bracketed_paste",
            Self::Key(_) => "key",
            Self::Resize(_) => "resize",
            Self::Interrupt => "interrupt",
            Self::Eof => "eof",
            Self::Kill => "kill",
            Self::Signal(_) => "signal",
            Self::MarkTranscript(_) => "mark_transcript",
            Self::WaitFor(_) => "wait_for",
        }
    }

    /// Checks the limits that the types do not express.
    pub(crate) fn check(&self) -> Result<(), String> {
        match self {
            Self::Text(text) | Self::Paste(text) | Self::BracketedPaste(text) => text_fits(text),
            Self::StreamText(stream) => {
                text_fits(&stream.text)?;
                stream.check()
            }
            Self::Key(key) => check_key(key),
            Self::WaitFor(wait) => wait.check(),
            Self::Resize(Resize { rows, cols, .. }) => {
                between("rows", (*rows).into(), 1..=1000)?;
                between("cols", (*cols).into(), 1..=1000)
            }
            Self::MarkTranscript(Mark { label }) => check_label(label),
            Self::Interrupt | Self::Eof | Self::Kill | Self::Signal(_) => Ok(()),
        }
    }
}

impl StreamText {
    /// Checks the size of the pieces and the delay between them.
    ///
    /// # Errors
    /// A number is out of its range, as a message that names it.
    pub fn check(&self) -> Result<(), String> {
        between("chunk_chars", self.chunk_chars, CHUNK_CHARS)?;
        between("delay_ms", self.delay_ms, DELAY_MS)
    }
}

impl WaitFor {
    fn check(&self) -> Result<(), String> {
        if !is_name(&self.predicate) {
            return Err(format!("`predicate` must be a name, not {}", quoted(&self.predicate)));
        }
        between("timeout_ms", self.timeout_ms, WAIT_MS)?;
        between("presses", self.presses, PRESSES)?;
        self.failure.as_deref().map_or(Ok(()), text_fits)?;
        self.key.as_deref().map_or(Ok(()), check_key)
    }
}

fn check_key(key: &str) -> Result<(), String> {
    if is_key(key) {
        return Ok(());
    }
    Err(format!("{} is not a key; keys are {}", quoted(key), key_names()))
}

fn between(what: &str, value: u64, range: RangeInclusive<u64>) -> Result<(), String> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(format!("`{what}` must be between {} and {}, not {value}", range.start(), range.end()))
}

fn text_fits(text: &str) -> Result<(), String> {
    if text.len() <= TEXT {
        return Ok(());
    }
    Err(format!("the text has {} bytes; {TEXT} are allowed", text.len()))
}

/// Checks the label of a transcript mark.
///
/// # Errors
/// The label is empty, too long or not printable, as a message that quotes it.
pub fn check_label(label: &str) -> Result<(), String> {
    if (1..=LABEL).contains(&label.chars().count()) && !label.contains(char::is_control) {
        return Ok(());
    }
    Err(format!("a label must be 1 to {LABEL} printable characters, not {}", quoted(label)))
}

/// The keys that have a name.
pub const NAMED_KEYS: [&str; 16] = [
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

/// The names of all keys, for messages.
pub fn key_names() -> String {
    format!("{}, f1 to f12 and ctrl_a to ctrl_z", NAMED_KEYS.join(", "))
}

/// Whether `key` is one of the protocol's keys.
pub fn is_key(key: &str) -> bool {
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
    fn actions_have_the_protocols_json() {
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
        let stream = StreamText { text: "x".into(), chunk_chars: 64, delay_ms: 2 };
        assert_eq!(action, Action::StreamText(stream));
    }

    #[test]
    fn a_wait_between_actions_is_short_and_names_a_predicate() {
        let wait = |value: serde_json::Value| {
            let mut wait = json!({ "predicate": "ready", "timeout_ms": 100 });
            wait.as_object_mut().expect("it").extend(value.as_object().expect("it").clone());
            let action = json!({ "type": "wait_for", "value": wait });
            serde_json::from_value::<Action>(action.clone()).expect_err("no action of clients");
            Action::of_intent(action).expect("an action")
        };
        assert_eq!(wait(json!({})).permissions(), [Permission::MatcherWait]);
        let pressing = wait(json!({ "key": "enter", "presses": 3 }));
        assert_eq!(pressing.permissions(), [Permission::MatcherWait, Permission::InputWrite]);
        assert_eq!(pressing.check(), Ok(()));
        for (wrong, named) in [
            (json!({ "timeout_ms": 0 }), "`timeout_ms`"),
            (json!({ "timeout_ms": 60_000 }), "`timeout_ms`"),
            (json!({ "presses": 0 }), "`presses`"),
            (json!({ "presses": 1000 }), "`presses`"),
            (json!({ "predicate": "two words" }), "`predicate`"),
            (json!({ "key": "entr" }), "`entr` is not a key"),
        ] {
            let error = wait(wrong.clone()).check().expect_err("a wrong wait");
            assert!(error.contains(named), "{wrong}: {error}");
        }
    }

    #[test]
    fn key_names_match_the_protocol() {
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
