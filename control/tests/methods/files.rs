//! Tests of data in files: recordings, workspaces, the proxy.

use std::{fs, net::TcpListener, os::unix::fs::PermissionsExt, path::Path};

use crate::support::{Fixture, PATIENCE};
use serde_json::{Value, json};

fn read(path: &Value) -> String {
    fs::read_to_string(path.as_str().unwrap()).unwrap()
}

#[test]
fn a_recording_goes_on_behind_output_that_may_begin_a_mark() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    // The program writes a single byte, which may be the beginning of a mark.
    let script =
        "stty -echo; echo ready; read x; printf '\\033'; read x; printf '[1mafter\\n'; read x";
    let session = fixture.program(&mut wire, "sh", &["-c", script]);
    let id = session.id;
    let ready = json!({"id": id, "any": [{"text": "ready"}]});
    assert_eq!(wire.call("session.wait", ready)["matched"], true);
    let started = wire.call("session.recording_start", json!({"id": id}));
    let seq = wire.call("session.wait", json!({"id": id, "any": [{"seq": 0}]}))["seq"].clone();
    wire.call("session.input", json!({"id": id, "input": "\n"}));
    let next = seq.as_u64().unwrap() + 1;
    let escape = json!({"id": id, "any": [{"seq": next}]});
    assert_eq!(wire.call("session.wait", escape)["matched"], true);
    wire.call("session.input", json!({"id": id, "input": "\n"}));
    let after = json!({"id": id, "any": [{"text": "after"}]});
    assert_eq!(wire.call("session.wait", after)["matched"], true);
    wire.call("session.recording_stop", json!({"id": id}));
    let log = read(&started["log_path"]);
    // This is "\x1b[1mafter\r\n" in base64.
    assert!(log.contains("\tout\tG1sxbWFmdGVyDQo=\n"), "{log}");
}

#[test]
fn a_password_that_a_caller_sends_is_in_no_recording() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let script = "for i in 1 2 3 4 5 6 7 8 9; do stty -echo; echo \"Password $i:\"; \
                  read -r x; stty echo; echo \"got $i\"; done; read -r x";
    let session = fixture.program(&mut wire, "sh", &["-c", script]);
    let id = session.id;
    let started = wire.call("session.recording_start", json!({"id": id}));
    for number in 1..=9 {
        session.wait_for_text(&format!("Password {number}:"));
        match number % 2 {
            0 => wire.call("session.paste", json!({"id": id, "text": "hunter2\n"})),
            _ => wire.call("session.input", json!({"id": id, "input": "hunter2\r"})),
        };
        session.wait_for_text(&format!("got {number}"));
    }
    wire.call("session.input", json!({"id": id, "input": "seen\r"}));
    session.wait_for_end();
    wire.reply("session.recording_stop", json!({"id": id}));
    let log = read(&started["log_path"]);
    let typed: Vec<_> = log.lines().filter(|line| line.contains("\tin\t")).collect();
    let (last, hidden) = typed.split_last().expect("input is recorded");
    // This is "seen\r" in base64.
    assert!(last.ends_with("\tin\tc2Vlbg0="), "{log}");
    assert!(hidden.len() == 9 && hidden.iter().all(|line| line.ends_with("\tin\t")), "{log}");
}

#[test]
fn a_recording_is_made_rendered_listed_and_read() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    let id = session.id;
    let none = json!({"recording": false, "enabled": false});
    assert_eq!(wire.call("session.recording_status", json!({"id": id})), none);
    let refusal = format!("Session {id} is not being recorded");
    assert_eq!(wire.fail("session.recording_stop", json!({"id": id})), refusal);
    assert_eq!(
        wire.fail("session.recording_attach_trace", json!({"id": id, "trace_id": "x"})),
        refusal
    );

    let started = wire.call("session.recording_start", json!({"id": id}));
    let log = started["log_path"].as_str().unwrap();
    assert!(log.ends_with(".log") && log.contains("/.unterm/sessions/"), "{started}");
    assert_eq!(fs::metadata(log).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(
        wire.fail("session.recording_start", json!({"id": id})),
        format!("Session {id} is already being recorded")
    );
    let secret = format!("ghp_{}", "a1".repeat(18));
    // One secret is wrapped on the screen, and one is in the command itself.
    wire.call(
        "exec.run_wait",
        json!({"id": id, "command": format!("printf '%060d {secret}\\n' 0")}),
    );
    wire.call(
        "exec.run_wait",
        json!({"id": id, "command": "PASSWORD=hunter2 sh -c 'echo two; exit 3'"}),
    );
    wire.call("exec.run_wait", json!({"id": id, "command": "printf 'a\\rb\\n```\\n'"}));
    let traced =
        wire.call("session.recording_attach_trace", json!({"id": id, "trace_id": "run \"1\""}));
    assert_eq!(traced, json!({"trace_ids": ["run \"1\""]}));
    let status = wire.call("session.recording_status", json!({"id": id}));
    assert_eq!(
        (&status["recording"], &status["session_id"]),
        (&json!(true), &started["session_id"])
    );
    assert!(status["bytes"].as_u64().unwrap() > 0);
    assert_eq!(wire.call("session.recording_list", json!({})), json!([]), "it is not over");

    let stopped = wire.call("session.recording_stop", json!({"id": id}));
    assert_eq!(stopped["session_id"], started["session_id"]);
    assert_eq!((&stopped["block_count"], &stopped["exit_reason"]), (&json!(3), &json!("stopped")));
    assert_eq!(stopped["md_path"], started["md_path_when_done"]);
    let page = read(&stopped["md_path"]);
    assert!(page.starts_with("---\nunterm_session_id: "), "{page}");
    assert!(page.contains("trace_ids: [\"run \\\"1\\\"\"]\n"), "{page}");
    assert!(page.contains("osc133_active: true\nblock_count: 3\n"), "{page}");
    assert!(page.contains("## Block 2 — `") && page.contains("> exit: 3 · "), "{page}");
    assert!(page.contains("```\ntwo\n```\n"), "{page}");
    assert!(page.contains("````\nb\n```\n````\n"), "a fence can't be ended by output: {page}");
    assert!(!page.contains(&secret) && !page.contains("hunter2"), "{page}");
    let log = read(&started["log_path"]);
    for line in log.lines() {
        let fields: Vec<_> = line.split('\t').collect();
        assert_eq!(fields.len(), 3, "{line}");
        assert!(fields[0].parse::<u64>().is_ok(), "{line}");
    }
    for event in ["out", "in", "block_prompt", "block_input", "block_output", "block_exit"] {
        assert!(log.contains(&format!("\t{event}\t")), "{event}");
    }

    let list = wire.call("session.recording_list", json!({}));
    let row = &list[0];
    assert_eq!((&row["unterm_session_id"], &row["tab_id"]), (&started["session_id"], &json!(id)));
    let project = row["project_path"].as_str().unwrap();
    assert_eq!(project, fixture.home.path().canonicalize().unwrap().to_str().unwrap());
    let keys: Vec<_> = row.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "block_count",
            "bytes_raw",
            "ended_at",
            "log_path",
            "md_path",
            "project_path",
            "project_slug",
            "started_at",
            "tab_id",
            "unterm_session_id"
        ]
    );
    assert_eq!(wire.call("session.recording_list", json!({"project": project})), list);
    let slashed = format!("{project}/");
    assert_eq!(wire.call("session.recording_list", json!({"project": slashed})), list);
    assert_eq!(wire.call("session.recording_list", json!({"project": "none"})), json!([]));
    let again = wire.call("session.recording_read", json!({"session_id": started["session_id"]}));
    assert_eq!(again, json!({"markdown": page}));
    assert_eq!(
        wire.fail("session.recording_read", json!({"session_id": "none"})),
        "Recording 'none' not found"
    );
}

#[test]
fn a_recording_ends_with_its_program_and_with_the_server() {
    let mut fixture = Fixture::new();
    let mut wire = fixture.login();
    let sessions: Vec<_> = (0..2).map(|_| fixture.program(&mut wire, "cat", &[])).collect();
    let pages: Vec<_> = sessions
        .iter()
        .map(|session| {
            let started = wire.call("session.recording_start", json!({"id": session.id}));
            wire.call("session.input", json!({"id": session.id, "input": "hello\r"}));
            session.wait_for_text("hello\nhello");
            started["md_path_when_done"].as_str().unwrap().to_owned()
        })
        .collect();
    wire.call("signal.send", json!({"id": sessions[0].id, "signal": "EOF"}));
    wait_for_file(Path::new(&pages[0]));
    let page = fs::read_to_string(&pages[0]).unwrap();
    assert!(page.contains("exit_reason: \"exited\"") && page.contains("osc133_active: false"));
    assert!(page.contains("```\nhello\nhello\n```\n"), "{page}");
    fixture.server.take();
    let page = fs::read_to_string(&pages[1]).unwrap();
    assert!(page.contains("exit_reason: \"closed\""), "{page}");
}

fn wait_for_file(path: &Path) {
    let start = std::time::Instant::now();
    while !path.exists() {
        assert!(start.elapsed() < PATIENCE, "{} was never written", path.display());
        std::thread::yield_now();
    }
}

#[test]
fn the_next_start_closes_recordings_of_a_killed_process() {
    let mut fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.program(&mut wire, "cat", &[]);
    let started = wire.call("session.recording_start", json!({"id": session.id}));
    wire.call("session.input", json!({"id": session.id, "input": "last words\r"}));
    session.wait_for_text("last words\nlast words");
    wire.call("session.recording_stop", json!({"id": session.id}));
    fixture.server.take();
    // A killed process leaves a recording without an end, an incomplete line, and a process id that no longer exists.
    let index = fixture.registry().join("sessions/index.json");
    let mut rows: Value = serde_json::from_slice(&fs::read(&index).unwrap()).unwrap();
    let mut child = std::process::Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    rows[0]["ended_at"] = Value::Null;
    rows[0]["exit_reason"] = Value::Null;
    rows[0]["pid"] = json!(child.id());
    rows[0]["process_start"] = json!(1);
    fs::write(&index, rows.to_string()).unwrap();
    let page = started["md_path_when_done"].as_str().unwrap();
    fs::remove_file(page).unwrap();
    let mut log = fs::read(started["log_path"].as_str().unwrap()).unwrap();
    log.extend_from_slice(b"123\tout\taGVs");
    fs::write(started["log_path"].as_str().unwrap(), log).unwrap();

    fixture.restart();
    wait_for_file(Path::new(page));
    let mut wire = fixture.login();
    let text = fs::read_to_string(page).unwrap();
    assert!(text.contains("exit_reason: \"crashed\"") && text.contains("last words"), "{text}");
    let start = std::time::Instant::now();
    loop {
        let list = wire.call("session.recording_list", json!({}));
        if list[0]["unterm_session_id"] == started["session_id"] {
            assert!(list[0]["ended_at"].is_string());
            break;
        }
        assert!(start.elapsed() < PATIENCE, "{list}");
    }
}

#[test]
fn a_session_is_rendered_without_a_recording() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    wire.call(
        "exec.run_wait",
        json!({"id": session.id, "command": "echo exported; sh -c 'exit 2'"}),
    );
    let path = fixture.home.path().join("out.md");
    let export = wire.call("session.export_markdown", json!({"id": session.id, "path": path}));
    assert_eq!((&export["path"], &export["block_count"]), (&json!(path), &json!(1)));
    let page = fs::read_to_string(&path).unwrap();
    assert_eq!(export["bytes"], page.len());
    assert!(page.contains("> exit: 2") && page.contains("```\nexported\n```"), "{page}");
    let usual = wire.call("session.export_markdown", json!({"id": session.id}));
    assert!(usual["path"].as_str().unwrap().contains("/.unterm/sessions/"), "{usual}");
    assert_ne!(usual["session_id"], export["session_id"]);
    let message = wire.fail("session.export_markdown", json!({"id": session.id, "path": "x.md"}));
    assert!(message.starts_with("Invalid 'path'"), "{message}");
    let nowhere = json!({"id": session.id, "path": "/nowhere/x.md"});
    let message = wire.fail("session.export_markdown", nowhere);
    assert!(message.contains("/nowhere/x.md: No such file"), "{message}");
}

#[test]
fn a_workspace_is_saved_read_and_opened_again() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    assert_eq!(wire.call("workspace.list", json!({})), json!({"workspaces": []}));
    let home = fixture.home.path().canonicalize().unwrap();
    let first = wire.call("tab.create", json!({"program": "cat", "cwd": home}));
    let below = json!({"id": first["id"], "direction": "down", "program": "cat"});
    let below = wire.call("session.split", below);
    wire.call("session.rename", json!({"id": below["id"], "title": "notes"}));
    wire.call("tab.rename", json!({"tab_id": first["tab_id"], "title": "work"}));
    assert_eq!(
        wire.call("workspace.save", json!({"name": "mine"})),
        json!({"saved": true, "name": "mine", "sessions": 2})
    );
    assert_eq!(wire.call("workspace.list", json!({})), json!({"workspaces": [{"name": "mine"}]}));
    let restored = wire.call("workspace.restore", json!({"name": "mine"}));
    assert_eq!((&restored["restored"], &restored["name"]), (&json!(true), &json!("mine")));
    assert_eq!(
        restored["message"],
        "Workspace data loaded. Use session.create with cwd to recreate sessions."
    );
    let session = &restored["workspace"]["sessions"][0];
    assert_eq!((&session["id"], &session["title"]), (&first["id"], &json!("cat")));
    assert!(session["cwd"].as_str().unwrap().ends_with(home.to_str().unwrap()));
    assert!(restored["workspace"]["saved_at"].is_string());
    assert_eq!(restored.get("created"), None);

    let opened = wire.call("workspace.restore", json!({"name": "mine", "recreate": true}));
    let created = opened["created"].as_array().unwrap();
    assert_eq!(created.len(), 2, "{opened}");
    let tabs = wire.call("tab.list", json!({}));
    let tab = &tabs["tabs"][1];
    assert_eq!((&tab["title"], &tab["sessions"]), (&json!("work"), &opened["created"]));
    assert_eq!(tab["layout"]["split"], "down");
    let mut title = |id: &Value| {
        wire.call("session.get", json!({"id": id}))["title"].as_str().unwrap().to_owned()
    };
    assert_eq!(title(&created[1]), "notes");
    // A title that the program set is not restored.
    assert_ne!(title(&created[0]), "cat");
    let cwd = wire.call("session.cwd", json!({"id": created[0]}));
    assert!(cwd["cwd"].as_str().unwrap().ends_with(home.to_str().unwrap()), "{cwd}");

    // A session whose directory was deleted starts in the nearest folder above it, and the reply names the directory.
    let gone = fixture.home.path().join("gone/deeper");
    let saved = json!({
        "name": "old", "saved_at": "2026-01-01T00:00:00Z",
        "sessions": [{"id": 1, "cwd": unterm_mux::file_uri(&gone)}],
    });
    std::fs::write(fixture.registry().join("workspaces/old.json"), saved.to_string()).unwrap();
    let opened = wire.call("workspace.restore", json!({"name": "old", "recreate": true}));
    let missing = opened["missing"][0].as_str().unwrap();
    let home = fixture.home.path().display();
    let named = format!("{} no longer exists; its pane starts in {home}", gone.display());
    assert_eq!(missing, named);

    for name in ["../escape", "a/b", "", ".hidden", "a\\b"] {
        for method in ["workspace.save", "workspace.restore"] {
            let message = wire.fail(method, json!({"name": name}));
            assert_eq!(message, format!("Invalid workspace name: {name:?}"));
        }
    }
    assert!(!fixture.home.path().join("escape.json").exists());
    assert_eq!(
        wire.fail("workspace.restore", json!({"name": "none"})),
        "Workspace 'none' not found"
    );
    assert_eq!(wire.fail("workspace.save", json!({})), "Missing 'name'");
    let reserved = wire.fail("workspace.save", json!({"name": "last"}));
    assert!(reserved.contains("\"last\"") && reserved.contains("the last window"), "{reserved}");
    assert!(!fixture.registry().join("workspaces/last.json").exists());
}

#[test]
fn a_proxy_is_set_tested_and_passed_to_programs() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    assert_eq!(
        wire.call("proxy.status", json!({})),
        json!({"enabled": false, "mode": "off", "http_proxy": null, "socks_proxy": null,
               "no_proxy": null, "current_node": null, "node_count": 0, "health": null})
    );
    assert_eq!(wire.call("proxy.env", json!({})), json!({"enabled": false, "env": {}}));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let up = format!("http://{}", listener.local_addr().unwrap());
    // This port was free a moment ago, so no program listens on it.
    let down = TcpListener::bind("127.0.0.1:0").unwrap();
    let down_url = format!("socks5://{}", down.local_addr().unwrap());
    drop(down);
    let configured = wire.call(
        "proxy.configure",
        json!({"no_proxy": "localhost", "current_node": "up", "nodes": [
            {"name": "up", "url": up}, {"name": "down", "url": down_url},
        ]}),
    );
    assert_eq!(configured["configured"], true);
    let status = wire.call("proxy.status", json!({}));
    assert_eq!(configured["status"], status);
    assert_eq!((&status["mode"], &status["http_proxy"]), (&json!("manual"), &json!(up)));
    assert_eq!(status["health"], json!({"source": "manual", "url": up, "reachable": true}));
    assert_eq!(
        wire.call("proxy.env", json!({}))["env"],
        json!({"HTTP_PROXY": up, "HTTPS_PROXY": up, "ALL_PROXY": up, "NO_PROXY": "localhost"})
    );
    let session = fixture.shell(&mut wire);
    let env = wire.call(
        "exec.run_wait",
        json!({"id": session.id, "command": "echo $http_proxy $HTTPS_PROXY $no_proxy"}),
    );
    assert_eq!(env["output"], format!("{up} {up} localhost"));

    let tested = wire.call("proxy.speedtest", json!({}));
    let results = tested["results"].as_array().unwrap();
    assert_eq!((&results[0]["available"], &results[1]["available"]), (&json!(true), &json!(false)));
    assert_eq!(results[1]["latency_ms"], Value::Null);
    let nodes = wire.call("proxy.nodes", json!({}));
    assert_eq!(
        (&nodes["current_node"], &nodes["nodes"][0]["available"]),
        (&json!("up"), &json!(true))
    );
    let one = wire.call("proxy.speedtest", json!({"node_name": "down", "timeout_ms": 500}));
    assert_eq!(one["results"].as_array().unwrap().len(), 1);

    assert_eq!(
        wire.call("proxy.switch", json!({"node_name": "down"})),
        json!({"switched": true, "current_node": "down", "http_proxy": down_url})
    );
    let health = &wire.call("proxy.status", json!({}))["health"];
    assert_eq!(health["reachable"], false);
    assert!(health["hint"].is_string());
    for (method, params) in [
        ("proxy.switch", json!({"node_name": "none"})),
        ("proxy.speedtest", json!({"node_name": "none"})),
        ("proxy.configure", json!({"current_node": "none"})),
    ] {
        assert_eq!(wire.fail(method, params), "Proxy node 'none' not found", "{method}");
    }
    assert_eq!(wire.fail("proxy.switch", json!({})), "Missing 'node_name'");
    assert!(wire.fail("proxy.configure", json!({"mode": "x"})).starts_with("Invalid 'mode'"));

    for (params, start) in [
        (json!({"http_proxy": "not a url"}), "'http_proxy': expected a proxy's URL"),
        (json!({"http_proxy": "nonsense"}), "'http_proxy': expected a proxy's URL"),
        (json!({"http_proxy": "ftp://x:1"}), "'http_proxy': expected a proxy's URL"),
        (json!({"socks_proxy": "socks5://x:99999"}), "'socks_proxy': expected a proxy's URL"),
        (json!({"socks_proxy": "http://x:1"}), "'socks_proxy': expected a SOCKS proxy's URL"),
        (json!({"nodes": {"name": "z"}}), "'nodes': expected a list of {name, url}"),
    ] {
        let message = wire.fail("proxy.configure", params);
        assert!(message.starts_with(&format!("Invalid {start}, ")), "{message}");
    }
    let nodes = json!([{"name": "z"}, {"name": "up", "url": up}, {"name": "y", "url": "::::"}, 42,
        {"url": up}, {"name": "down", "http_proxy": down_url}]);
    let configured = wire.call("proxy.configure", json!({ "nodes": nodes }));
    assert_eq!(configured["status"]["node_count"], 2);
    let refused: Vec<_> = configured["refused"]
        .as_array()
        .unwrap()
        .iter()
        .map(|refused| (refused["index"].as_u64().unwrap(), refused["error"].as_str().unwrap()))
        .collect();
    let url = "Invalid 'url': expected a proxy's URL, such as http://127.0.0.1:7890 or socks5://127.0.0.1:1080, got";
    assert_eq!(
        refused,
        [
            (0, &*format!("{url} \"\"")),
            (2, &*format!("{url} \"::::\"")),
            (3, "Invalid 'nodes': expected {name, url}, got 42"),
            (4, &*format!("Invalid 'nodes': expected {{name, url}}, got {}", json!({"url": up}))),
        ]
    );
    let status = wire.call("proxy.configure", json!({"mode": "auto"}))["status"].take();
    assert_eq!((&status["mode"], &status["http_proxy"]), (&json!("auto"), &Value::Null));
    assert_ne!(status["health"]["source"], "manual", "what was named before does not win");

    assert_eq!(wire.call("proxy.disable", json!({})), json!({"disabled": true}));
    let status = wire.call("proxy.status", json!({}));
    assert_eq!((&status["mode"], &status["node_count"]), (&json!("off"), &json!(2)));
    let session = fixture.shell(&mut wire);
    let command = json!({"id": session.id, "command": "echo [$HTTP_PROXY]"});
    let inherited = std::env::var("HTTP_PROXY").unwrap_or_default();
    assert_eq!(wire.call("exec.run_wait", command)["output"], format!("[{inherited}]"));
    // By default, this machine is accessed without the proxy.
    let usual = "localhost,127.0.0.1,::1";
    for given in [json!({"no_proxy": ""}), json!({ "no_proxy": usual }), json!({})] {
        let status = wire.call("proxy.configure", given)["status"].take();
        assert_eq!(status["no_proxy"], usual);
        assert_eq!(wire.call("proxy.env", json!({}))["env"]["NO_PROXY"], usual);
    }
    let session = fixture.shell(&mut wire);
    let command = json!({"id": session.id, "command": "echo $NO_PROXY $no_proxy"});
    assert_eq!(wire.call("exec.run_wait", command)["output"], format!("{usual} {usual}"));

    let file = fixture.registry().join("proxy.json");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    fs::write(&file, "{").unwrap();
    assert!(wire.fail("proxy.status", json!({})).contains("proxy.json can't be used"));
}
