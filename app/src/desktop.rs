//! Notifications on the desktop (org.freedesktop.Notifications, Desktop Notifications Specification 1.2). The calls
//! run on their own threads, because the service may be slow, hang, or be missing.
//!
//! Owns the connection to the session bus, which is opened for the first notification, and the list of Unterm's
//! visible notifications. The window decides when to show a notification, and what a click does.

use std::{
    collections::HashMap,
    io::Cursor,
    sync::{Arc, mpsc},
    time::Duration,
};

use image::{ImageReader, Limits};
use parking_lot::Mutex;
use unterm_mux::PaneId;
use unterm_term::Urgency;
use zbus::{
    blocking::{Connection, MessageIterator, connection::Builder},
    message::Type,
    zvariant::{Structure, Value},
};

const SERVICE: &str = "org.freedesktop.Notifications";
const PATH: &str = "/org/freedesktop/Notifications";
/// The maximum time to wait for a reply of the service.
const PATIENCE: Duration = Duration::from_secs(5);
/// The maximum number of queued requests. Further notifications are dropped.
const QUEUE: usize = 32;
/// The maximum number of notifications to remember. A click on an older notification has no effect.
const SHOWN_CAP: usize = 256;
/// The maximum number of signals to keep while a `Notify` call is pending.
const EARLY_CAP: usize = 16;
/// The maximum width and height in pixels: of a picture that is decoded, and of a picture that is sent to the service.
const DECODED_SIDE: u32 = 2048;
const SHOWN_SIDE: u32 = 256;
/// The name of the action that a click on the notification itself invokes, as the specification defines it.
const DEFAULT: &str = "default";

/// Identifies a visible notification. A new notification with an equal key replaces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    /// A notification of a program: its pane, and its handle in that pane.
    Program(PaneId, u64),
    /// A notification about a command that ended in a pane.
    Command(PaneId),
}

impl Key {
    pub(crate) fn pane(self) -> PaneId {
        match self {
            Self::Program(pane, _) | Self::Command(pane) => pane,
        }
    }
}

/// A notification to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) key: Key,
    /// The name of the sender.
    pub(crate) app: String,
    pub(crate) title: String,
    pub(crate) body: String,
    /// The name of an icon in the icon theme. If empty, the terminal's icon is shown.
    pub(crate) icon: String,
    /// The bytes of an image file. If they can be decoded, the picture is shown instead of the icon.
    pub(crate) picture: Option<Arc<[u8]>>,
    pub(crate) urgency: Urgency,
    /// The time until the notification disappears, in milliseconds. 0 means until the user dismisses it, and `None`
    /// means the desktop's default.
    pub(crate) expires: Option<u32>,
    /// The name of a sound, or `silent` for no sound.
    pub(crate) sound: Option<String>,
    pub(crate) buttons: Vec<String>,
    /// Whether a click on the notification brings the window to the front.
    pub(crate) focus: bool,
}

/// An event of a notification.
#[derive(Debug)]
pub(crate) enum NotificationEvent {
    /// The user clicked the notification, or its button with this number, counted from 1.
    Clicked { key: Key, button: Option<u8>, focus: bool },
    /// The notification is no longer visible.
    Closed(Key),
    /// The notification can't be shown, because there is no service.
    Unavailable(Box<Note>),
}

enum Order {
    Show(Box<Note>),
    Close(Key),
}

/// A handle to the thread that shows notifications.
pub(crate) struct Desktop(mpsc::SyncSender<Order>);

impl Desktop {
    /// Starts the thread. Other threads call `report` with each event of a notification.
    ///
    /// # Errors
    /// Fails if the thread can't be started.
    pub(crate) fn start(
        report: impl Fn(NotificationEvent) + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let (orders, received) = mpsc::sync_channel(QUEUE);
        let report: Arc<dyn Fn(NotificationEvent) + Send + Sync> = Arc::new(report);
        std::thread::Builder::new()
            .name("notifications".to_owned())
            .spawn(move || serve(&received, &report))?;
        Ok(Self(orders))
    }

    /// Shows a notification. Returns false if the queue is full.
    pub(crate) fn show(&self, note: Note) -> bool {
        self.0.try_send(Order::Show(Box::new(note))).is_ok()
    }

    /// Closes a notification.
    pub(crate) fn close(&self, key: Key) {
        let _ = self.0.try_send(Order::Close(key));
    }
}

/// The visible notifications. The thread that shows notifications and the thread that receives signals share them.
#[derive(Default)]
struct VisibleNotifications {
    /// For each id of the service: the key of the notification, and whether a click brings the window to the front.
    notes: HashMap<u32, (Key, bool)>,
    /// Whether a `Notify` call is pending, so that the id of its notification is not known yet.
    is_asking: bool,
    /// Signals for unknown ids that arrived while a call was pending.
    early: Vec<(u32, ServiceEvent)>,
}

/// A signal about a notification.
enum ServiceEvent {
    Action(String),
    Closed,
}

/// A connection to the notification service.
struct Service {
    connection: Connection,
    /// Whether the service interprets markup in the body of notifications.
    markup: bool,
    shown: Arc<Mutex<VisibleNotifications>>,
}

fn serve(orders: &mpsc::Receiver<Order>, report: &Arc<dyn Fn(NotificationEvent) + Send + Sync>) {
    let mut service: Option<Service> = None;
    while let Ok(order) = orders.recv() {
        let connected = match service.take() {
            Some(service) => Ok(service),
            None => Service::connect(report),
        };
        match (order, connected) {
            (Order::Show(note), Ok(connected)) => match connected.show(&note, report) {
                Ok(()) => service = Some(connected),
                Err(error) => {
                    tracing::info!("a notification can't be shown: {error}");
                    if matches!(error, zbus::Error::MethodError(..)) {
                        // The bus still works, so the service may work again for the next notification.
                        service = Some(connected);
                    } else {
                        // The connection is lost, so no further signals about the visible notifications will arrive.
                        let lost = std::mem::take(&mut connected.shown.lock().notes);
                        lost.into_values()
                            .for_each(|(key, _)| report(NotificationEvent::Closed(key)));
                    }
                    report(NotificationEvent::Unavailable(note));
                }
            },
            (Order::Show(note), Err(error)) => {
                tracing::info!("there is no notification service: {error}");
                report(NotificationEvent::Unavailable(note));
            }
            (Order::Close(key), Ok(connected)) => {
                connected.close(key);
                service = Some(connected);
            }
            (Order::Close(_), Err(_)) => {}
        }
    }
}

impl Service {
    fn connect(report: &Arc<dyn Fn(NotificationEvent) + Send + Sync>) -> zbus::Result<Self> {
        let connection = Builder::session()?.method_timeout(PATIENCE).build()?;
        let reply =
            connection.call_method(Some(SERVICE), PATH, Some(SERVICE), "GetCapabilities", &())?;
        let capabilities: Vec<String> = reply.body().deserialize()?;
        let markup = capabilities.iter().any(|capability| capability == "body-markup");
        let shown = Arc::<Mutex<VisibleNotifications>>::default();
        let rule = zbus::MatchRule::builder()
            .msg_type(Type::Signal)
            .interface(SERVICE)?
            .path(PATH)?
            .build();
        let signals = MessageIterator::for_match_rule(rule, &connection, None)?;
        let (ours, report) = (Arc::clone(&shown), Arc::clone(report));
        std::thread::Builder::new()
            .name("notified".to_owned())
            .spawn(move || {
                for signal in signals.flatten() {
                    let outcome =
                        parsed(&signal).and_then(|(id, what)| ours.lock().handle(id, what));
                    outcome.into_iter().for_each(&*report);
                }
            })
            .map_err(|error| zbus::Error::InputOutput(Arc::new(error)))?;
        Ok(Self { connection, markup, shown })
    }

    fn show(
        &self,
        note: &Note,
        report: &Arc<dyn Fn(NotificationEvent) + Send + Sync>,
    ) -> zbus::Result<()> {
        let old = self.id(note.key).unwrap_or(0);
        let body = if self.markup { escaped(&note.body) } else { note.body.clone() };
        let icon = if note.icon.is_empty() { "utilities-terminal" } else { &note.icon };
        let mut actions = vec![DEFAULT.to_owned(), "Open".to_owned()];
        for (index, label) in note.buttons.iter().enumerate() {
            actions.extend([(index + 1).to_string(), label.clone()]);
        }
        let urgency: u8 = match note.urgency {
            Urgency::Low => 0,
            Urgency::Normal => 1,
            Urgency::Critical => 2,
        };
        let mut hints: HashMap<&str, Value<'_>> = HashMap::new();
        hints.insert("urgency", urgency.into());
        hints.insert("desktop-entry", "unterm".into());
        match note.sound.as_deref() {
            Some("silent") => drop(hints.insert("suppress-sound", true.into())),
            Some(sound) if sound != "system" => drop(hints.insert("sound-name", sound.into())),
            _ => {}
        }
        if let Some(data) = note.picture.as_deref().and_then(image_data) {
            hints.insert("image-data", data);
        }
        let expires = note.expires.map_or(-1, |ms| i32::try_from(ms).unwrap_or(i32::MAX));
        let app = note.app.as_str();
        let body = (app, old, icon, note.title.as_str(), body.as_str(), actions, hints, expires);
        self.shown.lock().is_asking = true;
        let id = self
            .connection
            .call_method(Some(SERVICE), PATH, Some(SERVICE), "Notify", &body)
            .and_then(|reply| reply.body().deserialize::<u32>());
        let outcomes = self.shown.lock().answered(id.as_ref().ok().copied(), note);
        outcomes.into_iter().for_each(&**report);
        id.map(drop)
    }

    fn close(&self, key: Key) {
        let Some(id) = self.id(key) else { return };
        self.shown.lock().notes.remove(&id);
        let closed = self.connection.call_method(
            Some(SERVICE),
            PATH,
            Some(SERVICE),
            "CloseNotification",
            &id,
        );
        if let Err(error) = closed {
            tracing::debug!("a notification can't be closed: {error}");
        }
    }

    fn id(&self, key: Key) -> Option<u32> {
        self.shown.lock().notes.iter().find(|(_, (own, _))| *own == key).map(|(id, _)| *id)
    }
}

impl VisibleNotifications {
    /// Handles the reply to a `Notify` call, and the signals for its id that arrived before the reply.
    fn answered(&mut self, id: Option<u32>, note: &Note) -> Vec<NotificationEvent> {
        self.is_asking = false;
        let early = std::mem::take(&mut self.early);
        let Some(id) = id else { return Vec::new() };
        self.notes.retain(|_, (key, _)| *key != note.key);
        if self.notes.len() >= SHOWN_CAP
            && let Some(oldest) = self.notes.keys().min().copied()
        {
            self.notes.remove(&oldest);
        }
        self.notes.insert(id, (note.key, note.focus));
        early.into_iter().filter_map(|(id, what)| self.handle(id, what)).collect()
    }

    /// The event that a signal reports about one of Unterm's notifications. `None` for notifications of other
    /// programs.
    fn handle(&mut self, id: u32, what: ServiceEvent) -> Option<NotificationEvent> {
        let Some((key, focus)) = self.notes.get(&id).copied() else {
            if self.is_asking && self.early.len() < EARLY_CAP {
                self.early.push((id, what));
            }
            return None;
        };
        match what {
            ServiceEvent::Action(action) => {
                let button = match action.as_str() {
                    DEFAULT => None,
                    number => Some(number.parse().ok()?),
                };
                Some(NotificationEvent::Clicked { key, button, focus })
            }
            ServiceEvent::Closed => {
                self.notes.remove(&id);
                Some(NotificationEvent::Closed(key))
            }
        }
    }
}

/// Parses a signal about a notification. `None` for other signals.
fn parsed(signal: &zbus::Message) -> Option<(u32, ServiceEvent)> {
    match signal.header().member()?.as_str() {
        "ActionInvoked" => {
            let (id, action): (u32, String) = signal.body().deserialize().ok()?;
            Some((id, ServiceEvent::Action(action)))
        }
        "NotificationClosed" => {
            let (id, _reason): (u32, u32) = signal.body().deserialize().ok()?;
            Some((id, ServiceEvent::Closed))
        }
        _ => None,
    }
}

/// Converts an image file to the value of the hint `image-data`. The value consists of width, height, bytes per row,
/// presence of an alpha channel, bits per sample, samples per pixel, and the samples. `None` if the file is not an
/// image, or if the image is too large.
fn image_data(file: &[u8]) -> Option<Value<'static>> {
    let mut reader = ImageReader::new(Cursor::new(file)).with_guessed_format().ok()?;
    let mut limits = Limits::default();
    limits.max_image_width = Some(DECODED_SIDE);
    limits.max_image_height = Some(DECODED_SIDE);
    limits.max_alloc = Some(u64::from(DECODED_SIDE * DECODED_SIDE * 4));
    reader.limits(limits);
    let decoded = reader.decode();
    let mut image = decoded.inspect_err(|error| tracing::debug!(%error, "no icon")).ok()?;
    if image.width().max(image.height()) > SHOWN_SIDE {
        image = image.thumbnail(SHOWN_SIDE, SHOWN_SIDE);
    }
    let image = image.into_rgba8();
    let (width, height) = (image.width() as i32, image.height() as i32);
    let data = (width, height, 4 * width, true, 8i32, 4i32, image.into_raw());
    Some(Value::Structure(Structure::from(data)))
}

/// Escapes all markup characters in a text.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(key: Key) -> Note {
        Note {
            key,
            app: String::new(),
            title: String::new(),
            body: String::new(),
            icon: String::new(),
            picture: None,
            urgency: Urgency::Normal,
            expires: None,
            sound: None,
            buttons: Vec::new(),
            focus: true,
        }
    }

    #[test]
    fn a_picture_is_handed_on_as_its_samples() {
        let file = |width, height, samples: Vec<u8>| {
            let image = image::RgbaImage::from_raw(width, height, samples).expect("samples");
            let mut file = Cursor::new(Vec::new());
            image.write_to(&mut file, image::ImageFormat::Png).expect("a file");
            file.into_inner()
        };
        let samples = vec![1u8, 2, 3, 255, 4, 5, 6, 0];
        let expected = Structure::from((2i32, 1i32, 8i32, true, 8i32, 4i32, samples.clone()));
        assert_eq!(image_data(&file(2, 1, samples)), Some(Value::Structure(expected)));
        let large = image_data(&file(512, 4, vec![7; 512 * 4 * 4]));
        let Some(Value::Structure(large)) = large else { panic!("{large:?}") };
        assert_eq!(large.fields()[..3], [Value::I32(256), Value::I32(2), Value::I32(4 * 256)]);
        assert_eq!(image_data(b"no picture"), None);
    }

    #[test]
    fn a_click_that_overtakes_the_service_s_answer_counts() {
        let key = Key::Program(PaneId(1), 7);
        let mut shown = VisibleNotifications { is_asking: true, ..VisibleNotifications::default() };
        assert!(shown.handle(5, ServiceEvent::Action("2".to_owned())).is_none());
        assert!(shown.handle(6, ServiceEvent::Closed).is_none(), "of another program");
        let outcomes = shown.answered(Some(5), &note(key));
        assert!(
            matches!(outcomes[..], [NotificationEvent::Clicked { key: clicked, button: Some(2), focus: true }] if clicked == key)
        );
        assert!(
            matches!(shown.handle(5, ServiceEvent::Closed), Some(NotificationEvent::Closed(closed)) if closed == key)
        );
        assert!(shown.handle(5, ServiceEvent::Closed).is_none(), "once");
    }

    #[test]
    fn remembered_notifications_are_bounded_and_replaced_by_key() {
        let mut shown = VisibleNotifications::default();
        for id in 0..2 * SHOWN_CAP as u32 {
            shown.answered(Some(id), &note(Key::Program(PaneId(1), id.into())));
        }
        assert_eq!(shown.notes.len(), SHOWN_CAP);
        let newest = Key::Program(PaneId(1), 2 * SHOWN_CAP as u64 - 1);
        shown.answered(Some(9999), &note(newest));
        assert_eq!(shown.notes.values().filter(|(key, _)| *key == newest).count(), 1);
        for _ in 0..100 {
            shown.is_asking = true;
            shown.handle(1_000_000, ServiceEvent::Closed);
        }
        assert_eq!(shown.early.len(), EARLY_CAP);
    }

    #[test]
    fn no_character_of_a_body_is_markup() {
        assert_eq!(escaped("<b>&amp;"), "&lt;b&gt;&amp;amp;");
    }
}
