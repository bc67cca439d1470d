//! Tests of tabs, splits and the scrollbar, with mouse and keys.

use unterm_mux::{Foreground, PaneId};
use winit::event::{MouseButton, MouseScrollDelta};

use crate::window::{
    app::script::Script,
    chrome::tab_bar::{TabBar, TabBarPart},
    event::Event,
    workspace::closing::Closing,
};

/// The y position of the middle of the tab bar, which is 28 pixels high and at the top of the window.
const BAR: f64 = 13.0;

/// A window with `count` tabs of one pane each. The titles of the tabs are `tab-0`, `tab-1` and so on.
fn with_tabs(count: usize) -> Script {
    let mut script = Script::new();
    script.fill_tabs(count);
    script
}

/// The tab bar as last drawn.
fn bar(script: &Script) -> TabBar<'_> {
    let app = &script.app;
    let geometry = app.surface.geometry.expect("a window");
    app.chrome.tabs.bar(geometry, &app.mux.layout(), app.prefs.config.tab_bar.max_title)
}

/// The x position of the middle of a tab. The first tab is number 0.
fn tab(script: &Script, number: usize) -> f64 {
    let bar = bar(script);
    let id = script.app.mux.layout().tabs[number].id;
    let is_it = |x: &f64| matches!(bar.at(*x, BAR), TabBarPart::Tab(at) if at == id);
    let points: Vec<f64> = (0..800).map(f64::from).filter(is_it).collect();
    points[points.len() / 2]
}

#[test]
fn a_tab_is_dragged_to_another_place() {
    let mut script = with_tabs(3);
    script.drag((tab(&script, 0), BAR), (tab(&script, 2), BAR));
    assert_eq!(script.order(), [1, 2, 0]);
    script.frame();
    // Escape moves the dragged tab back to its place.
    script.event(Event::PointerMoved(tab(&script, 0), BAR));
    script.event(Event::Button(MouseButton::Left, true));
    for x in [250.0, 400.0, 560.0] {
        script.event(Event::PointerMoved(x, BAR));
        script.frame();
    }
    assert_ne!(script.order(), [1, 2, 0]);
    script.key("escape");
    script.event(Event::Button(MouseButton::Left, false));
    assert_eq!(script.order(), [1, 2, 0]);
}

#[test]
fn the_wheel_switches_tabs_and_the_middle_button_closes_one() {
    let mut script = with_tabs(3);
    assert!(script.frame().starts_with("pane 2"));
    script.event(Event::PointerMoved(tab(&script, 0), BAR));
    script.event(Event::Wheel(MouseScrollDelta::LineDelta(0.0, 1.0)));
    assert!(script.frame().starts_with("pane 1"));
    script.click(tab(&script, 1), BAR, MouseButton::Middle);
    assert_eq!(script.order(), [0, 2]);
}

#[test]
fn a_tabs_menu_is_used_by_keys_and_by_mouse() {
    let mut script = with_tabs(2);
    let whole = script.panes()[0][0].1;
    script.click(tab(&script, 0), BAR, MouseButton::Right);
    script.frame();
    // The third item is Split right, after New tab and Duplicate tab. It applies to the clicked tab.
    for _ in 0..3 {
        script.key("down");
    }
    script.key("enter");
    let panes = script.panes();
    assert_eq!((panes[0].len(), panes[1].len()), (2, 1));
    assert!(panes[0].iter().all(|pane| pane.1 <= whole / 2), "{panes:?}");
    // Escape closes the menu. After that, keys go to the program again.
    script.frame();
    script.click(tab(&script, 0), BAR, MouseButton::Right);
    script.frame();
    script.key("down");
    script.key("escape");
    script.key("x");
    assert_eq!(script.typed(2), "x");
    // Click the first row of the menu, below the bar.
    script.frame();
    script.click(tab(&script, 0), BAR, MouseButton::Right);
    script.frame();
    script.click(tab(&script, 0) + 10.0, 28.0 + 14.0, MouseButton::Left);
    assert_eq!(script.panes().len(), 3);
}

#[test]
fn programs_in_new_tabs_start_in_the_size_they_will_have() {
    let mut script = Script::new();
    script.configure("tab_bar.show = 'several'");
    // The second tab makes the bar appear. A layout opens several panes and tabs at once.
    script.key("ctrl+shift+t");
    std::fs::create_dir(script.home.path().join("layouts")).expect("a folder");
    let split = "{ split = 'down', share = 0.2, first = {}, second = { split = 'right', first = {}, second = {} } }";
    let text = format!("[[tabs]]\npanes = {split}\n[[tabs]]\npanes = {{}}\n");
    std::fs::write(script.home.path().join("layouts/work.toml"), text).expect("a file");
    script.app.open_layout(Some("work"));
    script.handle_news();
    let panes: Vec<u64> = script.panes().concat().iter().map(|(id, _)| *id).collect();
    assert_eq!(panes.len(), 6);
    for id in panes.into_iter().filter(|id| *id > 0) {
        let pane = script.app.mux.pane(PaneId(id)).expect("a pane");
        let (first, now) = (script.program(id as usize).first_size, pane.term().size());
        assert_eq!(first, Some(now), "pane {id}");
    }
}

#[test]
fn a_click_on_plus_opens_a_tab() {
    let mut script = with_tabs(1);
    let bar = bar(&script);
    let is_plus = |x: &f64| matches!(bar.at(*x, BAR), TabBarPart::New);
    let plus = (0..800).map(f64::from).find(is_plus).expect("a button");
    script.click(plus + 5.0, BAR, MouseButton::Left);
    assert_eq!(script.panes().len(), 2);
}

#[test]
fn a_divider_is_dragged_by_whole_cells_and_escape_puts_it_back() {
    let mut script = Script::new();
    script.key("ctrl+shift+e");
    script.frame();
    let columns = |script: &Script| {
        let panes = script.panes();
        (panes[0][0].1, panes[0][1].1)
    };
    let (left, right) = columns(&script);
    let (cell, padding) = (9.0, 8.0);
    let divider = |columns: u16| f64::from(columns) * cell + 2.0 * padding;
    script.drag((divider(left), 300.0), (divider(left - 20) + 3.0, 300.0));
    assert_eq!(columns(&script), (left - 20, right + 20));
    script.event(Event::PointerMoved(divider(left - 20), 300.0));
    script.event(Event::Button(MouseButton::Left, true));
    script.event(Event::PointerMoved(divider(left - 25), 300.0));
    script.handle_news();
    assert!(columns(&script).0 < left - 20);
    script.key("escape");
    assert_eq!(columns(&script), (left - 20, right + 20));
}

#[test]
fn panes_move_and_are_typed_into_together() {
    let mut script = Script::new();
    script.configure(
        "[keys]\n'f1' = 'broadcast_tab'\n'f2' = 'swap_pane_left'\n'f3' = 'next_pane'\n'f4' = 'previous_pane'\n\
         'f5' = 'pane_to_new_tab'\n'f6' = 'pane_to_tab:1'\n",
    );
    script.key("ctrl+shift+e");
    script.key("f1");
    script.key("a");
    script.key("f1");
    assert_eq!((script.typed(0), script.typed(1)), ("a".to_owned(), "a".to_owned()));
    // The second pane keeps the focus, even after it is swapped or moved to its own tab.
    script.key("f2");
    script.key("b");
    // Focus wraps around at the end, and goes back.
    script.key("f3");
    script.key("c");
    script.key("f4");
    script.key("d");
    assert_eq!((script.typed(0), script.typed(1)), ("c".to_owned(), "bd".to_owned()));
    script.key("f5");
    script.key("e");
    assert_eq!((script.order(), script.typed(1)), (vec![0, 1], "e".to_owned()));
    script.key("f6");
    assert_eq!(script.panes().len(), 1);
}

#[test]
fn a_pane_too_small_to_split_stays_whole() {
    let mut script = Script::new();
    let mut count = 1;
    // Each split halves the pane that the last split has created.
    let message = loop {
        script.key("ctrl+shift+e");
        let panes = script.panes()[0].len();
        if panes == count {
            break script.frame();
        }
        count = panes;
        assert!(count < 20, "there is always room");
    };
    assert!(message.contains("The pane is too small to split."), "{message}");
    assert!(count > 2 && script.panes()[0].iter().all(|pane| pane.1 >= 4));
    // The pane is still large enough for a split downward.
    script.key("ctrl+shift+d");
    assert_eq!(script.panes()[0].len(), count + 1);
}

#[test]
fn a_shortcut_that_has_nothing_to_do_types_nothing() {
    let mut script = Script::new();
    // These keys dismiss messages, answer an agent, and zoom. None has an effect: there is only one pane, and no agent
    // asks.
    for keys in ["ctrl+shift+delete", "ctrl+shift+y", "ctrl+shift+z"] {
        script.key(keys);
    }
    script.key("x");
    assert_eq!(script.typed(0), "x");
}

#[test]
fn the_scrollbar_is_dragged_through_the_history() {
    let mut script = Script::new();
    script.print("the first line\r\n");
    script.print(&"line\r\n".repeat(300));
    // The scrollbar appears when the pointer is near it. Its thumb is at the bottom.
    script.event(Event::PointerMoved(795.0, 440.0));
    assert!(!script.frame().contains("the first line"));
    script.drag((795.0, 440.0), (795.0, 20.0));
    assert!(script.frame().contains("the first line"));
}

#[test]
fn closing_tabs_asks_and_shows_their_number() {
    let mut script = with_tabs(3);
    script.key("ctrl+shift+q");
    assert!(script.frame().contains("label Close this window with 3 tabs?\n"));
    script.key("escape");
    let first = script.app.mux.layout().tabs[0].id;
    script.app.with_parts(|parts, cx| parts.overlays.close(Closing::OtherTabs(first), cx));
    assert!(script.frame().contains("label Close the 2 other tabs?\n"));
    script.key("escape");
    assert_eq!(script.order(), [0, 1, 2]);
    // Shells that wait for a command do not count as running programs.
    script.configure("window.confirm_close = 'programs'");
    script.app.with_parts(|parts, cx| parts.overlays.close(Closing::OtherTabs(first), cx));
    script.handle_news();
    assert_eq!(script.order(), [0]);
}

/// Marks by which a shell reports that the command `cat x` runs, and that it has ended and the next prompt is ready.
const RUNS: &str = "\x1b]133;A\x07$ \x1b]133;B\x07cat x\r\n\x1b]133;C\x07";
const ENDED: &str = "\x1b]133;D;0\x07\x1b]133;A\x07$ \x1b]133;B\x07";

/// Reads the titles of tabs until no reading is due.
fn read_titles(script: &mut Script) {
    while script.app.workspace.names.are_due() {
        script.app.read_names(script.now);
    }
}

#[test]
fn a_hidden_tab_shows_no_command_that_has_ended() {
    let mut script = Script::new();
    script.print(RUNS);
    script.key("ctrl+shift+t");
    read_titles(&mut script);
    assert!(script.frame().contains("label cat x\n"));
    // The first output marks the tab. Later output asks for nothing.
    script.print_in(0, "text\r\n");
    read_titles(&mut script);
    script.frame();
    script.print_in(0, ENDED);
    read_titles(&mut script);
    assert!(!script.frame().contains("label cat x\n"));
    script.print_in(0, RUNS);
    read_titles(&mut script);
    assert!(script.frame().contains("label cat x\n"));
}

#[test]
fn a_title_never_joins_a_command_to_another_program() {
    let mut script = Script::new();
    script.configure("window.title_format = '{title} — {program}'");
    let front = |script: &Script, name: &str| {
        let foreground = Foreground { pid: 1, name: name.to_owned(), is_root: name == "bash" };
        *script.program(0).foreground.lock() = Some(foreground);
    };
    let title = |script: &mut Script| {
        script.frame();
        script.app.title(&script.app.mux.layout())
    };
    front(&script, "bash");
    script.print(RUNS);
    front(&script, "cat");
    read_titles(&mut script);
    assert_eq!(title(&mut script), "cat x — cat");
    script.key("ctrl+shift+t");
    script.frame();
    // The command ends while the tab is hidden, and the user returns before any reading is due.
    script.program(0).print(ENDED.as_bytes());
    front(&script, "bash");
    script.key("ctrl+shift+tab");
    assert_eq!(title(&mut script), "bash — bash");
    // A command whose line the shell did not report has started, but its program has not.
    script.print("\x1b]2;my shell\x07");
    script.print("\x1b]133;C\x07");
    read_titles(&mut script);
    assert_eq!(title(&mut script), "my shell — bash");
}

#[test]
fn tabs_leave_out_a_shared_host_and_cut_in_the_middle() {
    let mut script = with_tabs(2);
    script.print("\x1b]2;me@here: ~/src\x07");
    script.print_in(
        0,
        "\x1b]2;me@here: /a/long/directory/with/the/number/of/the/tab/in/its/end/07\x07",
    );
    script.app.read_names(script.now);
    let frame = script.frame();
    assert!(frame.contains("label ~/src\n"), "{frame}");
    let cut = "label /a/long/directory/with/…/the/tab/in/its/end/07\n";
    assert!(frame.contains(cut), "{frame}");
    // If a tab's host differs from the others, each tab shows its host.
    script.print("\x1b]2;me@there: ~\x07");
    script.app.read_names(script.now);
    let frame = script.frame();
    assert!(
        frame.contains("label me@there: ~\n") && frame.contains("label me@here: /a/"),
        "{frame}"
    );
}
