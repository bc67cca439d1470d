//! A window's surface for the CPU painter: damaged rectangles only, by softbuffer, or on X11 sent with their pixels where
//! they are small.

use std::num::NonZeroU32;

use raw_window_handle::{HasDisplayHandle, HasWindowHandle};

use crate::x11::Parts;
use crate::{CpuPainter, PainterError, PixelRect, Renderer};

pub(crate) struct SoftSurface<W> {
    window: W,
    surface: softbuffer::Surface<W, W>,
    painter: CpuPainter,
    /// Size the surface has; `None` before the first frame.
    size: Option<(u32, u32)>,
    /// The window lost its picture.
    exposed: bool,
    /// What sends small parts; `None` before the first, `Some(None)` where it is not possible.
    parts: Option<Option<Parts>>,
    /// The last picture went by softbuffer, which was not asked since whether it has arrived.
    is_under_way: bool,
}

fn failed(error: softbuffer::SoftBufferError) -> PainterError {
    PainterError::Surface(error.to_string())
}

impl<W: HasWindowHandle + HasDisplayHandle + Clone> SoftSurface<W> {
    pub(crate) fn new(window: W) -> Result<Self, PainterError> {
        let context = softbuffer::Context::new(window.clone()).map_err(failed)?;
        let surface = softbuffer::Surface::new(&context, window.clone()).map_err(failed)?;
        Ok(Self {
            window,
            surface,
            painter: CpuPainter::new(),
            size: None,
            exposed: false,
            parts: None,
            is_under_way: false,
        })
    }

    pub(crate) fn invalidate(&mut self) {
        self.exposed = true;
    }

    /// Whether the next frame, though it is small, may use the connection that the window's events come by.
    pub(crate) fn may_wait(&self) -> bool {
        self.is_under_way || !matches!(self.parts, Some(Some(_)))
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
        self.is_under_way = false;
        let age = if resized { 0 } else { buffer.age() };
        let damage = self.painter.paint(renderer, &mut buffer, age);
        let whole = resized || self.exposed || age == 0;
        if damage.is_empty() && !whole {
            return Ok(());
        }
        if !whole && Parts::are_small(&damage) {
            let parts = self.parts.get_or_insert_with(|| Parts::connect(&self.window));
            if let Some(sender) = parts {
                if sender.put(&buffer, width, &damage) {
                    return Ok(());
                }
                *parts = None;
            }
        }
        if let Some(Some(parts)) = &mut self.parts {
            // They were sent before, by another connection.
            parts.settle();
        }
        self.is_under_way = true;
        let rects: Vec<_> = damage.iter().filter_map(to_softbuffer).collect();
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
