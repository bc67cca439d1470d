//! The window, in parts that own their state.
//!
//! | part | owns |
//! |---|---|
//! | [`workspace`] | the window's own state of each pane: view, selection, names |
//! | [`input`] | keys, pointer, clipboard, dropped files |
//! | [`overlays`] | the content of everything that is drawn over the panes |
//! | [`chrome`] | the bars |
//! | [`echo`] | the fast path for output, and the parts that it lends to panes' readers |
//! | [`surface`] | the system's window, renderer, painter and frame pacing |
//! | [`system`] | the desktop: screen readers, notifications, appearance, errands |
//! | [`prefs`] | the preferences in force |
//! | [`ui`] | the measures, colors and text lines that all parts use for drawing |
//! | [`inbox`] | news from other threads |
//!
//! No part imports [`app`], which connects the parts and carries out their requests. All code of the window runs on
//! the main thread. Only the parts that [`echo`] lends are used by the threads of panes' readers.

mod app;
mod chrome;
mod cx;
mod echo;
mod effect;
mod errand;
mod event;
mod hovered_link;
mod inbox;
mod input;
mod overlays;
mod prefs;
mod redraw;
mod surface;
mod system;
mod ui;
mod wish;
mod workspace;

pub(crate) use app::start::run;
