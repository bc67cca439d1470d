//! The names of keys in this protocol.

/// Names that differ from those of `session.keys`.
const OTHERS: [(&str, &str); 1] = [("shift_tab", "shift+tab")];
/// Names that are the same.
const SAME: [&str; 15] = [
    "enter",
    "escape",
    "tab",
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

/// The name of a key for `session.keys`.
///
/// # Errors
/// There is no such key, as a message for clients.
pub fn key(name: &str) -> Result<String, String> {
    if let Some((_, other)) = OTHERS.iter().find(|(own, _)| *own == name) {
        return Ok((*other).to_owned());
    }
    if SAME.contains(&name) {
        return Ok(name.to_owned());
    }
    let is_number = |digits: &str| (1..=12).any(|number: u8| number.to_string() == digits);
    if name.strip_prefix('f').is_some_and(is_number) {
        return Ok(name.to_owned());
    }
    if let Some(letter) = name.strip_prefix("ctrl_")
        && let [b'a'..=b'z'] = letter.as_bytes()
    {
        return Ok(format!("ctrl+{letter}"));
    }
    Err(format!(
        "unknown key {name:?}: keys are {}, shift_tab, f1 to f12 and ctrl_a to ctrl_z",
        SAME.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_documented_key_is_known_and_no_other() {
        for name in SAME.iter().chain(&["f1", "f12"]) {
            assert_eq!(key(name).as_deref(), Ok(*name));
        }
        assert_eq!(key("shift_tab").as_deref(), Ok("shift+tab"));
        assert_eq!(key("ctrl_c").as_deref(), Ok("ctrl+c"));
        for wrong in ["", "Enter", "f0", "f13", "f01", "ctrl_", "ctrl_1", "ctrl_cc", "a", "ctrl+c"]
        {
            assert!(key(wrong).unwrap_err().contains("unknown key"), "{wrong}");
        }
    }
}
