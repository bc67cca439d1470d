//! What Wayland does otherwise: a window there has its size in logical pixels, can neither hide nor say where it lies, and
//! may have a frame that we draw.

use unterm_renderer::PainterKind;
use winit::{
    dpi::{LogicalSize, PhysicalSize, Size},
    event_loop::ActiveEventLoop,
    raw_window_handle::{HasWindowHandle, RawWindowHandle},
    window::Window,
};

/// Whether windows are shown by a Wayland compositor.
#[cfg(all(unix, not(target_os = "macos")))]
pub(super) fn is_used(event_loop: &ActiveEventLoop) -> bool {
    winit::platform::wayland::ActiveEventLoopExtWayland::is_wayland(event_loop)
}

#[cfg(not(all(unix, not(target_os = "macos"))))]
pub(super) fn is_used(_: &ActiveEventLoop) -> bool {
    false
}

/// Whether a Wayland compositor shows this window.
pub(super) fn shows(window: &Window) -> bool {
    let handle = window.window_handle().map(|handle| handle.as_raw());
    matches!(handle, Ok(RawWindowHandle::Wayland(_)))
}

/// What the person is told of an [`is_opaque`] window that they would see through.
pub(super) const OPAQUE: &str = "On Wayland, only the GPU painter draws translucent windows.\n\
     Start with --painter gpu.";

/// Whether a window can't be seen through whatever is preferred: softbuffer's pictures have no opacity there (XRGB8888).
pub(super) fn is_opaque(window: &Window, painter: PainterKind) -> bool {
    painter == PainterKind::Cpu && shows(window)
}

/// What to ask for, so that a window has so many pixels on a screen of a scale.
///
/// Compositors of before fractional scales tell a window's scale once it is shown, and winit takes pixels for logical
/// ones until then.
pub(super) fn size(event_loop: &ActiveEventLoop, pixels: (u32, u32), scale: f32) -> Size {
    if is_used(event_loop) {
        logical(pixels, scale).into()
    } else {
        PhysicalSize::new(pixels.0, pixels.1).into()
    }
}

/// The same for a window that is there.
pub(super) fn size_of(window: &Window, pixels: (u32, u32), scale: f32) -> Size {
    if shows(window) {
        logical(pixels, scale).into()
    } else {
        PhysicalSize::new(pixels.0, pixels.1).into()
    }
}

/// The least logical pixels that hold so many.
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
