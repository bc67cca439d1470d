//! Live views of panes. A viewer receives the screen first, and then output as it arrives. A viewer that falls behind
//! receives the whole screen again.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
    time::Duration,
};

use parking_lot::Mutex;
use tokio::time::{Instant, sleep, timeout_at};
use unterm_mux::{LiveView, Pane, PaneId, Tap, TapDirection, TapItem};
use unterm_term::Size;

use super::bytes::blacken;
use crate::{
    caller::TokenKind,
    services::limits::fair_share::{FairShare, SharePart},
};

/// The maximum number of views, which all tokens share.
const MOST: usize = 64;
/// A view that is not read for this long is dropped.
const IDLE: Duration = Duration::from_secs(30);
/// The maximum number of output bytes in one reply. If more output is waiting, the reply contains the screen instead.
const MOST_BYTES: usize = 64 << 10;
/// The maximum number of rows of history that are sent with a screen.
const HISTORY: u64 = 200;
/// The maximum size in bytes of a screen with history. If it would be larger, the screen is sent without history.
const MOST_WITH_HISTORY: usize = 256 << 10;

/// The views of an instance.
pub struct Viewers {
    views: Arc<Mutex<Views>>,
    places: Arc<FairShare>,
}

impl Default for Viewers {
    fn default() -> Self {
        Self { views: Arc::default(), places: FairShare::new(MOST) }
    }
}

#[derive(Default)]
struct Views {
    last: u64,
    all: HashMap<u64, Arc<Viewer>>,
}

struct Viewer {
    pane: PaneId,
    /// Only callers with this token may continue the view, because each reply consumes the output that it returns.
    token: TokenKind,
    used: Mutex<Instant>,
    _place: SharePart,
    _shown: LiveView,
    following: tokio::sync::Mutex<Following>,
}

struct Following {
    tap: Tap,
    /// The `seq` of the last screen that was sent. Output up to it is part of that screen.
    past: u64,
    size: Size,
}

/// A request to continue a view.
pub struct Viewed {
    /// The number of the view.
    pub view: u64,
    /// The caller's token.
    pub token: TokenKind,
    /// Whether the reply should begin again with the whole screen.
    pub anew: bool,
}

/// A reply to a viewer.
#[derive(Debug, PartialEq, Eq)]
pub struct ViewerReply {
    /// The view's number.
    pub view: u64,
    /// Whether `bytes` rebuild the whole screen. Otherwise, they are further output.
    pub is_screen: bool,
    /// The terminal's size.
    pub size: Size,
    /// The bytes for the viewer's terminal, which must have this size.
    pub bytes: Vec<u8>,
    /// The number of output bytes that were left out before this screen.
    pub lost: u64,
    /// Whether the program has ended and no more output follows.
    pub has_ended: bool,
}

impl Viewers {
    /// Starts a view, and returns the screen. `None` if the token has too many views.
    pub fn start(&self, pane: &Pane, token: TokenKind) -> Option<ViewerReply> {
        let mut place = self.places.part(token);
        if place.resize(1).is_err() {
            self.views.lock().drop_idle();
            place.resize(1).ok()?;
        }
        let following = Following { tap: pane.tap(), past: 0, size: pane.term().size() };
        let viewer = Arc::new(Viewer {
            pane: pane.id(),
            token,
            used: Mutex::new(Instant::now()),
            _place: place,
            _shown: pane.begin_view(),
            following: tokio::sync::Mutex::new(following),
        });
        let view = {
            let mut views = self.views.lock();
            views.last += 1;
            let view = views.last;
            views.all.insert(view, viewer.clone());
            view
        };
        let (bytes, size) = {
            // No caller has the view's number yet, so the lock is free.
            let mut following = viewer.following.try_lock().ok()?;
            (following.screen(pane), following.size)
        };
        tokio::spawn(drop_when_idle(Arc::downgrade(&self.views), view));
        Some(ViewerReply { view, is_screen: true, size, bytes, lost: 0, has_ended: false })
    }

    /// The output since the last call. Waits for output until `deadline`. `None` if this token has no such view of the
    /// pane.
    pub async fn next(&self, pane: &Pane, of: Viewed, deadline: Instant) -> Option<ViewerReply> {
        let Viewed { view, token, anew } = of;
        let is_own = |of: &&Arc<Viewer>| of.pane == pane.id() && of.token == token;
        let viewer = self.views.lock().all.get(&view).filter(is_own)?.clone();
        let mut following = viewer.following.lock().await;
        let seen = match anew {
            true => following.anew(pane, view),
            false => following.next(pane, view, deadline).await,
        };
        *viewer.used.lock() = Instant::now();
        Some(seen)
    }
}

impl Views {
    fn drop_idle(&mut self) {
        // A view that a call is reading has a second `Arc`, so its count is above 1.
        self.all.retain(|_, of| Arc::strong_count(of) > 1 || of.used.lock().elapsed() < IDLE);
    }
}

/// Drops a view once it is idle.
async fn drop_when_idle(views: Weak<Mutex<Views>>, view: u64) {
    loop {
        sleep(IDLE).await;
        let Some(views) = views.upgrade() else { return };
        let mut views = views.lock();
        views.drop_idle();
        if !views.all.contains_key(&view) {
            return;
        }
    }
}

impl Following {
    /// The current screen.
    fn screen(&mut self, pane: &Pane) -> Vec<u8> {
        let term = pane.term();
        self.past = term.seq();
        self.size = term.size();
        let bytes = term.to_vt_text(HISTORY);
        if bytes.len() <= MOST_WITH_HISTORY { bytes } else { term.to_vt_text(0) }
    }

    /// A reply with the whole screen. The screen includes output that is still in the tap, so `next` skips that output.
    fn anew(&mut self, pane: &Pane, view: u64) -> ViewerReply {
        let bytes = self.screen(pane);
        ViewerReply { view, is_screen: true, size: self.size, bytes, lost: 0, has_ended: false }
    }

    async fn next(&mut self, pane: &Pane, view: u64, deadline: Instant) -> ViewerReply {
        let (mut bytes, mut lost, mut has_gap, mut has_ended) = (Vec::new(), 0, false, false);
        let mut changes = pane.watch();
        let mut take = |item| match item {
            TapItem::Bytes { seq, direction: TapDirection::Output, bytes: more, .. } => {
                if seq > self.past {
                    bytes.extend_from_slice(&more);
                }
                !bytes.is_empty()
            }
            TapItem::Bytes { .. } => false,
            TapItem::Gap { bytes } => {
                lost += bytes;
                has_gap = true;
                true
            }
            TapItem::End => {
                has_ended = true;
                true
            }
        };
        loop {
            changes.borrow_and_update();
            if pane.term().size() != self.size {
                break;
            }
            tokio::select! {
                biased;
                item = timeout_at(deadline, self.tap.next()) => match item {
                    // No output arrived.
                    Err(_) => break,
                    Ok(item) => if take(item.unwrap_or(TapItem::End)) { break },
                },
                // The terminal was resized.
                Ok(()) = changes.changed() => {}
            }
        }
        while let Some(item) = self.tap.try_next() {
            take(item);
        }
        let is_screen = has_gap || bytes.len() > MOST_BYTES || pane.term().size() != self.size;
        if is_screen {
            lost += if has_gap || bytes.len() > MOST_BYTES { bytes.len() as u64 } else { 0 };
            bytes = self.screen(pane);
        } else if let Some(nonce) = pane.nonce() {
            blacken(&mut bytes, nonce.as_bytes());
        }
        ViewerReply { view, is_screen, size: self.size, bytes, lost, has_ended }
    }
}
