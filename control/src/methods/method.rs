//! What a method is, and its row in the table: the same with its types erased.

use std::{future::Future, pin::Pin};

use schemars::{JsonSchema, Schema, schema_for};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Context, Subjects};
use crate::{
    caller::{Access, Caller},
    error::{Error, Result},
};

/// Parameters that hold what is typed: where a program does not show it, nobody else does.
pub(crate) const TYPED: [&str; 4] = ["input", "text", "paste", "keys"];

/// Parameters that say by themselves what is done to a session, of methods and of the tools that call them. A name or a title
/// says it only of a method that does no more than to give it ([`Method::TELLING`]): alone, it looks like a command.
pub(crate) const DOING: [&str; 6] = ["command", TYPED[0], TYPED[1], TYPED[2], TYPED[3], "signal"];

/// A method.
pub trait Method: 'static {
    /// Its name on the wire.
    const NAME: &'static str;
    /// The group `server.capabilities` lists it under.
    const GROUP: Group;
    /// What it needs of a caller.
    const ACCESS: Access;
    /// What it reveals to its caller.
    const REVEALS: Subjects;
    /// What it changes.
    const CHANGES: Subjects = Subjects::empty();
    /// What it does, in a line.
    const DOC: &'static str;
    /// Whether the audit log has it, unless it only looks.
    const AUDITED: bool = true;
    /// Whether it is about the one session that its parameters name, and tells and changes nothing of others: what a token
    /// for some sessions reaches.
    const OF_SESSION: bool = false;
    /// Whether it may tell and change nothing of any session, or only of those that its caller reaches: what such a token
    /// reaches too, here without a session that is named.
    const OF_NONE: bool = false;
    /// The parameters that name its session.
    const NAMED: &'static [&'static str] = &["id", "session_id"];
    /// Whether it gives more than an agent's token does, or what outlives it: it is refused to them all.
    const FOR_PEOPLE: bool = false;
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

/// What stands for something typed that its program does not show.
pub(crate) const NOT_SHOWN: &str = "(not shown: the program does not echo it)";

/// What the audit log says of a call.
pub struct Detail {
    /// What is done, in a line.
    pub text: String,
    /// A program is sent what it does not show: nobody else does, also where the call is refused for it.
    pub is_secret: bool,
}

impl Detail {
    /// Of a call that sends a program what it does not show.
    pub fn not_shown() -> Self {
        Self { text: NOT_SHOWN.to_owned(), is_secret: true }
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

/// A row of the table: a method with its types erased.
pub struct Entry {
    /// Its name on the wire.
    pub name: &'static str,
    /// Its group in `server.capabilities`.
    pub group: Group,
    /// What it needs of a caller.
    pub access: Access,
    /// What it reveals to its caller.
    pub reveals: Subjects,
    /// What it changes.
    pub changes: Subjects,
    /// What it does, in a line.
    pub doc: &'static str,
    /// Whether the audit log has it, unless it only looks.
    pub is_audited: bool,
    /// Whether it is about one session only.
    pub is_of_session: bool,
    /// Whether it may be about none.
    pub is_of_none: bool,
    /// The parameters that name its session.
    pub named: &'static [&'static str],
    /// Whether it is refused to every token of an agent.
    pub is_for_people: bool,
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

pub(crate) const fn entry<M: Method>() -> Entry {
    Entry {
        name: M::NAME,
        group: M::GROUP,
        access: M::ACCESS,
        reveals: M::REVEALS,
        changes: M::CHANGES,
        doc: M::DOC,
        is_audited: M::AUDITED,
        is_of_session: M::OF_SESSION,
        is_of_none: M::OF_NONE,
        named: M::NAMED,
        is_for_people: M::FOR_PEOPLE,
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
