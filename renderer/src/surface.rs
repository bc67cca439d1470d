//! Painters on a window's surface, and the choice between them.

use raw_window_handle::{HasDisplayHandle, HasWindowHandle};

use crate::Renderer;
use crate::soft::SoftSurface;

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
    soft: SoftSurface<W>,
}

impl<W: HasWindowHandle + HasDisplayHandle + Clone + Send + Sync + 'static> WindowPainter<W> {
    /// Makes the painter and says in the log which it became and why.
    pub fn new(window: W, choice: PainterChoice) -> Result<Self, PainterError> {
        if choice == PainterChoice::Gpu {
            return Err(PainterError::NoAdapter("this build has no GPU painter yet".into()));
        }
        tracing::info!(painter = "cpu", "painting on the CPU");
        Ok(Self { soft: SoftSurface::new(window)? })
    }

    /// Which painter it is.
    pub fn kind(&self) -> PainterKind {
        PainterKind::Cpu
    }

    /// Name of the adapter, for the log and the debug overlay.
    pub fn adapter(&self) -> String {
        "CPU (softbuffer)".into()
    }

    /// Changes the surface's size in physical pixels.
    pub fn resize(&mut self, width: u32, height: u32) {
        self.soft.resize(width, height);
    }

    /// Paints the next frame whole: what the window showed is lost (a redraw that nobody asked for, as X11's Expose
    /// gives).
    pub fn invalidate(&mut self) {
        self.soft.invalidate();
    }

    /// Paints and presents the renderer's last frame.
    pub fn paint(&mut self, renderer: &mut Renderer) -> Result<(), PainterError> {
        self.soft.paint(renderer)
    }
}
