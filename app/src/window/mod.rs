//! The window, in parts that own their state.
//!
//! | part | owns |
//! |---|---|
//! | [`workspace`] | what the window remembers of panes: views, selections, names |
//! | [`input`] | keys, pointer, clipboard, dropped files |
//! | [`overlays`] | what lies over the panes, and which of them gets keys and the mouse |
//! | [`chrome`] | the bars |
//! | [`echo`] | the fast path for output, and what panes' readers borrow for it |
//! | [`surface`] | the system's window, renderer, painter and frame pacing |
//! | [`system`] | the desktop: screen readers, notifications, appearance, errands |
//! | [`prefs`] | the preferences in force |
//! | [`ui`] | measures, colours and text lines, which all parts draw with |
//! | [`inbox`] | news from other threads |
//!
//! No part imports [`app`], which joins them and carries out what they ask for. All of it runs on the main thread, except
//! what [`echo`] lends to panes' readers.

mod app;
mod chrome;
mod echo;
mod effect;
mod event;
mod inbox;
mod input;
mod overlays;
mod prefs;
mod surface;
mod system;
mod ui;
mod workspace;

pub(crate) use app::start::run;
