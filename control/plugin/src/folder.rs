//! Reads a plugin's files without leaving the plugin's folder.

use std::{
    fs::File,
    io::{self, Read},
    os::fd::OwnedFd,
    path::Path,
};

use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat};

use crate::limits::{MANIFEST_BYTES, SOURCE_BYTES};

/// The text of the manifest at `path`.
pub(crate) fn manifest(path: &Path) -> Result<String, String> {
    let file =
        openat(CWD, path, flags(), Mode::empty()).map_err(|error| failed(path, &error.into()))?;
    text(file, MANIFEST_BYTES).map_err(|error| failed(path, &error))
}

/// The text of the file `entrypoint` in the folder of the manifest at `manifest`. Links that lead out of the folder are
/// not followed.
pub(crate) fn source(manifest: &Path, entrypoint: &str) -> Result<String, String> {
    let folder = match manifest.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let shown = folder.join(entrypoint);
    let opened = openat(CWD, folder, flags() | OFlags::DIRECTORY, Mode::empty())
        .map_err(io::Error::from)
        .and_then(|folder| beneath(folder, entrypoint));
    opened.and_then(|file| text(file, SOURCE_BYTES)).map_err(|error| failed(&shown, &error))
}

/// The flags with which all files are opened: opening a FIFO must not block, and a terminal must not become the
/// controlling terminal.
fn flags() -> OFlags {
    OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY
}

/// Opens `path` in `folder`, without leaving it.
fn beneath(folder: OwnedFd, path: &str) -> io::Result<OwnedFd> {
    #[cfg(target_os = "linux")]
    {
        use rustix::{
            fs::{ResolveFlags, openat2},
            io::Errno,
        };
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        match openat2(&folder, path, flags(), Mode::empty(), resolve) {
            // Old kernels do not have this system call, and some containers forbid it.
            Err(Errno::NOSYS | Errno::PERM) => {}
            Err(Errno::XDEV) => return Err(io::Error::other("it leaves the manifest's folder")),
            opened => return Ok(opened?),
        }
    }
    without_links(folder, path)
}

/// Opens `path` in `folder`, one part of the path after the other, without following any link.
fn without_links(mut folder: OwnedFd, path: &str) -> io::Result<OwnedFd> {
    let mut parts = path.split('/').filter(|part| !part.is_empty() && *part != ".").peekable();
    while let Some(part) = parts.next() {
        let kind = if parts.peek().is_some() { OFlags::DIRECTORY } else { OFlags::empty() };
        if part == ".." {
            return Err(io::Error::other("it leaves the manifest's folder"));
        }
        folder = openat(&folder, part, flags() | OFlags::NOFOLLOW | kind, Mode::empty())?;
    }
    Ok(folder)
}

/// The text of a regular file of at most `limit` bytes.
fn text(file: OwnedFd, limit: u64) -> io::Result<String> {
    if FileType::from_raw_mode(fstat(&file)?.st_mode) != FileType::RegularFile {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    File::from(file).take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::other(format!("it is larger than {limit} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8"))
}

fn failed(path: &Path, error: &io::Error) -> String {
    format!("can't read {}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn only_regular_files_in_the_folder_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let outside = folder.path().join("outside.lua");
        let inside = folder.path().join("plugin");
        fs::create_dir_all(inside.join("lib")).expect("a folder");
        fs::write(&outside, "return 1").expect("a file");
        fs::write(inside.join("lib/main.lua"), "return 2").expect("a file");
        fs::write(inside.join("bytes.lua"), [0xff, 0xfe]).expect("a file");
        fs::write(inside.join("large.lua"), vec![b' '; SOURCE_BYTES as usize + 1]).expect("a file");
        symlink("lib/main.lua", inside.join("near.lua")).expect("a link");
        symlink("../outside.lua", inside.join("far.lua")).expect("a link");
        symlink(&outside, inside.join("absolute.lua")).expect("a link");
        symlink("..", inside.join("up")).expect("a link");
        rustix::fs::mkfifoat(CWD, inside.join("pipe.lua"), Mode::RUSR).expect("a pipe");

        let manifest = inside.join("manifest.toml");
        assert_eq!(source(&manifest, "lib/main.lua").as_deref(), Ok("return 2"));
        for (path, reason) in [
            ("far.lua", "leaves the manifest's folder"),
            ("absolute.lua", "leaves the manifest's folder"),
            ("up/outside.lua", "leaves the manifest's folder"),
            ("../outside.lua", "leaves the manifest's folder"),
            ("lib", "not a regular file"),
            ("pipe.lua", "not a regular file"),
            ("bytes.lua", "not UTF-8"),
            ("large.lua", "larger than"),
            ("none.lua", "No such file"),
        ] {
            let error = source(&manifest, path).expect_err(path);
            assert!(error.contains(reason) && error.contains(path), "{error}");
        }
        // Where the kernel can't restrict a path to the folder, no links are followed, not even those within the
        // folder.
        let open = || openat(CWD, &inside, flags() | OFlags::DIRECTORY, Mode::empty()).expect("it");
        assert!(without_links(open(), "./lib//main.lua").is_ok());
        for path in ["near.lua", "far.lua", "up/outside.lua", "../outside.lua"] {
            assert!(without_links(open(), path).is_err(), "{path}");
        }
    }
}
