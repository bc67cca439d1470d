//! `server.*`: what a client asks first.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Serialize, Serializer, ser::SerializeMap};

use super::{Caller, Context, Group, METHODS, Method, Result, Subjects, params::NoParams};
use crate::{
    ENGINE, VERSION,
    transport::tcp::{HOST, PREFERRED_PORT},
};

/// `server.info`.
pub struct Info;

#[derive(Serialize, JsonSchema)]
pub struct InfoReply {
    name: &'static str,
    version: &'static str,
    engine: &'static str,
    protocol: &'static str,
}

impl Method for Info {
    const NAME: &'static str = "server.info";
    const GROUP: Group = Group::Governance;
    const REVEALS: Subjects = Subjects::INSTANCE;
    const DOC: &'static str = "Name, version, engine and protocol of the server.";
    const NAMED: &'static [&'static str] = &[];
    type Params<'a> = NoParams;
    type Reply = InfoReply;

    async fn call<'a>(_: &'a Context, _: &'a Caller, _: NoParams) -> Result<InfoReply> {
        Ok(InfoReply {
            name: "Unterm MCP Server",
            version: VERSION,
            engine: ENGINE,
            protocol: "json-rpc-2.0",
        })
    }
}

/// `server.health`.
pub struct Health;

#[derive(Serialize, JsonSchema)]
pub struct HealthReply {
    /// `ok`, or `degraded` before the mux is up (never here: the server starts on a mux).
    status: &'static str,
    engine: &'static str,
    mcp: McpHealth,
    mux: MuxHealth,
    terminal: TerminalHealth,
}

#[derive(Serialize, JsonSchema)]
struct McpHealth {
    bind: &'static str,
    /// The preferred port, as documented.
    port: u16,
    /// The port in use.
    bound_port: u16,
    auth: &'static str,
}

#[derive(Serialize, JsonSchema)]
struct MuxHealth {
    available: bool,
    pane_count: usize,
}

#[derive(Serialize, JsonSchema)]
struct TerminalHealth {
    initial_cols: u16,
    initial_rows: u16,
    color_scheme: &'static str,
    term: String,
    /// Whether a window shows it.
    window: bool,
}

impl Method for Health {
    const NAME: &'static str = "server.health";
    const GROUP: Group = Group::Governance;
    const REVEALS: Subjects = Subjects::INSTANCE;
    const DOC: &'static str =
        "Whether the server and its terminal work, with ports, panes and sizes.";
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
        Ok(HealthReply {
            status: "ok",
            engine: ENGINE,
            mcp: McpHealth {
                bind: HOST,
                port: PREFERRED_PORT,
                bound_port: context.registration.record().mcp_port,
                auth: "token",
            },
            mux: MuxHealth { available: true, pane_count },
            terminal: TerminalHealth {
                initial_cols: options.default_size.cols,
                initial_rows: options.default_size.rows,
                color_scheme: "standard",
                term: term.map_or("xterm-256color", |(_, value)| value).to_owned(),
                window: context.host.has_window(),
            },
        })
    }
}

/// `server.capabilities`.
pub struct Capabilities;

/// Groups in their order, each with the names of its methods.
#[derive(JsonSchema)]
#[schemars(with = "BTreeMap<String, Vec<String>>")]
pub struct CapabilitiesReply;

impl Serialize for CapabilitiesReply {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(Group::ALL.len()))?;
        for group in Group::ALL {
            let methods = METHODS.iter().filter(|entry| entry.group == group);
            map.serialize_entry(
                group.name(),
                &methods.map(|entry| entry.name).collect::<Vec<_>>(),
            )?;
        }
        map.end()
    }
}

impl Method for Capabilities {
    const NAME: &'static str = "server.capabilities";
    const GROUP: Group = Group::Governance;
    const REVEALS: Subjects = Subjects::INSTANCE;
    const DOC: &'static str = "Every method there is, by group; a group without methods is empty.";
    const NAMED: &'static [&'static str] = &[];
    type Params<'a> = NoParams;
    type Reply = CapabilitiesReply;

    async fn call<'a>(_: &'a Context, _: &'a Caller, _: NoParams) -> Result<CapabilitiesReply> {
        Ok(CapabilitiesReply)
    }
}
