//! Commands that need no running instance. They read and write files in Unterm's home directory.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use crate::config::{self, edit, theme};
use anyhow::{Context, Result, bail};
use clap::Subcommand;
use serde_json::{Value, json};
use unterm_control::languages;

use crate::cli::report::Report;

/// The configuration file, config.toml.
#[derive(Subcommand)]
pub enum ConfigCommand {
    /// Check a configuration file, and print each problem with its line and column. Exits with status 1 if there is one.
    ///
    /// Also names the fonts of the configuration that are not installed.
    Check {
        /// File to check [default: the configuration in use].
        file: Option<PathBuf>,
    },
    /// Print the path of the configuration file.
    Path,
}

/// Language of the settings page.
#[derive(Subcommand)]
pub enum LangCommand {
    /// List all languages. `*` marks the one in use.
    List,
    /// Choose a language.
    Set {
        /// Code, such as de-DE or de, or `auto` to follow the environment.
        code: String,
    },
    /// Print the code of the language in use.
    Current,
}

/// Themes, which set the colors.
#[derive(Subcommand)]
pub enum ThemeCommand {
    /// List all themes. `*` marks the one in use.
    List,
    /// Choose a theme, in the configuration file and in every running Unterm.
    Set {
        /// Name of the theme.
        name: String,
    },
    /// Import a theme of Alacritty, kitty, Ghostty, iTerm2, Windows Terminal or base16.
    Import {
        /// File to import.
        file: PathBuf,
        /// Name of the imported theme [default: the file's name].
        #[arg(long)]
        name: Option<String>,
    },
}

/// Runs a command about the configuration file.
pub fn config(command: &ConfigCommand, home: &Path) -> Result<Report> {
    let own = home.join(config::FILE);
    match command {
        ConfigCommand::Path => {
            Ok(Report::new(format!("{}\n", own.display()), json!({ "path": own })))
        }
        ConfigCommand::Check { file } => {
            let file = file.as_ref().unwrap_or(&own);
            if *file != own && !file.exists() {
                bail!("{}: no such file", file.display());
            }
            Ok(match config::load(file, home) {
                Ok(config) => {
                    let text = format!("{}: no problems found\n", file.display());
                    let missing = config::missing_fonts(&config);
                    let json = json!({ "file": file, "problems": [], "missing_fonts": missing });
                    let has_emoji = unterm_renderer::has_emoji_font();
                    let emoji = (!has_emoji).then(|| config::NO_EMOJI_FONT.to_owned());
                    let notes = missing.into_iter().chain(emoji);
                    Report::new(text, json).with_notes(notes.map(|note| note + "\n").collect())
                }
                Err(problems) => {
                    let json = json!({ "file": file, "problems": problems });
                    Report::failure(&problems.join("\n"), json)
                }
            })
        }
    }
}

/// Runs a command about themes.
pub fn theme(command: &ThemeCommand, home: &Path) -> Result<Report> {
    match command {
        ThemeCommand::List => {
            let config = config::load(&home.join(config::FILE), home).unwrap_or_default();
            let (mut text, mut themes) = (String::new(), Vec::new());
            for name in theme::ids(home) {
                let is_current = name == config.theme.pick(None);
                let title =
                    theme::find(&name, home).map_or_else(|why| why.to_string(), |t| t.title);
                text.push_str(&format!("{} {name:<24} {title}\n", mark(is_current)));
                themes.push(json!({ "name": name, "title": title, "current": is_current }));
            }
            Ok(Report::new(text, json!({ "themes": themes })))
        }
        ThemeCommand::Set { name } => {
            edit::set(home, &["theme"], name.as_str().into())?;
            Ok(Report::new(String::new(), json!({ "theme": name })))
        }
        ThemeCommand::Import { file, name } => import(file, name.as_deref(), home),
    }
}

/// The mark of the item that is in use.
fn mark(is_current: bool) -> char {
    if is_current { '*' } else { ' ' }
}

/// Runs a command about the language of the settings page. `lang` overrides the language in use.
pub fn language(command: &LangCommand, home: &Path, lang: Option<&str>) -> Result<Report> {
    let current = || -> Result<&'static str> {
        if let Some(code) = lang.and_then(languages::find) {
            return Ok(code);
        }
        let config = config::load(&home.join(config::FILE), home).unwrap_or_default();
        let preferred = serde_json::to_value(config.language)?;
        Ok(languages::current(preferred.as_str().unwrap_or_default()))
    };
    match command {
        LangCommand::List => {
            let current = current()?;
            let line = |(code, name)| format!("{} {code}  {name}\n", mark(code == current));
            let row =
                |(code, name)| json!({"code": code, "name": name, "current": code == current});
            let rows: Value = languages::all().map(row).collect();
            Ok(Report::new(languages::all().map(line).collect(), json!({ "languages": rows })))
        }
        LangCommand::Set { code } => {
            let Some(code) =
                Some("auto").filter(|auto| auto == code).or_else(|| languages::find(code))
            else {
                let codes: Vec<_> = languages::all().map(|(code, _)| code).collect();
                bail!("unknown language {code:?}; available: auto, {}", codes.join(", "));
            };
            edit::set(home, &["language"], code.into())?;
            Ok(Report::new(String::new(), json!({ "language": code })))
        }
        LangCommand::Current => {
            let code = current()?;
            Ok(Report::new(format!("{code}\n"), json!({ "language": code })))
        }
    }
}

/// The maximum size of a theme file to import, in bytes.
const LONGEST_THEME: u64 = 1 << 20;

fn import(file: &Path, name: Option<&str>, home: &Path) -> Result<Report> {
    let text = unterm_mux::private::read_text_of_anyone(file, LONGEST_THEME)
        .with_context(|| file.display().to_string())?;
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let name = name.map_or_else(|| stem.to_lowercase().replace(' ', "-"), str::to_owned);
    if name.is_empty() || name.starts_with('.') || name.contains(['/', '\\', '\0']) {
        bail!("{name:?} can't be a theme's name; choose another with --name");
    }
    let (format, theme) = theme::import::import(&text, &stem)
        .map_err(|why| anyhow::anyhow!("{}: {why}", file.display()))?;
    let target: PathBuf = theme::folder(home).join(format!("{name}.toml"));
    if target.exists() {
        bail!("{} exists; choose another name with --name", target.display());
    }
    std::fs::create_dir_all(theme::folder(home))?;
    let mut out = std::fs::File::create_new(&target)?;
    if let Err(error) = out.write_all(theme.to_toml().as_bytes()) {
        // Remove the partial file, which would otherwise be read as a theme and prevent the next import.
        let _ = std::fs::remove_file(&target);
        return Err(error).with_context(|| target.display().to_string());
    }
    let text = format!("Imported the {format:?} theme {name} to {}\n", target.display());
    let json = json!({ "name": name, "format": format!("{format:?}"), "path": target });
    Ok(Report::new(text, json))
}
