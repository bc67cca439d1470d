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
    assert_eq!(names(), "1zero- 2two* 5three");
}
