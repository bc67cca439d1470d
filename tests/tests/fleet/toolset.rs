//! The toolset `unterm` through a hub: an instance's tools, for any machine of the fleet.

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use unterm_tests::{
    fleet::{Agent, Fleet, ToolReply},
    wait_for,
};

const PATH: &str = "/mcp/sse?toolset=unterm";

/// Adds the machine and one conversation to the arguments of a tool.
fn on(machine: &str, mut arguments: Value) -> Value {
    arguments["machine"] = machine.into();
    arguments["conversation_id"] = "work".into();
    arguments
}

/// An agent with an approved conversation, and the hub's machine.
fn approved(fleet: &Fleet) -> Result<(Agent, String)> {
    let machine = fleet.machine()?;
    let mut agent = Agent::connect_to(fleet.address(), PATH, &fleet.token(&[])?)?;
    let first = agent.call("run", on(&machine, json!({"command": "touch never"})))?;
    ensure!(first.text.starts_with("[pending: "), "{first:?}");
    fleet.admin(&["approve", "work"])?;
    Ok((agent, machine))
}

#[test]
fn a_command_runs_on_each_machine_with_its_exit_code() -> Result<()> {
    let Some(fleet) = Fleet::start(&[])? else { return Ok(()) };
    // Approve the conversation while there is only one machine.
    let (mut agent, machine) = approved(&fleet)?;
    let other = fleet.add_machine(&[])?;

    let tools = agent.ask("tools/list", json!({}))?;
    let tools = tools["tools"].as_array().context("no list")?.clone();
    let run = tools.iter().find(|tool| tool["name"] == "run").context("no run")?;
    assert_eq!(tools[0]["name"], "list_machines");
    assert!(run["inputSchema"]["properties"]["machine"].is_object(), "{run}");
    let required = run["inputSchema"]["required"].as_array().context("nothing is required")?;
    assert!(required.contains(&json!("machine")), "{run}");

    let command = json!({"command": "echo ~; (exit 3)"});
    for (id, home) in [(&machine, fleet.unterm.home()), (&other.id, other.unterm.home())] {
        wait_for(
            "a machine that is connected",
            || {
                let panes = agent.call("pane_list", on(id, json!({})))?;
                Ok((panes.text != "[error: connector_offline]").then_some(()))
            },
            String::new,
        )?;
        let ran = agent.call("run", on(id, command.clone()))?.json()?;
        assert_eq!(ran["exit_code"], 3, "{ran}");
        assert_eq!(ran["output"].as_str().map(str::trim), home.to_str());
        let block = agent.call("block", on(id, json!({"block": ran["block"]})))?.json()?;
        assert_eq!(block["command"], command["command"]);
        let screen = agent.call("screen", on(id, json!({})))?.json()?;
        assert!(screen.to_string().contains("echo ~; (exit 3)"), "{screen}");
    }
    assert!(!fleet.unterm.home().join("never").exists(), "what was pending did not run");

    let log = fleet.admin(&["audit"])?;
    let of_run = |entry: &&Value| entry["tool"] == "run" && entry["event"] == "done";
    let entries = log["entries"].as_array().context("no log")?;
    assert_eq!(entries.iter().filter(of_run).count(), 2, "{log}");
    Ok(())
}

#[test]
fn a_call_continues_by_its_handle_and_errors_are_clear() -> Result<()> {
    let Some(fleet) = Fleet::start(&[])? else { return Ok(()) };
    let (mut agent, machine) = approved(&fleet)?;
    let slow =
        json!({"command": "until test -e go; do sleep .05; done; echo gone", "timeout_ms": 1});
    let begun = agent.call("run", on(&machine, slow))?.json()?;
    let handle = begun["handle"].clone();
    ensure!(handle.is_string(), "{begun}");
    std::fs::write(fleet.unterm.home().join("go"), "")?;
    let ended = agent.call("wait", on(&machine, json!({"handle": handle})))?;
    assert!(ended.text.contains("gone"), "{ended:?}");

    let wrong = |answer: ToolReply, text: &str| {
        assert!(answer.is_error && answer.text.contains(text), "{answer:?}");
    };
    wrong(agent.call("run", json!({"command": "true"}))?, "run needs `machine`");
    wrong(agent.call("run", on("0123456789ab", json!({"command": "x"})))?, "there is no machine");
    wrong(agent.call("screen", on(&machine, json!({"pane": "x"})))?, "pane");
    let named = on(&machine, json!({"instance": "zulu", "command": "x"}));
    wrong(agent.call("run", named)?, "no instance \"zulu\" runs on this machine");
    Ok(())
}

#[test]
fn a_held_command_runs_once_and_a_token_gives_its_rights() -> Result<()> {
    let Some(fleet) = Fleet::start(&[])? else { return Ok(()) };
    let (mut agent, machine) = approved(&fleet)?;
    fleet.admin(&["pause", "work"])?;
    let command = || on(&machine, json!({"command": "echo x >> once"}));
    let held = agent.call("run", command())?;
    assert!(held.text.starts_with("[held: "), "{held:?}");
    // A tool that only reads is not held.
    agent.call("pane_list", on(&machine, json!({})))?.json()?;
    let file = fleet.unterm.home().join("once");
    assert!(!file.exists());
    fleet.admin(&["resume", "work"])?;
    fleet.wait_for_flow("work")?;
    assert_eq!(std::fs::read_to_string(&file)?, "x\n");

    let reader = fleet.token(&["--right", "list", "--right", "read"])?;
    let mut reader = Agent::connect_to(fleet.address(), PATH, &reader)?;
    reader.call("pane_list", on(&machine, json!({})))?.json()?;
    let refused = reader.call("run", command())?;
    assert_eq!(refused.text, "[error: this token lacks the right `send`]");
    let elsewhere = fleet.token(&["--machine", "0123456789ab"])?;
    let mut elsewhere = Agent::connect_to(fleet.address(), PATH, &elsewhere)?;
    let refused = elsewhere.call("pane_list", on(&machine, json!({})))?;
    assert_eq!(refused.text, "[error: this token is not scoped to that machine]");
    assert_eq!(std::fs::read_to_string(&file)?, "x\n");
    Ok(())
}
