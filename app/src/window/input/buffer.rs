//! The clipboards of the system: the clipboard itself, and the primary selection.

use unterm_term::ClipboardTarget;

/// A clipboard of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Buffer {
    Clipboard,
    /// The primary selection of X11 and Wayland. On other systems, the clipboard.
    Primary,
}

impl From<ClipboardTarget> for Buffer {
    fn from(target: ClipboardTarget) -> Self {
        match target {
            ClipboardTarget::Clipboard => Self::Clipboard,
            ClipboardTarget::Primary => Self::Primary,
        }
    }
}

impl From<Buffer> for ClipboardTarget {
    fn from(buffer: Buffer) -> Self {
        match buffer {
            Buffer::Clipboard => Self::Clipboard,
            Buffer::Primary => Self::Primary,
        }
    }
}

/// The clipboard in the words of the clipboard library.
#[cfg(all(unix, not(target_os = "macos")))]
pub(super) fn kind(buffer: Buffer) -> arboard::LinuxClipboardKind {
    match buffer {
        Buffer::Clipboard => arboard::LinuxClipboardKind::Clipboard,
        Buffer::Primary => arboard::LinuxClipboardKind::Primary,
    }
}
