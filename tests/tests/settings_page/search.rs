//! The page's search. It uses one index over all texts of the page, from every tab and in several languages.

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use unterm_tests::Start;

use super::{check_faults, open, strings};

/// Languages with different requirements: case folding, no spaces between words, combining vowels. All other languages
/// use the same index.
const LANGUAGES: [&str; 4] = ["en-US", "de-DE", "ja-JP", "hi-IN"];

/// A script that searches for each text of the page, once from every tab. Returns the texts that the search did not
/// find.
const SEARCH_ALL: &str = "async () => {
    const [search, main] = ['search', 'main'].map((id) => document.getElementById(id));
    const tabs = [...document.querySelectorAll('[role=tab]')];
    const own = 'h2, h3, label:not(:has(*)), label > span, legend, dt, th, button:not(:has(*)), option, .name, .about p, .card-name, .note, .muted';
    const isSeen = (one) => (one.tagName === 'OPTION' ? one.parentElement : one).offsetParent !== null;
    const holders = Map.groupBy(main.querySelectorAll(own), (one) => one.textContent.trim());
    const isShown = (text) => holders.get(text).some(isSeen);
    // The page shows its parts one after the other, so wait for them.
    const becomes = async (isSo) => {
        for (let turn = 0; turn < 200 && !isSo(); turn++) await new Promise((go) => setTimeout(go));
        return isSo();
    };
    const open = async (tab) => {
        tab.click();
        await becomes(() => isSeen(document.getElementById(tab.id.replace('tab-', 'heading-'))));
    };
    const texts = new Set(tabs.map((tab) => tab.textContent.trim()));
    for (const tab of tabs) {
        await open(tab);
        [...holders.keys()].filter((text) => /\\p{L}/u.test(text) && isShown(text)).forEach((text) => texts.add(text));
    }
    const missed = [];
    let next = 0;
    for (const text of texts) {
        await open(tabs[next++ % tabs.length]);
        search.value = text;
        search.dispatchEvent(new Event('input', { bubbles: true }));
        if (!await becomes(() => isShown(text))) missed.push(text);
    }
    return [texts.size, missed];
}";

#[test]
fn every_text_is_found_from_every_tab_in_four_languages() -> Result<()> {
    let unterm = Start::headless().now()?;
    let mut browser = open(&unterm)?;
    for language in LANGUAGES {
        unterm.prints(&["lang", "set", language])?;
        browser.to("wait_there", &format!("html[lang={language}]"))?;
        let answer = browser.ask("evaluate", json!({ "script": SEARCH_ALL }))?;
        let count = answer[0].as_u64().context("a count")?;
        ensure!(count > 300, "{language}: only {count} texts");
        let missed = strings(&answer[1]);
        ensure!(missed.is_empty(), "{language}: not found: {missed:?}");
    }
    check_faults(&mut browser)
}

#[test]
fn search_ignores_case_accents_and_word_order() -> Result<()> {
    let unterm = Start::headless().now()?;
    unterm.prints(&["lang", "set", "fr"])?;
    let mut browser = open(&unterm)?;
    browser.to("click", "#tab-keys")?;
    let at = |key: &str| format!("[data-setting=\"{key}\"]:visible");
    for (text, found) in [
        ("OPACITE", "window.opacity"),
        ("police taille", "font.size"),
        // Key names of the configuration file are found in every language.
        ("scrollback.lines", "scrollback.lines"),
    ] {
        browser.with("fill", "#search", text)?;
        browser.to("wait_for", &at(found))?;
    }
    browser.with("fill", "#search", "xyzzy")?;
    browser.with("wait_text", "#found", "Aucun résultat")?;
    browser.with("fill", "#search", "")?;
    browser.to("wait_for", "#tab-keys[aria-selected=true]")?;
    browser.to("wait_for", "[data-action=new_tab]:visible")?;
    check_faults(&mut browser)
}

#[test]
fn actions_are_named_in_the_pages_language() -> Result<()> {
    let unterm = Start::headless().now()?;
    let mut browser = open(&unterm)?;
    for (language, title, last) in [
        ("en-US", "New tab", "last tab"),
        ("de-DE", "Neuer Tab", "letzter Tab"),
        ("ja-JP", "新しいタブ", "最後のタブ"),
    ] {
        unterm.prints(&["lang", "set", language])?;
        browser.to("click", "#tab-keys")?;
        browser.with("wait_text", "[data-action=new_tab] .name", title)?;
        browser.with("wait_text", "[data-action=activate_tab] [data-keys$=\"+9\"]", last)?;
    }
    check_faults(&mut browser)
}
