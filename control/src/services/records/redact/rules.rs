//! The rules that find secrets in a line: the documented rules, Unterm's own rules, and the rules of gitleaks.
//!
//! A rule is compiled when a line first contains one of its keywords. Most of gitleaks' rules are never needed.

use std::sync::{LazyLock, OnceLock};

use regex_automata::{MatchKind, PatternSet, meta::Regex, util::syntax};
use serde::Deserialize;

/// The rules of gitleaks. Their license is next to the file.
const GITLEAKS: &str = include_str!("../../../../../assets/redaction/gitleaks.json");

/// The form of the text that replaces a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `name: <redacted>`. In the pattern, group 1 is the name, and group 2 is the secret.
    Named,
    /// `<token:first8...redacted>`, with the first 8 characters of the secret.
    Token,
    /// `<redacted>` in place of the secret.
    Plain,
}

/// A rule that finds one kind of secret.
pub(super) struct Rule {
    pattern: String,
    /// The group that captures the secret. 0 stands for the first group that took part in the match or, if none did,
    /// for the whole match.
    group: usize,
    pub(super) form: Form,
    compiled: OnceLock<Option<Regex>>,
}

impl Rule {
    /// The rule as a regular expression over bytes. `None` if it does not compile. A test checks that all rules
    /// compile.
    pub(super) fn regex(&self) -> Option<&Regex> {
        self.compiled.get_or_init(|| compile(&self.pattern).ok()).as_ref()
    }

    /// Finds the rule's matches in a line, and calls `found` with the ranges of the match and of the secret.
    pub(super) fn find(&self, line: &[u8], mut found: impl FnMut([usize; 2], [usize; 2])) {
        let Some(regex) = self.regex() else { return };
        for captures in regex.captures_iter(line) {
            let Some(all) = captures.get_match().filter(|all| !all.is_empty()) else { continue };
            let group = match (self.form, self.group) {
                (Form::Named, _) => captures.get_group(2),
                (_, 0) => (1..captures.group_len()).find_map(|group| captures.get_group(group)),
                (_, group) => captures.get_group(group),
            };
            let secret = group.map_or([all.start(), all.end()], |group| [group.start, group.end]);
            let named = captures.get_group(1).map_or(all.start(), |name| name.start);
            let start = if self.form == Form::Named { named } else { secret[0] };
            let end = if self.form == Form::Named { all.end() } else { secret[1] };
            found([start, end], secret);
        }
    }
}

/// Compiles a pattern over bytes with ASCII classes, because gitleaks' patterns expect that `\w` and `\b` mean ASCII.
fn compile(pattern: &str) -> Result<Regex, String> {
    let syntax = syntax::Config::new().unicode(false).utf8(false);
    let config = Regex::config().utf8_empty(false).nfa_size_limit(Some(8 << 20));
    let built = Regex::builder().syntax(syntax).configure(config).build(pattern);
    built.map_err(|error| error.to_string())
}

/// All rules, and the keywords that select the rules to try on a line.
pub(super) struct Rules {
    /// The rules in order of precedence.
    pub(super) rules: Vec<Rule>,
    /// Matches any keyword.
    any_word: Option<Regex>,
    /// The keywords of `any_word`, as one pattern each.
    words: Option<Regex>,
    /// For each keyword, the indices of the rules that need it.
    of_word: Vec<Vec<usize>>,
}

/// A rule of gitleaks.
#[derive(Deserialize)]
struct Listed {
    keywords: Vec<String>,
    regex: String,
    #[serde(default)]
    group: usize,
}

/// Names whose value is a secret, in various notations: `password=x`, `"token": "x"`, `config['key'] = 'x'`.
const NAMED: &str = concat!(
    r"(?i)((?:token|secret|password|passwd|pwd|passphrase|api_key|credential|key)s?)",
    r#"["'\])]*[ \t]*[:=]{1,2}>?[ \t]*"#,
    // The value: adjacent quoted strings, a quote that is not closed on the line, or a word.
    r#"((?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*')+|["'][^\n]+|\S+)"#,
);

/// The documented rules that have keywords, and then Unterm's own rules. Each row contains the keywords, the pattern
/// and the form.
const OWN: &[(&[&str], &str, Form)] = &[
    // A passphrase without quotes has several words, up to the end of the line.
    (&["passphrase"], r#"(?i)(passphrase)s?[ \t]*:[ \t]*([^\s"'][^"'\n]*[^\s"'])"#, Form::Named),
    (
        &[
            "token",
            "secret",
            "password",
            "passwd",
            "pwd",
            "passphrase",
            "api_key",
            "credential",
            "key",
        ],
        NAMED,
        Form::Named,
    ),
    (&["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], "gh[pousr]_[A-Za-z0-9]{36,}", Form::Token),
    // The secret is the whole value of the header, up to a closing quote or the end of the line.
    (
        &["authorization"],
        r#"(?i)authorization["']?[ \t]*[:=][ \t]*["']?(?:[a-z][a-z0-9-]*[ \t]+)?([^\s"'][^"'\n]*)"#,
        Form::Plain,
    ),
    (&["bearer"], r"(?i)\bbearer[ \t]+([a-z0-9._~+/=-]{8,})", Form::Plain),
    (
        &["eyj", "eya"],
        r"\b(ey[JA][A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]*){0,3})",
        Form::Plain,
    ),
    (
        &["akia", "asia", "abia", "acca", "a3t"],
        r"\b(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12,}",
        Form::Plain,
    ),
    (&["xox", "xapp"], r"\b(?:xox[a-z]|xapp)-[A-Za-z0-9-]{8,}", Form::Plain),
    (&["aiza"], r"\bAIza[A-Za-z0-9_-]{20,}", Form::Plain),
    (&["sk-"], r"\bsk-[A-Za-z0-9_-]{16,}", Form::Plain),
    (&["sk_", "rk_", "pk_"], r"\b[spr]k_(?:live|test|prod)_[A-Za-z0-9]{8,}", Form::Plain),
    (&["npm_"], r"\bnpm_[A-Za-z0-9]{20,}", Form::Plain),
    (&["github_pat_"], r"\bgithub_pat_[A-Za-z0-9_]{20,}", Form::Plain),
    // A user's password in a URL, or a token in the place of the user's name.
    (&["://"], r#"://[^\s/:@?#"']*:([^\s/?#"']+)@"#, Form::Plain),
    (&["://"], r#"://([^\s/:@?#"']{20,})@"#, Form::Plain),
    // An option whose value is the next word. `--password=x` already matches as a name with a value.
    (
        &["--"],
        concat!(
            r"(?i)(?:^|[\s'\x22])--(?:[a-z0-9]+[_-])*",
            r"(?:password|passwd|passphrase|pass|pwd|token|secret|credential|(?:api|access|secret)[_-]?key)s?",
            r#"[ \t]+("[^"\n]*"|'[^'\n]*'|[^\s\-"']\S*)"#
        ),
        Form::Plain,
    ),
    // A PEM key on a single line, as in JSON.
    (&["-----begin"], r"-----BEGIN [^\n]*?-----([^\n]+?)-----END ", Form::Plain),
];

/// The rules. They are created when a text is redacted for the first time.
pub(super) static RULES: LazyLock<Rules> = LazyLock::new(|| {
    let mut rules = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut of_word: Vec<Vec<usize>> = Vec::new();
    let mut add = |keywords: &[String], rule: Rule| {
        for keyword in keywords {
            let at = words.iter().position(|word| word == keyword).unwrap_or_else(|| {
                words.push(keyword.clone());
                of_word.push(Vec::new());
                words.len() - 1
            });
            of_word[at].push(rules.len());
        }
        rules.push(rule);
    };
    for (keywords, pattern, form) in OWN {
        let keywords: Vec<String> = keywords.iter().map(|&word| word.to_owned()).collect();
        let (pattern, compiled) = ((*pattern).to_owned(), OnceLock::new());
        add(&keywords, Rule { pattern, group: 0, form: *form, compiled });
    }
    let listed: Vec<Listed> = serde_json::from_str(GITLEAKS).unwrap_or_default();
    for Listed { keywords, regex, group } in listed {
        let rule = Rule { pattern: regex, group, form: Form::Plain, compiled: OnceLock::new() };
        add(&keywords, rule);
    }
    // A dot is the only character in keywords that is special in a regular expression.
    let escaped = |word: &String| format!("(?i){}", word.replace('.', r"\."));
    let patterns: Vec<String> = words.iter().map(escaped).collect();
    let syntax = syntax::Config::new().unicode(false).utf8(false);
    let any_word = compile(&patterns.join("|")).ok();
    // Report every keyword in a line, not only the first.
    let config = Regex::config().match_kind(MatchKind::All);
    let words = Regex::builder().syntax(syntax).configure(config).build_many(&patterns).ok();
    Rules { rules, any_word, words, of_word }
});

impl Rules {
    /// Finds the lines of a text that contain a keyword. Calls `found` with the start of the line, the line, and the
    /// indices of the rules to try, in order.
    pub(super) fn lines<'t>(&self, text: &'t str, mut found: impl FnMut(usize, &'t str, &[usize])) {
        let (Some(any_word), Some(words)) = (&self.any_word, &self.words) else { return };
        let mut set = PatternSet::new(words.pattern_len());
        let mut wanted = Vec::new();
        let mut from = 0;
        while from < text.len() {
            let input = regex_automata::Input::new(text).range(from..);
            let Some(word) = any_word.search_half(&input) else { return };
            let at = word.offset();
            let start = text[..at - 1].rfind('\n').map_or(0, |end| end + 1);
            let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
            let line = &text[start..end];
            set.clear();
            words.which_overlapping_matches(&regex_automata::Input::new(line), &mut set);
            wanted.clear();
            wanted
                .extend(set.iter().flat_map(|word| self.of_word[word.as_usize()].iter().copied()));
            wanted.sort_unstable();
            wanted.dedup();
            found(start, line, &wanted);
            from = end + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_compiles_and_has_a_word() {
        let rules = &*RULES;
        assert!(rules.rules.len() > 200, "{} rules", rules.rules.len());
        for rule in &rules.rules {
            compile(&rule.pattern).unwrap_or_else(|error| panic!("{}: {error}", rule.pattern));
        }
        let has_word = |index| rules.of_word.iter().any(|rules| rules.contains(&index));
        assert!((0..rules.rules.len()).all(has_word));
        assert!(rules.any_word.is_some() && rules.words.is_some());
    }
}
