//! The size of a multicell character's text, and the alignment of the text in its block of cells.
//!
//! Source: kitty's "The text sizing protocol" (<https://sw.kovidgoyal.net/kitty/text-sizing-protocol/>).

/// The maximum scale, and the maximum width.
pub(crate) const MAX_SCALE: u8 = 7;
/// The maximum numerator and denominator of the fraction.
const MAX_FRACTION: u8 = 15;

/// The position of text that is smaller than its block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Align {
    /// At the top, or at the left.
    #[default]
    Start,
    /// At the bottom, or at the right.
    End,
    /// In the middle.
    Center,
}

impl Align {
    fn of(bits: u32) -> Self {
        match bits & 3 {
            1 => Self::End,
            2 => Self::Center,
            _ => Self::Start,
        }
    }
}

/// The size of a multicell character. The character occupies [`TextSize::columns`] by [`TextSize::rows`] cells, in a
/// font that is scaled from the base font. The default is an ordinary cell.
///
/// | bits | contents |
/// |---|---|
/// | 0–2 | scale, 0 in an ordinary cell |
/// | 3–5 | width |
/// | 6–9, 10–13 | numerator and denominator of the fraction |
/// | 14–15, 16–17 | vertical and horizontal [`Align`] |
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct TextSize(u32);

impl TextSize {
    /// The number of bits used.
    pub(crate) const BITS: u32 = 18;

    /// The size that [`TextSize::bits`] returned these bits for.
    pub(crate) fn from_bits(bits: u32) -> Self {
        Self(bits & ((1 << Self::BITS) - 1))
    }

    pub(crate) fn bits(self) -> u32 {
        self.0
    }

    /// A size with the font scaled from the base font by 1 to 7. Other scales are clamped to that range.
    pub(crate) fn scaled(scale: u32) -> Self {
        Self(scale.clamp(1, MAX_SCALE.into()))
    }

    /// This size with `width` times as many columns as the scale, at most 7. 0 means that the text determines the
    /// width.
    pub(crate) fn with_width(self, width: u32) -> Self {
        Self(self.0 & !(7 << 3) | width.min(MAX_SCALE.into()) << 3)
    }

    /// This size with the font also scaled by `numerator / denominator`, each at most 15.
    pub(crate) fn with_fraction(self, numerator: u32, denominator: u32) -> Self {
        let most = MAX_FRACTION.into();
        Self(self.0 & !(0xff << 6) | numerator.min(most) << 6 | denominator.min(most) << 10)
    }

    /// This size with an alignment: 1 is [`Align::End`], 2 is [`Align::Center`], and any other value is
    /// [`Align::Start`].
    pub(crate) fn with_alignment(self, vertical: u32, horizontal: u32) -> Self {
        let align = |value: u32| if value <= 2 { value } else { 0 };
        Self(self.0 & !(0xf << 14) | align(vertical) << 14 | align(horizontal) << 16)
    }

    /// Whether this is an ordinary cell.
    pub fn is_none(self) -> bool {
        self.0 == 0
    }

    /// The scale relative to the base font, from 1 to 7.
    pub fn scale(self) -> u8 {
        (self.0 & 7) as u8
    }

    /// The width in units of the scale, from 1 to 7.
    pub fn width(self) -> u8 {
        (self.0 >> 3 & 7) as u8
    }

    /// The number of columns of the block.
    pub fn columns(self) -> u16 {
        u16::from(self.scale()) * u16::from(self.width())
    }

    /// The number of rows of the block.
    pub fn rows(self) -> u16 {
        self.scale().into()
    }

    /// The fraction by which the font is smaller than its scale. `None` if it is not smaller.
    pub fn fraction(self) -> Option<(u8, u8)> {
        let (numerator, denominator) = self.raw_fraction();
        (0 < numerator && numerator < denominator).then_some((numerator, denominator))
    }

    /// The numerator and denominator as the program sent them.
    pub(crate) fn raw_fraction(self) -> (u8, u8) {
        ((self.0 >> 6 & 0xf) as u8, (self.0 >> 10 & 0xf) as u8)
    }

    /// The vertical position of text that is smaller than its block.
    pub fn vertical(self) -> Align {
        Align::of(self.0 >> 14)
    }

    /// The horizontal position of text that is smaller than its block.
    pub fn horizontal(self) -> Align {
        Align::of(self.0 >> 16)
    }
}

impl std::fmt::Debug for TextSize {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (numerator, denominator) = self.raw_fraction();
        write!(f, "{}×{}", self.columns(), self.rows())?;
        if self.0 >> 6 != 0 {
            write!(f, " {numerator}/{denominator}")?;
            write!(f, " {:?} {:?}", self.vertical(), self.horizontal())?;
        }
        Ok(())
    }
}
