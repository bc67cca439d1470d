//! The sections `[text]` and `[cursor]`: how cells are painted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_renderer::TextOptions;

/// See [`super::Config::text`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Text {
    /// Width of characters of ambiguous width, such as "±" and "①". Applies to new panes. Programs assume `narrow`, except in some East Asian locales.
    pub ambiguous_width: AmbiguousWidth,
    /// How to blend colors at the edges of characters.
    pub blending: Blending,
    /// Minimum contrast of text with its background, from 1 (no minimum) to 21 (black on white). Text with less contrast is darkened or lightened. For reading, at least 4.5 is recommended.
    #[schemars(range(min = 1.0, max = 21.0))]
    pub minimum_contrast: f32,
    /// Minimum contrast of text in one of the theme's 16 colors, or its text color, with a background in one of these colors. Programs combine such colors without knowing the theme. 1 keeps the theme's colors as they are.
    #[schemars(range(min = 1.0, max = 21.0))]
    pub palette_contrast: f32,
    /// Show Hebrew, Arabic and other right-to-left text in its direction. Programs that arrange such text by themselves turn this off while they run.
    pub bidi: bool,
}

impl Default for Text {
    fn default() -> Self {
        Self {
            ambiguous_width: AmbiguousWidth::default(),
            blending: Blending::default(),
            minimum_contrast: 1.0,
            palette_contrast: 3.0,
            bidi: true,
        }
    }
}

impl Text {
    /// The text options for the renderer.
    pub fn options(&self) -> TextOptions {
        TextOptions {
            blending: match self.blending {
                Blending::Native => unterm_renderer::Blending::Native,
                Blending::Linear => unterm_renderer::Blending::Linear,
            },
            minimum_contrast: self.minimum_contrast,
            palette_contrast: self.palette_contrast,
            bidi: self.bidi,
        }
    }
}

/// See [`Text::blending`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Blending {
    /// Blend encoded values, like most programs.
    #[default]
    Native,
    /// Blend in linear light: no dark fringes between colors. Text is corrected so that it does not look thinner.
    Linear,
}

/// See [`Text::ambiguous_width`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AmbiguousWidth {
    /// One column.
    #[default]
    Narrow,
    /// Two columns.
    Wide,
}

/// See [`super::Config::cursor`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Cursor {
    /// Shape of the cursor.
    pub shape: CursorShape,
    /// Blink the cursor.
    pub blink: bool,
}

/// See [`Cursor::shape`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CursorShape {
    /// A filled cell.
    #[default]
    Block,
    /// A line at the left of the cell.
    Bar,
    /// A line at the bottom of the cell.
    Underline,
}
