//! Builds frames from scenes, and caches what the next frame can reuse: fonts, glyphs, shaped rows and labels.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cosmic_text::SwashCache;
use rustc_hash::FxHashMap;
use unterm_term::{
    ExtraCursorColor, LineId, MulticellPart, Palette, Rgb, ScreenKind, Snapshot, SnapshotRow,
    StyleRun, TextRange, Width,
};

use crate::color::PaneColors;
use crate::font::{Ligatures, Stretch};
use crate::fonts::Fonts;
use crate::frame::{Frame, FrameChrome, FramePane, FrameRow};
use crate::glyph_cache::GlyphCache;
use crate::label::Labels;
use crate::picture::Pictures;
use crate::preedit::PreeditCells;
use crate::row::{CursorColors, CursorLook, CursorPart, RowBuilder, RowState};
use crate::shape::Shaper;
use crate::{CellMetrics, FontOptions, PaneScene, PixelRect, Scene, TextOptions};

/// The maximum number of rows of a multicell character.
const MULTICELL_ROWS: usize = 7;

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
    panes: FxHashMap<u64, CachedPane>,
    frame: Arc<Frame>,
}

/// The maximum number of chrome glyphs to cache before the cache is cleared. Programs can set any title, so the number
/// needs a limit.
const MAX_LABEL_GLYPHS: usize = 1 << 12;

/// The rows of a pane, as drawn in the last frame.
#[derive(Default)]
struct CachedPane {
    look: Option<PaneLook>,
    rows: Vec<CachedRow>,
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

struct CachedRow {
    line: LineId,
    revision: u64,
    state: RowState,
    blink_on: bool,
    /// Whether the row has blinking text, so that `blink_on` matters.
    blinks: bool,
    /// The revision of the registered glyphs, if the row has characters that may have one.
    glyphs: Option<u64>,
    /// Whether the row lacks pictures of registered glyphs, so that the next frame builds it again.
    is_unfinished: bool,
    row: Arc<FrameRow>,
}

impl CachedRow {
    /// Whether the cached row still looks like the pane's row.
    fn shows(&self, row: &SnapshotRow, state: &RowState, pane: &PaneScene<'_>) -> bool {
        !self.is_unfinished
            && self.line == row.line
            && self.revision == row.revision
            && self.state == *state
            && (!self.blinks || self.blink_on == pane.blink_on)
            && self.glyphs.is_none_or(|known| known == pane.snapshot.glyphs.revision())
    }
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

    /// Whether the last frame left pictures of registered glyphs to later frames, because it had drawn enough of them.
    pub fn is_unfinished(&self) -> bool {
        self.panes.values().flat_map(|kept| &kept.rows).any(|row| row.is_unfinished)
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

    /// Builds the frame that shows `scene`, with all pictures of registered glyphs, also if that takes long. For pictures
    /// that no later frame completes.
    pub fn complete_frame(&mut self, scene: &Scene<'_>) -> &Frame {
        self.frame(scene);
        // Each frame draws some glyphs, or gives up those that do not fit into the cache.
        while self.is_unfinished() {
            self.frame(scene);
        }
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
        self.glyphs.start_frame();
        // Pictures that fill the cache again and again must not cause new frames forever. If a frame leaves out pictures
        // after the cache was emptied, they are drawn only when their row changes.
        let is_last_try = self.glyphs.is_full();
        if is_last_try {
            tracing::debug!(glyphs = self.glyphs.len(), "glyph cache full: emptied");
            self.forget();
        }
        self.panes.retain(|id, _| panes.iter().any(|pane| pane.id == *id));
        let framed = panes.iter().map(|pane| self.pane(pane, is_last_try)).collect();
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

    /// Builds a pane. Unless `is_last_try`, the next frame builds its unfinished rows again.
    fn pane(&mut self, pane: &PaneScene<'_>, is_last_try: bool) -> FramePane {
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
            registered: &snapshot.glyphs,
            has_private: false,
            is_unfinished: false,
        };
        let cursors = Cursors::new(pane, &colors);
        for (i, row) in snapshot.rows.iter().enumerate() {
            let apart = builder.fonts.ligatures == Ligatures::Cursor;
            let state = row_state(pane, &cursors, i, row, apart);
            // The line numbers in a viewport are consecutive, so a subtraction finds the index of a row that scrolled.
            let known = if stays {
                kept.rows.get(i)
            } else {
                let at = row.line.0.checked_sub(first).and_then(|at| usize::try_from(at).ok());
                at.and_then(|at| before.get(at))
            };
            let known = known.filter(|known| known.shows(row, &state, pane));
            if stays && known.is_some() {
                continue;
            }
            let (row_picture, blinks, glyphs, is_unfinished) = match known {
                Some(known) => (known.row.clone(), known.blinks, known.glyphs, false),
                None => {
                    builder.has_private = false;
                    builder.is_unfinished = false;
                    let mut picture = builder.build(row, cols, &state);
                    picture.version = VERSIONS.fetch_add(1, Ordering::Relaxed);
                    let blinks = row
                        .styles
                        .iter()
                        .any(|run| run.style.attrs.contains(unterm_term::Attrs::BLINK));
                    let glyphs = builder.has_private.then(|| snapshot.glyphs.revision());
                    let is_unfinished = builder.is_unfinished && !is_last_try;
                    (Arc::new(picture), blinks, glyphs, is_unfinished)
                }
            };
            let made = CachedRow {
                line: row.line,
                revision: row.revision,
                state,
                blink_on: pane.blink_on,
                blinks,
                glyphs,
                is_unfinished,
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

/// What a row shows besides its content: selection, highlights, cursors and composed text.
fn row_state(
    pane: &PaneScene<'_>,
    cursors: &Cursors,
    index: usize,
    row: &SnapshotRow,
    apart: bool,
) -> RowState {
    let snapshot = pane.snapshot;
    let cols = snapshot.size.cols;
    let cursor = snapshot.cursor;
    let here = usize::from(cursor.row) == index;
    let preedit = pane.preedit.filter(|_| here).and_then(|preedit| {
        let cols = cols.div_ceil(Stretch::of(row.size).across() as u16);
        PreeditCells::new(preedit, cursor.col.min(cols - 1), cols)
    });
    let lit = !cursor.blinking || pane.blink_on || !pane.focused;
    let composes = here && preedit.is_some() || !here && pane.preedit.is_some();
    let shown = cursor.visible && lit && cursor.col < cols && !composes;
    let look = CursorLook::new(cursor.shape, pane.focused);
    let place = (usize::from(cursor.row), cursor.col);
    let main = cursor_part(snapshot, place, index, look, cursors.main).filter(|_| shown);
    let mut extra = if lit { cursors.extra(pane, index, row) } else { Vec::new() };
    if let Some(main) = main {
        extra.retain(|extra| extra.col != main.col);
    }
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
        cursors: extra.into_iter().chain(main).collect(),
        apart: (here && apart && cursor.visible).then_some(cursor.col),
        hovered: hovered.cloned(),
        preedit: preedit.map(Arc::new),
    }
}

/// The part of a cursor that row `index` of a viewport shows. `at`, `col`: the cursor's row and column.
fn cursor_part(
    snapshot: &Snapshot,
    (at, col): (usize, u16),
    index: usize,
    look: CursorLook,
    colors: CursorColors,
) -> Option<CursorPart> {
    let single = CursorPart { col, look, row: 0, rows: 1, colors };
    let part = snapshot.rows.get(at).and_then(|row| row.multicell(col));
    let Some(part) = part else { return (at == index).then_some(single) };
    let rows = part.size.rows();
    let row = (index + usize::from(part.row)).checked_sub(at)?;
    let row = u16::try_from(row).ok().filter(|row| *row < rows)?;
    Some(CursorPart { col: part.col, row, rows, ..single })
}

/// The colors of a pane's cursors.
struct Cursors {
    main: CursorColors,
    extra: CursorColors,
}

impl Cursors {
    fn new(pane: &PaneScene<'_>, colors: &PaneColors<'_>) -> Self {
        let snapshot = pane.snapshot;
        let (palette, cursor) = (&snapshot.palette, snapshot.cursor);
        let main = CursorColors { cursor: palette.cursor, text: palette.cursor_text };
        if snapshot.extra_cursors.is_empty() {
            return Self { main, extra: main };
        }
        // An extra cursor has exactly the colors of the main cursor, even if they depend on the main cursor's cell.
        let row = snapshot.rows.get(usize::from(cursor.row));
        let is_here = |run: &&StyleRun| (run.start..run.end).contains(&cursor.col);
        let style = row.and_then(|row| row.styles.iter().find(is_here)).map(|run| run.style);
        let cell = colors.cell(&style.unwrap_or_default());
        let shown = |color, main: Rgb| match color {
            ExtraCursorColor::Main => Some(main),
            ExtraCursorColor::Reverse => None,
            ExtraCursorColor::Indexed(index) => Some(palette.colors[usize::from(index)]),
            ExtraCursorColor::Rgb(color) => Some(color),
        };
        let asked = snapshot.extra_cursor_colors;
        let extra = match asked.cursor {
            ExtraCursorColor::Reverse => CursorColors::default(),
            color => CursorColors {
                cursor: shown(color, main.cursor.unwrap_or(cell.foreground)),
                text: shown(asked.text, main.text.unwrap_or(cell.background)),
            },
        };
        Self { main, extra }
    }

    /// The parts of extra cursors that row `index` of a viewport shows.
    fn extra(&self, pane: &PaneScene<'_>, index: usize, row: &SnapshotRow) -> Vec<CursorPart> {
        let snapshot = pane.snapshot;
        if snapshot.extra_cursors.is_empty() {
            return Vec::new();
        }
        let cols = snapshot.size.cols;
        let in_row = |at: usize, row: &SnapshotRow| {
            let cursors = snapshot.extra_cursors_in(row.line).iter();
            let parts = cursors.filter(|cursor| cursor.col < cols).filter_map(|cursor| {
                let shape = cursor.shape.unwrap_or(snapshot.cursor.shape);
                let look = CursorLook::new(shape, pane.focused);
                cursor_part(snapshot, (at, cursor.col), index, look, self.extra)
            });
            parts.collect::<Vec<_>>()
        };
        if row.multicells.is_empty() {
            return in_row(index, row);
        }
        // A cursor on another row of a multicell character also covers this row.
        let first = index.saturating_sub(MULTICELL_ROWS);
        let last = (index + MULTICELL_ROWS).min(snapshot.rows.len() - 1);
        let near = (first..=last).filter_map(|at| Some(in_row(at, snapshot.rows.get(at)?)));
        near.flatten().collect()
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
