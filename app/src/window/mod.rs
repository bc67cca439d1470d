//! The window, in parts that own their state.
//!
//! | part | owns |
//! |---|---|
//! | [`workspace`] | what the window remembers of panes: views, selections, names |
//! | [`input`] | keys, pointer, clipboard, dropped files |
//! | [`overlays`] | what lies over the panes, and which of them gets keys and the mouse |
//! | [`chrome`] | the bars |
//! | [`surface`] | the system's window, renderer, painter and frame pacing |
//! | [`system`] | the desktop: screen readers, notifications, appearance, errands |
//! | [`prefs`] | the preferences in force |
//! | [`ui`] | measures, colours and text lines, which all parts draw with |
//! | [`inbox`] | news from other threads |
//!
//! No part imports [`app`], which joins them and carries out what they ask for. Runs on the main thread, except that a
//! pane's reader may paint an echo.

mod app;
mod chrome;
mod inbox;
mod input;
mod overlays;
mod prefs;
mod surface;
mod system;
mod ui;
mod workspace;

pub(crate) use app::start::run;
