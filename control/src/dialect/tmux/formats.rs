//! Formats: text in which `#{…}` stands for values.
//!
//! Owns the syntax and the modifiers. The values come from [`Values`]. Limits the work of one format, because a format
//! may expand the value of an option, which is a format again.
//! <https://man.openbsd.org/tmux#FORMATS>

mod clock;
mod colors;
mod expression;
mod modifiers;
mod pattern;

use std::cell::Cell;

pub use self::{clock::Clock, pattern::glob};
use self::{
    modifiers::{Modifier, modifiers, skip, unescaped},
    pattern::{matches, substitute},
};

/// The values that a format names.
pub trait Values {
    /// The value of a variable or of an option. `None` if there is none.
    fn value(&self, name: &str) -> Option<String>;
    /// The values for each repetition of a loop: for each session, for each window of the current session, or for each
    /// pane of the current window. The boolean is true for the current session, window or pane.
    fn each(&self, kind: Each) -> Vec<(bool, Box<dyn Values + '_>)>;
    /// Whether a session has this name, or a window of the session.
    fn has_name(&self, kind: Each, name: &str) -> bool;
    /// The rows of the pane's screen.
    fn rows(&self) -> Vec<String>;
}

/// The items that a loop repeats for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Each {
    /// `S:`, for each session.
    Session,
    /// `W:`, for each window.
    Window,
    /// `P:`, for each pane.
    Pane,
}

/// The maximum depth of formats in formats, as in tmux.
const DEEPEST: usize = 100;
/// The maximum number of parts of a format that are expanded.
const MOST_PARTS: usize = 20_000;
/// The maximum length of a result, in bytes.
const LONGEST: usize = 1 << 20;

/// Expands a format.
pub fn expand(format: &str, values: &dyn Values, clock: &Clock) -> String {
    let parts = Cell::new(0);
    Expansion { values, clock, with_time: false, depth: 0, parts: &parts }.expand(format)
}

/// Expands a format, and the conversions of strftime(3) in it.
pub fn expand_with_time(format: &str, values: &dyn Values, clock: &Clock) -> String {
    let parts = Cell::new(0);
    Expansion { values, clock, with_time: true, depth: 0, parts: &parts }.expand(format)
}

/// Whether a value counts as true.
pub fn is_true(value: &str) -> bool {
    !value.is_empty() && value != "0"
}

/// The variable that a letter after `#` stands for.
fn alias(letter: char) -> Option<&'static str> {
    Some(match letter {
        'D' => "pane_id",
        'F' => "window_flags",
        'H' => "host",
        'I' => "window_index",
        'P' => "pane_index",
        'S' => "session_name",
        'T' => "pane_title",
        'W' => "window_name",
        'h' => "host_short",
        _ => return None,
    })
}

/// A format that is being expanded.
#[derive(Clone, Copy)]
struct Expansion<'a> {
    values: &'a dyn Values,
    clock: &'a Clock,
    with_time: bool,
    depth: usize,
    /// The number of parts expanded so far.
    parts: &'a Cell<usize>,
}

/// The form in which a value is written.
#[derive(Default)]
struct Form<'a> {
    is_time: bool,
    is_pretty: bool,
    time_format: Option<&'a str>,
    basename: bool,
    dirname: bool,
    quote: Option<Quote>,
}

#[derive(Clone, Copy, PartialEq)]
enum Quote {
    Shell,
    Hashes,
}

impl Expansion<'_> {
    fn expand(&self, format: &str) -> String {
        let parts = self.parts.get() + 1;
        self.parts.set(parts);
        if format.is_empty() || self.depth > DEEPEST || parts > MOST_PARTS {
            return String::new();
        }
        let deeper = Self { depth: self.depth + 1, ..*self };
        let timed;
        let format = if self.with_time && format.contains('%') {
            timed = self.clock.format_now(format);
            timed.as_str()
        } else {
            format
        };
        let mut out = String::new();
        let mut rest = format;
        while let Some(at) = rest.find('#') {
            out.push_str(&rest[..at]);
            if out.len() > LONGEST {
                return out;
            }
            rest = &rest[at + 1..];
            let Some(char) = rest.chars().next() else {
                out.push('#');
                break;
            };
            match char {
                '(' => match job(rest) {
                    Some((command, after)) => {
                        // tmux does not wait for the command, and shows this for a command that it has not run.
                        out.push_str(&format!("<'{command}' not ready>"));
                        rest = after;
                    }
                    None => return out,
                },
                '{' => match skip(&rest[1..], "}") {
                    Some(end) => {
                        match deeper.replace(&rest[1..=end]) {
                            Some(value) => out.push_str(&value),
                            None => return out,
                        }
                        rest = &rest[end + 2..];
                    }
                    None => return out,
                },
                '#' => {
                    let count = rest.bytes().take_while(|byte| *byte == b'#').count();
                    if rest[count..].starts_with('[') {
                        // `##[` is an escaped style. Leave it, because the code that draws styles unescapes it.
                        out.push_str(&"#".repeat(count + 1));
                        rest = &rest[count..];
                    } else {
                        out.push('#');
                        rest = &rest[1..];
                    }
                }
                ',' | '}' => {
                    out.push(char);
                    rest = &rest[1..];
                }
                char => {
                    rest = &rest[char.len_utf8()..];
                    match alias(char) {
                        Some(name) => {
                            out.push_str(&deeper.replace(name).unwrap_or_default());
                        }
                        None => {
                            out.push('#');
                            out.push(char);
                        }
                    }
                }
            }
        }
        out.push_str(rest);
        out
    }

    /// The value of the text between `#{` and `}`. `None` if a conditional is incomplete, which ends the format.
    fn replace(&self, key: &str) -> Option<String> {
        let parts = self.parts.get() + 1;
        self.parts.set(parts);
        if self.depth > DEEPEST || parts > MOST_PARTS {
            return Some(String::new());
        }
        let (list, copy) = modifiers(key);
        let mut form = Form::default();
        let mut picked = Picked::default();
        for modifier in &list {
            picked.add(modifier, &mut form);
        }
        let value = self.pick(&picked, copy, &form)?;
        Some(self.finish(&picked, value))
    }

    fn pick(&self, picked: &Picked<'_>, copy: &str, form: &Form<'_>) -> Option<String> {
        if picked.literal {
            return Some(copy.to_owned());
        }
        if picked.character {
            let code =
                self.expand(copy).parse::<u8>().ok().filter(|code| (32..=126).contains(code));
            return Some(code.map(|code| char::from(code).to_string()).unwrap_or_default());
        }
        if picked.color {
            return Some(colors::hexadecimal(&self.expand(copy)).unwrap_or_default());
        }
        if let Some(kind) = picked.each {
            return Some(self.each(kind, copy));
        }
        if let Some(kind) = picked.has_name {
            let has = self.values.has_name(kind, &self.expand(copy));
            return Some(flag(has));
        }
        if let Some(search) = picked.search {
            let pattern = self.expand(copy);
            let is_regex = search.argument(0).contains('r');
            let ignores_case = search.argument(0).contains('i');
            let pattern = if is_regex { pattern } else { format!("*{pattern}*") };
            let rows = self.values.rows();
            let found = rows.iter().position(|row| matches(&pattern, row, is_regex, ignores_case));
            return Some(found.map_or(0, |row| row + 1).to_string());
        }
        if let Some(compare) = picked.compare {
            let Some((left, right)) = choose(copy) else { return Some(String::new()) };
            let (left, right) = (self.expand(left), self.expand(right));
            return Some(flag(match compare.name {
                "||" => is_true(&left) || is_true(&right),
                "&&" => is_true(&left) && is_true(&right),
                "==" => left == right,
                "!=" => left != right,
                "<" => left < right,
                ">" => left > right,
                "<=" => left <= right,
                ">=" => left >= right,
                _ => {
                    let flags = compare.argument(0);
                    matches(&left, &right, flags.contains('r'), flags.contains('i'))
                }
            }));
        }
        if let Some(copy) = copy.strip_prefix('?') {
            let end = skip(copy, ",")?;
            let condition = &copy[..end];
            let found = self.find(condition, form).unwrap_or_else(|| {
                let expanded = self.expand(condition);
                if expanded == condition { String::new() } else { expanded }
            });
            let (left, right) = choose(&copy[end + 1..])?;
            return Some(self.expand(if is_true(&found) { left } else { right }));
        }
        if let Some(operator) = picked.expression {
            let sides = choose(copy).map(|(left, right)| (self.expand(left), self.expand(right)));
            let value = sides.and_then(|(left, right)| {
                let [name, flags, digits] = [0, 1, 2].map(|index| operator.argument(index));
                expression::value(name, flags, digits, &left, &right)
            });
            return Some(value.unwrap_or_default());
        }
        if copy.contains("#{") {
            return Some(self.expand(copy));
        }
        Some(self.find(copy, form).unwrap_or_default())
    }

    /// Applies the modifiers that change a value.
    fn finish(&self, picked: &Picked<'_>, value: String) -> String {
        let mut value = bounded(value);
        if picked.expand {
            value = bounded(self.expand(&value));
        } else if picked.expand_time {
            value = bounded(Self { with_time: true, ..*self }.expand(&value));
        }
        for modifier in &picked.substitutes {
            let [from, to] = [0, 1].map(|index| self.expand(modifier.argument(index)));
            let ignores_case = modifier.argument(2).contains('i');
            value = bounded(substitute(&from, &to, &value, ignores_case, LONGEST));
        }
        if let Some(modifier) = picked.limit {
            let limit = number(modifier.argument(0));
            let marker = self.expand(modifier.argument(1));
            value = bounded(cut(value, limit, &marker));
        }
        if let Some(modifier) = picked.width {
            let width = number(modifier.argument(0));
            let missing = usize::try_from(width.unsigned_abs()).unwrap_or(0).min(10_000);
            let blanks = " ".repeat(missing.saturating_sub(columns(&value)));
            value = bounded(if width < 0 { blanks + &value } else { value + &blanks });
        }
        if picked.length {
            value = value.len().to_string();
        }
        if picked.columns {
            value = columns(&value).to_string();
        }
        value
    }

    fn each(&self, kind: Each, format: &str) -> String {
        let (all, current) = match (kind, choose(format)) {
            (Each::Window | Each::Pane, Some((all, current))) => (all, current),
            _ => (format, format),
        };
        let mut out = String::new();
        for (is_current, values) in self.values.each(kind) {
            let format = if is_current { current } else { all };
            out.push_str(&Expansion { values: &*values, ..*self }.expand(format));
            if out.len() > LONGEST {
                break;
            }
        }
        out
    }

    /// The value of a variable or an option, in a form.
    fn find(&self, name: &str, form: &Form<'_>) -> Option<String> {
        let mut value = self.values.value(name)?;
        if form.is_time {
            let seconds: i64 = value.parse().ok()?;
            value = match form.time_format {
                Some(format) => self.clock.format(seconds, &unescaped(&self.expand(format))),
                None if form.is_pretty => self.clock.pretty(seconds),
                None => self.clock.format(seconds, "%a %b %e %H:%M:%S %Y"),
            };
            return Some(value);
        }
        if form.basename {
            value = basename(&value).to_owned();
        }
        if form.dirname {
            value = dirname(&value).to_owned();
        }
        match form.quote {
            Some(Quote::Shell) => value = shell_quoted(&value),
            Some(Quote::Hashes) => value = value.replace('#', "##"),
            None => {}
        }
        Some(value)
    }
}

/// The modifiers of a replacement, by their effect.
#[derive(Default)]
struct Picked<'a> {
    literal: bool,
    character: bool,
    color: bool,
    each: Option<Each>,
    has_name: Option<Each>,
    search: Option<&'a Modifier<'a>>,
    compare: Option<&'a Modifier<'a>>,
    expression: Option<&'a Modifier<'a>>,
    expand: bool,
    expand_time: bool,
    substitutes: Vec<&'a Modifier<'a>>,
    limit: Option<&'a Modifier<'a>>,
    width: Option<&'a Modifier<'a>>,
    length: bool,
    columns: bool,
}

impl<'a> Picked<'a> {
    fn add(&mut self, modifier: &'a Modifier<'a>, form: &mut Form<'a>) {
        let count = modifier.arguments.len();
        match modifier.name {
            "l" => self.literal = true,
            "a" => self.character = true,
            "b" => form.basename = true,
            "c" => self.color = true,
            "d" => form.dirname = true,
            "n" => self.length = true,
            "w" => self.columns = true,
            "t" => {
                form.is_time = true;
                if modifier.argument(0).contains('p') {
                    form.is_pretty = true;
                } else if count >= 2 && modifier.argument(0).contains('f') {
                    form.time_format = Some(modifier.argument(1));
                }
            }
            "q" => {
                let is_hashes = modifier.argument(0).contains(['e', 'h']);
                form.quote = Some(if is_hashes { Quote::Hashes } else { Quote::Shell });
            }
            "E" => self.expand = true,
            "T" => self.expand_time = true,
            "N" if modifier.argument(0).contains('s') => self.has_name = Some(Each::Session),
            "N" => self.has_name = Some(Each::Window),
            "S" => self.each = Some(Each::Session),
            "W" => self.each = Some(Each::Window),
            "P" => self.each = Some(Each::Pane),
            "C" => self.search = Some(modifier),
            "s" if count >= 2 => self.substitutes.push(modifier),
            "=" if count >= 1 => self.limit = Some(modifier),
            "p" if count >= 1 => self.width = Some(modifier),
            "e" if (1..=3).contains(&count) => self.expression = Some(modifier),
            "m" | "<" | ">" | "||" | "&&" | "==" | "!=" | "<=" | ">=" => {
                self.compare = Some(modifier);
            }
            _ => {}
        }
    }
}

/// A text, cut to the maximum length.
fn bounded(mut text: String) -> String {
    if text.len() > LONGEST {
        let end = (0..=LONGEST).rev().find(|end| text.is_char_boundary(*end));
        text.truncate(end.unwrap_or(0));
    }
    text
}

fn flag(value: bool) -> String {
    if value { "1" } else { "0" }.to_owned()
}

fn number(text: &str) -> i64 {
    text.parse().unwrap_or(0)
}

/// Splits two alternatives at the comma.
fn choose(text: &str) -> Option<(&str, &str)> {
    let comma = skip(text, ",")?;
    Some((&text[..comma], &text[comma + 1..]))
}

/// The command between `#(` and `)`, and the text after it.
fn job(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    for (at, char) in text.char_indices() {
        match char {
            '(' => depth += 1,
            ')' => {
                depth -= 1;
                if depth == 0 {
                    return Some((&text[1..at], &text[at + 1..]));
                }
            }
            _ => {}
        }
    }
    None
}

/// The number of columns of a text. Counts wide characters and combining marks like the terminal.
fn columns(text: &str) -> usize {
    text.chars().map(width).sum()
}

/// The number of columns of a character.
fn width(char: char) -> usize {
    match u32::from(char) {
        ..0x20 | 0x7f..0xa0 | 0x300..=0x36f | 0x200b..=0x200f | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f
        | 0x2e80..=0x303e
        | 0x3041..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1f64f
        | 0x1f900..=0x1f9ff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

/// Cuts a text to a number of columns, from its start, or from its end if the number is negative. A text that was cut
/// gets the marker. 0: does not cut.
fn cut(text: String, limit: i64, marker: &str) -> String {
    let most = usize::try_from(limit.unsigned_abs()).unwrap_or(usize::MAX);
    if limit == 0 || columns(&text) <= most {
        return text;
    }
    let mut used = 0;
    let mut fits = |char: &char| {
        used += width(*char);
        used <= most
    };
    if limit > 0 {
        let kept: String = text.chars().take_while(&mut fits).collect();
        return kept + marker;
    }
    let mut kept: Vec<char> = text.chars().rev().take_while(&mut fits).collect();
    kept.reverse();
    marker.to_owned() + &kept.into_iter().collect::<String>()
}

/// The last component of a path, as basename(3).
fn basename(path: &str) -> &str {
    let trimmed = path.trim_end_matches('/');
    match trimmed.rsplit_once('/') {
        _ if path.is_empty() => ".",
        _ if trimmed.is_empty() => "/",
        Some((_, name)) => name,
        None => trimmed,
    }
}

/// A path without its last component, as dirname(3).
fn dirname(path: &str) -> &str {
    let trimmed = path.trim_end_matches('/');
    match trimmed.rsplit_once('/') {
        _ if trimmed.is_empty() && !path.is_empty() => "/",
        Some((folder, _)) if folder.trim_end_matches('/').is_empty() => "/",
        Some((folder, _)) => folder.trim_end_matches('/'),
        None => ".",
    }
}

/// A text with a backslash before each character that has a meaning in a shell.
fn shell_quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        if "|&;<>()$`\\\"'*?[# =%".contains(char) {
            out.push('\\');
        }
        out.push(char);
    }
    out
}

#[cfg(test)]
mod tests;
