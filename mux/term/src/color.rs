//! Colors as programs name them, and the palette that resolves them.

mod cie;
pub(crate) mod spec;

/// An sRGB color, 8 bits per channel.
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
    /// The color `0xRRGGBB`.
    pub const fn hex(rgb: u32) -> Self {
        Self { r: (rgb >> 16) as u8, g: (rgb >> 8) as u8, b: rgb as u8 }
    }
}

/// Writes the color as `#rrggbb`.
impl std::fmt::Display for Rgb {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.r, self.g, self.b)
    }
}

/// A color as SGR sets it (ECMA-48 8.3.117, xterm ctlseqs "Character Attributes").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Color {
    /// The palette's foreground or background. For an underline: the color of the text.
    #[default]
    Default,
    /// One of the palette's 256 colors.
    Indexed(u8),
    /// A direct color.
    Rgb(Rgb),
}

/// The current colors of a terminal: the theme's, with the program's changes (OSC 4, 5, 10–19 and 21) applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Palette {
    /// The 256 colors: 16 of the theme, the 6×6×6 cube, 24 grays.
    pub colors: [Rgb; 256],
    /// Default text color.
    pub foreground: Rgb,
    /// Default background color.
    pub background: Rgb,
    /// The cursor color. `None`: the text color of the cell under the cursor.
    pub cursor: Option<Rgb>,
    /// The color of text under a block cursor. `None`: the background of the cell.
    pub cursor_text: Option<Rgb>,
    /// The background of the selection. `None`: foreground and background are swapped.
    pub selection: Option<Rgb>,
    /// The color of text in the selection. `None`: unchanged.
    pub selection_text: Option<Rgb>,
    /// Colors for bold, underlined, blinking, reversed and italic text (OSC 5). `None`: the usual text color. Stored
    /// only for reports and never drawn, like in xterm with its default resources.
    pub special: [Option<Rgb>; 5],
    /// The mouse pointer's foreground and background (OSC 13, 14). Stored only for reports: the desktop draws the
    /// pointer in its own colors.
    pub pointer: [Option<Rgb>; 2],
    /// Foreground, background and cursor of xterm's Tektronix window (OSC 15, 16, 18). Stored only for reports: Unterm
    /// has no such window.
    pub tektronix: [Option<Rgb>; 3],
    /// The color of the visual bell (OSC 21).
    pub visual_bell: Option<Rgb>,
}

/// A color of a palette, by its purpose.
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
    /// All slots.
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
    /// The palette of a theme: its 16 colors, the standard cube and grays (xterm's 256colres).
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

    /// The color of a slot. `None` if no color is set.
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

    /// Sets the color of a slot. `None` has no effect on a slot that must have a color.
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

    /// The color of a slot for reports: xterm's default if no color is set.
    pub(crate) fn shown(&self, slot: Slot) -> Rgb {
        self.get(slot).unwrap_or(match slot {
            Slot::Pointer(1) | Slot::Tektronix(1) | Slot::CursorText | Slot::SelectionText => {
                self.background
            }
            _ => self.foreground,
        })
    }

    /// Whether the background is darker than the text, which mode 2031 reports.
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
