//! What to show: snapshots of panes at their positions, and the chrome around them. A scene is plain data, built from
//! scratch for each frame.

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

/// Text that an input method is composing, drawn at the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preedit {
    /// The text.
    pub text: String,
    /// Byte range of the input method's cursor or selection in the text.
    pub cursor: Option<(usize, usize)>,
}

/// Text marked as a search match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Highlight {
    /// The range of the match.
    pub range: TextRange,
    /// Whether this is the current match, which stands out from the others.
    pub current: bool,
}

/// One pane at its position.
#[derive(Clone, Copy, Debug)]
pub struct PaneScene<'a> {
    /// Identifies the pane from frame to frame, so that unchanged rows are reused.
    pub id: u64,
    /// The whole pane, including padding. It is filled with the palette's background, and drawing is clipped to it.
    pub area: PixelRect,
    /// Top left corner of the grid's first cell.
    pub origin: (i32, i32),
    /// Pixels by which the rows are moved up, less than a cell's height. If not 0, the first row is partly hidden, the
    /// snapshot has one extra row, and rows are clipped to the grid.
    pub shift: u32,
    /// The snapshot to show.
    pub snapshot: &'a Snapshot,
    /// Whether the pane has keyboard focus. The cursor of a focused pane is solid, that of any other pane is hollow.
    pub focused: bool,
    /// Whether a blinking cursor and blinking text are in their visible phase.
    pub blink_on: bool,
    /// The user's selection.
    pub selection: Option<TextRange>,
    /// Search matches, in text order.
    pub highlights: &'a [Highlight],
    /// The link under the pointer. Its cells are underlined.
    pub hovered_link: Option<&'a unterm_term::Link>,
    /// Composed text at the cursor.
    pub preedit: Option<&'a Preedit>,
    /// How far the pane is mixed toward the background, 0 to 1. The default for unfocused panes is 0.1.
    pub dim: f32,
    /// Opacity of the pane's background in a translucent window, 0 to 1. Text and backgrounds that programs set stay
    /// opaque.
    pub opacity: f32,
}

impl<'a> PaneScene<'a> {
    /// A focused pane that shows only its snapshot.
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
    /// Position and size.
    pub rect: PixelRect,
    /// The rectangle's color.
    pub color: Rgb,
    /// Opacity, 0 to 1.
    pub alpha: f32,
    /// Radius of the corners in pixels.
    pub radius: f32,
}

/// Horizontal alignment of a label's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LabelAlign {
    /// At the left edge.
    #[default]
    Left,
    /// Centered.
    Center,
    /// At the right edge.
    Right,
}

/// One line of chrome text in the UI font, centered vertically in its rectangle and cut with an ellipsis if too long.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Label {
    /// Position and size.
    pub rect: PixelRect,
    /// The text.
    pub text: String,
    /// The text's color.
    pub color: Rgb,
    /// Size in pixels.
    pub size: f32,
    /// Whether the text is bold.
    pub bold: bool,
    /// Alignment.
    pub align: LabelAlign,
    /// Parts of the text in the accent color: byte ranges in ascending order that don't touch.
    pub accents: Vec<std::ops::Range<usize>>,
    /// The accent color.
    pub accent: Rgb,
}

/// Everything a window shows.
#[derive(Clone, Debug, Default)]
pub struct Scene<'a> {
    /// Width of the surface in physical pixels.
    pub width: u32,
    /// Height of the surface.
    pub height: u32,
    /// Background color.
    pub background: Rgb,
    /// The panes.
    pub panes: Vec<PaneScene<'a>>,
    /// Rectangles over the panes, in drawing order.
    pub quads: Vec<Quad>,
    /// Labels, in drawing order. Within a layer, labels lie over quads.
    pub labels: Vec<Label>,
    /// Where each layer above the first begins: how many quads and how many labels lie below. See [`Scene::raise`].
    pub raised: Vec<(usize, usize)>,
}

impl Scene<'_> {
    /// Begins a new layer. Quads in the new layer cover the labels of earlier layers.
    pub fn raise(&mut self) {
        self.raised.push((self.quads.len(), self.labels.len()));
    }
}
