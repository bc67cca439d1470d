//! Tests of ways to enter input other than typing it: keys that edit a line, actions of the window, and started
//! programs.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU64, Ordering},
};

use crate::support::{Fixture, PATIENCE, Session, Wire, block};
use serde_json::{Value, json};
use unterm_control::{Acted, Bounds, Host, HostRequest, Typing};
use unterm_mux::PaneId;

/// A window whose focus is on a pane, and whose only action types its argument there. Stores the bounds of the last
/// call.
#[derive(Default)]
struct Window {
    focused: Mutex<Option<PaneId>>,
    bounds: Mutex<Bounds>,
}

struct WindowHost(Arc<Window>);

impl Host for WindowHost {
    fn has_window(&self) -> bool {
        true
    }

    fn instance_title_changed(&self, _: Option<&str>) {}

    fn ask(&self, request: HostRequest) {
        let HostRequest::Act { argument, bounds, answer, .. } = request else { return };
        *self.0.bounds.lock().unwrap() = bounds;
        let pane = self.0.focused.lock().unwrap().unwrap();
        let acted = match argument {
            Some(text) => Acted::Types(vec![Typing { pane, bytes: text.into_bytes() }]),
            None => Acted::Refused("not by programs".to_owned()),
        };
        let _ = answer.send(Ok(acted));
    }
}

/// A host that counts how often it was notified of a new driver.
#[derive(Default)]
struct Counting(AtomicU64);

impl Host for Counting {
    fn has_window(&self) -> bool {
        false
    }

    fn instance_title_changed(&self, _: Option<&str>) {}

    fn agents_changed(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    fn ask(&self, _: HostRequest) {}
}

#[test]
fn a_caller_that_runs_a_command_drives_the_session() {
    let host = Arc::new(Counting::default());
    let fixture = Fixture::hosted(host.clone(), Vec::new());
    let mut wire = fixture.login();
    for session in [fixture.marked_shell(&mut wire), fixture.shell(&mut wire)] {
        let before = host.0.load(Ordering::SeqCst);
        let reply = wire.call("exec.run_wait", json!({"id": session.id, "command": "true"}));
        assert_eq!(reply["exit_code"], 0, "{reply}");
        assert_eq!(host.0.load(Ordering::SeqCst), before + 1);
    }
}

#[test]
fn rules_and_leases_apply_to_text_that_actions_type() {
    let window = Arc::new(Window::default());
    let fixture = Fixture::hosted(Arc::new(WindowHost(window.clone())), Vec::new());
    let (mut wire, mut other) = (fixture.connect(), fixture.login());
    wire.call("auth.login", json!({"token": fixture.token(), "client": "the first"}));
    let session = fixture.program(&mut wire, "cat", &[]);
    *window.focused.lock().unwrap() = Some(session.pane.id());
    let send = |text: &str| json!({"name": "send_text", "argument": text});
    let done = json!({"name": "send_text", "done": true});
    assert_eq!(other.call("action.run", send("free\r")), done);
    session.wait_for_text("free\nfree");
    assert_eq!(*window.bounds.lock().unwrap(), Bounds::default());

    block(&mut wire, json!(["forbidden"]));
    let refusal = "Command blocked by policy: forbidden";
    assert_eq!(other.call("action.run", send("for")), done);
    assert_eq!(other.fail("action.run", send("bidden\r")), refusal, "what is composed counts");
    assert!(window.bounds.lock().unwrap().rules);
    let log = wire.call("session.audit_log", json!({"limit": 1}));
    assert_eq!(
        (&log[0]["detail"], &log[0]["allowed"]),
        (&json!("send_text: bidden\r"), &json!(false))
    );

    wire.call("session.lease", json!({"id": session.id}));
    let refusal = format!("Session {} is leased by the first", session.id);
    assert_eq!(other.fail("action.run", send("x")), refusal);
    assert_eq!(window.bounds.lock().unwrap().leased, [session.pane.id()]);
    assert_eq!(wire.call("action.run", send("get")), done);
    session.wait_for_text("forget");
    assert!(window.bounds.lock().unwrap().leased.is_empty(), "its own lease binds nobody");
    assert_eq!(other.fail("action.run", json!({"name": "paste"})), "Not allowed: not by programs");
    let log = wire.call("session.audit_log", json!({"limit": 1}));
    assert_eq!((&log[0]["detail"], &log[0]["allowed"]), (&json!("paste"), &json!(false)));
}

#[test]
fn input_of_an_action_is_not_logged_while_a_password_is_asked() {
    let window = Arc::new(Window::default());
    let fixture = Fixture::hosted(Arc::new(WindowHost(window.clone())), Vec::new());
    let mut wire = fixture.login();
    let session = fixture.program(&mut wire, "cat", &[]);
    *window.focused.lock().unwrap() = Some(session.pane.id());
    let mut logged = |text: &str| {
        wire.call("action.run", json!({"name": "send_text", "argument": text}));
        wire.call("session.audit_log", json!({"limit": 1}))[0]["detail"].clone()
    };
    assert_eq!(logged("shown"), "send_text: shown");
    // The text is also hidden if a pane other than the focused pane asks for a password, because that pane may receive
    // the input, too.
    let script = "stty -echo; printf 'Password: '; exec cat > /dev/null";
    let asking = fixture.program(&mut fixture.login(), "sh", &["-c", script]);
    asking.wait_for_text("Password:");
    fixture.mux.focus(session.pane.id()).unwrap();
    assert_eq!(logged("hunter2"), "send_text (not shown)");
}

/// Sends refused input again until its line is on the screen. Returns the final refusal, if any.
fn send_when_shown(wire: &mut Wire, method: &str, params: &Value) -> Option<String> {
    let start = std::time::Instant::now();
    loop {
        let reply = wire.reply(method, params.clone());
        let refusal = reply["error"]["message"].as_str().map(str::to_owned);
        if !refusal.as_deref().is_some_and(|why| why.contains("keys edited the line")) {
            return refusal;
        }
        assert!(start.elapsed() < PATIENCE, "the line is never known: {reply}");
        std::thread::yield_now();
    }
}

fn column(session: &Session) -> u16 {
    session.pane.term().cursor().col
}

fn wait_for_column(session: &Session, col: u16) {
    let start = std::time::Instant::now();
    while column(session) != col {
        assert!(start.elapsed() < PATIENCE, "the cursor stays in column {}", column(session));
        std::thread::yield_now();
    }
}

/// Clears the line. bash may read input that follows Ctrl+C before it handles the signal.
fn give_up(wire: &mut Wire, session: &Session) {
    wire.call("session.keys", json!({"id": session.id, "keys": ["ctrl+c"]}));
    session.wait_for(|screen| screen.trim_end().ends_with(['#', '$']));
}

#[test]
fn of_a_line_that_keys_edit_what_the_shell_shows_is_judged() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    let id = session.id;
    wire.call("session.input", json!({"id": id, "input": "echo forbidden once\r"}));
    session.wait_for_text("\nforbidden once");
    block(&mut wire, json!(["forbidden"]));
    let refusal = Some("Command blocked by policy: forbidden".to_owned());
    let keys = |keys: &[&str]| json!({"id": id, "keys": keys});
    let enter = keys(&["enter"]);
    // Directly after the keys, the line is unknown.
    let unknown = wire.fail("session.keys", keys(&["up", "enter"]));
    assert!(unknown.starts_with("Command blocked by policy: keys edited the line"), "{unknown}");

    // A line from the history, and a word that is completed after moving the cursor.
    wire.call("session.keys", keys(&["up"]));
    session.wait_for(|screen| screen.trim_end().ends_with("echo forbidden once"));
    assert_eq!(send_when_shown(&mut wire, "session.keys", &enter), refusal);
    give_up(&mut wire, &session);
    wire.call("session.input", json!({"id": id, "input": "forbdden"}));
    session.wait_for(|screen| screen.trim_end().ends_with("forbdden"));
    let end = column(&session);
    wire.call("session.keys", keys(&["left", "left", "left", "left"]));
    wait_for_column(&session, end - 4);
    let last = json!({"id": id, "keys": ["i", "enter"]});
    assert_eq!(send_when_shown(&mut wire, "session.keys", &last), refusal);
    give_up(&mut wire, &session);

    // Input that the rules allow is entered, and a line without editing keys is entered immediately.
    wire.call("session.input", json!({"id": id, "input": "ho free"}));
    session.wait_for(|screen| screen.trim_end().ends_with("ho free"));
    let end = column(&session);
    wire.call("session.keys", keys(&["home"]));
    wait_for_column(&session, end - 7);
    let input = json!({"id": id, "input": "ec\r"});
    assert_eq!(send_when_shown(&mut wire, "session.input", &input), None);
    session.wait_for_text("echo free\nfree");
    wire.call("session.input", json!({"id": id, "input": "echo $((6 * 7))\r"}));
    session.wait_for_text("\n42");

    // A program that is not a shell receives all keys.
    let other = fixture.program(&mut wire, "cat", &[]);
    wire.call("session.keys", json!({"id": other.id, "keys": ["up", "x", "enter"]}));
    other.wait_for_text("x");
}

#[test]
fn rules_apply_to_programs_of_new_sessions() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let beside = fixture.program(&mut wire, "cat", &[]).id;
    block(&mut wire, json!(["forbidden"]));
    let refusal = "Command blocked by policy: forbidden";
    for params in [
        json!({"id": beside, "program": "sh", "args": ["-c", "echo forbidden"]}),
        json!({"id": beside, "env": {"PROMPT_COMMAND": "echo forbidden"}}),
    ] {
        for method in ["session.create", "tab.create", "session.split", "orchestrate.launch"] {
            assert_eq!(wire.fail(method, params.clone()), refusal, "{method} {params}");
        }
    }
    let rules = json!({
        "enabled": true, "blocked_patterns": [], "allowed_patterns": ["cat"], "enforce_allowed": true,
    });
    wire.call("policy.set", rules);
    fixture.program(&mut wire, "cat", &[]);
    fixture.program(&mut wire, "sh", &[]);
    let refusal = "Command blocked by policy: not in allowed_patterns";
    assert_eq!(
        wire.fail("session.create", json!({"program": "sh", "args": ["-c", "id"]})),
        refusal
    );
}
