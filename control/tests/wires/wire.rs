//! Tests of the connection in detail: every example of the reference, every error code and message, and cases that the
//! reference does not define.

use crate::support::{self, Fixture, Wire};
use serde_json::{Value, json};

const NOT_AUTHENTICATED: &str =
    r#""error":{"code":-32002,"message":"Not authenticated. Call auth.login first"}}"#;

#[test]
fn the_handshake_of_the_reference() {
    let fixture = Fixture::new();
    let mut wire = fixture.connect();
    let token = fixture.token();
    assert_eq!(
        wire.exchange(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"auth.login","params":{{"token":"{token}"}}}}"#
        )),
        r#"{"jsonrpc":"2.0","id":1,"result":{"status":"ok"}}"#
    );
    assert_eq!(
        wire.exchange(r#"{"jsonrpc":"2.0","id":2,"method":"session.list","params":{}}"#),
        r#"{"jsonrpc":"2.0","id":2,"result":{"sessions":[]}}"#
    );
    let session = fixture.shell(&mut wire);
    let list = wire.exchange(r#"{"jsonrpc":"2.0","id":3,"method":"session.list","params":{}}"#);
    let prefix = format!(
        r#"{{"jsonrpc":"2.0","id":3,"result":{{"sessions":[{{"id":{},"title":""#,
        session.id
    );
    assert!(list.starts_with(&prefix), "{list}");
    assert!(list.contains(r#","cols":80,"rows":24,"cursor":{"x":"#), "{list}");
}

#[test]
fn the_examples_of_the_reference() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let home = fixture.home.path().to_str().unwrap();
    let created = wire.exchange(&format!(
        r#"{{"jsonrpc":"2.0","id":4,"method":"session.create","params":{{"cwd":"{home}","cols":160,"rows":48,"program":"cat"}}}}"#
    ));
    let reply: Value = serde_json::from_str(&created).unwrap();
    let id = reply["result"]["id"].as_u64().unwrap();
    assert!(
        created.starts_with(&format!(
            r#"{{"jsonrpc":"2.0","id":4,"result":{{"id":{id},"session_id":"{id}","title":""#
        )) && created.ends_with(r#"","cols":160,"rows":48}}"#),
        "{created}"
    );
    assert_eq!(
        wire.exchange(&format!(
            r#"{{"jsonrpc":"2.0","id":5,"method":"exec.run","params":{{"id":{id},"command":"cargo test --workspace"}}}}"#
        )),
        r#"{"jsonrpc":"2.0","id":5,"result":{"sent":true}}"#
    );
    assert_eq!(
        wire.exchange(&format!(
            r#"{{"jsonrpc":"2.0","id":6,"method":"signal.send","params":{{"id":{id},"signal":"SIGINT"}}}}"#
        )),
        r#"{"jsonrpc":"2.0","id":6,"result":{"sent":true,"signal":"SIGINT"}}"#
    );
}

#[test]
fn nothing_goes_before_login() {
    let fixture = Fixture::new();
    let mut wire = fixture.connect();
    assert_eq!(
        wire.exchange(r#"{"jsonrpc":"2.0","id":1,"method":"session.list"}"#),
        format!(r#"{{"jsonrpc":"2.0","id":1,{NOT_AUTHENTICATED}"#)
    );
    assert_eq!(
        wire.exchange(r#"{"id":"a","method":"nope.nope"}"#),
        format!(r#"{{"jsonrpc":"2.0","id":"a",{NOT_AUTHENTICATED}"#)
    );
    assert_eq!(
        wire.exchange("{bad}"),
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error: key must be a string at line 1 column 2"}}"#
    );
    assert_eq!(
        wire.exchange(r#"{"id":2,"method":"auth.login","params":{"token":"nonsense"}}"#),
        r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32001,"message":"Invalid auth token"}}"#
    );
    for params in ["", r#","params":{}"#, r#","params":{"token":7}"#, r#","params":["t"]"#] {
        let reply = wire.exchange(&format!(r#"{{"id":3,"method":"auth.login"{params}}}"#));
        assert!(reply.contains(r#""code":-32001,"message":"Invalid auth token""#), "{reply}");
    }
    // The connection stays open, and accepts the right token.
    assert_eq!(wire.call("auth.login", json!({"token": fixture.token()})), json!({"status": "ok"}));
}

#[test]
fn a_second_login_is_answered_and_takes_nothing_away() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    assert_eq!(
        wire.call("auth.login", json!({"token": fixture.token(), "client": "test"})),
        json!({"status": "ok"})
    );
    assert_eq!(wire.reply("auth.login", json!({"token": "no"}))["error"]["code"], -32001);
    assert_eq!(wire.call("session.list", json!({})), json!({"sessions": []}));
}

#[test]
fn a_second_login_ends_the_subscription_of_the_first() {
    let fixture = Fixture::new();
    let mut user = fixture.login();
    let session = fixture.program(&mut user, "cat", &[]);
    let title = |wire: &mut Wire| -> Value {
        let event: Value = serde_json::from_str(&wire.receive().unwrap()).unwrap();
        assert_eq!(event["method"], "event", "{event}");
        event["params"]["title"].clone()
    };
    let rename = |user: &mut Wire, to: &str| {
        user.call("session.rename", json!({"id": session.id, "title": to}));
    };
    support::until("cat", || (session.pane.title() == "cat").then_some(()));
    let mut wire = fixture.login();
    wire.call("events.subscribe", json!({"events": ["title"]}));
    rename(&mut user, "one");
    assert_eq!(title(&mut wire), "one");
    // A wrong token changes nothing. Another login with the same token ends the subscription.
    assert_eq!(wire.reply("auth.login", json!({"token": "no"}))["error"]["code"], -32001);
    rename(&mut user, "two");
    assert_eq!(title(&mut wire), "two");
    wire.call("auth.login", json!({"token": fixture.token(), "client": "the same"}));
    rename(&mut user, "unheard");
    let info = wire.call("session.get", json!({"id": session.id}));
    assert_eq!(info["title"], "unheard", "and no event came before it: {info}");
    wire.call("events.subscribe", json!({"events": ["title"]}));
    // A login with another token resets the connection: the new caller may neither receive the events nor hold the
    // lease of the first caller.
    wire.call("session.lease", json!({"id": session.id}));
    assert!(user.fail("session.input", json!({"id": session.id, "input": "x"})).contains("leased"));
    let other = fixture.program(&mut user, "cat", &[]);
    let made = user.call("token.create", json!({"name": "lesser", "panes": [other.id]}));
    wire.call("auth.login", json!({"token": made["token"]}));
    user.call("session.input", json!({"id": session.id, "input": "x"}));
    rename(&mut user, "three");
    let listed = wire.call("session.list", json!({}));
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 1, "and no event came before it");
    wire.call("events.subscribe", json!({"events": ["title"]}));
    user.call("session.rename", json!({"id": other.id, "title": "four"}));
    assert_eq!(title(&mut wire), "four");
}

#[test]
fn ids_come_back_as_they_were_and_the_version_is_not_checked() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    for id in ["7", "-1.5e3", "\"x\\u0041\"", "null", "[1,2]", r#"{"a":{}}"#, "true"] {
        let reply =
            wire.exchange(&format!(r#"{{"jsonrpc":"1.0","id":{id},"method":"server.info"}}"#));
        assert!(
            reply.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"name""#)),
            "{reply}"
        );
    }
    let reply = wire.exchange(r#"{"method":"nope"}"#);
    assert_eq!(
        reply,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"Unknown method: nope"}}"#
    );
}

#[test]
fn blank_lines_get_no_reply() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    wire.send("\n\n   \n\t\r\n\r\n");
    assert_eq!(wire.call("session.list", json!({})), json!({"sessions": []}));
}

/// JSON that is not a request, with the id in its answer.
const NO_REQUESTS: [(&str, &str); 10] = [
    ("[]", "null"),
    (r#"[{"jsonrpc":"2.0","id":1,"method":"server.info"}]"#, "null"),
    ("42", "null"),
    (r#""x""#, "null"),
    ("null", "null"),
    ("{}", "null"),
    (r#"{"id":9}"#, "9"),
    (r#"{"id":9,"method":42}"#, "9"),
    (r#"{"id":9,"method":null}"#, "9"),
    (r#"{"id":9,"method":["server.info"]}"#, "9"),
];

#[test]
fn json_that_is_no_request_is_an_unknown_method() {
    let fixture = Fixture::new();
    let mut wire = fixture.connect();
    for (line, id) in NO_REQUESTS {
        let refused = format!(r#"{{"jsonrpc":"2.0","id":{id},{NOT_AUTHENTICATED}"#);
        assert_eq!(wire.exchange(line), refused, "{line}");
    }
    wire.call("auth.login", json!({"token": fixture.token()}));
    for (line, id) in NO_REQUESTS {
        let unknown = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32603,"message":"Unknown method: "}}}}"#
        );
        assert_eq!(wire.exchange(line), unknown, "{line}");
    }
    assert_eq!(wire.call("session.list", json!({})), json!({"sessions": []}));
}

#[test]
fn invalid_json_is_an_error_and_the_connection_continues() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    for line in ["garbage", "{", "[1", "{\"id\":}", "{\"method\":\"x\"} trailing"] {
        let reply: Value = serde_json::from_str(&wire.exchange(line)).unwrap();
        assert_eq!(
            (&reply["id"], &reply["error"]["code"]),
            (&json!(null), &json!(-32700)),
            "{line}"
        );
        let message = reply["error"]["message"].as_str().unwrap();
        assert!(message.starts_with("Parse error: ") && message.contains("line 1"), "{message}");
    }
    wire.send(b"{\"id\":1,\"method\":\"\xff\xfe\"}\n");
    let reply = wire.receive().unwrap();
    assert!(reply.starts_with(
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error: "#
    ));
    assert_eq!(wire.call("session.list", json!({})), json!({"sessions": []}));
}

#[test]
fn every_message_to_the_letter() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let id = fixture.program(&mut wire, "cat", &[]).id;
    let missing = "Missing 'id' or 'session_id' parameter";
    for params in [
        json!({}),
        json!({"id": -1}),
        json!({"id": 0.0}),
        json!({"id": true}),
        json!({"id": null}),
        json!([7]),
        json!(null),
    ] {
        assert_eq!(wire.fail("session.status", params.clone()), missing, "{params}");
    }
    let cases = [
        ("nope.nope", json!({}), "Unknown method: nope.nope"),
        ("session.env", json!({"id": id}), "Missing 'name'"),
        ("session.set_env", json!({"id": id, "name": "A"}), "Missing 'value'"),
        (
            "session.set_env",
            json!({"id": id, "name": "A-B", "value": ""}),
            "Invalid 'name': expected letters, digits and '_', and a value without NUL, got \"A-B\"",
        ),
        ("session.status", json!({"id": 9999}), "Session 9999 not found"),
        ("session.status", json!({"session_id": "9999"}), "Session 9999 not found"),
        ("screen.text", json!({"session_id": "abc"}), "Invalid session_id: \"abc\""),
        ("exec.run", json!({"id": id}), "Missing 'command'"),
        ("exec.run", json!({"id": id, "command": 5}), "Missing 'command'"),
        ("exec.run_wait", json!({"id": id}), "Missing 'command'"),
        ("session.input", json!({"id": id}), "Missing 'input' parameter"),
        ("exec.send", json!({"id": id, "input": null}), "Missing 'input' parameter"),
        ("signal.send", json!({"id": id}), "Missing 'signal'"),
        ("signal.send", json!({"id": id, "signal": "SIGWINCH"}), "Unsupported signal: SIGWINCH"),
        ("signal.send", json!({"id": id, "signal": "SIGTERM"}), "Unsupported signal: SIGTERM"),
        ("signal.send", json!({"id": id, "signal": "SIGKILL"}), "Unsupported signal: SIGKILL"),
        ("signal.send", json!({"id": id, "signal": "kill"}), "Unsupported signal: kill"),
        ("screen.search", json!({"id": id}), "Missing 'pattern'"),
        ("session.resize", json!({"id": id, "rows": 5}), "Missing 'cols'"),
        ("session.resize", json!({"id": id, "cols": 5}), "Missing 'rows'"),
        (
            "session.resize",
            json!({"id": id, "cols": 0, "rows": 5}),
            "Invalid 'cols': expected a whole number from 1 to 10000, got 0",
        ),
        (
            "session.create",
            json!({"rows": "many"}),
            "Invalid 'rows': expected a whole number from 1 to 10000, got \"many\"",
        ),
        (
            "session.create",
            json!({"cols": 10000, "rows": 10000}),
            "Invalid size: 10000x10000 is more than 4000000 cells",
        ),
        (
            "session.create",
            json!({"cwd": "/no/such/place"}),
            "Invalid 'cwd': \"/no/such/place\" is not a directory",
        ),
        (
            "session.create",
            json!({"cwd": "here"}),
            "Invalid 'cwd': expected an absolute path or a file:// URI, got \"here\"",
        ),
        ("session.create", json!({"args": ["x"]}), "Missing 'program'"),
        (
            "session.create",
            json!({"program": "cat", "args": "x"}),
            "Invalid 'args': expected a list of strings, got \"x\"",
        ),
        (
            "session.create",
            json!({"program": "cat", "env": {"A": 1}}),
            "Invalid 'env': expected an object whose values are strings, got {\"A\":1}",
        ),
        (
            "session.create",
            json!({"program": "cat", "env": {"A=B": "1"}}),
            "Invalid 'env': expected names without '=' and values without NUL, got \"A=B\": \"1\"",
        ),
        (
            "exec.run_wait",
            json!({"id": id, "command": "true", "timeout_ms": -5}),
            "Invalid 'timeout_ms': expected a whole number of at least 0, got -5",
        ),
    ];
    for (method, params, message) in cases {
        assert_eq!(wire.fail(method, params.clone()), message, "{method} {params}");
    }
    let message = wire.fail("session.create", json!({"program": "/no/such/program"}));
    assert!(message.starts_with("cannot start /no/such/program: "), "{message}");
    assert_eq!(wire.call("session.list", json!({}))["sessions"].as_array().unwrap().len(), 1);
}

#[test]
fn parameters_nobody_asked_for_are_ignored() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    for params in [json!([]), json!(null), json!("x"), json!({"what": [{}]})] {
        assert_eq!(wire.call("session.list", params), json!({"sessions": []}));
    }
}
