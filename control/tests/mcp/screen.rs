//! Tests of reading a pane: parts of it, the amount of text, and redaction.

use serde_json::{Value, json};

use crate::support::{Fixture, client::Client};

#[test]
fn invisible_characters_are_escaped_and_secrets_masked() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    client.shell(&fixture);
    let command = "printf 'a\\u202eb\\u200bc\\n'";
    let ran = client.call("run", json!({"command": command}));
    assert_eq!(ran["output"], "a\\u{202e}b\\u{200b}c", "{ran}");
    let raw = client.call("run", json!({"command": command, "raw": true}));
    assert_eq!(raw["output"], "a\u{202e}b\u{200b}c", "{raw}");
    client.call("run", json!({"command": "printf 'api_%s: %s\\n' key hunter2"}));
    let read = client.call("transcript", json!({}));
    assert!(read["text"].as_str().unwrap().contains("key: <redacted>"), "{read}");
    let read = client.call("transcript", json!({"secrets": true}));
    assert!(read["text"].as_str().unwrap().contains("api_key: hunter2"), "{read}");
}

#[test]
fn a_part_of_a_screen_is_read_with_or_without_secrets() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    let rules = json!({"redaction": {"custom_patterns": ["hunter[0-9]"]}});
    std::fs::create_dir_all(fixture.registry()).unwrap();
    std::fs::write(fixture.registry().join("recording.json"), rules.to_string()).unwrap();
    let script = "printf 'one two hunter2 漢字\\npass\\033[1mword: s3cret\\033[m end\\n'; cat";
    client.call("pane_open", json!({"command": ["sh", "-c", script], "cols": 40, "rows": 5}));
    client.until(json!({"any": [{"regex": "end$"}]}));
    let mut text = |more: Value| client.call("screen", more)["text"].clone();
    assert_eq!(text(json!({})), "one two hunter2 漢字\npassword: s3cret end");
    assert_eq!(text(json!({"first_col": 4, "col_count": 3})), "two\nwor");
    assert_eq!(text(json!({"first_col": 16, "col_count": 2, "row_count": 1})), "漢");
    assert_eq!(text(json!({"first_col": 10, "first_row": 1})), "s3cret end");
    let covered = "one two ******* 漢字\npassword: ****** end";
    assert_eq!(text(json!({"redact": true})), covered);
    assert_eq!(text(json!({"redact": true, "first_col": 9, "col_count": 3})), "***\n **");
    let part =
        json!({"format": "cells", "redact": true, "first_row": 1, "first_col": 2, "col_count": 11});
    let seen = client.call("screen", part);
    let runs = json!([{"col": 2, "text": "ss"}, {"col": 4, "text": "word: ***", "look": 0}]);
    assert_eq!(seen["cells"], json!([{"row": 1, "runs": runs}]));
    assert_eq!(seen["looks"], json!([{"attributes": ["bold"]}]));
    assert_eq!(seen["redacted"], 2, "{seen}");
    let diff = client.call("screen", json!({"format": "diff", "redact": true})).to_string();
    assert!(diff.contains("two ******* 漢字") && !diff.contains("s3cret"), "{diff}");
    let refused = client.fail("screen", json!({"format": "png", "redact": true}));
    assert!(refused.contains("can't be redacted"), "{refused}");
    // The user's own redaction patterns also apply to text that has scrolled off the screen.
    let read = client.call("transcript", json!({}));
    assert_eq!(read["text"], "one two <redacted> 漢字\npassword: <redacted> end", "{read}");
}

#[test]
fn a_transcript_before_a_future_line_returns_the_last_rows() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    let script = "echo first; echo last; exec cat";
    client.call("pane_open", json!({"command": ["sh", "-c", script], "cols": 40, "rows": 2}));
    client.until(json!({"any": [{"text": "last"}]}));
    let read = client.call("transcript", json!({"before_line": 1_000_000}));
    assert!(read["text"].as_str().unwrap().starts_with("first\nlast"), "{read}");
    assert_eq!(read["more"], false);
}

#[test]
fn no_reply_is_longer_than_clients_take() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    let script = "printf '\\033[31mx\\033[0m %.0s' $(seq 8000); echo all; exec cat";
    let opened =
        client.call("pane_open", json!({"command": ["sh", "-c", script], "cols": 250, "rows": 70}));
    let pane = opened["pane"].clone();
    client.call("wait", json!({"pane": pane, "any": [{"text": "all"}]}));
    let seen = client.tool("screen", json!({"pane": pane, "format": "cells"}));
    assert_eq!(seen["structuredContent"]["complete"], false);
    let mut replies = vec![seen];
    for (tool, arguments) in [
        ("screen", json!({"pane": pane, "format": "diff"})),
        ("search", json!({"pane": pane, "pattern": "x", "max_results": 500})),
    ] {
        replies.push(client.tool(tool, arguments));
    }
    for reply in replies {
        let length = reply["content"][0]["text"].as_str().unwrap().len();
        assert!((10_000..50_000).contains(&length), "{length}");
    }
}

#[test]
fn more_places_than_a_reply_holds_are_counted() {
    let fixture = Fixture::new();
    let mut client = Client::old(&fixture);
    let pane = client.shell(&fixture);
    client.call("run", json!({"pane": pane, "command": "printf 'q%.0s' $(seq 120)"}));
    let found = client.call("find", json!({"pane": pane, "pattern": "q"}));
    assert_eq!(found["places"].as_array().map(Vec::len), Some(100));
    assert!(found["total"].as_u64().unwrap() >= 120, "{}", found["total"]);
}
