//! Branches of version control graphs (private use U+F5D0–F60D, as kitty draws them): lines, fading lines, rounded
//! corners and commits.

use super::box_drawing::arc;
use super::canvas::Canvas;
use super::mosaic::ellipse;

// Parts of a character: straight lines, and corners named after the two sides they join.
const ACROSS: u8 = 1;
const DOWN: u8 = 2;
const TOP_LEFT: u8 = 4;
const TOP_RIGHT: u8 = 8;
const LOW_LEFT: u8 = 16;
const LOW_RIGHT: u8 = 32;

/// The parts that each character from U+F5D6 to U+F5ED consists of.
#[rustfmt::skip]
const CORNERS: [u8; 24] = [
    LOW_RIGHT, LOW_LEFT, TOP_RIGHT, TOP_LEFT,
    DOWN | TOP_RIGHT, DOWN | LOW_RIGHT, TOP_RIGHT | LOW_RIGHT,
    DOWN | TOP_LEFT, DOWN | LOW_LEFT, TOP_LEFT | LOW_LEFT,
    ACROSS | LOW_LEFT, ACROSS | LOW_RIGHT, LOW_RIGHT | LOW_LEFT,
    ACROSS | TOP_LEFT, ACROSS | TOP_RIGHT, TOP_RIGHT | TOP_LEFT,
    DOWN | TOP_LEFT | TOP_RIGHT, DOWN | LOW_LEFT | LOW_RIGHT,
    ACROSS | LOW_LEFT | TOP_LEFT, ACROSS | TOP_RIGHT | LOW_RIGHT,
    DOWN | TOP_LEFT | LOW_RIGHT, DOWN | TOP_RIGHT | LOW_LEFT,
    ACROSS | TOP_LEFT | LOW_RIGHT, ACROSS | TOP_RIGHT | LOW_LEFT,
];

const RIGHT: u8 = 1;
const LEFT: u8 = 2;
const BELOW: u8 = 4;
const ABOVE: u8 = 8;

/// Sides on which lines leave the commits U+F5EE–F60D. Each commit exists filled and hollow.
#[rustfmt::skip]
const COMMITS: [u8; 16] = [
    0, RIGHT, LEFT, LEFT | RIGHT, BELOW, ABOVE, ABOVE | BELOW, RIGHT | BELOW,
    LEFT | BELOW, ABOVE | RIGHT, ABOVE | LEFT, ABOVE | BELOW | RIGHT, ABOVE | BELOW | LEFT,
    LEFT | RIGHT | BELOW, LEFT | RIGHT | ABOVE, LEFT | RIGHT | ABOVE | BELOW,
];

pub(super) fn draw(canvas: &mut Canvas, code: u32, t: i32) {
    let (w, h) = (canvas.width, canvas.height);
    let (x, y) = ((w - t) / 2, (h - t) / 2);
    match code {
        0xf5d0 => canvas.fill(0, y, w, y + t),
        0xf5d1 => canvas.fill(x, 0, x + t, h),
        0xf5d2..=0xf5d5 => {
            // Lines that fade to the right, the left, the bottom, the top.
            let across = code < 0xf5d4;
            let length = if across { w } else { h };
            for at in 0..length {
                let left = if code.is_multiple_of(2) { length - at } else { at + 1 };
                let coverage = (255 * left / (length + 1)) as u8;
                if across {
                    canvas.shade(at, y, at + 1, y + t, coverage);
                } else {
                    canvas.shade(x, at, x + t, at + 1, coverage);
                }
            }
        }
        0xf5d6..=0xf5ed => {
            let set = CORNERS[(code - 0xf5d6) as usize];
            for (part, right, down) in
                [(TOP_LEFT, -1, -1), (TOP_RIGHT, 1, -1), (LOW_LEFT, -1, 1), (LOW_RIGHT, 1, 1)]
            {
                if set & part != 0 {
                    arc(canvas, t, right, down);
                }
            }
            if set & ACROSS != 0 {
                canvas.fill(0, y, w, y + t);
            }
            if set & DOWN != 0 {
                canvas.fill(x, 0, x + t, h);
            }
        }
        _ => {
            let Some(set) = COMMITS.get((code.wrapping_sub(0xf5ee) / 2) as usize) else { return };
            let hollow = (code - 0xf5ee) % 2 == 1;
            let radius = (w.min(h) as f32 / 2.0 - 0.5).max(1.0);
            let middle = (x as f32 + t as f32 / 2.0, y as f32 + t as f32 / 2.0);
            // Lines end inside the ring of a hollow commit, so that its center stays empty.
            let edge = (radius - t as f32 / 2.0).max(0.0);
            let (near, far) = (|m: f32| (m - edge) as i32, |m: f32| (m + edge).ceil() as i32);
            for (part, x0, y0, x1, y1) in [
                (RIGHT, far(middle.0), y, w, y + t),
                (LEFT, 0, y, near(middle.0), y + t),
                (BELOW, x, far(middle.1), x + t, h),
                (ABOVE, x, 0, x + t, near(middle.1)),
            ] {
                if set & part != 0 {
                    canvas.fill(x0, y0, x1, y1);
                }
            }
            ellipse(canvas, middle, (radius, radius), hollow.then_some(t));
        }
    }
}
