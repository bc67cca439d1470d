//! Removes the traces of Unterm's own line from a command's output.
//!
//! A shell that traces commands (`set -x`) also traces the line in which Unterm wraps a command. The user or agent
//! wants to see traces of their own commands only, and has never seen Unterm's line.

use crate::services::shell::kind::{Marks, printf_text};

/// The maximum length of a trace's prompt (`PS4`), in bytes.
const LONGEST_PROMPT: usize = 200;

/// The maximum number of lines that a DEBUG trap prints before Unterm's own line.
const MOST_OF_TRAP: usize = 20;

/// The `case` around a user's DEBUG trap, as bash traces it (`_unterm_guard` in the integration).
const GUARD: &str = "case ${_unterm_on+$BASH_COMMAND} in";

/// Removes from a command's output the traces of the line that Unterm typed around the command, and of the `case` around
/// a DEBUG trap.
pub(super) fn without_traces(output: String, command: &str, marks: &Marks) -> String {
    let output = without_guards(output);
    let mut rest = output.as_str();
    let first = eval_trace(rest, command);
    // The trace of the end mark contains a random id that no other text contains. If the output does not end with a
    // line end, this trace begins in the middle of a line.
    let last = rest.rfind('\n').map_or(0, |at| at + 1);
    if let (Some(at), true) = (rest[last..].rfind("printf "), rest[last..].contains(&marks.echo()))
    {
        let before = &rest[..last + at];
        let prompt = match &first {
            Some(first) => without_prompt(before, first.prompt),
            None => before[last..].rfind('+').map(|plus| &before[..last + plus]),
        };
        let before = prompt.unwrap_or(before);
        rest = match &first {
            Some(first) if first.start > 0 => without_trap(before, first.prompt),
            _ => before,
        };
        rest = rest.strip_suffix('\n').unwrap_or(rest);
    }
    let mut of_trap = "";
    if let Some(first) = first {
        of_trap = &output[..first.start];
        rest = rest.get(first.end..).unwrap_or_default();
        rest = rest.strip_prefix('\n').unwrap_or(rest);
    }
    match rest.len() == output.len() {
        true => output,
        false => format!("{of_trap}{rest}"),
    }
}

/// Removes from the end of a text the traces of a DEBUG trap that ran before the end mark. zsh traces the trap with the
/// prompt of Unterm's own line, which contains the line's number. Traces of the user's command have another prompt.
fn without_trap<'a>(mut text: &'a str, prompt: &str) -> &'a str {
    if !prompt.contains(|char: char| char.is_ascii_digit()) {
        return text;
    }
    for _ in 0..MOST_OF_TRAP {
        let whole = text.strip_suffix('\n').unwrap_or(text);
        let last = whole.rfind('\n').map_or(0, |at| at + 1);
        let Some(at) = whole[last..].rfind(prompt) else { break };
        text = &whole[..last + at];
    }
    text
}

/// Removes the traces of the `case` around a DEBUG trap.
fn without_guards(output: String) -> String {
    if !output.contains(GUARD) {
        return output;
    }
    let left = |line: &'_ str| {
        let Some(before) = line.strip_suffix(GUARD) else { return Some(line.to_owned()) };
        // If the output does not end with a line end, the trace begins in the middle of a line.
        let text = before.trim_end_matches([' ', '+']);
        let is_in_middle = before.contains('+') && !text.is_empty();
        is_in_middle.then(|| text.to_owned())
    };
    output.split('\n').filter_map(left).collect::<Vec<_>>().join("\n")
}

/// Removes a trace's prompt from the end of a text. Its digits may differ, because a prompt may contain a line number.
fn without_prompt<'a>(text: &'a str, prompt: &str) -> Option<&'a str> {
    let bare = |text: &str| text.trim_end_matches(|char: char| char.is_ascii_digit()).len();
    let mut pieces =
        prompt.split(|char: char| char.is_ascii_digit()).filter(|piece| !piece.is_empty()).rev();
    let mut rest = text.strip_suffix(pieces.next()?)?;
    for piece in pieces {
        rest = rest[..bare(rest)].strip_suffix(piece)?;
    }
    Some(rest)
}

/// The trace of `eval command` at the start of an output.
struct EvalTrace<'a> {
    prompt: &'a str,
    /// The offset at which the trace begins.
    start: usize,
    /// The offset at which the trace ends.
    end: usize,
}

/// The trace of `eval command`. A DEBUG trap may have been traced before it.
fn eval_trace<'a>(output: &'a str, command: &str) -> Option<EvalTrace<'a>> {
    let mut before = 0;
    for _ in 0..=MOST_OF_TRAP {
        let rest = &output[before..];
        if let Some(trace) = first_eval_trace(rest, command) {
            // bash repeats the first character of a trace's prompt in nested traces.
            let first = trace.prompt.chars().next();
            let is_of_trap = output[..before].lines().all(|line| line.chars().next() == first);
            let (start, end) = (before, before + trace.end);
            return is_of_trap.then_some(EvalTrace { start, end, ..trace });
        }
        before += rest.find('\n')? + 1;
    }
    None
}

fn first_eval_trace<'a>(output: &'a str, command: &str) -> Option<EvalTrace<'a>> {
    let printed = printf_trace(output, command).unwrap_or_default();
    let (output, before) = (&output[printed..], printed);
    let first = output.split('\n').next()?;
    let at = first.find("eval ").filter(|at| (1..LONGEST_PROMPT).contains(at))?;
    // Each shell quotes in its own way: bash and dash print line ends unchanged, zsh prints them as `\n`.
    let quoted = command.replace('\n', "n").replace('\t', "t");
    let lines = command.split('\n').count();
    [(lines, command), (1, &quoted)].into_iter().find_map(|(lines, command)| {
        let length = output.split('\n').take(lines).map(|line| line.len() + 1).sum::<usize>() - 1;
        let traced = output[at..length].strip_prefix("eval ")?;
        let prompt = output[..at].trim_end_matches("command ");
        let trace = EvalTrace { prompt, start: 0, end: before + length };
        (letters(traced) == letters(command)).then_some(trace)
    })
}

fn letters(text: &str) -> String {
    text.chars().filter(|char| char.is_alphanumeric()).collect()
}

/// The length of the trace of `printf %b` at the start of an output, including the line end. In a POSIX shell, Unterm's
/// line uses `printf %b` to pass a command of several lines to `eval`.
fn printf_trace(output: &str, command: &str) -> Option<usize> {
    let (first, _) = output.split_once('\n')?;
    let at = first.find("printf %b ").filter(|at| (1..LONGEST_PROMPT).contains(at))?;
    let printed = &first[at + "printf %b ".len()..];
    (letters(printed) == letters(&printf_text(command))).then_some(first.len() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(output: &str, command: &str) -> String {
        let marks = Marks::new().unwrap();
        without_traces(output.replace("DONE ID", &marks.echo()), command, &marks)
    }

    #[test]
    fn the_line_around_a_command_is_not_traced() {
        let two = "echo it's\nfalse \\ \"é\"";
        for (output, command, expected) in [
            // bash
            ("+ eval 'echo it'\\''s\nfalse \\ \"é\"'\n++ echo its\nits", two, "++ echo its\nits"),
            // zsh
            (
                "+zsh:2> eval $'echo it\\'s\\nfalse \\\\ \"é\"'\n+(eval):1> x\nits",
                two,
                "+(eval):1> x\nits",
            ),
            // dash
            ("+ command eval echo it's\nfalse \\ \"é\"\nits", two, "its"),
            (
                "+ printf %b echo it's\\nfalse \\\\ \"é\"\n+ command eval echo it's\nfalse \\ \"é\"\nits",
                two,
                "its",
            ),
            ("+ printf %b a\na", "printf %b a\n", "+ printf %b a\na"),
            ("+ eval 'set -x'\n+ printf '__UNTERM_%s_%s__ %d\\n' DONE ID 0", "set -x", ""),
            ("a\n+ printf '__UNTERM_%s_%s__ %d\\n' DONE ID 0", "echo a", "a"),
            // The output does not end with a line end.
            (
                "+ command eval printf 'a\\nb'\n+ printf a\\nb\na\nb+ printf __UNTERM_%s DONE ID 0",
                "printf 'a\\nb'",
                "+ printf a\\nb\na\nb",
            ),
            ("+zsh:2> eval 'printf a'\na+zsh:12> printf '__UNTERM_%s' DONE ID 0", "printf a", "a"),
            ("t 1: eval 'true'\nt 1: printf '__UNTERM_%s' DONE ID 0", "true", ""),
            // A DEBUG trap
            (
                "++ case ${_unterm_on+$BASH_COMMAND} in\n++ ready=\n+ eval 'echo a\necho b'\n\
                 +++ case ${_unterm_on+$BASH_COMMAND} in\n++ echo a\na",
                "echo a\necho b",
                "++ ready=\n++ echo a\na",
            ),
            ("b++ case ${_unterm_on+$BASH_COMMAND} in\n++ true", "printf b", "b\n++ true"),
            ("+zsh:5> true\n+zsh:5> eval $'a\\nb'\nx", "a\nb", "+zsh:5> true\nx"),
            (
                "+zsh:5> true\n+zsh:5> eval 'printf b'\n+(eval):1> printf b\nb+zsh:5> true\n+zsh:5> f\n\
                 +zsh:5> printf '__UNTERM_%s' DONE ID 0",
                "printf b",
                "+zsh:5> true\n+(eval):1> printf b\nb",
            ),
        ] {
            assert_eq!(shown(output, command), expected, "{output}");
        }
    }

    #[test]
    fn output_like_a_trace_of_another_command_stays() {
        for (output, command) in [
            ("eval 'echo a'\na", "echo a"),
            ("+ eval 'echo b'\nb", "echo a"),
            ("a\n+ eval 'echo a'", "echo a"),
            ("", ""),
            ("printf", "printf printf"),
            ("+ echo a\na", "echo a"),
            ("+ eval 'a", "a\nb\nc"),
        ] {
            assert_eq!(shown(output, command), output);
        }
    }
}
