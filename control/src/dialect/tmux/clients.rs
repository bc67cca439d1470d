//! The clients in control mode, and the settings that their commands requested.
//!
//! Plain data. Commands of any client change it and wake the client's task, which reads it and writes to the client.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use tokio::sync::Notify;

use super::{conversation::Hello, subscriptions::Subscription};

/// The maximum number of notifications that wait for one client. Further notifications replace the oldest.
const MOST_NOTES: usize = 100;
/// The maximum number of subscriptions of a client.
const MOST_SUBSCRIPTIONS: usize = 100;
/// The size of a client that has reported no size.
const DEFAULT_SIZE: (u16, u16) = (80, 24);

/// A client in control mode.
#[derive(Debug)]
pub struct Client {
    /// The number, which is never used again.
    pub id: u64,
    /// The name: `client-` and the process id.
    pub name: String,
    /// The name of the server (`-L`).
    pub server: String,
    /// The process id.
    pub pid: u32,
    /// The user id.
    pub uid: u32,
    /// The user name.
    pub user: String,
    /// The value of `TERM`.
    pub term: String,
    /// When the client connected, in seconds since 1970.
    pub created: i64,
    /// The session that the client sees. `None`: it is not attached.
    pub session: Option<u64>,
    /// The session that the client saw before.
    pub last_session: Option<u64>,
    /// The size that the client reported, in cells.
    pub size: (u16, u16),
    /// Whether the client's size has no effect on windows.
    pub ignores_size: bool,
    /// Whether the client gets no output.
    pub no_output: bool,
    /// The age of a pane's unread output at which the pane is paused. `None`: a client that is too slow is
    /// disconnected.
    pub pause_after: Option<Duration>,
    /// The panes whose output the client does not get.
    pub silent: BTreeMap<u64, Silence>,
    /// The formats that the client watches.
    pub subscriptions: Vec<Subscription>,
    /// The notifications that wait to be sent.
    notes: VecDeque<String>,
    /// The number of results that the client waits for. A notification comes after the result of the command that
    /// caused it.
    awaited_results: u32,
    /// Whether the client must end.
    pub is_leaving: bool,
    /// Wakes the client's task.
    pub wake: Arc<Notify>,
}

/// Why a client does not get the output of a pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// The client has turned the pane's output off.
    Off,
    /// The pane is paused, because the client was too slow or requested the pause.
    Paused,
}

/// The clients in control mode, the oldest first.
#[derive(Default)]
pub struct Clients {
    list: Vec<Client>,
    next: u64,
}

impl Clients {
    /// Adds a client. Returns its number, and the notifier that wakes its task.
    pub fn add(&mut self, hello: &Hello, server: String, now: i64) -> (u64, Arc<Notify>) {
        let (id, wake) = (self.next, Arc::new(Notify::new()));
        self.next += 1;
        self.list.push(Client {
            id,
            name: format!("client-{}", hello.pid),
            server,
            pid: hello.pid,
            uid: hello.uid,
            user: hello.user.clone(),
            term: hello.term.clone(),
            created: now,
            session: None,
            last_session: None,
            size: DEFAULT_SIZE,
            ignores_size: false,
            no_output: false,
            pause_after: None,
            silent: BTreeMap::new(),
            subscriptions: Vec::new(),
            notes: VecDeque::new(),
            awaited_results: 0,
            is_leaving: false,
            wake: wake.clone(),
        });
        (id, wake)
    }

    /// Removes a client.
    pub fn remove(&mut self, id: u64) {
        self.list.retain(|client| client.id != id);
    }

    /// The client with this number.
    pub fn get(&self, id: u64) -> Option<&Client> {
        self.list.iter().find(|client| client.id == id)
    }

    /// The client with this number.
    pub fn get_mut(&mut self, id: u64) -> Option<&mut Client> {
        self.list.iter_mut().find(|client| client.id == id)
    }

    /// The attached clients of a server. A client that must end is not attached any more, even before its task ends.
    pub fn attached(&self, server: &str) -> impl Iterator<Item = &Client> {
        let all = self.list.iter().filter(|client| !client.is_leaving);
        all.filter(move |it| it.server == server && it.session.is_some())
    }

    /// The attached clients of a session.
    pub fn of_session(&self, session: u64) -> impl Iterator<Item = &Client> {
        let all = self.list.iter().filter(|client| !client.is_leaving);
        all.filter(move |client| client.session == Some(session))
    }

    /// Wakes the tasks of all clients.
    pub fn wake_all(&self) {
        self.list.iter().for_each(|client| client.wake.notify_one());
    }
}

impl Client {
    /// Attaches the client to a session.
    pub fn attach(&mut self, session: u64) {
        if self.session != Some(session) {
            self.last_session = self.session.replace(session);
        }
        self.wake.notify_one();
    }

    /// Sends a notification.
    pub fn note(&mut self, note: String) {
        if self.notes.len() >= MOST_NOTES {
            self.notes.pop_front();
        }
        self.notes.push_back(note);
        self.wake.notify_one();
    }

    /// The notifications to send now. No notification is sent while the client waits for the result of a command.
    pub fn take_notes(&mut self) -> Vec<String> {
        if self.awaited_results > 0 { Vec::new() } else { self.notes.drain(..).collect() }
    }

    /// Begins a command of the client.
    pub fn begin_command(&mut self) {
        self.awaited_results += 1;
    }

    /// Notes that the result of a command was sent.
    pub fn end_command(&mut self) {
        self.awaited_results = self.awaited_results.saturating_sub(1);
    }

    /// Makes the client end.
    pub fn leave(&mut self) {
        self.is_leaving = true;
        self.wake.notify_one();
    }

    /// Adds a subscription. It replaces a subscription with the same name.
    ///
    /// # Errors
    /// The client has too many subscriptions.
    pub fn subscribe(&mut self, subscription: Subscription) -> Result<(), String> {
        self.unsubscribe(&subscription.name);
        if self.subscriptions.len() >= MOST_SUBSCRIPTIONS {
            return Err(format!("too many subscriptions: {}", subscription.name));
        }
        self.subscriptions.push(subscription);
        self.wake.notify_one();
        Ok(())
    }

    /// Removes the subscription with this name.
    pub fn unsubscribe(&mut self, name: &str) {
        self.subscriptions.retain(|subscription| subscription.name != name);
    }

    /// Sets flags: names between commas, each of which `!` inverts.
    ///
    /// # Errors
    /// A flag is unknown, or has no effect here.
    pub fn set_flags(&mut self, flags: &str) -> Result<(), String> {
        for flag in flags.split(',').filter(|flag| !flag.is_empty()) {
            let (name, is_set) = match flag.strip_prefix('!') {
                Some(name) => (name, false),
                None => (flag, true),
            };
            match name.split_once('=') {
                Some(("pause-after", seconds)) => {
                    let seconds = seconds.parse().map_err(|_| format!("bad flag: {flag}"))?;
                    self.pause_after = is_set.then_some(Duration::from_secs(seconds));
                }
                None if name == "pause-after" => {
                    self.pause_after = is_set.then_some(Duration::ZERO);
                }
                None if name == "no-output" => self.no_output = is_set,
                None if name == "ignore-size" => self.ignores_size = is_set,
                _ => return Err(format!("unknown client flag: {name}")),
            }
        }
        self.wake.notify_one();
        Ok(())
    }

    /// The flags, as tmux shows them.
    pub fn flags(&self) -> String {
        let mut flags = Vec::new();
        if self.session.is_some() {
            flags.push("attached".to_owned());
        }
        flags.extend(["focused".to_owned(), "control-mode".to_owned()]);
        if self.ignores_size {
            flags.push("ignore-size".to_owned());
        }
        if self.no_output {
            flags.push("no-output".to_owned());
        }
        if let Some(delay) = self.pause_after {
            flags.push(format!("pause-after={}", delay.as_secs()));
        }
        flags.push("UTF-8".to_owned());
        flags.join(",")
    }

    /// The variables of formats. `session`: the name of the client's session.
    pub fn variables(&self, session: &str) -> BTreeMap<&'static str, String> {
        BTreeMap::from([
            ("client_name", self.name.clone()),
            ("client_tty", String::new()),
            ("client_pid", self.pid.to_string()),
            ("client_uid", self.uid.to_string()),
            ("client_user", self.user.clone()),
            ("client_termname", self.term.clone()),
            ("client_session", session.to_owned()),
            ("client_flags", self.flags()),
            ("client_control_mode", "1".to_owned()),
            ("client_created", self.created.to_string()),
            ("client_activity", self.created.to_string()),
            ("client_width", self.size.0.to_string()),
            ("client_height", self.size.1.to_string()),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(clients: &mut Clients, pid: u32) -> u64 {
        clients.add(&Hello { pid, ..Hello::default() }, "default".to_owned(), 0).0
    }

    #[test]
    fn clients_are_found_by_session_until_they_go() {
        let mut clients = Clients::default();
        let (one, other) = (client(&mut clients, 7), client(&mut clients, 8));
        clients.get_mut(one).unwrap().attach(0);
        clients.get_mut(other).unwrap().attach(0);
        clients.get_mut(other).unwrap().attach(3);
        assert_eq!(clients.get(other).unwrap().last_session, Some(0));
        let names: Vec<_> = clients.of_session(0).map(|client| client.name.as_str()).collect();
        assert_eq!(names, ["client-7"]);
        assert_eq!(clients.attached("default").count(), 2);
        assert_eq!(clients.attached("other").count(), 0);
        clients.get_mut(other).unwrap().leave();
        assert_eq!((clients.attached("default").count(), clients.of_session(3).count()), (1, 0));
        clients.remove(one);
        assert!(clients.get(one).is_none());
        assert_ne!(client(&mut clients, 7), one);
    }

    #[test]
    fn flags_are_set_unset_and_shown() {
        let mut clients = Clients::default();
        let id = client(&mut clients, 7);
        let client = clients.get_mut(id).unwrap();
        assert_eq!(client.flags(), "focused,control-mode,UTF-8");
        client.attach(0);
        client.set_flags("pause-after=5,no-output").unwrap();
        assert_eq!(client.flags(), "attached,focused,control-mode,no-output,pause-after=5,UTF-8");
        client.set_flags("!pause-after,!no-output").unwrap();
        assert_eq!(client.flags(), "attached,focused,control-mode,UTF-8");
        assert_eq!(client.set_flags("read-only").unwrap_err(), "unknown client flag: read-only");
        assert_eq!(client.set_flags("pause-after=x").unwrap_err(), "bad flag: pause-after=x");
    }

    #[test]
    fn notes_and_subscriptions_are_bounded() {
        let mut clients = Clients::default();
        let id = client(&mut clients, 7);
        let client = clients.get_mut(id).unwrap();
        for number in 0..MOST_NOTES + 5 {
            client.note(number.to_string());
        }
        client.begin_command();
        assert_eq!(
            client.take_notes(),
            Vec::<String>::new(),
            "they come after the command's result"
        );
        client.end_command();
        let notes = client.take_notes();
        assert_eq!((notes.len(), notes[0].as_str()), (MOST_NOTES, "5"));
        for number in 0..MOST_SUBSCRIPTIONS {
            let subscription = Subscription::parse(&format!("n{number}::#S")).unwrap();
            client.subscribe(subscription).unwrap();
        }
        let subscription = || Subscription::parse("more::#S").unwrap();
        assert!(client.subscribe(subscription()).is_err());
        client.unsubscribe("n0");
        client.subscribe(subscription()).unwrap();
    }
}
