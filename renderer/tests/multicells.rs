//! Multicell characters (OSC 66): drawn over their blocks, at their final size, and the same by both painters.

use crate::support::{gpu, pane, scene};
use unterm_renderer::{CpuPainter, FontOptions, PaneScene, Renderer};
use unterm_term::{LineId, Options, Parser, Point, Size, Snapshot, Term, TextRange};

const COLS: u16 = 24;
const ROWS: u16 = 8;
/// Padding of the pane around its cells, in pixels.
const PADDING: usize = 8;

fn snapshot(bytes: &str) -> Snapshot {
    let mut term = Term::new(Size::cells(COLS, ROWS), Options::default());
    Parser::new().advance(&mut term, bytes.as_bytes());
    let mut snapshot = Snapshot::default();
    term.snapshot(&mut snapshot, None);
    snapshot.cursor.visible = false;
    snapshot
}

/// A picture of a pane, measured in cells.
struct Picture {
    pixels: Vec<u32>,
    width: usize,
    cell: (usize, usize),
}

impl Picture {
    fn of(bytes: &str) -> Self {
        Self::with(&snapshot(bytes), |_| {})
    }

    fn with(snapshot: &Snapshot, change: impl FnOnce(&mut PaneScene<'_>)) -> Self {
        let mut renderer = Renderer::new(FontOptions { size: 18.0, ..FontOptions::default() });
        let metrics = renderer.metrics();
        let mut pane = pane(snapshot, metrics);
        change(&mut pane);
        let scene = scene(pane);
        renderer.frame(&scene);
        let cell = (metrics.width as usize, metrics.height as usize);
        Self { pixels: CpuPainter::picture(&mut renderer), width: scene.width as usize, cell }
    }

    /// The pixels of the part that starts at cell `from` and is `size` cells large. Both may be fractions of a cell.
    fn part(&self, from: (f32, f32), size: (f32, f32)) -> Vec<Vec<u32>> {
        let pixel = |cells: f32, size: usize| (cells * size as f32).round() as usize;
        let (x, y) = (pixel(from.0, self.cell.0), pixel(from.1, self.cell.1));
        let (width, height) = (pixel(size.0, self.cell.0), pixel(size.1, self.cell.1));
        let row = |y: usize| {
            let start = (y + PADDING) * self.width + x + PADDING;
            self.pixels[start..start + width].to_vec()
        };
        (y..y + height).map(row).collect()
    }

    /// Number of pixels in a part that differ from the picture's first pixel.
    fn ink(&self, from: (f32, f32), size: (f32, f32)) -> usize {
        let part = self.part(from, size);
        let ground = self.pixels[0];
        part.iter().flatten().filter(|pixel| **pixel != ground).count()
    }
}

#[test]
fn text_fills_its_block_and_nothing_else() {
    let picture = Picture::of("\x1b]66;s=3;H\x07");
    for row in 0..3 {
        assert!(picture.ink((0.0, row as f32), (3.0, 1.0)) > 0, "row {row} of the block");
    }
    assert_eq!(picture.ink((3.0, 0.0), (21.0, 8.0)), 0, "beside the block");
    assert_eq!(picture.ink((0.0, 3.0), (24.0, 5.0)), 0, "below the block");
    // The area is nine times as large, apart from the effects of hinting and edges.
    let small = Picture::of("H").ink((0.0, 0.0), (1.0, 1.0)) as f32;
    let ratio = picture.ink((0.0, 0.0), (3.0, 3.0)) as f32 / small;
    assert!((5.0..13.0).contains(&ratio), "{ratio}");
}

#[test]
fn text_is_rasterized_at_its_final_size() {
    // If the picture were enlarged after rasterizing, each pixel would appear four times.
    let picture = Picture::of("\x1b]66;s=2;S\x07");
    let part = picture.part((0.0, 0.0), (2.0, 2.0));
    let blocks = part.chunks_exact(2).flat_map(|rows| {
        let (upper, lower) = (rows[0].chunks_exact(2), rows[1].chunks_exact(2));
        upper.zip(lower).map(|(upper, lower)| [upper[0], upper[1], lower[0], lower[1]])
    });
    let mixed = blocks.filter(|block| block.iter().any(|pixel| *pixel != block[0])).count();
    assert!(mixed > 20, "{mixed}");
}

#[test]
fn fractional_text_follows_its_alignment() {
    let half = |more: &str| Picture::of(&format!("\x1b]66;s=2:w=2:n=1:d=2{more};H\x07"));
    let places = [
        (":v=0:h=0", (0.0, 0.0)),
        (":v=1:h=0", (0.0, 1.0)),
        (":v=0:h=1", (3.0, 0.0)),
        (":v=1:h=1", (3.0, 1.0)),
        (":v=2:h=2", (1.5, 0.5)),
    ];
    let alone = Picture::of("H").ink((0.0, 0.0), (1.0, 1.0));
    for (more, place) in places {
        let picture = half(more);
        let all = picture.ink((0.0, 0.0), (4.0, 2.0));
        assert_eq!(picture.ink(place, (1.0, 1.0)), all, "{more}");
        // Text at half size in a block of twice the size has the normal size.
        assert!(all.abs_diff(alone) * 10 <= alone, "{more}: {all}, {alone} alone");
    }
    // Two characters in one cell form a superscript.
    let picture = Picture::of("\x1b]66;n=1:d=2:w=1;HH\x07");
    assert!(picture.ink((0.0, 0.0), (0.5, 0.6)) > 0 && picture.ink((0.5, 0.0), (0.5, 0.6)) > 0);
    assert_eq!(picture.ink((0.0, 0.6), (1.0, 0.4)), 0);
}

#[test]
fn multicell_characters_form_no_ligatures() {
    let picture = Picture::of("=\x1b]66;n=1:d=2:w=1;>\x07");
    assert!(picture.ink((1.0, 0.0), (0.5, 0.6)) > 0, "half as large");
    assert_eq!(picture.ink((1.5, 0.0), (0.5, 1.0)), 0);
    let alone = Picture::of("=");
    assert_eq!(picture.part((0.0, 0.0), (1.0, 1.0)), alone.part((0.0, 0.0), (1.0, 1.0)));
}

#[test]
fn text_too_long_for_its_block_is_shrunk() {
    let picture = Picture::of("\x1b]66;w=2;HHHHHH\x07");
    assert_eq!(picture.ink((2.0, 0.0), (22.0, 1.0)), 0);
    for sixth in 0..6 {
        assert!(picture.ink((sixth as f32 / 3.0, 0.0), (1.0 / 3.0, 1.0)) > 0, "character {sixth}");
    }
}

#[test]
fn a_block_that_scrolls_off_shows_its_lower_rows() {
    let whole = Picture::of("\x1b]66;s=3;E\x07");
    let rest = Picture::of("\x1b]66;s=3;E\x07\x1b[2S");
    assert_eq!(rest.part((0.0, 0.0), (3.0, 1.0)), whole.part((0.0, 2.0), (3.0, 1.0)));
    assert_eq!(rest.ink((0.0, 1.0), (24.0, 7.0)), 0);
}

#[test]
fn background_lines_cursor_and_selection_cover_the_block() {
    let block = ((0.0, 0.0), (2.0, 2.0));
    let count = |picture: &Picture| picture.ink(block.0, block.1);
    let (width, height) = Picture::of("").cell;
    let all = 4 * width * height;
    assert_eq!(count(&Picture::of("\x1b[41m\x1b]66;s=2; \x07\x1b[m")), all, "background");
    // A line of the full width, near the bottom of the lower row.
    let lined = Picture::of("\x1b[4m\x1b]66;s=2; \x07\x1b[m");
    assert_eq!(lined.ink((0.0, 0.0), (2.0, 1.0)), 0);
    let line = lined.ink((0.0, 1.0), (2.0, 1.0));
    assert!(line >= 2 * width && line.is_multiple_of(2 * width), "{line}");
    for style in ["4:2", "4:3", "4:4", "4:5", "9", "53"] {
        let picture = Picture::of(&format!("\x1b[{style}m\x1b]66;s=2; \x07\x1b[m"));
        assert!(count(&picture) > 0, "SGR {style}");
        assert_eq!(picture.ink((2.0, 0.0), (22.0, 8.0)), 0, "SGR {style}");
    }
    // Selection and cursor apply to the whole block from any of its cells.
    for (line, col) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let mut at = snapshot("\x1b]66;s=2; \x07");
        let point = Point { line: LineId(line), col };
        let range = TextRange { start: point, end: point, block: false };
        let selected = Picture::with(&at, |pane| pane.selection = Some(range));
        assert_eq!(count(&selected), all, "selected at {line}, {col}");
        assert_eq!(selected.ink((2.0, 0.0), (22.0, 8.0)), 0);
        (at.cursor.row, at.cursor.col, at.cursor.visible) = (line as u16, col, true);
        let covered = Picture::with(&at, |pane| pane.focused = true);
        assert_eq!(count(&covered), all, "cursor at {line}, {col}");
        // Without focus, the cursor is one outline: nothing in the middle.
        let hollow = Picture::with(&at, |pane| pane.focused = false);
        assert!(count(&hollow) > 0 && hollow.ink((0.5, 0.5), (1.0, 1.0)) == 0);
        at.cursor.shape = unterm_term::CursorShape::Underline;
        let below = Picture::with(&at, |pane| pane.focused = true);
        assert_eq!(below.ink((0.0, 0.0), (2.0, 1.0)), 0, "a line under all of it");
        assert!(below.ink((0.0, 1.0), (2.0, 1.0)) > 0);
    }
}

#[test]
fn both_painters_draw_the_same() {
    let Some(mut gpu) = gpu() else { return };
    let bytes = "\x1b[32;44m\x1b]66;s=2;Aé日\x07\x1b[m x\x1b]66;n=1:d=2:w=1;ab\x07\x1b[3;1H\
                 \x1b[1;4:3m\x1b]66;s=3:n=2:d=3:v=2:h=2:w=3;🦀ok\x07\x1b[m\x1b]66;s=7:w=1;─\x07";
    let snapshot = snapshot(bytes);
    let mut renderer = Renderer::new(FontOptions::default());
    let metrics = renderer.metrics();
    let range = TextRange {
        start: Point { line: LineId(1), col: 1 },
        end: Point { line: LineId(2), col: 3 },
        block: false,
    };
    let mut pane = pane(&snapshot, metrics);
    pane.selection = Some(range);
    renderer.frame(&scene(pane));
    let frame = renderer.last_frame().clone();
    gpu.paint(&mut renderer);
    let painted = gpu.read().expect("a picture");
    let expected = CpuPainter::picture(&mut renderer);
    assert_eq!(painted.len(), expected.len());
    let differ = |(a, b): (&u32, &u32)| {
        a.to_be_bytes().iter().zip(b.to_be_bytes()).any(|(a, b)| a.abs_diff(b) > 2)
    };
    let different = painted.iter().zip(&expected).filter(|pair| differ(*pair)).count();
    assert_eq!(different, 0, "of {} × {}", frame.width, frame.height);
}
