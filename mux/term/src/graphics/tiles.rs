//! Images that fill cells: those of sixel and of iTerm2.
//!
//! Such a cell's content is a number behind the last code point, from [`FIRST`] on, which names a piece of an image, a
//! tile. Cells are copied, erased and packed as all others are, so a tile needs no care of its own; only who draws looks
//! its number up here. Numbers go round: an image whose numbers come up again is dropped, and a cell in a line older than
//! the image its number means now is one of a dropped image.

use std::collections::{BTreeMap, HashMap};

use super::store::ImageKey;
use crate::cell::Cell;

/// The first number of a tile as a cell's content; code points end before it.
pub(crate) const FIRST: u32 = 0x11_0000;
/// Numbers there are: the rest of a cell's 21 bits of content.
const COUNT: u32 = 0x20_0000 - FIRST;

/// An image's tiles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tiled {
    pub image: ImageKey,
    /// Columns and rows of cells.
    pub cols: u32,
    pub rows: u32,
    /// Pixels of the image that a cell shows, across and down.
    pub per_cell: (f32, f32),
    /// No cell in a line before this one shows it.
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

    /// Gives out numbers for an image's tiles, row by row: the first, and the images whose numbers they were. `None` when
    /// there are more than numbers.
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

/// What became of a row's columns where it holds a piece of an image and the screen gets another width.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Refit {
    /// First column that was cut off, and columns that were from there on.
    cut: usize,
    removed: usize,
    /// Columns the row had, and those that were added at its end.
    width: usize,
    added: usize,
}

impl Refit {
    /// Columns the row has now.
    pub fn width(&self) -> usize {
        self.width - self.removed + self.added
    }

    /// Where a column is now.
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
    /// Fits a row of `from` columns to a screen of `to`, as far as images go: what one has behind the new last column is cut
    /// off, what was cut off at the old one is there again, and what a dropped image has left is blank. `None` for a row
    /// without images; others are to keep their columns, so that the rows of an image stay under each other.
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
            // The numbers of a row's tiles follow each other.
            cells.extend((1..=more as u64).map(|i| Cell(last.0 + i)));
            refit.added = more;
        }
        Some(refit)
    }
}

impl Cell {
    /// A cell's content bits for tile `number`.
    pub(crate) fn of_tile(number: u32) -> Self {
        Self((FIRST + number) as u64)
    }

    /// Whether it may be a tile or a placeholder for a piece of an image, or a cluster.
    #[inline]
    pub(crate) fn may_be_image(self) -> bool {
        self.0 & ((1 << 22) - 1) >= super::kitty::placeholder::PLACEHOLDER as u64
    }

    /// The number of the tile it shows, if it shows one.
    #[inline]
    pub(crate) fn tile(self) -> Option<u32> {
        let content = (self.0 & ((1 << 22) - 1)) as u32;
        // A cluster has bit 21 set and is no tile.
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
        // No third has room: the first is dropped.
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
        // Two cells of text, an image of four in its second row, one cell of text: five columns have room for three.
        let whole: Vec<Cell> =
            [text(b'a'), text(b'b')].into_iter().chain(row(4, 4)).chain([text(b'c')]).collect();
        let mut cells = whole.clone();
        let refit = tiles.refit(&mut cells, 10, 7, 5).expect("an image");
        let cut: Vec<Cell> =
            [text(b'a'), text(b'b')].into_iter().chain(row(4, 3)).chain([text(b'c')]).collect();
        assert_eq!(cells, cut);
        assert_eq!(refit.width(), 6);
        assert_eq!([1, 4, 5, 6, 7].map(|col| refit.column(col)), [1, 4, 5, 5, 6]);
        // A row that ends in the image gets back what it has more, but nothing of the image's next row.
        cells.truncate(5);
        let refit = tiles.refit(&mut cells, 10, 5, 20).expect("an image");
        assert_eq!(cells, whole[..6]);
        assert_eq!((refit.width(), refit.column(2), refit.column(5)), (6, 2, 6));
        // In a line from before the image the same numbers mean nothing, and are gone.
        let mut old = vec![Cell::of_tile(1), text(b'x')];
        assert_eq!(tiles.refit(&mut old, 9, 2, 4), None);
        assert_eq!(old, [Cell::EMPTY, text(b'x')]);
    }
}
