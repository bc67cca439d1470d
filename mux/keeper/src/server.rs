//! The keeper's loop: accepts connections, serves requests, and notices the ends of programs and owners.
//!
//! One thread does everything. Nothing waits for a client: a client that is slow or silent delays only itself. An error
//! of a client ends the client's connection, is logged, and changes no pane.

use std::{
    collections::BTreeMap,
    io,
    os::fd::OwnedFd,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    net::{SocketFlags, accept_with},
};

use crate::{
    connection::{Connection, End},
    frame::Frame,
    log::Log,
    message::{Hello, NEWEST, OLDEST, PaneKey, Refusal, Reply, Request, Start},
    pane::{Instance, Pane},
    process::{ProcessId, Processes},
    socket,
    successor::{Heir, Successor, Successors},
};

/// The maximum number of connections.
pub const MAX_CONNECTIONS: usize = 64;

/// The maximum number of panes.
pub const MAX_PANES: usize = 2_000;

/// The maximum number of panes whose programs have ended and that no instance owns.
const MAX_LEFT: usize = 64;

/// The maximum number of bytes of all connections that wait for the rest of their message.
const MAX_UNFINISHED: usize = 16 << 20;

/// The time that a new keeper waits for its first client.
const FIRST_CLIENT: Duration = Duration::from_secs(10);

/// A keeper.
pub(crate) struct Server {
    listener: OwnedFd,
    log: Log,
    connections: Vec<Connection>,
    /// The panes by number.
    panes: BTreeMap<u64, Pane>,
    processes: Processes,
    successors: Successors,
    /// The next number for a connection or a pane.
    next: u64,
    has_had_client: bool,
    started: Instant,
}

impl Server {
    pub(crate) fn new(listener: OwnedFd, log: Log) -> Self {
        let (connections, panes) = (Vec::new(), BTreeMap::new());
        let (processes, successors) = (Processes::default(), Successors::default());
        let (next, has_had_client, started) = (1, false, Instant::now());
        Self {
            listener,
            log,
            connections,
            panes,
            processes,
            successors,
            next,
            has_had_client,
            started,
        }
    }

    pub(crate) fn log(&mut self) -> &mut Log {
        &mut self.log
    }

    /// Serves until no client is connected, and no program runs that a client could take.
    ///
    /// # Errors
    /// If the system cannot wait for events.
    pub(crate) fn run(&mut self) -> io::Result<()> {
        while !self.is_idle() {
            self.turn()?;
        }
        Ok(())
    }

    fn is_idle(&self) -> bool {
        let is_waiting = !self.has_had_client && self.started.elapsed() < FIRST_CLIENT;
        // Also a program that has ended, if a process that runs is about to take its pane.
        let is_needed = |pane: &Pane| {
            pane.is_needed() || pane.successor().is_some_and(|it| self.successors.contain(it))
        };
        !is_waiting && self.connections.is_empty() && !self.panes.values().any(is_needed)
    }

    /// Waits for events, and handles them.
    fn turn(&mut self) -> io::Result<()> {
        let Ready { accepts, connections, panes, drains, has_ended } = self.wait()?;
        // Confirmed panes come first, so that a client that left a pane finds it without an owner. The other panes come
        // last, because the confirmation may be among the requests.
        let (confirmed, rest): (Vec<_>, Vec<_>) = panes
            .into_iter()
            .partition(|number| self.panes.get(number).is_some_and(Pane::is_confirmed));
        confirmed.into_iter().for_each(|number| self.check(number));
        for number in connections {
            self.serve(number);
        }
        rest.into_iter().for_each(|number| self.check(number));
        if has_ended || self.successors.are_due() {
            self.succeed();
        }
        // Read output last, because a request may have given a pane to an owner.
        for number in drains {
            self.panes.get_mut(&number).into_iter().for_each(Pane::drain);
            self.log_fault(number);
        }
        self.panes.retain(|_, pane| !pane.is_over());
        self.forget_left();
        if accepts {
            self.accept();
        }
        Ok(())
    }

    /// Handles the end of a pane's owner and of its program.
    fn check(&mut self, number: u64) {
        let Some(pane) = self.panes.get_mut(&number) else { return };
        let gone = pane.check_owner();
        pane.check_end();
        // A closed pane, or a pane whose end the owner has read, needs no owner.
        if let Some(owner) = gone.filter(|_| !pane.is_closed()) {
            let program = pane.program();
            self.log.line(&format!("{owner:?} left pane {number} ({program:?})"));
        }
        self.log_fault(number);
    }

    /// Starts the successors of processes that have ended, if they have left running programs behind.
    fn succeed(&mut self) {
        // An owner that has not confirmed its pane may have sent the confirmation.
        let confirmed = self.panes.iter().filter(|(_, pane)| pane.is_confirmed());
        let confirmed: Vec<u64> = confirmed.map(|(number, _)| *number).collect();
        confirmed.into_iter().for_each(|number| self.check(number));
        let (panes, connections) = (&self.panes, &self.connections);
        // The descriptors of a process are closed before the process ends. But some of its requests may still wait, and
        // a forked copy of the process that has not executed a program yet may still have the descriptors.
        let is_over = |process| {
            !panes.values().any(|pane| pane.is_owned_by(process))
                && !connections.iter().any(|connection| connection.is_of(process))
        };
        for heir in self.successors.take_ended(is_over) {
            let process = heir.process();
            let left = |pane: &Pane| pane.was_left_by(process);
            if self.panes.values().any(left) {
                let successor = self.start_successor(heir);
                let left = self.panes.values_mut().filter(|pane| left(pane));
                left.for_each(|pane| pane.set_successor(successor));
            }
        }
    }

    /// Starts the successor of a process that has ended. `None` if it does not start.
    fn start_successor(&mut self, mut heir: Heir) -> Option<ProcessId> {
        let is_loop = heir.is_crash_loop(Instant::now());
        let name = &heir.name;
        if is_loop {
            let text = format!("successors of {name:?} end too often, so its programs wait");
            self.log.line(&text);
            return None;
        }
        let started = heir.successor().map_err(io::Error::other).and_then(|successor| {
            let Successor { program, input, .. } = successor;
            let named = |error| io::Error::other(format!("{}: {error}", program.file.display()));
            program.start_apart(&input).map_err(named)
        });
        match started {
            Ok((pid, pidfd)) => {
                self.log.line(&format!("process {pid} is the successor of {name:?}"));
                let process = self.processes.of_pidfd(pid, pidfd);
                let id = process.id;
                self.successors.replace(heir, process);
                Some(id)
            }
            Err(error) => {
                self.log.line(&format!("cannot start {error}"));
                None
            }
        }
    }

    /// Logs the error in a pane's journal.
    fn log_fault(&mut self, number: u64) {
        if let Some(fault) = self.panes.get_mut(&number).and_then(Pane::take_fault) {
            self.log.line(&format!("pane {number}: {fault}"));
        }
    }

    fn wait(&self) -> io::Result<Ready> {
        let mut fds = vec![PollFd::new(&self.listener, PollFlags::IN)];
        for connection in &self.connections {
            // As long as replies wait, no further request is read.
            let events = if connection.has_unsent() { PollFlags::OUT } else { PollFlags::IN };
            fds.push(PollFd::new(connection, events));
        }
        let mut watched = Vec::new();
        for (number, pane) in &self.panes {
            if let Some(process) = pane.process() {
                fds.push(PollFd::from_borrowed_fd(process, PollFlags::IN));
                watched.push(*number);
            }
            if let Some(report) = pane.owner_report() {
                // poll(2) always reports errors, and the pipe has an error as soon as its reader is gone.
                fds.push(PollFd::from_borrowed_fd(report, PollFlags::empty()));
                watched.push(*number);
            }
        }
        let watches = watched.len();
        fds.extend(
            self.successors.processes().map(|it| PollFd::from_borrowed_fd(it, PollFlags::IN)),
        );
        let successors = fds.len() - watches - self.connections.len() - 1;
        for (number, pane) in &self.panes {
            if let Some(master) = pane.undrained() {
                fds.push(PollFd::from_borrowed_fd(master, PollFlags::IN));
                watched.push(*number);
            }
        }
        let wait = FIRST_CLIENT.saturating_sub(self.started.elapsed());
        let wait = (!self.has_had_client).then(|| Timespec::try_from(wait).ok()).flatten();
        match poll(&mut fds, wait.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let is_ready = |fd: &PollFd<'_>| !fd.revents().is_empty();
        let (listener, rest) = fds.split_at(1);
        let (connections, rest) = rest.split_at(self.connections.len());
        let (panes, rest) = rest.split_at(watches);
        let (successors, drains) = rest.split_at(successors);
        let drained = watched.split_off(watches);
        let numbers = self.connections.iter().map(|connection| connection.number);
        let ready = |(fd, number)| is_ready(fd).then_some(number);
        Ok(Ready {
            accepts: is_ready(&listener[0]),
            connections: connections.iter().zip(numbers).filter_map(ready).collect(),
            panes: panes.iter().zip(watched).filter_map(ready).collect(),
            drains: drains.iter().zip(drained).filter_map(ready).collect(),
            has_ended: successors.iter().any(is_ready),
        })
    }

    /// Accepts the next connection.
    fn accept(&mut self) {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = match accept_with(&self.listener, flags) {
            Ok(socket) => socket,
            Err(Errno::AGAIN | Errno::INTR | Errno::CONNABORTED) => return,
            Err(error) => {
                self.log.line(&format!("cannot accept a connection: {error}"));
                self.drop_unknown();
                return;
            }
        };
        if let Err(error) = socket::check_peer(&socket) {
            self.log.line(&format!("refused a connection: {error}"));
            return;
        }
        if self.connections.len() >= MAX_CONNECTIONS && !self.drop_unknown() {
            self.log.line(&format!("refused a connection: there are {MAX_CONNECTIONS}"));
            return;
        }
        // Without its process, a client cannot have a successor.
        let process = self.processes.of_peer(&socket);
        let process = process.inspect_err(|error| {
            self.log.line(&format!("the process of a client is unknown: {error}"));
        });
        self.connections.push(Connection::new(self.next, socket, process.ok()));
        self.next += 1;
        self.has_had_client = true;
    }

    /// Closes the oldest connection whose client has not sent a greeting. Returns whether there was such a connection.
    fn drop_unknown(&mut self) -> bool {
        let at = self.connections.iter().position(|connection| connection.name.is_none());
        if let Some(at) = at {
            self.connections.remove(at);
            self.log.line("closed a connection whose client does not greet: there are too many");
        }
        at.is_some()
    }

    /// Handles an event of a connection.
    fn serve(&mut self, number: u64) {
        let Some(at) = self.connections.iter().position(|it| it.number == number) else { return };
        // Take the connection out, so that requests can change everything else.
        let mut connection = self.connections.remove(at);
        match self.serve_connection(&mut connection) {
            Ok(()) => self.connections.insert(at, connection),
            Err(End::Closed) => {}
            Err(End::Refused(why)) => {
                let name = connection.name.as_deref().unwrap_or("an unknown client");
                self.log.line(&format!("refused {name:?}: {why}"));
            }
        }
    }

    fn serve_connection(&mut self, connection: &mut Connection) -> Result<(), End> {
        if connection.has_unsent() {
            connection.flush()?;
        } else {
            connection.receive()?;
            let others: usize = self.connections.iter().map(Connection::unfinished).sum();
            if others + connection.unfinished() > MAX_UNFINISHED {
                return Err(End::Refused("too many messages are unfinished".into()));
            }
        }
        while !connection.has_unsent() {
            let frame = match connection.next() {
                Ok(Some(frame)) => frame,
                Ok(None) => break,
                Err(error) => return Err(refuse(connection, error.to_string())),
            };
            self.handle(connection, &frame)?;
        }
        Ok(())
    }

    /// Handles one message.
    fn handle(&mut self, connection: &mut Connection, frame: &Frame) -> Result<(), End> {
        let request = match Request::from_frame(frame) {
            Ok(request) => request,
            Err(error) => return Err(refuse(connection, error.to_string())),
        };
        let Some(name) = connection.name.clone() else {
            let Some(Request::Hello(hello)) = request else {
                return Err(refuse(connection, "the first message is no greeting".into()));
            };
            return greet(connection, hello);
        };
        let instance = Instance { name, process: connection.process.clone() };
        let name = instance.name.as_str();
        let Some(request) = request else {
            let text = format!("the request {:#x} is unknown", frame.kind);
            self.log.line(&format!("{name:?}: {text}"));
            return connection.reply(&Reply::Refused(Refusal::UnknownRequest, text), Vec::new());
        };
        let (reply, descriptors) = match request {
            Request::Hello(_) => return Err(refuse(connection, "a second greeting".into())),
            Request::Start(start) => self.start(*start, &instance),
            Request::List => (Reply::Panes(self.listed()), Vec::new()),
            Request::Identify(number) => match self.panes.get(&number) {
                Some(pane) => (Reply::Identity(Box::new(pane.identity())), Vec::new()),
                None => refused(no_pane(number)),
            },
            Request::Take { pane, has_journal } => self.take(pane, &instance, has_journal),
            Request::Succeed(successor) => match self.set_successor(&instance, successor) {
                Ok(()) => (Reply::Done, Vec::new()),
                Err(error) => refused((Refusal::Other, error.to_string())),
            },
            Request::Confirm(key) => {
                self.change(key, name, Pane::confirm);
                return Ok(());
            }
            Request::Describe(key, placement) => {
                self.change(key, name, |pane| pane.describe(placement));
                return Ok(());
            }
            Request::Close(key) => {
                self.change(key, name, Pane::close);
                self.panes.retain(|_, pane| !pane.is_over());
                return Ok(());
            }
        };
        connection.reply(&reply, descriptors)
    }

    fn set_successor(
        &mut self,
        instance: &Instance,
        successor: Option<Box<Successor>>,
    ) -> io::Result<()> {
        let Some(process) = &instance.process else {
            return Err(io::Error::other("the process of the client is unknown"));
        };
        let takes = successor.as_ref().map(|successor| successor.takes.clone());
        self.successors.set(&instance.name, process, successor.map(|it| *it))?;
        let Some(takes) = takes else {
            // The process does not want what it has not taken until now.
            let left = self.panes.values_mut().filter(|pane| pane.successor() == Some(process.id));
            left.for_each(|pane| pane.set_successor(None));
            return Ok(());
        };
        let mut count = 0;
        for number in takes {
            // If the process ends before it takes the pane, its successor takes it.
            if let Some(pane) = self.panes.get_mut(&number).filter(|pane| pane.is_free()) {
                pane.set_successor(Some(process.id));
                count += 1;
            }
        }
        if count > 0 {
            let (name, pid) = (&instance.name, process.id.pid);
            self.log.line(&format!("process {pid} takes the place of {name:?}, of {count} panes"));
        }
        Ok(())
    }

    fn start(&mut self, start: Start, owner: &Instance) -> (Reply, Vec<OwnedFd>) {
        if self.panes.len() >= MAX_PANES {
            return refused((Refusal::Full, format!("the keeper already has {MAX_PANES} panes")));
        }
        let number = self.next;
        self.next += 1;
        match Pane::start(number, start, owner) {
            Ok((pane, descriptors)) => {
                let held = pane.held();
                self.panes.insert(number, pane);
                (held, descriptors)
            }
            Err(error) => refused((Refusal::CannotStart, error.to_string())),
        }
    }

    fn take(&mut self, number: u64, next: &Instance, has_journal: bool) -> (Reply, Vec<OwnedFd>) {
        let Some(pane) = self.panes.get_mut(&number).filter(|pane| !pane.is_closed()) else {
            return refused(no_pane(number));
        };
        match pane.take(next, has_journal) {
            Ok(Some(descriptors)) => {
                let name = &next.name;
                self.log.line(&format!("{name:?} took pane {number} ({:?})", pane.program()));
                let held = pane.held();
                self.log_fault(number);
                (held, descriptors)
            }
            Ok(None) => {
                let owner = pane.owner().unwrap_or_default();
                refused((Refusal::InUse, format!("{owner:?} owns pane {number}")))
            }
            Err(error) => refused((Refusal::Other, error.to_string())),
        }
    }

    /// The panes that an instance can own, oldest first.
    fn listed(&self) -> Vec<u64> {
        self.panes.iter().filter(|(_, pane)| !pane.is_closed()).map(|(number, _)| *number).collect()
    }

    /// Changes a pane for its owner. A request with another secret is logged.
    fn change(&mut self, key: PaneKey, name: &str, change: impl FnOnce(&mut Pane)) {
        match self.panes.get_mut(&key.number).filter(|pane| pane.key == key) {
            Some(pane) => change(pane),
            None => {
                self.log.line(&format!("{name:?} does not own a pane {}", key.number));
            }
        }
    }

    /// Removes the oldest panes of ended programs, if there are too many.
    fn forget_left(&mut self) {
        let left = self.panes.iter().filter(|(_, pane)| pane.is_left());
        let left: Vec<u64> = left.map(|(number, _)| *number).collect();
        for number in &left[..left.len().saturating_sub(MAX_LEFT)] {
            self.panes.remove(number);
        }
    }
}

/// The events that can be handled without waiting.
struct Ready {
    accepts: bool,
    /// Numbers of connections.
    connections: Vec<u64>,
    /// Numbers of panes whose program or owner may have ended.
    panes: Vec<u64>,
    /// Numbers of panes without an owner that have output.
    drains: Vec<u64>,
    /// Whether a process with a successor has ended.
    has_ended: bool,
}

/// Answers a greeting.
fn greet(connection: &mut Connection, hello: Hello) -> Result<(), End> {
    if hello.common_version().is_none() {
        let text = format!(
            "the keeper speaks the versions {OLDEST} to {NEWEST} of the protocol, and {:?} speaks {} to {}",
            hello.name, hello.oldest, hello.newest
        );
        connection.reply(&Reply::Refused(Refusal::Version, text.clone()), Vec::new())?;
        return Err(End::Refused(text));
    }
    connection.name = Some(hello.name);
    connection.reply(&Reply::Hello(Hello::own("keeper")), Vec::new())
}

/// Replies that a message is not valid. Returns the end of the connection.
fn refuse(connection: &mut Connection, why: String) -> End {
    // The client may be gone already.
    let _ = connection.reply(&Reply::Refused(Refusal::Malformed, why.clone()), Vec::new());
    End::Refused(why)
}

fn refused((refusal, text): (Refusal, String)) -> (Reply, Vec<OwnedFd>) {
    (Reply::Refused(refusal, text), Vec::new())
}

fn no_pane(number: u64) -> (Refusal, String) {
    (Refusal::NoPane, format!("there is no pane {number}"))
}
