//! Who may type what: the policy, leases, and the log of what was done.

mod support;

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use support::{Fixture, PATIENCE};

fn block(wire: &mut support::Wire, patterns: Value) {
    let rules = json!({"enabled": true, "blocked_patterns": patterns, "allowed_patterns": []});
    assert_eq!(wire.call("policy.set", rules), json!({"set": true}));
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
fn what_is_blocked_can_be_entered_in_no_way() {
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

    // In parts, by several callers, with the person's own, and with what is taken back.
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
    assert_eq!(
        wire.call("policy.check", json!({"command": "cat", "id": bound.id}))["allowed"],
        false
    );
    assert_eq!(wire.call("policy.check", json!({"command": "cat"}))["allowed"], true);
}

#[test]
fn a_lease_keeps_others_out_until_a_person_types() {
    let fixture = Fixture::new();
    let (mut wire, mut other) = (fixture.connect(), fixture.login());
    wire.call("auth.login", json!({"token": fixture.token(), "client": "the first"}));
    let session = fixture.program(&mut wire, "cat", &[]);
    let id = session.id;
    let lease = wire.call("session.lease", json!({"id": id}));
    assert_eq!(lease, json!({"leased": true, "holder": "the first", "ttl_ms": 60_000}));
    let refusal = format!("Session {id} is leased by the first");
    for (method, params) in [
        ("session.input", json!({"id": id, "input": "x"})),
        ("exec.run", json!({"id": id, "command": "x"})),
        ("exec.cancel", json!({"id": id})),
        ("signal.send", json!({"id": id, "signal": "TERM"})),
        ("session.lease", json!({"id": id})),
    ] {
        assert_eq!(other.fail(method, params), refusal, "{method}");
    }
    wire.call("session.input", json!({"id": id, "input": "mine"}));
    assert_eq!(other.call("session.release", json!({"id": id})), json!({"released": false}));
    assert_eq!(wire.call("session.release", json!({"id": id})), json!({"released": true}));
    other.call("session.input", json!({"id": id, "input": "now"}));

    wire.call("session.lease", json!({"id": id}));
    session.pane.touch();
    other.call("session.input", json!({"id": id, "input": "!"}));
    session.wait_for_text("minenow!");

    // It ends with its connection.
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
fn what_is_done_is_logged_and_what_is_only_read_is_not() {
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
    let log = wire.call("session.audit_log", json!({"limit": 3}));
    let log = log.as_array().unwrap();
    let told: Vec<_> = log.iter().map(|entry| (&entry["method"], &entry["detail"])).collect();
    assert_eq!(
        told,
        [
            (&json!("session.destroy"), &json!("")),
            (&json!("signal.send"), &json!("INT")),
            (&json!("exec.run"), &json!("cargo test")),
        ]
    );
    assert_eq!((&log[2]["session_id"], &log[2]["allowed"]), (&json!(id.to_string()), &json!(true)));
    assert_eq!(log[2]["client"], "tester");
    assert!(log[2]["timestamp"].as_str().unwrap().ends_with('Z'));

    // What a program does not show is not in the log either.
    let script = "stty -echo; printf 'Password: '; exec cat > /dev/null";
    let session = fixture.program(&mut wire, "sh", &["-c", script]);
    session.wait_for_text("Password:");
    while session.pane.foreground().is_none_or(|process| !process.name.ends_with("cat")) {
        std::thread::yield_now();
    }
    wire.call("session.input", json!({"id": session.id, "input": "hunter2\r"}));
    let log = wire.call("session.audit_log", json!({"limit": 1}));
    assert_eq!(log[0]["detail"], "(not shown: the program does not echo it)");

    let path = fixture.registry().join("audit.jsonl");
    let start = std::time::Instant::now();
    let text = loop {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        if text.contains("not shown") {
            break text;
        }
        assert!(start.elapsed() < PATIENCE, "the file was never written: {text}");
        std::thread::yield_now();
    };
    for line in text.lines() {
        let entry: Value = serde_json::from_str(line).unwrap();
        assert!(entry["method"].is_string(), "{line}");
    }
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}
