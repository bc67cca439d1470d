//! Lines that the rules of a machine block. Such a line waits for a user's decision at the hub.

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use unterm_tests::{
    fleet::{Agent, Fleet},
    wait_for,
};

use super::{CONVERSATION, approved, send};

const HELD: &str = "[held: a rule of the machine blocks this line: ";

/// Blocks all lines that contain a text.
fn block(fleet: &mut Fleet, text: &str) -> Result<()> {
    let rules = json!({"enabled": true, "blocked_patterns": [text], "allowed_patterns": []});
    fleet.unterm.call("policy.set", rules)?;
    Ok(())
}

/// The only blocked line.
fn waiting(fleet: &Fleet) -> Result<Value> {
    let mut lines = fleet.admin(&["lines"])?["lines"].take();
    let lines = lines.as_array_mut().context("no list")?;
    ensure!(lines.len() == 1, "{lines:?}");
    Ok(lines.remove(0))
}

fn id(line: &Value) -> Result<&str> {
    line["id"].as_str().context("no id")
}

/// The error message of a command, which must have failed.
fn complaint(output: &std::process::Output) -> Result<String> {
    let why = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(!output.status.success(), "{output:?}");
    Ok(why)
}

/// The events of a call in the audit log, in order.
fn events(fleet: &Fleet, call: &str) -> Result<Vec<String>> {
    let log = fleet.admin(&["audit"])?;
    let entries = log["entries"].as_array().context("no log")?.iter();
    let events = entries.filter(|entry| entry["call"] == call).map(|entry| &entry["event"]);
    Ok(events.map(|event| event.as_str().unwrap_or_default().to_owned()).collect())
}

/// How often the command ran. Each run of the command appends a line to the file.
fn runs(fleet: &Fleet) -> usize {
    let ran = std::fs::read_to_string(fleet.unterm.home().join("ran"));
    ran.map_or(0, |text| text.lines().count())
}

#[test]
fn a_blocked_line_is_entered_once_after_its_release() -> Result<()> {
    let Some(mut fleet) = Fleet::start(&[])? else { return Ok(()) };
    let (mut agent, machine, session) = approved(&fleet)?;
    block(&mut fleet, "~/ran")?;
    let line = "echo once >> ~/ran";
    for (number, mode) in ["enter", "paste"].into_iter().enumerate() {
        let mut call = send(&machine, &session, line);
        call["submit_mode"] = mode.into();
        let held = agent.call("send_to_session", call)?;
        ensure!(!held.is_error && held.text.starts_with(HELD), "{mode}: {held:?}");
        let waits = waiting(&fleet)?;
        assert_eq!((&waits["line"], &waits["rule"]), (&json!(line), &json!("~/ran")));
        assert_eq!(
            (&waits["conversation"], &waits["machine"]),
            (&json!(CONVERSATION), &json!(machine))
        );
        assert_eq!(runs(&fleet), number, "not before it is released");
        // Two users release the line at the same time.
        let release = || fleet.run(&["release", id(&waits)?]);
        let (one, other) = std::thread::scope(|scope| {
            let other = scope.spawn(release);
            (release(), other.join().expect("a thread panicked"))
        });
        let (one, other) = (one?, other?);
        ensure!(one.status.success() != other.status.success(), "{one:?}, {other:?}");
        let ran = || Ok((runs(&fleet) == number + 1).then_some(()));
        wait_for("the released line", ran, String::new)?;
        let why = complaint(&fleet.run(&["release", id(&waits)?])?)?;
        ensure!(why.contains("no line waits"), "{why}");
        assert_eq!(events(&fleet, id(&waits)?)?, ["begun", "held", "begun", "done"]);
    }
    // The release applied only to one line.
    let held = agent.call("send_to_session", send(&machine, &session, line))?;
    ensure!(held.text.starts_with(HELD), "{held:?}");
    let waits = waiting(&fleet)?;
    fleet.admin(&["drop", id(&waits)?])?;
    assert_eq!(fleet.admin(&["lines"])?, json!({"lines": []}));
    assert_eq!(runs(&fleet), 2);
    assert_eq!(events(&fleet, id(&waits)?)?, ["begun", "held", "refused"]);
    Ok(())
}

#[test]
fn a_line_changed_before_its_release_is_not_entered() -> Result<()> {
    let Some(mut fleet) = Fleet::start(&[])? else { return Ok(()) };
    let (mut agent, machine, session) = approved(&fleet)?;
    block(&mut fleet, "~/ran")?;
    agent.call("send_to_session", send(&machine, &session, "echo once >> ~/ran"))?;
    // The text at the prompt changes before the line is released.
    let mut other = send(&machine, &session, "echo other; ");
    other["submit_mode"] = "raw".into();
    agent.call("send_to_session", other)?.json()?;
    let why = complaint(&fleet.run(&["release", id(&waiting(&fleet)?)?])?)?;
    ensure!(why.contains("a different line"), "{why}");
    assert_eq!((fleet.admin(&["lines"])?, runs(&fleet)), (json!({"lines": []}), 0));

    // The rules would allow the text that is at the prompt now, but the user has not seen that text.
    let pane = fleet.unterm.first_pane()?;
    pane.type_text(&mut fleet.unterm, "\u{15}")?;
    pane.wait_for_prompt(&mut fleet.unterm)?;
    let rules = json!({
        "enabled": true, "blocked_patterns": [], "allowed_patterns": ["echo yes"], "enforce_allowed": true,
    });
    fleet.unterm.call("policy.set", rules)?;
    let mut typed = send(&machine, &session, "echo no");
    typed["submit_mode"] = "paste".into();
    let held = agent.call("send_to_session", typed)?;
    ensure!(held.text.starts_with(HELD), "{held:?}");
    pane.type_text(&mut fleet.unterm, "\u{15}echo yes >> ~/ran")?;
    pane.wait_for_text(&mut fleet.unterm, "ready$ echo yes >> ~/ran")?;
    let why = complaint(&fleet.run(&["release", id(&waiting(&fleet)?)?])?)?;
    ensure!(why.contains("not the one that the user released"), "{why}");
    pane.type_text(&mut fleet.unterm, "\u{15}")?;
    assert_eq!(runs(&fleet), 0);
    Ok(())
}

#[test]
fn a_line_that_the_screen_hides_cannot_be_released() -> Result<()> {
    let Some(mut fleet) = Fleet::start(&[])? else { return Ok(()) };
    let (mut agent, machine, session) = approved(&fleet)?;
    let pane = fleet.unterm.first_pane()?;
    let raw = |text: &str| {
        let mut call = send(&machine, &session, text);
        call["submit_mode"] = "raw".into();
        call
    };
    // The shell shows the end of a long line and hides its beginning.
    agent.call(
        "send_to_session",
        send(&machine, &session, "bind 'set horizontal-scroll-mode on'"),
    )?;
    pane.wait_for_prompt(&mut fleet.unterm)?;
    block(&mut fleet, "git push")?;
    let hidden = format!("echo hidden >> ~/ran; : {}; ", "a".repeat(200));
    for text in [hidden.as_str(), "\u{5}", ": git pu"] {
        agent.call("send_to_session", raw(text))?.json()?;
    }
    pane.wait_for_text(&mut fleet.unterm, "a; : git pu")?;
    let refused = || {
        let refused = agent.call("send_to_session", raw("sh\r"))?;
        ensure!(!refused.text.starts_with(HELD), "{refused:?}");
        let is_known = !refused.text.contains("may not show the last keys yet");
        Ok(is_known.then_some(refused))
    };
    let refused = wait_for("the shown keys", refused, String::new)?;
    ensure!(refused.is_error, "{refused:?}");
    assert_eq!((fleet.admin(&["lines"])?, runs(&fleet)), (json!({"lines": []}), 0));
    // The user can enter the line by typing it again as a whole.
    pane.type_text(&mut fleet.unterm, "\u{3}")?;
    pane.wait_for_prompt(&mut fleet.unterm)?;
    let held = agent.call("send_to_session", send(&machine, &session, ": git push"))?;
    ensure!(held.text.starts_with(HELD), "{held:?}");
    assert_eq!(waiting(&fleet)?["line"], ": git push");
    assert_eq!(runs(&fleet), 0);
    Ok(())
}

#[test]
fn a_dropped_line_is_cleared_from_the_prompt() -> Result<()> {
    let Some(mut fleet) = Fleet::start(&[])? else { return Ok(()) };
    let (mut agent, machine, session) = approved(&fleet)?;
    // Any text may be typed at the prompt, but only `ls` may be entered.
    let rules = json!({
        "enabled": true, "blocked_patterns": [], "allowed_patterns": ["ls"], "enforce_allowed": true,
    });
    fleet.unterm.call("policy.set", rules)?;
    let mut call = send(&machine, &session, "echo $((6 * 7))");
    call["submit_mode"] = "paste".into();
    let held = agent.call("send_to_session", call)?;
    ensure!(held.text.starts_with(HELD), "{held:?}");
    let pane = fleet.unterm.first_pane()?;
    pane.wait_for_text(&mut fleet.unterm, "echo $((6 * 7))")?;
    fleet.admin(&["drop", id(&waiting(&fleet)?)?])?;
    pane.wait_for_text(&mut fleet.unterm, "echo $((6 * 7))^C")?;
    let lines = pane.lines(&mut fleet.unterm)?;
    ensure!(!lines.iter().any(|line| line == "42"), "{lines:?}");
    Ok(())
}

#[test]
fn a_blocked_command_of_a_tool_waits_too() -> Result<()> {
    let Some(mut fleet) = Fleet::start(&[])? else { return Ok(()) };
    let machine = fleet.machine()?;
    let mut agent =
        Agent::connect_to(fleet.address(), "/mcp/sse?toolset=unterm", &fleet.token(&[])?)?;
    let run = json!({
        "machine": machine, "conversation_id": CONVERSATION, "command": "echo once >> ~/ran",
    });
    agent.call("run", run.clone())?;
    fleet.admin(&["approve", CONVERSATION])?;
    block(&mut fleet, "~/ran")?;
    let held = agent.call("run", run)?;
    ensure!(held.text.starts_with(HELD), "{held:?}");
    assert_eq!(runs(&fleet), 0);
    fleet.admin(&["release", id(&waiting(&fleet)?)?])?;
    assert_eq!(runs(&fleet), 1);
    Ok(())
}

#[test]
fn a_caller_that_lost_its_rights_gets_no_line_entered() -> Result<()> {
    let Some(mut fleet) = Fleet::start(&[])? else { return Ok(()) };
    let (mut agent, machine, session) = approved(&fleet)?;
    block(&mut fleet, "~/ran")?;
    let line = send(&machine, &session, "echo once >> ~/ran");
    agent.call("send_to_session", line.clone())?;
    let waits = waiting(&fleet)?;
    fleet.admin(&["stop-agents"])?;
    let why = complaint(&fleet.run(&["release", id(&waits)?])?)?;
    ensure!(why.contains("all agents are stopped"), "{why}");
    assert_eq!(waiting(&fleet)?["id"], waits["id"], "it waits for the end of the stop");
    fleet.admin(&["start-agents"])?;
    fleet.admin(&["revoke", CONVERSATION])?;
    let why = complaint(&fleet.run(&["release", id(&waits)?])?)?;
    ensure!(why.contains("may not act any more"), "{why}");
    assert_eq!((fleet.admin(&["lines"])?, runs(&fleet)), (json!({"lines": []}), 0));
    Ok(())
}

#[test]
fn a_user_who_types_a_blocked_line_may_release_it() -> Result<()> {
    let Some(mut fleet) = Fleet::start(&[])? else { return Ok(()) };
    let (machine, visitor) = (fleet.machine()?, fleet.sign_in(&[])?);
    let session = visitor.get("/api/overview")?["machines"][0]["sessions"][0]["sid"].take();
    block(&mut fleet, "~/ran")?;
    let line = "echo once >> ~/ran";
    let mut body = json!({"machine": machine, "sid": session, "text": format!("{line}\r")});
    let (status, asked) = visitor.ask("POST", "/api/sessions/type", &body)?;
    let blocked = json!({"line": line, "shown": line, "rule": "~/ran"});
    assert_eq!((status, &asked["blocked"]), (200, &blocked));
    body["released"] = line.into();
    visitor.post("/api/sessions/type", &body)?;
    wait_for("the released line", || Ok((runs(&fleet) == 1).then_some(())), String::new)?;
    Ok(())
}
