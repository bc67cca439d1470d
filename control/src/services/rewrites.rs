//! What a shell makes of a line before it runs it, where that is another command than the line's text: continued lines, lines of
//! the history. Knows nothing of variables, aliases, functions, `eval` or scripts: rules on lines don't see through those.

use std::borrow::Cow;

/// Where a command begins.
const STARTS: [char; 8] = [';', '&', '|', '(', '{', '`', '\n', '\r'];
/// Words before a command that is run all the same.
const PREFIXES: [&str; 6] = ["builtin", "command", "exec", "time", "then", "do"];

/// The line with continued lines joined, as a shell reads them: a backslash before a line's end is removed with it.
pub fn joined(line: &str) -> Cow<'_, str> {
    match line.contains("\\\n") || line.contains("\\\r") {
        true => line.replace("\\\r\n", "").replace("\\\n", "").replace("\\\r", "").into(),
        false => line.into(),
    }
}

/// Why a line runs a command of the history, which its text does not contain; `None`: it does not.
pub fn runs_history(line: &str) -> Option<&'static str> {
    let mut commands = line.split(STARTS).map(|command| {
        let mut words = command.split_whitespace().skip_while(|word| PREFIXES.contains(word));
        words.next().unwrap_or_default()
    });
    commands.any(|word| matches!(word, "fc" | "r")).then_some("fc and r run lines of the history")
}

/// Why a shell that reads this at its prompt runs another line; `None`: it does not. Sees `!` where bash and zsh do: outside
/// single quotes, and with an event behind it.
pub fn is_rewritten(line: &str) -> Option<&'static str> {
    if line.starts_with('^') {
        return Some("^ edits the last line of the history");
    }
    let mut chars = line.chars().peekable();
    let (mut is_quoted, mut is_double, mut before) = (false, false, ' ');
    while let Some(char) = chars.next() {
        match char {
            '\\' if !is_quoted => {
                if chars.next().is_none() {
                    return Some("it goes on in the next line");
                }
            }
            '\'' if !is_double => is_quoted = !is_quoted,
            '"' if !is_quoted => is_double = !is_double,
            '!' if !is_quoted && !matches!(before, '$' | '{') => {
                let event = chars.peek().copied().unwrap_or(' ');
                if !event.is_whitespace() && !matches!(event, '=' | '"' | '\'' | '(' | ')') {
                    return Some("! inserts a line of the history");
                }
            }
            _ => {}
        }
        before = char;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn continued_lines_are_one() {
        assert_eq!(joined("to\\\nuch x\\\r\ny"), "touch xy");
        assert_eq!(joined("a \\b\nc"), "a \\b\nc");
    }

    #[test]
    fn commands_of_the_history_are_seen_by_name() {
        for line in
            ["fc -s", "r", "true; fc -s touch", "builtin fc -e -", "$(r touch)", "if a; then r"]
        {
            assert!(runs_history(line).is_some(), "{line}");
        }
        for line in ["echo fc", "rm r", "./r", "fcgi", "cargo r"] {
            assert_eq!(runs_history(line), None, "{line}");
        }
    }

    #[test]
    fn a_line_that_its_shell_rewrites_is_seen() {
        for line in
            ["!!", "sudo !!", "!touch", "echo \"!t\"", "!-1", "^a^b", "to\\", "a\\\\!b", "x=!$"]
        {
            assert!(is_rewritten(line).is_some(), "{line}");
        }
        for line in [
            "echo 'a!b'",
            "find . ! -name x",
            "[ a != b ]",
            "echo hi!",
            "echo \"hi!\"",
            "echo \\!b",
            "kill $!",
            "echo ${!name}",
            "a\\\\",
            "sed s/^a//",
        ] {
            assert_eq!(is_rewritten(line), None, "{line}");
        }
    }
}
