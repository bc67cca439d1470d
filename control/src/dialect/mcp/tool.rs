//! What a tool is: a row with its name, what it says of itself, its typed arguments and reply, and its call.

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use rmcp::{
    Peer, RoleServer,
    model::{
        CallToolResult, ContentBlock, JsonObject, MetaObject, ProgressNotificationParam,
        ProgressToken, ToolAnnotations,
    },
};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::time::{Instant, interval_at};
use unterm_mux::PaneId;

pub use super::tool_result::{ToolResult, whole};
use super::{
    arguments,
    jobs::{Job, Kind, Pending},
    schema,
    server::Server,
    words::{PANE, Speaker},
};
use crate::{
    backend::{Backend, Calls},
    caller::{Caller, Cancel},
    error::Error,
    methods::{Method, params::NoParams, session},
};

/// When a client that asked for it is first told that a call goes on, and how often from then on.
pub const FIRST_PROGRESS: Duration = Duration::from_secs(1);
/// See [`FIRST_PROGRESS`].
pub const PROGRESS: Duration = Duration::from_secs(5);

/// What `_meta` names the fields under that hold what programs wrote.
const UNTRUSTED: &str = "unterm/untrusted";

/// Tools that go together, under the names of one document.
pub struct Toolset {
    /// Its name.
    pub name: &'static str,
    /// What a client is told of it, for the model.
    pub instructions: &'static str,
    /// Its tools, in order.
    pub tools: &'static [ToolEntry],
    /// What it calls a pane.
    pub noun: &'static str,
    /// Why a call is refused, as its document writes errors.
    pub refusal: fn(&str) -> String,
}

/// A row: a tool with its types erased.
pub struct ToolEntry {
    /// Its name.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What it does, for the model.
    pub doc: &'static str,
    /// What it may do, for clients that ask before.
    pub hints: Hints,
    /// Arguments of a call, as JSON; empty where its document has examples of its own.
    pub example: &'static str,
    /// Schema of its arguments.
    pub arguments: fn() -> Arc<JsonObject>,
    /// Both schemas as clients get them.
    pub listed: fn() -> Schemas,
    /// Why a call with these arguments would be refused whoever makes it, so that no person is asked to approve it.
    pub refuses: fn(&Ask<'_>, &JsonObject) -> Option<CallToolResult>,
    /// Schema of its reply; `None`: its text is all there is.
    pub reply: Option<fn() -> Arc<JsonObject>>,
    /// Calls it.
    pub call: for<'a> fn(&'a Ask<'a>, Value) -> Answering<'a>,
}

/// The schemas of a tool's arguments and of its reply; `None`: its text is all there is.
pub type Schemas = (Arc<JsonObject>, Option<Arc<JsonObject>>);

/// A call under way.
pub type Answering<'a> = Pin<Box<dyn Future<Output = CallToolResult> + Send + 'a>>;

/// What a tool may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hints {
    /// Looks and changes nothing.
    Looks,
    /// Changes a pane, in a way that takes nothing away.
    Adds,
    /// May do whatever a command may.
    Acts,
}

impl Hints {
    /// As the protocol says it.
    pub fn annotations(self) -> ToolAnnotations {
        // What is not said is the protocol's default: destructive, and open to the world.
        let hints = ToolAnnotations::new().read_only(self == Self::Looks);
        match self {
            Self::Looks => hints.open_world(false),
            Self::Adds => hints.destructive(false).open_world(false),
            Self::Acts => hints,
        }
    }
}

/// A tool's answer.
pub struct Answer<T> {
    /// Its reply.
    pub reply: T,
    /// A picture beside it, as PNG in base64.
    pub picture: Option<String>,
}

impl<T> From<T> for Answer<T> {
    fn from(reply: T) -> Self {
        Self { reply, picture: None }
    }
}

/// A tool.
pub trait Tool: 'static {
    /// Its name.
    const NAME: &'static str;
    /// Its name for people.
    const TITLE: &'static str;
    /// What it does, for the model.
    const DOC: &'static str;
    /// What it may do.
    const HINTS: Hints;
    /// Arguments of a call, as JSON: refusals show it.
    const EXAMPLE: &'static str;
    /// The fields of its replies that hold what programs wrote.
    const UNTRUSTED: &'static [&'static str] = &[];
    /// Its arguments.
    type Arguments: DeserializeOwned + JsonSchema + Send + 'static;
    /// Its reply.
    type Reply: Serialize + JsonSchema + Send + 'static;

    /// Checks what the schema can't say of the arguments.
    ///
    /// # Errors
    /// What is wrong with them, for the model.
    fn check(_arguments: Self::Arguments) -> ToolResult<()> {
        Ok(())
    }

    /// Does it.
    fn call<'a>(
        ask: &'a Ask<'a>,
        arguments: Self::Arguments,
    ) -> impl Future<Output = ToolResult<Answer<Self::Reply>>> + Send + 'a;
}

/// A tool's row.
pub const fn row<T: Tool>() -> ToolEntry {
    ToolEntry {
        name: T::NAME,
        title: T::TITLE,
        doc: T::DOC,
        hints: T::HINTS,
        example: T::EXAMPLE,
        arguments: schema::of_arguments::<T::Arguments>,
        listed: || {
            let reply = schema::of_reply_in_brief::<T::Reply>();
            (schema::of_arguments_in_brief::<T::Arguments>(), Some(reply))
        },
        refuses: |ask, given| check::<T>(ask, given).err().map(|why| failed(&why)),
        reply: Some(schema::of_reply::<T::Reply>),
        call: |ask, arguments| Box::pin(answer::<T>(ask, arguments)),
    }
}

fn check<T: Tool>(ask: &Ask<'_>, given: &JsonObject) -> ToolResult<()> {
    T::check(arguments::read(T::NAME, T::EXAMPLE, given.clone())?)?;
    match given.get("pane").and_then(whole) {
        Some(pane) if ask.is_missing(pane) => Err(ask.speaker.say(&Error::NoSession(pane))),
        _ => Ok(()),
    }
}

async fn answer<T: Tool>(ask: &Ask<'_>, given: Value) -> CallToolResult {
    let given = match given {
        Value::Object(given) => given,
        _ => JsonObject::new(),
    };
    let arguments = match arguments::read(T::NAME, T::EXAMPLE, given) {
        Ok(arguments) => arguments,
        Err(why) => return failed(&why),
    };
    match T::call(ask, arguments).await {
        Ok(Answer { reply, picture }) => match serde_json::to_value(reply) {
            Ok(reply) => {
                let mut meta = marked(&reply, T::UNTRUSTED);
                if picture.is_some() {
                    meta = Some(untrusted_fields(&["picture"]));
                }
                let mut result = CallToolResult::structured(reply);
                result.meta = meta;
                if let Some(picture) = picture {
                    result.content.push(ContentBlock::image(picture, "image/png"));
                }
                result
            }
            Err(error) => failed(&format!("Internal error: cannot write the reply: {error}")),
        },
        Err(why) => failed(&why),
    }
}

/// A tool of another document, whose replies and errors are JSON in a text, to the letter, and who reads its arguments
/// itself, since its document says what it answers to wrong ones.
pub trait PlainTool: 'static {
    /// Its name.
    const NAME: &'static str;
    /// Its name for people.
    const TITLE: &'static str;
    /// What it does, for the model.
    const DOC: &'static str;
    /// What it may do.
    const HINTS: Hints;
    /// The fields of its replies and errors that hold what programs wrote.
    const UNTRUSTED: &'static [&'static str] = &[];
    /// What its arguments should be.
    type Arguments: JsonSchema + 'static;

    /// Checks the arguments that a person would be asked about.
    ///
    /// # Errors
    /// What is wrong with them, as the document says it.
    fn check(_ask: &Ask<'_>, _given: &JsonObject) -> Result<(), Value> {
        Ok(())
    }

    /// Does it.
    fn call<'a>(
        ask: &'a Ask<'a>,
        given: JsonObject,
    ) -> impl Future<Output = Result<Value, Value>> + Send + 'a;
}

/// Such a tool's row.
pub const fn plain<T: PlainTool>() -> ToolEntry {
    ToolEntry {
        name: T::NAME,
        title: T::TITLE,
        doc: T::DOC,
        hints: T::HINTS,
        example: "",
        arguments: schema::of_arguments::<T::Arguments>,
        listed: || (schema::of_arguments::<T::Arguments>(), None),
        refuses: |ask, given| T::check(ask, given).err().map(|why| plainly::<T>(Err(why))),
        reply: None,
        call: |ask, arguments| {
            Box::pin(async move {
                let given = match arguments {
                    Value::Object(given) => given,
                    _ => JsonObject::new(),
                };
                plainly::<T>(T::call(ask, given).await)
            })
        },
    }
}

/// A reply or an error as JSON in a text.
fn plainly<T: PlainTool>(came: Result<Value, Value>) -> CallToolResult {
    let text = |value: &Value| vec![ContentBlock::text(value.to_string())];
    let (mut result, said) = match came {
        Ok(reply) => (CallToolResult::success(text(&reply)), reply),
        Err(error) => (CallToolResult::error(text(&error)), error),
    };
    result.meta = marked(&said, T::UNTRUSTED);
    result
}

/// Names the fields of a reply that contain a program's output, in the result's `_meta`.
fn marked(reply: &Value, untrusted: &[&str]) -> Option<MetaObject> {
    let fields: Vec<&str> = untrusted.iter().copied().filter(|field| has(reply, field)).collect();
    (!fields.is_empty()).then(|| untrusted_fields(&fields))
}

/// Whether a reply has a field of that name, at any depth.
fn has(reply: &Value, field: &str) -> bool {
    match reply {
        Value::Object(fields) => {
            fields.contains_key(field) || fields.values().any(|value| has(value, field))
        }
        Value::Array(parts) => parts.iter().any(|part| has(part, field)),
        _ => false,
    }
}

/// Names fields that hold what programs wrote.
pub fn untrusted_fields(fields: &[&str]) -> MetaObject {
    MetaObject(JsonObject::from_iter([(UNTRUSTED.to_owned(), json!(fields))]))
}

/// A failure that the model reads.
pub fn failed(why: &str) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(why)])
}

/// A call of a tool: who asks, and through what it works.
pub struct Ask<'a> {
    /// The instance.
    pub server: &'a Arc<Server>,
    /// Who asks.
    pub caller: &'a Caller,
    /// The toolset's name.
    pub toolset: &'static str,
    /// The tool that is called, and what its toolset calls a pane.
    pub speaker: Speaker,
    /// Where the client was started, if it said.
    pub folder: Option<&'a str>,
    /// Other clients may be this very caller: nothing tells them apart.
    pub is_shared: bool,
    /// How long the client has been kept waiting for the person's approval.
    pub held: Duration,
    /// Where to tell that it goes on, if the client asked for that.
    pub progress: Option<(&'a Peer<RoleServer>, ProgressToken)>,
}

impl Ask<'_> {
    /// Calls a method of this instance.
    pub async fn call<M: Method>(&self, params: M::Params<'_>) -> ToolResult<M::Reply>
    where
        for<'p> M::Params<'p>: Serialize,
        M::Reply: DeserializeOwned,
    {
        self.call_at::<M>(&*self.server.dispatcher, params).await
    }

    /// Calls a method of an instance.
    pub async fn call_at<M: Method>(
        &self,
        backend: &dyn Backend,
        params: M::Params<'_>,
    ) -> ToolResult<M::Reply>
    where
        for<'p> M::Params<'p>: Serialize,
        M::Reply: DeserializeOwned,
    {
        backend.call::<M>(self.caller, params).await.map_err(|error| self.speaker.say(&error))
    }

    /// Whether there is no pane of this number. Of panes that a token does not reach, nothing is said.
    fn is_missing(&self, pane: u64) -> bool {
        let is_reached = self.caller.panes.as_ref().is_none_or(|panes| panes.contains(&pane));
        is_reached && self.server.dispatcher.context().mux.pane(PaneId(pane)).is_none()
    }

    /// The session that is meant: the one named, else the only one that lives.
    pub async fn pane(&self, named: Option<u64>) -> ToolResult<u64> {
        if let Some(id) = named {
            let is_hidden = is_hidden(self.server, id);
            return if is_hidden { Err(self.speaker.say(&Error::NoSession(id))) } else { Ok(id) };
        }
        let sessions = self.call::<session::List>(NoParams {}).await?.sessions;
        let live = sessions.iter().filter(|session| !session.is_dead);
        let live: Vec<u64> = live.map(|session| session.id).collect();
        match live.as_slice() {
            [only] => Ok(*only),
            [] => Err("There is no pane; open one with pane_open".to_owned()),
            several => {
                Err(format!("Say which `pane`: there are {several:?}; pane_list describes each"))
            }
        }
    }

    /// Begins a call of a method that may take any time; see [`Ask::finish`].
    pub fn begin<M: Method>(
        &self,
        kind: fn(Pending<M::Reply>) -> Kind,
        pane: u64,
        params: M::Params<'static>,
    ) -> ToolResult<(Job, Pending<M::Reply>)>
    where
        for<'p> M::Params<'p>: Serialize,
        M::Reply: DeserializeOwned + Clone + Sync,
    {
        let (server, speaker) = (self.server.clone(), self.speaker);
        let cancel = Cancel::default();
        let caller = Caller { cancel: cancel.clone(), ..self.caller.clone() };
        let call = async move {
            let called = server.dispatcher.call::<M>(&caller, params).await;
            called.map_err(|error| speaker.say(&error))
        };
        self.server.jobs.begin(self.caller.connection, kind, pane, cancel, call)
    }

    /// What came of a call, if it ends within this time, telling the client meanwhile that it goes on.
    pub async fn finish<T: Clone>(
        &self,
        job: &Job,
        pending: &Pending<T>,
        within: Duration,
    ) -> Option<ToolResult<T>> {
        let start = Instant::now();
        let outcome = pending.outcome(within.saturating_sub(self.held));
        let Some((peer, token)) = &self.progress else { return outcome.await };
        let mut outcome = std::pin::pin!(outcome);
        let mut ticks = interval_at(start + FIRST_PROGRESS, PROGRESS);
        loop {
            tokio::select! {
                biased;
                outcome = &mut outcome => return outcome,
                _ = ticks.tick() => {
                    // Progress never goes back, and the client has heard of the time before.
                    let passed = (self.held + start.elapsed()).as_secs();
                    let note = ProgressNotificationParam::new(token.clone(), passed as f64)
                        .with_message(format!("{passed} s in pane {}", job.pane));
                    // A client that is gone is told nothing, and the call ends with its session.
                    let _ = peer.notify_progress(note).await;
                }
            }
        }
    }
}

/// Whether a pane is in no tab, as those of the tester: it is its owner's, whoever guesses its number.
pub fn is_hidden(server: &Server, pane: u64) -> bool {
    let (mux, pane) = (&server.dispatcher.context().mux, PaneId(pane));
    mux.pane(pane).is_some() && mux.layout().tab_of(pane).is_none()
}

/// Who refuses what is read by address.
pub const RESOURCES: Speaker = Speaker { tool: "reading a resource", noun: PANE };

/// Calls a method for somebody, for what is read by address.
pub async fn call_for_resource<M: Method>(
    server: &Server,
    caller: &Caller,
    params: M::Params<'_>,
) -> ToolResult<M::Reply>
where
    for<'p> M::Params<'p>: Serialize,
    M::Reply: DeserializeOwned,
{
    let called = server.dispatcher.call::<M>(caller, params).await;
    called.map_err(|error| RESOURCES.say(&error))
}

/// Declares a tool.
macro_rules! tool {
    (
        $type:ident $name:literal $title:literal $hints:ident
        $doc:literal
        example $example:literal
        $(untrusted $untrusted:tt)?
        $(check $check:path;)?
        ($ask:ident, $arguments:ident: $given:ty) -> $reply:ty $body:block
    ) => {
        #[doc = concat!("`", $name, "`: ", $doc)]
        pub struct $type;

        impl $crate::dialect::mcp::tool::Tool for $type {
            const NAME: &'static str = $name;
            const TITLE: &'static str = $title;
            const DOC: &'static str = $doc;
            const HINTS: $crate::dialect::mcp::tool::Hints = $crate::dialect::mcp::tool::Hints::$hints;
            const EXAMPLE: &'static str = $example;
            $(const UNTRUSTED: &'static [&'static str] = &$untrusted;)?
            type Arguments = $given;
            type Reply = $reply;

            $(fn check(arguments: $given) -> $crate::dialect::mcp::tool::ToolResult<()> {
                $check(arguments)
            })?

            async fn call<'a>(
                $ask: &'a $crate::dialect::mcp::tool::Ask<'a>,
                $arguments: $given,
            ) -> $crate::dialect::mcp::tool::ToolResult<$crate::dialect::mcp::tool::Answer<$reply>> {
                $body
            }
        }
    };
}
pub(super) use tool;

/// Declares a tool of another document.
macro_rules! plain_tool {
    (
        $vis:vis $type:ident $name:literal $title:literal $hints:ident $arguments:ty,
        $(untrusted $untrusted:tt,)?
        $(check $check:path,)?
        $doc:literal
        ($ask:ident, $given:ident) $body:block
    ) => {
        #[doc = concat!("`", $name, "`: ", $doc)]
        $vis struct $type;

        impl $crate::dialect::mcp::tool::PlainTool for $type {
            const NAME: &'static str = $name;
            const TITLE: &'static str = $title;
            const DOC: &'static str = $doc;
            const HINTS: $crate::dialect::mcp::tool::Hints = $crate::dialect::mcp::tool::Hints::$hints;
            $(const UNTRUSTED: &'static [&'static str] = &$untrusted;)?
            type Arguments = $arguments;

            $(fn check(
                ask: &$crate::dialect::mcp::tool::Ask<'_>,
                given: &rmcp::model::JsonObject,
            ) -> Result<(), serde_json::Value> {
                $check(ask, given)
            })?

            async fn call<'a>(
                $ask: &'a $crate::dialect::mcp::tool::Ask<'a>,
                $given: rmcp::model::JsonObject,
            ) -> Result<serde_json::Value, serde_json::Value> {
                $body
            }
        }
    };
}
pub(super) use plain_tool;
