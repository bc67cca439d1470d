//! `unterm-cli ssh`: a login shell on another machine with the shell integration of this pane.
//!
//! Everything is given on to ssh, with a command behind it that puts the scripts into a folder of their own there, starts
//! the login shell so that it reads them, and takes the folder away when that ends.

use std::{fmt::Write, process::Command};

use anyhow::{Context, Result, bail};
use base64::{Engine, prelude::BASE64_STANDARD};
use unterm_mux::SCRIPTS;

/// Becomes ssh.
///
/// # Errors
/// When it can't be started, or this is no pane with shell integration.
pub fn run(args: &[String]) -> Result<std::process::ExitCode> {
    let Ok(nonce) = std::env::var("UNTERM_NONCE") else {
        bail!("UNTERM_NONCE is not set: this is no pane of Unterm, or shell.integration is off");
    };
    let mut ssh = Command::new("ssh");
    ssh.arg("-t").args(args).arg(remote_command(&nonce));
    #[cfg(unix)]
    {
        let error = std::os::unix::process::CommandExt::exec(&mut ssh);
        Err(error).context("ssh can't be started")
    }
    #[cfg(not(unix))]
    {
        let status = ssh.status().context("ssh can't be started")?;
        Ok(u8::try_from(status.code().unwrap_or(255)).unwrap_or(255).into())
    }
}

/// The command for the other machine. Whatever shell reads it there finds one word in quotes without quotes or
/// backslashes in it, which every shell reads alike.
fn remote_command(nonce: &str) -> String {
    let script = BASE64_STANDARD.encode(script(nonce));
    format!("exec sh -c 'eval \"$(echo {script} | base64 -d)\"'")
}

/// What sh does there. Without a folder it is a plain login shell.
fn script(nonce: &str) -> String {
    let mut script = String::from(
        "d=$(mktemp -d \"${TMPDIR:-/tmp}/unterm.XXXXXX\") || exec \"${SHELL:-/bin/sh}\" -l\n\
         trap 'rm -rf \"$d\"' EXIT\ntrap 'exit 129' HUP TERM\n",
    );
    for (name, text) in SCRIPTS {
        let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
        let text = text.replace('\'', r"'\''");
        let _ = write!(script, "mkdir -p \"$d/{folder}\"\nprintf %s '{text}' >\"$d/{name}\"\n");
    }
    let _ = writeln!(
        script,
        "export UNTERM_NONCE='{}' UNTERM_SHELL_INTEGRATION=\"$d\" COLORTERM=truecolor",
        nonce.replace('\'', "")
    );
    script.push_str(
        "case ${SHELL##*/} in\n\
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
    fn the_login_shell_finds_its_script_and_the_folder_goes_with_it() {
        let home = tempfile::tempdir().unwrap();
        // In the place of bash: it says what it was started with.
        let shell = home.path().join("bash");
        fs::write(
            &shell,
            "#!/bin/sh\necho \"$1 $UNTERM_NONCE $POSIXLY_CORRECT\"\n\
             sed -n 1p \"$ENV\"\nls \"$UNTERM_SHELL_INTEGRATION\"\nexit 3\n",
        )
        .unwrap();
        fs::set_permissions(&shell, fs::Permissions::from_mode(0o755)).unwrap();
        let command = remote_command("abc");
        // As the login shell that sshd gives it to.
        for reader in ["sh", "bash", "fish"] {
            let run = Command::new(reader)
                .args(["-c", &command])
                .env("SHELL", &shell)
                .env("TMPDIR", home.path())
                .env("HOME", home.path())
                .output();
            let Ok(output) = run else { continue };
            let printed = String::from_utf8(output.stdout).unwrap();
            let expected = format!(
                "-l abc 1\n{}\nbash\nfish\nnushell\npwsh\nzsh\n",
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
