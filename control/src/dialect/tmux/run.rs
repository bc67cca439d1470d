//! One client: executes its commands, calls methods for it, and asks the user if a method needs approval.

mod ask_user;
mod hooks;

use std::{
    collections::BTreeMap,
    pin::Pin,
    time::{SystemTime, UNIX_EPOCH},
};

use parking_lot::MutexGuard;
use serde::{Serialize, de::DeserializeOwned};
use unterm_mux::{MuxError, PaneId};

use super::{
    arguments::{Arguments, Invocation, Syntax},
    conversation::{Answer, Conversation, Disconnected, Event, Hello},
    formats::{self, Clock},
    language::{self, Line, Surroundings, SyntaxError, Words},
    methods::{Capture, CaptureParams, List},
    options::{OPTIONS, Owner},
    server::Server,
    state::{DEFAULT_SERVER, State},
    target::{self, TargetKind},
    variables::{ClientValues, Scope, program_version},
    world::{Target, World},
};
use crate::{
    caller::{Caller, Opener},
    error::{Denial, Error},
    methods::{Method, params::NoParams},
};

/// The maximum depth of commands that execute commands, such as `if-shell` and hooks.
const DEEPEST: usize = 20;

/// Why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// The message for standard error.
    Message(String),
    /// The client has disconnected.
    Disconnected,
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self::Message(message)
    }
}

impl From<&str> for Failure {
    fn from(message: &str) -> Self {
        Self::Message(message.to_owned())
    }
}

impl From<Disconnected> for Failure {
    fn from(_: Disconnected) -> Self {
        Self::Disconnected
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Message(match error {
            Error::NoSession(id) | Error::Mux(MuxError::NoPane(PaneId(id))) => {
                format!("can't find pane: %{id}")
            }
            Error::Mux(MuxError::NoRoom { .. }) => "no space for new pane".to_owned(),
            Error::Failed(why) => why,
            error => error.to_string(),
        })
    }
}

/// The result of a command.
pub type CommandResult = Result<(), Failure>;
/// The execution of a command.
pub type Execution<'r> = Pin<Box<dyn Future<Output = CommandResult> + Send + 'r>>;

/// A command.
pub struct Command {
    /// The flags and arguments that the command accepts.
    pub syntax: Syntax,
    /// Executes the command.
    pub run: for<'r, 'a> fn(&'r mut Run<'a>, Arguments) -> Execution<'r>,
}

/// The command with this name or short name, or the only command whose name begins with this text.
///
/// # Errors
/// No command or several commands have the name. tmux's message.
pub fn find(commands: &'static [Command], name: &str) -> Result<&'static Command, String> {
    let names = || commands.iter().map(|command| &command.syntax);
    let exact = names().position(|it| it.name == name || !name.is_empty() && it.alias == name);
    if let Some(exact) = exact {
        return Ok(&commands[exact]);
    }
    let found = names().enumerate().filter(|(_, syntax)| syntax.name.starts_with(name));
    let found: Vec<_> = found.collect();
    match found.as_slice() {
        [(only, _)] => Ok(&commands[*only]),
        [_, ..] if !name.is_empty() => {
            let names: Vec<_> = found.iter().map(|(_, syntax)| syntax.name).collect();
            Err(format!("ambiguous command: {name}, could be: {}", names.join(", ")))
        }
        _ => Err(format!("unknown command: {name}")),
    }
}

/// Commands whose names, flags and arguments were checked.
pub type Checked = Vec<(&'static Command, Arguments)>;

/// A client and the command that it executes.
pub struct Run<'a> {
    /// The shared state.
    pub server: &'a Server,
    /// The table of commands.
    pub commands: &'static [Command],
    /// The client.
    pub hello: &'a Hello,
    /// The name of the server that the client named.
    pub name: String,
    /// The exit status so far.
    pub status: u8,
    caller: Caller,
    conversation: &'a mut Conversation,
    /// The text of the client's commands, which the user sees when asked.
    text: String,
    depth: usize,
    values: ClientValues,
    /// The variables of formats in the commands of a hook.
    hook: BTreeMap<&'static str, String>,
    /// The pane that the client runs in.
    pub pane: Option<u64>,
    /// The number of the client, if it is in control mode.
    pub client: Option<u64>,
    /// Whether the commands come from configuration files. Such commands run without a client, before the server's
    /// first session.
    pub is_starting: bool,
}

/// Evaluates the variables and conditions of a text for the client.
struct ClientSurroundings<'r> {
    env: &'r BTreeMap<String, String>,
    condition: &'r dyn Fn(&str) -> bool,
}

impl Surroundings for ClientSurroundings<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        self.env.get(name).cloned()
    }

    fn condition(&self, format: &str) -> bool {
        (self.condition)(format)
    }
}

/// Commands after which clients in control mode get no notifications.
const READERS: [&str; 8] = [
    "capture-pane",
    "display-message",
    "has-session",
    "list-clients",
    "list-panes",
    "list-sessions",
    "list-windows",
    "show-options",
];

/// The name of the server that has this socket (`#{socket_path}`). Other paths name servers of their own, by the last
/// part of the path. `own`: the path of the instance's socket.
fn server_name<'p>(path: &'p str, own: &str) -> &'p str {
    match path.strip_prefix(own).filter(|_| !own.is_empty()) {
        Some("") => DEFAULT_SERVER,
        Some(rest) if rest.starts_with('.') => &rest[1..],
        _ => path.rsplit('/').next().unwrap_or(path),
    }
}

/// The values of a client, for formats.
pub fn client_values(hello: &Hello) -> ClientValues {
    ClientValues {
        pid: hello.pid,
        tty: hello.tty.clone(),
        term: hello.term.clone(),
        uid: hello.uid,
        user: hello.user.clone(),
        host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
        socket: String::new(),
    }
}

/// The current time, in seconds since 1970.
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

impl<'a> Run<'a> {
    /// Prepares the execution of a client's commands. `client`: the number of the client, if it is in control mode.
    pub fn new(
        server: &'a Server,
        commands: &'static [Command],
        caller: Caller,
        hello: &'a Hello,
        conversation: &'a mut Conversation,
        client: Option<u64>,
    ) -> Self {
        Self {
            server,
            commands,
            hello,
            name: DEFAULT_SERVER.to_owned(),
            status: 0,
            caller,
            conversation,
            text: language::print(std::slice::from_ref(&hello.args)),
            depth: 0,
            hook: BTreeMap::new(),
            values: client_values(hello),
            pane: hello.pane,
            client,
            is_starting: false,
        }
    }

    /// Executes the client's arguments. Returns the exit status. `None` if the client has disconnected.
    pub async fn invoke(&mut self) -> Option<u8> {
        match self.arguments().await {
            Ok(()) => Some(self.status),
            Err(Failure::Message(message)) => {
                self.record("message", &message);
                let message = if message.ends_with('\n') { message } else { message + "\n" };
                self.conversation.send(&Event::Err(message)).await.ok()?;
                Some(1)
            }
            Err(Failure::Disconnected) => None,
        }
    }

    /// Parses the arguments of the program, and determines the server and the program that the client acts for.
    ///
    /// # Errors
    /// A flag is wrong. The error is the text that tmux prints.
    pub fn begin(&mut self) -> Result<Invocation, String> {
        let mut invocation = Invocation::parse(&self.hello.args)?;
        if let Some(path) = invocation.socket.take() {
            let record = self.server.dispatcher.context().registration.record();
            self.name = server_name(&path, record.socket.as_deref().unwrap_or_default()).to_owned();
        }
        if let Some(name) = invocation.server.take() {
            self.name = name;
        }
        let mux = &self.server.dispatcher.context().mux;
        let own = self.hello.pane.filter(|pane| mux.pane(PaneId(*pane)).is_some());
        self.caller.opener = Some(match own {
            Some(pane) => Opener::Pane(pane),
            None => Opener::Outside(self.name.clone()),
        });
        self.record("command", &self.text);
        Ok(invocation)
    }

    async fn arguments(&mut self) -> CommandResult {
        let invocation = self.begin()?;
        if invocation.shows_version {
            return self.print(&program_version()).await;
        }
        if let Some(command) = invocation.shell_command {
            let event = Event::Shell { command, background: false };
            let answer = self.conversation.ask(&event).await?;
            self.status = u8::try_from(answer.status).unwrap_or(1);
            return self.print_raw(answer.text).await;
        }
        self.read_files(&invocation).await?;
        self.words(invocation.commands()).await
    }

    /// Executes the configuration files (`-f`), if the server has no session yet. The server without a name always runs.
    /// As in tmux, errors in the files are shown, and the client's commands follow.
    async fn read_files(&mut self, invocation: &Invocation) -> CommandResult {
        if invocation.files.is_empty() || self.name == DEFAULT_SERVER {
            return Ok(());
        }
        if !self.world().await?.sessions.is_empty() {
            return Ok(());
        }
        let words = ["source-file", "-q"].into_iter().map(str::to_owned);
        let words = words.chain(invocation.files.iter().cloned()).collect();
        self.is_starting = true;
        let done = self.words(vec![words]).await;
        self.is_starting = false;
        match done {
            Err(Failure::Message(message)) => {
                self.record("message", &message);
                Ok(self.conversation.send(&Event::Err(message + "\n")).await?)
            }
            done => done,
        }
    }

    /// Begins a line of a client in control mode. An approval of an earlier line does not count.
    pub fn begin_line(&mut self, line: &str) {
        line.clone_into(&mut self.text);
        self.caller.approved = None;
        self.record("command", line);
    }

    /// Records a command or an error, for `show-messages`.
    pub fn record(&self, kind: &str, text: &str) {
        let message = format!("client-{} {kind}: {text}", self.hello.pid);
        self.server.state.lock().record(self.now(), message);
    }

    /// Executes commands in their order, until one fails. Checks the names and flags of all of them first.
    pub async fn words(&mut self, commands: Vec<Words>) -> CommandResult {
        for (command, arguments) in self.checked(commands)? {
            self.execute(command, arguments).await?;
        }
        Ok(())
    }

    /// The commands with their flags and arguments.
    ///
    /// # Errors
    /// A command is unknown, or its flags or arguments are wrong. tmux's message.
    pub fn checked(&self, commands: Vec<Words>) -> Result<Checked, Failure> {
        let mut parsed = Vec::new();
        for words in commands {
            let words = Self::aliased(words);
            let Some((name, rest)) = words.split_first() else { continue };
            let command = find(self.commands, name)?;
            parsed.push((command, Arguments::parse(&command.syntax, rest)?));
        }
        Ok(parsed)
    }

    /// Replaces an alias that is built into tmux. Aliases that a program sets have no effect, because another program
    /// would execute them.
    fn aliased(words: Words) -> Words {
        let Some(name) = words.first() else { return words };
        let preset = OPTIONS.iter().filter(|row| row.name.starts_with("command-alias"));
        let mut preset = preset.filter_map(|row| row.default.split_once('='));
        match preset.find(|(alias, _)| alias == name) {
            Some((_, command)) => {
                let command = command.split(' ').map(str::to_owned);
                command.chain(words[1..].iter().cloned()).collect()
            }
            None => words,
        }
    }

    /// Executes one command, and its hook.
    pub async fn execute(
        &mut self,
        command: &'static Command,
        arguments: Arguments,
    ) -> CommandResult {
        if self.depth >= DEEPEST {
            return Err("too many nested commands".into());
        }
        self.depth += 1;
        let done = (command.run)(self, arguments).await;
        self.depth -= 1;
        done?;
        if !READERS.contains(&command.syntax.name) {
            self.server.state.lock().clients.wake_all();
            self.server.changed();
        }
        self.hook(&format!("after-{}", command.syntax.name)).await
    }

    /// Executes the commands of a text.
    pub fn text<'r>(&'r mut self, text: &'r str) -> Execution<'r> {
        Box::pin(async move {
            let lines = self.parsed(text).await?.map_err(|error| error.message.to_owned())?;
            self.words(lines.into_iter().map(|line| line.words).collect()).await
        })
    }

    /// The caller of the client's methods.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// The program for which the client acts.
    pub fn opener(&self) -> Opener {
        let outside = || Opener::Outside(self.name.clone());
        self.caller.opener.clone().unwrap_or_else(outside)
    }

    /// Parses a text. Formats of conditions are expanded for the client's pane.
    pub async fn parsed(&mut self, text: &str) -> Result<Result<Vec<Line>, SyntaxError>, Failure> {
        let world = self.world().await?;
        let target = self.current(&world);
        let state = self.server.state.lock();
        let scope = self.scope(&world, &state, target);
        let clock = self.clock();
        let condition = |format: &str| formats::is_true(&formats::expand(format, &scope, &clock));
        let env = {
            let mut env = self.hello.env.clone();
            let set = state
                .env
                .iter()
                .filter_map(|(name, variable)| Some((name.clone(), variable.value.clone()?)));
            env.extend(set);
            env
        };
        Ok(language::parse(text, &ClientSurroundings { env: &env, condition: &condition }))
    }

    /// Prints a line.
    pub async fn print(&mut self, line: &str) -> CommandResult {
        self.print_raw(format!("{line}\n")).await
    }

    /// Prints lines in one message.
    pub async fn print_lines(&mut self, lines: Vec<String>) -> CommandResult {
        if lines.is_empty() {
            return Ok(());
        }
        self.print_raw(lines.join("\n") + "\n").await
    }

    /// Prints a text.
    pub async fn print_raw(&mut self, text: String) -> CommandResult {
        if text.is_empty() {
            return Ok(());
        }
        Ok(self.conversation.send(&Event::Out(text)).await?)
    }

    /// Sends a message to the client, and waits for the answer.
    pub async fn ask_client(&mut self, event: &Event) -> Result<Answer, Failure> {
        Ok(self.conversation.ask(event).await?)
    }

    /// Takes the text that commands have printed in control mode.
    pub fn take_text(&mut self) -> String {
        self.conversation.take_text()
    }

    /// Sends lines to a client in control mode.
    pub async fn send_block(&mut self, block: String) -> CommandResult {
        Ok(self.conversation.send_block(block).await?)
    }

    /// Ends a client in control mode.
    pub async fn send_status(&mut self, status: u8) -> Result<(), Disconnected> {
        self.conversation.send(&Event::Exit(status)).await
    }

    /// Waits for work, unless the client disconnects.
    pub async fn wait<T>(&mut self, work: impl Future<Output = T>) -> Result<T, Failure> {
        tokio::select! {
            biased;
            value = work => Ok(value),
            () = self.conversation.gone() => Err(Failure::Disconnected),
        }
    }

    /// The shared state. Must not be held while waiting.
    pub fn state(&self) -> MutexGuard<'a, State> {
        self.server.state.lock()
    }

    /// The current time, in seconds since 1970.
    pub fn now(&self) -> i64 {
        now()
    }

    /// The current time, in the client's time zone.
    pub fn clock(&self) -> Clock {
        Clock { now: self.now(), offset: self.hello.utc_offset }
    }

    /// The sessions of the client's server, now.
    pub async fn world(&mut self) -> Result<World, Failure> {
        let listing = self.call::<List>(NoParams {}).await?;
        self.values.socket = match self.name == DEFAULT_SERVER {
            true => listing.socket.clone(),
            false => format!("{}.{}", listing.socket, self.name),
        };
        let mut state = self.server.state.lock();
        state.refresh(&listing, self.now());
        Ok(World::new(listing, &state, &self.name))
    }

    /// The sessions of the client's server, and the pane that the client runs in or sees.
    ///
    /// # Errors
    /// The server has no session. tmux's message.
    pub async fn here(&mut self) -> Result<(World, Target), Failure> {
        let world = self.world().await?;
        match self.current(&world) {
            Some(target) => Ok((world, target)),
            None => Err(format!("no server running on {}", self.values.socket).into()),
        }
    }

    /// The index of the session that monitors watch.
    pub fn session(&self, world: &World) -> Option<usize> {
        world.current(self.pane).map(|target| target.session)
    }

    /// The target of commands that name no target: the session that a client in control mode sees, the pane that the
    /// client runs in, or else the session that the user sees. Must not be called while the state is held.
    pub fn current(&self, world: &World) -> Option<Target> {
        let state = self.server.state.lock();
        let seen = self.client.and_then(|id| state.clients.get(id)?.session);
        let seen = seen.and_then(|id| world.sessions.iter().position(|it| it.id == id));
        match seen {
            Some(session) => Some(world.of_session(session)),
            None => world.current(self.pane),
        }
    }

    /// The sessions of the client's server, and the target that a command names.
    pub async fn target(
        &mut self,
        kind: TargetKind,
        text: Option<&str>,
    ) -> Result<(World, Target), Failure> {
        let (world, current) = self.here().await?;
        let target = target::find(&world, kind, text, current)?;
        Ok((world, target))
    }

    /// The values of formats.
    pub fn scope<'s>(
        &'s self,
        world: &'s World,
        state: &'s State,
        target: Option<Target>,
    ) -> Scope<'s> {
        let client = self.client.and_then(|id| state.clients.get(id));
        let more = client.map(|client| client.variables(state.session_name(client.session)));
        let mut more = more.unwrap_or_default();
        more.extend(self.hook.clone());
        Scope { world, state, client: &self.values, target, more }
    }

    /// Expands a format, with the conversions of strftime(3).
    pub async fn expand(
        &mut self,
        format: &str,
        world: &mut World,
        target: Option<Target>,
    ) -> Result<String, Failure> {
        if format.contains("C:") || format.contains("C/") {
            world.rows = match target {
                Some(target) => {
                    let id = world.pane(target).id;
                    let params = CaptureParams { id, start: Some(0), ..CaptureParams::default() };
                    self.call::<Capture>(params.into()).await?.lines
                }
                None => Vec::new(),
            };
        }
        let state = self.server.state.lock();
        let scope = self.scope(world, &state, target);
        Ok(formats::expand_with_time(format, &scope, &self.clock()))
    }

    /// The value of an option for a target.
    pub fn option(&self, world: &World, target: Target, name: &str) -> String {
        let owners = Self::owners(world, target);
        self.server.state.lock().options.value(&owners, name).unwrap_or_default()
    }

    /// The owners of options and hooks for a target, the nearest first.
    fn owners(world: &World, target: Target) -> [Owner; 6] {
        [
            Owner::Pane(world.place(target).id),
            Owner::Window(world.window(target).id),
            Owner::Session(world.session(target).id),
            Owner::Windows,
            Owner::Sessions,
            Owner::Server,
        ]
    }

    /// Whether the client's program may change a pane without approval.
    pub fn is_own(&self, pane: u64) -> bool {
        let openers = &self.server.dispatcher.context().panes.openers;
        self.caller.opener.as_ref().is_some_and(|opener| openers.is_own(opener, pane))
    }

    /// A pane of a target's window that the client's program may change without approval, or else the target's pane.
    pub fn own_pane(&self, world: &World, at: Target) -> u64 {
        let mut panes = world.window(at).panes.iter().map(|pane| pane.id);
        let own = panes.find(|pane| self.is_own(*pane));
        own.unwrap_or_else(|| world.pane(at).id)
    }

    /// Calls a method. If it needs the user's approval, asks the user first.
    pub async fn call<M: Method>(&mut self, params: M::Params<'_>) -> Result<M::Reply, Failure>
    where
        for<'p> M::Params<'p>: Serialize,
        M::Reply: DeserializeOwned,
    {
        let params = serde_json::to_string(&params).map_err(Error::Params)?;
        match self.server.call::<M>(&self.caller, &params).await {
            Err(Error::Denied(Denial::Approval(_))) => {
                self.ask_user().await?;
                Ok(self.server.call::<M>(&self.caller, &params).await?)
            }
            done => Ok(done?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_a_socket_names_a_server() {
        assert_eq!(server_name("/run/a.sock", "/run/a.sock"), DEFAULT_SERVER);
        assert_eq!(server_name("/run/a.sock.work", "/run/a.sock"), "work");
        assert_eq!(server_name("/tmp/tmux/other", "/run/a.sock"), "other");
        assert_eq!(server_name("other", ""), "other");
    }
}
