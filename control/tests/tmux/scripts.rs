//! Typing, reading, wait channels, buffers, options, environment, hooks and files of commands.

use super::{Program, open};
use crate::support::Fixture;

#[test]
fn keys_are_typed_and_the_screen_is_captured() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let shell = open(&fixture, &mut wire, "sh", &[]);
    let program = Program { fixture: &fixture, pane: Some(shell.id) };
    program.prints(&["send-keys", "printf '\\033[1;31mred\\033[0m plain\\n'", "Enter"]);
    shell.wait_for(|screen| screen.lines().any(|line| line == "red plain"));
    let text = program.prints(&["capture-pane", "-p"]);
    assert!(text.lines().any(|line| line == "red plain"), "{text}");
    let styled = program.prints(&["capture-pane", "-p", "-e"]);
    assert!(
        styled.contains("\u{1b}[1m\u{1b}[31mred\u{1b}[0m\u{1b}[39m\u{1b}[49m plain"),
        "{styled:?}"
    );
    program.prints(&["send-keys", "-l", "echo literal Enter"]);
    program.prints(&["send-keys", "C-m"]);
    shell.wait_for(|screen| screen.lines().any(|line| line == "literal Enter"));
    program.prints(&["send-keys", "-H", "65", "63", "68", "6f", "20", "68", "65", "78", "0d"]);
    shell.wait_for(|screen| screen.lines().any(|line| line == "hex"));
    // Keys that are echoed before the prompt would share its row.
    let is_at_prompt = |screen: &str| screen.trim_end().ends_with("\n$");
    shell.wait_for(is_at_prompt);
    program.prints(&["send-keys", "cat", "Enter"]);
    program.prints(&["send-keys", "-N", "3", "z"]);
    program.prints(&["send-keys", "Enter"]);
    // The terminal echoes the keys, and `cat` prints them.
    shell.wait_for(|screen| screen.lines().filter(|line| *line == "zzz").count() == 2);
    program.prints(&["send-keys", "C-c"]);
    shell.wait_for(is_at_prompt);
    program.prints(&["send-keys", "seq 1 100", "Enter"]);
    shell.wait_for(|screen| screen.lines().any(|line| line == "100"));
    let history = program.prints(&["capture-pane", "-p", "-S", "-"]);
    assert!(history.lines().any(|line| line == "1") && history.lines().any(|line| line == "100"));
    let some = program.prints(&["capture-pane", "-p", "-S", "-3", "-E", "-2"]);
    assert_eq!(some.lines().count(), 2, "{some}");
    program.prints(&["capture-pane", "-b", "shot", "-S", "-1", "-E", "-1"]);
    assert_eq!(program.prints(&["show-buffer", "-b", "shot"]).lines().count(), 1);
    let found = program.prints(&["display", "-p", "#{C:100} #{?#{C:never there},y,n}"]);
    assert!(found.ends_with(" n") && !found.starts_with('0'), "{found}");
}

#[test]
fn a_client_waits_until_another_one_signals() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let first = open(&fixture, &mut wire, "cat", &[]);
    let program = Program { fixture: &fixture, pane: Some(first.id) };
    let waiting = program.begin(&["wait-for", "done", ";", "display", "-p", "woken"]);
    program.prints(&["wait-for", "-S", "done"]);
    assert_eq!(program.end(waiting).out, "woken\n");
    // A lock excludes the next client until it is released.
    program.prints(&["wait-for", "-L", "lock"]);
    let next = program.begin(&["wait-for", "-L", "lock", ";", "display", "-p", "locked"]);
    program.prints(&["wait-for", "-U", "lock"]);
    assert_eq!(program.end(next).out, "locked\n");
}

#[test]
fn buffers_are_set_pasted_saved_and_loaded() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let cat = open(&fixture, &mut wire, "cat", &[]);
    let program = Program { fixture: &fixture, pane: Some(cat.id) };
    program.prints(&["set-buffer", "first\nsecond\n"]);
    program.prints(&["set-buffer", "-b", "own", "text"]);
    program.prints(&["set-buffer", "-a", "-b", "own", " and more"]);
    assert_eq!(
        program.prints(&["list-buffers"]),
        "own: 13 bytes: \"text and more\"\nbuffer0: 13 bytes: \"first\\nsecond\\n\""
    );
    program.prints(&["save-buffer", "-b", "own", "file"]);
    program.prints(&["save-buffer", "-a", "-b", "own", "file"]);
    program.prints(&["load-buffer", "-b", "loaded", "file"]);
    assert_eq!(program.prints(&["show-buffer", "-b", "loaded"]), "text and moretext and more");
    program.prints(&["paste-buffer", "-d"]);
    cat.wait_for_text("second");
    assert_eq!(program.prints(&["list-buffers", "-F", "#{buffer_name}"]), "loaded\nown");
    program.prints(&["delete-buffer", "-b", "own"]);
    assert_eq!(program.fails(&["delete-buffer", "-b", "own"]), "unknown buffer: own");
}

#[test]
fn options_variables_and_hooks_are_kept() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let first = open(&fixture, &mut wire, "cat", &[]);
    let program = Program { fixture: &fixture, pane: Some(first.id) };
    program.prints(&["set", "-g", "@plugin", "a b"]);
    assert_eq!(program.prints(&["show", "-g", "@plugin"]), "@plugin \"a b\"");
    assert_eq!(program.prints(&["show", "-gv", "@plugin"]), "a b");
    assert_eq!(program.prints(&["show", "-gqv", "@none"]), "");
    assert_eq!(program.prints(&["show", "-gv", "status-interval"]), "15");
    program.prints(&["set", "mouse", "on"]);
    assert_eq!(program.prints(&["show", "mouse"]), "mouse on");
    assert_eq!(program.prints(&["show", "-A", "status"]), "status* on");
    program.prints(&["set", "-u", "mouse"]);
    assert_eq!(program.prints(&["show", "mouse"]), "");
    assert_eq!(
        program.prints(&["display", "-p", "#{@plugin} #{E:status-left}"]),
        format!("a b [{}] ", fixture.server().instance_id())
    );
    program.prints(&["set-environment", "-g", "COLOR", "blue"]);
    assert_eq!(program.prints(&["show-environment", "-g", "COLOR"]), "COLOR=blue");
    let pane = program.prints(&[
        "new-window",
        "-d",
        "-e",
        "SIZE=9",
        "-P",
        "-F",
        "#D",
        "echo $COLOR $SIZE; cat",
    ]);
    program.until(&["display", "-p", "-t", &pane, "#{C:blue 9}"], "1");
    program.prints(&["set-hook", "-g", "after-rename-window", "set -g @hooked '#{window_name}'"]);
    program.prints(&["rename-window", "new name"]);
    assert_eq!(program.prints(&["show", "-gv", "@hooked"]), "#{window_name}");
    let hook = ["show-hooks", "-g", "after-rename-window"];
    let shown = "after-rename-window[0] set-option -g @hooked \"#{window_name}\"";
    assert_eq!(program.prints(&hook), shown);
    program.prints(&["set-hook", "-ga", "after-rename-window", "display -p more"]);
    assert_eq!(program.prints(&["rename-window", "again"]), "more");
    program.prints(&["set-hook", "-gu", "after-rename-window[0]"]);
    assert_eq!(program.prints(&hook), "after-rename-window[1] display-message -p more");
    assert_eq!(program.prints(&["show-hooks", "-g", "pane-died[3]"]), "pane-died[3] ");
    // The hook of a session replaces the global one.
    program.prints(&["set-hook", "after-rename-window", "display -p own"]);
    assert_eq!(program.prints(&["rename-window", "third"]), "own");
    assert_eq!(
        program.fails(&["set-hook", "-g", "session-renamed", "nope"]),
        "unknown command: nope"
    );
}

#[test]
fn commands_come_from_conditions_files_and_the_shell() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let first = open(&fixture, &mut wire, "cat", &[]);
    let program = Program { fixture: &fixture, pane: Some(first.id) };
    assert_eq!(program.prints(&["if-shell", "true", "display -p yes", "display -p no"]), "yes");
    assert_eq!(
        program.prints(&["if", "-F", "#{pane_dead}", "display -p yes", "display -p no"]),
        "no"
    );
    assert_eq!(program.prints(&["run-shell", "echo #{pane_id}"]), format!("%{}", first.id));
    assert_eq!(program.tmux(&["run-shell", "exit 3"]).status, 3);
    assert_eq!(program.prints(&["run-shell", "-C", "display -p here"]), "here");
    let text = "# comment\nset -g @from file\nif -F 1 {\n  display -p inner ; display -p two\n}\n\
        %if #{==:1,2}\nnope\n%else\ndisplay -p \"$SHELL\"\n%endif\n";
    std::fs::write(fixture.home.path().join("conf"), text).unwrap();
    assert_eq!(program.prints(&["source-file", "conf"]), "inner\ntwo\n/bin/sh");
    assert_eq!(program.prints(&["show", "-gv", "@from"]), "file");
    std::fs::write(fixture.home.path().join("bad"), "display -p one\nnope\ndisplay -p two\n")
        .unwrap();
    let called = program.tmux(&["source-file", "bad"]);
    assert_eq!((called.out.as_str(), called.status), ("", 1));
    assert_eq!(called.err, "bad:2: unknown command: nope\n");
    assert!(
        program.prints(&["list-commands", "lsp"]).starts_with("list-panes (lsp) [-as] [-F format]")
    );
}

#[test]
fn configuration_files_run_before_the_first_session() {
    let fixture = Fixture::new();
    let program = Program { fixture: &fixture, pane: None };
    let text = "if-shell true 'set -g @from condition'\nnew-session -s one cat\n\
        kill-session -t missing\nnew-session -s two cat\n";
    std::fs::write(fixture.home.path().join("conf"), text).unwrap();
    let called = program.tmux(&["-L", "conf", "-f", "conf", "start-server"]);
    // An error in a file is shown, and prevents neither the rest of the file nor the command.
    assert_eq!((called.status, called.out.as_str()), (0, ""));
    assert_eq!(called.err, "conf:3: can't find session: missing\n");
    let on_server = |args: &[&str]| program.prints(&[&["-L", "conf"], args].concat());
    assert_eq!(on_server(&["list-sessions", "-F", "#S"]), "one\ntwo");
    assert_eq!(on_server(&["show-options", "-gv", "@from"]), "condition");
    // The files are read once.
    on_server(&["-f", "conf", "has-session", "-t", "one"]);
}

#[test]
fn the_character_below_the_cursor_is_a_format() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let first = open(&fixture, &mut wire, "sh", &["-c", r"printf 'a\303\274b\033[1;2H'; exec cat"]);
    let program = Program { fixture: &fixture, pane: Some(first.id) };
    program.until(&["display", "-p", "#{cursor_x} #{cursor_character}"], "1 \u{fc}");
}
