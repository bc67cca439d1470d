//! Tests of a user and agents in one pane: the input of each of them stays in one piece.

use std::time::{Duration, Instant};

use crate::support::{self, Fixture, Session, client::Client};
use serde_json::{Value, json};

/// Starts a long-running command. Returns its handle once it is running.
fn begin(agent: &mut Client, session: &Session, command: &str) -> Value {
    let begun = agent.call("run", json!({"pane": session.id, "command": command, "timeout_ms": 0}));
    let is_running =
        session.wait(|pane| pane.term().commands().next_back()?.is_running().then_some(()));
    assert!(is_running.is_some(), "it never began");
    begun["handle"].clone()
}

/// Types keys as the user.
fn press(session: &Session, keys: &str) {
    session.pane.touch();
    session.pane.write(keys.as_bytes()).unwrap();
}

/// Waits for a prompt after the prompt with this id.
fn wait_for_prompt(session: &Session, after: u64) {
    let prompt = session.wait(|pane| {
        let term = pane.term();
        let last = term.commands().next_back()?;
        (last.id > after && last.is_prompting()).then_some(())
    });
    assert!(prompt.is_some(), "no prompt ever came");
}

/// Waits until the cursor is at the start of the line at the prompt.
fn wait_for_start(session: &Session) {
    let start = session.wait(|pane| {
        let term = pane.term();
        let input = term.commands().next_back()?.input?;
        (term.cursor().col == input.col).then_some(())
    });
    assert!(start.is_some(), "the cursor never came to the start");
}

/// The id of the last prompt.
fn last_prompt(session: &Session) -> u64 {
    session.pane.term().commands().next_back().unwrap().id
}

#[test]
fn no_command_runs_after_text_that_the_user_has_begun() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    let mut agent = Client::new(&fixture);
    let id = session.id;
    let prompt = last_prompt(&session);
    press(&session, "echo rm -rf build ");
    session.wait_for_text("echo rm -rf build");
    let refused = agent.fail("run", json!({"pane": id, "command": "ls /"}));
    assert!(refused.starts_with("Nothing was typed: "), "{refused}");
    assert!(refused.contains("“echo rm -rf build”") && refused.contains("Wait"), "{refused}");
    let command = json!({"id": id, "command": "ls /"});
    assert_eq!(
        wire.fail("exec.run_wait", command),
        refused.replace("pane", "session"),
        "it would be another command here too"
    );
    // The user's line is unchanged.
    press(&session, "now\r");
    wait_for_prompt(&session, prompt);
    session.wait_for_text("\nrm -rf build now\n");
    let ran = agent.call("run", json!({"pane": id, "command": "echo mine"}));
    assert_eq!((&ran["output"], &ran["exit_code"]), (&json!("mine"), &json!(0)), "{ran}");
    // A line that the user has cleared does not count.
    press(&session, "echo nothing");
    session.wait_for_text("echo nothing");
    press(&session, "\x15");
    wait_for_start(&session);
    let command = json!({"pane": id, "command": "echo again"});
    let ran = support::until("the user's pause", || {
        let ran = agent.tool("run", command.clone());
        (ran["isError"] == false).then_some(ran)
    });
    assert_eq!(ran["structuredContent"]["output"], "again", "{ran}");
}

#[test]
fn recalled_lines_and_lines_with_the_cursor_at_start_count() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    let mut agent = Client::new(&fixture);
    let (id, prompt) = (session.id, last_prompt(&session));
    press(&session, "echo once\r");
    wait_for_prompt(&session, prompt);
    press(&session, "\x1b[A");
    session.wait_for(|screen| screen.matches("echo once").count() == 2);
    let refused = agent.fail("run", json!({"pane": id, "command": "ls"}));
    assert!(refused.contains("“echo once”"), "{refused}");
    press(&session, "\x15echo twice\x01");
    let is_whole = |screen: &str| screen.trim_end().ends_with(" echo twice");
    session.wait_for(is_whole);
    wait_for_start(&session);
    let refused = agent.fail("run", json!({"pane": id, "command": "ls"}));
    assert!(refused.contains("“echo twice”"), "{refused}");
    session.wait_for(is_whole);
}

#[test]
fn a_command_is_not_typed_into_a_program() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    let mut agent = Client::new(&fixture);
    let id = session.id;
    let handle = begin(&mut agent, &session, "cat");
    let refused = agent.fail("run", json!({"pane": id, "command": "echo typed"}));
    assert!(refused.starts_with("Nothing was typed: "), "{refused}");
    assert!(refused.contains("runs “cat”") && refused.contains("input"), "{refused}");
    agent.call("input", json!({"pane": id, "text": "for cat\n", "keys": ["ctrl+d"]}));
    let ended = agent.call("wait", json!({"handle": handle}));
    assert_eq!(ended["run"]["output"], "for cat", "{ended}");
    // While a shell builtin reads, it owns the terminal like a program.
    let handle = begin(&mut agent, &session, "read -r A; echo got $A");
    let refused = agent.fail("run", json!({"pane": id, "command": "echo typed"}));
    assert!(refused.contains("read -r A"), "{refused}");
    agent.call("input", json!({"pane": id, "text": "it\n"}));
    let ended = agent.call("wait", json!({"handle": handle}));
    assert_eq!(ended["run"]["output"], "got it", "{ended}");
}

#[test]
fn a_command_is_not_typed_into_a_builtin_that_reads_keys() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    let mut agent = Client::new(&fixture);
    let id = session.id;
    for (command, keys) in [
        ("read -e -p 'ready? ' A", "yes\n"),
        ("read -rsn1 -p 'ready? ' A", "y"),
        // Without job control, a program belongs to the shell's own process group.
        ("set +m; printf 'ready? '; stty -echo -icanon; head -c1; stty sane; set -m", "y"),
    ] {
        let handle = begin(&mut agent, &session, command);
        session.wait_for(|screen| screen.trim_end().ends_with("ready?"));
        // bash prints the question before it changes the terminal's settings.
        let deadline = Instant::now() + Duration::from_secs(20);
        while session.pane.process().echo() != Some(false) {
            assert!(Instant::now() < deadline, "{command}: the echo stays on");
            std::thread::yield_now();
        }
        let refused = agent.fail("run", json!({"pane": id, "command": "echo typed"}));
        assert!(refused.contains("which would read it"), "{command}: {refused}");
        agent.call("input", json!({"pane": id, "text": keys}));
        let ended = agent.call("wait", json!({"handle": handle}));
        assert_eq!(ended["run"]["exit_code"], 0, "{command}: {ended}");
    }
    let ran = agent.call("run", json!({"pane": id, "command": "echo $A"}));
    assert_eq!(ran["output"], "y", "{ran}");
}

#[test]
fn a_command_is_not_typed_into_what_any_shell_reads_itself() {
    let zsh = [
        ("B=x; vared B", "y\n"),
        ("select A in one two; do break; done", "1\n"),
        ("read -k1 A", "y"),
        ("read -rsk1 A", "y"),
        ("setopt nomonitor; less -F -X /etc/services; setopt monitor", "q"),
    ];
    let fish = [
        ("read -P 'ready? ' A", "y\n"),
        ("read -sn1 A", "y"),
        ("funced -i nothing_yet", "\x03"),
        ("if", "q"),
    ];
    let bash = [
        ("select A in one two; do break; done", "1\n"),
        ("set +m; less -X /etc/services; set -m", "q"),
        ("read -e A", "y\n"),
    ];
    for (shell, commands) in [("bash", &bash[..]), ("zsh", &zsh[..]), ("fish", &fish[..])] {
        if !support::has(shell, &["-c", "true"]) {
            continue;
        }
        let fixture = Fixture::new();
        fixture.integrate();
        let mut wire = fixture.login();
        let session = fixture.program(&mut wire, shell, &[]);
        wire.call("session.wait", json!({"id": session.id, "any": [{"prompt": true}]}));
        let mut agent = Client::new(&fixture);
        let id = session.id;
        for &(command, keys) in commands {
            let prompt = last_prompt(&session);
            let begun = json!({"pane": id, "command": command, "timeout_ms": 2000});
            let begun = agent.call("run", begun);
            // A command that reads through the shell's line editor looks like a prompt after some time. In that case,
            // the reply contains this reason.
            if begun["ended"] == true && begun["reason"].is_null() {
                // For this syntax error, fish opens its manual in a pager, if a pager is installed.
                assert_eq!(command, "if", "{shell}: {begun}");
                continue;
            }
            let refused = agent.fail("run", json!({"pane": id, "command": "touch typed"}));
            assert!(refused.contains("which would read it"), "{shell}: {command}: {refused}");
            agent.call("input", json!({"pane": id, "text": keys}));
            wait_for_prompt(&session, prompt);
        }
        let ran = agent.call("run", json!({"pane": id, "command": "echo well"}));
        assert_eq!((&ran["output"], &ran["exit_code"]), (&json!("well"), &json!(0)), "{shell}");
        assert!(!fixture.home.path().join("typed").exists(), "{shell}: keys ran a command");
    }
}

#[test]
fn without_marks_a_command_is_typed_only_at_a_visible_prompt() {
    let fixture = Fixture::new();
    let mut agent = Client::new(&fixture);
    for (shell, reads) in [
        (
            &["bash", "--norc", "--noprofile"][..],
            &["read -r A", "read -ep 'it: ' A", "read -p 'Cost in $ ' A"][..],
        ),
        (&["sh"], &["read -r A", "printf 'name: '; read -r A"]),
        (&["zsh", "-f"], &["read -r A", "A=it; vared A", "read '?Cost in $ ' A"]),
    ] {
        if !support::has(shell[0], &["-c", "true"]) {
            continue;
        }
        let opened = agent.call("pane_open", json!({"command": shell}));
        let pane = &opened["pane"];
        agent.call("wait", json!({"pane": pane, "any": [{"prompt": true}]}));
        for read in reads {
            let quiet = json!([{"stable_ms": 100}]);
            let typed = json!({"pane": pane, "text": format!("{read}\n"), "wait_any": quiet});
            agent.call("input", typed);
            let refused = agent.fail("run", json!({"pane": pane, "command": "touch typed"}));
            assert!(refused.contains("marks no prompts"), "{shell:?}: {read}: {refused}");
            let typed = json!({"pane": pane, "text": "\n", "wait_any": [{"prompt": true}]});
            agent.call("input", typed);
        }
        let ran = agent.call("run", json!({"pane": pane, "command": "echo well"}));
        assert_eq!((&ran["output"], &ran["exit_code"]), (&json!("well"), &json!(0)), "{shell:?}");
        // The output of this command leaves the cursor below the prompt, where only the missing input shows that the
        // shell waits.
        let late = json!({"pane": pane, "command": "(sleep .3; echo late) &"});
        agent.call("run", late);
        agent.call("wait", json!({"pane": pane, "any": [{"regex": "^late$|[$#%] late$"}]}));
        let ran = agent.call("run", json!({"pane": pane, "command": "echo again"}));
        assert_eq!(ran["output"], "again", "{shell:?}: {ran}");
        // A caller's command that has not ended reads the following input, whatever the screen shows.
        let asks = json!({"pane": pane, "command": "printf 'Cost in $ '; read -r A; echo got $A",
            "timeout_ms": 0});
        let asks = agent.call("run", asks);
        agent.call("wait", json!({"pane": pane, "any": [{"text": "Cost in $"}]}));
        let refused = agent.fail("run", json!({"pane": pane, "command": "touch typed"}));
        assert!(refused.contains("marks no prompts"), "{shell:?}: {refused}");
        agent.call("input", json!({"pane": pane, "text": "it\n"}));
        let ended = agent.call("wait", json!({"handle": asks["handle"]}));
        assert_eq!(ended["run"]["exit_code"], 0, "{shell:?}: {ended}");
        // One line is incomplete, and the other line is continued in the next row.
        for begun in ["echo 50% ", "echo '\n"] {
            agent.call("input", json!({"pane": pane, "text": begun}));
            let refused = agent.fail("run", json!({"pane": pane, "command": "touch typed"}));
            assert!(refused.contains("marks no prompts"), "{shell:?}: {begun}: {refused}");
            let keys = json!({"pane": pane, "keys": ["ctrl+c"], "wait_any": [{"prompt": true}]});
            agent.call("input", keys);
        }
    }
    assert!(!fixture.home.path().join("typed").exists(), "keys ran a command");
}

#[test]
fn a_command_is_refused_at_once_even_with_a_short_timeout() {
    let fixture = Fixture::new();
    let mut agent = Client::new(&fixture);
    for script in ["read -r A", "while :; do :; done"] {
        let opened = agent.call("pane_open", json!({"command": ["sh", "-c", script]}));
        let ran = json!({"pane": opened["pane"], "command": "touch typed", "timeout_ms": 0});
        let refused = agent.fail("run", ran);
        assert!(refused.contains("which would read it"), "{script}: {refused}");
    }
    assert!(!fixture.home.path().join("typed").exists(), "keys ran a command");
}

#[test]
fn a_line_that_goes_on_behind_a_continuation_prompt_was_begun() {
    let fixture = Fixture::new();
    let mut agent = Client::new(&fixture);
    // The prompts are marked as in Nushell, which draws them again at each key.
    let prompt = r"\033]133;A;k=i\033\\> \033]133;B\033\\";
    let more = r"\033]133;A;k=s\033\\::: \033]133;B\033\\";
    let script = format!(
        "printf '{prompt}'; read -r A; printf '\\r{prompt}'\"$A\"'\\n{more}'; while :; do read -r A; done"
    );
    let opened = agent.call("pane_open", json!({"command": ["bash", "-c", script]}));
    let pane = &opened["pane"];
    agent.call("wait", json!({"pane": pane, "any": [{"text": "> "}], "include_typed": true}));
    agent.call("input", json!({"pane": pane, "text": "'x' |\n"}));
    agent.call("wait", json!({"pane": pane, "any": [{"text": ":::"}], "include_typed": true}));
    let refused = agent.fail("run", json!({"pane": pane, "command": "touch typed"}));
    assert!(refused.contains("an unfinished line"), "{refused}");
}

#[test]
fn a_shell_in_a_shell_or_elsewhere_is_what_runs() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    let mut agent = Client::new(&fixture);
    let id = session.id;
    // The inner shell echoes its input in the same way at the prompt and in `read`, so the two look the same.
    let handle = begin(&mut agent, &session, "PS1='in''ner$ ' command bash --norc --noediting");
    session.wait_for_text("inner$");
    let refused = agent.fail("run", json!({"pane": id, "command": "echo typed"}));
    assert!(refused.contains("marks no prompts"), "{refused}");
    agent.call("input", json!({"pane": id, "text": "exit 3\n"}));
    assert_eq!(agent.call("wait", json!({"handle": handle}))["run"]["exit_code"], 3);
    // Without marks, no command may be typed into a program that the shell runs.
    let plain = fixture.program(&mut wire, "sh", &[]);
    wire.call("session.input", json!({"id": plain.id, "input": "exec 3>&1; cat\r"}));
    let is_cat = || plain.pane.foreground().filter(|it| it.name.ends_with("cat")).map(drop);
    support::until("cat", is_cat);
    let refused = agent.fail("run", json!({"pane": plain.id, "command": "echo typed"}));
    assert!(refused.contains("cat") && refused.contains("which would read it"), "{refused}");
}

#[test]
fn an_unmarked_inner_shell_is_driven_by_its_screen() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    let mut agent = Client::new(&fixture);
    let id = session.id;
    // The quotes ensure that the prompt's text does not appear in the typed command.
    let handle = begin(&mut agent, &session, "PS1='in''ner$ ' sh");
    session.wait_for_text("inner$");
    let prompt = json!({"pane": id, "any": [{"prompt": true}]});
    assert_eq!(agent.call("wait", prompt.clone())["matched"], true);
    for _ in 0..2 {
        let ran = agent.call("run", json!({"pane": id, "command": "echo $((40 + 2)); false"}));
        assert_eq!((&ran["output"], &ran["exit_code"]), (&json!("42"), &json!(1)), "{ran}");
        assert_eq!(ran["exit_source"], "marker", "{ran}");
    }
    let asks =
        json!({"pane": id, "text": "printf 'name: '; read -r A\n", "wait_any": [{"input": true}]});
    agent.call("input", asks);
    let refused = agent.fail("run", json!({"pane": id, "command": "touch typed"}));
    assert!(refused.contains("marks no prompts"), "{refused}");
    let none = json!({"pane": id, "any": [{"prompt": true}], "timeout_ms": 100});
    assert_eq!(agent.call("wait", none)["matched"], false);
    agent.call("input", json!({"pane": id, "text": "it\n", "wait_any": [{"prompt": true}]}));
    let ran = agent.call("run", json!({"pane": id, "command": "echo $A; exit 3"}));
    assert_eq!((&ran["output"], &ran["exit_code"]), (&json!("it"), &json!(3)), "{ran}");
    assert_eq!(agent.call("wait", json!({"handle": handle}))["run"]["exit_code"], 3);
    let ran = agent.call("run", json!({"pane": id, "command": "echo outer"}));
    assert_eq!((&ran["output"], &ran["exit_code"]), (&json!("outer"), &json!(0)), "{ran}");
    assert!(!fixture.home.path().join("typed").exists(), "keys ran a command");
}

#[test]
fn output_of_a_background_job_is_no_line_at_the_prompt() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    let mut agent = Client::new(&fixture);
    let id = session.id;
    let gate = fixture.home.path().join("gate");
    assert!(std::process::Command::new("mkfifo").arg(&gate).status().unwrap().success());
    let command = format!("(read -r text < '{}'; echo \"$text\") &", gate.display());
    agent.call("run", json!({"pane": id, "command": command}));
    std::fs::write(&gate, "late output\n").unwrap();
    session.wait_for_text("late output");
    let ran = agent.call("run", json!({"pane": id, "command": "echo mine"}));
    assert_eq!((&ran["output"], &ran["exit_code"]), (&json!("mine"), &json!(0)), "{ran}");
    // The refusal does not report that a line which an agent left at the prompt is the user's.
    agent.call("input", json!({"pane": id, "text": "echo left"}));
    session.wait_for_text("echo left");
    let refused = agent.fail("run", json!({"pane": id, "command": "echo mine"}));
    assert!(refused.contains("an unfinished line") && refused.contains("“echo left”"), "{refused}");
}

#[test]
fn a_lease_that_the_user_ends_keeps_its_holder_out_as_well() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    let mut agent = Client::new(&fixture);
    let (id, prompt) = (session.id, last_prompt(&session));
    let lease = json!({"pane": id});
    assert_eq!(agent.call("lease", lease.clone())["held"], true);
    agent.call("input", json!({"pane": id, "text": "echo "}));
    agent.call("input", json!({"pane": id, "text": "agent\n"}));
    wait_for_prompt(&session, prompt);
    press(&session, "echo user ");
    session.wait_for_text("echo user");
    for (tool, arguments) in [
        ("input", json!({"pane": id, "text": "AGENT"})),
        ("input", json!({"pane": id, "paste": "AGENT"})),
        ("input", json!({"pane": id, "keys": ["ctrl+c"]})),
        ("signal", json!({"pane": id, "signal": "INT"})),
        ("run", json!({"pane": id, "command": "echo AGENT"})),
    ] {
        let refused = agent.fail(tool, arguments);
        assert!(refused.contains("the user has typed in pane"), "{tool}: {refused}");
    }
    // While a part of the user's line is at the prompt, a new lease would not help, so it is refused.
    let refused = agent.fail("lease", lease.clone());
    assert!(refused.contains("“echo user”"), "{refused}");
    let prompt = last_prompt(&session);
    press(&session, "more\r");
    wait_for_prompt(&session, prompt);
    session.wait_for_text("\nuser more\n");
    // The agent has not seen the user's changes, so it must take a new lease first.
    agent.fail("input", json!({"pane": id, "text": "AGENT"}));
    assert_eq!(agent.call("lease", lease.clone())["held"], true);
    let ran = agent.call("run", json!({"pane": id, "command": "echo mine"}));
    assert_eq!(ran["output"], "mine", "{ran}");
    // A caller that releases its lease has the same rights as a caller that never had a lease.
    press(&session, " ");
    agent.fail("input", json!({"pane": id, "text": "x"}));
    agent.call("lease", json!({"pane": id, "release": true}));
    let refused = agent.fail("input", json!({"pane": id, "text": "x"}));
    assert!(refused.contains("the user pressed a key"), "{refused}");
    press(&session, "\r");
    agent.call("input", json!({"pane": id, "text": "x"}));
}

#[test]
fn an_agents_input_gives_way_to_the_user_without_a_lease() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    let mut agent = Client::new(&fixture);
    let (id, prompt) = (session.id, last_prompt(&session));
    let all = [
        ("input", json!({"pane": id, "text": "AGENT"})),
        ("input", json!({"pane": id, "paste": "AGENT"})),
        ("input", json!({"pane": id, "keys": ["ctrl+c"]})),
        ("signal", json!({"pane": id, "signal": "INT"})),
        ("run", json!({"pane": id, "command": "echo AGENT"})),
        ("lease", json!({"pane": id})),
    ];
    press(&session, "echo user ");
    session.wait_for_text("echo user");
    for (tool, arguments) in all {
        let refused = agent.fail(tool, arguments);
        assert!(
            refused.contains("the user is typing") && refused.contains("“echo user”"),
            "{tool}: {refused}"
        );
    }
    // The agent is refused for as long as the user's line is there.
    std::thread::sleep(Duration::from_secs(4));
    agent.fail("input", json!({"pane": id, "text": "AGENT"}));
    // On every wire, a caller with a token that was created for an agent counts as an agent. A script may type at any
    // time.
    let (mut other, _) = fixture.login_with(&mut wire, json!({"name": "other", "scope": "act"}));
    other.fail("session.input", json!({"id": id, "input": "AGENT"}));
    wire.call("session.input", json!({"id": id, "input": "script "}));
    session.wait_for_text("echo user script");
    press(&session, "more\r");
    wait_for_prompt(&session, prompt);
    session.wait_for_text("\nuser script more\n");
    other.call("session.input", json!({"id": id, "input": "echo agent "}));
    agent.call("input", json!({"pane": id, "text": "too\n"}));
    session.wait_for_text("\nagent too\n");
}

#[test]
fn an_agent_may_type_once_the_user_pauses_and_left_no_line() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    let mut agent = Client::new(&fixture);
    let id = session.id;
    let pauses = |agent: &mut Client, input: &Value| {
        let end = Instant::now() + support::PATIENCE;
        while agent.tool("input", input.clone())["isError"] == true {
            assert!(Instant::now() < end, "it is never let in");
            std::thread::yield_now();
        }
    };
    // The user clears the line.
    press(&session, "echo no\x15");
    wait_for_start(&session);
    let input = json!({"pane": id, "text": "echo mine\n"});
    let refused = agent.fail("input", input.clone());
    assert!(refused.contains("the user pressed a key"), "{refused}");
    let refused = agent.fail("run", json!({"pane": id, "command": "echo mine"}));
    assert!(refused.contains("the user pressed a key"), "{refused}");
    pauses(&mut agent, &input);
    session.wait_for_text("\nmine\n");
    // In a full-screen program, every key counts as input.
    let script = "printf '\\033[?1049h'; stty -icanon -echo; exec cat > /dev/null";
    let full = fixture.program(&mut wire, "sh", &["-c", script]);
    full.wait(|pane| {
        let modes = pane.term().modes();
        modes.contains(unterm_term::Modes::ALT_SCREEN).then_some(())
    });
    press(&full, "jj\r");
    let input = json!({"pane": full.id, "text": "k"});
    let refused = agent.fail("input", input.clone());
    assert!(refused.contains("the user pressed a key"), "{refused}");
    pauses(&mut agent, &input);
    // The terminal collects the line for a program that reads it.
    let lines = fixture.program(&mut wire, "cat", &[]);
    press(&lines, "half a");
    lines.wait_for_text("half a");
    let input = json!({"pane": lines.id, "text": "whole\n"});
    let refused = agent.fail("input", input.clone());
    assert!(refused.contains("“half a”"), "{refused}");
    press(&lines, " line\r");
    agent.call("input", input);
    lines.wait_for(|screen| screen.matches("whole").count() == 2);
}

#[test]
fn a_command_that_uses_the_shells_editor_runs_until_answered() {
    let fixture = Fixture::new();
    fixture.integrate();
    let mut wire = fixture.login();
    let mut agent = Client::new(&fixture);
    let readers = [
        ("bash", "read -e -p 'edit> ' L; echo \"got=$L\"; (exit 3)"),
        ("zsh", "V=; vared -p 'edit> ' V; echo \"got=$V\"; (exit 3)"),
        ("fish", "read -P 'edit> ' X; echo \"got=$X\"; sh -c 'exit 3'"),
    ];
    let mut handles = Vec::new();
    for (shell, command) in
        readers.into_iter().filter(|(shell, _)| support::has(shell, &["-c", "true"]))
    {
        let pane = fixture.program(&mut wire, shell, &[]).id;
        let ran = agent.call("run", json!({"pane": pane, "command": command}));
        assert_eq!((&ran["ended"], &ran["awaiting_input"]), (&json!(false), &json!(true)), "{ran}");
        handles.push((pane, ran["handle"].clone()));
    }
    for (pane, handle) in handles {
        // This time is longer than the time in which a shell reports the end of a command.
        agent.call("wait", json!({"pane": pane, "any": [{"stable_ms": 2500}]}));
        let ran = agent.call("wait", json!({"handle": handle, "timeout_ms": 0}));
        assert_eq!(
            (&ran["matched"], &ran["run"]["awaiting_input"]),
            (&json!(false), &json!(true)),
            "{ran}"
        );
        agent.call("input", json!({"pane": pane, "text": "a word\n"}));
        let ran = agent.call("wait", json!({"handle": handle}));
        assert_eq!(ran["run"]["exit_code"], 3, "{ran}");
        assert!(ran["run"]["output"].as_str().unwrap().ends_with("\ngot=a word"), "{ran}");
    }
}

#[test]
fn a_command_whose_end_nothing_reports_ends_with_a_reason() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    let mut agent = Client::new(&fixture);
    let id = session.id;
    // The shell's line editor changes the line, and the shell reports the line that it runs.
    if support::has("zsh", &["-c", "true"]) {
        let zsh = fixture.program(&mut wire, "zsh", &[]);
        wire.call("session.wait", json!({"id": zsh.id, "any": [{"prompt": true}]}));
        let rebound = json!({"pane": zsh.id, "command": "bindkey -s zq zz"});
        assert_eq!(agent.call("run", rebound)["exit_code"], 0);
        let ran = agent.call("run", json!({"pane": zsh.id, "command": "echo zq"}));
        assert_eq!((&ran["ended"], &ran["exit_code"]), (&json!(true), &Value::Null), "{ran}");
        assert!(ran["reason"].as_str().unwrap().contains("another line"), "{ran}");
        let ran = agent.call("run", json!({"pane": zsh.id, "command": "echo well"}));
        assert_eq!((&ran["output"], &ran["reason"]), (&json!("well"), &Value::Null), "{ran}");
    }
    // Another shell replaces the shell that started the command, and the handle reports that.
    let begun = json!({"pane": id, "command": "exec bash", "timeout_ms": 0});
    let handle = agent.call("run", begun)["handle"].clone();
    let ended = agent.call("wait", json!({"handle": handle}));
    assert_eq!((&ended["matched"], &ended["run"]["ended"]), (&json!(true), &json!(true)));
    assert_eq!(ended["run"]["exit_code"], Value::Null, "{ended}");
    assert!(ended["run"]["reason"].as_str().unwrap().contains("replaced it"), "{ended}");
}
