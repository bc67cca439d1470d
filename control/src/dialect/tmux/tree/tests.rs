use super::*;

fn pane(id: u64) -> Node {
    Node::Pane(PaneId(id))
}

fn ids(count: u64) -> Vec<PaneId> {
    (0..count).map(PaneId).collect()
}

const AREA: Rect = Rect { x: 0, y: 0, width: 80, height: 24 };

/// The positions of a tree as `id:WxH,x,y`.
fn shown(root: &Node) -> String {
    let rects = divide(root, AREA).into_iter();
    let rects = rects
        .map(|(id, rect)| format!("{}:{}x{},{},{}", id.0, rect.width, rect.height, rect.x, rect.y));
    rects.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_pane_is_added_on_any_side() {
    let mut root = pane(0);
    let added = |id, axis, share, is_first| Added { pane: PaneId(id), axis, share, is_first };
    add_beside(&mut root, PaneId(0), added(1, Axis::Horizontal, 0.7, false));
    assert_eq!(shown(&root), "0:24x24,0,0 1:55x24,25,0");
    add_around(&mut root, added(2, Axis::Vertical, 0.25, true));
    assert_eq!(shown(&root), "2:80x6,0,0 0:24x17,0,7 1:55x17,25,7");
    assert!(remove(&mut root, PaneId(0)) && !remove(&mut root, PaneId(9)));
    assert_eq!(shown(&root), "2:80x6,0,0 1:80x17,0,7");
    refill(&mut root, &mut [PaneId(1), PaneId(2)].into_iter());
    assert_eq!(panes(&root), [PaneId(1), PaneId(2)]);
    assert!(!remove(&mut pane(0), PaneId(0)));
}

#[test]
fn the_innermost_split_of_an_axis_is_resized() {
    let mut root = Layout::MainVertical.tree(&ids(3), (80, 24), (40, 12)).unwrap();
    assert_eq!(shown(&root), "0:40x24,0,0 1:39x11,41,0 2:39x12,41,12");
    let to = |cells: u32| {
        move |length: u32, _: u32, is_first: bool| {
            if is_first { cells } else { length.saturating_sub(cells + 1) }
        }
    };
    assert!(resize(&mut root, AREA, PaneId(2), Axis::Horizontal, &to(60)));
    assert!(resize(&mut root, AREA, PaneId(2), Axis::Vertical, &to(5)));
    assert_eq!(shown(&root), "0:19x24,0,0 1:60x18,20,0 2:60x5,20,19");
    assert!(!resize(&mut root, AREA, PaneId(0), Axis::Vertical, &to(5)));
    assert!(!resize(&mut root, AREA, PaneId(9), Axis::Horizontal, &to(5)));
    assert!(resize(&mut root, AREA, PaneId(0), Axis::Horizontal, &to(5000)));
    assert_eq!(shown(&root), "0:78x24,0,0 1:1x18,79,0 2:1x5,79,19");
}

#[test]
fn layouts_divide_the_space_as_in_tmux() {
    let tree =
        |layout: Layout, count| shown(&layout.tree(&ids(count), (80, 24), (30, 10)).unwrap());
    assert_eq!(tree(Layout::EvenHorizontal, 3), "0:26x24,0,0 1:26x24,27,0 2:26x24,54,0");
    assert_eq!(tree(Layout::EvenVertical, 2), "0:80x11,0,0 1:80x12,0,12");
    assert_eq!(tree(Layout::MainHorizontal, 3), "0:80x10,0,0 1:39x13,0,11 2:40x13,40,11");
    assert_eq!(tree(Layout::MainVertical, 2), "0:30x24,0,0 1:49x24,31,0");
    assert_eq!(tree(Layout::Tiled, 3), "0:39x11,0,0 1:40x11,40,0 2:80x12,0,12");
    assert_eq!(tree(Layout::Tiled, 5), "0:39x7,0,0 1:40x7,40,0 2:39x7,0,8 3:40x7,40,8 4:80x8,0,16");
    assert_eq!(tree(Layout::Tiled, 1), "0:80x24,0,0");
    assert_eq!(Layout::find("tiled"), Some(Layout::Tiled));
    assert_eq!(Layout::find("main-v"), Some(Layout::MainVertical));
    assert_eq!((Layout::find("main"), Layout::find("x")), (None, None));
}

#[test]
fn a_layout_as_text_is_that_of_tmux_and_read_again() {
    let one = pane(0);
    assert_eq!(print(&one, &divide(&one, AREA)), "b25d,80x24,0,0,0");
    for layout in Layout::ALL {
        let root = layout.0.tree(&ids(5), (80, 24), (30, 10)).unwrap();
        let text = print(&root, &divide(&root, AREA));
        let read = parse(&text, &ids(5)).unwrap();
        assert_eq!(shown(&read), shown(&root), "{text}");
        assert_eq!(print(&read, &divide(&read, AREA)), text);
        assert_eq!(parse(&text, &ids(4)), None);
        assert_eq!(parse(&text, &ids(6)), None);
    }
    for wrong in ["", "b25d", "b25e,80x24,0,0,0", "b25d,80x24,0,0,0x", "0000,", "zzzz,1x1,0,0"] {
        assert_eq!(parse(wrong, &ids(1)), None, "{wrong}");
    }
    assert_eq!(parse(&"{".repeat(100_000), &ids(1)), None);
}

#[test]
fn positions_follow_from_the_sizes_of_panes() {
    let root = Layout::MainVertical.tree(&ids(3), (80, 24), (40, 12)).unwrap();
    let sizes = |id: PaneId| [(41, 24), (38, 10), (38, 13)][id.0 as usize];
    assert_eq!(measured(&root, &sizes), (80, 24));
    let places: Vec<_> = placed(&root, &sizes).iter().map(|(_, rect)| (rect.x, rect.y)).collect();
    assert_eq!(places, [(0, 0), (42, 0), (42, 11)]);
}
