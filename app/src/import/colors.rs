//! The colors of a configuration, and the default colors of each terminal for colors that are not set.

use unterm_term::{Palette, Rgb};

use super::terminal::Terminal;
use crate::config::theme::{Theme, import};

/// The colors of a theme in addition to the sixteen ANSI colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColorRole {
    /// The color of text.
    Foreground,
    /// The color behind the text.
    Background,
    /// The color of the cursor.
    Cursor,
    /// The text below the cursor.
    CursorText,
    /// The background of the selection.
    Selection,
    /// The text of the selection.
    SelectionText,
}

/// The colors that a configuration sets. A part without a color follows the color of the cell.
#[derive(Default)]
pub(super) struct Colors {
    ansi: [Option<Rgb>; 16],
    parts: Vec<(ColorRole, Option<Rgb>)>,
}

/// The colors that a terminal uses if the configuration does not set them.
struct Defaults {
    ansi: [u32; 16],
    foreground: u32,
    background: u32,
    cursor: Option<u32>,
    cursor_text: Option<u32>,
    selection: Option<u32>,
    selection_text: Option<u32>,
}

/// The default colors of kitty 0.40, from `kitty/options/definition.py`.
const KITTY: Defaults = Defaults {
    ansi: [
        0x000000, 0xcc0403, 0x19cb00, 0xcecb00, 0x0d73cc, 0xcb1ed1, 0x0dcdcd, 0xdddddd, 0x767676,
        0xf2201f, 0x23fd00, 0xfffd00, 0x1a8fff, 0xfd28ff, 0x14ffff, 0xffffff,
    ],
    foreground: 0xdddddd,
    background: 0x000000,
    cursor: Some(0xcccccc),
    cursor_text: Some(0x111111),
    selection: Some(0xfffacd),
    selection_text: Some(0x000000),
};

/// The default colors of Alacritty 0.15, from `extra/man/alacritty.5.scd`.
const ALACRITTY: Defaults = Defaults {
    ansi: [
        0x181818, 0xac4242, 0x90a959, 0xf4bf75, 0x6a9fb5, 0xaa759f, 0x75b5aa, 0xd8d8d8, 0x6b6b6b,
        0xc55555, 0xaac474, 0xfeca88, 0x82b8c8, 0xc28cb8, 0x93d3c3, 0xf8f8f8,
    ],
    foreground: 0xd8d8d8,
    background: 0x181818,
    cursor: None,
    cursor_text: None,
    selection: None,
    selection_text: None,
};

/// The default colors of Ghostty 1.2, from `src/terminal/color.zig` and `src/config/Config.zig`.
const GHOSTTY: Defaults = Defaults {
    ansi: [
        0x1d1f21, 0xcc6666, 0xb5bd68, 0xf0c674, 0x81a2be, 0xb294bb, 0x8abeb7, 0xc5c8c6, 0x666666,
        0xd54e53, 0xb9ca4a, 0xe7c547, 0x7aa6da, 0xc397d8, 0x70c0b1, 0xeaeaea,
    ],
    foreground: 0xffffff,
    background: 0x282c34,
    cursor: None,
    cursor_text: None,
    selection: None,
    selection_text: None,
};

/// The default colors of WezTerm 20240203, from `term/src/color.rs`.
const WEZTERM: Defaults = Defaults {
    ansi: [
        0x000000, 0xcc5555, 0x55cc55, 0xcdcd55, 0x5455cb, 0xcc55cc, 0x7acaca, 0xcccccc, 0x555555,
        0xff5555, 0x55ff55, 0xffff55, 0x5555ff, 0xff55ff, 0x55ffff, 0xffffff,
    ],
    foreground: 0xb2b2b2,
    background: 0x000000,
    cursor: Some(0x52ad70),
    cursor_text: Some(0x000000),
    selection: None,
    selection_text: None,
};

impl Colors {
    /// Sets one of the sixteen ANSI colors.
    pub fn set_ansi(&mut self, index: usize, text: &str) -> Result<(), String> {
        let color = color(text)?;
        let slot = self.ansi.get_mut(index);
        *slot.ok_or(super::reasons::SIXTEEN_COLORS)? = Some(color);
        Ok(())
    }

    /// Sets a color other than the sixteen ANSI colors. `cell` lists the words for a color that follows the color of
    /// the cell.
    pub fn set_part(&mut self, part: ColorRole, text: &str, cell: &[&str]) -> Result<(), String> {
        let color = match cell.iter().any(|word| word.eq_ignore_ascii_case(text)) {
            true => None,
            false => Some(color(text)?),
        };
        self.parts.push((part, color));
        Ok(())
    }

    /// Replaces those colors that are set in `later`.
    pub fn replace(&mut self, later: Self) {
        for (slot, color) in self.ansi.iter_mut().zip(later.ansi) {
            *slot = color.or(*slot);
        }
        self.parts.extend(later.parts);
    }

    /// Builds the theme. Colors that are not set are taken from `base`, or from the terminal's defaults.
    pub fn theme(&self, terminal: Terminal, base: Option<Theme>) -> Theme {
        let defaults = match terminal {
            Terminal::Kitty => KITTY,
            Terminal::Alacritty => ALACRITTY,
            Terminal::Ghostty => GHOSTTY,
            Terminal::Wezterm => WEZTERM,
        };
        let base = base.map_or_else(|| defaults.palette(), |theme| theme.palette);
        let of = |part: ColorRole, usual: Option<Rgb>| {
            let set = self.parts.iter().rfind(|(other, _)| *other == part);
            set.map_or(usual, |(_, color)| *color)
        };
        let mut ansi = [Rgb::default(); 16];
        for (index, color) in ansi.iter_mut().enumerate() {
            *color = self.ansi[index].unwrap_or(base.colors[index]);
        }
        let foreground = of(ColorRole::Foreground, None).unwrap_or(base.foreground);
        let background = of(ColorRole::Background, None).unwrap_or(base.background);
        let mut palette = Palette::new(ansi, foreground, background);
        palette.cursor = of(ColorRole::Cursor, base.cursor);
        palette.cursor_text = of(ColorRole::CursorText, base.cursor_text);
        palette.selection = of(ColorRole::Selection, base.selection);
        palette.selection_text = of(ColorRole::SelectionText, base.selection_text);
        Theme { title: terminal.theme_name().to_owned(), palette }
    }
}

impl Defaults {
    fn palette(&self) -> Palette {
        let mut palette = Palette::new(
            self.ansi.map(Rgb::hex),
            Rgb::hex(self.foreground),
            Rgb::hex(self.background),
        );
        palette.cursor = self.cursor.map(Rgb::hex);
        palette.cursor_text = self.cursor_text.map(Rgb::hex);
        palette.selection = self.selection.map(Rgb::hex);
        palette.selection_text = self.selection_text.map(Rgb::hex);
        palette
    }
}

fn color(text: &str) -> Result<Rgb, String> {
    import::color(text).ok_or_else(|| format!("{text:?} is no color that Unterm reads"))
}
