//! The settings that a conversion has found so far, and what it left out.

use std::{
    collections::{BTreeMap, HashSet},
    path::Path,
};

use toml_edit::{Array, InlineTable, Value};

use super::{
    colors::{Colors, Part},
    converted::{Converted, Entry, ImportedTheme, LeftOut, Place, Setting, render},
    pressed::Program,
    reasons,
    terminal::Terminal,
};
use crate::{
    action::{Keys, MouseChord},
    config::{
        Config,
        keys::{self, Found, Keymap},
        parse::parse,
        theme,
    },
};

/// The most settings that are listed as left out.
const MOST_LEFT_OUT: usize = 1000;
/// The most settings that are converted.
const MOST_SETTINGS: usize = 10_000;
/// The longest name of a setting in a message, in characters.
const LONGEST_NAME: usize = 60;

/// The name of a theme, or of a pair.
#[derive(Clone, Debug)]
pub(super) enum ThemeName {
    /// One theme.
    One(String),
    /// A light and a dark theme.
    Pair(String, String),
}

/// Settings found so far.
#[derive(Default)]
pub(super) struct Draft {
    entry: Entry,
    /// How many settings have begun.
    begun: usize,
    settings: Vec<Setting>,
    left_out: Vec<LeftOut>,
    more_left_out: usize,
    /// The colors.
    pub colors: Colors,
    color_entry: Option<Entry>,
    /// The window's title, and whether it is fixed.
    title: (Option<(String, Entry)>, bool),
    theme: Option<(ThemeName, Entry)>,
}

impl Draft {
    /// Begins a setting of the other terminal. What is set or left out next belongs to it.
    pub fn begin(&mut self, place: &Place, name: &str) {
        self.entry = Entry { place: place.clone(), name: name.to_owned() };
    }

    /// Converts a setting with `convert`, and leaves it out if that fails.
    pub fn setting(
        &mut self,
        place: &Place,
        name: &str,
        convert: impl FnOnce(&mut Self) -> Result<(), String>,
    ) {
        self.begin(place, name);
        self.begun += 1;
        let converted = match self.begun > MOST_SETTINGS {
            true => Err(format!("the configuration has more than {MOST_SETTINGS} settings")),
            false => convert(self),
        };
        if let Err(why) = converted {
            self.leave_out(&why);
        }
    }

    /// Sets a key, in place of its former value.
    pub fn set(&mut self, key: &[&str], value: impl Into<Value>) {
        let key: Vec<String> = key.iter().map(|name| (*name).to_owned()).collect();
        let setting = Setting { key, value: value.into(), entry: self.entry.clone() };
        match self.settings.iter_mut().find(|other| other.key == setting.key) {
            Some(other) => *other = setting,
            None => self.settings.push(setting),
        }
    }

    /// Sets a key to a number, without a fraction if it has none.
    pub fn set_number(&mut self, key: &[&str], number: f64) {
        if number.fract() == 0.0 && number.abs() < 1e15 {
            self.set(key, number as i64);
        } else {
            self.set(key, (number * 1000.0).round() / 1000.0);
        }
    }

    /// Sets the padding from a second direction, and reports if the first differs.
    pub fn padding(&mut self, pixels: f64) {
        let key = ["window", "padding"];
        let first = self.settings.iter().find(|setting| setting.key == key);
        let first = first.and_then(|setting| {
            let whole = setting.value.as_integer().map(|number| number as f64);
            setting.value.as_float().or(whole)
        });
        match first {
            Some(first) if first != pixels => {
                self.leave_out(reasons::HORIZONTAL_PADDING.why);
            }
            Some(_) => {}
            None => self.set_number(&key, pixels),
        }
    }

    /// Names the current setting more exactly.
    pub fn rename(&mut self, name: &str) {
        name.clone_into(&mut self.entry.name);
    }

    /// Adds a string to a list.
    pub fn append(&mut self, key: &[&str], text: &str) {
        let mut list: Array = match self.settings.iter().find(|setting| setting.key == key) {
            Some(setting) => setting.value.as_array().cloned().unwrap_or_default(),
            None => Array::new(),
        };
        list.push(text);
        self.set(key, list);
    }

    /// Adds an entry to a table of a section.
    pub fn add(&mut self, key: &[&str], name: &str, text: &str) {
        let mut table = match self.settings.iter().find(|setting| setting.key == key) {
            Some(setting) => setting.value.as_inline_table().cloned().unwrap_or_default(),
            None => InlineTable::new(),
        };
        table.insert(name, text.into());
        self.set(key, table);
    }

    /// Removes all keys of a section.
    pub fn unset_all(&mut self, section: &str) {
        self.settings.retain(|setting| setting.key[0] != section);
    }

    /// Removes a key.
    pub fn unset(&mut self, key: &[&str]) {
        self.settings.retain(|setting| setting.key != key);
    }

    /// Binds a key of the keyboard, or keys pressed one after the other, to actions as Unterm's file writes them.
    ///
    /// # Errors
    /// If Unterm has no such key or action.
    pub fn bind(&mut self, text: &str, actions: &[String]) -> Result<(), String> {
        let keys: Keys = text.parse()?;
        self.set(&["keys", &keys.written(text)], bound(actions)?);
        Ok(())
    }

    /// Binds a button or the wheel of the mouse.
    ///
    /// # Errors
    /// If Unterm binds no such input, or has no such action.
    pub fn bind_mouse(&mut self, text: &str, actions: &[String]) -> Result<(), String> {
        text.parse::<MouseChord>()?;
        self.set(&["mouse_bindings", text], bound(actions)?);
        Ok(())
    }

    /// Adds an action to those of a key.
    pub fn chain(&mut self, text: &str, action: String) -> Result<(), String> {
        let keys: Keys = text.parse()?;
        let key = ["keys", &keys.written(text)];
        let before = self.settings.iter().find(|setting| setting.key == key);
        let mut actions: Vec<String> = match before.map(|setting| &setting.value) {
            Some(Value::Array(list)) => {
                list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
            }
            Some(value) => value.as_str().map(str::to_owned).into_iter().collect(),
            None => Vec::new(),
        };
        actions.push(action);
        self.bind(text, &actions)
    }

    /// Adds a pattern to label, under a name with a number.
    pub fn pattern(&mut self, regex: &str, action: &str) {
        let mut table = InlineTable::new();
        table.insert("regex", regex.into());
        table.insert("action", action.into());
        let is_pattern = |setting: &&Setting| setting.key[0] == "hint_patterns";
        let count = self.settings.iter().filter(is_pattern).count();
        self.set(&["hint_patterns", &format!("pattern-{}", count + 1)], table);
    }

    /// Notes a window's title, or with `None` that programs don't change it. Both together make a format.
    pub fn fixed_title(&mut self, title: Option<&str>) {
        match title {
            Some(title) => self.title.0 = Some((title.to_owned(), self.entry.clone())),
            None => self.title.1 = true,
        }
    }

    /// Unbinds all default keys, and removes the bindings made so far.
    pub fn clear_keys(&mut self) {
        self.unset_all("keys");
        self.set(&["keys", keys::PRESET], keys::NONE);
    }

    /// The action that starts a program in a tab: it opens a profile, which this adds.
    pub fn start(&mut self, program: &Program) -> String {
        let mut table = InlineTable::new();
        if let Some((first, args)) = program.words.split_first() {
            table.insert("shell", first.as_str().into());
            if !args.is_empty() {
                table.insert("args", args.iter().map(String::as_str).collect::<Array>().into());
            }
        }
        if !program.cwd.is_empty() {
            table.insert("cwd", program.cwd.as_str().into());
        }
        if !program.env.is_empty() {
            let env: InlineTable =
                program.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            table.insert("env", env.into());
        }
        let mut number = 1;
        loop {
            let name = match number {
                1 => program.name(),
                number => format!("{}-{number}", program.name()),
            };
            let key = ["profile", &name];
            let other = self.settings.iter().find(|setting| setting.key == key);
            match other.and_then(|setting| setting.value.as_inline_table()) {
                Some(other) if other.to_string() != table.to_string() => number += 1,
                _ => {
                    self.set(&key, table);
                    return format!("new_tab:{name}");
                }
            }
        }
    }

    /// Chooses a theme by its name.
    pub fn choose(&mut self, theme: ThemeName) {
        self.theme = Some((theme, self.entry.clone()));
    }

    /// Sets one of the sixteen colors.
    ///
    /// # Errors
    /// If the text is no color, or a theme does not hold the index.
    pub fn set_ansi(&mut self, index: usize, text: &str) -> Result<(), String> {
        self.colors.set_ansi(index, text)?;
        self.color_entry = Some(self.entry.clone());
        Ok(())
    }

    /// Sets another color. `cell` lists the words for a color that follows the cell.
    ///
    /// # Errors
    /// If the text is neither a color nor such a word.
    pub fn set_part(&mut self, part: Part, text: &str, cell: &[&str]) -> Result<(), String> {
        self.colors.set_part(part, text, cell)?;
        self.color_entry = Some(self.entry.clone());
        Ok(())
    }

    /// Sets the shell and its arguments.
    pub fn set_shell(&mut self, words: &[String]) {
        self.unset(&["shell", "args"]);
        if let Some((program, args)) = words.split_first() {
            self.set(&["shell", "program"], program.as_str());
            if !args.is_empty() {
                self.set_list(&["shell", "args"], args);
            }
        }
    }

    /// Sets a key to a list of strings.
    pub fn set_list(&mut self, key: &[&str], words: &[impl AsRef<str>]) {
        self.set(key, words.iter().map(AsRef::as_ref).collect::<Array>());
    }

    /// Lists the current setting as left out, or as not converted completely.
    pub fn leave_out(&mut self, why: &str) {
        let entry = self.entry.clone();
        self.list(&entry, why);
    }

    fn list(&mut self, entry: &Entry, why: &str) {
        if self.left_out.len() >= MOST_LEFT_OUT {
            self.more_left_out += 1;
            return;
        }
        let name = visible(&entry.name);
        let setting = match name.char_indices().nth(LONGEST_NAME) {
            Some((end, _)) => format!("{}…", &name[..end]),
            None => name,
        };
        let Place { file, line } = &entry.place;
        let why = visible(why);
        self.left_out.push(LeftOut { file: file.as_ref().clone(), line: *line, setting, why });
    }

    /// Ends the conversion: leaves out values that Unterm does not accept, and resolves the theme.
    pub fn finish(mut self, terminal: Terminal, home: &Path) -> Converted {
        self.drop_usual_keys();
        match std::mem::take(&mut self.title) {
            (Some((title, entry)), true) => {
                self.entry = entry;
                self.set(&["window", "title_format"], title);
            }
            (Some((_, entry)), false) => {
                self.list(&entry, "programs replace it; window.title_format sets Unterm's title");
            }
            (None, _) => {}
        }
        let theme = self.resolve_theme(terminal, home);
        loop {
            let (text, lines) = render(&self.settings);
            let problems = match parse(&text, home) {
                Ok(config) => {
                    if !self.refuse_missing_shell(&config) {
                        break;
                    }
                    continue;
                }
                Err(problems) => problems,
            };
            let mut wrong = HashSet::new();
            for problem in &problems {
                // A value can have several lines.
                let Some(index) = lines.iter().rfind(|(line, _)| *line <= problem.line) else {
                    continue;
                };
                if wrong.insert(index.1) {
                    let entry = self.settings[index.1].entry.clone();
                    self.list(&entry, &problem.message);
                }
            }
            if wrong.is_empty() {
                break;
            }
            let mut index = 0;
            self.settings.retain(|_| {
                index += 1;
                !wrong.contains(&(index - 1))
            });
        }
        if self.more_left_out > 0 {
            let (entry, more) = (self.entry.clone(), self.more_left_out);
            self.left_out.truncate(MOST_LEFT_OUT - 1);
            self.list(&entry, &format!("{} more settings were left out", more + 1));
        }
        self.left_out.dedup();
        // Keys and values are checked last, and belong between the others.
        let mut files: Vec<_> = self.left_out.iter().map(|left| left.file.clone()).collect();
        files.dedup();
        let order = |left: &LeftOut| files.iter().position(|file| *file == left.file);
        self.left_out.sort_by_cached_key(|left| (order(left), left.line));
        Converted { settings: self.settings, theme, left_out: self.left_out }
    }

    /// Removes the bindings that Unterm has by default.
    fn drop_usual_keys(&mut self) {
        let presets = self.settings.iter().filter(|setting| setting.key == ["keys", keys::PRESET]);
        let own = presets.map(|_| (keys::PRESET.to_owned(), keys::NONE.into()));
        let usual = Keymap::new(&own.collect::<BTreeMap<_, _>>());
        let is_usual = |setting: &Setting| {
            let [section, text] = setting.key.as_slice() else { return false };
            let (Ok(keys), Some(action)) = (text.parse::<Keys>(), setting.value.as_str()) else {
                return false;
            };
            let Some((last, before)) = keys.chords.split_last() else { return false };
            let found = usual.find(before, *last);
            section == "keys"
                && !keys.leader
                && match keys::bound(action) {
                    Ok(None) => found.is_none(),
                    Ok(Some(action)) => {
                        found == Some(Found::Actions(std::slice::from_ref(&action)))
                    }
                    Err(_) => false,
                }
        };
        self.settings.retain(|setting| !is_usual(setting));
    }

    /// Leaves out a shell that this machine does not have. Returns whether there was one.
    fn refuse_missing_shell(&mut self, config: &Config) -> bool {
        let Some(why) = config.shell_error() else { return false };
        let is_shell = |setting: &Setting| {
            setting.key[0] == "shell" && ["program", "args"].contains(&setting.key[1].as_str())
        };
        let Some(shell) = self.settings.iter().find(|setting| is_shell(setting)) else {
            return false;
        };
        let entry = shell.entry.clone();
        self.settings.retain(|setting| !is_shell(setting));
        self.list(&entry, &why);
        true
    }

    fn resolve_theme(&mut self, terminal: Terminal, home: &Path) -> Option<ImportedTheme> {
        let mut chosen = None;
        if let Some((name, entry)) = self.theme.take() {
            let find = |name: &str| known_theme(name, home).ok_or_else(|| no_theme(terminal, name));
            let found = match &name {
                ThemeName::One(name) => find(name).map(ImportedTheme::Known),
                ThemeName::Pair(light, dark) => find(light)
                    .and_then(|light| find(dark).map(|dark| ImportedTheme::Pair { light, dark })),
            };
            match found {
                Ok(theme) => chosen = Some(theme),
                Err(why) => self.list(&entry, &why),
            }
        }
        let Some(entry) = self.color_entry.take() else { return chosen };
        if matches!(chosen, Some(ImportedTheme::Pair { .. })) {
            self.list(&entry, "the colors belong to neither theme of the pair");
            return chosen;
        }
        // Colors of the file change those of the theme that the file names.
        let base = match &chosen {
            Some(ImportedTheme::Known(name)) => theme::find(name, home).ok(),
            _ => None,
        };
        let theme = self.colors.theme(terminal, base);
        let same = theme::builtin()
            .find(|name| theme::find(name, home).is_ok_and(|known| known.palette == theme.palette));
        Some(match same {
            Some(name) => ImportedTheme::Known(name.to_owned()),
            None => ImportedTheme::Own(Box::new(theme)),
        })
    }
}

/// Actions as the file writes them: one as text, several as a list.
fn bound(actions: &[String]) -> Result<Value, String> {
    for action in actions {
        keys::bound(action)?;
    }
    let several: Vec<&str> =
        actions.iter().map(String::as_str).filter(|action| *action != keys::NONE).collect();
    Ok(match several.as_slice() {
        [] => keys::NONE.into(),
        [action] => (*action).into(),
        several => several.iter().copied().collect::<Array>().into(),
    })
}

/// Unterm's theme of this name. Terminals write the same name with different spaces, dashes and capitals.
fn known_theme(name: &str, home: &Path) -> Option<String> {
    let plain = |name: &str| -> String {
        name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let wanted = plain(name);
    // TokyoNight Night, and Tokyo Night.
    let usual = |known: &str| wanted == plain(known) || wanted == plain(known) + "night";
    theme::names(home).into_iter().find(|known| {
        usual(known) || theme::find(known, home).is_ok_and(|t| plain(&t.title) == wanted)
    })
}

fn no_theme(terminal: Terminal, name: &str) -> String {
    format!(
        "Unterm has no theme {name:?}; if {} has a file for it, use `unterm-cli theme import FILE`",
        terminal.title()
    )
}

/// Text for a message: control characters of the file must not reach the user's terminal.
fn visible(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
