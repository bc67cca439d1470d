//! Tests of resources, of notifications of their changes, and of prompts.

use serde_json::json;

use crate::support::{Fixture, Wire, client::Client};

#[test]
fn resources_of_screens_and_output_notify_changes() {
    let fixture = Fixture::new();
    for is_new in [false, true] {
        let mut client = if is_new { Client::new(&fixture) } else { Client::old(&fixture) };
        let pane = client.shell(&fixture);
        let ran = client.call("run", json!({"pane": pane, "command": "echo on the screen"}));
        let screen = format!("unterm://pane/{pane}/screen");
        let output = format!("unterm://pane/{pane}/block/{}", ran["block"]);
        let listed = client.request("resources/list", json!({}));
        let listed = listed["result"]["resources"].as_array().unwrap();
        for uri in [&screen, &output] {
            let resource = listed.iter().find(|resource| resource["uri"] == *uri);
            let resource = resource.unwrap_or_else(|| panic!("{listed:?}"));
            assert_eq!(resource["_meta"]["unterm/untrusted"], json!(["title"]));
        }
        let templates = client.request("resources/templates/list", json!({}));
        assert_eq!(templates["result"]["resourceTemplates"].as_array().unwrap().len(), 5);
        let mut read = |uri: &str| client.request("resources/read", json!({"uri": uri}));
        let found = read(&output)["result"]["contents"][0].take();
        assert_eq!(found["text"], "on the screen");
        assert_eq!(found["_meta"]["unterm/untrusted"], json!(["text"]));
        let text = read(&screen)["result"]["contents"][0]["text"].clone();
        assert!(text.as_str().unwrap().contains("\non the screen"), "{text}");
        let missing = if is_new { -32602 } else { -32002 };
        for uri in ["unterm://pane/999/screen", "unterm://recording/none", "file:///etc/passwd"] {
            assert_eq!(read(uri)["error"]["code"], missing, "{uri}");
        }

        if is_new {
            let wanted = json!({"resourceSubscriptions": [screen, "file:///etc/passwd"], "resourcesListChanged": true});
            client.begin("subscriptions/listen", json!({"notifications": wanted}));
            let accepted = client.note("notifications/subscriptions/acknowledged");
            let uris = &accepted["params"]["notifications"]["resourceSubscriptions"];
            assert_eq!(uris, &json!([screen]), "{accepted}");
        } else {
            let told = client.request("resources/subscribe", json!({"uri": screen}));
            assert_eq!(told["result"], json!({}), "{told}");
        }
        // Output is printed again until it triggers a notification.
        let told = client.until_note("notifications/resources/updated", |client| {
            client.call("run", json!({"pane": pane, "command": "echo more"}));
        });
        assert_eq!(told["params"]["uri"], screen, "{told}");
        client.until_note("notifications/resources/list_changed", |client| {
            client.call("pane_open", json!({"command": ["true"]}));
        });
    }
}

#[test]
fn a_recording_is_listed_at_its_start_and_its_end_is_notified() {
    let fixture = Fixture::new();
    let mut user = fixture.login();
    let mut client = Client::old(&fixture);
    let pane = client.shell(&fixture);
    client.request("resources/list", json!({}));
    // The server watches the list after it was requested.
    client.until_note("notifications/resources/list_changed", |client| {
        client.call("pane_open", json!({"command": ["true"]}));
    });
    let begin = |user: &mut Wire, client: &mut Client| {
        let started = user.call("session.recording_start", json!({"id": pane}));
        let uri = format!("unterm://recording/{}", started["session_id"].as_str().unwrap());
        client.note("notifications/resources/list_changed");
        let listed = client.request("resources/list", json!({}));
        let listed = listed["result"]["resources"].as_array().unwrap();
        assert!(listed.iter().any(|resource| resource["uri"] == uri), "{listed:?}");
        let told = client.request("resources/subscribe", json!({"uri": uri}));
        assert_eq!(told["result"], json!({}), "{told}");
        uri
    };
    let text = |client: &mut Client, uri: &str| {
        let read = client.request("resources/read", json!({"uri": uri}));
        read["result"]["contents"][0]["text"].as_str().unwrap().to_owned()
    };
    let uri = begin(&mut user, &mut client);
    assert!(text(&mut client, &uri).contains("It goes on"));
    // A command that has ended does not change, even if other commands print something.
    let ran = client.call("run", json!({"pane": pane, "command": "echo one"}));
    let block = format!("unterm://pane/{pane}/block/{}", ran["block"]);
    client.request("resources/subscribe", json!({"uri": block}));
    assert_eq!(client.note("notifications/resources/updated")["params"]["uri"], block);
    client.call("run", json!({"pane": pane, "command": "echo two"}));
    user.call("session.recording_stop", json!({"id": pane}));
    assert_eq!(client.note("notifications/resources/updated")["params"]["uri"], uri);
    let page = text(&mut client, &uri);
    assert!(page.contains("echo two") && !page.contains("It goes on"), "{page}");
    // This recording ends together with its session.
    client.notes.clear();
    let uri = begin(&mut user, &mut client);
    user.call("session.input", json!({"id": pane, "input": "exit\n"}));
    assert_eq!(client.note("notifications/resources/updated")["params"]["uri"], uri);
    client.note("notifications/resources/list_changed");
    assert!(!text(&mut client, &uri).contains("It goes on"));
}

#[test]
fn common_jobs_have_their_words() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    let listed = client.request("prompts/list", json!({}));
    let names: Vec<_> = listed["result"]["prompts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].clone())
        .collect();
    assert_eq!(names, ["drive_tui", "supervise_agent", "run_tests"]);
    let prompt = json!({"name": "run_tests", "arguments": {"command": "make check"}});
    let words = client.request("prompts/get", prompt);
    let text = words["result"]["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("run `make check` with run"), "{text}");
    let missing = client.request("prompts/get", json!({"name": "run_tests"}));
    assert_eq!(missing["error"]["code"], -32602, "{missing}");
}
