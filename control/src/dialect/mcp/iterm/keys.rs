//! Converts key names of the iTerm2 MCP tools to the bytes that the keys send.

/// The named keys, in the order in which errors list them.
const NAMED: [(&str, &str); 12] = [
    ("up", "\x1b[A"),
    ("down", "\x1b[B"),
    ("left", "\x1b[D"),
    ("right", "\x1b[C"),
    ("enter", "\r"),
    ("return", "\r"),
    ("tab", "\t"),
    ("escape", "\x1b"),
    ("esc", "\x1b"),
    ("backspace", "\x7f"),
    ("delete", "\x7f"),
    ("space", " "),
];

/// The bytes of keys, whose names are separated by blanks.
///
/// # Errors
/// Some names are unknown. The message lists them. The caller must then send nothing.
pub fn bytes(names: &str) -> Result<String, String> {
    let names = names.to_lowercase();
    let keys: Vec<&str> = names.split_whitespace().collect();
    let unknown: Vec<&str> = keys.iter().copied().filter(|key| one(key).is_none()).collect();
    if !unknown.is_empty() {
        let valid: Vec<&str> = NAMED.iter().map(|(name, _)| *name).collect();
        return Err(format!(
            "Unknown key(s): {}. Valid keys: {}",
            listed(&unknown),
            listed(&[valid.as_slice(), &["ctrl+<letter>"]].concat())
        ));
    }
    Ok(keys.into_iter().filter_map(one).collect())
}

/// Writes a list in the form of the protocol's errors.
pub fn listed(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    format!("[{}]", names.join(", "))
}

fn one(name: &str) -> Option<String> {
    if let Some((_, bytes)) = NAMED.iter().find(|(named, _)| *named == name) {
        return Some((*bytes).to_owned());
    }
    match name.strip_prefix("ctrl+")?.as_bytes() {
        [letter @ b'a'..=b'z'] => Some(char::from(letter - b'a' + 1).to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_bytes_and_one_that_is_none_refuses_all() {
        assert_eq!(bytes("ctrl+c").unwrap(), "\x03");
        assert_eq!(bytes(" UP  Enter\n").unwrap(), "\x1b[A\r");
        assert_eq!(bytes("ctrl+a ctrl+k delete backspace").unwrap(), "\x01\x0b\x7f\x7f");
        assert_eq!(bytes("").unwrap(), "");
        let error = bytes("up entr ctrl+1").unwrap_err();
        assert!(
            error.starts_with("Unknown key(s): ['entr', 'ctrl+1']. Valid keys: ['up', 'down', "),
            "{error}"
        );
    }
}
