//! Actions on commands: jumping between prompts, and copying, selecting, rerunning or folding a command.

use unterm_mux::{Pane, input};
use unterm_term::{Command, LineId, Term};

use crate::window::{
    app::{App, send},
    input::buffer::Buffer,
    workspace::{blocks::action::BlockAction, selection::Selection},
};

/// The message about a command, if the beginning of its output is gone.
fn cut_message(term: &Term, id: u64) -> Option<&'static str> {
    let command = term.command(id).filter(|command| term.is_cut(command))?;
    Some(match command.is_erased {
        true => "The command erased the beginning of its output.",
        false => "The beginning of the output is gone from the history.",
    })
}

/// The input that types a command line again. It ends with Enter, unless a program may have forged the line: then the
/// user must press Enter.
fn rerun_input(pane: &Pane, line: &str, authentic: bool) -> Vec<u8> {
    let modes = pane.term().modes();
    let mut bytes = input::encode_paste(line, modes);
    if authentic {
        bytes.push(b'\r');
    }
    bytes
}

impl App {
    /// Scrolls to the next prompt, or to the next line that a program marked, after or before the first visible row.
    /// Returns false on the alternate screen.
    pub(crate) fn jump_to_prompt(&mut self, forward: bool) -> bool {
        let Some(pane) = self.focused_pane() else { return false };
        let Some(view) = self.fresh_view(&pane) else { return false };
        if view.is_alternate() {
            return false;
        }
        let (first, _) = view.rows_in_sight();
        let term = pane.term();
        let line = if forward { term.mark_after(first) } else { term.mark_before(first) };
        let Some(line) = line else {
            let has_marks =
                term.commands().next().is_some() || term.mark_after(LineId(0)).is_some();
            drop(term);
            let moved = forward && view.scroll_to_live();
            match (moved, has_marks, forward) {
                (true, ..) => {}
                (_, false, _) => self.no_commands(),
                (.., true) => self.notify("commands", "There is no later prompt.".to_owned()),
                (.., false) => self.notify("commands", "There is no earlier prompt.".to_owned()),
            }
            return true;
        };
        let id = term.command_at(line).map(|command| command.id);
        drop(term);
        view.show_at_top(line);
        view.blocks.current = id;
        true
    }

    /// Runs an action on the focused pane's current command (see [`App::command_meant`]).
    pub(crate) fn with_command(&mut self, action: BlockAction) {
        let Some(pane) = self.focused_pane() else { return };
        match self.workspace.command_meant(&pane) {
            Some(id) => self.do_with(&pane, id, action),
            None => self.no_commands(),
        }
    }

    pub(crate) fn no_commands(&mut self) {
        let last = self.focused_pane().and_then(|pane| {
            let term = pane.term();
            term.commands().next_back().map(|command| command.id)
        });
        let why = match last {
            None => "There is no command here.\nThe shell has not marked one (OSC 133).",
            Some(1) => "No command has run here yet.",
            Some(_) => {
                "No command is left here.\nIts prompt was cleared, or its output is longer than the history."
            }
        };
        self.notify("commands", why.to_owned());
    }

    pub(crate) fn select_output(&mut self) {
        let Some(pane) = self.focused_pane() else { return };
        let Some(id) = self.workspace.command_meant(&pane) else { return self.no_commands() };
        let (range, seq) = {
            let term = pane.term();
            (term.output_range(id), term.seq())
        };
        let Some(view) = self.workspace.views.get_mut(&pane.id()) else { return };
        match range {
            Some(range) => {
                view.selection = Some(Selection::of(range, seq));
                view.reveal(range.start.line);
                self.warn_if_cut(&pane, id);
            }
            None => self.notify("commands", "The command printed nothing.".to_owned()),
        }
    }

    /// Shows a message if the beginning of a command's output is gone.
    pub(crate) fn warn_if_cut(&mut self, pane: &Pane, id: u64) {
        let message = cut_message(&pane.term(), id);
        if let Some(message) = message {
            self.notify("commands", message.to_owned());
        }
    }

    /// Folds the output of every finished command in the focused pane, or unfolds all output.
    pub(crate) fn fold_all(&mut self, fold: bool) {
        let Some(pane) = self.focused_pane() else { return };
        let Some(view) = self.workspace.views.get_mut(&pane.id()) else { return };
        let changed = view.change_folds(|folds| match fold {
            true => folds.fold_all(&pane.term()),
            false => folds.clear(),
        });
        if !changed {
            let why = if fold { "There is no output to fold." } else { "Nothing is folded." };
            self.notify("commands", why.to_owned());
        }
    }

    /// The input that runs a pane's command again. `None` if there is no command, or if the shell shows no prompt.
    pub(crate) fn rerun_input(&self, pane: &Pane) -> Option<Vec<u8>> {
        let id = self.workspace.command_meant(pane)?;
        let (line, authentic) = {
            let term = pane.term();
            if !term.commands().next_back().is_some_and(Command::is_prompting) {
                return None;
            }
            let command = term.command(id)?;
            (command.line.clone().filter(|line| !line.is_empty())?, command.is_authentic)
        };
        Some(rerun_input(pane, &line, authentic))
    }

    pub(crate) fn do_with(&mut self, pane: &Pane, id: u64, action: BlockAction) {
        if action == BlockAction::Fold {
            let Some(view) = self.workspace.views.get_mut(&pane.id()) else { return };
            if !view.change_folds(|folds| folds.toggle(&pane.term(), id)) {
                let why = "There is nothing to fold: the command still runs or printed nothing.";
                self.notify("commands", why.to_owned());
            }
            return;
        }
        let (text, authentic, prompts, cut) = {
            let term = pane.term();
            let command = term.command(id);
            let cut = cut_message(&term, id);
            let authentic = command.is_some_and(|command| command.is_authentic);
            let prompts = term.commands().next_back().is_some_and(Command::is_prompting);
            let text = match action {
                BlockAction::CopyOutput => term.output_range(id).map(|range| term.text(range)),
                BlockAction::CopyCommand | BlockAction::Rerun | BlockAction::Fold => {
                    command.and_then(|c| c.line.clone())
                }
            };
            (text.filter(|text| !text.is_empty()), authentic, prompts, cut)
        };
        let Some(text) = text else {
            let what = match action {
                BlockAction::CopyOutput => "The command printed nothing.",
                BlockAction::CopyCommand | BlockAction::Rerun | BlockAction::Fold => {
                    "The shell did not report the command's line."
                }
            };
            return self.notify("commands", what.to_owned());
        };
        match action {
            BlockAction::Fold => {}
            BlockAction::CopyOutput | BlockAction::CopyCommand => {
                let lines = text.lines().count();
                self.store(Buffer::Clipboard, text);
                let lines = if lines == 1 { "a line".to_owned() } else { format!("{lines} lines") };
                let cut = cut.filter(|_| action == BlockAction::CopyOutput);
                let cut = cut.map_or(String::new(), |cut| format!("\n{cut}"));
                self.notify("commands", format!("Copied {lines}.{cut}"));
            }
            BlockAction::Rerun if !prompts => {
                self.notify(
                    "commands",
                    "A program is running. Run the command again when it has ended.".to_owned(),
                );
            }
            BlockAction::Rerun => {
                pane.touch();
                self.before_input(pane.id());
                send(pane, &rerun_input(pane, &text, authentic));
                if !authentic {
                    self.notify(
                        "commands",
                        "Press Enter to run it: the shell did not report this command itself."
                            .to_owned(),
                    );
                }
            }
        }
    }
}
