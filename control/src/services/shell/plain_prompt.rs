//! Detects whether a shell without integration is at its prompt.
//!
//! Such a shell reads its terminal both at its prompt and in `read`. If it has received no input since it started, or since a
//! caller's command ended, it is still at its prompt. Ctrl+C ends `read`, an unfinished command and a begun line, so a shell
//! that waits for input after it is at its prompt, whatever the prompt looks like. After other input, the shell counts as at
//! its prompt if the line at the cursor looks like a prompt with no typed text after it, no key has edited that line and, in a
//! shell with a line editor, the terminal's echo is off: such shells turn it off for a command, but not for `read`. While a
//! caller's command runs, the shell is not at its prompt.

use std::time::{Duration, Instant};

use unterm_mux::{Pane, PlainPrompt, is_carrier};
use unterm_term::{Command, Modes};

use super::{
    kind::Shell,
    question_line::{ends_prompt, line_to_cursor},
};

/// Prompts that fish and zsh show for a command that reads a line (`read`, `select`).
const READING: [&str; 2] = ["read> ", "?# "];
/// The signs at the end of shell prompts. Questions, and the prompts of `read -e`, `vared` and fish's `read`, end
/// differently.
const SHELL_SIGNS: [char; 9] = ['$', '#', '%', '❯', '➜', '→', 'λ', '»', '›'];
/// Line editors wait no longer than this for the rest of a key's sequence, and draw nothing meanwhile: readline 500 ms
/// (`keyseq-timeout`), zsh 400 ms (`KEYTIMEOUT`), fish 30 ms.
const WHOLE_KEY: Duration = Duration::from_millis(600);

/// The time by which a shell without marks has drawn the text that the terminal's replies put into its line. `None` if
/// its line can't contain replies.
pub fn shows_replies_at(pane: &Pane) -> Option<Instant> {
    match pane.plain_prompt() {
        PlainPrompt::Replied { inputs, since } if inputs == pane.inputs() => {
            Some(since + WHOLE_KEY)
        }
        _ => None,
    }
}

/// Whether the foreground process is a shell that waits for a command.
pub fn stands(pane: &Pane) -> bool {
    let known = pane.plain_prompt();
    // Right after input, the screen may still show the previous prompt. So check this before reading the screen.
    if known == PlainPrompt::Occupied || !pane.is_settled() {
        return false;
    }
    if shows_replies_at(pane).is_some_and(|at| Instant::now() < at) {
        return false;
    }
    let line = line_to_cursor(&pane.term());
    let Some(shell) = Shell::reading_commands(pane) else { return false };
    // A shell that has drawn nothing is starting. It may read its terminal for another reason, such as the answer to a query.
    let is_known = match pane.inputs() {
        0 => known == PlainPrompt::At(0) && !line.is_empty(),
        inputs => known == PlainPrompt::At(inputs),
    };
    // Without a line editor, control characters such as Ctrl+L become part of the line.
    let may_edit = || match shell {
        Shell::Posix => !pane.has_control_text(),
        _ => pane.process().echo() == Some(false),
    };
    let is_empty_prompt = || {
        let typed = pane.typed();
        // Without a line editor, typed text stays in the line until Enter, even if output has moved the cursor to a row
        // that does not show the text.
        let is_kept = shell == Shell::Posix && !typed.trim().is_empty();
        !is_kept && !pane.is_edited() && is_prompt(shell, &line, typed.trim())
    };
    is_known || may_edit() && (pane.is_interrupted() || is_empty_prompt())
}

/// Text in the line of the foreground shell that was typed but not entered, or that the terminal's replies put there.
/// Empty if no text was typed, but keys may have changed the line or its editor's mode. `None` if the line is
/// untouched. fish keeps an entered line that it can't parse, so its line counts unless it looks like a prompt.
pub fn left_in_line(pane: &Pane) -> Option<String> {
    let has_replies = shows_replies_at(pane).is_some();
    let typed = pane.typed().trim().to_owned();
    match typed.is_empty() {
        true if has_replies => Some(line_to_cursor(&pane.term()).trim().to_owned()),
        true if pane.is_edited() => Some(typed),
        true => match Shell::reading_commands(pane) {
            Some(Shell::Posix) => pane.has_control_text().then_some(typed),
            Some(Shell::Fish) if !pane.is_interrupted() && pane.is_settled() => {
                let line = line_to_cursor(&pane.term());
                let is_line = !line.trim().is_empty() && !READING.contains(&&*line);
                (is_line && !ends_prompt(&line)).then(|| line.trim().to_owned())
            }
            _ => None,
        },
        false => Some(typed),
    }
}

/// Whether a shell without marks is in the foreground, in place of the shell that marks its prompts. A command started
/// it, or it replaced the marking shell. If the mark of that command's beginning was lost, the shell counts only while
/// it reads its terminal: a process that a shell has just forked still has that shell's name, and may become another
/// shell. Then the marked prompt is an old one, even if its mark came after Enter, because the line was typed ahead.
pub fn is_inner(pane: &Pane) -> bool {
    let is_prompting = {
        let term = pane.term();
        term.commands().next_back().map(|last| last.is_prompting())
    };
    let has_begun = match is_prompting {
        None => false,
        Some(false) => true,
        Some(true) => pane.process().reads_input(),
    };
    has_begun && pane.is_shell_covered() && Shell::reading_commands(pane).is_some()
}

/// Whether the shell that marked the last prompt waits for a command, but has not marked the beginning of its line. It
/// lost its integration, or drew an announced prompt without marks, or never received its line. The marks may still
/// arrive, so call this again after a moment without output.
pub fn is_unreported(pane: &Pane) -> bool {
    let (is_prompting, is_announced) = {
        let term = pane.term();
        let last = term.commands().next_back();
        let is_open = |last: &&Command| last.output_seq == 0 && last.end_seq == 0;
        let is_announced = last.filter(is_open).is_some_and(|last| last.is_announced);
        (last.is_some_and(|last| last.is_prompting()), is_announced)
    };
    if pane.is_shell_covered() {
        return false;
    }
    if is_prompting {
        return has_dropped_line(pane);
    }
    match is_announced {
        // At an announced prompt, no command runs that could edit a line. After Enter, the shell may wait for the rest
        // of the line.
        true => {
            edits_line(pane)
                && !pane.is_prompt_entered()
                && pane.shows_input()
                && pane.typed().trim().is_empty()
        }
        false => {
            let has_sign = || line_to_cursor(&pane.term()).trim_end().ends_with(SHELL_SIGNS);
            stands(pane) && (pane.is_interrupted() || has_sign()) || has_ended_silently(pane)
        }
    }
}

/// Whether the last command certainly has ended, although the shell marks no prompts any longer: the command's line only
/// sets variables, so only the shell itself can edit a line after it. That line removes the prompt itself, for example,
/// so that the screen shows none.
fn has_ended_silently(pane: &Pane) -> bool {
    let only_sets = {
        let term = pane.term();
        let last = term.commands().next_back().filter(|last| last.is_running());
        last.and_then(|last| last.shown()).is_some_and(sets_only_variables)
    };
    only_sets
        && pane.enters_since_prompt() == 1
        && pane.typed().is_empty()
        && !pane.is_edited()
        && edits_line(pane)
        && pane.is_settled()
}

/// Whether a line of a shell of the Bourne family consists of assignments and `unset` alone. False if that is not
/// certain.
fn sets_only_variables(line: &str) -> bool {
    let is_name = |word: &str| {
        let is_part = |char: char| char.is_ascii_alphanumeric() || char == '_';
        word.starts_with(|char: char| is_part(char) && !char.is_ascii_digit())
            && word.chars().all(is_part)
    };
    let is_assignment = |word: &str| word.split_once('=').is_some_and(|(name, _)| is_name(name));
    let sets = |command: &str| {
        let mut words = command.split_whitespace();
        match words.next() {
            None | Some("unset") => words.all(is_name),
            Some(first) => is_assignment(first) && words.all(is_assignment),
        }
    };
    !line.contains(|char: char| char.is_control() || "$`(){}&|<>\\".contains(char))
        && line.split(';').all(sets)
}

/// Whether the terminal has dropped the line that was entered at the marked prompt: Ctrl+C makes the terminal drop the
/// input that the shell has not read. If the shell then receives only Ctrl+C at an empty line, fish marks no new
/// prompt.
fn has_dropped_line(pane: &Pane) -> bool {
    pane.is_prompt_entered() && pane.is_interrupted() && edits_line(pane) && pane.is_settled()
}

/// Whether a shell edits a line: at its prompt, or for a command (`read -e`).
fn edits_line(pane: &Pane) -> bool {
    let process = pane.process();
    Shell::reading_commands(pane).is_some()
        && process.echo() == Some(false)
        && !process.reads_secret()
        && process.awaits_input() == Some(true)
}

/// Whether a new shell, which a command started, is at its prompt. `shell`: the process id of the shell that runs the
/// command. The new shell is a descendant of `shell`, or runs behind a descendant that forwards the terminal, such as
/// ssh.
pub fn is_new_shell(pane: &Pane, shell: i32) -> bool {
    if !pane.shows_input() {
        return false;
    }
    let Some(front) = pane.foreground().filter(|front| front.pid != shell) else {
        return false;
    };
    if !pane.process().ancestors().iter().any(|ancestor| ancestor.pid == shell) {
        return false;
    }
    // Behind a program that forwards the terminal, another process may read it, such as tmux's server. So check the
    // screen.
    let is_carried = is_carrier(&front.name) && ends_prompt(&line_to_cursor(&pane.term()));
    is_carried || shows_prompt(pane)
}

/// Whether the foreground shell is at a prompt. The shell marks the prompt, or the screen shows it.
pub fn shows_prompt(pane: &Pane) -> bool {
    let Some(shell) = Shell::reading_commands(pane) else { return false };
    let (is_marked, line) = {
        let term = pane.term();
        let last = term.commands().next_back();
        (last.is_some_and(|last| last.is_prompting()), line_to_cursor(&term))
    };
    let process = pane.process();
    let may_edit = shell == Shell::Posix || process.echo() == Some(false);
    may_edit && process.awaits_input() != Some(false) && (is_marked || is_prompt(shell, &line, ""))
}

/// The texts that readline puts before the last line of a prompt if `show-mode-in-prompt` is on: those of emacs mode, and
/// of vi's insert and command modes. Before readline 8.0 they were shorter. The first text is for the option's default,
/// off.
const READLINE_MODES: [&str; 6] = ["", "@", "(ins)", "(cmd)", "+", ":"];

/// The names of open constructs in zsh's continuation prompt (zshmisc(1), `%_`).
const OPEN: &str = "always array bquote brace braceparam case cmdand cmdor cmdsubst cond cursh dquote elif elif-then \
    else errpipe for foreach function heredoc heredocd if math mathsubst pipe quote repeat select subsh \
    then until while";

/// Whether the foreground shell waits for the rest of the entered command, or zsh asks whether to correct that command. A
/// shell that waits shows its default continuation prompt. fish has none, so its marks decide.
pub fn continues(pane: &Pane) -> bool {
    if asks_to_correct(pane) {
        return true;
    }
    let line = line_to_cursor(&pane.term());
    match Shell::reading_commands(pane) {
        Some(Shell::Posix) => line == "> ",
        Some(Shell::Bash) => {
            READLINE_MODES.iter().any(|mode| line.strip_prefix(mode) == Some("> "))
        }
        Some(Shell::Zsh) => line.strip_suffix("> ").is_some_and(|open| {
            let last = open.rsplit(' ').next();
            OPEN.split(' ').any(|word| last == Some(word))
        }),
        // fish shows no continuation prompt. It marks the beginning of a line that it runs, and a new prompt after a line
        // that it refuses.
        Some(Shell::Fish) => {
            let is_prompting =
                pane.term().commands().next_back().is_some_and(|last| last.is_prompting());
            is_prompting
                && !pane.is_shell_covered()
                && pane.is_prompt_entered()
                && !pane.is_interrupted()
                && edits_line(pane)
                && !ends_prompt(&line)
        }
        _ => false,
    }
}

/// Whether zsh asks whether to correct a word of the entered line (`setopt correct`): it has announced a line editor
/// with its prompt and has not begun the line, but the editor no longer reads, and the cursor is below the line. A key
/// that is typed now answers the question. The line may have been typed ahead of the prompt.
pub fn asks_to_correct(pane: &Pane) -> bool {
    let is_left = {
        let term = pane.term();
        let cursor = term.live_top().0 + u64::from(term.cursor().row);
        let is_below = |last: &Command| last.input.is_some_and(|input| cursor > input.line.0);
        let is_open = |last: &Command| last.is_prompting() && last.has_reset_key && is_below(last);
        !term.modes().contains(Modes::BRACKETED_PASTE)
            && term.commands().next_back().is_some_and(is_open)
    };
    is_left
        && Shell::reading_commands(pane) == Some(Shell::Zsh)
        && pane.process().awaits_input() == Some(true)
}

/// Whether a line is a shell's prompt without `typed` after it. In shells of the Bourne family, `> ` is a continuation prompt.
fn is_prompt(shell: Shell, line: &str, typed: &str) -> bool {
    let bare = line.trim_end();
    let continues = matches!(shell, Shell::Bash | Shell::Zsh | Shell::Posix) && bare.ends_with('>');
    ends_prompt(line)
        && !continues
        && !READING.contains(&line)
        && (typed.is_empty() || !bare.ends_with(typed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_sets_variables_reads_no_input() {
        for line in [
            "unset PROMPT_COMMAND PS0 PS1",
            "PS1= PS0=; PROMPT_COMMAND=",
            " PS1='' ; unset PS0; ",
            "A=\"b\" C_2='d;e=f'",
        ] {
            assert!(sets_only_variables(line), "{line}");
        }
        for line in [
            "read -e A",
            "A=1 read -e B",
            "A='b read -e'",
            "A='b;read -e c'",
            "unset A; read -e A",
            "A=$(cat)",
            "A=`cat`",
            "unset -f A",
            "A=1 & read -e B",
            "A=1\nread -e B",
            "A[read]=1",
            "1=2",
            "=x",
            "unset A >B",
        ] {
            assert!(!sets_only_variables(line), "{line}");
        }
    }

    #[test]
    fn a_line_is_a_prompt_unless_it_asks_for_more_or_was_begun() {
        for (shell, line) in [
            (Shell::Bash, "me@host:~$ "),
            (Shell::Posix, "# "),
            (Shell::Zsh, "host% "),
            (Shell::Zsh, "❯ "),
            (Shell::Zsh, "➜  src git:(main) "),
            (Shell::Fish, "me@host ~> "),
            (Shell::Nushell, "> "),
        ] {
            assert!(is_prompt(shell, line, ""), "{line}");
            assert!(is_prompt(shell, line, "q"), "{line}: a key that a program has read");
        }
        for (shell, line, typed) in [
            (Shell::Bash, "> ", ""),
            (Shell::Zsh, "quote> ", ""),
            (Shell::Posix, "mysql> ", ""),
            (Shell::Zsh, "?# ", ""),
            (Shell::Fish, "read> ", ""),
            (Shell::Bash, "name: ", ""),
            (Shell::Bash, "", ""),
            (Shell::Zsh, "❯ rm -rf ", "rm -rf"),
            (Shell::Bash, "$ echo 50% ", "echo 50%"),
        ] {
            assert!(!is_prompt(shell, line, typed), "{line}");
        }
    }
}
