//! The requests of the window to the system, as values: `App::update` returns effects, and `App::carry_out` carries
//! them out.
//!
//! Changes to the mux are not effects: the mux runs in this process, and reports each change as an event. The window's
//! minimum size and the input method's position are not effects either: they are updated with each frame.

use std::path::PathBuf;

use winit::{
    dpi::PhysicalPosition,
    window::{CursorIcon, Theme},
};

use crate::window::{
    errand::ErrandResult, input::clipboard::Request, workspace::surroundings::Survey,
};
use crate::{
    desktop::{Key, Note},
    last_session::LastSession,
    layout_file::LayoutFile,
};

/// A request of the window to the system.
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
    /// Show the window, even if it is hidden or minimized, and request the keyboard focus.
    Raise,
    /// Show the window and request the keyboard focus. If a position is given, move the window there.
    Show(Option<PhysicalPosition<i32>>),
    /// Hide the window.
    Hide,
    /// Turn the configured blur behind the window on or off.
    Blur(bool),
    /// Allow or forbid the input method to compose keys.
    AllowIme(bool),
    /// Show a notification.
    Notify(Note),
    /// Withdraw a notification.
    Withdraw(Key),
    /// Save the session for the next window.
    KeepSession(Box<LastSession>),
    /// Write a named layout.
    SaveLayout(String, Box<LayoutFile>),
    /// Send a request to the clipboard's thread.
    Clipboard(Request),
    /// Run a slow task on its own thread. The string is the topic of the task's messages.
    Errand(&'static str, SlowWork),
    /// Read the surroundings of panes on its own thread. The result is sent to the inbox.
    ReadSurroundings(Vec<Survey>),
    /// Start another instance in this directory.
    NewWindow(PathBuf),
    /// Answer a client, after all earlier effects are carried out.
    Answer(Answer),
    /// End the event loop.
    End,
}

/// A function that answers a client. If an earlier effect failed, the argument is the reason.
pub(crate) type Answer = Box<dyn FnOnce(Option<String>) + Send>;

/// A slow task. Its result is sent to the inbox.
pub(crate) type SlowWork = Box<dyn FnOnce() -> ErrandResult + Send>;
