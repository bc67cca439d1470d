//! Action `d`: deletes placements; with a capital letter, also the images they leave unused.

use super::Command;
use crate::grid::tiles::ImageKey;
use crate::term::Term;
use crate::term::graphics::placement::{Anchor, Placement};

impl Term {
    /// Deletes what the letter `d` selects. Only letters that refer to images also delete virtual placements.
    pub(super) fn delete_images(&mut self, command: &Command) {
        // An image that is only partly sent is dropped.
        self.graphics.shown.loading = None;
        let what = if command.delete == 0 { b'a' } else { command.delete };
        let (letter, frees) = (what.to_ascii_lowercase(), what.is_ascii_uppercase());
        let cell = self.cell_size();
        let live_top = self.grid.live_top() as i64;
        let cursor = (self.cursor.col as i64, live_top + self.cursor.row as i64);
        // Columns and rows of the screen count from 1.
        let (x, y) = (command.x as i64 - 1, live_top + command.y as i64 - 1);
        let named = self.named_image(command);
        let layer = &mut self.graphics.shown;
        let places = layer.positions();
        let touches = |key: u64, p: &Placement, col: Option<i64>, line: Option<i64>| {
            let Some(&(left, top)) = places.get(&key) else { return false };
            let (cols, rows) = p.cells(cell);
            col.is_none_or(|col| (left..left + cols as i64).contains(&col))
                && line.is_none_or(|line| (top..top + rows as i64).contains(&line))
        };
        let mut freed: Vec<ImageKey> = Vec::new();
        let doomed: Vec<u64> = match letter {
            b'f' => {
                let key = self.named_image(command);
                let gone =
                    key.is_some_and(|key| self.graphics.shown.delete_frame(key, command.r, frees));
                if let Some(key) = key.filter(|_| gone) {
                    self.graphics.shown.remove_image(key);
                }
                self.graphics.changed();
                return;
            }
            b'i' | b'n' => {
                freed.extend(named);
                layer
                    .placements()
                    .filter(|(_, p)| {
                        Some(p.image) == named
                            && (command.placement == 0 || p.id == command.placement)
                    })
                    .map(|(key, _)| key)
                    .collect()
            }
            b'r' => {
                let range = command.x..=command.y;
                let in_range = |id: u32| id != 0 && range.contains(&id);
                let images: Vec<ImageKey> =
                    layer.store.iter().filter(|(_, i)| in_range(i.id)).map(|(k, _)| k).collect();
                freed.extend(&images);
                layer
                    .placements()
                    .filter(|(_, p)| images.contains(&p.image))
                    .map(|(key, _)| key)
                    .collect()
            }
            _ => layer
                .placements()
                .filter(|(_, p)| !matches!(p.anchor, Anchor::Virtual))
                .filter(|&(key, p)| match letter {
                    b'a' => places
                        .get(&key)
                        .is_some_and(|&(_, top)| top + p.cells(cell).1 as i64 > live_top),
                    b'c' => touches(key, p, Some(cursor.0), Some(cursor.1)),
                    b'p' => touches(key, p, Some(x), Some(y)),
                    b'q' => p.z == command.z && touches(key, p, Some(x), Some(y)),
                    b'x' => touches(key, p, Some(x), None),
                    b'y' => touches(key, p, None, Some(y)),
                    b'z' => p.z == command.z,
                    _ => false,
                })
                .map(|(key, _)| key)
                .collect(),
        };
        if !b"acinpqrxyz".contains(&letter) {
            tracing::debug!(what, "unknown letter of a graphics delete");
        }
        if frees {
            freed.extend(doomed.iter().filter_map(|key| layer.placement(*key)).map(|p| p.image));
        }
        for key in doomed {
            layer.remove_placement(key);
        }
        if frees {
            for image in freed {
                if !layer.is_placed(image) {
                    layer.remove_image(image);
                }
            }
        }
        self.graphics.changed();
    }
}
