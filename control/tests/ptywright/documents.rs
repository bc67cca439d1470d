//! Tests that the descriptions of the ptywright protocol's methods match the methods.

use crate::support::{Fixture, PATIENCE};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    time::timeout,
};
use unterm_control::{
    Caller,
    ptywright::{FramingKind, METHOD_DOCS, MethodDoc, Plugins, Server},
};

/// The parameters that a method accepts, taken from its error for an unknown parameter: "unknown field `x`, expected
/// one of `a`, `b`".
fn accepted(message: &str) -> Vec<&str> {
    let list = message.split_once("expected ").map_or("", |(_, list)| list);
    list.split('`').skip(1).step_by(2).collect()
}

/// The parameters in the description of a method.
fn written(doc: &MethodDoc) -> Vec<&str> {
    doc.params.iter().map(|param| param.name).filter(|name| !name.contains('.')).collect()
}

#[test]
fn every_method_is_described_with_its_parameters() {
    let fixture = Fixture::new();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let plugins = Plugins::load(&[], true).unwrap();
        let caller = Caller::of_user(Some("test"));
        let server = Server::new(fixture.server().backend(), caller, FramingKind::Ndjson, plugins);
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (reader, writer) = tokio::io::split(theirs);
        let serving = async { server.serve(reader, writer).await };
        let asking = async {
            let (reader, mut writer) = tokio::io::split(ours);
            let mut lines = BufReader::new(reader).lines();
            let mut call = async |method: &str, params: Value| -> Value {
                let request =
                    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
                writer.write_all(format!("{request}\n").as_bytes()).await.unwrap();
                let line = timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap().unwrap();
                serde_json::from_str(&line).unwrap()
            };
            let methods = call("server.capabilities", json!({})).await["result"]["methods"].take();
            let names: Vec<_> = METHOD_DOCS.iter().map(|doc| doc.name).collect();
            assert_eq!(methods, json!(names));
            for doc in METHOD_DOCS {
                let reply = call(doc.name, json!({"no_such_parameter": 1})).await;
                let message = reply["error"]["message"].as_str().unwrap();
                assert!(message.contains("no_such_parameter"), "{}: {message}", doc.name);
                let mut accepted = accepted(message);
                // adapter.start uses the same parameter type as adapter.resume, which has one more parameter.
                accepted.retain(|name| doc.name != "adapter.start" || *name != "prior_adapter");
                accepted.sort_unstable();
                let mut written = written(doc);
                written.sort_unstable();
                assert_eq!(accepted, written, "{}", doc.name);
                // A call without parameters fails if a parameter is required.
                let required = doc.params.iter().any(|param| param.is_required);
                let is_allowed = call(doc.name, json!({})).await.get("result").is_some();
                assert_eq!(is_allowed, !required, "{}", doc.name);
            }
        };
        tokio::select! {
            () = serving => panic!("the server has ended"),
            () = asking => {}
        }
        server.close().await;
    });
}
