//! How much of each pixel lies inside an outline.
//!
//! Each edge adds the area to its right, signed by its direction, to the pixels of its rows. The running sum of a row is
//! its coverage. An edge costs as many steps as it crosses pixels of the picture, wherever its ends are.

use unterm_term::{GlyphOutline, OutlinePoint};

use super::matrix::{Matrix, map};

/// The largest distance between a curve and the lines that replace it, in pixels.
const FLATNESS: f32 = 0.1;
/// Maximum lines that replace a curve.
const MAX_LINES: f32 = 64.0;

type Point = (f32, f32);

/// The signed areas of the pixels of a picture.
pub(super) struct Mask {
    width: usize,
    height: usize,
    /// Row by row, with two more pixels at the end of each row.
    areas: Vec<f32>,
}

impl Mask {
    pub(super) fn new(width: usize, height: usize) -> Self {
        Self { width, height, areas: vec![0.0; (width + 2) * height] }
    }

    /// Adds an outline, whose units `matrix` maps to pixels.
    pub(super) fn add(&mut self, outline: &GlyphOutline, matrix: &Matrix) {
        let place = |point: &OutlinePoint| map(matrix, (f32::from(point.x), f32::from(point.y)));
        for contour in outline.contours() {
            self.contour(contour, &place);
        }
    }

    fn contour(&mut self, contour: &[OutlinePoint], place: &impl Fn(&OutlinePoint) -> Point) {
        let (Some(first), Some(last)) = (contour.first(), contour.last()) else { return };
        // A contour that begins off the curve begins at its last point, or halfway to it.
        let start = match (first.on_curve, last.on_curve) {
            (true, _) => place(first),
            (false, true) => place(last),
            (false, false) => middle(place(last), place(first)),
        };
        let (mut pen, mut control) = (start, None);
        for point in contour {
            let at = place(point);
            match (control, point.on_curve) {
                (None, true) => self.line(pen, at),
                (None, false) => {
                    control = Some(at);
                    continue;
                }
                (Some(by), true) => self.curve(pen, by, at),
                (Some(by), false) => {
                    let between = middle(by, at);
                    self.curve(pen, by, between);
                    (pen, control) = (between, Some(at));
                    continue;
                }
            }
            (pen, control) = (at, None);
        }
        match control {
            Some(by) => self.curve(pen, by, start),
            None => self.line(pen, start),
        }
    }

    /// Adds the polygon with these corners.
    pub(super) fn polygon(&mut self, corners: &[Point]) {
        let next = corners.iter().cycle().skip(1);
        corners.iter().zip(next).for_each(|(from, to)| self.line(*from, *to));
    }

    fn curve(&mut self, from: Point, by: Point, to: Point) {
        let height = self.height as f32;
        let is_above = [from, by, to].iter().all(|(_, y)| *y <= 0.0);
        let is_below = [from, by, to].iter().all(|(_, y)| *y >= height);
        if is_above || is_below {
            return;
        }
        let bend = (from.0 - 2.0 * by.0 + to.0).hypot(from.1 - 2.0 * by.1 + to.1);
        let lines = (bend / (4.0 * FLATNESS)).sqrt().ceil().clamp(1.0, MAX_LINES);
        let mut last = from;
        for i in 1..=lines as usize {
            let t = i as f32 / lines;
            let mix = |a: f32, b: f32, c: f32| {
                (1.0 - t) * (1.0 - t) * a + 2.0 * t * (1.0 - t) * b + t * t * c
            };
            let next = if i == lines as usize {
                to
            } else {
                (mix(from.0, by.0, to.0), mix(from.1, by.1, to.1))
            };
            self.line(last, next);
            last = next;
        }
    }

    fn line(&mut self, from: Point, to: Point) {
        let is_finite = [from.0, from.1, to.0, to.1].iter().all(|value| value.is_finite());
        let (sign, top, bottom) = if from.1 < to.1 { (1.0, from, to) } else { (-1.0, to, from) };
        let (first, last) = (top.1.max(0.0), bottom.1.min(self.height as f32));
        if !is_finite || first >= last {
            return;
        }
        let slope =
            (f64::from(bottom.0) - f64::from(top.0)) / (f64::from(bottom.1) - f64::from(top.1));
        let x_at = |y: f32| (f64::from(top.0) + slope * (f64::from(y) - f64::from(top.1))) as f32;
        for row in first as usize..(last.ceil() as usize).min(self.height) {
            let (start, end) = (first.max(row as f32), last.min(row as f32 + 1.0));
            if start < end {
                self.row(row, x_at(start), x_at(end), (end - start) * sign);
            }
        }
    }

    /// Adds a part of an edge that lies in one row: it runs from one x to the other, and covers `height` of the row.
    fn row(&mut self, row: usize, from: f32, to: f32, height: f32) {
        let width = self.width as f32;
        let (left, right) = (from.min(to), from.max(to));
        let stride = self.width + 2;
        let areas = &mut self.areas[row * stride..(row + 1) * stride];
        // The part of the edge that is left of the picture covers the whole row. The part right of it covers nothing.
        let length = right - left;
        let share = |part: f32| if length > 0.0 { (part / length).clamp(0.0, 1.0) } else { 0.0 };
        if right <= 0.0 {
            areas[0] += height;
            return;
        }
        if left >= width {
            return;
        }
        let outside = share(-left);
        areas[0] += height * outside;
        let height = height * (1.0 - outside - share(right - width));
        spread(areas, left.max(0.0), right.min(width), height);
    }
}

/// Adds an edge between two x positions inside a row. It covers `height` of the row, spread evenly between them.
fn spread(areas: &mut [f32], left: f32, right: f32, height: f32) {
    let (first, last) = (left as usize, (right.ceil() as usize).max(left as usize + 1));
    if last == first + 1 {
        let inside = (left + right) / 2.0 - first as f32;
        areas[first] += height * (1.0 - inside);
        areas[first + 1] += height * inside;
        return;
    }
    // The area between the edge and each pixel's right side. Each pixel adds the difference to the pixel before it.
    let mut before = 0.0;
    for (at, pixel) in (first..last).zip(&mut areas[first..]) {
        let (start, end) = (left.max(at as f32), right.min(at as f32 + 1.0));
        let crossed = height * (end - start) / (right - left);
        let above = height * (start - left) / (right - left);
        let area = above + crossed * (at as f32 + 1.0 - (start + end) / 2.0);
        *pixel += area - before;
        before = area;
    }
    areas[last] += height - before;
}

fn middle(one: Point, other: Point) -> Point {
    ((one.0 + other.0) / 2.0, (one.1 + other.1) / 2.0)
}

impl Mask {
    /// The coverage of each pixel, 0 to 1.
    pub(super) fn coverage(&self) -> Vec<f32> {
        let mut coverage = Vec::with_capacity(self.width * self.height);
        for row in self.areas.chunks_exact(self.width + 2) {
            let mut sum = 0.0f32;
            coverage.extend(row[..self.width].iter().map(|area| {
                sum += area;
                // Rounding leaves traces of areas that cancel each other out.
                let covered = sum.abs().min(1.0);
                if covered < 1e-4 { 0.0 } else { covered }
            }));
        }
        coverage
    }
}
