//! Snapshots built by hand, for the renderer's tests and benches.
#![allow(dead_code, reason = "the bench uses a part of it")]

use std::sync::Arc;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;
use unterm_renderer::{CellMetrics, GpuPainter, PainterError, PaneScene, PixelRect, Scene};
use unterm_term::{
    Attrs, Cell, Color, Cursor, LineId, Link, Rgb, Size, Snapshot, SnapshotRow, Style, StyleRun,
    Underline,
};

/// Reports that this machine can't run a test. If `UNTERM_NEEDS_ALL` is set, as in `packaging/test`, a skipped test is
/// a failure.
pub fn skip(why: &str) {
    assert!(std::env::var_os("UNTERM_NEEDS_ALL").is_none(), "UNTERM_NEEDS_ALL is set, and {why}");
    eprintln!("SKIPPED: {why}");
}

/// A painter on any adapter; `None` if the machine has no adapter, not even a software one.
pub fn gpu() -> Option<GpuPainter> {
    match GpuPainter::offscreen() {
        Ok(painter) => Some(painter),
        Err(PainterError::NoAdapter(error)) => {
            skip(&format!("there is no graphics adapter at all, not even lavapipe: {error}"));
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Text in one style.
#[derive(Clone, Debug)]
pub struct Run {
    pub text: String,
    pub style: Style,
    pub link: Option<Arc<Link>>,
}

pub fn run(text: &str, style: Style) -> Run {
    Run { text: text.into(), style, link: None }
}

pub fn plain(text: &str) -> Run {
    run(text, Style::default())
}

pub fn attrs(attrs: Attrs) -> Style {
    Style { attrs, ..Style::default() }
}

pub fn underlined(underline: Underline, color: Color) -> Style {
    Style { underline, underline_color: color, ..Style::default() }
}

pub fn colored(foreground: u8, background: u8) -> Style {
    Style {
        foreground: Color::Indexed(foreground),
        background: Color::Indexed(background),
        ..Style::default()
    }
}

/// A row of a snapshot, padded with blanks or cut to `cols` columns.
pub fn row(line: u64, revision: u64, cols: u16, runs: &[Run]) -> SnapshotRow {
    let mut row =
        SnapshotRow { line: LineId(line), revision, wrapped: false, ..SnapshotRow::default() };
    for run in runs {
        let start = row.cells.len() as u16;
        for text in run.text.graphemes(true) {
            let width = text.width().clamp(1, 2);
            if row.cells.len() + width > usize::from(cols) {
                break;
            }
            let mut chars = text.chars();
            let content = match (chars.next(), chars.next()) {
                (Some(c), None) => u64::from(u32::from(c)),
                _ => {
                    row.clusters.push((row.cells.len() as u16, text.into()));
                    1 << 21 | row.clusters.len() as u64
                }
            };
            row.cells.push(Cell(content | (width as u64 - 1) << 22));
            if width == 2 {
                row.cells.push(Cell(2 << 22));
            }
        }
        let end = row.cells.len() as u16;
        if end > start {
            row.styles.push(StyleRun { start, end, style: run.style, link: run.link.clone() });
        }
    }
    let start = row.cells.len() as u16;
    if start < cols {
        row.cells.resize(usize::from(cols), Cell::default());
        row.styles.push(StyleRun { start, end: cols, style: Style::default(), link: None });
    }
    row
}

/// A snapshot of these rows, with a hidden cursor.
pub fn snapshot(cols: u16, rows: &[Vec<Run>]) -> Snapshot {
    Snapshot {
        seq: 1,
        size: Size::cells(cols, rows.len() as u16),
        rows: rows.iter().enumerate().map(|(i, runs)| row(i as u64, 1, cols, runs)).collect(),
        cursor: Cursor::default(),
        ..Snapshot::default()
    }
}

/// A pane with 8 pixels of padding, at the surface's top left corner.
pub fn pane<'a>(snapshot: &'a Snapshot, metrics: CellMetrics) -> PaneScene<'a> {
    let area = PixelRect {
        x: 0,
        y: 0,
        width: metrics.width * u32::from(snapshot.size.cols) + 16,
        height: metrics.height * u32::from(snapshot.size.rows) + 16,
    };
    PaneScene::new(1, snapshot, area, (8, 8))
}

/// A scene that shows only this pane.
pub fn scene(pane: PaneScene<'_>) -> Scene<'_> {
    Scene {
        width: pane.area.width,
        height: pane.area.height,
        background: Rgb::hex(0x11111b),
        panes: vec![pane],
        quads: Vec::new(),
        labels: Vec::new(),
        raised: Vec::new(),
    }
}
