//! `server.*`: information about the server, which clients usually request first.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap};

use super::{Caller, Context, Group, Method, Result, Subjects, Word, params::NoParams};
use crate::{
    ENGINE, VERSION,
    transport::tcp::{HOST, PREFERRED_PORT},
};

/// `server.info`.
pub struct Info;

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct InfoReply {
    pub name: Word,
    pub version: Word,
    pub engine: Word,
    pub protocol: Word,
}

impl Method for Info {
    const NAME: &'static str = "server.info";
    const GROUP: Group = Group::Governance;
    const REVEALS: Subjects = Subjects::INSTANCE;
    const DOC: &'static str = "Returns name, version, engine and protocol of the server.";
    const NAMED: &'static [&'static str] = &[];
    type Params<'a> = NoParams;
    type Reply = InfoReply;

    async fn call<'a>(_: &'a Context, _: &'a Caller, _: NoParams) -> Result<InfoReply> {
        Ok(InfoReply {
            name: "Unterm MCP Server".into(),
            version: VERSION.into(),
            engine: ENGINE.into(),
            protocol: "json-rpc-2.0".into(),
        })
    }
}

/// `server.health`.
pub struct Health;

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct HealthReply {
    /// `ok`, or `degraded` before the mux is up (never here: the server starts on a mux).
    pub status: Word,
    pub engine: Word,
    pub mcp: McpHealth,
    pub mux: MuxHealth,
    pub terminal: TerminalHealth,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct McpHealth {
    pub bind: Word,
    /// The preferred port, as documented.
    pub port: u16,
    /// The port in use.
    pub bound_port: u16,
    pub auth: Word,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct MuxHealth {
    pub available: bool,
    pub pane_count: usize,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct TerminalHealth {
    /// The configured width of a new window, in columns. Without a window, the width of a new pane.
    pub initial_cols: u16,
    /// The configured height of a new window, in rows. Without a window, the height of a new pane.
    pub initial_rows: u16,
    /// The name of the theme that panes show.
    pub color_scheme: Word,
    pub term: String,
    /// Whether a window shows the session.
    pub window: bool,
}

impl Method for Health {
    const NAME: &'static str = "server.health";
    const GROUP: Group = Group::Governance;
    const REVEALS: Subjects = Subjects::INSTANCE;
    const DOC: &'static str =
        "Reports whether the server and its terminal work, with ports, panes and sizes.";
    const NAMED: &'static [&'static str] = &[];
    type Params<'a> = NoParams;
    type Reply = HealthReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        _: NoParams,
    ) -> Result<HealthReply> {
        let panes = context.mux.panes();
        let pane_count = panes.iter().filter(|pane| caller.reaches(pane.id().0)).count();
        let options = context.mux.options();
        let term = options.env.iter().find(|(name, _)| name == "TERM");
        let default = (options.default_size.cols, options.default_size.rows);
        let (initial_cols, initial_rows) = context.host.window_size().unwrap_or(default);
        Ok(HealthReply {
            status: "ok".into(),
            engine: ENGINE.into(),
            mcp: McpHealth {
                bind: HOST.into(),
                port: PREFERRED_PORT,
                bound_port: context.registration.record().mcp_port,
                auth: "token".into(),
            },
            mux: MuxHealth { available: true, pane_count },
            terminal: TerminalHealth {
                initial_cols,
                initial_rows,
                color_scheme: context.host.theme().map_or("standard".into(), Word::from),
                term: term.map_or("xterm-256color", |(_, value)| value).to_owned(),
                window: context.host.has_window(),
            },
        })
    }
}

/// `server.capabilities`.
pub struct Capabilities;

/// The groups in order, each with the names of its methods.
#[derive(JsonSchema)]
#[schemars(with = "BTreeMap<String, Vec<String>>")]
pub struct CapabilitiesReply(pub Vec<(Group, Vec<&'static str>)>);

impl Serialize for CapabilitiesReply {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (group, names) in &self.0 {
            map.serialize_entry(group.name(), names)?;
        }
        map.end()
    }
}

impl Method for Capabilities {
    const NAME: &'static str = "server.capabilities";
    const GROUP: Group = Group::Governance;
    const REVEALS: Subjects = Subjects::INSTANCE;
    const DOC: &'static str = "Lists all methods, by group. A group without methods is empty.";
    const NAMED: &'static [&'static str] = &[];
    type Params<'a> = NoParams;
    type Reply = CapabilitiesReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        _: NoParams,
    ) -> Result<CapabilitiesReply> {
        Ok(CapabilitiesReply((context.names_by_group)()))
    }
}
