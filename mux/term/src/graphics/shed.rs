//! Dropping images of a terminal on behalf of others: all terminals of a process share its memory.

use super::{Graphics, Layer};
use crate::cap::Caps;
use crate::term::Term;

impl Layer {
    /// Bytes of its images, and of one that is arriving.
    fn bytes(&self) -> usize {
        self.store.bytes() + self.loading.as_ref().map_or(0, |loading| loading.bytes())
    }

    /// Drops images until `over` bytes are freed: first those shown nowhere, then the least recently used.
    fn shed(&mut self, caps: &mut Caps, over: usize) {
        let dropped = self.store.oldest(over, 0, 0, |image| self.is_placed(image));
        for image in dropped {
            caps.oldest_dropped("image beyond the budget of all terminals", over);
            self.remove_image(image);
        }
    }
}

impl Graphics {
    fn bytes(&self) -> usize {
        let upload = self.upload.as_ref().map_or(0, |upload| upload.bytes());
        self.shown.bytes() + self.hidden.bytes() + upload
    }
}

impl Term {
    /// The memory that the images of both screens use, in bytes, including those that are arriving.
    pub fn image_bytes(&self) -> usize {
        self.graphics.bytes()
    }

    /// Drops images until the others use at most `most` bytes: first those of the hidden screen, then those shown nowhere,
    /// then the least recently used, at last those that are arriving. To its program, a dropped image is one that was
    /// deleted: a command that names it gets `ENOENT` (kitty graphics protocol).
    pub fn shed_images(&mut self, most: usize) {
        let Self { graphics, caps, .. } = self;
        let over = |graphics: &Graphics| graphics.bytes().saturating_sub(most);
        if over(graphics) == 0 {
            return;
        }
        let bytes = over(graphics);
        graphics.hidden.shed(caps, bytes);
        let bytes = over(graphics);
        graphics.shown.shed(caps, bytes);
        if over(graphics) > 0 {
            for layer in [&mut graphics.hidden, &mut graphics.shown] {
                if let Some(loading) = &mut layer.loading {
                    loading.shed();
                }
            }
            graphics.upload = None;
        }
        graphics.changed();
    }
}
