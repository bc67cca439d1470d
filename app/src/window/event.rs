//! The events of the window, as values: events of the system, and news from other threads.
//!
//! The event loop and the tests' scripts feed [`App::update`](crate::window::app) with the same type of value.

use std::path::PathBuf;

use winit::{
    dpi::PhysicalSize,
    event::{Ime, MouseButton, MouseScrollDelta, WindowEvent},
    keyboard::ModifiersState,
};

use crate::window::{inbox::News, input::keys::KeyInput};

/// An event of the window.
#[derive(Debug)]
pub(crate) enum Event {
    /// The user asked the window manager to close the window.
    Close,
    Resized(PhysicalSize<u32>),
    /// The new scale factor of the screen that shows the window.
    Scale(f64),
    /// The system requests a redraw.
    RedrawRequested,
    /// The system's theme changed.
    Theme,
    /// Whether the window is completely hidden from the user.
    Occluded(bool),
    /// Whether the window has the focus.
    Focus(bool),
    Modifiers(ModifiersState),
    Key(KeyInput),
    Ime(Ime),
    DroppedFile(PathBuf),
    /// The pointer's position in the window, in pixels.
    PointerMoved(f64, f64),
    PointerLeft,
    /// A mouse button, and whether it is pressed.
    Button(MouseButton, bool),
    Wheel(MouseScrollDelta),
    /// News from other threads.
    News(Box<News>),
    /// A deadline has passed.
    Tick,
}

impl Event {
    /// Converts an event of the system; returns `None` if the window ignores the event.
    pub(crate) fn of(event: WindowEvent) -> Option<Self> {
        Some(match event {
            WindowEvent::CloseRequested => Self::Close,
            WindowEvent::Resized(size) => Self::Resized(size),
            WindowEvent::ScaleFactorChanged { scale_factor, .. } => Self::Scale(scale_factor),
            WindowEvent::RedrawRequested => Self::RedrawRequested,
            WindowEvent::ThemeChanged(_) => Self::Theme,
            WindowEvent::Occluded(occluded) => Self::Occluded(occluded),
            WindowEvent::Focused(focused) => Self::Focus(focused),
            WindowEvent::ModifiersChanged(modifiers) => Self::Modifiers(modifiers.state()),
            WindowEvent::KeyboardInput { event, is_synthetic: false, .. } => {
                Self::Key(KeyInput::of(event)?)
            }
            WindowEvent::Ime(event) => Self::Ime(event),
            WindowEvent::DroppedFile(path) => Self::DroppedFile(path),
            WindowEvent::CursorMoved { position, .. } => Self::PointerMoved(position.x, position.y),
            WindowEvent::CursorLeft { .. } => Self::PointerLeft,
            WindowEvent::MouseInput { state, button, .. } => {
                Self::Button(button, state.is_pressed())
            }
            WindowEvent::MouseWheel { delta, .. } => Self::Wheel(delta),
            _ => return None,
        })
    }
}
