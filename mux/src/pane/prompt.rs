//! Types at a marked prompt, but only if the shell waits for a line and the line is still empty.

use std::sync::atomic::Ordering;

use super::{Pane, WriteError, plain_prompt::PlainPrompt, queue::SoFar};
use crate::ShownLine;

/// The key that the shell integrations bind, typed twice: Ctrl+^ Ctrl+_, which no shell binds itself. An editor that waits for
/// one more key, such as a character to insert as it is, consumes the first one.
const RESET_KEYS: &[u8] = b"\x1e\x1f\x1e\x1f";
/// Ctrl+G, which ends readline's prompts for a search or for more completions, in which bound keys have no effect. It rings
/// the bell.
const ABORT: &[u8] = b"\x07";

/// The outcome of typing at a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AtPrompt {
    /// Typed; the line becomes the command with this id.
    Typed(u64),
    /// Not typed: the line was not empty. Contains its visible text.
    Begun(String),
    /// Not typed: the caller had nothing to type.
    Refused,
    /// Not typed: no shell waits for a line at a marked prompt, or Enter was pressed since its prompt began.
    Elsewhere,
}

/// The state of the prompt, and the count of inputs.
#[derive(Debug, PartialEq, Eq)]
enum Standing {
    Free { command: u64, is_announced: bool, has_reset_key: bool, so_far: SoFar },
    Begun(String),
    Elsewhere,
}

impl Pane {
    /// Types at the current prompt if a shell that marks its prompts waits for a line and the line is empty. `compose`
    /// returns what to type, if anything. It may be called again, and receives whether the shell's integration announced
    /// this prompt.
    /// What it learns about the foreground is about the shell at this prompt: the prompt was free before and after the
    /// call, with no input in between. No other input can slip in before the typed text either. The line editor is first
    /// brought out of any mode, such as vi's command mode, if the shell's integration has a key for that.
    pub fn write_at_prompt(
        &self,
        mut compose: impl FnMut(bool) -> Option<Vec<u8>>,
    ) -> Result<AtPrompt, WriteError> {
        loop {
            let standing = self.standing();
            match &standing {
                Standing::Elsewhere => return Ok(AtPrompt::Elsewhere),
                Standing::Begun(line) => return Ok(AtPrompt::Begun(line.clone())),
                Standing::Free { command, is_announced, has_reset_key, so_far } => {
                    let Some(typed) = compose(*is_announced) else { return Ok(AtPrompt::Refused) };
                    if self.standing() != standing {
                        continue;
                    }
                    let keys = if *has_reset_key { RESET_KEYS } else { &[] };
                    let abort = if *has_reset_key && self.may_ask() { ABORT } else { &[] };
                    if self.write_input(&[abort, keys, &typed].concat(), Some(*so_far))? {
                        return Ok(AtPrompt::Typed(*command));
                    }
                }
            }
        }
    }

    /// Whether keys may have made bash's line editor ask for something.
    fn may_ask(&self) -> bool {
        let is_bash = |name: &str| name.rsplit('/').next() == Some("bash");
        self.is_edited() && self.foreground().is_some_and(|front| is_bash(&front.name))
    }

    /// Whether Enter was typed since the last marked prompt began.
    pub fn is_prompt_entered(&self) -> bool {
        self.queue.enters() > self.enters_at_prompt.load(Ordering::Acquire)
    }

    /// Whether [`Pane::write_at_prompt`] would type now, and empty the line first by the key of the shell's integration.
    pub fn empties_line(&self) -> bool {
        matches!(self.standing(), Standing::Free { has_reset_key: true, .. })
    }

    /// The line that the user has begun at the current prompt but not entered.
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

    /// What is known about the prompt of a shell without marks.
    pub fn plain_prompt(&self) -> PlainPrompt {
        *self.plain_prompt.lock()
    }

    /// Records what a caller knows about the prompt of a shell without marks.
    pub fn set_plain_prompt(&self, known: PlainPrompt) {
        *self.plain_prompt.lock() = known;
    }

    /// How many pieces of input the program got. The terminal's replies do not count.
    pub fn inputs(&self) -> u64 {
        self.queue.inputs()
    }

    /// How many replies of the terminal the program got.
    pub fn replies(&self) -> u64 {
        self.queue.replies()
    }

    /// Whether the screen shows the effect of all input: the program has printed since the last input, or has had time to.
    pub fn shows_input(&self) -> bool {
        self.inputs_shown.load(Ordering::Acquire) >= self.queue.inputs() || self.queue.is_shown()
    }

    /// Whether the program has reacted to all input, waits for more, and the terminal shows all that it printed. Where the
    /// system does not report that, [`Pane::shows_input`] is the answer.
    pub fn is_settled(&self) -> bool {
        let is_quiet = || self.queue.is_written() && !self.process.is_in_transit();
        // Input is checked before the program and output after it, because the program turns one into the other.
        match self.process.awaits_input() {
            None => self.shows_input(),
            Some(_) => is_quiet() && self.process.awaits_input() == Some(true) && is_quiet(),
        }
    }

    /// Whether Ctrl+C was typed, and after it no text, Enter, or key that edits a line.
    pub fn is_interrupted(&self) -> bool {
        self.queue.is_interrupted()
    }

    /// Whether keys that edit a line, or may have begun a mode of a line editor, followed the last Enter or Ctrl+C.
    pub fn is_edited(&self) -> bool {
        self.queue.is_edited()
    }

    /// Whether the process at the last prompt has executed another program since (`exec`), which may report no marks.
    /// `None` if the system does not report it.
    pub fn is_shell_replaced(&self) -> Option<bool> {
        let shell = (*self.shell_at_prompt.lock())?;
        let now = self.process.execution()?;
        Some(now.pid == shell.pid && now != shell)
    }

    /// Whether the foreground process is another one than the shell at the last prompt, or a program that this shell has
    /// executed in its place. It reports no marks of its own.
    pub fn is_shell_covered(&self) -> bool {
        let shell = self.shell_at_prompt.lock().map(|shell| shell.pid);
        let front = self.foreground().map(|front| front.pid);
        match (shell, front) {
            (Some(shell), Some(front)) => shell != front || self.is_shell_replaced() == Some(true),
            _ => false,
        }
    }

    fn standing(&self) -> Standing {
        loop {
            let (so_far, typed) = self.queue.so_far();
            let term = self.term.lock();
            let Some(shown) = ShownLine::of(&term) else { return Standing::Elsewhere };
            let enters = self.enters_at_prompt.load(Ordering::Acquire);
            if enters > so_far.enters {
                // The prompt began after the first read.
                continue;
            }
            if enters < so_far.enters {
                return Standing::Elsewhere;
            }
            let Some(last) = term.commands().next_back() else { return Standing::Elsewhere };
            if last.is_continued {
                let line = shown.before_cursor.trim();
                return Standing::Begun(if line.is_empty() { "…" } else { line }.to_owned());
            }
            let (is_announced, has_reset_key) = (last.is_announced, last.has_reset_key);
            let is_ahead = self.inputs_at_prompt.load(Ordering::Acquire) >= so_far.inputs;
            let is_shown = self.inputs_shown.load(Ordering::Acquire) >= so_far.inputs;
            return match line_behind(&shown, typed.as_ref(), is_shown, is_ahead) {
                Some(line) => Standing::Begun(line),
                None => {
                    Standing::Free { command: shown.command, is_announced, has_reset_key, so_far }
                }
            };
        }
    }
}

/// The line after a prompt. `typed` is the input since Enter. If it has neither text nor an editing key, it is `None`
/// and the line is empty: text on the screen then comes from a background job. Otherwise the line is the text up to the
/// cursor, which excludes suggestions and right prompts. If that text is empty, the line is `typed`, if the screen
/// shows it after the cursor or has not been updated since (not `is_shown`). Keys that input alone cannot follow may
/// have deleted it. If all of `typed` was input before the prompt (`is_ahead`), a program may have read it, such as the
/// key that ends a pager; it is a line only if the screen shows it.
fn line_behind(
    shown: &ShownLine,
    typed: Option<&String>,
    is_shown: bool,
    is_ahead: bool,
) -> Option<String> {
    let typed = typed?;
    let whole = |text: &str| Some(text.trim()).filter(|text| !text.is_empty()).map(str::to_owned);
    if is_ahead && !shown.before_cursor.trim_start().starts_with(typed.trim()) {
        return None;
    }
    if let Some(line) = whole(&shown.before_cursor) {
        return Some(line);
    }
    let typed = whole(typed)?;
    let is_there = !is_shown || shown.with("").trim_start().starts_with(&typed);
    is_there.then_some(typed)
}

#[cfg(test)]
mod tests {
    use unterm_term::{Options, Parser, Size, Term};

    use super::*;

    /// The line after the last prompt of this output.
    fn behind_prompt(output: &str, typed: &str, is_shown: bool) -> Option<String> {
        after_keys(output, Some(typed), is_shown, false)
    }

    fn after_keys(
        output: &str,
        typed: Option<&str>,
        is_shown: bool,
        is_ahead: bool,
    ) -> Option<String> {
        const PROMPT: &str = "before\r\n\x1b]133;A\x07$ \x1b]133;B\x07";
        let mut term = Term::new(Size::cells(20, 5), Options::default());
        Parser::new().advance(&mut term, format!("{PROMPT}{output}").as_bytes());
        let typed = typed.map(str::to_owned);
        line_behind(&ShownLine::of(&term).unwrap(), typed.as_ref(), is_shown, is_ahead)
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
        let late = |typed, is_ahead| after_keys("late\r\nlater", typed, true, is_ahead);
        assert_eq!(late(None, false), None, "output of a background job");
        assert_eq!(late(Some("q"), true), None, "behind a key that a pager has read");
    }

    #[test]
    fn a_line_that_was_typed_ahead_is_one_once_it_is_shown() {
        let begun = Some("ls -l".to_owned());
        assert_eq!(after_keys("ls -l", Some("ls -l"), true, true), begun);
        assert_eq!(after_keys("ls -l", Some(""), true, true), begun, "by a key of the history");
        assert_eq!(after_keys("", Some("ls -l"), true, true), None, "a program has read it");
    }
}
