//! Types a command into a pane's shell, if and when that is allowed.

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, timeout_at};
use unterm_mux::{AtPrompt, Composed, Foreground, Pane, PlainPrompt, Tap, is_carrier};

use super::block::Block;
use crate::{
    error::{Error, Result},
    services::shell::{
        kind::{Marks, Shell},
        plain_prompt,
    },
};

/// If a shell shows no prompt within this time, it counts as a shell without integration.
pub(super) const START: Duration = Duration::from_secs(2);
/// If a shell visibly works but shows no prompt within this time, it counts as a shell without integration. A shell
/// that does not read its terminal visibly works.
const WORKING: Duration = Duration::from_secs(30);
/// Within this time, a shell that visibly works begins the line that was entered at its prompt, or shows its next
/// prompt, even on a busy machine.
const BEGINNING: Duration = Duration::from_secs(10);
/// A prompt that has not changed for this long is complete.
const SETTLED: Duration = Duration::from_millis(200);
/// Once a command's output has been read, the command ends and the shell shows its prompt within this time.
const ENDING: Duration = Duration::from_millis(500);
/// A shell reads its terminal within this time after it has drawn its prompt.
const READING: Duration = Duration::from_millis(30);
/// The end of a line for a bash that has lost its integration: it restores the marks (`unterm.bash`).
const RESTORE: &str = "; _unterm_again";
/// The pause between two checks whether a program waits for input.
const LOOK: Duration = Duration::from_millis(2);

/// The caller for which a command is typed.
pub trait Typist: Sync {
    /// Checks whether the command may be typed now. Called right before typing, because waiting for the prompt took time.
    ///
    /// # Errors
    /// The reason why it must not be typed.
    fn admit(&self) -> Result<()>;
    /// Called when a shell that the command started is at its prompt. Returns whether to wait for the command's end
    /// nevertheless.
    fn goes_on_in_new_shell(&self) -> bool;
    /// Called after the command was typed as this text, with these marks.
    fn typed(&self, marks: &Marks, text: &str);
}

/// A command that was typed.
pub(super) struct Begun {
    /// The pane's input and output, recorded since just before the command was typed.
    pub(super) tap: Tap,
    /// The command's block. `None` if shell integration does not mark the command.
    pub(super) block: Option<Block>,
    /// The outer command that contains this shell, if there is one. It is read before typing, because a fast shell may have
    /// ended right after that.
    pub(super) around: Option<OuterCommand>,
    /// Keeps other commands out of a shell without marks. `None` if the shell's integration marks the command.
    pub(super) occupied: Option<Occupied>,
    /// The kind of shell for which the typed line was written.
    pub(super) shell: Shell,
    /// The process of that shell, if it led the foreground when the command was typed.
    pub(super) leader: Option<i32>,
    /// Whether the shell reads the command from a file.
    pub(super) is_from_file: bool,
}

/// An outer command: a running command that an outer shell marks, and inside which another command was typed. When the
/// outer command ends, the inner shell is gone, and the end mark of the inner command never arrives.
#[derive(Clone, Copy)]
pub(super) struct OuterCommand {
    /// The number of the outer command in the terminal.
    pub(super) id: u64,
    /// Whether the outer command ends with the exit code of the inner shell, because it is that shell, or ssh.
    pub(super) has_status: bool,
}

/// Prevents other commands from being typed into a shell without marks while a command runs there.
pub(super) struct Occupied {
    pane: Arc<Pane>,
    /// The pane's count of inputs after the command was typed.
    inputs: u64,
    /// The pane's count of terminal replies before the command was typed.
    replies: u64,
    /// Whether the command has ended.
    pub(super) has_ended: bool,
}

/// A pane's counts before a command is typed. After typing, it would be too late to read them, because a fast command may
/// already have queried the terminal and ended.
struct Counts {
    inputs: u64,
    replies: u64,
}

impl Counts {
    fn of(pane: &Pane) -> Self {
        Self { inputs: pane.inputs(), replies: pane.replies() }
    }
}

impl Occupied {
    /// Marks the pane as occupied by a command. The command was typed as one input after `before` was read.
    fn new(pane: &Arc<Pane>, before: &Counts) -> Self {
        pane.set_plain_prompt(PlainPrompt::Occupied);
        let Counts { inputs, replies } = *before;
        Self { pane: pane.clone(), inputs: inputs + 1, replies, has_ended: false }
    }
}

impl Drop for Occupied {
    fn drop(&mut self) {
        self.pane.set_plain_prompt(match self.has_ended {
            true if self.pane.replies() != self.replies => {
                PlainPrompt::Replied { inputs: self.inputs, since: Instant::now().into_std() }
            }
            true => PlainPrompt::At(self.inputs),
            false => PlainPrompt::Unknown,
        });
    }
}

/// The reason why a command could not be typed at a prompt.
enum Attempt {
    /// The prompt contains an unfinished line.
    Line { line: String, by_user: bool },
    /// The shell is not at a prompt. `what`: the command that runs in it, if known. `is_working`: whether the shell
    /// works instead of waiting for input.
    Elsewhere { what: Option<String>, is_working: bool },
}

/// How long to wait for a change of the terminal after a failed attempt. After the change, the attempt is repeated.
#[derive(Debug, PartialEq, Eq)]
enum Patience {
    /// Until a prompt that is being drawn is complete.
    Settled,
    /// Until a command that is about to end has ended.
    Ending,
    /// Until a working shell has reached its prompt.
    Starting,
    /// Until the next prompt appears.
    Prompt,
}

impl Attempt {
    /// How long to wait before the next attempt, and the refusal if nothing changes until then.
    fn failed(self, id: u64) -> (Patience, Error) {
        match self {
            // A prompt that is just being drawn may look like a line.
            Self::Line { line, by_user } => (Patience::Settled, Error::begun(id, &line, by_user)),
            // The command may be about to end. Then the shell works, and leads the foreground.
            Self::Elsewhere { what: Some(what), is_working: true } => {
                (Patience::Starting, Error::busy(id, &what))
            }
            Self::Elsewhere { what: Some(what), is_working: false } => {
                (Patience::Ending, Error::busy(id, &what))
            }
            // The shell has not begun the entered line yet, or has not drawn the prompt after it.
            Self::Elsewhere { what: None, .. } => (Patience::Prompt, Error::Unbegun(id)),
        }
    }
}

/// A command to run, and the forms in which it can be typed.
pub(super) struct Command<'a> {
    /// The command as it is displayed.
    pub(super) given: &'a str,
    /// A command that reads `given` from a file and runs it. Only a shell on this machine can read that file.
    pub(super) from_file: Option<String>,
    pub(super) marks: &'a Marks,
}

/// A line to type into the shell in the foreground.
struct Line {
    /// The text with Enter.
    typed: String,
    /// The nonce and the text without Enter, if the shell's integration will mark the command.
    marked: Option<(Arc<str>, String)>,
    shell: Shell,
    /// The process id of the foreground's leader.
    leader: Option<i32>,
    is_from_file: bool,
}

impl Command<'_> {
    /// Creates the line for the shell that would read it now. `is_announced`: whether that shell's integration
    /// announced its prompt. If no shell reads the terminal now, another shell may read the line later, so the line
    /// then works in every shell.
    ///
    /// # Errors
    /// The shell would wait for the rest of the command.
    fn line(&self, pane: &Pane, is_announced: bool) -> Result<Line> {
        let reads_now = || Shell::reading_commands(pane).is_some() && has_read_input(pane);
        let is_read_now = is_announced || reads_now();
        let shell = match Shell::of_reader(pane) {
            Shell::Bash | Shell::Zsh | Shell::Fish | Shell::Posix if !is_read_now => Shell::Unknown,
            shell => shell,
        };
        if let Some(needs) = shell.missing(self.given) {
            return Err(Error::Unfinished(needs));
        }
        let foreground = pane.foreground();
        let leader = foreground.as_ref().map(|leader| leader.pid);
        let is_local = foreground.is_none_or(|leader| !is_carrier(&leader.name));
        let sources =
            matches!(shell, Shell::Bash | Shell::Zsh | Shell::Fish | Shell::Posix | Shell::Unknown);
        let from_file = self.from_file.as_deref().filter(|_| is_local && sources);
        let is_from_file = from_file.is_some();
        let command = from_file.unwrap_or(self.given);
        let is_ascii = is_announced
            && pane.term().commands().next_back().is_some_and(|last| last.is_ascii_only);
        let line = || shell.line(command, is_ascii);
        let marked =
            pane.nonce().filter(|_| is_announced).cloned().and_then(|it| Some((it, line()?)));
        let typed = match &marked {
            Some((_, line)) => format!("{line}\r"),
            None => {
                // If the echo is off, a line editor (readline, zle) reads the line, and accepts any length.
                let cooked = pane.process().echo().unwrap_or(false);
                format!("{}\r", shell.wrap(command, self.marks, cooked))
            }
        };
        Ok(Line { typed, marked, shell, leader, is_from_file })
    }
}

/// Types a command. For `is_careful` and `deadline`, see [`super::run`]. A prompt must appear by `until`, unless the
/// shell visibly works.
pub(super) async fn begin(
    pane: &Arc<Pane>,
    command: &Command<'_>,
    is_careful: bool,
    until: Instant,
    deadline: Instant,
    typist: &dyn Typist,
) -> Result<Begun> {
    loop {
        let begun = try_begin(pane, command, is_careful, until, deadline, typist).await?;
        if let Some(begun) = begun {
            return Ok(begun);
        }
    }
}

/// Types a command, like [`begin`]. Returns `None` if the pane received other input after the checks. Then the caller must
/// repeat them.
async fn try_begin(
    pane: &Arc<Pane>,
    command: &Command<'_>,
    is_careful: bool,
    until: Instant,
    deadline: Instant,
    typist: &dyn Typist,
) -> Result<Option<Begun>> {
    let id = pane.id().0;
    let write_error = |error| Error::Write { id, error };
    let begun_at = Instant::now();
    let mut changes = pane.watch();
    let (mut is_at_prompt, mut has_lost_marks) = (false, false);
    let mut inputs = pane.inputs();
    while pane.term().commands().next_back().is_some() {
        wait_until_input_is_read(pane, deadline.min(begun_at + BEGINNING)).await;
        changes.borrow_and_update();
        typist.admit()?;
        inputs = pane.inputs();
        let before = Counts::of(pane);
        let (mut line, mut tap) = (Err(Error::Unbegun(id)), None);
        let covering = covering_program(pane);
        let is_elsewhere = covering.is_some()
            || plain_prompt::is_inner(pane)
            || plain_prompt::asks_to_correct(pane);
        let attempt = match is_elsewhere {
            true => Ok(AtPrompt::Elsewhere),
            false => pane.write_at_prompt(|is_announced| {
                // Record nothing that precedes this prompt, such as the end of an earlier line.
                tap = Some(pane.tap());
                line = command.line(pane, is_announced);
                line.as_ref().ok().map(|line| line.typed.clone().into_bytes())
            }),
        };
        let attempt = match attempt.map_err(write_error)? {
            AtPrompt::Refused => return Err(line.err().unwrap_or(Error::Promptless(id))),
            AtPrompt::Typed(id) => {
                let Line { typed, marked, shell, leader, is_from_file } = line?;
                let tap = tap.unwrap_or_else(|| pane.tap());
                typist.typed(command.marks, &typed);
                pane.term().give_command(id, typed.trim_end(), command.given);
                let occupied = marked.is_none().then(|| Occupied::new(pane, &before));
                let block = marked.map(|(nonce, line)| Block { line, nonce, id, shell: leader });
                let around = None;
                let begun = Begun { tap, block, around, occupied, shell, leader, is_from_file };
                return Ok(Some(begun));
            }
            AtPrompt::Begun(line) => Attempt::Line { line, by_user: pane.users_line().is_some() },
            // A shell without marks, which a command started, is in the foreground.
            AtPrompt::Elsewhere if plain_prompt::is_inner(pane) => {
                if reach_plain_prompt(pane, is_careful, until).await? == PromptReached::Marks {
                    continue;
                }
                is_at_prompt = true;
                break;
            }
            AtPrompt::Elsewhere if plain_prompt::is_unreported(pane) => {
                let settled = until.min(Instant::now() + SETTLED);
                match timeout_at(settled, changes.changed()).await {
                    Err(_) if plain_prompt::is_unreported(pane) => {
                        (is_at_prompt, has_lost_marks) = (true, true);
                        break;
                    }
                    _ => continue,
                }
            }
            // If not `is_careful`, a program that a command started, and that is not a shell, may read the input.
            AtPrompt::Elsewhere
                if !is_careful
                    && running(pane).is_some()
                    && Shell::reading_commands(pane).is_none() =>
            {
                break;
            }
            AtPrompt::Elsewhere => {
                let what = under_way(pane).or(covering);
                Attempt::Elsewhere { is_working: what.is_some() && is_working(pane), what }
            }
        };
        let is_line = matches!(attempt, Attempt::Line { .. });
        let is_entered = matches!(attempt, Attempt::Elsewhere { what: None, .. });
        let is_beginning = is_entered && Instant::now() < begun_at + BEGINNING && is_working(pane);
        let (patience, refusal) = attempt.failed(id);
        let patience = match patience {
            Patience::Settled => Instant::now() + SETTLED,
            Patience::Ending => begun_at + ENDING,
            Patience::Starting => begun_at + START,
            Patience::Prompt => until,
        };
        // No event reports that a shell reads again.
        let (next, end) = match (is_line, is_beginning) {
            (true, _) => (patience.min(until), patience.min(until)),
            (false, true) => (Instant::now() + SETTLED, deadline),
            (false, false) => (Instant::now() + READING, patience.min(until)),
        };
        let is_over = match timeout_at(next.min(end), changes.changed()).await {
            Ok(changed) => changed.is_err(),
            Err(_) => Instant::now() >= end,
        };
        if is_over && (is_careful || is_line) {
            return Err(refusal);
        }
        if is_over {
            break;
        }
    }
    if !is_at_prompt {
        inputs = pane.inputs();
        reach_plain_prompt(pane, is_careful, until).await?;
    }
    typist.admit()?;
    let tap = pane.tap();
    let leads = Shell::reading_commands(pane).is_some();
    let has_status = leads || pane.foreground().is_some_and(|front| is_ssh(&front.name));
    let around = running(pane).map(|id| OuterCommand { id, has_status });
    let Line { mut typed, shell, leader, is_from_file, .. } = command.line(pane, false)?;
    if has_lost_marks && shell == Shell::Bash {
        typed.insert_str(typed.len() - 1, RESTORE);
    }
    let before = Counts::of(pane);
    if !write_after(pane, &typed, inputs)? {
        return Ok(None);
    }
    let occupied = Some(Occupied::new(pane, &before));
    typist.typed(command.marks, &typed);
    let leader = leader.filter(|_| leads);
    Ok(Some(Begun { tap, block: None, around, occupied, shell, leader, is_from_file }))
}

/// Types text if the pane has received no input since [`Pane::inputs`] returned `inputs`. Returns whether it was typed.
/// Keys that a user typed meanwhile can have begun or recalled a line.
fn write_after(pane: &Pane, text: &str, inputs: u64) -> Result<bool> {
    let admit = |line: &Composed| if line.inputs == inputs { Ok(()) } else { Err(()) };
    match pane.write_admitted(text.as_bytes(), admit) {
        Ok(written) => {
            written.map_err(|error| Error::Write { id: pane.id().0, error }).map(|()| true)
        }
        Err(()) => Ok(false),
    }
}

/// Whether a program ends with the exit code of the shell to which it connects.
fn is_ssh(name: &str) -> bool {
    matches!(name.rsplit('/').next(), Some("ssh" | "slogin"))
}

/// The terminal's number of the command that runs in a pane, if a shell marks commands.
pub(super) fn running(pane: &Pane) -> Option<u64> {
    let term = pane.term();
    term.commands().next_back().filter(|last| last.is_running()).map(|last| last.id)
}

/// Whether a shell that marks its prompts waits for a line, as far as its marks show.
pub(super) fn is_prompting(pane: &Pane) -> bool {
    pane.term().commands().next_back().is_some_and(|last| last.is_prompting())
}

/// The command that has begun and not ended, if the shell marks commands. If another shell runs inside the command, or
/// has replaced the marking shell (`exec`), the name of the program that the other shell has started.
fn under_way(pane: &Pane) -> Option<String> {
    let line = {
        let term = pane.term();
        let last = term.commands().next_back().filter(|last| last.is_running())?;
        last.shown().map(|line| line.trim().to_owned())
    };
    let line = line.filter(|_| !is_of_other_shell(pane));
    let name = || pane.foreground().map(|process| process.name);
    Some(line.or_else(name).unwrap_or_else(|| "a command".to_owned()))
}

/// Whether the foreground program was started by a shell other than the shell at the last marked prompt.
fn is_of_other_shell(pane: &Pane) -> bool {
    let ancestors = pane.process().ancestors();
    let nearest = ancestors.iter().find(|above| Shell::of_process(&above.name).is_some());
    nearest.is_some_and(|shell| pane.is_shell_at_prompt(shell.pid) == Some(false))
}

/// The program that would read a line instead of the shell that drew the last prompt, and is no other shell that reads
/// commands. It is in the foreground, or in that shell's own process group. A key of a line editor can start such a
/// program, for example a search of the history.
fn covering_program(pane: &Pane) -> Option<String> {
    let is_shell = || Shell::reading_commands(pane).is_some();
    let front = pane.foreground().filter(|_| pane.is_shell_covered() && !is_shell());
    front.map(|front| front.name).or_else(|| pane.process().reader_behind_leader())
}

/// The result of waiting for the prompt of a shell without marks.
#[derive(Debug, PartialEq, Eq)]
enum PromptReached {
    /// A command may be typed now.
    Prompt,
    /// The shell without marks has ended, and a shell with marks is in the foreground.
    Marks,
}

/// Waits until a shell without marks shows a prompt. A program that connects to a shell elsewhere, such as ssh, counts
/// as being at that shell's prompt. If not `is_careful`, the wait also ends if another program, or a shell's `read`,
/// would read the command.
///
/// # Errors
/// Another program would read the command, or the shell shows no prompt, for example because it runs `read`. If not `is_careful`:
/// the command would follow other text in the line.
async fn reach_plain_prompt(
    pane: &Pane,
    is_careful: bool,
    until: Instant,
) -> Result<PromptReached> {
    let id = pane.id().0;
    let begun_at = Instant::now();
    let mut changes = pane.watch();
    let mut is_late = false;
    let was_inner = plain_prompt::is_inner(pane);
    loop {
        changes.borrow_and_update();
        if was_inner && !plain_prompt::is_inner(pane) {
            return Ok(PromptReached::Marks);
        }
        // Between two programs that a shell's function runs, no process leads the foreground for a moment.
        let Some(Foreground { name, .. }) = pane.foreground() else {
            if is_late {
                return Ok(PromptReached::Prompt);
            }
            let next = until.min(begun_at + START).min(Instant::now() + READING);
            let changed = timeout_at(next, changes.changed()).await;
            is_late =
                matches!(changed, Ok(Err(_))) || Instant::now() >= until.min(begun_at + START);
            continue;
        };
        if is_carrier(&name) || plain_prompt::stands(pane) {
            return Ok(PromptReached::Prompt);
        }
        let is_shell = Shell::reading_commands(pane).is_some();
        if !is_careful && (is_late || !is_shell || pane.is_settled()) {
            if is_shell && plain_prompt::continues(pane) {
                return Err(Error::Unbegun(id));
            }
            return match plain_prompt::left_in_line(pane).filter(|_| is_shell) {
                Some(line) => Err(Error::begun(id, &line, false)),
                None => Ok(PromptReached::Prompt),
            };
        }
        if is_late {
            return Err(if is_shell { Error::Promptless(id) } else { Error::busy(id, &name) });
        }
        let patience = begun_at + if is_working(pane) { START } else { ENDING };
        let shows_replies_at = plain_prompt::shows_replies_at(pane).map(Instant::from_std);
        let patience = shows_replies_at.map_or(patience, |at| patience.max(at + ENDING)).min(until);
        // No event reports that a shell begins to read.
        let next = patience.min(Instant::now() + READING);
        let changed = timeout_at(next, changes.changed()).await;
        is_late = matches!(changed, Ok(Err(_))) || Instant::now() >= patience;
    }
}

/// Whether a shell leads the foreground and does not read its terminal: it reads its startup files, or is between a command and
/// the next prompt. On a busy machine both take long.
fn is_working(pane: &Pane) -> bool {
    pane.foreground().is_some_and(|process| Shell::of_process(&process.name).is_some())
        && pane.process().awaits_input() == Some(false)
}

/// Whether the foreground program has read everything that was typed, and waits for more. True if the system does not
/// report that.
fn has_read_input(pane: &Pane) -> bool {
    if !pane.is_input_written() {
        return false;
    }
    let process = pane.process();
    // This check makes the kernel deliver all input, so a program that still sleeps afterward has read it.
    process.is_in_transit();
    process.awaits_input() != Some(false)
}

/// Waits until the shell at a marked prompt has read everything that was typed, at most until `until`.
///
/// Lines can be typed ahead of a prompt. The shell reads them after it has marked the prompt, and one of them may start
/// another shell or program. Until then, a line would be written for the wrong shell, or be lost when the other shell
/// changes the terminal's modes.
///
/// Does not wait for a line editor that is blocked after it has read everything, for example by a program that a key
/// started: the editor itself will read the line.
async fn wait_until_input_is_read(pane: &Pane, until: Instant) {
    let is_free = || is_prompting(pane) && !pane.is_prompt_entered();
    let mut blocked_since = None;
    while is_free() && !has_read_input(pane) && Instant::now() < until {
        let now = Instant::now();
        match is_editor_blocked(pane) {
            true if now >= *blocked_since.get_or_insert(now) + SETTLED => return,
            true => {}
            false => blocked_since = None,
        }
        // No event reports that a program begins to read.
        tokio::time::sleep(LOOK).await;
    }
    // The shell may have run a line meanwhile. Its marks can still be on their way. A background job may print without a
    // pause.
    let until = until.min(Instant::now() + SETTLED);
    while is_free() && pane.process().is_in_transit() && Instant::now() < until {
        tokio::time::sleep(LOOK).await;
    }
}

/// Whether a line editor has read everything that was typed, and sleeps or is stopped. Line editors turn the terminal's
/// echo on again when they have read a whole line, so the editor has not.
fn is_editor_blocked(pane: &Pane) -> bool {
    let process = pane.process();
    let has_read_all =
        || process.echo() == Some(false) && pane.is_input_written() && !process.is_in_transit();
    has_read_all() && process.is_blocked() && has_read_all()
}

/// Waits for the next prompt: the first prompt of a new shell, or the prompt after a command that has just ended.
pub async fn wait_for_prompt(pane: &Pane, deadline: Instant) {
    let mut changes = pane.watch();
    loop {
        changes.borrow_and_update();
        let (is_due, is_silent) = {
            let term = pane.term();
            let last = term.commands().next_back();
            let is_due = last.is_none_or(|last| !last.is_prompting() && !last.is_running());
            (is_due, last.is_some_and(|last| last.is_announced) || term.cursor().col > 0)
        };
        // If a line editor shows a prompt without marks, its shell has no integration, or has lost its integration.
        // `Posix` shells never have integration.
        let is_plain = || Shell::of_pane(pane) == Some(Shell::Posix);
        let is_silent = is_silent && (pane.process().echo() == Some(false) || is_plain());
        // Until the pane has settled, the mark of the prompt may still arrive.
        if !is_due || is_silent && pane.is_settled() {
            return;
        }
        // No event reports that a shell begins to read.
        let next = if is_silent { deadline.min(Instant::now() + READING) } else { deadline };
        let changed = timeout_at(next, changes.changed()).await;
        if matches!(changed, Ok(Err(_))) || Instant::now() >= deadline {
            return;
        }
    }
}

/// Waits until the program has processed all input and waits for more, or until the deadline.
pub async fn wait_until_settled(pane: &Pane, deadline: Instant) {
    while !pane.is_settled() && Instant::now() < deadline {
        // No event reports that a program begins to read.
        tokio::time::sleep(LOOK).await;
    }
}

/// Waits for the first prompt of a shell that is starting. Waits longer while the shell visibly works.
pub(super) async fn wait_for_start(pane: &Pane, deadline: Instant) {
    // If a caller's command has run in this shell without any mark, the shell has no integration.
    let is_started =
        matches!(pane.plain_prompt(), PlainPrompt::At(1..) | PlainPrompt::Replied { .. });
    if is_started && pane.term().commands().next_back().is_none() {
        return;
    }
    let longest = deadline.min(Instant::now() + WORKING);
    loop {
        let until = longest.min(Instant::now() + START);
        wait_for_prompt(pane, until).await;
        let is_late = Instant::now() >= until && pane.term().commands().next_back().is_none();
        if until == longest || !is_late || !is_working(pane) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_working_shell_is_waited_for_longest() {
        let failed = |attempt: Attempt| {
            let (patience, refusal) = attempt.failed(7);
            (patience, refusal.to_string())
        };
        let (patience, why) = failed(Attempt::Line { line: "ls -l".to_owned(), by_user: true });
        assert_eq!(patience, Patience::Settled);
        assert!(
            why.contains("the user is typing a line at the prompt of session 7: “ls -l”"),
            "{why}"
        );
        let (_, why) = failed(Attempt::Line { line: "ls -l".to_owned(), by_user: false });
        assert!(why.contains("an unfinished line"), "{why}");
        let busy = |what: Option<&str>, is_working| {
            failed(Attempt::Elsewhere { what: what.map(str::to_owned), is_working })
        };
        let (patience, why) = busy(Some("less F"), false);
        assert_eq!(patience, Patience::Ending);
        assert!(why.contains("session 7 runs “less F”"), "{why}");
        assert_eq!(busy(Some("make"), true).0, Patience::Starting);
        let (patience, why) = busy(None, false);
        assert_eq!(patience, Patience::Prompt);
        assert!(why.contains("may wait for the rest of it"), "{why}");
    }
}
