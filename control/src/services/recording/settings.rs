//! `recording.json`: whether every session is recorded, what is left out, and when a quiet recording goes on in another.
//! Keys of the file that nobody here knows stay as they are.

use std::{
    fs,
    io::{self, ErrorKind},
    path::Path,
};

use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Map, Value};
use unterm_mux::private;

use super::redact;

/// The file, in Unterm's home directory.
const FILE: &str = "recording.json";
/// Held while the file is read and written back.
static TURN: Mutex<()> = Mutex::new(());

/// What the file says; without one, that nothing is recorded by itself.
#[derive(Clone, Debug, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// What is recorded.
    pub recording: Recorded,
    /// What is left out.
    pub redaction: Redaction,
    /// Minutes of quiet after which a recording goes on in another.
    pub idle_rotate_minutes: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            recording: Recorded::default(),
            redaction: Redaction::default(),
            idle_rotate_minutes: 5,
        }
    }
}

/// What is recorded without being asked for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Recorded {
    /// Every session is, from its beginning.
    pub enabled: bool,
}

/// What is left out of pages.
#[derive(Clone, Debug, Deserialize)]
#[serde(default)]
pub struct Redaction {
    /// Secrets are.
    pub enabled: bool,
    /// Expressions for more of them.
    pub custom_patterns: Vec<String>,
}

impl Default for Redaction {
    fn default() -> Self {
        Self { enabled: true, custom_patterns: Vec::new() }
    }
}

impl Settings {
    /// As the file says; a file that can't be used counts as none, and is told of in the log.
    pub fn read(home: &Path) -> Self {
        let usable = object(home).and_then(|file| Ok(serde_json::from_value(Value::Object(file))?));
        usable.unwrap_or_else(|error: io::Error| {
            tracing::warn!(%error, "{FILE} can't be used");
            Self::default()
        })
    }

    pub(super) fn redaction(&self) -> redact::Redaction {
        redact::Redaction::new(self.redaction.enabled, &self.redaction.custom_patterns)
    }
}

/// Changes the file; nothing is lost of one that is no JSON object, which is an error.
///
/// # Errors
/// Why it can't be read or written.
pub fn change(home: &Path, change: impl FnOnce(&mut Map<String, Value>)) -> io::Result<()> {
    let _turn = TURN.lock();
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{FILE}: {error}"));
    let mut file = object(home).map_err(named)?;
    change(&mut file);
    private::write(&home.join(FILE), &serde_json::to_vec_pretty(&file)?).map_err(named)
}

/// The file's keys; none without a file.
fn object(home: &Path) -> io::Result<Map<String, Value>> {
    match fs::read(home.join(FILE)) {
        Ok(text) => Ok(serde_json::from_slice(&text)?),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Map::new()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_known_or_not_json_is_kept() {
        let home = tempfile::tempdir().unwrap();
        let (home, path) = (home.path(), home.path().join(FILE));
        let enable = |file: &mut Map<String, Value>| {
            file.insert("recording".to_owned(), json!({"enabled": true}));
        };
        change(home, enable).unwrap();
        assert!(Settings::read(home).recording.enabled && Settings::read(home).redaction.enabled);
        fs::write(&path, r#"{"own": [1], "idle_rotate_minutes": 7}"#).unwrap();
        change(home, enable).unwrap();
        let file: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        assert_eq!((&file["own"], &file["recording"]["enabled"]), (&json!([1]), &json!(true)));
        assert_eq!(Settings::read(home).idle_rotate_minutes, 7);
        fs::write(&path, "{half").unwrap();
        let error = change(home, enable).unwrap_err().to_string();
        assert!(error.starts_with("recording.json: "), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"{half");
        assert!(!Settings::read(home).recording.enabled);
    }
}
