//! Asks the predicates of plugins about a session.

use unterm_plugin::PredicateInput;

use super::{Session, Sessions, millis};
use crate::dialect::ptywright::{
    error::Result,
    matcher::{Answered, Compiled, MatchOutcome, SessionView},
    snapshot::Snapshot,
};

impl Sessions {
    /// Asks each predicate of a matcher. `method`: the method that the client called, for errors. If the future is
    /// dropped, at most one call continues, until the limits of plugins end it.
    ///
    /// # Errors
    /// A predicate does not exist, or fails.
    pub async fn ask_predicates(
        &self,
        session: &Session,
        matcher: &Compiled,
        seen: &SessionView,
        snapshot: &Snapshot,
        method: &'static str,
    ) -> Result<Vec<Answered>> {
        let mut answers: Vec<Answered> = Vec::new();
        for lua in matcher.predicates() {
            if answers.iter().any(|answered| answered.lua == *lua) {
                continue;
            }
            let input = PredicateInput {
                screen: seen.screen.clone(),
                title: snapshot.title.clone().unwrap_or_default(),
                transcript: seen.transcript.clone(),
                sequence: snapshot.sequence,
                stable_ms: millis(seen.stable),
                process_exited: seen.has_exited,
                markers: session.marks(),
                cursor: session.output_end(),
                params: lua.params.clone(),
            };
            let outcome =
                self.plugins().predicate(&lua.plugin, &lua.predicate, input, method).await?;
            answers.push(Answered {
                lua: lua.clone(),
                outcome: outcome.matched.then(|| MatchOutcome::Lua {
                    plugin: lua.plugin.clone(),
                    predicate: lua.predicate.clone(),
                    evidence: outcome.evidence,
                    capture: outcome.capture,
                }),
            });
        }
        Ok(answers)
    }
}
