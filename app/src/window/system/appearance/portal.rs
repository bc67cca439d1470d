//! Follows the desktop portal's settings (org.freedesktop.portal.Settings).
//!
//! The thread blocks on the session bus. Only signals about these settings wake the thread. It ends when the bus
//! connection closes.

use std::time::Duration;

use zbus::{
    MatchRule,
    blocking::{Connection, MessageIterator, connection::Builder},
    message::Type,
    zvariant::OwnedValue,
};

use crate::window::system::{access, appearance::reported::ReportedSettings};

const PORTAL: &str = "org.freedesktop.portal.Desktop";
const PATH: &str = "/org/freedesktop/portal/desktop";
const SETTINGS: &str = "org.freedesktop.portal.Settings";
/// The timeout of a method call.
const PATIENCE: Duration = Duration::from_secs(10);

/// The name of a setting: its namespace and its key.
type Name<'a> = (&'a str, &'a str);

const COLOR_SCHEME: Name<'static> = ("org.freedesktop.appearance", "color-scheme");
const REDUCED_MOTION: Name<'static> = ("org.freedesktop.appearance", "reduced-motion");
/// The GNOME setting for animations, for portals that lack `REDUCED_MOTION`.
const ENABLE_ANIMATIONS: Name<'static> = ("org.gnome.desktop.interface", "enable-animations");

/// The portal's settings that Unterm uses. `None` means that the portal does not report the setting.
#[derive(Clone, Copy, Debug, Default)]
struct Settings {
    /// The value 1 prefers dark, 2 prefers light, 0 has no preference.
    color_scheme: Option<u32>,
    /// The value 1 prefers reduced motion, 0 has no preference.
    reduced_motion: Option<u32>,
    enable_animations: Option<bool>,
}

impl Settings {
    /// Stores the value of a setting. Ignores settings that Unterm does not use.
    fn set(&mut self, name: Name<'_>, value: &OwnedValue) {
        if name == COLOR_SCHEME {
            self.color_scheme = value.downcast_ref().ok();
        } else if name == REDUCED_MOTION {
            self.reduced_motion = value.downcast_ref().ok();
        } else if name == ENABLE_ANIMATIONS {
            self.enable_animations = value.downcast_ref().ok();
        }
    }

    fn reported(self) -> ReportedSettings {
        let is_light = match self.color_scheme {
            Some(1) => Some(false),
            Some(2) => Some(true),
            _ => None,
        };
        let is_motion_reduced = match (self.reduced_motion, self.enable_animations) {
            (Some(1), _) => Some(true),
            (_, Some(animated)) => Some(!animated),
            (Some(_), None) => Some(false),
            (None, None) => None,
        };
        ReportedSettings { is_light, is_motion_reduced }
    }
}

/// Reports the portal's settings now, and again after each change. If no portal exists, reports that nothing is set.
pub(crate) fn follow(report: impl Fn(ReportedSettings)) {
    if !access::has_bus() {
        return report(ReportedSettings::default());
    }
    if let Err(error) = try_follow(&report) {
        tracing::debug!("can't follow the settings of the desktop's portal: {error}");
        report(ReportedSettings::default());
    }
}

fn try_follow(report: &impl Fn(ReportedSettings)) -> zbus::Result<()> {
    let bus = Builder::session()?.method_timeout(PATIENCE).build()?;
    let rule = MatchRule::builder()
        .msg_type(Type::Signal)
        .sender(PORTAL)?
        .path(PATH)?
        .interface(SETTINGS)?
        .member("SettingChanged")?
        .build();
    // Subscribe before the first read, so that no change is missed.
    let mut changes = MessageIterator::for_match_rule(rule, &bus, None)?;
    let mut settings = Settings::default();
    for name in [COLOR_SCHEME, REDUCED_MOTION, ENABLE_ANIMATIONS] {
        if let Some(value) = read(&bus, name) {
            settings.set(name, &value);
        }
    }
    report(settings.reported());
    for change in changes.by_ref().map_while(Result::ok) {
        let changed: zbus::Result<(String, String, OwnedValue)> = change.body().deserialize();
        let Ok((namespace, key, value)) = changed else { continue };
        let before = settings.reported();
        settings.set((namespace.as_str(), key.as_str()), &value);
        if settings.reported() != before {
            report(settings.reported());
        }
    }
    // The bus is closed. If `changes` were dropped as an iterator, it would try to unsubscribe and would log an error.
    drop(changes.into_inner());
    Ok(())
}

fn read(bus: &Connection, name: Name<'_>) -> Option<OwnedValue> {
    // Unlike `ReadOne`, `Read` exists in every version of the portal. `Read` wraps the value in a superfluous variant.
    let reply = bus.call_method(Some(PORTAL), PATH, Some(SETTINGS), "Read", &name).ok()?;
    reply.body().deserialize().ok()
}

#[cfg(test)]
mod tests {
    use zbus::zvariant::Value;

    use super::*;

    fn set(settings: &mut Settings, name: Name<'_>, value: Value<'_>) {
        settings.set(name, &OwnedValue::try_from(value).expect("a value without descriptors"));
    }

    #[test]
    fn a_color_scheme_is_light_or_dark_or_neither() {
        let mut settings = Settings::default();
        for (scheme, is_light) in [(1, Some(false)), (2, Some(true)), (0, None), (7, None)] {
            set(&mut settings, COLOR_SCHEME, Value::U32(scheme));
            assert_eq!(settings.reported().is_light, is_light, "{scheme}");
        }
        // `Read` wraps the value in a superfluous variant.
        set(&mut settings, COLOR_SCHEME, Value::Value(Box::new(Value::U32(2))));
        assert_eq!(settings.reported().is_light, Some(true));
        set(&mut settings, ("org.gnome.desktop.interface", "color-scheme"), Value::U32(1));
        assert_eq!(settings.reported().is_light, Some(true), "another setting");
    }

    #[test]
    fn motion_is_reduced_by_the_key_for_it_or_by_gnomes() {
        let mut settings = Settings::default();
        assert_eq!(settings.reported().is_motion_reduced, None);
        set(&mut settings, REDUCED_MOTION, Value::U32(0));
        assert_eq!(settings.reported().is_motion_reduced, Some(false));
        set(&mut settings, ENABLE_ANIMATIONS, Value::Bool(false));
        assert_eq!(settings.reported().is_motion_reduced, Some(true));
        set(&mut settings, ENABLE_ANIMATIONS, Value::Bool(true));
        assert_eq!(settings.reported().is_motion_reduced, Some(false));
        set(&mut settings, REDUCED_MOTION, Value::U32(1));
        assert_eq!(settings.reported().is_motion_reduced, Some(true));
    }
}
