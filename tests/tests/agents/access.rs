//! Tests of the instance that an agent drives, and of the agent's rights there. The instance's name, a token created
//! for the agent, and the rule for unknown agents decide that.

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use unterm_tests::{Instance, Relay, Start};

/// An agent with a token.
fn agent(unterm: &Instance, token: &str) -> Result<Relay> {
    Relay::start_with(unterm.home(), unterm.registry(), &[], &[("UNTERM_TOKEN", token)])
}

/// The reason why a tool refuses a call.
fn refusal(agent: &mut Relay, tool: &str, arguments: Value) -> Result<String> {
    let reply = agent.request("tools/call", json!({"name": tool, "arguments": arguments}))?;
    ensure!(reply["isError"] == true, "{tool}: {reply}");
    Ok(reply["content"][0]["text"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn an_agent_drives_the_instance_that_it_names() -> Result<()> {
    let first = Start::headless().now()?;
    let second = Start::headless().registry(first.registry()).now()?;
    for unterm in [&first, &second] {
        let id = unterm.entry()["id"].as_str().unwrap_or_default();
        for args in [["--instance", id], ["--instance", &id.to_uppercase()]] {
            let mut agent = Relay::start(first.home(), first.registry(), &args)?;
            let status = agent.call("status", json!({}))?;
            assert_eq!((&status["instance"], &status["pid"]), (&json!(id), &json!(unterm.pid())));
        }
    }
    let error = first.complains(&["mcp", "--instance", "zulu"])?;
    ensure!(error.contains("no running instance is named \"zulu\""), "{error}");
    ensure!(error.ends_with("running: alpha, bravo\n"), "{error}");
    Ok(())
}

#[test]
fn an_agents_token_grants_its_rights_until_revoked() -> Result<()> {
    let unterm = Start::headless().now()?;
    let token = unterm.prints(&["token", "create", "reader", "--scope", "read"])?;
    let token = token.trim_end();
    let mut reader = agent(&unterm, token)?;
    assert_eq!(reader.call("status", json!({}))?["scopes"], json!(["read"]));
    reader.call("screen", json!({}))?;
    let why = refusal(&mut reader, "run", json!({"command": "true"}))?;
    ensure!(why.contains("run needs the scope act, and your token gives read"), "{why}");

    let list = unterm.prints(&["token", "list"])?;
    ensure!(list.contains("reader") && list.contains("read"), "{list}");
    ensure!(!list.contains(token), "the secret is shown once");
    let list: Value = serde_json::from_str(&unterm.prints(&["--json", "token", "list"])?)?;
    let number = list["tokens"][0]["number"].to_string();
    assert_eq!(list["tokens"][0]["name"], "reader", "{list}");
    unterm.prints(&["token", "revoke", &number])?;
    // A client that has logged in with the token can do nothing more, and no client can log in with the token again.
    let status = reader.request("tools/call", json!({"name": "status", "arguments": {}}));
    let why = format!("{:?}", status.err());
    ensure!(why.contains("was taken back"), "{why}");
    ensure!(agent(&unterm, token).is_err());
    unterm.complains(&["token", "revoke", &number])?;
    let list: Value = serde_json::from_str(&unterm.prints(&["--json", "token", "list"])?)?;
    assert_eq!(list["tokens"], json!([]));
    Ok(())
}

#[test]
fn a_token_for_one_session_reaches_no_other() -> Result<()> {
    let mut unterm = Start::headless().now()?;
    let first = unterm.first_pane()?;
    let second = unterm.run("cat", &[])?;
    let own = second.id.to_string();
    let token = unterm.prints(&["token", "create", "one", "--panes", &own])?;
    let mut agent = agent(&unterm, token.trim_end())?;
    agent.call("input", json!({"pane": second.id, "text": "for me\n"}))?;
    second.wait_for_text(&mut unterm, "for me")?;
    for (tool, more) in [("screen", json!({})), ("input", json!({"text": "not for me"}))] {
        let mut arguments = more;
        arguments["pane"] = json!(first.id);
        let why = refusal(&mut agent, tool, arguments)?;
        let (first, second) = (first.id, second.id);
        let right = format!("your token does not reach pane {first}, only pane {second}");
        ensure!(why.contains(&right), "{tool}: {why}");
    }
    Ok(())
}

#[test]
fn a_token_needs_a_name_and_existing_panes() -> Result<()> {
    let unterm = Start::headless().now()?;
    for name in ["", "  "] {
        let error = unterm.complains(&["token", "create", name])?;
        ensure!(error.contains("a token needs a name that says what it is for"), "{error}");
    }
    let error = unterm.complains(&["token", "create", "later", "--panes", "0,9999"])?;
    let expected =
        "pane 9999 does not exist; open it before you create a token for it (open panes: 0)\n";
    assert_eq!(error, expected);
    let list: Value = serde_json::from_str(&unterm.prints(&["--json", "token", "list"])?)?;
    assert_eq!(list["tokens"], json!([]), "none was made");
    Ok(())
}

#[test]
fn unknown_agents_are_refused_under_that_rule() -> Result<()> {
    let mut unterm = Start::headless().arg("--approval").arg("deny").now()?;
    let pane = unterm.first_pane()?;
    pane.wait_for_prompt(&mut unterm)?;
    let mut unknown = Relay::start(unterm.home(), unterm.registry(), &[])?;
    // An unknown agent may read.
    unknown.call("screen", json!({}))?;
    for (tool, arguments) in
        [("run", json!({"command": "echo run"})), ("pane_open", json!({})), ("lease", json!({}))]
    {
        let why = refusal(&mut unknown, tool, arguments)?;
        ensure!(why.contains("has denied test permission to act"), "{tool}: {why}");
    }
    // An agent with its own token is known, and a user's script is not an agent.
    let token = unterm.prints(&["token", "create", "known"])?;
    let mut known = agent(&unterm, token.trim_end())?;
    let ran = known.call("run", json!({"command": "echo $((6 * 7))"}))?;
    assert_eq!(ran["output"], "42", "{ran}");
    assert_eq!(unterm.prints(&["run", "echo $((7 * 7))"])?, "49\n");
    Ok(())
}
