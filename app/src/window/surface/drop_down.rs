//! The position of a drop-down window, and how another instance shows or hides its drop-down window.

use anyhow::{Result, bail};
use unterm_control::{
    client::{self, Client},
    methods::action::{Run, RunParams},
};
use winit::{
    dpi::{PhysicalPosition, PhysicalSize},
    event_loop::ActiveEventLoop,
    monitor::MonitorHandle,
    window::{WindowAttributes, WindowLevel},
};

use crate::last_session::LastSession;
use crate::window::surface::wayland;

/// The minimum width and height of a restored window that must be on a screen, in pixels.
const SEEN: i32 = 64;

/// Shows or hides the drop-down window of a running instance. Returns false if no instance has a drop-down window.
pub(crate) fn toggle_running(home: &std::path::Path) -> bool {
    client::find(home).iter().any(|endpoint| {
        let toggle = RunParams { name: "toggle_quake".into(), ..RunParams::default() };
        let toggled = || Client::connect_to(endpoint)?.call::<Run>(toggle);
        toggled().is_ok_and(|reply| reply.done)
    })
}

/// Turns a window into a drop-down window: without a frame, above other windows, and as wide as the screen.
///
/// # Errors
/// Fails on Wayland, where a window can't set its position; and if the size of the screen is unknown.
pub(crate) fn hang(
    attributes: WindowAttributes,
    monitor: Option<&MonitorHandle>,
    share: f32,
    event_loop: &ActiveEventLoop,
) -> Result<WindowAttributes> {
    if wayland::is_used(event_loop) {
        bail!(
            "--quake needs X11: on Wayland a window can't say where it lies. Start it under Xwayland (without \
             WAYLAND_DISPLAY), or let your compositor place a normal window."
        );
    }
    let Some(monitor) = monitor.filter(|monitor| monitor.size().width > 0) else {
        bail!("--quake needs a screen of a known size");
    };
    let size = monitor.size();
    let height = (size.height as f32 * share).round() as u32;
    Ok(attributes
        .with_decorations(false)
        .with_window_level(WindowLevel::AlwaysOnTop)
        .with_position(monitor.position())
        .with_inner_size(PhysicalSize::new(size.width, height)))
}

/// Limits a window's size to the screen. A screen of unknown size has size 0 and sets no limit.
pub(crate) fn within((width, height): (u32, u32), monitor: Option<&MonitorHandle>) -> (u32, u32) {
    let room = monitor.map(MonitorHandle::size).unwrap_or_default();
    (fitting(width, room.width), fitting(height, room.height))
}

/// Limits a length to the screen's. A longer length is cut to nine tenths of the screen, which leaves space for frames
/// and the desktop's panels.
fn fitting(length: u32, room: u32) -> u32 {
    if room > 0 && length > room { room - room / 10 } else { length }
}

/// The last window's position, if enough of the window would be on one of the screens. `screens` contains the corner
/// and size of each screen.
pub(crate) fn place_on(
    last: &LastSession,
    screens: impl Iterator<Item = (PhysicalPosition<i32>, PhysicalSize<u32>)>,
) -> Option<PhysicalPosition<i32>> {
    let (x, y) = last.place?;
    let overlap = |from: i32, length: u32, start: i32, end: u32| {
        from.saturating_add(length as i32).min(start.saturating_add(end as i32)) - from.max(start)
    };
    let mut screens = screens;
    screens
        .any(|(corner, size)| {
            overlap(x, last.width, corner.x, size.width) >= SEEN
                && overlap(y, last.height, corner.y, size.height) >= SEEN
        })
        .then(|| PhysicalPosition::new(x, y))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_that_is_too_large_leaves_room_for_its_frame() {
        assert_eq!((fitting(900, 800), fitting(800, 800), fitting(900, 0)), (720, 800, 900));
    }

    #[test]
    fn a_place_off_every_screen_is_forgotten() {
        let screens = [(0, 0, 1280, 800), (1280, 0, 800, 600)].map(|(x, y, width, height)| {
            (PhysicalPosition::new(x, y), PhysicalSize::new(width, height))
        });
        let place = |x, y| {
            let last = LastSession {
                width: 600,
                height: 400,
                place: Some((x, y)),
                ..LastSession::default()
            };
            place_on(&last, screens.into_iter()).is_some()
        };
        assert!(place(0, 0) && place(-500, 100) && place(1500, 500));
        assert!(!place(-560, 0) && !place(2100, 0) && !place(0, 790) && !place(i32::MAX, 0));
        assert!(place_on(&LastSession::default(), screens.into_iter()).is_none());
    }
}
