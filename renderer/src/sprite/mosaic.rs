//! Symbols for Legacy Computing (U+1FB3C–1FBFF, Unicode 13 and 16): wedges, eighths, shades, diagonals, fills, circles
//! and segmented digits. Pieces are named after the characters' Unicode names.

use swash::zeno::Command;

use super::canvas::{Canvas, curve_to, line_to, move_to};

/// The characters of the block that [`draw`] draws: all except pictographs.
pub(super) fn has(code: u32) -> bool {
    matches!(code,
        0x1fb3c..=0x1fb92 | 0x1fb94..=0x1fbaf | 0x1fbbd..=0x1fbbf | 0x1fbce..=0x1fbef
        | 0x1fbf0..=0x1fbf9)
}

/// A point of the cell: its distance from the left and from the top edge, each from 0 to 1.
type CellPoint = (f32, f32);

const THIRD: f32 = 1.0 / 3.0;

/// Wedges U+1FB3C–1FB67: the corner that is filled, and both ends of the line that separates it from the rest. Letters
/// name points of the cell. `a` to `c` are the upper left, center and right; `d` and `e` the upper middle left and
/// right; `f` and `g` the lower middle left and right; `h` to `j` the lower left, center and right.
#[rustfmt::skip]
const WEDGES: [&[u8; 3]; 44] = [
    b"hfi", b"hfj", b"hdi", b"hdj", b"hai", b"jdb", b"jdc", b"jfb", b"jfc", b"jhb", b"jfe",
    b"jig", b"jhg", b"jie", b"jhe", b"jic", b"hbe", b"hae", b"hbg", b"hag", b"hbj", b"hdg",
    b"cfi", b"cfj", b"cdi", b"cdj", b"cai", b"adb", b"adc", b"afb", b"afc", b"ahb", b"afe",
    b"aig", b"ahg", b"aie", b"ahe", b"aic", b"cbe", b"cae", b"cbg", b"cag", b"cbj", b"cdg",
];

fn corner(name: u8) -> CellPoint {
    match name {
        b'a' => (0.0, 0.0),
        b'b' => (0.5, 0.0),
        b'c' => (1.0, 0.0),
        b'd' => (0.0, THIRD),
        b'e' => (1.0, THIRD),
        b'f' => (0.0, 2.0 * THIRD),
        b'g' => (1.0, 2.0 * THIRD),
        b'h' => (0.0, 1.0),
        b'i' => (0.5, 1.0),
        _ => (1.0, 1.0),
    }
}

pub(super) fn draw(canvas: &mut Canvas, code: u32, thickness: i32) {
    let (w, h) = (canvas.width, canvas.height);
    let left = |n: i32| eighths(w, n);
    let top = |n: i32| eighths(h, n);
    match code {
        0x1fb3c..=0x1fb67 => wedge(canvas, WEDGES[(code - 0x1fb3c) as usize]),
        // Three quarters: all but the left, upper, right, lower quarter.
        0x1fb68..=0x1fb6b => {
            quarters(canvas, 0b1111 & !(1 << (code - 0x1fb68)), 255);
        }
        0x1fb6c..=0x1fb6f => quarters(canvas, 1 << (code - 0x1fb6c), 255),
        0x1fb70..=0x1fb75 => {
            let n = (code - 0x1fb70) as i32 + 1;
            canvas.fill(left(n), 0, left(n + 1).max(left(n) + 1), h);
        }
        0x1fb76..=0x1fb7b => {
            let n = (code - 0x1fb76) as i32 + 1;
            canvas.fill(0, top(n), w, top(n + 1).max(top(n) + 1));
        }
        0x1fb7c..=0x1fb80 => {
            // Left, right, upper, lower eighth.
            const EDGES: [u8; 5] = [0b1001, 0b0101, 0b0110, 0b1010, 0b1100];
            let set = EDGES[(code - 0x1fb7c) as usize];
            let (x, y) = (left(1).max(1), top(1).max(1));
            let edges = [(0, 0, x, h), (w - x, 0, w, h), (0, 0, w, y), (0, h - y, w, h)];
            for (bit, (x0, y0, x1, y1)) in edges.into_iter().enumerate() {
                if set >> bit & 1 != 0 {
                    canvas.fill(x0, y0, x1, y1);
                }
            }
        }
        0x1fb81 => {
            for n in [0, 2, 4, 7] {
                canvas.fill(0, top(n), w, top(n + 1).max(top(n) + 1));
            }
        }
        0x1fb82..=0x1fb86 => {
            canvas.fill(0, 0, w, top([2, 3, 5, 6, 7][(code - 0x1fb82) as usize]).max(1));
        }
        0x1fb87..=0x1fb8b => {
            let n = [2, 3, 5, 6, 7][(code - 0x1fb87) as usize];
            canvas.fill(w - left(n).max(1), 0, w, h);
        }
        0x1fb8c => canvas.shade(0, 0, left(4), h, SHADE),
        0x1fb8d => canvas.shade(left(4), 0, w, h, SHADE),
        0x1fb8e => canvas.shade(0, 0, w, h - top(4), SHADE),
        0x1fb8f => canvas.shade(0, h - top(4), w, h, SHADE),
        0x1fb90 => canvas.shade(0, 0, w, h, SHADE),
        0x1fb91 => {
            canvas.fill(0, 0, w, h - top(4));
            canvas.shade(0, h - top(4), w, h, SHADE);
        }
        0x1fb92 => {
            canvas.shade(0, 0, w, h - top(4), SHADE);
            canvas.fill(0, h - top(4), w, h);
        }
        0x1fb94 => {
            canvas.shade(0, 0, left(4), h, SHADE);
            canvas.fill(left(4), 0, w, h);
        }
        0x1fb95 | 0x1fb96 => checkers(canvas, code == 0x1fb96),
        0x1fb97 => {
            canvas.fill(0, top(2), w, top(4));
            canvas.fill(0, top(6), w, h);
        }
        0x1fb98 => hatch(canvas, thickness, false),
        0x1fb99 => hatch(canvas, thickness, true),
        0x1fb9a => quarters(canvas, 0b1010, 255),
        0x1fb9b => quarters(canvas, 0b0101, 255),
        0x1fb9c => shaded(canvas, b"acc", b"ach"),
        0x1fb9d => shaded(canvas, b"acc", b"acj"),
        0x1fb9e => shaded(canvas, b"cjj", b"cjh"),
        0x1fb9f => shaded(canvas, b"ahh", b"ahj"),
        0x1fba0..=0x1fbae => {
            // Upper left, upper right, lower left, lower right diagonal.
            const SETS: [u8; 15] = [1, 2, 4, 8, 5, 10, 12, 3, 9, 6, 14, 13, 11, 7, 15];
            diamond(canvas, SETS[(code - 0x1fba0) as usize], thickness);
        }
        0x1fbaf => {
            let y = (h - thickness) / 2;
            canvas.fill(0, y, w, y + thickness);
            let (x, reach) = ((w - thickness) / 2, (h / 6).max(thickness));
            canvas.fill(x, y - reach, x + thickness, y + thickness + reach);
        }
        0x1fbbd => inverse(canvas, |canvas| {
            stroke(canvas, &[(0.0, 0.0), (1.0, 1.0)], thickness);
            stroke(canvas, &[(1.0, 0.0), (0.0, 1.0)], thickness);
        }),
        0x1fbbe => inverse(canvas, |canvas| diamond(canvas, 8, thickness)),
        0x1fbbf => inverse(canvas, |canvas| diamond(canvas, 15, thickness)),
        0x1fbce => canvas.fill(0, 0, (2 * w + 1) / 3, h),
        0x1fbcf => canvas.fill(0, 0, (w + 1) / 3, h),
        0x1fbd0..=0x1fbdf => {
            const C: CellPoint = (0.5, 0.5);
            let (a, b, c) = ((0.0, 0.0), (0.5, 0.0), (1.0, 0.0));
            let (l, r) = ((0.0, 0.5), (1.0, 0.5));
            let (d, e, f) = ((0.0, 1.0), (0.5, 1.0), (1.0, 1.0));
            let lines: [&[CellPoint]; 16] = [
                &[r, d],
                &[c, l],
                &[a, r],
                &[l, f],
                &[a, e],
                &[b, f],
                &[c, e],
                &[b, d],
                &[a, C, c],
                &[c, C, f],
                &[d, C, f],
                &[a, C, d],
                &[a, e, c],
                &[c, l, f],
                &[d, b, f],
                &[a, r, d],
            ];
            stroke(canvas, lines[(code - 0x1fbd0) as usize], thickness);
        }
        0x1fbe0..=0x1fbe3 => circle(canvas, MIDDLES[(code - 0x1fbe0) as usize], Some(thickness)),
        0x1fbe4 => canvas.fill(left(2), 0, w - left(2), h - top(4)),
        0x1fbe5 => canvas.fill(left(2), h - top(4), w - left(2), h),
        0x1fbe6 => canvas.fill(0, top(2), left(4), h - top(2)),
        0x1fbe7 => canvas.fill(left(4), top(2), w, h - top(2)),
        0x1fbe8..=0x1fbeb => circle(canvas, MIDDLES[(code - 0x1fbe8) as usize], None),
        0x1fbec => circle(canvas, (1.0, 0.0), None),
        0x1fbed => circle(canvas, (0.0, 1.0), None),
        0x1fbee => circle(canvas, (1.0, 1.0), None),
        0x1fbef => circle(canvas, (0.0, 0.0), None),
        0x1fbf0..=0x1fbf9 => digit(canvas, (code - 0x1fbf0) as usize, thickness),
        _ => {}
    }
}

/// Centers of half circles: at the top, the right, the bottom, the left.
const MIDDLES: [CellPoint; 4] = [(0.5, 0.0), (1.0, 0.5), (0.5, 1.0), (0.0, 0.5)];

const SHADE: u8 = 0x80;

fn eighths(size: i32, n: i32) -> i32 {
    (size * n + 4) / 8
}

fn point(canvas: &Canvas, at: CellPoint) -> (f32, f32) {
    (at.0 * canvas.width as f32, at.1 * canvas.height as f32)
}

fn polygon(canvas: &mut Canvas, points: &[CellPoint]) {
    let mut path: Vec<Command> = Vec::with_capacity(points.len() + 1);
    for (i, at) in points.iter().enumerate() {
        let (x, y) = point(canvas, *at);
        path.push(if i == 0 { move_to(x, y) } else { line_to(x, y) });
    }
    path.push(Command::Close);
    canvas.path(&path);
}

/// Fills the corner of the cell that a line between two points of the cell's edges cuts off.
fn wedge(canvas: &mut Canvas, [kept, from, to]: &[u8; 3]) {
    let (from, to) = (corner(*from), corner(*to));
    let side =
        |at: CellPoint| (to.0 - from.0) * (at.1 - from.1) - (to.1 - from.1) * (at.0 - from.0);
    let wanted = side(corner(*kept));
    // The corners of the cell on the filled side, together with the ends of the line.
    let mut points = vec![from, to];
    let corners = [b'a', b'c', b'j', b'h'].map(corner);
    points.extend(corners.into_iter().filter(|at| side(*at) * wanted > 1e-6));
    // Sort the points around the center of the shape.
    let n = points.len() as f32;
    let middle = points.iter().fold((0.0, 0.0), |sum, at| (sum.0 + at.0 / n, sum.1 + at.1 / n));
    let angle = |at: &CellPoint| (at.1 - middle.1).atan2(at.0 - middle.0);
    points.sort_by(|a, b| angle(a).total_cmp(&angle(b)));
    polygon(canvas, &points);
}

/// Fills triangles from the cell's center to its left (bit 0), upper, right and lower edge.
fn quarters(canvas: &mut Canvas, set: u8, coverage: u8) {
    let corners = [b'h', b'a', b'c', b'j'].map(corner);
    let mut points = Vec::new();
    for edge in 0..4 {
        if set >> edge & 1 != 0 {
            points.extend([corners[edge], corners[(edge + 1) % 4], (0.5, 0.5)]);
        } else {
            points.push((0.5, 0.5));
        }
    }
    polygon(canvas, &points);
    if coverage < 255 {
        dim(canvas, coverage);
    }
}

/// Fills a triangle with medium shade.
fn shaded(canvas: &mut Canvas, [a, b, _]: &[u8; 3], [_, _, c]: &[u8; 3]) {
    polygon(canvas, &[corner(*a), corner(*b), corner(*c)]);
    dim(canvas, SHADE);
}

fn dim(canvas: &mut Canvas, coverage: u8) {
    for pixel in &mut canvas.data {
        *pixel = (u32::from(*pixel) * u32::from(coverage) / 255) as u8;
    }
}

fn inverse(canvas: &mut Canvas, draw: impl FnOnce(&mut Canvas)) {
    draw(canvas);
    canvas.data.iter_mut().for_each(|pixel| *pixel = 255 - *pixel);
}

/// Fills squares in four columns, about as high as wide.
fn checkers(canvas: &mut Canvas, inverse: bool) {
    let (w, h) = (canvas.width, canvas.height);
    let across = 4;
    // An even number of rows, so that the pattern continues in the cell below.
    let down = ((h * across / w.max(1) + 1) / 2 * 2).max(2);
    for row in 0..down {
        for column in 0..across {
            if ((row + column) % 2 == 0) != inverse {
                let x = |n: i32| n * w / across;
                let y = |n: i32| n * h / down;
                canvas.fill(x(column), y(row), x(column + 1), y(row + 1));
            }
        }
    }
}

/// Draws diagonal lines that continue in adjacent cells: two per cell width, four per cell height.
fn hatch(canvas: &mut Canvas, thickness: i32, rising: bool) {
    let (w, h) = (canvas.width as f32, canvas.height as f32);
    for i in -4..=6 {
        let from = i as f32 * w / 2.0;
        let slope = 2.0 * w;
        let (x0, x1) = if rising { (from + slope, from) } else { (from, from + slope) };
        // Draw from above the cell to below it, so that the ends of the line are not visible.
        let reach = (x1 - x0) / h * (h / 8.0);
        let path = [move_to(x0 - reach - w, -h / 8.0), line_to(x1 + reach - w, h + h / 8.0)];
        canvas.stroke(&path, (thickness as f32).max(w / 10.0));
    }
}

/// Draws a line through points. Its ends are extended, so that an end on the cell's edge is cut off cleanly.
fn stroke(canvas: &mut Canvas, points: &[CellPoint], thickness: i32) {
    let points: Vec<_> = points.iter().map(|at| point(canvas, *at)).collect();
    let beyond = |end: (f32, f32), other: (f32, f32)| {
        let length = ((end.0 - other.0).powi(2) + (end.1 - other.1).powi(2)).sqrt().max(1.0);
        let more = thickness as f32 / length;
        (end.0 + (end.0 - other.0) * more, end.1 + (end.1 - other.1) * more)
    };
    let last = points.len() - 1;
    let path: Vec<_> = points
        .iter()
        .enumerate()
        .map(|(i, at)| match i {
            0 => {
                let (x, y) = beyond(*at, points[1]);
                move_to(x, y)
            }
            i if i == last => {
                let (x, y) = beyond(*at, points[last - 1]);
                line_to(x, y)
            }
            _ => line_to(at.0, at.1),
        })
        .collect();
    canvas.stroke(&path, thickness as f32);
}

/// Draws the sides of a diamond whose corners are the centers of the cell's edges.
fn diamond(canvas: &mut Canvas, set: u8, thickness: i32) {
    let (top, left, right, foot) = ((0.5, 0.0), (0.0, 0.5), (1.0, 0.5), (0.5, 1.0));
    for (bit, ends) in [[top, left], [top, right], [left, foot], [right, foot]].iter().enumerate() {
        if set >> bit & 1 != 0 {
            stroke(canvas, ends, thickness);
        }
    }
}

/// Draws the part of a circle around `middle` that lies in the cell. The circle's diameter is the cell's width. It is
/// filled, or a ring of thickness `ring`.
fn circle(canvas: &mut Canvas, middle: CellPoint, ring: Option<i32>) {
    let (x, y) = point(canvas, middle);
    let radius = canvas.width.min(canvas.height) as f32 / 2.0;
    ellipse(canvas, (x, y), (radius, radius), ring);
}

/// Draws the part of an ellipse that lies on the canvas: filled, or a ring inside its edge.
pub(super) fn ellipse(
    canvas: &mut Canvas,
    middle: (f32, f32),
    radii: (f32, f32),
    ring: Option<i32>,
) {
    const K: f32 = 0.5523;
    let inset = ring.map_or(0.0, |thickness| thickness as f32 / 2.0);
    let (x, y) = middle;
    let (rx, ry) = ((radii.0 - inset).max(0.5), (radii.1 - inset).max(0.5));
    let path = [
        move_to(x + rx, y),
        curve_to((x + rx, y + ry * K), (x + rx * K, y + ry), (x, y + ry)),
        curve_to((x - rx * K, y + ry), (x - rx, y + ry * K), (x - rx, y)),
        curve_to((x - rx, y - ry * K), (x - rx * K, y - ry), (x, y - ry)),
        curve_to((x + rx * K, y - ry), (x + rx, y - ry * K), (x + rx, y)),
        Command::Close,
    ];
    match ring {
        Some(thickness) => canvas.stroke(&path, thickness as f32),
        None => canvas.path(&path),
    }
}

/// Draws a digit of seven segments.
fn digit(canvas: &mut Canvas, digit: usize, thickness: i32) {
    // Top, upper left, upper right, middle, lower left, lower right, bottom.
    const SEGMENTS: [u8; 10] = [
        0b111_0111, 0b010_0100, 0b101_1101, 0b110_1101, 0b010_1110, 0b110_1011, 0b111_1011,
        0b010_0101, 0b111_1111, 0b110_1111,
    ];
    let (w, h) = (canvas.width, canvas.height);
    let t = thickness.max(w / 8).max(1);
    let (x0, x1) = (w / 8, w - w / 8);
    let (y0, y1) = (h / 8, h - h / 8);
    let middle = (y0 + y1 - t) / 2;
    let places = [
        (x0, y0, x1, y0 + t),
        (x0, y0, x0 + t, middle + t),
        (x1 - t, y0, x1, middle + t),
        (x0, middle, x1, middle + t),
        (x0, middle, x0 + t, y1),
        (x1 - t, middle, x1, y1),
        (x0, y1 - t, x1, y1),
    ];
    for (bit, (x0, y0, x1, y1)) in places.into_iter().enumerate() {
        if SEGMENTS[digit] >> bit & 1 != 0 {
            canvas.fill(x0, y0, x1, y1);
        }
    }
}
