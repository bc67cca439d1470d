//! Tests of ptywright's protocol and its adapters.

mod adapters;
mod documents;
mod editor_modes;
mod protocol;
