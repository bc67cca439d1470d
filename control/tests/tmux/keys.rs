//! Key bindings are kept and shown, and input of panes can be off.

use super::{Program, open};
use crate::support::Fixture;

#[test]
fn bindings_are_kept_shown_and_removed() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let first = open(&fixture, &mut wire, "cat", &[]);
    let program = Program { fixture: &fixture, pane: Some(first.id) };
    assert_eq!(program.prints(&["list-keys"]), "");
    program.prints(&["bind-key", "-n", "f12", "display", "bound", "\\;", "kill-pane"]);
    program.prints(&["bind-key", "-r", "-T", "own", "^x", "next-window"]);
    assert_eq!(
        program.prints(&["list-keys"]),
        "bind-key -r -T own  C-x next-window\nbind-key    -T root F12 display-message bound \\; kill-pane"
    );
    assert_eq!(program.fails(&["bind-key", "nokey", "kill-pane"]), "unknown key: nokey");
    assert_eq!(program.fails(&["bind-key", "x", "nope"]), "unknown command: nope");
    program.prints(&["unbind-key", "-n", "F12"]);
    assert_eq!(program.fails(&["list-keys", "-T", "none"]), "table none doesn't exist");
    program.prints(&["unbind-key", "-a", "-T", "own"]);
    assert_eq!(program.prints(&["list-keys"]), "");
}

#[test]
fn a_pane_without_input_ignores_programs() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let first = open(&fixture, &mut wire, "cat", &[]);
    let program = Program { fixture: &fixture, pane: Some(first.id) };
    program.prints(&["select-pane", "-d"]);
    assert_eq!(program.prints(&["display", "-p", "#{pane_input_off}"]), "1");
    program.prints(&["send-keys", "ignored", "Enter"]);
    program.prints(&["select-pane", "-e"]);
    program.prints(&["send-keys", "seen", "Enter"]);
    super::until_true("the text", || {
        program.prints(&["capture-pane", "-p"]).contains("seen\nseen")
    });
    assert!(!program.prints(&["capture-pane", "-p"]).contains("ignored"));
    program.prints(&["set", "-g", "prefix", "C-a"]);
    program.prints(&["send-prefix"]);
    super::until_true("the prefix", || program.prints(&["capture-pane", "-p"]).contains("^A"));
}
