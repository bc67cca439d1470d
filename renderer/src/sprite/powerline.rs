//! Powerline separators (private use U+E0B0–E0BF, E0D2, E0D4, E0D6 and E0D7, as prompts use them), and the triangles
//! U+25E2–25E5, which fill the same corners.

use swash::zeno::Command;

use super::canvas::{Canvas, curve_to, line_to, move_to};

pub(super) fn draw(canvas: &mut Canvas, c: char, thickness: i32) {
    let (w, h, t) = (canvas.width as f32, canvas.height as f32, thickness as f32);
    let triangle = |a: (f32, f32), b: (f32, f32), c: (f32, f32)| {
        [move_to(a.0, a.1), line_to(b.0, b.1), line_to(c.0, c.1), Command::Close]
    };
    // Half an ellipse from the top to the bottom of the edge at `x`, bulging to `tip`.
    let half = |x: f32, tip: f32| {
        const K: f32 = 0.5523;
        let bulge = x + (tip - x) * K;
        let (top, bottom) = (h / 2.0 * (1.0 - K), h / 2.0 * (1.0 + K));
        [
            move_to(x, 0.0),
            curve_to((bulge, 0.0), (tip, top), (tip, h / 2.0)),
            curve_to((tip, bottom), (bulge, h), (x, h)),
        ]
    };
    let c = match c {
        '◢' => '\u{e0ba}',
        '◣' => '\u{e0b8}',
        '◤' => '\u{e0bc}',
        '◥' => '\u{e0be}',
        c => c,
    };
    // The upper and the lower half of a trapezoid, with the longer side at the cell's edge.
    let (long, short, gap) = (w, w / 2.0, t / 2.0);
    match c {
        '\u{e0d2}' | '\u{e0d4}' => {
            let x = |from_edge: f32| if c == '\u{e0d2}' { from_edge } else { w - from_edge };
            let middle = h / 2.0;
            let half = |edge: f32, inner: f32| {
                [
                    move_to(x(0.0), edge),
                    line_to(x(long), edge),
                    line_to(x(short), inner),
                    line_to(x(0.0), inner),
                    Command::Close,
                ]
            };
            canvas.path(&half(0.0, middle - gap));
            return canvas.path(&half(h, middle + gap));
        }
        // The whole cell except a triangle.
        '\u{e0d6}' | '\u{e0d7}' => {
            let x = if c == '\u{e0d7}' { (0.0, w) } else { (w, 0.0) };
            canvas.path(&triangle((x.0, 0.0), (x.1, h / 2.0), (x.0, h)));
            return canvas.data.iter_mut().for_each(|pixel| *pixel = 255 - *pixel);
        }
        _ => {}
    }
    match c as u32 - 0xe0b0 {
        0x0 => canvas.path(&triangle((0.0, 0.0), (w, h / 2.0), (0.0, h))),
        0x1 => canvas.stroke(&[move_to(0.0, 0.0), line_to(w - t, h / 2.0), line_to(0.0, h)], t),
        0x2 => canvas.path(&triangle((w, 0.0), (0.0, h / 2.0), (w, h))),
        0x3 => canvas.stroke(&[move_to(w, 0.0), line_to(t, h / 2.0), line_to(w, h)], t),
        0x4 => canvas.path(&half(0.0, w)),
        0x5 => canvas.stroke(&half(0.0, w - t / 2.0), t),
        0x6 => canvas.path(&half(w, 0.0)),
        0x7 => canvas.stroke(&half(w, t / 2.0), t),
        0x8 => canvas.path(&triangle((0.0, 0.0), (w, h), (0.0, h))),
        0xa => canvas.path(&triangle((w, 0.0), (w, h), (0.0, h))),
        0xc => canvas.path(&triangle((0.0, 0.0), (w, 0.0), (0.0, h))),
        0xe => canvas.path(&triangle((0.0, 0.0), (w, 0.0), (w, h))),
        0x9 | 0xf => canvas.stroke(&[move_to(0.0, 0.0), line_to(w, h)], t),
        _ => canvas.stroke(&[move_to(w, 0.0), line_to(0.0, h)], t),
    }
}
