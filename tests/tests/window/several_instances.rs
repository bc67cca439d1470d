//! Two windows, and an instance without a window, with one home. Each instance finds the others, and titles and focus
//! reach the right instance.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use unterm_tests::{Display, Instance, Start};

/// The ids and titles of the instances that an instance lists, sorted by id.
fn listed(unterm: &mut Instance) -> Result<Vec<(String, String)>> {
    let list = unterm.call("instance.list", json!({}))?;
    let mut all: Vec<_> = list["instances"]
        .as_array()
        .context("no list")?
        .iter()
        .map(|instance| {
            let text = |key: &str| instance[key].as_str().unwrap_or_default().to_owned();
            (text("id"), text("title"))
        })
        .collect();
    all.sort();
    Ok(all)
}

#[test]
fn instances_with_one_home_find_each_other() -> Result<()> {
    let display = Display::start()?;
    let home = tempfile::tempdir()?;
    let (mut one, first, _) = Start::windowed(&display).registry(home.path()).at_prompt()?;
    let (mut two, second, _) = Start::windowed(&display).registry(home.path()).at_prompt()?;
    let mut three = Start::headless().registry(home.path()).now()?;
    one.call("instance.set_title", json!({"title": "the builds"}))?;
    three.call("instance.set_title", json!({"title": "nobody sees"}))?;
    let usual =
        two.call("instance.info", json!({}))?["title"].as_str().unwrap_or_default().to_owned();
    let expected = [("alpha", "the builds"), ("bravo", usual.as_str()), ("charlie", "nobody sees")]
        .map(|(id, title)| (id.to_owned(), title.to_owned()));
    for unterm in [&mut one, &mut two, &mut three] {
        assert_eq!(listed(unterm)?, expected);
    }
    for (window, title) in [(&first, "the builds"), (&second, "bravo")] {
        window.wait_for_title(|now| now.contains(title))?;
    }
    ensure!(!second.title()?.contains("the builds"));

    // Each instance raises its own window, or reports that it has no window.
    for (unterm, window) in [(&mut two, &second), (&mut one, &first)] {
        display.take_keyboard()?;
        let activations = display.activations()?;
        assert_eq!(unterm.call("instance.focus", json!({}))?["ok"], true);
        activations.wait_for(window)?;
    }
    let note = three.call("instance.focus", json!({}))?["note"].clone();
    ensure!(note.as_str().is_some_and(|note| note.contains("without a window")), "{note}");

    // The command line reaches each instance by its name or its title.
    for (name, id) in [("bravo", "bravo"), ("the builds", "alpha"), ("charlie", "charlie")] {
        let info = one.prints(&["--json", "--instance", name, "instance", "info"])?;
        let info: Value = serde_json::from_str(&info)?;
        assert_eq!(info["id"], id);
    }
    Ok(())
}
