//! Unix sockets: sends and receives bytes with descriptors, and checks who the peer is.

use std::{
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::fd::{AsFd, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd},
    path::Path,
};

use rustix::{
    cmsg_space,
    io::Errno,
    net::{
        AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags,
        SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags,
        SocketType, recvmsg, sendmsg, socket_with,
    },
    process::{Pid, PidfdFlags, pidfd_open},
};

/// The maximum number of descriptors in one message.
pub(crate) const MAX_DESCRIPTORS: usize = 4;

/// Creates a stream socket. [`send`] and [`receive`] never wait, so `SocketFlags::NONBLOCK` only matters for connecting
/// and accepting.
pub(crate) fn new(flags: SocketFlags) -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | flags;
    Ok(socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?)
}

/// The address of a socket in the file system. Its path has at most 107 bytes.
pub(crate) fn address(path: &Path) -> io::Result<SocketAddrUnix> {
    SocketAddrUnix::new(path).map_err(|error| {
        let path = path.display();
        io::Error::new(
            io::Error::from(error).kind(),
            format!("{path} is no path for a socket: {error}"),
        )
    })
}

/// Sends bytes without waiting, and the descriptors with the first byte. Returns the number of bytes sent. If no bytes
/// are sent, no descriptors are sent.
pub(crate) fn send(
    socket: impl AsFd,
    bytes: &[u8],
    descriptors: &[BorrowedFd<'_>],
) -> Result<usize, Errno> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !control.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(Errno::INVAL);
    }
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    loop {
        match sendmsg(&socket, &[IoSlice::new(bytes)], &mut control, flags) {
            Err(Errno::INTR) => {}
            result => return result,
        }
    }
}

/// The result of [`receive`].
pub(crate) struct Received {
    /// The number of bytes. 0 at the end of the stream.
    pub(crate) bytes: usize,
    /// Whether the system dropped descriptors, because the receiver has no space for them.
    pub(crate) has_dropped: bool,
}

/// Receives bytes without waiting. Appends the descriptors that come with them to `descriptors`, which are
/// close-on-exec from the start. If `descriptors` is `None`, the system closes all descriptors, so that a peer cannot
/// use up those of this process.
pub(crate) fn receive(
    socket: impl AsFd,
    buffer: &mut [u8],
    descriptors: Option<&mut Vec<OwnedFd>>,
) -> Result<Received, Errno> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let size = if descriptors.is_some() { space.len() } else { 0 };
    let mut control = RecvAncillaryBuffer::new(&mut space[..size]);
    let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
    let received = loop {
        match recvmsg(&socket, &mut [IoSliceMut::new(buffer)], &mut control, flags) {
            Err(Errno::INTR) => {}
            result => break result?,
        }
    };
    if let Some(descriptors) = descriptors {
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(rights) = message {
                descriptors.extend(rights);
            }
        }
    }
    let has_dropped = received.flags.contains(ReturnFlags::CTRUNC);
    Ok(Received { bytes: received.bytes, has_dropped })
}

/// The process that has connected, and a pidfd of it.
///
/// # Errors
/// If it has ended, belongs to another PID namespace, or the system does not report it.
pub(crate) fn peer_process(socket: impl AsFd) -> io::Result<(Pid, OwnedFd)> {
    peer_process_by(socket, libc::SO_PEERPIDFD)
}

/// `option`: the socket option that returns a pidfd of the peer.
fn peer_process_by(socket: impl AsFd, option: libc::c_int) -> io::Result<(Pid, OwnedFd)> {
    let pid = credentials(&socket)?.pid;
    let pid = Pid::from_raw(pid).ok_or_else(|| {
        io::Error::new(io::ErrorKind::NotFound, "the process is in another PID namespace")
    })?;
    let process = match socket_option::<libc::c_int>(socket.as_fd(), option) {
        // SAFETY: the system has created this descriptor for the caller.
        Ok(process) => unsafe { OwnedFd::from_raw_fd(process) },
        // The kernel is older than 6.5. If the process has ended, its id may belong to another process already.
        Err(error) if error.raw_os_error() == Some(libc::ENOPROTOOPT) => {
            pidfd_open(pid, PidfdFlags::empty())?
        }
        Err(error) => return Err(error),
    };
    Ok((pid, process))
}

/// The process, the user and the group that have connected. The process is 0 in another PID namespace.
fn credentials(socket: impl AsFd) -> io::Result<libc::ucred> {
    socket_option(socket.as_fd(), libc::SO_PEERCRED)
}

/// Reads an option of a socket. `T` must be the C type of the option.
fn socket_option<T>(socket: BorrowedFd<'_>, option: libc::c_int) -> io::Result<T> {
    let mut value = MaybeUninit::<T>::zeroed();
    let mut length = size_of::<T>() as libc::socklen_t;
    let (level, to) = (libc::SOL_SOCKET, value.as_mut_ptr().cast());
    // SAFETY: `to` points to `length` bytes.
    match unsafe { libc::getsockopt(socket.as_raw_fd(), level, option, to, &mut length) } {
        // SAFETY: the system has written a value, and all other bytes are zero, which is valid for integers.
        0 => Ok(unsafe { value.assume_init() }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Checks that the same user runs the peer.
///
/// # Errors
/// If another user runs the peer, or the system does not report the user. The error names the user and the process.
pub(crate) fn check_peer(socket: impl AsFd) -> io::Result<()> {
    let peer = credentials(socket)?;
    let own = rustix::process::geteuid().as_raw();
    match peer.uid == own {
        true => Ok(()),
        false => Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("process {} belongs to user {}, not to user {own}", peer.pid, peer.uid),
        )),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::{UnixListener, UnixStream};

    use rustix::io::{FdFlags, fcntl_getfd};

    use super::*;

    /// The process id in the description of a pidfd. -1 if the process was waited for.
    fn described(pidfd: &OwnedFd) -> i32 {
        let path = format!("/proc/self/fdinfo/{}", pidfd.as_raw_fd());
        let text = std::fs::read_to_string(path).unwrap();
        text.lines().find_map(|line| line.strip_prefix("Pid:")).unwrap().trim().parse().unwrap()
    }

    #[test]
    fn the_peer_is_known_on_new_and_old_kernels() {
        let (one, _two) = UnixStream::pair().unwrap();
        // The second option does not exist in any kernel.
        for option in [libc::SO_PEERPIDFD, 9_999] {
            let (pid, pidfd) = peer_process_by(&one, option).unwrap();
            assert_eq!(pid, rustix::process::getpid());
            assert_eq!(described(&pidfd), pid.as_raw_nonzero().get());
            assert_eq!(fcntl_getfd(&pidfd), Ok(FdFlags::CLOEXEC));
        }
        check_peer(&one).unwrap();
    }

    #[test]
    fn a_peer_that_has_ended_is_no_running_process() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        let socket = new(SocketFlags::empty()).unwrap();
        let address = address(&path).unwrap();
        // SAFETY: the copy makes only system calls, and ends at once.
        let child = match unsafe { libc::fork() } {
            0 => {
                let code = i32::from(rustix::net::connect(&socket, &address).is_err());
                // SAFETY: _exit(2) ends the copy without running any code of this process.
                unsafe { libc::_exit(code) }
            }
            pid => Pid::from_raw(pid).unwrap(),
        };
        let status = rustix::process::waitpid(Some(child), rustix::process::WaitOptions::empty());
        assert_eq!(status.unwrap().unwrap().1.exit_status(), Some(0));
        let (peer, _) = listener.accept().unwrap();
        assert_eq!(credentials(&peer).unwrap().pid, child.as_raw_nonzero().get());
        // Since Linux 6.16, the system still returns a pidfd.
        if let Ok((_, pidfd)) = peer_process(&peer) {
            assert_eq!(described(&pidfd), -1);
        }
    }
}
