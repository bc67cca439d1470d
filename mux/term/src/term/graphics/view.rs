//! The images a viewer sees: plain data in a [`crate::Snapshot`].

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::kitty::placeholder::{Placeholders, is_placeholder};
use super::pixels::Pixels;
use super::placement::{Anchor, CellSize, PlacementKey};
use super::store::Image;
use crate::grid::RowView;
use crate::grid::cell::Cell;
use crate::grid::tiles::ImageKey;
use crate::grid::tiles::Tile;
use crate::term::Term;

/// The z-index kitty uses for images of placeholders, used here for all images in cells: under the text, over
/// backgrounds.
const CELL_Z: i32 = -1;

/// A rectangle in cells of the viewport; may include parts of cells.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CellRect {
    /// Column of the left edge, may be negative.
    pub left: f32,
    /// Row of the upper edge, may be negative.
    pub top: f32,
    /// Columns.
    pub width: f32,
    /// Rows.
    pub height: f32,
}

/// A rectangle in the pixels of an image; may include parts of pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PixelRect {
    /// Left edge.
    pub x: f32,
    /// Upper edge.
    pub y: f32,
    /// Pixels across.
    pub width: f32,
    /// Pixels down.
    pub height: f32,
}

/// A visible image, or a part of one.
#[derive(Clone, Debug, PartialEq)]
pub struct SnapshotImage {
    /// The pixels of the current frame.
    pub pixels: Arc<Pixels>,
    /// The part of the pixels to draw, within the image.
    pub source: PixelRect,
    /// The position, in cells of the viewport; may extend beyond it on any side.
    pub area: CellRect,
    /// The z-index: from 0 over the text, below 0 under it, below -2³⁰ (`i32::MIN / 2`) also under the backgrounds of
    /// cells. Later images in the list cover earlier ones.
    pub z: i32,
    /// The time of the next frame if the image is animated, on the clock of [`Term::advance_animations`].
    pub next_frame: Option<Duration>,
}

/// The parts of images that fill cells in a row of a snapshot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowImages {
    tiles: Vec<Span>,
    pub(super) placeholders: Vec<Placeholders>,
}

/// Adjacent cells that show adjacent tiles.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Span {
    col: u32,
    first: Tile,
    len: u32,
}

// No number in it is NaN.
impl Eq for RowImages {}

impl RowImages {
    /// Records the images of a row, and blanks their cells in `shown`.
    pub(crate) fn read(&mut self, term: &Term, view: &RowView<'_>, line: u64, shown: &mut [Cell]) {
        self.tiles.clear();
        self.placeholders.clear();
        // One test of each cell's bits rules out nearly every row.
        let images = view.cells.iter().any(|cell| cell.may_be_image());
        if !images {
            return;
        }
        let layer = &term.graphics.shown;
        for (col, cell) in view.cells.iter().enumerate() {
            if cell.tile().is_some() {
                let tile = layer.tiles.find(*cell, line);
                shown[col] = shown[col].blanked();
                match (tile, self.tiles.last_mut()) {
                    (Some(tile), Some(last)) if last.is_followed_by(col as u32, &tile) => {
                        last.len += 1;
                    }
                    (Some(first), _) => self.tiles.push(Span { col: col as u32, first, len: 1 }),
                    (None, _) => {}
                }
            } else if is_placeholder(*cell, &view.tables) {
                shown[col] = shown[col].blanked();
                Placeholders::add(&mut self.placeholders, col as u32, *cell, &view.tables);
            }
        }
    }
}

impl Span {
    fn is_followed_by(&self, col: u32, tile: &Tile) -> bool {
        col == self.col + self.len
            && tile.of.image == self.first.of.image
            && tile.row == self.first.row
            && tile.col == self.first.col + self.len
    }
}

/// Images with lower values are drawn below.
type Order = (i32, u32, ImageKey, PlacementKey);

/// Orders by z-index, then by the program's ids, as the protocol requires. Images without an id lie above those with an
/// id, in order of arrival.
fn order(z: i32, image: &Image, key: ImageKey, placement: PlacementKey) -> Order {
    (z, image.id.wrapping_sub(1), key, placement)
}

/// Spans of tiles in adjacent rows that form one rectangle.
struct Block {
    span: Span,
    row: usize,
    rows: u32,
}

impl Term {
    /// The visible images in drawing order. `rows`: the images in the cells of each visible row, from line `first` on.
    pub(crate) fn visible_images(&self, first: u64, rows: &[&RowImages]) -> Vec<SnapshotImage> {
        let mut images = Vec::new();
        self.view_tiles(rows, &mut images);
        let mut origins = HashMap::new();
        self.view_placeholders(rows, &mut images, &mut origins);
        self.view_placements(first, rows.len(), &origins, &mut images);
        images.sort_by_key(|(order, _)| *order);
        images.into_iter().map(|(_, image)| image).collect()
    }

    fn view_tiles(&self, rows: &[&RowImages], images: &mut Vec<(Order, SnapshotImage)>) {
        let mut blocks: Vec<Block> = Vec::new();
        for (row, shown) in rows.iter().enumerate() {
            for span in &shown.tiles {
                let above = blocks.iter_mut().rev().take(64).find(|block| {
                    let (a, b) = (&block.span, span);
                    block.row + block.rows as usize == row
                        && (a.col, a.len, a.first.of.image, a.first.col)
                            == (b.col, b.len, b.first.of.image, b.first.col)
                        && a.first.row + block.rows == b.first.row
                });
                match above {
                    Some(block) => block.rows += 1,
                    None => blocks.push(Block { span: *span, row, rows: 1 }),
                }
            }
        }
        for Block { span, row, rows } in blocks {
            let Tile { of, col, row: tile_row } = span.first;
            let Some(image) = self.graphics.shown.store.get(of.image) else { continue };
            let whole = (image.width() as f32, image.height() as f32);
            let (across, down) = of.per_cell;
            let (x, y) = (col as f32 * across, tile_row as f32 * down);
            // The last column and row may hold less of the image than a whole cell.
            let width = (span.len as f32 * across).min(whole.0 - x);
            let height = (rows as f32 * down).min(whole.1 - y);
            if width <= 0.0 || height <= 0.0 {
                continue;
            }
            let area = CellRect {
                left: span.col as f32,
                top: row as f32,
                width: width / across,
                height: height / down,
            };
            let shown = SnapshotImage {
                pixels: image.shown().clone(),
                source: PixelRect { x, y, width, height },
                area,
                z: CELL_Z,
                next_frame: image.next_frame(),
            };
            images.push((order(CELL_Z, image, of.image, 0), shown));
        }
    }

    fn view_placements(
        &self,
        first: u64,
        rows: usize,
        origins: &HashMap<u64, (i64, i64)>,
        images: &mut Vec<(Order, SnapshotImage)>,
    ) {
        let cell = self.cell_size();
        let layer = &self.graphics.shown;
        let virtual_at = |key| origins.get(&key).map(|&(col, row)| (col, row + first as i64));
        for (key, placement) in layer.placements() {
            if matches!(placement.anchor, Anchor::Virtual) {
                continue;
            }
            let Some((col, line)) = layer.position(key, &virtual_at) else { continue };
            let Some(image) = layer.store.get(placement.image) else { continue };
            let top = line - first as i64;
            let (cols, height_cells) = placement.cells(cell);
            let (width, height) = placement.pixels(cell);
            let in_rows = top < rows as i64 && top + height_cells as i64 > 0;
            let in_cols = col < self.grid.cols() as i64 && col + cols as i64 > 0;
            if !in_rows || !in_cols || width <= 0.0 || height <= 0.0 {
                continue;
            }
            let (x, y) = placement.offset(cell);
            let CellSize { width: w, height: h } = cell;
            let source = placement.source;
            let shown = SnapshotImage {
                pixels: image.shown().clone(),
                source: PixelRect {
                    x: source.x,
                    y: source.y,
                    width: source.width,
                    height: source.height,
                },
                area: CellRect {
                    left: col as f32 + x as f32 / w as f32,
                    top: top as f32 + y as f32 / h as f32,
                    width: width / w as f32,
                    height: height / h as f32,
                },
                z: placement.z,
                next_frame: image.next_frame(),
            };
            images.push((order(placement.z, image, placement.image, key), shown));
        }
    }

    fn view_placeholders(
        &self,
        rows: &[&RowImages],
        images: &mut Vec<(Order, SnapshotImage)>,
        origins: &mut HashMap<u64, (i64, i64)>,
    ) {
        let cell = self.cell_size();
        let layer = &self.graphics.shown;
        for (row, shown) in rows.iter().enumerate() {
            for run in &shown.placeholders {
                let Some((key, placement)) = layer.virtual_placement(run.image, run.placement)
                else {
                    continue;
                };
                let origin = origins.entry(key).or_insert((run.col as i64, row as i64));
                *origin = (origin.0.min(run.col as i64), origin.1.min(row as i64));
                let Some(image) = layer.store.get(placement.image) else { continue };
                if let Some(part) = run.part(placement, image, row, cell) {
                    let shown = SnapshotImage {
                        pixels: image.shown().clone(),
                        source: part.0,
                        area: part.1,
                        z: CELL_Z,
                        next_frame: image.next_frame(),
                    };
                    images.push((order(CELL_Z, image, placement.image, key), shown));
                }
            }
        }
    }
}
