//! Quotes text as one word in the language of a shell.

/// Quotes a word for POSIX shells. A single quote closes the quotes, follows escaped, and opens them again.
pub fn posix(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Quotes a word for a shell by its name, such as `fish`. Other shells get POSIX quoting.
pub fn for_shell(shell: &str, text: &str) -> String {
    match shell {
        "fish" => fish(text),
        "pwsh" | "powershell" => powershell(text),
        "nu" => nu(text),
        _ => posix(text),
    }
}

/// Quotes a word for PowerShell, which treats typographic quotes as plain ones.
pub fn powershell(text: &str) -> String {
    let mut word = String::from("'");
    for c in text.chars() {
        word.push(c);
        if matches!(c, '\'' | '\u{2018}'..='\u{201b}') {
            word.push(c);
        }
    }
    word + "'"
}

/// Quotes a word for Nushell. Its single quotes may hold any character except a single quote.
pub fn nu(text: &str) -> String {
    match text.contains('\'') {
        true => format!("\"{}\"", text.replace('\\', r"\\").replace('"', "\\\"")),
        false => format!("'{text}'"),
    }
}

/// Quotes a word for fish, whose quotes treat a backslash as an escape.
pub fn fish(text: &str) -> String {
    format!("'{}'", text.replace('\\', r"\\").replace('\'', r"\'"))
}
