//! Rules that name the state of an agent by its screen: manifests in herdr's format. Some are built in, and the user
//! can add others.
//!
//! A manifest of the user (`agent-detection/NAME.toml` in Unterm's home) replaces the built-in manifest for the same
//! program. The files are read again when they have changed. Programs choose what their screens show, so a state is a
//! claim and not a fact. Owns no state of panes.

mod regions;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use parking_lot::Mutex;
use regex_automata::meta::Regex;
use unterm_mux::private;
use unterm_plugin::{Gate, Region, ScreenManifest, ScreenState};
use unterm_term::{LineId, Progress, Term};

/// The folder of the user's manifests in Unterm's home.
pub const FOLDER: &str = "agent-detection";
/// The maximum size of a manifest, in bytes.
const LONGEST: u64 = 256 << 10;
/// The maximum number of the user's manifests.
const MOST: usize = 64;
/// The maximum number of characters of the text that a claim shows.
const SHOWN: usize = 200;

/// The built-in manifests.
const OWN: [&str; 4] = [
    include_str!("../../../../assets/agent-detection/claude.toml"),
    include_str!("../../../../assets/agent-detection/codex.toml"),
    include_str!("../../../../assets/agent-detection/gemini.toml"),
    include_str!("../../../../assets/agent-detection/opencode.toml"),
];

/// The input of the rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScreenInput {
    /// The rows of the screen, with line ends.
    pub screen: String,
    /// The title that the program has set.
    pub title: String,
    /// The progress that the program has reported (OSC 9;4), such as `4;1;50`.
    pub progress: String,
}

impl ScreenInput {
    /// Reads the input of the rules from a terminal.
    pub fn of(term: &Term) -> Self {
        let mut lines = term.lines();
        let (top, rows) = (term.live_top().0, u64::from(term.size().rows));
        let mut screen = String::new();
        for line in top..top + rows {
            lines.row_text(LineId(line), &mut screen);
            screen.push('\n');
        }
        screen.truncate(screen.trim_end_matches('\n').len());
        let percent = |state: u8, percent: Option<u8>| match percent {
            Some(percent) => format!("4;{state};{percent}"),
            None => format!("4;{state}"),
        };
        let progress = match term.progress() {
            // If no progress was reported, no rule about the progress applies.
            Progress::None if term.progress_seq() == 0 => String::new(),
            Progress::None => percent(0, None),
            Progress::Percent(value) => percent(1, Some(value)),
            Progress::Error(value) => percent(2, value),
            Progress::Indeterminate => percent(3, None),
            Progress::Paused(value) => percent(4, value),
        };
        Self { screen, title: term.title().to_owned(), progress }
    }
}

/// The rule that decides about a screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The id of the manifest.
    pub agent: String,
    /// The id of the rule.
    pub rule: String,
    /// The state.
    pub state: ScreenState,
    /// The last line of the text to which the rule applied.
    pub text: String,
}

/// A manifest with compiled patterns.
#[derive(Debug)]
struct Compiled {
    manifest: ScreenManifest,
    gates: Vec<CompiledGate>,
}

#[derive(Debug)]
struct CompiledGate {
    all: Vec<CompiledGate>,
    any: Vec<CompiledGate>,
    not: Vec<CompiledGate>,
    contains: Vec<String>,
    regex: Vec<Regex>,
    line_regex: Vec<Regex>,
}

impl CompiledGate {
    fn new(gate: &Gate) -> Result<Self, String> {
        let gates = |gates: &[Gate]| gates.iter().map(Self::new).collect::<Result<Vec<_>, _>>();
        let patterns = |patterns: &[String]| {
            let compile = |pattern: &String| {
                crate::services::regex(pattern)
                    .map_err(|error| format!("{pattern:?} is no regular expression: {error}"))
            };
            patterns.iter().map(compile).collect::<Result<Vec<_>, _>>()
        };
        Ok(Self {
            all: gates(&gate.all)?,
            any: gates(&gate.any)?,
            not: gates(&gate.not)?,
            contains: gate.contains.iter().map(|text| text.to_lowercase()).collect(),
            regex: patterns(&gate.regex)?,
            line_regex: patterns(&gate.line_regex)?,
        })
    }

    /// Whether the condition is true of a text. `lower`: the text in lower case.
    fn matches(&self, text: &str, lower: &str) -> bool {
        let is_met = |gate: &Self| gate.matches(text, lower);
        self.contains.iter().all(|part| lower.contains(part))
            && self.regex.iter().all(|regex| regex.is_match(text))
            && self.line_regex.iter().all(|regex| text.lines().any(|line| regex.is_match(line)))
            && self.all.iter().all(is_met)
            && (self.any.is_empty() || self.any.iter().any(is_met))
            && !self.not.iter().any(is_met)
    }
}

impl Compiled {
    fn new(text: &str) -> Result<Self, String> {
        let manifest = ScreenManifest::from_toml(text)?;
        let gates = manifest.rules.iter().map(|rule| {
            CompiledGate::new(&rule.gate()).map_err(|error| format!("rule {}: {error}", rule.id))
        });
        let gates = gates.collect::<Result<_, _>>()?;
        Ok(Self { manifest, gates })
    }

    /// The rule that decides: the first matching rule with the greatest priority.
    fn decide(&self, input: &ScreenInput) -> Option<Decision> {
        let mut found: Option<(i32, Decision)> = None;
        for (rule, gate) in self.manifest.rules.iter().zip(&self.gates) {
            if found.as_ref().is_some_and(|(priority, _)| *priority >= rule.priority) {
                continue;
            }
            let text: &str = match rule.region {
                Region::OscTitle => &input.title,
                Region::OscProgress => &input.progress,
                region => regions::part(&input.screen, region),
            };
            if !gate.matches(text, &text.to_lowercase()) {
                continue;
            }
            let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
            let decision = Decision {
                agent: self.manifest.id.clone(),
                rule: rule.id.clone(),
                state: rule.state,
                text: last.trim().chars().take(SHOWN).collect(),
            };
            found = Some((rule.priority, decision));
        }
        found.map(|(_, decision)| decision)
    }
}

/// The size and the modification time of each file. A difference shows that the file has changed.
type Stamp = Vec<(PathBuf, u64, Option<SystemTime>)>;

#[derive(Default)]
struct Loaded {
    stamp: Option<Stamp>,
    manifests: Arc<Vec<Compiled>>,
}

/// The manifests.
pub struct ScreenRules {
    home: PathBuf,
    loaded: Mutex<Loaded>,
}

impl ScreenRules {
    /// The rules below Unterm's home.
    pub fn new(home: &Path) -> Self {
        Self { home: home.to_owned(), loaded: Mutex::default() }
    }

    /// The rule that decides about the screen of a program with one of these names. May read files.
    pub fn decide(&self, names: &[String], input: &ScreenInput) -> Option<Decision> {
        let manifests = self.manifests();
        let is_for = |it: &&Compiled| names.iter().any(|name| it.manifest.is_for(name));
        manifests.iter().find(is_for)?.decide(input)
    }

    /// The manifests. The user's manifests come first.
    fn manifests(&self) -> Arc<Vec<Compiled>> {
        let stamp = self.stamp();
        let mut loaded = self.loaded.lock();
        if loaded.stamp.as_ref() != Some(&stamp) {
            let (own, errors) = load(&stamp);
            for error in errors {
                tracing::warn!(error, "a screen manifest is left out");
            }
            let brought = OWN.iter().filter_map(|text| {
                Compiled::new(text)
                    .map_err(|error| tracing::error!(error, "a screen manifest of ours is wrong"))
                    .ok()
            });
            let all = own.into_iter().map(|(_, manifest)| manifest).chain(brought);
            *loaded = Loaded { manifests: Arc::new(all.collect()), stamp: Some(stamp) };
        }
        loaded.manifests.clone()
    }

    /// The user's files, sorted by name.
    fn stamp(&self) -> Stamp {
        let Ok(entries) = std::fs::read_dir(self.home.join(FOLDER)) else { return Stamp::new() };
        let mut files: Stamp = entries
            .filter_map(|entry| {
                let path = entry.ok()?.path();
                let is_toml = path.extension().is_some_and(|extension| extension == "toml");
                let metadata = std::fs::metadata(&path).ok().filter(|_| is_toml)?;
                Some((path, metadata.len(), metadata.modified().ok()))
            })
            .collect();
        files.sort();
        files.truncate(MOST);
        files
    }
}

/// The user's manifests with their files, and the reasons why other files are left out.
fn load(stamp: &Stamp) -> (Vec<(PathBuf, Compiled)>, Vec<String>) {
    let (mut manifests, mut errors) = (Vec::new(), Vec::new());
    for (path, ..) in stamp {
        let text = private::read(path, LONGEST).map_err(|error| error.to_string());
        let text = text
            .and_then(|bytes| String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned()));
        match text.and_then(|text| Compiled::new(&text)) {
            Ok(manifest) => manifests.push((path.clone(), manifest)),
            Err(error) => errors.push(format!("{}: {error}", path.display())),
        }
    }
    (manifests, errors)
}

#[cfg(test)]
mod tests {
    use unterm_term::{Options, Parser, Size};

    use super::*;

    fn input(screen: &str) -> ScreenInput {
        ScreenInput { screen: screen.to_owned(), ..ScreenInput::default() }
    }

    fn names(name: &str) -> Vec<String> {
        vec![name.to_owned()]
    }

    #[test]
    fn the_greatest_priority_decides_and_then_the_first_rule() {
        let rule = |id: &str, priority: i32, state: &str| {
            format!(
                "[[rules]]\nid = \"{id}\"\nstate = \"{state}\"\npriority = {priority}\ncontains = [\"X\"]\n"
            )
        };
        let text = ["low", "first", "second"]
            .into_iter()
            .zip([1, 5, 5])
            .map(|(id, priority)| rule(id, priority, "working"))
            .collect::<String>();
        let compiled = Compiled::new(&format!("id = \"a\"\n{text}")).unwrap();
        let decided = compiled.decide(&input("an x\n\nlast\n")).unwrap();
        assert_eq!((&*decided.rule, &*decided.text), ("first", "last"));
        assert_eq!(compiled.decide(&input("nothing")), None);
    }

    #[test]
    fn conditions_combine_and_compare_text_in_any_case() {
        let matches = |gate: &str, text: &str| {
            let manifest = format!("id = \"a\"\n[[rules]]\nid = \"r\"\n{gate}\n");
            Compiled::new(&manifest).unwrap().decide(&input(text)).is_some()
        };
        assert!(matches("contains = [\"Esc to\"]", "press ESC to leave"));
        assert!(!matches("regex = ['Esc']", "ESC"));
        assert!(matches("regex = ['(?m)^b$']", "a\nb\nc"));
        assert!(matches("line_regex = ['^b$']", "a\nb\nc"));
        assert!(!matches("line_regex = ['^a.*b$']", "a\nb"));
        let any = "any = [{ contains = [\"a\"] }, { all = [{ contains = [\"b\"] }, { contains = [\"c\"] }] }]";
        assert!(matches(any, "a") && matches(any, "b c") && !matches(any, "b"));
        let not = "contains = [\"a\"]\nnot = [{ contains = [\"b\"] }, { contains = [\"c\"] }]";
        assert!(matches(not, "a") && !matches(not, "a b") && !matches(not, "a c"));
    }

    #[test]
    fn the_users_file_replaces_ours_and_is_read_again() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(FOLDER);
        std::fs::create_dir(&folder).unwrap();
        let rules = ScreenRules::new(home.path());
        let rule = |text: &str| {
            format!(
                "id = \"codex\"\n[[rules]]\nid = \"own\"\nstate = \"blocked\"\ncontains = [\"{text}\"]\n"
            )
        };
        let decided =
            |text: &str| rules.decide(&names("codex"), &input(text)).map(|decision| decision.rule);
        assert_eq!(decided("my words"), None);
        std::fs::write(folder.join("codex.toml"), rule("my words")).unwrap();
        assert_eq!(decided("my words").as_deref(), Some("own"));
        std::fs::write(folder.join("codex.toml"), rule("other words")).unwrap();
        assert_eq!(decided("my words"), None);
        assert_eq!(decided("other words").as_deref(), Some("own"));
        // An invalid file is left out, and the built-in manifest applies again.
        std::fs::write(folder.join("codex.toml"), "id = 3").unwrap();
        assert_eq!(decided("other words"), None);
        let (_, errors) = load(&rules.stamp());
        assert!(errors[0].contains("codex.toml"), "{errors:?}");
        std::fs::write(folder.join("codex.toml"), vec![b'#'; LONGEST as usize + 1]).unwrap();
        assert_eq!(load(&rules.stamp()).0.len(), 0);
    }

    #[test]
    fn our_own_manifests_are_valid_and_read_usual_screens() {
        let home = tempfile::tempdir().unwrap();
        let rules = ScreenRules::new(home.path());
        assert_eq!(rules.manifests().len(), OWN.len());
        for (name, screen, title, state) in [
            (
                "claude",
                " Bash command\n   rm -r build\n Do you want to proceed?\n ❯ 1. Yes\n   2. No\n\n Esc to cancel",
                "",
                Some(ScreenState::Blocked),
            ),
            (
                "claude",
                " Do you trust the files in this folder?\n ❯ 1. Yes, proceed\n   2. No, exit",
                "",
                Some(ScreenState::Blocked),
            ),
            ("claude", "", "◐ fix the tests", Some(ScreenState::Working)),
            ("claude", "", "✳ fix the tests", Some(ScreenState::Idle)),
            ("claude", "some text", "zsh", None),
            (
                "codex",
                "  Would you like to run the following command?\n\n› 1. Yes, proceed (y)\n  2. No (esc)\n\n  Press enter to confirm or esc to cancel",
                "",
                Some(ScreenState::Blocked),
            ),
            ("codex", "• Working (12s • esc to interrupt)\n\n› ", "", Some(ScreenState::Working)),
            ("codex", "", "Action Required | codex", Some(ScreenState::Blocked)),
            (
                "gemini",
                "│ Apply this change?\n│ ● 1. Yes, allow once\n│   2. No, suggest changes (esc)",
                "",
                Some(ScreenState::Blocked),
            ),
            ("gemini", "⠏ Thinking (esc to cancel, 4s)", "", Some(ScreenState::Working)),
            (
                "opencode",
                "△ Permission required\n  Allow once   Allow always   Reject",
                "",
                Some(ScreenState::Blocked),
            ),
            ("vim", "Do you want to proceed?", "", None),
        ] {
            let input = ScreenInput { title: title.to_owned(), ..input(screen) };
            let decided = rules.decide(&names(name), &input);
            assert_eq!(decided.as_ref().map(|it| it.state), state, "{name}: {screen}: {decided:?}");
        }
    }

    #[test]
    fn a_terminal_gives_its_screen_title_and_progress() {
        let mut term = Term::new(Size::cells(20, 4), Options::default());
        let mut parser = Parser::new();
        parser.advance(&mut term, b"one\r\ntwo\x1b]2;a title\x07");
        let of = |term: &Term| ScreenInput::of(term);
        assert_eq!(
            of(&term),
            ScreenInput {
                screen: "one\ntwo".to_owned(),
                title: "a title".to_owned(),
                progress: String::new()
            }
        );
        for (sequence, progress) in
            [("1;50", "4;1;50"), ("3", "4;3"), ("0", "4;0"), ("4;7", "4;4;7")]
        {
            parser.advance(&mut term, format!("\x1b]9;4;{sequence}\x07").as_bytes());
            assert_eq!(of(&term).progress, progress);
        }
    }
}
