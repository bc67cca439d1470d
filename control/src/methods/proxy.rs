//! `proxy.*`: the proxy in the environment of programs in panes.

use std::{io, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, value::RawValue};

use super::{
    Caller, Context, Group, Method, Result, Subjects,
    params::{Arg, NoParams},
    session::blocking,
};
use crate::{
    authority::{audit::Detail, parameters::summary},
    caller::Access,
    error::Error,
    services::pane::proxy::{self, FoundProxy, NO_PROXY, Node, Proxy},
};

/// The maximum time to wait for a connection to the proxy in use.
const SOON: Duration = Duration::from_secs(2);

fn failed(error: io::Error) -> Error {
    Error::Failed(error.to_string())
}

fn no_node(name: &str) -> Error {
    Error::Failed(format!("Proxy node '{name}' not found"))
}

/// Whether a caller may read the user names and passwords of proxies.
fn sees_credentials(caller: &Caller) -> bool {
    caller.scopes.allow(Access::Admin)
}

/// Masks the user names and passwords in all URLs within a value.
fn mask(value: &mut Value) {
    match value {
        Value::String(text) if text.contains('@') => *text = proxy::masked(text),
        Value::Array(values) => values.iter_mut().for_each(mask),
        Value::Object(fields) => fields.values_mut().for_each(mask),
        _ => {}
    }
}

/// The audit log's text about a call that sets proxies, with masked passwords: the log is a file, and callers without
/// admin can read it.
pub(crate) fn masked_detail(params: &Map<String, Value>, described_by: &[&str]) -> Detail {
    let mut params = params.clone();
    params.values_mut().for_each(mask);
    Detail { text: summary(&params, described_by), is_secret: false }
}

/// Reads the proxy's file on a blocking thread. If a change is in progress, first waits for its end, so that the result
/// is up to date.
async fn read<T: Send + 'static>(
    context: &Context,
    use_it: impl FnOnce(Proxy) -> T + Send + 'static,
) -> Result<T> {
    let home = context.registration.home().to_owned();
    let turn = context.records.proxy_turn.clone();
    let work = move || {
        let _turn = turn.lock();
        Proxy::read(&home).map(use_it)
    };
    blocking(work).await?.map_err(failed)
}

/// Changes the proxy's file, and the environment of programs that start from now on. Changes run one at a time.
async fn change<T: Send + 'static>(
    context: &Context,
    change: impl FnOnce(&mut Proxy) -> Result<T> + Send + 'static,
) -> Result<T> {
    change_and_look(context, change).await.map(|(done, _)| done)
}

/// Changes the proxy's file like [`change`]. Also returns the proxy that results from the change.
async fn change_and_look<T: Send + 'static>(
    context: &Context,
    change: impl FnOnce(&mut Proxy) -> Result<T> + Send + 'static,
) -> Result<(T, FoundProxy)> {
    let home = context.registration.home().to_owned();
    let (mux, turn) = (context.mux.clone(), context.records.proxy_turn.clone());
    let work = move || {
        let _turn = turn.lock();
        let mut proxy = Proxy::read(&home).map_err(failed)?;
        let done = change(&mut proxy)?;
        proxy.write(&home).map_err(failed)?;
        let found = proxy.resolve();
        proxy::set_variables(&mux, &found);
        Ok((done, found))
    };
    blocking(work).await?
}

/// `proxy.status`.
pub struct Status;

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct StatusReply {
    pub enabled: bool,
    /// `manual`, `auto` or `off`.
    pub mode: String,
    pub http_proxy: Option<String>,
    pub socks_proxy: Option<String>,
    pub no_proxy: Option<String>,
    pub current_node: Option<String>,
    pub node_count: usize,
    /// `null` when it is disabled.
    pub health: Option<Health>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct Health {
    /// The source: `manual`, `GNOME gsettings`, `process env` or `scan:PORT`; `none` if no proxy was found.
    pub source: String,
    pub url: Option<String>,
    /// Whether the proxy accepts connections.
    pub reachable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl StatusReply {
    /// Builds the status with the values that a caller may read.
    fn shown_to(mut self, caller: &Caller) -> Self {
        if sees_credentials(caller) {
            return self;
        }
        for url in [&mut self.http_proxy, &mut self.socks_proxy] {
            *url = url.as_deref().map(proxy::masked);
        }
        if let Some(health) = &mut self.health
            && let Some(url) = &mut health.url
        {
            let masked = proxy::masked(url);
            health.hint = health.hint.take().map(|hint| hint.replace(url.as_str(), &masked));
            *url = masked;
        }
        self
    }
}

/// Builds the status. `found`: the proxy that `proxy` [resolves](Proxy::resolve) to, which is ignored if the proxy is
/// disabled.
fn status(proxy: Proxy, found: FoundProxy) -> StatusReply {
    let health = proxy.enabled.then(|| {
        let url = found.url().map(str::to_owned);
        let reachable = url.as_ref().is_some_and(|url| proxy::probe(url, SOON).is_some());
        let hint = match &url {
            _ if reachable => None,
            Some(url) => Some(format!("Nothing answers at {url}: is the proxy running?")),
            None => Some("No proxy is set and none was found on this machine".to_owned()),
        };
        let source = if found.source.is_empty() { "none".to_owned() } else { found.source };
        Health { source, url, reachable, hint }
    });
    let usual = (proxy.enabled && proxy.mode == "manual").then(|| NO_PROXY.to_owned());
    StatusReply {
        enabled: proxy.enabled,
        mode: proxy.mode,
        http_proxy: proxy.http_proxy,
        socks_proxy: proxy.socks_proxy,
        no_proxy: proxy.no_proxy.or(usual),
        current_node: proxy.current_node,
        node_count: proxy.nodes.len(),
        health,
    }
}

impl Method for Status {
    const NAME: &'static str = "proxy.status";
    const GROUP: Group = Group::Proxy;
    const REVEALS: Subjects = Subjects::PROXY;
    const DOC: &'static str = "Returns the proxy in force, and whether it accepts connections.";
    type Params<'a> = NoParams;
    type Reply = StatusReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        _: NoParams,
    ) -> Result<StatusReply> {
        current(context, caller).await
    }
}

/// The proxy in use, and whether it accepts connections. Contains only values that the caller may read.
pub(crate) async fn current(context: &Context, caller: &Caller) -> Result<StatusReply> {
    let look = |proxy: Proxy| {
        let found = proxy.resolve();
        status(proxy, found)
    };
    Ok(read(context, look).await?.shown_to(caller))
}

/// `proxy.nodes`.
pub struct Nodes;

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct NodesReply {
    pub current_node: Option<String>,
    pub nodes: Vec<Node>,
}

impl Method for Nodes {
    const NAME: &'static str = "proxy.nodes";
    const GROUP: Group = Group::Proxy;
    const REVEALS: Subjects = Subjects::PROXY;
    const DOC: &'static str =
        "Lists the proxies to choose from, with the results of the last test.";
    type Params<'a> = NoParams;
    type Reply = NodesReply;

    async fn call<'a>(context: &'a Context, caller: &'a Caller, _: NoParams) -> Result<NodesReply> {
        let Proxy { current_node, mut nodes, .. } = read(context, |proxy| proxy).await?;
        if !sees_credentials(caller) {
            nodes.iter_mut().for_each(|node| node.url = proxy::masked(&node.url));
        }
        Ok(NodesReply { current_node, nodes })
    }
}

/// `proxy.switch`.
pub struct Switch;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
#[serde(bound(deserialize = "'de: 'a"))]
pub struct SwitchParams<'a> {
    /// The proxy's name.
    #[serde(borrow)]
    pub node_name: Arg<'a, String>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct SwitchReply {
    pub switched: bool,
    pub current_node: String,
    pub http_proxy: String,
}

/// Selects a node.
fn use_node(proxy: &mut Proxy, name: &str) -> Result<String> {
    let node = proxy.nodes.iter().find(|node| node.name == name).ok_or_else(|| no_node(name))?;
    let url = node.url.clone();
    proxy.current_node = Some(name.to_owned());
    proxy.http_proxy = Some(url.clone());
    Ok(url)
}

impl Method for Switch {
    const NAME: &'static str = "proxy.switch";
    const GROUP: Group = Group::Proxy;
    const REVEALS: Subjects = Subjects::PROXY;
    const CHANGES: Subjects = Subjects::PROXY;
    const DOC: &'static str = "Selects one of the proxies to choose from.";
    const DESCRIBED_BY: &'static [&'static str] = &["node_name"];
    type Params<'a> = SwitchParams<'a>;
    type Reply = SwitchReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: SwitchParams<'a>,
    ) -> Result<SwitchReply> {
        let name = params.node_name.required("node_name")?.into_owned();
        change(context, move |proxy| {
            let http_proxy = use_node(proxy, &name)?;
            proxy.enabled = true;
            proxy.mode = "manual".to_owned();
            Ok(SwitchReply { switched: true, current_node: name, http_proxy })
        })
        .await
    }
}

/// `proxy.speedtest`.
pub struct Speedtest;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct SpeedtestParams<'a> {
    /// One proxy. Default: all.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub node_name: Arg<'a, String>,
    /// How long to wait for each proxy, in milliseconds. Default: 3,000.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub timeout_ms: Arg<'a, u64>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct SpeedtestReply {
    pub results: Vec<Tested>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct Tested {
    pub name: String,
    pub url: String,
    pub available: bool,
    pub latency_ms: Option<u64>,
}

impl Method for Speedtest {
    const NAME: &'static str = "proxy.speedtest";
    const GROUP: Group = Group::Proxy;
    const REVEALS: Subjects = Subjects::PROXY;
    const CHANGES: Subjects = Subjects::PROXY;
    const DOC: &'static str =
        "Connects to the proxies to choose from, and records the latency of each.";
    const LASTS: bool = true;
    const DESCRIBED_BY: &'static [&'static str] = &["node_name"];
    type Params<'a> = SpeedtestParams<'a>;
    type Reply = SpeedtestReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: SpeedtestParams<'a>,
    ) -> Result<SpeedtestReply> {
        let name = params.node_name.text("node_name")?.map(std::borrow::Cow::into_owned);
        let timeout = params.timeout_ms.number("timeout_ms", 1..=60_000)?.unwrap_or(3000);
        let timeout = Duration::from_millis(timeout);
        let is_meant = {
            let name = name.clone();
            move |node: &Node| name.as_ref().is_none_or(|name| node.name == *name)
        };
        let wanted = is_meant.clone();
        let nodes =
            read(context, move |proxy| proxy.nodes.into_iter().filter(wanted).collect::<Vec<_>>());
        let nodes = nodes.await?;
        if let Some(name) = name.filter(|_| nodes.is_empty()) {
            return Err(no_node(&name));
        }
        // The probes run without the file's lock, because a proxy may be slow, and other calls must be able to change
        // the file meanwhile.
        let urls = nodes.iter().map(|node| node.url.clone()).collect();
        let times = blocking(move || proxy::probe_all(urls, timeout)).await?;
        let results: Vec<_> = nodes
            .into_iter()
            .zip(times)
            .map(|(node, time)| Tested {
                name: node.name,
                url: node.url,
                available: time.is_some(),
                latency_ms: time.map(|time| time.as_millis() as u64),
            })
            .collect();
        change(context, move |proxy| {
            for tested in &results {
                let same = |node: &&mut Node| node.name == tested.name && node.url == tested.url;
                if let Some(node) = proxy.nodes.iter_mut().find(same) {
                    (node.available, node.latency_ms) = (Some(tested.available), tested.latency_ms);
                }
            }
            Ok(SpeedtestReply { results })
        })
        .await
    }
}

/// `proxy.configure`.
pub struct Configure;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct ConfigureParams<'a> {
    /// Whether programs get a proxy. Default: true.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub enabled: Arg<'a, bool>,
    /// `manual` or `auto`. Default: manual. `auto` without an address drops the configured addresses and finds a proxy.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub mode: Arg<'a, String>,
    /// Address of the proxy for HTTP, such as `http://127.0.0.1:7890`. Absent: unchanged, as for all following
    /// parameters.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub http_proxy: Arg<'a, String>,
    /// Address of the SOCKS proxy, such as `socks5://127.0.0.1:7891`.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub socks_proxy: Arg<'a, String>,
    /// Hosts that are reached without a proxy, separated by commas. Empty or never set: `localhost,127.0.0.1,::1`.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub no_proxy: Arg<'a, String>,
    /// Proxies to choose from: `{name, url}` each. An invalid one is left out and listed in the reply.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub nodes: Arg<'a, Vec<Node>>,
    /// The name of the selected proxy.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub current_node: Arg<'a, String>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct ConfigureReply {
    pub configured: bool,
    pub status: StatusReply,
    /// The nodes that were left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<Refused>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct Refused {
    /// The node's index in the parameter `nodes`, from 0.
    pub index: usize,
    /// Why the node is invalid.
    pub error: String,
}

/// The valid nodes of a list, and the reasons why its other nodes are invalid.
fn usable(nodes: Vec<&RawValue>) -> (Vec<Node>, Vec<Refused>) {
    let (mut usable, mut refused) = (Vec::new(), Vec::new());
    for (index, node) in nodes.into_iter().enumerate() {
        let other = |_| Error::Invalid {
            name: "nodes",
            expected: "{name, url}".to_owned(),
            got: node.get().chars().take(80).collect(),
        };
        match serde_json::from_str::<Node>(node.get())
            .map_err(other)
            .and_then(|node| check_url("url", &node.url).map(|()| node))
        {
            Ok(node) => usable.push(node),
            Err(error) => refused.push(Refused { index, error: error.to_string() }),
        }
    }
    (usable, refused)
}

impl Method for Configure {
    const NAME: &'static str = "proxy.configure";
    const GROUP: Group = Group::Proxy;
    const REVEALS: Subjects = Subjects::PROXY;
    const CHANGES: Subjects = Subjects::PROXY;
    const DOC: &'static str = "Configures the proxy in one call.";
    type Params<'a> = ConfigureParams<'a>;
    type Reply = ConfigureReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: ConfigureParams<'a>,
    ) -> Result<ConfigureReply> {
        let enabled = params.enabled.value::<bool>("enabled", "true or false")?.unwrap_or(true);
        let text = |arg: &Arg<'a, String>, name| {
            Ok::<_, Error>(arg.text(name)?.map(std::borrow::Cow::into_owned))
        };
        let mode = text(&params.mode, "mode")?.unwrap_or_else(|| "manual".to_owned());
        if enabled && mode != "manual" && mode != "auto" {
            return Err(Error::Invalid {
                name: "mode",
                expected: "manual or auto".to_owned(),
                got: format!("{mode:?}"),
            });
        }
        let http = text(&params.http_proxy, "http_proxy")?;
        let socks = text(&params.socks_proxy, "socks_proxy")?;
        for (name, url) in [("http_proxy", &http), ("socks_proxy", &socks)] {
            // An empty address removes the configured one.
            if let Some(url) = url.as_deref().filter(|url| !url.trim().is_empty()) {
                check_url(name, url)?;
                let is_socks = url.trim().to_ascii_lowercase().starts_with("socks");
                if name == "socks_proxy" && !is_socks {
                    return Err(Error::Invalid {
                        name,
                        expected: "a SOCKS proxy's URL, such as socks5://127.0.0.1:1080".to_owned(),
                        got: format!("{url:?}"),
                    });
                }
            }
        }
        let none = text(&params.no_proxy, "no_proxy")?;
        let current = text(&params.current_node, "current_node")?;
        let nodes = params.nodes.value::<Vec<&RawValue>>("nodes", "a list of {name, url}")?;
        let (nodes, refused) =
            nodes.map(usable).map_or((None, Vec::new()), |(nodes, refused)| (Some(nodes), refused));
        let changed = change_and_look(context, move |proxy| {
            proxy.enabled = enabled;
            if enabled && mode == "auto" && http.is_none() && socks.is_none() {
                (proxy.http_proxy, proxy.socks_proxy, proxy.current_node) = (None, None, None);
            }
            proxy.mode = if enabled { mode } else { "off".to_owned() };
            proxy.http_proxy = http.or_else(|| proxy.http_proxy.take());
            proxy.socks_proxy = socks.or_else(|| proxy.socks_proxy.take());
            if let Some(none) = none {
                proxy.no_proxy =
                    Some(none).filter(|none| !none.trim().is_empty() && none != NO_PROXY);
            }
            if let Some(nodes) = nodes {
                proxy.nodes = nodes;
            }
            match current {
                Some(name) => drop(use_node(proxy, &name)?),
                // The node that was selected before may no longer exist.
                None => {
                    let nodes = &proxy.nodes;
                    let is_there = |name: &String| nodes.iter().any(|node| node.name == *name);
                    proxy.current_node = proxy.current_node.take().filter(is_there);
                }
            }
            Ok(proxy.clone())
        });
        let (proxy, found) = changed.await?;
        let status = blocking(move || status(proxy, found)).await?;
        Ok(ConfigureReply { configured: true, status, refused })
    }

    fn detail(_: &Context, params: &Map<String, Value>, _: Detail) -> Detail {
        masked_detail(params, Self::DESCRIBED_BY)
    }
}

fn check_url(name: &'static str, url: &str) -> Result<()> {
    if proxy::is_url(url) {
        return Ok(());
    }
    Err(Error::Invalid {
        name,
        expected: "a proxy's URL, such as http://127.0.0.1:7890 or socks5://127.0.0.1:1080"
            .to_owned(),
        got: format!("{url:?}"),
    })
}

/// `proxy.disable`.
pub struct Disable;

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct DisableReply {
    pub disabled: bool,
}

impl Method for Disable {
    const NAME: &'static str = "proxy.disable";
    const GROUP: Group = Group::Proxy;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::PROXY;
    const DOC: &'static str = "Turns the proxy off. Keeps its configuration.";
    type Params<'a> = NoParams;
    type Reply = DisableReply;

    async fn call<'a>(context: &'a Context, _: &'a Caller, _: NoParams) -> Result<DisableReply> {
        change(context, |proxy| {
            proxy.enabled = false;
            proxy.mode = "off".to_owned();
            Ok(DisableReply { disabled: true })
        })
        .await
    }
}

/// `proxy.env`.
pub struct Env;

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct EnvReply {
    pub enabled: bool,
    /// Some of HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY.
    pub env: Map<String, Value>,
}

impl Method for Env {
    const NAME: &'static str = "proxy.env";
    const GROUP: Group = Group::Proxy;
    const REVEALS: Subjects = Subjects::PROXY;
    const DOC: &'static str = "Returns the proxy variables in the environment of new programs.";
    type Params<'a> = NoParams;
    type Reply = EnvReply;

    async fn call<'a>(context: &'a Context, caller: &'a Caller, _: NoParams) -> Result<EnvReply> {
        let is_masked = !sees_credentials(caller);
        read(context, move |proxy| {
            let found: FoundProxy = proxy.resolve();
            let shown = |name: &str, value: String| match is_masked && name != "NO_PROXY" {
                true => proxy::masked(&value),
                false => value,
            };
            let env = found.env().into_iter();
            let env = env.map(|(name, value)| (name.to_owned(), shown(name, value).into()));
            EnvReply { enabled: proxy.enabled, env: env.collect() }
        })
        .await
    }
}
