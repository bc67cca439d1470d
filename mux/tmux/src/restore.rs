//! Builds the bytes that give a terminal the state and the text of a tmux pane.
//!
//! Owns the order in which text, cursor and modes are restored. The text comes from `capture-pane -C`, in which escape
//! sequences and backslashes are escaped.

use crate::{command::FORMAT_SEPARATOR, escape, notification, number, recent::LastLines};

/// Starts the next line with the same attributes, but fills it with the default background (XTPUSHSGR, XTPOPSGR).
const NEXT_LINE: &[u8] = b"\x1b[#{\x1b[m\r\n\x1b[#}";

/// Resets the modes that decide where text appears.
const RESET: &[u8] = b"\x1b[?6l\x1b[?69l\x1b[r\x1b[4l\x1b[?7h";

/// Resets the attributes of text. G1 is the set of line drawing characters, because captured text selects it with SO.
const TEXT: &[u8] = b"\x1b[m\x1b(B\x1b)0\x0f";

/// A cursor position that tmux has not saved.
const UNSAVED: u32 = u32::MAX;

/// The state of a pane, as tmux's variables report it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    cols: u16,
    rows: u16,
    cursor: (u32, u32),
    pub(crate) history: u32,
    pub(crate) is_alternate: bool,
    /// The cursor of the main screen, while the alternate screen is shown.
    saved: (u32, u32),
    /// The first and the last row of the scroll region.
    region: (u16, u16),
    /// The values of the variables in [`MODES`]. `None`: this version of tmux does not report it.
    modes: [Option<bool>; MODES.len()],
    /// The columns of the tab stops.
    tabs: Vec<u16>,
    title: String,
}

/// The sequences that set a mode. The second one resets it.
const MODES: [(&str, &str); 12] = [
    ("\x1b[?25h", "\x1b[?25l"),     // cursor_flag (DECTCEM)
    ("\x1b[4h", "\x1b[4l"),         // insert_flag (IRM)
    ("\x1b[?7h", "\x1b[?7l"),       // wrap_flag (DECAWM)
    ("\x1b[?6h", "\x1b[?6l"),       // origin_flag (DECOM)
    ("\x1b[?1h", "\x1b[?1l"),       // keypad_cursor_flag (DECCKM)
    ("\x1b=", "\x1b>"),             // keypad_flag (DECKPAM)
    ("\x1b[?1000h", "\x1b[?1000l"), // mouse_standard_flag
    ("\x1b[?1002h", "\x1b[?1002l"), // mouse_button_flag
    ("\x1b[?1003h", "\x1b[?1003l"), // mouse_all_flag
    ("\x1b[?1005h", "\x1b[?1005l"), // mouse_utf8_flag
    ("\x1b[?1006h", "\x1b[?1006l"), // mouse_sgr_flag
    ("\x1b[?2004h", "\x1b[?2004l"), // bracket_paste_flag
];

/// The index of DECOM in [`MODES`].
const ORIGIN: usize = 3;

/// The maximum number of tab stops.
const TABS: usize = 2_000;

/// The captured lines of a pane. A line that was wrapped is one line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Text {
    pub(crate) history: Vec<Vec<u8>>,
    pub(crate) screen: Vec<Vec<u8>>,
    /// The main screen, while the alternate screen is shown.
    pub(crate) saved: Vec<Vec<u8>>,
}

/// The contents of a terminal when a pane is restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Contents {
    /// The terminal is new. It gets the history and the screen.
    New,
    /// The terminal contains the history. It gets the screen.
    Screen,
    /// The terminal contains everything up to these lines. It gets the lines after them and the screen.
    Until(LastLines),
}

impl Contents {
    /// Whether the lines of the history are needed.
    pub(crate) fn needs_history(&self) -> bool {
        *self != Self::Screen
    }
}

impl State {
    /// Parses the reply that [`crate::command::restore`] requests. `None` if it is malformed.
    pub(crate) fn parse(line: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(line);
        let mut words = text.splitn(12 + MODES.len(), FORMAT_SEPARATOR);
        let mut next = || words.next();
        let (cols, rows) = (number(next()?)?, number(next()?)?);
        let cursor = (number(next()?)?, number(next()?)?);
        let history = number(next()?)?;
        let is_alternate = next()? == "1";
        let saved = (number(next()?).unwrap_or(UNSAVED), number(next()?).unwrap_or(UNSAVED));
        let region = (number(next()?)?, number(next()?)?);
        let mut modes = [None; MODES.len()];
        for mode in &mut modes {
            *mode = match next()? {
                "1" => Some(true),
                "0" => Some(false),
                _ => None,
            };
        }
        let tabs = next()?.split(',').filter_map(number).take(TABS).collect();
        let title = notification::text(next()?.as_bytes());
        let state =
            Self { cols, rows, cursor, history, is_alternate, saved, region, modes, tabs, title };
        (cols > 0 && rows > 0 && region.0 <= region.1 && region.1 < rows).then_some(state)
    }

    /// The bytes for a terminal of the pane's size.
    pub(crate) fn to_vt(&self, text: &Text, contents: &Contents) -> Vec<u8> {
        // CAN ends a sequence in which dropped output may have begun.
        let mut vt = b"\x18\x1b[?1047l".to_vec();
        let all = match self.history {
            0 => &[][..],
            _ => &text.history[..],
        };
        if let Contents::Until(last) = contents
            && !self.is_alternate
        {
            // DECSC and DECRC keep the cursor, which DECOM and DECSTBM move.
            vt.extend_from_slice(b"\x1b7");
            vt.extend_from_slice(RESET);
            vt.extend_from_slice(b"\x1b8");
            vt.extend_from_slice(TEXT);
            add_missing(&mut vt, all, &text.screen, last);
        }
        vt.extend_from_slice(RESET);
        vt.extend_from_slice(TEXT);
        let history = if *contents == Contents::New { all } else { &[] };
        for line in history {
            vt.extend_from_slice(&escape::decode(line));
            vt.extend_from_slice(NEXT_LINE);
        }
        if self.is_alternate {
            self.paint(&mut vt, &text.saved, !history.is_empty());
            if self.saved.0 != UNSAVED && self.saved.1 != UNSAVED {
                vt.extend_from_slice(&move_to(self.saved));
            }
            vt.extend_from_slice(b"\x1b[m\x0f\x1b[?1049h");
            self.paint(&mut vt, &text.screen, false);
        } else {
            self.paint(&mut vt, &text.screen, !history.is_empty());
        }
        vt.extend_from_slice(b"\x1b[m\x0f\x1b)B");
        self.restore_modes(&mut vt);
        vt
    }

    /// Paints a screen. If `follows` is set, it follows history, which scrolls out of the terminal.
    fn paint(&self, vt: &mut Vec<u8>, lines: &[Vec<u8>], follows: bool) {
        if !follows {
            vt.extend_from_slice(b"\x1b[m\x0f\x1b[H\x1b[J");
        }
        for (at, line) in lines.iter().take(usize::from(self.rows)).enumerate() {
            if at > 0 {
                vt.extend_from_slice(NEXT_LINE);
            }
            vt.extend_from_slice(&escape::decode(line));
        }
    }

    fn restore_modes(&self, vt: &mut Vec<u8>) {
        let mut put = |text: String| vt.extend_from_slice(text.as_bytes());
        put("\x1b[3g".to_owned());
        for tab in self.tabs.iter().filter(|tab| **tab < self.cols) {
            put(format!("\x1b[{}G\x1bH", tab + 1));
        }
        put(format!("\x1b[{};{}r", self.region.0 + 1, self.region.1 + 1));
        for (mode, (set, reset)) in self.modes.iter().zip(MODES) {
            match mode {
                Some(true) => put(set.to_owned()),
                Some(false) => put(reset.to_owned()),
                None => {}
            }
        }
        let top = if self.modes[ORIGIN] == Some(true) { u32::from(self.region.0) } else { 0 };
        let (x, y) = self.cursor;
        vt.extend_from_slice(&move_to((x, y.saturating_sub(top))));
        if !self.title.is_empty() {
            vt.extend_from_slice(format!("\x1b]2;{}\x1b\\", self.title).as_bytes());
        }
    }
}

/// Prints the lines after the last lines that the terminal contains. They scroll into its history. Prints nothing if tmux
/// does not have these last lines, because then each line of tmux could be one that the terminal contains already.
fn add_missing(vt: &mut Vec<u8>, history: &[Vec<u8>], screen: &[Vec<u8>], last: &LastLines) {
    let blank = screen.iter().rev().take_while(|line| line.is_empty()).count();
    let lines = history.iter().chain(&screen[..screen.len() - blank]);
    let lines: Vec<Vec<u8>> = lines.map(|line| escape::decode(line)).collect();
    let Some(known) = last.known_in(lines.iter().map(Vec::as_slice)) else { return };
    // The cursor is in the line after the known lines. Output may have begun it.
    for (at, line) in lines[known..].iter().enumerate() {
        vt.extend_from_slice(if at == 0 { b"\r\x1b[K" } else { NEXT_LINE });
        vt.extend_from_slice(line);
    }
}

/// CUP to a position that counts from 0.
fn move_to((x, y): (u32, u32)) -> Vec<u8> {
    let one = |position: u32| position.saturating_add(1).min(u32::from(u16::MAX));
    format!("\x1b[{};{}H", one(y), one(x)).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATE: &str = "20|5|2|3|2|0|4294967295|4294967295|1|4|1|0|1|0|0|0|0|0|0|0|1||8,16|a|b";

    #[test]
    fn a_state_is_parsed_with_a_title_that_contains_the_separator() {
        let state = State::parse(STATE.as_bytes()).unwrap();
        assert_eq!((state.cols, state.rows, state.cursor, state.history), (20, 5, (2, 3), 2));
        assert_eq!((state.region, state.title.as_str()), ((1, 4), "a|b"));
        assert_eq!(state.modes[0], Some(true));
        assert_eq!(state.modes[MODES.len() - 1], None, "tmux 3.3 does not report it");
        assert_eq!(state.tabs, [8, 16]);
    }

    #[test]
    fn malformed_states_are_refused() {
        for state in ["", "20|5", "0|5|2|3|2|0|||0|4|1|0|1|0|0|0|0|0|0|0|1||8|a"] {
            assert_eq!(State::parse(state.as_bytes()), None, "{state}");
        }
        assert_eq!(State::parse(STATE.replace("|1|4|", "|4|1|").as_bytes()), None);
        assert_eq!(State::parse(STATE.replace("|1|4|", "|1|5|").as_bytes()), None);
    }

    #[test]
    fn history_comes_before_the_screen_and_escapes_are_decoded() {
        let state = State::parse(STATE.as_bytes()).unwrap();
        let lines = |lines: &[&str]| lines.iter().map(|line| line.as_bytes().to_vec()).collect();
        let text = Text {
            history: lines(&["one"]),
            screen: lines(&[r"\033[41mtwo\\", "three"]),
            saved: lines(&["never shown"]),
        };
        let vt = String::from_utf8(state.to_vt(&text, &Contents::New)).unwrap();
        let next = str::from_utf8(NEXT_LINE).unwrap();
        assert!(vt.contains(&format!("one{next}\x1b[41mtwo\\{next}three\x1b[m")), "{vt:?}");
        assert!(vt.contains("\x1b[9G\x1bH\x1b[17G\x1bH\x1b[2;5r"), "{vt:?}");
        assert!(vt.ends_with("\x1b[?1006h\x1b[4;3H\x1b]2;a|b\x1b\\"), "{vt:?}");
    }

    #[test]
    fn the_hidden_main_screen_comes_before_the_alternate_one() {
        let line = STATE.replace("|2|0|4294967295|4294967295|", "|0|1|1|0|");
        let state = State::parse(line.as_bytes()).unwrap();
        let text = Text {
            history: vec![b"line 0 of the screen".to_vec()],
            screen: vec![b"vim".to_vec()],
            saved: vec![b"$ vim".to_vec()],
        };
        let vt = String::from_utf8(state.to_vt(&text, &Contents::New)).unwrap();
        assert!(vt.contains("$ vim\x1b[1;2H\x1b[m\x0f\x1b[?1049h"), "{vt:?}");
        assert!(vt.contains("\x1b[H\x1b[Jvim"), "{vt:?}");
        assert!(!vt.contains("line 0"), "tmux has no history: {vt:?}");
    }

    #[test]
    fn only_the_lines_that_a_terminal_misses_are_printed() {
        let state = State::parse(STATE.as_bytes()).unwrap();
        let lines = |lines: &[&str]| lines.iter().map(|line| line.as_bytes().to_vec()).collect();
        let text = Text {
            history: lines(&["one", "two", r"\033[31mthree", "four"]),
            screen: lines(&["five", "six", "", ""]),
            saved: Vec::new(),
        };
        let mut recent = crate::recent::Recent::default();
        recent.push(b"one\r\ntwo\r\nth");
        let contents = Contents::Until(recent.take().unwrap());
        let vt = String::from_utf8(state.to_vt(&text, &contents)).unwrap();
        let next = str::from_utf8(NEXT_LINE).unwrap();
        let missing = ["\r\x1b[K\x1b[31mthree", "four", "five", "six"].join(next);
        // Then the screen is painted in its place.
        assert!(vt.contains(&missing), "{vt:?}");
        assert!(vt.contains(&format!("\x1b[H\x1b[Jfive{next}six")), "{vt:?}");
        assert_eq!(vt.matches("two").count(), 0, "{vt:?}");
        let vt = String::from_utf8(state.to_vt(&text, &Contents::Screen)).unwrap();
        assert_eq!(vt.matches("four").count(), 0, "{vt:?}");
    }
}
