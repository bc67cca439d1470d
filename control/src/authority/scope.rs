//! The first gate: the caller's token. Checks the token's scopes, its sessions, whether it has ended, and the data that
//! it may never receive.

use serde_json::Value;

use super::{
    demand::{Demand, Reach},
    parameters::by_name,
    step::{Authority, Decision, Step},
    subjects::Subjects,
};
use crate::{
    caller::{Access, Caller, Capabilities, Scopes, TokenKind},
    error::{Denial, Error, Result},
    services::people::tokens::Tokens,
};

pub fn decide(authority: &Authority, caller: &Caller, step: &Step<'_>) -> Decision {
    match step {
        Step::Call { demand, params } => check(&authority.tokens, caller, demand, params).into(),
        Step::Answer if !caller.has(Capabilities::IS_USER) => {
            Decision::deny("only the user answers, in the window or on the settings page")
        }
        _ => Decision::Allow,
    }
}

fn check(tokens: &Tokens, caller: &Caller, demand: &Demand, params: &str) -> Result<()> {
    check_scope(caller.scopes, demand.access, demand.name)?;
    check_token(tokens, caller)?;
    if let Some(panes) = &caller.panes
        && !is_within(panes, demand, params)
    {
        let (what, reached) = (demand.name.to_owned(), panes.clone());
        // The error contains the session only if the token does not reach it. Otherwise, the session is not the reason
        // for the refusal.
        let session = session_of(demand, params).filter(|session| !panes.contains(session));
        return Err(Error::Denied(Denial::Sessions { what, session, reached }));
    }
    check_grants(caller, demand)
}

/// Whether a caller of this instance may call a method of another instance. The other instance does not see the
/// caller's token, so that token must be checked here.
///
/// # Errors
/// The caller's token lacks the access, or is limited to some sessions of this instance.
pub fn check_elsewhere(caller: &Caller, demand: &Demand) -> Result<()> {
    check_scope(caller.scopes, demand.access, demand.name)?;
    if let Some(panes) = &caller.panes {
        let (what, reached) = (demand.name.to_owned(), panes.clone());
        return Err(Error::Denied(Denial::Sessions { what, session: None, reached }));
    }
    check_grants(caller, demand)
}

/// Whether a caller may receive data that grants access by itself, or may switch the pause. Such data, for example a
/// key, stays valid after the token that fetched it has ended. A caller that could end the pause would never be held by
/// it.
fn check_grants(caller: &Caller, demand: &Demand) -> Result<()> {
    let is_for_people =
        demand.reveals.intersects(Subjects::KEYS) || demand.changes.intersects(Subjects::PAUSE);
    if is_for_people && !caller.has(Capabilities::GRANTS) {
        return Err(Error::Denied(Denial::Agents(demand.name.to_owned())));
    }
    Ok(())
}

/// Whether scopes include an access.
///
/// # Errors
/// The scopes do not include the access. The error contains `what`, the name of a method or a route.
pub fn check_scope(scopes: Scopes, access: Access, what: &str) -> Result<()> {
    if scopes.allow(access) {
        return Ok(());
    }
    Err(Error::Denied(Denial::Scope { what: what.to_owned(), needs: access, has: scopes }))
}

/// Whether the caller's token is still valid.
pub fn check_token(tokens: &Tokens, caller: &Caller) -> Result<()> {
    let TokenKind::Agent(number) = caller.token else { return Ok(()) };
    match tokens.is_live(number) {
        Ok(true) => Ok(()),
        Ok(false) => Err(Error::Denied(Denial::Ended)),
        Err(why) => Err(Error::Denied(Denial::Other(format!("the token can't be checked: {why}")))),
    }
}

/// Whether a call concerns only these sessions. False if the parameters can't be parsed.
fn is_within(panes: &[u64], demand: &Demand, params: &str) -> bool {
    if demand.reach == Reach::Everything {
        return false;
    }
    if demand.named.is_empty() {
        return demand.reach == Reach::Reached;
    }
    let Ok(params) = by_name(params) else { return false };
    let named = demand.named.iter().filter_map(|name| params.get(*name));
    let mut named = named.filter(|value| !value.is_null()).peekable();
    let is_one = |value: &Value| session_number(value).is_some_and(|it| panes.contains(&it));
    (demand.reach == Reach::Reached || named.peek().is_some()) && named.all(is_one)
}

/// Whether a call names at least one session, and only sessions that meet a condition. False if the parameters can't be
/// parsed.
pub(super) fn names_only(demand: &Demand, params: &str, meets: impl Fn(u64) -> bool) -> bool {
    let Ok(params) = by_name(params) else { return false };
    let named = demand.named.iter().filter_map(|name| params.get(*name));
    let mut named = named.filter(|value| !value.is_null()).peekable();
    named.peek().is_some() && named.all(|value| session_number(value).is_some_and(&meets))
}

fn session_number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

/// The first session that the parameters name.
fn session_of(demand: &Demand, params: &str) -> Option<u64> {
    let params = by_name(params).ok()?;
    demand.named.iter().find_map(|name| session_number(params.get(*name)?))
}
