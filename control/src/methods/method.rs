//! The trait of methods, and [`Entry`], a row of the table of methods, in which the method's types are erased.

use std::{future::Future, ops::Deref, pin::Pin};

use schemars::{JsonSchema, Schema, schema_for};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{context::Context, group::Group};
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
    /// The method's name on the wire.
    const NAME: &'static str;
    /// The group under which `server.capabilities` lists the method.
    const GROUP: Group;
    /// The subjects that the method reveals to its caller. Together with [`Method::CHANGES`], they decide who may call
    /// it ([`Demand`]).
    const REVEALS: Subjects;
    /// The subjects that the method changes.
    const CHANGES: Subjects = Subjects::empty();
    /// One line of documentation.
    const DOC: &'static str;
    /// The names of the parameters that identify the session.
    const NAMED: &'static [&'static str] = &["id", "session_id"];
    /// Whether a call may run for a long time after it has read its parameters. The audit log records such a call when
    /// it begins, and again if it then fails.
    const LASTS: bool = false;
    /// The parameters that describe a call, the most descriptive first. The audit log shows the first one that has a
    /// value, or, if none of them has a value, all parameters except the session and the environment.
    const DESCRIBED_BY: &'static [&'static str] = &DOING;
    /// The type of the parameters.
    type Params<'a>: Deserialize<'a> + JsonSchema + Send;
    /// The type of the reply.
    type Reply: Serialize + JsonSchema + Send;

    /// Executes a call.
    fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: Self::Params<'a>,
    ) -> impl Future<Output = Result<Self::Reply>> + Send + 'a;

    /// The audit log's text about a call. `usual`: the default text, composed of the parameters in
    /// [`Method::DESCRIBED_BY`].
    fn detail(_context: &Context, _params: &Map<String, Value>, usual: Detail) -> Detail {
        usual
    }
}

/// A call in progress.
pub type Call<'a> = Pin<Box<dyn Future<Output = Result<()>> + Send + 'a>>;

/// A row of the table: a method whose types are erased. Dereferences to [`Demand`], so that the row also has the
/// demand's fields.
pub struct Entry {
    /// The subjects that the method reveals and changes, and the callers that may call it.
    pub demand: Demand,
    /// The group under which `server.capabilities` lists the method.
    pub group: Group,
    /// One line of documentation.
    pub doc: &'static str,
    /// See [`Method::LASTS`].
    pub lasts: bool,
    /// See [`Method::DESCRIBED_BY`].
    pub described_by: &'static [&'static str],
    /// See [`Method::detail`].
    pub(crate) detail: fn(&Context, &Map<String, Value>, Detail) -> Detail,
    params: fn() -> Schema,
    reply: fn() -> Schema,
    /// Parses the parameters (JSON), calls the method, and appends the reply (JSON) to the buffer.
    code: for<'a> fn(&'a Context, &'a Caller, &'a str, &'a mut Vec<u8>) -> Call<'a>,
}

impl Entry {
    /// The schema of the method's parameters.
    pub fn params_schema(&self) -> Schema {
        (self.params)()
    }

    /// The schema of the method's reply.
    pub fn reply_schema(&self) -> Schema {
        (self.reply)()
    }

    /// Calls the method and appends its reply (JSON) to `reply`. `params`: the parameters as JSON; empty if there are
    /// none. For a client, only the dispatcher may call this.
    pub(crate) fn call<'a>(
        &'a self,
        context: &'a Context,
        caller: &'a Caller,
        params: &'a str,
        reply: &'a mut Vec<u8>,
    ) -> Call<'a> {
        (self.code)(context, caller, params, reply)
    }
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
        described_by: M::DESCRIBED_BY,
        detail: M::detail,
        params: || schema_for!(M::Params<'static>),
        reply: || schema_for!(M::Reply),
        code: call::<M>,
    }
}

fn call<'a, M: Method>(
    context: &'a Context,
    caller: &'a Caller,
    params: &'a str,
    reply: &'a mut Vec<u8>,
) -> Call<'a> {
    Box::pin(async move {
        let params = serde_json::from_str(object(params)).map_err(Error::Params)?;
        let value = M::call(context, caller, params).await?;
        serde_json::to_writer(reply, &value).map_err(Error::Reply)
    })
}

/// The parameters as a JSON object. Clients send missing parameters as `{}`, `[]`, `null` or nothing, and no method
/// accepts a list. So everything that is not an object counts as `{}`.
fn object(params: &str) -> &str {
    if params.starts_with('{') { params } else { "{}" }
}
