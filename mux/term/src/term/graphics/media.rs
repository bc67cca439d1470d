//! Access to image data that a program names instead of sending.
//!
//! The engine does no I/O. Its owner provides a [`Media`], or none if the program always runs on another machine. Each
//! request carries the host that the program reported; the owner decides whether that is another machine.

/// Where image data can be read from (kitty graphics protocol, key `t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// `t=f`: a file.
    File,
    /// `t=t`: a file to delete after reading it.
    TemporaryFile,
    /// `t=s`: a POSIX shared memory object, to delete after reading all of it.
    SharedMemory,
}

/// What to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediaRequest<'a> {
    /// The kind of medium.
    pub medium: Medium,
    /// The path or name as the program sent it; untrusted.
    pub name: &'a str,
    /// The host that the program reported; see [`crate::Term::host`]. If it is another host, the name has no meaning
    /// here.
    pub host: Option<&'a str>,
    /// Bytes to skip at the start.
    pub offset: u64,
    /// Bytes to read; 0 for all.
    pub size: u64,
    /// Maximum bytes to read; more is [`MediaError::TooLarge`].
    pub cap: u64,
}

/// Why nothing was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaError {
    /// The name does not exist, or cannot be opened or read.
    Unreadable,
    /// A terminal must not read it: it is no regular file, or is a link, a part of `/proc`, `/sys` or `/dev`, or a name
    /// that may refer to another machine.
    Refused,
    /// The file has more bytes than the cap.
    TooLarge,
}

/// Reads image data for a terminal whose program runs on the same machine. The terminal requests only data with a
/// format and size that it can display.
///
/// Called from [`crate::Decoding::run`] while the program's output waits, so it must not block on anything but a disk.
pub trait Media: std::fmt::Debug + Send + Sync {
    /// Reads what `request` describes. After reading, deletes the data if its medium requires that and it is allowed
    /// to.
    fn read(&self, request: &MediaRequest<'_>) -> Result<Vec<u8>, MediaError>;
}
