//! The images of one screen: their frames, their memory, and which to drop when they exceed the quota.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::animation::Animation;
use super::pixels::Pixels;
use crate::grid::tiles::ImageKey;
use crate::work;

/// Maximum bytes of the images of one screen: kitty's quota. Beyond it, the least recently used images are dropped,
/// starting with images that are shown nowhere.
pub(crate) const QUOTA: usize = 320 << 20;
/// Maximum images of one screen.
const IMAGES_CAP: usize = 16_384;
/// Bytes counted for an image or a frame besides its pixels, so that small images are bounded too.
const OVERHEAD: usize = 512;

/// One frame of an image.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub pixels: Arc<Pixels>,
    /// Milliseconds until the next frame; a frame with 0 is skipped.
    pub gap: u32,
    /// The program needs it for a short time only (kitty's usage hint).
    pub is_transient: bool,
}

/// An image a program sent.
#[derive(Debug)]
pub(crate) struct Image {
    /// The program's id, 0 if it sent none.
    pub id: u32,
    /// The program's number (kitty's `I`), 0 if it sent none.
    pub number: u32,
    /// At least one, all of the same size.
    pub frames: Vec<Frame>,
    pub animation: Animation,
    /// When it was last used, in [`Store::tick`]s.
    used: u64,
}

impl Image {
    pub fn width(&self) -> u32 {
        self.frames[0].pixels.width()
    }

    pub fn height(&self) -> u32 {
        self.frames[0].pixels.height()
    }

    /// The current frame.
    pub fn shown(&self) -> &Arc<Pixels> {
        let current = self.animation.current.min(self.frames.len() - 1);
        &self.frames[current].pixels
    }

    /// Whether the program needs none of its frames for long.
    fn is_transient(&self) -> bool {
        self.frames.iter().all(|frame| frame.is_transient)
    }

    fn bytes(&self) -> usize {
        OVERHEAD
            + self.frames.iter().map(|frame| frame.pixels.rgba().len() + OVERHEAD).sum::<usize>()
    }
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Store {
    images: BTreeMap<ImageKey, Image>,
    /// The image with an id, and the images with a number.
    by_id: HashMap<u32, ImageKey>,
    by_number: BTreeSet<(u32, ImageKey)>,
    /// The last id assigned here; new ids count up from it.
    next_id: u32,
    next_key: ImageKey,
    bytes: usize,
    tick: u64,
}

impl Store {
    pub fn is_empty(&self) -> bool {
        self.images.is_empty()
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn get(&self, key: ImageKey) -> Option<&Image> {
        self.images.get(&key)
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (ImageKey, &Image)> {
        self.images.iter().map(|(key, image)| (*key, image))
    }

    /// Changes an image and updates the byte count.
    pub fn change<T>(&mut self, key: ImageKey, change: impl FnOnce(&mut Image) -> T) -> Option<T> {
        let tick = self.next_tick();
        let image = self.images.get_mut(&key)?;
        let before = image.bytes();
        let result = change(image);
        image.used = tick;
        self.bytes = self.bytes - before + image.bytes();
        Some(result)
    }

    /// All images, to advance their animations. The caller must not change their sizes.
    pub fn animations(&mut self) -> impl Iterator<Item = &mut Image> {
        self.images.values_mut()
    }

    fn next_tick(&mut self) -> u64 {
        self.tick += 1;
        self.tick
    }

    /// Adds an image with at least one frame.
    pub fn add(&mut self, id: u32, number: u32, frames: Vec<Frame>) -> ImageKey {
        let used = self.next_tick();
        let image = Image { id, number, frames, animation: Animation::default(), used };
        self.bytes += image.bytes();
        self.next_key += 1;
        if id != 0 {
            self.by_id.insert(id, self.next_key);
        }
        if number != 0 {
            self.by_number.insert((number, self.next_key));
        }
        self.images.insert(self.next_key, image);
        self.next_key
    }

    pub fn remove(&mut self, key: ImageKey) -> Option<Image> {
        let image = self.images.remove(&key)?;
        self.bytes -= image.bytes();
        if self.by_id.get(&image.id) == Some(&key) {
            self.by_id.remove(&image.id);
        }
        self.by_number.remove(&(image.number, key));
        Some(image)
    }

    /// The image with the program's id `id`.
    pub fn by_id(&self, id: u32) -> Option<ImageKey> {
        self.by_id.get(&id).copied()
    }

    /// The newest image with a number.
    pub fn by_number(&self, number: u32) -> Option<ImageKey> {
        let newest = self.by_number.range((number, 0)..=(number, ImageKey::MAX)).next_back();
        newest.map(|(_, key)| *key)
    }

    /// An id that no image has.
    pub fn free_id(&mut self) -> u32 {
        loop {
            self.next_id = self.next_id.wrapping_add(1).max(1);
            if !self.by_id.contains_key(&self.next_id) {
                return self.next_id;
            }
        }
    }

    /// The images to drop so that an image of `more` bytes fits into the quota. See [`Self::oldest`].
    pub fn too_many(
        &self,
        more: usize,
        kept: ImageKey,
        is_placed: impl Fn(ImageKey) -> bool,
    ) -> Vec<ImageKey> {
        let mut over = (self.bytes + more + OVERHEAD * 2).saturating_sub(QUOTA);
        let mut spare = (self.images.len() + 1).saturating_sub(IMAGES_CAP);
        if over == 0 && spare == 0 {
            return Vec::new();
        }
        if self.images.len() > IMAGES_CAP / 8 {
            // With many small images, drop some extra, so that this does not run for every new image.
            over = over.max(1) + QUOTA / 64;
            spare += IMAGES_CAP / 64;
        }
        self.oldest(over, spare, kept, is_placed)
    }

    /// The images to drop so that `over` bytes and `spare` images are fewer, excluding `kept`: first images without
    /// placements, of these first transient ones (kitty, "Usage hints"), then the least recently used.
    pub fn oldest(
        &self,
        mut over: usize,
        mut spare: usize,
        kept: ImageKey,
        is_placed: impl Fn(ImageKey) -> bool,
    ) -> Vec<ImageKey> {
        work::add(self.images.len());
        let mut candidates: Vec<_> = self
            .iter()
            .filter(|(key, _)| *key != kept)
            .map(|(key, image)| {
                let is_placed = is_placed(key);
                let stays = is_placed || !image.is_transient();
                (is_placed, stays, image.used, key, image.bytes())
            })
            .collect();
        candidates.sort_unstable();
        let mut dropped = Vec::new();
        for (.., key, bytes) in candidates {
            if over == 0 && spare == 0 {
                break;
            }
            over = over.saturating_sub(bytes);
            spare = spare.saturating_sub(1);
            dropped.push(key);
        }
        dropped
    }
}
