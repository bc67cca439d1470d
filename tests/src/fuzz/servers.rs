//! Sends hostile requests to the servers of an instance and of a hub, and checks that both programs stay healthy.
//!
//! A program is healthy if its process runs, has logged no panic, answers a valid request, and has not grown.

use std::{
    collections::BTreeMap,
    fs,
    io::{Read as _, Write as _},
    net::{Shutdown, TcpStream},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::{
    Random,
    requests::{Call, MCP, OfferedCall, REVISION, client},
};
use crate::{
    Resources,
    fleet::{Fleet, request},
    wait_for,
};

/// The number of requests between two checks.
const ROUND: u64 = 100;
/// How long a client waits for the next bytes of an answer. A stream of events has no end.
const ANSWER: Duration = Duration::from_millis(500);
/// The number of bytes of an answer after which a client disconnects.
const LONGEST_ANSWER: usize = 1 << 22;
/// The memory that a server may use after hostile requests, in KiB.
const MEMORY: u64 = 700 << 10;
/// The maximum number of additional descriptors of a server, once all clients have disconnected.
const DESCRIPTORS: usize = 40;

/// Parameters that several methods of the control port have. The port does not list the schemas of its methods.
const PARAMETERS: &[(&str, &str)] = &[
    ("id", "integer"),
    ("session_id", "string"),
    ("command", "string"),
    ("text", "string"),
    ("input", "string"),
    ("keys", "array"),
    ("path", "string"),
    ("name", "string"),
    ("cols", "integer"),
    ("rows", "integer"),
    ("lines", "integer"),
    ("offset", "integer"),
    ("limit", "integer"),
    ("since", "integer"),
    ("pattern", "string"),
    ("timeout_ms", "integer"),
    ("theme", "string"),
    ("url", "string"),
    ("data", "object"),
    ("env", "object"),
    ("events", "array"),
    ("enabled", "boolean"),
];

/// A server and its calls.
struct Server {
    name: &'static str,
    address: String,
    token: String,
    offers: Vec<OfferedCall>,
}

/// The results of a run.
#[derive(Debug)]
pub struct Report {
    /// For each server: the number of its calls, and the number of answers with each status. Without an answer, the
    /// status is `-`.
    pub answers: BTreeMap<&'static str, (usize, BTreeMap<String, u64>)>,
    /// The resources of the instance and of the hub before the run.
    pub before: [Resources; 2],
    /// The resources of the instance and of the hub after the run.
    pub after: [Resources; 2],
}

/// Sends hostile requests to all servers in rounds until the time is over: at least one round. `None` if there is no
/// NATS server, which a hub needs.
///
/// # Errors
///
/// If a program is not healthy. The error contains the seed of the last round.
pub fn run(time: Duration, seed: u64) -> Result<Option<Report>> {
    let Some(mut fleet) = Fleet::start(&[])? else { return Ok(None) };
    let servers =
        [control(&mut fleet)?, settings(&fleet)?, tools(&fleet)?, agents(&fleet)?, page(&fleet)?];
    let before = used(&fleet)?;
    let mut answers: BTreeMap<_, _> = servers
        .iter()
        .map(|server| (server.name, (server.offers.len(), BTreeMap::new())))
        .collect();
    let start = Instant::now();
    for round in seed.. {
        let mut random = Random::new(round);
        for _ in 0..ROUND {
            let server = &servers[random.below(servers.len())];
            let status = send(server, &mut random);
            if let Some((_, statuses)) = answers.get_mut(server.name) {
                *statuses.entry(status).or_default() += 1;
            }
        }
        check(&mut fleet, before).with_context(|| format!("after the requests of seed {round}"))?;
        if start.elapsed() >= time {
            break;
        }
    }
    Ok(Some(Report { answers, before, after: used(&fleet)? }))
}

/// The calls of the control port.
fn control(fleet: &mut Fleet) -> Result<Server> {
    let groups = fleet.unterm.call("server.capabilities", json!({}))?;
    let names = groups.as_object().into_iter().flat_map(|groups| groups.values());
    let names = names.filter_map(Value::as_array).flatten().filter_map(Value::as_str);
    let properties: Value = PARAMETERS
        .iter()
        .map(|(name, kind)| {
            ((*name).to_owned(), json!({"type": kind, "items": {"type": "string"}}))
        })
        .collect::<serde_json::Map<_, _>>()
        .into();
    let offers = names.map(|name| OfferedCall {
        call: Call::Line(name.to_owned()),
        schema: json!({"properties": properties}),
    });
    let entry = fleet.unterm.entry();
    Ok(Server {
        name: "control port",
        address: format!("127.0.0.1:{}", entry["mcp_port"]),
        token: token(fleet)?,
        offers: offers.collect(),
    })
}

/// The calls of the settings server, from its own description.
fn settings(fleet: &Fleet) -> Result<Server> {
    let (address, token) = (settings_address(fleet), token(fleet)?);
    let text = ask(&address, &token, ("GET", "/api/openapi.json"), &[], "")?;
    let description: Value = serde_json::from_str(&text)?;
    let mut offers = Vec::new();
    for (path, verbs) in description["paths"].as_object().into_iter().flatten() {
        for (verb, operation) in verbs.as_object().into_iter().flatten() {
            let mut schema =
                operation["requestBody"]["content"]["application/json"]["schema"].clone();
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                if parameter["in"] == "query" {
                    let name = parameter["name"].as_str().unwrap_or_default();
                    schema["properties"][name] = parameter["schema"].clone();
                }
            }
            let call = Call::Http { verb: verb.to_uppercase(), path: path.clone() };
            offers.push(OfferedCall { call, schema });
        }
    }
    Ok(Server { name: "settings server", address, token, offers })
}

/// The tools of the instance, over HTTP.
fn tools(fleet: &Fleet) -> Result<Server> {
    let (address, token) = (settings_address(fleet), token(fleet)?);
    let offers = listed(&address, &token)?;
    Ok(Server { name: "tools", address, token, offers })
}

/// The tools of the hub, over HTTP.
fn agents(fleet: &Fleet) -> Result<Server> {
    let (address, token) = (fleet.address().to_owned(), fleet.token(&[])?);
    let offers = listed(&address, &token)?;
    Ok(Server { name: "hub's tools", address, token, offers })
}

/// The requests of the hub's page, except the requests that stop the fleet or sign out.
fn page(fleet: &Fleet) -> Result<Server> {
    let gets = [
        "/api/overview",
        "/api/events",
        "/api/audit",
        "/api/audit/export",
        "/api/sessions/live",
        "/api/words",
        "/",
    ];
    let posts = [
        "/api/login",
        "/api/login/passkey",
        "/api/passkeys/begin",
        "/api/passkeys",
        "/api/passkeys/remove",
        "/api/conversations/decide",
        "/api/tokens",
        "/api/machines/invite",
        "/api/lines/release",
        "/api/lines/drop",
        "/api/sessions/type",
    ];
    let names = [
        "id",
        "name",
        "machine",
        "session",
        "conversation",
        "text",
        "since",
        "limit",
        "code",
        "decision",
        "token",
    ];
    let offer = |verb: &str, path: &str| OfferedCall {
        call: Call::Http { verb: verb.to_owned(), path: path.to_owned() },
        schema: of_texts(&names),
    };
    let offers = gets
        .iter()
        .map(|path| offer("GET", path))
        .chain(posts.iter().map(|path| offer("POST", path)));
    Ok(Server {
        name: "hub's page",
        address: fleet.page().to_owned(),
        token: fleet.sign_in(&[])?.secret,
        offers: offers.collect(),
    })
}

fn settings_address(fleet: &Fleet) -> String {
    format!("127.0.0.1:{}", fleet.unterm.entry()["http_port"])
}

fn token(fleet: &Fleet) -> Result<String> {
    fleet.unterm.entry()["auth_token"].as_str().map(str::to_owned).context("no token")
}

/// The schema of parameters that are texts.
fn of_texts(names: &[&str]) -> Value {
    let properties: serde_json::Map<_, _> =
        names.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
    json!({ "properties": properties })
}

/// Sends a valid request with the token. Returns the body of the answer.
///
/// # Errors
///
/// If the status is not 200.
fn ask(
    address: &str,
    token: &str,
    (verb, path): (&str, &str),
    headers: &[(&str, &str)],
    body: &str,
) -> Result<String> {
    let bearer = format!("Bearer {token}");
    let headers = [&[("Authorization", bearer.as_str())], headers].concat();
    let (status, text) = request(address, verb, path, &headers, body)?;
    ensure!(status == 200, "{verb} {path}: {status}: {text}");
    Ok(text)
}

/// The tools that a server of the Model Context Protocol lists, and the protocol's own methods.
fn listed(address: &str, token: &str) -> Result<Vec<OfferedCall>> {
    const LIST: &str = "tools/list";
    let headers = [("MCP-Protocol-Version", REVISION), ("Mcp-Method", LIST)];
    let params = json!({"_meta": client()});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": LIST, "params": params}).to_string();
    let text = ask(address, token, ("POST", MCP), &headers, &body)?;
    // The answer is JSON, or an event whose data is JSON.
    let mut lines = text.lines().map(|line| line.trim_start_matches("data:").trim());
    let json = lines.find(|line| line.starts_with('{')).with_context(|| text.clone())?;
    let list: Value = serde_json::from_str(json)?;
    let tools = list["result"]["tools"].as_array().with_context(|| text.clone())?;
    let tools = tools.iter().filter_map(|tool| {
        let call = Call::Tool(tool["name"].as_str()?.to_owned());
        Some(OfferedCall { call, schema: tool["inputSchema"].clone() })
    });
    let methods = [
        "initialize",
        "ping",
        LIST,
        "resources/list",
        "resources/read",
        "prompts/get",
        "logging/setLevel",
        "tasks/get",
        "completion/complete",
    ];
    let schema = of_texts(&["uri", "name", "cursor", "protocolVersion", "taskId", "level"]);
    let methods = methods.iter().map(|method| OfferedCall {
        call: Call::Mcp((*method).to_owned()),
        schema: schema.clone(),
    });
    Ok(tools.chain(methods).collect())
}

/// Sends one request as one client. Returns the status of the answer.
fn send(server: &Server, random: &mut Random) -> String {
    let offer = &server.offers[random.below(server.offers.len())];
    let is_line = matches!(offer.call, Call::Line(_));
    let mut bytes = Vec::new();
    if is_line && !random.one_in(10) {
        let params = json!({"token": server.token});
        let login = json!({"jsonrpc": "2.0", "id": 0, "method": "auth.login", "params": params});
        bytes = format!("{login}\n").into_bytes();
    }
    bytes.extend(offer.request(&server.address, &server.token, random));
    match answer(&server.address, &bytes, is_line, random) {
        Ok(answer) if is_line => line_status(&answer),
        Ok(answer) => answer.split(' ').nth(1).unwrap_or("-").to_owned(),
        Err(_) => "-".to_owned(),
    }
}

/// The status of an answer of the control port: the error's code, or `result`.
fn line_status(answer: &str) -> String {
    let reply = answer.lines().last().and_then(|line| serde_json::from_str::<Value>(line).ok());
    match reply {
        Some(reply) if reply["error"].is_null() => "result".to_owned(),
        Some(reply) => reply["error"]["code"].to_string(),
        None => "-".to_owned(),
    }
}

/// Sends the bytes in one or two pieces, and reads until the answer ends. Empty if the client disconnects first.
fn answer(
    address: &str,
    bytes: &[u8],
    is_line: bool,
    random: &mut Random,
) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(ANSWER))?;
    stream.set_write_timeout(Some(ANSWER))?;
    let cut = if random.one_in(3) { random.below(bytes.len()) } else { bytes.len() };
    stream.write_all(&bytes[..cut])?;
    stream.write_all(&bytes[cut..])?;
    if random.one_in(20) {
        return Ok(String::new());
    }
    if random.one_in(20) {
        stream.shutdown(Shutdown::Write)?;
    }
    let (mut read, mut piece) = (Vec::new(), vec![0; 1 << 16]);
    while read.len() < LONGEST_ANSWER {
        match stream.read(&mut piece) {
            Ok(count) if count > 0 => read.extend_from_slice(&piece[..count]),
            _ => break,
        }
        // The replies to the login and to the request.
        if is_line && read.iter().filter(|byte| **byte == b'\n').count() >= 2 {
            break;
        }
    }
    Ok(String::from_utf8_lossy(&read).into_owned())
}

/// The resources of the instance and of the hub.
fn used(fleet: &Fleet) -> Result<[Resources; 2]> {
    Ok([fleet.unterm.resources()?, Resources::of(fleet.hub_id()?)?])
}

/// Resumes the agents. If a request has paused them, the calls of the check would wait for the user.
fn resume_agents(fleet: &Fleet) -> Result<()> {
    let body = json!({"paused": false}).to_string();
    let call = ("POST", "/api/agents/pause");
    ask(&settings_address(fleet), &token(fleet)?, call, &[], &body).map(drop)
}

/// Closes all panes but a new one, so that requests that open panes do not count as growth.
fn close_panes(fleet: &mut Fleet) -> Result<()> {
    let mut wire = fleet.unterm.connect()?;
    let kept = wire.call("session.create", json!({}))?;
    let list = wire.call("session.list", json!({}))?;
    for pane in list["sessions"].as_array().context("no list")? {
        if pane["id"] != kept["id"] {
            // The pane may have ended in the meantime.
            let _ = wire.call("session.destroy", json!({"id": pane["id"]}));
        }
    }
    Ok(())
}

/// Checks that both programs are healthy.
fn check(fleet: &mut Fleet, before: [Resources; 2]) -> Result<()> {
    resume_agents(fleet)?;
    close_panes(fleet)?;
    let health = fleet.unterm.connect()?.call("server.health", json!({}))?;
    ensure!(health["status"] == "ok", "{health}");
    let (status, text) = request(fleet.page(), "GET", "/", &[], "")?;
    ensure!(status == 200, "the hub's page: {status}: {text}");
    for log in [fleet.unterm.log(), fs::read_to_string(fleet.log())?] {
        let panic = log.lines().find(|line| line.contains("panicked"));
        ensure!(panic.is_none(), "{panic:?}");
    }
    for (part, name) in ["the instance", "the hub"].into_iter().enumerate() {
        wait_for(
            &format!("the end of the clients' connections to {name}"),
            || {
                let now = used(fleet)?[part];
                ensure!(now.resident_kb < MEMORY, "{name} uses {} KiB", now.resident_kb);
                Ok((now.descriptors <= before[part].descriptors + DESCRIPTORS).then_some(()))
            },
            || format!("{:?}, before {:?}", used(fleet), before[part]),
        )?;
    }
    Ok(())
}
