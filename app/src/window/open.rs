//! The window itself: how large it is made and where, and its first picture.

use std::{sync::Arc, time::Instant};

use anyhow::{Context, Result};
use unterm_renderer::WindowPainter;
use winit::{
    event_loop::ActiveEventLoop,
    window::{Fullscreen, Window, WindowAttributes},
};

use super::{App, Screen, access::Access, geometry::Geometry, quake, wayland};
use crate::config::{BarPosition, WindowStart};

impl App {
    /// Creates the window and paints its first frame before showing it.
    pub(super) fn open_window(&mut self, event_loop: &ActiveEventLoop) -> Result<()> {
        let monitor =
            event_loop.primary_monitor().or_else(|| event_loop.available_monitors().next());
        self.fonts.scale = monitor.as_ref().map_or(1.0, |monitor| monitor.scale_factor() as f32);
        self.renderer.set_fonts(self.fonts.clone());
        let mut geometry = Geometry {
            width: 0,
            height: 0,
            scale: self.fonts.scale,
            cell: self.renderer.metrics(),
            ui_column: 1.0,
            padding: self.config.window.padding,
            has_tab_bar: self.wants_tab_bar(self.mux.layout().tabs.len()),
            tab_bar_at_foot: self.config.tab_bar.position == BarPosition::Bottom,
            has_status_bar: self.config.status_bar.show,
        };
        geometry.measure(&mut self.renderer);
        let (columns, rows) = (self.config.window.columns, self.config.window.rows);
        let attributes = Window::default_attributes().with_title("Unterm").with_visible(false);
        let (attributes, last_size) = self.as_last(attributes, event_loop);
        let wanted = |geometry: &Geometry| {
            let size = last_size.unwrap_or_else(|| geometry.window_for(columns, rows));
            quake::within(size, monitor.as_ref())
        };
        if let Some(monitor) = &monitor {
            self.pacing.set_refresh_rate(monitor.refresh_rate_millihertz());
        }
        self.is_transparent = self.config.window.opacity < 1.0;
        let mut attributes = attributes
            .with_inner_size(wayland::size(event_loop, wanted(&geometry), geometry.scale))
            .with_transparent(self.is_transparent);
        if wayland::is_used(event_loop) {
            attributes = attributes.with_theme(Some(self.frame_theme()));
        }
        if self.args.quake {
            let share = self.config.window.quake_height;
            attributes = quake::hang(attributes, monitor.as_ref(), share, event_loop)?;
        }
        let starts_maximized = self.config.window.start == WindowStart::Maximized;
        let is_maximized = !self.args.quake && (attributes.maximized || starts_maximized);
        let window = event_loop
            .create_window(named(attributes, event_loop))
            .context("the window can't be created")?;
        let window = Arc::new(window);
        let size = window.inner_size();
        (geometry.width, geometry.height) = (size.width.max(1), size.height.max(1));
        let mut painter = WindowPainter::new(Arc::clone(&window), self.args.painter.into())?;
        painter.resize(geometry.width, geometry.height);
        if self.is_transparent && wayland::is_opaque(&window, painter.kind()) {
            self.is_transparent = false;
            window.set_transparent(false);
            self.notify("opacity", wayland::OPAQUE.to_owned());
        }
        window.set_ime_allowed(true);
        if self.config.window.accessibility {
            self.access = Access::start(event_loop, &window, &self.inbox);
        }
        if !self.args.quake && self.config.window.start == WindowStart::Fullscreen {
            window.set_fullscreen(Some(Fullscreen::Borderless(None)));
        }
        if self.config.window.blur {
            self.apply_blur(&window);
        }
        self.screen = Some(Screen {
            window: Arc::clone(&window),
            painter,
            geometry,
            title: String::new(),
            occluded: false,
            minimized: None,
            ime_area: None,
        });
        let guessed = geometry.scale;
        self.rescale(window.scale_factor());
        if let Some(geometry) = self.told_scale(guessed) {
            // A whole number was the first guess, on Wayland.
            let size = wayland::size(event_loop, wanted(&geometry), geometry.scale);
            if let Some(size) = window.request_inner_size(size) {
                self.resized(size);
            }
        }
        if self.is_light().is_some() {
            self.apply_theme();
        }
        self.arrange();
        self.paint(Instant::now());
        window.set_visible(true);
        if is_maximized {
            // Not before: X11's window managers pass over it for a window that they have not been asked to show.
            window.set_maximized(true);
        }
        self.hear_desktop();
        Ok(())
    }

    /// The window's measures, where a new one has another scale than was guessed. 1 may mean that it was not told yet.
    fn told_scale(&self, guessed: f32) -> Option<Geometry> {
        let geometry = self.screen.as_ref()?.geometry;
        let is_other = (geometry.scale - guessed).abs() > f32::EPSILON;
        (is_other && geometry.scale > 1.0 && !self.args.quake).then_some(geometry)
    }
}

#[cfg(all(unix, not(target_os = "macos")))]
fn named(attributes: WindowAttributes, event_loop: &ActiveEventLoop) -> WindowAttributes {
    use winit::platform::{wayland::WindowAttributesExtWayland, x11::WindowAttributesExtX11};
    if wayland::is_used(event_loop) {
        WindowAttributesExtWayland::with_name(attributes, "unterm", "")
    } else {
        WindowAttributesExtX11::with_name(attributes, "unterm", "unterm")
    }
}

#[cfg(not(all(unix, not(target_os = "macos"))))]
fn named(attributes: WindowAttributes, _: &ActiveEventLoop) -> WindowAttributes {
    attributes
}
