//! Commands that need no running instance: they read and write files of Unterm's home directory.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use clap::Subcommand;
use unterm::config::{self, edit, theme};
use unterm_control::languages;

/// Preferences: the file config.toml.
#[derive(Subcommand)]
pub enum ConfigCommand {
    /// Say what is wrong in a file, each problem with its line and column; fails if there is one.
    Check {
        /// The file; without it the one in force.
        file: Option<PathBuf>,
    },
    /// Print where the file is.
    Path,
}

/// Language of the settings page.
#[derive(Subcommand)]
pub enum LangCommand {
    /// Print every language's code and name; the one in use has a mark.
    List,
    /// Make a language the one in use.
    Set {
        /// Its code, such as `de-DE` or `de`; `auto`: that of the environment.
        code: String,
    },
    /// Print the code of the language in use.
    Current,
}

/// Themes: the colours of every pane.
#[derive(Subcommand)]
pub enum ThemeCommand {
    /// Print every theme's name; the one in force has a mark.
    List,
    /// Make a theme the one in force, in the file and in every running Unterm.
    Set {
        /// Its name.
        name: String,
    },
    /// Make a theme of one for Alacritty, kitty, Ghostty, iTerm2, Windows Terminal or base16.
    Import {
        /// Its file.
        file: PathBuf,
        /// Its name here; without it the file's.
        #[arg(long)]
        name: Option<String>,
    },
}

/// Does a command on the preferences and gives what it prints.
pub fn config(command: &ConfigCommand, home: &Path) -> Result<String> {
    let own = home.join(config::FILE);
    match command {
        ConfigCommand::Path => Ok(format!("{}\n", own.display())),
        ConfigCommand::Check { file } => {
            let file = file.as_ref().unwrap_or(&own);
            if *file != own && !file.exists() {
                bail!("{}: there is no such file", file.display());
            }
            match config::load(file, home) {
                Ok(_) => Ok(format!("{}: no problem found\n", file.display())),
                Err(complaints) => bail!(complaints.join("\n")),
            }
        }
    }
}

/// Does a command on themes and gives what it prints.
pub fn theme(command: &ThemeCommand, home: &Path) -> Result<String> {
    match command {
        ThemeCommand::List => {
            let config = config::load(&home.join(config::FILE), home).unwrap_or_default();
            let mut out = String::new();
            for name in theme::names(home) {
                let mark = if name == config.theme.pick(None) { '*' } else { ' ' };
                let title =
                    theme::find(&name, home).map_or_else(|why| why.to_string(), |t| t.title);
                out.push_str(&format!("{mark} {name:<24} {title}\n"));
            }
            Ok(out)
        }
        ThemeCommand::Set { name } => {
            edit::set(home, &["theme"], name.as_str().into())?;
            Ok(String::new())
        }
        ThemeCommand::Import { file, name } => import(file, name.as_deref(), home),
    }
}

/// Does a command on the settings page's language and gives what it prints; `lang`: the one to take for that in use.
pub fn language(command: &LangCommand, home: &Path, lang: Option<&str>) -> Result<String> {
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
            let line = |(code, name)| {
                format!("{} {code}  {name}\n", if code == current { '*' } else { ' ' })
            };
            Ok(languages::all().map(line).collect())
        }
        LangCommand::Set { code } => {
            let Some(code) =
                Some("auto").filter(|auto| auto == code).or_else(|| languages::find(code))
            else {
                let codes: Vec<_> = languages::all().map(|(code, _)| code).collect();
                bail!("{code:?} is no language of the page; there are auto, {}", codes.join(", "));
            };
            edit::set(home, &["language"], code.into())?;
            Ok(String::new())
        }
        LangCommand::Current => Ok(format!("{}\n", current()?)),
    }
}

fn import(file: &Path, name: Option<&str>, home: &Path) -> Result<String> {
    let bytes = std::fs::read(file).with_context(|| file.display().to_string())?;
    let text =
        String::from_utf8(bytes).with_context(|| format!("{} is no text", file.display()))?;
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let name = name.map_or_else(|| stem.to_lowercase().replace(' ', "-"), str::to_owned);
    if name.is_empty() || name.starts_with('.') || name.contains(['/', '\\', '\0']) {
        bail!("{name:?} can't be a theme's name; say another with --name");
    }
    let (format, theme) = theme::import::import(&text, &stem)
        .map_err(|why| anyhow::anyhow!("{}: {why}", file.display()))?;
    let target: PathBuf = theme::folder(home).join(format!("{name}.toml"));
    if target.exists() {
        bail!("{} exists; say another name with --name", target.display());
    }
    std::fs::create_dir_all(theme::folder(home))?;
    let mut out = std::fs::File::create_new(&target)?;
    if let Err(error) = out.write_all(theme.to_toml().as_bytes()) {
        // Half a theme would be taken for one, and be in the way of the next try.
        let _ = std::fs::remove_file(&target);
        return Err(error).with_context(|| target.display().to_string());
    }
    Ok(format!("{name}: a theme of {format:?}, in {}\n", target.display()))
}
