//! Fonts, glyphs and painting. A [`Scene`] (what to show) becomes a [`Frame`] (what to draw), and one of two painters
//! draws it on a surface or into memory.
//!
//! Owns font discovery, shaping, rasterizing, the glyph atlas and both painters. Never touches ptys or locks, never
//! opens a window (callers pass a handle), and never handles JSON.

mod bidi;
mod blend;
mod chars;
mod color;
mod cpu;
mod cpu_surface;
mod damage;
mod encode;
mod font;
mod fonts;
mod frame;
mod glyph;
mod glyph_cache;
mod gpu;
mod label;
mod painter_error;
mod picture;
mod preedit;
mod raster;
mod registered;
mod renderer;
mod row;
mod scene;
mod shape;
mod sprite;
mod surface;
mod x11;

pub use bidi::ColumnOrder;
pub use blend::Blending;
pub use color::TextOptions;
pub use cpu::CpuPainter;
pub use damage::Damage;
pub use font::{
    Adjust, Amount, CellMetrics, FontFeature, FontOptions, Ligatures, StyleFamilies, SymbolRange,
};
pub use fonts::{AllFonts, has_emoji_font};
pub use frame::{
    Fill, Frame, FrameChrome, FrameImage, FrameLabel, FramePane, FrameRow, GlyphInstance,
    ImageLayer,
};
pub use glyph::{Glyph, GlyphId};
pub use glyph_cache::GlyphCache;
pub use gpu::GpuPainter;
pub use painter_error::PainterError;
pub use renderer::Renderer;
pub use scene::{Highlight, Label, LabelAlign, PaneScene, PixelRect, Preedit, Quad, Scene};
pub use surface::{PainterChoice, PainterKind, WindowPainter};
