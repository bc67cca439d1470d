//! Compares the result of a command in a pane with its result in a subprocess, and explains known differences.

use super::{
    CommandResult, GeneratedCommand, Shell,
    screen_model::{drawn, flowing},
};

/// The result of a comparison.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Output and exit code are the same.
    Same,
    /// Output and exit code are the same, except for the differences that these sentences explain.
    Explained(Vec<&'static str>),
    /// Output or exit code differ, without an explanation.
    Differs,
}

/// A known difference that a terminal or an interactive shell causes: a sentence about it, and a function that removes
/// it from both outputs.
struct Explanation {
    why: &'static str,
    take_out: fn(Shell, &str) -> String,
}

const EXPLANATIONS: &[Explanation] = &[
    Explanation {
        why: "An interactive shell reports the jobs that it starts and that end.",
        take_out: |_, text| without_jobs(text),
    },
    Explanation {
        why: "A background job writes whenever it likes: between the output of other commands, or at the prompt.",
        take_out: |_, text| without_jobs(&without_late(text)),
    },
    Explanation {
        why: "Error messages give the place of an error: a line of `-c`, of `eval`, or none at a prompt.",
        take_out: |shell, text| without_places(shell, text),
    },
    Explanation {
        why: "An interactive shell reports the signal that ended a command.",
        take_out: |_, text| without_lines(text, is_signal),
    },
    Explanation {
        why: "`run` returns text: styles, titles, links, bells and NUL have no place in it.",
        take_out: |_, text| flowing(text).unwrap_or_else(|| text.to_owned()),
    },
    Explanation {
        why: "Of output that moves the cursor, `run` returns what is left on the screen.",
        take_out: |_, text| if flowing(text).is_none() { drawn(text) } else { text.to_owned() },
    },
];
const SYNTAX: &str =
    "A syntax error has another exit code, and often other words, in `eval` than in `-c`.";
const ECHO: &str = "A terminal shows the question and what is typed as an answer.";
const KEPT: &str = "fish keeps the last exit code where a line only starts a job, or is no syntax that it can run.";

/// Compares the results of a command.
///
/// `last` is the exit code of the previous command in that pane.
pub fn compare(
    shell: Shell,
    given: &GeneratedCommand,
    expected: &CommandResult,
    found: &CommandResult,
    last: Option<i64>,
) -> Verdict {
    let is_equal = expected.exit_code == found.exit_code;
    let is_kept = shell == Shell::Fish
        && !is_equal
        && expected.exit_code == Some(0)
        && found.exit_code == last;
    let same_code = is_equal || is_kept;
    // `run` omits the last line end.
    let mut expected_text = unended(&expected.output).to_owned();
    let mut found_text = found.output.clone();
    if same_code && expected_text == found_text {
        return if is_kept { Verdict::Explained(vec![KEPT]) } else { Verdict::Same };
    }
    let mut reasons = if is_kept { vec![KEPT] } else { Vec::new() };
    for Explanation { why, take_out } in EXPLANATIONS {
        let (expected_now, found_now) =
            (take_out(shell, &expected_text), take_out(shell, &found_text));
        if (&expected_now, &found_now) != (&expected_text, &found_text) {
            reasons.push(*why);
            (expected_text, found_text) = (expected_now, found_now);
        }
        if same_code && is_alike(&expected_text, &found_text) {
            return Verdict::Explained(reasons);
        }
    }
    if same_code && is_answered(given, &expected_text, &found_text) {
        reasons.push(ECHO);
        return Verdict::Explained(reasons);
    }
    let is_syntax = |outcome: &CommandResult| {
        let says = |words: &&str| outcome.output.contains(words);
        (shell == Shell::Fish || outcome.exit_code.is_some_and(|code| code != 0))
            && SYNTAX_WORDS.iter().any(says)
    };
    if is_syntax(expected) && is_syntax(found) {
        return Verdict::Explained(vec![SYNTAX]);
    }
    Verdict::Differs
}

/// Words that occur in messages about syntax errors.
const SYNTAX_WORDS: &[&str] = &[
    "syntax error",
    "unexpected",
    "Unexpected",
    "parse error",
    "unmatched",
    "Missing end",
    "outside of",
    "not inside of",
    "Expected",
];

/// Whether the output of a reader contains the same lines as in a subprocess. It may contain only the prompt and the
/// answer in addition. A subprocess may also show the prompt, but without an answer. Blanks are ignored, because zsh
/// fits a menu to the terminal's width.
fn is_answered(given: &GeneratedCommand, expected: &str, found: &str) -> bool {
    let Some(question) = &given.question else { return false };
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = expected.replace(question.as_str(), "");
    let mut expected = expected.lines().map(words).filter(|line| !line.is_empty()).peekable();
    for line in found.lines().map(words) {
        if expected.next_if(|expected| line.ends_with(expected.as_str())).is_some() {
            continue;
        }
        let is_shown = line.contains(question.trim_end()) || line == given.typed.trim();
        if !line.is_empty() && !is_shown {
            return false;
        }
    }
    expected.peek().is_none()
}

/// Whether two texts are equal except for a line end. `run` omits the last line end, and removing a job report may
/// leave one.
fn is_alike(expected: &str, found: &str) -> bool {
    unended(expected) == unended(found) || expected == unended(found)
}

/// The text without its last line end.
fn unended(text: &str) -> &str {
    text.strip_suffix('\n').unwrap_or(text)
}

/// The text without the lines that `is_out` accepts, and without the empty line that fish prints before its own
/// messages.
fn without_lines(text: &str, is_out: fn(&str) -> bool) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for line in text.split_inclusive('\n') {
        if !is_out(line.trim_end()) {
            kept.push(line);
        } else if line.starts_with("fish: ") && kept.last() == Some(&"\n") {
            kept.pop();
        }
    }
    kept.concat()
}

/// The text without a shell's reports about jobs, even if a report follows an unterminated line.
fn without_jobs(text: &str) -> String {
    let text = without_lines(text, is_job);
    let lines = text.split_inclusive('\n').map(|line| {
        let is_end = |at: &usize| {
            let rest = &line[*at..];
            is_job(rest) && [" Done ", " Exit ", " done "].iter().any(|word| rest.contains(word))
        };
        match line.match_indices('[').map(|(at, _)| at).find(is_end) {
            Some(at) => &line[..at],
            None => line,
        }
    });
    lines.collect()
}

/// The text without `late-NUMBER.` and the line ends after it. The period separates the number from digits that may
/// follow directly.
fn without_late(text: &str) -> String {
    let mut parts = text.split("late-");
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|char: char| char.is_ascii_digit());
        kept += rest.strip_prefix('.').unwrap_or(rest).trim_start_matches('\n');
    }
    kept
}

/// Whether a line is a shell's report about a job, such as `[1] 4711`, `[1]+  Done  …` or `fish: Job 1, … has ended`.
fn is_job(line: &str) -> bool {
    if line.starts_with("fish: Job ") {
        return true;
    }
    let number = line.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    number.is_some_and(|(number, _)| number.parse::<u32>().is_ok())
}

fn is_signal(line: &str) -> bool {
    ["Terminated", "Killed", "terminated", "killed"].iter().any(|word| {
        line == *word
            || line.starts_with(&format!("zsh: {word} "))
            || line.contains(&format!(" {word}   "))
    }) || line.contains("was terminated by signal")
        || line.contains("terminated by signal")
}

/// The text without the location in error messages, such as `bash: line 3: …`, `zsh:3: …` or `(eval):cd:3: …`. Also
/// removes the line that fish prints after an error.
fn without_places(shell: Shell, text: &str) -> String {
    let lines = text.split_inclusive('\n').map(|line| match shell {
        Shell::Bash => {
            let Some(rest) = line.strip_prefix("bash: ") else { return line.to_owned() };
            let rest = rest.strip_prefix("-c: ").or(rest.strip_prefix("eval: ")).unwrap_or(rest);
            let rest = match rest.strip_prefix("line ").and_then(|rest| rest.split_once(": ")) {
                Some((number, rest)) if number.parse::<u32>().is_ok() => rest,
                _ => rest,
            };
            format!("bash: {rest}")
        }
        Shell::Zsh => {
            // zsh prints `zsh:cd:3: …` in a script, but `cd: …` at a prompt.
            let Some((place, rest)) = line.split_once(": ") else { return line.to_owned() };
            let mut parts = place.split(':');
            if !matches!(parts.next(), Some("zsh" | "(eval)")) {
                return line.to_owned();
            }
            let is_number = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
            match parts.find(|part| !is_number(part)) {
                Some(builtin) => format!("{builtin}: {rest}"),
                None => format!("zsh: {rest}"),
            }
        }
        Shell::Fish => line.to_owned(),
    });
    let text: String = lines.collect();
    match (shell, text.split_once("\nfish: \n").or_else(|| text.split_once("\nfish:\n"))) {
        (Shell::Fish, Some((before, _))) => before.to_owned(),
        _ => text,
    }
}
