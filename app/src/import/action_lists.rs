//! Several actions on one key: actions that are repeated, and lists of which only a part can be converted.

use super::{draft::Draft, reasons};
use crate::config::keys::NONE;

/// The maximum number of times that an action is repeated.
const MOST_REPEATED: usize = 10;

/// Repeats an action for a number of steps. A negative number repeats `back`, a positive number `forward`. Returns
/// `None` for fractions, for 0, and for too many steps.
pub(super) fn repeated(steps: f64, back: &str, forward: &str) -> Option<Vec<String>> {
    let times = steps.abs();
    let is_possible = steps.fract() == 0.0 && (1.0..=MOST_REPEATED as f64).contains(&times);
    let action = if steps < 0.0 { back } else { forward };
    is_possible.then(|| vec![action.to_owned(); times as usize])
}

/// Changes the size of the font by points. A fraction is rounded to at least one step.
///
/// # Errors
/// Fails if the change has too many steps.
pub(super) fn font_steps(points: f64) -> Result<Vec<String>, String> {
    let steps = points.abs().round().max(1.0).copysign(points);
    repeated(steps, "smaller_font", "larger_font").ok_or_else(|| reasons::NO_FONT_SIZE.into())
}

/// Joins the converted parts of a list of actions. Each part has its name in the other terminal. Reports the parts
/// that can't be converted, and keeps the others.
///
/// # Errors
/// Fails if no part has an effect. Returns the reason for the first part that can't be converted.
pub(super) fn kept(
    draft: &mut Draft,
    parts: Vec<(String, Result<Vec<String>, String>)>,
) -> Result<Vec<String>, String> {
    let has_effect = |part: &(_, Result<Vec<String>, _>)| {
        part.1.as_ref().is_ok_and(|actions| actions.iter().any(|action| action != NONE))
    };
    let keeps = parts.iter().any(has_effect);
    let mut all = Vec::new();
    for (name, part) in parts {
        match part {
            Ok(actions) => all.extend(actions),
            Err(why) if keeps => draft.leave_out(&format!("without {name}: {why}")),
            Err(why) => return Err(why),
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_is_repeated_for_whole_steps() {
        let times = |steps| repeated(steps, "a", "b").unwrap_or_default().join(" ");
        assert_eq!(
            (times(-2.0), times(1.0), times(3.0)),
            ("a a".into(), "b".into(), "b b b".into())
        );
        for steps in [0.0, 0.5, 11.0, f64::NAN, f64::INFINITY] {
            assert_eq!(repeated(steps, "a", "b"), None, "{steps}");
        }
    }

    #[test]
    fn a_list_keeps_the_actions_that_were_converted() {
        let mut draft = Draft::default();
        let part = |name: &str, part: Result<&str, &str>| {
            let part = part.map(|action| vec![action.to_owned()]).map_err(str::to_owned);
            (name.to_owned(), part)
        };
        let parts = vec![part("x", Ok("new_tab")), part("y", Err("why"))];
        assert_eq!(kept(&mut draft, parts), Ok(vec!["new_tab".to_owned()]));
        let parts = vec![part("x", Ok(NONE)), part("y", Err("why"))];
        assert_eq!(kept(&mut draft, parts), Err("why".to_owned()));
    }
}
