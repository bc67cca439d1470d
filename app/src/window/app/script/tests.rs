//! Tests of the effects of keys, clicks and settings, as scripts.

use std::time::Duration;

use winit::{
    dpi::PhysicalSize,
    event::{MouseButton, MouseScrollDelta},
    keyboard::ModifiersState,
};

use crate::window::{app::script::Script, event::Event, overlays::tour};
use crate::{action::Action, last_session::LastSession, layout_file::LayoutFile};

#[test]
fn tabs_open_switch_and_close_by_keys() {
    let mut script = Script::new();
    script.print("first");
    script.key("ctrl+shift+t");
    script.print("second");
    let two = script.frame();
    assert!(two.starts_with("pane 1 focused\n  second\n"), "{two}");
    assert_eq!(script.app.chrome.tabs.labels().len(), 2);
    script.key("ctrl+shift+tab");
    assert!(script.frame().starts_with("pane 0 focused\n  first\n"));
    script.key("x");
    assert_eq!((script.typed(0), script.typed(1)), ("x".to_owned(), String::new()));
}

#[test]
fn a_window_has_the_title_of_the_command_line() {
    let mut script = Script::with(&["unterm", "--title", "Builds"]);
    script.print("\x1b]2;a program\x07");
    let title = |script: &mut Script| {
        script.frame();
        script.app.title(&script.app.mux.layout())
    };
    assert_eq!(title(&mut script), "Builds");
    for (set, shown) in [(Some("Mine"), "Mine"), (None, "Builds")] {
        let set = set.map(str::to_owned);
        script.app.inbox.post(|news| news.control.instance_title = Some(set));
        script.handle_news();
        assert_eq!(title(&mut script), shown);
    }
}

#[test]
fn nothing_is_saved_under_the_name_of_the_last_window() {
    let mut script = Script::new();
    script.app.write_layout("last", &LayoutFile::default());
    let complaint = script.app.overlays.toasts.take_complaint().expect("an error");
    assert!(complaint.contains("the tabs of the last window"), "{complaint}");
    assert!(!script.home.path().join("layouts/last.toml").exists());
}

#[test]
fn a_second_unclean_end_keeps_the_tabs_of_the_first() {
    const DEAD: u32 = u32::MAX;
    let form = LastSession { width: 900, height: 600, ..LastSession::default() };
    let first = "tabs = [{ panes = { cwd = '/' } }, { panes = { cwd = '/usr' } }]";
    let layout: LayoutFile = toml_edit::de::from_str(first).expect("a layout");
    let mut last = LastSession { process: Some(DEAD), layout, ..form };
    // Two windows start and end without reopening the tabs, and without closing. Each leaves a tab of its own, and the
    // two tabs are equal.
    for tabs in [2, 3] {
        let mut script = Script::new();
        script.app.workspace.last = Some(last);
        script.app.offer_last();
        assert!(script.app.workspace.reopens.is_some());
        script.app.keep_layout();
        last = LastSession::read(script.home.path()).expect("a session");
        last.process = Some(DEAD);
        assert_eq!(last.unopened.tab_count(), tabs);
    }
    // The third window reopens them. After that, they are only tabs of this window.
    let mut script = Script::new();
    script.app.workspace.last = Some(last);
    script.app.offer_last();
    assert!(script.frame().contains("The last windows ended without closing."));
    assert!(script.app.reopen_last());
    script.handle_news();
    assert_eq!(script.app.mux.layout().tabs.len(), 4);
    script.app.keep_layout();
    let last = LastSession::read(script.home.path()).expect("a session");
    assert_eq!(last.unopened, LayoutFile::default());
}

#[test]
fn sizes_that_a_new_window_had_before_reach_no_program() {
    let mut script = Script::new();
    let before = script.panes();
    // The window is shown in full screen. The queue contains the size that it had before.
    script.app.surface.has_old_sizes = true;
    script.event(Event::Resized(PhysicalSize::new(400, 240)));
    assert_eq!(script.panes(), before);
    script.app.surface.has_old_sizes = false;
    script.event(Event::Resized(PhysicalSize::new(400, 240)));
    assert_ne!(script.panes(), before);
}

#[test]
fn the_highest_overlay_takes_the_keys() {
    let mut script = Script::new();
    script.print("some text");
    script.key("ctrl+shift+f");
    script.type_text("text");
    assert!(script.frame().contains("label text\n"), "the search shows its pattern");
    script.key("ctrl+shift+p");
    script.type_text("zoom");
    let both = script.frame();
    assert!(both.contains("label zoom\n") && both.contains("label text\n"), "{both}");
    script.key("escape");
    script.type_text("s");
    assert!(script.frame().contains("label texts\n"), "the search is the highest again");
    script.key("escape");
    script.key("a");
    assert_eq!(script.typed(0), "a");
}

#[test]
fn output_takes_the_fast_path_only_if_nothing_covers_it() {
    let mut script = Script::new();
    script.print("$ ");
    script.frame();
    for c in "ls -l".chars() {
        script.key(&c.to_string());
        script.print(&c.to_string());
        assert!(script.takes_fast_path(), "{c:?} is text alone");
    }
    for open in ["ctrl+shift+f", "ctrl+shift+p", "ctrl+shift+l"] {
        script.key(open);
        script.print("x");
        assert!(!script.takes_fast_path(), "{open} opened something");
        script.frame();
        script.print("y");
        assert!(!script.takes_fast_path(), "{open} lies over it");
        script.key(if open == "ctrl+shift+l" { "ctrl+shift+l" } else { "escape" });
        script.frame();
        script.print("z");
        assert!(script.takes_fast_path(), "nothing is left of {open}");
    }
    script.app.notify("test", "A message.".to_owned());
    script.frame();
    script.print("x");
    assert!(!script.takes_fast_path(), "a message lies over it");
    script.app.overlays.toasts.dismiss_all();
    script.frame();
    // When lines leave the screen, marks and the scrollbar move.
    script.print(&"line\r\n".repeat(100));
    assert!(!script.takes_fast_path(), "the history grew");
    script.frame();
    script.print("x");
    assert!(script.takes_fast_path());
}

#[test]
fn settings_apply_with_the_next_frame() {
    let mut script = Script::new();
    script.frame();
    script.configure("[status_bar]\nshow = true\n[tab_bar]\nshow = 'never'\n");
    let geometry = script.app.surface.geometry.expect("measures");
    assert!(geometry.has_status_bar && !geometry.has_tab_bar);
    script.print("x");
    assert!(!script.takes_fast_path(), "more than text is new");
}

#[test]
fn a_message_expires() {
    let mut script = Script::new();
    script.app.notify("test", "A message.".to_owned());
    assert!(script.frame().contains("label A message.\n"));
    script.now += Duration::from_secs(10);
    assert!(!script.frame().contains("A message."));
}

#[test]
fn key_sequences_run_actions() {
    let mut script = Script::new();
    script.configure(
        "[keys]\nleader = 'ctrl+a'\n'leader>c' = 'new_tab'\n'leader>b>x' = 'send_text:both'\n\
         'f5' = ['send_text:one ', 'send_text:two']\n",
    );
    script.key("ctrl+a");
    assert!(script.frame().contains("label Ctrl+A …\n"));
    script.key("b");
    assert!(script.frame().contains("label Ctrl+A B …\n"));
    script.key("x");
    assert!(!script.frame().contains('…'));
    script.key("f5");
    assert_eq!(script.typed(0), "bothone two");
    // No action is bound to this sequence, so the program receives all keys.
    script.key("ctrl+a");
    script.key("b");
    script.key("z");
    assert_eq!(script.typed(0), "\x01bz");
    script.key("ctrl+a");
    script.key("escape");
    script.key("c");
    assert_eq!(script.typed(0), "c", "Escape discards the sequence");
    // An action that is bound to a single key still runs.
    script.key("ctrl+a");
    script.key("f5");
    assert_eq!(script.typed(0), "\x01one two");
    script.key("ctrl+a");
    script.key("c");
    assert_eq!(script.app.mux.layout().tabs.len(), 2);
    // An open overlay receives the next key.
    script.key("ctrl+a");
    script.app.act(Action::Search);
    script.key("c");
    assert_eq!((script.app.mux.layout().tabs.len(), script.typed(1)), (2, String::new()));
    assert!(!script.frame().contains('…'));
}

#[test]
fn mouse_buttons_and_the_wheel_run_bound_actions() {
    let mut script = Script::new();
    script.configure(
        "[mouse_bindings]\n'back' = 'send_text:back'\n'ctrl+wheel_up' = ['send_text:up', 'send_text:!']\n\
         'right' = 'none'\n",
    );
    script.print("text");
    script.frame();
    script.click(100.0, 200.0, MouseButton::Back);
    assert_eq!(script.typed(0), "back");
    script.click(100.0, 200.0, MouseButton::Right);
    assert!(!script.app.has_overlay(), "the right button opens no menu");
    script.event(Event::Wheel(MouseScrollDelta::LineDelta(0.0, 1.0)));
    assert_eq!(script.typed(0), "", "without Ctrl, it scrolls");
    script.event(Event::Modifiers(ModifiersState::CONTROL));
    script.event(Event::Wheel(MouseScrollDelta::LineDelta(0.0, 2.0)));
    script.event(Event::Wheel(MouseScrollDelta::LineDelta(0.0, -1.0)));
    assert_eq!(script.typed(0), "up!up!");
    // If a program tracks the mouse, it receives the button, unless Shift is held.
    script.event(Event::Modifiers(ModifiersState::empty()));
    script.print("\x1b[?1000h\x1b[?1006h");
    script.click(100.0, 200.0, MouseButton::Back);
    assert!(!script.typed(0).contains("back"));
    script.event(Event::Modifiers(ModifiersState::SHIFT));
    script.click(100.0, 200.0, MouseButton::Back);
    assert_eq!(script.typed(0), "back");
}

#[test]
fn a_profile_sets_what_a_tab_runs() {
    let mut script = Script::new();
    script.configure(
        "[profile.work]\nshell = 'worksh'\nargs = ['-l']\nenv = { JOB = 'work' }\ncwd = '/'\ntheme = 'nord-light'\n\
         [keys]\n'f5' = 'new_tab:work'\n",
    );
    script.key("f5");
    let spawn = |script: &Script, at: usize| script.program(at).spawn.clone();
    let work = spawn(&script, 1);
    assert_eq!((work.program.as_deref(), &work.args[..]), (Some("worksh"), &["-l".to_owned()][..]));
    assert_eq!(work.cwd, Some("/".into()));
    assert!(work.env.contains(&("JOB".to_owned(), "work".to_owned())));
    let theme = |script: &Script| {
        let pane = script.app.focused_pane().expect("a pane");
        pane.term().palette().background
    };
    let light = theme(&script);
    assert_ne!(light, script.app.prefs.palette.background);
    // A split uses the profile of its neighbor. A new tab has no profile.
    script.frame();
    script.key("ctrl+shift+e");
    assert_eq!((spawn(&script, 2).program.as_deref(), theme(&script)), (Some("worksh"), light));
    script.key("ctrl+shift+t");
    assert_eq!(spawn(&script, 3).program, None);
    assert_ne!(theme(&script), light);
}

#[test]
fn closing_panes_and_tabs_can_be_undone() {
    let mut script = Script::new();
    script.configure(
        "[keys]\n'f5' = 'undo_close'\n'f6' = 'close_other_tabs'\n[tab_bar]\nnumbers = true\n",
    );
    script.print("first");
    script.key("ctrl+shift+t");
    script.print("second");
    assert!(script.frame().contains("label 2  "), "tabs have numbers");
    script.key("f6");
    assert!(script.frame().starts_with("pane 1 focused\n  second\n"));
    assert_eq!(script.app.mux.layout().tabs.len(), 1);
    script.key("f5");
    assert!(script.frame().starts_with("pane 0 focused\n  first\n"));
    script.key("x");
    assert_eq!(script.typed(0), "x", "the program runs on");
    script.key("f5");
    assert!(script.frame().contains("label Nothing was closed in the last 30 s.\n"));
}

#[test]
fn the_tour_has_five_steps_and_can_be_skipped() {
    let mut script = Script::new();
    script.app.with_parts(|parts, cx| tour::welcome(parts.overlays, cx));
    assert!(script.frame().contains("label Split the window (1 of 5)\n"));
    for step in 2..=5 {
        script.key("enter");
        assert!(script.frame().contains(&format!("({step} of 5)")), "{step}");
    }
    script.key("enter");
    assert!(!script.frame().contains("of 5)"));
    script.app.with_parts(|parts, cx| tour::welcome(parts.overlays, cx));
    assert!(!script.frame().contains("of 5)"), "it comes by itself only once");
    script.configure(
        "[keys]\n'f5' = 'tour'\n'f6' = 'about'\n'ctrl+shift+e' = 'none'\n'f7' = 'split_right'\n",
    );
    script.key("f5");
    assert!(script.frame().contains("F7 opens a pane"), "it names the keys in force");
    script.key("escape");
    script.key("x");
    assert_eq!(script.typed(0), "x", "Esc skips the rest");
    script.key("f5");
    script.key("f7");
    assert_eq!(script.app.mux.panes().len(), 2, "its keys can be tried");
    assert!(script.frame().contains("(1 of 5)"), "and it stays open");
    script.key("ctrl+shift+f");
    script.key("n");
    let frame = script.frame();
    assert!(!frame.contains("(1 of 5)") && frame.contains("label n\n"), "{frame}");
    script.key("escape");
    assert!(script.frame().contains("(1 of 5)"), "it comes back after the search");
    script.key("escape");
    script.key("f6");
    let about = script.frame();
    assert!(about.contains(&format!("label Unterm {}\n", env!("CARGO_PKG_VERSION"))), "{about}");
}
