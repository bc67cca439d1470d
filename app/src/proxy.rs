//! The file `proxy.json` in Unterm's home directory, which stores whether programs use a proxy.
//!
//! Reads and toggles the key `enabled`. All other keys stay unchanged, except that enabling the proxy replaces the
//! mode `off`.

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Map, Value, json};

use crate::plain_words;

/// The name of the file in Unterm's home directory.
pub(crate) const FILE: &str = "proxy.json";
/// The maximum size of the file, in bytes.
const LONGEST: u64 = 1 << 20;

/// Whether the proxy is enabled; false if the file is missing.
///
/// # Errors
/// Fails if the file can't be read, or is not a JSON object.
pub(crate) fn is_enabled(home: &Path) -> Result<bool> {
    Ok(read(home)?.is_some_and(|proxy| enabled(&proxy)))
}

/// Enables or disables the proxy. Returns whether it is enabled now.
///
/// # Errors
/// Fails if the file does not exist, because then no proxy is set up. Also fails if the file can't be read or written.
/// In these cases, the file is not changed.
pub(crate) fn toggle(home: &Path) -> Result<bool> {
    let file = home.join(FILE);
    let Some(mut proxy) = read(home)? else {
        bail!("No proxy is set up.\nSet one up on the settings page, under Proxy.");
    };
    let now = !enabled(&proxy);
    proxy.insert("enabled".to_owned(), json!(now));
    // The control methods set the mode `off` when they disable the proxy. To enable it, another mode is needed.
    if now && proxy.get("mode").is_some_and(|mode| mode == "off") {
        let is_set =
            |key: &str| proxy.get(key).and_then(Value::as_str).is_some_and(|url| !url.is_empty());
        let mode = if is_set("http_proxy") || is_set("socks_proxy") { "manual" } else { "auto" };
        proxy.insert("mode".to_owned(), json!(mode));
    }
    let text = serde_json::to_vec_pretty(&proxy)?;
    unterm_mux::private::write(&file, &text).with_context(|| file.display().to_string())?;
    Ok(now)
}

fn enabled(proxy: &Map<String, Value>) -> bool {
    proxy.get("enabled").and_then(Value::as_bool).unwrap_or(false)
}

fn read(home: &Path) -> Result<Option<Map<String, Value>>> {
    let file = home.join(FILE);
    let text = match unterm_mux::private::read_of_anyone(&file, LONGEST) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| file.display().to_string()),
    };
    let proxy = serde_json::from_slice(&text).map_err(|error| {
        anyhow!("{} can't be used: {}", file.display(), plain_words::of_json(&error))
    })?;
    Ok(Some(proxy))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn switching_leaves_the_rest_of_the_file_as_it_is() {
        let home = tempfile::tempdir().unwrap();
        assert!(!is_enabled(home.path()).unwrap());
        assert!(toggle(home.path()).is_err(), "which proxy?");
        let file = home.path().join(FILE);
        fs::write(
            &file,
            r#"{"enabled": true, "mode": "manual", "nodes": [{"name": "a"}], "own": 1}"#,
        )
        .unwrap();
        assert!(is_enabled(home.path()).unwrap());
        assert!(!toggle(home.path()).unwrap());
        assert!(!is_enabled(home.path()).unwrap());
        assert!(toggle(home.path()).unwrap());
        let now: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        assert_eq!(
            now,
            json!({"enabled": true, "mode": "manual", "nodes": [{"name": "a"}], "own": 1})
        );
    }

    #[test]
    fn a_broken_file_is_not_written_over() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join(FILE);
        for text in ["{", "[]", "\"x\""] {
            fs::write(&file, text).unwrap();
            assert!(is_enabled(home.path()).is_err());
            assert!(toggle(home.path()).is_err());
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
        }
    }
}
