//! Files below a pane's working directory: read in parts and written as a whole.
//!
//! A path consists of plain names. Below the directory, links are never followed, even if a link is created during the
//! call. Only regular files of this user are opened. The directory is the working directory of the pane's shell,
//! according to the system. Directories that programs report are ignored, because a program could report any directory.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom},
    path::{Component, Path, PathBuf},
};

use unterm_mux::{Pane, is_carrier, private::Folder};

/// The maximum number of bytes that one call reads.
pub const MOST_READ: u64 = 1 << 20;
/// The maximum number of bytes that one call writes.
pub const MOST_WRITTEN: usize = 8 << 20;

/// A file below a pane's directory.
#[derive(Debug)]
pub struct PaneFile {
    directory: PathBuf,
    folder: Folder,
    name: String,
}

/// Part of a file.
pub struct FilePart {
    /// The bytes of the part.
    pub bytes: Vec<u8>,
    /// The size of the whole file in bytes.
    pub size: u64,
}

/// The working directory of a pane's shell on this machine.
///
/// # Errors
/// The pane shows another machine, or its directory is unknown. A message for callers.
pub fn directory(pane: &Pane) -> Result<PathBuf, String> {
    let process = pane.process();
    let foreground = pane.foreground();
    if foreground.is_some_and(|process| is_carrier(&process.name)) {
        return Err("it shows another terminal, so that its directory is not known here".to_owned());
    }
    let directory = process.shell_cwd().or_else(|| process.cwd());
    directory.ok_or_else(|| "its directory is unknown, because its program has ended".to_owned())
}

impl PaneFile {
    /// The file at a path, which is relative to the directory, or absolute and below it. `makes`: whether to create
    /// missing folders.
    ///
    /// # Errors
    /// The path leads out of the directory, or through something that is not a folder of this user. A message for
    /// callers.
    pub fn find(directory: PathBuf, path: &str, makes: bool) -> Result<Self, String> {
        let shown = directory.display();
        let out = || format!("{path:?} is not below the directory {shown}");
        let given = Path::new(path);
        let below = match given.is_absolute() {
            true => given.strip_prefix(&directory).map_err(|_| out())?,
            false => given,
        };
        let mut names = Vec::new();
        for part in below.components() {
            match part {
                Component::Normal(name) => names.push(name),
                Component::CurDir => {}
                _ => return Err(out()),
            }
        }
        let name = names.pop().and_then(|name| name.to_str());
        let name = name.filter(|_| !path.ends_with('/'));
        let name = name.ok_or_else(|| format!("{path:?} names no file"))?.to_owned();
        let folder: PathBuf = names.into_iter().collect();
        let failed = |error: io::Error| format!("{path:?}: {error}");
        let root = Folder::open(&directory).map_err(failed)?;
        let folder = match makes {
            true => root.make(&folder),
            false => root.below(&folder),
        };
        Ok(Self { folder: folder.map_err(failed)?, name, directory })
    }

    /// The pane's directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Reads at most `most` bytes, starting at `offset`.
    ///
    /// # Errors
    /// The file is missing, a link, not a regular file, or another user's. A message for callers.
    pub fn read(&self, offset: u64, most: u64) -> Result<FilePart, String> {
        let read = || -> io::Result<FilePart> {
            let mut file: File = self.folder.file(&self.name)?;
            let size = file.metadata()?.len();
            file.seek(SeekFrom::Start(offset))?;
            let mut bytes = Vec::new();
            file.take(most.min(MOST_READ)).read_to_end(&mut bytes)?;
            Ok(FilePart { bytes, size })
        };
        read().map_err(|error| self.failed(&error))
    }

    /// Replaces the content of the file, or appends to it. The file changes atomically: a reader gets the old or the
    /// new content. An existing file keeps its permissions. Returns whether the file is new.
    ///
    /// # Errors
    /// The name is taken by something other than a file of this user, or the file can't be written. A message for
    /// callers.
    pub fn write(&self, bytes: &[u8], appends: bool) -> Result<bool, String> {
        let write = || -> io::Result<bool> {
            let before = match self.folder.file(&self.name) {
                Ok(file) => Some(file),
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(error) => return Err(error),
            };
            let is_new = before.is_none();
            let mut whole = Vec::new();
            if let (true, Some(mut file)) = (appends, before) {
                if file.metadata()?.len() + bytes.len() as u64 > MOST_WRITTEN as u64 {
                    let why = format!("it would have more than {MOST_WRITTEN} bytes");
                    return Err(io::Error::other(why));
                }
                file.read_to_end(&mut whole)?;
            }
            whole.extend_from_slice(bytes);
            self.folder.rewrite(&self.name, &whole)?;
            Ok(is_new)
        };
        write().map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &io::Error) -> String {
        let why = match error.raw_os_error() {
            // The system returns this error for a link that must not be followed.
            Some(code) if code == rustix::io::Errno::LOOP.raw_os_error() => {
                "it is a link, which is not followed".to_owned()
            }
            _ => error.to_string(),
        };
        format!("{:?} in {}: {why}", self.name, self.directory.display())
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    use super::*;

    #[test]
    fn a_file_is_below_the_directory_and_no_link_leads_out() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let (inside, outside) = (home.join("inside"), home.join("outside"));
        fs::create_dir_all(inside.join("sub")).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("secret"), "secret").unwrap();
        fs::write(inside.join("sub/file"), "0123456789").unwrap();
        std::os::unix::fs::symlink(&outside, inside.join("link")).unwrap();
        std::os::unix::fs::symlink(outside.join("secret"), inside.join("secret")).unwrap();
        let find = |path: &str| PaneFile::find(inside.clone(), path, false);
        for path in ["sub/file", "./sub/file", inside.join("sub/file").to_str().unwrap()] {
            let part = find(path).unwrap().read(3, 4).unwrap();
            assert_eq!((part.bytes.as_slice(), part.size), (&b"3456"[..], 10), "{path}");
        }
        for (path, why) in [
            ("../outside/secret", "is not below the directory"),
            ("sub/../../outside/secret", "is not below the directory"),
            (outside.join("secret").to_str().unwrap(), "is not below the directory"),
            ("link/secret", "it is a link, or no folder"),
            ("sub/", "names no file"),
            (".", "names no file"),
            ("", "names no file"),
            ("nowhere/file", "No such file"),
        ] {
            let refused = find(path).unwrap_err();
            assert!(refused.contains(why), "{path}: {refused}");
        }
        for (path, why) in
            [("secret", "it is a link"), ("sub", "no regular file"), ("none", "No such")]
        {
            let place = find(path).unwrap();
            let refused = place.read(0, 9).map(|part| part.size).unwrap_err();
            assert!(refused.contains(why), "{path}: {refused}");
            if path != "none" {
                let refused = place.write(b"mine", false).unwrap_err();
                assert!(refused.contains(why), "{path}: {refused}");
            }
        }
        assert_eq!(fs::read_to_string(outside.join("secret")).unwrap(), "secret");
    }

    #[test]
    fn a_file_is_written_whole_and_keeps_its_permissions() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("new/folder/script");
        let place = PaneFile::find(home.path().to_owned(), "new/folder/script", true).unwrap();
        assert_eq!(place.write(b"one\n", false), Ok(true));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).unwrap();
        assert_eq!(place.write(b"two\n", false), Ok(false));
        assert_eq!(place.write(b"three\n", true), Ok(false));
        assert_eq!(fs::read_to_string(&path).unwrap(), "two\nthree\n");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o750);
        let names = fs::read_dir(path.parent().unwrap()).unwrap().count();
        assert_eq!(names, 1, "nothing is left beside it");
    }
}
