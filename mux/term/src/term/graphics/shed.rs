//! Dropping images and arriving data of a terminal on behalf of others: all terminals of a process share its memory.

use super::{Graphics, Layer};
use crate::cap::Caps;
use crate::term::Term;

impl Layer {
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
        self.shown.store.bytes() + self.hidden.store.bytes() + self.unfinished_bytes()
    }

    /// Bytes of the image or data that is arriving.
    fn unfinished_bytes(&self) -> usize {
        let loading = |layer: &Layer| layer.loading.as_ref().map_or(0, |loading| loading.bytes());
        let upload = self.upload.as_ref().map_or(0, |upload| upload.bytes());
        let string = self.arriving.as_ref().map_or(0, |string| string.len());
        loading(&self.shown) + loading(&self.hidden) + upload + string
    }

    /// Drops the image or data that is arriving. The rest of it is ignored, and its program gets an error.
    fn shed_unfinished(&mut self) {
        for layer in [&mut self.hidden, &mut self.shown] {
            if let Some(loading) = &mut layer.loading {
                loading.shed();
            }
        }
        (self.upload, self.arriving) = (None, None);
    }
}

impl Term {
    /// The memory that the images of both screens use, in bytes, including [`Term::unfinished_bytes`].
    pub fn image_bytes(&self) -> usize {
        self.graphics.bytes() + self.clipboard_bytes()
    }

    /// Drops images until the others use at most `most` bytes: first those of the hidden screen, then those shown nowhere,
    /// then the least recently used, at last those that are arriving. To its program, a dropped image is one that was
    /// deleted: a command that names it gets `ENOENT` (kitty graphics protocol).
    pub fn shed_images(&mut self, most: usize) {
        let clipboard = self.clipboard_bytes();
        let Self { graphics, caps, .. } = self;
        let over = |graphics: &Graphics| (graphics.bytes() + clipboard).saturating_sub(most);
        if over(graphics) == 0 {
            return;
        }
        let bytes = over(graphics);
        graphics.hidden.shed(caps, bytes);
        let bytes = over(graphics);
        graphics.shown.shed(caps, bytes);
        let is_over = over(graphics) > 0;
        if is_over {
            graphics.shed_unfinished();
        }
        graphics.changed();
        if is_over {
            self.shed_clipboard_data();
        }
    }

    /// The bytes that are arriving: chunks and parts of images, data for a clipboard (OSC 5522), and long strings without
    /// their end.
    pub fn unfinished_bytes(&self) -> usize {
        self.graphics.unfinished_bytes() + self.clipboard_bytes()
    }

    /// Drops the image or data that is arriving, for the sake of other terminals.
    pub fn shed_unfinished(&mut self) {
        self.caps.dropped("image that has not arrived whole", self.unfinished_bytes());
        self.graphics.shed_unfinished();
        self.shed_clipboard_data();
    }

    /// Forgets what a program that has ended did not send to the end. What follows begins a new transmission.
    pub(crate) fn forget_unfinished(&mut self) {
        for layer in [&mut self.graphics.hidden, &mut self.graphics.shown] {
            layer.loading = None;
        }
        self.graphics.upload = None;
        self.forget_clipboard_requests();
    }
}
