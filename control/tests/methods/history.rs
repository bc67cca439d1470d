//! Tests that a shell's history omits the commands of `run` and keeps the user's lines, in each way in which the shell
//! stores its history.

use crate::support::{self, Fixture, Session, client::Client};
use serde_json::json;

/// The settings with which each shell stores every line in a file immediately, and a command that lists these lines.
const SHELLS: [(&str, &str, &str, &str); 4] = [
    (
        "bash",
        ".bashrc",
        "HISTFILE=$HOME/kept; HISTSIZE=4; HISTCONTROL=; HISTIGNORE='ls'; PROMPT_COMMAND='history -a'\n",
        "history",
    ),
    (
        "zsh",
        ".zshrc",
        "HISTFILE=$HOME/kept HISTSIZE=4 SAVEHIST=4; setopt share_history no_hist_ignore_space\n\
         zshaddhistory() { print -sr -- ${1%%$'\\n'}; return 1 }\n",
        "fc -l 1",
    ),
    ("fish", "fish/config.fish", "", "history"),
    (
        "nu",
        "nushell/config.nu",
        "$env.config.show_banner = false\n",
        "history | get command | to text",
    ),
];

/// Presses Up at a prompt, checks that a line of the user appears, and clears the line.
fn goes_back(agent: &mut Client, session: &Session, shell: &str) {
    let pane = session.id;
    let before = session.pane.term().seq();
    session.pane.write(b"\x1b[A").unwrap();
    let seen = json!({"pane": pane, "any": [{"text": "echo"}], "since_seq": before, "include_typed": true});
    let seen = agent.call("wait", seen);
    let line = seen["conditions"][0]["text"].as_str().unwrap();
    assert!(line.contains("echo first") || line.contains("echo blanks"), "{shell}: {line}");
    // Ctrl+U takes effect before later input. After Ctrl+C, a shell that is still drawing the line would show no new
    // prompt.
    session.pane.write(b"\x15").unwrap();
}

#[test]
fn run_leaves_no_trace_and_the_users_lines_stay() {
    for (shell, file, settings, list) in SHELLS {
        // No package of the system contains Nushell, so it is tested only where it is installed.
        if shell == "nu" && std::process::Command::new(shell).arg("--version").output().is_err() {
            continue;
        }
        if !support::has(shell, &["-c", "exit"]) {
            continue;
        }
        let fixture = Fixture::new();
        fixture.integrate();
        let file = fixture.home.path().join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, settings).unwrap();
        let mut wire = fixture.login();
        let session = fixture.program(&mut wire, shell, &[]);
        let mut agent = Client::new(&fixture);
        let pane = session.id;
        let prompts =
            |agent: &mut Client| agent.until(json!({"pane": pane, "any": [{"prompt": true}]}));
        prompts(&mut agent);
        let mut types = |line: &str| {
            let all = json!([{"command_done": true}]);
            let line = json!({"id": pane, "input": format!("{line}\r"), "any": all});
            let done = wire.call("session.wait", line);
            assert_eq!(done["matched"], true, "{shell}: {done}");
            done["conditions"][0]["block"].clone()
        };
        types("echo first");
        types(" echo blanks");
        prompts(&mut agent);
        for command in ["echo AGENT", "w", "echo 'AGENT'; echo it\\'s AGENT", "ls", "echo AGENT"] {
            let command =
                if shell == "nu" { command.replace("\\'", "") } else { command.to_owned() };
            let command = json!({"pane": pane, "command": command});
            assert_eq!(agent.call("run", command.clone())["ended"], true, "{shell}: {command}");
        }
        prompts(&mut agent);
        // Pressing Up does not show the last command, either, except in Nushell, which keeps it until the next line.
        if shell != "nu" {
            goes_back(&mut agent, &session, shell);
        }
        let listed = json!({"id": pane, "block": types(list)});
        let listed = wire.call("block.get", listed)["output"].to_string();
        assert!(listed.contains("echo first"), "{shell}: {listed}");
        assert!(!listed.contains("AGENT") && !listed.contains("eval"), "{shell}: {listed}");
        // The user's own line with leading blanks is stored if the shell stores such lines.
        let keeps_blanks = matches!(shell, "bash" | "zsh");
        assert_eq!(listed.contains("echo blanks"), keeps_blanks, "{shell}: {listed}");
        for kept in ["kept", "fish/fish_history"] {
            if let Ok(kept) = std::fs::read_to_string(fixture.home.path().join(kept)) {
                assert!(kept.contains("echo first") && !kept.contains("AGENT"), "{shell}: {kept}");
            }
        }
    }
}
