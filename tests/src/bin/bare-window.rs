//! The smallest possible window program: it shows a rectangle that changes color with each key, presented by
//! softbuffer. It contains no terminal, so its latency is the lower bound for every terminal measured beside it.

use std::{num::NonZeroU32, sync::Arc};

use anyhow::{Context as _, Result, anyhow};
use softbuffer::{Context, Surface};
use winit::{
    application::ApplicationHandler,
    dpi::PhysicalSize,
    event::{ElementState, WindowEvent},
    event_loop::{ActiveEventLoop, EventLoop, OwnedDisplayHandle},
    window::{Window, WindowId},
};

/// Side of the rectangle in pixels, about the size of a cell.
const RECTANGLE: u32 = 16;

struct Bare {
    context: Context<OwnedDisplayHandle>,
    surface: Option<Surface<OwnedDisplayHandle, Arc<Window>>>,
    is_lit: bool,
    failure: Option<anyhow::Error>,
}

fn main() -> Result<()> {
    let event_loop = EventLoop::new().context("no display")?;
    let context = Context::new(event_loop.owned_display_handle()).map_err(converted)?;
    let mut bare = Bare { context, surface: None, is_lit: false, failure: None };
    event_loop.run_app(&mut bare)?;
    bare.failure.map_or(Ok(()), Err)
}

/// Converts softbuffer's error.
fn converted(error: softbuffer::SoftBufferError) -> anyhow::Error {
    anyhow!("softbuffer: {error}")
}

impl Bare {
    fn open(&mut self, event_loop: &ActiveEventLoop) -> Result<()> {
        let attributes = Window::default_attributes().with_inner_size(PhysicalSize::new(800, 600));
        let window = Arc::new(event_loop.create_window(attributes)?);
        self.surface = Some(Surface::new(&self.context, window).map_err(converted)?);
        self.paint()
    }

    fn paint(&mut self) -> Result<()> {
        let Some(surface) = &mut self.surface else { return Ok(()) };
        let size = surface.window().inner_size();
        let (Some(width), Some(height)) =
            (NonZeroU32::new(size.width), NonZeroU32::new(size.height))
        else {
            return Ok(());
        };
        surface.resize(width, height).map_err(converted)?;
        let mut buffer = surface.buffer_mut().map_err(converted)?;
        let color = if self.is_lit { 0xff_ff_ff } else { 0x80_80_80 };
        for (index, pixel) in (0..).zip(buffer.iter_mut()) {
            let (x, y) = (index % width.get(), index / width.get());
            *pixel = if x < RECTANGLE && y < RECTANGLE { color } else { 0 };
        }
        buffer.present().map_err(converted)
    }

    /// Stores the first failure for the exit status, and exits the event loop.
    fn unless(&mut self, result: Result<()>, event_loop: &ActiveEventLoop) {
        if let Err(error) = result {
            self.failure.get_or_insert(error);
            event_loop.exit();
        }
    }
}

impl ApplicationHandler for Bare {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        let opened = self.open(event_loop);
        self.unless(opened, event_loop);
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let painted = match event {
            WindowEvent::CloseRequested => return event_loop.exit(),
            WindowEvent::KeyboardInput { event, .. } if event.state == ElementState::Pressed => {
                self.is_lit = !self.is_lit;
                self.paint()
            }
            WindowEvent::RedrawRequested => self.paint(),
            _ => Ok(()),
        };
        self.unless(painted, event_loop);
    }
}
