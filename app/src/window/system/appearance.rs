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
    sync::{Arc, atomic::AtomicBool},
};

use crate::window::system::appearance::reported::{ReportedSettings, Source};

/// The last report of each source of the desktop's settings.
#[derive(Default)]
pub(crate) struct Appearance {
    /// The sources that are followed, each on its own thread.
    pub(crate) followed: HashSet<Source>,
    pub(crate) reported: HashMap<Source, ReportedSettings>,
    /// Whether the window shows the theme for a light desktop; the control server reads it.
    pub(crate) is_theme_light: Arc<AtomicBool>,
}

impl Appearance {
    /// Whether the desktop prefers reduced motion. The portal takes precedence over XSETTINGS.
    pub(crate) fn is_motion_reduced(&self) -> Option<bool> {
        let all = [Source::Portal, Source::XSettings];
        all.iter().find_map(|source| self.reported.get(source)?.is_motion_reduced)
    }
}

/// Reports the settings of a source now, and again after each change, until the source disappears.
#[cfg(all(unix, not(target_os = "macos")))]
pub(crate) fn follow(source: Source, report: impl Fn(ReportedSettings)) {
    match source {
        Source::Portal => portal::follow(report),
        Source::XSettings => xsettings::follow(report),
    }
}

/// Does nothing: this operating system has neither source of settings.
#[cfg(not(all(unix, not(target_os = "macos"))))]
pub(crate) fn follow(_: Source, _: impl Fn(ReportedSettings)) {}
