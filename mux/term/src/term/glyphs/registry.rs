//! The glyphs that programs have registered in one terminal.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustc_hash::FxHashMap;

use super::color::{self, ColrVersion};
use super::error::GlyphError;
use super::outline::{GlyphOutline, POINTS_CAP};
use super::paint::GlyphPicture;
use super::placement::GlyphPlacement;
use crate::cap::Caps;

/// Maximum glyphs of a terminal (the protocol's section 4). Registering more removes the oldest.
const GLYPHS_CAP: usize = 1024;
/// Maximum [cost](RegisteredGlyph::cost) of all glyphs of a terminal. Registering more removes the oldest.
const COST_CAP: usize = 16 << 20;
/// The cost of a glyph besides its payload: the memory of its entry, of each point it draws, and the time to draw a node
/// of its paint graph.
const ENTRY_COST: usize = 256;
const POINT_COST: usize = 12;
const PAINT_COST: usize = 512;

/// Numbers registrations, so that a renderer can use the numbers as keys.
static NEXT_ID: AtomicU64 = AtomicU64::new(1);

fn next_id() -> u64 {
    NEXT_ID.fetch_add(1, Ordering::Relaxed)
}

/// Whether programs may register a glyph for this code point: whether it is in one of Unicode's private use areas.
pub(super) fn is_private(code: u32) -> bool {
    matches!(code, 0xe000..=0xf8ff | 0xf_0000..=0xf_fffd | 0x10_0000..=0x10_fffd)
}

/// The format of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GlyphFormat {
    Glyf,
    ColrV0,
    ColrV1,
}

impl GlyphFormat {
    pub(super) const ALL: [Self; 3] = [Self::Glyf, Self::ColrV0, Self::ColrV1];

    /// The protocol's name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Glyf => "glyf",
            Self::ColrV0 => "colrv0",
            Self::ColrV1 => "colrv1",
        }
    }
}

/// A glyph that a program registered for a code point. Its payload is valid.
#[derive(Debug)]
pub struct RegisteredGlyph {
    id: u64,
    pub(super) format: GlyphFormat,
    placement: GlyphPlacement,
    pub(super) payload: Box<[u8]>,
    uses_foreground: bool,
    paints: usize,
    points: usize,
    cost: usize,
}

impl RegisteredGlyph {
    /// A glyph with this payload, which is at most [`super::PAYLOAD_CAP`] long.
    pub(super) fn new(
        format: GlyphFormat,
        placement: GlyphPlacement,
        payload: Vec<u8>,
    ) -> Result<Self, GlyphError> {
        let (uses_foreground, paints, points) = match decode(format, &payload)? {
            (GlyphPicture::Outline(outline), ..) => (true, 0, outline.point_count()),
            (GlyphPicture::Color(picture), paints, points) => {
                (picture.uses_foreground, paints, points)
            }
        };
        let cost = ENTRY_COST + payload.len() + POINT_COST * points + PAINT_COST * paints;
        let payload = payload.into_boxed_slice();
        let id = next_id();
        Ok(Self { id, format, placement, payload, uses_foreground, paints, points, cost })
    }

    /// A number that no other registration in this process has, for use as a key in caches of pictures.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Where and how large to draw the glyph.
    pub fn placement(&self) -> &GlyphPlacement {
        &self.placement
    }

    /// Whether the glyph has its own colors ([`GlyphPicture::Color`]).
    pub fn has_colors(&self) -> bool {
        self.format != GlyphFormat::Glyf
    }

    /// Whether the glyph's picture contains the foreground color of its cell.
    pub fn uses_foreground(&self) -> bool {
        self.uses_foreground
    }

    /// The length of the payload in bytes.
    pub fn payload_len(&self) -> usize {
        self.payload.len()
    }

    /// The number of nodes of the glyph's paint graph. 0 if it has no colors.
    pub fn paint_count(&self) -> usize {
        self.paints
    }

    /// The number of points of the outlines that the glyph draws. Each use of an outline counts.
    pub fn point_count(&self) -> usize {
        self.points
    }

    /// Decodes what to draw.
    pub fn picture(&self) -> GlyphPicture {
        let decoded = decode(self.format, &self.payload);
        debug_assert!(decoded.is_ok(), "the payload was checked");
        decoded.map_or_else(
            |_| GlyphPicture::Outline(GlyphOutline::default()),
            |(picture, ..)| picture,
        )
    }
}

/// Decodes a payload. Also returns how many nodes of a paint graph and points of outlines it draws.
fn decode(format: GlyphFormat, payload: &[u8]) -> Result<(GlyphPicture, usize, usize), GlyphError> {
    let version = match format {
        GlyphFormat::Glyf => {
            let outline = GlyphOutline::decode(payload, POINTS_CAP)?;
            return Ok((GlyphPicture::Outline(outline), 0, 0));
        }
        GlyphFormat::ColrV0 => ColrVersion::V0,
        GlyphFormat::ColrV1 => ColrVersion::V1,
    };
    let color::Decoded { picture, paints, points } = color::decode(payload, version)?;
    Ok((GlyphPicture::Color(picture), paints, points))
}

/// The glyphs that programs have registered in one terminal, by code point.
#[derive(Clone, Debug, Default)]
pub struct RegisteredGlyphs {
    glyphs: FxHashMap<char, Arc<RegisteredGlyph>>,
    /// The code points, the oldest registration first.
    order: VecDeque<char>,
    /// The cost of all glyphs.
    cost: usize,
    revision: u64,
}

impl RegisteredGlyphs {
    /// The glyph of a code point.
    pub fn get(&self, c: char) -> Option<&Arc<RegisteredGlyph>> {
        self.glyphs.get(&c)
    }

    /// Whether there is no glyph.
    pub fn is_empty(&self) -> bool {
        self.glyphs.is_empty()
    }

    /// A number that changes with each change, and that no other terminal's glyphs have; 0 before the first change.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The code points and their glyphs, the oldest registration first.
    pub(super) fn iter(&self) -> impl Iterator<Item = (char, &RegisteredGlyph)> {
        self.order.iter().filter_map(|c| Some((*c, &**self.glyphs.get(c)?)))
    }

    pub(super) fn insert(&mut self, c: char, glyph: RegisteredGlyph, caps: &mut Caps) {
        self.remove(c);
        let cost = glyph.cost;
        while let Some(oldest) = self.order.front().copied() {
            if self.order.len() >= GLYPHS_CAP {
                caps.oldest_dropped("registered glyph", GLYPHS_CAP);
            } else if self.cost + cost > COST_CAP {
                caps.oldest_dropped("data of registered glyphs", COST_CAP);
            } else {
                break;
            }
            self.remove(oldest);
        }
        self.cost += cost;
        self.glyphs.insert(c, Arc::new(glyph));
        self.order.push_back(c);
        self.revision = next_id();
    }

    pub(super) fn remove(&mut self, c: char) {
        if let Some(glyph) = self.glyphs.remove(&c) {
            self.cost -= glyph.cost;
            self.order.retain(|other| *other != c);
            self.revision = next_id();
        }
    }

    pub(super) fn clear(&mut self) {
        if !self.is_empty() {
            *self = Self { revision: next_id(), ..Self::default() };
        }
    }
}
