//! Information about the whole instance, and the page's form for the proxy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use unterm_mux::private;

use super::{
    method,
    preferences::{look, theme_name},
    single::scrollback,
};
use crate::{
    VERSION,
    authority::{Subjects, audit::Detail},
    caller::Caller,
    error::{Error, Result},
    methods::{
        Context, Group, Method,
        params::{NoParams, Raw},
        proxy,
        session::blocking,
    },
    services::records::recording,
};

/// The server answers.
#[derive(Serialize, JsonSchema)]
pub struct OkReply {
    ok: bool,
}

method! {
    /// `GET /api/health`
    Answers "settings.health" [INSTANCE] "Confirms that the server answers."
    (_context, _none: NoParams) -> OkReply {
        Ok(OkReply { ok: true })
    }
}

#[derive(Serialize, JsonSchema)]
struct Ports {
    mcp: u16,
    http: u16,
}

/// The project that this instance was started in.
#[derive(Serialize, JsonSchema)]
struct Project {
    path: Option<String>,
    slug: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct ActiveRecording {
    active: bool,
    /// The first session that is being recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pane_id: Option<u64>,
    /// See `session.recording_status`.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<Value>,
}

#[derive(Serialize, JsonSchema)]
struct KeptLines {
    lines: u64,
    default: u64,
    max: u64,
}

/// The instance.
#[derive(Serialize, JsonSchema)]
pub struct StateReply {
    version: &'static str,
    hostname: String,
    pid: u32,
    started_at: String,
    ports: Ports,
    theme: String,
    proxy: proxy::StatusReply,
    project: Project,
    recording: ActiveRecording,
    /// The folder of recordings that belong to no project.
    sessions_path: String,
    scrollback: KeptLines,
}

/// The running recordings, each with its session and status.
pub(super) fn active(context: &Context) -> impl Iterator<Item = (u64, recording::Record)> {
    let panes = context.mux.panes().into_iter();
    panes.filter_map(|pane| Some((pane.id().0, context.records.recorder.status(pane.id())?)))
}

pub struct State;

impl Method for State {
    const NAME: &'static str = "settings.state";
    const GROUP: Group = Group::Governance;
    const REVEALS: Subjects = Subjects::INSTANCE
        .union(Subjects::SESSIONS)
        .union(Subjects::PREFERENCES)
        .union(Subjects::PROXY);
    const DOC: &'static str =
        "Returns version, ports, theme, proxy, project and recording of this instance.";
    type Params<'a> = Raw<'a, NoParams>;
    type Reply = StateReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        _: Raw<'a, NoParams>,
    ) -> Result<StateReply> {
        let record = context.registration.record();
        let (theme, lines) = look(context, |preferences| {
            let theme = theme_name(&preferences.get()?["theme"]).to_owned();
            Ok((theme, scrollback(preferences)?))
        })
        .await?;
        let proxy = proxy::current(context, caller).await?;
        let cwd = record.cwd.clone();
        let project = blocking(move || recording::project_of(cwd.as_ref())).await?;
        let first = active(context).next();
        let status = first.as_ref().map(|(_, record)| {
            json!({
                "recording": true,
                "session_id": record.unterm_session_id,
                "started_at": record.started_at,
                "block_count": record.block_count,
                "bytes": record.bytes_raw,
            })
        });
        let sessions = context.registration.home().join("sessions");
        Ok(StateReply {
            version: VERSION,
            hostname: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            pid: record.pid,
            started_at: record.started_at.clone(),
            ports: Ports { mcp: record.mcp_port, http: record.http_port },
            theme,
            proxy,
            project: Project {
                path: project.as_ref().map(|(path, _)| path.to_string_lossy().into_owned()),
                slug: project.map(|(_, slug)| slug),
            },
            recording: ActiveRecording {
                active: first.is_some(),
                pane_id: first.map(|(pane, _)| pane),
                status,
            },
            sessions_path: sessions.to_string_lossy().into_owned(),
            scrollback: KeptLines { lines: lines.lines, default: lines.default, max: lines.max },
        })
    }
}

/// The name of the file that contains the result of the last search for a newer version.
const UPDATES: &str = "update_check.json";
/// The maximum size of that file, in bytes. A longer file is not read.
const LONGEST_UPDATES: u64 = 1 << 20;

method! {
    /// `GET /api/updates`
    Updates "settings.updates" [MACHINE] "Returns the result of the last search for a newer version."
    (context, _none: NoParams) -> Map<String, Value> {
        let file = context.registration.home().join(UPDATES);
        let text = blocking(move || private::read(&file, LONGEST_UPDATES)).await?;
        let found = text.ok().and_then(|text| serde_json::from_slice(&text).ok());
        let nothing = || json!({"current": VERSION, "checked_at": null, "latest": null});
        let found = found.unwrap_or_else(nothing);
        let Value::Object(found) = found else { return Ok(Map::new()) };
        Ok(found)
    }
}

method! {
    /// `POST /api/updates/check`
    CheckUpdates "settings.check_updates" [MACHINE] changes INSTANCE "Looks for a newer version."
    (_context, _none: NoParams) -> Map<String, Value> {
        // There is no address to look at, because no releases are published yet, and Unterm never contacts a machine on
        // its own.
        Err(Error::Failed("This build has no address to look for newer versions".to_owned()))
    }
}

/// The project and title of this instance.
#[derive(Serialize, JsonSchema)]
pub struct TitleReply {
    id: String,
    title: String,
    cwd: String,
    project: Project,
    /// The folder of this project's recordings.
    #[serde(skip_serializing_if = "Option::is_none")]
    recordings: Option<String>,
}

method! {
    /// `GET /api/project`
    Title "settings.project" [MACHINE] "Returns this instance's project and title."
    (context, _none: NoParams) -> TitleReply {
        let record = context.registration.record();
        let cwd = record.cwd.clone();
        let project = blocking(move || recording::project_of(cwd.as_ref())).await?;
        let recordings = project.as_ref().map(|(path, _)| path.join(".unterm/sessions"));
        Ok(TitleReply {
            id: record.id.clone(),
            title: record.title.clone(),
            cwd: record.cwd.clone(),
            recordings: recordings.map(|path| path.to_string_lossy().into_owned()),
            project: Project {
                path: project.as_ref().map(|(path, _)| path.to_string_lossy().into_owned()),
                slug: project.map(|(_, slug)| slug),
            },
        })
    }
}

/// The page's form for the proxy.
#[derive(Deserialize, JsonSchema)]
pub struct SetProxyParams {
    /// Whether programs use a proxy; default true.
    #[serde(default)]
    #[schemars(with = "bool")]
    enabled: Option<bool>,
    /// Address of the HTTP proxy, such as `http://127.0.0.1:7890`.
    #[serde(default)]
    #[schemars(with = "String")]
    http_proxy: Option<String>,
    /// Address of the SOCKS proxy, such as `socks5://127.0.0.1:7891`.
    #[serde(default)]
    #[schemars(with = "String")]
    socks_proxy: Option<String>,
    /// Hosts that are reached without the proxy, separated by commas.
    #[serde(default)]
    #[schemars(with = "String")]
    no_proxy: Option<String>,
}

/// `POST /api/proxy`. With an address, the proxy is set manually. Without one, it is detected automatically.
pub struct SetProxy;

impl Method for SetProxy {
    const NAME: &'static str = "proxy.configure";
    const GROUP: Group = Group::Proxy;
    const REVEALS: Subjects = Subjects::PROXY;
    const CHANGES: Subjects = Subjects::PROXY;
    const DOC: &'static str =
        "Turns the proxy off or on. Without an address, Unterm looks for a proxy.";
    type Params<'a> = Raw<'a, SetProxyParams>;
    type Reply = proxy::ConfigureReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: Raw<'a, SetProxyParams>,
    ) -> Result<proxy::ConfigureReply> {
        let given: SetProxyParams = params.params()?;
        let is_set = |url: &Option<String>| url.as_ref().is_some_and(|url| !url.trim().is_empty());
        let is_manual = is_set(&given.http_proxy) || is_set(&given.socks_proxy);
        let mut all = json!({
            "enabled": given.enabled.unwrap_or(true),
            "mode": if is_manual { "manual" } else { "auto" },
        });
        let urls = [
            ("http_proxy", given.http_proxy),
            ("socks_proxy", given.socks_proxy),
            ("no_proxy", given.no_proxy),
        ];
        for (name, value) in urls {
            if let Some(value) = value {
                all[name] = value.into();
            }
        }
        let all = all.to_string();
        let all = serde_json::from_str(&all).map_err(Error::Params)?;
        proxy::Configure::call(context, caller, all).await
    }

    fn detail(_: &Context, params: &Map<String, Value>, _: Detail) -> Detail {
        proxy::masked_detail(params, Self::DESCRIBED_BY)
    }
}
