//! Tabs and splits of panes with real programs.

use std::sync::Arc;

use crate::common::{self, Ear, headless, open, sh};
use unterm_mux::{
    Axis, Direction, Mux, MuxError, MuxEvent, MuxOptions, Node, OnExit, Pane, PaneId, PaneState,
    PaneTree, Rect, Spacing, Spawn, TabId,
};
use unterm_term::Size;

const SLEEP: &str = "exec sleep 300";

fn split(mux: &Mux, pane: &Pane, axis: Axis) -> Arc<Pane> {
    mux.split(pane.id(), axis, sh(SLEEP), OnExit::Close).unwrap()
}

fn size(pane: &Pane) -> (u16, u16) {
    let size = pane.term().size();
    (size.cols, size.rows)
}

fn tabs(mux: &Mux) -> (Vec<u64>, usize) {
    let layout = mux.layout();
    (layout.tabs.iter().map(|tab| tab.root_pane()).collect(), layout.active)
}

trait RootPane {
    fn root_pane(&self) -> u64;
}

impl RootPane for unterm_mux::Tab {
    fn root_pane(&self) -> u64 {
        self.panes()[0].0
    }
}

#[test]
fn a_tab_opens_after_the_active_one() {
    let mux = headless();
    let first = open(&mux, SLEEP);
    let second = open(&mux, SLEEP);
    mux.activate_tab(mux.layout().tabs[0].id).unwrap();
    let third = open(&mux, SLEEP);
    assert_eq!(tabs(&mux), (vec![first.id().0, third.id().0, second.id().0], 1));
    mux.open_hidden(sh(SLEEP), Size::cells(5, 5)).unwrap();
    let fourth = split(&mux, &first, Axis::Vertical);
    let listed: Vec<PaneId> = mux.panes().iter().map(|pane| pane.id()).collect();
    assert_eq!(listed, [first.id(), second.id(), third.id(), fourth.id()]);
    mux.shutdown();
    assert!(mux.panes().is_empty());
}

#[test]
fn closing_activates_what_takes_the_tabs_place() {
    let mux = headless();
    let panes: Vec<_> = (0..4).map(|_| open(&mux, SLEEP)).collect();
    let ids = |range: &[usize]| range.iter().map(|index| panes[*index].id().0).collect::<Vec<_>>();
    mux.focus(panes[2].id()).unwrap();
    mux.close_pane(panes[0].id()).unwrap();
    assert_eq!(tabs(&mux), (ids(&[1, 2, 3]), 1), "the active tab stays");
    mux.close_tab(mux.layout().tabs[1].id).unwrap();
    assert_eq!(tabs(&mux), (ids(&[1, 3]), 1), "the next one comes");
    mux.close_pane(panes[3].id()).unwrap();
    assert_eq!(tabs(&mux), (ids(&[1]), 0), "there is none behind");
    assert!(mux.close_tab(TabId(99)).is_err());
    assert!(mux.activate_tab(TabId(99)).is_err());
    mux.shutdown();
}

#[test]
fn a_close_can_be_undone_while_the_program_runs() {
    let mux = headless();
    let ear = Ear::new(&mux);
    let first = open(&mux, SLEEP);
    let second = mux.open_tab(sh("exec cat"), None, OnExit::Close).unwrap();
    let beside = split(&mux, &second, Axis::Horizontal);
    let before = mux.layout();
    // The pane returns to its former place in the tab.
    assert!(mux.close_undoably(&[beside.id()]));
    assert!(mux.pane(beside.id()).is_none(), "nothing else finds it");
    assert_eq!(beside.state(), PaneState::Removed, "also where a call has it");
    ear.wait_for(&MuxEvent::PaneRemoved(beside.id()));
    assert!(mux.undo_close());
    assert_eq!((mux.layout(), beside.state()), (before, PaneState::Running));
    // If the tab has changed, the pane returns beside the focused pane.
    mux.close_undoably(&[beside.id()]);
    let new = split(&mux, &second, Axis::Vertical);
    assert!(mux.undo_close());
    assert_eq!(mux.layout().tabs[1].panes().len(), 3);
    assert_eq!(mux.layout().tabs[1].focused, beside.id());
    // A tab returns with its panes. A program that has ended since is left out.
    mux.close_undoably(&mux.layout().tabs[1].panes());
    assert_eq!(tabs(&mux), (vec![first.id().0], 0));
    beside.process().kill();
    common::wait(&beside, "its end", |pane| pane.process().exit_status().is_some());
    assert!(mux.undo_close());
    let is_left_out = || mux.layout().tabs[1].panes() == [second.id(), new.id()];
    common::wait(&beside, "its removal", |_| is_left_out());
    assert!(mux.pane(second.id()).is_some());
    second.write(b"still here\r").unwrap();
    common::wait_text(&second, "still here");
    assert!(!mux.undo_close(), "nothing is left");
    // When the time for undoing has passed, the program is ended.
    mux.close_undoably(&[second.id()]);
    mux.end_closed(std::time::Duration::from_secs(3600));
    assert_eq!(second.process().exit_status(), None);
    mux.end_closed(std::time::Duration::ZERO);
    assert!(!mux.undo_close());
    mux.close_undoably(&[new.id()]);
    mux.shutdown();
    for pane in [second, new] {
        assert!(pane.process().exit_status().is_some(), "no program outlives the mux");
    }
}

#[test]
fn tabs_move() {
    let mux = headless();
    let panes: Vec<_> = (0..3).map(|_| open(&mux, SLEEP)).collect();
    let id = |index: usize| panes[index].id().0;
    let first = mux.layout().tabs[0].id;
    mux.move_tab(first, 99).unwrap();
    assert_eq!(tabs(&mux), (vec![id(1), id(2), id(0)], 1), "the active one is active still");
    mux.move_tab(first, 0).unwrap();
    assert_eq!(tabs(&mux), (vec![id(0), id(1), id(2)], 2));
    assert!(mux.move_tab(TabId(99), 0).is_err());
    mux.shutdown();
}

#[test]
fn without_a_window_the_mux_divides_the_cells() {
    let mux = headless();
    let first = open(&mux, SLEEP);
    let second = split(&mux, &first, Axis::Horizontal);
    assert_eq!((size(&first), size(&second)), ((40, 24), (39, 24)));
    let third = split(&mux, &second, Axis::Vertical);
    assert_eq!((size(&second), size(&third)), ((39, 12), (39, 11)));
    assert!(mux.resize_split(third.id(), Direction::Up, 0.25));
    assert_eq!((size(&second), size(&third)), ((39, 6), (39, 17)));
    mux.toggle_zoom();
    assert_eq!((size(&third), size(&first)), ((80, 24), (40, 24)));
    mux.toggle_zoom();
    assert_eq!(size(&third), (39, 17));
    mux.close_pane(first.id()).unwrap();
    assert_eq!((size(&second), size(&third)), ((80, 6), (80, 17)));
    mux.close_pane(third.id()).unwrap();
    assert_eq!(size(&second), (80, 24));
    mux.shutdown();
}

#[test]
fn a_pane_without_room_for_two_is_not_split() {
    let mux = headless();
    let first = mux.open_tab(sh(SLEEP), Some(Size::cells(8, 5)), OnExit::Close).unwrap();
    let refused = |pane: &Pane, axis: Axis| {
        let split = mux.split(pane.id(), axis, sh(SLEEP), OnExit::Close);
        let along = (pane.id(), axis);
        matches!(split, Err(MuxError::NoRoom { pane, axis }) if (pane, axis) == along)
    };
    assert!(refused(&first, Axis::Horizontal) && !mux.has_room(first.id(), Axis::Horizontal));
    let below = split(&mux, &first, Axis::Vertical);
    assert!(refused(&below, Axis::Vertical));
    assert_eq!(mux.panes().len(), 2, "no program is left of what was refused");
    // A pane of another tab can't move there either.
    let other = open(&mux, SLEEP);
    let moved = mux.move_to_tab(other.id(), mux.layout().tabs[0].id);
    assert!(matches!(moved, Err(MuxError::NoRoom { .. })), "{moved:?}");
    assert_eq!(mux.layout().tabs.len(), 2);
    mux.shutdown();
}

#[test]
fn in_a_window_its_space_says_whether_there_is_room() {
    let mux = Mux::new(MuxOptions { sized_by_window: true, ..MuxOptions::default() });
    let first = open(&mux, SLEEP);
    assert!(mux.has_room(first.id(), Axis::Horizontal), "nobody has said what space there is");
    let spacing = Spacing { divider: 1, cell: (10, 20), padding: 8 };
    let window = |width: u32| {
        mux.set_space(Rect { x: 0, y: 0, width, height: 400 }, spacing);
        mux.has_room(first.id(), Axis::Horizontal)
    };
    // The minimum width: two panes of four columns with padding on both sides, and the divider between them.
    assert!(window(2 * 56 + 1));
    assert!(!window(2 * 56));
    let split = mux.split(first.id(), Axis::Horizontal, sh(SLEEP), OnExit::Close);
    assert!(matches!(split, Err(MuxError::NoRoom { .. })));
    mux.shutdown();
}

#[test]
fn a_program_starts_in_the_size_it_will_have() {
    let mux = headless();
    let first = open(&mux, SLEEP);
    let script = sh("trap 'echo resized' WINCH; stty size; read line; echo done");
    let second = mux.split(first.id(), Axis::Horizontal, script, OnExit::Hold).unwrap();
    common::wait_text(&second, "24 39");
    second.write(b"\r").unwrap();
    common::wait_end(&second);
    assert!(!common::screen(&second).iter().any(|row| row == "resized"));
    mux.shutdown();
}

/// A tab that is split in a pane at the left, and two panes one above the other at the right.
fn tree(spawn: impl Fn() -> Spawn) -> PaneTree {
    let pane = || Box::new(PaneTree::Pane(spawn()));
    let right = PaneTree::Split { axis: Axis::Vertical, ratio: 0.5, first: pane(), second: pane() };
    let second = Box::new(right);
    PaneTree::Split { axis: Axis::Horizontal, ratio: 0.25, first: pane(), second }
}

#[test]
fn programs_of_a_split_tab_start_in_the_sizes_they_will_have() {
    let script = || sh("trap 'echo resized' WINCH; stty size; read line; echo done");
    let spacing = Spacing { divider: 1, cell: (8, 16), padding: 4 };
    for sized_by_window in [false, true] {
        let default_size = Size::cells(80, 24);
        let mux = Mux::new(MuxOptions { default_size, sized_by_window, ..MuxOptions::default() });
        mux.set_space(Rect { x: 0, y: 0, width: 800, height: 600 }, spacing);
        // The second tab makes a bar appear.
        let area = Rect { x: 0, y: 30, width: 800, height: 570 };
        mux.set_space_of_new_tab(area);
        let opened = mux.open_tree(tree(script), true, OnExit::Hold, |_, _| None).unwrap();
        let layout = mux.layout();
        let tab = &layout.tabs[0];
        assert_eq!((tab.id, tab.focused), (opened.tab, tab.panes()[0]));
        let panes: Vec<_> = opened.panes.into_iter().flatten().collect();
        let sizes: Vec<_> = panes.iter().map(|pane| size(pane)).collect();
        match sized_by_window {
            false => assert_eq!(sizes, [(20, 24), (59, 12), (59, 11)]),
            true => {
                let placed = tab.place(area, &spacing);
                let grids = placed.iter().map(|(_, area)| spacing.grid(*area));
                let grids: Vec<_> = grids.map(|grid| (grid.cols, grid.rows)).collect();
                assert_eq!(sizes, grids);
            }
        }
        for (pane, (columns, rows)) in panes.iter().zip(sizes) {
            common::wait_text(pane, &format!("{rows} {columns}"));
            pane.write(b"\r").unwrap();
            common::wait_end(pane);
            assert!(!common::screen(pane).iter().any(|row| row == "resized"));
        }
        mux.shutdown();
    }
}

#[test]
fn a_program_of_a_split_that_fails_to_start_is_replaced() {
    let mux = headless();
    let first = open(&mux, SLEEP);
    let gone = || common::run("/nonexistent", &[]);
    let mut tried = 0;
    // The first program is replaced, and the second one is left out.
    let opened = mux.open_tree(tree(gone), false, OnExit::Close, |_, spawn| {
        tried += 1;
        (tried != 2 && spawn.program != sh(SLEEP).program).then(|| sh(SLEEP))
    });
    let opened = opened.unwrap();
    let there: Vec<_> = opened.panes.iter().map(Option::is_some).collect();
    assert_eq!((there, tried), (vec![true, false, true], 3));
    let layout = mux.layout();
    assert_eq!((layout.active, layout.tabs[0].focused), (0, first.id()));
    assert_eq!(layout.tabs[1].panes().len(), 2);
    let sizes: Vec<_> = opened.panes.iter().flatten().map(|pane| size(pane)).collect();
    assert_eq!(sizes, [(20, 24), (59, 24)]);
    let none = mux.open_tree(tree(gone), true, OnExit::Close, |_, _| None);
    assert!(matches!(none, Err(MuxError::Spawn(_))));
    assert_eq!(mux.layout().tabs.len(), 2);
    mux.shutdown();
}

#[test]
fn a_pinned_pane_keeps_its_size_until_it_is_given_back() {
    let mux = headless();
    let pinned = mux.open_tab(sh(SLEEP), Some(Size::cells(100, 50)), OnExit::Close).unwrap();
    assert!(pinned.is_pinned());
    let other = split(&mux, &pinned, Axis::Horizontal);
    assert_eq!((size(&pinned), size(&other)), ((100, 50), (49, 50)));
    pinned.set_pinned(false);
    assert_eq!(size(&pinned), (50, 50));
    mux.shutdown();
}

#[test]
fn a_tab_in_the_background_leaves_the_active_one_active() {
    let mux = headless();
    let first = open(&mux, SLEEP);
    let second = open(&mux, SLEEP);
    mux.focus(first.id()).unwrap();
    let behind = mux.open_tab_in_background(sh(SLEEP), None, OnExit::Close).unwrap();
    let layout = mux.layout();
    let order: Vec<_> = layout.tabs.iter().map(|tab| tab.focused).collect();
    assert_eq!(order, [first.id(), second.id(), behind.id()]);
    assert_eq!(layout.active, 0);
    mux.shutdown();
}

#[test]
fn in_a_window_only_the_window_sizes() {
    let mux = Mux::new(MuxOptions { sized_by_window: true, ..MuxOptions::default() });
    let first = open(&mux, SLEEP);
    assert_eq!(size(&first), (120, 30));
    first.resize(Size { cols: 101, rows: 41, cell_width: 9, cell_height: 18 });
    let second = split(&mux, &first, Axis::Horizontal);
    assert_eq!((size(&first), size(&second)), ((101, 41), (50, 41)), "the window comes later");
    mux.shutdown();
}

#[test]
fn in_a_window_new_panes_start_in_the_size_they_will_have() {
    let mux = Mux::new(MuxOptions { sized_by_window: true, ..MuxOptions::default() });
    let spacing = Spacing { divider: 1, cell: (10, 20), padding: 8 };
    for (width, height) in [(816, 496), (1023, 777)] {
        let space = Rect { x: 0, y: 28, width, height };
        mux.set_space(space, spacing);
        let first = open(&mux, SLEEP);
        let grid = ((width - 16) / 10, (height - 16) / 20);
        assert_eq!(
            first.term().size(),
            Size { cols: grid.0 as u16, rows: grid.1 as u16, cell_width: 10, cell_height: 20 }
        );
        // After each split, the new pane's terminal has the size of its area.
        for axis in [Axis::Horizontal, Axis::Vertical, Axis::Horizontal] {
            let tab = mux.layout().active_tab().unwrap().focused;
            let new = mux.split(tab, axis, sh(SLEEP), OnExit::Close).unwrap();
            let placed = mux.layout().active_tab().unwrap().place(space, &spacing);
            let (_, area) = placed.into_iter().find(|(id, _)| *id == new.id()).unwrap();
            assert_eq!(new.term().size(), spacing.grid(area), "{axis:?} in {width}×{height}");
        }
    }
    mux.shutdown();
}

#[test]
fn focus_goes_where_it_is_sent() {
    let mux = headless();
    let ear = Ear::new(&mux);
    let left = open(&mux, SLEEP);
    let right = split(&mux, &left, Axis::Horizontal);
    let below = split(&mux, &right, Axis::Vertical);
    let focused = || mux.layout().active_tab().unwrap().focused;
    assert_eq!(focused(), below.id());
    assert!(mux.focus_direction(Direction::Up));
    assert_eq!(focused(), right.id());
    assert!(mux.focus_direction(Direction::Left));
    assert_eq!(focused(), left.id());
    assert!(!mux.focus_direction(Direction::Left));
    assert!(!mux.focus_direction(Direction::Down));

    mux.toggle_zoom();
    assert!(mux.layout().active_tab().unwrap().zoomed);
    assert!(mux.focus_direction(Direction::Right));
    assert!(!mux.layout().active_tab().unwrap().zoomed);

    let other = open(&mux, SLEEP);
    assert_eq!(focused(), other.id());
    mux.toggle_zoom();
    assert!(!mux.layout().active_tab().unwrap().zoomed, "there is nothing to cover");
    mux.focus(below.id()).unwrap();
    assert_eq!((mux.layout().active, focused()), (0, below.id()));
    let layouts = || ear.all().iter().filter(|event| **event == MuxEvent::Layout).count();
    let before = layouts();
    mux.focus(below.id()).unwrap();
    assert_eq!(layouts(), before, "nothing has changed");
    assert!(mux.focus(PaneId(99)).is_err());
    mux.shutdown();
}

#[test]
fn a_split_pane_that_ends_gives_its_space_and_focus_back() {
    let mux = headless();
    let ear = Ear::new(&mux);
    let left = open(&mux, SLEEP);
    let right = mux.split(left.id(), Axis::Horizontal, sh("read line"), OnExit::Close).unwrap();
    assert_eq!(size(&left), (40, 24));
    right.write(b"\r").unwrap();
    ear.wait_for(&MuxEvent::PaneRemoved(right.id()));
    common::wait(&left, "its space", |left| size(left) == (80, 24));
    assert_eq!(mux.layout().active_tab().unwrap().focused, left.id());
    assert!(!ear.has(&MuxEvent::Empty));
    mux.shutdown();
    assert!(ear.has(&MuxEvent::Empty));
}

#[test]
fn a_hidden_pane_has_no_place() {
    let mux = headless();
    let hidden = mux.open_hidden(sh(SLEEP), Size::cells(33, 11)).unwrap();
    assert_eq!(size(&hidden), (33, 11));
    assert!(mux.panes().is_empty() && mux.layout().tabs.is_empty());
    assert!(mux.focus(hidden.id()).is_err());
    assert!(mux.split(hidden.id(), Axis::Vertical, sh(SLEEP), OnExit::Close).is_err());
    assert!(mux.pane(hidden.id()).is_some());
    mux.close_pane(hidden.id()).unwrap();
    assert!(mux.pane(hidden.id()).is_none());
    mux.shutdown();
}

#[test]
fn many_callers_at_once_leave_a_layout_that_holds_together() {
    let mux = headless();
    let ear = Ear::new(&mux);
    let first = open(&mux, SLEEP);
    std::thread::scope(|scope| {
        for caller in 0..4usize {
            let (mux, first) = (&mux, &first);
            scope.spawn(move || {
                let axes = [Axis::Horizontal, Axis::Vertical];
                for step in 0..40 {
                    let panes = mux.panes();
                    let some = panes.get((caller * 7 + step * 3) % panes.len()).unwrap_or(first);
                    // Each call may fail, because another thread may have closed the pane.
                    match (caller + step) % 8 {
                        0 | 1 => drop(mux.open_tab(sh(SLEEP), None, OnExit::Close)),
                        2 | 3 => {
                            let script = if step % 2 == 0 { SLEEP } else { "true" };
                            drop(mux.split(some.id(), axes[step % 2], sh(script), OnExit::Close));
                        }
                        4 => drop(mux.focus(some.id())),
                        5 => drop(mux.resize_split(some.id(), Direction::Left, 0.1)),
                        6 => mux.toggle_zoom(),
                        _ if some.id() != first.id() => drop(mux.close_pane(some.id())),
                        _ => some.resize(Size::cells(20, 10)),
                    }
                }
            });
        }
    });
    // Panes of short-lived programs close on their own.
    let opened: Vec<PaneId> = ear
        .all()
        .iter()
        .filter_map(|event| match event {
            MuxEvent::PaneExited(id) => Some(*id),
            _ => None,
        })
        .collect();
    for id in opened {
        ear.wait_for(&MuxEvent::PaneRemoved(id));
    }
    let layout = mux.layout();
    for tab in &layout.tabs {
        let panes = tab.panes();
        assert!(panes.contains(&tab.focused), "{tab:?}");
        assert!(!tab.zoomed || panes.len() > 1, "{tab:?}");
        for pane in panes {
            let others = layout.tabs.iter().filter(|other| other.panes().contains(&pane));
            assert_eq!(others.count(), 1, "{pane:?}");
        }
    }
    assert!(layout.active < layout.tabs.len());
    mux.shutdown();
    assert!(mux.panes().is_empty() && mux.layout().tabs.is_empty());
    let events = ear.all();
    let count = |what: fn(&MuxEvent) -> bool| events.iter().filter(|event| what(event)).count();
    assert_eq!(
        count(|event| matches!(event, MuxEvent::PaneOpened(_))),
        count(|event| matches!(event, MuxEvent::PaneRemoved(_)))
    );
    assert!(events.contains(&MuxEvent::Empty));
}

#[test]
fn a_respawned_pane_keeps_its_id_place_and_name() {
    let mux = headless();
    let first = open(&mux, SLEEP);
    let right = split(&mux, &first, Axis::Horizontal);
    right.set_name("worker");
    let layout = mux.layout();
    let again = sh("echo pane $NUMBER; exec sleep 300");
    let again =
        unterm_mux::Spawn { numbered: vec![("NUMBER".to_owned(), "no. ".to_owned())], ..again };
    let new = mux.respawn(right.id(), again, OnExit::Close).unwrap();
    assert_eq!((new.id(), size(&new)), (right.id(), size(&right)));
    assert_eq!(new.title(), "worker");
    assert_eq!(*mux.layout(), *layout);
    common::wait_text(&new, &format!("pane no. {}", new.id().0));
    assert_eq!(right.state(), PaneState::Removed);
    assert!(Arc::ptr_eq(&mux.pane(right.id()).unwrap(), &new));
    let missing = common::run("/no/such/program", &[]);
    assert!(mux.respawn(first.id(), missing, OnExit::Close).is_err());
    assert_eq!(first.state(), PaneState::Running);
    assert!(mux.respawn(PaneId(99), sh("true"), OnExit::Close).is_err());
    mux.shutdown();
}

#[test]
fn a_pane_that_holds_failures_stays_only_after_one() {
    let mux = headless();
    let ear = Ear::new(&mux);
    let failed = open(&mux, "read line; exit 3");
    let done = open(&mux, "read line; exit 0");
    for pane in [&failed, &done] {
        pane.set_on_exit(OnExit::HoldFailed);
        pane.write(b"\r").unwrap();
    }
    ear.wait_for(&MuxEvent::PaneRemoved(done.id()));
    ear.wait_for(&MuxEvent::PaneExited(failed.id()));
    assert!(mux.pane(failed.id()).is_some());
    mux.shutdown();
}

#[test]
fn an_arrangement_contains_each_pane_of_the_tab_once() {
    let mux = headless();
    let first = open(&mux, SLEEP);
    let second = split(&mux, &first, Axis::Horizontal);
    let tab = mux.layout().tabs[0].id;
    let (one, two) = (Node::Pane(first.id()), Node::Pane(second.id()));
    let stacked = |first: &Node, second: &Node, ratio| Node::Split {
        axis: Axis::Vertical,
        ratio,
        first: Box::new(first.clone()),
        second: Box::new(second.clone()),
    };
    mux.arrange(tab, stacked(&two, &one, 0.25), first.id(), false).unwrap();
    assert_eq!((size(&second), size(&first)), ((80, 6), (80, 17)));
    assert_eq!(mux.layout().tabs[0].focused, first.id());
    let before = mux.layout();
    for wrong in [one.clone(), stacked(&one, &one, 0.5), stacked(&one, &Node::Pane(PaneId(9)), 0.5)]
    {
        let error = mux.arrange(tab, wrong, first.id(), false).unwrap_err();
        assert!(matches!(error, MuxError::OtherPanes(_)), "{error}");
    }
    assert_eq!(*mux.layout(), *before);
    mux.arrange(tab, stacked(&one, &two, f32::NAN), second.id(), true).unwrap();
    assert!(mux.layout().tabs[0].zoomed);
    mux.shutdown();
}
