//! Painters on a window's surface, and the choice between them.

use raw_window_handle::{HasDisplayHandle, HasWindowHandle};

use crate::Renderer;

/// Which painter is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PainterChoice {
    /// The GPU if there is a real one, else the CPU.
    #[default]
    Auto,
    /// The GPU, also a software one.
    Gpu,
    /// The CPU.
    Cpu,
}

/// Which painter it became.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PainterKind {
    /// wgpu.
    Gpu,
    /// softbuffer.
    Cpu,
}

/// Why no painter could be made or a frame not presented.
#[derive(Debug, thiserror::Error)]
pub enum PainterError {
    /// No adapter can draw on this window.
    #[error("no graphics adapter can draw on this window: {0}")]
    NoAdapter(String),
    /// The surface failed.
    #[error("the window's surface failed: {0}")]
    Surface(String),
}

/// A painter bound to a window `W` (an `Arc` of a winit window).
pub struct WindowPainter<W> {
    window: W,
}

impl<W: HasWindowHandle + HasDisplayHandle + Clone + Send + Sync + 'static> WindowPainter<W> {
    /// Makes the painter and says in the log which it became and why.
    pub fn new(window: W, choice: PainterChoice) -> Result<Self, PainterError> {
        let _ = (choice, &window);
        todo!()
    }

    /// Which painter it is.
    pub fn kind(&self) -> PainterKind {
        let _ = &self.window;
        todo!()
    }

    /// Name of the adapter, for the log and the debug overlay.
    pub fn adapter(&self) -> String {
        todo!()
    }

    /// Paints the next frame whole: what the window showed is lost.
    pub fn invalidate(&mut self) {
        todo!()
    }

    /// Changes the surface's size in physical pixels.
    pub fn resize(&mut self, width: u32, height: u32) {
        let _ = (width, height);
        todo!()
    }

    /// Paints and presents the renderer's last frame.
    pub fn paint(&mut self, renderer: &mut Renderer) -> Result<(), PainterError> {
        let _ = renderer;
        todo!()
    }
}
