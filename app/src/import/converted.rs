//! The result of a conversion: settings, a theme, and what was left out.

use std::{collections::BTreeMap, path::PathBuf, rc::Rc};

use toml_edit::Value;

use crate::config::theme::Theme;

/// The theme of a converted configuration.
#[derive(Clone, Debug, PartialEq)]
pub enum ImportedTheme {
    /// A theme that Unterm has.
    Known(String),
    /// Themes that Unterm has, for the light and the dark appearance.
    Pair {
        /// The light theme.
        light: String,
        /// The dark theme.
        dark: String,
    },
    /// Colors of the configuration's own.
    Own(Box<Theme>),
}

/// A converted configuration.
#[derive(Debug)]
pub struct Converted {
    /// Settings of Unterm, without the theme.
    pub settings: Vec<Setting>,
    /// The theme, if the configuration sets colors.
    pub theme: Option<ImportedTheme>,
    /// What was not converted, in the order of the files' text.
    pub left_out: Vec<LeftOut>,
}

impl Converted {
    /// The settings as the text of a `config.toml`, without the theme.
    pub fn toml(&self) -> String {
        render(&self.settings).0
    }
}

/// A line of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// The file.
    pub file: Rc<PathBuf>,
    /// The line, from 1.
    pub line: usize,
}

/// A setting of Unterm's.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The names of its section and itself.
    pub key: Vec<String>,
    /// Its value.
    pub value: Value,
    pub(super) entry: Entry,
}

/// A setting of the other terminal that was not converted, or not completely.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Its file.
    pub file: PathBuf,
    /// Its line, from 1.
    pub line: usize,
    /// Its name. Without control characters.
    pub setting: String,
    /// The reason. Without control characters.
    pub why: String,
}

/// The setting of the other terminal that is being converted.
#[derive(Clone, Debug, Default)]
pub(super) struct Entry {
    /// Its place.
    pub place: Place,
    /// Its name.
    pub name: String,
}

/// Writes settings as TOML. Returns the text, and the first line of each setting with its index, in the order of the lines.
pub(super) fn render(settings: &[Setting]) -> (String, Vec<(usize, usize)>) {
    let mut sections: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, setting) in settings.iter().enumerate() {
        let section = match setting.key.as_slice() {
            [section, _] => section.as_str(),
            _ => "",
        };
        sections.entry(section).or_default().push(index);
    }
    let (mut text, mut lines) = (String::new(), Vec::new());
    for (section, indices) in sections {
        if !section.is_empty() {
            let blank = if text.is_empty() { "" } else { "\n" };
            text.push_str(&format!("{blank}[{section}]\n"));
        }
        for index in indices {
            let Setting { key, value, .. } = &settings[index];
            lines.push((text.matches('\n').count() + 1, index));
            let name = toml_edit::Key::new(key.last().map_or("", String::as_str));
            text.push_str(&format!("{name} = {}\n", value.clone().decorated("", "")));
        }
    }
    (text, lines)
}
