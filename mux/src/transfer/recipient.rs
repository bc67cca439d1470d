//! The replies of a session.

use std::sync::Arc;

use unterm_term::TransferReply;

/// The session that replies belong to, and the kinds of replies that the program wants.
#[derive(Clone, Debug)]
pub(crate) struct Recipient {
    pub(crate) id: Arc<str>,
    pub(crate) quiet: u8,
}

impl Recipient {
    /// An acknowledgment, if the program wants it.
    pub(crate) fn acknowledge(&self, reply: TransferReply<'_>) -> Option<String> {
        let reply = TransferReply { action: "status", id: &self.id, ..reply };
        (self.quiet == 0).then(|| reply.encode())
    }

    /// An error, if the program wants it. `status` begins with a code such as `EPERM`.
    pub(crate) fn fail(&self, file_id: &str, status: &str) -> Option<String> {
        let reply =
            TransferReply { action: "status", id: &self.id, file_id, status, ..Default::default() };
        (self.quiet < 2).then(|| reply.encode())
    }

    /// The reply to the program's request: a listing or data.
    pub(crate) fn send(&self, reply: TransferReply<'_>) -> String {
        TransferReply { id: &self.id, ..reply }.encode()
    }
}

/// The status for an error of the system.
pub(crate) fn status_of(error: &std::io::Error) -> String {
    use std::io::ErrorKind;
    let code = match error.kind() {
        ErrorKind::NotFound => "ENOENT",
        ErrorKind::PermissionDenied => "EPERM",
        ErrorKind::AlreadyExists => "EEXIST",
        ErrorKind::IsADirectory => "EISDIR",
        ErrorKind::InvalidInput => "EINVAL",
        ErrorKind::ResourceBusy => "EBUSY",
        _ => "EIO",
    };
    format!("{code}:{error}")
}
