//! Tests of passwords, which only the user may type.

use serde_json::{Value, json};
use unterm_mux::PaneId;

use crate::support::{self, Fixture, client::Client};

#[test]
fn a_password_is_the_users_to_type() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    let pane = client.shell(&fixture);
    // The question is printed first: output after `run` has reported it would make the question count as a new one.
    let command = "printf 'Password: '; stty -echo; read -r P; stty echo; echo; echo ${#P}";
    let asked = client.call("run", json!({"command": command}));
    assert_eq!(
        (&asked["ended"], &asked["awaiting_secret"]),
        (&json!(false), &json!(true)),
        "{asked}"
    );
    for input in
        [json!({"text": "guess\n"}), json!({"paste": "guess"}), json!({"keys": ["a", "enter"]})]
    {
        let refused = client.fail("input", input);
        assert!(refused.contains("asks for a secret, which only the user may type"), "{refused}");
    }
    let refused = client.fail("run", json!({"command": "guess"}));
    assert!(refused.contains("asks for a secret"), "{refused}");
    fixture.mux.pane(PaneId(pane)).unwrap().write(b"hunter2\r").unwrap();
    let ended = client.call("wait", json!({"handle": asked["handle"]}));
    assert_eq!(ended["run"]["exit_code"], 0, "{ended}");
    assert!(ended["run"]["output"].as_str().unwrap().ends_with("\n7"), "{ended}");
    assert!(!ended.to_string().contains("hunter2"));
    // Ctrl+C does not count as an answer.
    let seq = client.call("screen", json!({}))["seq"].clone();
    client.call("run", json!({"command": command}));
    let question = json!({"any": [{"regex": "^Password: ?$"}], "since_seq": seq});
    let asked = client.call("wait", question);
    assert_eq!(asked["matched"], true, "{asked}");
    let given_up =
        json!({"keys": ["ctrl+c"], "wait_any": [{"prompt": true}], "timeout_ms": 50_000});
    assert_eq!(client.call("input", given_up)["wait"]["matched"], true);
}

#[test]
fn only_the_user_types_a_password_that_is_read_key_by_key() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    let pane = client.shell(&fixture);
    let command = "stty -icanon -echo; printf '[sudo] password for me: '; read -rn 1 A; \
                   printf '*'; read -r P; stty sane; echo; echo $((1 + ${#P}))";
    let asked = client.call("run", json!({"command": command}));
    assert_eq!(asked["awaiting_secret"], true, "{asked}");
    let refused = client.fail("input", json!({"text": "guess\n"}));
    assert!(refused.contains("asks for a secret, which only the user may type"), "{refused}");
    let user = fixture.mux.pane(PaneId(pane)).unwrap();
    user.write(b"h").unwrap();
    client.until(json!({"any": [{"text": "for me: *"}]}));
    assert_eq!(client.call("screen", json!({}))["awaiting_secret"], true, "it goes on");
    let refused = client.fail("input", json!({"keys": ["a"]}));
    assert!(refused.contains("asks for a secret"), "{refused}");
    user.write(b"unter2\r").unwrap();
    let ended = client.call("wait", json!({"handle": asked["handle"]}));
    assert!(ended["run"]["output"].as_str().unwrap().ends_with("\n7"), "{ended}");
    assert!(!ended.to_string().contains("unter2"));
    assert_eq!(client.call("screen", json!({}))["awaiting_secret"], false);
}

#[test]
fn a_line_that_is_edited_is_no_secret_whatever_it_says() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    for command in [["zsh", "-f"], ["bash", "--norc"]] {
        let [shell, _] = command;
        if !support::has(shell, &["-c", "true"]) {
            continue;
        }
        let opened = client.call("pane_open", json!({"command": command}));
        let on = |mut more: Value| {
            more["pane"] = opened["pane"].clone();
            more
        };
        client.until(on(json!({"any": [{"prompt": true}]})));
        assert_eq!(client.call("screen", on(json!({})))["awaiting_secret"], false, "{shell}");
        client.call("input", on(json!({"text": "echo Password:"})));
        let typed = json!({"any": [{"text": "echo Password:"}], "include_typed": true});
        client.until(on(typed));
        let seen = client.call("screen", on(json!({})));
        assert_eq!(seen["awaiting_secret"], false, "{shell}: {seen}");
        client.call("input", on(json!({"text": " $((6 * 7))\n"})));
        client.until(on(json!({"any": [{"regex": "^Password: 42"}]})));
    }
    // The text could be in a full-screen editor, so an agent must look first.
    let script = "stty -icanon -echo; printf '\\033[?1049hPassword: '; read -r A; echo $A; cat";
    let opened = client.call("pane_open", json!({"command": ["bash", "-c", script]}));
    let on = |mut more: Value| {
        more["pane"] = opened["pane"].clone();
        more
    };
    client.until(on(json!({"any": [{"text": "Password:"}]})));
    let seen = client.call("screen", on(json!({})));
    assert_eq!(seen["awaiting_secret"], false, "{seen}");
    let refused = client.fail("input", on(json!({"text": "an answer\n"})));
    assert!(refused.contains("may ask for a secret (“Password:”"), "{refused}");
    assert!(refused.contains("no_secret: true"), "{refused}");
    client.call("input", on(json!({"text": "an answer\n", "no_secret": true})));
    client.until(on(json!({"any": [{"text": "an answer"}]})));
}
