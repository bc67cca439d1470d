//! iTerm2's inline images (iterm2.com/documentation-images.html): OSC 1337 File, MultipartFile, FilePart, FileEnd.
//!
//! Accepts only files to display (`inline=1`), not downloads.

use std::sync::Arc;

use base64::Engine as _;

use super::decode;
use super::decoding::Task;
use super::kitty::BASE64;
use super::pixels::Pixels;
use crate::cap::Caps;
use crate::term::Term;

/// Maximum bytes of a file.
const FILE_CAP: usize = 64 << 20;

/// A length that a program requests.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Length {
    /// The image's own length.
    #[default]
    Auto,
    Cells(u32),
    Pixels(u32),
    /// Percent of the screen.
    Percent(u32),
}

/// The arguments before the `:` of a File.
#[derive(Clone, Copy, Debug, Default)]
struct Arguments {
    inline: bool,
    /// The file's size in bytes; 0 if not stated.
    size: usize,
    width: Length,
    height: Length,
    stretch: bool,
    /// The cursor does not move (WezTerm's `doNotMoveCursor`).
    stay: bool,
}

/// A file that arrives in parts.
#[derive(Debug, Default)]
pub(crate) struct Upload {
    arguments: Arguments,
    /// Base64, which the parts may split anywhere.
    base64: Vec<u8>,
}

impl Upload {
    /// Bytes so far.
    pub fn bytes(&self) -> usize {
        self.base64.len()
    }
}

/// A complete file, to be decoded to pixels.
pub(super) struct File {
    /// The string that ends with [`Contents::Base64`].
    pub string: Vec<u8>,
    arguments: Arguments,
    contents: Contents,
}

enum Contents {
    /// This many bytes at the end of the string.
    Base64(usize),
    /// Base64 assembled from parts.
    Parts(Vec<u8>),
    /// Each frame with its duration in milliseconds; empty if the file was not an image.
    Frames(Vec<(Arc<Pixels>, u32)>),
}

impl File {
    pub fn run(&mut self) {
        let string = std::mem::take(&mut self.string);
        let data = match std::mem::replace(&mut self.contents, Contents::Frames(Vec::new())) {
            Contents::Frames(frames) => {
                // Already decoded.
                self.contents = Contents::Frames(frames);
                return;
            }
            Contents::Parts(base64) => self.arguments.decode(&base64),
            Contents::Base64(length) => {
                self.arguments.decode(&string[string.len().saturating_sub(length)..])
            }
        };
        let Some(data) = data else {
            tracing::debug!("file dropped: it is no base64, or longer than it said");
            return;
        };
        match decode::file(&data) {
            Ok(frames) => {
                let frames = frames.into_iter().filter_map(|(frame, delay)| {
                    Some((Pixels::new(frame.width, frame.height, frame.rgba)?, delay))
                });
                self.contents = Contents::Frames(frames.collect());
            }
            Err(error) => tracing::debug!(?error, length = data.len(), "file shows no image"),
        }
    }
}

impl Term {
    /// File: arguments and contents, separated by a colon.
    pub(crate) fn show_iterm2_file(&mut self, value: &[u8]) {
        let Some(at) = memchr::memchr(b':', value) else {
            tracing::debug!("file without contents");
            return;
        };
        let Some(arguments) = Arguments::parse(&value[..at], &mut self.caps) else { return };
        let contents = Contents::Base64(value.len() - at - 1);
        self.decode_apart(Task::File(File { string: Vec::new(), arguments, contents }));
    }

    /// MultipartFile: the arguments of a file whose contents follow.
    pub(crate) fn begin_iterm2_file(&mut self, value: &[u8]) {
        let arguments = Arguments::parse(value, &mut self.caps);
        self.graphics.upload = arguments.map(|arguments| Upload { arguments, base64: Vec::new() });
    }

    /// FilePart: further contents of any length, decoded at the end. A part that exceeds the cap drops the whole file.
    pub(crate) fn continue_iterm2_file(&mut self, value: &[u8]) {
        let Some(mut upload) = self.graphics.upload.take() else { return };
        let most = upload.arguments.cap().div_ceil(3) * 4;
        if upload.base64.len() + value.len() > most {
            // The file is longer than it stated, or than a file may be.
            return self.caps.dropped("image file in parts", upload.arguments.cap());
        }
        upload.base64.extend_from_slice(value);
        self.graphics.upload = Some(upload);
    }

    /// FileEnd: the contents are complete.
    pub(crate) fn end_iterm2_file(&mut self) {
        if let Some(Upload { arguments, base64 }) = self.graphics.upload.take() {
            let contents = Contents::Parts(base64);
            self.decode_apart(Task::File(File { string: Vec::new(), arguments, contents }));
        }
    }

    pub(super) fn finish_file(&mut self, mut file: File) {
        file.run();
        let File { arguments, contents: Contents::Frames(frames), .. } = file else { return };
        let Some((first, _)) = frames.first() else { return };
        let (image_width, image_height) = (first.width() as f32, first.height() as f32);
        let cell = self.cell_size();
        let (cols, rows) = (self.grid.cols() as u32, self.grid.rows() as u32);
        let width = arguments.width.pixels(cell.width, cols);
        let height = arguments.height.pixels(cell.height, rows);
        let (width, height) = match (width, height) {
            (None, None) => {
                // An image that is too wide for the screen is scaled down to fit.
                let most = (cols * cell.width) as f32;
                let scale = (most / image_width).min(1.0);
                (image_width * scale, image_height * scale)
            }
            (Some(width), None) if !arguments.stretch => {
                (width, width * image_height / image_width)
            }
            (None, Some(height)) if !arguments.stretch => {
                (height * image_width / image_height, height)
            }
            (Some(width), Some(height)) if !arguments.stretch => {
                let scale = (width / image_width).min(height / image_height);
                (image_width * scale, image_height * scale)
            }
            (width, height) => (width.unwrap_or(image_width), height.unwrap_or(image_height)),
        };
        if width < 1.0 || height < 1.0 {
            return;
        }
        let per_cell =
            (cell.width as f32 * image_width / width, cell.height as f32 * image_height / height);
        let saved = self.cursor;
        self.cursor.wrap_pending = false;
        let shown = self.show_in_cells(frames, per_cell, !arguments.stay);
        if arguments.stay {
            self.cursor = saved;
        } else if let Some(cols) = shown {
            self.cursor.col = (self.cursor.col + cols).min(self.grid.cols() - 1);
        }
    }
}

impl Arguments {
    /// Parses `key=value` pairs separated by semicolons. Returns `None` if the file is not for display or is too large.
    fn parse(text: &[u8], caps: &mut Caps) -> Option<Self> {
        let mut arguments = Self::default();
        for pair in std::str::from_utf8(text).ok()?.split(';') {
            let Some((key, value)) = pair.split_once('=') else { continue };
            match key {
                "inline" => arguments.inline = value == "1",
                "size" => arguments.size = value.parse().unwrap_or(0),
                "width" => arguments.width = Length::parse(value),
                "height" => arguments.height = Length::parse(value),
                "preserveAspectRatio" => arguments.stretch = value == "0",
                "doNotMoveCursor" => arguments.stay = value == "1",
                _ => {}
            }
        }
        if !arguments.inline {
            tracing::debug!("a file that is not to be shown");
            return None;
        }
        if arguments.size > FILE_CAP {
            caps.dropped("image file", FILE_CAP);
            return None;
        }
        Some(arguments)
    }

    /// Maximum bytes of the file: iTerm2's page rejects a file that is longer than it stated.
    fn cap(&self) -> usize {
        if self.size == 0 { FILE_CAP } else { self.size }
    }

    fn decode(&self, base64: &[u8]) -> Option<Vec<u8>> {
        BASE64.decode(base64).ok().filter(|data| data.len() <= self.cap())
    }
}

impl Length {
    fn parse(text: &str) -> Self {
        let number =
            |digits: &str| digits.parse::<u32>().ok().filter(|n| (1..=100_000).contains(n));
        let length = if let Some(digits) = text.strip_suffix("px") {
            number(digits).map(Self::Pixels)
        } else if let Some(digits) = text.strip_suffix('%') {
            number(digits).map(Self::Percent)
        } else {
            number(text).map(Self::Cells)
        };
        length.unwrap_or_default()
    }

    /// The length in pixels, given the size of a cell and the cells of the screen; `None` for the image's own length.
    fn pixels(self, cell: u32, cells: u32) -> Option<f32> {
        match self {
            Self::Auto => None,
            Self::Cells(n) => Some((n.min(cells * 8) * cell) as f32),
            Self::Pixels(n) => Some(n as f32),
            Self::Percent(n) => Some((cells * cell) as f32 * n.min(800) as f32 / 100.0),
        }
    }
}
