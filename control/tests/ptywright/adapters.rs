//! Tests of plugins that watch sessions: which plugin is chosen, the states that screens show and their events, which
//! tokens may watch sessions and receive states, and when a plugin stops.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::PathBuf,
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, Sender, channel},
    },
};

use crate::support::{Fixture, PATIENCE, Session, Wire, client::Client, until};
use serde_json::{Value, json};
use unterm_control::{Host, HostRequest};

/// A script that reads the names of screens, one in each line, and draws each screen.
const DRAW: &str =
    r#"stty -echo; while read -r name; do printf '\033[2J\033[H'; cat "$HOME/screens/$name"; done"#;

/// Puts screens of Claude Code into a fixture's home, and a copy of `sh` named `claude`. Returns the path of the copy.
fn claude(fixture: &Fixture) -> PathBuf {
    let home = fixture.home.path();
    let screens = home.join("screens");
    fs::create_dir_all(&screens).unwrap();
    let ours = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("plugin/tests/screens/claude-code");
    for name in ["thinking", "waiting_for_permission", "waiting_for_user_input", "completed_turn"] {
        let text = fs::read_to_string(ours.join(format!("{name}.txt"))).unwrap();
        let (_, screen) = text.split_once("---\n").unwrap();
        fs::write(screens.join(name), screen).unwrap();
    }
    let program = home.join("claude");
    if !program.exists() {
        fs::copy("/bin/sh", &program).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
    }
    program
}

/// A session with the program `claude` that draws screens.
fn drawing(fixture: &Fixture, wire: &mut Wire) -> Session {
    let program = claude(fixture);
    fixture.program(wire, program.to_str().unwrap(), &["-c", DRAW])
}

/// Draws a screen, and waits until its state is reported.
fn show(wire: &mut Wire, session: &Session, name: &str) -> Value {
    wire.call("session.input", json!({"id": session.id, "input": format!("{name}\n")}));
    let seen = wire.call("adapter.watch", json!({"id": session.id, "states": [name]}));
    assert_eq!((&seen["matched"], &seen["state"]["state"]), (&json!(true), &json!(name)), "{seen}");
    seen
}

/// The next event of a connection that has subscribed.
fn event(listener: &mut Wire) -> Value {
    let line: Value = serde_json::from_str(&listener.receive().unwrap()).unwrap();
    assert_eq!(line["method"], "event");
    line["params"].clone()
}

/// A connection that receives events about states, of one session or of all.
fn listening(fixture: &Fixture, id: Option<u64>) -> Wire {
    let mut listener = fixture.login();
    let mut params = json!({"events": ["adapter_state"]});
    if let Some(id) = id {
        params["id"] = json!(id);
    }
    listener.call("events.subscribe", params);
    listener
}

#[test]
fn each_new_state_of_a_watched_program_is_an_event() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = drawing(&fixture, &mut wire);
    let id = session.id;
    let mut listener = listening(&fixture, Some(id));
    // The name of the program selects the plugin.
    let begun = wire.call("adapter.attach", json!({"id": id}));
    assert_eq!((&begun["plugin"], &begun["source"]), (&json!("claude-code"), &json!("screen")));
    let permission = show(&mut wire, &session, "waiting_for_permission");
    let evidence = &permission["state"]["evidence"];
    assert!(evidence.as_str().is_some_and(|evidence| !evidence.is_empty()), "{permission}");
    // If the program draws its screen again unchanged, the state does not change.
    let again = show(&mut wire, &session, "waiting_for_permission");
    assert_eq!(again["state"]["since"], permission["state"]["since"]);
    show(&mut wire, &session, "thinking");
    let states = wire.call("adapter.states", json!({}));
    assert_eq!(states["states"][0]["state"], "thinking", "{states}");
    assert_eq!(states, wire.call("adapter.states", json!({"id": id})));
    wire.call("session.destroy", json!({"id": id}));
    let mut heard = Vec::new();
    loop {
        let event = event(&mut listener);
        assert_eq!(
            (&event["session_id"], &event["plugin"]),
            (&json!(id.to_string()), &json!("claude-code"))
        );
        if event["state"].is_null() {
            assert_eq!(event["ended"], "session_ended", "{event}");
            break;
        }
        assert_eq!(event["source"], "screen", "{event}");
        heard.push((event["state"].clone(), event["since"].clone()));
    }
    let begin = heard.iter().position(|(state, _)| state == "waiting_for_permission").unwrap();
    let states: Vec<_> = heard[begin..].iter().map(|(state, _)| state.as_str().unwrap()).collect();
    assert_eq!(states, ["waiting_for_permission", "thinking"]);
    assert_eq!(heard[begin].1, permission["state"]["since"]);
    assert_eq!(wire.call("adapter.states", json!({})), json!({"states": []}));
}

#[test]
fn a_wait_ends_with_a_state_a_timeout_or_the_program() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = drawing(&fixture, &mut wire);
    let id = session.id;
    show(&mut wire, &session, "thinking");
    let late = wire.call("adapter.watch", json!({"id": id, "states": ["ready"], "timeout_ms": 1}));
    assert_eq!((&late["matched"], &late["timed_out"]), (&json!(false), &json!(true)), "{late}");
    assert_eq!(late["state"]["state"], "thinking");
    // The order of two connections is undefined: a call may begin after the input that should end it. In that case, the
    // call is repeated.
    let mut waiting = fixture.login();
    let mut watch = |wire: &mut Wire, id: u64, input: &str| -> Value {
        let params = json!({"id": id, "timeout_ms": 2000});
        let request = json!({"id": 1, "method": "adapter.watch", "params": params});
        waiting.send(format!("{request}\n"));
        wire.call("session.input", json!({"id": id, "input": input}));
        serde_json::from_str(&waiting.receive().unwrap()).unwrap()
    };
    let next =
        ["waiting_for_user_input", "thinking"].into_iter().cycle().take(20).find_map(|name| {
            let reply = watch(&mut wire, id, &format!("{name}\n"))["result"].take();
            (reply["matched"] == true).then_some((name, reply))
        });
    let (name, next) = next.expect("a call that begins before the next state");
    assert_eq!(next["state"]["state"], name, "{next}");
    let ended = (0..20).find_map(|_| {
        let brief = drawing(&fixture, &mut wire);
        show(&mut wire, &brief, "thinking");
        let reply = watch(&mut wire, brief.id, "\u{4}");
        // A call for a program that has ended is an error.
        reply.get("error").is_none().then_some(reply)
    });
    let ended = ended.expect("a call that begins before the program ends");
    assert_eq!(ended["result"]["ended"], "session_ended", "{ended}");
    assert_eq!(ended["result"]["matched"], false, "{ended}");
    wire.call("session.input", json!({"id": id, "input": "\u{4}"}));
    session.wait_for_end();
    let message = wire.fail("adapter.attach", json!({"id": id, "plugin": "claude-code"}));
    assert_eq!(message, format!("The program of session {id} has ended"));
}

#[test]
fn a_plugin_stops_with_the_program_that_it_watches() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let program = claude(&fixture);
    let session = fixture.marked_shell(&mut wire);
    let id = session.id;
    let mut listener = listening(&fixture, None);
    let shell = wire.call("adapter.attach", json!({"id": id}));
    assert_eq!(shell["plugin"], "shell", "{shell}");
    fs::write(fixture.home.path().join("draw"), DRAW).unwrap();
    let line = format!("{} draw\r", program.display());
    wire.call("session.input", json!({"id": id, "input": line}));
    let attached = until("the program", || {
        let reply = wire.call("adapter.attach", json!({"id": id}));
        (reply["plugin"] == "claude-code").then_some(reply)
    });
    assert_eq!(attached["plugin"], "claude-code");
    show(&mut wire, &session, "thinking");
    // A program that was stopped is in the background of the shell.
    wire.call("session.input", json!({"id": id, "input": "\u{1a}"}));
    let watch = |states: Value| json!({"id": id, "plugin": "claude-code", "states": states});
    let stopped = until("the stop", || {
        let states = wire.call("adapter.states", json!({"id": id}))["states"].take();
        let state = states.as_array()?.iter().find(|it| it["plugin"] == "claude-code")?.clone();
        (state["state"] == "background").then_some(state)
    });
    assert_eq!(stopped["evidence"], "");
    wire.call("session.input", json!({"id": id, "input": "fg\r"}));
    session.wait_for(|screen| screen.trim_end().ends_with("draw"));
    wire.call("session.input", json!({"id": id, "input": "thinking\n"}));
    assert_eq!(wire.call("adapter.watch", watch(json!(["thinking"])))["matched"], true);
    wire.call("session.input", json!({"id": id, "input": "\u{4}"}));
    let ended = until("the end", || {
        let event = event(&mut listener);
        event["state"].is_null().then_some(event)
    });
    assert_eq!(
        (&ended["plugin"], &ended["ended"]),
        (&json!("claude-code"), &json!("program_ended"))
    );
    // The shell's plugin continues.
    let states = wire.call("adapter.states", json!({"id": id}))["states"].take();
    assert_eq!(states.as_array().map(Vec::len), Some(1), "{states}");
    assert_eq!(states[0]["plugin"], "shell");
}

#[test]
fn a_plugin_that_is_named_watches_whatever_runs_in_the_pane() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let program = claude(&fixture);
    let session = fixture.marked_shell(&mut wire);
    let id = session.id;
    wire.call("adapter.attach", json!({"id": id, "plugin": "claude-code"}));
    fs::write(fixture.home.path().join("draw"), DRAW).unwrap();
    for _ in 0..2 {
        let line = format!("{} draw\r", program.display());
        wire.call("session.input", json!({"id": id, "input": line}));
        until("the program", || session.pane.foreground()?.name.ends_with("claude").then_some(()));
        show(&mut wire, &session, "thinking");
        wire.call("session.input", json!({"id": id, "input": "\u{4}"}));
        wire.call("session.wait", json!({"id": id, "any": [{"prompt": true}]}));
    }
    let states = wire.call("adapter.states", json!({"id": id}))["states"].take();
    assert_eq!(states.as_array().map(Vec::len), Some(1), "{states}");
    assert_eq!(
        wire.call("adapter.detach", json!({"id": id, "plugin": "shell"})),
        json!({"detached": 0})
    );
    assert_eq!(wire.call("adapter.detach", json!({"id": id})), json!({"detached": 1}));
}

#[test]
fn only_callers_that_may_read_a_session_may_watch_it() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = drawing(&fixture, &mut wire);
    let other = fixture.program(&mut wire, "cat", &[]);
    let id = session.id;
    let token = |id: u64| json!({"name": "reader", "scope": "read", "panes": [id]});
    let (mut reader, made) = fixture.login_with(&mut wire, token(id));
    let (mut stranger, _) = fixture.login_with(&mut wire, token(other.id));
    assert_eq!(reader.call("adapter.attach", json!({"id": id}))["plugin"], "claude-code");
    for method in ["adapter.attach", "adapter.detach", "adapter.states", "adapter.watch"] {
        let message = stranger.fail(method, json!({"id": id}));
        assert_eq!(message, format!("Not allowed: {method} is out of the token's sessions"));
    }
    assert_eq!(stranger.call("adapter.states", json!({})), json!({"states": []}));
    assert_eq!(reader.call("adapter.states", json!({}))["states"][0]["id"], id);
    stranger.call("events.subscribe", json!({"events": ["adapter_state", "bell"]}));
    // Only the token that attached the plugin can detach it.
    assert_eq!(wire.call("adapter.detach", json!({"id": id})), json!({"detached": 0}));
    show(&mut wire, &session, "thinking");
    assert_eq!(wire.call("adapter.detach", json!({"id": id})), json!({"detached": 1}));
    assert_eq!(wire.call("adapter.states", json!({}))["states"].as_array().map(Vec::len), Some(1));
    // The adapter of a token ends when the token is revoked.
    let mut listener = listening(&fixture, Some(id));
    wire.call("token.revoke", json!({"number": made["number"]}));
    wire.call("session.input", json!({"id": id, "input": "completed_turn\n"}));
    let end = event(&mut listener);
    assert_eq!((&end["state"], &end["ended"]), (&Value::Null, &json!("detached")), "{end}");
    assert_eq!(wire.call("adapter.states", json!({})), json!({"states": []}));
    // The other client received only events about its own session.
    wire.call("session.input", json!({"id": other.id, "input": "\u{7}\n"}));
    assert_eq!(event(&mut stranger)["event"], "bell");
}

#[test]
fn an_agent_watches_so_many_sessions() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let (mut agent, _) = fixture.login_with(&mut wire, json!({"name": "agent", "scope": "read"}));
    let sessions: Vec<_> = (0..17).map(|_| fixture.program(&mut wire, "cat", &[])).collect();
    let attach = |session: &Session| json!({"id": session.id, "plugin": "shell"});
    for session in &sessions[..16] {
        agent.call("adapter.attach", attach(session));
    }
    agent.call("adapter.attach", attach(&sessions[0]));
    let message = agent.fail("adapter.attach", attach(&sessions[16]));
    assert_eq!(message, "This token watches 16 sessions already; detach an adapter first");
    assert_eq!(wire.call("adapter.attach", attach(&sessions[16]))["plugin"], "shell");
    assert_eq!(agent.call("adapter.detach", json!({"id": sessions[3].id})), json!({"detached": 1}));
    agent.call("adapter.attach", attach(&sessions[16]));
}

/// An app that is notified of new states.
struct App(Mutex<Sender<()>>);

impl Host for App {
    fn has_window(&self) -> bool {
        true
    }

    fn instance_title_changed(&self, _: Option<&str>) {}

    fn ask(&self, _: HostRequest) {}

    fn program_states_changed(&self) {
        let _ = self.0.lock().unwrap().send(());
    }
}

#[test]
fn the_app_is_notified_of_new_states() {
    let (sender, told): (Sender<()>, Receiver<()>) = channel();
    let fixture = Fixture::hosted(Arc::new(App(Mutex::new(sender))), Vec::new());
    let mut wire = fixture.login();
    let session = drawing(&fixture, &mut wire);
    show(&mut wire, &session, "waiting_for_permission");
    loop {
        told.recv_timeout(PATIENCE).unwrap();
        let states = fixture.server().program_states();
        if states.iter().any(|it| it.id == session.id && it.state == "waiting_for_permission") {
            return;
        }
    }
}

#[test]
fn an_agent_waits_for_another_agents_question() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = drawing(&fixture, &mut wire);
    let pane = session.id;
    for is_new in [false, true] {
        let mut client = if is_new { Client::new(&fixture) } else { Client::old(&fixture) };
        wire.call("session.input", json!({"id": pane, "input": "thinking\n"}));
        let asked = json!({"pane": pane, "states": ["thinking"]});
        assert_eq!(client.call("agent_state", asked)["matched"], true);
        let asked = json!({"pane": pane, "states": ["waiting_for_permission"], "timeout_ms": 1});
        let early = client.call("agent_state", asked);
        assert_eq!(
            (&early["matched"], &early["agents"][0]["state"]),
            (&json!(false), &json!("thinking"))
        );
        let asked = json!({"pane": pane, "states": ["waiting_for_permission", "error"]});
        let waiting =
            client.begin("tools/call", json!({"name": "agent_state", "arguments": asked}));
        wire.call("session.input", json!({"id": pane, "input": "waiting_for_permission\n"}));
        let result = client.end(waiting)["result"].take();
        let reply = &result["structuredContent"];
        assert_eq!(reply["matched"], true, "{reply}");
        let agent = &reply["agents"][0];
        assert_eq!((&agent["pane"], &agent["plugin"]), (&json!(pane), &json!("claude-code")));
        assert_eq!(result["_meta"]["unterm/untrusted"], json!(["evidence"]));
        // The pane is watched after this call.
        let listed = client.call("agent_state", json!({}));
        assert_eq!(listed["agents"][0]["state"], "waiting_for_permission", "{listed}");
        let one = client.call("agent_state", json!({"pane": pane}));
        assert_eq!(one["agents"], listed["agents"]);
        for (wrong, named) in [
            (json!({"pane": pane, "states": []}), "`states` is empty"),
            (json!({"pane": 999}), "There is no pane 999"),
            (json!({"pane": pane, "plugin": "vim"}), "claude-code, codex, shell"),
        ] {
            let refused = client.fail("agent_state", wrong);
            assert!(refused.contains(named), "{refused}");
        }
    }
}

#[test]
fn new_states_notify_changes_of_a_resource() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = drawing(&fixture, &mut wire);
    let mut client = Client::old(&fixture);
    let agents = json!({"uri": "unterm://agents"});
    let listed = client.request("resources/list", json!({}))["result"]["resources"].take();
    assert!(listed.as_array().unwrap().iter().any(|it| it["uri"] == agents["uri"]), "{listed}");
    assert_eq!(client.request("resources/subscribe", agents.clone())["result"], json!({}));
    let told = client.until_note("notifications/resources/updated", |client| {
        show(&mut wire, &session, "thinking");
        show(&mut wire, &session, "waiting_for_permission");
        client.request("ping", json!({}));
    });
    assert_eq!(told["params"]["uri"], agents["uri"]);
    let read = client.request("resources/read", agents)["result"]["contents"][0].take();
    let states: Value = serde_json::from_str(read["text"].as_str().unwrap()).unwrap();
    assert_eq!(states[0]["plugin"], "claude-code", "{read}");
    assert_eq!(read["_meta"]["unterm/untrusted"], json!(["text"]));
}
