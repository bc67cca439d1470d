//! The files of Unix sockets. Creates them with access only for their owner, and removes them.

use std::{
    fs, io,
    os::unix::{
        fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, PermissionsExt as _},
        net,
    },
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use rustix::{
    io::Errno,
    net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType},
};
use unterm_mux::random;
/// A socket's file. When this value is dropped, the file is removed, unless another file has replaced it.
#[derive(Debug)]
pub struct SocketFile {
    path: PathBuf,
    /// The device and the inode of the file.
    identity: (u64, u64),
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if identity(&self.path).is_ok_and(|identity| identity == self.identity)
            && let Err(error) = fs::remove_file(&self.path)
        {
            tracing::warn!(%error, path = %self.path.display(), "cannot remove a socket");
        }
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let metadata = fs::symlink_metadata(path)?;
    Ok((metadata.dev(), metadata.ino()))
}

/// Listens at `path`, in a private folder. Replaces a socket on which no process listens. Only one process at a time
/// may call this for a path.
///
/// # Errors
/// The folder belongs to another user or is accessible to others. A process already listens at the path, or the path
/// is not a socket. The path is too long for a socket (107 bytes on Linux, 103 on macOS).
pub fn bind(path: &Path) -> io::Result<(net::UnixListener, SocketFile)> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let folder = path.parent().unwrap_or(Path::new("/"));
    let metadata = fs::metadata(folder)?;
    if metadata.uid() != rustix::process::geteuid().as_raw() || metadata.mode() & 0o077 != 0 {
        let why = format!("{} is not for its owner only", folder.display());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    check_free(path)?;
    // The socket has a temporary name until its mode is set. Meanwhile, only the owner can reach the folder.
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let temporary = folder.join(format!(".{}-{count}", std::process::id()));
    // A killed process with the same pid may have left such a file.
    let _ = fs::remove_file(&temporary);
    bind_by_way_of(&temporary, path)
}

/// Listens like [`bind`], but in any folder where no other user can replace the socket: a folder that only its owner
/// may write, or a folder with the sticky bit, such as `/tmp`.
///
/// # Errors
/// The errors of [`bind`], or other users could replace the socket.
pub fn bind_anywhere(path: &Path) -> io::Result<(net::UnixListener, SocketFile)> {
    const STICKY: u32 = 0o1000;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let metadata = fs::metadata(folder)?;
    let own = rustix::process::geteuid().as_raw();
    let is_trusted = [own, 0].contains(&metadata.uid());
    let is_shared = metadata.mode() & 0o022 != 0 && metadata.mode() & STICKY == 0;
    if !is_trusted || is_shared {
        let why = format!("other users could replace a socket in {}", folder.display());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    check_free(path)?;
    if fs::symlink_metadata(path).is_ok_and(|metadata| metadata.uid() != own) {
        let why = "a socket of another user is there";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    // The socket is created in a new private folder until its mode is set, because other users may be able to reach
    // `folder` meanwhile.
    let private = folder.join(format!(".unterm-{}", &random::hex()?[..8]));
    fs::DirBuilder::new().mode(0o700).create(&private)?;
    let bound = bind_by_way_of(&private.join("s"), path);
    let _ = fs::remove_dir(&private);
    bound
}

/// Listens at `path`. The socket is first created at `temporary`, in a private folder.
fn bind_by_way_of(temporary: &Path, path: &Path) -> io::Result<(net::UnixListener, SocketFile)> {
    let listener = net::UnixListener::bind(temporary)?;
    let made = || {
        // This checks the length of the final path, which may be too long even if the temporary path is not.
        SocketAddrUnix::new(path)?;
        fs::set_permissions(temporary, fs::Permissions::from_mode(0o600))?;
        let identity = identity(temporary)?;
        fs::rename(temporary, path)?;
        listener.set_nonblocking(true)?;
        Ok(identity)
    };
    match made() {
        Ok(identity) => Ok((listener, SocketFile { path: path.to_owned(), identity })),
        Err(error) => {
            let _ = fs::remove_file(temporary);
            Err(error)
        }
    }
}

/// Whether a socket may be created at `path`. It may if nothing exists there, or only a socket on which no process
/// listens.
fn check_free(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(metadata) if !metadata.file_type().is_socket() => {
            Err(io::Error::new(io::ErrorKind::AlreadyExists, "what is there is no socket"))
        }
        Ok(_) if is_listened_on(path)? => {
            Err(io::Error::new(io::ErrorKind::AddrInUse, "another program listens there"))
        }
        Ok(_) => Ok(()),
    }
}

/// Whether a process listens on a socket. Does not block.
fn is_listened_on(path: &Path) -> io::Result<bool> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    match rustix::net::connect(&socket, &SocketAddrUnix::new(path)?) {
        // AGAIN: a process listens on the socket, and its queue is full.
        Ok(()) | Err(Errno::AGAIN | Errno::INPROGRESS) => Ok(true),
        Err(Errno::CONNREFUSED) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Removes a socket on which no process listens.
pub fn remove_stale(path: &Path) {
    let is_socket =
        fs::symlink_metadata(path).is_ok_and(|metadata| metadata.file_type().is_socket());
    if is_socket && is_listened_on(path).is_ok_and(|is_live| !is_live) {
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A private folder.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
        folder
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn a_socket_is_private_and_removed_with_its_listener() {
        let home = folder();
        let path = home.path().join("a.sock");
        let (_listener, file) = bind(&path).unwrap();
        assert_eq!(mode(&path), 0o600);
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1, "no other name is left");
        net::UnixStream::connect(&path).unwrap();
        drop(file);
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
    }

    #[test]
    fn only_the_socket_of_a_dead_process_is_replaced() {
        let home = folder();
        let path = home.path().join("a.sock");
        let (listener, file) = bind(&path).unwrap();
        assert_eq!(bind(&path).unwrap_err().kind(), io::ErrorKind::AddrInUse);
        remove_stale(&path);
        net::UnixStream::connect(&path).unwrap();
        // A killed process leaves its socket like this.
        drop(listener);
        let (_listener, _next) = bind(&path).unwrap();
        net::UnixStream::connect(&path).unwrap();
        drop(file);
        net::UnixStream::connect(&path).expect("the first file's end leaves the second");
    }

    #[test]
    fn only_stale_sockets_are_removed() {
        let home = folder();
        let path = home.path().join("a.sock");
        fs::write(&path, "text").unwrap();
        assert_eq!(bind(&path).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        remove_stale(&path);
        assert_eq!(fs::read(&path).unwrap(), b"text");
        fs::remove_file(&path).unwrap();
        drop(net::UnixListener::bind(&path).unwrap());
        remove_stale(&path);
        assert!(!path.exists());
    }

    #[test]
    fn shared_folders_and_long_paths_are_refused() {
        let home = folder();
        let open = home.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o750)).unwrap();
        let error = bind(&open.join("a.sock")).unwrap_err();
        assert!(error.to_string().contains("is not for its owner only"), "{error}");
        // The final path is too long, and the temporary path is not.
        let error = bind(&home.path().join("a".repeat(110))).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(Errno::NAMETOOLONG.raw_os_error()), "{error}");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1, "only the folder");
    }
}
