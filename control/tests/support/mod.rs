//! A real server with its own home on a loopback port, and a client that uses only the connection.

pub mod client;
pub mod page;
pub mod toolset;

use std::{
    io::{BufRead, BufReader, Write},
    net::TcpStream,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use unterm_control::{
    Approval, Gate, Headless, Host, HostRequest, LoginLimits, Preferences, Question, Server,
    ServerOptions,
};
use unterm_mux::{Defaults, Mux, MuxOptions, Pane, PaneId, PaneState, ShellIntegration};
use unterm_term::{Options, Size};

/// The part of a screen in a tool's reply: the whole screen, or the rows that changed.
pub fn shown(reply: &Value) -> &str {
    reply["screen"].as_str().or(reply["changed"].as_str()).unwrap_or_else(|| panic!("{reply}"))
}

/// The maximum time that a test waits for an expected event. It is long enough for a machine under load.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// The groups of methods in `server.capabilities`.
pub const GROUPS: [&str; 9] = [
    "session",
    "exec",
    "screen",
    "workspace",
    "capture",
    "proxy",
    "governance",
    "system",
    "instance",
];

/// A host with these preferences and without a window.
pub struct WithPreferences(pub Arc<dyn Preferences>);

impl Host for WithPreferences {
    fn has_window(&self) -> bool {
        false
    }

    fn instance_title_changed(&self, _: Option<&str>) {}

    fn ask(&self, _: HostRequest) {}

    fn preferences(&self) -> Option<Arc<dyn Preferences>> {
        Some(self.0.clone())
    }
}

/// A server with its mux and its home. All of them are ended when the fixture is dropped.
pub struct Fixture {
    pub mux: Arc<Mux>,
    pub server: Option<Server>,
    pub home: tempfile::TempDir,
}

impl Fixture {
    pub fn new() -> Self {
        Self::gated(Vec::new())
    }

    pub fn gated(gates: Vec<Arc<dyn Gate>>) -> Self {
        Self::hosted(Arc::new(Headless), gates)
    }

    pub fn hosted(host: Arc<dyn Host>, gates: Vec<Arc<dyn Gate>>) -> Self {
        Self::with(host, gates, LoginLimits::default())
    }

    /// Creates a fixture with these limits on connections that have not logged in.
    pub fn limited(login: LoginLimits) -> Self {
        Self::with(Arc::new(Headless), Vec::new(), login)
    }

    fn with(host: Arc<dyn Host>, gates: Vec<Arc<dyn Gate>>, login: LoginLimits) -> Self {
        let home = tempfile::tempdir().unwrap();
        let mux = mux(home.path());
        let options = ServerOptions { login, ..options(&mux, host, home.path()) };
        let server = Some(Server::start_gated(options, gates).unwrap());
        Self { mux, server, home }
    }

    /// Creates another instance on the same home, with separate panes. It must be dropped before the fixture.
    pub fn beside(&self) -> Beside {
        let mux = mux(self.home.path());
        let options = options(&mux, Arc::new(Headless), self.home.path());
        let server = Server::start(options).unwrap();
        let token = self.record(&server)["auth_token"].as_str().unwrap().to_owned();
        Beside { mux, server: Some(server), token }
    }

    /// Restarts the server on the same home.
    pub fn restart(&mut self) {
        self.server.take();
        let options = options(&self.mux, Arc::new(Headless), self.home.path());
        self.server = Some(Server::start(options).unwrap());
    }

    pub fn server(&self) -> &Server {
        self.server.as_ref().unwrap()
    }

    /// The directory of the registry.
    pub fn registry(&self) -> std::path::PathBuf {
        self.home.path().join(".unterm")
    }

    /// The entry of a server in the registry of this home.
    pub fn record(&self, server: &Server) -> Value {
        let file = format!("{}.json", server.instance_id());
        let record = std::fs::read(self.registry().join("instances").join(file)).unwrap();
        serde_json::from_slice(&record).unwrap()
    }

    pub fn token(&self) -> String {
        self.record(self.server())["auth_token"].as_str().unwrap().to_owned()
    }

    /// Opens a connection that has not logged in.
    pub fn connect(&self) -> Wire {
        Wire::to(self.server())
    }

    /// Opens a connection and logs in.
    pub fn login(&self) -> Wire {
        let mut wire = self.connect();
        assert_eq!(
            wire.call("auth.login", json!({"token": self.token()})),
            json!({"status": "ok"})
        );
        wire
    }

    /// Creates a token, and opens a connection that logs in with it. Returns the connection and the reply of
    /// `token.create`.
    pub fn login_with(&self, user: &mut Wire, token: Value) -> (Wire, Value) {
        let made = user.call("token.create", token);
        let mut wire = self.connect();
        wire.call("auth.login", json!({"token": made["token"]}));
        (wire, made)
    }

    /// Creates a session of 80×24 cells that runs a program with arguments.
    pub fn program(&self, wire: &mut Wire, program: &str, args: &[&str]) -> Session {
        let created = wire.call(
            "session.create",
            json!({"program": program, "args": args, "cols": 80, "rows": 24, "cwd": self.home.path()}),
        );
        let id = created["id"].as_u64().unwrap();
        Session { id, pane: self.mux.pane(PaneId(id)).unwrap() }
    }

    /// Enables shell integration for interactive shells that start after this call, like the app.
    pub fn integrate(&self) {
        let folder = self.home.path().join("shell-integration");
        ShellIntegration::install(&folder).unwrap();
        self.mux.set_defaults(Defaults { shell_integration: Some(folder), ..Defaults::default() });
    }

    /// Creates a session with a bash that marks prompts and commands, in the test's own folder. Returns when its first
    /// prompt is there.
    pub fn marked_shell(&self, wire: &mut Wire) -> Session {
        self.integrate();
        let session = self.program(wire, "bash", &[]);
        let reply = wire.call("session.wait", json!({"id": session.id, "any": [{"prompt": true}]}));
        assert_eq!(reply["matched"], true, "{reply}");
        session
    }

    /// Creates a session with a POSIX shell.
    pub fn shell(&self, wire: &mut Wire) -> Session {
        self.program(wire, "sh", &[])
    }
}

/// Another instance on the home of a fixture.
pub struct Beside {
    mux: Arc<Mux>,
    server: Option<Server>,
    token: String,
}

impl Beside {
    pub fn server(&self) -> &Server {
        self.server.as_ref().unwrap()
    }

    /// Opens a connection and logs in.
    pub fn login(&self) -> Wire {
        let mut wire = Wire::to(self.server());
        wire.call("auth.login", json!({"token": self.token}));
        wire
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        self.server.take();
        self.mux.shutdown();
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        self.server.take();
        self.mux.shutdown();
    }
}

/// A mux whose programs have this home directory.
fn mux(home: &Path) -> Arc<Mux> {
    Mux::new(MuxOptions {
        term: Options::default(),
        default_size: Size::cells(120, 30),
        env: environment(home),
        sized_by_window: false,
    })
}

/// The options of a test's server.
fn options(mux: &Arc<Mux>, host: Arc<dyn Host>, home: &Path) -> ServerOptions {
    let home = home.join(".unterm");
    ServerOptions {
        mux: mux.clone(),
        host,
        home,
        approval: Approval::Allow,
        login: LoginLimits::default(),
    }
}

/// The environment of a test's shells: no startup files of any user, and a plain prompt.
fn environment(home: &Path) -> Vec<(String, String)> {
    // Without this folder, fish reads all manual pages in the background, for minutes.
    std::fs::create_dir_all(home.join("fish/generated_completions")).unwrap();
    [
        ("TERM", "xterm-256color"),
        ("HOME", home.to_str().unwrap()),
        ("ZDOTDIR", home.to_str().unwrap()),
        ("XDG_CONFIG_HOME", home.to_str().unwrap()),
        ("XDG_DATA_HOME", home.to_str().unwrap()),
        ("PS1", "$ "),
        ("LC_ALL", "C.UTF-8"),
        ("ENV", ""),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .to_vec()
}

/// A session and its pane, which a test can wait for.
pub struct Session {
    pub id: u64,
    pub pane: Arc<Pane>,
}

impl Session {
    /// Waits until the text of the live screen meets a condition.
    pub fn wait_for(&self, what: impl Fn(&str) -> bool) {
        let text = self.wait(|pane| {
            let text = screen(pane);
            if what(&text) { Some(text) } else { None }
        });
        assert!(text.is_some(), "the screen never met the condition:\n{}", screen(&self.pane));
    }

    pub fn wait_for_text(&self, text: &str) {
        self.wait_for(|screen| screen.contains(text));
    }

    /// Waits until the program has ended.
    pub fn wait_for_end(&self) {
        let ended = self.wait(|pane| (pane.state() != PaneState::Running).then_some(()));
        assert!(ended.is_some(), "the program never ended");
    }

    /// Waits until `test` returns a value. `None` if it never does.
    pub fn wait<T>(&self, test: impl Fn(&Pane) -> Option<T>) -> Option<T> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let mut changes = self.pane.watch();
            tokio::time::timeout(PATIENCE, async {
                loop {
                    changes.borrow_and_update();
                    if let Some(found) = test(&self.pane) {
                        return Some(found);
                    }
                    changes.changed().await.ok()?;
                }
            })
            .await
            .ok()
            .flatten()
        })
    }
}

/// Reports that something can't be tested here. Fails if `UNTERM_NEEDS_ALL` is set, which means that everything that
/// the tests need is installed, as in `packaging/test`.
pub fn skip(why: &str) {
    assert!(std::env::var_os("UNTERM_NEEDS_ALL").is_none(), "UNTERM_NEEDS_ALL is set, and {why}");
    eprintln!("SKIPPED: {why}");
}

/// Whether a program is installed. Runs it with these arguments, with which it must end by itself. Reports a missing
/// program.
pub fn has(program: &str, args: &[&str]) -> bool {
    let is_here = std::process::Command::new(program).args(args).output().is_ok();
    if !is_here {
        skip(&format!("{program} is not here"));
    }
    is_here
}

/// Whether a program is in `PATH`, for programs that don't end by themselves. Reports a missing program.
pub fn is_installed(program: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let is_here = std::env::split_paths(&folders).any(|folder| folder.join(program).is_file());
    if !is_here {
        skip(&format!("{program} is not here"));
    }
    is_here
}

/// Runs a test in each installed shell, with a prepared fixture for each.
pub fn shells(
    shells: &[(&str, &[&str])],
    prepare: impl Fn(&Fixture),
    mut test: impl FnMut(&str, &Fixture, &mut Wire, &Session),
) {
    for (program, args) in shells {
        if !has(program, &[*args, &["-c", "true"]].concat()) {
            continue;
        }
        let fixture = Fixture::new();
        prepare(&fixture);
        let mut wire = fixture.login();
        let session = fixture.program(&mut wire, program, args);
        test(program, &fixture, &mut wire, &session);
    }
}

/// Runs a command, waits for its end, and returns the reply.
pub fn run(wire: &mut Wire, session: &Session, command: &str) -> Value {
    wire.call("exec.run_wait", json!({"id": session.id, "command": command}))
}

/// Sets the blocked patterns of the rules.
pub fn block(wire: &mut Wire, patterns: Value) {
    let rules = json!({"enabled": true, "blocked_patterns": patterns, "allowed_patterns": []});
    assert_eq!(wire.call("policy.set", rules), json!({"set": true}));
}

/// Waits for an open question to the user of a server, and returns it.
pub fn question(of: &Server) -> Question {
    until("a question", || of.questions().into_iter().next())
}

/// Calls `find` until it returns a value.
pub fn until<T>(what: &str, mut find: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = find() {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "never: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

pub fn screen(pane: &Pane) -> String {
    let term = pane.term();
    let top = term.live_top().0;
    let mut text = String::new();
    for row in 0..u64::from(term.size().rows) {
        term.row_text(unterm_term::LineId(top + row), &mut text);
        text.push('\n');
    }
    text
}

/// A connection that sends and receives lines.
pub struct Wire {
    reader: BufReader<TcpStream>,
    id: u64,
}

impl Wire {
    /// Opens a connection to a server, without a login.
    fn to(server: &Server) -> Self {
        let stream = TcpStream::connect(server.address()).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self { reader: BufReader::new(stream), id: 0 }
    }

    /// Sets the maximum time to wait for an answer, for calls that take longer than others.
    pub fn waits_for(&mut self, time: Duration) {
        self.stream().set_read_timeout(Some(time)).unwrap();
    }

    pub fn stream(&mut self) -> &mut TcpStream {
        self.reader.get_mut()
    }

    /// The connection, with the bytes that have arrived, for a protocol without lines.
    pub fn into_reader(self) -> BufReader<TcpStream> {
        self.reader
    }

    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream().write_all(bytes.as_ref()).unwrap();
    }

    /// The next line. `None` if the server has closed the connection.
    pub fn receive(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.reader.read_line(&mut line) {
            Ok(0) => None,
            Ok(_) => {
                assert_eq!(line.pop(), Some('\n'));
                Some(line)
            }
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => None,
            Err(error) => panic!("{error}"),
        }
    }

    /// Sends a line, and returns its answer.
    pub fn exchange(&mut self, line: &str) -> String {
        self.send(format!("{line}\n"));
        self.receive().expect("an answer")
    }

    /// Calls a method, and returns the whole reply.
    pub fn reply(&mut self, method: &str, params: Value) -> Value {
        self.id += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params});
        let reply: Value = serde_json::from_str(&self.exchange(&request.to_string())).unwrap();
        assert_eq!(reply["id"], self.id);
        assert_eq!(reply["jsonrpc"], "2.0");
        reply
    }

    /// Calls a method that must succeed.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        let mut reply = self.reply(method, params);
        assert!(reply.get("error").is_none(), "{method}: {reply}");
        reply["result"].take()
    }

    /// Calls a method that must fail with -32603, and returns the message.
    pub fn fail(&mut self, method: &str, params: Value) -> String {
        let reply = self.reply(method, params);
        assert_eq!(reply["error"]["code"], -32603, "{method}: {reply}");
        reply["error"]["message"].as_str().unwrap().to_owned()
    }
}
