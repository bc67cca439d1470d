//! Passkeys of the dashboard, created by the virtual authenticator of a real browser.

use std::net::TcpListener;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use unterm_tests::{
    Browser,
    fleet::{Fleet, Visitor, request},
};

use super::page::check_axe;

/// The path at which a browser signs in with a passkey.
const LOGIN: &str = "/api/login/passkey";
const TAB: &str = "#tab-passkeys";

/// A browser with an authenticator that stores passkeys and verifies its user.
fn browser() -> Result<Browser> {
    let mut browser = Browser::start()?;
    browser.ask("devtools", json!({"method": "WebAuthn.enable", "params": {}}))?;
    let options = json!({
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": true,
        "hasUserVerification": true,
        "isUserVerified": true,
        "automaticPresenceSimulation": true,
    });
    let params = json!({ "options": options });
    browser
        .ask("devtools", json!({"method": "WebAuthn.addVirtualAuthenticator", "params": params}))?;
    Ok(browser)
}

fn goto(browser: &mut Browser, page: &str) -> Result<()> {
    browser.ask("goto", json!({"url": format!("http://{page}/")}))?;
    browser.to("wait_for", "#login-form")?;
    Ok(())
}

fn sign_in(browser: &mut Browser, fleet: &Fleet) -> Result<()> {
    let code = fleet.admin(&["login"])?["code"].take();
    browser.with("fill", "#code", code.as_str().context("no code")?)?;
    browser.to("click", "#login-submit")?;
    browser.to("wait_for", TAB)?;
    Ok(())
}

/// Adds a passkey in the browser for the user who has signed in. Returns the passkey's id, and the browser's answer.
fn add(browser: &mut Browser, user: &Visitor, read_only: bool) -> Result<(String, Value)> {
    let begun =
        user.post("/api/passkeys/begin", &json!({"name": "key", "read_only": read_only}))?;
    let make = json!({"script": "makePasskey", "given": begun["options"]});
    let answer = browser.ask("evaluate", make)?;
    let body = json!({"challenge": begun["challenge"], "answer": answer});
    let added = user.post("/api/passkeys", &body)?;
    Ok((added["id"].as_str().context("no id")?.to_owned(), answer))
}

/// Signs a challenge in the browser's page.
fn sign(browser: &mut Browser, begun: &Value) -> Result<Value> {
    browser.ask("evaluate", json!({"script": "usePasskey", "given": begun["options"]}))
}

/// A challenge from the hub whose dashboard is at `page`.
fn begin(page: &str, headers: &[(&str, &str)]) -> Result<Value> {
    let (status, body) = request(page, "GET", LOGIN, headers, "")?;
    ensure!(status == 200, "{status}: {body}");
    Ok(serde_json::from_str(&body)?)
}

/// Answers a challenge. Returns the status and the body of the reply.
fn finish(
    page: &str,
    headers: &[(&str, &str)],
    begun: &Value,
    answer: &Value,
) -> Result<(u16, String)> {
    let body = json!({"challenge": begun["challenge"], "answer": answer});
    request(page, "POST", LOGIN, headers, &body.to_string())
}

#[test]
fn a_user_adds_uses_and_removes_a_passkey() -> Result<()> {
    let Some(fleet) = Fleet::start(&[])? else { return Ok(()) };
    assert_eq!(begin(fleet.page(), &[])?["options"], Value::Null);
    let mut browser = browser()?;
    // The hub has redirected the page to its host name.
    goto(&mut browser, fleet.address())?;
    let url = browser.ask("url", json!({}))?;
    assert_eq!(url, format!("http://{}/", fleet.page()));
    sign_in(&mut browser, &fleet)?;
    browser.to("click", TAB)?;
    browser.with("fill", "#passkey-name", "laptop")?;
    browser.to("click", "#passkey-add")?;
    browser.to("wait_for", "#passkey-list [data-passkey]")?;
    check_axe(&mut browser, "the passkeys")?;
    let listed = fleet.admin(&["passkeys"])?["passkeys"].take();
    let passkey = &listed[0];
    assert_eq!((&passkey["name"], &passkey["host"]), (&json!("laptop"), &json!("localhost")));
    assert_eq!((&passkey["may_act"], &passkey["last_used"]), (&json!(true), &Value::Null));

    // An authenticator can have only one passkey for a hub.
    browser.with("fill", "#passkey-name", "again")?;
    browser.to("click", "#passkey-add")?;
    browser.with("wait_text", "#problem", "already has a passkey")?;

    browser.to("click", "#sign-out")?;
    browser.to("wait_for", "#login-passkey")?;
    check_axe(&mut browser, "the sign-in with a passkey")?;
    browser.to("click", "#login-passkey")?;
    browser.to("wait_for", TAB)?;
    assert!(fleet.admin(&["passkeys"])?["passkeys"][0]["last_used"].is_string());

    // The other hubs of the fleet accept the passkey, too.
    let second = fleet.second_hub()?;
    goto(&mut browser, second.page())?;
    browser.to("wait_for", "#login-passkey")?;
    browser.to("click", "#login-passkey")?;
    browser.to("wait_for", TAB)?;
    assert_eq!(browser.ask("faults", json!({}))?.to_string().matches("401").count(), 2);

    browser.to("click", TAB)?;
    browser.to("click", "#passkey-list [data-action=remove]")?;
    browser.to("click", "#confirm-yes")?;
    // The sign-in that used the passkey has ended.
    browser.to("wait_for", "#login-form")?;
    assert_eq!(fleet.admin(&["passkeys"])?["passkeys"], json!([]));
    assert_eq!(begin(second.page(), &[])?["options"], Value::Null);
    let log = fleet.admin(&["audit"])?["entries"].to_string();
    let id = passkey["id"].as_str().context("no id")?;
    for entry in [
        ("passkey-add", format!("{id} localhost laptop")),
        ("sign-in", format!("passkey {id} laptop")),
        ("passkey-remove", id.to_owned()),
    ] {
        ensure!(log.contains(entry.0) && log.contains(&entry.1), "{entry:?}: {log}");
    }
    Ok(())
}

#[test]
fn a_read_only_passkey_changes_nothing() -> Result<()> {
    let Some(fleet) = Fleet::start(&[])? else { return Ok(()) };
    let (mut browser, mut user) = (browser()?, fleet.sign_in(&[])?);
    goto(&mut browser, fleet.page())?;
    let (id, _) = add(&mut browser, &user, true)?;
    // The button is visible because the fleet has a passkey now.
    goto(&mut browser, fleet.page())?;
    browser.to("click", "#login-passkey")?;
    browser.to("wait_for", "#read-only")?;
    browser.to("click", TAB)?;
    browser.to("wait_for", "#passkey-list [data-field=read-only]")?;
    let buttons = "() => [...document.querySelectorAll('#passkey-add, #passkey-list button')].filter((one) => one.checkVisibility()).length";
    assert_eq!(browser.ask("evaluate", json!({ "script": buttons }))?, 0);

    let begun = begin(fleet.page(), &[])?;
    let signed = sign(&mut browser, &begun)?;
    let (status, reply) = finish(fleet.page(), &[], &begun, &signed)?;
    let reply: Value = serde_json::from_str(&reply)?;
    assert_eq!((status, &reply["may_act"]), (200, &json!(false)));
    user.secret = reply["token"].as_str().context("no token")?.to_owned();
    assert_eq!(user.get("/api/overview")?["passkeys"][0]["id"], id);
    for (path, body) in [
        ("/api/passkeys/begin", json!({"name": "mine", "read_only": false})),
        ("/api/passkeys", json!({})),
        ("/api/passkeys/remove", json!({ "id": id })),
    ] {
        assert_eq!(user.ask("POST", path, &body)?.0, 403, "{path}");
    }
    Ok(())
}

#[test]
fn a_passkey_signs_a_challenge_of_its_own_page_once() -> Result<()> {
    let Some(fleet) = Fleet::start(&[])? else { return Ok(()) };
    let (mut browser, mut user) = (browser()?, fleet.sign_in(&[])?);
    let (own, second) = (fleet.page(), fleet.second_hub()?);
    goto(&mut browser, own)?;
    let (id, made) = add(&mut browser, &user, false)?;
    let status =
        |page: &str, begun: &Value, answer: &Value| anyhow::Ok(finish(page, &[], begun, answer)?.0);

    let (older, begun) = (begin(own, &[])?, begin(own, &[])?);
    let older_signed = sign(&mut browser, &older)?;
    let (signed, signed_again) = (sign(&mut browser, &begun)?, sign(&mut browser, &begun)?);
    let (accepted, reply) = finish(own, &[], &begun, &signed)?;
    assert_eq!(accepted, 200, "{reply}");
    let reply: Value = serde_json::from_str(&reply)?;
    assert_eq!(status(own, &begun, &signed)?, 401, "the same answer again");
    assert_eq!(status(own, &begun, &signed_again)?, 401, "a challenge that was used");
    // The authenticator counts its signatures. A lower count shows that the signature may come from a copy of the
    // passkey.
    assert_eq!(status(own, &older, &older_signed)?, 401, "a signature with a lower counter");

    let (other, begun) = (begin(own, &[])?, begin(own, &[])?);
    let right = sign(&mut browser, &begun)?;
    assert_eq!(status(own, &other, &right)?, 401, "the signature of another challenge");
    assert_eq!(status(second.page(), &begun, &right)?, 401, "a challenge for another origin");
    let text = begun["challenge"].as_str().context("no challenge")?;
    let changed = json!({"challenge": text.replacen('e', "f", 1)});
    assert_eq!(status(own, &changed, &right)?, 401, "a challenge that no hub made");
    let mut others = right.clone();
    others["response"]["userHandle"] = json!("AAAAAAAAAAAAAAAAAAAAAA");
    assert_eq!(status(own, &begun, &others)?, 401, "the handle of another passkey");
    goto(&mut browser, second.page())?;
    let foreign = sign(&mut browser, &begun)?;
    assert_eq!(status(own, &begun, &foreign)?, 401, "a signature for another origin");
    assert_eq!(status(own, &begun, &right)?, 200, "the challenge is still good");

    let adding = user.post("/api/passkeys/begin", &json!({"name": "x", "read_only": false}))?;
    assert_eq!(status(own, &adding, &right)?, 401, "a challenge for adding");
    let body = |begun: &Value| json!({"challenge": begun["challenge"], "answer": made});
    for (asked, visitor, why) in [
        (&begin(own, &[])?, &user, "a challenge for signing in"),
        (&adding, &fleet.sign_in(&[])?, "a challenge of another sign-in"),
        (&adding, &user, "the passkey of another challenge"),
    ] {
        assert_eq!(visitor.ask("POST", "/api/passkeys", &body(asked))?.0, 409, "{why}");
    }

    goto(&mut browser, own)?;
    let begun = begin(own, &[])?;
    let signed = sign(&mut browser, &begun)?;
    user.secret = reply["token"].as_str().context("no token")?.to_owned();
    user.get("/api/overview")?;
    assert!(fleet.run(&["passkeys", "remove", &id])?.status.success());
    assert_eq!(user.ask("GET", "/api/overview", &Value::Null)?.0, 401);
    assert_eq!(status(own, &begun, &signed)?, 401, "a removed passkey");
    assert!(!fleet.run(&["passkeys", "remove", &id])?.status.success());
    Ok(())
}

#[test]
fn a_challenge_is_valid_at_another_hub_of_the_same_name() -> Result<()> {
    const NAME: &str = "hub.example";
    let Some(fleet) = Fleet::start(&["--public-name", NAME])? else { return Ok(()) };
    let second = fleet.second_hub_at("127.0.0.1:0", &["--public-name", NAME])?;
    let (mut browser, user) = (browser()?, fleet.sign_in(&[])?);
    // In practice, a proxy with TLS would serve the page at this address.
    let script = include_str!("../../../assets/dashboard/src/page.js");
    let url = format!("https://{NAME}/");
    let page = json!({"url": url, "body": format!("<script>{script}</script>")});
    browser.ask("serve", page)?;
    browser.ask("goto", json!({ "url": url }))?;

    let bearer = format!("Bearer {}", user.secret);
    let headers = [("Host", NAME), ("Authorization", bearer.as_str())];
    let post = |page: &str, path: &str, body: Value| -> Result<Value> {
        let (status, reply) = request(page, "POST", path, &headers, &body.to_string())?;
        ensure!(status == 200, "{path}: {status}: {reply}");
        Ok(serde_json::from_str(&reply)?)
    };
    let begun =
        post(fleet.page(), "/api/passkeys/begin", json!({"name": "key", "read_only": false}))?;
    let make = json!({"script": "makePasskey", "given": begun["options"]});
    let answer = browser.ask("evaluate", make)?;
    let body = json!({"challenge": begun["challenge"], "answer": answer});
    post(second.page(), "/api/passkeys", body)?;

    // Under the hub's other name, there is no passkey.
    assert_eq!(begin(fleet.page(), &[])?["options"], Value::Null);
    let begun = begin(second.page(), &headers)?;
    let (signed, again) = (sign(&mut browser, &begun)?, sign(&mut browser, &begun)?);
    assert_eq!(finish(fleet.page(), &[], &begun, &signed)?.0, 401);
    let (status, reply) = finish(fleet.page(), &headers, &begun, &signed)?;
    assert_eq!(status, 200, "{reply}");
    assert_eq!(finish(second.page(), &headers, &begun, &again)?.0, 401, "used at the other hub");
    Ok(())
}

#[test]
fn a_hub_that_shares_localhost_has_no_passkeys_there() -> Result<()> {
    let Some(fleet) = Fleet::start(&[])? else { return Ok(()) };
    // Without IPv6, no other program can listen at localhost, so there is nothing to test.
    let taken = loop {
        let Ok(taken) = TcpListener::bind("[::1]:0") else { return Ok(()) };
        // Another program may already use the port at 127.0.0.1.
        if TcpListener::bind(("127.0.0.1", taken.local_addr()?.port())).is_ok() {
            break taken;
        }
    };
    let (mut browser, user) = (browser()?, fleet.sign_in(&[])?);
    goto(&mut browser, fleet.page())?;
    add(&mut browser, &user, false)?;

    let address = format!("127.0.0.1:{}", taken.local_addr()?.port());
    let shared = fleet.second_hub_at(&address, &[])?;
    assert_eq!(shared.page(), address);
    assert_eq!(begin(&address, &[])?["options"], Value::Null);
    let name = address.replace("127.0.0.1", "localhost");
    assert_eq!(request(&address, "GET", "/", &[("Host", &name)], "")?.0, 307);
    let bearer = format!("Bearer {}", user.secret);
    let (headers, body) =
        ([("Authorization", bearer.as_str())], r#"{"name":"x","read_only":true}"#);
    assert_eq!(request(&address, "POST", "/api/passkeys/begin", &headers, body)?.0, 409);
    let begun = begin(fleet.page(), &[])?;
    let signed = sign(&mut browser, &begun)?;
    assert_eq!(finish(&address, &[], &begun, &signed)?.0, 409);
    Ok(())
}
