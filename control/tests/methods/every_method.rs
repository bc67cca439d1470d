//! Tests every method over a real connection, with real programs.

use crate::support::{self, Fixture, GROUPS};
use serde_json::{Value, json};

/// The keys of an object, sorted.
fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<_> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

#[test]
fn server_and_system_introduce_themselves() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        wire.call("server.info", json!({})),
        json!({"name": "Unterm MCP Server", "version": version, "engine": "Unterm", "protocol": "json-rpc-2.0"})
    );
    assert_eq!(
        wire.call("server.health", json!({})),
        json!({
            "status": "ok", "engine": "Unterm",
            "mcp": {
                "bind": "127.0.0.1", "port": 19876,
                "bound_port": fixture.server().address().port(), "auth": "token",
            },
            "mux": {"available": true, "pane_count": 0},
            "terminal": {
                "initial_cols": 120, "initial_rows": 30, "color_scheme": "standard",
                "term": "xterm-256color", "window": false,
            },
        })
    );
    let system = wire.call("system.info", json!({}));
    assert_eq!(
        keys(&system),
        ["active_sessions", "arch", "engine", "hostname", "name", "platform", "version"]
    );
    assert_eq!(system["name"], "Unterm");
    assert_eq!(system["platform"], std::env::consts::OS);
    assert_eq!(system["arch"], std::env::consts::ARCH);
    assert_eq!(system["active_sessions"], 0);
}

#[test]
fn capabilities_name_every_method_once() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let capabilities = wire.call("server.capabilities", json!({}));
    assert_eq!(
        capabilities["exec"],
        json!([
            "exec.run",
            "exec.send",
            "exec.run_wait",
            "exec.status",
            "exec.cancel",
            "signal.send",
            "orchestrate.launch",
            "orchestrate.broadcast",
            "orchestrate.wait"
        ])
    );
    assert_eq!(
        capabilities["governance"],
        json!([
            "policy.set",
            "policy.check",
            "policy.refused",
            "policy.release",
            "approvals.list",
            "approvals.answer",
            "approvals.forget",
            "approvals.ask",
            "inbox.list",
            "inbox.show",
            "inbox.answer",
            "inbox.dismiss",
            "inbox.snooze",
            "inbox.restore",
            "token.create",
            "token.list",
            "token.revoke",
            "server.info",
            "server.health",
            "server.capabilities",
            "selftest.run",
            "config.get",
            "config.set",
            "settings.open",
            "events.subscribe",
            "events.unsubscribe"
        ])
    );
    let mut names = Vec::new();
    for group in GROUPS {
        names.extend(
            capabilities[group].as_array().unwrap().iter().map(|name| name.as_str().unwrap()),
        );
    }
    assert_eq!(capabilities.as_object().unwrap().len(), GROUPS.len());
    let methods: Vec<_> = unterm_control::METHODS.iter().map(|entry| entry.name).collect();
    assert_eq!(names, methods);
}

#[test]
fn instances_are_listed_without_tokens() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let mut info = wire.call("instance.info", json!({}));
    assert_eq!(
        keys(&info),
        [
            "auth_token",
            "cwd",
            "http_port",
            "id",
            "mcp_port",
            "pid",
            "platform",
            "started_at",
            "title",
            "version"
        ]
    );
    assert_eq!(info["auth_token"], fixture.token());
    assert_eq!(info["id"], "alpha");
    assert_eq!(info["mcp_port"], fixture.server().address().port());
    assert_eq!(info["pid"], std::process::id());
    info.as_object_mut().unwrap().remove("auth_token");
    assert_eq!(wire.call("instance.list", json!({})), json!({"instances": [info]}));
}

#[test]
fn an_instance_is_given_a_title_and_has_no_window_to_raise() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let usual = wire.call("instance.info", json!({}))["title"].clone();
    assert_eq!(
        wire.call("instance.set_title", json!({"title": "the \u{7}builds"})),
        json!({"ok": true, "title": "the builds"})
    );
    let listed = wire.call("instance.list", json!({}));
    assert_eq!(listed["instances"][0]["title"], "the builds");
    for name in ["instances/alpha.json", "active.json", "server.json"] {
        let record = std::fs::read(fixture.registry().join(name)).unwrap();
        let record: Value = serde_json::from_slice(&record).unwrap();
        assert_eq!(record["title"], "the builds", "{name}");
    }
    for none in [json!({}), json!({"title": ""}), json!({"title": null})] {
        wire.call("instance.set_title", json!({"title": "x"}));
        assert_eq!(wire.call("instance.set_title", none), json!({"ok": true, "title": null}));
        assert_eq!(wire.call("instance.info", json!({}))["title"], usual);
    }
    let focus = wire.call("instance.focus", json!({}));
    assert_eq!(focus["ok"], true);
    assert!(focus["note"].as_str().unwrap().contains("without a window"), "{focus}");
}

#[test]
fn an_administrator_is_refused_and_all_else_is_well() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let refusal = "Administrator launch is only supported on Windows";
    assert_eq!(wire.fail("system.launch_admin", json!({"dry_run": true})), refusal);
    let session = fixture.program(&mut wire, "cat", &[]);
    let tested = wire.call("selftest.run", json!({"session_id": session.id.to_string()}));
    let check = |name: &str| {
        let checks = tested["checks"].as_array().unwrap();
        checks
            .iter()
            .find(|check| check["name"] == name)
            .unwrap_or_else(|| panic!("{name}"))
            .clone()
    };
    assert_eq!(check("mux.available")["detail"]["pane_count"], 1);
    assert_eq!(check("server.health")["detail"]["status"], "ok");
    let admin = check("system.launch_admin");
    assert_eq!((&admin["ok"], &admin["detail"]), (&json!(true), &json!({"error": refusal})));
    assert_eq!(check("screen.text")["detail"]["rows"], 24);
    assert_eq!(tested["ok"], true, "{tested}");
}

#[test]
fn actions_need_a_window() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let calls = [
        ("action.list", json!({})),
        ("action.run", json!({"name": "new_tab"})),
        ("action.run", json!({"name": "activate_tab", "argument": "1"})),
    ];
    for (method, params) in calls {
        let message = wire.fail(method, params);
        assert!(message.starts_with("There is no window"), "{message}");
    }
    assert_eq!(wire.fail("action.run", json!({})), "Missing 'name'");
}

#[test]
fn a_session_from_its_creation_to_its_end() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let created = wire.call(
        "session.create",
        json!({"program": "sh", "cwd": fixture.home.path(), "cols": 100, "rows": 40}),
    );
    let id = created["id"].as_u64().unwrap();
    assert_eq!(keys(&created), ["cols", "id", "rows", "session_id", "title"]);
    assert_eq!(created["session_id"], id.to_string());
    assert_eq!((&created["cols"], &created["rows"]), (&json!(100), &json!(40)));

    let list = wire.call("session.list", json!({}));
    let listed = &list["sessions"][0];
    assert_eq!(
        keys(listed),
        ["cols", "cursor", "domain_id", "id", "is_dead", "rows", "shell", "title", "tty"]
    );
    assert_eq!(keys(&listed["cursor"]), ["visible", "x", "y"]);
    assert_eq!(keys(&listed["shell"]), ["cwd", "process_name", "shell_type"]);
    assert_eq!(listed["domain_id"], 0);
    assert_eq!(listed["is_dead"], false);

    let status = wire.call("session.status", json!({"session_id": id.to_string()}));
    assert_eq!(
        keys(&status),
        [
            "awaiting_input",
            "awaiting_secret",
            "cols",
            "cursor",
            "domain_id",
            "id",
            "is_dead",
            "rows",
            "scrollback_rows",
            "seq",
            "shell",
            "title"
        ]
    );
    assert_eq!(status["scrollback_rows"], 40);
    assert_eq!(wire.call("session.get", json!({"id": id}))["cols"], 100);

    assert_eq!(
        wire.call("session.resize", json!({"id": id, "cols": 90, "rows": 20})),
        json!({"status": "ok"})
    );
    let size = wire.call("exec.run_wait", json!({"id": id, "command": "stty size"}));
    assert_eq!(size["output"], "20 90");

    let cwd = wire.call("session.cwd", json!({"id": id}));
    let home = fixture.home.path().canonicalize().unwrap();
    assert_eq!(cwd["cwd"], unterm_mux::file_uri(&home));
    let again = wire.call("session.create", json!({"program": "sh", "cwd": cwd["cwd"]}));
    assert_eq!((&again["cols"], &again["rows"]), (&json!(120), &json!(30)), "the default size");

    assert_eq!(
        wire.call("session.destroy", json!({"id": id})),
        json!({"status": "ok", "destroyed": true})
    );
    assert_eq!(wire.fail("session.status", json!({"id": id})), format!("Session {id} not found"));
    let list = wire.call("session.list", json!({}));
    assert_eq!(list["sessions"].as_array().unwrap().len(), 1);
}

#[test]
fn a_program_gets_arguments_and_stays_readable_after_its_end() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let created = wire.call(
        "session.create",
        json!({
            "program": "sh", "args": ["-c", "echo \"$GREETING $1\"; exit 3", "sh", "w o"],
            "env": {"GREETING": "hello"}, "cols": 40, "rows": 5,
        }),
    );
    let id = created["id"].as_u64().unwrap();
    let pane = fixture.mux.pane(unterm_mux::PaneId(id)).unwrap();
    support::Session { id, pane }.wait_for_end();
    let status = wire.call("session.status", json!({"id": id}));
    assert_eq!((&status["is_dead"], &status["exit_code"]), (&json!(true), &json!(3)));
    assert_eq!(wire.call("screen.text", json!({"id": id}))["lines"][0], "hello w o");
    assert_eq!(
        wire.call("session.idle", json!({"id": id})),
        json!({"idle": true, "foreground_process": ""})
    );
    assert_eq!(
        wire.fail("session.input", json!({"id": id, "input": "x"})),
        format!("Session {id}: the program has ended")
    );
    assert_eq!(
        wire.fail("exec.run_wait", json!({"id": id, "command": "true"})),
        format!("Nothing was typed: session {id} has ended (exit code 3)")
    );
    wire.call("session.destroy", json!({"id": id}));
}

#[test]
fn input_arrives_as_it_is_and_signals_as_control_characters() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.program(&mut wire, "cat", &[]);
    let id = session.id;
    assert_eq!(
        wire.call("session.input", json!({"id": id, "input": "one\r"})),
        json!({"status": "ok"})
    );
    session.wait_for_text("one\none");
    assert_eq!(
        wire.call("exec.send", json!({"id": id, "input": "é two\r"})),
        json!({"status": "ok"})
    );
    session.wait_for_text("é two\né two");
    assert_eq!(wire.call("session.idle", json!({"id": id}))["idle"], false, "cat is no shell");
    assert_eq!(wire.call("exec.status", json!({"id": id}))["status"], "running");
    assert_eq!(
        wire.call("signal.send", json!({"id": id, "signal": "eof"})),
        json!({"sent": true, "signal": "eof"})
    );
    session.wait_for_end();
    assert_eq!(wire.call("session.status", json!({"id": id}))["exit_code"], 0);

    let session = fixture.program(&mut wire, "cat", &[]);
    session.pane.process();
    assert_eq!(wire.call("exec.cancel", json!({"id": session.id})), json!({"cancelled": true}));
    session.wait_for_end();
    assert_eq!(wire.call("session.status", json!({"id": session.id}))["exit_signal"], 2);

    for (method, name, number) in [
        ("signal.send", "QUIT", 3),
        ("session.signal", "SIGTERM", 15),
        ("session.signal", "kill", 9),
        ("session.signal", "HUP", 1),
        ("session.signal", "SIGINT", 2),
        ("session.signal", "usr1", 10),
    ] {
        let session = fixture.program(&mut wire, "cat", &[]);
        let sent = wire.call(method, json!({"session_id": session.id.to_string(), "signal": name}));
        assert_eq!(sent, json!({"sent": true, "signal": name}));
        session.wait_for_end();
        assert_eq!(wire.call("session.status", json!({"id": session.id}))["exit_signal"], number);
    }
    // Signals that no key sends, and names that are no signals, are refused and have no effect.
    let session = fixture.program(&mut wire, "cat", &[]);
    for name in ["SIGTERM", "SIGKILL", "TERM", "kill", "SIGHUP", "SIGWINCH"] {
        assert_eq!(
            wire.fail("signal.send", json!({"id": session.id, "signal": name})),
            format!("Unsupported signal: {name}")
        );
    }
    assert_eq!(
        wire.fail("session.signal", json!({"id": session.id, "signal": "EOF"})),
        "Invalid 'signal': expected SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGKILL, SIGTSTP, SIGCONT, SIGUSR1 or SIGUSR2, got \"EOF\""
    );
    assert_eq!(wire.fail("session.signal", json!({"id": session.id})), "Missing 'signal'");
    assert_eq!(wire.call("session.status", json!({"id": session.id}))["is_dead"], false);
}

#[test]
fn a_shell_is_idle_or_runs_something() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.program(&mut wire, "bash", &["--norc"]);
    let id = session.id;
    session.wait_for_text("$");
    let idle = wire.call("session.idle", json!({"id": id}));
    assert_eq!(idle["idle"], true);
    assert!(idle["foreground_process"].as_str().unwrap().ends_with("bash"), "{idle}");
    assert_eq!(wire.call("exec.status", json!({"id": id}))["status"], "idle");
    assert_eq!(wire.call("session.status", json!({"id": id}))["shell"]["shell_type"], "bash");

    assert_eq!(
        wire.call("exec.run", json!({"id": id, "command": "echo up; cat"})),
        json!({"sent": true})
    );
    session.wait_for_text("\nup");
    // Once `cat` echoes, it is in the foreground.
    wire.call("session.input", json!({"id": id, "input": "x\r"}));
    session.wait_for_text("x\nx");
    let status = wire.call("exec.status", json!({"id": id}));
    assert_eq!(status["status"], "running");
    assert!(status["foreground_process"].as_str().unwrap().ends_with("cat"), "{status}");
    assert_eq!(wire.call("session.idle", json!({"id": id}))["idle"], false);
}

#[test]
fn every_shell_is_idle_at_its_prompt_and_after_its_command() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    for shell in ["dash", "sh", "busybox sh", "ksh", "mksh", "yash", "zsh -f", "fish -N", "tcsh -f"]
    {
        let words: Vec<&str> = shell.split(' ').collect();
        if std::process::Command::new(words[0]).arg("-c").arg(":").output().is_err() {
            continue;
        }
        let id = fixture.program(&mut wire, words[0], &words[1..]).id;
        for (input, is_idle) in [("", true), ("cat\r", false), ("\u{4}", true)] {
            wire.call("session.input", json!({"id": id, "input": input}));
            support::until(&format!("{shell} after {input:?}"), || {
                let idle = wire.call("session.idle", json!({"id": id}))["idle"] == is_idle;
                let status = if is_idle { "idle" } else { "running" };
                let status = wire.call("exec.status", json!({"id": id}))["status"] == status;
                (idle && status).then_some(())
            });
        }
        wire.call("session.destroy", json!({"id": id}));
    }
}

#[test]
fn the_screen_is_read_in_every_form() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    // The program prints 30 lines in 24 rows. 7 lines are in the history, because the last row is also used.
    let script = "i=1; while [ $i -le 30 ]; do echo \"line $i  \"; i=$((i+1)); done; printf '\\033[4 qmore'; cat";
    let session = fixture.program(&mut wire, "sh", &["-c", script]);
    let id = session.id;
    session.wait_for_text("more");

    let text = wire.call("screen.text", json!({"id": id}));
    assert_eq!(keys(&text), ["cols", "cursor", "lines", "rows", "seq"]);
    assert_eq!(text["lines"].as_array().unwrap().len(), 24);
    assert_eq!((&text["lines"][0], &text["lines"][23]), (&json!("line 8"), &json!("more")));
    assert_eq!(text["cursor"], json!({"x": 4, "y": 23}));
    assert_eq!((&text["cols"], &text["rows"]), (&json!(80), &json!(24)));

    let read = wire.call("screen.read", json!({"id": id}));
    assert_eq!(keys(&read), ["cells", "cols", "cursor", "rows", "scrollback_rows"]);
    assert_eq!(read["scrollback_rows"], 31);
    let first = &read["cells"][0];
    assert_eq!((&first["row"], &first["text"]), (&json!(7), &json!("line 8")));
    assert_eq!(read["cursor"], json!({"x": 4, "y": 23, "visible": true}));

    assert_eq!(
        wire.call("screen.cursor", json!({"id": id})),
        json!({"x": 4, "y": 23, "visible": true, "shape": "SteadyUnderline"})
    );

    let scroll = wire.call("screen.scroll", json!({"id": id, "offset": 2, "count": 3}));
    assert_eq!(scroll["lines"], json!(["line 3", "line 4", "line 5"]));
    assert_eq!((&scroll["offset"], &scroll["count"]), (&json!(2), &json!(3)));
    assert_eq!(wire.call("screen.scroll", json!({"id": id}))["count"], 31);
    assert_eq!(
        wire.call("screen.scroll", json!({"id": id, "offset": 31})),
        json!({"lines": [], "offset": 31, "count": 0}),
        "past the end there is nothing"
    );

    let search =
        wire.call("screen.search", json!({"id": id, "pattern": "line 1", "max_results": 2}));
    assert_eq!(search["total"], 11);
    let matches = search["matches"].as_array().unwrap();
    assert_eq!(matches.len(), 2);
    assert_eq!((&matches[1]["row"], &matches[1]["text"]), (&json!(9), &json!("line 10")));
    assert_eq!(
        matches[0]["line_id"].as_u64().unwrap() + 9,
        matches[1]["line_id"].as_u64().unwrap()
    );
    assert_eq!(wire.call("screen.search", json!({"id": id, "pattern": "LINE"}))["total"], 0);

    let history = wire.call("session.history", json!({"id": id, "limit": 2}));
    assert_eq!(history, json!({"entries": [{"text": "line 6"}, {"text": "line 7"}], "count": 2}));
    assert_eq!(wire.call("session.history", json!({"id": id}))["count"], 7);
}

#[test]
fn the_text_of_a_screen_is_never_an_old_one() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.shell(&mut wire);
    for n in 0..50 {
        wire.call(
            "exec.run_wait",
            json!({"id": session.id, "command": format!("clear; echo now {n}")}),
        );
        for _ in 0..2 {
            let text = wire.call("screen.text", json!({"id": session.id}));
            assert_eq!(text["lines"][0], format!("now {n}"));
        }
    }
    wire.call("session.resize", json!({"id": session.id, "cols": 50, "rows": 10}));
    let text = wire.call("screen.text", json!({"id": session.id}));
    assert_eq!((&text["cols"], &text["rows"]), (&json!(50), &json!(10)));
}

#[test]
fn a_text_is_found_where_it_wraps() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let script = "printf '%078d' 0; printf 'needle\\n'; cat";
    let session = fixture.program(&mut wire, "sh", &["-c", script]);
    session.wait_for_text("edle");
    let search = wire.call("screen.search", json!({"id": session.id, "pattern": "needle"}));
    assert_eq!(search["total"], 1);
    assert_eq!(search["matches"][0]["row"], 0);
}

#[test]
fn errors_are_detected_on_the_live_screen() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let script = "echo fine; echo 'sh: foo: command not found'; echo 'error[E1]: FAILED'; cat";
    let session = fixture.program(&mut wire, "sh", &["-c", script]);
    session.wait_for_text("E1");
    let found = wire.call("screen.detect_errors", json!({"id": session.id}));
    assert_eq!(found["has_errors"], true);
    let errors = found["errors"].as_array().unwrap();
    assert_eq!(errors.len(), 2);
    assert_eq!(keys(&errors[0]), ["line_id", "pattern", "row", "text"]);
    assert_eq!(
        (&errors[0]["row"], &errors[0]["text"], &errors[0]["pattern"]),
        (&json!(1), &json!("sh: foo: command not found"), &json!("not found"))
    );
    assert_eq!(errors[1]["pattern"], "error[");
    let calm = fixture.program(&mut wire, "cat", &[]);
    assert_eq!(
        wire.call("screen.detect_errors", json!({"id": calm.id})),
        json!({"has_errors": false, "errors": []})
    );
}
