//! Symbols for Legacy Computing Supplement (U+1CC00–1CEBF, Unicode 16): octants, separated quadrants and sextants,
//! sixteenths, pieces of large circles and lines at a cell's edges.

use super::canvas::Canvas;
use super::mosaic::ellipse;

/// The characters of the block that [`draw`] draws: all except pictographs.
pub(super) fn has(code: u32) -> bool {
    matches!(code,
        0x1cc1b..=0x1cc1e | 0x1cc21..=0x1cc3f | 0x1cd00..=0x1cde5 | 0x1ce00 | 0x1ce01
        | 0x1ce0b | 0x1ce0c | 0x1ce16..=0x1ce19 | 0x1ce51..=0x1ceaf)
}

pub(super) fn draw(canvas: &mut Canvas, code: u32, thickness: i32) {
    let (w, h, t) = (canvas.width, canvas.height, thickness);
    let (x, y) = ((w - t) / 2, (h - t) / 2);
    match code {
        0x1cc1b | 0x1cc1c => {
            canvas.fill(0, y, w, y + t);
            let (from, to) = if code == 0x1cc1b { (0, y) } else { (y, h) };
            canvas.fill(w - t, from, w, to);
        }
        0x1cc1d => {
            canvas.fill(0, 0, w, t);
            canvas.fill(0, 0, t, h / 2);
        }
        0x1cc1e => {
            canvas.fill(0, h - t, w, h);
            canvas.fill(0, h / 2, t, h);
        }
        0x1cc21..=0x1cc2f => separated(canvas, code - 0x1cc20, 2),
        0x1cc30..=0x1cc3f => arc(canvas, code - 0x1cc30, t),
        0x1cd00..=0x1cde5 => octant(canvas, octant_pattern(code - 0x1cd00)),
        0x1ce00 | 0x1ce01 => {
            let radius = w.min(h) as f32 / 2.0;
            let middles = if code == 0x1ce00 {
                [(0.0, h as f32 / 2.0), (w as f32, h as f32 / 2.0)]
            } else {
                [(w as f32 / 2.0, 0.0), (w as f32 / 2.0, h as f32)]
            };
            for middle in middles {
                ellipse(canvas, middle, (radius, radius), Some(t));
            }
        }
        0x1ce0b | 0x1ce0c => {
            let middle = (if code == 0x1ce0b { w as f32 } else { 0.0 }, h as f32 / 2.0);
            ellipse(canvas, middle, (w as f32, h as f32 / 2.0), Some(t));
        }
        0x1ce16..=0x1ce19 => {
            canvas.fill(x, 0, x + t, h);
            let (from, to) = if code < 0x1ce18 { (x, w) } else { (0, x) };
            let top = if code.is_multiple_of(2) { 0 } else { h - t };
            canvas.fill(from, top, to, top + t);
        }
        0x1ce51..=0x1ce8f => separated(canvas, code - 0x1ce50, 3),
        0x1ce90..=0x1ce9f => {
            let n = (code - 0x1ce90) as i32;
            quarters(canvas, (n % 4, n / 4), (n % 4 + 1, n / 4 + 1));
        }
        _ => {
            // Left, top, right and bottom of each part, in quarters of the cell.
            #[rustfmt::skip]
            const PARTS: [[i32; 4]; 16] = [
                [2, 3, 4, 4], [1, 3, 4, 4], [0, 3, 3, 4], [0, 3, 2, 4],
                [0, 2, 1, 4], [0, 1, 1, 4], [0, 0, 1, 3], [0, 0, 1, 2],
                [0, 0, 2, 1], [0, 0, 3, 1], [1, 0, 4, 1], [2, 0, 4, 1],
                [3, 0, 4, 2], [3, 0, 4, 3], [3, 1, 4, 4], [3, 2, 4, 4],
            ];
            if let Some([left, top, right, bottom]) = PARTS.get(code.wrapping_sub(0x1cea0) as usize)
            {
                quarters(canvas, (*left, *top), (*right, *bottom));
            }
        }
    }
}

/// Fills from one point to another, both in quarters of the cell.
fn quarters(canvas: &mut Canvas, from: (i32, i32), to: (i32, i32)) {
    let (w, h) = (canvas.width, canvas.height);
    let x = |n: i32| (w * n + 2) / 4;
    // Measure from the bottom, as in `block.rs`, so that complementary halves meet exactly.
    let y = |n: i32| h - (h * (4 - n) + 2) / 4;
    canvas.fill(x(from.0), y(from.1), x(to.0).max(x(from.0) + 1), y(to.1).max(y(from.1) + 1));
}

/// The pattern of the n-th octant. Bit 0 is the upper left of eight blocks in two columns, bit 1 the block beside it.
/// The code points list all patterns in order, except those that Unicode encodes elsewhere.
fn octant_pattern(n: u32) -> u8 {
    let elsewhere = |pattern: u8| {
        // Patterns with equal rows in each half: quadrants, halves, full and empty.
        let pairs = (pattern & 0x33) == (pattern >> 2 & 0x33);
        pairs
            || matches!(
                pattern,
                // A single corner block; the top or bottom row alone, or all but that row; the middle of the left or
                // right column.
                0x01 | 0x02 | 0x40 | 0x80 | 0x03 | 0xc0 | 0x3f | 0xfc | 0x14 | 0x28
            )
    };
    (0..=u8::MAX).filter(|pattern| !elsewhere(*pattern)).nth(n as usize).unwrap_or(0)
}

fn octant(canvas: &mut Canvas, pattern: u8) {
    for bit in (0..8).filter(|bit| pattern >> bit & 1 != 0) {
        let (column, row) = (bit % 2, bit / 2);
        quarters(canvas, (2 * column, row), (2 * column + 2, row + 1));
    }
}

/// Draws blocks in two columns and `rows` rows with gaps around each. Bit 0 is the upper left, bit 1 the block beside
/// it.
fn separated(canvas: &mut Canvas, pattern: u32, rows: i32) {
    let (w, h) = (canvas.width, canvas.height);
    let gap = (w / 12).max(1);
    for bit in (0..2 * rows).filter(|bit| pattern >> bit & 1 != 0) {
        let (column, row) = (bit % 2, bit / 2);
        let (x0, x1) = (column * w / 2 + gap, (column + 1) * w / 2 - gap);
        let (y0, y1) = (row * h / rows + gap, (row + 1) * h / rows - gap);
        canvas.fill(x0, y0, x1.max(x0 + 1), y1.max(y0 + 1));
    }
}

/// Draws a piece of a circle: a twelfth along the edge of a circle over four by four cells, or a quarter of a circle
/// over two by two.
fn arc(canvas: &mut Canvas, n: u32, thickness: i32) {
    let (w, h) = (canvas.width as f32, canvas.height as f32);
    let (column, row) = (n % 4, n / 4);
    let quarter = (1..3).contains(&column) && (1..3).contains(&row);
    let (column, row, radius) =
        if quarter { (column - 1, row - 1, 1.0) } else { (column, row, 2.0) };
    let middle = ((radius - column as f32) * w, (radius - row as f32) * h);
    ellipse(canvas, middle, (radius * w, radius * h), Some(thickness));
}

#[cfg(test)]
mod tests {
    use super::octant_pattern;

    /// Checks the first and the last names of the block (BLOCK OCTANT-3, -23, -123, -4 … -2345678), and their number.
    #[test]
    fn octants_are_in_the_order_of_their_names() {
        let blocks = |n: u32| -> String {
            let pattern = octant_pattern(n);
            (0..8).filter(|bit| pattern >> bit & 1 != 0).map(|bit| char::from(b'1' + bit)).collect()
        };
        let first = ["3", "23", "123", "4", "14", "124", "34", "134", "234", "5"];
        assert_eq!((0..10).map(blocks).collect::<Vec<_>>(), first);
        assert_eq!(blocks(0xe5), "2345678");
        assert_eq!(blocks(0xe6), "");
    }
}
