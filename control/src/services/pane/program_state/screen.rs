//! Claims of screen manifests: converts the rule that decides about a screen to a claim.

use unterm_plugin::ScreenState;

use super::claim::{Claim, Source, State};
use crate::services::pane::screen_rules::Decision;

/// The claim of a rule. `None` if the screen does not show the state.
pub fn of_decision(decision: &Decision) -> Option<Claim> {
    let (state, name) = match decision.state {
        ScreenState::Idle => (State::Idle, "idle"),
        ScreenState::Working => (State::Working, "working"),
        ScreenState::Blocked => (State::NeedsYou, "blocked"),
        ScreenState::Unknown => return None,
    };
    let Decision { agent, rule, text, .. } = decision;
    let rule = format!("the manifest {agent} reads {name} from the screen by its rule {rule}");
    Some(Claim { text: text.clone(), ..Claim::new(Source::Adapter, state, rule) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_without_a_state_claims_nothing() {
        let decision = |state| Decision {
            agent: "a".to_owned(),
            rule: "r".to_owned(),
            state,
            text: "Run it?".to_owned(),
        };
        assert_eq!(of_decision(&decision(ScreenState::Unknown)), None);
        let claim = of_decision(&decision(ScreenState::Blocked)).unwrap();
        assert_eq!((claim.state, claim.source), (State::NeedsYou, Source::Adapter));
        assert_eq!(claim.rule, "the manifest a reads blocked from the screen by its rule r");
    }
}
