//! Progress bars and spinners (private use U+EE00–EE0B, as in Fira Code and kitty).

use super::canvas::{Canvas, line_to, move_to};

/// First and last degree of each spinner, clockwise from the right.
const TURNS: [(i32, i32); 6] =
    [(235, 305), (270, 390), (315, 470), (360, 540), (80, 220), (170, 270)];

pub(super) fn draw(canvas: &mut Canvas, code: u32, thickness: i32) {
    match code {
        0xee00..=0xee05 => bar(canvas, (code - 0xee00) % 3, code >= 0xee03, thickness),
        _ => {
            if let Some((from, to)) = TURNS.get(code.wrapping_sub(0xee06) as usize) {
                turn(canvas, *from, *to, thickness);
            }
        }
    }
}

/// Draws the left end (0), middle (1) or right end (2) of a bar.
fn bar(canvas: &mut Canvas, piece: u32, full: bool, t: i32) {
    let (w, h) = (canvas.width, canvas.height);
    canvas.fill(0, 0, w, t);
    canvas.fill(0, h - t, w, h);
    let (mut left, mut right) = (0, w);
    if piece == 0 {
        canvas.fill(0, 0, t, h);
        left = 3 * t;
    } else if piece == 2 {
        canvas.fill(w - t, 0, w, h);
        right = w - 3 * t;
    }
    if full {
        canvas.fill(left, 3 * t, right, h - 3 * t);
    }
}

fn turn(canvas: &mut Canvas, from: i32, to: i32, t: i32) {
    let (w, h) = (canvas.width as f32, canvas.height as f32);
    let radius = ((w.min(h) - t as f32) / 2.0 - 0.5).max(1.0);
    let path: Vec<_> = (from..=to)
        .step_by(5)
        .enumerate()
        .map(|(i, degree)| {
            let (sin, cos) = (degree as f32).to_radians().sin_cos();
            let (x, y) = (w / 2.0 + radius * cos, h / 2.0 + radius * sin);
            if i == 0 { move_to(x, y) } else { line_to(x, y) }
        })
        .collect();
    canvas.stroke(&path, t as f32);
}
