//! Tests that tokens without full rights do not reveal other programs' windows, environment variables and the passwords
//! of proxies.

use std::{
    path::Path,
    sync::{Arc, Mutex},
};

use crate::support::{self, Fixture, Wire, page::Page};
use serde_json::{Value, json};
use unterm_control::{
    Access, Captures, Clip, Host, HostRequest, METHODS, OnDisplay, Preferences, Subjects,
};
use unterm_mux::Pane;

/// A host with a display, and with preferences that contain a secret.
#[derive(Default)]
struct Desk {
    asked: Mutex<Vec<OnDisplay>>,
}

struct DeskHost(Arc<Desk>);

impl Host for DeskHost {
    fn has_window(&self) -> bool {
        true
    }
    fn instance_title_changed(&self, _: Option<&str>) {}
    fn ask(&self, _: HostRequest) {}
    fn captures(&self) -> Option<Arc<dyn Captures>> {
        Some(self.0.clone())
    }
    fn preferences(&self) -> Option<Arc<dyn Preferences>> {
        Some(self.0.clone())
    }
}

impl Captures for Desk {
    fn panes(&self, _: &[Arc<Pane>]) -> Result<Vec<u8>, String> {
        Ok(vec![0; 24])
    }
    fn display(&self, what: &OnDisplay, file: &Path) -> Result<bool, String> {
        self.asked.lock().unwrap().push(what.clone());
        std::fs::write(file, [0; 24]).map_err(|error| error.to_string())?;
        Ok(true)
    }
    fn clipboard(&self) -> Result<Clip, String> {
        Ok(Clip::Text("copied".to_owned()))
    }
    fn stamp(&self) -> String {
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed).to_string()
    }
}

impl Preferences for Desk {
    fn get(&self) -> Result<Value, String> {
        Ok(json!({"theme": "nord", "env": {"API_KEY": "hunter2", "EMPTY": ""}}))
    }
    fn set(&self, _: &str, _: &Value) -> Result<(), String> {
        Err("not here".to_owned())
    }
    fn describe(&self) -> unterm_control::Described {
        let defaults = json!({"theme": "standard", "env": {}});
        unterm_control::Described { defaults, ..unterm_control::Described::default() }
    }
}

fn fixture() -> (Fixture, Arc<Desk>) {
    let desk = Arc::new(Desk::default());
    (Fixture::hosted(Arc::new(DeskHost(desk.clone())), Vec::new()), desk)
}

fn out_of_scopes(what: &str) -> String {
    format!("Not allowed: {what} is out of the token's scopes")
}

#[test]
fn calls_beyond_a_tokens_scope_are_refused() {
    let (fixture, desk) = fixture();
    let mut user = fixture.login();
    let (mut reader, _) = fixture.login_with(&mut user, json!({"name": "r", "scope": "read"}));
    let (mut actor, _) = fixture.login_with(&mut user, json!({"name": "a", "scope": "act"}));
    let refused = |wire: &mut Wire, most: Access| -> Vec<&str> {
        let more = METHODS.iter().filter(|entry| entry.access > most).map(|entry| entry.name);
        more.inspect(|name| assert_eq!(wire.fail(name, json!({})), out_of_scopes(name))).collect()
    };
    let of_reader = refused(&mut reader, Access::Read);
    let of_actor = refused(&mut actor, Access::Act);
    for name in [
        "session.env",
        "session.lend_nonce",
        "capture.screen",
        "capture.select",
        "capture.clipboard",
    ] {
        assert!(of_reader.contains(&name) && of_actor.contains(&name), "{name}");
    }
    assert!(of_reader.contains(&"session.input") && !of_actor.contains(&"session.input"));
    assert_eq!(*desk.asked.lock().unwrap(), []);
}

#[test]
fn variables_of_programs_take_admin() {
    let fixture = Fixture::new();
    let mut user = fixture.login();
    let session = fixture.program(&mut user, "cat", &[]);
    let own = json!({"id": session.id, "name": "TERM"});
    assert_eq!(user.call("session.env", own.clone())["value"], "xterm-256color");
    for token in [
        json!({"name": "r", "scope": "read"}),
        json!({"name": "a", "scope": "act"}),
        json!({"name": "b", "scope": "act", "panes": [session.id]}),
    ] {
        let (mut wire, _) = fixture.login_with(&mut user, token);
        assert_eq!(wire.fail("session.env", own.clone()), out_of_scopes("session.env"));
    }
    // A token with admin access to one session can read the variables of that session.
    let bound = json!({"name": "admin", "scope": "admin", "panes": [session.id]});
    let (mut wire, _) = fixture.login_with(&mut user, bound);
    assert_eq!(wire.call("session.env", own)["source"], "process");
    let other = fixture.program(&mut user, "cat", &[]);
    let other = wire.fail("session.env", json!({"id": other.id, "name": "TERM"}));
    assert_eq!(other, "Not allowed: session.env is out of the token's sessions");
}

#[test]
fn only_admin_sees_what_is_on_the_display() {
    let (fixture, desk) = fixture();
    let mut user = fixture.login();
    let session = fixture.program(&mut user, "cat", &[]);
    user.call("session.rename", json!({"id": session.id, "title": "mine"}));
    let (mut reader, _) = fixture.login_with(&mut user, json!({"name": "r", "scope": "read"}));
    let (mut actor, _) = fixture.login_with(&mut user, json!({"name": "a", "scope": "act"}));
    for wire in [&mut reader, &mut actor] {
        // Callers with read access may take pictures of sessions.
        for own in [json!({}), json!({"title": "mine"}), json!({"title": session.id.to_string()})] {
            let taken = wire.call("capture.window", own);
            assert_eq!(taken["session_id"], session.id.to_string());
            assert_eq!(taken["image"]["source"], "sessions");
        }
        wire.call("screen.png", json!({"id": session.id}));
        for foreign in
            [json!({"title": "Bank"}), json!({"pid": 1}), json!({"title": "mine", "pid": 1})]
        {
            let why = wire.fail("capture.window", foreign);
            assert_eq!(why, out_of_scopes("a picture of the display"));
        }
        for method in ["capture.screen", "capture.select"] {
            for params in [json!({}), json!({"interactive": true})] {
                assert_eq!(wire.fail(method, params), out_of_scopes(method));
            }
        }
        let tested = wire.call("selftest.run", json!({}));
        assert_eq!(tested["ok"], true, "{tested}");
    }
    assert_eq!(*desk.asked.lock().unwrap(), []);
    let (mut admin, _) = fixture.login_with(&mut user, json!({"name": "all", "scope": "admin"}));
    assert_eq!(admin.call("capture.window", json!({"title": "Bank"}))["text_snapshot"], false);
    assert_eq!(desk.asked.lock().unwrap().len(), 1);
}

#[test]
fn the_users_variables_are_hidden_below_admin() {
    let (fixture, _) = fixture();
    let mut user = fixture.login();
    let page = Page::of(&fixture);
    let (mut actor, made) = fixture.login_with(&mut user, json!({"name": "a", "scope": "act"}));
    let lesser = page.with_token(&made["token"]);
    let hidden = json!({"API_KEY": "***", "EMPTY": "***"});
    assert_eq!(actor.call("config.get", json!({"key": "env.API_KEY"}))["value"], "***");
    assert_eq!(actor.call("config.get", json!({"key": "env"}))["value"], hidden);
    let all = json!({"theme": "nord", "env": hidden});
    assert_eq!(actor.call("config.get", json!({}))["value"], all);
    assert_eq!(lesser.get("/api/settings")["settings"], all);
    assert_eq!(lesser.get("/api/settings/env")["values"], hidden);
    // Callers with full access see the values.
    assert_eq!(user.call("config.get", json!({"key": "env.API_KEY"}))["value"], "hunter2");
    assert_eq!(page.get("/api/settings")["settings"]["env"]["API_KEY"], "hunter2");
    assert_eq!(page.get("/api/settings/env")["values"]["API_KEY"], "hunter2");
}

#[test]
fn the_log_has_names_of_variables_but_not_their_values() {
    let (fixture, _) = fixture();
    let mut user = fixture.login();
    let page = Page::of(&fixture);
    // The log contains the names of the call's parameters, even if the preferences file can't be changed.
    let _ = user.reply("config.set", json!({"key": "env.API_KEY", "value": "hunter2"}));
    let _ = page.ask("PUT", "/api/settings/env", Some(json!({"PLAIN": "hunter2"})));
    let patterns = json!({"redaction": {"enabled": true, "custom_patterns": ["hunter2"]}});
    let _ = page.ask("PUT", "/api/settings/recording", Some(patterns));
    let (mut reader, _) = fixture.login_with(&mut user, json!({"name": "r", "scope": "read"}));
    let log = reader.call("session.audit_log", json!({})).to_string();
    assert!(!log.contains("hunter2"), "{log}");
    for logged in ["env.API_KEY", "env: PLAIN", "settings.set_recording"] {
        assert!(log.contains(logged), "{logged}: {log}");
    }
}

#[test]
fn passwords_of_proxies_are_masked_below_admin() {
    let (fixture, _) = fixture();
    let mut user = fixture.login();
    let page = Page::of(&fixture);
    let url = |name: &str| format!("http://{name}:hunter2@127.0.0.1:9");
    let set = json!({
        "http_proxy": url("joe"),
        "socks_proxy": "socks5://joe:hunter2@127.0.0.1:9",
        "nodes": [{"name": "near", "url": url("jane")}],
        "current_node": "near",
    });
    user.call("proxy.configure", set.clone());
    page.send("POST", "/api/proxy", json!({"http_proxy": url("joe")}));
    page.send("PUT", "/api/proxy/nodes", set);
    let masked = "http://***@127.0.0.1:9";
    let hints_at =
        |text: &str| text.contains("hunter2") || text.contains("joe") || text.contains("jane");

    let (mut reader, made) = fixture.login_with(&mut user, json!({"name": "r", "scope": "read"}));
    let lesser = page.with_token(&made["token"]);
    let status = reader.call("proxy.status", json!({}));
    assert_eq!((&status["http_proxy"], &status["health"]["url"]), (&json!(masked), &json!(masked)));
    assert!(status["health"]["hint"].as_str().unwrap().contains(masked), "{status}");
    assert_eq!(reader.call("proxy.nodes", json!({}))["nodes"][0]["url"], masked);
    let env = reader.call("proxy.env", json!({}))["env"].take();
    assert_eq!(
        (&env["HTTP_PROXY"], &env["ALL_PROXY"]),
        (&json!(masked), &json!("socks5://***@127.0.0.1:9"))
    );
    // Tests all other methods that reveal proxies, and the audit log.
    let of_proxies = METHODS.iter().filter(|entry| entry.reveals.contains(Subjects::PROXY));
    let readable = of_proxies.filter(|entry| entry.access == Access::Read).map(|entry| entry.name);
    let mut told: Vec<(String, String)> =
        readable.map(|name| (name.to_owned(), reader.call(name, json!({})).to_string())).collect();
    assert!(told.iter().any(|(name, _)| name == "selftest.run"));
    told.push(("log".to_owned(), reader.call("session.audit_log", json!({})).to_string()));
    for path in
        ["/api/state", "/api/settings/proxy", "/api/proxy/nodes", "/api/proxy/env", "/api/agents"]
    {
        told.push((path.to_owned(), lesser.get(path).to_string()));
    }
    // The file is written with a delay.
    let written = support::until("the file of the log", || {
        let text = std::fs::read_to_string(fixture.registry().join("audit.jsonl")).ok()?;
        (text.matches("proxy.configure").count() == 3).then_some(text)
    });
    told.push(("the file of the log".to_owned(), written));
    for (what, text) in told {
        assert!(!hints_at(&text), "{what}: {text}");
    }
    // Callers with full access see the passwords.
    assert_eq!(user.call("proxy.status", json!({}))["http_proxy"], url("jane"));
    assert_eq!(user.call("proxy.nodes", json!({}))["nodes"][0]["url"], url("jane"));
    assert_eq!(user.call("proxy.env", json!({}))["env"]["HTTP_PROXY"], url("jane"));
    assert_eq!(page.get("/api/state")["proxy"]["http_proxy"], url("jane"));
}

#[test]
fn events_for_a_page_end_with_its_token() {
    use std::io::{BufRead, BufReader, Write};

    let (fixture, _) = fixture();
    let mut user = fixture.login();
    let session = fixture.program(&mut user, "cat", &[]);
    let page = Page::of(&fixture);
    let (_wire, bound) = fixture.login_with(&mut user, json!({"name": "b", "panes": [session.id]}));
    let bound = page.with_token(&bound["token"]).ask("GET", "/api/events", None);
    assert_eq!(bound.status, 403, "they are of all sessions");

    let (_wire, made) = fixture.login_with(&mut user, json!({"name": "r", "scope": "read"}));
    let mut stream = page.connect();
    let token = made["token"].as_str().unwrap();
    let request = format!(
        "GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\
         Authorization: Bearer {token}\r\n\r\n",
        page.port
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut lines = BufReader::new(stream).lines();
    assert!(lines.any(|line| line.unwrap() == "event: ready"));
    user.call("token.revoke", json!({"number": made["number"]}));
    // The server notices the revoked token at the next change.
    user.call("session.rename", json!({"id": session.id, "title": "unheard"}));
    for line in lines {
        line.expect("the stream ends");
    }
}

#[test]
fn patterns_of_secrets_take_admin() {
    let (fixture, _) = fixture();
    let mut user = fixture.login();
    let page = Page::of(&fixture);
    let (_wire, made) = fixture.login_with(&mut user, json!({"name": "a", "scope": "act"}));
    let reply = page.with_token(&made["token"]).ask("GET", "/api/settings/recording", None);
    assert_eq!(reply.status, 403, "{}", reply.body);
    assert_eq!(page.ask("GET", "/api/settings/recording", None).status, 200);
}

#[test]
fn no_token_for_agents_ends_the_pause() {
    let fixture = Fixture::new();
    let mut user = fixture.login();
    let page = Page::of(&fixture);
    let (_wire, made) = fixture.login_with(&mut user, json!({"name": "x", "scope": "admin"}));
    page.send("POST", "/api/agents/pause", json!({"paused": true}));
    let agent = page.with_token(&made["token"]);
    let (status, why) = agent.refused("POST", "/api/agents/pause", json!({"paused": false}));
    assert_eq!((status, &*why), (403, "Not allowed: agents.pause is not for agents' tokens"));
    assert_eq!(page.get("/api/agents")["paused"], true);
    page.send("POST", "/api/agents/pause", json!({"paused": false}));
}

#[test]
fn a_token_for_one_session_writes_no_file_of_any_path() {
    let fixture = Fixture::new();
    let mut user = fixture.login();
    let session = fixture.program(&mut user, "cat", &[]);
    let token = json!({"name": "b", "scope": "admin", "panes": [session.id]});
    let (mut wire, _) = fixture.login_with(&mut user, token);
    let path = fixture.home.path().join("page.md");
    let export = json!({"id": session.id, "path": path});
    let refused = wire.fail("session.export_markdown", export.clone());
    assert_eq!(refused, "Not allowed: session.export_markdown is out of the token's sessions");
    assert!(!path.exists());
    user.call("session.export_markdown", export);
    assert!(path.exists());
}
