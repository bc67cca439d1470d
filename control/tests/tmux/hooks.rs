//! Hooks at events, and monitors of values.

use super::{Program, open};
use crate::support::Fixture;

/// A program in a pane of its own.
fn started(fixture: &Fixture) -> u64 {
    let mut wire = fixture.login();
    open(fixture, &mut wire, "cat", &[]).id
}

#[test]
fn hooks_run_when_windows_and_sessions_change() {
    let fixture = Fixture::new();
    let program = Program { fixture: &fixture, pane: Some(started(&fixture)) };
    for (hook, value) in [
        ("session-renamed", "#{hook}:#{hook_session_name}"),
        ("window-renamed", "#{hook}:#{hook_window_name}"),
        ("window-linked", "#{hook}:#{hook_window_name}"),
        ("pane-exited", "#{hook}:#{hook_pane}"),
    ] {
        program.prints(&["set-hook", "-g", hook, &format!("set -gF @{hook} \"{value}\"")]);
    }
    let value = |name: &'static str| ["show", "-gqv", name];
    program.prints(&["rename-session", "new"]);
    program.until(&value("@session-renamed"), "session-renamed:new");
    program.prints(&["rename-window", "first"]);
    program.until(&value("@window-renamed"), "window-renamed:first");
    let pane = program.prints(&["new-window", "-d", "-n", "two", "-P", "-F", "#{pane_id}", "cat"]);
    program.until(&value("@window-linked"), "window-linked:two");
    program.prints(&["kill-pane", "-t", &pane]);
    program.until(&value("@pane-exited"), &format!("pane-exited:{pane}"));
    // Another program's hooks are its own.
    let other = Program { fixture: &fixture, pane: Some(started(&fixture)) };
    assert_eq!(other.prints(&["show-hooks"]), "");
    // A hook that is not set any more does not run.
    program.prints(&["set-hook", "-gu", "session-renamed"]);
    program.prints(&["rename-session", "newer"]);
    program.prints(&["rename-window", "last"]);
    program.until(&value("@window-renamed"), "window-renamed:last");
    assert_eq!(program.prints(&value("@session-renamed")), "session-renamed:new");
}

#[test]
fn monitors_run_a_hook_when_a_value_changes() {
    let fixture = Fixture::new();
    let program = Program { fixture: &fixture, pane: Some(started(&fixture)) };
    program.prints(&["set", "-g", "@value", "one"]);
    let monitor = "@own::#{@value}";
    program.prints(&[
        "set-hook",
        "-g",
        "-B",
        monitor,
        "set -gF @seen \"#{hook_last}>#{hook_value}\"",
    ]);
    assert_eq!(program.prints(&["show-hooks", "-g", "-B", "@own"]), monitor);
    // The first value is no change. The process takes it within a second.
    program.prints(&["set", "-g", "@value", "two"]);
    program.until(&["show", "-gqv", "@value"], "two");
    let mut count = 0;
    super::until_true("the monitor", || {
        count += 1;
        program.prints(&["set", "-g", "@value", &format!("value {count}")]);
        program.prints(&["show", "-gqv", "@seen"]).contains('>')
    });
    // A value never becomes a command.
    program.prints(&["set", "-g", "@value", "\" ; set -g @injected yes ; \""]);
    super::until_true("the hostile value", || {
        program.prints(&["show", "-gqv", "@seen"]).contains("injected")
    });
    assert_eq!(program.prints(&["show", "-gqv", "@injected"]), "");
    let bad = program.fails(&["set-hook", "-g", "-B", "own::#{@value}", "display x"]);
    assert_eq!(bad, "invalid hook name: own");
    program.prints(&["set-hook", "-gu", "-B", "@own"]);
    assert_eq!(program.prints(&["show-hooks", "-g", "-B"]), "");
}
