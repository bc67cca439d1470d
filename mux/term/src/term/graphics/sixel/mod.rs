//! Sixel graphics (VT330/VT340 Programmer Reference, volume 2, chapter 14; xterm ctlseqs "Sixel Graphics").
//!
//! Where the manual and xterm differ, this follows xterm: pixels are square whatever the aspect ratio, the background
//! is filled only within the size in the raster attributes, and the cursor ends in the image's last row.

mod colors;
mod decoder;

use std::sync::Arc;

use crate::Rgb;
use crate::params::Params;
use crate::term::Term;
use colors::Registers;
use decoder::Decoder;

use super::decoding::Task;
use super::pixels::{MAX_SIDE, Pixels};

/// The maximum and initial number of color registers, as in xterm.
const MAX_REGISTERS: u32 = 1024;

/// A private mode of sixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SixelMode {
    /// DECSDM, ?80: images start in the screen's corner and do not scroll.
    Display,
    /// ?1070: each image has its own color registers.
    PrivateColors,
    /// ?8452: the cursor ends to the right of the image.
    CursorRight,
}

/// The settings of the modes and XTSMGRAPHICS.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    display: bool,
    private_colors: bool,
    cursor_right: bool,
    registers: u32,
    /// Color registers shared by all images, unless each has its own.
    shared: Option<Arc<[Rgb]>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            display: false,
            private_colors: true,
            cursor_right: false,
            registers: MAX_REGISTERS,
            shared: None,
        }
    }
}

impl Settings {
    pub fn mode(&self, mode: SixelMode) -> bool {
        match mode {
            SixelMode::Display => self.display,
            SixelMode::PrivateColors => self.private_colors,
            SixelMode::CursorRight => self.cursor_right,
        }
    }

    /// The number of color registers.
    pub fn registers(&self) -> u32 {
        self.registers
    }

    /// The colors that images share, if an image has set any.
    pub fn shared(&self) -> Option<&[Rgb]> {
        self.shared.as_deref()
    }

    pub fn set_mode(&mut self, mode: SixelMode, on: bool) {
        match mode {
            SixelMode::Display => self.display = on,
            SixelMode::PrivateColors => self.private_colors = on,
            SixelMode::CursorRight => self.cursor_right = on,
        }
    }
}

/// A complete image, to be decoded to pixels.
pub(super) struct Drawing {
    /// The string that ends with the image data, and the length of the data.
    pub string: Vec<u8>,
    length: usize,
    /// `Some` until `run`.
    decoder: Option<Decoder>,
    opaque: bool,
    /// The results: the registers as the image left them, and the picture, if there is one.
    registers: Option<Arc<[Rgb]>>,
    pixels: Option<Arc<Pixels>>,
}

impl Drawing {
    pub fn run(&mut self) {
        let Some(mut decoder) = self.decoder.take() else { return };
        decoder.read(&self.string[self.string.len().saturating_sub(self.length)..]);
        self.registers = Some(decoder.registers().as_slice().into());
        let picture = decoder.finish(self.opaque);
        self.pixels = picture.and_then(|(width, height, rgba)| Pixels::new(width, height, rgba));
        self.string = Vec::new();
    }
}

impl Term {
    /// A sixel image: its parameters (`P1;P2;P3`), and its data from after the `q` to the end of the string.
    pub(crate) fn sixel(&mut self, params: &[u8], data: &[u8]) {
        let background = params.split(|&b| b == b';').nth(1).unwrap_or_default();
        let opaque = background != b"1";
        let cell = self.cell_size();
        let settings = &self.graphics.sixel;
        let display = settings.display;
        let first_col = if display { 0 } else { self.cursor.col };
        let width_cells = self.grid.cols() - first_col;
        // Pixels beyond the right edge are never visible.
        let max_width = (width_cells as u32 * cell.width).min(MAX_SIDE);
        let max_height =
            if display { (self.grid.rows() as u32 * cell.height).min(MAX_SIDE) } else { MAX_SIDE };
        let registers = match &settings.shared {
            Some(shared) if !settings.private_colors => Registers::from(shared, settings.registers),
            _ => Registers::new(settings.registers),
        };
        let decoder = Decoder::new(registers, max_width, max_height);
        self.decode_apart(Task::Sixel(Drawing {
            string: Vec::new(),
            length: data.len(),
            decoder: Some(decoder),
            opaque,
            registers: None,
            pixels: None,
        }));
    }

    pub(in crate::term::graphics) fn finish_sixel(&mut self, mut drawing: Drawing) {
        drawing.run();
        let settings = &mut self.graphics.sixel;
        let display = settings.display;
        if !settings.private_colors {
            settings.shared = drawing.registers;
        }
        let Some(pixels) = drawing.pixels else {
            tracing::debug!(drawing.length, "sixel image without pixels");
            return;
        };
        let cell = self.cell_size();
        let per_cell = (cell.width as f32, cell.height as f32);
        let saved = self.cursor;
        let first_col = saved.col;
        if display {
            self.cursor = Default::default();
        }
        let shown = self.show_in_cells(vec![(pixels, 0)], per_cell, !display);
        if display {
            self.cursor = saved;
            return;
        }
        self.cursor.wrap_pending = false;
        self.cursor.col = match shown {
            Some(cols) if self.graphics.sixel.cursor_right => first_col + cols,
            _ => first_col,
        };
        // Beyond the margin, move to the next line (xterm).
        if self.cursor.col >= self.right {
            self.cursor.col = self.left;
            self.index();
        }
    }

    /// XTSMGRAPHICS (xterm ctlseqs): item (1 color registers, 2 size of a sixel image in pixels), action (1 read, 2
    /// reset, 3 set, 4 read the maximum), value. As in xterm, the size is the window's and cannot be set.
    pub(crate) fn graphics_attribute(&mut self, params: &Params) {
        const SUCCESS: u8 = 0;
        const BAD_ITEM: u8 = 1;
        const BAD_ACTION: u8 = 2;
        const FAILURE: u8 = 3;
        let (item, action, value) = (params.get(0), params.get(1), params.get(2) as u32);
        let cell = self.cell_size();
        let settings = &mut self.graphics.sixel;
        let size = |pixels: (u32, u32)| Ok(format!(";{};{}", pixels.0, pixels.1));
        let result = match (item, action) {
            (1, 1) => Ok(format!(";{}", settings.registers)),
            (1, 2) => {
                settings.registers = MAX_REGISTERS;
                Ok(format!(";{MAX_REGISTERS}"))
            }
            (1, 3) if (2..=MAX_REGISTERS).contains(&value) => {
                settings.registers = value;
                Ok(format!(";{value}"))
            }
            (1, 4) => Ok(format!(";{MAX_REGISTERS}")),
            (2, 1) => size((
                (self.size.cols as u32 * cell.width).min(MAX_SIDE),
                (self.size.rows as u32 * cell.height).min(MAX_SIDE),
            )),
            (2, 4) => size((MAX_SIDE, MAX_SIDE)),
            (1 | 2, 2 | 3) => Err(FAILURE),
            (1 | 2, _) => Err(BAD_ACTION),
            _ => Err(BAD_ITEM),
        };
        let reply = match result {
            Ok(value) => format!("\x1b[?{item};{SUCCESS}{value}S"),
            Err(status) => format!("\x1b[?{item};{status}S"),
        };
        self.reply(reply.as_bytes());
    }
}
