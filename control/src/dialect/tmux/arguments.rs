//! The flags and arguments of commands, and the flags of the program `tmux` itself.

use super::language::{Words, of_arguments};

/// The flags and arguments that a command accepts.
pub struct Syntax {
    /// The name.
    pub name: &'static str,
    /// The short name. Empty if there is none.
    pub alias: &'static str,
    /// The flags, as for getopt(3).
    pub flags: &'static str,
    /// The minimum number of arguments.
    pub least: usize,
    /// The maximum number of arguments. `None`: any number.
    pub most: Option<usize>,
    /// The flags and arguments, for users.
    pub usage: &'static str,
}

/// The flags and arguments of one command.
#[derive(Clone)]
pub struct Arguments {
    /// The command.
    pub syntax: &'static Syntax,
    flags: Vec<(char, Option<String>)>,
    /// The arguments after the flags.
    pub words: Vec<String>,
}

impl std::fmt::Debug for Arguments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {:?} {:?}", self.syntax.name, self.flags, self.words)
    }
}

/// A flag and its value, if it has one.
type Flag = (char, Option<String>);

/// Parses flags as getopt(3): the letters of `known`, each followed by `:` if it has a value. Returns the flags and the
/// index of the first argument.
///
/// # Errors
/// A flag is unknown or lacks its value. The error is the text after the command's name in tmux's message.
fn flags(known: &str, words: &[String]) -> Result<(Vec<Flag>, usize), String> {
    let mut flags = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if word == "--" {
            at += 1;
            break;
        }
        let Some(letters) = word.strip_prefix('-').filter(|rest| !rest.is_empty()) else { break };
        at += 1;
        let mut rest = letters.chars();
        while let Some(letter) = rest.next() {
            let found = known.find(letter).filter(|_| letter.is_ascii_alphanumeric());
            let Some(found) = found else { return Err(format!("unknown flag -{letter}")) };
            if !known[found + 1..].starts_with(':') {
                flags.push((letter, None));
                continue;
            }
            let value = match rest.as_str() {
                "" => {
                    let value = words.get(at).cloned();
                    at += 1;
                    value.ok_or_else(|| format!("-{letter} expects an argument"))?
                }
                value => value.to_owned(),
            };
            flags.push((letter, Some(value)));
            break;
        }
    }
    Ok((flags, at.min(words.len())))
}

impl Arguments {
    /// Parses the words after a command's name.
    ///
    /// # Errors
    /// A flag or the number of arguments is wrong. The error is tmux's message.
    pub fn parse(syntax: &'static Syntax, words: &[String]) -> Result<Self, String> {
        let failed = |why: String| format!("command {}: {why}", syntax.name);
        let (flags, start) = flags(syntax.flags, words).map_err(failed)?;
        let words = words[start..].to_vec();
        if words.len() < syntax.least {
            return Err(failed(format!("too few arguments (need at least {})", syntax.least)));
        }
        if let Some(most) = syntax.most.filter(|most| words.len() > *most) {
            return Err(failed(format!("too many arguments (need at most {most})")));
        }
        Ok(Self { syntax, flags, words })
    }

    /// Whether a flag is given.
    pub fn has(&self, flag: char) -> bool {
        self.flags.iter().any(|(known, _)| *known == flag)
    }

    /// How often a flag is given.
    pub fn count(&self, flag: char) -> usize {
        self.flags.iter().filter(|(known, _)| *known == flag).count()
    }

    /// The last value of a flag.
    pub fn value(&self, flag: char) -> Option<&str> {
        self.values(flag).last()
    }

    /// The values of a flag that can be repeated.
    pub fn values(&self, flag: char) -> impl Iterator<Item = &str> {
        self.flags.iter().filter(move |(known, _)| *known == flag).filter_map(|(_, v)| v.as_deref())
    }

    /// The argument with this index.
    pub fn word(&self, index: usize) -> Option<&str> {
        self.words.get(index).map(String::as_str)
    }
}

/// The usage of the program, as tmux prints it.
pub const USAGE: &str = "usage: tmux [-2CDlNuVv] [-c shell-command] [-f file] [-L socket-name]\n            [-S socket-path] [-T features] [command [flags]]\n";

/// Whether arguments of the program only request the version.
pub fn asks_version(args: &[String]) -> bool {
    Invocation::parse(args).is_ok_and(|invocation| invocation.shows_version)
}

/// The control mode that arguments of the program request. Off if the arguments are wrong.
pub fn control(args: &[String]) -> Control {
    Invocation::parse(args).map(|invocation| invocation.control).unwrap_or_default()
}

/// Whether a client is in control mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Control {
    /// The client is not in control mode.
    #[default]
    Off,
    /// `-C`: the client sends and receives lines.
    Lines,
    /// `-CC`: the client is a terminal, which recognizes the lines between two escape sequences.
    Terminal,
}

/// A call of the program `tmux`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Invocation {
    /// `-V`.
    pub shows_version: bool,
    /// The control mode that `-C` or `-CC` requests.
    pub control: Control,
    /// `-L`: the name of the server.
    pub server: Option<String>,
    /// `-S`: the path of the server's socket.
    pub socket: Option<String>,
    /// `-c`: a command for the shell.
    pub shell_command: Option<String>,
    /// `-f`: configuration files.
    pub files: Vec<String>,
    /// The command and its arguments.
    pub command: Vec<String>,
}

impl Invocation {
    /// Parses the arguments of the program.
    ///
    /// # Errors
    /// A flag is wrong. The error is the text that tmux prints.
    pub fn parse(words: &[String]) -> Result<Self, String> {
        let known = "2c:CDdf:hlL:NqS:T:uUvV";
        let (flags, start) = flags(known, words).map_err(|_| USAGE.to_owned())?;
        let mut invocation = Self { command: words[start..].to_vec(), ..Self::default() };
        for (flag, value) in flags {
            match flag {
                'V' => invocation.shows_version = true,
                'C' => {
                    invocation.control = match invocation.control {
                        Control::Off => Control::Lines,
                        Control::Lines | Control::Terminal => Control::Terminal,
                    }
                }
                'L' => invocation.server = value,
                'S' => invocation.socket = value,
                'c' => invocation.shell_command = value,
                'f' => invocation.files.extend(value),
                'h' => return Err(USAGE.to_owned()),
                // Ignored, because the client's terminal and the server's process have no meaning here.
                _ => {}
            }
        }
        Ok(invocation)
    }

    /// The commands. Without commands, tmux opens a session.
    pub fn commands(&self) -> Vec<Words> {
        let commands = of_arguments(&self.command);
        match commands.is_empty() {
            true => vec![vec!["new-session".to_owned()]],
            false => commands,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tmux::{run::find, table::COMMANDS};

    fn parse(line: &str) -> Result<Arguments, String> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let command = find(COMMANDS, &words[0])?;
        Arguments::parse(&command.syntax, &words[1..])
    }

    #[test]
    fn flags_stand_alone_together_or_with_a_value() {
        let split = parse("split-window -dh -l 70% -t%0 -P -F #{pane_id} -- cat -n").unwrap();
        assert!(split.has('d') && split.has('h') && split.has('P') && !split.has('v'));
        assert_eq!((split.value('l'), split.value('t')), (Some("70%"), Some("%0")));
        assert_eq!(split.words, ["cat", "-n"]);
        let split = parse("splitw -e A=1 -e B=2 sh -c x").unwrap();
        assert_eq!(split.values('e').collect::<Vec<_>>(), ["A=1", "B=2"]);
        assert_eq!(split.words, ["sh", "-c", "x"]);
    }

    #[test]
    fn errors_are_those_of_tmux() {
        for (line, expected) in [
            ("list-panes -z", "command list-panes: unknown flag -z"),
            ("list-panes extra", "command list-panes: too many arguments (need at most 0)"),
            ("list-panes -t", "command list-panes: -t expects an argument"),
            ("rename-window", "command rename-window: too few arguments (need at least 1)"),
            ("nope", "unknown command: nope"),
        ] {
            assert_eq!(parse(line).unwrap_err(), expected, "{line}");
        }
        let error = parse("list-").unwrap_err();
        assert!(error.starts_with("ambiguous command: list-, could be: list-"), "{error}");
        assert_eq!(parse("list-p").unwrap().syntax.name, "list-panes");
    }

    #[test]
    fn the_program_has_flags_of_its_own() {
        let parse =
            |line: &str| Invocation::parse(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        let invocation = parse("-L claude-swarm-7 -2u new-session -d -s x").unwrap();
        assert_eq!(invocation.server.as_deref(), Some("claude-swarm-7"));
        assert_eq!(invocation.command, ["new-session", "-d", "-s", "x"]);
        assert_eq!(parse("-S /tmp/x/own ls").unwrap().socket.as_deref(), Some("/tmp/x/own"));
        assert!(parse("-V").unwrap().shows_version);
        assert_eq!(parse("-C attach").unwrap().control, Control::Lines);
        assert_eq!(parse("-CC attach").unwrap().control, Control::Terminal);
        assert_eq!(parse("-L x").unwrap().commands(), [["new-session"]]);
        assert_eq!(parse("-Z").unwrap_err(), USAGE);
    }
}
