//! Taps: copies of the bytes that pass through a pane, for recordings, transcripts and raw views.
//!
//! Owns the list of a pane's taps and their bounded queues. A slow tap loses bytes and receives the number of lost
//! bytes. The pane's reader waits only for recordings, for a bounded time and with no lock held. Without taps, a batch
//! of output costs one atomic load.

use std::{
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant, SystemTime},
};

use tokio::sync::mpsc;

use crate::lock::{self, Condvar, Mutex};

/// The number of bytes that a tap's queue may contain.
pub const TAP_CAPACITY: usize = 4 * 1024 * 1024;

/// The longest time that a pane's reader waits for a recording that does not read, for example because the disk hangs.
const PATIENCE: Duration = Duration::from_secs(5);

/// The cost of an item in addition to its bytes. It limits the number of small items in a queue.
const ITEM_COST: usize = 96;

/// The direction of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TapDirection {
    /// From the program to the terminal.
    Output,
    /// From the user or a caller to the program.
    Input,
}

/// An item of a tap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TapItem {
    /// Bytes, in order.
    Bytes {
        /// The terminal's `seq` after these bytes.
        seq: u64,
        /// When the bytes passed.
        time: SystemTime,
        /// The direction of the bytes.
        direction: TapDirection,
        /// The bytes.
        bytes: Arc<[u8]>,
        /// Whether these bytes are input to hide. The tap's [`crate::Hides`] decided this before the input was written.
        is_hidden: bool,
        /// Whether these bytes are input that the terminal device echoes (termios ECHO). Checked before the input was
        /// written.
        is_echoed: bool,
    },
    /// Bytes are missing here, because the tap's queue was full.
    Gap {
        /// The number of missing bytes.
        bytes: u64,
    },
    /// The tap or the pane's program has ended. No items follow.
    End,
}

/// A function that returns whether a tap must hide the input that is about to be written. Called with no lock held.
pub(crate) type Hidden = Arc<dyn Fn() -> bool + Send + Sync>;

/// The reading end of a tap. Its queue contains up to [`TAP_CAPACITY`] bytes. Bytes that do not fit become a
/// [`TapItem::Gap`]. Dropping this value ends the tap.
///
/// To continue a copy of the terminal with a tap: start the tap, copy the terminal, then skip output whose `seq` is not
/// above the copy's.
#[derive(Debug)]
pub struct Tap {
    receiver: mpsc::UnboundedReceiver<TapItem>,
    queue: Arc<Queue>,
    end: TapEnd,
}

/// Ends a tap from another thread. The tap's reader receives the items that are already queued, then [`TapItem::End`].
#[derive(Clone, Debug)]
pub struct TapEnd {
    id: u64,
    taps: Weak<Taps>,
}

impl TapEnd {
    /// Ends the tap. Has no effect on a tap that has ended.
    pub fn end(&self) {
        if let Some(taps) = self.taps.upgrade() {
            taps.end_one(self.id);
        }
    }
}

/// The fill level of a tap's queue.
#[derive(Debug, Default)]
struct Queue {
    /// Bytes in the queue, plus [`ITEM_COST`] for each item.
    used: AtomicUsize,
    /// Whether the pane's reader waits for room in this queue.
    waits: bool,
    /// Whether the pane's reader has waited without success. It waits again when the queue is half empty. Changed under
    /// the lock.
    is_late: AtomicBool,
    /// Whether the tap was dropped or has ended. Changed under the lock.
    is_closed: AtomicBool,
    /// Held by the pane's reader while it waits, and by a thread that wakes it.
    waiting: Mutex<()>,
    freed: Condvar,
}

impl Queue {
    /// Waits until the queue has room for an item or the tap ends. Gives up if nothing is read for [`PATIENCE`].
    fn make_room(&self, cost: usize) {
        let is_full = || self.used.load(Ordering::Acquire) + cost > TAP_CAPACITY;
        if !is_full() {
            return;
        }
        let mut waiting = self.waiting.lock();
        let (mut used, mut since) = (self.used.load(Ordering::Acquire), Instant::now());
        while is_full() && !self.is_closed.load(Ordering::Acquire) && !self.is_late() {
            let is_over = self.freed.wait_until(&mut waiting, since + PATIENCE).timed_out();
            let now = self.used.load(Ordering::Acquire);
            if now < used {
                (used, since) = (now, Instant::now());
            } else if is_over {
                self.is_late.store(true, Ordering::Release);
            }
        }
    }

    fn is_late(&self) -> bool {
        self.is_late.load(Ordering::Acquire)
    }

    fn take(&self, cost: usize) {
        let left = self.used.fetch_sub(cost, Ordering::AcqRel).saturating_sub(cost);
        if self.waits && cost > 0 {
            let _waiting = self.waiting.lock();
            if left <= TAP_CAPACITY / 2 {
                self.is_late.store(false, Ordering::Release);
            }
            self.freed.notify_all();
        }
    }

    fn close(&self) {
        let waiting = self.waiting.lock();
        self.is_closed.store(true, Ordering::Release);
        drop(waiting);
        self.freed.notify_all();
    }
}

impl Tap {
    /// Waits for the next item. Returns `None` after [`TapItem::End`]. Cancel-safe. Works in any runtime.
    pub async fn next(&mut self) -> Option<TapItem> {
        let item = self.receiver.recv().await?;
        Some(self.taken(item))
    }

    /// Blocks until the next item arrives. Not for asynchronous code.
    pub fn blocking_next(&mut self) -> Option<TapItem> {
        let item = self.receiver.blocking_recv()?;
        Some(self.taken(item))
    }

    /// The next item, if an item is queued.
    pub fn try_next(&mut self) -> Option<TapItem> {
        let item = self.receiver.try_recv().ok()?;
        Some(self.taken(item))
    }

    /// A handle that ends this tap from another thread.
    pub fn ender(&self) -> TapEnd {
        self.end.clone()
    }

    fn taken(&self, item: TapItem) -> TapItem {
        self.queue.take(cost(&item));
        item
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        self.queue.close();
        if let Some(taps) = self.end.taps.upgrade() {
            taps.remove(self.end.id);
        }
    }
}

fn cost(item: &TapItem) -> usize {
    match item {
        TapItem::Bytes { bytes, .. } => bytes.len() + ITEM_COST,
        TapItem::Gap { .. } | TapItem::End => 0,
    }
}

/// The taps of one pane: the writing end.
#[derive(Debug, Default)]
pub(crate) struct Taps {
    /// Whether `list` is not empty, so that a pane without taps takes no lock.
    any: AtomicBool,
    /// Whether a tap in `list` hides input.
    any_hides: AtomicBool,
    /// Whether the pane's reader waits for a tap in `list`.
    any_waits: AtomicBool,
    ids: AtomicU64,
    list: Mutex<List>,
}

#[derive(Debug, Default)]
struct List {
    senders: Vec<Sender>,
    has_ended: bool,
}

struct Sender {
    id: u64,
    hides: Option<Hidden>,
    sender: mpsc::UnboundedSender<TapItem>,
    queue: Arc<Queue>,
    /// Bytes dropped since the last item that fit.
    gap: u64,
}

impl std::fmt::Debug for Sender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sender").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Taps {
    /// Starts a tap. If the pane's taps have ended, the new tap yields only [`TapItem::End`]. `hides` decides which
    /// input to hide. If it is set, the tap is a recording, and the pane's reader waits for it.
    pub(crate) fn start(self: &Arc<Self>, hides: Option<Hidden>) -> Tap {
        let (sender, receiver) = mpsc::unbounded_channel();
        let queue = Arc::new(Queue { waits: hides.is_some(), ..Queue::default() });
        let id = self.ids.fetch_add(1, Ordering::Relaxed);
        let end = TapEnd { id, taps: Arc::downgrade(self) };
        let tap = Tap { receiver, queue: queue.clone(), end };
        let mut list = self.list.lock();
        if list.has_ended {
            let _ = sender.send(TapItem::End);
        } else {
            list.senders.push(Sender { id, hides, sender, queue, gap: 0 });
            self.look(&list);
        }
        drop(list);
        tap
    }

    /// Whether the pane has taps.
    pub(crate) fn any(&self) -> bool {
        self.any.load(Ordering::Acquire)
    }

    /// Whether a tap hides input.
    pub(crate) fn any_hides(&self) -> bool {
        self.any_hides.load(Ordering::Acquire)
    }

    /// Whether a tap hides input that is typed into the pane now. Call it with no lock held.
    pub(crate) fn hide(&self) -> bool {
        if !self.any_hides() {
            return false;
        }
        lock::assert_none();
        let list = self.list.lock();
        let hides: Vec<Hidden> = list.senders.iter().filter_map(|tap| tap.hides.clone()).collect();
        drop(list);
        hides.iter().any(|hides| hides())
    }

    /// Sends output to every tap, and waits for recordings that are slow. Without taps, costs one atomic load. Only the
    /// pane's reader may call it, with no lock held.
    pub(crate) fn publish(&self, seq: u64, bytes: &[u8]) {
        lock::assert_none();
        if self.any_waits.load(Ordering::Acquire) {
            let list = self.list.lock();
            let waiting = list.senders.iter().filter(|tap| tap.queue.waits);
            let queues: Vec<_> = waiting.map(|tap| tap.queue.clone()).collect();
            drop(list);
            for queue in queues {
                queue.make_room(bytes.len() + ITEM_COST);
            }
        }
        self.send(seq, TapDirection::Output, bytes, false, false);
    }

    /// Sends input to every tap, without waiting.
    pub(crate) fn publish_input(&self, seq: u64, bytes: &[u8], is_hidden: bool, is_echoed: bool) {
        self.send(seq, TapDirection::Input, bytes, is_hidden, is_echoed);
    }

    fn send(
        &self,
        seq: u64,
        direction: TapDirection,
        bytes: &[u8],
        is_hidden: bool,
        is_echoed: bool,
    ) {
        if bytes.is_empty() || !self.any() {
            return;
        }
        let (time, bytes) = (SystemTime::now(), Arc::from(bytes));
        let item = TapItem::Bytes { seq, time, direction, bytes, is_hidden, is_echoed };
        let mut list = self.list.lock();
        for sender in &mut list.senders {
            sender.send(&item);
        }
    }

    fn look(&self, list: &List) {
        self.any.store(!list.senders.is_empty(), Ordering::Release);
        let any_hides = list.senders.iter().any(|tap| tap.hides.is_some());
        self.any_hides.store(any_hides, Ordering::Release);
        let any_waits = list.senders.iter().any(|tap| tap.queue.waits);
        self.any_waits.store(any_waits, Ordering::Release);
    }

    /// Ends every tap, and every tap that is started later.
    pub(crate) fn end(&self) {
        self.list.lock().has_ended = true;
        self.end_present();
    }

    /// Ends the present taps. Taps can be started later.
    pub(crate) fn end_present(&self) {
        let mut list = self.list.lock();
        let senders = std::mem::take(&mut list.senders);
        self.look(&list);
        drop(list);
        senders.into_iter().for_each(Sender::end);
    }

    /// Ends one tap.
    fn end_one(&self, id: u64) {
        let mut list = self.list.lock();
        let at = list.senders.iter().position(|sender| sender.id == id);
        let sender = at.map(|at| list.senders.remove(at));
        self.look(&list);
        drop(list);
        if let Some(sender) = sender {
            sender.end();
        }
    }

    fn remove(&self, id: u64) {
        let mut list = self.list.lock();
        list.senders.retain(|sender| sender.id != id);
        self.look(&list);
    }
}

impl Sender {
    fn send(&mut self, item: &TapItem) {
        let cost = cost(item);
        // The pane's reader made room for its output, but input may have used part of the room since. So allow a
        // recording more.
        let most = match self.queue.waits && !self.queue.is_late() {
            true => 2 * TAP_CAPACITY,
            false => TAP_CAPACITY,
        };
        if self.queue.used.load(Ordering::Acquire) + cost > most {
            self.gap += (cost - ITEM_COST) as u64;
            return;
        }
        self.flush_gap();
        self.queue.used.fetch_add(cost, Ordering::AcqRel);
        let _ = self.sender.send(item.clone());
    }

    fn end(mut self) {
        self.flush_gap();
        let _ = self.sender.send(TapItem::End);
        self.queue.close();
    }

    fn flush_gap(&mut self) {
        if self.gap > 0 {
            let _ = self.sender.send(TapItem::Gap { bytes: self.gap });
            self.gap = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(item: Option<TapItem>) -> Vec<u8> {
        match item {
            Some(TapItem::Bytes { bytes, .. }) => bytes.to_vec(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_tap_gets_the_bytes_in_order_and_the_end() {
        let taps = Arc::new(Taps::default());
        let (mut first, mut second) = (taps.start(None), taps.start(None));
        taps.publish(1, b"one");
        taps.publish_input(1, b"two", false, false);
        taps.end();
        for tap in [&mut first, &mut second] {
            assert_eq!(bytes(tap.try_next()), b"one");
            assert_eq!(bytes(tap.try_next()), b"two");
            assert_eq!(tap.try_next(), Some(TapItem::End));
            assert_eq!(tap.blocking_next(), None);
        }
        assert_eq!(taps.start(None).blocking_next(), Some(TapItem::End));
    }

    #[test]
    fn a_slow_tap_gets_a_gap_of_exactly_what_it_missed() {
        let taps = Arc::new(Taps::default());
        let mut slow = taps.start(None);
        let mut quick = taps.start(None);
        let block = vec![0; 64 * 1024];
        let (mut missed, mut seen) = (0, 0);
        for _ in 0..100 {
            taps.publish(1, &block);
            seen += bytes(quick.try_next()).len();
        }
        assert_eq!(seen, 100 * block.len());
        let mut kept = 0;
        while let Some(item) = slow.try_next() {
            kept += bytes(Some(item)).len();
        }
        assert!(kept <= TAP_CAPACITY);
        taps.publish(2, b"later");
        if let Some(TapItem::Gap { bytes }) = slow.try_next() {
            missed = bytes as usize;
        }
        assert_eq!(kept + missed, 100 * block.len());
        assert_eq!(bytes(slow.try_next()), b"later");
    }

    #[test]
    fn output_waits_for_a_recording_and_nothing_of_it_is_lost() {
        let taps = Arc::new(Taps::default());
        let mut tap = taps.start(Some(Arc::new(|| false)));
        let block = vec![7; 64 * 1024];
        let writer = std::thread::spawn({
            let (taps, block) = (taps.clone(), block.clone());
            move || {
                for _ in 0..400 {
                    taps.publish(1, &block);
                }
                taps.end();
            }
        });
        // Until the tap is read, the writing thread can fill the queue only up to its capacity.
        while tap.queue.used.load(Ordering::Acquire) < TAP_CAPACITY - 2 * block.len() {
            std::thread::yield_now();
        }
        assert!(!writer.is_finished());
        let mut seen = 0;
        loop {
            match tap.blocking_next() {
                Some(TapItem::End) => break,
                item => seen += bytes(item).len(),
            }
        }
        writer.join().unwrap();
        assert_eq!(seen, 400 * block.len());
    }

    #[test]
    fn a_recording_that_ends_or_is_dropped_lets_the_reader_go_on() {
        for ends in [true, false] {
            let taps = Arc::new(Taps::default());
            let mut tap = taps.start(Some(Arc::new(|| false)));
            let block = vec![7; 64 * 1024];
            let writer = std::thread::spawn({
                let taps = taps.clone();
                move || (0..200).for_each(|_| taps.publish(1, &block))
            });
            while tap.queue.used.load(Ordering::Acquire) < TAP_CAPACITY / 2 {
                std::thread::yield_now();
            }
            if ends {
                tap.ender().end();
                writer.join().unwrap();
                let mut last = None;
                while let Some(item) = tap.try_next() {
                    last = Some(item);
                }
                assert_eq!(last, Some(TapItem::End));
            } else {
                drop(tap);
                writer.join().unwrap();
            }
            assert!(!taps.any());
        }
    }

    #[test]
    fn many_small_items_are_bounded_too() {
        let taps = Arc::new(Taps::default());
        let tap = taps.start(None);
        for _ in 0..100_000 {
            taps.publish(1, b"x");
        }
        assert!(tap.receiver.len() <= TAP_CAPACITY / ITEM_COST);
    }

    #[test]
    fn a_dropped_tap_costs_nothing_more() {
        let taps = Arc::new(Taps::default());
        let (tap, other) = (taps.start(None), taps.start(None));
        drop(tap);
        assert!(taps.any());
        drop(other);
        assert!(!taps.any());
    }
}
