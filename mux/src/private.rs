//! Files and folders that only their owner can access (modes 0600 and 0700). Also opens files safely in places where
//! other users may have put a link, a pipe or a device.
//!
//! Never interprets the contents.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Read as _, Write as _},
    os::{fd::OwnedFd, unix::fs::MetadataExt as _},
    path::{Component, Path},
};

use rustix::fs::{AtFlags, CWD, Mode, OFlags};

use crate::random;

/// The message about a pipe, a device or a folder in the place of a file.
const NOT_REGULAR: &str = "it is no regular file";

/// The flags for opening a file to read. Opening a pipe must not wait, and a terminal must not become the controlling
/// terminal of this process.
const READS: OFlags =
    OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// Creates a folder and its missing parents. Existing folders keep their modes.
///
/// # Errors
/// If the folder cannot be created.
pub fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Creates a file for writing.
///
/// # Errors
/// If the file exists or cannot be created.
pub fn create_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Replaces `path` with a file of these bytes like [`replace`], and waits until they are on the disk.
///
/// # Errors
/// If the file cannot be written. The old file then stays unchanged.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(path, |file| {
        file.write_all(bytes)?;
        file.sync_all()
    })
}

/// Replaces `path` with a file that `write` fills. Writes a temporary file in the same folder first, so that no reader
/// sees an incomplete file. Only one thread of the process may call it for the same path at the same time.
///
/// # Errors
/// If the file cannot be written. The old file then stays unchanged.
pub fn replace(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = path.with_file_name(temporary(&name));
    // A killed process with the same pid may have left a temporary file of this name.
    let _ = fs::remove_file(&temporary);
    let result = create_file(&temporary)
        .and_then(|mut file| write(&mut file))
        .and_then(|()| fs::rename(&temporary, path));
    if result.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    result
}

/// The name of the temporary file beside `name`: `.NAME.PID.tmp`.
fn temporary(name: &str) -> String {
    format!(".{name}.{}.tmp", std::process::id())
}

/// Opens a file for appending, and creates it (mode 0600) if it is missing.
///
/// # Errors
/// If the file cannot be opened, or is not a regular file of the user.
pub fn append(path: &Path) -> io::Result<File> {
    open_to_write(path, OFlags::APPEND)
}

/// Opens a file for writing or locking, and creates it (mode 0600) if it is missing. The contents stay.
///
/// # Errors
/// If the file cannot be opened, or is not a regular file of the user.
pub fn open_or_create(path: &Path) -> io::Result<File> {
    open_to_write(path, OFlags::empty())
}

fn open_to_write(path: &Path, flags: OFlags) -> io::Result<File> {
    // NONBLOCK: opening a pipe would otherwise wait for a reader.
    let flags = flags
        | OFlags::WRONLY
        | OFlags::CREATE
        | OFlags::NONBLOCK
        | OFlags::NOCTTY
        | OFlags::CLOEXEC;
    match rustix::fs::openat(CWD, path, flags, Mode::RUSR | Mode::WUSR) {
        // A pipe without a reader.
        Err(rustix::io::Errno::NXIO) => Err(io::Error::other(NOT_REGULAR)),
        file => regular(file?),
    }
}

/// Removes the temporary files that processes have left in a folder and its subfolders because they ended too early.
/// Looks at a limited number of entries, those of the upper folders first.
///
/// # Errors
/// If the folder cannot be read. Other folders that cannot be read, and files that cannot be removed, are ignored.
pub fn remove_leftovers(folder: &Path, is_live: impl Fn(u32) -> bool) -> io::Result<()> {
    /// The number of folders that a folder may be below the given one.
    const DEEPEST: usize = 4;
    const MOST_ENTRIES: usize = 20_000;
    let mut left = MOST_ENTRIES;
    let mut folders = vec![fs::read_dir(folder)?];
    for _ in 0..=DEEPEST {
        let mut below = Vec::new();
        for entry in folders.into_iter().flatten().flatten() {
            left = left.saturating_sub(1);
            if left == 0 {
                return Ok(());
            }
            // A link is neither a file nor a folder.
            let kind = entry.file_type();
            if kind.as_ref().is_ok_and(fs::FileType::is_dir) {
                below.push(entry.path());
                continue;
            }
            let name = entry.file_name();
            let parts = name.to_str().and_then(|name| name.strip_prefix('.')?.strip_suffix(".tmp"));
            let pid = parts.and_then(|parts| parts.rsplit_once('.')?.1.parse().ok());
            if pid.is_some_and(|pid| !is_live(pid)) && kind.is_ok_and(|kind| kind.is_file()) {
                let _ = fs::remove_file(entry.path());
            }
        }
        folders = below.iter().filter_map(|folder| fs::read_dir(folder).ok()).collect();
    }
    Ok(())
}

/// Reads a file of at most `longest` bytes. Follows links, so use it only in folders that other users cannot change.
///
/// # Errors
/// If the file cannot be read, is not a regular file of the user, or is longer than `longest`.
pub fn read(path: &Path, longest: u64) -> io::Result<Vec<u8>> {
    read_whole(regular(rustix::fs::openat(CWD, path, READS, Mode::empty())?)?, longest)
}

/// Like [`read`], but the file may belong to another user: a file in `/etc` or in a package, or a link to such a file.
///
/// # Errors
/// If the file cannot be read, is not a regular file, or is longer than `longest`.
pub fn read_of_anyone(path: &Path, longest: u64) -> io::Result<Vec<u8>> {
    read_whole(open_of_anyone(path)?, longest)
}

/// Like [`read_of_anyone`], but returns text.
///
/// # Errors
/// Like [`read_of_anyone`]. Also if the file is not UTF-8.
pub fn read_text_of_anyone(path: &Path, longest: u64) -> io::Result<String> {
    let bytes = read_of_anyone(path, longest)?;
    String::from_utf8(bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
}

/// Opens a regular file of any user for reading. Never waits, even if the path is a pipe.
///
/// # Errors
/// If the file cannot be opened or is not a regular file.
pub fn open_of_anyone(path: &Path) -> io::Result<File> {
    let file = File::from(rustix::fs::openat(CWD, path, READS, Mode::empty())?);
    is_regular(&file)?;
    Ok(file)
}

fn read_whole(file: File, longest: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(longest + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > longest {
        return Err(io::Error::other(format!("it is longer than {longest} bytes")));
    }
    Ok(bytes)
}

/// Returns the opened file if it is a regular file that the user owns.
fn regular(file: OwnedFd) -> io::Result<File> {
    let file = File::from(file);
    is_own(is_regular(&file)?.uid())?;
    Ok(file)
}

fn is_regular(file: &File) -> io::Result<fs::Metadata> {
    let metadata = file.metadata()?;
    match metadata.is_file() {
        true => Ok(metadata),
        false => Err(io::Error::other(NOT_REGULAR)),
    }
}

fn is_own(uid: u32) -> io::Result<()> {
    let own = rustix::process::geteuid().as_raw();
    if uid != own {
        let why = format!("it belongs to user {uid}, not to user {own}");
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    Ok(())
}

/// An open folder. Access below it never follows links, even links that are created later.
#[derive(Debug)]
pub struct Folder(OwnedFd);

impl Folder {
    const FLAGS: OFlags = OFlags::DIRECTORY.union(OFlags::RDONLY).union(OFlags::CLOEXEC);

    /// Opens a folder that the user named. Follows links in the path to the folder.
    ///
    /// # Errors
    /// If there is no such folder.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(rustix::fs::openat(CWD, path, Self::FLAGS, Mode::empty())?))
    }

    /// Opens a folder below this one, by a path of plain names.
    ///
    /// # Errors
    /// If a part of the path is missing, a link, not a folder, or owned by another user.
    pub fn below(&self, path: &Path) -> io::Result<Self> {
        self.walk(path, false)
    }

    /// Like [`Folder::below`], but creates missing folders.
    ///
    /// # Errors
    /// Like [`Folder::below`]. Also if a folder cannot be created.
    pub fn make(&self, path: &Path) -> io::Result<Self> {
        self.walk(path, true)
    }

    fn walk(&self, path: &Path, makes: bool) -> io::Result<Self> {
        let mut folder = Self(self.0.try_clone()?);
        for part in path.components() {
            let Component::Normal(name) = part else {
                return Err(io::Error::other(format!(
                    "{} is no path of plain names",
                    path.display()
                )));
            };
            let named = |error: io::Error| {
                let name = Path::new(name).display();
                io::Error::new(error.kind(), format!("{name}: {error}"))
            };
            if makes {
                match rustix::fs::mkdirat(&folder.0, name, Mode::RWXU) {
                    Ok(()) | Err(rustix::io::Errno::EXIST) => {}
                    Err(error) => return Err(named(error.into())),
                }
            }
            let opened =
                rustix::fs::openat(&folder.0, name, Self::FLAGS | OFlags::NOFOLLOW, Mode::empty());
            let file = File::from(opened.map_err(|error| match error {
                // If the name is a link, the system's messages are "not a directory" or "too many levels", which would
                // mislead the user.
                rustix::io::Errno::LOOP | rustix::io::Errno::NOTDIR => {
                    named(io::Error::other("it is a link, or no folder"))
                }
                error => named(error.into()),
            })?);
            is_own(file.metadata()?.uid()).map_err(named)?;
            folder = Self(file.into());
        }
        Ok(folder)
    }

    /// Opens a regular file of this folder that the user owns. Refuses a file with a second hard link, because its
    /// other name may be outside the folder.
    ///
    /// # Errors
    /// If the file is missing, is a link, or is not such a file.
    pub fn file(&self, name: &str) -> io::Result<File> {
        let flags = READS | OFlags::NOFOLLOW;
        let file = regular(rustix::fs::openat(&self.0, name, flags, Mode::empty())?)?;
        if file.metadata()?.nlink() > 1 {
            return Err(io::Error::other("it has a second name (a hard link)"));
        }
        Ok(file)
    }

    /// Reads a file of this folder that has at most `longest` bytes.
    ///
    /// # Errors
    /// Like [`Folder::file`]. Also if the file is longer than `longest`.
    pub fn read(&self, name: &str, longest: u64) -> io::Result<Vec<u8>> {
        read_whole(self.file(name)?, longest)
    }

    /// Creates a file in this folder for writing.
    ///
    /// # Errors
    /// If the name exists or the file cannot be created.
    pub fn create(&self, name: &str) -> io::Result<File> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(&self.0, name, flags, Mode::RUSR | Mode::WUSR)?.into())
    }

    /// Replaces the contents of a regular file that the user owns, and keeps its permissions. If there is no such file,
    /// creates one with default permissions.
    ///
    /// # Errors
    /// If the name belongs to something other than a regular file of the user, or if the file cannot be written. The
    /// old file then stays unchanged.
    pub fn rewrite(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mode = match self.file(name) {
            Ok(file) => Some(Mode::from_raw_mode(file.metadata()?.mode() & 0o7777)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let temporary = format!(".{}.unterm", random::hex()?);
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // The system removes the permissions that the user's umask excludes.
        let anew = Mode::from_raw_mode(0o666);
        let create = || -> io::Result<()> {
            let created = rustix::fs::openat(&self.0, &temporary, flags, anew)?;
            let mut file = File::from(created);
            file.write_all(bytes)?;
            if let Some(mode) = mode {
                rustix::fs::fchmod(&file, mode)?;
            }
            file.sync_all()?;
            Ok(rustix::fs::renameat(&self.0, &temporary, &self.0, name)?)
        };
        let result = create();
        if result.is_err() {
            let _ = self.remove(&temporary);
        }
        result
    }

    /// Whether an entry with this name exists, even if it is a dangling link.
    pub fn has(&self, name: &str) -> bool {
        rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// Removes a file from this folder.
    ///
    /// # Errors
    /// If the file cannot be removed.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// Replaces `name` with a file of these bytes, like the function [`write()`]. If `name` is a link, replaces the
    /// link without following it.
    ///
    /// # Errors
    /// If the file cannot be written. The old file then stays unchanged.
    pub fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let temporary = temporary(name);
        // A killed process with the same pid may have left a temporary file of this name.
        let _ = self.remove(&temporary);
        let result = self.create(&temporary).and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()?;
            Ok(rustix::fs::renameat(&self.0, &temporary, &self.0, name)?)
        });
        if result.is_err() {
            let _ = self.remove(&temporary);
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_a_regular_file_of_bounded_length_is_read() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("file");
        fs::write(&path, "12345").unwrap();
        assert_eq!(read(&path, 5).unwrap(), b"12345");
        assert!(read(&path, 4).unwrap_err().to_string().contains("longer than 4"));
        symlink(&path, home.path().join("link")).unwrap();
        assert_eq!(read(&home.path().join("link"), 5).unwrap(), b"12345");
        assert!(read(home.path(), 5).is_err());
        assert!(read(Path::new("/dev/zero"), 5).is_err());
        // If a pipe without a writer is opened in the usual way, the call blocks forever.
        let pipe = home.path().join("pipe");
        rustix::fs::mknodat(CWD, &pipe, rustix::fs::FileType::Fifo, Mode::RWXU, 0).unwrap();
        assert!(read(&pipe, 5).is_err());
        for open in [append, open_or_create] {
            assert_eq!(open(&pipe).unwrap_err().to_string(), NOT_REGULAR);
            // With a reader, opening the pipe succeeds.
            let _reader = rustix::fs::openat(CWD, &pipe, READS, Mode::empty()).unwrap();
            assert_eq!(open(&pipe).unwrap_err().to_string(), NOT_REGULAR);
            assert!(open(home.path()).is_err());
            open(&path).unwrap();
            assert_eq!(read(&path, 5).unwrap(), b"12345", "the contents stay");
            open(&home.path().join("new")).unwrap();
            let mode = fs::metadata(home.path().join("new")).unwrap().mode() & 0o777;
            assert_eq!(mode, 0o600);
            fs::remove_file(home.path().join("new")).unwrap();
        }
        let folder = Folder::open(home.path()).unwrap();
        assert!(folder.read("pipe", 5).is_err());
        assert!(folder.read("link", 5).is_err());
        assert_eq!(folder.read("file", 5).unwrap(), b"12345");
        fs::hard_link(&path, home.path().join("second")).unwrap();
        for name in ["file", "second"] {
            assert!(folder.read(name, 5).unwrap_err().to_string().contains("hard link"), "{name}");
        }
    }

    #[test]
    fn only_temporary_files_of_ended_processes_are_removed() {
        let home = tempfile::tempdir().unwrap();
        let names = [
            ".a.json.7.tmp",
            ".a.json.8.tmp",
            ".a.tmp",
            "a.7.tmp",
            ".a.7.tmpx",
            ".7.tmp.d",
            ".x.y.7.tmp",
        ];
        for name in names {
            fs::write(home.path().join(name), "").unwrap();
        }
        fs::create_dir(home.path().join(".folder.7.tmp")).unwrap();
        symlink("a.7.tmp", home.path().join(".link.7.tmp")).unwrap();
        // Some folders of Unterm's home contain folders. Links to other folders are not followed.
        let other = tempfile::tempdir().unwrap();
        symlink(other.path(), home.path().join("linked")).unwrap();
        let below = home.path().join("fleet/machine");
        fs::create_dir_all(&below).unwrap();
        for folder in [below.as_path(), &home.path().join("fleet"), other.path()] {
            fs::write(folder.join(".key.json.7.tmp"), "").unwrap();
            fs::write(folder.join(".key.json.8.tmp"), "").unwrap();
        }
        remove_leftovers(home.path(), |pid| pid == 8).unwrap();
        for (folder, count) in [("fleet/machine", 1), ("fleet", 2), ("linked", 2)] {
            let left = fs::read_dir(home.path().join(folder)).unwrap().count();
            assert_eq!(left, count, "{folder}");
        }
        let left = |name: &str| fs::symlink_metadata(home.path().join(name)).is_ok();
        let gone = [".a.json.7.tmp", ".x.y.7.tmp"];
        for name in names {
            assert_eq!(left(name), !gone.contains(&name), "{name}");
        }
        assert!(left(".folder.7.tmp") && left(".link.7.tmp"));
        // The temporary file of an interrupted `replace` has such a name.
        replace(&home.path().join("new"), |_| {
            let names = fs::read_dir(home.path())?.flatten().map(|entry| entry.file_name());
            let own = format!(".new.{}.tmp", std::process::id());
            assert!(names.into_iter().any(|name| name == *own));
            Ok(())
        })
        .unwrap();
    }

    #[test]
    fn no_link_below_an_open_folder_is_followed() {
        let home = tempfile::tempdir().unwrap();
        let other = tempfile::tempdir().unwrap();
        fs::create_dir_all(other.path().join("b")).unwrap();
        fs::write(other.path().join("b/file"), "secret").unwrap();
        let folder = Folder::open(home.path()).unwrap();
        symlink(other.path(), home.path().join("a")).unwrap();
        for result in [folder.below(Path::new("a/b")), folder.make(Path::new("a/b"))] {
            assert_eq!(result.unwrap_err().to_string(), "a: it is a link, or no folder");
        }
        fs::remove_file(home.path().join("a")).unwrap();
        assert_eq!(folder.below(Path::new("a")).unwrap_err().kind(), io::ErrorKind::NotFound);
        folder.make(Path::new("a/b")).unwrap().write("file", b"own").unwrap();
        assert_eq!(fs::read(home.path().join("a/b/file")).unwrap(), b"own");
        for path in ["../x", "/etc", "a/../.."] {
            assert!(folder.make(Path::new(path)).is_err(), "{path}");
        }
        // A link in place of a file is replaced; the link's target stays unchanged.
        let (victim, deep) = (other.path().join("b/file"), folder.below(Path::new("a/b")).unwrap());
        symlink(&victim, home.path().join("a/b/page")).unwrap();
        assert!(deep.create("page").is_err() && deep.has("page") && deep.file("page").is_err());
        deep.write("page", b"page").unwrap();
        assert_eq!(fs::read(&victim).unwrap(), b"secret");
        assert_eq!(deep.read("page", 4).unwrap(), b"page");
    }

    #[test]
    fn a_folder_of_another_user_is_refused() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("foreign")).unwrap();
        let foreign = home.path().join("foreign");
        if std::os::unix::fs::chown(&foreign, Some(12_345), None).is_err() {
            // Only root can change the owner of a file, so test only the check itself.
            assert!(is_own(rustix::process::geteuid().as_raw() + 1).is_err());
            return;
        }
        let error = Folder::open(home.path()).unwrap().make(Path::new("foreign")).unwrap_err();
        assert!(error.to_string().contains("belongs to user 12345"), "{error}");
    }
}
