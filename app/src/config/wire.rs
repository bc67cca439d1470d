//! The preferences as callers of the control port see and change them: values of JSON, keys with dots.

use std::{path::PathBuf, sync::Arc};

use serde::Serialize;
use serde_json::Value;
use unterm_control::{Headless, Host, HostRequest, Preferences};

use super::{FILE, edit, load};

/// The preferences of a home's file.
pub struct FilePreferences {
    /// Unterm's home directory.
    pub home: PathBuf,
}

impl Preferences for FilePreferences {
    fn get(&self) -> Result<Value, String> {
        let config =
            load(&self.home.join(FILE), &self.home).map_err(|complaints| complaints.join("\n"))?;
        serde_json::to_value(config).map_err(|error| error.to_string())
    }

    fn set(&self, key: &str, value: &Value) -> Result<(), String> {
        let value = value
            .serialize(toml_edit::ser::ValueSerializer::new())
            .map_err(|error| format!("{value} can't be written: {error}"))?;
        let key: Vec<&str> = key.split('.').collect();
        edit::set(&self.home, &key, value).map_err(|error| format!("{error:#}"))
    }
}

/// The host without a window, which has preferences all the same.
pub(crate) struct HeadlessHost;

impl Host for HeadlessHost {
    fn has_window(&self) -> bool {
        false
    }

    fn instance_title_changed(&self, title: Option<&str>) {
        Headless.instance_title_changed(title);
    }

    fn ask(&self, request: HostRequest) {
        Headless.ask(request);
    }

    fn preferences(&self) -> Option<Arc<dyn Preferences>> {
        Some(Arc::new(FilePreferences { home: unterm_control::home() }))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_key_is_changed_in_the_file_and_read_from_it() {
        let home = tempfile::tempdir().unwrap();
        let preferences = FilePreferences { home: home.path().to_owned() };
        std::fs::write(home.path().join(FILE), "# mine\n[font]\nsize = 10 # small\n").unwrap();
        assert_eq!(preferences.get().unwrap()["font"]["size"].as_f64(), Some(10.0));
        preferences.set("font.size", &json!(12)).unwrap();
        assert_eq!(preferences.get().unwrap()["font"]["size"].as_f64(), Some(12.0));
        let text = std::fs::read_to_string(home.path().join(FILE)).unwrap();
        assert_eq!(text, "# mine\n[font]\nsize = 12 # small\n");
        assert!(preferences.set("font.sise", &json!(12)).is_err());
        assert!(preferences.set("font.size", &json!("x")).is_err());
        assert!(preferences.set("theme", &Value::Null).is_err());
    }
}
