//! A new window's position, size and layout, and the session saved for the next one; the drop-down window at the top of
//! the screen, which a key shows and hides.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use unterm_control::{
    client::{self, Client},
    methods::action::{Run, RunParams},
};
use unterm_mux::Mux;
use winit::{
    dpi::{PhysicalPosition, PhysicalSize},
    event_loop::ActiveEventLoop,
    monitor::MonitorHandle,
    window::{Window, WindowAttributes, WindowLevel},
};

use super::{App, blur, toast::first_of, wayland};
use crate::{args::Args, config::Settings, last_session::LastSession, layout_file::LayoutFile};

/// The part of a restored window that must be on a screen, in pixels each way.
const SEEN: i32 = 64;
/// The value of `startup.layout` that restores the last window's layout.
const LAST: &str = "last";
/// The delay between a change of the layout and saving it.
const KEEP: Duration = Duration::from_secs(2);
/// The most faults of a layout to list.
const FAULTS: usize = 3;

/// Shows or hides the drop-down of another instance; false if no instance has one.
pub(super) fn toggle_running(home: &std::path::Path) -> bool {
    client::find(home).iter().any(|endpoint| {
        let toggle = RunParams { name: "toggle_quake".into(), ..RunParams::default() };
        let toggled = || Client::connect_to(endpoint)?.call::<Run>(toggle);
        toggled().is_ok_and(|reply| reply.done)
    })
}

/// Opens the layout that a new window starts with; returns its errors.
pub(super) fn open_layout(
    mux: &Mux,
    args: &Args,
    settings: &Settings,
    last: Option<&LastSession>,
) -> Option<String> {
    let config = settings.get();
    let name = config.startup.layout.as_str();
    // A command or directory on the command line replaces the layout.
    if name.is_empty() || !args.execute.is_empty() || args.cwd.is_some() {
        return None;
    }
    let faults = match name {
        LAST => last.map_or_else(Vec::new, |last| last.layout.open(mux)),
        name => match LayoutFile::read(settings.home(), name) {
            Ok(layout) => layout.open(mux),
            Err(error) => return Some(format!("Can't open the layout.\n{error:#}")),
        },
    };
    let shown = first_of(&faults, FAULTS).join("\n");
    (!faults.is_empty()).then(|| format!("Part of the layout could not be started.\n{shown}"))
}

/// Makes a window a drop-down: without a frame, above other windows, as wide as the screen.
///
/// # Errors
/// On Wayland, where a window can't set its position; and on a screen of unknown size.
pub(super) fn hang(
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

/// A window's size, limited to the screen; a screen of unknown size has size 0 and sets no limit.
pub(super) fn within((width, height): (u32, u32), monitor: Option<&MonitorHandle>) -> (u32, u32) {
    let room = monitor.map(MonitorHandle::size).unwrap_or_default();
    (fitting(width, room.width), fitting(height, room.height))
}

/// A length limited to the screen; a longer one leaves a tenth to frames and the desktop's panels.
fn fitting(length: u32, room: u32) -> u32 {
    if room > 0 && length > room { room - room / 10 } else { length }
}

/// The last window's position if enough of it is on one of the screens, given as corners and sizes.
fn place_on(
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

impl App {
    /// Attributes and size of the last window if `window.restore` is on; else `attributes` unchanged.
    pub(super) fn as_last(
        &self,
        attributes: WindowAttributes,
        event_loop: &ActiveEventLoop,
    ) -> (WindowAttributes, Option<(u32, u32)>) {
        let Some(last) = self.last.as_ref().filter(|_| self.config.window.restore) else {
            return (attributes, None);
        };
        let screens =
            event_loop.available_monitors().map(|screen| (screen.position(), screen.size()));
        let attributes = match place_on(last, screens) {
            // If another Unterm window is open, the desktop chooses the position.
            Some(place) if !self.has_sibling() => attributes.with_position(place),
            _ => attributes,
        };
        (attributes.with_maximized(last.maximized), Some((last.width, last.height)))
    }

    /// Whether another instance is registered.
    fn has_sibling(&self) -> bool {
        std::fs::read_dir(self.settings.home().join("instances"))
            .is_ok_and(|entries| entries.count() > 1)
    }

    /// Saves size, position, layout and the desktop's appearance for the next window.
    pub(super) fn keep_session(&self) {
        if let Some(session) = self.session() {
            session.write(self.settings.home());
        }
    }

    /// The session to save for the next window; `None` for a drop-down.
    pub(super) fn session(&self) -> Option<LastSession> {
        let form = self.form().filter(|_| !self.args.quake)?;
        // Directories only: the programs of this session are not restarted.
        let layout = LayoutFile::of(&self.mux, false);
        Some(LastSession { layout, is_light: self.is_light(), ..form })
    }

    /// Saves changed tabs, splits or directories shortly if `startup.layout` restores them, since a window may end
    /// without closing, for example with its desktop.
    pub(super) fn keep_soon(&mut self) {
        if self.config.startup.layout == LAST && self.keep_at.is_none() {
            let time = Instant::now() + KEEP;
            self.keep_at = Some(time);
            self.wake_at(time);
        }
    }

    /// Saves the session if it is due; returns when it is due otherwise.
    pub(super) fn keep_in_time(&mut self, now: Instant) -> Option<Instant> {
        // Changes of titles also schedule a save, so an unchanged session is not written.
        if self.keep_at.take_if(|time| *time <= now).is_some()
            && let Some(session) = self.session()
            && self.last.as_ref() != Some(&session)
        {
            session.write(self.settings.home());
            self.last = Some(session);
        }
        self.keep_at
    }

    /// The window's size and position; for a fullscreen window, those of the last session or the configured size.
    fn form(&self) -> Option<LastSession> {
        let screen = self.screen.as_ref()?;
        let geometry = screen.geometry;
        if screen.window.fullscreen().is_some() {
            let wanted = &self.config.window;
            let (width, height) = geometry.window_for(wanted.columns, wanted.rows);
            let first = || LastSession { width, height, ..LastSession::default() };
            return Some(self.last.clone().unwrap_or_else(first));
        }
        let place = screen.window.outer_position().ok().map(|place| (place.x, place.y));
        let maximized = screen.window.is_maximized();
        let (width, height) = (geometry.width, geometry.height);
        Some(LastSession { width, height, place, maximized, ..LastSession::default() })
    }

    /// Saves the open tabs as a named layout.
    pub(super) fn save_layout(&mut self, name: &str) {
        match LayoutFile::of(&self.mux, true).write(self.settings.home(), name) {
            Ok(file) => self.notify("layout", format!("Layout saved.\n{}", file.display())),
            Err(error) => {
                self.complain("layout", format!("Can't save the layout.\n{error:#}"));
            }
        }
    }

    /// Shows or hides the drop-down; false if this window is not a drop-down.
    pub(super) fn toggle_quake(&mut self) -> bool {
        let Some(screen) = self.screen.as_ref().filter(|_| self.args.quake) else { return false };
        let window = &screen.window;
        let is_shown = window.is_visible() != Some(false);
        // A drop-down without focus may be behind other windows: it is raised, not hidden.
        if is_shown && self.focused {
            window.set_visible(false);
        } else {
            let corner = window.current_monitor().map(|monitor| monitor.position());
            window.set_visible(true);
            window.set_outer_position(corner.unwrap_or_default());
            window.focus_window();
            self.redraw_whole();
        }
        true
    }

    /// The opacity of the panes' backgrounds.
    pub(super) fn opacity(&self) -> f32 {
        if self.is_transparent { self.config.window.opacity } else { 1.0 }
    }

    /// Applies the configured blur behind the window, if the desktop supports it.
    pub(super) fn apply_blur(&self, window: &Window) {
        if self.is_transparent {
            blur::apply(window, self.config.window.blur);
        }
    }
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
