//! Opening what a hyperlink (OSC 8) points to.

use std::process::{Command, Stdio};

/// Schemes that are opened. A program chooses the target, so nothing that runs code is among them.
const SCHEMES: [&str; 6] = ["http", "https", "mailto", "ftp", "gemini", "file"];

/// Opens a link with the desktop's program for it, without a shell.
///
/// # Errors
/// A sentence that says why not: a scheme that is not opened, or the opener's own error.
pub(crate) fn open(uri: &str) -> Result<(), String> {
    let scheme = uri.split_once(':').map_or("", |(scheme, _)| scheme).to_ascii_lowercase();
    if !SCHEMES.contains(&scheme.as_str()) {
        return Err(format!("the link {uri:?} is not opened: only {} are", SCHEMES.join(", ")));
    }
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let child = Command::new(opener)
        .arg(uri)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("the link {uri:?} can't be opened: {opener}: {error}"))?;
    // The opener ends by itself; someone has to collect it.
    std::thread::Builder::new()
        .name("link-opener".to_owned())
        .spawn(move || {
            let mut child = child;
            let _ = child.wait();
        })
        .map(drop)
        .map_err(|error| format!("no thread for {opener}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheme_that_could_run_code_is_refused() {
        for uri in ["javascript:alert(1)", "vscode://x", "-e", "", "ssh://host", "data:text/html,x"]
        {
            assert!(open(uri).is_err(), "{uri}");
        }
    }
}
