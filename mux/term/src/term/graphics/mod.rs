//! Images: the kitty graphics protocol, sixel and iTerm2's inline images.
//!
//! Owns image pixels, their memory, their positions and their animations. Does not draw, does no I/O and has no clock.
//! Kitty images lie over or under the text, at a line and a column ([`placement`]). Sixel and iTerm2 images fill cells
//! ([`crate::grid::tiles`]): each cell holds a piece of the image, so that moving, erasing or overwriting the cell does the same to
//! the piece.

mod animation;
mod cells;
mod decode;
mod decoding;
mod iterm;
mod kitty;
mod media;
mod pixels;
mod placement;
mod shed;
mod sixel;
mod store;
mod to_vt;
mod view;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

pub use decoding::Decoding;
pub use media::{Media, MediaError, MediaRequest, Medium};
pub use pixels::Pixels;
pub(crate) use placement::CellSize;
pub(crate) use sixel::{Settings as SixelSettings, SixelMode};
pub(crate) use store::QUOTA;
pub use view::{CellRect, PixelRect, RowImages, SnapshotImage};

use crate::cap::Caps;
use crate::grid::tiles::ImageKey;
use crate::grid::tiles::Tiles;
use crate::term::Term;
use crate::term::screen::block::Block;
use crate::{LineId, Point, work};
use placement::{Anchor, Placement, PlacementKey};
use store::Store;

/// The images of a terminal.
#[derive(Debug, Default)]
pub(crate) struct Graphics {
    /// The images of the visible screen, and of the hidden screen.
    pub shown: Layer,
    pub hidden: Layer,
    pub media: Option<Arc<dyn Media>>,
    pub(crate) sixel: sixel::Settings,
    /// A completely received image, to be decoded before any more input is applied.
    decoding: Option<Decoding>,
    /// A long string that has not ended: most likely an image. The parser collects it here, where it counts.
    pub(crate) arriving: Option<Vec<u8>>,
    /// An iTerm2 file that arrives in parts.
    upload: Option<iterm::Upload>,
    /// Scrolling not yet applied to `shown`.
    scrolled: Option<Scroll>,
    /// Advances whenever the picture may have changed without a change in a row.
    revision: u64,
}

impl Graphics {
    pub fn new(media: Option<Arc<dyn Media>>) -> Self {
        Self { media, ..Self::default() }
    }

    /// Marks the picture as possibly changed.
    pub fn changed(&mut self) {
        self.revision += 1;
    }

    /// Whether the visible screen keeps any image.
    pub fn has_any(&self) -> bool {
        !self.shown.store.is_empty()
    }

    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// RIS: removes all images and resets all settings.
    pub fn reset(&mut self) {
        *self = Self { media: self.media.take(), revision: self.revision + 1, ..Self::default() };
    }

    /// Swaps the layers when the other screen becomes visible.
    pub fn swap(&mut self) {
        std::mem::swap(&mut self.shown, &mut self.hidden);
        self.changed();
    }
}

/// Rows that moved: see [`Term::scroll_images`].
#[derive(Clone, Copy, Debug)]
struct Scroll {
    block: Block,
    rows: i64,
    /// The screen's first line before the move, and how many lines it has advanced since.
    before: u64,
    advanced: u64,
    /// The block spans all columns.
    whole_rows: bool,
    /// The block is the whole screen.
    whole: bool,
}

/// The images of one screen.
#[derive(Debug, Default)]
pub(crate) struct Layer {
    pub store: Store,
    placements: BTreeMap<PlacementKey, Placement>,
    /// Placements by image, and by the placement they are relative to, so that work on one image does not scan all
    /// others.
    by_image: BTreeSet<(ImageKey, PlacementKey)>,
    children: BTreeSet<(PlacementKey, PlacementKey)>,
    next_placement: PlacementKey,
    /// No placement ends before this line, whatever the cell size.
    first_end: Option<i64>,
    pub tiles: Tiles,
    /// Bytes of cell images added since the last sweep for covered images.
    unswept: usize,
    /// An image that is being sent in chunks.
    pub loading: Option<kitty::Loading>,
}

impl Layer {
    pub fn placements(&self) -> impl Iterator<Item = (PlacementKey, &Placement)> {
        self.placements.iter().map(|(key, placement)| (*key, placement))
    }

    #[cfg(test)]
    pub fn placement_count(&self) -> usize {
        self.placements.len()
    }

    pub fn placement(&self, key: PlacementKey) -> Option<&Placement> {
        self.placements.get(&key)
    }

    /// The placement of an image with the program's id `id`; `None` if `id` is 0.
    fn placement_by_id(&self, image: ImageKey, id: u32) -> Option<PlacementKey> {
        if id == 0 {
            return None;
        }
        self.placements_of(image).find(|key| self.placement(*key).is_some_and(|p| p.id == id))
    }

    /// The placements of an image, oldest first.
    fn placements_of(&self, image: ImageKey) -> impl Iterator<Item = PlacementKey> {
        let own = self.by_image.range((image, PlacementKey::MIN)..=(image, PlacementKey::MAX));
        own.map(|(_, key)| {
            work::add(1);
            *key
        })
    }

    /// Makes room for a placement: while there are `cap`, removes the oldest and its children.
    fn make_place(&mut self, caps: &mut Caps, cap: usize) {
        while self.placements.len() >= cap
            && let Some((&oldest, _)) = self.placements.first_key_value()
        {
            caps.oldest_dropped("placement of an image", cap);
            self.remove_placement(oldest);
        }
    }

    fn add_placement(&mut self, placement: Placement) {
        self.next_placement += 1;
        self.replace_placement(self.next_placement, placement);
    }

    fn replace_placement(&mut self, key: PlacementKey, placement: Placement) {
        self.take_placement(key);
        self.by_image.insert((placement.image, key));
        match placement.anchor {
            Anchor::Parent { parent, .. } => {
                self.children.insert((parent, key));
            }
            Anchor::Cell { line, .. } => {
                self.first_end = self.first_end.map(|first| first.min(line + 1));
            }
            Anchor::Virtual => {}
        }
        self.placements.insert(key, placement);
    }

    /// Removes a placement from all lists.
    fn take_placement(&mut self, key: PlacementKey) -> Option<Placement> {
        let gone = self.placements.remove(&key)?;
        self.by_image.remove(&(gone.image, key));
        if let Anchor::Parent { parent, .. } = gone.anchor {
            self.children.remove(&(parent, key));
        }
        Some(gone)
    }

    /// Removes a placement and its children, and the images that removed children leave unused.
    fn remove_placement(&mut self, key: PlacementKey) {
        let Some(gone) = self.take_placement(key) else { return };
        let own = (key, PlacementKey::MIN)..=(key, PlacementKey::MAX);
        let children: Vec<_> = self.children.range(own).map(|(_, child)| *child).collect();
        work::add(1 + children.len());
        for child in children {
            let Some(image) = self.placement(child).map(|p| p.image) else { continue };
            self.remove_placement(child);
            if !self.is_placed(image) {
                self.store.remove(image);
            }
        }
        self.drop_if_lost(gone.image);
    }

    /// Whether an image is shown anywhere or has a virtual placement.
    fn is_placed(&self, image: ImageKey) -> bool {
        self.placements_of(image).next().is_some() || self.tiles.shows(image)
    }

    /// Removes an image that nothing shows and that has neither id nor number to refer to it.
    fn drop_if_lost(&mut self, image: ImageKey) {
        let nameless = self.store.get(image).is_some_and(|i| i.id == 0 && i.number == 0);
        if nameless && !self.is_placed(image) {
            self.store.remove(image);
        }
    }

    fn remove_image(&mut self, image: ImageKey) {
        let gone: Vec<_> = self.placements_of(image).collect();
        for key in gone {
            self.remove_placement(key);
        }
        self.tiles.forget(image);
        self.store.remove(image);
    }

    /// Drops the least recently used images until `bytes` more fit into the quota.
    fn make_room(&mut self, caps: &mut Caps, bytes: usize, kept: Option<ImageKey>) {
        let is_placed = |image| self.is_placed(image);
        let dropped = self.store.too_many(bytes, kept.unwrap_or(0), is_placed);
        for image in dropped {
            caps.oldest_dropped("image", QUOTA);
            self.remove_image(image);
        }
    }

    /// Column and line of each placement's upper left cell, except placements relative to a virtual one.
    fn positions(&self) -> HashMap<PlacementKey, (i64, i64)> {
        let mut all = HashMap::new();
        for key in self.placements.keys() {
            if let Some(at) = self.position(*key, &|_| None) {
                all.insert(*key, at);
            }
        }
        all
    }

    /// Column and line of a placement's upper left cell. `virtual_at` returns the position of a virtual placement.
    fn position(
        &self,
        key: PlacementKey,
        virtual_at: &dyn Fn(PlacementKey) -> Option<(i64, i64)>,
    ) -> Option<(i64, i64)> {
        let (mut at, mut col, mut line) = (key, 0, 0);
        for _ in 0..=kitty::PARENTS_CAP + 1 {
            match self.placements.get(&at)?.anchor {
                Anchor::Cell { line: l, col: c } => return Some((c + col, l + line)),
                Anchor::Parent { parent, cols, rows } => {
                    col += cols as i64;
                    line += rows as i64;
                    at = parent;
                }
                Anchor::Virtual => {
                    let (c, l) = virtual_at(at)?;
                    return Some((c + col, l + line));
                }
            }
        }
        None
    }

    /// Removes the placements that `gone` selects by their first line and the line after their last.
    fn retain(&mut self, cell: CellSize, gone: impl Fn(i64, i64) -> bool) {
        work::add(self.placements.len());
        let doomed: Vec<_> = self
            .placements()
            .filter(|(_, p)| match p.anchor {
                Anchor::Cell { line, .. } => gone(line, line + p.cells(cell).1.max(1) as i64),
                _ => false,
            })
            .map(|(key, _)| key)
            .collect();
        for key in doomed {
            self.remove_placement(key);
        }
    }

    /// Removes the placements that end before a line. Scans them only if one may end there.
    fn drop_before(&mut self, cell: CellSize, line: i64) {
        if self.first_end.is_some_and(|first| first > line) {
            return;
        }
        self.retain(cell, |_, end| end <= line);
        let lines = self.placements.values().filter_map(|p| match p.anchor {
            Anchor::Cell { line, .. } => Some(line + 1),
            _ => None,
        });
        self.first_end = Some(lines.min().unwrap_or(i64::MAX));
    }

    /// Whether there are placements that scrolling could affect.
    #[inline]
    pub fn has_placements(&self) -> bool {
        !self.placements.is_empty()
    }

    /// See [`Term::scroll_images`].
    fn scroll(&mut self, scroll: &Scroll, cell: CellSize) {
        let Scroll { block, rows, before, advanced, whole_rows, whole } = *scroll;
        let before = before as i64;
        let (first, end) = (before + block.top as i64, before + block.bottom as i64);
        let columns = block.left as i64..=block.right as i64;
        self.first_end = None;
        work::add(self.placements.len());
        let keys: Vec<_> = self.placements.keys().copied().collect();
        for key in keys {
            let Some(placement) = self.placements.get_mut(&key) else { continue };
            let (width, height) = placement.cells(cell);
            let (width, height) = (width as i64, height as i64);
            let Anchor::Cell { line, col } = &mut placement.anchor else { continue };
            if whole {
                // The whole screen scrolls, so nothing is cut at its edges.
                if *line + height > first {
                    *line += rows;
                    if *line >= end || *line + height <= first {
                        self.remove_placement(key);
                    }
                }
                continue;
            }
            let is_between =
                whole_rows || columns.contains(col) && columns.contains(&(*col + width));
            let within = is_between && *line >= first && *line + height <= end;
            if !within {
                // It stays where it is on the screen, whose lines now have other numbers.
                if *line + height > before {
                    *line += advanced as i64;
                }
                continue;
            }
            if advanced > 0 {
                // It is in history, or about to be, with an unchanged line number.
                continue;
            }
            *line += rows;
            let (start, stop) = (*line, *line + height);
            let above = (first - start).max(0);
            let below = (stop - end).max(0);
            let kept = above + below < height.max(1)
                && (above == 0 || placement.cut(above as u32, true, cell))
                && (below == 0 || placement.cut(below as u32, false, cell));
            if !kept {
                self.remove_placement(key);
            }
        }
    }

    /// Calls `visit` with every point that follows its text; see [`Term::visit_anchors`]. Removes placements whose text
    /// is gone.
    pub fn visit_anchors(&mut self, visit: &mut crate::term::shell::anchors::Visit<'_>) {
        self.first_end = None;
        let mut lost = Vec::new();
        for (key, placement) in &mut self.placements {
            let Anchor::Cell { line, col } = &mut placement.anchor else { continue };
            let before = Point { line: LineId((*line).max(0) as u64), col: (*col).max(0) as u16 };
            let mut point = Some(before);
            visit(&mut point);
            match point {
                // The point was only collected, or did not move. Keep the original, which may start above the first
                // line.
                Some(after) if after == before => {}
                Some(after) => (*line, *col) = (after.line.0 as i64, after.col as i64),
                None => lost.push(*key),
            }
        }
        for key in lost {
            self.remove_placement(key);
        }
    }
}

impl Term {
    /// The size of a cell, or the default if it is unknown.
    pub(crate) fn cell_size(&self) -> CellSize {
        let (width, height) = self.size.cell_pixels();
        CellSize { width: width as u32, height: height as u32 }
    }

    /// ED 2 and similar: removes the images on the screen, as the protocol requires. `history`: removes those above it
    /// instead.
    pub(crate) fn clear_images(&mut self, history: bool) {
        if !self.graphics.shown.has_placements() {
            return;
        }
        self.flush_scrolled_images();
        let live_top = self.grid.live_top() as i64;
        let cell = self.cell_size();
        self.graphics.shown.retain(cell, |_, end| (end > live_top) != history);
        self.graphics.changed();
    }

    /// The line after the last that a placement on the visible screen or its history touches.
    pub(crate) fn images_end(&mut self) -> u64 {
        self.flush_scrolled_images();
        let cell = self.cell_size();
        let end = |placement: &Placement| match placement.anchor {
            Anchor::Cell { line, .. } => line + i64::from(placement.cells(cell).1),
            Anchor::Parent { .. } | Anchor::Virtual => 0,
        };
        let ends = self.graphics.shown.placements().map(|(_, placement)| end(placement));
        ends.max().map_or(0, |end| end.max(0) as u64)
    }

    /// Updates the placements as if every line feed had been a batch of its own: moves them with the text, and removes
    /// those whose last line is no longer kept. Must run at the end of a batch, and before anything reads placements.
    pub(crate) fn settle_images(&mut self) {
        self.flush_scrolled_images();
        if self.graphics.shown.has_placements() {
            let oldest = self.grid.oldest() as i64;
            let cell = self.cell_size();
            self.graphics.shown.drop_before(cell, oldest);
        }
    }

    /// Records that a block's rows moved by `rows` (up if negative) within it. If the screen's first line is no longer
    /// `before`, the rows went to history. Images wholly within the block, between all margins, move along and are cut
    /// where they leave it. Other images stay where they are on the screen (kitty graphics protocol, "Interaction with
    /// other terminal actions").
    ///
    /// Call this after changing the grid. Steps of the same kind are merged and applied on the next read.
    #[inline]
    pub(crate) fn scroll_images(&mut self, block: Block, rows: i64, before: u64) {
        if self.graphics.shown.has_placements() {
            self.note_scroll(block, rows, before);
        }
    }

    fn note_scroll(&mut self, block: Block, rows: i64, before: u64) {
        let advanced = self.grid.live_top() - before;
        let whole_rows = block.cols() == self.grid.cols();
        let whole = whole_rows && block.rows() == self.grid.rows();
        if whole && advanced > 0 {
            // Lines keep their numbers, and images are placed by line number.
            return;
        }
        let height = block.rows() as i64;
        let rows = rows.clamp(-height, height);
        let step = Scroll { block, rows, before, advanced, whole_rows, whole };
        if let Some(last) = &mut self.graphics.scrolled {
            let same = (last.block, last.before + last.advanced) == (step.block, step.before)
                && last.rows.signum() == step.rows.signum()
                && (last.advanced > 0) == (step.advanced > 0);
            if same {
                last.rows += step.rows;
                last.advanced += step.advanced;
                return;
            }
            self.flush_scrolled_images();
        }
        self.graphics.scrolled = Some(step);
    }

    /// Moves images along with the text around them.
    pub(crate) fn flush_scrolled_images(&mut self) {
        let Some(scroll) = self.graphics.scrolled.take() else { return };
        let cell = self.cell_size();
        self.graphics.shown.scroll(&scroll, cell);
        self.graphics.changed();
    }

    /// Advances animations to their frames at `now`, a time measured from any fixed moment. Call it before a snapshot
    /// while the terminal is visible: each [`SnapshotImage`] holds the time of its next frame.
    pub fn advance_animations(&mut self, now: Duration) {
        let mut changed = false;
        for image in self.graphics.shown.store.animations() {
            changed |= image.advance(now);
        }
        if changed {
            self.graphics.changed();
        }
    }
}
