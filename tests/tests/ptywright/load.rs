//! Serves a hundred sessions and fifty connections at the same time, and checks that they leave nothing behind.

use std::{collections::HashSet, fs};

use anyhow::{Result, ensure};
use serde_json::json;
use unterm_tests::{Resources, wait_for};

use crate::ptywright::{
    client::{Client, Framing, PtywrightServer},
    plugins::{probe, started},
    waits::begin_and_type,
};

const CONNECTIONS: usize = 50;
const SESSIONS: usize = 100;

/// The names of a process's threads, each with the number of threads of that name.
fn threads(pid: u32) -> Result<Vec<(String, usize)>> {
    let mut names = Vec::new();
    for task in fs::read_dir(format!("/proc/{pid}/task"))? {
        // A thread may have ended after it was listed.
        if let Ok(name) = fs::read_to_string(task?.path().join("comm")) {
            names.push(name.trim_end().to_owned());
        }
    }
    names.sort();
    Ok(names.chunk_by(|a, b| a == b).map(|same| (same[0].clone(), same.len())).collect())
}

/// Begins two sessions, and waits in each for text that another connection makes it print. Requests of one connection
/// are answered one after the other. Returns the ids of the sessions and of the waiting requests.
fn begin(client: &mut Client) -> Result<(Vec<String>, Vec<u64>)> {
    let mut sessions = Vec::new();
    for _ in 0..SESSIONS / CONNECTIONS {
        let script = "stty -echo; printf ready; read -r line; echo got \"$line\"; exec cat";
        let session = client.script(script)?;
        client.wait_text(&session, "ready")?;
        sessions.push(session);
    }
    let waits = sessions.iter().map(|session| {
        let shown = json!({"type": "screen_regex", "value": format!("got for {session}$")});
        let wait = json!({"session": session, "matcher": shown, "timeout_ms": 60_000});
        client.begin("session.wait", wait)
    });
    let waits = waits.collect::<Result<_>>()?;
    Ok((sessions, waits))
}

#[test]
fn many_sessions_and_connections_leave_no_resources_behind() -> Result<()> {
    let probe = probe()?;
    let manifest = probe.manifest().display().to_string();
    let served = PtywrightServer::socket_with(Framing::Ndjson, &["--plugin", &manifest])?;
    let pid = served.process.id();
    let mut control = served.connect()?;
    // Use everything once that the server loads only once, before counting its resources.
    let session = control.script("printf ready; exec cat")?;
    control.wait_text(&session, "ready")?;
    control.call("session.close", json!({"session": session}))?;
    let none = |served: &PtywrightServer| Ok(served.programs()?.is_empty().then_some(()));
    wait_for("the first program's end", || none(&served), String::new)?;
    let before = Resources::of(pid)?;

    let mut sessions = Vec::new();
    let mut connections = Vec::new();
    for _ in 0..CONNECTIONS {
        let mut client = served.connect()?;
        let (begun, waits) = begin(&mut client)?;
        sessions.extend(begun);
        connections.push((client, waits));
    }
    for session in &sessions {
        let line = format!("for {session}\n");
        control.act(session, json!({"type": "text", "value": line}))?;
    }
    for (client, waits) in &mut connections {
        for wait in waits {
            let reply = client.end(*wait)?;
            ensure!(reply["result"]["matched"] == true, "{reply}");
        }
    }
    let listed = control.call("session.list", json!({}))?["sessions"].take();
    let listed: HashSet<String> = serde_json::from_value(listed)?;
    assert_eq!(listed, sessions.iter().cloned().collect::<HashSet<_>>());
    assert_eq!(served.programs()?.len(), SESSIONS);
    drop(connections);
    // Half of the sessions are closed after their programs have ended, the other half while their programs run.
    for (index, session) in sessions.iter().enumerate() {
        if index % 2 == 0 {
            control.act(session, json!({"type": "eof"}))?;
            control.wait(session, json!({"type": "process_exited"}))?;
        }
        control.call("session.close", json!({"session": session}))?;
    }

    // A client that is killed in the middle of a turn.
    let mut killed = served.connect()?;
    let adapter = started(&mut killed)?;
    begin_and_type(&mut killed, &mut control, &adapter, "text")?;
    drop(killed);
    control.call("adapter.close", json!({"adapter": adapter}))?;

    assert_eq!(control.call("session.list", json!({}))?, json!({"sessions": []}));
    assert_eq!(control.call("adapter.live", json!({}))?, json!({"adapters": []}));
    wait_for("the programs' end", || none(&served), String::new)?;
    wait_for(
        "the end of threads and descriptors",
        || {
            let now = Resources::of(pid)?;
            let is_back = now.threads <= before.threads && now.descriptors <= before.descriptors;
            Ok(is_back.then_some(()))
        },
        || format!("before: {before:?}, now: {:?}, {:?}", Resources::of(pid), threads(pid)),
    )?;
    Ok(())
}
