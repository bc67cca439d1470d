//! Actions `t`, `T`, `q` and `f`: image data in one piece or in chunks, sent inline or read from a named medium.

use std::sync::Arc;

use super::Failure;
use super::command::{Command, payload};
use super::frames::FrameCanvas;
use crate::grid::tiles::ImageKey;
use crate::term::Term;
use crate::term::graphics::decode::{self, DecodeError, Decoded};
use crate::term::graphics::decoding::Task;
use crate::term::graphics::media::{Media, MediaRequest, Medium};
use crate::term::graphics::pixels::{MAX_SIDE, Pixels};
use crate::term::graphics::store::{Frame, QUOTA};

/// Maximum bytes of a file's path or a shared memory object's name.
const NAME_CAP: usize = 2048;

/// Data that arrives in chunks.
#[derive(Debug)]
pub(crate) struct Loading {
    /// The first chunk's command.
    command: Command,
    data: Vec<u8>,
    /// Why the remaining chunks are ignored.
    failure: Option<Failure>,
}

impl Loading {
    /// Bytes so far.
    pub fn bytes(&self) -> usize {
        self.data.len()
    }

    /// Drops the data. The remaining chunks are ignored, and the program gets an error after the last one.
    pub fn shed(&mut self) {
        self.data = Vec::new();
        self.failure = Some(Failure::NoSpace);
    }

    /// Whether the data is for a frame of an animation.
    pub fn is_frame(&self) -> bool {
        self.command.action == b'f'
    }

    fn add(&mut self, chunk: &[u8]) {
        if self.failure.is_some() {
            return;
        }
        match payload(chunk) {
            None => self.failure = Some(Failure::BadData),
            Some(bytes) if self.data.len() + bytes.len() > data_cap(&self.command) => {
                self.failure = Some(Failure::TooLarge);
            }
            Some(bytes) if self.data.is_empty() => self.data = bytes,
            Some(bytes) => self.data.extend_from_slice(&bytes),
        }
        if self.failure.is_some() {
            self.data = Vec::new();
        }
    }
}

/// Maximum bytes of data that chunks may send inline, as for the files of other protocols. Larger images come in a named
/// medium.
const DATA_CAP: usize = 64 << 20;

/// Maximum bytes of data that a command may send, before decompression.
fn data_cap(command: &Command) -> usize {
    match (command.compression, bytes_per_pixel(command.format)) {
        (0, Some(bytes)) => {
            // The bytes for the declared size plus 1 MiB, because programs send more than they declare.
            (command.s as usize).saturating_mul(command.v as usize).saturating_mul(bytes)
        }
        .saturating_add(1 << 20)
        .min(DATA_CAP),
        _ => DATA_CAP,
    }
}

/// Bytes per pixel of a raw format; `None` for PNG and for unknown formats.
fn bytes_per_pixel(format: u32) -> Option<usize> {
    match format {
        24 => Some(3),
        0 | 32 => Some(4),
        _ => None,
    }
}

impl Term {
    /// Receives data for an image or a frame.
    pub(super) fn transmit(&mut self, command: &Command, chunk: &[u8]) {
        let direct = matches!(command.medium, 0 | b'd');
        let mut loading = match self.graphics.shown.loading.take() {
            Some(loading) if direct && continues(&loading, command) => loading,
            other => {
                if other.is_some() {
                    tracing::debug!("image abandoned half way");
                }
                Loading { command: *command, data: Vec::new(), failure: None }
            }
        };
        if command.quiet != 0 {
            loading.command.quiet = command.quiet;
        }
        loading.add(chunk);
        if direct && command.more {
            self.graphics.shown.loading = Some(loading);
            return;
        }
        let Loading { command, data, failure } = loading;
        if failure == Some(Failure::TooLarge) {
            self.caps.dropped("data of an image", data_cap(&command));
        }
        let data = failure.map_or(Ok(data), Err);
        let canvas = (command.action == b'f').then(|| self.frame_canvas(&command));
        let media = self.graphics.media.clone();
        // Named media are on the machine that the program runs on now.
        let host = (!direct).then(|| self.host().map(str::to_owned)).flatten();
        self.decode_apart(Task::Kitty(Transmission {
            command,
            media,
            host,
            canvas,
            data,
            decoded: None,
        }));
    }

    pub(in crate::term::graphics) fn finish_transmission(
        &mut self,
        mut transmission: Transmission,
    ) {
        transmission.run();
        let Transmission { command, canvas, decoded, .. } = transmission;
        let decoded = decoded.unwrap_or(Err(Failure::BadData));
        match (command.action, canvas) {
            (b'q', _) => {
                // A query without an id gets no reply.
                self.answer_kitty(&command, decoded.map(drop));
            }
            (b'f', Some(canvas)) => {
                let (command, result) = self.add_frame(command, canvas, decoded);
                self.answer_kitty(&command, result);
            }
            _ => {
                let (command, result) = self.add_image(command, decoded);
                let key = result.ok();
                if let Some(key) = key.filter(|_| command.action == b'T') {
                    let placed = self.place(&command, key);
                    self.answer_kitty(&command, placed);
                } else {
                    self.answer_kitty(&command, result.map(drop));
                }
            }
        }
    }

    /// Stores an image. Returns the command with the image's id.
    fn add_image(
        &mut self,
        mut command: Command,
        decoded: Result<Arc<Pixels>, Failure>,
    ) -> (Command, Result<ImageKey, Failure>) {
        // A new image replaces one with the same id, even if the new image is invalid.
        if let Some(old) = self.graphics.shown.store.by_id(command.id) {
            self.graphics.shown.remove_image(old);
        }
        let result = decoded.map(|pixels| {
            let layer = &mut self.graphics.shown;
            layer.make_room(&mut self.caps, pixels.rgba().len(), None);
            if command.number != 0 && command.id == 0 {
                command.id = layer.store.free_id();
            }
            let frames = vec![Frame { pixels, gap: 0, is_transient: command.is_transient() }];
            layer.store.add(command.id, command.number, frames)
        });
        (command, result)
    }
}

/// Complete data, to be decoded to pixels.
pub(crate) struct Transmission {
    command: Command,
    media: Option<Arc<dyn Media>>,
    /// See [`Term::host`]; unused for data that was sent inline.
    host: Option<String>,
    /// The canvas to compose a frame on (action `f`), or why there is none.
    canvas: Option<Result<FrameCanvas, Failure>>,
    data: Result<Vec<u8>, Failure>,
    /// The picture, for a frame composed on its canvas. `None` until `run`.
    decoded: Option<Result<Arc<Pixels>, Failure>>,
}

impl Transmission {
    pub fn run(&mut self) {
        if self.decoded.is_none() {
            self.decoded = Some(self.decode());
        }
    }

    fn decode(&mut self) -> Result<Arc<Pixels>, Failure> {
        let command = &self.command;
        if let Some(Err(failure)) = &self.canvas {
            return Err(*failure);
        }
        let data = std::mem::replace(&mut self.data, Ok(Vec::new()))?;
        // Check the format before reading, because reading may delete the medium.
        let form = Form::of(command)?;
        let decoded = form.decode(self.fetch(data)?)?;
        match &self.canvas {
            Some(Ok(canvas)) => canvas.compose(command, &decoded),
            _ => {
                let Decoded { width, height, rgba } = decoded;
                Pixels::new(width, height, rgba).ok_or(Failure::BadSize)
            }
        }
    }

    /// The bytes a command sent, or the bytes its medium holds.
    fn fetch(&self, data: Vec<u8>) -> Result<Vec<u8>, Failure> {
        let command = &self.command;
        let medium = match command.medium {
            0 | b'd' => return Ok(data),
            b'f' => Medium::File,
            b't' => Medium::TemporaryFile,
            b's' => Medium::SharedMemory,
            _ => return Err(Failure::BadFormat),
        };
        let Some(media) = &self.media else { return Err(Failure::Refused) };
        let name = std::str::from_utf8(&data).map_err(|_| Failure::BadData)?;
        if name.is_empty() || name.len() > NAME_CAP || name.contains('\0') {
            return Err(Failure::BadData);
        }
        let request = MediaRequest {
            medium,
            name,
            host: self.host.as_deref(),
            offset: command.offset as u64,
            size: command.size as u64,
            cap: QUOTA as u64,
        };
        Ok(media.read(&request)?)
    }
}

/// Whether a command is the next chunk of the current transmission. Kitty treats every such command as a chunk. Here, a
/// command that names another image starts a new transmission: it comes from another program, after one that stopped
/// early.
fn continues(loading: &Loading, command: &Command) -> bool {
    let first = &loading.command;
    (command.id == 0 || command.id == first.id)
        && (command.number == 0 || command.number == first.number)
        && (command.action == b'f') <= loading.is_frame()
}

/// The format of a command's data.
struct Form {
    width: u32,
    height: u32,
    /// Bytes per pixel, and in total; `None` for PNG, which states its own size.
    raw: Option<(usize, usize)>,
    packed: bool,
}

impl Form {
    /// The format of a command, if its data can form an image.
    fn of(command: &Command) -> Result<Self, Failure> {
        let (width, height) = (command.s, command.v);
        let raw = match bytes_per_pixel(command.format) {
            None if command.format == 100 => None,
            None => return Err(Failure::BadFormat),
            Some(_) if width == 0 || height == 0 || width > MAX_SIDE || height > MAX_SIDE => {
                return Err(Failure::BadSize);
            }
            Some(bytes) => {
                decode::check_size(width, height)?;
                Some((bytes, width as usize * height as usize * bytes))
            }
        };
        let packed = match command.compression {
            0 => false,
            b'z' => true,
            _ => return Err(Failure::BadFormat),
        };
        Ok(Self { width, height, raw, packed })
    }

    /// Decodes the pixels of the data.
    fn decode(&self, data: Vec<u8>) -> Result<Decoded, Failure> {
        let Self { width, height, .. } = *self;
        // Programs may send more data than needed.
        let cap = self.raw.map_or(QUOTA, |(_, needed)| needed + (1 << 20));
        let mut data = if self.packed { decode::inflate(&data, cap)? } else { data };
        match self.raw {
            None => decode::png(&data).map_err(|error| match error {
                DecodeError::Invalid => Failure::BadPng,
                error => error.into(),
            }),
            Some((_, needed)) if data.len() < needed => Err(Failure::TooFewBytes),
            Some((4, needed)) => {
                data.truncate(needed);
                Ok(Decoded { width, height, rgba: data })
            }
            Some((_, needed)) => {
                let mut rgba = Vec::with_capacity(needed / 3 * 4);
                for pixel in data[..needed].chunks_exact(3) {
                    rgba.extend_from_slice(&[pixel[0], pixel[1], pixel[2], 255]);
                }
                Ok(Decoded { width, height, rgba })
            }
        }
    }
}
