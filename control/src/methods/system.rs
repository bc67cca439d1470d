//! `system.*`: the process, and the machine that it runs on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Caller, Context, Group, Method, Result, Subjects, Word,
    params::{Arg, NoParams},
};
use crate::{ENGINE, VERSION, error::Error};

/// `system.info`.
pub struct Info;

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct InfoReply {
    pub name: Word,
    pub version: Word,
    pub engine: Word,
    /// `linux`, `macos`, `windows`.
    pub platform: Word,
    /// `x86_64`, `aarch64`.
    pub arch: Word,
    pub active_sessions: usize,
    pub hostname: String,
}

impl Method for Info {
    const NAME: &'static str = "system.info";
    const GROUP: Group = Group::System;
    const REVEALS: Subjects = Subjects::MACHINE;
    const DOC: &'static str =
        "Returns version, platform, architecture, host name and the number of sessions.";
    type Params<'a> = NoParams;
    type Reply = InfoReply;

    async fn call<'a>(context: &'a Context, _: &'a Caller, _: NoParams) -> Result<InfoReply> {
        Ok(InfoReply {
            name: "Unterm".into(),
            version: VERSION.into(),
            engine: ENGINE.into(),
            platform: std::env::consts::OS.into(),
            arch: std::env::consts::ARCH.into(),
            active_sessions: context.mux.panes().len(),
            hostname: rustix::system::uname().nodename().to_string_lossy().into_owned(),
        })
    }
}

/// `system.launch_admin`.
pub struct LaunchAdmin;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct LaunchAdminParams<'a> {
    /// Only return what would be run.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    #[allow(dead_code, reason = "only Windows has it")]
    pub dry_run: Arg<'a, bool>,
    /// The shell to run: `powershell`, `pwsh` and so on.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    #[allow(dead_code, reason = "only Windows has it")]
    pub shell: Arg<'a, String>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct LaunchAdminReply {
    /// `launched` or `dry_run`.
    pub status: Word,
    pub requires_uac: bool,
    pub command: Vec<String>,
}

impl Method for LaunchAdmin {
    const NAME: &'static str = "system.launch_admin";
    const GROUP: Group = Group::System;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::RIGHTS;
    const DOC: &'static str = "Opens a window with administrator rights. Windows only.";
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
