//! Converts the parts of other terminals' actions that are no actions of Unterm: the bytes of keys, programs to start,
//! and mouse buttons.

use super::text::typed;

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
        (Some(c @ 'a'..='z'), "") if ctrl => char::from(c as u8 & 0x1f).to_string(),
        (Some(c @ ('[' | '\\' | ']')), "") if ctrl => char::from(c as u8 & 0x1f).to_string(),
        (Some(c), "") if !ctrl && !shift => c.to_string(),
        (Some(c @ 'a'..='z'), "") if !ctrl => c.to_ascii_uppercase().to_string(),
        _ => match (name, ctrl || shift) {
            ("space", _) if ctrl => "\0".to_owned(),
            ("space", false) => " ".to_owned(),
            ("plus", false) => "+".to_owned(),
            ("enter", false) => "\r".to_owned(),
            ("tab", false) => "\t".to_owned(),
            ("tab", _) if !ctrl => "\u{1b}[Z".to_owned(),
            ("escape", false) => "\u{1b}".to_owned(),
            ("backspace", false) => "\u{7f}".to_owned(),
            _ => {
                let end = match name {
                    "up" => "A",
                    "down" => "B",
                    "right" => "C",
                    "left" => "D",
                    "home" => "H",
                    "end" => "F",
                    "insert" => "2~",
                    "delete" => "3~",
                    "page_up" => "5~",
                    "page_down" => "6~",
                    _ => return Err(unknown()),
                };
                // The sequences of xterm with modifiers: `CSI 1 ; modifiers letter`, and `CSI number ; modifiers ~`.
                let held = 1 + u8::from(shift) + 2 * u8::from(alt) + 4 * u8::from(ctrl);
                let sequence = match (held, end.strip_suffix('~')) {
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
        ] {
            assert_eq!(key(chord).as_deref(), Ok(format!("send_text:{bytes}").as_str()), "{chord}");
        }
        for chord in ["super+a", "f5", "ctrl+1"] {
            assert!(key(chord).is_err(), "{chord}");
        }
    }
}
