//! A window's surface for the CPU painter: softbuffer, damaged rectangles only.

use std::num::NonZeroU32;

use raw_window_handle::{HasDisplayHandle, HasWindowHandle};

use crate::{CpuPainter, PainterError, PixelRect, Renderer};

pub(crate) struct SoftSurface<W> {
    surface: softbuffer::Surface<W, W>,
    painter: CpuPainter,
    /// Size the surface has; `None` before the first frame.
    size: Option<(u32, u32)>,
    /// The window lost its picture.
    exposed: bool,
}

fn failed(error: softbuffer::SoftBufferError) -> PainterError {
    PainterError::Surface(error.to_string())
}

impl<W: HasWindowHandle + HasDisplayHandle + Clone> SoftSurface<W> {
    pub(crate) fn new(window: W) -> Result<Self, PainterError> {
        let context = softbuffer::Context::new(window.clone()).map_err(failed)?;
        let surface = softbuffer::Surface::new(&context, window).map_err(failed)?;
        Ok(Self { surface, painter: CpuPainter::new(), size: None, exposed: false })
    }

    pub(crate) fn invalidate(&mut self) {
        self.exposed = true;
    }

    /// Waits until the window shows what was painted.
    pub(crate) fn flush(&mut self) -> Result<(), PainterError> {
        if self.size.is_none() {
            return Ok(());
        }
        self.surface.buffer_mut().map(drop).map_err(failed)
    }

    pub(crate) fn paint(&mut self, renderer: &mut Renderer) -> Result<(), PainterError> {
        let frame = renderer.last_frame();
        let (width, height) = (frame.width, frame.height);
        let (Some(w), Some(h)) = (NonZeroU32::new(width), NonZeroU32::new(height)) else {
            return Ok(());
        };
        let resized = self.size != Some((width, height));
        if resized {
            self.surface.resize(w, h).map_err(failed)?;
            self.size = Some((width, height));
            self.painter.reset();
        }
        let mut buffer = self.surface.buffer_mut().map_err(failed)?;
        let age = if resized { 0 } else { buffer.age() };
        let damage = self.painter.paint(renderer, &mut buffer, age);
        let rects: Vec<_> = damage.iter().filter_map(to_softbuffer).collect();
        let whole = resized || self.exposed || age == 0;
        if rects.is_empty() && !whole {
            return Ok(());
        }
        let presented = if whole { buffer.present() } else { buffer.present_with_damage(&rects) };
        self.exposed = false;
        presented.map_err(|error| {
            self.painter.reset();
            failed(error)
        })
    }
}

fn to_softbuffer(rect: &PixelRect) -> Option<softbuffer::Rect> {
    Some(softbuffer::Rect {
        x: u32::try_from(rect.x).ok()?,
        y: u32::try_from(rect.y).ok()?,
        width: NonZeroU32::new(rect.width)?,
        height: NonZeroU32::new(rect.height)?,
    })
}
