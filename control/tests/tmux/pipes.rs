//! `pipe-pane`: the output of a pane goes to a command, and a command types in a pane.

use super::{Program, open};
use crate::support::{Fixture, until};
use unterm_control::Approval;

#[test]
fn output_goes_to_a_command_until_the_pipe_is_closed() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let cat = open(&fixture, &mut wire, "cat", &[]);
    let program = Program { fixture: &fixture, pane: Some(cat.id) };
    let file = fixture.home.path().join("log");
    let log = |what: &str| {
        until(what, || std::fs::read_to_string(&file).ok().filter(|text| text.contains(what)))
    };
    assert_eq!(program.prints(&["display", "-p", "#{pane_pipe}"]), "0");
    program.prints(&["pipe-pane", "cat >log-#{pane_id}; mv log-#{pane_id} log"]);
    assert_eq!(program.prints(&["display", "-p", "#{pane_pipe}"]), "1");
    program.prints(&["send-keys", "first", "Enter"]);
    cat.wait_for(|screen| screen.matches("first").count() == 2);
    // Another program can't close the pipe.
    let other = Program { fixture: &fixture, pane: None };
    other.prints(&["pipe-pane", "-t", &format!("%{}", cat.id)]);
    assert_eq!(program.prints(&["display", "-p", "#{pane_pipe}"]), "1");
    program.prints(&["pipe-pane"]);
    assert_eq!(log("first").matches("first").count(), 2, "the echo, and the output of cat");
    program.until(&["display", "-p", "#{pane_pipe}"], "0");
    program.prints(&["send-keys", "second", "Enter"]);
    cat.wait_for_text("second");
    assert!(!log("first").contains("second"));
}

#[test]
fn with_o_a_second_call_closes_the_pipe() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let cat = open(&fixture, &mut wire, "cat", &[]);
    let program = Program { fixture: &fixture, pane: Some(cat.id) };
    program.prints(&["pipe-pane", "-o", "cat >log"]);
    assert_eq!(program.prints(&["display", "-p", "#{pane_pipe}"]), "1");
    program.prints(&["pipe-pane", "-o", "cat >log"]);
    program.until(&["display", "-p", "#{pane_pipe}"], "0");
}

#[test]
fn a_pipe_ends_with_the_program_of_its_pane() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let first = open(&fixture, &mut wire, "cat", &[]);
    let program = Program { fixture: &fixture, pane: Some(first.id) };
    let pane = program.prints(&["new-window", "-d", "-P", "-F", "#D", "read line; echo got $line"]);
    program.prints(&["set-option", "-p", "-t", &pane, "remain-on-exit", "on"]);
    program.prints(&["pipe-pane", "-t", &pane, "cat >log; touch done"]);
    program.prints(&["send-keys", "-t", &pane, "it", "Enter"]);
    until("the end", || fixture.home.path().join("done").exists().then_some(()));
    let log = std::fs::read_to_string(fixture.home.path().join("log")).unwrap();
    assert!(log.contains("got it"), "{log:?}");
    program.until(&["display", "-p", "-t", &pane, "#{pane_dead}#{pane_pipe}"], "10");
    assert_eq!(program.fails(&["pipe-pane", "-t", &pane, "cat"]), "target pane has exited");
}

#[test]
fn a_command_types_in_the_pane() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let cat = open(&fixture, &mut wire, "cat", &[]);
    let program = Program { fixture: &fixture, pane: Some(cat.id) };
    program.prints(&["pipe-pane", "-I", "printf 'typed é\\r'"]);
    cat.wait_for(|screen| screen.matches("typed é").count() == 2);
    program.until(&["display", "-p", "#{pane_pipe}"], "0");
    // With both flags, the command reads the pane's output and types its answers.
    program.prints(&["pipe-pane", "-IO", "head -n 1 >/dev/null; printf 'answer\\r'"]);
    program.prints(&["send-keys", "question", "Enter"]);
    cat.wait_for_text("answer");
}

#[test]
fn a_command_can_not_type_in_a_pane_of_another_program() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let own = open(&fixture, &mut wire, "cat", &[]);
    let other = open(&fixture, &mut wire, "cat", &[]);
    fixture.server().set_approval(Approval::Deny);
    let program = Program { fixture: &fixture, pane: Some(own.id) };
    let id = format!("%{}", other.id);
    let why = program.fails(&["pipe-pane", "-I", "-t", &id, "echo x"]);
    assert!(why.starts_with("not allowed: "), "{why}");
    // Programs may read all panes.
    program.prints(&["pipe-pane", "-t", &id, "cat >log"]);
}
