//! `instance.*`: the Unterm processes of this user.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use super::{
    Caller, Context, Group, Method, Result, Subjects, Word,
    params::{Arg, NoParams},
    session::blocking,
};
use crate::{
    error::Error,
    host::{DetachedProgram, HostRequest},
    registry::{self, Record},
};

/// An instance without its token.
#[derive(Deserialize, Serialize, JsonSchema)]
pub struct Instance {
    /// A NATO name, such as `alpha`.
    pub id: String,
    pub pid: u32,
    /// RFC 3339, UTC.
    pub started_at: String,
    pub mcp_port: u16,
    /// The port of the settings page. 0: there is none.
    pub http_port: u16,
    pub title: String,
    pub cwd: String,
    pub version: String,
    pub platform: String,
}

impl From<&Record> for Instance {
    fn from(record: &Record) -> Self {
        let Record {
            id, mcp_port, http_port, pid, started_at, title, cwd, version, platform, ..
        } = record.clone();
        Self { id, pid, started_at, mcp_port, http_port, title, cwd, version, platform }
    }
}

/// `instance.list`.
pub struct List;

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct ListReply {
    pub instances: Vec<Instance>,
    /// The programs that continue without an instance, oldest first. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub detached: Vec<DetachedProgram>,
}

impl Method for List {
    const NAME: &'static str = "instance.list";
    const GROUP: Group = Group::Instance;
    const REVEALS: Subjects = Subjects::MACHINE;
    const DOC: &'static str = "Lists the live instances of this user, oldest first, without tokens, and the programs that continue without one.";
    type Params<'a> = NoParams;
    type Reply = ListReply;

    async fn call<'a>(context: &'a Context, _: &'a Caller, _: NoParams) -> Result<ListReply> {
        let home = context.registration.home().to_owned();
        let records = blocking(move || registry::live(&home)).await?.map_err(Error::Registry)?;
        let host = context.host.clone();
        let detached = blocking(move || host.detached_programs()).await?;
        Ok(ListReply { instances: records.iter().map(Instance::from).collect(), detached })
    }
}

/// `instance.info`.
pub struct Info;

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct InfoReply {
    #[serde(flatten)]
    pub instance: Instance,
    pub auth_token: String,
}

impl Method for Info {
    const NAME: &'static str = "instance.info";
    const GROUP: Group = Group::Instance;
    const REVEALS: Subjects = Subjects::INSTANCE.union(Subjects::KEYS);
    const DOC: &'static str = "Returns this instance, with its token.";
    type Params<'a> = NoParams;
    type Reply = InfoReply;

    async fn call<'a>(context: &'a Context, _: &'a Caller, _: NoParams) -> Result<InfoReply> {
        let record = context.registration.record();
        let auth_token = record.auth_token.clone();
        Ok(InfoReply { instance: Instance::from(&*record), auth_token })
    }
}

/// `instance.set_title`.
pub struct SetTitle;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct SetTitleParams<'a> {
    /// The title. Absent or empty: the default title.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub title: Arg<'a, String>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct SetTitleReply {
    pub ok: bool,
    pub title: Option<String>,
}

impl Method for SetTitle {
    const NAME: &'static str = "instance.set_title";
    const GROUP: Group = Group::Instance;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::INSTANCE;
    const DOC: &'static str = "Sets this instance's title, in its window and in instance.list.";
    const DESCRIBED_BY: &'static [&'static str] = &["title"];
    type Params<'a> = SetTitleParams<'a>;
    type Reply = SetTitleReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: SetTitleParams<'a>,
    ) -> Result<SetTitleReply> {
        let title = params.title.text("title")?.map(|title| super::titles::title(&title));
        let title = title.map(|title| title.trim().to_owned()).filter(|title| !title.is_empty());
        let (registration, new) = (context.registration.clone(), title.clone());
        blocking(move || registration.set_title(new.as_deref())).await?.map_err(Error::Registry)?;
        context.host.instance_title_changed(title.as_deref());
        Ok(SetTitleReply { ok: true, title })
    }
}

/// `instance.focus`.
pub struct Focus;

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct FocusReply {
    pub ok: bool,
    /// What happened.
    pub note: Word,
}

/// Raises the window. Returns false if there is none.
pub(super) async fn raise(context: &Context) -> bool {
    if !context.host.has_window() {
        return false;
    }
    let (answer, answered) = oneshot::channel();
    context.host.ask(HostRequest::Raise(answer));
    answered.await.is_ok()
}

impl Method for Focus {
    const NAME: &'static str = "instance.focus";
    const GROUP: Group = Group::Instance;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::INSTANCE;
    const DOC: &'static str = "Brings this instance's window to the front.";
    type Params<'a> = NoParams;
    type Reply = FocusReply;

    async fn call<'a>(context: &'a Context, _: &'a Caller, _: NoParams) -> Result<FocusReply> {
        let note = match raise(context).await {
            true => "the window was asked to come to the front",
            false => "this instance runs without a window; there is nothing to raise",
        };
        Ok(FocusReply { ok: true, note: note.into() })
    }
}
