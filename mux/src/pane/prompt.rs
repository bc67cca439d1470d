//! Typing at a prompt: a shell that marks its prompts has to wait for a line, and nobody may have begun one.

use std::sync::atomic::Ordering;

use unterm_term::{LineId, Modes, Point, Term, TextRange};

use super::{Pane, WriteError};
use crate::writer::SoFar;

/// What came of typing at a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AtPrompt {
    /// It was typed, for the command of this id.
    Typed(u64),
    /// A line was begun there, and nothing was typed: what can be seen of it.
    Begun(String),
    /// No shell that marks its prompts waits for a line, or one has been entered since it began to wait. Nothing was typed.
    Elsewhere,
}

/// A marked prompt, and how much input it has had.
enum Standing {
    Free { command: u64, so_far: SoFar },
    Begun(String),
    Elsewhere,
}

impl Pane {
    /// Types `bytes` at the prompt that stands there, if a shell that marks its prompts waits for a line and none was begun,
    /// by anybody. Nobody else's input comes between the look and the bytes.
    pub fn write_at_prompt(&self, bytes: &[u8]) -> Result<AtPrompt, WriteError> {
        loop {
            match self.standing() {
                Standing::Elsewhere => return Ok(AtPrompt::Elsewhere),
                Standing::Begun(line) => return Ok(AtPrompt::Begun(line)),
                Standing::Free { command, so_far } => {
                    if self.write_input(bytes, Some(so_far))? {
                        return Ok(AtPrompt::Typed(command));
                    }
                }
            }
        }
    }

    /// The line that a person has begun at the prompt that stands there, and not entered.
    pub fn persons_line(&self) -> Option<String> {
        match self.standing() {
            Standing::Begun(line)
                if self.touches() != self.touches_at_prompt.load(Ordering::Acquire) =>
            {
                Some(line)
            }
            _ => None,
        }
    }

    fn standing(&self) -> Standing {
        loop {
            let (so_far, typed) = self.queue.so_far();
            let term = self.term.lock();
            let last = term.commands().next_back().filter(|last| last.is_prompting());
            let Some((command, Some(input))) = last.map(|last| (last.id, last.input)) else {
                return Standing::Elsewhere;
            };
            let enters = self.enters_at_prompt.load(Ordering::Acquire);
            if enters > so_far.enters {
                // A prompt that came after the first look.
                continue;
            }
            if enters < so_far.enters || term.modes().contains(Modes::ALT_SCREEN) {
                return Standing::Elsewhere;
            }
            let is_shown = self.inputs_shown.load(Ordering::Acquire) >= so_far.inputs;
            return match line_behind(&term, input, &typed, is_shown) {
                Some(line) => Standing::Begun(line),
                None => Standing::Free { command, so_far },
            };
        }
    }
}

/// The line that stands behind a prompt: what is shown up to the cursor, which is no suggestion of the shell's and no prompt on
/// the right; else what was `typed`, where that is shown behind the cursor, or nothing was shown since (`is_shown`). Keys
/// that input alone can't follow may have taken it away again.
fn line_behind(term: &Term, input: Point, typed: &str, is_shown: bool) -> Option<String> {
    let whole = |text: &str| Some(text.trim()).filter(|text| !text.is_empty()).map(str::to_owned);
    let cursor = term.cursor();
    let cursor = Point { line: LineId(term.live_top().0 + u64::from(cursor.row)), col: cursor.col };
    if cursor > input {
        let end = match cursor.col.checked_sub(1) {
            Some(col) => Point { line: cursor.line, col },
            None => Point { line: LineId(cursor.line.0 - 1), col: term.size().cols - 1 },
        };
        if let Some(line) = whole(&term.text(TextRange { start: input, end, block: false })) {
            return Some(line);
        }
    }
    let typed = whole(typed)?;
    if !is_shown {
        return Some(typed);
    }
    let end = term.line_at(input.line).end;
    let shown = term.text(TextRange { start: input, end, block: false });
    shown.trim_start().starts_with(&typed).then_some(typed)
}

#[cfg(test)]
mod tests {
    use unterm_term::{Options, Parser, Size};

    use super::*;

    /// The line behind the last prompt of this output.
    fn behind_prompt(output: &str, typed: &str, is_shown: bool) -> Option<String> {
        const PROMPT: &str = "before\r\n\x1b]133;A\x07$ \x1b]133;B\x07";
        let mut term = Term::new(Size::cells(20, 5), Options::default());
        Parser::new().advance(&mut term, format!("{PROMPT}{output}").as_bytes());
        let input = term.commands().next_back().unwrap().input.unwrap();
        line_behind(&term, input, typed, is_shown)
    }

    #[test]
    fn a_line_that_was_begun_at_a_prompt_is_seen() {
        let begun = |line: &str| Some(line.to_owned());
        assert_eq!(behind_prompt("echo rm ", "", true), begun("echo rm"), "of the history, say");
        let long = "echo more than one row holds";
        assert_eq!(behind_prompt(long, long, true), begun(long));
        assert_eq!(behind_prompt("ls -l\x1b[5D", "ls -l", true), begun("ls -l"), "from its start");
        assert_eq!(behind_prompt("", "ls", false), begun("ls"), "on its way");
    }

    #[test]
    fn what_a_shell_shows_by_itself_is_no_line_that_was_begun() {
        assert_eq!(behind_prompt("", "", true), None);
        assert_eq!(behind_prompt("  ", "  ", true), None);
        assert_eq!(behind_prompt("\x1b[2mls -l\x1b[m\x1b[5D", "", true), None, "a suggestion");
        assert_eq!(behind_prompt("\x1b[10Cright\x1b[15D", "", true), None, "a prompt on the right");
        assert_eq!(behind_prompt("", "ls", true), None, "taken away by keys of the editor's");
    }
}
