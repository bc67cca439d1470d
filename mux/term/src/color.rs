//! Colours as programs name them, and the palette that turns them into light.

/// An sRGB colour, 8 bits a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rgb {
    /// Red.
    pub r: u8,
    /// Green.
    pub g: u8,
    /// Blue.
    pub b: u8,
}

impl Rgb {
    /// The colour `0xRRGGBB`.
    pub const fn hex(rgb: u32) -> Self {
        Self { r: (rgb >> 16) as u8, g: (rgb >> 8) as u8, b: rgb as u8 }
    }
}

/// A colour as SGR sets it (ECMA-48 8.3.117, xterm ctlseqs "Character Attributes").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Color {
    /// The palette's foreground or background (for an underline: the text's colour).
    #[default]
    Default,
    /// One of the palette's 256 colours.
    Indexed(u8),
    /// A colour of its own.
    Rgb(Rgb),
}

/// The colours in force in one terminal: the theme's, with what the program changed by OSC 4, 10, 11 and 12 over it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Palette {
    /// The 256 colours: 16 of the theme, the 6×6×6 cube, 24 greys.
    pub colors: [Rgb; 256],
    /// Default text colour.
    pub foreground: Rgb,
    /// Default background colour.
    pub background: Rgb,
    /// Cursor colour; `None`: the text colour of the cell under it.
    pub cursor: Option<Rgb>,
    /// Text under a block cursor; `None`: that cell's background.
    pub cursor_text: Option<Rgb>,
    /// Background of the selection; `None`: foreground and background change places.
    pub selection: Option<Rgb>,
    /// Text in the selection; `None`: as it is.
    pub selection_text: Option<Rgb>,
}

impl Palette {
    /// The palette of a theme: its 16 colours, the standard cube and greys (xterm's 256colres).
    pub fn new(ansi: [Rgb; 16], foreground: Rgb, background: Rgb) -> Self {
        let mut colors = [Rgb::default(); 256];
        colors[..16].copy_from_slice(&ansi);
        const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];
        for (i, color) in colors[16..232].iter_mut().enumerate() {
            *color = Rgb { r: LEVELS[i / 36], g: LEVELS[i / 6 % 6], b: LEVELS[i % 6] };
        }
        for (i, color) in colors[232..].iter_mut().enumerate() {
            let grey = 8 + 10 * i as u8;
            *color = Rgb { r: grey, g: grey, b: grey };
        }
        Self {
            colors,
            foreground,
            background,
            cursor: None,
            cursor_text: None,
            selection: None,
            selection_text: None,
        }
    }
}

impl Default for Palette {
    /// Unterm's built-in theme `standard` (Catppuccin Mocha).
    fn default() -> Self {
        let ansi = [
            0x45475a, 0xf38ba8, 0xa6e3a1, 0xf9e2af, 0x89b4fa, 0xf5c2e7, 0x94e2d5, 0xa6adc8,
            0x585b70, 0xf37799, 0x89d88b, 0xebd391, 0x74a8fc, 0xf2aede, 0x6bd7ca, 0xbac2de,
        ]
        .map(Rgb::hex);
        let mut palette = Self::new(ansi, Rgb::hex(0xcdd6f4), Rgb::hex(0x1e1e2e));
        palette.cursor = Some(Rgb::hex(0xf5e0dc));
        palette.cursor_text = Some(Rgb::hex(0x1e1e2e));
        palette.selection = Some(Rgb::hex(0x585b70));
        palette
    }
}
