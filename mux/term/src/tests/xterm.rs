//! Compares Unterm's screens with xterm's, for streams on which terminals disagree or which Unterm once got wrong. Runs
//! without xterm.
//!
//! The table next to this file contains xterm's screens, and the reason for each difference.
//! `tests/conformance/examples` writes the table, and `tests/conformance/differ` finds such streams.

use super::Fixture;

const EXAMPLES: &str = include_str!("xterm/examples.txt");
/// Ends sequences and modes that a stream may leave open. xterm gets the same bytes after a stream.
const END: &str = "\x18\x1b\\\x1b<\x1b F\x1b[?18h\x1b[?19h";

/// A screen: its rows up to the last non-empty row, and the cursor as reported.
#[derive(Debug, Default, PartialEq)]
struct Shown<'a> {
    rows: Vec<&'a str>,
    cursor: &'a str,
}

impl<'a> Shown<'a> {
    /// Adds a line of the table to the screen.
    fn take(&mut self, key: &str, value: &'a str) {
        match key {
            "row" => self.rows.push(value),
            "cursor" => self.cursor = value,
            _ => panic!("{key} {value}"),
        }
    }
}

#[test]
fn streams_are_shown_as_in_xterm_or_with_a_reason() {
    let mut failures = Vec::new();
    for example in EXAMPLES.split("\n[").skip(1) {
        let (name, lines) = example.split_once("]\n").expect("a name in brackets");
        let (mut stream, mut why) = (String::new(), None);
        let (mut theirs, mut wanted) = (Shown::default(), Shown::default());
        for line in lines.lines().filter(|line| !line.is_empty()) {
            let (key, value) = line.split_once(' ').unwrap_or((line, ""));
            match key {
                "stream" => stream = unescaped(value),
                "why" => why = Some(value),
                _ if why.is_some() => wanted.take(key, value),
                _ => theirs.take(key, value),
            }
        }
        let mut fixture = Fixture::new(20, 8);
        fixture.feed(stream).feed(END).replies();
        let screen = fixture.screen();
        let cursor = fixture.feed("\x1b[6n").replies();
        let cursor = cursor.trim_start_matches("\x1b[").trim_end_matches('R').replace(';', " ");
        let rows = if screen.is_empty() { Vec::new() } else { screen.split('/').collect() };
        let ours = Shown { rows, cursor: &cursor };
        if why.is_some() && ours == theirs {
            failures.push(format!("{name}: xterm shows the same, but a reason is given"));
            continue;
        }
        let expected = if why.is_some() { &wanted } else { &theirs };
        if ours != *expected {
            failures.push(format!("{name}\n   xterm {theirs:?}\n    ours {ours:?}"));
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

/// Decodes the bytes of a stream from the table.
fn unescaped(stream: &str) -> String {
    let controls = [("\\e", "\x1b"), ("\\r", "\r"), ("\\n", "\n"), ("\\t", "\t"), ("\\b", "\x08")];
    controls.iter().fold(stream.to_owned(), |text, (escape, control)| text.replace(escape, control))
}
