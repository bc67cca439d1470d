//! A small picture of coverage into which a sprite is drawn.

use swash::zeno::{Command, Fill, Mask, Stroke, Style, Vector};

/// Coverage, one byte per pixel, row by row.
pub(super) struct Canvas {
    pub(super) width: i32,
    pub(super) height: i32,
    pub(super) data: Vec<u8>,
}

impl Canvas {
    pub(super) fn new(width: i32, height: i32) -> Self {
        Self { width, height, data: vec![0; (width * height) as usize] }
    }

    /// Sets the pixels from `(x0, y0)` up to, but not including, `(x1, y1)`.
    pub(super) fn fill(&mut self, x0: i32, y0: i32, x1: i32, y1: i32) {
        self.shade(x0, y0, x1, y1, 255);
    }

    pub(super) fn shade(&mut self, x0: i32, y0: i32, x1: i32, y1: i32, coverage: u8) {
        let (x0, x1) = (x0.clamp(0, self.width), x1.clamp(0, self.width));
        for y in y0.clamp(0, self.height)..y1.clamp(0, self.height) {
            let row = (y * self.width) as usize;
            if x0 < x1 {
                self.data[row + x0 as usize..row + x1 as usize].fill(coverage);
            }
        }
    }

    /// Fills the inside of a closed path with antialiased edges. Points are in pixels from the top left corner.
    pub(super) fn path(&mut self, path: &[Command]) {
        self.draw(path, Fill::NonZero.into());
    }

    /// Strokes a path with a pen of this width.
    pub(super) fn stroke(&mut self, path: &[Command], width: f32) {
        self.draw(path, Stroke::new(width).into());
    }

    fn draw(&mut self, path: &[Command], style: Style<'_>) {
        let mut picture = vec![0; self.data.len()];
        Mask::new(path)
            .style(style)
            .size(self.width as u32, self.height as u32)
            .render_into(&mut picture, None);
        for (pixel, coverage) in self.data.iter_mut().zip(picture) {
            *pixel = (*pixel).max(coverage);
        }
    }
}

pub(super) fn move_to(x: f32, y: f32) -> Command {
    Command::MoveTo(Vector::new(x, y))
}

pub(super) fn line_to(x: f32, y: f32) -> Command {
    Command::LineTo(Vector::new(x, y))
}

pub(super) fn curve_to(c1: (f32, f32), c2: (f32, f32), to: (f32, f32)) -> Command {
    let vector = |(x, y)| Vector::new(x, y);
    Command::CurveTo(vector(c1), vector(c2), vector(to))
}
