//! Converts lines that [`Shell::wrap`] and [`Shell::line`] created back to the original commands, for readers of a
//! session. Converts only the exact forms that these two functions produce. All other text stays unchanged.

use std::{borrow::Cow, collections::VecDeque};

use parking_lot::Mutex;
use unterm_term::CommandAlias;

use super::{Marks, Shell, any_shell, quoting::escaped};

/// The text before the id in a typed begin mark.
const BEGIN: &str = "UntermRun=";
/// The length of an id in a mark.
const DIGITS: usize = 32;
/// The texts before and after the id in an end mark.
const END: (&str, &str) = ("__UNTERM_DONE_", "__");
/// One shell for each form in which a command is typed.
const SHELLS: [Shell; 6] =
    [Shell::Bash, Shell::Fish, Shell::Posix, Shell::Unknown, Shell::Nushell, Shell::PowerShell];
/// A placeholder for a command.
const COMMAND: &str = "COMMAND";

/// The maximum number of remembered runs. A further run replaces the oldest.
const MOST_RUNS: usize = 4096;

/// The runs that were typed recently in any pane, identified by the ids of their marks. The ids can't be guessed.
#[derive(Default)]
pub struct TypedRuns(Mutex<VecDeque<String>>);

impl TypedRuns {
    /// Records a run.
    pub fn add(&self, marks: &Marks) {
        let mut ids = self.0.lock();
        if ids.len() == MOST_RUNS {
            ids.pop_front();
        }
        ids.push_back(marks.id.clone());
    }

    fn has(&self, id: &str) -> bool {
        self.0.lock().iter().any(|known| known == id)
    }
}

/// The runs whose marks are removed from a text. Other text that looks like a mark is output of a program, and stays.
#[derive(Clone, Copy)]
pub enum Runs<'a> {
    /// The runs of this instance.
    Typed(&'a TypedRuns),
    /// The runs whose typed lines are in the text itself. Recordings use this, because they have no other record of
    /// their runs.
    Shown,
}

/// Replaces typed lines in a screen text by the original commands, and removes the end marks of `runs`. Wrapped rows of
/// the text must be joined. `typed`: lines that callers certainly typed. Returns `Borrowed` if nothing changes.
pub fn as_given<'a>(text: &'a str, typed: &[CommandAlias], runs: Runs<'_>) -> Cow<'a, str> {
    let is_known = typed.iter().any(|given| text.contains(&given.typed));
    if !is_known && !text.contains(BEGIN) && !text.contains(END.0) {
        return Cow::Borrowed(text);
    }
    let mut lines = Vec::new();
    let mut shown: Vec<&str> = Vec::new();
    for line in text.split('\n') {
        shown.extend(typed_id(line));
        let mut line = unwrapped(line).unwrap_or_else(|| line.to_owned());
        if let Some(given) = typed.iter().find(|given| line.contains(&given.typed)) {
            line = line.replacen(&given.typed, &given.command, 1);
        }
        let is_of_run = |id: &str| match runs {
            Runs::Typed(runs) => runs.has(id),
            Runs::Shown => shown.contains(&id),
        };
        let mark = end_mark(&line).filter(|(_, id)| is_of_run(id)).map(|(at, _)| at);
        match mark {
            Some(0) => continue,
            Some(at) => line.truncate(at),
            None => {}
        }
        lines.push(line);
    }
    let given = lines.join("\n");
    if given == text { Cow::Borrowed(text) } else { Cow::Owned(given) }
}

impl Shell {
    /// The original command of a line that [`Shell::line`] made with `eval`.
    pub fn given(self, line: &str) -> Option<String> {
        let line = line.trim();
        let command = unquoted(self, line.strip_prefix("eval ")?)?;
        let is_own = |is_ascii| self.line(&command, is_ascii).is_some_and(|own| own.trim() == line);
        (is_own(false) || is_own(true)).then_some(command)
    }
}

/// The id of the marks in a typed line.
fn typed_id(line: &str) -> Option<&str> {
    let behind = &line[line.find(BEGIN)? + BEGIN.len()..];
    let is_id = |part: &&str| part.len() == DIGITS;
    behind.split(|char: char| !char.is_ascii_hexdigit()).find(is_id)
}

/// A line in which the form that [`Shell::wrap`] produces is replaced by the original command.
fn unwrapped(line: &str) -> Option<String> {
    let id = typed_id(line)?;
    SHELLS.into_iter().find_map(|shell| {
        if shell == Shell::Unknown {
            let (before, command, after) = any_shell::unwrapped(line, id)?;
            return Some(before.to_owned() + &command + after);
        }
        let whole = shell.wrap(COMMAND, &Marks { id: id.to_owned() }, false);
        let quoted = format!("'{COMMAND}'");
        let (before, after) = whole.split_once(&quoted).or_else(|| whole.split_once(COMMAND))?;
        let start = line.find(before)?;
        let (command, rest) = line[start + before.len()..].split_once(after)?;
        Some(line[..start].to_owned() + &unquoted(shell, command)? + rest)
    })
}

/// The position and the id of an end mark.
fn end_mark(line: &str) -> Option<(usize, &str)> {
    let at = line.rfind(END.0)?;
    let (digits, rest) = line[at + END.0.len()..].split_at_checked(DIGITS)?;
    let is_mark = digits.bytes().all(|byte| byte.is_ascii_hexdigit()) && rest.starts_with(END.1);
    is_mark.then_some((at, digits))
}

/// Undoes the quoting of a text for a shell.
fn unquoted(shell: Shell, text: &str) -> Option<String> {
    match shell {
        Shell::Bash | Shell::Zsh => match text.strip_prefix("$'") {
            Some(rest) => escaped(rest.strip_suffix('\'')?, 3),
            None => plain(text),
        },
        Shell::Posix => match text.strip_prefix("\"$(printf %b ") {
            Some(rest) => escaped(&plain(rest.strip_suffix(")\"")?)?, 4),
            None => plain(text),
        },
        Shell::Fish => fish(text),
        Shell::Unknown => any_shell::given(text),
        Shell::Nushell | Shell::PowerShell | Shell::Cmd => Some(text.to_owned()),
    }
}

/// Parses a text in single quotes, in which `'\''` stands for a quote.
fn plain(text: &str) -> Option<String> {
    let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
    let parts: Vec<&str> = inner.split(r"'\''").collect();
    parts.iter().all(|part| !part.contains('\'')).then(|| parts.join("'"))
}

/// Parses fish quotes: `'…'` with `\\` and `\'` inside, and `\n` and `\x1b` between them.
fn fish(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    let mut is_quoted = false;
    while let Some(char) = rest.chars().next() {
        let length = match (char, is_quoted) {
            ('\'', _) => {
                is_quoted = !is_quoted;
                1
            }
            ('\\', true) => {
                let char = rest[1..].chars().next().filter(|char| matches!(char, '\\' | '\''))?;
                out.push(char);
                2
            }
            ('\\', false) if rest.starts_with(r"\n") => {
                out.push('\n');
                2
            }
            ('\\', false) => {
                let digits = rest.strip_prefix(r"\x")?.get(..2)?;
                out.push(char::from(u8::from_str_radix(digits, 16).ok()?));
                4
            }
            (char, true) => {
                out.push(char);
                char.len_utf8()
            }
            (_, false) => return None,
        };
        rest = &rest[length..];
    }
    (!is_quoted).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMANDS: [&str; 8] = [
        "echo a; echo b",
        "it's",
        "printf 'it'\\''s \"$HOME\" \\\\ %%'",
        "a\nb\tc!\\n",
        "\x1b[31m 'é ∀' \\'",
        "!5\x1b7; echo",
        "'",
        "echo \\x41 \\101 \\0101",
    ];

    #[test]
    fn typed_lines_convert_back_to_their_commands() {
        let marks = Marks::new().unwrap();
        for shell in [Shell::Zsh].into_iter().chain(SHELLS) {
            for command in COMMANDS {
                for line in [false, true].into_iter().filter_map(|is| shell.line(command, is)) {
                    let original = Some(command).filter(|command| line.trim() != *command);
                    assert_eq!(shell.given(&line).as_deref(), original, "{shell:?}: {line}");
                }
                // These shells receive the command unquoted, so a line end in it would end the typed line.
                if command.contains('\n') && matches!(shell, Shell::Nushell | Shell::PowerShell) {
                    continue;
                }
                let shown = format!(
                    "before\n$ {}\nout{} 0\n$ ",
                    shell.wrap(command, &marks, false),
                    marks.end()
                );
                let expected = format!("before\n$ {command}\nout\n$ ");
                assert_eq!(as_given(&shown, &[], Runs::Shown), expected, "{shell:?}");
            }
        }
    }

    #[test]
    fn lines_that_a_user_typed_are_not_converted() {
        for line in
            ["eval ls", "eval 'ls'", "eval \"a; b\"", "eval 'a; b' c", " ls", "eval 'a''b;'"]
        {
            assert_eq!(Shell::Bash.given(line), None, "{line}");
        }
        for text in ["UntermRun=", "echo __UNTERM_DONE_", "__UNTERM_DONE_0123__ 0", "é"] {
            assert_eq!(as_given(text, &[], Runs::Shown), text);
        }
    }

    #[test]
    fn lines_that_are_known_show_as_given_and_marks_alone_go() {
        let marks = Marks::new().unwrap();
        let runs = TypedRuns::default();
        runs.add(&marks);
        let typed = [CommandAlias { typed: " eval 'a; b'".to_owned(), command: "a; b".to_owned() }];
        let text = format!("$  eval 'a; b'\nout\n{} 0\n$ ", marks.end());
        assert_eq!(as_given(&text, &typed, Runs::Typed(&runs)), "$ a; b\nout\n$ ");
        assert!(matches!(as_given("$ ls", &typed, Runs::Typed(&runs)), Cow::Borrowed(_)));
    }

    #[test]
    fn text_like_a_mark_of_an_unknown_run_is_output() {
        let (own, other) = (Marks::new().unwrap(), Marks::new().unwrap());
        let runs = TypedRuns::default();
        runs.add(&own);
        let printed = format!("kept {} 0", other.end());
        for runs in [Runs::Typed(&runs), Runs::Shown] {
            assert!(matches!(as_given(&printed, &[], runs), Cow::Borrowed(_)));
        }
        let typed = Shell::Bash.wrap("ls", &own, false);
        let text = format!("$ {typed}\n{printed}\nout{} 0", own.end());
        for runs in [Runs::Typed(&runs), Runs::Shown] {
            assert_eq!(as_given(&text, &[], runs), format!("$ ls\n{printed}\nout"));
        }
    }

    #[test]
    fn only_so_many_runs_are_remembered() {
        let runs = TypedRuns::default();
        let first = Marks::new().unwrap();
        runs.add(&first);
        for _ in 0..MOST_RUNS {
            runs.add(&Marks::new().unwrap());
        }
        assert!(!runs.has(&first.id));
        assert_eq!(runs.0.lock().len(), MOST_RUNS);
    }
}
