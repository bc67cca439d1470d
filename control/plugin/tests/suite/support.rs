//! Creates folders with plugins, and reads the screens of programs.

use std::{collections::BTreeSet, fs, path::PathBuf};

use tempfile::TempDir;
use unterm_plugin::{ClassifyContext, Registry};

/// All permissions, in the format of a manifest.
pub const ALL: &str = "'session.spawn', 'session.kill', 'session.resize', 'screen.read', 'transcript.read', \
    'input.write', 'matcher.wait'";

/// Creates a folder with a manifest that contains this name and these permissions, and with `source` as its entrypoint.
pub fn written(name: &str, permissions: &str, source: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let manifest = format!(
        "name = \"{name}\"\nkind = \"adapter\"\nversion = \"1\"\nruntime = \"lua\"\nentrypoint = \"main.luau\"\n\
         permissions = [{permissions}]\n"
    );
    let path = folder.path().join("manifest.toml");
    fs::write(&path, manifest).expect("a manifest");
    fs::write(folder.path().join("main.luau"), source).expect("a source");
    (folder, path)
}

/// A screen of a program in `tests/screens`. The name of its file begins with the state that it shows.
pub struct Screen {
    /// The name of the file without its extension.
    pub name: String,
    /// The screen's text.
    pub text: String,
    title: String,
    last_intent: Option<String>,
    stable_ms: u64,
}

impl Screen {
    /// Creates a screen that has not changed for a long time.
    pub fn of(text: &str) -> Self {
        Self {
            name: String::new(),
            text: text.into(),
            title: String::new(),
            last_intent: None,
            stable_ms: 5000,
        }
    }

    /// The state in the name of the file.
    pub fn state(&self) -> &str {
        self.name.split('.').next().unwrap_or_default()
    }

    /// The argument of `classify` for this screen.
    pub fn context(&self) -> ClassifyContext {
        ClassifyContext {
            title: self.title.clone(),
            last_intent: self.last_intent.clone(),
            stable_ms: self.stable_ms,
            completed_turn_stable_ms: 750,
            sequence: 7,
            ..ClassifyContext::of_screen(self.text.as_str())
        }
    }
}

/// The screens of a plugin's program. A file contains lines `key: value`, a line `---`, and the screen.
pub fn screens(plugin: &str) -> Vec<Screen> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/screens").join(plugin);
    let mut screens = Vec::new();
    for entry in fs::read_dir(&folder).expect("the folder of screens") {
        let path = entry.expect("an entry").path();
        let text = fs::read_to_string(&path).expect("a screen");
        let (head, text) = text.split_once("---\n").expect("a line of ---");
        let mut screen = Screen::of(text);
        screen.name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        for line in head.lines() {
            match line.split_once(": ").expect("a key and a value") {
                ("last_intent", value) => screen.last_intent = Some(value.into()),
                ("title", value) => screen.title = value.into(),
                ("stable_ms", value) => screen.stable_ms = value.parse().expect("milliseconds"),
                (key, _) => panic!("{}: {key}", screen.name),
            }
        }
        screens.push(screen);
    }
    screens
}

/// Checks that each screen of the plugin is classified with the state in its name, and that there is a screen for each
/// state.
pub fn classify_all(plugin: &str) {
    let registry = Registry::default();
    let adapter = registry.adapter(plugin).expect("the plugin");
    let mut seen = BTreeSet::new();
    for screen in screens(plugin) {
        let classified = adapter.classify(&screen.context()).expect(&screen.name);
        assert_eq!(classified.state, screen.state(), "{}: {}", screen.name, classified.evidence);
        // Each classification contains the rule that determined the state, and the text of the screen or the title that
        // it found.
        let why = classified.explain.expect(&screen.name);
        let is_shown = screen.text.contains(&why.text)
            || screen.title == why.text
            || screen.last_intent.as_ref() == Some(&why.text);
        assert!(!why.rule.is_empty() && is_shown, "{}: {why:?}", screen.name);
        seen.insert(classified.state);
    }
    let described = registry.describe(plugin).expect("a description");
    let states = described["states"].as_array().expect("states").iter();
    let states: BTreeSet<_> =
        states.map(|state| state["name"].as_str().expect("a name").to_owned()).collect();
    assert_eq!(seen, states, "a screen for each state");
}
