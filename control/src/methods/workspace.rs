//! `workspace.*`: layouts saved under names.

use std::{io, path::Path, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Caller, Context, Group, Method, Result, Subjects,
    params::{Arg, NoParams},
    session::blocking,
};
use crate::{
    error::Error,
    host::Host,
    services::records::workspace::{Workspace, WorkspaceError},
    suggestion::did_you_mean,
};

fn failed(error: WorkspaceError) -> Error {
    Error::Failed(error.to_string())
}

/// The names of workspaces and layout files, sorted.
fn names(host: &dyn Host, home: &Path) -> io::Result<Vec<String>> {
    let mut names = Workspace::names(home)?;
    names.extend(host.layouts().map(|layouts| layouts.names()).unwrap_or_default());
    names.sort_unstable();
    names.dedup();
    Ok(names)
}

/// Reads a workspace, or a layout file with this name.
fn read(host: &dyn Host, home: &Path, name: &str) -> Result<Workspace> {
    if let Some(layout) = host.layouts().and_then(|layouts| layouts.read(name)) {
        return layout.map_err(Error::Failed);
    }
    Workspace::read(home, name).map_err(|error| {
        let names = match &error {
            WorkspaceError::Missing(_) => names(host, home).unwrap_or_default(),
            _ => Vec::new(),
        };
        let near = did_you_mean(name, names.iter().map(String::as_str));
        Error::Failed(format!("{error}{near}"))
    })
}

/// The end of a message, which names the programs that a restored layout does not start. Empty if there are none.
pub fn programs_left_out(workspace: &Workspace) -> String {
    let programs = workspace.sessions.iter().filter_map(|session| session.program.as_deref());
    match programs.collect::<Vec<_>>().as_slice() {
        [] => String::new(),
        programs => format!(
            " Shells took the place of its programs ({}); `unterm --layout` starts them.",
            programs.join(", ")
        ),
    }
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
    const DESCRIBED_BY: &'static [&'static str] = &["name"];
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
    /// A message for each saved directory that no longer exists, if `recreate` was set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

impl Method for Restore {
    const NAME: &'static str = "workspace.restore";
    const GROUP: Group = Group::Workspace;
    const REVEALS: Subjects = Subjects::FILES;
    const CHANGES: Subjects = Subjects::SESSIONS;
    const DOC: &'static str =
        "Reads a saved layout or a layout file, and opens it again if `recreate` is set.";
    const DESCRIBED_BY: &'static [&'static str] = &["name"];
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
        let host = Arc::clone(&context.host);
        let restore = move || {
            let workspace = read(&*host, &home, &name)?;
            let opened = recreate.then(|| workspace.open(&mux));
            let message = match &opened {
                Some(opened) => format!(
                    "Opened {} sessions again.{}",
                    opened.sessions.len(),
                    programs_left_out(&workspace)
                ),
                None => "Workspace data loaded. Use session.create with cwd to recreate sessions."
                    .to_owned(),
            };
            let (created, missing) = match opened {
                Some(opened) => (Some(opened.sessions), opened.missing),
                None => (None, Vec::new()),
            };
            let missing = missing.iter().map(ToString::to_string).collect();
            Ok(RestoreReply { restored: true, name, workspace, message, created, missing })
        };
        blocking(restore).await?
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
    const DOC: &'static str = "Lists the names of saved layouts and layout files.";
    type Params<'a> = NoParams;
    type Reply = ListReply;

    async fn call<'a>(context: &'a Context, _: &'a Caller, _: NoParams) -> Result<ListReply> {
        let (host, home) = (Arc::clone(&context.host), context.registration.home().to_owned());
        let names = blocking(move || names(&*host, &home)).await?;
        let names = names.map_err(|error| failed(error.into()))?;
        Ok(ListReply { workspaces: names.into_iter().map(|name| Named { name }).collect() })
    }
}
