//! Tests that a token that uses as much as it can leaves connections and views to others, especially to the instance's
//! own token.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    process::Stdio,
};

use super::faults::{Ended, HOME, ROLE, own_test_of, part, start};
use crate::support::{Fixture, Wire, until};
use serde_json::json;
use unterm_control::client::{self, Client};

/// The number of file descriptors of the server. Half of them are for connections.
const DESCRIPTORS: u64 = 320;

/// Starts a server with [`DESCRIPTORS`] file descriptors, and serves until its stdin is closed.
#[test]
fn part_serves_with_some_descriptors() {
    use rustix::process::{Resource, Rlimit, setrlimit};

    let Some(folder) = part("some") else { return };
    // The maximum is limited, too, because a mux raises the current limit to the maximum.
    let limit = Rlimit { current: Some(DESCRIPTORS), maximum: Some(DESCRIPTORS) };
    setrlimit(Resource::Nofile, limit).unwrap();
    let (_mux, _server) = start(&folder.join("home")).unwrap();
    fs::write(folder.join("ready"), "").unwrap();
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
}

#[test]
fn connections_of_tokens_leave_the_owner_some() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = own_test_of(module_path!(), "part_serves_with_some_descriptors");
    command.env(ROLE, "some").env(HOME, folder.path());
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = Ended(command.spawn().unwrap());
    until("it is ready", || folder.path().join("ready").exists().then_some(()));
    let home = folder.path().join("home");
    let owner = Client::connect(&home).unwrap();
    let port = client::live(&home)[0].mcp_port;

    let mut all = Vec::new();
    let mut counts = Vec::new();
    for name in ["one", "two", "three"] {
        let made = json!({"name": name, "scope": "read"});
        let token = owner.call_by_name("token.create", made).unwrap()["token"].clone();
        let login = json!({"id": 1, "method": "auth.login", "params": {"token": token}});
        let before = all.len();
        let refusal = loop {
            let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
            writeln!(stream, "{login}").unwrap();
            let mut reader = BufReader::new(stream);
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            if !line.contains("\"ok\"") {
                break line;
            }
            all.push(reader);
            assert!(all.len() < DESCRIPTORS as usize, "{name} is never refused");
        };
        assert!(refusal.contains("This token has too many connections"), "{refusal}");
        counts.push(all.len() - before);
        // In each round, the owner's connection still works, and a new connection works, too.
        owner.call_by_name("instance.info", json!({})).unwrap();
        let another = Client::connect(&home).unwrap();
        another.call_by_name("server.info", json!({})).unwrap();
    }
    assert!(counts.is_sorted_by(|one, next| one > next), "{counts:?}");
    // The owner can use the connections that are reserved for it, and there are enough descriptors for a program.
    let own: Vec<_> = (0..DESCRIPTORS / 16).map(|_| Client::connect(&home).unwrap()).collect();
    owner.call_by_name("session.create", json!({"program": "cat"})).unwrap();
    drop((own, all));
    drop(child.0.stdin.take());
    assert!(child.0.wait().unwrap().success());
}

#[test]
fn views_of_tokens_leave_the_owner_some() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let pane = fixture.program(&mut wire, "cat", &[]).id;
    let follow = json!({"id": pane});
    let mut fill = |name: &str| {
        let (mut reader, _) = fixture.login_with(&mut wire, json!({"name": name, "scope": "read"}));
        let view = |reader: &mut Wire| reader.reply("screen.follow", follow.clone());
        (0..64).take_while(|_| view(&mut reader).get("error").is_none()).count()
    };
    assert_eq!([fill("one"), fill("two"), fill("three")], [24, 12, 6]);
    for number in 0..16 {
        let view = wire.reply("screen.follow", follow.clone());
        assert!(view.get("error").is_none(), "{number}: {view}");
    }
}
