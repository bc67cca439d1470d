//! A session of keys, overlays and output, which is painted with the fast path and without it. The pictures must be
//! equal.

use std::time::Duration;

use winit::{
    dpi::PhysicalSize,
    event::{Ime, MouseButton, MouseScrollDelta},
};

use crate::window::{app::script::Script, event::Event};

/// A step of the session.
enum Step {
    Key(&'static str),
    Type(&'static str),
    Print(&'static str),
    /// Makes a program print text, even if its pane has no focus. The first program has number 0.
    PrintIn(usize, &'static str),
    Click(f64, f64),
    /// Drags from one point to another with the left button.
    Drag((f64, f64), (f64, f64)),
    Point(f64, f64),
    Wheel(f32),
    Focus(bool),
    Resize(u32, u32),
    Compose(&'static str),
    Configure(&'static str),
    /// Lets this number of milliseconds pass.
    Wait(u64),
}

use Step::{
    Click, Compose, Configure, Drag, Focus, Key, Point, Print, PrintIn, Resize, Type, Wait, Wheel,
};

const PROMPT: &str = "\x1b]133;A\x07$ \x1b]133;B\x07";

const SESSION: &[Step] = &[
    Print(PROMPT),
    Type("ls"),
    Print("l"),
    Print("s"),
    Print("\r\n\x1b]133;C\x07one  two\r\nthree\r\n\x1b]133;D;0\x07"),
    Print(PROMPT),
    Print("echo \u{2190} 界 \u{5e9}\u{5dc}\u{5d5}\u{5dd} abc"),
    Print("\r\x1b[K\x1b[31mred\x1b[7m reverse\x1b[0m \x1b[4:3mcurly\x1b[0m"),
    Print("\x1b]8;;https://example.org/\x07link\x1b]8;;\x07 https://example.com/a"),
    Point(120.0, 60.0),
    Print(" more"),
    Point(700.0, 400.0),
    // Opens overlays, and prints while and after each is open.
    Key("ctrl+shift+f"),
    Type("t"),
    Print("\r\ntt"),
    Key("enter"),
    Print("t"),
    Key("escape"),
    Print("u"),
    Key("ctrl+shift+p"),
    Print("v"),
    Type("split"),
    Key("escape"),
    Print("w"),
    Print("x"),
    Key("ctrl+shift+space"),
    Print("z"),
    Key("up"),
    Key("escape"),
    Print("1"),
    Click(300.0, 200.0),
    Print("2"),
    Key("menu"),
    Key("escape"),
    Print("3"),
    // Messages, bells and progress.
    Key("ctrl+shift+z"),
    Print("4"),
    Wait(20_000),
    Print("5"),
    Print("\x07"),
    Print("6"),
    Wait(2_000),
    Print("\x1b]9;4;1;40\x07"),
    Print("7"),
    Print("\x1b]9;4;0\x07"),
    Print("\x1b]2;A title\x07"),
    Print("8"),
    // Colors, cursor and selection.
    Print("\x1b]11;#203040\x07"),
    Print("9"),
    Print("\x1b]4;1;#00ff00\x07\x1b[31mnow green\x1b[0m"),
    Print("\x1b]104\x07\x1b]111\x07"),
    Print("\x1b[4 q"),
    Print("a\x1b[?25l"),
    Print("b\x1b[?25h"),
    Drag((40.0, 60.0), (200.0, 60.0)),
    Print("c"),
    Print("\x1b[1;1Hover it\x1b[5;1H"),
    Key("ctrl+shift+a"),
    Print("d"),
    Key("x"),
    // The message that the action had no effect expires.
    Wait(5_000),
    Print("e"),
    // History.
    Print(
        "1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8\r\n9\r\n10\r\n11\r\n12\r\n13\r\n14\r\n15\r\n16\r\n17\r\n18\r\n19\r\n20\r\n",
    ),
    Print(
        "1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8\r\n9\r\n10\r\n11\r\n12\r\n13\r\n14\r\n15\r\n16\r\n17\r\n18\r\n19\r\n20\r\n",
    ),
    Print("end"),
    Wheel(3.0),
    Print("unseen"),
    Key("shift+pageup"),
    Print("unseen"),
    Wheel(-50.0),
    Print("seen"),
    Point(795.0, 300.0),
    Print("by the bar"),
    Point(300.0, 300.0),
    // Panes and tabs.
    Key("ctrl+shift+e"),
    Print("second"),
    PrintIn(0, "first"),
    Print("\x1b[2J"),
    Key("ctrl+shift+enter"),
    PrintIn(0, "under the zoomed one"),
    Print("zoomed"),
    Key("ctrl+shift+enter"),
    Print("both"),
    Key("ctrl+shift+t"),
    Print("third"),
    PrintIn(0, "hidden"),
    PrintIn(0, "hidden again"),
    Print("more"),
    Key("ctrl+shift+tab"),
    Print("back"),
    // The window.
    Focus(false),
    Print("without the focus"),
    Focus(true),
    Print("with it"),
    Resize(640, 400),
    Print("smaller"),
    Compose("に"),
    Print("composed over"),
    Compose(""),
    Print("gone"),
    // Screens, delayed frames, images and sizes.
    Print("\x1b[?1049h\x1b[Halternate"),
    Print("\x1b[2;1Hscreen"),
    Print("\x1b[?1049l"),
    Print("\x1b[?2026hheld"),
    Print(" still"),
    Print("\x1b[?2026l shown"),
    Print("\x1bPq#0;2;100;0;0#0!20~-!20~\x1b\\"),
    Print("beside it"),
    Print("\x1b[2J\x1b[H"),
    Print("\x1b#6double\r\n"),
    Print("blink \x1b[5mblinks\x1b[0m"),
    Wait(600),
    Print("later"),
    Configure("[text]\nminimum_contrast = 7.0\n[cursor]\nshape = 'bar'\nblink = true\n"),
    Print("high contrast"),
    Wait(5_000),
    Print("!"),
    Wait(600),
    Print("."),
    Configure("[status_bar]\nshow = true\n[tab_bar]\nposition = 'bottom'\n"),
    Print("bars"),
    Configure("[window]\ndim_unfocused = 0.5\npadding = 20\n"),
    Print("dim"),
    Configure(""),
    Wait(5_000),
    Print("\x1b]133;A\x07% \x1b]133;B\x07ls\r\n\x1b]133;C\x07a\r\nb\r\n"),
    Print("c\r\n\x1b]133;D;1\x07"),
    Print("\x1b]133;A\x07% \x1b]133;B\x07"),
    Print("end"),
];

fn feed(script: &mut Script, step: &Step) {
    match *step {
        Key(chord) => script.key(chord),
        Type(text) => script.type_text(text),
        Print(text) => drop(script.print(text)),
        PrintIn(number, text) => script.print_in(number, text),
        Click(x, y) => script.click(x, y, MouseButton::Left),
        Drag(from, to) => script.drag(from, to),
        Point(x, y) => script.event(Event::PointerMoved(x, y)),
        Wheel(lines) => script.event(Event::Wheel(MouseScrollDelta::LineDelta(0.0, lines))),
        Focus(focused) => script.event(Event::Focus(focused)),
        Resize(width, height) => script.event(Event::Resized(PhysicalSize::new(width, height))),
        Compose(text) => script.event(Event::Ime(Ime::Preedit(text.to_owned(), None))),
        Configure(text) => script.configure(text),
        Wait(milliseconds) => {
            script.now += Duration::from_millis(milliseconds);
            script.event(Event::Tick);
        }
    }
}

#[test]
fn the_fast_path_shows_what_whole_frames_show() {
    let (mut fast, mut whole) = (Script::new(), Script::with(&["unterm", "--whole-frames"]));
    whole.now = fast.now;
    (fast.app.surface.blink_since, whole.app.surface.blink_since) = (fast.now, fast.now);
    let mut taken = 0;
    for (number, step) in SESSION.iter().enumerate() {
        feed(&mut fast, step);
        feed(&mut whole, step);
        let is_fast = fast.paint();
        taken += usize::from(is_fast);
        assert!(!whole.paint(), "the option turns the fast path off");
        assert!(fast.picture() == whole.picture(), "step {number} differs, fast path: {is_fast}");
    }
    assert!(taken >= 25, "only {taken} of {} steps took the fast path", SESSION.len());
}
