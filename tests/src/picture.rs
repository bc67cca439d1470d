//! The pixels of a window, in which tests look for colors.

use anyhow::{Context as _, Result, ensure};

/// The pixels of a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Pixels in a row.
    pub width: usize,
    /// Red, green and blue of each pixel, row by row.
    pub pixels: Vec<[u8; 3]>,
}

impl Picture {
    /// Reads a PNG with 8 bits per channel, and drops its alpha channel.
    ///
    /// # Errors
    ///
    /// If the bytes are not such a PNG.
    pub fn of_png(bytes: &[u8]) -> Result<Self> {
        let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        // Pictures with few colors have a palette.
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder.read_info()?;
        let mut pixels = vec![0; reader.output_buffer_size().context("too large")?];
        let info = reader.next_frame(&mut pixels)?;
        let channels = info.color_type.samples();
        ensure!(channels >= 3, "{:?}", info.color_type);
        let pixels = pixels[..info.buffer_size()].chunks_exact(channels);
        let pixels = pixels.map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
        Ok(Self { width: info.width as usize, pixels })
    }

    /// A PNG of the picture.
    ///
    /// # Errors
    ///
    /// If the picture has no pixels.
    pub fn to_png(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let size = (u32::try_from(self.width)?, u32::try_from(self.height())?);
        let mut encoder = png::Encoder::new(&mut bytes, size.0, size.1);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_compression(png::Compression::High);
        encoder.write_header()?.write_image_data(self.pixels.as_flattened())?;
        Ok(bytes)
    }

    /// Pixels in a column.
    pub fn height(&self) -> usize {
        self.pixels.len() / self.width.max(1)
    }

    /// The part at `corner` with this size.
    pub fn part(&self, corner: (usize, usize), size: (usize, usize)) -> Self {
        let rows = self.pixels.chunks(self.width).skip(corner.1).take(size.1);
        let pixels = rows.flat_map(|row| &row[corner.0..corner.0 + size.0]).copied().collect();
        Self { width: size.0, pixels }
    }

    /// The number of different colors.
    pub fn colors(&self) -> usize {
        self.pixels.iter().collect::<std::collections::HashSet<_>>().len()
    }

    /// The number of pixels with this color.
    pub fn count(&self, color: [u8; 3]) -> usize {
        self.pixels.iter().filter(|pixel| **pixel == color).count()
    }

    /// The smallest area that contains all pixels of a color; `None` if there are none.
    pub fn area_of(&self, color: [u8; 3]) -> Option<Area> {
        let found = self.pixels.iter().enumerate().filter(|(_, pixel)| **pixel == color);
        found.fold(None, |area: Option<Area>, (index, _)| {
            let (x, y) = ((index % self.width) as i16, (index / self.width) as i16);
            let area = area.unwrap_or(Area { left: x, top: y, right: x, bottom: y });
            Some(Area {
                left: area.left.min(x),
                top: area.top.min(y),
                right: area.right.max(x + 1),
                bottom: area.bottom.max(y + 1),
            })
        })
    }

    /// The number of pixels that differ from another picture of the same size.
    pub fn difference(&self, other: &Self) -> usize {
        self.pixels.iter().zip(&other.pixels).filter(|(a, b)| a != b).count()
    }
}

/// Part of a window, in pixels. `right` and `bottom` are the first column and row outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of the sides say it")]
pub struct Area {
    pub left: i16,
    pub top: i16,
    pub right: i16,
    pub bottom: i16,
}

impl Area {
    /// The center.
    pub fn middle(&self) -> (i16, i16) {
        ((self.left + self.right) / 2, (self.top + self.bottom) / 2)
    }
}
