//! What the window asks of the system, as values: `App::update` returns them, and `App::carry_out` carries them out.
//!
//! Changes to the mux are not effects: the mux runs in this process, and reports each change as an event. Neither are the
//! parts of a frame: the window's minimum size, and the input method's position.

use std::path::PathBuf;

use winit::{
    dpi::PhysicalPosition,
    window::{CursorIcon, Theme},
};

use crate::window::{input::clipboard::Request, system::errand::Done};
use crate::{
    desktop::{Key, Note},
    last_session::LastSession,
    layout_file::LayoutFile,
};

/// What the window asks of the system.
pub(crate) enum Effect {
    /// Set the window's title.
    Title(String),
    /// Show the pointer in this shape.
    PointerShape(CursorIcon),
    /// Show or hide the pointer.
    ShowPointer(bool),
    /// Request the user's attention, or withdraw the request.
    Attention(bool),
    /// Enter or leave fullscreen.
    ToggleFullscreen,
    /// Show the drop-down window, or hide it if it is visible and has the focus.
    ToggleDropDown { has_focus: bool },
    /// Draw the window's frame in this theme.
    FrameTheme(Theme),
    /// Show the window, even if hidden or minimised, and ask for the keyboard focus.
    Raise,
    /// Show the window, at this place if one is given, and ask for the keyboard focus.
    Show(Option<PhysicalPosition<i32>>),
    /// Hide the window.
    Hide,
    /// Apply the configured blur behind the window.
    Blur(bool),
    /// Let the input method compose keys, or not.
    AllowIme(bool),
    /// Show a notification.
    Notify(Note),
    /// Withdraw a notification.
    Withdraw(Key),
    /// Save the session for the next window.
    KeepSession(Box<LastSession>),
    /// Write a named layout.
    SaveLayout(String, Box<LayoutFile>),
    /// Use the clipboard.
    Clipboard(Request),
    /// Do slow work on a thread of its own. The string is the topic of its messages.
    Errand(&'static str, SlowWork),
    /// Start another instance in this directory.
    NewWindow(PathBuf),
    /// Answer a client once the earlier effects are carried out.
    Answer(Answer),
    /// End the event loop.
    End,
}

/// Answers a client. The argument is why an earlier effect failed, if one did.
pub(crate) type Answer = Box<dyn FnOnce(Option<String>) + Send>;

/// Slow work. The inbox receives its result.
pub(crate) type SlowWork = Box<dyn FnOnce() -> Done + Send>;
