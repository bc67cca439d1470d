//! Files and folders that nobody but their owner can read: modes 0600 and 0700.
//!
//! Knows nothing of what is in them.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Write as _},
    path::Path,
};

/// Makes a folder and those above it that are missing; one that is there stays as it is.
///
/// # Errors
/// When it can't be made.
pub fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Makes a file, to be written.
///
/// # Errors
/// When it is there already, or can't be made.
pub fn create_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Puts a file with these bytes in the place of `path`, as [`replace`] does, and waits until they are on the disk.
///
/// # Errors
/// When it can't be written; what stood there is then as it was.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(path, |file| {
        file.write_all(bytes)?;
        file.sync_all()
    })
}

/// Puts a file, which `write` fills, in the place of `path`: by way of a temporary file beside it, so that nobody reads half
/// of it. To be called by one thread of the process at a time for one path.
///
/// # Errors
/// When it can't be written; what stood there is then as it was.
pub fn replace(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    // Left by a process of the same pid that was killed while it wrote.
    let _ = fs::remove_file(&temporary);
    let result = create_file(&temporary)
        .and_then(|mut file| write(&mut file))
        .and_then(|()| fs::rename(&temporary, path));
    if result.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    result
}
