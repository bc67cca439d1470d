//! Hints for a wrong command line of `unterm`: the option for a program, and the commands of `unterm-cli`.

use crate::cli;

/// Suggests the right command line for a program that was given without `-e`, as in `unterm htop`, or for a command of
/// `unterm-cli`, as in `unterm session list`. `words` are the words of the command line.
pub fn program_hint(error: &clap::Error, words: &[String]) -> Option<String> {
    let is_unknown = error.kind() == clap::error::ErrorKind::UnknownArgument;
    let wrong = error.get(clap::error::ContextKind::InvalidArg).filter(|_| is_unknown)?;
    let word = wrong.to_string();
    if word.starts_with('-') {
        return None;
    }
    let command = cli::command_like(&word);
    let is_program = is_program(&word);
    let rest = words.iter().skip_while(|other| **other != word).skip(1);
    let rest: String = rest.map(|word| format!(" {word}")).collect();
    let program = format!("\"-e {word}\"");
    let meant = match command {
        // Some commands have the name of a program, such as `ssh`.
        Some(command) if command == word && is_program => {
            format!("\"unterm-cli {command}{rest}\", or {program}")
        }
        Some(command) if command == word || !is_program => {
            format!("\"unterm-cli {command}{rest}\"")
        }
        _ => program,
    };
    Some(format!("unterm takes no argument {word:?}; did you mean {meant}?"))
}

/// Whether a word is the name of a program in `PATH`, or the path of a file.
fn is_program(word: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    word.contains('/') || std::env::split_paths(&folders).any(|folder| folder.join(word).is_file())
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::args::Args;

    #[test]
    fn a_program_without_its_option_gets_a_hint_at_the_option() {
        let hint = |line: &str| {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            let error = Args::try_parse_from(&words).unwrap_err();
            program_hint(&error, &words)
        };
        let told = hint("unterm htop").unwrap();
        assert!(told.ends_with("did you mean \"-e htop\"?"), "{told}");
        for (line, meant) in [
            ("unterm session list", "\"unterm-cli session list\"?"),
            ("unterm --headless config check", "\"unterm-cli config check\"?"),
            ("unterm sesion list --json", "\"unterm-cli session list --json\"?"),
            ("unterm themes", "\"unterm-cli theme\"?"),
        ] {
            let told = hint(line).unwrap();
            assert!(told.ends_with(&format!("did you mean {meant}")), "{told}");
        }
        assert!(hint("unterm --maximized vim notes").unwrap().contains("-e vim"));
        assert_eq!(hint("unterm --no-such-option"), None);
        assert_eq!(hint("unterm --font-size 500"), None);
    }
}
