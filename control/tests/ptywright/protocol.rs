//! Tests of the ptywright protocol with panes of an instance: plugins that watch the panes, the codes of the instance's
//! errors, and secrets that arrive in pieces.

use std::{collections::VecDeque, sync::Arc};

use crate::support::{Fixture, PATIENCE, block};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, duplex, split},
    runtime::Runtime,
    time::timeout,
};
use unterm_control::{
    Caller,
    backend::Backend,
    client::{self, Remote},
    ptywright::{FramingKind, Plugins, Server},
};

/// A client of a server in this process.
struct Client {
    runtime: Runtime,
    input: tokio::io::WriteHalf<DuplexStream>,
    output: Lines<BufReader<tokio::io::ReadHalf<DuplexStream>>>,
    id: u64,
    notes: VecDeque<Value>,
}

impl Client {
    /// Creates a client whose server uses the panes of an instance, like a server with `--instance`.
    fn new(fixture: &Fixture) -> Self {
        let endpoint = client::find(&fixture.registry()).remove(0);
        Self::of(Arc::new(Remote::new(endpoint, Some("ptywright"))))
    }

    /// Creates a client of a server whose panes are in the server's process.
    fn alone(fixture: &Fixture) -> Self {
        Self::of(fixture.server().backend())
    }

    fn of(backend: Arc<dyn Backend>) -> Self {
        let runtime = Runtime::new().unwrap();
        let plugins = Plugins::load(&[], false).unwrap();
        let caller = Caller::of_user(Some("ptywright"));
        let server = Server::new(backend, caller, FramingKind::Ndjson, plugins);
        let (here, there) = duplex(1 << 20);
        runtime.spawn(async move {
            let (reader, writer) = split(there);
            server.serve(reader, writer).await;
        });
        let (output, input) = split(here);
        let output = BufReader::new(output).lines();
        Self { runtime, input, output, id: 0, notes: VecDeque::new() }
    }

    fn receive(&mut self) -> Value {
        let output = &mut self.output;
        let line = self.runtime.block_on(async { timeout(PATIENCE, output.next_line()).await });
        serde_json::from_str(&line.unwrap().unwrap().unwrap()).unwrap()
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.id += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params});
        let line = format!("{request}\n");
        self.runtime.block_on(self.input.write_all(line.as_bytes())).unwrap();
        loop {
            let message = self.receive();
            if message.get("method").is_none() {
                assert_eq!(message["id"], self.id, "{message}");
                return message;
            }
            self.notes.push_back(message);
        }
    }

    fn call(&mut self, method: &str, params: Value) -> Value {
        let mut reply = self.request(method, params);
        assert!(reply.get("error").is_none(), "{method}: {reply}");
        reply["result"].take()
    }

    /// The error code of a request that must fail.
    fn code(&mut self, method: &str, params: Value) -> i64 {
        let reply = self.request(method, params);
        reply["error"]["code"].as_i64().unwrap_or_else(|| panic!("{method}: {reply}"))
    }

    fn session(&mut self, script: &str) -> String {
        let created = json!({"program": "/bin/sh", "args": ["-c", script]});
        self.call("session.create", created)["session"].as_str().unwrap().to_owned()
    }

    fn type_text(&mut self, session: &str, text: &str) {
        let action = json!({"type": "text", "value": text});
        self.call("session.input", json!({"session": session, "action": action}));
    }

    /// Waits until the session's output contains a text.
    fn wait(&mut self, session: &str, text: &str) {
        let matcher = json!({"type": "transcript_contains", "value": text});
        self.call("session.wait", json!({"session": session, "matcher": matcher}));
    }

    /// The output in the notifications, up to a notification whose output ends with a text.
    fn output_to(&mut self, end: &str) -> String {
        let mut output = String::new();
        while !output.ends_with(end) {
            let note = self.notes.pop_front().unwrap_or_else(|| self.receive());
            if note["method"] == "session.output" {
                output.push_str(note["params"]["output"].as_str().unwrap());
            }
        }
        output
    }
}

#[test]
fn panes_of_an_instance_are_watched_without_a_session() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let pane = fixture.program(&mut wire, "cat", &[]).id;
    let mut client = Client::new(&fixture);
    let methods = client.call("server.capabilities", json!({}))["methods"].take();
    for method in ["adapter.attach", "adapter.detach", "adapter.states"] {
        assert!(methods.as_array().unwrap().contains(&json!(method)), "{methods}");
    }
    let attached = client.call("adapter.attach", json!({"pane": pane, "plugin": "shell"}));
    assert_eq!((&attached["pane"], &attached["plugin"]), (&json!(pane), &json!("shell")));
    assert_eq!(attached["state"]["source"], "screen", "{attached}");
    assert!(attached["state"]["since"].is_string() && attached["state"]["sequence"].is_u64());
    // Every client of the instance receives the same state.
    let states = client.call("adapter.states", json!({}))["states"].take();
    assert_eq!(
        states[0]["state"]["state"],
        wire.call("adapter.states", json!({}))["states"][0]["state"]
    );
    assert_eq!(client.call("session.list", json!({})), json!({"sessions": []}));
    assert_eq!(client.call("adapter.live", json!({})), json!({"adapters": []}));
    for wrong in [
        json!({"pane": 9999}),
        json!({"pane": pane, "plugin": "vim"}),
        json!({"pane": pane}),
        json!({"pane": "x"}),
        json!({"pane": pane, "intent": "x"}),
    ] {
        assert_eq!(client.code("adapter.attach", wrong.clone()), -32602, "{wrong}");
    }
    assert_eq!(client.call("adapter.detach", json!({"pane": pane})), json!({"detached": true}));
    assert_eq!(client.call("adapter.detach", json!({"pane": pane})), json!({"detached": false}));
    assert_eq!(client.call("adapter.states", json!({})), json!({"states": []}));
}

#[test]
fn refusals_have_the_same_codes_in_an_instance_and_alone() {
    for start in [Client::alone, Client::new] {
        let fixture = Fixture::new();
        let mut wire = fixture.login();
        let mut client = start(&fixture);
        let session = client.session("stty -echo; exec cat");
        let pane = wire.call("session.list", json!({}))["sessions"][0]["id"].clone();
        let input =
            |value: &str| json!({"session": session, "action": {"type": "text", "value": value}});
        block(&mut wire, json!(["forbidden"]));
        assert_eq!(client.code("session.input", input("forbidden\n")), -32004);
        wire.call("session.lease", json!({"id": pane}));
        assert_eq!(client.code("session.input", input("x")), -32004);
        wire.call("session.release", json!({"id": pane}));
        let resize = |rows: u64, cols: u64| json!({"session": session, "rows": rows, "cols": cols});
        assert_eq!(client.code("session.resize", resize(0, 80)), -32602);
        assert_eq!(client.code("session.resize", resize(60_000, 60_000)), -32602);
        assert_eq!(client.code("session.create", json!({"program": "/no/such"})), -32602);
        wire.call("session.destroy", json!({"id": pane}));
        assert_eq!(client.code("session.snapshot", json!({"session": session})), -32002);
    }
}

#[test]
fn a_secret_that_arrives_in_pieces_is_hidden() {
    let fixture = Fixture::new();
    let mut client = Client::alone(&fixture);
    let session =
        client.session(r#"stty -echo; printf go; while read -r line; do printf %s "$line"; done"#);
    client.wait(&session, "go");
    client.call("server.set_notifications", json!({"enabled": true}));
    client.type_text(&session, "password=hun\n");
    assert_eq!(client.output_to("]"), "password=[REDACTED]");
    client.type_text(&session, "ter2;end\n");
    assert_eq!(client.output_to("end"), ";end");
    client.type_text(&session, ";sk-abcdefgh\n");
    client.wait(&session, "sk-abcdefgh");
    client.type_text(&session, "ijklmnop;end\n");
    assert_eq!(client.output_to("end"), ";[REDACTED];end");
    // Delayed text is sent when it is certain that it is not a secret.
    client.type_text(&session, ";sk-short\n");
    client.wait(&session, "sk-short");
    client.type_text(&session, ";end\n");
    assert_eq!(client.output_to("end"), ";sk-short;end");
}
