//! The dashboard's page in a real browser.

use anyhow::{Result, ensure};
use serde_json::json;
use unterm_tests::{
    Browser,
    fleet::{Agent, Fleet},
    wait_for,
};

use super::{approved, send};

pub(super) fn check_axe(browser: &mut Browser, place: &str) -> Result<()> {
    let wrong = browser.ask("axe", json!({}))?;
    ensure!(wrong == json!([]), "{place}: {wrong}");
    Ok(())
}

fn text(browser: &mut Browser, at: &str) -> Result<String> {
    Ok(browser.to("text", at)?.as_str().unwrap_or_default().to_owned())
}

#[test]
fn a_user_signs_in_decides_and_types_on_the_page() -> Result<()> {
    let Some(mut fleet) = Fleet::start(&[])? else { return Ok(()) };
    let machine = fleet.machine()?;
    let mut agent = Agent::connect(fleet.address(), &fleet.token(&[])?)?;
    let session = agent.session(&machine)?;
    agent.call("send_to_session", send(&machine, &session, "echo $((6 * 7))"))?;

    let mut browser = Browser::start()?;
    let page = format!("http://{}/", fleet.page());
    browser.ask("goto", json!({ "url": page }))?;
    browser.to("wait_for", "#login-form")?;
    check_axe(&mut browser, "the sign-in")?;
    browser.with("fill", "#code", "0000-0000")?;
    browser.to("click", "#login-submit")?;
    browser.with("wait_text", "#login-fault", "The code is wrong, was used or has expired")?;
    // The browser itself reports the refused request as a fault, so discard that report.
    browser.ask("faults", json!({}))?;
    let code = fleet.admin(&["login"])?["code"].take();
    browser.with("fill", "#code", code.as_str().unwrap_or_default())?;
    browser.to("click", "#login-submit")?;
    let card = format!("[data-machine='{machine}'][data-status=connected]");
    browser.to("wait_for", &card)?;
    check_axe(&mut browser, "the machines")?;

    // The address to which clients of AITerm send users who must approve a conversation.
    let tokens = format!("http://{}/profile/tokens", fleet.address());
    browser.ask("goto", json!({ "url": tokens }))?;
    browser.to("wait_for", "#token-list [data-token]")?;
    browser.with("wait_text", "#tokens-pending", "Waiting for your approval: 1")?;
    check_axe(&mut browser, "the tokens")?;
    browser.to("click", "#tokens-pending")?;
    browser.to("wait_for", "[data-conversation][data-state=pending]")?;
    let first = text(&mut browser, "[data-conversation] [data-field=first]")?;
    ensure!(first.contains("echo $((6 * 7))"), "{first}");
    browser.to("click", "[data-conversation] [data-decide=approve]")?;
    browser.to("wait_for", "[data-conversation][data-state=approved]")?;
    agent.call("send_to_session", send(&machine, &session, "echo $((6 * 7))"))?.json()?;
    browser.to("wait_for", "#calls tr[data-event=done]")?;
    check_axe(&mut browser, "the mirror")?;

    browser.to("click", "#tab-machines")?;
    browser.to("click", &format!("[data-watch='{machine}/{session}']"))?;
    browser.to("wait_for", "#view-live[data-status=open]")?;
    let shows = |text: &str| {
        json!({
            "script": "(text) => new Promise((done) => { const look = () => [...document.querySelectorAll('.xterm-rows > div')].some((row) => row.textContent.trimEnd() === text) ? done(true) : requestAnimationFrame(look); look(); })",
            "given": text,
        })
    };
    browser.ask("evaluate", shows("42"))?;
    check_axe(&mut browser, "the live view")?;
    browser.to("click", "#live-typing")?;
    browser.to("focus", ".xterm-helper-textarea")?;
    for key in "echo $((7*7))".chars() {
        browser.ask("press", json!({ "key": key.to_string() }))?;
    }
    browser.ask("press", json!({ "key": "Enter" }))?;
    browser.ask("evaluate", shows("49"))?;
    let pane = fleet.unterm.first_pane()?;
    pane.wait(&mut fleet.unterm, "what was typed", |lines| lines.iter().any(|line| line == "49"))?;

    browser.to("click", "#stop")?;
    browser.to("wait_for", "#stop[data-stopped=true]")?;
    let refused = agent.call("list_machines", json!({}))?;
    assert_eq!(refused.text, "[error: the user has stopped all agents]");
    browser.to("click", "#tab-audit")?;
    browser.with("fill", "#audit-search", "stop-agents")?;
    browser.with("wait_text", "#audit-count", "1")?;
    check_axe(&mut browser, "the log")?;
    assert_eq!(browser.ask("faults", json!({}))?, json!([]));

    // Signing out removes the secret from the browser tab.
    browser.to("click", "#sign-out")?;
    browser.to("wait_for", "#login-form")?;
    let kept = json!({"script": "() => sessionStorage.length"});
    assert_eq!(browser.ask("evaluate", kept)?, 0);
    Ok(())
}

/// Web pages can put other text on the clipboard than they show.
#[test]
fn a_paste_that_presses_keys_needs_the_users_consent() -> Result<()> {
    let Some(mut fleet) = Fleet::start(&[])? else { return Ok(()) };
    let machine = fleet.machine()?;
    let mut agent = Agent::connect(fleet.address(), &fleet.token(&[])?)?;
    let session = agent.session(&machine)?;
    let mut browser = Browser::start()?;
    let code = fleet.admin(&["login"])?["code"].take();
    let page = format!("http://{}/#code={}", fleet.page(), code.as_str().unwrap_or_default());
    browser.ask("goto", json!({ "url": page }))?;
    browser.to("wait_for", "#machines-title")?;
    browser.to("click", &format!("[data-watch='{machine}/{session}']"))?;
    browser.to("wait_for", "#view-live[data-status=open]")?;
    browser.to("click", "#live-typing")?;
    browser.to("focus", ".xterm-helper-textarea")?;
    let paste = |text: &str| {
        json!({
            "script": "(text) => { const clipboardData = new DataTransfer(); clipboardData.setData('text/plain', text); document.querySelector('.xterm-helper-textarea').dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true })); }",
            "given": text,
        })
    };
    let pane = fleet.unterm.first_pane()?;
    // A program shows each byte, with and without bracketed paste.
    for (number, (mode, text, asks, typed)) in [
        ("h", "safe\u{1b}[201~\rrm me\n", true, "^[[200~safe[201~^Mrm me^M^[[201~"),
        ("h", "eight\u{9b}201~\u{1b}\u{9b}201~\u{3}", true, "^[[200~eight201~201~^[[201~"),
        ("h", "nested\u{1b}[20\u{1b}[201~1~", true, "^[[200~nested[20[201~1~^[[201~"),
        ("h", "two\r\nlines", false, "^[[200~two^Mlines^[[201~"),
        ("l", "plain\ttab", false, "plain^Itab"),
        ("l", "one\ntwo", true, "one^Mtwo"),
        ("l", "ls\n", true, "ls^M"),
        ("l", "keys\u{4}\u{1b}[A\u{85}", true, "keys[A"),
    ]
    .into_iter()
    .enumerate()
    {
        let show = format!(
            "clear; stty raw -echo; printf '\\033[?2004{mode}ready{number}\\r\\n'; head -c {} | cat -A; stty sane\r",
            text_bytes(typed)
        );
        pane.type_text(&mut fleet.unterm, &show)?;
        let ready = format!("ready{number}");
        pane.wait(&mut fleet.unterm, &ready, |lines| lines.contains(&ready))?;
        browser.ask("evaluate", json!({
            "script": "(text) => new Promise((done) => { const look = () => [...document.querySelectorAll('.xterm-rows > div')].some((row) => row.textContent.trimEnd() === text) ? done(true) : requestAnimationFrame(look); look(); })",
            "given": ready,
        }))?;
        browser.ask("evaluate", paste(text))?;
        if asks {
            browser.to("wait_for", "#confirm[open]")?;
            if number == 0 {
                check_axe(&mut browser, "the question before a paste")?;
                // If the user refuses, nothing is typed.
                browser.to("click", "#confirm-no")?;
                browser.to("focus", ".xterm-helper-textarea")?;
                browser.ask("evaluate", paste(text))?;
                browser.to("wait_for", "#confirm[open]")?;
            }
            browser.to("click", "#confirm-yes")?;
            browser.to("focus", ".xterm-helper-textarea")?;
        }
        pane.wait(&mut fleet.unterm, typed, |lines| {
            lines.iter().any(|line| line.starts_with(typed))
        })?;
    }
    assert_eq!(browser.ask("faults", json!({}))?, json!([]));
    Ok(())
}

/// The number of bytes that `cat -A` has written as this text.
fn text_bytes(shown: &str) -> usize {
    shown.chars().filter(|char| *char != '^').count()
}

#[test]
fn a_user_releases_agents_lines_and_confirms_their_own() -> Result<()> {
    let Some(mut fleet) = Fleet::start(&[])? else { return Ok(()) };
    let (mut agent, machine, session) = approved(&fleet)?;
    let rules = json!({"enabled": true, "blocked_patterns": ["~/ran"], "allowed_patterns": []});
    fleet.unterm.call("policy.set", rules)?;
    let mut browser = Browser::start()?;
    let code = fleet.admin(&["login"])?["code"].take();
    let page = format!("http://{}/#code={}", fleet.address(), code.as_str().unwrap_or_default());
    browser.ask("goto", json!({ "url": page }))?;
    browser.to("wait_for", "#machines-title")?;
    let held = agent.call("send_to_session", send(&machine, &session, "echo agent >> ~/ran"))?;
    ensure!(held.text.starts_with("[held: "), "{held:?}");
    browser.with("wait_text", "[data-count=mirror]", "1")?;
    browser.to("click", "#tab-mirror")?;
    browser.with("wait_text", "[data-line] [data-field=line]", "echo agent >> ~/ran")?;
    browser.with("wait_text", "[data-line] [data-field=rule]", "Rule: ~/ran")?;
    check_axe(&mut browser, "a blocked line")?;
    browser.to("click", "[data-line] [data-decide=release]")?;
    let ran = fleet.unterm.home().join("ran");
    let wait_for_line = |line: &str| {
        let has = || {
            Ok(std::fs::read_to_string(&ran)
                .is_ok_and(|text| text.lines().any(|of| of == line))
                .then_some(()))
        };
        wait_for("the released line", has, String::new)
    };
    wait_for_line("agent")?;

    browser.to("click", "#tab-machines")?;
    browser.to("click", &format!("[data-watch='{machine}/{session}']"))?;
    browser.to("wait_for", "#view-live[data-status=open]")?;
    browser.to("click", "#live-typing")?;
    browser.to("focus", ".xterm-helper-textarea")?;
    for key in "echo me >> ~/ran".chars() {
        browser.ask("press", json!({ "key": key.to_string() }))?;
    }
    browser.to("wait_for", "#confirm[open]")?;
    browser.with("wait_text", "#confirm-text", "echo me >> ~/ran")?;
    check_axe(&mut browser, "the question about a blocked line")?;
    browser.to("click", "#confirm-yes")?;
    browser.ask("press", json!({ "key": "Enter" }))?;
    wait_for_line("me")?;
    assert_eq!(browser.ask("faults", json!({}))?, json!([]));
    Ok(())
}

#[test]
fn a_link_signs_in_and_read_only_users_see_no_buttons() -> Result<()> {
    let Some(fleet) = Fleet::start(&[])? else { return Ok(()) };
    let mut agent = Agent::connect(fleet.address(), &fleet.token(&[])?)?;
    let machine = fleet.machine()?;
    let session = agent.session(&machine)?;
    let hostile = json!({
        "machine_id": machine,
        "session_id": session,
        "text": "<img src=x onerror=alert(1)>",
        "conversation_id": "<b>\u{202e}bold",
    });
    agent.call("send_to_session", hostile)?;
    let code = fleet.admin(&["login", "--read-only"])?["code"].take();
    let code = code.as_str().unwrap_or_default();
    let mut browser = Browser::start()?;
    let link = format!("http://{}/#code={code}", fleet.page());
    browser.ask("goto", json!({ "url": link }))?;
    browser.to("wait_for", &format!("[data-machine='{machine}']"))?;
    assert!(!browser.ask("url", json!({}))?.to_string().contains(code));
    browser.to("click", "#tab-mirror")?;
    browser.to("wait_for", "[data-conversation]")?;
    let first = text(&mut browser, "[data-conversation] [data-field=first]")?;
    ensure!(first.contains("<img src=x onerror=alert(1)>"), "{first}");
    let seen = json!({"script": "() => [...document.querySelectorAll('[data-decide], #add-machine, #token-make')].filter((one) => one.checkVisibility()).length + document.querySelectorAll('[data-conversation] img, [data-conversation] b').length"});
    assert_eq!(browser.ask("evaluate", seen)?, 0);
    assert_eq!(browser.ask("faults", json!({}))?, json!([]));
    assert_eq!(fleet.admin(&["pending"])?["conversations"][0]["state"], "pending");
    Ok(())
}
