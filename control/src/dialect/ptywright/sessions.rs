//! The sessions of a server. Each session is a pane of the backend, with the kept part of its output.
//!
//! Connections share the sessions. A session stays until it is closed, even if its program has ended.

mod action;
mod create;
mod follow;
mod keys;
mod predicates;
mod raw_transcript;
mod transcript;
mod wait;

use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{sync::watch, time::Instant};
use unterm_plugin::Resize;

use self::transcript::Transcript;
pub use self::{create::Create, transcript::Delta, wait::Wait};
use super::{
    error::{Error, Result},
    plugins::Plugins,
    slots::{Slots, TakenSlot},
    snapshot::Snapshot,
};
use crate::{
    backend::{Backend, Calls as _},
    caller::{Caller, TokenKind},
    methods::{
        Method,
        cells::{Cells, CellsParams},
        params::SessionOnly,
        session::{Destroy, Kill, Resize as ResizeMethod, ResizeParams},
    },
    services::limits::search_limiter::{SearchLimiter, Searches},
};

/// The maximum number of sessions.
const MOST_SESSIONS: usize = 100;

/// The maximum number of characters in [`Session::tail`].
const TAIL_CHARS: u64 = 4096;

/// The sequence of a screen before anything is printed.
pub const FIRST_SEQUENCE: u64 = 1;

/// The sessions of a server.
pub struct Sessions {
    backend: Arc<dyn Backend>,
    caller: Caller,
    limiter: SearchLimiter,
    plugins: Plugins,
    list: Mutex<BTreeMap<u64, Listed>>,
    next: AtomicU64,
    /// The slots for sessions, including those that are being created.
    slots: Slots,
    /// Changes when a session changes, is opened or is closed.
    news: watch::Sender<()>,
}

/// A session that is not closed, and its slot.
struct Listed {
    session: Arc<Session>,
    _slot: TakenSlot,
}

/// A session.
pub struct Session {
    /// The session's id, such as `s1`.
    id: String,
    number: u64,
    pane: u64,
    /// The adapter that the session belongs to, if any. Only methods on that adapter can reach the session.
    adapter: Option<String>,
    transcript: Mutex<Transcript>,
    /// The size in pixels that a client requested.
    pixels: Mutex<(u16, u16)>,
    progress: watch::Sender<Progress>,
}

/// The progress of a session.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The sequence of the session's screen.
    pub sequence: u64,
    /// When the screen last changed, or when an adapter last typed.
    pub changed: Instant,
    /// Whether the session's program has ended.
    pub has_ended: bool,
    /// Whether the session was closed.
    pub is_closed: bool,
}

impl Progress {
    /// The time for which the screen with this sequence has been unchanged. 0 if the sequence is newer than the last
    /// known sequence, because the screen has then just changed.
    pub fn stable_at(&self, sequence: u64) -> Duration {
        if sequence <= self.sequence { self.changed.elapsed() } else { Duration::ZERO }
    }
}

/// Converts a time to milliseconds.
pub fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl Session {
    /// The session's id, such as `s1`.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The id of the adapter that the session belongs to, if any.
    pub fn adapter(&self) -> Option<&str> {
        self.adapter.as_deref()
    }

    /// The session's progress.
    pub fn progress(&self) -> Progress {
        *self.progress.borrow()
    }

    /// The kept output.
    pub fn transcript(&self) -> String {
        self.transcript.lock().text().to_owned()
    }

    /// The number of output characters so far.
    pub fn output_end(&self) -> u64 {
        self.transcript.lock().end()
    }

    /// The marks in the output. The value of a label is the number of output characters before the mark.
    pub fn marks(&self) -> BTreeMap<String, u64> {
        self.transcript.lock().marks().clone()
    }

    /// The output after the first `from` characters, preceded by up to `before` characters. Contains only characters
    /// that are still kept.
    pub fn output_after(&self, from: u64, before: u64) -> Delta {
        self.transcript.lock().after(from, before)
    }

    /// The end of the output, for users and models.
    pub fn tail(&self) -> String {
        let transcript = self.transcript.lock();
        transcript.after(transcript.end().saturating_sub(TAIL_CHARS), 0).text
    }

    /// Counts the screen as just changed. Called after input, because a screen that has not reacted to the input yet
    /// must not count as stable.
    pub fn restart_stability(&self) {
        self.progress.send_modify(|progress| progress.changed = Instant::now());
    }

    fn ended(&self) -> Error {
        Error::closed(format!("the program of session {} has ended", self.id()))
    }

    fn refuse_ended(&self) -> Result<()> {
        if self.progress().has_ended { Err(self.ended()) } else { Ok(()) }
    }
}

impl Sessions {
    /// Creates an empty set of sessions. `caller`: the caller of all calls to the backend.
    pub fn new(backend: Arc<dyn Backend>, caller: Caller, plugins: Plugins) -> Arc<Self> {
        Arc::new(Self {
            backend,
            caller,
            limiter: SearchLimiter::default(),
            plugins,
            list: Mutex::default(),
            next: AtomicU64::new(1),
            slots: Slots::new(MOST_SESSIONS, "sessions"),
            news: watch::Sender::new(()),
        })
    }

    /// Runs the searches of clients, within limits.
    pub fn searches(&self) -> Searches<'_> {
        self.limiter.of(TokenKind::Instance)
    }

    /// The plugins, which matchers and adapters use.
    pub fn plugins(&self) -> &Plugins {
        &self.plugins
    }

    /// Changes when a session changes, is opened or is closed.
    pub fn news(&self) -> watch::Receiver<()> {
        self.news.subscribe()
    }

    /// All sessions, in the order in which they were created.
    pub fn all(&self) -> Vec<Arc<Session>> {
        self.list.lock().values().map(|listed| listed.session.clone()).collect()
    }

    /// The sessions that belong to no adapter, in the order in which they were created.
    pub fn own(&self) -> Vec<Arc<Session>> {
        self.all().into_iter().filter(|session| session.adapter.is_none()).collect()
    }

    /// The session with this id.
    ///
    /// # Errors
    /// There is no session with this id, it was closed, or it belongs to an adapter. Sessions of adapters can't be
    /// reached directly, because the manifest of the plugin limits what clients may do.
    pub fn get(&self, id: &str) -> Result<Arc<Session>> {
        let number = id.strip_prefix('s').and_then(|number| number.parse::<u64>().ok());
        let found = number
            .and_then(|number| self.list.lock().get(&number).map(|listed| listed.session.clone()));
        let session =
            found.filter(|session| session.id() == id).ok_or_else(|| Error::no_session(id))?;
        match session.adapter() {
            Some(adapter) => Err(Error::invalid_params(format!(
                "session {id:?} belongs to the adapter {adapter:?}: use the methods adapter.*"
            ))),
            None => Ok(session),
        }
    }

    /// A session's screen.
    ///
    /// # Errors
    /// The pane was closed, or the instance has ended.
    pub async fn screen(&self, session: &Session) -> Result<Snapshot> {
        let params = CellsParams { each_cell: true.into(), ..CellsParams::of(session.pane) };
        let reply = self.call::<Cells>(params).await?;
        let pixels = *session.pixels.lock();
        Ok(Snapshot::new(reply, pixels))
    }

    /// Changes a session's size.
    ///
    /// # Errors
    /// The size is invalid, or the program has ended.
    pub async fn resize(&self, session: &Session, size: Resize) -> Result<()> {
        session.refuse_ended()?;
        let Resize { rows, cols, pixel_width, pixel_height } = size;
        self.call::<ResizeMethod>(ResizeParams {
            rows: u64::from(rows).into(),
            cols: u64::from(cols).into(),
            pixel_width: u64::from(pixel_width).into(),
            pixel_height: u64::from(pixel_height).into(),
            ..ResizeParams::of(session.pane)
        })
        .await?;
        *session.pixels.lock() = (pixel_width, pixel_height);
        Ok(())
    }

    /// Ends a session's program, unless it has already ended.
    ///
    /// # Errors
    /// The pane was closed, or the instance refuses.
    pub async fn kill(&self, session: &Session) -> Result<()> {
        self.call::<Kill>(SessionOnly::of(session.pane)).await.map(drop)
    }

    /// Ends a session's program and removes the session. Waits for the session end with an error.
    ///
    /// # Errors
    /// The instance refuses. The session then stays open.
    pub async fn close(&self, session: &Session) -> Result<()> {
        match self.call::<Destroy>(SessionOnly::of(session.pane)).await {
            Ok(_) => {}
            // Someone other than this server has already closed the pane.
            Err(error) if error == Error::pane_closed() => {}
            Err(error) => return Err(error),
        }
        self.list.lock().remove(&session.number);
        session.progress.send_modify(|progress| progress.is_closed = true);
        self.news.send_replace(());
        Ok(())
    }

    /// Closes all sessions. Errors of a backend that no longer answers are only logged.
    pub async fn close_all(&self) {
        for session in self.all() {
            if let Err(error) = self.close(&session).await {
                tracing::debug!(session = session.id(), error.message, "not closed");
            }
        }
    }

    /// Calls a method of the backend.
    ///
    /// # Errors
    /// The errors of the method.
    pub async fn call<M: Method>(&self, params: M::Params<'_>) -> Result<M::Reply>
    where
        for<'p> M::Params<'p>: serde::Serialize,
        M::Reply: serde::de::DeserializeOwned,
    {
        Ok(self.backend.call::<M>(&self.caller, params).await?)
    }
}
