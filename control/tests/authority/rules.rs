//! Tests of the limits on input: rules, leases and the audit log.

use std::{
    os::unix::fs::PermissionsExt,
    sync::{
        Arc,
        mpsc::{Sender, channel},
    },
};

use crate::support::{self, Fixture, PATIENCE, Wire, block};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use unterm_control::{Caller, Decision, Entry, Gate};

/// Delays the first input until a test releases it, and reports that the input waits.
struct Held {
    said: Sender<()>,
    go: Mutex<Option<oneshot::Receiver<()>>>,
}

impl Gate for Held {
    fn decide(&self, _: &Caller, method: &Entry, _: &str) -> Decision {
        let go = (method.name == "session.input").then(|| self.go.lock().take());
        let Some(go) = go.flatten() else { return Decision::Allow };
        let said = self.said.clone();
        Decision::Hold(Box::pin(async move {
            said.send(()).unwrap();
            // Yield once, so that the call waits even if `go` was already sent.
            tokio::task::yield_now().await;
            let _ = go.await;
            Decision::Allow
        }))
    }
}

#[test]
fn held_back_text_that_becomes_a_secret_is_not_logged() {
    let ((said, held), (go, gone)) = (channel(), oneshot::channel());
    let fixture = Fixture::gated(vec![Arc::new(Held { said, go: Mutex::new(Some(gone)) })]);
    let (mut wire, mut other) = (fixture.login(), fixture.login());
    let script = "read line; stty -echo; printf 'Password: '; exec cat > /dev/null";
    let session = fixture.program(&mut wire, "sh", &["-c", script]);
    let input = json!({"id": 99, "method": "session.input",
        "params": {"id": session.id, "input": "hunter2\r"}});
    wire.send(format!("{input}\n"));
    held.recv_timeout(PATIENCE).expect("it is held");
    session.pane.write(b"\r").unwrap();
    session.wait_for_text("Password:");
    // The screen does not show that cat has started.
    support::until("cat", || {
        session.pane.foreground().filter(|process| process.name.ends_with("cat"))
    });
    go.send(()).unwrap();
    wire.receive().expect("it goes on");
    let log = other.call("session.audit_log", json!({"limit": 9}));
    assert_eq!(log[0]["detail"], "(not shown: the program does not echo it)");
    assert!(!log.to_string().contains("hunter2"), "{log}");
}

#[test]
fn a_command_is_checked_without_being_run() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    assert_eq!(
        wire.call("policy.check", json!({"command": "rm -rf /"})),
        json!({"allowed": true, "reason": "Policy disabled"})
    );
    block(&mut wire, json!(["rm -rf /", "sudo "]));
    assert_eq!(
        wire.call("policy.check", json!({"command": "sudo ls"})),
        json!({"allowed": false, "reason": "Blocked by pattern: sudo "})
    );
    assert_eq!(wire.call("policy.check", json!({"command": "ls"})), json!({"allowed": true}));
    assert_eq!(wire.fail("policy.check", json!({})), "Missing 'command'");
    assert_eq!(wire.fail("policy.set", json!({})), "Invalid policy: missing field `enabled`");
    assert_eq!(
        wire.fail("policy.set", json!({"enabled": true})),
        "Invalid policy: missing field `blocked_patterns`"
    );
    assert_eq!(
        wire.call("policy.check", json!({"command": "sudo ls"}))["allowed"],
        false,
        "rules that are none leave the old ones"
    );
}

#[test]
fn rules_that_take_long_to_apply_hold_up_nobody() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let slow: Vec<_> = ('A'..='P').map(|end| format!("(?:.{{0,200}}7){{3}}{end}")).collect();
    let slow = json!({"enabled": true, "blocked_patterns": [], "allowed_patterns": [],
        "blocked_regexes": slow});
    wire.call("policy.set", slow);
    let digits = "1234567890".repeat(100_000);
    let check = json!({"id": 1, "method": "policy.check", "params": {"command": digits}});
    // There are more of these connections than worker threads.
    let mut busy: Vec<Wire> = (0..5)
        .map(|_| fixture.login_with(&mut wire, json!({"name": "r", "scope": "read"})).0)
        .collect();
    for reader in &mut busy {
        reader.send(format!("{check}\n"));
    }
    for _ in 0..3 {
        wire.call("server.info", json!({}));
    }
    for reader in &mut busy {
        reader.stream().set_nonblocking(true).unwrap();
        let answered = std::io::Read::read(reader.stream(), &mut [0]).map_err(|error| error.kind());
        assert_eq!(answered, Err(std::io::ErrorKind::WouldBlock), "they are not over");
    }
    // Input is checked while other callers wait, so its length is limited.
    let longer = "x".repeat((1 << 20) + 1);
    let session = fixture.program(&mut wire, "cat", &[]);
    for (method, params) in [
        ("session.set_env", json!({"id": session.id, "name": "A", "value": longer})),
        ("session.create", json!({"env": {"A": longer}})),
    ] {
        assert!(wire.fail(method, params).contains("applied to at once"), "{method}");
    }
}

#[test]
fn no_method_enters_a_blocked_line() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.program(&mut wire, "cat", &[]);
    let id = session.id;
    block(&mut wire, json!(["forbidden"]));
    let refusal = "Command blocked by policy: forbidden";
    let command = json!({"id": id, "command": "echo forbidden"});
    for method in ["exec.run", "exec.run_wait"] {
        assert_eq!(wire.fail(method, command.clone()), refusal, "{method}");
    }
    for method in ["session.input", "exec.send"] {
        assert_eq!(wire.fail(method, json!({"id": id, "input": "forbidden\r"})), refusal);
    }
    assert_eq!(wire.fail("session.paste", json!({"id": id, "text": "forbidden"})), refusal);
    let wait = json!({"id": id, "input": "forbidden\r", "any": [{"bell": true}]});
    assert_eq!(wire.fail("session.wait", wait), refusal);
    let launch = json!({"program": "cat", "command": "forbidden"});
    assert_eq!(wire.fail("orchestrate.launch", launch), refusal);
    let sent = json!({"command": "forbidden", "sessions": [id.to_string()]});
    let sent = wire.call("orchestrate.broadcast", sent);
    assert_eq!(sent["results"], json!([{"session_id": id.to_string(), "error": refusal}]));

    // A line is checked even if it was typed in parts, by several callers, together with the user's input, and with a
    // deletion.
    let mut other = fixture.login();
    wire.call("session.input", json!({"id": id, "input": "for"}));
    session.pane.write(b"bix\x7f").unwrap();
    assert_eq!(other.fail("session.input", json!({"id": id, "input": "dden"})), refusal);
    assert_eq!(
        other.fail("session.keys", json!({"id": id, "keys": ["d", "d", "e", "n", "enter"]})),
        refusal
    );
    other.call("session.input", json!({"id": id, "input": "g\r"}));
    session.wait_for_text("forbig\nforbig");

    let log = wire.call("session.audit_log", json!({"session_id": id.to_string()}));
    let log = log.as_array().unwrap();
    assert_eq!((&log[0]["method"], &log[0]["allowed"]), (&json!("session.input"), &json!(true)));
    assert_eq!(log[0]["detail"], "g\r");
    let blocked: Vec<_> = log
        .iter()
        .filter(|entry| entry["allowed"] == false)
        .map(|entry| &entry["method"])
        .collect();
    assert_eq!(
        blocked,
        [
            "session.keys",
            "session.input",
            "orchestrate.broadcast",
            "session.wait",
            "session.paste",
            "exec.send",
            "session.input",
            "exec.run_wait",
            "exec.run"
        ]
    );
    let text = wire.call("screen.text", json!({"id": id}))["lines"].to_string();
    assert!(!text.contains("forbidden"), "{text}");
}

#[test]
fn only_what_is_allowed_where_that_is_enforced() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let (free, bound) =
        (fixture.program(&mut wire, "cat", &[]), fixture.program(&mut wire, "cat", &[]));
    let rules = json!({
        "enabled": true, "blocked_patterns": [], "allowed_patterns": ["ignored here"],
        "sessions": {bound.id.to_string(): {
            "enforce_allowed": true, "allowed_patterns": ["ls"], "allowed_regexes": ["git (status|log)"],
            "blocked_regexes": ["ls.*--hyper"],
        }},
    });
    wire.call("policy.set", rules);
    wire.call("exec.run", json!({"id": free.id, "command": "anything"}));
    for command in ["ls -l", "git log"] {
        wire.call("exec.run", json!({"id": bound.id, "command": command}));
    }
    for (command, why) in [
        ("cat", "not in allowed_patterns"),
        ("git log; rm x", "not in allowed_patterns"),
        ("ls --hyperlink", "ls.*--hyper"),
    ] {
        let refusal = format!("Command blocked by policy: {why}");
        assert_eq!(wire.fail("exec.run", json!({"id": bound.id, "command": command})), refusal);
    }
    for named in [
        json!({"command": "cat", "id": bound.id}),
        json!({"command": "cat", "session_id": bound.id.to_string()}),
    ] {
        assert_eq!(wire.call("policy.check", named.clone())["allowed"], false, "{named}");
    }
    assert_eq!(wire.call("policy.check", json!({"command": "cat"}))["allowed"], true);
    assert_eq!(
        wire.fail("policy.check", json!({"command": "cat", "session_id": "x"})),
        "Invalid session_id: \"x\""
    );
}

#[test]
fn a_lease_keeps_others_out_until_a_user_types() {
    let fixture = Fixture::new();
    let (mut wire, mut other) = (fixture.connect(), fixture.login());
    wire.call("auth.login", json!({"token": fixture.token(), "client": "the first"}));
    let session = fixture.program(&mut wire, "cat", &[]);
    let id = session.id;
    let beside = fixture.program(&mut wire, "cat", &[]);
    let layout = fixture.mux.layout();
    let tab = layout.tabs[layout.tab_of(session.pane.id()).unwrap()].id.0;
    let lease = wire.call("session.lease", json!({"id": id}));
    assert_eq!(lease, json!({"leased": true, "holder": "the first", "ttl_ms": 60_000}));
    let refusal = format!("Session {id} is leased by the first");
    for (method, params) in [
        ("session.input", json!({"id": id, "input": "x"})),
        ("exec.run", json!({"id": id, "command": "x"})),
        ("exec.cancel", json!({"id": id})),
        ("signal.send", json!({"id": id, "signal": "INT"})),
        ("session.signal", json!({"id": id, "signal": "TERM"})),
        ("session.lease", json!({"id": id})),
        ("session.destroy", json!({"id": id})),
        ("session.resize", json!({"id": id, "cols": 40, "rows": 10})),
        ("session.rename", json!({"id": id, "title": "other"})),
        ("session.move", json!({"id": id, "new_tab": true})),
        ("session.move", json!({"id": beside.id, "swap_with": id})),
        ("tab.close", json!({"tab_id": tab})),
    ] {
        assert_eq!(other.fail(method, params), refusal, "{method}");
    }
    wire.call("session.rename", json!({"id": id, "title": "my own"}));
    wire.call("session.resize", json!({"id": id, "cols": 81, "rows": 24}));
    wire.call("session.input", json!({"id": id, "input": "mine"}));
    assert_eq!(other.call("session.release", json!({"id": id})), json!({"released": false}));
    assert_eq!(wire.call("session.release", json!({"id": id})), json!({"released": true}));
    other.call("session.input", json!({"id": id, "input": "now"}));

    wire.call("session.lease", json!({"id": id}));
    session.pane.touch();
    other.call("session.input", json!({"id": id, "input": "!"}));
    session.wait_for_text("minenow!");

    // A lease ends with its connection.
    wire.call("session.lease", json!({"id": id}));
    drop(wire);
    let start = std::time::Instant::now();
    while other.reply("session.lease", json!({"id": id})).get("error").is_some() {
        assert!(start.elapsed() < PATIENCE, "the lease never ended");
    }
    let ttl = other.fail("session.lease", json!({"id": id, "ttl_ms": 0}));
    assert!(ttl.starts_with("Invalid 'ttl_ms'"), "{ttl}");
}

#[test]
fn changes_are_logged_and_reads_are_not() {
    let fixture = Fixture::new();
    let mut wire = fixture.connect();
    wire.call("auth.login", json!({"token": fixture.token(), "client": "tester"}));
    let session = fixture.program(&mut wire, "cat", &[]);
    let id = session.id;
    wire.call("exec.run", json!({"id": id, "command": "cargo test"}));
    wire.call("screen.text", json!({"id": id}));
    wire.call("signal.send", json!({"id": id, "signal": "INT"}));
    wire.fail("exec.run", json!({"id": 9999, "command": "nowhere"}));
    wire.call("session.destroy", json!({"id": id}));
    let log = wire.call("session.audit_log", json!({"limit": 4}));
    let log = log.as_array().unwrap();
    let told: Vec<_> =
        log.iter().map(|entry| (&entry["method"], &entry["detail"], &entry["outcome"])).collect();
    assert_eq!(
        told,
        [
            (&json!("session.destroy"), &json!(""), &json!("ok")),
            (&json!("exec.run"), &json!("nowhere"), &json!("error")),
            (&json!("signal.send"), &json!("INT"), &json!("ok")),
            (&json!("exec.run"), &json!("cargo test"), &json!("ok")),
        ]
    );
    assert_eq!((&log[3]["session_id"], &log[3]["allowed"]), (&json!(id.to_string()), &json!(true)));
    assert_eq!(log[3]["client"], "tester");
    assert!(log[3].get("error").is_none(), "{}", log[3]);
    assert!(log[3]["timestamp"].as_str().unwrap().ends_with('Z'));
    assert_eq!(
        (&log[1]["error"], &log[1]["allowed"]),
        (&json!("Session 9999 not found"), &json!(true))
    );

    // Failed calls are logged too, whether they fail right away or later. A call that creates a session names it.
    let made = fixture.program(&mut wire, "cat", &[]).id;
    wire.fail("exec.run", json!({"id": made}));
    wire.fail("workspace.save", json!({"name": "../x"}));
    wire.fail("session.create", json!({"cwd": "/no/such/folder"}));
    wire.fail("session.create", json!({"env": {"A=B": "hunter2"}}));
    wire.exchange(r#"{"id":1,"method":"session.input","params":{"id":1e999,"input":"hunter2"}}"#);
    let log = wire.call("session.audit_log", json!({"limit": 6}));
    let of =
        |index: usize| (&log[index]["method"], &log[index]["session_id"], &log[index]["outcome"]);
    let error = json!("error");
    for (index, method, session) in [
        (0, "session.input", Value::Null),
        (1, "session.create", Value::Null),
        (2, "session.create", Value::Null),
        (3, "workspace.save", Value::Null),
        (4, "exec.run", json!(made.to_string())),
    ] {
        assert_eq!(of(index), (&json!(method), &session, &error), "{}", log[index]);
        assert!(!log[index]["error"].as_str().unwrap().is_empty(), "{}", log[index]);
    }
    assert_eq!(log[4]["error"], "Missing 'command'");
    assert_eq!(of(5), (&json!("session.create"), &json!(made.to_string()), &json!("ok")));
    assert!(!log.to_string().contains("hunter2"), "{log}");

    // The input of a program that does not echo it is not logged.
    let script = "stty -echo; printf 'Password: '; exec cat > /dev/null";
    let session = fixture.program(&mut wire, "sh", &["-c", script]);
    session.wait_for_text("Password:");
    while session.pane.foreground().is_none_or(|process| !process.name.ends_with("cat")) {
        std::thread::yield_now();
    }
    wire.call("session.input", json!({"id": session.id, "input": "hunter2\r"}));
    let log = wire.call("session.audit_log", json!({"limit": 1}));
    assert_eq!(log[0]["detail"], "(not shown: the program does not echo it)");
    // A command could answer the same question as input, so it is not logged either.
    wire.call("exec.run", json!({"id": session.id, "command": "hunter2"}));
    let sessions = [session.id.to_string(), "9999".to_owned()];
    wire.call("orchestrate.broadcast", json!({"command": "hunter2", "sessions": sessions}));
    let log = wire.call("session.audit_log", json!({"limit": 3}));
    let told: Vec<_> =
        log.as_array().unwrap().iter().map(|entry| (&entry["method"], &entry["detail"])).collect();
    let hidden = json!("(not shown: the program does not echo it)");
    let broadcast = json!("orchestrate.broadcast");
    assert_eq!(told, [(&broadcast, &hidden), (&broadcast, &hidden), (&json!("exec.run"), &hidden)]);
    // If a call only sets a name, the log has the name. Otherwise it has all parameters, so that a name does not look
    // like a command.
    wire.call("session.rename", json!({"id": session.id, "title": "build"}));
    wire.call("session.resize", json!({"id": session.id, "cols": 90, "rows": 20}));
    let log = wire.call("session.audit_log", json!({"limit": 2}));
    assert_eq!(log[1]["detail"], "build");
    assert_eq!(log[0]["detail"], "cols: 90, rows: 20");

    // Secrets in commands are redacted, as in recordings.
    wire.call("exec.run", json!({"id": made, "command": "export API_KEY=abc1; true"}));
    let log = wire.call("session.audit_log", json!({"limit": 1}));
    assert_eq!(log[0]["detail"], "export API_KEY: <redacted> true");

    let path = fixture.registry().join("audit.jsonl");
    let start = std::time::Instant::now();
    let text = loop {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        if text.contains("API_KEY: <redacted>") {
            break text;
        }
        assert!(start.elapsed() < PATIENCE, "the file was never written: {text}");
        std::thread::yield_now();
    };
    for line in text.lines() {
        let entry: Value = serde_json::from_str(line).unwrap();
        assert!(entry["method"].is_string(), "{line}");
    }
    assert!(text.contains("not shown") && !text.contains("abc1"), "{text}");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_command_refused_after_a_wait_is_logged_as_refused() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    wire.call("session.input", json!({"id": session.id, "input": "half a line"}));
    session.wait_for_text("half a line");
    let refusal = wire.fail("exec.run_wait", json!({"id": session.id, "command": "true"}));
    assert!(refusal.contains("an unfinished line stands"), "{refusal}");
    let log = wire.call("session.audit_log", json!({"limit": 2}));
    let told = [0, 1].map(|index: usize| {
        let entry = &log[index];
        (entry["method"].as_str(), entry["detail"].as_str(), entry["outcome"].as_str())
    });
    let of = |outcome| (Some("exec.run_wait"), Some("true"), Some(outcome));
    assert_eq!(told, [of("refused"), of("ok")], "it began, and came to nothing: {log}");
}

#[test]
fn a_token_for_an_agent_reaches_as_far_as_it_says() {
    let fixture = Fixture::new();
    let mut user = fixture.login();
    let (mine, other) =
        (fixture.program(&mut user, "cat", &[]), fixture.program(&mut user, "cat", &[]));
    let mut login = |params: Value| {
        let made = user.call("token.create", params);
        let mut wire = fixture.connect();
        let token = &made["token"];
        assert_eq!(wire.call("auth.login", json!({"token": token})), json!({"status": "ok"}));
        (wire, made)
    };
    let denied = |wire: &mut Wire, method: &str, params: Value, why: &str| {
        assert_eq!(wire.fail(method, params), format!("Not allowed: {why}"));
    };
    let (mut reader, made) =
        login(json!({"name": "reader", "scope": "read", "expires_in_seconds": 3600}));
    assert!(made["expires_at"].is_string() && made["number"] == 1, "{made}");
    reader.call("screen.text", json!({"id": mine.id}));
    let out = |method: &str| format!("{method} is out of the token's scopes");
    for method in ["session.input", "session.signal"] {
        let params = json!({"id": mine.id, "input": "x", "signal": "TERM"});
        denied(&mut reader, method, params, &out(method));
    }
    let (mut actor, _) = login(json!({"name": "actor"}));
    actor.call("session.input", json!({"id": mine.id, "input": "x"}));
    for method in ["instance.info", "token.list", "token.create"] {
        denied(&mut actor, method, json!({"name": "more", "scope": "admin"}), &out(method));
    }
    // This token is limited to one session.
    let (mut bound, made) = login(json!({"name": "bound", "panes": [mine.id]}));
    let listed = bound.call("session.list", json!({}));
    let ids: Vec<_> =
        listed["sessions"].as_array().unwrap().iter().map(|it| it["id"].clone()).collect();
    assert_eq!(ids, [mine.id]);
    bound.call("session.input", json!({"session_id": mine.id.to_string(), "input": "y"}));
    for (method, params) in [
        ("screen.text", json!({"id": other.id})),
        ("screen.text", json!({"id": mine.id, "session_id": other.id})),
        ("session.signal", json!({"id": other.id, "signal": "TERM"})),
        ("session.create", json!({})),
        ("session.split", json!({"id": mine.id})),
        ("session.move", json!({"id": mine.id, "swap_with": other.id})),
        ("orchestrate.broadcast", json!({"command": "x", "sessions": [other.id.to_string()]})),
        ("tab.create", json!({})),
        ("capture.window", json!({})),
        ("events.subscribe", json!({"id": other.id})),
    ] {
        let why = format!("{method} is out of the token's sessions");
        // Adding its own session to the parameters does not help if the method ignores it.
        if params.get("id").is_none() {
            let mut params = params.clone();
            params["id"] = json!(mine.id);
            denied(&mut bound, method, params, &why);
        }
        denied(&mut bound, method, params, &why);
    }
    // Even a token with full access can't create a token that has more rights or a longer lifetime.
    let (mut admin, _) = login(json!({"name": "admin", "scope": "admin"}));
    for (method, params) in [
        ("instance.info", json!({})),
        ("settings.open", json!({})),
        ("token.create", json!({"name": "more"})),
    ] {
        denied(&mut admin, method, params, &format!("{method} is not for agents' tokens"));
    }
    // A subscription ends with its token.
    let (mut listener, heard) = login(json!({"name": "listener", "panes": [mine.id]}));
    listener.call("events.subscribe", json!({"id": mine.id, "events": ["output"]}));
    // Tokens are listed without their secrets, and a revoked token is invalid at once.
    let secret = made["token"].as_str().unwrap().to_owned();
    let list = user.call("token.list", json!({}));
    assert_eq!(list["tokens"].as_array().unwrap().len(), 5);
    assert!(!list.to_string().contains(&secret));
    assert_eq!(
        user.call("token.revoke", json!({"number": made["number"]})),
        json!({"revoked": true})
    );
    denied(&mut bound, "session.list", json!({}), "the token has ended, or was taken back");
    user.call("token.revoke", json!({"number": heard["number"]}));
    user.call("session.input", json!({"id": mine.id, "input": "unheard\r"}));
    while let Some(event) = listener.receive() {
        assert!(!event.contains("unheard"), "{event}");
        user.call("session.input", json!({"id": mine.id, "input": "more\r"}));
    }
    let mut late = fixture.connect();
    assert_eq!(late.reply("auth.login", json!({"token": secret}))["error"]["code"], -32001);
    let ends_at_once = json!({"name": "ended", "expires_in_seconds": 0});
    let why = user.fail("token.create", ends_at_once);
    let right = "Invalid 'expires_in_seconds': expected a whole number of at least 1, got 0";
    assert_eq!(why, right);
    let ended = user.call("token.create", json!({"name": "ended", "expires_in_seconds": 1}));
    support::until("its end", || {
        let refused = late.reply("auth.login", json!({"token": ended["token"]}));
        (refused["error"]["code"] == -32001).then_some(())
    });
    let log = user.call("session.audit_log", json!({"limit": 100}));
    assert!(!log.to_string().contains(&secret), "no secret is in the log");
    let denials = log.as_array().unwrap().iter().filter(|entry| entry["allowed"] == false);
    assert!(denials.count() >= 7, "what is refused is in the log: {log}");
}

#[test]
fn history_and_continued_lines_do_not_bypass_the_rules() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    let id = session.id;
    let target = fixture.home.path().join("made");
    // The command is in the shell's history before the rules are set.
    let touch = format!("touch '{}'\r", target.display());
    wire.call("session.wait", json!({"id": id, "input": touch, "any": [{"command_done": true}]}));
    std::fs::remove_file(&target).unwrap();
    let rules = json!({"enabled": true, "blocked_patterns": ["touch"], "allowed_patterns": []});
    wire.call("policy.set", rules);
    for line in ["!!", "!to", "!-1", "fc -s", "^made^made", "true; fc -s to"] {
        for (method, params) in [
            ("session.input", json!({"id": id, "input": format!("{line}\r")})),
            ("exec.run", json!({"id": id, "command": line})),
        ] {
            let refused = wire.fail(method, params);
            assert!(refused.contains("history"), "{method} {line}: {refused}");
        }
        let checked = wire.call("policy.check", json!({"command": line}));
        assert_eq!(checked["allowed"], false, "{line}");
    }
    let refused = wire.fail("session.input", json!({"id": id, "input": "to\\\r"}));
    assert!(refused.contains("goes on in the next line"), "{refused}");
    for command in ["fc -s to", "to\\\nuch x"] {
        let refused = wire.fail("exec.run_wait", json!({"id": id, "command": command}));
        assert!(refused.contains("policy"), "{command}: {refused}");
    }
    let launched = wire.fail("orchestrate.launch", json!({"command": "!to"}));
    assert!(launched.contains("history"), "{launched}");
    // The command can't be typed in advance either, for the shell to read it after a program that ignores it has ended.
    let waiting = fixture.home.path().join("waiting");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &waiting,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    let holds = format!("cat '{}'\r", waiting.display());
    wire.call("session.input", json!({"id": id, "input": holds}));
    support::until("cat", || {
        session.pane.foreground().filter(|process| process.name.ends_with("cat"))
    });
    let refused = wire.fail("session.input", json!({"id": id, "input": "!to\r"}));
    assert!(refused.contains("history"), "{refused}");
    drop(std::fs::OpenOptions::new().write(true).open(&waiting).unwrap());
    wire.call("session.wait", json!({"id": id, "any": [{"prompt": true}]}));
    // An editor is not a shell, so `!` has no special meaning there.
    let script = "stty raw -echo; printf ready; exec cat";
    let editor = fixture.program(&mut wire, "sh", &["-c", script]);
    editor.wait_for_text("ready");
    support::until("the editor", || {
        editor.pane.foreground().filter(|process| process.name.ends_with("cat"))
    });
    wire.call("session.input", json!({"id": editor.id, "input": ":!make\r"}));
    editor.wait_for_text(":!make");
    // A line that no shell rewrites, and a quoted `!`, run unchanged.
    let ran = wire.call("exec.run_wait", json!({"id": id, "command": "echo 'a!b' c!"}));
    assert_eq!(ran["output"], "a!b c!", "{ran}");
    assert!(!target.exists());
}

#[test]
fn a_released_line_is_entered_once() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.program(&mut wire, "cat", &[]);
    let id = session.id;
    block(&mut wire, json!(["forbidden"]));
    let refusal = "Command blocked by policy: forbidden";
    let enter = json!({"id": id, "input": "forbidden 1\r"});
    assert_eq!(wire.fail("session.input", enter.clone()), refusal);
    let refused = wire.call("policy.refused", json!({}))["lines"].take();
    assert_eq!(refused.as_array().map(Vec::len), Some(1), "{refused}");
    assert_eq!(
        (&refused[0]["session_id"], &refused[0]["line"]),
        (&json!(id), &json!("forbidden 1"))
    );

    wire.call("policy.release", json!({"id": id, "line": "forbidden 1"}));
    assert_eq!(wire.fail("session.input", json!({"id": id, "input": "forbidden 12\r"})), refusal);
    wire.call("session.input", enter.clone());
    assert_eq!(wire.fail("session.input", enter.clone()), refusal, "once");

    // The release does not allow another line, even if the rules allow that line.
    wire.call("policy.release", json!({"id": id, "line": "forbidden 1"}));
    let other = json!({"id": id, "input": "allowed\r"});
    let changed = "Command blocked by policy: the line is not the one that the user released";
    assert_eq!(wire.fail("session.input", other.clone()), changed);
    wire.call("session.input", enter);
    wire.call("session.input", other);

    // A released line may be typed in parts, and the text before it counts.
    wire.call("policy.release", json!({"id": id, "line": "forbidden 2"}));
    wire.call("session.input", json!({"id": id, "input": "forbidden 2"}));
    wire.call("session.input", json!({"id": id, "input": "\r"}));
    wire.call("session.input", json!({"id": id, "input": "echo "}));
    wire.call("policy.release", json!({"id": id, "line": "forbidden 3"}));
    assert_eq!(wire.fail("session.input", json!({"id": id, "input": "forbidden 3\r"})), refusal);
    let refused = wire.call("policy.refused", json!({}));
    let last = refused["lines"].as_array().and_then(|lines| lines.last()).unwrap();
    assert_eq!(last["line"], "echo forbidden 3");
    let withdraw = json!({"id": id, "withdraw": true});
    for released in [true, false] {
        assert_eq!(wire.call("policy.release", withdraw.clone()), json!({"released": released}));
    }
    let missing = json!({"id": 4711, "line": "x"});
    assert_eq!(wire.fail("policy.release", missing), "Session 4711 not found");
    assert_eq!(wire.fail("policy.release", json!({"id": id})), "Missing 'line'");
}
