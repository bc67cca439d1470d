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
