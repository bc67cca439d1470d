//! Tests of agents that use `unterm-cli mcp`: the instance that each agent drives, and its rights there.

use std::{
    fs,
    io::{BufRead as _, BufReader, ErrorKind, Write as _},
    net::{Ipv4Addr, TcpListener},
    path::Path,
    process::{Command, Stdio},
    time::Instant,
};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use unterm_tests::{Instance, PATIENCE, Relay, Start, binary, wait_for};

/// The number of entries in a registry.
fn entries(registry: &Path) -> usize {
    fs::read_dir(registry.join("instances")).map_or(0, Iterator::count)
}

#[test]
fn a_running_instance_is_used_and_keeps_running() -> Result<()> {
    let mut unterm = Start::headless().now()?;
    let pane = unterm.first_pane()?;
    pane.wait_for_prompt(&mut unterm)?;
    let mut agent = Relay::start(unterm.home(), unterm.registry(), &[])?;
    let status = agent.call("status", json!({}))?;
    assert_eq!(status["instance"], unterm.entry()["id"], "{status}");
    assert_eq!((&status["window"], &status["you"]), (&json!(false), &json!("test")));
    let ran = agent.call("run", json!({"command": "echo $((6 * 7))"}))?;
    assert_eq!(ran["output"], "42", "{ran}");
    // The user sees the agent's command.
    pane.wait_for_text(&mut unterm, "42")?;
    let png =
        agent.request("tools/call", json!({"name": "screen", "arguments": {"format": "png"}}))?;
    assert_eq!(png["content"][1]["type"], "image", "{png}");
    assert!(png["content"][1]["data"].as_str().is_some_and(|data| data.starts_with("iVBORw0KGgo")));
    assert!(png["structuredContent"]["width"].as_u64().is_some_and(|width| width > 100), "{png}");
    assert!(agent.finish()?.success());
    assert_eq!(entries(unterm.registry()), 1);
    Ok(())
}

#[test]
fn an_instance_is_started_if_needed_and_ends_with_the_agent() -> Result<()> {
    let home = tempfile::tempdir()?;
    let registry = home.path().join(".unterm");
    for is_killed in [false, true] {
        let mut agent = Relay::start(home.path(), &registry, &[])?;
        assert_eq!(entries(&registry), 1);
        let ran = agent.call("run", json!({"command": "exit 3"}))?;
        assert_eq!(ran["exit_code"], 3, "{ran}");
        if is_killed {
            agent.kill()?;
        } else {
            assert!(agent.finish()?.success());
            assert_eq!(entries(&registry), 0, "it ends before the agent's program does");
        }
        wait_for("its end", || Ok((entries(&registry) == 0).then_some(())), String::new)?;
    }
    Ok(())
}

#[test]
fn the_relay_ends_after_the_last_reply_or_with_its_reader() -> Result<()> {
    // A fake instance: the test controls its replies, and it never closes a connection.
    let home = tempfile::tempdir()?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    let record = json!({
        "id": "alpha",
        "mcp_port": listener.local_addr()?.port(),
        "http_port": 0,
        "auth_token": "token",
        "pid": std::process::id(),
        "started_at": "2025-01-01T00:00:00Z",
        "title": "Unterm — alpha — test",
        "cwd": home.path(),
        "version": "0",
        "platform": "linux",
    });
    fs::write(home.path().join("server.json"), record.to_string())?;
    let mut relay = Command::new(binary("unterm-cli"))
        .arg("mcp")
        .env_clear()
        .env("HOME", home.path())
        .env("UNTERM_HOME", home.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let connection = || -> Result<_> {
        match listener.accept() {
            Ok((stream, _)) => Ok(Some(stream)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error.into()),
        }
    };
    let stream = wait_for("a connection", connection, String::new)?;
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut wire = BufReader::new(stream);
    let mut line = String::new();
    wire.read_line(&mut line)?;
    ensure!(line.contains("auth.login"), "{line}");
    let welcome = json!({"jsonrpc": "2.0", "id": 1, "result": {"status": "ok"}});
    writeln!(wire.get_mut(), "{welcome}")?;

    let mut input = relay.stdin.take().context("its input")?;
    writeln!(input, "a call")?;
    line.clear();
    wire.read_line(&mut line)?;
    assert_eq!(line, "a call\n");
    drop(input);
    // The relay sends no further calls.
    for said in ["", r#"{"jsonrpc":"2.0","method":"notifications/unterm/last"}"#] {
        line.clear();
        wire.read_line(&mut line)?;
        assert_eq!(line.trim_end(), said);
    }
    writeln!(wire.get_mut(), "its reply")?;
    let mut output = BufReader::new(relay.stdout.take().context("its output")?);
    line.clear();
    output.read_line(&mut line)?;
    assert_eq!(line, "its reply\n");
    drop(output);
    let ended = wait_for("its end", || Ok(relay.try_wait()?), String::new);
    if ended.is_err() {
        relay.kill()?;
        relay.wait()?;
    }
    assert!(ended?.success());
    Ok(())
}

/// Kills an instance, and waits until its process is gone.
fn kill(unterm: &mut Instance) -> Result<()> {
    let pid = rustix::process::Pid::from_raw(unterm.pid() as i32).context("no process")?;
    rustix::process::kill_process(pid, rustix::process::Signal::KILL)?;
    unterm.wait_for_exit()?;
    Ok(())
}

#[test]
fn a_relay_outlives_its_instance_and_reports_the_loss_once() -> Result<()> {
    let mut unterm = Start::headless().now()?;
    unterm.first_pane()?.wait_for_prompt(&mut unterm)?;
    let mut waiting = Relay::start(unterm.home(), unterm.registry(), &[])?;
    let mut idle = Relay::start(unterm.home(), unterm.registry(), &[])?;
    for agent in [&mut waiting, &mut idle] {
        agent.call("status", json!({}))?;
    }
    waiting.begin(
        "tools/call",
        json!({"name": "run", "arguments": {"command": "echo $((40 + 2)); sleep 1000"}}),
    )?;
    unterm.first_pane()?.wait_for_text(&mut unterm, "42")?;
    kill(&mut unterm)?;
    let text =
        |result: &Value| result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
    // The pending call receives a reply.
    let answer = waiting.answer()?;
    assert_eq!(answer["isError"], true, "{answer}");
    assert!(text(&answer).contains("ended before it answered"), "{answer}");
    // A relay without a pending call reports the end of the instance with the next call, and only then.
    let answer = idle.request("tools/call", json!({"name": "status", "arguments": {}}))?;
    assert!(text(&answer).contains("This call was not made"), "{answer}");
    // Both relays continue in one instance, and its tools are still available.
    let tools = waiting.request("tools/list", json!({}))?;
    assert!(tools["tools"].as_array().is_some_and(|tools| tools.len() > 5), "{tools}");
    let instances = [&mut waiting, &mut idle].map(|agent| -> Result<Value> {
        let ran = agent.call("run", json!({"command": "echo $((6 * 7))"}))?;
        ensure!(ran["output"] == "42", "{ran}");
        let status = agent.call("status", json!({}))?;
        ensure!(status["you"] == "test", "the session is not opened again: {status}");
        Ok(status["instance"].clone())
    });
    let [first, second] = instances;
    assert_eq!(first?, second?);
    assert!(waiting.finish()?.success() && idle.finish()?.success());
    Ok(())
}

#[test]
fn killing_a_client_does_not_end_its_command() -> Result<()> {
    let (mut unterm, mut agent) = driven()?;
    let pane = unterm.first_pane()?;
    pane.wait_for_prompt(&mut unterm)?;
    let command = json!({"command": "echo $((40 + 2)); sleep 1000"});
    agent.begin("tools/call", json!({"name": "run", "arguments": command}))?;
    pane.wait_for_text(&mut unterm, "42")?;
    agent.kill()?;
    // The first agent's command keeps running, and another agent may end it.
    let mut next = Relay::start(unterm.home(), unterm.registry(), &[])?;
    let busy = json!({"name": "run", "arguments": {"command": "true"}});
    let refused = next.request("tools/call", busy)?;
    let why = refused["content"][0]["text"].as_str().unwrap_or_default();
    ensure!(why.contains("sleep 1000"), "{refused}");
    let ended = json!({"keys": ["ctrl+c"], "wait_any": [{"prompt": true}], "timeout_ms": 50_000});
    ensure!(next.call("input", ended)?["wait"]["matched"] == true);
    assert_eq!(next.call("run", json!({"command": "echo free"}))?["output"], "free");
    Ok(())
}

#[test]
fn relays_started_together_start_one_instance() -> Result<()> {
    let home = tempfile::tempdir()?;
    let registry = home.path().join(".unterm");
    let start = || Relay::start(home.path(), &registry, &[]);
    let relays: Vec<Relay> = std::thread::scope(|scope| {
        let starting: Vec<_> = (0..4).map(|_| scope.spawn(start)).collect();
        starting.into_iter().map(|one| one.join().expect("it panicked")).collect::<Result<_>>()
    })?;
    assert_eq!(entries(&registry), 1);
    for relay in relays {
        assert!(relay.finish()?.success());
    }
    wait_for("its end", || Ok((entries(&registry) == 0).then_some(())), String::new)
}

#[test]
fn a_hook_without_a_terminal_gets_its_panes_tty() -> Result<()> {
    let (mut unterm, mut agent) = driven()?;
    let pane = unterm.first_pane()?;
    pane.wait_for_prompt(&mut unterm)?;
    let tty = unterm.sessions()?[0]["tty"].take();
    let cli = format!("'{}' mcp tty", binary("unterm-cli").display());
    // Run the command at a prompt, in a pipeline as a hook would, and in a session of its own without a terminal.
    let piped = format!("{cli} </dev/null 2>/dev/null | cat");
    for command in [cli.clone(), piped.clone(), format!("setsid -w {piped}")] {
        let ran = agent.call("run", json!({"command": command}))?;
        assert_eq!((&ran["output"], &ran["exit_code"]), (&tty, &json!(0)), "{command}: {ran}");
    }
    let ran = agent.call("run", json!({"command": cli.replace(" mcp", " --json mcp")}))?;
    let said: Value = serde_json::from_str(ran["output"].as_str().unwrap_or_default())?;
    assert_eq!(said, json!({"tty": tty}), "{ran}");
    // The agent registers this tty.
    let mut registers = Relay::start(unterm.home(), unterm.registry(), &["--toolset", "iterm"])?;
    let register = json!({"name": "iterm_register_session", "arguments": {"tty_path": tty}});
    let registered = registers.request("tools/call", register)?;
    let text = registered["content"][0]["text"].as_str().unwrap_or_default();
    ensure!(text.contains("\"registered\""), "{registered}");
    Ok(())
}

#[test]
fn a_started_instance_stays_until_the_last_agent_leaves() -> Result<()> {
    let home = tempfile::tempdir()?;
    let registry = home.path().join(".unterm");
    for is_killed in [false, true] {
        let first = Relay::start(home.path(), &registry, &[])?;
        let mut second = Relay::start(home.path(), &registry, &[])?;
        assert_eq!(entries(&registry), 1, "the second joins the first's");
        let pane = open(&mut second, &["sh", "-c", "echo here; exec cat"], "here")?;
        if is_killed {
            first.kill()?;
        } else {
            assert!(first.finish()?.success());
        }
        // A third relay can still connect, and the second relay's pane keeps running.
        let mut third = Relay::start(home.path(), &registry, &[])?;
        let typed = json!({
            "pane": pane,
            "text": "there\n",
            "wait_any": [{"regex": "^there$"}],
            "timeout_ms": 50_000,
        });
        for agent in [&mut second, &mut third] {
            let typed = agent.call("input", typed.clone())?;
            ensure!(typed["wait"]["matched"] == true, "{typed}");
        }
        assert!(second.finish()?.success());
        assert_eq!(third.call("status", json!({}))?["window"], false);
        assert!(third.finish()?.success());
        wait_for("its end", || Ok((entries(&registry) == 0).then_some(())), String::new)?;
    }
    Ok(())
}

/// An instance without a window, and an agent that drives it.
fn driven() -> Result<(Instance, Relay)> {
    let unterm = Start::headless().now()?;
    let agent = Relay::start(unterm.home(), unterm.registry(), &[])?;
    Ok((unterm, agent))
}

/// Opens a pane with a program, waits until it shows a text, and returns its number.
fn open(agent: &mut Relay, command: &[&str], text: &str) -> Result<Value> {
    let opened = agent.call("pane_open", json!({"command": command, "cols": 80, "rows": 24}))?;
    let pane = opened["pane"].clone();
    seen(agent, json!({"pane": pane, "any": [{"text": text}]}))?;
    Ok(pane)
}

/// Waits for a condition that must occur. Repeats the call `wait`, because one call waits only for a limited time.
fn seen(agent: &mut Relay, arguments: Value) -> Result<Value> {
    let mut reply = agent.call("wait", arguments.clone())?;
    let deadline = Instant::now() + PATIENCE;
    while reply["matched"] != true {
        ensure!(Instant::now() < deadline, "{arguments} never came: {reply}");
        reply = agent.call("wait", json!({"handle": reply["handle"]}))?;
    }
    Ok(reply)
}

#[test]
fn an_agent_that_stops_sending_gets_its_last_reply() -> Result<()> {
    let (mut unterm, mut agent) = driven()?;
    let pane = open(&mut agent, &["sh", "-c", "echo here; exec cat"], "here")?;
    let wait = json!({"pane": pane, "any": [{"regex": "^there$"}], "timeout_ms": 50_000});
    agent.begin("tools/call", json!({"name": "wait", "arguments": wait}))?;
    agent.close();
    unterm.call("session.input", json!({"id": pane, "input": "there\r"}))?;
    let waited = agent.answer()?;
    ensure!(waited["structuredContent"]["matched"] == true, "{waited}");
    assert!(agent.finish()?.success());
    Ok(())
}

#[test]
fn a_file_is_edited_in_vim_and_saved() -> Result<()> {
    let (unterm, mut agent) = driven()?;
    let file = unterm.home().join("note.txt");
    fs::write(&file, "one\ntwo\n")?;
    let vim =
        ["vim", "vim.tiny", "vi"].into_iter().find(|name| is_there(name)).context("no vim")?;
    let path = file.to_str().context("a path that is text")?;
    let pane = open(&mut agent, &[vim, "-u", "NONE", "-n", path], "note.txt")?;
    let typed = agent.call(
        "input",
        json!({
            "pane": pane,
            "text": "othe agent's line",
            "keys": ["escape"],
            "wait_any": [{"regex": "^the agent's line"}],
            "timeout_ms": 50_000,
        }),
    )?;
    ensure!(typed["wait"]["matched"] == true, "{typed}");
    let saved = json!({
        "pane": pane,
        "text": ":wq\n",
        "wait_any": [{"exit": true}],
        "timeout_ms": 50_000,
    });
    let saved = agent.call("input", saved)?;
    ensure!(saved["wait"]["matched"] == true, "{saved}");
    assert_eq!(fs::read_to_string(&file)?, "one\nthe agent's line\ntwo\n");
    Ok(())
}

fn is_there(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|folder| folder.join(program).is_file())
}

#[test]
fn an_agent_answers_a_question_and_waits_for_a_build() -> Result<()> {
    let (_unterm, mut agent) = driven()?;
    let opened = agent.call("pane_open", json!({"command": ["bash"]}))?;
    let pane = &opened["pane"];
    let command = "read -r -p 'Go on? [y/n] ' A; echo \"answer $A\"; for n in 1 2 3; do sleep 0.5; echo step $n; done; (exit 7)";
    let mut ran = agent.call("run", json!({"pane": pane, "command": command, "timeout_ms": 0}))?;
    seen(&mut agent, json!({"pane": pane, "any": [{"regex": "^Go on\\? \\[y/n\\]"}]}))?;
    agent.call("input", json!({"pane": pane, "text": "y\n"}))?;
    let deadline = Instant::now() + PATIENCE;
    let mut slices = 0;
    while ran["ended"] != true {
        ensure!(Instant::now() < deadline, "it never ends: {ran}");
        let handle = json!({"handle": ran["handle"], "timeout_ms": 50});
        ran = agent.call("wait", handle)?["run"].take();
        slices += 1;
    }
    assert_eq!(ran["exit_code"], 7, "{ran}");
    assert!(slices > 1, "it took no longer than a slice");
    let output = ran["output"].as_str().unwrap_or_default();
    assert!(output.ends_with("answer y\nstep 1\nstep 2\nstep 3"), "{output}");
    Ok(())
}

#[test]
fn an_agent_uses_a_repl_and_htop() -> Result<()> {
    let (_unterm, mut agent) = driven()?;
    let python = open(&mut agent, &["python3", "-q"], ">>>")?;
    for (line, answer) in [("x = 6 * 7", "^>>> $|^>>>$"), ("print('it is', x)", "^it is 42$")] {
        let typed = agent.call(
            "input",
            json!({
                "pane": python,
                "text": format!("{line}\n"),
                "wait_any": [{"regex": answer}],
                "timeout_ms": 50_000,
            }),
        )?;
        ensure!(typed["wait"]["matched"] == true, "{line}: {typed}");
    }
    let htop = open(&mut agent, &["htop"], "F10")?;
    let cells = agent.call("screen", json!({"pane": htop, "format": "cells"}))?;
    let rows = cells["cells"].as_array().into_iter().flatten();
    let runs: usize = rows.map(|row| row["runs"].as_array().map_or(0, Vec::len)).sum();
    assert!(runs > 20, "{cells}");
    let place = agent.call("find", json!({"pane": htop, "pattern": "F10"}))?;
    assert_eq!(place["places"][0]["row"], 23, "{place}");
    let left = agent.call(
        "input",
        json!({"pane": htop, "keys": ["q"], "wait_any": [{"exit": true}], "timeout_ms": 50_000}),
    )?;
    ensure!(left["wait"]["matched"] == true, "{left}");
    Ok(())
}

#[test]
fn an_agent_supervises_a_program_and_drives_twenty_panes() -> Result<()> {
    let (_unterm, mut agent) = driven()?;
    let script =
        "for n in 1 2 3; do echo; echo \"May I do $n?\"; read -r A; echo \"$n: $A\"; done; exit 5";
    let mut panes = Vec::new();
    for _ in 0..20 {
        panes.push(open(&mut agent, &["bash", "-c", script], "May I do 1?")?);
    }
    // Wait for each question separately, and answer it only after it was asked: text of an earlier question must not
    // match.
    for n in 1..=3 {
        for pane in &panes {
            seen(
                &mut agent,
                json!({"pane": pane, "any": [{"regex": format!("^May I do {n}\\?$")}]}),
            )?;
            let answer = if n == 2 { "no\n" } else { "yes\n" };
            agent.call("input", json!({"pane": pane, "text": answer}))?;
        }
    }
    for pane in &panes {
        seen(&mut agent, json!({"pane": pane, "any": [{"exit": true}]}))?;
        let screen = agent.call("screen", json!({"pane": pane}))?;
        let text = screen["text"].as_str().unwrap_or_default();
        assert!(["1: yes", "2: no", "3: yes"].iter().all(|line| text.contains(line)), "{text}");
        assert_eq!(screen["ended"], true);
        agent.call("pane_close", json!({"pane": pane}))?;
    }
    Ok(())
}
