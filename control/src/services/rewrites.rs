//! What a shell makes of a line before it runs it: continued lines, quoted words, lines of its history. Knows nothing of
//! variables, aliases, functions, `eval` or scripts: rules on lines don't see through those.

use super::{parts::parts, shell::Shell};

/// Words before a command that is run all the same.
const PREFIXES: [&str; 14] = [
    "!", "{", "builtin", "command", "exec", "time", "if", "then", "elif", "else", "while", "until",
    "do", "noglob",
];

/// The line with continued lines joined, as a shell reads them: a backslash before a line's end is removed with it.
pub fn joined(line: &str) -> String {
    line.replace("\\\r\n", "").replace("\\\n", "").replace("\\\r", "")
}

/// The line without quotes and backslashes, which a shell takes out of its words: `r\m` and `'r'm` run `rm`.
pub fn unquoted(line: &str) -> String {
    line.replace(['\\', '\'', '"'], "")
}

/// Why a line runs a command of the history, which its text does not contain; `None`: it does not.
pub fn runs_history(line: &str) -> Option<&'static str> {
    let is_found = match parts(line, 0) {
        Some(parts) => parts.into_iter().any(is_history_command),
        // Where the commands of a line can't be told apart, any word may be one.
        None => line.split_whitespace().any(is_history_command),
    };
    is_found.then_some("fc and r run lines of the history")
}

fn is_history_command(command: &str) -> bool {
    let command = unquoted(command);
    let is_before = |word: &&str| PREFIXES.contains(word) || word.contains('=');
    let mut words = command.split_whitespace().skip_while(is_before);
    let name = words.next().unwrap_or_default().trim_end_matches(')');
    // `r = 1` is a line of another language, in a here-document.
    matches!(name, "fc" | "r") && !words.next().is_some_and(|next| next.starts_with('='))
}

/// Why a shell that reads this at its prompt runs another line; `None`: it does not. Sees `!` where bash and zsh do: outside
/// single quotes, and with an event behind it. `None` for a shell that is not known.
pub fn is_rewritten(shell: Option<Shell>, line: &str) -> Option<&'static str> {
    match shell {
        Some(Shell::PowerShell | Shell::Cmd) => return None,
        // There it begins the name of a program.
        Some(Shell::Nushell) => {}
        _ if line.starts_with('^') => return Some("^ edits the last line of the history"),
        // The first line of a script, in a here-document.
        _ if line.starts_with("#!/") => return None,
        _ => {}
    }
    let (mut is_single, mut is_double, mut has_quoted_event) = (false, false, false);
    let mut chars = line.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        match char {
            // What is escaped is passed over.
            '\\' if !is_single && chars.next().is_some() => {}
            '\\' if !is_single => return Some("it goes on in the next line"),
            '\'' if !is_double => is_single = !is_single,
            '"' if !is_single => is_double = !is_double,
            '!' => {
                let event = chars.peek().map_or(' ', |&(_, next)| next);
                let is_event =
                    !event.is_whitespace() && !matches!(event, '=' | '"' | '\'' | '(' | ')');
                let is_variable = line[..at].ends_with('$') || line[..at].ends_with("${");
                has_quoted_event |= is_event && is_single;
                if is_event && !is_variable && !is_single {
                    return Some(EVENT);
                }
            }
            _ => {}
        }
    }
    // The quote may have been opened in an earlier line, and be closed in this one.
    (has_quoted_event && (is_single || is_double)).then_some(EVENT)
}

const EVENT: &str = "! inserts a line of the history";

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
        for line in [
            "fc -s",
            "r",
            "true; fc -s touch",
            "builtin fc -e -",
            "$(r touch)",
            "(r)",
            "if a; then r; fi",
            "if fc -s; then a; fi",
            "! fc -s",
            "A=b fc -s",
            "\\fc -s",
            "f'c' -s",
            "echo \"$(fc -s)\" fc",
        ] {
            assert!(runs_history(line).is_some(), "{line}");
        }
        for line in [
            "echo fc",
            "rm r",
            "./r",
            "fcgi",
            "cargo r",
            "awk '{r = 1}'",
            "sed 's/a/b/;r file' x",
            "r = get()",
            "echo 'a; r'",
            "git commit -m \"it's a r\"",
        ] {
            assert_eq!(runs_history(line), None, "{line}");
        }
    }

    #[test]
    fn a_line_that_its_shell_rewrites_is_seen() {
        for line in [
            "!!",
            "sudo !!",
            "!touch",
            "echo \"!t\"",
            "!-1",
            "^a^b",
            "to\\",
            "a\\\\!b",
            "x=!$",
            "{!t;}",
            "$!!t",
            "closed' !!",
        ] {
            assert!(is_rewritten(Some(Shell::Bash), line).is_some(), "{line}");
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
            "assert!(x);",
            "#!/bin/sh",
            "a\\\\",
            "sed s/^a//",
        ] {
            assert_eq!(is_rewritten(Some(Shell::Bash), line), None, "{line}");
        }
        assert_eq!(is_rewritten(Some(Shell::Nushell), "^ls"), None, "a program's name");
        assert_eq!(is_rewritten(Some(Shell::PowerShell), "dir C:\\"), None, "no continuation");
    }
}
