//! Lines that the rules of a machine block: they wait for a person at the hub.

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use unterm_tests::{
    fleet::{Agent, Fleet},
    wait_for,
};

use super::{CONVERSATION, approved, send};

const HELD: &str = "[held: a rule of the machine blocks this line: ";

/// Blocks a text in all lines.
fn block(fleet: &mut Fleet, text: &str) -> Result<()> {
    let rules = json!({"enabled": true, "blocked_patterns": [text], "allowed_patterns": []});
    fleet.unterm.call("policy.set", rules)?;
    Ok(())
}

/// The only line that waits.
fn waiting(fleet: &Fleet) -> Result<Value> {
    let mut lines = fleet.admin(&["lines"])?["lines"].take();
    let lines = lines.as_array_mut().context("no list")?;
    ensure!(lines.len() == 1, "{lines:?}");
    Ok(lines.remove(0))
}

fn id(line: &Value) -> Result<&str> {
    line["id"].as_str().context("no id")
}

/// How often a line of a file says that a command ran.
fn runs(fleet: &Fleet) -> usize {
    let ran = std::fs::read_to_string(fleet.unterm.home().join("ran"));
    ran.map_or(0, |text| text.lines().count())
}

#[test]
fn a_blocked_line_waits_and_is_entered_once_when_a_person_releases_it() -> Result<()> {
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
        fleet.admin(&["release", id(&waits)?])?;
        let ran = || Ok((runs(&fleet) == number + 1).then_some(()));
        wait_for("the released line", ran, String::new)?;
        let again = fleet.run(&["release", id(&waits)?])?;
        ensure!(!again.status.success());
    }
    // The release was for one line.
    let held = agent.call("send_to_session", send(&machine, &session, line))?;
    ensure!(held.text.starts_with(HELD), "{held:?}");
    let waits = waiting(&fleet)?;
    fleet.admin(&["drop", id(&waits)?])?;
    assert_eq!(fleet.admin(&["lines"])?, json!({"lines": []}));
    assert_eq!(runs(&fleet), 2);
    let log = fleet.admin(&["audit"])?;
    let events = |call: &str| {
        let entries = log["entries"].as_array().into_iter().flatten();
        let of = entries.filter(|entry| entry["call"] == call);
        of.map(|entry| entry["event"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(json!(events(id(&waits)?)), json!(["begun", "held", "refused"]));
    Ok(())
}

#[test]
fn a_line_that_has_changed_meanwhile_is_not_entered() -> Result<()> {
    let Some(mut fleet) = Fleet::start(&[])? else { return Ok(()) };
    let (mut agent, machine, session) = approved(&fleet)?;
    block(&mut fleet, "~/ran")?;
    agent.call("send_to_session", send(&machine, &session, "echo once >> ~/ran"))?;
    // Another text stands at the prompt, before the line is released.
    let mut other = send(&machine, &session, "echo other; ");
    other["submit_mode"] = "raw".into();
    agent.call("send_to_session", other)?.json()?;
    let released = fleet.run(&["release", id(&waiting(&fleet)?)?])?;
    let why = String::from_utf8_lossy(&released.stderr).into_owned();
    ensure!(!released.status.success() && why.contains("not the one that was released"), "{why}");
    assert_eq!((fleet.admin(&["lines"])?, runs(&fleet)), (json!({"lines": []}), 0));
    Ok(())
}

#[test]
fn a_dropped_line_is_cleared_from_the_prompt() -> Result<()> {
    let Some(mut fleet) = Fleet::start(&[])? else { return Ok(()) };
    let (mut agent, machine, session) = approved(&fleet)?;
    // Text may stand at the prompt, but only `ls` may be entered.
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
    pane.wait_for_text(&mut fleet.unterm, "echo $((6 * 7))^C\nready$")?;
    let lines = pane.lines(&mut fleet.unterm)?;
    ensure!(!lines.iter().any(|line| line == "42"), "{lines:?}");
    Ok(())
}

#[test]
fn a_command_of_a_tool_waits_as_well() -> Result<()> {
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
fn who_may_not_act_any_more_gets_no_line_entered() -> Result<()> {
    let Some(mut fleet) = Fleet::start(&[])? else { return Ok(()) };
    let (mut agent, machine, session) = approved(&fleet)?;
    block(&mut fleet, "~/ran")?;
    let line = send(&machine, &session, "echo once >> ~/ran");
    agent.call("send_to_session", line.clone())?;
    let waits = waiting(&fleet)?;
    fleet.admin(&["stop-agents"])?;
    ensure!(!fleet.run(&["release", id(&waits)?])?.status.success());
    assert_eq!(waiting(&fleet)?["id"], waits["id"], "it waits for the end of the stop");
    fleet.admin(&["start-agents"])?;
    fleet.admin(&["revoke", CONVERSATION])?;
    let refused = fleet.run(&["release", id(&waits)?])?;
    let why = String::from_utf8_lossy(&refused.stderr).into_owned();
    ensure!(!refused.status.success() && why.contains("may not act any more"), "{why}");
    assert_eq!((fleet.admin(&["lines"])?, runs(&fleet)), (json!({"lines": []}), 0));
    Ok(())
}

#[test]
fn a_person_who_types_a_blocked_line_is_asked_and_may_release_it() -> Result<()> {
    let Some(mut fleet) = Fleet::start(&[])? else { return Ok(()) };
    let (machine, visitor) = (fleet.machine()?, fleet.sign_in(&[])?);
    let session = visitor.get("/api/overview")?["machines"][0]["sessions"][0]["sid"].take();
    block(&mut fleet, "~/ran")?;
    let line = "echo once >> ~/ran";
    let mut body = json!({"machine": machine, "sid": session, "text": format!("{line}\r")});
    let (status, asked) = visitor.ask("POST", "/api/sessions/type", &body)?;
    assert_eq!((status, &asked["blocked"]), (200, &json!({"line": line, "rule": "~/ran"})));
    body["released"] = line.into();
    visitor.post("/api/sessions/type", &body)?;
    wait_for("the released line", || Ok((runs(&fleet) == 1).then_some(())), String::new)?;
    Ok(())
}
