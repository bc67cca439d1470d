//! Parses the keys of the toolset `tester`: a text of names and characters. If several names match, the longest one
//! wins.

/// A part of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TesterInput {
    /// Text to type unchanged.
    Text(String),
    /// A key to press, by its name in `session.keys`.
    Key(String),
}

const NAMED: [(&str, &str); 14] = [
    ("Backspace", "backspace"),
    ("PageDown", "pagedown"),
    ("PageUp", "pageup"),
    ("Escape", "escape"),
    ("Delete", "delete"),
    ("Insert", "insert"),
    ("Enter", "enter"),
    ("Right", "right"),
    ("Down", "down"),
    ("Left", "left"),
    ("Home", "home"),
    ("End", "end"),
    ("Tab", "tab"),
    ("Up", "up"),
];

/// The key whose name is at the start of a text, with the length of that name.
fn key(text: &str) -> Option<(String, usize)> {
    if let Some((name, key)) = NAMED.iter().find(|(name, _)| text.starts_with(name)) {
        return Some(((*key).to_owned(), name.len()));
    }
    if let Some(letter) = text.strip_prefix("Ctrl+").and_then(|rest| rest.chars().next()) {
        return letter
            .is_ascii_uppercase()
            .then(|| (format!("ctrl+{}", letter.to_ascii_lowercase()), "Ctrl+".len() + 1));
    }
    let digits = text.strip_prefix('F')?;
    [2, 1].into_iter().find_map(|length| {
        let number: u8 = digits.get(..length)?.parse().ok()?;
        let is_plain = !digits.starts_with(['0', '+']);
        (is_plain && (1..=12).contains(&number)).then(|| (format!("f{number}"), 1 + length))
    })
}

/// The parts of a text, in order.
pub fn parts(mut text: &str) -> Vec<TesterInput> {
    let mut parts = Vec::new();
    let mut literal = String::new();
    while let Some(char) = text.chars().next() {
        if let Some((key, length)) = key(text) {
            if !literal.is_empty() {
                parts.push(TesterInput::Text(std::mem::take(&mut literal)));
            }
            parts.push(TesterInput::Key(key));
            text = &text[length..];
        } else {
            literal.push(char);
            text = &text[char.len_utf8()..];
        }
    }
    if !literal.is_empty() {
        parts.push(TesterInput::Text(literal));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_keys_and_all_else_is_typed() {
        let text = |text: &str| TesterInput::Text(text.to_owned());
        let key = |key: &str| TesterInput::Key(key.to_owned());
        assert_eq!(parts("iHello, World!Escape"), [text("iHello, World!"), key("escape")]);
        assert_eq!(parts("Escape:wqEnter"), [key("escape"), text(":wq"), key("enter")]);
        assert_eq!(parts("DownDownEnter"), [key("down"), key("down"), key("enter")]);
        assert_eq!(parts("F12F1F10x"), [key("f12"), key("f1"), key("f10"), text("x")]);
        assert_eq!(parts("F0F13"), [text("F0"), key("f1"), text("3")].to_vec());
        assert_eq!(parts("Ctrl+CCtrl+c"), [key("ctrl+c"), text("Ctrl+c")]);
        assert_eq!(parts("PageUpUp"), [key("pageup"), key("up")]);
        assert_eq!(parts("enter é"), [text("enter é")]);
        assert_eq!(parts(""), []);
    }
}
