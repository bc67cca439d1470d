//! Shells: detects which shell is running, and writes commands so that their output can be distinguished from
//! everything else on the screen.

mod any_shell;
mod arguments;
mod given;
mod marks;
mod nushell;
mod plain_line;
mod quoting;

pub use given::{Runs, TypedRuns, as_given};
pub use marks::Marks;
use plain_line::is_plain_line;
pub use quoting::printf_text;
use quoting::{is_plain, quote_ansi_c, quote_fish, quote_posix};
use unterm_mux::{Pane, PaneState, is_carrier};

/// A kind of shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, clippy::enum_variant_names, reason = "the names of the shells say it")]
pub enum Shell {
    PowerShell,
    Cmd,
    Bash,
    Zsh,
    Fish,
    Nushell,
    /// Any other POSIX shell, such as dash, ash or ksh.
    Posix,
    /// A shell of unknown kind: behind a program such as ssh, or not started yet. Lines for it work in bash, zsh, fish
    /// and POSIX shells.
    Unknown,
}

impl Shell {
    /// The shell with this executable path or name. `None` if it is not a known shell.
    pub fn of_process(name: &str) -> Option<Self> {
        let name = name.rsplit(['/', '\\']).next().unwrap_or(name).to_ascii_lowercase();
        // A login shell's name begins with a dash.
        let name = name.trim_start_matches('-').trim_end_matches(".exe");
        let has = |part: &str| name.contains(part);
        if has("powershell") || has("pwsh") {
            return Some(Self::PowerShell);
        }
        if has("bash") {
            return Some(Self::Bash);
        }
        if has("zsh") {
            return Some(Self::Zsh);
        }
        if has("fish") {
            return Some(Self::Fish);
        }
        match name {
            "cmd" => Some(Self::Cmd),
            "nu" | "nushell" => Some(Self::Nushell),
            "sh" | "dash" | "ash" | "busybox" | "ksh" | "ksh93" | "mksh" | "lksh" | "oksh"
            | "loksh" | "posh" | "yash" => Some(Self::Posix),
            _ => None,
        }
    }

    /// The documented name of a shell.
    pub fn kind(shell: Option<Self>) -> &'static str {
        match shell {
            Some(Self::PowerShell) => "powershell",
            Some(Self::Cmd) => "cmd",
            Some(Self::Bash) => "bash",
            Some(Self::Zsh) => "zsh",
            Some(Self::Fish) => "fish",
            Some(Self::Nushell) => "nushell",
            Some(Self::Posix | Self::Unknown) | None => "unknown",
        }
    }

    /// The shell that runs in a pane: the shell in the foreground, or else the program that the pane was started with.
    /// A shell has other programs in the foreground while it reads its startup files.
    pub fn of_pane(pane: &Pane) -> Option<Self> {
        let foreground = pane.foreground().and_then(|f| Self::of_process(&f.name));
        foreground.or_else(|| Self::of_process(&root_name(pane)?))
    }

    /// The shell that will read a line that is typed now: the foreground process or, if that is another program or a
    /// script, the nearest shell that started it. If the foreground process forwards the terminal, such as ssh, the
    /// shell at the other end will read the line.
    pub fn of_reader(pane: &Pane) -> Self {
        if pane.foreground().is_some_and(|front| is_carrier(&front.name)) {
            return Self::Unknown;
        }
        let above = || {
            pane.process().ancestors().into_iter().find_map(|ancestor| {
                let shell = Self::of_process(&ancestor.name)?;
                (!shell.runs_script(&ancestor.arguments)).then_some(shell)
            })
        };
        let shell = Self::reading_commands(pane).or_else(above).or_else(|| Self::of_pane(pane));
        shell.unwrap_or(Self::Posix)
    }

    /// The shell that reads commands from the pane's terminal: the foreground process, unless it runs a script.
    pub fn reading_commands(pane: &Pane) -> Option<Self> {
        let shell = Self::of_process(&pane.foreground()?.name)?;
        let arguments = pane.process().foreground_arguments().unwrap_or_default();
        (!shell.runs_script(&arguments)).then_some(shell)
    }

    /// The text to type so that the shell runs `command` between two marks: [`Marks::begin`], which terminals do not
    /// show, and [`Marks::end`], followed by the exit code. The typed text contains neither mark, so its echo can't
    /// be mistaken for one. Does not end with Enter. `cooked`: the terminal itself collects lines, so they must be
    /// short.
    ///
    /// In a locale without multibyte characters, zsh's line editor replaces them by `?`. The locale is unknown here, so
    /// the typed text for zsh is ASCII.
    pub fn wrap(self, command: &str, marks: &Marks, cooked: bool) -> String {
        let id = &marks.id;
        // The leading blank keeps the line out of the history, always in fish and Nushell, elsewhere if so configured.
        match self {
            Self::Bash | Self::Zsh => format!(
                " printf '\\033]1337;UntermRun=%s\\007' {id}; eval {command}; \
                 printf '__UNTERM_%s_%s__ %d\\n' DONE {id} $?",
                command = quote_ansi_c(command, cooked, self == Self::Zsh),
            ),
            // Use `%s` and not `%d`, because `%d` would print 0 in a shell without `$status`.
            Self::Fish => format!(
                " printf '\\033]1337;UntermRun=%s\\007' {id}; eval {command}; \
                 printf '__UNTERM_%s_%s__ %s\\n' DONE {id} $status",
                command = quote_fish(command, cooked),
            ),
            // `command` keeps an error in `eval` from aborting the whole line.
            Self::Posix => format!(
                " printf '\\033]1337;UntermRun=%s\\007' {id}; command eval {command}; \
                 printf '__UNTERM_%s_%s__ %d\\n' DONE {id} $?",
                command = quote_posix(command, cooked),
            ),
            // An error would abort the rest of the line, so catch it. Nushell does not show a value before `;`, so print it.
            Self::Nushell => format!(
                " print -n $\"\\u{{1b}}]1337;UntermRun={id}\\u{{7}}\"; \
                 try {{ {command} }} catch {{|error| print -e $error.rendered }} | print; \
                 print $\"__UNTERM_('DONE')_{id}__ ($env.LAST_EXIT_CODE)\"",
            ),
            Self::PowerShell => format!(
                " [Console]::Write(\"$([char]27)]1337;UntermRun={id}$([char]7)\"); {command}; \
                 Write-Output ('__UNTERM_{{0}}_{id}__' -f 'DONE')",
            ),
            Self::Cmd => format!("{command} & echo __UNTERM_^DONE_{id}__"),
            Self::Unknown => any_shell::wrap(command, marks),
        }
    }

    /// The missing part of an unfinished command, if the shell's editor would wait for it. Most shells get the command
    /// quoted, and then report the error.
    pub fn missing(self, command: &str) -> Option<String> {
        (self == Self::Nushell).then(|| nushell::missing(command)).flatten()
    }

    /// The text to type at a prompt of the shell's editor so that it runs `command` as a single command, which its
    /// integration marks. `None` if that is unreliable in this shell. Does not end with Enter. Two blanks before the
    /// command and three after it make the integration keep it out of the history. `is_ascii`: the shell's editor
    /// replaces characters that are not ASCII, so the line contains none, if the shell has a form for that.
    pub fn line(self, command: &str, is_ascii: bool) -> Option<String> {
        let is_ascii = is_ascii && !command.is_ascii();
        if self == Self::Unknown {
            return Some(format!("  {}   ", any_shell::line(command, is_ascii)));
        }
        let is_as_it_is = match self {
            Self::Bash | Self::Zsh => !is_ascii && is_plain_line(command, false),
            // If fish can't parse a line, it reports no end of a command. fish checks more than syntax: it can't parse
            // `builtin nope`.
            Self::Fish => is_plain_line(command, true),
            // Nushell has no `eval`, but its editor accepts such a line unchanged.
            Self::Nushell => is_plain(command) && !command.trim().is_empty(),
            _ => false,
        };
        let line = match is_as_it_is {
            true => command.trim().to_owned(),
            false => self.evaluated(command, is_ascii)?,
        };
        Some(format!("  {line}   "))
    }

    /// A line that runs `command` inside `eval`.
    fn evaluated(self, command: &str, is_ascii: bool) -> Option<String> {
        let quoted = match self {
            Self::Bash | Self::Zsh => quote_ansi_c(command, false, is_ascii),
            Self::Fish => quote_fish(command, false),
            _ => return None,
        };
        Some(format!("eval {quoted}"))
    }
}

/// The program that a pane was started with, if the system reports it.
fn root_name(pane: &Pane) -> Option<String> {
    let pid = pane.process().pid()?;
    #[cfg(target_os = "linux")]
    {
        let path = std::fs::read_link(format!("/proc/{pid}/exe")).ok()?;
        Some(path.to_string_lossy().into_owned())
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = pid;
        None
    }
}

/// A pane's activity: whether only a shell runs there, and the foreground process.
pub struct Activity {
    /// Whether the foreground process is a shell, or the pane's program has ended.
    pub idle: bool,
    /// The name of the foreground process. Empty if there is none.
    pub process: String,
}

impl Activity {
    /// The current activity of a pane.
    pub fn of(pane: &Pane) -> Self {
        if pane.state() != PaneState::Running {
            return Self { idle: true, process: String::new() };
        }
        let process = pane.foreground().map(|foreground| foreground.name).unwrap_or_default();
        let arguments = || pane.process().foreground_arguments().unwrap_or_default();
        Self { idle: is_any_shell(&process, arguments), process }
    }
}

/// Further shells. A pane with one of them counts as idle, but Unterm can't run commands in it.
const OTHER_SHELLS: [&str; 10] =
    ["csh", "tcsh", "bsd-csh", "elvish", "xonsh", "ion", "osh", "ysh", "hush", "sash"];

/// Whether a process is a shell of any kind. BusyBox is a shell if its first argument is the name of a shell.
fn is_any_shell(process: &str, arguments: impl FnOnce() -> Vec<String>) -> bool {
    let name = process.rsplit('/').next().unwrap_or_default();
    if name == "busybox" {
        return arguments().get(1).is_some_and(|applet| ["sh", "ash", "hush"].contains(&&**applet));
    }
    Shell::of_process(process).is_some() || OTHER_SHELLS.contains(&name.trim_start_matches('-'))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn shells_are_known_by_their_names() {
        let kind = |name| Shell::kind(Shell::of_process(name));
        assert_eq!(kind("/bin/zsh"), "zsh");
        assert_eq!(kind("-bash"), "bash");
        assert_eq!(kind("/usr/bin/bash5.2"), "bash");
        assert_eq!(kind(r"C:\Program Files\PowerShell\7\pwsh.exe"), "powershell");
        assert_eq!(kind(r"C:\Windows\System32\cmd.exe"), "cmd");
        assert_eq!(kind("/usr/bin/nu"), "nushell");
        assert_eq!(kind("/usr/bin/gnuplot"), "unknown");
        assert_eq!(kind("/usr/bin/dash"), "unknown");
        assert_eq!(Shell::of_process("/usr/bin/dash"), Some(Shell::Posix));
        assert_eq!(Shell::of_process("vim"), None);
        assert_eq!(Shell::of_process(""), None);
    }

    #[test]
    fn every_shell_makes_a_pane_idle_and_nothing_else_does() {
        let is_shell = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            is_any_shell(&words[0], || words.clone())
        };
        for shell in [
            "/bin/bash",
            "-zsh",
            "fish",
            "pwsh",
            "nu",
            "/bin/dash",
            "ksh93",
            "mksh",
            "/bin/busybox sh",
            "busybox ash -l",
            "/bin/tcsh",
            "-csh",
        ] {
            assert!(is_shell(shell), "{shell}");
        }
        for other in ["vim", "", "/bin/busybox sleep 9", "busybox", "gnuplot", "ssh host", "cash"] {
            assert!(!is_shell(other), "{other}");
        }
    }

    #[test]
    fn typed_lines_contain_no_mark() {
        let marks = Marks::new().unwrap();
        use Shell::*;
        for shell in [Bash, Zsh, Fish, Posix, Unknown, Nushell, PowerShell, Cmd] {
            let typed = shell.wrap("echo 'it''s'\nfoo", &marks, false);
            assert!(!typed.contains(&marks.end()), "{shell:?}");
            assert!(!typed.contains("\x1b"), "{shell:?}");
        }
    }

    /// Runs a command as it would be typed, if the shell is installed.
    fn run(program: &str, shell: Shell, command: &str, cooked: bool) -> Option<String> {
        let marks = Marks::new().unwrap();
        // A terminal turns CR into LF.
        let typed = shell.wrap(command, &marks, cooked).replace('\r', "\n");
        if cooked {
            assert!(typed.lines().all(|line| line.len() < 2000), "{typed}");
        }
        let output = Command::new(program).arg("-c").arg(&typed).output().ok()?;
        let output = String::from_utf8(output.stdout).unwrap();
        let begin = String::from_utf8(marks.begin()).unwrap();
        let output = output.strip_prefix(&begin).unwrap_or_else(|| panic!("{program}: {output:?}"));
        let (output, code) = output.split_once(&marks.end()).unwrap();
        Some(format!("{output}{}", code.trim()))
    }

    #[test]
    fn a_command_arrives_as_it_was_written() {
        let cases = [
            ("echo hi", "hi\n0"),
            ("false", "1"),
            ("printf 'it'\\''s \"$HOME\" \\\\ %%'", "it's \"$HOME\" \\ %0"),
            ("echo one # two", "one\n0"),
            ("true &", "0"),
            ("echo a\necho b\n\n", "a\nb\n0"),
            ("echo 'tab:\there!'", "tab:\there!\n0"),
            ("printf '%s|' 'a\\nb' 'c\n\\d'", "a\\nb|c\n\\d|0"),
            ("echo 'é ∀ 🦀' ; echo !", "é ∀ 🦀\n!\n0"),
        ];
        for (program, shell) in [
            ("bash", Shell::Bash),
            ("zsh", Shell::Zsh),
            ("fish", Shell::Fish),
            ("sh", Shell::Posix),
        ] {
            for (command, expected) in cases {
                if let Some(output) = run(program, shell, command, false) {
                    assert_eq!(output, expected, "{program}: {command:?}");
                }
            }
        }
        for (command, expected) in [
            ("1 + 2", "3\n0"),
            ("cd /usr; pwd", "/usr\n0"),
            ("^printf it", "it\n0"),
            ("error make {msg: no}", "1"),
            ("^sh -c 'exit 7'", "7"),
        ] {
            if let Some(output) = run("nu", Shell::Nushell, command, false) {
                assert_eq!(output, expected, "nu: {command:?}");
            }
        }
    }

    #[test]
    fn nushell_gets_lines_as_they_stand() {
        let line = |command| Shell::Nushell.line(command, false);
        let command = "ls | where name =~ 'it' | get name";
        assert_eq!(line(command), Some(format!("  {command}   ")));
        assert_eq!(line("ls\nls"), None);
        assert_eq!(line(" "), None);
    }

    #[test]
    fn a_line_for_zsh_is_ascii_if_its_editor_reads_nothing_else() {
        let (marks, command) = (Marks::new().unwrap(), "echo 'é∀🦀'");
        assert!(Shell::Zsh.wrap(command, &marks, false).is_ascii());
        assert_eq!(Shell::Zsh.line(command, false).unwrap(), "  echo 'é∀🦀'   ");
        let typed = Shell::Zsh.line(command, true).unwrap();
        assert!(typed.is_ascii());
        let plain = Shell::Zsh.line("echo it", true).unwrap();
        assert_eq!(plain, "  echo it   ", "other lines stay as they are");
        let ran = Command::new("zsh").args(["-f", "-c", &typed]).env("LC_ALL", "C").output();
        if let Ok(ran) = ran {
            assert_eq!(String::from_utf8(ran.stdout).unwrap(), "é∀🦀\n");
        }
    }

    #[test]
    fn a_long_command_is_typed_in_short_lines() {
        let text = "0123456789'\\é".repeat(2000);
        let quoted = text.replace('\\', r"\\").replace('\'', r"'\''");
        for separator in ["; ", "\n"] {
            let command = format!("printf '{quoted}'{separator}true");
            for (program, shell) in
                [("bash", Shell::Bash), ("zsh", Shell::Zsh), ("sh", Shell::Posix)]
            {
                if let Some(output) = run(program, shell, &command, true) {
                    assert_eq!(output, format!("{text}0"), "{program}");
                }
            }
        }
        let command = format!("echo '{}'", "x".repeat(10_000));
        if let Some(output) = run("fish", Shell::Fish, &command, true) {
            assert_eq!(output.len(), 10_002);
        }
    }

    #[test]
    fn a_command_that_is_no_syntax_still_ends() {
        for (program, shell) in [
            ("bash", Shell::Bash),
            ("zsh", Shell::Zsh),
            ("fish", Shell::Fish),
            ("sh", Shell::Posix),
        ] {
            for command in ["echo (", "echo 'open", "if true"] {
                if let Some(output) = run(program, shell, command, false) {
                    assert_ne!(output, "0", "{program}: {command:?}");
                }
            }
        }
    }
}
