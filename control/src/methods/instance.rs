//! `instance.*`: the Unterm processes of this user.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Access, Caller, Context, Group, Method, Result, params::NoParams};
use crate::{
    error::Error,
    registry::{self, Record},
};

/// An instance without its token.
#[derive(Serialize, JsonSchema)]
pub struct Instance {
    /// A NATO name, such as `alpha`.
    id: String,
    pid: u32,
    /// RFC 3339, UTC.
    started_at: String,
    mcp_port: u16,
    /// 0: it serves no settings page.
    http_port: u16,
    title: String,
    cwd: String,
    version: String,
    platform: String,
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

#[derive(Serialize, JsonSchema)]
pub struct ListReply {
    instances: Vec<Instance>,
}

impl Method for List {
    const NAME: &'static str = "instance.list";
    const GROUP: Group = Group::Instance;
    const ACCESS: Access = Access::Read;
    const DOC: &'static str = "Every live instance of this user, oldest first, without tokens.";
    type Params<'a> = NoParams;
    type Reply = ListReply;

    async fn call<'a>(context: &'a Context, _: &'a Caller, _: NoParams) -> Result<ListReply> {
        let home = context.registration.home().to_owned();
        let records = tokio::task::spawn_blocking(move || registry::live(&home))
            .await
            .map_err(|error| Error::Panicked(error.to_string()))?
            .map_err(Error::Registry)?;
        Ok(ListReply { instances: records.iter().map(Instance::from).collect() })
    }
}

/// `instance.info`.
pub struct Info;

#[derive(Serialize, JsonSchema)]
pub struct InfoReply {
    #[serde(flatten)]
    instance: Instance,
    auth_token: String,
}

impl Method for Info {
    const NAME: &'static str = "instance.info";
    const GROUP: Group = Group::Instance;
    // The reply holds the token.
    const ACCESS: Access = Access::Admin;
    const DOC: &'static str = "This instance, with its token.";
    type Params<'a> = NoParams;
    type Reply = InfoReply;

    async fn call<'a>(context: &'a Context, _: &'a Caller, _: NoParams) -> Result<InfoReply> {
        let record = context.registration.record();
        Ok(InfoReply { instance: Instance::from(record), auth_token: record.auth_token.clone() })
    }
}
