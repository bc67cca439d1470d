//! Tests of programs that wait for input: `run` returns early, so that an agent can answer them.

use serde_json::{Value, json};
use unterm_mux::PaneId;

use crate::support::{self, Fixture, client::Client};

/// Ends the foreground program and waits for the prompt. Ctrl+C is sent repeatedly, because a shell that is about to
/// show its prompt may ignore it.
fn interrupt(client: &mut Client) {
    let keys = json!({"keys": ["ctrl+c"], "wait_any": [{"prompt": true}], "timeout_ms": 2000});
    support::until("the prompt", || {
        (client.call("input", keys.clone())["wait"]["matched"] == true).then_some(())
    });
}

#[test]
fn a_command_that_asks_something_is_answered_for_at_once() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    client.shell(&fixture);
    // The question is asked by the shell itself, by a program, through another name of the terminal, and on a separate
    // line.
    for (command, screen) in [
        ("read -r -p 'Do you want to continue? [Y/n] ' A; echo \"got $A\"", "[Y/n]"),
        ("sh -c 'printf \"Name: \"; read A; echo \"got $A\"'", "Name:"),
        (
            "sh -c 'printf \"Go on (yes/no/[fingerprint])? \"; read A < /dev/tty; echo \"got $A\"'",
            "[fingerprint])?",
        ),
        ("sh -c 'echo May I\\?; read A; echo \"got $A\"'", "May I?"),
        ("read -rsn1 -p 'Press any key to go on' A; echo; echo \"got $A\"", "Press any key"),
    ] {
        let asked = client.call("run", json!({"command": command}));
        assert_eq!(
            (&asked["ended"], &asked["awaiting_input"], &asked["full_screen"]),
            (&json!(false), &json!(true), &Value::Null),
            "{command}: {asked}"
        );
        assert!(support::shown(&asked).contains(screen), "{command}: {asked}");
        let listed = client.call("pane_list", json!({}));
        assert_eq!(listed["panes"][0]["state"], "awaiting_input", "{command}: {listed}");
        // A question that has just been answered no longer counts as open.
        let answered = client.call("input", json!({"text": "y\n"}));
        assert_eq!(answered.get("awaiting_input"), None, "{command}: {answered}");
        client.until(json!({"any": [{"text": "got y"}]}));
        let ended = client.call("wait", json!({"handle": asked["handle"]}));
        assert_eq!(ended["run"]["exit_code"], 0, "{command}: {ended}");
        // The rest of the answer must not become a line at the prompt.
        client.until(json!({"any": [{"prompt": true}]}));
        interrupt(&mut client);
    }
    let seen = client.call("screen", json!({}));
    assert_eq!(seen["awaiting_input"], false, "at the prompt: {seen}");
}

#[test]
fn a_second_question_ends_the_wait_for_a_command_too() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    client.shell(&fixture);
    let command = "read -r -p 'First? ' A; read -r -p 'Second? ' B; echo \"$A and $B\"";
    let asked = client.call("run", json!({"command": command}));
    assert_eq!(asked["awaiting_input"], true, "{asked}");
    client.call("input", json!({"text": "one\n"}));
    client.until(json!({"any": [{"text": "Second?"}]}));
    // The question is already there when the wait begins.
    let again = client.call("wait", json!({"handle": asked["handle"]}));
    assert_eq!((&again["matched"], &again["run"]["awaiting_input"]), (&json!(false), &json!(true)));
    // The client saw the question in the reply to its own wait.
    assert_eq!(again["run"]["changed"], "", "{again}");
    client.call("input", json!({"text": "two\n"}));
    client.until(json!({"any": [{"text": "one and two"}]}));
    let ended = client.call("wait", json!({"handle": asked["handle"]}));
    assert!(ended["run"]["output"].as_str().unwrap().ends_with("one and two"), "{ended}");
}

#[test]
fn a_full_screen_program_is_reported_as_one() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    client.shell(&fixture);
    for (program, arguments, quit) in [
        ("vim", "-u NONE -i NONE -n", json!(["escape", ":", "q", "!", "enter"])),
        ("less", "/etc/passwd", json!(["q"])),
        ("dialog", "--menu Choose 12 40 4 a one b two", json!(["escape", "escape"])),
        ("whiptail", "--menu Choose 12 40 4 a one b two", json!(["escape", "escape"])),
    ] {
        if !support::has(program, &["--version"]) {
            continue;
        }
        let asked = client.call("run", json!({"command": format!("{program} {arguments}")}));
        assert_eq!(
            (&asked["ended"], &asked["awaiting_input"], &asked["full_screen"]),
            (&json!(false), &json!(true), &json!(true)),
            "{program}: {asked}"
        );
        // While the program starts, it may query the terminal. If it ended during that time, the shell would read the
        // replies.
        client.until(json!({"any": [{"stable_ms": 300}]}));
        client.call("input", json!({"keys": quit}));
        support::until(&format!("{program} to end"), || {
            let waited = client.call("wait", json!({"handle": asked["handle"]}));
            (waited["run"]["ended"] == true).then_some(())
        });
    }
}

#[test]
fn the_first_report_of_a_box_shows_all_of_it() {
    let fixture = Fixture::new();
    for (command, field, parts) in [
        (
            "dialog --passwordbox 'Your password' 10 40",
            "awaiting_secret",
            ["Your password", "Cancel"],
        ),
        (
            "whiptail --passwordbox 'Your password' 10 40",
            "awaiting_secret",
            ["Your password", "Cancel"],
        ),
        ("dialog --menu Choose 12 40 4 a one b two", "full_screen", ["two", "Cancel"]),
        ("vim -u NONE -i NONE -n some-name", "full_screen", ["~\n~", "\"some-name\" [New"]),
    ] {
        if !support::is_installed(command.split(' ').next().unwrap()) {
            continue;
        }
        for _ in 0..3 {
            let mut client = Client::new(&fixture);
            let pane = client.shell(&fixture);
            let asked = client.call("run", json!({"pane": pane, "command": command}));
            assert_eq!(asked[field], true, "{command}: {asked}");
            for part in parts {
                assert!(support::shown(&asked).contains(part), "{command}: {asked}");
            }
            client.call("pane_close", json!({"pane": pane}));
        }
    }
}

#[test]
fn a_command_that_works_asks_nothing_whatever_it_prints() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    let pane = client.shell(&fixture);
    let gate = fixture.home.path().join("gate");
    assert!(std::process::Command::new("mkfifo").arg(&gate).status().unwrap().success());
    for line in ["Checking for headers: ", "Continue? [Y/n] ", "Compiling (3/7)"] {
        // The program waits for something other than its terminal.
        let command = format!("printf '{line}'; read -r A < '{}'", gate.display());
        let ran = client.call("run", json!({"command": command, "timeout_ms": 1500}));
        assert_eq!((&ran["ended"], &ran["awaiting_input"]), (&json!(false), &Value::Null), "{ran}");
        std::fs::write(&gate, "go\n").unwrap();
        let ended = client.call("wait", json!({"handle": ran["handle"]}));
        assert_eq!(ended["run"]["exit_code"], 0, "{ended}");
    }
    // A shell's prompt is not a question, marked or not.
    let plain = client.call("pane_open", json!({"command": ["sh"]}));
    client.until(json!({"pane": plain["pane"], "any": [{"regex": "^[$#] ?$"}]}));
    for pane in [json!(pane), plain["pane"].clone()] {
        let number = PaneId(pane.as_u64().unwrap());
        let reads = fixture.mux.pane(number).unwrap();
        support::until("the shell to read", || {
            (reads.process().awaits_input() == Some(true)).then_some(())
        });
        let seen: Value = client.call("screen", json!({"pane": pane}));
        assert_eq!(seen["awaiting_input"], false, "{seen}");
    }
}
