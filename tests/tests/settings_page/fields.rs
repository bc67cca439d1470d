//! The page's fields, used by keyboard and filled with invalid values. The focus must stay nearby, the typed text must
//! stay, and the error message must be understandable.

use anyhow::{Result, ensure};
use serde_json::json;
use unterm_tests::{Browser, Start};

use super::{open, wait_for_file};

fn press(browser: &mut Browser, key: &str) -> Result<()> {
    browser.ask("press", json!({ "key": key }))?;
    Ok(())
}

#[test]
fn the_focus_stays_in_the_row_when_keys_are_bound_by_keyboard() -> Result<()> {
    let unterm = Start::headless().now()?;
    unterm.write_config("# mine\n")?;
    let mut browser = open(&unterm)?;
    browser.to("click", "#tab-keys")?;
    let row = "[data-action=new_tab]";
    let add = format!("{row} [data-add]");
    let is_focused = |at: &str| format!("{at}:focus");
    browser.to("wait_for", &add)?;
    browser.to("focus", &add)?;

    press(&mut browser, "Enter")?;
    browser.to("wait_there", "#binding-keys:focus")?;
    press(&mut browser, "Enter")?;
    browser.with("wait_text", &format!("{row} .wrong"), "Press a key combination")?;
    browser.to("wait_there", "#binding-keys:focus")?;
    press(&mut browser, "Control+Shift+B")?;
    press(&mut browser, "Enter")?;
    wait_for_file(&unterm, "\"ctrl+shift+b\" = \"new_tab\"")?;
    browser.to("wait_there", &is_focused(&format!("{row} [data-keys=\"ctrl+shift+b\"]")))?;

    // Escape leaves the form for the key. The next button removes the key.
    press(&mut browser, "Enter")?;
    browser.to("wait_there", "#binding-keys:focus")?;
    press(&mut browser, "Escape")?;
    browser.to("wait_there", &is_focused(&format!("{row} [data-keys=\"ctrl+shift+b\"]")))?;
    press(&mut browser, "Tab")?;
    press(&mut browser, "Enter")?;
    browser.to("wait_gone", &format!("{row} [data-keys=\"ctrl+shift+b\"]"))?;
    browser.to("wait_there", &is_focused(&add))?;

    // The reset button of a row is disabled after use, and the focus moves to the row's control.
    browser.to("click", "#tab-general")?;
    browser.to("click", "#set-window-restore")?;
    let reset = "[data-setting=\"window.restore\"] .reset:not([disabled])";
    browser.to("wait_for", reset)?;
    browser.to("focus", reset)?;
    press(&mut browser, "Enter")?;
    browser.to("wait_there", "#set-window-restore:focus")?;
    Ok(())
}

#[test]
fn refused_input_stays_in_its_field_with_a_reason() -> Result<()> {
    let unterm = Start::headless().now()?;
    let mut browser = open(&unterm)?;
    browser.to("click", "#tab-recording")?;
    browser.with("fill", "#patterns", "needle[0-9]+\n(bad")?;
    let wrong = ".row:has(#patterns) .wrong";
    browser.with("wait_text", wrong, "\"(bad\" is not a valid regular expression")?;
    assert_eq!(browser.to("value", "#patterns")?, "needle[0-9]+\n(bad");
    // The typed text also stays when the page receives other changes.
    unterm.prints(&["record", "start"])?;
    browser.to("wait_for", ".badge.live")?;
    assert_eq!(browser.to("value", "#patterns")?, "needle[0-9]+\n(bad");
    browser.with("fill", "#patterns", "needle[0-9]+\n(good)")?;
    browser.with("wait_text", ".saved", "Saved")?;
    assert_eq!(browser.to("text", wrong)?, "");

    for (tab, field, given, reason) in [
        ("recording", "idle", "-3", "Enter a whole number from 1 to 1,440."),
        ("scrollback", "set-scrollback-lines", "1.5", "a whole number from 100 to 999,999,999."),
        ("scrollback", "set-scrollback-lines", "-1", "a whole number from 100 to 999,999,999."),
        ("appearance", "set-font-size", "500", "Enter a number from 4 to 96."),
    ] {
        browser.to("click", &format!("#tab-{tab}"))?;
        browser.with("fill", &format!("#{field}"), given)?;
        browser.with("wait_text", &format!(".row:has(#{field}) .wrong"), reason)?;
        assert_eq!(browser.to("value", &format!("#{field}"))?, given);
    }

    // The typed text stays when a proxy is refused, and when a node is added.
    browser.to("click", "#tab-proxy")?;
    browser.with("fill", "#proxy-http_proxy", "not a url")?;
    browser.to("wait_for", ".row:has(#proxy-http_proxy) .wrong:visible")?;
    assert_eq!(browser.to("value", "#proxy-http_proxy")?, "not a url");
    browser.with("fill", "#node-name", "home")?;
    browser.with("fill", "#node-url", "not a url")?;
    browser.to("click", "form:has(#node-url) button:not([type])")?;
    browser.to("wait_for", "form:has(#node-url) + .wrong")?;
    assert_eq!(browser.to("value", "#node-url")?, "not a url");
    Ok(())
}

#[test]
fn the_page_reports_an_instance_that_has_ended() -> Result<()> {
    let mut unterm = Start::headless().now()?;
    let mut browser = open(&unterm)?;
    unterm.terminate()?;
    unterm.wait_for_exit()?;
    browser.to("click", "#set-window-restore")?;
    let row = "[data-setting=\"window.restore\"]";
    browser.with("wait_text", &format!("{row} .wrong"), "Unterm does not respond.")?;
    browser.to("click", "#tab-agents")?;
    browser.with("wait_text", "#problem", "Unterm does not respond.")?;
    let shown = browser.to("text", "body")?.as_str().unwrap_or_default().to_owned();
    ensure!(!shown.contains("Failed to fetch"), "{shown}");
    Ok(())
}
