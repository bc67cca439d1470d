use unterm_mux::{Node, PaneId, Rect};

use super::*;
use crate::dialect::tmux::{methods::Listing, world::Session};

/// Two sessions: `main` with the windows `shell` and `editor` (two panes), and `other` with one window.
fn world() -> World {
    let pane = |id: u64, index: u64, x: u32, width: u32| PlacedPane {
        id,
        index,
        rect: Rect { x, y: 0, width, height: 24 },
        row: 0,
    };
    let window = |id: u64, index: u64, name: &str, panes: Vec<PlacedPane>| Window {
        id,
        index,
        name: name.to_owned(),
        area: (80, 24),
        root: Node::Pane(PaneId(panes[0].id)),
        is_zoomed: false,
        active: panes[0].id,
        last: panes.get(1).map(|pane| pane.id),
        panes,
    };
    let session = |id: u64, name: &str, windows: Vec<Window>| Session {
        id,
        name: name.to_owned(),
        created: 0,
        is_attached: id == 0,
        clients: 0,
        current: windows.len() - 1,
        stack: if windows.len() > 1 { vec![0] } else { Vec::new() },
        group: None,
        windows,
        cwd: String::new(),
    };
    let editor = vec![pane(1, 0, 0, 40), pane(2, 1, 41, 39)];
    let windows =
        vec![window(10, 0, "shell", vec![pane(0, 0, 0, 80)]), window(11, 1, "editor", editor)];
    let other = vec![window(12, 0, "logs", vec![pane(3, 0, 0, 80)])];
    World {
        sessions: vec![session(0, "main", windows), session(4, "other", other)],
        listing: Listing {
            instance: "alpha".to_owned(),
            socket: String::new(),
            pid: 1,
            has_window: false,
            tabs: Vec::new(),
            active: Some(11),
            panes: Vec::new(),
        },
        seen: Some(0),
        marked: Some(3),
        next_session: 5,
        started: 0,
        rows: Vec::new(),
    }
}

/// The number of the pane that a text names, from the first pane of the window `editor`.
fn pane(kind: TargetKind, text: &str) -> Result<u64, String> {
    let world = world();
    let current = world.current(Some(1)).unwrap();
    find(&world, kind, Some(text), current).map(|target| world.place(target).id)
}

#[test]
fn ids_names_numbers_and_offsets_are_found() {
    use TargetKind::{Pane, Session, Window};
    for (kind, text, expected) in [
        (Pane, "", 1),
        (Pane, "%2", 2),
        (Pane, "%3", 3),
        (Pane, "@10", 0),
        (Pane, "$4", 3),
        (Pane, "1", 2),
        (Pane, ".1", 2),
        (Pane, "+", 2),
        (Pane, "-1", 2),
        (Pane, "!", 2),
        (Pane, "{last}", 2),
        (Pane, "{right}", 2),
        (Pane, "{left-of}", 2),
        (Pane, "{marked}", 3),
        (Pane, "~", 3),
        (Pane, "shell", 0),
        (Pane, "other", 3),
        (Pane, "main:editor.1", 2),
        (Pane, "main:0.0", 0),
        (Pane, ":0", 0),
        (Pane, "other:", 3),
        (Pane, "editor.+1", 2),
        (Window, "shell", 0),
        (Window, "sh", 0),
        (Window, "s*l", 0),
        (Window, "=shell", 0),
        (Window, "0", 0),
        (Window, "^", 0),
        (Window, "{end}", 1),
        (Window, "!", 0),
        (Window, "-", 0),
        (Window, "{next}", 0),
        (Window, "@12", 3),
        (Window, "%2", 2),
        (Window, "other", 3),
        (Session, "other", 3),
        (Session, "oth", 3),
        (Session, "=main", 1),
        (Session, "$0", 1),
        (Session, "main:shell", 0),
    ] {
        assert_eq!(pane(kind, text), Ok(expected), "{kind:?} {text}");
    }
}

#[test]
fn missing_targets_are_reported_with_tmuxs_message() {
    use TargetKind::{Pane, Session, Window};
    for (kind, text, expected) in [
        (Pane, "%9", "can't find pane: %9"),
        (Pane, "%x", "can't find pane: %x"),
        (Pane, "foo", "can't find pane: foo"),
        (Pane, "main:9", "can't find window: 9"),
        (Pane, "main:1.9", "can't find pane: 9"),
        (Pane, "none:1", "can't find session: none"),
        (Pane, "=", "no mouse target"),
        (Window, "@9", "can't find window: @9"),
        (Window, "=sh", "can't find window: sh"),
        (Window, "foo", "can't find window: foo"),
        (Session, "=mai", "can't find session: mai"),
        (Session, "$9", "can't find session: $9"),
    ] {
        assert_eq!(pane(kind, text), Err(expected.to_owned()), "{kind:?} {text}");
    }
}

#[test]
fn a_new_window_has_a_session_and_maybe_a_number() {
    let world = world();
    let current = world.current(Some(1)).unwrap();
    let index = |text| find_index(&world, text, current);
    assert_eq!(index(None), Ok((0, None)));
    assert_eq!(index(Some("other:")), Ok((1, None)));
    assert_eq!(index(Some("other")), Ok((1, None)));
    assert_eq!(index(Some(":7")), Ok((0, Some(7))));
    assert_eq!(index(Some("7")), Ok((0, Some(7))));
    assert_eq!(index(Some("other:0")), Ok((1, Some(0))));
    assert_eq!(index(Some("shell")), Ok((0, Some(0))));
    assert_eq!(index(Some("@12")), Ok((1, Some(0))));
    // An offset counts free numbers, too.
    assert_eq!(index(Some("+3")), Ok((0, Some(4))));
    assert_eq!(index(Some("main:+")), Ok((0, Some(2))));
    assert_eq!(index(Some(":-1")), Ok((0, Some(0))));
    assert_eq!(index(Some(":-2")), Err("can't find window: -2".to_owned()));
    assert_eq!(index(Some(":4294967296")), Err("can't find window: 4294967296".to_owned()));
    assert_eq!(index(Some("none:1")), Err("can't find session: none".to_owned()));
    assert_eq!(index(Some(":x")), Err("can't find window: x".to_owned()));
    for text in ["nothing:9.9", "%0"] {
        assert_eq!(index(Some(text)), Err("can't specify pane here".to_owned()));
    }
}

#[test]
fn the_part_of_a_target_that_exists_is_found() {
    let world = world();
    let current = world.current(Some(1)).unwrap();
    let part = |text: &str| {
        find_part(&world, TargetKind::Pane, Some(text), current).map(|at| world.place(at).id)
    };
    // The current window of the session, whose active pane is the first one.
    assert_eq!(part("main:9.1"), Some(1));
    assert_eq!(part("other:9"), Some(3));
    assert_eq!(part(":9"), Some(1));
    assert_eq!(part("main:shell.7"), Some(0));
    assert_eq!(part("main:editor.1"), Some(2));
    for text in ["nothing:0.0", "@99", "%99", "nothing", "="] {
        assert_eq!(part(text), None, "{text}");
    }
}

proptest::proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "[%@$:.!^~+={}a-z0-9*-]{0,14}") {
        for kind in [TargetKind::Session, TargetKind::Window, TargetKind::Pane] {
            let _ = pane(kind, &text);
        }
        let world = world();
        let current = world.current(None).unwrap();
        let _ = find_index(&world, Some(&text), current);
    }
}
