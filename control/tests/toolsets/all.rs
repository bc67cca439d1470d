//! Tests that the toolsets `iterm` and `tester` have the documented names, parameters, replies and errors.

use crate::support::{Fixture, PATIENCE, toolset::Client};
use serde_json::{Value, json};
use unterm_mux::PaneId;

#[test]
fn applications_are_tested_as_document_4_says() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture, "tester");
    assert_eq!(
        client.names(),
        [
            "launch_app",
            "view_screen",
            "send_keys",
            "get_cursor_position",
            "get_screen_size",
            "resize_terminal",
            "restart_app",
            "stop_app",
            "list_sessions"
        ]
    );
    let script = "printf \"$GREETING\"; pwd; exec cat";
    let launched = client.call(
        "launch_app",
        json!({"command": "sh", "args": ["-c", script], "env": {"GREETING": "\\033[1;31mred\\033[m\\n"}}),
    );
    assert_eq!(launched["success"], true);
    let id = launched["session_id"].clone();
    assert_eq!(id.as_str().unwrap().len(), 36);
    let on = json!({"session_id": id});
    // The program runs in the client's directory, in a hidden pane.
    let plain = client.view(&id, "plain", fixture.home.path().to_str().unwrap());
    assert!(plain.starts_with("red\n") && !plain.ends_with(' '), "{plain:?}");
    assert_eq!(fixture.login().call("session.list", json!({}))["sessions"], json!([]));
    assert_eq!(client.call("get_cursor_position", on.clone()), json!({"row": 2, "col": 0}));
    assert_eq!(client.call("get_screen_size", on.clone()), json!({"width": 80, "height": 24}));
    let raw = client.view(&id, "raw", "red");
    assert!(raw.starts_with("\u{1b}[0m\u{1b}[0;1;38;2;205;0;0mred\u{1b}[0m\r\n"), "{raw:?}");
    assert!(raw.ends_with("\u{1b}[3;1H"), "{raw:?}");
    let ansi = client.view(&id, "ansi", "red");
    assert!(ansi.contains("\n▮·······"), "{ansi:?}");
    let bytes = client.view(&id, "passthrough", "red");
    assert!(bytes.starts_with("\u{1b}[1;31mred\u{1b}[m\r\n"), "{bytes:?}");
    client.call("send_keys", json!({"session_id": id, "keys": "iHello, World!Enterx\u{e9}Tab"}));
    client.view(&id, "plain", "iHello, World!");
    let state = client.call("view_screen", on.clone());
    assert!(state["cursor"]["row"].is_u64(), "{state}");
    let size = json!({"session_id": id, "width": 120, "height": 30});
    assert_eq!(client.call("resize_terminal", size), json!({"success": true}));
    assert_eq!(client.call("get_screen_size", on.clone()), json!({"width": 120, "height": 30}));
    assert_eq!(client.call("restart_app", on.clone()), json!({"success": true}));
    assert_eq!(client.call("get_screen_size", on.clone()), json!({"width": 80, "height": 24}));
    client.view(&id, "scrollback", "red");
    let listed = client.call("list_sessions", json!({}));
    let listed = &listed["sessions"][0];
    assert_eq!((&listed["id"], &listed["command"]), (&id, &json!("sh")));
    assert_eq!((&listed["args"], &listed["state"]), (&json!(["-c", script]), &json!("active")));
    // Another client has separate sessions, which end with it.
    let mut other = Client::new(&fixture, "tester");
    assert_eq!(other.call("list_sessions", json!({})), json!({"sessions": []}));
    assert_eq!(other.fail("stop_app", on.clone())["code"], "SESSION_NOT_FOUND");

    let gone = client.call("launch_app", json!({"command": "true"}));
    let end = std::time::Instant::now() + PATIENCE;
    while client.call("list_sessions", json!({}))["sessions"][1]["state"] != "stopped" {
        assert!(std::time::Instant::now() < end, "it never ends");
        std::thread::yield_now();
    }
    for (tool, more) in
        [("send_keys", json!({"keys": "x"})), ("resize_terminal", json!({"width": 9, "height": 9}))]
    {
        let mut arguments = more;
        arguments["session_id"] = gone["session_id"].clone();
        let error = client.fail(tool, arguments);
        assert_eq!(error, json!({"message": "session is not active", "code": "SESSION_DEAD"}));
    }
    assert_eq!(
        client.call("stop_app", json!({"session_id": gone["session_id"]})),
        json!({"success": true})
    );
    // A session whose program has ended can be restarted too.
    let script = "test -e there || { touch there; exit 3; }; printf 'Hello, World!\\nThis is line 2\\n'; \
                  printf '                \\033[2;1H'; exec cat";
    let again = client.call("launch_app", json!({"command": "sh", "args": ["-c", script]}));
    let state = |client: &mut Client| {
        let listed = client.call("list_sessions", json!({}))["sessions"].clone();
        listed.as_array().unwrap().last().unwrap()["state"].clone()
    };
    while state(&mut client) != "error" {
        assert!(std::time::Instant::now() < end, "it never ends");
        std::thread::yield_now();
    }
    let again = json!({"session_id": again["session_id"]});
    assert_eq!(client.call("restart_app", again.clone()), json!({"success": true}));
    // This is the documented example.
    let content = "Hello, World!\nThis is line 2\n                ";
    let example = json!({"content": content, "cursor": {"row": 1, "col": 0}});
    loop {
        let view = client.call("view_screen", again.clone());
        if view == example {
            break;
        }
        assert!(std::time::Instant::now() < end, "{view}");
        std::thread::yield_now();
    }
    client.call("stop_app", again);
    assert_eq!(client.call("stop_app", on.clone()), json!({"success": true}));
    assert_eq!(client.fail("view_screen", on)["code"], "SESSION_NOT_FOUND");
    assert_eq!(client.call("list_sessions", json!({})), json!({"sessions": []}));
}

#[test]
fn arguments_of_the_tester_tools_are_checked() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture, "tester");
    let launch = |arguments: Value| ("launch_app", arguments);
    let id = "550e8400-e29b-41d4-a716-446655440000";
    for ((tool, arguments), code, message) in [
        (launch(json!({})), "INVALID_PARAMETER", "command parameter is required"),
        (launch(json!({"command": 5})), "INVALID_PARAMETER", "command must be a string"),
        (
            launch(json!({"command": "a; b"})),
            "INVALID_INPUT",
            "command contains invalid characters",
        ),
        (launch(json!({"command": "a|b"})), "INVALID_INPUT", "command contains invalid characters"),
        (launch(json!({"command": "../a"})), "INVALID_INPUT", "command contains path traversal"),
        (
            launch(json!({"command": "a", "args": "b"})),
            "INVALID_PARAMETER",
            "args must be an array of strings",
        ),
        (
            launch(json!({"command": "a", "args": ["../b"]})),
            "INVALID_INPUT",
            "argument contains path traversal",
        ),
        (
            launch(json!({"command": "a", "args": ["b\0c"]})),
            "INVALID_INPUT",
            "argument contains a NUL character",
        ),
        (
            launch(json!({"command": "a", "args": ["b".repeat(1001)]})),
            "INVALID_INPUT",
            "argument is longer than 1000 characters",
        ),
        (
            launch(json!({"command": "a", "env": {"A=": "b"}})),
            "INVALID_INPUT",
            "invalid environment variable name: \"A=\"",
        ),
        (("view_screen", json!({})), "INVALID_PARAMETER", "session_id parameter is required"),
        (
            ("view_screen", json!({"session_id": "7"})),
            "INVALID_PARAMETER",
            "session_id must be a valid UUID",
        ),
        (
            ("stop_app", json!({"session_id": id})),
            "SESSION_NOT_FOUND",
            "session not found: 550e8400-e29b-41d4-a716-446655440000",
        ),
        (
            ("view_screen", json!({"session_id": id, "format": "x"})),
            "INVALID_PARAMETER",
            "format must be one of: plain, raw, ansi, scrollback, passthrough",
        ),
        (
            ("resize_terminal", json!({"session_id": id, "width": 0, "height": 1})),
            "INVALID_PARAMETER",
            "width must be between 1 and 1000",
        ),
        (
            ("resize_terminal", json!({"session_id": id, "width": 1})),
            "INVALID_PARAMETER",
            "height parameter is required",
        ),
        (
            ("send_keys", json!({"session_id": id})),
            "INVALID_PARAMETER",
            "keys parameter is required",
        ),
        (
            ("send_keys", json!({"session_id": id, "keys": "x".repeat(10_001)})),
            "INVALID_INPUT",
            "keys is longer than 10000 characters",
        ),
    ] {
        let error = client.fail(tool, arguments);
        assert_eq!(error, json!({"message": message, "code": code}), "{tool}");
    }
    std::fs::write(fixture.home.path().join("plain"), "").unwrap();
    for (command, message) in [
        ("no-such-program-here", "command not found: no-such-program-here"),
        ("./no-such-program-here", "command not found: ./no-such-program-here"),
        ("./plain", "permission denied: ./plain"),
    ] {
        let error = client.fail("launch_app", json!({"command": command}));
        assert_eq!(error, json!({"message": message, "code": "INVALID_INPUT"}));
    }
}

#[test]
fn sessions_of_every_instance_are_driven_as_document_3_says() {
    let fixture = Fixture::new();
    fixture.integrate();
    // A second instance on the same home has a session.
    let other = fixture.beside();
    let mut far = other.login();
    let far_id =
        far.call("session.create", json!({"program": "cat", "cols": 80, "rows": 24}))["id"].clone();
    far.call("session.rename", json!({"id": far_id, "title": "far away"}));

    let mut client = Client::new(&fixture, "iterm");
    assert_eq!(client.names().len(), 11);
    let tab = client.call(
        "iterm_new_tab",
        json!({"name": "build server", "command": "echo from a $((40 + 2)) tab"}),
    );
    assert_eq!(
        (&tab["status"], &tab["name"]),
        (&json!("created"), &json!("build server")),
        "{tab}"
    );
    let tty = tab["tty"].as_str().unwrap().to_owned();
    assert!(tty.starts_with("/dev/"), "{tab}");
    let listed = client.call("iterm_list_sessions", json!({}));
    let listed = listed.as_array().unwrap();
    assert_eq!(listed.len(), 2, "{listed:?}");
    assert_eq!(
        listed[0],
        json!({
            "session_id": tab["session_id"],
            "name": "build server",
            "tty": tty,
            "window_id": std::process::id(),
            "tab_index": 0,
            "registered": false,
        })
    );
    let registered = client.call("iterm_register_session", json!({"tty_path": tty}));
    assert_eq!(
        registered,
        json!({"status": "registered", "tty": tty, "iterm_session_id": tab["session_id"], "session_name": "build server"})
    );
    let found = client.call("iterm_get_session_by_name", json!({"name": "Build"}));
    assert_eq!(
        (&found[0]["registered"], found.as_array().unwrap().len()),
        (&json!(true), 1),
        "{found}"
    );
    let wrong = client.fail("iterm_register_session", json!({"tty_path": "/dev/none"}));
    assert!(wrong.as_str().unwrap().contains("/dev/none"), "{wrong}");

    // Only new output is returned. The session is named by its id, its device and its title.
    let end = std::time::Instant::now() + PATIENCE;
    let mut seen = String::new();
    let mut is_first = true;
    while !seen.contains("\nfrom a 42 tab") {
        let watched = client.call("iterm_watch_session", json!({"identifier": tty}));
        assert_eq!(watched["is_first_read"], is_first, "{watched}");
        is_first = false;
        seen += "\n";
        seen += watched["new_output"].as_str().unwrap();
        assert!(std::time::Instant::now() < end, "{seen}");
    }
    let sent = client
        .call("iterm_send_command", json!({"identifier": "build srver", "command": "echo again"}));
    assert_eq!(
        sent,
        json!({"status": "sent", "session_id": tab["session_id"], "command": "echo again"})
    );
    let mut seen = String::new();
    while !seen.contains("\nagain") {
        let watched = client.call("iterm_watch_session", json!({"identifier": tab["session_id"]}));
        seen += "\n";
        seen += watched["new_output"].as_str().unwrap();
        assert!(std::time::Instant::now() < end, "{seen}");
    }
    assert!(!seen.contains("from a 42 tab"), "{seen}");
    let read = client.call("iterm_read_output", json!({"identifier": tty, "lines": 2}));
    assert_eq!(read["line_count"], 2, "{read}");

    // Sessions of the other instance can be used, too.
    let keys =
        client.call("iterm_send_keys", json!({"identifier": "far away", "keys": "ctrl+a enter"}));
    assert_eq!((&keys["status"], &keys["keys"]), (&json!("sent"), &json!("ctrl+a enter")));
    far.call("session.wait", json!({"id": far_id, "any": [{"text": "^A"}]}));
    let unknown =
        client.fail("iterm_send_keys", json!({"identifier": "far away", "keys": "up entr"}));
    assert!(
        unknown.as_str().unwrap().starts_with("Unknown key(s): ['entr']. Valid keys: ['up', "),
        "{unknown}"
    );
    let nobody = client.fail("iterm_send_command", json!({"identifier": "xyzzy", "command": "rm"}));
    assert_eq!(
        nobody,
        "No session found matching 'xyzzy'. Available sessions: ['build server', 'far away']"
    );

    let split = client.call(
        "iterm_split_pane",
        json!({"direction": "horizontal", "identifier": tty, "name": "below"}),
    );
    assert_eq!(
        (&split["status"], &split["direction"]),
        (&json!("created"), &json!("horizontal")),
        "{split}"
    );
    let wrong = client.fail("iterm_split_pane", json!({"direction": "up"}));
    assert!(wrong.as_str().unwrap().starts_with("Invalid direction 'up'"), "{wrong}");
    let renamed =
        client.call("iterm_set_session_name", json!({"identifier": "below", "new_name": "logs"}));
    assert_eq!(
        (&renamed["status"], &renamed["old_name"], &renamed["new_name"]),
        (&json!("renamed"), &json!("below"), &json!("logs"))
    );
    let focused = client.call("iterm_focus_session", json!({"identifier": "logs"}));
    assert_eq!(
        focused,
        json!({"status": "focused", "session_id": split["session_id"], "name": "logs"})
    );
    assert_eq!(
        client.call("iterm_focus_session", json!({"identifier": "xyzzy"}))["status"],
        "not_found"
    );

    // New sessions have the color of the toolset, and a new tab is selected.
    let front = client.call("iterm_new_tab", json!({}));
    let pane = |reply: &Value| {
        let id = reply["session_id"].as_str().unwrap();
        fixture.mux.pane(PaneId(id.rsplit_once('-').unwrap().1.parse().unwrap())).unwrap()
    };
    let layout = fixture.mux.layout();
    assert_eq!(layout.active_tab().unwrap().focused, pane(&front).id());
    for (opened, color) in
        [(&tab, (124, 58, 237)), (&split, (59, 130, 246)), (&front, (124, 58, 237))]
    {
        let pane = pane(opened);
        loop {
            let seen = pane.term().tab_color().map(|rgb| (rgb.r, rgb.g, rgb.b));
            if seen == Some(color) {
                break;
            }
            assert!(std::time::Instant::now() < end, "{opened}: {seen:?}");
            std::thread::yield_now();
        }
    }
}

#[test]
fn each_toolset_offers_the_jobs_that_its_tools_can_do() {
    let fixture = Fixture::new();
    for (toolset, jobs) in [("iterm", ["supervise_agent"]), ("tester", ["drive_tui"])] {
        let mut client = Client::new(&fixture, toolset);
        let listed = client.request("prompts/list", json!({}));
        let listed = listed["prompts"].as_array().unwrap();
        let names: Vec<&Value> = listed.iter().map(|prompt| &prompt["name"]).collect();
        assert_eq!(names, jobs);
        // Other toolsets have no such prompt, so the request fails.
        let missing = json!({"name": "run_tests", "arguments": {"command": "make"}});
        assert_eq!(client.request("prompts/get", missing), Value::Null);
    }
}

#[test]
fn output_of_programs_is_marked_in_the_results_meta() {
    const MARK: &str = "unterm/untrusted";
    let fixture = Fixture::new();
    let mut tester = Client::new(&fixture, "tester");
    let result = |client: &mut Client, name: &str, arguments: Value| {
        client.request("tools/call", json!({"name": name, "arguments": arguments}))
    };
    let mark = |result: &Value| result["_meta"][MARK].clone();
    let launched = tester.call("launch_app", json!({"command": "cat"}));
    for format in ["plain", "raw", "ansi", "scrollback", "passthrough"] {
        let asked = json!({"session_id": launched["session_id"], "format": format});
        let view = result(&mut tester, "view_screen", asked);
        assert_eq!(mark(&view), json!(["content"]), "{format}: {view}");
    }
    let size = result(&mut tester, "get_screen_size", launched);
    assert_eq!(size.get("_meta"), None, "{size}");
    let gone = result(&mut tester, "view_screen", json!({"session_id": ""}));
    assert_eq!((gone.get("_meta"), &gone["isError"]), (None, &json!(true)), "{gone}");

    let mut wire = fixture.login();
    let session = fixture.program(&mut wire, "cat", &[]);
    let mut iterm = Client::new(&fixture, "iterm");
    let listed = result(&mut iterm, "iterm_list_sessions", json!({}));
    assert_eq!(mark(&listed), json!(["name"]), "{listed}");
    let tty = iterm.call("iterm_list_sessions", json!({}))[0]["tty"].clone();
    for (tool, fields) in [
        ("iterm_read_output", json!(["name", "output"])),
        ("iterm_watch_session", json!(["name", "new_output"])),
    ] {
        let read = result(&mut iterm, tool, json!({"identifier": tty}));
        assert_eq!(mark(&read), fields, "{tool}: {read}");
    }
    let sent = json!({"identifier": tty, "command": "echo"});
    assert_eq!(result(&mut iterm, "iterm_send_command", sent).get("_meta"), None);
    // The error lists the existing names.
    let title = json!({"id": session.id, "title": "a name"});
    wire.call("session.rename", title);
    let wrong = json!({"identifier": "xyzzy", "command": "rm"});
    let wrong = result(&mut iterm, "iterm_send_command", wrong);
    assert_eq!(mark(&wrong), json!(["error"]), "{wrong}");
}
