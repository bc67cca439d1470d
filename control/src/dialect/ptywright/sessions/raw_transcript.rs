//! A file that contains a session's output, byte for byte.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use rustix::fs::{CWD, Mode, OFlags};

/// A file to which output is appended. If this type created the file, only the file's owner can read it.
pub struct RawTranscript {
    file: File,
    path: PathBuf,
    /// Whether this value created the file.
    is_new: bool,
}

impl RawTranscript {
    /// Creates the file, or opens an existing one for appending. A link is never followed.
    ///
    /// # Errors
    /// The file exists and `appends` is false, the file is not a regular file, or it can't be opened.
    pub fn open(path: &Path, appends: bool) -> io::Result<Self> {
        let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
        let new = || {
            let flags = flags | OFlags::CREATE | OFlags::EXCL;
            rustix::fs::openat(CWD, path, flags, Mode::RUSR | Mode::WUSR)
        };
        let (file, is_new) = match (new(), appends) {
            (Err(rustix::io::Errno::EXIST), true) => {
                // NONBLOCK: opening a pipe without a reader must not block.
                let flags = flags | OFlags::APPEND | OFlags::NONBLOCK;
                (rustix::fs::openat(CWD, path, flags, Mode::empty())?, false)
            }
            (opened, _) => (opened?, true),
        };
        let file = File::from(file);
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("it is no regular file"));
        }
        Ok(Self { file, path: path.to_owned(), is_new })
    }

    /// Appends bytes. May block.
    ///
    /// # Errors
    /// The disk does not accept the bytes.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        io::Write::write_all(&mut self.file, bytes)
    }

    /// Removes the file, if this value created it.
    pub fn discard(self) {
        if self.is_new {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;

    #[test]
    fn a_file_is_its_owners_and_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("raw");
        let mut raw = RawTranscript::open(&path, false).unwrap();
        raw.write(b"one\xff").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let error = RawTranscript::open(&path, false).err().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let mut more = RawTranscript::open(&path, true).unwrap();
        more.write(b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one\xfftwo");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        more.discard();
        assert!(path.exists(), "it was there before");
        raw.discard();
        assert!(!path.exists());
        let appended = RawTranscript::open(&path, true).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        drop(appended);
    }

    #[test]
    fn links_pipes_and_folders_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        std::os::unix::fs::symlink(&target, &link).unwrap();
        for appends in [false, true] {
            assert!(RawTranscript::open(&link, appends).is_err());
            assert!(RawTranscript::open(folder.path(), appends).is_err());
        }
        assert!(!target.exists());
        fs::write(&target, "").unwrap();
        assert!(RawTranscript::open(&link, true).is_err());
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert!(RawTranscript::open(&pipe, true).is_err());
    }
}
