//! The names of keys in tmux: `C-c`, `M-Left`, `Enter`.

/// Names of keys that differ from the names in `session.keys`.
const NAMES: [(&str, &str); 22] = [
    ("bspace", "backspace"),
    ("bs", "backspace"),
    ("dc", "delete"),
    ("delete", "delete"),
    ("ic", "insert"),
    ("insert", "insert"),
    ("ppage", "page_up"),
    ("pageup", "page_up"),
    ("pgup", "page_up"),
    ("npage", "page_down"),
    ("pagedown", "page_down"),
    ("pgdn", "page_down"),
    ("enter", "enter"),
    ("escape", "escape"),
    ("tab", "tab"),
    ("space", "space"),
    ("up", "up"),
    ("down", "down"),
    ("left", "left"),
    ("right", "right"),
    ("home", "home"),
    ("end", "end"),
];
const KEYPAD: [(&str, &str); 6] = [
    ("kp/", "kp_divide"),
    ("kp*", "kp_multiply"),
    ("kp-", "kp_subtract"),
    ("kp+", "kp_add"),
    ("kpenter", "kp_enter"),
    ("kp.", "kp_decimal"),
];

/// The name of a key for `session.keys`. `None` if the text is no key's name, so that tmux types the text.
pub fn method_name(name: &str) -> Option<String> {
    let mut modifiers = String::new();
    let mut rest = name;
    if let Some(key) = rest.strip_prefix('^')
        && key.chars().count() == 1
    {
        modifiers.push_str("ctrl+");
        rest = key;
    }
    loop {
        let (modifier, after) = match rest.as_bytes() {
            [b'C' | b'c', b'-', _, ..] => ("ctrl+", &rest[2..]),
            [b'M' | b'm', b'-', _, ..] => ("alt+", &rest[2..]),
            [b'S' | b's', b'-', _, ..] => ("shift+", &rest[2..]),
            _ => break,
        };
        if !modifiers.contains(modifier) {
            modifiers.push_str(modifier);
        }
        rest = after;
    }
    let lower = rest.to_ascii_lowercase();
    if lower == "btab" {
        return Some(format!("{modifiers}shift+tab"));
    }
    let named = NAMES.iter().chain(&KEYPAD).find(|(known, _)| *known == lower);
    if let Some((_, key)) = named {
        return Some(format!("{modifiers}{key}"));
    }
    let number = |prefix: &str| lower.strip_prefix(prefix)?.parse::<u8>().ok();
    if let Some(number) = number("f").filter(|number| (1..=12).contains(number)) {
        return Some(format!("{modifiers}f{number}"));
    }
    if let Some(number) = number("kp").filter(|number| *number <= 9) {
        return Some(format!("{modifiers}kp_{number}"));
    }
    let mut chars = rest.chars();
    match (chars.next(), chars.next()) {
        // A character without a modifier is text.
        (Some(char), None) if !modifiers.is_empty() => {
            let char = if char == '+' { "plus".to_owned() } else { char.to_string() };
            // Control does not depend on Shift, as in tmux.
            let char = if modifiers.contains("ctrl") { char.to_lowercase() } else { char };
            Some(format!("{modifiers}{char}"))
        }
        _ => None,
    }
}

/// The names of keys as tmux shows them.
const CANONICAL: [&str; 40] = [
    "BSpace", "BTab", "DC", "Down", "End", "Enter", "Escape", "F1", "F10", "F11", "F12", "F2",
    "F3", "F4", "F5", "F6", "F7", "F8", "F9", "Home", "IC", "KP*", "KP+", "KP-", "KP.", "KP/",
    "KP0", "KP1", "KP2", "KP3", "KP4", "KP5", "KP6", "KP7", "KP8", "KP9", "KPEnter", "Left",
    "NPage", "PPage",
];

/// The name of a key as tmux shows it: `^a` and `c-a` are `C-a`. `None` if the text is no key's name.
pub fn canonical(name: &str) -> Option<String> {
    if name.eq_ignore_ascii_case("none") {
        return Some("None".to_owned());
    }
    if name.eq_ignore_ascii_case("any") {
        return Some("Any".to_owned());
    }
    let (mut ctrl, mut meta, mut shift) = (false, false, false);
    let mut rest = name;
    loop {
        match rest.as_bytes() {
            [b'^', _, ..] => (ctrl, rest) = (true, &rest[1..]),
            [b'C' | b'c', b'-', _, ..] => (ctrl, rest) = (true, &rest[2..]),
            [b'M' | b'm', b'-', _, ..] => (meta, rest) = (true, &rest[2..]),
            [b'S' | b's', b'-', _, ..] => (shift, rest) = (true, &rest[2..]),
            _ => break,
        }
    }
    let known = |known: &&&str| known.eq_ignore_ascii_case(rest);
    let others = ["Right", "Space", "Tab", "Up"];
    let named = CANONICAL.iter().chain(&others).find(known).map(|name| (*name).to_owned());
    let other = || match rest.to_ascii_lowercase().as_str() {
        "bs" => Some("BSpace".to_owned()),
        "delete" => Some("DC".to_owned()),
        "insert" => Some("IC".to_owned()),
        "pagedown" | "pgdn" => Some("NPage".to_owned()),
        "pageup" | "pgup" => Some("PPage".to_owned()),
        _ => None,
    };
    let mouse = || is_mouse(rest).then(|| rest.to_owned());
    let mut chars = rest.chars();
    let only = match (chars.next(), chars.next()) {
        (Some(' '), None) => Some("Space".to_owned()),
        (Some(char), None) if !char.is_control() => Some(char.to_string()),
        _ => None,
    };
    let key = named.or_else(other).or_else(mouse).or(only)?;
    let modifiers = [(ctrl, "C-"), (meta, "M-"), (shift, "S-")];
    let modifiers = modifiers.iter().filter(|(is_down, _)| *is_down).map(|(_, name)| *name);
    Some(modifiers.collect::<String>() + &key)
}

/// Whether a text names a mouse event, such as `MouseDown1Pane`.
fn is_mouse(name: &str) -> bool {
    const PLACES: [&str; 6] =
        ["Pane", "StatusLeft", "StatusRight", "StatusDefault", "Status", "Border"];
    let Some(event) = PLACES.iter().find_map(|place| name.strip_suffix(place)) else {
        return false;
    };
    let buttons = [
        "MouseDown",
        "MouseUp",
        "MouseDragEnd",
        "MouseDrag",
        "SecondClick",
        "DoubleClick",
        "TripleClick",
    ];
    matches!(event, "MouseMove" | "WheelUp" | "WheelDown")
        || buttons.iter().any(|button| {
            event.strip_prefix(button).is_some_and(|it| matches!(it, "1" | "2" | "3" | "6" | "7"))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_the_names_of_tmux() {
        for (name, expected) in [
            ("Enter", "enter"),
            ("C-c", "ctrl+c"),
            ("^C", "ctrl+c"),
            ("M-x", "alt+x"),
            ("M-X", "alt+X"),
            ("C-M-Left", "ctrl+alt+left"),
            ("S-Up", "shift+up"),
            ("BTab", "shift+tab"),
            ("BSpace", "backspace"),
            ("PPage", "page_up"),
            ("PgDn", "page_down"),
            ("DC", "delete"),
            ("F5", "f5"),
            ("KP7", "kp_7"),
            ("KPEnter", "kp_enter"),
            ("C-+", "ctrl+plus"),
            ("C-Space", "ctrl+space"),
        ] {
            assert_eq!(method_name(name).as_deref(), Some(expected), "{name}");
        }
        for text in ["a", "hello", "C-", "F13", "", "^", "Entr", "C-ab", "é"] {
            assert_eq!(method_name(text), None, "{text}");
        }
    }

    #[test]
    fn keys_are_shown_with_one_name() {
        for (name, expected) in [
            ("^a", Some("C-a")),
            ("m-c-left", Some("C-M-Left")),
            ("S-pgup", Some("S-PPage")),
            ("f12", Some("F12")),
            (" ", Some("Space")),
            ("-", Some("-")),
            ("é", Some("é")),
            ("None", Some("None")),
            ("MouseDown1Pane", Some("MouseDown1Pane")),
            ("C-WheelUpStatus", Some("C-WheelUpStatus")),
            ("F13", None),
            ("ab", None),
            ("", None),
            ("MouseDown4Pane", None),
        ] {
            assert_eq!(canonical(name).as_deref(), expected, "{name}");
        }
    }
}
