//! Box drawing (U+2500–257F): arms from the center to the edges, each with its own weight.

use super::canvas::{Canvas, curve_to, line_to, move_to};

/// Weight of an arm.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Arm {
    None,
    Light,
    Heavy,
    Double,
}

/// Arms of each character in the order up, right, down, left: 0 none, 1 light, 2 heavy, 3 double. `----` stands for
/// dashes (2504–250B, 254C–254F), arcs and diagonals (256D–2573), which have no arms.
#[rustfmt::skip]
const ARMS: [&[u8; 4]; 128] = [
    // 2500
    b"0101", b"0202", b"1010", b"2020", b"----", b"----", b"----", b"----",
    b"----", b"----", b"----", b"----", b"0110", b"0210", b"0120", b"0220",
    // 2510
    b"0011", b"0012", b"0021", b"0022", b"1100", b"1200", b"2100", b"2200",
    b"1001", b"1002", b"2001", b"2002", b"1110", b"1210", b"2110", b"1120",
    // 2520
    b"2120", b"2210", b"1220", b"2220", b"1011", b"1012", b"2011", b"1021",
    b"2021", b"2012", b"1022", b"2022", b"0111", b"0112", b"0211", b"0212",
    // 2530
    b"0121", b"0122", b"0221", b"0222", b"1101", b"1102", b"1201", b"1202",
    b"2101", b"2102", b"2201", b"2202", b"1111", b"1112", b"1211", b"1212",
    // 2540
    b"2111", b"1121", b"2121", b"2112", b"2211", b"1122", b"1221", b"2212",
    b"1222", b"2122", b"2221", b"2222", b"----", b"----", b"----", b"----",
    // 2550
    b"0303", b"3030", b"0310", b"0130", b"0330", b"0013", b"0031", b"0033",
    b"1300", b"3100", b"3300", b"1003", b"3001", b"3003", b"1310", b"3130",
    // 2560
    b"3330", b"1013", b"3031", b"3033", b"0313", b"0131", b"0333", b"1303",
    b"3101", b"3303", b"1313", b"3131", b"3333", b"----", b"----", b"----",
    // 2570
    b"----", b"----", b"----", b"----", b"0001", b"1000", b"0100", b"0010",
    b"0002", b"2000", b"0200", b"0020", b"0201", b"1020", b"0102", b"2010",
];

pub(super) fn draw(canvas: &mut Canvas, c: char, light: i32) {
    let heavy = 2 * light;
    match c {
        '┄' => dashes(canvas, 3, light, false),
        '┅' => dashes(canvas, 3, heavy, false),
        '┆' => dashes(canvas, 3, light, true),
        '┇' => dashes(canvas, 3, heavy, true),
        '┈' => dashes(canvas, 4, light, false),
        '┉' => dashes(canvas, 4, heavy, false),
        '┊' => dashes(canvas, 4, light, true),
        '┋' => dashes(canvas, 4, heavy, true),
        '╌' => dashes(canvas, 2, light, false),
        '╍' => dashes(canvas, 2, heavy, false),
        '╎' => dashes(canvas, 2, light, true),
        '╏' => dashes(canvas, 2, heavy, true),
        '╭' => arc(canvas, light, 1, 1),
        '╮' => arc(canvas, light, -1, 1),
        '╯' => arc(canvas, light, -1, -1),
        '╰' => arc(canvas, light, 1, -1),
        '╱' => diagonal(canvas, light, true),
        '╲' => diagonal(canvas, light, false),
        '╳' => {
            diagonal(canvas, light, true);
            diagonal(canvas, light, false);
        }
        _ => {
            let arms = ARMS[c as usize - 0x2500].map(|weight| match weight {
                b'1' => Arm::Light,
                b'2' => Arm::Heavy,
                b'3' => Arm::Double,
                _ => Arm::None,
            });
            for direction in 0..4 {
                arm(canvas, arms, direction, light);
            }
        }
    }
}

/// The first pixel of a line of `thickness` centered in `size` pixels. Light and heavy lines have the same center, as
/// far as whole pixels allow, so that lines of adjacent cells meet.
fn middle(size: i32, thickness: i32) -> i32 {
    (size - thickness) / 2
}

/// Draws one arm. Positions are measured outward from the cell's center and across the arm, so that one function draws
/// all four directions.
fn arm(canvas: &mut Canvas, arms: [Arm; 4], direction: usize, light: i32) {
    let own = arms[direction];
    let opposite = arms[(direction + 2) % 4];
    let horizontal = direction % 2 == 1;
    let outward_positive = direction == 1 || direction == 2;
    // The neighboring arms: for a horizontal arm, those that point up and down; for a vertical arm, those that point
    // left and right.
    let (before, after) = if horizontal { (arms[0], arms[2]) } else { (arms[3], arms[1]) };
    let (length, breadth) =
        if horizontal { (canvas.width, canvas.height) } else { (canvas.height, canvas.width) };
    let thickness = |arm| match arm {
        Arm::None => 0,
        Arm::Light | Arm::Double => light,
        Arm::Heavy => 2 * light,
    };
    // `single`: the first pixel of a single stroke, and the pixel after its last. `double`: the same positions for both
    // lines of a double stroke.
    let single = |size: i32, t: i32| (middle(size, t), middle(size, t) + t);
    let double = |size: i32| {
        let (low, high) = single(size, light);
        [(low - light, low), (high, high + light)]
    };
    let mut line = |from: i32, sides: (i32, i32)| {
        let (a, b) = if outward_positive { (from, length) } else { (0, from) };
        if horizontal {
            canvas.fill(a, sides.0, b, sides.1);
        } else {
            canvas.fill(sides.0, a, sides.1, b);
        }
    };
    // The edge of a crossing line that is farther from this arm's outer end. An arm that begins there covers the
    // crossing line.
    let far = |edges: (i32, i32)| if outward_positive { edges.0 } else { edges.1 };
    let halfway = length / 2;
    let crossing = |t: i32| single(length, t);
    // The two lines of a double stroke that crosses this arm: first the line nearer to this arm's outer end, then the
    // other line.
    let [low, high] = double(length);
    let (near_line, far_line) = if outward_positive { (high, low) } else { (low, high) };
    let doubles = (before == Arm::Double, after == Arm::Double);

    match own {
        Arm::None => {}
        Arm::Light | Arm::Heavy => {
            let from = match doubles {
                (true, true) if opposite == Arm::None => far(near_line),
                (true, false) | (false, true) if opposite == Arm::None => far(far_line),
                (true, _) | (_, true) => halfway,
                _ => match thickness(before).max(thickness(after)) {
                    0 => halfway,
                    t => far(crossing(t)),
                },
            };
            line(from, single(breadth, thickness(own)));
        }
        Arm::Double => {
            let [first, second] = double(breadth);
            for (sides, this, other) in
                [(first, doubles.0, doubles.1), (second, doubles.1, doubles.0)]
            {
                let from = match (this, other) {
                    // The crossing double stroke leaves on the side of this line: begin at its nearer line, the inner
                    // corner.
                    (true, _) => far(near_line),
                    // The crossing double stroke leaves only on the opposite side: begin at its farther line, the outer
                    // corner.
                    (false, true) if opposite == Arm::None => far(far_line),
                    (false, true) => halfway,
                    (false, false) => match thickness(before).max(thickness(after)) {
                        0 => halfway,
                        t if opposite == Arm::None => far(crossing(t)),
                        _ => halfway,
                    },
                };
                line(from, sides);
            }
        }
    }
}

/// Draws `count` dashes in a cell, with half a gap at each edge so that cells join evenly.
fn dashes(canvas: &mut Canvas, count: i32, thickness: i32, vertical: bool) {
    let (length, breadth) =
        if vertical { (canvas.height, canvas.width) } else { (canvas.width, canvas.height) };
    let gap = (length / (count * 3)).max(1);
    let side = middle(breadth, thickness);
    for i in 0..count {
        let start = i * length / count + gap / 2;
        let end = ((i + 1) * length / count - (gap - gap / 2)).max(start + 1);
        if vertical {
            canvas.fill(side, start, side + thickness, end);
        } else {
            canvas.fill(start, side, end, side + thickness);
        }
    }
}

/// Draws a rounded corner whose arms leave right (`1`) or left (`-1`), and down (`1`) or up (`-1`).
pub(super) fn arc(canvas: &mut Canvas, thickness: i32, right: i32, down: i32) {
    let (w, h, t) = (canvas.width, canvas.height, thickness as f32);
    let (x, y) = (middle(w, thickness) as f32 + t / 2.0, middle(h, thickness) as f32 + t / 2.0);
    let (right, down) = (right as f32, down as f32);
    let edge_x = if right > 0.0 { w as f32 } else { 0.0 };
    let edge_y = if down > 0.0 { h as f32 } else { 0.0 };
    // Make the last pixel before the edge straight, so that it meets the neighbor's line exactly.
    let radius = ((edge_x - x).abs().min((edge_y - y).abs()) - 1.0).max(0.0);
    const K: f32 = 0.5523;
    canvas.stroke(
        &[
            move_to(x, edge_y + down),
            line_to(x, y + down * radius),
            curve_to(
                (x, y + down * radius * (1.0 - K)),
                (x + right * radius * (1.0 - K), y),
                (x + right * radius, y),
            ),
            line_to(edge_x + right, y),
        ],
        t,
    );
}

fn diagonal(canvas: &mut Canvas, thickness: i32, rising: bool) {
    let (w, h) = (canvas.width as f32, canvas.height as f32);
    // Extend the line beyond the corners, so that its ends are not visible.
    let (dx, dy) = (w / 4.0, h / 4.0);
    let ends = if rising {
        [move_to(-dx, h + dy), line_to(w + dx, -dy)]
    } else {
        [move_to(-dx, -dy), line_to(w + dx, h + dy)]
    };
    canvas.stroke(&ends, thickness as f32);
}
