//! The fonts that a user requests, and the cell measures that follow from them. `fonts.rs` finds the faces.

use std::ops::RangeInclusive;
use std::str::FromStr;

use cosmic_text::Font;
use unterm_term::LineSize;

/// Which fonts to use, and how large.
#[derive(Clone, Debug, PartialEq)]
pub struct FontOptions {
    /// Font families for cells, first choice first. The bundled font and the system's fallback fonts always follow.
    pub families: Vec<String>,
    /// Font families for bold, italic, and bold italic text, tried before `families`. Their faces are used without
    /// synthesis.
    pub styles: StyleFamilies,
    /// Whether bold and italic are synthesized from the upright face if a family lacks them.
    pub synthetic: bool,
    /// OpenType features to switch on or off in every font. A later entry wins.
    pub features: Vec<FontFeature>,
    /// Which ligatures are drawn.
    pub ligatures: Ligatures,
    /// Characters that are drawn by a family of their own, before all other families. A later entry wins.
    pub symbols: Vec<SymbolRange>,
    /// Adjustments to a cell's measures.
    pub adjust: Adjust,
    /// Size of the cell font in points (1/72 inch at scale 1 and 96 dots per inch).
    pub size: f32,
    /// Physical pixels per logical pixel (HiDPI).
    pub scale: f32,
}

/// Which ligatures are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ligatures {
    /// All ligatures of the font.
    Always,
    /// All except the ligature under the cursor, whose characters are drawn one by one.
    #[default]
    Cursor,
    /// No ligatures.
    Never,
}

/// Families for bold and italic text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StyleFamilies {
    /// For bold text.
    pub bold: Vec<String>,
    /// For italic text.
    pub italic: Vec<String>,
    /// For bold italic text.
    pub bold_italic: Vec<String>,
}

/// An OpenType feature: `ss01`, `+ss01`, `-calt`, `cv02=3`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FontFeature(pub(crate) cosmic_text::harfrust::Feature);

impl FontFeature {
    /// The four-letter tag.
    pub fn tag(&self) -> [u8; 4] {
        self.0.tag.to_be_bytes()
    }

    /// 0 for off, 1 for on, or the number of an alternate form.
    pub fn value(&self) -> u32 {
        self.0.value
    }
}

impl FromStr for FontFeature {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let feature = cosmic_text::harfrust::Feature::from_str(text.trim());
        match feature {
            Ok(feature) if !text.contains('[') => Ok(Self(feature)),
            _ => {
                Err(format!("{text:?} is no font feature; write \"ss01\", \"-calt\" or \"cv02=3\""))
            }
        }
    }
}

/// Characters that a chosen family draws.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolRange {
    /// The code points.
    pub chars: RangeInclusive<u32>,
    /// The family that draws them.
    pub family: String,
}

impl SymbolRange {
    /// Parses `codes`, a list such as `U+E0A0-U+E0A3, U+F000-F2E0, U+2665`, into ranges for `family`.
    ///
    /// # Errors
    /// Quotes the first part that is not a code point or range, and shows the right form.
    pub fn list(codes: &str, family: &str) -> Result<Vec<Self>, String> {
        let code = |text: &str| {
            let text = text.trim();
            let digits = text.strip_prefix("U+").or_else(|| text.strip_prefix("u+"));
            u32::from_str_radix(digits.unwrap_or(text), 16).ok().filter(|code| *code <= 0x10_ffff)
        };
        let wrong = |part: &str| {
            let part = part.trim();
            format!("{part:?} is no range of code points; write \"U+E0A0-U+E0D4\"")
        };
        codes
            .split(',')
            .map(|part| {
                let (first, last) = part.split_once('-').unwrap_or((part, part));
                let (first, last) = code(first).zip(code(last)).ok_or_else(|| wrong(part))?;
                if first > last {
                    return Err(wrong(part));
                }
                Ok(Self { chars: first..=last, family: family.to_owned() })
            })
            .collect()
    }
}

/// An adjustment to a measure: `2` or `-1px` in logical pixels, or `10%` of the measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// Logical pixels.
    Pixels(f32),
    /// Percent of the measure.
    Percent(f32),
}

impl Default for Amount {
    fn default() -> Self {
        Self::Pixels(0.0)
    }
}

impl FromStr for Amount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let number = |digits: &str| {
            digits.trim().parse::<f32>().ok().filter(|n| n.is_finite() && n.abs() <= 1000.0)
        };
        let amount = match text.strip_suffix('%') {
            Some(digits) => number(digits).map(Self::Percent),
            None => number(text.strip_suffix("px").unwrap_or(text)).map(Self::Pixels),
        };
        amount.ok_or_else(|| format!("{text:?} is no change of a size; write \"2px\" or \"-10%\""))
    }
}

impl Amount {
    /// The adjusted measure in whole physical pixels.
    fn apply(self, measure: u32, scale: f32) -> i32 {
        let by = match self {
            Self::Pixels(pixels) => pixels * scale,
            Self::Percent(percent) => measure as f32 * percent / 100.0,
        };
        measure as i32 + by.round() as i32
    }
}

/// Adjustments to a cell's measures.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Adjust {
    /// The cell's width.
    pub cell_width: Amount,
    /// The cell's height. Text stays centered.
    pub cell_height: Amount,
    /// Distance from the cell's bottom to the baseline; more moves text up.
    pub baseline: Amount,
    /// Distance from the cell's top to an underline; more moves the underline down.
    pub underline_position: Amount,
    /// Thickness of underlines and of the lines that sprites draw.
    pub underline_thickness: Amount,
}

impl Default for FontOptions {
    fn default() -> Self {
        Self {
            families: Vec::new(),
            styles: StyleFamilies::default(),
            synthetic: true,
            features: Vec::new(),
            ligatures: Ligatures::default(),
            symbols: Vec::new(),
            adjust: Adjust::default(),
            size: 12.0,
            scale: 1.0,
        }
    }
}

impl FontOptions {
    fn scale(&self) -> f32 {
        if self.scale.is_finite() && self.scale > 0.0 { self.scale } else { 1.0 }
    }

    /// The font size in physical pixels per em, always between 4 and 400.
    pub fn pixels(&self) -> f32 {
        let size = if self.size.is_finite() { self.size } else { 12.0 };
        (size * self.scale() * 96.0 / 72.0).clamp(4.0, 400.0)
    }
}

/// Measures of one cell, in whole physical pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CellMetrics {
    /// Width.
    pub width: u32,
    /// Height.
    pub height: u32,
    /// From the cell's top to the baseline.
    pub baseline: u32,
    /// From the cell's top to the top of an underline.
    pub underline: u32,
    /// From the cell's top to the top of a strike-through.
    pub strike: u32,
    /// Thickness of lines.
    pub thickness: u32,
}

/// The scale of a multicell character's text relative to the base font (OSC 66).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Factor(u16);

impl Factor {
    /// Steps per unit. One step changes a 14-pixel font by less than a fiftieth of a pixel.
    const STEPS: f32 = 1024.0;

    /// Rounds to the nearest step, and to no less than 1/64.
    pub(crate) fn new(factor: f32) -> Self {
        let steps = (factor * Self::STEPS).round().clamp(Self::STEPS / 64.0, f32::from(u16::MAX));
        Self(steps as u16)
    }

    pub(crate) fn value(self) -> f32 {
        f32::from(self.0) / Self::STEPS
    }

    /// Scales a measure. A measure of at least one pixel stays at least one pixel.
    pub(crate) fn of(self, measure: u32) -> u32 {
        let least = measure.min(1);
        ((measure as f32 * self.value()).round() as u32).max(least)
    }
}

/// How much larger than a grid cell a character's cell is: in a row that DECDWL or DECDHL stretched, or for one
/// multicell character (OSC 66).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Stretch {
    /// Not stretched.
    #[default]
    None,
    /// Twice as wide.
    Wide,
    /// Twice as wide and twice as high; a row shows one half.
    Tall,
    /// Scaled in both directions by a multicell character. Never applies to a row.
    Scaled(Factor),
}

impl Stretch {
    /// The stretch of a row of this size.
    pub(crate) fn of(size: LineSize) -> Self {
        match size {
            LineSize::Single => Self::None,
            LineSize::DoubleWidth => Self::Wide,
            LineSize::DoubleTop | LineSize::DoubleBottom => Self::Tall,
        }
    }

    /// Grid columns that one column of the row covers.
    pub(crate) fn across(self) -> u32 {
        if matches!(self, Self::Wide | Self::Tall) { 2 } else { 1 }
    }

    /// Factors of width and height.
    pub(crate) fn factors(self) -> (f32, f32) {
        match self {
            Self::None => (1.0, 1.0),
            Self::Wide => (2.0, 1.0),
            Self::Tall => (2.0, 2.0),
            Self::Scaled(factor) => (factor.value(), factor.value()),
        }
    }
}

impl CellMetrics {
    /// The measures of a stretched cell.
    pub(crate) fn stretched(self, stretch: Stretch) -> Self {
        let (across, down) = match stretch {
            Stretch::Scaled(factor) => return self.scaled(factor),
            Stretch::None => return self,
            Stretch::Wide => (2, 1),
            Stretch::Tall => (2, 2),
        };
        Self {
            width: self.width * across,
            height: self.height * down,
            baseline: self.baseline * down,
            underline: self.underline * down,
            strike: self.strike * down,
            thickness: self.thickness * down,
        }
    }

    /// The measures multiplied by `factor`.
    pub(crate) fn scaled(self, factor: Factor) -> Self {
        Self {
            width: factor.of(self.width),
            height: factor.of(self.height),
            baseline: factor.of(self.baseline),
            underline: factor.of(self.underline),
            strike: factor.of(self.strike),
            thickness: factor.of(self.thickness),
        }
    }

    /// Applies the adjustments of `options`, within limits that leave a usable cell.
    pub(crate) fn adjusted(self, options: &FontOptions) -> Self {
        let (adjust, scale) = (options.adjust, options.scale());
        let width = adjust.cell_width.apply(self.width, scale).clamp(1, 4000) as u32;
        let height = adjust.cell_height.apply(self.height, scale).clamp(2, 4000) as u32;
        let more = (height as i32 - self.height as i32).div_euclid(2);
        let thickness = adjust.underline_thickness.apply(self.thickness, scale);
        let thickness = thickness.clamp(1, (height as i32 / 4).max(1)) as u32;
        let within = |y: i32, highest: u32| y.clamp(0, highest as i32) as u32;
        let foot = self.height - self.baseline;
        let up = adjust.baseline.apply(foot, scale) - foot as i32;
        let lowest = height - thickness;
        let underline = adjust.underline_position.apply(self.underline, scale);
        Self {
            width,
            height,
            baseline: within(self.baseline as i32 + more - up, height - 1).max(1),
            underline: within(underline + more - up, lowest),
            strike: within(self.strike as i32 + more - up, lowest),
            thickness,
        }
    }

    /// Measures the cell of a monospace `font` at `pixels` per em. Width and height are the advance and the line
    /// height, each rounded to whole pixels. The leading is split between above and below.
    pub(crate) fn of(font: &Font, pixels: f32) -> Self {
        let face = font.as_swash();
        let metrics = face.metrics(&[]).scale(pixels);
        let advance = ['0', 'M', ' ']
            .into_iter()
            .map(|c| face.charmap().map(c))
            .filter(|glyph| *glyph != 0)
            .map(|glyph| face.glyph_metrics(&[]).scale(pixels).advance_width(glyph))
            .find(|advance| *advance > 0.0)
            .unwrap_or(pixels * 0.6);
        let (ascent, descent) = (metrics.ascent.max(1.0), metrics.descent.abs());
        let natural = ascent + descent + metrics.leading.max(0.0);
        let width = (advance.round() as u32).max(1);
        let height = (natural.round() as u32).max(2);
        let baseline =
            ((ascent + metrics.leading.max(0.0) / 2.0).round() as u32).clamp(1, height - 1);
        let stroke = if metrics.stroke_size > 0.0 { metrics.stroke_size } else { pixels / 16.0 };
        let thickness = (stroke.round() as u32).clamp(1, (height / 4).max(1));
        let line = |offset: f32, default: f32| {
            let offset = if offset == 0.0 { default } else { offset };
            let top = baseline as f32 - offset - thickness as f32 / 2.0;
            (top.round().max(0.0) as u32).min(height - thickness)
        };
        Self {
            width,
            height,
            baseline,
            underline: line(metrics.underline_offset, -pixels * 0.15),
            strike: line(metrics.strikeout_offset, pixels * 0.3),
            thickness,
        }
    }
}
