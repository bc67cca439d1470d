//! Applies light or dark colors and reduced motion: as the user's setting says, or as the desktop reports.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use winit::window::Theme as SystemTheme;

use crate::config::{ReducedMotion, ThemeChoice};
use crate::window::{
    app::App,
    surface::{screen::Screen, wayland, x_server},
    system::appearance::{
        follow,
        reported::{ReportedSettings, Source},
    },
};

impl App {
    /// Whether automatic motion is off: blinking, turning rings and animated images.
    pub(crate) fn stands_still(&self) -> bool {
        match self.prefs.config.window.reduced_motion {
            ReducedMotion::Fixed(reduced) => reduced,
            ReducedMotion::System(_) => self.system.appearance.is_motion_reduced().unwrap_or(false),
        }
    }

    /// The time for animated images. `None` if motion is off.
    pub(crate) fn clock(&self, now: Instant) -> Option<Duration> {
        (!self.stands_still()).then(|| now.saturating_duration_since(self.surface.started))
    }

    /// Whether the desktop's theme is light; `None` if unknown. The window reports it, except on Wayland, where the
    /// window's theme is the one that we set. Otherwise the portal reports it. Until the portal replies, the theme of
    /// the last window applies.
    pub(crate) fn is_light(&self) -> Option<bool> {
        let window = self.surface.screen.as_ref().map(|screen| &screen.window);
        let theme =
            window.filter(|window| !wayland::shows(window)).and_then(|window| window.theme());
        let of_portal = || match self.system.appearance.reported.get(&Source::Portal) {
            Some(reported) => reported.is_light,
            None => self.workspace.last.as_ref()?.is_light,
        };
        theme.map(|theme| theme == SystemTheme::Light).or_else(of_portal)
    }

    /// Starts to follow the desktop's settings, if any setting of the user depends on them.
    pub(crate) fn follow_desktop(&mut self) {
        let is_motion_its =
            matches!(self.prefs.config.window.reduced_motion, ReducedMotion::System(_));
        if is_motion_its || matches!(self.prefs.config.theme, ThemeChoice::Pair(_)) {
            self.follow_source(Source::Portal);
        }
        let portal = self.system.appearance.reported.get(&Source::Portal);
        let is_silent = portal.is_some_and(|reported| reported.is_motion_reduced.is_none());
        let is_on_x = |screen: &Screen| x_server::id(&screen.window).is_some();
        if is_motion_its && is_silent && self.surface.screen.as_ref().is_some_and(is_on_x) {
            self.follow_source(Source::XSettings);
        }
    }

    fn follow_source(&mut self, source: Source) {
        if !self.system.appearance.followed.insert(source) {
            return;
        }
        let inbox = Arc::clone(&self.inbox);
        let report = move |reported| {
            inbox.post(|news| {
                news.system.desktop.insert(source, reported);
            });
        };
        let thread = std::thread::Builder::new().name(source.name().to_owned());
        if let Err(error) = thread.spawn(move || follow(source, report)) {
            tracing::debug!("can't follow the settings of the desktop: {error}");
        }
    }

    /// Applies new reports of the desktop.
    pub(crate) fn desktop_reported(&mut self, reports: HashMap<Source, ReportedSettings>) {
        let was_light = self.is_light();
        for (source, reported) in reports {
            tracing::debug!(?source, ?reported, "the desktop reported its settings");
            self.system.appearance.reported.insert(source, reported);
        }
        self.follow_desktop();
        if self.is_light() != was_light {
            self.apply_theme();
        }
    }
}
