//! Reads the literals of a Lua file without running it. Reads assignments at the top level, if their values are
//! strings, numbers, tables, or calls with such arguments.
//!
//! Running the file would also convert computed settings. But files of WezTerm need Lua 5.4 with WezTerm's own
//! modules, which Unterm's engine for plugins does not provide. A single missing function would prevent the whole
//! conversion. A reader of literals skips only the parts that it can't read, and it reports the line of each setting.

use std::collections::HashMap;

/// The maximum nesting depth of a value.
const DEEPEST: usize = 40;
/// The maximum number of bytes and values that may be copied by using variables. Without a limit, variables that
/// contain variables could grow without end.
const MOST_COPIED: usize = 1 << 20;

/// A value in a Lua file.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Lua {
    /// A switch.
    Bool(bool),
    Number(f64),
    /// A string.
    Text(String),
    Table(Vec<Entry>),
    /// A name, such as `wezterm.action.Copy`.
    Name(String),
    /// A call of a function by its name, with the arguments.
    Call(String, Vec<Self>),
    /// A value that only Lua can compute.
    Computed,
}

/// An entry of a table.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    /// The key of the entry. `None` if the table is a list.
    pub key: Option<String>,
    /// The value of the entry.
    pub value: Lua,
    /// The line of the entry, counted from 1.
    pub line: usize,
}

impl Lua {
    /// The size of the value, in bytes and contained values.
    fn weight(&self) -> usize {
        1 + match self {
            Self::Text(text) | Self::Name(text) => text.len(),
            Self::Table(entries) => entries.iter().map(|entry| entry.value.weight()).sum(),
            Self::Call(_, arguments) => arguments.iter().map(Self::weight).sum(),
            _ => 0,
        }
    }

    /// Whether only Lua can compute the value.
    pub fn is_computed(&self) -> bool {
        matches!(self, Self::Computed | Self::Name(_) | Self::Call(..))
    }

    /// The text, if the value is a string.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The entries, if the value is a table. Otherwise empty.
    pub fn entries(&self) -> &[Entry] {
        match self {
            Self::Table(entries) => entries,
            _ => &[],
        }
    }

    /// The value of a key, if the value is a table.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entries()
            .iter()
            .rfind(|entry| entry.key.as_deref() == Some(key))
            .map(|entry| &entry.value)
    }

    /// The values without a key, if the value is a list.
    pub fn items(&self) -> impl Iterator<Item = &Self> {
        self.entries().iter().filter(|entry| entry.key.is_none()).map(|entry| &entry.value)
    }
}

/// The settings that a file returns.
#[derive(Debug, Default)]
pub(super) struct File {
    /// The settings of the table that the file returns, in the order of the text: path, value and line.
    pub settings: Vec<(Vec<String>, Lua, usize)>,
    /// Statements that could not be read: a description and the line of each.
    pub skipped: Vec<(String, usize)>,
}

/// Reads the literals of a file.
///
/// # Errors
/// Fails if a string or a comment has no end, or if values are nested too deeply.
pub(super) fn read(text: &str) -> Result<File, String> {
    let mut reader = Reader { tokens: tokens(text)?, at: 0, locals: HashMap::new(), copied: 0 };
    let mut found = Assignments::default();
    while let Some(token) = reader.peek().cloned() {
        let before = reader.at;
        reader.statement(&token, &mut found)?;
        // This token does not start a statement, so skip it.
        if reader.at == before {
            reader.at += 1;
        }
    }
    Ok(found.of_returned())
}

#[derive(Clone, Debug, PartialEq)]
enum TokenKind {
    Name(String),
    Text(String),
    Number(f64),
    /// An operator or a bracket.
    Mark(&'static str),
}

#[derive(Clone, Debug)]
struct Token {
    kind: TokenKind,
    line: usize,
}

/// Operators and brackets. The longest are first, so that they are matched first.
const MARKS: &[&str] = &[
    "...", "..", "==", "~=", "<=", ">=", "<<", ">>", "//", "::", "+", "-", "*", "/", "%", "^", "#",
    "&", "~", "|", "<", ">", "=", "(", ")", "{", "}", "[", "]", ";", ":", ",", ".",
];

const KEYWORDS: &[&str] = &[
    "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in",
    "local", "nil", "not", "or", "repeat", "return", "then", "true", "until", "while",
];

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    let mut line = 1;
    if rest.starts_with("#!") {
        rest = rest.find('\n').map_or("", |end| &rest[end..]);
    }
    while let Some(c) = rest.chars().next() {
        let start = line;
        let mut push = |kind| tokens.push(Token { kind, line: start });
        if c.is_whitespace() {
            line += usize::from(c == '\n');
            rest = &rest[c.len_utf8()..];
        } else if let Some(comment) = rest.strip_prefix("--") {
            rest = match long(comment)? {
                Some((inner, after)) => {
                    line += inner.matches('\n').count();
                    after
                }
                None => comment.find('\n').map_or("", |end| &comment[end..]),
            };
        } else if let Some((inner, after)) = long(rest)? {
            line += inner.matches('\n').count();
            push(TokenKind::Text(inner.strip_prefix('\n').unwrap_or(inner).to_owned()));
            rest = after;
        } else if c == '"' || c == '\'' {
            let (string, after) =
                quoted(&rest[1..], c).ok_or_else(|| format!("line {line}: a string has no end"))?;
            line += rest[..rest.len() - after.len()].matches('\n').count();
            push(TokenKind::Text(string));
            rest = after;
        } else if c.is_ascii_digit()
            || (c == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit()))
        {
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '.';
            let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            let digits = &rest[..end];
            let hexadecimal = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
            let number = match hexadecimal {
                Some(digits) => u64::from_str_radix(digits, 16).ok().map(|number| number as f64),
                None => digits.parse().ok(),
            };
            push(TokenKind::Number(number.unwrap_or(f64::NAN)));
            rest = &rest[end..];
        } else if c.is_ascii_alphabetic() || c == '_' {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let (name, after) = rest.split_at(end.unwrap_or(rest.len()));
            push(TokenKind::Name(name.to_owned()));
            rest = after;
        } else if let Some(mark) = MARKS.iter().find(|mark| rest.starts_with(**mark)) {
            push(TokenKind::Mark(mark));
            rest = &rest[mark.len()..];
        } else {
            rest = &rest[c.len_utf8()..];
        }
    }
    Ok(tokens)
}

/// Splits a text after a string or comment in long brackets, `[[…]]` or `[==[…]==]`. Returns the content and the text
/// after it.
fn long(text: &str) -> Result<Option<(&str, &str)>, String> {
    let Some(inner) = text.strip_prefix('[') else { return Ok(None) };
    let level = inner.len() - inner.trim_start_matches('=').len();
    let Some(inner) = inner[level..].strip_prefix('[') else { return Ok(None) };
    let end = format!("]{}]", "=".repeat(level));
    let found = inner.split_once(&end);
    found.map(Some).ok_or_else(|| "a long string or comment has no end".to_owned())
}

/// Splits a text at the closing quote of a string. Returns the string with its escapes replaced, and the text after
/// it.
fn quoted(text: &str, quote: char) -> Option<(String, &str)> {
    let mut out = String::new();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c == quote {
            return Some((out, &text[at + 1..]));
        }
        if c != '\\' {
            out.push(c);
            continue;
        }
        let (_, escape) = chars.next()?;
        match escape {
            'n' => out.push('\n'),
            'r' => out.push('\r'),
            't' => out.push('\t'),
            'a' => out.push('\u{7}'),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            'v' => out.push('\u{b}'),
            'z' => while chars.next_if(|(_, c)| c.is_whitespace()).is_some() {},
            'x' => {
                let digits: String = chars.by_ref().take(2).map(|(_, c)| c).collect();
                out.extend(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32));
            }
            'u' => {
                let inside = chars.by_ref().map(|(_, c)| c).take_while(|c| *c != '}');
                let digits: String = inside.filter(|c| *c != '{').collect();
                out.extend(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32));
            }
            digit if digit.is_ascii_digit() => {
                let mut digits = digit.to_string();
                while digits.len() < 3
                    && let Some((_, digit)) = chars.next_if(|(_, c)| c.is_ascii_digit())
                {
                    digits.push(digit);
                }
                out.extend(digits.parse().ok().and_then(char::from_u32));
            }
            other => out.push(other),
        }
    }
    None
}

/// The assignments that were read, each with the variable that is assigned to.
#[derive(Default)]
struct Assignments {
    assigned: Vec<(String, Vec<String>, Lua, usize)>,
    skipped: Vec<(String, usize)>,
    returned: Option<Lua>,
}

impl Assignments {
    fn of_returned(self) -> File {
        let Self { assigned, skipped, returned } = self;
        let mut settings = Vec::new();
        let add = |settings: &mut Vec<_>, value: &Lua| {
            for entry in value.entries() {
                if let Some(key) = &entry.key {
                    settings.push((vec![key.clone()], entry.value.clone(), entry.line));
                }
            }
        };
        match returned {
            Some(Lua::Name(name)) => {
                for (variable, path, value, line) in assigned {
                    match variable == name {
                        true if path.is_empty() => add(&mut settings, &value),
                        true => settings.push((path, value, line)),
                        false => {}
                    }
                }
            }
            Some(value) => add(&mut settings, &value),
            None => {}
        }
        File { settings, skipped }
    }
}

struct Reader {
    tokens: Vec<Token>,
    at: usize,
    /// The local variables whose values could be read.
    locals: HashMap<String, Lua>,
    /// The amount that was copied by using variables, in bytes and values.
    copied: usize,
}

impl Reader {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn line(&self) -> usize {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(1, |token| token.line)
    }

    fn is_mark(&self, mark: &str) -> bool {
        matches!(self.peek(), Some(Token { kind: TokenKind::Mark(found), .. }) if *found == mark)
    }

    fn take_mark(&mut self, mark: &str) -> bool {
        let found = self.is_mark(mark);
        self.at += usize::from(found);
        found
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(Token { kind: TokenKind::Name(found), .. }) if found == word)
    }

    fn take_name(&mut self) -> Option<String> {
        match self.peek() {
            Some(Token { kind: TokenKind::Name(name), .. })
                if !KEYWORDS.contains(&name.as_str()) =>
            {
                let name = name.clone();
                self.at += 1;
                Some(name)
            }
            _ => None,
        }
    }

    fn statement(&mut self, token: &Token, found: &mut Assignments) -> Result<(), String> {
        let TokenKind::Name(word) = &token.kind else { return Ok(()) };
        match word.as_str() {
            "if" | "for" | "while" | "repeat" | "do" | "function" => {
                self.skip_block();
                found.skipped.push((format!("{word} …"), token.line));
            }
            "local" => {
                self.at += 1;
                if self.is_word("function") {
                    self.skip_block();
                    return Ok(());
                }
                let Some(name) = self.take_name() else { return Ok(()) };
                if self.take_mark("<") {
                    self.take_name();
                    self.take_mark(">");
                }
                // If several variables are declared at once, their values are not recorded.
                let is_one = !self.is_mark(",");
                while self.take_mark(",") {
                    self.take_name();
                }
                if self.take_mark("=") {
                    let value = self.expression(0)?;
                    if is_one {
                        self.assign(name, Vec::new(), value, token.line, found);
                    }
                }
            }
            "return" => {
                self.at += 1;
                // For `return config`, keep the name of the variable, because later only assignments to this variable
                // count.
                found.returned = match self.peek() {
                    Some(Token { kind: TokenKind::Name(name), .. })
                        if self.tokens.len() == self.at + 1 =>
                    {
                        Some(Lua::Name(name.clone()))
                    }
                    _ => Some(self.expression(0)?),
                };
                self.at = self.tokens.len();
            }
            _ => self.assignment_or_call(token.line, found)?,
        }
        Ok(())
    }

    fn assignment_or_call(&mut self, line: usize, found: &mut Assignments) -> Result<(), String> {
        let (variable, path) = self.target()?;
        let mut targets = vec![(variable.clone(), path.clone())];
        while self.take_mark(",") {
            targets.push(self.target()?);
        }
        if self.take_mark("=") {
            for (variable, path) in targets {
                let value = self.expression(0)?;
                self.assign(variable, path, value, line, found);
                self.take_mark(",");
            }
            return Ok(());
        }
        if variable == "table" && path == ["insert"] && self.take_mark("(") {
            return self.insertion(line, found);
        }
        if self.is_mark("(") || self.is_mark(":") {
            self.take_mark(":");
            let method = self.take_name();
            self.arguments(0)?;
            let name = [vec![variable], path, method.into_iter().collect()].concat().join(".");
            found.skipped.push((format!("{name}(…)"), line));
            // Skip further calls on the result.
            while self.is_mark("(") || self.is_mark(":") || self.is_mark(".") {
                if !self.is_mark("(") {
                    self.at += 1;
                    self.take_name();
                }
                self.arguments(0)?;
            }
        }
        Ok(())
    }

    /// Reads a variable with its fields, as on the left side of an assignment.
    fn target(&mut self) -> Result<(String, Vec<String>), String> {
        let variable = self.take_name().unwrap_or_default();
        let mut path = Vec::new();
        loop {
            if self.take_mark(".") {
                path.extend(self.take_name());
            } else if self.take_mark("[") {
                match self.expression(0)? {
                    Lua::Text(key) => path.push(key),
                    _ => path.push("[…]".to_owned()),
                }
                self.take_mark("]");
            } else {
                return Ok((variable, path));
            }
        }
    }

    /// Reads the rest of a call `table.insert(list, value)`.
    fn insertion(&mut self, line: usize, found: &mut Assignments) -> Result<(), String> {
        let mut path: Vec<String> = self.take_name().into_iter().collect();
        while self.take_mark(".") {
            path.extend(self.take_name());
        }
        self.take_mark(",");
        let value = self.expression(0)?;
        let is_whole = self.take_mark(")");
        if path.is_empty() || !is_whole {
            found.skipped.push(("table.insert(…)".to_owned(), line));
            return Ok(());
        }
        let variable = path.remove(0);
        let entry = Entry { key: None, value, line };
        if path.is_empty() {
            if let Some(Lua::Table(entries)) = self.locals.get_mut(&variable) {
                entries.push(entry);
            }
            return Ok(());
        }
        found.assigned.push((variable, path, Lua::Table(vec![entry]), line));
        Ok(())
    }

    fn assign(
        &mut self,
        variable: String,
        path: Vec<String>,
        value: Lua,
        line: usize,
        found: &mut Assignments,
    ) {
        match (path.as_slice(), self.locals.get_mut(&variable)) {
            ([], _) => drop(self.locals.insert(variable.clone(), value.clone())),
            ([key], Some(Lua::Table(entries))) => {
                entries.push(Entry { key: Some(key.clone()), value: value.clone(), line });
            }
            (_, Some(local)) => *local = Lua::Computed,
            (_, None) => {}
        }
        found.assigned.push((variable, path, value, line));
    }

    /// Skips a block, from its first word to its last word.
    fn skip_block(&mut self) {
        // In `for` and `while`, only the word `do` starts the block.
        let mut depth = 0_usize;
        while let Some(Token { kind, .. }) = self.peek() {
            let TokenKind::Name(word) = kind.clone() else {
                self.at += 1;
                continue;
            };
            self.at += 1;
            match word.as_str() {
                "if" | "do" | "function" | "repeat" => depth += 1,
                "end" => depth = depth.saturating_sub(1),
                "until" => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        // In `repeat … until`, the condition belongs to the block.
                        let _ = self.expression(0);
                    }
                }
                _ => continue,
            }
            if depth == 0 {
                return;
            }
        }
    }

    /// Reads an expression. If it contains an operator other than `..`, its value is [`Lua::Computed`].
    fn expression(&mut self, depth: usize) -> Result<Lua, String> {
        let mut left = self.operand(depth)?;
        loop {
            let is_joining = self.is_mark("..");
            let is_operator = match self.peek().map(|token| &token.kind) {
                Some(TokenKind::Mark(mark)) => [
                    "..", "+", "-", "*", "/", "//", "%", "^", "==", "~=", "<", ">", "<=", ">=",
                    "&", "|", "~", "<<", ">>",
                ]
                .contains(mark),
                Some(TokenKind::Name(word)) => word == "and" || word == "or",
                _ => false,
            };
            if !is_operator {
                return Ok(left);
            }
            self.at += 1;
            let right = self.operand(depth)?;
            left = match (left, right) {
                (Lua::Text(left), Lua::Text(right)) if is_joining => Lua::Text(left + &right),
                _ => Lua::Computed,
            };
        }
    }

    fn operand(&mut self, depth: usize) -> Result<Lua, String> {
        if depth > DEEPEST {
            return Err(format!("line {}: values are nested too deep", self.line()));
        }
        let Some(token) = self.peek().cloned() else { return Ok(Lua::Computed) };
        let value = match token.kind {
            TokenKind::Text(text) => {
                self.at += 1;
                Lua::Text(text)
            }
            TokenKind::Number(number) => {
                self.at += 1;
                Lua::Number(number)
            }
            TokenKind::Mark("{") => self.table(depth + 1)?,
            TokenKind::Mark("-") => {
                self.at += 1;
                match self.operand(depth + 1)? {
                    Lua::Number(number) => Lua::Number(-number),
                    _ => Lua::Computed,
                }
            }
            TokenKind::Mark("#" | "~") => {
                self.at += 1;
                self.operand(depth + 1)?;
                Lua::Computed
            }
            TokenKind::Mark("(") => {
                self.at += 1;
                let inner = self.expression(depth + 1)?;
                self.take_mark(")");
                inner
            }
            TokenKind::Mark("...") => {
                self.at += 1;
                Lua::Computed
            }
            TokenKind::Mark(_) => return Ok(Lua::Computed),
            TokenKind::Name(word) => match word.as_str() {
                "true" | "false" => {
                    self.at += 1;
                    Lua::Bool(word == "true")
                }
                "nil" => {
                    self.at += 1;
                    Lua::Computed
                }
                "not" => {
                    self.at += 1;
                    self.operand(depth + 1)?;
                    Lua::Computed
                }
                "function" => {
                    self.skip_block();
                    Lua::Computed
                }
                word if KEYWORDS.contains(&word) => return Ok(Lua::Computed),
                name => {
                    self.at += 1;
                    match self.locals.get(name) {
                        None => Lua::Name(name.to_owned()),
                        Some(value) => {
                            self.copied += value.weight();
                            if self.copied > MOST_COPIED {
                                return Err(format!(
                                    "line {}: variables hold too much",
                                    token.line
                                ));
                            }
                            value.clone()
                        }
                    }
                }
            },
        };
        self.suffixes(value, depth)
    }

    /// Reads fields and calls that follow a value.
    fn suffixes(&mut self, mut value: Lua, depth: usize) -> Result<Lua, String> {
        loop {
            let is_callable = matches!(value, Lua::Name(_) | Lua::Call(..) | Lua::Computed);
            if self.is_mark(".") || self.is_mark(":") {
                self.at += 1;
                let field = self.take_name().unwrap_or_default();
                value = match value {
                    Lua::Name(name) => Lua::Name(format!("{name}.{field}")),
                    Lua::Table(_) => value.get(&field).cloned().unwrap_or(Lua::Computed),
                    _ => Lua::Computed,
                };
            } else if self.is_mark("[") {
                self.at += 1;
                let key = self.expression(depth + 1)?;
                self.take_mark("]");
                value = match (value, key) {
                    (Lua::Name(name), Lua::Text(key)) => Lua::Name(format!("{name}.{key}")),
                    _ => Lua::Computed,
                };
            } else if is_callable && self.is_argument() {
                let arguments = self.arguments(depth + 1)?;
                value = match value {
                    // `require 'wezterm'` returns the module, so its value is the module's name.
                    Lua::Name(name) if name == "require" => match arguments.as_slice() {
                        [Lua::Text(module)] => Lua::Name(module.clone()),
                        _ => Lua::Computed,
                    },
                    Lua::Name(name) => Lua::Call(name, arguments),
                    _ => Lua::Computed,
                };
            } else {
                return Ok(value);
            }
        }
    }

    fn is_argument(&self) -> bool {
        self.is_mark("(")
            || self.is_mark("{")
            || matches!(self.peek(), Some(Token { kind: TokenKind::Text(_), .. }))
    }

    /// Reads the arguments of a call: a list in parentheses, or a single string or table.
    fn arguments(&mut self, depth: usize) -> Result<Vec<Lua>, String> {
        if self.is_mark("{") {
            return Ok(vec![self.table(depth + 1)?]);
        }
        if let Some(Token { kind: TokenKind::Text(text), .. }) = self.peek() {
            let text = Lua::Text(text.clone());
            self.at += 1;
            return Ok(vec![text]);
        }
        let mut arguments = Vec::new();
        if !self.take_mark("(") {
            return Ok(arguments);
        }
        while !self.take_mark(")") && self.peek().is_some() {
            let before = self.at;
            arguments.push(self.expression(depth + 1)?);
            self.take_mark(",");
            self.at += usize::from(self.at == before);
        }
        Ok(arguments)
    }

    fn table(&mut self, depth: usize) -> Result<Lua, String> {
        self.take_mark("{");
        let mut entries = Vec::new();
        while !self.take_mark("}") && self.peek().is_some() {
            let (before, line) = (self.at, self.line());
            let key = self.key(depth)?;
            let value = self.expression(depth)?;
            entries.push(Entry { key, value, line });
            let _ = self.take_mark(",") || self.take_mark(";");
            self.at += usize::from(self.at == before);
        }
        Ok(Lua::Table(entries))
    }

    /// Reads the key of a table entry and the `=` after it. Returns `None` for an entry of a list.
    fn key(&mut self, depth: usize) -> Result<Option<String>, String> {
        let start = self.at;
        if let Some(name) = self.take_name() {
            if self.take_mark("=") {
                return Ok(Some(name));
            }
        } else if self.take_mark("[") {
            let key = self.expression(depth + 1)?;
            if self.take_mark("]") && self.take_mark("=") {
                return Ok(Some(match key {
                    Lua::Text(key) => key,
                    Lua::Number(number) => number.to_string(),
                    _ => "[…]".to_owned(),
                }));
            }
        }
        self.at = start;
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> Vec<(String, Lua, usize)> {
        let file = read(text).unwrap();
        file.settings.into_iter().map(|(path, value, line)| (path.join("."), value, line)).collect()
    }

    #[test]
    fn literals_and_names_are_read() {
        let text = "local wezterm = require 'wezterm'\nlocal act = wezterm.action -- short\nlocal size <const> = 12.5\n\
                    local c = wezterm.config_builder()\nc.font_size = size\nc['line_height'] = -0x10\n\
                    c.a = \"x\\u{e9}\\065\" .. [[\ny]]\nc.key = act.SpawnTab 'X'\nc.sum = 1 + 2\nreturn c\n";
        let call = Lua::Call("wezterm.action.SpawnTab".into(), vec![Lua::Text("X".into())]);
        let builder = ("font_size".to_owned(), Lua::Number(12.5), 5);
        assert_eq!(
            settings(text),
            [
                builder,
                ("line_height".into(), Lua::Number(-16.0), 6),
                ("a".into(), Lua::Text("xéAy".into()), 7),
                ("key".into(), call, 9),
                ("sum".into(), Lua::Computed, 10),
            ]
        );
    }

    #[test]
    fn a_returned_table_and_one_that_is_filled_later_are_read() {
        let line = |text: &str| {
            settings(text).into_iter().map(|(path, _, line)| (path, line)).collect::<Vec<_>>()
        };
        assert_eq!(
            line("return {\n  a = 1,\n  b = { c = 2 };\n}"),
            [("a".into(), 2), ("b".into(), 3)]
        );
        let text = "local m = { a = 1 }\nlocal other = {}\nother.x = 1\nm.b = true\nm.keys = {}\n\
                    table.insert(m.keys, { key = 'a' })\nreturn m";
        let expected = [("a", 1), ("b", 4), ("keys", 5), ("keys", 6)];
        assert_eq!(line(text), expected.map(|(path, line)| (path.to_owned(), line)));
    }

    #[test]
    fn variables_are_replaced_by_their_values() {
        let text = "local colors = { foreground = '#fff' }\ncolors.background = '#000'\nlocal c = {}\n\
                    c.colors = colors\nc.font_size = sizes.large\nreturn c";
        let all = settings(text);
        assert_eq!(all[0].1.get("background"), Some(&Lua::Text("#000".into())));
        assert_eq!(all[0].1.get("foreground"), Some(&Lua::Text("#fff".into())));
        assert_eq!(all[1].1, Lua::Name("sizes.large".into()));
    }

    #[test]
    fn blocks_and_calls_are_skipped_as_a_whole() {
        let text = "local c = {}\nif x then c.a = 1 elseif y then c.b = function() return 1 end end\n\
                    for i = 1, 8 do while true do break end c.d = i end\nrepeat c.e = 1 until c.e == 2\n\
                    local function f() c.g = 1 end\nwezterm.on('x', function(w) w:act() end)\nc.h = 2\n\
                    require('other').apply(c)\nc.i = 3\nreturn c";
        let names: Vec<_> = settings(text).into_iter().map(|(path, _, _)| path).collect();
        assert_eq!(names, ["h", "i"]);
        let skipped: Vec<_> =
            read(text).unwrap().skipped.into_iter().map(|(what, _)| what).collect();
        assert_eq!(skipped[..3], ["if …", "for …", "repeat …"]);
    }

    #[test]
    fn hostile_text_ends() {
        let doubled = |first: &str, next: &str| {
            format!("local a = {first}\n{}x = a", format!("local a = {next}\n").repeat(60))
        };
        assert!(read(&doubled("{1}", "{a, a}")).is_err());
        assert!(read(&doubled("'x'", "a .. a")).is_err());
        let _ = read(&"return {".repeat(10_000));
        assert!(read(&format!("return {}", "{".repeat(10_000))).is_err());
        assert!(read(&format!("return {}", "- ".repeat(10_000))).is_err());
        assert!(read("x = 'open").is_err());
        assert!(read("--[[ open").is_err());
        for text in
            ["return", "local", "a.", "a[", "f(", "{{{", "= = =", "x = )", "(((", "a = function"]
        {
            let _ = read(text);
        }
    }
}
