//! Frames of both painters, compared as pixels.

mod bidi;
mod frames;
mod images;
mod ligatures;
mod multicells;
mod painters;
mod support;
