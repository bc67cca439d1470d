//! Determines how a shell changes a line before it runs the line: continuation lines, quotes and history. Variables,
//! aliases, functions, `eval` and scripts are out of scope, so rules on lines can't see through them.

use super::{command_parts::parts, kind::Shell};

/// Words that may precede a command.
const PREFIXES: [&str; 19] = [
    "!",
    "{",
    "-",
    "builtin",
    "command",
    "coproc",
    "exec",
    "nocorrect",
    "noglob",
    "repeat",
    "time",
    "if",
    "then",
    "elif",
    "else",
    "while",
    "until",
    "do",
    "in",
];

/// The line with continuation lines joined as a shell joins them: each backslash before a line end is removed together
/// with the line end.
pub fn joined(line: &str) -> String {
    line.replace("\\\r\n", "").replace("\\\n", "").replace("\\\r", "")
}

/// The line without quotes and backslashes, which a shell removes from words: `r\m` and `'r'm` run `rm`.
pub fn unquoted(line: &str) -> String {
    line.replace(['\\', '\'', '"'], "")
}

/// The reason to refuse a line that runs a command from the shell's history. The line's text does not show such a
/// command.
pub fn runs_history(line: &str) -> Option<&'static str> {
    let bare = unquoted(line);
    // `fc` is refused wherever it is a word, because shells have too many ways to begin a command.
    let mut words = bare.split(|char: char| !(char.is_alphanumeric() || "_./-".contains(char)));
    let prints_event = bare.contains("history -") && bare.contains('!');
    let is_found = words.any(|word| word == "fc")
        || prints_event
        || match parts(line, 0) {
            Some(parts) => parts.into_iter().any(repeats_command),
            // If the line can't be split into commands, each word might be a command.
            None => line.split_whitespace().any(repeats_command),
        };
    is_found.then_some("fc, r and history run lines of the history")
}

/// Whether a command is zsh's `r`, which repeats an earlier command.
fn repeats_command(command: &str) -> bool {
    let command = unquoted(command);
    let mut words = command.split_whitespace().peekable();
    while let Some(word) = words.peek() {
        let redirection =
            word.trim_start_matches(|char: char| char.is_ascii_digit() || char == '&');
        let is_redirection = redirection.starts_with(['<', '>']);
        let is_before = PREFIXES.contains(word)
            || word.contains('=')
            || word.starts_with('-')
            || word.ends_with("()")
            || word.chars().all(|char| char.is_ascii_digit());
        // If the redirection contains no file name, the next word is its file.
        let takes_next =
            is_redirection && redirection.trim_start_matches(['<', '>', '&']).is_empty();
        if !is_before && !is_redirection {
            break;
        }
        words.next();
        if takes_next {
            words.next();
        }
    }
    let name =
        words.next().unwrap_or_default().trim_start_matches(['(', '{']).trim_end_matches(')');
    // `r = 1` is a line of another language, in a here-document.
    name == "r" && !words.next().is_some_and(|next| next.starts_with('='))
}

/// The reason to refuse a line, if a shell that reads it at its prompt would run a different line. Detects `!` where
/// bash and zsh do: outside single quotes, and followed by an event. An unknown shell is treated like bash.
pub fn is_rewritten(shell: Option<Shell>, line: &str) -> Option<&'static str> {
    match shell {
        Some(Shell::PowerShell | Shell::Cmd) => return None,
        // In Nushell, `^` begins the name of an external program, and does not refer to the history.
        Some(Shell::Nushell) => {}
        // fish has no history expansion.
        Some(Shell::Fish) => {}
        _ if line.starts_with('^') => return Some("^ edits the last line of the history"),
        // `#!/` begins a script, in a here-document.
        _ if line.starts_with("#!/") => return None,
        _ => {}
    }
    let (mut is_single, mut is_double, mut has_quoted_event) = (false, false, false);
    let mut chars = line.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        match char {
            // The escaped character is skipped.
            '\\' if !is_single && chars.next().is_some() => {}
            '\\' if !is_single => return Some("it goes on in the next line"),
            '\'' if !is_double => is_single = !is_single,
            '"' if !is_single => is_double = !is_double,
            '!' => {
                let event = chars.peek().map_or(' ', |&(_, next)| next);
                let is_event =
                    !event.is_whitespace() && !matches!(event, '=' | '"' | '\'' | '(' | ')');
                let is_variable = line[..at].ends_with('$') || line[..at].ends_with("${");
                has_quoted_event |= is_event && is_single && shell != Some(Shell::Fish);
                if is_event && !is_variable && !is_single && shell != Some(Shell::Fish) {
                    return Some(EVENT);
                }
            }
            _ => {}
        }
    }
    // An earlier line may have opened the quote, so that this line closes it.
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
            "command -p fc -s",
            "f() { fc -s to; }; f",
            "case x in x) fc -s to;; esac",
            ">/dev/null fc -s to",
            "2>&1 r to",
            "> /dev/null r",
            "a=(x) fc -s",
            "{fc,-s,to}",
            "$'fc' -s to",
            "$(:)fc",
            "trap \"fc -s to\" USR1",
            "command -p r",
            "repeat 1 r to",
            "nocorrect r",
            "- r",
            "$(history -p '!to')",
        ] {
            assert!(runs_history(line).is_some(), "{line}");
        }
        for line in [
            "rm r",
            "./r",
            "fcgi",
            "cargo r",
            "awk '{r = 1}'",
            "sed 's/a/b/;r file' x",
            "r = get()",
            "echo 'a; r'",
            "git commit -m \"it's a r\"",
            "ls fc.txt",
            "history 10",
            "cat <r",
            "cat > r",
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
        for line in ["echo !to", "^a^b", "!!"] {
            assert_eq!(is_rewritten(Some(Shell::Fish), line), None, "{line}");
        }
        assert!(is_rewritten(Some(Shell::Fish), "to\\").is_some());
        assert_eq!(is_rewritten(Some(Shell::PowerShell), "dir C:\\"), None, "no continuation");
    }
}
