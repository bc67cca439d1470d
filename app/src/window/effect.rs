//! What the window asks of the system, as values: `App::update` returns them, and one place carries them out
//! (`app/effects.rs`).
//!
//! Changes of the mux are none: its state is in this process, and each change of it is an event of its own.

use std::path::PathBuf;

use winit::{
    dpi::PhysicalPosition,
    window::{CursorIcon, Theme},
};

use crate::window::{input::clipboard::Request, system::errand::Done};

/// What the window asks of the system.
pub(crate) enum Effect {
    /// Call the window so.
    Title(String),
    /// Show the pointer in this shape.
    PointerShape(CursorIcon),
    /// Show or hide the pointer.
    ShowPointer(bool),
    /// Ask for the user's attention, or no longer.
    Attention(bool),
    /// Cover the screen, or no longer.
    Fullscreen(bool),
    /// Draw the window's frame in this theme.
    FrameTheme(Theme),
    /// Show the window, even if hidden or minimised, and ask for the keyboard focus.
    Raise,
    /// Show the window, at this place if one is given, and ask for the keyboard focus.
    Show(Option<PhysicalPosition<i32>>),
    /// Hide the window.
    Hide,
    /// Use the clipboard.
    Clipboard(Request),
    /// Do slow work on a thread of its own. With the topic of its messages.
    Errand(&'static str, Work),
    /// Start another instance in this directory.
    NewWindow(PathBuf),
    /// Answer a client, after what comes before is carried out.
    Answer(Box<dyn FnOnce() + Send>),
    /// End the event loop.
    End,
}

/// Slow work. Its result is news.
pub(crate) type Work = Box<dyn FnOnce() -> Done + Send>;
