//! Block elements (U+2580–259F), braille patterns (U+2800–28FF) and sextants (U+1FB00–1FB3B).

use super::canvas::Canvas;

pub(super) fn draw(canvas: &mut Canvas, c: char) {
    let (w, h) = (canvas.width, canvas.height);
    // Measure eighths from the edge at which the block begins, so that a half and its complement meet exactly.
    let eighths = |size: i32, n: i32| (size * n + 4) / 8;
    match c as u32 - 0x2580 {
        0x00 => canvas.fill(0, 0, w, h - eighths(h, 4)),
        n @ 0x01..=0x08 => canvas.fill(0, h - eighths(h, n as i32).max(1), w, h),
        n @ 0x09..=0x0f => canvas.fill(0, 0, eighths(w, 16 - n as i32).max(1), h),
        0x10 => canvas.fill(eighths(w, 4), 0, w, h),
        n @ 0x11..=0x13 => canvas.shade(0, 0, w, h, [0x40, 0x80, 0xc0][n as usize - 0x11]),
        0x14 => canvas.fill(0, 0, w, eighths(h, 1).max(1)),
        0x15 => canvas.fill(w - eighths(w, 1).max(1), 0, w, h),
        n => {
            // Quadrants U+2596–259F. Bits: 1 upper left, 2 upper right, 4 lower left, 8 lower right.
            const QUADRANTS: [u8; 10] = [4, 8, 1, 13, 9, 7, 11, 2, 6, 14];
            let set = QUADRANTS[n as usize - 0x16];
            let (x, y) = (eighths(w, 4), h - eighths(h, 4));
            for (bit, x0, y0, x1, y1) in
                [(1, 0, 0, x, y), (2, x, 0, w, y), (4, 0, y, x, h), (8, x, y, w, h)]
            {
                if set & bit != 0 {
                    canvas.fill(x0, y0, x1, y1);
                }
            }
        }
    }
}

/// Dots in two columns of four. Bits 0–2 are the upper three of the left column, bits 3–5 those of the right column,
/// and bits 6 and 7 the lowest row.
pub(super) fn braille(canvas: &mut Canvas, c: char) {
    const PLACES: [(i32, i32); 8] =
        [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3)];
    let (w, h) = (canvas.width, canvas.height);
    let dot = (w / 4).min(h / 8).max(1);
    for (bit, (column, row)) in PLACES.into_iter().enumerate() {
        if c as u32 >> bit & 1 != 0 {
            // The center of this dot's part of the cell.
            let x = ((2 * column + 1) * w - 2 * dot + 2) / 4;
            let y = ((2 * row + 1) * h - 4 * dot + 4) / 8;
            canvas.fill(x, y, x + dot, y + dot);
        }
    }
}

/// Six blocks in two columns of three. The code points skip the empty, left-half, right-half and full patterns, which
/// Unicode encodes elsewhere.
pub(super) fn sextant(canvas: &mut Canvas, c: char) {
    let n = c as u32 - 0x1fb00 + 1;
    let pattern = n + u32::from(n >= 0x15) + u32::from(n >= 0x29);
    let (w, h) = (canvas.width, canvas.height);
    let x = [0, (w + 1) / 2, w];
    let y = [0, (h + 1) / 3, (2 * h + 1) / 3, h];
    for bit in 0..6 {
        if pattern >> bit & 1 != 0 {
            let (column, row) = (bit % 2, bit / 2);
            canvas.fill(x[column], y[row], x[column + 1], y[row + 1]);
        }
    }
}
