//! Shell integration: makes the shells of a pane mark their prompts, commands and exit codes, without changing the
//! user's files.
//!
//! Owns the scripts, which are compiled into the binary, and the way in which each shell is made to read its script.
//! bash uses POSIX mode and `$ENV`, zsh `ZDOTDIR`, fish and Nushell `XDG_DATA_DIRS`, and PowerShell `-NoExit -Command`.
//! A program that is not an interactive shell starts unchanged.

use std::{
    ffi::{OsStr, OsString},
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use super::variables;
use crate::{private, random};

/// The name of the folder of nonces, inside the scripts' folder.
const NONCES: &str = "nonces";

/// The scripts, each with its path inside the folder that is passed to [`ShellIntegration::install`].
pub const SCRIPTS: &[(&str, &str)] = &[
    ("bash/unterm.bash", include_str!("../../../assets/shell-integration/bash/unterm.bash")),
    ("zsh/.zshenv", include_str!("../../../assets/shell-integration/zsh/.zshenv")),
    ("zsh/unterm.zsh", include_str!("../../../assets/shell-integration/zsh/unterm.zsh")),
    (
        "fish/vendor_conf.d/unterm.fish",
        include_str!("../../../assets/shell-integration/fish/vendor_conf.d/unterm.fish"),
    ),
    (
        "nushell/vendor/autoload/unterm.nu",
        include_str!("../../../assets/shell-integration/nushell/vendor/autoload/unterm.nu"),
    ),
    ("pwsh/unterm.ps1", include_str!("../../../assets/shell-integration/pwsh/unterm.ps1")),
];

/// The default of `XDG_DATA_DIRS` (XDG Base Directory Specification).
const DATA_DIRS: &str = "/usr/local/share:/usr/share";

/// The folder of the scripts, and the nonce that identifies output of a pane's own shells.
///
/// The nonce never appears in an environment or an argument list, because other programs could read it there. A shell
/// reads it from a `NonceFile`, and empties that file before another program runs.
#[derive(Clone, Debug)]
pub struct ShellIntegration {
    /// The folder that was passed to [`ShellIntegration::install`].
    pub folder: PathBuf,
    /// The nonce of one pane: 32 hexadecimal digits.
    pub nonce: Arc<str>,
    /// The path, without extension, of the files with variables for the pane's shells. `None`: no variables.
    pub variables: Option<PathBuf>,
}

/// Additions to a program's environment and arguments.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Injection {
    pub(super) env: Vec<(&'static str, OsString)>,
    /// Arguments to append to the program's own arguments.
    pub(super) args: Vec<OsString>,
    /// Whether the program is a shell that reads its script and the nonce.
    pub(super) reads_script: bool,
}

/// A file with the nonce that one shell reads once. The file is removed with the pane.
#[derive(Debug)]
pub(super) struct NonceFile(PathBuf);

impl NonceFile {
    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for NonceFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

impl ShellIntegration {
    /// Writes the scripts into a folder, unless the folder already contains the same scripts.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn install(folder: &Path) -> io::Result<()> {
        variables::clean(folder);
        variables::clean_folder(&folder.join(NONCES));
        for (name, text) in SCRIPTS {
            let file = folder.join(name);
            let there = private::read(&file, text.len() as u64);
            if there.is_ok_and(|there| there == text.as_bytes()) {
                continue;
            }
            private::create_folder(file.parent().unwrap_or(folder))?;
            private::replace(&file, |file| file.write_all(text.as_bytes()))?;
        }
        Ok(())
    }

    /// The integration for one more pane, with a nonce that nobody can guess.
    ///
    /// # Errors
    /// If the system returns no random bytes.
    pub fn new(folder: PathBuf) -> io::Result<Self> {
        Ok(Self { folder, nonce: random::hex()?.into(), variables: None })
    }

    /// Writes a file with the nonce for one shell.
    pub(super) fn write_nonce(&self) -> io::Result<NonceFile> {
        let folder = self.folder.join(NONCES);
        private::create_folder(&folder)?;
        let file = NonceFile(folder.join(format!("{}-{}", std::process::id(), random::hex()?)));
        private::create_file(&file.0)?.write_all(format!("{}\n", self.nonce).as_bytes())?;
        Ok(file)
    }

    /// The additions to the environment and arguments of a program. `env` looks up a variable of the program's
    /// environment.
    pub(super) fn inject<'a>(
        &self,
        program: &str,
        args: &[String],
        env: impl Fn(&str) -> Option<&'a OsStr>,
    ) -> Injection {
        let mut injection = Injection::default();
        let mut set = |name, value: &OsStr| injection.env.push((name, value.to_owned()));
        set("UNTERM_SHELL_INTEGRATION", self.folder.as_os_str());
        if let Some(variables) = &self.variables {
            set("UNTERM_VARIABLES", variables.as_os_str());
        }
        let name = program.rsplit('/').next().unwrap_or(program);
        let mut reads_script = true;
        match name {
            "bash" if is_interactive(args) => {
                set("UNTERM_BASH_INJECT", OsStr::new("1"));
                set("UNTERM_BASH_ENV", env("ENV").unwrap_or_default());
                set("POSIXLY_CORRECT", OsStr::new("1"));
                set("ENV", self.folder.join("bash/unterm.bash").as_os_str());
            }
            "zsh" if is_interactive(args) => {
                if let Some(own) = env("ZDOTDIR") {
                    set("UNTERM_ZDOTDIR", own);
                }
                set("ZDOTDIR", self.folder.join("zsh").as_os_str());
            }
            "fish" | "nu" if is_interactive(args) => {
                let own = env("XDG_DATA_DIRS").filter(|own| !own.is_empty());
                let mut folders = self.folder.clone().into_os_string();
                folders.push(":");
                folders.push(own.unwrap_or(OsStr::new(DATA_DIRS)));
                set("XDG_DATA_DIRS", &folders);
            }
            "pwsh" if args.iter().all(|arg| is_plain_powershell(arg)) => {
                // In PowerShell, a single quote inside a single-quoted string is doubled.
                let script = self.folder.join("pwsh/unterm.ps1");
                let script = script.to_string_lossy().replace('\'', "''");
                let args = ["-NoExit", "-Command", &format!(". '{script}'")];
                injection.args.extend(args.map(OsString::from));
            }
            _ => reads_script = false,
        }
        Injection { reads_script, ..injection }
    }
}

/// Whether a Unix shell with these arguments reads commands from its terminal.
fn is_interactive(args: &[String]) -> bool {
    args.iter().all(|arg| {
        matches!(arg.as_str(), "-l" | "-i" | "-il" | "-li" | "--login" | "--interactive")
    })
}

fn is_plain_powershell(arg: &str) -> bool {
    ["-nologo", "-login", "-l", "-interactive", "-i"]
        .iter()
        .any(|plain| arg.eq_ignore_ascii_case(plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_in_the_place_of_a_script_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join(SCRIPTS[0].0);
        fs::create_dir_all(script.parent().unwrap()).unwrap();
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
        rustix::fs::mknodat(rustix::fs::CWD, &script, kind, mode, 0).unwrap();
        // Reading the pipe would wait for a writer.
        ShellIntegration::install(folder.path()).unwrap();
        assert_eq!(fs::read_to_string(&script).unwrap(), SCRIPTS[0].1);
    }

    fn inject(program: &str, args: &[&str], env: &[(&str, &str)]) -> Injection {
        let integration = ShellIntegration {
            folder: "/data/it's".into(),
            nonce: Arc::from("0123"),
            variables: None,
        };
        let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
        integration.inject(program, &args, |name| {
            env.iter().find(|(known, _)| *known == name).map(|(_, value)| OsStr::new(*value))
        })
    }

    fn value<'a>(injection: &'a Injection, name: &str) -> Option<&'a str> {
        let found = injection.env.iter().find(|(known, _)| *known == name);
        found.and_then(|(_, value)| value.to_str())
    }

    #[test]
    fn every_shell_reads_its_script() {
        let bash = inject("/bin/bash", &["-l"], &[("ENV", "/home/me/env")]);
        assert_eq!(value(&bash, "ENV"), Some("/data/it's/bash/unterm.bash"));
        assert_eq!(value(&bash, "UNTERM_BASH_ENV"), Some("/home/me/env"));
        let zsh = inject("zsh", &[], &[("ZDOTDIR", "/home/me/zsh")]);
        assert_eq!(value(&zsh, "ZDOTDIR"), Some("/data/it's/zsh"));
        assert_eq!(value(&zsh, "UNTERM_ZDOTDIR"), Some("/home/me/zsh"));
        assert_eq!(value(&inject("zsh", &[], &[]), "UNTERM_ZDOTDIR"), None);
        let fish = inject("/usr/bin/fish", &[], &[]);
        assert_eq!(value(&fish, "XDG_DATA_DIRS"), Some("/data/it's:/usr/local/share:/usr/share"));
        let nu = inject("nu", &[], &[("XDG_DATA_DIRS", "/opt/share")]);
        assert_eq!(value(&nu, "XDG_DATA_DIRS"), Some("/data/it's:/opt/share"));
        let pwsh = inject("pwsh", &["-NoLogo"], &[]);
        assert!([&bash, &zsh, &fish, &nu, &pwsh].iter().all(|shell| shell.reads_script));
        assert_eq!(pwsh.args, ["-NoExit", "-Command", ". '/data/it''s/pwsh/unterm.ps1'"]);
    }

    #[test]
    fn a_program_that_is_no_interactive_shell_gets_no_script() {
        for (program, args) in [
            ("bash", &["-c", "true"][..]),
            ("bash", &["script"]),
            ("bash", &["--norc"]),
            ("/bin/sh", &[]),
            ("htop", &[]),
            ("pwsh", &["-File", "x.ps1"]),
        ] {
            let injection = inject(program, args, &[]);
            let names: Vec<_> = injection.env.iter().map(|(name, _)| *name).collect();
            assert_eq!(names, ["UNTERM_SHELL_INTEGRATION"], "{program} {args:?}");
            assert_eq!(injection.args, [] as [&str; 0]);
            assert!(!injection.reads_script, "{program} {args:?}");
        }
    }

    #[test]
    fn scripts_are_written_once() {
        let folder = tempfile::tempdir().unwrap();
        ShellIntegration::install(folder.path()).unwrap();
        let script = folder.path().join("bash/unterm.bash");
        let written = || fs::metadata(&script).and_then(|metadata| metadata.modified()).unwrap();
        let before = written();
        ShellIntegration::install(folder.path()).unwrap();
        assert_eq!(written(), before);
        fs::write(&script, "an older one").unwrap();
        ShellIntegration::install(folder.path()).unwrap();
        assert_eq!(fs::read_to_string(&script).unwrap(), SCRIPTS[0].1);
    }

    #[test]
    fn a_nonce_is_its_owners_and_goes_with_the_pane() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let integration = ShellIntegration::new(folder.path().to_owned()).unwrap();
        let file = integration.write_nonce().unwrap();
        let path = file.path().to_owned();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{}\n", integration.nonce));
        // A number larger than any process id (on Linux at most 2^22).
        let left = path.with_file_name("99999999-0");
        fs::write(&left, "").unwrap();
        ShellIntegration::install(folder.path()).unwrap();
        assert!(path.exists() && !left.exists());
        drop(file);
        assert!(!path.exists());
    }

    #[test]
    fn nonces_differ() {
        let nonce = || ShellIntegration::new(PathBuf::new()).unwrap().nonce;
        assert_ne!(nonce(), nonce());
        assert_eq!(nonce().len(), 32);
    }
}
