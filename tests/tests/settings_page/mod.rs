//! The settings page in a real browser. Tests cover each section, each setting changed by its control and checked in
//! the file and in the window, changes made outside of the page, two languages, and accessibility. Separate files cover
//! the effects of each row and of each other control, the permissions of agents, and the refusal of pages of other
//! origins.

mod agents_section;
mod controls;
mod cross_origin;
mod fields;
mod row_effects;
mod search;

use std::{
    collections::BTreeSet,
    fs,
    io::{Read as _, Write as _},
    net::TcpStream,
    process::Command,
};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use toml_edit::DocumentMut;
use unterm_tests::{Browser, Display, Instance, PATIENCE, Start, node_modules, wait_for};

const NORD: [u8; 3] = [0x2e, 0x34, 0x40];
const TABS: [&str; 10] = [
    "general",
    "appearance",
    "keys",
    "proxy",
    "scrollback",
    "compat",
    "recording",
    "agents",
    "project",
    "about",
];

/// Starts a browser and waits until it is ready. This comes first, because the code in the page's address expires after
/// one minute.
fn started() -> Result<Browser> {
    let mut browser = Browser::start()?;
    browser.ask("url", json!({}))?;
    Ok(browser)
}

/// Opens the page of an instance like a user.
fn open(unterm: &Instance) -> Result<Browser> {
    let mut browser = started()?;
    let url = unterm.prints(&["settings", "open", "--print-only"])?.trim().to_owned();
    browser.ask("goto", json!({ "url": url }))?;
    browser.to("wait_for", "#tab-general")?;
    Ok(browser)
}

/// Sends a request to the settings server without a browser. Returns the status and the text of the reply.
fn ask(
    unterm: &Instance,
    verb: &str,
    path: &str,
    token: &str,
    body: &Value,
) -> Result<(u16, String)> {
    let port = unterm.entry()["http_port"].as_u64().context("no http_port")?;
    let mut stream = TcpStream::connect(("127.0.0.1", u16::try_from(port)?))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let length = body.len();
    write!(
        stream,
        "{verb} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )?;
    let mut reply = String::new();
    stream.read_to_string(&mut reply)?;
    let (head, text) = reply.split_once("\r\n\r\n").context("no answer")?;
    let status = head.split(' ').nth(1).context("no status")?.parse()?;
    Ok((status, text.to_owned()))
}

fn file(unterm: &Instance) -> Result<String> {
    Ok(fs::read_to_string(unterm.registry().join("config.toml"))?)
}

/// Whether the configuration file sets a key.
fn sets(unterm: &Instance, key: &str) -> Result<bool> {
    let document: DocumentMut = file(unterm)?.parse()?;
    let mut names = key.split('.');
    let first = names.next().context("a key")?;
    Ok(match names.next() {
        Some(name) => document.get(first).is_some_and(|section| section.get(name).is_some()),
        None => document.contains_key(first),
    })
}

fn wait_for_file(unterm: &Instance, text: &str) -> Result<()> {
    wait_for(
        &format!("{text} in the file"),
        || Ok(file(unterm)?.contains(text).then_some(())),
        || file(unterm).unwrap_or_default(),
    )
}

/// Fails if the browser reported any faults.
fn check_faults(browser: &mut Browser) -> Result<()> {
    let faults = browser.ask("faults", json!({}))?;
    ensure!(faults == json!([]), "the page had faults: {faults}");
    Ok(())
}

fn strings(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(|one| Some(one.as_str()?.to_owned())).collect()
}

#[test]
fn every_section_works_in_two_languages_and_both_schemes() -> Result<()> {
    let unterm = Start::headless().now()?;
    let mut browser = open(&unterm)?;
    for (language, theme, heading) in
        [("en-US", "catppuccin-mocha", "Appearance"), ("de-DE", "solarized-light", "Darstellung")]
    {
        browser.to("click", "#tab-general")?;
        browser.with("select", "#set-language", language)?;
        browser.with("wait_text", "#tab-appearance", heading)?;
        browser.to("click", "#tab-appearance")?;
        browser.to("click", &format!("[data-theme={theme}]"))?;
        browser.to("wait_for", &format!("[data-theme={theme}][aria-checked=true]"))?;
        for tab in TABS {
            browser.to("click", &format!("#tab-{tab}"))?;
            browser.to("wait_for", &format!("#tab-{tab}[aria-selected=true]"))?;
            let name = browser.to("text", &format!("#tab-{tab}"))?;
            let name = name.as_str().unwrap_or_default().to_owned();
            browser.with("wait_text", &format!("#heading-{tab}"), &name)?;
            let wrong = browser.ask("axe", json!({}))?;
            ensure!(wrong == json!([]), "{language}, {tab}: {wrong}");
        }
    }
    // With the keyboard alone: the list of sections is one tab stop, and the arrow keys select a section.
    browser.to("focus", "#tab-about")?;
    browser.ask("press", json!({"key": "ArrowUp"}))?;
    browser.to("wait_for", "#tab-project[aria-selected=true]")?;
    check_faults(&mut browser)
}

#[test]
fn tokens_stay_hidden_and_a_code_works_once() -> Result<()> {
    let unterm = Start::headless().now()?;
    let mut browser = started()?;
    let url = unterm.prints(&["settings", "open", "--print-only"])?.trim().to_owned();
    let (address, code) = url.split_once("#code=").context("a code")?;
    browser.ask("goto", json!({ "url": url }))?;
    browser.to("wait_for", "#tab-general")?;
    ensure!(browser.ask("url", json!({}))? == address, "the code is taken out of the address");
    ensure!(!browser.ask("storage", json!({}))?.to_string().contains(code));
    let mut other = Browser::start()?;
    other.ask("goto", json!({ "url": url }))?;
    other.to("wait_for", ".locked")?;
    let shown = other.to("text", "body")?;
    ensure!(!shown.to_string().contains("ui."), "a key stands where words should: {shown}");
    // The first browser still works, even after a reload.
    browser.ask("goto", json!({ "url": address }))?;
    browser.to("wait_for", "#tab-general")?;
    Ok(())
}

/// Changes a setting by its control, to another valid value.
fn change(browser: &mut Browser, key: &str) -> Result<()> {
    let at = format!("#set-{}", key.replace('.', "-"));
    match browser.to("kind", &at)?.as_str().unwrap_or_default() {
        "switch" => browser.to("click", &at)?,
        "select" => {
            let now = browser.to("value", &at)?;
            let options = strings(&browser.to("options", &at)?);
            let other = options.iter().find(|one| now != one.as_str()).context("another choice")?;
            browser.with("select", &at, other)?
        }
        "range" => {
            browser.to("focus", &at)?;
            let key = if key == "window.opacity" { "ArrowLeft" } else { "ArrowRight" };
            browser.ask("press", json!({ "key": key }))?
        }
        "number" => {
            let now = browser.to("value", &at)?;
            let now: f64 = now.as_str().unwrap_or_default().parse()?;
            browser.with("fill", &at, &(now + 1.0).to_string())?
        }
        _ => {
            let text = match key {
                "font.family" => "DejaVu Sans Mono, monospace",
                "startup.layout" => "last",
                "shell.program" => "sh",
                _ => "kitty",
            };
            browser.with("fill", &at, text)?
        }
    };
    Ok(())
}

#[test]
fn each_setting_is_changed_and_reset_by_its_control() -> Result<()> {
    let unterm = Start::headless().now()?;
    let config = unterm.registry().join("config.toml");
    fs::write(&config, "# mine\n[mouse]\n# slowly\nscroll_lines = 2 # for now\n")?;
    let mut browser = open(&unterm)?;
    let mut seen = BTreeSet::new();
    for tab in ["general", "appearance", "scrollback", "compat", "agents"] {
        browser.to("click", &format!("#tab-{tab}"))?;
        // Wait for visible rows of this tab, because rows of the previous tab stay in the page a little longer.
        let rows = format!("[data-part={tab}] [data-setting]:visible");
        browser.to("wait_for", &rows)?;
        let list = json!({"at": rows, "attribute": "data-setting"});
        for key in strings(&browser.ask("list", list)?) {
            // A separate test covers the languages.
            if key == "language" || !seen.insert(key.clone()) {
                continue;
            }
            change(&mut browser, &key).with_context(|| key.clone())?;
            let row = format!("[data-setting=\"{key}\"]");
            browser.to("wait_for", &format!("{row} .reset:not([disabled])"))?;
            ensure!(sets(&unterm, &key)?, "{key}: {}", file(&unterm)?);
            let wrong = browser.to("text", &format!("{row} .wrong"))?;
            ensure!(wrong == "", "{key}: {wrong}");
            browser.to("click", &format!("{row} .reset"))?;
            // Two settings are changed by methods that can only set a value, so a reset leaves them in the file.
            if !["scrollback.lines", "compat.term_program"].contains(&key.as_str()) {
                let off = format!("{row} .reset[disabled]");
                wait_for(
                    &format!("{key} to be taken back"),
                    || Ok((!sets(&unterm, &key)?).then_some(())),
                    || file(&unterm).unwrap_or_default(),
                )?;
                browser.to("wait_there", &off)?;
            }
        }
    }
    ensure!(seen.len() > 35, "{seen:?}");
    let text = file(&unterm)?;
    ensure!(text.starts_with("# mine\n[mouse]\n# slowly\n"), "comments are kept: {text}");
    check_faults(&mut browser)
}

#[test]
fn changes_appear_in_the_window_and_on_the_page() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, window, _) =
        Start::windowed(&display).arg("--painter").arg("cpu").at_prompt()?;
    let mut browser = open(&unterm)?;
    let columns = |unterm: &mut Instance| {
        Ok::<_, anyhow::Error>(unterm.sessions()?[0]["cols"].as_u64().unwrap_or_default())
    };

    browser.to("click", "#tab-appearance")?;
    browser.to("click", "[data-theme=nord]")?;
    window.wait_for_background(NORD)?;
    wait_for_file(&unterm, "theme = \"nord\"")?;
    let before = columns(&mut unterm)?;
    browser.with("fill", "#set-font-size", "24")?;
    wait_for(
        "larger text",
        || Ok((columns(&mut unterm)? * 3 < before * 2).then_some(())),
        String::new,
    )?;

    // A key bound on the page works in the window.
    browser.to("click", "#tab-keys")?;
    browser.with("fill", "#search", "new tab")?;
    let row = "[data-action=new_tab]";
    browser.to("click", &format!("{row} button[aria-label^=\"Add a key\"]"))?;
    browser.to("focus", "#binding-keys")?;
    browser.ask("press", json!({"key": "Control+Shift+W"}))?;
    browser.with("wait_text", &format!("{row} .wrong"), "already bound to")?;
    browser.ask("press", json!({"key": "Control+Shift+B"}))?;
    browser.with("wait_value", "#binding-keys", "ctrl+shift+b")?;
    browser.to("click", "#binding-save")?;
    browser.with("wait_text", row, "Ctrl+Shift+B")?;
    wait_for_file(&unterm, "\"ctrl+shift+b\" = \"new_tab\"")?;
    wait_for(
        "a second tab",
        || {
            if unterm.sessions()?.len() > 1 {
                return Ok(Some(()));
            }
            display.press(&["Control_L", "Shift_L", "b"])?;
            Ok(None)
        },
        String::new,
    )?;
    browser.to("click", &format!("{row} .reset"))?;
    wait_for(
        "the key to be taken back",
        || Ok((!file(&unterm)?.contains("ctrl+shift+b")).then_some(())),
        || file(&unterm).unwrap_or_default(),
    )?;

    // Changes made outside of the page appear on the page.
    browser.with("fill", "#search", "")?;
    browser.to("click", "#tab-appearance")?;
    unterm.prints(&["theme", "set", "daylight"])?;
    browser.to("wait_for", "[data-theme=solarized-light][aria-checked=true]")?;
    let text = file(&unterm)?.replace("size = 24", "size = 11");
    unterm.write_config(&text)?;
    browser.with("wait_value", "#set-font-size", "11")?;
    check_faults(&mut browser)
}

#[test]
fn proxy_recording_agents_and_project_controls_work() -> Result<()> {
    let mut unterm = Start::headless().now()?;
    let pane = unterm.first_pane()?;
    pane.wait_for_prompt(&mut unterm)?;
    let mut browser = open(&unterm)?;

    browser.to("click", "#tab-proxy")?;
    browser.with("fill", "#proxy-http_proxy", "http://127.0.0.1:9")?;
    browser.to("click", "#proxy-enabled")?;
    wait_for(
        "the proxy",
        || {
            let env = unterm.call("proxy.env", json!({}))?;
            Ok((env["env"]["HTTP_PROXY"] == "http://127.0.0.1:9").then_some(()))
        },
        String::new,
    )?;
    browser.with("fill", "#node-name", "home")?;
    browser.with("fill", "#node-url", "http://127.0.0.1:8")?;
    browser.to("click", "form:has(#node-url) button:not([type])")?;
    browser.with("wait_text", "#main", "http://127.0.0.1:8")?;
    unterm.call("proxy.disable", json!({}))?;
    browser.to("wait_for", "#proxy-enabled:not(:checked)")?;

    browser.to("click", "#tab-recording")?;
    browser.to("click", "[data-record]")?;
    browser.to("wait_for", ".badge.live")?;
    unterm.prints(&["run", "echo a needle"])?;
    browser.to("click", "[data-record]")?;
    browser.to("wait_for", "button[aria-label^=\"Read \"]")?;
    browser.with("fill", "#session-search", "A NEEDLE")?;
    browser.to("click", ".match")?;
    browser.with("wait_text", "#markdown", "a needle")?;

    browser.to("click", "#record-all")?;
    let settings = unterm.registry().join("recording.json");
    wait_for(
        "the word in the file",
        || {
            // The file does not exist before this change.
            let text = fs::read_to_string(&settings).unwrap_or_default();
            Ok(text.contains("\"recording\"").then_some(()))
        },
        String::new,
    )?;
    let recorded = unterm.run("cat", &[])?;
    wait_for(
        "a session that is recorded by itself",
        || {
            let id = json!({"id": recorded.id});
            Ok((unterm.call("session.recording_status", id)?["recording"] == true).then_some(()))
        },
        String::new,
    )?;

    browser.to("click", "#tab-agents")?;
    let mut helper = unterm.connect()?;
    let login = json!({"token": unterm.entry()["auth_token"], "client": "helper"});
    helper.call("auth.login", login)?;
    browser.with("wait_text", "#clients", "helper")?;
    browser.to("click", "#policy")?;
    // Blanks around a pattern are significant.
    browser.with("fill", "#blocked", "forbidden\n rm ")?;
    let is_allowed = |unterm: &mut Instance, command: &str| -> Result<bool> {
        Ok(unterm.call("policy.check", json!({ "command": command }))?["allowed"] == true)
    };
    wait_for(
        "the rules",
        || Ok((!is_allowed(&mut unterm, "forbidden")?).then_some(())),
        String::new,
    )?;
    ensure!(!is_allowed(&mut unterm, "sudo rm x")? && is_allowed(&mut unterm, "rm-old x")?);
    let refused = helper.call("exec.run", json!({"id": 0, "command": "forbidden"}));
    ensure!(refused.is_err(), "{refused:?}");
    browser.with("wait_text", "table", "forbidden")?;
    browser.to("click", "#pause")?;
    browser.to("wait_for", "#pause:checked")?;
    browser.to("click", "#pause")?;
    browser.to("wait_for", "#pause:not(:checked)")?;

    browser.to("click", "#tab-project")?;
    browser.with("fill", "#title", "my work")?;
    wait_for(
        "the title",
        || Ok((unterm.call("instance.info", json!({}))?["title"] == "my work").then_some(())),
        String::new,
    )?;
    browser.to("click", "#tab-about")?;
    browser.with("wait_text", "#version", env!("CARGO_PKG_VERSION"))?;
    check_faults(&mut browser)
}

#[test]
fn the_committed_page_matches_its_sources() -> Result<()> {
    let check = Command::new("node")
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/settings/build.mjs"))
        .arg("--check")
        .env("UNTERM_NODE_MODULES", node_modules()?)
        .output()?;
    ensure!(check.status.success(), "{}", String::from_utf8_lossy(&check.stderr));
    Ok(())
}
