//! Reads lines from the user, with completion and history. Notifications appear above the edited line.

use std::{
    borrow::Cow,
    io::{self, Write as _},
    process::ExitCode,
    rc::Rc,
    sync::mpsc::Receiver,
    thread,
};

use anyhow::{Context as _, Result};
use rustyline::{
    ColorMode, Config, Editor, Helper,
    completion::{Completer, Pair},
    config::{BellStyle, CompletionType},
    error::ReadlineError,
    highlight::{CmdKind, Highlighter},
    hint::Hinter,
    history::{History as _, MemHistory},
    validate::{ValidationContext, ValidationResult, Validator},
};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    iterator::Signals,
};

use unterm_control::escaped;

use super::{
    client::{Client, CommandResult, line_of},
    complete::complete,
    connection::{Cancelled, Canceller, Note},
    history::{History, MOST},
    line_printer::LinePrinter,
};
use crate::cli::ptywright::terminal::Modes;

const PROMPT: &str = "ptywright> ";
/// If there are more candidates than this, they are listed in columns, without descriptions.
const MOST_DESCRIBED: usize = 16;
/// A process that a signal ended has an exit status of 128 plus the signal's number.
const SIGNALLED: i32 = 128;

/// The state that each of the editor's threads needs to end the process.
#[derive(Clone)]
struct Exit {
    modes: Option<Modes>,
    printer: LinePrinter,
}

impl Exit {
    /// Restores the terminal's modes, and ends the process. Needed because the editor's own thread may be waiting for
    /// a key.
    fn leave(&self, why: &str, status: i32) -> ! {
        if self.printer.is_edited() {
            // Turn bracketed paste off, which the editor has turned on.
            let _ = io::stdout().write_all(b"\x1b[?2004l\r\n");
            let _ = io::stdout().flush();
        }
        if let Some(modes) = &self.modes {
            modes.restore();
        }
        if !why.is_empty() {
            complain(why);
        }
        std::process::exit(status);
    }
}

/// Reads and carries out lines until the user leaves or the connection is lost.
///
/// # Errors
/// Fails if the terminal can't be used.
pub fn run(
    client: Client,
    notes: Receiver<Note>,
    history: (History, Vec<String>),
    json: bool,
) -> Result<ExitCode> {
    let exit = Exit { modes: Modes::of_stdin(), printer: LinePrinter::default() };
    let canceller = client.connection.canceller();
    let signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).context("cannot wait for signals")?;
    let of_signals = exit.clone();
    spawn("unterm-signals", move || follow(signals, canceller, &of_signals))?;
    let config = Config::builder()
        .max_history_size(MOST)?
        .history_ignore_space(true)
        .completion_type(CompletionType::List)
        .bell_style(BellStyle::None)
        // With colors, the editor reports each change that it draws, even if `NO_COLOR` is set. No colors are actually
        // printed.
        .color_mode(ColorMode::Forced)
        .build();
    let mut lines = MemHistory::with_config(&config);
    let (history, before) = history;
    for line in before {
        lines.add_owned(line)?;
    }
    let client = Rc::new(client);
    let mut editor = Editor::with_history(config, lines)?;
    editor.set_helper(Some(Assistant { client: client.clone(), printer: exit.printer.clone() }));
    let of_notes = exit.clone();
    spawn("unterm-notes", move || pass(&notes, &of_notes, json))?;
    loop {
        exit.printer.start();
        // The thread that prints notes ends the process only while a line is edited, so check here as well.
        if client.connection.is_lost() {
            exit.printer.end();
            complain(&escaped(&client.connection.why_lost()));
            return Ok(ExitCode::FAILURE);
        }
        let read = editor.readline(PROMPT);
        exit.printer.end();
        let line = match read {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(error).context("cannot read from the terminal"),
        };
        if editor.add_history_entry(&line)?
            && let Err(error) = history.add(&line)
        {
            complain(&format!("the history can't be written: {error}"));
        }
        match client.carry_out(&line) {
            CommandResult::Fine(text) => {
                let mut out = io::stdout();
                let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
            }
            CommandResult::Failed(why) => complain(&why),
            CommandResult::Quit => break,
            CommandResult::Lost(why) => exit.leave(&why, 1),
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> Result<()> {
    let spawned = thread::Builder::new().name(name.to_owned()).spawn(run);
    spawned.map(drop).context("cannot start a thread")
}

fn complain(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Handles signals. Ctrl+C cancels the current call. At the prompt, Ctrl+C causes no signal, because the editor reads
/// it as a key.
fn follow(mut signals: Signals, mut canceller: Canceller, exit: &Exit) {
    for signal in &mut signals {
        match signal {
            SIGINT => {
                if canceller.cancel() == Cancelled::InVain {
                    exit.leave("the server does not end the call", SIGNALLED + SIGINT);
                }
            }
            signal => exit.leave("", SIGNALLED + signal),
        }
    }
}

/// Prints notes above the edited line. If the connection is lost while the user edits a line, ends the process.
fn pass(notes: &Receiver<Note>, exit: &Exit, json: bool) {
    for note in notes {
        if let Note::Lost(why) = &note {
            // If no line is edited, the current call fails and reports the loss.
            if exit.printer.is_edited() {
                exit.leave(&escaped(why), 1);
            }
            return;
        }
        let Some(line) = line_of(&note, json) else { continue };
        if exit.printer.print(&(line + "\n")).is_err() {
            return;
        }
    }
}

/// Answers the editor's requests while a line is edited, and records the position of the line.
struct Assistant {
    client: Rc<Client>,
    printer: LinePrinter,
}

impl Completer for Assistant {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &rustyline::Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let (start, found) = complete(&line[..position], &*self.client);
        let width = found.iter().map(|one| one.word.len()).max().unwrap_or(0);
        let is_described = found.len() <= MOST_DESCRIBED;
        let pairs = found.into_iter().map(|one| {
            let about = if is_described { one.about.as_str() } else { "" };
            let display = format!("{:width$} {about}", one.word).trim_end().to_owned();
            Pair { display, replacement: one.word }
        });
        Ok((start, pairs.collect()))
    }
}

impl Highlighter for Assistant {
    fn highlight<'l>(&self, line: &'l str, position: usize) -> Cow<'l, str> {
        self.printer.edit(|edited| {
            edited.line.clear();
            edited.line.push_str(line);
            edited.position = position;
        });
        Cow::Borrowed(line)
    }

    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        self.printer.edit(|edited| {
            edited.prompt.clear();
            edited.prompt.push_str(prompt);
        });
        Cow::Borrowed(prompt)
    }

    /// Returns true, so that the editor redraws the whole line after each change and reports it to `highlight`.
    fn highlight_char(&self, _: &str, _: usize, _: CmdKind) -> bool {
        true
    }
}

impl Validator for Assistant {
    fn validate(&self, _: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        // The user pressed Enter, so the line is complete and no longer edited.
        self.printer.take();
        Ok(ValidationResult::Valid(None))
    }
}

impl Helper for Assistant {}

impl Hinter for Assistant {
    type Hint = String;
}
