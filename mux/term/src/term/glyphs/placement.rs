//! Where and how large a registered glyph is drawn: the parameters of a registration that concern its size.

use std::fmt::{self, Display, Formatter};

use super::error::GlyphError;

/// The units of an em if a registration names none.
const UNITS: u32 = 1000;

/// Where and how large a registered glyph is drawn (the protocol's section 8.5). The glyph's extent is the rectangle
/// from (0, 0) to (`advance`, `line_height`), in the units of its outlines. It is drawn in a span of cells, less the
/// padding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GlyphPlacement {
    /// Units per em.
    pub units: u32,
    /// The width of the extent, not 0.
    pub advance: u32,
    /// The height of the extent, not 0.
    pub line_height: u32,
    /// The cells of the span: 1 or 2.
    pub cells: u8,
    /// How the extent is scaled to the span.
    pub scale: GlyphScale,
    /// Where the extent lies in the span horizontally; start is left.
    pub horizontal: GlyphAlign,
    /// Where the extent lies in the span vertically; start is the bottom. `None`: y = 0 lies on the baseline of text.
    pub vertical: Option<GlyphAlign>,
    /// Parts of the span at its top, right, bottom and left that stay free. Opposite parts are less than 1 together.
    pub padding: [f32; 4],
}

/// How a glyph's extent is scaled to its span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlyphScale {
    /// To the span's height.
    Height,
    /// To the span's width.
    Advance,
    /// To the smaller of the two.
    Contain,
    /// To the larger of the two.
    Cover,
    /// To both, which changes the proportions.
    Stretch,
}

/// Where a glyph's extent lies in its span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlyphAlign {
    /// At the left or the bottom.
    Start,
    /// In the middle.
    Center,
    /// At the right or the top.
    End,
}

impl GlyphPlacement {
    /// The placement that a registration's parameters describe; `value` finds the value of a parameter.
    pub(super) fn new<'a>(value: impl Fn(&str) -> Option<&'a str>) -> Result<Self, GlyphError> {
        let measure = |name, default| match value(name) {
            None => Ok(default),
            Some(text) => {
                let number = text.parse().ok().filter(|number| *number > 0);
                number.ok_or(GlyphError::MalformedPayload)
            }
        };
        let units = measure("upm", UNITS)?;
        let (horizontal, vertical) = match value("align") {
            None => (GlyphAlign::Center, Some(GlyphAlign::Center)),
            Some(text) => {
                let (horizontal, vertical) =
                    text.split_once(',').ok_or(GlyphError::MalformedPayload)?;
                let vertical = match vertical {
                    "baseline" => None,
                    vertical => Some(align(vertical)?),
                };
                (align(horizontal)?, vertical)
            }
        };
        Ok(Self {
            units,
            advance: measure("aw", units)?,
            line_height: measure("lh", units)?,
            cells: match value("width") {
                None | Some("1") => 1,
                Some("2") => 2,
                Some(_) => return Err(GlyphError::MalformedPayload),
            },
            scale: match value("size") {
                None | Some("height") => GlyphScale::Height,
                Some("advance") => GlyphScale::Advance,
                Some("contain") => GlyphScale::Contain,
                Some("cover") => GlyphScale::Cover,
                Some("stretch") => GlyphScale::Stretch,
                Some(_) => return Err(GlyphError::MalformedPayload),
            },
            horizontal,
            vertical,
            padding: value("pad").map_or(Ok([0.0; 4]), padding)?,
        })
    }
}

fn align(text: &str) -> Result<GlyphAlign, GlyphError> {
    match text {
        "start" => Ok(GlyphAlign::Start),
        "center" => Ok(GlyphAlign::Center),
        "end" => Ok(GlyphAlign::End),
        _ => Err(GlyphError::MalformedPayload),
    }
}

fn padding(text: &str) -> Result<[f32; 4], GlyphError> {
    let parts = text.split(',').map(|part| part.parse().ok());
    let parts: Option<Vec<f32>> =
        parts.map(|part| part.filter(|part| (0.0..=1.0).contains(part))).collect();
    let parts: Option<[f32; 4]> = parts.and_then(|parts| parts.try_into().ok());
    let [top, right, bottom, left] = parts.ok_or(GlyphError::MalformedPayload)?;
    // The protocol: padding that leaves no span counts as none.
    Ok(match top + bottom >= 1.0 || left + right >= 1.0 {
        true => [0.0; 4],
        false => [top, right, bottom, left],
    })
}

impl Display for GlyphAlign {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Start => "start",
            Self::Center => "center",
            Self::End => "end",
        })
    }
}

/// Writes the parameters, in the form of the protocol.
impl Display for GlyphPlacement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { units, advance, line_height, cells, horizontal, .. } = self;
        let scale = match self.scale {
            GlyphScale::Height => "height",
            GlyphScale::Advance => "advance",
            GlyphScale::Contain => "contain",
            GlyphScale::Cover => "cover",
            GlyphScale::Stretch => "stretch",
        };
        let vertical = self.vertical.map_or("baseline".to_owned(), |align| align.to_string());
        let [top, right, bottom, left] = self.padding;
        write!(f, "upm={units};aw={advance};lh={line_height};width={cells};size={scale};")?;
        write!(f, "align={horizontal},{vertical};pad={top},{right},{bottom},{left}")
    }
}
