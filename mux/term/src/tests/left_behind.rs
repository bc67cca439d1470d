//! Tests that settings which commands leave behind are reverted when the shell is back.

use proptest::prelude::*;

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
const BEGUN: [&str; 33] = [
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
    "\x1b[?5522h",
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
    "\x1b[?2l",
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
fn what_users_set_on_purpose_ends_only_after_a_failure() {
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

#[test]
fn a_link_that_a_command_left_open_ends_with_the_command() {
    for code in [0, 1, 137] {
        let mut fixture = terminal();
        fixture.feed(PROMPT).feed(START).feed("\x1b]8;;http://example.org/\x07text");
        assert!(fixture.term.pen.link().is_some());
        fixture.feed(end(code));
        assert!(fixture.term.pen.link().is_none(), "code {code}");
    }
}

/// A text of everything that settings consist of. The text on the screen, the cursors and the titles are left out.
fn settings(fixture: &mut Fixture) -> String {
    let term = &mut fixture.term;
    term.commands.clear();
    term.title.clear();
    term.icon_title.clear();
    term.clear_everything();
    (term.cursor, term.hidden_cursor) = Default::default();
    term.dump() + &String::from_utf8_lossy(&term.to_vt()).replace('\x1b', "\nESC ")
}

#[test]
fn a_killed_command_leaves_no_setting_behind() {
    for set in [
        "\x1b[3g",
        "\x1b[1;5H\x1bH",
        "\x1b[?69h\x1b[3;9s",
        "\x1b[1\"q",
        "\x1bV",
        "\x1b)0\x0e",
        "\x1b[#{",
        "\x1b[22t",
        "\x1b[>0t",
        "\x1b[?80h",
        "\x1b[?1;3;16S",
        "\x1b]4;1;red\x07",
        "\x1b]11;red\x07",
        "\x1b[#P",
        "\x1b[?67h",
        "\x1b[?45h",
        "\x1b[?2027l",
        "\x1b[8l",
        "\x1b[61\"p",
        "\x1b G",
        "\x1b[?1s",
        "\x1b[1;31m\x1b7\x1b[m",
        "\x1b[>1;2:4:5 q",
        "\x1b[>40;1 q",
    ] {
        let after = |set: &str, code| {
            let mut fixture = terminal();
            settings(fixture.feed(PROMPT).feed(START).feed(set).feed(end(code)))
        };
        assert_eq!(after(set, 137), after("", 137), "{set:?}");
        assert_eq!(after(set, -9), after("", -9), "{set:?}, Nushell");
        assert_ne!(after(set, 0), after("", 0), "{set:?}: it may be on purpose");
        let killed_on_alternate = after(&format!("{set}\x1b[?1049h\x1b7"), 0);
        assert_eq!(killed_on_alternate, after("", 0), "{set:?}");
    }
}

/// A sequence that changes a setting.
fn setting() -> impl Strategy<Value = String> {
    let private = prop::sample::select(vec![
        1, 2, 3, 4, 5, 6, 7, 9, 12, 18, 19, 25, 35, 40, 41, 42, 44, 45, 47, 66, 67, 69, 80, 95,
        1000, 1002, 1003, 1004, 1005, 1006, 1007, 1015, 1016, 1036, 1037, 1045, 1046, 1047, 1048,
        1049, 1070, 2004, 2026, 2027, 2031, 2033, 2048, 8452,
    ]);
    prop_oneof![
        8 => (private, "[hl]").prop_map(|(mode, last)| format!("\x1b[?{mode}{last}")),
        2 => "\x1b\\[(2|4|8|12|20)[hl]",
        2 => "\x1b\\[(0|1|3|4:3|7|31|48;5;9|38;2;1;2;3)m",
        2 => "\x1b\\[[1-6]?;[1-8]?r",
        1 => "\x1b\\[[1-9]?;1?[1-9]s",
        2 => "\x1b\\[[1-6];1?[0-9]H(\x1bH|\x1b\\[g|\x1b\\[3g|\x1b\\[\\?5W)",
        2 => "\x1b[()*+][0AB<>4]|\x1b[-./]A|[\x0e\x0f]|\x1b[no~}|N]|\x1bP1!uA\x1b\\\\",
        1 => "\x1b\\[[012]\"q|\x1b[VW=>78]",
        1 => "\x1b\\[(1;30)?#[{}]",
        1 => "\x1b\\[2[23];[012](;[0-3])?t|\x1b\\[>[0-3][tT]",
        1 => "\x1b\\[\\?1;3;[0-9]{1,3}S",
        2 => "\x1b\\](4;[0-9];red|5;0;blue|1[0-9];#123|104|110|21;cursor=|21;cursor_text=red)\x07",
        1 => "\x1b\\[[1-3]?#[PQ]|\x1b\\]30[01]01\x07",
        1 => "\x1b\\[[0-6] q",
        2 => "\x1b\\[[>=][0-9]{1,2}u|\x1b\\[<[0-3]u|\x1b\\[>[0-7];[0-3][mf]|\x1b\\[>[0-7]n",
        1 => "\x1b\\]22;[>=<]?(wait|help)?\x07",
        1 => "\x1b\\[6[1-5];[012]\"p|\x1b [FG67]|\x1b\\[[0-2]\\*x|\x1b\\[[0-9]{1,2}#y",
        1 => "\x1b\\[\\?(1|7|25|1006|2004)?[sr]",
        1 => "\x1b\\[>([0-3]|29);([24](:[1-9]){4}|0) q|\x1b\\[>[34]0;(1|5:3) q",
        1 => "\x1bc|\x1b\\[!p",
        1 => "[ -~]{1,30}|\r\n",
    ]
}

proptest! {
    #![proptest_config(super::cases(512))]

    #[test]
    fn any_settings_of_a_killed_command_are_reverted(
        own in prop::collection::vec(setting(), 0..8),
        of_command in prop::collection::vec(setting(), 0..12),
    ) {
        // The shell does not show the alternate screen, and is no VT52, whose commands have no marks.
        let is_own =
            |set: &&String| !["47h", "1049h", "?2l"].iter().any(|mode| set.ends_with(mode));
        let own: String = own.iter().filter(is_own).map(String::as_str).collect();
        let after = |of_command: &str| {
            let mut fixture = terminal();
            fixture.feed(PROMPT).feed(&own).feed(START).feed(of_command);
            settings(fixture.feed("\x18\x1b]133;D;137;nonce=n1\x07"))
        };
        let (expected, found) = (after(""), after(&of_command.concat()));
        prop_assert!(
            expected == found,
            "of {:?} then {:?}\nexpected\n{}\nfound\n{}", own, of_command, expected, found
        );
    }
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
