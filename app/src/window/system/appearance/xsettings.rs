//! Follows the settings of an X11 desktop (XSETTINGS). Only the GTK setting for animations is used.
//!
//! The thread blocks on its own connection to the X server. Only events about these settings wake the thread. It ends
//! when the connection closes.

use anyhow::Result;
use x11rb::{
    connection::Connection,
    protocol::{
        Event,
        xproto::{AtomEnum, ChangeWindowAttributesAux, ConnectionExt as _, EventMask},
    },
    rust_connection::RustConnection,
};

use crate::window::system::appearance::reported::ReportedSettings;

/// Reports the published settings now, and again whenever they may have changed.
pub(crate) fn follow(report: impl Fn(ReportedSettings)) {
    if let Err(error) = try_follow(&report) {
        tracing::debug!("can't follow XSETTINGS: {error}");
    }
}

fn try_follow(report: &impl Fn(ReportedSettings)) -> Result<()> {
    let (connection, screen) = x11rb::connect(None)?;
    let atom = |name: &str| -> Result<u32> {
        Ok(connection.intern_atom(false, name.as_bytes())?.reply()?.atom)
    };
    let selection = atom(&format!("_XSETTINGS_S{screen}"))?;
    let (settings, manager) = (atom("_XSETTINGS_SETTINGS")?, atom("MANAGER")?);
    // A new settings manager announces itself on the root window (ICCCM 2.8).
    listen(&connection, connection.setup().roots[screen].root, EventMask::STRUCTURE_NOTIFY)?;
    loop {
        let owner = connection.get_selection_owner(selection)?.reply()?.owner;
        if owner != x11rb::NONE {
            let events = EventMask::PROPERTY_CHANGE | EventMask::STRUCTURE_NOTIFY;
            listen(&connection, owner, events)?;
        }
        let is_motion_reduced = animates(&connection, owner, settings).map(|animates| !animates);
        report(ReportedSettings { is_light: None, is_motion_reduced });
        loop {
            match connection.wait_for_event()? {
                Event::PropertyNotify(event) if event.atom == settings => break,
                Event::DestroyNotify(event) if event.window == owner => break,
                Event::ClientMessage(event) if event.type_ == manager => break,
                _ => {}
            }
        }
    }
}

/// Subscribes to the events of a window. The window may no longer exist.
fn listen(connection: &RustConnection, window: u32, events: EventMask) -> Result<()> {
    let attributes = ChangeWindowAttributesAux::new().event_mask(events);
    connection.change_window_attributes(window, &attributes)?.ignore_error();
    Ok(())
}

/// Whether the settings that a window publishes enable animations.
fn animates(connection: &RustConnection, owner: u32, settings: u32) -> Option<bool> {
    if owner == x11rb::NONE {
        return None;
    }
    let property = connection.get_property(false, owner, settings, AtomEnum::ANY, 0, 1 << 16);
    let bytes = property.ok()?.reply().ok()?.value;
    integer(&bytes, b"Gtk/EnableAnimations").map(|animated| animated != 0)
}

/// The value of an integer setting. For the format, see the XSETTINGS specification, "Format of the
/// _XSETTINGS_SETTINGS property".
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
        // The serial number of the last change follows the name. The value follows the serial number.
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

    /// Settings in either byte order: a string, a color and two integers.
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
                assert_eq!(integer(&bytes[..end], b"Gtk/EnableAnimations"), None, "cut at {end}");
            }
        }
        let lie = [0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 1, 0, 255, 255];
        assert_eq!(integer(&lie, b"Xft/DPI"), None);
    }
}
