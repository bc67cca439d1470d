//! The reference of all keys, actions and themes. It is generated from their definitions.

use std::fmt::Write;

use serde_json::Value;
use toml_edit::{DocumentMut, Item};
use unterm_mux::input::Key;

use super::{
    Config,
    parse::{choices, resolve, schema, wanted},
    theme,
};
use crate::{action::ACTIONS, copy_command::COPY_COMMANDS};

/// A key of the configuration file.
pub(super) struct Row {
    /// The section; empty for a key at the top level.
    pub(super) section: String,
    /// The name of the key. Empty for a section in which the user chooses the names of the keys.
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) doc: String,
    /// The possible values, if the key accepts only certain values.
    pub(super) options: Vec<String>,
    /// The possible values that have a description, with the description.
    choices: Vec<(String, String)>,
}

impl Row {
    /// The value of the key in `values`, as TOML.
    pub(super) fn value(&self, values: &DocumentMut) -> String {
        let value = match self.section.as_str() {
            "" => values.get(&self.name),
            section => values.get(section).and_then(|table| table.get(&self.name)),
        };
        value.map_or_else(String::new, |value| value.to_string().trim().to_owned())
    }
}

/// Prints a configuration as a file. A comment above each key explains the key.
pub fn print(config: &Config) -> String {
    let values = values(config);
    let mut out =
        String::from("# Configuration of Unterm. Keys that you leave out have their defaults.\n");
    let mut section = String::new();
    for row in rows() {
        if row.section != section {
            section.clone_from(&row.section);
            let _ = write!(out, "\n[{section}]");
        }
        out.push('\n');
        comment(&mut out, &row.doc);
        for (choice, doc) in &row.choices {
            comment(&mut out, &format!("{choice}: {doc}"));
        }
        if row.name.is_empty() {
            let table = values.get(&section).and_then(Item::as_table_like);
            for (name, value) in table.into_iter().flat_map(|table| table.iter()) {
                // Write an inner table on a single line.
                let Ok(value) = value.clone().into_value() else { continue };
                let value = value.decorated("", "");
                let _ = writeln!(out, "{} = {value}", toml_edit::Key::new(name));
            }
            continue;
        }
        let _ = writeln!(out, "{} = {}", row.name, row.value(&values));
    }
    out
}

fn comment(out: &mut String, text: &str) {
    let _ = writeln!(out, "# {text}");
}

/// Generates the reference page, in Markdown.
pub fn page() -> String {
    let mut out = String::from(
        "# Configuration\n\n\
         The configuration is `~/.unterm/config.toml`, or `$UNTERM_HOME/config.toml` if that variable is set. Every key is\n\
         optional. Unterm applies changes as soon as the file is saved. If the file has an error, Unterm reports its line and\n\
         column, and keeps the previous settings. `unterm --print-config` prints the current settings as a file, and\n\
         `unterm-cli config check` checks a file.\n\n\
         This page is generated from the program's own tables.\n\n## Keys of the file\n",
    );
    let values = values(&Config::default());
    let mut section = None;
    for row in rows() {
        if section.as_ref() != Some(&row.section) {
            section = Some(row.section.clone());
            match row.section.as_str() {
                "" => out.push('\n'),
                name => {
                    let _ = write!(out, "\n### [{name}]\n\n");
                }
            }
            if row.name.is_empty() {
                let _ = writeln!(out, "{}", row.doc);
                continue;
            }
            out.push_str("| key | type | default | meaning |\n|---|---|---|---|\n");
        }
        let mut doc = row.doc.clone();
        for (choice, meaning) in &row.choices {
            let _ = write!(doc, " `{choice}`: {meaning}");
        }
        let value = in_cell(&row.value(&values));
        let _ = writeln!(out, "| `{}` | {} | {value} | {doc} |", row.name, row.kind);
    }
    let named: Vec<_> = Key::names().map(|name| format!("`{name}`")).collect();
    let _ = write!(
        out,
        "\n## Actions\n\n`[keys]` binds keys to these actions. Keys are written as `ctrl+shift+t`: any of `ctrl`, `shift`, `alt` and \
         `super`, then the key without\nShift: a character, `f1` to `f35`, `kp_0` to `kp_9`, or one of {}.\n\n\
         | action | argument | default keys | what it does |\n|---|---|---|---|\n",
        named.join(", ")
    );
    for entry in ACTIONS {
        let argument = entry.argument();
        let keys: Vec<_> = entry.keys.iter().map(|(keys, _)| format!("`{keys}`")).collect();
        let _ = writeln!(
            out,
            "| `{}` | {argument} | {} | {} |",
            entry.name,
            keys.join(", "),
            entry.doc
        );
    }
    out.push_str(
        "\n## Copy mode\n\n`[copy_mode_keys]` binds keys to these commands. A number typed before a command repeats it.\n\n\
         | command | default keys | what it does |\n|---|---|---|\n",
    );
    for entry in COPY_COMMANDS {
        let keys: Vec<_> = entry.keys.iter().map(|keys| format!("`{keys}`")).collect();
        let _ = writeln!(out, "| `{}` | {} | {} |", entry.name, keys.join(", "), entry.doc);
    }
    out.push_str("\n## Themes\n\n| name | theme | |\n|---|---|---|\n");
    let nowhere = std::path::Path::new("");
    for name in theme::builtin() {
        if let Ok(theme) = theme::find(name, nowhere) {
            let kind = if theme.is_light() { "light" } else { "dark" };
            let _ = writeln!(out, "| `{name}` | {} | {kind} |", theme.title);
        }
    }
    out.push_str(
        "\nYour own themes are TOML files in `~/.unterm/themes`, named after the theme. `unterm-cli theme import FILE` imports \
         themes of\nAlacritty, kitty, Ghostty, iTerm2, Windows Terminal and base16.\n",
    );
    out
}

/// A value as code in a table cell (GitHub Flavored Markdown).
fn in_cell(value: &str) -> String {
    let fence = if value.contains('`') { ("`` ", " ``") } else { ("`", "`") };
    format!("{}{}{}", fence.0, value.replace('|', "\\|"), fence.1)
}

/// Converts a configuration to TOML.
pub(super) fn values(config: &Config) -> DocumentMut {
    // Serializing never fails, because TOML can express every value.
    let text = toml_edit::ser::to_string(config).unwrap_or_default();
    let mut document: DocumentMut = text.parse().unwrap_or_default();
    shorten(document.as_table_mut());
    document
}

/// Writes fractional numbers with the digits of an `f32`. As an `f64`, such a number would have more digits.
fn shorten(table: &mut dyn toml_edit::TableLike) {
    for (_, item) in table.iter_mut() {
        if let Some(number) = item.as_float() {
            *item = toml_edit::value((number as f32).to_string().parse().unwrap_or(number));
        } else if let Some(table) = item.as_table_like_mut() {
            shorten(table);
        }
    }
}

/// All keys: first the keys at the top level, then the keys of the sections in the order of the sections' names.
pub(super) fn rows() -> Vec<Row> {
    let root = schema();
    let mut plain = Vec::new();
    let mut sections = Vec::new();
    for (name, property) in root["properties"].as_object().into_iter().flatten() {
        let target = resolve(property, &root);
        let doc = |value: &Value| value["description"].as_str().unwrap_or_default().to_owned();
        if let Some(keys) = target["properties"].as_object().filter(|_| target["anyOf"].is_null()) {
            for (key, property) in keys {
                sections.push(row(name, key, property, &root));
            }
        } else if target["additionalProperties"].is_object() {
            sections.push(Row {
                section: name.clone(),
                name: String::new(),
                kind: String::new(),
                doc: doc(property),
                options: Vec::new(),
                choices: Vec::new(),
            });
        } else {
            plain.push(row("", name, property, &root));
        }
    }
    plain.extend(sections);
    plain
}

fn row(section: &str, name: &str, property: &Value, root: &Value) -> Row {
    let target = resolve(property, root);
    let text = |value: &Value| value["description"].as_str().unwrap_or_default().replace('\n', " ");
    let meanings = target["oneOf"].as_array().into_iter().flatten();
    let options = choices(target).unwrap_or_default();
    let choices_of = !options.is_empty();
    Row {
        options: options.into_iter().map(str::to_owned).collect(),
        section: section.to_owned(),
        name: name.to_owned(),
        kind: if choices_of { "one of".to_owned() } else { wanted(target, root) },
        doc: text(property),
        choices: meanings
            .filter(|_| choices_of)
            .filter_map(|choice| Some((choice["const"].as_str()?.to_owned(), text(choice))))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::parse::parse;

    #[test]
    fn the_page_is_the_committed_one() {
        expect_test::expect_file!["../../../assets/docs/config.md"].assert_eq(&page());
    }

    #[test]
    fn printed_values_parse_to_the_same_values() {
        let mut config = Config::default();
        config.font.size = 13.5;
        config.env.insert("A B".into(), "\"quoted\"\n".into());
        config.keys.insert("ctrl+1".into(), "activate_tab:1".into());
        let text = print(&config);
        let read = parse(&text, std::path::Path::new("/nonexistent"));
        assert_eq!(read, Ok(config), "{text}");
    }

    #[test]
    fn every_key_has_a_description() {
        for row in rows() {
            assert!(
                row.doc.ends_with('.') || row.doc.ends_with("`."),
                "{}.{}",
                row.section,
                row.name
            );
            assert!(!row.doc.starts_with("See ["), "{}.{}: {}", row.section, row.name, row.doc);
        }
    }
}
