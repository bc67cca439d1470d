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

    /// The colour of one of X11's names (rgb.txt), however its letters and blanks are written.
    pub fn named(name: &str) -> Option<Self> {
        crate::osc::color_spec::named(name)
    }
}

/// `#rrggbb`.
impl std::fmt::Display for Rgb {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.r, self.g, self.b)
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

/// The colours in force in one terminal: the theme's, with what the program changed by OSC 4, 5, 10–19
/// and 21 over it.
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
    /// Colours for text that is bold, underlined, blinking, reversed, italic (OSC 5); `None`: that of any text. Kept for
    /// the program that asks; like xterm without its resources for them, nobody draws with them.
    pub special: [Option<Rgb>; 5],
    /// The mouse pointer's foreground and background (OSC 13, 14), which the desktop draws as it likes.
    pub pointer: [Option<Rgb>; 2],
    /// Foreground, background and cursor of xterm's Tektronix window (OSC 15, 16, 18), which is not there.
    pub tektronix: [Option<Rgb>; 3],
    /// What the screen flashes in (OSC 21).
    pub visual_bell: Option<Rgb>,
}

/// A colour of a palette, by what it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    Indexed(u8),
    Special(u8),
    Foreground,
    Background,
    Cursor,
    CursorText,
    Selection,
    SelectionText,
    Pointer(u8),
    Tektronix(u8),
    VisualBell,
}

impl Slot {
    /// All there are.
    pub fn all() -> impl Iterator<Item = Self> {
        use Slot::*;
        let single =
            [Foreground, Background, Cursor, CursorText, Selection, SelectionText, VisualBell];
        (0..=255)
            .map(Indexed)
            .chain((0..5).map(Special))
            .chain((0..2).map(Pointer))
            .chain((0..3).map(Tektronix))
            .chain(single)
    }
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
            special: [None; 5],
            pointer: [None; 2],
            tektronix: [None; 3],
            visual_bell: None,
        }
    }

    /// The colour in a slot, `None` where none is set.
    pub(crate) fn get(&self, slot: Slot) -> Option<Rgb> {
        match slot {
            Slot::Indexed(index) => Some(self.colors[index as usize]),
            Slot::Special(index) => self.special[index as usize],
            Slot::Foreground => Some(self.foreground),
            Slot::Background => Some(self.background),
            Slot::Cursor => self.cursor,
            Slot::CursorText => self.cursor_text,
            Slot::Selection => self.selection,
            Slot::SelectionText => self.selection_text,
            Slot::Pointer(index) => self.pointer[index as usize],
            Slot::Tektronix(index) => self.tektronix[index as usize],
            Slot::VisualBell => self.visual_bell,
        }
    }

    /// Sets a slot; one that always has a colour keeps it when there is none.
    pub(crate) fn set(&mut self, slot: Slot, color: Option<Rgb>) {
        match slot {
            Slot::Indexed(index) => set(&mut self.colors[index as usize], color),
            Slot::Special(index) => self.special[index as usize] = color,
            Slot::Foreground => set(&mut self.foreground, color),
            Slot::Background => set(&mut self.background, color),
            Slot::Cursor => self.cursor = color,
            Slot::CursorText => self.cursor_text = color,
            Slot::Selection => self.selection = color,
            Slot::SelectionText => self.selection_text = color,
            Slot::Pointer(index) => self.pointer[index as usize] = color,
            Slot::Tektronix(index) => self.tektronix[index as usize] = color,
            Slot::VisualBell => self.visual_bell = color,
        }
    }

    /// The colour that a slot comes to where none is set: what xterm answers.
    pub(crate) fn shown(&self, slot: Slot) -> Rgb {
        self.get(slot).unwrap_or(match slot {
            Slot::Pointer(1) | Slot::Tektronix(1) | Slot::CursorText | Slot::SelectionText => {
                self.background
            }
            _ => self.foreground,
        })
    }

    /// Whether the background is darker than the text: what mode 2031 tells programs.
    pub fn is_dark(&self) -> bool {
        let light = |Rgb { r, g, b }: Rgb| 299 * r as u32 + 587 * g as u32 + 114 * b as u32;
        light(self.background) <= light(self.foreground)
    }
}

fn set(own: &mut Rgb, color: Option<Rgb>) {
    *own = color.unwrap_or(*own);
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
