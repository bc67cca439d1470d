//! `events.*`: a connection's subscription to events, one line each.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use unterm_mux::PaneId;

use super::{
    Caller, Context, Group, Method, Result, Subjects, Word,
    params::{Arg, NoParams},
};
use crate::{
    error::Error,
    services::pane::events::{Filter, KINDS},
};

/// `events.subscribe`.
pub struct Subscribe;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct SubscribeParams<'a> {
    /// Kinds of events. Default: all except `output`.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub events: Arg<'a, Vec<EventKind>>,
    /// Only events of this session.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub id: Arg<'a, u64>,
}

impl SubscribeParams<'_> {
    /// Parameters for events of these kinds, in all sessions that the caller reaches.
    pub fn to(kinds: &[&str]) -> Self {
        let kinds: Vec<EventKind> =
            kinds.iter().map(|kind| EventKind((*kind).to_owned())).collect();
        Self { events: kinds.into(), ..Self::default() }
    }
}

/// The name of a kind of event, before it is checked.
#[derive(Serialize)]
pub struct EventKind(pub String);

impl JsonSchema for EventKind {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Kind".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "enum": KINDS})
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct SubscribeReply {
    pub subscribed: bool,
    /// The kinds that will be sent.
    pub events: Vec<Word>,
    /// The number of the last event before the first one that will be sent.
    pub seq: u64,
}

impl Method for Subscribe {
    const NAME: &'static str = "events.subscribe";
    const GROUP: Group = Group::Governance;
    const REVEALS: Subjects = Subjects::REACHED;
    const DOC: &'static str =
        "Subscribes this connection to events: lines with the method `event`, between replies.";
    const NAMED: &'static [&'static str] = &["id"];
    type Params<'a> = SubscribeParams<'a>;
    type Reply = SubscribeReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: SubscribeParams<'a>,
    ) -> Result<SubscribeReply> {
        let names = params.events.value::<Vec<String>>("events", "a list of strings")?;
        let names = names.unwrap_or_default();
        let mut kinds = Vec::new();
        for name in &names {
            let known = KINDS.iter().find(|kind| *kind == name);
            kinds.push(*known.ok_or_else(|| Error::Invalid {
                name: "events",
                expected: format!("some of {}", KINDS.join(", ")),
                got: format!("{name:?}"),
            })?);
        }
        if kinds.is_empty() {
            kinds = KINDS.into_iter().filter(|kind| *kind != "output").collect();
        }
        let panes = match params.id.number("id", 0..=u64::MAX)? {
            Some(id) if context.mux.pane(PaneId(id)).is_none() => return Err(Error::NoSession(id)),
            Some(id) => Some([id].into()),
            // Without a session, the caller receives the events of all sessions that it reaches.
            None => caller.panes.clone(),
        };
        let filter = Filter { kinds: kinds.clone(), panes };
        let subscription = context.panes.hub.listen(filter);
        caller.subscription.put(Some(subscription));
        Ok(SubscribeReply {
            subscribed: true,
            events: kinds.into_iter().map(Word::Borrowed).collect(),
            seq: context.panes.hub.seq(),
        })
    }
}

/// `events.unsubscribe`.
pub struct Unsubscribe;

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct UnsubscribeReply {
    pub subscribed: bool,
}

impl Method for Unsubscribe {
    const NAME: &'static str = "events.unsubscribe";
    const GROUP: Group = Group::Governance;
    const REVEALS: Subjects = Subjects::empty();
    const DOC: &'static str = "Ends this connection's subscription to events.";
    const NAMED: &'static [&'static str] = &[];
    type Params<'a> = NoParams;
    type Reply = UnsubscribeReply;

    async fn call<'a>(_: &'a Context, caller: &'a Caller, _: NoParams) -> Result<UnsubscribeReply> {
        caller.subscription.put(None);
        Ok(UnsubscribeReply { subscribed: false })
    }
}
