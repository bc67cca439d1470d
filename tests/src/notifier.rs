//! A simulated desktop service for notifications (org.freedesktop.Notifications on a session bus). It records the
//! requests, and a test can click the notifications.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU32, Ordering},
    mpsc,
};

use anyhow::{Context as _, Result};
use zbus::{
    blocking::{Connection, MessageIterator, connection::Builder},
    message::Type,
    zvariant::OwnedValue,
};

use crate::{Bus, PATIENCE};

const NAME: &str = "org.freedesktop.Notifications";
const PATH: &str = "/org/freedesktop/Notifications";

/// A request to the service.
#[derive(Clone, Debug, PartialEq)]
pub enum NotificationRequest {
    /// Show a notification.
    Show(Notice),
    /// Close the notification with this number.
    Close(u32),
}

/// A notification as requested.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Notice {
    /// The number that the service gave it.
    pub id: u32,
    /// The number of the notification that it replaces, or 0.
    pub replaces: u32,
    /// The application's name.
    pub app: String,
    /// Name of an icon.
    pub icon: String,
    /// The first line of the notification.
    pub title: String,
    /// The remaining text of the notification.
    pub body: String,
    /// Buttons: the action key that a click sends, and the label.
    pub actions: Vec<(String, String)>,
    /// The urgency: 0 low, 1 normal, 2 critical.
    pub urgency: Option<u8>,
    /// Name of a sound.
    pub sound: Option<String>,
    /// Whether the notification makes no sound.
    pub is_silent: bool,
    /// The time in milliseconds until the notification expires. 0 means never, -1 the service's default.
    pub expires: i32,
}

/// The notification service.
pub struct Notifier {
    connection: Connection,
    asked: mpsc::Receiver<NotificationRequest>,
}

impl Notifier {
    /// Starts the service on a bus. It reports these capabilities, such as `actions`, `body` or `body-markup`.
    ///
    /// # Errors
    ///
    /// If the bus has ended or already has such a service.
    pub fn start(bus: &Bus, capabilities: &[&str]) -> Result<Self> {
        let connection = Builder::address(bus.address())?.method_timeout(PATIENCE).build()?;
        let messages = MessageIterator::from(&connection);
        connection.request_name(NAME)?;
        let (sender, asked) = mpsc::channel();
        let service = Service {
            connection: connection.clone(),
            capabilities: capabilities.iter().map(|word| (*word).to_owned()).collect(),
            last: AtomicU32::new(100),
            asked: Mutex::new(sender),
        };
        let service = Arc::new(service);
        std::thread::Builder::new().name("notifier".to_owned()).spawn(move || {
            for message in messages.flatten() {
                if let Err(error) = service.answer(&message) {
                    eprintln!("the notification service: {error:#}");
                }
            }
        })?;
        Ok(Self { connection, asked })
    }

    /// Returns the next request.
    ///
    /// # Errors
    ///
    /// If no request arrives.
    pub fn asked(&self) -> Result<NotificationRequest> {
        self.asked.recv_timeout(PATIENCE).context("the notification service was not asked anything")
    }

    /// Returns the next request, which must show a notification.
    ///
    /// # Errors
    ///
    /// If no request arrives, or the request is of another kind.
    pub fn shown(&self) -> Result<Notice> {
        match self.asked()? {
            NotificationRequest::Show(notice) => Ok(notice),
            NotificationRequest::Close(id) => anyhow::bail!("asked to take {id} away"),
        }
    }

    /// Reports a click on a notification (`default`) or on the button with this action key.
    ///
    /// # Errors
    ///
    /// If the bus has ended.
    pub fn click(&self, id: u32, action: &str) -> Result<()> {
        Ok(self.connection.emit_signal(None::<&str>, PATH, NAME, "ActionInvoked", &(id, action))?)
    }

    /// Reports that the user dismissed a notification.
    ///
    /// # Errors
    ///
    /// If the bus has ended.
    pub fn dismiss(&self, id: u32) -> Result<()> {
        closed(&self.connection, id, 2)
    }
}

struct Service {
    connection: Connection,
    capabilities: Vec<String>,
    last: AtomicU32,
    asked: Mutex<mpsc::Sender<NotificationRequest>>,
}

/// The arguments of `Notify`: application, replaced number, icon, title, body, actions, hints, milliseconds.
type Notify = (
    String,
    u32,
    String,
    String,
    String,
    Vec<String>,
    std::collections::HashMap<String, OwnedValue>,
    i32,
);

impl Service {
    fn answer(&self, message: &zbus::Message) -> Result<()> {
        let header = message.header();
        let is_ours = header.interface().is_some_and(|interface| interface == NAME);
        if message.message_type() != Type::MethodCall || !is_ours {
            return Ok(());
        }
        match header.member().map_or("", |member| member.as_str()) {
            "GetCapabilities" => self.connection.reply(&header, &self.capabilities)?,
            "Notify" => {
                let notify: Notify = message.body().deserialize()?;
                let notice = self.notice(notify);
                self.connection.reply(&header, &notice.id)?;
                self.tell(NotificationRequest::Show(notice));
            }
            "CloseNotification" => {
                let id: u32 = message.body().deserialize()?;
                self.connection.reply(&header, &())?;
                closed(&self.connection, id, 3)?;
                self.tell(NotificationRequest::Close(id));
            }
            other => eprintln!("the notification service was asked for {other}"),
        }
        Ok(())
    }

    fn notice(&self, notify: Notify) -> Notice {
        let (app, replaces, icon, title, body, actions, hints, expires) = notify;
        let id = match replaces {
            0 => self.last.fetch_add(1, Ordering::Relaxed) + 1,
            old => old,
        };
        let actions = actions.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
        let text =
            |name: &str| hints.get(name).and_then(|value| value.downcast_ref::<String>().ok());
        Notice {
            id,
            replaces,
            app,
            icon,
            title,
            body,
            actions,
            urgency: hints.get("urgency").and_then(|value| value.downcast_ref::<u8>().ok()),
            sound: text("sound-name"),
            is_silent: hints
                .get("suppress-sound")
                .is_some_and(|value| value.downcast_ref::<bool>().unwrap_or(false)),
            expires,
        }
    }

    fn tell(&self, asked: NotificationRequest) {
        // Ignore the error: after the end of the test, nothing receives the request.
        let _ = self.asked.lock().map(|sender| drop(sender.send(asked)));
    }
}

fn closed(connection: &Connection, id: u32, reason: u32) -> Result<()> {
    Ok(connection.emit_signal(None::<&str>, PATH, NAME, "NotificationClosed", &(id, reason))?)
}
