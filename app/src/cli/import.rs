//! `unterm-cli import`: converts another terminal's configuration. Prints the result, or adds it to the user's own
//! configuration.

use std::{
    fmt::Write as _,
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use crate::{
    config::{edit, theme},
    import::{self, Converted, Homes, ImportedTheme, Terminal},
};
use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Value, json};
use unterm_mux::private;

use crate::cli::{report::Report, user_file::keep};

/// Converts a configuration, and prints the result. If `write` is set, adds it to the configuration in `home` instead.
pub fn import(terminal: Terminal, file: Option<&Path>, home: &Path, write: bool) -> Result<Report> {
    let user = std::env::home_dir().context("cannot find your home directory; set HOME")?;
    let file = match file {
        Some(file) => file.to_owned(),
        None => usual_file(terminal, &user)?,
    };
    let homes = Homes { user: &user, unterm: home };
    let converted = import::convert(terminal, &file, homes)
        .map_err(|why| anyhow!("{}: {why}", file.display()))?;
    let report = match write {
        true => added(terminal, &converted, home, &file)?,
        false => printed(terminal, &converted, &file),
    };
    Ok(report.with_notes(notes(&converted)))
}

/// The file that the other terminal reads by default.
fn usual_file(terminal: Terminal, user: &Path) -> Result<PathBuf> {
    let variable =
        |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let files = terminal.usual_files(user, variable);
    match files.iter().find(|file| file.is_file()) {
        Some(file) => Ok(file.clone()),
        None => {
            let names: Vec<_> = files.iter().map(|file| file.display().to_string()).collect();
            bail!("{} has no configuration; looked for {}", terminal.title(), names.join(", "))
        }
    }
}

/// Writes the result as text. The theme is written as a comment, because themes are stored in separate files.
fn printed(terminal: Terminal, converted: &Converted, file: &Path) -> Report {
    let name = terminal.theme_name();
    let mut text = String::new();
    match &converted.theme {
        Some(ImportedTheme::Known(name)) => {
            let _ = writeln!(text, "theme = {}", toml_edit::Value::from(name.as_str()));
        }
        Some(ImportedTheme::Pair { light, dark }) => {
            let _ = writeln!(text, "theme = {}", pair(light, dark));
        }
        _ => {}
    }
    let settings = converted.toml();
    if !text.is_empty() && settings.starts_with('[') {
        text.push('\n');
    }
    text.push_str(&settings);
    let own = match &converted.theme {
        Some(ImportedTheme::Own(theme)) => Some(theme.to_toml()),
        _ => None,
    };
    if let Some(theme) = &own {
        let _ = write!(
            text,
            "\n# The colors. `--write` saves them as the theme {name:?} and sets it. To do so by hand, save the lines below as\n\
             # ~/.unterm/themes/{name}.toml, without the # at the start of each line, and set theme = {name:?}.\n"
        );
        for line in theme.lines() {
            let _ = writeln!(text, "# {line}");
        }
    }
    Report::new(
        text,
        json!({
            "file": file,
            "toml": settings,
            "theme": theme_json(converted),
            "theme_file": own,
            "left_out": left_out(converted),
        }),
    )
}

/// Adds those settings that the user has not set, and saves the theme.
fn added(terminal: Terminal, converted: &Converted, home: &Path, file: &Path) -> Result<Report> {
    let mut keys: Vec<(Vec<String>, toml_edit::Value)> = Vec::new();
    let mut text = String::new();
    let theme = match &converted.theme {
        None => None,
        Some(ImportedTheme::Known(name)) => Some(name.as_str().into()),
        Some(ImportedTheme::Pair { light, dark }) => Some(pair(light, dark)),
        Some(ImportedTheme::Own(theme)) => {
            let (name, path) = save_theme(terminal.theme_name(), theme, home)?;
            let _ = writeln!(text, "Saved the colors as the theme {name}: {}", path.display());
            Some(name.into())
        }
    };
    keys.extend(theme.map(|theme| (vec!["theme".to_owned()], theme)));
    keys.extend(
        converted.settings.iter().map(|setting| (setting.key.clone(), setting.value.clone())),
    );

    let mut backup = None;
    let added = edit::add(home, &keys, |file, old| {
        // If the file did not exist, no backup is needed.
        if file.exists() {
            let file = fs::canonicalize(file)?;
            backup = Some(keep(&file, old).with_context(|| file.display().to_string())?);
        }
        Ok(())
    })?;
    let named = |wanted: bool| -> Vec<String> {
        let keys = keys.iter().zip(&added).filter(|(_, added)| **added == wanted);
        keys.map(|((key, _), _)| key.join(".")).collect()
    };
    let (now, before) = (named(true), named(false));
    let own = home.join(crate::config::FILE);
    let _ = writeln!(text, "Added {} to {}", count(now.len(), "setting"), own.display());
    for key in &now {
        let _ = writeln!(text, "  {key}");
    }
    if !before.is_empty() {
        let _ = writeln!(text, "Kept your own values for {}:", count(before.len(), "setting"));
        for key in &before {
            let _ = writeln!(text, "  {key}");
        }
    }
    if let Some(backup) = &backup {
        let _ = writeln!(text, "Backup: {}", backup.display());
    }
    Ok(Report::new(
        text,
        json!({
            "file": file,
            "added": now,
            "kept": before,
            "backup": backup,
            "theme": theme_json(converted),
            "left_out": left_out(converted),
        }),
    ))
}

/// Saves a theme. If its name is already used by a theme with other colors, a number is added to the name. If its
/// colors are equal, that theme is reused.
fn save_theme(name: &str, theme: &theme::Theme, home: &Path) -> Result<(String, PathBuf)> {
    let folder = theme::folder(home);
    private::create_folder(&folder).with_context(|| folder.display().to_string())?;
    let text = theme.to_toml();
    let mut number = 1;
    loop {
        let name = if number == 1 { name.to_owned() } else { format!("{name}-{number}") };
        let file = folder.join(format!("{name}.toml"));
        match private::create_file(&file) {
            Ok(mut out) => {
                if let Err(error) = out.write_all(text.as_bytes()) {
                    // Remove the partial file, which would otherwise be read as a theme.
                    let _ = fs::remove_file(&file);
                    return Err(error).with_context(|| file.display().to_string());
                }
                return Ok((name, file));
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if theme::find(&name, home).is_ok_and(|known| known.palette == theme.palette) {
                    return Ok((name, file));
                }
                number += 1;
            }
            Err(error) => return Err(error).with_context(|| file.display().to_string()),
        }
    }
}

fn pair(light: &str, dark: &str) -> toml_edit::Value {
    let pair: toml_edit::InlineTable = [("light", light), ("dark", dark)].into_iter().collect();
    pair.into()
}

fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Describes the settings that were left out, as text for the user.
fn notes(converted: &Converted) -> String {
    let mut notes = String::new();
    for left in &converted.left_out {
        let _ = writeln!(
            notes,
            "{}:{}: {}: {}",
            left.file.display().to_string().replace(char::is_control, "\u{fffd}"),
            left.line,
            left.setting,
            left.why
        );
    }
    let converted =
        count(converted.settings.len() + usize::from(converted.theme.is_some()), "setting");
    match notes.lines().count() {
        0 => format!("{notes}Converted {converted}; left out nothing\n"),
        left => format!("{notes}Converted {converted}; left out {left}, listed above\n"),
    }
}

fn left_out(converted: &Converted) -> Vec<Value> {
    let row = |left: &import::LeftOut| json!({ "file": left.file, "line": left.line, "setting": left.setting, "why": left.why });
    converted.left_out.iter().map(row).collect()
}

/// The theme in the JSON output: a name, a pair of names, or `null` if the configuration sets no colors.
fn theme_json(converted: &Converted) -> Value {
    match &converted.theme {
        None => Value::Null,
        Some(ImportedTheme::Known(name)) => json!(name),
        Some(ImportedTheme::Pair { light, dark }) => json!({ "light": light, "dark": dark }),
        Some(ImportedTheme::Own(theme)) => json!(theme.title),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KITTY: &str = "font_size 13\nbackground #101418\nmap ctrl+1 goto_tab 1\ncursor_trail 3\nscrollback_lines 5\n";

    /// A home directory with the user's settings, and with a converted configuration of kitty.
    fn home(own: Option<&str>) -> (tempfile::TempDir, Converted, PathBuf) {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("kitty.conf");
        fs::write(&file, KITTY).unwrap();
        if let Some(own) = own {
            fs::write(home.path().join("config.toml"), own).unwrap();
        }
        let homes = Homes { user: home.path(), unterm: home.path() };
        let converted = import::convert(Terminal::Kitty, &file, homes).unwrap();
        (home, converted, file)
    }

    fn text(home: &tempfile::TempDir, name: &str) -> String {
        fs::read_to_string(home.path().join(name)).unwrap()
    }

    #[test]
    fn settings_are_added_to_the_users_and_the_old_file_is_kept() {
        let own = "# mine\n[font]\nsize = 9 # small\n\n[keys]\n\"control+1\" = \"none\"\n";
        let (home, converted, file) = home(Some(own));
        let report = added(Terminal::Kitty, &converted, home.path(), &file).unwrap();
        assert_eq!(
            text(&home, "config.toml"),
            format!("theme = \"kitty\"\n{own}\n[scrollback]\nlines = 5\n")
        );
        assert_eq!(text(&home, "config.toml.unterm-backup"), own);
        assert_eq!(report.json["added"], json!(["theme", "scrollback.lines"]));
        assert_eq!(report.json["kept"], json!(["font.size", "keys.ctrl+1"]));
        assert!(text(&home, "themes/kitty.toml").contains("background = \"#101418\""));

        // A second import of the same file changes nothing: the theme is reused, and no second backup is written.
        added(Terminal::Kitty, &converted, home.path(), &file).unwrap();
        assert_eq!(fs::read_dir(theme::folder(home.path())).unwrap().count(), 1);
        assert!(!home.path().join("config.toml.unterm-backup-2").exists());
    }

    #[test]
    fn another_theme_of_the_same_name_stays() {
        let (home, converted, file) = home(None);
        let other = theme::find("nord", home.path()).unwrap().to_toml();
        fs::create_dir(theme::folder(home.path())).unwrap();
        fs::write(theme::folder(home.path()).join("kitty.toml"), &other).unwrap();
        let report = added(Terminal::Kitty, &converted, home.path(), &file).unwrap();
        assert_eq!(text(&home, "themes/kitty.toml"), other);
        assert!(text(&home, "config.toml").starts_with("theme = \"kitty-2\"\n"));
        assert_eq!(report.json["backup"], Value::Null, "there was no file");
        assert!(crate::config::load(&home.path().join("config.toml"), home.path()).is_ok());
    }

    #[test]
    fn a_file_with_an_error_is_not_changed() {
        let (home, converted, file) = home(Some("[font\n"));
        assert!(added(Terminal::Kitty, &converted, home.path(), &file).is_err());
        assert_eq!(text(&home, "config.toml"), "[font\n");
        assert!(!home.path().join("config.toml.unterm-backup").exists());
    }

    #[test]
    fn printed_text_is_a_configuration_and_omissions_have_lines() {
        let (home, converted, file) = home(None);
        let report = printed(Terminal::Kitty, &converted, &file);
        assert!(crate::config::parse::parse(&report.text, home.path()).is_ok(), "{}", report.text);
        assert!(report.text.contains("# background = \"#101418\"\n"));
        let notes = notes(&converted);
        let expected = format!("{}:4: cursor_trail: Unterm has no such setting\n", file.display());
        assert!(notes.starts_with(&expected), "{notes}");
        assert!(notes.ends_with("Converted 4 settings; left out 1, listed above\n"), "{notes}");
    }
}
