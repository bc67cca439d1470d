//! What a registered glyph draws, as plain data for a renderer.

use super::outline::GlyphOutline;
use crate::Rgb;

/// What a registered glyph draws.
#[derive(Clone, Debug, PartialEq)]
pub enum GlyphPicture {
    /// An outline, filled with the foreground color of its cell.
    Outline(GlyphOutline),
    /// A picture in its own colors (OpenType COLR).
    Color(ColorPicture),
}

/// A picture in its own colors.
#[derive(Clone, Debug, PartialEq)]
pub struct ColorPicture {
    /// The outlines that `paint` refers to.
    pub outlines: Vec<GlyphOutline>,
    /// How to draw the picture.
    pub paint: GlyphPaint,
    /// Whether `paint` uses the foreground color of the cell.
    pub uses_foreground: bool,
}

/// A node of a paint graph (OpenType, "COLR version 1 rendering algorithm").
#[derive(Clone, Debug, PartialEq)]
pub enum GlyphPaint {
    /// Draws each over those before it.
    Layers(Vec<GlyphPaint>),
    /// Fills the plane.
    Fill(GlyphFill),
    /// Draws `paint` inside an outline.
    Outline {
        /// Index of the outline.
        outline: usize,
        /// What to draw.
        paint: Box<GlyphPaint>,
    },
    /// Draws `paint` inside a rectangle.
    Clip {
        /// The least x and y, and the greatest x and y.
        bounds: [i16; 4],
        /// What to draw.
        paint: Box<GlyphPaint>,
    },
    /// Draws `paint` in other coordinates.
    Transform {
        /// `[a, b, c, d, e, f]` maps (x, y) to (a·x + c·y + e, b·x + d·y + f).
        matrix: [f32; 6],
        /// What to draw.
        paint: Box<GlyphPaint>,
    },
    /// Combines two pictures, and draws the result over what is there.
    Composite {
        /// How to combine them.
        mode: CompositeMode,
        /// The upper picture.
        source: Box<GlyphPaint>,
        /// The lower picture.
        backdrop: Box<GlyphPaint>,
    },
}

/// What fills an area.
#[derive(Clone, Debug, PartialEq)]
pub enum GlyphFill {
    /// One color.
    Solid(GlyphColor),
    /// Colors along a line.
    Linear {
        /// The colors.
        colors: ColorLine,
        /// The points p0, p1 and p2: the colors run from p0 to p1, and are the same along the direction from p0 to p2.
        points: [(f32, f32); 3],
    },
    /// Colors between two circles.
    Radial {
        /// The colors.
        colors: ColorLine,
        /// The centers of the two circles.
        centers: [(f32, f32); 2],
        /// The radii of the two circles, not negative.
        radii: [f32; 2],
    },
    /// Colors around a point.
    Sweep {
        /// The colors.
        colors: ColorLine,
        /// The point.
        center: (f32, f32),
        /// The first and the last angle, in degrees, counterclockwise from the direction to the right.
        angles: [f32; 2],
    },
}

/// A color of a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GlyphColor {
    /// The color. `None`: the foreground color of the cell.
    pub color: Option<Rgb>,
    /// Opacity, 0 to 1.
    pub alpha: f32,
}

/// The colors of a gradient.
#[derive(Clone, Debug, PartialEq)]
pub struct ColorLine {
    /// The colors beyond the first and the last stop.
    pub extend: ColorExtend,
    /// At least one stop, in ascending order of offsets.
    pub stops: Vec<ColorStop>,
}

/// A color at a position of a gradient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColorStop {
    /// The position: 0 is the gradient's start, and 1 its end.
    pub offset: f32,
    /// The color.
    pub color: GlyphColor,
}

/// What a gradient shows beyond its stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColorExtend {
    /// The color of the nearest stop.
    Pad,
    /// The gradient again.
    Repeat,
    /// The gradient again, every other time backward.
    Reflect,
}

/// How two pictures are combined (OpenType, "CompositeMode enumeration"; W3C, "Compositing and Blending Level 1").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the specification defines each")]
pub enum CompositeMode {
    Clear,
    Source,
    Destination,
    SourceOver,
    DestinationOver,
    SourceIn,
    DestinationIn,
    SourceOut,
    DestinationOut,
    SourceAtop,
    DestinationAtop,
    Xor,
    Plus,
    Screen,
    Overlay,
    Darken,
    Lighten,
    ColorDodge,
    ColorBurn,
    HardLight,
    SoftLight,
    Difference,
    Exclusion,
    Multiply,
    Hue,
    Saturation,
    Color,
    Luminosity,
}

impl CompositeMode {
    /// The modes, in the order of their numbers in OpenType.
    pub(super) const ALL: [Self; 28] = [
        Self::Clear,
        Self::Source,
        Self::Destination,
        Self::SourceOver,
        Self::DestinationOver,
        Self::SourceIn,
        Self::DestinationIn,
        Self::SourceOut,
        Self::DestinationOut,
        Self::SourceAtop,
        Self::DestinationAtop,
        Self::Xor,
        Self::Plus,
        Self::Screen,
        Self::Overlay,
        Self::Darken,
        Self::Lighten,
        Self::ColorDodge,
        Self::ColorBurn,
        Self::HardLight,
        Self::SoftLight,
        Self::Difference,
        Self::Exclusion,
        Self::Multiply,
        Self::Hue,
        Self::Saturation,
        Self::Color,
        Self::Luminosity,
    ];
}
