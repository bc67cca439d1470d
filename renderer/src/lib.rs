//! Fonts, glyphs and painting: a [`Scene`] (what to show) becomes a [`Frame`] (what to draw), and one of two painters
//! puts it on a surface or into memory.
//!
//! Owns font discovery, shaping, rasterising, the glyph atlas and both painters. Never touches ptys or locks, opens no
//! window (a painter is given a handle) and knows nothing of JSON.

mod cpu;
mod font;
mod frame;
mod gpu;
mod scene;
mod surface;

pub use cpu::CpuPainter;
pub use font::{CellMetrics, FontOptions};
pub use frame::{Frame, Renderer};
pub use scene::{Label, LabelAlign, PaneScene, PixelRect, Preedit, Quad, Scene};
pub use surface::{PainterChoice, PainterError, PainterKind, WindowPainter};
