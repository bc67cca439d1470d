//! Completes a command line. The completion scripts call this program at each press of Tab. So the scripts are small,
//! and a shell starts fast.
//!
//! Reads the definitions of the commands. For some arguments, also reads the names that exist now, such as the names
//! of themes.

use std::path::Path;

use crate::{action::ACTIONS, config::theme};
use clap::{Arg, Command};
use unterm_control::{client, languages};

use crate::cli::{
    generated::{METHOD, Shell, with_methods},
    manual,
};

/// A word that can complete the line, and its meaning.
#[derive(Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The completed word.
    pub word: String,
    /// A short description; may be empty.
    pub about: String,
}

/// Returns the candidates for the last of `words`, which are the words after the program's name. If the list is empty,
/// the shell may complete file names, or any text is possible.
pub fn candidates(root: Command, words: &[String], home: &Path) -> Vec<Candidate> {
    let Some((last, before)) = words.split_last() else { return Vec::new() };
    let mut root = if before.iter().any(|word| word == METHOD) { with_methods(root) } else { root };
    root.build();
    let mut line = Line { command: &root, positionals: 0, is_open: true, value_of: None };
    before.iter().for_each(|word| line.read(word));
    // bash splits `--option=value` into three words: the option, `=` and the value.
    let last = if last == "=" { "" } else { last };
    let mut found = line.candidates(last, home);
    found.retain(|candidate| candidate.word.starts_with(last));
    found
}

/// The state after reading all words before the word to complete.
struct Line<'a> {
    /// The innermost subcommand that was read so far.
    command: &'a Command,
    /// The number of positional arguments that were read for `command`.
    positionals: usize,
    /// Whether an option may follow. False after `--`.
    is_open: bool,
    /// The option whose value comes next, if any.
    value_of: Option<&'a Arg>,
}

impl<'a> Line<'a> {
    fn read(&mut self, word: &str) {
        if word == "=" && self.value_of.is_some() {
            return;
        }
        if self.value_of.take().is_some() {
            return;
        }
        if word == "--" {
            self.is_open = false;
        } else if self.is_open && word.starts_with('-') && word.len() > 1 {
            let option = self.option(word);
            self.value_of = option.filter(|arg| takes_value(arg) && !word.contains('='));
        } else if let Some(command) =
            self.command.find_subcommand(word).filter(|_| self.is_open && self.positionals == 0)
        {
            self.command = command;
        } else {
            self.positionals += 1;
        }
    }

    /// Finds the option in a word such as `--option` or `--option=value`.
    fn option(&self, word: &str) -> Option<&'a Arg> {
        let name = word.split('=').next().unwrap_or(word);
        let mut options = self.command.get_arguments();
        options.find(|arg| match name.strip_prefix("--") {
            Some(long) => arg.get_long() == Some(long),
            None => arg.get_short().is_some_and(|short| name[1..].ends_with(short)),
        })
    }

    fn candidates(&self, last: &str, home: &Path) -> Vec<Candidate> {
        if let Some(option) = self.value_of {
            return self.values(option, home);
        }
        if self.is_open && last.starts_with('-') {
            if let Some((name, _)) = last.split_once('=') {
                let Some(option) = self.option(name) else { return Vec::new() };
                let mut values = self.values(option, home);
                values.iter_mut().for_each(|value| value.word.insert_str(0, &format!("{name}=")));
                return values;
            }
            let options = self.command.get_arguments().filter(|arg| !arg.is_hide_set());
            let option = |arg: &Arg| Some(candidate(format!("--{}", arg.get_long()?), help(arg)));
            return options.filter_map(option).collect();
        }
        let mut found = Vec::new();
        if self.positionals == 0 && self.is_open {
            let commands = self.command.get_subcommands().filter(|command| !command.is_hide_set());
            found.extend(commands.map(|command| {
                let about = command.get_about().map(ToString::to_string).unwrap_or_default();
                candidate(command.get_name().to_owned(), about)
            }));
        }
        let positionals: Vec<_> = self.command.get_positionals().collect();
        // The command's last positional argument may accept several words.
        if let Some(arg) = positionals.get(self.positionals) {
            found.extend(self.values(arg, home));
        }
        found
    }

    /// The known values of an argument.
    fn values(&self, arg: &Arg, home: &Path) -> Vec<Candidate> {
        let plain = |word: &str| candidate(word.to_owned(), String::new());
        match (self.command.get_name(), arg.get_id().as_str()) {
            (_, "instance") => client::running(home).iter().map(|id| plain(id)).collect(),
            (_, "lang") | ("set", "code") => languages::all()
                .map(|(code, name)| candidate(code.to_owned(), name.to_owned()))
                .collect(),
            ("help", "topic") => {
                let page = |(topic, title): (&str, &str)| candidate(topic.into(), title.into());
                manual::topics().map(page).collect()
            }
            ("set", "name") => theme::ids(home).iter().map(|name| plain(name)).collect(),
            ("action", "name") => ACTIONS
                .iter()
                .map(|entry| candidate(entry.name.to_owned(), entry.title.to_owned()))
                .chain([candidate("list".to_owned(), "List all actions".to_owned())])
                .collect(),
            _ => arg
                .get_possible_values()
                .iter()
                .filter(|value| !value.is_hide_set())
                .map(|value| {
                    let about = value.get_help().map(ToString::to_string).unwrap_or_default();
                    candidate(value.get_name().to_owned(), about)
                })
                .collect(),
        }
    }
}

fn candidate(word: String, about: String) -> Candidate {
    // The list of candidates shows a single line, so use only the first sentence.
    let about = about.lines().next().unwrap_or_default();
    let about = about.split_once(". ").map_or(about, |(first, _)| first).trim_end_matches('.');
    Candidate { word, about: about.to_owned() }
}

fn help(arg: &Arg) -> String {
    arg.get_help().map(ToString::to_string).unwrap_or_default()
}

fn takes_value(arg: &Arg) -> bool {
    arg.get_action().takes_values() && !arg.is_require_equals_set()
}

/// Writes the candidates in the format that the completion script of the shell reads, one per line.
pub fn lines(shell: Shell, candidates: &[Candidate]) -> String {
    let line = |Candidate { word, about }: &Candidate| match shell {
        Shell::Bash => format!("{word}\n"),
        Shell::Zsh if about.is_empty() => format!("{}\n", word.replace(':', "\\:")),
        Shell::Zsh => format!("{}:{about}\n", word.replace(':', "\\:")),
        Shell::Fish | Shell::Nushell | Shell::Pwsh => format!("{word}\t{about}\n"),
    };
    candidates.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::args::Args;

    fn words(line: &str) -> Vec<String> {
        let line: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let nowhere = Path::new("/nonexistent");
        candidates(Args::command(), &line, nowhere).into_iter().map(|one| one.word).collect()
    }

    #[test]
    fn commands_options_and_values_follow_each_other() {
        assert_eq!(words("scr"), ["screen", "screenshot"]);
        assert_eq!(words("session re"), ["resize", "record"]);
        assert_eq!(words("--json session record sta"), ["start", "status"]);
        assert_eq!(words("run --ti"), ["--timeout"]);
        assert_eq!(words("session status --js"), ["--json"]);
        assert_eq!(words("shell-completion --shell f"), ["fish"]);
        assert_eq!(words("shell-completion --shell=f"), ["--shell=fish"]);
        assert_eq!(words("shell-completion --shell = f"), ["fish"]);
        assert_eq!(words("--lang de lang cur"), ["current"]);
        assert_eq!(words("theme set nord-"), ["nord-light"]);
        assert_eq!(words("lang set de"), ["de-DE"]);
        assert_eq!(words("action new_w"), ["new_window"]);
        assert_eq!(words("help scr"), ["scripting"]);
        assert_eq!(words("mcp config cl"), ["claude"]);
        assert_eq!(words("method exec.run_"), ["exec.run_wait"]);
        assert_eq!(words("method exec.run_wait --timeout"), ["--timeout-ms"]);
    }

    #[test]
    fn nothing_is_offered_where_any_text_can_stand() {
        for line in ["run --", "run -- --ti", "theme import x", "send hello", "no such -"] {
            let found = words(line);
            assert!(
                found.iter().all(|word| word.starts_with("--") && line.ends_with("-")),
                "{line}: {found:?}"
            );
        }
        assert!(!words("").contains(&"complete".to_owned()), "hidden commands stay hidden");
    }

    #[test]
    fn each_shell_reads_a_candidate_as_a_line() {
        let all = [candidate("a:b".to_owned(), "Does. More.".to_owned())];
        assert_eq!(lines(Shell::Bash, &all), "a:b\n");
        assert_eq!(lines(Shell::Zsh, &all), "a\\:b:Does\n");
        assert_eq!(lines(Shell::Fish, &all), "a:b\tDoes\n");
    }
}
