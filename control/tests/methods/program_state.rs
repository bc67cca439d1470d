//! Tests of the state of a session's program: `session.explain`, `inbox.list` and the condition `state`.

use serde_json::{Value, json};

use crate::support::{Fixture, Session, Wire, client::Client, question, until};

/// Types a command of the session's shell, without waiting.
fn enter(wire: &mut Wire, session: &Session, command: &str) {
    wire.call("session.input", json!({"id": session.id, "input": format!("{command}\r")}));
}

/// Waits until the session's program is in a state, and returns the explanation.
fn explained(wire: &mut Wire, session: &Session, state: &str) -> Value {
    let waited = wire.call(
        "session.wait",
        json!({"id": session.id, "any": [{"state": state}], "timeout_ms": 60_000}),
    );
    assert_eq!(waited["matched"], true, "{state}: {}", explain(wire, session));
    explain(wire, session)
}

fn explain(wire: &mut Wire, session: &Session) -> Value {
    wire.call("session.explain", json!({"id": session.id}))
}

/// The claim of a source in a chain.
fn of<'a>(explained: &'a Value, source: &str) -> Option<&'a Value> {
    explained["chain"].as_array().unwrap().iter().find(|link| link["source"] == source)
}

#[test]
fn a_report_overrides_weaker_sources_and_ends_with_the_prompt() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    let idle = explained(&mut wire, &session, "idle");
    assert_eq!(
        (&idle["source"], &idle["reason"]),
        (&json!("process"), &json!("the shell is at its prompt"))
    );
    let say = "printf '\\033]9;4;1;50\\007\\033]7501;state=blocked:kind=permission:app=builder:msg=UnVuIGl0Pw==\\007'; read -r _";
    enter(&mut wire, &session, say);
    let asks = explained(&mut wire, &session, "needs_you");
    assert_eq!(
        (&asks["source"], &asks["kind"]),
        (&json!("report"), &json!("permission")),
        "{asks}"
    );
    assert_eq!(
        (&asks["message"], &asks["reason"]),
        (&json!("Run it?"), &json!("builder reported its state"))
    );
    assert!(asks["since"].as_str().is_some_and(|since| since.ends_with('Z')), "{asks}");
    let report = of(&asks, "report").unwrap();
    assert_eq!(report["verdict"], "decides");
    assert_eq!(report["text"], "OSC 7501;state=blocked:kind=permission:app=builder:msg=Run it?");
    let progress = of(&asks, "progress").unwrap();
    assert_eq!(
        (&progress["verdict"], &progress["text"]),
        (&json!("overridden"), &json!("OSC 9;4;1;50"))
    );
    // When the command ends, the program needs nothing any more.
    enter(&mut wire, &session, "");
    explained(&mut wire, &session, "idle");
    // The report is over with the command, and is removed with the prompt after it.
    let after = until("the end of the report", || {
        let now = explain(&mut wire, &session);
        of(&now, "report").is_none().then_some(now)
    });
    assert_eq!(of(&after, "progress").unwrap()["verdict"], "over", "{after}");
}

#[test]
fn a_result_lasts_until_the_user_has_seen_it() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    enter(&mut wire, &session, "printf '\\033]7501;state=error:id=tests/unit:msg=Tm8=\\007'; true");
    let failed = explained(&mut wire, &session, "failed");
    wire.call("session.wait", json!({"id": session.id, "any": [{"prompt": true}]}));
    let at_prompt = explain(&mut wire, &session);
    assert_eq!((&at_prompt["state"], &at_prompt["tasks"]), (&json!("failed"), &failed["tasks"]));
    assert_eq!(at_prompt["tasks"][0]["task"], "tests/unit");
    fixture.server().looked_at(session.pane.id());
    let seen = explain(&mut wire, &session);
    assert_eq!((&seen["state"], &seen["source"]), (&json!("idle"), &json!("process")), "{seen}");
    assert_eq!(of(&seen, "report").unwrap()["verdict"], "seen");
    assert_eq!(seen.get("tasks"), None);
}

#[test]
fn passwords_and_questions_of_programs_need_the_user() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    for (command, source, kind, text) in [
        ("read -r -s -p 'Password: ' P", "password", "password", "Password:"),
        ("read -r -p 'Overwrite it? ' A", "input", "question", "Overwrite it?"),
    ] {
        enter(&mut wire, &session, command);
        let asks = explained(&mut wire, &session, "needs_you");
        assert_eq!((&asks["source"], &asks["kind"]), (&json!(source), &json!(kind)), "{asks}");
        assert_eq!(of(&asks, source).unwrap()["text"], text);
        let inbox = wire.call("inbox.list", json!({}));
        let entry = &inbox["entries"][0];
        assert_eq!(
            (&entry["session"], &entry["kind"]),
            (&json!(session.id), &json!(kind)),
            "{inbox}"
        );
        assert_eq!(entry["question"], text);
        enter(&mut wire, &session, "");
        explained(&mut wire, &session, "idle");
        assert_eq!(wire.call("inbox.list", json!({}))["entries"], json!([]));
    }
}

#[test]
fn the_inbox_waits_for_a_question_and_hides_secrets() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    let empty = wire.call("inbox.list", json!({}));
    assert_eq!(empty["entries"], json!([]));
    // Request the current version again, with no time to wait.
    let again = wire.call("inbox.list", json!({"version": empty["version"], "timeout_ms": 0}));
    assert_eq!(again, empty);
    let mut watcher = fixture.login();
    let watch = json!({"jsonrpc": "2.0", "id": 7, "method": "inbox.list",
        "params": {"version": empty["version"], "timeout_ms": 60_000}});
    watcher.send(format!("{watch}\n"));
    let secret = format!("ghp_{}", "a1".repeat(18));
    let mut asker = fixture.login();
    let ask = json!({"jsonrpc": "2.0", "id": 8, "method": "approvals.ask",
        "params": {"session_id": session.id, "text": format!("Deploy with {secret}?"), "timeout_ms": 60_000}});
    asker.send(format!("{ask}\n"));
    let asked = question(fixture.server());
    let inbox: Value = serde_json::from_str(&watcher.receive().unwrap()).unwrap();
    let entry = &inbox["result"]["entries"][0];
    assert_eq!(
        (&entry["kind"], &entry["number"]),
        (&json!("question"), &json!(asked.number)),
        "{inbox}"
    );
    let shown = entry["question"].as_str().unwrap();
    assert!(shown.contains("Deploy with") && !shown.contains(&secret), "{shown}");
    // Whoever may read the session learns that an agent asks, but not what.
    let explained = explained(&mut wire, &session, "needs_you");
    assert_eq!(explained["source"], "approval", "{explained}");
    assert!(!explained.to_string().contains("Deploy"), "{explained}");
    fixture.server().answers().give(asked.number, "Done").unwrap();
    asker.receive().unwrap();
    assert_eq!(wire.call("inbox.list", json!({}))["entries"], json!([]));
}

#[test]
fn an_agent_waits_for_a_state_and_reads_its_reasons() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    let mut agent = Client::new(&fixture);
    let say = "printf '\\033]7501;state=blocked:kind=question:msg=UnVuIGl0Pw==\\007'; read -r _";
    enter(&mut wire, &session, say);
    agent.until(json!({"pane": session.id, "any": [{"state": "needs_you"}]}));
    let explained = agent.call("explain", json!({"pane": session.id}));
    assert_eq!(
        (&explained["state"], &explained["kind"]),
        (&json!("needs_you"), &json!("question"))
    );
    assert_eq!(
        (&explained["message"], &explained["pane"]),
        (&json!("Run it?"), &json!(session.id))
    );
    assert!(of(&explained, "process").is_some(), "{explained}");
    let wrong = json!({"pane": session.id, "any": [{"state": "dancing"}]});
    let why = agent.fail("wait", wrong);
    assert!(why.to_string().contains("dancing"), "{why}");
}

#[test]
fn a_token_for_another_session_learns_nothing() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.program(&mut wire, "cat", &[]);
    let other = fixture.program(&mut wire, "cat", &[]);
    let token = json!({"name": "other", "scope": "read", "panes": [other.id]});
    let (mut bound, _) = fixture.login_with(&mut wire, token);
    assert_eq!(explain(&mut bound, &other)["id"], other.id);
    let refused = bound.fail("session.explain", json!({"id": session.id}));
    assert_eq!(refused, "Not allowed: session.explain is out of the token's sessions");
    let refused = bound.fail("inbox.list", json!({}));
    assert_eq!(refused, "Not allowed: inbox.list is out of the token's sessions");
}

#[test]
fn contexts_say_where_a_program_runs_and_how_it_ended() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    assert_eq!(explain(&mut wire, &session).get("context"), None);
    let secret = format!("ghp_{}", "a1".repeat(18));
    let open = format!(
        "printf '\\033]3008;start=a;type=container;user=root;hostname=zeta;container=build\\033\\\\\\033]3008;start=b;type=command;cmdline=push {secret}\\033\\\\'"
    );
    enter(
        &mut wire,
        &session,
        &format!("{open}; printf '\\033]3008;end=b;exit=crash;signal=SIGKILL\\033\\\\'; read -r _"),
    );
    let explained = session.wait(|_| {
        let explained = explain(&mut fixture.login(), &session);
        explained.get("ended_context").is_some().then_some(explained)
    });
    let explained = explained.expect("the end of the context");
    assert_eq!(
        explained["context"],
        json!({"user": "root", "host": "zeta", "container": "build"}),
        "{explained}"
    );
    assert_eq!(explained["ended_context"]["exit"], "crash by SIGKILL");
    let name = explained["ended_context"]["name"].as_str().unwrap();
    assert!(name.starts_with("push ") && !name.contains(&secret), "{name}");
}

#[test]
fn a_manifest_reads_the_screen_of_an_agent() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    // The shell has the name of an agent.
    enter(&mut wire, &session, "ln -s \"$(command -v sh)\" codex; ln -s \"$(command -v sh)\" mine");
    let busy = "printf '\\342\\200\\242 Working (1s - esc to interrupt)\\n'; read -r _";
    enter(&mut wire, &session, &format!("clear; ./codex -c \"{busy}\""));
    let read = session.wait(|_| {
        let explained = explain(&mut fixture.login(), &session);
        of(&explained, "adapter").is_some().then_some(explained)
    });
    let read = read.expect("a claim of the manifest");
    let claim = of(&read, "adapter").unwrap();
    assert_eq!(claim["state"], "working", "{read}");
    assert_eq!(
        claim["rule"],
        "the manifest codex reads working from the screen by its rule interruptible"
    );
    enter(&mut wire, &session, "");
    // A manifest of the user, for a program of the user.
    let folder = fixture.registry().join("agent-detection");
    std::fs::create_dir(&folder).unwrap();
    let manifest = "id = \"mine\"\n[[rules]]\nid = \"sure\"\nstate = \"blocked\"\ncontains = [\"are you sure\"]\n";
    std::fs::write(folder.join("mine.toml"), manifest).unwrap();
    let ask = "printf 'Are you sure, then\\n'; read -r _";
    enter(&mut wire, &session, &format!("clear; ./mine -c \"{ask}\""));
    let asks = explained(&mut wire, &session, "needs_you");
    assert_eq!((&asks["source"], asks.get("kind")), (&json!("adapter"), None), "{asks}");
    assert_eq!(wire.call("inbox.list", json!({}))["entries"][0]["source"], "adapter");
}

#[test]
fn a_replay_has_the_screen_and_the_programs_of_a_session() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    enter(
        &mut wire,
        &session,
        "printf '\\033]2;at work\\007\\033]9;4;1;50\\007shown\\n'; read -r _",
    );
    session.wait_for(|text| text.lines().any(|line| line.trim_end() == "shown"));
    let replay = wire.call("session.replay", json!({"id": session.id}));
    assert_eq!(replay["title"], "at work", "{replay}");
    assert_eq!(replay["progress"], "4;1;50", "{replay}");
    let screen = replay["screen"].as_array().unwrap();
    assert!(screen.contains(&json!("shown")), "{replay}");
    assert!(replay["programs"].as_array().unwrap().contains(&json!("bash")), "{replay}");
    assert!(replay.get("rule").is_none(), "no rule is about a shell: {replay}");
}

#[test]
fn verification_and_replay_need_a_session_of_the_token() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let (own, other) = (fixture.marked_shell(&mut wire), fixture.marked_shell(&mut wire));
    let token = json!({"name": "one", "scope": "read", "panes": [own.id]});
    let (mut bound, _) = fixture.login_with(&mut wire, token);
    for method in ["session.verify_handover", "session.replay", "inbox.show", "block.diff"] {
        let why = bound.fail(method, json!({"id": other.id}));
        assert!(why.starts_with("Not allowed: "), "{method}: {why}");
    }
    let verified = bound.call("session.verify_handover", json!({"id": own.id}));
    assert_eq!(verified["equal"], false, "no keeper keeps this program: {verified}");
    assert!(verified["reason"].as_str().is_some_and(|why| why.contains("sessions.keep")));
}
