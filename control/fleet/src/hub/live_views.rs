//! Live views of sessions, for pages of the dashboard. All viewers of a session share one view with a bounded queue. A
//! viewer that is too slow misses output, and then receives the whole screen.

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
    http_reply::event,
    machines::{Machines, Unreachable},
    output::reason,
};
use crate::{
    identity::MachineId,
    protocol::{self, Reply, Verb, ViewFrame, WATCH_TIME, WatchRequest},
};

/// The maximum number of frames that wait for the slowest viewer of a session.
const WAITING: usize = 8;
/// The interval at which the hub renews a view that has a viewer.
const RENEWAL: Duration = WATCH_TIME.checked_div(3).unwrap();
/// The time for which a request for the screen is delayed, so that one request serves several viewers.
const SCREEN_REQUEST_DELAY: Duration = Duration::from_millis(200);

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
    /// Requests the whole screen.
    anew: Notify,
}

/// A frame, as an event for the page.
#[derive(Clone)]
enum Shown {
    Screen(Bytes),
    Output(Bytes),
    End(Bytes),
}

/// A page that shows a session live.
pub struct Viewer {
    view: Arc<View>,
    frames: broadcast::Receiver<Shown>,
}

impl Views {
    /// Creates the views of sessions of these machines.
    pub fn new(machines: Machines, client: async_nats::Client) -> Self {
        Self { machines, client, all: Arc::default() }
    }

    /// Opens a view of a session for a page.
    ///
    /// # Errors
    /// `sid` is not a session's id.
    pub fn open(&self, machine: &MachineId, sid: &str) -> Result<Viewer, String> {
        let subject = protocol::view(machine, sid)?;
        let (view, frames) = self.view(machine, sid, subject);
        Ok(Viewer { view, frames })
    }

    /// The view of a session. It is shared with the other viewers of that session.
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

    /// Passes a session's frames to its viewers until there are no viewers (returns `None`) or the view ends (returns
    /// the reason). Does not wait for the machine's reply while frames wait.
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
            let watch = WatchRequest { sid: sid.clone(), anew };
            if !self.machines.is_paired(machine) {
                return Some("the machine was removed".to_owned());
            }
            // Limits how often the connector sends the whole screen.
            sleep(if anew { SCREEN_REQUEST_DELAY } else { Duration::ZERO }).await;
            match self.machines.request::<()>(machine, Verb::Watch, &watch).await {
                Ok(Reply::Done(())) => None,
                // The connector was busy, and may still show the session.
                Err(Unreachable::Silent(_)) | Ok(Reply::NotBegun(_)) => None,
                Ok(Reply::Refused(why)) => Some(reason(&why)),
                Ok(Reply::Repeated | Reply::Blocked(_)) => {
                    Some("the machine did not understand".to_owned())
                }
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
                    match frame_event(&frame.payload) {
                        // If there is no viewer, the next iteration of the loop ends.
                        Some(Ok(frame)) => drop(shown.frames.send(frame)),
                        Some(Err(why)) => return Some(why),
                        None => tracing::debug!(%machine, sid, "a malformed frame was skipped"),
                    }
                }
                refused = async { asking.as_mut().expect("it is asked").await }, if asking.is_some() => {
                    if refused.is_some() {
                        return refused;
                    }
                    asking = None;
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

impl Viewer {
    /// Passes frames to the page, as events, until the page disconnects or the view ends.
    pub async fn forward(mut self, send: &mpsc::Sender<Bytes>) {
        let mut has_screen = false;
        loop {
            let event = match self.frames.recv().await {
                Ok(Shown::Screen(event)) => {
                    has_screen = true;
                    event
                }
                // Output that arrives before the first screen is already part of that screen.
                Ok(Shown::Output(_)) if !has_screen => continue,
                Ok(Shown::Output(event)) => event,
                Ok(Shown::End(event)) => {
                    let _ = send.send(event).await;
                    return;
                }
                Err(broadcast::error::RecvError::Lagged(_)) => {
                    has_screen = false;
                    self.view.anew.notify_one();
                    event("gap", "{}")
                }
                Err(broadcast::error::RecvError::Closed) => return,
            };
            if send.send(event).await.is_err() {
                return;
            }
        }
    }
}

/// Returns a machine's frame as an event for the page, or `None` if the frame is malformed. The frame is checked,
/// because a machine may send anything.
///
/// # Errors
/// The view has ended. A reason for the user.
fn frame_event(payload: &[u8]) -> Option<Result<Shown, String>> {
    let is_base64 = |text: &str| STANDARD.decode(text).is_ok();
    match serde_json::from_slice(payload) {
        Ok(ViewFrame::Screen { cols, rows, base64, lost }) if is_base64(&base64) => {
            let screen = json!({"cols": cols, "rows": rows, "data": base64}).to_string();
            let screen = event("screen", &screen);
            Some(Ok(Shown::Screen(match lost {
                0 => screen,
                _ => [event("gap", "{}"), screen].concat().into(),
            })))
        }
        Ok(ViewFrame::Bytes(base64)) if is_base64(&base64) => {
            Some(Ok(Shown::Output(event("bytes", &base64))))
        }
        Ok(ViewFrame::End(why)) => Some(Err(reason(&why))),
        _ => None,
    }
}

fn end(why: &str) -> Shown {
    Shown::End(event("end", &why.replace(['\n', '\r'], " ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The event that a page receives for a machine's frame. Empty if the page receives no event.
    fn shown(payload: &[u8]) -> String {
        let Some(frame) = frame_event(payload) else { return String::new() };
        let (Shown::Screen(event) | Shown::Output(event) | Shown::End(event)) =
            frame.unwrap_or_else(|why| end(&why));
        String::from_utf8(event.to_vec()).unwrap()
    }

    fn sent(frame: &ViewFrame) -> Vec<u8> {
        serde_json::to_vec(frame).unwrap()
    }

    #[test]
    fn a_frame_cannot_inject_events() {
        let hostile = "a\n\nevent: screen\ndata: {}\n\n".to_owned();
        assert_eq!(
            shown(&sent(&ViewFrame::Bytes("aGk=".to_owned()))),
            "event: bytes\ndata: aGk=\n\n"
        );
        let event = shown(&sent(&ViewFrame::End(hostile)));
        assert!(event.starts_with("event: end\n"), "{event}");
        assert_eq!(event.matches("\n\n").count(), 1, "{event}");
    }

    #[test]
    fn a_malformed_frame_is_skipped() {
        let hostile = "a\n\nevent: end\ndata: {}\n\n".to_owned();
        for frame in [
            &b"nothing"[..],
            b"",
            b"{}",
            b"\xff",
            // The reply of a store, and other data that is no frame.
            br#"{"stream":"KV_fleet_presence","seq":1}"#,
            br#"{"bytes":1}"#,
            br#"{"end":null}"#,
            br#"{"screen":{"cols":70000,"rows":1,"base64":"","lost":0}}"#,
            &sent(&ViewFrame::Bytes("A".to_owned())),
            &sent(&ViewFrame::Bytes(hostile.clone())),
            &sent(&ViewFrame::Screen { cols: 1, rows: 1, base64: hostile, lost: 0 }),
        ] {
            assert_eq!(shown(frame), "", "{}", String::from_utf8_lossy(frame));
        }
    }

    #[tokio::test]
    async fn a_slow_page_misses_output_and_asks_for_the_screen() {
        let view = Arc::new(View { frames: broadcast::Sender::new(2), anew: Notify::new() });
        let viewer = Viewer { view: view.clone(), frames: view.frames.subscribe() };
        let (send, mut receive) = mpsc::channel(8);
        let bytes = ["YQ==", "Yg==", "Yw=="].map(|text| ViewFrame::Bytes(text.to_owned()));
        let screen = ViewFrame::Screen { cols: 2, rows: 1, base64: "ZA==".to_owned(), lost: 3 };
        for frame in bytes.iter().chain([&screen]) {
            let _ = view.frames.send(frame_event(&sent(frame)).unwrap().unwrap());
        }
        let _ = view.frames.send(end("over"));
        viewer.forward(&send).await;
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
