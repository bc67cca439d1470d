//! The preferences as JSON, by dotted keys, for control clients.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::Serialize;
use serde_json::Value;
use toml_edit::DocumentMut;
use unterm_control::{
    Acted, ActionKeys, Binding, Captures, Changes, Described, DetachedProgram, Headless, Host,
    HostRequest, Layouts, OtherWindows, Preferences, ThemeInfo, Topic,
};
use unterm_mux::private;
use unterm_term::Rgb;

use super::{
    Config, FILE, Settings, edit, keys, keys::Keymap, load, parse, settings::LONGEST, theme,
};
use crate::{
    action::{ACTIONS, Entry},
    args::Args,
    captures::AppCaptures,
    ending::{self, Ending},
    layout_file::LayoutFolder,
    links,
    other_windows::AppWindows,
    proxy,
    sessions::{self, Sessions},
};

/// The preferences in the file of a home directory.
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
        let key: Vec<&str> = key.split('.').collect();
        edit::set(&self.home, &key, toml(value)?).map_err(|error| format!("{error:#}"))
    }

    fn change(&self, changes: &[(Vec<String>, Option<Value>)]) -> Result<(), String> {
        let edit = |(key, value): &(Vec<String>, Option<Value>)| {
            Ok::<_, String>((key.clone(), value.as_ref().map(toml).transpose()?))
        };
        let edits = changes.iter().map(edit).collect::<Result<Vec<_>, _>>()?;
        edit::change(&self.home, &edits).map_err(|error| format!("{error:#}"))
    }

    fn describe(&self) -> Described {
        let text = private::read_text_of_anyone(&self.home.join(FILE), LONGEST).unwrap_or_default();
        let mut set = Vec::new();
        if let Ok(document) = text.parse::<DocumentMut>() {
            for (name, item) in document.iter() {
                match item.as_table_like().filter(|_| name != "theme") {
                    Some(table) => {
                        set.extend(table.iter().map(|(key, _)| format!("{name}.{key}")));
                    }
                    None => set.push(name.to_owned()),
                }
            }
        }
        Described {
            defaults: serde_json::to_value(Config::default()).unwrap_or_default(),
            schema: parse::schema(),
            set,
        }
    }

    fn themes(&self) -> Vec<ThemeInfo> {
        // The four basic themes first, then by name.
        let own = theme::names(&self.home);
        let first: Vec<String> = theme::builtin().take(4).map(str::to_owned).collect();
        let rest = own.into_iter().filter(|name| !first.contains(name));
        first.iter().cloned().chain(rest).filter_map(|name| self.theme(name)).collect()
    }

    fn keys(&self) -> Vec<ActionKeys> {
        let own = load(&self.home.join(FILE), &self.home).unwrap_or_default().keys;
        let (now, default) = (keys::bindings(&own), keys::bindings(&keys::settings_of(&own)));
        let of = |all: &[(String, Binding)], entry: &Entry| {
            let own = all.iter().filter(|(action, _)| action == entry.name);
            own.map(|(_, binding)| binding.clone()).collect()
        };
        let row = |entry: &Entry| ActionKeys {
            action: entry.name.to_owned(),
            title: entry.title.to_owned(),
            doc: entry.doc.to_owned(),
            argument: entry.argument().to_owned(),
            keys: of(&now, entry),
            default_keys: of(&default, entry),
        };
        ACTIONS.iter().map(row).collect()
    }
}

impl FilePreferences {
    fn theme(&self, name: String) -> Option<ThemeInfo> {
        let found = theme::find(&name, &self.home).ok()?;
        let hex = |color: Rgb| color.to_string();
        let palette = &found.palette;
        Some(ThemeInfo {
            light: found.is_light(),
            title: found.title.clone(),
            foreground: hex(palette.foreground),
            background: hex(palette.background),
            cursor: hex(palette.cursor.unwrap_or(palette.foreground)),
            selection: hex(palette.selection.unwrap_or(palette.foreground)),
            colors: palette.colors[..16].iter().map(|color| hex(*color)).collect(),
            ids: theme::ids_of(&name, &self.home),
            name,
        })
    }
}

fn toml(value: &Value) -> Result<toml_edit::Value, String> {
    value
        .serialize(toml_edit::ser::ValueSerializer::new())
        .map_err(|error| format!("{value} can't be written as TOML: {error}"))
}

/// Notifies settings pages of a file that was written beside `config.toml`.
pub(crate) fn notify_page(changes: &Changes, path: &Path) {
    match path.file_name().and_then(|name| name.to_str()) {
        Some(proxy::FILE) => changes.notify(Topic::Proxy),
        Some("recording.json") => changes.notify(Topic::Recording),
        _ => {}
    }
}

/// The host of an instance without a window. It still provides preferences and a key map.
pub(crate) struct HeadlessHost {
    /// The current preferences.
    pub(crate) settings: Arc<Settings>,
    /// Receives changes of the preferences.
    pub(crate) changes: Arc<Changes>,
    /// Ends the instance while its programs continue.
    pub(crate) ending: Arc<Ending>,
    /// The programs that outlive this instance.
    pub(crate) sessions: Arc<Sessions>,
    /// The command line of this instance.
    pub(crate) args: Args,
}

impl Host for HeadlessHost {
    fn has_window(&self) -> bool {
        false
    }

    fn instance_title_changed(&self, title: Option<&str>) {
        Headless.instance_title_changed(title);
    }

    fn agents_changed(&self) {
        self.sessions.update_pause();
    }

    fn browser_folder(&self) -> Option<PathBuf> {
        links::browser_folder()
    }

    fn settings_page_unopened(&self) {
        tracing::warn!("{}", links::UNOPENED);
    }

    fn ask(&self, request: HostRequest) {
        match request {
            HostRequest::Actions(answer) => {
                let _ = answer.send(Keymap::new(&self.settings.get().keys).table());
            }
            HostRequest::Act { name, argument: None, bounds, answer }
                if ending::ACTIONS.contains(&name.as_str()) =>
            {
                let _ = answer.send(Ok(match bounds.leased.first() {
                    Some(pane) => {
                        let pane = pane.0;
                        Acted::Refused(format!("session {pane} is leased by somebody else"))
                    }
                    None => self.ending.act(&name).map_or_else(Acted::Refused, Acted::Done),
                }));
            }
            request => Headless.ask(request),
        }
    }

    fn preferences(&self) -> Option<Arc<dyn Preferences>> {
        Some(Arc::new(FilePreferences { home: unterm_control::home() }))
    }

    fn theme(&self) -> Option<String> {
        Some(self.settings.get().theme.pick(None).to_owned())
    }

    fn changes(&self) -> Option<Arc<Changes>> {
        Some(Arc::clone(&self.changes))
    }

    fn captures(&self) -> Option<Arc<dyn Captures>> {
        Some(Arc::new(AppCaptures { home: unterm_control::home() }))
    }

    fn hand_over(&self) -> bool {
        self.ending.hand_over()
    }

    fn end(&self) {
        self.ending.end("a window that takes its place");
    }

    fn other_windows(&self) -> Arc<dyn OtherWindows> {
        Arc::new(AppWindows { args: self.args.clone(), sessions: Arc::clone(&self.sessions) })
    }

    fn detached_programs(&self) -> Vec<DetachedProgram> {
        sessions::detached(&unterm_control::home())
    }

    fn layouts(&self) -> Option<Arc<dyn Layouts>> {
        Some(Arc::new(LayoutFolder { home: unterm_control::home() }))
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

    #[test]
    fn a_page_finds_what_is_set_every_theme_and_every_key() {
        let home = tempfile::tempdir().unwrap();
        let preferences = FilePreferences { home: home.path().to_owned() };
        let path = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let pair = json!({"light": "daylight", "dark": "nord"});
        let changes = [
            (path(&["theme"]), Some(pair)),
            (path(&["font", "size"]), Some(json!(14))),
            (path(&["keys", "ctrl+shift+t"]), Some(json!("none"))),
            (path(&["keys", "f5"]), Some(json!("activate_tab:3"))),
        ];
        preferences.change(&changes).unwrap();
        let described = preferences.describe();
        assert_eq!(described.set, ["theme", "font.size", "keys.ctrl+shift+t", "keys.f5"]);
        assert_eq!(described.defaults["font"]["size"].as_f64(), Some(12.0));

        let themes = preferences.themes();
        assert_eq!(themes[0].name, "catppuccin-mocha");
        assert!(themes.iter().any(|theme| theme.name == "nord" && theme.background == "#2e3440"));

        let keys = preferences.keys();
        let of = |name: &str| keys.iter().find(|action| action.action == name).unwrap();
        assert!(of("new_tab").keys.is_empty());
        assert_eq!(of("new_tab").default_keys[0].keys, "ctrl+shift+t");
        let third = Binding { keys: "f5".to_owned(), argument: "3".to_owned() };
        assert!(of("activate_tab").keys.contains(&third));
        preferences.change(&[(path(&["keys", "f5"]), None)]).unwrap();
        assert!(!preferences.keys().iter().any(|action| action.keys.contains(&third)));
    }
}
