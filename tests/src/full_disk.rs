//! A disk without room for Unterm's home: a small, full file system in a mount namespace of the process. If mounting is
//! not allowed, a limit makes every write to a file fail instead.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result};

/// A script that fills the file system at `$0`, and runs a program. The program has the shell's process id.
const FILLED: &str = r#"
mount -t tmpfs -o size=64k tmpfs "$0" || exit 99
cat /dev/zero > "$0/filler" 2> /dev/null
exec "$@"
"#;
/// A script that runs a program that can't write to any file. Its log goes through a pipe, because it can't be a file.
const LIMITED: &str = r#"
trap '' XFSZ
log=/proc/self/fd/2
exec 2> >(exec cat >> "$(readlink "$log")")
ulimit -f 0
exec "$@"
"#;

/// The command that starts a program without room in `home`, which this function creates.
///
/// # Errors
///
/// If the folder can't be created.
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

/// Whether a process can mount its own file system, as root or as root of a new user namespace.
fn can_mount(how: &str, folder: &Path) -> bool {
    let tried = Command::new("unshare")
        .args([how, "mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs"])
        .arg(folder)
        .stderr(Stdio::null())
        .status();
    tried.is_ok_and(|status| status.success())
}
