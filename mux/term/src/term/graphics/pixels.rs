//! The pixels of one picture, and how pictures are composed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Maximum pixels in a row or column of a picture; kitty's limit.
pub(crate) const MAX_SIDE: u32 = 10_000;

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// A picture: immutable, and shared by everything that draws it.
pub struct Pixels {
    id: u64,
    width: u32,
    height: u32,
    rgba: Box<[u8]>,
}

impl Pixels {
    /// A picture of `width` × `height` pixels from their bytes (red, green, blue, alpha, not premultiplied, row by row
    /// from the top). `None` if a side is 0 or the number of bytes does not match.
    pub fn new(width: u32, height: u32, rgba: impl Into<Box<[u8]>>) -> Option<Arc<Self>> {
        let rgba = rgba.into();
        let fits = byte_count(width, height) == Some(rgba.len()) && !rgba.is_empty();
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        fits.then(|| Arc::new(Self { id, width, height, rgba }))
    }

    /// A number that is unique to this picture in the process, for use as a key in texture caches.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Pixels in a row.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Pixels in a column.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// The pixels: red, green, blue and alpha in sRGB, not premultiplied, row by row from the top.
    pub fn rgba(&self) -> &[u8] {
        &self.rgba
    }
}

impl std::fmt::Debug for Pixels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pixels({}, {}×{})", self.id, self.width, self.height)
    }
}

impl PartialEq for Pixels {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Pixels {}

/// The bytes of this many RGBA pixels; `None` on overflow.
pub(crate) fn byte_count(width: u32, height: u32) -> Option<usize> {
    (width as usize).checked_mul(height as usize)?.checked_mul(4)
}

/// A rectangle of whole pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Area {
    pub x: u32,
    pub y: u32,
    pub width: u32,
    pub height: u32,
}

/// A picture being changed, with `width` pixels per row.
pub(crate) struct Canvas<'a> {
    pub width: u32,
    pub rgba: &'a mut [u8],
}

impl Canvas<'_> {
    /// Composes the area `from` of `over` onto this canvas, with its upper left corner at `x`, `y`: blends it, or
    /// replaces the pixels there. Clips the area to both pictures.
    pub fn compose(&mut self, x: u32, y: u32, over: (u32, &[u8]), from: Area, replace: bool) {
        let (over_width, over) = over;
        let height = (self.rgba.len() / 4).checked_div(self.width as usize).unwrap_or(0) as u32;
        let over_height = (over.len() / 4).checked_div(over_width as usize).unwrap_or(0) as u32;
        let columns =
            from.width.min(over_width.saturating_sub(from.x)).min(self.width.saturating_sub(x))
                as usize;
        let rows =
            from.height.min(over_height.saturating_sub(from.y)).min(height.saturating_sub(y));
        for row in 0..rows {
            let to = ((y + row) as usize * self.width as usize + x as usize) * 4;
            let at = ((from.y + row) as usize * over_width as usize + from.x as usize) * 4;
            let (to, at) = (&mut self.rgba[to..to + columns * 4], &over[at..at + columns * 4]);
            if replace {
                to.copy_from_slice(at);
                continue;
            }
            for (under, over) in to.chunks_exact_mut(4).zip(at.chunks_exact(4)) {
                blend(under, over);
            }
        }
    }
}

/// Blends a pixel over another, neither premultiplied (Porter and Duff's "over").
fn blend(under: &mut [u8], over: &[u8]) {
    let (a, b) = (over[3] as u32, under[3] as u32);
    match a {
        0 => return,
        255 => return under.copy_from_slice(over),
        _ => {}
    }
    // In fixed point: 255 * 255 stands for 1.
    let behind = b * (255 - a);
    let alpha = a * 255 + behind;
    for i in 0..3 {
        under[i] =
            ((over[i] as u32 * a * 255 + under[i] as u32 * behind + alpha / 2) / alpha) as u8;
    }
    under[3] = ((alpha + 127) / 255) as u8;
}
