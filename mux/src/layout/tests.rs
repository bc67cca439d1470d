//! The tree of splits: examples first, then what holds for any tree.

use super::*;

fn leaf(id: u64) -> Node {
    Node::Pane(PaneId(id))
}

fn split(axis: Axis, ratio: f32, first: Node, second: Node) -> Node {
    Node::Split { axis, ratio, first: Box::new(first), second: Box::new(second) }
}

/// 0 | 1 over 2, the left half of both.
fn three() -> Tab {
    Tab {
        id: TabId(0),
        root: split(Axis::Horizontal, 0.5, leaf(0), split(Axis::Vertical, 0.25, leaf(1), leaf(2))),
        focused: PaneId(0),
        zoomed: false,
        title: None,
    }
}

fn places(tab: &Tab, width: u32, height: u32, divider: u32) -> Vec<(u64, u32, u32, u32, u32)> {
    let area = Rect { x: 0, y: 0, width, height };
    tab.place(area, divider)
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
fn a_zoomed_pane_has_everything() {
    let tab = Tab { zoomed: true, focused: PaneId(2), ..three() };
    assert_eq!(places(&tab, 81, 41, 1), [(2, 0, 0, 81, 41)]);
}

#[test]
fn no_area_is_too_small() {
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
fn panes_come_in_reading_order() {
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
fn a_removed_pane_leaves_its_space_and_the_focus_to_its_neighbour() {
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
    let from =
        |focused, direction| Tab { focused: PaneId(focused), ..three() }.neighbour(direction);
    // The lower right pane has the longer side in common.
    assert_eq!(from(0, Direction::Right), Some(PaneId(2)));
    assert_eq!(from(0, Direction::Left), None);
    assert_eq!(from(0, Direction::Up), None);
    assert_eq!(from(1, Direction::Left), Some(PaneId(0)));
    assert_eq!(from(1, Direction::Down), Some(PaneId(2)));
    assert_eq!(from(2, Direction::Up), Some(PaneId(1)));
    assert_eq!(from(2, Direction::Right), None);
}

#[test]
fn a_pane_that_only_touches_a_corner_is_no_neighbour() {
    let tab = Tab {
        root: split(
            Axis::Horizontal,
            0.5,
            split(Axis::Vertical, 0.5, leaf(0), leaf(1)),
            split(Axis::Vertical, 0.5, leaf(2), leaf(3)),
        ),
        ..three()
    };
    assert_eq!(tab.neighbour(Direction::Right), Some(PaneId(2)));
    assert_eq!(tab.neighbour(Direction::Down), Some(PaneId(1)));
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
            let placed = tab.place(Rect { x: 7, y: 3, width, height }, divider);
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
        fn every_way_to_a_neighbour_leads_back(steps in prop::collection::vec(step(), 0..24)) {
            let tab = build(&steps);
            for pane in tab.panes() {
                let at = Tab { focused: pane, ..tab.clone() };
                for (there, back) in [
                    (Direction::Left, Direction::Right),
                    (Direction::Right, Direction::Left),
                    (Direction::Up, Direction::Down),
                    (Direction::Down, Direction::Up),
                ] {
                    if let Some(next) = at.neighbour(there) {
                        prop_assert_ne!(next, pane);
                        let from = Tab { focused: next, ..tab.clone() };
                        prop_assert!(from.neighbour(back).is_some());
                    }
                }
            }
        }
    }
}
