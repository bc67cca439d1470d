//! The state of a client: its requests to tmux, and the windows and panes of the session.
//!
//! Owns the order of replies, the attach, and the bounds of everything that the server makes the client store. The
//! requests of the user are in `requests`, the windows and panes in `model`.

mod model;
mod requests;

use std::collections::{BTreeSet, VecDeque};

use model::Model;
pub use model::View;

use crate::{
    Borders, Layout, PaneId, WindowId, command,
    command::FORMAT_SEPARATOR,
    lines::{Lines, Step},
    notification::{self, Guard, Notification},
    restore::{Contents, State, Text},
};

/// The maximum number of windows that are shown.
const WINDOWS: usize = 128;
/// The maximum number of windows that a server can open in total.
const WINDOWS_EVER: usize = 4096;
/// The maximum number of commands without a reply. A server that does not answer is left.
const PENDING: usize = 4096;
/// The maximum number of commands with input that wait for a reply. Further input waits.
const INPUTS: usize = 64;
/// The maximum size of a reply in bytes. Further lines are dropped.
const REPLY_CAP: usize = 64 << 20;
/// The maximum number of lines of a reply.
const REPLY_LINES: usize = 200_000;
/// The age of output at which tmux pauses a pane, in seconds.
const PAUSE_AFTER: u32 = 5;

/// A task for the owner of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// The client is attached to a session with this name, or the session was renamed.
    Session(String),
    /// A window exists with this content. Open or change its tab.
    Window {
        /// The window.
        window: WindowId,
        /// The window's panes.
        view: View,
    },
    /// A window has closed.
    Closed(WindowId),
    /// Another window became the session's current window.
    Current(WindowId),
    /// Apply these bytes to a pane's terminal. Its replies must be dropped, because tmux has replied.
    Output {
        /// The pane.
        pane: PaneId,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// Another program is in the foreground of a pane.
    Program {
        /// The pane.
        pane: PaneId,
        /// The program's name.
        name: String,
    },
    /// tmux has answered a request for a pane.
    Opened {
        /// The request.
        ticket: Ticket,
        /// The new pane, or tmux's error message.
        outcome: Result<Opened, String>,
    },
    /// Show a message of tmux to the user.
    Notice(String),
    /// The control mode has ended. No action follows.
    End(End),
}

/// A new pane that the user requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opened {
    /// The pane.
    pub pane: PaneId,
    /// The pane's window, if it is new.
    pub window: Option<WindowId>,
}

/// Why the control mode has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// tmux has detached the client, for this reason. The reason may be empty.
    Exit(String),
    /// The output is not a line of the control mode: the connection was lost, or the program is not tmux.
    NotTmux,
    /// The server has exceeded a limit, or the owner has ended the mode. Contains the reason.
    Limit(&'static str),
}

/// A request for a new pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ticket(pub u64);

/// The purpose of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// A command whose errors do not concern the user.
    Quiet,
    /// A request of the user. Its error is shown.
    Request,
    Input,
    Windows,
    Window(WindowId),
    State(PaneId),
    History(PaneId),
    Screen(PaneId),
    Saved(PaneId),
    NewPane(Ticket),
    NewWindow(Ticket),
}

/// A command whose reply has not begun.
#[derive(Clone, Copy, Debug)]
struct Pending {
    /// The line that contained the command. After an error, tmux skips the rest of the line.
    line: u64,
    purpose: Purpose,
}

/// A reply that has begun.
struct Reply {
    guard: Guard,
    pending: Option<Pending>,
    lines: Vec<Vec<u8>>,
    bytes: usize,
}

/// The progress of attaching to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// tmux has not reported that the client is attached, or nothing may be sent.
    Greeting,
    Attached,
    Ended,
}

/// A client of a tmux server in control mode.
pub struct Client {
    phase: Phase,
    /// Whether commands may be sent. Without it, a text file that contains the beginning of the control mode could make
    /// the client type commands into a shell.
    is_trusted: bool,
    /// Whether a session was attached before commands may be sent.
    is_greeted: bool,
    lines: Lines,
    reply: Option<Reply>,
    pending: VecDeque<Pending>,
    /// The number of the last line of commands.
    line: u64,
    /// The number of elements of `pending` and `reply` that are input.
    inputs: usize,
    next_ticket: u64,
    model: Model,
    /// Windows whose description was requested.
    asked: BTreeSet<WindowId>,
    opened_windows: usize,
    /// The last sent size of new windows.
    size: (u16, u16),
    /// Commands for tmux that the owner has not fetched yet.
    commands: Vec<u8>,
    actions: VecDeque<Action>,
}

impl Client {
    /// A client at the beginning of the control mode, for windows of this size in cells. Unless `is_trusted` is set,
    /// nothing is sent until [`Client::allow`].
    pub fn new(cols: u16, rows: u16, is_trusted: bool) -> Self {
        Self {
            phase: Phase::Greeting,
            is_trusted,
            is_greeted: false,
            lines: Lines::default(),
            reply: None,
            pending: VecDeque::new(),
            line: 0,
            inputs: 0,
            next_ticket: 0,
            model: Model::default(),
            asked: BTreeSet::new(),
            opened_windows: 0,
            size: (cols.max(1), rows.max(1)),
            commands: Vec::new(),
            actions: VecDeque::new(),
        }
    }

    /// Consumes bytes of the control mode until there is an action, or all bytes were consumed. Returns the number of
    /// bytes consumed. After the end, consumes nothing.
    pub fn advance(&mut self, bytes: &[u8]) -> usize {
        let mut at = 0;
        while at < bytes.len() && self.actions.is_empty() && self.phase != Phase::Ended {
            if self.reply.is_none() && self.lines.is_at_start() && !is_first(bytes[at]) {
                self.end(End::NotTmux);
                break;
            }
            let (taken, step) = self.lines.step(&bytes[at..]);
            at += taken;
            if let Step::Line(Some(line)) = step {
                self.line(&line);
            }
        }
        at
    }

    /// The next action. The owner must have carried out all previous actions.
    pub fn next_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// Whether the control mode has ended.
    pub fn has_ended(&self) -> bool {
        self.phase == Phase::Ended
    }

    /// The commands to send to tmux now, in order.
    pub fn take_commands(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.commands)
    }

    /// A window with the user's requests applied. `None` if the session does not have the window.
    pub fn view(&self, window: WindowId) -> Option<View> {
        self.model.view(window)
    }

    /// Handles a line.
    fn line(&mut self, line: &[u8]) {
        if let Some(reply) = &mut self.reply {
            match notification::parse_end(line, reply.guard) {
                Some(has_failed) => {
                    if let Some(reply) = self.reply.take() {
                        self.finish(reply, has_failed);
                    }
                }
                None if reply.lines.len() < REPLY_LINES
                    && reply.bytes + line.len() <= REPLY_CAP =>
                {
                    reply.bytes += line.len();
                    reply.lines.push(line.to_vec());
                }
                None => {}
            }
            return;
        }
        // Skip empty lines, which a pty may add, for example between two lines of a slow link.
        if let Some(notification) = notification::parse(line) {
            self.notified(notification);
        }
    }

    fn notified(&mut self, notification: Notification) {
        match notification {
            Notification::Begin(guard) => {
                let pending = if guard.is_own { self.pending.pop_front() } else { None };
                self.reply = Some(Reply { guard, pending, lines: Vec::new(), bytes: 0 });
            }
            Notification::Exit { reason } => self.end(End::Exit(reason)),
            Notification::Message(text) => self.actions.push_back(Action::Notice(text)),
            Notification::SessionChanged { name } => self.session_changed(name),
            Notification::SessionRenamed { name } => self.actions.push_back(Action::Session(name)),
            _ if self.phase != Phase::Attached => {}
            Notification::Output { pane, bytes } => {
                if self.model.is_live(pane) && !bytes.is_empty() {
                    self.model.printed(pane, &bytes);
                    self.actions.push_back(Action::Output { pane, bytes });
                }
            }
            Notification::LayoutChange { window, layout, is_zoomed, visible } => {
                let restores = self.model.arrange(window, layout, is_zoomed, visible);
                self.shown(window);
                for (pane, contents) in restores {
                    self.restore(pane, contents);
                }
            }
            Notification::WindowAdd(window) => self.ask(window),
            Notification::WindowClose(window) => {
                if self.model.close(window) {
                    self.actions.push_back(Action::Closed(window));
                }
            }
            Notification::WindowRenamed { window, name } => {
                if self.model.rename(window, name) {
                    self.shown(window);
                }
            }
            Notification::CurrentWindow(window) => {
                if self.model.make_current(window) {
                    self.actions.push_back(Action::Current(window));
                }
            }
            Notification::ActivePane { window, pane } => {
                if self.model.activate(window, pane) {
                    self.shown(window);
                }
            }
            Notification::Program { pane, name } => {
                if self.model.has(pane) {
                    self.actions.push_back(Action::Program { pane, name });
                }
            }
            Notification::Pause(pane) => {
                if self.model.has(pane) {
                    self.send(&[Purpose::Quiet], &command::resume(pane));
                    let contents = self.model.cut(pane);
                    self.restore(pane, contents);
                }
            }
            Notification::Other => {}
        }
    }

    /// The client was attached, or another session was attached to it. Windows of the previous session close.
    fn session_changed(&mut self, name: String) {
        self.actions.push_back(Action::Session(name));
        for window in self.model.clear() {
            self.actions.push_back(Action::Closed(window));
        }
        self.asked.clear();
        self.is_greeted = true;
        self.list_windows();
    }

    fn list_windows(&mut self) {
        if !self.is_trusted || !self.is_greeted {
            return;
        }
        if self.phase == Phase::Greeting {
            self.phase = Phase::Attached;
            // Versions before 3.2 do not pause panes.
            self.send(&[Purpose::Quiet], &command::pause_after(PAUSE_AFTER));
            let (cols, rows) = self.size;
            self.send(&[Purpose::Quiet], &command::client_size(cols, rows));
            self.send(&[Purpose::Quiet], &command::watch_programs());
        }
        self.send(&[Purpose::Windows], &command::windows());
    }

    /// Whether commands may be sent.
    pub fn is_trusted(&self) -> bool {
        self.is_trusted
    }

    /// Allows the client to send commands.
    pub fn allow(&mut self) {
        if !std::mem::replace(&mut self.is_trusted, true) {
            self.list_windows();
        }
    }

    /// Ends the control mode for this reason, without waiting for tmux.
    pub fn abort(&mut self, reason: &'static str) {
        self.end(End::Limit(reason));
    }

    /// Requests the description of a window that may be new.
    fn ask(&mut self, window: WindowId) {
        if !self.model.has_window(window) && self.asked.len() < WINDOWS && self.asked.insert(window)
        {
            self.send(&[Purpose::Window(window)], &command::window(window));
        }
    }

    /// Requests the state and the text of a pane. Until they arrive, the pane's output is dropped.
    fn restore(&mut self, pane: PaneId, contents: Contents) {
        let with_history = contents.needs_history();
        self.model.begin_restore(pane, contents);
        let [state, history] = [Purpose::State(pane), Purpose::History(pane)];
        let [screen, saved] = [Purpose::Screen(pane), Purpose::Saved(pane)];
        let text = command::restore(pane, with_history);
        match with_history {
            true => self.send(&[state, history, screen, saved], &text),
            false => self.send(&[state, screen, saved], &text),
        }
    }

    /// Returns the current look of a window to the owner.
    fn shown(&mut self, window: WindowId) {
        if let Some(view) = self.view(window) {
            self.actions.push_back(Action::Window { window, view });
        }
    }

    /// Queues a line with one or more commands, whose replies have these purposes.
    fn send(&mut self, purposes: &[Purpose], text: &str) {
        if self.phase == Phase::Ended || !self.is_trusted {
            return;
        }
        if self.pending.len() + purposes.len() > PENDING {
            return self.end(End::Limit("tmux does not answer"));
        }
        self.line += 1;
        let line = self.line;
        self.inputs += purposes.iter().filter(|purpose| **purpose == Purpose::Input).count();
        self.pending.extend(purposes.iter().map(|&purpose| Pending { line, purpose }));
        self.commands.extend_from_slice(text.as_bytes());
        self.commands.push(b'\n');
    }

    /// Handles a complete reply.
    fn finish(&mut self, reply: Reply, has_failed: bool) {
        let Some(Pending { line, purpose }) = reply.pending else {
            // The reply to the command that started the client, or to a command of another client.
            return self.finish_other(&reply, has_failed);
        };
        if purpose == Purpose::Input {
            self.inputs = self.inputs.saturating_sub(1);
        }
        if has_failed {
            self.pending.retain(|pending| pending.line != line);
            return self.failed(purpose, &reply);
        }
        let first = reply.lines.first().map(Vec::as_slice).unwrap_or_default();
        match purpose {
            Purpose::Quiet | Purpose::Request | Purpose::Input => {}
            Purpose::Windows => self.list(&reply.lines),
            Purpose::Window(window) => {
                self.asked.remove(&window);
                self.list(&reply.lines);
            }
            Purpose::State(pane) => self.model.set_state(pane, State::parse(first)),
            Purpose::History(pane) => self.model.text(pane).history = reply.lines,
            Purpose::Screen(pane) => self.model.text(pane).screen = reply.lines,
            Purpose::Saved(pane) => {
                self.model.text(pane).saved = reply.lines;
                self.restored(pane);
            }
            Purpose::NewPane(ticket) | Purpose::NewWindow(ticket) => self.opened(ticket, first),
        }
    }

    fn restored(&mut self, pane: PaneId) {
        if let Some(bytes) = self.model.end_restore(pane) {
            self.actions.push_back(Action::Output { pane, bytes });
        }
    }

    fn finish_other(&mut self, reply: &Reply, has_failed: bool) {
        if has_failed && self.phase == Phase::Greeting {
            self.actions.push_back(Action::Notice(joined(&reply.lines)));
        }
    }

    fn failed(&mut self, purpose: Purpose, reply: &Reply) {
        let text = joined(&reply.lines);
        match purpose {
            Purpose::NewPane(ticket) | Purpose::NewWindow(ticket) => {
                self.actions.push_back(Action::Opened { ticket, outcome: Err(text) });
            }
            Purpose::Request => self.actions.push_back(Action::Notice(text)),
            Purpose::Window(window) => drop(self.asked.remove(&window)),
            // The pane has ended, or has no alternate screen.
            Purpose::State(pane) | Purpose::History(pane) | Purpose::Screen(pane) => {
                self.model.give_up_restore(pane);
            }
            Purpose::Saved(pane) => self.restored(pane),
            Purpose::Windows => self.end(End::Exit(text)),
            Purpose::Quiet | Purpose::Input => {}
        }
    }

    /// Handles descriptions of windows.
    fn list(&mut self, lines: &[Vec<u8>]) {
        for line in lines {
            let Some(listed) = Listed::parse(line) else { continue };
            if !self.model.has_window(listed.window) {
                if self.model.windows() >= WINDOWS {
                    let text = format!("only {WINDOWS} windows of tmux are shown");
                    self.actions.push_back(Action::Notice(text));
                    return;
                }
                self.opened_windows += 1;
                if self.opened_windows > WINDOWS_EVER {
                    return self.end(End::Limit("tmux has opened too many windows"));
                }
            }
            let Listed { window, name, layout, visible, is_zoomed, active, borders, is_current } =
                listed;
            let restores =
                self.model.list(window, name, borders, active, layout, is_zoomed, visible);
            self.shown(window);
            for (pane, contents) in restores {
                self.restore(pane, contents);
            }
            if is_current && self.model.make_current(window) {
                self.actions.push_back(Action::Current(window));
            }
        }
    }

    /// Handles the answer to a request for a pane.
    fn opened(&mut self, ticket: Ticket, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        let (window, pane) = match text.split_once(FORMAT_SEPARATOR) {
            Some((window, pane)) => (WindowId::parse(window), PaneId::parse(pane)),
            None => (None, PaneId::parse(&text)),
        };
        let outcome = match pane {
            Some(pane) => {
                self.model.expect(pane);
                Ok(Opened { pane, window })
            }
            None => Err("tmux has not returned a pane".to_owned()),
        };
        self.actions.push_back(Action::Opened { ticket, outcome });
        if let Some(window) = window {
            self.ask(window);
        }
    }

    fn end(&mut self, end: End) {
        if self.phase != Phase::Ended {
            self.phase = Phase::Ended;
            self.reply = None;
            self.actions.push_back(Action::End(end));
        }
    }
}

/// Whether a line outside a reply can begin with this byte. A shell's prompt, or the last words of `ssh`, begin with
/// other bytes as a rule.
fn is_first(byte: u8) -> bool {
    matches!(byte, b'%' | b'\r' | b'\n')
}

/// The lines of an error message as text.
fn joined(lines: &[Vec<u8>]) -> String {
    notification::text(&lines.iter().take(4).cloned().collect::<Vec<_>>().join(&b' '))
}

/// A line of the reply to [`command::windows`].
struct Listed {
    window: WindowId,
    name: String,
    layout: Layout,
    visible: Option<Layout>,
    is_zoomed: bool,
    active: Option<PaneId>,
    borders: Borders,
    is_current: bool,
}

impl Listed {
    fn parse(line: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(line);
        let mut words = text.splitn(8, FORMAT_SEPARATOR);
        let mut next = || words.next();
        Some(Self {
            window: WindowId::parse(next()?)?,
            is_current: next()? == "1",
            layout: Layout::parse(next()?).ok()?,
            visible: Layout::parse(next()?).ok(),
            is_zoomed: next()?.contains('Z'),
            active: PaneId::parse(next()?),
            borders: match next()? {
                "top" => Borders::Top,
                "bottom" => Borders::Bottom,
                _ => Borders::Off,
            },
            name: notification::text(next()?.as_bytes()),
        })
    }
}

#[cfg(test)]
mod tests;
