//! The rules on input lines. They apply to the line that would be entered, even if several callers sent its parts.

use unterm_mux::{Edited, Pane};

use super::step::{Authority, Decision, Input, Step};
use crate::{
    caller::Caller,
    error::{Error, Result},
    services::shell::{
        policy::{Policy, Refusal},
        reading::Reading,
        refused_lines::Attempt,
    },
};

/// The maximum number of bytes of input that the rules are applied to at once.
pub const MOST_JUDGED: usize = 1 << 20;

pub fn decide(authority: &Authority, caller: &Caller, step: &Step<'_>) -> Decision {
    let Authority { policy, refused_lines, .. } = authority;
    match step {
        Step::Type(_, Input::Bytes { bytes, .. }) => check_length(policy, bytes.len()).into(),
        Step::Type(pane, Input::Command(command)) => {
            let decided = match check_command(policy, pane, command) {
                Err(Error::Policy(refusal)) => Err(refusal),
                Err(error) => return Decision::Deny(error),
                Ok(()) => Ok(()),
            };
            let attempt = || Attempt { line: typed_command(pane, command), enters: true };
            let checked = refused_lines.check(caller, pane.id(), decided, attempt);
            checked.map_err(Error::Policy).into()
        }
        Step::Type(pane, Input::Variable(line)) => check_variable(policy, pane, line).into(),
        Step::Compose { pane, reading: Some(reading), composed, .. } => {
            let enters = !composed.entered.is_empty();
            let decided = reading.check(policy, pane.id(), composed);
            let attempt = || Attempt { line: reading.line(composed), enters };
            let checked = refused_lines.check(caller, pane.id(), decided, attempt);
            // This is the last gate, so the line will be entered.
            if checked.is_ok() && enters {
                refused_lines.entered(pane.id());
            }
            checked.map_err(Error::Policy).into()
        }
        _ => Decision::Allow,
    }
}

/// Whether input is short enough to be checked. The length is limited because the check blocks other callers.
pub fn check_length(policy: &Policy, length: usize) -> Result<()> {
    if length <= MOST_JUDGED || !policy.is_enabled() {
        return Ok(());
    }
    Err(Error::Failed(format!(
        "Nothing was typed: {length} bytes are more than the rules are applied to at once. Send at most {MOST_JUDGED} at a time"
    )))
}

/// Whether a command may be entered after the text already in a pane's line.
fn check_command(policy: &Policy, pane: &Pane, command: &str) -> Result<()> {
    if !policy.is_enabled() {
        return Ok(());
    }
    check_length(policy, command.len())?;
    let line = pane.typed() + command;
    let id = Some(pane.id());
    policy.check_typed(id, &[command], &line).map_err(Error::Policy)?;
    let lines: Vec<&str> = command.lines().collect();
    policy.check_typed(id, &lines, "").map_err(Error::Policy)?;
    if policy.binds(pane.id()) && Reading::of(pane).is_shell() {
        policy.check_history(id, &lines).map_err(Error::Policy)?;
    }
    check_behind_edits(policy, pane, command).map_err(Error::Policy)
}

/// The line that results from a command after the text already in a pane's line, as it was typed. `None` if keys have
/// made that line uncertain.
fn typed_command(pane: &Pane, command: &str) -> Option<String> {
    let unfinished = pane.compose(&[]).unfinished;
    if unfinished.edited == Edited::No && unfinished.keys == Edited::No {
        return Some(unfinished.text + command);
    }
    pane.empties_line().then(|| command.to_owned())
}

/// Checks whether the command may be entered after a current line that keys have edited. Allows it if no keys have
/// edited the line, or if the command empties the line first.
fn check_behind_edits(
    policy: &Policy,
    pane: &Pane,
    command: &str,
) -> std::result::Result<(), Refusal> {
    let mut composed = pane.compose(&[]);
    if composed.unfinished.edited == Edited::No || !policy.binds(pane.id()) || pane.empties_line() {
        return Ok(());
    }
    let reading = Reading::of(pane);
    if reading.is_shell() {
        let mut line = std::mem::take(&mut composed.unfinished);
        line.text.push_str(command);
        command.clone_into(&mut line.added);
        composed.entered.push(line);
        reading.check(policy, pane.id(), &composed)?;
    }
    Ok(())
}

/// Whether a shell may set a variable. The rules check the assignment like an input line, because shells run some
/// values as commands.
fn check_variable(policy: &Policy, pane: &Pane, line: &str) -> Result<()> {
    if !policy.is_enabled() {
        return Ok(());
    }
    check_length(policy, line.len())?;
    policy.check_typed(Some(pane.id()), &[line], line).map_err(Error::Policy)
}
