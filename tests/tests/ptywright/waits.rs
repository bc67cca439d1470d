//! Waits for adapters: two connections during a turn, cancellation, clients that are killed, the matcher `lua`, and
//! notifications.

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use unterm_tests::wait_for;

use crate::ptywright::{
    client::{Client, Framing, PtywrightServer, error},
    plugins::{PluginFolder, probe, started},
};

/// A server on a socket with the plugin `probe`, and a client with an adapter.
fn served(probe: &PluginFolder) -> Result<(PtywrightServer, Client, String)> {
    let path = probe.manifest();
    let path = path.display().to_string();
    let served = PtywrightServer::socket_with(Framing::Ndjson, &["--plugin", &path])?;
    let mut client = served.connect()?;
    let adapter = started(&mut client)?;
    Ok((served, client, adapter))
}

/// Begins a turn that never ends by itself. Returns the id of its request.
fn begin(one: &mut Client, adapter: &str, text: &str) -> Result<u64> {
    let send = json!({"intent": "say", "params": {"text": text}});
    let wait = json!({"intent": "never_matcher", "wait_id": "w", "timeout_ms": 600_000});
    one.begin("adapter.turn", json!({"adapter": adapter, "send": send, "wait": wait}))
}

/// Begins a turn that never ends by itself, and waits until its text was typed into the only adapter. Client `one` is
/// busy with the turn, so client `two` checks the text.
pub fn begin_and_type(
    one: &mut Client,
    two: &mut Client,
    adapter: &str,
    text: &str,
) -> Result<u64> {
    let sequence = |live: &Value| live["adapters"][0]["sequence"].as_u64();
    let before = sequence(&two.call("adapter.live", json!({}))?);
    let turn = begin(one, adapter, text)?;
    wait_for(
        "the turn's text",
        || {
            let now = sequence(&two.call("adapter.live", json!({}))?);
            Ok((now > before).then_some(()))
        },
        String::new,
    )?;
    Ok(turn)
}

#[test]
fn a_turn_blocks_others_until_it_is_canceled() -> Result<()> {
    let probe = probe()?;
    let (served, mut one, adapter) = served(&probe)?;
    let (mut two, mut three) = (served.connect()?, served.connect()?);
    let none = json!({"cancelled": false, "wait_id": "w"});
    assert_eq!(two.call("adapter.cancel_wait", json!({"wait_id": "w"}))?, none);
    let turn = begin_and_type(&mut one, &mut two, &adapter, "first")?;
    let (code, said) = two.fail("adapter.wait", json!({"adapter": adapter, "wait_id": "w"}))?;
    ensure!(code == -32602 && said.contains("wait_id"), "{code} {said}");
    let send = json!({"adapter": adapter, "intent": "say", "params": {"text": "second"}});
    let sent = three.begin("adapter.send", send)?;
    let cancelled = two.call("adapter.cancel_wait", json!({"wait_id": "w"}))?;
    assert_eq!(cancelled, json!({"cancelled": true, "adapter": adapter, "wait_id": "w"}));
    assert_eq!(error(&one.end(turn)?)?.0, -32005);
    ensure!(three.end(sent)?.get("result").is_some());
    assert_eq!(two.call("adapter.cancel_wait", json!({"wait_id": "w"}))?, none);
    // Check that the second text was typed after the first.
    let wait = json!({"adapter": adapter, "params": {"after": "second"}});
    two.call("adapter.wait", wait)?;
    let text = two.call("adapter.transcript", json!({"adapter": adapter}))?;
    let text = text["text"].as_str().unwrap_or_default();
    ensure!(text.find("first") < text.find("second") && text.contains("first"), "{text}");
    Ok(())
}

#[test]
fn others_can_type_during_a_wait() -> Result<()> {
    let probe = probe()?;
    let (served, mut one, adapter) = served(&probe)?;
    let mut two = served.connect()?;
    let wait = json!({"adapter": adapter, "params": {"after": "typed by another"}, "wait_id": "w"});
    let waiting = one.begin("adapter.wait", wait)?;
    let params = json!({"text": "typed by another"});
    two.call("adapter.send", json!({"adapter": adapter, "intent": "say", "params": params}))?;
    let waited = one.end(waiting)?;
    assert_eq!(waited["result"]["wait_id"], "w", "{waited}");
    Ok(())
}

#[test]
fn a_killed_client_leaves_neither_lock_nor_id() -> Result<()> {
    let probe = probe()?;
    let (served, mut one, adapter) = served(&probe)?;
    let mut two = served.connect()?;
    begin_and_type(&mut one, &mut two, &adapter, "text")?;
    drop(one);
    // The adapter stays open, as `adapter.live` promises, and other clients can use it immediately.
    let wait = json!({"adapter": adapter, "params": {"after": "text"}});
    two.call("adapter.wait", wait)?;
    let none = json!({"cancelled": false, "wait_id": "w"});
    assert_eq!(two.call("adapter.cancel_wait", json!({"wait_id": "w"}))?, none);
    assert_eq!(two.call("adapter.close", json!({"adapter": adapter}))?, json!({"closed": true}));
    wait_for("the program's end", || Ok(served.programs()?.is_empty().then_some(())), String::new)?;
    Ok(())
}

#[test]
fn a_server_whose_client_is_gone_leaves_no_process() -> Result<()> {
    let probe = probe()?;
    let (mut served, mut client) = probe.serve(&[])?;
    let adapter = started(&mut client)?;
    let programs = served.programs()?;
    ensure!(programs.len() == 1, "{programs:?}");
    begin(&mut client, &adapter, "text")?;
    drop(client);
    wait_for("the server's end", || Ok(served.process.try_wait()?), String::new)?;
    let program = std::path::Path::new("/proc").join(&programs[0]);
    wait_for("the program's end", || Ok((!program.exists()).then_some(())), String::new)?;
    Ok(())
}

#[test]
fn sessions_can_be_waited_for_with_predicates() -> Result<()> {
    let probe = probe()?;
    let (_served, mut client) = probe.serve(&[])?;
    let session = client.script("printf shown; exec cat")?;
    let lua = |predicate: &str, params: Value| json!({"type": "lua", "value": {"plugin": "probe", "predicate": predicate, "params": params}});
    let evidence = client.wait(&session, lua("answered", json!({"after": "shown"})))?;
    assert_eq!(evidence["matched"], true);
    let never = json!({"session": session, "matcher": lua("answered", json!({"after": "never"})), "timeout_ms": 300});
    assert_eq!(client.fail("session.wait", never.clone())?.0, -32001);
    for (predicate, code) in [("failing", -32603), ("nope", -32602)] {
        let wait = json!({"session": session, "matcher": lua(predicate, json!({}))});
        let (found, said) = client.fail("session.wait", wait)?;
        ensure!(found == code && said.contains(predicate), "{found} {said}");
    }
    // A predicate that never ends is stopped at the end of the wait, or earlier by its own limits.
    let endless = lua("endless", json!({}));
    let wait = json!({"session": session, "matcher": endless, "timeout_ms": 1});
    let (code, said) = client.fail("session.wait", wait)?;
    ensure!(code == -32001 || (code == -32603 && said.contains("exceeded")), "{code} {said}");
    Ok(())
}

#[test]
fn notifications_can_be_limited_to_an_adapter() -> Result<()> {
    let probe = probe()?;
    let (_served, mut client) = probe.serve(&[])?;
    let asked = json!({"enabled": true, "adapters": ["e1"], "sessions": []});
    assert_eq!(client.call("server.set_notifications", asked.clone())?, asked);
    let other = client.script("printf other; exec cat")?;
    client.wait_text(&other, "other")?;
    let adapter = started(&mut client)?;
    client.call("adapter.close", json!({"adapter": adapter}))?;
    let mut methods = Vec::new();
    while methods.last() != Some(&json!("session.exited")) {
        let note = client.note()?;
        assert_eq!(note["params"]["session"], "s2", "{note}");
        methods.push(note["method"].clone());
    }
    ensure!(methods.contains(&json!("session.output")), "{methods:?}");
    Ok(())
}
