//! Where images come from that a program names rather than sends.
//!
//! The engine does no I/O: its owner gives it a [`Media`], or none where the program always runs on another machine. Which
//! host the program said it is on goes along with each request; whether that is another machine is the owner's knowledge.

/// A kind of place that image data can be read from (kitty graphics protocol, key `t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// `t=f`: a file.
    File,
    /// `t=t`: a file to be deleted once it was read.
    TemporaryFile,
    /// `t=s`: a POSIX shared memory object, to be deleted once it was read whole.
    SharedMemory,
}

/// What to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediaRequest<'a> {
    /// The kind of place.
    pub medium: Medium,
    /// Its path or name, as the program gave it: not to be trusted.
    pub name: &'a str,
    /// The host that the program said it runs on; see [`crate::Term::host`]. On another one the name means nothing here.
    pub host: Option<&'a str>,
    /// Bytes to leave out at its start.
    pub offset: u64,
    /// Bytes to read; 0 for all there are.
    pub size: u64,
    /// Bytes that may be read at most; more is [`MediaError::TooLarge`].
    pub cap: u64,
}

/// Why nothing was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaError {
    /// There is nothing by that name, or it can't be opened or read.
    Unreadable,
    /// It is nothing a terminal may read: no regular file, a link, a part of `/proc`, `/sys` or `/dev`, or a name that may be
    /// one on another machine.
    Refused,
    /// It has more bytes than may be read.
    TooLarge,
}

/// Reads image data for a terminal, whose program runs on the same machine. Asked only for data of a form and a size that can
/// be shown.
///
/// Called where [`crate::Decoding::run`] is; the program's output waits meanwhile, so it must not wait for anything but a
/// disk.
pub trait Media: std::fmt::Debug + Send + Sync {
    /// Reads what `request` asks for; once it was read, deletes what its medium says is to be deleted, when it may.
    fn read(&self, request: &MediaRequest<'_>) -> Result<Vec<u8>, MediaError>;
}
