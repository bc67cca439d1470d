//! Sends hostile requests to the servers of a running instance and of a running hub, and checks that they stay well.
//!
//! A server is well if its process lives, it has logged no panic, it answers a valid request, and it has not grown.

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
    requests::{Offer, REVISION, client},
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
/// The number of descriptors that a server may have more than before, once all clients have disconnected.
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

/// A server, and what it offers.
struct Server {
    name: &'static str,
    address: String,
    token: String,
    offers: Vec<Offer>,
}

/// What happened in a run.
#[derive(Debug, Default)]
pub struct Report {
    /// For each server: the number of its calls, and how often it answered with each status. Without an answer, the
    /// status is `-`.
    pub answers: BTreeMap<&'static str, (usize, BTreeMap<String, u64>)>,
    /// The memory of the instance and of the hub in KiB, before and after.
    pub memory: [(u64, u64); 2],
    /// The descriptors of the instance and of the hub, before and after.
    pub descriptors: [(usize, usize); 2],
}

/// Sends hostile requests to all servers until the time is over or this number of requests is sent. `None` if there is
/// no NATS server, which a hub needs.
///
/// # Errors
///
/// If a server is not well. The error contains the seed of the round after which it was not.
pub fn run(time: Duration, most: u64, seed: u64) -> Result<Option<Report>> {
    let Some(mut fleet) = Fleet::start(&[])? else { return Ok(None) };
    let servers =
        [control(&mut fleet)?, settings(&fleet)?, tools(&fleet)?, agents(&fleet)?, page(&fleet)?];
    let before = used(&fleet)?;
    let mut report = Report::default();
    for server in &servers {
        report.answers.insert(server.name, (server.offers.len(), BTreeMap::new()));
    }
    let (start, mut sent) = (Instant::now(), 0);
    while start.elapsed() < time && sent < most {
        let round = seed.wrapping_add(sent);
        let mut random = Random::new(round);
        for _ in 0..ROUND.min(most - sent) {
            let server = &servers[random.below(servers.len())];
            let status = send(server, &mut random);
            let (_, statuses) = report.answers.entry(server.name).or_default();
            *statuses.entry(status).or_default() += 1;
            sent += 1;
        }
        check(&mut fleet, before).with_context(|| format!("after the requests of seed {round}"))?;
    }
    let after = used(&fleet)?;
    for part in 0..2 {
        report.memory[part] = (before[part].resident_kb, after[part].resident_kb);
        report.descriptors[part] = (before[part].descriptors, after[part].descriptors);
    }
    Ok(Some(report))
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
    let offers = names.map(|name| Offer {
        verb: String::new(),
        path: String::new(),
        method: name.to_owned(),
        tool: String::new(),
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
    let bearer = format!("Bearer {token}");
    let headers = [("Authorization", bearer.as_str())];
    let (status, text) = request(&address, "GET", "/api/openapi.json", &headers, "")?;
    ensure!(status == 200, "{status}: {text}");
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
            let (verb, path) = (verb.to_uppercase(), path.clone());
            offers.push(Offer { verb, path, method: String::new(), tool: String::new(), schema });
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

/// The requests of the hub's page, but for those that stop the fleet or sign out.
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
    let properties: serde_json::Map<_, _> =
        names.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
    let offer = |verb: &str, path: &str| Offer {
        verb: verb.to_owned(),
        path: path.to_owned(),
        method: String::new(),
        tool: String::new(),
        schema: json!({ "properties": properties }),
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

/// The tools that a server of the Model Context Protocol lists, and the protocol's own methods.
fn listed(address: &str, token: &str) -> Result<Vec<Offer>> {
    let bearer = format!("Bearer {token}");
    let headers = [
        ("Authorization", bearer.as_str()),
        ("MCP-Protocol-Version", REVISION),
        ("Mcp-Method", "tools/list"),
    ];
    let params = json!({"_meta": client()});
    let ask = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params});
    let ask = ask.to_string();
    let (status, text) = request(address, "POST", "/mcp", &headers, &ask)?;
    // The answer is JSON, or an event whose data is JSON.
    let json =
        text.lines().find_map(|line| line.trim_start_matches("data:").trim().strip_prefix('{'));
    let json = json.with_context(|| format!("{status}: {text}"))?;
    let list: Value = serde_json::from_str(&format!("{{{json}"))?;
    let offer = |method: &str, tool: &str, schema: &Value| Offer {
        verb: "POST".to_owned(),
        path: "/mcp".to_owned(),
        method: method.to_owned(),
        tool: tool.to_owned(),
        schema: schema.clone(),
    };
    let tools = list["result"]["tools"].as_array().with_context(|| text.clone())?;
    let mut offers: Vec<_> = tools
        .iter()
        .filter_map(|tool| Some(offer("tools/call", tool["name"].as_str()?, &tool["inputSchema"])))
        .collect();
    for method in [
        "initialize",
        "ping",
        "tools/list",
        "resources/list",
        "resources/read",
        "prompts/get",
        "logging/setLevel",
        "tasks/get",
        "completion/complete",
    ] {
        let properties = json!({"uri": {"type": "string"}, "name": {"type": "string"}, "cursor": {"type": "string"},
            "protocolVersion": {"type": "string"}, "taskId": {"type": "string"}, "level": {"type": "string"}});
        offers.push(offer(method, "", &json!({ "properties": properties })));
    }
    Ok(offers)
}

/// Sends one request as one client. Returns the status of the answer.
fn send(server: &Server, random: &mut Random) -> String {
    let offer = &server.offers[random.below(server.offers.len())];
    let mut bytes = Vec::new();
    if offer.verb.is_empty() && !random.one_in(10) {
        let login = json!({"jsonrpc": "2.0", "id": 0, "method": "auth.login", "params": {"token": server.token}});
        bytes = format!("{login}\n").into_bytes();
    }
    bytes.extend(offer.request(&server.address, &server.token, random));
    answer(server, &bytes, random).unwrap_or_else(|_| "-".to_owned())
}

/// Sends the bytes in one piece or two, and reads until the answer ends.
fn answer(server: &Server, bytes: &[u8], random: &mut Random) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(&server.address)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(ANSWER))?;
    stream.set_write_timeout(Some(ANSWER))?;
    let (first, second) =
        bytes.split_at(if random.one_in(3) { random.below(bytes.len()) } else { bytes.len() });
    stream.write_all(first)?;
    stream.write_all(second)?;
    if random.one_in(20) {
        // The client leaves without reading.
        return Ok("left".to_owned());
    }
    if random.one_in(20) {
        stream.shutdown(Shutdown::Write)?;
    }
    let is_http = !server.offers.first().is_some_and(|offer| offer.verb.is_empty());
    let (mut read, mut piece) = (Vec::new(), vec![0; 1 << 16]);
    while read.len() < LONGEST_ANSWER {
        match stream.read(&mut piece) {
            Ok(count) if count > 0 => read.extend_from_slice(&piece[..count]),
            _ => break,
        }
        let lines = read.iter().filter(|byte| **byte == b'\n').count();
        if !is_http && lines >= 2 {
            break;
        }
    }
    let text = String::from_utf8_lossy(&read);
    Ok(match is_http {
        true => text.split(' ').nth(1).unwrap_or("-").to_owned(),
        false => {
            match text.lines().last().and_then(|line| serde_json::from_str::<Value>(line).ok()) {
                Some(reply) if reply["error"].is_null() => "result".to_owned(),
                Some(reply) => reply["error"]["code"].to_string(),
                None => "-".to_owned(),
            }
        }
    })
}

/// The resources of the instance and of the hub.
fn used(fleet: &Fleet) -> Result<[Resources; 2]> {
    Ok([fleet.unterm.resources()?, Resources::of(fleet.hub_id()?)?])
}

/// Lets agents act again. A request may have paused them, and the check's own calls would wait for the user.
fn resume_agents(fleet: &Fleet) -> Result<()> {
    let bearer = format!("Bearer {}", token(fleet)?);
    let headers = [("Authorization", bearer.as_str())];
    let body = json!({"paused": false}).to_string();
    let (status, text) =
        request(&settings_address(fleet), "POST", "/api/agents/pause", &headers, &body)?;
    ensure!(status == 200, "{status}: {text}");
    Ok(())
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

/// Checks that both programs are well.
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
