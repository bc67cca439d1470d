//! Builds frames from scenes, and caches what the next frame can reuse: fonts, glyphs, shaped rows and labels.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cosmic_text::SwashCache;
use rustc_hash::FxHashMap;
use unterm_term::{
    LineId, MulticellPart, Palette, ScreenKind, Snapshot, SnapshotRow, TextRange, Width,
};

use crate::color::PaneColors;
use crate::font::Stretch;
use crate::fonts::Fonts;
use crate::frame::{Frame, FrameChrome, FramePane, FrameRow};
use crate::glyph::GlyphCache;
use crate::label::Labels;
use crate::ligature::Ligatures;
use crate::picture::Pictures;
use crate::preedit::PreeditCells;
use crate::row::{CursorLook, CursorPart, RowBuilder, RowState};
use crate::shape::Shaper;
use crate::{CellMetrics, FontOptions, PaneScene, PixelRect, Scene, TextOptions};

/// The source of row versions. All renderers share it, so that one painter can paint frames of several renderers.
static VERSIONS: AtomicU64 = AtomicU64::new(1);

/// Builds frames. Caches fonts, shaped rows and glyphs between frames.
pub struct Renderer {
    options: FontOptions,
    text: TextOptions,
    pub(crate) fonts: Fonts,
    pub(crate) glyphs: GlyphCache,
    shaper: Shaper,
    labels: Labels,
    pictures: Pictures,
    /// Rasterized chrome text, for the CPU painter.
    pub(crate) swash: SwashCache,
    panes: FxHashMap<u64, KeptPane>,
    frame: Arc<Frame>,
}

/// The maximum number of chrome glyphs to cache before the cache is cleared. Programs can set any title, so the number
/// needs a limit.
const MAX_LABEL_GLYPHS: usize = 1 << 12;

/// The rows of a pane, as drawn in the last frame.
#[derive(Default)]
struct KeptPane {
    look: Option<PaneLook>,
    rows: Vec<KeptRow>,
}

/// State that affects every row of a pane.
#[derive(Clone, PartialEq)]
struct PaneLook {
    palette: Arc<Palette>,
    reversed: bool,
    dim: u8,
    contrast: (f32, f32),
    screen: ScreenKind,
    cols: u16,
    reorders: bool,
}

struct KeptRow {
    line: LineId,
    revision: u64,
    state: RowState,
    blink_on: bool,
    /// Whether the row has blinking text, so that `blink_on` matters.
    blinks: bool,
    row: Arc<FrameRow>,
}

impl Renderer {
    /// A renderer with these fonts. Never fails: if the system has no fonts, it draws with the bundled one.
    pub fn new(options: FontOptions) -> Self {
        Self {
            fonts: Fonts::new(&options),
            options,
            text: TextOptions::default(),
            glyphs: GlyphCache::default(),
            shaper: Shaper::default(),
            labels: Labels::default(),
            pictures: Pictures::default(),
            swash: SwashCache::new(),
            panes: FxHashMap::default(),
            frame: Arc::default(),
        }
    }

    /// Changes fonts, size or scale.
    pub fn set_fonts(&mut self, options: FontOptions) {
        if options != self.options {
            self.fonts.configure(&options);
            self.options = options;
            self.labels.clear();
            self.forget();
        }
    }

    /// The configured families that are not installed, each once.
    pub fn missing_families(&self) -> &[String] {
        &self.fonts.missing
    }

    /// The names of all families that the user can choose: the bundled family, and the system's families once they are
    /// listed.
    pub fn families(&self) -> Vec<String> {
        let faces = self.fonts.system.db().faces();
        let mut names: Vec<String> =
            faces.flat_map(|face| face.families.iter().map(|(name, _)| name.clone())).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Changes how text is drawn.
    pub fn set_text(&mut self, options: TextOptions) {
        self.text = options;
    }

    /// Measures of a cell in the current font.
    pub fn metrics(&self) -> CellMetrics {
        self.fonts.metrics
    }

    /// Width of a label's text in pixels.
    pub fn label_width(&mut self, text: &str, size: f32, bold: bool) -> f32 {
        self.labels.width(&mut self.fonts, text, size, bold)
    }

    /// The last frame built, or an empty frame before the first.
    pub fn last_frame(&self) -> &Arc<Frame> {
        &self.frame
    }

    /// The glyphs that frames refer to.
    pub fn glyphs(&self) -> &GlyphCache {
        &self.glyphs
    }

    /// Builds the frame that shows `scene`. Reuses rows that have not changed since the last call.
    pub fn frame(&mut self, scene: &Scene<'_>) -> &Frame {
        if self.swash.image_cache.len() > MAX_LABEL_GLYPHS {
            self.swash = SwashCache::new();
        }
        let panes = self.panes(&scene.panes);
        let labels = self.labels.lay_out(&mut self.fonts, &scene.labels);
        let (quads, raised) = (scene.quads.clone(), scene.raised.clone());
        self.frame = Arc::new(Frame {
            width: scene.width,
            height: scene.height,
            background: scene.background,
            blending: self.text.blending,
            glyphs: self.glyphs.generation(),
            panes,
            chrome: Arc::new(FrameChrome { quads, labels, raised }),
        });
        &self.frame
    }

    /// Builds a frame that shows `panes` and keeps everything else from the last frame.
    pub fn frame_with_panes(&mut self, panes: &[PaneScene<'_>]) -> &Frame {
        let panes = self.panes(panes);
        let glyphs = self.glyphs.generation();
        let Frame { width, height, background, blending, .. } = *self.frame;
        let chrome = Arc::clone(&self.frame.chrome);
        self.frame = Arc::new(Frame { width, height, background, blending, glyphs, panes, chrome });
        &self.frame
    }

    fn panes(&mut self, panes: &[PaneScene<'_>]) -> Vec<FramePane> {
        if self.glyphs.is_full() {
            tracing::debug!(glyphs = self.glyphs.len(), "glyph cache full: emptied");
            self.forget();
        }
        self.panes.retain(|id, _| panes.iter().any(|pane| pane.id == *id));
        let framed = panes.iter().map(|pane| self.pane(pane)).collect();
        self.pictures.sweep();
        framed
    }

    /// Discards every glyph and all cached rows and labels that refer to glyphs.
    fn forget(&mut self) {
        self.glyphs.clear();
        self.shaper.clear();
        self.panes.clear();
        self.swash = SwashCache::new();
    }

    fn pane(&mut self, pane: &PaneScene<'_>) -> FramePane {
        let snapshot = pane.snapshot;
        let colors = PaneColors::new(&snapshot.palette, snapshot.modes, pane.dim, &self.text);
        let cols = snapshot.size.cols;
        let reorders = self.text.reorders(snapshot.modes);
        let look = PaneLook {
            palette: snapshot.palette.clone(),
            reversed: colors.reversed,
            dim: colors.dim,
            contrast: (colors.contrast, colors.palette_contrast),
            screen: snapshot.screen,
            cols,
            reorders,
        };
        let mut kept = self.panes.remove(&pane.id).unwrap_or_default();
        if kept.look.as_ref() != Some(&look) {
            kept.rows.clear();
        }
        let first = kept.rows.first().map_or(0, |row| row.line.0);
        // Most frames differ in one row from the last frame, and the other rows stay in place.
        let stays = kept.rows.len() == snapshot.rows.len()
            && snapshot.rows.first().is_some_and(|row| row.line.0 == first);
        let before = if stays { Vec::new() } else { std::mem::take(&mut kept.rows) };
        let mut builder = RowBuilder {
            fonts: &mut self.fonts,
            glyphs: &mut self.glyphs,
            shaper: &mut self.shaper,
            colors,
            blink_on: pane.blink_on,
            reorders,
        };
        for (i, row) in snapshot.rows.iter().enumerate() {
            let apart = builder.fonts.ligatures == Ligatures::Cursor;
            let state = row_state(pane, i, row, apart);
            // The line numbers in a viewport are consecutive, so a subtraction finds the index of a row that scrolled.
            let known = if stays {
                kept.rows.get(i)
            } else {
                let at = row.line.0.checked_sub(first).and_then(|at| usize::try_from(at).ok());
                at.and_then(|at| before.get(at))
            };
            let known = known.filter(|known| {
                known.line == row.line
                    && known.revision == row.revision
                    && known.state == state
                    && (!known.blinks || known.blink_on == pane.blink_on)
            });
            if stays && known.is_some() {
                continue;
            }
            let (row_picture, blinks) = match known {
                Some(known) => (known.row.clone(), known.blinks),
                None => {
                    let mut picture = builder.build(row, cols, &state);
                    picture.version = VERSIONS.fetch_add(1, Ordering::Relaxed);
                    let blinks = row
                        .styles
                        .iter()
                        .any(|run| run.style.attrs.contains(unterm_term::Attrs::BLINK));
                    (Arc::new(picture), blinks)
                }
            };
            let made = KeptRow {
                line: row.line,
                revision: row.revision,
                state,
                blink_on: pane.blink_on,
                blinks,
                row: row_picture,
            };
            match kept.rows.get_mut(i).filter(|_| stays) {
                Some(place) => *place = made,
                None => kept.rows.push(made),
            }
        }
        kept.look = Some(look);
        let framed = FramePane {
            id: pane.id,
            area: pane.area,
            origin: (pane.origin.0, pane.origin.1 - pane.shift as i32),
            seen: seen(pane, self.fonts.metrics.height),
            grid: grid(pane, self.fonts.metrics),
            row_height: self.fonts.metrics.height,
            background: colors.background(),
            opacity: (pane.opacity.clamp(0.0, 1.0) * 255.0).round() as u8,
            rows: kept.rows.iter().map(|row| row.row.clone()).collect(),
            images: self.pictures.place(pane, self.fonts.metrics, colors.dim),
        };
        self.panes.insert(pane.id, kept);
        framed
    }
}

/// The area of a pane in which rows are visible.
fn seen(pane: &PaneScene<'_>, row: u32) -> PixelRect {
    if pane.shift == 0 {
        return pane.area;
    }
    let height = u32::from(pane.snapshot.size.rows) * row;
    let rows = PixelRect { y: pane.origin.1, height, ..pane.area };
    rows.intersection(&pane.area)
}

/// The area of a pane's cells.
fn grid(pane: &PaneScene<'_>, cell: CellMetrics) -> PixelRect {
    let size = pane.snapshot.size;
    let (x, y) = pane.origin;
    let (width, height) = (u32::from(size.cols) * cell.width, u32::from(size.rows) * cell.height);
    PixelRect { x, y, width, height }.intersection(&pane.area)
}

/// What a row shows besides its content: selection, highlights, cursor and composed text.
fn row_state(pane: &PaneScene<'_>, index: usize, row: &SnapshotRow, apart: bool) -> RowState {
    let snapshot = pane.snapshot;
    let cols = snapshot.size.cols;
    let cursor = snapshot.cursor;
    let here = usize::from(cursor.row) == index;
    let preedit = pane.preedit.filter(|_| here).and_then(|preedit| {
        let cols = cols.div_ceil(Stretch::of(row.size).across() as u16);
        PreeditCells::new(preedit, cursor.col.min(cols - 1), cols)
    });
    let lit = !cursor.blinking || pane.blink_on || !pane.focused;
    let covered = cursor_part(snapshot, index, CursorLook::new(cursor.shape, pane.focused));
    let composes = here && preedit.is_some() || !here && pane.preedit.is_some();
    let shown = cursor.visible && lit && cursor.col < cols && !composes;
    let hovered = pane.hovered_link.filter(|link| {
        row.styles.iter().any(|run| run.link.as_deref().is_some_and(|own| own == *link))
    });
    RowState {
        selected: match &pane.selection {
            Some(range) => {
                let columns = selected_columns(range, row, cols).into_iter();
                columns.chain(multicells_in(range, row, cols)).collect()
            }
            None => Vec::new(),
        },
        highlights: pane
            .highlights
            .iter()
            .flat_map(|one| {
                let columns = selected_columns(&one.range, row, cols).into_iter();
                let all = columns.chain(multicells_in(&one.range, row, cols));
                all.map(|columns| (columns, one.current))
            })
            .collect(),
        cursor: covered.filter(|_| shown),
        apart: (here && apart && cursor.visible).then_some(cursor.col),
        hovered: hovered.cloned(),
        preedit: preedit.map(Arc::new),
    }
}

/// The part of the cursor that row `index` of a viewport shows.
fn cursor_part(snapshot: &Snapshot, index: usize, look: CursorLook) -> Option<CursorPart> {
    let cursor = snapshot.cursor;
    let at = usize::from(cursor.row);
    if snapshot.rows.get(at).is_none_or(|row| row.multicells.is_empty()) {
        return (at == index).then_some(CursorPart { col: cursor.col, look, row: 0, rows: 1 });
    }
    match snapshot.rows[at].multicell(cursor.col) {
        Some(part) => {
            let rows = part.size.rows();
            let row = (index + usize::from(part.row)).checked_sub(at)?;
            let row = u16::try_from(row).ok().filter(|row| *row < rows)?;
            Some(CursorPart { col: part.col, look, row, rows })
        }
        None => (at == index).then_some(CursorPart { col: cursor.col, look, row: 0, rows: 1 }),
    }
}

/// The columns of those multicell characters in `row` that a selection touches, in any of their rows. A multicell
/// character is always selected whole.
fn multicells_in<'a>(
    range: &'a TextRange,
    row: &'a SnapshotRow,
    cols: u16,
) -> impl Iterator<Item = Range<u16>> + 'a {
    let touches = move |part: &MulticellPart| {
        let columns = part.columns();
        (0..part.size.rows()).any(|below| {
            let line = (row.line.0 + u64::from(below)).checked_sub(u64::from(part.row));
            let span = line.and_then(|line| columns_of_line(range, LineId(line), cols));
            span.is_some_and(|(from, to)| from < columns.end && columns.start < to)
        })
    };
    row.multicells.iter().filter(move |part| touches(part)).map(|part| part.columns())
}

/// The first selected column of a line, and the column after the last.
fn columns_of_line(range: &TextRange, line: LineId, cols: u16) -> Option<(u16, u16)> {
    let (start, end) = (range.start, range.end);
    if line < start.line || line > end.line {
        return None;
    }
    let (from, to) = if range.block {
        (start.col.min(end.col), start.col.max(end.col).saturating_add(1))
    } else {
        (
            if line == start.line { start.col } else { 0 },
            if line == end.line { end.col.saturating_add(1) } else { cols },
        )
    };
    Some((from, to.min(cols)))
}

/// The selected columns of `row`.
fn selected_columns(range: &TextRange, row: &SnapshotRow, cols: u16) -> Option<Range<u16>> {
    let (mut from, mut to) = columns_of_line(range, row.line, cols)?;
    // Half of a wide character can't be selected.
    let tail = |col: u16| {
        let cell = row.cells.get(usize::from(col));
        cell.is_some_and(|cell| cell.width() == Width::Tail && !cell.is_multicell())
    };
    if from > 0 && tail(from) {
        from -= 1;
    }
    if to < cols && tail(to) {
        to += 1;
    }
    (from < to).then_some(from..to)
}
