//! Tests of `screen.search_all` and `block.diff`.

use serde_json::{Value, json};

use crate::support::{Fixture, Session, Wire, run};

fn search(wire: &mut Wire, params: Value) -> Value {
    wire.call("screen.search_all", params)
}

fn texts(found: &Value) -> Vec<&str> {
    found["matches"].as_array().unwrap().iter().map(|it| it["text"].as_str().unwrap()).collect()
}

/// Runs a command in a session with marks.
fn does(wire: &mut Wire, session: &Session, command: &str) {
    run(wire, session, command);
}

#[test]
fn a_line_is_found_in_every_session_with_its_command() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let (one, two) = (fixture.marked_shell(&mut wire), fixture.marked_shell(&mut wire));
    does(&mut wire, &one, "echo nee''dle one; (exit 3)");
    does(&mut wire, &two, "cd / && echo nee''dle two");
    let found = search(&mut wire, json!({"pattern": "needle"}));
    assert_eq!(texts(&found), ["needle two", "needle one"], "newest first");
    let [newest, oldest] = [&found["matches"][0], &found["matches"][1]];
    assert_eq!((&newest["session"], &newest["exit_code"]), (&json!(two.id), &json!(0)));
    assert_eq!((&oldest["session"], &oldest["exit_code"]), (&json!(one.id), &json!(3)));
    assert_eq!(oldest["command"], "echo nee''dle one; (exit 3)");
    assert!(oldest["time"].as_str().is_some_and(|time| time.ends_with('Z')), "{found}");
    assert!(newest["cwd"].as_str().is_some_and(|cwd| cwd.starts_with("file:///")), "{found}");
    let got = wire.call("block.get", json!({"id": one.id, "block": oldest["block"]}));
    assert_eq!(got["output"], "needle one");
    assert_eq!(found.get("complete").and(found.get("more")), None);
    let some =
        search(&mut wire, json!({"pattern": "NEEDLE", "ignore_case": true, "max_results": 1}));
    assert_eq!((texts(&some), &some["more"]), (vec!["needle two"], &json!(true)));
    // A typed line is no output.
    does(&mut wire, &one, ": typed thread");
    assert_eq!(search(&mut wire, json!({"pattern": "thread"}))["matches"], json!([]));
    let none = search(&mut wire, json!({"pattern": "n.edle"}));
    assert_eq!(none, json!({"matches": []}));
    let regex = search(&mut wire, json!({"pattern": "^n.edle one$", "regex": true}));
    assert_eq!(texts(&regex), ["needle one"]);
}

#[test]
fn a_search_is_bounded_and_hides_secrets() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    let secret = format!("ghp_{}", "a1".repeat(18));
    does(&mut wire, &session, &format!("printf '%0600d ne''edle token {secret}\\n' 0"));
    let found = search(&mut wire, json!({"pattern": "needle"}));
    let [text] = *texts(&found) else { panic!("{found}") };
    assert!(text.contains("needle token") && text.chars().count() <= 502, "{text}");
    assert!(!found.to_string().contains(&secret), "{found}");
    for wrong in [
        json!({}),
        json!({"pattern": ""}),
        json!({"pattern": "(", "regex": true}),
        json!({"pattern": "x", "max_results": 0}),
        json!({"pattern": "x", "max_results": 1001}),
    ] {
        wire.fail("screen.search_all", wrong);
    }
}

#[test]
fn recordings_are_searched_if_asked() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    wire.call("session.recording_start", json!({"id": session.id}));
    does(&mut wire, &session, "echo nee''dle; (exit 4)");
    wire.call("session.recording_stop", json!({"id": session.id}));
    wire.call("session.destroy", json!({"id": session.id}));
    assert_eq!(search(&mut wire, json!({"pattern": "needle"}))["matches"], json!([]));
    let found = search(&mut wire, json!({"pattern": "needle", "recorded": true}));
    assert_eq!(texts(&found), ["needle"], "{found}");
    let line = &found["matches"][0];
    assert_eq!((&line["exit_code"], line.get("session")), (&json!(4), None), "{found}");
    let read = json!({"session_id": line["recording"]});
    let page = wire.call("session.recording_read", read);
    assert!(page["markdown"].as_str().unwrap().contains("needle"), "{page}");
}

#[test]
fn a_token_for_one_session_searches_no_other() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.program(&mut wire, "cat", &[]);
    let token = json!({"name": "one", "scope": "admin", "panes": [session.id]});
    let (mut bound, _) = fixture.login_with(&mut wire, token);
    let why = bound.fail("screen.search_all", json!({"pattern": "x"}));
    assert_eq!(why, "Not allowed: screen.search_all is out of the token's sessions");
}

#[test]
fn a_command_is_compared_with_its_last_run() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    let id = session.id;
    does(&mut wire, &session, "echo a > list; echo b >> list");
    does(&mut wire, &session, "cat list");
    let why = wire.fail("block.diff", json!({"id": id}));
    assert!(why.contains("has no earlier run"), "{why}");
    does(&mut wire, &session, "echo c >> list");
    does(&mut wire, &session, "cat list");
    let compared = wire.call("block.diff", json!({"id": id}));
    assert_eq!(compared["lines"], json!([" a", " b", "+c"]), "{compared}");
    assert_eq!(compared["block"]["command"], "cat list");
    assert!(compared["with"]["block"].as_u64() < compared["block"]["block"].as_u64());
    does(&mut wire, &session, "cat list");
    assert_eq!(wire.call("block.diff", json!({"id": id}))["lines"], json!([]));
    let with = compared["with"]["block"].clone();
    let chosen = wire.call("block.diff", json!({"id": id, "with": with}));
    assert_eq!(chosen["lines"], json!([" a", " b", "+c"]), "{chosen}");
    wire.fail("block.diff", json!({"id": id, "block": 9999}));
}
