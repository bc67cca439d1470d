//! Tests of a protocol that these tests define in addition to Unterm's own. It is used over a Unix socket, and over two
//! pipes in place of standard input and output. The tests cover framing, error codes, concurrent requests,
//! cancellation, and the requests that are dropped when a connection ends.

mod sample;

use std::{
    io::{BufRead, BufReader, PipeReader, PipeWriter, Read, Write},
    os::unix::net::UnixStream,
    path::PathBuf,
    sync::{Arc, mpsc},
};

use serde_json::{Value, json};
use unterm_control::{
    Approval, Caller, Decision, Entry, Gate, Headless, LoginLimits, Server, ServerOptions,
};

use self::sample::{AT_ONCE, Sample, code};
use crate::support::{Fixture, PATIENCE};

/// A client of the protocol.
struct Client<R, W> {
    reader: BufReader<R>,
    writer: W,
    id: u64,
}

impl<R: Read, W: Write> Client<R, W> {
    fn new(reader: R, writer: W) -> Self {
        Self { reader: BufReader::new(reader), writer, id: 0 }
    }

    fn send(&mut self, message: &Value) {
        let message = message.to_string();
        write!(self.writer, "Content-Length: {}\r\n\r\n{message}", message.len()).unwrap();
    }

    /// The next message. `None` if the connection has ended.
    fn receive(&mut self) -> Option<Value> {
        let mut header = String::new();
        if self.reader.read_line(&mut header).unwrap() == 0 {
            return None;
        }
        let length = header.trim_end().strip_prefix("Content-Length: ").expect("a length");
        let mut message = vec![0; length.parse().unwrap()];
        self.reader.read_line(&mut header).unwrap();
        self.reader.read_exact(&mut message).unwrap();
        Some(serde_json::from_slice(&message).unwrap())
    }

    /// Sends a request, and returns its number.
    fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.id += 1;
        self.send(&json!({"id": self.id, "method": method, "params": params}));
        self.id
    }

    /// Makes a request whose answer must be the next message.
    fn answer(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        let answer = self.receive().expect("an answer");
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    fn call(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.answer(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].take()
    }

    /// Makes a request that must fail, and returns the error's code.
    fn fail(&mut self, method: &str, params: Value) -> i64 {
        self.answer(method, params)["error"]["code"].as_i64().expect("an error")
    }

    fn hello(mut self, token: &str) -> Self {
        assert_eq!(self.call("hello", json!({"token": token})), json!({"atOnce": AT_ONCE}));
        self
    }
}

type SocketClient = Client<UnixStream, UnixStream>;
type PipeClient = Client<PipeReader, PipeWriter>;

fn socket(fixture: &Fixture) -> PathBuf {
    let path = fixture.registry().join("sample.sock");
    if !path.exists() {
        fixture.server().listen(&path, Sample).unwrap();
    }
    path
}

/// A client on a Unix socket that has not logged in.
fn stranger(fixture: &Fixture) -> SocketClient {
    let stream = UnixStream::connect(socket(fixture)).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    Client::new(stream.try_clone().unwrap(), stream)
}

fn by_socket(fixture: &Fixture) -> SocketClient {
    stranger(fixture).hello(&fixture.token())
}

/// A client on two pipes.
fn by_pipes(server: &Server) -> PipeClient {
    let (input, to_server) = std::io::pipe().unwrap();
    let (from_server, output) = std::io::pipe().unwrap();
    drop(server.serve_blocking(input, output, Sample).unwrap());
    Client::new(from_server, to_server).hello(&server.token())
}

/// Calls every method of the protocol.
fn all_methods<R: Read, W: Write>(mut client: Client<R, W>) {
    assert_eq!(client.call("about", json!({})), json!({"server": "Unterm MCP Server"}));
    let size = json!({"program": "cat", "arguments": [], "width": 80, "height": 24});
    let opened = client.call("terminal/open", size);
    let terminal = &opened["terminal"];
    assert_eq!(client.call("terminal/list", json!({})), json!([terminal]));
    let mut act = |method: &str, mut params: Value| {
        params["terminal"] = terminal.clone();
        client.call(method, params)
    };
    assert_eq!(act("terminal/type", json!({"text": "meow\r"})), Value::Null);
    let found = act("terminal/wait", json!({"until": [{"text": "meow"}], "milliseconds": 60_000}));
    assert_eq!(found, json!({"found": true}));
    assert!(act("terminal/rows", json!({}))["rows"].to_string().contains("meow"));
    act("terminal/resize", json!({"width": 100, "height": 30}));
    assert_eq!(client.call("subscribe", json!({"kinds": ["title"]})), Value::Null);
    let rename = json!({"terminal": terminal, "title": "kitten"});
    let renamed = client.begin("terminal/rename", rename);
    // The event may come before or after the answer.
    let both = [client.receive().unwrap(), client.receive().unwrap()];
    assert!(both.iter().any(|message| message["id"] == renamed), "{both:?}");
    let happened = json!({"method": "happened", "params": {"kind": "title", "title": "kitten"}});
    assert!(both.contains(&happened), "{both:?}");
    client.call("terminal/close", json!({"terminal": terminal}));
    assert_eq!(client.call("terminal/list", json!({})), json!([]));
}

#[test]
fn every_method_over_a_unix_socket() {
    all_methods(by_socket(&Fixture::new()));
}

#[test]
fn every_method_over_pipes() {
    all_methods(by_pipes(Fixture::new().server()));
}

#[test]
fn a_server_needs_no_port_no_page_and_no_registry() {
    let fixture = Fixture::new();
    let home = tempfile::tempdir().unwrap();
    let options = ServerOptions {
        mux: fixture.mux.clone(),
        host: Arc::new(Headless),
        home: home.path().join(".unterm"),
        approval: Approval::Allow,
        login: LoginLimits::default(),
    };
    let server =
        Server::builder(options).without_port().without_page().without_registry().start().unwrap();
    assert_eq!(server.address().port(), 0);
    assert_eq!(server.instance_id(), "unregistered");
    all_methods(by_pipes(&server));
    for entry in ["instances", "active.json", "server.json", "auth_token"] {
        assert!(!home.path().join(".unterm").join(entry).exists(), "{entry}");
    }
    server.stop();
}

#[test]
fn errors_have_this_protocols_codes() {
    let fixture = Fixture::new();
    let mut client = stranger(&fixture);
    assert_eq!(client.fail("terminal/list", json!({})), code::NOT_LOGGED_IN);
    assert_eq!(client.fail("hello", json!({"token": "guess"})), code::WRONG_TOKEN);
    let mut client = client.hello(&fixture.token());
    assert_eq!(client.fail("session.list", json!({})), code::UNKNOWN_METHOD);
    assert_eq!(client.fail("terminal/rows", json!({})), code::INVALID_PARAMS);
    assert_eq!(client.fail("terminal/rows", json!({"id": 1})), code::INVALID_PARAMS);
    assert_eq!(client.fail("terminal/rows", json!({"terminal": 9})), code::NO_TERMINAL);
    assert_eq!(client.fail("terminal/open", json!({"program": "/no/such"})), code::FAILED);
    client.send(&json!("no request"));
    assert_eq!(client.receive().unwrap()["error"]["code"], code::PARSE);
    // A token with read access also works in this protocol.
    let made = fixture.login().call("token.create", json!({"name": "reader", "scope": "read"}));
    let mut reader = stranger(&fixture).hello(made["token"].as_str().unwrap());
    assert_eq!(reader.call("terminal/list", json!({})), json!([]));
    assert_eq!(reader.fail("terminal/open", json!({"program": "cat"})), code::DENIED);
    // An invalid frame ends the connection, with the reason.
    write!(client.writer, "Length: 2\r\n\r\n{{}}").unwrap();
    let refusal = client.receive().unwrap();
    assert_eq!(
        refusal["error"],
        json!({"code": code::CLOSED, "message": "there is no Content-Length"})
    );
    assert_eq!(client.receive(), None);
    let mut stranger = stranger(&fixture);
    write!(stranger.writer, "Content-Length: {}\r\n\r\n", 1 << 20).unwrap();
    assert_eq!(stranger.receive().unwrap()["error"]["code"], code::CLOSED);
}

/// Delays calls that open a terminal until the test releases them. Reports when such a call is delayed and when it is
/// dropped.
struct Held {
    reports: mpsc::Sender<&'static str>,
    go: tokio::sync::watch::Receiver<bool>,
}

/// Reports when it is dropped.
struct Reported(mpsc::Sender<&'static str>);

impl Drop for Reported {
    fn drop(&mut self) {
        let _ = self.0.send("over");
    }
}

impl Gate for Held {
    fn decide(&self, _: &Caller, method: &Entry, _: &str) -> Decision {
        if method.name != "session.create" {
            return Decision::Allow;
        }
        self.reports.send("held").unwrap();
        let (reported, mut go) = (Reported(self.reports.clone()), self.go.clone());
        Decision::Hold(Box::pin(async move {
            let _reported = reported;
            let _ = go.wait_for(|go| *go).await;
            Decision::Allow
        }))
    }
}

/// A fixture that delays calls to open a terminal, with the reports about them and the sender that releases them.
fn held() -> (Fixture, mpsc::Receiver<&'static str>, tokio::sync::watch::Sender<bool>) {
    let (reports, reported) = mpsc::channel();
    let (go, gone) = tokio::sync::watch::channel(false);
    (Fixture::gated(vec![Arc::new(Held { reports, go: gone })]), reported, go)
}

const CAT: fn() -> Value = || json!({"program": "cat", "arguments": []});

#[test]
fn requests_run_at_once_and_are_answered_as_they_end() {
    let (fixture, reported, go) = held();
    let mut client = by_socket(&fixture);
    let mut waiting: Vec<u64> =
        (1..AT_ONCE).map(|_| client.begin("terminal/open", CAT())).collect();
    for _ in &waiting {
        assert_eq!(reported.recv_timeout(PATIENCE), Ok("held"));
    }
    // One slot is free, so other requests are answered before the delayed ones.
    for _ in 0..3 {
        assert_eq!(client.call("terminal/list", json!({})), json!([]));
    }
    // With the last slot taken, the next request must wait.
    waiting.push(client.begin("terminal/open", CAT()));
    assert_eq!(reported.recv_timeout(PATIENCE), Ok("held"));
    waiting.push(client.begin("about", json!({})));
    go.send(true).unwrap();
    let mut answered: Vec<u64> =
        waiting.iter().map(|_| client.receive().unwrap()["id"].as_u64().unwrap()).collect();
    answered.sort_unstable();
    assert_eq!(answered, waiting);
    assert_eq!(client.call("terminal/list", json!({})).as_array().unwrap().len(), AT_ONCE);
}

#[test]
fn a_request_can_be_cancelled_even_if_no_slot_is_free() {
    let (fixture, reported, _go) = held();
    let mut client = by_socket(&fixture);
    let waiting: Vec<u64> = (0..AT_ONCE).map(|_| client.begin("terminal/open", CAT())).collect();
    let behind = client.begin("about", json!({}));
    for _ in &waiting {
        assert_eq!(reported.recv_timeout(PATIENCE), Ok("held"));
    }
    client.send(&json!({"method": "cancel", "params": {"id": waiting[1]}}));
    let cancelled = client.receive().unwrap();
    assert_eq!(
        (&cancelled["id"], &cancelled["error"]["code"]),
        (&json!(waiting[1]), &json!(code::CANCELLED))
    );
    assert_eq!(reported.recv_timeout(PATIENCE), Ok("over"), "its call is dropped");
    // The slot is free again.
    assert_eq!(client.receive().unwrap()["id"], behind);
    assert_eq!(client.call("terminal/list", json!({})), json!([]));
}

#[test]
fn running_requests_end_with_their_connection() {
    let (fixture, reported, _go) = held();
    let mut one = by_socket(&fixture);
    let mut other = by_pipes(fixture.server());
    for _ in 0..AT_ONCE + 1 {
        one.begin("terminal/open", CAT());
    }
    other.begin("terminal/open", CAT());
    for _ in 0..AT_ONCE + 1 {
        assert_eq!(reported.recv_timeout(PATIENCE), Ok("held"));
    }
    drop(one);
    for _ in 0..AT_ONCE {
        assert_eq!(reported.recv_timeout(PATIENCE), Ok("over"));
    }
    drop(other);
    // A request that got no slot never starts.
    assert_eq!(reported.recv_timeout(PATIENCE), Ok("over"));
    assert_eq!(by_socket(&fixture).call("terminal/list", json!({})), json!([]));
    assert_eq!(reported.try_recv(), Err(mpsc::TryRecvError::Empty));
}

#[test]
fn a_client_that_never_reads_does_not_delay_others() {
    let fixture = Fixture::new();
    let mut deaf = by_socket(&fixture);
    deaf.writer.set_nonblocking(true).unwrap();
    let request = json!({"id": 1, "method": "terminal/list", "params": {}}).to_string();
    let request = format!("Content-Length: {}\r\n\r\n{request}", request.len()).repeat(1000);
    // Repeats this until neither requests nor answers fit into any buffer.
    let mut sent = 0;
    let mut other = by_socket(&fixture);
    let mut is_full = false;
    loop {
        match deaf.writer.write(&request.as_bytes()[sent % request.len()..]) {
            Ok(count) => {
                sent += count;
                is_full = false;
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock && !is_full => {
                // The server may still accept some bytes. It has accepted them when it answers another client.
                other.call("about", json!({}));
                is_full = true;
            }
            Err(error) => {
                assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
                break;
            }
        }
        assert!(sent < 1 << 30, "somebody keeps it all");
    }
    for _ in 0..100 {
        other.call("terminal/list", json!({}));
    }
}
