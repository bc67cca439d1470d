//! What a method is, and its row in the table: the same with its types erased.

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
    /// Whether a call may run for a long time after it has read its parameters. The audit log records such a call when
    /// it begins, and again if it then fails.
    const LASTS: bool = false;
    /// The parameters that describe a call, the most descriptive first. The audit log shows the first one that has a
    /// value, or all parameters except the session and the environment if none has.
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

    /// What the audit log says about a call. `told` is the default text, from the parameters in [`Method::TELLING`].
    fn detail(_context: &Context, _params: &Map<String, Value>, told: Detail) -> Detail {
        told
    }
}

/// A call under way.
pub type Call<'a> = Pin<Box<dyn Future<Output = Result<()>> + Send + 'a>>;

/// A row of the table: a method with its types erased. Dereferences to [`Demand`], so the demand's fields are fields of
/// the row, too.
pub struct Entry {
    /// What it reveals and changes, and whom that lets call it.
    pub demand: Demand,
    /// Its group in `server.capabilities`.
    pub group: Group,
    /// What it does, in a line.
    pub doc: &'static str,
    /// See [`Method::LASTS`].
    pub lasts: bool,
    /// See [`Method::TELLING`].
    pub telling: &'static [&'static str],
    /// See [`Method::detail`].
    pub(crate) detail: fn(&Context, &Map<String, Value>, Detail) -> Detail,
    schemas: Schemas,
    code: Code,
}

/// The schemas of parameters and reply.
enum Schemas {
    OfTypes(fn() -> Schema, fn() -> Schema),
    Given(Schema, Schema),
}

/// The code of a method.
enum Code {
    /// Reads the parameters (JSON), calls, and appends the reply (JSON) to the buffer.
    OfType(for<'a> fn(&'a Context, &'a Caller, &'a str, &'a mut Vec<u8>) -> Call<'a>),
    Added(Box<dyn AddedMethod>),
}

/// The code of a method that is added at run time, as by a plugin.
pub trait AddedMethod: Send + Sync + 'static {
    /// Executes a call that the authority has allowed, by what the method's [`Description`] reveals and changes.
    ///
    /// # Errors
    /// The reason for a failure, as a message for the caller.
    fn call<'a>(
        &'a self,
        caller: &'a Caller,
        params: Map<String, Value>,
    ) -> Pin<Box<dyn Future<Output = Result<Value, String>> + Send + 'a>>;
}

/// The description of a method that is added. See [`Method`] for the fields.
#[allow(missing_docs, reason = "the constants of `Method` of the same names say it")]
pub struct Description {
    pub name: &'static str,
    pub group: Group,
    pub reveals: Subjects,
    pub changes: Subjects,
    pub doc: &'static str,
    pub named: &'static [&'static str],
    pub lasts: bool,
    /// The schema of its parameters, which are an object.
    pub params: Schema,
    /// The schema of its reply.
    pub reply: Schema,
}

impl Entry {
    /// A method that is added.
    pub fn added(description: Description, method: Box<dyn AddedMethod>) -> Self {
        let Description { name, group, reveals, changes, doc, named, lasts, params, reply } =
            description;
        Self {
            demand: Demand::of(name, reveals, changes, named),
            group,
            doc,
            lasts,
            telling: &DOING,
            detail: |_, _, told| told,
            schemas: Schemas::Given(params, reply),
            code: Code::Added(method),
        }
    }

    /// The schema of its parameters.
    pub fn params_schema(&self) -> Schema {
        match &self.schemas {
            Schemas::OfTypes(params, _) => params(),
            Schemas::Given(params, _) => params.clone(),
        }
    }

    /// The schema of its reply.
    pub fn reply_schema(&self) -> Schema {
        match &self.schemas {
            Schemas::OfTypes(_, reply) => reply(),
            Schemas::Given(_, reply) => reply.clone(),
        }
    }

    /// Calls it with parameters (JSON; empty: none) and appends the reply (JSON) to `reply`. Only the dispatcher calls it for a
    /// client.
    pub(crate) fn call<'a>(
        &'a self,
        context: &'a Context,
        caller: &'a Caller,
        params: &'a str,
        reply: &'a mut Vec<u8>,
    ) -> Call<'a> {
        match &self.code {
            Code::OfType(call) => call(context, caller, params, reply),
            Code::Added(method) => Box::pin(async move {
                let params = serde_json::from_str(object(params)).map_err(Error::Params)?;
                let value = method.call(caller, params).await.map_err(Error::Failed)?;
                serde_json::to_writer(reply, &value).map_err(Error::Reply)
            }),
        }
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
        telling: M::TELLING,
        detail: M::detail,
        schemas: Schemas::OfTypes(|| schema_for!(M::Params<'static>), || schema_for!(M::Reply)),
        code: Code::OfType(call::<M>),
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

/// Parameters as an object. Clients write none as `{}`, `[]`, `null` or not at all; no method takes a list.
fn object(params: &str) -> &str {
    if params.starts_with('{') { params } else { "{}" }
}
