//! The section `[font]`, and checks of it that a schema can't express.

use std::{collections::BTreeMap, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml_edit::{Item, TableLike};
use unterm_control::did_you_mean;
use unterm_renderer::{
    Adjust, Amount, FontFeature, FontOptions, Renderer, StyleFamilies, SymbolRange,
};

use super::Config;

/// The message if no installed font contains emoji.
pub const NO_EMOJI_FONT: &str = "No installed font has emoji. Install fonts-noto-color-emoji (Debian, Ubuntu), \
     google-noto-color-emoji-fonts (Fedora) or noto-fonts-emoji (Arch).";

/// A message for each family of `missing`, the families that are not installed. `installed` are the names of the
/// families that may be meant.
pub(crate) fn missing_messages(missing: &[String], installed: &[String]) -> Vec<String> {
    let message = |family: &String| {
        let near = did_you_mean(family, installed.iter().map(String::as_str));
        let end = if near.is_empty() { "." } else { &*near };
        format!("The font {family:?} is not installed; the next one is used{end}")
    };
    missing.iter().map(message).collect()
}

/// A message for each font family that the configuration names and that is not installed. Lists the system's fonts,
/// which is slow.
pub(crate) fn missing_fonts(config: &Config) -> Vec<String> {
    // A profile replaces `font.family`. The window uses only one profile, so check them one after the other.
    let profiles = config.profile.values().map(|profile| &profile.font.family);
    let own = profiles
        .map(|family| FontOptions { families: family.clone(), ..Font::default().options() });
    let mut messages = Vec::new();
    for options in std::iter::once(config.font.options()).chain(own) {
        let renderer = Renderer::new(options);
        for message in missing_messages(renderer.missing_families(), &renderer.families()) {
            if !messages.contains(&message) {
                messages.push(message);
            }
        }
    }
    messages
}

/// See [`super::Config::font`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Font {
    /// Font families, in order of preference. The bundled JetBrains Mono and the system's fonts for other scripts are used after them.
    pub family: Vec<String>,
    /// Size of text, in points.
    #[schemars(range(min = 4.0, max = 96.0))]
    pub size: f32,
    /// Families for bold text, tried before `family`.
    pub bold: Vec<String>,
    /// Families for italic text, tried before `family`.
    pub italic: Vec<String>,
    /// Families for bold italic text, tried before `family`.
    pub bold_italic: Vec<String>,
    /// Synthesize bold and italic from the upright face if a family lacks them.
    pub synthetic: bool,
    /// OpenType features: `"ss01"` or `"+ss01"` turns a feature on, `"-calt"` turns it off, `"cv02=3"` selects a variant.
    pub features: Vec<String>,
    /// Where to draw the font's ligatures.
    pub ligatures: Ligatures,
    /// Code points, and the family to draw them with: `{ "U+E0A0-U+E0D4, U+2665" = "Symbols Nerd Font Mono" }`.
    pub symbol_map: BTreeMap<String, String>,
    /// Change of the cell width: logical pixels, `"2px"` or `"-1"`, or a percentage, `"10%"`. Empty: the font's width.
    pub adjust_cell_width: String,
    /// Change of the cell height, divided between above and below the text.
    pub adjust_cell_height: String,
    /// Distance to move text up; negative values move it down.
    pub adjust_baseline: String,
    /// Distance to move underlines down; negative values move them up.
    pub adjust_underline_position: String,
    /// Change of the thickness of underlines and box drawing characters.
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
    /// Everywhere.
    Always,
    /// Everywhere except under the cursor.
    #[default]
    Cursor,
    /// Nowhere.
    Never,
}

/// Parses the change of a measure. An empty text means no change.
fn amount(text: &str) -> Result<Amount, String> {
    if text.is_empty() { Ok(Amount::default()) } else { text.parse() }
}

impl Font {
    /// The keys that change measures of a cell, with their values.
    fn changes(&self) -> [(&'static str, &str); 5] {
        [
            ("adjust_cell_width", &self.adjust_cell_width),
            ("adjust_cell_height", &self.adjust_cell_height),
            ("adjust_baseline", &self.adjust_baseline),
            ("adjust_underline_position", &self.adjust_underline_position),
            ("adjust_underline_thickness", &self.adjust_underline_thickness),
        ]
    }

    /// The options for the renderer, at scale 1. Values that are not valid are skipped, because they were reported
    /// when the file was read.
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

    /// Reports each value that is not valid: its key, its position in the section's `table`, and what would be right.
    pub(super) fn problems(
        &self,
        table: &dyn TableLike,
        mut report: impl FnMut(&str, Option<std::ops::Range<usize>>, String),
    ) {
        let features = table.get("features").and_then(Item::as_array);
        for (value, text) in features.into_iter().flatten().zip(&self.features) {
            if let Err(message) = FontFeature::from_str(text) {
                report("features", value.span(), message);
            }
        }
        let map = table.get("symbol_map").and_then(Item::as_table_like);
        for (codes, family) in &self.symbol_map {
            if let Err(message) = SymbolRange::list(codes, family) {
                let key = map.and_then(|map| map.key(codes));
                report("symbol_map", key.and_then(toml_edit::Key::span), message);
            }
        }
        for (name, text) in self.changes() {
            if let Err(message) = amount(text) {
                report(name, table.get(name).and_then(Item::span), message);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_that_are_not_installed_are_named() {
        let text = "[font]\nfamily = ['JetBrains Mno', 'JetBrains Mono']\nbold = ['No Such Font']\n\
                    symbol_map = { 'U+2665' = 'No Such Symbols' }\n\
                    [profile.work]\nfont = { family = ['JetBrains Mno', 'Of A Profile'] }\n[profile.plain]\n";
        let config =
            super::super::parse::parse(text, std::path::Path::new("/nonexistent")).unwrap();
        let messages = missing_fonts(&config);
        let named = |family: &str| {
            let named: Vec<_> =
                messages.iter().filter(|message| message.contains(family)).collect();
            assert_eq!(named.len(), 1, "{family}: {messages:?}");
            named[0].clone()
        };
        assert!(named("JetBrains Mno").ends_with("; did you mean \"JetBrains Mono\"?"));
        for family in ["No Such Font", "No Such Symbols", "Of A Profile"] {
            named(family);
        }
        assert_eq!(messages.len(), 4, "{messages:?}");
        assert_eq!(missing_fonts(&Config::default()), [""; 0]);
    }
}
