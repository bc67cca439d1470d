//! Light or dark, and whether anything moves by itself: what the person prefers, else what the desktop says.
//!
//! Owns what the desktop said last. Threads that wait for its words bring them: one hears its portal (`portal.rs`); for a
//! window on X11, where the portal says nothing of motion, one more hears what is published there (`xsettings.rs`). They
//! start once anything is for the desktop to say.

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

/// What speaks for the desktop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Source {
    /// Its portal.
    Portal,
    /// The settings that it publishes on X11.
    XSettings,
}

/// What one of them says, as far as it does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    /// Light, and not dark.
    pub(super) is_light: Option<bool>,
    pub(super) is_motion_reduced: Option<bool>,
}

/// What the desktop said last.
#[derive(Default)]
pub(super) struct Appearance {
    /// Those that a thread hears.
    heard: HashSet<Source>,
    said: HashMap<Source, Said>,
}

impl Appearance {
    /// What the portal says goes first.
    fn is_motion_reduced(&self) -> Option<bool> {
        let all = [Source::Portal, Source::XSettings];
        all.iter().find_map(|source| self.said.get(source)?.is_motion_reduced)
    }
}

impl Source {
    /// Of the thread that hears it.
    fn name(self) -> &'static str {
        match self {
            Self::Portal => "portal",
            Self::XSettings => "xsettings",
        }
    }

    /// Tells what it says, and again whenever that changes, as long as it is there.
    #[cfg(all(unix, not(target_os = "macos")))]
    fn hear(self, tell: impl Fn(Said)) {
        match self {
            Self::Portal => portal::hear(tell),
            Self::XSettings => xsettings::hear(tell),
        }
    }

    /// Neither is there.
    #[cfg(not(all(unix, not(target_os = "macos"))))]
    fn hear(self, _: impl Fn(Said)) {}
}

impl App {
    /// Whether nothing moves that nobody moves: no blinking, turning or animated image.
    pub(super) fn stands_still(&self) -> bool {
        match self.config.window.reduced_motion {
            ReducedMotion::Fixed(reduced) => reduced,
            ReducedMotion::System(_) => self.appearance.is_motion_reduced().unwrap_or(false),
        }
    }

    /// The clock of animated images, if they move.
    pub(super) fn clock(&self, now: Instant) -> Option<Duration> {
        (!self.stands_still()).then(|| now.saturating_duration_since(self.started))
    }

    /// Whether the system's appearance is light, where it tells: by the window (on Wayland that has the one that we gave
    /// it), else by its portal; until that has answered, as it was for the last window.
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

    /// Hears the desktop from now on, if anything is for it to say.
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

    /// The desktop has said something.
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
