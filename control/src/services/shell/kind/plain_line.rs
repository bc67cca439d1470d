//! Decides whether a command can be typed unchanged at a prompt of bash, zsh or fish, so that the user sees the line
//! that they would have typed.
//!
//! If a typed line has a syntax error, is incomplete or contains a history reference, the shell runs nothing and marks
//! no end. Inside `eval '…'`, such an error is an error of a command, whose end is marked. This module accepts only
//! lines that certainly parse: words, quoted words and variables, joined by pipes, `&&`, `||`, `;` and redirections. It
//! never judges the effect of a line.

use std::{iter::Peekable, str::Chars};

/// Commands longer than this, in bytes, are typed inside `eval`.
const LONGEST: usize = 200;

/// The reserved words of bash and zsh, which begin constructs of several words.
const RESERVED: [&str; 29] = [
    "if",
    "then",
    "elif",
    "else",
    "fi",
    "while",
    "until",
    "for",
    "do",
    "done",
    "in",
    "case",
    "esac",
    "select",
    "function",
    "begin",
    "end",
    "switch",
    "repeat",
    "time",
    "coproc",
    "foreach",
    "and",
    "or",
    "not",
    "break",
    "continue",
    "return",
    "nocorrect",
];

/// Further words with which fish parses a line in another way, or checks it before it runs the line.
const RESERVED_BY_FISH: [&str; 3] = ["builtin", "command", "exec"];

/// Whether the shell certainly parses this as one complete line. `is_fish`: whether the shell is fish, or else bash or
/// zsh.
pub(super) fn is_plain_line(command: &str, is_fish: bool) -> bool {
    // Inside `eval`, zsh would number a background job as the second one.
    let command = command.trim_matches(' ');
    let command = match command.strip_suffix('&') {
        Some(rest) if rest.trim_end().ends_with([';', '|', '&']) => return false,
        Some(rest) => rest,
        None => command,
    };
    command.len() < LONGEST && Line { rest: command.chars().peekable(), is_fish }.is_plain()
}

/// A line that is parsed from its start.
struct Line<'a> {
    rest: Peekable<Chars<'a>>,
    is_fish: bool,
}

impl Line<'_> {
    fn is_plain(&mut self) -> bool {
        let mut has_command = false;
        loop {
            self.skip_blanks();
            let Some(&next) = self.rest.peek() else { return has_command };
            match next {
                '|' | '&' | ';' => {
                    self.rest.next();
                    let is_double = next != ';' && self.rest.next_if_eq(&next).is_some();
                    let is_end = next == ';' && self.is_at_end();
                    if !has_command || next == '&' && !is_double {
                        return false;
                    }
                    has_command = is_end;
                }
                '>' => {
                    if !self.redirects() {
                        return false;
                    }
                }
                _ => {
                    let Some(word) = self.word() else { return false };
                    let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
                    if is_number && self.rest.peek() == Some(&'>') {
                        // The number is the descriptor that is redirected, not a word of the command.
                        continue;
                    }
                    // An assignment alone is not a command for zsh.
                    let begins = RESERVED.contains(&word.as_str())
                        || self.is_fish && RESERVED_BY_FISH.contains(&word.as_str())
                        || self.is_fish && word.contains('$')
                        || word.starts_with("[[")
                        || word.contains('=');
                    if !has_command && begins {
                        return false;
                    }
                    has_command = true;
                }
            }
        }
    }

    fn skip_blanks(&mut self) {
        while self.rest.next_if_eq(&' ').is_some() {}
    }

    fn is_at_end(&mut self) -> bool {
        self.skip_blanks();
        self.rest.peek().is_none()
    }

    /// Reads `>`, `>>` or `>&` and its target.
    fn redirects(&mut self) -> bool {
        self.rest.next();
        if self.rest.next_if_eq(&'&').is_some() {
            let has_number = self.rest.next_if(char::is_ascii_digit).is_some();
            return has_number && matches!(self.rest.peek(), None | Some(' ' | ';' | '|' | '&'));
        }
        self.rest.next_if_eq(&'>');
        self.skip_blanks();
        // A number directly before another redirection would be that redirection's descriptor.
        self.word().is_some() && self.rest.peek() != Some(&'>')
    }

    /// Reads a word, and returns it without quotes. `None` if there is no word, or if it may not parse.
    fn word(&mut self) -> Option<String> {
        let mut word = String::new();
        let mut is_empty = true;
        while let Some(&next) = self.rest.peek() {
            match next {
                ' ' | '|' | '&' | ';' | '<' | '>' => break,
                '\'' => {
                    self.rest.next();
                    self.quoted(&mut word, '\'')?;
                }
                '"' => {
                    self.rest.next();
                    self.quoted(&mut word, '"')?;
                }
                '$' => self.variable(&mut word)?,
                'a'..='z' | 'A'..='Z' | '0'..='9' => word.extend(self.rest.next()),
                '_' | '.' | '/' | ':' | ',' | '@' | '+' | '-' | '%' | '*' | '?' => {
                    word.extend(self.rest.next());
                }
                // `[` is a command. Inside other words, an unfinished pattern would be an error.
                '[' | ']' if is_empty => {
                    word.extend(self.rest.next());
                    return matches!(self.rest.peek(), None | Some(' ' | ';' | '|' | '&'))
                        .then_some(word);
                }
                // At the start of a word, zsh would replace `=name` by the path of the command `name`.
                '=' if !is_empty && !word.starts_with('$') => word.extend(self.rest.next()),
                // After `~`, only `/` or the word's end is accepted: zsh fails if `~name` or `~1` does not exist.
                '~' => {
                    word.extend(self.rest.next());
                    if !matches!(self.rest.peek(), None | Some('/' | ' ' | ';' | '|' | '&')) {
                        return None;
                    }
                }
                next if !next.is_ascii() => word.extend(self.rest.next()),
                _ => return None,
            }
            is_empty = false;
        }
        (!is_empty).then_some(word)
    }

    /// Reads up to the closing quote.
    fn quoted(&mut self, word: &mut String, quote: char) -> Option<()> {
        loop {
            match *self.rest.peek()? {
                next if next == quote => {
                    self.rest.next();
                    return Some(());
                }
                next if next.is_control() => return None,
                '$' if quote == '"' => self.variable(word)?,
                // Bash and zsh expand history references between double quotes, too.
                '!' | '`' | '\\' if quote == '"' => return None,
                // fish reads `\'` and `\\` between single quotes as escaped characters.
                '\\' if self.is_fish => return None,
                _ => word.extend(self.rest.next()),
            }
        }
    }

    /// Reads `$name`, and `$1` or `$?`, which fish does not have.
    fn variable(&mut self, word: &mut String) -> Option<()> {
        word.extend(self.rest.next());
        let is_name = |char: &char| char.is_ascii_alphanumeric() || *char == '_';
        let is_special = |char: &char| char.is_ascii_digit() || *char == '?';
        let first = self.rest.next_if(|char| match self.is_fish {
            true => is_name(char) && !is_special(char),
            false => is_name(char) || is_special(char),
        })?;
        word.push(first);
        if first.is_ascii_alphabetic() || first == '_' {
            while let Some(next) = self.rest.next_if(is_name) {
                word.push(next);
            }
        }
        // In zsh, `[` after a variable begins a subscript.
        (self.rest.peek() != Some(&'[')).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_line_is_what_a_user_types() {
        for line in [
            "ls",
            "make -j4 test &",
            "git log --oneline | head -n 3",
            "echo 'it is (half) done!' && echo \"$HOME is $? here\" || true; ls;",
            "grep -rn needle src > out.txt 2>&1",
            "sort in.txt >> all.txt",
            "[ -f Cargo.toml ]",
            "env FOO=bar",
            "printf '%s\\n' *.rs",
            "cat ~/größe.txt",
            "echo for",
        ] {
            assert!(is_plain_line(line, false), "{line}");
        }
        for line in [
            "ls",
            "make -j4 test &",
            "git log --oneline | head -n 3; ls",
            "echo 'it is (half) done!' && echo \"$HOME here\" || true",
            "grep -rn needle src > out.txt 2>&1",
            "env FOO=bar",
            "ls *.rs ~/größe.txt",
            "echo builtin",
        ] {
            assert!(is_plain_line(line, true), "fish: {line}");
        }
    }

    #[test]
    fn a_line_that_fish_reads_differently_is_not_plain() {
        for line in [
            "builtin nope",
            "ls; command -v ls",
            "exec ls",
            "break",
            "and ls",
            "echo $?",
            "echo $1",
            "echo \"$?\"",
            "$HOME/x",
            "echo 'a\\'",
            "printf '%s\\n'",
        ] {
            assert!(!is_plain_line(line, true), "{line}");
        }
    }

    #[test]
    fn a_line_that_may_not_parse_is_not_plain() {
        for line in [
            "",
            " ",
            "&",
            "| ls",
            "ls |",
            "ls &&",
            "ls & ls",
            "ls ;; ls",
            "ls ; ; ls",
            "a | | b",
            "a ||| b",
            "echo 'open",
            "echo \"open",
            "echo `date`",
            "echo $(date)",
            "echo ${HOME}",
            "echo $",
            "echo $x[",
            "2> file",
            "echo \\",
            "echo hi!",
            "echo \"hi!\"",
            "echo \"\\\"",
            "^a^b^",
            "echo {a,b}",
            "(ls)",
            "cat << END",
            "cat < in.txt",
            "ls;&",
            "cat <(ls)",
            "echo >",
            "echo > | b",
            "echo 2>&",
            "echo >& file",
            "ls # all",
            "for x in a b",
            "ls; done",
            "a | if",
            "time ls",
            "[[ -f x ]]",
            "ls [a-c]*",
            "cat ~user",
            "a=b &",
            "=ls",
            "a\nb",
            "a\tb",
            "echo 'a\nb'",
        ] {
            assert!(!is_plain_line(line, false), "{line}");
            assert!(!is_plain_line(line, true), "fish: {line}");
        }
        assert!(!is_plain_line(&"x".repeat(LONGEST), false));
    }
}
