//! Light or dark, and whether to animate: the user's setting, or else the desktop's.
//!
//! Owns the desktop's last reports. Threads deliver them: one follows the portal (`portal.rs`); for a window on X11, if
//! the portal has no motion setting, another follows XSETTINGS (`xsettings.rs`). Each starts only when a setting
//! depends on the desktop.

#[cfg(all(unix, not(target_os = "macos")))]
mod portal;
#[cfg(all(unix, not(target_os = "macos")))]
mod xsettings;

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::{Duration, Instant},
};

use winit::window::Theme as SystemTheme;

use super::{App, Screen, wayland, x_server};
use crate::config::{ReducedMotion, ThemeChoice};

/// Where the desktop publishes its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Source {
    Portal,
    XSettings,
}

/// The settings that a source reports. `None` means not reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    /// Light rather than dark.
    pub(super) is_light: Option<bool>,
    pub(super) is_motion_reduced: Option<bool>,
}

/// The last report of each source.
#[derive(Default)]
pub(super) struct Appearance {
    /// The sources that a thread follows.
    heard: HashSet<Source>,
    said: HashMap<Source, Said>,
}

impl Appearance {
    /// The portal takes precedence.
    fn is_motion_reduced(&self) -> Option<bool> {
        let all = [Source::Portal, Source::XSettings];
        all.iter().find_map(|source| self.said.get(source)?.is_motion_reduced)
    }
}

impl Source {
    /// The name of the thread that follows the source.
    fn name(self) -> &'static str {
        match self {
            Self::Portal => "portal",
            Self::XSettings => "xsettings",
        }
    }

    /// Reports the source's settings, and again after each change, until the source disappears.
    #[cfg(all(unix, not(target_os = "macos")))]
    fn hear(self, tell: impl Fn(Said)) {
        match self {
            Self::Portal => portal::hear(tell),
            Self::XSettings => xsettings::hear(tell),
        }
    }

    /// Neither source exists on this system.
    #[cfg(not(all(unix, not(target_os = "macos"))))]
    fn hear(self, _: impl Fn(Said)) {}
}

impl App {
    /// Whether motion that the user does not cause is off: blinking, spinning and animated images.
    pub(super) fn stands_still(&self) -> bool {
        match self.config.window.reduced_motion {
            ReducedMotion::Fixed(reduced) => reduced,
            ReducedMotion::System(_) => self.appearance.is_motion_reduced().unwrap_or(false),
        }
    }

    /// The clock of animated images; `None` if motion is off.
    pub(super) fn clock(&self, now: Instant) -> Option<Duration> {
        (!self.stands_still()).then(|| now.saturating_duration_since(self.started))
    }

    /// Whether the system's theme is light, if it is known: from the window (except on Wayland, where the window has
    /// the theme that we set), else from the portal. Until the portal replies, the last window's theme applies.
    pub(super) fn is_light(&self) -> Option<bool> {
        let window = self.screen.as_ref().map(|screen| &screen.window);
        let theme =
            window.filter(|window| !wayland::shows(window)).and_then(|window| window.theme());
        let told = || match self.appearance.said.get(&Source::Portal) {
            Some(said) => said.is_light,
            None => self.last.as_ref()?.is_light,
        };
        theme.map(|theme| theme == SystemTheme::Light).or_else(told)
    }

    /// Starts to follow the desktop's settings, if any option depends on them.
    pub(super) fn hear_desktop(&mut self) {
        let is_motion_its = matches!(self.config.window.reduced_motion, ReducedMotion::System(_));
        if is_motion_its || matches!(self.config.theme, ThemeChoice::Pair(_)) {
            self.hear_source(Source::Portal);
        }
        let portal = self.appearance.said.get(&Source::Portal);
        let is_silent = portal.is_some_and(|said| said.is_motion_reduced.is_none());
        let is_on_x = |screen: &Screen| x_server::id(&screen.window).is_some();
        if is_motion_its && is_silent && self.screen.as_ref().is_some_and(is_on_x) {
            self.hear_source(Source::XSettings);
        }
    }

    fn hear_source(&mut self, source: Source) {
        if !self.appearance.heard.insert(source) {
            return;
        }
        let inbox = Arc::clone(&self.inbox);
        let tell = move |said| {
            inbox.post(|news| {
                news.desktop.insert(source, said);
            });
        };
        let hearing = std::thread::Builder::new().name(source.name().to_owned());
        if let Err(error) = hearing.spawn(move || source.hear(tell)) {
            tracing::debug!("what the desktop prefers is not heard: {error}");
        }
    }

    /// Applies new reports of the desktop.
    pub(super) fn desktop_said(&mut self, words: HashMap<Source, Said>) {
        let (was_light, stood_still) = (self.is_light(), self.stands_still());
        for (source, said) in words {
            tracing::debug!(?source, ?said, "the desktop says what it prefers");
            self.appearance.said.insert(source, said);
        }
        self.hear_desktop();
        if self.stands_still() != stood_still {
            self.pacing.ask();
        }
        if self.is_light() != was_light {
            self.apply_theme();
        }
    }
}
