//! Tests of the tree of splits: examples first, then properties of any tree.

use super::*;

fn leaf(id: u64) -> Node {
    Node::Pane(PaneId(id))
}

fn split(axis: Axis, ratio: f32, first: Node, second: Node) -> Node {
    Node::Split { axis, ratio, first: Box::new(first), second: Box::new(second) }
}

/// Pane 0 on the left, 1 over 2 on the right.
fn three() -> Tab {
    Tab {
        id: TabId(0),
        root: split(Axis::Horizontal, 0.5, leaf(0), split(Axis::Vertical, 0.25, leaf(1), leaf(2))),
        focused: PaneId(0),
        zoomed: false,
        title: None,
    }
}

fn spacing(divider: u32) -> Spacing {
    Spacing { divider, ..Spacing::CELLS }
}

fn places(tab: &Tab, width: u32, height: u32, divider: u32) -> Vec<(u64, u32, u32, u32, u32)> {
    let area = Rect { x: 0, y: 0, width, height };
    tab.place(area, &spacing(divider))
        .into_iter()
        .map(|(pane, rect)| (pane.0, rect.x, rect.y, rect.width, rect.height))
        .collect()
}

#[test]
fn panes_share_the_area_without_its_dividers() {
    assert_eq!(
        places(&three(), 81, 41, 1),
        [(0, 0, 0, 40, 41), (1, 41, 0, 40, 10), (2, 41, 11, 40, 30)]
    );
}

#[test]
fn a_zoomed_pane_fills_the_tab() {
    let tab = Tab { zoomed: true, focused: PaneId(2), ..three() };
    assert_eq!(places(&tab, 81, 41, 1), [(2, 0, 0, 81, 41)]);
}

#[test]
fn panes_stay_inside_even_tiny_areas() {
    for size in 0..8 {
        for divider in 0..4 {
            for (.., x, y, width, height) in places(&three(), size, size, divider) {
                assert!(x + width <= size && y + height <= size);
            }
        }
    }
    assert!(places(&three(), 3, 3, 1).iter().all(|(.., width, height)| *width > 0 && *height > 0));
}

#[test]
fn panes_are_listed_in_reading_order() {
    assert_eq!(three().panes(), [PaneId(0), PaneId(1), PaneId(2)]);
}

#[test]
fn a_new_pane_halves_the_one_it_splits() {
    let mut tab = three();
    assert!(tab.root.split(PaneId(2), Axis::Horizontal, PaneId(3)));
    assert!(!tab.root.split(PaneId(9), Axis::Horizontal, PaneId(4)));
    assert_eq!(places(&tab, 83, 41, 1)[2..], [(2, 42, 11, 20, 30), (3, 63, 11, 20, 30)]);
}

#[test]
fn a_removed_panes_neighbor_gets_its_space_and_focus() {
    let mut tab = three();
    assert_eq!(tab.root.remove(PaneId(0)), Some(PaneId(1)));
    assert_eq!(tab.root, split(Axis::Vertical, 0.25, leaf(1), leaf(2)));
    assert_eq!(tab.root.remove(PaneId(2)), Some(PaneId(1)));
    assert_eq!(tab.root, leaf(1));
    assert_eq!(tab.root.remove(PaneId(1)), None);
    assert_eq!(tab.root.remove(PaneId(7)), None);
}

#[test]
fn the_nearest_pane_in_a_direction() {
    let from = |focused, direction| Tab { focused: PaneId(focused), ..three() }.neighbor(direction);
    // The lower right pane shares a longer edge with the focused pane.
    assert_eq!(from(0, Direction::Right), Some(PaneId(2)));
    assert_eq!(from(0, Direction::Left), None);
    assert_eq!(from(0, Direction::Up), None);
    assert_eq!(from(1, Direction::Left), Some(PaneId(0)));
    assert_eq!(from(1, Direction::Down), Some(PaneId(2)));
    assert_eq!(from(2, Direction::Up), Some(PaneId(1)));
    assert_eq!(from(2, Direction::Right), None);
}

#[test]
fn panes_that_touch_only_at_a_corner_are_not_neighbors() {
    let tab = Tab {
        root: split(
            Axis::Horizontal,
            0.5,
            split(Axis::Vertical, 0.5, leaf(0), leaf(1)),
            split(Axis::Vertical, 0.5, leaf(2), leaf(3)),
        ),
        ..three()
    };
    assert_eq!(tab.neighbor(Direction::Right), Some(PaneId(2)));
    assert_eq!(tab.neighbor(Direction::Down), Some(PaneId(1)));
}

/// In a window, the first part of a split contains padding and whole cells; the second part gets the remaining space.
#[test]
fn splits_snap_to_cells() {
    let mut tab = three();
    let spacing = Spacing { divider: 1, cell: (9, 19), padding: 8 };
    let area = Rect { x: 0, y: 28, width: 1003, height: 611 };
    for share in 5..95 {
        tab.root.set_ratio(&[], share as f32 / 100.0);
        let placed = tab.place(area, &spacing);
        let first = placed[0].1;
        assert_eq!((first.width - 16) % 9, 0, "at {share} %: {placed:?}");
        assert!(first.width.abs_diff((1002.0 * share as f32 / 100.0) as u32) <= 5);
        let dividers = tab.dividers(area, &spacing);
        assert_eq!(dividers[0].rect, Rect { x: first.width, width: 1, ..area });
        assert_eq!((dividers[0].path.len(), dividers[0].space), (0, area));
        assert_eq!(dividers[1].path, [true]);
        assert_eq!(dividers[1].axis, Axis::Vertical);
    }
    // Even without room for whole cells, every pane gets a part of the space.
    assert_eq!(tab.place(Rect { width: 30, ..area }, &spacing).len(), 3);
    tab.zoomed = true;
    assert!(tab.dividers(area, &spacing).is_empty());
}

#[test]
fn a_divider_is_set_by_its_path() {
    let mut tab = three();
    assert!(tab.root.set_ratio(&[true], 0.5));
    assert!(!tab.root.set_ratio(&[true], 0.5), "nothing changes");
    assert!(!tab.root.set_ratio(&[false], 0.5), "a pane has none");
    assert!(!tab.root.set_ratio(&[], f32::NAN));
    assert_eq!(places(&tab, 81, 41, 1)[1], (1, 41, 0, 40, 20));
}

#[test]
fn rotating_moves_panes_through_fixed_positions() {
    let mut tab = three();
    let before = places(&tab, 81, 41, 1);
    tab.focused = PaneId(0);
    tab.rotate(true);
    let after = places(&tab, 81, 41, 1);
    assert_eq!(after.iter().map(|place| place.0).collect::<Vec<_>>(), [2, 0, 1]);
    assert!(before.iter().zip(&after).all(|(a, b)| (a.1, a.2, a.3, a.4) == (b.1, b.2, b.3, b.4)));
    assert_eq!(tab.focused, PaneId(0));
    tab.rotate(false);
    assert_eq!(places(&tab, 81, 41, 1), before);
}

#[test]
fn equalizing_gives_panes_of_a_row_equal_space() {
    let mut tab = Tab::new(TabId(0), PaneId(0));
    for (pane, new) in [(0, 1), (1, 2), (2, 3)] {
        tab.root.split(PaneId(pane), Axis::Horizontal, PaneId(new));
    }
    tab.root.split(PaneId(3), Axis::Vertical, PaneId(4));
    tab.equalize();
    let widths: Vec<_> = places(&tab, 403, 41, 1).iter().map(|place| (place.3, place.4)).collect();
    assert!(widths.iter().all(|(width, _)| width.abs_diff(100) <= 1), "{widths:?}");
    assert_eq!((widths[3].1, widths[4].1), (20, 20));
}

#[test]
fn panes_are_swapped_in_a_tab_and_between_tabs() {
    let other = Tab::new(TabId(1), PaneId(7));
    let mut layout = Layout { tabs: vec![three(), other], active: 0 };
    layout.tabs[0].focused = PaneId(1);
    layout.swap(PaneId(1), PaneId(2));
    assert_eq!(layout.tabs[0].panes(), [0, 2, 1].map(PaneId));
    assert_eq!(layout.tabs[0].focused, PaneId(1), "the focus goes with its pane");
    layout.swap(PaneId(1), PaneId(7));
    assert_eq!(layout.tabs[0].panes(), [0, 2, 7].map(PaneId));
    assert_eq!((layout.tabs[0].focused, layout.tabs[1].focused), (PaneId(7), PaneId(1)));
}

#[test]
fn removing_the_last_pane_removes_its_tab() {
    let mut layout = Layout { tabs: vec![Tab::new(TabId(1), PaneId(7)), three()], active: 1 };
    assert_eq!(layout.take(PaneId(7)), Some((TabId(1), true)));
    assert_eq!((layout.tabs.len(), layout.active), (1, 0));
    let id = layout.tabs[0].id;
    assert_eq!(layout.take(PaneId(2)), Some((id, false)));
    assert_eq!(layout.take(PaneId(9)), None);
}

#[test]
fn the_innermost_divider_of_the_axis_moves() {
    let mut tab = three();
    assert!(tab.root.move_divider(PaneId(1), Axis::Vertical, 0.25));
    assert!(tab.root.move_divider(PaneId(1), Axis::Horizontal, -0.25));
    assert_eq!(
        places(&tab, 81, 41, 1),
        [(0, 0, 0, 20, 41), (1, 21, 0, 60, 20), (2, 21, 21, 60, 20)]
    );
    assert!(!tab.root.move_divider(PaneId(0), Axis::Vertical, 0.1));
    assert!(!tab.root.move_divider(PaneId(9), Axis::Horizontal, 0.1));
    assert!(!tab.root.move_divider(PaneId(0), Axis::Horizontal, f32::NAN));
    assert!(tab.root.move_divider(PaneId(0), Axis::Horizontal, 9.0));
    assert!(!tab.root.move_divider(PaneId(0), Axis::Horizontal, 9.0), "it is at its end");
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Step {
        Split(usize, Axis),
        Remove(usize),
        Move(usize, Axis, f32),
    }

    fn step() -> impl Strategy<Value = Step> {
        let axis = || prop_oneof![Just(Axis::Horizontal), Just(Axis::Vertical)];
        prop_oneof![
            3 => (any::<usize>(), axis()).prop_map(|(at, axis)| Step::Split(at, axis)),
            1 => any::<usize>().prop_map(Step::Remove),
            2 => (any::<usize>(), axis(), -2.0f32..2.0)
                .prop_map(|(at, axis, share)| Step::Move(at, axis, share)),
        ]
    }

    fn build(steps: &[Step]) -> Tab {
        let mut tab = Tab::new(TabId(0), PaneId(0));
        for (step, new) in steps.iter().zip(1..) {
            let panes = tab.panes();
            match step {
                Step::Split(at, axis) => {
                    assert!(tab.root.split(panes[at % panes.len()], *axis, PaneId(new)));
                }
                Step::Remove(at) => {
                    let pane = panes[at % panes.len()];
                    let heir = tab.root.remove(pane);
                    assert_eq!(heir.is_some(), panes.len() > 1);
                    let expected: Vec<_> = panes
                        .iter()
                        .copied()
                        .filter(|own| heir.is_none() || *own != pane)
                        .collect();
                    assert_eq!(tab.panes(), expected, "nothing but the pane goes");
                    assert!(heir.is_none_or(|heir| tab.root.contains(heir)));
                }
                Step::Move(at, axis, share) => {
                    tab.root.move_divider(panes[at % panes.len()], *axis, *share);
                }
            }
        }
        tab
    }

    fn overlap(one: Rect, two: Rect) -> bool {
        one.x < two.x + two.width
            && two.x < one.x + one.width
            && one.y < two.y + two.height
            && two.y < one.y + one.height
    }

    proptest! {
        #[test]
        fn panes_tile_the_area(
            steps in prop::collection::vec(step(), 0..24),
            width in 0u32..300, height in 0u32..300, divider in 0u32..3,
        ) {
            let tab = build(&steps);
            let placed = tab.place(Rect { x: 7, y: 3, width, height }, &spacing(divider));
            let panes: Vec<_> = placed.iter().map(|(pane, _)| *pane).collect();
            prop_assert_eq!(panes, tab.panes());
            for (index, (_, rect)) in placed.iter().enumerate() {
                prop_assert!(rect.x >= 7 && rect.x + rect.width <= 7 + width);
                prop_assert!(rect.y >= 3 && rect.y + rect.height <= 3 + height);
                for (_, other) in &placed[index + 1..] {
                    prop_assert!(!overlap(*rect, *other), "{rect:?} {other:?}");
                }
            }
            if divider == 0 {
                let covered: u32 = placed.iter().map(|(_, rect)| rect.width * rect.height).sum();
                prop_assert_eq!(covered, width * height);
            }
        }

        #[test]
        fn moving_to_a_neighbor_and_back_returns(steps in prop::collection::vec(step(), 0..24)) {
            let tab = build(&steps);
            for pane in tab.panes() {
                let at = Tab { focused: pane, ..tab.clone() };
                for (there, back) in [
                    (Direction::Left, Direction::Right),
                    (Direction::Right, Direction::Left),
                    (Direction::Up, Direction::Down),
                    (Direction::Down, Direction::Up),
                ] {
                    if let Some(next) = at.neighbor(there) {
                        prop_assert_ne!(next, pane);
                        let from = Tab { focused: next, ..tab.clone() };
                        prop_assert!(from.neighbor(back).is_some());
                    }
                }
            }
        }
    }
}
