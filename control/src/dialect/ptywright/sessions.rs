//! The sessions of a server: each a pane of the backend, with its kept output.
//!
//! Connections share the sessions. A session stays until it is closed, also when its program has ended.

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
    places::{Place, Places},
    plugins::Plugins,
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
    services::search_limiter::{SearchLimiter, Searches},
};

/// The most sessions at a time.
const MOST_SESSIONS: usize = 100;

/// The most characters in [`Session::tail`].
const TAIL_CHARS: u64 = 4096;

/// The sequence of a screen on which nothing has been printed.
pub const FIRST_SEQUENCE: u64 = 1;

/// The sessions of a server.
pub struct Sessions {
    backend: Arc<dyn Backend>,
    caller: Caller,
    limiter: SearchLimiter,
    plugins: Plugins,
    list: Mutex<BTreeMap<u64, Listed>>,
    next: AtomicU64,
    /// The places of sessions that are there or being created.
    places: Places,
    /// Changes with every change of a session, and when one is opened or closed.
    news: watch::Sender<()>,
}

/// A session that is not closed, and its place.
struct Listed {
    session: Arc<Session>,
    _place: Place,
}

/// A session.
pub struct Session {
    /// Such as `s1`.
    id: String,
    number: u64,
    pane: u64,
    /// The adapter that the session belongs to. Only the adapter's methods reach it.
    adapter: Option<String>,
    transcript: Mutex<Transcript>,
    /// The size in pixels that a client asked for.
    pixels: Mutex<(u16, u16)>,
    progress: watch::Sender<Progress>,
}

/// How far a session has got.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The sequence of its screen.
    pub sequence: u64,
    /// When that last changed, or when an adapter last typed.
    pub changed: Instant,
    /// Whether its program has ended.
    pub has_ended: bool,
    /// Whether it was closed.
    pub is_closed: bool,
}

impl Progress {
    /// For how long the screen of this sequence has not changed. One that is newer than the known one has just changed.
    pub fn stable_at(&self, sequence: u64) -> Duration {
        if sequence <= self.sequence { self.changed.elapsed() } else { Duration::ZERO }
    }
}

/// A time in milliseconds.
pub fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl Session {
    /// Its id, such as `s1`.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The id of the adapter that it belongs to.
    pub fn adapter(&self) -> Option<&str> {
        self.adapter.as_deref()
    }

    /// How far it has got.
    pub fn progress(&self) -> Progress {
        *self.progress.borrow()
    }

    /// The kept output.
    pub fn transcript(&self) -> String {
        self.transcript.lock().text().to_owned()
    }

    /// How many characters of output there were so far.
    pub fn output_end(&self) -> u64 {
        self.transcript.lock().end()
    }

    /// The marks in the output: by label, how many characters of output there were.
    pub fn marks(&self) -> BTreeMap<String, u64> {
        self.transcript.lock().marks().clone()
    }

    /// The output after the first `from` characters and up to `before` characters before it, as far as they are kept.
    pub fn output_after(&self, from: u64, before: u64) -> Delta {
        self.transcript.lock().after(from, before)
    }

    /// The end of the output, for people and models.
    pub fn tail(&self) -> String {
        let transcript = self.transcript.lock();
        transcript.after(transcript.end().saturating_sub(TAIL_CHARS), 0).text
    }

    /// Counts the screen as just changed. A screen that has not reacted to input yet is not stable.
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
    /// No sessions yet. The caller makes all calls at the backend.
    pub fn new(backend: Arc<dyn Backend>, caller: Caller, plugins: Plugins) -> Arc<Self> {
        Arc::new(Self {
            backend,
            caller,
            limiter: SearchLimiter::default(),
            plugins,
            list: Mutex::default(),
            next: AtomicU64::new(1),
            places: Places::new(MOST_SESSIONS, "sessions"),
            news: watch::Sender::new(()),
        })
    }

    /// Limits the searches of clients.
    pub fn searches(&self) -> Searches<'_> {
        self.limiter.of(TokenKind::Instance)
    }

    /// The plugins, which matchers and adapters use.
    pub fn plugins(&self) -> &Plugins {
        &self.plugins
    }

    /// Changes when a session changes, and when one is opened or closed.
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

    /// A session by its id.
    ///
    /// # Errors
    /// There is none, it was closed, or it belongs to an adapter, whose manifest limits what clients may do.
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
    /// The pane was closed, or the instance is gone.
    pub async fn screen(&self, session: &Session) -> Result<Snapshot> {
        let params = CellsParams { each_cell: true.into(), ..CellsParams::of(session.pane) };
        let reply = self.call::<Cells>(params).await?;
        let pixels = *session.pixels.lock();
        Ok(Snapshot::new(reply, pixels))
    }

    /// Changes a session's size.
    ///
    /// # Errors
    /// The size is wrong, or the program has ended.
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

    /// Ends a session's program, unless it has ended.
    ///
    /// # Errors
    /// The pane was closed, or the instance refuses.
    pub async fn kill(&self, session: &Session) -> Result<()> {
        self.call::<Kill>(SessionOnly::of(session.pane)).await.map(drop)
    }

    /// Ends a session's program and removes the session. A wait for it ends with an error.
    ///
    /// # Errors
    /// The instance refuses. The session stays.
    pub async fn close(&self, session: &Session) -> Result<()> {
        match self.call::<Destroy>(SessionOnly::of(session.pane)).await {
            Ok(_) => {}
            // Somebody else has closed the pane.
            Err(error) if error == Error::pane_closed() => {}
            Err(error) => return Err(error),
        }
        self.list.lock().remove(&session.number);
        session.progress.send_modify(|progress| progress.is_closed = true);
        self.news.send_replace(());
        Ok(())
    }

    /// Closes all sessions, as far as the backend still answers.
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
    /// As the method's.
    pub async fn call<M: Method>(&self, params: M::Params<'_>) -> Result<M::Reply>
    where
        for<'p> M::Params<'p>: serde::Serialize,
        M::Reply: serde::de::DeserializeOwned,
    {
        Ok(self.backend.call::<M>(&self.caller, params).await?)
    }
}
