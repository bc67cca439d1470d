//! Lets the user drag a region of a screen. A window shows a picture of the whole screen, and dims everything outside
//! the region.
//!
//! The picture was taken before the window opened, so the screen's changes during the drag don't affect the region.

use std::{num::NonZeroU32, sync::Arc};

use anyhow::{Context, Result};
use image::{RgbaImage, imageops};
use winit::{
    application::ApplicationHandler,
    dpi::{PhysicalPosition, PhysicalSize},
    event::{ElementState, MouseButton, WindowEvent},
    event_loop::{ActiveEventLoop, ControlFlow, EventLoop},
    keyboard::{Key, NamedKey},
    window::{CursorIcon, Fullscreen, Window, WindowId, WindowLevel},
};

/// The minimum width and height of a region, in pixels. A shorter drag counts as a click, and selects no region.
const SMALLEST: u32 = 3;
/// The brightness of pixels outside the region, in 256ths of their own brightness.
const DIM: u32 = 128;
/// The color of the region's edge.
const EDGE: u32 = 0x0089_b4fa;

/// Shows a picture on the screen with its corner at `origin`, and lets the user drag a region. `None` if the user
/// canceled.
pub(super) fn drag(picture: RgbaImage, origin: (i32, i32)) -> Result<Option<RgbaImage>> {
    let event_loop = EventLoop::new().context("no window can be opened")?;
    event_loop.set_control_flow(ControlFlow::Wait);
    let mut overlay = Overlay::new(picture, origin);
    event_loop.run_app(&mut overlay)?;
    if let Some(error) = overlay.failure {
        return Err(error);
    }
    let chosen = overlay.chosen;
    Ok(chosen.map(|part| {
        imageops::crop_imm(&overlay.picture, part.x, part.y, part.width, part.height).to_image()
    }))
}

/// A region of the picture, in pixels of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Region {
    x: u32,
    y: u32,
    width: u32,
    height: u32,
}

impl Region {
    /// The region between two points of a picture of this size. It includes both points.
    fn between(a: (f64, f64), b: (f64, f64), size: (u32, u32)) -> Self {
        let span = |a: f64, b: f64, length: u32| {
            let last = f64::from(length.saturating_sub(1));
            let (from, to) = (a.min(b).clamp(0.0, last) as u32, a.max(b).clamp(0.0, last) as u32);
            (from, to - from + 1)
        };
        let ((x, width), (y, height)) = (span(a.0, b.0, size.0), span(a.1, b.1, size.1));
        Self { x, y, width, height }
    }

    /// Whether a pixel is on the region's edge. `None` if the pixel is outside the region.
    fn holds(self, x: u32, y: u32) -> Option<bool> {
        let within = x.wrapping_sub(self.x) < self.width && y.wrapping_sub(self.y) < self.height;
        let on_edge = x == self.x
            || y == self.y
            || x + 1 == self.x + self.width
            || y + 1 == self.y + self.height;
        within.then_some(on_edge)
    }
}

type Surface = softbuffer::Surface<Arc<Window>, Arc<Window>>;

struct Overlay {
    picture: RgbaImage,
    origin: (i32, i32),
    window: Option<(Arc<Window>, Surface)>,
    /// The position of the pointer, in pixels of the picture.
    pointer: (f64, f64),
    /// The position at which the button was pressed, in pixels of the picture.
    start: Option<(f64, f64)>,
    chosen: Option<Region>,
    failure: Option<anyhow::Error>,
}

impl Overlay {
    fn new(picture: RgbaImage, origin: (i32, i32)) -> Self {
        Self {
            picture,
            origin,
            window: None,
            pointer: (0.0, 0.0),
            start: None,
            chosen: None,
            failure: None,
        }
    }

    fn open(&mut self, event_loop: &ActiveEventLoop) -> Result<()> {
        let (width, height) = self.picture.dimensions();
        let corner = PhysicalPosition::new(self.origin.0, self.origin.1);
        let monitor = event_loop.available_monitors().find(|monitor| monitor.position() == corner);
        // Position and size apply if no window manager makes the window fill the screen.
        let attributes = Window::default_attributes()
            .with_title("Unterm: drag a region")
            .with_decorations(false)
            .with_position(corner)
            .with_inner_size(PhysicalSize::new(width, height))
            .with_fullscreen(Some(Fullscreen::Borderless(monitor)))
            .with_window_level(WindowLevel::AlwaysOnTop);
        let window = Arc::new(event_loop.create_window(attributes)?);
        window.set_cursor(CursorIcon::Crosshair);
        window.focus_window();
        let draws =
            |error: softbuffer::SoftBufferError| anyhow::anyhow!("nothing can be drawn: {error}");
        let context = softbuffer::Context::new(Arc::clone(&window)).map_err(draws)?;
        let surface = softbuffer::Surface::new(&context, Arc::clone(&window)).map_err(draws)?;
        window.request_redraw();
        self.window = Some((window, surface));
        Ok(())
    }

    fn part(&self) -> Option<Region> {
        let part = Region::between(self.start?, self.pointer, self.picture.dimensions());
        Some(part).filter(|part| part.width >= SMALLEST && part.height >= SMALLEST)
    }

    fn draw(&mut self) -> Result<()> {
        let part = self.part();
        let Some((window, surface)) = &mut self.window else { return Ok(()) };
        let size = window.inner_size();
        let (Some(width), Some(height)) =
            (NonZeroU32::new(size.width), NonZeroU32::new(size.height))
        else {
            return Ok(());
        };
        let failed =
            |error: softbuffer::SoftBufferError| anyhow::anyhow!("nothing can be drawn: {error}");
        surface.resize(width, height).map_err(failed)?;
        let mut buffer = surface.buffer_mut().map_err(failed)?;
        let (columns, rows) = self.picture.dimensions();
        let pixels = self.picture.as_raw();
        for y in 0..size.height {
            let row = (u64::from(y) * u64::from(rows) / u64::from(size.height)) as u32;
            for x in 0..size.width {
                let column = (u64::from(x) * u64::from(columns) / u64::from(size.width)) as u32;
                let at = (row as usize * columns as usize + column as usize) * 4;
                let [r, g, b] = [pixels[at], pixels[at + 1], pixels[at + 2]].map(u32::from);
                let dimmed = |channel: u32| channel * DIM / 256;
                buffer[y as usize * size.width as usize + x as usize] =
                    match part.and_then(|part| part.holds(column, row)) {
                        Some(true) => EDGE,
                        Some(false) => r << 16 | g << 8 | b,
                        None => dimmed(r) << 16 | dimmed(g) << 8 | dimmed(b),
                    };
            }
        }
        buffer.present().map_err(failed)
    }

    fn redraw(&self) {
        if let Some((window, _)) = &self.window {
            window.request_redraw();
        }
    }

    /// Converts a point of the window to a point of the picture.
    fn to_picture(&self, at: PhysicalPosition<f64>) -> (f64, f64) {
        let Some((window, _)) = &self.window else { return (0.0, 0.0) };
        let (size, (columns, rows)) = (window.inner_size(), self.picture.dimensions());
        let scaled = |at: f64, from: u32, to: u32| at * f64::from(to) / f64::from(from.max(1));
        (scaled(at.x, size.width, columns), scaled(at.y, size.height, rows))
    }
}

impl ApplicationHandler for Overlay {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        if self.window.is_none()
            && let Err(error) = self.open(event_loop)
        {
            self.failure = Some(error);
            event_loop.exit();
        }
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        match event {
            WindowEvent::CloseRequested | WindowEvent::Destroyed => event_loop.exit(),
            WindowEvent::RedrawRequested => {
                if let Err(error) = self.draw() {
                    self.failure = Some(error);
                    event_loop.exit();
                }
            }
            WindowEvent::Resized(_) => self.redraw(),
            WindowEvent::CursorMoved { position, .. } => {
                self.pointer = self.to_picture(position);
                if self.start.is_some() {
                    self.redraw();
                }
            }
            WindowEvent::MouseInput { state, button: MouseButton::Left, .. } => match state {
                ElementState::Pressed => self.start = Some(self.pointer),
                ElementState::Released => {
                    self.chosen = self.part();
                    self.start = None;
                    match self.chosen {
                        Some(_) => event_loop.exit(),
                        None => self.redraw(),
                    }
                }
            },
            WindowEvent::MouseInput {
                state: ElementState::Pressed,
                button: MouseButton::Right,
                ..
            } => event_loop.exit(),
            WindowEvent::KeyboardInput { event, .. } if event.state.is_pressed() => {
                match event.logical_key {
                    Key::Named(NamedKey::Escape) => event_loop.exit(),
                    Key::Named(NamedKey::Enter) => {
                        // Enter selects the whole screen.
                        let (width, height) = self.picture.dimensions();
                        self.chosen = Some(Region { x: 0, y: 0, width, height });
                        event_loop.exit();
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_stays_inside_the_picture_in_every_drag_direction() {
        let part = Region::between((30.7, 5.2), (10.1, 20.9), (100, 50));
        assert_eq!(part, Region { x: 10, y: 5, width: 21, height: 16 });
        let part = Region::between((-10.0, -10.0), (500.0, 500.0), (100, 50));
        assert_eq!(part, Region { x: 0, y: 0, width: 100, height: 50 });
        assert_eq!(part.holds(0, 30), Some(true));
        assert_eq!(part.holds(1, 1), Some(false));
        assert_eq!(part.holds(100, 1), None);
    }
}
