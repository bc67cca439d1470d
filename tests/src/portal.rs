//! A desktop of the test's own, as far as its settings go: the portal that tells them (org.freedesktop.portal.Settings).

use anyhow::Result;
use zbus::{
    blocking::{Connection, MessageIterator, connection::Builder},
    message::Type,
    zvariant::Value,
};

use crate::{Bus, PATIENCE};

const NAME: &str = "org.freedesktop.portal.Desktop";
const SETTINGS: &str = "org.freedesktop.portal.Settings";

/// The portal.
pub struct Portal {
    _connection: Connection,
}

impl Portal {
    /// Starts it on a bus, with the colour scheme that it prefers: 1 dark, 2 light. It has no other settings.
    ///
    /// # Errors
    ///
    /// When the bus has ended or has a portal.
    pub fn start(bus: &Bus, scheme: u32) -> Result<Self> {
        let connection = Builder::address(bus.address())?.method_timeout(PATIENCE).build()?;
        let messages = MessageIterator::from(&connection);
        connection.request_name(NAME)?;
        let service = connection.clone();
        std::thread::Builder::new().name("portal".to_owned()).spawn(move || {
            for message in messages.flatten() {
                if let Err(error) = answer(&service, &message, scheme) {
                    eprintln!("the portal: {error:#}");
                }
            }
        })?;
        Ok(Self { _connection: connection })
    }
}

fn answer(connection: &Connection, message: &zbus::Message, scheme: u32) -> Result<()> {
    let header = message.header();
    let is_ours = header.interface().is_some_and(|interface| interface == SETTINGS);
    if message.message_type() != Type::MethodCall || !is_ours {
        return Ok(());
    }
    let (namespace, key): (String, String) = message.body().deserialize()?;
    if (namespace.as_str(), key.as_str()) == ("org.freedesktop.appearance", "color-scheme") {
        // Wrapped once more than it should be, as `Read` does.
        connection.reply(&header, &Value::Value(Box::new(Value::U32(scheme))))?;
    } else {
        let none = "org.freedesktop.portal.Error.NotFound";
        connection.reply_error(&header, none, &"there is no such setting")?;
    }
    Ok(())
}
