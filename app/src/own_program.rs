//! The paths of Unterm's programs, as seen by a running program.

use std::{io, path::PathBuf};

/// On Linux, the path of a running program has this suffix after an upgrade has replaced the file.
const REPLACED: &str = " (deleted)";

/// The path of this program. After an upgrade, this is the path of the newer program.
///
/// # Errors
/// Fails if the operating system does not report the path.
pub(crate) fn path() -> io::Result<PathBuf> {
    std::env::current_exe().map(as_installed)
}

/// The path of another program of Unterm, in the folder of this program after resolving symbolic links.
///
/// # Errors
/// Fails in the same case as [`path`].
pub(crate) fn beside(name: &str) -> io::Result<PathBuf> {
    let own = path()?;
    let own = own.canonicalize().unwrap_or(own);
    Ok(own.with_file_name(format!("{name}{}", std::env::consts::EXE_SUFFIX)))
}

/// Whether an upgrade has replaced the file of this program, and the newer program exists.
pub(crate) fn is_replaced() -> bool {
    std::env::current_exe().is_ok_and(|path| {
        let installed = as_installed(path.clone());
        installed != path && installed.exists()
    })
}

fn as_installed(path: PathBuf) -> PathBuf {
    match path.to_str().and_then(|path| path.strip_suffix(REPLACED)) {
        Some(installed) => installed.into(),
        None => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upgraded_program_is_found_by_its_name() {
        for path in ["/usr/bin/unterm (deleted)", "/usr/bin/unterm"] {
            assert_eq!(as_installed(path.into()), PathBuf::from("/usr/bin/unterm"));
        }
    }
}
