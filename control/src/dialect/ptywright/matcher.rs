//! The conditions of a wait: their limits and their compiled form.
//!
//! Decides whether a state matches. Never waits, because `sessions::wait` does that.

mod compiled;
mod predicate;

pub use self::compiled::{Answered, Compiled, MatchOutcome, SessionView};

use unterm_plugin::Matcher;

/// The maximum nesting depth of matchers.
const DEEPEST: usize = 16;

/// Checks the nesting depth of a matcher, and the number of its parts.
///
/// # Errors
/// The matcher is nested too deep or has too many parts. A message for clients.
pub fn check(matcher: &Matcher) -> Result<(), String> {
    let (mut count, mut level, mut depth) = (0, vec![matcher], 0);
    while !level.is_empty() {
        (count, depth) = (count + level.len(), depth + 1);
        if depth > DEEPEST {
            return Err(format!("matcher: nested more than {DEEPEST} deep"));
        }
        if count > Matcher::MOST {
            return Err(format!("matcher: more than {} parts", Matcher::MOST));
        }
        level = level.into_iter().flat_map(parts).collect();
    }
    Ok(())
}

fn parts(matcher: &Matcher) -> &[Matcher] {
    match matcher {
        Matcher::Any(parts) | Matcher::All(parts) => parts,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn matchers_are_plain_json() {
        let all = json!({"type": "all", "value": [
            {"type": "any", "value": [{"type": "contains_text", "value": "a"}]},
            {"type": "cursor_at", "value": {"row": 1, "col": 2}},
            {"type": "screen_stable", "value": {"min_ms": 250}},
            {"type": "process_exited"},
            {"type": "lua", "value": {"plugin": "p", "predicate": "f", "params": {"x": 1}}},
        ]});
        let matcher: Matcher = serde_json::from_value(all.clone()).unwrap();
        assert_eq!(serde_json::to_value(matcher).unwrap(), all);
        for (wrong, named) in [
            (json!({"type": "nope"}), "unknown variant `nope`"),
            (json!({"type": "cursor_at", "value": {"row": 1, "col": 2, "x": 3}}), "`x`"),
            (json!({"type": "process_exited", "more": 1}), "more"),
            (json!({"type": "screen_stable", "value": {"min_ms": -1}}), "-1"),
        ] {
            let error = serde_json::from_value::<Matcher>(wrong.clone()).unwrap_err().to_string();
            assert!(error.contains(named), "{wrong}: {error}");
        }
    }

    #[test]
    fn depth_and_parts_are_bounded() {
        let nested =
            |depth| (1..depth).fold(Matcher::ProcessExited, |inner, _| Matcher::Any(vec![inner]));
        assert_eq!(check(&nested(DEEPEST)), Ok(()));
        assert!(check(&nested(DEEPEST + 1)).unwrap_err().contains("16 deep"));
        let wide = |count| Matcher::All(vec![Matcher::ProcessExited; count]);
        assert_eq!(check(&wide(Matcher::MOST - 1)), Ok(()));
        assert!(check(&wide(Matcher::MOST)).unwrap_err().contains("256 parts"));
    }
}
