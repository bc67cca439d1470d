//! How a cell looks apart from its text: colors, attributes, underline.

use crate::{Color, TextSize};

bitflags::bitflags! {
    /// The attributes of a style that are on or off (ECMA-48 8.3.117 SGR).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Attrs: u16 {
        /// SGR 1.
        const BOLD = 1 << 0;
        /// SGR 2.
        const DIM = 1 << 1;
        /// SGR 3.
        const ITALIC = 1 << 2;
        /// SGR 5 and 6.
        const BLINK = 1 << 3;
        /// SGR 7.
        const REVERSE = 1 << 4;
        /// SGR 8.
        const HIDDEN = 1 << 5;
        /// SGR 9.
        const STRIKE = 1 << 6;
        /// SGR 53.
        const OVERLINE = 1 << 7;
    }
}

/// The forms of underline (SGR 4, 21 and kitty's `4:n`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Underline {
    /// None (SGR 24, 4:0).
    #[default]
    None,
    /// One line (SGR 4, 4:1).
    Single,
    /// Two lines (SGR 21, 4:2).
    Double,
    /// A wave (4:3).
    Curly,
    /// Dots (4:4).
    Dotted,
    /// Dashes (4:5).
    Dashed,
}

/// The look of a cell. Plain data. The grid interns styles and stores a 16-bit id in each cell.
#[derive(Clone, Copy, Default)]
pub struct Style {
    /// Text color.
    pub foreground: Color,
    /// Background color.
    pub background: Color,
    /// The color of the underline (SGR 58). `Default` means the color of the text.
    pub underline_color: Color,
    /// The attributes that are on.
    pub attrs: Attrs,
    /// The form of underline.
    pub underline: Underline,
    /// The size of the text. Set in every cell of a multicell character, and in no other cells.
    pub size: TextSize,
}

/// The positions of attributes and size in the second word, between the form of underline and its color.
const ATTRS_SHIFT: u32 = 3;
const SIZE_SHIFT: u32 = ATTRS_SHIFT + 8;
const _: () = assert!(Attrs::all().bits() < 1 << 8 && SIZE_SHIFT + TextSize::BITS <= 32);

impl Style {
    /// The style as two words. They are equal only for equal styles, and zero for the default style.
    #[inline(always)]
    fn words(&self) -> (u64, u64) {
        let word = |color: Color| match color {
            Color::Default => 0,
            Color::Indexed(i) => 1 << 24 | i as u64,
            Color::Rgb(c) => 2 << 24 | (c.r as u64) << 16 | (c.g as u64) << 8 | c.b as u64,
        };
        let look = (self.size.bits() as u64) << SIZE_SHIFT
            | (self.attrs.bits() as u64) << ATTRS_SHIFT
            | self.underline as u64;
        (
            word(self.foreground) << 32 | word(self.background),
            word(self.underline_color) << 32 | look,
        )
    }

    /// Whether this is the default style.
    #[inline]
    pub(crate) fn is_default(&self) -> bool {
        self.words() == (0, 0)
    }
}

impl std::fmt::Debug for Style {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut style = f.debug_struct("Style");
        style
            .field("foreground", &self.foreground)
            .field("background", &self.background)
            .field("underline_color", &self.underline_color)
            .field("attrs", &self.attrs)
            .field("underline", &self.underline);
        if !self.size.is_none() {
            style.field("size", &self.size);
        }
        style.finish()
    }
}

// Implemented by hand because the engine looks a style up for every SGR: two words compare faster than a dozen fields.

impl PartialEq for Style {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        self.words() == other.words()
    }
}

impl Eq for Style {}

impl std::hash::Hash for Style {
    #[inline]
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        let (first, second) = self.words();
        state.write_u64(first);
        state.write_u64(second);
    }
}
