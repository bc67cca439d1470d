//! The keeper as a process: one for each socket, in a session of its own, so that it outlives its starter.
//!
//! The program returns as soon as clients can connect. By then, the keeper runs in a process that has no terminal, no
//! relation to the starter, and none of the starter's descriptors.

use std::{
    fs::{File, OpenOptions, Permissions},
    io,
    os::{
        fd::OwnedFd,
        unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _},
    },
    path::Path,
};

use rustix::{
    fs::{FlockOperation, Mode, OFlags, flock},
    io::Errno,
    net::SocketFlags,
    process::{Resource, Rlimit, getrlimit, setrlimit},
};

use crate::{log::Log, server::Server, socket};

/// The number of connections that the system accepts before the keeper does.
const BACKLOG: i32 = 64;

/// The highest limit of open files to request. A pane needs three descriptors.
const ENOUGH_FILES: u64 = 1 << 16;

/// Starts a keeper that listens on `path`. Returns after clients can connect: in the process that the caller started,
/// and later, when the keeper has ended, in the keeper's process. If there is a keeper already, only returns.
///
/// The caller must be single-threaded, and have no descriptor open except the standard streams.
///
/// # Errors
/// If the folder of the socket is not private, or the system refuses.
pub fn run(path: &Path) -> io::Result<()> {
    let path = std::path::absolute(path)?;
    close_inherited();
    check_folder(path.parent().unwrap_or(Path::new("/")))?;
    let Some(listener) = listen(&path)? else { return Ok(()) };
    if leave_starter()? == Side::Starter {
        return Ok(());
    }
    let mut server = Server::new(listener, Log::open(path.with_extension("log")));
    if let Err(error) = prepare() {
        server.log().line(&format!("cannot prepare: {error}"));
    }
    let result = server.run();
    if let Err(error) = &result {
        server.log().line(&format!("ends: {error}"));
    }
    // A client that connects at this moment gets an end of the stream, and starts another keeper.
    remove(&path);
    result
}

/// Closes descriptors that the starter has passed on by mistake.
fn close_inherited() {
    // SAFETY: this process has opened no descriptor yet. On kernels before 5.9 the call fails, and changes nothing.
    unsafe { libc::syscall(libc::SYS_close_range, 3u32, u32::MAX, 0u32) };
}

/// Checks that only the user can change the folder.
fn check_folder(folder: &Path) -> io::Result<()> {
    let about = std::fs::metadata(folder).map_err(|error| named(folder, &error))?;
    let own = rustix::process::geteuid().as_raw();
    if about.uid() != own {
        let why = format!("it belongs to user {}, not to user {own}", about.uid());
        return Err(named(folder, &io::Error::new(io::ErrorKind::PermissionDenied, why)));
    }
    if about.mode() & 0o022 != 0 {
        let why = format!("other users can change it (mode {:o})", about.mode() & 0o7777);
        return Err(named(folder, &io::Error::new(io::ErrorKind::PermissionDenied, why)));
    }
    Ok(())
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Listens on the socket. `None` if a keeper listens there already.
fn listen(path: &Path) -> io::Result<Option<OwnedFd>> {
    let _lock = lock(path)?;
    if is_served(path)? {
        return Ok(None);
    }
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(named(path, &error)),
        _ => {}
    }
    let listener = socket::new(SocketFlags::NONBLOCK)?;
    // The folder's lock is held, and this process has one thread, so nothing else is created with this mask.
    let before = rustix::process::umask(Mode::from_raw_mode(0o177));
    let bound = rustix::net::bind(&listener, &socket::address(path)?);
    rustix::process::umask(before);
    bound.map_err(|error| named(path, &error.into()))?;
    std::fs::set_permissions(path, Permissions::from_mode(0o600))?;
    rustix::net::listen(&listener, BACKLOG)?;
    Ok(Some(listener))
}

/// Whether a keeper listens on the socket.
fn is_served(path: &Path) -> io::Result<bool> {
    let client = socket::new(SocketFlags::NONBLOCK)?;
    match rustix::net::connect(&client, &socket::address(path)?) {
        // If too many clients wait, a keeper still lives.
        Ok(()) | Err(Errno::AGAIN) => Ok(true),
        Err(Errno::NOENT | Errno::CONNREFUSED) => Ok(false),
        Err(error) => Err(named(path, &error.into())),
    }
}

/// Waits until no other process starts or ends a keeper of this socket.
fn lock(path: &Path) -> io::Result<File> {
    let path = path.with_extension("lock");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600).custom_flags(libc::O_NOFOLLOW);
    let file = options.open(&path).map_err(|error| named(&path, &error))?;
    flock(&file, FlockOperation::LockExclusive)?;
    Ok(file)
}

/// Removes the socket, unless another keeper has replaced it.
fn remove(path: &Path) {
    let Ok(_lock) = lock(path) else { return };
    // This keeper listens until its end, so the socket at this path can't be another keeper's: the lock lets another
    // keeper replace the socket only if this keeper does not listen.
    if is_served(path).unwrap_or(false) {
        let _ = std::fs::remove_file(path);
    }
}

/// The process in which `leave_starter` returns.
#[derive(PartialEq, Eq)]
enum Side {
    Starter,
    Keeper,
}

/// Continues in a process that is in a session without a terminal, is no leader of it, and has the system's first
/// process as its parent.
fn leave_starter() -> io::Result<Side> {
    if fork()? {
        return Ok(Side::Starter);
    }
    rustix::process::setsid()?;
    if fork()? {
        // SAFETY: _exit(2) ends the process at once. The buffers of the standard streams belong to the starter.
        unsafe { libc::_exit(0) };
    }
    Ok(Side::Keeper)
}

/// Returns twice: true in this process, and false in a copy of it.
fn fork() -> io::Result<bool> {
    // SAFETY: this process has one thread, so the copy finds every lock free.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(false),
        _ => Ok(true),
    }
}

/// Separates the keeper from what it inherited.
fn prepare() -> io::Result<()> {
    std::env::set_current_dir("/")?;
    let nowhere = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    rustix::stdio::dup2_stdin(&nowhere)?;
    rustix::stdio::dup2_stdout(&nowhere)?;
    rustix::stdio::dup2_stderr(&nowhere)?;
    // A starter that ignores the ends of its children would make the system throw away exit statuses.
    // SAFETY: the default action calls no code of ours.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT] {
        // SAFETY: ignoring a signal calls no code of ours. Programs get the default actions back.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    let limit = getrlimit(Resource::Nofile);
    let target = limit.maximum.map_or(ENOUGH_FILES, |most| most.min(ENOUGH_FILES));
    if limit.current.is_some_and(|current| current < target) {
        setrlimit(Resource::Nofile, Rlimit { current: Some(target), maximum: limit.maximum })?;
    }
    Ok(())
}
