//! Tests that settings which commands leave behind are reverted when the shell is back.

use super::Fixture;
use crate::{
    CursorShape, KittyFlags, Modes, MouseEncoding, MouseTracking, Options, ScreenKind, Size, Term,
};

const PROMPT: &str = "\x1b]133;A;nonce=n1\x07$ \x1b]133;B\x07";
const START: &str = "\r\n\x1b]133;C;nonce=n1\x07";

fn end(code: i32) -> String {
    format!("\x1b]133;D;{code};nonce=n1\x07{PROMPT}")
}

fn terminal() -> Fixture {
    let mut fixture = Fixture::new(20, 8);
    let options = Options { nonce: Some("n1".into()), ..Options::default() };
    fixture.term = Term::new(Size::cells(20, 8), options);
    fixture
}

/// A description of all settings that a command may leave behind.
fn state(term: &Term) -> String {
    let (keyboard, cursor) = (term.keyboard(), term.cursor());
    format!(
        "{:?} {:?} {:?} {:?} {keyboard:?} {:?} {} {:?} {}",
        term.screen(),
        term.modes(),
        term.mouse_tracking(),
        term.mouse_encoding(),
        cursor.shape,
        cursor.blinking,
        term.pointer_shape(),
        term.echoes_locally(),
    )
}

/// The sequences that full-screen programs, ncurses and tput send.
const BEGUN: [&str; 31] = [
    "\x1b[?1049h",
    "\x1b[?47h",
    "\x1b[?1047h\x1b[5;5Hx",
    "\x1b[?9h",
    "\x1b[?1000h",
    "\x1b[?1002h\x1b[?1006h",
    "\x1b[?1003h\x1b[?1016h",
    "\x1b[?1015h",
    "\x1b[?1005h",
    "\x1b[?1004h",
    "\x1b[?1h\x1b=",
    "\x1b[?66h",
    "\x1b[?2004h",
    "\x1b[?2026h",
    "\x1b[?2031h",
    "\x1b[?2048h",
    "\x1b[?25l",
    "\x1b[4h",
    "\x1b[20h",
    "\x1b[2h",
    "\x1b[12l",
    "\x1b[2 q",
    "\x1b[5 q",
    "\x1b[?12h",
    "\x1b[>31u",
    "\x1b[=5u",
    "\x1b[>1u\x1b[>3u\x1b[?1049h\x1b[>31u",
    "\x1b[>4;2m",
    "\x1b[>4;1m\x1b[>4;1f",
    "\x1b]22;wait\x07",
    "\x1b]22;>wait,help\x07\x1b[?1049h\x1b]22;text\x07",
];

#[test]
fn the_prompt_ends_what_its_command_began() {
    for begun in BEGUN {
        for code in [0, 1, 130, 137] {
            let mut fixture = terminal();
            fixture.feed(PROMPT).feed("vim").feed(START);
            let before = state(&fixture.term);
            fixture.feed(begun);
            assert_ne!(state(&fixture.term), before, "{begun:?} does something");
            fixture.feed(end(code));
            assert_eq!(state(&fixture.term), before, "{begun:?}, code {code}");
            assert_eq!(fixture.screen(), "$ vim/$", "{begun:?}");
            assert_eq!(fixture.cursor(), (1, 2));
            let command = fixture.term.commands().next().unwrap();
            assert_eq!(command.exit_code, Some(code), "{begun:?}");
        }
    }
}

#[test]
fn a_prompt_without_the_end_of_its_command_ends_it_too() {
    for begun in BEGUN {
        let mut fixture = terminal();
        fixture.feed(PROMPT).feed(START);
        let before = state(&fixture.term);
        fixture.feed(begun).feed(PROMPT);
        assert_eq!(state(&fixture.term), before, "{begun:?}");
    }
}

#[test]
fn marks_without_the_nonce_end_nothing() {
    for begun in BEGUN {
        for forged in [
            "\x1b]133;D;137\x07\x1b]133;A\x07$ \x1b]133;B\x07",
            "\x1b]133;D;137;nonce=no\x07\x1b]133;P;k=i;nonce=no\x07",
            "\x1b]633;D;137\x07\x1b]633;A\x07",
            "\x1b]133;C\x07\x1b]133;D;137\x07",
        ] {
            let mut fixture = terminal();
            fixture.feed(PROMPT).feed(START).feed(begun);
            let begun_state = state(&fixture.term);
            fixture.feed(forged);
            assert_eq!(state(&fixture.term), begun_state, "{begun:?} {forged:?}");
        }
        // If a forged mark began a command, the shell's mark does not end it.
        let mut fixture = terminal();
        fixture.feed(PROMPT).feed("\x1b]133;C\x07").feed(begun);
        let begun_state = state(&fixture.term);
        fixture.feed("\x1b]133;D;0;nonce=n1\x07");
        assert_eq!(state(&fixture.term), begun_state, "{begun:?}");
    }
}

#[test]
fn what_the_shell_set_before_the_command_stays() {
    for own in BEGUN.into_iter().filter(|own| !own.contains("47h") && !own.contains("49h")) {
        // The shell's own settings stay, and so do settings of the hooks of an earlier command.
        for command in ["", "\x1b[?1049h\x1b[2J\x1b[?1049l"] {
            let mut fixture = terminal();
            fixture.feed(PROMPT).feed(own).feed(START);
            let before = state(&fixture.term);
            fixture.feed(command).feed(end(137));
            assert_eq!(state(&fixture.term), before, "{own:?}");
        }
    }
    // If a program sets another value, the shell's value is restored.
    let mut fixture = terminal();
    fixture.feed(PROMPT).feed("\x1b[5 q\x1b[>1u\x1b[?1002h").feed(START);
    fixture.feed("\x1b[2 q\x1b[>31u\x1b[?1003h\x1b[?1006h").feed(end(0));
    let term = &fixture.term;
    assert_eq!((term.cursor().shape, term.cursor().blinking), (CursorShape::Bar, true));
    assert_eq!(term.keyboard().kitty, KittyFlags::DISAMBIGUATE);
    assert_eq!(term.mouse_tracking(), MouseTracking::Drag);
    assert_eq!(term.mouse_encoding(), MouseEncoding::Legacy);
    // The shell's pop removes the shell's own entry from the stack.
    fixture.feed("\x1b[<u");
    assert_eq!(fixture.term.keyboard().kitty, KittyFlags::empty());
    // What the command turned off stays off: the shell that set it turned it off itself, as fish does before a program.
    let mut fixture = terminal();
    fixture.feed(PROMPT).feed("\x1b[?2004h\x1b[=5u\x1b[5 q").feed(START);
    fixture.feed("\x1b[?2004l\x1b[=0u\x1b[0 q").feed(end(0));
    assert!(!fixture.term.modes().contains(Modes::BRACKETED_PASTE));
    assert_eq!(fixture.term.keyboard().kitty, KittyFlags::empty());
    assert_eq!(fixture.term.cursor().shape, CursorShape::Default);
}

#[test]
fn what_people_set_on_purpose_ends_only_after_a_failure() {
    let shown = |fixture: &mut Fixture| {
        let style = fixture.feed("x").snapshot().rows[1].styles.clone();
        (fixture.term.modes(), fixture.term.top, fixture.term.bottom, style, fixture.screen())
    };
    let mut plain = terminal();
    let unchanged = shown(plain.feed(PROMPT).feed(START).feed(end(0)));
    for set in ["\x1b[?7l", "\x1b[?5h", "\x1b[?1007l", "\x1b7\x1b[2;6r\x1b8", "\x1b[31m", "\x1b(0"]
    {
        let after = |code| {
            let mut fixture = terminal();
            shown(fixture.feed(PROMPT).feed(START).feed(set).feed(end(code)))
        };
        assert_ne!(after(0), unchanged, "{set:?}");
        assert_ne!(after(1), unchanged, "{set:?}");
        assert_eq!(after(137), unchanged, "{set:?}");
        // A setting that an earlier command made was not made by this command, so it stays.
        let mut fixture = terminal();
        fixture.feed(PROMPT).feed(START).feed(set).feed(end(0)).feed("\x1b[2;1H").feed(START);
        let modes = (fixture.term.modes(), fixture.term.top, fixture.term.charsets);
        fixture.feed("\x1b[?1049h\x1b[?7l\x1b[?5l\x1b[r\x1b[3;5r\x1b(B").feed("\x1b[?7h").feed(set);
        fixture.feed(end(137));
        assert_eq!(
            (fixture.term.modes(), fixture.term.top, fixture.term.charsets),
            modes,
            "{set:?}"
        );
    }
    assert_eq!(plain.term.screen(), ScreenKind::Main);
}

/// In nested shells (also over ssh), each shell reverts what its own commands began, and the outer shell reverts what
/// the inner one left.
#[test]
fn nested_shells_end_what_is_theirs() {
    let mut fixture = terminal();
    fixture.feed(PROMPT).feed("bash").feed(START);
    let outer = state(&fixture.term);
    fixture.feed(PROMPT).feed("\x1b[?2004h").feed("vim").feed("\x1b[?2004l\x1b[6 q").feed(START);
    let inner = state(&fixture.term);
    fixture.feed("\x1b[?1049h\x1b[?1003h\x1b[2 q").feed("\x1b]133;D;137;nonce=n1\x07");
    assert_eq!(state(&fixture.term), inner);
    // A setting that the shell's own hooks make before its prompt stays.
    fixture.feed("\x1b[3 q").feed(PROMPT);
    assert_eq!(fixture.term.cursor().shape, CursorShape::Underline);
    // The inner shell is killed while it is at its prompt.
    fixture.feed("\x1b[?2004h\x1b[=5u\x1b[?1000h").feed(end(137));
    assert_eq!(state(&fixture.term), outer);
}

/// A program that suspends itself reverts its modes, and sets them again when it continues.
#[test]
fn a_suspended_program_goes_on_as_it_was() {
    let (on, off) = (
        "\x1b[?1049h\x1b[?1h\x1b=\x1b[?1002h\x1b[2 q",
        "\x1b[?1002l\x1b[?1l\x1b>\x1b[?1049l\x1b[0 q",
    );
    let mut fixture = terminal();
    fixture.feed(PROMPT).feed(START).feed(on);
    let editing = state(&fixture.term);
    fixture.feed(off).feed(end(148)).feed("fg").feed(START);
    let before = state(&fixture.term);
    fixture.feed(on);
    assert_eq!(state(&fixture.term), editing);
    fixture.feed(end(137));
    assert_eq!(state(&fixture.term), before);
}
