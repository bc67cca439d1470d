//! Whether to use light or dark colors, and whether to animate. The user's setting takes precedence over the
//! desktop's.
//!
//! Owns the last reports of the desktop. One thread follows the portal (`portal.rs`). On X11, if the portal has no
//! setting for motion, another thread follows XSETTINGS (`xsettings.rs`). A thread starts only if a setting of the
//! user depends on the desktop.

#[cfg(all(unix, not(target_os = "macos")))]
pub(crate) mod portal;
pub(crate) mod reported;
#[cfg(all(unix, not(target_os = "macos")))]
pub(crate) mod xsettings;

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use winit::window::Theme as SystemTheme;

use crate::config::{ReducedMotion, ThemeChoice};
use crate::last_session::LastSession;
use crate::window::{
    inbox::Inbox,
    prefs::Prefs,
    system::appearance::reported::{ReportedSettings, Source},
};

/// The last report of each source of the desktop's settings.
#[derive(Default)]
pub(crate) struct Appearance {
    /// The sources that are followed, each on its own thread.
    followed: HashSet<Source>,
    reported: HashMap<Source, ReportedSettings>,
    /// Whether the window shows the theme for a light desktop; the control server reads it.
    pub(crate) is_theme_light: Arc<AtomicBool>,
}

impl Appearance {
    /// Records whether the window shows the theme for a light desktop.
    pub(crate) fn set_theme_light(&self, is_light: bool) {
        self.is_theme_light.store(is_light, Ordering::Relaxed);
    }

    /// Whether automatic motion is off: blinking, turning rings and animated images.
    pub(crate) fn is_still(&self, prefs: &Prefs) -> bool {
        match prefs.config.window.reduced_motion {
            ReducedMotion::Fixed(reduced) => reduced,
            ReducedMotion::System(_) => self.is_motion_reduced().unwrap_or(false),
        }
    }

    /// The time for animated images: `since_start`, or `None` if motion is off.
    pub(crate) fn clock(&self, prefs: &Prefs, since_start: Duration) -> Option<Duration> {
        (!self.is_still(prefs)).then_some(since_start)
    }

    /// Whether the desktop's theme is light; `None` if unknown. `of_window` is the theme that the desktop sets for the
    /// window; `None` if the desktop sets none. Then the portal reports it. Until the portal replies, the theme of the
    /// last window applies.
    pub(crate) fn is_light(
        &self,
        of_window: Option<SystemTheme>,
        last: Option<&LastSession>,
    ) -> Option<bool> {
        let of_portal = || match self.reported.get(&Source::Portal) {
            Some(reported) => reported.is_light,
            None => last?.is_light,
        };
        of_window.map(|theme| theme == SystemTheme::Light).or_else(of_portal)
    }

    /// Starts to follow the desktop's settings, if any setting of the user depends on them. `is_on_x` is set if the
    /// window is on X11.
    pub(crate) fn follow_desktop(&mut self, prefs: &Prefs, is_on_x: bool, inbox: &Arc<Inbox>) {
        let is_motion_its = matches!(prefs.config.window.reduced_motion, ReducedMotion::System(_));
        if is_motion_its || matches!(prefs.config.theme, ThemeChoice::Pair(_)) {
            self.follow_source(Source::Portal, inbox);
        }
        let portal = self.reported.get(&Source::Portal);
        let is_silent = portal.is_some_and(|reported| reported.is_motion_reduced.is_none());
        if is_motion_its && is_silent && is_on_x {
            self.follow_source(Source::XSettings, inbox);
        }
    }

    fn follow_source(&mut self, source: Source, inbox: &Arc<Inbox>) {
        if !self.followed.insert(source) {
            return;
        }
        let inbox = Arc::clone(inbox);
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

    /// Stores new reports of the desktop.
    pub(crate) fn receive(&mut self, reports: HashMap<Source, ReportedSettings>) {
        for (source, reported) in reports {
            tracing::debug!(?source, ?reported, "the desktop reported its settings");
            self.reported.insert(source, reported);
        }
    }

    /// Whether the desktop prefers reduced motion. The portal takes precedence over XSETTINGS.
    fn is_motion_reduced(&self) -> Option<bool> {
        let all = [Source::Portal, Source::XSettings];
        all.iter().find_map(|source| self.reported.get(source)?.is_motion_reduced)
    }
}

/// Reports the settings of a source now, and again after each change, until the source disappears.
#[cfg(all(unix, not(target_os = "macos")))]
fn follow(source: Source, report: impl Fn(ReportedSettings)) {
    match source {
        Source::Portal => portal::follow(report),
        Source::XSettings => xsettings::follow(report),
    }
}

/// Does nothing: this operating system has neither source of settings.
#[cfg(not(all(unix, not(target_os = "macos"))))]
fn follow(_: Source, _: impl Fn(ReportedSettings)) {}
