//! A disk without room for Unterm's home: a small file system of the process's own, filled; where none may be mounted, a limit
//! that makes every write to a file fail.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result};

/// Fills the file system on `$0` and runs a program; its process is that of the shell.
const FILLED: &str = r#"
mount -t tmpfs -o size=64k tmpfs "$0" || exit 99
cat /dev/zero > "$0/filler" 2> /dev/null
exec "$@"
"#;
/// Runs a program that can write to no file. The log is no file then, but a pipe to one.
const LIMITED: &str = r#"
trap '' XFSZ
log=/proc/self/fd/2
exec 2> >(exec cat >> "$(readlink "$log")")
ulimit -f 0
exec "$@"
"#;

/// The command that starts a program for which `home`, which is made, has no room.
///
/// # Errors
///
/// When the folder can't be made.
pub(crate) fn command(program: &Path, home: &Path) -> Result<Command> {
    fs::create_dir_all(home).with_context(|| home.display().to_string())?;
    let unshare = ["-m", "-rm"].into_iter().find(|how| can_mount(how, home));
    let mut command = match unshare {
        Some(how) => {
            let mut command = Command::new("unshare");
            command.args([how, "bash", "-c", FILLED]);
            command
        }
        None => {
            let mut command = Command::new("bash");
            command.args(["-c", LIMITED]);
            command
        }
    };
    command.arg(home).arg(program);
    Ok(command)
}

/// Whether a process can have a file system of its own, as root or as root of a user namespace of its own.
fn can_mount(how: &str, folder: &Path) -> bool {
    let tried = Command::new("unshare")
        .args([how, "mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs"])
        .arg(folder)
        .stderr(Stdio::null())
        .status();
    tried.is_ok_and(|status| status.success())
}
