//! The section `[font]`, and what of it a schema can't say.

use std::{collections::BTreeMap, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml_edit::{Item, TableLike};
use unterm_renderer::{Adjust, Amount, FontFeature, FontOptions, StyleFamilies, SymbolRange};

/// See [`super::Config::font`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Font {
    /// Families, first choice first. The bundled JetBrains Mono and the system's fonts for other scripts follow by themselves.
    pub family: Vec<String>,
    /// Size in points.
    #[schemars(range(min = 4.0, max = 96.0))]
    pub size: f32,
    /// Families for bold text, asked before `family`.
    pub bold: Vec<String>,
    /// Families for italic text, asked before `family`.
    pub italic: Vec<String>,
    /// Families for text that is bold and italic, asked before `family`.
    pub bold_italic: Vec<String>,
    /// Make bold and italic from the upright face where a family has none.
    pub synthetic: bool,
    /// OpenType features: `"ss01"` or `"+ss01"` switches one on, `"-calt"` off, `"cv02=3"` chooses a form.
    pub features: Vec<String>,
    /// Which ligatures of the font are drawn.
    pub ligatures: Ligatures,
    /// Code points, and the family that draws them before all others: `{ "U+E0A0-U+E0D4, U+2665" = "Symbols Nerd Font Mono" }`.
    pub symbol_map: BTreeMap<String, String>,
    /// More or less width: logical pixels, `"2px"` or `"-1"`, or a part of it, `"10%"`. Empty: as the font has it.
    pub adjust_cell_width: String,
    /// More or less height, shared between above and below the text.
    pub adjust_cell_height: String,
    /// How far text is moved up; negative: down.
    pub adjust_baseline: String,
    /// How far an underline is moved down; negative: up.
    pub adjust_underline_position: String,
    /// More or less thickness of underlines, and of box drawing characters.
    pub adjust_underline_thickness: String,
}

impl Default for Font {
    fn default() -> Self {
        Self {
            family: Vec::new(),
            size: 12.0,
            bold: Vec::new(),
            italic: Vec::new(),
            bold_italic: Vec::new(),
            synthetic: true,
            features: Vec::new(),
            ligatures: Ligatures::default(),
            symbol_map: BTreeMap::new(),
            adjust_cell_width: String::new(),
            adjust_cell_height: String::new(),
            adjust_baseline: String::new(),
            adjust_underline_position: String::new(),
            adjust_underline_thickness: String::new(),
        }
    }
}

/// See [`Font::ligatures`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ligatures {
    /// All.
    Always,
    /// All but the one the cursor stands on.
    #[default]
    Cursor,
    /// None.
    Never,
}

/// The change of a measure that a string says; an empty one says none.
fn amount(text: &str) -> Result<Amount, String> {
    if text.is_empty() { Ok(Amount::default()) } else { text.parse() }
}

impl Font {
    /// The changes of a cell's measures, by their keys.
    fn changes(&self) -> [(&'static str, &str); 5] {
        [
            ("adjust_cell_width", &self.adjust_cell_width),
            ("adjust_cell_height", &self.adjust_cell_height),
            ("adjust_baseline", &self.adjust_baseline),
            ("adjust_underline_position", &self.adjust_underline_position),
            ("adjust_underline_thickness", &self.adjust_underline_thickness),
        ]
    }

    /// The same for the renderer, at scale 1. What is wrong in it has been told when the file was read, and is left out.
    pub fn options(&self) -> FontOptions {
        let [cell_width, cell_height, baseline, underline_position, underline_thickness] =
            self.changes().map(|(_, text)| amount(text).unwrap_or_default());
        FontOptions {
            families: self.family.clone(),
            styles: StyleFamilies {
                bold: self.bold.clone(),
                italic: self.italic.clone(),
                bold_italic: self.bold_italic.clone(),
            },
            synthetic: self.synthetic,
            features: self.features.iter().filter_map(|text| text.parse().ok()).collect(),
            ligatures: match self.ligatures {
                Ligatures::Always => unterm_renderer::Ligatures::Always,
                Ligatures::Cursor => unterm_renderer::Ligatures::Cursor,
                Ligatures::Never => unterm_renderer::Ligatures::Never,
            },
            symbols: self
                .symbol_map
                .iter()
                .flat_map(|(codes, family)| SymbolRange::list(codes, family).unwrap_or_default())
                .collect(),
            adjust: Adjust {
                cell_width,
                cell_height,
                baseline,
                underline_position,
                underline_thickness,
            },
            size: self.size,
            scale: 1.0,
        }
    }

    /// Tells of every part that says nothing: its key, where it stands in the section's `table`, and what would be right.
    pub(super) fn problems(
        &self,
        table: &dyn TableLike,
        mut tell: impl FnMut(&str, Option<std::ops::Range<usize>>, String),
    ) {
        let features = table.get("features").and_then(Item::as_array);
        for (value, text) in features.into_iter().flatten().zip(&self.features) {
            if let Err(message) = FontFeature::from_str(text) {
                tell("features", value.span(), message);
            }
        }
        let map = table.get("symbol_map").and_then(Item::as_table_like);
        for (codes, family) in &self.symbol_map {
            if let Err(message) = SymbolRange::list(codes, family) {
                let key = map.and_then(|map| map.key(codes));
                tell("symbol_map", key.and_then(toml_edit::Key::span), message);
            }
        }
        for (name, text) in self.changes() {
            if let Err(message) = amount(text) {
                tell(name, table.get(name).and_then(Item::span), message);
            }
        }
    }
}
