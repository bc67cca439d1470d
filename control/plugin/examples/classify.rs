//! Classifies screens with a plugin, for authors of plugins and for `tests/conformance/run`.
//!
//! The argument is the name of a built-in plugin or the path of a manifest. Each line of standard input is a JSON
//! object with `screen` and optionally `name`, `last_intent`, `stable_ms` and `completed_turn_stable_ms`. For each
//! line, prints a JSON object with `name` and either what `classify` returned, or `error`.

use std::io::{self, BufRead, Write};

use serde_json::{Value, json};
use unterm_plugin::{ClassifyContext, Registry};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let plugin = std::env::args().nth(1).ok_or("usage: classify PLUGIN|MANIFEST")?;
    let registry = Registry::default();
    let name = match registry.manifest(&plugin) {
        Some(manifest) => manifest.name,
        None => registry.load(plugin.as_ref())?,
    };
    let adapter = registry.adapter(&name)?;
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let asked: Value = serde_json::from_str(&line?)?;
        let context = ClassifyContext {
            last_intent: asked["last_intent"].as_str().map(str::to_owned),
            stable_ms: asked["stable_ms"].as_u64().unwrap_or(5000),
            completed_turn_stable_ms: asked["completed_turn_stable_ms"].as_u64().unwrap_or(750),
            sequence: 1,
            ..ClassifyContext::of_screen(asked["screen"].as_str().unwrap_or_default())
        };
        let mut answer = match adapter.classify(&context) {
            Ok(classified) => json!(classified),
            Err(error) => json!({ "error": error.to_string() }),
        };
        answer["name"] = asked["name"].clone();
        writeln!(out, "{answer}")?;
    }
    Ok(())
}
