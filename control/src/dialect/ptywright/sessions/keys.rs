//! The key names of the ptywright protocol.

use unterm_plugin::{is_key, key_names};

/// Converts the name of a key to the name that `session.keys` expects.
///
/// # Errors
/// There is no such key. A message for clients.
pub fn key(name: &str) -> Result<String, String> {
    if !is_key(name) {
        return Err(format!("unknown key {name:?}: keys are {}", key_names()));
    }
    Ok(match name.strip_prefix("ctrl_") {
        Some(letter) => format!("ctrl+{letter}"),
        None if name == "shift_tab" => "shift+tab".to_owned(),
        None => name.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use unterm_plugin::NAMED_KEYS;

    use super::*;

    #[test]
    fn every_documented_key_is_known_and_no_other() {
        let same = NAMED_KEYS.iter().filter(|name| **name != "shift_tab");
        for name in same.chain(&["f1", "f12"]) {
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
