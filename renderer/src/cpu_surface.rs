//! A window's surface for the CPU painter. Presents damaged rectangles through softbuffer. On X11, small rectangles are
//! instead sent directly to the server, with their pixels.

use std::num::NonZeroU32;

use raw_window_handle::{HasDisplayHandle, HasWindowHandle};

use crate::x11::{self, Parts};
use crate::{CpuPainter, Damage, PainterError, PixelRect, Renderer};

pub(crate) struct SoftSurface<W> {
    surface: softbuffer::Surface<W, W>,
    painter: CpuPainter,
    /// The surface's size; `None` before the first frame.
    size: Option<(u32, u32)>,
    /// Whether the window has lost its contents, for example because another window covered it.
    exposed: bool,
    /// Sends small rectangles directly, if the platform supports it.
    parts: Option<Parts>,
    /// Whether the last picture was sent through softbuffer and may not have arrived yet. Softbuffer was not asked
    /// since.
    is_under_way: bool,
}

fn failed(error: softbuffer::SoftBufferError) -> PainterError {
    PainterError::Surface(error.to_string())
}

impl<W: HasWindowHandle + HasDisplayHandle + Clone> SoftSurface<W> {
    pub(crate) fn new(window: W) -> Result<Self, PainterError> {
        let context = softbuffer::Context::new(window.clone()).map_err(failed)?;
        let parts = Parts::connect(&window);
        let surface = softbuffer::Surface::new(&context, window).map_err(failed)?;
        let painter = CpuPainter::new();
        Ok(Self { surface, painter, size: None, exposed: false, parts, is_under_way: false })
    }

    pub(crate) fn invalidate(&mut self) {
        self.exposed = true;
    }

    /// Whether a small frame can be painted at once: without waiting, and without the connection that also delivers the
    /// window's events.
    pub(crate) fn is_at_rest(&self) -> bool {
        let is_ready = self.parts.as_ref().is_some_and(|parts| !parts.are_many());
        is_ready && !self.is_under_way && !self.exposed
    }

    /// Paints a frame that differs little from the last one, if [`Self::is_at_rest`] is true. Returns false if nothing
    /// was painted.
    pub(crate) fn paint_small(&mut self, renderer: &mut Renderer) -> Result<bool, PainterError> {
        let frame = renderer.last_frame();
        let can_be = self.is_at_rest() && self.size == Some((frame.width, frame.height));
        let changed = can_be.then(|| self.painter.damage(frame)).flatten();
        match changed.filter(|changed| x11::are_small(&changed.rects)) {
            None => Ok(false),
            changed => self.paint_changed(renderer, changed).map(|()| true),
        }
    }

    pub(crate) fn paint(&mut self, renderer: &mut Renderer) -> Result<(), PainterError> {
        self.paint_changed(renderer, None)
    }

    /// Paints the last frame. `changed` is its damage, if known.
    fn paint_changed(
        &mut self,
        renderer: &mut Renderer,
        changed: Option<Damage>,
    ) -> Result<(), PainterError> {
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
        let damage = match changed {
            Some(changed) => self.painter.paint_changed(renderer, &mut buffer, age, changed),
            None => self.painter.paint(renderer, &mut buffer, age),
        };
        let mut whole = resized || self.exposed || age == 0;
        if damage.is_empty() && !whole {
            return Ok(());
        }
        if let Some(parts) = &mut self.parts {
            let is_small = !whole && x11::are_small(&damage);
            let sent = match is_small {
                true => parts.put(&buffer, width, &damage),
                // Parts that were sent earlier through the other connection must arrive first.
                false => parts.settle(),
            };
            match sent {
                Ok(()) if is_small => return Ok(()),
                Ok(()) => {}
                Err(error) => {
                    tracing::warn!(%error, "no more small parts of pictures: their connection failed");
                    self.parts = None;
                    // Parts that were sent earlier may be lost, so present the whole picture.
                    whole = true;
                }
            }
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
