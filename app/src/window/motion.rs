//! Whether anything may move by itself: what the person prefers, else what the desktop says; and whether that is light or
//! dark.
//!
//! Asking takes a thread for a moment: at the start, and when the window gets the keyboard again, since the person may have
//! changed it meanwhile.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use super::App;
use crate::config::{ReducedMotion, ThemeChoice};

/// The desktop is not asked again before this.
const AGE: Duration = Duration::from_secs(5);

/// What the desktop prefers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Taste {
    pub(super) is_motion_reduced: bool,
    /// Light, and not dark; `None`: it does not say.
    pub(super) is_light: Option<bool>,
}

/// What the desktop said last.
#[derive(Default)]
pub(super) struct Motion {
    pub(super) told: Option<Taste>,
    asked: Option<Instant>,
}

impl App {
    /// Whether nothing moves that nobody moves: no blinking, turning or animated image.
    pub(super) fn stands_still(&self) -> bool {
        match self.config.window.reduced_motion {
            ReducedMotion::Fixed(reduced) => reduced,
            ReducedMotion::System(_) => self.motion.told.unwrap_or_default().is_motion_reduced,
        }
    }

    /// The clock of animated images, if they move.
    pub(super) fn clock(&self, now: Instant) -> Option<Duration> {
        (!self.stands_still()).then(|| now.saturating_duration_since(self.started))
    }

    /// Asks the desktop anew, if anything is for it to say.
    pub(super) fn ask_for_taste(&mut self) {
        let is_fresh = self.motion.asked.is_some_and(|asked| asked.elapsed() < AGE);
        let is_wanted = matches!(self.config.window.reduced_motion, ReducedMotion::System(_))
            || matches!(self.config.theme, ThemeChoice::Pair(_));
        if is_fresh || !is_wanted {
            return;
        }
        self.motion.asked = Some(Instant::now());
        let inbox = Arc::clone(&self.inbox);
        let asking = std::thread::Builder::new().name("taste".to_owned());
        let started = asking.spawn(move || {
            let taste = desktop::taste();
            tracing::debug!(?taste, "the desktop says what it prefers");
            inbox.post(|news| news.taste = Some(taste));
        });
        if let Err(error) = started {
            tracing::debug!("the desktop can't be asked what it prefers: {error}");
        }
    }

    /// The desktop has answered.
    pub(super) fn taste_told(&mut self, taste: Taste) {
        let was_light = self.is_light();
        if self.motion.told.replace(taste) != Some(taste) {
            self.pacing.ask();
        }
        if self.is_light() != was_light {
            self.apply_theme();
        }
    }
}

#[cfg(all(unix, not(target_os = "macos")))]
mod desktop {
    use std::time::Duration;

    use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _};
    use zbus::{
        Connection, connection,
        zvariant::{OwnedValue, Value},
    };

    use super::Taste;

    /// How long a portal may take to answer.
    const PATIENCE: Duration = Duration::from_secs(10);

    /// Asks wherever it may be said.
    pub(super) fn taste() -> Taste {
        let (motion, is_light) = by_portal().unwrap_or_default();
        Taste { is_motion_reduced: motion.or_else(by_xsettings).unwrap_or(false), is_light }
    }

    /// The desktop's portal (org.freedesktop.portal.Settings): whether motion is reduced, and whether it is light.
    fn by_portal() -> Option<(Option<bool>, Option<bool>)> {
        if !crate::window::access::has_bus() {
            return None;
        }
        // On this thread alone, which then ends: nothing of it stays.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
        runtime.block_on(async {
            let bus = connection::Builder::session().ok()?.method_timeout(PATIENCE);
            let bus = bus.build().await.ok()?;
            Some((motion(&bus).await, light(&bus).await))
        })
    }

    /// By the key that is for this, else by GNOME's older one.
    async fn motion(bus: &Connection) -> Option<bool> {
        let reduced = read(bus, "org.freedesktop.appearance", "reduced-motion").await;
        let reduced = reduced.and_then(|value| u32::try_from(value).ok()).map(|how| how == 1);
        if reduced == Some(true) {
            return reduced;
        }
        let animated = read(bus, "org.gnome.desktop.interface", "enable-animations").await;
        let animated = animated.and_then(|value| bool::try_from(value).ok());
        animated.map(|animated| !animated).or(reduced)
    }

    /// 1 prefers dark, 2 light, 0 neither.
    async fn light(bus: &Connection) -> Option<bool> {
        let scheme = read(bus, "org.freedesktop.appearance", "color-scheme").await?;
        match u32::try_from(scheme).ok()? {
            1 => Some(false),
            2 => Some(true),
            _ => None,
        }
    }

    async fn read(bus: &Connection, namespace: &str, key: &str) -> Option<OwnedValue> {
        let about = (namespace, key);
        let call = bus.call_method(
            Some("org.freedesktop.portal.Desktop"),
            "/org/freedesktop/portal/desktop",
            Some("org.freedesktop.portal.Settings"),
            "Read",
            &about,
        );
        // `Read` wraps the value once more than it should; unlike `ReadOne` every version has it.
        let value: OwnedValue = call.await.ok()?.body().deserialize().ok()?;
        match value.downcast_ref::<Value<'_>>() {
            Ok(inner) => inner.try_to_owned().ok(),
            Err(_) => Some(value),
        }
    }

    /// The settings that a desktop on X11 publishes (XSETTINGS), of which GTK's says whether to animate.
    fn by_xsettings() -> Option<bool> {
        let (connection, screen) = x11rb::connect(None).ok()?;
        let atom = |name: &str| {
            Some(connection.intern_atom(false, name.as_bytes()).ok()?.reply().ok()?.atom)
        };
        let selection = atom(&format!("_XSETTINGS_S{screen}"))?;
        let owner = connection.get_selection_owner(selection).ok()?.reply().ok()?.owner;
        if owner == x11rb::NONE {
            return None;
        }
        let settings = atom("_XSETTINGS_SETTINGS")?;
        let reply = connection.get_property(false, owner, settings, AtomEnum::ANY, 0, 1 << 16);
        let bytes = reply.ok()?.reply().ok()?.value;
        integer(&bytes, b"Gtk/EnableAnimations").map(|animated| animated == 0)
    }

    /// The value of an integer among XSETTINGS (the specification's "Format of the _XSETTINGS_SETTINGS property").
    fn integer(bytes: &[u8], wanted: &[u8]) -> Option<u32> {
        let is_big = *bytes.first()? == 1;
        let number = |at: usize, size: usize| -> Option<u32> {
            let part = bytes.get(at..at + size)?;
            let add = |sum: u32, byte: &u8| sum << 8 | u32::from(*byte);
            Some(if is_big { part.iter().fold(0, add) } else { part.iter().rev().fold(0, add) })
        };
        let padded = |length: u32| (length as usize).next_multiple_of(4);
        let mut at = 12;
        for _ in 0..number(8, 4)? {
            let kind = *bytes.get(at)?;
            let length = number(at + 2, 2)?;
            let name = bytes.get(at + 4..at + 4 + length as usize)?;
            // Behind the name stands when it last changed.
            let value = at + 4 + padded(length) + 4;
            match kind {
                0 if name == wanted => return number(value, 4),
                0 => at = value + 4,
                1 => at = value + 4 + padded(number(value, 4)?),
                2 => at = value + 8,
                _ => return None,
            }
        }
        None
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        /// Settings in the byte order of the machine that this is written on: a string, a colour and two integers.
        fn settings(is_big: bool) -> Vec<u8> {
            let number = |n: u32| if is_big { n.to_be_bytes() } else { n.to_le_bytes() };
            let half = |n: u16| if is_big { n.to_be_bytes() } else { n.to_le_bytes() };
            let mut bytes = vec![u8::from(is_big), 0, 0, 0];
            bytes.extend([number(7), number(4)].concat());
            let mut add = |kind: u8, name: &str, value: &[u8]| {
                bytes.extend([kind, 0]);
                bytes.extend(half(name.len() as u16));
                bytes.extend(name.as_bytes());
                bytes.resize(bytes.len().next_multiple_of(4), 0);
                bytes.extend(number(1));
                bytes.extend(value);
            };
            add(1, "Net/ThemeName", &[number(5).as_slice(), b"Plain\0\0\0"].concat());
            add(2, "Gtk/Color", &[0; 8]);
            add(0, "Xft/DPI", &number(98_304));
            add(0, "Gtk/EnableAnimations", &number(0));
            bytes
        }

        #[test]
        fn a_setting_is_found_among_others_in_both_byte_orders() {
            for is_big in [false, true] {
                let bytes = settings(is_big);
                assert_eq!(integer(&bytes, b"Gtk/EnableAnimations"), Some(0));
                assert_eq!(integer(&bytes, b"Xft/DPI"), Some(98_304));
                assert_eq!(integer(&bytes, b"Net/ThemeName"), None, "not an integer");
                for end in 0..bytes.len() {
                    assert_eq!(
                        integer(&bytes[..end], b"Gtk/EnableAnimations"),
                        None,
                        "cut at {end}"
                    );
                }
            }
            let lie = [0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 1, 0, 255, 255];
            assert_eq!(integer(&lie, b"Xft/DPI"), None);
        }
    }
}

#[cfg(not(all(unix, not(target_os = "macos"))))]
mod desktop {
    use super::Taste;

    /// Nothing is asked yet.
    pub(super) fn taste() -> Taste {
        Taste::default()
    }
}
