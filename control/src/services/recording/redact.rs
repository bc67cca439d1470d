//! Secrets taken out of text that is written for people.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::LazyLock,
};

use regex_automata::meta::Regex;

/// A word for a secret, and its value.
static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?i)((?:token|secret|password|api_key|credential|key)s?)["']?\s*[:=]\s*("[^"\n]*"|'[^'\n]*'|[^\s<]\S*)"#,
    )
    .ok()
});
/// GitHub's tokens.
static GITHUB: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new("gh[pousr]_[A-Za-z0-9]{36}").ok());
/// Anything long in base64 or hexadecimal digits.
static LONG: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new("[A-Za-z0-9+/=_-]{40,}").ok());

/// What is taken out.
#[derive(Default)]
pub struct Redaction {
    is_off: bool,
    custom: Vec<Regex>,
    /// How much was.
    pub count: u64,
}

impl Redaction {
    /// The usual patterns and these; those that are none are left out, and said in the log.
    pub fn new(is_on: bool, custom: &[String]) -> Self {
        let compile = |pattern: &String| {
            crate::services::regex(pattern)
                .map_err(|error| {
                    tracing::warn!(
                        pattern,
                        error,
                        "redaction.custom_patterns: no regular expression"
                    );
                })
                .ok()
        };
        let custom = custom.iter().filter_map(compile).collect();
        Self { is_off: !is_on, custom, count: 0 }
    }

    /// Whether anything is taken out at all.
    pub fn is_on(&self) -> bool {
        !self.is_off
    }

    /// The text without secrets. Whole lines, so that none is cut in two.
    pub fn apply(&mut self, text: &str) -> String {
        if self.is_off {
            return text.to_owned();
        }
        let mut count = 0;
        let mut text = text.to_owned();
        if let Some(regex) = &*NAMED {
            text = replace(regex, &text, &mut count, |found, name| {
                format!("{}: <redacted>", name.unwrap_or(found))
            });
        }
        if let Some(regex) = &*GITHUB {
            text = replace(regex, &text, &mut count, |found, _| {
                format!("<token:{}...redacted>", &found[..8])
            });
        }
        if let Some(regex) = &*LONG {
            text = replace(regex, &text, &mut count, |found, _| {
                let mut hash = DefaultHasher::new();
                found.hash(&mut hash);
                format!("<token:{:08x}...redacted>", hash.finish() as u32)
            });
        }
        for regex in &self.custom {
            text = replace(regex, &text, &mut count, |_, _| "<redacted>".to_owned());
        }
        self.count += count;
        text
    }

    /// The text with its secrets as asterisks, one for each character, so that all else keeps its place.
    pub fn cover(&mut self, text: &str) -> String {
        if self.is_off {
            return text.to_owned();
        }
        let covered = |secret: &str| -> String {
            secret.chars().map(|char| if char == '\n' { '\n' } else { '*' }).collect()
        };
        let mut count = 0;
        let mut text = text.to_owned();
        if let Some(regex) = &*NAMED {
            text = replace(regex, &text, &mut count, |found, name| {
                // Its name stays: the value is behind the sign.
                let behind = name.map_or(0, str::len);
                let sign = found[behind..].find([':', '=']).map_or(behind, |at| behind + at + 1);
                let value = found[sign..].trim_start();
                let start = found.len() - value.len();
                format!("{}{}", &found[..start], covered(value))
            });
        }
        for regex in GITHUB.iter().chain(LONG.iter()).chain(&self.custom) {
            text = replace(regex, &text, &mut count, |found, _| covered(found));
        }
        self.count += count;
        text
    }
}

/// Replaces each match; `with` gets it and its first group.
fn replace(
    regex: &Regex,
    text: &str,
    count: &mut u64,
    with: impl Fn(&str, Option<&str>) -> String,
) -> String {
    let mut out = String::with_capacity(text.len());
    let mut end = 0;
    for found in regex.captures_iter(text) {
        let Some(all) = found.get_match() else { continue };
        if all.is_empty() {
            continue;
        }
        out.push_str(&text[end..all.start()]);
        out.push_str(&with(
            &text[all.range()],
            found.get_group(1).map(|group| &text[group.range()]),
        ));
        end = all.end();
        *count += 1;
    }
    out.push_str(&text[end..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_go_and_the_rest_stays() {
        let mut redaction = Redaction::new(true, &["h[ua]nter".to_owned(), "(".to_owned()]);
        let github = format!("ghp_{}", "a1".repeat(18));
        let hex = "0123456789abcdef".repeat(3);
        for (text, expected) in [
            ("export API_KEY=abc ok", "export API_KEY: <redacted> ok"),
            ("password: \"two words\" end", "password: <redacted> end"),
            ("\"token\": \"x\"", "\"token: <redacted>"),
            (&*format!("use {github}."), "use <token:ghp_a1a1...redacted>."),
            ("a hunter waits", "a <redacted> waits"),
            ("nothing here", "nothing here"),
        ] {
            assert_eq!(redaction.apply(text), expected);
        }
        let masked = redaction.apply(&hex);
        assert!(masked.starts_with("<token:") && !masked.contains(&hex), "{masked}");
        assert_eq!(redaction.count, 6);
        assert_eq!(Redaction::new(false, &[]).apply("token=x"), "token=x");
    }

    #[test]
    fn what_is_covered_keeps_its_place() {
        let mut redaction = Redaction::new(true, &["h[ua]nter".to_owned()]);
        let long = "0123456789abcdef".repeat(3);
        for (text, expected) in [
            ("export API_KEY=abc ok", "export API_KEY=*** ok"),
            ("password: \"zwei wörter\" end", "password: ************* end"),
            ("a hunter waits\nfor é", "a ****** waits\nfor é"),
            (&long, &"*".repeat(48)),
            ("nothing here", "nothing here"),
        ] {
            assert_eq!(redaction.cover(text), expected);
        }
        assert_eq!(redaction.count, 4);
        assert_eq!(Redaction::new(false, &[]).cover("token=x"), "token=x");
    }
}
