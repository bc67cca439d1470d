//! Rules on the lines that may be entered in panes. They apply to the complete line, even if several callers sent its
//! parts.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, Ordering},
};

use parking_lot::RwLock;
use regex_automata::meta::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_mux::{Distortion, PaneId};

use super::{
    command_parts::parts,
    kind::Shell,
    rewrites::{is_rewritten, joined, runs_history, unquoted},
};

/// Rules as callers send them. The first three fields are required.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Rules {
    /// Whether the rules are in force. They apply to the line as composed, whichever callers send its parts. If keys edited a
    /// shell's line (cursor, history, completion), they apply to the line shown at the marked prompt; Enter is refused while
    /// that line is unknown: the shell lacks integration, or the screen may show another line than the shell has. In programs
    /// other than shells, they apply to the typed text. Lines that a shell takes from its history (`!`, `^`, `fc`, `r`) or
    /// continues on the next line (`\`) are refused.
    ///
    /// The rules prevent mistakes. They are not a sandbox: they check the text of a line, not the commands that it runs. A
    /// variable, an alias, a function, `eval`, an editor or a script can run a blocked command, and so can a `!` after a quote
    /// that an earlier line opened.
    pub enabled: bool,
    /// Texts that no line may contain, with or without its quotes and backslashes.
    pub blocked_patterns: Vec<String>,
    /// With `enforce_allowed`, each line must begin with one of these texts, and so must each part of it after `;`, `&`, `|`, `(`,
    /// `` ` `` or a line end. A line that can't be split into parts is refused: one with an open quote, with a command in double
    /// quotes, with `$'` or with a `!` of the history. Redirections are not checked.
    pub allowed_patterns: Vec<String>,
    /// Whether only allowed lines may be entered.
    #[serde(default)]
    pub enforce_allowed: bool,
    /// Regular expressions that must not match anywhere in a line.
    #[serde(default)]
    pub blocked_regexes: Vec<String>,
    /// Regular expressions that allow a line, or a part of a line, if they match the whole line or part.
    #[serde(default)]
    pub allowed_regexes: Vec<String>,
    /// Additional rules for single sessions, by their numbers. They apply in addition to the rules for all sessions.
    #[serde(default)]
    pub sessions: BTreeMap<String, PaneRules>,
}

/// Rules for one session.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct PaneRules {
    /// Further texts that no line of this session may contain.
    #[serde(default)]
    pub blocked_patterns: Vec<String>,
    /// Further texts with which a line of this session may begin.
    #[serde(default)]
    pub allowed_patterns: Vec<String>,
    /// Whether only allowed lines may be entered in this session. Default: the setting for all sessions.
    #[serde(default)]
    pub enforce_allowed: bool,
    /// Further regular expressions that must not match in a line of this session.
    #[serde(default)]
    pub blocked_regexes: Vec<String>,
    /// Further regular expressions that allow a line of this session.
    #[serde(default)]
    pub allowed_regexes: Vec<String>,
}

/// Why the text of a line is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unknown {
    /// The shell marks no prompt, so the line can't be found on the screen.
    #[error("the shell does not mark its prompt. {ANEW}")]
    Unmarked,
    /// The shell may not have shown the effect of the last keys yet.
    #[error(
        "the screen may not show the last keys yet. Send Enter in a call of its own once it does, or begin anew with ctrl+c"
    )]
    NotYetShown,
    /// The line on the screen may differ from the line that the shell has.
    #[error("{0}. {ANEW}")]
    Distorted(Distortion),
    /// The shell does not support bracketed paste. The shell enters each line of a paste, and reads further text as
    /// keys.
    #[error("the shell takes a paste for keys. Send one line at a time, without a paste")]
    Paste,
}

const ANEW: &str = "Begin anew with ctrl+c and type the whole line";

/// Why a line may not be entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The line contains a blocked text, or matches a blocked expression. Contains that text or expression.
    Blocked(String),
    /// No rule allows the line.
    NotAllowed,
    /// Keys have edited the line, and its text is unknown. Contains the reason.
    Unknown(Unknown),
    /// The shell would run something other than the line's text. Contains the reason.
    Rewritten(&'static str),
    /// The user released a different line.
    NotReleased,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Blocked(pattern) => f.write_str(pattern),
            Self::Rewritten(why) => {
                write!(f, "what the line runs is not known: {why}. Type the whole command instead")
            }
            Self::NotAllowed => f.write_str("not in allowed_patterns"),
            Self::NotReleased => f.write_str("the line is not the one that the user released"),
            Self::Unknown(Unknown::Paste) => Unknown::Paste.fmt(f),
            Self::Unknown(why) => {
                write!(f, "keys edited the line, and what it is now is not known: {why}")
            }
        }
    }
}

/// Compiled patterns.
#[derive(Default)]
struct Patterns {
    blocked: Vec<String>,
    allowed: Vec<String>,
    blocked_regexes: Vec<(String, Regex)>,
    allowed_regexes: Vec<Regex>,
    enforce_allowed: bool,
}

impl Patterns {
    /// Compiles the patterns. An error message contains the field, the pattern and the reason.
    fn new(rules: PaneRules) -> Result<Self, String> {
        let wrong = |field: &str, pattern: &str, error: String| {
            format!("{field}: {pattern:?} is no regular expression: {error}")
        };
        let compile = |field: &str, pattern: &str| {
            crate::services::regex(pattern).map_err(|error| wrong(field, pattern, error))
        };
        // Compile the bare pattern first: inside the added group, an extra parenthesis would go unnoticed.
        let compile_whole = |field: &str, pattern: &str| {
            compile(field, pattern)?;
            let whole = format!("^(?:{pattern})$");
            crate::services::regex(&whole).map_err(|error| wrong(field, pattern, error))
        };
        Ok(Self {
            blocked: rules.blocked_patterns.into_iter().filter(|text| !text.is_empty()).collect(),
            allowed: rules.allowed_patterns.into_iter().filter(|text| !text.is_empty()).collect(),
            blocked_regexes: rules
                .blocked_regexes
                .into_iter()
                .map(|pattern| compile("blocked_regexes", &pattern).map(|regex| (pattern, regex)))
                .collect::<Result<_, String>>()?,
            allowed_regexes: rules
                .allowed_regexes
                .iter()
                .map(|pattern| compile_whole("allowed_regexes", pattern))
                .collect::<Result<_, String>>()?,
            enforce_allowed: rules.enforce_allowed,
        })
    }

    fn bind(&self) -> bool {
        self.enforce_allowed || !self.blocked.is_empty() || !self.blocked_regexes.is_empty()
    }

    fn blocks(&self, line: &str) -> Option<&str> {
        let literal = self.blocked.iter().find(|pattern| line.contains(pattern.as_str()));
        let regex = || self.blocked_regexes.iter().find(|(_, regex)| regex.is_match(line));
        literal.map(String::as_str).or_else(|| regex().map(|(pattern, _)| pattern.as_str()))
    }

    /// The length of the longest allowed text that the line begins with.
    fn beginning(&self, line: &str) -> Option<usize> {
        let begins = |pattern: &&String| line.starts_with(pattern.as_str());
        self.allowed.iter().filter(begins).map(String::len).max()
    }

    fn matches(&self, line: &str) -> bool {
        self.allowed_regexes.iter().any(|regex| regex.is_match(line))
    }
}

/// Whether the rules allow a line: one of the sets matches the whole line, or the sets together allow each of its
/// parts.
fn is_allowed(sets: &[&Patterns], line: &str) -> bool {
    let matches = |line: &str| sets.iter().any(|patterns| patterns.matches(line));
    let beginning = |line: &str| sets.iter().filter_map(|patterns| patterns.beginning(line)).max();
    matches(line.trim())
        || line.split(['\n', '\r']).all(|line| {
            let line = line.trim();
            // If an allowed text contains separators, they do not split the line.
            let own = beginning(line).unwrap_or(0);
            matches(line)
                || parts(line, own).is_some_and(|parts| {
                    let mut parts = parts.into_iter().map(str::trim);
                    parts.all(|part| part.is_empty() || beginning(part).is_some() || matches(part))
                })
        })
}

#[derive(Default)]
struct InForce {
    /// The rules as the caller set them.
    rules: Rules,
    all: Patterns,
    panes: BTreeMap<u64, Patterns>,
}

/// The rules in force. Without any, everything is allowed.
#[derive(Default)]
pub struct Policy {
    rules: RwLock<InForce>,
    /// Whether any rules are in force. Atomic, so that input needs no lock if there are none.
    is_enabled: AtomicBool,
}

impl Policy {
    /// Replaces the rules. If the new rules are invalid, the error describes why, and the old rules stay in force.
    pub fn set(&self, rules: Rules) -> Result<(), String> {
        let mut panes = BTreeMap::new();
        let kept = rules.clone();
        for (id, rules) in rules.sessions {
            let number = id.parse().map_err(|_| {
                format!("sessions: {id:?} is no session's number; use one that session.list gives")
            })?;
            let rules = Patterns::new(rules).map_err(|error| format!("sessions.{id}.{error}"))?;
            panes.insert(number, rules);
        }
        let all = Patterns::new(PaneRules {
            blocked_patterns: rules.blocked_patterns,
            allowed_patterns: rules.allowed_patterns,
            enforce_allowed: rules.enforce_allowed,
            blocked_regexes: rules.blocked_regexes,
            allowed_regexes: rules.allowed_regexes,
        })?;
        let mut rules = self.rules.write();
        self.is_enabled.store(kept.enabled, Ordering::Release);
        *rules = InForce { rules: kept, all, panes };
        Ok(())
    }

    /// The rules as the caller set them.
    pub fn rules(&self) -> Rules {
        self.rules.read().rules.clone()
    }

    /// Whether any rules are in force.
    pub fn is_enabled(&self) -> bool {
        self.is_enabled.load(Ordering::Acquire)
    }

    /// Whether the rules restrict anything in a pane.
    pub fn binds(&self, pane: PaneId) -> bool {
        if !self.is_enabled() {
            return false;
        }
        let rules = self.rules.read();
        let mut sets = [Some(&rules.all), rules.panes.get(&pane.0)].into_iter().flatten();
        sets.any(Patterns::bind)
    }

    /// Whether a line may be entered in a pane. If `pane` is `None`, only the rules for all panes apply.
    pub fn check(&self, pane: Option<PaneId>, line: &str) -> Result<(), Refusal> {
        self.check_typed(pane, &[line], "")
    }

    /// Checks several entered lines and an unfinished line, like `check`. The unfinished line must not contain blocked
    /// text, but need not be allowed yet.
    pub fn check_typed<T: AsRef<str>>(
        &self,
        pane: Option<PaneId>,
        entered: &[T],
        unfinished: &str,
    ) -> Result<(), Refusal> {
        if !self.is_enabled() {
            return Ok(());
        }
        let rules = self.rules.read();
        let own = pane.and_then(|pane| rules.panes.get(&pane.0));
        let sets = || [Some(&rules.all), own].into_iter().flatten();
        let lines = || entered.iter().map(AsRef::as_ref);
        for line in lines().chain([unfinished]).map(joined) {
            for line in [&unquoted(&line), &line] {
                if let Some(pattern) = sets().find_map(|patterns| patterns.blocks(line)) {
                    return Err(Refusal::Blocked(pattern.to_owned()));
                }
            }
        }
        let sets: Vec<_> = sets().collect();
        let is_bound = sets.iter().any(|patterns| patterns.enforce_allowed);
        if is_bound && lines().any(|line| !is_allowed(&sets, line)) {
            return Err(Refusal::NotAllowed);
        }
        Ok(())
    }

    /// Whether a shell that runs these lines runs exactly their text, and no command from its history.
    pub fn check_history<T: AsRef<str>>(
        &self,
        pane: Option<PaneId>,
        lines: &[T],
    ) -> Result<(), Refusal> {
        let mut why = lines.iter().filter_map(|line| runs_history(line.as_ref()));
        self.refuse(pane, why.next())
    }

    /// Checks lines like `check_history`, for lines that are typed at a prompt, where the shell's editor may change
    /// them.
    pub fn check_typed_at_prompt<T: AsRef<str>>(
        &self,
        pane: Option<PaneId>,
        shell: Option<Shell>,
        lines: &[T],
    ) -> Result<(), Refusal> {
        let mut why = lines.iter().filter_map(|line| is_rewritten(shell, line.as_ref()));
        self.refuse(pane, why.next())?;
        self.check_history(pane, lines)
    }

    /// If there is a reason `why`, and any rules apply to the pane, refuses the line for that reason.
    fn refuse(&self, pane: Option<PaneId>, why: Option<&'static str>) -> Result<(), Refusal> {
        let is_bound = || match pane {
            Some(pane) => self.binds(pane),
            None => self.is_enabled() && self.rules.read().all.bind(),
        };
        match why {
            Some(why) if is_bound() => Err(Refusal::Rewritten(why)),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(rules: serde_json::Value) -> Policy {
        let policy = Policy::default();
        policy.set(serde_json::from_value(rules).unwrap()).unwrap();
        policy
    }

    #[test]
    fn blocked_texts_and_expressions_apply_in_every_session() {
        let policy = policy(serde_json::json!({
            "enabled": true, "blocked_patterns": ["rm -rf /", ""], "allowed_patterns": [],
            "blocked_regexes": [r"\bcurl\b.*\|\s*(ba)?sh"],
            "sessions": {"7": {"blocked_patterns": ["git push"]}},
        }));
        let blocked = |pattern: &str| Err(Refusal::Blocked(pattern.to_owned()));
        assert_eq!(policy.check(None, "sudo rm -rf /"), blocked("rm -rf /"));
        assert_eq!(policy.check(None, "curl x | sh"), blocked(r"\bcurl\b.*\|\s*(ba)?sh"));
        assert_eq!(policy.check(None, "git push"), Ok(()));
        assert_eq!(policy.check(Some(PaneId(7)), "git push"), blocked("git push"));
        assert_eq!(policy.check_typed(None, &["ls"], "rm -rf /"), blocked("rm -rf /"));
        for line in ["r\\m -rf /", "'r'm -r\"f\" /", "r\\\nm -rf /"] {
            assert_eq!(policy.check(None, line), blocked("rm -rf /"), "{line}");
        }
    }

    #[test]
    fn lines_of_the_history_are_refused_while_rules_bind() {
        let bash = Some(Shell::Bash);
        let refused = |policy: &Policy, pane, line| {
            policy.check_typed_at_prompt(pane, bash, &[line]).is_err()
        };
        let none = policy(serde_json::json!({
            "enabled": true, "blocked_patterns": [], "allowed_patterns": [],
            "sessions": {"7": {"blocked_patterns": ["touch"]}},
        }));
        for line in ["!!", "fc -s"] {
            assert!(!refused(&none, None, line), "{line}: nothing is forbidden");
            assert!(refused(&none, Some(PaneId(7)), line), "{line}");
        }
        assert!(none.check_history(Some(PaneId(7)), &["!!"]).is_ok(), "it is evaluated, not typed");
    }

    #[test]
    fn only_what_is_allowed_may_be_entered_where_that_is_enforced() {
        let mut rules = serde_json::json!({
            "enabled": true, "blocked_patterns": ["secret"], "allowed_patterns": ["git status", "ls"],
            "allowed_regexes": ["cargo (test|check)( -p [a-z]+)?"],
        });
        assert_eq!(policy(rules.clone()).check(None, "anything"), Ok(()));
        rules["enforce_allowed"] = true.into();
        rules["sessions"] = serde_json::json!({"3": {"allowed_patterns": ["make"]}});
        let policy = policy(rules);
        for line in ["git status -s", "  ls", "", "cargo test -p a"] {
            assert_eq!(policy.check(None, line), Ok(()), "{line}");
        }
        for line in ["ls; git status", "cargo test && ls -l | ls", "ls `ls`"] {
            assert_eq!(policy.check(None, line), Ok(()), "{line}");
        }
        let hidden = ["ls && id", "ls; id", "ls | id", "ls & id", "ls\nid", "ls $(id)", "ls `id`"];
        for line in hidden {
            assert_eq!(policy.check(None, line), Err(Refusal::NotAllowed), "{line}");
        }
        for line in ["make", "cargo test; make", "echo ls"] {
            assert_eq!(policy.check(None, line), Err(Refusal::NotAllowed), "{line}");
        }
        assert_eq!(policy.check(Some(PaneId(3)), "make all && ls"), Ok(()));
        assert_eq!(policy.check_typed(None, &[] as &[&str], "mak"), Ok(()), "not entered yet");
        assert!(policy.check(None, "ls secret").is_err());
    }

    #[test]
    fn rules_that_are_none_leave_the_old_ones() {
        let policy = policy(serde_json::json!({
            "enabled": true, "blocked_patterns": ["x"], "allowed_patterns": [],
        }));
        let bad = Rules { blocked_regexes: vec!["(a".to_owned()], ..Rules::default() };
        assert_eq!(
            policy.set(bad).unwrap_err(),
            "blocked_regexes: \"(a\" is no regular expression: unclosed group"
        );
        let bad = PaneRules { allowed_regexes: vec!["a)|(b".to_owned()], ..PaneRules::default() };
        let bad = Rules { sessions: BTreeMap::from([("7".to_owned(), bad)]), ..Rules::default() };
        assert_eq!(
            policy.set(bad).unwrap_err(),
            "sessions.7.allowed_regexes: \"a)|(b\" is no regular expression: unopened group"
        );
        let bad = Rules { blocked_regexes: vec![r"\w{900}{900}".to_owned()], ..Rules::default() };
        let error = policy.set(bad).unwrap_err();
        assert!(error.contains("too much memory") && error.contains(r"\\w{900}{900}"), "{error}");
        let bad = Rules {
            sessions: BTreeMap::from([("x".to_owned(), PaneRules::default())]),
            ..Rules::default()
        };
        assert!(policy.set(bad).is_err());
        assert!(policy.check(None, "x").is_err());
    }
}
