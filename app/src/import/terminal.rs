//! The terminals whose configuration can be converted, and the locations of their files.

use std::path::{Path, PathBuf};

use clap::ValueEnum;

/// A terminal whose configuration can be converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Terminal {
    /// kitty: `~/.config/kitty/kitty.conf`
    Kitty,
    /// Alacritty: `~/.config/alacritty/alacritty.toml`
    Alacritty,
    /// Ghostty: `~/.config/ghostty/config`
    Ghostty,
    /// WezTerm: `~/.wezterm.lua`
    Wezterm,
}

impl Terminal {
    /// The terminal's name in messages.
    pub fn title(self) -> &'static str {
        match self {
            Self::Kitty => "kitty",
            Self::Alacritty => "Alacritty",
            Self::Ghostty => "Ghostty",
            Self::Wezterm => "WezTerm",
        }
    }

    /// The name of the theme that is created from the terminal's colors.
    pub fn theme_name(self) -> &'static str {
        match self {
            Self::Kitty => "kitty",
            Self::Alacritty => "alacritty",
            Self::Ghostty => "ghostty",
            Self::Wezterm => "wezterm",
        }
    }

    /// The paths of the terminal's own configuration file, in the order in which the terminal looks for the file.
    pub fn usual_files(
        self,
        home: &Path,
        variable: impl Fn(&str) -> Option<PathBuf>,
    ) -> Vec<PathBuf> {
        let config = variable("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
        match self {
            Self::Kitty => variable("KITTY_CONFIG_DIRECTORY")
                .into_iter()
                .chain([config.join("kitty")])
                .map(|folder| folder.join("kitty.conf"))
                .collect(),
            Self::Alacritty => vec![
                config.join("alacritty/alacritty.toml"),
                config.join("alacritty.toml"),
                home.join(".config/alacritty/alacritty.toml"),
                home.join(".alacritty.toml"),
            ],
            // Newer versions of Ghostty prefer the name `config.ghostty`.
            Self::Ghostty => {
                vec![config.join("ghostty/config.ghostty"), config.join("ghostty/config")]
            }
            Self::Wezterm => variable("WEZTERM_CONFIG_FILE")
                .into_iter()
                .chain([home.join(".wezterm.lua"), config.join("wezterm/wezterm.lua")])
                .collect(),
        }
    }
}
