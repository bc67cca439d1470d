//! Tools. Each tool is a row with a name, a description, typed arguments, a typed reply and a function.

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use rmcp::{
    RoleServer,
    model::{
        CallToolResult, ContentBlock, JsonObject, MetaObject, ProgressNotificationParam,
        ProgressToken, ToolAnnotations,
    },
    service::RequestContext,
};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::{
    sync::watch,
    time::{Instant, interval_at},
};
use unterm_mux::PaneId;

pub use super::tool_result::{ToolResult, whole};
use super::{
    arguments,
    error_messages::{Advises, PANE, Speaker},
    jobs::{Job, JobKind, JobState, LONGEST, Pending, SLICE, slice_within},
    schema,
    server::Server,
};
use crate::{
    backend::{Backend, Calls},
    caller::{Caller, Signals},
    error::Error,
    methods::{Method, params::NoParams, session},
};

/// If a client wants progress notifications, the first one is sent after this time.
pub const FIRST_PROGRESS: Duration = Duration::from_secs(1);
/// The interval of further progress notifications.
pub const PROGRESS: Duration = Duration::from_secs(5);

/// The key in `_meta` of the list of fields that contain a program's output.
const UNTRUSTED: &str = "unterm/untrusted";

/// A set of tools, as one protocol defines them.
pub struct Toolset {
    /// The toolset's name.
    pub name: &'static str,
    /// Instructions for the model.
    pub instructions: &'static str,
    /// The tools, in order.
    pub tools: &'static [ToolEntry],
    /// The toolset's word for a pane.
    pub noun: &'static str,
    /// The tools that the toolset's errors may recommend.
    pub advises: Advises,
    /// Formats the reason of a refusal like the errors of the toolset's protocol.
    pub refusal: fn(&str) -> String,
}

/// A tool's row, in which its types are erased.
#[derive(Clone, Copy)]
pub struct ToolEntry {
    /// The tool's name.
    pub name: &'static str,
    /// The tool's title for users.
    pub title: &'static str,
    /// The tool's description for the model.
    pub doc: &'static str,
    /// The tool's possible effects, for clients that ask the user first.
    pub hints: Hints,
    /// Example arguments, as JSON. Empty if the tool's protocol has its own examples.
    pub example: &'static str,
    /// The schema of the tool's arguments.
    pub arguments: fn() -> Arc<JsonObject>,
    /// The schemas of arguments and reply, in the form that clients receive.
    pub listed: fn() -> Schemas,
    /// Arguments that are not listed for clients. Calls may use them nevertheless.
    pub unlisted: &'static [&'static str],
    /// The error, if a call with these arguments is refused for every caller. The user is then not asked to approve the
    /// call.
    pub refuses: fn(&Ask<'_>, &JsonObject) -> Option<CallToolResult>,
    /// The schema of the tool's reply. `None` if the reply is only text.
    pub reply: Option<fn() -> Arc<JsonObject>>,
    /// Calls the tool.
    pub call: for<'a> fn(&'a Ask<'a>, Value) -> Answering<'a>,
}

/// The schemas of a tool's arguments and of its reply. The second is `None` if the reply is only text.
pub type Schemas = (Arc<JsonObject>, Option<Arc<JsonObject>>);

/// A running call.
pub type Answering<'a> = Pin<Box<dyn Future<Output = CallToolResult> + Send + 'a>>;

/// The possible effects of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hints {
    /// Only reads.
    Looks,
    /// Changes a pane without destroying anything.
    Adds,
    /// Can have any effect that a command can have.
    Acts,
}

impl Hints {
    /// The effects as MCP's tool annotations.
    pub fn annotations(self) -> ToolAnnotations {
        // Without annotations, the protocol assumes that a tool is destructive and acts on external systems.
        let hints = ToolAnnotations::new().read_only(self == Self::Looks);
        match self {
            Self::Looks => hints.open_world(false),
            Self::Adds => hints.destructive(false).open_world(false),
            Self::Acts => hints,
        }
    }
}

/// The result of a call.
pub struct Answer<T> {
    /// The reply.
    pub reply: T,
    /// A picture that accompanies the reply: PNG in base64.
    pub picture: Option<String>,
}

impl<T> From<T> for Answer<T> {
    fn from(reply: T) -> Self {
        Self { reply, picture: None }
    }
}

/// A tool.
pub trait Tool: 'static {
    /// The tool's name.
    const NAME: &'static str;
    /// The tool's title for users.
    const TITLE: &'static str;
    /// The tool's description for the model.
    const DOC: &'static str;
    /// The tool's possible effects.
    const HINTS: Hints;
    /// Example arguments, as JSON. Errors about arguments show them.
    const EXAMPLE: &'static str;
    /// The fields of the replies that contain a program's output.
    const UNTRUSTED: &'static [&'static str] = &[];
    /// The type of the arguments.
    type Arguments: DeserializeOwned + JsonSchema + Send + 'static;
    /// The type of the reply.
    type Reply: Serialize + JsonSchema + Send + 'static;

    /// Checks restrictions on the arguments that the schema can't express.
    ///
    /// # Errors
    /// The arguments violate a restriction. A message for the model.
    fn check(_arguments: Self::Arguments) -> ToolResult<()> {
        Ok(())
    }

    /// Executes a call.
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
            let reply = schema::of_reply_in_brief();
            (schema::of_arguments_in_brief::<T::Arguments>(), Some(reply))
        },
        unlisted: &[],
        refuses: |ask, given| check::<T>(ask, given).err().map(|why| failed(&why)),
        reply: Some(schema::of_reply::<T::Reply>),
        call: |ask, arguments| Box::pin(answer::<T>(ask, arguments)),
    }
}

/// The row of a tool in a smaller toolset: with a shorter description, and without rarely needed arguments.
pub const fn in_short(
    tool: ToolEntry,
    doc: &'static str,
    unlisted: &'static [&'static str],
) -> ToolEntry {
    ToolEntry { doc, unlisted, ..tool }
}

fn check<T: Tool>(ask: &Ask<'_>, given: &JsonObject) -> ToolResult<()> {
    T::check(arguments::read(T::NAME, T::EXAMPLE, given.clone())?)?;
    match given.get("pane").and_then(whole) {
        Some(pane) if ask.is_missing(pane) => Err(ask.speaker.message(&Error::NoSession(pane))),
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

/// A tool that another protocol defines. Its replies and errors are JSON inside a text, in that protocol's form. The
/// tool parses its arguments itself, because the protocol also defines the errors for invalid arguments.
pub trait PlainTool: 'static {
    /// The tool's name.
    const NAME: &'static str;
    /// The tool's title for users.
    const TITLE: &'static str;
    /// The tool's description for the model.
    const DOC: &'static str;
    /// The tool's possible effects.
    const HINTS: Hints;
    /// The fields of the replies and errors that contain a program's output.
    const UNTRUSTED: &'static [&'static str] = &[];
    /// The type that describes the arguments.
    type Arguments: JsonSchema + 'static;

    /// Checks the arguments before the user is asked to approve the call.
    ///
    /// # Errors
    /// The arguments are invalid. The error has the form that the protocol defines.
    fn check(_ask: &Ask<'_>, _given: &JsonObject) -> Result<(), Value> {
        Ok(())
    }

    /// Executes a call.
    fn call<'a>(
        ask: &'a Ask<'a>,
        given: JsonObject,
    ) -> impl Future<Output = Result<Value, Value>> + Send + 'a;
}

/// The row of a tool that another protocol defines.
pub const fn plain<T: PlainTool>() -> ToolEntry {
    ToolEntry {
        name: T::NAME,
        title: T::TITLE,
        doc: T::DOC,
        hints: T::HINTS,
        example: "",
        arguments: schema::of_arguments::<T::Arguments>,
        listed: || (schema::of_arguments::<T::Arguments>(), None),
        unlisted: &[],
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

/// Wraps a reply or an error as JSON inside a text.
fn plainly<T: PlainTool>(came: Result<Value, Value>) -> CallToolResult {
    let text = |value: &Value| vec![ContentBlock::text(value.to_string())];
    let (mut result, said) = match came {
        Ok(reply) => (CallToolResult::success(text(&reply)), reply),
        Err(error) => (CallToolResult::error(text(&error)), error),
    };
    result.meta = marked(&said, T::UNTRUSTED);
    result
}

/// Lists the fields of a reply that contain a program's output, for the result's `_meta`.
fn marked(reply: &Value, untrusted: &[&str]) -> Option<MetaObject> {
    let fields: Vec<&str> = untrusted.iter().copied().filter(|field| has(reply, field)).collect();
    (!fields.is_empty()).then(|| untrusted_fields(&fields))
}

/// Whether a reply has a field with this name, at any depth.
fn has(reply: &Value, field: &str) -> bool {
    match reply {
        Value::Object(fields) => {
            fields.contains_key(field) || fields.values().any(|value| has(value, field))
        }
        Value::Array(parts) => parts.iter().any(|part| has(part, field)),
        _ => false,
    }
}

/// A result's `_meta` that lists the fields that contain a program's output.
pub fn untrusted_fields(fields: &[&str]) -> MetaObject {
    MetaObject(JsonObject::from_iter([(UNTRUSTED.to_owned(), json!(fields))]))
}

/// Creates an error for the model.
pub fn failed(why: &str) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(why)])
}

/// The context of a tool call: its caller, and everything that the tool needs.
pub struct Ask<'a> {
    /// The instance.
    pub server: &'a Arc<Server>,
    /// The caller.
    pub caller: &'a Caller,
    /// The toolset's name.
    pub toolset: &'static str,
    /// The words for the tool and for a pane in errors.
    pub speaker: Speaker,
    /// The client's working directory, if the client sent it.
    pub folder: Option<&'a str>,
    /// Whether several clients may count as this caller, because their requests do not distinguish them.
    pub is_shared: bool,
    /// Whether the client has disconnected or ended its session. `None` if the client has neither a connection nor a
    /// session.
    pub gone: Option<&'a watch::Receiver<bool>>,
    /// The time that the client has already waited for the user's approval.
    pub held: Duration,
    /// Sends progress notifications, if the client requested them.
    pub progress: Option<Progress<'a>>,
}

/// Notifies a client of the progress of its request.
pub struct Progress<'a> {
    /// The context of the request.
    pub context: &'a RequestContext<RoleServer>,
    /// The progress token of the request.
    pub token: ProgressToken,
}

impl Progress<'_> {
    /// Notifies the client of the time that its request has taken so far.
    async fn report(&self, passed: Duration, job: &Job) {
        let passed = passed.as_secs();
        let place = match job.others {
            0 => format!("pane {}", job.pane),
            others => format!("{} panes", others + 1),
        };
        let note = ProgressNotificationParam::new(self.token.clone(), passed as f64)
            .with_message(format!("{passed} s in {place}"));
        // If the client has disconnected, this fails. The call then ends with its session.
        let _ = self.context.peer.notify_progress(note).await;
    }

    /// Notifies the client when a job ends after its request. `start`: when the request began.
    fn report_end_of(&self, job: &Job, start: Instant) {
        // A client that canceled its request wants no notification about it.
        if self.context.ct.is_cancelled() {
            return;
        }
        let (peer, token) = (self.context.peer.clone(), self.token.clone());
        job.when_over(move |state| async move {
            let JobState { handle, pane, outcome, result_by, .. } = state;
            let outcome = outcome.unwrap_or_default();
            // Progress must increase. The earlier notifications contained whole seconds, so a fraction is larger.
            let note = ProgressNotificationParam::new(token, start.elapsed().as_secs_f64())
                .with_message(format!(
                    "{handle} is over in pane {pane}: {outcome}. {result_by} gives its result"
                ));
            let _ = peer.notify_progress(note).await;
        });
    }
}

/// Notifies a client of a job's end, unless the request itself returns the outcome. The notification is enabled when
/// the request stops waiting.
struct Notice<'a> {
    progress: &'a Progress<'a>,
    job: &'a Job,
    start: Instant,
    has_outcome: bool,
}

impl Drop for Notice<'_> {
    fn drop(&mut self) {
        if !self.has_outcome {
            self.progress.report_end_of(self.job, self.start);
        }
    }
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
        backend.call::<M>(self.caller, params).await.map_err(|error| self.speaker.message(&error))
    }

    /// Whether no pane has this number. False if the caller's token does not reach the pane, so that the token's owner
    /// can't find out whether the pane exists.
    fn is_missing(&self, pane: u64) -> bool {
        let is_reached = self.caller.panes.as_ref().is_none_or(|panes| panes.contains(&pane));
        is_reached && self.server.dispatcher.context().mux.pane(PaneId(pane)).is_none()
    }

    /// The given session. If none is given, the only live session.
    pub async fn pane(&self, named: Option<u64>) -> ToolResult<u64> {
        if let Some(id) = named {
            let is_hidden = is_hidden(self.server, id);
            return if is_hidden {
                Err(self.speaker.message(&Error::NoSession(id)))
            } else {
                Ok(id)
            };
        }
        let sessions = self.call::<session::List>(NoParams {}).await?.sessions;
        let live = sessions.iter().filter(|session| !session.is_dead);
        let live: Vec<u64> = live.map(|session| session.id).collect();
        match live.as_slice() {
            [only] => Ok(*only),
            [] => Err(self.speaker.advised("There is no pane", "open one with pane_open")),
            several => {
                let which = format!("Say which `pane`: there are {several:?}");
                Err(self.speaker.advised(&which, "pane_list describes each"))
            }
        }
    }

    /// Begins a method call that may take long. [`Ask::finish`] waits for its end.
    pub fn begin<M: Method>(
        &self,
        kind: fn(Pending<M::Reply>) -> JobKind,
        pane: u64,
        params: M::Params<'static>,
    ) -> ToolResult<(Job, Pending<M::Reply>)>
    where
        for<'p> M::Params<'p>: Serialize,
        M::Reply: DeserializeOwned + Clone + Sync,
    {
        let (server, speaker) = (self.server.clone(), self.speaker);
        let signals = Signals::of_job();
        let caller = Caller { signals: signals.clone(), ..self.caller.clone() };
        let call = async move {
            let called = server.dispatcher.call::<M>(&caller, params).await;
            called.map_err(|error| speaker.message(&error))
        };
        let of = (self.caller.connection, self.caller.token);
        self.server.jobs.begin(of, kind, (pane, 0), signals, call)
    }

    /// The time that a request with this timeout may take. Clients that receive progress notifications can wait longer
    /// than others.
    pub fn slice(&self, timeout_ms: Option<u64>) -> Duration {
        slice_within(timeout_ms, if self.progress.is_some() { LONGEST } else { SLICE })
    }

    /// The outcome of a call, if the call ends within this time. Sends progress notifications meanwhile. If the call
    /// ends later, the client is notified then.
    pub async fn finish<T: Clone>(
        &self,
        job: &Job,
        pending: &Pending<T>,
        within: Duration,
    ) -> Option<ToolResult<T>> {
        let start = Instant::now();
        job.is_asked_for();
        let outcome = pending.outcome(within.saturating_sub(self.held));
        let Some(progress) = &self.progress else { return outcome.await };
        let begun = start.checked_sub(self.held).unwrap_or(start);
        let mut notice = Notice { progress, job, start: begun, has_outcome: false };
        let mut outcome = std::pin::pin!(outcome);
        let mut ticks = interval_at(start + FIRST_PROGRESS, PROGRESS);
        loop {
            tokio::select! {
                biased;
                outcome = &mut outcome => {
                    notice.has_outcome = outcome.is_some();
                    return outcome;
                }
                // The client was already notified of the time before `begun`.
                _ = ticks.tick() => progress.report(begun.elapsed(), job).await,
            }
        }
    }
}

/// Whether a pane is in no tab. The panes of the toolset `tester` are in no tab. Only the owner of such a pane can
/// reach it.
pub fn is_hidden(server: &Server, pane: u64) -> bool {
    let (mux, pane) = (&server.dispatcher.context().mux, PaneId(pane));
    mux.pane(pane).is_some() && mux.layout().tab_of(pane).is_none()
}

/// The words that refusals use for reading a resource.
pub const RESOURCES: Speaker =
    Speaker { tool: "reading a resource", noun: PANE, advises: Advises::All };

/// Calls a method on behalf of the reader of a resource.
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
    called.map_err(|error| RESOURCES.message(&error))
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

/// Declares a tool that another protocol defines.
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
