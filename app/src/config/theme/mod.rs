//! Themes: palettes that are built into Unterm, and the user's own palettes in the folder `themes` of Unterm's home
//! directory.
//!
//! A theme is a TOML file with `name`, `foreground`, `background` and sixteen `colors`. `cursor`, `cursor_text`,
//! `selection` and `selection_text` are optional. Each color is written as `#rrggbb`.

pub mod import;

use std::{
    collections::BTreeSet,
    fmt::Write,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use unterm_control::did_you_mean;
use unterm_term::{Palette, Rgb};

use crate::{plain_words, toml_files};

/// Pairs the name of each built-in theme with the text of its file.
macro_rules! builtin {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../../../assets/themes/", $name, ".toml")))),*]
    };
}

const BUILTIN: &[(&str, &str)] = builtin![
    "catppuccin-mocha" "tokyo-night" "solarized-light" "tango-dark"
    "ayu" "ayu-light" "catppuccin-frappe" "catppuccin-latte" "catppuccin-macchiato" "dracula"
    "everforest-dark" "everforest-light" "github-dark" "github-light" "gruvbox-dark" "gruvbox-light"
    "kanagawa-lotus" "kanagawa-wave" "monokai" "night-owl" "nord" "nord-light" "one-dark" "one-light"
    "rose-pine" "rose-pine-dawn" "rose-pine-moon" "solarized-dark" "tango-light" "tokyo-night-day"
    "tokyo-night-storm" "zenburn"
];

/// The maximum size of a theme file, in bytes.
const LONGEST: u64 = 1 << 20;

/// Alternative names of themes. These ids are documented, so they must keep working.
const ALIASES: &[(&str, &str)] = &[
    ("standard", "catppuccin-mocha"),
    ("midnight", "tokyo-night"),
    ("daylight", "solarized-light"),
    ("classic", "tango-dark"),
];

/// A palette with its title.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Theme {
    /// The `name` in the theme's file.
    pub title: String,
    /// The colors of the theme.
    pub palette: Palette,
}

/// The reason why a theme can't be loaded.
#[derive(Debug, thiserror::Error)]
pub enum ThemeError {
    /// No theme has this name.
    #[error("there is no theme {name:?}{hint}")]
    Unknown {
        /// The requested name.
        name: String,
        /// A suggestion of the most similar name, as the end of a sentence; may be empty.
        hint: String,
    },
    /// The theme's file can't be read.
    #[error("{}: {error}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// The theme's file is not a valid theme.
    #[error("theme {name:?}: {reason}")]
    Invalid {
        /// The theme's name.
        name: String,
        /// The first problem in the file.
        reason: String,
    },
}

/// The contents of a theme file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    foreground: Hex,
    background: Hex,
    cursor: Option<Hex>,
    cursor_text: Option<Hex>,
    selection: Option<Hex>,
    selection_text: Option<Hex>,
    colors: [Hex; 16],
}

#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
struct Hex(Rgb);

impl TryFrom<String> for Hex {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        hex(&text).map(Self).ok_or_else(|| format!("{text:?} is not a color; write #rrggbb"))
    }
}

/// A color written as `#rrggbb`, `rrggbb` or `0xrrggbb`.
fn hex(text: &str) -> Option<Rgb> {
    let digits = text.strip_prefix('#').or_else(|| text.strip_prefix("0x")).unwrap_or(text);
    let is_hex = digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then(|| u32::from_str_radix(digits, 16).ok().map(Rgb::hex)).flatten()
}

impl Theme {
    /// Parses the text of a theme's file.
    ///
    /// # Errors
    /// Returns the first problem with its line, as text for the user.
    pub fn parse(text: &str) -> Result<Self, String> {
        let file: File = toml_edit::de::from_str(text).map_err(|error| {
            let why = plain_words::of_file(error.message());
            format!("line {}: {why}", toml_files::line(text, &error))
        })?;
        let color = |hex: Option<Hex>| hex.map(|Hex(color)| color);
        let mut palette =
            Palette::new(file.colors.map(|Hex(color)| color), file.foreground.0, file.background.0);
        palette.cursor = color(file.cursor);
        palette.cursor_text = color(file.cursor_text);
        palette.selection = color(file.selection);
        palette.selection_text = color(file.selection_text);
        Ok(Self { title: file.name, palette })
    }

    /// Writes the theme as the text of a file, which [`Theme::parse`] reads.
    pub fn to_toml(&self) -> String {
        let palette = &self.palette;
        let hex = |color: Rgb| format!("\"{color}\"");
        let mut out = format!("name = {}\n", toml_edit::Value::from(self.title.as_str()));
        let colors = [
            ("foreground", Some(palette.foreground)),
            ("background", Some(palette.background)),
            ("cursor", palette.cursor),
            ("cursor_text", palette.cursor_text),
            ("selection", palette.selection),
            ("selection_text", palette.selection_text),
        ];
        for (name, color) in colors {
            if let Some(color) = color {
                let _ = writeln!(out, "{name} = {}", hex(color));
            }
        }
        out.push_str("colors = [\n");
        for eight in palette.colors[..16].chunks(8) {
            let row: Vec<_> = eight.iter().map(|color| hex(*color)).collect();
            let _ = writeln!(out, "    {},", row.join(", "));
        }
        out.push_str("]\n");
        out
    }

    /// The label of the theme `name` in lists. It is the title of the theme, if [`find`] also finds the theme by that
    /// title. Otherwise it is `name`.
    pub fn shown(&self, name: &str) -> String {
        if as_name(&self.title) == name { self.title.clone() } else { name.to_owned() }
    }

    /// Whether the background is lighter than the text.
    pub fn is_light(&self) -> bool {
        is_light(&self.palette)
    }
}

/// Whether a palette's background is lighter than the palette's text.
pub fn is_light(palette: &Palette) -> bool {
    let light = |c: Rgb| 299 * u32::from(c.r) + 587 * u32::from(c.g) + 114 * u32::from(c.b);
    light(palette.background) > light(palette.foreground)
}

/// The folder of the user's own themes.
pub fn folder(home: &Path) -> PathBuf {
    home.join("themes")
}

/// The names of the built-in themes. The first four have been available since the first version.
pub fn builtin() -> impl Iterator<Item = &'static str> {
    BUILTIN.iter().map(|(name, _)| *name)
}

/// The names of all themes: the user's own themes in `home`, and the built-in themes.
pub fn names(home: &Path) -> BTreeSet<String> {
    let own = toml_files::names(&folder(home)).into_iter();
    own.chain(BUILTIN.iter().map(|(name, _)| (*name).to_owned())).collect()
}

/// The names of all themes, and the documented ids that some themes also have.
pub fn ids(home: &Path) -> BTreeSet<String> {
    let mut names = names(home);
    names.extend(ALIASES.iter().map(|(id, _)| (*id).to_owned()));
    names
}

/// The documented ids of the theme with this name.
pub fn ids_of(name: &str, home: &Path) -> Vec<String> {
    let ids = ALIASES.iter().map(|(id, _)| (*id).to_owned());
    ids.filter(|id| listed(id, home) == name).collect()
}

/// Converts the name of a theme to the form used in the configuration: `Tokyo Night` becomes `tokyo-night`. A
/// documented id is not changed, so that a client reads the same name that it has set. The name of a user's own theme
/// in `home` is not changed either.
pub fn name_of(given: &str, home: &Path) -> String {
    match own(given, home).is_some_and(|file| file.is_file()) {
        true => given.to_owned(),
        false => as_name(given),
    }
}

/// The name, as listed by [`names`], of the theme that has this name or id.
pub fn listed(given: &str, home: &Path) -> String {
    let name = name_of(given, home);
    match ALIASES.iter().find(|(id, _)| *id == name) {
        Some((_, now)) if own(&name, home).is_none_or(|file| !file.is_file()) => (*now).to_owned(),
        _ => name,
    }
}

/// Converts a title to a name: lower case, without accents, with dashes between the words.
fn as_name(title: &str) -> String {
    let plain = |c: char| match c {
        ' ' | '_' => '-',
        'é' | 'è' | 'ê' => 'e',
        c => c,
    };
    title.trim().to_lowercase().chars().map(plain).collect()
}

/// The path of the user's theme `name`, even if the file does not exist. `None` if `name` is not valid as a file name.
fn own(name: &str, home: &Path) -> Option<PathBuf> {
    // Agents and the settings page can set this name. They must not be able to read files outside the folder.
    let is_name = !name.is_empty() && !name.contains(['/', '\\', '\0']) && !name.starts_with('.');
    is_name.then(|| folder(home).join(format!("{name}.toml")))
}

/// Loads the theme `name`. A user's own theme in `home` takes precedence over a built-in theme.
///
/// # Errors
/// Fails if there is no theme of this name, or if its file can't be read or is invalid.
pub fn find(name: &str, home: &Path) -> Result<Theme, ThemeError> {
    let invalid = |reason| ThemeError::Invalid { name: name.to_owned(), reason };
    let known = listed(name, home);
    if let Some(file) = own(&known, home) {
        match unterm_mux::private::read_text_of_anyone(&file, LONGEST) {
            Ok(text) => return Theme::parse(&text).map_err(invalid),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(ThemeError::Unreadable { file, error }),
        }
    }
    match BUILTIN.iter().find(|(builtin, _)| *builtin == known) {
        Some((_, text)) => Theme::parse(text).map_err(invalid),
        None => {
            let hint = did_you_mean(name, ids(home).iter().map(String::as_str));
            Err(ThemeError::Unknown { name: name.to_owned(), hint })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_theme_is_valid_and_listed() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/themes");
        let mut files: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
            .collect();
        files.sort();
        let mut listed: Vec<_> = BUILTIN.iter().map(|(name, _)| (*name).to_owned()).collect();
        listed.sort();
        assert_eq!(files, listed);
        for (name, text) in BUILTIN {
            let theme = Theme::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(as_name(&theme.title), *name, "a title is a name too");
            assert_eq!(Theme::parse(&theme.to_toml()).unwrap(), theme, "{name}");
        }
    }

    #[test]
    fn the_first_theme_is_the_engines_own_palette() {
        let theme = find(builtin().next().unwrap(), Path::new("/nonexistent")).unwrap();
        assert_eq!(theme.palette, Palette::default());
        assert!(!theme.is_light());
        assert!(find("solarized-light", Path::new("/nonexistent")).unwrap().is_light());
    }

    #[test]
    fn titles_and_former_names_are_accepted() {
        let home = tempfile::tempdir().unwrap();
        let title = |name: &str| find(name, home.path()).map(|theme| theme.title).ok();
        for (before, now) in ALIASES {
            assert_eq!(name_of(before, home.path()), *before);
            assert_eq!(listed(before, home.path()), *now);
            assert!(ids(home.path()).contains(*before) && !names(home.path()).contains(*before));
            assert!(title(before).is_some() && title(before) == title(now), "{before}");
        }
        for given in ["Tokyo Night", "tokyo-night", "TOKYO_NIGHT", "midnight"] {
            assert_eq!(title(given).as_deref(), Some("Tokyo Night"), "{given}");
        }
        assert_eq!(title("rose pine").as_deref(), Some("Rosé Pine"));

        // A user's own theme may have the same name as a documented id.
        std::fs::create_dir(folder(home.path())).unwrap();
        let own = find("nord", home.path()).unwrap();
        std::fs::write(folder(home.path()).join("midnight.toml"), own.to_toml()).unwrap();
        assert_eq!(title("midnight").as_deref(), Some("Nord"));
        assert_eq!(title("Midnight").as_deref(), Some("Nord"));
        assert_eq!(own.shown("midnight"), "midnight", "its title is another theme's name");
        assert_eq!(own.shown("nord"), "Nord");
    }

    #[test]
    fn an_own_theme_overrides_a_built_in_one() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder(home.path())).unwrap();
        let mut own = find("nord", home.path()).unwrap();
        own.palette.background = Rgb::hex(0x010203);
        std::fs::write(folder(home.path()).join("nord.toml"), own.to_toml()).unwrap();
        assert_eq!(find("nord", home.path()).unwrap().palette.background, Rgb::hex(0x010203));
    }

    #[test]
    fn a_path_is_not_a_name() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("secret.toml"), "x = 1").unwrap();
        let error = find("../secret", home.path()).unwrap_err().to_string();
        assert!(error.starts_with("there is no theme"), "{error}");
    }

    #[test]
    fn a_bad_colour_is_reported_with_its_line() {
        let text = find("nord", Path::new("/nonexistent")).unwrap().to_toml();
        let error = Theme::parse(&text.replacen("#", "#g", 1)).unwrap_err();
        assert!(error.starts_with("line 2:") && error.contains("#rrggbb"), "{error}");
    }
}
