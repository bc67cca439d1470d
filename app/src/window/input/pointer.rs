//! The state of the mouse: the position, the held buttons, successive clicks, and drags.

pub(crate) mod focus_press;
pub(crate) mod wheel;
pub(crate) mod wheel_buttons;

use std::time::{Duration, Instant};

use unterm_mux::{PaneId, input};
use unterm_term::Point;
use winit::{event::MouseButton, window::CursorIcon};

use crate::action::MouseInput;
use crate::window::{
    hovered_link::HoveredLink,
    input::pointer::{focus_press::FocusPress, wheel_buttons::WheelButtons},
};

/// Two presses on the same cell within this time are a double click.
pub(crate) const DOUBLE_CLICK: Duration = Duration::from_millis(400);

/// The state of the mouse.
#[derive(Default)]
pub(crate) struct Pointer {
    /// The position in pixels; `None` outside the window.
    pub(crate) position: Option<(f64, f64)>,
    /// The last press: time, pane, cell, and the number of clicks in a row (1 to 3).
    pub(crate) click: Option<(Instant, PaneId, Point, u32)>,
    /// A click on a link or at a prompt. Its action runs at this time, unless another click follows before.
    pub(crate) deferred: Option<(Instant, Target, Option<HoveredLink>)>,
    /// The pane in which the left button drags a selection.
    pub(crate) selecting: Option<PaneId>,
    pub(crate) focus_press: FocusPress,
    /// Whether the last left press focused the window. Such a press is not a click.
    pub(crate) arrives: bool,
    /// Panes whose program received a button press, with the button. The program must also receive the release. The
    /// latest press is last.
    pub(crate) captured: Vec<(PaneId, input::MouseButton)>,
    /// The last position that was reported to a program: a cell, or a pixel if the program has requested pixels.
    pub(crate) reported: Option<(PaneId, (i32, i32))>,
    /// The fractions of columns and lines that the wheel has turned since its last whole step.
    pub(crate) wheel: (f64, f64),
    pub(crate) wheel_buttons: WheelButtons,
    pub(crate) icon: CursorIcon,
    /// Whether the pointer is hidden until the mouse moves.
    pub(crate) hidden: bool,
}

impl Pointer {
    /// Whether a mouse button drags a selection.
    pub(crate) fn is_selecting(&self) -> bool {
        self.selecting.is_some()
    }

    /// Records that a pane's program received a button press.
    pub(crate) fn capture(&mut self, pane: PaneId, button: input::MouseButton) {
        self.captured.retain(|(_, held)| *held != button);
        self.captured.push((pane, button));
    }

    /// Removes and returns the pane whose program must receive the release of a button.
    pub(crate) fn let_go(&mut self, button: input::MouseButton) -> Option<PaneId> {
        let at = self.captured.iter().position(|(_, held)| *held == button)?;
        Some(self.captured.remove(at).0)
    }
}

/// A pane, and the pointer's position in the pane's grid, in pixels.
pub(crate) struct Target {
    pub(crate) id: PaneId,
    pub(crate) x: f64,
    pub(crate) y: f64,
}

pub(crate) fn mux_button(button: MouseButton) -> Option<input::MouseButton> {
    Some(match button {
        MouseButton::Left => input::MouseButton::Left,
        MouseButton::Middle => input::MouseButton::Middle,
        MouseButton::Right => input::MouseButton::Right,
        MouseButton::Back => input::MouseButton::Back,
        MouseButton::Forward => input::MouseButton::Forward,
        MouseButton::Other(_) => return None,
    })
}

/// The name of a button in the configuration of mouse bindings.
pub(crate) fn bound_input(button: MouseButton) -> Option<MouseInput> {
    Some(match button {
        MouseButton::Left => MouseInput::Left,
        MouseButton::Middle => MouseInput::Middle,
        MouseButton::Right => MouseInput::Right,
        MouseButton::Back => MouseInput::Back,
        MouseButton::Forward => MouseInput::Forward,
        MouseButton::Other(_) => return None,
    })
}
