//! Claims of plugins: translates the names of their states.

use super::claim::{Claim, Need, Source, State};
use crate::services::{milliseconds_of, pane::adapters::Reading};

/// The claim of a plugin's reading. `None` if the name of its state is unknown here, because it comes from another
/// author's plugin.
pub fn of_reading(plugin: &str, reading: &Reading) -> Option<Claim> {
    let Reading { state, since, evidence, explain, .. } = reading;
    let rule = explain.as_ref().map(|explain| explain.rule.as_str());
    let (meaning, need) = meaning(plugin, state, rule)?;
    let text = explain.as_ref().map_or(evidence, |explain| &explain.text);
    let by_rule = rule.map_or_else(String::new, |rule| format!(" by its rule {rule}"));
    let claim = Claim::new(
        Source::Adapter,
        meaning,
        format!("the plugin {plugin} reads {state} from the screen{by_rule}"),
    );
    Some(Claim { need, since: milliseconds_of(since), text: text.clone(), ..claim })
}

/// The meaning of a state's name in the built-in plugins, and in plugins that use the names of their states.
fn meaning(plugin: &str, state: &str, rule: Option<&str>) -> Option<(State, Option<Need>)> {
    let needs = |need| Some((State::NeedsYou, Some(need)));
    match state {
        "starting" | "running" | "thinking" | "cancelling" => Some((State::Working, None)),
        "waiting_for_permission"
        | "waiting_for_trust"
        | "waiting_for_plan_approval"
        | "waiting_for_enter_plan_mode" => needs(Need::Permission),
        "waiting_for_login" => needs(Need::Login),
        "waiting_for_secret" => needs(Need::Password),
        // For agents, this also means the input box that waits for the next prompt.
        "waiting_for_user_input" if plugin == "shell" || rule == Some("question") => {
            needs(Need::Question)
        }
        "ready"
        | "incomplete_command"
        | "waiting_for_user_input"
        | "waiting_for_model_select"
        | "waiting_for_external_editor"
        | "usage_screen"
        | "local_ui_screen" => Some((State::Idle, None)),
        "completed_turn" => Some((State::Done, None)),
        "error" => Some((State::Failed, None)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use unterm_plugin::{Explanation, Registry};

    use super::*;

    fn reading(state: &str, rule: Option<&str>) -> Reading {
        let explain =
            rule.map(|rule| Explanation { rule: rule.to_owned(), text: "1. Yes".to_owned() });
        Reading {
            state: state.to_owned(),
            since: "1970-01-01T00:00:02Z".to_owned(),
            confidence: 1.0,
            evidence: "a dialog".to_owned(),
            explain,
            seq: 1,
        }
    }

    #[test]
    fn every_state_of_our_plugins_has_a_meaning() {
        let registry = Registry::default();
        for plugin in ["claude-code", "codex", "shell"] {
            let described = registry.describe(plugin).unwrap();
            let states = described["states"].as_array().unwrap();
            assert!(!states.is_empty());
            for state in states {
                let name = state["name"].as_str().unwrap();
                assert!(of_reading(plugin, &reading(name, None)).is_some(), "{plugin}: {name}");
            }
        }
    }

    #[test]
    fn a_box_for_the_next_prompt_is_no_question() {
        let claim =
            |plugin, rule| of_reading(plugin, &reading("waiting_for_user_input", rule)).unwrap();
        assert_eq!(claim("claude-code", Some("box")).state, State::Idle);
        let asked = claim("claude-code", Some("question"));
        assert_eq!(
            (asked.state, asked.need, asked.since),
            (State::NeedsYou, Some(Need::Question), 2000)
        );
        assert_eq!(asked.text, "1. Yes");
        assert_eq!(claim("shell", None).need, Some(Need::Question));
        assert_eq!(of_reading("other", &reading("dancing", None)), None);
    }
}
