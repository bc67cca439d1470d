//! OSC 99: kitty's notifications (kitty's "Desktop notifications"). Icon files are kept as sent and never decoded here.

use std::collections::VecDeque;
use std::sync::Arc;

use base64::Engine as _;

use super::notify::TEXT_CAP;
use super::terminator;
use super::text::{BASE64, clean, clean_base64, identifier};
use crate::Event;
use crate::cap::Caps;
use crate::term::Term;
use crate::term::notification::{Notification, Occasion, Urgency};

/// Maximum bytes of an identifier.
const ID_CAP: usize = 128;
/// Maximum bytes of each shorter text.
const WORD_CAP: usize = 256;
/// Maximum kinds, icons or buttons of one notification.
const LIST_CAP: usize = 8;
/// Maximum bytes of an icon's file.
const ICON_CAP: usize = 256 << 10;
/// Maximum icons kept for reuse (`g`); the oldest is dropped.
const ICONS_CAP: usize = 16;
/// Maximum unfinished notifications (`d=0`); the oldest is dropped.
const PENDING_CAP: usize = 16;
/// Maximum notifications tracked as on show; the oldest is dropped.
const ALIVE_CAP: usize = 64;
/// The log's name for a part of a notification.
const PAYLOAD: &str = "payload of OSC 99";
/// The supported parts of the protocol, as the reply to its query.
const SUPPORT: &str = "a=focus,report:c=1:o=always,unfocused,invisible:p=title,body,icon,close,alive,buttons,?:\
                       s=system,silent:u=0,1,2:w=1";

/// A notification that may be on show.
#[derive(Debug)]
struct Alive {
    handle: u64,
    id: Option<String>,
    /// Report clicks to the program.
    report: bool,
    /// Report the close to the program.
    report_close: bool,
}

/// A notification whose chunks are still arriving.
#[derive(Debug, Default)]
struct Pending {
    id: Option<String>,
    report: bool,
    report_close: bool,
    content: Notification,
    title: Payload,
    body: Payload,
    buttons: Payload,
    icon: Payload,
    /// The identifier under which to keep its icon.
    icon_id: Option<String>,
}

/// A payload that arrives in chunks, which may split characters and base64 anywhere.
#[derive(Debug, Default)]
struct Payload {
    bytes: Vec<u8>,
    /// Base64 that a later chunk may continue. Either each chunk was encoded and padded by itself, or the whole payload
    /// was encoded before it was split (the protocol's "Base64").
    base64: Vec<u8>,
    failure: Option<Failure>,
}

/// Why a payload is dropped.
#[derive(Clone, Copy, Debug)]
enum Failure {
    /// The payload has more bytes than this.
    TooLong(usize),
    NoBase64,
}

impl Payload {
    /// Adds a chunk. Fails the payload if it exceeds `cap` bytes.
    fn add(&mut self, chunk: &[u8], encoded: bool, cap: usize) {
        if !encoded {
            self.decode();
            self.bytes.extend_from_slice(chunk);
        }
        for piece in chunk.split_inclusive(|&b| b == b'=').filter(|_| encoded) {
            // The second padding character of an already decoded piece.
            if piece == b"=" && self.base64.is_empty() {
                continue;
            }
            self.base64.extend_from_slice(piece.strip_suffix(b"=").unwrap_or(piece));
            if piece.ends_with(b"=") {
                self.decode();
            }
        }
        if self.bytes.len() + self.base64.len() / 4 * 3 > cap {
            *self = Self { failure: Some(Failure::TooLong(cap)), ..Self::default() };
        }
    }

    /// Decodes the base64 collected so far, which is complete.
    fn decode(&mut self) {
        match BASE64.decode(&self.base64) {
            Ok(bytes) => self.bytes.extend_from_slice(&bytes),
            Err(_) => self.failure = Some(Failure::NoBase64),
        }
        self.base64.clear();
    }

    /// Returns the whole payload; `None` if a chunk was invalid or it was too long.
    fn finish(mut self, caps: &mut Caps) -> Option<Vec<u8>> {
        self.decode();
        match self.failure {
            None => return Some(self.bytes),
            Some(Failure::TooLong(cap)) => caps.dropped(PAYLOAD, cap),
            Some(Failure::NoBase64) => tracing::debug!("payload of OSC 99 dropped: no base64"),
        }
        None
    }

    /// Returns the whole payload as text.
    fn text(self, caps: &mut Caps) -> Option<String> {
        let bytes = self.finish(caps)?;
        clean(caps, &bytes, TEXT_CAP, PAYLOAD)
    }
}

/// The notifications of one terminal.
#[derive(Debug, Default)]
pub(super) struct Notifications {
    last_handle: u64,
    pending: VecDeque<Pending>,
    alive: VecDeque<Alive>,
    /// Icons by their identifiers.
    icons: VecDeque<(String, Arc<[u8]>)>,
}

impl Notifications {
    /// The icon of a notification: the icon it sent, which is kept if it has an identifier, or else the icon kept under
    /// that identifier.
    fn icon(
        &mut self,
        caps: &mut Caps,
        sent: Option<Vec<u8>>,
        id: Option<String>,
    ) -> Option<Arc<[u8]>> {
        let sent = sent.filter(|file| !file.is_empty()).map(Arc::<[u8]>::from);
        let Some(id) = id else { return sent };
        let known = self.icons.iter().position(|(own, _)| *own == id);
        let Some(sent) = sent else { return known.map(|at| Arc::clone(&self.icons[at].1)) };
        if let Some(at) = known {
            self.icons.remove(at);
        } else if self.icons.len() == ICONS_CAP {
            caps.oldest_dropped("icon", ICONS_CAP);
            self.icons.pop_front();
        }
        self.icons.push_back((id, Arc::clone(&sent)));
        Some(sent)
    }

    /// Adds a notification to those on show and returns its handle. A replacement keeps the handle of the notification
    /// it replaces.
    pub fn add(
        &mut self,
        caps: &mut Caps,
        id: Option<String>,
        report: bool,
        report_close: bool,
    ) -> u64 {
        let old = self.alive.iter().position(|alive| id.is_some() && alive.id == id);
        let handle = match old.and_then(|at| self.alive.remove(at)) {
            Some(old) => old.handle,
            None => {
                self.last_handle += 1;
                self.last_handle
            }
        };
        if self.alive.len() == ALIVE_CAP {
            caps.oldest_dropped("notification on show", ALIVE_CAP);
            self.alive.pop_front();
        }
        self.alive.push_back(Alive { handle, id, report, report_close });
        handle
    }

    fn take(&mut self, find: impl Fn(&Alive) -> bool) -> Option<Alive> {
        let at = self.alive.iter().position(find)?;
        self.alive.remove(at)
    }
}

impl Term {
    /// The user clicked a notification, or one of its buttons (from 1). Reports it if the program requested that.
    pub fn activate_notification(&mut self, handle: u64, button: Option<u8>) {
        let Some(alive) = self.osc.notifications.alive.iter().find(|a| a.handle == handle) else {
            return;
        };
        if alive.report {
            let id = alive.id.as_deref().unwrap_or("0");
            let button = button.map(|button| button.to_string()).unwrap_or_default();
            self.reply(format!("\x1b]99;i={id};{button}\x1b\\").as_bytes());
        }
    }

    /// A notification is no longer on show. Reports it if the program requested that.
    pub fn close_notification(&mut self, handle: u64) {
        if let Some(alive) = self.osc.notifications.take(|alive| alive.handle == handle) {
            self.report_closed(&alive);
        }
    }

    fn report_closed(&mut self, alive: &Alive) {
        if alive.report_close {
            let id = alive.id.as_deref().unwrap_or("0");
            self.reply(format!("\x1b]99;i={id}:p=close;\x1b\\").as_bytes());
        }
    }

    /// Handles `metadata ; payload`. Kinds without a payload also work without the `;`, as in kitty.
    pub(super) fn notify_kitty(&mut self, rest: &[u8], bell: bool) {
        let (metadata, payload) = match rest.iter().position(|&b| b == b';') {
            Some(at) => (&rest[..at], Some(&rest[at + 1..])),
            None => (rest, None),
        };
        let Ok(metadata) = std::str::from_utf8(metadata) else { return };
        let pairs = || metadata.split(':').filter_map(|pair| pair.split_once('='));
        let get = |key: &str| {
            pairs().filter(|(own, _)| own.trim() == key).map(|(_, value)| value.trim()).next_back()
        };
        let id = match get("i") {
            None => None,
            Some(id) => match identifier(id, ID_CAP) {
                Some(id) => Some(id.to_owned()),
                None => return tracing::debug!("OSC 99 with a bad identifier"),
            },
        };
        let kind = get("p").unwrap_or("title");
        match kind {
            "?" => return self.answer(id.as_deref(), "?", SUPPORT, bell),
            "alive" => {
                let alive = &self.osc.notifications.alive;
                let ids: Vec<_> = alive.iter().filter_map(|alive| alive.id.as_deref()).collect();
                let ids = ids.join(",");
                return self.answer(id.as_deref(), "alive", &ids, bell);
            }
            "close" => {
                let closed = self.osc.notifications.take(|alive| id.is_some() && alive.id == id);
                if let Some(alive) = closed {
                    self.event(Event::NotificationClosed { handle: alive.handle });
                    self.report_closed(&alive);
                }
                return;
            }
            _ => {}
        }
        let Some(payload) = payload else { return };
        let mut pending = self.pending(id);
        for (key, value) in pairs() {
            pending.set(key.trim(), value.trim(), &mut self.caps);
        }
        match pending.payload(kind) {
            Some((own, cap)) => own.add(payload, get("e") == Some("1"), cap),
            None => tracing::debug!("payload of OSC 99 that is not kept"),
        }
        if get("d") == Some("0") {
            if self.osc.notifications.pending.len() == PENDING_CAP {
                self.caps.oldest_dropped("notification without its end", PENDING_CAP);
                self.osc.notifications.pending.pop_front();
            }
            self.osc.notifications.pending.push_back(pending);
        } else {
            self.show_pending(pending);
        }
    }

    /// Removes and returns the unfinished notification with this identifier, or returns a new one.
    fn pending(&mut self, id: Option<String>) -> Pending {
        let list = &mut self.osc.notifications.pending;
        let old = list.iter().position(|pending| pending.id == id);
        old.and_then(|at| list.remove(at)).unwrap_or_else(|| Pending {
            id,
            content: Notification { focus: true, ..Default::default() },
            ..Default::default()
        })
    }

    fn show_pending(&mut self, pending: Pending) {
        let Pending { id, report, report_close, mut content, title, body, buttons, icon, icon_id } =
            pending;
        let caps = &mut self.caps;
        let icon = icon.finish(caps);
        content.icon_data = self.osc.notifications.icon(caps, icon, icon_id);
        let (title, body, buttons) = (title.text(caps), body.text(caps), buttons.text(caps));
        let (Some(title), Some(body), Some(buttons)) = (title, body, buttons) else { return };
        (content.title, content.body) = (title, body);
        for label in buttons.split('\u{2028}').filter(|label| !label.is_empty()) {
            let label = clean(caps, label.as_bytes(), WORD_CAP, "label of a button of OSC 99");
            push(&mut content.buttons, label, caps);
        }
        if content.title.is_empty() {
            content.title = std::mem::take(&mut content.body);
        }
        if content.title.is_empty() {
            return;
        }
        content.handle = self.osc.notifications.add(caps, id, report, report_close);
        self.event(Event::Notification(Box::new(content)));
    }

    fn answer(&mut self, id: Option<&str>, kind: &str, payload: &str, bell: bool) {
        let id = id.unwrap_or("0");
        let reply = format!("\x1b]99;i={id}:p={kind};{payload}{}", terminator(bell));
        self.reply(reply.as_bytes());
    }
}

impl Pending {
    /// Applies a metadata key that does not concern the payload.
    fn set(&mut self, key: &str, value: &str, caps: &mut Caps) {
        let content = &mut self.content;
        let word = |caps: &mut Caps| {
            let word = clean_base64(caps, value.as_bytes(), WORD_CAP, "word of OSC 99");
            word.filter(|word| !word.is_empty())
        };
        match key {
            "a" => {
                for action in value.split(',') {
                    let (action, on) = match action.strip_prefix('-') {
                        Some(action) => (action, false),
                        None => (action, true),
                    };
                    match action {
                        "focus" => content.focus = on,
                        "report" => self.report = on,
                        _ => {}
                    }
                }
            }
            "c" => self.report_close = value != "0",
            "f" => content.app = word(caps),
            "g" => self.icon_id = identifier(value, ID_CAP).map(str::to_owned),
            "n" => push(&mut content.icons, word(caps), caps),
            "t" => push(&mut content.kinds, word(caps), caps),
            "s" => content.sound = word(caps),
            "o" => {
                content.occasion = match value {
                    "unfocused" => Occasion::Unfocused,
                    "invisible" => Occasion::Invisible,
                    _ => Occasion::Always,
                };
            }
            "u" => {
                content.urgency = match value {
                    "0" => Urgency::Low,
                    "2" => Urgency::Critical,
                    _ => Urgency::Normal,
                };
            }
            "w" => content.expires = value.parse().ok(),
            _ => {}
        }
    }

    /// The payload that a kind refers to, and its maximum bytes.
    fn payload(&mut self, kind: &str) -> Option<(&mut Payload, usize)> {
        match kind {
            "title" => Some((&mut self.title, TEXT_CAP)),
            "body" => Some((&mut self.body, TEXT_CAP)),
            "buttons" => Some((&mut self.buttons, TEXT_CAP)),
            "icon" => Some((&mut self.icon, ICON_CAP)),
            _ => None,
        }
    }
}

fn push(list: &mut Vec<String>, word: Option<String>, caps: &mut Caps) {
    match word {
        Some(_) if list.len() == LIST_CAP => {
            caps.dropped("kind, icon or button of OSC 99", LIST_CAP)
        }
        word => list.extend(word),
    }
}
