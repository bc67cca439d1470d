//! Tests of an instance's Unix socket: its protocol, who may connect, and how clients find it.

use std::{
    io::{BufRead, BufReader, Write},
    os::unix::{
        fs::{MetadataExt, PermissionsExt},
        net::UnixStream,
    },
    path::{Path, PathBuf},
    process::Command,
};

use crate::support::{self, Fixture, PATIENCE};
use serde_json::{Value, json};
use unterm_control::{
    Approval, Error, Headless, LoginLimits, Server, ServerOptions,
    client::{self, Client, ClientError, Endpoint},
};

/// The path of the socket in the instance's entry.
fn path(fixture: &Fixture) -> PathBuf {
    fixture.record(fixture.server())["socket"].as_str().expect("a socket").into()
}

struct Wire(BufReader<UnixStream>);

impl Wire {
    fn to(path: &Path) -> Self {
        let stream = UnixStream::connect(path).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self(BufReader::new(stream))
    }

    fn exchange(&mut self, line: &Value) -> String {
        writeln!(self.0.get_mut(), "{line}").unwrap();
        let mut reply = String::new();
        self.0.read_line(&mut reply).unwrap();
        reply
    }

    fn login(&mut self, token: &Value) -> String {
        self.exchange(&json!({"id": 1, "method": "auth.login", "params": {"token": token}}))
    }
}

#[test]
fn the_socket_serves_the_protocols_of_the_port() {
    let fixture = Fixture::new();
    let mut wire = Wire::to(&path(&fixture));
    let list = json!({"id": 2, "method": "session.list"});
    assert_eq!(
        wire.exchange(&list),
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32002,\"message\":\"Not authenticated. Call auth.login first\"}}\n"
    );
    assert!(wire.login(&json!("guess")).contains("-32001"), "the same user needs a token too");
    assert_eq!(
        wire.login(&json!(fixture.token())),
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"status\":\"ok\"}}\n"
    );
    assert_eq!(
        wire.exchange(&list),
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"sessions\":[]}}\n"
    );
}

#[test]
fn a_token_that_reads_reads_here_too() {
    let fixture = Fixture::new();
    let made = fixture.login().call("token.create", json!({"name": "reader", "scope": "read"}));
    let mut wire = Wire::to(&path(&fixture));
    assert!(wire.login(&made["token"]).contains("ok"));
    assert!(wire.exchange(&json!({"id": 2, "method": "session.list"})).contains("sessions"));
    let create = json!({"id": 3, "method": "session.create", "params": {"program": "cat"}});
    let refused = wire.exchange(&create);
    assert!(
        refused.contains("Not allowed: session.create is out of the token's scopes"),
        "{refused}"
    );
}

#[test]
fn the_socket_is_for_its_user_and_goes_with_the_server() {
    let mut fixture = Fixture::new();
    let path = path(&fixture);
    assert_eq!(path, fixture.registry().join("sockets/alpha.sock"));
    let mode = |path: &Path| std::fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    let beside = fixture.beside();
    let other = path.with_file_name("bravo.sock");
    assert_eq!(fixture.record(beside.server())["socket"], other.to_str().unwrap());
    fixture.server.take();
    assert!(!path.exists() && other.exists());
    drop(beside);
    assert!(!other.exists());
}

#[test]
fn another_user_is_refused() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: only root can run a program as another user");
        return;
    }
    if !support::has("setpriv", &["--version"]) || !support::has("perl", &["--version"]) {
        return;
    }
    let fixture = Fixture::new();
    let path = path(&fixture);
    // Prints the first line from the server, or the reason why there is no line.
    let script = "use IO::Socket::UNIX; my $it = IO::Socket::UNIX->new(Peer => $ARGV[0]); \
                  print $it ? scalar <$it> : $!;";
    let as_nobody = || {
        let nobody = ["--reuid=65534", "--regid=65534", "--clear-groups"];
        let output = Command::new("setpriv")
            .args(nobody)
            .args(["perl", "-e", script])
            .arg(&path)
            .current_dir("/")
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(as_nobody(), "Permission denied");
    // Even if the modes permit the connection, the server refuses it, because the system reports the user who connects.
    for folder in
        path.ancestors().skip(1).take_while(|folder| folder.starts_with(fixture.home.path()))
    {
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(
        as_nobody(),
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32002,\"message\":\"Not authenticated. Only the user who runs this Unterm may connect to its socket\"}}\n"
    );
    assert!(Wire::to(&path).login(&json!(fixture.token())).contains("ok"));
}

#[test]
fn the_client_takes_the_socket_and_else_the_port() {
    let fixture = Fixture::new();
    let found = client::find_by_name(&fixture.registry(), "alpha").unwrap();
    assert_eq!(found.socket, Some(path(&fixture)));
    let calls = |endpoint: &Endpoint| {
        Client::connect_to(endpoint)
            .map_err(Error::from)
            .and_then(|client| client.call_by_name("server.info", json!({})))
    };
    // No process listens on port 1.
    calls(&Endpoint { port: 1, ..found.clone() }).unwrap();
    let gone = fixture.home.path().join("gone.sock");
    calls(&Endpoint { socket: Some(gone.clone()), ..found.clone() }).unwrap();
    assert!(matches!(
        calls(&Endpoint { port: 1, socket: Some(gone), ..found.clone() }),
        Err(Error::Remote(ClientError::Io(_)))
    ));
    let wrong = calls(&Endpoint { token: "wrong".to_owned(), ..found }).unwrap_err();
    assert_eq!(wrong.to_string(), "MCP auth.login failed [-32001]: Invalid auth token");
}

#[test]
fn a_home_too_deep_for_a_socket_has_none() {
    let fixture = Fixture::new();
    let home = fixture.home.path().join("x".repeat(100));
    let options = ServerOptions {
        mux: fixture.mux.clone(),
        host: std::sync::Arc::new(Headless),
        home: home.clone(),
        approval: Approval::Allow,
        login: LoginLimits::default(),
    };
    let server = Server::start(options).unwrap();
    assert!(server.registry_fault().is_none());
    let endpoint = client::find_by_name(&home, "alpha").unwrap();
    assert_eq!(endpoint.socket, None);
    Client::connect_to(&endpoint).unwrap();
    let left = std::fs::read_dir(home.join("instances")).unwrap().count();
    assert_eq!(left, 1, "the entry alone");
}
