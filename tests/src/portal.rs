//! A simulated desktop service for settings: the portal org.freedesktop.portal.Settings.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::Result;
use zbus::{
    blocking::{Connection, MessageIterator, connection::Builder},
    message::Type,
    zvariant::Value,
};

use crate::{Bus, PATIENCE};

const NAME: &str = "org.freedesktop.portal.Desktop";
const PATH: &str = "/org/freedesktop/portal/desktop";
const SETTINGS: &str = "org.freedesktop.portal.Settings";
/// The namespace of all settings that the portal serves.
const NAMESPACE: &str = "org.freedesktop.appearance";

/// The values of the settings, by their keys.
type Values = Arc<Mutex<HashMap<String, u32>>>;

/// The portal.
pub struct Portal {
    connection: Connection,
    values: Values,
}

impl Portal {
    /// Starts the portal on a bus, with a preferred color scheme: 1 dark, 2 light. At first, it serves no other
    /// settings.
    ///
    /// # Errors
    ///
    /// If the bus has ended or already has a portal.
    pub fn start(bus: &Bus, scheme: u32) -> Result<Self> {
        let connection = Builder::address(bus.address())?.method_timeout(PATIENCE).build()?;
        let messages = MessageIterator::from(&connection);
        connection.request_name(NAME)?;
        let values: Values =
            Arc::new(Mutex::new(HashMap::from([("color-scheme".to_owned(), scheme)])));
        let (service, known) = (connection.clone(), Arc::clone(&values));
        std::thread::Builder::new().name("portal".to_owned()).spawn(move || {
            for message in messages.flatten() {
                if let Err(error) = answer(&service, &message, &known) {
                    eprintln!("the portal: {error:#}");
                }
            }
        })?;
        Ok(Self { connection, values })
    }

    /// Changes a setting of org.freedesktop.appearance, and emits the signal for it.
    ///
    /// # Errors
    ///
    /// If the bus has ended.
    pub fn set(&self, key: &str, value: u32) -> Result<()> {
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        values.insert(key.to_owned(), value);
        drop(values);
        let change = (NAMESPACE, key, Value::U32(value));
        Ok(self.connection.emit_signal(None::<&str>, PATH, SETTINGS, "SettingChanged", &change)?)
    }
}

fn answer(connection: &Connection, message: &zbus::Message, values: &Values) -> Result<()> {
    let header = message.header();
    let is_ours = header.interface().is_some_and(|interface| interface == SETTINGS);
    if message.message_type() != Type::MethodCall || !is_ours {
        return Ok(());
    }
    let (namespace, key): (String, String) = message.body().deserialize()?;
    let values = values.lock().unwrap_or_else(PoisonError::into_inner);
    match values.get(&key).filter(|_| namespace == NAMESPACE) {
        // Wrap the value once more than necessary, as the portal's method `Read` does.
        Some(value) => connection.reply(&header, &Value::Value(Box::new(Value::U32(*value))))?,
        None => {
            let none = "org.freedesktop.portal.Error.NotFound";
            connection.reply_error(&header, none, &"there is no such setting")?;
        }
    }
    Ok(())
}
