//! Wait channels: `wait-for`.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use parking_lot::Mutex;
use tokio::sync::oneshot;

/// The maximum number of channels.
const MOST: usize = 1000;

#[derive(Default)]
struct Channel {
    /// Whether the channel was signaled while no client waited.
    is_woken: bool,
    waiters: Vec<oneshot::Sender<()>>,
    is_locked: bool,
    lockers: VecDeque<oneshot::Sender<()>>,
}

impl Channel {
    fn forget_gone(&mut self) {
        self.waiters.retain(|waiter| !waiter.is_closed());
        self.lockers.retain(|locker| !locker.is_closed());
    }

    fn is_unused(&self) -> bool {
        !self.is_woken && !self.is_locked && self.waiters.is_empty() && self.lockers.is_empty()
    }
}

/// The channels, by name.
#[derive(Clone, Default)]
pub struct Channels(Arc<Mutex<HashMap<String, Channel>>>);

impl Channels {
    fn with<T>(&self, name: &str, change: impl FnOnce(&mut Channel) -> T) -> Result<T, String> {
        let mut channels = self.0.lock();
        channels.values_mut().for_each(Channel::forget_gone);
        channels.retain(|_, channel| !channel.is_unused());
        if channels.len() >= MOST && !channels.contains_key(name) {
            return Err(format!("too many channels: {name}"));
        }
        Ok(change(channels.entry(name.to_owned()).or_default()))
    }

    /// Wakes the clients that wait for a channel. If no client waits, the next client that waits is woken at once.
    pub fn signal(&self, name: &str) -> Result<(), String> {
        self.with(name, |channel| {
            channel.is_woken = channel.waiters.is_empty();
            for waiter in channel.waiters.drain(..) {
                // The client may have disconnected.
                let _ = waiter.send(());
            }
        })
    }

    /// Waits for a signal.
    pub async fn wait(&self, name: &str) -> Result<(), String> {
        let signal = self.with(name, |channel| {
            if std::mem::take(&mut channel.is_woken) {
                return None;
            }
            let (tell, signal) = oneshot::channel();
            channel.waiters.push(tell);
            Some(signal)
        })?;
        if let Some(signal) = signal {
            // The sender is dropped only when the channels are dropped.
            let _ = signal.await;
        }
        Ok(())
    }

    /// Locks a channel. Waits while it is locked.
    pub async fn lock(&self, name: &str) -> Result<(), String> {
        let turn = self.with(name, |channel| {
            if !std::mem::replace(&mut channel.is_locked, true) {
                return None;
            }
            let (tell, turn) = oneshot::channel();
            channel.lockers.push_back(tell);
            Some(turn)
        })?;
        if let Some(turn) = turn {
            let _ = turn.await;
        }
        Ok(())
    }

    /// Unlocks a channel, or passes the lock to the next client.
    ///
    /// # Errors
    /// The channel is not locked. tmux's message.
    pub fn unlock(&self, name: &str) -> Result<(), String> {
        let mut is_locked = false;
        self.with(name, |channel| {
            is_locked = channel.is_locked;
            while let Some(next) = channel.lockers.pop_front() {
                if next.send(()).is_ok() {
                    return;
                }
            }
            channel.is_locked = false;
        })?;
        if is_locked { Ok(()) } else { Err(format!("channel {name} not locked")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::poll::poll_once;

    #[tokio::test]
    async fn a_signal_is_kept_until_a_client_waits() {
        let channels = Channels::default();
        channels.signal("a").unwrap();
        channels.wait("a").await.unwrap();
        let mut waiting = Box::pin(channels.wait("a"));
        assert!(poll_once(&mut waiting).await.is_pending());
        channels.signal("b").unwrap();
        assert!(poll_once(&mut waiting).await.is_pending());
        channels.signal("a").unwrap();
        assert!(poll_once(&mut waiting).await.is_ready());
    }

    #[tokio::test]
    async fn a_lock_passes_to_the_next_client_that_is_still_there() {
        let channels = Channels::default();
        assert_eq!(channels.unlock("a").unwrap_err(), "channel a not locked");
        channels.lock("a").await.unwrap();
        let mut gone = Box::pin(channels.lock("a"));
        let mut next = Box::pin(channels.lock("a"));
        assert!(poll_once(&mut gone).await.is_pending());
        assert!(poll_once(&mut next).await.is_pending());
        drop(gone);
        channels.unlock("a").unwrap();
        assert!(poll_once(&mut next).await.is_ready());
        channels.unlock("a").unwrap();
        assert!(channels.unlock("a").is_err());
    }
}
