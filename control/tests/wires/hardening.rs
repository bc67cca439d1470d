//! Tests of clients that violate the protocol, or reach its limits.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpStream},
    time::Duration,
};

use crate::support::{self, Fixture, Wire};
use serde_json::{Value, json};
use unterm_control::LoginLimits;

const INFO: &str = r#"{"id":1,"method":"server.info"}"#;

#[test]
fn a_request_may_come_in_any_pieces() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    for byte in format!("{INFO}\n").bytes() {
        wire.send([byte]);
    }
    assert!(wire.receive().unwrap().contains("Unterm MCP Server"));
}

#[test]
fn half_a_line_is_no_request() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let id = fixture.program(&mut wire, "cat", &[]).id;
    let mut other = fixture.login();
    other.send(json!({"id": 1, "method": "session.destroy", "params": {"id": id}}).to_string());
    other.stream().shutdown(Shutdown::Write).unwrap();
    assert_eq!(other.receive(), None);
    assert_eq!(wire.call("session.status", json!({"id": id}))["is_dead"], false);
}

#[test]
fn thousands_of_requests_in_one_write_are_answered_in_order() {
    const COUNT: u64 = 20_000;
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let requests: String =
        (0..COUNT).map(|n| format!("{{\"id\":{n},\"method\":\"server.info\"}}\n")).collect();
    let mut writer = wire.stream().try_clone().unwrap();
    let writing = std::thread::spawn(move || writer.write_all(requests.as_bytes()));
    for n in 0..COUNT {
        let reply = wire.receive().unwrap();
        assert!(
            reply.starts_with(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{n},\"result\"")),
            "{reply}"
        );
    }
    writing.join().unwrap().unwrap();
}

#[test]
fn a_client_that_never_reads_stalls_only_itself() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.shell(&mut wire);
    let mut deaf = fixture.login();
    deaf.stream().set_write_timeout(Some(Duration::from_millis(500))).unwrap();
    let request =
        format!("{}\n", json!({"id": 1, "method": "screen.text", "params": {"id": session.id}}));
    let many = request.repeat(1000);
    // Repeats this until neither requests nor replies fit into any buffer.
    let mut sent = 0;
    while let Ok(count) = deaf.stream().write(many.as_bytes()) {
        sent += count;
        assert!(sent < 1 << 30, "somebody keeps it all");
    }
    for _ in 0..100 {
        wire.call("screen.text", json!({"id": session.id}));
    }
    assert_eq!(
        wire.call("exec.run_wait", json!({"id": session.id, "command": "echo fine"}))["output"],
        "fine"
    );
}

#[test]
fn a_line_of_16_mebibytes_is_taken_and_a_longer_one_is_refused() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let padded = |length: usize| {
        let request = r#"{"id":1,"method":"server.info","x":""}"#;
        format!(r#"{{"id":1,"method":"server.info","x":"{}"}}"#, "y".repeat(length - request.len()))
    };
    assert!(wire.exchange(&padded(16 << 20)).contains("Unterm MCP Server"));

    let mut writer = wire.stream().try_clone().unwrap();
    let writing = std::thread::spawn(move || {
        let _ = writer.write_all(padded((16 << 20) + 1).as_bytes());
        let _ = writer.write_all(&vec![b'z'; 4 << 20]);
        let _ = writer.shutdown(Shutdown::Write);
    });
    assert_eq!(
        wire.receive().unwrap(),
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error: the line is longer than 16777216 bytes"}}"#
    );
    assert_eq!(wire.receive(), None);
    writing.join().unwrap();
    assert_eq!(fixture.login().call("session.list", json!({})), json!({"sessions": []}));
}

#[test]
fn a_stranger_gets_less_room() {
    let fixture = Fixture::new();
    let mut wire = fixture.connect();
    let mut writer = wire.stream().try_clone().unwrap();
    let writing = std::thread::spawn(move || {
        let _ = writer.write_all(&vec![b'{'; (64 << 10) + 1]);
        let _ = writer.shutdown(Shutdown::Write);
    });
    assert!(wire.receive().unwrap().contains("longer than 65536 bytes"));
    assert_eq!(wire.receive(), None);
    writing.join().unwrap();
    // A login may be this long, and later messages may be longer.
    let mut wire = fixture.connect();
    let padded = |line: Value, length: usize| {
        let line = line.to_string();
        let blanks = " ".repeat(length - line.len());
        format!("{line}{blanks}\n")
    };
    let login = json!({"id": 1, "method": "auth.login", "params": {"token": fixture.token()}});
    wire.send(
        padded(login, 64 << 10) + &padded(json!({"id": 2, "method": "server.info"}), 1 << 20),
    );
    assert!(wire.receive().unwrap().contains(r#""status":"ok""#));
    assert!(wire.receive().unwrap().contains("Unterm MCP Server"));
}

#[test]
fn connections_without_a_login_in_time_are_closed() {
    let time = Duration::from_millis(200);
    let fixture = Fixture::limited(LoginLimits { time, ..LoginLimits::default() });
    let says_nothing = |wire: &mut Wire| {
        let told = wire.receive().expect("why it ends");
        assert_eq!(
            told,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32002,"message":"Not authenticated. Call auth.login within 0.2 s"}}"#
        );
        assert_eq!(wire.receive(), None);
    };
    says_nothing(&mut fixture.connect());
    // Messages other than a login do not extend the time.
    let mut chatty = fixture.connect();
    let mut talking = chatty.stream().try_clone().unwrap();
    let talk =
        std::thread::spawn(move || while talking.write_all(b"{\"method\":\"x\"}\n").is_ok() {});
    while let Some(line) = chatty.receive() {
        assert!(line.contains("-32002"), "{line}");
    }
    talk.join().unwrap();
    // A client that has logged in stays connected. A later client that does not log in is dropped first.
    let mut known = support::until("a login in time", || {
        let mut wire = fixture.connect();
        let login = json!({"id": 1, "method": "auth.login", "params": {"token": fixture.token()}});
        wire.send(format!("{login}\n"));
        wire.receive().filter(|reply| reply.contains(r#""status":"ok""#)).map(|_| wire)
    });
    says_nothing(&mut fixture.connect());
    known.call("server.info", json!({}));
}

#[test]
fn wrong_tokens_keep_the_connection_until_its_time_is_over() {
    let fixture = Fixture::new();
    let mut wire = fixture.connect();
    let wrong = json!({"code": -32001, "message": "Invalid auth token"});
    // Logins without a token also count.
    let tries = [json!({"token": "wrong"}), json!({}), json!(["wrong"]), json!({"token": 7})];
    for params in tries.into_iter().cycle().take(10) {
        assert_eq!(wire.reply("auth.login", params)["error"], wrong);
        assert_eq!(wire.reply("server.info", json!({}))["error"]["code"], -32002);
    }
    assert_eq!(wire.call("auth.login", json!({"token": fixture.token()})), json!({"status": "ok"}));
    wire.call("server.info", json!({}));
    // A wrong token after a login changes nothing.
    assert_eq!(wire.reply("auth.login", json!({"token": "wrong"}))["error"], wrong);
    wire.call("server.info", json!({}));

    // The connection ends when the time to log in is over, and its last message is this error.
    let time = Duration::from_millis(300);
    let hurried = Fixture::limited(LoginLimits { time, ..LoginLimits::default() });
    let mut wire = hurried.connect();
    let login = json!({"id": 1, "method": "auth.login", "params": {"token": "x"}});
    wire.send(format!("{login}\n").repeat(9));
    let replies: Vec<String> = std::iter::from_fn(|| wire.receive()).collect();
    let last = replies.last().unwrap();
    assert!(last.contains("Not authenticated. Call auth.login within 0.3 s"), "{last}");
}

#[test]
fn connections_without_a_login_do_not_block_others() {
    let limits = LoginLimits { connections: 10, ..LoginLimits::default() };
    let fixture = Fixture::limited(limits);
    let known = fixture.login();
    // Each client connects after the previous one has received an answer, so the first client is the oldest.
    let stranger = |_| {
        let mut stranger = fixture.connect();
        assert_eq!(stranger.reply("server.info", json!({}))["error"]["code"], -32002);
        stranger
    };
    let mut strangers: Vec<Wire> = (0..10).map(stranger).collect();
    let owner = fixture.login();
    let told = strangers[0].receive().expect("why it ends");
    assert!(told.contains("Too many connections have not logged in"), "{told}");
    assert_eq!(strangers[0].receive(), None);
    // A client that logs in frees its place, so clients that have logged in do not remove others.
    let more: Vec<Wire> = (0..50).map(|_| fixture.login()).collect();
    for stranger in &mut strangers[1..] {
        assert_eq!(stranger.reply("server.info", json!({}))["error"]["code"], -32002);
    }
    for mut wire in [known, owner].into_iter().chain(more) {
        wire.call("server.info", json!({}));
    }
}

#[test]
fn a_connection_that_begins_like_http_is_dropped_without_a_word() {
    let fixture = Fixture::new();
    let login = json!({"id": 1, "method": "auth.login", "params": {"token": fixture.token()}});
    for start in [
        "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        "POST /",
        "\r\nOPTIONS * HTTP/1.1\r\n",
        "PRI * HTTP/2.0\r\n\r\n",
        "what /ever HTTP/1.0\n",
    ] {
        let mut stream = TcpStream::connect(fixture.server().address()).unwrap();
        stream.set_read_timeout(Some(support::PATIENCE)).unwrap();
        let _ = stream.write_all(format!("{start}\n{login}\n{INFO}\n").as_bytes());
        let mut heard = Vec::new();
        match stream.read_to_end(&mut heard) {
            Ok(_) => {}
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset),
        }
        assert_eq!(heard, b"", "{start:?}");
    }
}

#[test]
fn wrong_tokens_wait_and_nobody_else_does() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let mut guesser = fixture.connect();
    // Three guesses in one write take 50 + 100 + 200 ms.
    let guess = json!({"id": 1, "method": "auth.login", "params": {"token": "guess"}});
    let start = std::time::Instant::now();
    guesser.send(format!("{guess}\n{guess}\n{guess}\n"));
    for _ in 0..100 {
        wire.call("server.info", json!({}));
    }
    fixture.login();
    for _ in 0..3 {
        let reply: Value = serde_json::from_str(&guesser.receive().unwrap()).unwrap();
        assert_eq!(reply["error"]["code"], -32001);
    }
    assert!(start.elapsed() >= Duration::from_millis(350));
}

#[test]
fn garbage_of_every_kind_is_survived() {
    let fixture = Fixture::new();
    // A small generator of random numbers (with the constants of Knuth's MMIX), so that every run uses the same bytes.
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as u8
    };
    for round in 0..50 {
        let mut wire = if round % 2 == 0 { fixture.login() } else { fixture.connect() };
        let garbage: Vec<u8> = (0..4096).map(|_| next()).collect();
        let _ = wire.stream().write_all(&garbage);
        let _ = wire.stream().shutdown(Shutdown::Write);
        while let Some(line) = wire.receive() {
            let reply: Value = serde_json::from_str(&line).unwrap();
            assert_eq!(reply["error"]["code"], -32700, "{line}");
        }
    }
    assert_eq!(fixture.login().call("session.list", json!({})), json!({"sessions": []}));
}

#[test]
fn deep_nesting_is_survived() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    for open in ["[", "{\"a\":"] {
        let deep = open.repeat(200_000);
        wire.exchange(&format!(r#"{{"id":1,"method":"server.info","params":{deep}"#));
    }
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    wire.exchange(&format!(r#"{{"id":1,"method":"session.status","params":{{"id":{deep}}}}}"#));
    wire.exchange(&format!(r#"{{"id":1,"method":"session.create","params":{{"env":{deep}}}}}"#));
    wire.exchange(&format!(r#"{{"id":{deep},"method":"session.list"}}"#));
    assert_eq!(wire.call("session.list", json!({})), json!({"sessions": []}));
}

#[cfg(target_os = "linux")]
#[test]
fn idle_connections_leave_nothing_behind() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let address = fixture.server().address();
    // The server's sockets are counted by its port, because other tests in this process have sockets, too.
    let open = || {
        const ESTABLISHED: &str = "01";
        const CLOSE_WAIT: &str = "08";
        let table = std::fs::read_to_string("/proc/self/net/tcp").unwrap();
        let local = format!("0100007F:{:04X}", address.port());
        let sockets = table.lines().filter_map(|line| {
            let mut columns = line.split_whitespace().skip(1);
            let is_ours = columns.next() == Some(&local);
            columns.nth(1).filter(|state| is_ours && [ESTABLISHED, CLOSE_WAIT].contains(state))
        });
        sockets.count()
    };
    for _ in 0..2 {
        let idle: Vec<_> = (0..500).map(|_| TcpStream::connect(address).unwrap()).collect();
        wire.call("server.info", json!({}));
        drop(idle);
        // The server closes each connection when it notices the end, before it answers later calls.
        while open() > 1 {
            wire.call("server.info", json!({}));
        }
    }
}
