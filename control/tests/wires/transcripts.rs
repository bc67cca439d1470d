//! Tests every method over a real connection, and every documented error: parameters, shapes, types and messages.
//!
//! A shape is JSON. `"string"`, `"number"`, `"bool"` and `"any"` mean any value of that type. With a `?` after the
//! type, `null` is accepted, too. `"=text"` means that text. A list with one shape means one or more such elements, and
//! an empty list means any list. Numbers and booleans mean themselves. A reply may have more keys than its shape, but
//! not fewer.

use std::{
    collections::BTreeSet,
    path::Path,
    sync::{Arc, Mutex},
};

use crate::support::{Fixture, GROUPS, Wire, until};
use serde_json::{Value, json};
use unterm_control::{
    Acted, ActionInfo, Captures, Clip, Host, HostRequest, METHODS, OnDisplay, Preferences,
};
use unterm_mux::Pane;

/// The methods of the reference, except `auth.login`, which belongs to the connection.
const DOCUMENTED: [&str; 60] = [
    "capture.clipboard",
    "capture.screen",
    "capture.select",
    "capture.window",
    "exec.cancel",
    "exec.run",
    "exec.run_wait",
    "exec.send",
    "exec.status",
    "instance.focus",
    "instance.info",
    "instance.list",
    "instance.set_title",
    "orchestrate.broadcast",
    "orchestrate.launch",
    "orchestrate.wait",
    "policy.check",
    "policy.set",
    "proxy.configure",
    "proxy.disable",
    "proxy.env",
    "proxy.nodes",
    "proxy.speedtest",
    "proxy.status",
    "proxy.switch",
    "screen.cursor",
    "screen.detect_errors",
    "screen.read",
    "screen.scroll",
    "screen.search",
    "screen.text",
    "selftest.run",
    "server.capabilities",
    "server.health",
    "server.info",
    "session.audit_log",
    "session.create",
    "session.cwd",
    "session.destroy",
    "session.env",
    "session.export_markdown",
    "session.get",
    "session.history",
    "session.idle",
    "session.input",
    "session.list",
    "session.recording_attach_trace",
    "session.recording_list",
    "session.recording_read",
    "session.recording_start",
    "session.recording_status",
    "session.recording_stop",
    "session.resize",
    "session.set_env",
    "session.status",
    "signal.send",
    "system.info",
    "system.launch_admin",
    "workspace.list",
    "workspace.restore",
];
/// The last method of the reference, in alphabetical order.
const SAVE: &str = "workspace.save";

/// A host with a window, a display, a clipboard and preferences.
struct Desk {
    values: Mutex<Value>,
}

struct DeskHost(Arc<Desk>);

impl Host for DeskHost {
    fn has_window(&self) -> bool {
        true
    }
    fn instance_title_changed(&self, _: Option<&str>) {}
    fn ask(&self, request: HostRequest) {
        match request {
            HostRequest::Actions(answer) => {
                let info = ActionInfo {
                    name: "new_tab".into(),
                    title: "New Tab".into(),
                    doc: "Opens a tab.".into(),
                    argument: "".into(),
                    key: String::new(),
                };
                let _ = answer.send(vec![info]);
            }
            HostRequest::Raise(answer) => drop(answer.send(())),
            HostRequest::Act { answer, .. } => drop(answer.send(Ok(Acted::Done(true)))),
        }
    }
    fn preferences(&self) -> Option<Arc<dyn Preferences>> {
        Some(self.0.clone())
    }
    fn captures(&self) -> Option<Arc<dyn Captures>> {
        Some(self.0.clone())
    }
}

impl Preferences for Desk {
    fn get(&self) -> Result<Value, String> {
        Ok(self.values.lock().unwrap().clone())
    }
    fn set(&self, key: &str, value: &Value) -> Result<(), String> {
        self.values.lock().unwrap()[key] = value.clone();
        Ok(())
    }
}

impl Captures for Desk {
    fn panes(&self, _: &[Arc<Pane>]) -> Result<Vec<u8>, String> {
        Ok(b"a picture, of a kind".to_vec())
    }
    fn display(&self, _: &OnDisplay, file: &Path) -> Result<bool, String> {
        std::fs::write(file, "a picture, of a kind").map_err(|error| error.to_string())?;
        Ok(true)
    }
    fn clipboard(&self) -> Result<Clip, String> {
        Ok(Clip::Text("copied".to_owned()))
    }
    fn stamp(&self) -> String {
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let count = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        format!("20261122_041500_{count:03}")
    }
}

/// The reason that a value does not match a shape. `None` if the value matches.
fn misfit(value: &Value, shape: &Value, at: &str) -> Option<String> {
    let wrong = || Some(format!("{at}: {value} is not {shape}"));
    match shape {
        Value::String(shape) => {
            let (shape, or_null) = match shape.strip_suffix('?') {
                Some(shape) => (shape, true),
                None => (shape.as_str(), false),
            };
            let is_it = match shape {
                "string" => value.is_string(),
                "number" => value.is_number(),
                "bool" => value.is_boolean(),
                "any" => true,
                text => Some(text) == value.as_str().map(|it| format!("={it}")).as_deref(),
            };
            if is_it || or_null && value.is_null() { None } else { wrong() }
        }
        Value::Object(fields) => {
            let Some(object) = value.as_object() else { return wrong() };
            fields.iter().find_map(|(name, shape)| match object.get(name) {
                Some(value) => misfit(value, shape, &format!("{at}.{name}")),
                None => Some(format!("{at}.{name} is missing in {value}")),
            })
        }
        Value::Array(shapes) => {
            let Some(list) = value.as_array() else { return wrong() };
            match shapes.first() {
                None => None,
                Some(_) if list.is_empty() => wrong(),
                Some(shape) => list
                    .iter()
                    .enumerate()
                    .find_map(|(index, value)| misfit(value, shape, &format!("{at}[{index}]"))),
            }
        }
        same => {
            if same == value {
                None
            } else {
                wrong()
            }
        }
    }
}

/// A conversation with the server, and the methods called in it.
struct Transcript {
    wire: Wire,
    called: BTreeSet<String>,
}

impl Transcript {
    /// Makes a call that must succeed, and checks that the reply has this shape.
    fn call(&mut self, method: &str, params: Value, shape: Value) -> Value {
        let reply = self.wire.call(method, params.clone());
        if let Some(misfit) = misfit(&reply, &shape, method) {
            panic!("{method} {params}: {misfit}\n{reply:#}");
        }
        self.called.insert(method.to_owned());
        reply
    }

    /// Makes a call that must fail with this message, and with the only error code of methods.
    fn fail(&mut self, method: &str, params: Value, message: &str) {
        assert_eq!(self.wire.fail(method, params.clone()), message, "{method} {params}");
        self.called.insert(method.to_owned());
    }
}

#[test]
fn every_method_has_a_transcript() {
    let desk = Arc::new(Desk { values: Mutex::new(json!({"theme": "nord"})) });
    let fixture = Fixture::hosted(Arc::new(DeskHost(desk)), Vec::new());
    let mut wire = fixture.connect();
    assert_eq!(
        wire.reply("session.list", json!({}))["error"],
        json!({"code": -32002, "message": "Not authenticated. Call auth.login first"})
    );
    assert_eq!(
        wire.reply("auth.login", json!({"token": "wrong"}))["error"],
        json!({"code": -32001, "message": "Invalid auth token"})
    );
    let login = wire.call("auth.login", json!({"token": fixture.token()}));
    assert_eq!(login, json!({"status": "ok"}));
    let mut t = Transcript { wire, called: BTreeSet::new() };

    let shell = fixture.marked_shell(&mut t.wire);
    let id = shell.id;
    let only = json!({"id": id});
    sessions(&mut t, &fixture, id);
    commands(&mut t, id);
    screens(&mut t, id);
    recordings(&mut t, &fixture, id);
    instances(&mut t, &fixture);
    rules_and_files(&mut t, &fixture, id);
    beyond(&mut t, id);
    t.call("session.destroy", only.clone(), json!({"status": "=ok", "destroyed": true}));
    t.fail("session.destroy", only, &format!("Session {id} not found"));

    for name in DOCUMENTED.iter().chain([&SAVE]) {
        assert!(METHODS.iter().any(|entry| entry.name == *name), "{name} is documented");
    }
    let missing: Vec<_> =
        METHODS.iter().map(|entry| entry.name).filter(|name| !t.called.contains(*name)).collect();
    assert_eq!(missing, [""; 0], "these methods have no transcript");
}

fn sessions(t: &mut Transcript, fixture: &Fixture, id: u64) {
    let only = json!({"id": id});
    let cursor = json!({"x": "number", "y": "number", "visible": "bool"});
    let shell = json!({"shell_type": "=bash", "process_name": "string", "cwd": "string"});
    let session = json!({
        "id": id, "title": "string", "cols": 80, "rows": 24, "cursor": cursor, "is_dead": false,
        "domain_id": 0, "shell": shell,
    });
    t.call("session.list", json!({}), json!({"sessions": [session]}));
    let mut state = session.clone();
    state["scrollback_rows"] = json!("number");
    for name in ["session.get", "session.status"] {
        t.call(name, json!({"session_id": id.to_string()}), state.clone());
        t.fail(name, json!({}), "Missing 'id' or 'session_id' parameter");
        t.fail(name, json!({"session_id": "x"}), "Invalid session_id: \"x\"");
    }
    let created = t.call(
        "session.create",
        json!({"cols": 100, "rows": 20, "cwd": fixture.home.path(), "program": "cat"}),
        json!({"id": "number", "session_id": "string", "title": "string", "cols": 100, "rows": 20}),
    );
    assert_eq!(created["session_id"], created["id"].to_string());
    let no_place = "Invalid 'cwd': \"/no/place\" is not a directory";
    t.fail("session.create", json!({"cwd": "/no/place"}), no_place);
    let cat = json!({"id": created["id"]});
    t.call(
        "session.resize",
        json!({"id": created["id"], "cols": 90, "rows": 10}),
        json!({"status": "=ok"}),
    );
    t.fail("session.resize", json!({"id": id, "rows": 1}), "Missing 'cols'");
    t.call("session.cwd", cat.clone(), json!({"cwd": "string"}));
    t.call("session.idle", cat.clone(), json!({"idle": "bool", "foreground_process": "string"}));
    for name in ["session.input", "exec.send"] {
        t.call(name, json!({"id": created["id"], "input": "x"}), json!({"status": "=ok"}));
        t.fail(name, cat.clone(), "Missing 'input' parameter");
    }
    t.call("session.kill", cat.clone(), json!({"killed": true}));
    t.call("session.destroy", cat, json!({"status": "=ok", "destroyed": true}));
    t.call(
        "session.env",
        json!({"id": id, "name": "TERM"}),
        json!({"value": "=xterm-256color", "message": "string"}),
    );
    t.fail("session.env", only.clone(), "Missing 'name'");
    let set = json!({"id": id, "name": "OWN", "value": "1"});
    t.call("session.set_env", set, json!({"status": "=ok", "applied": true, "message": "string"}));
    t.fail("session.set_env", json!({"id": id, "name": "OWN"}), "Missing 'value'");
    t.call("session.lend_nonce", only, json!({"ticket": "string"}));
}

fn commands(t: &mut Transcript, id: u64) {
    let only = json!({"id": id});
    let run = json!({
        "output": "=1", "exit_status": "=completed", "timed_out": false, "marker": "string",
        "exit_code": 0, "exit_source": "=block",
    });
    t.call("exec.run_wait", json!({"id": id, "command": "echo $OWN"}), run);
    let slow = json!({"id": id, "command": "sleep 600", "timeout_ms": 50});
    t.call(
        "exec.run_wait",
        slow,
        json!({"exit_status": "=timeout", "timed_out": true, "exit_code": "any?"}),
    );
    // The command may not have reached the foreground within that time.
    until("the command runs", || {
        let status = t.wire.call("exec.status", only.clone());
        (status["status"] == "running").then_some(())
    });
    t.call(
        "exec.status",
        only.clone(),
        json!({"status": "=running", "foreground_process": "string"}),
    );
    t.call("exec.cancel", only.clone(), json!({"cancelled": true}));
    t.call(
        "session.wait",
        json!({"id": id, "any": [{"prompt": true}]}),
        json!({"matched": true, "timed_out": false, "conditions": [], "seq": "number"}),
    );
    t.call("exec.run", json!({"id": id, "command": "seq 100"}), json!({"sent": true}));
    for name in ["exec.run", "exec.run_wait"] {
        t.fail(name, only.clone(), "Missing 'command'");
    }
    t.call(
        "orchestrate.wait",
        json!({"id": id, "pattern": "100"}),
        json!({"matched": true, "pattern": "=100"}),
    );
    t.call(
        "orchestrate.wait",
        json!({"id": id, "pattern": "never there", "timeout_ms": 1}),
        json!({"matched": false, "timed_out": true, "pattern": "=never there"}),
    );
    for signal in ["SIGUSR1", "SIGTERM", "SIGKILL"] {
        let unsupported = format!("Unsupported signal: {signal}");
        t.fail("signal.send", json!({"id": id, "signal": signal}), &unsupported);
    }
    let launched = t.call(
        "orchestrate.launch",
        json!({"program": "cat", "cols": 50, "rows": 5}),
        json!({"id": "number", "session_id": "string", "title": "string", "cols": 50, "rows": 5}),
    );
    let to = json!([launched["session_id"], "9999", "x"]);
    let sent = t.call(
        "orchestrate.broadcast",
        json!({"command": "hi", "sessions": to}),
        json!({"results": [{"session_id": "string"}]}),
    );
    assert_eq!(sent["results"][0]["sent"], true);
    assert_eq!(sent["results"][1]["error"], "Session 9999 not found");
    assert_eq!(sent["results"][2]["error"], "Invalid session_id: \"x\"");
    t.call(
        "signal.send",
        json!({"id": launched["id"], "signal": "SIGINT"}),
        json!({"sent": true, "signal": "=SIGINT"}),
    );
    t.call("session.destroy", json!({"id": launched["id"]}), json!({"destroyed": true}));
}

fn screens(t: &mut Transcript, id: u64) {
    let only = json!({"id": id});
    t.wire.call("exec.run_wait", json!({"id": id, "command": "seq 100"}));
    t.call(
        "session.history",
        json!({"id": id, "limit": 5}),
        json!({"entries": [{"text": "string"}], "count": "number"}),
    );
    let cursor = json!({"x": "number", "y": "number", "visible": "bool"});
    t.call(
        "screen.read",
        only.clone(),
        json!({"cells": [{"row": "number", "text": "string", "line_id": "number"}], "cursor": cursor, "cols": 80, "rows": 24, "scrollback_rows": "number"}),
    );
    t.call("screen.text", only.clone(), json!({"lines": ["string"], "cursor": {"x": "number", "y": "number"}, "cols": 80, "rows": 24}));
    t.call(
        "screen.cursor",
        only.clone(),
        json!({"x": "number", "y": "number", "visible": "bool", "shape": "string"}),
    );
    t.call(
        "screen.scroll",
        json!({"id": id, "offset": 1, "count": 2}),
        json!({"lines": ["string"], "offset": 1, "count": 2}),
    );
    t.call(
        "screen.scroll",
        json!({"id": id, "offset": 1_000_000}),
        json!({"lines": [], "count": 0}),
    );
    t.call(
        "screen.search",
        json!({"id": id, "pattern": "99"}),
        json!({"matches": [{"row": "number", "text": "string"}], "total": "number"}),
    );
    t.fail("screen.search", only.clone(), "Missing 'pattern'");
    t.wire.call("exec.run_wait", json!({"id": id, "command": "clear; echo 'error: it broke'"}));
    t.call("screen.detect_errors", only, json!({"has_errors": true, "errors": [{"row": "number", "text": "string", "pattern": "=error:"}]}));
    let image = json!({"path": "string", "format": "=png", "size_bytes": "number"});
    t.call("capture.screen", json!({}), json!({"captures": [{"session_id": "string", "title": "string", "screen": "string", "type": "=text"}], "image": image, "type": "=image/png", "text_snapshot": true}));
    t.call("capture.window", json!({"include_base64": true}), json!({"session_id": "string", "title": "string", "screen": "string", "image": {"path": "string", "base64": "string"}, "type": "=image/png", "text_snapshot": true}));
    t.call("capture.select", json!({}), json!({"image": image, "type": "=image/png", "mode": "=screen_fallback", "message": "=Interactive region selection is not available in headless MCP mode; captured the screen instead."}));
    t.call("capture.clipboard", json!({}), json!({"type": "=text", "content": "=copied"}));
}

fn recordings(t: &mut Transcript, fixture: &Fixture, id: u64) {
    let only = json!({"id": id});
    t.call("session.recording_status", only.clone(), json!({"recording": false}));
    let not = format!("Session {id} is not being recorded");
    t.fail("session.recording_stop", only.clone(), &not);
    let started = t.call(
        "session.recording_start",
        only.clone(),
        json!({"session_id": "string", "log_path": "string", "md_path_when_done": "string"}),
    );
    t.call("session.recording_status", only.clone(), json!({"recording": true, "session_id": "string", "started_at": "string", "block_count": "number"}));
    t.call(
        "session.recording_attach_trace",
        json!({"id": id, "trace_id": "mine"}),
        json!({"trace_ids": ["=mine"]}),
    );
    t.fail("session.recording_attach_trace", only.clone(), "Missing 'trace_id'");
    t.call("session.recording_stop", only.clone(), json!({"session_id": "string", "ended_at": "string", "block_count": "number", "exit_reason": "=stopped", "md_path": "string"}));
    let row = json!({
        "unterm_session_id": "string", "tab_id": id, "project_path": "string?", "project_slug": "string?",
        "started_at": "string", "ended_at": "string", "block_count": "number", "bytes_raw": "number",
        "log_path": "string", "md_path": "string",
    });
    t.call("session.recording_list", json!({}), json!([row]));
    t.call(
        "session.recording_read",
        json!({"session_id": started["session_id"]}),
        json!({"markdown": "string"}),
    );
    t.fail("session.recording_read", json!({"session_id": "no"}), "Recording 'no' not found");
    let path = fixture.home.path().join("page.md");
    t.call("session.export_markdown", json!({"id": id, "path": path}), json!({"session_id": "string", "path": "string", "bytes": "number", "block_count": "number"}));
    let entry = json!({"timestamp": "string", "method": "string", "session_id": "string?", "detail": "string", "allowed": "bool"});
    t.call("session.audit_log", json!({"limit": 3}), json!([entry]));
}

fn instances(t: &mut Transcript, fixture: &Fixture) {
    let mut info = json!({
        "id": "=alpha", "pid": std::process::id(), "started_at": "string",
        "mcp_port": fixture.server().address().port(), "http_port": "number", "title": "string",
        "cwd": "string", "version": "string", "platform": "string",
    });
    t.call("instance.list", json!({}), json!({"instances": [info]}));
    info["auth_token"] = json!(format!("={}", fixture.token()));
    t.call("instance.info", json!({}), info);
    t.call("instance.set_title", json!({"title": "mine"}), json!({"ok": true, "title": "=mine"}));
    t.call("instance.set_title", json!({}), json!({"ok": true, "title": null}));
    t.call("instance.focus", json!({}), json!({"ok": true, "note": "string"}));
    t.fail("instance.attach", json!({}), "Missing 'programs'");
    t.fail("instance.hand_over", json!({}), "this instance does not wait for a window");
    t.fail("session.move_to_window", json!({}), "Missing 'id' or 'session_id' parameter");
    t.call("server.info", json!({}), json!({"name": "=Unterm MCP Server", "version": "string", "engine": "=Unterm", "protocol": "=json-rpc-2.0"}));
    t.call(
        "server.health",
        json!({}),
        json!({
            "status": "=ok", "engine": "=Unterm",
            "mcp": {"bind": "=127.0.0.1", "port": 19876, "bound_port": "number", "auth": "=token"},
            "mux": {"available": true, "pane_count": "number"},
            "terminal": {"initial_cols": 120, "initial_rows": 30, "color_scheme": "string", "term": "=xterm-256color"},
        }),
    );
    let groups: serde_json::Map<String, Value> =
        GROUPS.map(|group| (group.to_owned(), json!(["string"]))).into_iter().collect();
    t.call("server.capabilities", json!({}), groups.into());
    t.call("system.info", json!({}), json!({"name": "=Unterm", "version": "string", "engine": "=Unterm", "platform": "string", "arch": "string", "active_sessions": "number", "hostname": "string"}));
    t.fail(
        "system.launch_admin",
        json!({"dry_run": true}),
        "Administrator launch is only supported on Windows",
    );
    t.call(
        "selftest.run",
        json!({}),
        json!({"ok": true, "checks": [{"name": "string", "ok": true, "detail": "any"}]}),
    );
    t.fail("nope.nope", json!({}), "Unknown method: nope.nope");
}

fn rules_and_files(t: &mut Transcript, fixture: &Fixture, id: u64) {
    t.call(
        "policy.check",
        json!({"command": "sudo x"}),
        json!({"allowed": true, "reason": "=Policy disabled"}),
    );
    t.fail(
        "policy.set",
        json!({"blocked_patterns": [], "allowed_patterns": []}),
        "Invalid policy: missing field `enabled`",
    );
    let rules = json!({"enabled": true, "blocked_patterns": ["sudo "], "allowed_patterns": []});
    t.call("policy.set", rules, json!({"set": true}));
    t.call(
        "policy.check",
        json!({"command": "sudo x"}),
        json!({"allowed": false, "reason": "=Blocked by pattern: sudo "}),
    );
    for name in ["exec.run", "exec.run_wait"] {
        t.fail(name, json!({"id": id, "command": "sudo x"}), "Command blocked by policy: sudo ");
    }
    let refused =
        json!([{"session_id": "number", "line": "=sudo x", "rule": "=sudo ", "client": "string?"}]);
    t.call("policy.refused", json!({}), json!({"lines": refused}));
    t.call("policy.release", json!({"id": id, "line": "sudo x"}), json!({"released": true}));
    let none = json!({"enabled": false, "blocked_patterns": [], "allowed_patterns": []});
    t.call("policy.set", none, json!({"set": true}));

    let off = json!({
        "enabled": false, "mode": "=off", "http_proxy": "string?", "socks_proxy": "string?",
        "no_proxy": "string?", "current_node": "string?", "node_count": 0, "health": null,
    });
    t.call("proxy.status", json!({}), off);
    // No process listens on the discard port of the loopback address.
    let node = json!({"name": "a", "url": "http://127.0.0.1:9"});
    t.call("proxy.configure", json!({"nodes": [node], "no_proxy": "localhost"}), json!({"configured": true, "status": {"enabled": true, "mode": "=manual", "node_count": 1}}));
    t.call("proxy.nodes", json!({}), json!({"current_node": "string?", "nodes": [{"name": "=a", "url": "string", "latency_ms": "number?", "available": "bool?"}]}));
    t.call(
        "proxy.switch",
        json!({"node_name": "a"}),
        json!({"switched": true, "current_node": "=a", "http_proxy": "=http://127.0.0.1:9"}),
    );
    t.fail("proxy.switch", json!({"node_name": "b"}), "Proxy node 'b' not found");
    t.call("proxy.speedtest", json!({"timeout_ms": 100}), json!({"results": [{"name": "=a", "url": "string", "available": false, "latency_ms": "number?"}]}));
    t.call("proxy.status", json!({}), json!({"enabled": true, "health": {"source": "=manual", "url": "string", "reachable": false, "hint": "string"}}));
    t.call("proxy.env", json!({}), json!({"enabled": true, "env": {"HTTP_PROXY": "string", "HTTPS_PROXY": "string", "NO_PROXY": "=localhost"}}));
    t.call("proxy.disable", json!({}), json!({"disabled": true}));
    t.call("proxy.env", json!({}), json!({"enabled": false, "env": {}}));

    t.call(
        "workspace.save",
        json!({"name": "mine"}),
        json!({"saved": true, "name": "=mine", "sessions": 1}),
    );
    assert!(t.wire.fail("workspace.save", json!({"name": "../escape"})).contains("escape"));
    assert!(!fixture.registry().join("escape.json").exists());
    t.call("workspace.list", json!({}), json!({"workspaces": [{"name": "=mine"}]}));
    t.call(
        "workspace.restore",
        json!({"name": "mine"}),
        json!({
            "restored": true, "name": "=mine",
            "workspace": {"name": "=mine", "sessions": [{"id": id, "title": "string", "cwd": "string"}], "saved_at": "string"},
            "message": "=Workspace data loaded. Use session.create with cwd to recreate sessions.",
        }),
    );
}

/// Tests methods that are not in the reference.
fn beyond(t: &mut Transcript, id: u64) {
    let any = || json!("any");
    let split = t.call(
        "session.split",
        json!({"id": id, "program": "cat"}),
        json!({"id": "number", "tab_id": "number"}),
    );
    let other = split["id"].clone();
    t.call("session.paste", json!({"id": other, "text": "x"}), any());
    t.call("session.keys", json!({"id": other, "keys": ["enter"]}), any());
    t.call(
        "session.type",
        json!({"id": other, "text": "y", "keys": ["enter"]}),
        json!({"seq": "number", "sent": true}),
    );
    t.call("session.send_text", json!({"id": other, "text": "z"}), json!({"status": "=ok"}));
    t.call(
        "session.read_tail",
        json!({"id": other, "lines": 5}),
        json!({"lines": [], "count": "number", "seq": "number"}),
    );
    t.call("screen.read_raw", json!({"id": other}), json!({"base64": "string", "seq": "number"}));
    t.call(
        "session.watch",
        json!({"id": other, "any": [{"text": "y"}]}),
        json!({"matched": true, "timed_out": false, "conditions": [], "seq": "number"}),
    );
    t.call(
        "screen.find",
        json!({"id": other, "pattern": "Y", "ignore_case": true}),
        json!({"places": [{"row": "number", "col": "number", "end_row": "number", "end_col": "number", "text": "string"}], "seq": "number"}),
    );
    t.call(
        "session.mouse",
        json!({"id": other, "action": "press", "col": 1, "row": 1}),
        json!({"sent": false}),
    );
    t.call(
        "session.lease",
        json!({"id": other}),
        json!({"leased": true, "holder": "string", "ttl_ms": "number"}),
    );
    t.call("session.release", json!({"id": other}), json!({"released": true}));
    t.call("session.focus", json!({"id": id}), json!({"status": "=ok"}));
    t.call(
        "session.rename",
        json!({"id": other, "title": "named"}),
        json!({"status": "=ok", "title": "=named"}),
    );
    t.call("session.move", json!({"id": other, "new_tab": true}), json!({"status": "=ok"}));
    let blocks = t.call(
        "block.list",
        json!({"id": id}),
        json!({"blocks": [{"block": "number", "state": "string"}], "seq": "number"}),
    );
    t.call(
        "block.get",
        json!({"id": id, "block": blocks["blocks"][0]["block"]}),
        json!({"block": "any", "output": "string?"}),
    );
    t.fail(
        "block.diff",
        json!({"id": id, "block": 9999}),
        &format!("Block 9999 of session {id} not found"),
    );
    t.call("screen.search_all", json!({"pattern": "no such text"}), json!({"matches": []}));
    t.call(
        "screen.diff",
        json!({"id": id, "since_seq": 0}),
        json!({"seq": "number", "changes": [], "complete": "bool"}),
    );
    t.call("session.lend_nonce", json!({"id": id}), json!({"ticket": "string"}));
    t.call(
        "session.activity",
        json!({"id": id}),
        json!({"sessions": [{"id": "number", "state": "string", "jobs": []}]}),
    );
    let claim = json!({
        "source": "string", "state": "string", "verdict": "string", "rule": "string", "text": "string",
    });
    t.call(
        "session.explain",
        json!({"id": id}),
        json!({"id": "number", "state": "string", "source": "string", "reason": "string", "chain": [claim]}),
    );
    t.call("session.replay", json!({"id": id}), json!({"programs": [], "screen": []}));
    t.call(
        "session.verify_handover",
        json!({"id": id}),
        json!({
            "id": "number", "equal": "bool", "live": "string", "reason": "string", "checkpoint_bytes": "number",
            "output_bytes": "number",
        }),
    );
    t.call("inbox.list", json!({}), json!({"entries": [], "version": "string"}));
    let nothing = format!(
        "The program in session {id} needs nothing from the user. Questions of agents have numbers, and the user answers them in the window or on the settings page"
    );
    t.fail("inbox.show", json!({"id": id}), &nothing);
    t.call(
        "inbox.answer",
        json!({"id": id, "dialog": "none", "answer": "deny"}),
        json!({"answered": false, "reason": "string"}),
    );
    let unknown = "No entry has the key \"none\": list the inbox again";
    t.fail("inbox.dismiss", json!({"key": "none"}), unknown);
    t.fail("inbox.snooze", json!({"key": "none", "duration_ms": 1000}), unknown);
    t.call("inbox.restore", json!({"key": "none"}), json!({"aside": false}));
    let state = json!({
        "id": "number", "plugin": "=shell", "state": "string", "since": "string", "confidence": "number",
        "evidence": "string", "seq": "number", "source": "=screen",
    });
    t.call("adapter.attach", json!({"id": id, "plugin": "shell"}), state.clone());
    t.call("adapter.states", json!({}), json!({"states": [state]}));
    t.call(
        "adapter.watch",
        json!({"id": id, "plugin": "shell", "states": ["never"], "timeout_ms": 0}),
        json!({"matched": false, "timed_out": true, "state": state}),
    );
    t.call("adapter.detach", json!({"id": id}), json!({"detached": 1}));
    t.fail(
        "adapter.attach",
        json!({"id": other, "plugin": "vim"}),
        "Invalid 'plugin': expected one of claude-code, codex, shell, got vim",
    );
    t.fail(
        "adapter.attach",
        json!({"id": other}),
        &format!("Invalid 'plugin': expected one of claude-code, codex, shell, since none is for “cat” in session {other}, got nothing"),
    );
    t.call(
        "file.write",
        json!({"id": id, "path": "kept.txt", "text": "it"}),
        json!({"written": "number", "created": "bool", "directory": "string"}),
    );
    t.call(
        "file.read",
        json!({"id": id, "path": "kept.txt"}),
        json!({"base64": "=aXQ=", "size": "number"}),
    );
    let made = t.call(
        "token.create",
        json!({"name": "agent", "scope": "read", "panes": [1], "expires_in_seconds": 60}),
        json!({"token": "string", "number": "number", "name": "=agent", "scope": "=read", "panes": [1], "made_at": "string", "expires_at": "string"}),
    );
    t.fail("token.create", json!({}), "Missing 'name'");
    t.fail(
        "token.create",
        json!({"name": "x", "scope": "all"}),
        "Invalid 'scope': expected read, act or admin, got \"all\"",
    );
    t.call("token.list", json!({}), json!({"tokens": [{"number": "number", "name": "string", "scope": "string", "made_at": "string"}]}));
    t.call("token.revoke", json!({"number": made["number"]}), json!({"revoked": true}));
    t.call("approvals.list", json!({}), json!({"rule": "=allow", "pending": [], "allowed": []}));
    t.call(
        "approvals.ask",
        json!({"text": "Go on?", "choices": ["yes"], "session_id": id, "timeout_ms": 0}),
        json!({"answered": false}),
    );
    t.fail("approvals.ask", json!({}), "Missing 'text'");
    t.fail(
        "approvals.answer",
        json!({"number": 1, "answer": "yes"}),
        "Not allowed: only the user answers, in the window or on the settings page",
    );
    t.fail("approvals.answer", json!({"number": 1}), "Missing 'answer'");
    t.call("approvals.forget", json!({"client": "nobody"}), json!({"forgotten": false}));
    t.fail("approvals.forget", json!({}), "Missing 'client'");
    t.call(
        "screen.png",
        json!({"id": id}),
        json!({"base64": "string", "width": "number", "height": "number", "seq": "number"}),
    );
    let hidden = t.call(
        "session.create",
        json!({"program": "cat", "hidden": true, "cols": 80, "rows": 24}),
        json!({"id": "number", "session_id": "string"}),
    );
    t.call("screen.bytes", json!({"id": hidden["id"]}), json!({"base64": "string"}));
    t.call(
        "screen.follow",
        json!({"id": hidden["id"]}),
        json!({
            "view": "number", "screen": true, "cols": 80, "rows": 24, "base64": "string", "lost": 0, "ended": false,
        }),
    );
    t.fail(
        "screen.bytes",
        json!({"id": id}),
        &format!("Session {id} is neither hidden nor streamed: nothing is kept"),
    );
    t.call(
        "session.signal",
        json!({"id": hidden["id"], "signal": "TERM"}),
        json!({"sent": true, "signal": "=TERM"}),
    );
    t.call("session.destroy", json!({"id": hidden["id"]}), any());
    t.call("screen.cells", json!({"id": id}), json!({"seq": "number", "lines": [], "images": []}));
    t.call("config.get", json!({"key": "theme"}), json!({"value": "=nord"}));
    t.call(
        "config.set",
        json!({"key": "theme", "value": "classic"}),
        json!({"set": true, "key": "=theme", "value": "=classic"}),
    );
    t.call("settings.open", json!({}), json!({"url": "string", "expires_in_seconds": 60}));
    let subscribed = json!({"subscribed": true, "events": ["=bell"], "seq": "number"});
    t.call("events.subscribe", json!({"events": ["bell"]}), subscribed);
    t.call("events.unsubscribe", json!({}), json!({"subscribed": false}));
    let tab = t.call(
        "tab.create",
        json!({"program": "cat"}),
        json!({"tab_id": "number", "id": "number", "session_id": "string"}),
    );
    let tab_id = tab["tab_id"].clone();
    t.call("tab.list", json!({}), json!({"tabs": [{"tab_id": "number", "sessions": ["number"]}]}));
    t.call("tab.focus", json!({"tab_id": tab_id}), any());
    t.call("tab.move", json!({"tab_id": tab_id, "index": 0}), any());
    t.call("tab.rename", json!({"tab_id": tab_id, "title": "x"}), any());
    t.call("tab.close", json!({"tab_id": tab_id}), any());
    t.call(
        "window.list",
        json!({}),
        json!({"windows": [{"window_id": "number", "instance": "=alpha", "title": "string"}]}),
    );
    t.call("window.focus", json!({}), any());
    t.call("action.list", json!({}), json!({"actions": [{"name": "=new_tab"}]}));
    t.call("action.run", json!({"name": "new_tab"}), json!({"name": "=new_tab", "done": true}));
}
