//! Tests of the toolset `iterm` other than names and replies: which output counts as new, which output is lost, and
//! which data must remain hidden.

use crate::support::{self, Fixture, Session, Wire, toolset::Client};
use serde_json::{Value, json};
use unterm_control::Approval;

/// A shell without echo and prompt, so that its screen shows only what the sent lines print.
fn silent_shell(fixture: &Fixture, wire: &mut Wire) -> Session {
    let script = "stty -echo; echo ready; while read -r line; do eval \"$line\"; done";
    let session = fixture.program(wire, "sh", &["-c", script]);
    session.wait_for_text("ready");
    session
}

/// Sends a line, and waits for the text that the line prints last.
fn print(wire: &mut Wire, session: &Session, line: &str, last: &str) {
    wire.call("session.input", json!({"id": session.id, "input": format!("{line}\n")}));
    session.wait_for_text(last);
}

/// The id of a client's only session.
fn only(client: &mut Client) -> Value {
    let listed = client.call("iterm_list_sessions", json!({}));
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
    json!({"identifier": listed[0]["session_id"]})
}

#[test]
fn text_printed_again_is_new_in_any_row() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = silent_shell(&fixture, &mut wire);
    let mut client = Client::new(&fixture, "iterm");
    let on = only(&mut client);
    let mut watch = || {
        let seen = client.call("iterm_watch_session", on.clone());
        let output = seen["new_output"].as_str().unwrap().to_owned();
        (output, seen["new_line_count"].as_u64().unwrap(), seen["is_first_read"] == true)
    };
    assert_eq!(watch(), ("ready".to_owned(), 1, true));
    assert_eq!(watch(), (String::new(), 0, false));
    // The same text is printed again in the same place.
    for round in 1..=2 {
        let line = format!("printf '\\033[H\\033[2JBUILD FAILED\\nround {round}'");
        print(&mut wire, &session, &line, &format!("round {round}"));
        assert_eq!(watch(), (format!("BUILD FAILED\nround {round}"), 2, false));
    }
    // The change is above the last text that was read.
    let line = "printf '\\033[H\\033[2KBUILD PASSED\\033[3;1Hround 3'";
    print(&mut wire, &session, line, "round 3");
    assert_eq!(watch(), ("BUILD PASSED\nround 3".to_owned(), 2, false));
    assert_eq!(watch(), (String::new(), 0, false));
    // The last row is drawn again with the same text, like a prompt. The cursor shows when it has been drawn.
    let line = "printf '\\033[3;1H\\033[Kround 3\\033[4;1H'";
    wire.call("session.input", json!({"id": session.id, "input": format!("{line}\n")}));
    let drawn = session.wait(|pane| (pane.term().cursor().row == 3).then_some(()));
    assert!(drawn.is_some(), "it was never drawn again");
    assert_eq!(watch(), (String::new(), 0, false));
}

#[test]
fn a_resize_repeats_nothing() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = silent_shell(&fixture, &mut wire);
    let mut client = Client::new(&fixture, "iterm");
    let on = only(&mut client);
    print(&mut wire, &session, "seq 30; echo a line that is wrapped in few columns", "columns");
    client.call("iterm_watch_session", on.clone());
    for (cols, rows) in [(20, 24), (20, 10), (100, 40)] {
        wire.call("session.resize", json!({"id": session.id, "cols": cols, "rows": rows}));
        let seen = client.call("iterm_watch_session", on.clone());
        assert_eq!((&seen["new_output"], &seen["new_line_count"]), (&json!(""), &json!(0)));
        let text = format!("printed at {cols} by {rows}");
        print(&mut wire, &session, &format!("echo {text}"), &text);
        let seen = client.call("iterm_watch_session", on.clone());
        assert_eq!(seen["new_output"], text, "{seen}");
    }
    // `screen.diff` also reports text that has only moved.
    let changed = wire.call("screen.diff", json!({"id": session.id, "since_seq": 0}));
    wire.call("session.resize", json!({"id": session.id, "cols": 50, "rows": 24}));
    let moved = json!({"id": session.id, "since_seq": changed["seq"]});
    let moved = wire.call("screen.diff", moved);
    assert!(moved["changes"].to_string().contains("printed at 100 by 40"), "{moved}");
}

#[test]
fn a_number_of_lines_may_be_written_with_a_fraction_of_nothing() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = silent_shell(&fixture, &mut wire);
    print(&mut wire, &session, "seq 5", "5");
    let mut client = Client::new(&fixture, "iterm");
    let mut on = only(&mut client);
    on["lines"] = json!(2.0);
    let read = client.call("iterm_read_output", on.clone());
    assert_eq!((&read["line_count"], &read["output"]), (&json!(2), &json!("4\n5")));
    on["lines"] = json!(2.5);
    assert_eq!(client.fail("iterm_read_output", on), "lines must be a whole number");
}

#[test]
fn a_blank_screen_is_read_for_the_first_time_once() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    fixture.program(&mut wire, "cat", &[]);
    let mut client = Client::new(&fixture, "iterm");
    let on = only(&mut client);
    for is_first in [true, false, false] {
        let seen = client.call("iterm_watch_session", on.clone());
        assert_eq!((&seen["is_first_read"], &seen["new_output"]), (&json!(is_first), &json!("")));
    }
}

#[test]
fn lines_that_are_not_kept_any_more_are_said() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = silent_shell(&fixture, &mut wire);
    let mut client = Client::new(&fixture, "iterm");
    let on = only(&mut client);
    client.call("iterm_watch_session", on.clone());
    print(&mut wire, &session, "seq 30000; printf the-end", "the-end");
    let seen = client.call("iterm_watch_session", on);
    let output = seen["new_output"].as_str().unwrap();
    let (said, kept) = output.split_once('\n').unwrap();
    let lost = said.strip_prefix("[… ").unwrap();
    let lost: u64 = lost.strip_suffix(" lines are not kept any more …]").unwrap().parse().unwrap();
    // The number 1 is in the line after the first line that was read.
    assert!(kept.starts_with(&format!("{}\n", lost + 1)), "{said} {:?}", &kept[..20]);
    assert!(kept.ends_with("\n30000\nthe-end"), "{said}");
    assert_eq!(lost + seen["new_line_count"].as_u64().unwrap(), 30_001);
    // Output that is too long for a reply is cut in the middle.
    assert!(output.chars().count() < 51_000 && kept.contains(" left out …]"), "{}", kept.len());
}

#[test]
fn invisible_characters_in_a_name_are_escaped_and_matched() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = silent_shell(&fixture, &mut wire);
    let title = r"printf '\033]2;bu\342\200\213ild\007titled'";
    print(&mut wire, &session, title, "titled");
    let mut client = Client::new(&fixture, "iterm");
    let name = r"bu\u{200b}ild";
    let listed = client.call("iterm_list_sessions", json!({}));
    assert_eq!(listed[0]["name"], name, "{listed}");
    let why = client.fail("iterm_read_output", json!({"identifier": "xyzzy"}));
    assert!(why.as_str().unwrap().ends_with(&format!("Available sessions: ['{name}']")), "{why}");
    let read = client.call("iterm_read_output", json!({"identifier": name}));
    assert_eq!((&read["name"], &read["output"]), (&json!(name), &json!("ready\ntitled")));
}

#[test]
fn another_instances_user_approves_calls_on_it() {
    let fixture = Fixture::new();
    let other = fixture.beside();
    other.server().set_approval(Approval::Ask);
    let mut far = other.login();
    let id = far.call("session.create", json!({"program": "cat"}))["id"].clone();
    far.call("session.rename", json!({"id": id, "title": "far away"}));
    let mut client = Client::new(&fixture, "iterm");
    let send = json!({"identifier": "far away", "command": "first"});
    let asked = |client: &mut Client, answer: &str| {
        std::thread::scope(|scope| {
            let sent = scope.spawn(|| client.tool("iterm_send_command", send.clone()));
            let question = support::question(other.server());
            assert_eq!(question.client, "client");
            let would = "iterm_send_command: first; identifier w";
            assert!(question.text.starts_with(would), "{}", question.text);
            other.server().answers().give(question.number, answer).unwrap();
            sent.join().unwrap()
        })
    };
    let (sent, is_error) = asked(&mut client, "once");
    assert!(!is_error && sent["status"] == "sent" && sent["command"] == "first", "{sent}");
    let seen = far.call("session.wait", json!({"id": id, "any": [{"text": "first"}]}));
    assert_eq!(seen["matched"], true, "{seen}");
    // "Once" allows one call. A denied client gets an error without a new question.
    let why = "The user has denied client permission to act. Ask them before you try again.";
    assert_eq!(asked(&mut client, "deny"), (json!({"error": why}), true));
    assert_eq!(client.fail("iterm_send_command", send.clone()), why);
    assert!(other.server().questions().is_empty());
    // Reading needs no approval.
    let read = client.call("iterm_read_output", json!({"identifier": "far away"}));
    assert!(read["output"].as_str().unwrap().starts_with("first"), "{read}");
    other.server().set_approval(Approval::Allow);
    let sent = client.call("iterm_send_keys", json!({"identifier": "far away", "keys": "ctrl+d"}));
    assert_eq!(sent["status"], "sent", "{sent}");
    far.call("session.wait", json!({"id": id, "any": [{"exit": true}]}));
}
