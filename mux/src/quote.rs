//! Texts as words of shells' languages.

/// One word of POSIX shells: out of the quotes for a quote, and in again.
pub fn posix(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// One word of fish, in whose quotes a backslash means something.
pub fn fish(text: &str) -> String {
    format!("'{}'", text.replace('\\', r"\\").replace('\'', r"\'"))
}
