//! Tests of answers to programs (`inbox.show`, `inbox.answer`) and of entries that are put aside.

use serde_json::{Value, json};

use crate::support::{Fixture, Session, Wire};

/// The output of a program that asks for permission: a report (OSC 7501), a question and its choices.
const ASK: &str = "printf '\\033[H\\033[2J\\033]7501;state=blocked:kind=permission:msg=UnVuIGl0Pw==\\007Run it?\\r\\n> 1. Yes\\r\\n  2. No\\r\\n'";

/// Types a command of the session's shell, without waiting.
fn enter(wire: &mut Wire, session: &Session, command: &str) {
    wire.call("session.input", json!({"id": session.id, "input": format!("{command}\r")}));
}

/// Waits until the session meets a condition.
fn until(wire: &mut Wire, session: &Session, condition: Value) {
    let waited = wire
        .call("session.wait", json!({"id": session.id, "any": [condition], "timeout_ms": 60_000}));
    assert_eq!(waited["matched"], true, "{waited}");
}

/// Starts a program that asks for permission, and then runs `after`. Returns the question.
fn ask(wire: &mut Wire, session: &Session, after: &str) -> Value {
    enter(wire, session, &format!("{ASK}; {after}"));
    session.wait_for(|screen| screen.contains("> 1. Yes\n  2. No"));
    until(wire, session, json!({"state": "needs_you"}));
    show(wire, session)
}

fn show(wire: &mut Wire, session: &Session) -> Value {
    wire.call("inbox.show", json!({"id": session.id}))
}

/// Parameters of `inbox.answer`.
fn params(session: &Session, shown: &Value, name: &str, value: Value) -> Value {
    let mut params = json!({"id": session.id, "dialog": shown["dialog"]});
    params[name] = value;
    params
}

fn answer(wire: &mut Wire, session: &Session, shown: &Value, name: &str, value: Value) -> Value {
    wire.call("inbox.answer", params(session, shown, name, value))
}

const READ: &str = "read -r A; printf 'got <%s>\\n' \"$A\"; read -r B; printf 'and <%s>\\n' \"$B\"";

#[test]
fn an_answer_reaches_the_dialog_and_a_second_one_is_refused() {
    let fixture = Fixture::new();
    let (mut wire, mut other) = (fixture.login(), fixture.login());
    let session = fixture.marked_shell(&mut wire);
    let shown = ask(&mut wire, &session, READ);
    assert_eq!(
        (&shown["kind"], &shown["question"]),
        (&json!("permission"), &json!("Run it?")),
        "{shown}"
    );
    assert_eq!(shown["rows"], json!(["Run it?", "> 1. Yes", "  2. No"]));
    assert_eq!(
        shown["choices"],
        json!([{"number": 1, "label": "Yes"}, {"number": 2, "label": "No"}])
    );
    assert_eq!((&shown["approve"], &shown["deny"]), (&json!(1), &json!(2)));
    let first = answer(&mut wire, &session, &shown, "answer", json!("deny"));
    assert_eq!(first, json!({"answered": true}));
    let second = answer(&mut other, &session, &shown, "choice", json!(1));
    assert_eq!(second["answered"], false, "{second}");
    assert!(second["reason"].is_string(), "{second}");
    session.wait_for_text("got <2>");
    // The second answer was not typed, so the program receives the next typed line.
    enter(&mut wire, &session, "next");
    session.wait_for_text("and <next>");
}

#[test]
fn a_redrawn_dialog_is_shown_again() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    let pipe = fixture.home.path().join("pipe");
    enter(&mut wire, &session, "mkfifo pipe; (cat pipe &)");
    until(&mut wire, &session, json!({"command_done": true}));
    let shown = ask(&mut wire, &session, READ);
    // Another process of the pane replaces the question.
    std::fs::write(&pipe, "\x1b7\x1b[1;1HDelete it?\x1b8").unwrap();
    session.wait_for_text("Delete it?");
    let refused = answer(&mut wire, &session, &shown, "answer", json!("approve"));
    assert_eq!(refused["answered"], false, "{refused}");
    let present = &refused["shown"];
    assert_eq!(present["rows"][0], "Delete it?", "{refused}");
    assert_ne!(present["dialog"], shown["dialog"]);
    let answered = answer(&mut wire, &session, present, "text", json!("2"));
    assert_eq!(answered, json!({"answered": true}));
    session.wait_for_text("got <2>");
}

#[test]
fn a_key_of_the_user_ends_a_dialog_that_another_saw() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    let shown = ask(&mut wire, &session, READ);
    session.pane.touch();
    session.pane.write(b"2").unwrap();
    let refused = answer(&mut wire, &session, &shown, "answer", json!("approve"));
    assert_eq!(refused["answered"], false, "{refused}");
    session.pane.write(b"\r").unwrap();
    session.wait_for_text("got <2>");
}

#[test]
fn a_program_that_was_killed_gets_no_answer() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    // Like ssh, the program ends without a word, and its last report stays.
    enter(
        &mut wire,
        &session,
        &format!("sh -c \"{}; exec sleep 1000\"", ASK.replace('\\', "\\\\")),
    );
    session.wait_for(|screen| screen.contains("> 1. Yes\n  2. No"));
    until(&mut wire, &session, json!({"state": "needs_you"}));
    let shown = show(&mut wire, &session);
    wire.call("session.signal", json!({"id": session.id, "signal": "KILL"}));
    until(&mut wire, &session, json!({"prompt": true}));
    let refused = answer(&mut wire, &session, &shown, "answer", json!("approve"));
    assert_eq!((&refused["answered"], refused.get("shown")), (&json!(false), None), "{refused}");
    let why = wire.fail("inbox.show", json!({"id": session.id}));
    assert!(why.contains("needs nothing"), "{why}");
    assert_eq!(wire.call("inbox.list", json!({}))["entries"], json!([]));
    // The shell's line is still empty.
    enter(&mut wire, &session, "printf 'only %s\\n' this");
    session.wait_for_text("only this");
}

#[test]
fn leases_of_agents_and_other_callers_are_respected() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    let shown = ask(&mut wire, &session, READ);
    let mut agent = fixture.connect();
    agent.call("auth.login", json!({"token": fixture.token(), "client": "agent", "agent": true}));
    let (mut made, _) = fixture.login_with(&mut wire, json!({"name": "script", "scope": "admin"}));
    let key = wire.call("inbox.list", json!({}))["entries"][0]["key"].clone();
    let answer = params(&session, &shown, "answer", json!("approve"));
    for caller in [&mut agent, &mut made] {
        for (method, params) in [
            ("inbox.answer", answer.clone()),
            ("inbox.dismiss", json!({"key": key})),
            ("inbox.snooze", json!({"key": key, "duration_ms": 1000})),
            ("inbox.restore", json!({"key": key})),
        ] {
            let why = caller.fail(method, params);
            assert!(why.starts_with("Not allowed: only the user"), "{method}: {why}");
        }
        assert_eq!(show(caller, &session)["dialog"], shown["dialog"]);
    }
    let mut holder = fixture.login();
    holder.call("session.lease", json!({"id": session.id}));
    let why = wire.fail("inbox.answer", answer);
    assert!(why.contains("is leased by"), "{why}");
    assert!(!crate::support::screen(&session.pane).contains("got <"));
}

#[test]
fn a_password_is_never_answered_here() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    enter(&mut wire, &session, "read -r -s -p 'Password: ' P; printf 'length %s\\n' \"${#P}\"");
    until(&mut wire, &session, json!({"state": "needs_you"}));
    let shown = show(&mut wire, &session);
    assert_eq!(shown["kind"], "password", "{shown}");
    wire.fail("inbox.answer", params(&session, &shown, "text", json!("secret")));
    enter(&mut wire, &session, "");
    session.wait_for_text("length 0");
}

#[test]
fn an_answer_must_be_one_that_the_dialog_offers() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    enter(&mut wire, &session, "clear; read -r -p 'Which color? ' A; printf 'got <%s>\\n' \"$A\"");
    until(&mut wire, &session, json!({"state": "needs_you"}));
    let shown = show(&mut wire, &session);
    assert_eq!(shown["choices"], json!([]), "{shown}");
    for (name, value) in [
        ("answer", json!("approve")),
        ("answer", json!("perhaps")),
        ("choice", json!(1)),
        ("choice", json!(0)),
        ("text", json!("two\rlines")),
        ("text", json!("a\u{1b}[A")),
        ("keys", json!(["no such key"])),
    ] {
        wire.fail("inbox.answer", params(&session, &shown, name, value));
    }
    let none = json!({"id": session.id, "dialog": shown["dialog"]});
    assert_eq!(wire.fail("inbox.answer", none), "Missing 'answer'");
    let mut two = params(&session, &shown, "text", json!("red"));
    two["choice"] = json!(1);
    assert!(wire.fail("inbox.answer", two).contains("exactly one"));
    let answered = answer(&mut wire, &session, &shown, "text", json!("red"));
    assert_eq!(answered, json!({"answered": true}));
    session.wait_for_text("got <red>");
}

#[test]
fn an_entry_is_put_aside_until_it_is_asked_again() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    ask(&mut wire, &session, "read -r A");
    let listed = wire.call("inbox.list", json!({}));
    let key = listed["entries"][0]["key"].clone();
    assert_eq!(wire.call("inbox.dismiss", json!({"key": key})), json!({"aside": true}));
    let empty = wire.call("inbox.list", json!({}));
    assert_eq!(empty["entries"], json!([]));
    let all = wire.call("inbox.list", json!({"all": true}));
    assert_eq!((&all["entries"][0]["key"], &all["entries"][0]["aside"]), (&key, &json!(true)));
    let explained = wire.call("session.explain", json!({"id": session.id}));
    assert_eq!(explained["state"], "needs_you", "the state is the program's");
    assert_eq!(wire.call("inbox.restore", json!({"key": key})), json!({"aside": false}));
    assert_eq!(wire.call("inbox.list", json!({})), listed);
    // When the time of a snoozed entry is over, a caller that waits for the inbox gets a reply.
    wire.call("inbox.snooze", json!({"key": key, "duration_ms": 300}));
    let back = json!({"version": empty["version"], "timeout_ms": 60_000});
    assert_eq!(wire.call("inbox.list", back)["entries"][0]["key"], key);
    wire.call("inbox.dismiss", json!({"key": key}));
    enter(&mut wire, &session, "");
    until(&mut wire, &session, json!({"state": "idle"}));
    ask(&mut wire, &session, "read -r A");
    let again = wire.call("inbox.list", json!({}));
    assert_eq!(again["entries"][0]["question"], "Run it?", "{again}");
    let why = wire.fail("inbox.dismiss", json!({"key": key}));
    assert!(why.contains("list the inbox again"), "{why}");
    for wrong in [json!(0), json!(8 * 24 * 3600 * 1000), json!("1m")] {
        wire.fail("inbox.snooze", json!({"key": again["entries"][0]["key"], "duration_ms": wrong}));
    }
}
