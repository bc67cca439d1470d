//! Tests of the mouse over panes: selections, events that programs receive, links and the context menu.

use winit::{event::MouseButton, keyboard::ModifiersState};

use crate::window::{app::script::Script, event::Event};

/// A window that shows a word, starting in column 10 of row 3.
fn with_a_word() -> Script {
    let mut script = Script::new();
    script.print("\x1b[4;11Hselectme");
    script.frame();
    script
}

fn double_click(script: &mut Script, at: (f64, f64)) {
    script.click(at.0, at.1, MouseButton::Left);
    script.click(at.0, at.1, MouseButton::Left);
}

#[test]
fn a_drag_selects_the_letters_under_it() {
    let mut script = with_a_word();
    // Drag from the left half of the word's third letter to the left half of its seventh letter. This selects the four
    // letters from the third to the sixth.
    script.drag(script.cell(12, 3), script.cell(16, 3));
    assert_eq!(script.asked(), ["pointer text", "Primary \"lect\""]);
}

#[test]
fn enter_does_not_overtake_the_paste_of_a_selected_word() {
    let mut script = with_a_word();
    let word = script.cell(12, 3);
    double_click(&mut script, word);
    script.key("ctrl+shift+c");
    assert_eq!(script.asked(), ["pointer text", "Primary \"selectme\"", "Clipboard \"selectme\""]);
    // Enter is pressed before the clipboard has answered, but reaches the program after the word.
    script.key("ctrl+shift+v");
    script.key("enter");
    assert_eq!(script.typed(0), "");
    script.paste("selectme");
    assert_eq!(script.typed(0), "selectme\r");
}

#[test]
fn a_program_receives_every_button_release() {
    let mut script = Script::new();
    script.print("\x1b[?1000h\x1b[?1006h");
    script.frame();
    let (x, y) = script.cell(4, 6);
    script.event(Event::PointerMoved(x, y));
    // Press the left and the right button, then release both.
    for (button, pressed) in [
        (MouseButton::Left, true),
        (MouseButton::Right, true),
        (MouseButton::Left, false),
        (MouseButton::Right, false),
    ] {
        script.event(Event::Button(button, pressed));
    }
    assert_eq!(script.typed(0), "\x1b[<0;5;7M\x1b[<2;5;7M\x1b[<0;5;7m\x1b[<2;5;7m");
}

#[test]
fn a_position_is_reported_once_also_in_pixels() {
    for (encoding, reports) in [("\x1b[?1006h", 1), ("\x1b[?1016h", 3)] {
        let mut script = Script::new();
        script.print(&format!("\x1b[?1003h{encoding}"));
        script.frame();
        let (x, y) = script.cell(4, 6);
        for right in [0.0, 0.2, 1.0, 1.0, 2.0, 2.0] {
            script.event(Event::PointerMoved(x.floor() + right, y));
        }
        assert_eq!(script.typed(0).matches('M').count(), reports, "{encoding:?}");
    }
}

#[test]
fn shift_starts_a_new_selection_if_a_program_tracks_the_mouse() {
    let mut script = with_a_word();
    script.print("\x1b[?1000h\x1b[?1006h");
    script.event(Event::Modifiers(ModifiersState::SHIFT));
    for (from, to, selected) in [(0, 3, "sel"), (4, 6, "ct")] {
        script.drag(script.cell(10 + from, 3), script.cell(10 + to, 3));
        assert!(script.asked().contains(&format!("Primary {selected:?}")));
    }
    let word = script.cell(11, 3);
    double_click(&mut script, word);
    assert!(script.asked().contains(&"Primary \"selectme\"".to_owned()));
    assert_eq!(script.typed(0), "", "the program receives nothing");
}

#[test]
fn a_right_click_opens_a_menu_for_what_is_at_the_pointer() {
    let mut script = with_a_word();
    let (x, y) = script.cell(12, 3);
    double_click(&mut script, (x, y));
    script.asked();
    for (letter, asked) in [("c", "Clipboard \"selectme\""), ("p", "paste Clipboard")] {
        script.click(x, y, MouseButton::Right);
        assert!(script.frame().contains("label Paste\n"));
        script.key(letter);
        script.key("enter");
        assert!(!script.frame().contains("label Paste\n"));
        assert!(script.effects_contain(asked), "{letter}");
    }
    script.paste("pasted");
    assert_eq!(script.typed(0), "pasted");
}

#[test]
fn a_links_target_is_shown_as_long_as_it_is_pointed_at() {
    const TARGET: &str = "label https://example.org/where\n";
    let mut script = Script::new();
    script.print("\x1b]8;;https://example.org/where\x1b\\linked\x1b]8;;\x1b\\");
    script.frame();
    let (x, y) = script.cell(2, 0);
    script.event(Event::PointerMoved(x, y));
    assert!(script.frame().contains(TARGET));
    assert_eq!(script.asked().last().map(String::as_str), Some("pointer pointer"));
    // Move the pointer over the tab bar, to the right of the only tab.
    script.event(Event::PointerMoved(600.0, 13.0));
    assert!(!script.frame().contains(TARGET));
    // Another tab then covers the link, while the pointer stays in place.
    script.event(Event::PointerMoved(x, y));
    assert!(script.frame().contains(TARGET));
    script.key("ctrl+shift+t");
    assert!(!script.frame().contains(TARGET), "in another tab");
    script.key("ctrl+shift+tab");
    script.event(Event::PointerMoved(x, y + 1.0));
    assert!(script.frame().contains(TARGET));
    script.print("\x1b[2J");
    assert!(!script.frame().contains(TARGET), "it disappears with its text");
}

#[test]
fn the_wheel_scrolls_the_history_and_a_key_returns() {
    let mut script = Script::new();
    script.print(&"older\r\n".repeat(60));
    script.print(&"newer\r\n".repeat(25));
    assert!(!script.frame().contains("older"));
    let (x, y) = script.cell(5, 5);
    script.event(Event::PointerMoved(x, y));
    for _ in 0..5 {
        let notch = winit::event::MouseScrollDelta::LineDelta(0.0, 1.0);
        script.event(Event::Wheel(notch));
    }
    assert!(script.frame().contains("older"));
    script.key("l");
    assert!(!script.frame().contains("older"));
    assert_eq!(script.typed(0), "l");
}
