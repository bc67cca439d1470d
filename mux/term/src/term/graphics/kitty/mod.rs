//! The kitty graphics protocol (sw.kovidgoyal.net/kitty/graphics-protocol).
//!
//! Each action has its own file; this file dispatches to them and writes the replies. Where the protocol leaves details
//! open, this follows kitty.

mod command;
mod delete;
pub(crate) mod diacritics;
mod frames;
pub(crate) mod placeholder;
mod put;
pub(crate) use put::PARENTS_CAP;
mod transmit;

pub(crate) use command::{BASE64, Command};
pub(crate) use frames::Composition;
pub(crate) use transmit::{Loading, Transmission};

use super::decode::DecodeError;
use super::media::MediaError;
use crate::grid::tiles::ImageKey;
use crate::term::Term;

/// The text of an error reply: a code from the protocol and a text of ours, never the program's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// `i` and `I` together.
    BothIds,
    NoImage,
    NoFrame,
    NoParent,
    Cycle,
    OwnParent,
    TooDeep,
    VirtualChild,
    /// Invalid base64 or zlib data.
    BadData,
    BadPng,
    BadFormat,
    BadSize,
    TooLarge,
    NoSpace,
    /// Fewer bytes than the size requires.
    TooFewBytes,
    Unreadable,
    Refused,
    OutOfBounds,
    Overlap,
    NoFrameBase,
}

impl Failure {
    fn text(self) -> &'static str {
        match self {
            Self::BothIds => "EINVAL:an image id and an image number together",
            Self::NoImage => "ENOENT:no such image",
            Self::NoFrame => "ENOENT:no such frame",
            Self::NoParent => "ENOPARENT:no such parent placement",
            Self::Cycle => "ECYCLE:a placement would be its own ancestor",
            Self::OwnParent => "EINVAL:a placement would be its own parent",
            Self::TooDeep => "ETOODEEP:too many parents",
            Self::VirtualChild => "EINVAL:a virtual placement has no parent",
            Self::BadData => "EINVAL:the data is not what it is said to be",
            Self::BadPng => "EBADPNG:no readable PNG",
            Self::BadFormat => "EINVAL:unknown format, medium or compression",
            Self::BadSize => "EINVAL:width and height must be from 1 to 10000",
            Self::TooLarge => "EFBIG:too much data",
            Self::NoSpace => "ENOSPC:no space left for images",
            Self::TooFewBytes => "ENODATA:less data than the size says",
            Self::Unreadable => "EBADF:not readable",
            Self::Refused => "EPERM:not allowed to be read",
            Self::OutOfBounds => "EINVAL:the rectangle leaves the image",
            Self::Overlap => "EINVAL:source and destination overlap",
            Self::NoFrameBase => "EINVAL:no such base frame",
        }
    }
}

impl From<DecodeError> for Failure {
    fn from(error: DecodeError) -> Self {
        match error {
            DecodeError::Invalid => Self::BadData,
            DecodeError::TooLarge => Self::TooLarge,
        }
    }
}

impl From<MediaError> for Failure {
    fn from(error: MediaError) -> Self {
        match error {
            MediaError::Unreadable => Self::Unreadable,
            MediaError::Refused => Self::Refused,
            MediaError::TooLarge => Self::TooLarge,
        }
    }
}

impl Term {
    /// Handles a graphics command, the text between `ESC _ G` and its terminator.
    pub(crate) fn kitty_graphics(&mut self, string: &[u8]) {
        self.settle_images();
        let Some((command, payload)) = Command::parse(string) else {
            tracing::debug!(length = string.len(), "graphics command not understood");
            return;
        };
        if command.id != 0 && command.number != 0 {
            return self.answer_kitty(&command, Err(Failure::BothIds));
        }
        let loads_frame =
            self.graphics.shown.loading.as_ref().is_some_and(|loading| loading.is_frame());
        match command.action {
            // A chunk of a frame should have `a=f`, but may omit it.
            0 if loads_frame => self.transmit(&command, payload),
            0 | b't' | b'T' | b'q' | b'f' => self.transmit(&command, payload),
            b'p' => {
                if command.id != 0 || command.number != 0 {
                    let (command, result) = self.place_again(&command);
                    self.answer_kitty(&command, result);
                }
            }
            b'd' => self.delete_images(&command),
            b'a' => self.control_animation(&command),
            b'c' => self.compose_frames(&command),
            action => tracing::debug!(action, "unknown graphics action"),
        }
    }

    /// The image that a command refers to.
    fn named_image(&self, command: &Command) -> Option<ImageKey> {
        let store = &self.graphics.shown.store;
        if command.id != 0 { store.by_id(command.id) } else { store.by_number(command.number) }
    }

    /// Replies to a command that refers to an image, unless the command suppresses the reply.
    fn answer_kitty(&mut self, command: &Command, result: Result<(), Failure>) {
        let unwanted = match result {
            Ok(()) => command.quiet > 0,
            Err(_) => command.quiet > 1,
        };
        if let Err(failure) = result {
            tracing::debug!(?failure, "graphics command failed");
        }
        if unwanted || (command.id == 0 && command.number == 0) {
            return;
        }
        let mut keys = Vec::new();
        let frame = matches!(command.action, b'f' | b'a');
        for (key, value) in [
            ("i", command.id),
            ("I", command.number),
            ("p", command.placement),
            ("r", if frame { command.r } else { 0 }),
        ] {
            if value != 0 {
                keys.push(format!("{key}={value}"));
            }
        }
        let text = result.map_or_else(Failure::text, |()| "OK");
        self.reply(format!("\x1b_G{};{text}\x1b\\", keys.join(",")).as_bytes());
    }
}
