//! Texts as words of shells' languages.

/// One word of POSIX shells: out of the quotes for a quote, and in again.
pub fn posix(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// One word of a shell's language by the shell's name, as `fish`; of POSIX shells where the name is another's.
pub fn for_shell(shell: &str, text: &str) -> String {
    match shell {
        "fish" => fish(text),
        "pwsh" | "powershell" => powershell(text),
        "nu" => nu(text),
        _ => posix(text),
    }
}

/// One word of PowerShell, which reads typographic quotes as plain ones.
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

/// One word of Nushell, whose single quotes hold everything but themselves.
pub fn nu(text: &str) -> String {
    match text.contains('\'') {
        true => format!("\"{}\"", text.replace('\\', r"\\").replace('"', "\\\"")),
        false => format!("'{text}'"),
    }
}

/// One word of fish, in whose quotes a backslash means something.
pub fn fish(text: &str) -> String {
    format!("'{}'", text.replace('\\', r"\\").replace('\'', r"\'"))
}
