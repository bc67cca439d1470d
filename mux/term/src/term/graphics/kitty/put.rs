//! Action `p`: placing an image.

use super::{Command, Failure};
use crate::grid::tiles::ImageKey;
use crate::term::Term;
use crate::term::graphics::pixels::MAX_SIDE;
use crate::term::graphics::placement::{Anchor, Placement, PlacementKey, Source};
use crate::term::graphics::store::Image;

/// Maximum placements of a screen; the oldest is dropped to make room. kitty has no such limit, so programs do not
/// expect an error.
const PLACEMENTS_CAP: usize = 4096;
/// Maximum ancestors of a relative placement; the protocol requires 8.
pub(crate) const PARENTS_CAP: usize = 8;

impl Term {
    /// Places an image that was sent before. Returns the command with the image's id.
    pub(super) fn place_again(&mut self, command: &Command) -> (Command, Result<(), Failure>) {
        let Some(key) = self.named_image(command) else {
            return (*command, Err(Failure::NoImage));
        };
        let id = self.graphics.shown.store.get(key).map_or(0, |image| image.id);
        (Command { id, ..*command }, self.place(command, key))
    }

    /// Places an image at the cursor, relative to another placement, or as a virtual placement.
    pub(super) fn place(&mut self, command: &Command, key: ImageKey) -> Result<(), Failure> {
        let is_virtual = command.unicode != 0;
        if is_virtual && command.parent != 0 {
            return Err(Failure::VirtualChild);
        }
        let cell = self.cell_size();
        let (line, col) = (self.grid.live_top() + self.cursor.row as u64, self.cursor.col);
        let layer = &mut self.graphics.shown;
        // Only the placements of an image with an id can be referred to, and so replaced.
        let image_id = layer.store.get(key).ok_or(Failure::NoImage)?.id;
        let id = if image_id != 0 { command.placement } else { 0 };
        let replaced = layer.placement_by_id(key, id);
        if replaced.is_none() {
            // Do this before looking up the parent, because it may drop the parent.
            layer.make_place(&mut self.caps, PLACEMENTS_CAP);
        }
        let anchor = if is_virtual {
            Anchor::Virtual
        } else if command.parent != 0 {
            let parent = layer.parent(command).ok_or(Failure::NoParent)?;
            layer.check_ancestry(replaced, parent)?;
            Anchor::Parent { parent, cols: command.parent_cols, rows: command.parent_rows }
        } else {
            Anchor::Cell { line: line as i64, col: col as i64 }
        };
        let source = |image: &mut Image| source(command, image.width(), image.height());
        let source = layer.store.change(key, source).ok_or(Failure::NoImage)?;
        let placement = Placement {
            image: key,
            id,
            anchor,
            source,
            x: command.cell_x,
            y: command.cell_y,
            cols: command.c.min(MAX_SIDE),
            rows: command.r.min(MAX_SIDE),
            z: command.z,
        };
        match replaced {
            Some(old) => layer.replace_placement(old, placement),
            None => layer.add_placement(placement),
        }
        if matches!(anchor, Anchor::Cell { .. }) && command.stay != 1 {
            let (cols, rows) = placement.cells(cell);
            self.move_past_image(cols as usize, rows as usize);
        }
        Ok(())
    }

    /// Moves the cursor to the row after the last row of an image at the cursor, and scrolls if that row is below the
    /// region. At the right edge it moves to the next row, as in kitty.
    fn move_past_image(&mut self, cols: usize, rows: usize) {
        let mut row = self.cursor.row + rows.saturating_sub(1);
        self.cursor.wrap_pending = false;
        self.cursor.col += cols;
        if self.cursor.col >= self.grid.cols() {
            self.cursor.col = 0;
            row += 1;
        }
        let within = (self.top..self.bottom).contains(&self.cursor.row);
        if within && row >= self.bottom {
            self.scroll_up(row + 1 - self.bottom);
            row = self.bottom - 1;
        }
        self.cursor.row = row.min(self.grid.rows() - 1);
    }
}

/// The part of the image to show: the part that the command requests, clipped to the image.
fn source(command: &Command, width: u32, height: u32) -> Source {
    let (x, y) = (command.x.min(width), command.y.min(height));
    let part = |asked: u32, whole: u32, start: u32| {
        (if asked == 0 { whole } else { asked }).min(whole - start) as f32
    };
    Source {
        x: x as f32,
        y: y as f32,
        width: part(command.w, width, x),
        height: part(command.h, height, y),
    }
}

impl crate::term::graphics::Layer {
    /// The placement that a command's `P` and `Q` refer to.
    fn parent(&self, command: &Command) -> Option<PlacementKey> {
        let image = self.store.by_id(command.parent)?;
        let asked = command.parent_placement;
        self.placements_of(image)
            .find(|key| asked == 0 || self.placement(*key).is_some_and(|p| p.id == asked))
    }

    /// Checks that `child`, which may not exist yet, may become a child of `parent`.
    fn check_ancestry(
        &self,
        child: Option<PlacementKey>,
        parent: PlacementKey,
    ) -> Result<(), Failure> {
        if child == Some(parent) {
            return Err(Failure::OwnParent);
        }
        let mut at = parent;
        for _ in 0..PARENTS_CAP {
            if child == Some(at) {
                return Err(Failure::Cycle);
            }
            match self.placement(at).map(|p| p.anchor) {
                Some(Anchor::Parent { parent, .. }) => at = parent,
                Some(_) => return Ok(()),
                None => return Err(Failure::NoParent),
            }
        }
        Err(if child.is_some_and(|child| self.descends(at, child)) {
            Failure::Cycle
        } else {
            Failure::TooDeep
        })
    }

    /// Whether `from` is `ancestor` or descends from it.
    fn descends(&self, from: PlacementKey, ancestor: PlacementKey) -> bool {
        let mut at = Some(from);
        for _ in 0..=PARENTS_CAP {
            if at == Some(ancestor) {
                return true;
            }
            at = match at.and_then(|at| self.placement(at)).map(|p| p.anchor) {
                Some(Anchor::Parent { parent, .. }) => Some(parent),
                _ => return false,
            };
        }
        false
    }
}
