//! Tests of pastes: the question before a paste that may do harm, and pastes into many panes.

use crate::window::app::script::Script;

#[test]
fn a_paste_that_would_press_enter_asks_first() {
    let mut script = Script::new();
    for (answer, typed) in
        [("escape", ""), ("l", "pasted one[A pasted two"), ("enter", "pasted one[A\rpasted two\r")]
    {
        script.key("ctrl+shift+v");
        script.paste("pasted one\x1b[A\npasted two\n");
        let asked = script.frame();
        assert!(asked.contains("pasted one"), "{asked}");
        script.key("z");
        assert_eq!(script.typed(0), "", "the question takes the keys");
        script.key(answer);
        script.key("x");
        assert_eq!(script.typed(0), format!("{typed}x"), "{answer}");
        assert!(!script.frame().contains("pasted one"));
    }
}

#[test]
fn a_paste_into_many_panes_asks_once_and_goes_to_all_of_them() {
    let mut script = Script::new();
    script.configure("[keys]\n'f5' = 'broadcast_all'\n");
    // Open more panes than questions can be queued.
    for _ in 1..10 {
        script.key("ctrl+shift+t");
    }
    script.key("f5");
    script.key("ctrl+shift+v");
    script.paste("first\nsecond\n");
    script.frame();
    script.key("enter");
    script.key("o");
    for number in 0..10 {
        assert_eq!(script.typed(number), "first\rsecond\ro", "in pane {number}");
    }
}
