//! Replaces secrets in text before the text is written to a file or sent to a caller. Stores no text.

mod rules;

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::LazyLock,
};

use regex_automata::meta::Regex;

use self::rules::{Form, RULES};

/// Matches a long run of base64 or hexadecimal digits.
static LONG: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new("[A-Za-z0-9+/=_-]{40,}").ok());
/// The maximum number of lines of a PEM block.
const LONGEST_PEM: usize = 1000;

/// The rules for redaction.
#[derive(Default)]
pub struct Redaction {
    is_off: bool,
    custom: Vec<Regex>,
    /// The number of secrets that were replaced.
    pub count: u64,
}

/// A secret in a text.
struct Span {
    /// The range that the replacement covers.
    range: [usize; 2],
    /// The range of the secret itself.
    secret: [usize; 2],
    /// The precedence of the rule. If two spans overlap, the replacement with the lower order is used.
    order: usize,
    with: String,
}

impl Redaction {
    /// A redaction with the built-in rules and these patterns.
    ///
    /// # Errors
    /// A pattern is not a valid regular expression. The message contains the first invalid pattern and the reason.
    pub fn new(is_on: bool, custom: &[String]) -> Result<Self, String> {
        let compile = |pattern: &String| {
            crate::services::regex(pattern).map_err(|error| {
                format!("redaction.custom_patterns: {pattern:?} is not a valid regular expression: {error}")
            })
        };
        let custom = custom.iter().map(compile).collect::<Result<_, _>>()?;
        Ok(Self { is_off: !is_on, custom, count: 0 })
    }

    /// Creates a redaction that replaces nothing.
    pub fn off() -> Self {
        Self { is_off: true, ..Self::default() }
    }

    /// Whether this redaction replaces anything at all.
    pub fn is_on(&self) -> bool {
        !self.is_off
    }

    /// Returns the text without secrets. Pass whole lines, because a secret that is cut in half may not be found.
    pub fn apply(&mut self, text: &str) -> String {
        let spans = self.find(text);
        let mut out = String::with_capacity(text.len());
        let mut end = 0;
        for span in &spans {
            out.push_str(&text[end..span.range[0]]);
            out.push_str(&span.with);
            end = span.range[1];
        }
        out.push_str(&text[end..]);
        out
    }

    /// Returns the text with each character of a secret replaced by an asterisk, so that all other text keeps its
    /// position.
    pub fn cover(&mut self, text: &str) -> String {
        let spans = self.find(text);
        let mut out = String::with_capacity(text.len());
        let mut end = 0;
        for Span { secret: [start, after], .. } in spans {
            out.push_str(&text[end..start]);
            let secret = text[start..after].chars();
            out.extend(secret.map(|char| if char == '\n' { '\n' } else { '*' }));
            end = after;
        }
        out.push_str(&text[end..]);
        out
    }

    /// Finds and counts the secrets of a text. Returns them in order, without overlaps.
    fn find(&mut self, text: &str) -> Vec<Span> {
        if self.is_off {
            return Vec::new();
        }
        let rules = &*RULES;
        let mut spans = Vec::new();
        pem(text, &mut spans);
        rules.lines(text, |start, line, wanted| {
            for &index in wanted {
                let rule = &rules.rules[index];
                rule.find(line.as_bytes(), |range, secret| {
                    let range = whole(line, range);
                    if is_exempt(line, range, rule.form) {
                        return;
                    }
                    let secret = whole(line, secret);
                    let with = match rule.form {
                        Form::Named => {
                            let name = line[range[0]..].split(|char: char| !is_name(char)).next();
                            format!("{}: <redacted>", name.unwrap_or_default())
                        }
                        Form::Token => format!("<token:{}...redacted>", &line[range[0]..][..8]),
                        Form::Plain => "<redacted>".to_owned(),
                    };
                    let shift = |[from, to]: [usize; 2]| [from + start, to + start];
                    spans.push(Span {
                        range: shift(range),
                        secret: shift(secret),
                        order: index,
                        with,
                    });
                });
            }
        });
        let mut spans = apart(spans);
        let mut long_spans = Vec::new();
        let mut end = 0;
        let ends = spans.iter().map(|span| span.range);
        for [start, after] in ends.chain([[text.len(); 2]]) {
            long(text, end, start, rules.rules.len(), &mut long_spans);
            end = after;
        }
        spans.append(&mut long_spans);
        for regex in &self.custom {
            let found = regex.find_iter(text).filter(|found| !found.is_empty());
            spans.extend(found.map(|found| {
                let range = [found.start(), found.end()];
                let order = rules.rules.len() + 1;
                Span { range, secret: range, order, with: "<redacted>".to_owned() }
            }));
        }
        let spans = apart(spans);
        self.count += spans.len() as u64;
        spans
    }
}

/// Replaces secrets by the built-in rules only.
#[allow(dead_code, reason = "for texts that no recording has")]
pub fn usual(text: &str) -> String {
    Redaction::default().apply(text)
}

fn is_name(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_'
}

/// Widens a range of bytes to whole characters.
fn whole(text: &str, [mut start, mut end]: [usize; 2]) -> [usize; 2] {
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    while !text.is_char_boundary(end) {
        end += 1;
    }
    [start, end]
}

/// Whether a match is the shell's working directory and not a password, as in `PWD=/home` and `OLDPWD=/`.
fn is_exempt(line: &str, [start, end]: [usize; 2], form: Form) -> bool {
    if form != Form::Named || !line[start..end].starts_with("PWD=/") {
        return false;
    }
    let before = line[..start].strip_suffix("OLD").unwrap_or(&line[..start]);
    !before.ends_with(is_name)
}

/// Merges overlapping spans. The merged span covers all of them, with the replacement of the rule that has the highest
/// precedence.
fn apart(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_by_key(|span| (span.range[0], span.order));
    let mut joined: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match joined.last_mut() {
            Some(last) if span.range[0] < last.range[1] => {
                let union = |a: [usize; 2], b: [usize; 2]| [a[0].min(b[0]), a[1].max(b[1])];
                last.range = union(last.range, span.range);
                last.secret = union(last.secret, span.secret);
                if span.order < last.order {
                    (last.order, last.with) = (span.order, span.with);
                }
            }
            _ => joined.push(span),
        }
    }
    joined
}

/// Finds long runs of base64 or hexadecimal digits in part of a text. At least half of a run must be letters and
/// digits, of at least two kinds, so that rows of dashes do not match.
fn long(text: &str, start: usize, end: usize, order: usize, spans: &mut Vec<Span>) {
    let Some(regex) = &*LONG else { return };
    for found in regex.find_iter(regex_automata::Input::new(&text[start..end])) {
        let range = [start + found.start(), start + found.end()];
        let run = &text.as_bytes()[range[0]..range[1]];
        let count = |is: fn(&u8) -> bool| run.iter().filter(|byte| is(byte)).count();
        let kinds = [u8::is_ascii_lowercase, u8::is_ascii_uppercase, u8::is_ascii_digit];
        let kinds = kinds.map(|is| count(is));
        let is_varied = kinds.iter().filter(|&&count| count > 0).count() > 1;
        if !is_varied || kinds.iter().sum::<usize>() * 2 < run.len() {
            continue;
        }
        let mut hash = DefaultHasher::new();
        text[range[0]..range[1]].hash(&mut hash);
        let with = format!("<token:{:08x}...redacted>", hash.finish() as u32);
        spans.push(Span { range, secret: range, order, with });
    }
}

/// Finds the lines of a PEM block, without its first and last line. If the last line is missing, finds the lines that
/// look like part of a block.
fn pem(text: &str, spans: &mut Vec<Span>) {
    let begin = memchr::memmem::Finder::new("-----BEGIN ");
    let mut from = 0;
    while let Some(at) = begin.find(&text.as_bytes()[from..]) {
        let head = from + at;
        let Some(length) = text[head..].find('\n') else { return };
        from = head + length + 1;
        let rest = &text[head + "-----BEGIN ".len()..from];
        if !rest.contains("-----") || rest.contains("-----END ") {
            continue;
        }
        let body = &text[from..];
        let has_end = body.split('\n').take(LONGEST_PEM).any(|line| line.contains("-----END "));
        for line in body.split_inclusive('\n').take(LONGEST_PEM) {
            if line.contains("-----END ") || (!has_end && !is_of_pem(line)) {
                break;
            }
            let content = line.trim();
            if !content.is_empty() {
                let start = from + (line.len() - line.trim_start().len());
                let range = [start, start + content.len()];
                let with = "<redacted>".to_owned();
                spans.push(Span { range, secret: range, order: 0, with });
            }
            from += line.len();
        }
    }
}

/// Whether a line can be part of a PEM block: base64, a header, or a blank line.
fn is_of_pem(line: &str) -> bool {
    let line =
        line.trim_matches(|char: char| !char.is_ascii_alphanumeric() && !"+/=".contains(char));
    let is_digit = |char: char| char.is_ascii_alphanumeric() || "+/=".contains(char);
    let header =
        |(name, _): (&str, &str)| name.contains('-') || name == "Version" || name == "Comment";
    line.chars().all(is_digit) || line.split_once(": ").is_some_and(header)
}

#[cfg(test)]
mod tests;
