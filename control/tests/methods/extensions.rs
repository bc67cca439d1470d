//! Tests of methods that are not in the reference, and of documented methods that wait or that work on several
//! sessions.

use std::sync::{Arc, Mutex};

use crate::support::{self, Fixture, Session, Wire, WithPreferences};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use unterm_control::Preferences;
use unterm_mux::PaneId;

#[test]
fn a_session_is_launched_with_a_command() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let launched = wire.call(
        "orchestrate.launch",
        json!({"program": "sh", "command": "echo from the $((20 + 3))", "cols": 60, "rows": 10}),
    );
    assert_eq!((&launched["cols"], &launched["rows"]), (&json!(60), &json!(10)));
    let id = launched["id"].as_u64().unwrap();
    assert_eq!(launched["session_id"], id.to_string());
    assert_eq!(
        wire.call(
            "orchestrate.wait",
            json!({"id": id, "pattern": "from the 23", "timeout_ms": 60_000})
        ),
        json!({"matched": true, "pattern": "from the 23"})
    );
    assert_eq!(
        wire.call("orchestrate.wait", json!({"id": id, "pattern": "never", "timeout_ms": 50})),
        json!({"matched": false, "timed_out": true, "pattern": "never"})
    );
    assert_eq!(wire.fail("orchestrate.wait", json!({"id": id})), "Missing 'pattern'");
    let plain = wire.call("orchestrate.launch", json!({"program": "cat"}));
    assert_ne!(plain["id"], launched["id"]);
}

#[test]
fn a_broadcast_to_a_wrong_session_fails_only_there() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let (one, two) = (fixture.shell(&mut wire), fixture.shell(&mut wire));
    let reply = wire.call(
        "orchestrate.broadcast",
        json!({"command": "echo all $((40 + 2))", "sessions": [one.id.to_string(), two.id, "9999", "x"]}),
    );
    assert_eq!(
        reply["results"],
        json!([
            {"session_id": one.id.to_string(), "sent": true},
            {"session_id": two.id.to_string(), "sent": true},
            {"session_id": "9999", "error": "Session 9999 not found"},
            {"session_id": "x", "error": "Invalid session_id: \"x\""},
        ])
    );
    one.wait_for_text("all 42");
    two.wait_for_text("all 42");
    assert_eq!(wire.fail("orchestrate.broadcast", json!({"command": "x"})), "Missing 'sessions'");
}

#[test]
fn a_wait_is_over_with_what_it_waits_for() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    let id = session.id;
    // The call types and waits. Earlier output does not count.
    wire.call("exec.run_wait", json!({"id": id, "command": "echo ready"}));
    let reply = wire.call(
        "session.wait",
        json!({"id": id, "input": "sleep 1; echo re''ady again\r", "all": [
            {"regex": "^ready ag.in$"}, {"command_done": true}, {"prompt": true},
        ]}),
    );
    assert_eq!((&reply["matched"], &reply["timed_out"]), (&json!(true), &json!(false)));
    assert_eq!(reply["conditions"][0]["text"], "ready again");
    assert_eq!(reply["conditions"][1]["exit_code"], 0);
    let seq = reply["seq"].as_u64().unwrap();
    let again = wire.call(
        "session.wait",
        json!({"id": id, "any": [{"text": "ready"}], "since_seq": seq, "timeout_ms": 50}),
    );
    assert_eq!((&again["matched"], &again["timed_out"]), (&json!(false), &json!(true)));
    let there = wire.call("session.wait", json!({"id": id, "any": [{"text": "ready"}]}));
    assert_eq!(there["matched"], true, "without a seq the screen counts");

    for (input, condition) in [
        ("printf '\\a'\r", json!({"bell": true})),
        ("printf '\\033]2;new title\\a'; sleep 1\r", json!({"title": "new title"})),
        ("\r", json!({"seq": seq + 1})),
        ("echo quiet\r", json!({"stable_ms": 200})),
    ] {
        let params = json!({"id": id, "input": input, "any": [condition], "timeout_ms": 60_000});
        let reply = wire.call("session.wait", params);
        assert_eq!(reply["matched"], true, "{input}: {reply}");
        assert_eq!(reply["conditions"][0]["index"], 0);
    }
    let gone =
        wire.call("session.wait", json!({"id": id, "input": "exit\r", "any": [{"exit": true}]}));
    assert_eq!((&gone["matched"], &gone["is_dead"]), (&json!(true), &json!(true)));
}

#[test]
fn a_text_that_a_flood_carries_away_is_still_seen() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.shell(&mut wire);
    let id = session.id;
    let reply = wire.call(
        "session.wait",
        json!({"id": id, "input": "seq 1 5000; echo need''le; seq 1 5000; exec cat\r",
               "any": [{"text": "needle"}], "timeout_ms": 60_000}),
    );
    assert_eq!(reply["matched"], true, "{reply}");
}

/// An expression that runs for seconds on a megabyte of text without a match.
const SLOW: &str = "(?:.{0,200}7){3}Q";

#[test]
fn expressions_that_take_long_hold_up_nobody() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let script =
        "seq 1 2000000 | tr '\\n' a | fold -w 499 | head -n 10000; echo; echo done; exec cat";
    let created = wire.call(
        "session.create",
        json!({"program": "sh", "args": ["-c", script], "cols": 500, "rows": 50}),
    );
    let id = created["id"].as_u64().unwrap();
    let shown = wire.call("session.wait", json!({"id": id, "any": [{"text": "done"}]}));
    assert_eq!(shown["matched"], true);
    // There are more calls than worker threads or blocking threads.
    let watch = json!({"id": 1, "method": "session.watch",
        "params": {"id": id, "any": [{"regex": SLOW}], "since_seq": 0}});
    let search = json!({"id": 2, "method": "screen.search",
        "params": {"id": id, "pattern": SLOW, "regex": true}});
    let find = json!({"id": 3, "method": "screen.find",
        "params": {"id": id, "pattern": SLOW, "regex": true}});
    let mut busy: Vec<Wire> = (0..10).map(|_| fixture.login()).collect();
    for (wire, request) in busy.iter_mut().zip([&watch, &search, &find].into_iter().cycle()) {
        wire.send(format!("{request}\n"));
    }
    for _ in 0..3 {
        wire.call("server.info", json!({}));
        // This call runs on a blocking thread.
        wire.call("session.read_tail", json!({"id": id}));
        wire.call("instance.list", json!({}));
    }
    for wire in &mut busy {
        wire.stream().set_nonblocking(true).unwrap();
        let mut byte = [0];
        let answered = std::io::Read::read(wire.stream(), &mut byte);
        let kind = answered.map_err(|error| error.kind());
        assert_eq!(kind, Err(std::io::ErrorKind::WouldBlock), "they are not over");
    }
    // A search whose client has disconnected stops, so that other searches can run.
    drop(busy);
    let found = wire.call("screen.search", json!({"id": id, "pattern": "^done$", "regex": true}));
    assert_eq!(found["total"], 1);
    assert!(found.get("complete").is_none(), "{found}");
}

#[test]
fn many_wait_at_once_and_all_are_told() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let sessions: Vec<_> = (0..8).map(|_| fixture.program(&mut wire, "cat", &[])).collect();
    let waiting: Vec<_> = sessions
        .iter()
        .map(|session| {
            let (mut wire, id) = (fixture.login(), session.id);
            std::thread::spawn(move || {
                wire.call(
                    "orchestrate.wait",
                    json!({"id": id, "pattern": "go", "timeout_ms": 60_000}),
                )
            })
        })
        .collect();
    for session in &sessions {
        wire.call("session.input", json!({"id": session.id, "input": "go\r"}));
    }
    for waiting in waiting {
        assert_eq!(waiting.join().unwrap()["matched"], true);
    }
}

#[test]
fn conditions_that_are_none_are_refused() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let id = fixture.program(&mut wire, "cat", &[]).id;
    for any in [
        json!([]),
        json!([{"nothing": 1}]),
        json!([{"text": "a", "bell": true}]),
        json!([{"exit": false}]),
        json!([{"regex": "("}]),
        json!("text"),
    ] {
        let message = wire.fail("session.wait", json!({"id": id, "any": any}));
        assert!(message.starts_with("Invalid 'any"), "{message}");
    }
    assert_eq!(wire.fail("session.wait", json!({"id": id})), "Missing 'any' or 'all'");
    let wrong = |condition: Value| json!({"id": id, "all": [condition]});
    let message = wire.fail("session.wait", wrong(json!({"exit": false})));
    assert!(message.starts_with("Invalid 'all[0].exit': expected true, since"), "{message}");
    assert!(message.ends_with("got false"), "{message}");
    let message = wire.fail("session.watch", wrong(json!({"regex": "a(b"})));
    assert!(message.contains("unclosed group"), "{message}");
}

#[test]
fn a_diff_contains_only_rows_changed_since_the_seq() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.program(&mut wire, "cat", &[]);
    let id = session.id;
    wire.call("session.input", json!({"id": id, "input": "first\r"}));
    session.wait_for_text("first\nfirst");
    let diff = wire.call("screen.diff", json!({"id": id}));
    assert_eq!(diff["complete"], true);
    let texts = |diff: &Value| -> Vec<String> {
        let changes = diff["changes"].as_array().unwrap();
        changes.iter().map(|row| row["text"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(texts(&diff)[..2], ["first", "first"]);
    let seq = diff["seq"].as_u64().unwrap();
    wire.call("session.input", json!({"id": id, "input": "second\r"}));
    session.wait_for_text("second\nsecond");
    let diff = wire.call("screen.diff", json!({"id": id, "since_seq": seq}));
    let changed = texts(&diff);
    assert!(changed.contains(&"second".to_owned()) && !changed.contains(&"first".to_owned()));
    assert_eq!(diff["changes"][0]["row"], 2);
    let nothing = wire.call("screen.diff", json!({"id": id, "since_seq": diff["seq"]}));
    assert_eq!(nothing["changes"], json!([]));
}

#[test]
fn cells_have_their_looks_links_and_roles() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    let script = "clear; printf '\\033[1;38;5;9;48;2;1;2;3mred\\033[m \\033]8;;http://a.b/\\033\\\\link\\033]8;;\\033\\\\ \\033[4:3mcurl\\033[m漢\\n'";
    wire.call("exec.run_wait", json!({"id": session.id, "command": script}));
    wire.call("session.wait", json!({"id": session.id, "any": [{"prompt": true}]}));
    let cells = wire.call("screen.cells", json!({"id": session.id}));
    let runs = cells["lines"][0]["runs"].as_array().unwrap();
    assert_eq!(
        runs[0],
        json!({"col": 0, "cols": 3, "text": "red", "foreground": "idx:9", "background": "rgb:1:2:3",
               "attributes": ["bold"]})
    );
    assert_eq!((&runs[1]["text"], &runs[1]["link"]), (&json!("link"), &json!("http://a.b/")));
    assert_eq!((&runs[2]["text"], &runs[2]["underline"]), (&json!("curl"), &json!("curly")));
    assert_eq!((&runs[3]["text"], &runs[3]["cols"]), (&json!("漢"), &json!(2)));
    let prompt = &cells["lines"][1]["runs"][0];
    assert_eq!(prompt["role"], "prompt", "{cells}");
    assert_eq!((&cells["images"], &cells["alternate_screen"]), (&json!([]), &json!(false)));
}

#[test]
fn cells_describe_larger_characters_and_a_reversed_screen() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let script = "printf '\\033[?5h\\033#3top\\n\\033#4bottom\\n\\033#6wide\\nready'; exec cat";
    let session = fixture.program(&mut wire, "sh", &["-c", script]);
    session.wait_for_text("ready");
    let cells = wire.call("screen.cells", json!({"id": session.id}));
    let sizes = [0_usize, 1, 2, 3].map(|row| cells["lines"][row]["size"].as_str());
    assert_eq!(sizes, [Some("double_top"), Some("double_bottom"), Some("double_width"), None]);
    assert_eq!(cells["reverse_screen"], true, "{cells}");
}

#[test]
fn commands_are_kept_as_blocks() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    let id = session.id;
    for command in ["echo one; echo two", "sh -c 'exit 7'"] {
        wire.call("exec.run_wait", json!({"id": id, "command": command}));
    }
    wire.call("session.wait", json!({"id": id, "any": [{"prompt": true}]}));
    let list = wire.call("block.list", json!({"id": id}));
    let blocks = list["blocks"].as_array().unwrap();
    assert_eq!(blocks.len(), 3, "{list}");
    let (echo, exit, prompt) = (&blocks[0], &blocks[1], &blocks[2]);
    assert_eq!((&echo["state"], &echo["exit_code"]), (&json!("done"), &json!(0)));
    assert_eq!((&exit["exit_code"], &exit["authentic"]), (&json!(7), &json!(true)));
    assert!(exit["start"].as_u64().unwrap() <= exit["end"].as_u64().unwrap());
    for block in [echo, exit] {
        // Times in RFC 3339 can be compared as text.
        let (began, ended) = (&block["started_at"], &block["ended_at"]);
        assert!(began.as_str().unwrap().ends_with('Z'), "{block}");
        assert!(began.as_str() <= ended.as_str(), "{block}");
        assert!(block["duration_ms"].is_u64(), "{block}");
    }
    assert!(prompt["started_at"].is_null() && prompt["ended_at"].is_null(), "{prompt}");
    assert!(echo["cwd"].as_str().unwrap().contains("://"));
    assert_eq!(prompt["state"], "prompt");
    let got = wire.call("block.get", json!({"id": id, "block": echo["block"]}));
    assert_eq!((&got["output"], &got["truncated"]), (&json!("one\ntwo"), &json!(false)));
    let cut = wire.call("block.get", json!({"id": id, "block": echo["block"], "max_lines": 1}));
    assert_eq!((&cut["output"], &cut["truncated"]), (&json!("two"), &json!(true)));
    assert_eq!(wire.call("block.get", json!({"id": id}))["exit_code"], 7, "the last that ended");
    let since = wire.call("block.list", json!({"id": id, "since_seq": list["seq"]}));
    assert_eq!(since["blocks"], json!([]));
    let last = wire.call("block.list", json!({"id": id, "limit": 1}));
    assert_eq!(last["blocks"], json!([prompt]));
    assert_eq!(
        wire.fail("block.get", json!({"id": id, "block": 99})),
        format!("Block 99 of session {id} not found")
    );
}

#[test]
fn keypad_keys_are_digits_or_application_mode_sequences() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    for (mode, sent) in [(">", "ready7-^M"), ("=", "ready^[Ow^[Om^[OM")] {
        let script = format!("stty raw -echo; printf '\\033{mode}ready'; exec cat -v");
        let session = fixture.program(&mut wire, "sh", &["-c", &script]);
        session.wait_for_text("ready");
        let keys = json!({"id": session.id, "keys": ["kp_7", "kp_subtract", "KP_Enter"]});
        wire.call("session.keys", keys);
        session.wait_for_text(sent);
    }
}

#[test]
fn keys_pastes_and_mouse_are_encoded_as_requested() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    // The program prints its input unchanged.
    let script = "stty raw -echo; printf '\\033[?2004h\\033[?1000h\\033[?1006hready'; exec cat -v";
    let session = fixture.program(&mut wire, "sh", &["-c", script]);
    let id = session.id;
    session.wait_for_text("ready");
    wire.call("session.resize", json!({"id": id, "cols": 250, "rows": 24}));
    let keys = json!({"id": id, "keys": ["up", "ctrl+c", "alt+x", "f5", "A", "enter"]});
    assert_eq!(wire.call("session.keys", keys), json!({"status": "ok", "count": 6}));
    session.wait_for_text("ready^[[A^C^[x^[[15~A^M");
    wire.call("session.paste", json!({"id": id, "text": "two\nlines\u{1b}[201~"}));
    session.wait_for_text("^[[200~two");
    session.wait_for(|screen| screen.matches("^[[201~").count() == 1);
    let click = json!({"id": id, "action": "click", "col": 4, "row": 2});
    assert_eq!(wire.call("session.mouse", click), json!({"sent": true}));
    session.wait_for_text("^[[<0;5;3M^[[<0;5;3m");
    let scroll = json!({"id": id, "action": "scroll", "col": 0, "row": 0, "lines": -2});
    wire.call("session.mouse", scroll);
    session.wait_for_text("^[[<64;1;1M^[[<64;1;1M");
    let moved = json!({"id": id, "action": "move", "col": 0, "row": 0});
    assert_eq!(wire.call("session.mouse", moved), json!({"sent": false}), "nobody asked for it");

    // All input is written in one write, in this order.
    let together = json!({
        "id": id,
        "text": "t\r",
        "paste": "p",
        "keys": ["up"],
        "mouse": {"action": "click", "col": 0, "row": 1},
    });
    let typed = wire.call("session.type", together);
    assert_eq!(typed["sent"], true);
    session.wait_for_text("t^M^[[200~p^[[201~^[[A^[[<0;1;2M^[[<0;1;2m");
    let since = json!({"id": id, "any": [{"text": "t^M^[[200~p"}], "since_seq": typed["seq"]});
    assert_eq!(wire.call("session.watch", since)["matched"], true);
    let moved = json!({"id": id, "mouse": {"action": "move", "col": 0, "row": 0}});
    assert_eq!(wire.call("session.type", moved)["sent"], false, "nobody asked for it");
    let found = wire.call(
        "screen.find",
        json!({"id": id, "pattern": "T\\^m", "regex": true, "ignore_case": true}),
    );
    let line = session.pane.term().live_top();
    let mut row = String::new();
    session.pane.term().row_text(line, &mut row);
    let place = &found["places"][0];
    assert_eq!((&place["row"], &place["text"]), (&json!(0), &json!(row)));
    let col = place["col"].as_u64().unwrap() as usize;
    assert_eq!(&row[col..=place["end_col"].as_u64().unwrap() as usize], "t^M");
    let twice = wire.call(
        "screen.search",
        json!({"id": id, "pattern": "READY.*t\\^M", "regex": true, "ignore_case": true}),
    );
    assert_eq!(twice["total"], 1, "{twice}");
    let wrong = wire.fail("screen.find", json!({"id": id, "pattern": "(", "regex": true}));
    assert!(wrong.starts_with("Invalid 'pattern': expected a regular expression"), "{wrong}");

    let message = wire.fail("session.keys", json!({"id": id, "keys": ["enter", "entr", "kp_10"]}));
    assert!(message.starts_with("Unknown key(s): [\"entr\", \"kp_10\"]"), "{message}");
    assert!(message.contains("f1 to f35"), "{message}");
    let outside = json!({"id": id, "action": "click", "col": 250, "row": 2});
    assert_eq!(
        wire.fail("session.mouse", outside),
        "Invalid 'col': expected a whole number from 0 to 249, got 250"
    );
}

#[test]
fn sessions_are_split_moved_and_named_and_tabs_too() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let first = wire.call("tab.create", json!({"program": "cat", "cols": 81, "rows": 24}));
    let id = first["id"].clone();
    wire.call("session.focus", json!({"id": id}));
    let split = wire.call("session.split", json!({"id": id, "program": "cat"}));
    assert_eq!(split["tab_id"], first["tab_id"]);
    let above = wire.call("session.split", json!({"id": id, "direction": "up", "program": "cat"}));
    let tabs = wire.call("tab.list", json!({}));
    let tab = &tabs["tabs"][0];
    assert_eq!(tab["sessions"], json!([above["id"], id, split["id"]]));
    assert_eq!(
        (&tab["layout"]["split"], &tab["layout"]["first"]["split"]),
        (&json!("right"), &json!("down"))
    );
    assert_eq!(tab["focused"], id, "the user keeps the focus");
    wire.call("session.move", json!({"id": above["id"], "swap_with": split["id"]}));
    let tab = &wire.call("tab.list", json!({}))["tabs"][0];
    assert_eq!(tab["sessions"], json!([split["id"], id, above["id"]]));

    wire.call("session.move", json!({"id": split["id"], "new_tab": true}));
    let tabs = wire.call("tab.list", json!({}));
    assert_eq!(tabs["tabs"].as_array().unwrap().len(), 2);
    let second = tabs["tabs"][1]["tab_id"].clone();
    assert_eq!(tabs["tabs"][1]["sessions"], json!([split["id"]]));
    wire.call("session.move", json!({"id": above["id"], "tab_id": second}));
    wire.call("tab.move", json!({"tab_id": second, "index": 0}));
    wire.call("tab.rename", json!({"tab_id": second, "title": "the \u{1b}second"}));
    wire.call("tab.focus", json!({"tab_id": second}));
    let tab = &wire.call("tab.list", json!({}))["tabs"][0];
    assert_eq!((&tab["title"], &tab["active"]), (&json!("the second"), &json!(true)));
    assert_eq!(tab["sessions"].as_array().unwrap().len(), 2);

    let renamed = wire.call("session.rename", json!({"id": id, "title": "mine"}));
    assert_eq!(renamed, json!({"status": "ok", "title": "mine"}));
    assert_eq!(wire.call("session.get", json!({"id": id}))["title"], "mine");
    let own = wire.call("session.rename", json!({"id": id, "title": ""}));
    assert_eq!(own["title"], "cat");

    wire.call("tab.close", json!({"tab_id": second}));
    assert_eq!(wire.call("session.list", json!({}))["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(
        wire.fail("tab.close", json!({"tab_id": second})),
        format!("tab {second} not found")
    );
    assert!(wire.fail("session.move", json!({"id": id})).starts_with("Give one of"));
    assert_eq!(wire.call("window.list", json!({})), json!({"windows": []}));
    assert!(wire.fail("window.focus", json!({})).starts_with("There is no window"));
}

#[test]
fn a_session_without_room_for_two_is_not_split() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let narrow = wire.call("tab.create", json!({"program": "cat", "cols": 8, "rows": 24}));
    let id = narrow["id"].clone();
    let refusal = format!(
        "Session {id} is too small to split: each part needs 4 columns; make it wider, or close another"
    );
    for direction in ["left", "right"] {
        let split = json!({"id": id, "program": "cat", "direction": direction});
        assert_eq!(wire.fail("session.split", split), refusal);
    }
    let wide = wire.call("tab.create", json!({"program": "cat"}));
    let moved = json!({"id": wide["id"], "tab_id": narrow["tab_id"]});
    assert_eq!(wire.fail("session.move", moved), refusal);
    let below = json!({"id": id, "program": "cat", "direction": "down"});
    assert_eq!(wire.call("session.split", below)["tab_id"], narrow["tab_id"]);
    assert_eq!(fixture.mux.panes().len(), 3);
}

#[test]
fn a_leftover_title_is_not_reported_again() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let id = fixture.marked_shell(&mut wire).id;
    let wait = |wire: &mut Wire, condition: Value| {
        let reply = wire.call("session.wait", json!({"id": id, "any": [condition]}));
        assert_eq!(reply["matched"], true, "{reply}");
    };
    let titles = |wire: &mut Wire| {
        let [list, got, tabs] = ["session.list", "session.get", "tab.list"]
            .map(|method| wire.call(method, json!({"id": id})));
        [&list["sessions"][0], &got, &tabs["tabs"][0]].map(|of| of["title"].clone())
    };
    let program = "sh -c 'printf \"\\033]2;left behind\\007\"; exec cat'\r";
    wire.call("session.input", json!({"id": id, "input": program}));
    wait(&mut wire, json!({"title": "left behind"}));
    assert_eq!(titles(&mut wire), ["left behind"; 3]);
    wire.call("session.keys", json!({"id": id, "keys": ["ctrl+c"]}));
    wait(&mut wire, json!({"prompt": true}));
    assert_eq!(titles(&mut wire), ["bash"; 3]);
}

/// Makes a call, and returns its reply. Skips events that come before the reply.
fn ask(wire: &mut Wire, method: &str) -> Value {
    wire.send(format!("{}\n", json!({"id": "asked", "method": method})));
    loop {
        let line: Value = serde_json::from_str(&wire.receive().unwrap()).unwrap();
        if line["id"] == "asked" {
            return line;
        }
        assert_eq!(line["method"], "event");
    }
}

#[test]
fn a_connection_receives_events_in_order() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    let id = session.id.to_string();
    let mut listener = fixture.login();
    let reply = listener.call("events.subscribe", json!({"id": session.id}));
    assert_eq!(reply["subscribed"], true);
    let mut seq = reply["seq"].as_u64().unwrap();
    // The connection still answers calls.
    let reply = ask(&mut listener, "server.info");
    assert_eq!(reply["result"]["engine"], "Unterm");
    wire.call("exec.run", json!({"id": session.id, "command": "printf '\\a'; sh -c 'exit 3'"}));
    let mut heard: Vec<Value> = Vec::new();
    // The event of the first prompt may arrive late.
    let is_over = |heard: &[Value]| {
        let end = heard.iter().position(|event| event["event"] == "command_end");
        end.is_some_and(|end| heard[end..].iter().any(|event| event["event"] == "prompt"))
    };
    while !is_over(&heard) {
        let line: Value = serde_json::from_str(&listener.receive().unwrap()).unwrap();
        assert_eq!((&line["method"], line.get("id")), (&json!("event"), None));
        let event = line["params"].clone();
        assert_eq!(event["session_id"], id);
        assert!(event["seq"].as_u64().unwrap() > seq, "{event}");
        seq = event["seq"].as_u64().unwrap();
        heard.push(event);
    }
    let end = heard.iter().find(|event| event["event"] == "command_end").unwrap();
    assert_eq!((&end["exit_code"], &end["authentic"]), (&json!(3), &json!(true)));
    let place = |kind: &str| heard.iter().position(|event| event["event"] == kind);
    assert!(place("command_start") < place("bell") && place("bell") < place("command_end"));

    let mut output = fixture.login();
    output.call("events.subscribe", json!({"events": ["output", "session_exited"]}));
    wire.call("exec.run", json!({"id": session.id, "command": "exit 4"}));
    loop {
        let line: Value = serde_json::from_str(&output.receive().unwrap()).unwrap();
        match line["params"]["event"].as_str().unwrap() {
            "session_exited" => {
                assert_eq!(line["params"]["exit_code"], 4);
                break;
            }
            kind => assert_eq!(kind, "output"),
        }
    }
    let reply = ask(&mut output, "events.unsubscribe");
    assert_eq!(reply["result"], json!({"subscribed": false}));
    let message = wire.fail("events.subscribe", json!({"events": ["bel"]}));
    assert!(message.starts_with("Invalid 'events'"), "{message}");
}

#[test]
fn an_end_that_a_program_reports_is_not_the_shells_word() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let id = fixture.marked_shell(&mut wire).id;
    let mut listener = fixture.login();
    listener.call("events.subscribe", json!({"id": id, "events": ["command_end"]}));
    let seq = wire.call("screen.cells", json!({"id": id}))["seq"].take();
    let marks = r"\033]133;A\007\033]133;B\007\033]133;C\007\033]133;D;0\007";
    let command = format!("printf '{marks}'; read x; false");
    wire.call("exec.run", json!({"id": id, "command": command}));
    let done = json!([{"command_done": true}]);
    let forged = wire.call("session.wait", json!({"id": id, "any": done, "since_seq": seq}));
    let ended = wire.call("session.wait", json!({"id": id, "any": done, "input": "\r"}));
    for (reply, code, is_authentic) in [(forged, 0, false), (ended, 1, true)] {
        let told: Value = serde_json::from_str(&listener.receive().unwrap()).unwrap();
        for end in [&reply["conditions"][0], &told["params"]] {
            let expected = (&json!(code), &json!(is_authentic));
            assert_eq!((&end["exit_code"], &end["authentic"]), expected, "{end}");
        }
    }
}

#[test]
fn variables_that_a_program_sets_are_events_and_kept() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    assert_eq!(wire.call("session.get", json!({"id": session.id})).get("user_vars"), None);
    let mut listener = fixture.login();
    listener.call("events.subscribe", json!({"id": session.id, "events": ["user_var"]}));
    let set = "printf '\\033]1337;SetUserVar=branch=%s\\007' \"$(printf 'main' | base64)\"";
    wire.call("exec.run", json!({"id": session.id, "command": set}));
    let line: Value = serde_json::from_str(&listener.receive().unwrap()).unwrap();
    assert_eq!(line["params"]["name"], "branch");
    assert_eq!(line["params"]["value"], "main");
    let reply = wire.call("session.get", json!({"id": session.id}));
    assert_eq!(reply["user_vars"], json!({"branch": "main"}));
}

#[test]
fn states_that_programs_report_are_events_and_kept() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    let mut listener = fixture.login();
    let events = json!({"id": session.id, "events": ["progress", "status"]});
    listener.call("events.subscribe", events);
    let mut heard = || -> Value {
        let line: Value = serde_json::from_str(&listener.receive().unwrap()).unwrap();
        line["params"].clone()
    };
    let say = "printf '\\033]9;4;1;50\\007\\033]7501;state=blocked:kind=permission:app=builder\\033\\\\'; read -r _";
    wire.call("session.input", json!({"id": session.id, "input": format!("{say}\r")}));
    let progress = json!({"state": "running", "percent": 50});
    let programs = json!([{"id": "", "state": "blocked", "kind": "permission", "app": "builder"}]);
    assert_eq!(heard()["progress"], progress);
    assert_eq!(heard()["programs"], programs);
    let reply = wire.call("session.get", json!({"id": session.id}));
    assert_eq!((&reply["progress"], &reply["programs"]), (&progress, &programs));
}

/// Preferences that contain a JSON value.
struct Values(Mutex<Value>);

impl Preferences for Values {
    fn get(&self) -> Result<Value, String> {
        Ok(self.0.lock().unwrap().clone())
    }

    fn set(&self, key: &str, value: &Value) -> Result<(), String> {
        if key != "font.size" {
            return Err(format!("{key} can't be set"));
        }
        self.0.lock().unwrap()["font"]["size"] = value.clone();
        Ok(())
    }
}

#[test]
fn preferences_are_read_and_changed() {
    let values = json!({"theme": "nord", "font": {"size": 12.0}});
    let host = Arc::new(WithPreferences(Arc::new(Values(Mutex::new(values.clone())))));
    let fixture = Fixture::hosted(host, Vec::new());
    let mut wire = fixture.login();
    assert_eq!(wire.call("config.get", json!({})), json!({"value": values}));
    assert_eq!(
        wire.call("config.get", json!({"key": "font.size"})),
        json!({"key": "font.size", "value": 12.0})
    );
    assert_eq!(
        wire.call("config.set", json!({"key": "font.size", "value": 14})),
        json!({"set": true, "key": "font.size", "value": 14})
    );
    assert_eq!(wire.fail("config.get", json!({"key": "font.x"})), "Unknown key: font.x");
    assert_eq!(wire.fail("config.set", json!({"key": "x", "value": 1})), "x can't be set");
    assert_eq!(wire.fail("config.set", json!({"key": "font.size"})), "Missing 'value'");
    let other = Fixture::new();
    let mut without = other.login();
    assert!(without.fail("config.get", json!({})).contains("no preferences"));
}

#[test]
fn events_come_while_a_call_of_the_same_connection_waits() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.program(&mut wire, "cat", &[]);
    wire.call("events.subscribe", json!({"events": ["bell"]}));
    let wait = json!({"jsonrpc": "2.0", "id": 77, "method": "session.wait",
        "params": {"id": session.id, "any": [{"text": "the end"}], "timeout_ms": 60_000}});
    wire.send(format!("{wait}\n"));
    // Each event during the call lets the loop continue, and the last one ends the call.
    for n in 0..3 {
        session.pane.write(b"\x07\r").unwrap();
        let event: Value = serde_json::from_str(&wire.receive().unwrap()).unwrap();
        assert_eq!(event["params"]["event"], "bell", "{n}: {event}");
    }
    session.pane.write(b"the end\r").unwrap();
    loop {
        let line: Value = serde_json::from_str(&wire.receive().unwrap()).unwrap();
        if line["id"] == 77 {
            assert_eq!(line["result"]["matched"], true);
            break;
        }
    }
}

#[test]
fn a_hidden_session_is_found_only_by_its_number() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let script = "printf '\\033[1mbold'; exec cat";
    let hidden = wire.call(
        "session.create",
        json!({"program": "sh", "args": ["-c", script], "hidden": true, "cols": 80, "rows": 24}),
    );
    let id = &hidden["id"];
    assert_eq!(wire.call("session.list", json!({}))["sessions"], json!([]));
    let there = json!({"id": id, "any": [{"text": "bold"}]});
    assert_eq!(wire.call("session.wait", there)["matched"], true);
    // Another task stores the bytes, so they may appear later.
    let end = std::time::Instant::now() + support::PATIENCE;
    while wire.call("screen.bytes", json!({"id": id}))["base64"] != "G1sxbWJvbGQ=" {
        assert!(std::time::Instant::now() < end, "they never came");
        std::thread::yield_now();
    }
    wire.call("session.destroy", json!({"id": id}));
    assert_eq!(wire.fail("screen.bytes", json!({"id": id})), format!("Session {id} not found"));
}

#[test]
fn a_streamed_sessions_output_continues_after_the_last_read() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let script = "printf one; read -r x; printf two; exit 3";
    let params = json!({"program": "sh", "args": ["-c", script], "streamed": true});
    let id = wire.call("session.create", params)["id"].take();
    let mut from = 0;
    let mut read_until = |wire: &mut support::Wire, end: &str| {
        let mut text = String::new();
        loop {
            let params = json!({"id": id, "from": from, "wait_ms": 60_000});
            let reply = wire.call("screen.bytes", params);
            assert_eq!((&reply["from"], &reply["lost"]), (&json!(from), &json!(0)));
            let bytes = STANDARD.decode(reply["base64"].as_str().unwrap()).unwrap();
            from += bytes.len() as u64;
            text.push_str(str::from_utf8(&bytes).unwrap());
            if text.ends_with(end) || reply["ended"] == true {
                return (text, reply["ended"] == true);
            }
        }
    };
    assert_eq!(read_until(&mut wire, "one"), ("one".to_owned(), false));
    wire.call("session.input", json!({"id": id, "input": "\r"}));
    assert_eq!(read_until(&mut wire, "never"), ("\r\ntwo".to_owned(), true));
    let plain = wire.call("session.create", json!({"program": "cat"}))["id"].take();
    let error = wire.fail("screen.bytes", json!({"id": plain}));
    assert!(error.ends_with("is neither hidden nor streamed: nothing is kept"), "{error}");
    let error = wire.fail("screen.bytes", json!({"id": id, "wait_ms": 3_600_001}));
    assert!(error.contains("'wait_ms': expected a whole number from 0 to 3600000"), "{error}");
}

#[test]
fn wait_for_output_ends_on_screen_change_and_on_destruction() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let params = json!({"program": "cat", "streamed": true, "cols": 80, "rows": 24});
    let id = wire.call("session.create", params)["id"].take();
    let seq = wire.call("screen.bytes", json!({"id": id}))["seq"].take();
    let mut other = fixture.login();
    let waiting = json!({"id": id, "wait_ms": 60_000, "since_seq": seq});
    other.send(format!("{}\n", json!({"id": 1, "method": "screen.bytes", "params": waiting})));
    wire.call("session.resize", json!({"id": id, "cols": 90, "rows": 24, "pixel_width": 945}));
    let reply: Value = serde_json::from_str(&other.receive().unwrap()).unwrap();
    assert!(reply["result"]["seq"].as_u64() > seq.as_u64(), "{reply}");
    let pane = fixture.mux.pane(unterm_mux::PaneId(id.as_u64().unwrap())).unwrap();
    assert_eq!(pane.term().size().cell_width, 10, "a whole number of pixels");
    let waiting = json!({"id": id, "wait_ms": 60_000});
    other.send(format!("{}\n", json!({"id": 2, "method": "screen.bytes", "params": waiting})));
    wire.call("session.destroy", json!({"id": id}));
    let reply: Value = serde_json::from_str(&other.receive().unwrap()).unwrap();
    let ended = reply["result"]["ended"] == true;
    assert!(ended || reply["error"]["message"] == format!("Session {id} not found"), "{reply}");
}

#[test]
fn a_killed_session_stays_readable() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let script = "printf there; exec cat";
    let params = json!({"program": "sh", "args": ["-c", script]});
    let id = wire.call("session.create", params)["id"].take();
    wire.call("session.wait", json!({"id": id, "any": [{"text": "there"}]}));
    assert_eq!(wire.call("session.kill", json!({"id": id})), json!({"killed": true}));
    wire.call("session.wait", json!({"id": id, "any": [{"exit": true}]}));
    assert_eq!(wire.call("screen.text", json!({"id": id}))["lines"][0], "there");
    assert_eq!(wire.call("session.kill", json!({"id": id})), json!({"killed": false}));
}

#[test]
fn each_cell_comes_as_a_run_with_its_columns() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let script =
        "printf '\\033]2;t\\007\\033[?1h\\033=a漢e\\314\\201 \\033[41m \\033[m end'; exec cat";
    let params = json!({"program": "sh", "args": ["-c", script], "cols": 20, "rows": 3});
    let id = wire.call("session.create", params)["id"].take();
    wire.call("session.wait", json!({"id": id, "any": [{"text": "end"}]}));
    let reply = wire.call("screen.cells", json!({"id": id, "each_cell": true}));
    let runs = reply["lines"][0]["runs"].as_array().unwrap();
    let runs: Vec<_> = runs
        .iter()
        .map(|run| format!("{}+{} {}", run["col"], run["cols"], run["text"].as_str().unwrap()))
        .collect();
    let expected =
        ["0+1 a", "1+2 漢", "3+1 e\u{301}", "4+1  ", "5+1  ", "6+1  ", "7+1 e", "8+1 n", "9+1 d"];
    assert_eq!(runs, expected);
    let told = ["title", "application_cursor", "application_keypad"].map(|key| reply[key].clone());
    assert_eq!(told, [json!("t"), json!(true), json!(true)]);
}

#[test]
fn the_bytes_of_a_hidden_shell_do_not_contain_its_nonce() {
    let fixture = Fixture::new();
    fixture.integrate();
    let mut wire = fixture.login();
    let hidden = wire.call("session.create", json!({"shell": "bash", "hidden": true}));
    let id = hidden["id"].as_u64().unwrap();
    wire.call("session.wait", json!({"id": id, "any": [{"prompt": true}]}));
    let nonce = fixture.mux.pane(unterm_mux::PaneId(id)).unwrap().nonce().unwrap().to_string();
    let bytes = support::until("the prompt's marks", || {
        let kept = wire.call("screen.bytes", json!({"id": id}))["base64"].take();
        let bytes = STANDARD.decode(kept.as_str().unwrap()).unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        text.contains("133;B").then_some(text)
    });
    let stars = format!("nonce={}", "*".repeat(nonce.len()));
    assert!(bytes.contains(&stars) && !bytes.contains(&nonce), "{bytes:?}");
}

#[test]
fn names_from_elsewhere_are_known() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let script = "i=0; while [ $i -lt 30 ]; do echo row $i; i=$((i+1)); done; exec cat";
    let session = fixture.program(&mut wire, "sh", &["-c", script]);
    let id = session.id;
    session.wait_for_text("row 29");
    assert_eq!(
        wire.call("session.send_text", json!({"id": id, "text": "sent\r"})),
        json!({"status": "ok"})
    );
    session.wait_for_text("sent\nsent");
    let tail = wire.call("session.read_tail", json!({"session_id": id.to_string(), "lines": 3}));
    assert_eq!(tail["lines"], json!(["row 29", "sent", "sent"]));
    assert_eq!((&tail["count"], tail["seq"].is_u64()), (&json!(3), true));
    // The session has more lines than the screen has rows.
    let tail = wire.call("session.read_tail", json!({"id": id}));
    assert_eq!((&tail["lines"][0], &tail["count"]), (&json!("row 0"), &json!(32)));
    assert_eq!(wire.fail("session.send_text", json!({"id": id})), "Missing 'text'");

    // A terminal that receives these bytes shows the same text.
    let raw = wire.call("screen.read_raw", json!({"id": id}));
    let file = fixture.home.path().join("raw");
    let bytes = STANDARD.decode(raw["base64"].as_str().unwrap()).unwrap();
    std::fs::write(&file, bytes).unwrap();
    let shown =
        fixture.program(&mut wire, "sh", &["-c", "stty raw -echo; cat raw; exec sleep 1000"]);
    shown.wait_for_text("sent\nsent");
    let again = wire.call("session.read_tail", json!({"id": shown.id}));
    assert_eq!(again["lines"], tail["lines"]);

    let named = json!({"shell": "sh", "args": ["-i"], "name": "mine\u{7}"});
    let created = wire.call("session.create", named);
    assert_eq!(created["title"], "mine");
    let pane = fixture.mux.pane(PaneId(created["id"].as_u64().unwrap())).unwrap();
    let shell = Session { id: pane.id().0, pane };
    wire.call("session.input", json!({"id": shell.id, "input": "exit\r"}));
    shell.wait_for_end();
    let split = json!({"id": id, "shell": "sh", "name": "beside"});
    assert_eq!(wire.call("session.split", split)["title"], "beside");
    let both = json!({"program": "cat", "shell": "sh"});
    assert_eq!(wire.fail("session.create", both), "Give 'program' or 'shell', not both");
}
