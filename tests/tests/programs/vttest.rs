//! vttest (version 2.7, 20221229) in a pane, screen by screen: its menus 1 to 6, 8, 9 and 11.
//!
//! Opens every entry of these menus, except those in [`LEFT_OUT`], and compares every screen with a file of `vttest/`.
//! The expected screens follow vttest's own descriptions. If a description does not determine the screen, they follow
//! the screen of xterm 379, or its source. To accept an intended change, run `UPDATE_EXPECT=1 cargo test -p
//! unterm-tests --test end_to_end vttest`.
//!
//! All screens were inspected by eye. vttest was also run in xterm 379 with the same choices, except the tests that ask
//! for keys (5, 6.1, 6.2, 11.1.2.1, 11.1.7, 11.3.4), and two reports that xterm doesn't send (11.2.5.5, 11.2.5.6).
//! xterm's screens, as its printer writes them with attributes (`CSI i`) and in pictures, were compared cell by cell
//! with the screens in the files. They differ in:
//! - each terminal's reports about itself (DA, DECRQM, DECRQSS, DECCIR, XTWINOPS)
//! - 11.2.3.2: xterm's display did not have the last height
//! - characters that Unicode lacks: U+2426 in Unterm, U+2E2E in xterm
//! - concealed text, which xterm's printer omits (11.6.9)
//! - the columns that DECCOLM adds after a colored erasure, which have no color in xterm (11.6.6.1 #4)
//!
//! A screen in a file begins with its entry, its number within the entry, its size, and the cursor's row and column,
//! counted from 0. If a program set the cursor's shape, the shape follows. A row of text begins with `|`. Before the
//! `|`, `=` marks double width, and `^` and `v` mark the upper and lower half of double height. Of such rows, only the
//! visible columns are shown. A row that begins with `~` shows the attributes of the text above it as letters, and the
//! letters are explained below the screen.
//!
//! Screens that differ from vttest's descriptions:
//! - Sets in GR show nothing, because bytes from 0x80 on are UTF-8, whichever sets are designated (3.10; xterm 379 shows
//!   these sets).
//! - With margins, IL and DL end one row off, and CNL and CPL count past the margin, because vttest ignores margins
//!   there (11.3.3.11, 11.4.2.13, 11.4.2.14).
//! - DECSCUSR 0 is reported as 0, which stands for the user's own cursor, and not as 1 (11.4.5.2.3.8).
//! - A VT's settings of keyboard, lamps, ports and power are reported as unknown.
//!
//! Effects that vttest leaves to the tester's eye and ear (bells, lamps, smooth scrolling, blinking) are not checked
//! here.

use std::{cell::RefCell, fmt::Write as _, iter};

use anyhow::{Context as _, Result, ensure};
use expect_test::{ExpectFile, expect_file};
use serde_json::{Value, json};
use unterm_tests::{Instance, Pane, Start, wait_for};

/// Entries that are not opened, with the reason.
const LEFT_OUT: &[(&str, &str)] = &[
    ("3.1", "resets what others have chosen"),
    ("3.2", "changes how vttest shows some sets"),
    ("3.3", "is chosen before a walk"),
    ("3.4", "is chosen before a walk"),
    ("3.5", "is chosen before a walk"),
    ("3.6", "is chosen before a walk"),
    ("3.7", "is chosen before a walk"),
    ("3.12", "is not there in vttest"),
    ("6.7", "DECREQTPARM is of a VT100; a VT420 and later (and xterm as one) doesn't answer it"),
    ("11.1.4", "there is no printer"),
    ("11.1.5", "needs a font of the VT220's own"),
    ("11.2.1", "as 11.1"),
    ("11.2.2.3", "is not there in vttest"),
    ("11.2.2.4", "is not there in vttest"),
    ("11.2.4", "is not there in vttest"),
    ("11.2.5.1", "as 11.1.1"),
    ("11.2.5.2.1", "as 11.1.1.1"),
    ("11.2.5.2.2", "as 11.1.1.1.1"),
    ("11.2.5.2.3", "as 11.1.1.1.3"),
    ("11.2.5.2.4", "as 11.1.1.1.4"),
    ("11.2.5.3.1.2", "as 3.3"),
    ("11.2.5.3.1.3", "as 3.4"),
    ("11.2.5.3.1.4", "as 3.5"),
    ("11.2.5.3.1.5", "as 3.6"),
    ("11.2.5.3.1.6", "as 3.7"),
    ("11.2.5.4", "the whole state in a form of the terminal's own; xterm doesn't report it either"),
    ("11.2.6.1", "as 11.1.2"),
    ("11.2.6.2", "there is no status line"),
    ("11.3.1", "as 11.2"),
    ("11.3.2.1", "as 11.2.2"),
    ("11.3.2.2", "is chosen before a walk"),
    ("11.3.2.3", "is chosen before a walk"),
    ("11.3.2.4", "is chosen before a walk"),
    ("11.3.2.5", "is chosen before a walk"),
    ("11.3.2.6", "colors the margins"),
    ("11.3.3.1", "is chosen before a walk"),
    ("11.3.3.2", "is chosen before a walk"),
    ("11.3.3.3", "is chosen before a walk"),
    ("11.3.3.4", "is chosen before a walk"),
    ("11.3.3.5", "colors the margins"),
    ("11.3.4.5", "is not there in vttest"),
    ("11.3.4.6", "is not there in vttest"),
    ("11.3.4.7", "is not there in vttest"),
    ("11.3.5", "is not there in vttest"),
    ("11.3.6.1", "is chosen before a walk"),
    ("11.3.6.2", "is chosen before a walk"),
    ("11.3.6.3", "is chosen before a walk"),
    ("11.3.6.4", "is chosen before a walk"),
    ("11.3.6.5", "colors the margins"),
    ("11.3.6.6", "draws boxes of lines"),
    ("11.3.7.1", "as 11.2.5"),
    ("11.3.7.2.1", "as 11.2.5.3"),
    ("11.3.7.2.2", "as 11.4.5.2.2"),
    ("11.3.7.2.3.1", "as 11.2.5.3.6"),
    ("11.3.7.3.1", "as 11.2.5.2"),
    ("11.3.7.3.2", "as 11.1.1.1.3"),
    ("11.3.7.3.3", "as 11.1.1.1.4"),
    ("11.3.7.3.4", "as 11.1.1.1.1"),
    ("11.3.7.3.5", "as 11.2.5.2.5"),
    ("11.3.7.3.10", "asks for 96 checksums in 20 seconds; esctest does too, in one"),
    ("11.3.7.3.11", "as 11.3.7.3.10"),
    ("11.3.7.3.12", "as 11.2.5.2.6"),
    ("11.3.8.1", "as 11.2.6"),
    ("11.4.1", "as 11.3"),
    ("11.4.2.1", "as 11.3.2"),
    ("11.4.2.2", "is chosen before a walk"),
    ("11.4.2.3", "is chosen before a walk"),
    ("11.4.2.4", "is chosen before a walk"),
    ("11.4.2.5", "is chosen before a walk"),
    ("11.4.2.6", "colors the margins"),
    ("11.4.3", "is not there in vttest"),
    ("11.4.4", "is not there in vttest"),
    ("11.4.5.1", "as 11.3.7"),
    ("11.4.5.2.1", "as 11.3.7.2"),
    ("11.4.5.2.3.1", "as 11.3.7.2.3"),
    ("11.4.5.2.3.2.1", "as 11.3.7.2.3"),
    ("11.4.5.3", "as 11.3.7.3"),
    ("11.6.1", "removes the colors"),
    ("11.6.7", "as 11.7"),
    ("11.7.1.1", "ERM, which VTs and xterm don't have"),
    ("11.8.1", "as 11.4"),
    ("11.8.2.1", "as 11.4.5"),
    ("11.8.3", "a title, which is not on the screen"),
    ("11.8.4", "there are no fonts to choose by name"),
    ("11.8.5", "asks for a mouse"),
    ("11.8.6", "there is no Tektronix 4014"),
    ("11.8.7.1", "removes the colors"),
    ("11.8.7.2", "fills the screen otherwise"),
    ("11.8.8", "moves a window, which there is none of, and waits for it"),
];

/// A prompt of vttest other than "Push <RETURN>". Contains the text that identifies the prompt, whether its screen is
/// compared, and the keys that answer it.
struct ScriptedAnswer {
    shows: String,
    is_seen: bool,
    keys: Vec<String>,
}

/// A question that is identified by the text `shows`, and the keys that answer it.
fn asked(shows: &str, keys: &[&str]) -> ScriptedAnswer {
    let keys = keys.iter().map(|key| (*key).to_owned()).collect();
    ScriptedAnswer { shows: shows.to_owned(), is_seen: false, keys }
}

/// A question whose screen is compared.
fn seen(shows: &str, keys: &[&str]) -> ScriptedAnswer {
    ScriptedAnswer { is_seen: true, ..asked(shows, keys) }
}

/// A keyboard test that cycles through modes. In each mode, the test presses all keys and then Tab. vttest answers each
/// key with its description in that mode.
fn pressed(modes: &[&str], keys: &[(&str, &[&str])]) -> Vec<ScriptedAnswer> {
    let mut questions = Vec::new();
    for (number, mode) in modes.iter().enumerate() {
        let mut shows = *mode;
        for (key, texts) in keys {
            questions.push(asked(shows, &[*key]));
            shows = texts[number.min(texts.len() - 1)];
        }
        questions.push(seen(shows, &["tab"]));
    }
    questions
}

/// The questions of an entry.
fn questions(path: &str) -> Vec<ScriptedAnswer> {
    let ascii: Vec<String> = ('!'..='~').map(|char| char.to_string()).collect();
    let ascii: Vec<&str> = ascii.iter().map(String::as_str).collect();
    match path {
        "3.13" => vec![asked("Press each key", &ascii), seen("= 126", &["enter"])],
        "5.2" => vec![
            asked("Auto Repeat OFF:", &["a", "enter"]),
            asked("Auto Repeat ON:", &["a", "a", "a", "enter"]),
        ],
        "5.3" => vec![
            asked("Press each key", &[&ascii[..], &["tab", "space", "backspace"]].concat()),
            seen("<127>", &["enter"]),
        ],
        "5.4" => pressed(
            &["Cursor key mode RESET", "Cursor key mode SET", "<VT52 Mode>"],
            &[
                ("up", &["Up arrow key"]),
                ("down", &["Down arrow key"]),
                ("left", &["Left arrow key"]),
                ("right", &["Right arrow key"]),
            ],
        ),
        "5.5" => pressed(
            &[
                "ANSI Numeric mode",
                "ANSI Application mode",
                "VT52 Numeric mode",
                "VT52 Application mode",
            ],
            &[
                ("f1", &["PF1 key"]),
                ("f2", &["PF2 key"]),
                ("f3", &["PF3 key"]),
                ("f4", &["PF4 key"]),
                ("kp_0", &["Numeric 0 key"]),
                ("kp_1", &["Numeric 1 key"]),
                ("kp_2", &["Numeric 2 key"]),
                ("kp_3", &["Numeric 3 key"]),
                ("kp_4", &["Numeric 4 key"]),
                ("kp_5", &["Numeric 5 key"]),
                ("kp_6", &["Numeric 6 key"]),
                ("kp_7", &["Numeric 7 key"]),
                ("kp_8", &["Numeric 8 key"]),
                ("kp_9", &["Numeric 9 key"]),
                ("kp_subtract", &["Minus key"]),
                ("kp_separator", &["Comma key"]),
                ("kp_decimal", &["Point key"]),
                ("kp_enter", &["ENTER key"]),
            ],
        ),
        // Like in xterm, Home and End are different keys than Find and Select.
        "5.6" => pressed(
            &["<Normal mode", "<VT100/VT52 mode"],
            &[
                ("insert", &["Insert Here key", "2 ~"]),
                ("delete", &["Remove key", "3 ~"]),
                ("home", &["[ H"]),
                ("end", &["[ F"]),
                ("pageup", &["Prev key", "5 ~"]),
                ("pagedown", &["Next key", "6 ~"]),
            ],
        ),
        // Like in xterm, F1 to F4 are the PF keys.
        "5.7" => pressed(
            &["<Normal mode", "<VT100/VT52 mode"],
            &[
                ("f1", &["O P"]),
                ("f2", &["O Q"]),
                ("f3", &["O R"]),
                ("f4", &["O S"]),
                ("f5", &["1 5 ~"]),
                ("f6", &["1 7 ~"]),
                ("f7", &["1 8 ~"]),
                ("f8", &["1 9 ~"]),
                ("f9", &["2 0 ~"]),
                ("f10", &["2 1 ~"]),
                ("f11", &["2 3 ~"]),
                ("f12", &["2 4 ~"]),
                ("f13", &["2 5 ~"]),
                ("f14", &["2 6 ~"]),
                ("f15", &["2 8 ~"]),
                ("f16", &["2 9 ~"]),
                ("f17", &["3 1 ~"]),
                ("f18", &["3 2 ~"]),
                ("f19", &["3 3 ~"]),
                ("f20", &["3 4 ~"]),
            ],
        ),
        "5.8" => vec![seen("Finish with a single RETURN", &["enter"])],
        "5.9" => {
            let letters = ('a'..='z').map(|letter| letter.to_string());
            let others = ["space", "[", "\\", "]", "^", "_"].map(str::to_owned);
            let twice = |key: String| iter::repeat_n(format!("ctrl+{key}"), 2);
            let keys: Vec<String> = letters.chain(others).flat_map(twice).collect();
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            vec![asked("Push each CTRL-key TWICE", &keys), asked("US  (CTRL-_", &["backspace"])]
        }
        "6.1" => vec![asked("Finish this test with RETURN", &["enter"])],
        "6.2" => {
            vec![asked("NewLine mode set.", &["enter"]), asked("NewLine mode reset.", &["enter"])]
        }
        "9.4" => vec![seen("If you can see this", &["0", "enter"])],
        "11.1.2.1" => vec![
            asked("Local echo is enabled", &["a", "b", "b"]),
            asked("Local echo is disabled", &["c", "d", "d"]),
        ],
        // Unterm has no user-defined keys, so F6 always sends the same sequence.
        "11.1.7" => vec![asked("Press 'q' to quit", &["f6"]), asked("1 7 ~", &["q"])],
        "11.3.4.1" => vec![
            asked("Press the backspace key", &["backspace"]),
            asked("Press the backspace key again", &["backspace"]),
        ],
        "11.3.4.2" => vec![
            asked("numeric codes", &["kp_7"]),
            asked(" 7", &["kp_7"]),
            asked("control codes", &["kp_7"]),
            asked("O w", &["kp_7"]),
        ],
        "11.3.4.3" => vec![
            asked("data processing", &["a"]),
            asked(" a", &["a"]),
            asked("typewriter", &["b"]),
            asked(" b", &["b"]),
        ],
        "11.3.4.4" => vec![
            asked("position reports", &["a"]),
            asked(" a", &["a"]),
            asked("character codes", &["b"]),
            asked(" b", &["b"]),
        ],
        _ => Vec::new(),
    }
}

/// What vttest asks for.
enum PromptKind {
    /// RETURN after a screen.
    Return,
    /// An entry of the menu at `path`, by its number up to `last`. The main menu has an empty path.
    Entry { path: String, last: usize },
}

impl PromptKind {
    /// What vttest asks for in the text before the cursor. The text must be among the changes that `screen.diff`
    /// reports.
    fn of(diff: &Value) -> Option<Self> {
        let number = |value: &Value| value.as_u64().map(|number| number as usize);
        let top = number(&diff["scrollback_rows"])?.checked_sub(number(&diff["rows"])?)?;
        let (row, col) = (top + number(&diff["cursor"]["y"])?, number(&diff["cursor"]["x"])?);
        // Use only changes of the screen, because `screen.diff` also reports rows that have scrolled off.
        let changes = diff["changes"].as_array()?;
        let lines: Vec<(usize, &str)> = changes
            .iter()
            .filter_map(|change| Some((number(&change["row"])?, change["text"].as_str()?)))
            .filter(|(at, _)| *at >= top)
            .collect();
        let (_, line) = lines.iter().find(|(at, _)| *at == row)?;
        let before: String = line.chars().chain(iter::repeat(' ')).take(col).collect();
        if before.ends_with("Push <RETURN>") {
            return Some(Self::Return);
        }
        let (_, last) = before.split_once("Enter choice number (0 - ")?;
        let last = last.strip_suffix("): ")?.parse().ok()?;
        // Menu 9 is the only menu whose title does not contain its number.
        let path = match lines.iter().any(|(_, line)| line.starts_with("Test of known bugs in")) {
            true => "9",
            false => lines.iter().find_map(|(_, line)| menu_path(line)).unwrap_or_default(),
        };
        Some(Self::Entry { path: path.to_owned(), last })
    }
}

/// The path in a menu's title. The title has the form `Menu 11.1: VT220 Tests`.
fn menu_path(line: &str) -> Option<&str> {
    Some(line.trim_start().strip_prefix("Menu ")?.split_once(':')?.0)
}

/// vttest in a pane of 80×24 cells. vttest may resize the pane.
struct Vttest<'a> {
    unterm: &'a mut Instance,
    pane: Pane,
    /// The pane's `seq` when the test last typed a key. Text from before that is not a question.
    since: u64,
    /// The screens so far.
    shown: String,
    /// The entry of the last screen, and its number within the entry.
    last: (String, usize),
}

impl<'a> Vttest<'a> {
    /// Starts vttest, and waits for its main menu.
    fn start(unterm: &'a mut Instance) -> Result<Self> {
        let pane = unterm.run("vttest", &["24x80.132"])?;
        let mut vttest =
            Self { unterm, pane, since: 0, shown: String::new(), last: Default::default() };
        vttest.asks()?;
        Ok(vttest)
    }

    fn seq(&mut self) -> Result<u64> {
        let screen = self.unterm.call("screen.text", json!({"id": self.pane.id}))?;
        screen["seq"].as_u64().context("screen.text gave no seq")
    }

    /// Waits until vttest asks for input.
    fn asks(&mut self) -> Result<PromptKind> {
        let what_is_new = json!({"id": self.pane.id, "since_seq": self.since});
        let unterm = &mut *self.unterm;
        let last = RefCell::new(Value::Null);
        wait_for(
            "vttest to ask for something",
            || {
                let diff = unterm.call("screen.diff", what_is_new.clone())?;
                let asks = PromptKind::of(&diff);
                *last.borrow_mut() = diff;
                Ok(asks)
            },
            || format!("{:#}", last.borrow()["changes"]),
        )
    }

    /// Types input, and waits until vttest asks for input again.
    fn answer(&mut self, input: &str) -> Result<PromptKind> {
        self.since = self.seq()?;
        self.pane.type_text(self.unterm, input)?;
        self.asks()
    }

    /// Waits for a question and answers it.
    fn answer_question(
        &mut self,
        path: &str,
        question: &ScriptedAnswer,
        is_first: bool,
    ) -> Result<()> {
        // Nothing shows that the output is complete, so screens that are compared get more time. The first question
        // also gets more time, because vttest discards input typed before it has set up the terminal.
        let quiet = if question.is_seen || is_first { 200 } else { 60 };
        let awaited = json!({
            "id": self.pane.id,
            "all": [{"text": question.shows}, {"stable_ms": quiet}],
            "since_seq": self.since,
        });
        let waited = self.unterm.call("session.wait", awaited)?;
        ensure!(waited["matched"] == true, "{path} did not show {:?}", question.shows);
        if question.is_seen {
            self.take(path)?;
        }
        self.since = self.seq()?;
        let keys = json!({"id": self.pane.id, "keys": question.keys});
        self.unterm.call("session.keys", keys)?;
        Ok(())
    }

    /// Opens an entry of the current menu, and goes through its screens. If the entry is a menu, types the numbers in
    /// `first` and opens all its entries. Ends in the menu that contains the entry.
    fn open(&mut self, path: &str, first: &[&str]) -> Result<()> {
        let entry = path.rsplit('.').next().unwrap_or(path);
        let questions = questions(path);
        let mut asks = if questions.is_empty() {
            self.answer(&format!("{entry}\r"))?
        } else {
            self.since = self.seq()?;
            self.pane.type_text(self.unterm, &format!("{entry}\r"))?;
            for (index, question) in questions.iter().enumerate() {
                self.answer_question(path, question, index == 0)?;
            }
            self.asks()?
        };
        loop {
            asks = match asks {
                PromptKind::Return => {
                    self.take(path)?;
                    self.answer("\r")?
                }
                PromptKind::Entry { path: at, last } if at == path => {
                    for number in first {
                        self.answer(&format!("{number}\r"))?;
                    }
                    for number in 1..=last {
                        let inner = format!("{path}.{number}");
                        if !LEFT_OUT.iter().any(|(left_out, _)| *left_out == inner) {
                            self.open(&inner, &[])?;
                        }
                    }
                    self.answer("0\r")?
                }
                PromptKind::Entry { .. } => return Ok(()),
            };
        }
    }

    /// Appends the current screen to the recorded ones.
    fn take(&mut self, path: &str) -> Result<()> {
        let on_pane = json!({"id": self.pane.id});
        let cells = self.unterm.call("screen.cells", on_pane.clone())?;
        let cursor = self.unterm.call("screen.cursor", on_pane)?;
        let number = if self.last.0 == path { self.last.1 + 1 } else { 1 };
        self.last = (path.to_owned(), number);
        let shape = cursor["shape"].as_str().context("screen.cursor gave no shape")?;
        write!(self.shown, "=== {path} #{number} ")?;
        write_screen(&mut self.shown, &cells, shape)
    }
}

/// Writes a screen in the format of the files.
fn write_screen(out: &mut String, cells: &Value, shape: &str) -> Result<()> {
    let cursor = &cells["cursor"];
    write!(out, "{}×{}, cursor {},{}", cells["cols"], cells["rows"], cursor["y"], cursor["x"])?;
    let is = |value: &Value| value.as_bool().unwrap_or_default();
    if !is(&cursor["visible"]) {
        out.push_str(" hidden");
    }
    if shape != "Default" {
        write!(out, " {shape}")?;
    }
    for (mode, is_on) in
        [("reverse", &cells["reverse_screen"]), ("alternate", &cells["alternate_screen"])]
    {
        if is(is_on) {
            write!(out, ", {mode}")?;
        }
    }
    out.push('\n');
    let cols = cells["cols"].as_u64().context("no cols")? as usize;
    let mut looks = Vec::new();
    let mut rows = Vec::new();
    for line in cells["lines"].as_array().context("no lines")? {
        write_row(&mut rows, &mut looks, line, cols)?;
    }
    let count = rows.iter().rposition(|row| row != " |").map_or(0, |last| last + 1);
    for row in &rows[..count] {
        writeln!(out, "{row}")?;
    }
    for (look, letter) in looks.iter().zip(letters()) {
        writeln!(out, "   {letter}: {look}")?;
    }
    Ok(())
}

/// Writes a row. If it contains attributes, writes them in a row below.
fn write_row(
    rows: &mut Vec<String>,
    looks: &mut Vec<String>,
    line: &Value,
    cols: usize,
) -> Result<()> {
    let (sign, seen) = match line["size"].as_str() {
        None => (' ', cols),
        Some("double_width") => ('=', cols / 2),
        Some("double_top") => ('^', cols / 2),
        Some(_) => ('v', cols / 2),
    };
    let (mut text, mut signs) = (String::new(), String::new());
    for run in line["runs"].as_array().context("no runs")? {
        let number = |name: &str| run[name].as_u64().unwrap_or_default() as usize;
        let (col, end) = (number("col"), (number("col") + number("cols")).min(seen));
        let run_text = run["text"].as_str().context("no text")?;
        pad(&mut text, col.min(seen));
        text.extend(run_text.chars().take(end.saturating_sub(col)));
        let look = look(run);
        if end <= col || look.is_empty() {
            continue;
        }
        let place = looks.iter().position(|known| *known == look).unwrap_or(looks.len());
        if place == looks.len() {
            looks.push(look);
        }
        let letter = letters().nth(place).context("more looks than letters")?;
        pad(&mut signs, col);
        signs.extend(iter::repeat_n(letter, end - col));
    }
    rows.push(format!("{sign}|{}", text.trim_end()));
    if !signs.is_empty() {
        rows.push(format!(" ~{signs}"));
    }
    Ok(())
}

/// Pads a row with blanks up to a column.
fn pad(row: &mut String, col: usize) {
    let count = row.chars().count();
    row.extend(iter::repeat_n(' ', col.saturating_sub(count)));
}

/// The attributes of a run of text. Empty if the run has no attributes.
fn look(run: &Value) -> String {
    let text = |name: &str| run[name].as_str();
    let attributes = run["attributes"].as_array().into_iter().flatten();
    let mut words: Vec<String> = attributes.filter_map(Value::as_str).map(str::to_owned).collect();
    words.extend(text("underline").map(|form| match form {
        "single" => "underline".to_owned(),
        form => format!("{form} underline"),
    }));
    words.extend(text("foreground").map(str::to_owned));
    words.extend(text("background").map(|color| format!("on {color}")));
    words.join(", ")
}

/// The letters that stand for attributes. There are enough for all colors on all backgrounds.
fn letters() -> impl Iterator<Item = char> {
    ('a'..='z').chain('A'..='Z').chain('0'..='9').chain('α'..='ω').chain('а'..='я').chain('А'..='Я')
}

/// Opens entries and compares their screens. Each entry is opened in a new vttest, after typing the given input in its
/// menu.
fn check(walks: &[(&str, &str)], expected: ExpectFile) -> Result<()> {
    let mut unterm = Start::headless().arg("--allow").arg("window-ops,title-reports").now()?;
    let mut shown = String::new();
    for (path, first) in walks {
        let first: Vec<&str> = first.split_whitespace().collect();
        let mut vttest = Vttest::start(&mut unterm)?;
        let menus = path.rsplit_once('.').map_or("", |(menus, _)| menus);
        for entry in menus.split('.').filter(|entry| !entry.is_empty()) {
            vttest.answer(&format!("{entry}\r"))?;
        }
        vttest.open(path, &first)?;
        if !first.is_empty() {
            writeln!(shown, "=== {path} after {}", first.join(" "))?;
        }
        shown.push_str(&vttest.shown);
        let pane = vttest.pane;
        pane.close(&mut unterm)?;
    }
    expected.assert_eq(&shown);
    Ok(())
}

#[test]
fn cursor_movements() -> Result<()> {
    check(&[("1", "")], expect_file!["vttest/1.txt"])
}

#[test]
fn screen_features() -> Result<()> {
    check(&[("2", "")], expect_file!["vttest/2.txt"])
}

#[test]
fn character_sets() -> Result<()> {
    // First the defaults, then national character sets (French, German, Swedish, Italian), then DEC's own sets (special
    // graphics, technical, Greek, Cyrillic).
    let walks = [("3", ""), ("3", "3 4 9 5 11 6 22 7 16"), ("3", "3 4 3 5 6 6 13 7 2")];
    check(&walks, expect_file!["vttest/3.txt"])
}

#[test]
fn double_sized_characters() -> Result<()> {
    check(&[("4", "")], expect_file!["vttest/4.txt"])
}

#[test]
fn keyboard() -> Result<()> {
    check(&[("5", "")], expect_file!["vttest/5.txt"])
}

#[test]
fn reports() -> Result<()> {
    check(&[("6", "")], expect_file!["vttest/6.txt"])
}

#[test]
fn vt102_features() -> Result<()> {
    check(&[("8", "")], expect_file!["vttest/8.txt"])
}

#[test]
fn known_bugs() -> Result<()> {
    check(&[("9", "")], expect_file!["vttest/9.txt"])
}

#[test]
fn vt220_features() -> Result<()> {
    check(&[("11.1", "")], expect_file!["vttest/11.1.txt"])
}

#[test]
fn vt320_features() -> Result<()> {
    // Start a new vttest for each entry, because text in the history would return on a higher screen.
    let walks = [("11.2.2", ""), ("11.2.3", ""), ("11.2.5", ""), ("11.2.6", "")];
    check(&walks, expect_file!["vttest/11.2.txt"])
}

#[test]
fn vt420_features() -> Result<()> {
    // First without margins, then with all margins around the middle half of the screen, and the origin inside them.
    let walks = [
        ("11.3.2", ""),
        ("11.3.2", "3 2 4 4 4 5 5 5"),
        ("11.3.3", ""),
        ("11.3.3", "2 1 3 3 3 4 4 4"),
        ("11.3.4", ""),
        ("11.3.6", ""),
        ("11.3.6", "2 1 3 3 3 4 4 4"),
        ("11.3.7", ""),
        ("11.3.8", ""),
    ];
    check(&walks, expect_file!["vttest/11.3.txt"])
}

#[test]
fn vt520_features() -> Result<()> {
    let walks = [("11.4.2", ""), ("11.4.2", "3 2 4 4 4 5 5 5"), ("11.4.5", ""), ("11.4.6", "")];
    check(&walks, expect_file!["vttest/11.4.txt"])
}

#[test]
fn iso_6429_cursor_movement() -> Result<()> {
    check(&[("11.5", "")], expect_file!["vttest/11.5.txt"])
}

#[test]
fn iso_6429_colors() -> Result<()> {
    check(&[("11.6", "")], expect_file!["vttest/11.6.txt"])
}

#[test]
fn other_iso_6429_features() -> Result<()> {
    check(&[("11.7", "")], expect_file!["vttest/11.7.txt"])
}

#[test]
fn xterm_features() -> Result<()> {
    check(&[("11.8", "")], expect_file!["vttest/11.8.txt"])
}
