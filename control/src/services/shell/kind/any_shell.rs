//! Lines for a shell whose kind is unknown: a program such as ssh forwards the terminal to it, or it will read a line
//! that is typed ahead.
//!
//! The shell that started ssh can differ from the shell at the other end, and a line that was typed before can start
//! another shell. So every line here has one meaning in bash, zsh, fish (3.4 or later) and POSIX shells. In these
//! shells:
//!
//! - A backslash inside single quotes stands for itself, unless a backslash or a quote follows it. So quotes and
//!   backslashes are written between double quotes: `'"'"'` and `'"\\"'`.
//! - `"$(printf %b '…')"` expands to text with control characters, and to bytes of characters that are not ASCII, which
//!   an editor in another locale would replace.
//! - `'\\'` is one character in fish and two in the other shells, which distinguishes fish without an error.

use super::{
    marks::Marks,
    plain_line::is_plain_line,
    quoting::{Quoted, escaped, is_plain, printf_text},
};

/// Lines longer than this, in bytes, are split, because the terminal at the other end may collect whole lines.
const LONGEST: usize = 3000;

/// The first words with which fish begins a construct, or checks the rest of the line while it parses.
const CHECKED: [&str; 21] = [
    "and", "begin", "break", "builtin", "case", "command", "continue", "else", "end", "exec",
    "for", "function", "if", "in", "not", "or", "return", "switch", "time", "until", "while",
];

/// Quotes text so that every shell reads it unchanged. `text` contains no control characters.
fn quoted(text: &str, is_split: bool) -> String {
    let mut quoted = Quoted::new("'", is_split);
    for char in text.chars() {
        match char {
            '\'' => quoted.push("'\"'\"'"),
            '\\' => quoted.push("'\"\\\\\"'"),
            char => quoted.push_char(char),
        }
    }
    quoted.end()
}

/// A word that expands to `command`. `is_ascii`: the word is ASCII.
fn argument(command: &str, is_ascii: bool) -> String {
    if is_plain(command) && (!is_ascii || command.is_ascii()) {
        return quoted(command, false);
    }
    let mut text = printf_text(command);
    if is_ascii {
        let byte = |byte: u8| match byte.is_ascii() {
            true => char::from(byte).to_string(),
            false => format!("\\0{byte:03o}"),
        };
        text = text.bytes().map(byte).collect();
    }
    format!("\"$(printf %b {})\"", quoted(&text, false))
}

/// The line that [`super::Shell::wrap`] documents.
pub(super) fn wrap(command: &str, marks: &Marks) -> String {
    let inner = inner(&argument(command, true), &marks.id);
    let line = around(&quoted(&inner, false), &marks.id);
    match line.len() > LONGEST {
        true => around(&quoted(&inner, true), &marks.id),
        false => line,
    }
}

/// The part of the line that contains the command, before it is quoted for the outer `eval`.
fn inner(argument: &str, id: &str) -> String {
    format!("eval {argument}; printf \"__UNTERM_%s_%s__ %d\\n\" DONE {id}")
}

/// The line around that part. The outer `eval` runs a text that contains the shell's own words for two things: the
/// prefix with which an error in the inner `eval` does not end the whole line, and the exit code. Each part is an
/// argument of its own, because fish 3.6 misreads quotes directly after `"$(…)"`.
fn around(inner: &str, id: &str) -> String {
    format!(
        " eval 'printf \"\\033]1337;UntermRun=%s\\007\" {id};' \
         \"$(test '\\\\' = \"\\\\\" || eval 'test -n \"${{ZSH_VERSION-}}\"' && printf builtin || printf command)\" \
         {inner} \"$(test '\\\\' = \"\\\\\" && printf '$status' || printf '$?')\""
    )
}

/// The command in a line that [`wrap`] created. Returns the text before the line, the command, and the text after it.
pub(super) fn unwrapped<'a>(line: &'a str, id: &str) -> Option<(&'a str, String, &'a str)> {
    const PLACE: &str = "PLACE";
    let around = around(PLACE, id);
    let (before, after) = around.split_once(PLACE)?;
    let (shown_before, rest) = line.split_once(before)?;
    let (inner, shown_after) = rest.split_once(after)?;
    let inner = unquoted(inner)?;
    let template = self::inner(PLACE, id);
    let (before, after) = template.split_once(PLACE)?;
    let argument = inner.strip_prefix(before)?.strip_suffix(after)?;
    Some((shown_before, given(argument)?, shown_after))
}

/// The command to which a word expands that [`argument`] created.
pub(super) fn given(argument: &str) -> Option<String> {
    match argument.strip_prefix("\"$(printf %b ") {
        Some(rest) => escaped(&unquoted(rest.strip_suffix(")\"")?)?, 4),
        None => unquoted(argument),
    }
}

/// Undoes [`quoted`].
fn unquoted(text: &str) -> Option<String> {
    let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
    let mut out = String::new();
    let mut rest = inner;
    while let Some((plain, behind)) = rest.split_once('\'') {
        out.push_str(plain);
        let (char, behind) = match behind.strip_prefix("\"'\"'") {
            Some(behind) => ('\'', behind),
            None => ('\\', behind.strip_prefix("\"\\\\\"'")?),
        };
        out.push(char);
        rest = behind;
    }
    Some(out + rest)
}

/// The line that [`super::Shell::line`] documents.
pub(super) fn line(command: &str, is_ascii: bool) -> String {
    match is_simple(command) {
        true => command.trim().to_owned(),
        false => format!("eval {}", argument(command, is_ascii)),
    }
}

/// Whether every shell certainly parses this as one complete line: words without quotes, variables or patterns.
fn is_simple(command: &str) -> bool {
    let is_safe = |char: char| char.is_ascii_alphanumeric() || "_-./:,@+ ".contains(char);
    let first = command.split(' ').find(|word| !word.is_empty());
    command.chars().all(is_safe)
        && first.is_some_and(|first| {
            first.starts_with(|char: char| char.is_ascii_alphabetic() || "/.".contains(char))
                && !CHECKED.contains(&first)
                && is_plain_line(command, false)
                && is_plain_line(command, true)
        })
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use proptest::prelude::*;

    use super::{
        super::{
            Shell,
            quoting::{quote_fish, quote_plain},
        },
        *,
    };

    /// The shells, each with its options.
    const SHELLS: [&[&str]; 6] = [
        &["bash"],
        &["bash", "--posix"],
        &["bash", "-u"],
        &["dash"],
        &["zsh", "-f"],
        &["fish", "--no-config"],
    ];

    /// The output and the exit code of a line, without the begin mark. `None` if the shell is not installed.
    fn ran(shell: &[&str], command: &str) -> Option<(String, String)> {
        let marks = Marks::new().unwrap();
        let typed = wrap(command, &marks).replace('\r', "\n");
        let output =
            Command::new(shell[0]).args(&shell[1..]).arg("-c").arg(&typed).output().ok()?;
        let shown = String::from_utf8(output.stdout).unwrap();
        let begin = String::from_utf8(marks.begin()).unwrap();
        let rest = shown.strip_prefix(&begin).unwrap_or_else(|| panic!("{shell:?}: {shown:?}"));
        let (printed, code) = rest.split_once(&marks.end()).unwrap();
        Some((printed.to_owned(), code.trim().to_owned()))
    }

    #[test]
    fn one_line_runs_in_every_shell() {
        for (command, printed, code) in [
            ("echo hi", "hi\n", "0"),
            ("false", "", "1"),
            ("sh -c 'exit 7'", "", "7"),
            ("echo a\necho b\n\n", "a\nb\n", "0"),
            ("printf '%s|' 'a\\nb' 'c\n\\d' \"it's\"", "a\\nb|c\n\\d|it's|", "0"),
            ("echo 'tab:\there!'", "tab:\there!\n", "0"),
            ("echo 'é ∀ 🦀' ; echo !", "é ∀ 🦀\n!\n", "0"),
            ("echo one # two", "one\n", "0"),
            ("true &", "", "0"),
        ] {
            for shell in SHELLS {
                if let Some(ran) = ran(shell, command) {
                    assert_eq!(
                        ran,
                        (printed.to_owned(), code.to_owned()),
                        "{shell:?}: {command:?}"
                    );
                }
            }
        }
        for command in ["echo )", "echo 'open", "if true"] {
            for shell in SHELLS {
                assert!(ran(shell, command).is_none_or(|ran| ran.1 != "0"), "{shell:?}: {command}");
            }
        }
    }

    #[test]
    fn a_long_line_is_split_and_still_whole() {
        let text = "0123456789'\\é".repeat(400);
        for shell in SHELLS {
            let quoted = match shell[0] {
                "fish" => quote_fish(&text, false),
                _ => quote_plain(&text, false),
            };
            let command = format!("printf %s {quoted}");
            let typed = wrap(&command, &Marks::new().unwrap());
            assert!(typed.split('\r').all(|line| line.len() < LONGEST), "{}", typed.len());
            if let Some((printed, _)) = ran(shell, &command) {
                assert_eq!(printed, text, "{shell:?}");
            }
        }
    }

    #[test]
    fn only_lines_that_every_shell_parses_stay_as_they_are() {
        for simple in ["ls -l", "  git log --oneline", "make -j4", "/bin/true", "./run a:b"] {
            assert_eq!(line(simple, false), simple.trim());
        }
        for other in ["builtin nope", "a=b", "echo $x", "echo 'a'", "a; b", "ls *", "", "-x", "if"]
        {
            assert!(line(other, false).starts_with("eval '"), "{other}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn any_text_arrives_unchanged(text in r#"['"\\$`!*?#~{}()\[\]<>|&; a-zé\t\n\x1b\x7f%-]{0,30}"#) {
            // Each shell gets the text in its own quotes, so a fault of this module can't hide itself.
            for shell in SHELLS {
                let own = match shell[0] {
                    "fish" => quote_fish(&text, false),
                    _ => quote_plain(&text, false),
                };
                if let Some((printed, code)) = ran(shell, &format!("printf %s {own}")) {
                    prop_assert_eq!(&printed, &text, "{:?}", shell);
                    prop_assert_eq!(code, "0");
                }
            }
        }

        #[test]
        fn the_command_is_read_back_from_its_line(text in r#"['"\\$a-cé\t\n]{0,20}"#) {
            let marks = Marks::new().unwrap();
            let typed = format!("$ {} after", wrap(&text, &marks));
            let (before, given, after) = unwrapped(&typed, &marks.id).unwrap();
            prop_assert_eq!((before, given.as_str(), after), ("$ ", text.as_str(), " after"));
            for is_ascii in [false, true] {
                let original = Some(&text).filter(|text| line(text, is_ascii) != text.trim());
                let line = Shell::Unknown.line(&text, is_ascii).unwrap();
                let given = Shell::Unknown.given(&line);
                prop_assert_eq!(given.as_ref(), original);
            }
        }
    }
}
