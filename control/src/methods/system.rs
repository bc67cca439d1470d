//! `system.*`: the process and the machine it runs on.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Access, Caller, Context, Group, Method, Result, params::NoParams};
use crate::{ENGINE, VERSION};

/// `system.info`.
pub struct Info;

#[derive(Serialize, JsonSchema)]
pub struct InfoReply {
    name: &'static str,
    version: &'static str,
    engine: &'static str,
    /// `linux`, `macos`, `windows`.
    platform: &'static str,
    /// `x86_64`, `aarch64`.
    arch: &'static str,
    active_sessions: usize,
    hostname: String,
}

impl Method for Info {
    const NAME: &'static str = "system.info";
    const GROUP: Group = Group::System;
    const ACCESS: Access = Access::Read;
    const DOC: &'static str = "Version, platform, architecture, host name and count of sessions.";
    type Params<'a> = NoParams;
    type Reply = InfoReply;

    async fn call<'a>(context: &'a Context, _: &'a Caller, _: NoParams) -> Result<InfoReply> {
        Ok(InfoReply {
            name: "Unterm",
            version: VERSION,
            engine: ENGINE,
            platform: std::env::consts::OS,
            arch: std::env::consts::ARCH,
            active_sessions: context.mux.panes().len(),
            hostname: rustix::system::uname().nodename().to_string_lossy().into_owned(),
        })
    }
}
