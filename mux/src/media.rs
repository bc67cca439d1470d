//! Reads image data that a local program passes as a file name or shared memory name (kitty graphics protocol, key
//! `t`).
//!
//! Nothing is read if the program reports another host. Nothing is read either while `ssh` or a similar program is in
//! the foreground, whatever host it reports: see [`crate::is_carrier`]. Output of such a program may be applied only
//! after the program ended. It then counts as output of the shell, which gets the reply.
//!
//! Only regular files outside `/proc`, `/sys` and `/dev` are read, never through a link, and only as many bytes as the
//! terminal requests. The checks use the opened descriptor, so that the file cannot be replaced between check and read.
//! Refused files are not deleted: only files that were read are deleted.
//!
//! By the protocol, a terminal deletes every shared memory object that it reads. A file shown with `cat` could
//! therefore delete another program's object. Unterm deletes an object only if it was read completely and has a name
//! that clients of the protocol use.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use rustix::shm;
use unterm_term::{Media, MediaError, MediaRequest, Medium};

use crate::{Process, lock::Mutex, uri};

/// The maximum length of a shared memory object's name, in bytes (NAME_MAX).
const NAME_CAP: usize = 255;
/// A temporary file is deleted only if its path contains this text (kitty's protocol page). A shared memory object
/// whose name contains it is deleted too.
const TEMPORARY_MARK: &str = "tty-graphics-protocol";
/// Prefixes of shared memory objects that kitty's own programs and mpv expect the terminal to delete.
const SHARED_PREFIXES: [&str; 2] = ["icat-", "mpv-kitty-"];

/// Reads files and shared memory of this machine for the program in a pane.
pub(crate) struct LocalMedia {
    process: Arc<dyn Process>,
    /// The time of the last search that found no foreground program that may run on another machine.
    local_at: Mutex<Option<Instant>>,
}

/// How long a search for such a program stays valid. Searching all processes for each picture of a video is too slow,
/// and a connection that began since the search has no remote side yet.
const LOOK_HOLDS: Duration = Duration::from_millis(50);

impl LocalMedia {
    pub(crate) fn new(process: Arc<dyn Process>) -> Self {
        Self { process, local_at: Mutex::default() }
    }

    /// The foreground program that may run on another machine, if there is one.
    fn carrier(&self) -> Option<String> {
        let local_at = *self.local_at.lock();
        if local_at.is_some_and(|at| at.elapsed() < LOOK_HOLDS) {
            return None;
        }
        let carrier = self.process.carrier();
        *self.local_at.lock() = carrier.is_none().then(Instant::now);
        carrier
    }
}

impl std::fmt::Debug for LocalMedia {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LocalMedia").finish_non_exhaustive()
    }
}

impl Media for LocalMedia {
    fn read(&self, request: &MediaRequest<'_>) -> Result<Vec<u8>, MediaError> {
        if let Some(carrier) = self.carrier() {
            tracing::debug!(%carrier, "nothing is read for what may run on another machine");
            return Err(MediaError::Refused);
        }
        fetch(request)
    }
}

/// Reads the data of a local program. Refuses the request if the program reports another host.
fn fetch(request: &MediaRequest<'_>) -> Result<Vec<u8>, MediaError> {
    if !request.host.is_none_or(uri::is_local) {
        return Err(MediaError::Refused);
    }
    match request.medium {
        Medium::SharedMemory => shared_memory(request),
        Medium::File | Medium::TemporaryFile => file(request),
    }
}

fn refuse(error: Errno) -> MediaError {
    match error {
        // The path contains a link. If the link replaces a folder of the path, the error is `NOTDIR`.
        Errno::LOOP | Errno::ACCESS | Errno::NOTDIR => MediaError::Refused,
        _ => MediaError::Unreadable,
    }
}

fn file(request: &MediaRequest<'_>) -> Result<Vec<u8>, MediaError> {
    let path = Path::new(request.name);
    // Check the path before opening too, because opening some devices has an effect.
    if !path.is_absolute() || is_special(&without_dots(path)) {
        return Err(MediaError::Refused);
    }
    let opened = open_without_links(path).map_err(refuse)?;
    let stat = rustix::fs::fstat(&opened).map_err(refuse)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(MediaError::Refused);
    }
    let mut opened = File::from(opened);
    let real = real_path(&opened, path)?;
    if is_special(&real) || is_special_filesystem(&opened) {
        return Err(MediaError::Refused);
    }
    let data = read(&mut opened, &stat, request)?;
    if request.medium == Medium::TemporaryFile && may_delete(&real) {
        // Delete the file only if it is still the file that was read.
        let same = rustix::fs::lstat(&real)
            .is_ok_and(|now| (now.st_dev, now.st_ino) == (stat.st_dev, stat.st_ino));
        if same && let Err(error) = rustix::fs::unlink(&real) {
            tracing::debug!(%error, "temporary image file not deleted");
        }
    }
    Ok(data)
}

/// The flags for opening a file to read. Opening a FIFO must not wait until another process opens its writing end.
const READ: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOCTTY);

/// Opens the file at an absolute path without links in any part.
fn open_without_links(path: &Path) -> Result<OwnedFd, Errno> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{ResolveFlags, openat2};
        let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match openat2(CWD, path, READ, Mode::empty(), resolve) {
            // The kernel is older than 5.6, or a sandbox rejects the call.
            Err(Errno::NOSYS | Errno::PERM) => {}
            opened => return opened,
        }
    }
    open_by_parts(path)
}

/// Like [`open_without_links`], but opens one directory after the other.
fn open_by_parts(path: &Path) -> Result<OwnedFd, Errno> {
    let directory = READ | OFlags::DIRECTORY;
    // `PATH` is enough: a process may be allowed to enter a directory that it may not list.
    #[cfg(target_os = "linux")]
    let directory = directory | OFlags::PATH;
    let mut at = rustix::fs::openat(CWD, "/", directory, Mode::empty())?;
    let mut parts = path.components().filter(|part| *part != Component::RootDir).peekable();
    while let Some(part) = parts.next() {
        let flags = if parts.peek().is_some() { directory } else { READ };
        at = rustix::fs::openat(&at, part.as_os_str(), flags, Mode::empty())?;
    }
    Ok(at)
}

/// The path of an opened file, with all links resolved.
fn real_path(opened: &File, path: &Path) -> Result<PathBuf, MediaError> {
    if cfg!(target_os = "linux") {
        let link = format!("/proc/self/fd/{}", opened.as_raw_fd());
        return std::fs::read_link(link).map_err(|_| MediaError::Refused);
    }
    path.canonicalize().map_err(|_| MediaError::Unreadable)
}

/// The path without `.` and `..`. It names the same file only if no part of the path is a link.
fn without_dots(path: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                whole.pop();
            }
            part => whole.push(part),
        }
    }
    whole
}

/// Whether a path is in a folder of special files.
fn is_special(path: &Path) -> bool {
    let shared = path.starts_with("/dev/shm");
    ["/proc", "/sys", "/dev"].iter().any(|root| path.starts_with(root)) && !shared
}

/// Whether a file is on procfs or sysfs, at any mount point.
fn is_special_filesystem(opened: &impl AsFd) -> bool {
    #[cfg(target_os = "linux")]
    {
        const PROC: u64 = 0x9fa0;
        const SYSFS: u64 = 0x6265_6572;
        rustix::fs::fstatfs(opened).is_ok_and(|fs| [PROC, SYSFS].contains(&(fs.f_type as u64)))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = opened;
        false
    }
}

/// Whether the protocol lets a terminal delete this file.
fn may_delete(path: &Path) -> bool {
    let marked = path.to_str().is_some_and(|path| path.contains(TEMPORARY_MARK));
    let own = std::env::var_os("TMPDIR").map(PathBuf::from).filter(|dir| dir.is_absolute());
    let fixed = ["/tmp", "/var/tmp", "/dev/shm"].map(PathBuf::from);
    let mut dirs = fixed.into_iter().chain(own).filter_map(|dir| dir.canonicalize().ok());
    marked && dirs.any(|dir| dir != Path::new("/") && path.starts_with(dir))
}

fn shared_memory(request: &MediaRequest<'_>) -> Result<Vec<u8>, MediaError> {
    let name = request.name.strip_prefix('/').unwrap_or(request.name);
    if name.is_empty() || name.len() > NAME_CAP || name.contains('/') || name.starts_with('.') {
        return Err(MediaError::Refused);
    }
    let is_deletable = name.starts_with(TEMPORARY_MARK)
        || SHARED_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    let name = format!("/{name}");
    let opened = shm::open(&name, shm::OFlags::RDONLY, Mode::empty()).map_err(refuse)?;
    let stat = rustix::fs::fstat(&opened).map_err(refuse)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(MediaError::Refused);
    }
    let data = read(&mut File::from(opened), &stat, request)?;
    let is_whole = u64::try_from(stat.st_size).is_ok_and(|size| size == data.len() as u64);
    if !is_whole || !is_deletable {
        return Ok(data);
    }
    // Delete the object only if it is still the object that was read.
    let same = shm::open(&name, shm::OFlags::RDONLY, Mode::empty())
        .and_then(rustix::fs::fstat)
        .is_ok_and(|now| (now.st_dev, now.st_ino) == (stat.st_dev, stat.st_ino));
    if same && let Err(error) = shm::unlink(&name) {
        tracing::debug!(%error, "shared memory of an image not unlinked");
    }
    Ok(data)
}

/// The requested part of a file.
fn read(file: &mut File, stat: &Stat, request: &MediaRequest<'_>) -> Result<Vec<u8>, MediaError> {
    let length = u64::try_from(stat.st_size).unwrap_or(0).saturating_sub(request.offset);
    let wanted = if request.size == 0 { length } else { request.size.min(length) };
    if wanted > request.cap {
        return Err(MediaError::TooLarge);
    }
    let unreadable = |_| MediaError::Unreadable;
    file.seek(SeekFrom::Start(request.offset)).map_err(unreadable)?;
    let mut data = Vec::with_capacity(wanted as usize);
    file.take(wanted).read_to_end(&mut data).map_err(unreadable)?;
    Ok(data)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::sync::Arc;

    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use unterm_term::{Options, Parser, Size, Snapshot, Term};

    use super::*;

    /// A process without a foreground program, so that the check for remote programs passes.
    #[derive(Debug)]
    struct Local;

    impl Media for Local {
        fn read(&self, request: &MediaRequest<'_>) -> Result<Vec<u8>, MediaError> {
            fetch(request)
        }
    }

    fn ask(medium: Medium, name: &str) -> Result<Vec<u8>, MediaError> {
        ask_from(None, medium, name)
    }

    fn ask_from(host: Option<&str>, medium: Medium, name: &str) -> Result<Vec<u8>, MediaError> {
        fetch(&MediaRequest { medium, name, host, offset: 1, size: 0, cap: 4 })
    }

    #[test]
    fn regular_files_only_and_not_through_links() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = |name: &str| dir.path().join(name).to_str().expect("UTF-8").to_owned();
        std::fs::write(path("file"), b"abcde").expect("written");
        assert_eq!(ask(Medium::File, &path("file")), Ok(b"bcde".to_vec()));
        std::fs::write(path("large"), b"abcdef").expect("written");
        assert_eq!(ask(Medium::File, &path("large")), Err(MediaError::TooLarge));
        std::os::unix::fs::symlink(path("file"), path("link")).expect("linked");
        assert_eq!(ask(Medium::File, &path("link")), Err(MediaError::Refused));
        std::fs::create_dir(path("dir")).expect("made");
        std::fs::write(path("dir/file"), b"abcde").expect("written");
        std::os::unix::fs::symlink(path("dir"), path("other")).expect("linked");
        assert_eq!(ask(Medium::File, &path("dir/file")), Ok(b"bcde".to_vec()));
        assert_eq!(ask(Medium::File, &path("other/file")), Err(MediaError::Refused));
        assert_eq!(ask(Medium::File, &path("other/../file")), Err(MediaError::Refused));
        assert_eq!(
            ask(Medium::File, dir.path().to_str().expect("UTF-8")),
            Err(MediaError::Refused)
        );
        assert_eq!(ask(Medium::File, &path("none")), Err(MediaError::Unreadable));
        assert_eq!(ask(Medium::File, "relative"), Err(MediaError::Refused));
        assert_eq!(ask(Medium::File, "/proc/self/environ"), Err(MediaError::Refused));
        for device in ["/dev/zero", "/dev/../dev/./zero", "/../dev/none", "/tmp/../sys/none"] {
            assert_eq!(ask(Medium::File, device), Err(MediaError::Refused), "{device}");
        }
    }

    #[test]
    fn a_path_opened_by_its_parts_has_no_link_either() {
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(dir.path().join("dir")).expect("made");
        std::fs::write(dir.path().join("dir/file"), b"abc").expect("written");
        std::os::unix::fs::symlink(dir.path().join("dir"), dir.path().join("link"))
            .expect("linked");
        let open = |name: &str| open_by_parts(&dir.path().join(name)).map(File::from);
        let mut text = String::new();
        let opened = open("dir/../dir/./file").expect("opened");
        (&opened).read_to_string(&mut text).expect("read");
        assert_eq!(text, "abc");
        assert_eq!(open("link/file").map(drop), Err(Errno::NOTDIR));
        assert_eq!(open("dir/none").map(drop), Err(Errno::NOENT));
        assert!(open_by_parts(Path::new("/")).and_then(rustix::fs::fstat).is_ok());
    }

    #[test]
    fn temporary_files_are_deleted_only_by_their_name() {
        let dir = tempfile::tempdir_in("/tmp").expect("a directory");
        for (name, kept) in [("plain", true), ("tty-graphics-protocol-1", false)] {
            let path = dir.path().join(name);
            std::fs::write(&path, b"abc").expect("written");
            assert_eq!(
                ask(Medium::TemporaryFile, path.to_str().expect("UTF-8")),
                Ok(b"bc".to_vec())
            );
            assert_eq!(path.exists(), kept, "{name}");
        }
    }

    #[test]
    fn for_another_machine_nothing_is_looked_at() {
        let dir = tempfile::tempdir_in("/tmp").expect("a directory");
        let path = dir.path().join("tty-graphics-protocol-2");
        std::fs::write(&path, b"abc").expect("written");
        let path = path.to_str().expect("UTF-8");
        let name = format!("/unterm-media-far-{}", std::process::id());
        share(&name, 4);
        let media = [
            (Medium::File, path),
            (Medium::SharedMemory, name.as_str()),
            (Medium::TemporaryFile, path),
        ];
        let far = Some("elsewhere.example");
        for (medium, name) in media {
            assert_eq!(ask_from(far, medium, name), Err(MediaError::Refused));
            // Requests from another host are refused without checking whether the file exists.
            assert_eq!(ask_from(far, medium, "/none"), Err(MediaError::Refused));
        }
        let own = rustix::system::uname().nodename().to_string_lossy().into_owned();
        for ((medium, name), host) in media.into_iter().zip([&own, "localhost", &own]) {
            assert!(ask_from(Some(host), medium, name).is_ok(), "{medium:?}");
        }
        shm::unlink(&name).expect("only a part was read");
    }

    #[test]
    fn refused_image_files_are_not_deleted() {
        let dir = tempfile::tempdir_in("/tmp").expect("a directory");
        let path = dir.path().join("tty-graphics-protocol-3");
        std::fs::write(&path, b"abcdef").expect("written");
        let path = path.to_str().expect("UTF-8");
        let name = format!("/icat-unterm-large-{}", std::process::id());
        share(&name, 6);
        for (medium, name) in [(Medium::TemporaryFile, path), (Medium::SharedMemory, name.as_str())]
        {
            for _ in 0..2 {
                assert_eq!(ask(medium, name), Err(MediaError::TooLarge), "{medium:?}");
            }
        }
        shm::unlink(&name).expect("still there");
    }

    /// Creates a shared memory object of `size` bytes.
    fn share(name: &str, size: u64) {
        let flags = shm::OFlags::CREATE | shm::OFlags::EXCL | shm::OFlags::RDWR;
        let object = shm::open(name, flags, Mode::RUSR | Mode::WUSR).expect("made");
        rustix::fs::ftruncate(&object, size).expect("sized");
    }

    #[test]
    fn shared_memory_is_deleted_by_name_after_a_complete_read() {
        let ask = |name: &str, offset, size| {
            let medium = Medium::SharedMemory;
            let read = fetch(&MediaRequest { medium, name, host: None, offset, size, cap: 4 });
            read.expect("read").len()
        };
        let id = std::process::id();
        for prefix in ["tty-graphics-protocol-", "icat-", "mpv-kitty-"] {
            let name = format!("/{prefix}unterm-{id}");
            share(&name, 4);
            assert_eq!((ask(&name, 1, 0), ask(&name, 0, 3)), (3, 3));
            assert_eq!(ask(&name, 0, 0), 4, "a part leaves it: {name}");
            let opened = shm::open(&name, shm::OFlags::RDONLY, Mode::empty());
            assert_eq!(opened.map(drop), Err(Errno::NOENT), "{name}");
        }
        // Names that belong to other programs' objects.
        for prefix in ["PostgreSQL.", "x-icat-", "x-tty-graphics-protocol-"] {
            let name = format!("/{prefix}unterm-{id}");
            share(&name, 4);
            assert_eq!(ask(&name, 0, 0), 4);
            shm::unlink(&name).expect("still there");
        }
    }

    #[test]
    fn the_name_of_shared_memory_is_no_path() {
        for odd in ["/../etc/passwd", "/a/b", "", "/", "/.."] {
            assert_eq!(ask(Medium::SharedMemory, odd), Err(MediaError::Refused), "{odd}");
        }
    }

    #[test]
    fn an_image_in_shared_memory_is_shown() {
        let name = format!("/unterm-media-shown-{}", std::process::id());
        let flags = shm::OFlags::CREATE | shm::OFlags::EXCL | shm::OFlags::RDWR;
        let object = shm::open(&name, flags, Mode::RUSR | Mode::WUSR).expect("made");
        // Two pixels, with extra bytes before and after them.
        File::from(object).write_all(&[9, 9, 1, 2, 3, 4, 5, 6, 9]).expect("written");

        let options = Options { media: Some(Arc::new(Local)), ..Options::default() };
        let mut term = Term::new(Size::cells(10, 4), options);
        let command =
            format!("\x1b_Ga=T,t=s,f=24,s=2,v=1,O=2,S=6,i=1;{}\x1b\\", STANDARD.encode(&name));
        Parser::new().advance(&mut term, command.as_bytes());
        assert_eq!(term.take_replies(), b"\x1b_Gi=1;OK\x1b\\");
        let mut snapshot = Snapshot::default();
        term.snapshot(&mut snapshot, None);
        let [image] = &snapshot.images[..] else { panic!("{:?}", snapshot.images) };
        assert_eq!((image.pixels.width(), image.pixels.height()), (2, 1));
        assert_eq!(image.pixels.rgba(), [1, 2, 3, 255, 4, 5, 6, 255]);
        shm::unlink(&name).expect("only a part was read");
    }
}
