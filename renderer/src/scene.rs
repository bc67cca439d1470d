//! What to show: panes' snapshots in their places, and the chrome around them. Plain data, made anew for each frame.

use unterm_term::{Rgb, Snapshot, TextRange};

/// A rectangle in physical pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PixelRect {
    /// Left edge.
    pub x: i32,
    /// Top edge.
    pub y: i32,
    /// Width.
    pub width: u32,
    /// Height.
    pub height: u32,
}

/// Text an input method is composing, drawn at the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preedit {
    /// The text.
    pub text: String,
    /// Byte range of the input method's cursor or selection in it.
    pub cursor: Option<(usize, usize)>,
}

/// Text that is marked because a search found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Highlight {
    /// Where it is.
    pub range: TextRange,
    /// It is the one looked at, and stands out from the others.
    pub current: bool,
}

/// One pane in its place.
#[derive(Clone, Copy, Debug)]
pub struct PaneScene<'a> {
    /// Names the pane from frame to frame, so that unchanged rows are kept.
    pub id: u64,
    /// The whole pane, padding included; nothing is drawn outside. Filled with its palette's background.
    pub area: PixelRect,
    /// Where the grid's first cell begins.
    pub origin: (i32, i32),
    /// Pixels that the rows are moved up by, less than a cell's height: of the first row only what is below is seen, and
    /// there is one row more than fits. Then rows are cut to the grid.
    pub shift: u32,
    /// What it shows.
    pub snapshot: &'a Snapshot,
    /// It has the keyboard: a solid cursor; otherwise a hollow one.
    pub focused: bool,
    /// Whether a blinking cursor and blinking text are in their visible half.
    pub blink_on: bool,
    /// The person's selection.
    pub selection: Option<TextRange>,
    /// Places that a search found, in the order of the text.
    pub highlights: &'a [Highlight],
    /// Link under the pointer: its cells are underlined.
    pub hovered_link: Option<&'a unterm_term::Link>,
    /// Composed text at the cursor.
    pub preedit: Option<&'a Preedit>,
    /// How far the pane is mixed towards the background, 0 to 1 (unfocused panes: 0.1).
    pub dim: f32,
    /// Opacity of its background, 0 to 1, where the window lets what is behind it be seen. Text and the backgrounds that
    /// programs set stay opaque.
    pub opacity: f32,
}

impl<'a> PaneScene<'a> {
    /// A pane with the keyboard and nothing more to it than what it shows.
    pub fn new(id: u64, snapshot: &'a Snapshot, area: PixelRect, origin: (i32, i32)) -> Self {
        Self {
            id,
            area,
            origin,
            shift: 0,
            snapshot,
            focused: true,
            blink_on: true,
            selection: None,
            highlights: &[],
            hovered_link: None,
            preedit: None,
            dim: 0.0,
            opacity: 1.0,
        }
    }
}

/// A filled rectangle of chrome.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quad {
    /// Where.
    pub rect: PixelRect,
    /// Its colour.
    pub color: Rgb,
    /// Opacity, 0 to 1.
    pub alpha: f32,
    /// Radius of its corners in pixels.
    pub radius: f32,
}

/// Where a label's text lies in its rectangle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LabelAlign {
    /// At its left edge.
    #[default]
    Left,
    /// In its middle.
    Center,
    /// At its right edge.
    Right,
}

/// One line of chrome text in the UI font, centred vertically in its rectangle, cut with an ellipsis where it is too
/// long.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Label {
    /// Where.
    pub rect: PixelRect,
    /// The text.
    pub text: String,
    /// Its colour.
    pub color: Rgb,
    /// Size in pixels.
    pub size: f32,
    /// Bold.
    pub bold: bool,
    /// Alignment.
    pub align: LabelAlign,
    /// Parts of the text in a colour of their own: byte ranges in order, which don't touch.
    pub accents: Vec<std::ops::Range<usize>>,
    /// That colour.
    pub accent: Rgb,
}

/// Everything a window shows.
#[derive(Clone, Debug, Default)]
pub struct Scene<'a> {
    /// Width of the surface in physical pixels.
    pub width: u32,
    /// Height of the surface.
    pub height: u32,
    /// Colour where nothing else is.
    pub background: Rgb,
    /// The panes.
    pub panes: Vec<PaneScene<'a>>,
    /// Rectangles over the panes, in order.
    pub quads: Vec<Quad>,
    /// Labels, in order; those of a layer lie over its quads.
    pub labels: Vec<Label>,
    /// Where layers above the first begin: how many quads and how many labels lie below. See [`Scene::raise`].
    pub raised: Vec<(usize, usize)>,
}

impl Scene<'_> {
    /// Begins a new layer: quads added from here on hide labels added before.
    pub fn raise(&mut self) {
        self.raised.push((self.quads.len(), self.labels.len()));
    }
}
