//! Pages of other origins, and tokens without the required scope. Both are refused whatever else they send, and the
//! refusals are logged.

use std::{
    io::{self, BufRead as _, BufReader, Write as _},
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use unterm_tests::{Browser, Instance, Start, Wire, wait_for};

use super::ask;

/// A script with the requests that a hostile page tries.
const TRIES: &str = include_str!("../../browser/tries.js");
const PAGE: &str = "<!doctype html><title>Elsewhere</title><body>Hello";

/// A web server of another party, also on the loopback address. Its page `/sandboxed` has an opaque origin.
struct HostileServer {
    port: u16,
    is_over: Arc<AtomicBool>,
    serving: Option<JoinHandle<()>>,
}

impl HostileServer {
    fn start() -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let is_over = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&is_over);
        let serving = thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if ended.load(Ordering::Relaxed) {
                    return;
                }
                // Browsers open connections without sending anything. Such connections must not delay other
                // connections.
                thread::spawn(move || give_page(&stream));
            }
        });
        Ok(Self { port, is_over, serving: Some(serving) })
    }
}

impl Drop for HostileServer {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        let woken = TcpStream::connect(("127.0.0.1", self.port));
        if let (Ok(_), Some(serving)) = (woken, self.serving.take()) {
            let _ = serving.join();
        }
    }
}

fn give_page(mut stream: &TcpStream) -> io::Result<()> {
    let mut head = String::new();
    let mut lines = BufReader::new(stream);
    // Read until the empty line after the request's head, or until the end.
    while lines.read_line(&mut head)? > 2 {}
    let sandbox = match head.starts_with("GET /sandboxed ") {
        true => "Content-Security-Policy: sandbox allow-scripts allow-forms\r\n",
        false => "",
    };
    let length = PAGE.len();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{sandbox}Content-Length: {length}\r\nConnection: close\r\n\r\n{PAGE}"
    )
}

/// The log lines about requests with this host that were refused before any processing.
fn refusals(unterm: &Instance, host: &str) -> Vec<String> {
    let host = format!("host=Some(\"{host}\")");
    let log = unterm.log();
    let lines = log.lines().filter(|line| line.contains("refused a request of a page"));
    lines.filter(|line| line.contains(&host)).map(str::to_owned).collect()
}

#[test]
fn pages_of_other_origins_are_refused_and_logged() -> Result<()> {
    let mut unterm = Start::headless().now()?;
    let token = unterm.entry()["auth_token"].as_str().context("a token")?.to_owned();
    let port = unterm.entry()["http_port"].as_u64().context("a port")?;
    let elsewhere = HostileServer::start()?;
    let there = elsewhere.port;
    let mut browser = Browser::with_flags(&[
        "--host-resolver-rules=MAP evil.test 127.0.0.1",
        // Disable Chromium's own protection of local addresses. Not every browser has such protection, so Unterm's
        // protection must suffice alone.
        "--disable-features=LocalNetworkAccessChecks",
    ])?;
    let (own, rebound) = (format!("127.0.0.1:{port}"), format!("evil.test:{port}"));
    // DNS rebinding: the page was loaded from its own server, and later its name resolved to Unterm's address. The
    // browser then treats the page as one of Unterm's origin.
    browser.ask("serve", json!({"url": format!("http://{rebound}/"), "body": PAGE}))?;
    for (page, origin, host) in [
        (format!("http://127.0.0.1:{there}/"), format!("http://127.0.0.1:{there}"), &own),
        (format!("http://localhost:{there}/"), format!("http://localhost:{there}"), &own),
        (format!("http://127.0.0.1:{there}/sandboxed"), "null".to_owned(), &own),
        ("data:text/html,<body>Hello".to_owned(), "null".to_owned(), &own),
        (format!("http://{rebound}/"), format!("http://{rebound}"), &rebound),
        (format!("http://evil.test:{there}/"), format!("http://evil.test:{there}"), &rebound),
    ] {
        let before = refusals(&unterm, host).len();
        browser.ask("goto", json!({ "url": page }))?;
        let is_of = browser.ask("evaluate", json!({"script": "() => self.origin"}))?;
        assert_eq!(is_of, origin.as_str());
        // The page even has the instance's own token, which has the most permissions.
        let given = json!({"server": format!("http://{host}"), "token": token});
        let learned = browser.ask("evaluate", json!({"script": TRIES, "given": given}))?;
        let learned = learned.as_object().context("what it learned")?;
        for (name, what) in learned {
            let what = what.as_str().unwrap_or_default();
            ensure!(what == "nothing" || what.starts_with("403 "), "{page}: {name}: {what}");
        }
        let lines = wait_for(
            "each try in the log",
            || {
                let lines = refusals(&unterm, host).split_off(before);
                Ok((lines.len() >= learned.len()).then_some(lines))
            },
            || unterm.log(),
        )?;
        let origin = format!("origin=Some(\"{origin}\")");
        ensure!(lines.iter().any(|line| line.contains(&origin)), "{origin}: {lines:#?}");
    }
    // None of the tries had an effect.
    assert_eq!(done(&mut unterm)?, (0, 1, false));
    // The same requests succeed if a page of Unterm's own origin sends them.
    let page = format!("http://{own}/served");
    browser.ask("serve", json!({"url": page, "body": PAGE}))?;
    browser.ask("goto", json!({ "url": page }))?;
    let given = json!({"server": format!("http://{own}"), "token": token});
    let learned = browser.ask("evaluate", json!({"script": TRIES, "given": given}))?;
    for name in ["look with a token", "make a token", "set a theme", "call a tool"] {
        ensure!(learned[name].as_str().is_some_and(|what| what.starts_with("200 ")), "{learned}");
    }
    assert_eq!(done(&mut unterm)?, (1, 2, true));
    Ok(())
}

/// The effects that the requests would have: the number of tokens, the number of sessions, and whether the theme
/// changed.
fn done(unterm: &mut Instance) -> Result<(usize, usize, bool)> {
    let tokens = unterm.call("token.list", json!({}))?["tokens"].as_array().map_or(0, Vec::len);
    let sessions = unterm.sessions()?.len();
    let config = std::fs::read_to_string(unterm.registry().join("config.toml"));
    Ok((tokens, sessions, config.is_ok_and(|text| text.contains("nord"))))
}

/// Creates a token and returns its secret.
fn make(unterm: &mut Instance, params: Value) -> Result<String> {
    let made = unterm.call("token.create", params)?;
    Ok(made["token"].as_str().context("a secret")?.to_owned())
}

/// Whether the audit log contains a refusal of this method.
fn is_refused_in_log(unterm: &mut Instance, method: &str) -> Result<bool> {
    let log = unterm.call("session.audit_log", json!({"limit": 100}))?;
    let mut entries = log.as_array().into_iter().flatten();
    Ok(entries.any(|entry| entry["method"] == method && entry["allowed"] == false))
}

#[test]
fn tokens_of_the_wrong_scope_are_refused_and_logged() -> Result<()> {
    let mut unterm = Start::headless().now()?;
    let own = unterm.first_pane()?;
    own.wait_for_prompt(&mut unterm)?;
    let other = unterm.run("cat", &[])?;
    let reader = make(&mut unterm, json!({"name": "reader", "scope": "read"}))?;
    let actor = make(&mut unterm, json!({"name": "actor", "scope": "act", "panes": [own.id]}))?;
    let late =
        make(&mut unterm, json!({"name": "late", "scope": "admin", "expires_in_seconds": 1}))?;
    let login = |unterm: &Instance, token: &str| {
        Wire::login(&json!({"mcp_port": unterm.entry()["mcp_port"], "auth_token": token}))
    };

    // On the settings server, a token permits only what its scope states.
    let none = Value::Null;
    assert_eq!(ask(&unterm, "GET", "/api/panes", &reader, &none)?.0, 200);
    let stolen = json!({"name": "stolen", "scope": "admin"});
    for (verb, path, body) in [
        ("POST", "/api/agents/pause", &json!({"paused": true})),
        ("POST", "/api/tokens", &stolen),
        ("POST", "/api/tokens/revoke", &json!({"number": 1})),
        ("GET", "/api/tokens", &none),
        ("PUT", "/api/settings/theme", &json!({"name": "nord"})),
    ] {
        for token in [&reader, &actor] {
            let (status, text) = ask(&unterm, verb, path, token, body)?;
            ensure!(status == 403 && text.contains("out of the token's"), "{path}: {text}");
        }
    }
    for method in ["agents.pause", "token.create", "token.revoke"] {
        ensure!(is_refused_in_log(&mut unterm, method)?, "{method} is not in the log");
    }

    // On the control port, a token permits only what its scope states. A token for some sessions can't be used for
    // other sessions.
    let input = |id: u64| json!({"id": id, "input": "echo $((6 * 7))\r"});
    let refused = login(&unterm, &reader)?.call("session.input", input(own.id));
    ensure!(refused.is_err_and(|why| why.to_string().contains("scopes")));
    let mut driver = login(&unterm, &actor)?;
    driver.call("session.input", input(own.id))?;
    own.wait_for_text(&mut unterm, "42")?;
    let refused = driver.call("session.input", input(other.id));
    ensure!(refused.is_err_and(|why| why.to_string().contains("the token's sessions")));
    ensure!(is_refused_in_log(&mut unterm, "session.input")?);

    // A token that has expired, was revoked or never existed is refused. This also holds for a connection that logged
    // in with the token before.
    let tokens = unterm.call("token.list", json!({}))?;
    let numbers = tokens["tokens"].as_array().into_iter().flatten();
    for number in numbers.filter_map(|token| token["number"].as_u64()).collect::<Vec<_>>() {
        assert_eq!(unterm.call("token.revoke", json!({ "number": number }))?["revoked"], true);
    }
    ensure!(driver.call("session.input", input(own.id)).is_err());
    for token in [late.as_str(), &reader, &actor, "unterm_nobody"] {
        assert_eq!(ask(&unterm, "GET", "/api/panes", token, &none)?.0, 401, "{token}");
    }
    assert_eq!(unterm.log().matches("wrong token for the settings page").count(), 4);
    Ok(())
}
