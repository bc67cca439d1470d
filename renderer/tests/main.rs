//! Tests of frames and of the pixels that both painters produce.

mod bidi;
mod frames;
mod images;
mod ligatures;
mod multicells;
mod painters;
mod registered;
mod support;
