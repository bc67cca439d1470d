//! The result of a conversion: the settings, a theme, and the settings that were left out.

use std::{collections::BTreeMap, path::PathBuf, rc::Rc};

use toml_edit::Value;

use crate::config::theme::Theme;

/// The theme of a converted configuration.
#[derive(Clone, Debug, PartialEq)]
pub enum ImportedTheme {
    /// A theme that Unterm already has.
    Known(String),
    /// Two themes that Unterm already has, for the light and the dark appearance.
    Pair {
        /// The light theme.
        light: String,
        /// The dark theme.
        dark: String,
    },
    /// A new theme with the colors of the configuration.
    Own(Box<Theme>),
}

/// A converted configuration.
#[derive(Debug)]
pub struct Converted {
    /// The settings of Unterm, without the theme.
    pub settings: Vec<Setting>,
    /// The theme, if the configuration sets colors.
    pub theme: Option<ImportedTheme>,
    /// The settings that were not converted, in the order of the files and their lines.
    pub left_out: Vec<LeftOut>,
}

impl Converted {
    /// The settings as the text of a `config.toml`, without the theme.
    pub fn toml(&self) -> String {
        render(&self.settings).0
    }
}

/// A line of a configuration file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ConfigLine {
    /// The file.
    pub file: Rc<PathBuf>,
    /// The number of the line, counted from 1.
    pub line: usize,
}

/// A setting of Unterm.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The path of the setting: the name of its section, and its own name.
    pub key: Vec<String>,
    /// The value of the setting.
    pub value: Value,
    pub(super) entry: Entry,
}

/// A setting of the other terminal that was not converted, or only partly converted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The file that contains the setting.
    pub file: PathBuf,
    /// The line of the setting, counted from 1.
    pub line: usize,
    /// The name of the setting, without control characters.
    pub setting: String,
    /// The reason why the setting was left out, without control characters.
    pub why: String,
}

/// The setting of the other terminal that is being converted.
#[derive(Clone, Debug, Default)]
pub(super) struct Entry {
    /// The position of the setting.
    pub place: ConfigLine,
    /// The name of the setting.
    pub name: String,
}

/// Writes settings as TOML. Returns the text, and a list with the first line of each setting and the setting's index,
/// sorted by lines.
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
