//! The settings as a list for the command palette: the value of each setting, and how the user changes it.

use std::path::Path;

use toml_edit::{Item, Table, TableLike, Value};

use super::{Config, parse::parse, reference};

/// A setting of the configuration file.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// The name of the setting's section. Empty for a key at the top level.
    pub section: String,
    /// The name of the key.
    pub name: String,
    /// The meaning of the setting, in one line.
    pub doc: String,
    /// The way in which the user changes the setting.
    pub kind: SettingKind,
    /// The value of the setting, as TOML.
    pub value: String,
}

/// The way in which the user changes a setting.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingKind {
    /// The setting is on or off.
    Switch(bool),
    /// The setting has one of these values.
    Choice(Vec<String>),
    /// The setting is a number, a text or a list.
    Value,
}

impl Listed {
    /// The path of the setting in the file: the name of its section, if any, and its own name.
    pub fn path(&self) -> Vec<&str> {
        match self.section.as_str() {
            "" => vec![&self.name],
            section => vec![section, &self.name],
        }
    }

    /// The path of the setting in the file, joined by a dot, such as `window.opacity`.
    pub fn id(&self) -> String {
        self.path().join(".")
    }

    /// Parses a value that the user typed. The value is TOML, or text without quotes.
    pub fn read(text: &str) -> Value {
        text.trim().parse().unwrap_or_else(|_| Value::from(text.trim()))
    }
}

/// All settings that have a single value. Tables in which the user chooses the names, such as `[keys]`, are left out.
pub fn listed(config: &Config) -> Vec<Listed> {
    let values = reference::values(config);
    let of = |row: reference::Row| {
        let item = match row.section.as_str() {
            "" => values.get(&row.name),
            section => values.get(section)?.get(&row.name),
        };
        let kind = match item.and_then(Item::as_bool) {
            Some(on) if row.kind == "true or false" => SettingKind::Switch(on),
            _ if !row.options.is_empty() => SettingKind::Choice(row.options.clone()),
            _ => SettingKind::Value,
        };
        let value = row.value(&values);
        let doc = row.doc.find(". ").map_or(row.doc.as_str(), |end| &row.doc[..=end]).to_owned();
        Some(Listed { section: row.section, name: row.name, doc, kind, value })
    };
    reference::rows().into_iter().filter(|row| !row.name.is_empty()).filter_map(of).collect()
}

impl Config {
    /// Applies a setting as written on the command line, such as `window.opacity=0.9`. Text needs no quotes.
    ///
    /// # Errors
    /// Returns a message for the user that explains the error.
    pub fn with_option(&self, text: &str, home: &Path) -> Result<Self, String> {
        let (key, value) = text.split_once('=').ok_or_else(|| {
            format!("{text:?} has no value; write KEY=VALUE, such as window.opacity=0.9")
        })?;
        let mut document = reference::values(self);
        let mut table: &mut dyn TableLike = document.as_table_mut();
        let (sections, name) = match key.trim().split_once('.') {
            Some((section, name)) => (vec![section], name),
            None => (Vec::new(), key.trim()),
        };
        for section in sections {
            let item = table.entry(section).or_insert(Item::Table(Table::new()));
            table = item.as_table_like_mut().ok_or_else(|| format!("{section:?} is no section"))?;
        }
        table.insert(name, Item::Value(Listed::read(value)));
        match parse(&document.to_string(), home) {
            Ok(config) => Ok(config),
            Err(problems) => {
                Err(problems.first().map_or_else(String::new, |one| one.message.clone()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_setting_has_its_value_and_its_kind() {
        let config = Config::default();
        let all = listed(&config);
        let find = |id: &str| all.iter().find(|one| one.id() == id).unwrap();
        assert_eq!(find("window.blur").kind, SettingKind::Switch(false));
        assert!(
            matches!(&find("cursor.shape").kind, SettingKind::Choice(list) if list.contains(&"bar".into()))
        );
        let opacity = find("window.opacity");
        assert_eq!((&opacity.kind, opacity.value.as_str()), (&SettingKind::Value, "1.0"));
        assert_eq!(find("theme").path(), ["theme"]);
        assert!(all.iter().all(|one| !["keys", "env", "profile"].contains(&one.section.as_str())));
        assert_eq!(Listed::read("0.5").as_float(), Some(0.5));
        assert_eq!(Listed::read("fish").as_str(), Some("fish"));
        assert!(Listed::read("[\"a\"]").is_array());
    }
}
