//! `session.lease` and `session.release`: reserve a session's input for one caller.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Caller, Context, Group, Method, Result, Subjects,
    params::{SessionOnly, session_params},
};
use crate::{
    authority::Step,
    error::Error,
    services::pane::leases::{LONGEST, USUAL},
};

/// `session.lease`.
pub struct Lease;

session_params! {
    /// A session, and how long to lease it.
    LeaseParams {
        /// How long, in milliseconds. Default: 60,000; at most an hour. Call again to renew the lease before it ends.
        #[serde(default)]
        ttl_ms: u64,
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct LeaseReply {
    pub leased: bool,
    /// The holder's name, which other callers see.
    pub holder: String,
    pub ttl_ms: u64,
}

impl Method for Lease {
    const NAME: &'static str = "session.lease";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::DRIVERS;
    const CHANGES: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Keeps other callers from typing in a session, and from resizing, renaming, moving or closing it. The user's key press ends the lease; the caller must then lease again, or release, before it can type.";
    type Params<'a> = LeaseParams<'a>;
    type Reply = LeaseReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: LeaseParams<'a>,
    ) -> Result<LeaseReply> {
        let pane = context.pane(params.target())?;
        let most = LONGEST.as_millis() as u64;
        let usual = USUAL.as_millis() as u64;
        let ttl_ms = params.ttl_ms.number("ttl_ms", 1..=most)?.unwrap_or(usual);
        if !context.panes.leases.has(caller, &pane) {
            context.authority.decide(caller, &Step::Keep(&pane))?;
        }
        let holder = context
            .panes
            .leases
            .take(caller, &pane, Duration::from_millis(ttl_ms))
            .map_err(|holder| Error::Leased { id: pane.id().0, holder })?;
        context.host.agents_changed();
        Ok(LeaseReply { leased: true, holder, ttl_ms })
    }
}

/// `session.release`.
pub struct Release;

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct ReleaseReply {
    /// False: the caller no longer held the lease.
    pub released: bool,
}

impl Method for Release {
    const NAME: &'static str = "session.release";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Releases a lease.";
    type Params<'a> = SessionOnly<'a>;
    type Reply = ReleaseReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: SessionOnly<'a>,
    ) -> Result<ReleaseReply> {
        let pane = context.pane(params.session())?;
        let released = context.panes.leases.release(caller, &pane);
        if released {
            context.host.agents_changed();
        }
        Ok(ReleaseReply { released })
    }
}
