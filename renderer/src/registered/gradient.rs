//! The colors of fills (OpenType, "COLR version 1": gradients).

use unterm_term::{ColorExtend, ColorLine, ColorStop, GlyphColor, GlyphFill};

use super::composite::Pixel;

/// Distances and areas below this value count as zero.
const TINY: f32 = 1e-6;

/// A fill whose colors are known.
pub(super) enum Shade {
    Solid(Pixel),
    Linear { colors: Colors, start: (f32, f32), across: (f32, f32) },
    Radial { colors: Colors, centers: [(f32, f32); 2], radii: [f32; 2] },
    Sweep { colors: Colors, center: (f32, f32), angles: [f32; 2] },
}

/// The colors of a gradient, premultiplied, by their offsets.
pub(super) struct Colors {
    extend: ColorExtend,
    stops: Vec<(f32, Pixel)>,
}

fn pixel(color: &GlyphColor, foreground: [f32; 3]) -> Pixel {
    let rgb = color.color.map(|color| [color.r, color.g, color.b].map(|v| f32::from(v) / 255.0));
    let [r, g, b] = rgb.unwrap_or(foreground).map(|value| value * color.alpha);
    [r, g, b, color.alpha]
}

impl Colors {
    fn new(line: &ColorLine, foreground: [f32; 3]) -> Self {
        let stop = |stop: &ColorStop| (stop.offset, pixel(&stop.color, foreground));
        Self { extend: line.extend, stops: line.stops.iter().map(stop).collect() }
    }

    /// The color at an offset.
    fn at(&self, offset: f32) -> Option<Pixel> {
        let (first, last) = (self.stops.first()?, self.stops.last()?);
        let length = last.0 - first.0;
        let offset = match self.extend {
            _ if length <= 0.0 || !offset.is_finite() => offset,
            ColorExtend::Pad => offset,
            ColorExtend::Repeat => first.0 + (offset - first.0).rem_euclid(length),
            ColorExtend::Reflect => {
                let along = (offset - first.0).rem_euclid(2.0 * length);
                first.0 + along.min(2.0 * length - along)
            }
        };
        let next = self.stops.partition_point(|stop| stop.0 <= offset);
        let Some(before) = next.checked_sub(1).map(|at| self.stops[at]) else {
            return Some(first.1);
        };
        let Some(after) = self.stops.get(next) else { return Some(last.1) };
        let part = (offset - before.0) / (after.0 - before.0);
        Some(std::array::from_fn(|i| before.1[i] + (after.1[i] - before.1[i]) * part))
    }
}

impl Shade {
    /// `None` if the fill draws nothing.
    pub(super) fn new(fill: &GlyphFill, foreground: [f32; 3]) -> Option<Self> {
        Some(match fill {
            GlyphFill::Solid(color) => Self::Solid(pixel(color, foreground)),
            GlyphFill::Linear { colors, points: [start, end, turn] } => {
                // Of the vector to the end, only the component perpendicular to the turned direction has an effect.
                let (turn_x, turn_y) = (turn.0 - start.0, turn.1 - start.1);
                let side = (-turn_y, turn_x);
                let length = side.0 * side.0 + side.1 * side.1;
                let along =
                    ((end.0 - start.0) * side.0 + (end.1 - start.1) * side.1) / length.max(TINY);
                let across = (side.0 * along, side.1 * along);
                if length < TINY || across.0 * across.0 + across.1 * across.1 < TINY {
                    return None;
                }
                Self::Linear { colors: Colors::new(colors, foreground), start: *start, across }
            }
            GlyphFill::Radial { colors, centers, radii } => {
                let colors = Colors::new(colors, foreground);
                Self::Radial { colors, centers: *centers, radii: *radii }
            }
            GlyphFill::Sweep { colors, center, angles } => {
                if (angles[0] - angles[1]).abs() < TINY && colors.extend != ColorExtend::Pad {
                    return None;
                }
                let colors = Colors::new(colors, foreground);
                Self::Sweep { colors, center: *center, angles: *angles }
            }
        })
    }

    /// The color at a point, premultiplied. `None` for a gradient without a point.
    pub(super) fn at(&self, point: Option<(f32, f32)>) -> Option<Pixel> {
        match self {
            Self::Solid(color) => Some(*color),
            Self::Linear { colors, start, across } => {
                let (x, y) = point?;
                let along = (x - start.0) * across.0 + (y - start.1) * across.1;
                colors.at(along / (across.0 * across.0 + across.1 * across.1))
            }
            Self::Radial { colors, centers, radii } => colors.at(radial(point?, *centers, *radii)?),
            Self::Sweep { colors, center, angles: [first, last] } => {
                let (x, y) = point?;
                let angle = (y - center.1).atan2(x - center.0).to_degrees().rem_euclid(360.0);
                if (last - first).abs() < TINY {
                    let end =
                        if angle < *first { colors.stops.first() } else { colors.stops.last() };
                    return end.map(|stop| stop.1);
                }
                colors.at((angle - first) / (last - first))
            }
        }
    }
}

/// The offset of a point between two circles: the largest at which a circle between them passes through the point.
fn radial(
    (x, y): (f32, f32),
    [from, to]: [(f32, f32); 2],
    [from_radius, to_radius]: [f32; 2],
) -> Option<f32> {
    let (dx, dy, dr) = (to.0 - from.0, to.1 - from.1, to_radius - from_radius);
    let (px, py) = (x - from.0, y - from.1);
    let a = dx * dx + dy * dy - dr * dr;
    let b = px * dx + py * dy + from_radius * dr;
    let c = px * px + py * py - from_radius * from_radius;
    let has_radius = |t: &f32| t.is_finite() && from_radius + t * dr >= 0.0;
    if a.abs() < TINY {
        return Some(c / (2.0 * b)).filter(has_radius);
    }
    // Without a real root, both offsets are NaN.
    let root = (b * b - a * c).sqrt();
    let (one, other) = ((b + root) / a, (b - root) / a);
    let (larger, smaller) = (one.max(other), one.min(other));
    Some(larger).filter(has_radius).or(Some(smaller).filter(has_radius))
}
