//! Messages as bytes, written down a second time, so that a change of the format is noticed.

use std::{
    io::{Read as _, Write as _},
    os::{fd::OwnedFd, unix::net::UnixStream},
    path::Path,
};

use rustix::{
    io::Errno,
    net::{
        AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect as connect_to, socket_with,
    },
};

pub(crate) const HELLO: u16 = 1;
pub(crate) const START: u16 = 2;
pub(crate) const LIST: u16 = 4;
pub(crate) const IDENTIFY: u16 = 5;
pub(crate) const DESCRIBE: u16 = 6;
pub(crate) const TAKE: u16 = 7;
pub(crate) const SUCCEED: u16 = 9;
pub(crate) const REPLY_HELLO: u16 = 0x8001;
pub(crate) const REPLY_HELD: u16 = 0x8002;
pub(crate) const REPLY_PANES: u16 = 0x8003;
pub(crate) const REPLY_IDENTITY: u16 = 0x8004;
pub(crate) const REPLY_DONE: u16 = 0x8005;
pub(crate) const REPLY_REFUSED: u16 = 0x80ff;

pub(crate) fn frame(kind: u16, body: &[u8]) -> Vec<u8> {
    let mut bytes = (body.len() as u32).to_le_bytes().to_vec();
    bytes.extend_from_slice(&kind.to_le_bytes());
    bytes.extend_from_slice(&[0, 0]);
    bytes.extend_from_slice(body);
    bytes
}

pub(crate) fn field(tag: u16, contents: &[u8]) -> Vec<u8> {
    let mut bytes = tag.to_le_bytes().to_vec();
    bytes.extend_from_slice(&(contents.len() as u32).to_le_bytes());
    bytes.extend_from_slice(contents);
    bytes
}

pub(crate) fn number(tag: u16, number: u64) -> Vec<u8> {
    field(tag, &number.to_le_bytes())
}

pub(crate) fn hello(oldest: u64, newest: u64) -> Vec<u8> {
    frame(HELLO, &[number(1, oldest), number(2, newest), field(3, b"raw")].concat())
}

/// A start of `/bin/sh -c script`.
pub(crate) fn start(script: &str) -> Vec<u8> {
    let size: Vec<u8> = [80u64, 24, 0, 0].iter().flat_map(|side| side.to_le_bytes()).collect();
    let body = [
        field(1, b"/bin/sh"),
        field(2, b"sh"),
        field(3, b"-c"),
        field(3, script.as_bytes()),
        field(4, b"PATH=/usr/bin:/bin"),
        field(6, b"/"),
        field(7, &size),
    ];
    frame(START, &body.concat())
}

/// Connects without a greeting.
pub(crate) fn connect(socket: &Path) -> UnixStream {
    let stream = UnixStream::connect(socket).unwrap();
    stream.set_read_timeout(Some(super::LIMIT)).unwrap();
    stream
}

/// Connects without waiting. `None` if too many clients wait for the keeper.
pub(crate) fn connect_at_once(socket: &Path) -> Option<OwnedFd> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let stream = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).unwrap();
    match connect_to(&stream, &SocketAddrUnix::new(socket).unwrap()) {
        Ok(()) => Some(stream),
        Err(error) => {
            assert_eq!(error, Errno::AGAIN);
            None
        }
    }
}

/// Connects with a greeting.
pub(crate) fn greeted(socket: &Path) -> UnixStream {
    let mut stream = connect(socket);
    stream.write_all(&hello(1, 1)).unwrap();
    assert_eq!(read(&mut stream).0, REPLY_HELLO);
    stream
}

/// Reads one message: its kind and its body. The system closes descriptors that come with it.
pub(crate) fn read(stream: &mut UnixStream) -> (u16, Vec<u8>) {
    let mut header = [0; 8];
    stream.read_exact(&mut header).unwrap();
    let [a, b, c, d, e, f, ..] = header;
    let mut body = vec![0; u32::from_le_bytes([a, b, c, d]) as usize];
    stream.read_exact(&mut body).unwrap();
    (u16::from_le_bytes([e, f]), body)
}

/// The text of a refusal.
pub(crate) fn read_refusal(stream: &mut UnixStream) -> String {
    let (kind, body) = read(stream);
    assert_eq!(kind, REPLY_REFUSED);
    // The code is a field of 14 bytes, and the text has a header of 6 bytes.
    String::from_utf8(body[20..].to_vec()).unwrap()
}

/// Waits until the keeper has closed the connection.
pub(crate) fn wait_closed(stream: &mut UnixStream) {
    let mut rest = Vec::new();
    // The end is an error if the keeper has not read everything.
    let _ = stream.read_to_end(&mut rest);
    assert_eq!(rest, b"");
}
