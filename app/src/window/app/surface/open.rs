//! Creates the window: determines its size and position, and paints its first frame.

use std::sync::Arc;

use anyhow::{Context, Result};
use unterm_renderer::WindowPainter;
use winit::{
    dpi::Size,
    event_loop::ActiveEventLoop,
    monitor::MonitorHandle,
    window::{Fullscreen, ImePurpose, Window, WindowAttributes},
};

use crate::config::WindowStart;
use crate::window::{
    app::App,
    effect::Effect,
    surface::{
        drop_down, icon, last_form,
        mapping::{self, Mapping},
        screen::Screen,
        wayland, x_server,
    },
    system::access::Access,
    ui::geometry::Geometry,
    workspace::first_panes,
};

/// The wanted size of a new window: the size of the last window, or else a number of columns and rows. It is limited
/// to the size of the screen.
struct Wanted {
    last: Option<(u32, u32)>,
    columns: u16,
    rows: u16,
    monitor: Option<MonitorHandle>,
}

impl Wanted {
    /// The size to request for a window with these measures.
    fn size(&self, geometry: &Geometry, event_loop: &ActiveEventLoop) -> Size {
        let size = self.last.unwrap_or_else(|| geometry.window_for(self.columns, self.rows));
        wayland::size(event_loop, drop_down::within(size, self.monitor.as_ref()), geometry.scale)
    }
}

impl App {
    /// Creates the window. Paints the first frame before the window is shown.
    pub(crate) fn open_window(&mut self, event_loop: &ActiveEventLoop) -> Result<()> {
        let monitor =
            event_loop.primary_monitor().or_else(|| event_loop.available_monitors().next());
        if let Some(monitor) = &monitor {
            self.surface.pacing.set_refresh_rate(monitor.refresh_rate_millihertz());
        }
        let geometry = self.first_geometry(monitor.as_ref());
        self.surface.is_transparent = self.prefs.config.window.opacity < 1.0;
        let is_x11 = cfg!(all(unix, not(target_os = "macos"))) && !wayland::is_used(event_loop);
        if self.surface.is_transparent && is_x11 && !x_server::has_compositor() {
            // Without a compositor, the X server would show black behind a translucent window.
            self.surface.is_transparent = false;
            self.notify("opacity", x_server::NO_COMPOSITOR.to_owned());
        }
        let attributes = Window::default_attributes()
            .with_title("Unterm")
            .with_window_icon(icon::icon())
            .with_visible(false);
        let (attributes, last) =
            last_form::restored(attributes, self.workspace.last.as_ref(), &self.prefs, event_loop);
        let (columns, rows) = (self.prefs.config.window.columns, self.prefs.config.window.rows);
        let wanted = Wanted { last, columns, rows, monitor };
        let attributes = self.attributes(attributes, &geometry, &wanted, event_loop)?;
        let starts_maximized = self.prefs.starts_maximized();
        let is_maximized = !self.prefs.args.quake && (attributes.maximized || starts_maximized);
        let window = event_loop
            .create_window(named(attributes, &self.prefs.args.class, event_loop))
            .context("the window can't be created")?;
        let window = Arc::new(window);
        self.furnish(&window, geometry, event_loop)?;
        self.follow_scale(&window, &wanted, geometry.scale, event_loop);
        if self.is_light().is_some() {
            self.apply_theme();
        }
        self.arrange();
        self.paint(self.now);
        self.show_first(&window, is_maximized);
        self.follow_desktop();
        self.receive_drops();
        Ok(())
    }

    /// Shows the new window. As soon as its size is known, opens the first panes.
    fn show_first(&mut self, window: &Window, is_maximized: bool) {
        if let Some(first) = &mut self.workspace.first {
            first.due = Some(self.now + first_panes::LONGEST);
            self.surface.wake_at(self.now + first_panes::LONGEST);
        }
        let Some(id) = x_server::id(window) else {
            return window.set_visible(true);
        };
        let is_fullscreen = window.fullscreen().is_some();
        let states = [(is_maximized, mapping::MAXIMIZED), (is_fullscreen, mapping::FULLSCREEN)];
        let states = states.iter().filter(|(is_on, _)| *is_on).flat_map(|(_, names)| *names);
        let shown = Mapping::prepare(id, states.copied());
        window.set_visible(true);
        if let Some(mapping) = shown {
            mapping.wait(first_panes::LONGEST);
        }
        // The system returns the final size, but winit's queue still contains events with each size that the window had
        // on the way. If a program starts in between, it reads one of these sizes.
        self.resized(window.inner_size());
        self.surface.has_old_sizes = true;
        self.open_first_panes();
    }

    /// The expected measures of the window on a screen, before the window exists.
    fn first_geometry(&mut self, monitor: Option<&MonitorHandle>) -> Geometry {
        self.prefs.fonts.scale = monitor.map_or(1.0, |monitor| monitor.scale_factor() as f32);
        self.surface.renderer.set_fonts(self.prefs.fonts.clone());
        let mut geometry = Geometry {
            width: 0,
            height: 0,
            scale: self.prefs.fonts.scale,
            cell: self.surface.renderer.metrics(),
            ui_column: 1.0,
            padding: self.prefs.config.window.padding,
            has_tab_bar: self.prefs.wants_tab_bar(self.tabs_soon()),
            tabs_at: self.prefs.tabs_at(),
            has_status_bar: self.prefs.config.status_bar.show,
        };
        geometry.measure(&mut self.surface.renderer);
        geometry
    }

    /// Adds attributes to those that were taken from the last window.
    fn attributes(
        &self,
        attributes: WindowAttributes,
        geometry: &Geometry,
        wanted: &Wanted,
        event_loop: &ActiveEventLoop,
    ) -> Result<WindowAttributes> {
        let mut attributes = attributes
            .with_inner_size(wanted.size(geometry, event_loop))
            .with_transparent(self.surface.is_transparent);
        if wayland::is_used(event_loop) {
            attributes = attributes.with_theme(Some(self.prefs.frame_theme()));
            // Set the state before the window is created. Then the compositor's first configure event already contains
            // the final size.
            let start = self.prefs.config.window.start;
            let is_fullscreen = start == WindowStart::Fullscreen;
            attributes =
                attributes.with_fullscreen(is_fullscreen.then_some(Fullscreen::Borderless(None)));
            if self.prefs.starts_maximized() {
                attributes = attributes.with_maximized(true);
            }
        }
        if self.prefs.args.quake {
            let share = self.prefs.config.window.quake_height;
            attributes = drop_down::hang(attributes, wanted.monitor.as_ref(), share, event_loop)?;
        }
        Ok(attributes)
    }

    /// Creates the painter of a new window and applies the preferences, before the window is shown.
    fn furnish(
        &mut self,
        window: &Arc<Window>,
        mut geometry: Geometry,
        event_loop: &ActiveEventLoop,
    ) -> Result<()> {
        let size = window.inner_size();
        (geometry.width, geometry.height) = (size.width.max(1), size.height.max(1));
        let mut painter = WindowPainter::new(Arc::clone(window), self.prefs.args.painter.into())?;
        painter.resize(geometry.width, geometry.height);
        if self.surface.is_transparent && wayland::is_opaque(window, painter.kind()) {
            self.surface.is_transparent = false;
            window.set_transparent(false);
            self.notify("opacity", wayland::OPAQUE.to_owned());
        }
        window.set_ime_purpose(ImePurpose::Terminal);
        window.set_ime_allowed(true);
        if self.prefs.config.window.accessibility {
            self.system.access = Access::start(event_loop, window, &self.inbox);
        }
        let is_fullscreen = self.prefs.config.window.start == WindowStart::Fullscreen;
        if is_fullscreen && !self.prefs.args.quake && !wayland::is_used(event_loop) {
            window.set_fullscreen(Some(Fullscreen::Borderless(None)));
        }
        if self.prefs.config.window.blur && self.surface.is_transparent {
            self.effect(Effect::Blur(true));
        }
        self.surface.geometry = Some(geometry);
        self.surface.screen = Some(Screen::new(Arc::clone(window), painter));
        Ok(())
    }

    /// Adopts the scale of a new window. If the expected scale was wrong, requests the wanted size again.
    fn follow_scale(
        &mut self,
        window: &Window,
        wanted: &Wanted,
        guessed: f32,
        event_loop: &ActiveEventLoop,
    ) {
        self.rescale(window.scale_factor());
        let Some(geometry) = self.reported_scale(guessed) else { return };
        // On Wayland, the expected scale is a whole number, so it is wrong on screens with fractional scales.
        if let Some(size) = window.request_inner_size(wanted.size(&geometry, event_loop)) {
            self.resized(size);
        }
    }

    /// The measures of the new window, if its scale differs from the expected scale. A scale of 1 is ignored, because
    /// it may mean that the scale is not reported yet.
    fn reported_scale(&self, guessed: f32) -> Option<Geometry> {
        let geometry = self.surface.geometry?;
        let is_other = (geometry.scale - guessed).abs() > f32::EPSILON;
        (is_other && geometry.scale > 1.0 && !self.prefs.args.quake).then_some(geometry)
    }
}

#[cfg(all(unix, not(target_os = "macos")))]
fn named(
    attributes: WindowAttributes,
    class: &str,
    event_loop: &ActiveEventLoop,
) -> WindowAttributes {
    use winit::platform::{wayland::WindowAttributesExtWayland, x11::WindowAttributesExtX11};
    if wayland::is_used(event_loop) {
        WindowAttributesExtWayland::with_name(attributes, class, "")
    } else {
        WindowAttributesExtX11::with_name(attributes, class, "unterm")
    }
}

#[cfg(not(all(unix, not(target_os = "macos"))))]
fn named(attributes: WindowAttributes, _: &str, _: &ActiveEventLoop) -> WindowAttributes {
    attributes
}
