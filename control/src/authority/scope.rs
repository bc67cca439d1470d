//! The first gate: what a caller's token gives. Its scopes, the sessions that it reaches, its end, and what it is never given.

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
    services::tokens::Tokens,
};

pub fn decide(authority: &Authority, caller: &Caller, step: &Step<'_>) -> Decision {
    match step {
        Step::Call { demand, params } => check(&authority.tokens, caller, demand, params).into(),
        Step::Answer if !caller.has(Capabilities::IS_PERSON) => {
            Decision::deny("only the person answers, in the window or on the settings page")
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
        // A session that the token reaches is not what the method reaches beyond.
        let session = session_of(demand, params).filter(|session| !panes.contains(session));
        return Err(Error::Denied(Denial::Sessions { what, session, reached }));
    }
    check_grants(caller, demand)
}

/// Whether a caller of this instance may make a call at another one, which knows its own token only.
///
/// # Errors
/// The caller's token gives less here, or is for some sessions of this instance.
pub fn check_elsewhere(caller: &Caller, demand: &Demand) -> Result<()> {
    check_scope(caller.scopes, demand.access, demand.name)?;
    if let Some(panes) = &caller.panes {
        let (what, reached) = (demand.name.to_owned(), panes.clone());
        return Err(Error::Denied(Denial::Sessions { what, session: None, reached }));
    }
    check_grants(caller, demand)
}

/// Whether a caller may be given what gives access by itself. A key outlives the token that it was given to; who could end the
/// pause would never be held by it.
fn check_grants(caller: &Caller, demand: &Demand) -> Result<()> {
    let is_for_people =
        demand.reveals.intersects(Subjects::KEYS) || demand.changes.intersects(Subjects::PAUSE);
    if is_for_people && !caller.has(Capabilities::GRANTS) {
        return Err(Error::Denied(Denial::Agents(demand.name.to_owned())));
    }
    Ok(())
}

/// Whether scopes hold an access.
///
/// # Errors
/// They don't: what `what` names is refused.
pub fn check_scope(scopes: Scopes, access: Access, what: &str) -> Result<()> {
    if scopes.allow(access) {
        return Ok(());
    }
    Err(Error::Denied(Denial::Scope { what: what.to_owned(), needs: access, has: scopes }))
}

/// Whether the token of a caller is still worth something.
pub fn check_token(tokens: &Tokens, caller: &Caller) -> Result<()> {
    let TokenKind::Agent(number) = caller.token else { return Ok(()) };
    match tokens.is_live(number) {
        Ok(true) => Ok(()),
        Ok(false) => Err(Error::Denied(Denial::Ended)),
        Err(why) => Err(Error::Denied(Denial::Other(format!("the token can't be checked: {why}")))),
    }
}

/// Whether a call stays within some sessions. Parameters that can't be read name no session that is known.
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

fn session_number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

/// The session that the parameters of a call name first.
fn session_of(demand: &Demand, params: &str) -> Option<u64> {
    let params = by_name(params).ok()?;
    demand.named.iter().find_map(|name| session_number(params.get(*name)?))
}
