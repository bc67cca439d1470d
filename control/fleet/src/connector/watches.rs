//! Shows sessions live to a hub as long as the hub requests it. One view of a session serves all viewers.

use std::{collections::HashMap, sync::Arc, time::Duration};

use anyhow::{Context as _, Result, bail};
use parking_lot::Mutex;
use tokio::{
    sync::Notify,
    time::{Instant, sleep},
};
use unterm_control::{
    Caller,
    backend::Calls as _,
    methods::view::{Follow, FollowParams},
};

use super::instances::{Instances, PaneAddress, plain};
use crate::{
    identity::MachineId,
    protocol::{self, ViewFrame, WATCH_TIME},
};

/// The maximum number of sessions that are shown at the same time.
const MOST: usize = 32;
/// The maximum time that an instance waits for output before it replies.
const WAIT_MS: u64 = 5000;
/// The pause between two frames.
const PAUSE: Duration = Duration::from_millis(30);
/// The pause after output that arrived faster than it can be shown.
const FLOOD_PAUSE: Duration = Duration::from_millis(250);
/// The reason for the viewers when a view ends because its session has ended.
const ENDED: &str = "the session has ended";

/// The live views of a machine's sessions.
pub struct Watches {
    instances: Arc<Instances>,
    client: async_nats::Client,
    machine: MachineId,
    running: Mutex<HashMap<String, Arc<Watch>>>,
}

/// The live view of a session.
struct Watch {
    renewed: Mutex<Instant>,
    /// Requests the whole screen.
    anew: Notify,
}

impl Watches {
    /// Creates an empty set of views for a machine. `client`: the NATS connection that publishes them.
    pub fn new(instances: Arc<Instances>, client: async_nats::Client, machine: MachineId) -> Self {
        Self { instances, client, machine, running: Mutex::default() }
    }

    /// Shows a session for some time from now on. `anew`: whether to send the whole screen first.
    ///
    /// # Errors
    /// Too many sessions are shown, or there is no such session. A message for the hub.
    pub fn renew(self: &Arc<Self>, sid: &str, anew: bool) -> Result<(), String> {
        let subject = protocol::view(&self.machine, sid)?;
        let mut running = self.running.lock();
        if let Some(watch) = running.get(sid) {
            *watch.renewed.lock() = Instant::now();
            if anew {
                watch.anew.notify_one();
            }
            return Ok(());
        }
        if running.len() >= MOST {
            return Err(format!("{MOST} sessions of this machine are shown already"));
        }
        let watch = Arc::new(Watch { renewed: Mutex::new(Instant::now()), anew: Notify::new() });
        running.insert(sid.to_owned(), watch.clone());
        drop(running);
        let (watches, sid) = (self.clone(), sid.to_owned());
        tokio::spawn(async move {
            loop {
                let shown = watches.show(&watch, &sid, &subject).await;
                if let Err(error) = &shown {
                    let end = ViewFrame::End(format!("{error:#}"));
                    if let Err(error) = watches.publish(&subject, &end).await {
                        tracing::debug!(%error, "the end of a view could not be sent");
                    }
                }
                let mut running = watches.running.lock();
                // The view may have been renewed a moment ago.
                if shown.is_err() || watch.renewed.lock().elapsed() >= WATCH_TIME {
                    running.remove(&sid);
                    return;
                }
            }
        });
        Ok(())
    }

    /// Publishes a session's output until the hub stops renewing the view, or the session ends.
    async fn show(&self, watch: &Watch, sid: &str, subject: &str) -> Result<()> {
        let PaneAddress { remote, pane, .. } = self.instances.find(sid, "").await?;
        let caller = Caller::of_user(None);
        let (mut view, mut is_anew) = (None, false);
        while watch.renewed.lock().elapsed() < WATCH_TIME {
            let params = FollowParams { wait_ms: WAIT_MS.into(), ..FollowParams::of(pane) };
            let params = match view {
                Some(view) => {
                    FollowParams { view: u64::into(view), anew: is_anew.into(), ..params }
                }
                None => params,
            };
            let seen = tokio::select! {
                seen = remote.call::<Follow>(&caller, params) => seen,
                () = watch.anew.notified(), if view.is_some() => {
                    is_anew = true;
                    continue;
                }
            };
            let seen = match seen {
                Ok(seen) => seen,
                Err(_) if self.instances.find(sid, "").await.is_err() => bail!(ENDED),
                Err(error) => bail!("{}", plain(&error)),
            };
            (view, is_anew) = (Some(seen.view), false);
            let is_flood = seen.lost > 0;
            let is_empty = seen.base64.is_empty();
            let frame = match seen.screen {
                true => ViewFrame::Screen {
                    cols: seen.cols,
                    rows: seen.rows,
                    base64: seen.base64,
                    lost: seen.lost,
                },
                false => ViewFrame::Bytes(seen.base64),
            };
            if !is_empty {
                self.publish(subject, &frame).await.context("the screen can't be sent")?;
            }
            if seen.ended {
                bail!(ENDED);
            }
            sleep(if is_flood { FLOOD_PAUSE } else { PAUSE }).await;
        }
        Ok(())
    }

    async fn publish(&self, subject: &str, frame: &ViewFrame) -> Result<()> {
        let frame = serde_json::to_vec(frame)?;
        Ok(self.client.publish(subject.to_owned(), frame.into()).await?)
    }
}
