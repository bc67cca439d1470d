//! Color pictures: the protocol's container with outlines and OpenType's tables COLR and CPAL.
//!
//! A paint graph may refer to one node several times, and even to itself. So the decoder bounds the depth and the number
//! of nodes of the tree that it makes of the graph. Variations of variable fonts are not applied: every value is the
//! default one.

use super::error::GlyphError;
use super::outline::{GlyphOutline, POINTS_CAP};
use super::paint::{
    ColorExtend, ColorLine, ColorPicture, ColorStop, CompositeMode, GlyphColor, GlyphFill,
    GlyphPaint,
};
use super::table::Table;
use crate::Rgb;

/// Maximum outlines in a container (the protocol's section 8.6).
const OUTLINES_CAP: usize = 1024;
/// Maximum nodes of a paint graph. Each use of a shared node counts. The protocol names no number; this lets each
/// outline of a container be a layer.
const PAINTS_CAP: usize = OUTLINES_CAP;
/// Maximum depth of a paint graph.
const DEPTH_CAP: usize = 24;
/// Maximum points of outlines that a paint graph draws. Each use of an outline counts.
const DRAWN_POINTS_CAP: usize = 8 * POINTS_CAP;
/// Maximum stops of all gradients of a paint graph.
const STOPS_CAP: usize = 4096;
/// The palette index that stands for the foreground color.
const FOREGROUND: u16 = 0xffff;
/// Bytes of records of COLR and CPAL.
const BASE_RECORD: usize = 6;
const LAYER_RECORD: usize = 4;
const CLIP_RECORD: usize = 7;
const COLOR_RECORD: usize = 4;
/// Degrees of an angle of 1.0 in COLR.
const DEGREES: f32 = 180.0;

/// The version of the COLR table that a format contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColrVersion {
    V0,
    V1,
}

/// A decoded picture, and how much work it is to draw it.
pub(super) struct Decoded {
    pub(super) picture: ColorPicture,
    /// Nodes of the paint graph.
    pub(super) paints: usize,
    /// Points of the outlines that it draws.
    pub(super) points: usize,
}

/// Decodes a container.
pub(super) fn decode(data: &[u8], version: ColrVersion) -> Result<Decoded, GlyphError> {
    let table = Table(data);
    let count = usize::from(table.u16(0)?);
    if !(1..=OUTLINES_CAP).contains(&count) {
        return Err(GlyphError::MalformedPayload);
    }
    let (mut at, mut room) = (2, POINTS_CAP);
    let mut outlines = Vec::with_capacity(count);
    for _ in 0..count {
        let glyph = sized(table, &mut at)?;
        // An empty record is an outline without contours, as in fonts.
        let outline = match glyph {
            [] => GlyphOutline::default(),
            glyph => GlyphOutline::decode(glyph, room)?,
        };
        room -= outline.point_count();
        outlines.push(outline);
    }
    let colr = Table(sized(table, &mut at)?);
    let palette = Palette::new(sized(table, &mut at)?)?;
    let mut graph = Graph {
        colr,
        palette,
        outlines: &outlines,
        paints: 0,
        points: 0,
        stops: 0,
        uses_foreground: false,
    };
    let paint = match (version, colr.u16(0)?) {
        (ColrVersion::V0, 0) => graph.layers()?,
        (ColrVersion::V1, 1) => graph.base_glyph(0, 0)?,
        _ => return Err(GlyphError::MalformedPayload),
    };
    // A glyph without a record of its own is drawn like any other glyph.
    let paint = match paint {
        Some(paint) => paint,
        None => graph.outline(0, |graph| {
            Ok(GlyphPaint::Fill(GlyphFill::Solid(graph.color(FOREGROUND, 1.0)?)))
        })?,
    };
    let (paints, points) = (graph.paints, graph.points);
    let uses_foreground = graph.uses_foreground;
    Ok(Decoded { picture: ColorPicture { outlines, paint, uses_foreground }, paints, points })
}

/// The bytes after a length of 16 bits, at `at`, which moves after them.
fn sized<'a>(table: Table<'a>, at: &mut usize) -> Result<&'a [u8], GlyphError> {
    let len = usize::from(table.u16(*at)?);
    let bytes = table.slice(*at + 2, len)?;
    *at += 2 + len;
    Ok(bytes)
}

/// The first palette of a CPAL table.
struct Palette<'a> {
    /// The colors, as blue, green, red, alpha.
    colors: &'a [u8],
}

impl<'a> Palette<'a> {
    fn new(cpal: &'a [u8]) -> Result<Self, GlyphError> {
        if cpal.is_empty() {
            return Ok(Self { colors: &[] });
        }
        let table = Table(cpal);
        let entries = usize::from(table.u16(2)?);
        let (palettes, colors) = (table.u16(4)?, usize::from(table.u16(6)?));
        let first = match palettes {
            0 => return Err(GlyphError::MalformedPayload),
            _ => usize::from(table.u16(12)?),
        };
        if first + entries > colors {
            return Err(GlyphError::MalformedPayload);
        }
        let start = table.u32(8)?.saturating_add(COLOR_RECORD * first);
        Ok(Self { colors: table.slice(start, COLOR_RECORD * entries)? })
    }

    fn color(&self, index: u16, alpha: f32) -> Result<GlyphColor, GlyphError> {
        let alpha = alpha.clamp(0.0, 1.0);
        if index == FOREGROUND {
            return Ok(GlyphColor { color: None, alpha });
        }
        let bgra = Table(self.colors).slice(COLOR_RECORD * usize::from(index), COLOR_RECORD)?;
        let color = Rgb { r: bgra[2], g: bgra[1], b: bgra[0] };
        Ok(GlyphColor { color: Some(color), alpha: alpha * f32::from(bgra[3]) / 255.0 })
    }
}

/// The paint graph of a COLR table, as far as it has been walked.
struct Graph<'a> {
    colr: Table<'a>,
    palette: Palette<'a>,
    outlines: &'a [GlyphOutline],
    /// Nodes, points and stops so far.
    paints: usize,
    points: usize,
    stops: usize,
    uses_foreground: bool,
}

impl Graph<'_> {
    /// Counts a node.
    fn count(&mut self) -> Result<(), GlyphError> {
        self.paints += 1;
        if self.paints > PAINTS_CAP { Err(GlyphError::MalformedPayload) } else { Ok(()) }
    }

    fn color(&mut self, index: u16, alpha: f32) -> Result<GlyphColor, GlyphError> {
        self.uses_foreground |= index == FOREGROUND;
        self.palette.color(index, alpha)
    }

    /// An outline with what fills it.
    fn outline(
        &mut self,
        glyph: u16,
        paint: impl FnOnce(&mut Self) -> Result<GlyphPaint, GlyphError>,
    ) -> Result<GlyphPaint, GlyphError> {
        self.count()?;
        let outline = usize::from(glyph);
        let points = self.outlines.get(outline).ok_or(GlyphError::MalformedPayload)?.point_count();
        self.points += points;
        if self.points > DRAWN_POINTS_CAP {
            return Err(GlyphError::MalformedPayload);
        }
        Ok(GlyphPaint::Outline { outline, paint: Box::new(paint(self)?) })
    }

    /// The layers of glyph 0 in version 0; `None` if it has no record.
    fn layers(&mut self) -> Result<Option<GlyphPaint>, GlyphError> {
        let records = usize::from(self.colr.u16(2)?);
        let records = Table(self.colr.slice(self.colr.u32(4)?, BASE_RECORD * records)?);
        let total = usize::from(self.colr.u16(12)?);
        let layers = Table(self.colr.slice(self.colr.u32(8)?, LAYER_RECORD * total)?);
        let Some(at) = find(records, BASE_RECORD, 0)? else { return Ok(None) };
        let first = usize::from(records.u16(at + 2)?);
        let count = usize::from(records.u16(at + 4)?);
        let paints = (first..first + count).map(|layer| {
            let at = LAYER_RECORD * layer;
            let (glyph, index) = (layers.u16(at)?, layers.u16(at + 2)?);
            self.outline(glyph, |graph| {
                Ok(GlyphPaint::Fill(GlyphFill::Solid(graph.color(index, 1.0)?)))
            })
        });
        Ok(Some(GlyphPaint::Layers(paints.collect::<Result<_, _>>()?)))
    }

    /// The paint of a glyph in version 1, inside its clip box; `None` if it has no record.
    fn base_glyph(&mut self, glyph: u16, depth: usize) -> Result<Option<GlyphPaint>, GlyphError> {
        let list = self.colr.u32(14)?;
        if list == 0 {
            return Ok(None);
        }
        let count = self.colr.u32(list)?;
        let records = self.colr.slice(list.saturating_add(4), count.saturating_mul(BASE_RECORD))?;
        let records = Table(records);
        let Some(at) = find(records, BASE_RECORD, glyph)? else { return Ok(None) };
        let paint = self.paint(list.saturating_add(records.u32(at + 2)?), depth + 1)?;
        Ok(Some(match self.clip_box(glyph)? {
            Some(bounds) => GlyphPaint::Clip { bounds, paint: Box::new(paint) },
            None => paint,
        }))
    }

    /// The clip box of a glyph.
    fn clip_box(&self, glyph: u16) -> Result<Option<[i16; 4]>, GlyphError> {
        let list = self.colr.u32(22)?;
        if list == 0 {
            return Ok(None);
        }
        let count = self.colr.u32(list.saturating_add(1))?;
        let clips = self.colr.slice(list.saturating_add(5), count.saturating_mul(CLIP_RECORD))?;
        for clip in clips.chunks_exact(CLIP_RECORD) {
            let clip = Table(clip);
            if (clip.u16(0)?..=clip.u16(2)?).contains(&glyph) {
                let at = list.saturating_add(clip.u24(4)?);
                let bound = |i: usize| self.colr.i16(at.saturating_add(1 + 2 * i));
                return Ok(Some([bound(0)?, bound(1)?, bound(2)?, bound(3)?]));
            }
        }
        Ok(None)
    }

    /// The node at a position of the table. Formats with odd numbers from 3 on are those before them with variations,
    /// which follow the other fields.
    fn paint(&mut self, at: usize, depth: usize) -> Result<GlyphPaint, GlyphError> {
        self.count()?;
        if depth > DEPTH_CAP {
            return Err(GlyphError::MalformedPayload);
        }
        let table = Table(self.colr.0.get(at..).ok_or(GlyphError::MalformedPayload)?);
        let format = table.u8(0)?;
        let number = |i: usize| table.i16(i).map(f32::from);
        let point = |i: usize| Ok::<_, GlyphError>((number(i)?, number(i + 2)?));
        Ok(match format {
            1 => {
                let list = self.colr.u32(18)?;
                let total = self.colr.u32(list)?;
                let (count, first) = (usize::from(table.u8(1)?), table.u32(2)?);
                if list == 0 || first.saturating_add(count) > total {
                    return Err(GlyphError::MalformedPayload);
                }
                let paints = (first..first + count).map(|layer| {
                    let offset = self.colr.u32(list.saturating_add(4 + 4 * layer))?;
                    self.paint(list.saturating_add(offset), depth + 1)
                });
                GlyphPaint::Layers(paints.collect::<Result<_, _>>()?)
            }
            2 | 3 => {
                let color = self.color(table.u16(1)?, table.f2dot14(3)?)?;
                GlyphPaint::Fill(GlyphFill::Solid(color))
            }
            4 | 5 => {
                let points = [point(4)?, point(8)?, point(12)?];
                let colors = self.color_line(at.saturating_add(table.u24(1)?), format == 5)?;
                GlyphPaint::Fill(GlyphFill::Linear { colors, points })
            }
            6 | 7 => {
                let centers = [point(4)?, point(10)?];
                let radii = [f32::from(table.u16(8)?), f32::from(table.u16(14)?)];
                let colors = self.color_line(at.saturating_add(table.u24(1)?), format == 7)?;
                GlyphPaint::Fill(GlyphFill::Radial { colors, centers, radii })
            }
            8 | 9 => {
                // These angles count from the direction to the left.
                let angle = |i: usize| table.f2dot14(i).map(|angle| (angle + 1.0) * DEGREES);
                let (center, angles) = (point(4)?, [angle(8)?, angle(10)?]);
                let colors = self.color_line(at.saturating_add(table.u24(1)?), format == 9)?;
                GlyphPaint::Fill(GlyphFill::Sweep { colors, center, angles })
            }
            10 => {
                let child = at.saturating_add(table.u24(1)?);
                self.outline(table.u16(4)?, |graph| graph.paint(child, depth + 1))?
            }
            11 => {
                let paint = self.base_glyph(table.u16(1)?, depth)?;
                paint.ok_or(GlyphError::MalformedPayload)?
            }
            12..=31 => {
                let matrix = matrix(table, format)?;
                let paint = self.paint(at.saturating_add(table.u24(1)?), depth + 1)?;
                GlyphPaint::Transform { matrix, paint: Box::new(paint) }
            }
            32 => {
                let mode = CompositeMode::ALL.get(usize::from(table.u8(4)?));
                let mode = *mode.ok_or(GlyphError::MalformedPayload)?;
                let source = self.paint(at.saturating_add(table.u24(1)?), depth + 1)?;
                let backdrop = self.paint(at.saturating_add(table.u24(5)?), depth + 1)?;
                let (source, backdrop) = (Box::new(source), Box::new(backdrop));
                GlyphPaint::Composite { mode, source, backdrop }
            }
            _ => return Err(GlyphError::MalformedPayload),
        })
    }

    /// The colors of a gradient.
    fn color_line(&mut self, at: usize, has_variations: bool) -> Result<ColorLine, GlyphError> {
        let extend = match self.colr.u8(at)? {
            1 => ColorExtend::Repeat,
            2 => ColorExtend::Reflect,
            // OpenType: other values count as the first.
            _ => ColorExtend::Pad,
        };
        let count = usize::from(self.colr.u16(at.saturating_add(1))?);
        self.stops += count;
        if count == 0 || self.stops > STOPS_CAP {
            return Err(GlyphError::MalformedPayload);
        }
        let size = if has_variations { 10 } else { 6 };
        let mut stops = Vec::with_capacity(count);
        for stop in 0..count {
            let stop = Table(self.colr.slice(at.saturating_add(3 + size * stop), size)?);
            let color = self.color(stop.u16(2)?, stop.f2dot14(4)?)?;
            stops.push(ColorStop { offset: stop.f2dot14(0)?, color });
        }
        stops.sort_by(|one, next| one.offset.total_cmp(&next.offset));
        Ok(ColorLine { extend, stops })
    }
}

/// The position of the record of a glyph among records that begin with a glyph and are sorted by it.
fn find(records: Table<'_>, size: usize, glyph: u16) -> Result<Option<usize>, GlyphError> {
    let (mut from, mut to) = (0, records.0.len() / size);
    while from < to {
        let middle = from.midpoint(to);
        match records.u16(middle * size)?.cmp(&glyph) {
            std::cmp::Ordering::Less => from = middle + 1,
            std::cmp::Ordering::Equal => return Ok(Some(middle * size)),
            std::cmp::Ordering::Greater => to = middle,
        }
    }
    Ok(None)
}

/// The matrix of a transforming node: see [`GlyphPaint::Transform`].
fn matrix(table: Table<'_>, format: u8) -> Result<[f32; 6], GlyphError> {
    // Every one of these begins with its format and the offset of its child.
    const FIELDS: usize = 4;
    let number = |i: usize| table.i16(FIELDS + 2 * i).map(f32::from);
    let ratio = |i: usize| table.f2dot14(FIELDS + 2 * i);
    let radians = |i: usize| ratio(i).map(|angle| angle * std::f32::consts::PI);
    let (linear, center) = match format & !1 {
        12 => {
            let at = table.u24(FIELDS)?;
            let value = |i: usize| table.fixed(at.saturating_add(4 * i));
            return Ok([value(0)?, value(1)?, value(2)?, value(3)?, value(4)?, value(5)?]);
        }
        14 => return Ok([1.0, 0.0, 0.0, 1.0, number(0)?, number(1)?]),
        16 => ([ratio(0)?, 0.0, 0.0, ratio(1)?], None),
        18 => ([ratio(0)?, 0.0, 0.0, ratio(1)?], Some(2)),
        20 => ([ratio(0)?, 0.0, 0.0, ratio(0)?], None),
        22 => ([ratio(0)?, 0.0, 0.0, ratio(0)?], Some(1)),
        24 | 26 => {
            let (sin, cos) = radians(0)?.sin_cos();
            ([cos, sin, -sin, cos], (format >= 26).then_some(1))
        }
        _ => {
            let (x, y) = (radians(0)?.tan(), radians(1)?.tan());
            ([1.0, y, -x, 1.0], (format >= 30).then_some(2))
        }
    };
    let [a, b, c, d] = linear;
    let (x, y) = match center {
        Some(at) => (number(at)?, number(at + 1)?),
        None => (0.0, 0.0),
    };
    Ok([a, b, c, d, x - (a * x + c * y), y - (b * x + d * y)])
}
