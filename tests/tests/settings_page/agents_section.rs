//! The section on agents: tokens are created, used and revoked on the page, and pending requests of agents are
//! answered.

use std::thread::{self, JoinHandle};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use unterm_tests::{Browser, Instance, Relay, Start};

use super::{ask, check_faults, open, strings};

/// The page of an instance, with this section open.
fn open_section(unterm: &Instance) -> Result<Browser> {
    let mut browser = open(unterm)?;
    browser.to("click", "#tab-agents")?;
    browser.to("wait_for", "#make-token")?;
    Ok(browser)
}

fn text(browser: &mut Browser, at: &str) -> Result<String> {
    Ok(browser.to("text", at)?.as_str().unwrap_or_default().to_owned())
}

fn check_axe(browser: &mut Browser) -> Result<()> {
    let wrong = browser.ask("axe", json!({}))?;
    ensure!(wrong == json!([]), "{wrong}");
    Ok(())
}

fn wait_for_focus(browser: &mut Browser, id: &str) -> Result<()> {
    browser.to("wait_there", &format!("#{id}:focus"))?;
    Ok(())
}

#[test]
fn a_token_is_created_used_and_revoked() -> Result<()> {
    let unterm = Start::headless().now()?;
    let mut browser = open_section(&unterm)?;
    let make = "#make-token button:not([type])";
    browser.with("fill", "#token-name", "build <b>bot</b>")?;
    browser.with("select", "#token-scope", "read")?;
    browser.with("select", "#token-ends", "3600")?;
    browser.to("click", make)?;
    browser.with("wait_text", ".saved", "Token created")?;

    // The secret is shown only once. The focus is on the button that copies it.
    browser.to("wait_for", "#made")?;
    wait_for_focus(&mut browser, "copy-token")?;
    check_axe(&mut browser)?;
    let secret = text(&mut browser, "#token-secret")?;
    let line = text(&mut browser, "#token-use")?;
    assert_eq!(line, format!("UNTERM_TOKEN={secret} unterm-cli mcp"));
    browser.to("click", "#copy-token")?;
    browser.with("wait_text", ".saved", "Copied")?;
    assert_eq!(browser.ask("clipboard", json!({}))?, secret.as_str());
    browser.to("click", "#copy-use")?;
    browser.to("click", "#made-close")?;
    browser.to("wait_gone", "#made")?;
    let holds = json!({
        "script": "(secret) => document.documentElement.outerHTML.includes(secret)",
        "given": secret,
    });
    assert_eq!(browser.ask("evaluate", holds)?, false);

    // The list shows the token's permissions. Its times are in the user's time zone.
    let row = text(&mut browser, "[data-token]")?;
    for part in ["build <b>bot</b>", "Read only", "All panes", "Expires"] {
        ensure!(row.contains(part), "{part}: {row}");
    }
    let times = json!({"script": "() => [...document.querySelectorAll('[data-token] time')]
        .map((time) => [time.textContent, new Date(time.dateTime).toLocaleString('en-US')])"});
    let times = browser.ask("evaluate", times)?;
    for time in times.as_array().context("times")? {
        ensure!(time[0] == time[1] && time[0] != "", "{times}");
    }

    // The token has the permissions that the page shows.
    let none = Value::Null;
    assert_eq!(ask(&unterm, "GET", "/api/panes", &secret, &none)?.0, 200);
    let paused = json!({"paused": true});
    assert_eq!(ask(&unterm, "POST", "/api/agents/pause", &secret, &paused)?.0, 403);

    // Revoke the token by keyboard, after a confirmation that Escape cancels.
    let listed = json!({"at": "[data-token]", "attribute": "data-token"});
    let number = strings(&browser.ask("list", listed)?).pop().context("a number")?;
    browser.to("focus", &format!("#revoke-{number}"))?;
    browser.ask("press", json!({"key": "Enter"}))?;
    wait_for_focus(&mut browser, &format!("keep-{number}"))?;
    check_axe(&mut browser)?;
    browser.ask("press", json!({"key": "Escape"}))?;
    wait_for_focus(&mut browser, &format!("revoke-{number}"))?;
    assert_eq!(ask(&unterm, "GET", "/api/panes", &secret, &none)?.0, 200);
    browser.ask("press", json!({"key": "Enter"}))?;
    browser.to("click", &format!("#sure-revoke-{number}"))?;
    browser.to("wait_gone", "[data-token]")?;
    wait_for_focus(&mut browser, "tokens-title")?;
    assert_eq!(ask(&unterm, "GET", "/api/panes", &secret, &none)?.0, 401);

    // A token for some panes applies to panes of this instance. Tokens that were created elsewhere are listed here too.
    browser.with("fill", "#token-name", "helper")?;
    browser.with("select", "#token-panes", "some")?;
    browser.to("wait_for", &format!("{make}[disabled]"))?;
    browser.to("click", "[data-pane=\"0\"]")?;
    browser.with("select", "#token-ends", "")?;
    browser.to("click", make)?;
    browser.to("wait_for", "#made")?;
    let id = unterm.entry()["id"].as_str().context("an id")?;
    let line = text(&mut browser, "#token-use")?;
    ensure!(line.ends_with(&format!(" unterm-cli mcp --instance {id}")), "{line}");
    browser.with("wait_text", "#tokens", "Panes #0")?;
    browser.with("wait_text", "#tokens", "Never expires")?;
    unterm.prints(&["method", "token.create", "--name", "of the command line"])?;
    browser.with("wait_text", "#tokens", "of the command line")?;
    check_faults(&mut browser)
}

/// An agent's pending tool call.
type Call = JoinHandle<(Result<Value>, Relay)>;

fn begin(mut agent: Relay, command: &str) -> Call {
    let arguments = json!({ "command": command });
    thread::spawn(move || (agent.call("run", arguments), agent))
}

fn end(call: Call) -> Result<(Result<Value>, Relay)> {
    call.join().map_err(|_| anyhow::anyhow!("the agent's thread panicked"))
}

#[test]
fn approvals_are_answered_once_and_clients_can_be_forgotten() -> Result<()> {
    let mut unterm = Start::headless().arg("--approval").arg("ask").now()?;
    let pane = unterm.first_pane()?;
    pane.wait_for_prompt(&mut unterm)?;
    let mut browser = open_section(&unterm)?;
    let agent = || Relay::start(unterm.home(), unterm.registry(), &[]);

    let call = begin(agent()?, "echo $((6 * 7))");
    browser.with("wait_text", "#questions", "echo $((6 * 7))")?;
    check_axe(&mut browser)?;
    let listed = json!({"at": "[data-question]", "attribute": "data-question"});
    let number = strings(&browser.ask("list", listed)?).pop().context("a number")?;
    let number: u64 = number.parse()?;
    // The command line shows the same texts as the window.
    let printed = unterm.prints(&["method", "approvals.list"])?;
    let mut shown = vec![text(&mut browser, "[data-heading]")?];
    let choices = ["once", "always", "deny"].map(|choice| format!("[data-answer={choice}]"));
    let choices = choices.map(|choice| text(&mut browser, &choice));
    shown.push(choices.into_iter().collect::<Result<Vec<_>>>()?.join(" | "));
    for shown in &shown {
        ensure!(printed.contains(&**shown), "{shown:?}: {printed}");
    }
    assert_eq!(shown[0], "Allow “test” to act?");
    browser.to("click", "[data-answer=once]")?;
    let (ran, agent_once) = end(call)?;
    assert_eq!(ran?["output"], "42");
    browser.to("wait_gone", "[data-question]")?;
    check_faults(&mut browser)?;

    // An answer can't be sent twice, not even by the page itself. Other clients can never send an answer.
    let again = json!({"number": number, "answer": "always"});
    let replayed = json!({
        "script": "async (answer) => (await fetch('/api/approvals/answer', {
            method: 'POST',
            headers: { Authorization: `Bearer ${sessionStorage.getItem('unterm-token')}`, 'Content-Type': 'application/json' },
            body: JSON.stringify(answer),
        })).status",
        "given": again,
    });
    assert_eq!(browser.ask("evaluate", replayed)?, 403);
    let token = unterm.entry()["auth_token"].as_str().context("a token")?;
    let (status, why) = ask(&unterm, "POST", "/api/approvals/answer", token, &again)?;
    ensure!(status == 403 && why.contains("only the user"), "{status} {why}");

    let call = begin(agent_once, "echo denied");
    browser.with("wait_text", "#questions", "echo denied")?;
    browser.to("click", "[data-answer=deny]")?;
    let (refused, agent_denied) = end(call)?;
    ensure!(refused.is_err_and(|why| why.to_string().contains("has denied")));
    drop(agent_denied);

    let call = begin(agent()?, "echo always");
    browser.with("wait_text", "#questions", "echo always")?;
    browser.to("click", "[data-answer=always]")?;
    let (ran, mut known) = end(call)?;
    assert_eq!(ran?["output"], "always");
    browser.with("wait_text", "#known", "test")?;
    assert_eq!(known.call("run", json!({"command": "echo unasked"}))?["output"], "unasked");
    browser.to("click", "[data-forget=test]")?;
    browser.to("wait_gone", "[data-forget=test]")?;
    let call = begin(known, "echo asked");
    browser.with("wait_text", "#questions", "echo asked")?;
    browser.to("click", "[data-answer=once]")?;
    assert_eq!(end(call)?.0?["output"], "asked");

    // The refusal is in the log that the page shows.
    let log = unterm.call("session.audit_log", json!({"limit": 1000}))?;
    let mut entries = log.as_array().into_iter().flatten();
    ensure!(
        entries.any(|entry| entry["method"] == "approvals.answer" && entry["allowed"] == false),
        "{log}"
    );
    Ok(())
}

#[test]
fn a_question_is_answered_or_left_unanswered() -> Result<()> {
    let mut unterm = Start::headless().now()?;
    unterm.first_pane()?.wait_for_prompt(&mut unterm)?;
    let mut browser = open_section(&unterm)?;
    let ask = |unterm: &Instance| -> Result<JoinHandle<Result<Value>>> {
        let mut wire = unterm.connect()?;
        let asked = json!({"text": "Deploy?", "choices": ["Now", "Later"], "session_id": 0});
        Ok(thread::spawn(move || wire.call("approvals.ask", asked)))
    };
    let end = |asked: JoinHandle<Result<Value>>| {
        asked.join().map_err(|_| anyhow::anyhow!("the caller's thread panicked"))?
    };
    let asked = ask(&unterm)?;
    browser.with("wait_text", "#questions", "Deploy?")?;
    let (heading, printed) =
        (text(&mut browser, "[data-heading]")?, unterm.prints(&["method", "approvals.list"])?);
    ensure!(heading.ends_with(" asks in pane 0:") && printed.contains(&heading), "{printed}");
    ensure!(printed.contains("Now | Later | Don't answer"), "{printed}");
    check_axe(&mut browser)?;
    browser.to("click", "[data-answer=Later]")?;
    assert_eq!(end(asked)?, json!({"answered": true, "answer": "Later"}));
    browser.to("wait_gone", "[data-question]")?;

    let asked = ask(&unterm)?;
    browser.with("wait_text", "[data-leave]", "Don't answer")?;
    browser.to("click", "[data-leave]")?;
    assert_eq!(end(asked)?, json!({"answered": false}));
    browser.to("wait_gone", "[data-question]")?;
    check_faults(&mut browser)
}
