//! Checks whether a Nushell command is complete. Nushell has no `eval`, so commands are typed unchanged, and its editor
//! would wait for the rest of an incomplete command.

/// The maximum nesting depth of interpolations.
const DEEPEST: usize = 50;

/// The missing part of a command, in words: a bracket, the end of a quote, or a command after `|`. `None` if the
/// command is complete.
pub fn missing(command: &str) -> Option<String> {
    Scan { rest: command, before: ' ', last: ' ', depth: 0 }.expression(None).err()
}

/// The part of a command that is still to be read.
struct Scan<'a> {
    rest: &'a str,
    /// The character before `rest`.
    before: char,
    /// The last character before `rest` that is not a blank.
    last: char,
    /// The number of interpolations around `rest`.
    depth: usize,
}

impl Scan<'_> {
    /// Reads up to the closing bracket `until`, which ends an interpolation, or to the end of the command.
    ///
    /// # Errors
    /// The command is incomplete. The error names the missing part.
    fn expression(&mut self, until: Option<char>) -> Result<(), String> {
        let mut open: Vec<char> = until.into_iter().collect();
        loop {
            let starts_word = self.before.is_whitespace() || "([{|;".contains(self.before);
            let raw = if starts_word { raw_string(self.rest) } else { None };
            if let Some((text, end)) = raw {
                let at = text.find(&end).ok_or_else(|| format!("a closing {end}"))?;
                self.rest = &text[at + end.len()..];
                (self.before, self.last) = ('#', '#');
                continue;
            }
            let Some(char) = self.rest.chars().next() else { break };
            self.rest = &self.rest[char.len_utf8()..];
            let is_interpolation = self.before == '$' && matches!(char, '\'' | '"');
            self.before = char;
            if !(char.is_whitespace() || char == '#' && starts_word) {
                self.last = char;
            }
            match char {
                '#' if starts_word => {
                    self.rest = self.rest.find('\n').map_or("", |end| &self.rest[end..]);
                }
                '\'' | '"' | '`' => self.quote(char, is_interpolation)?,
                '(' => open.push(')'),
                '[' => open.push(']'),
                '{' => open.push('}'),
                // A closing bracket without an opening one is an error, which Nushell reports itself.
                ')' | ']' | '}' => {
                    open.pop();
                    if until.is_some() && open.is_empty() {
                        return Ok(());
                    }
                }
                _ => {}
            }
        }
        match open.pop() {
            Some(closing) => Err(format!("a closing {closing}")),
            None if self.last == '|' => Err("a command after |".to_owned()),
            None => Ok(()),
        }
    }

    /// Reads a quote up to its end. Only double quotes have escapes. An interpolation contains expressions in parentheses.
    fn quote(&mut self, quote: char, is_interpolation: bool) -> Result<(), String> {
        loop {
            let mut chars = self.rest.chars();
            let Some(char) = chars.next() else { return Err(format!("a closing {quote}")) };
            if char == '\\' && quote == '"' {
                chars.next();
            }
            self.rest = chars.as_str();
            if char == quote {
                self.before = quote;
                return Ok(());
            }
            if char == '(' && is_interpolation {
                self.before = char;
                self.depth += 1;
                if self.depth > DEEPEST {
                    return Err(format!("at most {DEEPEST} interpolations inside each other"));
                }
                self.expression(Some(')'))?;
                self.depth -= 1;
            }
        }
    }
}

/// The text after the opening quote of a raw string (`r#'…'#`), and the closing quote. `None` if the text does not
/// begin with a raw string.
fn raw_string(text: &str) -> Option<(&str, String)> {
    let behind = text.strip_prefix('r')?;
    let inner = behind.trim_start_matches('#');
    let hashes = behind.len() - inner.len();
    Some((inner.strip_prefix('\'')?, format!("'{}", "#".repeat(hashes)))).filter(|_| hashes > 0)
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
            (r#"$"(1 + "#, "a closing )"),
            (r#"$"(echo "a)""#, "a closing )"),
            (r#"$"(1)"#, "a closing \""),
            ("if true {\nls", "a closing }"),
            ("ls # {\nls (", "a closing )"),
            ("ls |\n", "a command after |"),
        ] {
            assert_eq!(missing(command).as_deref(), Some(needs), "{command}");
        }
    }

    #[test]
    fn nested_interpolations_are_bounded() {
        assert!(missing(&"$\"(".repeat(100_000)).unwrap().starts_with("at most 50"));
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
            r#"$"(echo "(")""#,
            r#"$"\(" "#,
            r#"$"a (echo $"b ('c)')" | str upcase) d)""#,
            "$'it (1 + 1) is'",
            r#"echo "(""#,
            "ls | # all\nget name",
            "if true {\nls # }\n}",
        ] {
            assert_eq!(missing(command), None, "{command}");
        }
    }
}
