//! Quotes text as one word in the language of a shell.

/// Quotes a word for POSIX shells. For a single quote inside the word, the quoted text ends, an escaped quote follows,
/// and quoted text begins again.
pub fn posix(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Quotes a word for the shell with this name, such as `fish`. An unknown shell gets POSIX quoting.
pub fn for_shell(shell: &str, text: &str) -> String {
    match shell {
        "fish" => fish(text),
        "pwsh" | "powershell" => powershell(text),
        "nu" => nu(text),
        _ => posix(text),
    }
}

/// Quotes a word for PowerShell, which treats typographic quotes like plain quotes.
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

/// Quotes a word for Nushell. A single-quoted string of Nushell may contain any character except a single quote.
pub fn nu(text: &str) -> String {
    match text.contains('\'') {
        true => format!("\"{}\"", text.replace('\\', r"\\").replace('"', "\\\"")),
        false => format!("'{text}'"),
    }
}

/// Quotes a word for fish. In fish, a backslash inside quotes is an escape character.
pub fn fish(text: &str) -> String {
    format!("'{}'", text.replace('\\', r"\\").replace('\'', r"\'"))
}
