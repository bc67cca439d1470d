//! `wait-for -E`: events of panes, and events that programs fire.

use std::sync::atomic::{AtomicBool, Ordering};

use super::{Called, Program, open};
use crate::support::{Fixture, has};

/// Repeats an action until a client that waits for an event has ended.
fn while_waiting(program: &Program<'_>, args: &[&str], act: impl Fn() + Sync) -> Called {
    let is_over = AtomicBool::new(false);
    let wire = program.begin(args);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                act();
            }
        });
        let called = program.end(wire);
        is_over.store(true, Ordering::Relaxed);
        called
    })
}

#[test]
fn a_client_waits_for_an_event_that_another_one_fires() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let first = open(&fixture, &mut wire, "cat", &[]);
    let program = Program { fixture: &fixture, pane: Some(first.id) };
    let waited =
        while_waiting(&program, &["wait-for", "-E", "@ready", ";", "display", "-p", "on"], || {
            program.prints(&["set-hook", "-E", "@other"]);
            program.prints(&["set-hook", "-E", "@ready"]);
        });
    assert_eq!((waited.out.as_str(), waited.status), ("on\n", 0));
    assert_eq!(program.fails(&["wait-for", "-E", "nonsense"]), "invalid event: nonsense");
    assert_eq!(program.fails(&["set-hook", "-E", "nonsense"]), "invalid event: nonsense");
}

#[test]
fn a_client_waits_for_the_end_of_a_command() {
    if !has("bash", &["-c", "true"]) {
        return;
    }
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let shell = fixture.marked_shell(&mut wire);
    let program = Program { fixture: &fixture, pane: Some(shell.id) };
    let wait = ["wait-for", "-E", "-v", "-F", "#{==:#{command_status},3}", "pane-command-finished"];
    let waited = while_waiting(&program, &wait, || {
        program.prints(&["send-keys", "(exit 3)", "Enter"]);
    });
    assert_eq!((waited.err.as_str(), waited.status), ("", 0));
    let pane = format!("pane=%{}\n", shell.id);
    assert!(waited.out.contains("command_status=3\n") && waited.out.contains(&pane), "{waited:?}");
}
