//! Splits, sizes, layouts, and moves of panes and windows.

use super::{Program, open};
use crate::support::Fixture;

const SIZES: &str = "#{pane_id}:#{pane_width}x#{pane_height},#{pane_left},#{pane_top}";

#[test]
fn panes_are_split_resized_and_arranged() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let first = open(&fixture, &mut wire, "cat", &[]);
    let program = Program { fixture: &fixture, pane: Some(first.id) };
    let sizes = || program.prints(&["list-panes", "-F", SIZES]).replace('\n', " ");
    let ids: Vec<String> = (0..4).map(|number| format!("%{}", first.id + number)).collect();
    program.prints(&["split-window", "-d", "-h", "-l", "40", "cat"]);
    assert_eq!(sizes(), format!("{}:79x30,0,0 {}:40x30,80,0", ids[0], ids[1]));
    program.prints(&["split-window", "-d", "-b", "-l", "10", "-t", &ids[1], "cat"]);
    assert_eq!(
        sizes(),
        format!("{}:79x30,0,0 {}:40x10,80,0 {}:40x19,80,11", ids[0], ids[2], ids[1])
    );
    program.prints(&["split-window", "-f", "-d", "-l", "20%", "cat"]);
    assert!(sizes().ends_with(&format!("{}:120x6,0,24", ids[3])), "{}", sizes());
    program.prints(&["kill-pane", "-t", &ids[3]]);
    program.prints(&["resize-pane", "-t", &ids[0], "-x", "50"]);
    assert!(sizes().starts_with(&format!("{}:50x30,0,0 {}:69x10,51,0", ids[0], ids[2])));
    program.prints(&["resize-pane", "-t", &ids[0], "-R", "5"]);
    program.prints(&["resize-pane", "-t", &ids[2], "-D", "2"]);
    assert_eq!(
        sizes(),
        format!("{}:55x30,0,0 {}:64x12,56,0 {}:64x17,56,13", ids[0], ids[2], ids[1])
    );
    program.prints(&["select-layout", "even-vertical"]);
    assert_eq!(
        sizes(),
        format!("{}:120x9,0,0 {}:120x9,0,10 {}:120x10,0,20", ids[0], ids[2], ids[1])
    );
    let layout = program.prints(&["display", "-p", "#{window_layout}"]);
    program.prints(&["select-layout", "tiled"]);
    program.prints(&["select-layout", &layout]);
    assert_eq!(program.prints(&["display", "-p", "#{window_layout}"]), layout);
    assert_eq!(program.fails(&["select-layout", "foo"]), "invalid layout: foo");
    program.prints(&["resize-pane", "-Z", "-t", &ids[1]]);
    assert_eq!(program.prints(&["display", "-p", "#{window_zoomed_flag}#F"]), "1*Z");
    assert_eq!(
        program.prints(&["display", "-p", "-t", &ids[1], "#{pane_width}x#{pane_height}"]),
        "120x30"
    );
    program.prints(&["resize-pane", "-Z", "-t", &ids[1]]);
    program.prints(&["rotate-window"]);
    let order = program.prints(&["list-panes", "-F", "#{pane_id}"]).replace('\n', " ");
    assert_eq!(order, format!("{} {} {}", ids[2], ids[1], ids[0]));
    assert_eq!(program.fails(&["resize-pane", "-x", "foo"]), "width invalid");
}

#[test]
fn panes_are_selected_swapped_broken_out_and_joined() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let first = open(&fixture, &mut wire, "cat", &[]);
    let program = Program { fixture: &fixture, pane: Some(first.id) };
    let ids: Vec<String> = (0..3).map(|number| format!("%{}", first.id + number)).collect();
    program.prints(&["split-window", "-h", "cat"]);
    let active =
        || program.prints(&["list-panes", "-F", "#{?pane_active,#{pane_id},}"]).replace('\n', "");
    assert_eq!(active(), ids[1]);
    program.prints(&["select-pane", "-L", "-t", &ids[1]]);
    assert_eq!(active(), ids[0]);
    program.prints(&["last-pane"]);
    assert_eq!(active(), ids[1]);
    assert_eq!(program.prints(&["display", "-p", "-t", "{left}", "#D"]), ids[0]);
    assert_eq!(program.prints(&["display", "-p", "-t", ".1", "#D"]), ids[1]);
    program.prints(&["swap-pane", "-d", "-s", &ids[0], "-t", &ids[1]]);
    let order = || program.prints(&["list-panes", "-F", "#D"]).replace('\n', " ");
    assert_eq!(order(), format!("{} {}", ids[1], ids[0]));
    let window = program.prints(&[
        "break-pane",
        "-d",
        "-s",
        &ids[1],
        "-n",
        "out",
        "-P",
        "-F",
        "#{window_id} #W",
    ]);
    assert!(window.ends_with(" out"), "{window}");
    assert_eq!(order(), ids[0]);
    assert_eq!(
        program.fails(&["join-pane", "-s", &ids[0], "-t", &ids[0]]),
        "source and target panes must be different"
    );
    program.prints(&["join-pane", "-d", "-v", "-b", "-s", &ids[1], "-t", &ids[0]]);
    assert_eq!(order(), format!("{} {}", ids[1], ids[0]));
    assert_eq!(program.prints(&["list-windows", "-F", "#{window_panes}"]), "2");
    program.prints(&["kill-pane", "-a", "-t", &ids[0]]);
    assert_eq!(order(), ids[0]);
}

#[test]
fn windows_are_opened_named_moved_and_selected() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let first = open(&fixture, &mut wire, "cat", &[]);
    let program = Program { fixture: &fixture, pane: Some(first.id) };
    program.prints(&["rename-window", "zero"]);
    program.prints(&["new-window", "-d", "-n", "one", "cat"]);
    program.prints(&["new-window", "-d", "-n", "two", "cat"]);
    let names = || program.prints(&["list-windows", "-F", "#I#W#F"]).replace('\n', " ");
    assert_eq!(names(), "0zero* 1one 2two");
    program.prints(&["select-window", "-t", ":two"]);
    assert_eq!(names(), "0zero- 1one 2two*");
    program.prints(&["last-window"]);
    assert_eq!(names(), "0zero* 1one 2two-");
    program.prints(&["next-window"]);
    program.prints(&["select-window", "-t", "0"]);
    program.prints(&["move-window", "-d", "-b", "-s", ":two", "-t", ":0"]);
    assert!(names().starts_with("0two"), "{}", names());
    program.prints(&["swap-window", "-d", "-s", ":one", "-t", ":two"]);
    assert!(names().starts_with("0one"), "{}", names());
    assert_eq!(program.fails(&["new-window", "-t", ":0"]), "create window failed: index 0 in use");
    assert_eq!(program.fails(&["select-window", "-t", "7"]), "can't find window: 7");
    program.prints(&["kill-window", "-t", ":one"]);
    program.prints(&["set-option", "-g", "base-index", "5"]);
    program.prints(&["new-window", "-d", "-n", "three", "cat"]);
    assert_eq!(names(), "1zero* 2two- 5three");
}

/// A session of 120×30 cells: the window `alpha` with two panes, `beta` with three, and `gamma`.
fn three_windows(program: &Program<'_>) {
    for line in [
        "new-session -d -s r -n alpha -x 120 -y 30 cat",
        "new-window -d -n beta -t r:1 cat",
        "new-window -d -n gamma -t r:2 cat",
        "split-window -d -t r:0 cat",
        "split-window -d -h -t r:1 cat",
        "split-window -d -t r:1.0 cat",
    ] {
        program.prints(&line.split(' ').collect::<Vec<_>>());
    }
}

#[test]
fn new_windows_have_the_size_of_their_session() {
    let fixture = Fixture::new();
    let program = Program { fixture: &fixture, pane: None };
    program.prints(&["new-session", "-d", "-s", "r", "-x", "90", "-y", "20", "cat"]);
    program.prints(&["new-window", "-d", "-t", "r:", "cat"]);
    let sizes = ["list-windows", "-t", "r", "-F", "#{window_width}x#{window_height}"];
    assert_eq!(program.prints(&sizes), "90x20\n90x20");
}

#[test]
fn wrong_sizes_and_targets_have_the_messages_of_tmux() {
    let fixture = Fixture::new();
    let program = Program { fixture: &fixture, pane: None };
    three_windows(&program);
    for (line, why) in [
        ("split-window -l x -t r:0.1", "lines invalid"),
        ("split-window -h -l -3 -t r:0.1", "lines too small"),
        ("split-window -l x% -t r:0.1", "percentage invalid"),
        ("split-window -p x -t r:0.1", "create pane failed: -p invalid"),
        ("join-pane -l 116% -s r:2.0 -t r:0.1", "size too large"),
        ("resize-pane -x -3 -t r:0.1", "width too small"),
        ("resize-pane -y 116% -t r:0.1", "height too large"),
        ("swap-pane -s r:4.0 -t r:5.0", "can't find window: 4"),
        ("join-pane -s r:1.7 -t r:5.0", "can't find pane: 7"),
        ("next-window -t s", "no next window"),
        ("previous-window -t s", "no previous window"),
        ("new-window -t %0", "can't specify pane here"),
        ("set-option -q -t r: base-index -1", "value is too small: -1"),
        ("set-option -t nothing status on", "no such session: nothing"),
    ] {
        if line.starts_with("next-window") {
            program.prints(&["new-session", "-d", "-s", "s", "cat"]);
        }
        assert_eq!(program.fails(&line.split(' ').collect::<Vec<_>>()), why, "{line}");
    }
    // Commands that don't need the target use the part of it that exists.
    for (target, session) in [("r:9.9", "r"), ("r:0.9", "r"), ("nothing:0", ""), ("%999", "")] {
        let line = ["display-message", "-p", "-t", target, "<#{session_name}>"];
        assert_eq!(program.prints(&line), format!("<{session}>"), "{target}");
    }
    program.prints(&["set-option", "-q", "-t", "nothing", "nothing", "on"]);
    // Lengths that no pane can have become the nearest possible ones.
    program.prints(&["split-window", "-d", "-l", "500", "-t", "r:2", "cat"]);
    program.prints(&["resize-pane", "-x", "0", "-t", "r:1.2"]);
    let sizes = |window| {
        let format = "#{pane_width}x#{pane_height}";
        program.prints(&["list-panes", "-t", window, "-F", format]).replace('\n', " ")
    };
    assert_eq!(sizes("r:2"), "120x1 120x28");
    // Each part of a split has at least 5 %.
    assert_eq!(sizes("r:1"), "113x15 113x14 6x30");
}

#[test]
fn swapped_panes_and_windows_have_the_focus_as_in_tmux() {
    let fixture = Fixture::new();
    let program = Program { fixture: &fixture, pane: None };
    three_windows(&program);
    let format = "#{?#{&&:#{window_active},#{pane_active}},<#I.#P>,#{?pane_active,#I.#P,}}";
    let active = || {
        let all = program.prints(&["list-panes", "-s", "-t", "r", "-F", format]);
        all.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(active(), "<0.0> 1.0 2.0");
    for (line, expected) in [
        // Both panes get the focus of their new windows.
        ("swap-pane -s r:0.1 -t r:1.2", "<0.1> 1.2 2.0"),
        ("swap-pane -s r:1.1 -t r:1.0", "<0.1> 1.1 2.0"),
        ("swap-pane -d -s r:0.1 -t r:1.0", "<0.1> 1.1 2.0"),
        ("swap-pane -d -s r:0.1 -t r:0.0", "<0.0> 1.1 2.0"),
        ("swap-window -d -s r:2 -t r:1", "0.0 <1.0> 2.1"),
        // Beside a window that does not exist.
        ("move-window -a -s r:1 -t r:7", "0.0 <2.0> 3.1"),
        ("new-window -a -d -t r:7 cat", "0.0 <2.0> 3.1 7.0"),
        ("select-window -t r:0", "<0.0> 2.0 3.1 7.0"),
        ("rotate-window -D -t r:0", "<0.0> 2.0 3.1 7.0"),
        ("rotate-window -t r:3", "<0.0> 2.0 3.1 7.0"),
        ("join-pane -s r:7.0 -t r:2.0", "0.0 <2.1> 3.1"),
        ("select-pane -t r:3.{left}", "0.0 <2.1> 3.0"),
        ("select-pane -t r:3.{right}", "0.0 <2.1> 3.2"),
        ("select-pane -t r:3.{bottom}", "0.0 <2.1> 3.1"),
    ] {
        program.prints(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(active(), expected, "{line}");
    }
}
