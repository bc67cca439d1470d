//! Server-sent events that name the topics of changes. They contain no data, because the page requests what it needs.
//! Without changes, nothing is sent and no thread wakes.

use std::{sync::Arc, time::Duration};

use axum::{
    body::Body,
    http::{Response, StatusCode},
};
use hyper::body::Bytes;
use tokio::sync::mpsc;

use crate::{
    caller::Caller,
    dialect::http::{Lines, reply},
    dispatch::Dispatcher,
    services::{pane::events::Filter, people::changes::Topic},
};

/// The minimum interval between two events about sessions, because their changes come in bursts.
const APART: Duration = Duration::from_millis(100);
/// The kinds of session events that a page is interested in.
const SESSION_KINDS: [&str; 5] =
    ["session_opened", "session_exited", "session_removed", "title", "layout"];

/// The response. It lasts until the page disconnects or its token ends.
pub fn stream(dispatcher: Arc<Dispatcher>, caller: Caller) -> Response<Body> {
    let (send, receive) = mpsc::channel(4);
    let context = dispatcher.context();
    let mut changes = context.people.changes.listen();
    let filter = Filter { kinds: SESSION_KINDS.to_vec(), panes: None };
    let mut sessions = context.panes.hub.listen(filter);
    tokio::spawn(async move {
        let mut seen = *changes.borrow_and_update();
        // This event shows the page that it will receive all further changes.
        if send.send(line("ready")).await.is_err() {
            return;
        }
        loop {
            tokio::select! {
                () = send.closed() => return,
                changed = changes.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    let now = *changes.borrow_and_update();
                    if dispatcher.check_token(&caller).is_err() {
                        return;
                    }
                    for topic in Topic::ALL {
                        if now[topic as usize] != seen[topic as usize]
                            && send.send(line(topic.name())).await.is_err()
                        {
                            return;
                        }
                    }
                    seen = now;
                }
                _ = sessions.next() => {
                    tokio::time::sleep(APART).await;
                    if dispatcher.check_token(&caller).is_err() {
                        return;
                    }
                    if send.send(line("sessions")).await.is_err() {
                        return;
                    }
                    // The event that was just sent also covers all events that arrived meanwhile.
                    while sessions.take().is_some() {}
                }
            }
        }
    });
    reply(StatusCode::OK, "text/event-stream", Body::new(Lines(receive)))
}

fn line(topic: &str) -> Bytes {
    format!("event: {topic}\ndata: {{}}\n\n").into()
}
