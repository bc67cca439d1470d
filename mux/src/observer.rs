//! Observers of a mux, and the count of its running threads.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use unterm_term::{ClipboardTarget, Event};

use crate::{
    PaneId,
    lock::{Condvar, Mutex},
    transfer::TransferRequest,
};

/// An event of the mux, for code that shows or reports it.
#[derive(Clone, Debug, PartialEq)]
pub enum MuxEvent {
    /// Tabs, splits, focus or the active tab changed; read [`crate::Mux::layout`].
    Layout,
    /// A pane was opened.
    PaneOpened(PaneId),
    /// A pane's program ended.
    PaneExited(PaneId),
    /// A pane was removed.
    PaneRemoved(PaneId),
    /// The last tab has closed.
    Empty,
    /// A pane's title changed.
    Title(PaneId),
    /// A pane's working directory changed.
    Cwd(PaneId),
    /// A bell rang.
    Bell(PaneId),
    /// A program wrote to a clipboard (OSC 52).
    Clipboard {
        /// The pane.
        pane: PaneId,
        /// The clipboard: the clipboard itself, or the primary selection.
        target: ClipboardTarget,
        /// The text.
        text: String,
    },
    /// A program asks to transfer files (OSC 5113). [`crate::Pane::answer_transfer`] answers it. Only muxes whose panes a
    /// window sizes ask.
    Transfer {
        /// The pane.
        pane: PaneId,
        /// The requested transfer.
        request: TransferRequest,
    },
    /// Any other event of a pane's terminal, such as a command, a notification, progress or a clipboard request.
    Told {
        /// The pane.
        pane: PaneId,
        /// The terminal's event.
        event: Event,
    },
}

/// Receives every event of a mux. Any thread may call it, with no lock held. It must return quickly, because the
/// calling thread waits: a pane's reader, for example, reads nothing meanwhile.
pub trait Observer: Send + Sync {
    /// A pane's terminal changed (output, resize, scroll of history).
    fn output(&self, pane: PaneId);
    /// An event.
    fn event(&self, event: MuxEvent);
}

/// The observers of a mux, shared with its panes.
#[derive(Default)]
pub(crate) struct Observers {
    /// Replaced as a whole on each change, so that observers can be called after the lock is released.
    list: Mutex<Arc<Vec<Arc<dyn Observer>>>>,
}

impl Observers {
    pub(crate) fn add(&self, observer: Arc<dyn Observer>) {
        Arc::make_mut(&mut self.list.lock()).push(observer);
    }

    pub(crate) fn output(&self, pane: PaneId) {
        let list = self.list();
        list.iter().for_each(|observer| observer.output(pane));
    }

    pub(crate) fn event(&self, event: MuxEvent) {
        let list = self.list();
        list.iter().for_each(|observer| observer.event(event.clone()));
    }

    fn list(&self) -> Arc<Vec<Arc<dyn Observer>>> {
        self.list.lock().clone()
    }
}

/// Counts the threads of a mux's panes.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    count: Mutex<usize>,
    none_left: Condvar,
}

impl Threads {
    /// Counts one more thread until the returned value is dropped.
    pub(crate) fn alive(self: &Arc<Self>) -> Alive {
        *self.count.lock() += 1;
        Alive(self.clone())
    }

    /// Waits until all threads have ended. Returns false if that takes longer than `limit`.
    pub(crate) fn wait(&self, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        let mut count = self.count.lock();
        while *count > 0 {
            if self.none_left.wait_until(&mut count, deadline).timed_out() {
                return *count == 0;
            }
        }
        true
    }
}

/// One running thread.
#[derive(Debug)]
pub(crate) struct Alive(Arc<Threads>);

impl Drop for Alive {
    fn drop(&mut self) {
        let mut count = self.0.count.lock();
        *count -= 1;
        if *count == 0 {
            self.0.none_left.notify_all();
        }
    }
}
