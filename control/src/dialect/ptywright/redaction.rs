//! Redacts secrets in text that leaves the server: text that looks like a secret, and text that a client names.

use std::{borrow::Cow, sync::LazyLock};

use regex_automata::{meta::Regex, util::captures::Captures};
use serde::Deserialize;

use super::error::{Error, Result};
use crate::{
    offload::blocking,
    services::{
        limits::search_limiter::{Searches, too_long},
        regex,
    },
};

/// The default replacement of a secret.
pub const REPLACEMENT: &str = "[REDACTED]";
/// The maximum number of literals, and of expressions, in one call.
const MOST_RULES: usize = 64;
/// The maximum length of a literal, and of a replacement, in bytes.
const LONGEST: usize = 4096;
/// Texts longer than this, in bytes, are searched on a blocking thread.
pub const INLINE: usize = 64 << 10;
/// The maximum size of a text, in bytes, after a client's rule was applied. A rule may replace a short literal many
/// times by a long text.
const MOST_BYTES: usize = 64 << 20;

/// The rules that apply to every call, in their order. If a rule has a group, the text of the first group stays before
/// the replacement.
pub static RULES: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let rules = [
        r"(?i)(\bbearer[ \t]+)[A-Za-z0-9._~+/=-]{8,}",
        r"\bsk-[A-Za-z0-9_-]{16,}",
        r#"(?i)((?:api_key|token|secret|password|passwd|authorization)["']?[ \t]*[:=][ \t]*)(?:"[^"\r\n]*"|'[^'\r\n]*'|[^\s"',;]+)"#,
    ];
    rules.iter().filter_map(|rule| Regex::new(rule).ok()).collect()
});

/// Rules that a client adds for one call.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Additions {
    /// This field is required, and always counts as true. The parameter `redact` decides instead.
    #[serde(rename = "enabled")]
    pub _enabled: bool,
    /// The replacement of a secret.
    #[serde(default)]
    pub replacement: Option<String>,
    /// Texts that are secret.
    #[serde(default)]
    pub extra_literals: Vec<String>,
    /// Expressions that match secret text.
    #[serde(default)]
    pub extra_regexes: Vec<String>,
}

/// The redaction of one call.
#[derive(Clone, Debug)]
pub struct Redaction {
    is_on: bool,
    replacement: String,
    literals: Vec<String>,
    regexes: Vec<Regex>,
}

impl Default for Redaction {
    fn default() -> Self {
        Self {
            is_on: true,
            replacement: REPLACEMENT.to_owned(),
            literals: Vec::new(),
            regexes: Vec::new(),
        }
    }
}

/// Redacts a text by the rules of every call. Only for a text of limited length, such as a line of a log.
pub fn redacted(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    for rule in RULES.iter() {
        replace(&mut text, rule, true, REPLACEMENT);
    }
    text
}

impl Redaction {
    /// The redaction that a client requests. `redact`: whether to redact at all; the default is true. `additions`: the
    /// client's own rules, which apply in addition to the rules of every call.
    ///
    /// # Errors
    /// A rule is too long or not a regular expression, or there are too many rules.
    pub async fn of(redact: Option<bool>, additions: Option<Additions>) -> Result<Self> {
        let is_on = redact != Some(false);
        let Some(additions) = additions else { return Ok(Self { is_on, ..Self::default() }) };
        let Additions { _enabled: _, replacement, extra_literals, extra_regexes } = additions;
        for (name, count) in
            [("extra_literals", extra_literals.len()), ("extra_regexes", extra_regexes.len())]
        {
            if count > MOST_RULES {
                let why = format!("redaction.{name}: at most {MOST_RULES}, not {count}");
                return Err(Error::invalid_params(why));
            }
        }
        if let Some(index) =
            extra_literals.iter().position(|text| text.is_empty() || text.len() > LONGEST)
        {
            let why = format!("redaction.extra_literals[{index}]: must have 1 to {LONGEST} bytes");
            return Err(Error::invalid_params(why));
        }
        let replacement = replacement.unwrap_or_else(|| REPLACEMENT.to_owned());
        if replacement.len() > LONGEST || replacement.contains(['\n', '\r']) {
            let why = format!("redaction.replacement: must be a line of at most {LONGEST} bytes");
            return Err(Error::invalid_params(why));
        }
        let compiled = blocking(move || {
            let all = extra_regexes.iter().enumerate();
            let each = all.map(|(index, pattern)| {
                regex(pattern).map_err(|why| {
                    let why = format!("redaction.extra_regexes[{index}]: {pattern:?}: {why}");
                    Error::invalid_params(why)
                })
            });
            each.collect::<Result<Vec<_>>>()
        });
        let regexes = compiled.await??;
        Ok(Self { is_on, replacement, literals: extra_literals, regexes })
    }

    /// Whether texts are returned unchanged.
    pub fn is_off(&self) -> bool {
        !self.is_on
    }

    /// Redacts a text by the rules of every call. Only for a text of limited length.
    pub fn line<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if !self.is_on {
            return Cow::Borrowed(text);
        }
        let mut text = Cow::Borrowed(text);
        for rule in RULES.iter() {
            replace(&mut text, rule, true, &self.replacement);
        }
        for literal in &self.literals {
            if text.contains(literal.as_str()) {
                text = Cow::Owned(text.replace(literal.as_str(), &self.replacement));
            }
        }
        for regex in &self.regexes {
            replace(&mut text, regex, false, &self.replacement);
        }
        text
    }

    /// Redacts texts, each separately. Long texts are searched on a blocking thread.
    ///
    /// # Errors
    /// A client's expression takes too long.
    pub async fn texts(&self, searches: Searches<'_>, texts: Vec<String>) -> Result<Vec<String>> {
        let bytes: usize = texts.iter().map(String::len).sum();
        if self.is_off() {
            return Ok(texts);
        }
        if bytes <= INLINE && self.regexes.is_empty() {
            return Ok(texts.iter().map(|text| self.line(text).into_owned()).collect());
        }
        let redaction = self.clone();
        let work = searches.run(bytes as u64, move |budget| {
            let mut redacted = Vec::with_capacity(texts.len());
            let mut total = 0;
            for text in texts {
                if !budget.take(text.len()) {
                    return None;
                }
                let text = redaction.line(&text).into_owned();
                total += text.len();
                if total > MOST_BYTES {
                    return None;
                }
                redacted.push(text);
            }
            Some(redacted)
        });
        match work.await? {
            Some(redacted) => Ok(redacted),
            None => Err(Error::invalid_params(format!("redaction: {}", too_long()))),
        }
    }
}

/// Replaces each match of a rule. `keeps_group`: whether the text of the first group stays, such as the name of a
/// password.
fn replace(text: &mut Cow<'_, str>, rule: &Regex, keeps_group: bool, replacement: &str) {
    let mut captures: Captures = rule.create_captures();
    let mut out = String::new();
    let mut end = 0;
    loop {
        let input = regex_automata::Input::new(text.as_ref()).range(end..);
        rule.search_captures(&input, &mut captures);
        let Some(found) = captures.get_match() else { break };
        if found.is_empty() {
            // An empty match contains no text to hide.
            let Some(next) = text[found.end()..].chars().next() else { break };
            out.push_str(&text[end..found.end() + next.len_utf8()]);
            end = found.end() + next.len_utf8();
            continue;
        }
        let prefix = captures.get_group(1).filter(|_| keeps_group);
        let kept = prefix.map_or(found.start(), |prefix| prefix.end);
        out.push_str(&text[end..kept]);
        out.push_str(replacement);
        end = found.end();
    }
    if end > 0 {
        out.push_str(&text[end..]);
        *text = Cow::Owned(out);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{caller::TokenKind, services::limits::search_limiter::SearchLimiter};

    fn redacted(text: &str) -> String {
        Redaction::default().line(text).into_owned()
    }

    #[test]
    fn secrets_are_replaced_and_their_names_stay() {
        for (text, expected) in [
            ("curl -H 'x: Bearer abcdefgh1'", "curl -H 'x: Bearer [REDACTED]'"),
            ("bearer short", "bearer short"),
            ("use sk-abcdefghijklmnop now", "use [REDACTED] now"),
            ("sk-short", "sk-short"),
            ("API_KEY=abc", "API_KEY=[REDACTED]"),
            ("MY_TOKEN: abc def", "MY_TOKEN: [REDACTED] def"),
            (r#"{"password": "a b", "x": 1}"#, r#"{"password": [REDACTED], "x": 1}"#),
            ("passwd='a b'; secret=x,y", "passwd=[REDACTED]; secret=[REDACTED],y"),
            ("a token of thanks: one", "a token of thanks: one"),
            ("Authorization: Basic", "Authorization: [REDACTED]"),
            ("ünïcode secret=é", "ünïcode secret=[REDACTED]"),
        ] {
            assert_eq!(redacted(text), expected);
        }
    }

    #[tokio::test]
    async fn a_client_adds_rules_and_switches_all_off() {
        let of = |redact, added| Redaction::of(redact, serde_json::from_value(added).unwrap());
        let added = json!({"enabled": false, "replacement": "<x>",
            "extra_literals": ["Anna"], "extra_regexes": ["[0-9]{3}", "z*"]});
        let added = of(None, added).await.unwrap();
        let texts = vec!["Anna 123 token=1".to_owned(), "zz!".to_owned()];
        let limiter = SearchLimiter::default();
        let texts = added.texts(limiter.of(TokenKind::Instance), texts).await.unwrap();
        assert_eq!(texts, ["<x> <x> token=<x>", "<x>!"]);
        let off = of(Some(false), json!({"enabled": true})).await.unwrap();
        assert_eq!(off.line("token=1"), "token=1");
        for (wrong, named) in [
            (json!({"enabled": true, "extra_regexes": ["a", "("]}), "extra_regexes[1]"),
            (json!({"enabled": true, "extra_literals": [""]}), "extra_literals[0]"),
            (json!({"enabled": true, "replacement": "a\nb"}), "replacement"),
            (json!({"enabled": true, "extra_literals": vec!["a"; 65]}), "not 65"),
        ] {
            let error = of(None, wrong).await.unwrap_err();
            assert!(error.code == -32602 && error.message.contains(named), "{error:?}");
        }
    }
}
