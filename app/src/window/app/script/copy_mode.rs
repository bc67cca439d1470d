//! Tests of copy mode while the program switches between its screens.

use winit::event::MouseButton;

use crate::window::{app::script::Script, workspace::copy_mode::LOST};

/// A script in copy mode. Then the program prints `switch`, which switches screens.
fn switched(before: &str, switch: &str) -> Script {
    let mut script = Script::new();
    script.print(before);
    script.frame();
    script.key("ctrl+shift+m");
    assert!(script.frame().contains("label copy mode\n"));
    script.key("v");
    script.print(switch);
    script
}

#[test]
fn keys_of_copy_mode_never_reach_the_program_of_another_screen() {
    for (before, switch) in [
        ("text", "\x1b[?1049hscreen"),
        ("text", "\x1b[?47h"),
        ("text", "\x1b[?1047h"),
        ("\x1b[?1049htext", "\x1b[?1049l"),
    ] {
        let mut script = switched(before, switch);
        // Press a key before the next frame is painted.
        script.key("j");
        assert!(script.frame().contains(&format!("label {LOST}\n")), "{switch:?}");
        for key in ["k", "y", "shift+g", "z", "enter", "/"] {
            script.key(key);
        }
        assert!(!script.frame().contains("label copy mode\n"), "{switch:?}");
        assert_eq!((script.typed(0), script.asked()), (String::new(), Vec::new()), "{switch:?}");
        script.key("escape");
        script.key("x");
        assert_eq!(script.typed(0), "x", "{switch:?}");
        assert!(!script.frame().contains(LOST));
    }
}

#[test]
fn a_click_or_a_new_copy_mode_ends_the_lost_one() {
    let mut script = switched("text", "\x1b[?1049hscreen");
    script.frame();
    let (x, y) = script.cell(20, 5);
    script.click(x, y, MouseButton::Left);
    script.key("x");
    assert_eq!(script.typed(0), "x");

    let mut script = switched("text", "\x1b[?1049h\x1b[Hscreen");
    script.frame();
    script.key("ctrl+shift+m");
    assert!(script.frame().contains("label copy mode\n"));
    script.key("y");
    assert!(script.effects_contain("Clipboard \"screen\""));
}
