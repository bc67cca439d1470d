//! Images that fill cells: sixel and iTerm2 images.
//!
//! The content of such a cell is a number above the last code point, from [`FIRST`] on, which identifies a piece of an
//! image: a tile. Cells with tiles are copied, erased and packed like all others; only drawing looks the number up
//! here. Numbers wrap around. When the numbers of an image are reused, that image is dropped. A cell in a line older
//! than the current image of its number is left over from a dropped image.

use std::collections::{BTreeMap, HashMap};

use crate::grid::cell::Cell;

/// Identifies an image while it is stored.
pub(crate) type ImageKey = u64;

/// The character that stands for a piece of an image.
pub(crate) const PLACEHOLDER: char = '\u{10eeee}';

/// The content of a cell with tile number 0, just above the last code point.
pub(crate) const FIRST: u32 = 0x11_0000;
/// How many tile numbers there are: the rest of a cell's 21 bits of content.
const COUNT: u32 = 0x20_0000 - FIRST;

/// The tiles of an image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tiled {
    pub image: ImageKey,
    /// Columns and rows of cells.
    pub cols: u32,
    pub rows: u32,
    /// Image pixels per cell, horizontally and vertically.
    pub per_cell: (f32, f32),
    /// No cell in a line before this one shows the image.
    pub since: u64,
}

/// A tile: its image, and which piece of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tile {
    pub of: Tiled,
    pub col: u32,
    pub row: u32,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Tiles {
    /// By the number of the first tile, counted from 0.
    by_base: BTreeMap<u32, Tiled>,
    bases: HashMap<ImageKey, u32>,
    next: u32,
}

impl Tiles {
    pub fn iter(&self) -> impl Iterator<Item = &Tiled> + Clone {
        self.by_base.values()
    }

    pub fn shows(&self, image: ImageKey) -> bool {
        self.bases.contains_key(&image)
    }

    pub fn forget(&mut self, image: ImageKey) {
        if let Some(base) = self.bases.remove(&image) {
            self.by_base.remove(&base);
        }
    }

    /// Assigns numbers to an image's tiles, row by row. Returns the first number and the images dropped to reuse
    /// theirs; `None` if the image has more tiles than there are numbers.
    pub fn add(&mut self, tiled: Tiled) -> Option<(u32, Vec<ImageKey>)> {
        let count =
            tiled.cols.checked_mul(tiled.rows).filter(|count| (1..=COUNT).contains(count))?;
        if self.next + count > COUNT {
            self.next = 0;
        }
        let base = self.next;
        let before = self.by_base.range(..base).next_back();
        let reaches = before.filter(|(b, t)| *b + t.cols * t.rows > base).map(|(_, t)| t.image);
        let within = self.by_base.range(base..base + count).map(|(_, t)| t.image);
        let lost: Vec<_> = reaches.into_iter().chain(within).collect();
        for image in &lost {
            self.forget(*image);
        }
        self.by_base.insert(base, tiled);
        self.bases.insert(tiled.image, base);
        self.next = base + count;
        Some((base, lost))
    }

    /// The tile that a cell of a line shows.
    pub fn find(&self, cell: Cell, line: u64) -> Option<Tile> {
        let number = cell.tile()?;
        let (base, of) = self.by_base.range(..=number).next_back()?;
        let at = number - base;
        let current = at < of.cols * of.rows && line >= of.since;
        current.then_some(Tile { of: *of, col: at % of.cols, row: at / of.cols })
    }
}

/// How the columns of a row with a piece of an image changed when the screen's width changed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Refit {
    /// The first column removed, and how many were removed from there on.
    cut: usize,
    removed: usize,
    /// The row's columns before, and the columns added at its end.
    width: usize,
    added: usize,
}

impl Refit {
    /// The row's columns now.
    pub fn width(&self) -> usize {
        self.width - self.removed + self.added
    }

    /// The new position of a column.
    pub fn column(&self, col: usize) -> usize {
        if col >= self.width {
            col - self.removed + self.added
        } else if col >= self.cut + self.removed {
            col - self.removed
        } else {
            col.min(self.cut)
        }
    }
}

impl Tiles {
    /// Fits a row of `from` columns with images to a screen of `to` columns. Tiles beyond the new last column are
    /// removed, tiles cut off at the old last column return, and tiles of dropped images become blank. Returns `None`
    /// for a row without images. Other cells keep their order, and rows with images must not rewrap, so that the rows
    /// of an image stay aligned.
    pub fn refit(&self, cells: &mut Vec<Cell>, line: u64, from: usize, to: usize) -> Option<Refit> {
        let mut any = false;
        for cell in cells.iter_mut().filter(|cell| cell.tile().is_some()) {
            match self.find(*cell, line) {
                Some(_) => any = true,
                None => *cell = cell.blanked(),
            }
        }
        let mut refit = Refit { cut: from, removed: 0, width: from, added: 0 };
        if !any {
            return None;
        }
        if to < from {
            let mut col = 0;
            cells.retain(|cell| {
                let kept = col < to || cell.tile().is_none();
                if !kept {
                    refit.cut = refit.cut.min(col);
                    refit.removed += 1;
                }
                col += 1;
                kept
            });
        } else if let Some(last) = cells.get(from - 1).copied()
            && let Some(tile) = self.find(last, line)
        {
            let more = ((tile.of.cols - 1 - tile.col) as usize).min(to - from);
            // The tiles of a row have consecutive numbers.
            cells.extend((1..=more as u64).map(|i| Cell(last.0 + i)));
            refit.added = more;
        }
        Some(refit)
    }
}

impl Cell {
    /// A cell whose content is tile `number`.
    pub(crate) fn of_tile(number: u32) -> Self {
        Self((FIRST + number) as u64)
    }

    /// Whether the cell may be a tile, a placeholder for a piece of an image, or a cluster.
    #[inline]
    pub(crate) fn may_be_image(self) -> bool {
        self.0 & ((1 << 22) - 1) >= PLACEHOLDER as u64
    }

    /// The number of the cell's tile, if it has one.
    #[inline]
    pub(crate) fn tile(self) -> Option<u32> {
        let content = (self.0 & ((1 << 22) - 1)) as u32;
        // A cluster has bit 21 set and is not a tile.
        (content < 1 << 21).then_some(())?;
        content.checked_sub(FIRST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_round_and_old_cells_show_nothing() {
        let mut tiles = Tiles::default();
        let tiled =
            |image, since| Tiled { image, cols: 400, rows: 1000, per_cell: (1.0, 1.0), since };
        assert_eq!(tiles.add(tiled(1, 10)), Some((0, vec![])));
        assert_eq!(tiles.add(tiled(2, 20)), Some((400_000, vec![])));
        let cell = Cell::of_tile(401);
        let found = tiles.find(cell, 15).expect("the first image's");
        assert_eq!((found.of.image, found.col, found.row), (1, 1, 1));
        // There is no room for a third image, so the first is dropped.
        assert_eq!(tiles.add(tiled(3, 30)), Some((0, vec![1])));
        assert_eq!(tiles.find(cell, 15), None, "a line from before the third image");
        assert_eq!(tiles.find(cell, 30).map(|tile| tile.of.image), Some(3));
        assert!(!tiles.shows(1) && tiles.shows(2));
        assert_eq!(tiles.add(Tiled { cols: 2000, ..tiled(4, 40) }), None);
        assert_eq!(tiles.find(Cell(u64::from(b'a')), 50), None);
    }
    #[test]
    fn a_row_is_fitted_to_another_width() {
        let mut tiles = Tiles::default();
        tiles.add(Tiled { image: 1, cols: 4, rows: 2, per_cell: (1.0, 1.0), since: 10 });
        let text = |c: u8| Cell(u64::from(c));
        let row = |first: u32, len: u32| (first..first + len).map(Cell::of_tile);
        // Two cells of text, four tiles of the image's second row, one cell of text, cut to five columns: three tiles
        // fit.
        let whole: Vec<Cell> =
            [text(b'a'), text(b'b')].into_iter().chain(row(4, 4)).chain([text(b'c')]).collect();
        let mut cells = whole.clone();
        let refit = tiles.refit(&mut cells, 10, 7, 5).expect("an image");
        let cut: Vec<Cell> =
            [text(b'a'), text(b'b')].into_iter().chain(row(4, 3)).chain([text(b'c')]).collect();
        assert_eq!(cells, cut);
        assert_eq!(refit.width(), 6);
        assert_eq!([1, 4, 5, 6, 7].map(|col| refit.column(col)), [1, 4, 5, 5, 6]);
        // A row that ends in the image regains its missing tile, but no tiles of the image's next row.
        cells.truncate(5);
        let refit = tiles.refit(&mut cells, 10, 5, 20).expect("an image");
        assert_eq!(cells, whole[..6]);
        assert_eq!((refit.width(), refit.column(2), refit.column(5)), (6, 2, 6));
        // In a line older than the image, the same numbers are stale and become blank.
        let mut old = vec![Cell::of_tile(1), text(b'x')];
        assert_eq!(tiles.refit(&mut old, 9, 2, 4), None);
        assert_eq!(old, [Cell::EMPTY, text(b'x')]);
    }
}
