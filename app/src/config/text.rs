//! The sections `[text]` and `[cursor]`: how cells are painted, whatever their font.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_renderer::TextOptions;

/// See [`super::Config::text`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Text {
    /// Columns that characters of ambiguous width (such as "±" and "①") take in panes opened from now on. What programs assume follows the locale: wide only in some East Asian ones.
    pub ambiguous_width: AmbiguousWidth,
    /// How colours are blended at the edges of characters.
    pub blending: Blending,
    /// Least contrast of text with its background, from 1 (none is asked for) to 21 (black on white); 4.5 is the least that is recommended for reading. Text with less is stepped towards black or white.
    #[schemars(range(min = 1.0, max = 21.0))]
    pub minimum_contrast: f32,
    /// The same for text in the theme's 16 colours, or its text colour, on a background in one of these. Programs combine such colours without knowing the theme. 1 keeps the theme's colours as they are.
    #[schemars(range(min = 1.0, max = 21.0))]
    pub palette_contrast: f32,
}

impl Default for Text {
    fn default() -> Self {
        Self {
            ambiguous_width: AmbiguousWidth::default(),
            blending: Blending::default(),
            minimum_contrast: 1.0,
            palette_contrast: 3.0,
        }
    }
}

impl Text {
    /// The same for the renderer.
    pub fn options(&self) -> TextOptions {
        TextOptions {
            blending: match self.blending {
                Blending::Native => unterm_renderer::Blending::Native,
                Blending::Linear => unterm_renderer::Blending::Linear,
            },
            minimum_contrast: self.minimum_contrast,
            palette_contrast: self.palette_contrast,
        }
    }
}

/// See [`Text::blending`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Blending {
    /// As they are coded, as most programs do.
    #[default]
    Native,
    /// As light, without dark fringes between colours; text is as bold.
    Linear,
}

/// See [`Text::ambiguous_width`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AmbiguousWidth {
    /// One.
    #[default]
    Narrow,
    /// Two.
    Wide,
}

/// See [`super::Config::cursor`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Cursor {
    /// Its shape.
    pub shape: CursorShape,
    /// Whether it blinks.
    pub blink: bool,
}

/// See [`Cursor::shape`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CursorShape {
    /// The whole cell.
    #[default]
    Block,
    /// A line at the cell's left.
    Bar,
    /// A line at the cell's foot.
    Underline,
}
