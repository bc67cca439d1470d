//! `system.*`: the process and the machine it runs on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Caller, Context, Group, Method, Result, Subjects,
    params::{Arg, NoParams},
};
use crate::{ENGINE, VERSION, error::Error};

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
    const REVEALS: Subjects = Subjects::MACHINE;
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

/// `system.launch_admin`.
pub struct LaunchAdmin;

#[derive(Deserialize, JsonSchema)]
pub struct LaunchAdminParams<'a> {
    /// Only say what would be run.
    #[serde(borrow, default)]
    #[allow(dead_code, reason = "only Windows has it")]
    dry_run: Arg<'a, bool>,
    /// The shell to run: `powershell`, `pwsh` and so on.
    #[serde(borrow, default)]
    #[allow(dead_code, reason = "only Windows has it")]
    shell: Arg<'a, String>,
}

#[derive(Serialize, JsonSchema)]
pub struct LaunchAdminReply {
    /// `launched` or `dry_run`.
    status: &'static str,
    requires_uac: bool,
    command: Vec<String>,
}

impl Method for LaunchAdmin {
    const NAME: &'static str = "system.launch_admin";
    const GROUP: Group = Group::System;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::RIGHTS;
    const DOC: &'static str = "Opens a window with an administrator's rights; on Windows only.";
    type Params<'a> = LaunchAdminParams<'a>;
    type Reply = LaunchAdminReply;

    async fn call<'a>(
        _: &'a Context,
        _: &'a Caller,
        _: LaunchAdminParams<'a>,
    ) -> Result<LaunchAdminReply> {
        Err(Error::Failed("Administrator launch is only supported on Windows".to_owned()))
    }
}
