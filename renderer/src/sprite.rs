//! Characters drawn in code rather than by a font, so that they join without seams at any cell size: box drawing, block
//! elements, braille, symbols for legacy computing, powerline separators, branches of version control graphs, and
//! progress bars. Also draws underlines that are not plain lines.

mod block;
mod box_drawing;
mod branch;
mod canvas;
mod mosaic;
mod powerline;
mod progress;
mod supplement;
mod underline;

use crate::CellMetrics;
use canvas::Canvas;

/// A picture drawn in code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Sprite {
    /// A character.
    Char(char),
    /// A wave under the text.
    Curly,
    /// Dots under the text.
    Dotted,
    /// Dashes under the text.
    Dashed,
}

impl Sprite {
    /// The sprite of a character, if the character is drawn in code.
    pub(crate) fn of_char(c: char) -> Option<Self> {
        let drawn = match c as u32 {
            0x2500..=0x259f | 0x25e2..=0x25e5 | 0x2800..=0x28ff | 0x1fb00..=0x1fb3b => true,
            0xe0b0..=0xe0bf | 0xe0d2 | 0xe0d4 | 0xe0d6 | 0xe0d7 => true,
            0xee00..=0xee0b | 0xf5d0..=0xf60d => true,
            code @ 0x1cc00..=0x1cebf => supplement::has(code),
            code => mosaic::has(code),
        };
        drawn.then_some(Self::Char(c))
    }
}

/// Draws the coverage of a sprite, `width` by the cell's height, one byte per pixel.
pub(crate) fn draw(sprite: Sprite, width: u32, metrics: &CellMetrics) -> Vec<u8> {
    let mut canvas = Canvas::new(width as i32, metrics.height as i32);
    let thickness = metrics.thickness.max(1) as i32;
    match sprite {
        Sprite::Char(c) => match c as u32 {
            0x2500..=0x257f => box_drawing::draw(&mut canvas, c, thickness),
            0x2580..=0x259f => block::draw(&mut canvas, c),
            0x2800..=0x28ff => block::braille(&mut canvas, c),
            0x1fb00..=0x1fb3b => block::sextant(&mut canvas, c),
            code @ 0x1fb3c..=0x1fbff => mosaic::draw(&mut canvas, code, thickness),
            code @ 0x1cc00..=0x1cebf => supplement::draw(&mut canvas, code, thickness),
            code @ 0xee00..=0xee0b => progress::draw(&mut canvas, code, thickness),
            code @ 0xf5d0..=0xf60d => branch::draw(&mut canvas, code, thickness),
            _ => powerline::draw(&mut canvas, c, thickness),
        },
        Sprite::Curly => underline::curly(&mut canvas, metrics),
        Sprite::Dotted => underline::dotted(&mut canvas, metrics),
        Sprite::Dashed => underline::dashed(&mut canvas, metrics),
    }
    canvas.data
}

#[cfg(test)]
mod tests;
