//! Files beneath a folder. No path leaves it: `..` is refused, and no link is followed.
//!
//! To programs, the folder is both the root and the home folder of this machine. Paths that begin with its real path
//! work too.

use std::{
    fs::File,
    io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, RawMode, Stat, Timespec, Timestamps, fchmod, fstat,
    futimens, mkdirat, openat, readlinkat, statat, unlinkat,
};

/// The parts of a path beneath the folder.
pub(crate) type PathParts = Vec<String>;

/// The parts of a program's path beneath `folder`. Empty for the folder itself.
pub(crate) fn parts_in(folder: &Path, path: &str) -> io::Result<PathParts> {
    let home = std::env::home_dir().unwrap_or_default();
    let whole = match path.strip_prefix("~/") {
        Some(rest) => home.join(rest),
        None => PathBuf::from(path),
    };
    let inside = whole.strip_prefix(folder).ok().and_then(Path::to_str);
    let path = inside.unwrap_or_else(|| path.strip_prefix("~/").unwrap_or(path));
    let parts = path.split('/').filter(|part| !matches!(*part, "" | "." | "~"));
    let parts: PathParts = parts.map(str::to_owned).collect();
    if parts.iter().any(|part| part == "..") {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the path has a part \"..\""));
    }
    if parts.len() > PARTS_CAP {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path has more than 32 parts"));
    }
    Ok(parts)
}

/// Creates a folder. Returns false if something with this name exists.
fn make_folder(at: &OwnedFd, name: &str) -> io::Result<bool> {
    match mkdirat(at, name, Mode::from_raw_mode(0o777)) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::EXIST) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Opens a folder. A link is refused.
fn open_folder(at: &OwnedFd, name: &str) -> io::Result<OwnedFd> {
    let flags = FLAGS | OFlags::RDONLY | OFlags::DIRECTORY;
    Ok(openat(at, name, flags, Mode::empty())?)
}

/// A folder.
#[derive(Debug)]
pub(crate) struct Folder {
    root: OwnedFd,
    path: PathBuf,
}

/// The maximum number of parts of a program's path.
const PARTS_CAP: usize = 32;

/// The flags with which everything is opened: opening a FIFO must not block, and a terminal must not become the
/// controlling terminal.
const FLAGS: OFlags =
    OFlags::CLOEXEC.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

impl Folder {
    /// Opens a folder, and creates it if it is missing. The folder itself may be a link.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(path)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self { root: openat(CWD, path, flags, Mode::empty())?, path: path.to_owned() })
    }

    /// The parts of a program's path beneath the folder.
    pub(crate) fn parts(&self, path: &str) -> io::Result<PathParts> {
        parts_in(&self.path, path)
    }

    /// The absolute path of a file.
    pub(crate) fn absolute(&self, parts: &[String]) -> String {
        let path = parts.iter().fold(self.path.clone(), |path, part| path.join(part));
        path.to_string_lossy().into_owned()
    }

    /// The folder of a file, and the file's name in it. Creates missing folders if `creates` is set.
    fn parent<'a>(&self, parts: &'a [String], creates: bool) -> io::Result<(OwnedFd, &'a str)> {
        let Some((name, folders)) = parts.split_last() else {
            return Err(io::Error::new(
                io::ErrorKind::IsADirectory,
                "the path names the whole folder",
            ));
        };
        Ok((self.walk(folders, creates)?, name))
    }

    fn walk(&self, folders: &[String], creates: bool) -> io::Result<OwnedFd> {
        let mut at = self.root.try_clone()?;
        for folder in folders {
            if creates {
                make_folder(&at, folder)?;
            }
            at = open_folder(&at, folder)?;
        }
        Ok(at)
    }

    /// Creates a file that does not exist yet, readable only by the user.
    pub(crate) fn create(&self, parts: &[String]) -> io::Result<File> {
        let (folder, name) = self.parent(parts, true)?;
        let flags = FLAGS | OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let mode = Mode::RUSR | Mode::WUSR;
        Ok(File::from(openat(&folder, name, flags, mode)?))
    }

    /// Creates a folder, if it does not exist. Returns whether it was created.
    pub(crate) fn create_folder(&self, parts: &[String]) -> io::Result<bool> {
        let (folder, name) = self.parent(parts, true)?;
        let is_new = make_folder(&folder, name)?;
        // The existing entry may be a file or a link.
        open_folder(&folder, name)?;
        Ok(is_new)
    }

    /// Reports an error if a file can't be created because its name is in use, or because it would not be beneath the
    /// folder. Creates nothing.
    pub(crate) fn expect_free(&self, parts: &[String]) -> io::Result<()> {
        let found = self
            .parent(parts, false)
            .and_then(|(folder, name)| Ok(statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?));
        match found {
            Ok(_) => Err(io::Error::new(io::ErrorKind::AlreadyExists, "the file exists")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Removes a file.
    pub(crate) fn remove(&self, parts: &[String]) -> io::Result<()> {
        let (folder, name) = self.parent(parts, false)?;
        Ok(unlinkat(&folder, name, AtFlags::empty())?)
    }

    /// Opens a regular file.
    pub(crate) fn read(&self, parts: &[String]) -> io::Result<File> {
        let (folder, name) = self.parent(parts, false)?;
        let file = openat(&folder, name, FLAGS | OFlags::RDONLY, Mode::empty())?;
        if FileType::from_raw_mode(fstat(&file)?.st_mode) != FileType::RegularFile {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
        }
        Ok(File::from(file))
    }

    /// The target of a symbolic link.
    pub(crate) fn link(&self, parts: &[String]) -> io::Result<Vec<u8>> {
        let (folder, name) = self.parent(parts, false)?;
        Ok(readlinkat(&folder, name, Vec::new())?.into_bytes())
    }

    /// The metadata of a file. A link is not followed.
    pub(crate) fn stat(&self, parts: &[String]) -> io::Result<Stat> {
        if parts.is_empty() {
            return Ok(fstat(&self.root)?);
        }
        let (folder, name) = self.parent(parts, false)?;
        Ok(statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// The names in a folder, sorted, and at most `most`. Names that are not UTF-8 are left out.
    pub(crate) fn names(&self, parts: &[String], most: usize) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(self.walk(parts, false)?)? {
            let entry = entry?;
            let name = entry.file_name().to_str().ok();
            names.extend(name.filter(|name| !matches!(*name, "." | "..")).map(str::to_owned));
            if names.len() >= most {
                break;
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Sets the permissions and the time of the last change of a folder.
    pub(crate) fn dress_folder(&self, parts: &[String], look: Metadata) -> io::Result<()> {
        look.apply(&File::from(self.walk(parts, false)?))
    }
}

/// The metadata that a program sent for a file.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Metadata {
    pub(crate) permissions: Option<u32>,
    /// Nanoseconds since 1970.
    pub(crate) mtime: Option<i64>,
}

impl Metadata {
    /// Gives an open file or folder these permissions and this time. The group and others never get the right to write.
    pub(crate) fn apply(self, file: &File) -> io::Result<()> {
        if let Some(bits) = self.permissions {
            fchmod(file, Mode::from_raw_mode((bits & 0o755) as RawMode))?;
        }
        if let Some(nanoseconds) = self.mtime {
            const SECOND: i64 = 1_000_000_000;
            let time = Timespec {
                tv_sec: nanoseconds.div_euclid(SECOND),
                tv_nsec: nanoseconds.rem_euclid(SECOND) as _,
            };
            futimens(file, &Timestamps { last_access: time, last_modification: time })?;
        }
        Ok(())
    }
}
