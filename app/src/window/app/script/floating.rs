//! Tests of a pane that covers other panes. No layout has such floating panes yet. The last pane in a plan's `placed`
//! is drawn on top and receives the mouse.

use unterm_mux::{PaneId, Rect};

use crate::window::{app::script::Script, ui::geometry::pane_under};

#[test]
fn a_pane_that_is_placed_last_lies_over_the_others() {
    let mut script = Script::new();
    script.print("below \x1b]11;#00ff00\x07");
    script.key("ctrl+shift+e");
    script.print("above \x1b]11;#ff00ff\x07");
    let mut plan = script.app.prepare(script.now).expect("measures");
    let below = plan.geometry.content();
    let above = Rect { x: below.x + 200, y: below.y + 100, width: 300, height: 200 };
    plan.placed = vec![(PaneId(0), below), (PaneId(1), above)];
    let scene = script.draw(&plan);
    assert!(scene.contains("below") && scene.contains("pane 1 focused\n  above\n"), "{scene}");
    // The covering pane is visible and receives the mouse.
    let (picture, width) = (script.picture(), plan.geometry.width as usize);
    let color_at = |x: u32, y: u32| picture[y as usize * width + x as usize] & 0xff_ffff;
    let pane_at = |x: u32, y: u32| pane_under(&plan.placed, f64::from(x), f64::from(y));
    for (pane, color, x, y) in [
        (0, 0x00_ff00, below.x + 150, below.y + 150),
        (1, 0xff_00ff, above.x + 250, above.y + 150),
        (0, 0x00_ff00, above.x + 350, above.y + 150),
    ] {
        assert_eq!(pane_at(x, y).map(|(id, _)| id), Some(PaneId(pane)));
        assert_eq!(color_at(x, y), color, "at {x},{y}");
    }
}
