//! A desktop of the test's own, as far as notifications go: the service on a session bus that shows them
//! (org.freedesktop.Notifications), which remembers what it was asked and is clicked by the test.

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

/// What the service was asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    /// To show a notification.
    Show(Notice),
    /// To take the one of this number away.
    Close(u32),
}

/// A notification as it was asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Notice {
    /// The number it was given.
    pub id: u32,
    /// The number of the one that it takes the place of, or 0.
    pub replaces: u32,
    /// Whose it is.
    pub app: String,
    /// A name of an icon.
    pub icon: String,
    /// Its first line.
    pub title: String,
    /// The rest.
    pub body: String,
    /// Buttons: what each is called when it is clicked, and its label.
    pub actions: Vec<(String, String)>,
    /// 0, 1 or 2.
    pub urgency: Option<u8>,
    /// The name of a sound.
    pub sound: Option<String>,
    /// It makes no sound.
    pub is_silent: bool,
    /// Milliseconds until it goes; 0 never, -1 as is usual.
    pub expires: i32,
}

/// The service.
pub struct Notifier {
    connection: Connection,
    asked: mpsc::Receiver<Asked>,
}

impl Notifier {
    /// Starts it on a bus, with what it says it can do (`actions`, `body`, `body-markup`).
    ///
    /// # Errors
    ///
    /// When the bus has ended or has such a service.
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

    /// What it is asked next.
    ///
    /// # Errors
    ///
    /// When nothing is.
    pub fn asked(&self) -> Result<Asked> {
        self.asked.recv_timeout(PATIENCE).context("the notification service was not asked anything")
    }

    /// The notification that it is asked to show next.
    ///
    /// # Errors
    ///
    /// When nothing, or something else is asked.
    pub fn shown(&self) -> Result<Notice> {
        match self.asked()? {
            Asked::Show(notice) => Ok(notice),
            Asked::Close(id) => anyhow::bail!("asked to take {id} away"),
        }
    }

    /// Says that a notification was clicked (`default`), or the button that is called so.
    ///
    /// # Errors
    ///
    /// When the bus has ended.
    pub fn click(&self, id: u32, action: &str) -> Result<()> {
        Ok(self.connection.emit_signal(None::<&str>, PATH, NAME, "ActionInvoked", &(id, action))?)
    }

    /// Says that a person dismissed a notification.
    ///
    /// # Errors
    ///
    /// When the bus has ended.
    pub fn dismiss(&self, id: u32) -> Result<()> {
        closed(&self.connection, id, 2)
    }
}

struct Service {
    connection: Connection,
    capabilities: Vec<String>,
    last: AtomicU32,
    asked: Mutex<mpsc::Sender<Asked>>,
}

/// A `Notify` as it comes: name, replaced, icon, title, body, actions, hints, milliseconds.
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
                self.tell(Asked::Show(notice));
            }
            "CloseNotification" => {
                let id: u32 = message.body().deserialize()?;
                self.connection.reply(&header, &())?;
                closed(&self.connection, id, 3)?;
                self.tell(Asked::Close(id));
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

    fn tell(&self, asked: Asked) {
        // Nobody is left to tell when the test is over.
        let _ = self.asked.lock().map(|sender| drop(sender.send(asked)));
    }
}

fn closed(connection: &Connection, id: u32, reason: u32) -> Result<()> {
    Ok(connection.emit_signal(None::<&str>, PATH, NAME, "NotificationClosed", &(id, reason))?)
}
