//! What a method is, and its row in the table: the same with its types erased.

use std::{future::Future, ops::Deref, pin::Pin};

use schemars::{JsonSchema, Schema, schema_for};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Context;
use crate::{
    authority::{
        Demand, Subjects,
        audit::{DOING, Detail},
    },
    caller::Caller,
    error::{Error, Result},
};

/// A method.
pub trait Method: 'static {
    /// Its name on the wire.
    const NAME: &'static str;
    /// The group `server.capabilities` lists it under.
    const GROUP: Group;
    /// What it reveals to its caller. With [`Method::CHANGES`] this decides who may call it ([`Demand`]).
    const REVEALS: Subjects;
    /// What it changes.
    const CHANGES: Subjects = Subjects::empty();
    /// What it does, in a line.
    const DOC: &'static str;
    /// The parameters that name its session.
    const NAMED: &'static [&'static str] = &["id", "session_id"];
    /// Whether it waits, once it has looked at its parameters, for something that may take its time: the audit log has it when
    /// it begins, and again where it then comes to nothing.
    const LASTS: bool = false;
    /// The parameters that say by themselves what it does, what says most first: the audit log has the first that is given,
    /// else all of them.
    const TELLING: &'static [&'static str] = &DOING;
    /// Its parameters.
    type Params<'a>: Deserialize<'a> + JsonSchema + Send;
    /// Its reply.
    type Reply: Serialize + JsonSchema + Send;

    /// Does it.
    fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: Self::Params<'a>,
    ) -> impl Future<Output = Result<Self::Reply>> + Send + 'a;

    /// What the audit log says of a call, `told` being what [`Method::TELLING`] gives of its parameters.
    fn detail(_context: &Context, _params: &Map<String, Value>, told: Detail) -> Detail {
        told
    }
}

/// The groups of `server.capabilities`, in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of the groups say it")]
pub enum Group {
    Session,
    Exec,
    Screen,
    Workspace,
    Capture,
    Proxy,
    Governance,
    System,
    Instance,
}

impl Group {
    /// Every group, in order.
    pub const ALL: [Self; 9] = [
        Self::Session,
        Self::Exec,
        Self::Screen,
        Self::Workspace,
        Self::Capture,
        Self::Proxy,
        Self::Governance,
        Self::System,
        Self::Instance,
    ];

    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Exec => "exec",
            Self::Screen => "screen",
            Self::Workspace => "workspace",
            Self::Capture => "capture",
            Self::Proxy => "proxy",
            Self::Governance => "governance",
            Self::System => "system",
            Self::Instance => "instance",
        }
    }
}

/// A call under way.
pub type Call<'a> = Pin<Box<dyn Future<Output = Result<()>> + Send + 'a>>;

/// A row of the table: a method with its types erased. What it demands of its caller are fields of it too.
pub struct Entry {
    /// What it reveals and changes, and whom that lets call it.
    pub demand: Demand,
    /// Its group in `server.capabilities`.
    pub group: Group,
    /// What it does, in a line.
    pub doc: &'static str,
    /// Whether the audit log has it when it begins.
    pub lasts: bool,
    /// The parameters that say most of it, in order.
    pub telling: &'static [&'static str],
    /// What the audit log says of a call, given its parameters and what is told of them.
    pub(crate) detail: fn(&Context, &Map<String, Value>, Detail) -> Detail,
    /// The schema of its parameters.
    pub params_schema: fn() -> Schema,
    /// The schema of its reply.
    pub reply_schema: fn() -> Schema,
    /// Reads the parameters (JSON), calls, and appends the reply (JSON) to the buffer.
    pub(crate) call: for<'a> fn(&'a Context, &'a Caller, &'a str, &'a mut Vec<u8>) -> Call<'a>,
}

impl Deref for Entry {
    type Target = Demand;

    fn deref(&self) -> &Demand {
        &self.demand
    }
}

pub(crate) const fn entry<M: Method>() -> Entry {
    Entry {
        demand: Demand::of(M::NAME, M::REVEALS, M::CHANGES, M::NAMED),
        group: M::GROUP,
        doc: M::DOC,
        lasts: M::LASTS,
        telling: M::TELLING,
        detail: M::detail,
        params_schema: || schema_for!(M::Params<'static>),
        reply_schema: || schema_for!(M::Reply),
        call: call::<M>,
    }
}

fn call<'a, M: Method>(
    context: &'a Context,
    caller: &'a Caller,
    params: &'a str,
    reply: &'a mut Vec<u8>,
) -> Call<'a> {
    Box::pin(async move {
        // Clients write no parameters as `{}`, `[]`, `null` or not at all; none of our methods takes a list.
        let params = if params.starts_with('{') { params } else { "{}" };
        let params = serde_json::from_str(params).map_err(Error::Params)?;
        let value = M::call(context, caller, params).await?;
        serde_json::to_writer(reply, &value).map_err(Error::Reply)
    })
}
