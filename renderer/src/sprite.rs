//! Characters drawn by code rather than by a font, so that they meet without seams at any cell size: box drawing,
//! block elements, braille, sextants, powerline separators; and the forms of underline that are not plain lines.

mod block;
mod box_drawing;
mod canvas;
mod powerline;
mod underline;

use crate::CellMetrics;
use canvas::Canvas;

/// A picture drawn by code.
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
    /// The sprite of a character, if it is one that is drawn by code.
    pub(crate) fn of_char(c: char) -> Option<Self> {
        matches!(c,
            '\u{2500}'..='\u{259f}'
            | '\u{2800}'..='\u{28ff}'
            | '\u{e0b0}'..='\u{e0bf}'
            | '\u{1fb00}'..='\u{1fb3b}')
        .then_some(Self::Char(c))
    }
}

/// Coverage of a sprite, `width` by the cell's height, one byte a pixel.
pub(crate) fn draw(sprite: Sprite, width: u32, metrics: &CellMetrics) -> Vec<u8> {
    let mut canvas = Canvas::new(width as i32, metrics.height as i32);
    let thickness = metrics.thickness.max(1) as i32;
    match sprite {
        Sprite::Char(c @ '\u{2500}'..='\u{257f}') => box_drawing::draw(&mut canvas, c, thickness),
        Sprite::Char(c @ '\u{2580}'..='\u{259f}') => block::draw(&mut canvas, c),
        Sprite::Char(c @ '\u{2800}'..='\u{28ff}') => block::braille(&mut canvas, c),
        Sprite::Char(c @ '\u{1fb00}'..='\u{1fb3b}') => block::sextant(&mut canvas, c),
        Sprite::Char(c) => powerline::draw(&mut canvas, c, thickness),
        Sprite::Curly => underline::curly(&mut canvas, metrics),
        Sprite::Dotted => underline::dotted(&mut canvas, metrics),
        Sprite::Dashed => underline::dashed(&mut canvas, metrics),
    }
    canvas.data
}

#[cfg(test)]
mod tests;
