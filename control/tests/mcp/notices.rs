//! Tests of notifications of the end of calls that continue after their requests, for clients that support them.

use serde_json::{Value, json};

use crate::support::{Fixture, client::Client};

/// Begins a command that waits for a line. Returns its pane and its handle.
fn begin(client: &mut Client, fixture: &Fixture, meta: Value) -> (u64, String) {
    let pane = client.shell(fixture);
    let arguments = json!({"pane": pane, "command": "read line; (exit 7)", "timeout_ms": 1});
    let run = json!({"name": "run", "arguments": arguments, "_meta": meta});
    let ran = client.request("tools/call", run)["result"]["structuredContent"].take();
    assert_eq!(ran["ended"], false, "{ran}");
    (pane, ran["handle"].as_str().unwrap().to_owned())
}

#[test]
fn the_end_of_a_call_updates_its_resource_and_progress() {
    let fixture = Fixture::new();
    for is_new in [false, true] {
        let mut client = if is_new { Client::new(&fixture) } else { Client::old(&fixture) };
        let (pane, handle) = begin(&mut client, &fixture, json!({"progressToken": "token"}));
        let uri = format!("unterm://job/{handle}");
        let read = |client: &mut Client| {
            let read = client.request("resources/read", json!({"uri": uri}));
            let text = read["result"]["contents"][0]["text"].as_str();
            text.map(|text| serde_json::from_str::<Value>(text).unwrap())
        };
        let mut state =
            json!({"handle": handle, "pane": pane, "ended": false, "result_by": "wait"});
        assert_eq!(read(&mut client).unwrap(), state);
        let listed = client.request("resources/list", json!({}))["result"]["resources"].take();
        assert!(listed.as_array().unwrap().iter().any(|it| it["uri"] == uri), "{listed}");
        // Only the client that made a call can see the call and its end.
        let mut stranger = Client::old(&fixture);
        assert_eq!(read(&mut stranger), None);

        if is_new {
            let wanted = json!({"resourceSubscriptions": [uri]});
            client.begin("subscriptions/listen", json!({"notifications": wanted}));
            client.note("notifications/subscriptions/acknowledged");
        } else {
            client.request("resources/subscribe", json!({"uri": uri}));
        }
        client.notes.clear();
        client.call("input", json!({"pane": pane, "text": "x\n"}));
        assert_eq!(client.note("notifications/resources/updated")["params"]["uri"], uri);
        let progress = client.note("notifications/progress")["params"].take();
        assert_eq!(progress["progressToken"], "token", "{progress}");
        let message =
            format!("{handle} is over in pane {pane}: exit code 7. wait gives its result");
        assert_eq!(progress["message"], message);
        state["ended"] = true.into();
        state["outcome"] = "exit code 7".into();
        assert_eq!(read(&mut client).unwrap(), state);
        let ended = client.call("wait", json!({"handle": handle}));
        assert_eq!(ended["run"]["exit_code"], 7, "{ended}");
        assert_eq!(read(&mut client), None, "its result was returned");
    }
}

#[test]
fn a_client_that_waits_gets_the_result_and_no_notice() {
    let fixture = Fixture::new();
    let mut client = Client::old(&fixture);
    let (pane, handle) = begin(&mut client, &fixture, json!({"progressToken": "token"}));
    let wait = json!({"name": "wait", "arguments": {"handle": handle}});
    let wait = client.begin("tools/call", wait);
    // The server has received the wait before it replies to this request.
    client.call("status", json!({}));
    fixture.login().call("session.input", json!({"id": pane, "input": "x\r"}));
    let waited = client.end(wait)["result"]["structuredContent"].take();
    assert_eq!(waited["run"]["exit_code"], 7, "{waited}");
    // The messages that the server sent before the reply to another request have arrived.
    client.call("status", json!({}));
    let is_end =
        |note: &Value| note["params"]["message"].as_str().is_some_and(|it| it.contains("is over"));
    assert!(!client.notes.iter().any(is_end), "{:?}", client.notes);
}

#[test]
fn a_subscription_to_an_ended_job_is_notified_at_once() {
    let fixture = Fixture::new();
    let mut client = Client::old(&fixture);
    let (pane, handle) = begin(&mut client, &fixture, json!({}));
    client
        .call("input", json!({"pane": pane, "text": "x\n", "wait_any": [{"command_done": true}]}));
    for handle in [&*handle, "run-999"] {
        let uri = format!("unterm://job/{handle}");
        client.request("resources/subscribe", json!({"uri": uri}));
        assert_eq!(client.note("notifications/resources/updated")["params"]["uri"], uri);
    }
}
