//! What happens to the window, as values: the system's events that concern it, and news from other threads.
//!
//! The event loop and the scripts of the tests feed the same values to [`App::update`](crate::window::app).

use std::{path::PathBuf, time::Instant};

use winit::{
    dpi::PhysicalSize,
    event::{Ime, MouseButton, MouseScrollDelta, WindowEvent},
    keyboard::ModifiersState,
};

use crate::window::{inbox::News, input::keys::KeyInput};

/// An event of the window.
#[derive(Debug)]
pub(crate) enum Event {
    /// The user asks the window manager to close the window.
    Close,
    Resized(PhysicalSize<u32>),
    /// The scale of the screen that shows the window.
    Scale(f64),
    /// The system requests a redraw.
    RedrawRequested,
    /// The system's theme changed.
    Theme,
    /// Whether the window is hidden.
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
    /// A deadline has passed; the time now.
    Tick(Instant),
}

impl Event {
    /// Converts an event of the system; `None` if the window ignores it.
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
