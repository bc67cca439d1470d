//! Images: the kitty graphics protocol, sixel and iTerm2's inline images.
//!
//! Owns pixels, what they take up, where they are shown and how animations go on; knows nothing of painters, does no I/O
//! and has no clock. Kitty's images lie over or under the text, at a line and a column ([`placement`]). Those of sixel and
//! iTerm2 fill cells ([`tiles`]): each such cell holds a piece of the image, so that whatever moves, erases or overwrites
//! the cell does so to the piece.

mod animation;
mod cells;
mod decode;
mod decoding;
mod iterm;
mod kitty;
mod media;
mod pixels;
mod placement;
mod sixel;
mod store;
pub(crate) mod tiles;
mod to_vt;
mod view;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

pub use decoding::Decoding;
pub use media::{Media, MediaError, MediaRequest, Medium};
pub use pixels::Pixels;
pub(crate) use placement::CellSize;
pub(crate) use sixel::SixelMode;
pub(crate) use store::QUOTA;
pub use view::{CellRect, PixelRect, RowImages, SnapshotImage};

use crate::block::Block;
use crate::cap::Caps;
use crate::term::Term;
use crate::{LineId, Point, work};
use placement::{Anchor, Placement, PlacementKey};
use store::{ImageKey, Store};
use tiles::Tiles;

/// The images of a terminal.
#[derive(Debug, Default)]
pub(crate) struct Graphics {
    /// Those of the screen shown, and of the one hidden.
    pub shown: Layer,
    pub hidden: Layer,
    pub media: Option<Arc<dyn Media>>,
    pub(crate) sixel: sixel::Settings,
    /// An image that its sequence is complete of, to be decoded before anything more is applied.
    decoding: Option<Decoding>,
    /// A file of iTerm2's that comes in parts.
    upload: Option<iterm::Upload>,
    /// Scrolling that was not applied to `shown` yet.
    scrolled: Option<Scroll>,
    /// Advanced whenever what is shown may have changed without a row having changed.
    revision: u64,
}

impl Graphics {
    pub fn new(media: Option<Arc<dyn Media>>) -> Self {
        Self { media, ..Self::default() }
    }

    /// What is shown may be another picture now.
    pub fn changed(&mut self) {
        self.revision += 1;
    }

    /// Whether any image is kept for the screen shown.
    pub fn has_any(&self) -> bool {
        !self.shown.store.is_empty()
    }

    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// RIS: no images, settings as at the start.
    pub fn reset(&mut self) {
        *self = Self { media: self.media.take(), revision: self.revision + 1, ..Self::default() };
    }

    /// The other screen is shown.
    pub fn swap(&mut self) {
        std::mem::swap(&mut self.shown, &mut self.hidden);
        self.changed();
    }
}

/// Rows that moved: [`Term::scroll_images`].
#[derive(Clone, Copy, Debug)]
struct Scroll {
    block: Block,
    rows: i64,
    /// The screen's first line before, and how many lines it has gone on since.
    before: u64,
    advanced: u64,
    /// There are no margins at left and right.
    whole_rows: bool,
    /// There is nothing outside the block.
    whole: bool,
}

/// The images of one screen.
#[derive(Debug, Default)]
pub(crate) struct Layer {
    pub store: Store,
    placements: BTreeMap<PlacementKey, Placement>,
    /// The same by their images, and by the placements they hang on, so that no image costs a look at all the others.
    by_image: BTreeSet<(ImageKey, PlacementKey)>,
    children: BTreeSet<(PlacementKey, PlacementKey)>,
    next_placement: PlacementKey,
    /// No placement ends before this line, whatever the size of a cell.
    first_end: Option<i64>,
    pub tiles: Tiles,
    /// Bytes of images in cells since covered ones were last looked for.
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

    /// The placement of an image that a program calls `id`, which is not 0.
    fn placement_by_id(&self, image: ImageKey, id: u32) -> Option<PlacementKey> {
        if id == 0 {
            return None;
        }
        self.placements_of(image).find(|key| self.placement(*key).is_some_and(|p| p.id == id))
    }

    /// The placements of an image, the oldest first.
    fn placements_of(&self, image: ImageKey) -> impl Iterator<Item = PlacementKey> {
        let own = self.by_image.range((image, PlacementKey::MIN)..=(image, PlacementKey::MAX));
        own.map(|(_, key)| {
            work::add(1);
            *key
        })
    }

    /// Makes room for a placement: where there are `cap`, the one that came first goes, and what hangs on it.
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

    /// Takes a placement out of all lists.
    fn take_placement(&mut self, key: PlacementKey) -> Option<Placement> {
        let gone = self.placements.remove(&key)?;
        self.by_image.remove(&(gone.image, key));
        if let Anchor::Parent { parent, .. } = gone.anchor {
            self.children.remove(&(parent, key));
        }
        Some(gone)
    }

    /// Removes a placement, and with it those that hang on it; of these also the images they leave unused.
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

    /// Whether an image is shown anywhere, or stands for placeholders.
    fn is_placed(&self, image: ImageKey) -> bool {
        self.placements_of(image).next().is_some() || self.tiles.shows(image)
    }

    /// Removes an image that nothing shows and nobody can name.
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

    /// Drops the images longest unused until `bytes` more fit into the quota.
    fn make_room(&mut self, caps: &mut Caps, bytes: usize, kept: Option<ImageKey>) {
        let is_placed = |image| self.is_placed(image);
        let dropped = self.store.too_many(bytes, kept.unwrap_or(0), is_placed);
        for image in dropped {
            caps.oldest_dropped("image", QUOTA);
            self.remove_image(image);
        }
    }

    /// Column and line of each placement's upper left cell; those that hang on a placeholder's are not among them.
    fn positions(&self) -> HashMap<PlacementKey, (i64, i64)> {
        let mut all = HashMap::new();
        for key in self.placements.keys() {
            if let Some(at) = self.position(*key, &|_| None) {
                all.insert(*key, at);
            }
        }
        all
    }

    /// Column and line of a placement's upper left cell; `virtual_at` says where virtual ones are.
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

    /// Removes the placements that `gone` picks by their first line and the line after their last.
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

    /// Removes the placements that end before a line; looks at them all only where one may.
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

    /// Whether there is anything that scrolling could concern.
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
                // Nothing is cut, whatever reaches out of the screen.
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
                // It stays where it is on the screen, whose lines have other numbers now.
                if *line + height > before {
                    *line += advanced as i64;
                }
                continue;
            }
            if advanced > 0 {
                // It is in history, or on its way there, under the number it had.
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

    /// Calls `visit` with every point that follows its text; see [`Term::visit_anchors`]. A placement whose text is gone
    /// goes, too.
    pub fn visit_anchors(&mut self, visit: &mut crate::anchors::Visit<'_>) {
        self.first_end = None;
        let mut lost = Vec::new();
        for (key, placement) in &mut self.placements {
            let Anchor::Cell { line, col } = &mut placement.anchor else { continue };
            let before = Point { line: LineId((*line).max(0) as u64), col: (*col).max(0) as u16 };
            let mut point = Some(before);
            visit(&mut point);
            match point {
                // Collected only, or not moved: it may have started above the first line.
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
    /// The size of a cell, or what stands for it.
    pub(crate) fn cell_size(&self) -> CellSize {
        let (width, height) = self.size.cell_pixels();
        CellSize { width: width as u32, height: height as u32 }
    }

    /// ED 2 and its like: the page says that images go with the screen. `history`: those above the screen, instead.
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

    /// Makes the placements those that there would be if every line feed had been a piece of output of its own: moved as
    /// the text has moved, and without those whose last line is no longer kept. To be called at the end of a piece, and
    /// before anything asks for them.
    pub(crate) fn settle_images(&mut self) {
        self.flush_scrolled_images();
        if self.graphics.shown.has_placements() {
            let oldest = self.grid.oldest() as i64;
            let cell = self.cell_size();
            self.graphics.shown.drop_before(cell, oldest);
        }
    }

    /// A block's rows have moved by `rows` (up where negative) within it; where the screen's first line is no longer
    /// `before`, they have gone to history. Images that lie wholly within the block, that is, between all margins, move
    /// along and are cut where they leave it; others stay on the screen where they are (the page's "Interaction with other
    /// terminal actions").
    ///
    /// To be called after the grid was changed. Steps of the same kind are put together and done when someone looks.
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
            // The lines keep their numbers, and so do the images.
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

    /// Moves images as the text around them has moved.
    pub(crate) fn flush_scrolled_images(&mut self) {
        let Some(scroll) = self.graphics.scrolled.take() else { return };
        let cell = self.cell_size();
        self.graphics.shown.scroll(&scroll, cell);
        self.graphics.changed();
    }

    /// Shows the frames of animations that are due at `now`, the time since any moment of the caller's choice. To be called
    /// while the terminal is seen, before a snapshot: each [`SnapshotImage`] tells when its next one is due.
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
