//! The settings that a conversion has found so far, and the settings that it left out.

use std::{
    collections::{BTreeMap, HashSet},
    path::Path,
};

use toml_edit::{Array, InlineTable, Value};

use super::{
    action_parts::Program,
    colors::{ColorRole, Colors},
    converted::{ConfigLine, Converted, Entry, ImportedTheme, LeftOut, Setting, render},
    modes::{Modes, Resolved},
    reasons,
    terminal::Terminal,
};
use crate::{
    action::{Keys, MouseChord},
    config::{
        Config,
        keys::{self, KeyMatch, Keymap},
        parse::parse,
        theme,
    },
};

/// The maximum number of left-out settings that are listed.
const MOST_LEFT_OUT: usize = 1000;
/// The maximum number of settings that are converted.
const MOST_SETTINGS: usize = 10_000;
/// The maximum length of a setting's name in a message, in characters.
const LONGEST_NAME: usize = 60;

/// The name of a theme, or the names of a light and a dark theme.
#[derive(Clone, Debug)]
pub(super) enum ThemeName {
    One(String),
    /// A light and a dark theme.
    Pair(String, String),
}

/// The settings that a conversion has found so far.
#[derive(Default)]
pub(super) struct Draft {
    entry: Entry,
    /// The number of settings of the other terminal that were started so far.
    begun: usize,
    settings: Vec<Setting>,
    left_out: Vec<LeftOut>,
    more_left_out: usize,
    /// The colors that were set so far.
    pub colors: Colors,
    color_entry: Option<Entry>,
    /// The title of the window, and whether programs are prevented from changing it.
    title: (Option<(String, Entry)>, bool),
    theme: Option<(ThemeName, Entry)>,
    modes: Modes,
}

impl Draft {
    /// Starts a setting of the other terminal. Later calls that set or leave out keys belong to this setting.
    pub fn begin(&mut self, place: &ConfigLine, name: &str) {
        self.entry = Entry { place: place.clone(), name: name.to_owned() };
    }

    /// Converts a setting by calling `convert`. If that fails, leaves the setting out.
    pub fn setting(
        &mut self,
        place: &ConfigLine,
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

    /// Sets a key of Unterm's configuration. Replaces its previous value.
    pub fn set(&mut self, key: &[&str], value: impl Into<Value>) {
        let key: Vec<String> = key.iter().map(|name| (*name).to_owned()).collect();
        let setting = Setting { key, value: value.into(), entry: self.entry.clone() };
        match self.settings.iter_mut().find(|other| other.key == setting.key) {
            Some(other) => *other = setting,
            None => self.settings.push(setting),
        }
    }

    /// Sets a key to a number. A whole number is written without a fraction.
    pub fn set_number(&mut self, key: &[&str], number: f64) {
        if number.fract() == 0.0 && number.abs() < 1e15 {
            self.set(key, number as i64);
        } else {
            self.set(key, (number * 1000.0).round() / 1000.0);
        }
    }

    /// Sets the vertical padding after the horizontal padding. If the two differ, keeps the horizontal padding and
    /// reports the setting.
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

    /// Replaces the name of the current setting by a more precise name.
    pub fn rename(&mut self, name: &str) {
        name.clone_into(&mut self.entry.name);
    }

    /// Appends a text to a key whose value is a list.
    pub fn append(&mut self, key: &[&str], text: &str) {
        let mut list: Array = match self.settings.iter().find(|setting| setting.key == key) {
            Some(setting) => setting.value.as_array().cloned().unwrap_or_default(),
            None => Array::new(),
        };
        list.push(text);
        self.set(key, list);
    }

    /// Adds an entry to a key whose value is a table.
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

    /// Binds a key of the keyboard, or a key sequence, to actions. The actions are written as in Unterm's
    /// configuration.
    ///
    /// # Errors
    /// Fails if Unterm has no such key or action.
    pub fn bind(&mut self, text: &str, actions: &[String]) -> Result<(), String> {
        let keys: Keys = text.parse()?;
        self.set(&["keys", &keys.written(text)], bound(actions)?);
        Ok(())
    }

    /// Binds a key that applies only in a mode.
    pub fn bind_in_mode(&mut self, mode: &str, keys: &str, actions: Vec<String>) {
        self.modes.bind(mode, keys, actions, self.entry.clone());
    }

    /// Binds a key that enters a mode for a single key.
    pub fn enter_mode(&mut self, mode: &str, keys: &str) {
        self.modes.enter(mode, keys, self.entry.clone());
    }

    /// Binds the key sequences that result from modes. Leaves out the keys of other modes.
    fn bind_modes(&mut self) {
        for Resolved { entry, binding } in std::mem::take(&mut self.modes).resolve() {
            self.entry = entry;
            let bound = match binding {
                Some((keys, actions)) => self.bind(&keys, &actions),
                None => Err(reasons::NO_MODES.into()),
            };
            if let Err(why) = bound {
                self.leave_out(&why);
            }
        }
    }

    /// Binds a mouse button or the wheel.
    ///
    /// # Errors
    /// Fails if Unterm can't bind this input, or has no such action.
    pub fn bind_mouse(&mut self, text: &str, actions: &[String]) -> Result<(), String> {
        text.parse::<MouseChord>()?;
        self.set(&["mouse_bindings", text], bound(actions)?);
        Ok(())
    }

    /// Adds actions to a key that may already be bound.
    ///
    /// # Errors
    /// Fails if Unterm has no such key or action.
    pub fn chain(&mut self, text: &str, actions: &[String]) -> Result<(), String> {
        let keys: Keys = text.parse()?;
        let actions = [self.bound_before("keys", &keys.written(text)), actions.to_vec()].concat();
        self.bind(text, &actions)
    }

    /// Adds actions to a mouse button that may already be bound.
    ///
    /// # Errors
    /// Fails if Unterm can't bind this input, or has no such action.
    pub fn chain_mouse(&mut self, text: &str, actions: &[String]) -> Result<(), String> {
        let actions = [self.bound_before("mouse_bindings", text), actions.to_vec()].concat();
        self.bind_mouse(text, &actions)
    }

    /// The actions to which a key of a section is already bound.
    fn bound_before(&self, section: &str, name: &str) -> Vec<String> {
        let before = self.settings.iter().find(|setting| setting.key == [section, name]);
        match before.map(|setting| &setting.value) {
            Some(Value::Array(list)) => {
                list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
            }
            Some(value) => value.as_str().map(str::to_owned).into_iter().collect(),
            None => Vec::new(),
        }
    }

    /// Adds an entry to the command palette.
    ///
    /// # Errors
    /// Fails if Unterm has no such action.
    pub fn palette(&mut self, title: &str, actions: &[String]) -> Result<(), String> {
        self.set(&["palette", title], bound(actions)?);
        Ok(())
    }

    /// Sets the letters of labels. Reports other characters, which Unterm does not use in labels.
    pub fn alphabet(&mut self, text: &str) {
        let mut letters = String::new();
        for letter in text.chars().filter(char::is_ascii_lowercase) {
            if !letters.contains(letter) {
                letters.push(letter);
            }
        }
        if letters != text {
            self.leave_out(reasons::LETTERS);
        }
        self.set(&["hints", "alphabet"], letters);
    }

    /// Whether a key is set.
    pub fn has(&self, key: &[&str]) -> bool {
        self.settings.iter().any(|setting| setting.key == key)
    }

    /// Adds a pattern for hints, under a name with a number.
    pub fn pattern(&mut self, regex: &str, action: &str) {
        let mut table = InlineTable::new();
        table.insert("regex", regex.into());
        table.insert("action", action.into());
        let is_pattern = |setting: &&Setting| setting.key[0] == "hint_patterns";
        let count = self.settings.iter().filter(is_pattern).count();
        self.set(&["hint_patterns", &format!("pattern-{}", count + 1)], table);
    }

    /// Records the window's title or, with `None`, that programs can't change the title. Only both together can be
    /// converted, to a title format.
    pub fn fixed_title(&mut self, title: Option<&str>) {
        match title {
            Some(title) => self.title.0 = Some((title.to_owned(), self.entry.clone())),
            None => self.title.1 = true,
        }
    }

    /// Unbinds all default keys, and removes all bindings that were converted so far.
    pub fn clear_keys(&mut self) {
        self.unset_all("keys");
        self.modes = Modes::default();
        self.set(&["keys", keys::PRESET], keys::NONE);
    }

    /// Returns the action that starts a program in a tab. Adds a profile for the program, which the action opens.
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

    /// Selects a theme by its name.
    pub fn choose(&mut self, theme: ThemeName) {
        self.theme = Some((theme, self.entry.clone()));
    }

    /// Sets one of the sixteen ANSI colors.
    ///
    /// # Errors
    /// Fails if the text is not a color, or if a theme does not contain a color of this index.
    pub fn set_ansi(&mut self, index: usize, text: &str) -> Result<(), String> {
        self.colors.set_ansi(index, text)?;
        self.color_entry = Some(self.entry.clone());
        Ok(())
    }

    /// Sets a color other than the sixteen ANSI colors. `cell` lists the words for a color that follows the color of
    /// the cell.
    ///
    /// # Errors
    /// Fails if the text is neither a color nor one of these words.
    pub fn set_part(&mut self, part: ColorRole, text: &str, cell: &[&str]) -> Result<(), String> {
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

    /// Records the current setting as left out, or as only partly converted.
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
        let ConfigLine { file, line } = &entry.place;
        let why = visible(why);
        self.left_out.push(LeftOut { file: file.as_ref().clone(), line: *line, setting, why });
    }

    /// Finishes the conversion: leaves out values that Unterm does not accept, and selects the theme.
    pub fn finish(mut self, terminal: Terminal, home: &Path) -> Converted {
        self.bind_modes();
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
                // A value may span several lines, so use the setting that starts at or before this line.
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
        // Problems of keys and values were found last. Sort them between the others, by their lines.
        let mut files: Vec<_> = self.left_out.iter().map(|left| left.file.clone()).collect();
        files.dedup();
        let order = |left: &LeftOut| files.iter().position(|file| *file == left.file);
        self.left_out.sort_by_cached_key(|left| (order(left), left.line));
        Converted { settings: self.settings, theme, left_out: self.left_out }
    }

    /// Removes the bindings that equal Unterm's default keys.
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
                        found == Some(KeyMatch::Actions(std::slice::from_ref(&action)))
                    }
                    Err(_) => false,
                }
        };
        self.settings.retain(|setting| !is_usual(setting));
    }

    /// Leaves out the shell if this machine does not have it. Returns whether a shell was left out.
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
        // If the file names a theme, its own colors replace only some colors of that theme.
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

/// Converts actions to a value of the configuration: a text for one action, a list for several.
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

/// Finds the theme of Unterm with this name. Other terminals may write the name with different spaces, dashes and
/// capitals.
fn known_theme(name: &str, home: &Path) -> Option<String> {
    let plain = |name: &str| -> String {
        name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let wanted = plain(name);
    // For example, `TokyoNight Night` is Unterm's theme `Tokyo Night`.
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

/// Makes a text safe for a message, because control characters of the file must not reach the user's terminal.
fn visible(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
