//! Checks that the terminfo entry `assets/terminfo/unterm.terminfo` matches the engine and the key encoder.
//!
//! `tic` compiles the entry, `infocmp` lists it, and `tput` expands the parameters of its strings. Every capability then
//! needs a row here: a key in [`KEYS`], a flag in [`FLAGS`], or a string in `terminfo.txt`, which records what the string
//! changes in a terminal. Regenerate that file with `UPDATE_EXPECT=1`.

use std::{collections::BTreeMap, fmt::Write, iter::once, path::Path, process::Command};

use unterm_mux::input::{
    Key, KeyEvent, Modifiers, MouseButton, MouseEvent, MouseKind, encode_focus, encode_key,
    encode_mouse, encode_paste,
};
use unterm_term::{KeyboardMode, Modes, Options, Parser, Size, Term};

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/terminfo/unterm.terminfo");

/// The compiled entry, and its capabilities. The value of a flag is empty, a number begins with `#`, and a string has
/// the form of the source.
struct Entry {
    folder: tempfile::TempDir,
    capabilities: BTreeMap<String, String>,
}

/// Runs a program of ncurses-bin. Returns `None` if the program is not installed.
fn run(program: &str, args: &[&str], terminfo: Option<&Path>) -> Option<Vec<u8>> {
    let mut command = Command::new(program);
    command.args(args);
    if let Some(terminfo) = terminfo {
        command.env("TERMINFO", terminfo);
    }
    let output = match command.output() {
        Err(error) if std::env::var_os("UNTERM_NEEDS_ALL").is_none() => {
            eprintln!("passed over: {program}: {error}");
            return None;
        }
        output => output.unwrap_or_else(|error| panic!("{program}: {error}")),
    };
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && complaint.is_empty(), "{program} {args:?}: {complaint}");
    Some(output.stdout)
}

impl Entry {
    /// Compiles the entry. Fails on any warning of `tic`.
    fn compile() -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().to_str().expect("UTF-8");
        run("tic", &["-x", "-o", path, SOURCE], None)?;
        let listed = run("infocmp", &["-x", "-1", "-A", path, "unterm"], None)?;
        let capabilities = String::from_utf8(listed)
            .expect("ASCII")
            .lines()
            .filter_map(|line| line.strip_prefix('\t')?.strip_suffix(','))
            .map(|capability| {
                let name = capability.split(['=', '#']).next().unwrap_or_default();
                let value = &capability[name.len()..];
                (name.to_owned(), value.strip_prefix('=').unwrap_or(value).to_owned())
            })
            .collect();
        Some(Self { folder, capabilities })
    }

    /// The bytes of a string capability with these parameters.
    fn expand(&self, name: &str, parameters: &[&str]) -> Vec<u8> {
        let args: Vec<&str> = ["-T", "unterm", name].iter().chain(parameters).copied().collect();
        run("tput", &args, Some(self.folder.path())).expect("infocmp ran, so tput is there")
    }

    /// The sorted names of the capabilities of one kind.
    fn names(&self, is: impl Fn(&str, &str) -> bool) -> Vec<&str> {
        let all = self.capabilities.iter();
        all.filter(|(name, value)| is(name, value)).map(|(name, _)| name.as_str()).collect()
    }
}

const SIZE: (u16, u16) = (20, 4);

/// A new terminal that has processed `bytes`.
fn terminal(bytes: &[&[u8]]) -> Term {
    let mut term = Term::new(Size::cells(SIZE.0, SIZE.1), Options::default());
    let mut parser = Parser::new();
    for bytes in bytes {
        parser.advance(&mut term, bytes);
    }
    term
}

/// Keys without modifiers, with their terminfo names.
const KEYS: &[(&str, Key)] = &[
    ("kbeg", Key::KeypadBegin),
    ("kbs", Key::Backspace),
    ("kcub1", Key::Left),
    ("kcud1", Key::Down),
    ("kcuf1", Key::Right),
    ("kcuu1", Key::Up),
    ("kdch1", Key::Delete),
    ("kend", Key::End),
    ("kent", Key::KeypadEnter),
    ("khome", Key::Home),
    ("kich1", Key::Insert),
    ("knp", Key::PageDown),
    ("kpADD", Key::KeypadAdd),
    ("kpCMA", Key::KeypadSeparator),
    ("kpDIV", Key::KeypadDivide),
    ("kpMUL", Key::KeypadMultiply),
    ("kpSUB", Key::KeypadSubtract),
    ("kpp", Key::PageUp),
];

/// Keys with Shift. A digit after a name stands for other modifiers, with the numbers that sequences use
/// (user_caps(5)).
const SHIFTED: &[(&str, Key)] = &[
    ("kDC", Key::Delete),
    ("kDN", Key::Down),
    ("kEND", Key::End),
    ("kHOM", Key::Home),
    ("kIC", Key::Insert),
    ("kLFT", Key::Left),
    ("kNXT", Key::PageDown),
    ("kPRV", Key::PageUp),
    ("kRIT", Key::Right),
    ("kUP", Key::Up),
    ("kcbt", Key::Tab),
    ("kind", Key::Down),
    ("kri", Key::Up),
];

/// The key and the modifiers of a terminfo name.
fn key(name: &str) -> Option<(Key, Modifiers)> {
    if let Some(number) = name.strip_prefix("kf") {
        // F13 and higher are F1 to F12 with modifiers, as in xterm-256color.
        let number: u8 = number.parse().ok()?;
        let modifiers = match (number - 1) / 12 {
            0 => Modifiers::empty(),
            1 => Modifiers::SHIFT,
            2 => Modifiers::CTRL,
            3 => Modifiers::CTRL | Modifiers::SHIFT,
            4 => Modifiers::ALT,
            _ => Modifiers::ALT | Modifiers::SHIFT,
        };
        return Some((Key::F((number - 1) % 12 + 1), modifiers));
    }
    let of = |table: &[(&str, Key)], name: &str| {
        table.iter().find(|(own, _)| *own == name).map(|(_, key)| *key)
    };
    if let Some(key) = of(KEYS, name) {
        return Some((key, Modifiers::empty()));
    }
    if let Some(key) = of(SHIFTED, name) {
        return Some((key, Modifiers::SHIFT));
    }
    let modifiers = Modifiers::from_bits(name.bytes().last()? - b'0' - 1)?;
    Some((of(SHIFTED, &name[..name.len() - 1])?, modifiers))
}

/// Sequences that the terminal sends for other reasons than a key.
fn reported(name: &str) -> Option<Vec<u8>> {
    let paste = encode_paste("", Modes::BRACKETED_PASTE);
    Some(match name {
        "kmous" => {
            let click = MouseEvent {
                kind: MouseKind::Press(MouseButton::Left),
                modifiers: Modifiers::empty(),
                col: 0,
                row: 0,
                x: 0,
                y: 0,
            };
            let term = terminal(&[b"\x1b[?1006;1000h"]);
            encode_mouse(&click, term.mouse_tracking(), term.mouse_encoding())?[..3].to_vec()
        }
        "kxIN" => encode_focus(true, Modes::FOCUS_EVENTS).to_vec(),
        "kxOUT" => encode_focus(false, Modes::FOCUS_EVENTS).to_vec(),
        "PS" => paste[..6].to_vec(),
        "PE" => paste[6..].to_vec(),
        _ => return None,
    })
}

/// Flags and numbers. For each: output, and text that proves the meaning of the capability. The text begins the reply,
/// or is part of the dump (terminfo(5), user_caps(5), tmux(1)).
const FLAGS: &[(&str, &str, &str)] = &[
    ("AX", "\x1b[31;42m\x1b[39;49m\x1bP$qm\x1b\\", "\x1bP1$r0m\x1b\\"),
    ("Rect", "\x1b[65;1;1;2;3$x", "0 |AAA|"),
    ("Su", "\x1b[4:3m\x1bP$qm\x1b\\", "\x1bP1$r0;4:3m\x1b\\"),
    // Attribute 4 in the reply to DA1: sixel graphics.
    ("Sxl", "\x1b[c", "\x1b[?65;1;2;4;6;9;15;16;17;18;21;22;28;29;52c"),
    ("Tc", "\x1b[38;2;1;2;3m\x1bP$qm\x1b\\", "\x1bP1$r0;38:2::1:2:3m\x1b\\"),
    ("XF", "\x1b[?1004h\x1b[?1004$p", "\x1b[?1004;1$y"),
    ("XT", "\x1b]0;name\x07", "title \"name\""),
    // After a character in the last column, the cursor stays there. Only the next printed character moves it to the
    // next row.
    ("am", "\x1b[20GAB\x1b[6n", "\x1b[2;2R"),
    ("xenl", "\x1b[20GA\x1b[6n", "\x1b[1;20R"),
    ("ccc", "\x1b]4;1;rgb:01/02/03\x07\x1b]4;1;?\x07", "\x1b]4;1;rgb:0101/0202/0303\x07"),
    ("fullkbd", "\x1b[>1u\x1b[?u", "\x1b[?1u"),
    // The cursor can move safely in insert mode and while attributes are set.
    ("mir", "\x1b[4h\x1b[3;5H\x1b[6n", "\x1b[3;5R"),
    ("msgr", "\x1b[7m\x1b[3;5H\x1b[6n", "\x1b[3;5R"),
    ("colors", "\x1b]4;255;?;256;?\x07", "\x1b]4;255;rgb:"),
    ("it", "\t\x1b[6n", "\x1b[1;9R"),
];

/// Flags and numbers that no sequence tests: background color erase (tested by `el`), the title as a status line
/// (tested by `tsl`), no padding, the number of color pairs of curses, and the size before a window sets one.
const NO_REPLY: &[&str] = &["bce", "cols", "hs", "lines", "npc", "pairs"];

/// Parameters of strings, one row for each use.
const PARAMETERS: &[(&str, &[&str])] = &[
    ("Cmg", &["2", "5"]),
    ("Cs", &["red"]),
    ("Hls", &["id", "https://example.org"]),
    ("Ms", &["c", "dGV4dA=="]),
    ("Pst", &["state=working:progress=40"]),
    ("Setulc", &["66051"]),
    ("Setulc1", &["5"]),
    ("Smulx", &["1"]),
    ("Smulx", &["2"]),
    ("Smulx", &["3"]),
    ("Smulx", &["4"]),
    ("Smulx", &["5"]),
    ("Ss", &["6"]),
    ("Sync", &["1"]),
    ("Sync", &["2"]),
    ("XM", &["1"]),
    ("XM", &["0"]),
    ("csr", &["1", "2"]),
    ("cub", &["2"]),
    ("cud", &["2"]),
    ("cuf", &["2"]),
    ("cup", &["2", "5"]),
    ("cuu", &["1"]),
    ("dch", &["2"]),
    ("dl", &["1"]),
    ("ech", &["2"]),
    ("hpa", &["5"]),
    ("ich", &["2"]),
    ("il", &["1"]),
    ("indn", &["2"]),
    ("initc", &["1", "1000", "500", "0"]),
    ("rep", &["65", "4"]),
    ("rin", &["2"]),
    ("setab", &["1"]),
    ("setab", &["9"]),
    ("setab", &["100"]),
    ("setaf", &["1"]),
    ("setaf", &["9"]),
    ("setaf", &["100"]),
    ("setrgbb", &["1", "2", "3"]),
    ("setrgbf", &["1", "2", "3"]),
    ("sgr", &["1", "0", "0", "0", "0", "0", "0", "0", "0"]),
    ("sgr", &["0", "1", "1", "1", "1", "1", "1", "0", "1"]),
    ("smglp", &["2"]),
    ("smglr", &["2", "5"]),
    ("smgrp", &["5"]),
    ("vpa", &["2"]),
];

/// Output to write before a string that would change nothing in a new terminal.
const BEFORE: &[(&str, &str)] = &[
    ("BD", "\x1b[?2004h"),
    ("Clmg", "\x1b[?69h\x1b[2;5s"),
    ("Cmg", "\x1b[?69h"),
    ("Cr", "\x1b]12;red\x07"),
    ("Dseks", "\x1b[>4;2m"),
    ("Dsmg", "\x1b[?69h"),
    ("E3", "\x1b[4H\r\n\r\n"),
    ("Rmol", "\x1b[53m"),
    ("Se", "\x1b[6 q"),
    ("cnorm", "\x1b[?25l\x1b[?12h"),
    ("dsl", "\x1b]2;title\x07"),
    ("el", "\x1b[44m"),
    ("fd", "\x1b[?1004h"),
    ("is2", "\x1b[?1h\x1b=\x1b[4h"),
    ("mgc", "\x1b[?69h"),
    ("oc", "\x1b]4;1;red\x07"),
    ("ol", "\x1b[58:5:1m"),
    ("op", "\x1b[31;42m"),
    ("rc", "\x1b7\x1b[H"),
    ("ri", "\x1b[H"),
    ("ritm", "\x1b[3m"),
    ("rmacs", "\x1b(0"),
    ("rmcup", "\x1b[?1049h\x1b[22;0;0t"),
    ("rmir", "\x1b[4h"),
    ("rmkx", "\x1b[?1h\x1b="),
    ("rmso", "\x1b[7m"),
    ("rmul", "\x1b[4m"),
    ("rmxx", "\x1b[9m"),
    ("rs1", "\x1b[?1h\x1b=\x1b[4h\x1b]4;1;red\x07"),
    ("rs2", "\x1b[?1h\x1b=\x1b[4h"),
    ("sgr0", "\x1b[1;31m\x1b(0"),
    ("smam", "\x1b[?7l"),
];

/// Prints three lines of text, and moves the cursor to the second line.
const TEXT: &str = "abcdef\r\nghijkl\r\nmnopqr\x1b[2;3H";

/// The state of a terminal as text: its dump, its colors, events and replies.
fn describe(bytes: &[&[u8]]) -> Vec<String> {
    let mut term = terminal(bytes);
    let mut lines: Vec<String> = term.dump().lines().map(str::to_owned).collect();
    // 256 colors are too many to record. The queries below show those that strings change.
    lines.retain(|line| !line.starts_with("palette "));
    lines.push(format!("events {:?}", term.take_events()));
    lines.push(format!("replies {:?}", String::from_utf8_lossy(&term.take_replies())));
    Parser::new().advance(&mut term, b"\x1b]4;1;?\x07\x1b]12;?\x07");
    lines.push(format!("colors {:?}", String::from_utf8_lossy(&term.take_replies())));
    lines
}

/// The differences between two states: the changed words of a line, or whole lines that appear or disappear.
fn changes(before: &[String], after: &[String]) -> String {
    let mut out = String::new();
    let mut added: Vec<&String> = after.iter().filter(|line| !before.contains(line)).collect();
    for old in before.iter().filter(|line| !after.contains(line)) {
        // A row begins with its number, and any other line with the name of the state that it describes.
        let name = old.split_whitespace().next().unwrap_or_default();
        let is_named = name.starts_with(char::is_alphabetic);
        let at =
            added.iter().position(|new| is_named && new.split_whitespace().next() == Some(name));
        let Some(at) = at else {
            let _ = writeln!(out, "  - {}", old.trim());
            continue;
        };
        let (mut old, mut new): (Vec<&str>, Vec<&str>) = (
            old.split_whitespace().skip(1).collect(),
            added.remove(at).split_whitespace().skip(1).collect(),
        );
        while old.last().is_some() && old.last() == new.last() {
            old.pop();
            new.pop();
        }
        let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
        // Include the word before the change, which often names the changed state.
        let start = same.saturating_sub(1);
        let _ = writeln!(out, "  {name}: {} → {}", old[start..].join(" "), new[start..].join(" "));
    }
    for new in added {
        let _ = writeln!(out, "  + {}", new.trim());
    }
    out
}

#[test]
fn the_keys_are_those_of_the_encoder() {
    let Some(entry) = Entry::compile() else { return };
    // Set the modes in which full-screen programs read keys.
    let modes = terminal(&[&entry.expand("smkx", &[])]).modes();
    let names = entry.names(|name, value| name.starts_with('k') && !value.is_empty());
    assert!(names.len() > 100);
    for name in names {
        let value = entry.expand(name, &[]);
        let expected = match (reported(name), key(name)) {
            (Some(bytes), _) => bytes,
            (None, Some((key, modifiers))) => {
                encode_key(&KeyEvent::press(key, modifiers), modes, &KeyboardMode::default())
            }
            (None, None) => panic!("{name} is no key that this test knows"),
        };
        assert_eq!(value.escape_ascii().to_string(), expected.escape_ascii().to_string(), "{name}");
    }
}

#[test]
fn the_flags_and_numbers_hold() {
    let Some(entry) = Entry::compile() else { return };
    for name in entry.names(|_, value| value.is_empty() || value.starts_with('#')) {
        if NO_REPLY.contains(&name) {
            continue;
        }
        let row = FLAGS.iter().find(|(own, ..)| *own == name);
        let (_, output, expected) = row.unwrap_or_else(|| panic!("{name} has no row in FLAGS"));
        let mut term = terminal(&[output.as_bytes()]);
        let reply = String::from_utf8(term.take_replies()).expect("ASCII");
        let holds = reply.starts_with(expected) || term.dump().contains(expected);
        assert!(holds, "{name}: {reply:?}\n{}", term.dump());
    }
}

#[test]
fn the_line_drawing_characters_are_drawn() {
    let Some(entry) = Entry::compile() else { return };
    let acsc = entry.expand("acsc", &[]);
    assert_eq!(acsc.len() % 2, 0);
    for pair in acsc.chunks(2) {
        let term = terminal(&[&entry.expand("smacs", &[]), &pair[1..]]);
        let mut text = String::new();
        term.row_text(term.live_top(), &mut text);
        assert!(text.chars().next().is_some_and(|c| !c.is_ascii()), "{pair:?}: {text:?}");
    }
}

#[test]
fn queries_get_the_stated_replies() {
    let Some(entry) = Entry::compile() else { return };
    let replies = |name| String::from_utf8(terminal(&[&entry.expand(name, &[])]).take_replies());
    // `u6`, `u8`, `rv` and `xr` are patterns of replies. The code below spells them out and checks the replies against
    // them.
    assert_eq!(entry.capabilities["u6"], r"\E[%i%d;%dR");
    assert_eq!(replies("u7").unwrap(), "\x1b[1;1R");
    assert_eq!(entry.capabilities["u8"], r"\E[?%[;0123456789]c");
    let attributes = replies("u9").unwrap();
    let numbers = attributes.strip_prefix("\x1b[?").and_then(|rest| rest.strip_suffix('c'));
    assert!(numbers.unwrap().chars().all(|c| c == ';' || c.is_ascii_digit()), "{attributes:?}");
    assert_eq!(entry.capabilities["rv"], r"\E\\[>[0-9]+;[0-9]+;[0-9]+c");
    let version = replies("RV").unwrap();
    let numbers = version.strip_prefix("\x1b[>").and_then(|rest| rest.strip_suffix('c'));
    assert_eq!(numbers.unwrap().split(';').filter(|n| n.parse::<u32>().is_ok()).count(), 3);
    assert_eq!(entry.capabilities["xr"], r"\EP>\\|[ -~]+\E\\\\");
    let name = replies("XR").unwrap();
    let name = name.strip_prefix("\x1bP>|").and_then(|rest| rest.strip_suffix("\x1b\\")).unwrap();
    assert!(name.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{name:?}");
}

/// Strings that are not output, or that another test covers.
fn is_elsewhere(name: &str) -> bool {
    const OTHERS: &[&str] = &["PE", "PS", "RV", "XR", "acsc", "rv", "u6", "u7", "u8", "u9", "xr"];
    name.starts_with('k') || OTHERS.contains(&name)
}

#[test]
fn the_strings_do_what_is_recorded() {
    let Some(entry) = Entry::compile() else { return };
    let strings = entry.names(|_, value| !value.is_empty() && !value.starts_with('#'));
    let mut record = String::new();
    for name in strings.into_iter().filter(|name| !is_elsewhere(name)) {
        let uses: Vec<&[&str]> =
            PARAMETERS.iter().filter(|(own, _)| *own == name).map(|(_, args)| *args).collect();
        let uses = if uses.is_empty() { vec![&[][..]] } else { uses };
        for parameters in uses {
            let before = BEFORE.iter().find(|(own, _)| *own == name).map_or("", |(_, text)| *text);
            // The ends of a status line and of synchronized output have an effect only after their beginnings.
            let before = match (name, parameters) {
                ("fsl", _) => "\x1b]2;title",
                ("Sync", ["2"]) => "\x1b[?2026h",
                ("XM", ["0"]) => "\x1b[?1006;1000h",
                _ => before,
            };
            let mut string = entry.expand(name, parameters);
            if name == "tsl" {
                string.extend_from_slice(b"title\x07");
            }
            if name == "flash" {
                // The second half of the string ends the flash. Apply only the first half, to record the flash.
                string.truncate(5);
            }
            let old = describe(&[TEXT.as_bytes(), before.as_bytes()]);
            let new = describe(&[TEXT.as_bytes(), before.as_bytes(), &string]);
            let changes = changes(&old, &new);
            assert!(!changes.is_empty(), "{name} {parameters:?} changes nothing");
            let _ = writeln!(
                record,
                "{}\n{changes}",
                once(name).chain(parameters.iter().copied()).collect::<Vec<_>>().join(" ")
            );
        }
    }
    expect_test::expect_file!["terminfo.txt"].assert_eq(&record);
}
