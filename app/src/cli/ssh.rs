//! `unterm-cli ssh`: starts a login shell on another machine, with the shell integration of this pane.
//!
//! Passes its arguments to ssh, followed by a command. On the other machine, the command writes the integration
//! scripts to a new folder, and starts the login shell so that it reads them. When the shell ends, the command removes
//! the folder. If ssh would not start a login shell, for example for a command or a forwarding, its arguments are
//! passed on unchanged.
//!
//! The pane's nonce is never an argument, because every user of either machine can read the arguments of a process.
//! Instead, the arguments contain a ticket. When a program prints the ticket, the terminal types the nonce to that
//! program, but only once.

use std::{fmt::Write, io::IsTerminal, path::Path, process::Command};

use anyhow::{Context, Result, bail};
use base64::{Engine, prelude::BASE64_STANDARD};
use unterm_control::{
    client::{self, Client},
    methods::{nonce::LendNonce, params::SessionOnly},
};
use unterm_mux::{SCRIPTS, quote};

use crate::cli::own_pane::OwnPane;

/// The terminfo entry `unterm`, as source text for `tic`.
pub const TERMINFO: &str = include_str!("../../../assets/terminfo/unterm.terminfo");

/// Replaces this process with ssh. With `terminfo`, a login first installs the terminfo entry.
///
/// # Errors
/// Fails if ssh can't be started, or if this program does not run in a pane with shell integration.
pub fn run(home: &Path, args: &[String], terminfo: bool) -> Result<std::process::ExitCode> {
    let mut ssh = Command::new("ssh");
    if is_login(args) && std::io::stdin().is_terminal() {
        ssh.arg("-t").args(args).arg(remote_command(&ticket(home)?, terminfo));
    } else {
        ssh.args(args);
    }
    #[cfg(unix)]
    {
        let error = std::os::unix::process::CommandExt::exec(&mut ssh);
        Err(error).context("cannot start ssh")
    }
    #[cfg(not(unix))]
    {
        let status = ssh.status().context("cannot start ssh")?;
        Ok(u8::try_from(status.code().unwrap_or(255)).unwrap_or(255).into())
    }
}

/// Requests a ticket for the nonce of the pane that this program runs in.
fn ticket(home: &Path) -> Result<String> {
    let Some(OwnPane { instance, session }) = OwnPane::of_environment() else {
        bail!(
            "this is not a pane of Unterm: UNTERM_INSTANCE and UNTERM_PANE are not set; use plain ssh"
        );
    };
    let client = Client::connect_to(&client::find_by_name(home, &instance)?)?;
    Ok(client.call::<LendNonce>(SessionOnly::of(session))?.ticket)
}

/// The options of ssh that require an argument (ssh(1)).
const WITH_ARGUMENT: &str = "BbcDEeFIiJLlmOoPpQRSWw";
/// The options of ssh that prevent a shell on the other machine.
const WITHOUT_SHELL: &str = "fGNOQsVW";

/// Whether ssh would start a login shell with these arguments: there is a host but no command, and no option prevents
/// a shell. Options may also follow the host.
fn is_login(args: &[String]) -> bool {
    let mut has_host = false;
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let options = match arg.strip_prefix('-') {
            Some("-") => return !has_host && args.len() == 1,
            Some(options) if !options.is_empty() => options,
            _ if has_host => return false,
            _ => {
                has_host = true;
                continue;
            }
        };
        for (at, option) in options.char_indices() {
            if WITHOUT_SHELL.contains(option) {
                return false;
            }
            if WITH_ARGUMENT.contains(option) {
                if at + 1 == options.len() {
                    args.next();
                }
                break;
            }
        }
    }
    has_host
}

/// The command for the other machine. The script is in a single-quoted word that contains neither single quotes nor
/// backslashes, so every login shell there parses the command equally.
fn remote_command(ticket: &str, terminfo: bool) -> String {
    let script = BASE64_STANDARD.encode(script(ticket, terminfo));
    format!("exec sh -c 'eval \"$(echo {script} | base64 -d)\"'")
}

/// The script that sh runs on the other machine. If it can't create a temporary folder, it starts a plain login shell.
/// If it receives no nonce, it starts a shell without prompt marks. The user can skip waiting for the nonce by
/// pressing Enter three times; text typed before that is lost.
///
/// If this machine's TERM is `unterm` and the other machine does not have that terminfo entry, TERM is set to
/// `xterm-256color` there.
fn script(ticket: &str, terminfo: bool) -> String {
    let mut script = String::new();
    if terminfo {
        // Leave out the comments, which are meant for readers of the source.
        let entry: String = TERMINFO
            .lines()
            .filter(|line| !line.starts_with('#'))
            .map(|l| l.to_owned() + "\n")
            .collect();
        let _ = write!(
            script,
            "if printf %s {} | tic -x - 2>/dev/null; then export TERM=unterm\n\
             else echo 'unterm: tic could not install the terminfo entry here' >&2; fi\n",
            quote::posix(&entry)
        );
    }
    script.push_str(
        "if [ \"$TERM\" = unterm ] && ! infocmp unterm >/dev/null 2>&1; then\n\
         export TERM=xterm-256color\nfi\n\
         d=$(mktemp -d \"${TMPDIR:-/tmp}/unterm.XXXXXX\") || exec \"${SHELL:-/bin/sh}\" -l\n\
         trap 'rm -rf \"$d\"' EXIT\ntrap 'exit 129' HUP TERM\n",
    );
    for (name, text) in SCRIPTS {
        let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
        let text = quote::posix(text);
        let _ = write!(script, "mkdir -p \"$d/{folder}\"\nprintf %s {text} >\"$d/{name}\"\n");
    }
    let _ = write!(
        script,
        "n=\nif [ -t 0 ]; then\n\
         s=$(stty -g) && stty -echo && printf '\\033]1337;UntermNonce={ticket}\\007'\n\
         for i in 1 2 3; do IFS= read -r n || break; case $n in unterm-nonce:*) break ;; esac; done\n\
         stty \"$s\"\nfi\n"
    );
    script.push_str(
        "case $n:${SHELL##*/} in unterm-nonce:*:bash | unterm-nonce:*:zsh | unterm-nonce:*:fish | unterm-nonce:*:nu)\n\
         (umask 077 && printf '%s\\n' \"${n#unterm-nonce:}\" >\"$d/nonce\")\n\
         export UNTERM_NONCE_FILE=\"$d/nonce\" ;;\nesac\n\
         unset n s i\nexport UNTERM_SHELL_INTEGRATION=\"$d\" COLORTERM=truecolor\n\
         case ${SHELL##*/} in\n\
         bash) UNTERM_BASH_INJECT=1 UNTERM_BASH_ENV=${ENV-} POSIXLY_CORRECT=1 \
         ENV=$d/bash/unterm.bash \"$SHELL\" -l ;;\n\
         zsh) [ -z \"${ZDOTDIR+x}\" ] || export UNTERM_ZDOTDIR=\"$ZDOTDIR\"\n\
         ZDOTDIR=$d/zsh \"$SHELL\" -l ;;\n\
         fish | nu) XDG_DATA_DIRS=$d:${XDG_DATA_DIRS:-/usr/local/share:/usr/share} \"$SHELL\" -l ;;\n\
         *) \"${SHELL:-/bin/sh}\" -l ;;\n\
         esac\n",
    );
    script
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;

    #[test]
    fn a_login_is_distinguished_from_other_uses_of_ssh() {
        let is_login =
            |line: &str| is_login(&line.split(' ').map(String::from).collect::<Vec<_>>());
        for line in [
            "host",
            "me@host",
            "-p 22 host",
            "-p22 -tA host",
            "-Ap 22 host -v",
            "-o User=me host -i key",
            "-- host",
        ] {
            assert!(is_login(line), "{line}");
        }
        for line in [
            "host ls",
            "-p 22 host -v ls -l",
            "-N host",
            "-fN host",
            "-p 22",
            "-V",
            "-vO exit host",
        ] {
            assert!(!is_login(line), "{line}");
        }
    }

    /// The value of `TERM` in a shell that is started by a login with `TERM=unterm`.
    fn term_after_login(home: &Path, terminfo: bool) -> String {
        let shell = home.join("bash");
        fs::write(&shell, "#!/bin/sh\necho \"$TERM\"\n").unwrap();
        fs::set_permissions(&shell, fs::Permissions::from_mode(0o755)).unwrap();
        let output = Command::new("sh")
            .args(["-c", &remote_command("abc", terminfo)])
            .env("SHELL", &shell)
            .env("TMPDIR", home)
            .env("TERMINFO", home.join("terminfo"))
            .env("TERMINFO_DIRS", home)
            .env("HOME", home)
            .env("TERM", "unterm")
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    #[test]
    fn the_terminfo_entry_is_installed_if_asked_for() {
        let home = tempfile::tempdir().unwrap();
        // Without its terminfo entry, programs on the other machine would not start.
        assert_eq!(term_after_login(home.path(), false), "xterm-256color\n");
        if std::env::var_os("UNTERM_NEEDS_ALL").is_none() && Command::new("tic").output().is_err() {
            return eprintln!("passed over: there is no tic");
        }
        assert_eq!(term_after_login(home.path(), true), "unterm\n");
        assert!(home.path().join("terminfo/u/unterm").exists());
        assert_eq!(term_after_login(home.path(), false), "unterm\n");
    }

    /// Linux limits a single argument to 128 KiB.
    #[test]
    fn the_command_fits_into_an_argument() {
        let length = remote_command(&"x".repeat(64), true).len();
        assert!(length < 120 << 10, "{length} bytes");
    }

    #[test]
    fn the_login_shell_finds_its_script_and_the_folder_goes_with_it() {
        let home = tempfile::tempdir().unwrap();
        // This script replaces bash, and prints how it was started.
        let shell = home.path().join("bash");
        fs::write(
            &shell,
            "#!/bin/sh\necho \"$1 ${UNTERM_NONCE_FILE-none} $POSIXLY_CORRECT\"\n\
             sed -n 1p \"$ENV\"\nls \"$UNTERM_SHELL_INTEGRATION\"\nexit 3\n",
        )
        .unwrap();
        fs::set_permissions(&shell, fs::Permissions::from_mode(0o755)).unwrap();
        let command = remote_command("abc", false);
        // Run the command in the login shell, as sshd does.
        for reader in ["sh", "bash", "fish"] {
            let run = Command::new(reader)
                .args(["-c", &command])
                .env("SHELL", &shell)
                .env("TMPDIR", home.path())
                .env("HOME", home.path())
                // Without a terminal, no nonce arrives.
                .stdin(std::process::Stdio::null())
                .output();
            let Ok(output) = run else { continue };
            let printed = String::from_utf8(output.stdout).unwrap();
            let expected = format!(
                "-l none 1\n{}\nbash\nfish\nnushell\npwsh\nzsh\n",
                SCRIPTS[0].1.lines().next().unwrap()
            );
            assert_eq!(printed, expected, "{reader}");
            assert_eq!(output.status.code(), Some(3), "{reader}");
            let left = fs::read_dir(home.path()).unwrap().flatten().map(|entry| entry.file_name());
            let left: Vec<_> =
                left.filter(|name| name.to_string_lossy().contains("unterm.")).collect();
            assert!(left.is_empty(), "{reader}: {left:?}");
        }
    }
}
