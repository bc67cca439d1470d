//! The painter on the CPU: a frame into memory.

use crate::{Frame, PixelRect, Renderer};

/// Paints frames into a buffer of `0x00RRGGBB` pixels, row by row; repaints only what a frame says has changed.
#[derive(Default)]
pub struct CpuPainter {}

impl CpuPainter {
    /// A painter whose first frame is painted whole.
    pub fn new() -> Self {
        Self::default()
    }

    /// Paints `frame` over the picture of the frame before it and returns what changed.
    ///
    /// `buffer` has `width * height` pixels of the frame's scene and still holds the last picture, unless `whole`.
    pub fn paint(
        &mut self,
        renderer: &mut Renderer,
        buffer: &mut [u32],
        whole: bool,
    ) -> Vec<PixelRect> {
        let _ = (renderer, buffer, whole);
        todo!()
    }

    /// The picture of a frame as PNG.
    pub fn png(frame: &Frame) -> Vec<u8> {
        let _ = frame;
        todo!()
    }
}
