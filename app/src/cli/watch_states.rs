//! `unterm-cli watch --states`: follows the states of the programs in an instance's panes, one change per line.
//!
//! Each pane is followed on a thread of its own, which calls a method that waits until the state changes.

use std::{
    collections::HashSet,
    io::{ErrorKind, Write as _},
    sync::{
        Arc,
        mpsc::{Sender, channel},
    },
    thread,
};

use anyhow::{Result, bail};
use serde_json::json;
use unterm_control::{
    WorkState,
    client::Client,
    methods::{
        events::{EventKind, SubscribeParams},
        explain::{Explain, ExplainReply},
        params::{NoParams, SessionOnly},
        session::List,
        wait::{Awaited, Watch, WatchParams},
    },
};

/// The maximum time that one call waits for a change, in milliseconds.
const WAIT: u64 = 60_000;

/// The panes to follow, and the format.
pub struct WatchStates {
    /// Follows only this pane.
    pub session: Option<u64>,
    /// Ends after this number of lines.
    pub count: Option<u64>,
    /// Prints changes as JSON.
    pub json: bool,
}

/// What the threads report.
enum News {
    /// A pane was opened.
    Opened(u64),
    /// A pane's program is in another state.
    Changed(Box<ExplainReply>),
    /// A pane is no longer followed.
    Ended,
    /// The connection was lost.
    Lost,
}

impl WatchStates {
    /// Prints the state of each pane, and then each change, until `count` is reached, the followed pane or the instance
    /// ends, or standard output is closed.
    pub fn run(&self, client: Client) -> Result<()> {
        let client = Arc::new(client);
        let (sender, news) = channel();
        match self.session {
            Some(id) => {
                // An unknown pane is an error.
                client.call::<Explain>(SessionOnly::of(id))?;
                sender.send(News::Opened(id))?;
            }
            None => follow_panes(&client, &sender)?,
        }
        let mut followed = HashSet::new();
        let mut left = self.count.unwrap_or(u64::MAX);
        let mut out = std::io::stdout().lock();
        while left > 0 {
            match news.recv()? {
                News::Opened(id) => {
                    if followed.insert(id) {
                        let (client, sender) = (Arc::clone(&client), sender.clone());
                        thread::spawn(move || {
                            let _ = follow(&client, id, &sender);
                            let _ = sender.send(News::Ended);
                        });
                    }
                }
                News::Changed(reply) => {
                    left -= 1;
                    match writeln!(out, "{}", self.line(&reply)).and_then(|()| out.flush()) {
                        Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(()),
                        written => written?,
                    }
                }
                News::Ended if self.session.is_some() => return Ok(()),
                News::Ended => {}
                News::Lost => bail!("the connection to Unterm was lost"),
            }
        }
        Ok(())
    }

    fn line(&self, reply: &ExplainReply) -> String {
        let ExplainReply { id, state, kind, message, since, source, .. } = reply;
        if self.json {
            let changed = json!({"session": id, "state": state, "kind": kind, "message": message,
                "since": since, "source": source});
            return changed.to_string();
        }
        let state = match kind {
            Some(kind) => format!("{} ({})", state.name(), kind.name()),
            None => state.name().to_owned(),
        };
        let message = message.as_deref().unwrap_or_default();
        format!("{id:>4}  {state:<22}  {message}").trim_end().to_owned()
    }
}

/// Reports the panes of the instance, and each pane that is opened later.
fn follow_panes(client: &Arc<Client>, sender: &Sender<News>) -> Result<()> {
    let (ready, is_ready) = channel();
    let (following, opened) = (Arc::clone(client), sender.clone());
    thread::spawn(move || {
        let events = vec![EventKind("session_opened".to_owned())];
        let filter = SubscribeParams { events: events.into(), ..SubscribeParams::default() };
        let subscribed = following.subscribe(filter);
        let _ = ready.send(subscribed.as_ref().err().map(ToString::to_string));
        for event in subscribed.into_iter().flatten() {
            let id = event["session_id"].as_str().and_then(|id| id.parse().ok());
            if id.is_some_and(|id| opened.send(News::Opened(id)).is_err()) {
                return;
            }
        }
        let _ = opened.send(News::Lost);
    });
    // The subscription begins before the list is read, so that no pane is missed.
    if let Some(why) = is_ready.recv()? {
        bail!(why);
    }
    for pane in client.call::<List>(NoParams {})?.sessions {
        sender.send(News::Opened(pane.id))?;
    }
    Ok(())
}

/// Reports the state of a pane's program now and at each change, until the program has ended or the pane is closed.
fn follow(client: &Client, id: u64, sender: &Sender<News>) -> Result<()> {
    let (mut last, mut is_dead) = (None, false);
    loop {
        let reply = client.call::<Explain>(SessionOnly::of(id))?;
        let (state, kind) = (reply.state, reply.kind);
        if last.replace((state, kind)) != Some((state, kind)) {
            sender.send(News::Changed(Box::new(reply)))?;
        }
        if is_dead {
            return Ok(());
        }
        let others = WorkState::ALL.into_iter().filter(|other| *other != state);
        let any: Vec<_> = others.map(Awaited::State).collect();
        let params =
            WatchParams { any: any.into(), timeout_ms: WAIT.into(), ..WatchParams::of(id) };
        is_dead = client.call::<Watch>(params)?.is_dead;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_a_line() {
        let reply = json!({"id": 3, "state": "needs_you", "kind": "permission", "source": "report",
            "message": "Run it?", "reason": "a rule", "chain": []});
        let reply: ExplainReply = serde_json::from_value(reply).unwrap();
        let mut watch = WatchStates { session: None, count: None, json: false };
        assert_eq!(watch.line(&reply), "   3  needs_you (permission)  Run it?");
        watch.json = true;
        let line: serde_json::Value = serde_json::from_str(&watch.line(&reply)).unwrap();
        assert_eq!((&line["state"], &line["session"]), (&json!("needs_you"), &json!(3)));
    }
}
