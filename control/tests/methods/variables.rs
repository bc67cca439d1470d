//! Tests of `session.env` and `session.set_env` in real shells.

use crate::support::{Fixture, Session, Wire};
use serde_json::{Value, json};

/// A shell with marked prompts, at its first prompt. `None` if the shell is not installed.
fn shell(fixture: &Fixture, wire: &mut Wire, program: &str) -> Option<Session> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    if !std::env::split_paths(&path).any(|folder| folder.join(program).is_file()) {
        return None;
    }
    fixture.integrate();
    let session = fixture.program(wire, program, &[]);
    let reply = wire.call("session.wait", json!({"id": session.id, "any": [{"prompt": true}]}));
    assert_eq!(reply["matched"], true, "{program}: {reply}");
    Some(session)
}

fn set(wire: &mut Wire, id: u64, name: &str, value: &str) -> Value {
    wire.call("session.set_env", json!({"id": id, "name": name, "value": value}))
}

/// The lines and the cursor of the screen. The screen's `seq` is left out, because zsh changes modes after it shows its
/// prompt.
fn shown(wire: &mut Wire, id: u64) -> (Value, Value) {
    let screen = wire.call("screen.text", json!({"id": id}));
    (screen["lines"].clone(), screen["cursor"].clone())
}

fn run(wire: &mut Wire, id: u64, command: &str) -> String {
    let reply = wire.call("exec.run_wait", json!({"id": id, "command": command}));
    assert_eq!(reply["exit_status"], "completed", "{command}: {reply}");
    reply["output"].as_str().unwrap().to_owned()
}

#[test]
fn the_next_command_has_what_was_set_and_nothing_shows() {
    for program in ["bash", "zsh", "fish"] {
        let fixture = Fixture::new();
        let mut wire = fixture.login();
        let Some(session) = shell(&fixture, &mut wire, program) else { continue };
        let id = session.id;
        let before = shown(&mut wire, id);
        let value = "it's \"two\"\nlines; $HOME \\ `x`";
        let reply = set(&mut wire, id, "OWN", value);
        assert_eq!(reply["status"], "ok");
        assert_eq!(reply["applied"], true, "{program}: {reply}");
        assert_eq!(shown(&mut wire, id), before, "{program}");
        assert_eq!(run(&mut wire, id, "printf '%s|' \"$OWN\""), format!("{value}|"), "{program}");
        assert_eq!(run(&mut wire, id, "env printenv OWN"), value, "{program}: programs too");
        assert_eq!(wire.call("session.env", json!({"id": id, "name": "OWN"}))["value"], value);

        // A value that the shell sets later remains until the variable is set by a call again.
        let own = if program == "fish" { "set -gx OWN mine" } else { "export OWN=mine" };
        run(&mut wire, id, own);
        set(&mut wire, id, "OTHER", "1");
        assert_eq!(run(&mut wire, id, "echo $OWN $OTHER"), "mine 1", "{program}");
        set(&mut wire, id, "OWN", "again");
        assert_eq!(run(&mut wire, id, "echo $OWN"), "again", "{program}");

        let away = json!({"id": id, "name": "OWN", "unset": true});
        assert_eq!(wire.call("session.set_env", away)["applied"], true);
        assert_eq!(run(&mut wire, id, "echo \"<$OWN>\""), "<>", "{program}");
        assert_eq!(
            wire.call("session.env", json!({"id": id, "name": "OWN"}))["value"],
            Value::Null
        );
    }
}

#[test]
fn split_sessions_inherit_variables_and_others_do_not() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    set(&mut wire, session.id, "OWN", "1");
    // `true` prevents sh from replacing itself with `cat`, because the process would have no environment for a moment.
    let args = json!(["-c", "echo up; cat; true"]);
    let is_up = |wire: &mut Wire, id: &Value| {
        let up =
            wire.call("session.wait", json!({"id": id, "any": [{"text": "up"}], "since_seq": 0}));
        assert_eq!(up["matched"], true, "{up}");
    };
    let split = json!({"id": session.id, "program": "sh", "args": args});
    let split = wire.call("session.split", split);
    is_up(&mut wire, &split["id"]);
    let env = |wire: &mut Wire, id: &Value| {
        wire.call("session.env", json!({"id": id, "name": "OWN"}))["value"].clone()
    };
    assert_eq!(env(&mut wire, &split["id"]), "1");
    let other = json!({"program": "sh", "args": args, "env": {"B": "2"}});
    let other = wire.call("session.create", other);
    is_up(&mut wire, &other["id"]);
    assert_eq!(env(&mut wire, &other["id"]), Value::Null);
    let own = wire.call("session.env", json!({"id": other["id"], "name": "B"}));
    assert_eq!(own["value"], "2");
    assert!(own["message"].as_str().unwrap().contains("started with"), "{own}");
}

#[test]
fn exported_variables_are_read_from_the_shells_programs() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    let id = session.id;
    let own = json!({"id": id, "name": "OWN"});
    run(&mut wire, id, "export OWN=mine");
    let reply = wire.call("session.env", own.clone());
    assert_eq!((&reply["value"], &reply["source"]), (&Value::Null, &json!("process")));
    let message = reply["message"].as_str().unwrap();
    assert!(
        message.ends_with("run `printenv` with exec.run_wait to see the shell's value"),
        "{message}"
    );
    assert_eq!(run(&mut wire, id, "printenv OWN"), "mine");
    // `true` prevents sh from replacing itself with `cat`, because the process would have no environment for a moment.
    wire.call("exec.run", json!({"id": id, "command": "sh -c 'echo u''p; cat; true'"}));
    session.wait_for(|screen| screen.lines().any(|line| line == "up"));
    let reply = wire.call("session.env", own.clone());
    assert_eq!((&reply["value"], &reply["source"]), (&json!("mine"), &json!("process")));
    wire.call("session.input", json!({"id": id, "input": "\x04"}));
    set(&mut wire, id, "OWN", "theirs");
    let reply = wire.call("session.env", own);
    assert_eq!((&reply["value"], &reply["source"]), (&json!("theirs"), &json!("set_env")));
}

#[test]
fn a_shell_without_integration_says_that_nothing_was_applied() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.shell(&mut wire);
    let reply = set(&mut wire, session.id, "OWN", "1");
    assert_eq!((&reply["status"], &reply["applied"]), (&json!("ok"), &json!(false)));
    assert!(reply["message"].as_str().unwrap().contains("no integration"), "{reply}");
    assert_eq!(
        wire.call("session.env", json!({"id": session.id, "name": "OWN"}))["value"],
        Value::Null
    );
}

#[test]
fn the_rules_and_leases_hold_here_too() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    let rules = json!({"enabled": true, "blocked_patterns": ["rm -rf"], "allowed_patterns": []});
    wire.call("policy.set", rules);
    let params = json!({"id": session.id, "name": "PROMPT_COMMAND", "value": "rm -rf /"});
    assert_eq!(wire.fail("session.set_env", params), "Command blocked by policy: rm -rf");
    let mut other = fixture.login();
    other.call("session.lease", json!({"id": session.id}));
    let params = json!({"id": session.id, "name": "A", "value": "1"});
    assert!(wire.fail("session.set_env", params).contains("is leased by"));
}

#[test]
fn only_admins_get_the_ticket_for_the_nonce() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    let params = json!({"id": session.id});
    let nonce = session.pane.nonce().unwrap().to_string();
    for access in ["read", "act"] {
        let (mut other, _) =
            fixture.login_with(&mut wire, json!({"name": access, "scope": access}));
        let refused = other.fail("session.lend_nonce", params.clone());
        assert_eq!(refused, "Not allowed: session.lend_nonce is out of the token's scopes");
    }
    let ticket = wire.call("session.lend_nonce", params.clone())["ticket"].clone();
    let ticket = ticket.as_str().unwrap();
    assert!(!nonce.contains(ticket));
    // This script acts like the login shell on another machine.
    let script = format!(
        "s=$(stty -g); stty -echo; printf '\\033]1337;UntermNonce={ticket}\\007'; \
         IFS= read -r n; stty \"$s\"; echo \"<${{n#unterm-nonce:}}>\""
    );
    let ran = wire.call("exec.run_wait", json!({"id": session.id, "command": script}));
    assert_eq!(ran["output"], format!("<{nonce}>"), "{ran}");
    let plain = Fixture::new();
    let mut wire = plain.login();
    let session = plain.shell(&mut wire);
    let error = wire.fail("session.lend_nonce", json!({"id": session.id}));
    assert!(error.contains("no shell integration"), "{error}");
}
