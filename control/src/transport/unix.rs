//! The files of Unix sockets: made for their owner only, and taken away.

use std::{
    fs, io,
    os::unix::{
        fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _},
        net,
    },
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use rustix::{
    io::Errno,
    net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType},
};
/// A socket's file; dropping this takes it away, unless another stands in its place by then.
#[derive(Debug)]
pub struct SocketFile {
    path: PathBuf,
    /// Device and inode.
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

/// Listens at `path`, in a folder that only its owner reaches. Takes the place of a socket that nobody listens on. To be called
/// by one process at a time for one path.
///
/// # Errors
/// When the folder is another user's or open to others, when somebody listens there already or something else is there, or when
/// the path is too long for a socket (107 bytes on Linux, 103 on macOS).
pub fn bind(path: &Path) -> io::Result<(net::UnixListener, SocketFile)> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let folder = path.parent().unwrap_or(Path::new("/"));
    let metadata = fs::metadata(folder)?;
    if metadata.uid() != rustix::process::geteuid().as_raw() || metadata.mode() & 0o077 != 0 {
        let why = format!("{} is not for its owner only", folder.display());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    check_free(path)?;
    // Under a name of its own until its mode is right. Nobody but its owner reaches the folder meanwhile.
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let temporary = folder.join(format!(".{}-{count}", std::process::id()));
    // Left by a process of the same pid that was killed.
    let _ = fs::remove_file(&temporary);
    let listener = net::UnixListener::bind(&temporary)?;
    let made = || {
        // The final path may be too long where the temporary one is not.
        SocketAddrUnix::new(path)?;
        fs::set_permissions(&temporary, fs::Permissions::from_mode(0o600))?;
        let identity = identity(&temporary)?;
        fs::rename(&temporary, path)?;
        listener.set_nonblocking(true)?;
        Ok(identity)
    };
    match made() {
        Ok(identity) => Ok((listener, SocketFile { path: path.to_owned(), identity })),
        Err(error) => {
            let _ = fs::remove_file(&temporary);
            Err(error)
        }
    }
}

/// Whether a socket may be made at `path`: nothing is there, or a socket that nobody listens on.
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

/// Whether somebody listens on a socket. Does not wait.
fn is_listened_on(path: &Path) -> io::Result<bool> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    match rustix::net::connect(&socket, &SocketAddrUnix::new(path)?) {
        // Busy: its queue is full.
        Ok(()) | Err(Errno::AGAIN | Errno::INPROGRESS) => Ok(true),
        Err(Errno::CONNREFUSED) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Takes a socket away that nobody listens on.
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

    /// A folder for its owner only.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
        folder
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn a_socket_is_its_owners_and_goes_with_its_listener() {
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
    fn a_dead_ones_socket_is_replaced_and_a_living_ones_never() {
        let home = folder();
        let path = home.path().join("a.sock");
        let (listener, file) = bind(&path).unwrap();
        assert_eq!(bind(&path).unwrap_err().kind(), io::ErrorKind::AddrInUse);
        remove_stale(&path);
        net::UnixStream::connect(&path).unwrap();
        // As a killed process leaves it.
        drop(listener);
        let (_listener, _next) = bind(&path).unwrap();
        net::UnixStream::connect(&path).unwrap();
        drop(file);
        net::UnixStream::connect(&path).expect("the first file's end leaves the second");
    }

    #[test]
    fn what_is_no_stale_socket_stays() {
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
    fn an_open_folder_and_a_long_path_get_no_socket() {
        let home = folder();
        let open = home.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o750)).unwrap();
        let error = bind(&open.join("a.sock")).unwrap_err();
        assert!(error.to_string().contains("is not for its owner only"), "{error}");
        // The name alone is too long, the temporary one is not.
        let error = bind(&home.path().join("a".repeat(110))).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(Errno::NAMETOOLONG.raw_os_error()), "{error}");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1, "only the folder");
    }
}
