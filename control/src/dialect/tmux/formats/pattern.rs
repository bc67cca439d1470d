//! Patterns: fnmatch(3) and extended regular expressions.

use regex_automata::{meta::Regex, util::syntax};

/// The maximum memory of a compiled regular expression, in bytes.
const LARGEST: usize = 1 << 20;

/// Whether a text matches a pattern as a whole (fnmatch), or contains a match of a regular expression.
pub fn matches(pattern: &str, text: &str, is_regex: bool, ignores_case: bool) -> bool {
    match is_regex {
        true => compiled(pattern, ignores_case).is_some_and(|regex| regex.is_match(text)),
        false if ignores_case => glob(&pattern.to_lowercase(), &text.to_lowercase()),
        false => glob(pattern, text),
    }
}

fn compiled(pattern: &str, ignores_case: bool) -> Option<Regex> {
    Regex::builder()
        .syntax(syntax::Config::new().case_insensitive(ignores_case))
        .configure(Regex::config().nfa_size_limit(Some(LARGEST)).hybrid_cache_capacity(LARGEST))
        .build(pattern)
        .ok()
}

/// Replaces every match of a regular expression. `\1` to `\9` in `to` stand for the groups, and `\0` for the match. An
/// invalid expression replaces nothing. Stops soon after the result is longer than `longest` bytes.
pub fn substitute(from: &str, to: &str, text: &str, ignores_case: bool, longest: usize) -> String {
    let Some(regex) = compiled(from, ignores_case) else { return text.to_owned() };
    let mut out = String::new();
    let mut last = 0;
    for captures in regex.captures_iter(text) {
        let Some(found) = captures.get_match().filter(|found| !found.is_empty()) else { continue };
        out.push_str(&text[last..found.start()]);
        let mut chars = to.chars();
        while let Some(char) = chars.next() {
            if out.len() > longest {
                return out;
            }
            if char != '\\' {
                out.push(char);
                continue;
            }
            match chars.next() {
                Some(digit @ '0'..='9') => {
                    let group = digit.to_digit(10).unwrap_or(0) as usize;
                    if let Some(group) = captures.get_group(group) {
                        out.push_str(&text[group.range()]);
                    }
                }
                Some(other) => out.push(other),
                None => out.push('\\'),
            }
        }
        last = found.end();
        if out.len() > longest {
            return out;
        }
        if from.starts_with('^') {
            break;
        }
    }
    out.push_str(&text[last..]);
    out
}

/// Whether a text matches a pattern with `*`, `?` and `[…]`, as fnmatch(3) without flags.
pub fn glob(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let (mut at, mut here) = (0, 0);
    // The position after the last `*`, and the end of the text that this `*` matches so far.
    let mut star = None;
    loop {
        let step = match pattern.get(at) {
            Some('*') => {
                star = Some((at + 1, here));
                at += 1;
                continue;
            }
            None if here == text.len() => return true,
            None => None,
            Some(_) => text.get(here).and_then(|char| one(&pattern[at..], *char)),
        };
        match (step, star) {
            (Some(length), _) => {
                at += length;
                here += 1;
            }
            (None, Some((after, covered))) if covered < text.len() => {
                star = Some((after, covered + 1));
                (at, here) = (after, covered + 1);
            }
            _ => return false,
        }
    }
}

/// Matches one character. Returns the length of the pattern that matches it.
fn one(pattern: &[char], char: char) -> Option<usize> {
    match pattern[0] {
        '?' => Some(1),
        '\\' if pattern.len() > 1 => (pattern[1] == char).then_some(2),
        '[' => {
            let is_negated = matches!(pattern.get(1), Some('!' | '^'));
            let start = 1 + usize::from(is_negated);
            let length = pattern[start..].iter().skip(1).position(|end| *end == ']');
            let Some(length) = length.map(|length| length + 1) else {
                return (char == '[').then_some(1);
            };
            let set = &pattern[start..start + length];
            let mut has = false;
            let mut at = 0;
            while at < set.len() {
                if at + 2 < set.len() && set[at + 1] == '-' {
                    has |= (set[at]..=set[at + 2]).contains(&char);
                    at += 3;
                } else {
                    has |= set[at] == char;
                    at += 1;
                }
            }
            (has != is_negated).then_some(start + length + 1)
        }
        own => (own == char).then_some(1),
    }
}
