//! Types text at a marked prompt, but only if the shell waits for a line and the line is still empty.

use std::sync::atomic::Ordering;

use super::{Pane, WriteError, plain_prompt::PlainPrompt, queue::SoFar};
use crate::{ShownLine, process::Execution};

/// The keys that the shell integrations bind to resetting the line editor: Ctrl+^ Ctrl+_, sent twice. No shell binds
/// them by default. If the editor waits for one more key, such as a character to insert literally, it consumes the
/// first one.
const RESET_KEYS: &[u8] = b"\x1e\x1f\x1e\x1f";
/// Ctrl+G. It ends the prompts at which readline asks for a search text or for more completions, because bound keys
/// have no effect there. It rings the bell.
const ABORT: &[u8] = b"\x07";

/// The outcome of typing at a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AtPrompt {
    /// The text was typed. The line becomes the command with this id.
    Typed(u64),
    /// Nothing was typed: the line was not empty. Contains the visible text of the line.
    Begun(String),
    /// Nothing was typed: the caller had nothing to type.
    Refused,
    /// Nothing was typed: no shell waits for a line at a marked prompt, or Enter was pressed since the prompt began. Or the
    /// terminal's echo is on: then the line editor has just read a line that was typed ahead of the prompt.
    Elsewhere,
}

/// The state of the prompt, with the number of inputs at which it was read.
#[derive(Debug, PartialEq, Eq)]
enum Standing {
    Free { command: u64, is_announced: bool, has_reset_key: bool, so_far: SoFar },
    Begun(String),
    Elsewhere,
}

impl Pane {
    /// Types text at the current prompt, if a shell that marks its prompts waits for a line and the line is empty.
    /// `compose` returns the text to type, or `None` to type nothing. `compose` may be called several times. Its
    /// argument is whether the shell's integration announced this prompt.
    ///
    /// If `compose` asks for the foreground program, the answer is about the shell at this prompt: the prompt was free
    /// before and after the call, with no input in between. No other input can come before the typed text either.
    ///
    /// If the shell's integration has a key to reset the line editor, the key is sent first, to leave modes such as
    /// vi's command mode.
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

    /// Whether bash runs and keys were typed that may have made its line editor ask a question, such as for a search
    /// text.
    fn may_ask(&self) -> bool {
        let is_bash = |name: &str| name.rsplit('/').next() == Some("bash");
        self.is_edited() && self.foreground().is_some_and(|front| is_bash(&front.name))
    }

    /// Whether Enter was typed since the last marked prompt began.
    pub fn is_prompt_entered(&self) -> bool {
        self.enters_since_prompt() > 0
    }

    /// The number of inputs that contained Enter since the last marked prompt began.
    pub fn enters_since_prompt(&self) -> u64 {
        self.queue.enters().saturating_sub(self.enters_at_prompt.load(Ordering::Acquire))
    }

    /// Whether [`Pane::write_at_prompt`] would type now, and would first empty the line with the key of the shell's
    /// integration.
    pub fn empties_line(&self) -> bool {
        matches!(self.standing(), Standing::Free { has_reset_key: true, .. })
    }

    /// The text that the user has typed at the current prompt without pressing Enter.
    pub fn users_line(&self) -> Option<String> {
        match self.standing() {
            Standing::Begun(line)
                if self.touches() != self.touches_at_prompt.load(Ordering::Acquire) =>
            {
                Some(line)
            }
            _ => None,
        }
    }

    /// The prompt state of a shell that does not mark its prompts.
    pub fn plain_prompt(&self) -> PlainPrompt {
        *self.plain_prompt.lock()
    }

    /// Sets the prompt state, determined by the caller, of a shell that does not mark its prompts.
    pub fn set_plain_prompt(&self, known: PlainPrompt) {
        *self.plain_prompt.lock() = known;
    }

    /// The number of inputs that the program received. Replies of the terminal do not count.
    pub fn inputs(&self) -> u64 {
        self.queue.inputs()
    }

    /// The number of the terminal's replies that the program received.
    pub fn replies(&self) -> u64 {
        self.queue.replies()
    }

    /// Whether the screen shows the effect of all input: the program has printed since the last input, or has had
    /// enough time to.
    pub fn shows_input(&self) -> bool {
        self.inputs_shown.load(Ordering::Acquire) >= self.queue.inputs() || self.queue.is_shown()
    }

    /// Whether all input was passed to the terminal's device. The program may not have read it.
    pub fn is_input_written(&self) -> bool {
        self.queue.is_written()
    }

    /// Whether the program has processed all input, waits for more, and the terminal shows everything that the program
    /// printed. If the system does not report this, the result is that of [`Pane::shows_input`].
    pub fn is_settled(&self) -> bool {
        let is_quiet = || self.queue.is_written() && !self.process.is_in_transit();
        // Check the input before the program's state, and the output after it, because the program turns input into
        // output.
        match self.process.awaits_input() {
            None => self.shows_input(),
            Some(_) => is_quiet() && self.process.awaits_input() == Some(true) && is_quiet(),
        }
    }

    /// Whether Ctrl+C was typed, and no text, Enter or editing key after it.
    pub fn is_interrupted(&self) -> bool {
        self.queue.is_interrupted()
    }

    /// Whether keys that edit a line, or may have switched the line editor to another mode, were typed since the last
    /// Enter or Ctrl+C.
    pub fn is_edited(&self) -> bool {
        self.queue.is_edited()
    }

    /// Whether the line contains a control character if no line editor reads it: a key such as Ctrl+L was typed since the
    /// last Enter or Ctrl+C.
    pub fn has_control_text(&self) -> bool {
        self.queue.has_control_text()
    }

    /// Whether the shell at the last prompt has since replaced itself by another program (`exec`), which may not mark
    /// prompts. `None` if the system does not report that.
    pub fn is_shell_replaced(&self) -> Option<bool> {
        let shell = (*self.shell_at_prompt.lock())?;
        let now = self.front_execution()?;
        Some(now.pid == shell.pid && now != shell)
    }

    /// Whether a process is the shell at the last prompt, and has not replaced itself since. `None` if the system does
    /// not report that.
    pub fn is_shell_at_prompt(&self, pid: i32) -> Option<bool> {
        let shell = (*self.shell_at_prompt.lock())?;
        Some(self.process.execution(pid)? == shell)
    }

    /// The program that the leader of the foreground process group executes. `None` if the system does not report it.
    pub(super) fn front_execution(&self) -> Option<Execution> {
        self.process.execution(self.process.group_in_front()?)
    }

    /// Whether the foreground program is not the shell at the last prompt: it is another process, or that shell has
    /// replaced itself with another program. Such a program does not mark prompts.
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
                // The prompt began after the input was read, so read the input again.
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
            if has_reset_key && self.process.echo() == Some(true) {
                return Standing::Elsewhere;
            }
            // A line editor whose line can't be emptied may show a line for which no key was typed since Enter: if a
            // line can't be parsed, fish draws its prompt again with that line.
            let may_keep = is_announced && !has_reset_key && self.process.echo() == Some(false);
            let typed = typed.or_else(|| may_keep.then(String::new));
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

/// The line that a user has begun at a prompt. `typed` is the input since the last Enter.
///
/// - If `typed` is `None`, that input contains neither text nor an editing key. Then there is no line, and text on the
///   screen comes from a background job.
/// - If `is_ahead` is set, all of `typed` was input before the prompt, and a program may have read it (for example, the
///   key that ends a pager). Then there is a line only if the screen shows `typed`.
/// - Otherwise, the line is the text from the prompt to the cursor, without suggestions and right prompts.
/// - If there is no such text, the line is `typed`. The screen must show it after the cursor, or must not have been
///   updated since the input (not `is_shown`). If the updated screen does not show it, keys may have deleted it.
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

    /// The line at the last prompt of this output.
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
    fn text_that_a_shell_shows_by_itself_is_no_begun_line() {
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
