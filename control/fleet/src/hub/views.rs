//! Live views of sessions, for pages of the dashboard. All viewers of a session share one view with a bounded queue. A slow
//! viewer misses output, and then receives the whole screen.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
    time::Duration,
};

use axum::body::Bytes;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use futures_util::StreamExt as _;
use parking_lot::Mutex;
use serde_json::json;
use tokio::{
    sync::{Notify, broadcast, mpsc},
    time::{MissedTickBehavior, interval, sleep},
};

use super::{
    machines::{Machines, Unreachable},
    output::reason,
};
use crate::{
    identity::MachineId,
    protocol::{self, Frame, Reply, Verb, WATCH_TIME, Watch},
};

/// How many frames may wait for the slowest viewer of a session.
const WAITING: usize = 8;
/// How often a view is asked for again, while somebody looks.
const RENEWAL: Duration = WATCH_TIME.checked_div(3).unwrap();
/// How long a request for the screen is held back, so that one serves several viewers.
const ANEW_APART: Duration = Duration::from_millis(200);

/// The views of a hub.
#[derive(Clone)]
pub struct Views {
    machines: Machines,
    client: async_nats::Client,
    all: Arc<Mutex<HashMap<Key, Weak<View>>>>,
}

/// A machine, and the id of a session.
type Key = (MachineId, String);

/// A view of a session.
struct View {
    frames: broadcast::Sender<Shown>,
    /// Asks for the screen.
    anew: Notify,
}

/// A frame as the page gets it.
#[derive(Clone)]
struct Shown {
    kind: Kind,
    /// Events of HTTP.
    event: Bytes,
    /// Why the view has ended.
    why: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Screen,
    Bytes,
    End,
}

impl Views {
    /// Of these machines.
    pub fn new(machines: Machines, client: async_nats::Client) -> Self {
        Self { machines, client, all: Arc::default() }
    }

    /// Shows a session, as events for a page, until the page disconnects or the view ends.
    ///
    /// # Errors
    /// `sid` is not a session's id.
    pub fn show(&self, machine: &MachineId, sid: &str) -> Result<mpsc::Receiver<Bytes>, String> {
        let subject =
            protocol::view(machine, sid).ok_or("a session's id has 12 hexadecimal digits")?;
        let (send, receive) = mpsc::channel(1);
        let (view, frames) = self.view(machine, sid, subject);
        tokio::spawn(async move {
            tokio::select! {
                () = send.closed() => {}
                () = forward(&view, frames, &send) => {}
            }
        });
        Ok(receive)
    }

    /// The view of a session, shared with others that look at it.
    fn view(
        &self,
        machine: &MachineId,
        sid: &str,
        subject: String,
    ) -> (Arc<View>, broadcast::Receiver<Shown>) {
        let key = (machine.clone(), sid.to_owned());
        let mut all = self.all.lock();
        if let Some(view) = all.get(&key).and_then(Weak::upgrade) {
            let frames = view.frames.subscribe();
            view.anew.notify_one();
            return (view, frames);
        }
        let view = Arc::new(View { frames: broadcast::Sender::new(WAITING), anew: Notify::new() });
        let frames = view.frames.subscribe();
        all.retain(|_, view| view.strong_count() > 0);
        all.insert(key.clone(), Arc::downgrade(&view));
        let (views, weak) = (self.clone(), Arc::downgrade(&view));
        tokio::spawn(async move {
            let why = views.follow(&key, subject, &weak).await;
            views.all.lock().retain(|of, view| *of != key || !view.ptr_eq(&weak));
            if let (Some(why), Some(view)) = (why, weak.upgrade()) {
                let _ = view.frames.send(end(&why));
            }
        });
        (view, frames)
    }

    /// Passes a session's frames to its viewers until nobody looks (`None`) or the view ends. Never waits for the machine while
    /// frames wait.
    async fn follow(
        &self,
        (machine, sid): &Key,
        subject: String,
        view: &Weak<View>,
    ) -> Option<String> {
        let mut frames = match self.client.subscribe(subject).await {
            Ok(frames) => frames,
            Err(error) => return Some(error.to_string()),
        };
        let ask = async |anew| {
            let watch = Watch { sid: sid.clone(), anew };
            if !self.machines.is_paired(machine) {
                return Some("the machine was removed".to_owned());
            }
            // Limits how often the connector sends the whole screen.
            sleep(if anew { ANEW_APART } else { Duration::ZERO }).await;
            match self.machines.request::<()>(machine, Verb::Watch, &watch).await {
                Ok(Reply::Done(())) => None,
                // The connector was busy, and may still show the session.
                Err(Unreachable::Silent(_)) | Ok(Reply::NotBegun(_)) => None,
                Ok(Reply::Refused(why)) => Some(reason(&why)),
                Ok(Reply::Repeated) => Some("the machine did not understand".to_owned()),
                Err(error) => Some(error.to_string()),
            }
        };
        let mut renewals = interval(RENEWAL);
        renewals.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut asking, mut wanted) = (Some(Box::pin(ask(true))), None);
        loop {
            let shown = view.upgrade()?;
            tokio::select! {
                frame = frames.next() => {
                    let Some(frame) = frame else { return Some("the connection to NATS was closed".to_owned()) };
                    let frame = frame_event(&frame.payload);
                    if frame.kind == Kind::End {
                        return Some(frame.why);
                    }
                    // Without a viewer, the next loop ends.
                    let _ = shown.frames.send(frame);
                }
                refused = async { asking.as_mut().expect("it is asked").await }, if asking.is_some() => {
                    if refused.is_some() {
                        return refused;
                    }
                    asking = wanted.take().map(|anew| Box::pin(ask(anew)));
                }
                _ = renewals.tick() => wanted = wanted.or(Some(false)),
                () = shown.anew.notified() => wanted = Some(true),
            }
            if asking.is_none() {
                asking = wanted.take().map(|anew| Box::pin(ask(anew)));
            }
        }
    }
}

/// Passes frames to one page.
async fn forward(view: &View, mut frames: broadcast::Receiver<Shown>, send: &mpsc::Sender<Bytes>) {
    let mut has_screen = false;
    loop {
        match frames.recv().await {
            Ok(Shown { kind, event, .. }) => {
                has_screen |= kind != Kind::Bytes;
                // Output before the first screen is part of that screen.
                if has_screen && send.send(event).await.is_err() {
                    return;
                }
                if kind == Kind::End {
                    return;
                }
            }
            Err(broadcast::error::RecvError::Lagged(_)) => {
                has_screen = false;
                view.anew.notify_one();
                if send.send(event("gap", "{}")).await.is_err() {
                    return;
                }
            }
            Err(broadcast::error::RecvError::Closed) => return,
        }
    }
}

/// A frame of a machine as an event. A machine may send anything.
fn frame_event(payload: &[u8]) -> Shown {
    let is_base64 = |text: &str| STANDARD.decode(text).is_ok();
    match serde_json::from_slice(payload) {
        Ok(Frame::Screen { cols, rows, base64, lost }) if is_base64(&base64) => {
            let screen = json!({"cols": cols, "rows": rows, "data": base64}).to_string();
            let gap = if lost > 0 { "event: gap\ndata: {}\n\n" } else { "" };
            let event = format!("{gap}event: screen\ndata: {screen}\n\n").into();
            Shown { kind: Kind::Screen, event, why: String::new() }
        }
        Ok(Frame::Bytes(base64)) if is_base64(&base64) => {
            let why = String::new();
            Shown { kind: Kind::Bytes, event: event("bytes", &base64), why }
        }
        Ok(Frame::End(why)) => end(&reason(&why)),
        _ => end("the machine sent a malformed frame"),
    }
}

fn end(why: &str) -> Shown {
    let why = why.replace(['\n', '\r'], " ");
    Shown { kind: Kind::End, event: event("end", &why), why }
}

fn event(kind: &str, data: &str) -> Bytes {
    format!("event: {kind}\ndata: {data}\n\n").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(frame: &Frame) -> String {
        let shown = frame_event(&serde_json::to_vec(frame).unwrap());
        String::from_utf8(shown.event.to_vec()).unwrap()
    }

    #[test]
    fn no_frame_makes_events_of_its_own() {
        let hostile = "a\n\nevent: screen\ndata: {}\n\n".to_owned();
        assert_eq!(shown(&Frame::Bytes("aGk=".to_owned())), "event: bytes\ndata: aGk=\n\n");
        for frame in [
            Frame::Bytes(hostile.clone()),
            Frame::Screen { cols: 1, rows: 1, base64: hostile.clone(), lost: 0 },
            Frame::End(hostile),
        ] {
            let event = shown(&frame);
            assert!(event.starts_with("event: end\n"), "{event}");
            assert_eq!(event.matches("\n\n").count(), 1, "{event}");
        }
        assert_eq!(frame_event(b"nothing").kind as u8, Kind::End as u8);
        assert!(shown(&Frame::Bytes("A".to_owned())).starts_with("event: end\n"));
    }

    #[tokio::test]
    async fn a_slow_page_misses_output_and_asks_for_the_screen() {
        let view = View { frames: broadcast::Sender::new(2), anew: Notify::new() };
        let frames = view.frames.subscribe();
        let (send, mut receive) = mpsc::channel(8);
        for text in ["YQ==", "Yg==", "Yw=="] {
            let _ = view
                .frames
                .send(frame_event(&serde_json::to_vec(&Frame::Bytes(text.to_owned())).unwrap()));
        }
        let screen = Frame::Screen { cols: 2, rows: 1, base64: "ZA==".to_owned(), lost: 3 };
        let _ = view.frames.send(frame_event(&serde_json::to_vec(&screen).unwrap()));
        let _ = view.frames.send(end("over"));
        forward(&view, frames, &send).await;
        let mut events = Vec::new();
        while let Ok(event) = receive.try_recv() {
            events.push(String::from_utf8(event.to_vec()).unwrap());
        }
        assert_eq!(events.len(), 3, "{events:?}");
        assert_eq!(events[0], "event: gap\ndata: {}\n\n");
        assert!(events[1].starts_with("event: gap\ndata: {}\n\nevent: screen\n"), "{events:?}");
        view.anew.notified().await;
    }
}
