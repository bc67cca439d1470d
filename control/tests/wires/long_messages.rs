//! Tests of long messages: the memory of the process that they may use, and that they do not block the worker threads
//! for other clients.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{Shutdown, TcpStream},
    os::unix::net::UnixStream,
    sync::{
        Mutex,
        mpsc::{self, Receiver, Sender},
    },
    thread,
};

use crate::support::{self, Fixture, PATIENCE, Wire, client::Client, page::Page};
use serde_json::{Value, json};
use unterm_control::{Credentials, Dialect, Lines, MessageEffect, Peer, Refusal};

const LONG: usize = 15 << 20;
/// The number of long messages for which half of the budget is enough.
const ROOM: usize = 8;
const MANY: usize = ROOM + 4;

/// The beginning of a line without an end.
fn half_a_line() -> Vec<u8> {
    let mut line = br#"{"jsonrpc":"2.0","id":1,"method":"server.info","x":""#.to_vec();
    line.resize(LONG, b'y');
    line
}

/// Sends the beginning of a long message on each connection, and returns the answers to the messages that do not fit
/// into the budget. The other connections stay open.
fn refusals(streams: &[TcpStream], start: &[u8]) -> Vec<String> {
    let (sender, answers) = mpsc::channel();
    for stream in streams {
        let (mut writer, sender) = (stream.try_clone().unwrap(), sender.clone());
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let start = start.to_vec();
        // A connection that is refused may be closed before everything is written.
        thread::spawn(move || writer.write_all(&start));
        thread::spawn(move || {
            let (mut answer, mut rest) = (String::new(), Vec::new());
            // The connections whose messages fit into the budget end with the test.
            if reader.read_line(&mut answer).is_ok_and(|length| length > 0) {
                let _ = reader.read_to_end(&mut rest);
                let _ = sender.send(answer + &String::from_utf8_lossy(&rest));
            }
        });
    }
    (ROOM..streams.len()).map(|_| answers.recv_timeout(PATIENCE).expect("a refusal")).collect()
}

/// A token for an agent.
fn token(user: &mut Wire, name: &str) -> Value {
    user.call("token.create", json!({"name": name, "scope": "read"}))["token"].take()
}

fn streams(wires: &mut [Wire]) -> Vec<TcpStream> {
    wires.iter_mut().map(|wire| wire.stream().try_clone().unwrap()).collect()
}

/// Checks that a complete long line with another token is answered.
fn is_served(wire: &mut Wire) {
    let line = String::from_utf8(half_a_line()).unwrap() + "\"}";
    assert!(wire.exchange(&line).contains("Unterm MCP Server"));
}

#[test]
fn incomplete_lines_of_one_token_do_not_block_others() {
    let fixture = Fixture::new();
    let mut user = fixture.login();
    let token = token(&mut user, "greedy");
    let login = || {
        let mut wire = fixture.connect();
        wire.call("auth.login", json!({"token": token}));
        wire
    };
    let mut wires: Vec<_> = (0..MANY).map(|_| login()).collect();
    let streams = streams(&mut wires);
    for answer in refusals(&streams, &half_a_line()) {
        // The connection is closed after this line.
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("The long messages of this token would take"), "{message}");
        assert!(message.contains("wait for replies before you send more"), "{message}");
    }
    is_served(&mut user);
    login().call("server.info", json!({}));
    // When the connections end, the memory that their messages used is available again.
    for stream in streams {
        // A refused connection is already closed.
        let _ = stream.shutdown(Shutdown::Both);
    }
    support::until("the memory", || {
        let mut wire = login();
        let line = String::from_utf8(half_a_line()).unwrap() + "\"}";
        wire.exchange(&line).contains("Unterm MCP Server").then_some(())
    });
}

#[test]
fn replies_that_a_greedy_token_does_not_read_are_dropped() {
    let fixture = Fixture::new();
    let mut user = fixture.login();
    let token = token(&mut user, "greedy");
    let mut wires: Vec<_> = (0..MANY).map(|_| fixture.connect()).collect();
    for wire in &mut wires {
        wire.call("auth.login", json!({"token": token}));
        let mut writer = wire.stream().try_clone().unwrap();
        // The reply repeats the id, and is longer than the sockets' buffers.
        let line = format!("{{\"method\":\"server.info\",\"id\":\"{}\"}}\n", "y".repeat(LONG));
        thread::spawn(move || writer.write_all(line.as_bytes()));
    }
    let is_refused = |wire: &mut Wire| {
        let mut start = [0; 30];
        wire.stream().read_exact(&mut start).unwrap();
        start.starts_with(br#"{"jsonrpc":"2.0","id":null,"#)
    };
    let refused = wires.iter_mut().map(is_refused).filter(|is_refused| *is_refused).count();
    assert!(refused >= MANY - ROOM, "{refused} of {MANY} are refused");
    is_served(&mut user);
}

#[test]
fn half_lines_of_agents_are_refused_too() {
    let fixture = Fixture::new();
    let mut user = fixture.login();
    let login = json!({"token": token(&mut user, "greedy"), "mcp": ""});
    let mut wires: Vec<_> =
        (0..MANY).map(|_| Client::silent_as(&fixture, login.clone()).wire).collect();
    for answer in refusals(&streams(&mut wires), &half_a_line()) {
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("The long messages of this token would take"), "{message}");
    }
    is_served(&mut user);
}

#[test]
fn half_bodies_are_refused_too() {
    let fixture = Fixture::new();
    let mut user = fixture.login();
    let page = Page::of(&fixture).with_token(&token(&mut user, "greedy"));
    let connections: Vec<_> = (0..MANY).map(|_| page.connect()).collect();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n",
        page.port,
        page.token,
        LONG + 1
    );
    for answer in refusals(&connections, &[head.as_bytes(), &[b' '; LONG]].concat()) {
        assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
        assert!(answer.contains("The long messages of this token would take"), "{answer}");
    }
    is_served(&mut user);
}

/// A protocol in which a long message is not answered until a short one arrives.
struct Slow {
    short: Mutex<Receiver<()>>,
    came: Mutex<Sender<()>>,
    begun: Mutex<Sender<()>>,
}

impl Dialect for Slow {
    type Framing = Lines;

    async fn answer(&self, peer: &Peer, message: &[u8], reply: &mut Vec<u8>) -> MessageEffect {
        if peer.caller().is_none() {
            let token = String::from_utf8(message.to_vec()).unwrap();
            let caller = peer.log_in(Credentials { token, ..Credentials::default() }).await;
            reply.extend_from_slice(b"hello");
            return MessageEffect::LoggedIn(caller.unwrap());
        }
        let is_long = message.len() > 64 << 10;
        if is_long {
            self.begun.lock().unwrap().send(()).unwrap();
            let came = self.short.lock().unwrap().recv_timeout(PATIENCE);
            reply.extend_from_slice(if came.is_ok() { b"long" } else { b"the worker was blocked" });
        } else {
            for _ in 0..2 {
                self.came.lock().unwrap().send(()).unwrap();
            }
            reply.extend_from_slice(b"short");
        }
        MessageEffect::Answered
    }

    fn write_event(&self, _: &Value, _: &mut Vec<u8>) {}

    fn write_refusal(&self, refusal: &Refusal, message: &mut Vec<u8>) {
        message.extend_from_slice(refusal.to_string().as_bytes());
    }
}

#[test]
fn long_messages_are_answered_in_order_and_block_no_worker() {
    let fixture = Fixture::new();
    let (came, short) = mpsc::channel();
    let (begun, has_begun) = mpsc::channel();
    let slow = Slow { short: Mutex::new(short), came: Mutex::new(came), begun: Mutex::new(begun) };
    let path = fixture.registry().join("slow.sock");
    fixture.server().listen(&path, slow).unwrap();
    let connect = || {
        let stream = UnixStream::connect(&path).unwrap();
        stream.set_read_timeout(Some(2 * PATIENCE)).unwrap();
        let mut stream = BufReader::new(stream);
        stream.get_mut().write_all((fixture.token() + "\n").as_bytes()).unwrap();
        assert_eq!(line(&mut stream), "hello");
        stream
    };
    // There are as many long messages as worker threads.
    let mut long = [connect(), connect()];
    let mut other = connect();
    for stream in &mut long {
        stream.get_mut().write_all(&vec![b'x'; 100 << 10]).unwrap();
        stream.get_mut().write_all(b"\nshort\n").unwrap();
    }
    // The second long message waits for the lock.
    has_begun.recv_timeout(PATIENCE).unwrap();
    other.get_mut().write_all(b"short\n").unwrap();
    assert_eq!(line(&mut other), "short");
    for stream in &mut long {
        assert_eq!([line(stream), line(stream)], ["long", "short"]);
    }
}

fn line(stream: &mut BufReader<UnixStream>) -> String {
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    line.trim_end().to_owned()
}
