//! Opening what a link points to.

use std::{
    path::PathBuf,
    process::{Command, Stdio},
};

/// Opens a link with the desktop's program for it, without a shell, and waits for that to have taken it: not for the
/// window's own thread. `schemes` are those that are opened. A program chooses the target, so a file is opened only
/// where it is of this machine and does not run by being opened.
///
/// # Errors
/// A sentence that says why not: a scheme or a file that is not opened, or the opener's own error.
pub fn open(uri: &str, schemes: &[String]) -> Result<(), String> {
    let scheme = uri.split_once(':').map_or("", |(scheme, _)| scheme).to_ascii_lowercase();
    if !schemes.iter().any(|one| one.eq_ignore_ascii_case(&scheme)) || scheme.is_empty() {
        return Err(format!(
            "The link is not opened: {uri}\nOnly {} are; links.schemes in the configuration lists them.",
            schemes.join(", ")
        ));
    }
    if scheme == "file" {
        local_file(uri)?;
    }
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut child = Command::new(opener)
        .arg(uri)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("The link can't be opened: {uri}\n{opener}: {error}"))?;
    match child.wait() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(format!("No program opened the link: {uri}\n{opener} found none.")),
        Err(error) => Err(format!("The link can't be opened: {uri}\n{opener}: {error}")),
    }
}

/// Whether a `file:` URI names something of this machine that is only looked at.
fn local_file(uri: &str) -> Result<(), String> {
    let Some(path) = unterm_mux::local_path(uri) else {
        return Err(format!("The link is not opened: {uri}\nIt names a file of another machine."));
    };
    if is_program(&path) {
        return Err(format!("The link is not opened: {uri}\nIt names a program."));
    }
    Ok(())
}

fn is_program(path: &PathBuf) -> bool {
    let launches = path.extension().is_some_and(|end| {
        ["desktop", "app", "command", "exe", "bat", "cmd", "jar", "appimage"]
            .iter()
            .any(|one| end.eq_ignore_ascii_case(one))
    });
    #[cfg(unix)]
    let runs = {
        use std::os::unix::fs::PermissionsExt;
        std::fs::metadata(path)
            .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    #[cfg(not(unix))]
    let runs = false;
    launches || runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(uri: &str) -> String {
        let schemes = ["https".to_owned(), "file".to_owned()];
        open(uri, &schemes).unwrap_err()
    }

    #[test]
    fn a_scheme_that_could_run_code_is_refused() {
        for uri in ["javascript:alert(1)", "vscode://x", "-e", "", "ssh://host", "data:text/html,x"]
        {
            assert!(refused(uri).contains("links.schemes"), "{uri}");
        }
    }

    #[test]
    fn a_file_elsewhere_and_a_program_are_refused() {
        assert!(refused("file://elsewhere.example/etc/motd").contains("another machine"));
        assert!(refused("file:///bin/sh").contains("program"));
        assert!(refused("file:///tmp/x.desktop").contains("program"));
    }
}
