//! Underlines that are not plain lines. Each repeats once per cell, so that adjacent cells join.

use crate::CellMetrics;

use super::canvas::{Canvas, curve_to, move_to};

/// Top of an underline that is `height` pixels high: the font's underline position, moved up if the cell ends too soon.
fn top(metrics: &CellMetrics, height: u32) -> i32 {
    metrics.underline.min(metrics.height.saturating_sub(height)) as i32
}

pub(super) fn curly(canvas: &mut Canvas, metrics: &CellMetrics) {
    let thickness = metrics.thickness as f32;
    let cell = metrics.width as f32;
    let wave = (cell / 5.0).max(thickness + 1.0).round();
    let height = wave + thickness;
    let middle = top(metrics, height.ceil() as u32) as f32 + height / 2.0;
    // Draw from one period before the cell to one period after it, so that the ends of the line are not visible.
    let half = cell / 2.0;
    let reach = wave / 2.0 * 4.0 / 3.0;
    let mut path = vec![move_to(-cell, middle)];
    for i in 0..6 {
        let x = -cell + i as f32 * half;
        let y = if i % 2 == 0 { middle - reach } else { middle + reach };
        let (c1, c2) = (x + half * 0.364, x + half * 0.636);
        path.push(curve_to((c1, y), (c2, y), (x + half, middle)));
    }
    let mut one = Canvas::new(metrics.width as i32, canvas.height);
    one.stroke(&path, thickness);
    let rows = canvas.data.chunks_exact_mut(canvas.width as usize);
    for (row, period) in rows.zip(one.data.chunks_exact(metrics.width as usize)) {
        for cell in row.chunks_mut(period.len()) {
            cell.copy_from_slice(&period[..cell.len()]);
        }
    }
}

pub(super) fn dotted(canvas: &mut Canvas, metrics: &CellMetrics) {
    let cell = metrics.width as i32;
    let dot = (metrics.thickness as i32).max(1);
    let dots = (cell / (2 * dot)).max(1);
    let y = top(metrics, dot as u32);
    for start in (0..canvas.width).step_by(cell as usize) {
        for i in 0..dots {
            let x = start + ((2 * i + 1) * cell - dots * dot) / (2 * dots);
            canvas.fill(x, y, x + dot, y + dot);
        }
    }
}

pub(super) fn dashed(canvas: &mut Canvas, metrics: &CellMetrics) {
    let cell = metrics.width as i32;
    let thickness = metrics.thickness as i32;
    let y = top(metrics, metrics.thickness);
    let gap = (cell / 3).max(1);
    for start in (0..canvas.width).step_by(cell as usize) {
        // Half a dash at each edge joins the neighbor cell's half dash to form a whole one.
        let left = (cell - gap) / 2;
        canvas.fill(start, y, start + left, y + thickness);
        canvas.fill(start + left + gap, y, start + cell, y + thickness);
    }
}
