//! Unicode placeholders: text that shows pieces of an image.
//!
//! A cell with U+10EEEE shows one cell of an image. Diacritics specify the row and column in the image, and the cell's
//! color is the image's id. Values that a cell omits continue from the cell to its left.

use super::diacritics::value;
use crate::Color;
use crate::grid::cell::{Cell, Content};
use crate::grid::tables::TablesView;
use crate::grid::tiles::PLACEHOLDER;
use crate::term::graphics::Layer;
use crate::term::graphics::placement::{Anchor, CellSize, Placement, PlacementKey};
use crate::term::graphics::store::Image;
use crate::term::graphics::view::{CellRect, PixelRect};

/// Whether a cell shows a piece of an image.
#[inline]
pub(crate) fn is_placeholder(cell: Cell, tables: &TablesView<'_>) -> bool {
    match cell.content() {
        Content::Char(c) => c == PLACEHOLDER,
        Content::Cluster(id) => {
            tables.cluster(id as u16).is_some_and(|text| text.starts_with(PLACEHOLDER))
        }
        Content::Empty => false,
    }
}

/// Adjacent cells of a row that show adjacent pieces of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placeholders {
    /// Column of the first cell, and the number of cells.
    pub col: u32,
    pub len: u32,
    /// The ids of the image and of the placement.
    pub image: u32,
    pub placement: u32,
    /// The piece that the first cell shows.
    pub image_row: u32,
    pub image_col: u32,
}

/// The number that a color encodes.
fn number(color: Color) -> u32 {
    match color {
        Color::Default => 0,
        Color::Indexed(index) => index as u32,
        Color::Rgb(c) => (c.r as u32) << 16 | (c.g as u32) << 8 | c.b as u32,
    }
}

impl Placeholders {
    /// Adds a placeholder cell, to the last run if it continues that run.
    pub fn add(runs: &mut Vec<Self>, col: u32, cell: Cell, tables: &TablesView<'_>) {
        let style = tables.style(cell.style_id());
        let (low, placement) = (number(style.foreground), number(style.underline_color));
        let text = match cell.content() {
            Content::Cluster(id) => tables.cluster(id as u16).map_or("", |text| text),
            _ => "",
        };
        let mut marks = text.chars().skip(1).map(value);
        let [row, image_col, high] = [0; 3].map(|_| marks.next().flatten());
        if let Some(last) = runs.last_mut() {
            let same = last.col + last.len == col
                && last.image & 0xff_ffff == low
                && last.placement == placement
                && row.is_none_or(|row| row == last.image_row)
                && image_col.is_none_or(|image_col| image_col == last.image_col + last.len)
                && high.is_none_or(|high| high == last.image >> 24);
            if same {
                last.len += 1;
                return;
            }
        }
        runs.push(Self {
            col,
            len: 1,
            image: low | high.unwrap_or(0).min(255) << 24,
            placement,
            image_row: row.unwrap_or(0),
            image_col: image_col.unwrap_or(0),
        });
    }

    /// The part of the image that the run shows, and where. The image is scaled to fit the placement's box and centered
    /// in it.
    pub fn part(
        &self,
        placement: &Placement,
        image: &Image,
        row: usize,
        cell: CellSize,
    ) -> Option<(PixelRect, CellRect)> {
        let (width, height) = (image.width() as f32, image.height() as f32);
        let (cell_width, cell_height) = (cell.width as f32, cell.height as f32);
        let cols = match placement.cols {
            0 => image.width().div_ceil(cell.width),
            cols => cols,
        };
        let rows = match placement.rows {
            0 => image.height().div_ceil(cell.height),
            rows => rows,
        };
        let (box_width, box_height) = (cols as f32 * cell_width, rows as f32 * cell_height);
        let scale = (box_width / width).min(box_height / height);
        let (left, top) = ((box_width - width * scale) / 2.0, (box_height - height * scale) / 2.0);
        // The run and the image, both in pixels of the box.
        let (x0, y0) = (self.image_col as f32 * cell_width, self.image_row as f32 * cell_height);
        let (x1, y1) = (x0 + self.len as f32 * cell_width, y0 + cell_height);
        let (left_edge, right_edge) = (x0.max(left), x1.min(left + width * scale));
        let (upper_edge, lower_edge) = (y0.max(top), y1.min(top + height * scale));
        if left_edge >= right_edge || upper_edge >= lower_edge {
            return None;
        }
        let source = PixelRect {
            x: (left_edge - left) / scale,
            y: (upper_edge - top) / scale,
            width: (right_edge - left_edge) / scale,
            height: (lower_edge - upper_edge) / scale,
        };
        let area = CellRect {
            left: self.col as f32 + (left_edge - x0) / cell_width,
            top: row as f32 + (upper_edge - y0) / cell_height,
            width: (right_edge - left_edge) / cell_width,
            height: (lower_edge - upper_edge) / cell_height,
        };
        Some((source, area))
    }
}

impl Layer {
    /// The virtual placement of the placeholders of an image: the one with this id, or any if the id is 0.
    pub fn virtual_placement(&self, image: u32, id: u32) -> Option<(PlacementKey, &Placement)> {
        let image = self.store.by_id(image)?;
        let mut of_image =
            self.placements_of(image).filter_map(|key| Some((key, self.placement(key)?)));
        of_image.find(|(_, p)| matches!(p.anchor, Anchor::Virtual) && (id == 0 || p.id == id))
    }
}
