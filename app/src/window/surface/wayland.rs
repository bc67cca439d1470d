//! Differences of Wayland: window sizes are in logical pixels, windows can't hide or query their position, and Unterm
//! may have to draw the window's frame.

use unterm_renderer::PainterKind;
use winit::{
    dpi::{LogicalSize, PhysicalSize, Size},
    event_loop::ActiveEventLoop,
    raw_window_handle::{HasWindowHandle, RawWindowHandle},
    window::Window,
};

#[cfg(all(unix, not(target_os = "macos")))]
pub(crate) fn is_used(event_loop: &ActiveEventLoop) -> bool {
    winit::platform::wayland::ActiveEventLoopExtWayland::is_wayland(event_loop)
}

#[cfg(not(all(unix, not(target_os = "macos"))))]
pub(crate) fn is_used(_: &ActiveEventLoop) -> bool {
    false
}

/// Whether a Wayland compositor shows this window.
pub(crate) fn shows(window: &Window) -> bool {
    let handle = window.window_handle().map(|handle| handle.as_raw());
    matches!(handle, Ok(RawWindowHandle::Wayland(_)))
}

/// The message for a translucent window that stays opaque. See [`is_opaque`].
pub(crate) const OPAQUE: &str = "On Wayland, only the GPU painter draws translucent windows.\n\
     Start with --painter gpu.";

/// Whether a window stays opaque despite its configured opacity. On Wayland, the buffers of softbuffer contain no
/// alpha (XRGB8888).
pub(crate) fn is_opaque(window: &Window, painter: PainterKind) -> bool {
    painter == PainterKind::Cpu && shows(window)
}

/// The size to request for a new window of `pixels` physical pixels on a screen of this scale.
///
/// Compositors without fractional scales report a window's scale only after the window is shown. Until then, winit
/// treats physical pixels as logical pixels.
pub(crate) fn size(event_loop: &ActiveEventLoop, pixels: (u32, u32), scale: f32) -> Size {
    if is_used(event_loop) {
        logical(pixels, scale).into()
    } else {
        PhysicalSize::new(pixels.0, pixels.1).into()
    }
}

/// The size to request for an existing window of `pixels` physical pixels on a screen of this scale.
pub(crate) fn size_of(window: &Window, pixels: (u32, u32), scale: f32) -> Size {
    if shows(window) {
        logical(pixels, scale).into()
    } else {
        PhysicalSize::new(pixels.0, pixels.1).into()
    }
}

/// The smallest logical size that covers these physical pixels.
fn logical((width, height): (u32, u32), scale: f32) -> LogicalSize<u32> {
    let length = |pixels: u32| (f64::from(pixels) / f64::from(scale)).ceil() as u32;
    LogicalSize::new(length(width), length(height))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logical_pixels_hold_all_that_are_asked_for() {
        for scale in [1.0, 1.25, 1.5, 1.75, 2.0] {
            for pixels in 1..2000 {
                let wide = logical((pixels, 1), scale).to_physical::<u32>(f64::from(scale)).width;
                let spare = wide.checked_sub(pixels).expect("none is missing");
                assert!(f64::from(spare) < f64::from(scale) + 0.5, "{spare} at scale {scale}");
            }
        }
    }
}
