//! Shells: which one a process is, and how a command is typed into each so that its output can be told from everything
//! else on the screen.

mod given;

pub use given::{Runs, TypedRuns, as_given};
use unterm_mux::{Pane, PaneState};

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
    /// Any other that speaks POSIX sh, such as dash, ash and ksh.
    Posix,
}

impl Shell {
    /// The shell of an executable's path or name; `None`: it is none that we know.
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

    /// The documented name of its kind.
    pub fn kind(shell: Option<Self>) -> &'static str {
        match shell {
            Some(Self::PowerShell) => "powershell",
            Some(Self::Cmd) => "cmd",
            Some(Self::Bash) => "bash",
            Some(Self::Zsh) => "zsh",
            Some(Self::Fish) => "fish",
            Some(Self::Nushell) => "nushell",
            Some(Self::Posix) | None => "unknown",
        }
    }

    /// The shell that runs in a pane: the one in the foreground, else the program the pane was started with (a shell
    /// that reads its start-up files has others in the foreground).
    pub fn of_pane(pane: &Pane) -> Option<Self> {
        let foreground = pane.foreground().and_then(|f| Self::of_process(&f.name));
        foreground.or_else(|| Self::of_process(&root_name(pane)?))
    }

    /// What to type so that the shell runs `command` between two marks: the bytes of [`Marks::begin`], which no terminal
    /// shows, and [`Marks::end`] with the exit code behind it. Neither is in the typed text itself, so that no echo of
    /// it can be taken for them. Ends without Enter. `cooked`: the terminal collects lines itself, so that they must be short.
    pub fn wrap(self, command: &str, marks: &Marks, cooked: bool) -> String {
        let id = &marks.id;
        // The leading blank keeps it out of the history where the shell is set up so (fish and Nushell: always).
        match self {
            Self::Bash | Self::Zsh => format!(
                " printf '\\033]1337;UntermRun=%s\\007' {id}; eval {command}; \
                 printf '__UNTERM_%s_%s__ %d\\n' DONE {id} $?",
                command = quote_ansi_c(command, cooked),
            ),
            Self::Fish => format!(
                " printf '\\033]1337;UntermRun=%s\\007' {id}; eval {command}; \
                 printf '__UNTERM_%s_%s__ %d\\n' DONE {id} $status",
                command = quote_fish(command, cooked),
            ),
            // `command` keeps an error in `eval` from giving up the whole line.
            Self::Posix => format!(
                " printf '\\033]1337;UntermRun=%s\\007' {id}; command eval {command}; \
                 printf '__UNTERM_%s_%s__ %d\\n' DONE {id} $?",
                command = quote_posix(command, cooked),
            ),
            // An error gives up the rest of the line; a value before a `;` is shown to nobody.
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
        }
    }

    /// What to type at a prompt of the shell's editor so that it runs `command` as one command, which its integration
    /// marks; `None`: this shell can't be relied on for that. Ends without Enter. The blanks around it, two before and three
    /// behind, tell the integration to keep it out of the history.
    pub fn line(self, command: &str) -> Option<String> {
        let quote = match self {
            Self::Bash | Self::Zsh => quote_ansi_c,
            Self::Fish => quote_fish,
            // It has no `eval`, and needs none for a line that its editor takes as it stands.
            Self::Nushell if is_plain(command) && !command.trim().is_empty() => {
                return Some(format!("  {command}   "));
            }
            _ => return None,
        };
        // As a person would type it, where every shell reads that as it stands.
        if is_simple(command) {
            return Some(format!("  {}   ", command.trim()));
        }
        Some(format!("  eval {}   ", quote(command, false)))
    }
}

/// The program a pane was started with, where the system tells.
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

/// The marks around one command's output.
#[derive(Clone, Debug)]
pub struct Marks {
    id: String,
}

impl Marks {
    /// Marks nobody can guess. Fails when the system gives no random numbers.
    pub fn new() -> std::io::Result<Self> {
        Ok(Self { id: unterm_mux::random::hex()? })
    }

    /// What precedes the output. An OSC of nobody's: terminals drop it.
    pub fn begin(&self) -> Vec<u8> {
        format!("\x1b]1337;UntermRun={}\x07", self.id).into_bytes()
    }

    /// What follows the output.
    pub fn end(&self) -> String {
        format!("__UNTERM_DONE_{}__", self.id)
    }

    /// What stands near the end of the typed line, and so of its echo.
    pub fn echo(&self) -> String {
        format!("DONE {}", self.id)
    }
}

/// The most bytes of a command in one typed line, for a terminal that collects whole lines itself (`ICANON`): the kernel
/// drops what is past 4,095 bytes.
const COOKED_LINE: usize = 1000;

/// Builds a quoted text, over several lines where lines must be short.
struct Quoted {
    text: String,
    /// Opens a quote; `'` closes every one.
    open: &'static str,
    /// Where the current line's part begins, if lines must be short.
    line: Option<usize>,
}

impl Quoted {
    fn new(open: &'static str, cooked: bool) -> Self {
        Self { text: open.to_owned(), open, line: cooked.then_some(0) }
    }

    /// Adds what stands for one character.
    fn push(&mut self, part: &str) {
        if self.line.is_some_and(|start| self.text.len() - start > COOKED_LINE) {
            // A backslash outside of quotes joins the next line in every shell that quotes this way.
            self.text.push_str("'\\\r");
            self.line = Some(self.text.len());
            self.text.push_str(self.open);
        }
        self.text.push_str(part);
    }

    fn push_char(&mut self, char: char) {
        self.push(char.encode_utf8(&mut [0; 4]));
    }

    fn end(mut self) -> String {
        self.text.push('\'');
        self.text
    }
}

/// Whether text can be typed at a prompt in single quotes: no control bytes, which an editor would act on.
fn is_plain(text: &str) -> bool {
    !text.bytes().any(|byte| byte.is_ascii_control())
}

/// Whether a command means the same typed as evaluated, and is whole: plain words, of which the first is no reserved word. A
/// shell that finds a syntax error in a line, such as `done` alone, runs nothing and marks no end; in `eval` the error is a
/// command's.
fn is_simple(command: &str) -> bool {
    const RESERVED: [&str; 29] = [
        "if",
        "then",
        "elif",
        "else",
        "fi",
        "while",
        "until",
        "for",
        "do",
        "done",
        "in",
        "case",
        "esac",
        "select",
        "function",
        "begin",
        "end",
        "switch",
        "repeat",
        "time",
        "coproc",
        "foreach",
        "and",
        "or",
        "not",
        "break",
        "continue",
        "return",
        "nocorrect",
    ];
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b" _./:,@+-".contains(&byte);
    let first = command.split_ascii_whitespace().next();
    command.len() < 200
        && command.bytes().all(is_plain)
        && first.is_some_and(|first| !RESERVED.contains(&first))
}

/// In quotes, for bash and zsh: `'…'`, or `$'…'` where there are control bytes.
fn quote_ansi_c(text: &str, cooked: bool) -> String {
    if is_plain(text) {
        return quote_plain(text, cooked);
    }
    let mut quoted = Quoted::new("$'", cooked);
    for char in text.chars() {
        match char {
            '\n' => quoted.push("\\n"),
            '\t' => quoted.push("\\t"),
            '\\' => quoted.push("\\\\"),
            '\'' => quoted.push("\\'"),
            // Some versions expand history in `$'…'`.
            '!' => quoted.push("\\041"),
            char if char.is_ascii_control() => quoted.push(&format!("\\{:03o}", char as u32)),
            char => quoted.push_char(char),
        }
    }
    quoted.end()
}

fn quote_plain(text: &str, cooked: bool) -> String {
    let mut quoted = Quoted::new("'", cooked);
    for char in text.chars() {
        match char {
            '\'' => quoted.push(r"'\''"),
            char => quoted.push_char(char),
        }
    }
    quoted.end()
}

/// In quotes, for fish, whose control bytes are written outside of them.
fn quote_fish(text: &str, cooked: bool) -> String {
    let mut quoted = Quoted::new("'", cooked);
    for char in text.chars() {
        match char {
            '\\' => quoted.push(r"\\"),
            '\'' => quoted.push(r"\'"),
            '\n' => quoted.push(r"'\n'"),
            char if char.is_ascii_control() => quoted.push(&format!(r"'\x{:02x}'", char as u32)),
            char => quoted.push_char(char),
        }
    }
    quoted.end()
}

/// In quotes, for any POSIX shell: `'…'`, or the output of a `printf` where there are control bytes.
fn quote_posix(text: &str, cooked: bool) -> String {
    if is_plain(text) {
        return quote_plain(text, cooked);
    }
    let mut quoted = Quoted::new("'", cooked);
    for char in text.chars() {
        match char {
            '\\' => quoted.push(r"\\"),
            '\n' => quoted.push(r"\n"),
            '\'' => quoted.push(r"'\''"),
            char if char.is_ascii_control() => quoted.push(&format!(r"\0{:03o}", char as u32)),
            char => quoted.push_char(char),
        }
    }
    format!("\"$(printf %b {})\"", quoted.end())
}

/// Whether nothing runs in the pane but its shell, and the name of what runs.
pub struct Activity {
    /// The shell waits, or the program has ended.
    pub idle: bool,
    /// The foreground process, empty when there is none.
    pub process: String,
}

impl Activity {
    /// Of a pane, now.
    pub fn of(pane: &Pane) -> Self {
        if pane.state() != PaneState::Running {
            return Self { idle: true, process: String::new() };
        }
        let process = pane.foreground().map(|foreground| foreground.name).unwrap_or_default();
        Self { idle: Shell::of_process(&process).is_some(), process }
    }
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
    fn what_is_typed_holds_neither_mark() {
        let marks = Marks::new().unwrap();
        use Shell::*;
        for shell in [Bash, Zsh, Fish, Posix, Nushell, PowerShell, Cmd] {
            let typed = shell.wrap("echo 'it''s'\nfoo", &marks, false);
            assert!(!typed.contains(&marks.end()), "{shell:?}");
            assert!(!typed.contains("\x1b"), "{shell:?}");
        }
    }

    /// Runs a command as it would be typed, in the shells that are installed.
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
        let line = |command| Shell::Nushell.line(command);
        let command = "ls | where name =~ 'it' | get name";
        assert_eq!(line(command), Some(format!("  {command}   ")));
        assert_eq!(line("ls\nls"), None);
        assert_eq!(line(" "), None);
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
