//! `display-popup`: a pane for a command, until the command ends.

use super::{Program, open};
use crate::support::{Fixture, until};

const SIZES: &str = "#{pane_width}x#{pane_height},#{pane_left},#{pane_top}";

#[test]
fn a_popup_is_at_a_side_and_returns_the_status_of_its_command() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let first = open(&fixture, &mut wire, "cat", &[]);
    let program = Program { fixture: &fixture, pane: Some(first.id) };
    let folder = fixture.home.path().display().to_string();
    // The call of `fzf --tmux`.
    let popup = program.begin(&[
        "display-popup",
        "-E",
        "-d",
        &folder,
        "-B",
        "-xC",
        "-y9999",
        "-w50%",
        "-h40%",
        "sh",
        "-c",
        "pwd >there; read line; exit 3",
    ]);
    program.until(&["list-panes", "-F", "#{pane_active}"], "0\n1");
    assert_eq!(program.prints(&["list-panes", "-F", SIZES]), "120x17,0,0\n120x12,0,18");
    let there = fixture.home.path().join("there");
    let text =
        until("the folder", || std::fs::read_to_string(&there).ok().filter(|t| !t.is_empty()));
    assert_eq!(text.trim(), std::fs::canonicalize(&folder).unwrap().display().to_string());
    // As in tmux, a second popup does nothing.
    assert_eq!(program.tmux(&["popup", "-E", "true"]).status, 0);
    program.prints(&["send-keys", "-t", ".1", "x", "Enter"]);
    assert_eq!(program.end(popup).status, 3);
    assert_eq!(program.prints(&["list-panes", "-F", "#{pane_active} #{pane_width}"]), "1 120");
}

#[test]
fn a_popup_ends_the_zoom_only_while_it_is_open() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let first = open(&fixture, &mut wire, "cat", &[]);
    let program = Program { fixture: &fixture, pane: Some(first.id) };
    program.prints(&["split-window", "-d", "cat"]);
    program.prints(&["resize-pane", "-Z"]);
    assert_eq!(program.tmux(&["display-popup", "-E", "-x0", "true"]).status, 0);
    let state = ["display", "-p", "#{window_panes} #{window_zoomed_flag} #{pane_active}"];
    assert_eq!(program.prints(&state), "2 1 1");
}

#[test]
fn a_popup_stays_if_its_flags_ask_for_that() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let first = open(&fixture, &mut wire, "cat", &[]);
    let program = Program { fixture: &fixture, pane: Some(first.id) };
    let panes = ["display", "-p", "#{window_panes}"];
    let called = program.tmux(&["display-popup", "-EE", "-T", "a title", "exit 2"]);
    assert_eq!((called.status, program.prints(&panes).as_str()), (2, "2"));
    assert_eq!(program.prints(&["list-panes", "-F", "#T", "-f", "#{pane_dead}"]), "a title");
    program.prints(&["kill-pane", "-t", ".1"]);
    assert_eq!(program.tmux(&["display-popup", "-EE", "exit 0"]).status, 0);
    assert_eq!(program.prints(&panes), "1");
    assert_eq!(program.tmux(&["display-popup", "true"]).status, 0);
    assert_eq!(program.prints(&panes), "2");
}

#[test]
fn a_popup_ends_with_its_client_and_can_be_closed() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let first = open(&fixture, &mut wire, "cat", &[]);
    let program = Program { fixture: &fixture, pane: Some(first.id) };
    let panes = ["display", "-p", "#{window_panes}"];
    let popup = program.begin(&["display-popup", "-E", "cat"]);
    program.until(&panes, "2");
    drop(popup);
    program.until(&panes, "1");
    let popup = program.begin(&["display-popup", "-E", "cat"]);
    program.until(&panes, "2");
    // The popup can be closed a moment after its pane was opened.
    until("the popup to close", || {
        program.prints(&["display-popup", "-C"]);
        (program.prints(&panes) == "1").then_some(())
    });
    assert_ne!(program.end(popup).status, 0);
    assert_eq!(program.fails(&["display-popup", "-w", "x"]), "width invalid");
}
