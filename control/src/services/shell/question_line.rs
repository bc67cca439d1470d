//! Whether the line at the cursor looks like a question or a prompt.
//!
//! A line looks like a question if it ends in `?`, a colon or a closing bracket, ends in a prompt sign and a blank,
//! begins with an arrow and ends in a blank, or asks for a key press.

use std::sync::LazyLock;

use regex_automata::meta::Regex;
use unterm_term::{LineId, Point, Term, TextRange};

/// The maximum length of a question, in bytes.
const LONGEST: usize = 500;
/// The last characters of questions.
const ENDS: &str = "?:])？：］）";
/// The last characters of prompts of shells and interpreters, before a blank.
const SIGNS: &str = "$#%>❯➜→λ»›〉";
/// The first characters of prompts that may end in any character.
const ARROWS: [char; 4] = ['❯', '➜', '╰', '└'];

/// Matches a request to press a key.
static KEY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:press|hit)\b.*\b(?:key|enter|return|space)\b|^\(END\)$|--More--")
        .map_err(|error| tracing::error!(%error, "can't detect requests for a key press"))
        .ok()
});

/// Matches a shell's report that a background job has ended. zsh prints the report at once, so it may follow a question
/// on the same line.
static JOB_END: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\[[0-9]+\] +[-+]? *(?:done|exit [0-9]+|terminated|killed|interrupt|hangup) .*$")
        .map_err(|error| tracing::error!(%error, "can't detect reports of jobs"))
        .ok()
});

/// Whether the last line looks like a question. The last line is the cursor's line up to the cursor or, if that is
/// empty, the line above.
pub fn is_question(term: &Term) -> bool {
    question(term).is_some()
}

/// The last line, if it looks like a question.
pub fn question(term: &Term) -> Option<String> {
    let line = line_to_cursor(term);
    if !line.trim().is_empty() {
        return (ends_question(&line) || ends_prompt(&line)).then_some(line);
    }
    let row = LineId(term.live_top().0 + u64::from(term.cursor().row));
    let above = term.line_at(row).start.line.0.checked_sub(1).map(LineId)?;
    // A line that ends in `?` does not count if it is the command line itself.
    let output = term.commands().next_back().and_then(|last| last.output);
    let is_output = output.is_none_or(|output| above >= output.line);
    if !is_output || above < term.live_top() {
        return None;
    }
    Some(term.text(term.line_at(above))).filter(|line| ends_question(line))
}

/// The text of the cursor's line, up to the cursor.
pub fn line_to_cursor(term: &Term) -> String {
    let cursor = term.cursor();
    let line = LineId(term.live_top().0 + u64::from(cursor.row));
    let start = term.line_at(line).start;
    let end = match cursor.col.checked_sub(1) {
        Some(col) => Point { line, col },
        None if start.line == line => return String::new(),
        None => Point { line: LineId(line.0 - 1), col: term.size().cols - 1 },
    };
    let mut text = term.text(TextRange { start, end, block: false });
    // The terminal drops blanks at the end of a line. If the cursor follows a blank, one is restored here.
    let is_blank = |col: u16| {
        let at = Point { line: end.line, col };
        term.text(TextRange { start: at, end: at, block: false }).trim().is_empty()
    };
    if is_blank(end.col) && !text.ends_with(' ') {
        text.push(' ');
    }
    text
}

fn ends_question(line: &str) -> bool {
    let line = line.trim();
    if line.len() > LONGEST {
        return false;
    }
    let line = match JOB_END.as_ref().and_then(|report| report.find(line)) {
        Some(report) => line[..report.start()].trim_end(),
        None => line,
    };
    !line.is_empty()
        && (line.ends_with(|char: char| ENDS.contains(char))
            || KEY.as_ref().is_some_and(|key| key.is_match(line)))
}

/// Whether a line is an empty prompt: it ends in a blank, and begins with an arrow or has a prompt sign before the blank.
pub fn ends_prompt(line: &str) -> bool {
    let is_sign = |char: char| SIGNS.contains(char);
    line.len() <= LONGEST
        && line.ends_with(' ')
        && (line.trim_end().ends_with(is_sign) || line.starts_with(ARROWS))
}

#[cfg(test)]
mod tests {
    use unterm_term::{Options, Parser, Size};

    use super::*;

    fn asks(output: &str) -> bool {
        let mut term = Term::new(Size::cells(40, 5), Options::default());
        Parser::new().advance(&mut term, output.as_bytes());
        is_question(&term)
    }

    #[test]
    fn the_last_line_is_a_question_by_how_it_ends() {
        for output in [
            "Do you want to continue? [Y/n] ",
            "Are you sure you want to continue connecting (yes/no/[fingerprint])? ",
            "package name: (unterm) ",
            "Name: ",
            ":",
            ">>> ",
            "sqlite> ",
            "(gdb) ",
            "me@host:~$ ",
            "? Project name › ",
            "Press any key to continue . . . ",
            "--More--(12%)",
            "(END)",
            "May I build?\r\n",
            "a line that is longer than the screen is wide, is it not? ",
            "Go on? [1]  + done       sleep .06\r\n",
            "Go on? [2]  - exit 3     sleep .06\r\n",
        ] {
            assert!(asks(output), "{output:?}");
        }
        for output in [
            "",
            "$ make\r\n",
            "   Compiling term v0.1.0",
            "CC main.o",
            "42%",
            "Building 12 of 90 >",
            "Name: Ada",
            "[1]  + done       sleep .06\r\n",
            "42% [1]  + done       sleep .06\r\n",
            "done\r\n\r\n",
            "\x1b]133;A\x07$ \x1b]133;B\x07cat # why?\r\n\x1b]133;C\x07",
        ] {
            assert!(!asks(output), "{output:?}");
        }
    }
}
