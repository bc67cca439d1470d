//! `workspace.*`: layouts saved under names.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Caller, Context, Group, Method, Result, Subjects,
    params::{Arg, NoParams},
    session::blocking,
};
use crate::{
    error::Error,
    services::workspace::{Workspace, WorkspaceError},
};

fn failed(error: WorkspaceError) -> Error {
    Error::Failed(error.to_string())
}

/// `workspace.save`.
pub struct Save;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
#[serde(bound(deserialize = "'de: 'a"))]
pub struct SaveParams<'a> {
    /// The name: a file name without folders.
    #[serde(borrow)]
    pub name: Arg<'a, String>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct SaveReply {
    pub saved: bool,
    pub name: String,
    /// How many sessions were saved.
    pub sessions: usize,
}

impl Method for Save {
    const NAME: &'static str = "workspace.save";
    const GROUP: Group = Group::Workspace;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::FILES;
    const DOC: &'static str = "Saves tabs, splits, titles and directories under a name.";
    const TELLING: &'static [&'static str] = &["name"];
    type Params<'a> = SaveParams<'a>;
    type Reply = SaveReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: SaveParams<'a>,
    ) -> Result<SaveReply> {
        let name = params.name.required("name")?.into_owned();
        let (mux, home) = (context.mux.clone(), context.registration.home().to_owned());
        let save = move || {
            let workspace = Workspace::of(&mux, &name);
            workspace.write(&home).map(|()| SaveReply {
                saved: true,
                name,
                sessions: workspace.sessions.len(),
            })
        };
        blocking(save).await?.map_err(failed)
    }
}

/// `workspace.restore`.
pub struct Restore;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct RestoreParams<'a> {
    /// The name.
    #[serde(borrow)]
    pub name: Arg<'a, String>,
    /// Open the saved tabs again, with a shell in the saved directory of each session.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub recreate: Arg<'a, bool>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct RestoreReply {
    pub restored: bool,
    pub name: String,
    pub workspace: Workspace,
    pub message: String,
    /// The numbers of the sessions that were opened, if `recreate` was set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<Vec<u64>>,
}

impl Method for Restore {
    const NAME: &'static str = "workspace.restore";
    const GROUP: Group = Group::Workspace;
    const REVEALS: Subjects = Subjects::FILES;
    const CHANGES: Subjects = Subjects::SESSIONS;
    const DOC: &'static str = "Reads a saved layout, and opens it again if `recreate` is set.";
    const TELLING: &'static [&'static str] = &["name"];
    type Params<'a> = RestoreParams<'a>;
    type Reply = RestoreReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: RestoreParams<'a>,
    ) -> Result<RestoreReply> {
        let name = params.name.required("name")?.into_owned();
        let recreate = params.recreate.is_set("recreate")?;
        let (mux, home) = (context.mux.clone(), context.registration.home().to_owned());
        let restore = move || {
            let workspace = Workspace::read(&home, &name)?;
            let created = recreate.then(|| workspace.open(&mux));
            let message = match &created {
                Some(created) => format!("Opened {} sessions again.", created.len()),
                None => "Workspace data loaded. Use session.create with cwd to recreate sessions."
                    .to_owned(),
            };
            Ok(RestoreReply { restored: true, name, workspace, message, created })
        };
        blocking(restore).await?.map_err(failed)
    }
}

/// `workspace.list`.
pub struct List;

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct ListReply {
    pub workspaces: Vec<Named>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct Named {
    pub name: String,
}

impl Method for List {
    const NAME: &'static str = "workspace.list";
    const GROUP: Group = Group::Workspace;
    const REVEALS: Subjects = Subjects::FILES;
    const DOC: &'static str = "Lists the names of saved layouts.";
    type Params<'a> = NoParams;
    type Reply = ListReply;

    async fn call<'a>(context: &'a Context, _: &'a Caller, _: NoParams) -> Result<ListReply> {
        let home = context.registration.home().to_owned();
        let names = blocking(move || Workspace::names(&home)).await?;
        let names = names.map_err(|error| failed(error.into()))?;
        Ok(ListReply { workspaces: names.into_iter().map(|name| Named { name }).collect() })
    }
}
