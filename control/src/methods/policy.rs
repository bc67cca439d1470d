//! `policy.*`: rules on input lines.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_mux::PaneId;

use super::{
    Caller, Context, Group, Method, Result, Subjects,
    params::{Arg, NoParams, Raw, Target, session_params},
};
use crate::{
    authority::MOST_JUDGED,
    error::{self, Error},
    services::{
        limits::search_limiter::Budget,
        shell::{policy::Refusal, refused_lines},
    },
};

pub use crate::services::shell::{policy::Rules, refused_lines::RefusedLine};

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
        context.lines.policy.set(rules).map_err(Error::BadPolicy)?;
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
    /// The session's number as text, instead of `id`.
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
        let (policy, command) = (context.lines.policy.clone(), command.into_owned());
        let judge = move |_: &mut Budget| {
            let lines: Vec<&str> = command.lines().chain([&*command]).collect();
            policy.check_typed(pane, &lines, "")?;
            policy.check_typed_at_prompt(pane, None, &lines)
        };
        let (allowed, reason) =
            match context.limits.search_limiter.of(caller.token).run(0, judge).await? {
                Ok(()) if context.lines.policy.is_enabled() => (true, None),
                Ok(()) => (true, Some("Policy disabled".to_owned())),
                Err(Refusal::Blocked(pattern)) => {
                    (false, Some(format!("Blocked by pattern: {pattern}")))
                }
                Err(Refusal::NotAllowed) => {
                    (false, Some("Not allowed by any of allowed_patterns".to_owned()))
                }
                Err(
                    refusal @ (Refusal::Unknown(_) | Refusal::Rewritten(_) | Refusal::NotReleased),
                ) => (false, Some(refusal.to_string())),
            };
        Ok(CheckReply { allowed, reason })
    }
}

/// `policy.refused`.
pub struct Refused;

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct RefusedReply {
    /// The last 64 lines, oldest first. Lines of more than 4096 bytes are left out. Lines that the user can't judge are
    /// also left out: lines that keys edited, so that their text is uncertain, and lines that the shell continues or
    /// replaces.
    pub lines: Vec<RefusedLine>,
}

impl Method for Refused {
    const NAME: &'static str = "policy.refused";
    const GROUP: Group = Group::Governance;
    // Counts as revealing secrets, because a refused line may contain text that the screen does not show.
    const REVEALS: Subjects =
        Subjects::RULES.union(Subjects::SESSIONS).union(Subjects::CALLERS).union(Subjects::SECRETS);
    const DOC: &'static str = "Lists the lines that the rules refused.";
    type Params<'a> = NoParams;
    type Reply = RefusedReply;

    async fn call<'a>(context: &'a Context, _: &'a Caller, _: NoParams) -> Result<RefusedReply> {
        Ok(RefusedReply { lines: context.lines.refused_lines.refused() })
    }
}

/// `policy.release`.
pub struct Release;

session_params! {
    /// A line, and its session.
    ReleaseParams {
        /// The whole line, as policy.refused returns it. At most 4096 bytes. Required without `withdraw`.
        #[serde(default)]
        line: String,
        /// The name of the client that may enter it. Default: a client without a name.
        #[serde(default)]
        client: String,
        /// `true`: ends the release of the client in the session instead.
        #[serde(default)]
        withdraw: bool,
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct ReleaseReply {
    /// Whether the line is released now. With `withdraw`: whether a line was released before.
    pub released: bool,
}

impl Method for Release {
    const NAME: &'static str = "policy.release";
    const GROUP: Group = Group::Governance;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::RULES;
    const DOC: &'static str = "Lets a client enter a refused line once in a session, within 15 seconds. Until then, the client can enter no other line there. The release ends when any client enters a line there.";
    type Params<'a> = ReleaseParams<'a>;
    type Reply = ReleaseReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: ReleaseParams<'a>,
    ) -> Result<ReleaseReply> {
        let pane = context.pane(params.target())?;
        let client = params.client.text("client")?.map(std::borrow::Cow::into_owned);
        if params.withdraw.is_set("withdraw")? {
            let released = context.lines.refused_lines.withdraw(pane.id(), client.as_deref());
            return Ok(ReleaseReply { released });
        }
        let line = params.line.required("line")?;
        if line.len() > refused_lines::LONGEST {
            return Err(Error::Invalid {
                name: "line",
                expected: format!("at most {} bytes", refused_lines::LONGEST),
                got: format!("{} bytes", line.len()),
            });
        }
        context.lines.refused_lines.release(pane.id(), client, line.into_owned());
        Ok(ReleaseReply { released: true })
    }
}
