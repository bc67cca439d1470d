//! Agents, through `unterm-cli mcp`: which instance they drive, and what they do there.

use std::{fs, path::Path};

use anyhow::Result;
use serde_json::json;
use unterm_tests::{Relay, Start, wait_for};

/// The entries of a registry.
fn entries(registry: &Path) -> usize {
    fs::read_dir(registry.join("instances")).map_or(0, Iterator::count)
}

#[test]
fn the_instance_that_runs_is_driven_and_stays() -> Result<()> {
    let mut unterm = Start::headless().now()?;
    let pane = unterm.first_pane()?;
    pane.wait_for_prompt(&mut unterm)?;
    let mut agent = Relay::start(unterm.home(), unterm.registry(), &[])?;
    let status = agent.call("status", json!({}))?;
    assert_eq!(status["instance"], unterm.entry()["id"], "{status}");
    assert_eq!((&status["window"], &status["you"]), (&json!(false), &json!("test")));
    let ran = agent.call("run", json!({"command": "echo $((6 * 7))"}))?;
    assert_eq!(ran["output"], "42", "{ran}");
    // The person sees what the agent did.
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
fn one_is_started_where_none_runs_and_ends_with_the_agent() -> Result<()> {
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
