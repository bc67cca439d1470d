//! Chooses the claim that counts for a pane. Reads no pane and no clock.
//!
//! - The strongest source wins, whatever the weaker ones claim.
//! - Claims of a program that has ended count only if they are results, `done` or `failed`. Results last until the user
//!   has looked at the pane. A program that works or needs the user overrides them, but an idle program does not.

use std::cmp::Reverse;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::claim::{Claim, State};

/// How a claim affects the state of its pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The claim is the pane's state.
    Decides,
    /// Another claim counts instead.
    Overridden,
    /// The user has looked at the pane since then.
    Seen,
    /// The program has ended since then.
    Over,
}

/// Sorts claims, the strongest first, and returns the verdict on each. `seen`: the time when the user last looked at
/// the pane, in milliseconds since 1970, or 0. At most one claim decides.
pub fn decide(claims: &mut [Claim], seen: u64) -> Vec<Verdict> {
    claims
        .sort_by_key(|claim| (claim.source, Reverse(claim.state.urgency()), Reverse(claim.since)));
    let mut verdicts: Vec<_> = claims.iter().map(|claim| standing(claim, seen)).collect();
    let first = |is_over: bool| {
        let counts =
            |&at: &usize| verdicts[at] == Verdict::Overridden && claims[at].is_over == is_over;
        (0..claims.len()).find(counts)
    };
    let winner = match (first(false), first(true)) {
        (Some(now), Some(result)) if claims[now].state == State::Idle => Some(result),
        (now, result) => now.or(result),
    };
    if let Some(winner) = winner {
        verdicts[winner] = Verdict::Decides;
    }
    verdicts
}

/// The verdict on a claim, as far as it does not depend on other claims.
fn standing(claim: &Claim, seen: u64) -> Verdict {
    if claim.is_over && !claim.state.is_result() {
        Verdict::Over
    } else if seen != 0 && claim.since <= seen && claim.ends_when_seen() {
        Verdict::Seen
    } else {
        Verdict::Overridden
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*, sample::select};

    use super::*;
    use crate::services::pane::program_state::claim::Source;

    fn claims() -> impl Strategy<Value = Vec<Claim>> {
        let claim =
            (select(Source::ALL.to_vec()), select(State::ALL.to_vec()), 0..9u64, any::<bool>());
        let claim = claim.prop_map(|(source, state, since, is_over)| Claim {
            since,
            is_over,
            ..Claim::new(source, state, "a rule")
        });
        vec(claim, 0..12)
    }

    /// The claim that decides.
    fn winner(mut claims: Vec<Claim>, seen: u64) -> Option<Claim> {
        let verdicts = decide(&mut claims, seen);
        let decides: Vec<_> =
            verdicts.iter().zip(claims).filter(|(it, _)| **it == Verdict::Decides).collect();
        assert!(decides.len() <= 1, "{decides:?}");
        decides.into_iter().next().map(|(_, claim)| claim)
    }

    proptest! {
        #[test]
        fn a_weaker_source_never_overrides_a_stronger_one(claims in claims(), seen in 0..9u64) {
            let won = winner(claims.clone(), seen);
            let now = claims.iter().filter(|claim| !claim.is_over);
            let now = now.filter(|claim| seen == 0 || !claim.ends_when_seen() || claim.since > seen);
            let strongest = now.map(|claim| claim.source).min();
            match (won, strongest) {
                (Some(won), Some(strongest)) if !won.is_over => {
                    prop_assert_eq!(won.source, strongest);
                }
                // A result overrides only idle programs.
                (Some(won), strongest) => {
                    prop_assert!(won.state.is_result());
                    let idles = |source| {
                        claims.iter().any(|it| {
                            it.source == source && !it.is_over && it.state == State::Idle
                        })
                    };
                    prop_assert!(strongest.is_none_or(idles));
                }
                (None, strongest) => prop_assert_eq!(strongest, None),
            }
        }

        #[test]
        fn the_order_in_which_sources_report_does_not_matter(
            (claims, shuffled) in claims().prop_flat_map(|claims| {
                (Just(claims.clone()), Just(claims).prop_shuffle())
            }),
            seen in 0..9u64,
        ) {
            let state = |claims| winner(claims, seen).map(|it| (it.source, it.state, it.since));
            prop_assert_eq!(state(claims), state(shuffled));
        }

        #[test]
        fn claims_that_are_over_or_seen_never_decide(claims in claims(), seen in 1..9u64) {
            if let Some(won) = winner(claims, seen) {
                prop_assert!(!won.is_over || won.state.is_result());
                prop_assert!(!won.ends_when_seen() || won.since > seen);
            }
        }
    }

    #[test]
    fn a_result_outlasts_the_prompt_until_it_is_seen() {
        let failed = || Claim {
            since: 5,
            is_over: true,
            ..Claim::new(Source::Report, State::Failed, "reported")
        };
        let process = |state| Claim::new(Source::Process, state, "the processes");
        let state = |now, seen| winner(vec![process(now), failed()], seen).unwrap().state;
        assert_eq!(state(State::Idle, 0), State::Failed);
        assert_eq!(state(State::Idle, 4), State::Failed);
        assert_eq!(state(State::Working, 0), State::Working, "the next command runs");
        assert_eq!(state(State::Idle, 5), State::Idle, "the user has looked");
    }
}
