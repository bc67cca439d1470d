//! Converts the configuration of another terminal to Unterm's, as far as Unterm has equivalent settings.
//!
//! Owns the knowledge of what the settings of other terminals mean. Never runs a program or evaluates code, and never
//! writes a file. The files are hostile input: `files.rs` limits their number and size, and `lua.rs` reads only
//! literals.

mod action_lists;
mod action_parts;
mod alacritty;
mod colors;
mod converted;
mod draft;
mod files;
mod forms;
mod ghostty;
mod keys;
mod kitty;
mod lua;
mod modes;
mod reasons;
mod terminal;
mod text;
mod unsupported;
mod wezterm;

use std::path::Path;

use draft::Draft;
use files::Files;

pub use converted::{Converted, ImportedTheme, LeftOut, Setting};
pub use terminal::Terminal;

/// The folders that a conversion needs.
#[derive(Clone, Copy, Debug)]
pub struct Homes<'a> {
    /// The user's home directory, for `~` in paths.
    pub user: &'a Path,
    /// Unterm's home directory, which contains the user's themes.
    pub unterm: &'a Path,
}

/// Converts the configuration in `file` and in the files that it includes.
///
/// # Errors
/// Fails if the file can't be read, is too large, or does not have the format of the terminal.
pub fn convert(terminal: Terminal, file: &Path, homes: Homes<'_>) -> Result<Converted, String> {
    let mut draft = Draft::default();
    let mut files = Files::new(homes.user);
    match terminal {
        Terminal::Kitty => kitty::read(file, &mut files, &mut draft)?,
        Terminal::Alacritty => alacritty::read(file, &mut files, &mut draft)?,
        Terminal::Ghostty => ghostty::read(file, &mut files, &mut draft)?,
        Terminal::Wezterm => wezterm::read(file, &mut files, &mut draft)?,
    }
    Ok(draft.finish(terminal, homes.unterm))
}

#[cfg(test)]
mod tests;
