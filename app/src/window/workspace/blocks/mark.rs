//! The shapes of commands' marks: a disc for success, a cross for failure, a triangle for a running command, and a
//! ring for a prompt. The shapes differ, so that users who can't tell the colors apart can read the marks.

use unterm_renderer::{PixelRect, Quad, Scene};
use unterm_term::Rgb;

use crate::window::workspace::blocks::Fare;

/// Draws a mark into a square.
pub(super) fn draw(
    fare: Fare,
    rect: PixelRect,
    (color, ground): (Rgb, Rgb),
    scene: &mut Scene<'_>,
) {
    if rect.is_empty() {
        return;
    }
    let round = rect.width.min(rect.height) as f32 / 2.0;
    let mut quad = |rect: PixelRect, color: Rgb, radius: f32| {
        scene.quads.push(Quad { rect, color, alpha: 1.0, radius });
    };
    match fare {
        Fare::Good => quad(rect, color, round),
        Fare::Bad => rows(rect, cross).into_iter().for_each(|part| quad(part, color, 0.0)),
        Fare::Running => rows(rect, triangle).into_iter().for_each(|part| quad(part, color, 0.0)),
        Fare::Plain => {
            let line = (rect.width / 5).max(1) as i32;
            quad(rect, color, round);
            let inside = PixelRect {
                x: rect.x + line,
                y: rect.y + line,
                width: rect.width.saturating_sub(2 * line as u32),
                height: rect.height.saturating_sub(2 * line as u32),
            };
            quad(inside, ground, round - line as f32);
        }
    }
}

/// The filled rectangles of a square, row by row. For each row, `row` returns the ranges of columns to fill.
fn rows(rect: PixelRect, row: fn(u32, u32) -> Vec<(u32, u32)>) -> Vec<PixelRect> {
    let side = rect.width.min(rect.height);
    let part = |y: u32, (from, to): (u32, u32)| PixelRect {
        x: rect.x + from as i32,
        y: rect.y + y as i32,
        width: to.min(side) - from,
        height: 1,
    };
    (0..side).flat_map(|y| row(y, side).into_iter().map(move |columns| part(y, columns))).collect()
}

/// The columns of a cross in row `y`: two diagonals, each a third of the side wide.
fn cross(y: u32, side: u32) -> Vec<(u32, u32)> {
    let wide = side.div_ceil(3).max(2);
    // The left edge moves evenly from the first row to the last row.
    let left = (y * (side - wide) + (side - 1) / 2) / (side - 1).max(1);
    let right = side - wide - left;
    vec![(left, left + wide), (right, right + wide)]
}

/// The columns in row `y` of a triangle that points to the right.
fn triangle(y: u32, side: u32) -> Vec<(u32, u32)> {
    let from_edge = y.min(side - 1 - y);
    vec![(0, (2 * from_edge + 2).min(side))]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(side: u32, shape: fn(u32, u32) -> Vec<(u32, u32)>) -> String {
        let rect = PixelRect { x: 0, y: 0, width: side, height: side };
        let mut lines = vec![vec!['.'; side as usize]; side as usize];
        for part in rows(rect, shape) {
            for x in part.x..part.x + part.width as i32 {
                lines[part.y as usize][x as usize] = '#';
            }
        }
        lines.into_iter().map(|line| line.into_iter().collect::<String>() + "\n").collect()
    }

    #[test]
    fn shapes_fill_their_square() {
        assert_eq!(picture(6, cross), "##..##\n.####.\n..##..\n..##..\n.####.\n##..##\n");
        assert_eq!(picture(6, triangle), "##....\n####..\n######\n######\n####..\n##....\n");
        for side in 4..40 {
            for shape in [cross, triangle] {
                let shown = picture(side, shape);
                assert!(shown.starts_with('#') && shown.contains('.'), "{side}:\n{shown}");
            }
        }
    }
}
