//! Sessions, targets and errors.

use super::{Program, open};
use crate::support::Fixture;

#[test]
fn sessions_are_groups_of_tabs() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let first = open(&fixture, &mut wire, "cat", &[]);
    let program = Program { fixture: &fixture, pane: Some(first.id) };
    let instance = fixture.server().instance_id();
    assert_eq!(program.prints(&["display", "-p", "#S #{session_id}"]), format!("{instance} $0"));
    let made =
        program.prints(&["new-session", "-d", "-s", "work", "-x", "100", "-y", "40", "-P", "cat"]);
    assert_eq!(made, "work:");
    assert_eq!(program.fails(&["new-session", "-d", "-s", "work"]), "duplicate session: work");
    assert_eq!(
        program.prints(&[
            "display",
            "-p",
            "-t",
            "work:",
            "#{session_id} #{window_width}x#{window_height}"
        ]),
        "$1 100x40"
    );
    program.prints(&["new-window", "-d", "-t", "work:", "-n", "second", "cat"]);
    let windows = ["list-windows", "-t", "work", "-F", "#{window_index}"];
    assert_eq!(program.prints(&windows), "0\n1");
    assert_eq!(
        program.prints(&["list-sessions", "-F", "#S #{session_windows}"]),
        format!("{instance} 1\nwork 2")
    );
    program.prints(&["has-session", "-t", "=work"]);
    program.prints(&["has-session", "-t", "wor"]);
    assert_eq!(program.fails(&["has-session", "-t", "=wor"]), "can't find session: wor");
    program.prints(&["rename-session", "-t", "work", "play"]);
    assert_eq!(program.prints(&["display", "-p", "-t", "$1", "#S"]), "play");
    assert_eq!(
        program.fails(&["attach-session", "-t", "play"]),
        "open terminal failed: not a terminal"
    );
    assert_eq!(program.fails(&["switch-client", "-t", "play"]), "no current client");
    assert_eq!(program.prints(&["list-clients"]), "");
    program.prints(&["kill-session", "-t", "play"]);
    assert_eq!(program.prints(&["list-sessions", "-F", "#S"]), instance);
}

#[test]
fn unknown_targets_and_commands_have_the_errors_of_tmux() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let first = open(&fixture, &mut wire, "cat", &[]);
    let program = Program { fixture: &fixture, pane: Some(first.id) };
    for (args, expected) in [
        (&["nope"][..], "unknown command: nope"),
        (&["list-panes", "-z"], "command list-panes: unknown flag -z"),
        (&["copy-mode"], "unknown command: copy-mode"),
        (&["display", "-p", "x", ";", "nope"], "unknown command: nope"),
        (&["send-keys", "-t", "%99", "x"], "can't find pane: %99"),
        (&["split-window", "-t", "foo"], "can't find pane: foo"),
        (&["list-panes", "-t", "=foo"], "can't find window: foo"),
        (&["kill-pane", "-t", "@77"], "can't find window: @77"),
        (&["kill-pane", "-t", ":9"], "can't find window: 9"),
        (&["kill-pane", "-t", ":0.9"], "can't find pane: 9"),
        (&["show-buffer", "-b", "x"], "no buffer x"),
        (&["set-option", "nonsense", "1"], "invalid option: nonsense"),
        (&["set-option", "-g", "remain-on-exit", "maybe"], "unknown value: maybe"),
        (&["show-options", "-g", "nonsense"], "invalid option: nonsense"),
        (&["show-environment", "-g", "NONE"], "unknown variable: NONE"),
        (&["wait-for", "-U", "x"], "channel x not locked"),
        (&["load-buffer", "none"], "none: No such file or directory"),
        (&["source-file", "none"], "none: No such file or directory"),
        (&["detach-client"], "no current client"),
        (&["set-hook", "-g", "pane-lost", "x"], "invalid option: pane-lost"),
        (&["list-keys", "-T", "foo"], "table foo doesn't exist"),
    ] {
        assert_eq!(program.fails(args), expected, "{args:?}");
    }
    assert_eq!(program.prints(&["-V"]), "tmux 3.3a");
    assert!(program.fails(&["-Z"]).starts_with("usage: tmux "));
    let still = program.fails(&["respawn-pane", "cat"]);
    assert!(still.starts_with("respawn pane failed: pane ") && still.ends_with("still active"));
}

#[test]
fn a_window_is_linked_to_two_sessions() {
    let fixture = Fixture::new();
    let program = Program { fixture: &fixture, pane: None };
    let call = |line: &str| {
        let args: Vec<&str> = line.split(' ').collect();
        program.prints(&[&["-L", "links"], args.as_slice()].concat())
    };
    let fails = |line: &str| {
        let args: Vec<&str> = line.split(' ').collect();
        program.fails(&[&["-L", "links"], args.as_slice()].concat())
    };
    let windows = |session: &str| {
        call(&format!("list-windows -t {session} -F #{{window_index}}#{{window_name}}"))
            .replace('\n', " ")
    };
    call("new-session -d -s a -n one cat");
    call("new-session -d -s b -n two cat");
    call("new-window -d -t a:5 -n five cat");
    assert_eq!(windows("a"), "0one 5five");
    call("link-window -d -s a:5 -t b:3");
    assert_eq!((windows("a"), windows("b")), ("0one 5five".into(), "0two 3five".into()));
    let linked = "#{window_linked} #{window_linked_sessions} #{window_linked_sessions_list}";
    assert_eq!(call(&format!("display -p -t b:3 {}", linked.replace(' ', "/"))), "1/2/a,b");
    assert_eq!(fails("unlink-window -t a:0"), "window only linked to one session");
    assert_eq!(fails("link-window -s a:0 -t b:3"), "index in use: 3");
    // The session ends, and the window that another session contains stays.
    call("kill-session -t a");
    assert_eq!(windows("b"), "0two 3five");
    call("move-window -r -t b");
    assert_eq!(windows("b"), "0two 1five");
    call("new-session -d -t b -s c");
    assert_eq!(windows("c"), "0two 1five");
    call("new-window -d -t c:7 -n seven cat");
    assert_eq!(windows("b"), "0two 1five 7seven");
    assert_eq!(call("display -p -t b: #{session_group}/#{session_group_list}"), "b/b,c");
    assert_eq!(fails("move-window -s b:0 -t c:9"), "sessions are grouped");
    call("select-window -t c:7");
    assert_eq!(call("display -p -t b: #{window_index}"), "0");
    call("kill-server");
}
