//! Painters on a window's surface, and the choice between them.

use raw_window_handle::{HasDisplayHandle, HasWindowHandle};

use crate::cpu_surface::SoftSurface;
use crate::gpu::surface::{GpuSurface, WindowAdapter};
use crate::{PainterError, Renderer};

/// The painter that the settings ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PainterChoice {
    /// The GPU if there is a real one, else the CPU.
    #[default]
    Auto,
    /// The GPU, even a software one.
    Gpu,
    /// The CPU.
    Cpu,
}

/// The painter in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PainterKind {
    /// The GPU painter (wgpu).
    Gpu,
    /// The CPU painter (softbuffer).
    Cpu,
}

/// A painter bound to a window `W` (an `Arc` of a winit window).
pub struct WindowPainter<W> {
    window: W,
    choice: PainterChoice,
    surface: WindowSurface<W>,
}

enum WindowSurface<W> {
    Gpu(Box<GpuSurface>),
    Cpu(Box<SoftSurface<W>>),
}

impl<W: HasWindowHandle + HasDisplayHandle + Clone + Send + Sync + 'static> WindowPainter<W> {
    /// Creates the painter, and logs which painter was chosen and why.
    pub fn new(window: W, choice: PainterChoice) -> Result<Self, PainterError> {
        let surface = choose(&window, choice)?;
        Ok(Self { window, choice, surface })
    }

    /// The painter in use.
    pub fn kind(&self) -> PainterKind {
        match &self.surface {
            WindowSurface::Gpu(_) => PainterKind::Gpu,
            WindowSurface::Cpu(_) => PainterKind::Cpu,
        }
    }

    /// Name of the adapter, for the log and the debug overlay.
    pub fn adapter(&self) -> String {
        match &self.surface {
            WindowSurface::Gpu(surface) => surface.adapter(),
            WindowSurface::Cpu(_) => "CPU (softbuffer)".into(),
        }
    }

    /// Paints the next frame whole, because the window lost its contents. Call it for a redraw that the system
    /// requested, such as X11's Expose.
    pub fn invalidate(&mut self) {
        match &mut self.surface {
            // The GPU painter presents every frame whole from its own texture.
            WindowSurface::Gpu(_) => {}
            WindowSurface::Cpu(surface) => surface.invalidate(),
        }
    }

    /// Logs a new size in physical pixels. The surface itself is resized with the next frame, so that it never shows a
    /// picture of the wrong size.
    pub fn resize(&mut self, width: u32, height: u32) {
        tracing::trace!(width, height, "surface resized");
    }

    /// Paints and presents the renderer's last frame.
    pub fn paint(&mut self, renderer: &mut Renderer) -> Result<(), PainterError> {
        match &mut self.surface {
            WindowSurface::Cpu(surface) => surface.paint(renderer),
            WindowSurface::Gpu(surface) => {
                let painted = surface.paint(renderer);
                if !surface.is_lost() {
                    return painted;
                }
                self.recover(renderer)
            }
        }
    }

    /// Whether [`WindowPainter::paint_small`] can paint now.
    pub fn is_at_rest(&self) -> bool {
        match &self.surface {
            WindowSurface::Cpu(surface) => surface.is_at_rest(),
            WindowSurface::Gpu(_) => false,
        }
    }

    /// Paints and presents the renderer's last frame if it differs little from the frame before. Works on any thread
    /// and never waits for the system. Returns false if nothing was painted. Only the CPU painter on X11 supports it.
    pub fn paint_small(&mut self, renderer: &mut Renderer) -> Result<bool, PainterError> {
        match &mut self.surface {
            WindowSurface::Cpu(surface) => surface.paint_small(renderer),
            WindowSurface::Gpu(_) => Ok(false),
        }
    }

    /// Replaces a device that was lost, for example because of a driver update or an unplugged card: by a new GPU
    /// device, or else by the CPU painter.
    fn recover(&mut self, renderer: &mut Renderer) -> Result<(), PainterError> {
        let again = WindowAdapter::find(&self.window).and_then(GpuSurface::new);
        self.surface = match again {
            Ok(surface) => {
                tracing::info!(adapter = surface.adapter(), "painting on the GPU again");
                WindowSurface::Gpu(Box::new(surface))
            }
            Err(error) if self.choice == PainterChoice::Gpu => return Err(error),
            Err(error) => {
                tracing::warn!(%error, "painting on the CPU: the GPU is gone");
                WindowSurface::Cpu(Box::new(SoftSurface::new(self.window.clone())?))
            }
        };
        match &mut self.surface {
            WindowSurface::Gpu(surface) => surface.paint(renderer),
            WindowSurface::Cpu(surface) => surface.paint(renderer),
        }
    }
}

fn choose<W>(window: &W, choice: PainterChoice) -> Result<WindowSurface<W>, PainterError>
where
    W: HasWindowHandle + HasDisplayHandle + Clone + Send + Sync + 'static,
{
    let cpu = |reason: &str| {
        tracing::info!(painter = "cpu", reason, "painting on the CPU");
        Ok(WindowSurface::Cpu(Box::new(SoftSurface::new(window.clone())?)))
    };
    let gpu = |found: WindowAdapter, reason: &str| {
        let surface = GpuSurface::new(found)?;
        tracing::info!(painter = "gpu", adapter = surface.adapter(), reason, "painting on the GPU");
        Ok(WindowSurface::Gpu(Box::new(surface)))
    };
    match choice {
        PainterChoice::Cpu => cpu("asked for"),
        PainterChoice::Gpu => gpu(WindowAdapter::find(window)?, "asked for"),
        PainterChoice::Auto => {
            if !may_have_gpu() {
                return cpu("the system has no graphics device");
            }
            match WindowAdapter::find(window) {
                Ok(found) if found.is_software() => {
                    cpu(&format!("the only adapter, {}, is software", found.name()))
                }
                Ok(found) => gpu(found, "a real adapter")
                    .or_else(|error| cpu(&format!("the adapter failed: {error}"))),
                Err(error) => cpu(&error.to_string()),
            }
        }
    }
}

/// Whether to load graphics drivers to search for an adapter. Loading them takes longer than the rest of the start.
#[cfg(target_os = "linux")]
fn may_have_gpu() -> bool {
    let render_node = std::fs::read_dir("/dev/dri").is_ok_and(|nodes| {
        nodes.flatten().any(|node| node.file_name().as_encoded_bytes().starts_with(b"render"))
    });
    // NVIDIA's own driver, and the GPU of a Windows host (WSL).
    render_node
        || ["/dev/nvidia0", "/dev/dxg"].iter().any(|path| std::path::Path::new(path).exists())
}

#[cfg(not(target_os = "linux"))]
fn may_have_gpu() -> bool {
    true
}
