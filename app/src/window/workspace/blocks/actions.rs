//! Actions on commands: jumping between prompts, and copying, selecting, rerunning or folding a command.

use unterm_mux::{Pane, input};
use unterm_term::{Command, LineId, Term};

use crate::window::{
    cx::Cx,
    input::buffer::Buffer,
    wish::Wish,
    workspace::{blocks::action::BlockAction, selection::Selection, view::Views},
};

/// The topic of messages about commands.
const ABOUT: &str = "commands";

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
fn typed_again(pane: &Pane, line: &str, authentic: bool) -> Vec<u8> {
    let modes = pane.term().modes();
    let mut bytes = input::encode_paste(line, modes);
    if authentic {
        bytes.push(b'\r');
    }
    bytes
}

/// The command that actions apply to: the command that the user jumped to, or else the last command that has run.
pub(crate) fn command_meant(pane: &Pane, views: &Views) -> Option<u64> {
    let view = views.get(&pane.id())?;
    let term = pane.term();
    let current = view.blocks.current.filter(|id| term.command(*id).is_some());
    current.or_else(|| {
        let ran = term.commands().rev().find(|command| command.output_seq != 0);
        ran.map(|command| command.id)
    })
}

/// Scrolls to the next prompt, or to the next line that a program marked, after or before the first visible row.
/// Returns false on the alternate screen.
pub(crate) fn jump_to_prompt(forward: bool, cx: &mut Cx<'_>) -> bool {
    let Some(pane) = cx.focused_pane() else { return false };
    let Some(view) = cx.fresh_view(&pane) else { return false };
    if view.is_alternate() {
        return false;
    }
    let (first, _) = view.rows_in_sight();
    let term = pane.term();
    let line = if forward { term.mark_after(first) } else { term.mark_before(first) };
    let Some(line) = line else {
        let has_marks = term.commands().next().is_some() || term.mark_after(LineId(0)).is_some();
        drop(term);
        let moved = forward && view.scroll_to_live();
        match (moved, has_marks, forward) {
            (true, ..) => {}
            (_, false, _) => no_commands(cx),
            (.., true) => cx.notify(ABOUT, "There is no later prompt."),
            (.., false) => cx.notify(ABOUT, "There is no earlier prompt."),
        }
        return true;
    };
    let id = term.command_at(line).map(|command| command.id);
    drop(term);
    view.show_at_top(line);
    view.blocks.current = id;
    true
}

/// Runs an action on the focused pane's current command (see [`command_meant`]).
pub(crate) fn with_command(action: BlockAction, cx: &mut Cx<'_>) {
    let Some(pane) = cx.focused_pane() else { return };
    match command_meant(&pane, cx.views) {
        Some(id) => act_on(&pane, id, action, cx),
        None => no_commands(cx),
    }
}

pub(crate) fn no_commands(cx: &mut Cx<'_>) {
    let last = cx.focused_pane().and_then(|pane| {
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
    cx.notify(ABOUT, why);
}

pub(crate) fn select_output(cx: &mut Cx<'_>) {
    let Some(pane) = cx.focused_pane() else { return };
    let Some(id) = command_meant(&pane, cx.views) else { return no_commands(cx) };
    let (range, seq) = {
        let term = pane.term();
        (term.output_range(id), term.seq())
    };
    let Some(view) = cx.views.get_mut(&pane.id()) else { return };
    match range {
        Some(range) => {
            view.selection = Some(Selection::of(range, seq));
            view.reveal(range.start.line);
            warn_if_cut(&pane, id, cx);
        }
        None => cx.notify(ABOUT, "The command printed nothing."),
    }
}

/// Shows a message if the beginning of a command's output is gone.
pub(crate) fn warn_if_cut(pane: &Pane, id: u64, cx: &mut Cx<'_>) {
    let message = cut_message(&pane.term(), id);
    if let Some(message) = message {
        cx.notify(ABOUT, message);
    }
}

/// Folds the output of every finished command in the focused pane, or unfolds all output.
pub(crate) fn fold_all(fold: bool, cx: &mut Cx<'_>) {
    let Some(pane) = cx.focused_pane() else { return };
    let Some(view) = cx.views.get_mut(&pane.id()) else { return };
    let changed = view.change_folds(|folds| match fold {
        true => folds.fold_all(&pane.term()),
        false => folds.clear(),
    });
    if !changed {
        let why = if fold { "There is no output to fold." } else { "Nothing is folded." };
        cx.notify(ABOUT, why);
    }
}

/// The input that runs a pane's command again. `None` if there is no command, or if the shell shows no prompt.
pub(crate) fn rerun_input(pane: &Pane, views: &Views) -> Option<Vec<u8>> {
    let id = command_meant(pane, views)?;
    let (line, authentic) = {
        let term = pane.term();
        if !term.commands().next_back().is_some_and(Command::is_prompting) {
            return None;
        }
        let command = term.command(id)?;
        (command.line.clone().filter(|line| !line.is_empty())?, command.is_authentic)
    };
    Some(typed_again(pane, &line, authentic))
}

pub(crate) fn act_on(pane: &Pane, id: u64, action: BlockAction, cx: &mut Cx<'_>) {
    if action == BlockAction::Fold {
        let Some(view) = cx.views.get_mut(&pane.id()) else { return };
        if !view.change_folds(|folds| folds.toggle(&pane.term(), id)) {
            let why = "There is nothing to fold: the command still runs or printed nothing.";
            cx.notify(ABOUT, why);
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
        return cx.notify(ABOUT, what);
    };
    match action {
        BlockAction::Fold => {}
        BlockAction::CopyOutput | BlockAction::CopyCommand => {
            let lines = text.lines().count();
            cx.store(Buffer::Clipboard, text);
            let lines = if lines == 1 { "a line".to_owned() } else { format!("{lines} lines") };
            let cut = cut.filter(|_| action == BlockAction::CopyOutput);
            let cut = cut.map_or(String::new(), |cut| format!("\n{cut}"));
            cx.notify(ABOUT, format!("Copied {lines}.{cut}"));
        }
        BlockAction::Rerun if !prompts => {
            cx.notify(ABOUT, "A program is running. Run the command again when it has ended.");
        }
        BlockAction::Rerun => {
            cx.wish(Wish::Enter(pane.id(), typed_again(pane, &text, authentic)));
            if !authentic {
                cx.notify(
                    ABOUT,
                    "Press Enter to run it: the shell did not report this command itself.",
                );
            }
        }
    }
}
