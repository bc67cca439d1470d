//! Whether a Nushell command is finished. Nushell has no `eval`, so commands are typed as they are, and its editor waits for
//! the rest of an unfinished one.

/// The missing part of a one-line command, in words: a bracket, the end of a quote, or a command after `|`. `None` if it is
/// finished.
pub fn missing(command: &str) -> Option<String> {
    let mut open = Vec::new();
    let mut rest = command;
    let (mut before, mut last) = (' ', ' ');
    while let Some(char) = rest.chars().next() {
        let starts_word = before.is_whitespace() || "([{|;".contains(before);
        let raw = if starts_word { raw_string(rest) } else { None };
        rest = &rest[char.len_utf8()..];
        match char {
            '#' if starts_word => break,
            '\'' | '"' | '`' => match after_quote(rest, char) {
                Some(after) => rest = after,
                None => return Some(format!("a closing {char}")),
            },
            '(' => open.push(')'),
            '[' => open.push(']'),
            '{' => open.push('}'),
            // An unmatched closing bracket is an error, which Nushell reports.
            ')' | ']' | '}' => drop(open.pop()),
            _ => {}
        }
        if let Some((text, end)) = raw {
            match text.find(&end) {
                Some(at) => rest = &text[at + end.len()..],
                None => return Some(format!("a closing {end}")),
            }
        }
        before = char;
        if !char.is_whitespace() {
            last = char;
        }
    }
    match open.pop() {
        Some(closing) => Some(format!("a closing {closing}")),
        None => (last == '|').then(|| "a command after |".to_owned()),
    }
}

/// The text after the opening quote of a raw string (`r#'…'#`), and the closing quote. `None` if none begins here.
fn raw_string(text: &str) -> Option<(&str, String)> {
    let behind = text.strip_prefix('r')?;
    let inner = behind.trim_start_matches('#');
    let hashes = behind.len() - inner.len();
    Some((inner.strip_prefix('\'')?, format!("'{}", "#".repeat(hashes)))).filter(|_| hashes > 0)
}

/// The text after the end of a quote. Only double quotes have escapes.
fn after_quote(text: &str, quote: char) -> Option<&str> {
    let mut is_escaped = false;
    let end = text.find(|char| {
        let is_end = char == quote && !is_escaped;
        is_escaped = char == '\\' && quote == '"' && !is_escaped;
        is_end
    })?;
    Some(&text[end + quote.len_utf8()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unfinished_command_needs_something() {
        for (command, needs) in [
            ("if true {", "a closing }"),
            ("def f [] { [1 2", "a closing ]"),
            ("echo (1", "a closing )"),
            ("echo it's", "a closing '"),
            (r#"echo "a\""#, "a closing \""),
            ("echo `a", "a closing `"),
            ("r##'a'# (", "a closing '##"),
            ("ls |", "a command after |"),
            ("ls | # all", "a command after |"),
            ("echo a#b{", "a closing }"),
        ] {
            assert_eq!(missing(command).as_deref(), Some(needs), "{command}");
        }
    }

    #[test]
    fn a_finished_command_needs_nothing() {
        for command in [
            "",
            "ls | where name =~ 'it(' | get name",
            "if true { echo \"}\" } else { [1 2] }",
            "echo # {",
            "r#'a{'#",
            "echo r#'it's'# [1]",
            r"echo \",
            r#"echo "\\""#,
            "echo }",
            "echo a'b'c",
        ] {
            assert_eq!(missing(command), None, "{command}");
        }
    }
}
