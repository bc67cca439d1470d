//! The task that writes to a client in control mode: results, output and notifications.

use std::{
    collections::{BTreeMap, BTreeSet},
    future::pending,
    sync::Arc,
    time::Duration,
};

use tokio::{
    sync::{Notify, mpsc},
    time::{Instant, sleep_until, timeout},
};
use unterm_mux::PaneId;

use super::{
    changes::KnownSessions,
    lines, monitor,
    outputs::{Outputs, PaneOutput},
};
use crate::{
    caller::Caller,
    dialect::tmux::{
        clients::Silence,
        conversation::{self, Disconnected, Event, Hello},
        formats::Clock,
        methods::{List, Stream, StreamParams},
        run::{client_values, now},
        server::Server,
        state::DEFAULT_SERVER,
        variables::ClientValues,
        world::World,
    },
    error::Error,
    methods::events::{Subscribe, SubscribeParams},
    services::pane::events::Subscription,
    transport::contract::Output,
};

/// How long a client may take to read a message, and the maximum age of output for a client that is not paused. As in
/// tmux.
const LONGEST_DELAY: Duration = Duration::from_secs(300);
/// After a change, the sessions are compared within this time.
const SOON: Duration = Duration::from_millis(20);
/// After output, the sessions are compared within this time. Output can change names of windows, sizes, and values of
/// subscriptions.
const LATER: Duration = Duration::from_secs(1);
/// The end of the escape sequence around the lines of `-CC`.
const TERMINAL_END: &str = "\u{1b}\\";
const TERMINAL_START: &str = "\u{1b}P1000p";
/// The events after which something may have to be reported to the client.
const KINDS: [&str; 6] =
    ["output", "layout", "title", "session_opened", "session_exited", "session_removed"];

/// The client that a task writes to.
pub struct Client {
    /// The number.
    pub id: u64,
    /// The name of the server.
    pub name: String,
    /// Wakes the task.
    pub wake: Arc<Notify>,
    /// Whether the client is a terminal (`-CC`).
    pub is_terminal: bool,
}

/// The task that writes to a client.
pub struct Writer<'a> {
    server: &'a Server,
    caller: Caller,
    client: Client,
    output: Output,
    values: ClientValues,
    clock_offset: i32,
    events: Subscription,
    known: KnownSessions,
    outputs: Outputs,
    /// The panes at the last comparison.
    panes: BTreeSet<u64>,
    /// The age of a pane's unread output at which the pane is paused.
    pause_after: Option<Duration>,
    /// When the sessions were last compared. `due`: when they must be compared again.
    looked: Instant,
    due: Option<Instant>,
}

/// Why the task must end.
enum End {
    Disconnected,
    Exit(&'static str),
}

impl From<Disconnected> for End {
    fn from(_: Disconnected) -> Self {
        Self::Disconnected
    }
}

/// The changes of the sessions since the last comparison.
struct Comparison {
    lines: Vec<String>,
    /// The panes whose output the client gets.
    wanted: BTreeSet<u64>,
    /// The panes that were opened since the last comparison.
    new: BTreeSet<u64>,
    must_exit: bool,
}

impl<'a> Writer<'a> {
    /// Subscribes to the events of panes.
    ///
    /// # Errors
    /// The caller may not read them.
    pub async fn new(
        server: &'a Server,
        caller: Caller,
        hello: &Hello,
        client: Client,
        output: Output,
    ) -> Result<Self, Error> {
        let caller = caller.listener();
        let params = SubscribeParams::to(&KINDS);
        let params = serde_json::to_string(&params).map_err(Error::Params)?;
        server.call::<Subscribe>(&caller, &params).await?;
        let events = caller.subscription.take().flatten();
        let events = events.ok_or_else(|| Error::Failed("no subscription".to_owned()))?;
        let mut writer = Self {
            server,
            caller,
            client,
            output,
            values: client_values(hello),
            clock_offset: hello.utc_offset,
            events,
            known: KnownSessions::default(),
            outputs: Outputs::default(),
            panes: BTreeSet::new(),
            pause_after: None,
            looked: Instant::now(),
            due: None,
        };
        // State that exists before the first command is not reported.
        writer.look().await?;
        Ok(writer)
    }

    /// Writes until the client ends or must end.
    pub async fn run(mut self, mut receiver: mpsc::Receiver<Event>) {
        let end = match self.serve(&mut receiver).await {
            Ok(status) => (Ok(status), ""),
            Err(End::Exit(why)) => (Ok(0), why),
            Err(End::Disconnected) => (Err(Disconnected), ""),
        };
        if let (Ok(status), why) = end {
            // The client may have gone, so errors are ignored.
            let _ = self.finish(status, why).await;
        }
    }

    async fn serve(&mut self, receiver: &mut mpsc::Receiver<Event>) -> Result<u8, End> {
        if self.client.is_terminal {
            self.write(TERMINAL_START.to_owned()).await?;
        }
        loop {
            let due = self.due;
            let look = async move {
                match due {
                    Some(due) => sleep_until(due).await,
                    None => pending().await,
                }
            };
            tokio::select! {
                event = receiver.recv() => match event {
                    Some(Event::Exit(status)) => {
                        // The last command may have changed the sessions.
                        self.report().await?;
                        return Ok(status);
                    }
                    Some(event) => {
                        self.send(&event).await?;
                        if matches!(event, Event::Out(_)) {
                            self.end_command();
                        }
                        // Changes of a command are reported after its result.
                        self.due = self.due.map(|due| due.min(Instant::now()));
                    }
                    None => return Err(End::Disconnected),
                },
                () = self.client.wake.notified() => self.look_within(SOON),
                () = look => self.report().await?,
                event = self.events.next() => {
                    match (event["event"].as_str(), event["session_id"].as_str()) {
                        (Some("output"), Some(pane)) => {
                            if let Ok(pane) = pane.parse() {
                                self.outputs.mark(pane);
                            }
                            self.look_within(LATER);
                        }
                        _ => self.look_within(SOON),
                    }
                }
                () = std::future::ready(()), if self.outputs.is_ready() => self.pass().await?,
            }
        }
    }

    /// Allows the notifications that waited for the result of a command.
    fn end_command(&mut self) {
        if let Some(client) = self.server.state.lock().clients.get_mut(self.client.id) {
            client.end_command();
        }
        self.look_within(SOON);
    }

    /// Schedules a comparison of the sessions, `delay` after the last one. If that time has passed, the comparison runs
    /// soon, but not at once, because the change may be only a part of a command's changes.
    fn look_within(&mut self, delay: Duration) {
        let due = (self.looked + delay).max(Instant::now() + SOON);
        self.due = Some(self.due.map_or(due, |before| before.min(due)));
    }

    /// Writes the output of the next pane.
    async fn pass(&mut self) -> Result<(), End> {
        // Read the delay now, because a client relies on it as soon as it has the result of the command that set it.
        self.pause_after =
            self.server.state.lock().clients.get(self.client.id).and_then(|it| it.pause_after);
        let longest = self.pause_after.unwrap_or(LONGEST_DELAY);
        match self.outputs.next(longest) {
            None => Ok(()),
            Some(PaneOutput::Bytes(pane, bytes, age)) => {
                let age = self.pause_after.map(|_| age);
                Ok(self.write(lines::output(pane, &bytes, age)).await?)
            }
            Some(PaneOutput::Behind(pane)) if self.pause_after.is_some() => {
                self.outputs.remove(pane);
                if let Some(client) = self.server.state.lock().clients.get_mut(self.client.id) {
                    client.silent.insert(pane, Silence::Paused);
                }
                Ok(self.write(format!("%pause %{pane}\n")).await?)
            }
            Some(PaneOutput::Behind(_)) => Err(End::Exit("too far behind")),
        }
    }

    /// Writes how the sessions have changed, and follows the panes that the client sees.
    async fn report(&mut self) -> Result<(), End> {
        let look = self.look().await.map_err(|_| End::Exit("server exited"))?;
        // Follow the panes first: the client may act on a notification, and no output after the notification may be
        // missed.
        for (pane, is_other_program) in self.outputs.keep(&look.wanted) {
            self.follow(pane, is_other_program || look.new.contains(&pane)).await;
        }
        for line in look.lines {
            self.notify(&line).await?;
        }
        match look.must_exit {
            true => Err(End::Exit("")),
            false => Ok(()),
        }
    }

    /// Begins to pass the output of a pane. `is_new`: beginning with the first output.
    async fn follow(&mut self, id: u64, is_new: bool) {
        let params = StreamParams { id, whole: false };
        // Numbers and booleans are always valid JSON.
        let params = serde_json::to_string(&params).unwrap_or_default();
        if let Err(error) = self.server.call::<Stream>(&self.caller, &params).await {
            tracing::debug!(pane = id, %error, "a client gets no output of a pane");
            return;
        }
        let context = self.server.dispatcher.context();
        let tap = context.panes.streams.take(self.caller.connection, PaneId(id));
        if let (Some(tap), Some(pane)) = (tap, context.mux.pane(PaneId(id))) {
            self.outputs.add(pane, tap, is_new);
        }
    }

    /// Compares the sessions with the state that was last reported to the client.
    async fn look(&mut self) -> Result<Comparison, Error> {
        self.server.dispatcher.check_token(&self.caller)?;
        let listing = self.server.call::<List>(&self.caller, "{}").await?;
        (self.looked, self.due) = (Instant::now(), None);
        self.values.socket = match self.client.name == DEFAULT_SERVER {
            true => listing.socket.clone(),
            false => format!("{}.{}", listing.socket, self.client.name),
        };
        let mut state = self.server.state.lock();
        state.refresh(&listing, now());
        let world = World::new(listing, &state, &self.client.name);
        let Some(client) = state.clients.get_mut(self.client.id) else {
            let (wanted, new) = (BTreeSet::new(), BTreeSet::new());
            return Ok(Comparison { lines: Vec::new(), wanted, new, must_exit: true });
        };
        let attached = client.session;
        let mut lines = client.take_notes();
        let mut subscriptions = std::mem::take(&mut client.subscriptions);
        let (is_leaving, gets_output) = (client.is_leaving, !client.no_output);
        let silent = client.silent.clone();
        self.pause_after = client.pause_after;
        let known = KnownSessions::of(&world, &state, &self.values, attached);
        lines.extend(known.changes(&self.known));
        self.known = known;
        let session = world.sessions.iter().position(|session| Some(session.id) == attached);
        let mut wanted = BTreeSet::new();
        if let Some(session) = session {
            let clock = Clock { now: now(), offset: self.clock_offset };
            let variables = state
                .clients
                .get(self.client.id)
                .map_or_else(BTreeMap::new, |it| it.variables(&world.sessions[session].name));
            let client = (&self.values, &variables);
            lines.extend(monitor::changes(
                &mut subscriptions,
                &world,
                &state,
                client,
                session,
                &clock,
            ));
            if gets_output {
                let windows = world.sessions[session].windows.iter();
                let panes = windows.flat_map(|window| window.panes.iter().map(|pane| pane.id));
                wanted.extend(panes.filter(|pane| !silent.contains_key(pane)));
            }
        }
        if let Some(client) = state.clients.get_mut(self.client.id) {
            client.subscriptions = subscriptions;
        }
        let must_exit = is_leaving || attached.is_some() && !self.known.has_session();
        let panes: BTreeSet<u64> = world.targets().map(|at| world.pane(at).id).collect();
        let new = panes.difference(&self.panes).copied().collect();
        self.panes = panes;
        Ok(Comparison { lines, wanted, new, must_exit })
    }

    /// Writes a notification. Names and values that programs choose may contain control characters, which would begin
    /// another line.
    async fn notify(&mut self, line: &str) -> Result<(), Disconnected> {
        let line = line.replace(|char: char| char.is_control(), " ");
        self.write(line + "\n").await
    }

    async fn write(&mut self, text: String) -> Result<(), Disconnected> {
        self.send(&Event::Out(text)).await
    }

    async fn send(&mut self, event: &Event) -> Result<(), Disconnected> {
        let written = timeout(LONGEST_DELAY, conversation::write(&mut self.output, event)).await;
        written.unwrap_or(Err(Disconnected))
    }

    async fn finish(&mut self, status: u8, why: &str) -> Result<(), Disconnected> {
        let end = if self.client.is_terminal { TERMINAL_END } else { "" };
        let space = if why.is_empty() { "" } else { " " };
        self.write(format!("%exit{space}{why}\n{end}")).await?;
        self.send(&Event::Exit(status)).await
    }
}
