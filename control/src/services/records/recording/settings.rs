//! `recording.json`: whether every session is recorded, what is redacted, and when an idle recording continues in a
//! new log. Unknown keys of the file are preserved.

use std::{io::ErrorKind, path::Path};

use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Map, Value};
use unterm_mux::private;

use crate::{plain_words, services::records::redact};

/// The file's name in Unterm's home directory.
pub(super) const FILE: &str = "recording.json";
/// The maximum size of a file that is read, in bytes.
const LONGEST: u64 = 4 << 20;
/// Held while the file is read and written back.
static TURN: Mutex<()> = Mutex::new(());

/// The settings in the file. By default, nothing is recorded automatically.
#[derive(Clone, Debug, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The sessions that are recorded automatically.
    pub recording: Recorded,
    /// The redaction of pages.
    pub redaction: Redaction,
    /// The minutes without output or input after which a recording continues in a new log.
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

/// The sessions that are recorded without a request.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Recorded {
    /// Whether every session is recorded from its start.
    pub enabled: bool,
}

/// The redaction of pages.
#[derive(Clone, Debug, Deserialize)]
#[serde(default)]
pub struct Redaction {
    /// Whether secrets are redacted.
    pub enabled: bool,
    /// Regular expressions for additional secrets.
    pub custom_patterns: Vec<String>,
}

impl Default for Redaction {
    fn default() -> Self {
        Self { enabled: true, custom_patterns: Vec::new() }
    }
}

impl Settings {
    /// Reads the file. If there is none, the defaults apply.
    ///
    /// # Errors
    /// The file is invalid or can't be read. The message contains its path. The caller must not continue without it,
    /// because the file may contain redaction rules.
    pub fn read(home: &Path) -> Result<Self, String> {
        let file = object(home)?;
        let read = serde_json::from_value(Value::Object(file));
        let settings: Self = read.map_err(|error| named(home, &plain_words::of_json(&error)))?;
        // The patterns are compiled here, so that an invalid pattern is reported as an error of the file.
        redact::Redaction::new(true, &settings.redaction.custom_patterns)
            .map_err(|error| named(home, &error))?;
        Ok(settings)
    }

    /// The redaction that these settings configure.
    ///
    /// # Errors
    /// A pattern is not a valid regular expression.
    pub fn redaction(&self) -> Result<redact::Redaction, String> {
        redact::Redaction::new(self.redaction.enabled, &self.redaction.custom_patterns)
    }
}

/// Changes the file. If it is not a JSON object, it stays unchanged.
///
/// # Errors
/// The file can't be read or written, or is not a JSON object. The message contains its path.
pub fn change(home: &Path, change: impl FnOnce(&mut Map<String, Value>)) -> Result<(), String> {
    let _turn = TURN.lock();
    let mut file = object(home)?;
    change(&mut file);
    let text = serde_json::to_vec_pretty(&file).map_err(|error| named(home, &error))?;
    private::write(&home.join(FILE), &text).map_err(|error| named(home, &error))
}

/// The file's keys. Empty if there is no file.
fn object(home: &Path) -> Result<Map<String, Value>, String> {
    match private::read(&home.join(FILE), LONGEST) {
        Ok(text) => serde_json::from_slice(&text)
            .map_err(|error| named(home, &plain_words::of_json(&error))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Map::new()),
        Err(error) => Err(named(home, &error)),
    }
}

fn named(home: &Path, error: &dyn std::fmt::Display) -> String {
    format!("{}: {error}", home.join(FILE).display())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    #[test]
    fn unknown_keys_and_files_without_json_are_kept() {
        let home = tempfile::tempdir().unwrap();
        let (home, path) = (home.path(), home.path().join(FILE));
        let enable = |file: &mut Map<String, Value>| {
            file.insert("recording".to_owned(), json!({"enabled": true}));
        };
        change(home, enable).unwrap();
        let settings = Settings::read(home).unwrap();
        assert!(settings.recording.enabled && settings.redaction.enabled);
        fs::write(&path, r#"{"own": [1], "idle_rotate_minutes": 7}"#).unwrap();
        change(home, enable).unwrap();
        let file: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        assert_eq!((&file["own"], &file["recording"]["enabled"]), (&json!([1]), &json!(true)));
        assert_eq!(Settings::read(home).unwrap().idle_rotate_minutes, 7);
        fs::write(&path, "{half").unwrap();
        let error = change(home, enable).unwrap_err();
        assert!(error.starts_with(&format!("{}: ", path.display())), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"{half");
    }

    #[test]
    fn a_file_that_is_wrong_is_an_error_that_names_it() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join(FILE);
        for text in [
            "{half",
            "[]",
            r#"{"redaction": {"enabled": "no"}}"#,
            r#"{"redaction": {"custom_patterns": ["("]}}"#,
        ] {
            fs::write(&path, text).unwrap();
            let error = Settings::read(home.path()).unwrap_err();
            assert!(error.starts_with(&format!("{}: ", path.display())), "{text}: {error}");
        }
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(Settings::read(home.path()).is_err());
    }
}
