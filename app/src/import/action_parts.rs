//! Converts the parts of other terminals' actions that are no actions of Unterm: the bytes of keys, programs to start,
//! and mouse buttons.

use super::{keys, text::typed};

/// A program that is started by a key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Program {
    /// The program and its arguments. Empty for the shell.
    pub words: Vec<String>,
    /// The working directory. Empty for the directory of the focused pane.
    pub cwd: String,
    /// Environment variables.
    pub env: Vec<(String, String)>,
}

impl Program {
    /// The name of the program's profile, which is the file name of the program. If another profile has this name, the
    /// caller adds a number.
    pub fn name(&self) -> String {
        let program = self.words.first().and_then(|word| word.rsplit('/').next());
        let name: String = program
            .unwrap_or_default()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
            .collect();
        let name = name.trim_matches('-');
        if name.is_empty() { "shell".to_owned() } else { name.to_owned() }
    }
}

/// The action for a key that must have no effect: it types an empty text.
pub(super) const SWALLOW: &str = "send_text:";

/// The ends of the sequences that keys send.
const ENDS: &[(&str, &str)] = &[
    ("up", "A"),
    ("down", "B"),
    ("right", "C"),
    ("left", "D"),
    ("home", "H"),
    ("end", "F"),
    ("insert", "2~"),
    ("delete", "3~"),
    ("page_up", "5~"),
    ("page_down", "6~"),
    ("menu", "29~"),
    ("f1", "P"),
    ("f2", "Q"),
    ("f3", "R"),
    ("f4", "S"),
    ("f5", "15~"),
    ("f6", "17~"),
    ("f7", "18~"),
    ("f8", "19~"),
    ("f9", "20~"),
    ("f10", "21~"),
    ("f11", "23~"),
    ("f12", "24~"),
];

/// The action that sends a key to the program. The key is encoded as on a keyboard without extensions (ECMA-48, DEC
/// STD 070).
///
/// # Errors
/// Fails if the key with these modifiers has no such encoding.
pub(super) fn key(chord: &str) -> Result<String, String> {
    let unknown = || format!("the import does not know the bytes of the key {chord:?}");
    let (mut ctrl, mut alt, mut shift, mut name) = (false, false, false, chord);
    while let Some((modifier, rest)) = name.split_once('+').filter(|(word, _)| !word.is_empty()) {
        match modifier {
            "ctrl" => ctrl = true,
            "alt" => alt = true,
            "shift" => shift = true,
            _ => return Err(unknown()),
        }
        name = rest;
    }
    let mut chars = name.chars();
    let bytes = match (chars.next(), chars.as_str()) {
        (Some(c), "") if ctrl => control(c, shift).ok_or_else(unknown)?.to_string(),
        (Some(c), "") if shift => match keys::shifted(c) {
            Some(shifted) => shifted.to_string(),
            None => c.to_uppercase().to_string(),
        },
        (Some(c), "") => c.to_string(),
        _ => match name {
            "space" if ctrl => "\0".to_owned(),
            "space" => " ".to_owned(),
            "plus" if !ctrl => "+".to_owned(),
            "enter" => "\r".to_owned(),
            "tab" if shift => "\u{1b}[Z".to_owned(),
            "tab" => "\t".to_owned(),
            "escape" => "\u{1b}".to_owned(),
            "backspace" if ctrl => "\u{8}".to_owned(),
            "backspace" => "\u{7f}".to_owned(),
            _ => {
                // The sequences of xterm: `SS3 letter`, `CSI letter` and `CSI number ~`; with modifiers
                // `CSI 1 ; modifiers letter` and `CSI number ; modifiers ~`.
                let (_, end) = ENDS.iter().find(|(key, _)| *key == name).ok_or_else(unknown)?;
                let held = 1 + u8::from(shift) + 2 * u8::from(alt) + 4 * u8::from(ctrl);
                let sequence = match (held, end.strip_suffix('~')) {
                    (1, None) if name.starts_with('f') => format!("\u{1b}O{end}"),
                    (1, _) => format!("\u{1b}[{end}"),
                    (held, Some(number)) => format!("\u{1b}[{number};{held}~"),
                    (held, None) => format!("\u{1b}[1;{held}{end}"),
                };
                return Ok(typed(&sequence));
            }
        },
    };
    Ok(typed(&if alt { format!("\u{1b}{bytes}") } else { bytes }))
}

/// The character that Ctrl and a key send. `c` is the character of the key without Shift.
fn control(c: char, shift: bool) -> Option<char> {
    Some(match c {
        'a'..='z' | '[' | '\\' | ']' => char::from(c as u8 & 0x1f),
        '2' => '\0',
        '6' => '\u{1e}',
        '/' if !shift => '\u{1f}',
        '-' if shift => '\u{1f}',
        _ => return None,
    })
}

/// Returns a mouse button with its modifiers, as written in Unterm's configuration.
///
/// # Errors
/// Fails if Unterm can't bind this button.
pub(super) fn button<'a>(
    modifiers: impl IntoIterator<Item = &'a str>,
    button: &str,
) -> Result<String, String> {
    // Convert the modifiers together with a key that every keyboard has, and then remove the key.
    let chord = super::keys::chord(modifiers, "x")?;
    let held = chord.strip_suffix('x').unwrap_or_default();
    Ok(format!("{held}{button}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sent_key_becomes_its_bytes() {
        for (chord, bytes) in [
            ("ctrl+a", r"\u{1}"),
            ("ctrl+[", r"\e"),
            ("alt+b", r"\eb"),
            ("ctrl+alt+c", r"\e\u{3}"),
            ("shift+x", "X"),
            ("enter", r"\r"),
            ("shift+tab", r"\e[Z"),
            ("left", r"\e[D"),
            ("ctrl+left", r"\e[1;5D"),
            ("shift+page_up", r"\e[5;2~"),
            ("ctrl+space", r"\u{0}"),
            ("alt+enter", r"\e\r"),
            ("shift+1", "!"),
            ("shift+enter", r"\r"),
            ("ctrl+shift+2", r"\u{0}"),
            ("ctrl+shift+-", r"\u{1f}"),
            ("ctrl+backspace", r"\u{8}"),
            ("f1", r"\eOP"),
            ("shift+f1", r"\e[1;2P"),
            ("f5", r"\e[15~"),
            ("ctrl+f12", r"\e[24;5~"),
        ] {
            assert_eq!(key(chord).as_deref(), Ok(format!("send_text:{bytes}").as_str()), "{chord}");
        }
        for chord in ["super+a", "f25", "ctrl+1"] {
            assert!(key(chord).is_err(), "{chord}");
        }
    }
}
