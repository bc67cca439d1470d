//! Light or dark, and whether to animate: the user's setting, or else the desktop's.
//!
//! Owns the desktop's last reports. Threads deliver them: one follows the portal (`portal.rs`); for a window on X11, if
//! the portal has no motion setting, another follows XSETTINGS (`xsettings.rs`). Each starts only when a setting
//! depends on the desktop.

#[cfg(all(unix, not(target_os = "macos")))]
pub(crate) mod portal;
pub(crate) mod said;
#[cfg(all(unix, not(target_os = "macos")))]
pub(crate) mod xsettings;

use std::collections::{HashMap, HashSet};

use crate::window::system::appearance::said::{Said, Source};

/// The last report of each source.
#[derive(Default)]
pub(crate) struct Appearance {
    /// The sources that a thread follows.
    pub(crate) heard: HashSet<Source>,
    pub(crate) said: HashMap<Source, Said>,
}

impl Appearance {
    /// The portal takes precedence.
    pub(crate) fn is_motion_reduced(&self) -> Option<bool> {
        let all = [Source::Portal, Source::XSettings];
        all.iter().find_map(|source| self.said.get(source)?.is_motion_reduced)
    }
}

/// Reports a source's settings, and again after each change, until the source disappears.
#[cfg(all(unix, not(target_os = "macos")))]
pub(crate) fn hear(source: Source, tell: impl Fn(Said)) {
    match source {
        Source::Portal => portal::hear(tell),
        Source::XSettings => xsettings::hear(tell),
    }
}

/// Neither source exists on this system.
#[cfg(not(all(unix, not(target_os = "macos"))))]
pub(crate) fn hear(_: Source, _: impl Fn(Said)) {}
