//! Tests of the panes that a program that speaks tmux may change: its own pane, and the panes that it opened. For other
//! panes, the user is asked.

use super::{Program, open};
use crate::support::{Fixture, Session, question};
use serde_json::json;
use unterm_control::Approval;

/// A program in a pane, and a pane that it did not open.
fn two(fixture: &Fixture) -> (Program<'_>, Session) {
    let mut wire = fixture.login();
    let own = open(fixture, &mut wire, "cat", &[]);
    let other = open(fixture, &mut wire, "cat", &[]);
    fixture.server().set_approval(Approval::Ask);
    (Program { fixture, pane: Some(own.id) }, other)
}

#[test]
fn a_program_can_not_type_in_a_pane_that_it_did_not_open() {
    let fixture = Fixture::new();
    let (program, other) = two(&fixture);
    let other_id = format!("%{}", other.id);
    let keys = ["send-keys", "-t", &other_id, "hello", "Enter"];
    let wire = program.begin(&keys);
    let asked = question(fixture.server());
    assert_eq!(asked.client, "tmux");
    assert_eq!(asked.text, format!("tmux send-keys -t \"{other_id}\" hello Enter"));
    fixture.server().answers().give(asked.number, "deny").unwrap();
    let called = program.end(wire);
    assert_eq!((called.out.as_str(), called.status), ("", 1));
    assert!(called.err.starts_with("not allowed: "), "{}", called.err);
    assert!(!crate::support::screen(&other.pane).contains("hello"));
}

#[test]
fn every_command_that_changes_another_pane_is_refused() {
    let fixture = Fixture::new();
    let (program, other) = two(&fixture);
    fixture.server().set_approval(Approval::Deny);
    let id = format!("%{}", other.id);
    let before = fixture.mux.layout();
    for args in [
        &["send-keys", "-t", &id, "x"][..],
        &["send-keys", "-l", "-t", &id, "x"],
        &["split-window", "-d", "-t", &id, "cat"],
        &["kill-pane", "-t", &id],
        &["kill-window", "-t", &id],
        &["respawn-pane", "-k", "-t", &id, "cat"],
        &["respawn-window", "-k", "-t", &id, "cat"],
        &["select-pane", "-t", &id, "-T", "title"],
        &["rename-window", "-t", &id, "name"],
        &["resize-pane", "-Z", "-t", &id],
        &["set-option", "-p", "-t", &id, "remain-on-exit", "on"],
        &["swap-pane", "-s", &id],
        &["swap-pane", "-t", &id],
        &["join-pane", "-s", &id],
        &["move-window", "-s", &id, "-t", ":0", "-k"],
        &["paste-buffer", "-t", &id, "-b", "text"],
        &["kill-server"],
    ] {
        if args[0] == "paste-buffer" {
            program.prints(&["set-buffer", "-b", "text", "x"]);
        }
        let why = program.fails(args);
        assert!(why.starts_with("not allowed: "), "{args:?}: {why}");
    }
    assert_eq!(*fixture.mux.layout(), *before);
    assert!(!crate::support::screen(&other.pane).contains('x'));
    // Reading and opening need no approval.
    program.prints(&["capture-pane", "-p", "-t", &id]);
    program.prints(&["list-panes", "-a"]);
    let opened = program.prints(&["new-window", "-d", "-P", "-F", "#{pane_id}", "cat"]);
    program.prints(&["send-keys", "-t", &opened, "x", "Enter"]);
    program.prints(&["kill-pane", "-t", &opened]);
}

#[test]
fn a_refused_command_changes_nothing() {
    let fixture = Fixture::new();
    let (program, other) = two(&fixture);
    let own = format!("%{}", program.pane.unwrap());
    let id = format!("%{}", other.id);
    // A session with the program's own windows, one of them with a pane of another program.
    let new = ["new-session", "-d", "-s", "own", "-P", "-F", "#{pane_id}", "cat"];
    let first = program.prints(&new);
    program.prints(&["new-window", "-d", "-t", "own:5", "cat"]);
    let windows = ["list-windows", "-a", "-F", "#{session_name}:#{window_index} #{window_id}"];
    let panes = ["list-panes", "-a", "-F", "#{pane_id} #{window_id} #{pane_width}x#{pane_height}"];
    let state = || (program.prints(&windows), program.prints(&panes));
    let index = program.prints(&["display-message", "-p", "-t", &id, "#{window_index}"]);
    let taken = format!(":{index}");
    fixture.server().set_approval(Approval::Deny);
    let before = state();
    for args in [
        &["link-window", "-k", "-s", "own:5", "-t", &taken][..],
        &["move-window", "-k", "-s", "own:5", "-t", &taken],
        &["new-window", "-k", "-t", &taken, "cat"],
        &["join-pane", "-s", &own, "-t", &id],
        &["join-pane", "-s", &first, "-t", &id],
        &["kill-server"],
        &["kill-session", "-a", "-t", "own"],
    ] {
        let why = program.fails(args);
        assert!(why.starts_with("not allowed: "), "{args:?}: {why}");
        assert_eq!(state(), before, "{args:?}");
    }
    // A lease refuses a change, too.
    fixture.server().set_approval(Approval::Allow);
    let mut wire = fixture.login();
    wire.call("session.lease", json!({"id": other.id}));
    for args in [
        &["link-window", "-k", "-s", "own:5", "-t", &taken][..],
        &["kill-server"],
        &["select-pane", "-d", "-t", &id],
    ] {
        let why = program.fails(args);
        assert!(why.contains("is leased by"), "{args:?}: {why}");
        assert_eq!(state(), before, "{args:?}");
    }
}

#[test]
fn a_session_with_windows_of_another_program_stays() {
    let fixture = Fixture::new();
    let (program, other) = two(&fixture);
    let outside = Program { fixture: &fixture, pane: Some(other.id) };
    outside.prints(&["new-session", "-d", "-s", "theirs", "cat"]);
    outside.prints(&["new-session", "-d", "-s", "also", "-t", "theirs"]);
    fixture.server().set_approval(Approval::Deny);
    let why = program.fails(&["kill-session", "-t", "also"]);
    assert!(why.starts_with("not allowed: "), "{why}");
    outside.prints(&["kill-session", "-t", "also"]);
}

#[test]
fn a_program_drives_the_pane_after_the_user_allowed_it() {
    let fixture = Fixture::new();
    let (program, other) = two(&fixture);
    let id = format!("%{}", other.id);
    let wire = program.begin(&["send-keys", "-t", &id, "first", "Enter"]);
    fixture.server().answers().give(question(fixture.server()).number, "once").unwrap();
    assert_eq!(program.end(wire).status, 0);
    other.wait_for_text("first");
    // The next call is another question.
    let wire = program.begin(&["send-keys", "-t", &id, "second", "Enter"]);
    fixture.server().answers().give(question(fixture.server()).number, "always").unwrap();
    assert_eq!(program.end(wire).status, 0);
    other.wait_for_text("second");
    program.prints(&["send-keys", "-t", &id, "third", "Enter"]);
    other.wait_for_text("third");
}

#[test]
fn panes_of_a_pane_that_a_program_opened_belong_to_it_too() {
    let fixture = Fixture::new();
    let (program, _other) = two(&fixture);
    let child = program.prints(&["new-window", "-d", "-P", "-F", "#{pane_id}", "cat"]);
    let number = child.trim_start_matches('%').parse().unwrap();
    let child_program = Program { fixture: &fixture, pane: Some(number) };
    let grandchild = child_program.prints(&["split-window", "-d", "-P", "-F", "#{pane_id}", "cat"]);
    program.prints(&["send-keys", "-t", &grandchild, "x"]);
    // The child may not drive the pane of the program that opened it.
    fixture.server().set_approval(Approval::Deny);
    let own = format!("%{}", program.pane.unwrap());
    assert!(child_program.fails(&["send-keys", "-t", &own, "x"]).starts_with("not allowed: "));
}

#[test]
fn a_call_that_goes_away_withdraws_its_question() {
    let fixture = Fixture::new();
    let (program, other) = two(&fixture);
    let wire = program.begin(&["kill-pane", "-t", &format!("%{}", other.id)]);
    question(fixture.server());
    drop(wire);
    crate::support::until("no question", || fixture.server().questions().is_empty().then_some(()));
    assert!(fixture.mux.pane(other.pane.id()).is_some());
}

#[test]
fn the_line_policy_and_leases_apply() {
    let fixture = Fixture::new();
    let (program, _) = two(&fixture);
    let mut wire = fixture.login();
    crate::support::block(&mut wire, json!(["rm -rf"]));
    let why = program.fails(&["new-window", "-d", "rm -rf /tmp/none"]);
    assert!(why.contains("blocked by policy"), "{why}");
    let id = program.pane.unwrap();
    wire.call("session.lease", json!({"id": id}));
    let why = program.fails(&["send-keys", "-t", &format!("%{id}"), "x"]);
    assert!(why.contains("is leased by"), "{why}");
}

#[test]
fn only_the_instances_own_token_speaks_tmux() {
    let fixture = Fixture::new();
    let mut user = fixture.login();
    let own = open(&fixture, &mut user, "cat", &[]);
    for token in [
        json!({"name": "reader", "scope": "read"}),
        json!({"name": "actor", "scope": "act"}),
        json!({"name": "admin", "scope": "admin"}),
        json!({"name": "one", "scope": "act", "panes": [own.id]}),
    ] {
        let (_, made) = fixture.login_with(&mut user, token.clone());
        let mut wire = fixture.connect();
        let login = json!({"token": made["token"], "client": "tmux", "tmux": true});
        let why = wire.fail("auth.login", login);
        assert_eq!(why, "Not allowed: only the instance's own token may speak tmux", "{token}");
        // The connection has not logged in, and is not handed to the dialect.
        let reply = wire.reply("session.list", json!({}));
        assert_eq!(reply["error"]["code"], -32002, "{reply}");
    }
}
