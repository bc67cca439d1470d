//! Compiled matchers, which can be tried on a session's state.

use std::time::Duration;

use regex_automata::{Input, meta::Regex};
use serde::Serialize;
use unterm_plugin::{CellPosition, LuaPredicate, Matcher, StableFor};

use super::predicate::{may_hold_later, next_stable};
use crate::services::{limits::search_limiter::Budget, regex};

/// A session's state, as far as matchers need it.
#[derive(Clone, Debug)]
pub struct SessionView {
    /// The screen's text.
    pub screen: String,
    /// The kept output. Empty if the matcher does not need it.
    pub transcript: String,
    /// The position of the cursor.
    pub cursor: CellPosition,
    /// The time since the screen last changed.
    pub stable: Duration,
    /// Whether the program has ended.
    pub has_exited: bool,
    /// The answers of the matcher's predicates.
    pub predicates: Vec<Answered>,
}

/// The answer of a plugin's predicate.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered {
    /// The predicate that was asked.
    pub lua: LuaPredicate,
    /// The outcome if the predicate was true.
    pub outcome: Option<MatchOutcome>,
}

/// The way in which a matcher matched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum MatchOutcome {
    /// The screen contained the text.
    ContainsText { text: String },
    /// The expression matched on the screen. `capture`: its first group or, if there is none, the whole match.
    ScreenRegex { pattern: String, capture: String },
    /// The output contained the text.
    TranscriptContains { text: String },
    /// The expression matched in the output. `capture`: its first group or, if there is none, the whole match.
    TranscriptRegex { pattern: String, capture: String },
    /// The cursor was at this position.
    CursorAt { row: u16, col: u16 },
    /// The screen was unchanged for this time.
    ScreenStable { min_ms: u64 },
    /// The program had ended.
    ProcessExited,
    /// At least one part matched. Contains the first part that matched.
    Any { matched: Box<MatchOutcome> },
    /// Every part matched.
    All { matched: Vec<MatchOutcome> },
    /// The plugin's predicate was true.
    Lua {
        plugin: String,
        predicate: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        evidence: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        capture: Option<String>,
    },
}

/// A matcher whose regular expressions are compiled.
#[derive(Debug)]
pub enum Compiled {
    ContainsText(String),
    ScreenRegex(Box<Expression>),
    TranscriptContains(String),
    TranscriptRegex(Box<Expression>),
    CursorAt(CellPosition),
    ScreenStable(StableFor),
    ProcessExited,
    Any(Vec<Compiled>),
    All(Vec<Compiled>),
    Lua(LuaPredicate),
}

/// A regular expression.
#[derive(Debug)]
pub struct Expression {
    pattern: String,
    regex: Regex,
}

impl Expression {
    fn new(pattern: String) -> Result<Box<Self>, String> {
        let regex = regex(&pattern).map_err(|why| format!("matcher: {pattern:?}: {why}"))?;
        Ok(Box::new(Self { pattern, regex }))
    }

    /// The first group of the first match. If there is no group, the whole match.
    fn capture(&self, text: &str, budget: &mut Budget) -> Option<String> {
        if !budget.take(text.len()) {
            return None;
        }
        let mut captures = self.regex.create_captures();
        self.regex.search_captures(&Input::new(text), &mut captures);
        let span = captures.get_group(1).or_else(|| captures.get_group(0))?;
        Some(text[span].to_owned())
    }
}

impl Compiled {
    /// Compiles a matcher. May take a while.
    ///
    /// # Errors
    /// An expression is invalid, or the matcher needs a feature that this server lacks. A message for clients.
    pub fn new(matcher: Matcher) -> Result<Self, String> {
        let all = |parts: Vec<Matcher>| -> Result<Vec<Self>, String> {
            parts.into_iter().map(Self::new).collect()
        };
        Ok(match matcher {
            Matcher::ContainsText(text) => Self::ContainsText(text),
            Matcher::ScreenRegex(pattern) => Self::ScreenRegex(Expression::new(pattern)?),
            Matcher::TranscriptContains(text) => Self::TranscriptContains(text),
            Matcher::TranscriptRegex(pattern) => Self::TranscriptRegex(Expression::new(pattern)?),
            Matcher::CursorAt(place) => Self::CursorAt(place),
            Matcher::ScreenStable(stable) => Self::ScreenStable(stable),
            Matcher::ProcessExited => Self::ProcessExited,
            Matcher::Any(parts) => Self::Any(all(parts)?),
            Matcher::All(parts) => Self::All(all(parts)?),
            Matcher::Lua(lua) => Self::Lua(lua),
        })
    }

    /// Whether the matcher contains regular expressions, which may take long.
    pub fn has_regex(&self) -> bool {
        match self {
            Self::ScreenRegex(_) | Self::TranscriptRegex(_) => true,
            Self::Any(parts) | Self::All(parts) => parts.iter().any(Self::has_regex),
            _ => false,
        }
    }

    /// Whether the matcher needs the kept output.
    pub fn needs_transcript(&self) -> bool {
        match self {
            Self::TranscriptContains(_) | Self::TranscriptRegex(_) | Self::Lua(_) => true,
            Self::Any(parts) | Self::All(parts) => parts.iter().any(Self::needs_transcript),
            _ => false,
        }
    }

    /// The plugins' predicates in the matcher. Each must be asked before the matcher is tried.
    pub fn predicates(&self) -> Vec<&LuaPredicate> {
        match self {
            Self::Lua(lua) => vec![lua],
            Self::Any(parts) | Self::All(parts) => {
                parts.iter().flat_map(Self::predicates).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Tries the matcher on a state. `None` if it does not match.
    pub fn try_on(&self, seen: &SessionView, budget: &mut Budget) -> Option<MatchOutcome> {
        match self {
            Self::ContainsText(text) => seen
                .screen
                .contains(text.as_str())
                .then(|| MatchOutcome::ContainsText { text: text.clone() }),
            Self::ScreenRegex(regex) => regex.capture(&seen.screen, budget).map(|capture| {
                MatchOutcome::ScreenRegex { pattern: regex.pattern.clone(), capture }
            }),
            Self::TranscriptContains(text) => seen
                .transcript
                .contains(text.as_str())
                .then(|| MatchOutcome::TranscriptContains { text: text.clone() }),
            Self::TranscriptRegex(regex) => {
                regex.capture(&seen.transcript, budget).map(|capture| {
                    MatchOutcome::TranscriptRegex { pattern: regex.pattern.clone(), capture }
                })
            }
            Self::CursorAt(place) => (seen.cursor == *place)
                .then_some(MatchOutcome::CursorAt { row: place.row, col: place.col }),
            Self::ScreenStable(StableFor { min_ms }) => (seen.stable
                >= Duration::from_millis(*min_ms))
            .then_some(MatchOutcome::ScreenStable { min_ms: *min_ms }),
            Self::ProcessExited => seen.has_exited.then_some(MatchOutcome::ProcessExited),
            Self::Any(parts) => {
                let first = parts.iter().find_map(|part| part.try_on(seen, budget));
                first.map(|first| MatchOutcome::Any { matched: Box::new(first) })
            }
            Self::All(parts) => {
                let all = parts.iter().map(|part| part.try_on(seen, budget)).collect();
                let all: Option<Vec<_>> = all;
                all.map(|matched| MatchOutcome::All { matched })
            }
            Self::Lua(lua) => {
                let answered = seen.predicates.iter().find(|answered| answered.lua == *lua);
                answered.and_then(|answered| answered.outcome.clone())
            }
        }
    }

    /// The next time at which the matcher may match if the screen stays unchanged: the smallest stability above
    /// `stable` that one of its parts waits for.
    pub fn next_stable(&self, stable: Duration) -> Option<Duration> {
        match self {
            Self::ScreenStable(StableFor { min_ms }) => {
                Some(Duration::from_millis(*min_ms)).filter(|least| *least > stable)
            }
            Self::Any(parts) | Self::All(parts) => {
                parts.iter().filter_map(|part| part.next_stable(stable)).min()
            }
            Self::Lua(_) => Some(next_stable(stable)),
            _ => None,
        }
    }

    /// Whether the matcher may still match later, although the program has ended and the screen no longer changes. Call
    /// this only if `seen` does not match.
    pub fn may_match_later(&self, seen: &SessionView, budget: &mut Budget) -> bool {
        match self {
            Self::ScreenStable(_) => true,
            Self::Lua(_) => may_hold_later(seen.stable),
            Self::Any(parts) => parts.iter().any(|part| part.may_match_later(seen, budget)),
            Self::All(parts) => parts.iter().all(|part| {
                part.try_on(seen, budget).is_some() || part.may_match_later(seen, budget)
            }),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{caller::TokenKind, services::limits::search_limiter::SearchLimiter};

    fn compiled(matcher: Value) -> Compiled {
        Compiled::new(serde_json::from_value(matcher).unwrap()).unwrap()
    }

    async fn outcome(matcher: Value, seen: &SessionView) -> Value {
        let (matcher, seen) = (compiled(matcher), seen.clone());
        let limiter = SearchLimiter::default();
        let searches = limiter.of(TokenKind::Instance);
        let work = searches.run(1 << 20, move |budget| matcher.try_on(&seen, budget));
        serde_json::to_value(work.await.unwrap()).unwrap()
    }

    fn seen() -> SessionView {
        SessionView {
            screen: "one two\nthree".to_owned(),
            transcript: "one\r\n\u{1b}[1mtwo".to_owned(),
            cursor: CellPosition { row: 1, col: 5 },
            stable: Duration::from_millis(100),
            has_exited: false,
            predicates: Vec::new(),
        }
    }

    #[tokio::test]
    async fn each_kind_reports_how_it_matched() {
        let seen = seen();
        for (matcher, expected) in [
            (
                json!({"type": "contains_text", "value": "two\nth"}),
                json!({"kind": "contains_text", "text": "two\nth"}),
            ),
            (
                json!({"type": "screen_regex", "value": "t(h.)"}),
                json!({"kind": "screen_regex", "pattern": "t(h.)", "capture": "hr"}),
            ),
            (
                json!({"type": "transcript_regex", "value": "o.e"}),
                json!({"kind": "transcript_regex", "pattern": "o.e", "capture": "one"}),
            ),
            (
                json!({"type": "transcript_contains", "value": "[1m"}),
                json!({"kind": "transcript_contains", "text": "[1m"}),
            ),
            (
                json!({"type": "cursor_at", "value": {"row": 1, "col": 5}}),
                json!({"kind": "cursor_at", "row": 1, "col": 5}),
            ),
            (
                json!({"type": "screen_stable", "value": {"min_ms": 100}}),
                json!({"kind": "screen_stable", "min_ms": 100}),
            ),
            (json!({"type": "process_exited"}), Value::Null),
            (json!({"type": "cursor_at", "value": {"row": 0, "col": 5}}), Value::Null),
            (json!({"type": "screen_stable", "value": {"min_ms": 101}}), Value::Null),
            (
                json!({"type": "any", "value": [{"type": "process_exited"},
                    {"type": "contains_text", "value": "one"}]}),
                json!({"kind": "any", "matched": {"kind": "contains_text", "text": "one"}}),
            ),
            (
                json!({"type": "all", "value": [{"type": "contains_text", "value": "one"},
                    {"type": "contains_text", "value": "two"}]}),
                json!({"kind": "all", "matched": [{"kind": "contains_text", "text": "one"},
                    {"kind": "contains_text", "text": "two"}]}),
            ),
            (
                json!({"type": "all", "value": [{"type": "contains_text", "value": "one"},
                    {"type": "contains_text", "value": "nope"}]}),
                Value::Null,
            ),
            (json!({"type": "any", "value": []}), Value::Null),
        ] {
            assert_eq!(outcome(matcher.clone(), &seen).await, expected, "{matcher}");
        }
    }

    #[tokio::test]
    async fn after_the_end_only_time_can_change_what_matches() {
        let ended = SessionView { has_exited: true, ..seen() };
        let later = |matcher: Value| {
            let (matcher, ended) = (compiled(matcher), ended.clone());
            async move {
                let limiter = SearchLimiter::default();
                let work = move |budget: &mut Budget| matcher.may_match_later(&ended, budget);
                limiter.of(TokenKind::Instance).run(1 << 20, work).await.unwrap()
            }
        };
        let stable = json!({"type": "screen_stable", "value": {"min_ms": 500}});
        let text = |text: &str| json!({"type": "contains_text", "value": text});
        assert!(later(stable.clone()).await);
        assert!(later(json!({"type": "all", "value": [stable, text("one")]})).await);
        assert!(!later(json!({"type": "all", "value": [stable, text("nope")]})).await);
        assert!(later(json!({"type": "any", "value": [stable, text("nope")]})).await);
        assert!(!later(text("nope")).await);
    }

    #[test]
    fn the_next_time_to_look_is_the_nearest() {
        let two = compiled(json!({"type": "all", "value": [
            {"type": "screen_stable", "value": {"min_ms": 500}},
            {"type": "screen_stable", "value": {"min_ms": 200}}]}));
        let next = |stable| two.next_stable(Duration::from_millis(stable));
        assert_eq!(next(0), Some(Duration::from_millis(200)));
        assert_eq!(next(200), Some(Duration::from_millis(500)));
        assert_eq!(next(500), None);
    }

    #[test]
    fn an_invalid_expression_is_quoted_in_the_error() {
        let error =
            |matcher: Value| Compiled::new(serde_json::from_value(matcher).unwrap()).unwrap_err();
        let regex = json!({"type": "any", "value": [{"type": "screen_regex", "value": "a("}]});
        assert!(error(regex).contains("\"a(\""));
    }
}
