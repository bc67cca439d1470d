//! What to draw: the frame both painters take, and the renderer that builds it from a scene.

use crate::{CellMetrics, FontOptions, Scene};

/// One picture as plain data, with what changed since the one before it.
#[derive(Debug, Default)]
pub struct Frame {}

/// Builds frames; keeps fonts, shaped rows and the glyph cache between them.
pub struct Renderer {}

impl Renderer {
    /// A renderer with these fonts. Never fails: without a font on the system it draws with the bundled one.
    pub fn new(options: FontOptions) -> Self {
        let _ = options;
        todo!()
    }

    /// Changes fonts, size or scale.
    pub fn set_fonts(&mut self, options: FontOptions) {
        let _ = options;
        todo!()
    }

    /// Measures of a cell in the current font.
    pub fn metrics(&self) -> CellMetrics {
        todo!()
    }

    /// Width of a label's text in pixels.
    pub fn label_width(&mut self, text: &str, size: f32, bold: bool) -> f32 {
        let _ = (text, size, bold);
        todo!()
    }

    /// Builds the frame that shows `scene`. Rows that have not changed since the last call are taken over.
    pub fn frame(&mut self, scene: &Scene<'_>) -> &Frame {
        let _ = scene;
        todo!()
    }
}
