//! Tests of questions to the user: approvals of clients, and questions from agents.

use serde_json::{Value, json};
use unterm_control::Approval;

use crate::support::{self, Fixture, client::Client};

/// Waits for the open question, as the user sees it.
fn question(fixture: &Fixture) -> unterm_control::Question {
    support::question(fixture.server())
}

#[test]
fn nobody_is_asked_about_a_call_with_wrong_arguments() {
    let fixture = Fixture::new();
    fixture.server().set_approval(Approval::Ask);
    let mut wire = fixture.login();
    for (toolset, tool, arguments, why) in [
        ("unterm", "run", json!({"comand": "x"}), "`run` takes no `comand`"),
        ("unterm", "run", json!({"command": "x", "pane": 99}), "There is no pane 99"),
        ("unterm", "pane_open", json!({"cols": "wide"}), "`cols` must be a whole number"),
        ("unterm", "input", json!({}), "Say what to type"),
        ("unterm", "input", json!({"text": "x", "wait_any": [{}]}), "exactly one of"),
        ("iterm", "iterm_send_command", json!({"identifier": "x"}), "command is required"),
        ("iterm", "iterm_send_keys", json!({"identifier": "x", "keys": "no"}), "Unknown key"),
        ("iterm", "iterm_split_pane", json!({"direction": "up"}), "Invalid direction"),
        ("tester", "launch_app", json!({"command": "a;b"}), "invalid characters"),
        ("tester", "resize_terminal", json!({"width": 0, "height": 1}), "width must be between"),
        ("tester", "stop_app", json!({"session_id": "x"}), "must be a valid UUID"),
    ] {
        let mut client = Client::silent(&fixture, toolset);
        client.hello("careless", "2025-11-25", &json!({}));
        let refused = client.fail(tool, arguments.clone());
        assert!(refused.contains(why), "{tool} {arguments}: {refused}");
    }
    let listed = wire.call("approvals.list", json!({}));
    assert_eq!(listed["pending"], json!([]));
}

#[test]
fn the_user_decides_whether_an_unknown_client_acts() {
    let fixture = Fixture::new();
    fixture.server().set_approval(Approval::Ask);
    let mut client = Client::old(&fixture);
    // Reading needs no approval.
    client.call("status", json!({}));
    let open = |client: &mut Client| {
        let command = json!({"command": ["sleep", "1000"], "cwd": fixture.home.path()});
        client.begin("tools/call", json!({"name": "pane_open", "arguments": command}))
    };
    let asked = open(&mut client);
    let first = question(&fixture);
    let would = format!(r#"pane_open: ["sleep","1000"]; cwd {}"#, fixture.home.path().display());
    assert_eq!((first.client.as_str(), first.text.as_str()), ("old client", would.as_str()));
    assert!(fixture.server().answers().give(first.number, "perhaps").is_err());
    fixture.server().answers().give(first.number, "once").unwrap();
    assert_eq!(client.end(asked)["result"]["isError"], false);
    // A question can be answered only once.
    assert!(fixture.server().answers().give(first.number, "once").is_err());
    let asked = open(&mut client);
    let second = question(&fixture);
    assert!(second.number > first.number);
    // An agent with the instance's token can't answer for the user.
    let mut wire = fixture.login();
    let refused =
        wire.fail("approvals.answer", json!({"number": second.number, "answer": "always"}));
    assert!(refused.contains("only the user"), "{refused}");
    let left = json!({"number": second.number, "declined": true});
    let refused = wire.fail("approvals.answer", left);
    assert!(refused.contains("only the user"), "{refused}");
    fixture.server().answers().give(second.number, "deny").unwrap();
    let denied = client.end(asked);
    let why = "The user has denied old client permission to act. Ask them before you try again.";
    assert_eq!(denied["result"]["content"][0]["text"], why);
    assert_eq!(client.fail("pane_open", json!({})), why, "nobody is asked again");
    let log = wire.call("session.audit_log", json!({"limit": 2}));
    let entries: Vec<_> =
        log.as_array().unwrap().iter().map(|it| (&it["method"], &it["detail"])).collect();
    let tool = json!("pane_open");
    assert_eq!(entries, [(&tool, &json!("")), (&tool, &json!(r#"["sleep","1000"]"#))]);
    assert_eq!((&log[1]["outcome"], &log[1]["error"]), (&json!("refused"), &json!(why)));
    // A client that reconnects needs a new approval. The answer "always" is valid in every instance.
    let mut again = Client::old(&fixture);
    let asked = open(&mut again);
    fixture.server().answers().give(question(&fixture).number, "always").unwrap();
    assert_eq!(again.end(asked)["result"]["isError"], false);
    let listed = wire.call("approvals.list", json!({}));
    assert_eq!((&listed["rule"], &listed["pending"]), (&json!("ask"), &json!([])));
    assert_eq!(listed["allowed"][0]["client"], "old client");
    let mut third = Client::old(&fixture);
    let opened = third.call("pane_open", json!({"command": ["sleep", "1000"]}));
    wire.call("approvals.forget", json!({"client": "old client"}));
    let arguments = json!({"pane": opened["pane"]});
    let asked = third.begin("tools/call", json!({"name": "pane_close", "arguments": arguments}));
    assert_eq!(question(&fixture).session, opened["pane"].as_u64());
    // A question is withdrawn when its client disconnects.
    drop(third);
    let end = std::time::Instant::now() + support::PATIENCE;
    while !fixture.server().questions().is_empty() {
        assert!(std::time::Instant::now() < end, "{asked}: the question stays");
    }
    // A new rule also applies to calls that wait for an approval.
    let mut waiting = Client::old(&fixture);
    let asked = open(&mut waiting);
    question(&fixture);
    fixture.server().set_approval(Approval::Deny);
    assert_eq!(waiting.end(asked)["result"]["content"][0]["text"], why);
    assert!(fixture.server().questions().is_empty());
    let mut fourth = Client::old(&fixture);
    assert!(fourth.fail("pane_open", json!({})).contains("has denied"));
}

#[test]
fn refused_calls_are_logged_without_secrets() {
    let fixture = Fixture::new();
    fixture.server().set_approval(Approval::Deny);
    let mut client = Client::old(&fixture);
    let mut wire = fixture.login();
    let script = "stty -echo; printf 'Password: '; exec cat > /dev/null";
    let asking = fixture.program(&mut wire, "sh", &["-c", script]);
    asking.wait_for_text("Password:");
    let mut logged = |tool: &str, arguments: Value| {
        client.fail(tool, arguments);
        wire.call("session.audit_log", json!({"limit": 1}))[0].take()
    };
    for typed in [
        json!({"pane": asking.id, "text": "hunter2"}),
        json!({"pane": asking.id, "keys": ["h", "enter"]}),
        json!({"text": "hunter2"}),
    ] {
        let entry = logged("input", typed);
        assert_eq!(entry["detail"], "(not shown: the program does not echo it)", "{entry}");
        assert_eq!(entry["outcome"], "refused", "{entry}");
    }
    let entry = logged("signal", json!({"pane": asking.id, "signal": "int"}));
    let session = json!(asking.id.to_string());
    assert_eq!((&entry["session_id"], &entry["detail"]), (&session, &json!("int")));
}

#[test]
fn a_client_gets_progress_while_it_waits_for_approval() {
    let fixture = Fixture::new();
    fixture.server().set_approval(Approval::Ask);
    let mut client = Client::old(&fixture);
    let asked = client.begin(
        "tools/call",
        json!({
            "name": "pane_open",
            "arguments": {"command": ["sleep", "1000"]},
            "_meta": {"progressToken": "mine"},
        }),
    );
    let told = client.note("notifications/progress");
    assert_eq!(told["params"]["progressToken"], "mine", "{told}");
    assert!(told["params"]["message"].as_str().unwrap().contains("the user is asked"), "{told}");
    fixture.server().answers().give(question(&fixture).number, "once").unwrap();
    assert_eq!(client.end(asked)["result"]["isError"], false);
}

#[test]
fn status_says_what_is_approved_now() {
    let fixture = Fixture::new();
    let mut client = Client::old(&fixture);
    let mut scopes = || {
        let status = client.call("status", json!({}));
        (status["scopes"].clone(), status["asks_for"].clone())
    };
    let all = json!(["read", "act", "admin"]);
    assert_eq!(scopes(), (all.clone(), Value::Null));
    fixture.server().set_approval(Approval::Ask);
    assert_eq!(scopes(), (json!(["read"]), json!(["act", "admin"])));
    let mut other = Client::old(&fixture);
    let call = json!({"name": "pane_open", "arguments": {"command": ["sleep", "1000"]}});
    let asked = other.begin("tools/call", call);
    fixture.server().answers().give(question(&fixture).number, "always").unwrap();
    other.end(asked);
    assert_eq!(scopes(), (all, Value::Null), "clients of that name may act");
    fixture.server().set_approval(Approval::Deny);
    assert_eq!(scopes(), (json!(["read"]), Value::Null));
}

#[test]
fn an_agent_that_comes_by_another_instance_is_an_agent_here() {
    let fixture = Fixture::new();
    let mut far = fixture.connect();
    let login = json!({"token": fixture.token(), "client": "old client", "agent": true});
    far.call("auth.login", login);
    let open = json!({"program": "sleep", "args": ["1000"]});
    far.call("session.create", open.clone());
    fixture.server().set_approval(Approval::Ask);
    far.call("session.list", json!({}));
    let refused = "Not allowed: session.create needs the user's approval";
    assert_eq!(far.fail("session.create", open.clone()), refused);
    let mut near = Client::old(&fixture);
    let call = json!({"name": "pane_open", "arguments": {"command": ["sleep", "1000"]}});
    let asked = near.begin("tools/call", call);
    fixture.server().answers().give(question(&fixture).number, "always").unwrap();
    near.end(asked);
    far.call("session.create", open.clone());
    fixture.login().call("approvals.forget", json!({"client": "old client"}));
    assert_eq!(far.fail("session.create", open.clone()), refused);
    fixture.server().set_approval(Approval::Deny);
    assert_eq!(far.fail("session.create", open), refused);
}

#[test]
fn a_client_with_dialogs_asks_the_user_itself() {
    let fixture = Fixture::new();
    fixture.server().set_approval(Approval::Ask);
    let mut client = Client::old_with(&fixture, &json!({"elicitation": {}}));
    let arguments = json!({"command": ["sleep", "1000"], "cwd": fixture.home.path()});
    let call = json!({"name": "pane_open", "arguments": arguments});
    for (answer, fails) in [
        (json!({"action": "accept", "content": {"answer": "once"}}), false),
        (json!({"action": "decline"}), true),
    ] {
        let asked = client.begin("tools/call", call.clone());
        let dialog = client.note("elicitation/create");
        let choices = &dialog["params"]["requestedSchema"]["properties"]["answer"]["oneOf"];
        assert_eq!(choices[0]["const"], "once", "{dialog}");
        client.send(&json!({"jsonrpc": "2.0", "id": dialog["id"], "result": answer}));
        assert_eq!(client.end(asked)["result"]["isError"], fails);
    }
    // An answer that the dialog does not offer is an error, and the question stays open.
    let mut client = Client::old_with(&fixture, &json!({"elicitation": {}}));
    let asked = client.begin("tools/call", call.clone());
    let dialog = client.note("elicitation/create");
    let answer = json!({"action": "accept", "content": {"answer": "always"}});
    client.send(&json!({"jsonrpc": "2.0", "id": dialog["id"], "result": answer}));
    let said = client.end(asked);
    let said = said["result"]["content"][0]["text"].as_str().unwrap();
    assert!(
        said.starts_with(r#"The dialog returned "always", which is not one of its answers"#),
        "{said}"
    );
    assert_eq!(fixture.server().questions().len(), 1);
    drop(client);
    // In the newer version, the client repeats the call with the answer.
    let mut client = Client::new(&fixture);
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    client.meta.as_mut().unwrap()[capabilities] = json!({"elicitation": {"form": {}}});
    let held = client.request("tools/call", call.clone());
    assert_eq!(held["result"]["resultType"], "input_required", "{held}");
    let mut again = call.clone();
    again["requestState"] = held["result"]["requestState"].clone();
    again["inputResponses"] =
        json!({"approval": {"action": "accept", "content": {"answer": "once"}}});
    let made = client.request("tools/call", again.clone());
    assert_eq!(made["result"]["isError"], false, "{made}");
    // The same answer is not accepted a second time, and an answer to another client's question is not accepted either.
    let held = client.request("tools/call", again.clone());
    assert_eq!(held["result"]["resultType"], "input_required", "{held}");
    let mut other = Client::new(&fixture);
    other.meta.clone_from(&client.meta);
    again["requestState"] = held["result"]["requestState"].clone();
    let stolen = other.request("tools/call", again);
    assert_eq!(stolen["result"]["resultType"], "input_required", "{stolen}");
}

#[test]
fn an_agent_asks_the_user_and_waits() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    let message = json!({"message": "Which branch?", "choices": ["main", "next"], "timeout_ms": 0});
    let asked = client.call("request_human", message);
    assert_eq!(asked["answered"], false);
    let open = question(&fixture);
    assert_eq!((open.client.as_str(), open.choices.len()), ("new client", 2));
    assert!(fixture.server().answers().give(open.number, "other").is_err());
    fixture.server().answers().give(open.number, "next").unwrap();
    let answered = client.call("request_human", json!({"handle": asked["handle"]}));
    assert_eq!((&answered["answered"], &answered["answer"]), (&json!(true), &json!("next")));
    let call =
        json!({"name": "request_human", "arguments": {"message": "Why?", "takes_text": true}});
    let asked = client.begin("tools/call", call);
    fixture.server().answers().give(question(&fixture).number, "because").unwrap();
    assert_eq!(client.end(asked)["result"]["structuredContent"]["answer"], "because");
    assert!(client.fail("request_human", json!({})).contains("message"));
}

#[test]
fn a_question_that_cannot_be_shown_whole_is_refused() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    let many: Vec<_> = (0..20).map(|n| n.to_string()).collect();
    for (arguments, why) in [
        (
            json!({"message": "Which?", "choices": many}),
            "`choices` has 20 of them; 9 are shown at most",
        ),
        (
            json!({"message": "x".repeat(2001)}),
            "`message` has 2001 characters; 2000 are shown at most",
        ),
        (
            json!({"message": "Which?", "choices": ["y".repeat(81)]}),
            "One of `choices` has 81 characters; 80 are shown at most",
        ),
        (
            json!({"message": "Which?", "pane": 12345}),
            "There is no pane 12345; pane_list lists those there are",
        ),
    ] {
        assert_eq!(client.fail("request_human", arguments), why);
    }
    assert!(fixture.server().questions().is_empty());
    // There is no window, but there is a settings page.
    let asked = client.call("request_human", json!({"message": "Go on?", "timeout_ms": 0}));
    assert_eq!(asked["answered"], false, "{asked}");
    assert!(asked["note"].as_str().unwrap().contains("unterm-cli settings open"), "{asked}");
}
