//! The page's controls that are not rows of the configuration file. Each control is changed, and its effect is checked
//! in the running instance. A table lists where the effect is checked. A control that is missing in the table fails the
//! test.

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use unterm_tests::{Browser, Instance, Picture, Start, wait_for};

use super::{NORD, TABS, ask, check_faults, file, open, strings};

const DRACULA: [u8; 3] = [0x28, 0x2a, 0x36];

/// Where the effect of a control is checked.
enum CheckedIn {
    /// In this file, together with the other controls of its tab.
    Here,
    /// In the named test.
    In(&'static str),
}

use CheckedIn::{Here, In};

const COMMON: CheckedIn = In("proxy_recording_agents_and_project_controls_work");
const TOKEN: CheckedIn = In("a_token_is_created_used_and_revoked");

const CONTROLS: &[(&str, &[(&str, CheckedIn)])] = &[
    ("appearance", &[("follow", Here), ("theme-light", Here), ("theme-dark", Here)]),
    (
        "proxy",
        &[
            ("proxy-enabled", Here),
            ("proxy-http_proxy", Here),
            ("proxy-socks_proxy", Here),
            ("proxy-no_proxy", Here),
            ("node-name", COMMON),
            ("node-url", COMMON),
        ],
    ),
    (
        "recording",
        &[
            ("record-all", COMMON),
            ("redaction", Here),
            ("patterns", Here),
            ("idle", Here),
            ("session-search", COMMON),
        ],
    ),
    (
        "agents",
        &[
            ("pause", Here),
            ("token-name", TOKEN),
            ("token-scope", TOKEN),
            ("token-panes", TOKEN),
            ("token-ends", TOKEN),
            ("policy", Here),
            ("blocked", COMMON),
            ("allowed", Here),
            ("enforce", Here),
        ],
    ),
    ("project", &[("title", COMMON)]),
];

/// A script that lists the visible controls that are not rows.
const LIST: &str = "() => [...document.querySelectorAll('#main :is(input, select, textarea)[id]')]
    .filter((one) => one.offsetParent && !one.closest('[data-setting]')).map((one) => one.id)";

/// Lists the values of choices without a name, each after the id of its control.
const NAMELESS: &str = "() => [...document.querySelectorAll('#main select[id] option')]
    .filter((one) => !one.textContent.trim()).map((one) => `${one.closest('select').id}: ${one.value}`)";

/// Opens the page in one language, for an instance whose first pane is at its prompt.
fn open_in(language: &str) -> Result<(Instance, Browser)> {
    let mut unterm = Start::headless().now()?;
    unterm.write_config(&format!("language = \"{language}\"\n"))?;
    until("the language in force", || {
        let got = unterm.call("config.get", json!({"key": "language"}))?;
        Ok(got["value"] == language)
    })?;
    unterm.first_pane()?.wait_for_prompt(&mut unterm)?;
    let mut browser = open(&unterm)?;
    browser.to("wait_there", &format!("html[lang={language}]"))?;
    Ok((unterm, browser))
}

fn until(what: &str, mut is_so: impl FnMut() -> Result<bool>) -> Result<()> {
    wait_for(what, || Ok(is_so()?.then_some(())), String::new)
}

fn in_two_languages(check: impl Fn(&mut Instance, &mut Browser) -> Result<()>) -> Result<()> {
    for language in ["en-US", "ja-JP"] {
        let (mut unterm, mut browser) = open_in(language)?;
        check(&mut unterm, &mut browser).context(language)?;
        check_faults(&mut browser).context(language)?;
    }
    Ok(())
}

#[test]
fn each_control_of_the_page_has_a_check() -> Result<()> {
    let (_unterm, mut browser) = open_in("en-US")?;
    for tab in TABS {
        browser.to("click", &format!("#tab-{tab}"))?;
        browser.to("wait_for", &format!("#tab-{tab}[aria-selected=true]"))?;
        if tab == "appearance" {
            browser.to("click", "#follow")?;
            browser.to("wait_for", "#theme-dark")?;
        }
        let known =
            CONTROLS.iter().find(|(name, _)| *name == tab).map(|one| one.1).unwrap_or_default();
        let names: Vec<&str> = known.iter().map(|(id, _)| *id).collect();
        // The tab is selected before its contents change, so wait until the contents match the table.
        let mut listed = Vec::new();
        let as_known = || {
            listed = strings(&browser.ask("evaluate", json!({ "script": LIST }))?);
            Ok((listed == names).then_some(()))
        };
        let found = wait_for("the controls that are known", as_known, String::new);
        found.with_context(|| format!("{tab}: {listed:?} instead of {names:?}"))?;
        for (id, seen) in known {
            ensure!(!matches!(seen, In("")), "{id}: no test is named");
        }
        let mut nameless = Vec::new();
        let all_named = || {
            nameless = strings(&browser.ask("evaluate", json!({ "script": NAMELESS }))?);
            Ok(nameless.is_empty().then_some(()))
        };
        let named = wait_for("a name for each choice", all_named, String::new);
        named.with_context(|| format!("{tab}: {nameless:?} have no name"))?;
    }
    Ok(())
}

/// Whether a picture of the first session consists mostly of this background color.
fn is_painted(unterm: &mut Instance, color: [u8; 3]) -> Result<bool> {
    let taken = unterm.call("capture.window", json!({}))?;
    let path = taken["image"]["path"].as_str().context("a picture")?;
    let picture = Picture::of_png(&std::fs::read(path)?)?;
    Ok(picture.count(color) * 2 > picture.pixels.len())
}

#[test]
fn themes_for_light_and_dark_are_painted() -> Result<()> {
    in_two_languages(|unterm, browser| {
        browser.to("click", "#tab-appearance")?;
        browser.to("click", "#follow")?;
        browser.to("wait_for", "#theme-dark")?;
        // The desktop reports no light appearance to this instance.
        browser.with("select", "#theme-dark", "nord")?;
        until("the dark theme", || is_painted(unterm, NORD))?;
        browser.with("select", "#theme-light", "dracula")?;
        until("the light theme in force", || {
            let theme = unterm.call("config.get", json!({"key": "theme"}))?;
            Ok(theme["value"] == json!({"light": "dracula", "dark": "nord"}))
        })?;
        // The browser's appearance is light, so the other theme is the light theme, as soon as the page has received
        // it.
        browser.to("wait_for", "[data-theme=dracula][aria-checked=true]")?;
        browser.to("click", "#follow")?;
        until("the light theme", || is_painted(unterm, DRACULA))?;
        browser.to("wait_gone", "#theme-dark")?;
        ensure!(file(unterm)?.contains("theme = \"dracula\""), "{}", file(unterm)?);
        Ok(())
    })
}

/// A script that chooses in both lists before the page receives an answer to either choice.
const CHOOSE_BOTH: &str =
    "() => [['theme-dark', 'nord'], ['theme-light', 'dracula']].forEach(([id, name]) => {
    const list = document.getElementById(id);
    list.value = name;
    list.dispatchEvent(new Event('change', { bubbles: true }));
})";

#[test]
fn two_themes_chosen_in_quick_succession_both_apply() -> Result<()> {
    let (mut unterm, mut browser) = open_in("en-US")?;
    browser.to("click", "#tab-appearance")?;
    browser.to("click", "#follow")?;
    browser.to("wait_there", "#theme-light option[value=dracula]")?;
    browser.to("wait_there", "#theme-dark option[value=nord]")?;
    browser.ask("evaluate", json!({ "script": CHOOSE_BOTH }))?;
    until("both themes in force", || {
        let theme = unterm.call("config.get", json!({"key": "theme"}))?;
        Ok(theme["value"] == json!({"light": "dracula", "dark": "nord"}))
    })?;
    check_faults(&mut browser)
}

/// A script that withholds the server's next answer about the settings from the page, until it is released.
const HOLD: &str = "() => {
    const own = window.fetch;
    window.fetch = async (path, given) => {
        const reply = await own(path, given);
        if (path !== '/api/settings' || window.release) return reply;
        const text = await reply.text();
        await new Promise((go) => { window.release = go; });
        const { ok, status, headers } = reply;
        return { ok, status, headers, text: async () => text };
    };
}";

/// A script that releases the answer, and returns the theme that the page then shows.
const RELEASE: &str = "async () => {
    window.release();
    await new Promise((go) => setTimeout(go));
    return document.querySelector('[data-theme][aria-checked=true]').dataset.theme;
}";

#[test]
fn a_late_reply_does_not_undo_newer_changes() -> Result<()> {
    let (unterm, mut browser) = open_in("en-US")?;
    browser.to("click", "#tab-appearance")?;
    browser.to("wait_for", "[data-theme=catppuccin-mocha][aria-checked=true]")?;
    browser.ask("evaluate", json!({ "script": HOLD }))?;
    unterm.prints(&["theme", "set", "nord"])?;
    let is_held = json!({ "script": "() => 'release' in window" });
    until("an answer that is held", || Ok(browser.ask("evaluate", is_held.clone())? == true))?;
    unterm.prints(&["theme", "set", "dracula"])?;
    browser.to("wait_for", "[data-theme=dracula][aria-checked=true]")?;
    let shown = browser.ask("evaluate", json!({ "script": RELEASE }))?;
    ensure!(shown == "dracula", "{shown}");
    check_faults(&mut browser)
}

#[test]
fn programs_in_new_panes_use_the_proxy() -> Result<()> {
    const LINE: &str = "echo \"$HTTP_PROXY,$ALL_PROXY,$NO_PROXY\" is it\r";
    in_two_languages(|unterm, browser| {
        browser.to("click", "#tab-proxy")?;
        browser.with("fill", "#proxy-http_proxy", "http://127.0.0.1:9")?;
        browser.with("fill", "#proxy-socks_proxy", "socks5://127.0.0.1:7")?;
        browser.with("fill", "#proxy-no_proxy", "intern.test")?;
        browser.to("click", "#proxy-enabled")?;
        let wanted = json!({
            "HTTP_PROXY": "http://127.0.0.1:9",
            "HTTPS_PROXY": "http://127.0.0.1:9",
            "ALL_PROXY": "socks5://127.0.0.1:7",
            "NO_PROXY": "intern.test",
        });
        until("the proxy", || Ok(unterm.call("proxy.env", json!({}))?["env"] == wanted))?;
        let pane = unterm.open(json!({}))?;
        pane.type_text(unterm, LINE)?;
        let found = "http://127.0.0.1:9,socks5://127.0.0.1:7,intern.test is it";
        pane.wait(unterm, found, |lines| lines.iter().any(|line| line == found))?;

        browser.to("click", "#proxy-enabled")?;
        until("no proxy", || Ok(unterm.call("proxy.env", json!({}))?["enabled"] == false))?;
        let pane = unterm.open(json!({}))?;
        pane.type_text(unterm, LINE)?;
        pane.wait(unterm, "none", |lines| lines.iter().any(|line| line == ",, is it"))?;
        Ok(())
    })
}

/// The recording of a command that contains two secrets.
fn recorded(unterm: &mut Instance) -> Result<String> {
    let started = unterm.call("session.recording_start", json!({"id": 0}))?;
    let command = json!({"id": 0, "command": "echo password=hunter2 and needle42"});
    unterm.call("exec.run_wait", command)?;
    unterm.call("session.recording_stop", json!({"id": 0}))?;
    let recording = json!({"session_id": started["session_id"]});
    let read = unterm.call("session.recording_read", recording)?;
    Ok(read["markdown"].as_str().context("a text")?.to_owned())
}

/// Waits until the file with the recording settings contains a value.
fn wait_for_recording(unterm: &Instance, path: &str, wanted: &Value) -> Result<()> {
    let written = unterm.registry().join("recording.json");
    until(path, || {
        // The file does not exist before the first change.
        let text = std::fs::read_to_string(&written).unwrap_or_default();
        let settings: Value = serde_json::from_str(&text).unwrap_or_default();
        Ok(settings.pointer(path) == Some(wanted))
    })
}

#[test]
fn secrets_are_masked_in_the_next_recording() -> Result<()> {
    in_two_languages(|unterm, browser| {
        browser.to("click", "#tab-recording")?;
        let text = recorded(unterm)?;
        ensure!(text.contains("needle42") && !text.contains("hunter2"), "{text}");
        browser.with("fill", "#patterns", "needle[0-9]+")?;
        wait_for_recording(unterm, "/redaction/custom_patterns/0", &"needle[0-9]+".into())?;
        let text = recorded(unterm)?;
        ensure!(!text.contains("needle42") && !text.contains("hunter2"), "{text}");
        browser.to("click", "#redaction")?;
        wait_for_recording(unterm, "/redaction/enabled", &false.into())?;
        let text = recorded(unterm)?;
        ensure!(text.contains("needle42") && text.contains("hunter2"), "{text}");
        // The minimum is one minute, which is longer than a test waits. So only the stored value is checked.
        browser.with("fill", "#idle", "7")?;
        wait_for_recording(unterm, "/idle_rotate_minutes", &7.into())
    })
}

fn are_agents_paused(unterm: &Instance) -> Result<bool> {
    let token = unterm.entry()["auth_token"].as_str().context("a token")?;
    let (_, agents) = ask(unterm, "GET", "/api/agents", token, &Value::Null)?;
    let agents: Value = serde_json::from_str(&agents)?;
    agents["paused"].as_bool().context("an answer")
}

#[test]
fn only_allowed_lines_run_and_none_during_a_pause() -> Result<()> {
    fn is_allowed(unterm: &mut Instance, command: &str) -> Result<bool> {
        let checked = unterm.call("policy.check", json!({ "command": command }))?;
        checked["allowed"].as_bool().context("an answer")
    }
    in_two_languages(|unterm, browser| {
        browser.to("click", "#tab-agents")?;
        browser.to("click", "#policy")?;
        browser.with("fill", "#allowed", "echo")?;
        browser.to("click", "#enforce")?;
        until("the rule", || Ok(!is_allowed(unterm, "ls")? && is_allowed(unterm, "echo x")?))?;
        let run = |command: &str| json!({"id": 0, "command": command});
        ensure!(unterm.call("exec.run_wait", run("ls")).is_err(), "ls is run all the same");
        let ran = unterm.call("exec.run_wait", run("echo allowed"))?;
        assert_eq!(ran["output"], "allowed", "{ran}");
        browser.to("click", "#enforce")?;
        until("no rule", || is_allowed(unterm, "ls"))?;
        unterm.call("exec.run_wait", run("true"))?;

        // A command of an agent waits for the end of the pause, and then runs.
        browser.to("click", "#pause")?;
        // The page shows the pause before the instance has applied it, so wait for the instance.
        until("the pause", || are_agents_paused(unterm))?;
        let mut other = unterm.connect()?;
        let waiting =
            std::thread::spawn(move || other.call("exec.run_wait", run("echo $((7 * 9))")));
        browser.with("fill", "#blocked", "forbidden")?;
        until("another rule", || Ok(!is_allowed(unterm, "forbidden")?))?;
        let lines = unterm.first_pane()?.lines(unterm)?;
        ensure!(!lines.iter().any(|line| line == "63"), "it does not wait");
        browser.to("click", "#pause")?;
        browser.to("wait_for", "#pause:not(:checked)")?;
        let ran = waiting.join().map_err(|_| anyhow::anyhow!("the thread panicked"))??;
        assert_eq!(ran["output"], "63", "{ran}");
        Ok(())
    })
}
