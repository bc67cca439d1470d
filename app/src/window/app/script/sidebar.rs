//! Tests of the sidebar, with mouse and keys.

use unterm_mux::{PaneId, TabId};
use unterm_renderer::PixelRect;
use winit::event::{MouseButton, MouseScrollDelta};

use crate::config::FILE;
use crate::window::{
    app::script::Script,
    chrome::{sidebar::layout::SidebarLayout, tab_bar::TabBarPart},
    effect::Effect,
    event::Event,
};

/// A window with a sidebar and `count` tabs of one pane each. The titles of the tabs are `tab-0`, `tab-1` and so on. The
/// sidebar has room for 12 characters, and the second tab is active.
fn with_tabs(count: usize) -> Script {
    let mut script = Script::new();
    script.configure("[tab_bar]\nposition = 'left'\nsidebar_width = 12\n");
    script.fill_tabs(count);
    script
}

fn side(script: &Script) -> SidebarLayout<'_> {
    let app = &script.app;
    app.chrome.tabs.side(app.surface.geometry.expect("a window"), &app.mux.layout())
}

fn middle(rect: PixelRect) -> (f64, f64) {
    (
        f64::from(rect.x) + f64::from(rect.width) / 2.0,
        f64::from(rect.y) + f64::from(rect.height) / 2.0,
    )
}

/// The id of a tab, by its number.
fn id(script: &Script, number: usize) -> TabId {
    script.app.mux.layout().tabs[number].id
}

/// The middle of a tab's row.
fn row(script: &Script, number: usize) -> (f64, f64) {
    middle(side(script).place_of(id(script, number)).expect("a row"))
}

fn active(script: &Script) -> usize {
    script.app.mux.layout().active
}

fn file(script: &Script) -> String {
    std::fs::read_to_string(script.home.path().join(FILE)).expect("a file")
}

#[test]
fn panes_lie_beside_the_sidebar() {
    let mut script = with_tabs(1);
    let geometry = script.app.surface.geometry.expect("a window");
    let (sidebar, size) = (geometry.sidebar().width, geometry.grid(geometry.content()));
    assert_eq!(sidebar, 24 + 87);
    assert_eq!(script.panes(), [[(0, size.cols)]]);
    assert_eq!(u32::from(size.cols), (800 - sidebar - 16) / 9);
    // A program receives the cell under the pointer.
    script.print("\x1b[?1000h\x1b[?1006h");
    script.frame();
    let (x, y) = (f64::from(sidebar) + 8.0 + 4.5 * 9.0, 8.0 + 2.5 * 19.0);
    script.click(x, y, MouseButton::Left);
    assert_eq!(script.typed(0), "\x1b[<0;5;3M\x1b[<0;5;3m");
    // The sidebar is no part of the pane.
    script.click(f64::from(sidebar) - 20.0, y + 100.0, MouseButton::Left);
    assert_eq!(script.typed(0), "");
}

#[test]
fn programs_start_in_the_size_that_the_sidebar_leaves() {
    for show in ["always", "several", "never"] {
        let mut script = Script::new();
        script.configure(&format!("[tab_bar]\nposition = 'left'\nshow = '{show}'\n"));
        for (number, key) in [(1, "ctrl+shift+t"), (2, "ctrl+shift+e")] {
            script.key(key);
            let pane = script.app.mux.pane(PaneId(number)).expect("a pane");
            let (first, now) = (script.program(number as usize).first_size, pane.term().size());
            assert_eq!(first, Some(now), "pane {number} with {show}");
        }
        let is_shown = script.app.has_sidebar();
        assert_eq!(is_shown, show != "never");
    }
}

#[test]
fn a_narrow_window_folds_the_sidebar() {
    let mut script = with_tabs(2);
    for (width, is_folded) in [(800, false), (300, true), (290, true), (800, false)] {
        script.event(Event::Resized(winit::dpi::PhysicalSize::new(width, 480)));
        assert_eq!(side(&script).is_folded, is_folded, "{width} pixels");
        assert!(script.panes()[0][0].1 >= 20);
    }
    assert!(!file(&script).contains("folded"), "only the user's choice is kept");
}

#[test]
fn a_row_shows_what_a_hidden_program_reports() {
    let mut script = with_tabs(2);
    assert!(!script.frame().contains("needs you"));
    script.print_in(0, "\x1b]7501;state=blocked:kind=permission:msg=UnVuIGl0Pw==\x07");
    let text = script.frame();
    assert!(text.contains("label needs you: Run it?"), "{text}");
    assert!(text.contains("label 1 needs you"), "{text}");
    script.print_in(0, "\x1b]7501;state=working:progress=40:msg=4oCuYWI=\x07");
    let text = script.frame();
    assert!(!text.contains('\u{202e}'), "{text}");
    assert!(text.contains("label working 40 %"), "{text}");
    script.print_in(0, "\x1b]7501;state=clear\x07\x1b]133;A\x07$ \x1b]133;C\x07\x1b]133;D;3\x07");
    let text = script.frame();
    assert!(text.contains("label exit code 3"), "{text}");
    // The bar at the top shows none of this.
    script.configure("");
    assert!(!script.frame().contains("exit code"));
}

#[test]
fn a_tab_is_dragged_to_another_row() {
    let mut script = with_tabs(3);
    script.drag(row(&script, 0), row(&script, 2));
    assert_eq!(script.order(), [1, 2, 0]);
    script.frame();
    // Escape moves the dragged tab back to its place.
    let (from, to) = (row(&script, 0), row(&script, 2));
    script.event(Event::PointerMoved(from.0, from.1));
    script.event(Event::Button(MouseButton::Left, true));
    for step in 1..=4 {
        script.event(Event::PointerMoved(to.0, from.1 + (to.1 - from.1) * f64::from(step) / 4.0));
        script.frame();
    }
    assert_eq!(script.order(), [2, 0, 1]);
    script.key("escape");
    script.event(Event::Button(MouseButton::Left, false));
    assert_eq!(script.order(), [1, 2, 0]);
}

#[test]
fn a_tab_that_is_dragged_out_keeps_its_place() {
    let mut script = with_tabs(3);
    let from = row(&script, 0);
    script.event(Event::PointerMoved(from.0, from.1));
    script.event(Event::Button(MouseButton::Left, true));
    script.event(Event::PointerMoved(from.0, from.1 + 60.0));
    assert_eq!(script.order(), [1, 0, 2]);
    script.event(Event::PointerMoved(500.0, 200.0));
    assert_eq!(script.order(), [0, 1, 2]);
    script.effects.clear();
    // Without a control server, no other window can take the tab, which a message says.
    script.event(Event::Button(MouseButton::Left, false));
    assert!(script.frame().contains("The control server is not running."));
}

#[test]
fn the_buttons_of_a_row_and_of_the_foot_work() {
    let mut script = with_tabs(2);
    let press = |script: &mut Script, part: TabBarPart, button: MouseButton| {
        let (x, y) = middle(side(script).button(part).expect("a button"));
        script.click(x, y, button);
        script.frame();
    };
    press(&mut script, TabBarPart::New, MouseButton::Left);
    assert_eq!(script.order(), [0, 1, 2]);
    let layout = side(&script);
    let place = layout.place_of(id(&script, 1)).expect("a row");
    let (x, y) = middle(layout.close_button(place).expect("a button"));
    script.click(x, y, MouseButton::Left);
    assert_eq!(script.order(), [0, 2]);
    script.frame();
    let (x, y) = row(&script, 0);
    script.click(x, y, MouseButton::Left);
    assert_eq!(active(&script), 0);
    script.click(x, y, MouseButton::Middle);
    assert_eq!(script.order(), [2]);
    press(&mut script, TabBarPart::Menu, MouseButton::Left);
    assert!(script.frame().contains("label New window"));
    script.key("escape");
    press(&mut script, TabBarPart::Fold, MouseButton::Left);
    assert!(side(&script).is_folded);
    assert!(file(&script).contains("sidebar_folded = true"));
    press(&mut script, TabBarPart::Fold, MouseButton::Left);
    assert!(!side(&script).is_folded);
}

#[test]
fn the_wheel_scrolls_the_rows() {
    let mut script = with_tabs(20);
    let (x, y) = row(&script, 19);
    assert!(side(&script).place_of(id(&script, 0)).is_none());
    script.event(Event::PointerMoved(x, y));
    script.event(Event::Wheel(MouseScrollDelta::LineDelta(0.0, 30.0)));
    script.frame();
    assert_eq!((side(&script).first, active(&script)), (0, 19));
    // The next change of the active tab brings it into sight.
    script.key("ctrl+shift+tab");
    script.frame();
    assert!(side(&script).place_of(id(&script, 18)).is_some());
}

#[test]
fn the_edge_is_dragged_and_its_place_is_kept() {
    let mut script = with_tabs(1);
    let edge = |script: &Script| {
        f64::from(script.app.surface.geometry.expect("a window").sidebar().width) - 0.5
    };
    let columns = |script: &Script| script.app.prefs.config.tab_bar.sidebar_width;
    let from = edge(&script);
    script.drag((from, 300.0), (from + 8.0 * 7.2, 300.0));
    assert_eq!(columns(&script), 20);
    assert!(file(&script).contains("sidebar_width = 20"), "{}", file(&script));
    // Escape puts the edge back, and nothing is written.
    let from = edge(&script);
    script.event(Event::PointerMoved(from, 300.0));
    script.event(Event::Button(MouseButton::Left, true));
    script.event(Event::PointerMoved(from + 100.0, 300.0));
    assert_eq!(columns(&script), 34);
    script.key("escape");
    script.event(Event::Button(MouseButton::Left, false));
    assert_eq!(columns(&script), 20);
    // Far to the left, the sidebar folds. Its width is remembered.
    script.drag((edge(&script), 300.0), (5.0, 300.0));
    assert!(side(&script).is_folded);
    assert_eq!(columns(&script), 20);
    // A double click restores the default.
    let edge = edge(&script);
    script.click(edge, 300.0, MouseButton::Left);
    script.click(edge, 300.0, MouseButton::Left);
    assert_eq!((columns(&script), side(&script).is_folded), (30, false));
    let text = file(&script);
    assert!(text.contains("sidebar_width = 30") && text.contains("sidebar_folded = false"));
}

#[test]
fn keys_mark_move_and_activate_tabs() {
    let mut script = with_tabs(3);
    script.key("ctrl+alt+shift+s");
    script.key("up");
    script.key("up");
    script.key("x");
    assert_eq!((active(&script), script.typed(2)), (2, String::new()));
    assert!(script.frame().contains("pane 2 focused"));
    script.key("enter");
    assert_eq!(active(&script), 0);
    script.key("y");
    assert_eq!(script.typed(0), "y");
    // With Shift, the marked tab moves.
    script.key("ctrl+alt+shift+s");
    script.key("shift+end");
    assert_eq!(script.order(), [1, 2, 0]);
    // Escape returns the keyboard to the pane. So does the action itself, and a click.
    script.key("escape");
    script.key("z");
    script.key("ctrl+alt+shift+s");
    script.key("ctrl+alt+shift+s");
    script.key("z");
    script.key("ctrl+alt+shift+s");
    let cell = script.cell(2, 2);
    script.click(cell.0, cell.1, MouseButton::Left);
    script.key("z");
    assert_eq!(script.typed(0), "zzz");
    // Keys of actions work.
    script.key("ctrl+alt+shift+s");
    script.key("ctrl+shift+t");
    assert_eq!(script.panes().len(), 4);
}

#[test]
fn without_a_sidebar_its_key_goes_to_the_program() {
    let mut script = Script::new();
    script.key("ctrl+alt+shift+s");
    assert_ne!(script.typed(0), "");
}

#[test]
fn an_action_moves_the_tabs_to_the_side_and_back() {
    let mut script = Script::new();
    script.configure("# mine\n[keys]\n'f5' = 'toggle_sidebar'\n'f6' = 'fold_sidebar'\n");
    let whole = script.panes()[0][0].1;
    script.key("f5");
    assert!(script.app.has_sidebar() && script.panes()[0][0].1 < whole);
    assert!(file(&script).contains("position = \"left\""));
    script.key("f6");
    assert!(side(&script).is_folded);
    script.key("f5");
    assert!(!script.app.has_sidebar());
    assert_eq!(script.panes()[0][0].1, whole);
    let text = file(&script);
    assert!(text.contains("position = \"top\"") && text.starts_with("# mine"), "{text}");
}

#[test]
fn surroundings_are_read_only_for_a_sidebar_and_after_events() {
    let asked = |script: &mut Script| {
        script.event(Event::Tick);
        script.frame();
        let effects = std::mem::take(&mut script.effects);
        let surveys = effects.iter().filter_map(|effect| match effect {
            Effect::ReadSurroundings(surveys) => {
                Some(surveys.iter().map(|survey| survey.pane.0).collect::<Vec<_>>())
            }
            _ => None,
        });
        surveys.collect::<Vec<_>>()
    };
    const COMMAND: &str = "\x1b]133;A\x07$ \x1b]133;C\x07\x1b]133;D;0\x07";
    let mut script = Script::new();
    script.print(COMMAND);
    for _ in 0..5 {
        script.now += std::time::Duration::from_secs(3);
        assert!(asked(&mut script).is_empty(), "the sidebar is hidden");
    }
    let mut script = with_tabs(2);
    for _ in 0..5 {
        script.now += std::time::Duration::from_secs(3);
        assert!(asked(&mut script).is_empty(), "nothing has happened");
    }
    script.print_in(0, COMMAND);
    script.now += std::time::Duration::from_secs(3);
    assert_eq!(asked(&mut script), [[0]]);
    script.now += std::time::Duration::from_secs(3);
    assert!(asked(&mut script).is_empty(), "a reading is running");
    let read = vec![(
        PaneId(0),
        crate::window::workspace::surroundings::Surroundings {
            branch: "topic".to_owned(),
            ports: vec![3000],
            ..Default::default()
        },
    )];
    script.app.inbox.post(|news| news.system.surroundings = Some(read));
    script.handle_news();
    assert!(script.frame().contains("label exit code 0"));
    let text = script.frame();
    assert!(text.contains(":3000 · topic"), "{text}");
    // A server may need a moment until it listens, so the pane is read once more.
    script.now += std::time::Duration::from_secs(3);
    assert_eq!(asked(&mut script), [[0]]);
    // Pointing at a row reads its tab.
    script.app.inbox.post(|news| news.system.surroundings = Some(Vec::new()));
    script.handle_news();
    let (x, y) = row(&script, 1);
    script.event(Event::PointerMoved(x, y));
    script.frame();
    script.now += std::time::Duration::from_secs(3);
    assert_eq!(asked(&mut script), [[1]]);
    assert!(script.frame().contains("tab-1"));
}
