//! The state that a plugin reads from a screen.
//!
//! Programs choose what a screen shows, so a state is a claim of the screen's text and not a fact.

use unterm_plugin::{Classification, ClassifyContext, Instance};

/// The time in milliseconds for which a screen must be unchanged before a turn counts as completed.
pub const COMPLETED_TURN_STABLE_MS: u64 = 750;
/// The state that is reported if a plugin's `classify` fails.
pub const PLUGIN_ERROR: &str = "plugin_error";

/// The state that a plugin reads from a screen. If the plugin fails, the state is [`PLUGIN_ERROR`]. May take seconds.
pub fn classify(instance: &Instance, context: &ClassifyContext) -> Classification {
    instance.classify(context).unwrap_or_else(|error| Classification {
        state: PLUGIN_ERROR.to_owned(),
        confidence: 1.0,
        evidence: error.to_string(),
        sequence: context.sequence,
        explain: None,
        metadata: None,
        host_marks: Vec::new(),
    })
}
