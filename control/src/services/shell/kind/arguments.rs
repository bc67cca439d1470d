//! The arguments of shells: whether a shell runs a script or one command instead of reading commands from its terminal.

use super::Shell;

/// The options of a kind of shell that are needed to find its first argument that is not an option.
struct Options {
    /// The letters of options that have a value.
    valued: &'static str,
    /// Whether the value follows its letter in the same argument, unless the letter is the last. If false, the value is
    /// always the next argument, and more letters may follow.
    is_attached: bool,
    /// The long options that have a value. The value is the next argument, unless it follows after `=`.
    valued_names: &'static [&'static str],
    /// Whether `-s` makes the shell read commands from its terminal although arguments follow.
    has_stdin: bool,
}

impl Options {
    /// The options of a shell. `None` if the arguments of this kind of shell are not examined.
    fn of(shell: Shell) -> Option<Self> {
        let bourne = Self {
            valued: "oO",
            is_attached: false,
            valued_names: &["rcfile", "init-file"],
            has_stdin: true,
        };
        Some(match shell {
            Shell::PowerShell | Shell::Cmd | Shell::Unknown => return None,
            Shell::Bash | Shell::Posix => bourne,
            Shell::Zsh => Self { valued: "o", is_attached: true, valued_names: &[], ..bourne },
            Shell::Fish => Self {
                valued: "CdDfop",
                is_attached: true,
                valued_names: &[
                    "init-command",
                    "debug",
                    "debug-output",
                    "debug-stack-frames",
                    "features",
                    "profile",
                    "profile-startup",
                ],
                has_stdin: false,
            },
            Shell::Nushell => Self {
                valued: "eImt",
                is_attached: true,
                valued_names: &[
                    "config",
                    "env-config",
                    "error-style",
                    "execute",
                    "include-path",
                    "log-level",
                    "log-target",
                    "plugin-config",
                    "table-mode",
                    "threads",
                ],
                has_stdin: false,
            },
        })
    }
}

impl Shell {
    /// Whether a shell with these arguments runs a script or one command (`-c`) instead of reading commands from its
    /// terminal. The first argument is the shell's name.
    pub fn runs_script(self, arguments: &[String]) -> bool {
        let Some(options) = Options::of(self) else { return false };
        let mut arguments = arguments.iter().skip(1).map(String::as_str);
        let mut reads_stdin = false;
        while let Some(argument) = arguments.next() {
            if matches!(argument, "-" | "--") {
                return arguments.next().is_some() && !reads_stdin;
            }
            if let Some(long) = argument.strip_prefix("--") {
                let (name, value) =
                    long.split_once('=').map_or((long, None), |(n, v)| (n, Some(v)));
                if matches!(name, "command" | "commands") {
                    return true;
                }
                if value.is_none() && options.valued_names.contains(&name) {
                    arguments.next();
                }
                continue;
            }
            let Some(letters) = argument.strip_prefix(['-', '+']) else { return !reads_stdin };
            for (at, letter) in letters.char_indices() {
                match letter {
                    'c' => return true,
                    's' => reads_stdin |= options.has_stdin,
                    letter if options.valued.contains(letter) => {
                        let is_last = at + letter.len_utf8() == letters.len();
                        if is_last || !options.is_attached {
                            arguments.next();
                        }
                        if options.is_attached {
                            break;
                        }
                    }
                    _ => {}
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs_script(line: &str) -> bool {
        let arguments: Vec<_> = line.split(' ').map(str::to_owned).collect();
        Shell::of_process(&arguments[0]).unwrap().runs_script(&arguments)
    }

    #[test]
    fn a_shell_with_a_script_reads_no_commands() {
        for line in [
            "sh -c read",
            "/bin/sh script",
            "sh - script",
            "sh -e -- script",
            "bash -ec x",
            "bash -s -c x",
            "bash -eo pipefail -c x",
            "bash -eo pipefail script",
            "fish --command x",
            "fish -cx",
            "fish --no-config --command=x",
            "fish -p profile script",
            "fish --profile=profile script",
            "sh -e -c x",
            "bash -e script",
            "bash --norc script",
            "bash --rcfile /dev/null script",
            "bash -e -o pipefail -c x",
            "zsh -f script",
            "zsh -o emacs script",
            "nu -n --commands x",
        ] {
            assert!(runs_script(line), "{line}");
        }
    }

    #[test]
    fn a_shell_without_a_script_reads_commands() {
        for line in [
            "sh",
            "-bash",
            "sh -",
            "bash -s one two",
            "sh -es -- one",
            "bash --norc -i",
            "bash --rcfile /etc/c",
            "bash -o vi",
            "bash -eo pipefail",
            "bash -O extglob",
            "zsh -l",
            "zsh -oemacs",
            "zsh -o emacs",
            "zsh -fis one",
            "fish -C c",
            "fish -Ccd",
            "fish --init-command=cd",
            "fish -p profile",
            "fish --profile profile",
            "fish --profile-startup profile -i",
            "nu -e x",
            "nu -t 2",
        ] {
            assert!(!runs_script(line), "{line}");
        }
    }
}
