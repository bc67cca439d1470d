//! Tests that `run`, `input` and `wait` return only the rows that are new for the client, or the whole screen if it is
//! requested.

use serde_json::{Value, json};

use crate::support::{Fixture, client::Client};

/// A program that prints a prompt, and then its input in capitals.
const ECHOES: &str =
    "stty -echo; printf 'one\\ntwo\\n> '; while read -r A; do echo \"${A^^}\"; printf '> '; done";

/// A pane of 40 by 10 cells with a bash script, once it shows a text.
fn pane(client: &mut Client, script: &str, text: &str) -> Value {
    let open = json!({"command": ["bash", "-c", script], "cols": 40, "rows": 10});
    let pane = client.call("pane_open", open)["pane"].take();
    client.until(json!({"pane": pane, "any": [{"text": text}]}));
    pane
}

/// Types a line and waits for a text. Returns the reply.
fn typed(client: &mut Client, pane: &Value, line: &str, text: &str) -> Value {
    let input = json!({"pane": pane, "text": format!("{line}\n"), "wait_any": [{"text": text}], "timeout_ms": 50_000});
    client.call("input", input)
}

#[test]
fn input_returns_the_rows_that_changed_since_the_last_look() {
    let fixture = Fixture::new();
    let mut client = Client::old(&fixture);
    let pane = pane(&mut client, ECHOES, "> ");
    let reply = typed(&mut client, &pane, "first", "FIRST");
    assert_eq!(reply["changed"], "2: > FIRST\n3: >", "{reply}");
    assert_eq!(reply["cursor"], json!({"row": 3, "col": 2}), "{reply}");
    assert_eq!((reply.get("screen"), reply.get("scrolled")), (None, None), "{reply}");
    // Fields with their default are left out.
    for (field, default) in [("sent", true), ("awaiting_input", false), ("awaiting_secret", false)]
    {
        assert_ne!(reply.get(field), Some(&json!(default)), "{reply}");
    }
    // With `show: false`, no rows are returned, so they remain new.
    let hidden =
        json!({"pane": pane, "text": "second\n", "wait_any": [{"text": "SECOND"}], "show": false});
    assert_eq!(client.call("input", hidden).get("changed"), None);
    let reply = typed(&mut client, &pane, "third", "THIRD");
    assert_eq!(reply["changed"], "3: > SECOND\n4: > THIRD\n5: >", "{reply}");
    // A wait for text that is already visible changes nothing.
    let waited = client.call("wait", json!({"pane": pane, "any": [{"text": "THIRD"}]}));
    assert_eq!(waited["changed"], "", "{waited}");
    let whole = json!({"pane": pane, "any": [{"text": "THIRD"}], "whole": true});
    let whole = client.call("wait", whole);
    assert_eq!(whole["screen"], "one\ntwo\n> FIRST\n> SECOND\n> THIRD\n>", "{whole}");
    assert_eq!(whole.get("changed"), None);
}

#[test]
fn rows_that_moved_up_are_not_new() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    let pane = pane(&mut client, ECHOES, "> ");
    for line in ["a", "b", "c", "d", "e", "f", "g"] {
        typed(&mut client, &pane, line, &line.to_uppercase());
    }
    let reply = typed(&mut client, &pane, "last", "LAST");
    assert_eq!(reply["changed"], "8: > LAST\n9: >", "{reply}");
    assert_eq!(reply["scrolled"], 1, "{reply}");
    // If no row that the client has seen is left, the whole screen is returned.
    let text = (0..30).map(|n| format!("x{n}\n")).collect::<String>();
    let input =
        json!({"pane": pane, "text": text, "wait_any": [{"text": "X29"}], "timeout_ms": 50_000});
    let reply = client.call("input", input);
    assert!(reply["screen"].as_str().unwrap().ends_with("> X29\n>"), "{reply}");
}

#[test]
fn another_screen_or_size_is_shown_whole() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    let script = "stty -echo -icanon; echo main; read -r A; printf '\\033[?1049h\\033[Hother'; read -r A; printf '\\033[?1049l'; exec cat";
    let pane = pane(&mut client, script, "main");
    let other = typed(&mut client, &pane, "", "other");
    assert_eq!(other["screen"], "other", "{other}");
    let back = json!({"pane": pane, "text": "\n", "wait_any": [{"stable_ms": 300}]});
    let back = client.call("input", back);
    assert_eq!(back["screen"], "main", "{back}");
    client.call("pane_resize", json!({"pane": pane, "cols": 30, "rows": 8}));
    let resized = client.call("wait", json!({"pane": pane, "any": [{"text": "main"}]}));
    assert_eq!(resized["screen"], "main", "{resized}");
}

#[test]
fn a_running_command_shows_what_is_new_since_it_began() {
    let fixture = Fixture::new();
    let mut client = Client::old(&fixture);
    client.shell(&fixture);
    client.call("run", json!({"command": "echo the output of the run before"}));
    let asked = client.call("run", json!({"command": "read -r -p 'Go on? ' A; echo $A"}));
    let changed = asked["changed"].as_str().unwrap_or_else(|| panic!("{asked}"));
    assert!(changed.contains("Go on?") && !changed.contains("before"), "{asked}");
    client.call("input", json!({"text": "yes\n"}));
    let ended = client.call("wait", json!({"handle": asked["handle"]}));
    assert_eq!(ended["run"]["ended"], true, "{ended}");
    let asked = client.call("run", json!({"command": "read -r -p 'Again? ' A", "whole": true}));
    assert!(asked["screen"].as_str().unwrap().contains("before"), "{asked}");
}

#[test]
fn rows_that_one_client_saw_are_new_to_another() {
    let fixture = Fixture::new();
    let (mut one, mut two) = (Client::old(&fixture), Client::old(&fixture));
    let pane = pane(&mut one, ECHOES, "> ");
    typed(&mut one, &pane, "first", "FIRST");
    // The second client has never seen the pane, so only the changes since its call are new.
    let reply = typed(&mut two, &pane, "second", "SECOND");
    assert_eq!(reply["changed"], "3: > SECOND\n4: >", "{reply}");
    let reply = typed(&mut one, &pane, "third", "THIRD");
    assert_eq!(reply["changed"], "3: > SECOND\n4: > THIRD\n5: >", "{reply}");
    let reply = typed(&mut two, &pane, "fourth", "FOURTH");
    assert_eq!(reply["changed"], "4: > THIRD\n5: > FOURTH\n6: >", "{reply}");
}

#[test]
fn a_diff_without_an_earlier_reply_is_no_more_than_the_screen() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    let pane = pane(&mut client, "seq 1000; exec cat", "1000");
    let rows = |diff: Value| -> Vec<String> {
        let rows = diff["changes"].as_array().unwrap().iter();
        rows.map(|row| row["text"].as_str().unwrap().to_owned()).collect()
    };
    for since in [json!(null), json!(0)] {
        let first = json!({"pane": pane, "format": "diff", "since_seq": since});
        let first = rows(client.call("screen", first));
        assert_eq!(first.len(), 9, "{first:?}");
        assert_eq!((first[0].as_str(), first[8].as_str()), ("992", "1000"));
    }
}
