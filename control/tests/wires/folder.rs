//! Tests of a session's activity, its background jobs, and the files in its directory, both over the connection and
//! through tools.

use std::fs;

use crate::support::{self, Fixture, client::Client, until};
use serde_json::{Value, json};
use unterm_control::Approval;

#[test]
fn a_session_says_what_it_is_at_and_what_runs_in_the_background() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    let id = session.id;
    let doing = |wire: &mut support::Wire| {
        let all = wire.call("session.activity", json!({}));
        let own = wire.call("session.activity", json!({"id": id}));
        assert_eq!(own["sessions"].as_array().map(Vec::len), Some(1), "{own}");
        assert_eq!(all["sessions"][0]["id"], id, "{all}");
        own["sessions"][0].clone()
    };
    let at_prompt = doing(&mut wire);
    assert_eq!(at_prompt, json!({"id": id, "state": "prompt", "jobs": []}));
    support::run(&mut wire, &session, "sleep 1001 &");
    support::run(&mut wire, &session, "(sleep 1002; echo never) &");
    let background = until("the jobs", || {
        let jobs = doing(&mut wire)["jobs"].clone();
        let commands = jobs.as_array()?.iter().map(|job| job["command"].as_str());
        let commands: Option<Vec<&str>> = commands.collect();
        (commands? == ["sleep 1001", "sleep 1002"]).then_some(jobs)
    });
    assert_eq!(background[0]["stopped"], false, "{background}");
    assert!(background[0]["group"].as_u64().is_some_and(|group| group > 1), "{background}");
    // A command in the foreground is reported as running. After it was stopped, it is reported as a job.
    wire.call("session.input", json!({"id": id, "input": "sleep 1003\r"}));
    let running = until("the command", || {
        let doing = doing(&mut wire);
        (doing["command"] == "sleep 1003").then_some(doing)
    });
    assert_eq!(running["state"], "running", "{running}");
    assert!(running["seconds"].is_u64(), "{running}");
    // The shell marks the command before it starts it, and ignores Ctrl+Z itself.
    until("the program", || {
        let status = wire.call("session.status", json!({"id": id}));
        status["shell"]["process_name"].as_str()?.ends_with("sleep").then_some(())
    });
    wire.call("session.input", json!({"id": id, "input": "\u{1a}"}));
    until("the stop", || {
        let doing = doing(&mut wire);
        let stopped = doing["jobs"].as_array()?.iter().find(|job| job["stopped"] == true)?;
        (doing["state"] == "prompt" && stopped["command"] == "sleep 1003").then_some(())
    });
    support::run(&mut wire, &session, "kill %1 %2 %3");
    let asks = "read -r -s -p 'Password: ' P\r";
    wire.call("session.input", json!({"id": id, "input": asks}));
    until("the question", || (doing(&mut wire)["state"] == "awaiting_secret").then_some(()));
    wire.call("session.input", json!({"id": id, "input": "\u{3}"}));
    until("the prompt", || (doing(&mut wire)["state"] == "prompt").then_some(()));
    wire.call("session.input", json!({"id": id, "input": "kill -9 $$\r"}));
    until("the end", || (doing(&mut wire)["state"] == "ended").then_some(()));
    // A token for another session can read nothing about this session.
    let other = fixture.program(&mut wire, "cat", &[]);
    let token = json!({"name": "other", "scope": "read", "panes": [other.id]});
    let (mut bound, _) = fixture.login_with(&mut wire, token);
    let all = bound.call("session.activity", json!({}));
    assert_eq!(all["sessions"].as_array().map(Vec::len), Some(1), "{all}");
    let refused = bound.fail("session.activity", json!({"id": id}));
    assert_eq!(refused, "Not allowed: session.activity is out of the token's sessions");
}

#[test]
fn callers_that_may_act_read_and_write_files_of_a_session() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.program(&mut wire, "cat", &[]);
    let home = fixture.home.path().canonicalize().unwrap();
    let at = wire.call("session.cwd", json!({"id": session.id}))["cwd"].clone();
    assert_eq!(at, unterm_mux::file_uri(&home), "the fixture's home is where it runs");
    fs::write(home.join("there.txt"), "0123456789").unwrap();
    let on = |mut more: Value| {
        more["id"] = json!(session.id);
        more
    };
    let read = on(json!({"path": "there.txt", "offset": 2, "max_bytes": 3}));
    let part = wire.call("file.read", read.clone());
    assert_eq!(part, json!({"base64": "MjM0", "size": 10}));
    let write = on(json!({"path": "new/made.txt", "text": "one\n"}));
    let written = wire.call("file.write", write.clone());
    let directory = home.display().to_string();
    assert_eq!(written, json!({"written": 4, "created": true, "directory": directory}));
    let more = on(json!({"path": "new/made.txt", "base64": "dHdvCg==", "append": true}));
    assert_eq!(wire.call("file.write", more)["created"], false);
    assert_eq!(fs::read_to_string(home.join("new/made.txt")).unwrap(), "one\ntwo\n");
    let out = wire.fail("file.read", on(json!({"path": "/etc/passwd"})));
    assert_eq!(out, format!("\"/etc/passwd\" is not below the directory {directory}"));
    for wrong in [json!({}), json!({"text": "a", "base64": "YQ=="}), json!({"base64": "?"})] {
        let mut wrong = on(wrong);
        wrong["path"] = json!("wrong");
        wire.fail("file.write", wrong);
    }
    assert!(!home.join("wrong").exists());
    // The rules check the path as a line. The log has the path, but not the content.
    let rules = json!({"enabled": true, "blocked_patterns": ["there"], "allowed_patterns": []});
    wire.call("policy.set", rules);
    let refused = wire.fail("file.read", read.clone());
    assert_eq!(refused, "Command blocked by policy: there");
    wire.call(
        "policy.set",
        json!({"enabled": false, "blocked_patterns": [], "allowed_patterns": []}),
    );
    let log = wire.call("session.audit_log", json!({"id": session.id}));
    let last = |method: &str| {
        let mut entries = log.as_array().unwrap().iter().filter(|it| it["method"] == method);
        entries.next_back().unwrap().clone()
    };
    assert_eq!(last("file.read")["detail"], "there.txt");
    assert!(log.to_string().contains("new/made.txt") && !log.to_string().contains("one"), "{log}");
    // A token with read access can't read files, and a token for another session can't read files of this session.
    let other = fixture.program(&mut wire, "cat", &[]);
    for (token, why) in [
        (json!({"name": "reader", "scope": "read"}), "scopes"),
        (json!({"name": "other", "scope": "act", "panes": [other.id]}), "sessions"),
    ] {
        let (mut bound, _) = fixture.login_with(&mut wire, token);
        for (method, params) in [("file.read", &read), ("file.write", &write)] {
            let refused = bound.fail(method, params.clone());
            assert_eq!(refused, format!("Not allowed: {method} is out of the token's {why}"));
        }
    }
    // A file can't be written while another caller has leased the session.
    wire.call("session.lease", json!({"id": session.id}));
    let refused = fixture.login().fail("file.write", write);
    assert!(refused.contains("is leased by"), "{refused}");
}

#[test]
fn agents_read_and_write_files_once_the_user_lets_them() {
    let fixture = Fixture::new();
    let mut client = Client::old(&fixture);
    let pane = client.shell(&fixture);
    let home = fixture.home.path();
    let text = "naïve text\nwith \u{200b} in it\n";
    let written = client.call("file_write", json!({"path": "sub/file.txt", "text": text}));
    assert_eq!((&written["written"], &written["created"]), (&json!(text.len()), &json!(true)));
    assert_eq!(fs::read_to_string(home.join("sub/file.txt")).unwrap(), text);
    let read = client.call("file_read", json!({"path": "sub/file.txt"}));
    assert_eq!(read, json!({"text": text.replace('\u{200b}', "\\u{200b}"), "size": text.len()}));
    // A part never ends inside a character.
    let part = json!({"path": "sub/file.txt", "max_bytes": 3, "raw": true});
    let part = client.call("file_read", part);
    assert_eq!(part, json!({"text": "na", "size": text.len(), "next_offset": 2}));
    let bytes = client.call("file_write", json!({"path": "bytes", "base64": "/w=="}));
    assert_eq!(bytes["written"], 1, "{bytes}");
    let read = client.call("file_read", json!({"path": "bytes"}));
    assert_eq!(read, json!({"base64": "/w==", "size": 1}));
    // The files follow the shell's working directory.
    client.call("run", json!({"command": "cd sub"}));
    assert_eq!(client.call("file_read", json!({"path": "file.txt"}))["size"], text.len());
    let out = client.fail("file_read", json!({"path": "../bytes"}));
    assert!(out.starts_with("\"../bytes\" is not below the directory "), "{out}");
    let uri = format!("unterm://pane/{pane}/file/file.txt");
    let by_address = client.request("resources/read", json!({"uri": uri}));
    let content = &by_address["result"]["contents"][0];
    assert!(content["text"].as_str().unwrap().starts_with("naïve text"), "{by_address}");
    assert_eq!(content["_meta"]["unterm/untrusted"], json!(["text"]));
    let panes = client.request("resources/read", json!({"uri": "unterm://panes"}));
    let panes: Value =
        serde_json::from_str(panes["result"]["contents"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!((&panes[0]["id"], &panes[0]["state"]), (&json!(pane), &json!("prompt")), "{panes}");
    let listed = client.call("pane_list", json!({}));
    let listed = &listed["panes"][0];
    assert_eq!((&listed["pane"], &listed["state"]), (&json!(pane), &json!("prompt")), "{listed}");
    // Reading a file needs approval too, also as a resource.
    fixture.server().set_approval(Approval::Ask);
    let call = json!({"name": "file_read", "arguments": {"path": "file.txt"}});
    let asked = client.begin("tools/call", call);
    let question = support::question(fixture.server());
    assert_eq!(question.text, "file_read: path file.txt");
    fixture.server().answers().give(question.number, "deny").unwrap();
    let denied = client.end(asked);
    assert_eq!(denied["result"]["isError"], true, "{denied}");
    let refused = client.request("resources/read", json!({"uri": uri}));
    let why = refused["error"]["message"].as_str().unwrap_or_default();
    assert!(why.contains("needs the user's approval"), "{refused}");
}
