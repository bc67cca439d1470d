//! Changes files that the user also edits: follows symbolic links, and keeps a backup of the old text.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use unterm_mux::private;

/// The target of a file that may be a symbolic link, for example to a file in a dotfiles folder. The target need not
/// exist yet.
pub fn followed(file: &Path) -> io::Result<PathBuf> {
    // The limit of Linux for symbolic links in a path.
    const MOST_LINKS: usize = 40;
    let mut file = file.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&file) {
            // A relative target is relative to the folder of the link.
            Ok(target) => file = file.parent().unwrap_or(Path::new("/")).join(target),
            Err(_) => return Ok(file),
        }
    }
    Err(io::Error::other("too many symbolic links, or a loop of them"))
}

/// Writes a backup next to a file, under a name that is not used yet. Returns the path of the backup.
pub fn keep(file: &Path, text: &str) -> io::Result<PathBuf> {
    let mut number = 1;
    loop {
        let mut backup = file.as_os_str().to_owned();
        backup.push(".unterm-backup");
        if number > 1 {
            backup.push(format!("-{number}"));
        }
        let backup = PathBuf::from(backup);
        match private::create_file(&backup) {
            Ok(mut kept) => {
                let written = kept
                    .write_all(text.as_bytes())
                    .and_then(|()| kept.set_permissions(fs::metadata(file)?.permissions()));
                if written.is_err() {
                    let _ = fs::remove_file(&backup);
                }
                return written.map(|()| backup);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}
