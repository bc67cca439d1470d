//! Images being decoded, and questions about fonts. Both happen apart from the terminal, because they can take long.
//!
//! Owns a decoder's input and result. After the sequence that completes an image or asks a question, the parser applies
//! nothing more until the work is done ([`crate::Parser::advance_to_image`]), so that replies and effects keep their
//! order. Does not access the screen.

use super::kitty::{Composition, Transmission};
use super::{iterm, sixel};
use crate::term::Term;
use crate::term::glyphs::CoverageQuery;

/// An image being decoded. [`crate::Parser::advance_to_image`] returns it, [`Decoding::run`] does the slow part, and
/// [`Term::decoded`] applies the result.
pub struct Decoding(Task);

pub(super) enum Task {
    Kitty(Transmission),
    Frame(Composition),
    Sixel(sixel::Drawing),
    File(iterm::File),
    /// A question about fonts.
    Coverage(CoverageQuery),
}

impl Decoding {
    /// Reads and decodes the image. Needs no lock, may read a file, and takes up to a few seconds for the largest
    /// images.
    pub fn run(&mut self) {
        match &mut self.0 {
            Task::Kitty(transmission) => transmission.run(),
            Task::Frame(composition) => composition.run(),
            Task::Sixel(drawing) => drawing.run(),
            Task::File(file) => file.run(),
            Task::Coverage(query) => query.run(),
        }
    }

    /// Takes the string that holds the image, to avoid a copy.
    pub(crate) fn keep_string(&mut self, string: &mut Vec<u8>) {
        match &mut self.0 {
            Task::Kitty(_) | Task::Frame(_) | Task::Coverage(_) => {}
            Task::Sixel(drawing) => drawing.string = std::mem::take(string),
            Task::File(file) => file.string = std::mem::take(string),
        }
    }
}

impl Term {
    /// Leaves an image for the terminal's owner to decode; there is never more than one.
    pub(super) fn decode_apart(&mut self, task: Task) {
        debug_assert!(self.graphics.decoding.is_none());
        self.graphics.decoding = Some(Decoding(task));
    }

    /// Leaves a question about fonts for the terminal's owner to answer, like an image.
    pub(crate) fn look_up_apart(&mut self, query: CoverageQuery) {
        self.decode_apart(Task::Coverage(query));
    }

    /// Takes the image that the last sequence completed.
    pub(crate) fn take_decoding(&mut self) -> Option<Decoding> {
        self.graphics.decoding.take()
    }

    /// Applies an image that was [run](Decoding::run), as a batch of output of its own.
    pub fn decoded(&mut self, decoding: Decoding) {
        self.begin_batch();
        self.apply_decoded(decoding);
        self.end_batch();
    }

    pub(crate) fn apply_decoded(&mut self, decoding: Decoding) {
        self.settle_images();
        match decoding.0 {
            Task::Kitty(transmission) => self.finish_transmission(transmission),
            Task::Frame(composition) => self.finish_composition(composition),
            Task::Sixel(drawing) => self.finish_sixel(drawing),
            Task::File(file) => self.finish_file(file),
            Task::Coverage(query) => self.finish_glyph_query(&query),
        }
    }
}

impl std::fmt::Debug for Decoding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decoding").finish_non_exhaustive()
    }
}
