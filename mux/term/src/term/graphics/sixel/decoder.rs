//! Decodes sixel data to pixels. Accepts data in pieces, and ignores pixels beyond the maximum size.

use super::super::store::QUOTA;
use super::colors::Registers;
use crate::work;

/// Maximum writes of pixels for one image. The quota is in bytes and a pixel takes 4, so each pixel of the largest
/// image can be written four times.
const SET_CAP: usize = QUOTA;
/// Maximum numbers of a command.
const MAX_NUMBERS: usize = 5;
/// Rows of pixels in a sixel.
const BAND: u32 = 6;

/// What the next byte belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Data,
    /// The numbers after a `!`, `"` or `#`.
    Numbers(u8),
}

/// A pixel that was never drawn.
const HOLE: u32 = 0;

pub(super) struct Decoder {
    registers: Registers,
    max_width: u32,
    max_height: u32,
    state: State,
    numbers: [u32; MAX_NUMBERS],
    count: usize,
    repeat: u32,
    color: u32,
    x: u32,
    /// The top row of the band.
    y: u32,
    /// Pixels as RGBA in memory order, `stride` per row.
    pixels: Vec<u32>,
    stride: u32,
    /// The size drawn so far, and the size in the raster attributes.
    width: u32,
    height: u32,
    declared: (u32, u32),
    set: usize,
}

impl Decoder {
    /// A decoder for an image of at most this size.
    pub fn new(registers: Registers, max_width: u32, max_height: u32) -> Self {
        Self {
            registers,
            max_width,
            max_height,
            state: State::Data,
            numbers: [0; MAX_NUMBERS],
            count: 0,
            repeat: 1,
            color: 0,
            x: 0,
            y: 0,
            pixels: Vec::new(),
            stride: 0,
            width: 0,
            height: 0,
            declared: (0, 0),
            set: 0,
        }
    }

    pub fn registers(&self) -> &Registers {
        &self.registers
    }

    /// Reads more of the image's data.
    pub fn read(&mut self, data: &[u8]) {
        work::add(data.len());
        for &byte in data {
            if let State::Numbers(command) = self.state {
                match byte {
                    b'0'..=b'9' => {
                        if let Some(number) = self.numbers.get_mut(self.count) {
                            *number = (*number * 10 + (byte - b'0') as u32).min(u16::MAX as u32);
                        }
                        continue;
                    }
                    b';' => {
                        self.count = (self.count + 1).min(MAX_NUMBERS);
                        continue;
                    }
                    _ => self.apply(command),
                }
            }
            match byte {
                b'?'..=b'~' => self.draw(byte - b'?'),
                b'!' | b'"' | b'#' => {
                    self.state = State::Numbers(byte);
                    self.numbers = [0; MAX_NUMBERS];
                    self.count = 0;
                }
                b'$' => self.x = 0,
                b'-' => {
                    self.x = 0;
                    self.y = self.y.saturating_add(BAND);
                }
                _ => {}
            }
        }
    }

    /// Applies a command whose numbers are complete.
    fn apply(&mut self, command: u8) {
        self.state = State::Data;
        let [first, second, x, y, z] = self.numbers;
        match command {
            // DECGRI: repeats the next sixel.
            b'!' => self.repeat = first.max(1),
            // DECGRA: aspect ratio, which is ignored, and size.
            b'"' => {
                let size = (x.min(self.max_width), y.min(self.max_height));
                self.declared = size;
                if size.0 > 0 && size.1 > 0 {
                    self.reserve(size.0, size.1);
                }
            }
            // DECGCI: selects a register, and sets it if a color follows.
            _ => {
                self.color = first;
                if self.count >= 1 {
                    self.registers.set(first, second, [x, y, z]);
                }
            }
        }
    }

    /// Makes room for an image of this size. Returns false if it exceeds the quota.
    fn reserve(&mut self, width: u32, height: u32) -> bool {
        if width > self.stride {
            let stride = width.next_power_of_two().min(self.max_width).max(width);
            let rows = (self.pixels.len() as u32).checked_div(self.stride).unwrap_or(0);
            if stride as usize * rows as usize * 4 > QUOTA {
                return false;
            }
            let mut pixels = Vec::with_capacity(stride as usize * rows as usize);
            for row in 0..rows as usize {
                let start = row * self.stride as usize;
                pixels.extend_from_slice(&self.pixels[start..start + self.stride as usize]);
                pixels.resize((row + 1) * stride as usize, HOLE);
            }
            work::add(pixels.len());
            self.pixels = pixels;
            self.stride = stride;
        }
        let needed = self.stride as usize * height as usize;
        if needed * 4 > QUOTA {
            return false;
        }
        if needed > self.pixels.len() {
            work::add(needed - self.pixels.len());
            self.pixels.resize(needed, HOLE);
        }
        true
    }

    /// Draws a sixel as often as requested; bit 0 is its top pixel.
    fn draw(&mut self, bits: u8) {
        let repeat = std::mem::replace(&mut self.repeat, 1);
        let start = self.x;
        self.x = start.saturating_add(repeat);
        let end = self.x.min(self.max_width);
        let lowest = self.y.saturating_add(BAND - bits.leading_zeros().saturating_sub(2));
        let bottom = lowest.min(self.max_height);
        if bits == 0 || start >= end || self.y >= bottom || self.set > SET_CAP {
            return;
        }
        if !self.reserve(end, bottom) {
            return;
        }
        let color = self.registers.get(self.color);
        let pixel = u32::from_ne_bytes([color.r, color.g, color.b, 255]);
        for row in self.y..bottom {
            if bits >> (row - self.y) & 1 != 0 {
                let line = row as usize * self.stride as usize;
                self.pixels[line + start as usize..line + end as usize].fill(pixel);
                self.set += (end - start) as usize;
                work::add((end - start) as usize / 8);
            }
        }
        self.width = self.width.max(end);
        self.height = self.height.max(bottom);
    }

    /// The image: width, height and RGBA bytes; `None` if it is empty. `opaque`: pixels that were not drawn get the
    /// color of register 0, within the size in the raster attributes.
    pub fn finish(mut self, opaque: bool) -> Option<(u32, u32, Vec<u8>)> {
        if let State::Numbers(command) = self.state {
            self.apply(command);
        }
        let (width, height) = (self.width.max(self.declared.0), self.height.max(self.declared.1));
        if width == 0 || height == 0 || !self.reserve(width, height) {
            return None;
        }
        let Self { declared, registers, stride, pixels, .. } = self;
        let color = registers.get(0);
        let fill = u32::from_ne_bytes([color.r, color.g, color.b, 255]);
        let mut rgba = Vec::with_capacity(width as usize * height as usize * 4);
        for (row, line) in pixels.chunks_exact(stride as usize).take(height as usize).enumerate() {
            for (col, &pixel) in line[..width as usize].iter().enumerate() {
                let inside = opaque && (col as u32) < declared.0 && (row as u32) < declared.1;
                let pixel = if pixel == HOLE && inside { fill } else { pixel };
                rgba.extend_from_slice(&pixel.to_ne_bytes());
            }
        }
        work::add(rgba.len() / 16);
        Some((width, height, rgba))
    }
}
