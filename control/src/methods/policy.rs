//! `policy.*`: rules on input lines.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_mux::PaneId;

use super::{
    Caller, Context, Group, Method, Result, Subjects,
    params::{Arg, Raw, Target},
};
use crate::{
    authority::MOST_JUDGED,
    error::{self, Error},
    services::{policy::Refusal, search_limiter::Budget},
};

pub use crate::services::policy::Rules;

/// `policy.set`.
pub struct Set;

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct SetReply {
    pub set: bool,
}

impl Method for Set {
    const NAME: &'static str = "policy.set";
    const GROUP: Group = Group::Governance;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::RULES;
    const DOC: &'static str = "Replaces the rules on the lines that callers may enter.";
    type Params<'a> = Raw<'a, Rules>;
    type Reply = SetReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: Raw<'a, Rules>,
    ) -> Result<SetReply> {
        let rules: Rules =
            params.read().map_err(|error| Error::BadPolicy(error::unplaced(&error)))?;
        context.policy.set(rules).map_err(Error::BadPolicy)?;
        Ok(SetReply { set: true })
    }
}

/// `policy.check`.
pub struct Check;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct CheckParams<'a> {
    /// The command.
    #[serde(borrow)]
    pub command: Arg<'a, String>,
    /// The session in which it would be entered, for rules about that session (or give `session_id`).
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub id: Arg<'a, u64>,
    /// The same as text.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub session_id: Arg<'a, String>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct CheckReply {
    pub allowed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Method for Check {
    const NAME: &'static str = "policy.check";
    const GROUP: Group = Group::Governance;
    const REVEALS: Subjects = Subjects::RULES;
    const DOC: &'static str = "Checks whether a command may be entered, without entering it.";
    type Params<'a> = CheckParams<'a>;
    type Reply = CheckReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: CheckParams<'a>,
    ) -> Result<CheckReply> {
        let command = params.command.required("command")?;
        if command.len() > MOST_JUDGED {
            return Err(Error::Invalid {
                name: "command",
                expected: format!("at most {MOST_JUDGED} bytes"),
                got: format!("{} bytes", command.len()),
            });
        }
        let target = Target::new(&params.id, &params.session_id);
        let pane = target.given().map(|_| target.id()).transpose()?.map(PaneId);
        let (policy, command) = (context.policy.clone(), command.into_owned());
        let judge = move |_: &mut Budget| {
            let lines: Vec<&str> = command.lines().chain([&*command]).collect();
            policy.check_typed(pane, &lines, "")?;
            policy.check_typed_at_prompt(pane, None, &lines)
        };
        let (allowed, reason) = match context.search_limiter.of(caller.token).run(0, judge).await? {
            Ok(()) if context.policy.is_enabled() => (true, None),
            Ok(()) => (true, Some("Policy disabled".to_owned())),
            Err(Refusal::Blocked(pattern)) => {
                (false, Some(format!("Blocked by pattern: {pattern}")))
            }
            Err(Refusal::NotAllowed) => {
                (false, Some("Not allowed by any of allowed_patterns".to_owned()))
            }
            Err(refusal @ (Refusal::Unknown | Refusal::Rewritten(_))) => {
                (false, Some(refusal.to_string()))
            }
        };
        Ok(CheckReply { allowed, reason })
    }
}
