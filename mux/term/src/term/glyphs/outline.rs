//! Outlines: simple glyphs of OpenType's `glyf` table, without instructions.

use super::error::GlyphError;
use super::table::Table;

/// Maximum points of all outlines of one registration: 64 KiB at 12 bytes a point (the protocol's section 8.2).
pub(super) const POINTS_CAP: usize = (64 << 10) / 12;
/// The bytes before the ends of contours: the number of contours and the bounds.
const HEADER: usize = 10;

/// Flags of a point (OpenType, "Simple Glyph Flags").
const ON_CURVE: u8 = 0x01;
const X_SHORT: u8 = 0x02;
const Y_SHORT: u8 = 0x04;
const REPEAT: u8 = 0x08;
const X_SAME_OR_POSITIVE: u8 = 0x10;
const Y_SAME_OR_POSITIVE: u8 = 0x20;

/// A point of an outline, in the units of the registration. Y grows upward, and is 0 at the bottom of the em.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutlinePoint {
    /// Distance to the right.
    pub x: i16,
    /// Distance upward.
    pub y: i16,
    /// Whether the contour passes through the point. Other points control a quadratic curve.
    pub on_curve: bool,
}

/// Closed contours. Their inside is where the winding number is not zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GlyphOutline {
    points: Vec<OutlinePoint>,
    /// The index after the last point of each contour.
    ends: Vec<usize>,
}

impl GlyphOutline {
    /// The points of each contour; no contour is empty. Between two points in a row that are off the curve lies an
    /// implied point on it, halfway.
    pub fn contours(&self) -> impl Iterator<Item = &[OutlinePoint]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.points[start..*end])
    }

    pub(super) fn point_count(&self) -> usize {
        self.points.len()
    }

    /// Decodes a simple glyph with at most `room` points.
    pub(super) fn decode(data: &[u8], room: usize) -> Result<Self, GlyphError> {
        let table = Table(data);
        let contours = table.i16(0)?;
        if contours < 0 {
            return Err(GlyphError::CompositeUnsupported);
        }
        table.slice(0, HEADER)?;
        let contours = contours as usize;
        if contours == 0 {
            return Ok(Self::default());
        }
        let mut ends = Vec::with_capacity(contours.min(POINTS_CAP));
        for contour in 0..contours {
            let end = usize::from(table.u16(HEADER + 2 * contour)?) + 1;
            if ends.last().is_some_and(|last| end <= *last) {
                return Err(GlyphError::MalformedPayload);
            }
            if end > room {
                return Err(GlyphError::OutlineTooLarge);
            }
            ends.push(end);
        }
        let count = ends.last().copied().unwrap_or(0);
        let at = HEADER + 2 * contours;
        if table.u16(at)? != 0 {
            return Err(GlyphError::HintingUnsupported);
        }
        let (flags, at) = flags(table, at + 2, count)?;
        let (x, at) = coordinates(table, at, &flags, X_SHORT, X_SAME_OR_POSITIVE)?;
        let (y, _) = coordinates(table, at, &flags, Y_SHORT, Y_SAME_OR_POSITIVE)?;
        let points = flags.iter().zip(x.into_iter().zip(y));
        let points =
            points.map(|(flags, (x, y))| OutlinePoint { x, y, on_curve: flags & ON_CURVE != 0 });
        Ok(Self { points: points.collect(), ends })
    }
}

/// The flags of `count` points, and the position after them.
fn flags(table: Table<'_>, mut at: usize, count: usize) -> Result<(Vec<u8>, usize), GlyphError> {
    let mut flags = Vec::with_capacity(count);
    while flags.len() < count {
        let flag = table.u8(at)?;
        at += 1;
        let mut times = 1;
        if flag & REPEAT != 0 {
            times += usize::from(table.u8(at)?);
            at += 1;
        }
        if flags.len() + times > count {
            return Err(GlyphError::MalformedPayload);
        }
        flags.resize(flags.len() + times, flag);
    }
    Ok((flags, at))
}

/// One coordinate of each point, and the position after them. `short` and `same` are the flags of this coordinate.
fn coordinates(
    table: Table<'_>,
    mut at: usize,
    flags: &[u8],
    short: u8,
    same: u8,
) -> Result<(Vec<i16>, usize), GlyphError> {
    let mut value = 0i16;
    let mut values = Vec::with_capacity(flags.len());
    for flag in flags {
        let by = match (flag & short != 0, flag & same != 0) {
            (true, is_positive) => {
                let by = i16::from(table.u8(at)?);
                at += 1;
                if is_positive { by } else { -by }
            }
            (false, true) => 0,
            (false, false) => {
                at += 2;
                table.i16(at - 2)?
            }
        };
        value = value.checked_add(by).ok_or(GlyphError::MalformedPayload)?;
        values.push(value);
    }
    Ok((values, at))
}
