//! Tests: what callers type, what the terminal receives, and the output that remains without the echoes.

use proptest::prelude::*;
use unterm_term::{LineId, Options, Parser, Size};

use super::*;

const PANE: PaneId = PaneId(7);

/// A terminal in which callers type.
struct Fixture {
    term: Term,
    parser: Parser,
    echoes: Echoes,
}

impl Fixture {
    fn new(cols: u16) -> Self {
        let term = Term::new(Size::cells(cols, 40), Options::default());
        Self { term, parser: Parser::new(), echoes: Echoes::default() }
    }

    fn types(&mut self, reader: Reader, text: &str) {
        let mark = self.term.mark_typed().unwrap();
        let place = BeforeTyping { mark, seq: self.term.seq(), reader };
        self.echoes.put(PANE, &self.term, place, text, false);
    }

    fn prints(&mut self, output: &str) {
        self.parser.advance(&mut self.term, output.as_bytes());
    }

    /// The output of all lines, without echoes.
    fn output(&mut self) -> Vec<String> {
        let mut search = self.echoes.search(PANE, &self.term);
        let mut lines = self.term.lines();
        let (mut all, mut text) = (Vec::new(), String::new());
        let oldest = lines.oldest().0;
        let mut start = oldest;
        for row in oldest..lines.end().0 {
            if lines.line_text(LineId(row), true, &mut text) {
                continue;
            }
            let revisions = (start..=row).filter_map(|row| self.term.revision(LineId(row)));
            let revision = revisions.max().unwrap_or_default();
            search.remove_from(&mut lines, start..row + 1, revision, &mut text);
            all.push(text.trim_end().to_owned());
            text.clear();
            start = row + 1;
        }
        self.echoes.keep(search, &mut self.term);
        let end = all.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
        all.truncate(end);
        all
    }

    #[track_caller]
    fn check(&mut self, output: &[&str]) {
        // The second search uses the places that the first search stored.
        assert_eq!(self.output(), output);
        assert_eq!(self.output(), output, "again");
    }
}

const EDITS: &str = "\x1b[?2004h";
const RUNS: &str = "\x1b[?2004l";

#[test]
fn a_terminal_echoes_once_and_the_rest_is_output() {
    let mut it = Fixture::new(20);
    it.types(Reader::Line, "READY\r");
    it.prints("READY\r\n");
    it.check(&[]);
    it.prints("READY\r\nbot> READY\r\n");
    it.check(&["", "READY", "bot> READY"]);
}

#[test]
fn a_line_that_was_typed_twice_is_echoed_twice() {
    let mut it = Fixture::new(20);
    it.types(Reader::Any, "READY\r");
    it.types(Reader::Any, "READY\r");
    it.prints("READY\r\nREADY\r\nREADY\r\n");
    it.check(&["", "", "READY"]);
}

#[test]
fn a_line_that_begins_an_earlier_one_has_its_own_echo() {
    let mut it = Fixture::new(20);
    it.types(Reader::Any, "READY now\r");
    it.types(Reader::Any, "READY\r");
    it.prints("READY now\r\nREADY\r\n");
    it.check(&[]);
}

#[test]
fn text_typed_ahead_is_an_echo_where_an_editor_redraws_it() {
    // zsh draws a line like this: the first character, one column back, and the whole line.
    for (echo, editor) in [
        ("read A; echo DONE\r\n", format!("vm# {EDITS}r\x08read A; echo DONE{RUNS}\r\r\n")),
        ("", format!("vm# {EDITS}r\x08read A; echo DONE{RUNS}\r\r\n")),
        ("", format!("{EDITS}odd prompt read A; echo DONE\r\n{RUNS}\r")),
        ("read A; echo DONE\r\n", ">>> read A; echo DONE\r\n".to_owned()),
        ("", ">>> read A; echo DONE\r\n".to_owned()),
    ] {
        for cols in [5, 14, 80] {
            let mut it = Fixture::new(cols);
            it.prints(&format!("{EDITS}vm# sleep 1{RUNS}\r\n"));
            it.types(Reader::Any, "read A; echo DONE\r");
            for char in format!("{echo}{editor}").chars() {
                it.prints(&char.to_string());
                let shown = it.output();
                assert!(!shown.iter().any(|line| line.contains("DONE")), "{editor:?}: {shown:?}");
            }
            it.prints("DONE\r\nread A; echo DONE\r\n");
            let shown = it.output();
            assert_eq!(shown[shown.len() - 2..], ["DONE", "read A; echo DONE"], "{editor:?}");
        }
    }
}

#[test]
fn an_editor_shows_a_line_again_behind_the_same_prompt() {
    let mut it = Fixture::new(40);
    it.prints(&format!("{EDITS}> "));
    it.types(Reader::Any, "READY\r");
    it.prints("READY");
    it.check(&[">"]);
    // A program keeps editing, and shows the typed text and then an answer.
    it.prints("\r\x1b[K> READY\r\n* READY\r\nREADY\r\n> ");
    it.check(&[">", "* READY", "READY", ">"]);
}

#[test]
fn a_line_that_an_editor_moves_is_still_an_echo() {
    let mut it = Fixture::new(40);
    it.prints(&format!("\r\n\r\n{EDITS}~/dir\r\n+> "));
    it.types(Reader::Any, "READY");
    it.prints("READY");
    it.check(&["", "", "~/dir", "+>"]);
    it.prints("\r\x1b[A\x1b[J> READY\r\n");
    it.check(&["", "", ">"]);
    it.prints("\x1b[H\x1b[2J> READY");
    it.check(&[">"]);
}

#[test]
fn a_list_of_completions_is_output() {
    let mut it = Fixture::new(40);
    it.prints(&format!("{EDITS}$ "));
    it.types(Reader::Any, "REA\t");
    it.prints("REA\x07\r\nREADME  REAL\r\n$ REA");
    it.check(&["$", "README  REAL", "$"]);
}

#[test]
fn a_prompt_that_holds_what_was_typed_is_output() {
    let mut it = Fixture::new(40);
    it.prints("login: ");
    it.types(Reader::Any, "root\r");
    it.prints(&format!("root\r\n{EDITS}[root@host ~]# "));
    it.check(&["login:", "[root@host ~]#"]);
}

#[test]
fn keys_are_shown_behind_the_prompt_or_not_at_all() {
    let mut it = Fixture::new(40);
    it.prints("key: ");
    it.types(Reader::Keys("key: ".to_owned()), "READY\r");
    it.prints("\r\nREADY\r\n");
    it.check(&["key:", "READY"]);
    it.prints("> ");
    it.types(Reader::Keys("> ".to_owned()), "READY");
    it.prints("REA");
    it.check(&["key:", "READY", ">"]);
    it.prints("DY\r\nREADY");
    it.check(&["key:", "READY", ">", "READY"]);
}

#[test]
fn further_lines_are_shown_below_or_behind_prompts() {
    let mut it = Fixture::new(20);
    it.types(Reader::Line, "0123456789abcdefghij+\r\rit\rends\r");
    it.prints("0123456789abcdefghij+\r\n\r\nit\r\nends\r\nit\r\nends\r\n");
    it.check(&["", "", "", "", "it", "ends"]);
    let mut it = Fixture::new(40);
    it.prints(">>> ");
    let prompt = Reader::Keys(">>> ".to_owned());
    it.types(prompt, "for _ in x:\r    print('it')\r\rit\r");
    it.prints(">>> for _ in x:\r\n...     print('it')\r\n... \r\nit\r\n>>> it\r\n".split_at(4).1);
    it.check(&[">>>", "...", "...", "it", ">>>"]);
}

#[test]
fn the_lines_of_a_paste_are_echoes_below_each_other() {
    let mut it = Fixture::new(40);
    it.prints(&format!("{EDITS}$ "));
    it.types(Reader::Any, "\x1b[200~read A\recho READY\x1b[201~");
    it.prints("read A\r\necho READY");
    it.check(&["$"]);
}

#[test]
fn of_a_line_with_a_tab_the_shown_rest_is_an_echo_too() {
    for (typed, shown) in [("cat REA\t", "cat READY.txt"), ("cat\tREADY\r", "cat     READY")] {
        let mut it = Fixture::new(40);
        it.prints(&format!("{EDITS}$ "));
        it.types(Reader::Any, typed);
        it.prints(shown);
        it.check(&["$"]);
    }
}

#[test]
fn erased_characters_are_an_echo_as_long_as_they_are_shown() {
    let mut it = Fixture::new(40);
    it.prints(&format!("{EDITS}$ "));
    it.types(Reader::Any, "echo DONE\x7f\x7f\x7f\x7fit\r");
    it.prints("echo DONE");
    it.check(&["$"]);
    it.prints("\x08 \x08\x08 \x08\x08 \x08\x08 \x08it");
    it.check(&["$"]);
}

#[test]
fn a_line_that_a_shell_marks_is_not_expected_elsewhere() {
    let mut it = Fixture::new(60);
    it.prints("\x1b]133;A\x07$ \x1b]133;B\x07");
    it.types(Reader::Any, "READY\r");
    it.prints("READY\r\n\x1b]133;C\x07sh: command not found: READY\r\n");
    it.check(&["", "sh: command not found: READY"]);
}

#[test]
fn a_cleared_screen_has_no_echo_above() {
    let mut it = Fixture::new(40);
    it.prints("\r\nname: ");
    it.types(Reader::Line, "READY\r");
    it.prints("READY\r\n\x1b[H\x1b[2JREADY\r\n");
    it.check(&["READY"]);
}

#[test]
fn echoes_follow_their_text_when_lines_rewrap() {
    let mut it = Fixture::new(40);
    it.types(Reader::Line, "one\rREADY\r");
    it.prints("one\r\nREADY\r\nREADY\r\n");
    it.check(&["", "", "READY"]);
    it.term.resize(Size::cells(3, 40));
    it.check(&["", "", "READY"]);
}

/// A terminal session of a test: the line that is typed, and the way in which a shell or an editor shows it.
#[derive(Clone, Debug)]
struct Session {
    cols: u16,
    /// The typed pieces of the line. Each is stored with whether the terminal echoes it.
    pieces: Vec<(String, bool)>,
    /// Output before the prompt.
    before: String,
    prompt: String,
    /// Whether the editor enables bracketed paste.
    announces: bool,
    /// Whether the editor draws the line again.
    redraws: bool,
    /// The length of the parts in which the bytes arrive.
    part: usize,
}

fn session() -> impl Strategy<Value = Session> {
    let word = "[a-z]{0,6} ?DONE[a-z; ]{0,9}[a-z]";
    let line = (word, prop::collection::vec(0..30_usize, 0..4), 0..5_usize);
    let odd = prop_oneof!["[a-z~/]{1,8} [$#%>] ", "[a-z:]{1,12} "];
    let place = (3..40_u16, "[F-M]{0,9}", prop::bool::ANY, odd, "[a-z]{0,3}[$#>] ");
    (line, place, prop::bool::ANY, 1..40_usize).prop_map(|(line, place, redraws, part)| {
        let (text, mut cuts, raw) = line;
        let (cols, before, announces, odd, plain) = place;
        cuts.retain(|cut| *cut < text.len());
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        cuts.dedup();
        let last = cuts.len() - 2;
        let cut = |(index, ends): (usize, &[usize])| {
            let enter = if index == last { "\r" } else { "" };
            // The terminal turns its echo on between two pieces.
            (format!("{}{enter}", &text[ends[0]..ends[1]]), index >= raw)
        };
        let pieces = cuts.windows(2).enumerate().map(cut).collect();
        let prompt = if announces { odd } else { plain };
        Session { cols, pieces, before, prompt, announces, redraws, part }
    })
}

impl Session {
    fn text(&self) -> String {
        self.pieces.iter().map(|(piece, _)| piece.trim_end_matches('\r')).collect()
    }

    /// The bytes that an editor writes to show the line.
    fn drawn(&self) -> String {
        let (begin, end) = if self.announces { (EDITS, RUNS) } else { ("", "") };
        let (prompt, text) = (&self.prompt, self.text());
        let again = if self.redraws { format!("\r\n{prompt}{text}") } else { String::new() };
        format!("{begin}{prompt}{text}{again}{end}\r\n")
    }
}

/// Prints bytes in parts. After each part, checks that no line of the output has this text.
fn prints_no(it: &mut Fixture, output: &str, part: usize) -> Result<(), TestCaseError> {
    for part in output.as_bytes().chunks(part) {
        it.parser.advance(&mut it.term, part);
        let shown = it.output();
        prop_assert!(!shown.iter().any(|line| line.contains("DONE")), "{:?}", shown);
    }
    Ok(())
}

proptest! {
    /// A text that only an echo contains is never output, and a text that the program prints always is.
    #[test]
    fn typed_text_is_an_echo_for_each_way_to_show_it(session in session()) {
        let Session { cols, pieces, before, redraws, part, .. } = &session;
        let text = session.text();
        // The text is typed while the editor is not reading yet.
        let mut it = Fixture::new(*cols);
        it.prints(&format!("{EDITS}$ sleep 1\r\n{RUNS}"));
        let mut echoed = before.clone();
        for (piece, is_echoed) in pieces {
            it.types(Reader::Any, piece);
            if *is_echoed {
                echoed += &piece.replace('\r', "\r\n");
            }
        }
        let shown = format!("{echoed}\r\n{}", session.drawn());
        prints_no(&mut it, &shown, *part)?;
        it.prints(&format!("\r\n{text}\r\n* {text}\r\n"));
        let found = it.output().iter().filter(|line| line.contains(&text)).count();
        prop_assert_eq!(found, 2, "{:?}", it.output());
        // The text is typed at a program's prompt.
        for reader in [Reader::Line, Reader::Keys(session.prompt.clone()), Reader::Any] {
            let is_editor = reader == Reader::Any;
            let begin = if is_editor { EDITS } else { "" };
            let mut it = Fixture::new(*cols);
            it.prints(&format!("{before}\r\n{begin}{}", session.prompt));
            it.types(reader.clone(), &format!("{text}\r"));
            let again = match reader {
                Reader::Line => "\r\n".to_owned(),
                _ if *redraws => format!("\x1b[H\x1b[2J{}{text}\r\n{RUNS}", session.prompt),
                _ => format!("\r\n{RUNS}"),
            };
            prints_no(&mut it, &format!("{text}{again}"), *part)?;
            it.prints(&format!("{text}\r\n* {text}\r\n"));
            let found = it.output().iter().filter(|line| line.contains(&text)).count();
            prop_assert_eq!(found, 2, "{:?}: {:?}", reader, it.output());
        }
    }
}
