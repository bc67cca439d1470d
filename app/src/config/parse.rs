//! Parses the text of `config.toml` into a [`Config`], or into its problems, each with its line and column.
//!
//! The file is checked against the JSON schema of [`Config`], which contains names, types, ranges and choices. Rules
//! that a schema can't express are checked afterwards: keys, actions and themes. Each problem belongs to a setting, so
//! that all other settings can still be used.

use std::{fmt, ops::Range, path::Path};

use serde_json::Value;
use toml_edit::{Document, Item, Table, TableLike};
use unterm_control::did_you_mean;

use super::{Config, ThemeChoice, compile_pattern, keys, theme, window::title_format_fault};
use crate::{
    action::{Chord, Keys, LEADER, MouseChord},
    copy_command, plain_words,
};

/// A problem in a configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// A description of what is wrong, and of what would be right.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl Problem {
    /// Creates a problem whose position is at the end of `before`, which is the text before the problem.
    fn behind(before: &str, message: String) -> Self {
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Self { line, column, message }
    }
}

/// Decodes a file as UTF-8.
///
/// # Errors
/// Returns the position of the first invalid byte.
pub(super) fn text(bytes: &[u8]) -> Result<&str, Vec<Problem>> {
    std::str::from_utf8(bytes).map_err(|error| {
        let before = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
        let message = "the file is not valid UTF-8; save it as UTF-8 in your editor";
        vec![Problem::behind(&before, message.to_owned())]
    })
}

/// Parses the text of a configuration file. The user's own themes are in `home`.
///
/// # Errors
/// Returns all problems, in the order of the text.
pub fn parse(text: &str, home: &Path) -> Result<Config, Vec<Problem>> {
    let (config, problems) = read(text, home);
    if problems.is_empty() { Ok(config) } else { Err(problems) }
}

/// Parses the text like [`parse`], but uses the default for each setting that is not valid. If the text is not TOML,
/// all settings have their defaults.
pub(super) fn read(text: &str, home: &Path) -> (Config, Vec<Problem>) {
    let mut found = ParsedFile { text, problems: Vec::new(), wrong: Vec::new() };
    let document = match Document::parse(text) {
        Ok(document) => document,
        Err(error) => {
            found.add(&[], error.span(), plain_words::of_file(error.message()));
            return (Config::default(), found.problems);
        }
    };
    let schema = schema();
    found.table(document.as_table(), &schema, &schema, &[]);
    found.names(document.as_table());
    let mut config = found.right(&document, &schema);
    let known = found.wrong.len();
    found.meaning(document.as_table(), &config, home);
    if found.wrong.len() > known {
        config = found.right(&document, &schema);
    }
    config.theme = config.theme.named(home);
    found.problems.sort_by_key(|problem| (problem.line, problem.column));
    (config, found.problems)
}

/// The JSON schema of the whole file.
pub(super) fn schema() -> Value {
    schemars::schema_for!(Config).to_value()
}

/// If `schema` is a reference, returns the schema that it refers to. Otherwise returns `schema`.
pub(super) fn resolve<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    match schema["$ref"].as_str().and_then(|path| path.strip_prefix('#')) {
        Some(path) => root.pointer(path).unwrap_or(schema),
        None => schema,
    }
}

/// The possible values in a schema. `None` if the schema does not list values.
pub(super) fn choices(schema: &Value) -> Option<Vec<&str>> {
    if let Some(list) = schema["enum"].as_array() {
        return Some(list.iter().filter_map(Value::as_str).collect());
    }
    let list = schema["oneOf"].as_array()?;
    list.iter().map(|choice| choice["const"].as_str()).collect()
}

/// Suggests where a misplaced key belongs, as the end of a message. Other terminals write the section as a prefix,
/// such as in `font_size`.
fn belongs(name: &str, root: &Value) -> Option<String> {
    let sections = root["properties"].as_object()?;
    if let Some(schema) = sections.get(name)
        && !is_section(resolve(schema, root))
    {
        return Some("; move it above the first [section]".to_owned());
    }
    sections.iter().find_map(|(section, schema)| {
        let keys = resolve(schema, root)["properties"].as_object()?;
        let rest =
            name.strip_prefix(section.as_str()).and_then(|rest| rest.strip_prefix(['_', '-']));
        let key = keys.keys().find(|key| *key == name || Some(key.as_str()) == rest)?;
        Some(format!("; did you mean {key:?} in [{section}]?"))
    })
}

/// Whether a schema describes a section. The names of its keys may be fixed or chosen by the user.
fn is_section(schema: &Value) -> bool {
    schema["properties"].is_object() || schema["additionalProperties"].is_object()
}

/// Removes a setting from the table of the file: either a single key of a section, or the whole value of `name`.
fn leave_out(table: &mut Table, setting: &[String], root: &Value) {
    let [name, inner @ ..] = setting else { return };
    if is_section(resolve(&root["properties"][name.as_str()], root))
        && let Some(key) = inner.first()
        && let Some(section) = table.get_mut(name).and_then(Item::as_table_like_mut)
    {
        section.remove(key);
    } else {
        table.remove(name);
    }
}

struct ParsedFile<'a> {
    text: &'a str,
    problems: Vec<Problem>,
    /// The settings that have problems. Each is the path of names to the setting.
    wrong: Vec<Vec<String>>,
}

impl ParsedFile<'_> {
    /// Adds a problem of the setting at `path`. If `path` is empty, the problem concerns the whole file.
    fn add(&mut self, path: &[&str], span: Option<Range<usize>>, message: String) {
        let before = self.text.get(..span.map_or(0, |span| span.start)).unwrap_or(self.text);
        self.problems.push(Problem::behind(before, message));
        self.wrong.push(path.iter().map(|name| (*name).to_owned()).collect());
    }

    /// The configuration with only those settings that had no problem so far.
    fn right(&mut self, document: &Document<&str>, root: &Value) -> Config {
        let read: Result<Config, toml_edit::de::Error> = if self.wrong.is_empty() {
            toml_edit::de::from_str(self.text)
        } else {
            let mut right = document.clone().into_mut();
            self.wrong.iter().for_each(|wrong| leave_out(right.as_table_mut(), wrong, root));
            toml_edit::de::from_document(right)
        };
        read.unwrap_or_else(|error| {
            self.add(&[], error.span(), plain_words::of_file(error.message()));
            Config::default()
        })
    }

    /// Checks a table against its schema. `path` is the path of names to the table.
    fn table(&mut self, table: &dyn TableLike, schema: &Value, root: &Value, path: &[&str]) {
        let Some(known) = schema["properties"].as_object() else {
            // The user chooses the names in this table. All values have the same schema.
            let schema = resolve(&schema["additionalProperties"], root);
            for (name, item) in table.iter() {
                self.item(item, schema, root, &[path, &[name]].concat());
            }
            return;
        };
        for (name, item) in table.iter() {
            let inner = [path, &[name]].concat();
            match known.get(name) {
                Some(schema) => self.item(item, resolve(schema, root), root, &inner),
                None => {
                    let names = known.keys().map(String::as_str);
                    let hint = belongs(name, root).unwrap_or_else(|| did_you_mean(name, names));
                    let place = match path {
                        [] => String::new(),
                        _ => format!(" in [{}]", path.join(".")),
                    };
                    let span = table.key(name).and_then(toml_edit::Key::span);
                    self.add(&inner, span, format!("unknown key {name:?}{place}{hint}"));
                }
            }
        }
        for name in schema["required"].as_array().into_iter().flatten() {
            if let Some(name) = name.as_str().filter(|name| !table.contains_key(name)) {
                let span = table.iter().next().and_then(|(_, item)| item.span());
                self.add(path, span, format!("{} needs the key {name:?}", path.join(".")));
            }
        }
    }

    fn item(&mut self, item: &Item, schema: &Value, root: &Value, path: &[&str]) {
        let name = path.join(".");
        let alternatives = schema["anyOf"].as_array();
        let fitting = alternatives
            .into_iter()
            .flatten()
            .map(|schema| resolve(schema, root))
            .find(|schema| fits(item, schema));
        if let Some(schema) = fitting {
            return self.item(item, schema, root, path);
        }
        if alternatives.is_some() || !fits(item, schema) {
            let (wanted, given) = (wanted(schema, root), given(item));
            let right = match item.as_str() {
                Some(text) if schema["type"] == "array" => {
                    format!("; write [{}]", toml_edit::Value::from(text))
                }
                _ => String::new(),
            };
            let message = format!("{name} must be {wanted}, not {given}{right}");
            return self.add(path, item.span(), message);
        }
        if let Some(choices) = choices(schema)
            && let Some(given) = item.as_str()
            && !choices.contains(&given)
        {
            let hint = did_you_mean(given, choices.iter().copied());
            let message = format!("{name} must be one of {}, not {given:?}{hint}", list(&choices));
            self.add(path, item.span(), message);
        }
        let number = item.as_float().or_else(|| item.as_integer().map(|number| number as f64));
        if let Some(number) = number {
            let (low, high) = (schema["minimum"].as_f64(), schema["maximum"].as_f64());
            let (low, high) = (low.unwrap_or(f64::MIN), high.unwrap_or(f64::MAX));
            // Written with `!`, so that the check also rejects `nan`.
            if !(low..=high).contains(&number) {
                let message = format!("{name} must be between {low} and {high}, not {number}");
                self.add(path, item.span(), message);
            }
        }
        if let Some(table) = item.as_table_like() {
            self.table(table, schema, root, path);
        }
        for value in item.as_array().into_iter().flatten() {
            let schema = resolve(&schema["items"], root);
            let item = Item::Value(value.clone());
            let choices = choices(schema);
            let given = match (value.as_str(), &choices) {
                (Some(given), Some(choices)) if choices.contains(&given) => continue,
                (Some(given), Some(_)) => format!("{given:?}"),
                _ if fits(&item, schema) => continue,
                _ => self::given(&item),
            };
            let wanted = wanted(schema, root);
            let message = format!("each item of {name} must be {wanted}, not {given}");
            self.add(path, value.span(), message);
        }
    }

    /// Checks tables in which the user chooses the names: keys, mouse bindings and variables, for example.
    fn names(&mut self, table: &dyn TableLike) {
        let own = table.get("keys").and_then(Item::as_table_like);
        let has_leader = own.is_some_and(|own| own.contains_key(LEADER));
        let key = |name: &str| match name.parse::<Keys>() {
            _ if keys::is_setting(name) => None,
            Ok(keys) if keys.leader && !has_leader => {
                Some(format!("{name:?} needs a leader, such as leader = \"ctrl+a\" in [keys]"))
            }
            parsed => parsed.err(),
        };
        let action = |name: &str, does: &str| match name {
            keys::PRESET => keys::preset(does).err(),
            LEADER => does.parse::<Chord>().err(),
            _ => keys::bound(does).err(),
        };
        self.named(table, "keys", key, action);
        let button = |name: &str| name.parse::<MouseChord>().err();
        self.named(table, "mouse_bindings", button, |_, does| keys::bound(does).err());
        let title = |title: &str| {
            title.trim().is_empty().then(|| "an entry of the palette needs a title".to_owned())
        };
        let entry = |title: &str, does: &str| match keys::bound(does) {
            Ok(Some(_)) => None,
            Ok(None) => Some(format!("{title:?} does nothing; remove it")),
            Err(why) => Some(why),
        };
        self.named(table, "palette", title, entry);
        let command = |_: &str, does: &str| copy_command::named(does).err();
        self.named(table, "copy_mode_keys", |name| name.parse::<Chord>().err(), command);
        let variable = |name: &str| {
            let is_bad = name.is_empty() || name.contains(['=', '\0']);
            is_bad.then(|| format!("{name:?} is not a valid name of a variable"))
        };
        self.named(table, "env", variable, |_, _| None);
        self.same_keys(table, "keys");
        self.same_keys(table, "copy_mode_keys");
    }

    /// Reports each key that a table binds twice in different spellings, which TOML does not detect. Also reports each
    /// key that is the start of a longer key sequence.
    fn same_keys(&mut self, table: &dyn TableLike, path: &str) {
        let Some(table) = table.get(path).and_then(Item::as_table_like) else { return };
        let leader = table.get(LEADER).and_then(Item::as_str).and_then(|key| key.parse().ok());
        let mut seen: Vec<(Vec<Chord>, &str)> = Vec::new();
        let names = table.iter().map(|(name, _)| name).filter(|name| !keys::is_setting(name));
        for name in names {
            let chords = name.parse::<Keys>().ok().and_then(|keys| keys.with_leader(leader));
            let Some(chords) = chords else { continue };
            for (other, before) in &seen {
                let (wrong, message) = if *other == chords {
                    (name, format!("{name:?} is the same key as {before:?}; remove one of them"))
                } else if other.starts_with(&chords) {
                    (name, format!("{name:?} can't be bound, since {before:?} begins with it"))
                } else if chords.starts_with(other) {
                    (*before, format!("{before:?} can't be bound, since {name:?} begins with it"))
                } else {
                    continue;
                };
                let span = table.key(wrong).and_then(toml_edit::Key::span);
                self.add(&[path, wrong], span, message);
            }
            seen.push((chords, name));
        }
    }

    /// Reports the problems in the names and the texts of a table. Values of other types were already checked against
    /// the schema.
    fn named(
        &mut self,
        table: &dyn TableLike,
        path: &str,
        name_fault: impl Fn(&str) -> Option<String>,
        text_fault: impl Fn(&str, &str) -> Option<String>,
    ) {
        let Some(table) = table.get(path).and_then(Item::as_table_like) else { return };
        for (name, item) in table.iter() {
            if let Some(message) = name_fault(name) {
                self.add(&[path, name], table.key(name).and_then(toml_edit::Key::span), message);
            }
            let list = item.as_array().into_iter().flatten();
            let texts = item.as_str().into_iter().chain(list.filter_map(toml_edit::Value::as_str));
            for message in texts.filter_map(|text| text_fault(name, text)).collect::<Vec<_>>() {
                self.add(&[path, name], item.span(), message);
            }
        }
    }

    /// Checks the rules that a schema can't express.
    fn meaning(&mut self, table: &dyn TableLike, config: &Config, home: &Path) {
        if let Some(font) = table.get("font").and_then(Item::as_table_like) {
            config.font.problems(font, |key, span, message| {
                self.add(&["font", key], span, message);
            });
        }
        let patterns = table.get("hint_patterns").and_then(Item::as_table_like);
        for (name, pattern) in &config.hint_patterns {
            if let Err(why) = compile_pattern(&pattern.regex) {
                let item = patterns.and_then(|patterns| patterns.get(name)?.get("regex"));
                let message = format!("hint_patterns.{name}: {why}");
                self.add(&["hint_patterns", name.as_str()], item.and_then(Item::span), message);
            }
        }
        let letters = &config.hints.alphabet;
        let twice = |c: char| letters.matches(c).count() > 1 || !c.is_lowercase();
        if letters.chars().count() < 2 || letters.contains(twice) {
            let item = table.get("hints").and_then(|hints| hints.get("alphabet"));
            let message = "hints.alphabet must have at least two lower-case letters, each once";
            let span = item.and_then(Item::span);
            self.add(&["hints", "alphabet"], span, message.to_owned());
        }
        if let Some(why) = title_format_fault(&config.window.title_format) {
            let item = table.get("window").and_then(|window| window.get("title_format"));
            self.add(&["window", "title_format"], item.and_then(Item::span), why);
        }
        let item = table.get("theme");
        let pair = item.and_then(Item::as_table_like);
        let wanted: &[(&str, Option<&Item>)] = match &config.theme {
            ThemeChoice::One(name) => &[(name, item)],
            ThemeChoice::Pair(both) => &[
                (&both.light, pair.and_then(|pair| pair.get("light"))),
                (&both.dark, pair.and_then(|pair| pair.get("dark"))),
            ],
        };
        for (name, item) in wanted {
            if let Err(error) = theme::find(name, home) {
                self.add(&["theme"], item.and_then(Item::span), error.to_string());
            }
        }
        let profiles = table.get("profile").and_then(Item::as_table_like);
        for (name, profile) in config.profile.iter().filter(|(_, one)| !one.theme.is_empty()) {
            if let Err(error) = theme::find(&profile.theme, home) {
                let item = profiles.and_then(|profiles| profiles.get(name)?.get("theme"));
                let path = ["profile", name.as_str(), "theme"];
                self.add(&path, item.and_then(Item::span), error.to_string());
            }
        }
        for (section, bindings) in [
            ("keys", &config.keys),
            ("mouse_bindings", &config.mouse_bindings),
            ("palette", &config.palette),
        ] {
            let items = table.get(section).and_then(Item::as_table_like);
            for (input, bound) in bindings {
                for action in bound.actions() {
                    let Some(name) = action.strip_prefix("new_tab:") else { continue };
                    if let Err(why) = config.find_profile(name) {
                        let item = items.and_then(|items| items.get(input));
                        self.add(&[section, input], item.and_then(Item::span), why);
                    }
                }
            }
        }
    }
}

/// Whether a value has the type that a schema requires.
fn fits(item: &Item, schema: &Value) -> bool {
    match schema["type"].as_str() {
        Some("string") => item.is_str(),
        Some("integer") => item.is_integer(),
        Some("number") => item.is_integer() || item.is_float(),
        Some("boolean") => item.is_bool(),
        Some("array") => item.is_array(),
        Some("object") => item.is_table_like(),
        // A schema that lists possible values has no type. Its values are strings.
        _ => choices(schema).is_none() || item.is_str(),
    }
}

/// A value of the file, as shown to the user.
fn given(item: &Item) -> String {
    /// The maximum number of characters of a text that is shown.
    const LONGEST: usize = 40;
    match item {
        Item::Value(toml_edit::Value::String(text)) => {
            let text = text.value();
            match text.char_indices().nth(LONGEST) {
                Some((end, _)) => format!("{:?}", format!("{}…", &text[..end])),
                None => format!("{text:?}"),
            }
        }
        Item::Value(toml_edit::Value::Integer(number)) => number.value().to_string(),
        Item::Value(toml_edit::Value::Float(number)) => number.value().to_string(),
        Item::Value(toml_edit::Value::Boolean(switch)) => switch.value().to_string(),
        Item::Value(toml_edit::Value::Datetime(_)) => "a date".to_owned(),
        Item::Value(toml_edit::Value::Array(_)) => "a list".to_owned(),
        Item::ArrayOfTables(_) => "a list of tables".to_owned(),
        _ => "a table".to_owned(),
    }
}

/// The type in a schema, as shown to the user.
pub(super) fn wanted(schema: &Value, root: &Value) -> String {
    if let Some(alternatives) = schema["anyOf"].as_array() {
        let names: Vec<_> =
            alternatives.iter().map(|schema| wanted(resolve(schema, root), root)).collect();
        return names.join(" or ");
    }
    if let Some(choices) = choices(schema) {
        return format!("one of {}", list(&choices));
    }
    let noun = match schema["type"].as_str() {
        Some("string") => "a string",
        Some("integer") => "a whole number",
        Some("number") => "a number",
        Some("boolean") => "true or false",
        Some("array") => "a list of strings",
        _ => "a table",
    };
    noun.to_owned()
}

fn list(choices: &[&str]) -> String {
    choices.iter().map(|choice| format!("{choice:?}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::CursorShape;

    fn problems(text: &str) -> Vec<String> {
        let nowhere = Path::new("/nonexistent");
        parse(text, nowhere).unwrap_err().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_empty_file_means_the_defaults() {
        assert_eq!(parse("", Path::new("/nonexistent")), Ok(Config::default()));
    }

    #[test]
    fn values_of_a_file_are_used() {
        let text = "theme = { light = 'daylight', dark = 'midnight' }\n[font]\nfamily = ['Iosevka']\nsize = 11\n\
                    [cursor]\nshape = 'bar'\n[keys]\n'ctrl+1' = 'activate_tab:1'\n";
        let config = parse(text, Path::new("/nonexistent")).unwrap();
        assert_eq!(config.font.family, ["Iosevka"]);
        assert_eq!(config.font.size, 11.0);
        assert_eq!(config.cursor.shape, CursorShape::Bar);
        // Keep an id as it was set, so that a client reads the id that it has written.
        assert_eq!(config.theme.pick(Some(true)), "daylight");
        assert_eq!(config.theme.pick(None), "midnight");
    }

    #[test]
    fn a_wrong_name_is_reported_with_its_position_and_a_suggestion() {
        assert_eq!(
            problems("[font]\nsize = 12\n  familly = ['x']\n"),
            [r#"3:3: unknown key "familly" in [font]; did you mean "family"?"#]
        );
        assert_eq!(
            problems("theme = 'standart'"),
            [r#"1:9: there is no theme "standart"; did you mean "standard"?"#]
        );
    }

    #[test]
    fn profiles_are_checked_as_far_as_the_file_tells() {
        assert_eq!(
            problems(
                "[profile.work]\ntheme = 'standart'\n[keys]\n'ctrl+g' = ['copy', 'new_tab:wrok']\n\
                 [mouse_bindings]\n'back' = 'new_tab:work'\n"
            ),
            [
                r#"2:9: there is no theme "standart"; did you mean "standard"?"#,
                r#"4:12: There is no profile "wrok". The configuration has work."#,
            ]
        );
    }

    #[test]
    fn problems_are_reported_in_the_order_of_the_text() {
        let text = "[font]\nsize = 'large'\n[cursor]\nshape = 'blok'\n[window]\npadding = 1000\n";
        assert_eq!(
            problems(text),
            [
                r#"2:8: font.size must be a number, not "large""#,
                r#"4:9: cursor.shape must be one of "block", "bar", "underline", not "blok"; did you mean "block"?"#,
                "6:11: window.padding must be between 0 and 100, not 1000",
            ]
        );
    }

    #[test]
    fn a_number_that_is_none_is_not_taken() {
        let text = "[font]\nsize = nan\n[window]\nopacity = -inf\n";
        assert_eq!(
            problems(text),
            [
                "2:8: font.size must be between 4 and 96, not NaN",
                "4:11: window.opacity must be between 0 and 1, not -inf",
            ]
        );
    }

    #[test]
    fn a_name_in_the_wrong_section_gets_the_right_section() {
        let text = "font_size = 12\nlines = 1\n[font]\ntheme = 'nord'\nfamily = 'Iosevka'\n";
        assert_eq!(
            problems(text),
            [
                r#"1:1: unknown key "font_size"; did you mean "size" in [font]?"#,
                r#"2:1: unknown key "lines"; did you mean "lines" in [scrollback]?"#,
                r#"4:1: unknown key "theme" in [font]; move it above the first [section]"#,
                r#"5:10: font.family must be a list of strings, not "Iosevka"; write ["Iosevka"]"#,
            ]
        );
    }

    #[test]
    fn one_key_in_two_spellings_is_reported() {
        let text = "[keys]\n'ctrl+shift+y' = 'new_tab'\n'Shift+Ctrl+Y' = 'none'\n";
        assert_eq!(
            problems(text),
            [r#"3:1: "Shift+Ctrl+Y" is the same key as "ctrl+shift+y"; remove one of them"#]
        );
    }

    #[test]
    fn invalid_font_settings_are_reported_with_their_position() {
        let text = "[font]\nfeatures = ['ss01', 'stylish']\nsymbol_map = { 'U+E0A0-U+E0' = 'x' }\n\
                    adjust_cell_height = 'tall'\n";
        assert_eq!(
            problems(text),
            [
                r#"2:21: "stylish" is no font feature; write "ss01", "-calt" or "cv02=3""#,
                r#"3:16: "U+E0A0-U+E0" is no range of code points; write "U+E0A0-U+E0D4""#,
                r#"4:22: "tall" is no change of a size; write "2px" or "-10%""#,
            ]
        );
    }

    #[test]
    fn a_preset_of_keys_is_looked_at() {
        let home = Path::new("/nonexistent");
        let (config, problems) = read("[keys]\npreset = 'classic'\n'f5' = 'new_tab'\n", home);
        assert_eq!((config.keys.len(), problems.len()), (2, 0), "{problems:?}");
        let (config, problems) = read("[keys]\npreset = 'emacs'\n", home);
        assert_eq!((config.keys.len(), problems.len()), (0, 1), "{problems:?}");
    }

    #[test]
    fn sequences_of_keys_are_looked_at() {
        let home = Path::new("");
        let problems = |text: &str| {
            let (_, problems) = read(text, home);
            problems.into_iter().map(|problem| problem.to_string()).collect::<Vec<_>>()
        };
        let right = "[keys]\nleader = 'ctrl+a'\n'leader>c' = 'new_tab'\n'f5' = ['copy', 'paste']\n";
        assert_eq!(problems(right), Vec::<String>::new());
        let one = |text: &str, wanted: &str| {
            let found = problems(&format!("[keys]\n{text}\n"));
            assert!(found.len() == 1 && found[0].contains(wanted), "{text}: {found:?}");
        };
        one("'leader>c' = 'new_tab'", "\"leader>c\" needs a leader");
        one("leader = 'hyper+a'", "\"hyper\" in \"hyper+a\" is no modifier");
        one("'ctrl+a>' = 'new_tab'", "\"\"");
        one("'f5' = ['copy', 'pasta']", "did you mean \"paste\"");
        one(
            "'ctrl+a' = 'copy'\n'ctrl+a>c' = 'new_tab'",
            "\"ctrl+a\" can't be bound, since \"ctrl+a>c\"",
        );
        one("leader = 'ctrl+a'\n'ctrl+a>c' = 'new_tab'\n'leader>c' = 'copy'", "is the same key as");
    }

    #[test]
    fn keys_and_actions_are_looked_at() {
        let text =
            "[keys]\n'ctrl+shift+y' = 'new_tub'\n'hyper+x' = 'new_tab'\n'f5' = 'activate_tab:x'\n";
        let problems = problems(text);
        assert!(
            problems[0].starts_with("2:18: unknown action \"new_tub\"; did you mean \"new_tab\"?"),
            "{problems:?}"
        );
        assert!(problems[1].starts_with("3:1: \"hyper\""), "{problems:?}");
        assert!(problems[2].starts_with("4:8: activate_tab:"), "{problems:?}");
    }

    #[test]
    fn invalid_toml_is_reported_with_its_position() {
        for (text, why) in [
            ("[font\nsize = 1", "a closing ] is missing"),
            ("theme = nord", "text needs quotes, such as \"text\""),
            ("theme", "a key needs a value, such as key = \"value\""),
        ] {
            let problem = &problems(text)[0];
            assert!(problem.starts_with("1:") && problem.ends_with(why), "{problem}");
        }
    }

    #[test]
    fn a_value_of_a_wrong_type_is_shown() {
        let long = format!("'{}'", "x".repeat(100));
        for (value, given) in [
            ("'large'", "\"large\"".to_owned()),
            ("true", "true".to_owned()),
            ("[1, 2]", "a list".to_owned()),
            ("{ a = 1 }", "a table".to_owned()),
            ("2026-01-01", "a date".to_owned()),
            (long.as_str(), format!("\"{}…\"", "x".repeat(40))),
        ] {
            let problem = format!("2:8: font.size must be a number, not {given}");
            assert_eq!(problems(&format!("[font]\nsize = {value}\n")), [problem]);
        }
        assert_eq!(
            problems("[window]\ncolumns = 80.5\n[font]\nfamily = ['a', 3]\n"),
            [
                "2:11: window.columns must be a whole number, not 80.5",
                "4:16: each item of font.family must be a string, not 3",
            ]
        );
    }

    #[track_caller]
    fn read_all(text: &str, problem_count: usize) -> Config {
        let (config, problems) = read(text, Path::new("/nonexistent"));
        assert_eq!(problems.len(), problem_count, "{problems:?}");
        config
    }

    #[test]
    fn valid_settings_apply_although_others_are_invalid() {
        let text = "theme = 'nord'\nlines = 1\n[font]\nsize = 'large'\nfamily = ['Iosevka']\nfeatures = ['stylish']\n\
                    [keys]\n'ctrl+1' = 'activate_tab:1'\n'ctrl+2' = 'new_tub'\n'hyper+x' = 'new_tab'\n\
                    [hint_patterns]\na = { regex = '(' , action = 'copy' }\nb = { regex = 'b', action = 'copy' }\nc = { regex = 'c' }\n\
                    [cursor]\nshape = 'bar'\n";
        let config = read_all(text, 7);
        let default = Config::default();
        assert_eq!(config.theme.pick(None), "nord");
        assert_eq!(config.font.family, ["Iosevka"]);
        assert_eq!((config.font.size, config.font.features), (default.font.size, Vec::new()));
        assert_eq!(config.keys.keys().collect::<Vec<_>>(), ["ctrl+1"]);
        assert_eq!(config.hint_patterns.keys().collect::<Vec<_>>(), ["b"]);
        assert_eq!(config.cursor.shape, CursorShape::Bar);
    }

    #[test]
    fn invalid_settings_get_their_defaults() {
        for (text, problem_count) in [
            ("theme = { light = 'daylight', dark = 'midnite' }\n", 1),
            ("[theme]\nlight = 'daylight'\n", 1),
            ("font = 3\n", 1),
            ("[[font]]\nsize = 9\n", 1),
            ("[fonts]\nsize = 9\n", 1),
            ("font.size = 1000\nfont.symbol_map = { 'x' = 'y' }\n", 2),
            ("[hints]\nalphabet = 'AA'\n", 1),
            ("[font\nsize = 9", 1),
        ] {
            assert_eq!(read_all(text, problem_count), Config::default(), "{text}");
        }
    }
}
