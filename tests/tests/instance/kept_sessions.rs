//! Programs that outlive their instance (`sessions.keep`): after a crash, another process takes the instance's place, and
//! after a detach, they are shown again by `--attach`.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{self, Stdio},
    sync::LazyLock,
    thread,
};

use anyhow::{Context as _, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use unterm_tests::{Display, Instance, Start, Wire, binary, wait_for};

/// A headless instance that keeps its programs. The keeper must lie beside it.
fn kept(registry: &Path) -> Start<'static> {
    binary("unterm-keeper");
    Start::headless().registry(registry).arg("-o").arg("sessions.keep=true")
}

fn kill(unterm: &mut Instance) -> Result<()> {
    let pid = Pid::from_raw(unterm.pid() as i32).context("no process")?;
    kill_process(pid, Signal::KILL)?;
    unterm.wait_for_exit().map(drop)
}

/// Waits until the keeper of this home has ended.
fn wait_for_keeper_end(registry: &Path) -> Result<()> {
    let socket = registry.join("keeper.sock");
    let log = || fs::read_to_string(registry.join("keeper.log")).unwrap_or_default();
    wait_for("the keeper's end", || Ok((!socket.exists()).then_some(())), log)
}

/// Connects again with the entry that a client knew before the instance was killed, as soon as another process answers.
fn reconnect(home: &Path, entry: &Value) -> Result<Wire> {
    let log = || fs::read_to_string(home.join("keeper.log")).unwrap_or_default();
    let mut wire = wait_for("the next process", || Ok(Wire::login(entry).ok()), log)?;
    let info = wire.call("instance.info", json!({}))?;
    for same in ["id", "mcp_port", "http_port", "auth_token", "started_at"] {
        assert_eq!(info[same], entry[same], "{same}");
    }
    assert_ne!(info["pid"], entry["pid"]);
    Ok(wire)
}

/// Ends the process to which `wire` is connected, and waits until the keeper has ended, too.
fn end(home: &Path, mut wire: Wire) -> Result<()> {
    let pid = wire.call("instance.info", json!({}))?["pid"].as_i64().context("no pid")?;
    kill_process(Pid::from_raw(pid as i32).context("no process")?, Signal::TERM)?;
    wait_for_keeper_end(home)
}

#[test]
fn agents_reconnect_to_an_instance_that_was_killed() -> Result<()> {
    take_usual_ports();
    let home = tempfile::tempdir()?;
    let mut first = kept(home.path()).now()?;
    let pane = first.first_pane()?;
    pane.wait_for_prompt(&mut first)?;
    pane.type_text(&mut first, "secret=kept; echo ready=$?=\r")?;
    pane.wait(&mut first, "the output", |lines| lines.iter().any(|line| line == "ready=0="))?;
    // The number of a session that was closed is not used again, because a token for it may exist.
    let opened = first.call("session.create", json!({}))?["id"].as_u64().context("no id")?;
    first.call("session.destroy", json!({"id": opened}))?;
    let token = first.call("token.create", json!({"name": "a", "scope": "act", "panes": [0]}))?;
    let entry = first.entry().clone();
    kill(&mut first)?;

    let mut wire = reconnect(home.path(), &entry)?;
    let sessions = wire.call("session.list", json!({}))?;
    let ids: Vec<&Value> =
        sessions["sessions"].as_array().context("none")?.iter().map(|it| &it["id"]).collect();
    assert_eq!(ids, [&json!(0)]);
    let text = wire.call("screen.text", json!({"id": 0}))?.to_string();
    ensure!(text.contains("ready=0="), "{text}");
    // This is the shell from before, with its variables and its marks.
    let ran = wire.call("exec.run_wait", json!({"id": 0, "command": "echo $secret"}))?.to_string();
    ensure!(ran.contains("kept"), "{ran}");
    let mut limited = Wire::login(&json!({
        "mcp_port": entry["mcp_port"], "auth_token": token["token"],
    }))?;
    limited.call("screen.text", json!({"id": 0}))?;
    let next = wire.call("session.create", json!({}))?["id"].as_u64().context("no id")?;
    ensure!(next > opened, "{next} was used before");
    let refused = Wire::login(&json!({
        "mcp_port": entry["mcp_port"], "auth_token": "0123456789abcdef0123456789abcdef",
    }));
    ensure!(refused.is_err(), "another token is accepted");
    end(home.path(), wire)
}

#[test]
fn programs_of_a_detached_instance_are_attached_by_its_name() -> Result<()> {
    let home = tempfile::tempdir()?;
    let mut first = kept(home.path()).now()?;
    let pane = first.first_pane()?;
    pane.wait_for_prompt(&mut first)?;
    pane.type_text(&mut first, "secret=kept; echo ready=$?=\r")?;
    pane.wait(&mut first, "the output", |lines| lines.iter().any(|line| line == "ready=0="))?;
    let name = first.entry()["id"].as_str().context("no id")?.to_owned();
    // The instance may end before the reply has arrived.
    let _ = first.cli(&["detach"]);
    first.wait_for_exit()?;

    let mut refused = Start::headless().registry(home.path()).arg("--attach=nobody").alone()?;
    ensure!(!refused.wait_for_exit()?.success(), "there was nothing to attach");
    let log = refused.log();
    let existing = format!("programs continue of: {name} (1 program)");
    ensure!(log.contains("no program of the instance \"nobody\" continues"), "{log}");
    ensure!(log.contains(&existing), "{log}");
    // A window is not opened either, so no display is needed.
    let mut refused = Start::default().registry(home.path()).arg("--attach=nobody").alone()?;
    ensure!(!refused.wait_for_exit()?.success(), "there was nothing to attach");
    ensure!(refused.log().contains(&existing), "{}", refused.log());
    let error = refused.complains(&["attach", "nobody"])?;
    ensure!(error.contains(&existing), "{error}");

    let mut second = Start::headless().registry(home.path()).arg("--attach").arg(&name).now()?;
    let sessions = second.sessions()?;
    assert_eq!(sessions.len(), 1, "{sessions:?}");
    let pane = second.first_pane()?;
    // The shell's earlier output is still shown.
    pane.wait(&mut second, "the output", |lines| lines.iter().any(|line| line == "ready=0="))?;
    // This is the shell from before, with its variables.
    pane.type_text(&mut second, "echo $secret\r")?;
    pane.wait(&mut second, "the variable", |lines| lines.iter().any(|line| line == "kept"))?;
    second.terminate()?;
    second.wait_for_exit()?;
    wait_for_keeper_end(home.path())
}

#[test]
fn programs_of_an_instance_that_detaches_continue() -> Result<()> {
    let home = tempfile::tempdir()?;
    let mut first = kept(home.path()).now()?;
    let pane = first.first_pane()?;
    pane.wait_for_prompt(&mut first)?;
    pane.type_text(&mut first, "secret=kept; echo ready=$?=\r")?;
    pane.wait(&mut first, "the output", |lines| lines.iter().any(|line| line == "ready=0="))?;
    // The instance may end before the reply has arrived.
    let _ = first.cli(&["detach"]);
    ensure!(first.wait_for_exit()?.success(), "it ends well");
    let mut second = Start::headless().registry(home.path()).arg("--attach").now()?;
    let pane = second.first_pane()?;
    pane.wait(&mut second, "the output", |lines| lines.iter().any(|line| line == "ready=0="))?;
    pane.type_text(&mut second, "echo $secret\r")?;
    pane.wait(&mut second, "the variable", |lines| lines.iter().any(|line| line == "kept"))?;
    second.terminate()?;
    second.wait_for_exit()?;
    wait_for_keeper_end(home.path())
}

/// Occupies the ports that instances prefer, until all tests have ended. An instance that starts now gets a port that no
/// other test takes while the instance is down.
fn take_usual_ports() {
    static TAKEN: LazyLock<Vec<TcpListener>> = LazyLock::new(|| {
        (19876..=19890).filter_map(|port| TcpListener::bind(("127.0.0.1", port)).ok()).collect()
    });
    LazyLock::force(&TAKEN);
}

/// Kills a window, and waits for the process that takes its place. Returns that process's entry.
fn kill_window(unterm: &mut Instance) -> Result<(Value, Wire)> {
    let entry = unterm.entry().clone();
    kill(unterm)?;
    let mut wire = reconnect(unterm.registry(), &entry)?;
    let info = wire.call("instance.info", json!({}))?;
    Ok((info, wire))
}

#[test]
fn a_window_that_dies_before_its_first_pane_loses_nothing() -> Result<()> {
    take_usual_ports();
    let (display, home) = (Display::start()?, tempfile::tempdir()?);
    let (mut first, _, pane) = kept_window(&display, home.path()).at_prompt()?;
    pane.type_text(&mut first, "secret=kept; echo ready=$?=\r")?;
    pane.wait(&mut first, "the output", |lines| lines.iter().any(|line| line == "ready=0="))?;
    let entry = first.entry().clone();
    let (_, mut wire) = kill_window(&mut first)?;
    for died in 1..=2 {
        let before = wire.call("instance.info", json!({}))?;
        let mut window = kept_window(&display, home.path()).alone()?;
        // From this moment on, the last process has left the panes.
        let log = || fs::read_to_string(home.path().join("keeper.log")).unwrap_or_default();
        let is_taking = || Ok((log().matches("takes the place of").count() == died).then_some(()));
        wait_for("the window", is_taking, log)?;
        kill(&mut window)?;
        // The last process may still answer before it ends.
        let login = || {
            let Ok(mut wire) = Wire::login(&entry) else { return Ok(None) };
            let pid = wire.call("instance.info", json!({})).ok().map(|info| info["pid"].clone());
            Ok((pid.is_some_and(|pid| pid != before["pid"])).then_some(wire))
        };
        wire = wait_for("the next process", login, log)?;
    }
    let ran = wire.call("exec.run_wait", json!({"id": 0, "command": "echo $secret"}))?.to_string();
    ensure!(ran.contains("kept"), "{ran}");
    assert_eq!(wire.call("instance.info", json!({}))?["id"], entry["id"]);
    end(home.path(), wire)
}

#[test]
fn a_program_that_ends_without_a_window_is_shown_as_ended() -> Result<()> {
    take_usual_ports();
    let (display, home) = (Display::start()?, tempfile::tempdir()?);
    let (mut first, ..) = kept_window(&display, home.path()).at_prompt()?;
    let (_, mut wire) = kill_window(&mut first)?;
    wire.call("session.input", json!({"id": 0, "input": "echo '<last>'; exit 6\r"}))?;
    let log = || fs::read_to_string(home.path().join("keeper.log")).unwrap_or_default();
    let mut code = || Ok(wire.call("session.status", json!({"id": 0}))?["exit_code"].as_i64());
    assert_eq!(wait_for("the end", &mut code, log)?, 6);
    // No other program runs, so nothing but the next window needs the keeper.
    let mut second = kept_window(&display, home.path()).now()?;
    assert_eq!(second.sessions()?.len(), 1);
    assert_eq!(second.call("session.status", json!({"id": 0}))?["exit_code"], 6);
    let text = second.call("screen.text", json!({"id": 0}))?.to_string();
    ensure!(text.contains("<last>"), "{text}");
    second.terminate()?;
    second.wait_for_exit()?;
    wait_for_keeper_end(home.path())
}

/// Pauses agents, as the settings page does.
fn pause(entry: &Value) -> Result<()> {
    let (port, token) = (&entry["http_port"], entry["auth_token"].as_str().context("no token")?);
    let port = u16::try_from(port.as_u64().context("no port")?)?;
    let body = r#"{"paused": true}"#;
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    write!(
        stream,
        "POST /api/agents/pause HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len(),
    )?;
    let mut reply = String::new();
    stream.read_to_string(&mut reply)?;
    ensure!(reply.starts_with("HTTP/1.1 200"), "{reply}");
    Ok(())
}

/// A window that keeps its programs.
fn kept_window<'a>(display: &'a Display, home: &Path) -> Start<'a> {
    binary("unterm-keeper");
    Start::windowed(display).registry(home).arg("-o").arg("sessions.keep=true")
}

#[test]
fn the_next_window_shows_the_panes_of_a_killed_one() -> Result<()> {
    take_usual_ports();
    let (display, home) = (Display::start()?, tempfile::tempdir()?);
    let start = kept_window(&display, home.path()).arg("--approval=deny");
    let (mut first, _, pane) = start.at_prompt()?;
    first.act(&["split_right"])?;
    pane.type_text(&mut first, "secret=kept; echo ready=$?=\r")?;
    pane.wait(&mut first, "the output", |lines| lines.iter().any(|line| line == "ready=0="))?;
    let entry = first.entry().clone();
    let (_, mut wire) = kill_window(&mut first)?;
    // Neither a pause nor a lease keeps the window from opening.
    wire.call("session.lease", json!({"id": 0, "ttl_ms": 600_000}))?;
    pause(&entry)?;
    let mut second = kept_window(&display, home.path()).now()?;
    for same in ["id", "mcp_port", "http_port", "auth_token", "started_at"] {
        assert_eq!(second.entry()[same], entry[same], "{same}");
    }
    assert_eq!(second.sessions()?.len(), 2);
    let layout = second.call("session.list", json!({}))?;
    ensure!(layout["sessions"][0]["id"] == 0, "{layout}");
    let log = || fs::read_to_string(home.path().join("keeper.log")).unwrap_or_default();
    wait_for(
        "the end of the instance between",
        || Ok(wire.call("server.health", json!({})).is_err().then_some(())),
        log,
    )?;
    second.terminate()?;
    ensure!(second.wait_for_exit()?.success(), "{}", second.log());
    wait_for_keeper_end(home.path())
}

#[test]
fn of_two_windows_one_takes_the_place_of_a_killed_one() -> Result<()> {
    take_usual_ports();
    let (display, home) = (Display::start()?, tempfile::tempdir()?);
    let (mut first, ..) = kept_window(&display, home.path()).at_prompt()?;
    first.act(&["new_tab"])?;
    let entry = first.entry().clone();
    drop(kill_window(&mut first)?);
    let (one, two) = thread::scope(|scope| {
        let start = || kept_window(&display, home.path()).now();
        let (one, two) = (scope.spawn(start), scope.spawn(start));
        (one.join(), two.join())
    });
    let mut both = [one, two].map(|window| window.expect("no panic").expect("a window"));
    let tokens: Vec<Value> = both.iter().map(|it| it.entry()["auth_token"].clone()).collect();
    assert_ne!(tokens[0], tokens[1]);
    assert_eq!(tokens.iter().filter(|token| **token == entry["auth_token"]).count(), 1);
    let mut counts = Vec::new();
    for window in &mut both {
        counts
            .push((window.entry()["auth_token"] == entry["auth_token"], window.sessions()?.len()));
    }
    counts.sort_unstable();
    assert_eq!(counts, [(false, 1), (true, 2)]);
    for mut window in both {
        window.terminate()?;
        window.wait_for_exit()?;
    }
    wait_for_keeper_end(home.path())
}

#[test]
fn a_new_instance_of_a_name_inherits_no_older_programs() -> Result<()> {
    take_usual_ports();
    let home = tempfile::tempdir()?;
    let mut first = kept(home.path()).now()?;
    let pane = first.first_pane()?;
    pane.wait_for_prompt(&mut first)?;
    pane.type_text(&mut first, "whose=older\r")?;
    let name = first.entry()["id"].clone();
    let _ = first.cli(&["detach"]);
    first.wait_for_exit()?;

    let mut second = kept(home.path()).now()?;
    assert_eq!(second.entry()["id"], name);
    let pane = second.first_pane()?;
    pane.wait_for_prompt(&mut second)?;
    pane.type_text(&mut second, "whose=newer; echo ready=$?=\r")?;
    pane.wait(&mut second, "the output", |lines| lines.iter().any(|line| line == "ready=0="))?;
    let entry = second.entry().clone();
    kill(&mut second)?;
    let mut wire = reconnect(home.path(), &entry)?;
    let sessions = wire.call("session.list", json!({}))?;
    assert_eq!(sessions["sessions"].as_array().map(Vec::len), Some(1), "{sessions}");
    let ran = wire.call("exec.run_wait", json!({"id": 0, "command": "echo $whose"}))?.to_string();
    ensure!(ran.contains("newer"), "{ran}");
    // A clean end starts nothing for the programs of the older one. They still can be shown.
    let pid = wire.call("instance.info", json!({}))?["pid"].as_i64().context("no pid")?;
    kill_process(Pid::from_raw(pid as i32).context("no process")?, Signal::TERM)?;
    let mut third = Start::headless().registry(home.path()).arg("--attach").now()?;
    let pane = third.first_pane()?;
    pane.type_text(&mut third, "echo it is $whose\r")?;
    pane.wait(&mut third, "the variable", |lines| lines.iter().any(|line| line == "it is older"))?;
    third.terminate()?;
    third.wait_for_exit()?;
    wait_for_keeper_end(home.path())
}

#[test]
fn tabs_move_between_windows_with_their_programs() -> Result<()> {
    let (display, home) = (Display::start()?, tempfile::tempdir()?);
    let (mut one, _, pane) = kept_window(&display, home.path()).at_prompt()?;
    pane.type_text(&mut one, "secret=kept; echo ready=$?=\r")?;
    pane.wait(&mut one, "the output", |lines| lines.iter().any(|line| line == "ready=0="))?;
    one.act(&["split_right"])?;
    one.act(&["new_tab"])?;
    assert_eq!(one.sessions()?.len(), 3);

    // To a new window, with its split.
    let moved = one.call("session.move_to_window", json!({"id": 0, "tab": true}))?;
    assert_eq!(moved["moved"], json!([0, 1]));
    assert_eq!(one.sessions()?.len(), 1);
    let other = others(&one)?.pop().context("no window")?;
    let mut wire = Wire::login(&other)?;
    let list = wire.call("session.list", json!({}))?;
    assert_eq!(list["sessions"].as_array().map(Vec::len), Some(2), "{list}");
    let text = wire.call("screen.text", json!({"id": 0}))?.to_string();
    ensure!(text.contains("ready=0="), "{text}");
    let ran = wire.call("exec.run_wait", json!({"id": 0, "command": "echo $secret"}))?.to_string();
    ensure!(ran.contains("kept"), "{ran}");

    // Back by name. The other window ends with its last tab.
    let name = one.entry()["id"].clone();
    let back = wire.call("session.move_to_window", json!({"id": 0, "tab": true, "to": name}));
    let log = || fs::read_to_string(home.path().join("keeper.log")).unwrap_or_default();
    let all_back = || Ok((one.sessions()?.len() == 3).then_some(()));
    wait_for("the moved tab", all_back, log)?;
    if let Ok(back) = back {
        assert_eq!(back["sessions"].as_array().map(Vec::len), Some(2), "{back}");
    }
    let pid =
        Pid::from_raw(other["pid"].as_i64().context("no pid")? as i32).context("no process")?;
    let has_ended = || Ok(kill_process(pid, Signal::CONT).is_err().then_some(()));
    wait_for("the end of the empty window", has_ended, log)?;

    // Sessions that can't move stay.
    let refusal = one
        .call("session.move_to_window", json!({"id": 2, "to": "nobody"}))
        .unwrap_err()
        .to_string();
    ensure!(refusal.contains("there is none"), "{refusal}");
    assert_eq!(one.sessions()?.len(), 3);
    one.terminate()?;
    one.wait_for_exit()?;
    wait_for_keeper_end(home.path())
}

/// The value of the variable `whose` in the shell of a session.
fn whose(wire: &mut Wire, session: u64) -> Result<Value> {
    let run = json!({"id": session, "command": "echo $whose"});
    Ok(wire.call("exec.run_wait", run)?["output"].clone())
}

#[test]
fn a_moved_session_has_its_number_after_a_crash() -> Result<()> {
    take_usual_ports();
    let home = tempfile::tempdir()?;
    // The older program comes second: numbers must not go by age.
    let (mut two, mut one) = (kept(home.path()).now()?, kept(home.path()).now()?);
    for (unterm, name) in [(&mut one, "one"), (&mut two, "two")] {
        let pane = unterm.first_pane()?;
        pane.wait_for_prompt(unterm)?;
        unterm.call("exec.run_wait", json!({"id": 0, "command": format!("whose={name}")}))?;
    }
    two.call("session.create", json!({}))?;
    let to = one.entry()["id"].clone();
    let moved = two.call("session.move_to_window", json!({"id": 0, "to": to}))?;
    assert_eq!(moved["sessions"], json!([1]));
    let token = one.call("token.create", json!({"name": "a", "scope": "act", "panes": [0]}))?;
    let entry = one.entry().clone();
    let log = || fs::read_to_string(home.path().join("keeper.log")).unwrap_or_default();
    kill(&mut one)?;
    let mut wire = reconnect(home.path(), &entry)?;
    wait_for(
        "both programs",
        || {
            let list = wire.call("session.list", json!({}))?;
            Ok((list["sessions"].as_array().map(Vec::len) == Some(2)).then_some(()))
        },
        log,
    )?;
    assert_eq!(whose(&mut wire, 0)?, "one");
    let mut limited = Wire::login(&json!({
        "mcp_port": entry["mcp_port"], "auth_token": token["token"],
    }))?;
    assert_eq!(whose(&mut limited, 0)?, "one");
    two.terminate()?;
    two.wait_for_exit()?;
    end(home.path(), wire)
}

#[test]
fn a_failed_move_of_the_last_session_ends_nothing() -> Result<()> {
    take_usual_ports();
    let (display, home) = (Display::start()?, tempfile::tempdir()?);
    let (mut window, ..) = kept_window(&display, home.path()).at_prompt()?;
    window.call("exec.run_wait", json!({"id": 0, "command": "whose=mine"}))?;
    let target =
        Start::headless().registry(home.path()).arg("-o").arg("sessions.keep=false").now()?;
    let (waiting, mut wire) = kill_window(&mut window)?;
    let to = target.entry()["id"].clone();
    let error = wire.call("session.move_to_window", json!({"id": 0, "to": to})).unwrap_err();
    ensure!(format!("{error:#}").contains("sessions.keep"), "{error:#}");
    // The instance waits for a window, and ends with its last program. The program came back meanwhile, so another process
    // takes the instance's place.
    let log = || fs::read_to_string(home.path().join("keeper.log")).unwrap_or_default();
    let login = || {
        let Ok(mut wire) = Wire::login(&waiting) else { return Ok(None) };
        let pid = wire.call("instance.info", json!({})).ok().map(|info| info["pid"].clone());
        Ok((pid.is_some_and(|pid| pid != waiting["pid"])).then_some(wire))
    };
    let mut wire = wait_for("the next process", login, log)?;
    let list = wire.call("session.list", json!({}))?;
    let id = list["sessions"][0]["id"].as_u64().context("no session")?;
    assert_eq!(whose(&mut wire, id)?, "mine");
    drop(target);
    end(home.path(), wire)
}

/// The entries of all instances but this one.
fn others(unterm: &Instance) -> Result<Vec<Value>> {
    let entries = fs::read_dir(unterm.registry().join("instances"))?;
    // An entry that is being written is not complete.
    let read = |path: &Path| serde_json::from_slice(&fs::read(path).ok()?).ok();
    let mut entries: Vec<Value> = entries.filter_map(|it| read(&it.ok()?.path())).collect();
    entries.retain(|it| it["pid"] != unterm.entry()["pid"]);
    Ok(entries)
}

#[test]
fn a_tab_dragged_out_of_the_bar_gets_a_window() -> Result<()> {
    let (display, home) = (Display::start()?, tempfile::tempdir()?);
    let (mut unterm, window, pane) = kept_window(&display, home.path()).at_prompt()?;
    pane.type_text(&mut unterm, "secret=kept; echo ready=$?=\r")?;
    pane.wait(&mut unterm, "the output", |lines| lines.iter().any(|line| line == "ready=0="))?;
    unterm.act(&["new_tab"])?;
    window.wait_for_input()?;
    // The first tab is at the left of the bar.
    window.drag((60, 12), (60, 300))?;
    let log = || fs::read_to_string(home.path().join("keeper.log")).unwrap_or_default();
    let other = wait_for("the new window", || Ok(others(&unterm)?.pop()), log)?;
    let mut wire = Wire::login(&other)?;
    let ran = wire.call("exec.run_wait", json!({"id": 0, "command": "echo $secret"}))?.to_string();
    ensure!(ran.contains("kept"), "{ran}");
    assert_eq!(unterm.sessions()?.len(), 1);
    let pid = other["pid"].as_i64().context("no pid")?;
    kill_process(Pid::from_raw(pid as i32).context("no process")?, Signal::TERM)?;
    unterm.terminate()?;
    unterm.wait_for_exit()?;
    wait_for_keeper_end(home.path())
}

#[test]
fn a_run_survives_the_crash_of_its_instance() -> Result<()> {
    take_usual_ports();
    let home = tempfile::tempdir()?;
    let mut unterm = kept(home.path()).now()?;
    let pane = unterm.first_pane()?;
    pane.wait_for_prompt(&mut unterm)?;
    let gate = unterm.home().join("gate");
    rustix::fs::mkfifoat(rustix::fs::CWD, &gate, rustix::fs::Mode::RWXU)?;
    let mut command = process::Command::new(binary("unterm-cli"));
    let line = format!("echo 'it begins'; read -r word < {}; echo $word; (exit 7)", gate.display());
    command.env("UNTERM_HOME", home.path()).args(["--json", "run", "--id", "0", "--", &line]);
    let running = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    pane.wait(&mut unterm, "the output", |lines| lines.iter().any(|line| line == "it begins"))?;
    let entry = unterm.entry().clone();
    kill(&mut unterm)?;
    let wire = reconnect(home.path(), &entry)?;
    fs::write(&gate, "after the crash\n")?;
    let ran = running.wait_with_output()?;
    let reply: Value = serde_json::from_slice(&ran.stdout)
        .with_context(|| String::from_utf8_lossy(&ran.stderr).into_owned())?;
    assert_eq!(reply["output"], "it begins\nafter the crash");
    assert_eq!((&reply["exit_code"], &reply["exit_source"]), (&json!(7), &json!("block")));
    assert_eq!(ran.status.code(), Some(1));
    end(home.path(), wire)
}

/// Restarts an instance. Afterward, its process has the same id, and its entry the same name, ports and token.
fn restart(unterm: &Instance) -> Result<Wire> {
    let entry = unterm.entry();
    let printed = unterm.prints(&["restart"])?;
    ensure!(printed.contains(entry["version"].as_str().context("no version")?), "{printed}");
    let mut wire = Wire::login(entry)?;
    let info = wire.call("instance.info", json!({}))?;
    for same in ["id", "pid", "mcp_port", "http_port", "auth_token", "started_at"] {
        assert_eq!(info[same], entry[same], "{same}");
    }
    Ok(wire)
}

#[test]
fn a_restarted_instance_has_its_programs_and_agents() -> Result<()> {
    let home = tempfile::tempdir()?;
    take_usual_ports();
    let mut unterm = kept(home.path()).now()?;
    let pane = unterm.first_pane()?;
    pane.wait_for_prompt(&mut unterm)?;
    pane.type_text(&mut unterm, "secret=kept; echo ready=$?=\r")?;
    pane.wait(&mut unterm, "the output", |lines| lines.iter().any(|line| line == "ready=0="))?;
    let mut wire = unterm.connect()?;
    for _ in 0..3 {
        let before = wire.call("screen.text", json!({"id": 0}))?;
        wire = restart(&unterm)?;
        let after = wire.call("screen.text", json!({"id": 0}))?;
        for part in ["lines", "cursor", "cols", "rows"] {
            assert_eq!(after[part], before[part]);
        }
        let run = json!({"id": 0, "command": "echo $secret"});
        let ran = wire.call("exec.run_wait", run)?.to_string();
        ensure!(ran.contains("kept"), "{ran}");
    }
    // A program that starts after a restart has the limits that it would have had before.
    wire.call("session.create", json!({}))?;
    let run = json!({"id": 1, "command": "ulimit -Sn"});
    let new = wire.call("exec.run_wait", run)?["output"].to_string();
    let old = wire.call("exec.run_wait", json!({"id": 0, "command": "ulimit -Sn"}))?;
    assert_eq!(new, old["output"].to_string());
    unterm.terminate()?;
    ensure!(unterm.wait_for_exit()?.success(), "{}", unterm.log());
    wait_for_keeper_end(home.path())
}

#[test]
fn a_restart_without_a_keeper_is_refused() -> Result<()> {
    let mut unterm = Start::headless().arg("-o").arg("sessions.keep=false").now()?;
    let refusal = unterm.complains(&["restart"])?;
    ensure!(refusal.contains("sessions.keep"), "{refusal}");
    assert_eq!(unterm.sessions()?.len(), 1);
    Ok(())
}

#[test]
fn a_restarted_window_has_its_size_and_its_splits() -> Result<()> {
    take_usual_ports();
    let (display, home) = (Display::start()?, tempfile::tempdir()?);
    let (mut unterm, window, pane) = kept_window(&display, home.path()).at_prompt()?;
    window.resize(903, 555)?;
    unterm.act(&["split_right"])?;
    unterm.act(&["new_tab"])?;
    unterm.act(&["previous_tab"])?;
    unterm.act(&["focus_left"])?;
    pane.type_text(&mut unterm, "secret=kept; echo ready=$?=\r")?;
    pane.wait(&mut unterm, "the output", |lines| lines.iter().any(|line| line == "ready=0="))?;
    let sizes = |sessions: Vec<Value>| -> Vec<Value> {
        sessions.into_iter().map(|it| json!([it["id"], it["cols"], it["rows"]])).collect()
    };
    let before = sizes(unterm.sessions()?);
    let mut wire = restart(&unterm)?;
    let window = display.window_of(&unterm)?;
    assert_eq!(window.size()?, (903, 555));
    let sessions = wire.call("session.list", json!({}))?;
    let after = sizes(sessions["sessions"].as_array().context("none")?.clone());
    assert_eq!(after, before);
    // The tab and the pane that had the focus have it again.
    let layout = wire.call("tab.list", json!({}))?;
    let tabs = layout["tabs"].as_array().context("no tabs")?;
    let focus: Vec<Value> = tabs.iter().map(|tab| json!([tab["active"], tab["focused"]])).collect();
    assert_eq!(focus, [json!([true, 0]), json!([false, 2])]);
    let ran = wire.call("exec.run_wait", json!({"id": 0, "command": "echo $secret"}))?.to_string();
    ensure!(ran.contains("kept"), "{ran}");
    unterm.terminate()?;
    ensure!(unterm.wait_for_exit()?.success(), "{}", unterm.log());
    wait_for_keeper_end(home.path())
}

#[test]
fn stopping_an_instance_ends_its_kept_programs() -> Result<()> {
    let home = tempfile::tempdir()?;
    let mut unterm = kept(home.path()).now()?;
    let pane = unterm.first_pane()?;
    pane.wait_for_prompt(&mut unterm)?;
    pane.type_text(&mut unterm, "echo pid=$$=\r")?;
    let is_pid = |line: &String| line.starts_with("pid=") && !line.contains('$');
    let lines = pane.wait(&mut unterm, "the shell's id", |lines| lines.iter().any(is_pid))?;
    let pid = lines.iter().find(|line| is_pid(line)).context("no id")?;
    let pid = pid.trim_start_matches("pid=").trim_end_matches('=').to_owned();
    unterm.terminate()?;
    ensure!(unterm.wait_for_exit()?.success(), "it ends well");
    wait_for_keeper_end(home.path())?;
    ensure!(!Path::new(&format!("/proc/{pid}")).exists(), "{pid} runs");
    Ok(())
}

#[test]
fn without_a_keeper_an_instance_works_and_warns_once() -> Result<()> {
    let home = tempfile::tempdir()?;
    // The keeper cannot lock a folder.
    fs::create_dir(home.path().join("keeper.lock"))?;
    let mut unterm = kept(home.path()).now()?;
    let pane = unterm.first_pane()?;
    pane.wait_for_prompt(&mut unterm)?;
    unterm.wait_for_log("Programs do not outlive this window: ")?;
    ensure!(unterm.log().matches("do not outlive").count() == 1, "{}", unterm.log());
    Ok(())
}
