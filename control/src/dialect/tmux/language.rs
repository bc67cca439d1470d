//! The command language of tmux: text as commands with arguments, and back.
//!
//! Owns quotes, escapes, variables, braces, comments, `;` and the conditions of configuration files. Contains no list
//! of commands. <https://man.openbsd.org/tmux#COMMAND_PARSING_AND_EXECUTION>

/// A command: its name, and its arguments. Braces count as one argument, which contains their text.
pub type Words = Vec<String>;

/// A command, and the number of its first line, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The command.
    pub words: Words,
    /// The line.
    pub number: usize,
}

/// The context that a text refers to: variables, conditions and the home directory.
pub trait Surroundings {
    /// The value of `$NAME`. `None` if the variable is not set.
    fn variable(&self, name: &str) -> Option<String>;
    /// Whether the format after `%if` is true.
    fn condition(&self, format: &str) -> bool;
    /// The home directory, for `~`.
    fn home(&self) -> Option<String> {
        self.variable("HOME")
    }
}

/// The line with the syntax error, and tmux's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The line, from 1.
    pub line: usize,
    /// The message.
    pub message: &'static str,
}

/// The maximum depth of braces. tmux's only limit is the stack of its parser.
const DEEPEST: usize = 100;
/// The maximum length of all values of variables that one text expands to, in bytes.
const MOST_EXPANDED: usize = 1 << 20;

/// Parses the arguments of the program `tmux`. An argument that ends in `;` ends a command. If the `;` follows a
/// backslash, it belongs to the argument, without the backslash.
pub fn of_arguments(arguments: &[String]) -> Vec<Words> {
    let mut commands = vec![Words::new()];
    for argument in arguments {
        let Some(rest) = argument.strip_suffix(';') else {
            last(&mut commands).push(argument.clone());
            continue;
        };
        if let Some(rest) = rest.strip_suffix('\\') {
            last(&mut commands).push(format!("{rest};"));
            continue;
        }
        if !rest.is_empty() {
            last(&mut commands).push(rest.to_owned());
        }
        commands.push(Words::new());
    }
    commands.retain(|words| !words.is_empty());
    commands
}

fn last(commands: &mut Vec<Words>) -> &mut Words {
    if commands.is_empty() {
        commands.push(Words::new());
    }
    let index = commands.len() - 1;
    &mut commands[index]
}

/// Parses a text.
///
/// # Errors
/// A quote or a brace is open, a condition has no end, or the values of variables are too long.
pub fn parse(text: &str, around: &dyn Surroundings) -> Result<Vec<Line>, SyntaxError> {
    let chars = text.replace("\r\n", "\n").chars().collect();
    let mut parser = Parser { chars, at: 0, line: 1, around, expanded: 0 };
    parser.commands()
}

/// Writes commands as text. [`parse`] returns them again.
pub fn print(commands: &[Words]) -> String {
    print_with(commands, " ; ")
}

/// Writes commands as text, with a text between them.
pub fn print_with(commands: &[Words], separator: &str) -> String {
    let commands = commands.iter().map(|words| {
        let words: Vec<_> = words.iter().map(|word| quoted(word)).collect();
        words.join(" ")
    });
    commands.collect::<Vec<_>>().join(separator)
}

/// A word as tmux writes it: with quotes or escapes if it contains characters that have a meaning.
pub fn quoted(word: &str) -> String {
    if word.is_empty() {
        return "''".to_owned();
    }
    let needs_escapes = word.contains(|char: char| char == '\\' || char.is_control());
    let quote = if word.contains([' ', '#', '\'', ';', '$', '{', '}', '%']) {
        Some('"')
    } else if word.contains('"') {
        // Single quotes have no escapes.
        Some(if needs_escapes { '"' } else { '\'' })
    } else {
        None
    };
    let mut chars = word.chars();
    if let (Some(only), None) = (chars.next(), chars.next())
        && only != ' '
        && (quote.is_some() || only == '~')
    {
        return format!("\\{only}");
    }
    let mut text = String::new();
    let mut rest = word.chars().peekable();
    while let Some(char) = rest.next() {
        match char {
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{7}' => text.push_str("\\a"),
            '\u{8}' => text.push_str("\\b"),
            '\u{b}' => text.push_str("\\v"),
            '\u{c}' => text.push_str("\\f"),
            char if char.is_control() => text.push_str(&format!("\\{:03o}", u32::from(char))),
            '\\' => text.push_str("\\\\"),
            '"' if quote == Some('"') => text.push_str("\\\""),
            '$' if rest.peek().is_some_and(|next| is_name_start(*next) || *next == '{') => {
                text.push_str("\\$");
            }
            char => text.push(char),
        }
    }
    match quote {
        Some(quote) => format!("{quote}{text}{quote}"),
        None if text.starts_with('~') => format!("\\{text}"),
        None => text,
    }
}

fn is_name_start(char: char) -> bool {
    char.is_ascii_alphabetic() || char == '_'
}

fn is_name(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_'
}

struct Parser<'a> {
    chars: Vec<char>,
    at: usize,
    line: usize,
    around: &'a dyn Surroundings,
    /// The length of the values of variables so far.
    expanded: usize,
}

/// The state of a condition: `%if`, `%elif`, `%else`.
struct Condition {
    /// Whether the commands that follow are executed.
    is_on: bool,
    /// Whether a branch has been chosen.
    is_chosen: bool,
}

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let char = self.peek()?;
        self.at += 1;
        if char == '\n' {
            self.line += 1;
        }
        Some(char)
    }

    fn error<T>(&self, message: &'static str) -> Result<T, SyntaxError> {
        Err(SyntaxError { line: self.line, message })
    }

    fn commands(&mut self) -> Result<Vec<Line>, SyntaxError> {
        let mut lines = Vec::new();
        let mut words = Words::new();
        let mut number = self.line;
        let mut conditions: Vec<Condition> = Vec::new();
        loop {
            while matches!(self.peek(), Some(' ' | '\t')) {
                self.at += 1;
            }
            let char = self.peek();
            let ends = match char {
                Some('#') => {
                    while self.peek().is_some_and(|char| char != '\n') {
                        self.at += 1;
                    }
                    continue;
                }
                Some('\\') if self.chars.get(self.at + 1) == Some(&'\n') => {
                    self.next();
                    self.next();
                    continue;
                }
                Some('}') => return self.error("syntax error"),
                None | Some('\n' | ';') => true,
                _ => false,
            };
            if ends {
                if !words.is_empty() {
                    if conditions.iter().all(|condition| condition.is_on) {
                        lines.push(Line { words: std::mem::take(&mut words), number });
                    }
                    words.clear();
                }
                if self.next().is_none() {
                    break;
                }
                number = self.line;
                continue;
            }
            if words.is_empty() {
                number = self.line;
            }
            if let Some(name) = self.directive_name() {
                // A directive may follow a command in its line, and then ends the command.
                if !words.is_empty() {
                    if matches!(name, "%if" | "%hidden") {
                        return self.error("syntax error");
                    }
                    if conditions.iter().all(|condition| condition.is_on) {
                        lines.push(Line { words: std::mem::take(&mut words), number });
                    }
                    words.clear();
                }
                self.directive(name, &mut conditions)?;
                continue;
            }
            let word = if char == Some('{') { self.braces()? } else { self.word()? };
            match assignment(&word) {
                Some((name, value)) if words.is_empty() => {
                    let set = ["set-environment", "-g", name, value].map(str::to_owned);
                    if conditions.iter().all(|condition| condition.is_on) {
                        lines.push(Line { words: set.into(), number });
                    }
                }
                _ => words.push(word),
            }
        }
        if conditions.is_empty() { Ok(lines) } else { self.error("syntax error") }
    }

    /// The directive that begins at the current position.
    fn directive_name(&self) -> Option<&'static str> {
        const NAMES: [&str; 5] = ["%if", "%elif", "%else", "%endif", "%hidden"];

        let rest = &self.chars[self.at..];
        let ends = |char: &char| char.is_whitespace() || *char == ';';
        let rest: String = rest.iter().take(8).take_while(|char| !ends(char)).collect();
        NAMES.into_iter().find(|name| *name == rest)
    }

    /// Reads a directive with this name.
    fn directive(
        &mut self,
        name: &str,
        conditions: &mut Vec<Condition>,
    ) -> Result<(), SyntaxError> {
        let is_on = |conditions: &[Condition]| conditions.iter().all(|condition| condition.is_on);
        self.at += name.len();
        match name {
            "%if" | "%elif" => {
                let format = self.format()?;
                if name == "%if" {
                    let is_reached = is_on(conditions);
                    let is_true = is_reached && self.around.condition(&format);
                    if conditions.len() >= DEEPEST {
                        return self.error("syntax error");
                    }
                    conditions
                        .push(Condition { is_on: is_true, is_chosen: is_true || !is_reached });
                } else {
                    let Some(condition) = conditions.last_mut() else {
                        return self.error("syntax error");
                    };
                    condition.is_on = !condition.is_chosen && self.around.condition(&format);
                    condition.is_chosen |= condition.is_on;
                }
            }
            "%else" => {
                let Some(condition) = conditions.last_mut() else {
                    return self.error("syntax error");
                };
                condition.is_on = !condition.is_chosen;
                condition.is_chosen = true;
            }
            "%endif" => {
                let Some(_) = conditions.pop() else {
                    return self.error("syntax error");
                };
            }
            _ => {}
        }
        Ok(())
    }

    /// Reads the format after `%if`: a word, in which `#` begins no comment.
    fn format(&mut self) -> Result<String, SyntaxError> {
        while matches!(self.peek(), Some(' ' | '\t')) {
            self.at += 1;
        }
        if self.peek() != Some('#') {
            return self.word();
        }
        let mut text = String::new();
        let mut depth = 0_usize;
        while let Some(char) = self.peek() {
            match char {
                '\n' => break,
                ' ' | '\t' if depth == 0 => break,
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            text.push(char);
            self.at += 1;
        }
        if depth > 0 { self.error("syntax error") } else { Ok(text) }
    }

    /// Reads the text between braces.
    fn braces(&mut self) -> Result<String, SyntaxError> {
        self.next();
        let start = self.at;
        let mut depth = 1_usize;
        let mut quote = None;
        while let Some(char) = self.next() {
            match (quote, char) {
                (Some('\''), '\'') | (Some('"'), '"') => quote = None,
                (Some('\''), _) => {}
                (_, '\\') => drop(self.next()),
                (Some(_), _) => {}
                (None, '\'' | '"') => quote = Some(char),
                (None, '#') => {
                    // A comment begins with a word. `#{` inside a word is a format.
                    let before = self.chars[..self.at - 1].last();
                    let is_word = before.is_none_or(|char| char.is_whitespace() || *char == ';');
                    if is_word {
                        while self.peek().is_some_and(|char| char != '\n') {
                            self.at += 1;
                        }
                    }
                }
                (None, '{') => {
                    depth += 1;
                    if depth > DEEPEST {
                        return self.error("syntax error");
                    }
                }
                (None, '}') => {
                    depth -= 1;
                    if depth == 0 {
                        let text: String = self.chars[start..self.at - 1].iter().collect();
                        return Ok(text.trim().to_owned());
                    }
                }
                (None, _) => {}
            }
        }
        self.error("syntax error")
    }

    fn word(&mut self) -> Result<String, SyntaxError> {
        let mut text = String::new();
        let mut quote = None;
        let start = self.at;
        loop {
            let Some(char) = self.peek() else {
                return if quote.is_some() { self.error("syntax error") } else { Ok(text) };
            };
            match (quote, char) {
                (None, '\n' | ' ' | '\t' | ';' | '}') => return Ok(text),
                (Some('"') | None, '\\') => {
                    self.next();
                    self.escape(&mut text)?;
                }
                (Some('"') | None, '$') => {
                    self.next();
                    self.variable(&mut text)?;
                }
                (None, '~') if self.at == start => {
                    self.next();
                    match self.around.home() {
                        Some(home) if self.peek().is_none_or(|char| !is_name(char)) => {
                            self.push_value(&home, &mut text)?;
                        }
                        _ => text.push('~'),
                    }
                }
                (None, '\'' | '"') => {
                    self.next();
                    quote = Some(char);
                }
                (Some(open), _) if open == char => {
                    self.next();
                    quote = None;
                }
                _ => {
                    self.next();
                    text.push(char);
                }
            }
        }
    }

    /// Reads the rest of an escape sequence.
    fn escape(&mut self, text: &mut String) -> Result<(), SyntaxError> {
        let Some(char) = self.next() else { return self.error("syntax error") };
        let char = match char {
            '\n' => return Ok(()),
            'a' => '\u{7}',
            'b' => '\u{8}',
            'e' => '\u{1b}',
            'f' => '\u{c}',
            's' => ' ',
            'v' => '\u{b}',
            'r' => '\r',
            'n' => '\n',
            't' => '\t',
            '0'..='7' => {
                let rest: String = self.chars[self.at..].iter().take(2).collect();
                let digits = format!("{char}{rest}");
                let is_octal = digits.len() == 3 && digits.chars().all(|c| c.is_digit(8));
                let code = u32::from_str_radix(&digits, 8).ok().filter(|_| is_octal);
                let Some(char) = code.and_then(char::from_u32) else {
                    return self.error("invalid octal escape");
                };
                self.at += 2;
                char
            }
            'u' | 'U' => {
                let length = if char == 'u' { 4 } else { 8 };
                let digits: String = self.chars[self.at..].iter().take(length).collect();
                let is_hex =
                    digits.len() == length && digits.chars().all(|c| c.is_ascii_hexdigit());
                let code = u32::from_str_radix(&digits, 16).ok().filter(|_| is_hex);
                let Some(char) = code.and_then(char::from_u32) else {
                    return self.error(match length {
                        4 => "invalid \\u argument",
                        _ => "invalid \\U argument",
                    });
                };
                self.at += length;
                char
            }
            char => char,
        };
        text.push(char);
        Ok(())
    }

    /// Reads the name of a variable, and adds the variable's value.
    fn variable(&mut self, text: &mut String) -> Result<(), SyntaxError> {
        let in_braces = self.peek() == Some('{');
        let first = self.chars.get(self.at + usize::from(in_braces)).copied();
        if !first.is_some_and(is_name_start) {
            if in_braces {
                return self.error("invalid environment variable");
            }
            text.push('$');
            return Ok(());
        }
        self.at += usize::from(in_braces);
        let mut name = String::new();
        while let Some(char) = self.peek().filter(|char| is_name(*char)) {
            name.push(char);
            self.at += 1;
        }
        if in_braces {
            if self.peek() != Some('}') {
                return self.error("invalid environment variable");
            }
            self.at += 1;
        }
        let value = self.around.variable(&name).unwrap_or_default();
        self.push_value(&value, text)
    }

    /// Adds the value of a variable.
    fn push_value(&mut self, value: &str, text: &mut String) -> Result<(), SyntaxError> {
        self.expanded += value.len();
        if self.expanded > MOST_EXPANDED {
            return self.error("variables too long");
        }
        text.push_str(value);
        Ok(())
    }
}

/// The name and the value of an assignment, such as `A=b`.
fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let is_one = name.starts_with(is_name_start) && name.chars().all(is_name);
    is_one.then_some((name, value))
}

#[cfg(test)]
mod tests;
