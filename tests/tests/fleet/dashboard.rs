//! Tests of the dashboard: access to it, its contents, and the user's actions there.

use anyhow::{Context as _, Result, ensure};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use unterm_tests::{
    fleet::{Agent, Events, Fleet, Visitor, request},
    wait_for,
};

use super::{CONVERSATION, approved, send};

/// Requests that require a sign-in. Requests that change something are at the end.
const REQUESTS: [(&str, &str); 18] = [
    ("GET", "/api/overview"),
    ("GET", "/api/events"),
    ("GET", "/api/audit"),
    ("GET", "/api/audit/export?format=csv"),
    ("GET", "/api/sessions/live?machine=0123456789ab&sid=0123456789ab"),
    ("POST", "/api/logout"),
    ("POST", "/api/conversations/decide"),
    ("POST", "/api/stop"),
    ("POST", "/api/tokens"),
    ("POST", "/api/tokens/revoke"),
    ("POST", "/api/machines/invite"),
    ("POST", "/api/machines/remove"),
    ("POST", "/api/lines/release"),
    ("POST", "/api/lines/drop"),
    ("POST", "/api/passkeys"),
    ("POST", "/api/passkeys/begin"),
    ("POST", "/api/passkeys/remove"),
    ("POST", "/api/sessions/type"),
];

fn with_secret(fleet: &Fleet, secret: String) -> Result<Visitor> {
    let mut visitor = fleet.sign_in(&[])?;
    visitor.secret = secret;
    Ok(visitor)
}

/// A visitor who has not signed in.
fn not_signed_in(fleet: &Fleet) -> Result<Visitor> {
    with_secret(fleet, format!("unvi_{}", "0".repeat(48)))
}

#[test]
fn requests_need_a_sign_in_and_read_only_ones_change_nothing() -> Result<()> {
    let Some(fleet) = Fleet::start(&[])? else { return Ok(()) };
    let (stranger, looker) = (not_signed_in(&fleet)?, fleet.sign_in(&["--read-only"])?);
    for (method, path) in REQUESTS {
        assert_eq!(stranger.ask(method, path, &json!({}))?.0, 401, "{method} {path}");
        if method == "POST" && path != "/api/logout" {
            assert_eq!(looker.ask(method, path, &json!({}))?.0, 403, "{method} {path}");
        }
    }
    // An agent's token is not a sign-in, and a sign-in is not an agent's token.
    let agent = with_secret(&fleet, fleet.token(&[])?)?;
    assert_eq!(agent.ask("GET", "/api/overview", &Value::Null)?.0, 401);
    assert!(Agent::connect(fleet.address(), &looker.secret).is_err());

    let overview = looker.get("/api/overview")?;
    assert_eq!((&overview["may_act"], &overview["stopped"]), (&json!(false), &json!(false)));
    assert_eq!(overview["machines"][0]["id"], fleet.machine()?);
    assert_eq!(overview["machines"][0]["sessions"][0]["instance"], "alpha");
    looker.post("/api/logout", &json!({}))?;
    assert_eq!(looker.ask("GET", "/api/overview", &Value::Null)?.0, 401);
    Ok(())
}

#[test]
fn a_code_signs_in_once_and_only_from_the_hubs_own_page() -> Result<()> {
    let Some(fleet) = Fleet::start(&[])? else { return Ok(()) };
    let code = fleet.admin(&["login"])?["code"].take();
    let login = json!({ "code": code }).to_string();
    for (name, value) in [
        ("Origin", "http://example.org"),
        ("Origin", "null"),
        ("Origin", "http://127.0.0.1:1"),
        ("Host", "example.org"),
    ] {
        let (status, body) = fleet.post_page("/api/login", &[(name, value)], &login)?;
        assert_eq!(status, 403, "{name}: {value}: {body}");
    }
    let own = format!("http://{}", fleet.page());
    let headers = [("Origin", own.as_str())];
    let lower = json!({ "code": code.as_str().map(str::to_lowercase) }).to_string();
    assert_eq!(fleet.post_page("/api/login", &headers, &lower)?.0, 200);
    let (status, body) = fleet.post_page("/api/login", &headers, &login)?;
    assert_eq!(status, 401, "{body}");
    assert_eq!(body, r#"{"error":"The code is wrong, was used or has expired"}"#);
    // Passkeys are bound to the host name, so the dashboard uses the name instead of the address.
    assert_eq!(fleet.page(), fleet.address().replace("127.0.0.1", "localhost"));
    assert_eq!(fleet.post("/api/login", &[], &login)?.0, 307);
    // Any page can send a form, but a form has another content type, so it is refused.
    let plain = [("Content-Type", "text/plain")];
    assert!(fleet.post_page("/api/login", &plain, &login)?.0 >= 400);
    Ok(())
}

/// Waits for an event of this kind about a call.
fn wait_for_call(events: &mut Events, event: &str) -> Result<Value> {
    loop {
        let (kind, data) = events.event()?;
        if kind == "call" {
            let entry: Value = serde_json::from_str(&data)?;
            if entry["event"] == event {
                return Ok(entry);
            }
        }
    }
}

#[test]
fn a_user_sees_each_call_live_and_decides() -> Result<()> {
    let Some(mut fleet) = Fleet::start(&[])? else { return Ok(()) };
    let visitor = fleet.sign_in(&[])?;
    let mut events = visitor.stream("/api/events")?;
    // From now on, the stream contains every event.
    while events.event()? != ("changed".to_owned(), "machines".to_owned()) {}
    let mut agent = Agent::connect(fleet.address(), &fleet.token(&[])?)?;
    let machine = fleet.machine()?;
    let session = agent.session(&machine)?;
    agent.call("send_to_session", send(&machine, &session, "echo $((6 * 7))"))?;
    let pending = wait_for_call(&mut events, "pending")?;
    assert!(pending["detail"].as_str().unwrap_or_default().contains("echo $((6 * 7))\\r"));

    let conversation = visitor.get("/api/overview")?["conversations"][0].take();
    assert_eq!(
        (&conversation["id"], &conversation["state"]),
        (&json!(CONVERSATION), &json!("pending"))
    );
    let decide = |decision: &str| {
        let body = json!({"key": conversation["key"], "decision": decision});
        visitor.post("/api/conversations/decide", &body)
    };
    decide("approve")?;
    assert_eq!(wait_for_call(&mut events, "decided")?["tool"], "approve");
    decide("pause")?;
    let held = agent.call("send_to_session", send(&machine, &session, "echo $((6 * 7))"))?;
    assert!(held.text.starts_with("[held: "), "{held:?}");
    wait_for_call(&mut events, "held")?;
    assert_eq!(visitor.get("/api/overview")?["conversations"][0]["held"], 1);
    decide("resume")?;
    assert_eq!(wait_for_call(&mut events, "done")?["tool"], "send_to_session");
    let pane = fleet.unterm.first_pane()?;
    pane.wait(&mut fleet.unterm, "the sum", |lines| lines.iter().any(|line| line == "42"))?;

    let wrong = json!({"key": "x", "decision": "approve"});
    assert_eq!(visitor.ask("POST", "/api/conversations/decide", &wrong)?.0, 409);
    let wrong = json!({"key": conversation["key"], "decision": "forget"});
    assert_eq!(visitor.ask("POST", "/api/conversations/decide", &wrong)?.0, 400);
    Ok(())
}

#[test]
fn the_emergency_stop_refuses_every_call_of_every_agent() -> Result<()> {
    let Some(fleet) = Fleet::start(&[])? else { return Ok(()) };
    let (mut agent, machine, session) = approved(&fleet)?;
    let visitor = fleet.sign_in(&[])?;
    fleet.admin(&["pause", CONVERSATION])?;
    agent.call("send_to_session", send(&machine, &session, "touch held\n"))?;
    visitor.post("/api/stop", &json!({"stopped": true}))?;
    fleet.admin(&["resume", CONVERSATION])?;
    assert_eq!(visitor.get("/api/overview")?["stopped"], true);
    for (tool, arguments) in [
        ("list_machines", json!({})),
        ("read_session_output", json!({"machine_id": machine, "session_id": session})),
        ("send_to_session", send(&machine, &session, "touch new\n")),
    ] {
        let refused = agent.call(tool, arguments)?;
        assert_eq!(refused.text, "[error: the user has stopped all agents]", "{tool}");
    }
    let hub = fleet.second_hub()?;
    let mut second = Agent::connect(hub.address(), &fleet.token(&[])?)?;
    let refused = second.call("list_machines", json!({}))?;
    assert_eq!(refused.text, "[error: the user has stopped all agents]");
    let home = fleet.unterm.home();
    assert!(!home.join("held").exists() && !home.join("new").exists());
    fleet.admin(&["start-agents"])?;
    fleet.wait_for_flow(CONVERSATION)?;
    wait_for("the held call", || Ok(home.join("held").exists().then_some(())), String::new)?;
    assert!(!home.join("new").exists());
    agent.call("list_machines", json!({}))?.json()?;
    Ok(())
}

/// The bytes of a live view up to a text, and how often the view started from the beginning.
fn see(events: &mut Events, text: &str) -> Result<String> {
    let mut seen = String::new();
    loop {
        let (kind, data) = events.event()?;
        let bytes = match kind.as_str() {
            "screen" => {
                seen.clear();
                let screen: Value = serde_json::from_str(&data)?;
                STANDARD.decode(screen["data"].as_str().context("no data")?)?
            }
            "bytes" => STANDARD.decode(data)?,
            "end" => return Ok(format!("{seen}end: {data}")),
            _ => continue,
        };
        seen += &String::from_utf8_lossy(&bytes);
        if seen.contains(text) {
            return Ok(seen);
        }
    }
}

#[test]
fn a_user_watches_a_pane_live_and_types_in_it() -> Result<()> {
    let Some(mut fleet) = Fleet::start(&[])? else { return Ok(()) };
    let (visitor, machine) = (fleet.sign_in(&[])?, fleet.machine()?);
    let sid = visitor.get("/api/overview")?["machines"][0]["sessions"][0]["sid"].take();
    let sid = sid.as_str().context("no session")?;
    let path = format!("/api/sessions/live?machine={machine}&sid={sid}");
    let (mut first, mut second) = (visitor.stream(&path)?, visitor.stream(&path)?);
    see(&mut first, "\u{1b}")?;
    let typing = |text: &str| {
        visitor.post("/api/sessions/type", &json!({"machine": machine, "sid": sid, "text": text}))
    };
    for part in ["echo ", "$((", "6 * 7", "))\r"] {
        typing(part)?;
    }
    for events in [&mut first, &mut second] {
        let seen = see(events, "42")?;
        ensure!(seen.contains("42"), "{seen}");
    }
    let log = visitor.get("/api/audit?search=type")?["entries"].take();
    assert_eq!(log.as_array().map(Vec::len), Some(1), "{log}");
    assert_eq!(log[0]["detail"], format!("{machine} {sid}"));

    // If output comes faster than a page can show it, the page still sees the end of the output.
    typing("yes | head -n 300000; echo over$((1))\r")?;
    let seen = see(&mut first, "over1")?;
    ensure!(seen.len() < 1 << 20, "a screen, not all of it: {}", seen.len());
    let pane = fleet.unterm.first_pane()?;
    pane.wait_for_prompt(&mut fleet.unterm)?;
    typing("exit\r")?;
    let seen = see(&mut first, "never")?;
    ensure!(seen.ends_with("end: the session has ended"), "{seen}");
    for (wrong, why) in [
        (format!("/api/sessions/live?machine={machine}&sid=*"), 400),
        (format!("/api/sessions/live?machine=x&sid={sid}"), 400),
    ] {
        assert_eq!(visitor.ask("GET", &wrong, &Value::Null)?.0, why, "{wrong}");
    }
    let gone = format!("/api/sessions/live?machine=0123456789ab&sid={sid}");
    assert_eq!(visitor.ask("GET", &gone, &Value::Null)?.0, 409);
    Ok(())
}

#[test]
fn a_user_manages_tokens_machines_and_the_log() -> Result<()> {
    let Some(fleet) = Fleet::start(&[])? else { return Ok(()) };
    let (visitor, machine) = (fleet.sign_in(&[])?, fleet.machine()?);
    let make =
        json!({"name": "ci", "machines": [machine], "rights": ["list"], "expires_seconds": 60});
    let made = visitor.post("/api/tokens", &make)?;
    let mut agent = Agent::connect(fleet.address(), made["token"].as_str().context("no token")?)?;
    agent.call("list_machines", json!({}))?.json()?;
    let listed = visitor.get("/api/overview")?["tokens"][0].take();
    assert_eq!((&listed["name"], &listed["rights"]), (&json!("ci"), &json!(["list"])));
    assert!(listed["last_used"].is_string() && !listed.to_string().contains("hash"), "{listed}");
    visitor.post("/api/tokens/revoke", &json!({"id": made["id"]}))?;
    assert!(agent.call("list_machines", json!({})).is_err());

    let found = visitor.get("/api/audit?search=LIST_machines&limit=1")?;
    assert_eq!(found["entries"][0]["tool"], "list_machines");
    assert_eq!(visitor.get("/api/audit?search=absent%20text")?["entries"], json!([]));
    let (status, csv) = visitor.ask("GET", "/api/audit/export?format=csv", &Value::Null)?;
    let csv = csv.as_str().unwrap_or_default();
    assert!(status == 200 && csv.contains("at,event,call,tool"), "{csv}");
    assert!(csv.contains("\"list_machines\""), "{csv}");

    // When a machine disconnects, it is immediately shown as offline.
    let mut other = fleet.add_machine(&[])?;
    let id = other.id.clone();
    let status = |wanted: &str| {
        let overview = visitor.get("/api/overview")?;
        let machines = overview["machines"].as_array().context("no machines")?.clone();
        let is = |of: &Value| of["id"] == id && of["status"] == wanted;
        anyhow::Ok(machines.iter().any(is))
    };
    wait_for("a machine", || Ok(status("connected")?.then_some(())), String::new)?;
    let mut events = visitor.stream("/api/events")?;
    while events.event()? != ("changed".to_owned(), "stop".to_owned()) {}
    other.kill()?;
    while events.event()? != ("changed".to_owned(), "machines".to_owned()) {}
    wait_for("its end", || Ok(status("offline")?.then_some(())), String::new)?;
    let sid = "0123456789ab";
    let mut live = visitor.stream(&format!("/api/sessions/live?machine={}&sid={sid}", other.id))?;
    assert_eq!(live.event()?, ("end".to_owned(), "connector_offline".to_owned()));
    visitor.post("/api/machines/remove", &json!({"id": other.id}))?;
    let typing = json!({"machine": other.id, "sid": sid, "text": "x"});
    assert_eq!(visitor.ask("POST", "/api/sessions/type", &typing)?.0, 409);
    let log = visitor.get("/api/audit")?.to_string();
    for change in ["sign-in", "token-create", "token-revoke", "machine-pair", "machine-remove"] {
        assert!(log.contains(change), "{change}: {log}");
    }
    assert_eq!(visitor.ask("POST", "/api/machines/remove", &json!({"id": other.id}))?.0, 409);
    Ok(())
}

#[test]
fn two_hundred_viewers_of_a_flood_cost_the_hub_bounded_memory() -> Result<()> {
    const MOST_MIB: u64 = 64;
    let Some(mut fleet) = Fleet::start(&[])? else { return Ok(()) };
    let (visitor, machine) = (fleet.sign_in(&[])?, fleet.machine()?);
    let sid = visitor.get("/api/overview")?["machines"][0]["sessions"][0]["sid"].take();
    let path =
        format!("/api/sessions/live?machine={machine}&sid={}", sid.as_str().context("no sid")?);
    fleet.unterm.first_pane()?.type_text(&mut fleet.unterm, "yes\r")?;
    let gaps = |viewer: &mut Events, wanted| -> Result<()> {
        let mut seen = 0;
        while seen < wanted {
            seen += usize::from(viewer.event()?.0 == "gap");
        }
        Ok(())
    };
    let mut viewer = visitor.stream(&path)?;
    gaps(&mut viewer, 4)?;
    let before = fleet.hub_memory()?;
    let others = (0..199).map(|_| visitor.stream(&path)).collect::<Result<Vec<_>>>()?;
    // Most of the streams are not read.
    gaps(&mut viewer, 20)?;
    let after = fleet.hub_memory()?;
    ensure!(after < before + (MOST_MIB << 20), "{} MiB to {} MiB", before >> 20, after >> 20);
    for mut other in others.into_iter().take(5) {
        gaps(&mut other, 4)?;
    }
    Ok(())
}

#[test]
fn the_tokens_address_redirects_to_the_page() -> Result<()> {
    let Some(fleet) = Fleet::start(&[])? else { return Ok(()) };
    // The page first requests a sign-in, and then shows the tokens.
    for (address, expected) in [
        (fleet.page(), "/#tokens".to_owned()),
        (fleet.address(), format!("http://{}/#tokens", fleet.page())),
    ] {
        let (status, body) = request(address, "GET", "/profile/tokens", &[], "")?;
        assert_eq!(status, 307, "{body}");
        ensure!(body.contains(&format!("Use {expected}")), "{body}");
    }
    assert_eq!(request(fleet.page(), "GET", "/profile/other", &[], "")?.0, 404);
    Ok(())
}
