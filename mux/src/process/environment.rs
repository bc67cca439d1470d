//! Prepares the start of a program: its environment, its directory, and the path of its executable.
//!
//! Detects every predictable error before the fork. After the fork, the user would only see a pane that closes at once.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

use crate::{Spawn, SpawnError, private};

/// The names of variables that describe a surrounding terminal and would mislead a program about its own terminal. `*`
/// at the end of a name matches any text.
const SURROUNDING: &[&str] = &[
    "ALACRITTY_*",
    "COLORFGBG",
    "COLUMNS",
    "GHOSTTY_*",
    "GNOME_TERMINAL_*",
    "GPG_TTY",
    "INSIDE_EMACS",
    "ITERM_*",
    "KITTY_*",
    "KONSOLE_*",
    "LC_TERMINAL",
    "LC_TERMINAL_VERSION",
    "LINES",
    "MC_SID",
    "NVIM",
    "STY",
    "TERMCAP",
    "TERMINAL_EMULATOR",
    "TERMINATOR_*",
    "TERM_FEATURES",
    "TERM_PROGRAM*",
    "TERM_SESSION_ID",
    "TILIX_ID",
    "TMUX*",
    "UNTERM_BASH_*",
    "UNTERM_DRIVEN",
    "UNTERM_INSTANCE",
    "UNTERM_NONCE*",
    "UNTERM_PANE",
    "UNTERM_PORT",
    "UNTERM_SHELL_INTEGRATION",
    "UNTERM_SOCKET",
    "UNTERM_TOKEN",
    "UNTERM_VARIABLES*",
    "UNTERM_ZDOTDIR",
    "VTE_VERSION",
    "WARP_*",
    "WEZTERM_*",
    "WINDOW",
    "WINDOWID",
    "WT_PROFILE_ID",
    "WT_SESSION",
    "XTERM_*",
    "ZELLIJ*",
];

/// Whether a variable of the inherited environment describes the surrounding terminal.
pub(super) fn is_surrounding(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    // kitty and ghostty set TERMINFO to their own database. If neither is running, the user has set TERMINFO.
    if name == "TERMINFO" {
        return ["KITTY_WINDOW_ID", "GHOSTTY_RESOURCES_DIR"]
            .iter()
            .any(|sign| std::env::var_os(sign).is_some());
    }
    SURROUNDING.iter().any(|pattern| match pattern.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => name == *pattern,
    })
}

/// The directory to start in: the requested directory, or else the home directory, or else the root.
pub(super) fn directory(spawn: &Spawn) -> Result<PathBuf, SpawnError> {
    match &spawn.cwd {
        Some(cwd) if cwd.is_dir() => {
            Ok(std::path::absolute(cwd).unwrap_or_else(|_| cwd.to_path_buf()))
        }
        Some(cwd) => Err(SpawnError::BadCwd(cwd.clone())),
        None => Ok(std::env::home_dir()
            .filter(|home| home.is_absolute() && home.is_dir())
            .unwrap_or_else(|| PathBuf::from("/"))),
    }
}

/// The limits of Linux's execve: 32 pages for one string. All strings together may use a quarter of the stack limit,
/// which is 8 MiB by default.
const MAX_STRING: usize = 128 * 1024 - 1;
const MAX_STRINGS: usize = 2 * 1024 * 1024 - 64 * 1024;

/// Refuses strings that execve would refuse. An error of execve would look as if the program itself had ended.
pub(super) fn check_strings(program: &str, spawn: &Spawn) -> Result<(), SpawnError> {
    let refuse = |error: String| Err(SpawnError::Program { program: shorten(program), error });
    if program.is_empty() {
        return refuse("the program's name is empty".into());
    }
    let mut total = 0;
    for arg in std::iter::once(program).chain(spawn.args.iter().map(String::as_str)) {
        if arg.contains('\0') {
            return refuse(format!("the argument {:?} contains a NUL", shorten(arg)));
        }
        if arg.len() > MAX_STRING {
            return refuse(format!(
                "an argument of {} bytes is longer than the system's {MAX_STRING}",
                arg.len()
            ));
        }
        total += arg.len() + 9;
    }
    for (name, value) in &spawn.env {
        if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
            return refuse(format!(
                "{:?} is no name for an environment variable, or its value contains a NUL",
                shorten(name)
            ));
        }
        if name.len() + value.len() + 1 > MAX_STRING {
            return refuse(format!(
                "the variable {} of {} bytes is longer than the system's {MAX_STRING}",
                shorten(name),
                value.len()
            ));
        }
        total += name.len() + value.len() + 10;
    }
    if total > MAX_STRINGS {
        return refuse(format!(
            "arguments and environment of {total} bytes are longer than the system's {MAX_STRINGS}"
        ));
    }
    Ok(())
}

/// The beginning of a string, for an error message.
fn shorten(text: &str) -> String {
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The path of the executable with this name, searched from `cwd` like execvp(3) does, or the reason why there is none.
pub(super) fn executable(name: &str, cwd: &Path, path: Option<&OsStr>) -> Result<PathBuf, String> {
    if name.contains('/') {
        let file = cwd.join(name);
        return check_executable(&file).map(|()| file);
    }
    let path = path.unwrap_or(OsStr::new("/usr/local/bin:/usr/bin:/bin"));
    let mut refusal = None;
    for folder in std::env::split_paths(path) {
        let file = cwd.join(folder).join(name);
        match check_executable(&file) {
            Ok(()) => return Ok(file),
            Err(error) if file.is_file() => refusal = refusal.or(Some(error)),
            Err(_) => {}
        }
    }
    Err(refusal.unwrap_or_else(|| "no such program in PATH".into()))
}

/// The reason why a pane in the current directory cannot start a program. `None` if the pane can start it. `env`
/// contains the variables that panes get in addition to the inherited environment. Only `PATH` is used.
pub fn program_error<'a>(
    program: &str,
    env: impl IntoIterator<Item = (&'a String, &'a String)>,
) -> Option<String> {
    let own = env.into_iter().filter(|(name, _)| *name == "PATH").last();
    let path = own.map(|(_, path)| path.into()).or_else(|| std::env::var_os("PATH"));
    let cwd = std::env::current_dir().unwrap_or_else(|_| "/".into());
    executable(program, &cwd, path.as_deref()).err()
}

/// Checks that a file can be run: a regular file with execute permission, whose interpreter exists if it is a script.
fn check_executable(file: &Path) -> Result<(), String> {
    let quoted = file.display();
    let metadata = std::fs::metadata(file).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => format!("{quoted} does not exist"),
        _ => format!("{quoted}: {error}"),
    })?;
    if !metadata.is_file() {
        return Err(format!("{quoted} is not a file"));
    }
    if rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_err() {
        return Err(format!("{quoted} is not executable"));
    }
    if let Some(interpreter) = interpreter(file)
        && !interpreter.is_file()
    {
        return Err(format!("{quoted}: its interpreter {} does not exist", interpreter.display()));
    }
    Ok(())
}

/// The interpreter in a script's first line.
fn interpreter(file: &Path) -> Option<PathBuf> {
    use std::io::Read;
    let mut head = Vec::new();
    private::open_of_anyone(file).ok()?.take(256).read_to_end(&mut head).ok()?;
    let line = head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let name = std::str::from_utf8(line).ok()?.split_ascii_whitespace().next()?;
    name.starts_with('/').then(|| PathBuf::from(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_surrounding_terminal_is_recognised_by_its_variables() {
        for name in ["TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TMUX_PANE", "KITTY_PID", "LINES"] {
            assert!(is_surrounding(OsStr::new(name)), "{name}");
        }
        for name in ["PATH", "LINESTYLE", "UNTERM_HOME", "TERMINATE", "WINDOW_MANAGER", "LC_ALL"] {
            assert!(!is_surrounding(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn a_program_is_looked_up_like_execvp() {
        let cwd = Path::new("/bin");
        let found = |name| executable(name, cwd, Some(OsStr::new("/nowhere:/usr/bin:/bin")));
        assert!(found("sh").is_ok());
        assert!(found("/bin/sh").is_ok());
        assert!(found("./sh").is_ok());
        assert_eq!(found("no-such-program").unwrap_err(), "no such program in PATH");
        assert_eq!(found("/nowhere/x").unwrap_err(), "/nowhere/x does not exist");
        assert_eq!(found("/usr/bin").unwrap_err(), "/usr/bin is not a file");
        assert_eq!(found("/etc/passwd").unwrap_err(), "/etc/passwd is not executable");
    }

    #[test]
    fn a_script_without_its_interpreter_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("script");
        std::fs::write(&file, "#!/nowhere/python -x\n").unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
        let error = executable("./script", folder.path(), None).unwrap_err();
        assert!(error.ends_with("its interpreter /nowhere/python does not exist"), "{error}");
    }

    #[test]
    fn strings_the_system_would_refuse_are_refused_before() {
        let long = Spawn { args: vec!["x".repeat(1 << 17)], ..Spawn::default() };
        assert!(check_strings("sh", &long).is_err());
        let many = Spawn { args: vec!["x".repeat(1 << 16); 64], ..Spawn::default() };
        assert!(check_strings("sh", &many).is_err());
        let nul = Spawn { args: vec!["a\0b".into()], ..Spawn::default() };
        assert!(check_strings("sh", &nul).is_err());
        let name = Spawn { env: vec![("A=B".into(), String::new())], ..Spawn::default() };
        assert!(check_strings("sh", &name).is_err());
        assert!(check_strings("", &Spawn::default()).is_err());
        assert!(check_strings("sh", &Spawn::default()).is_ok());
    }
}
